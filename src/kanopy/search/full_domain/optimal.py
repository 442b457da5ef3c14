"""The best full-domain release, proved.

Candidates are ruled out only by bounds that cannot err: one-attribute counts bound the loss before any grouping;
three-attribute tables bound the suppressed rows; and a candidate of which so many rows must go, however it is
refined, that the limit is broken rules out everything finer. What remains is judged in an order that lets each
answer, good or bad, rule out as much as possible.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from kanopy._kinds import Maybe, Seconds, Whole
from kanopy._progress import Progress
from kanopy.search.full_domain.best_effort import best_effort
from kanopy.search.full_domain.branch_and_bound import search_for
from kanopy.search.no_solution import no_solution
from kanopy.search.problem import Problem
from kanopy.search.release import release_levels
from kanopy.search.solution import About, Algorithm, Solution
from kanopy.search.work import Work

BEST_EFFORT_SECONDS = 30.0
"""For a search without a proof, where no budget is given."""


@dataclass(frozen=True)
class Optimal(Algorithm):
    """Full-domain optimum: the feasible candidate of least loss, ties by smaller sum of levels, then lexicographic.

    Up to `most_candidates` the answer is proved optimal, unless a budget is given that does not suffice. Beyond that it
    becomes a best-effort search that stops after `budget_seconds` (30, if none are given) and says so. Where nothing is
    proved optimal, `Solution.floor` is what no release of this kind can go below.
    """

    name, recoding = "optimal", "full-domain"
    about = About(
        does="finds the level per column that loses least, and proves that no other choice of levels loses less",
        source="Kanopy; pruning in the spirit of Flash (Kohlmayer et al. 2012) and branch and bound",
        proves="least loss of all full-domain releases", models="any", units=True,
    )  # fmt: skip

    most_candidates: Annotated[int, Whole(0), "choices of levels up to which the answer is proved"] = 1_000_000
    budget_seconds: Annotated[
        float | None,
        Maybe(Seconds()),
        "how much work the search may do, in seconds of an ordinary machine; none: a proof takes as long as it takes, "
        "a search without one 30 s",
    ] = None
    threads: Annotated[int, Whole(1), "threads that judge candidates at the same time"] = 2

    def search(self, problem: Problem, progress: Progress) -> Solution:
        """Search; raises `NoSolution` if no candidate is feasible."""
        if problem.lattice.size > self.most_candidates:
            seconds = BEST_EFFORT_SECONDS if self.budget_seconds is None else self.budget_seconds
            return best_effort(problem, progress, self.name, seconds)
        search = search_for(problem, Work(self.budget_seconds))
        best = search.run(progress, self.threads)
        notes = []
        if not search.proved:
            top = problem.evaluate(problem.lattice.highest)
            if best is None or (top.feasible and top.better_than(best)):
                best = top if top.feasible else None
            notes = [f"Its work was used up before the proof was complete: {problem.judged:,} candidates judged."]
        if best is None:
            raise no_solution(problem)
        floor = best.score if search.proved else min(search.floor, best.score)
        return release_levels(self.name, problem, best, optimal=search.proved, floor=floor, notes=notes)
