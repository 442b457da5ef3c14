"""The one way to a release: prepare, search, apply, verify, write. All that publishes goes through `make_release`.

Engines differ in `Steps` only: how they read and count a table, how they apply a solution to it and write the result,
and how they count again what was written. `MemorySteps` is that of tables in memory; `release.out_of_core` that of
engines whose distinct rows come here, and `release.pushdown.steps` that of tables whose distinct rows stay where they
are. `anonymize` and `mask` begin here.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from kanopy._errors import Hint, NoSolution
from kanopy._job.coercion import as_job
from kanopy._job.job import Job
from kanopy._lazy import public
from kanopy._progress import SILENT, Callback, Clock, Progress
from kanopy._table.column import used_categories
from kanopy._usage import checked
from kanopy.release.links.traces import link_of, untied, with_traces
from kanopy.release.prepare import Generalizable, Prepared, Substitutable, make_problem
from kanopy.release.result import Result
from kanopy.release.solution_file import GIVEN_LEVELS, levels_given
from kanopy.release.treated.treated_result import TreatedResult
from kanopy.release.treated.treating import look_first, nothing_generalized, treat
from kanopy.release.verification import Applied, Verified, about_order, second_opinion
from kanopy.release.withholding import withhold_values, without_dependent
from kanopy.release.writing import Files, Finish, PublishedRows

if TYPE_CHECKING:
    import polars as pl

    from kanopy._arrays import Mask
    from kanopy._job.coercion import JobSource
    from kanopy.masking.job import MaskJob
    from kanopy.masking.masking_result import Masked
    from kanopy.release.treated.pieces import Pieces
    from kanopy.search.bound.bound import Bound
    from kanopy.search.solution import Solution


class Steps:
    """What engines do differently in a run; `make_release` is the order in which they do it."""

    result: type[Result] = Result

    def __init__(self, job: Job | MaskJob | None, clock: Clock | None = None, notify: Progress = SILENT) -> None:
        self.job, self.clock, self.notify = job, clock or Clock(), notify

    target: str | None = None
    """Where an engine leaves the release, other than in memory."""
    remote: Any = None
    """The release as a frame of the engine once it is there, where the engine has frames."""

    def prepare(self) -> Prepared:
        """Read or count the table, and encode it."""
        raise NotImplementedError

    def search(self, prepared: Prepared) -> Any:
        """Run the job's algorithm on the distinct rows or the answers of the table."""
        return search(prepared, self.job or prepared.job, self.notify)

    def apply(self, prepared: Prepared, solution: Any) -> Applied:
        """Apply the solution, and withhold the columns and values that would disclose too much."""
        raise NotImplementedError

    def write(self, applied: Applied) -> AbstractContextManager[Any]:
        """Stage the release where it goes, and count on it what was staged; publish it when the block ends well."""
        raise NotImplementedError

    def verify(self, applied: Applied, staged: Any) -> Verified:
        """Check what is about to be published by independent code; raise if it is not what the job promises."""
        raise NotImplementedError

    def about_order(self, applied: Applied) -> tuple[str, ...]:
        """What the order of the rows discloses, where the job keeps it."""
        raise NotImplementedError


def make_release(
    steps: Steps,
    *,
    solution: Solution | Masked | None = None,
    bound: bool | float | str = False,
    finish: Finish | None = None,
) -> Result:
    """Prepare, search, apply, verify, write: the order of every run, whatever engine takes the steps.

    `solution` is what a search found before, where several releases share one. `bound` also proves how far from the
    best possible the release is. `finish` is given the verified result before the release is published: if that fails,
    nothing is.
    """
    clock, notify = steps.clock, steps.notify
    prepared = steps.prepare()
    given_solution = solution
    if given_solution is None:
        with clock.stage("search"):
            given_solution = steps.search(prepared)
    proved, about_bound = None, tuple[str, ...]()
    if bound:
        with clock.stage("bound"):
            proved, about_bound = _bound(prepared, given_solution, bound, notify)
    with clock.stage("apply"):
        notify("applying")
        applied = steps.apply(prepared, given_solution)
    with _timed(steps.write(applied), clock) as staged:
        with clock.stage("verify"):
            notify("verifying")
            verified = steps.verify(applied, staged)
        kind = steps.result if applied.prepared.names or applied.treated is None else TreatedResult
        result = kind(
            records=verified.records,
            job=applied.job,
            found=verified.solution,
            verification=verified.verification,
            notes=(
                *applied.prepared.all_notes,
                *applied.about_columns,
                *verified.solution.notes,
                *about_bound,
                *verified.remarks,
                *applied.about_suppressed,
                *(() if applied.treated is None else applied.treated.notes),
                *steps.about_order(applied),
            ),
            _about_suppressed=applied.about_suppressed,
            clock=clock,
            bound=proved,
            prepared=applied.prepared,
            _private_notes=verified.remarks,
            _published_population=verified.population,
            output=steps.target,
            treated=(
                None
                if applied.treated is None
                else replace(applied.treated, checks=verified.treated or applied.treated.checks)
            ),
        )
        if finish is not None:
            finish(result)
    return result if steps.remote is None else replace(result, _remote=steps.remote)


@contextmanager
def _timed(writing: AbstractContextManager[Any], clock: Clock) -> Iterator[Any]:
    """What a context manager does at its begin and end, as time of the stage `write`."""
    with clock.stage("write"):
        staged = writing.__enter__()
    try:
        yield staged
    except BaseException as error:
        if not writing.__exit__(type(error), error, error.__traceback__):
            raise
    else:
        with clock.stage("write"):
            writing.__exit__(None, None, None)


class MemorySteps(Steps):
    """The steps of a run on a table in memory, whose rows are published as a frame.

    `read` makes the prepared table; `job` takes the place of the one for which it was prepared. `stage` writes the
    published rows aside, where they go to a file. `true_labels` are columns and levels whose labels were verified
    before: for releases that only are compared, and share levels.
    """

    def __init__(
        self,
        read: Callable[[], Prepared],
        job: Job | MaskJob | None = None,
        *,
        key: bytes | None = None,
        stage: Callable[[pl.DataFrame], object] | None = None,
        true_labels: set[tuple[str, int]] | None = None,
        clock: Clock | None = None,
        notify: Progress = SILENT,
    ) -> None:
        super().__init__(job, clock, notify)
        self._read, self._key, self._stage, self._true_labels = read, key, stage, true_labels
        self._about_link: tuple[str, ...] = ()
        self._looked: Pieces | None = None

    def prepare(self) -> Prepared:
        prepared = self._read()
        self._looked = look_first(prepared, self.job or prepared.job, self._key)
        return prepared

    def search(self, prepared: Prepared) -> Solution | Masked:
        return drawn_within_margin(prepared, self.job or prepared.job, super().search(prepared), self._key, self.notify)

    def apply(self, prepared: Prepared, solution: Solution | Masked) -> Applied:
        job = self.job or prepared.job
        published, is_published = apply_solution(prepared, job, solution)
        prepared, job, published, about_columns = without_dependent(prepared, job, published, is_published)
        published, _, about_suppressed = withhold_values(prepared, job, solution, published)
        if job.pseudonymize:
            from kanopy._table.pseudonyms import with_pseudonyms

            published = with_pseudonyms(published, prepared.frame, job.pseudonymize, self._key, is_published)
        published, treated = treat(prepared, job, published, is_published, self._looked)
        before, published = published, untied(prepared, job, solution, published, link_of(prepared, job))
        treated = None if treated is None else treated.withheld_since(before, published)
        published = used_categories(published)
        return Applied(prepared, job, solution, published, is_published, about_columns, about_suppressed, treated)

    @contextmanager
    def write(self, applied: Applied) -> Iterator[PublishedRows]:
        assert applied.published is not None
        rows = PublishedRows(applied.published, applied.kept, applied.prepared.lists)
        if self._stage is not None:
            self.notify("writing")
            self._stage(rows.in_order(shuffled=applied.job.shuffle is not False)[0])
        yield rows

    def verify(self, applied: Applied, staged: PublishedRows) -> Verified:
        prepared, job = applied.prepared, applied.job
        verified, self._about_link = with_traces(second_opinion(applied, staged, self._true_labels), applied)
        if (lists := prepared.lists) is not None and isinstance(job, Job):
            from kanopy.release.verification import unit_columns
            from kanopy.verify.people import require_lists

            frame, units = staged.in_order(shuffled=bool(job.shuffle))[0], unit_columns(prepared, job, applied.kept)
            require_lists(frame, prepared.names, lists.column, lists.separator, units, job.k)
        return verified

    def about_order(self, applied: Applied) -> tuple[str, ...]:
        return (*self._about_link, *about_order(applied.prepared, applied.job, applied.kept))


@public("kanopy")
@checked
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
    from kanopy.release.engine_choice import publish

    return publish(
        data, as_job(job), Files(None if output is None else os.fspath(output)), engine=engine, overwrite=overwrite,
        key=key, population=population, bound=bound, source=source, progress=progress, clock=clock,
    )[0]  # fmt: skip


@public("kanopy")
@checked
def mask(
    data: Any,
    job: MaskJob,
    *,
    engine: str = "auto",
    output: str | os.PathLike[str] | None = None,
    overwrite: bool = False,
    progress: Callback | None = None,
    clock: Clock | None = None,
    source: str | None = None,
    key: bytes | None = None,
) -> Result:
    """Substitute rare answers by answers of similar meaning until every published combination is shared by `k` rows.

    `data` is a pandas, Polars, Arrow or DuckDB frame, a dictionary of columns, a list of records, or a path.
    Martínez 2010; see `MaskJob` for the choices. The other arguments are those of `anonymize`; all answers are
    compared with all others, which is done in memory.

    >>> from kanopy import MaskJob
    >>> answers = {"reason": ["beach", "beach", "beach", "baech", "seaside", "heron", "stork", "egret"]}
    >>> mask(answers, MaskJob(text=["reason"], k=3)).data["reason"]
    ['beach', 'beach', 'beach', 'beach', 'beach', 'wading bird', 'wading bird', 'wading bird']
    """
    return anonymize(
        data, job, engine=engine, output=output, overwrite=overwrite, progress=progress, clock=clock, source=source,
        key=key,
    )  # fmt: skip


def run(
    prepared: Prepared,
    job: Job | MaskJob,
    *,
    found: Solution | Masked | None = None,
    true_labels: set[tuple[str, int]] | None = None,
) -> Result:
    """A release of a prepared table, verified on what would be published: `make_release` without reading or writing.

    >>> from kanopy.release.prepare import prepare
    >>> job = Job(quasi=["age"], k=2, hierarchies={"age": {"method": "widths", "widths": [10]}})
    >>> run(prepare({"age": [31, 34, 52, 55]}, job), job).smallest_class
    2
    """
    return make_release(MemorySteps(lambda: prepared, job, true_labels=true_labels), solution=found)


def search(prepared: Prepared, job: Job | MaskJob, progress: Progress = SILENT) -> Solution | Masked:
    """What the job's algorithm finds: a recoding, or substitutions."""
    if isinstance(job, Job):
        from kanopy.search.algorithms import make_algorithm

        if not prepared.names:
            return nothing_generalized(prepared.domain)
        progress("searching")
        solution = make_algorithm(job.algorithm, **job.parameters).solve(make_problem(prepared.domain, job), progress)
        if solution.levels is None or not levels_given(job):
            return solution
        # One candidate is the best of one: that proves nothing of the levels.
        return replace(solution, algorithm=GIVEN_LEVELS, optimal=False, floor=None, judged=0, candidates=0)
    from kanopy import _compiler as compiler
    from kanopy.masking.algorithms.fusion_kernel import fuse
    from kanopy.masking.likeness_kernel import linkage

    assert isinstance(prepared.table, Substitutable)
    compiler.prepare((fuse, linkage), progress)
    progress("masking")
    return job.make().mask(prepared.table.guide, job.k, job.diversity, progress)


def drawn_within_margin(
    prepared: Prepared, job: Job | MaskJob, solution: Solution | Masked, key: bytes | None, progress: Progress = SILENT
) -> Solution | Masked:
    """What is published instead of the least loss, where the job has a margin: drawn by the key, or by chance."""
    from kanopy.masking.masking_result import Masked
    from kanopy.search.margin.within import secret_generator, within_margin

    if not isinstance(job, Job) or not job.margin or isinstance(solution, Masked):
        return solution
    problem, random = make_problem(prepared.domain, job), secret_generator(key)
    return within_margin(problem, solution, job.margin, random, kind=job.recoding, progress=progress)


def _bound(
    prepared: Prepared, solution: Solution | Masked, budget: bool | float | str, notify: Progress
) -> tuple[Bound | None, tuple[str, ...]]:
    """A lower bound on the loss of any release with these hierarchies, or why there is none."""
    from kanopy._parameter_types import as_seconds
    from kanopy.search.bound.bound import lower_bound
    from kanopy.search.solution import Solution

    job = prepared.job
    assert isinstance(job, Job) and isinstance(solution, Solution), "maskings are refused a bound before they start"
    for name, nodes in zip(prepared.domain.names, solution.recoding.nodes, strict=False):
        if (nodes < 0).any():
            return None, (f"No bound: it needs hierarchies, and {name} was published without its hierarchy.",)
    seconds = None if budget is True else as_seconds(budget, "time for the bound")
    problem, threads = make_problem(prepared.domain, job.replaced(metric="loss")), job.parameters.get("threads")
    return lower_bound(problem, budget_seconds=seconds, threads=threads, progress=notify), ()


def apply_solution(
    prepared: Prepared, job: Job | MaskJob, solution: Solution | Masked
) -> tuple[pl.DataFrame, Mask | None]:
    """The published frame, and which rows are in it (`None`: all)."""
    from kanopy.engine.local import LocalEngine
    from kanopy.masking.masking_result import Masked

    table, withheld = prepared.table, prepared.unpublished
    if isinstance(solution, Masked):
        assert isinstance(table, Substitutable)
        codes = solution.codes_of_rows(table.guide)
        substituted = [column.publish(np.ascontiguousarray(codes[:, j])) for j, column in enumerate(table.columns)]
        return prepared.visible.with_columns(substituted), None
    assert isinstance(table, Generalizable) and isinstance(job, Job)
    drop_rows = job.suppressed_rows == "drop"
    if drop_rows:
        require_rows(int((solution.recoding.group_of_row >= 0).sum()))
    return LocalEngine().apply(prepared.values, table.counted, solution.recoding, dropped=withheld, drop_rows=drop_rows)


def require_rows(published: int) -> None:
    """Refuse a release without rows."""
    if not published:
        keep = Hint("keep suppressed rows, with * in them", suppressed_rows="keep")
        raise NoSolution(
            "Every row would be suppressed and dropped: nothing is left to publish.",
            advice=["choose a smaller k", keep, "allow fewer rows to be suppressed"],
        )
