"""From the values of a column to the leaves of its hierarchy: the only encoder, and the only missing-value policy.

A value is known by its canonical label, so that `39`, `39.0` and the text `39` are one value: whole numbers without
`.0`, other floats in their shortest form, decimals with their digits, dates and times in ISO form, `true` and `false`,
text as it is. Missing are null, NaN, the empty text (unless the hierarchy has it as a value) and the tokens given.
"""

from __future__ import annotations

import datetime as dt
import decimal
import math
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl

from kanopy._arrays import MISSING_LABEL, Ints, Longs, Mask
from kanopy._errors import DataError, JobError, near_miss, some
from kanopy._table.policies import MISSING_POLICIES, UNKNOWN_POLICIES

if TYPE_CHECKING:
    from kanopy.hierarchy.hierarchy import Hierarchy


class Distinct(NamedTuple):
    """The different values of a column, ascending, with how often each occurs, and how many are missing."""

    labels: list[str]
    counts: Longs
    missing: int


@dataclass(frozen=True, eq=False)
class EncodedColumn:
    """A column as leaf numbers of its hierarchy.

    `codes` is -1 in rows that must be suppressed (`suppressed_rows`). `hierarchy` may have grown by the leaf of
    missing values (`missing_leaf`) or by unknown values. `missing_rows` and `unknown_rows` are `None` where there
    are none.
    """

    name: str
    codes: Ints
    hierarchy: Hierarchy
    missing: str = "as-value"
    missing_rows: Mask | None = None
    missing_leaf: int | None = None
    unknown_rows: Mask | None = None
    unknown_values: tuple[str, ...] = field(default=())

    @property
    def suppressed_rows(self) -> Mask | None:
        """Rows that the policies for missing and unknown values suppress, or `None` if there are none."""
        gone = self.codes < 0
        return gone if gone.any() else None

    def labels_at(self, level: int) -> list[str | None]:
        """What each code of a level is published as: its label, or null while a missing value is not generalized."""
        labels: list[str | None] = list(self.hierarchy.labels_at(level))
        if self.missing_leaf is not None:
            code = int(self.hierarchy.level(level).codes[self.missing_leaf])
            if labels[code] == self.hierarchy.values[self.missing_leaf]:
                labels[code] = None
        return labels

    def decode(self, level: int = 0, *, compact: bool = False) -> pl.Series:
        """The column as published at one level; rows to be suppressed are null.

        `compact=True` gives an enumeration instead of text: a tenth of the memory, written to files the same way.

        >>> from kanopy.hierarchy.hierarchy import Hierarchy
        >>> column = encode_column(pl.Series("n", [1, None, 2]), Hierarchy.flat(["1", "2"]))
        >>> column.decode(0).to_list(), column.decode(1).to_list()
        (['1', None, '2'], ['*', '*', '*'])
        """
        level_codes = self.hierarchy.level(level).codes
        gone = self.suppressed_rows
        codes = level_codes[self.codes if gone is None else np.maximum(self.codes, 0)]
        labels = pl.Series(self.name, self.labels_at(level), dtype=pl.String)
        if compact:
            labels = labels.cast(pl.Enum(labels.drop_nulls().unique(maintain_order=True)))
        decoded = labels.gather(pl.Series(codes))
        if gone is not None:
            decoded = decoded.to_frame().select(pl.when(pl.Series(~gone)).then(pl.col(self.name))).to_series()
        return decoded


def canonical_label(value: Any) -> str:
    """The label by which a value is known in hierarchies.

    >>> [canonical_label(value) for value in (39, 39.0, 0.5, True, "39", dt.date(2020, 2, 1))]
    ['39', '39', '0.5', 'true', '39', '2020-02-01']
    """
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return str(int(value)) if math.isfinite(value) and value == int(value) else repr(value)
    if isinstance(value, (dt.date, dt.time)):
        return value.isoformat()
    if isinstance(value, (int, decimal.Decimal, dt.timedelta)):
        return str(value)
    raise DataError(f"{value!r} ({type(value).__name__}) is not a single number, text, date or truth value.")


def values_as_numbers(labels: Sequence[str], dtype: pl.DataType) -> npt.NDArray[np.float64] | None:
    """The numbers behind labels (days since 1970 for dates and moments), or `None` if one of them is no number.

    >>> values_as_numbers(["2", "0.5"], pl.String()), values_as_numbers(["a"], pl.String())
    (array([2. , 0.5]), None)
    """
    try:
        if dtype in (pl.Date, pl.Datetime):
            moments = [dt.datetime.fromisoformat(label).replace(tzinfo=None) for label in labels]
            numbers = [(moment - dt.datetime(1970, 1, 1)) / dt.timedelta(days=1) for moment in moments]
        elif dtype == pl.Boolean:
            return None
        else:
            numbers = [float(label) for label in labels]
    except ValueError:
        return None
    found = np.array(numbers, np.float64)
    return found if np.isfinite(found).all() else None


def distinct_values(series: pl.Series, *, missing_tokens: Collection[str] = ()) -> Distinct:
    """The labels of a column's values, ascending by value, and how often each occurs.

    >>> distinct_values(pl.Series([2.0, 0.5, None, 2.0, float("nan")]))
    Distinct(labels=['0.5', '2'], counts=array([1, 2]), missing=2)
    """
    plain = _plain(series)
    table = plain.rename("value").value_counts().sort("value")
    counts: dict[str, int] = {}
    missing = 0
    tokens = {"", *missing_tokens}
    for value, label, number in zip(
        table["value"].to_list(), _labels(table["value"]), table["count"].to_list(), strict=True
    ):
        if value is None or label is None or label in tokens:
            missing += number
        else:
            counts[label] = counts.get(label, 0) + number
    return Distinct(list(counts), np.array(list(counts.values()), np.int64), missing)


def encode_column(
    series: pl.Series,
    hierarchy: Hierarchy,
    *,
    missing: str = "as-value",
    unknown: str = "error",
    missing_tokens: Collection[str] = (),
) -> EncodedColumn:
    """The leaf of every row's value, under the policies for missing and unknown values.

    `missing`: `as-value` gives missing values a leaf of their own, `suppress` marks their rows, `error` refuses.
    `unknown`: `error` refuses values that the hierarchy does not have, `suppress` marks their rows, `add` puts them
    directly under the top.

    >>> from kanopy.hierarchy.hierarchy import Hierarchy
    >>> column = encode_column(pl.Series("sex", ["m", "f", None]), Hierarchy.flat(["f", "m"]))
    >>> column.codes, column.hierarchy.values
    (array([1, 0, 2], dtype=int32), ('f', 'm', '(missing)'))
    """
    for given, known, what in ((missing, MISSING_POLICIES, "missing"), (unknown, UNKNOWN_POLICIES, "unknown")):
        if given not in known:
            raise JobError(f"There is no policy {what}={given!r}. {near_miss(given, known)}")
    name = series.name or hierarchy.name
    plain = _plain(series)
    tokens = {"", *missing_tokens} - ({""} & set(hierarchy.index))
    codes, missing_rows, unknown_rows = _leaves(plain, hierarchy, tokens)
    unknown_values: list[str] = []
    if unknown_rows is not None:
        stray = [label for label in _labels(plain.filter(pl.Series(unknown_rows)).unique(maintain_order=True)) if label]
        unknown_values = list(dict.fromkeys(stray))
        if unknown == "error":
            raise _unknown_error(name, unknown_values, int(unknown_rows.sum()), hierarchy)
        if unknown == "add":
            hierarchy = _extended(hierarchy, unknown_values)
            codes, missing_rows, unknown_rows = _leaves(plain, hierarchy, tokens)
    missing_leaf = None
    if missing_rows is not None:
        if missing == "error":
            rows = np.flatnonzero(missing_rows)
            raise DataError(
                f"The column {name!r} has {len(rows):,} missing values, first in rows {some((rows[:5] + 1).tolist())} "
                "(counted from 1, without the header). Fill them in, or choose missing='as-value' or 'suppress'."
            )
        if missing == "as-value":
            label = _free_label(hierarchy)
            hierarchy = _with_top(hierarchy).with_value(label)
            missing_leaf = hierarchy.index[label]
            codes[missing_rows] = missing_leaf
    return EncodedColumn(
        name, codes, hierarchy, missing, missing_rows, missing_leaf, unknown_rows, tuple(unknown_values)
    )


def _free_label(hierarchy: Hierarchy) -> str:
    """A label for missing values that no node of the hierarchy has."""
    taken = set(hierarchy.labels)
    label, number = MISSING_LABEL, 2
    while label in taken:
        label, number = f"(missing {number})", number + 1
    return label


def _with_top(hierarchy: Hierarchy) -> Hierarchy:
    """The hierarchy with one top that a further value can lie under; `*` is put above several, or above one value."""
    if hierarchy.height == 0:
        return type(hierarchy).flat(hierarchy.values, name=hierarchy.name)
    return hierarchy.rooted()


def _extended(hierarchy: Hierarchy, values: Iterable[str]) -> Hierarchy:
    """The hierarchy with all given values as leaves under its top; many at once unless nodes carry intervals."""
    first, *rest = values
    hierarchy = _with_top(hierarchy).with_value(first)
    if len(rest) > 50 and hierarchy.low is None:
        rows = list(hierarchy.rows())
        top = rows[0][-1]
        rows += [(value,) * hierarchy.height + (top if hierarchy.height else value,) for value in rest]
        return type(hierarchy).from_rows(rows, name=hierarchy.name, require_nesting=hierarchy.nested)
    for value in rest:
        hierarchy = hierarchy.with_value(value)
    return hierarchy


def _unknown_error(name: str, values: Sequence[str], rows: int, hierarchy: Hierarchy) -> DataError:
    spaced = [value for value in values if value.strip() in hierarchy.index]
    hint = f" Without the spaces around it, {spaced[0]!r} is known." if spaced else ""
    known = f" It knows {some(hierarchy.values, hierarchy.size)}."
    return DataError(
        f"The hierarchy of {name!r} does not know {len(values):,} of the column's values ({rows:,} rows): "
        f"{some(values)}.{hint}{known} Add them to the hierarchy, or choose unknown='suppress' or unknown='add'."
    )


def _plain(series: pl.Series) -> pl.Series:
    """The series with a dtype the encoder knows: categories become text, NaN becomes null."""
    dtype = series.dtype
    if isinstance(dtype, (pl.Categorical, pl.Enum)):
        return series.cast(pl.String)
    if dtype.is_float():
        return series.fill_nan(None)
    if dtype.is_nested() or dtype in (pl.Binary, pl.Object, pl.Unknown):
        raise DataError(
            f"The column {series.name!r} holds {dtype} values, e.g. {some(series.drop_nulls().head(5).to_list())}. "
            "Only single numbers, texts, dates and truth values can be generalized: convert the column first."
        )
    return series


def _labels(values: pl.Series) -> list[str | None]:
    if values.dtype == pl.String:
        return values.to_list()
    if values.dtype.is_integer():
        return values.cast(pl.String).to_list()
    return [None if value is None else canonical_label(value) for value in values.to_list()]


def _leaves(plain: pl.Series, hierarchy: Hierarchy, tokens: set[str]) -> tuple[Ints, Mask | None, Mask | None]:
    """Leaf per row (-1 where there is none) and which of those rows are missing or unknown."""
    if plain.dtype == pl.String:
        leaves = plain.cast(pl.Enum(hierarchy.values), strict=False).to_physical()
        if tokens & set(hierarchy.index):
            leaves = pl.select(pl.when(~plain.is_in(list(tokens))).then(leaves)).to_series()
    elif plain.dtype == pl.Null:
        leaves = pl.Series([None], dtype=pl.Int32).new_from_index(0, len(plain)) if len(plain) else plain.cast(pl.Int32)
    else:
        unique = plain.drop_nulls().unique()
        index = hierarchy.index
        found = [None if label is None or label in tokens else index.get(label) for label in _labels(unique)]
        leaves = _replaced(plain, unique, pl.Series(found, dtype=pl.Int32))
    if leaves.null_count() == 0:
        return leaves.cast(pl.Int32).to_numpy().astype(np.int32, copy=True), None, None
    codes = leaves.cast(pl.Int32).fill_null(-1).to_numpy().astype(np.int32, copy=True)
    gone = plain.is_null()
    if leaves.null_count() == plain.null_count():
        return codes, gone.to_numpy().astype(bool), None  # only true nulls have no leaf: nothing to tell apart
    if plain.dtype == pl.String:
        gone = gone | plain.is_in(list(tokens)).fill_null(False)
    elif tokens - {""}:
        unique = plain.drop_nulls().unique()
        labels = _labels(unique)
        gone = gone | plain.is_in(
            unique.filter(pl.Series([label in tokens for label in labels], dtype=pl.Boolean)).implode()
        )
        gone = gone.fill_null(True)
    missing_rows = gone.to_numpy().astype(bool)
    unknown_rows = (codes < 0) & ~missing_rows
    return codes, missing_rows if missing_rows.any() else None, unknown_rows if unknown_rows.any() else None


def _replaced(plain: pl.Series, unique: pl.Series, leaves: pl.Series) -> pl.Series:
    """Each value replaced by its leaf: by position where the values are whole numbers in a short range."""
    if plain.dtype.is_integer() and plain.dtype not in (pl.UInt64, pl.Int128, pl.UInt128) and len(unique):
        low, high = int(unique.min()), int(unique.max())  # type: ignore[arg-type]
        if high - low < max(4096, len(plain) // 4):
            table = np.full(high - low + 1, -1, np.int32)
            table[unique.cast(pl.Int64).to_numpy() - low] = leaves.fill_null(-1).to_numpy()
            positions = plain.cast(pl.Int64).fill_null(low).to_numpy() - low
            codes = pl.Series(table[positions])
            return pl.select(pl.when(plain.is_not_null() & (codes >= 0)).then(codes)).to_series()
    return plain.replace_strict(unique, leaves, default=None, return_dtype=pl.Int32)
