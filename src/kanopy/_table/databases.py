"""Read one table or the answer to one query from DuckDB, SQLite or PostgreSQL. Nothing here writes to a database."""

from __future__ import annotations

import contextlib
import re
import sqlite3
import urllib.parse
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from kanopy._address import HIDDEN, Address, in_full, is_ambiguous, is_incomplete, secrets_of, split_table
from kanopy._errors import DataError, MissingDependency, near_miss, short, some
from kanopy._table.dialects import Read, distinct_names

_QUERY = re.compile(r"\s*(select|with|from|values|table)\b", re.IGNORECASE)
_QUOTED = re.compile(r"""'(?:[^']|'')*'|"(?:[^"]|"")*"|`[^`]*`|\$(\w*)\$.*?\$\1\$|--[^\n]*|/\*.*?\*/""", re.DOTALL)
_WRITES = re.compile(r"\b(into|delete\s+from|update\s+\S+\s+set)\b", re.IGNORECASE)


def read_duckdb(path: Path, table: str | None, query: str | None) -> Read:
    """One table of a DuckDB file, or the answer to a query on it.

    >>> import duckdb, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "people.duckdb"
    ...     with duckdb.connect(file) as made: _ = made.execute("create table people as select 41 as age")
    ...     read_duckdb(file, "people", None)[0].rows()
    [(41,)]
    """
    try:
        import duckdb
    except ImportError:
        raise MissingDependency("DuckDB files need duckdb: pip install 'kanopy[duckdb]'.") from None
    try:
        with duckdb.connect(str(path), read_only=True) as connection:
            tables = listed_tables(connection.execute, "main")
            # A query sees this database only: no other file, no address, no variable of this program.
            for setting in ("enable_external_access", "python_enable_replacements"):
                connection.execute(f"set {setting} = false")
            statement = _statement(tables, table, query, str(path))
            statements = connection.extract_statements(statement)
            if len(statements) != 1 or statements[0].type != duckdb.StatementType.SELECT:
                raise _not_one_query(statement, str(path))
            answer = connection.sql(statement)
            names, notes = distinct_names(list(answer.columns))
            if notes:
                answer = connection.sql(f"select * from (\n{statement}\n) as answer({', '.join(map(quoted, names))})")
            return duckdb_frame(answer), notes
    except duckdb.Error as error:
        raise refused(str(path), error) from None


def duckdb_frame(answer: Any) -> pl.DataFrame:
    """An answer of DuckDB as a frame; its intervals are durations.

    >>> import duckdb
    >>> duckdb_frame(duckdb.sql("select interval 31 hours as spent, 2 as visits")).rows()
    [(datetime.timedelta(days=1, seconds=25200), 2)]
    """
    if not any(str(kind) == "INTERVAL" for kind in answer.types):
        frame: pl.DataFrame = answer.pl()
        return frame
    table = answer.to_arrow_table()
    return pl.DataFrame([_arrow_column(name, table.column(i)) for i, name in enumerate(table.column_names)])


def duckdb_batch(batch: Any) -> pl.DataFrame:
    """A part of an answer, as `duckdb_frame` reads the whole."""
    return pl.DataFrame([_arrow_column(name, batch.column(i)) for i, name in enumerate(batch.schema.names)])


def _arrow_column(name: str, values: Any) -> pl.Series:
    """A column of an answer; months have no length, so an interval that has some is no duration."""
    if str(values.type) != "month_day_nano_interval":
        series = pl.from_arrow(values)
        assert isinstance(series, pl.Series)
        return series.rename(name)
    parts = [
        None if interval is None else (interval.months, interval.days, interval.nanoseconds)
        for interval in values.to_pylist()
    ]
    if strange := [interval for interval in parts if interval is not None and interval[0]]:
        raise DataError(
            f"The column {name!r} holds intervals of months, e.g. "
            f"{some([f'{interval[0]} months' for interval in strange])}: "
            f"a month has no fixed length. Convert it in the query: cast({name} as text)."
        )
    day = 86_400_000_000
    return pl.Series(
        name, [None if interval is None else interval[1] * day + interval[2] // 1000 for interval in parts], pl.Int64
    ).cast(pl.Duration("us"))


def read_sqlite(path: Path, table: str | None, query: str | None) -> Read:
    """One table of an SQLite file, or the answer to a query on it.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "people.sqlite"
    ...     with contextlib.closing(sqlite3.connect(file)) as made:
    ...         _ = made.execute("create table people as select 41 age")
    ...     read_sqlite(file, "people", None)[0].rows()
    [(41,)]
    """
    address = f"file:{urllib.parse.quote(str(path.resolve()))}?mode=ro"
    try:
        with contextlib.closing(sqlite3.connect(address, uri=True)) as connection:
            listed = connection.execute(
                "select name from sqlite_master where type in ('table', 'view') and name not like 'sqlite_%' order by 1"
            ).fetchall()
            cursor = connection.execute(_statement(_tables(listed), table, query, str(path)))
            return sqlite_frame(cursor)
    except sqlite3.Error as error:
        raise refused(str(path), error) from None


def sqlite_frame(cursor: sqlite3.Cursor, most: int | None = None) -> Read:
    """The answer that a cursor of SQLite holds, or its next rows, each column in the one type its values agree on."""
    names, notes = distinct_names([column[0] for column in cursor.description or ()])
    rows = cursor.fetchall() if most is None else cursor.fetchmany(most)
    columns: Sequence[Sequence[Any]] = list(zip(*rows, strict=True)) or [()] * len(names)
    return pl.DataFrame([_sqlite_column(name, values) for name, values in zip(names, columns, strict=True)]), notes


def _sqlite_column(name: str, values: Sequence[Any]) -> pl.Series:
    """SQLite lets every row choose its type; a column must agree on one."""
    kinds = {type(value) for value in values} - {type(None)}
    if not kinds:
        return pl.Series(name, values, dtype=pl.String)
    if kinds == {int, float}:
        return pl.Series(name, [None if value is None else float(value) for value in values], dtype=pl.Float64)
    if len(kinds) > 1:
        examples = [next(value for value in values if type(value) is kind) for kind in sorted(kinds, key=str)]
        raise DataError(
            f"The column {name!r} mixes {' and '.join(sorted(kind.__name__ for kind in kinds))} values, e.g. "
            f"{some(examples)}. Convert it in the query: cast({name} as text)."
        )
    return pl.Series(name, values)


def read_postgres(address: str) -> Read:
    """One table, or the answer to a query: `postgresql://user@host/database::table` or `…::SELECT …`."""
    try:
        from adbc_driver_postgresql import dbapi
    except ImportError:
        raise MissingDependency(
            "PostgreSQL addresses need adbc-driver-postgresql: pip install 'kanopy[postgres]'."
        ) from None
    address_shown, table, query = split_postgres(address)
    connection = connect_postgres(dbapi, address_shown)
    try:
        with connection, connection.cursor() as cursor:
            for reading in ("session characteristics as transaction", "transaction"):  # the later ones, and this one
                cursor.execute(f"set {reading} read only")

            def listing(text: str) -> Any:
                cursor.execute(text)
                return cursor

            tables = listed_tables(listing, "public", ("pg_catalog", "information_schema"))
            cursor.execute(_statement(tables, table, query, address_shown))
            answer = cursor.fetch_arrow_table()
    except dbapi.Error as error:
        raise refused(address_shown, error) from None
    return arrow_frame(answer)


def connect_postgres(dbapi: Any, address: Address, **options: Any) -> Any:
    """A connection to a server: the one place that asks an address for its password."""
    if is_incomplete(address):
        raise DataError(
            f"{address} was stored without its password and settings. Give the full address, or leave them out and "
            "use PGPASSWORD or ~/.pgpass for the password."
        )
    if is_ambiguous(address):
        raise DataError(
            f"In {address} characters of the password are read as separators. Write @ as %40, / as %2F, : as %3A."
        )
    try:
        return dbapi.connect(in_full(address), **options)
    except dbapi.Error as error:
        problem = refused(address, error)
    raise problem  # out here, so that it does not carry the error of the driver, which may quote the address


def split_postgres(address: str) -> tuple[Address, str | None, str | None]:
    """The address of a server, and the table or the query that stands behind it.

    >>> split_postgres("postgresql://me@host/people::visits")
    ('postgresql://me@host/people', 'visits', None)
    """
    location, wanted = split_table(address)
    address, mark = in_full(location), bool(wanted)
    parts = None
    with contextlib.suppress(ValueError):
        parts = urllib.parse.urlparse(address)
    if parts is None:
        raise DataError(f"{location} is not an address of a server. Check its characters, brackets above all.")
    parameters = urllib.parse.parse_qs(parts.query)
    if not mark and "query" in parameters:
        wanted = parameters.pop("query")[0]
        rest = urllib.parse.urlencode(parameters, doseq=True)
        address = urllib.parse.urlunparse(parts._replace(query=rest))
    is_query = bool(_QUERY.match(wanted)) and " " in wanted.strip()
    return Address(address), None if is_query else wanted or None, wanted if is_query else None


def arrow_frame(answer: Any) -> Read:
    """An answer of the PostgreSQL driver as a frame."""
    names, notes = distinct_names(list(answer.column_names))
    return pl.DataFrame([_postgres_column(name, answer.column(i)) for i, name in enumerate(names)]), notes


def _postgres_column(name: str, values: Any) -> pl.Series:
    """A column from the driver; types it does not know (numeric, uuid …) come as opaque text and stay text."""
    import pyarrow

    if isinstance(values.type, pyarrow.BaseExtensionType):
        values = pyarrow.chunked_array([chunk.storage for chunk in values.chunks], values.type.storage_type)
    return _arrow_column(name, values)


def listed_tables(execute: Callable[[str], Any], usual: str, hidden: Sequence[str] = ()) -> dict[str, str]:
    """What the tables of a database with schemas are called here, and how SQL writes them."""
    without = f"where table_schema not in ({', '.join(repr(name) for name in hidden)}) " if hidden else ""
    query = f"select table_schema, table_name from information_schema.tables {without}order by 1, 2"
    return _tables(execute(query).fetchall(), usual)


def _tables(listed: Iterable[Sequence[str]], usual: str = "") -> dict[str, str]:
    """What the tables are called here, and how SQL writes them; those of the usual schema go without it.

    >>> _tables([("main", "a.b"), ("old", "c")], "main")
    {'a.b': '"main"."a.b"', 'old.c': '"old"."c"'}
    """
    return {".".join(parts[1:] if parts[0] == usual else parts): ".".join(map(quoted, parts)) for parts in listed}


def quoted(name: str) -> str:
    """A name as SQL writes it."""
    return '"' + name.replace('"', '""') + '"'


def bracketed(tables: Mapping[str, str], table: str | None, query: str | None, where: str) -> str:
    """The table named, or the query in brackets, as a statement reads it."""
    statement = _statement(tables, table, query, where)
    return f"(\n{statement}\n)" if query is not None else statement.removeprefix("select * from ")


def _statement(tables: Mapping[str, str], table: str | None, query: str | None, where: str) -> str:
    """The query to run: the one given if it is one that only reads, or all of the table named (or of the only one)."""
    if query is not None:
        return one_query(query, where)
    names = list(tables)
    if table is None and len(names) == 1:
        table = names[0]
    listed = f"Its tables: {some(names)}." if names else "It has no tables."
    if table is None:
        raise DataError(
            f"{where} needs a table. Name it after '::', e.g. '{where}::{(names or ['people'])[0]}'. {listed}"
        )
    if table not in tables:
        hint = near_miss(table, names) if names else ""
        asked = " A query follows '?'." if _QUERY.match(table) else ""
        raise DataError(
            f"{where} has no table {short(table)}. {listed}{asked} {hint if hint.startswith('Did') else ''}".rstrip()
        )
    return f"select * from {tables[table]}"


def one_query(query: str, where: str) -> str:
    """The query itself, if it is one statement that only reads; nothing else ever reaches a database.

    >>> one_query("select 'a;b' as x;", "people.db")
    "select 'a;b' as x"
    >>> one_query("select 1; drop x", "p.db")
    Traceback (most recent call last):
    kanopy._errors.DataError: Only queries that read are run on p.db (one SELECT … or WITH …), not 'select 1; drop x'.
    """
    query = query.strip().removesuffix(";")
    bare = _QUOTED.sub(" ", query)  # quoted texts and comments may hold anything
    if not _QUERY.match(bare) or ";" in bare or "\0" in bare or _WRITES.search(bare):
        raise _not_one_query(query, where)
    return query


def _not_one_query(query: str, where: str) -> DataError:
    return DataError(f"Only queries that read are run on {where} (one SELECT … or WITH …), not {short(query)}.")


def refused(where: str, error: Exception) -> DataError:
    """The error for what a database says, without the secrets of its address."""
    reason = (str(error).strip().splitlines() or [type(error).__name__])[0]
    for secret in secrets_of(where):
        reason = re.sub(rf"(?<!\w){re.escape(secret)}(?!\w)" if len(secret) < 4 else re.escape(secret), HIDDEN, reason)
    if any(phrase in reason.lower() for phrase in ("no space left", "disk is full", "out of disk space")):
        return DataError(f"The disk is full: {where} says {reason!r}. Nothing was left behind. Free some space there.")
    return DataError(f"{where} cannot be read: {reason}. Check the name, the query and your rights.")
