"""The frame that comes in is the frame that goes out."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from kanopy._errors import DataError
from kanopy._table.frames import to_polars

DATA = {
    "age": [41, 29, None],
    "city": ["Rome", None, "Köln"],
    "w": [1.5, 2.0, None],
    "ok": [True, None, False],
    "born": [dt.date(1980, 1, 2), None, dt.date(1990, 3, 4)],
}
KEPT = np.array([True, False, True])


def pandas_frame() -> Any:
    pd = pytest.importorskip("pandas", reason="pip install 'kanopy[pandas]'")
    return pd.DataFrame(
        {
            "age": pd.array(DATA["age"], dtype="Int64"),
            "city": pd.Categorical(DATA["city"]),
            "w": [1.5, 2.0, float("nan")],
            "ok": pd.array(DATA["ok"], dtype="boolean"),
            "born": pd.to_datetime(DATA["born"]),
            "text": pd.Series(["a", None, "b"], dtype=object),
            "level": pd.Categorical([3, None, 1], ordered=True),
            "span": pd.interval_range(0, 3),
        },
        index=pd.Index([7, 7, 9], name="who"),
    )


def make(kind: str, tmp_path: Path) -> Any:
    frame = pl.DataFrame(DATA)
    if kind == "pandas":
        return pandas_frame()
    if kind == "polars":
        return frame
    if kind == "lazy":
        return frame.lazy()
    if kind == "arrow":
        return pytest.importorskip("pyarrow", reason="pip install 'kanopy[pandas]'").table(DATA)
    if kind == "batch":
        pa = pytest.importorskip("pyarrow", reason="pip install 'kanopy[pandas]'")
        return pa.RecordBatch.from_pydict(DATA)
    if kind == "duckdb":
        duckdb = pytest.importorskip("duckdb", reason="pip install 'kanopy[duckdb]'")
        return duckdb.from_arrow(frame.to_arrow())
    if kind == "columns":
        return dict(DATA)
    if kind == "records":
        return frame.to_dicts()
    frame.write_parquet(tmp_path / "t.parquet")
    return str(tmp_path / "t.parquet")


KINDS = ["pandas", "polars", "lazy", "arrow", "batch", "duckdb", "columns", "records", "path"]


@pytest.mark.parametrize("kind", KINDS)
def test_round_trip_keeps_everything(kind: str, tmp_path: Path) -> None:
    data = make(kind, tmp_path)
    frame, restore = to_polars(data)
    assert frame["age"].to_list() == DATA["age"] and frame["city"].cast(pl.String).to_list() == DATA["city"]
    assert frame["w"].to_list() == DATA["w"] and frame["ok"].to_list() == DATA["ok"]
    back = restore(frame)
    if kind == "path":
        assert isinstance(back, pl.DataFrame) and back.equals(frame)
        return
    assert type(back) is type(data)
    if kind == "pandas":
        import pandas as pd

        pd.testing.assert_frame_equal(back, data)
    elif kind == "lazy":
        assert back.collect().equals(data.collect())
    elif kind == "duckdb":
        assert back.fetchall() == data.fetchall() and back.columns == data.columns
    elif kind in ("arrow", "batch"):
        assert back.equals(data) and back.schema.equals(data.schema)
    elif kind == "polars":
        assert back is data
    else:
        assert back == data


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("compact", [False, True])
def test_changed_columns_and_dropped_rows(kind: str, compact: bool, tmp_path: Path) -> None:
    data = make(kind, tmp_path)
    frame, restore = to_polars(data)
    city = pl.Series("city", ["Italy", "*", "*"], dtype=pl.Enum(["Italy", "*"]) if compact else pl.String)
    published = frame.drop("ok").with_columns(city).filter(pl.Series(KEPT))
    back = restore(published, KEPT)
    again, _ = to_polars(back)
    assert again.columns == published.columns
    assert again["city"].cast(pl.String).to_list() == ["Italy", "*"]
    assert again["age"].to_list() == [41, None]
    if kind == "pandas":
        assert back.index.tolist() == [7, 9] and back.index.name == "who"
        assert str(back["age"].dtype) == "Int64" and str(back["city"].dtype) == "category"
        assert back["level"].dtype == data["level"].dtype and back["span"].dtype == data["span"].dtype
    elif kind in ("arrow", "batch"):
        assert str(back.schema.field("city").type) == "string" and str(back.schema.field("age").type) == "int64"
    elif kind == "polars":
        assert back.schema["city"] == pl.String


def test_pandas_names_that_are_not_text() -> None:
    pd = pytest.importorskip("pandas", reason="pip install 'kanopy[pandas]'")
    data = pd.DataFrame([[1, "x"], [2, "y"]], columns=[0, "b"])
    frame, restore = to_polars(data)
    assert frame.columns == ["0", "b"]
    assert restore(frame.with_columns(pl.lit("*").alias("0"))).columns.tolist() == [0, "b"]
    frame, restore = to_polars(pd.DataFrame(np.arange(4).reshape(2, 2)))
    pd.testing.assert_frame_equal(restore(frame), pd.DataFrame(np.arange(4).reshape(2, 2)))


def test_pandas_objects() -> None:
    pd = pytest.importorskip("pandas", reason="pip install 'kanopy[pandas]'")
    frame, _ = to_polars(
        pd.DataFrame(
            {
                "n": pd.Series([1, None, 3], dtype=object),
                "f": pd.Series([1, 2.5, None], dtype=object),
                "e": pd.Series([None, None, float("nan")], dtype=object),
            }
        )
    )
    assert frame.rows() == [(1, 1.0, None), (None, 2.5, None), (3, None, None)]
    with pytest.raises(DataError, match=r"'m' holds values of different .*1 \(int\), 'a' \(str\)"):
        to_polars(pd.DataFrame({"m": pd.Series([1, "a", None], dtype=object)}))
    with pytest.raises(DataError, match=r"'l' holds values .*\(list\)"):
        to_polars(pd.DataFrame({"l": pd.Series([[1], {"a": 1}], dtype=object)}))


def test_bad_frames() -> None:
    pd = pytest.importorskip("pandas", reason="pip install 'kanopy[pandas]'")
    pa = pytest.importorskip("pyarrow", reason="pip install 'kanopy[pandas]'")
    two = pd.MultiIndex.from_tuples([("a", "b"), ("a", "c")])
    for data, message in [
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), "same name: 'a'"),
        (pd.DataFrame([[1, 2]], columns=two), "several header rows"),
        (pa.table([[1], [2]], names=["a", "a"]), "same name: 'a'"),
        (pl.DataFrame({"a": []}), "no records"),
        (pl.DataFrame(), "no columns"),
        ({"a": [1, "x"]}, r"'a' holds values of different or unknown kinds: 1 \(int\), 'x' \(str\)"),
        ({"a": [1], "b": [1, 2]}, "different lengths"),
        ([{"a": 1}, 5], "one dictionary per record"),
        ([], "empty"),
        (5, r"Cannot read a table from builtins\.int"),
        (pl.DataFrame({"o": [object(), 1]}, schema={"o": pl.Object}), "'o' holds values"),
    ]:
        with pytest.raises(DataError, match=message):
            to_polars(data)


def test_rows_must_match() -> None:
    frame, restore = to_polars(pandas_frame())
    with pytest.raises(DataError, match="2 rows but 3 were kept"):
        restore(frame.head(2))


def test_records_with_gaps_and_numbers_of_two_kinds() -> None:
    frame, _ = to_polars([{"a": 1}, {"a": 2.5, "b": "x"}])
    assert frame.rows() == [(1.0, None), (2.5, "x")]
