"""What a finished partition may still need: suppression where it pays, and classes united for other models."""

from __future__ import annotations

import numpy as np

from kanopy._arrays import Floats, Ints, Longs
from kanopy._core.histograms import Histogram
from kanopy._core.numbering import number_rows
from kanopy._errors import NoSolution
from kanopy.search.judge import ClassJudge
from kanopy.search.local.best.improvement import partition_of
from kanopy.search.local.best.partition_kernel import Partition, learn_all
from kanopy.search.local.best.unions_kernel import cheapest_unions, rows_for
from kanopy.search.local.boxes import FORBIDDEN, Layout, class_runs
from kanopy.search.problem import Problem

ROUNDS = 8
"""Rounds of suppression, each at most one row per class: what a second row saves depends on the first."""
PARTNERS = 16
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
        part = partition_of(layout, class_of, k)
        learn_all(layout.joins, part)
        items = np.flatnonzero(part.class_of >= 0)
        c = part.class_of[items]
        saved = (part.size[c] - 1) * (part.weight[c] - part.lean_weight[items])
        gain = np.where(part.size[c] > k, saved - (layout.suppressed_weight - part.weight[c]), 0.0)
        pays = np.flatnonzero(gain > 1e-12)
        order = pays[np.lexsort((items[pays], -gain[pays]))]
        _, first = np.unique(c[order], return_index=True)
        chosen = order[np.sort(first)][:allowed]
        if not len(chosen):
            break
        class_of[items[chosen]] = -1
        allowed -= len(chosen)
    return class_of


def unite_unsafe(layout: Layout, class_of: Ints, problem: Problem) -> tuple[Ints, int]:
    """Unite classes that a model finds unsafe until none is; also how many were united.

    Every unsafe class joins, of the classes where the loss grows least, the first that makes both safe, or simply the
    first where none does. Classes that publish the same labels are judged as one. Boxes above the highest allowed
    levels are no option: rows of a class that can only go there are suppressed while the problem allows it.
    """
    judge = ClassJudge(problem)
    united = 0
    unit = class_of
    while True:
        # The boxes of the partition, not its sizes, matter here: k was the business of the search.
        part, unit = _same_labels(layout, unit)
        count = int(unit.max(initial=-1)) + 1
        sizes = part.size[:count]
        tables = judge.histograms(unit, count, layout.rows)
        asking = np.flatnonzero(judge.unsafe_classes(sizes, tables))
        if not len(asking):
            return unit, united
        found, growth = _partners(layout, part, count, asking)
        choice, rise = _choose(judge, sizes, tables, asking, found, growth)
        gone = np.zeros(count, np.bool_)
        into = np.arange(count)
        merged = 0
        for i in np.argsort(rise, kind="stable"):
            c, other = int(asking[i]), int(choice[i])
            if gone[c]:
                continue
            if other < 0:
                rows = int((unit < 0).sum()) + int(sizes[c])
                if rows > problem.max_suppressed_rows:
                    wanted = " ".join(model.explain() for model in problem.models)
                    raise NoSolution(
                        f"No allowed generalization is safe for {int(sizes[c]):,} rows: {wanted}",
                        advice=["loosen the privacy models", "allow rows to be suppressed", "allow higher levels"],
                    )
                unit[unit == c] = -1
                gone[c] = True
                continue
            if gone[other]:
                # Its partner has joined another class in this round: it asks again in the next.
                continue
            into[c] = other
            gone[[c, other]] = True
            merged += 1
        united += merged
        unit = np.where(unit >= 0, into[np.maximum(unit, 0)], -1).astype(np.int32)


def unsafe_share(layout: Layout, class_of: Ints, problem: Problem) -> float:
    """The share of rows whose class a model finds unsafe."""
    part, unit = _same_labels(layout, class_of)
    count = int(unit.max(initial=-1)) + 1
    judge, sizes = ClassJudge(problem), part.size[:count]
    unsafe = judge.unsafe_classes(sizes, judge.histograms(unit, count, layout.rows))
    return float(sizes[unsafe].sum() / max(1, sizes.sum()))


def _partners(layout: Layout, part: Partition, count: int, asking: Longs) -> tuple[Ints, Floats]:
    """The cheapest partners of the classes that ask; all classes are compared while they are not too many."""
    box, size, weight = part.box[:count], part.size[:count], part.weight[:count]
    found, growth = rows_for(len(asking), PARTNERS)
    reach = max(1000, PAIRS // (2 * len(asking)))
    cheapest_unions(layout.joins, box, size, weight, asking, min(reach, count), FORBIDDEN, found, growth)
    alone = np.flatnonzero(found[:, 0] < 0)
    if len(alone) and reach < count:
        far, more = rows_for(len(alone), PARTNERS)
        cheapest_unions(layout.joins, box, size, weight, asking[alone], count, FORBIDDEN, far, more)
        found[alone], growth[alone] = far, more
    return found, growth


def _choose(
    judge: ClassJudge, sizes: Longs, tables: dict[str, Histogram], asking: Longs, found: Ints, growth: Floats
) -> tuple[Longs, Floats]:
    """Per class that asks its partner: the cheapest that makes both safe, else the cheapest; -1 where there is none."""
    choice, rise = found[:, 0].astype(np.int64), growth[:, 0].copy()
    open_ = np.ones(len(asking), np.bool_)
    for rank in range(found.shape[1]):
        rows = np.flatnonzero(open_ & (found[:, rank] >= 0))
        if not len(rows):
            break
        one, other = asking[rows], found[rows, rank]
        both = {name: table[one] + table[other] for name, table in tables.items()}
        safe = rows[~judge.unsafe_classes(sizes[one] + sizes[other], both)]
        choice[safe], rise[safe] = found[safe, rank], growth[safe, rank]
        open_[safe] = False
    return choice, rise


def _same_labels(layout: Layout, class_of: Ints) -> tuple[Partition, Ints]:
    """One number, in lexicographic order of their boxes, for all classes with the same box; and their partition."""
    part = partition_of(layout, class_of, 1)
    order, starts = class_runs(class_of)
    number = number_rows(part.box[: len(starts)], ascending=True).number
    unit = np.full(len(class_of), -1, np.int32)
    unit[order] = np.repeat(number, np.diff(np.append(starts, len(order))))
    return partition_of(layout, unit, 1), unit
