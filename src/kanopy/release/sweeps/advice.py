"""What would help where most of the detail is gone: other jobs tried on the same table, with what each would lose.

Every number is computed, on the distinct tuples and with work that is bounded by size and not by the clock: the same
release gives the same advice. Nothing is tried on tables of very many different tuples, and local recoding of long
tables is tried on a part of their rows, which is said.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from kanopy._errors import KanopyError
from kanopy._job.job import Job
from kanopy._mixins import DictMixin
from kanopy._progress import SILENT
from kanopy.release.prepare import Prepared, generalizable, make_problem
from kanopy.report.text import MOST_LOST

if TYPE_CHECKING:
    from kanopy.release.result import Result
    from kanopy.search.problem import Problem

WIPED = 0.9995
"""A column that loses so much says nothing any more."""
NOTICED = 5e-4
"""Less than this is no help."""
MOST_TUPLES = 20_000
MOST_CANDIDATES = 200_000
LOCAL_BUDGET, OTHER_BUDGET = 0.03, 0.5
"""Seconds of work of an ordinary machine for local recoding, and at most for any other try: advice must not take longer
than the release. With all its work the release may come to lose less than is said."""
LOCAL_ROWS = 5_000
"""So many rows, in neighbourhoods from all over the table, tell what local recoding would lose."""
MORE_SUPPRESSION = (0.05, 0.1)
"""Tried in turn; on long tables only until one helps."""
FIRST_COLUMNS = 2
"""How many of the columns that lose most are left out, one at a time; on long tables the worst alone."""


@dataclass(frozen=True)
class Advice(DictMixin):
    """A change of the job and the loss that the release would then have.

    `option` is how the command line says it, `settings` what `advised` makes of a job.
    """

    change: str
    option: str
    settings: dict[str, Any]
    loss: float


def advised(job: Job, settings: Mapping[str, Any]) -> Job:
    """A job with the settings of some advice: `hierarchies` are those of single columns, `unpublished` names a column
    that becomes an identifier.

    >>> advised(Job(quasi=["age", "zip"], k=5), {"at_home": "zip"}).quasi
    ('age',)
    >>> advised(Job(quasi=["age", "zip"]), {"hierarchies": {"zip": {"method": "prefix"}}}).hierarchies
    {'zip': {'method': 'prefix'}}
    """
    plain = dict(settings)
    if name := plain.pop("at_home", None):
        job = job.with_role(name, "identifier")
    if given := plain.pop("hierarchies", None):
        plain["hierarchies"] = {**job.hierarchies, **given}
    return job.replaced(**plain)


def wiped(result: Result) -> tuple[str, ...]:
    """The quasi-identifiers of which the release says nothing any more."""
    return tuple(name for name, loss in result.column_losses.items() if loss >= WIPED)


def advice(result: Result) -> tuple[Advice, ...]:
    """What would help, the most helpful first; nothing where a release keeps its columns and most of its detail."""
    job, solution = result.job, result.solution
    if not isinstance(job, Job) or solution is None:
        return ()
    loss, domain = result.losses["loss"], result.prepared.domain
    if (loss <= MOST_LOST and not wiped(result)) or len(domain.counts) > MOST_TUPLES:
        return ()
    tried = _tried(result.prepared, job, result.column_losses, loss)
    better = [improvement for improvement in tried if improvement.loss < loss - NOTICED]
    return tuple(sorted(better, key=lambda improvement: (improvement.loss, improvement.change)))


def _tried(prepared: Prepared, job: Job, losses: dict[str, float], now: float) -> Iterator[Advice]:
    from kanopy.search.algorithms import algorithm_class

    if algorithm_class(job.algorithm).recoding == "full-domain":
        yield from _possible(partial(_local, prepared, job))
    candidates = 1
    for hierarchy in prepared.domain.hierarchies:
        candidates *= hierarchy.height + 1
    if candidates > MOST_CANDIDATES:
        return
    long, least = len(prepared.domain.counts) > LOCAL_ROWS, 1.0
    for share in MORE_SUPPRESSION:
        if share > job.suppress:
            for improvement in _possible(partial(_more_suppression, prepared, job, share)):
                if improvement.loss < least - NOTICED:
                    least = improvement.loss
                    yield improvement
            if long and least < now - NOTICED:
                break
    worst = sorted(losses, key=lambda name: -losses[name])[: 1 if long else FIRST_COLUMNS]
    trees = dict(zip(prepared.domain.names, prepared.domain.hierarchies, strict=True))
    for name in worst:
        if trees[name].height == 1 and trees[name].size > 3:
            for method in ("prefix", "order"):
                yield from _possible(partial(_with_groups, prepared, job, name, method))
        # Without its lists a record is one row: other rows than are at hand.
        listed = prepared.lists is not None and prepared.lists.column == name
        if len(job.quasi) > 1 and not listed and not any(name in model.quasi for model in job.models):
            yield from _possible(partial(_without, prepared, job, name))


def _possible(attempt: Callable[[], Advice]) -> Iterator[Advice]:
    """What an attempt advises; nothing where such a job cannot be run or has no release: a release is at hand."""
    try:
        yield attempt()
    except KanopyError:
        return


def _more_suppression(prepared: Prepared, job: Job, share: float) -> Advice:
    """The same job where more rows may be suppressed."""
    settings = {"suppress": share}
    other = advised(job, settings)
    change, option = f"up to {share:.0%} of rows may be suppressed", f"--suppress {share:.0%}"
    return _loss_of(make_problem(prepared.domain, other), other, change, option, settings)


def _local(prepared: Prepared, job: Job) -> Advice:
    """What local recoding would lose, tried on some neighbourhoods of a long table where only k is asked."""
    from kanopy.search.local.boxes import lay_out
    from kanopy.search.local.chunks import some_rows

    local = job.replaced(algorithm="best", parameters={"budget_seconds": LOCAL_BUDGET})
    change, domain = "rows with equal values may be published differently", prepared.domain
    problem = make_problem(domain, local)
    alike = problem.of_sizes and domain.units is None and not domain.excluded_rows
    if domain.rows > LOCAL_ROWS > 100 * problem.k and alike:
        problem = problem.changed(domain=domain.part(some_rows(lay_out(problem), LOCAL_ROWS, problem.k)))
        change += f" (estimated on {problem.domain.rows:,} rows)"
    return _loss_of(problem, local, change, "--local", {"local": True, "algorithm": None, "parameters": {}})


def _with_groups(prepared: Prepared, job: Job, name: str, method: str) -> Advice:
    """A column that is published as it is or not at all, with groups between: parts of codes, or runs of values."""
    words = f"{name} gets a hierarchy with groups (tried: method {method})"
    option = f'[columns.{name}] hierarchy = {{ method = "{method}" }}'
    return _again(prepared, job, words, option, {"hierarchies": {name: {"method": method}}})


def _without(prepared: Prepared, job: Job, name: str) -> Advice:
    """The job without a column: the loss is that of the columns that remain."""
    return _again(prepared, job, f"{name} is not published", f"without {name} among --quasi", {"at_home": name})


def _again(prepared: Prepared, job: Job, change: str, option: str, settings: dict[str, Any]) -> Advice:
    """What a job loses that needs the table counted anew; hierarchies that were built already are taken as they are."""
    job = advised(job, settings)
    built = prepared.table.hierarchies if hasattr(prepared.table, "hierarchies") else {}
    built_trees = {name: tree for name, tree in built.items() if name in job.quasi and name not in job.hierarchies}
    fresh = generalizable(
        prepared.values, job.replaced(hierarchies={**job.hierarchies, **built_trees}), prepared.population,
        prepared.units, prepared.multiplicity,
    )  # fmt: skip
    return _loss_of(make_problem(fresh.domain, job), job, change, option, settings)


def _loss_of(problem: Problem, job: Job, change: str, option: str, settings: dict[str, Any]) -> Advice:
    """A change with what the release would then lose; raises what the search raises."""
    from kanopy.metrics.release_losses import release_losses
    from kanopy.search.algorithms import make_algorithm, takes_budget

    parameters = dict(job.parameters)
    if takes_budget(job.algorithm):
        parameters["budget_seconds"] = min(OTHER_BUDGET, parameters.get("budget_seconds") or OTHER_BUDGET)
    solution = make_algorithm(job.algorithm, **parameters).solve(problem, SILENT)
    losses = release_losses(problem.domain, solution.recoding, problem.weights, solution.levels)
    return Advice(change, option, settings, losses["loss"])
