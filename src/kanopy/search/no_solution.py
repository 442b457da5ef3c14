"""When nothing is feasible: say how close the most general release comes, and what would help."""

from __future__ import annotations

import math

from kanopy._core.units import ALL
from kanopy._errors import Hint, NoSolution
from kanopy.privacy.models import failing
from kanopy.search.problem import Problem


def no_solution(problem: Problem) -> NoSolution:
    """The error for a job that no candidate satisfies, with the most general candidate as the closest."""
    top = problem.evaluate(problem.lattice.highest)
    rows = problem.domain.rows
    allowed = problem.max_suppressed_rows
    fixed = problem.lattice.lowest == problem.lattice.highest
    where = "At the given levels" if fixed else "Even with every quasi-identifier at its highest allowed level"
    reason = (
        f"{where}, {top.suppressed_rows:,} of {rows:,} rows "
        f"would have to be suppressed, and the limit allows {allowed:,}."
    )
    blamed = _blamed(problem)
    if blamed:
        reason += " " + blamed
    if top.suppressed_rows <= allowed:
        reason = f"No release satisfies the job. {blamed}" if blamed else "No candidate that was judged is feasible."
    needed = math.ceil(1000 * top.suppressed_rows / rows) / 10
    advice: list[str] = []
    if top.suppressed_rows > allowed:
        words = f"allow at least {needed:g} % suppression (--suppress {needed:g}%)"
        advice.append(Hint(words, suppress=needed / 100))
    smallest = int(problem.tables.table(problem.lattice.highest).sizes.min())
    if 2 <= smallest < problem.k:
        advice.append(Hint(f"lower k to {smallest}", k=smallest))
    if not problem.of_sizes:
        more = problem.people is not None and problem.people.judge.units.known != 1
        advice.append("loosen the model that is broken, or leave it out" + (", or let fewer rows be known" * more))
    # Columns that cost nothing, such as the histories of a ledger, are not for the user to generalize.
    domain = problem.domain
    capped = [
        name
        for name, hierarchy, level, weight in zip(
            domain.names, domain.hierarchies, problem.lattice.highest, problem.weights, strict=True
        )
        if weight > 0 and (level < hierarchy.height or hierarchy.level(level).size > 1)
    ]
    if capped and fixed:
        advice.append("let levels be chosen for these rows: anonymize them on their own, or with the earlier ones")
    elif capped:
        advice.append(f"let {', '.join(capped)} be generalized further (a higher level, or '*' on top)")
    return NoSolution(reason, best=top, advice=advice)


def more_suppression(suppressed_rows: int, rows: int) -> Hint:
    """That so many of the rows would have to be suppressed.

    >>> more_suppression(7, 1000).settings
    {'suppress': 0.007}
    """
    return Hint(
        f"allow at least {suppressed_rows:,} rows to be suppressed",
        suppress=math.ceil(1000 * suppressed_rows / rows) / 1000,
    )


def _blamed(problem: Problem) -> str:
    """Which models the most general release breaks, in how many rows."""
    if problem.of_sizes:
        return ""
    levels = problem.lattice.highest
    if problem.people is not None:
        units = problem.people.judge.units
        return f"The job counts {units.called}, and an attacker may know {_in_words(units.known)} of their rows."
    table = problem.full_tables.table(levels)
    classes = problem.class_statistics.classes(table, problem.full_tables.packing, levels)
    parts = []
    for model in problem.models:
        rows = int(classes.sizes[failing(model, classes)].sum())
        if rows:
            parts.append(f"{model.name} ({rows:,} rows)")
    if not parts:
        return "The most general release satisfies each model; together with suppression no release does."
    return f"There it breaks the models {', '.join(parts)}."


def _in_words(known: int) -> str:
    return "all" if known == ALL else f"{known:,}"
