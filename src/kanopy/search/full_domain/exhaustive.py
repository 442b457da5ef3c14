"""Judge every candidate of the lattice: for losses of class sizes, for comparing searches, and for exploring."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kanopy._arrays import Floats, Longs
from kanopy._errors import JobError
from kanopy._progress import Progress
from kanopy.metrics.full_domain import ClassMetric
from kanopy.search.full_domain.sweep_kernel import sweep
from kanopy.search.judge import LevelJudgement, best_of
from kanopy.search.lattice import Levels
from kanopy.search.problem import Problem


def only_counts_rows(problem: Problem) -> bool:
    """Whether class sizes alone decide (k-anonymity) and keys fit one word, which is what the compiled walk knows."""
    return problem.of_sizes and problem.tables.packing.words == 1


@dataclass(frozen=True, eq=False)
class AllJudged:
    """Counts of every candidate, by flat number, as `kernels.counting.count_rows` gives them."""

    problem: Problem
    counts: Longs
    sums: Floats

    def scores(self) -> Floats:
        """The metric of every candidate; infinity where too many rows are suppressed."""
        problem = self.problem
        suppressed = self.counts[:, 1]
        metric = problem.metric
        if isinstance(metric, ClassMetric):
            everywhere = suppressed + problem.domain.excluded_rows
            rows = zip(self.counts[:, 0].tolist(), everywhere.tolist(), self.counts[:, 2].tolist(), strict=True)
            scores = np.array([metric.score(problem.domain.rows, kept, out, squares) for kept, out, squares in rows])
        else:
            totals = problem.lattice.spread([cost.totals for cost in problem.costs])
            losses = []
            for j, (cost, total) in enumerate(zip(problem.costs, totals, strict=True)):
                whole = np.broadcast_to(total, problem.lattice.shape).reshape(-1) + self.sums[:, j]
                losses.append(cost.loss(whole))
            scores = metric.combine(losses, problem.weights)
        return np.where(suppressed <= problem.max_suppressed_rows, scores, np.inf)

    def best(self) -> LevelJudgement | None:
        """The feasible candidate of least loss, ties decided as everywhere."""
        scores = self.scores()

        def judgement(number: int) -> LevelJudgement:
            kept, suppressed, _, classes, squares = self.counts[number].tolist()
            return LevelJudgement(
                feasible=True, score=float(scores[number]), suppressed_rows=suppressed,
                levels=self.problem.lattice.levels(number), classes=kept, all_classes=classes, all_squares=squares,
            )  # fmt: skip

        return best_of(scores, judgement)


def judge_all(problem: Problem, progress: Progress) -> AllJudged:
    """Judge every candidate under k-anonymity in a compiled walk over the lattice."""
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
    outer, moving = tables.order[:2], np.array(tables.order[2:], np.int64)
    lengths = np.array([lattice.shape[j] for j in moving], np.int64)
    places = list(np.ndindex(*(lattice.shape[j] for j in outer)))
    limit = -1 if isinstance(problem.metric, ClassMetric) else problem.max_suppressed_rows
    for done, place in enumerate(places):
        progress("searching", done / len(places))
        levels = list(lattice.lowest)
        for j, x in zip(outer, place, strict=True):
            levels[j] += x
        fixed: Levels = tuple(levels)
        table = tables.table(fixed)
        origin = int(sum(strides[j] * x for j, x in zip(outer, place, strict=True)))
        sweep(
            table.keys[0], table.sizes, packing.shift, packing.mask, packing.deltas, steps, moving, lengths,
            strides[moving], origin, np.array(fixed, np.int64), problem.k, limit,
            extra, extra_starts, counts, sums,
        )  # fmt: skip
    problem.judged += lattice.size
    return AllJudged(problem, counts, sums)
