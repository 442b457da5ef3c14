"""The one way to a release: search or mask, apply, verify what is about to leave. `anonymize` and `mask` begin here."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from kanopy._errors import Hint, JobError, NoSolution
from kanopy._job.given import as_job
from kanopy._job.job import Job
from kanopy._job.usage import require_used
from kanopy._progress import SILENT, Callback, Clock, Progress
from kanopy.release.opinion import about_order, background_of, second_opinion, whose_rows, without_values
from kanopy.release.people_linked import link_of, untied, with_traces
from kanopy.release.prepare import Generalizable, Prepared, Substitutable, make_problem, prepare, without_dependent
from kanopy.release.result import Result
from kanopy.release.solution_file import GIVEN_LEVELS, levels_given
from kanopy.release.writing import PublishedRows

if TYPE_CHECKING:
    import polars as pl

    from kanopy._arrays import Mask
    from kanopy._job.given import JobSource
    from kanopy.masking.job import MaskJob
    from kanopy.masking.result import Masked
    from kanopy.search.bound.bound import Bound
    from kanopy.search.solution import Solution


def anonymize(
    data: Any,
    job: JobSource,
    *,
    engine: str = "auto",
    output: str | os.PathLike[str] | None = None,
    overwrite: bool = False,
    progress: Callback | None = None,
    clock: Clock | None = None,
    source: str | None = None,
    population: Any = None,
    key: bytes | None = None,
    bound: bool | float | str = False,
) -> Result:
    """Find the release that keeps most information under the job, and prove that it satisfies it.

    `data` is a pandas, Polars, Arrow, DuckDB or Spark frame, a dictionary of columns, a list of records, a path or the
    address of a database; `job` is a `Job`, the path of a job file, or its content as a dictionary. `output` is where
    the release is written, a file or a table of a database (which may be replaced with `overwrite`), and `engine` what
    makes it: memory, stream (files larger than memory), database, spark, or whichever suits the table and the output.
    Raises `NoSolution` if nothing satisfies the job. `progress` is called with a `Step`; returning `False` stops it.
    `population` is the table that models such as k-map compare with (or the job names it); `key` is the secret with
    which identifiers are pseudonymized, where the job asks for that. `bound` also proves how far from the best possible
    the release is: no local recoding with these hierarchies loses less than `result.bound.value` (`60s`: in that time).

    >>> import kanopy
    >>> people = {"age": [31, 34, 38, 52, 57, 59], "sex": ["f", "f", "f", "m", "m", "m"], "ill": list("abcabc")}
    >>> job = kanopy.Job(quasi=["age", "sex"], k=3, hierarchies={"age": {"method": "widths", "widths": [10, 20]}})
    >>> kanopy.anonymize(people, job).data["age"]
    ['[30, 39]', '[30, 39]', '[30, 39]', '[50, 59]', '[50, 59]', '[50, 59]']
    """
    from kanopy.engine.spark import is_spark

    job = as_job(job)
    require_used(job, population=population, key=key)
    if bound and job.masks:
        raise JobError(
            f"{job.algorithm!r} substitutes answers by meaning: there is no loss of hierarchies to bound. Leave "
            "the bound out, or use an algorithm that generalizes, such as 'best'."
        )
    if job.pseudonymize:
        from kanopy._table.pseudonyms import check_key

        check_key(key)
    if output is not None or is_spark(data) or engine not in ("auto", "memory"):
        from kanopy.release.where import publish
        from kanopy.release.writing import Files

        return publish(
            data, job, Files(None if output is None else os.fspath(output)), engine=engine, overwrite=overwrite,
            key=key, population=population, bound=bound, source=source, progress=progress, clock=clock,
        )[0]  # fmt: skip
    if overwrite:
        raise JobError("overwrite is about a table that the release becomes. Name it (output=…), or leave it out.")
    clock, tell = clock or Clock(), Progress(progress)
    prepared = prepare(data, job, population=population, source=source, clock=clock, progress=tell)
    return run(prepared, prepared.job, key=key, bound=bound, clock=clock, progress=tell)


def mask(
    data: Any,
    job: MaskJob,
    *,
    progress: Callback | None = None,
    clock: Clock | None = None,
    source: str | None = None,
    key: bytes | None = None,
) -> Result:
    """Substitute rare answers by answers of similar meaning until every published combination is shared by `k` rows.

    `data` is a pandas, Polars, Arrow or DuckDB frame, a dictionary of columns, a list of records, or a path.
    Martínez 2010; see `MaskJob` for the choices.

    >>> from kanopy import MaskJob
    >>> answers = {"reason": ["beach", "beach", "beach", "baech", "seaside", "heron", "stork", "egret"]}
    >>> mask(answers, MaskJob(text=["reason"], k=3)).data["reason"]
    ['beach', 'beach', 'beach', 'beach', 'beach', 'wading bird', 'wading bird', 'wading bird']
    """
    return anonymize(data, job, progress=progress, clock=clock, source=source, key=key)


def run(
    prepared: Prepared,
    job: Job | MaskJob,
    *,
    found: Solution | Masked | None = None,
    key: bytes | None = None,
    bound: bool | float | str = False,
    clock: Clock | None = None,
    progress: Progress = SILENT,
    true_labels: set[tuple[str, int]] | None = None,
) -> Result:
    """A release of a prepared table, verified on what would be published.

    `found` is what a search found before, where several releases share one. `true_labels` are columns and levels whose
    labels were read before: for releases that only are compared, and share levels.

    >>> job = Job(quasi=["age"], k=2, hierarchies={"age": {"method": "widths", "widths": [10]}})
    >>> run(prepare({"age": [31, 34, 52, 55]}, job), job).smallest_class
    2
    """
    clock = clock or Clock()
    if found is None:
        with clock.stage("search"):
            found = search(prepared, job, progress)
    proved: Bound | None = None
    why_not: tuple[str, ...] = ()
    if bound:
        with clock.stage("bound"):
            proved, why_not = _bound(prepared, job, found, bound, progress)
    from kanopy._table.column import emptied
    from kanopy.masking.result import Masked

    with clock.stage("apply"):
        progress("applying")
        published, kept = apply_found(prepared, job, found)
        prepared, job, published, dependent = without_dependent(prepared, job, published, kept)
        empty, told = without_values(prepared, job, found)
        for name in empty:
            assert not isinstance(found, Masked), "maskings suppress nothing"
            published = published.with_columns(emptied(published[name], found.recoding.group_of_row < 0))
        if job.pseudonymize:
            from kanopy._table.pseudonyms import with_pseudonyms

            published = with_pseudonyms(published, prepared.frame, job.pseudonymize, key, kept)
        link = link_of(prepared, job)
        published = untied(prepared, job, found, published, link)
    with clock.stage("verify"):
        progress("verifying")
        background = background_of(prepared, job, found)
        verification, remarks = second_opinion(prepared, job, found, published, background, kept, true_labels)
        verification, about_link = with_traces(verification, prepared, job, found, published, kept, link)
    result = Result(
        records=PublishedRows(published, kept, prepared.lists),
        job=job,
        found=found,
        verification=verification,
        notes=(
            *prepared.all_notes,
            *dependent,
            *found.notes,
            *why_not,
            *remarks,
            *told,
            *about_link,
            *about_order(prepared, job, kept),
        ),
        about_suppressed=told,
        clock=clock,
        bound=proved,
        prepared=prepared,
        private_notes=remarks,
        published_population=None if background is None else background.population,
    )
    if prepared.lists is not None and isinstance(job, Job):
        from kanopy.verify.people import require_lists

        with clock.stage("verify"):
            whose = whose_rows(prepared, job, kept)
            require_lists(result.frame, prepared.names, prepared.lists.column, prepared.lists.separator, whose, job.k)
    return result


def search(prepared: Prepared, job: Job | MaskJob, progress: Progress = SILENT) -> Solution | Masked:
    """What the job's algorithm finds: a recoding, or substitutions."""
    if isinstance(job, Job):
        from kanopy.search.algorithms import make_algorithm

        progress("searching")
        found = make_algorithm(job.algorithm, **job.parameters).solve(make_problem(prepared.domain, job), progress)
        if found.levels is None or not levels_given(job):
            return found
        # One candidate is the best of one: that proves nothing of the levels.
        return replace(found, algorithm=GIVEN_LEVELS, optimal=False, floor=None, judged=0, candidates=0)
    from kanopy import _compiler as compiler
    from kanopy.masking.algorithms.fusion_kernel import fuse
    from kanopy.masking.likeness_kernel import linkage

    assert isinstance(prepared.table, Substitutable)
    compiler.prepare((fuse, linkage), progress)
    progress("masking")
    return job.make().mask(prepared.table.guide, job.k, job.diversity, progress)


def _bound(
    prepared: Prepared, job: Job | MaskJob, found: Solution | Masked, budget: bool | float | str, progress: Progress
) -> tuple[Bound | None, tuple[str, ...]]:
    """A lower bound on the loss of any release with these hierarchies, or why there is none."""
    from kanopy._kinds import as_seconds
    from kanopy.search.bound.bound import lower_bound
    from kanopy.search.solution import Solution

    assert isinstance(job, Job) and isinstance(found, Solution), "maskings are refused a bound before they start"
    for name, nodes in zip(prepared.domain.names, found.recoding.nodes, strict=False):
        if (nodes < 0).any():
            return None, (f"No bound: it is about nodes of hierarchies, and {name} was published without its own.",)
    seconds = None if budget is True else as_seconds(budget, "time for the bound")
    problem, threads = make_problem(prepared.domain, job.replaced(metric="loss")), job.parameters.get("threads")
    return lower_bound(problem, budget_seconds=seconds, threads=threads, progress=progress), ()


def apply_found(prepared: Prepared, job: Job | MaskJob, found: Solution | Masked) -> tuple[pl.DataFrame, Mask | None]:
    """The published frame, and which rows are in it (`None`: all)."""
    from kanopy.engine.local import LocalEngine
    from kanopy.masking.result import Masked

    table, dropped = prepared.table, prepared.at_home
    if isinstance(found, Masked):
        assert isinstance(table, Substitutable)
        codes = found.codes_of_rows(table.guide)
        substituted = [column.publish(np.ascontiguousarray(codes[:, j])) for j, column in enumerate(table.columns)]
        return prepared.visible.with_columns(substituted), None
    assert isinstance(table, Generalizable) and isinstance(job, Job)
    drop_rows = job.suppressed_rows == "drop"
    if drop_rows and not (found.recoding.group_of_row >= 0).any():
        keep = Hint("keep suppressed rows, with * in them", suppressed_rows="keep")
        raise NoSolution(
            "Every row would be suppressed and left out: nothing is left to publish.",
            advice=["choose a smaller k", keep, "allow fewer rows to be suppressed"],
        )
    return LocalEngine().apply(prepared.values, table.counted, found.recoding, dropped=dropped, drop_rows=drop_rows)
