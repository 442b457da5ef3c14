"""What the values of a column look like, whatever its name: addresses, numbers of persons, dates, codes, free text."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

import polars as pl

from kanopy._arrays import Ints, Mask
from kanopy._table.column import as_labels
from kanopy._table.guessing.text_formats import decimal_of, reader_of

TRUE = ("1", "1.0", "true", "True", "yes", "Yes", "Y", "y")
FALSE = ("0", "0.0", "false", "False", "no", "No", "N", "n")
TEXTS = (pl.String, pl.Categorical, pl.Enum)
SAMPLE = 2_000
MOSTLY = 0.8
FEWEST_ROWS_TO_JUDGE = 20
LONGEST_CODE = 20

PATTERNS: tuple[tuple[str, str], ...] = (
    ("an e-mail address", r"^[^@\s]+@[^@\s]+\.[A-Za-z]{2,}$"),
    ("an address on the web", r"^(https?://|www\.)\S+$"),
    ("a UUID", r"^\{?[0-9a-fA-F]{8}-([0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}\}?$"),
    ("a hash", r"^([0-9a-f]{32}|[0-9a-f]{40}|[0-9a-f]{64})$"),
    ("an IP address", r"^(\d{1,3}\.){3}\d{1,3}$|^([0-9a-fA-F]{0,4}:){3,7}[0-9a-fA-F]{0,4}$"),
    ("a network card", r"^([0-9A-Fa-f]{2}[:-]){5}[0-9A-Fa-f]{2}$"),
    ("an IBAN", r"^[A-Z]{2}\d{2}( ?[A-Z0-9]{4}){2,7}( ?[A-Z0-9]{1,4})?$"),
    ("a social security number", r"^\d{3}-\d{2}-\d{4}$"),
    ("a telephone number", r"^(\+|00)\d[\d\s()./-]{6,}$|^\(?\d{3}\)?[\s.-]\d{3}[\s.-]\d{4}$|^0\d{2,4}[\s/-]\d{4,}$"),
    ("a pair of coordinates", r"^\(?-?\d{1,3}\.\d{2,}\s*[,;]\s*-?\d{1,3}\.\d{2,}\)?$"),
    ("a street address", r"^\d+[a-zA-Z]?\s+\S+(\s\S+)*\s(St|Street|Ave|Avenue|Rd|Road|Blvd|Lane|Ln|Dr|Drive|Way|Court"
     r"|Ct|Square|Track|Park|View|Dam|Gate|Parade|Mews|Key|Hill|Point|Trail|Row|Place|Path|Landing|Unit|Suite|Apt)\b.*$"
     r"|^.*(straße|strasse|str\.|weg|gasse|platz)\s+\d+\s*[a-z]?$|^\d+,?\s+(rue|avenue|boulevard|place)\s.+$"),
)  # fmt: skip
"""Values that point at one person each."""

DATES = (
    r"^\d{4}-\d\d?-\d\d?([T ]\d\d?:\d\d.*)?$|^\d{4}/\d\d?/\d\d?( .*)?$|^\d\d?[./-]\d\d?[./-]\d{2,4}( \d\d?:\d\d.*)?$"
    r"|^\d\d?[ -](Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*[ -]\d{2,4}.*$"
    r"|^(Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]* \d\d?,? \d{4}.*$"
)
MONTHS = r"^(19|20)\d\d(-|/)?(0[1-9]|1[0-2])$"
DISEASE_CODES = r"^[A-TV-Z]\d[0-9A-Z](\.[0-9A-Z]{1,4})?$"
BANDS = (
    r"^\s*[$€£]?\s?[\d.,]+\s*[kK]?\s*(-|–|to|bis)\s*[$€£]?\s?[\d.,]+\s*[kK]?.*$|^\s*([<>≤≥]|under|over|below).*\d.*$"
)
MONEY_SIGNS = r"[$€£¥₹]\s?\d|\d\s?[€£¥₹$]|\b(USD|EUR|GBP|CHF)\b.*\d|\d.*\b(USD|EUR|GBP|CHF)\b"
FULL_NAME = r"^(\p{Lu}[\p{Ll}'’-]+\.?,?\s){1,3}\p{Lu}[\p{L}'’-]+\d*$"
HONOURED = r"^(Dra?|Prof|Mrs?|Ms|Hon|Judge|Herr|Frau|Mme|Sra?|Dott|Avv|Dhr|Mevr)\.?\s+(\p{Lu}[\p{L}.'’-]*\s?){1,4}$"
MISSING_WORDS = frozenset({
    "na", "n/a", "n.a.", "#n/a", "nan", "null", "-", "--", "..", "?", "??", "unknown", "unk", "missing",
    "(missing)", "[missing]", "<na>", "not available", "not applicable", "not known", "not stated", "not recorded",
    "not reported", "not specified", "unspecified", "not disclosed", "undisclosed", "no data", "no answer",
    "no response", "not asked", "refused", "refuse", "declined", "prefer not to say", "prefer not to answer",
    "don't know", "dont know", "do not know", "dk/na", "inapplicable", "keine angabe", "k.a.", "k. a.",
    "weiß nicht", "weiss nicht", "unbekannt", "fehlend", "inconnu", "inconnue", "non renseigné", "non précisé",
    "ne sait pas", "nsp", "desconocido", "desconocida", "sin dato", "sin datos", "no sabe", "ns/nc", "no contesta",
    "sconosciuto", "sconosciuta", "non so", "non noto", "n.d.", "desconhecido", "não sabe", "não informado",
    "ignorado", "onbekend", "weet niet", "geen antwoord", "ukendt", "uoplyst", "ukjent", "vet ikke", "ved ikke",
    "okänd", "okänt", "vet ej", "ei tietoa", "tuntematon", "bilinmiyor", "nieznane",
})  # fmt: skip
"""Texts that stand for a missing value wherever they are found, in lower case."""
MISSING_BESIDE_NUMBERS = frozenset({".", "none", "nil", "nr", "dk", "nk", "iap", "x", "*", "n", "unavailable", "#ref!"})
"""Texts that do so among numbers: among words they may be answers."""
MISSING_NUMBERS = frozenset(
    map(
        float,
        (-9, -99, -999, -9999, -99999, 99999, 999999, 9999999, -8, -7, 97, 98, 99, 997, 998, 999, 9997, 9998, 9999, 9,
         66, 77, 88, 666, 777, 888, 6666, 7777, 8888),
    )
)  # fmt: skip


ONE_CODE, SEVERAL_CODES = 4.0, 2.5
"""So many times the largest value a code is; less where several stand beside each other, as 77, 88 and 99."""
SEPARATORS = (";", "|")
"""What parts the elements of lists in texts; commas and slashes also stand within names."""


@dataclass(frozen=True, eq=False)
class Values:
    """The values of a column, looked at once."""

    column: pl.Series

    @cached_property
    def rows(self) -> int:
        """Rows that have a value."""
        return len(self.column) - self.column.null_count()

    @cached_property
    def nested(self) -> bool:
        """Whether the values are lists, structures or objects."""
        return self.column.dtype.is_nested() or self.column.dtype in (pl.Binary, pl.Object)

    @cached_property
    def distinct(self) -> int:
        """How many different values there are."""
        return 0 if self.nested else self.column.drop_nulls().n_unique()

    @cached_property
    def alone(self) -> int:
        """How many rows have a value that no other row has."""
        return 0 if self.nested else int(self.column.drop_nulls().is_unique().sum())

    @cached_property
    def text(self) -> bool:
        """Whether the values are texts that are not numbers."""
        return isinstance(self.column.dtype, TEXTS) and not self.numeric

    @cached_property
    def sample(self) -> pl.Series:
        """Different values as texts, the missing-value words left out."""
        values = as_labels(self.column.drop_nulls().unique(maintain_order=True).head(SAMPLE)).str.strip_chars()
        return values.filter((values != "") & ~values.str.to_lowercase().is_in(list(MISSING_WORDS)))

    @cached_property
    def separator(self) -> str | None:
        """What parts the elements of texts that are lists (`ale; nuts`): most hold it, and elements repeat."""
        if not isinstance(self.column.dtype, TEXTS) or len(self.sample) < FEWEST_ROWS_TO_JUDGE:
            return None
        for sign in SEPARATORS:
            if self.sample.str.contains(sign, literal=True).mean() >= 0.5:  # type: ignore[operator]
                parts = self.sample.str.split(sign)
                if parts.list.len().n_unique() > 1 and _repeat(parts.explode().str.strip_chars()):
                    return sign
        return None

    @cached_property
    def elements(self) -> int:
        """How many different elements lists have, where elements repeat; 0 where these are no such lists."""
        dtype = self.column.dtype
        if isinstance(dtype, pl.List) and not dtype.inner.is_nested():
            elements = self.column.explode().drop_nulls()
        elif self.separator is not None:
            elements = self.sample.str.split(self.separator).explode().str.strip_chars()
        else:
            return 0
        return elements.n_unique() if _repeat(elements) else 0

    @cached_property
    def decimal(self) -> str | None:
        """The decimal sign of numbers that are texts such as `1.234,50` or `$1,200`."""
        return decimal_of(self.sample.to_list()) if isinstance(self.column.dtype, TEXTS) else None

    @cached_property
    def texts(self) -> list[str]:
        """All different values as texts, without words for missing ones."""
        values = as_labels(self.column.drop_nulls().unique(maintain_order=True)).drop_nulls()
        return [text for text in values.to_list() if text.strip() and text.strip().lower() not in MISSING_WORDS]

    @cached_property
    def numbers(self) -> pl.Series:
        """The values of the first rows as numbers, where they are some."""
        if self.column.dtype.is_numeric():
            return self.column.drop_nulls().head(10 * SAMPLE).cast(pl.Float64)
        if self.decimal is not None or not isinstance(self.column.dtype, TEXTS):
            return self._sampled_numbers
        texts = self.column.drop_nulls().head(10 * SAMPLE).cast(pl.String).str.strip_chars()
        return texts.cast(pl.Float64, strict=False).drop_nulls()

    @cached_property
    def _sampled_numbers(self) -> pl.Series:
        """The different values of the sample as numbers."""
        if self.decimal is None:
            return self.sample.cast(pl.Float64, strict=False).drop_nulls()
        read = reader_of(self.decimal)
        return pl.Series([read(text) for text in self.sample.to_list()], dtype=pl.Float64).drop_nulls()

    @cached_property
    def true_numbers(self) -> pl.Series:
        """The numbers without those that stand for missing values."""
        return self.numbers.filter(~self.numbers.is_in([float(code) for code in self.missing_codes if _is_plain(code)]))

    @cached_property
    def ranks(self) -> Ints:
        """The values of the first rows as numbers from 1 on, 0 where there is none: for comparing columns quickly."""
        first_rows = self.column.head(10 * SAMPLE).to_physical()
        dense_ranks: Ints = first_rows.rank("dense").fill_null(0).cast(pl.Int32).to_numpy()
        return dense_ranks

    @cached_property
    def answered_yes(self) -> Mask:
        """Which rows say yes, in a column of yes and no."""
        words = set(self.sample.to_list()) & set(TRUE)
        says_yes = self.column.cast(pl.String).str.strip_chars().is_in(list(words)).fill_null(False)
        answered: Mask = says_yes.to_numpy()
        return answered

    @cached_property
    def numeric(self) -> bool:
        """Whether (nearly) all values are numbers."""
        if self.column.dtype.is_numeric():
            return True
        if not isinstance(self.column.dtype, TEXTS) or not len(self.sample):
            return False
        return len(self._sampled_numbers) >= 0.95 * len(self.sample)

    @cached_property
    def fractions(self) -> bool:
        """Whether some numbers are not whole: measured, not counted."""
        return self.numeric and bool((self.numbers != self.numbers.floor()).any())

    def share(self, pattern: str) -> float:
        """The share of different values that match a pattern."""
        if self.nested or not len(self.sample):
            return 0.0
        return int(self.sample.str.contains(pattern).sum()) / len(self.sample)

    @cached_property
    def dates(self) -> bool:
        """Whether the values are dates."""
        if self.column.dtype.is_temporal():
            return self.column.dtype not in (pl.Time, pl.Duration)
        return self.text and self.share(DATES) >= MOSTLY

    @cached_property
    def points_at_people(self) -> str | None:
        """What kind of address or number the values are, if they are one that belongs to one person."""
        if not self.text and not (self.numeric and self.column.dtype == pl.String):
            return None
        kind_found = None
        if not self.nested and len(self.sample):
            held = pl.col("").str.contains
            shares = (
                self.sample.rename("")
                .to_frame()
                .select(held(pattern_name).mean().alias(pattern_name) for _, pattern_name in PATTERNS)
            )
            kind_found = next((says for says, pattern in PATTERNS if shares[pattern][0] >= MOSTLY), None)
        if kind_found == "an IBAN":  # which has check digits: what only looks like one is something else
            from kanopy._table.guessing.evidence.people_numbers import number_of_people

            return kind_found if number_of_people(self) is not None else None
        return kind_found

    @cached_property
    def full_names(self) -> bool:
        """Whether the values look like names of people: a title and a name each, or two or three capitalised words,
        hardly repeated."""
        if self.text and self.distinct > 2 and self.share(HONOURED) >= MOSTLY:
            return True
        return self.text and self.distinct > 0.5 * self.rows > 5 and self.share(FULL_NAME) >= MOSTLY

    @cached_property
    def codes(self) -> bool:
        """Whether the values are short codes with digits in them."""
        return self.text and self.length <= LONGEST_CODE and self.share(r"^\S*\d\S*$") >= MOSTLY

    @cached_property
    def leading_zeros(self) -> bool:
        """Whether the values are digits of which some begin with zero: codes, not numbers."""
        return isinstance(self.column.dtype, TEXTS) and self.share(r"^\d+$") == 1 and self.share(r"^0\d") > 0

    @cached_property
    def disease_codes(self) -> bool:
        """Whether the values look like codes of diseases."""
        return self.text and self.distinct >= 3 and self.share(DISEASE_CODES) >= MOSTLY

    @cached_property
    def length(self) -> float:
        """Characters of a typical text."""
        mean = self.sample.str.len_chars().mean() if self.text and len(self.sample) else 0.0
        return float(mean) if isinstance(mean, (int, float)) else 0.0

    @cached_property
    def free_text(self) -> bool:
        """Whether people wrote sentences."""
        if not self.text or self.dates or not len(self.sample):
            return False
        spaces = self.sample.str.count_matches(r"\s").mean()
        sentences = isinstance(spaces, float) and spaces >= 5 and self.length > 30
        return sentences and self.distinct > max(20, 0.05 * self.rows)

    @cached_property
    def nearly_unique(self) -> bool:
        """Whether most rows have a value of their own."""
        return self.rows >= FEWEST_ROWS_TO_JUDGE and self.distinct > 0.9 * self.rows

    @cached_property
    def many_alone(self) -> bool:
        """Whether a fifth of the rows has a value of its own."""
        return self.rows >= FEWEST_ROWS_TO_JUDGE and self.alone >= 0.2 * self.rows

    @cached_property
    def missing_codes(self) -> tuple[str, ...]:
        """Texts and numbers that stand for a missing value."""
        if self.nested:
            return ()
        different = self.column.drop_nulls().unique()
        if self.column.dtype.is_numeric():  # of numbers only those that may be codes need labels
            different = different.filter(different.cast(pl.Float64).is_in(list(MISSING_NUMBERS)))
        values = as_labels(different).drop_nulls()
        words = MISSING_WORDS | (MISSING_BESIDE_NUMBERS if self.numeric else frozenset())
        stand_ins = values.filter(values.str.strip_chars().str.to_lowercase().is_in(list(words))).to_list()
        if self.numeric and self.decimal is None and self.rows >= FEWEST_ROWS_TO_JUDGE:
            codes = MISSING_NUMBERS & set(self.numbers.unique().to_list())
            rest = self.numbers.filter(~self.numbers.is_in(list(codes)))
            times = SEVERAL_CODES if len([code for code in codes if code > 9]) > 1 else ONE_CODE
            for code in sorted(codes):
                if rest.n_unique() > 1 and _stands_apart(code, float(rest.min()), float(rest.max()), times):  # type: ignore[arg-type]
                    stand_ins.append(next(v for v in values.to_list() if _is_number(v, code)))
        return tuple(sorted(set(stand_ins)))


def _repeat(elements: pl.Series) -> bool:
    """Whether elements of lists occur twice or more on average."""
    return 0 < 2 * elements.n_unique() <= len(elements)


def _stands_apart(code: float, least: float, most: float, times: float) -> bool:
    """Whether a code lies where no value does: below zero beside none, or several times above the largest."""
    return code < 0 <= least or code > times * max(1.0, most)


def _is_plain(text: str) -> bool:
    return bool(re.fullmatch(r"-?\d+(\.0*)?", text.strip()))


def _is_number(text: str, number: float) -> bool:
    return _is_plain(text) and float(text) == number
