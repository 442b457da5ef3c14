"""A problem laid out for local recoding: records by their lowest allowed values, levels that make a difference."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from kanopy._arrays import Floats, Ints, Longs
from kanopy._core.classes import Domain, Recoding, Records, recoding_from_nodes
from kanopy._core.numbering import number_rows
from kanopy.search.local.boxes_kernel import AGREE, AT, LEVELS, VALUES, Boxes, agreements, level_tables
from kanopy.search.local.joins_kernel import TABLE, Joins, make_joins
from kanopy.search.problem import Problem

FORBIDDEN = 1000.0
"""The weight of a box above the highest allowed level: no gain elsewhere makes up for it."""
CLIMB_LOOKUPS = 2.2
"""How many lookups a level takes where parents are climbed."""
LARGEST_AGREEMENT = 4_000_000
"""Attributes with more than the square root of this many values look agreement up level by level."""


@dataclass(frozen=True, eq=False)
class Layout(Records):
    """Distinct records with counts, their boxes, and the way back to rows and nodes.

    Rows are sorted by record: the rows of record `t` are `rows[first[t]:first[t + 1]]`. `stratum[t]` numbers the
    parts of the table that level limits keep apart. A row loses `weight` of its box; a suppressed row loses
    `suppressed_weight`. `nodes[j][level, value]` is the hierarchy node behind a level and value.
    """

    boxes: Boxes
    counts: Longs
    rows: Longs
    first: Longs
    stratum: Longs
    suppressed_weight: float
    nodes: tuple[Ints, ...]
    domain: Domain

    @cached_property
    def joins(self) -> Joins:
        """The boxes as nodes."""
        return make_joins(self.boxes)

    @cached_property
    def lookups(self) -> float:
        """How many lookups it takes to join two boxes: one per attribute, more where parents are climbed instead."""
        climbing = self.joins.head[:, TABLE] < 0
        return len(climbing) + CLIMB_LOOKUPS * float(self.boxes.head[climbing, LEVELS].sum())

    @cached_property
    def record_of_item(self) -> Ints:
        """The record of each usable row, in the order of `rows`."""
        return np.repeat(np.arange(self.records, dtype=np.int32), self.counts)

    def loss(self, total_weight: float, suppressed_items: int) -> float:
        """The loss of the release: mean weight over all rows of the table, excluded rows counted as suppressed."""
        all_suppressed = suppressed_items + self.domain.excluded_rows
        return (total_weight + all_suppressed * self.suppressed_weight) / max(1, self.domain.rows)

    def recoding(self, class_of_item: Ints, representative: Ints, levels: Ints) -> Recoding:
        """The release of a partition of the items (-1: suppressed) into boxes."""
        group_of_row = np.full(self.domain.rows, -1, np.int32)
        group_of_row[self.rows] = class_of_item
        tuples = self.boxes.tuples
        nodes = np.empty((len(representative), tuples.shape[1]), np.int32)
        for j, table in enumerate(self.nodes):
            nodes[:, j] = table[levels[:, j], tuples[representative, j]]
        return recoding_from_nodes(self.domain, group_of_row, nodes)


def lay_out(problem: Problem) -> Layout:
    """Lay out a problem. Levels at which no two values of the table newly agree are left out: they only cost."""
    problem.require_nesting()
    domain = problem.domain
    whole = sum(problem.weights)
    head = np.zeros((domain.width, 4), np.int64)
    codes, weights, agrees, nodes, columns, apart = [], [], [], [], [], []
    at = agree_at = 0
    suppressed_weight = 0.0
    for j, hierarchy in enumerate(domain.hierarchies):
        low, high = problem.lattice.lowest[j], problem.lattice.highest[j]
        present = np.unique(domain.tuples[:, j])
        table = hierarchy.table[low : high + 1][:, present]
        # Values that the lowest allowed level makes equal are one; sorted so that every node is a stretch.
        _, keep, inverse = np.unique(table[0], return_index=True, return_inverse=True)
        order = np.lexsort(table[:, keep])
        rank = np.empty(len(order), np.int64)
        rank[order] = np.arange(len(order))
        table = table[:, keep[order]]
        sizes = np.array([len(np.unique(row)) for row in table])
        useful = np.concatenate([[True], sizes[1:] < sizes[:-1]])
        table = np.ascontiguousarray(table[useful])
        dense = np.stack([np.unique(row, return_inverse=True)[1].reshape(-1) for row in table]).astype(np.int32)
        share = problem.weights[j] / whole if hierarchy.size > 1 else 0.0
        suppressed_weight += share
        covered = (hierarchy.leaf_counts[table] - 1) / max(1, hierarchy.size - 1) * share
        apart.append(dense[-1] if dense[-1].any() else None)
        if dense[-1].any():
            dense = np.vstack([dense, np.zeros_like(dense[:1])])
            covered = np.vstack([covered, np.full_like(covered[:1], FORBIDDEN)])
            table = np.vstack([table, table[-1:]])
        size = dense.shape[1]
        column = np.zeros(hierarchy.size, np.int32)
        column[present] = rank[inverse.reshape(-1)]
        columns.append(column[domain.tuples[:, j]])
        head[j, VALUES], head[j, LEVELS], head[j, AT], head[j, AGREE] = size, len(dense), at, -1
        if size * size <= LARGEST_AGREEMENT:
            values = np.arange(size, dtype=np.int32)
            head[j, AGREE] = agree_at
            agree_at += size * size
            agrees.append(agreements(dense, values[:, None], values).reshape(-1).astype(np.int16))
        codes.append(dense.reshape(-1))
        weights.append(covered.reshape(-1))
        nodes.append(table.astype(np.int32))
        at += dense.size
    record_of_tuple, firsts, _ = number_rows(columns, head[:, VALUES].tolist(), ascending=True)
    tuples = np.column_stack(columns)[firsts]
    usable = np.flatnonzero(domain.tuple_of_row >= 0)
    record_of_row = record_of_tuple[domain.tuple_of_row[usable]]
    counts = np.bincount(record_of_row, minlength=len(tuples)).astype(np.int64)
    rows = usable[np.argsort(record_of_row, kind="stable")]
    first = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    keys = [top[tuples[:, j]] for j, top in enumerate(apart) if top is not None]
    stratum = np.zeros(len(tuples), np.int64)
    if keys:
        stratum = number_rows(keys, ascending=True).number.astype(np.int64)
    boxes = Boxes(
        np.ascontiguousarray(tuples, np.int32),
        head,
        np.concatenate(codes),
        np.concatenate(weights).astype(np.float64),
        np.concatenate(agrees) if agrees else np.zeros(1, np.int16),
    )
    return Layout(boxes, counts, rows, first, stratum, suppressed_weight, tuple(nodes), domain)


def box_levels(boxes: Boxes, records: Ints, starts: Longs) -> tuple[Ints, Floats]:
    """Levels and weights of the boxes around consecutive runs of records (each run: `records[starts[c]:…]`)."""
    width = boxes.tuples.shape[1]
    levels = np.zeros((len(starts), width), np.int32)
    weights = np.zeros(len(starts))
    lengths = np.diff(np.append(starts, len(records)))
    reference = np.repeat(records[starts], lengths)
    for j in range(width):
        codes, cost = level_tables(boxes, j)
        agreed = agreements(codes, boxes.tuples[reference, j], boxes.tuples[records, j])
        levels[:, j] = np.maximum.reduceat(agreed, starts) if len(starts) else 0
        weights += cost[levels[:, j], boxes.tuples[records[starts], j]]
    return levels, weights


def run_starts(numbers: npt.NDArray[np.integer]) -> Longs:
    """Where runs of equal numbers begin.

    >>> run_starts(np.array([4, 4, 7])).tolist()
    [0, 2]
    """
    first = np.ones(len(numbers), np.bool_)
    first[1:] = numbers[1:] != numbers[:-1]
    return np.flatnonzero(first).astype(np.int64)


def class_runs(class_of: Ints) -> tuple[Longs, Longs]:
    """The items class by class, and where each class begins; items of no class (-1) are left out.

    >>> order, starts = class_runs(np.array([7, -1, 2, 7], np.int32))
    >>> order.tolist(), starts.tolist()
    ([2, 0, 3], [0, 1])
    """
    order = np.argsort(class_of, kind="stable")
    order = order[np.searchsorted(class_of[order], 0) :]
    return order, run_starts(class_of[order])


def partition_cost(layout: Layout, class_of: Ints) -> float:
    """What a partition of the items loses in all, the suppressed ones included."""
    order, starts = class_runs(class_of)
    _, weights = box_levels(layout.boxes, layout.record_of_item[order], starts)
    sizes = np.diff(np.append(starts, len(order)))
    return float((weights * sizes).sum()) + (len(class_of) - len(order)) * layout.suppressed_weight
