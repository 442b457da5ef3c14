"""Judge nearly every candidate, each from its neighbour: for searches in which hardly anything can be ruled out.

Where any number of rows may be suppressed and models are not monotonic, every candidate is feasible and only its
score counts. Then the cheapest order is an odometer: each class table, with its histograms, is rolled up from the
one a level below, and subtrees whose bounds are beaten are left out.
"""

from __future__ import annotations

from collections.abc import Callable

from kanopy.search.lattice import Levels
from kanopy.search.problem import Judgement, Problem
from kanopy.search.tables import ClassTable

BATCH = 16
"""Candidates whose classes are shown to the models together."""


def walk(
    problem: Problem,
    ceiling: Callable[[], float],
    bound: Callable[[Levels], float],
    visit: Callable[[Judgement], None],
) -> None:
    """Judge every candidate whose `bound` is not above `ceiling()`; `visit` sees each judgement.

    `bound` must not fall when levels rise.
    """
    tables, lattice = problem.full_tables, problem.lattice
    order = tables.order

    def descend(depth: int, levels: Levels, table: ClassTable) -> None:
        j = order[depth]
        for level in range(lattice.lowest[j], lattice.highest[j] + 1):
            here = (*levels[:j], level, *levels[j + 1 :])
            # Everything below is at least as general, so it is beaten too.
            if bound(here) > ceiling():
                return
            if here != levels:
                table = tables.rolled(table, levels, here)
                levels = here
            if depth + 1 < len(order):
                descend(depth + 1, levels, table)
            else:
                pending.append((levels, table))
                if len(pending) >= BATCH:
                    judge_pending()

    pending: list[tuple[Levels, ClassTable]] = []

    def judge_pending() -> None:
        problem.judged += len(pending)
        for (levels, table), verdict in zip(pending, problem.verdicts(pending), strict=True):
            visit(problem.judge_table(levels, table, verdict))
        pending.clear()

    descend(0, lattice.lowest, tables.base)
    judge_pending()
