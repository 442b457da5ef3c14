"""What would help where most of the detail is gone: other jobs tried on the same table, with what each would lose.

Every number is computed, on the distinct tuples and with work that is bounded by size and not by the clock: the same
release gives the same advice. Nothing is tried on tables of very many different tuples.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kanopy._errors import KanopyError
from kanopy._job.job import Job
from kanopy._progress import SILENT
from kanopy._shown import Plain
from kanopy.release.prepare import Prepared, prepare
from kanopy.report.words import MOST_LOST

if TYPE_CHECKING:
    from kanopy.release.result import Result

WIPED = 0.9995
"""A column that loses so much says nothing any more."""
NOTICED = 5e-4
"""Less than this is no help."""
MOST_TUPLES = 20_000
MOST_CANDIDATES = 200_000
LOCAL_BUDGET = 0.2
"""Seconds of work of an ordinary machine."""
MORE_SUPPRESSION = (0.05, 0.1)
FIRST_COLUMNS = 2
"""How many of the columns that lose most are left out, one at a time."""


@dataclass(frozen=True)
class Advice(Plain):
    """A change of the job and the loss that the release would then have; `option` is how the command line says it."""

    change: str
    option: str
    loss: float


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
    found = [each for each in _tried(result.prepared, job, result.column_losses) if each.loss < loss - NOTICED]
    return tuple(sorted(found, key=lambda each: (each.loss, each.change)))


def _tried(prepared: Prepared, job: Job, losses: dict[str, float]) -> Iterator[Advice]:
    from kanopy.search.algorithms import algorithm_class

    if algorithm_class(job.algorithm).recoding == "full-domain":
        local = job.replaced(algorithm="best", parameters={"budget_seconds": LOCAL_BUDGET})
        yield from _loss_of(prepared, local, "rows with equal values may be published differently", "--local")
    candidates = 1
    for hierarchy in prepared.domain.hierarchies:
        candidates *= hierarchy.height + 1
    if candidates > MOST_CANDIDATES:
        return
    least = 1.0
    for share in MORE_SUPPRESSION:
        if share > job.suppress:
            words, option = f"up to {share:.0%} of rows may be suppressed", f"--suppress {share:.0%}"
            for each in _loss_of(prepared, job.replaced(suppress=share), words, option):
                if each.loss < least - NOTICED:
                    least = each.loss
                    yield each
    worst = sorted(losses, key=lambda name: -losses[name])[:FIRST_COLUMNS]
    known = dict(zip(prepared.domain.names, prepared.domain.hierarchies, strict=True))
    for name in worst:
        if known[name].height == 1 and known[name].size > 3:
            yield from _with_groups(prepared, job, name)
        if len(job.quasi) > 1 and not any(name in model.quasi for model in job.models):
            yield from _without(prepared, job, name)


def _with_groups(prepared: Prepared, job: Job, name: str) -> Iterator[Advice]:
    """A column that is published as it is or not at all, with groups between: parts of codes, or runs of values."""
    for method in ("prefix", "order"):
        other = job.replaced(hierarchies={**job.hierarchies, name: {"method": method}})
        words = f"{name} has a hierarchy with groups (tried: method {method})"
        yield from _again(prepared, other, words, f'[columns.{name}] hierarchy = {{ method = "{method}" }}')


def _without(prepared: Prepared, job: Job, name: str) -> Iterator[Advice]:
    """The job without a column: the loss is that of the columns that remain."""
    changes: dict[str, Any] = {"quasi": [each for each in job.quasi if each != name]}
    for key in ("hierarchies", "min_levels", "max_levels", "weights"):
        changes[key] = {each: value for each, value in getattr(job, key).items() if each != name}
    changes["identifiers"] = [*job.identifiers, name]
    yield from _again(prepared, job.replaced(**changes), f"{name} stays at home", f"without {name} among --quasi")


def _again(prepared: Prepared, job: Job, change: str, option: str) -> Iterator[Advice]:
    """What a job loses that needs the table counted anew; hierarchies that were built already are taken as they are."""
    built = prepared.table.hierarchies if hasattr(prepared.table, "hierarchies") else {}
    kept = {name: tree for name, tree in built.items() if name in job.quasi and name not in job.hierarchies}
    try:
        fresh = prepare(
            prepared.frame, job.replaced(hierarchies={**job.hierarchies, **kept}), population=prepared.population
        )
    except KanopyError:
        return
    yield from _loss_of(fresh, job, change, option)


def _loss_of(prepared: Prepared, job: Job, change: str, option: str) -> Iterator[Advice]:
    from kanopy.metrics.release import release_losses
    from kanopy.release.run import search
    from kanopy.search.solution import Solution

    try:
        found = search(prepared, job, SILENT)
    except KanopyError:  # no such release, or the algorithm cannot keep a model
        return
    assert isinstance(found, Solution)
    weights = [job.weights.get(name, 1.0) for name in prepared.domain.names]
    yield Advice(change, option, release_losses(prepared.domain, found.recoding, weights, found.levels)["loss"])
