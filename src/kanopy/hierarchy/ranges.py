"""Ranges of numbers written as text (`18-24`, `$10,000 to $19,999`, `under 5`, `65+`): their order and their unions."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

_NUMBER = r"\d{1,3}(?:[,.' \u00a0]\d{3})+(?:[.,]\d{1,2})?|\d+(?:[.,]\d+)?"
_MONEY = r"(?:[$€£¥₹]|USD|EUR|GBP|CHF|Rs\.?)?\s*"
_END = rf"{_MONEY}(?:{_NUMBER})(?:\s*[kKmM](?![a-zA-Z/]))?"
_UNIT = r"\s*(?:[a-zA-Zäöüéñ%$€£][a-zA-Zäöüéñ/.²]*(?:\s[a-zA-Zäöüéñ/]+)?)?"
_BELOW = (
    r"<=?|≤|under|below|less than|fewer than|lt|up to|upto|unter|bis|weniger als|moins de|jusqu'à|menos de|meno di|"
    r"fino a|hasta|até|minder dan|tot|mindre enn|mindre än"
)
_ABOVE = (
    r">=?|≥|over|above|more than|greater than|at least|gt|ge|über|ueber|ab|mehr als|plus de|más de|mas de|oltre|più di|"
    r"mais de|meer dan|vanaf|mer enn|mer än|over|from"
)
_MORE = (
    r"\+|or more|or over|or older|or above|and more|and over|and above|and older|plus|und mehr|und älter|"
    r"oder mehr|oder älter|et plus|ou plus|y más|o más|y mas|o mas|e più|o più|e mais|ou mais|en meer|"
    r"of meer|og over|eller mer"
)
_LESS = (
    r"or less|or fewer|or under|or younger|and under|and younger|oder weniger|et moins|ou moins|o menos|o meno|"
    r"of minder"
)
_BETWEEN = r"\s*(?:-|–|—|to|bis|til|tot|à|a|até|and|bis unter|up to|,(?=\s)|\.\.|;)\s*"
_FORMS = (
    ("range", re.compile(rf"[\[(]?\s*({_END}){_BETWEEN}({_END})({_UNIT})\s*[\])]?", re.IGNORECASE)),
    ("below", re.compile(rf"(?:{_BELOW})\s*({_END})({_UNIT})", re.IGNORECASE)),
    ("above", re.compile(rf"(?:{_ABOVE})\s*({_END})({_UNIT})", re.IGNORECASE)),
    ("above", re.compile(rf"({_END})({_UNIT})\s*(?:{_MORE})({_UNIT})", re.IGNORECASE)),
    ("below", re.compile(rf"({_END})({_UNIT})\s*(?:{_LESS})({_UNIT})", re.IGNORECASE)),
    ("point", re.compile(rf"({_END})({_UNIT})", re.IGNORECASE)),
)


@dataclass(frozen=True)
class NumberRange:
    """The numbers from `low` to `high`, how the text writes the two ends (empty where it is open), and their unit."""

    low: float
    high: float
    first: str
    last: str
    unit: str = ""


def parse_range(text: str) -> NumberRange | None:
    """The band that a text names, or `None`.

    >>> parse_range("$10,000 - $19,999"), parse_range("under 18").high, parse_range("65+").low, parse_range("soon")
    (NumberRange(low=10000.0, high=19999.0, first='$10,000', last='$19,999', unit=''), 18.0, 65.0, None)
    """
    text = " ".join(text.split())
    for kind, form in _FORMS:
        match = form.fullmatch(text)
        if match is None:
            continue
        unit = next(
            (group.strip()[:2].lower() for group in match.groups()[1 + (kind == "range") :] if group.strip()), ""
        )
        ends = [match[1].strip(), (match[2] if kind == "range" else match[1]).strip()]
        low, high = (_value(end) for end in ends)
        if kind == "range" and ends[1][-1:] in "kKmM" and ends[0][-1:] not in "kKmM":
            low, ends[0] = low * _value(f"1{ends[1][-1]}"), ends[0] + ends[1][-1]
        if kind == "below":
            return NumberRange(-math.inf, high, "", ends[1], unit)
        if kind == "above":
            return NumberRange(low, math.inf, ends[0], "", unit)
        return NumberRange(low, high, ends[0], ends[1], unit) if low <= high else None
    return None


def _value(end: str) -> float:
    plain = re.sub(r"^[^\d]+", "", end).strip()
    times = {"k": 1e3, "m": 1e6}.get(plain[-1:].lower(), 1.0)
    plain = plain.rstrip("kKmM ")
    if re.fullmatch(r"\d{1,3}(?:[,.' \u00a0]\d{3})+(?:[.,]\d{1,2})?", plain):
        whole, fraction = re.fullmatch(r"(.*?\d{3})(?:[.,](\d{1,2}))?", plain).groups()  # type: ignore[union-attr]
        plain = f"{re.sub(r'[^0-9]', '', whole)}.{fraction or 0}"
    return float(plain.replace(",", ".")) * times


def bands_in_order(texts: Sequence[str]) -> list[str] | None:
    """The texts by the bands they name, lowest first; `None` unless all are bands of one unit and none overlap.

    >>> bands_in_order(["65+", "under 18", "18-64"]), bands_in_order(["a", "b"]), bands_in_order(["1-5", "3-9"])
    (['under 18', '18-64', '65+'], None, None)
    >>> bands_in_order(["3+", "0", "2", "1"]), bands_in_order(["1", "2"])
    (['0', '1', '2', '3+'], None)
    """
    parsed = [(parse_range(text), text) for text in texts]
    bands = [(band.low, band.high, text) for band, text in parsed if band is not None]
    wide = sum(low < high for low, high, _ in bands)
    units = {band.unit for band, _ in parsed if band is not None} - {""}
    open_ended = any(math.isinf(low) or math.isinf(high) for low, high, _ in bands)  # 0, 1, 2, 3+
    if len(bands) < len(texts) or len(units) > 1 or len(bands) < 2 or (wide < 2 and not open_ended):
        return None
    bands.sort(key=lambda band: band[:2])
    # An end may be the beginning of the next one; anything more would be an order of overlapping bands.
    if any(one[1] > other[0] for one, other in itertools.pairwise(bands)):
        return None
    return [text for *_, text in bands]


def union_of(first: str, last: str) -> str | None:
    """How the band from the beginning of one to the end of another is written; `None` if they are no bands.

    >>> union_of("$10,000 - $19,999", "$20,000 - $29,999"), union_of("18-64", "65+"), union_of("under 18", "18-24")
    ('$10,000–$29,999', '≥ 18', '≤ 24')
    """
    one, other = parse_range(first), parse_range(last)
    if one is None or other is None or one.low > other.high:
        return None
    if one.first and other.last:
        return f"{one.first}–{other.last}"
    if other.last:
        return f"≤ {other.last}"
    return f"≥ {one.first}" if one.first else None
