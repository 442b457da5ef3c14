"""The dataframe boundary: whatever kind of table comes in, the same kind goes out.

Inside, everything is a Polars frame. `to_polars` returns it together with a function that turns the published frame
back into the caller's kind: same library, same columns, same row order, pandas index kept. Columns that were not
changed are taken from the caller's own table, so their exact types survive.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import polars as pl

from kanopy._arrays import Longs, Mask
from kanopy._errors import DataError, some
from kanopy._table.column import texts_inside

if TYPE_CHECKING:
    from kanopy._table.formats.layout import Layout

Rows = Mask | Longs | None


class Restore(Protocol):
    """Turns a published frame back into the caller's kind; `kept` marks the rows that were not dropped, or numbers them
    in the order in which they are published."""

    def __call__(self, frame: pl.DataFrame, published_rows: Rows = None) -> Any: ...


def to_polars(data: Any, layout: Layout | None = None) -> tuple[pl.DataFrame, Restore]:
    """The table as a Polars frame, and the way back.

    Takes pandas and GeoPandas (points become places), Polars (also lazy), PyArrow tables and record batches, DuckDB
    relations, Ibis tables of DuckDB, SQLite, PostgreSQL and Polars, whatever else narwhals knows as an eager
    frame, a path or address (read as the `layout` says; comes back as a Polars frame), a dictionary of columns, or a
    list of dictionaries.

    >>> frame, restore = to_polars({"age": [41, 29, 35]})
    >>> restore(frame.with_columns(age=pl.lit("*")).head(2), np.array([True, True, False]))
    {'age': ['*', '*']}
    """
    frame, restore = _converted(data, layout)
    frame = texts_inside(frame)
    twice = [name for name, times in Counter(frame.columns).items() if times > 1]
    if twice:
        raise DataError(f"Several columns have the same name: {some(twice)}. Rename them.")
    objects = [name for name, dtype in frame.schema.items() if dtype == pl.Object]
    if objects:
        raise _mixed(objects[0], frame[objects[0]].head(1000).to_list())
    if frame.width == 0 or frame.height == 0:
        what = "no columns" if frame.width == 0 else "columns but no records"
        raise DataError(f"The table has {what}. Give one with at least one record.")
    return frame, _Texts(frame.schema, restore)


def _converted(data: Any, layout: Layout | None = None) -> tuple[pl.DataFrame, Restore]:
    # Narwhals is imported only for frames of other libraries: it would slow down every command that reads a file.
    if isinstance(data, pl.DataFrame):
        return data, _Same()
    if isinstance(data, pl.LazyFrame):
        return data.collect(), _Lazy()
    if isinstance(data, (str, os.PathLike)):
        from kanopy._table.sources import read_aloud

        return read_aloud(data, layout=layout).frame, _Same()
    if isinstance(data, Mapping):
        return _from_columns(data), _Columns()
    if isinstance(data, Sequence) and not isinstance(data, (bytes, bytearray)):
        return _from_records(data), _Records()
    if type(data).__module__.partition(".")[0] == "ibis":
        return _from_ibis(data), _Ibis()
    import narwhals as nw

    if nw.dependencies.is_pandas_dataframe(data):
        frame = _from_pandas(data)
        return frame, _Pandas(data, frame)
    if nw.dependencies.is_pyarrow_table(data):
        frame = _from_arrow(data)
        return frame, _Arrow(data, frame)
    if type(data).__module__.startswith("pyarrow") and type(data).__name__ == "RecordBatch":
        import pyarrow

        table = pyarrow.Table.from_batches([data])
        frame = _from_arrow(table)
        return frame, _ArrowBatch(table, frame)
    if nw.dependencies.is_duckdb_relation(data):
        return data.pl(), _DuckDB()
    try:
        wrapped = nw.from_native(data, eager_only=True)
    except TypeError:
        kind = f"{type(data).__module__}.{type(data).__name__}"
        raise DataError(
            f"Cannot read a table from {kind}. Give a pandas, Polars, Arrow or DuckDB table, a path, or a dictionary "
            "of columns."
        ) from None
    return wrapped.to_polars(), _Narwhals(wrapped.implementation)


def without_index(data: Any, roles: Collection[str], *, keep: bool = False) -> tuple[Any, tuple[str | None, ...]]:
    """A table whose index is like any other column: the parts that have a role become columns, the others leave.

    The names of those others are told; `keep` leaves them where they are. Row numbers that pandas made are no index.

    >>> without_index({"age": [41]}, [])
    ({'age': [41]}, ())
    """
    if isinstance(data, (pl.DataFrame, pl.LazyFrame)):
        return data, ()
    import narwhals as nw

    if not nw.dependencies.is_pandas_dataframe(data) or type(data.index).__name__ == "RangeIndex":
        return data, ()
    names = [None if name is None else str(name) for name in data.index.names]
    named = [level for level, name in enumerate(names) if name in roles]
    twice = [names[level] for level in named if names[level] in [str(column) for column in data.columns]]
    if twice:
        raise DataError(f"The index and a column have the same name: {some(twice)}. Rename one of them.")
    if named:
        data = data.reset_index(level=named)
    others = tuple(name for level, name in enumerate(names) if level not in named)
    return (data.reset_index(drop=True) if others and not keep else data), others


# ---- the way in ---------------------------------------------------------------------------------------------


def _from_columns(data: Mapping[Any, Any]) -> pl.DataFrame:
    wrong = [
        name for name, values in data.items() if isinstance(values, (str, bytes)) or not hasattr(values, "__len__")
    ]
    if wrong:
        raise DataError(
            f"A dictionary is read as columns, each with a list of values, but {some(wrong)} "
            f"{'holds' if len(wrong) == 1 else 'hold'} none. Give one value per record."
        )
    lengths = {str(name): len(values) for name, values in data.items()}
    if len(set(lengths.values())) > 1:
        raise DataError(f"The columns have different lengths: {lengths}. Give each one value per record.")
    return pl.DataFrame({str(name): _series(str(name), values) for name, values in data.items()})


def _from_records(data: Sequence[Any]) -> pl.DataFrame:
    if not data:
        raise DataError("The table is empty. Give at least one record.")
    wrong = next((row for row in data if not isinstance(row, Mapping)), None)
    if wrong is not None:
        raise DataError(f"A list must hold one dictionary per record, but one item is {wrong!r}.")
    names = list(dict.fromkeys(name for row in data for name in row))
    return pl.DataFrame({str(name): _series(str(name), [row.get(name) for row in data]) for name in names})


def _series(name: str, values: Any) -> pl.Series:
    try:
        series = pl.Series(name, values, strict=True)
    except (TypeError, ValueError, OverflowError, pl.exceptions.PolarsError):
        kinds = {type(value) for value in values} - {type(None)}
        if kinds == {int, float}:
            return pl.Series(name, [None if value is None else float(value) for value in values], dtype=pl.Float64)
        raise _mixed(name, list(values)) from None
    return series.cast(pl.String) if series.dtype == pl.Null else series


def _from_pandas(data: Any) -> pl.DataFrame:
    import pandas as pd

    if isinstance(data.columns, pd.MultiIndex):
        raise DataError("Columns with several header rows are not supported. Flatten them: one name per column.")
    names = [str(name) for name in data.columns]
    twice = [name for name, times in Counter(names).items() if times > 1]
    if twice:
        raise DataError(f"Several columns have the same name: {some(twice)}. Rename them.")
    return pl.DataFrame({name: _from_pandas_column(name, data.iloc[:, i]) for i, name in enumerate(names)})


def _from_pandas_column(name: str, column: Any) -> pl.Series:
    import pandas as pd

    dtype = column.dtype
    if str(dtype) == "geometry":
        return _from_points(name, column)
    values = column.array.categories if isinstance(dtype, pd.CategoricalDtype) else column
    if isinstance(values.dtype, (pd.IntervalDtype, pd.PeriodDtype)):
        present = column.notna().to_numpy()
        return pl.Series(name, [str(v) if ok else None for v, ok in zip(column, present, strict=True)], pl.String)
    if pd.api.types.is_object_dtype(dtype):
        kind = pd.api.types.infer_dtype(column, skipna=True)
        if kind == "empty":
            return pl.Series(name, [None] * len(column), pl.String)
        if kind == "mixed-integer-float":
            column = column.astype("Float64")
        elif kind.startswith("mixed") or kind in ("bytes", "complex", "unknown-array"):
            raise _mixed(name, column.head(10_000).dropna().tolist())
    try:
        series: Any = pl.from_pandas(column, nan_to_null=True)
    except Exception as error:  # pyarrow raises its own family, which is not imported here
        raise _mixed(name, column.dropna().head(10_000).tolist(), str(error).splitlines()[0]) from None
    result: pl.Series = (series.cast(pl.String) if series.dtype == pl.Null else series).rename(name)
    return result


def _from_arrow(data: Any) -> pl.DataFrame:
    twice = [name for name, times in Counter(data.column_names).items() if times > 1]
    if twice:
        raise DataError(f"Several columns have the same name: {some(twice)}. Rename them.")
    frame = pl.from_arrow(data)
    assert isinstance(frame, pl.DataFrame)
    return frame


IBIS_BACKENDS = ("duckdb", "sqlite", "postgres", "polars")
"""Where tables of Ibis are read from: the engines of Kanopy."""


def _from_ibis(data: Any) -> pl.DataFrame:
    """The rows of an Ibis table; what its backend computes is computed there."""
    if not hasattr(data, "get_backend") or not hasattr(data, "columns"):
        raise DataError(f"Of Ibis, tables are read, not {type(data).__name__}.")
    backend = data.get_backend().name
    if backend not in IBIS_BACKENDS:
        raise DataError(
            f"Tables of Ibis are read from {some(IBIS_BACKENDS)}, not from {backend!r}. Give their rows: .to_polars()."
        )
    frame = pl.from_arrow(data.to_pyarrow())
    assert isinstance(frame, pl.DataFrame)
    return frame


def _from_points(name: str, column: Any) -> pl.Series:
    """Points of GeoPandas as places, latitude first: what hierarchies of places read."""
    from kanopy.hierarchy.points import point_text

    if column.crs is None:
        raise DataError(
            f"The points of {name!r} have no coordinate system. Say which one with set_crs, e.g. EPSG:4326."
        )
    present = [not absent for absent in (column.isna() | column.is_empty)]
    kinds = sorted(set(column[present].geom_type) - {"Point"})
    if kinds:
        raise DataError(
            f"The column {name!r} holds shapes that are not points: {some(kinds)}. Publish their centroid, or "
            "leave the column out."
        )
    points = column.to_crs(4326)
    texts = [point_text(point.y, point.x) if there else None for point, there in zip(points, present, strict=True)]
    return pl.Series(name, texts, dtype=pl.String)


def _mixed(name: str, values: list[Any], reason: str = "") -> DataError:
    """The error for a column whose values are not of one kind, with one example of each kind."""
    examples: dict[str, Any] = {}
    for value in values:
        if value is not None and value == value:
            examples.setdefault(type(value).__name__, value)
    examples_shown = ", ".join(f"{value!r} ({kind})" for kind, value in list(examples.items())[:5])
    because = f" ({reason})" if reason and len(examples) < 2 else ""
    return DataError(
        f"The column {name!r} holds values of different or unknown kinds: "
        f"{examples_shown or 'none readable'}{because}. Convert "
        "it to one kind first, e.g. to text."
    )


# ---- the way back -------------------------------------------------------------------------------------------


def _places(published_rows: Rows) -> Longs | None:
    """The numbers of the published rows in the caller's table."""
    return (
        None
        if published_rows is None
        else np.flatnonzero(published_rows)
        if published_rows.dtype == np.bool_
        else np.asarray(published_rows, np.int64)
    )


def _unchanged(column: pl.Series, original: pl.DataFrame, rows: Longs | None) -> bool:
    """Whether a published column is the caller's own, so that the caller's exact type can be kept."""
    if column.name not in original.columns:
        return False
    before = original[column.name].rename("")
    if rows is not None:
        before = before.gather(rows)
    return before.dtype == column.dtype and before.equals(column, null_equal=True)


class _Texts:
    """Turns enumerations, which decoding uses to save memory, into what the caller had there, or else into text."""

    def __init__(self, schema: pl.Schema, restore: Restore) -> None:
        self._schema = schema
        self._restore = restore

    def __call__(self, frame: pl.DataFrame, published_rows: Rows = None) -> Any:
        fresh = [
            frame[name].cast(pl.Categorical if isinstance(self._schema.get(name), pl.Categorical) else pl.String)
            for name, dtype in frame.schema.items()
            if isinstance(dtype, pl.Enum) and not isinstance(self._schema.get(name), pl.Enum)
        ]
        return self._restore(frame.with_columns(fresh) if fresh else frame, published_rows)


class _Same:
    def __call__(self, frame: pl.DataFrame, published_rows: Rows = None) -> pl.DataFrame:
        return frame


class _Lazy:
    def __call__(self, frame: pl.DataFrame, published_rows: Rows = None) -> pl.LazyFrame:
        return frame.lazy()


class _Columns:
    def __call__(self, frame: pl.DataFrame, published_rows: Rows = None) -> dict[str, list[Any]]:
        return frame.to_dict(as_series=False)


class _Records:
    def __call__(self, frame: pl.DataFrame, published_rows: Rows = None) -> list[dict[str, Any]]:
        return frame.to_dicts()


class _DuckDB:
    """Comes back as a relation of DuckDB's default connection: a relation does not tell which one it belongs to."""

    def __call__(self, frame: pl.DataFrame, published_rows: Rows = None) -> Any:
        import duckdb

        return duckdb.from_arrow(frame.to_arrow())


class _Ibis:
    """Comes back as a table in memory that every backend of Ibis can read."""

    def __call__(self, frame: pl.DataFrame, published_rows: Rows = None) -> Any:
        import ibis

        return ibis.memtable(frame.to_arrow())


class _Narwhals:
    def __init__(self, implementation: Any) -> None:
        self._implementation = implementation

    def __call__(self, frame: pl.DataFrame, published_rows: Rows = None) -> Any:
        import narwhals as nw

        return nw.DataFrame.from_arrow(frame, backend=self._implementation).to_native()


DESCRIPTIONS = frozenset({
    "citation", "comment", "contact", "copyright", "creator", "description", "doi", "issued", "label", "language",
    "licence", "license", "modified", "name", "notes", "publisher", "source", "subject", "title", "unit", "units",
    "url", "version",
})  # fmt: skip
"""Entries beside a table or a column that describe it in words and stay true when values become labels. Others are not
known to be safe: programs keep row names, the values of a column, its extremes or the bounds of all points there."""


def described(entries: Mapping[Any, Any] | None) -> dict[Any, Any]:
    """The entries beside a table or a column that may leave with it: descriptions, in words or numbers.

    >>> described({"title": "Patients", b"unit": b"years", "row.names": ["Ann", "Bob"], "max": "58", "label": ["Ann"]})
    {'title': 'Patients', b'unit': b'years'}
    """
    return {
        key: value
        for key, value in (entries or {}).items()
        if isinstance(value, (str, bytes, int, float))
        and (key.decode("utf-8", "replace") if isinstance(key, bytes) else str(key)).lower() in DESCRIPTIONS
    }


class _Own:
    """Keeps what the caller gave, so that unchanged columns come back as they were."""

    def __init__(self, data: Any, frame: pl.DataFrame) -> None:
        self._data = data
        self._frame = frame


class _Pandas(_Own):
    def __call__(self, frame: pl.DataFrame, published_rows: Rows = None) -> Any:
        import pandas as pd

        rows = _places(published_rows)
        data = self._data if rows is None else self._data.iloc[rows]
        if (
            published_rows is not None
            and published_rows.dtype != np.bool_
            and type(self._data.index).__name__ == "RangeIndex"
        ):
            data = data.reset_index(drop=True)  # row numbers would tell in which order the rows came
        _check_rows(frame.height, len(data))
        position = {name: i for i, name in enumerate(self._frame.columns)}
        columns = []
        for column in frame.get_columns():
            index = position.get(column.name)
            dtype = None if index is None else self._data.dtypes.iloc[index]
            if index is not None and _unchanged(column, self._frame, rows):
                same = data.iloc[:, index]
                if isinstance(dtype, pd.CategoricalDtype):
                    same = same.cat.remove_unused_categories()
                columns.append(same)
                continue
            if isinstance(dtype, pd.CategoricalDtype):
                texts = column.cast(pl.String).rename("")
                labels = set(texts.drop_nulls().unique().to_list())
                all_known = labels <= set(dtype.categories)
                order = [label for label in dtype.categories if label in labels] if all_known else sorted(labels)
                fresh = texts.to_pandas().astype(pd.CategoricalDtype(order, ordered=bool(dtype.ordered) and all_known))
            else:
                fresh = column.to_pandas()
            fresh.index = data.index
            columns.append(fresh)
        result = pd.concat(columns, axis=1) if columns else data.iloc[:, :0]
        result.columns = pd.Index([self._name(name, position) for name in frame.columns])
        if len(result.columns) == len(self._data.columns) and list(result.columns) == list(self._data.columns):
            result.columns = self._data.columns
        result.attrs = described(self._data.attrs)
        return result

    def _name(self, name: str, position: dict[str, int]) -> Any:
        """The caller's own column name, which need not be a text."""
        index = position.get(name)
        return name if index is None else self._data.columns[index]


class _Arrow(_Own):
    def __call__(self, frame: pl.DataFrame, published_rows: Rows = None) -> Any:
        import pyarrow

        rows = _places(published_rows)
        data = self._data if rows is None else self._data.take(pyarrow.array(rows))
        _check_rows(frame.height, data.num_rows)
        columns, fields = [], []
        for column in frame.get_columns():
            if _unchanged(column, self._frame, rows):
                field = data.schema.field(column.name)
                same = data.column(column.name)
                if pyarrow.types.is_dictionary(field.type):
                    # Encoded anew, without the values that no published row has.
                    same = same.cast(field.type.value_type).dictionary_encode().cast(field.type)
                columns.append(same)
                fields.append(field.with_metadata(self._described(column.name)))
                continue
            fresh = column.to_arrow()
            if column.dtype == pl.String:
                fresh = fresh.cast(pyarrow.string())
            columns.append(fresh)
            fields.append(pyarrow.field(column.name, fresh.type, metadata=self._described(column.name)))
        return pyarrow.table(
            columns, schema=pyarrow.schema(fields, metadata=described(self._data.schema.metadata) or None)
        )

    def _described(self, name: str) -> Any:
        """What a column is called in words."""
        schema = self._data.schema
        return described(schema.field(name).metadata) or None if name in schema.names else None


class _ArrowBatch(_Arrow):
    def __call__(self, frame: pl.DataFrame, published_rows: Rows = None) -> Any:
        import pyarrow

        table = super().__call__(frame, published_rows).combine_chunks()
        batches = table.to_batches()
        return batches[0] if batches else pyarrow.RecordBatch.from_pylist([], schema=table.schema)


def _check_rows(published: int, expected: int) -> None:
    if published != expected:
        raise DataError(
            f"The published table has {published:,} rows but {expected:,} were kept. Give the mask of the kept rows "
            f"too."
        )
