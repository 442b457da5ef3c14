"""Which code each value of a column means: codes however they are written, labels, both, ranges, older codes.

Every value is tried in this order: the code itself, without dots, spaces and case; the code before a label (`A00.0
Cholera`); a label or a common other spelling; a range (`31-33`, `A00-A03`), which means what lies above its ends; and,
for codes that begin with their parent's, the longest known beginning: a code of another version lies below it.

Leading zeros that a spreadsheet took are put back for the whole column or not at all: where all codes have been
written as numbers, `111` may be the class `0111` or the group `111`, and only the other values tell which.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np

from kanopy._arrays import Ints
from kanopy._errors import some
from kanopy._mixins import ReprMixin
from kanopy.classifications.classification import Classification, bare, plain

CODE, LABEL, RANGE, OTHER_VERSION = "code", "label", "range", "other version"
UNKNOWN, AMBIGUOUS, NUMBER = "unknown", "ambiguous", "no code, but text"
_CODE_AND_LABEL = re.compile(r"\s*([A-Za-z0-9][\w.\-/]*)\s*(?:[:|–—]|\s-\s|\s)\s*(\S.*)")
_LABEL_AND_CODE = re.compile(r"(.*\S)\s*[\[(]([A-Za-z0-9][\w.\-/]*)[\])]\s*")
_RANGE = re.compile(r"\s*([A-Za-z0-9.]+)\s*(?:-|–|—|\bto\b|:)\s*([A-Za-z0-9.]+)\s*")
_NUMBER = re.compile(r"[+-]?\d+\.\d+")
_ZIP = re.compile(r"(\d{1,5})(?:-\d{4}|\.0)?")
_BRACKETS = re.compile(r"\s*([^()]*[^\s()])\s*\(([^()]+)\)\s*")
NOTHING_MORE = frozenset({"other", "others", "unspecified", "general", "nos", "not specified", "any"})
_FORMS = (
    "arab bolivarian co commonwealth cooperative dem democratic duchy fed federal federative grand hashemite "
    "independent islamic kingdom operative people peoples plurinational principality rep republic s socialist state "
    "sultanate"
)
FORMS_OF_STATE = frozenset(_FORMS.split(" "))
"""Words around the name of a country in its full name; names that differ by them alone are listed as a whole."""
_DECIMAL = re.compile(r"\d{1,2}\.\d{1,2}")
LONGEST_LABEL = 400
ZIP_DIGITS = 5


@dataclass(frozen=True)
class Matches(ReprMixin):
    """What each value of a column means in a classification, and how that was found out."""

    classification: Classification
    values: Sequence[str]
    nodes: Ints = field(repr=False)
    """Per value the number of its code; -1 where it has none."""
    how: Sequence[str] = field(repr=False)
    zeros: int = 0
    """So many digits the codes had before a spreadsheet took their leading zeros; 0 where none were put back."""

    @property
    def rate(self) -> float:
        """The share of the values that mean a code."""
        return float((self.nodes >= 0).mean()) if len(self.nodes) else 0.0

    @property
    def unmatched(self) -> list[str]:
        """The values without a code."""
        return [value for value, at in zip(self.values, self.nodes.tolist(), strict=True) if at < 0]

    def of(self, how: str) -> list[str]:
        """The values that were understood in one way."""
        return [value for value, how_matched in zip(self.values, self.how, strict=True) if how_matched == how]

    def notes(self) -> list[str]:
        """What to tell the user: values without a code, of another version, ranges, zeros put back, mixed levels."""
        name = self.classification.name
        notes = []
        if unknown := self.of(UNKNOWN):
            notes.append(f"{len(unknown):,} of {len(self.values):,} values are not in {name}: {some(unknown)}.")
        if ambiguous := self.of(AMBIGUOUS):
            notes.append(
                f"{some(ambiguous)}: these labels belong to several codes without a common parent. Give codes instead."
            )
        if older := self.of(OTHER_VERSION):
            listed_values = [f"{value} under {self._code(value)}" for value in older]
            notes.append(f"Not in this version of {name}, so placed below the nearest code: {_listed(listed_values)}.")
        if ranges := self.of(RANGE):
            notes.append(f"Ranges of codes: {_listed([f'{value} as {self._code(value)}' for value in ranges])}.")
        if self.zeros:
            notes.append(f"Leading zeros were put back: codes of {name} have {self.zeros} digits here.")
        held = Counter(self.classification.levels[rank] for rank in self.ranks.tolist())
        if len(held) > 1:
            listed_values = [f"{number:,} at the level {level}" for level, number in held.most_common()]
            notes.append(f"Codes of several levels: {_listed(listed_values)}.")
        return notes

    @property
    def ranks(self) -> Ints:
        """The ranks of the codes that were found."""
        return np.asarray(self.classification.rank[self.nodes[self.nodes >= 0]], np.int32)

    def _code(self, value: str) -> str:
        return self.classification.codes[int(self.nodes[list(self.values).index(value)])]


def _listed(listed_values: Sequence[str]) -> str:
    return ", ".join(listed_values[:5]) + (f" and {len(listed_values) - 5:,} more" if len(listed_values) > 5 else "")


def match_values(classification: Classification, values: Iterable[str], *, nearest: bool = True) -> Matches:
    """What the values of a column mean; `nearest` puts codes of other versions under the longest known beginning.

    >>> fruit = Classification.from_rows([("01", "Pome", ""), ("011", "Apple", "01"), ("012", "Pear", "01")], name="f")
    >>> found = match_values(fruit, ["11", "12", "pear", "quince"])
    >>> [fruit.codes[at] if at >= 0 else None for at in found.nodes], found.zeros
    (['011', '012', '012', None], 3)
    """
    texts = [str(value) for value in values]
    if classification.about.subject == "zip":
        # Codes of five digits belong to the area of their first three; some lost leading zeros.
        longest = max((len(post[1]) for text in texts if (post := _ZIP.fullmatch(text.strip()))), default=0)
        finder = _Finder(classification, 0, False, 5 if longest > 3 else 3)
    else:
        finder = _Finder(classification, _padding(classification, texts), nearest)
    matched = [finder.find(text) for text in texts]
    nodes = np.array([at for at, _ in matched], np.int32).reshape(len(texts))
    return Matches(classification, texts, nodes, [how for _, how in matched], finder.digits)


def four_digits(matches: Matches) -> list[str] | None:
    """The first four digits of ZIP codes of five, empty for values that are none; `None` for other columns.

    >>> from kanopy.classifications.registry import load_classification
    >>> four_digits(match_values(load_classification("us-zip3"), ["02139", "2140", "n/a"]))
    ['0213*', '0214*', '']
    """
    if matches.classification.about.subject != "zip":
        return None
    posts = [_ZIP.fullmatch(value.strip()) for value in matches.values]
    if max((len(post[1]) for post in posts if post), default=0) < ZIP_DIGITS - 1:
        return None
    return [
        f"{post[1].zfill(ZIP_DIGITS)[:4]}*" if post and at >= 0 else ""
        for post, at in zip(posts, matches.nodes.tolist(), strict=True)
    ]


class _Finder:
    """Looks values up in a classification, one at a time."""

    def __init__(self, classification: Classification, digits: int, nearest: bool, zip_digits: int = 0) -> None:
        self.classification, self.digits = classification, digits
        self.nearest = nearest and _begins_with_parent(classification)
        self.index = classification.index
        self.pointed = _with_point(classification)
        self.zip_digits = zip_digits
        self.dots = _has_dots(classification)

    def find(self, text: str) -> tuple[int, str]:
        """The number of a value's code, and how it was found."""
        if len(text) > LONGEST_LABEL or not text.strip():
            return -1, UNKNOWN
        if (at := self._code(text)) >= 0:
            return at, CODE
        written = None if self.zip_digits else _CODE_AND_LABEL.fullmatch(text)
        if written is not None and (at := self._with_label(*written.groups())) >= 0:
            return at, CODE
        written = _LABEL_AND_CODE.fullmatch(text)
        if written is not None and (at := self._with_label(written[2], written[1])) >= 0:
            return at, CODE
        if any(c.isalpha() for c in text) and (by_label := self._label(text)) is not None:
            return (by_label, LABEL) if by_label >= 0 else (-1, AMBIGUOUS)
        if not self.zip_digits and (ends := _RANGE.fullmatch(text)) is not None:
            first, last = self._code(ends[1]), self._code(ends[2])
            if first >= 0 and last >= 0:
                at = self.classification.common_ancestor([first, last])
                return (at, RANGE) if at >= 0 else (-1, UNKNOWN)
        measured = not self.dots and _NUMBER.fullmatch(text.strip()) is not None
        if self.nearest and not measured and (at := self._beginning(bare(text))) >= 0:
            return at, OTHER_VERSION
        return -1, UNKNOWN

    def _code(self, text: str) -> int:
        written = text.strip().upper()
        if written[:1] in "+-":
            return -1  # a number with a sign is no code
        if self.zip_digits:
            if (post := _ZIP.fullmatch(written)) is not None:
                return self.index.get(post[1].zfill(self.zip_digits)[:3], -1)
            return self.index.get(written.zfill(9)[:3], -1) if written.isdecimal() and len(written) in (8, 9) else -1
        if not self.dots and _NUMBER.fullmatch(written) and not written.endswith(".0"):
            return -1  # a measurement, in codes without points
        node = self.index.get(written, -1) if "-" in written else -1
        if node >= 0:
            return node
        # 1.11 was 01.11, 38.9 was 038.9, before a spreadsheet read it as a number.
        if self.pointed and _DECIMAL.fullmatch(written) and written not in self.pointed:
            for zeros in ("0", "00"):
                if (node := self.pointed.get(zeros + written, -1)) >= 0:
                    return node
        key = bare(text)
        if self.digits and key.isdecimal() and len(key) < self.digits:
            key = key.zfill(self.digits)
        node = self.index.get(key, -1)
        if node < 0 and written.endswith(".0") and written[:-2].isdecimal():  # a whole number read as a decimal one
            key = written[:-2].zfill(self.digits)
            node = self.index.get(key, -1)
        return node

    def _with_label(self, code: str, label: str) -> int:
        """The code of a value that gives both: the code counts if it looks like one, or the label agrees."""
        at = self._code(code)
        if at < 0:
            return -1
        # The number of an answer (`1. < HS Grad`) is no level of education: short codes need a label that agrees.
        key = bare(code)
        if any(c.isdigit() for c in key) and (len(key) > 3 or (len(key) == 3 and not key.isdecimal())):
            return at
        official = plain(self.classification.label(at)).split()
        words = {word[:5] for word in plain(label).split() if len(word) > 3}
        agrees = bool(words & {word[:5] for word in official}) or at in self.classification.by_label.get(
            plain(label), ()
        )
        return at if agrees else -1

    def _label(self, text: str) -> int | None:
        """The code of a label: the most detailed of one chain, otherwise the one above all that have it."""
        key = plain(text)
        if not key:
            return None
        nodes = self.classification.by_label.get(key)
        if nodes is None:
            node = self.classification.aliases.get(key)
            return self._longer_name(text, key) if node is None else node
        if len(nodes) == 1:
            return nodes[0]
        lowest = max(nodes, key=lambda at: int(self.classification.rank[at]))
        if set(nodes) <= set(self.classification.chain(lowest)):
            return lowest
        return self.classification.common_ancestor(nodes)

    def _longer_name(self, text: str, key: str) -> int | None:
        """A name with more around it: in brackets, or the full name of a state (`Kingdom of Belgium`)."""
        if self.classification.about.subject == "country":
            words = [word for word in key.split() if word not in FORMS_OF_STATE]
            if words and len(words) < key.count(" ") + 1 and (shorter := self._label(" ".join(words))) is not None:
                return shorter
        return self._in_brackets(text)

    def _in_brackets(self, text: str) -> int | None:
        """The part of a label in brackets, if it lies below what stands before: `Christian (Catholic)`."""
        parts = _BRACKETS.fullmatch(text)
        if parts is None or (outer := self._label(parts[1])) is None or outer < 0:
            return None
        inner = self._label(parts[2])
        if inner is not None and inner >= 0 and outer in self.classification.chain(inner):
            return inner
        return outer if plain(parts[2]) in NOTHING_MORE else None

    def _beginning(self, key: str) -> int:
        """The longest known beginning of a code that is not known itself, if the rest is short and looks like one."""
        if not key.isalnum() or not any(c.isdigit() for c in key) or len(key) > longest_code(self.classification):
            return -1
        least = shortest_parent(self.classification)
        for length in range(len(key) - 1, least - 1, -1):
            beginning = key[:length]
            at = self.index.get(beginning, -1)
            if at >= 0 and (beginning.isdecimal() or self.classification.bare_codes[at] == beginning):
                return at
        return -1


def _padding(classification: Classification, texts: Sequence[str]) -> int:
    """How many digits codes have that lost their leading zeros; 0 if they lost none.

    They did if all values are digits, no code has a zero in front, most of those that are too short are known with
    zeros, and no fewer are than without.
    """
    digits = [text.strip().removesuffix(".0") for text in texts]
    digits = [text for text in digits if text.isdecimal()]
    if not digits or len(digits) * 2 < len(texts) or any(text[0] == "0" and len(text) > 1 for text in digits):
        return 0
    zeroed = Counter(len(code) for code in zero_codes(classification))
    longest = max(map(len, digits))
    for length in sorted(zeroed, reverse=True):
        short = [text for text in digits if len(text) < length]
        if length not in (longest, longest + 1) or not short:
            continue
        padded = sum(text.zfill(length) in zero_codes(classification) for text in short)
        direct = sum(text in classification.index for text in short)
        if 2 * padded >= len(short) and padded >= direct:
            return length
    return 0


@lru_cache(maxsize=32)
def zero_codes(classification: Classification) -> frozenset[str]:
    """The codes of digits that begin with a zero, dots left out."""
    spelled = (*classification.bare_codes, *classification.aliases)
    return frozenset(code for code in spelled if code[:1] == "0" and len(code) > 1 and code.isdecimal())


@lru_cache(maxsize=32)
def _has_dots(classification: Classification) -> bool:
    """Whether codes are written with dots."""
    return any("." in code for code in classification.codes)


@lru_cache(maxsize=32)
def _with_point(classification: Classification) -> dict[str, int]:
    """The codes that a spreadsheet takes for decimal numbers."""
    pointed = {code: at for at, code in enumerate(classification.codes) if "." in code and code[0].isdigit()}
    return pointed if any(code[0] == "0" for code in pointed) else {}


@lru_cache(maxsize=32)
def _begins_with_parent(classification: Classification) -> bool:
    """Whether codes begin with the code of their parent, two levels at least, as those of ICD and NAICS do."""
    bares = classification.bare_codes
    below = np.flatnonzero((classification.parent >= 0) & (classification.rank > classification.rank.max() - 2))
    begins = sum(bares[at].startswith(bares[int(classification.parent[at])]) for at in below[:2000].tolist())
    return begins >= 0.9 * max(1, min(len(below), 2000)) and len(classification.levels) > 1


@lru_cache(maxsize=32)
def longest_code(classification: Classification) -> int:
    """The length of the longest code, ranges left out."""
    return max((len(code) for code in classification.bare_codes if code.isalnum()), default=0)


@lru_cache(maxsize=32)
def shortest_parent(classification: Classification) -> int:
    """The length of the shortest code that the codes below it begin with."""
    bares = classification.bare_codes
    lengths = {
        len(bares[above])
        for at, above in enumerate(classification.parent.tolist())
        if above >= 0 and bares[at].startswith(bares[above])
    }
    return max(2, min(lengths, default=2))


def shares(matches: Matches, counts: Mapping[str, int] | Sequence[int]) -> float:
    """The share of the rows whose value means a code."""
    rows_of_value = [counts[value] for value in matches.values] if isinstance(counts, Mapping) else list(counts)
    total = sum(rows_of_value)
    return (
        sum(n for n, at in zip(rows_of_value, matches.nodes.tolist(), strict=True) if at >= 0) / total if total else 0.0
    )
