"""Where a job runs: in memory, piece by piece, in the database of the table, or on a cluster; chosen, and opened."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kanopy._address import in_full
from kanopy._errors import JobError, near_miss, shown_address, some
from kanopy._job.job import Job
from kanopy.release.large import not_large, said_by, said_of_values

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kanopy import _files
    from kanopy._progress import Callback, Clock
    from kanopy._table.formats.layout import Layout
    from kanopy._table.sources import Source
    from kanopy._table.streams.sinks import Sink
    from kanopy.engine.contract import Engine
    from kanopy.release.result import Result
    from kanopy.release.writing import Files, Finish

ENGINES = {
    "auto": "memory, unless the table is large or the release stays in its database",
    "memory": "all rows in memory",
    "stream": "a file or folder piece by piece: larger than memory",
    "database": "in the DuckDB, SQLite or PostgreSQL database of the table",
    "spark": "on a Spark cluster",
}
LARGE_TEXT, LARGE_COLUMNS = 400_000_000, 100_000_000
"""From so many bytes on, delimited text and files of columns (which are smaller) are read piece by piece."""


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
    from kanopy.engine.connections import is_database
    from kanopy.engine.spark import is_spark

    if asked not in ENGINES:
        raise JobError(f"There is no engine {asked!r}. {near_miss(asked, ENGINES)}")
    there = "spark" if is_spark(data) else "a path" if isinstance(data, (str, os.PathLike)) else "memory"
    if asked != "auto":
        if there != "a path" and there != asked:
            held = "a frame of Spark stays on its cluster" if there == "spark" else "a table in memory stays there"
            raise JobError(f"The engine {asked!r} reads a file or a database, and {held}. Give a path, or no engine.")
        return asked
    if there != "a path" or output is None:
        return there if there == "spark" else "memory"
    text = os.fspath(data)
    if is_database(output) or counted:
        return "database" if is_database(text) else "stream"
    if output.endswith(("/", os.sep)) or Path(text).is_dir():
        return "stream"
    fits = not_large(job) is None and not rows_needed
    return "stream" if fits and _large(text) else "memory"


def _large(source: str) -> bool:
    from kanopy._table.streams.scans import can_scan

    path = Path(source)
    if not can_scan(source) or not path.is_file():
        return False
    text = path.suffix.lower() in (".csv", ".tsv", ".tab", ".txt")
    return path.stat().st_size >= (LARGE_TEXT if text else LARGE_COLUMNS)


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
    if layout is not None and name in ("database", "spark"):
        what = "a table of a database" if name == "database" else "a table of Spark"
        layout.refuse_but(where=shown_address(str(data)) if isinstance(data, str) else "The table", what=what)
    if name == "stream":
        from kanopy._table.streams.scans import can_scan, scan
        from kanopy._table.streams.sinks import FileSink
        from kanopy.engine.connections import is_database
        from kanopy.engine.database import TableSink
        from kanopy.engine.stream import StreamEngine

        if is_database(os.fspath(data)):
            with open_engine(
                "database", data, output, job, layout=layout, release=release, forbidden=forbidden, overwrite=overwrite
            ) as engine:
                yield engine
            return

        if not can_scan(data):
            raise JobError(
                f"{os.fspath(data)} cannot be read piece by piece: give Parquet, Arrow or uncompressed text, or a "
                "folder of Parquet or CSV files; or use --engine memory."
            )
        table = scan(data, layout=layout)
        sink: Sink | None = None
        if output is not None and is_database(output):
            sink = TableSink(output, overwrite=overwrite)
        elif output is not None:
            sink = FileSink(output, dialect=table.dialect, forbidden=(*forbidden, *table.files), release=release)
        yield StreamEngine(table, _shuffled(sink, job), said_by(job, key), job.skip_rows)
    elif name == "database":
        from kanopy._table.streams.sinks import FileSink
        from kanopy.engine.connections import is_database
        from kanopy.engine.database import DatabaseEngine

        if said := said_of_values(job):
            raise JobError(f"A table in a database is not changed while it is read, as {said[0]!r} asks. Use a query.")
        to_file = None
        if output is not None and not is_database(output):
            to_file, output = FileSink(output, forbidden=forbidden, release=release), None
        with closing(
            DatabaseEngine(
                os.fspath(data), output, overwrite=overwrite, sink=_shuffled(to_file, job),
                shuffle=job.shuffle is not False,
            )
        ) as found:  # fmt: skip
            yield found
    elif name == "spark":
        from kanopy.engine.spark import SparkEngine, is_spark, read_files, spark_session

        if is_spark(data):
            yield SparkEngine(data, output, shuffle=bool(job.shuffle) if output is None else job.shuffle is not False)
            return
        if os.fspath(data).lower().endswith((".csv", ".tsv", ".txt")):
            raise JobError("On Spark a table is Parquet. Convert the text first, or use --engine stream.")
        frame = read_files(spark_session(master), in_full(os.fspath(data)))
        yield SparkEngine(frame, output, shuffle=job.shuffle is not False)
    else:
        raise JobError(f"There is no engine {name!r} for {os.fspath(data)}. {near_miss(name, ENGINES)}")


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
) -> tuple[Result, list[str]]:
    """Make a release on the engine that suits it and write it with all that belongs to it, or nothing at all.

    `read` reads a table into memory where that is not simply what `data` names; `inputs` are further files that are
    never overwritten. `finish` is given the verified result while nothing of it is published. Returns the result and
    what is to be said of what was written.
    """
    from kanopy._progress import Clock, Progress
    from kanopy._table.delimited import check_columns
    from kanopy._table.formats.layout import Layout
    from kanopy._table.sources import is_source, read_aloud
    from kanopy.release.run import anonymize
    from kanopy.release.writing import about_formulas, inputs_of, stage_beside, write_files

    clock, own = clock or Clock(), inputs_of(data)
    layout = Layout.of(job) if layout is None else layout
    where = choose_engine(
        data, files.table, job, engine, rows_needed=bool(files.of_rows or bound), counted=bool(counts)
    )
    _check_used(where, files, overwrite=overwrite, master=master, counts=counts, bound=bound)
    hierarchies = getattr(job, "hierarchies", {}).values()
    forbidden = [*own, *inputs_of(getattr(job, "population", None), population, *hierarchies, *inputs)]
    files.check(forbidden, job, table=where == "memory")
    if where == "memory":
        with clock.stage("read"):
            table = read() if read is not None else read_aloud(data, layout=layout) if is_source(data) else None
        if files.target is not None and table is not None:
            check_columns([files.target], table.frame.columns, "The table")
        if source is None and table is not None:
            source = os.fspath(data)
        result = anonymize(
            data if table is None else table.frame, job, progress=progress, clock=clock, source=source, key=key,
            population=population, bound=bound,
        )  # fmt: skip
        said = write_files(
            result, files, dialect=None if table is None else table.dialect, read_from=own[0] if own else None,
            neutralize=neutralize or getattr(job, "neutralize_formulas", False), inputs=forbidden, finish=finish,
            progress=Progress(progress),
        )  # fmt: skip
        return result, said
    from kanopy._table.sinks import staged
    from kanopy.release.large import key_columns, read_counts, run_on_engine

    with staged(forbidden=forbidden) as release:

        def beside(result: Result) -> None:
            there = {}
            with suppress(KeyError):  # a folder, or a table of a database
                name = files.table or ""
                there = {"output": (Path(name).name, release.place_of(name))}
            stage_beside(release, result, files, there)
            if finish is not None:
                finish(result)

        with open_engine(
            where, data, files.table, job, layout=layout, key=key, release=release, forbidden=tuple(forbidden),
            overwrite=overwrite, master=master,
        ) as holder:  # fmt: skip
            known = read_counts(counts, key_columns(job)) if counts else None
            named = source or (os.fspath(data) if is_source(data) else None)
            result = run_on_engine(
                holder, job, progress=progress, clock=clock, source=named, population=population, counts=known,
                finish=beside,
            )  # fmt: skip
            formulas = getattr(getattr(holder, "sink", None), "formulas", [])
    return result, about_formulas(formulas, files.table or "")


def _check_used(
    where: str, files: Files, *, overwrite: bool, master: str | None, counts: Sequence[Path], bound: Any
) -> None:
    """Refuse what the engine has no use for."""
    from kanopy.engine.connections import is_database

    if where != "memory":
        asked = [*files.of_rows, *(["bound"] if bound else [])]
        if asked:
            raise JobError(f"{some(asked)} needs all rows in memory. Leave it out, or use the engine 'memory'.")
    elif counts:
        raise JobError("Counts are read by engines that count. Leave them out, or use the engine 'stream'.")
    if overwrite and not is_database(files.table or ""):
        raise JobError("overwrite is about tables of a database; files are written over anyway. Leave it out.")
    if files.table is None and where not in ("memory", "spark"):
        raise JobError(f"The engine {where!r} leaves the release where it writes it. Say where (output=…, --output).")
    if master is not None and where != "spark":
        raise JobError("master names a Spark cluster. Use the engine 'spark', or leave it out.")


def _shuffled(sink: Sink | None, job: Job) -> Sink | None:
    """The sink, in which rows leave in an order that tells nothing unless the job keeps theirs."""
    from kanopy._table.streams.shuffling import ShuffledSink

    return sink if sink is None or job.shuffle is False else ShuffledSink(sink)
