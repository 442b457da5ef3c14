"""Incognito: all feasible full-domain releases, found by growing the set of attributes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import combinations

import numpy as np
import numpy.typing as npt

from kanopy._core.classes import Domain, Population
from kanopy._core.histograms import summed
from kanopy._core.numbering import number_rows
from kanopy._progress import Progress
from kanopy.search.budget import Budget, BudgetExhausted, so_far, used_up
from kanopy.search.judge import LevelJudgement
from kanopy.search.lattice import Lattice
from kanopy.search.no_solution import no_solution
from kanopy.search.partition_solution import release_levels
from kanopy.search.problem import Problem
from kanopy.search.solution import About, Algorithm, EndingBudget, Solution

Grid = npt.NDArray[np.bool_]
PART_SECONDS_PER_CELL = 2e-8
"""Seconds of an ordinary machine for taking some columns of a table, per value of the table."""


@dataclass(frozen=True)
class Incognito(Algorithm):
    """A-priori search over subsets of the quasi-identifiers (LeFevre, DeWitt, Ramakrishnan 2005).

    A combination of levels can only be feasible if it is feasible on every subset of the attributes. Subsets are
    taken by size; inside each, candidates are judged from the finest up, and once one is feasible everything more
    general is. At the end all feasible candidates are known, and the one of least loss is returned: the same
    answer as `optimal`, at a higher price. Use it to list or compare. A budget ends it with the best release so far,
    which is the most general one until all smaller subsets are done.
    """

    budget_seconds: EndingBudget = None
    name, recoding = "incognito", "full-domain"
    about = About(
        does="finds all safe full-domain releases, columns subset by subset, and takes the one that loses least",
        source="LeFevre, DeWitt, Ramakrishnan 2005", proves="least loss of all full-domain releases",
        models="monotone", units=True,
    )  # fmt: skip

    def search(self, problem: Problem, progress: Progress) -> Solution:
        """Search; raises `NoSolution` if nothing is feasible."""
        width, lattice = problem.domain.width, problem.lattice
        # One more than its levels, per column: it may also be missing.
        Lattice((0,) * width, lattice.shape).require_listing(self.name)
        work = Budget(self.budget_seconds)
        feasible: dict[tuple[int, ...], Grid] = {}
        judged = 0
        subsets = (c for size in range(1, width) for c in combinations(range(width), size))
        best: LevelJudgement | None = None

        def remember(judgement: LevelJudgement) -> None:
            nonlocal best
            if judgement.feasible and judgement.better_than(best):
                best = judgement

        def standing(size: int, subproblem: Problem | None = None) -> str:
            note = f"{size} of {width} columns, {judged + (subproblem or problem).judged:,} judged"
            return note if best is None else f"{note}, {so_far(problem.metric.name, best.score)}"

        try:
            for done, subset in enumerate(subsets):
                subproblem = _part(problem, subset)
                work.spend(PART_SECONDS_PER_CELL * problem.domain.tuples.size)
                alive = _joined(subset, subproblem.lattice.shape, feasible)
                notify = partial(
                    progress, "searching", 0.8 * done / (2**width - 2), partial(standing, len(subset), subproblem)
                )
                feasible[subset] = _grow(subproblem, alive, notify, work)
                judged += subproblem.judged
            alive = _joined(tuple(range(width)), lattice.shape, feasible)
            remaining = _grow(
                problem, alive, partial(progress, "searching", 0.8, partial(standing, width)), work, remember
            )
            if not remaining.any():
                raise no_solution(problem)
            # Candidates above a feasible one were not judged; bounds tell which of them could still be better.
            bounds = problem.lower_bounds().reshape(-1)
            for number in np.flatnonzero(remaining.reshape(-1)):
                if best is None or bounds[number] <= best.score + 1e-12:
                    progress("searching", 0.9, partial(standing, width))
                    work.need()
                    before = problem.work_seconds
                    remember(problem.evaluate(lattice.levels(int(number))))
                    work.spend(problem.work_seconds - before)
            note, proved = f"{int(remaining.sum()):,} of {lattice.size:,} candidates are feasible.", True
        except BudgetExhausted:
            remember(problem.evaluate(lattice.highest))
            note, proved = used_up("all subsets of columns were settled", problem.judged + judged), False
            note += " Algorithm 'optimal' finds what this one looks for in less."
        if best is None:
            raise no_solution(problem)
        return release_levels(self.name, problem, best, optimal=proved, judged=problem.judged + judged, notes=[note])


def _part(problem: Problem, subset: tuple[int, ...]) -> Problem:
    """The same problem on some of the attributes."""
    domain = problem.domain
    hierarchies = tuple(domain.hierarchies[j] for j in subset)
    number, first, _ = number_rows(domain.tuples[:, subset], [h.size for h in hierarchies], ascending=True)
    of_row = np.append(number, -1).astype(np.int32)[domain.tuple_of_row]
    people = domain.population
    if people is not None:
        people = Population(people.tuples[:, subset], people.counts)
    projected = Domain(
        tuple(domain.names[j] for j in subset), hierarchies, domain.tuples[first][:, subset],
        summed(domain.counts, number, len(first)), of_row, domain.sensitive, people, domain.survey, domain.units,
    )  # fmt: skip
    lowest, highest = ([ends[j] for j in subset] for ends in (problem.lattice.lowest, problem.lattice.highest))
    return problem.changed(domain=projected, metric=None, weights=None, lowest_levels=lowest, highest_levels=highest)


def _joined(subset: tuple[int, ...], shape: tuple[int, ...], feasible: dict[tuple[int, ...], Grid]) -> Grid:
    """Candidates of a subset that are feasible on all subsets with one attribute fewer."""
    alive = np.ones(shape, np.bool_)
    for left_out in range(len(subset)):
        smaller = subset[:left_out] + subset[left_out + 1 :]
        if smaller:
            alive &= np.expand_dims(feasible[smaller], left_out)
    return alive


def _grow(
    problem: Problem, alive: Grid, notify: Callable[[], None], work: Budget,
    seen: Callable[[LevelJudgement], None] | None = None,
) -> Grid:  # fmt: skip
    """The feasible ones among `alive`, judged from the finest up; what is above a feasible one is feasible."""
    lattice = problem.lattice
    feasible = np.zeros(lattice.shape, np.bool_)
    order = np.argsort(lattice.heights.reshape(-1), kind="stable")
    for number in order[alive.reshape(-1)[order]]:
        if feasible.reshape(-1)[number]:
            continue
        notify()
        levels = lattice.levels(int(number))
        work.need()
        before = problem.work_seconds
        judgement = problem.evaluate(levels)
        work.spend(problem.work_seconds - before)
        if seen is not None:
            seen(judgement)
        if judgement.feasible:
            feasible[lattice.coarser(levels)] = True
    return feasible
