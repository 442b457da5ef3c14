"""Which released row may be which original one, where a release stands in an order of its own.

Every released row gets an original row that all its labels allow, and no original row is given away twice: a flow from
the different rows of the original to those of the release. Rows that publish the same can change places, so any such
answer serves where tables are compared; nobody learns from it who is who.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from kanopy._arrays import Ints, Longs, Mask
    from kanopy.metrics.risk.linkage import PublishedColumn

MOST_PAIRS = 200_000_000
"""Pairs of different rows that are looked at."""
MOST_STEPS = 200_000
"""Steps of the search for rows that change places."""
_ROUNDS = 50


def match_by_values(columns: Sequence[PublishedColumn], *, most: bool = True) -> Longs | None:
    """The released row of every original one (-1: none), so that every label is true; `None` if none was found.

    A column whose labels cannot all be true whatever the order, such as one that was disturbed, has no say where `most`
    of the columns are enough.

    >>> from kanopy.metrics.risk.linkage import PublishedColumn
    >>> from kanopy.metrics.utility.published_values import ColumnDomain, understand
    >>> ages = ColumnDomain("age", ("31", "34", "52"), np.array([1, 1, 1]), np.array([31.0, 34.0, 52.0]))
    >>> covers = understand(["[30, 39]", "*"], ages)
    >>> match_by_values([PublishedColumn(np.array([0, 1, 2]), np.array([1, 0, 0]), covers)]).tolist()
    [1, 2, 0]
    """
    if most and len(columns) > 1:
        every, columns = columns, [column for column in columns if match_by_values([column]) is not None]
        if 2 * len(columns) <= len(every):
            return None
    if not columns:
        return None
    parts = [_components(column) for column in columns]
    if any((of_label[column.labels] < 0).any() for column, (_, of_label) in zip(columns, parts, strict=True)):
        return None  # a label that no value has
    rows = len(columns[0].values)
    blocks = _numbered(
        [np.append(of_value[column.values], of_label[column.labels])
         for column, (of_value, of_label) in zip(columns, parts, strict=True)]
    )  # fmt: skip
    before, after = (_Kinds(_numbered(codes), block) for codes, block in (
        ([column.values for column in columns], blocks[:rows]), ([column.labels for column in columns], blocks[rows:])
    ))  # fmt: skip
    count = int(blocks.max()) + 1
    many, few = (np.bincount(kinds.block, minlength=count) for kinds in (before, after))
    needed, there = (np.bincount(kinds.block, kinds.rows, minlength=count) for kinds in (after, before))
    if (needed > there).any() or int((many * few).sum()) > MOST_PAIRS:
        return None
    judged = [column for column, classes in zip(columns, parts, strict=True) if not _complete(column, *classes)]
    partner = np.full(rows, -1, np.int64)
    sources, targets = before.by_block(count), after.by_block(count)
    for block in np.flatnonzero(few).tolist():
        block_sources, wanted = sources[block], targets[block]
        allowed = np.ones((len(wanted), len(block_sources)), np.bool_)
        for column in judged:
            values, labels = column.values[before.first[block_sources]], column.labels[after.first[wanted]]
            pairs = column.covers.holds(np.repeat(labels, len(values)), np.tile(values, len(labels)))
            allowed &= pairs.reshape(allowed.shape)
        given = _flow(allowed, before.rows[block_sources], after.rows[wanted])
        if given is None:
            return None
        for target, amounts in enumerate(given):
            for source, amount in amounts.items():
                partner[before.take(int(block_sources[source]), amount)] = after.take(int(wanted[target]), amount)
    return partner


class _Kinds:
    """The different rows of a table: the block that each lies in, and its rows, of which some are taken already."""

    def __init__(self, number: Longs, block: Longs) -> None:
        self._order = np.argsort(number, kind="stable")
        self.rows = np.bincount(number)
        self._next = np.cumsum(self.rows) - self.rows
        self.first = self._order[self._next]
        self.block = block[self.first]

    def by_block(self, blocks: int) -> list[Longs]:
        order = np.argsort(self.block, kind="stable")
        return np.split(order, np.cumsum(np.bincount(self.block, minlength=blocks))[:-1])

    def take(self, kind: int, amount: int) -> Longs:
        start = self._next[kind]
        self._next[kind] += amount
        return np.asarray(self._order[start : start + amount])


def _numbered(columns: Sequence[Ints | Longs]) -> Longs:
    """A number per different row."""
    numbers = np.zeros(len(columns[0]), np.int64)
    for column in columns:
        numbers = np.unique(numbers * (int(column.max(initial=0)) + 1) + column, return_inverse=True)[1].astype(
            np.int64
        )
    return numbers


def _components(column: PublishedColumn) -> tuple[Longs, Longs]:
    """Values and labels that hang together, by the smallest value of each such set; -1 is a label without values."""
    covers = column.covers
    sizes = covers.sizes
    some = np.flatnonzero(sizes)
    members = np.concatenate([covers.values_of(label) for label in some.tolist()] or [np.zeros(0, np.int64)])
    starts = np.cumsum(sizes[some]) - sizes[some]
    of_value, of_label = np.arange(covers.domain.size), np.full(len(covers.labels), -1, np.int64)
    for _ in range(_ROUNDS):
        if not len(some):
            break
        of_label[some] = np.minimum.reduceat(of_value[members], starts)
        earlier = of_value.copy()
        np.minimum.at(of_value, members, np.repeat(of_label[some], sizes[some]))
        if (of_value == earlier).all():
            return of_value, of_label
    of_value[:], of_label[some] = 0, 0
    return of_value, of_label


def _complete(column: PublishedColumn, of_value: Longs, of_label: Longs) -> bool:
    """Whether every label allows all values that hang together with it, so that there is nothing left to ask."""
    used = np.unique(column.labels)
    return bool((column.covers.sizes[used] == np.bincount(of_value)[of_label[used]]).all())


def _flow(allowed: Mask, supply: Longs, demand: Longs) -> list[dict[int, int]] | None:
    """Per target how much comes from which source; the targets with the least choice come first."""
    left = supply.astype(np.int64).copy()
    given: list[dict[int, int]] = [{} for _ in demand]
    holders: list[set[int]] = [set() for _ in supply]
    if allowed.all():
        choice = np.arange(len(supply))
        first = np.arange(len(demand))
    else:
        choice = np.argsort(allowed.sum(axis=0), kind="stable")
        first = np.argsort(allowed @ left, kind="stable")
    steps = 0
    for target in first.tolist():
        need = int(demand[target])
        able = choice[(allowed[target] & (left > 0))[choice]]
        upto = np.cumsum(left[able])
        for source in able[: int(np.searchsorted(upto, need)) + 1].tolist():
            amount = min(need, int(left[source]))
            need -= amount
            left[source] -= amount
            given[target][source] = amount
            holders[source].add(target)
        while need:
            path, looked = _path(allowed, left, given, holders, target)
            steps += looked
            if not path or steps > MOST_STEPS:
                return None
            amount = min(
                need, int(left[path[-1][1]]), *(given[who][source] for (_, source), (who, _) in pairwise(path))
            )
            left[path[-1][1]] -= amount
            need -= amount
            for who, source in path:
                given[who][source] = given[who].get(source, 0) + amount
                holders[source].add(who)
            for (_, source), (who, _) in pairwise(path):  # what the one before gets, this one lets go
                given[who][source] -= amount
                if not given[who][source]:
                    del given[who][source]
                    holders[source].discard(who)
    return given


def _path(
    allowed: Mask, left: Longs, given: list[dict[int, int]], holders: list[set[int]], target: int
) -> tuple[list[tuple[int, int]], int]:
    """Who takes which source, each from the next, until one takes a source that is left; and how many were asked."""
    came: dict[int, tuple[int, int]] = {}
    seen = np.zeros(len(left), np.bool_)
    waiting, asked = deque([target]), {target}
    while waiting:
        who = waiting.popleft()
        free = np.flatnonzero(allowed[who] & (left > 0))
        if len(free):
            path = [(who, int(free[0]))]
            while who in came:
                who, source = came[who]
                path.append((who, source))
            return path[::-1], len(asked)
        for source in np.flatnonzero(allowed[who] & ~seen).tolist():
            seen[source] = True
            for other in sorted(holders[source] - asked):
                asked.add(other)
                came[other] = (who, source)
                waiting.append(other)
    return [], len(asked)
