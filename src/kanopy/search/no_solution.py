"""When nothing is feasible: say how close the most general release comes, and what would help."""

from __future__ import annotations

import math

from kanopy.errors import NoSolution
from kanopy.search.problem import Problem


def no_solution(problem: Problem) -> NoSolution:
    """The error for a job that no candidate satisfies, with the most general candidate as the closest."""
    top = problem.evaluate(problem.lattice.highest)
    rows = problem.domain.rows
    allowed = problem.max_suppressed_rows
    reason = (
        f"Even with every quasi-identifier at its highest allowed level, {top.suppressed_rows:,} of {rows:,} rows "
        f"would have to be suppressed, and the limit allows {allowed:,}."
    )
    needed = math.ceil(1000 * top.suppressed_rows / rows) / 10
    advice = [f"allow at least {needed:g} % suppression (--suppress {needed:g}%)"]
    smallest = int(problem.tables.table(problem.lattice.highest).sizes.min())
    if 2 <= smallest < problem.k:
        advice.append(f"lower k to {smallest}")
    capped = [
        name
        for name, hierarchy, level in zip(
            problem.domain.names, problem.domain.hierarchies, problem.lattice.highest, strict=True
        )
        if level < hierarchy.height or hierarchy.level(level).size > 1
    ]
    if capped:
        advice.append(f"let {', '.join(capped)} be generalized further (a higher level, or '*' on top)")
    return NoSolution(reason, best=top, advice=advice)
