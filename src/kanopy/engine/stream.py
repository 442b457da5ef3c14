"""The engine for files larger than memory, on one machine: read piece by piece, only distinct rows are kept.

Counting is one pass over the columns that decide, in which every row gets the number of its distinct row, kept in a
file. Publishing is a pass over the other columns, in which labels are written beside them, rows in their order. The
recount is a pass over the labels that were written.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from kanopy._arrays import Ints, Mask
from kanopy._errors import DataError
from kanopy._table.guessing.identifying_values import MOST_VALUES, distinct_values, more_values
from kanopy._table.streams.scans import Scan
from kanopy._table.streams.sinks import Sink
from kanopy.engine.contract import RecodePlan, Recount, most_different, require_few
from kanopy.engine.publishing import Publisher, changed, counted_again, empty_batches, tally_of_distinct_rows, texts
from kanopy.engine.tally import Tally

if TYPE_CHECKING:
    from kanopy.engine.spill import Spilled

KEPT_BYTES = 64_000_000
"""So much of which distinct row every row is stays in memory; more is kept in a file."""


class Reader:
    """What a job makes of every batch; here it stays as it is."""

    def __call__(self, batch: pl.DataFrame) -> pl.DataFrame:
        """The batch as the job reads it."""
        return batch

    def count(self, batch: pl.DataFrame, published: pl.DataFrame, remaining: Mask | None) -> None:
        """Count on the published rows of a batch, which has been read; `remaining` says which they are."""

    def end(self) -> None:
        """Refuse a release whose counts are not enough."""


class StreamEngine:
    """A file or folder that is read piece by piece, and where its release is written.

    `said` turns a batch into the table as its job reads it (what means missing, pseudonyms). The first `skip` rows are
    no records. `alongside` are columns that `said` looks at though they are not published.

    >>> import tempfile
    >>> from kanopy._table.streams.scans import scan
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     pl.DataFrame({"age": [41, 41, 29]}).write_csv(f"{folder}/people.csv")
    ...     StreamEngine(scan(f"{folder}/people.csv")).count(["age"]).rows()
    [('41', 2), ('29', 1)]
    """

    name, reads_batches, remote = "stream", True, None

    def __init__(
        self,
        table: Scan,
        sink: Sink | None = None,
        said: Reader | None = None,
        skip: int = 0,
        alongside: Sequence[str] = (),
    ) -> None:
        self.alongside = tuple(alongside)
        self.looked_at: set[tuple[tuple[int, int], ...]] = set()
        self.scan, self.sink, self.said = table, sink, said or Reader()
        self._counted: _Counted | None = None
        if skip:
            self.scan = replace(table, lazy=table.lazy.slice(skip))

    @property
    def schema(self) -> pl.Schema:
        """The columns with their types."""
        return self.scan.schema

    @property
    def target(self) -> str | None:
        """The file, folder or table of the release."""
        return None if self.sink is None else self.sink.target

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
        """The distinct rows in the order in which they first appear, with how often each occurs."""
        counted = self._count(columns)
        if counted.blank:
            self.scan = counted.blank
            counted = self._count(columns)
        if not len(counted.tally):
            raise DataError(f"{self.source} has columns but no records. Give a table with at least one record.")
        self._counted = counted
        return counted.tally.frame(columns)

    def look_first(self, look: Callable[[Scan], bool]) -> None:
        """Let something that must know the whole table look at it; it may not change from then on."""
        stamp = self.scan.stamp()
        if look(self.scan):
            self.looked_at.add(stamp)

    def choose_rows(self, choose: Callable[[Scan], tuple[Mask, str]]) -> None:
        """Read from now on only the records that something chooses, which says a note of them."""
        stamp = self.scan.stamp()
        if self.scan.kind == "csv":  # blank lines are no records to be chosen
            last = self.scan.columns[-1]
            self.scan = self.scan.checked(sum(batch[last].null_count() for batch in self.scan.batches([last])))
        chosen, note = choose(self.scan)
        self.scan = replace(self.scan, chosen=chosen, notes=(note, *self.scan.notes))
        self.looked_at.add(stamp)

    def distinct(self, columns: Sequence[str], most: int = MOST_VALUES) -> dict[str, pl.DataFrame | None]:
        """The distinct values of some columns in one pass; of those with too many none is kept."""
        values_of_columns: dict[str, pl.DataFrame | None] = {}
        for batch in self.scan.batches(columns):
            records = self.said(batch)
            for name in columns:
                if name not in values_of_columns:
                    values_of_columns[name] = distinct_values(records[name], most)
                elif (values_so_far := values_of_columns[name]) is not None:
                    values_of_columns[name] = more_values(values_so_far, records[name], most)
        return values_of_columns or {name: distinct_values(pl.Series([], dtype=self.schema[name])) for name in columns}

    def sample(self, columns: Sequence[str], rows: int) -> pl.DataFrame:
        """The rows that drew the lowest numbers, in one pass."""
        draw, drawn_rows, threshold = (
            np.random.default_rng(20),
            pl.DataFrame(schema={n: self.schema[n] for n in columns}),
            1.0,
        )
        numbers = np.zeros(0)
        for batch in self.scan.batches(columns):
            drawn = draw.random(batch.height)
            low = drawn < threshold
            drawn_rows, numbers = pl.concat([drawn_rows, batch.filter(pl.Series(low))]), np.append(numbers, drawn[low])
            if len(numbers) > rows:
                lowest = np.sort(np.argpartition(numbers, rows)[:rows])
                drawn_rows, numbers = drawn_rows[lowest], numbers[lowest]
                threshold = float(numbers.max())
        return drawn_rows

    def pushdown(self, columns: Sequence[str]) -> AbstractContextManager[Spilled]:
        """The same table with the columns that decide on disk, where not even its distinct rows fit in memory."""
        from kanopy.engine.spill import Spilled

        return closing(Spilled(self, columns))

    def _count(self, columns: Sequence[str]) -> _Counted:
        """Count, and if there is something to publish, keep of every row which distinct row it is."""
        places, numbers_kept = self.scan.places(columns), Numbers() if self.sink is not None else None
        tally, stamp, empty = Tally([self.schema[name] for name in columns]), self.scan.stamp(), 0
        most = most_different()
        # Only text can have blank lines and records that are too short.
        last = [pl.nth(len(self.scan.columns) - 1).is_null().alias("last")] if self.scan.kind == "csv" else []
        with self.scan.told():
            for numbers, batch in tally.add_all(self.scan.records(), places, *last):
                empty += int(batch["last"].sum()) if last else 0
                require_few(len(tally), most)
                if numbers_kept is not None:
                    numbers_kept.add(numbers)
        checked = self.scan.checked(empty)
        return _Counted(tuple(columns), tally, numbers_kept, stamp, None if checked is self.scan else checked)

    @contextmanager
    def write(self, plan: RecodePlan) -> Iterator[Recount]:
        """Publish every batch and count on what was written."""
        assert self.sink is not None, "an engine without a sink only counts"
        others_published = [name for name in self.scan.columns if name in plan.columns and name not in plan.quasi]
        others = [name for name in self.scan.columns if name in others_published or name in self.alongside]
        counted, rows = self._counted, 0
        if counted is None or counted.columns != tuple(plan.keys.columns) or self.scan.stamp() != counted.stamp:
            counted = None
        distinct_rows = tally_of_distinct_rows(plan) if counted is None else counted.tally
        publisher = Publisher(plan, distinct_rows, self.source)

        def frames() -> Iterator[pl.DataFrame]:
            nonlocal rows
            for numbers, batch in self._numbered(distinct_rows, counted, list(plan.keys.columns), others):
                rows += len(numbers)
                records = texts(self.said(batch))
                published, remaining = publisher.publish(numbers, records)
                self.said.count(records, published, remaining)
                yield published
            self.said.end()

        looks = {**texts(self.said(self.head(1)[others])).schema, **plan.labels.schema}
        with self.sink.writing(frames, pl.Schema({name: looks[name] for name in plan.columns})) as written:
            stamps = ({counted.stamp} if counted is not None else set()) | self.looked_at
            if rows != int(plan.multiplicity.sum()) or not stamps <= {self.scan.stamp()}:
                raise changed(self.source)
            columns, classes = counted_again(written, plan.counted_columns)
            yield Recount(columns, classes, publisher.pair_tables(), publisher.unit_table(), self.sink.as_text)

    def _numbered(
        self, distinct_rows: Tally, counted: _Counted | None, keys: list[str], others: list[str]
    ) -> Iterator[tuple[Ints, pl.DataFrame]]:
        """Batches of the columns that are published unchanged, beside the distinct row of every row."""
        if counted is not None and counted.kept is not None:
            yield from counted.kept.beside(self.scan.batches(others) if others else None, self.source)
            return
        rows_known, names = len(distinct_rows), [f"o{index}" for index in range(len(others))]
        more = [pl.nth(index).alias(name) for index, name in zip(self.scan.places(others), names, strict=True)]
        with self.scan.told():
            for numbers, batch in distinct_rows.add_all(self.scan.records(), self.scan.places(keys), *more):
                if len(distinct_rows) > rows_known:
                    raise changed(self.source)
                batch = batch[names]
                batch.columns = others
                yield numbers, batch


@dataclass(frozen=True, eq=False)
class _Counted:
    """What counting some columns leaves: the distinct rows, of every row which it is, and what the files were then."""

    columns: tuple[str, ...]
    tally: Tally
    kept: Numbers | None
    stamp: tuple[tuple[int, int], ...]
    blank: Scan | None
    """How the table must be read instead, where it has blank lines."""


class Numbers:
    """The distinct row of every row, four bytes each, in a file that is gone when nobody needs it."""

    def __init__(self) -> None:
        self._file = tempfile.SpooledTemporaryFile(KEPT_BYTES, prefix="kanopy-")  # noqa: SIM115
        self._rows = 0

    def add(self, numbers: Ints) -> None:
        """More rows."""
        self._rows += len(numbers)
        try:
            self._file.write(numbers.tobytes())
        except OSError as error:
            raise DataError(
                f"There is no space in {tempfile.gettempdir()} for which distinct row every row is, four bytes each "
                f"({error.strerror}). Make room there, or let TMPDIR name a larger place. Nothing was written."
            ) from None

    def beside(self, batches: Iterator[pl.DataFrame] | None, source: str) -> Iterator[tuple[Ints, pl.DataFrame]]:
        """The rows again, beside batches of the same table, or alone."""
        self._file.seek(0)
        if batches is None:
            batches = empty_batches(self._rows)
        for batch in batches:
            numbers = np.frombuffer(self._file.read(4 * batch.height), np.int32)
            if len(numbers) != batch.height:
                raise changed(source)
            yield numbers, batch
