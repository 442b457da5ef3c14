"""People, not rows: which rows belong to the same unit, and how many different units share what is published.

A unit is what a promise protects: a patient with many visits, a household with many members. Its trace is the multiset
of its published tuples. `known` says how many of a unit's rows an attacker may know:

- 1: every class holds rows of at least k units;
- m: every multiset of up to m tuples that some trace contains is contained in the traces of at least k units
  (Terrovitis, Mamoulis, Kalnis 2008, for baskets);
- all (`ALL`): every trace is equal to the traces of at least k - 1 other units.

Counts of different units never fall when classes are united, but they do not add up: they are counted anew.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from kanopy._arrays import Ints, Longs, Mask
from kanopy._compiler import for_size
from kanopy._core.alike_kernel import count_alike
from kanopy._core.numbering import number_keys
from kanopy._core.traces_kernel import Traces, leave_if_rare, like_traces, room_for_combinations, sort_traces
from kanopy._core.units_kernel import count_once
from kanopy._errors import JobError

ALL = 0
"""`known` where an attacker may know all rows of a unit, and that these are all."""
SMALL = 300
"""Up to so many rows the loops run uncompiled: that is quicker than loading the compiled ones."""
KNOWN_ALL = "all"
"""The same in words, as jobs say it."""

Codes = npt.NDArray[np.integer[Any]]


def known_rows(known: int | str) -> int:
    """`known` as a number, from a number or "all".

    >>> known_rows(2), known_rows("all") == ALL
    (2, True)
    """
    if known == KNOWN_ALL:
        return ALL
    if isinstance(known, str) or known < 1:
        raise JobError(f"known must be a whole number of at least 1, or {KNOWN_ALL!r}, not {known!r}.")
    return int(known)


def too_many_known(known: int, longest: int, described: str) -> JobError:
    """What is wrong with a `known` that is more than the rows of anybody."""
    return JobError(
        f"known is {known:,}, and nobody has more than {longest:,} rows ({described}). Choose known of at most "
        f"{longest:,}, or {KNOWN_ALL!r}."
    )


@dataclass(frozen=True, eq=False)
class Units:
    """The unit of every row (numbers from 0 without gaps), and how much an attacker may know of one.

    >>> visits = Units(np.array([0, 0, 1, 2], np.int32))
    >>> visits.count, visits.people(np.array([0, 0, 0, 1]), 2).tolist()
    (3, [2, 1])
    """

    of_row: Ints
    known: int = 1
    called: str = "people"
    """What units are called in sentences."""
    once: bool = False
    """Whether a unit shows every group once, however many of its rows are in it: traces are sets then."""
    named: int | None = None
    """So many units, the first, have a name by which they are in order; the others are one row each. `None`: all."""
    parents: tuple[Longs, ...] = ()
    """Rows that a row cannot be published without, such as the visit of a diagnosis: per link the parent of every row,
    -1 for none."""

    @cached_property
    def multiplicity(self) -> Longs:
        """Rows of each unit."""
        return np.bincount(self.of_row).astype(np.int64)

    @property
    def count(self) -> int:
        """How many units there are."""
        return len(self.multiplicity)

    @property
    def what_fits(self) -> str:
        """What of one of them fits k of them, in words.

        >>> Units(np.array([0, 0, 1, 2], np.int32), known=2).what_fits
        'any 2 published rows of one of them'
        """
        noun = "element" if self.called == "records" else "row"  # a record is unrolled into the elements of its list
        if self.known == ALL:
            return f"all published {noun}s of one of them together"
        return f"every published {noun}" if self.known == 1 else f"any {self.known:,} published {noun}s of one of them"

    @cached_property
    def order(self) -> Longs | None:
        """Rows unit by unit; `None` where they stand so already."""
        if bool((np.diff(self.of_row) >= 0).all()):
            return None
        return np.argsort(self.of_row, kind="stable").astype(np.int64)

    @cached_property
    def _units(self) -> Ints:
        return self.of_row if self.order is None else np.ascontiguousarray(self.of_row[self.order])

    def part(self, rows: Codes) -> Units:
        """The units of some rows."""
        return replace(self._moved(rows), of_row=number_keys(self.of_row[rows].astype(np.int64)).number)

    def of_rows(self, rows: Codes) -> Units:
        """The same units with other rows: each a copy of one here, at least one of every unit."""
        return replace(self._moved(rows), of_row=self.of_row[rows])

    def _moved(self, rows: Codes) -> Units:
        """The same with the parents of some rows, each of which is taken at most once."""
        if not self.parents:
            return self
        new_row = np.full(len(self.of_row) + 1, -1, np.int64)
        new_row[rows] = np.arange(len(rows))
        assert int((new_row >= 0).sum()) == len(rows), "a row with a parent is not copied"
        return replace(self, parents=tuple(new_row[parent[rows]] for parent in self.parents))

    def orphaned(self, leaving: Mask) -> Mask:
        """Which rows leave with these, because a row leaves that they cannot be published without.

        >>> chain = Units(np.array([0, 0, 0]), parents=(np.array([-1, 0, 1]),))
        >>> chain.orphaned(np.array([True, False, False])).tolist()
        [True, True, True]
        """
        leaving, before = leaving.copy(), -1
        while (count := int(leaving.sum())) != before:
            before = count
            for parent in self.parents:
                leaving |= np.append(leaving, False)[parent]
        return leaving

    def people(self, groups: Codes, count: int) -> Longs:
        """How many different units each of `count` groups of rows holds; rows of group -1 are left out."""
        cells = np.asarray(groups if self.order is None else groups[self.order], np.int64)
        counts = np.zeros(count, np.int64)
        for_size(count_once, len(cells))(cells, self._units, np.full(count, -1, np.int32), counts)
        return counts

    def least(self, groups: Codes, numbers: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Per unit the least of the numbers of the groups it has rows in; units without a row in any are left out.

        >>> Units(np.array([0, 0, 1, 2], np.int32)).least(np.array([0, 1, 1, -1]), np.array([1, 2])).tolist()
        [1, 2]
        """
        there = groups >= 0
        units, numbered = self.of_row[there], numbers[groups[there]]
        least = np.full(self.count, numbers.max(initial=0), numbers.dtype)
        np.minimum.at(least, units, numbered)
        return np.asarray(least[np.bincount(units, minlength=self.count) > 0])

    def fitting(self, groups: Codes, count: int) -> Longs:
        """How many units fit what may be known of each; units without a row in any group are left out.

        One over it is a unit's risk: for one known row the smallest group that it has a row in, for more the rarest
        combination, for all those with an equal trace.

        >>> groups = np.array([0, 1, 0, 1, 0])
        >>> [Units(np.array([0, 0, 1, 1, 2], np.int32), known).fitting(groups, 2).tolist() for known in (1, 2, ALL)]
        [[2, 2, 3], [2, 2, 3], [2, 2, 1]]
        """
        if self.known == 1:
            return self.least(groups, self.people(groups, count))
        traces = self._traces(groups)
        there = np.diff(traces.starts) > 0
        if self.known == ALL:
            return np.asarray(_like(traces)[there], np.int64)
        rows_known = min(self.known, int(np.diff(traces.starts).max(initial=1)))
        fits = np.full(self.count, self.count, np.int64)
        work = room_for_combinations(int(traces.starts[-1]), self.count, count, rows_known)
        for_size(count_alike, len(groups), SMALL)(traces, rows_known, fits, work)
        return np.asarray(fits[there])

    def histogram(self, groups: Codes, values: Codes, count: int, width: int) -> Longs:
        """`[group, value]`: how many units of a group hold a value there; each counts once, however many its rows.

        >>> visits = Units(np.array([0, 0, 1], np.int32))
        >>> visits.histogram(np.array([0, 0, 0]), np.array([1, 1, 0]), count=1, width=2).tolist()
        [[1, 1]]
        """
        cells = np.where(groups < 0, -1, groups.astype(np.int64) * width + values)
        return self.people(cells, count * width).reshape(count, width)

    def leaving(self, groups: Codes, count: int, k: int, most: int | None = None) -> Mask:
        """Which rows cannot be published in these groups, so that the promise holds of the others.

        `known = 1`: the rows of groups with fewer than `k` units. Otherwise whole units, as few as possible: unions of
        safe sets of units are safe, so there is a largest one. The search for it may stop once more than `most` rows
        leave.

        >>> visits = Units(np.array([0, 0, 1, 1, 2], np.int32), known=ALL)
        >>> visits.leaving(np.array([0, 1, 1, 0, 0]), 2, k=2).tolist()
        [False, False, False, False, True]
        """
        if self.known == 1 and self.parents:
            return self._leaving_with_children(groups, count, k, most)
        if self.known == 1:
            return np.asarray(np.append(self.people(groups, count) < k, False)[groups])
        small = self.people(groups, count) < k
        if most is not None and int(small[groups[groups >= 0]].sum()) > most:
            return np.asarray(np.append(small, False)[groups])
        units_that_leave = leaving_units(self._traces(groups), count, self.known, k, most)
        return np.asarray(units_that_leave[self.of_row] & (groups >= 0))

    def _leaving_with_children(self, groups: Codes, count: int, k: int, most: int | None) -> Mask:
        """The same with `known = 1` where rows have parents: they leave together, which may make more groups small."""
        staying, lost = groups.astype(np.int64), -1
        while True:
            leaving_rows = np.asarray(np.append(self.people(staying, count) < k, False)[staying]) | (staying < 0)
            leaving_rows = self.orphaned(leaving_rows)
            leaving = int((leaving_rows & (groups >= 0)).sum())
            if leaving == lost or (most is not None and leaving > most):
                return np.asarray(leaving_rows & (groups >= 0))
            lost, staying[leaving_rows] = leaving, -1

    def _traces(self, groups: Codes) -> Traces:
        """The groups of each unit's rows."""
        ordered = np.ascontiguousarray(groups if self.order is None else groups[self.order], np.int32)
        traces = Traces(
            np.empty(len(ordered), np.int32), np.zeros(self.count + 1, np.int64), np.zeros(self.count, np.bool_)
        )
        sort = for_size(sort_traces, len(ordered), SMALL)
        sort(ordered, self._units, traces.group, traces.starts, int(self.once))
        return traces


def leaving_units(traces: Traces, count: int, known: int, k: int, most: int | None) -> Mask:
    """Which units leave, so that what is known of the others fits `k` of them; see `Units.leaving` for `most`."""
    rows, units = int(traces.starts[-1]), len(traces.gone)
    if known == ALL:
        # Equal traces stay equal whoever leaves.
        return np.asarray((_like(traces) < k) & (np.diff(traces.starts) > 0))
    work = room_for_combinations(rows, units, count, known)
    limit, lost = rows if most is None else most, -1
    while lost < int(work.lost[0]) <= limit:
        # Combinations become rarer when units leave.
        lost = int(work.lost[0])
        for_size(leave_if_rare, rows, SMALL)(traces, known, k, limit, work)
    return traces.gone


def _like(traces: Traces) -> Ints:
    """How many units have a trace like that of each; 0 where there is none."""
    units = len(traces.gone)
    slots = np.full(1 << max(4, (2 * units - 1).bit_length()), -1, np.int32)
    like, sizes = np.empty(units, np.int32), np.zeros(units + 1, np.int32)
    for_size(like_traces, int(traces.starts[-1]), SMALL)(traces, slots, like, sizes)
    return np.asarray(sizes[like])
