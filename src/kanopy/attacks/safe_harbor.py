"""The 18 identifiers of the HIPAA Safe Harbor method, looked for in the names and values of a release's columns.

What their names and values look like is data (`report/policies/safe_harbor.toml`); the code here only weighs it. A
column is named once, for the identifier that speaks most clearly; ages above 89, dates and ZIP codes are looked at
value by value. 45 CFR 164.514(b)(2)(i).
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any

from kanopy._mixins import DictMixin

if TYPE_CHECKING:
    import polars as pl

LETTERS = "ABCDEFGHIJKLMNOPQR"
OLDEST = 89
"""Ages above are one group."""
MOST_VALUES = 5_000
FEWEST_UNIQUE, UNIQUE = 20, 0.95
"""From so many rows on, a text or whole number that is different in nearly every row is a unique code."""
_AGE = re.compile(r"\b(?:age|ages|alter|edad|years old)\b")
_NO_AGE = re.compile(r"\b(?:stage|wage|usage|age group of (?:house|building)|gestational)\b")
_BIRTH_YEAR = re.compile(r"\b(?:birth ?year|year of birth|yob|born|year born)\b")
_ZIP = re.compile(r"\b(?:zip|zip ?code|zip ?3|zip ?5|postal(?: code)?|postcode)\b")
_NUMBER = re.compile(r"-?\d+(?:\.0*)?")
_PARTS_OF_DATES = re.compile(r"\b(?:day|month|week|weekday|quarter)\b")


@dataclass(frozen=True)
class Found(DictMixin):
    """A column that seems to hold an identifier: its letter, why, and in how many rows."""

    column: str
    letter: str
    why: str
    rows: int


@cache
def _known() -> dict[str, Any]:
    text = (resources.files("kanopy.report.policies") / "safe_harbor.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


def safe_harbor(release: pl.DataFrame, as_of: date | None = None) -> tuple[Found, ...]:
    """The columns of a release that seem to hold one of the 18 identifiers.

    >>> import polars as pl
    >>> [(each.column, each.letter) for each in safe_harbor(pl.DataFrame({"Phone": ["212-555-0100"], "age": [91]}))]
    [('Phone', 'D'), ('age', 'C')]
    """
    hits_found = []
    for name in release.columns:
        counted = _counted(release[name])
        hit = _of_values(name, counted, as_of or date.today())
        if hit is None and not _judged_by_values(words_in(name)):
            hit = _of_name(name, counted) or _unique(name, release[name], counted)
        if hit is not None:
            hits_found.append(hit)
    return tuple(hits_found)


Counted = Sequence[tuple[str, int]]


def _counted(column: pl.Series) -> Counted:
    """The different values as texts, the most frequent first, with how many rows have each."""
    import polars as pl

    if column.dtype.is_nested() or column.dtype.is_object():
        column = pl.Series(column.name, [None if value is None else str(value) for value in column], pl.String)
    texts = column.cast(pl.String).drop_nulls().str.strip_chars()
    counts = texts.filter(~texts.is_in(["", "*"])).alias("value").value_counts(sort=True).head(MOST_VALUES)
    return [(str(value), int(rows)) for value, rows in counts.iter_rows()]


def words_in(name: str) -> str:
    """The words of a column's name joined by blanks, in small letters.

    >>> words_in("PatientFirstName"), words_in("home_ZIP5"), words_in("E-mail")
    ('patient first name', 'home zip5', 'e mail')
    """
    apart = re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", " ", name)
    return " ".join(re.sub(r"[^0-9A-Za-zÀ-ž]+", " ", apart).lower().split())


def _judged_by_values(words: str) -> bool:
    """Whether a column's values alone decide: ages and ZIP codes may be coarse enough."""
    return bool((_AGE.search(words) and not _NO_AGE.search(words)) or _ZIP.search(words))


def _of_values(name: str, counted: Counted, today: date) -> Found | None:
    """An identifier by what the values are."""
    rows = sum(count for _, count in counted)
    if not rows:
        return None
    words = words_in(name)
    if _AGE.search(words) and not _NO_AGE.search(words):
        old = sum(count for value, count in counted if _older(value))
        if old:
            return Found(name, "C", f"ages above {OLDEST} that are not one group of 90 and older", old)
        return None
    if _BIRTH_YEAR.search(words):
        early = sum(count for value, count in counted if (year := _year(value)) and today.year - year > OLDEST)
        if early:
            return Found(name, "C", f"years of birth that reveal an age above {OLDEST}", early)
    if _ZIP.search(words):
        return _zip(name, counted)
    for letter in "FGNOHIJLMDECBQR":  # the clearest first: a social security number is no telephone number
        letter_rules = _known()[letter]
        patterns = [re.compile(text) for text in letter_rules.get("values", ())]
        hits = sum(count for value, count in counted if any(pattern.fullmatch(value.lower()) for pattern in patterns))
        if patterns and hits >= letter_rules["share"] * rows:
            named = _letter_by_name(words)
            if letter == "D" and named == "E":
                letter = "E"  # fax numbers look like telephone numbers
            if letter in "RD" and named in tuple("GHIJKLMPQ"):
                letter = named
            return Found(name, letter, f"its values look like {_known()[letter]['title']}", hits)
    return None


def _older(value: str) -> bool:
    """Whether an age, or a narrow group of ages, lies above 89."""
    plain = value.replace("–", "-").replace(",", " ")
    numbers = [float(number_text) for number_text in re.findall(r"\d+(?:\.\d+)?", plain)]
    if not numbers or min(numbers) <= OLDEST or max(numbers) > 130:
        return False
    open_ended = re.search(r"\+|≥|>|or (?:more|older|over)|and (?:over|older|above)", plain)
    return not (open_ended and min(numbers) <= OLDEST + 1)


def _year(value: str) -> int | None:
    match = re.fullmatch(r"(1[89]\d\d|20\d\d)(?:\.0)?", value)
    return int(match[1]) if match else None


def _zip(name: str, counted: Counted) -> Found | None:
    """ZIP codes of more than three digits, and three digits of areas with few people."""
    rare = set(_known()["zip"]["rare"])
    fine = few = 0
    for value, rows in counted:
        digits = re.match(r"\d*", value)
        start = digits[0] if digits else ""
        if len(start) > 3:
            fine += rows
        elif len(start) == 3 and start in rare:
            few += rows
        elif not start and re.fullmatch(r"[a-z]{1,2}\d.*", value.lower()):
            fine += rows
    if fine:
        return Found(name, "B", "ZIP or postal codes of more than three digits", fine)
    if few:
        return Found(name, "B", "three-digit ZIP areas of 20,000 or fewer people, which must be 000", few)
    return None


def _letter_by_name(words: str) -> str | None:
    """The identifier that a name speaks of, the longest match first."""
    best = None
    for letter in LETTERS:
        letter_rules = _known()[letter]
        if "not_names" in letter_rules and re.search(letter_rules["not_names"], words):
            continue
        match = re.search(letter_rules["names"], words)
        length = 0 if match is None else len(match[0])
        if length and (best is None or length > best[0]):
            best = length, letter
    return None if best is None else best[1]


def _of_name(name: str, counted: Counted) -> Found | None:
    """An identifier by the column's name, unless its values cannot be one."""
    rows = sum(count for _, count in counted)
    letter = _letter_by_name(words_in(name))
    if rows and letter is None:
        return _first_names(name, counted)
    if not rows or letter is None or _cannot_be(letter, words_in(name), counted):
        return None
    return Found(name, letter, f"its name suggests {_known()[letter]['title']}", rows)


def _first_names(name: str, counted: Counted) -> Found | None:
    """Names of people, by a list of given names."""
    from kanopy._table.guessing.personal_data import first_names

    texts = [value for value, _ in counted[:500]]
    if len(texts) >= 3 and first_names(texts) >= _known()["A"]["first_names"]:
        return Found(name, "A", "its values look like names", sum(rows for _, rows in counted))
    return None


def _cannot_be(letter: str, words: str, counted: Counted) -> bool:
    """Whether values are too few or too coarse to be what a name speaks of."""
    values = [value for value, _ in counted]
    rows = sum(count for _, count in counted)
    small = all(_NUMBER.fullmatch(text_value) and abs(float(text_value)) < 100 for text_value in values)
    if letter == "C":
        return all(
            _year(text_value) or re.fullmatch(r"\d{4}s|\[?\d{4}[–, -]+\d{4}[\])]?|\(missing\)", text_value)
            for text_value in values
        ) or (small and not _PARTS_OF_DATES.search(words))
    if letter == "B":
        return small or (len(values) < 3 and rows > 20)
    if letter in "PQ":
        return small
    if letter == "A":
        return not any(any(sign.isalpha() for sign in text_value) for text_value in values)
    # Numbers and codes of people are of many people: a few values that repeat are kinds of something.
    return (len(values) <= 12 and rows >= 3 * len(values)) or (small and rows > 100)


def _unique(name: str, column: pl.Series, counted: Counted) -> Found | None:
    """A text or a whole number that is different in nearly every row."""
    rows = column.len() - column.null_count()
    nested = column.dtype.is_nested() or column.dtype.is_object() or column.dtype.is_float()
    if nested or rows < FEWEST_UNIQUE or column.drop_nulls().n_unique() < UNIQUE * rows:
        return None
    codes = [value for value, _ in counted if not re.search(r"\s", value)]
    if len(codes) < UNIQUE * len(counted) or not all(re.search(r"\d", code) for code in codes[:200]):
        return None
    if column.dtype.is_integer() and not _running(column):
        return None  # a measure of many values
    if any(re.fullmatch(r"-?\d+\.\d+", code) for code in codes[:200]):
        return None
    return Found(name, "R", "its values are different in nearly every row", rows)


def _running(column: pl.Series) -> bool:
    """Whether whole numbers count rows, or have the same many digits."""
    numbers = column.drop_nulls()
    low, high = int(numbers.min()), int(numbers.max())  # type: ignore[arg-type]
    same_length = len(str(low)) == len(str(high)) >= 6
    return bool(numbers.n_unique() == numbers.len() and (high - low < 2 * numbers.len() or same_length))
