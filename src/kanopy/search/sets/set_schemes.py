"""Which sets of a column's values may be published: the three schemes of Li and Li.

A partition is built bottom-up, by joining two sets at a time. A scheme says which pairs may be joined; whatever can be
reached that way from single values is a partition of the scheme, and all partitions of the scheme can be reached.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from kanopy._arrays import Mask
from kanopy.search.sets.value_sets import ValueColumn

Set = tuple[int, ...]
"""Positions of values, ascending."""

Kind = Literal["any", "guided", "ordered"]

MOST_COUNTED = 300
"""Values (or children of a node) up to which partitions are counted."""
MOST_CUTS = 256
"""Places at which a run of values is tried to be cut."""


@dataclass(frozen=True)
class Home:
    """Where a set belongs: the children `first … last` (or some of them) of `node`; -1 for a set with no siblings."""

    node: int
    first: int
    last: int


class Scheme:
    """The sets of one column that a scheme allows.

    "any": all sets. "guided": a set holds one value, or all values of some children of one node of the hierarchy; so
    a value joins another only together with everything that the hierarchy puts closer to it. "ordered": the same, and
    the children are neighbours in the order of values.

    >>> from kanopy.hierarchy.hierarchy import Hierarchy
    >>> tree = Hierarchy.from_rows([[v, g, "*"] for v, g in ["ax", "bx", "cx", "dy", "ey"]])
    >>> letters = ValueColumn("l", tree, np.arange(5, dtype=np.int32), None)
    >>> [Scheme(letters, kind).count for kind in ("any", "guided", "ordered")]
    [52, 11, 9]
    """

    def __init__(self, column: ValueColumn, kind: Kind) -> None:
        self.column, self.kind = column, kind
        self.parent: list[int] = []
        self.held: list[Set] = []
        self.children: list[list[int]] = []
        self._node_of: dict[Set, int] = {}
        self._homes: dict[Set, Home] = {}
        self._parts: dict[Set, list[Set]] = {}
        if kind != "any" or column.hierarchy.nested:
            self._grow_tree()

    def _grow_tree(self) -> None:
        """The hierarchy of the values that occur; nodes that hold the same values are one."""
        hierarchy, size = self.column.hierarchy, self.column.size
        position = np.full(hierarchy.size, -1, np.int64)
        position[self.column.leaves] = np.arange(size)
        parent = hierarchy.tree()
        inside: list[list[int]] = [[] for _ in range(hierarchy.node_count)]
        for leaf in range(hierarchy.size):
            if position[leaf] >= 0:
                inside[leaf].append(int(position[leaf]))
        mine: list[int] = []
        self.held = [(p,) for p in range(size)]
        self.parent = [-1] * size
        self._node_of = {held: node for node, held in enumerate(self.held)}
        for node in range(hierarchy.node_count):  # a parent comes after its children
            held = tuple(sorted(inside[node]))
            if held and held not in self._node_of:
                self._node_of[held] = len(self.held)
                self.held.append(held)
                self.parent.append(-1)
            mine.append(self._node_of[held] if held else -1)
            if parent[node] >= 0:
                inside[parent[node]].extend(held)
        for node in range(hierarchy.node_count):
            if mine[node] >= 0 and parent[node] >= 0 and mine[parent[node]] != mine[node]:
                self.parent[mine[node]] = mine[parent[node]]
        self.children = [[] for _ in self.held]
        for node, above in enumerate(self.parent):
            if above >= 0:
                self.children[above].append(node)
        for children in self.children:
            children.sort(key=lambda child: self.held[child][0])

    # ---- joining ------------------------------------------------------------------------------------------

    def home(self, held: Set) -> Home:
        """Where a set belongs."""
        known_home = self._homes.get(held)
        if known_home is None:
            known_home = self._homes[held] = self._find_home(held)
        return known_home

    def _find_home(self, held: Set) -> Home:
        node = self._node_of.get(held)
        if node is not None:
            above = self.parent[node]
            at = self.children[above].index(node) if above >= 0 else 0
            return Home(above, at, at)
        inside = set(held)
        node = held[0]
        while not inside.issubset(self.held[node]):
            node = self.parent[node]
        ranks = [i for i, child in enumerate(self.children[node]) if self.held[child][0] in inside]
        return Home(node, ranks[0], ranks[-1])

    def legal(self, sets: Sequence[Set]) -> Mask:
        """Which pairs of sets may be joined, `[a, b]` with `a` before `b`."""
        upper = np.triu(np.ones((len(sets), len(sets)), np.bool_), 1)
        if self.kind == "any":
            return upper
        homes = [self.home(held) for held in sets]
        node = np.array([home.node for home in homes])
        allowed = (node[:, None] == node[None, :]) & (node[:, None] >= 0)
        if self.kind == "ordered":
            first, last = np.array([home.first for home in homes]), np.array([home.last for home in homes])
            allowed &= (last[:, None] + 1 == first[None, :]) | (last[None, :] + 1 == first[:, None])
        return np.asarray(allowed & upper, np.bool_)

    def reachable(self, sets: Sequence[Set]) -> Mask:
        """Pairs that may yet end in one set, by themselves or after other joins; symmetric."""
        if self.kind == "any" or not sets:
            return np.ones((len(sets), len(sets)), np.bool_)
        root = []
        for held in sets:
            node = held[0]
            while self.parent[node] >= 0:
                node = self.parent[node]
            root.append(node)
        roots = np.array(root)
        return np.asarray(roots[:, None] == roots[None, :], np.bool_)

    def coarsest(self) -> tuple[Set, ...]:
        """All values in one set; one set per root of the hierarchy where that guides."""
        if self.kind == "any":
            return (tuple(range(self.column.size)),)
        return tuple(sorted(held for held, above in zip(self.held, self.parent, strict=True) if above < 0))

    # ---- parting ------------------------------------------------------------------------------------------

    def parts(self, held: Set) -> list[Set]:
        """Ways to part a set in two: the part that is taken out. Both parts are sets of the scheme."""
        known_parts = self._parts.get(held)
        if known_parts is None:
            known_parts = self._parts[held] = self._find_parts(held)
        return known_parts

    def _find_parts(self, held: Set) -> list[Set]:
        if len(held) < 2:
            return []
        if self.kind == "any":
            whole = set(held)
            parts = {(p,) for p in held} | {held[:i] for i in _cuts(len(held))}
            for node in self.held:
                inside = tuple(p for p in node if p in whole)
                if 1 < len(inside) < len(held):
                    parts.add(inside)
            return sorted(parts)
        units = self._units(held)
        runs = {tuple(sorted(p for unit in units[:i] for p in self.held[unit])) for i in _cuts(len(units))}
        return sorted(runs | {self.held[unit] for unit in units} if self.kind == "guided" else runs)

    def _units(self, held: Set) -> list[int]:
        """The children that a set is made of."""
        node = self._node_of.get(held)
        if node is not None:
            return self.children[node]
        inside = set(held)
        return [child for child in self.children[self.home(held).node] if self.held[child][0] in inside]

    # ---- counting -----------------------------------------------------------------------------------------

    @property
    def count(self) -> int:
        """How many partitions the scheme allows; at least so many where they are beyond all counting."""
        if self.kind == "any":
            return bell_number(min(MOST_COUNTED, self.column.size))
        ways = [1] * len(self.held)
        for node in range(len(self.held)):
            if self.children[node]:
                below = [ways[child] for child in self.children[node]]
                ways[node] = _in_sets(below) if self.kind == "guided" else _in_runs(below)
        total = 1
        for node, above in enumerate(self.parent):
            total *= ways[node] if above < 0 else 1
        return total


def bell_number(size: int) -> int:
    """In how many ways `size` things can be divided into sets.

    >>> [bell_number(n) for n in range(6)]
    [1, 1, 2, 5, 15, 52]
    """
    return _bell_numbers(size + 1)[-1]


def _bell_numbers(count: int) -> list[int]:
    numbers, row = [1], [1]
    for _ in range(count - 1):
        following = [row[-1]]
        for value in row:
            following.append(following[-1] + value)
        row = following
        numbers.append(row[0])
    return numbers


def _in_sets(ways: Sequence[int]) -> int:
    """Partitions below a node: some children are whole and divided into sets, each other one is partitioned inside."""
    by_whole = [1]
    for inside in ways[:MOST_COUNTED]:
        grown = [0] * (len(by_whole) + 1)
        for whole, number in enumerate(by_whole):
            grown[whole + 1] += number
            grown[whole] += number * (inside - 1)
        by_whole = grown
    return sum(number * bell for number, bell in zip(by_whole, _bell_numbers(len(by_whole)), strict=True))


def _cuts(size: int) -> Sequence[int]:
    """Where a run of so many values is tried to be cut: everywhere, or at evenly spaced places of a long one."""
    return range(1, size) if size <= MOST_CUTS else np.linspace(1, size - 1, MOST_CUTS).round().astype(int).tolist()


def _in_runs(ways: Sequence[int]) -> int:
    """The same where sets are runs of neighbouring children: ending in a whole child, or in one partitioned inside."""
    ends_whole, ends_inside = 0, 1
    for inside in ways:
        total = ends_whole + ends_inside
        ends_whole, ends_inside = total + ends_whole, total * (inside - 1)
    return ends_whole + ends_inside


def sets_of(number: npt.NDArray[np.integer]) -> list[Set]:
    """The sets behind a numbering of values."""
    sets: list[list[int]] = [[] for _ in range(int(number.max(initial=-1)) + 1)]
    for position, s in enumerate(number.tolist()):
        sets[s].append(position)
    return [tuple(held) for held in sets]
