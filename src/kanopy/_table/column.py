"""A column of a table by its different values: the one place that says what is missing, and how a value is labelled.

A value is known by its canonical label, so that `39`, `39.0` and the text `39` are one value: whole numbers without
`.0`, other floats in their shortest form, decimals with their digits, dates and times in ISO form, `true` and `false`,
text as it is. Missing are null, NaN, the empty text and the tokens given. Kinds, numbers and labels are those of
`kanopy.hierarchy.column`, so that a job and `build_hierarchy` see the same column.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl

from kanopy._arrays import Floats, Ints, Longs, Mask
from kanopy._errors import DataError, HierarchyError, some
from kanopy.hierarchy.column import Column, Kind, canonical_label, column_of, label_numbers

FEW_ROWS = 1_000
"""So few values are labelled one by one: finding the different ones first would take longer."""


@dataclass(frozen=True, eq=False)
class Values:
    """The different values of a column, ascending, with how often each occurs, and how many are missing."""

    labels: list[str]
    counts: Longs
    missing: int
    _rows: pl.Series = field(repr=False)
    _distinct: pl.Series = field(repr=False)
    _distinct_rows: Longs = field(repr=False)
    _place: Ints = field(repr=False)

    @cached_property
    def codes(self) -> Ints:
        """Per row the position of its label, or -1 where the value is missing."""
        return replaced(self._rows, self._distinct, self._place)

    def sorted_as_text(self) -> tuple[list[str | None], Ints]:
        """The labels in the order of text, a last `None` for missing values if there are any, and each row's position.

        >>> column_values(pl.Series([2.0, None, 10.0, 2.0])).sorted_as_text()
        (['10', '2', None], array([1, 2, 0, 1], dtype=int32))
        """
        order = sorted(range(len(self.labels)), key=self.labels.__getitem__)
        rank = np.full(len(order) + 1, len(order), np.int32)
        rank[order] = np.arange(len(order), dtype=np.int32)
        missing_label: list[None] = [None] if self.missing else []
        return [*(self.labels[i] for i in order), *missing_label], rank[self.codes]


def column_values(
    series: pl.Series, *, missing_tokens: Collection[str] = (), strip: bool = False, multiplicity: Longs | None = None
) -> Values:
    """The labels of a column's values, ascending by value, and how often each occurs.

    With `strip`, a text is missing too if it is blank, or a token but for spaces around it. `multiplicity` says for
    how many rows each value of the series stands.

    >>> column_values(pl.Series([2.0, 0.5, None, 2.0, float("nan")]))
    Values(labels=['0.5', '2'], counts=array([1, 2]), missing=2)
    """
    rows = readable(series)
    if multiplicity is None:
        table = rows.rename("value").value_counts().sort("value")
    else:
        stands = pl.DataFrame([rows.rename("value"), pl.Series("count", multiplicity)])
        table = stands.group_by("value").agg(pl.col("count").sum()).sort("value")
    tokens = {"", *missing_tokens}
    if table["value"].dtype == pl.String and not strip:
        # Different texts have different labels: nothing to look up one by one.
        there = (table["value"].is_not_null() & ~table["value"].is_in(list(tokens))).fill_null(False)
        labels: list[str] = table["value"].filter(there).to_list()
        is_known = there.to_numpy()
        place_codes = np.where(is_known, np.cumsum(is_known) - 1, -1).astype(np.int32)
    else:
        place_of_label: dict[str, int] = {}
        places = []
        for label in labels_of(table["value"]):
            is_missing = label is None or (label.strip() if strip else label) in tokens
            places.append(-1 if label is None or is_missing else place_of_label.setdefault(label, len(place_of_label)))
        place_codes, labels = np.array(places, np.int32), list(place_of_label)
    multiplicity = table["count"].to_numpy().astype(np.int64)
    counts = np.bincount(place_codes[place_codes >= 0], multiplicity[place_codes >= 0], len(labels)).astype(np.int64)
    return Values(
        labels, counts, int(multiplicity[place_codes < 0].sum()), rows, table["value"], multiplicity, place_codes
    )


def typed_column(
    series: pl.Series,
    *,
    missing_tokens: Collection[str] = (),
    name: str = "",
    multiplicity: Longs | None = None,
    unit_of_row: Ints | None = None,
) -> Column | None:
    """The column as builders see it; `None` if all its values are missing. `multiplicity` is as in `column_values`.

    Where several rows may be about one person, `unit_of_row` says whose each is.

    >>> typed_column(pl.Series([7, None, 10, 7])).counts.tolist()
    [2, 1]
    """
    values = column_values(series, missing_tokens=missing_tokens, multiplicity=multiplicity)
    if not values.labels:
        return None
    is_known, name = values._place >= 0, name or series.name
    try:
        column = column_of(values._distinct.filter(pl.Series(is_known)), values._distinct_rows[is_known], name=name)
    except HierarchyError:  # infinite or of more than 61 bits: no numbers to compute with, but labels like any other
        column = column_of(values.labels, values.counts, name=name)
    return column if unit_of_row is None else replace(column, people=people_of_values(series, unit_of_row))


def people_of_values(series: pl.Series, unit_of_row: Ints) -> dict[str, int]:
    """By label how many different units have a value.

    >>> people_of_values(pl.Series([7, None, 10, 7]), np.array([0, 0, 1, 0], np.int32))
    {'7': 1, '10': 1}
    """
    whose = pl.DataFrame([readable(series).rename("value"), pl.Series("unit", unit_of_row)])
    counted = whose.group_by("value").agg(pl.col("unit").n_unique()).sort("value")
    labelled = zip(labels_of(counted["value"]), counted["unit"].to_list(), strict=True)
    return {label: people for label, people in labelled if label is not None}


def class_counts(
    series: pl.Series, classes: pl.Series, *, missing_tokens: Collection[str] = (), multiplicity: Longs | None = None
) -> dict[str, dict[str, int]]:
    """Per value of a column the rows of each class; rows without a value or without a class do not count.

    >>> class_counts(pl.Series([17, 18, 17, 17]), pl.Series(["no", "yes", "no", None]))
    {'17': {'no': 2}, '18': {'yes': 1}}
    """
    values, kinds = (column_values(column, missing_tokens=missing_tokens) for column in (series, classes))
    is_known = (values.codes >= 0) & (kinds.codes >= 0)
    pairs = values.codes[is_known].astype(np.int64) * max(len(kinds.labels), 1) + kinds.codes[is_known]
    distinct, at = np.unique(pairs, return_inverse=True)
    rows = np.bincount(at, None if multiplicity is None else multiplicity[is_known], len(distinct)).astype(np.int64)
    class_rows: dict[str, dict[str, int]] = {}
    for pair, number in zip(distinct.tolist(), rows.tolist(), strict=True):
        value, kind = divmod(pair, len(kinds.labels))
        class_rows.setdefault(values.labels[value], {})[kinds.labels[kind]] = number
    return class_rows


def readable(series: pl.Series) -> pl.Series:
    """The series in a type whose values have labels: categories become text, NaN becomes null.

    It comes without its name, which the methods of the dataframe library would take for a pattern (`*`, `^a.*$`).
    """
    dtype, name = series.dtype, series.name
    series = series.rename("")
    if isinstance(dtype, (pl.Categorical, pl.Enum)):
        return series.cast(pl.String)
    if dtype.is_float():
        return series.fill_nan(None)
    if dtype.is_nested() or dtype in (pl.Binary, pl.Object, pl.Unknown):
        raise DataError(
            f"The column {name!r} contains {dtype} values, e.g. {some(series.drop_nulls().head(5).to_list())}. Only "
            "single numbers, texts, dates and truth values can be generalized: convert the column first; a list "
            "becomes one row per element (explode), with the number of its row as the unit."
        )
    return series


def labels_of(values: pl.Series) -> list[str | None]:
    """The canonical label of each value of a readable series, `None` for null."""
    if values.dtype == pl.String:
        return values.to_list()
    if values.dtype.is_integer():
        return values.cast(pl.String).to_list()
    return [None if value is None else canonical_label(value) for value in values.to_list()]


def as_labels(series: pl.Series) -> pl.Series:
    """The column as text: the canonical label of every value, null where it is missing.

    >>> as_labels(pl.Series([2.0, None, 0.5])).to_list()
    ['2', None, '0.5']
    """
    rows = readable(series)
    if rows.dtype.is_integer() or len(rows) <= FEW_ROWS:
        rows = rows.cast(pl.String) if rows.dtype.is_integer() else pl.Series(labels_of(rows), dtype=pl.String)
    elif rows.dtype != pl.String:
        distinct = rows.drop_nulls().unique()
        labels = pl.Series(labels_of(distinct), dtype=pl.String)
        rows = rows.replace_strict(distinct, labels, default=None, return_dtype=pl.String)
    return rows.rename(series.name)


def nulled(series: pl.Series, withheld: Mask) -> pl.Series:
    """The column without the values of the marked rows."""
    return pl.select(pl.when(pl.Series(~withheld)).then(series.rename(""))).to_series().rename(series.name)


def overwritten(series: pl.Series, withheld: Mask | None, label: str) -> pl.Series:
    """The column with a label instead of the values of the marked rows."""
    if withheld is None:
        return series
    return pl.select(pl.when(pl.Series(~withheld)).then(series.rename("")).otherwise(pl.lit(label))).to_series()


def withheld_values(series: pl.Series, withheld: Mask) -> pl.Series:
    """The column without the values of the marked rows, and without the categories that no other row has.

    >>> withheld_values(pl.Series("a", ["x", "y"], dtype=pl.Enum(["x", "y"])), np.array([True, False])).dtype
    Enum(categories=['y'])
    """
    return used_categories(nulled(series, withheld).to_frame()).to_series()


def used_categories(frame: pl.DataFrame) -> pl.DataFrame:
    """The table with no category that no row has: files hold the categories of a column beside its values, and those
    of rows that left, or of the larger table that this one was cut from, are values of other people.

    >>> used_categories(pl.DataFrame({"a": pl.Series(["x", "z"], dtype=pl.Enum(["x", "y", "z"]))}))["a"].dtype
    Enum(categories=['x', 'z'])
    """
    narrowed = []
    for column in frame.get_columns():
        if isinstance(column.dtype, pl.Enum):
            used = set(column.rename("").unique().to_list())
            if len(used - {None}) < len(column.dtype.categories):
                narrowed.append(column.cast(pl.Enum([label for label in column.dtype.categories if label in used])))
    return frame.with_columns(narrowed) if narrowed else frame


def texts_inside(frame: pl.DataFrame) -> pl.DataFrame:
    """The table with texts instead of enumerations inside lists and records, where nobody could narrow them.

    >>> texts_inside(pl.DataFrame({"a": pl.Series([["x"]], dtype=pl.List(pl.Enum(["x", "y"])))})).schema
    Schema([('a', List(String))])
    """
    inside = {name: _without_enumerations(dtype) for name, dtype in frame.schema.items() if dtype.is_nested()}
    changed = {name: dtype for name, dtype in inside.items() if dtype != frame.schema[name]}
    return frame.with_columns(frame[name].cast(dtype) for name, dtype in changed.items()) if changed else frame


def _without_enumerations(dtype: Any) -> Any:
    if isinstance(dtype, pl.List):
        return pl.List(_without_enumerations(dtype.inner))
    if isinstance(dtype, pl.Array):
        return pl.Array(_without_enumerations(dtype.inner), dtype.size)
    if isinstance(dtype, pl.Struct):
        return pl.Struct({field.name: _without_enumerations(field.dtype) for field in dtype.fields})
    return pl.String() if isinstance(dtype, pl.Enum) else dtype


def replaced(rows: pl.Series, distinct: pl.Series, numbers: Ints) -> Ints:
    """Every row's value replaced by the number that stands beside it in `distinct`; -1 for null and all others."""
    if rows.dtype == pl.Null:
        return np.full(len(rows), -1, np.int32)
    if distinct.null_count():
        is_known = distinct.is_not_null()
        distinct, numbers = distinct.filter(is_known), numbers[is_known.to_numpy()]
    if rows.dtype == pl.String:
        places = rows.cast(pl.Enum(distinct), strict=False).to_physical()
    elif rows.dtype.is_integer() and rows.dtype not in (pl.UInt64, pl.Int128, pl.UInt128) and len(distinct):
        low, high = int(distinct.min()), int(distinct.max())  # type: ignore[arg-type]
        if high - low < max(4096, len(rows) // 4):  # by position, where whole numbers lie in a short range
            table = np.full(high - low + 2, -1, np.int32)
            table[distinct.cast(pl.Int64).to_numpy() - low] = numbers
            whole = rows.cast(pl.Int64)
            outside = (whole < low) | (whole > high)
            at = pl.select(pl.when(~outside).then(whole - low).otherwise(high - low + 1)).to_series()
            return np.asarray(table[at.fill_null(high - low + 1).to_numpy()], np.int32)
        places = _positions(rows, distinct)
    else:
        places = _positions(rows, distinct)
    numbers = np.append(numbers, np.int32(-1))
    return np.asarray(numbers[places.cast(pl.Int64).fill_null(-1).to_numpy()], np.int32)


def _positions(rows: pl.Series, distinct: pl.Series) -> pl.Series:
    where = pl.Series(np.arange(len(distinct), dtype=np.int32))
    return rows.replace_strict(distinct, where, default=None, return_dtype=pl.Int32)


_KINDS: dict[type[pl.DataType], Kind] = {
    pl.Date: "date", pl.Datetime: "datetime", pl.Time: "time", pl.Duration: "duration", pl.Boolean: "boolean",
}  # fmt: skip


def values_as_numbers(labels: Sequence[str], dtype: pl.DataType) -> Floats | None:
    """The numbers behind the labels of a column of this type, or `None` if one of them is no number.

    >>> values_as_numbers(["2", "0.5"], pl.String()), values_as_numbers(["a"], pl.String())
    (array([2. , 0.5]), None)
    """
    return label_numbers(labels, _KINDS.get(type(dtype), "text"))


def is_text(column: pl.Series) -> bool:
    """Whether a column holds text (also as categories).

    >>> is_text(pl.Series(["a"])), is_text(pl.Series([1]))
    (True, False)
    """
    return isinstance(column.dtype, (pl.String, pl.Categorical, pl.Enum))
