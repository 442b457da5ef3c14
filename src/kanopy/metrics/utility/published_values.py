"""What a published label says about the original value: one parser for Kanopy's own releases and those of other tools.

A label is read, in this order, as nothing at all (`*`), as a label of the column's hierarchy (for all that lies under
nodes of that name: a group may bear the name of one of its values), as a value of the original column, as an
interval (`[17-25]`, `17-25`, `17–25`, `[17, 25]`, `[17, 25[`, `(17, 25]`, `17 to 25`), as a bound
(`<=25`, `≥ 90`, `90+`), as a set (`{a, b}`, whose items may be any of these), as a mask (`130**`), and for dates as
their beginning (`2020-03`). What remains is an error, never a guess.

The result, `Covers`, says for each label which values of the original column it may stand for.
"""

from __future__ import annotations

import datetime as dt
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from kanopy._arrays import SUPPRESSED_LABEL, Floats, Ints, Longs
from kanopy._errors import DataError, some
from kanopy.hierarchy.hierarchy import Hierarchy

_PLAIN = r"[-+\u2212]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?|[-+\u2212]?(?:inf(?:inity)?|\u221e)"
_GROUPED = r"[-+\u2212]?\d{1,3}(?:,\d{3})+(?:\.\d+)?"
_DATE = r"\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?)?"
_DASH = r"\s*(?:-|\u2013|\u2014|\u2012|\.\.\.?|\u2026|:|\bto\b)\s*"
_BETWEEN = rf"(?:{_DASH}|\s*[,;]\s*)"
_OPEN, _CLOSE = r"(?P<open>[\[(\]])\s*", r"\s*(?P<close>[\])\[])"

_NUMBER = re.compile(rf"(?:{_PLAIN}|{_GROUPED})", re.IGNORECASE)
_BRACKETED = (
    re.compile(rf"{_OPEN}(?P<low>{_PLAIN}){_BETWEEN}(?P<high>{_PLAIN}){_CLOSE}", re.IGNORECASE),
    re.compile(rf"{_OPEN}(?P<low>{_GROUPED}|{_PLAIN}){_DASH}(?P<high>{_GROUPED}|{_PLAIN}){_CLOSE}", re.IGNORECASE),
)
_BARE = re.compile(rf"(?P<low>{_GROUPED}|{_PLAIN}){_DASH}(?P<high>{_GROUPED}|{_PLAIN})", re.IGNORECASE)
_BOUND = re.compile(
    rf"(?P<sign><=|=<|\u2264|<|>=|=>|\u2265|>)\s*(?P<number>{_GROUPED}|{_PLAIN}|{_DATE})", re.IGNORECASE
)
_AND_MORE = re.compile(rf"(?P<number>{_GROUPED}|{_PLAIN})\s*\+", re.IGNORECASE)
_BRACKETED_DATES = re.compile(
    rf"{_OPEN}(?P<low>{_DATE})(?:\s*[,;/]\s*|\s+(?:-|\u2013|to)\s+|\u2013|\s*\.\.\s*)(?P<high>{_DATE}){_CLOSE}"
)
_BARE_DATES = re.compile(rf"(?P<low>{_DATE})(?:\s*/\s*|\s+(?:-|\u2013|to)\s+|\u2013|\s*\.\.\s*)(?P<high>{_DATE})")

LARGEST_LOOKUP = 1 << 20
"""Pairs of labels and values that a table may hold instead of a list of those that occur."""

UNDERSTOOD = (
    "values of the original, *, intervals such as [17-25], 17-25 or [17, 25[, bounds such as <=25 or 90+, sets such "
    "as {a, b}, masks such as 130**, other, and the labels of the column's hierarchy"
)
OTHER = "other"
"""How the values are called that are not published as themselves."""


@dataclass(frozen=True)
class Interval:
    """From `low` to `high`; an open end is not part of it.

    >>> 25 in Interval(17, 25), 25 in Interval(17, 25, high_open=True)
    (True, False)
    """

    low: float
    high: float
    low_open: bool = False
    high_open: bool = False

    def __contains__(self, number: float) -> bool:
        above = number > self.low if self.low_open else number >= self.low
        return above and (number < self.high if self.high_open else number <= self.high)


@dataclass(frozen=True, eq=False)
class ColumnDomain:
    """The values of an original column: labels in ascending order, how many rows each has, and as numbers if they
    are numbers or dates. With `missing`, the last value stands for missing ones (its number is NaN)."""

    name: str
    labels: tuple[str, ...]
    counts: Longs
    numbers: Floats | None = None
    temporal: bool = False
    missing: bool = False

    @property
    def size(self) -> int:
        """How many different values there are."""
        return len(self.labels)

    @property
    def present(self) -> int:
        """How many different values there are without the missing one."""
        return len(self.labels) - self.missing

    def ends(self) -> tuple[float, float]:
        """The smallest and the largest number."""
        assert self.numbers is not None, "only numbers have ends"
        known_numbers = self.numbers[: self.present]
        return (float(known_numbers.min()), float(known_numbers.max())) if len(known_numbers) else (0.0, 0.0)


@dataclass(frozen=True, eq=False)
class Covers:
    """Which original values each published label may stand for: `members[start[i]:stop[i]]`.

    `low` and `high` bound the number a label stands for (in numeric columns). `kinds` names how each was read.
    `breadth` counts the values a label stands for, for hierarchy labels also those that the original does not have.
    """

    domain: ColumnDomain
    labels: tuple[str | None, ...]
    members: Ints
    start: Longs
    stop: Longs
    low: Floats
    high: Floats
    kinds: tuple[str, ...]
    breadth: Longs

    @property
    def sizes(self) -> Longs:
        """How many values each label may stand for."""
        return self.stop - self.start

    def values_of(self, label: int) -> Ints:
        """The original values (as positions in the domain) of one label."""
        return self.members[self.start[label] : self.stop[label]]

    def holds(self, label_codes: Ints, value_codes: Ints) -> npt.NDArray[np.bool_]:
        """Per row, whether its published label allows its original value."""
        pairs = label_codes.astype(np.int64) * self.domain.size + value_codes
        room = len(self.labels) * self.domain.size
        if room <= LARGEST_LOOKUP:  # a table of all pairs, so that nothing needs sorting
            allowed = np.zeros(room, bool)
            for label in range(len(self.labels)):
                allowed[label * self.domain.size + self.values_of(label)] = True
            return np.asarray(allowed[pairs], bool)
        distinct, inverse = np.unique(pairs, return_inverse=True)
        labels, values = np.divmod(distinct, self.domain.size)
        starts = np.searchsorted(labels, np.arange(len(self.labels) + 1))
        pair_allowed = np.zeros(len(distinct), bool)
        for label in np.flatnonzero((np.diff(starts) > 0) & (self.sizes > 0)).tolist():
            run, members = slice(starts[label], starts[label + 1]), self.values_of(label)  # both ascending
            at = np.searchsorted(members, values[run]).clip(max=len(members) - 1)
            pair_allowed[run] = members[at] == values[run]
        return pair_allowed[inverse]


def parse_number(text: str) -> float | None:
    """A number as people write it, or `None`.

    >>> parse_number("1,250"), parse_number("\u22123.5"), parse_number("inf"), parse_number("x")
    (1250.0, -3.5, inf, None)
    """
    text = text.strip()
    if not _NUMBER.fullmatch(text):
        return None
    return float(text.replace(",", "").replace("\u2212", "-").replace("\u221e", "inf"))


def parse_moment(text: str) -> float | None:
    """An ISO date or time as days since the year one, or `None`.

    >>> parse_moment("0001-01-02"), parse_moment("2020-13-01")
    (2.0, None)
    """
    try:
        moment = dt.datetime.fromisoformat(text.strip())
    except ValueError:
        return None
    day = moment.replace(tzinfo=None)
    return day.toordinal() + (day - day.replace(hour=0, minute=0, second=0, microsecond=0)).total_seconds() / 86400.0


def parse_interval(text: str, *, temporal: bool = False) -> Interval | None:
    """An interval or a bound in any usual notation, or `None`.

    >>> parse_interval("[17-25]"), parse_interval("-5 \u2013 -1")
    (Interval(low=17.0, high=25.0, low_open=False, high_open=False),
     Interval(low=-5.0, high=-1.0, low_open=False, high_open=False))
    >>> parse_interval("[17, 25["), parse_interval("> 90")
    (Interval(low=17.0, high=25.0, low_open=False, high_open=True),
     Interval(low=90.0, high=inf, low_open=True, high_open=False))
    >>> parse_interval("25-17") is None
    True
    """
    text = text.strip()
    read = parse_moment if temporal else parse_number
    if match := _BOUND.fullmatch(text):
        number = read(match["number"])
        if number is None:
            return None
        sign = match["sign"]
        opened = sign in "<>"
        if sign[0] in "<\u2264" or sign == "=<":
            return Interval(-math.inf, number, high_open=opened)
        return Interval(number, math.inf, low_open=opened)
    if not temporal and (match := _AND_MORE.fullmatch(text)):
        number = read(match["number"])
        return None if number is None else Interval(number, math.inf)
    patterns = (_BRACKETED_DATES, _BARE_DATES) if temporal else (*_BRACKETED, _BARE)
    for pattern in patterns:
        if match := pattern.fullmatch(text):
            low, high = read(match["low"]), read(match["high"])
            if low is None or high is None or low > high:
                continue
            parts = match.groupdict()
            opening, closing = parts.get("open", "["), parts.get("close", "]")
            return Interval(low, high, opening in "(]", closing in ")[")
    return None


def parse_set(text: str) -> list[str] | None:
    """The items of `{a, b}`, quotes respected, or `None` if the text is no set.

    >>> parse_set('{a, "b, c"; d}'), parse_set("a, b")
    (['a', 'b, c', 'd'], None)
    """
    text = text.strip()
    if len(text) < 2 or text[0] != "{" or text[-1] != "}":
        return None
    items = re.findall(r'\s*(?:"((?:[^"]|"")*)"|\'([^\']*)\'|([^,;]*))\s*(?:[,;]|$)', text[1:-1])
    quoted_items = [double.replace('""', '"') or single or bare.strip() for double, single, bare in items]
    return [item for item in quoted_items if item]


def understand(
    labels: Sequence[str | None],
    domain: ColumnDomain,
    hierarchy: Hierarchy | None = None,
    *,
    null_is_missing: bool = False,
    unreadable: list[str] | None = None,
) -> Covers:
    """Read every published label of a column against the original's values and, if there is one, its hierarchy.

    Labels that cannot be read are an error, or with `unreadable` are added to that list and cover nothing. A null
    stands for anything (a suppressed cell), or with `null_is_missing` for a missing value. A number that the
    original does not have stands for itself: it covers no original value.

    >>> ages = ColumnDomain("age", ("17", "20", "25", "31"), np.array([1, 1, 1, 1]), np.array([17.0, 20, 25, 31]))
    >>> covers = understand(["[17-25]", "<25", "*", "{20, 31}"], ages)
    >>> [covers.values_of(i).tolist() for i in range(4)]
    [[0, 1, 2], [0, 1], [0, 1, 2, 3], [1, 3]]
    """
    reader = _Reader(domain, hierarchy)
    extra: list[Ints] = []
    used = domain.size
    start, stop = np.zeros(len(labels), np.int64), np.zeros(len(labels), np.int64)
    low, high = np.full(len(labels), np.nan), np.full(len(labels), np.nan)
    kinds: list[str] = []
    strange: list[str] = []
    for index, label in enumerate(labels):
        missing = label is None and null_is_missing and domain.missing
        kind, members, bounds = (
            reader.missing() if missing else reader.read(SUPPRESSED_LABEL if label is None else label)
        )
        if kind == "unknown" and str(label).strip().casefold() == OTHER:
            kind, members = "set", reader.left_over(labels)
        kinds.append(kind)
        if kind == "unknown":
            strange.append(str(label))
        elif isinstance(members, range):
            start[index], stop[index] = members.start, members.stop
        else:
            start[index], stop[index] = used, used + len(members)
            used += len(members)
            extra.append(members)
        if domain.numbers is not None:
            low[index], high[index] = bounds or reader.ends(members)
    if strange and unreadable is not None:
        unreadable.extend(strange)
    elif strange:
        hint = "" if hierarchy is not None else " If they are labels of a hierarchy, give it (a job file names it)."
        raise DataError(
            f"The release's column {domain.name!r} has {len(strange):,} values that cannot be read: {some(strange)}. "
            f"Readable values: {UNDERSTOOD}.{hint}"
        )
    members_of_all = np.concatenate([np.arange(domain.size, dtype=np.int32), *extra]).astype(np.int32)
    breadth = np.array(
        [reader.breadth.get(str(label).strip(), size) for label, size in zip(labels, stop - start, strict=True)],
        np.int64,
    )
    return Covers(domain, tuple(labels), members_of_all, start, stop, low, high, tuple(kinds), breadth)


Found = tuple[str, "range | Ints", "tuple[float, float] | None"]


class _Reader:
    """Reads the labels of one column."""

    def __init__(self, domain: ColumnDomain, hierarchy: Hierarchy | None) -> None:
        self.domain = domain
        self.index = {label: index for index, label in enumerate(domain.labels[: domain.present])}
        self.numbers = None if domain.numbers is None else domain.numbers[: domain.present]
        self.ranges = domain.ends() if domain.numbers is not None else None
        self.hierarchy = hierarchy
        self.leaves = 0 if hierarchy is None else hierarchy.size
        self.nodes: dict[str, list[int]] = {}
        self.breadth: dict[str, int] = {}
        if hierarchy is not None:
            for node, label in enumerate(hierarchy.labels):
                self.nodes.setdefault(label, []).append(node)

    def left_over(self, labels: Sequence[str | None]) -> Ints:
        """The values that are not published as themselves: what "other" stands for."""
        published_labels = {label for label in labels if label is not None}
        return np.array([index for value, index in self.index.items() if value not in published_labels], np.int32)

    def missing(self) -> Found:
        """The value that stands for missing ones."""
        return "missing", range(self.domain.present, self.domain.size), None

    def read(self, label: str, depth: int = 0) -> Found:
        """How a label was read, the values it may stand for, and its bounds where they are not those of the values."""
        text = label.strip()
        if text == SUPPRESSED_LABEL:
            return "anything", range(self.domain.size), None
        if depth and self.domain.missing and text == self.domain.labels[-1]:
            return self.missing()
        for spelling in (label, text):
            if spelling in self.nodes and any(node >= self.leaves for node in self.nodes[spelling]):
                return self._hierarchy_label(spelling)
        index = self.index.get(label, self.index.get(text))
        if index is not None:
            return "value", range(index, index + 1), None
        for spelling in (label, text):
            if spelling in self.nodes:
                return self._hierarchy_label(spelling)
        if self.numbers is not None:
            parsed = self._number_or_interval(text)
            if parsed is not None:
                return parsed
        items = parse_set(text) if depth == 0 else None
        if items is not None:
            return self._set(items)
        if SUPPRESSED_LABEL in text:
            return self._mask(text)
        if self.domain.temporal and re.fullmatch(r"\d{4}(?:-\d{2})?", text):
            wanted = [index for value, index in self.index.items() if value.startswith(text)]
            return "interval", np.array(wanted, np.int32), None
        return "unknown", range(0), None

    def _hierarchy_label(self, label: str) -> Found:
        assert self.hierarchy is not None
        leaves: set[str] = set()
        for node in self.nodes[label]:
            if self.hierarchy.nested:
                leaves.update(self.hierarchy.label(leaf) for leaf in self.hierarchy.leaves_under(node))
            else:
                under = (self.hierarchy.table == node).any(axis=0)
                leaves.update(self.hierarchy.label(int(leaf)) for leaf in np.flatnonzero(under))
        wanted = sorted(self.index[leaf] for leaf in leaves if leaf in self.index)
        self.breadth[label] = len(leaves)
        bounds = None
        if self.numbers is not None:  # what the label says counts, not which of its values happen to occur
            interval = parse_interval(label, temporal=self.domain.temporal)
            bounds = None if interval is None else self._clipped(interval)
        return "hierarchy", np.array(wanted, np.int32), bounds

    def _number_or_interval(self, text: str) -> Found | None:
        assert self.numbers is not None
        read = parse_moment if self.domain.temporal else parse_number
        number = read(text)
        if number is not None:
            index = int(np.searchsorted(self.numbers, number))
            if index < len(self.numbers) and self.numbers[index] == number:
                return "value", range(index, index + 1), None
            return "other number", range(0), (number, number)
        interval = parse_interval(text, temporal=self.domain.temporal)
        if interval is None:
            return None
        first = int(np.searchsorted(self.numbers, interval.low, "right" if interval.low_open else "left"))
        last = int(np.searchsorted(self.numbers, interval.high, "left" if interval.high_open else "right"))
        return "interval", range(first, max(first, last)), self._clipped(interval)

    def _clipped(self, interval: Interval) -> tuple[float, float]:
        """Bounds of an interval; where it has no end, the end of the original's values."""
        assert self.ranges is not None
        low = self.ranges[0] if math.isinf(interval.low) else interval.low
        high = self.ranges[1] if math.isinf(interval.high) else interval.high
        return min(low, high), max(low, high)

    def _set(self, items: list[str]) -> Found:
        members_found: list[int] = []
        start = 0
        while start < len(items):
            # Values may hold the separator themselves: try the longest run of pieces that is a value.
            for end in range(len(items), start, -1):
                whole = ", ".join(items[start:end])
                kind, members, _ = self.read(whole, depth=1)
                if kind != "unknown" and (end == start + 1 or kind in ("value", "hierarchy")):
                    members_found.extend(members.tolist() if isinstance(members, np.ndarray) else members)
                    start = end
                    break
            else:
                return "unknown", range(0), None
        return "set", np.array(sorted(set(members_found)), np.int32), None

    def _mask(self, text: str) -> Found:
        pattern = re.compile("".join("." if letter == "*" else re.escape(letter) for letter in text), re.DOTALL)
        wanted = [index for value, index in self.index.items() if pattern.fullmatch(value)]
        if not wanted and text.endswith("*") and "*" not in text[:-1]:  # one star for all that follows
            wanted = [index for value, index in self.index.items() if value.startswith(text[:-1])]
        return ("mask", np.array(sorted(wanted), np.int32), None) if wanted else ("unknown", range(0), None)

    def ends(self, members: range | Ints) -> tuple[float, float]:
        """The smallest and largest number among some values."""
        assert self.numbers is not None and self.ranges is not None
        inside = np.asarray(members, np.int64)
        inside = inside[inside < self.domain.present]
        if not len(inside):
            return math.nan, math.nan
        return float(self.numbers[inside].min()), float(self.numbers[inside].max())
