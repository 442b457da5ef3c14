"""Batches of rows become published ones: every row has the number of its kind, and its kind a piece of the recoding."""

from __future__ import annotations

from functools import cached_property

import numpy as np
import polars as pl

from kanopy._arrays import Ints, Longs
from kanopy._errors import DataError
from kanopy.engine.contract import ROWS, Recoded
from kanopy.engine.tally import Tally

MOST_PAIRS = 1 << 22
"""Pairs of a value and a label that are counted in one table; more are numbered as they come."""


def changed(name: str) -> DataError:
    """The error for a table that is not the same when it is read a second time."""
    return DataError(f"{name} changed while it was read: it now has rows that were not counted. Nothing was written.")


def tally_of_kinds(recoded: Recoded) -> Tally:
    """The kinds of a recoding, numbered in their order: what rows are compared with that were counted elsewhere."""
    kinds = recoded.keys[np.flatnonzero(recoded.begins)]
    tally = Tally(list(kinds.schema.values()))
    tally.add(kinds.get_columns())
    return tally


def counted_again(written: pl.LazyFrame, shown: list[str]) -> tuple[tuple[str, ...], pl.DataFrame]:
    """The columns of what was written, and its different rows in some of them with how often each occurs."""
    schema = written.collect_schema()
    again = Tally([schema[name] for name in shown])
    for _ in again.add_all(written, [schema.names().index(name) for name in shown]):
        pass
    return tuple(schema.names()), again.frame(shown)


def texts(frame: pl.DataFrame) -> pl.DataFrame:
    """Enumerations as texts: a file would hold the categories of rows that are suppressed."""
    return frame.with_columns(
        frame[name].cast(pl.String)
        for name, dtype in frame.schema.items()
        if isinstance(dtype, (pl.Categorical, pl.Enum))
    )


class Publisher:
    """Turns batches of rows, in order, into published ones, and counts original values beside their labels.

    `kinds` has the kinds of rows by number, as the recoding has them.
    """

    def __init__(self, recoded: Recoded, kinds: Tally, table: str) -> None:
        self.recoded, self.kinds, self.table = recoded, kinds, table
        self._first = np.flatnonzero(recoded.begins).astype(np.int32)
        if len(self._first) != len(kinds):
            raise changed(table)
        self._start = np.cumsum(recoded.rows) - recoded.rows
        self._used = np.zeros(len(recoded.rows), np.int64)
        self._cells: dict[str, Longs] = {}
        self._pairs: dict[str, Tally] = {}
        whose = [pl.Int32() for _ in recoded.unit]
        self._units = Tally([*recoded.labels.schema.values(), *whose]) if recoded.unit else None

    @cached_property
    def _codes(self) -> dict[str, Ints]:
        """Per kind the code of its value in a column; -1 is missing."""
        return dict(zip(self.recoded.keys.columns, self.kinds.codes(), strict=True))

    def publish(self, kinds: Ints, others: pl.DataFrame) -> pl.DataFrame:
        """The published rows of a batch; `others` has the columns that are published as they are."""
        recoded = self.recoded
        piece = kinds if recoded.whole else self._pieces(self._first[kinds])
        gone, places = recoded.gone[piece], pl.Series(piece)
        left = ~gone if recoded.drop and gone.any() else None
        columns = {name: recoded.labels[name].gather(places) for name in recoded.quasi}
        for name in recoded.columns:
            if name not in columns:
                column = others[name]
                if name in recoded.emptied and gone.any():
                    column = pl.select(pl.when(pl.Series(~gone)).then(column.rename(""))).to_series().alias(name)
                columns[name] = column
        published = pl.DataFrame([columns[name] for name in recoded.columns])
        if left is not None:
            published, kinds = published.filter(pl.Series(left)), kinds[left]
        self._note(kinds, published)
        return published

    def _pieces(self, first: Ints) -> Ints:
        """The piece of every row, given the first of its kind: the rows of a kind fill its pieces one after another."""
        order = np.argsort(first, kind="stable")
        kinds, begins, counts = np.unique(first[order], return_index=True, return_counts=True)
        ordinal = np.empty(len(first), np.int64)
        ordinal[order] = np.arange(len(first)) - np.repeat(begins, counts) + np.repeat(self._used[kinds], counts)
        self._used[kinds] += counts
        piece = np.searchsorted(self._start, self._start[first] + ordinal, side="right") - 1
        if (self.recoded.kind[piece] != self.recoded.kind[first]).any():
            raise changed(self.table)
        return piece.astype(np.int32)

    def _note(self, kinds: Ints, published: pl.DataFrame) -> None:
        """Count original values beside what is about to be written for them, as it stands in the columns."""
        for name in self.recoded.quasi:
            codes, column = self._codes[name], published[name]
            width = len(column.dtype.categories) + 1 if isinstance(column.dtype, pl.Enum) else 0
            size = int(codes.max(initial=-1)) + 2
            if 0 < width * size <= MOST_PAIRS:
                cells = ((codes + 1) * width)[kinds]
                cells += column.to_physical().fill_null(width - 1).to_numpy()
                found = np.bincount(cells, minlength=width * size)
                self._cells[name] = self._cells[name] + found if name in self._cells else found
            else:
                tally = self._pairs.setdefault(name, Tally([pl.Int32(), column.dtype]))
                tally.add([pl.Series(codes[kinds]), column])
        if self._units is not None:
            whose = [pl.Series(self._codes[name][kinds]) for name in self.recoded.unit]
            self._units.add([*(published[name] for name in self.recoded.quasi), *whose])

    def pair_tables(self) -> dict[str, pl.DataFrame]:
        """Per column the values, the labels they got, and in how many rows."""
        tables = {}
        for name in self.recoded.quasi:
            if name in self._cells:
                kind = self.recoded.labels[name].dtype
                assert isinstance(kind, pl.Enum)
                width, cells = len(kind.categories) + 1, np.flatnonzero(self._cells[name])
                codes, label, rows = cells // width - 1, cells % width, self._cells[name][cells]
                labels = pl.Series([*kind.categories, None], dtype=pl.String).gather(pl.Series(label))
            else:
                found = self._pairs[name].frame(["code", "label"])
                codes, labels, rows = found["code"].to_numpy(), found["label"], found[ROWS].to_numpy()
            values = self._values(name, codes.astype(np.int32))
            tables[name] = pl.DataFrame([values.alias("value"), labels.alias("label"), pl.Series(ROWS, rows, pl.Int64)])
        return tables

    def unit_table(self) -> pl.DataFrame | None:
        """Labels beside whose rows they are."""
        if self._units is None:
            return None
        whose = [f"\1{name}" for name in self.recoded.unit]
        found = self._units.frame([*self.recoded.quasi, *whose])
        values = [
            self._values(name, found[own].to_numpy()).alias(own)
            for name, own in zip(self.recoded.unit, whose, strict=True)
        ]
        return found.with_columns(values)

    def _values(self, name: str, codes: Ints) -> pl.Series:
        return self.kinds.coders[self.recoded.keys.columns.index(name)].values(codes)
