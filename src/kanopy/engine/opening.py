"""Which engines there are, where a table is, and engines that only count it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Any

from kanopy._address import in_full
from kanopy._errors import JobError, near_miss
from kanopy.engine.connections import is_database
from kanopy.engine.spark import is_spark

if TYPE_CHECKING:
    from kanopy._table.formats.layout import Layout
    from kanopy._table.streams.scans import Scan
    from kanopy.engine.contract import Engine

ENGINES = {
    "auto": "memory, unless the table is large or the release stays in its database",
    "memory": "all rows in memory",
    "stream": "a file or folder piece by piece: larger than memory",
    "database": "in the DuckDB, SQLite or PostgreSQL database of the table",
    "spark": "on a Spark cluster",
}
PATH = "a path"


def place_of(data: Any, asked: str = "auto") -> str:
    """Where a table is: the engine asked for, else `memory` or `spark`, or `PATH` where several engines may read it.

    >>> place_of({"age": [41]}), place_of("people.csv"), place_of("people.csv", "stream")
    ('memory', 'a path', 'stream')
    """
    if not isinstance(asked, str) or asked not in ENGINES:
        raise JobError(f"There is no engine {asked!r}. {near_miss(asked, ENGINES)}")
    there = "spark" if is_spark(data) else PATH if isinstance(data, (str, os.PathLike)) else "memory"
    if asked == "auto":
        return there
    if there not in (PATH, asked):
        held = "a Spark frame is on its cluster" if there == "spark" else "this table is in memory"
        raise JobError(
            f"The engine {asked!r} reads a file or a database, and {held}. Give a path, or leave the engine out."
        )
    return asked


@contextmanager
def open_table(name: str, data: Any, *, layout: Layout | None = None, skip: int = 0) -> Iterator[Engine]:
    """An engine that counts a table and writes nothing. The first `skip` rows are no records."""
    if name == "spark":
        from kanopy.engine.spark import SparkEngine

        yield SparkEngine(spark_frame(data))
    elif name == "database" or is_database(os.fspath(data)):
        from kanopy.engine.database import DatabaseEngine

        with closing(DatabaseEngine(os.fspath(data))) as engine:
            yield engine
    else:
        from kanopy.engine.stream import StreamEngine

        yield StreamEngine(scanned(data, layout), skip=skip)


def scanned(data: Any, layout: Layout | None = None) -> Scan:
    """A file or folder to be read piece by piece."""
    from kanopy._table.streams.scans import can_scan, scan

    if not can_scan(data):
        raise JobError(
            f"{os.fspath(data)} cannot be read piece by piece: give Parquet, Arrow or uncompressed text, or a "
            "folder of Parquet or CSV files; or use --engine memory."
        )
    return scan(data, layout=layout)


def spark_frame(data: Any, master: str | None = None) -> Any:
    """A frame of Spark, or the Parquet files of a path as one."""
    from kanopy.engine.spark import read_files, spark_session

    if is_spark(data):
        return data
    if os.fspath(data).lower().endswith((".csv", ".tsv", ".txt")):
        raise JobError("On Spark a table is Parquet. Convert the text first, or use --engine stream.")
    return read_files(spark_session(master), in_full(os.fspath(data)))
