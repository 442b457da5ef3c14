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

from kanopy.errors import HierarchyError, near_miss, some

Ints = npt.NDArray[np.int32]
Floats = npt.NDArray[np.float64]
Bounds = npt.NDArray[np.int64] | npt.NDArray[np.float64]
LabelSource = Sequence[str] | Callable[[], Sequence[str]]

SUPPRESSED = "*"
"""The label of a value about which nothing is said."""

LARGEST_LEVEL_TABLE = 400_000_000


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


class Hierarchy:
    """A generalization hierarchy over the values of one attribute.

    Build one with `from_rows` (a level table of labels), `from_parents` (a tree), `from_intervals` (a tree of
    numeric intervals), `kanopy.build_hierarchy` (from data) or `kanopy.hierarchy.files.read_hierarchy`.

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
    ) -> None:
        """Nodes `0…size-1` are leaves. `parent` is -1 for roots and `None` for a level table that does not nest.

        Prefer the `from_…` constructors, which check what they are given.
        """
        self.name = name
        self.size = size
        self.parent = None if parent is None else _frozen(np.asarray(parent, np.int32))
        self.low = None if low is None else _frozen(low)
        self.high = None if high is None else _frozen(high)
        self._label_source = labels
        self._table = None if table is None else _frozen(np.asarray(table, np.int32))
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
        table = [tuple(row) for row in rows]
        if not table:
            raise HierarchyError("The hierarchy has no rows. Give one row per value: value, broader, …, *.")
        width = len(table[0])
        ragged = [i + 1 for i, row in enumerate(table) if len(row) != width]
        if ragged:
            raise HierarchyError(
                f"All rows of a hierarchy need the same number of levels ({width} in the first row); "
                f"rows {some(ragged)} differ. Repeat a label to fill a level."
            )
        unique: dict[str, tuple[str, ...]] = {}
        for row in table:
            if unique.setdefault(row[0], row) != row:
                raise HierarchyError(
                    f"The value {row[0]!r} has two parents: {unique[row[0]][1:]} and {row[1:]}. Keep one row per value."
                )
        columns = list(zip(*unique.values(), strict=True))
        codes = np.empty((width, len(unique)), np.int32)
        labels: list[str] = []
        for level, column in enumerate(columns):
            index: dict[str, int] = {}
            start = len(labels)
            codes[level] = [start + index.setdefault(label, len(index)) for label in column]
            labels.extend(index)
        parent, broken = _parents_of_table(codes, len(labels))
        if broken is not None and require_nesting:
            level, nodes = broken
            shown = []
            for node in nodes[:5]:
                above = sorted({labels[up] for up in codes[level + 1][codes[level] == node]})
                shown.append(f"{labels[node]!r} lies under both {above[0]!r} and {above[1]!r}")
            raise HierarchyError(
                f"The hierarchy{f' of {name}' if name else ''} does not nest between level {level} and "
                f"{level + 1}: {'; '.join(shown)}. Each label must have one parent: give the parts different labels."
            )
        return cls(len(unique), labels, None if broken else parent, name=name, table=codes)

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
        items = list(pairs.items() if isinstance(pairs, Mapping) else pairs)
        above: dict[str, str | None] = {}
        for child, up in items:
            up = up or None
            if child in above and above[child] is not None and up is not None and above[child] != up:
                raise HierarchyError(f"{child!r} has two parents: {above[child]!r} and {up!r}. Keep one.")
            above[child] = up if up is not None else above.get(child)
            if up is not None:
                above.setdefault(up, None)
        if not above:
            raise HierarchyError("The hierarchy is empty. Give child and parent labels.")
        inner = {up for up in above.values() if up is not None}
        own_leaves = [label for label in above if label not in inner]
        if leaves is not None:
            wrong = [label for label in leaves if label not in above]
            if wrong:
                raise HierarchyError(f"No such leaves in the hierarchy: {some(wrong)}.")
            own_leaves = list(leaves)
        level = _heights(above, own_leaves)
        order = own_leaves + sorted((x for x in level if x in inner), key=lambda x: level[x])
        index = {label: i for i, label in enumerate(order)}
        parent = np.array([-1 if (up := above[x]) is None else index[up] for x in order], np.int32)
        return cls(len(own_leaves), order, parent, name=name)

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
    ) -> Hierarchy:
        """From numeric nodes in the house order (leaves first in ascending order, parents after children)."""
        parent = np.asarray(parent, np.int32)
        inner = parent >= 0
        own = np.arange(len(parent))
        if (parent[inner] <= own[inner]).any() or (parent[inner] >= len(parent)).any():
            raise HierarchyError("Interval nodes must be ordered so that a parent comes after its children.")
        children = own[inner]
        if (low[children] < low[parent[inner]]).any() or (high[children] > high[parent[inner]]).any():
            raise HierarchyError("Some intervals stick out of their parent: the intervals do not nest.")
        return cls(size, labels, parent, name=name, low=low, high=high, table=table)

    @classmethod
    def flat(cls, values: Sequence[str], *, name: str = "", top: str = SUPPRESSED) -> Hierarchy:
        """Two levels: the value itself, then `*`. What a column gets when nobody gave it a hierarchy."""
        return cls.from_rows([[value, top] for value in values], name=name)

    # ---- nodes --------------------------------------------------------------------------------------------

    @property
    def nested(self) -> bool:
        """Whether every node has one parent. Searches that roll up classes need this."""
        return self.parent is not None

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
        return int(self.table.max()) + 1

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
        parent = self.tree()
        depth = np.zeros(len(parent), np.int32)
        climbing = np.arange(len(parent), dtype=np.int32)
        for _ in range(len(parent)):
            climbing = parent[climbing]
            above = climbing >= 0
            if not above.any():
                break
            depth[above] += 1
            climbing = np.where(above, climbing, self.roots[0])
        return _frozen(depth)

    @cached_property
    def leaf_counts(self) -> Ints:
        """How many values of the domain lie under each node."""
        counts = np.zeros(self.node_count, np.int64)
        if self.parent is None:
            for row in self.table:
                nodes, number = np.unique(row, return_counts=True)
                counts[nodes] = number
        else:
            counts[: self.size] = 1
            for nodes in self._nodes_by_depth():
                np.add.at(counts, self.parent[nodes], counts[nodes])
        return _frozen(counts.astype(np.int32))

    def _nodes_by_depth(self) -> Iterable[Ints]:
        """Non-root nodes, deepest first, in groups of one depth."""
        order = np.argsort(-self.depth, kind="stable")
        edges = np.flatnonzero(np.diff(self.depth[order])) + 1
        for group in np.split(order, edges):
            if self.depth[group[0]] > 0:
                yield group.astype(np.int32)

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
        found: list[int] = []
        stack = [node]
        while stack:
            top = stack.pop()
            if top < self.size:
                found.append(top)
            else:
                stack.extend(self.children(top))
        return sorted(found)

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
        common = np.int32(nodes[0])
        for node in nodes[1:]:
            common = self.common_ancestors(np.array([common]), np.array([node]))[0]
        if common < 0:
            raise HierarchyError("These values have no common ancestor: the hierarchy has several roots.")
        return int(common)

    def common_ancestors(self, left: npt.ArrayLike, right: npt.ArrayLike) -> Ints:
        """Pairwise lowest common ancestors of two arrays of nodes; -1 where there is none."""
        parent = self.tree()
        a = np.asarray(left, np.int32).copy()
        b = np.asarray(right, np.int32).copy()
        while True:
            # A parent's number is larger than its child's, so the smaller of two different nodes must climb.
            differ = (a != b) & (a >= 0) & (b >= 0)
            if not differ.any():
                return np.where(a == b, a, np.int32(-1)).astype(np.int32)
            climb_a = differ & (a < b)
            climb_b = differ & (b < a)
            a[climb_a] = parent[a[climb_a]]
            b[climb_b] = parent[b[climb_b]]

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
        found = self._levels.get(level)
        if found is None:
            if not 0 <= level <= self.height:
                raise HierarchyError(f"Level {level} does not exist: this hierarchy has levels 0 to {self.height}.")
            nodes, codes = np.unique(self.table[level], return_inverse=True)
            found = Level(
                _frozen(codes.astype(np.int32)),
                _frozen(nodes.astype(np.int32)),
                _frozen(self.leaf_counts[nodes] / self.size),
            )
            self._levels[level] = found
        return found

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
        return Hierarchy._from_table_of(self, self.table, self.name)

    def with_levels(self, levels: int) -> Hierarchy:
        """A copy with at most `levels` levels, leaf level and top kept, the dropped ones spread evenly."""
        if levels < 2:
            raise HierarchyError("A hierarchy needs at least two levels: the values and the top.")
        if levels > self.height:
            return self
        keep = sorted({round(i * self.height / (levels - 1)) for i in range(levels)})
        if self._table is not None:
            return Hierarchy._from_table_of(self, self._table[keep], self.name)
        parent, rows, current = self.tree(), [], np.arange(self.size, dtype=np.int32)
        for level in range(self.height + 1):
            if level > 0:
                current = np.where(self.depth[current] > self.height - level, parent[current], current)
            if level in keep:
                rows.append(current)
        return Hierarchy._from_table_of(self, np.array(rows, np.int32), self.name)

    def restrict(self, values: Iterable[str]) -> Hierarchy:
        """Only the given values (in the given order) and the nodes above them; levels stay the same."""
        leaves = np.array([self.find(value) for value in values], np.int32)
        if not len(leaves):
            raise HierarchyError("Restricting a hierarchy needs at least one value.")
        if self._table is not None or self.parent is None:
            return Hierarchy._from_table_of(self, self.table[:, leaves], self.name)
        used = np.zeros(self.node_count, bool)
        current = leaves
        while len(current):
            used[current] = True
            current = np.unique(self.parent[current])
            current = current[(current >= 0)]
            current = current[~used[current]]
        inner = np.flatnonzero(used[self.size :]).astype(np.int32) + self.size
        return self._take(np.concatenate([leaves, inner]), len(leaves))

    def with_value(self, value: str) -> Hierarchy:
        """A copy that also knows `value`, as a leaf directly under the root at every level but the top."""
        if value in self.index:
            return self
        if self.nested and len(self.roots) > 1:
            raise HierarchyError(f"Cannot add {value!r}: the hierarchy has several roots. Join them under '*' first.")
        rows = [(*row,) for row in self.rows()]
        top = rows[0][-1] if self.height else value
        rows.append((value,) * self.height + (top,) if self.height else (value,))
        return Hierarchy.from_rows(rows, name=self.name)

    def rooted(self, top: str = SUPPRESSED) -> Hierarchy:
        """A copy with one common top above several roots; unchanged if there is one already."""
        if self.nested and len(self.roots) == 1:
            return self
        return Hierarchy.from_rows([(*row, top) for row in self.rows()], name=self.name)

    def renamed(self, name: str) -> Hierarchy:
        """The same hierarchy under another attribute name."""
        return Hierarchy(
            self.size,
            self._label_source,
            self.parent,
            name=name,
            table=self._table,
            low=self.low,
            high=self.high,
        )

    def _take(self, nodes: Ints, size: int) -> Hierarchy:
        """A sub-forest of the given nodes, leaves first."""
        parent = self.tree()
        number = np.full(self.node_count + 1, -1, np.int32)
        number[nodes] = np.arange(len(nodes))
        picked = [self.labels[node] for node in nodes]
        low = None if self.low is None else self.low[nodes]
        high = None if self.high is None else self.high[nodes]
        return Hierarchy(size, picked, number[parent[nodes]], name=self.name, low=low, high=high)

    @staticmethod
    def _from_table_of(source: Hierarchy, table: Ints, name: str) -> Hierarchy:
        """A hierarchy with an explicit level per row of `table`, whose entries are nodes of `source`."""
        codes = np.empty_like(table)
        picked: list[Ints] = []
        start = 0
        for level, row in enumerate(table):
            nodes, first, dense = np.unique(row, return_index=True, return_inverse=True)
            order = np.argsort(first, kind="stable")
            rank = np.empty_like(order)
            rank[order] = np.arange(len(order))
            codes[level] = start + rank[dense]
            picked.append(nodes[order])
            start += len(nodes)
        nodes = np.concatenate(picked).astype(np.int32)
        labels = [source.labels[node] for node in nodes]
        parent, broken = _parents_of_table(codes, len(labels))
        low = None if source.low is None else source.low[nodes]
        high = None if source.high is None else source.high[nodes]
        return Hierarchy(table.shape[1], labels, None if broken else parent, name=name, table=codes, low=low, high=high)

    # ---- identity -----------------------------------------------------------------------------------------

    def same_as(self, other: Hierarchy) -> bool:
        """Whether two hierarchies generalize every value alike (same values, same labels per level)."""
        return self.height == other.height and set(self.rows()) == set(other.rows())

    def __repr__(self) -> str:
        name = f" of {self.name}" if self.name else ""
        return f"<Hierarchy{name}: {self.size:,} values, {self.height + 1} levels>"

    def __len__(self) -> int:
        return self.size


Array = TypeVar("Array", bound=npt.NDArray[Any])


def _frozen(array: Array) -> Array:
    array.flags.writeable = False
    return array


def _parents_of_table(codes: Ints, nodes: int) -> tuple[Ints, tuple[int, list[int]] | None]:
    """Parents of the nodes of a level table whose node numbers grow with the level.

    The second result names the first level that does not nest and the nodes there with two parents.
    """
    parent = np.full(nodes, -1, np.int32)
    for level in range(len(codes) - 1):
        below, above = codes[level], codes[level + 1]
        parent[below] = above
        wrong = parent[below] != above
        if wrong.any():
            return parent, (level, [int(x) for x in np.unique(below[wrong])])
    return parent, None


def _heights(above: Mapping[str, str | None], leaves: Sequence[str]) -> dict[str, int]:
    """Longest distance from a leaf up to each node; raises on cycles."""
    level: dict[str, int] = {}
    for leaf in leaves:
        path, node, step = {leaf}, leaf, 0
        level.setdefault(leaf, 0)
        while (up := above[node]) is not None:
            step += 1
            if up in path:
                raise HierarchyError(
                    f"The hierarchy has a cycle through {some(sorted(path))}. Remove one of these links."
                )
            path.add(up)
            if level.get(up, -1) >= step:
                break
            level[up] = step
            node = up
    unreached = [label for label in above if label not in level]
    if unreached:
        raise HierarchyError(f"The hierarchy has a cycle through {some(unreached)}. Remove one of these links.")
    return level
