"""Columns as the check of treatments reads them, with code of its own."""

from __future__ import annotations

import polars as pl


def is_missing(column: pl.Series) -> pl.Series:
    """Which values are missing: null, NaN, the empty text."""
    is_missing = column.is_null()
    if column.dtype.is_float():
        is_missing = is_missing | column.is_nan().fill_null(True)
    if column.dtype == pl.String:
        is_missing = is_missing | (column == "").fill_null(True)
    return is_missing


def as_plain(column: pl.Series) -> pl.Series:
    """A column of categories as texts, any other as it is."""
    return column.cast(pl.String) if isinstance(column.dtype, (pl.Categorical, pl.Enum)) else column


def as_number(column: pl.Series) -> pl.Series:
    """A column as numbers; what is none is missing."""
    if isinstance(column.dtype, (pl.Categorical, pl.Enum)):
        column = column.cast(pl.String)
    return column.cast(pl.Float64, strict=False).fill_nan(None)


def is_number(column: pl.Series) -> bool:
    """Whether every value of a column is a number."""
    present = column.filter(~is_missing(column))
    return column.dtype != pl.Boolean and not as_number(present).is_null().any()


def scale_of(column: pl.Series) -> float:
    """The largest magnitude of a column, at least 1."""
    return max(1.0, float(column.abs().max() or 0.0))  # type: ignore[arg-type]


def texts_of(column: pl.Series) -> list[str]:
    """The distinct values of a column as texts."""
    return column.cast(pl.String).drop_nulls().unique().to_list()
