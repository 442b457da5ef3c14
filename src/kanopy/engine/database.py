"""The engine for tables in a database: counted, published and looked at there, in one transaction.

Only distinct rows travel, each with how often it occurs; what was found for them travels back, and the database makes
the release itself. Either all of it is there at the end, or nothing.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property

import polars as pl

from kanopy import _files, _temporary
from kanopy._address import in_full
from kanopy._errors import DataError, shown_address
from kanopy._table.databases import bracketed, quoted, refused, split_postgres
from kanopy._table.guessing.identifying_values import MOST_VALUES
from kanopy._table.sources import POSTGRES, split_source
from kanopy._table.streams.scans import Scan, scan
from kanopy._table.streams.sinks import FileSink, Frames, Sink
from kanopy.engine import statements as sql
from kanopy.engine.connections import Connection, absent_database, connected, is_database
from kanopy.engine.contract import RecodePlan, Recount, in_order, most_different, require_few
from kanopy.engine.publishing import counted_again, texts
from kanopy.engine.pushdown import DatabasePlace
from kanopy.engine.statements import FRAGMENTS, PAIRS, Statements

COUNTED = "kanopy_counted"
LOOKED_AT = 5_000
"""So many rows come here to see what columns look like."""


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

    name, reads_batches, remote = "database", False, None
    notes: tuple[str, ...] = ()

    def __init__(
        self, address: str, output: str | None = None, *, overwrite: bool = False, sink: Sink | None = None,
        shuffle: bool = True,
    ) -> None:  # fmt: skip
        self.connection, self.source, table, query = connected(address)
        self.sink, self._shuffle = sink, shuffle
        try:
            self._source = bracketed(self.connection.tables(), table, query, self.source)
            self._ordered = query is None
            self.fetched = 0  # bytes that came from there
            self.output: str | None = None
            self.target = sink.target if sink is not None else output and shown_address(output)
            if output is not None:
                self.output = self._target(address, output, overwrite)
        except BaseException:
            self.close()
            raise

    def _target(self, address: str, output: str, overwrite: bool) -> str:
        if not in_same_database(address, output):
            raise DataError(
                f"{shown_address(output)} is not in the database of the table. Name a table of {self.source}, or "
                "write a file, e.g. release.parquet."
            )
        table = split_postgres(output)[1] if output.startswith(POSTGRES) else split_source(output)[1]
        if not table:
            raise DataError(f"The output needs the name of a table in {self.source}. Write it after '::'.")
        there = self.connection.tables()
        if table in there:
            if not overwrite:
                raise DataError(f"{self.source} already has a table {table!r}. Give another name, or --overwrite.")
            if there[table] == self._source:
                raise DataError(f"The output {table!r} is the input itself. Give another name.")
        self._overwrite = overwrite and table in there
        return there.get(table, ".".join(map(quoted, table.split("."))))

    @property
    def table(self) -> str:
        """How statements name the table."""
        return self._source

    @property
    def schema(self) -> pl.Schema:
        """The columns with their types."""
        return self._looked_at.schema

    @cached_property
    def _looked_at(self) -> pl.DataFrame:
        return self._fetch(f"select * from {self._source} s limit {LOOKED_AT}")

    @cached_property
    def plain_types(self) -> dict[str, str]:
        """What columns of enumerations are published as."""
        with self._told():
            return self.connection.plain_types(self._source)

    def head(self, rows: int) -> pl.DataFrame:
        """Some of the rows; few, because they travel."""
        return self._looked_at[:rows]

    def batches(self) -> Iterator[pl.DataFrame]:
        """All rows, piece by piece."""
        with self._told():
            yield from self.connection.batches(f"select * from {self._source} s")

    def count(self, columns: Sequence[str]) -> pl.DataFrame:
        """The distinct rows; nothing else travels. Ordered, because a database has no order of its own."""
        asked, most = sql.count_statement(self._source, columns, self.connection.dialect), most_different()
        asked = f"select * from ({asked}) c limit {most + 1}"
        # Who only counts may have no right to make tables.
        writes = self.output is not None or self.sink is not None
        counts = self._coded(asked, columns, most) if writes else self._fetch(asked)
        require_few(counts.height, most)
        if not counts.height:
            raise DataError(f"{self.source} has columns but no records. Give a table with at least one record.")
        return in_order(counts, columns)

    def distinct(self, columns: Sequence[str], most: int = MOST_VALUES) -> dict[str, pl.DataFrame | None]:
        """The distinct values of some columns; of those with too many none is used."""
        return sql.distinct(self._source, self.schema, columns, self.connection.dialect, most, self._fetch)

    def sample(self, columns: Sequence[str], rows: int) -> pl.DataFrame:
        """Rows drawn by the database."""
        return self._fetch(sql.sample_statement(self._source, columns, self.connection.dialect, rows))

    def _coded(self, asked: str, columns: Sequence[str], most: int | None = None) -> pl.DataFrame:
        """The answer to a query of distinct rows: each value of a column travels once, and in rows its number."""
        backend, dialect = DatabasePlace(self.connection, self._fetch), self.connection.dialect
        if dialect is sql.SQLITE:  # which keeps values of several types in a column
            return self._fetch(asked)
        names = [dialect.name(name) for name in columns]
        try:
            with self._told():
                backend.keep(COUNTED, asked)
                sizes = ", ".join(f"count(distinct {name}) as d{j}" for j, name in enumerate(names))
                sizes_found = self._fetch(f"select count(*) as n, max({sql.COUNT}) as most, {sizes} from {COUNTED}")
                rows, largest, *different = (int(value or 0) for value in sizes_found.row(0))
                require_few(rows, most or rows)
                few = {j: sql.small_type(many + 1) for j, many in enumerate(different) if 2 * many < rows}
                for j, small in few.items():
                    once = f"select distinct {names[j]} as k from {COUNTED}"
                    number = f"cast(row_number() over () as {small}) as c"
                    backend.keep(f"kanopy_codes{j}", f"select k, {number} from ({once}) v")
            selected = [f"z{j}.c as c{j}" if j in few else f"t.{name} as c{j}" for j, name in enumerate(names)]
            selected.append(f"cast(t.{sql.COUNT} as {sql.small_type(largest)}) as n")
            joins = "".join(
                f" join kanopy_codes{j} z{j} on {dialect.same.format(a=f't.{names[j]}', b=f'z{j}.k')}" for j in few
            )
            sizes_found = self._fetch(f"select {', '.join(selected)} from {COUNTED} t{joins}")
            for j in few:
                values = self._fetch(f"select k from kanopy_codes{j} order by c")["k"]
                sizes_found = sizes_found.with_columns(
                    values.gather(sizes_found[f"c{j}"].cast(pl.Int64) - 1).alias(f"c{j}")
                )
            return sizes_found
        finally:
            backend.forget()

    @contextlib.contextmanager
    def write(self, plan: RecodePlan) -> Iterator[Recount]:
        """Make the release in one transaction, and count on it before it is committed."""
        asked = Statements(self._source, plan, self.connection.dialect, self._ordered, plain=self.plain_types)
        try:
            with self._told():
                self.connection.upload(FRAGMENTS, asked.fragments())
            with self.released(asked) if self.sink is None else self._filed(asked, self.sink) as (columns, seen):
                with self._told():
                    self.connection.run(f"create temp table {PAIRS} as {asked.paired()}")
                classes = self._coded(asked.classes(seen), plan.counted_columns) if isinstance(seen, str) else seen
                recount = asked.seen(columns, classes, self._fetch, PAIRS)
                yield recount if self.sink is None else replace(recount, as_text=self.sink.as_text)
                with self._told():
                    self.connection.run(f"drop table {PAIRS}")
        finally:
            with contextlib.suppress(Exception):
                self.connection.run(f"drop table {FRAGMENTS}")

    @contextlib.contextmanager
    def _filed(self, asked: Statements, sink: Sink) -> Iterator[tuple[list[str], pl.DataFrame]]:
        """The release as a file that is written piece by piece: its columns, and what was counted on it."""
        plan = asked.plan
        dtypes = {name: plan.labels[name].dtype for name in plan.quasi}
        kinds = {
            name: pl.String()
            if isinstance(dtypes.get(name), (pl.Enum, pl.String))
            else dtypes.get(name, self.schema[name])
            for name in plan.columns
        }

        kinds = dict(texts(pl.DataFrame(schema=kinds)).schema)

        def frames() -> Iterator[pl.DataFrame]:
            with self._told():
                for batch in self.connection.batches(asked.published()):
                    batch.columns = list(plan.columns)
                    yield batch.cast(pl.Schema(kinds))

        with sink.writing(frames, pl.Schema(kinds)) as written:
            columns, classes = counted_again(written, plan.counted_columns)
            yield list(columns), classes

    @contextlib.contextmanager
    def released(self, asked: Statements) -> Iterator[tuple[list[str], str]]:
        """The release that fragments in the database make: its columns and its name; committed when all ends well."""
        assert self.output is not None, "an engine without an output only counts"
        connection, ended = self.connection, False
        try:
            with self._told():
                connection.run("begin")
                if self._overwrite:
                    connection.run(f"drop table {self.output}")
                rows = asked.shuffled() if self._shuffle else asked.published()
                connection.run(f"create table {self.output} as {rows}")
                columns = self._fetch(f"select * from {self.output} limit 0").columns
            yield columns, self.output
            with _files.LANDING.attempt(), self._told():
                connection.run("commit")
            ended = True
        finally:
            if not ended:
                with contextlib.suppress(Exception):
                    connection.run("rollback")

    def pushdown(self, columns: Sequence[str]) -> contextlib.AbstractContextManager[DatabaseEngine]:
        """The table where not even its distinct rows come here."""
        if self.sink is not None:
            raise DataError(
                f"The table has more distinct rows than fit on one machine. Let the release become a table of "
                f"{self.source} (-o …::release), and export that."
            )
        return contextlib.nullcontext(self)

    @property
    def place(self) -> DatabasePlace:
        """Where statements about the table are run."""
        return DatabasePlace(self.connection, self._fetch)

    def _fetch(self, query: str) -> pl.DataFrame:
        with self._told():
            fetched = self.connection.fetch(query)
        self.fetched += int(fetched.estimated_size())
        return fetched

    @contextlib.contextmanager
    def _told(self) -> Iterator[None]:
        try:
            yield
        except self.connection.errors as error:
            raise refused(self.source, error) from None

    def close(self) -> None:
        """End the connection."""
        self.connection.close()


def in_same_database(address: str, output: str) -> bool:
    """Whether two addresses name the same database.

    >>> [in_same_database("shop.duckdb::visits", to) for to in ("shop.duckdb::release", "release.csv")]
    [True, False]
    """
    if not is_database(output) or output.startswith(POSTGRES) != address.startswith(POSTGRES):
        return False
    if output.startswith(POSTGRES):
        return in_full(split_postgres(output)[0]) == in_full(split_postgres(address)[0])
    return split_source(output)[0].resolve() == split_source(address)[0].resolve()


class TableSink:
    """A table of a database that is written piece by piece, in one transaction: complete or not there. A database that
    is not there is made aside, and gets its name when the table is complete."""

    as_text = False

    def __init__(self, address: str, *, overwrite: bool = False) -> None:
        self.address, self.target = address, shown_address(address)
        self.path, there, self.source = absent_database(address), dict[str, str](), self.target
        if self.path is not None:
            _files.check_writable(self.path)
            self.source, table = str(self.path), split_source(address)[1]
        else:
            # Not kept open: a run that ends without a release would leave the database locked.
            connection, self.source, table, _ = connected(address)
            with contextlib.closing(connection):
                there = connection.tables()
        if not table:
            raise DataError(f"The output needs the name of a table in {self.source}. Write it after '::'.")
        self._replaces = table in there
        if self._replaces and not overwrite:
            raise DataError(f"{self.source} already has a table {table!r}. Give another name, or --overwrite.")
        self.table = there.get(table, ".".join(map(quoted, table.split("."))))

    @contextlib.contextmanager
    def writing(self, frames: Frames, schema: pl.Schema) -> Iterator[pl.LazyFrame]:
        """Write all frames; the block sees what was written, which is committed when it ends well."""
        if self.path is None:
            with self._transaction(connected(self.address)[0], frames, schema) as written:
                yield written
            return
        temporary = _files.place_beside(self.path)
        try:
            with self._transaction(connected(self.address, temporary)[0], frames, schema) as written:
                yield written
            with _files.explained(self.path):
                os.rename(temporary, self.path)
        finally:
            for left in (temporary, temporary.with_name(f"{temporary.name}.wal")):
                left.unlink(missing_ok=True)

    @contextlib.contextmanager
    def _transaction(self, connection: Connection, frames: Frames, schema: pl.Schema) -> Iterator[pl.LazyFrame]:
        from polars.io.plugins import register_io_source

        ended, kinds = False, pl.Schema({name: _stored(kind) for name, kind in schema.items()})
        try:
            try:
                connection.run("begin")
                if self._replaces:
                    connection.run(f"drop table {self.table}")
                for number, frame in enumerate(frames()):
                    connection.append(self.table, frame.cast(kinds), first=number == 0)

                def again(*_: object) -> Iterator[pl.DataFrame]:
                    for batch in connection.batches(f"select * from {self.table}"):
                        yield batch.cast(kinds)

                yield register_io_source(again, schema=kinds)
                with _files.LANDING.attempt():
                    connection.run("commit")
            except connection.errors as error:
                raise refused(self.source, error) from None
            ended = True
        finally:
            if not ended:
                with contextlib.suppress(Exception):
                    connection.run("rollback")
            connection.close()


def _stored(kind: pl.DataType) -> pl.DataType:
    """How a database keeps a column: enumerations are texts there."""
    return pl.String() if isinstance(kind, (pl.Enum, pl.Categorical)) else kind


@contextlib.contextmanager
def spooled(address: str, output: str | None = None, *, overwrite: bool = False) -> Iterator[Scan]:
    """The table at an address, read once into a private file that is removed in the end: for what a database cannot do
    to rows itself.

    An `output` in the same database is refused where the engine for databases refuses it.
    """
    same_output = output if output is not None and in_same_database(address, output) else None
    with _temporary.folder() as folder:
        file = folder / "table.parquet"
        with contextlib.closing(DatabaseEngine(address, same_output, overwrite=overwrite)) as engine:
            kinds = engine.schema

            def frames() -> Iterator[pl.DataFrame]:
                for batch in engine.batches():
                    batch.columns = kinds.names()
                    yield batch.cast(kinds)

            with FileSink(str(file)).writing(frames, kinds):
                pass
        yield replace(scan(file), name=shown_address(address))
