"""Datafly: generalize the column with the most different values until few enough rows are left over."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kanopy._progress import Progress
from kanopy.search.no_solution import no_solution
from kanopy.search.partition_solution import release_levels
from kanopy.search.problem import Problem
from kanopy.search.solution import About, Algorithm, Solution


@dataclass(frozen=True)
class Datafly(Algorithm):
    """Sweeney's greedy heuristic (Sweeney 1997).

    While more rows violate the models than may be suppressed, the attribute with the most different published
    values goes up one level (ties: the first). No guarantee about the loss; cost: one judgement per step. Use it
    to compare, not to publish.
    """

    name, recoding = "datafly", "full-domain"
    quick = True
    about = About(
        does="generalizes the column with most different values, again and again, until the release is safe",
        source="Sweeney 1997", models="any", units=True, weights=False,
    )  # fmt: skip

    def search(self, problem: Problem, progress: Progress) -> Solution:
        """Climb; raises `NoSolution` if even the top is infeasible."""
        domain, lattice = problem.domain, problem.lattice
        present = [np.unique(domain.tuples[:, j]) for j in range(domain.width)]
        levels = list(lattice.lowest)
        steps = sum(lattice.highest) - sum(lattice.lowest)
        while True:
            judgement = problem.evaluate(tuple(levels))
            if judgement.feasible:
                break
            climbed = sum(levels) - sum(lattice.lowest)
            progress("searching", climbed / max(steps, 1), f"{judgement.suppressed_rows:,} rows left over")
            open_attributes = [j for j in range(domain.width) if levels[j] < lattice.highest[j]]
            if not open_attributes:
                raise no_solution(problem)
            widest = max(
                open_attributes, key=lambda j: len(np.unique(domain.hierarchies[j].level(levels[j]).codes[present[j]]))
            )
            levels[widest] += 1
        return release_levels(self.name, problem, judgement)
