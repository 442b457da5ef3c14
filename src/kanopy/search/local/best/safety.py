"""What a finished partition may still need: suppression where it pays, and classes united for other models."""

from __future__ import annotations

import numpy as np

from kanopy._arrays import Floats, Ints, Longs
from kanopy._core.numbering import number_rows
from kanopy.search.judge import ClassJudge
from kanopy.search.local.best.improvement import partition_of
from kanopy.search.local.best.partition_kernel import Partition, learn_all
from kanopy.search.local.best.unions_kernel import cheapest_unions, rows_for
from kanopy.search.local.boxes import FORBIDDEN, Layout, class_runs
from kanopy.search.merging import PARTNERS
from kanopy.search.problem import Problem

ROUNDS = 8
"""Rounds of suppression, each at most one row per class: what a second row saves depends on the first."""
PAIRS = 100_000_000
"""Pairs of classes looked at in one round; beyond it only classes that are near in sorted order are compared."""


def suppress_where_it_pays(layout: Layout, class_of: Ints, k: int, allowed: int) -> Ints:
    """Take single rows out of classes with more than `k` where that saves the others more than the row loses.

    At most `allowed` rows, the most rewarding first; the loss never grows.
    """
    class_of = class_of.copy()
    for _ in range(ROUNDS):
        if allowed <= 0:
            break
        partition = partition_of(layout, class_of, k)
        learn_all(layout.joins, partition)
        items = np.flatnonzero(partition.class_of >= 0)
        c = partition.class_of[items]
        saved = (partition.size[c] - 1) * (partition.weight[c] - partition.lean_weight[items])
        gain = np.where(partition.size[c] > k, saved - (layout.suppressed_weight - partition.weight[c]), 0.0)
        pays = np.flatnonzero(gain > 1e-12)
        order = pays[np.lexsort((items[pays], -gain[pays]))]
        _, first = np.unique(c[order], return_index=True)
        chosen = order[np.sort(first)][:allowed]
        if not len(chosen):
            break
        class_of[items[chosen]] = -1
        allowed -= len(chosen)
    return class_of


class BoxSpace:
    """Classes in the boxes of a layout. Boxes above the highest allowed levels are no option."""

    def __init__(self, layout: Layout) -> None:
        self.layout, self.rows = layout, layout.rows

    def settle(self, class_of: Ints) -> Ints:
        """One number, in lexicographic order of their boxes, for all classes with the same box."""
        self.part, unit = _same_labels(self.layout, class_of)
        self.count = int(unit.max(initial=-1)) + 1
        return unit

    def partners(self, asking: Longs) -> tuple[Ints, Floats]:
        """The cheapest partners of the classes that ask; all classes are compared while they are not too many."""
        joins, count = self.layout.joins, self.count
        box, size, weight = self.part.box[:count], self.part.size[:count], self.part.weight[:count]
        nearest_partners, growth = rows_for(len(asking), PARTNERS)
        reach = max(1000, PAIRS // (2 * len(asking)))
        cheapest_unions(joins, box, size, weight, asking, min(reach, count), FORBIDDEN, nearest_partners, growth)
        alone = np.flatnonzero(nearest_partners[:, 0] < 0)
        if len(alone) and reach < count:
            far, more = rows_for(len(alone), PARTNERS)
            cheapest_unions(joins, box, size, weight, asking[alone], count, FORBIDDEN, far, more)
            nearest_partners[alone], growth[alone] = far, more
        return nearest_partners, growth


def unsafe_share(layout: Layout, class_of: Ints, problem: Problem) -> float:
    """The share of rows whose class a model finds unsafe."""
    partition, unit = _same_labels(layout, class_of)
    count = int(unit.max(initial=-1)) + 1
    judge, sizes = ClassJudge(problem), partition.size[:count]
    unsafe = judge.unsafe_classes(sizes, judge.histograms(unit, count, layout.rows))
    return float(sizes[unsafe].sum() / max(1, sizes.sum()))


def _same_labels(layout: Layout, class_of: Ints) -> tuple[Partition, Ints]:
    """One number, in lexicographic order of their boxes, for all classes with the same box; and their partition."""
    partition = partition_of(layout, class_of, 1)
    order, starts = class_runs(class_of)
    number = number_rows(partition.box[: len(starts)], ascending=True).number
    unit = np.full(len(class_of), -1, np.int32)
    unit[order] = np.repeat(number, np.diff(np.append(starts, len(order))))
    return partition_of(layout, unit, 1), unit
