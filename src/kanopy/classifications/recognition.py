"""Which classification a column belongs to, how much of it matches, and what is left: used by `init` and `suggest`.

Codes are short, so many columns match one by chance: 37 % of all pairs of letters are countries. A column is therefore
recognised by evidence: each value counts by how unlikely it would match if it were drawn at random among texts of its
form (two capital letters, a letter and two digits, …), and the values together must be far less likely than chance.
A column whose name speaks of the subject (`country`, `icd`, `naics`) needs less evidence; codes that are plain small
numbers are never recognised without such a name.
"""

from __future__ import annotations

import math
import re
import tomllib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

import numpy as np

from kanopy._mixins import ReprMixin
from kanopy.classifications.classification import Classification, bare, plain
from kanopy.classifications.matching import CODE, LABEL, OTHER_VERSION, RANGE, Matches, match_values
from kanopy.classifications.registry import BUNDLED, SOURCES, VERSIONS, load_classification
from kanopy.classifications.shapes import SHAPES

WORDS = Path(__file__).resolve().parent.parent / "data" / "classifications" / "column_words.toml"
LEAST_RATE, LEAST_RATE_NAMED = 0.9, 0.6
"""So large a share of the different values must match; less where the name of the column speaks of the subject."""
ENOUGH, ENOUGH_NAMED = 22.0, 2.5
"""So much evidence is needed (natural logarithm of how unlikely chance is)."""
HIGH_CHANCE = 0.8
"""Codes that match so often by chance are no evidence."""
CHANCE_OF_LABEL = 0.03
"""How often a word is by chance a label of some classification."""
MOST_TRIED = 3_000
"""So many different values, evenly spread, are enough to tell."""
LEAST_DIFFERENT, LEAST_AGREEING = 3, 5
LEAST_RATE_FEW, FEW = 0.8, 10
"""Of fewer than ten different values of a column whose name speaks of the subject, so large a share must match."""
ALL, MIXED, BETTER = 0.98, 0.9, 0.1
ALL_NUMBERS, ENOUGH_NUMBERS = 0.97, 3.0
"""Plain numbers whose column only speaks of the subject: so large a share must match, and chance be below 5 %."""
LONGEST_NUMBER, ZIP_AND_FOUR = 5, 9
FOUND_BY_CODE = (CODE, RANGE, OTHER_VERSION)
TOGETHER: Mapping[str, tuple[str, ...]] = {
    "icd-10-cm": ("icd-10-cm+icd-9-cm",), "naics": ("naics-2022+naics-2017",), "nace": ("nace-2.1+nace-2",),
    "soc": ("soc-2018+soc-2010",),
}  # fmt: skip
"""Versions that are tried together where none knows at least `MIXED` of the values and both know `BETTER` more."""
_DECIMAL_NUMBER = re.compile(r"\d+(\.\d+)?")
_WORDS = re.compile(r"[A-Z]?[a-zß-ÿ]+|[A-Z]+(?![a-z])|\d+")


@dataclass(frozen=True)
class Recognition(ReprMixin):
    """A classification that a column matches: how much of it, what does not, and what the column usually is."""

    classification: str
    version: str
    match_rate: float
    """The share of the different values that match."""
    row_rate: float
    """The share of the rows that match."""
    unmatched: tuple[str, ...]
    """Up to five values that do not match."""
    unmatched_count: int
    role: str
    subject: str
    evidence: float = field(repr=False, default=0.0)
    detailed: float = field(repr=False, default=1.0)
    """How deep the matching codes lie: 1 where all are of the most detailed level."""
    ambiguous: tuple[str, ...] = ()
    """Other classifications that match as well."""

    def sentence(self) -> str:
        """What was recognised, in one sentence.

        >>> recognize(["DEU", "FRA", "ITA", "ESP", "POL", "JPN", "BRA", "XYZ"], name="country")[0].sentence()
        "codes or names of countries (countries-2025): 88 % of the values match; not: 'XYZ'"
        """
        share = f"{self.match_rate:.0%}".replace("%", " %")
        text = f"codes or names of {self.classification} ({self.version}): {share} of the values match"
        if self.unmatched_count:
            unmatched_listed = ", ".join(map(repr, self.unmatched))
            more = f" and {self.unmatched_count - len(self.unmatched):,} more"
            text += f"; not: {unmatched_listed}{more if self.unmatched_count > len(self.unmatched) else ''}"
        if self.ambiguous:
            text += f"; {' and '.join(self.ambiguous)} match as well: choose"
        return text


def recognize(
    values: Iterable[object], counts: Sequence[int] | None = None, *, name: str = "", only: Iterable[str] = ()
) -> list[Recognition]:
    """The classifications that a column matches far beyond chance, the best first; none if there is none.

    `counts` are the rows per value; `only` limits which are tried.

    >>> [found.classification for found in recognize("A00.0 E11.9 I10 J45.20 C50.111 F32.1 M54.50 K21.9".split())]
    ['icd-10-cm']
    >>> recognize(["cat", "dog", "cow", "pig", "hen", "bee", "ant"])
    []
    """
    given = [str(value) for value in values]
    weights = list(counts) if counts is not None else [1] * len(given)
    held: Counter[str] = Counter()
    for value, weight in zip(given, weights, strict=True):
        if value.strip():
            held[value] += int(weight)
    if not held:
        return []
    texts = list(held)
    tried = texts[:: max(1, len(texts) // MOST_TRIED)]
    words = name_words(name)
    bundled = [source_name for source_name, source in SOURCES.items() if source.kind == BUNDLED]
    tries = [_best_version(source_name, tried, held, words) for source_name in only or bundled]
    tries += [] if only else [_by_shape("atc", tried, held, words)]
    recognitions = [recognition for recognition in tries if recognition is not None]
    recognitions.sort(key=lambda recognition: (-_worth(recognition), recognition.classification))
    return _with_rivals(recognitions)


def recognize_beside(beside: Recognition, rows: Iterable[tuple[str, str, int]]) -> Recognition | None:
    """A column that says by codes what a recognised one beside it says by names; `None` if it does not.

    `rows` are its values, the recognised column's values in the same rows, and how many rows have both. Small numbers
    match many classifications by chance, but not with the same meaning as the names beside them, row by row.

    >>> names = recognize("Austria Belgium Chile France Japan Spain".split(), name="country")[0]
    >>> codes = [("40", "Austria", 9), ("56", "Belgium", 9), ("152", "Chile", 9), ("250", "France", 9)]
    >>> recognize_beside(names, [*codes, ("392", "Japan", 9), ("724", "Spain", 9)]).classification
    'countries'
    >>> recognize_beside(names, [(str(at), name, 9) for at, (_, name, _) in enumerate(codes)]) is None
    True
    """
    if beside.version not in VERSIONS:
        return None
    classification = load_classification(beside.version)
    pairs = [pair for pair in rows if pair[0].strip()]
    held: Counter[str] = Counter()
    for value, _, number in pairs:
        held[value] += number
    own_match = match_values(classification, list(held), nearest=False)
    others = dict.fromkeys(other for _, other, _ in pairs)
    named = match_values(classification, list(others))
    own_node = dict(zip(own_match.values, own_match.nodes.tolist(), strict=True))
    named_node = dict(zip(named.values, named.nodes.tolist(), strict=True))
    compared = [
        (value, number, own_node[value] == named_node[other])
        for value, other, number in pairs
        if own_node[value] >= 0 and named_node[other] >= 0
    ]
    total = sum(number for _, number, _ in compared)
    agreeing = {value for value, _, agrees in compared if agrees}
    agreeing_rows = sum(number for _, number, agrees in compared if agrees)
    if own_match.rate < LEAST_RATE_NAMED or len(agreeing) < LEAST_AGREEING or agreeing_rows < LEAST_RATE * total:
        return None
    evidence = len(agreeing) * math.log(classification.size)
    return _recognition(beside.classification, classification, own_match, held, evidence)


def _worth(recognition: Recognition) -> float:
    """How well a classification fits: states are no counties, though the counties know them as what lies above."""
    return recognition.match_rate * (1 + math.log1p(recognition.evidence) / 10) * (0.8 + 0.2 * recognition.detailed)


def _with_rivals(recognitions: list[Recognition]) -> list[Recognition]:
    """The best says which others of the same subject match as well."""
    if len(recognitions) < 2:
        return recognitions
    best = recognitions[0]
    rivals = tuple(
        other.classification
        for other in recognitions[1:]
        if other.subject == best.subject and other.match_rate >= best.match_rate - 0.02
    )
    from dataclasses import replace

    return [replace(best, ambiguous=rivals), *recognitions[1:]]


def name_words(name: str) -> frozenset[str]:
    """The words of a column's name, also those written together.

    >>> sorted(name_words("patientCountry_iso3"))
    ['3', 'country', 'iso', 'iso3', 'patient', 'patientcountryiso3']
    """
    parts = re.split(r"[\W_]+", name)
    words = {word.casefold() for name_part in parts for word in _WORDS.findall(name_part)}
    return frozenset(words | {word.casefold() for word in parts if word.islower() or word.isupper()} | {
        re.sub(r"[\W_]", "", name).casefold()
    } - {""})  # fmt: skip


def _best_version(name: str, tried: list[str], held: Mapping[str, int], words: frozenset[str]) -> Recognition | None:
    """The version of a classification that matches best, if it does far beyond chance.

    Where no version knows nearly all values, they are tried together: columns hold codes of several years.
    """
    best: Recognition | None = None
    sample = tried[:: max(1, len(tried) // 40)]
    for stem in (*SOURCES[name].files, *TOGETHER.get(name, ())):
        together = "+" in stem
        if together and ((best is not None and best.match_rate > MIXED) or _apart(stem, sample) < LEAST_RATE_NAMED):
            continue
        classification = load_classification(stem)
        subject = classification.about.subject
        named, strict = speaks_of(words, words_about(subject)), speaks_of(words, words_about(subject, "strict"))
        least = LEAST_RATE if not named else LEAST_RATE_NAMED if len(tried) >= FEW else LEAST_RATE_FEW
        # A few values are enough to turn most columns away.
        first = _rate(stem, tuple(sample))
        if first < max(least - 0.25, 0.3):
            continue
        matches = match_values(classification, tried, nearest=named)
        if matches.rate < least or (not named and len(tried) < LEAST_DIFFERENT) or not matches.ranks.any():
            continue  # where all lie at the broadest level, there is nothing above to generalize to
        if not named and _are_measured(matches):
            continue
        numbers = _plain_numbers(classification, matches)
        if numbers and not _are_codes(numbers, matches, named, strict):
            continue
        evidence = _evidence(classification, matches, named)
        # Who calls a column icd_code has said what it holds; who calls it country has if all values are.
        enough = -math.inf if numbers else 0.0 if strict or (named and matches.rate > ALL) else ENOUGH_NAMED
        if evidence <= (enough if named else ENOUGH):
            continue
        recognition = _recognition(stem if together else name, classification, matches, held, evidence)
        if best is None or recognition.match_rate > best.match_rate + (BETTER if together else 1e-9):
            best = recognition
    return best


def _apart(together: str, sample: list[str]) -> float:
    """How much of some values the parts of a joined classification know, added up: cheaper than joining them."""
    return sum(_rate(single_name, tuple(sample)) for single_name in together.split("+"))


@lru_cache(maxsize=4096)
def _rate(stem: str, sample: tuple[str, ...]) -> float:
    """How many of some values a classification knows; columns of one table often have the same."""
    return match_values(load_classification(stem), sample, nearest=False).rate


@lru_cache(maxsize=64)
def words_about(subject: str, kind: str = "words") -> frozenset[str]:
    """The words in names of columns that speak of a subject; `strict` ones are names of its classifications.

    >>> sorted(words_about("occupation", "strict"))
    ['isco', 'isco08', 'isco88', 'soc']
    """
    return frozenset(_tables().get(subject, {}).get(kind, "").split())


@lru_cache(maxsize=1)
def _tables() -> Mapping[str, Mapping[str, str]]:
    return tomllib.loads(WORDS.read_text(encoding="utf-8"))


def speaks_of(words: frozenset[str], subject: frozenset[str]) -> bool:
    """Whether the words of a column's name are among those of a subject, or begin with a long one.

    >>> country = frozenset({"country"})
    >>> speaks_of(frozenset({"countryl"}), country), speaks_of(frozenset({"count"}), country)
    (True, False)
    """
    return bool(words & subject) or any(
        word.startswith(topic) and len(word) <= len(topic) + 3 for topic in subject if len(topic) > 5 for word in words
    )


def _recognition(
    name: str, classification: Classification, matches: Matches, held: Mapping[str, int], evidence: float
) -> Recognition:
    rows = sum(held[value] for value in matches.values)
    matched_rows = sum(held[value] for value, at in zip(matches.values, matches.nodes.tolist(), strict=True) if at >= 0)
    left = sorted(matches.unmatched, key=lambda value: (-held[value], value))
    detailed = float(matches.ranks.mean()) / max(len(classification.levels) - 1, 1) if matches.rate else 0.0
    return Recognition(
        name, classification.name, matches.rate, matched_rows / rows if rows else 0.0, tuple(left[:5]), len(left),
        classification.about.role, classification.about.subject, evidence, detailed,
    )  # fmt: skip


def _plain_numbers(classification: Classification, matches: Matches) -> list[int]:
    """The values found as codes that are plain whole numbers, if most codes are; long ones are ZIP codes at most."""
    longest = ZIP_AND_FOUR if classification.about.subject == "zip" else LONGEST_NUMBER
    codes = [value for value, how in zip(matches.values, matches.how, strict=True) if how in FOUND_BY_CODE]
    whole = [value.strip().removesuffix(".0") for value in codes]  # whole numbers that a file writes as decimal ones
    numbers = [int(value) for value in whole if value.isdecimal() and len(value) <= longest]
    return numbers if numbers and 2 * len(numbers) > len(codes) else []


def _are_measured(matches: Matches) -> bool:
    """Whether values found as codes are mostly numbers, some with a decimal point, and none with a zero in front.

    Means and rates match codes with points, such as those of NACE and ICD-9, by chance.
    """
    codes = [value.strip() for value, how in zip(matches.values, matches.how, strict=True) if how in FOUND_BY_CODE]
    numbers = [value for value in codes if _DECIMAL_NUMBER.fullmatch(value)]
    measured = any("." in value and not value.endswith(".0") for value in numbers)
    return (
        measured
        and 2 * len(numbers) > len(codes)
        and not any(value[:2].isdecimal() and value[0] == "0" for value in codes)
    )


def _are_codes(numbers: Sequence[int], matches: Matches, named: bool, strict: bool) -> bool:
    """Whether plain numbers are codes: the name of the column says so, or all match although many near them would not.

    Numbers of states in the order of the alphabet lie between 1 and 51, where 47 are FIPS codes as well: that some
    do not match tells, and where few values match by chance all the same, their name must name the code.
    """
    if strict:
        return matches.rate >= LEAST_RATE
    first, last = min(numbers), max(numbers)
    if not named or matches.rate < ALL_NUMBERS or last - first < 2:
        return False
    between = range(first, last + 1, max(1, (last - first) // MOST_TRIED))
    chance = match_values(matches.classification, [*map(str, between), str(last)], nearest=False).rate
    return -len(set(numbers)) * math.log(chance) >= ENOUGH_NUMBERS


def _evidence(classification: Classification, matches: Matches, named: bool) -> float:
    """How unlikely it is that so many values match by chance (natural logarithm)."""
    density = densities(classification)
    expected: list[float] = []
    is_known = []
    codes = 0
    seen = set()
    for value, at, how in zip(matches.values, matches.nodes.tolist(), matches.how, strict=True):
        entry_key = at if at >= 0 else ("", value)
        if entry_key in seen:
            continue
        seen.add(entry_key)
        if how == LABEL or (how == CODE and _is_name(classification, value)):
            chance = CHANCE_OF_LABEL
        elif how in FOUND_BY_CODE:
            form = form_of(value)
            codes += 1
            # Words that people choose are not spread as evenly as texts drawn at random.
            chance = 2.0 * density.get(form, 0.002) + 0.002
            if "." in value and value[:1].isalpha() and value.strip().upper() in code_set(classification):
                chance = min(chance, CHANCE_OF_LABEL)  # hardly anything else is written with a dot at this place
            chance = 1.0 if how == OTHER_VERSION or chance > HIGH_CHANCE else chance
        else:
            chance = CHANCE_OF_LABEL
        expected.append(chance)
        is_known.append(at >= 0)
    if not named and codes and not _looks_coded(classification, matches):
        return -1.0
    gain = 0.0
    for chance, entry_key in zip(expected, is_known, strict=True):
        gain += -math.log(chance) if entry_key else math.log(max(1 - LEAST_RATE, 0.05))
    return gain


def _is_name(classification: Classification, value: str) -> bool:
    """Whether a value that was found as a code is another spelling of a name, such as `UK` or `Ivory Coast`."""
    return len(value) > 3 and sum(c.isalpha() for c in value) > 3 and bare(value) not in bare_set(classification)


def _looks_coded(classification: Classification, matches: Matches) -> bool:
    """Whether values found as codes are written alike: codes of letters all in capitals, or all small, in few lengths.

    Three-letter words are codes of languages and countries by chance, but no column of words is written in capitals
    throughout and only in words of one length.
    """
    letters = [
        value for value, how in zip(matches.values, matches.how, strict=True) if how == CODE and value.strip().isalpha()
        and not _is_name(classification, value)
    ]  # fmt: skip
    if len(letters) * 2 < len(matches.values):
        return True
    return len({len(value.strip()) for value in letters}) == 1 and all(value.isupper() for value in letters)


def form_of(value: str) -> str:
    """The form of a code: letters become A, digits become 9, dots and case do not count.

    >>> form_of("a00.0"), form_of("DEU")
    ('A999', 'AAA')
    """
    return re.sub("[0-9]", "9", re.sub("[A-Z]", "A", bare(value)))


_FORM = {**dict.fromkeys(range(48, 58), "9"), **dict.fromkeys((*range(65, 91), *range(97, 123)), "A")}


@lru_cache(maxsize=32)
def densities(classification: Classification) -> dict[str, float]:
    """Per form the share of all texts of that form that are codes (or other spellings of codes)."""
    spelled = {*classification.bare_codes, *(key for key in classification.aliases if key.isupper() or key.isdigit())}
    codes = [code for code in spelled if code.isalnum()]
    forms = Counter("\n".join(codes).translate(_FORM).split("\n") if "".join(codes).isascii() else map(form_of, codes))
    return {form: number / (26 ** form.count("A") * 10 ** form.count("9")) for form, number in forms.items()}


@lru_cache(maxsize=32)
def bare_set(classification: Classification) -> frozenset[str]:
    """The codes without dots and case."""
    return frozenset(classification.bare_codes)


@lru_cache(maxsize=32)
def code_set(classification: Classification) -> frozenset[str]:
    """The codes as they are written."""
    return frozenset(classification.codes)


def _by_shape(name: str, tried: list[str], held: Mapping[str, int], words: frozenset[str]) -> Recognition | None:
    """Codes that only their shape tells: full codes of seven characters, or a name that says so."""
    shape, source = SHAPES[SOURCES[name].shape], SOURCES[name]
    keys = [bare(value) for value in tried]
    has_shape = [bool(shape.pattern.fullmatch(key)) and len(key) in shape.lengths for key in keys]
    rate = float(np.mean(has_shape))
    long = sum(fits and len(key) == shape.lengths[-1] for fits, key in zip(has_shape, keys, strict=True))
    named = bool(words & {name, name.partition("-")[0]})
    if rate < (LEAST_RATE_NAMED if named else LEAST_RATE) or (not named and (long < 5 or long * 2 < len(keys))):
        return None
    rows = sum(held[value] for value in tried)
    left = [value for value, fits in zip(tried, has_shape, strict=True) if not fits]
    own_rows = sum(held[value] for value, fits in zip(tried, has_shape, strict=True) if fits)
    return Recognition(
        name, "shape of the codes", rate, own_rows / rows, tuple(left[:5]), len(left), source.role, source.subject,
        3.0 * long,
    )  # fmt: skip


def covers(values: Sequence[str], *, name: str = "", least: float = 0.8) -> tuple[str, Matches] | None:
    """The classification that knows most of some words by name, for the builder of words; `None` if none does.

    Only names count, not codes: `In` is a word, no element.

    >>> found = covers(["Germany", "France", "Ivory Coast", "Japan"])
    >>> found and found[0]
    'countries'
    """
    words = name_words(name)
    best: tuple[float, str, Matches] | None = None
    for source_name in WORD_SOURCES:
        classification = load_classification(source_name)
        named = speaks_of(words, words_about(classification.about.subject))
        if classification.size > MOST_CODES_UNASKED and not named:
            continue
        named_values = sum(plain(value) in names_of(classification) for value in values)
        rate = named_values / max(len(values), 1)
        if rate < (min(least, 0.5) if named else least) or (named_values < 3 and not named):
            continue
        if best is None or (rate + named) > best[0]:
            best = rate + named, source_name, match_values(classification, values, nearest=False)
    return None if best is None else (best[1], best[2])


MOST_CODES_UNASKED = 20_000
"""Larger classifications are asked only where the name of the column speaks of their subject."""
WORD_SOURCES = ("countries", "us-states", "languages", "religions", "elements", "soc", "icd-10-cm", "naics")
"""The classifications that know what words mean, in the order in which they are asked."""


@lru_cache(maxsize=16)
def names_of(classification: Classification) -> frozenset[str]:
    """Labels and other names, normalized, without codes and abbreviations."""
    names = {*classification.by_label, *(key for key in classification.aliases if key == plain(key))}
    return frozenset(name for name in names if len(name) > 3 or " " in name)
