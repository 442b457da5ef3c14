"""Trees that grow from the values themselves by merging neighbours: IOTF, OTF and the k-aware tree.

Campan, Cooper, Truta: On-the-Fly Generalization Hierarchies for Numerical Attributes Revisited. SDM 2011.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

import numpy as np

from kanopy._arrays import Ints, Longs
from kanopy._errors import HierarchyError
from kanopy._parameter_types import Integer, OneOf
from kanopy.hierarchy.builders.base import NumericBuilder, span_tree
from kanopy.hierarchy.column import Column
from kanopy.hierarchy.derive import from_table_of
from kanopy.hierarchy.hierarchy import LARGEST_LEVEL_TABLE, Hierarchy

LINKAGES = ("weighted", "centroid", "midpoint", "single")
MOST_ROWS = 2**31
ROOM = 2**62


@dataclass(frozen=True)
class Iotf(NumericBuilder):
    """Improved on-the-fly: merge the neighbours whose union is smallest, again and again (Campan et al. 2011).

    Start with one node per distinct value. Row counts play no part; ties go to the leftmost pair. The same tree as
    the paper's quadratic algorithm (complete linkage on a line), in time linear in the number of values after sorting.

    >>> h = Iotf().build([0, 2, 4, 7])
    >>> [h.label(node) for node in range(h.size, h.node_count)]
    ['[0, 2]', '[4, 7]', '[0, 7]']
    """

    method: ClassVar[str] = "iotf"
    summary: ClassVar[str] = "merge the neighbours whose union is smallest (Campan 2011)"

    def build_numbers(self, column: Column) -> Hierarchy:
        positions = _positions(column)
        return span_tree(column, *_merged("union", 0, positions, positions, column.counts), self.label)


@dataclass(frozen=True)
class Otf(NumericBuilder):
    """On-the-fly: merge the neighbours whose centres are closest (Campan and Cooper 2010).

    `linkage` says what a centre is: `weighted` the mean of the rows, `centroid` the mean of the distinct
    values, `midpoint` the middle of the interval; `single` looks at the gap between neighbours instead. Whether OTF
    loses against IOTF depends on it: the weighted one does, the unweighted one ties.

    >>> h = Otf().build([0, 2, 4, 7])
    >>> [h.label(node) for node in range(h.size, h.node_count)]
    ['[0, 2]', '[0, 4]', '[0, 7]']
    """

    method: ClassVar[str] = "otf"
    summary: ClassVar[str] = "merge the neighbours whose centres are closest (Campan 2010)"
    linkage: Annotated[
        Literal["weighted", "centroid", "midpoint", "single"], OneOf(*LINKAGES), "the measure of distance"
    ] = "weighted"

    def build_numbers(self, column: Column) -> Hierarchy:
        rule = {"midpoint": "midpoint", "single": "gap"}.get(self.linkage, "mean")
        weight = column.counts if self.linkage == "weighted" else np.ones(column.size, np.int64)
        positions = _positions(column)
        if rule == "mean":
            weight, positions = _with_room(weight, positions)
        return span_tree(column, *_merged(rule, 0, positions, positions, column.counts, weight), self.label)


@dataclass(frozen=True)
class KAware(NumericBuilder):
    """First groups of at least `k` rows, then IOTF on the groups.

    Level 1 is made by merging neighbours with the smallest union as long as one of the two has fewer than `k` rows, so
    each of its nodes alone is k-anonymous; the levels above merge these nodes like IOTF. Our own tree: it stands in
    for the k-aware hierarchies of the literature (DCHT), whose definition is not public.

    >>> h = KAware(k=3).build([1, 2, 3, 4, 5, 6, 7])
    >>> h.labels_at(1)
    ('[1, 4]', '[5, 7]')
    """

    method: ClassVar[str] = "k_aware"
    summary: ClassVar[str] = "groups of at least k rows, then as iotf"
    k: Annotated[int, Integer(1), "the least rows of a group"] = 5

    def build_numbers(self, column: Column) -> Hierarchy:
        if self.k > column.rows:
            raise HierarchyError(
                f"{column.where} has {column.rows:,} rows, fewer than k={self.k:,}: no group can be large enough."
            )
        positions = _positions(column)
        parent, first, last = _merged("union", self.k, positions, positions, column.counts)
        roots = np.flatnonzero(parent < 0)
        roots = roots[np.argsort(first[roots])]
        starts, stops = first[roots], last[roots]
        group = np.repeat(np.arange(len(roots)), stops - starts + 1)
        rows = np.add.reduceat(column.counts, starts)
        up, first_group, last_group = _merged("union", 0, positions[starts], positions[stops], rows)
        # A group of one value is that value's node: it needs no second one.
        size, single = column.size, starts == stops
        number = np.cumsum(np.append(~single, np.ones(len(up) - len(single), bool))).astype(np.int64) + size - 1
        number[: len(single)] = np.where(single, starts, number[: len(single)])
        used_nodes = np.unique(number[number >= size])
        parents = np.full(int(used_nodes[-1]) + 1 if len(used_nodes) else size, -1, np.int32)
        inside = ~single[group]
        parents[:size][inside] = number[group[inside]]
        above = up >= 0
        parents[number[: len(up)][above]] = number[up[above]]
        spans_first = np.concatenate([np.arange(size), starts[first_group]])
        spans_last = np.concatenate([np.arange(size), stops[last_group]])
        pick = np.concatenate([np.arange(size), size + np.flatnonzero(number >= size)])
        tree = span_tree(
            column, parents, spans_first[pick].astype(np.int32), spans_last[pick].astype(np.int32), self.label
        )
        groups = Hierarchy(len(roots), lambda: [""] * len(up), up)
        if (groups.height + 2) * size > LARGEST_LEVEL_TABLE:
            return tree
        levels = number[groups.table][:, group].astype(np.int32)
        return from_table_of(tree, np.vstack([np.arange(size, dtype=np.int32), levels]), column.name)


def _merged(
    rule: str, k: int, first: Longs, last: Longs, rows: Longs, weight: Longs | None = None
) -> tuple[Ints, Ints, Ints]:
    """Neighbours merged by a rule: parents, and the first and last value of every node."""
    from kanopy._compiler import for_size
    from kanopy.hierarchy.builders import merging_kernel as kernel

    number = {"union": kernel.UNION, "mean": kernel.MEAN, "midpoint": kernel.MIDPOINT, "gap": kernel.GAP}[rule]
    merge = for_size(kernel.merge_neighbours, len(first))
    merged: tuple[Ints, Ints, Ints] = merge(number, k, first, last, rows, rows if weight is None else weight)
    return merged


def _positions(column: Column) -> Longs:
    assert column.positions is not None
    return np.ascontiguousarray(column.positions - column.positions[0])


def _with_room(weight: Longs, positions: Longs) -> tuple[Longs, Longs]:
    """Weights and positions small enough for exact means in 64 bits.

    Only beyond 2³¹ rows, or where range times rows exceeds 2⁶², is something rounded: the last binary digits of the
    weights or of the positions.
    """
    total = int(weight.sum())
    while total >= MOST_ROWS:
        weight = np.maximum(weight >> 1, 1)
        total = int(weight.sum())
    spare = (int(positions[-1]) * total).bit_length() - ROOM.bit_length() + 1
    return weight, positions >> spare if spare > 0 else positions
