"""A release of a table that stays where it is: an engine counts its different rows, the search sees only these, the
engine writes the release and counts again on what it wrote. The same search, the same second opinion as in memory.

What decides about a row are its quasi-identifiers, the values that models look at, and whose row it is. Rows that agree
in these are one kind, and a kind stands for many rows (`rows_of`). Where a search puts equal rows into different
classes, a kind falls into pieces.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from kanopy._errors import DataError, JobError, NoSolution, near_miss, shown_address, some, too_few_rows
from kanopy._job.inputs import about_people, assign_roles, target_of
from kanopy._job.job import Job
from kanopy._job.reading import as_said
from kanopy._job.usage import require_used_of
from kanopy._progress import Callback, Clock, Progress
from kanopy._table.guessing.structure import ROWS_FOR_KEYS
from kanopy.engine.distinct import DistinctRows
from kanopy.engine.local import LocalEngine
from kanopy.release.opinion import about_order_elsewhere, background_of, second_opinion, without_values
from kanopy.release.prepare import (
    Generalizable,
    Prepared,
    first_kernels,
    generalizable,
    units_for,
    without_dependent_elsewhere,
)
from kanopy.release.result import Result
from kanopy.release.run import apply_found, search

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    import polars as pl

    from kanopy._arrays import Ints, Longs, Mask
    from kanopy._core.classes import Domain, Recoding
    from kanopy.engine.contract import Engine, Recoded
    from kanopy.release.writing import Finish
    from kanopy.search.solution import Solution


def not_large(job: Any) -> str | None:
    """Why a job needs its table in memory, or `None`.

    >>> not_large(Job(quasi=["age"], k=2)), not_large(Job(quasi=["age"], k=2, separators={"age": ";"}))
    (None, 'lists are only taken apart there')
    """
    if not isinstance(job, Job) or job.masks:
        return "maskings compare every answer with every other"
    if job.separators:
        return "lists are only taken apart there"
    if job.neutralize_formulas:
        return "texts are only neutralized there"
    if untouched := [name for name in job.decimals if name not in job.quasi]:
        return f"the decimal signs of {some(untouched)} are only read there"
    return None


def said_of_values(job: Job) -> list[str]:
    """The settings of a job that say how values are read or written, which only passes by where rows do."""
    names = ("missing_tokens", "column_tokens", "decimals", "skip_rows", "pseudonymize")
    return [name for name in names if getattr(job, name)]


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
    different rows that were counted before. `finish` is given the verified result before the release is published: if
    that fails, nothing is.
    """
    if (why := not_large(job)) is not None:
        raise JobError(f"This job needs the table in memory: {why}. Use the engine 'memory'.")
    if not engine.reads_batches and (said := said_of_values(job)):
        raise JobError(f"A table that stays where it is cannot be read as {some(said)} say. Use the engine 'memory'.")
    clock, tell = clock or Clock(), Progress(progress)
    from kanopy.engine.contract import TooManyKinds, most_different

    try:
        raw, kind, prepared = _prepared(engine, job, population, source, clock, tell, counts)
    except TooManyKinds:
        from kanopy.release.pushdown.run import anonymize_by_pushdown, require_pushdown

        require_pushdown(job, most_different())
        with engine.pushdown(key_columns(job)) as there:
            return anonymize_by_pushdown(there, job, most_different(), clock, tell, finish)
    with clock.stage("search"):
        found = search(prepared, job, tell)
        piece, prepared, found = _pieces(prepared, found)
    with clock.stage("apply"):
        tell("applying")
        prepared, job, dependent = _without_dependent(engine, raw[kind[piece]], prepared, job, found)
        recoded, published, told = _recoded(engine, raw[kind[piece]], kind[piece], prepared, job, found)
        kept = None if not recoded.drop or not recoded.gone.any() else ~recoded.gone
    with _written(engine, recoded, clock, tell):
        with clock.stage("verify"):
            tell("verifying")
            looked = _with_every_row(prepared, found, published, kept)
            background = background_of(looked[0], job, looked[1])
            # Pseudonyms are made row by row where rows pass by; they decide nothing and are not here.
            plain = job.replaced(pseudonymize=())
            verification, remarks = second_opinion(looked[0], plain, looked[1], looked[2], background, looked[3])
        assert prepared.multiplicity is not None
        kept_order = about_order_elsewhere(engine, job, prepared.roles, prepared.rows)
        result = Result(
            records=DistinctRows(published, prepared.multiplicity if kept is None else prepared.multiplicity[kept]),
            job=job,
            found=found,
            verification=verification,
            notes=(*prepared.all_notes, *dependent, *found.notes, *remarks, *told, *kept_order),
            about_suppressed=told,
            clock=clock,
            prepared=prepared,
            private_notes=remarks,
            published_population=None if background is None else background.population,
            output=engine.target,
        )
        if finish is not None:
            finish(result)
    return result if engine.remote is None else replace(result, remote=engine.remote)


def recode_only(engine: Engine, job: Job, *, source: str | None = None) -> tuple[Result, Recoded]:
    """What would be published for every kind of row, verified; nothing is written."""
    held = _Held(engine)
    result = run_on_engine(held, job, source=source)
    assert held.recoded is not None
    return result, held.recoded


class _Held:
    """An engine that counts and keeps what it is given to write."""

    reads_batches = False
    target: str | None = None
    remote: Any = None

    def __init__(self, engine: Engine) -> None:
        self.name = engine.name
        self.recoded: Recoded | None = None
        self.schema, self.source, self.notes = engine.schema, engine.source, engine.notes
        self.head, self.count, self.distinct = engine.head, engine.count, engine.distinct
        self.sample = engine.sample
        self.pushdown = engine.pushdown

    @contextmanager
    def write(self, recoded: Recoded) -> Iterator[Any]:
        self.recoded = recoded
        yield recoded.expected()


@contextmanager
def _written(engine: Engine, recoded: Recoded, clock: Clock, tell: Progress) -> Iterator[None]:
    """A release that is written, and published when the block ends well."""
    from kanopy.engine.contract import require_same

    with clock.stage("write"):
        tell("writing")
        writing = engine.write(recoded)
        seen = writing.__enter__()
    try:
        require_same(recoded, seen)
        yield
    except BaseException as error:
        if not writing.__exit__(type(error), error, error.__traceback__):
            raise
    else:
        with clock.stage("write"):
            writing.__exit__(None, None, None)


def key_columns(job: Job) -> list[str]:
    """The columns that decide what is published: only these are counted.

    >>> key_columns(Job(quasi=["age"], k=2, models=["l-distinct:ill:2"], unit=["patient"]))
    ['age', 'ill', 'patient']
    """
    asked = [name for model in job.models for name in (*model.sensitive, *model.hidden)]
    if job.target is not None:
        asked.append(job.target)
    asked += [target for name in job.quasi if (target := target_of(job.hierarchies.get(name))) is not None]
    if any(model.needs_weights for model in job.models):
        asked += [name for name in (job.sampling_weight, job.household) if name is not None]
    return list(dict.fromkeys((*job.quasi, *asked, *job.unit)))


def _prepared(
    engine: Engine, job: Job, population: Any, source: str | None, clock: Clock, tell: Progress, counts: Any
) -> tuple[pl.DataFrame, Ints, Prepared]:
    """The different rows as the engine counted them, and the same with roles, hierarchies and codes.

    Rows that do not say whose they are stand alone: each is prepared as a kind of its own, whose number among those
    that were counted is told too.
    """
    from kanopy._compiler import prepare as prepare_kernels
    from kanopy._table.grouping import without_unit
    from kanopy.engine.contract import ROWS

    with clock.stage("count"):
        tell("counting")
        if not job.quasi:
            raise JobError("The job names no quasi-identifier. Name the columns that others may know (quasi=…).")
        columns = engine.schema.names()
        absent = [name for name in (*job.roles, *key_columns(job)) if name not in columns]
        if absent:
            raise DataError(f"The table has no column {some(absent)}. {near_miss(absent[0], columns)}")
        if lists := [name for name in key_columns(job) if engine.schema[name].is_nested()]:
            raise JobError(f"{some(lists)} holds lists, which are only taken apart in memory. Use the engine 'memory'.")
        head = engine.head(ROWS_FOR_KEYS)
        roles, notes, untouched = assign_roles(head, job.roles, job.hierarchies, job.rest, engine.distinct)
        require_used_of(job, "columns", columns=head.columns)
        raw = engine.count(key_columns(job)) if counts is None else counts
        rows_of = raw[ROWS].to_numpy().astype(np.int64)
        raw = raw.drop(ROWS)
    rows, kind = int(rows_of.sum()), np.arange(raw.height, dtype=np.int32)
    if job.k > rows:
        raise too_few_rows(job.k, rows)
    with clock.stage("encode"):
        prepare_kernels(first_kernels(job), tell)
        tell("encoding")
        frame, restore = as_said(raw, _nothing, _of_columns(job, raw.columns))
        if job.unit:
            alone = without_unit(frame, job.unit, job.missing_tokens)
            kind = np.repeat(kind, np.where(alone, rows_of, 1))
            frame, rows_of = frame[kind], np.where(alone, 1, rows_of)[kind]
        read = as_said(head, _nothing, job.replaced(skip_rows=0))[0]
        units, about = units_for(frame, job, rows_of, looked_at=read)
        table = generalizable(frame, job, population, units, rows_of)
        people = about_people(read, job)
    notes = (*engine.notes, *notes, *about, *people)
    known = population if population is not None else job.population
    named = shown_address(source or engine.source)
    records = DistinctRows(frame, rows_of)
    return (
        raw, kind,
        Prepared(records, job, roles, notes, named, restore, table, known, engine=engine.name, untouched=untouched),
    )  # fmt: skip


def _of_columns(job: Job, columns: list[str]) -> Job:
    """The job as it is read for a table of some columns only."""
    return job.replaced(
        skip_rows=0,
        column_tokens={name: own for name, own in job.column_tokens.items() if name in columns},
        decimals={name: sign for name, sign in job.decimals.items() if name in columns},
    )


def _nothing(frame: pl.DataFrame, kept: Any = None) -> Any:
    raise JobError("The rows of this release are not in memory: they are where the engine wrote them.")


def pieces_of(recoding: Recoding, domain: Domain) -> tuple[Ints, Longs, Ints] | None:
    """Per piece its kind, rows and group, those of a kind side by side; `None` where every kind is one piece."""
    if recoding.rows_of is not None:
        return None
    from kanopy._core.numbering import number_keys

    kind_of_row = domain.kind_of_row
    cells = kind_of_row.astype(np.int64) * (len(recoding.codes) + 1) + recoding.group_of_row + 1
    _, first, rows = number_keys(cells, ascending=True)
    return kind_of_row[first], rows, recoding.group_of_row[first]


def _pieces(prepared: Prepared, found: Any) -> tuple[Ints, Prepared, Solution]:
    """The kind of every piece, and all that follows by piece instead of by row."""
    table = prepared.table
    assert isinstance(table, Generalizable)
    recoding, domain = found.recoding, table.domain
    pieces = pieces_of(recoding, domain)
    if pieces is None:
        return np.arange(len(domain.tuple_of_row), dtype=np.int32), prepared, found
    kind_of_piece, rows, group = pieces
    recoding = replace(recoding, group_of_row=group, rows_of=rows)
    domain = domain.of_rows(kind_of_piece, rows)
    columns = tuple(column.of_rows(kind_of_piece) for column in table.counted.columns)
    counted = replace(table.counted, domain=domain, columns=columns)
    records = DistinctRows(prepared.values[kind_of_piece], rows)
    prepared = replace(prepared, records=records, table=replace(table, counted=counted))
    return kind_of_piece, prepared, replace(found, recoding=recoding)


def _without_dependent(
    engine: Engine, keys: pl.DataFrame, prepared: Prepared, job: Job, found: Solution
) -> tuple[Prepared, Job, tuple[str, ...]]:
    """The same without columns that undo the generalization, found on rows that the engine draws; what to say."""
    assert isinstance(prepared.table, Generalizable)
    counted, recoding = prepared.table.counted, found.recoding

    def labels_of(drawn: pl.DataFrame) -> dict[str, pl.Series]:
        import polars as pl

        names = [f"k{place}" for place in range(keys.width)]
        pieces = pl.DataFrame([keys[name].alias(own) for name, own in zip(keys.columns, names, strict=True)])
        pieces = pieces.with_row_index("piece").unique(names, keep="first")
        columns = zip(keys.columns, names, strict=True)
        own = pl.DataFrame([drawn[name].cast(keys[name].dtype).alias(at) for name, at in columns])
        at = own.join(pieces, on=names, how="left", nulls_equal=True, maintain_order="left")["piece"]
        shown, _ = LocalEngine().apply(prepared.values, counted, recoding, dropped=(), drop_rows=False)
        return {name: shown[name].cast(pl.String).gather(at) for name in prepared.names}

    roles, job, notes = without_dependent_elsewhere(engine, prepared.roles, job, keys.columns, labels_of)
    return replace(prepared, roles=roles), job, notes


def _recoded(
    engine: Engine, keys: pl.DataFrame, kind: Ints, prepared: Prepared, job: Job, found: Solution
) -> tuple[Recoded, pl.DataFrame, tuple[str, ...]]:
    """What the engine has to do, and what is published piece by piece."""
    import polars as pl

    from kanopy._core.units import ALL
    from kanopy._table.column import emptied
    from kanopy.engine.contract import Recoded

    gone, drop = found.recoding.group_of_row < 0, job.suppressed_rows == "drop"
    published, kept = apply_found(prepared, job, found)
    empty, told = without_values(prepared, job, found)
    published = published.with_columns(emptied(published[name], gone) for name in empty if name in published.columns)
    labels = published[list(prepared.names)]
    if kept is not None:  # pieces that are left out have labels too, which nobody sees
        place = np.where(kept, np.cumsum(kept) - 1, 0)
        labels = labels[place]
    hashed = set(job.pseudonymize)
    if prepared.units is not None and prepared.units.known == ALL:
        empty = [*empty, *job.pseudonymize]  # suppressed rows of one are not to be tied together
    leaving = [name for name in engine.schema.names() if name in hashed or name not in prepared.at_home]
    assert prepared.multiplicity is not None
    recoded = Recoded(
        keys, kind, prepared.multiplicity, labels, gone, tuple(leaving), tuple(empty), drop,
        job.unit if prepared.units is not None else (), said=prepared.values,
    )  # fmt: skip
    if drop and gone.all():
        raise NoSolution(
            "Every row would be suppressed and left out: nothing is left to publish.", advice=["choose a smaller k"]
        )
    assert isinstance(published, pl.DataFrame)
    return recoded, published, told


def _with_every_row(
    prepared: Prepared, found: Solution, published: pl.DataFrame, kept: Mask | None
) -> tuple[Prepared, Solution, pl.DataFrame, Mask | None]:
    """A row for every row of the table, for what counts people or sampling weights; else all by piece, as it is."""
    table, rows_of = prepared.table, prepared.multiplicity
    assert isinstance(table, Generalizable) and rows_of is not None
    if table.domain.units is None and table.domain.survey is None:
        return prepared, found, published, kept
    rows = np.repeat(np.arange(len(rows_of)), rows_of)
    left: Longs = np.repeat(np.arange(published.height), rows_of if kept is None else rows_of[kept])
    columns = tuple(column.of_rows(rows) for column in table.counted.columns)
    counted = replace(table.counted, domain=replace(table.domain.of_rows(rows), rows_of=None), columns=columns)
    recoding = replace(found.recoding, group_of_row=found.recoding.group_of_row[rows], rows_of=None)
    every = replace(prepared, records=prepared.values[rows], table=replace(table, counted=counted))
    return every, replace(found, recoding=recoding), published[left], None if kept is None else kept[rows]


def said_by(job: Job, key: bytes | None = None) -> Callable[[pl.DataFrame], pl.DataFrame]:
    """What a job makes of every batch: values that mean missing are missing, identifiers become pseudonyms."""

    def said(batch: pl.DataFrame) -> pl.DataFrame:
        found, _ = as_said(batch, _nothing, _of_columns(job, batch.columns))
        if hashed := [name for name in job.pseudonymize if name in batch.columns]:
            from kanopy._table.pseudonyms import with_pseudonyms

            found = with_pseudonyms(found, batch, hashed, key, None)
        return found

    return said


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
    from kanopy.engine.contract import ROWS, counted

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
            raise DataError(f"{files[0]} and {file} count values of different types. Count them alike.")
    whole = pl.concat(parts)
    found = counted(whole.get_columns()[:-1], whole[ROWS])
    plain = [column.alias(f"c{place}") for place, column in enumerate(found.get_columns())]
    table = pl.DataFrame(plain).sort([column.name for column in plain], nulls_last=True)
    table.columns = found.columns
    return table
