"""Distinct rows, numbered and counted as they pass by: values become codes per column, rows of codes become numbers.

Only the distinct values and the distinct rows are kept. Texts become codes where the dataframe library reads them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

import numpy as np
import polars as pl

from kanopy._arrays import Ints, Longs
from kanopy._core.tallies import Keys, Rows
from kanopy._table.column import readable
from kanopy._table.streams.scans import BATCH_ROWS
from kanopy.engine.contract import ROWS


class Coder(Protocol):
    """The distinct values of a column as numbers; a missing value is -1."""

    def read(self, column: pl.Expr) -> pl.Expr:
        """How the column is best read."""

    def codes(self, column: pl.Series) -> Ints:
        """The number of every value."""

    def values(self, codes: Ints) -> pl.Series:
        """The values behind numbers."""


class _Texts:
    """Texts, and numbers too large or exact to be computed with, as categories of their own."""

    def __init__(self, dtype: pl.DataType) -> None:
        self._dtype, self._kind = dtype, pl.Categorical(pl.Categories.random())
        self._alive = pl.Series([], dtype=self._kind)  # categories live as long as a column that has them

    def read(self, column: pl.Expr) -> pl.Expr:
        return column.cast(pl.String).cast(self._kind)

    def codes(self, column: pl.Series) -> Ints:
        typed = column if column.dtype == self._kind else readable(column).cast(pl.String).cast(self._kind)
        return _numbers(typed.to_physical())

    def values(self, codes: Ints) -> pl.Series:
        return _missing(codes, pl.UInt32).cat.to(self._kind).cast(pl.String).cast(self._dtype)


class _Categories:
    """A column that is stored as categories, whose numbers are there already."""

    def __init__(self, dtype: pl.DataType) -> None:
        self._dtype = dtype

    def read(self, column: pl.Expr) -> pl.Expr:
        return column

    def codes(self, column: pl.Series) -> Ints:
        return _numbers(column.cast(self._dtype).to_physical())

    def values(self, codes: Ints) -> pl.Series:
        if isinstance(self._dtype, pl.Enum):
            return pl.Series(self._dtype.categories, dtype=self._dtype).gather(_missing(codes, pl.Int64))
        return _missing(codes, pl.UInt32).cat.to(self._dtype)


class _Numbers:
    """Numbers, moments and truth values: 64 bits each."""

    def __init__(self, dtype: pl.DataType) -> None:
        self._dtype, self._keys = dtype, Keys()

    def read(self, column: pl.Expr) -> pl.Expr:
        return column

    def codes(self, column: pl.Series) -> Ints:
        column, dtype = column.rename("").cast(self._dtype), self._dtype
        if dtype.is_float():
            column = column.cast(pl.Float64).fill_nan(None)
        else:
            column = (column.to_physical() if dtype.is_temporal() else column).cast(pl.Int64)
        plain = np.ascontiguousarray(column.fill_null(0).to_numpy() + 0)  # -0.0 is 0.0
        numbers = self._keys.add(plain.view(np.int64))
        if column.null_count():
            numbers[column.is_null().to_numpy()] = -1
        return numbers

    def values(self, codes: Ints) -> pl.Series:
        if self._dtype.is_float():
            whole = pl.Series(self._keys.known.view(np.float64))
        else:
            whole = pl.Series(self._keys.known)
        if self._dtype == pl.Date:
            whole = whole.cast(pl.Int32)
        return whole.cast(self._dtype).gather(_missing(codes, pl.Int64))


def _numbers(physical: pl.Series) -> Ints:
    codes: Ints = physical.cast(pl.Int32).fill_null(-1).to_numpy()
    return codes


def _missing(codes: Ints, dtype: type[pl.DataType]) -> pl.Series:
    """Numbers as a column; -1 is missing."""
    plain = pl.Series(codes)
    return pl.select(pl.when(plain >= 0).then(plain)).to_series().cast(dtype)


def coder(dtype: pl.DataType) -> Coder:
    """What makes numbers of the values of a type."""
    if isinstance(dtype, (pl.Enum, pl.Categorical)):
        return _Categories(dtype)
    small = dtype.is_integer() and dtype not in (pl.UInt64, pl.Int128, pl.UInt128)
    return _Numbers(dtype) if small or dtype.is_float() or dtype == pl.Boolean or dtype.is_temporal() else _Texts(dtype)


class Tally:
    """Numbers distinct rows in the order in which they first appear, and counts them.

    >>> tally = Tally([pl.Int64(), pl.String()])
    >>> tally.add([pl.Series([41, 41, None]), pl.Series(["f", "f", "m"])]).tolist()
    [0, 0, 1]
    >>> tally.frame(["age", "sex"]).rows()
    [(41, 'f', 2), (None, 'm', 1)]
    """

    def __init__(self, dtypes: Sequence[pl.DataType]) -> None:
        self.coders = [coder(dtype) for dtype in dtypes]
        self._rows = Rows(len(dtypes))
        self._alike = 0
        """Where no column is looked at: all rows, which are one distinct row."""

    def __len__(self) -> int:
        return len(self._rows) if self.coders else int(self._alike > 0)

    @property
    def counts(self) -> Longs:
        """How often each row came."""
        return self._rows.counts if self.coders else np.array([self._alike] * len(self), np.int64)

    def add_alike(self, rows: int) -> Ints:
        """More rows, where no column is looked at."""
        self._alike += rows
        return np.zeros(rows, np.int32)

    def add(self, columns: Sequence[pl.Series]) -> Ints:
        """The numbers of more rows."""
        return self._rows.add(
            [column_coder.codes(column) for column_coder, column in zip(self.coders, columns, strict=True)]
        )

    def add_all(
        self, table: pl.LazyFrame, places: Sequence[int], *more: pl.Expr
    ) -> Iterator[tuple[Ints, pl.DataFrame]]:
        """The same for a table that is read piece by piece; `more` is read beside its columns at `places`."""
        columns = [
            column_coder.read(pl.nth(at)).alias(f"c{n}")
            for n, (column_coder, at) in enumerate(zip(self.coders, places, strict=True))
        ]
        # Without a column, a batch would not know how many rows it has.
        some = [] if columns or more else [pl.nth(0).is_null().alias("row")]
        for batch in table.select(*columns, *more, *some).collect_batches(
            maintain_order=True, chunk_size=BATCH_ROWS, engine="streaming"
        ):
            batch_columns = batch.get_columns()[: len(columns)]
            yield self.add(batch_columns) if columns else self.add_alike(batch.height), batch

    def codes(self) -> list[Ints]:
        """Per column the codes of the distinct rows."""
        return self._rows.codes() if self.coders else []

    def frame(self, names: Sequence[str]) -> pl.DataFrame:
        """The distinct rows with how often each came."""
        pairs = zip(self.coders, self.codes(), strict=True)
        columns = [
            coder_of_column.values(codes).alias(f"c{index}") for index, (coder_of_column, codes) in enumerate(pairs)
        ]
        counts = pl.DataFrame([*columns, pl.Series(ROWS, self.counts)])
        counts.columns = [*names, ROWS]
        return counts
