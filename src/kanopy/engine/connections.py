"""Connections to DuckDB, SQLite and PostgreSQL: the few things that are asked of a database, the same of each."""

from __future__ import annotations

import contextlib
import re
import sqlite3
import urllib.parse
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Protocol

import polars as pl
import polars.selectors as cs

from kanopy._address import Address
from kanopy._errors import DataError, JobError, MissingDependency
from kanopy._table.databases import (
    arrow_frame,
    connect_postgres,
    duckdb_batch,
    duckdb_frame,
    listed_tables,
    quoted,
    refused,
    split_postgres,
    sqlite_frame,
)
from kanopy._table.sources import KINDS, POSTGRES, split_source
from kanopy._table.streams.scans import BATCH_ROWS
from kanopy.engine import statements as sql
from kanopy.engine.statements import Dialect

_ENUMERATION = re.compile(r"ENUM\((?:'(?:[^']|'')*'(?:, )?)*\)")


class Connection(Protocol):
    """What is asked of a database."""

    dialect: Dialect

    @property
    def errors(self) -> tuple[type[Exception], ...]:
        """What its driver raises."""

    def run(self, statement: str) -> None:
        """Run a statement."""

    def fetch(self, query: str) -> pl.DataFrame:
        """The answer to a query, with the types of the in-memory reader."""

    def plain_types(self, source: str) -> dict[str, str]:
        """What columns of enumerations are published as: their types list values that no published row has."""

    def upload(self, name: str, frame: pl.DataFrame) -> None:
        """Make a temporary table."""

    def batches(self, query: str) -> Iterator[pl.DataFrame]:
        """The answer to a query, piece by piece; nothing else may be asked meanwhile."""

    def append(self, name: str, frame: pl.DataFrame, *, first: bool) -> None:
        """More rows of a table, which the `first` of them make; `name` as statements say it."""

    def tables(self) -> dict[str, str]:
        """What tables are called, and how statements name them."""

    def close(self) -> None: ...


class DuckDB:
    """A DuckDB file. `memory` is what it may hold in memory; the rest goes to a folder beside the file."""

    dialect = sql.DUCKDB

    def __init__(self, path: Path, memory: str | None = None) -> None:
        try:
            import duckdb
        except ImportError:
            raise MissingDependency("DuckDB files need duckdb: pip install 'kanopy[duckdb]'.") from None
        self.errors, self._path = (duckdb.Error,), path
        try:
            self._own = duckdb.connect(str(path))
        except duckdb.Error as error:
            raise refused(str(path), error) from None
        self._tables = listed_tables(self._own.execute, "main")
        if memory is not None:
            self._own.execute(f"set memory_limit = '{memory}'")
        for setting in ("enable_external_access", "python_enable_replacements"):
            self._own.execute(f"set {setting} = false")
        with contextlib.suppress(OSError):
            # Nobody else has the database open now: what sorting keeps beside it is of a process that was killed.
            beside = path.with_name(f"{path.name}.tmp")
            for left in beside.glob("duckdb_temp_*"):
                left.unlink()
            beside.rmdir()

    def leave_no_name(self) -> None:
        """Take the file from its folder while it is open: it ends with the process, however that ends."""
        self._own.execute("set wal_autocheckpoint = '1KB'")
        with contextlib.suppress(OSError):  # Windows keeps names of open files
            self._path.chmod(0o600)
            self._path.unlink()

    def run(self, statement: str) -> None:
        """Run a statement."""
        self._own.execute(statement)

    def fetch(self, query: str) -> pl.DataFrame:
        """The answer to a query."""
        return duckdb_frame(self._own.sql(query))

    def plain_types(self, source: str) -> dict[str, str]:
        """Texts instead of enumerations, also inside lists and records."""
        described = self._own.execute(f"describe select * from {source} s").fetchall()
        return {name: _ENUMERATION.sub("VARCHAR", kind) for name, kind, *_ in described if "ENUM(" in kind}

    def upload(self, name: str, frame: pl.DataFrame) -> None:
        """Make a temporary table."""
        self._own.register(f"{name}_here", frame.to_arrow())
        self._own.execute(f"create or replace temp table {name} as select * from {name}_here")
        self._own.unregister(f"{name}_here")

    def batches(self, query: str) -> Iterator[pl.DataFrame]:
        """The answer to a query, piece by piece."""
        answer: Any = self._own.sql(query)
        for batch in answer.to_arrow_reader(BATCH_ROWS):
            yield duckdb_batch(batch)

    def append(self, name: str, frame: pl.DataFrame, *, first: bool) -> None:
        """More rows of a table, which the `first` of them make."""
        self._own.register("kanopy_more", frame.to_arrow())
        self._own.execute(
            f"{'create table' if first else 'insert into'} {name} {'as' if first else ''} from kanopy_more"
        )
        self._own.unregister("kanopy_more")

    def tables(self) -> dict[str, str]:
        """The tables."""
        return self._tables

    def close(self) -> None:
        """End."""
        self._own.close()


class SQLite:
    """An SQLite file."""

    dialect, errors = sql.SQLITE, (sqlite3.Error,)

    def __init__(self, path: Path) -> None:
        # Writers of files ask for the next rows in a thread of theirs, one at a time.
        address = f"file:{urllib.parse.quote(str(path.resolve()))}?mode=rw"
        self._own = sqlite3.connect(address, uri=True, check_same_thread=False)
        self._own.isolation_level = None
        try:
            self.tables()  # the file is opened by the first question
        except sqlite3.Error as error:
            self.close()
            raise refused(str(path), error) from None

    def run(self, statement: str) -> None:
        """Run a statement."""
        self._own.execute(statement)

    def fetch(self, query: str) -> pl.DataFrame:
        """The answer to a query."""
        return sqlite_frame(self._own.execute(query))[0]

    def plain_types(self, source: str) -> dict[str, str]:
        """SQLite has no enumerations."""
        return {}

    def batches(self, query: str) -> Iterator[pl.DataFrame]:
        """The answer to a query, piece by piece."""
        cursor = self._own.execute(query)
        while (batch := sqlite_frame(cursor, BATCH_ROWS)[0]).height:
            yield batch

    def append(self, name: str, frame: pl.DataFrame, *, first: bool) -> None:
        """More rows of a table, which the `first` of them make."""
        if first:
            self._own.execute(f"create table {name} ({', '.join(map(quoted, frame.columns))})")
        plain = frame.with_columns(cs.temporal().cast(pl.String))
        self._own.executemany(f"insert into {name} values ({', '.join('?' * frame.width)})", plain.iter_rows())

    def upload(self, name: str, frame: pl.DataFrame) -> None:
        """Make a temporary table."""
        self._own.execute(f"drop table if exists temp.{name}")
        self._own.execute(f"create temp table {name} ({', '.join(frame.columns)})")
        marks = ", ".join("?" * frame.width)
        self._own.executemany(f"insert into {name} values ({marks})", frame.iter_rows())
        keys = [column for column in frame.columns if column[0] == "k"] or frame.columns[:1]
        self._own.execute(f"create index temp.{name}_keys on {name} ({', '.join(keys)})")

    def tables(self) -> dict[str, str]:
        """The tables."""
        names_found = self._own.execute("select name from sqlite_master where type in ('table', 'view')").fetchall()
        return {name: quoted(name) for (name,) in names_found}

    def close(self) -> None:
        """End."""
        self._own.close()


class PostgreSQL:
    """A PostgreSQL server."""

    dialect = sql.POSTGRES

    def __init__(self, address: Address) -> None:
        try:
            from adbc_driver_postgresql import dbapi
        except ImportError:
            raise MissingDependency(
                "PostgreSQL addresses need adbc-driver-postgresql: pip install 'kanopy[postgres]'."
            ) from None
        self.errors = (dbapi.Error,)
        self._own = connect_postgres(dbapi, address, autocommit=True)
        try:
            # Keys are compared as expressions, of which the planner knows nothing: it would sort all rows.
            for setting in ("enable_mergejoin = off", "enable_nestloop = off", "work_mem = '64MB'"):
                self.run(f"set {setting}")
        except dbapi.Error as error:
            raise refused(address, error) from None

    def run(self, statement: str) -> None:
        """Run a statement."""
        with self._own.cursor() as cursor:
            cursor.execute(statement)

    def fetch(self, query: str) -> pl.DataFrame:
        """The answer to a query."""
        with self._own.cursor() as cursor:
            cursor.execute(query)
            return arrow_frame(cursor.fetch_arrow_table())[0]

    def plain_types(self, source: str) -> dict[str, str]:
        """Texts instead of enumerations, also in arrays."""
        with self._own.cursor() as cursor:
            cursor.execute(f"select * from {source} s limit 0")
            names = [str(column[0]) for column in cursor.description or ()]
            asked = ", ".join(f"cast(pg_typeof(s.{self.dialect.name(name)}) as oid)" for name in names)
            cursor.execute(f"select {asked} from (select 1) one left join {source} s on true limit 1")
            kinds = dict(zip(names, cursor.fetchone() or (), strict=True))
            cursor.execute("select t.oid, 'text' from pg_type t where t.typtype = 'e' union all select t.typarray, "
                           "'text[]' from pg_type t where t.typtype = 'e'")  # fmt: skip
            texts = {int(kind): text for kind, text in cursor.fetchall()}
        return {name: texts[int(kind)] for name, kind in kinds.items() if int(kind) in texts}

    def batches(self, query: str) -> Iterator[pl.DataFrame]:
        """The answer to a query, piece by piece."""
        import pyarrow

        with self._own.cursor() as cursor:
            cursor.execute(query)
            for batch in cursor.fetch_record_batch():
                yield arrow_frame(pyarrow.Table.from_batches([batch]))[0]

    def append(self, name: str, frame: pl.DataFrame, *, first: bool) -> None:
        """More rows of a table, which the `first` of them make."""
        name_parts = [name_part.strip('"').replace('""', '"') for name_part in name.split('"."')]
        more = {"db_schema_name": name_parts[0]} if len(name_parts) > 1 else {}
        with self._own.cursor() as cursor:
            cursor.adbc_ingest(name_parts[-1], frame.to_arrow(), mode="create" if first else "append", **more)

    def upload(self, name: str, frame: pl.DataFrame) -> None:
        """Make a temporary table."""
        self.run(f"drop table if exists pg_temp.{name}")
        with self._own.cursor() as cursor:
            cursor.adbc_ingest(name, frame.to_arrow(), mode="create", temporary=True)
        self.run(f"analyze {name}")

    def tables(self) -> dict[str, str]:
        """The tables."""
        with self._own.cursor() as cursor:

            def answer(query: str) -> Any:
                cursor.execute(query)
                return cursor

            return listed_tables(answer, "public", ("pg_catalog", "information_schema"))

    def close(self) -> None:
        """End."""
        with contextlib.suppress(*self.errors):
            self._own.close()


def is_database(address: str) -> bool:
    """Whether an address names a database that is counted where it is.

    >>> is_database("people.duckdb::visits"), is_database("people.csv")
    (True, False)
    """
    return address.startswith(POSTGRES) or KINDS.get(split_source(address)[0].suffix.lower()) in ("duckdb", "sqlite")


def connected(address: str, database_path: Path | None = None) -> tuple[Connection, str, str | None, str | None]:
    """A connection to the database behind an address, what that is called, and the table or query named. With a
    `database_path`
    it is a new database, made there."""
    if address.startswith(POSTGRES):
        server, table, query = split_postgres(address)
        return PostgreSQL(server), server, table, query
    if not is_database(address):
        raise JobError(
            f"{address} is no DuckDB, SQLite or PostgreSQL database: choose the engine 'stream' or 'memory' for it."
        )
    path, table, query = split_source(address)
    duckdb = KINDS[path.suffix.lower()] == "duckdb"
    if database_path is not None and not duckdb:
        database_path.touch(exist_ok=False)
    elif database_path is None and not path.is_file():
        raise DataError(f"There is no file {str(path)!r}. Check the path.")
    return (DuckDB if duckdb else SQLite)(database_path or path), str(path), table, query


def absent_database(address: str) -> Path | None:
    """The file of a database that is not there yet; `None` for one that is, and for servers."""
    path = None if address.startswith(POSTGRES) else split_source(address)[0]
    return None if path is None or path.exists() else path
