"""The whole way of the data on one page: read, encode, search, apply, verify, report.

This is the only file that sees both the engine and the search.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kanopy.classes import Classes, Domain
from kanopy.errors import DataError, JobError, near_miss, some
from kanopy.hierarchy.hierarchy import Hierarchy
from kanopy.progress import Callback, Progress
from kanopy.spec import HierarchySource, Job

if TYPE_CHECKING:
    import polars as pl

    from kanopy.report.report import Report
    from kanopy.search.solution import Solution
    from kanopy.table.frames import Restore
    from kanopy.verify import Verification


PREVIEW_ROWS = 12
MOST_LEVELS = 8


class Clock:
    """Seconds per stage of the work."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = dict.fromkeys(("read", "encode", "search", "apply", "verify", "write"), 0.0)
        self._started = time.perf_counter()

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Add the time of the block to a stage."""
        begun = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[name] += time.perf_counter() - begun

    def total(self) -> dict[str, float]:
        """All stages, and the time since the clock was made."""
        return {**self.seconds, "total": time.perf_counter() - self._started}


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
    _before: Any = None
    _facts: dict[str, Any] = field(default_factory=dict)

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
        from kanopy import __version__
        from kanopy.privacy.models import KAnonymity
        from kanopy.report.report import Facts, Preview, build_report

        job, domain = self.job, self.domain
        return build_report(
            Facts(
                domain=domain,
                solution=self.solution,
                models=(KAnonymity(job.k),),
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
                before=Preview(tuple(self._before.columns), _as_text(self._before)),
                after=Preview(tuple(self.frame.columns), _as_text(self.frame.head(PREVIEW_ROWS)), self._numbers()),
                classes_before=Classes(domain.counts, suppressed_rows=domain.excluded_rows),
                verification={"verified": True, **self.verification.to_dict()},
                seconds=self.clock.total(),
                source=self._facts["source"],
                job_toml=job.to_toml(),
                version=__version__,
                notes=self.notes,
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
            "k": self.job.k,
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
            "verified": True,
            "notes": list(self.notes),
            "seconds": self.clock.total(),
        }

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
) -> Result:
    """Find the release that keeps most information under the job, and prove that it satisfies it.

    `data` is a pandas, Polars, Arrow or DuckDB frame, a dictionary of columns, a list of records, or a path. Raises
    `NoSolution` if nothing satisfies the job. `progress` is called with a `Step`; returning `False` stops cleanly.

    >>> import kanopy
    >>> people = {"age": [31, 34, 38, 52, 57, 59], "sex": ["f", "f", "f", "m", "m", "m"], "ill": list("abcabc")}
    >>> job = kanopy.Job(quasi=["age", "sex"], k=3, hierarchies={"age": {"method": "widths", "widths": [10, 20]}})
    >>> kanopy.anonymize(people, job).data["age"]
    ['[30, 39]', '[30, 39]', '[30, 39]', '[50, 59]', '[50, 59]', '[50, 59]']
    """
    from kanopy.engine.local import LocalEngine
    from kanopy.table.frames import index_names, to_polars

    clock = clock or Clock()
    tell = Progress(progress)
    with clock.stage("read"):
        tell("reading")
        frame, restore = to_polars(data)
    roles, notes = assign_roles(frame, job)
    notes = (*notes, *_about_index(index_names(data), job))
    if not job.quasi:
        raise JobError("The job names no quasi-identifier. Name the columns that others may know (quasi=…).")
    if job.k > frame.height:
        raise JobError(f"k is {job.k:,} but the table has only {frame.height:,} rows. Choose a smaller k.")
    engine = LocalEngine()
    with clock.stage("encode"):
        tell("encoding" if is_prepared() else "preparing compiled code (only the first time)")
        hierarchies = resolve_hierarchies(frame, job)
        counted = engine.count(
            frame,
            hierarchies,
            sensitive=job.sensitive,
            missing=job.missing,
            unknown=job.unknown,
            missing_tokens=job.missing_tokens,
        )
    domain = counted.domain
    if not len(domain.counts):
        raise DataError("Every row has a missing or unknown value and would be suppressed: nothing is left to publish.")
    with clock.stage("search"):
        tell("searching")
        solution = _solve(domain, job, tell)
    with clock.stage("apply"):
        tell("applying")
        dropped = [name for name, role in roles.items() if role == "identifier"]
        drop_rows = job.suppressed_rows == "drop"
        published, kept = engine.apply(frame, counted, solution.recoding, dropped=dropped, drop_rows=drop_rows)
    with clock.stage("verify"):
        tell("verifying")
        verification = _verify(published, domain, solution, job, dropped, drop_rows)
    losses, column_losses = _losses(domain, solution, job)
    facts = {
        "roles": roles,
        "missing_rows": {c.name: int(c.missing_rows.sum()) for c in counted.columns if c.missing_rows is not None},
        "unknown_rows": {c.name: int(c.unknown_rows.sum()) for c in counted.columns if c.unknown_rows is not None},
        "source": source or _name_of(data),
    }
    notes = (*notes, *solution.notes)
    visible = frame.select([name for name in frame.columns if name not in dropped])
    before = visible.head(PREVIEW_ROWS)
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
        _before=before,
        _facts=facts,
    )


def _name_of(data: Any) -> str:
    """What the report calls a table: its path, or the library it came from."""
    return str(data) if isinstance(data, (str, Path)) else f"a {type(data).__module__.split('.')[0]} table"


def _as_text(frame: pl.DataFrame) -> tuple[tuple[str | None, ...], ...]:
    return tuple(tuple(None if value is None else str(value) for value in row) for row in frame.iter_rows())


def assign_roles(frame: pl.DataFrame, job: Job) -> tuple[dict[str, str], tuple[str, ...]]:
    """The role of every column. Unnamed columns are published as they are, unless their name says whose row it is."""
    from kanopy.table.roles import identifying_name

    columns = frame.columns
    named = [*job.quasi, *job.sensitive, *job.identifiers, *job.insensitive]
    absent = [name for name in named if name not in columns]
    if absent:
        hint = near_miss(absent[0], columns)
        raise DataError(f"The table has no column {some(absent)}. {hint}")
    roles: dict[str, str] = {}
    notes = []
    for name in columns:
        role = job.role_of(name)
        if role is None:
            meaning = identifying_name(name)
            role = "insensitive"
            if meaning is not None:
                role = "identifier"
                notes.append(
                    f"The column {name!r} was left out: its name speaks of {meaning}. "
                    "Name it insensitive in the job to publish it all the same."
                )
        roles[name] = role
    unused = [name for name in job.hierarchies if name not in columns]
    if unused:
        notes.append(f"No column has the name of these hierarchies: {some(unused)}. {near_miss(unused[0], columns)}")
    return roles, tuple(notes)


def _about_index(names: Sequence[str | None], job: Job) -> tuple[str, ...]:
    """A table's index goes out as it came in: refuse one that says who a row is about, mention any other."""
    from kanopy.table.roles import identifying_name

    for name in names:
        meaning = None if name is None else identifying_name(name)
        if meaning is not None or name in job.identifiers:
            raise DataError(
                f"The index {name!r} of the table would be published, and it speaks of {meaning or 'an identifier'}. "
                "Make it a column with reset_index(), or leave it out with reset_index(drop=True)."
            )
    if not names:
        return ()
    return ("The index of the table is published as it is; reset_index(drop=True) leaves it out.",)


def resolve_hierarchies(frame: pl.DataFrame, job: Job) -> dict[str, Hierarchy]:
    """A hierarchy per quasi-identifier: given, read from its file, or built from the column."""
    return {
        name: resolve_hierarchy(name, job.hierarchies.get(name), frame[name], job.missing_tokens, job.k)
        for name in job.quasi
    }


def resolve_hierarchy(
    name: str, source: HierarchySource | None, column: pl.Series, missing_tokens: Sequence[str] = (), k: int = 5
) -> Hierarchy:
    """One hierarchy from whatever the job gives for it; nothing given means the best that fits the column."""
    from kanopy.hierarchy.builders import build_hierarchy
    from kanopy.hierarchy.files import read_hierarchy
    from kanopy.table.encode import distinct_values

    if isinstance(source, Hierarchy):
        return source.renamed(name) if source.name != name else source
    if isinstance(source, (str, Path)):
        return read_hierarchy(source, column=name)
    values = distinct_values(column, missing_tokens=missing_tokens)
    if not values.labels:
        return Hierarchy.flat(["(missing)"], name=name)
    if source is None:
        parameters: dict[str, Any] = {"method": "auto"}
    elif isinstance(source, Mapping):
        parameters = dict(source)
        if "method" not in parameters:
            raise JobError(f'The hierarchy of {name!r} names no method, e.g. hierarchy = {{ method = "iotf" }}.')
    else:
        return source.build(values.labels, values.counts, name=name).rooted()
    if parameters["method"] == "auto":
        # Groups larger than the column has values cannot be compared; missing ones are no part of a hierarchy.
        parameters.setdefault("k", min(k, int(values.counts.sum())))
    return build_hierarchy(values.labels, counts=values.counts, name=name, **parameters).rooted()


def is_prepared() -> bool:
    """Whether the kernels of a full-domain search are compiled already; if not, the first run takes some seconds."""
    from kanopy.kernels import compiler
    from kanopy.kernels.counting import judge
    from kanopy.kernels.distinct import number_keys, pack
    from kanopy.kernels.projection import small_cell_rows

    return compiler.is_prepared((number_keys, pack, small_cell_rows, judge))


def _solve(domain: Domain, job: Job, progress: Progress) -> Solution:
    from kanopy.metrics.full_domain import metric_named
    from kanopy.privacy.models import KAnonymity
    from kanopy.search.algorithms import make_algorithm
    from kanopy.search.problem import Problem

    problem = Problem(
        domain,
        [KAnonymity(job.k)],
        metric_named(job.metric),
        weights=[job.weights.get(name, 1.0) for name in domain.names],
        suppression_limit=job.suppress,
        lowest_levels=[job.min_levels.get(name, 0) for name in domain.names],
        highest_levels=[
            job.max_levels.get(name, h.height) for name, h in zip(domain.names, domain.hierarchies, strict=True)
        ],
    )
    return make_algorithm(job.algorithm, **job.parameters).solve(problem, progress)


def _verify(
    published: pl.DataFrame,
    domain: Domain,
    solution: Solution,
    job: Job,
    identifiers: Sequence[str],
    drop_rows: bool,
) -> Verification:
    from kanopy.privacy.models import KAnonymity
    from kanopy.verify import verify

    recoding = solution.recoding
    suppressed = recoding.suppressed_rows
    return verify(
        published,
        domain.names,
        [KAnonymity(job.k)],
        identifiers=identifiers,
        rows=domain.rows - (suppressed if drop_rows else 0),
        suppressed_rows=0 if drop_rows else suppressed,
        classes=recoding.classes.count,
    )


def _losses(domain: Domain, solution: Solution, job: Job) -> tuple[dict[str, float], dict[str, float]]:
    from kanopy.local_recoding import with_extents
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
