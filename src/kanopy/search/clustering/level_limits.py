"""Level limits for algorithms that know none: parts that must stay apart are solved apart, labels lifted at the end."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from kanopy._arrays import Ints
from kanopy._core.classes import recoding_from_nodes
from kanopy._core.numbering import number_rows
from kanopy._errors import JobError, NoSolution
from kanopy._progress import Progress
from kanopy.search.partition_solution import release
from kanopy.search.problem import Problem
from kanopy.search.solution import Solution


def within_level_limits(
    name: str, problem: Problem, progress: Progress, solve: Callable[[Problem, Progress], Solution]
) -> Solution:
    """What `solve` finds, within the lowest and highest levels of the problem.

    Rows that differ at the highest allowed level of a column can never be published alike: each such part is a problem
    of its own. Afterwards labels below the lowest allowed level are lifted to it. Parts that are not safe even as
    one class are suppressed, if the problem allows that many rows. Where no level is limited this is `solve`.
    """
    if not problem.level_limits:
        return solve(problem, progress)
    problem.require_nesting()
    domain = problem.domain
    nodes_of_row = np.full((domain.rows, domain.width), -1, np.int32)
    group_of_row = np.full(domain.rows, -1, np.int32)
    groups = 0
    notes: list[str] = []
    for rows in _apart(problem):
        subproblem = Problem(domain.part(rows), problem.models, problem.metric, weights=problem.weights)
        try:
            solution = solve(subproblem, progress)
        except NoSolution:
            continue
        recoding = solution.recoding
        notes.extend(solution.notes)
        published = recoding.group_of_row >= 0
        of_row = recoding.group_of_row[published]
        for j in range(domain.width):
            nodes = recoding.nodes[j][recoding.codes[:, j]]
            if (nodes[of_row] < 0).any():
                raise JobError(
                    f"{domain.names[j]} is generalized without its hierarchy, so its level cannot be limited. "
                    "Drop the limit, or let the column use its hierarchy."
                )
            nodes_of_row[rows[published], j] = nodes[of_row]
        group_of_row[rows[published]] = of_row + groups
        groups += len(recoding.codes)
    kept_rows = np.flatnonzero(group_of_row >= 0)
    lifted = _lifted(problem, nodes_of_row, kept_rows)[kept_rows]
    number, first, _ = number_rows(lifted, ascending=True)
    group_of_row[kept_rows] = number
    recoding = recoding_from_nodes(domain, group_of_row, lifted[first])
    return release(name, problem, recoding, notes=dict.fromkeys(notes))


def _apart(problem: Problem) -> list[np.ndarray[tuple[int], np.dtype[np.int64]]]:
    """Usable rows, by what they publish at the highest allowed levels."""
    domain = problem.domain
    pairs = enumerate(zip(domain.hierarchies, problem.lattice.highest, strict=True))
    stratum = number_rows([h.table[level][domain.tuples[:, j]] for j, (h, level) in pairs], ascending=True).number
    usable = np.flatnonzero(domain.tuple_of_row >= 0)
    of_row = stratum[domain.tuple_of_row[usable]]
    order = np.argsort(of_row, kind="stable")
    cuts = np.flatnonzero(np.diff(of_row[order])) + 1
    return [usable[piece] for piece in np.split(order, cuts)]


def _lifted(problem: Problem, nodes_of_row: Ints, rows: np.ndarray[tuple[int], np.dtype[np.int64]]) -> Ints:
    """The nodes, none below the lowest allowed level."""
    domain = problem.domain
    lifted = nodes_of_row.copy()
    for j, (hierarchy, low) in enumerate(zip(domain.hierarchies, problem.lattice.lowest, strict=True)):
        if low == 0:
            continue
        leaves, nodes = domain.tuples[domain.tuple_of_row[rows], j], nodes_of_row[rows, j]
        high_enough = np.zeros(len(rows), np.bool_)
        for row in hierarchy.table[low:]:
            high_enough |= row[leaves] == nodes
        lifted[rows, j] = np.where(high_enough, nodes, hierarchy.table[low][leaves])
    return lifted
