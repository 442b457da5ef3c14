"""Too many candidates to prove anything: walk downhill from several starting points until the time is up."""

from __future__ import annotations

import numpy as np

from kanopy._progress import Progress
from kanopy.metrics.full_domain import ClassMetric
from kanopy.search.full_domain.level_judge import judge_of
from kanopy.search.judge import LevelJudgement
from kanopy.search.lattice import Levels
from kanopy.search.no_solution import no_solution
from kanopy.search.problem import Problem
from kanopy.search.release import release_levels
from kanopy.search.solution import Solution
from kanopy.search.work import Work

IDLE = 300
"""Restarts without a candidate that is new after which the search ends: it has seen what there is."""


def best_effort(problem: Problem, progress: Progress, algorithm: str, budget_seconds: float, seed: int = 0) -> Solution:
    """The best full-domain release found within the time budget; not proved optimal, and it says so.

    Starts at the most general candidate, which is the likeliest to be feasible, and repeatedly takes the step
    (one attribute one level down, or one down and another up) that lowers the score most; then restarts from
    feasible candidates disturbed at random.
    """
    walk = _Walk(problem, progress, Work(budget_seconds))
    best = walk.judge(problem.lattice.highest)
    rng = np.random.default_rng(seed)
    if not best.feasible:
        # Where models are not monotonic the top need not be the likeliest: look around before giving up.
        while not problem.monotonic and not best.feasible and not walk.out_of_time():
            best = walk.judge(walk.anywhere(rng))
        if not best.feasible:
            raise no_solution(problem)
    best = walk.descend(best)
    idle = 0
    while not walk.out_of_time() and idle < IDLE and len(walk.seen) < problem.lattice.size:
        known = len(walk.seen)
        start = walk.judge(walk.disturbed(best.levels, rng))
        if start.feasible:
            found = walk.descend(start)
            if found.better_than(best):
                best = found
        idle = idle + 1 if len(walk.seen) == known else 0
    note = (
        f"{problem.lattice.size:,} candidates are too many to prove an optimum; this is the best of "
        f"{problem.judged:,} judged with the work of {budget_seconds:g} seconds."
    )
    return release_levels(algorithm, problem, best, notes=[note])


class _Walk:
    """A hill climber over level combinations that never judges a candidate twice."""

    def __init__(self, problem: Problem, progress: Progress, work: Work) -> None:
        self.problem = problem
        self.lattice = problem.lattice
        self.progress = progress
        self.work = work
        self.judge_one = judge_of(problem)
        self.seen: dict[Levels, LevelJudgement] = {}
        self.best_score = np.inf
        self.bounded = not isinstance(problem.metric, ClassMetric)

    def out_of_time(self) -> bool:
        self.progress("searching", self.work.done, f"{len(self.seen):,} judged, best {self.best_score:.4f}")
        return self.work.over

    def judge(self, levels: Levels) -> LevelJudgement:
        found = self.seen.get(levels)
        if found is None:
            before = self.problem.work_seconds
            found = self.seen[levels] = self.judge_one.evaluate(levels)
            self.work.spend(self.problem.work_seconds - before)
            if found.feasible:
                self.best_score = min(self.best_score, found.score)
        return found

    def descend(self, current: LevelJudgement) -> LevelJudgement:
        """Steepest descent; stops in a local optimum or when the time is up."""
        while not self.out_of_time():
            best = current
            for levels in self.neighbours(current.levels):
                if self.bounded and self.bound(levels) > best.score:
                    continue
                candidate = self.judge(levels)
                if candidate.feasible and candidate.better_than(best):
                    best = candidate
                if self.work.over:
                    break
            if best is current:
                return current
            current = best
        return current

    def bound(self, levels: Levels) -> float:
        """A score the candidate cannot go below, from one-attribute counts."""
        metric = self.problem.metric
        assert not isinstance(metric, ClassMetric)
        losses = [cost.loss(cost.totals[level]) for cost, level in zip(self.problem.costs, levels, strict=True)]
        return float(metric.combine(losses, self.problem.weights))

    def neighbours(self, levels: Levels) -> list[Levels]:
        low, high = self.lattice.lowest, self.lattice.highest
        found: list[Levels] = []
        for j, level in enumerate(levels):
            if level > low[j]:
                down = (*levels[:j], level - 1, *levels[j + 1 :])
                found.append(down)
                for i, other in enumerate(down):
                    if i != j and other < high[i]:
                        found.append((*down[:i], other + 1, *down[i + 1 :]))
        return found

    def anywhere(self, rng: np.random.Generator) -> Levels:
        """A candidate drawn at random."""
        pairs = zip(self.lattice.lowest, self.lattice.highest, strict=True)
        return tuple(int(rng.integers(low, high + 1)) for low, high in pairs)

    def disturbed(self, levels: Levels, rng: np.random.Generator) -> Levels:
        changed = list(levels)
        for j in rng.choice(len(levels), size=max(1, len(levels) // 3), replace=False):
            changed[j] = int(rng.integers(levels[j], self.lattice.highest[j] + 1))
        return tuple(changed)
