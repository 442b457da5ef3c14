"""Samarati's k-minimal generalization: the lowest height at which something is feasible."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kanopy._progress import Progress
from kanopy.search.budget import Budget, so_far, used_up
from kanopy.search.judge import LevelJudgement
from kanopy.search.no_solution import no_solution
from kanopy.search.partition_solution import release_levels
from kanopy.search.problem import Problem
from kanopy.search.solution import About, Algorithm, EndingBudget, Solution


@dataclass(frozen=True)
class Samarati(Algorithm):
    """Binary search on the height of the lattice (Samarati 2001).

    Because generalizing further never needs more suppression, a feasible candidate at one height means one at
    every greater height; so the smallest feasible height is found by halving. Among the feasible candidates of
    that height the one of least loss is returned. Guarantee: least height, not least loss. Cost: the candidates
    of about log₂(height) heights. A budget ends it with the lowest height found so far.
    """

    budget_seconds: EndingBudget = None
    name, recoding = "samarati", "full-domain"
    about = About(
        does="halves the height of the lattice until the lowest height with a safe release is found",
        source="Samarati 2001", proves="least height", models="monotone", units=True,
    )  # fmt: skip

    def search(self, problem: Problem, progress: Progress) -> Solution:
        """Search; raises `NoSolution` if even the top is infeasible."""
        lattice = problem.lattice
        lattice.require_listing(self.name)
        work = Budget(self.budget_seconds)
        heights = lattice.heights.reshape(-1)
        order = np.argsort(heights, kind="stable")
        edges = np.searchsorted(heights[order], np.arange(heights.min(), heights.max() + 2))
        low, high = int(heights.min()), int(heights.max())
        best = problem.evaluate(lattice.highest)
        if not best.feasible:
            raise no_solution(problem)
        first, whole = low, True
        while low < high and not work.over:
            middle = (low + high) // 2
            stratum = order[edges[middle - first] : edges[middle - first + 1]]
            here: LevelJudgement | None = None
            for done, number in enumerate(stratum):
                progress_text = so_far(problem.metric.name, (here or best).score)
                progress(
                    "searching", done / len(stratum), f"height {middle}, the least is {low} to {high}, {progress_text}"
                )
                judgement = problem.evaluate(lattice.levels(int(number)))
                if judgement.feasible and judgement.better_than(here):
                    here = judgement
                work.spend_up_to(problem.work_seconds)
                if work.left <= 0:
                    break
            if here is not None:
                best, high, whole = here, middle, done + 1 == len(stratum)
            elif work.left > 0:
                low = middle + 1
        note = f"The least height at which a release exists is {high}."
        if low < high:
            note = used_up(f"heights below {high} were settled", problem.judged)
        elif not whole:
            note += " " + used_up("all candidates of that height were judged", problem.judged)
        return release_levels(self.name, problem, best, notes=[note])
