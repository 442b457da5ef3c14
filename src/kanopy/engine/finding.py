"""Which piece of a recoding every row of a batch belongs to: values become codes, codes one number, numbers pieces."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl

from kanopy._arrays import Ints, Longs, Mask
from kanopy._core.numbering import LARGEST_KEY
from kanopy._errors import DataError
from kanopy._table.column import replaced
from kanopy.engine.contract import Recoded

DIRECT = 1 << 24
"""Combinations that are looked up in one table; more are searched for."""
MOST_PAIRS = 1 << 22


def changed(name: str) -> DataError:
    """The error for a table that is not the same when it is read a second time."""
    return DataError(f"{name} changed while it was read: it now has rows that were not counted. Nothing was written.")


class Coder:
    """The different values of a column as numbers from 0; a missing value is the last."""

    def __init__(self, values: pl.Series) -> None:
        self.values = values.drop_nulls().unique(maintain_order=True)
        self.size = len(self.values) + 1
        self._plain = _physical(self.values)
        self._kind = pl.Enum(self._plain) if self._plain.dtype == pl.String else None
        self._numbers = np.arange(len(self.values), dtype=np.int32)

    def codes(self, column: pl.Series, table: str) -> Longs:
        """The number of every value; raises for one that is not known."""
        plain = _physical(column)
        if self._kind is not None:
            places = plain.cast(self._kind, strict=False).to_physical()
            found = places.cast(pl.Int64).fill_null(-1).to_numpy(writable=True)
        else:
            found = replaced(plain, self._plain, self._numbers).astype(np.int64)
        if int((found < 0).sum()) > plain.null_count():
            raise changed(table)
        found[found < 0] = self.size - 1
        return found


def _physical(column: pl.Series) -> pl.Series:
    """Values in a type that is quick to compare; not a number is missing."""
    column, dtype = column.rename(""), column.dtype
    if isinstance(dtype, (pl.Categorical, pl.Enum)):
        return column.cast(pl.String)
    if dtype.is_float():
        return column.fill_nan(None)
    if dtype == pl.Boolean:
        return column.cast(pl.Int8)
    return column.to_physical() if dtype.is_temporal() else column


class Finder:
    """Finds a combination of codes among known ones, however many columns there are."""

    def __init__(self, codes: Sequence[Longs], sizes: Sequence[int], number: Ints) -> None:
        self._stages: list[tuple[list[int], Longs]] = []
        self._sizes = list(sizes)
        keys, room = np.zeros(len(number), np.int64), 1
        stage: list[int] = []
        for j, size in enumerate(sizes):
            if room * size > LARGEST_KEY:
                known, keys = np.unique(keys, return_inverse=True)
                self._stages.append((stage, known))
                stage, room = [], max(1, len(known))
            keys, room = keys * size + codes[j], room * size
            stage.append(j)
        order = np.argsort(keys, kind="stable")
        self._stages.append((stage, keys[order]))
        self._number = number[order]
        self._table: Ints | None = None
        if len(self._stages) == 1 and room <= DIRECT:
            self._table = np.full(room, -1, np.int32)
            self._table[keys] = number

    def find(self, codes: Sequence[Longs]) -> Ints:
        """The number of each combination, or -1."""
        keys = np.zeros(len(codes[0]), np.int64)
        for place, (stage, known) in enumerate(self._stages):
            for j in stage:
                keys = keys * self._sizes[j] + codes[j]
            if self._table is not None:
                return self._table[keys]
            found = _positions(keys, known)
            if place < len(self._stages) - 1:
                # A beginning that is not known is never found: no known number is so large.
                keys = np.where(found < 0, np.int64(len(known)), found)
        return np.append(self._number, np.int32(-1))[found]


def _positions(keys: Longs, known: Longs) -> Longs:
    """Where keys stand in an ascending array, or -1. Sorted first: neighbours are found in the same place of memory."""
    if not len(known):
        return np.full(len(keys), -1, np.int64)
    order = np.argsort(keys)
    ascending = keys[order]
    at = np.minimum(np.searchsorted(known, ascending), len(known) - 1)
    found = np.empty(len(keys), np.int64)
    found[order] = np.where(known[at] == ascending, at, -1)
    return found


class Publisher:
    """Turns batches of rows, in order, into published ones, and counts original values beside their labels."""

    def __init__(self, recoded: Recoded, table: str) -> None:
        self.recoded, self.table = recoded, table
        self.coders = {name: Coder(recoded.keys[name]) for name in recoded.keys.columns}
        codes = {name: coder.codes(recoded.keys[name], table) for name, coder in self.coders.items()}
        self._values, self._code_of_piece = {}, {}
        for name in recoded.quasi:
            values = recoded.labels[name].unique(maintain_order=True)
            self._values[name] = values
            coder = Coder(values)
            at = np.empty(coder.size, np.int64)
            at[coder.codes(values, table)] = np.arange(len(values))
            self._code_of_piece[name] = at[coder.codes(recoded.labels[name], table)]
        self._by_column = self._tables(codes)
        picked = np.ones(len(recoded.kind), np.bool_)
        if self._by_column is not None:
            picked = recoded.gone
        elif not recoded.whole:
            picked = np.append(True, np.diff(recoded.kind) > 0)
        number = np.flatnonzero(picked).astype(np.int32)
        sizes = [coder.size for coder in self.coders.values()]
        self._finder = Finder([codes[name][picked] for name in self.coders], sizes, number) if picked.any() else None
        self._start = np.cumsum(recoded.rows) - recoded.rows
        self._used = np.zeros(len(recoded.rows), np.int64)
        self.pairs: dict[str, Any] = {}
        self.units: list[pl.DataFrame] = []

    def _tables(self, codes: dict[str, Longs]) -> dict[str, Longs] | None:
        """Per column the label of each value, if it is the same in all rows that are not suppressed."""
        recoded = self.recoded
        if not recoded.whole:
            return None
        kept, found = ~recoded.gone, {}
        for name in recoded.quasi:
            values, labels = codes[name][kept], self._code_of_piece[name][kept]
            table = np.zeros(self.coders[name].size, np.int64)
            table[values] = labels
            if not (table[values] == labels).all():
                return None
            found[name] = table
        return found

    def publish(self, batch: pl.DataFrame, others: pl.DataFrame) -> pl.DataFrame:
        """The published rows of a batch; `others` has the columns that are published as they are."""
        recoded = self.recoded
        codes = {name: coder.codes(batch[name], self.table) for name, coder in self.coders.items()}
        gone, places = self._gone_and_labels(codes)
        left = ~gone if recoded.drop and gone.any() else None
        columns = {name: self._values[name].gather(pl.Series(places[name])).alias(name) for name in recoded.quasi}
        self._note_pairs(batch, columns, codes, left)
        for name in recoded.columns:
            if name not in columns:
                column = others[name]
                if name in recoded.emptied and gone.any():
                    column = pl.select(pl.when(pl.Series(~gone)).then(column.rename(""))).to_series().alias(name)
                columns[name] = column
        published = pl.DataFrame([columns[name] for name in recoded.columns])
        published = published if left is None else published.filter(pl.Series(left))
        if recoded.unit:
            whose = batch[list(recoded.unit)] if left is None else batch[list(recoded.unit)].filter(pl.Series(left))
            self._note_units(published, whose)
        return published

    def _gone_and_labels(self, codes: dict[str, Longs]) -> tuple[Mask, dict[str, Longs]]:
        recoded, rows = self.recoded, [codes[name] for name in self.coders]
        found = np.full(len(rows[0]), -1, np.int32) if self._finder is None else self._finder.find(rows)
        if self._by_column is not None:
            gone = found >= 0
            places = {name: table[codes[name]] for name, table in self._by_column.items()}
            for name, at in self._code_of_piece.items() if gone.any() else ():
                places[name][gone] = at[found[gone]]
            return gone, places
        if (found < 0).any():
            raise changed(self.table)
        piece = found if recoded.whole else self._pieces(found)
        return recoded.gone[piece], {name: at[piece] for name, at in self._code_of_piece.items()}

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

    def _note_pairs(
        self, batch: pl.DataFrame, columns: dict[str, pl.Series], codes: dict[str, Longs], left: Mask | None
    ) -> None:
        """Count original values beside what is about to be written for them, as it stands in the columns."""
        for name, column in columns.items():
            size, values = self.coders[name].size, self._values[name]
            if size * (len(values) + 1) <= MOST_PAIRS and isinstance(column.dtype, pl.Enum):
                shown = column.to_physical().cast(pl.Int64).fill_null(len(column.dtype.categories)).to_numpy()
                width = len(column.dtype.categories) + 1
                cells = codes[name] * width + shown
                cells = cells if left is None else cells[left]
                self.pairs[name] = self.pairs.get(name, 0) + np.bincount(cells, minlength=size * width)
            else:
                both = pl.DataFrame([batch[name].alias("value"), column.alias("label")])
                both = both if left is None else both.filter(pl.Series(left))
                found = [*self.pairs.get(name, []), both.group_by("value", "label").agg(pl.len().alias("rows"))]
                if len(found) > 8:
                    found = [pl.concat(found).group_by("value", "label").agg(pl.col("rows").sum())]
                self.pairs[name] = found

    def _note_units(self, published: pl.DataFrame, whose: pl.DataFrame) -> None:
        names = [*self.recoded.quasi, *self.recoded.unit]
        columns = [*(published[name] for name in self.recoded.quasi), *whose.get_columns()]
        both = pl.DataFrame([column.alias(f"c{place}") for place, column in enumerate(columns)])
        keys = [f"c{place}" for place in range(len(names))]
        self.units.append(both.group_by(keys).agg(pl.len().alias("rows")))
        if len(self.units) > 8:
            self.units = [pl.concat(self.units).group_by(keys).agg(pl.col("rows").sum())]

    def pair_tables(self) -> dict[str, pl.DataFrame]:
        """Per column the values, the labels they got, and in how many rows."""
        from kanopy.engine.contract import ROWS

        tables = {}
        for name, found in self.pairs.items():
            if isinstance(found, list):
                both = pl.concat(found).group_by("value", "label").agg(pl.col("rows").sum().cast(pl.Int64).alias(ROWS))
                tables[name] = both.select("value", "label", ROWS)
                continue
            kind = self._values[name].dtype
            assert isinstance(kind, pl.Enum)
            width, cells = len(kind.categories) + 1, np.flatnonzero(found)
            values, labels = self.coders[name].values, pl.Series(kind.categories, dtype=pl.String)
            tables[name] = pl.DataFrame(
                [
                    _at(values, cells // width).alias("value"),
                    _at(labels, cells % width).alias("label"),
                    pl.Series(ROWS, found[cells], pl.Int64),
                ]
            )
        return tables

    def unit_table(self) -> pl.DataFrame | None:
        """Labels beside whose rows they are."""
        from kanopy.engine.contract import ROWS

        if not self.recoded.unit:
            return None
        keys = self.units[0].columns[:-1]
        found = pl.concat(self.units).group_by(keys).agg(pl.col("rows").sum().cast(pl.Int64))
        found.columns = [*self.recoded.quasi, *(f"\1{name}" for name in self.recoded.unit), ROWS]
        return found


def _at(values: pl.Series, places: Longs) -> pl.Series:
    """Values by number; the number behind the last one is a missing value."""
    inside = pl.Series(np.where(places < len(values), places, 0))
    found = values.gather(inside) if len(values) else pl.Series([None] * len(places), dtype=values.dtype)
    return pl.select(pl.when(pl.Series(places < len(values))).then(found.rename(""))).to_series()
