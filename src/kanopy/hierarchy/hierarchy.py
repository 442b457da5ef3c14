"""The one hierarchy type: a value turns, level by level, into a broader value.

A `Hierarchy` is a forest of nodes. Nodes `0 … size-1` are the values of the domain (the leaves); every parent has
a larger number than its children. From the forest follow the level table `[level, value] -> node`, the share of
the domain a node covers, and lowest common ancestors. Trees whose leaves lie at different depths are kept as
trees; their level table repeats a leaf downwards until all leaves are at one height. Hierarchies given as level
tables keep exactly the levels they were given.

Hierarchies over numbers also carry the interval `[low, high]` of each node.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from kanopy._arrays import SUPPRESSED_LABEL, Floats, Ints
from kanopy._errors import HierarchyError, near_miss
from kanopy._lazy import public
from kanopy._mixins import HtmlReprMixin, brief
from kanopy.hierarchy.construct import Bounds as Bounds
from kanopy.hierarchy.construct import depths, forest, level_table

LabelSource = Sequence[str] | Callable[[], Sequence[str]]


LARGEST_LEVEL_TABLE = 400_000_000

SHALLOW = 64
"""Up to this height plain NumPy walks the tree level by level; deeper ones go to the compiled loops."""


@dataclass(frozen=True, eq=False)
class Level:
    """One column of the level table, ready for grouping.

    `codes[value]` is dense from 0; `nodes[code]` is the node behind a code and `shares[code]` the share of the
    domain's values it covers.
    """

    codes: Ints
    nodes: Ints
    shares: Floats

    @property
    def size(self) -> int:
        """How many different generalized values this level has."""
        return len(self.nodes)


@public("kanopy")
class Hierarchy(HtmlReprMixin):
    """A generalization hierarchy over the values of one attribute.

    Build one with `from_rows` (a level table of labels), `from_parents` (a tree), `from_intervals` (a tree of
    numeric intervals), `kanopy.build_hierarchy` (from data) or `kanopy.hierarchy.files.files.read_hierarchy`.

    >>> h = Hierarchy.from_rows([["Lyon", "France", "*"], ["Paris", "France", "*"], ["Rome", "Italy", "*"]])
    >>> h.height, h.size, h.labels_at(1)
    (2, 3, ('France', 'Italy'))
    >>> h.label(h.lowest_common_ancestor(["Lyon", "Paris"]))
    'France'
    """

    def __init__(
        self,
        size: int,
        labels: LabelSource,
        parent: Ints | None,
        *,
        name: str = "",
        table: Ints | None = None,
        low: Bounds | None = None,
        high: Bounds | None = None,
        level_of: Ints | None = None,
    ) -> None:
        """Nodes `0…size-1` are leaves. `parent` is -1 for roots and `None` for a level table that does not nest.

        `level_of` gives the level of each node of a level table; builders that divide a range (rather than the
        values found in it) need it, because some of their intervals hold no value and so are not in the table.

        Prefer the `from_…` constructors, which check what they are given.
        """
        self.name = name
        self.size = size
        self.parent = None if parent is None else _frozen(np.asarray(parent, np.int32))
        self.low = None if low is None else _frozen(low)
        self.high = None if high is None else _frozen(high)
        self._label_source = labels
        self._table = None if table is None else _frozen(np.asarray(table, np.int32))
        self.level_of = None if level_of is None else _frozen(np.asarray(level_of, np.int32))
        self._levels: dict[int, Level] = {}
        if size == 0:
            raise HierarchyError("A hierarchy needs at least one value. Give it the values of the column.")
        if self.parent is None and self._table is None:
            raise HierarchyError("A hierarchy needs either parents or a level table.")

    # ---- construction -------------------------------------------------------------------------------------

    @classmethod
    def from_rows(cls, rows: Iterable[Sequence[str]], *, name: str = "", require_nesting: bool = True) -> Hierarchy:
        """From a level table of labels: one row per value, the value first, then ever broader labels.

        Raises `HierarchyError` if rows differ in length, a value occurs twice with different ancestors, or a
        label at one level lies under two labels of the next (it does not nest), unless `require_nesting=False`.
        """
        size, labels, parent, codes = level_table(rows, name, require_nesting)
        return cls(size, labels, parent, name=name, table=codes)

    @classmethod
    def from_parents(
        cls,
        pairs: Mapping[str, str | None] | Iterable[tuple[str, str | None]],
        *,
        name: str = "",
        leaves: Sequence[str] | None = None,
    ) -> Hierarchy:
        """From child → parent labels (a root's parent is `None` or absent). Leaves may lie at different depths.

        >>> Hierarchy.from_parents({"cat": "mammal", "dog": "mammal", "mammal": "animal", "carp": "animal"}).height
        2
        """
        size, labels, parent = forest(pairs, leaves)
        return cls(size, labels, parent, name=name)

    @classmethod
    def from_intervals(
        cls,
        low: Bounds,
        high: Bounds,
        parent: Ints,
        size: int,
        *,
        labels: LabelSource,
        name: str = "",
        table: Ints | None = None,
        level_of: Ints | None = None,
    ) -> Hierarchy:
        """From numeric nodes in the house order (leaves first in ascending order, parents after children)."""
        parent = np.asarray(parent, np.int32)
        inner = parent >= 0
        nodes = np.arange(len(parent))
        if (parent[inner] <= nodes[inner]).any() or (parent[inner] >= len(parent)).any():
            raise HierarchyError("Interval nodes must be ordered so that a parent comes after its children.")
        children = nodes[inner]
        if (low[children] < low[parent[inner]]).any() or (high[children] > high[parent[inner]]).any():
            raise HierarchyError("Some intervals extend beyond their parent: the intervals do not nest.")
        return cls(size, labels, parent, name=name, low=low, high=high, table=table, level_of=level_of)

    @classmethod
    def flat(cls, values: Sequence[str], *, name: str = "", top: str = SUPPRESSED_LABEL) -> Hierarchy:
        """Two levels: the value itself, then `*`. What a column gets when nobody gave it a hierarchy."""
        return cls.from_rows([[value, top] for value in values], name=name)

    # ---- nodes --------------------------------------------------------------------------------------------

    @property
    def nested(self) -> bool:
        """Whether every node has one parent. Searches that roll up classes need this."""
        return self.parent is not None

    @property
    def has_table(self) -> bool:
        """Whether the levels were given (a level table) rather than derived from a tree."""
        return self._table is not None

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """The label of every node."""
        source = self._label_source
        return tuple(source() if callable(source) else source)

    def label(self, node: int) -> str:
        """The label of one node."""
        return self.labels[node]

    @property
    def values(self) -> tuple[str, ...]:
        """The labels of the leaves: the domain."""
        return self.labels[: self.size]

    @cached_property
    def index(self) -> dict[str, int]:
        """From the label of a value to its leaf."""
        return {label: i for i, label in enumerate(self.values)}

    @property
    def node_count(self) -> int:
        """All nodes, leaves and inner ones."""
        if self.parent is not None:
            return len(self.parent)
        return len(self.level_of) if self.level_of is not None else int(self.table.max()) + 1

    def tree(self) -> Ints:
        """The parent array, or an error for a hierarchy that does not nest."""
        if self.parent is None:
            raise HierarchyError(
                f"The hierarchy{f' of {self.name}' if self.name else ''} does not nest: some nodes lie under two "
                "parents, so generalizing further can split a group again. Use one whose levels nest "
                "(for divisors: chain=True)."
            )
        return self.parent

    @cached_property
    def roots(self) -> Ints:
        """Nodes without a parent."""
        return np.flatnonzero(self.tree() < 0).astype(np.int32)

    @cached_property
    def depth(self) -> Ints:
        """Edges from each node up to its root."""
        return _frozen(depths(self.tree()))

    @cached_property
    def leaf_counts(self) -> Ints:
        """How many values of the domain lie under each node."""
        if self.parent is None:
            counts = np.zeros(self.node_count, np.int32)
            for row in self.table:
                nodes, number = np.unique(row, return_counts=True)
                counts[nodes] = number
            return _frozen(counts)
        return _frozen(self.subtree_sums(np.ones(self.size, np.int64)).astype(np.int32))

    def subtree_sums(self, leaves: npt.ArrayLike) -> npt.NDArray[np.int64]:
        """Per node the sum of a number per value (such as its row count) over the values under the node.

        >>> Hierarchy.flat(["a", "b"]).subtree_sums([10, 5]).tolist()
        [10, 5, 15]
        """
        sums = np.zeros(self.node_count, np.int64)
        sums[: self.size] = leaves
        parent = self.tree()
        if self.height > SHALLOW:
            from kanopy.hierarchy.trees_kernel import subtree_sums

            return subtree_sums(parent, sums)
        for depth in range(int(self.depth.max()), 0, -1):
            nodes = np.flatnonzero(self.depth == depth)
            np.add.at(sums, parent[nodes], sums[nodes])
        return sums

    def children(self, node: int) -> list[int]:
        """The nodes directly under `node`."""
        offsets, flat = self._children
        return [int(x) for x in flat[offsets[node] : offsets[node + 1]]]

    @cached_property
    def _children(self) -> tuple[npt.NDArray[np.int64], Ints]:
        parent = self.tree()
        order = np.argsort(parent, kind="stable").astype(np.int32)
        order = order[np.searchsorted(parent[order], 0) :]
        offsets = np.searchsorted(parent[order], np.arange(len(parent) + 1))
        return offsets, order

    def leaves_under(self, node: int) -> list[int]:
        """The values that generalize to `node`."""
        if node < self.size:
            return [node]
        leaves: list[int] = []
        stack = [node]
        while stack:
            top = stack.pop()
            if top < self.size:
                leaves.append(top)
            else:
                stack.extend(self.children(top))
        return sorted(leaves)

    def ancestors(self, node: int) -> list[int]:
        """The nodes above `node`, nearest first."""
        parent = self.tree()
        chain = []
        while (node := int(parent[node])) >= 0:
            chain.append(node)
        return chain

    def lowest_common_ancestor(self, values: Iterable[str | int]) -> int:
        """The lowest node above all given values (labels or leaf numbers); a value alone is its own ancestor."""
        nodes = [self.find(value) if isinstance(value, str) else int(value) for value in values]
        if not nodes:
            raise HierarchyError("Give at least one value to find a common ancestor.")
        above = [[node, *self.ancestors(node)] for node in nodes]
        shared = set(above[0]).intersection(*above[1:])
        if not shared:
            raise HierarchyError("These values have no common ancestor: the hierarchy has several roots.")
        return min(shared)  # a parent's number is larger than its child's

    def common_ancestors(self, left: npt.ArrayLike, right: npt.ArrayLike) -> Ints:
        """Pairwise lowest common ancestors of two arrays of nodes; -1 where there is none."""
        from kanopy.hierarchy.trees_kernel import common_ancestors

        a, b = np.broadcast_arrays(np.atleast_1d(np.asarray(left, np.int32)), np.asarray(right, np.int32))
        return common_ancestors(self.tree(), np.ascontiguousarray(a), np.ascontiguousarray(b))

    def find(self, value: str) -> int:
        """The leaf of a value's label; the error suggests near misses."""
        leaf = self.index.get(value)
        if leaf is None:
            raise HierarchyError(f"The hierarchy does not know {value!r}. {near_miss(value, self.values[:10_000])}")
        return leaf

    # ---- levels -------------------------------------------------------------------------------------------

    @cached_property
    def height(self) -> int:
        """The number of generalization steps from a value to the top."""
        if self._table is not None:
            return len(self._table) - 1
        return int(self.depth[: self.size].max())

    @cached_property
    def table(self) -> Ints:
        """The level table `[level, value] -> node`; unbalanced trees repeat the leaf downwards."""
        if self._table is not None:
            return self._table
        height = self.height
        if (height + 1) * self.size > LARGEST_LEVEL_TABLE:
            raise HierarchyError(
                f"The hierarchy has {height + 1} levels over {self.size:,} values: too deep for a search over "
                "levels. Use fewer levels (`h.with_levels(20)`) or an algorithm that works on the tree (k-member)."
            )
        parent = self.tree()
        rows = np.empty((height + 1, self.size), np.int32)
        rows[0] = np.arange(self.size)
        for level in range(1, height + 1):
            below = rows[level - 1]
            climbs = self.depth[below] > height - level
            rows[level] = np.where(climbs, parent[below], below)
        return _frozen(rows)

    @property
    def level_sizes(self) -> list[int]:
        """How many different nodes each level has, leaf level first."""
        return [self.level(level).size for level in range(self.height + 1)]

    def level(self, level: int) -> Level:
        """Dense codes, nodes and shares of one level."""
        known_level = self._levels.get(level)
        if known_level is None:
            if not 0 <= level <= self.height:
                raise HierarchyError(f"Level {level} does not exist: this hierarchy has levels 0 to {self.height}.")
            nodes, codes = np.unique(self.table[level], return_inverse=True)
            known_level = Level(
                _frozen(codes.astype(np.int32)),
                _frozen(nodes.astype(np.int32)),
                _frozen(self.leaf_counts[nodes] / self.size),
            )
            self._levels[level] = known_level
        return known_level

    def nodes_at(self, level: int) -> Ints:
        """All nodes of one level, also intervals that hold none of the values."""
        if self.level_of is None:
            return self.level(level).nodes
        return np.flatnonzero(self.level_of == level).astype(np.int32)

    def intervals_at(self, level: int) -> list[tuple[float, float]]:
        """The intervals `(low, high)` of one level in ascending order, also those that hold none of the values.

        >>> Hierarchy.from_intervals(np.array([1, 5, 1]), np.array([1, 5, 5]), np.array([2, 2, -1]), 2,
        ...                          labels=["1", "5", "[1, 5]"]).intervals_at(0)
        [(1, 1), (5, 5)]
        """
        if self.low is None or self.high is None:
            raise HierarchyError("Only hierarchies over numbers have intervals.")
        nodes = self.nodes_at(level)
        return sorted(zip(self.low[nodes].tolist(), self.high[nodes].tolist(), strict=True))

    def labels_at(self, level: int) -> tuple[str, ...]:
        """The labels of one level, in the order of its codes."""
        return tuple(self.label(int(node)) for node in self.level(level).nodes)

    def generalize(self, value: str, level: int) -> str:
        """One value at one level.

        >>> Hierarchy.flat(["a", "b"]).generalize("a", 1)
        '*'
        """
        return self.label(int(self.table[level, self.find(value)]))

    def rows(self) -> Iterable[tuple[str, ...]]:
        """The level table as labels, one row per value: what an ARX-style CSV file holds."""
        labels = self.labels
        for column in self.table.T:
            yield tuple(labels[node] for node in column)

    @cached_property
    def interval_shares(self) -> Floats:
        """Per node: interval length over the root's length (numbers), for losses that measure ranges."""
        if self.low is None or self.high is None:
            raise HierarchyError("Only hierarchies over numbers have intervals.")
        extent = (self.high - self.low).astype(np.float64)
        whole = float(self.high.max() - self.low.min())
        return _frozen(extent / whole if whole > 0 else np.zeros_like(extent))

    # ---- derived hierarchies ------------------------------------------------------------------------------

    def balanced(self) -> Hierarchy:
        """The same hierarchy with every leaf at one height (repeating the leaf), one node per level and label."""
        return derive.from_table_of(self, self.table, self.name)

    def with_levels(self, levels: int) -> Hierarchy:
        """A copy with at most `levels` levels, leaf level and top kept, the dropped ones spread evenly."""
        return derive.with_levels(self, levels)

    def restrict(self, values: Iterable[str]) -> Hierarchy:
        """Only the given values (in the given order) and the nodes above them; levels stay the same."""
        return derive.restrict(self, values)

    def with_value(self, value: str) -> Hierarchy:
        """A copy that also knows `value`, as a leaf directly under the root at every level but the top."""
        return derive.with_value(self, value)

    def placed(self, values: Iterable[str]) -> Hierarchy:
        """A copy that also knows those of `values` (numbers, dates) that its intervals hold."""
        return derive.placed(self, values)

    def rooted(self, top: str = SUPPRESSED_LABEL) -> Hierarchy:
        """A copy with one common top above several roots; unchanged if there is one already."""
        return derive.rooted(self, top)

    def renamed(self, name: str) -> Hierarchy:
        """The same hierarchy under another attribute name."""
        return self.changed(name=name)

    def changed(self, **changes: Any) -> Hierarchy:
        """A copy for which some arguments of the constructor (labels, parent, table, low, …) are others."""
        same: dict[str, Any] = {"labels": self._label_source, "parent": self.parent, "name": self.name}
        same |= {"table": self._table, "low": self.low, "high": self.high, "level_of": self.level_of}
        return Hierarchy(self.size, **{**same, **changes})

    # ---- identity -----------------------------------------------------------------------------------------

    def same_as(self, other: Hierarchy) -> bool:
        """Whether two hierarchies generalize every value alike (same values, same labels per level)."""
        return self.height == other.height and set(self.rows()) == set(other.rows())

    def __repr__(self) -> str:
        name = f" of {brief(self.name)[1:-1]}" if self.name else ""
        return f"<Hierarchy{name}: {self.size:,} values, {self.height + 1} levels>"

    def __len__(self) -> int:
        return self.size


Array = TypeVar("Array", bound=npt.NDArray[Any])


def _frozen(array: Array) -> Array:
    array.flags.writeable = False
    return array


from kanopy.hierarchy import derive  # noqa: E402 - it builds on the class above
