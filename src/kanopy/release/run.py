"""The whole way of the data on one page: read, encode, search, apply, verify, report.

This is the only file that sees both the engine and the search.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kanopy._core.classes import Classes, Domain
from kanopy._errors import JobError
from kanopy._job.inputs import about_index, assign_roles, count_table, make_problem
from kanopy._job.job import Job
from kanopy._progress import Callback, Clock, Progress
from kanopy.hierarchy.hierarchy import Hierarchy

if TYPE_CHECKING:
    import polars as pl

    from kanopy._table.encode import EncodedColumn
    from kanopy._table.frames import Restore
    from kanopy.engine.local import Counted
    from kanopy.report.report import Report
    from kanopy.search.bound.bound import Bound
    from kanopy.search.solution import Solution
    from kanopy.verify.regroup import Background
    from kanopy.verify.verify import Verification


PREVIEW_ROWS = 12


@dataclass(frozen=True, eq=False)
class Result:
    """A verified release.

    `data` is the published table, of the same kind as the table that came in; `report` holds numbers and pages;
    `solution` says how the release was found.
    """

    frame: pl.DataFrame
    solution: Solution
    domain: Domain
    job: Job
    verification: Verification
    losses: dict[str, float]
    column_losses: dict[str, float]
    notes: tuple[str, ...]
    clock: Clock
    _restore: Restore
    _kept: Any = None
    _original: Any = None
    _facts: dict[str, Any] = field(default_factory=dict)
    _columns: tuple[EncodedColumn, ...] = ()
    _hierarchies: Mapping[str, Hierarchy] = field(default_factory=dict)
    bound: Bound | None = None
    """A proved lower bound on the loss of any local recoding, where one was asked for."""

    @property
    def data(self) -> Any:
        """The published table, of the kind that came in (pandas, Polars, Arrow, DuckDB, …)."""
        return self._restore(self.frame, self._kept)

    @property
    def levels(self) -> dict[str, int] | None:
        """The level of each quasi-identifier, for full-domain releases."""
        levels = self.solution.levels
        return None if levels is None else dict(zip(self.domain.names, levels, strict=True))

    @property
    def report(self) -> Report:
        """Numbers, pictures and the script that reproduces the run."""
        return self.full_report()

    def full_report(
        self,
        *,
        files: Mapping[str, tuple[str, Path]] | None = None,
        population_size: int | None = None,
        sampling_fraction: float | None = None,
        target: str | None = None,
    ) -> Report:
        """The report, told more: how large the population is, a column whose prediction is tried before and after,
        and the files whose checksums its manifest records."""
        from kanopy import __version__
        from kanopy.release.handover import looked_at, manifest_json
        from kanopy.report.report import Facts, Preview, build_report

        job, domain = self.job, self.domain
        before = self._original.head(PREVIEW_ROWS)
        return build_report(
            Facts(
                domain=domain,
                solution=self.solution,
                models=job.all_models,
                metric=job.metric,
                weights=tuple(job.weights.get(name, 1.0) for name in domain.names),
                suppression_limit=job.suppress,
                losses=self.losses,
                column_losses=self.column_losses,
                roles=self._facts["roles"],
                missing_policy=job.missing,
                missing_rows=self._facts["missing_rows"],
                unknown_policy=job.unknown,
                unknown_rows=self._facts["unknown_rows"],
                before=Preview(tuple(before.columns), _as_text(before)),
                after=Preview(tuple(self.frame.columns), _as_text(self.frame.head(PREVIEW_ROWS)), self._numbers()),
                classes_before=Classes(domain.counts, suppressed_rows=domain.excluded_rows),
                verification={"verified": True, **self.verification.to_dict()},
                seconds=self.clock.total(),
                source=self._facts["source"],
                job_toml=job.explicit().to_toml(),
                version=__version__,
                notes=self.notes,
                look=looked_at(
                    self, population_size=population_size, sampling_fraction=sampling_fraction, target=target
                ),
                manifest=lambda: manifest_json(self, files),
                bound=self.bound,
            )
        )

    def _numbers(self) -> tuple[int, ...]:
        """Row numbers of the published preview in the original table, where rows were dropped."""
        if self._kept is None:
            return ()
        return tuple(int(row) for row in self._kept.nonzero()[0][:PREVIEW_ROWS])

    @property
    def score(self) -> float:
        """The job's metric of this release."""
        return self.losses.get(self.job.metric, self.solution.score)

    def summary(self) -> dict[str, Any]:
        """The numbers of the release as plain data: what `kanopy anonymize --json` prints."""
        solution, verification = self.solution, self.verification
        return {
            "algorithm": solution.algorithm,
            "optimal": solution.optimal,
            "k": int(self.job.k),
            "models": [model.to_dict() for model in self.job.models],
            "levels": self.levels,
            "metric": self.job.metric,
            "score": self.score,
            "losses": self.losses,
            "column_losses": self.column_losses,
            "rows": self.domain.rows,
            "suppressed": solution.recoding.suppressed_rows,
            "classes": verification.classes,
            "smallest_class": verification.smallest_class,
            "judged": solution.judged,
            "candidates": solution.candidates,
            **({} if self.bound is None else {"bound": self.bound.to_dict(self.losses["loss"])}),
            "verified": True,
            "notes": list(self.notes),
            "seconds": self.clock.total(),
        }

    def mapping(self) -> pl.DataFrame:
        """What became of every original value, per column and with counts. Holds original values: keep it inside."""
        from kanopy.release.handover import mapping_table

        return mapping_table(self)

    def manifest(self, files: Mapping[str, tuple[str, Path]] | None = None) -> str:
        """What was done and verified as JSON, without any value of the table; `files` are recorded by checksum."""
        from kanopy.release.handover import manifest_json

        return manifest_json(self, files)

    def solution_json(self) -> str:
        """The solution as JSON, to be applied to other rows with `kanopy apply`."""
        from kanopy.release.handover import solution_json

        return solution_json(self)

    def apply(self, rows: Any, *, progress: Callback | None = None, key: bytes | None = None) -> Result:
        """Publish other rows at the same levels, and verify that release like any other.

        A recoding promises nothing about rows it has not seen: classes of the new rows that break a model are
        suppressed, `NoSolution` is raised if that takes more rows than the job allows, and a value that the
        hierarchies do not know is an error.
        """
        from kanopy.release.handover import _levels, fixed_job

        return anonymize(rows, fixed_job(self.job, _levels(self), self._hierarchies), progress=progress, key=key)

    def __repr__(self) -> str:
        v = self.verification
        return (
            f"<Result: {self.domain.rows:,} rows, {v.classes:,} classes, smallest {v.smallest_class:,}, "
            f"{self.solution.recoding.suppressed_rows:,} suppressed, {self.job.metric} {self.score:.4f}>"
        )


def anonymize(
    data: Any,
    job: Job,
    *,
    progress: Callback | None = None,
    clock: Clock | None = None,
    source: str | None = None,
    population: Any = None,
    key: bytes | None = None,
    bound: bool | float | str = False,
) -> Result:
    """Find the release that keeps most information under the job, and prove that it satisfies it.

    `data` is a pandas, Polars, Arrow or DuckDB frame, a dictionary of columns, a list of records, or a path. Raises
    `NoSolution` if nothing satisfies the job. `progress` is called with a `Step`; returning `False` stops cleanly.
    `population` is the table that models such as k-map compare with (or the job names it); `key` is the secret with
    which identifiers are pseudonymized, where the job asks for that. `bound` also proves how far from the best possible
    the release is: no local recoding with these hierarchies loses less than `result.bound.value`; a time such as `60s`
    says how long that may take.
    Algorithms that mask by meaning (`fusion`, …) answer with a `kanopy.MaskResult`.

    >>> import kanopy
    >>> people = {"age": [31, 34, 38, 52, 57, 59], "sex": ["f", "f", "f", "m", "m", "m"], "ill": list("abcabc")}
    >>> job = kanopy.Job(quasi=["age", "sex"], k=3, hierarchies={"age": {"method": "widths", "widths": [10, 20]}})
    >>> kanopy.anonymize(people, job).data["age"]
    ['[30, 39]', '[30, 39]', '[30, 39]', '[50, 59]', '[50, 59]', '[50, 59]']
    """
    from kanopy._table.frames import index_names, to_polars
    from kanopy._table.pseudonyms import check_key, with_pseudonyms
    from kanopy.engine.local import LocalEngine
    from kanopy.masking.names import MASKING_NAMES

    if job.pseudonymize:
        check_key(key)
    if job.algorithm in MASKING_NAMES:
        from kanopy.release.masking_flow import mask_as_release

        if bound:
            raise JobError(
                f"{job.algorithm!r} substitutes answers by meaning: there is no loss of hierarchies to bound. Leave "
                "the bound out, or use an algorithm that generalizes, such as 'best'."
            )
        # A masking has no levels and no hierarchies to report; everything else of a result it has.
        masked: Any = mask_as_release(data, job, progress=progress, clock=clock, source=source)
        return masked  # type: ignore[no-any-return]
    clock = clock or Clock()
    tell = Progress(progress)
    with clock.stage("read"):
        tell("reading")
        frame, restore = to_polars(data)
    roles, notes = assign_roles(frame, job.roles, job.hierarchies)
    notes = (*notes, *about_index(index_names(data), job.identifiers))
    if not job.quasi:
        raise JobError("The job names no quasi-identifier. Name the columns that others may know (quasi=…).")
    if job.k > frame.height:
        raise JobError(f"k is {job.k:,} but the table has only {frame.height:,} rows. Choose a smaller k.")
    engine = LocalEngine()
    with clock.stage("encode"):
        tell("encoding" if is_prepared() else "preparing compiled code (only the first time)")
        counted, hierarchies, confidential = count_table(frame, job, population)
    domain = counted.domain
    with clock.stage("search"):
        tell("searching")
        solution = _solve(domain, job, tell)
    proved: Bound | None = None
    why_not: tuple[str, ...] = ()
    if bound:
        with clock.stage("bound"):
            proved, why_not = _bound(domain, job, solution, bound, tell)
    with clock.stage("apply"):
        tell("applying")
        dropped = [name for name, role in roles.items() if role == "identifier"]
        drop_rows = job.suppressed_rows == "drop"
        published, kept = engine.apply(frame, counted, solution.recoding, dropped=dropped, drop_rows=drop_rows)
        if job.pseudonymize:
            published = with_pseudonyms(published, frame, job.pseudonymize, key, kept)
    with clock.stage("verify"):
        tell("verifying")
        background = background_of(frame, counted, solution, job, confidential, kept)
        verification = verify_release(published, domain, solution, job, dropped, drop_rows, background)
    losses, column_losses = losses_of(domain, solution, job)
    facts = {
        "roles": roles,
        "missing_rows": {c.name: int(c.missing_rows.sum()) for c in counted.columns if c.missing_rows is not None},
        "unknown_rows": {c.name: int(c.unknown_rows.sum()) for c in counted.columns if c.unknown_rows is not None},
        "source": source or _name_of(data),
        "population": (
            population if population is not None else job.population,
            None if background is None else background.population,
        ),
    }
    notes = (*notes, *solution.notes, *why_not)
    visible = frame.select([name for name in frame.columns if name not in dropped])
    return Result(
        frame=published,
        solution=solution,
        domain=domain,
        job=job,
        verification=verification,
        losses=losses,
        column_losses=column_losses,
        notes=notes,
        clock=clock,
        _restore=restore,
        _kept=kept,
        _original=visible,
        _facts=facts,
        _columns=counted.columns,
        _hierarchies=hierarchies,
        bound=proved,
    )


def _name_of(data: Any) -> str:
    """What the report calls a table: its path, or the library it came from."""
    return str(data) if isinstance(data, (str, Path)) else f"a {type(data).__module__.split('.')[0]} table"


def _as_text(frame: pl.DataFrame) -> tuple[tuple[str | None, ...], ...]:
    return tuple(tuple(None if value is None else str(value) for value in row) for row in frame.iter_rows())


def is_prepared() -> bool:
    """Whether the kernels of a full-domain search are compiled already; if not, the first run takes some seconds."""
    from kanopy import _compiler as compiler
    from kanopy._core.distinct_kernel import number_keys, pack
    from kanopy.search.full_domain.counting_kernel import judge
    from kanopy.search.full_domain.projection_kernel import small_cell_rows

    return compiler.is_prepared((number_keys, pack, small_cell_rows, judge))


def _solve(domain: Domain, job: Job, progress: Progress) -> Solution:
    from kanopy.search.algorithms import make_algorithm

    return make_algorithm(job.algorithm, **job.parameters).solve(make_problem(domain, job), progress)


def _bound(
    domain: Domain, job: Job, solution: Solution, budget: bool | float | str, progress: Progress
) -> tuple[Bound | None, tuple[str, ...]]:
    """A lower bound on the loss of any release with these hierarchies, or why there is none."""
    from kanopy._kinds import as_seconds
    from kanopy.search.bound.bound import lower_bound

    for name, nodes in zip(domain.names, solution.recoding.nodes, strict=False):
        if (nodes < 0).any():
            return None, (f"No bound: it is about nodes of hierarchies, and {name} was published without its own.",)
    seconds = None if budget is True else as_seconds(budget, "time for the bound")
    return lower_bound(make_problem(domain, job.replaced(metric="loss")), budget_seconds=seconds, progress=progress), ()


def verify_release(
    published: pl.DataFrame,
    domain: Domain,
    solution: Solution,
    job: Job,
    identifiers: Sequence[str],
    drop_rows: bool,
    background: Background | None,
) -> Verification:
    """The second opinion on the labels that are about to be published; raises if it disagrees."""
    from kanopy.verify.verify import verify

    recoding = solution.recoding
    suppressed = recoding.suppressed_rows
    return verify(
        published,
        domain.names,
        job.all_models,
        identifiers=[name for name in identifiers if name not in job.pseudonymize],
        rows=domain.rows - (suppressed if drop_rows else 0),
        suppressed_rows=0 if drop_rows else suppressed,
        classes=recoding.classes.count,
        gone=None if drop_rows else recoding.group_of_row < 0,
        background=background,
    )


def background_of(
    frame: pl.DataFrame,
    counted: Counted,
    solution: Solution,
    job: Job,
    confidential: Mapping[str, Hierarchy],
    kept: Any,
) -> Background | None:
    """What the second opinion compares with; nothing where class sizes decide."""
    from kanopy.verify.regroup import Background

    if not job.models:
        return None
    needed = list(dict.fromkeys(name for model in job.models for name in model.sensitive))
    hidden = [name for model in job.models for name in model.hidden]
    unpublished = frame.select(hidden) if hidden else None
    gone = solution.recoding.group_of_row < 0
    if unpublished is not None and gone.any():
        import polars as pl

        unpublished = unpublished.filter(pl.Series(~gone))
    population = None
    if counted.population_columns:
        assert solution.levels is not None, "clusterings refuse models that compare with a population"
        population = counted.published_population(solution.levels)
    own = zip(counted.domain.names, counted.domain.hierarchies, strict=True)
    return Background(frame.select(needed), {**dict(own), **confidential}, unpublished, population)


def losses_of(domain: Domain, solution: Solution, job: Job) -> tuple[dict[str, float], dict[str, float]]:
    """Every loss that is defined for the release, and `loss` per column."""
    from kanopy._core.local_recoding import with_extents
    from kanopy.metrics.local_losses import LOCAL_LOSSES, local_losses
    from kanopy.metrics.release import column_losses, release_losses

    recoding = solution.recoding
    losses = release_losses(domain, recoding, [job.weights.get(name, 1.0) for name in domain.names])
    extended = with_extents(domain, recoding)
    if solution.levels is None:
        losses |= local_losses(domain, extended, job.k)
    else:
        # A full-domain release has no clusters of its own: only the measures of its classes apply.
        losses["height"] = float(sum(solution.levels))
        losses |= {name: LOCAL_LOSSES[name](domain, extended, job.k) for name in ("AVG_merged", "LM", "GCP")}
    return losses, column_losses(domain, recoding)
