"""Where a job runs: in memory, piece by piece, in the database of the table, or on a cluster; chosen, and opened."""

from __future__ import annotations

import os
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kanopy._errors import JobError, near_miss
from kanopy._job.job import Job
from kanopy.release.large import not_large, said_by, said_of_values

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kanopy import _files
    from kanopy.engine.contract import Engine
    from kanopy.release.result import Result

ENGINES = {
    "auto": "memory, unless the table is large or the release stays in its database",
    "memory": "all rows in memory",
    "stream": "a file or folder piece by piece: larger than memory",
    "database": "in the DuckDB, SQLite or PostgreSQL database of the table",
    "spark": "on a Spark cluster",
}
LARGE_TEXT, LARGE_COLUMNS = 400_000_000, 100_000_000
"""From so many bytes on, delimited text and files of columns (which are smaller) are read piece by piece."""


def choose_engine(data: Any, output: str | None, job: Any, asked: str = "auto", *, rows_needed: bool = False) -> str:
    """The engine for a table: the one asked for, or the one that suits it. `rows_needed` where a report shows rows.

    >>> choose_engine("people.csv", "release.csv", Job(quasi=["age"], k=2))
    'memory'
    >>> choose_engine("people.duckdb::visits", "people.duckdb::release", Job(quasi=["age"], k=2))
    'database'
    """
    from kanopy.engine.connections import is_database

    if asked not in ENGINES:
        raise JobError(f"There is no engine {asked!r}. {near_miss(asked, ENGINES)}")
    if asked != "auto":
        return asked
    if not isinstance(data, (str, os.PathLike)) or output is None:
        return "memory"
    text = os.fspath(data)
    if is_database(output):
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
    data: str | os.PathLike[str],
    output: str | None,
    job: Job,
    *,
    encoding: str | None = None,
    key: bytes | None = None,
    release: _files.Release | None = None,
    forbidden: tuple[str | os.PathLike[str], ...] = (),
    overwrite: bool = False,
    master: str | None = None,
) -> Iterator[Engine]:
    """An engine that holds a table and knows where its release goes; without an `output` it only counts.

    `release` is where a file is staged together with others; `forbidden` are inputs, which are never overwritten.
    """
    if name == "stream":
        from kanopy._table.streams.scans import can_scan, scan
        from kanopy._table.streams.sinks import FileSink, Sink
        from kanopy.engine.connections import is_database
        from kanopy.engine.database import TableSink
        from kanopy.engine.stream import StreamEngine

        if is_database(os.fspath(data)):
            with open_engine(
                "database", data, output, job, release=release, forbidden=forbidden, overwrite=overwrite
            ) as engine:
                yield engine
            return

        if not can_scan(data):
            raise JobError(
                f"{os.fspath(data)} cannot be read piece by piece: give Parquet, Arrow or uncompressed text, or a "
                "folder of Parquet or CSV files; or use --engine memory."
            )
        table = scan(data, encoding=encoding)
        sink: Sink | None = None
        if output is not None and is_database(output):
            sink = TableSink(output, overwrite=overwrite)
        elif output is not None:
            sink = FileSink(output, dialect=table.dialect, forbidden=(*forbidden, *table.files), release=release)
        yield StreamEngine(table, sink, said_by(job, key), job.skip_rows)
    elif name == "database":
        from kanopy._table.streams.sinks import FileSink
        from kanopy.engine.connections import is_database
        from kanopy.engine.database import DatabaseEngine

        if said := said_of_values(job):
            raise JobError(f"A table in a database is not changed while it is read, as {said[0]!r} asks. Use a query.")
        to_file = None
        if output is not None and not is_database(output):
            to_file, output = FileSink(output, forbidden=forbidden, release=release), None
        with closing(DatabaseEngine(os.fspath(data), output, overwrite=overwrite, sink=to_file)) as found:
            yield found
    elif name == "spark":
        from kanopy.engine.spark import SparkEngine, read_files, spark_session

        if os.fspath(data).lower().endswith((".csv", ".tsv", ".txt")):
            raise JobError("On Spark a table is Parquet. Convert the text first, or use --engine stream.")
        session = spark_session(master)
        yield SparkEngine(read_files(session, os.fspath(data)), output)
    else:
        raise JobError(f"There is no engine {name!r} for {os.fspath(data)}. {near_miss(name, ENGINES)}")


def anonymize_on_spark(frame: Any, job: Any, *, bound: Any = False, **settings: Any) -> Result:
    """The release of a frame of Spark, which stays on its cluster: `data` of the result is a frame of Spark too."""
    from kanopy.engine.spark import SparkEngine
    from kanopy.release.large import anonymize_where_it_is

    if bound:
        raise JobError("A bound needs all rows in memory. Leave it out, or collect the table first.")
    return anonymize_where_it_is(SparkEngine(frame), job, **settings)
