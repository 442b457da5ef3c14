"""The engine for tables in a database: counted, published and looked at there, in one transaction.

Only different rows travel, each with how often it occurs; what was found for them travels back, and the database makes
the release itself. Either all of it is there at the end, or nothing.
"""

from __future__ import annotations

import contextlib
import sqlite3
import urllib.parse
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol

import polars as pl
import polars.selectors as cs

from kanopy._errors import DataError, MissingDependency, shown_address
from kanopy._table.databases import arrow_frame, bracketed, listed_tables, quoted, refused, split_postgres, sqlite_frame
from kanopy._table.sources import KINDS, POSTGRES, split_source
from kanopy._table.streams.scans import BATCH_ROWS
from kanopy._table.streams.sinks import Frames, Sink
from kanopy.engine import statements as sql
from kanopy.engine.afar import DatabasePlace
from kanopy.engine.contract import ROWS, Recoded, Seen, most_different, require_few
from kanopy.engine.publishing import counted_again
from kanopy.engine.statements import PAIRS, PIECES, Dialect, Statements

LOOKED_AT = 5_000
"""So many rows come here to see what columns look like."""


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
        self.errors = (duckdb.Error,)
        try:
            self._own = duckdb.connect(str(path))
        except duckdb.Error as error:
            raise refused(str(path), error) from None
        self._tables = listed_tables(self._own.execute, "main")
        if memory is not None:
            self._own.execute(f"set memory_limit = '{memory}'")
        for setting in ("enable_external_access", "python_enable_replacements"):
            self._own.execute(f"set {setting} = false")

    def run(self, statement: str) -> None:
        """Run a statement."""
        self._own.execute(statement)

    def fetch(self, query: str) -> pl.DataFrame:
        """The answer to a query."""
        found: pl.DataFrame = self._own.sql(query).pl()
        return found

    def upload(self, name: str, frame: pl.DataFrame) -> None:
        """Make a temporary table."""
        self._own.register(f"{name}_here", frame.to_arrow())
        self._own.execute(f"create or replace temp table {name} as select * from {name}_here")
        self._own.unregister(f"{name}_here")

    def batches(self, query: str) -> Iterator[pl.DataFrame]:
        """The answer to a query, piece by piece."""
        answer: Any = self._own.sql(query)
        for batch in answer.to_arrow_reader(BATCH_ROWS):
            found = pl.from_arrow(batch)
            assert isinstance(found, pl.DataFrame)
            yield found

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

    def run(self, statement: str) -> None:
        """Run a statement."""
        self._own.execute(statement)

    def fetch(self, query: str) -> pl.DataFrame:
        """The answer to a query."""
        return sqlite_frame(self._own.execute(query))[0]

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
        found = self._own.execute("select name from sqlite_master where type in ('table', 'view')").fetchall()
        return {name: quoted(name) for (name,) in found}

    def close(self) -> None:
        """End."""
        self._own.close()


class PostgreSQL:
    """A PostgreSQL server."""

    dialect = sql.POSTGRES

    def __init__(self, address: str) -> None:
        try:
            from adbc_driver_postgresql import dbapi
        except ImportError:
            raise MissingDependency(
                "PostgreSQL addresses need adbc-driver-postgresql: pip install 'kanopy[postgres]'."
            ) from None
        self.errors = (dbapi.Error,)
        try:
            self._own = dbapi.connect(address, autocommit=True)
        except dbapi.Error as error:
            raise refused(shown_address(address), error) from None

    def run(self, statement: str) -> None:
        """Run a statement."""
        with self._own.cursor() as cursor:
            cursor.execute(statement)

    def fetch(self, query: str) -> pl.DataFrame:
        """The answer to a query."""
        with self._own.cursor() as cursor:
            cursor.execute(query)
            return arrow_frame(cursor.fetch_arrow_table())[0]

    def batches(self, query: str) -> Iterator[pl.DataFrame]:
        """The answer to a query, piece by piece."""
        import pyarrow

        with self._own.cursor() as cursor:
            cursor.execute(query)
            for batch in cursor.fetch_record_batch():
                yield arrow_frame(pyarrow.Table.from_batches([batch]))[0]

    def append(self, name: str, frame: pl.DataFrame, *, first: bool) -> None:
        """More rows of a table, which the `first` of them make."""
        own = [part.strip('"').replace('""', '"') for part in name.split('"."')]
        more = {"db_schema_name": own[0]} if len(own) > 1 else {}
        with self._own.cursor() as cursor:
            cursor.adbc_ingest(own[-1], frame.to_arrow(), mode="create" if first else "append", **more)

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


def connected(address: str) -> tuple[Connection, str, str | None, str | None]:
    """A connection to the database behind an address, what that is called, and the table or query named."""
    if address.startswith(POSTGRES):
        server, table, query = split_postgres(address)
        return PostgreSQL(server), shown_address(server), table, query
    path, table, query = split_source(address)
    if not path.is_file():
        raise DataError(f"There is no file {str(path)!r}. Check the path.")
    kind = DuckDB if KINDS[path.suffix.lower()] == "duckdb" else SQLite
    return kind(path), str(path), table, query


class DatabaseEngine:
    """A table or query of a database, and the table of the same database that its release becomes.

    >>> import duckdb, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with duckdb.connect(f"{folder}/p.duckdb") as made:
    ...         _ = made.execute("create table people as select * from (values (41), (41), (29)) v(age)")
    ...     with contextlib.closing(DatabaseEngine(f"{folder}/p.duckdb::people")) as engine:
    ...         sorted(engine.count(["age"]).rows())
    [(29, 1), (41, 2)]
    """

    name, reads_batches = "database", False
    notes: tuple[str, ...] = ()

    def __init__(
        self, address: str, output: str | None = None, *, overwrite: bool = False, sink: Sink | None = None
    ) -> None:
        self.connection, self.source, table, query = connected(address)
        self.sink = sink
        try:
            self._source = bracketed(self.connection.tables(), table, query, self.source)
            self._ordered = query is None
            self.fetched = 0  # bytes that came from there
            self.output: str | None = None
            if output is not None:
                self.output = self._target(address, output, overwrite)
        except BaseException:
            self.close()
            raise

    def _target(self, address: str, output: str, overwrite: bool) -> str:
        same = output.startswith(POSTGRES) == address.startswith(POSTGRES) and is_database(output)
        if same and output.startswith(POSTGRES):
            same = split_postgres(output)[0] == split_postgres(address)[0]
            table = split_postgres(output)[1]
        elif same:
            path, table, _ = split_source(output)
            same = path.resolve() == split_source(address)[0].resolve()
        if not same:
            raise DataError(
                f"{shown_address(output)} is not in the database of the table. Name a table of {self.source}, or "
                "use --engine memory to write elsewhere."
            )
        if not table:
            raise DataError(f"Which table of {self.source} becomes the release? Name it after '::'.")
        there = self.connection.tables()
        if table in there:
            if not overwrite:
                raise DataError(f"{self.source} has a table {table!r} already. Give another name, or --overwrite.")
            if there[table] == self._source:
                raise DataError(f"The output {table!r} is the input itself. Give another name.")
        self._overwrite = overwrite and table in there
        return there.get(table, ".".join(map(quoted, table.split("."))))

    @property
    def table(self) -> str:
        """How statements name the table."""
        return self._source

    @cached_property
    def schema(self) -> pl.Schema:
        """The columns with their types."""
        return self.head(1000).schema

    def head(self, rows: int) -> pl.DataFrame:
        """Some of the rows; few, because they travel."""
        return self._fetch(f"select * from {self._source} s limit {min(rows, LOOKED_AT)}")

    def count(self, columns: Sequence[str]) -> pl.DataFrame:
        """The different rows; nothing else travels. Ordered, because a database has no order of its own."""
        asked, most = sql.count_statement(self._source, columns, self.connection.dialect), most_different()
        found = self._fetch(f"select * from ({asked}) c limit {most + 1}")
        require_few(found.height, most)
        plain = [column.alias(f"c{place}") for place, column in enumerate(found.get_columns())]
        table = pl.DataFrame(plain).sort([column.name for column in plain], nulls_last=True)
        table.columns = [*columns, ROWS]
        if not table.height:
            raise DataError(f"{self.source} has columns but no records. Give a table with at least one record.")
        return table.with_columns(table[ROWS].cast(pl.Int64))

    @contextlib.contextmanager
    def write(self, recoded: Recoded) -> Iterator[Seen]:
        """Make the release in one transaction, and count on it before it is committed."""
        asked = Statements(self._source, recoded, self.connection.dialect, self._ordered)
        try:
            with self._told():
                self.connection.upload(PIECES, asked.pieces())
            with self.released(asked) if self.sink is None else self._filed(asked, self.sink) as (columns, seen):
                with self._told():
                    self.connection.run(f"create temp table {PAIRS} as {asked.paired()}")
                classes = self._fetch(asked.classes(seen)) if isinstance(seen, str) else seen
                found = asked.seen(columns, classes, self._fetch, PAIRS)
                yield found if self.sink is None else replace(found, as_text=self.sink.as_text)
                with self._told():
                    self.connection.run(f"drop table {PAIRS}")
        finally:
            with contextlib.suppress(Exception):
                self.connection.run(f"drop table {PIECES}")

    @contextlib.contextmanager
    def _filed(self, asked: Statements, sink: Sink) -> Iterator[tuple[list[str], pl.DataFrame]]:
        """The release as a file that is written piece by piece: its columns, and what was counted on it."""
        recoded = asked.recoded
        own = {name: recoded.labels[name].dtype for name in recoded.quasi}
        kinds = {
            name: pl.String() if isinstance(own.get(name), (pl.Enum, pl.String)) else self.schema[name]
            for name in recoded.columns
        }

        def frames() -> Iterator[pl.DataFrame]:
            with self._told():
                for batch in self.connection.batches(asked.published()):
                    batch.columns = list(recoded.columns)
                    yield batch.cast(pl.Schema(kinds))

        with sink.writing(frames, pl.Schema(kinds)) as written:
            columns, classes = counted_again(written, recoded.shown)
            yield list(columns), classes

    @contextlib.contextmanager
    def released(self, asked: Statements) -> Iterator[tuple[list[str], str]]:
        """The release that pieces in the database make: its columns and its name; committed when all ends well."""
        assert self.output is not None, "an engine without an output only counts"
        own, ended = self.connection, False
        try:
            with self._told():
                own.run("begin")
                if self._overwrite:
                    own.run(f"drop table {self.output}")
                own.run(f"create table {self.output} as {asked.published()}")
                columns = self._fetch(f"select * from {self.output} limit 0").columns
            yield columns, self.output
            with self._told():
                own.run("commit")
            ended = True
        finally:
            if not ended:
                with contextlib.suppress(Exception):
                    own.run("rollback")

    def afar(self, columns: Sequence[str]) -> contextlib.AbstractContextManager[DatabaseEngine]:
        """The table where not even its different rows come here."""
        if self.sink is not None:
            raise DataError(
                f"The table has more different rows than fit on one machine. Let the release become a table of "
                f"{self.source} (-o …::release), and export that."
            )
        return contextlib.nullcontext(self)

    @property
    def place(self) -> DatabasePlace:
        """Where statements about the table are run."""
        return DatabasePlace(self.connection, self._fetch)

    @property
    def published(self) -> str | None:
        """The table of the release."""
        return self.output

    def _fetch(self, query: str) -> pl.DataFrame:
        with self._told():
            found = self.connection.fetch(query)
        self.fetched += int(found.estimated_size())
        return found

    @contextlib.contextmanager
    def _told(self) -> Iterator[None]:
        try:
            yield
        except self.connection.errors as error:
            raise refused(self.source, error) from None

    def close(self) -> None:
        """End the connection."""
        self.connection.close()


class TableSink:
    """A table of a database that is written piece by piece, in one transaction: complete or not there."""

    as_text = False

    def __init__(self, address: str, *, overwrite: bool = False) -> None:
        self.connection, self.source, table, _ = connected(address)
        self.target = shown_address(address)
        try:
            if not table:
                raise DataError(f"Which table of {self.source} becomes the release? Name it after '::'.")
            there = self.connection.tables()
            if table in there and not overwrite:
                raise DataError(f"{self.source} has a table {table!r} already. Give another name, or --overwrite.")
            self.table = there.get(table, ".".join(map(quoted, table.split("."))))
            self._replaces = table in there
        except BaseException:
            self.connection.close()
            raise

    @contextlib.contextmanager
    def writing(self, frames: Frames, schema: pl.Schema) -> Iterator[pl.LazyFrame]:
        """Write all frames; the block sees what was written, which is committed when it ends well."""
        from polars.io.plugins import register_io_source

        own, ended, kinds = self.connection, False, pl.Schema({name: _stored(kind) for name, kind in schema.items()})
        try:
            try:
                own.run("begin")
                if self._replaces:
                    own.run(f"drop table {self.table}")
                for number, frame in enumerate(frames()):
                    own.append(self.table, frame.cast(kinds), first=number == 0)

                def again(*_: object) -> Iterator[pl.DataFrame]:
                    for batch in own.batches(f"select * from {self.table}"):
                        yield batch.cast(kinds)

                yield register_io_source(again, schema=kinds)
                own.run("commit")
            except own.errors as error:
                raise refused(self.source, error) from None
            ended = True
        finally:
            if not ended:
                with contextlib.suppress(Exception):
                    own.run("rollback")
            own.close()


def _stored(kind: pl.DataType) -> pl.DataType:
    """How a database keeps a column: enumerations are texts there."""
    return pl.String() if isinstance(kind, (pl.Enum, pl.Categorical)) else kind
