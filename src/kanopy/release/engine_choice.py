"""Where a job runs: in memory, piece by piece, in the database of the table, or on a cluster; chosen, and opened."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from kanopy._errors import DataError, JobError, shown_address
from kanopy._job.job import Job
from kanopy._job.usage import require_used
from kanopy._progress import Clock, Progress
from kanopy._table.formats.layout import Layout
from kanopy._table.sources import is_source, read_aloud, split_source
from kanopy._usage import Needs, in_vain, refuse_in_vain
from kanopy.engine.connections import is_database
from kanopy.engine.opening import PATH, place_of, scanned, spark_frame
from kanopy.engine.spark import is_spark
from kanopy.engine.statements import check_statement, emitted
from kanopy.release.out_of_core import (
    BatchReader,
    DistinctRowSteps,
    key_columns,
    read_counts,
    require_unchanged,
    run_on_engine,
    why_in_memory,
)
from kanopy.release.prepare import prepare
from kanopy.release.run import MemorySteps, make_release
from kanopy.release.treated.on_spark import on_spark
from kanopy.release.treated.pieces import columns_alongside, require_in_memory, require_piecewise
from kanopy.release.treated.treating import check_key_first

if TYPE_CHECKING:
    from collections.abc import Iterator

    import polars as pl

    from kanopy import _files
    from kanopy._progress import Callback
    from kanopy._table.sources import Source
    from kanopy._table.streams.scans import Scan
    from kanopy._table.streams.sinks import Sink
    from kanopy.engine.contract import Engine
    from kanopy.release.prepare import Prepared
    from kanopy.release.result import Result
    from kanopy.release.writing import Files, Finish

LARGE_TEXT, LARGE_COLUMNS = 400_000_000, 100_000_000
"""From so many bytes on, delimited text and files of columns (which are smaller) are read piece by piece."""
SMALL_COLUMNS, LARGE_CELLS, LOOKED_AT, FEW_DISTINCT = 5_000_000, 40_000_000, 100_000, 0.5
"""Files of columns below this size are not looked into. In others, so many rows times columns are read piece by piece
as well, where at most this share of the first rows is distinct."""


def choose_engine(
    data: Any, output: str | None, job: Any, asked: str = "auto", *, rows_needed: bool = False, counted: bool = False
) -> str:
    """The engine for a table: the one asked for, or the one that suits it. `rows_needed` where a report shows rows,
    `counted` where its different rows were counted before.

    >>> choose_engine("people.csv", "release.csv", Job(quasi=["age"], k=2))
    'memory'
    >>> choose_engine("people.duckdb::visits", "people.duckdb::release", Job(quasi=["age"], k=2))
    'database'
    """
    there = place_of(data, asked)
    if there != PATH:
        return there
    if output is None:
        return "memory"
    text = os.fspath(data)
    if is_database(output) or counted:
        return "database" if is_database(text) else "stream"
    if output.endswith(("/", os.sep)) or Path(text).is_dir():
        return "stream"
    fits = why_in_memory(job) is None and not rows_needed
    return "stream" if fits and _large(text, job) else "memory"


def _large(source: str, job: Any) -> bool:
    """Whether a file is better read piece by piece: it is large, or has many cells and few distinct rows."""
    import polars as pl

    from kanopy._table.streams.scans import can_scan, scan

    path = Path(source)
    if not can_scan(source) or not path.is_file():
        return False
    text = path.suffix.lower() in (".csv", ".tsv", ".tab", ".txt")
    if text or path.stat().st_size >= LARGE_COLUMNS:
        return path.stat().st_size >= (LARGE_TEXT if text else LARGE_COLUMNS)
    if path.stat().st_size < SMALL_COLUMNS:
        return False
    try:
        table = scan(path)
        with table.told():
            rows = int(table.lazy.select(pl.len()).collect().item())
        if rows * len(table.columns) < LARGE_CELLS:
            return False
        deciding = [name for name in key_columns(job) if name in table.columns]
        looked_at = table.head(LOOKED_AT).select(deciding)
        return not deciding or looked_at.n_unique() <= FEW_DISTINCT * looked_at.height
    except DataError:  # whoever reads the file says what is wrong with it
        return False


@contextmanager
def open_engine(
    name: str,
    data: Any,
    output: str | None,
    job: Job,
    *,
    layout: Layout | None = None,
    key: bytes | None = None,
    release: _files.Release | None = None,
    forbidden: tuple[str | os.PathLike[str], ...] = (),
    overwrite: bool = False,
    master: str | None = None,
) -> Iterator[Engine]:
    """An engine that holds a table and knows where its release goes; without an `output` it only counts.

    `release` is where a file is staged together with others; `forbidden` are inputs, which are never overwritten.
    """
    shuffle = job.shuffle is not False
    if layout is not None and (name != "stream" or is_database(os.fspath(data))):
        what = "a table of Spark" if name == "spark" else "a table of a database"
        layout.refuse_but(where=shown_address(str(data)) if isinstance(data, str) else "The table", what=what)
    rows_pass = name == "stream"
    if name in ("database", "stream") and is_database(os.fspath(data)) and (job.protect or job.sample < 1):
        from kanopy.engine.database import spooled

        require_piecewise(job, name)
        with spooled(os.fspath(data), output, overwrite=overwrite) as table:
            yield _streamed(table, output, job, key, release, forbidden, overwrite)
    elif name == "database" or (rows_pass and is_database(os.fspath(data))):
        from kanopy._table.streams.sinks import FileSink
        from kanopy.engine.database import DatabaseEngine

        require_unchanged(job)
        to_file = None
        if output is not None and not is_database(output):
            to_file, output = FileSink(output, forbidden=forbidden, release=release), None
        sink = _shuffled(to_file, job)
        with closing(
            DatabaseEngine(os.fspath(data), output, overwrite=overwrite, sink=sink, shuffle=shuffle)
        ) as engine:
            yield engine
    elif rows_pass:
        require_piecewise(job, name)
        yield _streamed(scanned(data, layout), output, job, key, release, forbidden, overwrite)
    else:
        require_piecewise(job, name)
        # A frame that stays on its cluster is for pipelines, which may need its order.
        stays = is_spark(data) and output is None
        with on_spark(spark_frame(data, master), output, job, key, bool(job.shuffle) if stays else shuffle) as engine:
            yield engine


def _streamed(
    table: Scan, output: str | None, job: Job, key: bytes | None, release: _files.Release | None,
    forbidden: tuple[str | os.PathLike[str], ...], overwrite: bool,
) -> Engine:  # fmt: skip
    """A table that is read piece by piece, and treated while it passes by."""
    from kanopy._table.streams.sinks import FileSink
    from kanopy.engine.database import TableSink
    from kanopy.engine.stream import StreamEngine

    target: Sink | None = None
    if output is not None and is_database(output):
        target = TableSink(output, overwrite=overwrite)
    elif output is not None:
        target = FileSink(output, dialect=table.dialect, forbidden=(*forbidden, *table.files), release=release)
    reader = BatchReader(job, key)
    engine = StreamEngine(
        table, _shuffled(target, job), reader, job.skip_rows, alongside=columns_alongside(job, table.columns)
    )
    if job.sample < 1:
        engine.choose_rows(reader.draw)
    engine.look_first(reader.look_at)
    return engine


def publish(
    data: Any,
    job: Any,
    files: Files,
    *,
    engine: str = "auto",
    overwrite: bool = False,
    master: str | None = None,
    counts: Sequence[Path] = (),
    read: Callable[[], Source] | None = None,
    layout: Layout | None = None,
    inputs: Sequence[Any] = (),
    key: bytes | None = None,
    population: Any = None,
    bound: Any = False,
    source: str | None = None,
    progress: Callback | None = None,
    clock: Clock | None = None,
    finish: Finish | None = None,
    neutralize: bool = False,
    emit_sql: str | None = None,
) -> tuple[Result, list[str]]:
    """Make a release on the engine that suits it and write it with all that belongs to it, or nothing at all.

    `read` reads a table into memory where that is not simply what `data` names; `inputs` are further files that are
    never overwritten. `finish` is given the verified result while nothing of it is published. `emit_sql` names the
    dialect of a statement that is written instead of the release, for a database that is not reached from here. Returns
    the result and what is to be said of what was written.
    """
    from kanopy._table.sinks import staged
    from kanopy.release.writing import about_formulas, check_outputs, inputs_of, stage_beside, write_release

    require_used(job, population=population, key=key)
    layout = Layout.of(job) if layout is None else layout
    if job.pseudonymize:
        from kanopy._table.pseudonyms import check_key

        check_key(key)
    check_key_first(job, key)
    given = {"overwrite": overwrite, "master": master, "counts": counts, "bound": bound, "engine": engine != "auto"}
    if emit_sql is not None:
        check_statement(files.table or "", emit_sql)
        where = STATEMENT
    else:
        where = choose_engine(
            data, files.table, job, engine, rows_needed=bool(files.of_rows or bound), counted=bool(counts)
        )
    _refuse_in_vain(where, job, files, given)
    if where != "memory" and (why := why_in_memory(job)) is not None:
        raise JobError(f"This job needs the table in memory: {why}. Use the engine 'memory'.")
    if counts and job.sample < 1:
        raise JobError("Counts are of all rows, and the job publishes a sample of them. Leave out the counts.")
    clock, notify, read_from = clock or Clock(), Progress(progress), inputs_of(data)
    hierarchies = getattr(job, "hierarchies", {}).values()
    forbidden = [*read_from, *inputs_of(getattr(job, "population", None), population, *hierarchies, *inputs)]
    if where == STATEMENT:
        check_outputs(forbidden, files.table)
    files.check(forbidden, job, table=where == "memory")
    neutralize = neutralize or getattr(job, "neutralize_formulas", False)
    messages: list[str] = []
    with staged(forbidden=forbidden) as release:

        def finish_files(result: Result) -> None:
            own_input = read_from[0] if read_from and where == "memory" else None
            stage_beside(release, result, files, read_from=own_input, neutralize=neutralize, progress=notify)
            if finish is not None:
                finish(result)

        if where == "memory":
            table = _read(data, files.target, read, layout, clock)

            def stage(frame: pl.DataFrame) -> None:
                assert files.table is not None
                dialect = None if table is None else table.dialect
                messages.extend(write_release(release, frame, files.table, dialect, neutralize))

            def prepared() -> Prepared:
                named = source if source is not None or table is None else os.fspath(data)
                frame = data if table is None else table.frame
                return prepare(frame, job, population=population, source=named, clock=clock, progress=notify, key=key)

            steps = MemorySteps(
                prepared, key=key, stage=None if files.table is None else stage, clock=clock, notify=notify
            )
            return make_release(steps, bound=bound, finish=finish_files), messages
        named = source or (os.fspath(data) if is_source(data) else None)
        if where == STATEMENT:
            require_in_memory(job, where)
            require_unchanged(job, "A statement", "Write the release instead, without --emit-sql.", "sample")
            with open_engine("stream", data, None, job, layout=layout) as holder:
                planned = DistinctRowSteps(holder, job, source=named, writes=False, clock=clock, notify=notify)

                def finish_statement(result: Result) -> None:
                    assert planned.plan is not None and files.table is not None
                    statement = emitted(planned.plan, *tables_of(data), str(emit_sql), shuffle=job.shuffle is not False)
                    release.bytes(files.table, statement.encode(), private=True)
                    finish_files(result)

                return make_release(planned, finish=finish_statement), messages
        with open_engine(
            where, data, files.table, job, layout=layout, key=key, release=release, forbidden=tuple(forbidden),
            overwrite=overwrite, master=master,
        ) as holder:  # fmt: skip
            result = run_on_engine(
                holder, job, progress=progress, clock=clock, population=population, finish=finish_files,
                source=named,
                counts=read_counts(counts, key_columns(job)) if counts else None,
            )  # fmt: skip
            messages = about_formulas(getattr(getattr(holder, "sink", None), "formulas", []), files.table or "")
    return result, messages


def _read(
    data: Any, target: str | None, read: Callable[[], Source] | None, layout: Layout, clock: Clock
) -> Source | None:
    """The table that a path or an address names; `None` where the data is a table."""
    from kanopy._table.delimited import check_columns

    with clock.stage("read"):
        table = read() if read is not None else read_aloud(data, layout=layout) if is_source(data) else None
    if target is not None and table is not None:
        check_columns([target], table.frame.columns, "The table")
    return table


def tables_of(source: Any) -> tuple[str, str]:
    """What a statement calls the table and its release.

    >>> tables_of("shop.duckdb::visits"), tables_of("people.parquet")
    (('visits', 'visits_release'), ('people', 'people_release'))
    """
    path, table, _ = split_source(os.fspath(source))
    name = table or path.stem
    return name, f"{name}_release"


STATEMENT = "a statement"
"""What stands for the engine where a statement is written instead of the release."""
ROWS_IN_MEMORY = Needs("all rows in memory: the engine 'memory'", lambda given: given.where == "memory")
NEEDS = {
    "bound": Needs(
        f"an algorithm that generalizes, such as 'best', and {ROWS_IN_MEMORY.words}",
        lambda given: not given.job.masks and given.where == "memory",
    ),
    "report": ROWS_IN_MEMORY,
    "values": ROWS_IN_MEMORY,
    "sampling_fraction": ROWS_IN_MEMORY,
    "target": ROWS_IN_MEMORY,
    "counts": Needs("an engine that counts, such as 'stream'", lambda given: given.where not in ("memory", STATEMENT)),
    "engine": Needs("a release that is written (no --emit-sql)", lambda given: given.where != STATEMENT),
    "overwrite": Needs(
        "a table of a database as the output; files are written over anyway", lambda given: given.to_database
    ),
    "master": Needs("the engine 'spark'", lambda given: given.where == "spark"),
}
"""What settings of a run have no effect without."""


def _refuse_in_vain(where: str, job: Any, files: Files, given: dict[str, Any]) -> None:
    """Refuse what the engine has no use for, and an engine that would leave the release nowhere."""
    about = SimpleNamespace(where=where, job=job, to_database=is_database(files.table or ""))
    asked = [*files.of_rows, *(name for name, value in given.items() if value not in (None, False, ()))]
    refuse_in_vain(in_vain(asked, NEEDS, about))
    if files.table is None and where not in ("memory", "spark"):
        raise JobError(f"The engine {where!r} leaves the release where it writes it. Say where (output=…, --output).")


def _shuffled(sink: Sink | None, job: Job) -> Sink | None:
    """The sink, in which rows leave in an order that tells nothing unless the job keeps theirs."""
    from kanopy._table.streams.shuffling import ShuffledSink

    return sink if sink is None or job.shuffle is False else ShuffledSink(sink)
