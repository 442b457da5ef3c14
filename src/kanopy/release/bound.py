"""How far from the best possible a release can be: a proved lower bound for a table and a job."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kanopy._errors import JobError
from kanopy._job.coercion import generalizing_job
from kanopy._job.usage import require_used
from kanopy._lazy import public
from kanopy._parameter_types import as_seconds
from kanopy._progress import Callback, Progress
from kanopy._usage import checked
from kanopy.release.prepare import make_problem, prepare

if TYPE_CHECKING:
    from kanopy._job.coercion import JobSource
    from kanopy.search.bound.bound import Bound


@public("kanopy")
@checked
def lower_bound(
    data: Any,
    job: JobSource,
    *,
    passes: int | None = None,
    budget: float | str | None = None,
    progress: Callback | None = None,
    population: Any = None,
) -> Bound:
    """A `loss` below which no local recoding of the table with the job's hierarchies, levels, weights and k can get.

    It is proved, and holds whatever metric and further models the job names. More `passes` give a higher bound; a
    `budget` such as `60s` says how long it may take instead.

    >>> import kanopy
    >>> job = kanopy.Job(quasi=["age"], k=2, hierarchies={"age": {"method": "widths", "widths": [10]}})
    >>> bound = kanopy.lower_bound({"age": [31, 34, 52, 57]}, job)
    >>> round(bound.value, 3), round(bound.gap(0.5), 3)
    (0.333, 0.333)
    """
    from kanopy.search.bound.bound import lower_bound as bound_of_problem

    job = generalizing_job(job, "A bound")
    if job.masks:
        raise JobError(
            f"A bound needs hierarchies, and {job.algorithm!r} replaces answers by meaning. Use an algorithm that "
            "generalizes, such as 'best'."
        )
    require_used(job, population=population)
    seconds = None if budget is None else as_seconds(budget, "time for the bound")
    notify = Progress(progress)
    prepared = prepare(data, job, population=population, progress=notify, generalize=True)
    problem = make_problem(prepared.domain, job.replaced(metric="loss"))
    threads = job.parameters.get("threads")
    return bound_of_problem(problem, passes=passes, budget_seconds=seconds, threads=threads, progress=notify)
