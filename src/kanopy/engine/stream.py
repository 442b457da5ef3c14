"""The engine for files larger than memory, on one machine: read piece by piece, only different rows are kept.

Counting is one pass over the columns that decide, in which texts are numbers; publishing is a second pass, in which
every batch is looked up and written, rows in their order; looking again is a pass over the labels that were written.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

import polars as pl

from kanopy._errors import DataError
from kanopy._table.streams.scans import Scan
from kanopy._table.streams.sinks import Sink
from kanopy.engine.contract import ROWS, Recoded, Seen
from kanopy.engine.finding import Publisher, changed

Said = Callable[[pl.DataFrame], pl.DataFrame]


class StreamEngine:
    """A file or folder that is read piece by piece, and where its release is written.

    `said` turns a batch into the table as its job reads it (what means missing, pseudonyms). The first `skip` rows are
    no records.

    >>> import tempfile
    >>> from kanopy._table.streams.scans import scan
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     pl.DataFrame({"age": [41, 41, 29]}).write_csv(f"{folder}/people.csv")
    ...     StreamEngine(scan(f"{folder}/people.csv")).count(["age"]).rows()
    [('41', 2), ('29', 1)]
    """

    name, reads_batches = "stream", True

    def __init__(self, table: Scan, sink: Sink | None = None, said: Said | None = None, skip: int = 0) -> None:
        self.scan, self.sink, self.said = table, sink, said or (lambda frame: frame)
        if skip:
            self.scan = replace(table, lazy=table.lazy.slice(skip))

    @property
    def schema(self) -> pl.Schema:
        """The columns with their types."""
        return self.scan.schema

    @property
    def source(self) -> str:
        """The path."""
        return self.scan.name

    @property
    def notes(self) -> tuple[str, ...]:
        """Which columns were renamed."""
        return self.scan.notes

    def head(self, rows: int) -> pl.DataFrame:
        """The first rows."""
        return self.scan.head(rows)

    def count(self, columns: Sequence[str]) -> pl.DataFrame:
        """The different rows in the order in which they first appear, with how often each occurs."""
        found = self._count(columns)
        checked = self.scan.checked(int(found["\0empty"].sum()))
        if checked.blank:
            self.scan = checked
            found = self._count(columns)
        if not found.height:
            raise DataError(f"{self.source} has columns but no records. Give a table with at least one record.")
        found = found.sort("\0first").drop("\0first", "\0empty")
        found.columns = [*columns, ROWS]
        return found

    def _count(self, columns: Sequence[str]) -> pl.DataFrame:
        keys = [_key(place, self.schema[name]) for name, place in zip(columns, self.scan.places(columns), strict=True)]
        # Only text can have blank lines and records that are too short.
        last = pl.nth(len(self.scan.columns)).is_null() if self.scan.kind == "csv" else pl.lit(False)
        table = self.scan.rows().select("\0row", last.alias("\0empty"), *keys)
        names = [f"c{place}" for place in range(len(columns))]
        table = table.rename({f"k{place}": name for place, name in zip(self.scan.places(columns), names, strict=True)})
        counted = table.group_by(names).agg(
            pl.len().cast(pl.Int64).alias(ROWS),
            pl.col("\0row").min().alias("\0first"),
            pl.col("\0empty").sum().alias("\0empty"),
        )
        with self.scan.told():
            found = counted.collect(engine="streaming")
        texts = [name for name, own in zip(names, columns, strict=True) if self.schema[own] == pl.String]
        return found.with_columns(found[name].cast(pl.String) for name in texts)

    @contextmanager
    def write(self, recoded: Recoded) -> Iterator[Seen]:
        """Publish every batch and count on what was written."""
        assert self.sink is not None, "an engine without a sink only counts"
        publisher = Publisher(recoded, self.source)
        rows = 0

        def frames() -> Iterator[pl.DataFrame]:
            nonlocal rows
            needed = list(dict.fromkeys((*recoded.keys.columns, *recoded.columns)))
            for batch in self.scan.batches([name for name in self.scan.columns if name in needed]):
                rows += batch.height
                yield publisher.publish(batch, _texts(self.said(batch)))

        schema = publisher.publish(head := self.head(1), _texts(self.said(head))).schema
        publisher = Publisher(recoded, self.source)
        with self.sink.writing(frames, schema) as written:
            if rows != int(recoded.rows.sum()):
                raise changed(self.source)
            shown = recoded.shown
            places = [written.collect_schema().names().index(name) for name in shown]
            yield Seen(
                tuple(written.collect_schema().names()),
                _regrouped(written, places, shown),
                publisher.pair_tables(),
                publisher.unit_table(),
                self.sink.as_text,
            )


def _key(place: int, dtype: pl.DataType) -> pl.Expr:
    """A column as a key of a group: texts as numbers, and not a number is missing."""
    column = pl.nth(place + 1)
    if dtype == pl.String:
        column = column.cast(pl.Categorical)
    elif dtype.is_float():
        column = column.fill_nan(None)
    return column.alias(f"k{place}")


def _texts(frame: pl.DataFrame) -> pl.DataFrame:
    """Enumerations as texts: a file would hold the categories of rows that are suppressed."""
    return frame.with_columns(
        frame[name].cast(pl.String)
        for name, dtype in frame.schema.items()
        if isinstance(dtype, (pl.Categorical, pl.Enum))
    )


def _regrouped(written: pl.LazyFrame, places: Sequence[int], names: Sequence[str]) -> pl.DataFrame:
    """The different published rows, counted from what was written."""
    keys = [f"c{place}" for place in range(len(places))]
    schema = list(written.collect_schema().values())
    columns = [
        (pl.nth(place).cast(pl.Categorical) if schema[place] == pl.String else pl.nth(place)).alias(key)
        for key, place in zip(keys, places, strict=True)
    ]
    found = written.select(columns).group_by(keys).agg(pl.len().cast(pl.Int64).alias(ROWS)).collect(engine="streaming")
    found.columns = [*names, ROWS]
    return found
