"""Releases of a table that stays where it is: an engine counts its distinct rows, the search sees only these, the
engine writes the release and counts again what it wrote. Flow (`make_release`), search and second opinion are those of
tables in memory.

What decides about a row are its quasi-identifiers, the values that models look at, and the unit that it belongs to.
Rows that agree in these are one distinct row, with a multiplicity. Where a search puts equal rows into different
classes, a distinct row is divided into fragments.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from kanopy._core.units import ALL
from kanopy._errors import DataError, JobError, near_miss, shown_address, some, too_few_rows
from kanopy._job.inputs import about_people, target_of
from kanopy._job.job import Job
from kanopy._job.protection import changed_columns, renamed_identifiers
from kanopy._progress import SILENT, Callback, Clock, Progress
from kanopy._table.column import used_categories
from kanopy._table.guessing.structure import ROWS_FOR_KEYS
from kanopy.engine.distinct_rows import DistinctRows
from kanopy.engine.local import LocalEngine
from kanopy.engine.stream import Reader
from kanopy.release.links.published_links import published_link
from kanopy.release.prepare import Generalizable, Prepared, first_kernels, generalizable, read_part, roles_of, units_for
from kanopy.release.result import Result
from kanopy.release.run import Steps, apply_solution, make_release
from kanopy.release.treated.pieces import Pieces, require_in_memory, treated_in_pieces, whole_table, with_digests
from kanopy.release.treated.sampling import draw_from
from kanopy.release.verification import Applied, Verified, about_order_elsewhere, second_opinion
from kanopy.release.withholding import withhold_values, without_dependent_elsewhere

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import polars as pl

    from kanopy._arrays import Ints, Longs, Mask
    from kanopy._core.classes import Domain, Recoding
    from kanopy.engine.contract import Engine, RecodePlan
    from kanopy.release.writing import Finish
    from kanopy.search.solution import Solution


def why_in_memory(job: Any) -> str | None:
    """Why a job needs its table in memory, or `None`.

    >>> why_in_memory(Job(quasi=["age"], k=2)), why_in_memory(Job(quasi=["age"], k=2, separators={"age": ";"}))
    (None, 'only that engine splits lists')
    """
    if not isinstance(job, Job) or job.masks:
        return "a masking compares all answers"
    if (whole := whole_table(job)) is not None:
        return whole
    if job.separators:
        return "only that engine splits lists"
    if job.neutralize_formulas:
        return "only that engine neutralizes texts"
    if job.margin:
        return "only that engine draws a release within a margin"
    if job.places:
        return "only that engine joins two columns to a place"
    if untouched := [name for name in job.decimals if name not in job.quasi]:
        return f"only that engine reads the decimal signs of {some(untouched)}"
    return None


def require_unchanged(
    job: Job, what: str = "This engine", instead: str = "Use the engine 'memory'.", *also: str
) -> None:
    """Refuse a job that changes values or rows while they are read, for a table whose rows do not pass by."""
    changing = ("missing_tokens", "column_tokens", "decimals", "skip_rows", "pseudonymize", *also)
    without = {"sample": 1.0}
    if asked := [name for name in changing if getattr(job, name) != without.get(name) and getattr(job, name)]:
        raise JobError(f"{what} does not support {some(asked)}. {instead}")


def run_on_engine(
    engine: Engine,
    job: Job,
    *,
    progress: Callback | None = None,
    clock: Clock | None = None,
    source: str | None = None,
    population: Any = None,
    counts: pl.DataFrame | None = None,
    finish: Finish | None = None,
) -> Result:
    """Find the release of a table that an engine holds, let the engine write it, and prove that it satisfies the job.

    The result has the numbers of the release, not its rows: these are where the engine wrote them. `counts` are
    distinct rows that were counted before. `finish` is given the verified result before the release is published: if
    that fails, nothing is.
    """
    from kanopy.engine.contract import TooManyDistinctRows, most_different

    clock, notify = clock or Clock(), Progress(progress)
    steps = DistinctRowSteps(
        engine, job, source=source, population=population, counts=counts, clock=clock, notify=notify
    )
    try:
        return make_release(steps, finish=finish)
    except TooManyDistinctRows:
        from kanopy.release.pushdown.steps import PushdownSteps, require_pushdown

        require_pushdown(job, most_different())
        require_in_memory(job, f"{engine.name}, whose distinct rows do not fit in memory,")
        with engine.pushdown(key_columns(job)) as there:
            try:
                pushed_down = PushdownSteps(there, job, most_different(), clock, notify)
                return make_release(pushed_down, finish=finish)
            finally:
                there.place.forget()


class EngineSteps(Steps):
    """The steps of a run that leaves its rows with an engine."""

    job: Job

    def __init__(self, engine: Any, job: Job, clock: Clock | None = None, notify: Progress = SILENT) -> None:
        super().__init__(job, clock, notify)
        self.engine = engine

    @property
    def target(self) -> str | None:  # type: ignore[override]
        return cast("str | None", self.engine.target)

    @property
    def remote(self) -> Any:
        return self.engine.remote

    def about_order(self, applied: Applied) -> tuple[str, ...]:
        return about_order_elsewhere(self.engine, applied.job, applied.prepared.roles, applied.prepared.rows)


class DistinctRowSteps(EngineSteps):
    """The steps of a run on an engine that counts distinct rows and publishes what was found for each of them.

    `counts` are distinct rows that were counted before. Without `writes` the plan of the release is made and verified,
    and nothing is written.
    """

    def __init__(
        self,
        engine: Engine,
        job: Job,
        *,
        source: str | None = None,
        population: Any = None,
        counts: pl.DataFrame | None = None,
        writes: bool = True,
        clock: Clock | None = None,
        notify: Progress = SILENT,
    ) -> None:
        if (why := why_in_memory(job)) is not None:
            raise JobError(f"This job needs the table in memory: {why}. Use the engine 'memory'.")
        if not engine.reads_batches:
            require_unchanged(job)
        super().__init__(engine, job, clock, notify)
        self.plan: RecodePlan | None = None
        self._source, self._population, self._counts, self._writes = source, population, counts, writes

    def prepare(self) -> Prepared:
        """Let the engine count the distinct rows, and encode them.

        Rows without a value for the unit stand alone: each is prepared as a distinct row of its own.
        """
        import polars as pl

        from kanopy._compiler import prepare as prepare_kernels
        from kanopy._table.grouping import without_unit
        from kanopy.engine.contract import ROWS

        engine, job, deciding = self.engine, self.job, key_columns(self.job)
        with self.clock.stage("count"):
            self.notify("counting")
            columns = engine.schema.names()
            if absent := [name for name in (*job.roles, *deciding) if name not in columns]:
                raise DataError(f"The table has no column {some(absent)}. {near_miss(absent[0], columns)}")
            if lists := [name for name in deciding if engine.schema[name].is_nested()]:
                raise JobError(
                    f"{some(lists)} contains lists, which only the engine memory splits. Use the engine 'memory'."
                )
            head = engine.head(ROWS_FOR_KEYS)
            roles, notes, untouched = roles_of(head, job, engine.distinct)
            self._link = published_link(read_part(head, job), job, roles)
            counted = engine.count(deciding) if self._counts is None else self._counts
            multiplicity = counted[ROWS].to_numpy().astype(np.int64)
            self._counted = counted.drop(ROWS) if deciding else pl.DataFrame(height=1)
        rows = int(multiplicity.sum())
        if job.quasi and job.k > rows:
            raise too_few_rows(job.k, rows)
        with self.clock.stage("encode"):
            prepare_kernels(first_kernels(job), self.notify)
            self.notify("encoding")
            frame = read_part(self._counted, job) if deciding else self._counted
            self._distinct_row = np.arange(frame.height, dtype=np.int32)
            if job.unit and job.quasi:
                alone = without_unit(frame, job.unit, job.missing_tokens)
                self._distinct_row = np.repeat(self._distinct_row, np.where(alone, multiplicity, 1))
                frame = frame[self._distinct_row]
                multiplicity = np.where(alone, 1, multiplicity)[self._distinct_row]
            units, about_units = None, tuple[str, ...]()
            if job.quasi:  # treatments alone count nobody in classes
                units, about_units = units_for(frame, job, multiplicity, looked_at=read_part(head, job))
            table = generalizable(frame, job, self._population, units, multiplicity)
            about_units = (*about_units, *about_people(read_part(head, job), job))
        return Prepared(
            DistinctRows(frame, multiplicity), job, roles, (*engine.notes, *notes, *about_units),
            shown_address(self._source or engine.source), table,
            self._population if self._population is not None else job.population, engine=engine.name,
            untouched=untouched,
        )  # fmt: skip

    def apply(self, prepared: Prepared, solution: Solution) -> Applied:
        """Find the labels of every fragment, and what the engine has to do with its rows."""
        from kanopy.engine.contract import RecodePlan

        fragment, prepared, solution = _in_fragments(prepared, solution)
        distinct_row = self._distinct_row[fragment]
        keys = self._counted[distinct_row]
        prepared, job, about_columns = self._without_dependent(keys, prepared, solution)
        published, is_published = apply_solution(prepared, job, solution)
        published, withheld, about_suppressed = withhold_values(prepared, job, solution, published)
        if prepared.units is not None and prepared.units.known == ALL:
            tying = () if self._link is None else self._link.columns
            withheld = [*withheld, *job.pseudonymize, *tying]  # suppressed rows of one are not to be tied together
        withheld = list(dict.fromkeys(withheld))
        labels = used_categories(published[list(prepared.names)])
        if is_published is not None:  # fragments that are left out have labels too, which nobody sees
            labels = labels[np.where(is_published, np.cumsum(is_published) - 1, 0)]
        leaving = [
            name for name in self.engine.schema.names()
            if name in renamed_identifiers(job) or name not in prepared.unpublished
        ]  # fmt: skip
        assert prepared.multiplicity is not None
        self.plan = RecodePlan(
            keys, distinct_row, prepared.multiplicity, labels, solution.recoding.group_of_row < 0, tuple(leaving),
            tuple(withheld), job.suppressed_rows == "drop", job.unit if prepared.units is not None else (),
            as_read=prepared.values, renewed=(*job.pseudonymize, *changed_columns(job)),
        )  # fmt: skip
        treated = treated_in_pieces(job)
        return Applied(prepared, job, solution, published, is_published, about_columns, about_suppressed, treated)

    def _without_dependent(
        self, keys: pl.DataFrame, prepared: Prepared, solution: Solution
    ) -> tuple[Prepared, Job, tuple[str, ...]]:
        """The same without columns that undo the generalization, found on rows that the engine draws; what to say."""
        assert isinstance(prepared.table, Generalizable)
        encoded, recoding = prepared.table.counted, solution.recoding

        def labels_of(drawn: pl.DataFrame) -> dict[str, pl.Series]:
            import polars as pl

            columns = [(name, f"k{index}") for index, name in enumerate(keys.columns)]
            names = [key for _, key in columns]
            fragments = pl.DataFrame([keys[name].alias(key) for name, key in columns])
            fragments = fragments.with_row_index("fragment").unique(names, keep="first")
            rows = pl.DataFrame([drawn[name].cast(keys[name].dtype).alias(key) for name, key in columns])
            rows = rows.join(fragments, on=names, how="left", nulls_equal=True, maintain_order="left")
            labels, _ = LocalEngine().apply(prepared.values, encoded, recoding, dropped=(), drop_rows=False)
            return {name: labels[name].cast(pl.String).gather(rows["fragment"]) for name in prepared.names}

        roles, job, notes = without_dependent_elsewhere(self.engine, prepared.roles, self.job, keys.columns, labels_of)
        return replace(prepared, roles=roles), job, notes

    @contextlib.contextmanager
    def write(self, applied: Applied) -> Iterator[None]:
        """Let the engine stage the release, and compare what it counts there with the plan."""
        from kanopy.engine.contract import require_same
        from kanopy.verify.job import require_used_categories

        assert self.plan is not None
        if not self._writes:
            yield
            return
        self.notify("writing")
        with self.engine.write(self.plan) as recount:
            require_same(self.plan, recount)
            require_used_categories(recount.classes)
            yield

    def verify(self, applied: Applied, staged: None) -> Verified:
        """Check the fragments, or all rows where people or sampling weights are counted."""
        multiplicity = applied.prepared.multiplicity
        assert multiplicity is not None and applied.published is not None
        records = DistinctRows(applied.published, multiplicity if applied.kept is None else multiplicity[applied.kept])
        # Pseudonyms are made row by row where rows pass by; they decide nothing and are not here.
        plain: dict[str, Any] = {"pseudonymize": (), **({"protect": {}} if applied.job.quasi else {})}
        checked = replace(_with_every_row(applied), job=applied.job.replaced(**plain))
        return replace(second_opinion(checked, records), solution=applied.solution)


def key_columns(job: Job) -> list[str]:
    """The columns that decide what is published: only these are counted.

    >>> key_columns(Job(quasi=["age"], k=2, models=["l-distinct:ill:2"], unit=["patient"]))
    ['age', 'ill', 'patient']
    """
    if not job.quasi:
        return []
    asked = [name for model in job.models for name in (*model.sensitive, *model.hidden)]
    if job.target is not None:
        asked.append(job.target)
    asked += [target for name in job.quasi if (target := target_of(job.hierarchies.get(name))) is not None]
    if any(model.needs_weights for model in job.models):
        asked += [name for name in (job.sampling_weight, job.household) if name is not None]
    return list(dict.fromkeys((*job.quasi, *asked, *job.unit)))


def fragments_of(recoding: Recoding, domain: Domain) -> tuple[Ints, Longs, Ints] | None:
    """Per fragment its distinct row, multiplicity and group, those of a distinct row side by side; `None` where every
    distinct row is one fragment."""
    if recoding.multiplicity is not None:
        return None
    from kanopy._core.numbering import number_keys

    distinct_row = domain.kind_of_row
    cells = distinct_row.astype(np.int64) * (len(recoding.codes) + 1) + recoding.group_of_row + 1
    _, first, multiplicity = number_keys(cells, ascending=True)
    return distinct_row[first], multiplicity, recoding.group_of_row[first]


def _in_fragments(prepared: Prepared, solution: Solution) -> tuple[Ints, Prepared, Solution]:
    """The distinct row of every fragment, and all that follows by fragment instead of by row."""
    table = prepared.table
    assert isinstance(table, Generalizable)
    recoding, domain = solution.recoding, table.domain
    fragments = fragments_of(recoding, domain)
    if fragments is None:
        return np.arange(len(domain.tuple_of_row), dtype=np.int32), prepared, solution
    distinct_row, multiplicity, group = fragments
    recoding = replace(recoding, group_of_row=group, multiplicity=multiplicity)
    domain = domain.of_rows(distinct_row, multiplicity)
    columns = tuple(column.of_rows(distinct_row) for column in table.counted.columns)
    counted = replace(table.counted, domain=domain, columns=columns)
    records = DistinctRows(prepared.values[distinct_row], multiplicity)
    prepared = replace(prepared, records=records, table=replace(table, counted=counted))
    return distinct_row, prepared, replace(solution, recoding=recoding)


def _with_every_row(applied: Applied) -> Applied:
    """A row for every row of the table, for what counts people or sampling weights; else by fragment, as it is."""
    prepared, table, solution, is_published = applied.prepared, applied.prepared.table, applied.solution, applied.kept
    multiplicity, published = prepared.multiplicity, applied.published
    assert isinstance(table, Generalizable) and multiplicity is not None and published is not None
    if table.domain.units is None and table.domain.survey is None:
        return applied
    rows = np.repeat(np.arange(len(multiplicity)), multiplicity)
    published_rows = np.repeat(
        np.arange(published.height), multiplicity if is_published is None else multiplicity[is_published]
    )
    columns = tuple(column.of_rows(rows) for column in table.counted.columns)
    counted = replace(table.counted, domain=replace(table.domain.of_rows(rows), multiplicity=None), columns=columns)
    recoding = replace(solution.recoding, group_of_row=solution.recoding.group_of_row[rows], multiplicity=None)
    return replace(
        applied,
        prepared=replace(prepared, records=prepared.values[rows], table=replace(table, counted=counted)),
        solution=replace(solution, recoding=recoding),
        published=published[published_rows],
        kept=None if is_published is None else is_published[rows],
    )


class BatchReader(Reader):
    """What a job makes of every batch: values that mean missing are missing, identifiers become pseudonyms, columns are
    treated."""

    def __init__(self, job: Job, key: bytes | None = None) -> None:
        self.job, self._key = job, key
        self.pieces = Pieces(job, key) if job.protect else None

    def __call__(self, batch: pl.DataFrame) -> pl.DataFrame:
        records = read_part(batch, self.job)
        # Before pseudonyms take the place of identifiers: a treatment may read one, such as whose date to shift.
        records = records if self.pieces is None else self.pieces.treat(records)
        if hashed := [name for name in self.job.pseudonymize if name in batch.columns]:
            from kanopy._table.pseudonyms import with_pseudonyms

            records = with_pseudonyms(records, batch, hashed, self._key, None)
        return records

    def draw(self, scan: Any) -> tuple[Mask, str]:
        """Which rows of a table are in the sample of the job, and what is to be said of it."""
        return draw_from((read_part(batch, self.job) for batch in scan.batches()), self.job, self._key)

    def look_at(self, scan: Any) -> bool:
        """Whether a treatment had to know whole columns of a table, which were read then."""
        if self.pieces is None or not self.pieces.looks_first:
            return False
        frames = with_digests(lambda names: (read_part(batch, self.job) for batch in scan.batches(names)))
        self.pieces.look_at(frames, scan.columns)
        return True

    def count(self, batch: pl.DataFrame, published: pl.DataFrame, remaining: Mask | None) -> None:
        """Count on published rows of a batch what people must share after rows were suppressed."""
        if self.pieces is not None and self.pieces.facts:
            rows = batch if remaining is None else batch[np.flatnonzero(remaining)]
            self.pieces.count(published, rows.select(self.job.unit))

    def end(self) -> None:
        """Refuse what too few of the published rows share."""
        if self.pieces is not None:
            self.pieces.require_shared()


ROWS_COLUMN = "rows"
"""What the column of counts is called in files; the last one."""


def read_counts(files: Sequence[Path], columns: Sequence[str]) -> pl.DataFrame:
    """The counts of all files together, for some of the columns that they count.

    >>> import tempfile, polars as pl
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for month in ("may", "june"):
    ...         counts = pl.DataFrame({"age": [41], "sex": ["f"], "rows": [3]})
    ...         counts.write_parquet(f"{folder}/{month}.parquet")
    ...     read_counts([Path(folder) / "may.parquet", Path(folder) / "june.parquet"], ["age"]).rows()
    [(41, 6)]
    """
    import polars as pl

    from kanopy._table.sources import read_table
    from kanopy.engine.contract import ROWS, counted, in_order

    parts = []
    for file in files:
        frame = read_table(file)
        if frame.columns[-1] != ROWS_COLUMN or not frame[ROWS_COLUMN].dtype.is_integer():
            raise DataError(
                f"{file} holds no counts: its last column is not {ROWS_COLUMN!r}. `kanopy count` makes them."
            )
        absent = [name for name in columns if name not in frame.columns[:-1]]
        if absent:
            hint = near_miss(absent[0], frame.columns[:-1])
            raise DataError(f"{file} does not count {some(absent)}, which the job needs. {hint}")
        rows = frame[ROWS_COLUMN].cast(pl.Int64)
        parts.append(counted([frame[name] for name in columns], rows))
        if parts[0].schema != parts[-1].schema:
            raise DataError(f"{files[0]} and {file} count values of different types. Count them in the same way.")
    whole = pl.concat(parts)
    return in_order(counted(whole.get_columns()[:-1], whole[ROWS]), columns)
