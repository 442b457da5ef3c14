"""Judge every candidate of the lattice: for losses of class sizes, for comparing searches, and for exploring."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial

import numpy as np

from kanopy._arrays import Floats, Longs, Mask
from kanopy._errors import JobError
from kanopy._progress import Progress
from kanopy.metrics.full_domain import ClassMetric
from kanopy.search.budget import Budget, so_far
from kanopy.search.full_domain.sweep_kernel import sweep
from kanopy.search.judge import LevelJudgement, best_of
from kanopy.search.lattice import Levels
from kanopy.search.problem import Problem

MOST_AT_ONCE = 20_000_000
"""Candidates times distinct tuples between two looks at the work that is left."""
SECONDS_EACH, SECONDS_PER_CLASS = 5e-6, 1e-8
"""Seconds of an ordinary machine for a candidate, and for a class of one."""
ALL_CLASSES = 3
"""Where the counts of a candidate have its classes, kept or not."""


def only_counts_rows(problem: Problem) -> bool:
    """Whether class sizes alone decide (k-anonymity) and keys fit one word, which is what the compiled walk knows."""
    return problem.of_sizes and problem.tables.packing.words == 1


@dataclass(frozen=True, eq=False)
class AllJudged:
    """Counts of every candidate, by flat number, as `kernels.counting.count_rows` gives them."""

    problem: Problem
    counts: Longs
    sums: Floats
    judged: Mask
    """Which were judged: all, unless the work was over before."""

    def scores(self) -> Floats:
        """The metric of every candidate; infinity where too many rows are suppressed, or nobody looked."""
        problem = self.problem
        suppressed = self.counts[:, 1]
        metric = problem.metric
        if isinstance(metric, ClassMetric):
            everywhere = suppressed + problem.domain.excluded_rows
            rows = zip(self.counts[:, 0].tolist(), everywhere.tolist(), self.counts[:, 2].tolist(), strict=True)
            scores = np.array(
                [metric.score(problem.domain.rows, classes, out, squares) for classes, out, squares in rows]
            )
        else:
            totals = problem.lattice.spread([cost.totals for cost in problem.costs])
            losses = []
            for j, (cost, total) in enumerate(zip(problem.costs, totals, strict=True)):
                whole = np.broadcast_to(total, problem.lattice.shape).reshape(-1) + self.sums[:, j]
                losses.append(cost.loss(whole))
            scores = metric.combine(losses, problem.weights)
        return np.where(self.judged & (suppressed <= problem.max_suppressed_rows), scores, np.inf)

    def best(self) -> LevelJudgement | None:
        """The feasible candidate of least loss, ties decided as everywhere."""
        scores = self.scores()

        def judgement(number: int) -> LevelJudgement:
            published, suppressed, _, classes, squares = self.counts[number].tolist()
            return LevelJudgement(
                feasible=True, score=float(scores[number]), suppressed_rows=suppressed,
                levels=self.problem.lattice.levels(number), classes=published, all_classes=classes, all_squares=squares,
            )  # fmt: skip

        return best_of(scores, judgement)


def judge_all(problem: Problem, progress: Progress, work: Budget | None = None, floor: float = 0.0) -> AllJudged:
    """Judge every candidate under k-anonymity in a compiled walk over the lattice.

    With work that ends it goes in smaller parts, from the most general candidates down, which the models accept first.
    `floor` is what is known of all scores, for who listens.
    """
    problem.require_nesting()
    if not only_counts_rows(problem):
        raise JobError("Judging everything at once is for k-anonymity alone. Ask for candidates one by one.")
    lattice, tables = problem.lattice, problem.tables
    packing, width = tables.packing, len(lattice.shape)
    strides = np.ones(width, np.int64)
    for j in range(width - 2, -1, -1):
        strides[j] = strides[j + 1] * lattice.shape[j + 1]
    steps = np.zeros((width, max(lattice.highest) + 1), np.int64)
    for (j, a, b), begin in packing.starts.items():
        if b == a + 1:
            steps[j, a] = begin
    extra, extra_starts = problem._extra
    counts = np.zeros((lattice.size, 5), np.int64)
    sums = np.zeros((lattice.size, width))
    split, limited = min(2, width), work is not None and work.seconds < math.inf
    while limited and math.prod(lattice.shape[j] for j in tables.order[split:]) * tables.base.count > MOST_AT_ONCE:
        split += 1
    outer, moving = tables.order[:split], np.array(tables.order[split:], np.int64)
    lengths = np.array([lattice.shape[j] for j in moving], np.int64)
    places = list(np.ndindex(*(lattice.shape[j] for j in outer)))
    if limited:
        places.reverse()
    all_judged = AllJudged(problem, counts, sums, np.zeros(lattice.size, np.bool_))
    grid = all_judged.judged.reshape(lattice.shape)
    limit = -1 if isinstance(problem.metric, ClassMetric) else problem.max_suppressed_rows
    for done, corner in enumerate(places):
        progress("searching", done / len(places), partial(_best_yet, all_judged, floor))
        if work is not None and work.over:
            break
        levels = list(lattice.lowest)
        for j, x in zip(outer, corner, strict=True):
            levels[j] += x
        fixed: Levels = tuple(levels)
        table = tables.table(fixed)
        origin = int(sum(strides[j] * x for j, x in zip(outer, corner, strict=True)))
        sweep(
            table.keys[0], table.sizes, packing.shift, packing.mask, packing.deltas, steps, moving, lengths,
            strides[moving], origin, np.array(fixed, np.int64), problem.k, limit,
            extra, extra_starts, counts, sums,
        )  # fmt: skip
        block = [slice(None)] * width
        for j, x in zip(outer, corner, strict=True):
            block[j] = slice(x, x + 1)
        grid[tuple(block)] = True
        if work is not None and limited:
            looked_at = counts.reshape(*lattice.shape, -1)[tuple(block)][..., ALL_CLASSES]
            work.spend(SECONDS_EACH * looked_at.size + SECONDS_PER_CLASS * int(looked_at.sum()))
    problem.judged += int(all_judged.judged.sum())
    return all_judged


def _best_yet(all_judged: AllJudged, floor: float) -> str:
    """How many were judged, and the best of them."""
    note, best = f"{int(all_judged.judged.sum()):,} judged", float(all_judged.scores().min(initial=math.inf))
    return note if math.isinf(best) else f"{note}, {so_far(all_judged.problem.metric.name, best, floor)}"
