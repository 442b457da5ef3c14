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
from kanopy._core.numbering import LARGEST_KEY, number_keys
from kanopy._core.units_kernel import count_once
from kanopy._errors import JobError

ALL = 0
"""`known` where an attacker may know all rows of a unit, and that these are all."""
MOST_COMBINATIONS = 60_000_000
"""Combinations of a unit's rows that are kept at a time: eight bytes each."""
SAMPLED_ROWS, SAMPLED = 20_000, 8
"""In tables with more rows than this, combinations that begin with one of so many groups are looked at first."""
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

    @cached_property
    def rows_of(self) -> Longs:
        """Rows of each unit."""
        return np.bincount(self.of_row).astype(np.int64)

    @property
    def count(self) -> int:
        """How many units there are."""
        return len(self.rows_of)

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
        return replace(self, of_row=number_keys(self.of_row[rows].astype(np.int64)).number)

    def people(self, groups: Codes, count: int) -> Longs:
        """How many different units each of `count` groups of rows holds; rows of group -1 are left out."""
        cells = np.asarray(groups if self.order is None else groups[self.order], np.int64)
        counts = np.zeros(count, np.int64)
        for_size(count_once, len(cells))(cells, self._units, np.full(count, -1, np.int32), counts)
        return counts

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
        if self.known == 1:
            return np.asarray(np.append(self.people(groups, count) < k, False)[groups])
        gone = np.zeros(self.count, np.bool_)
        while True:
            staying = np.asarray(np.where(gone[self.of_row], -1, groups), np.int64)
            more = self._unsafe_units(staying, count, k, most)
            gone |= more
            # Equal traces stay equal whoever leaves; combinations become rarer when units leave.
            finished = self.known == ALL or not more.any()
            if finished or (most is not None and int((gone[self.of_row] & (groups >= 0)).sum()) > most):
                return np.asarray(gone[self.of_row] & (groups >= 0))

    def _unsafe_units(self, groups: Longs, count: int, k: int, most: int | None) -> Mask:
        """Units whose trace, or some combination of their rows, too few units have."""
        unsafe = np.zeros(self.count, np.bool_)
        rare = self.people(groups, count) < k
        unsafe[self.of_row[np.append(rare, False)[groups]]] = True
        if most is not None and int((unsafe[self.of_row] & (groups >= 0)).sum()) > most:
            return unsafe
        room = max(1, count)
        if room * self.count > LARGEST_KEY:
            raise JobError("The table has too many rows to compare what is known of its units. Use known = 1.")
        cells = np.sort((self.of_row.astype(np.int64) * room + groups)[groups >= 0])
        unit, group = cells // room, cells % room
        if self.known == ALL:
            unsafe |= _few_equal(unit, group, room, self.count, k, most)
        else:
            if most is not None and len(group) > SAMPLED_ROWS:
                # Combinations that begin with a few of the groups are often enough to see that too many units leave.
                some = group % SAMPLED == 0
                unsafe |= _few_combinations(unit, group, room, self.known, k, self.count, some)
                if int((unsafe[self.of_row] & (groups >= 0)).sum()) > most:
                    return unsafe
            unsafe |= _few_combinations(unit, group, room, self.known, k, self.count)
        return unsafe


def _few_equal(unit: Longs, group: Longs, room: int, count: int, k: int, most: int | None) -> Mask:
    """Units whose trace fewer than `k` units have: traces are read element by element, equal beginnings numbered.

    Whoever shares a beginning with too few is out at once; once more than `most` rows are, the rest is not looked at.
    """
    lengths = np.bincount(unit, minlength=count)
    starts = np.cumsum(lengths) - lengths
    begin, unsafe = np.zeros(count, np.int64), np.zeros(count, np.bool_)
    going_on = np.flatnonzero(lengths > 0)
    place = 0
    while len(going_on):
        # Traces of one length are only equal to each other, so the length is part of the first key.
        keys = (begin[going_on] if place else lengths[going_on]) * room + group[starts[going_on] + place]
        number, _, sizes = number_keys(keys)
        begin[going_on] = number
        rare = sizes[number] < k
        unsafe[going_on[rare]] = True
        if most is not None and int(lengths[unsafe].sum()) > most:
            break
        place += 1
        going_on = going_on[~rare & (lengths[going_on] > place)]
    return unsafe


def _few_combinations(
    unit: Longs, group: Longs, room: int, known: int, k: int, count: int, beginning: Mask | None = None
) -> Mask:
    """Units with a combination of up to `known` of their rows that fewer than `k` units have.

    Only combinations whose first row is one of those `beginning` are looked at, if these are given.

    `group` ascends within each unit, so that every combination is met once per unit: it is extended by the next row of
    the unit, and by the first row of every later group.
    """
    unsafe = np.zeros(count, np.bool_)
    first = np.ones(len(unit), np.bool_)
    first[1:] = (unit[1:] != unit[:-1]) | (group[1:] != group[:-1])
    end = np.searchsorted(unit, unit, side="right")
    last = np.flatnonzero(first if beginning is None else first & beginning)
    prefix, _, sizes = number_keys(group[last], room)
    unsafe[unit[last[sizes[prefix] < k]]] = True
    for size in range(2, known + 1):
        going_on = ~unsafe[unit[last]]
        last, begin = last[going_on], prefix[going_on].astype(np.int64)
        reach = end[last] - last - 1
        total = int(reach.sum())
        if total > MOST_COMBINATIONS:
            raise JobError(
                f"Units have {total:,} combinations of {size} of their rows, too many to count. Use a smaller known, "
                f"or known = {KNOWN_ALL!r}, or shorten the longest traces."
            )
        if not total:
            break
        source = np.repeat(np.arange(len(last)), reach)
        step = np.arange(total) - np.repeat(np.cumsum(reach) - reach, reach)
        following = last[source] + 1 + step
        new = (step == 0) | first[following]
        source, last = source[new], following[new]
        prefix, _, sizes = number_keys(begin[source] * room + group[last])
        unsafe[unit[last[sizes[prefix] < k]]] = True
    return unsafe
