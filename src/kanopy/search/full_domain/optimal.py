"""The best full-domain release, proved.

Candidates are ruled out only by bounds that cannot err: one-attribute counts bound the loss before any grouping;
three-attribute tables bound the suppressed rows; and a candidate of which so many rows must go, however it is
refined, that the limit is broken rules out everything finer. What remains is judged in an order that lets each
answer, good or bad, rule out as much as possible.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Protocol

import numpy as np

from kanopy._arrays import Longs
from kanopy._errors import NoSolution
from kanopy._parameter_types import Integer, Optional, Seconds
from kanopy._progress import SILENT, Progress
from kanopy.metrics.full_domain import ClassMetric
from kanopy.search.budget import Budget, BudgetExhausted, none_below, so_far, usable_threads, used_up
from kanopy.search.class_tables import Memory
from kanopy.search.full_domain.attribute_pairs import least_gone
from kanopy.search.full_domain.best_effort import best_effort
from kanopy.search.full_domain.exhaustive import judge_all, only_counts_rows
from kanopy.search.full_domain.lattice_walk import Walk
from kanopy.search.full_domain.level_judge import judge_of
from kanopy.search.full_domain.projections import least_suppressed_rows
from kanopy.search.judge import LevelJudgement, ceiling_of
from kanopy.search.lattice import Levels
from kanopy.search.no_solution import no_solution
from kanopy.search.partition_solution import release_levels
from kanopy.search.problem import Problem
from kanopy.search.solution import About, Algorithm, Solution, Threads

PART_NOT_MONOTONIC = 0.25
CANDIDATES_PER_ROW = 8
"""Up to so many candidates for each row, choosing the next one well costs less than judging one by people."""
BEST_EFFORT_SECONDS = 30.0
"""For a search without a proof, where no budget is given."""


@dataclass(frozen=True)
class Optimal(Algorithm):
    """Full-domain optimum: the feasible candidate of least loss, ties by smaller sum of levels, then lexicographic.

    Up to `most_candidates` the answer is proved optimal, unless a budget is given that does not suffice. Beyond that it
    becomes a best-effort search that stops after `budget_seconds` (30, if none are given) and says so; a callback that
    says stop, or Ctrl-C, ends it with the best so far. Where nothing is proved optimal, `Solution.floor` is what
    no release of this kind can go below.
    """

    name, recoding = "optimal", "full-domain"
    counts_whole_classes = True
    about = About(
        does="finds the level per column that loses least, and proves that no other choice of levels loses less",
        source="Kanopy; pruning in the spirit of Flash (Kohlmayer et al. 2012) and branch and bound",
        proves="least loss of all full-domain releases", models="any", units=True,
    )  # fmt: skip

    most_candidates: Annotated[int, Integer(0), "choices of levels up to which the answer is proved"] = 1_000_000
    budget_seconds: Annotated[
        float | None,
        Optional(Seconds()),
        "how much work the search may do, in seconds of an ordinary machine; none: a proof takes as long as it takes, "
        "a search without one 30 s",
    ] = None
    threads: Threads = None

    def search(self, problem: Problem, progress: Progress) -> Solution:
        """Search; raises `NoSolution` if no candidate is feasible."""
        if problem.lattice.size > self.most_candidates:
            seconds = BEST_EFFORT_SECONDS if self.budget_seconds is None else self.budget_seconds
            return best_effort(problem, progress, self.name, seconds, least_score, usable_threads(self.threads))
        search = search_for(problem, Budget(self.budget_seconds))
        best = search.run(progress, usable_threads(self.threads))
        notes = []
        if not search.proved:
            top = problem.evaluate(problem.lattice.highest)
            if best is None or (top.feasible and top.better_than(best)):
                best = top if top.feasible else None
            notes = [used_up("the proof was complete", problem.judged) + none_below(search.floor)]
        if best is None:
            raise no_solution(problem)
        floor = best.score if search.proved else min(search.floor, best.score)
        return release_levels(self.name, problem, best, optimal=search.proved, floor=floor, notes=notes)


class JudgeOfLevels(Protocol):
    """Judges candidates, wherever their rows are."""

    def evaluate(self, levels: Levels, /, ceiling: float = math.inf) -> LevelJudgement:
        """See `Problem.evaluate`."""
        ...


class _Search:
    """Shared bookkeeping: which candidates are still open, and the best one so far."""

    def __init__(
        self, problem: Problem, work: Budget, judge: JudgeOfLevels | None = None, memory: Memory | None = None
    ) -> None:
        self.problem, self.work, self.elsewhere = problem, work, judge is not None
        self.limited = work.seconds < math.inf
        self.begun = problem.work_seconds - work.spent
        self.lattice = problem.lattice
        self.best: LevelJudgement | None = None
        self.judge_one: JudgeOfLevels = judge or judge_of(problem, memory)
        self.proved = False
        self.floor = 0.0
        """What no candidate that is still open can go below."""

    def run(self, progress: Progress, threads: int) -> LevelJudgement | None:
        """Search; `proved` then says whether the best is the best of all."""
        raise NotImplementedError

    def report(self, progress: Progress, open_candidates: int, floor: Callable[[], float] | None = None) -> None:
        """Tell the caller how much of the lattice is settled; `floor` where that takes a look."""

        def note() -> str:
            judged = f"{self.problem.judged:,} judged"
            if self.best is None:
                return judged
            least = self.floor if floor is None else floor()
            return f"{judged}, {so_far(self.problem.metric.name, self.best.score, least)}"

        progress("searching", 1.0 - open_candidates / self.lattice.size, note)

    def least_suppressed(self, progress: Progress, threads: int) -> Longs:
        """For every candidate, rows that it must suppress at least, known without looking at it."""
        problem = self.problem
        if self.elsewhere:
            return np.zeros(self.lattice.shape, np.int64)
        least = least_suppressed_rows(problem, threads)
        # Models that fail for good once they fail prune as they go.
        if not problem.monotonic and problem.domain.units is None:
            np.maximum(least, least_gone(problem, progress), out=least)
        return least

    def judge(self, levels: Levels) -> LevelJudgement:
        """Evaluate one candidate and remember it if it is the best."""
        judgement = self.judge_one.evaluate(levels, ceiling_of(self.best))
        if self.limited:
            self.work.spend_up_to(self.problem.work_seconds - self.begun)
        if judgement.feasible and judgement.better_than(self.best):
            self.best = judgement
        return judgement


class _ByWalking(_Search):
    """Where failures rule out nothing because nearly everything may be suppressed: judge neighbour by neighbour."""

    def run(self, progress: Progress, threads: int) -> LevelJudgement | None:
        problem = self.problem
        bounded = not isinstance(problem.metric, ClassMetric)
        least = least_gone(problem, progress) if bounded else np.zeros(self.lattice.shape, np.int64)
        walk = Walk(problem, least)

        def visit() -> None:
            self.best = walk.best
            self.report(progress, self.lattice.size - problem.judged, walk.floor)
            self.work.spend_up_to(problem.work_seconds - self.begun)
            self.work.need()

        try:
            self.best = walk.run(visit)
            self.proved = True
        except BudgetExhausted:
            self.floor = walk.floor()
        return self.best


class _ByAttributes(_Search):
    """For losses bounded by one-attribute counts: pick from the middle of what is open, sorted by bound.

    A feasible pick closes everything with a higher bound than its score; an infeasible one closes everything finer.
    Where judging is dear, because people are looked at row by row, the pick is the one that closes most either way.
    """

    def most_telling(self, pending: Longs) -> int:
        """The open candidate that closes most in the worse case: all that cost more, or all that are finer."""
        finer = np.zeros(self.lattice.shape, np.int32)
        finer.reshape(-1)[pending] = 1
        for axis in range(finer.ndim):
            np.cumsum(finer, axis=axis, out=finer)
        either = np.minimum(finer.reshape(-1)[pending], len(pending) - np.arange(len(pending)))
        return int(pending[np.argmax(either)])

    def run(self, progress: Progress, threads: int) -> LevelJudgement | None:
        problem, lattice = self.problem, self.lattice
        least = self.least_suppressed(progress, threads)
        alive = least <= problem.max_suppressed_rows
        bounds = problem.lower_bounds(least if problem.max_suppressed_rows else None).reshape(-1)
        flat = alive.reshape(-1)
        pending = np.flatnonzero(flat)
        # Equal bounds are visited in the order in which ties are decided.
        pending = pending[np.lexsort((pending, lattice.heights.reshape(-1)[pending], bounds[pending]))]
        quantile = 0.3 if problem.max_suppressed_rows == 0 else 0.5
        if not problem.monotonic:
            # Failures rule out little then: the cheapest candidates first, so that the first success ends the search.
            quantile = PART_NOT_MONOTONIC
        units = problem.domain.units
        dear = units is not None and units.known != 1 and problem.monotonic
        dear &= lattice.size <= CANDIDATES_PER_ROW * problem.domain.rows
        if dear and len(pending) and not self.judge(lattice.highest).feasible:
            pending = pending[:0]
        while len(pending):
            self.floor = float(bounds[pending[0]])
            self.report(progress, len(pending))
            if self.work.over:
                return self.best
            number = self.most_telling(pending) if dear else int(pending[int(quantile * (len(pending) - 1))])
            flat[number] = False
            levels = lattice.levels(number)
            judgement = self.judge(levels)
            if judgement.feasible:
                pending = pending[: np.searchsorted(bounds[pending], ceiling_of(self.best), side="right")]
            elif judgement.least_suppressed > problem.max_suppressed_rows:
                alive[lattice.finer(levels)] = False
            pending = pending[flat[pending]]
        self.proved = True
        return self.best


class _ByClasses(_Search):
    """For losses of class sizes: finer first, because every judged candidate bounds all that are more general."""

    def run(self, progress: Progress, threads: int) -> LevelJudgement | None:
        problem, lattice = self.problem, self.lattice
        metric = problem.metric
        assert isinstance(metric, ClassMetric)
        rows = problem.domain.rows
        least = self.least_suppressed(progress, threads)
        bounds = metric.least_with_suppressed(rows, least + problem.domain.excluded_rows)
        alive = least <= problem.max_suppressed_rows
        flat, flat_bounds = alive.reshape(-1), bounds.reshape(-1)
        pending = np.flatnonzero(flat)
        heights = lattice.heights.reshape(-1)
        pending = pending[np.lexsort((pending, heights[pending]))]
        turn = 0

        whole = 0.0 if self.elsewhere else least_of_classes(problem)

        def floor() -> float:
            return max(whole, float(flat_bounds[pending].min()))

        while len(pending):
            self.report(progress, len(pending), floor)
            if self.work.over:
                self.floor = floor()
                return self.best
            # Alternate between the finest open candidate, which raises bounds for all above it, and one from the
            # middle, which finds good releases early and closes what is finer when it fails.
            turn += 1
            number = int(pending[0] if turn % 2 else pending[len(pending) // 2])
            flat[number] = False
            levels = lattice.levels(number)
            judgement = self.judge(levels)
            if judgement.least_suppressed > problem.max_suppressed_rows:
                alive[lattice.finer(levels)] = False
            coarser_bounds = bounds[lattice.coarser(levels)]
            np.maximum(
                coarser_bounds,
                metric.least_above(rows, judgement.all_classes, judgement.all_squares),
                out=coarser_bounds,
            )
            pending = pending[flat[pending] & (flat_bounds[pending] <= ceiling_of(self.best))]
        self.proved = True
        return self.best


class _ByJudgingAll(_Search):
    """With suppression, bounds on class sizes rule out little: judging all is faster than choosing."""

    def run(self, progress: Progress, threads: int) -> LevelJudgement | None:
        self.floor = least_of_classes(self.problem)
        judged = judge_all(self.problem, progress, self.work, self.floor)
        self.best, self.proved = judged.best(), bool(judged.judged.all())
        return self.best


def least_of_classes(problem: Problem) -> float:
    """What the classes of the finest candidate say of all others, for losses of class sizes."""
    metric, finest = problem.metric, problem.tables.base
    assert isinstance(metric, ClassMetric)
    return metric.least_above(problem.domain.rows, finest.count, int(np.dot(finest.sizes, finest.sizes)))


def search_for(problem: Problem, work: Budget, memory: Memory | None = None) -> _Search:
    """The exact search that suits a problem; `run` it, and see whether it `proved` its answer.

    `memory` is used for tables if it is given (see `LevelJudge`).
    """
    kind: type[_Search]
    by_rows = problem.domain.units is None
    if by_rows and not problem.monotonic and problem.max_suppressed_rows >= problem.domain.rows // 2:
        kind = _ByWalking
    elif not isinstance(problem.metric, ClassMetric):
        kind = _ByAttributes
    elif problem.max_suppressed_rows == 0 or not only_counts_rows(problem):
        kind = _ByClasses
    else:
        kind = _ByJudgingAll
    return kind(problem, work, memory=memory)


def search_elsewhere(problem: Problem, judge: JudgeOfLevels, progress: Progress) -> LevelJudgement:
    """The best candidate of a problem whose rows are not here: `judge` counts each where they are.

    The problem knows how many rows have each value of each attribute, which bounds every candidate. Raises `NoSolution`
    if none is feasible.
    """
    kind = _ByClasses if isinstance(problem.metric, ClassMetric) else _ByAttributes
    best = kind(problem, Budget(None), judge).run(progress, 1)
    if best is None:
        raise NoSolution(
            "No choice of levels satisfies the job: even the most general one would suppress more rows than allowed.",
            advice=["choose a smaller k", "allow more rows to be suppressed"],
        )
    return best


def least_score(problem: Problem, work: Budget, memory: Memory) -> float:
    """What no candidate can go below, as far as the work suffices to prove it."""
    search = search_for(problem, work, memory)
    best = search.run(SILENT, 1)
    return best.score if search.proved and best is not None else search.floor
