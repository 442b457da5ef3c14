"""Tables that are read piece by piece and whose distinct rows do not fit in memory: DuckDB keeps them on disk.

The columns that decide are put into a database in the folder of temporary files (`TMPDIR`), in the order of the table.
There they are counted, cut and labelled; the release is written piece by piece beside the other columns, and what was
written is counted there again. The folder is gone when the run ends.
"""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from kanopy import _temporary
from kanopy._errors import DataError, MissingDependency
from kanopy._table.streams.scans import BATCH_ROWS
from kanopy.engine.contract import RecodePlan
from kanopy.engine.publishing import changed, empty_batches, publish_batch, texts
from kanopy.engine.pushdown import DatabasePlace
from kanopy.engine.statements import Statements

if TYPE_CHECKING:
    from kanopy.engine.stream import StreamEngine

SOURCE, RELEASE, LABELS, ORDER = "kanopy_source", "kanopy_release", "kanopy_labels", "kanopy_order"
MEMORY = "2GB"
"""What DuckDB may hold in memory."""


class Spilled:
    """A table that a streaming engine reads, with the columns that decide in a database on disk."""

    table, reads_batches = SOURCE, True

    def __init__(self, engine: StreamEngine, columns: Sequence[str]) -> None:
        from kanopy.engine.connections import DuckDB

        try:
            import duckdb  # noqa: F401
        except ImportError:
            raise MissingDependency(
                "The distinct rows do not fit in memory, and DuckDB keeps them on disk: pip install 'kanopy[duckdb]'."
            ) from None
        self.engine, self.columns = engine, list(columns)
        self.schema, self.head, self.distinct = engine.schema, engine.head, engine.distinct
        self.sample = engine.sample
        self.name, self.source, self.target, self.remote = engine.name, engine.source, engine.target, None
        self._folder = _temporary.Folder()
        try:
            with self._told():
                self.connection = DuckDB(self._folder.path / "distinct_rows.duckdb", memory=MEMORY)
                self.connection.leave_no_name()
                self.rows = self._load(SOURCE, self._records())
        except BaseException:
            self.close()
            raise
        self.place = DatabasePlace(self.connection, self._fetch)

    @property
    def plain_types(self) -> dict[str, str]:
        """Enumerations became texts when they were loaded."""
        return {}

    def _records(self) -> Iterator[pl.DataFrame]:
        """The columns that decide; text files are first asked for blank lines and records that are too short."""
        engine = self.engine
        if engine.scan.kind == "csv":
            last = engine.scan.columns[-1]
            engine.scan = engine.scan.checked(sum(batch[last].null_count() for batch in engine.scan.batches([last])))
        return engine.scan.batches(self.columns)

    def _load(self, name: str, batches: Iterator[pl.DataFrame]) -> int:
        rows = 0
        for batch in batches:
            numbered = texts(batch).with_columns(pl.Series(ORDER, np.arange(rows, rows + batch.height)))
            self.connection.append(name, numbered, first=not rows)
            rows += batch.height
        return rows

    def _fetch(self, query: str) -> pl.DataFrame:
        with self._told():
            return self.connection.fetch(query)

    @contextlib.contextmanager
    def released(self, asked: Statements) -> Iterator[tuple[list[str], str]]:
        """Write the labels beside the other columns, and read what was written back into the database."""
        engine, plan = self.engine, asked.plan
        assert engine.sink is not None, "an engine without a sink only counts"
        others = [
            name for name in engine.scan.columns
            if name in engine.alongside or (name in plan.columns and name not in plan.quasi)
        ]  # fmt: skip
        labels = ", ".join(asked.column(name) for name in plan.quasi)
        every = replace(asked, plan=replace(plan, drop=False))
        with self._told():
            self.place.keep(LABELS, f"select {labels}, p.gone, t.{ORDER} {every.joined()} order by t.{ORDER}")
        first = self._fetch(f"select * from {LABELS} limit 0")
        looks = {**texts(engine.said(engine.head(1)[others])).schema, **first.schema}
        schema = pl.Schema({name: looks[name] for name in plan.columns})
        with engine.sink.writing(lambda: self._frames(plan, others), schema) as written:
            columns = written.collect_schema().names()
            wanted = written.select([pl.nth(columns.index(name)).alias(name) for name in plan.counted_columns])
            with self._told():
                self.connection.run(f"drop table if exists {RELEASE}")
                self._load(
                    RELEASE, wanted.collect_batches(maintain_order=True, chunk_size=BATCH_ROWS, engine="streaming")
                )
            yield columns, RELEASE

    def _frames(self, plan: RecodePlan, others: list[str]) -> Iterator[pl.DataFrame]:
        """The published rows, in the order of the table."""
        rows = 0
        for batch in self.engine.scan.batches(others) if others else empty_batches(self.rows):
            labels = self._fetch(
                f"select * from {LABELS} where {ORDER} >= {rows} and {ORDER} < {rows + batch.height} order by {ORDER}"
            )
            if labels.height != batch.height:
                raise changed(self.engine.source)
            rows += batch.height
            read = texts(self.engine.said(batch)) if others else batch
            quasi = {name: labels[name] for name in plan.quasi}
            published, remaining = publish_batch(plan, quasi, (labels["gone"] == 1).to_numpy(), read)
            self.engine.said.count(read, published, remaining)
            yield published
        self.engine.said.end()
        if rows != self.rows:
            raise changed(self.engine.source)

    @contextlib.contextmanager
    def _told(self) -> Iterator[None]:
        import duckdb

        try:
            yield
        except (
            duckdb.IOException, duckdb.OutOfMemoryException, duckdb.TransactionException, duckdb.FatalException
        ) as error:  # fmt: skip
            raise DataError(
                f"There is no space in {tempfile.gettempdir()} for the distinct rows, which do not fit in memory, or "
                f"too little memory to sort them ({(str(error).splitlines() or [''])[0][:200]}). Make room there, or "
                "let TMPDIR name a larger place. Nothing was written."
            ) from None

    def close(self) -> None:
        """Let go of the folder."""
        if hasattr(self, "connection"):
            self.connection.close()
        self._folder.remove()
