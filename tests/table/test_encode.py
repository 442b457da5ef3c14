"""Encoding values as leaves, the policies for missing and unknown values, and distinct tuples."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kanopy._core.numbering import distinct_tuples
from kanopy._errors import DataError, JobError
from kanopy._table.column import column_values
from kanopy._table.encode import encode_column
from kanopy.hierarchy.hierarchy import Hierarchy

SEX = Hierarchy.from_rows([["f", "known", "*"], ["m", "known", "*"]])


@pytest.mark.parametrize(
    ("series", "labels"),
    [
        (pl.Series([3, 1, 2, 1]), ["1", "2", "3"]),
        (pl.Series([3, -1], dtype=pl.Int8), ["-1", "3"]),
        (pl.Series([2**64 - 1], dtype=pl.UInt64), ["18446744073709551615"]),
        (pl.Series([1.0, 0.1, -0.0, 1e20, 1e-7]), ["0", "1e-07", "0.1", "1", "100000000000000000000"]),
        (pl.Series([Decimal("1.50"), Decimal("1.25")]), ["1.25", "1.50"]),
        (pl.Series([dt.date(2020, 2, 1)]), ["2020-02-01"]),
        (pl.Series([dt.datetime(2020, 2, 1, 13, 5)]), ["2020-02-01T13:05:00"]),
        (pl.Series([True, False]), ["false", "true"]),
        (pl.Series(["b", " a", "007"]), [" a", "007", "b"]),
        (pl.Series(["b", "a"], dtype=pl.Categorical), ["a", "b"]),
        (pl.Series(["b", "a"], dtype=pl.Enum(["b", "a", "c"])), ["a", "b"]),
        (pl.Series([], dtype=pl.String), []),
    ],
)
def test_canonical_labels(series: pl.Series, labels: list[str]) -> None:
    found = column_values(series)
    assert found.labels == labels
    assert found.counts.sum() == len(series) and found.missing == 0
    if labels:
        column = encode_column(series, Hierarchy.flat(labels))
        assert [column.hierarchy.values[code] for code in column.codes] == column.decode(0).to_list()
        assert set(column.decode(0)) == set(labels)


def test_missing_values_are_null_nan_empty_text_and_tokens() -> None:
    found = column_values(pl.Series(["a", None, "", "?", "a"]), missing_tokens=["?"])
    assert (found.labels, found.counts.tolist(), found.missing) == (["a"], [2], 3)
    assert column_values(pl.Series([1.5, float("nan"), None])).missing == 2
    assert column_values(pl.Series([1, -99]), missing_tokens=["-99"]).labels == ["1"]
    assert column_values(pl.Series([None, None])).missing == 2


def test_missing_as_value() -> None:
    column = encode_column(pl.Series("sex", ["m", None, "", "?"]), SEX, missing_tokens=["?"])
    assert column.codes.tolist() == [1, 2, 2, 2]
    assert column.codes.dtype == np.int32
    assert column.missing_rows is not None and column.missing_rows.tolist() == [False, True, True, True]
    assert column.suppressed_rows is None
    assert column.decode(0).to_list() == ["m", None, None, None]
    assert column.decode(1).to_list() == ["known", None, None, None]
    assert column.decode(2).to_list() == ["*"] * 4


def test_missing_label_does_not_collide() -> None:
    taken = Hierarchy.from_rows([["(missing)", "(missing 2)", "*"], ["a", "b", "*"]])
    column = encode_column(pl.Series("x", ["(missing)", None, "a"]), taken)
    assert column.hierarchy.values == ("(missing)", "a", "(missing 3)")
    assert column.decode(1).to_list() == ["(missing 2)", None, "b"]


def test_an_empty_text_that_the_hierarchy_knows_is_a_value() -> None:
    column = encode_column(pl.Series("x", ["", "a", None]), Hierarchy.flat(["", "a"]))
    assert column.codes.tolist() == [0, 1, 2]


def test_a_token_that_is_also_a_value_is_missing() -> None:
    known = Hierarchy.flat(["?", "a"])
    assert encode_column(pl.Series("x", ["?", "a", None]), known, missing_tokens=["?"]).codes.tolist() == [2, 1, 2]
    numbers = Hierarchy.flat(["-99", "1"])
    column = encode_column(pl.Series("x", [-99, 1, None]), numbers, missing_tokens=["-99"])
    assert column.codes.tolist() == [2, 1, 2]


def test_missing_suppressed_or_refused() -> None:
    series = pl.Series("sex", ["m", None, "f", ""])
    column = encode_column(series, SEX, missing="suppress")
    assert column.codes.tolist() == [1, -1, 0, -1]
    assert column.suppressed_rows is not None and column.suppressed_rows.tolist() == [False, True, False, True]
    assert column.decode(2).to_list() == ["*", None, "*", None]
    with pytest.raises(DataError, match=r"'sex' has 2 missing values, first in rows 2, 4 \(counted from 1"):
        encode_column(series, SEX, missing="error")


def test_unknown_values() -> None:
    series = pl.Series("sex", ["m", "x", None, "y", "x", " f", "1", "2", "3"])
    with pytest.raises(DataError, match=r"does not know 6 .*\(7 rows\): 'x', 'y', ' f', '1', '2' and 1 more") as caught:
        encode_column(series, SEX)
    assert "Without surrounding spaces" in str(caught.value) and "unknown='add'" in str(caught.value)
    column = encode_column(series, SEX, unknown="suppress")
    assert column.codes.tolist() == [1, -1, 2, -1, -1, -1, -1, -1, -1]
    assert column.unknown_values == ("x", "y", " f", "1", "2", "3")
    assert column.unknown_rows is not None and int(column.unknown_rows.sum()) == 7
    column = encode_column(series, SEX, unknown="add")
    assert column.unknown_rows is None and column.decode(0).to_list() == series.to_list()
    assert column.decode(1).to_list() == ["known", *series.to_list()[1:]]
    assert column.decode(2).to_list() == ["*"] * 9


def test_unknown_numbers() -> None:
    ages = Hierarchy.flat([str(age) for age in range(10)])
    for series in (pl.Series("age", [1, 99, None]), pl.Series("age", [1.0, 99.0, float("nan")])):
        with pytest.raises(DataError, match="'99'"):
            encode_column(series, ages)
        assert encode_column(series, ages, unknown="suppress").codes.tolist() == [1, -1, 10]
        assert encode_column(series, ages, unknown="add").codes.tolist() == [1, 10, 11]


def test_many_unknown_values_are_added_alike() -> None:
    series = pl.Series("sex", ["m", *(f"v{i}" for i in range(80))])
    column = encode_column(series, SEX, unknown="add")
    assert column.hierarchy.size == 82 and column.decode(0).to_list() == series.to_list()
    assert column.decode(1).to_list() == ["known", *series.to_list()[1:]]
    assert set(column.decode(2)) == {"*"}


def test_policies_are_checked() -> None:
    with pytest.raises(JobError, match="Did you mean 'suppress'"):
        encode_column(pl.Series("x", ["f"]), SEX, missing="supress")
    with pytest.raises(JobError, match="unknown='drop'"):
        encode_column(pl.Series("x", ["f"]), SEX, unknown="drop")


def test_lists_cannot_be_generalized() -> None:
    with pytest.raises(DataError, match=r"'x' contains List.*convert the column"):
        encode_column(pl.Series("x", [[1], [2]]), SEX)


def test_edges() -> None:
    one = encode_column(pl.Series("x", ["a"] * 3), Hierarchy.flat(["a"]))
    assert one.codes.tolist() == [0, 0, 0]
    assert encode_column(pl.Series("x", [], dtype=pl.String), SEX).codes.tolist() == []
    nothing = encode_column(pl.Series("x", [None, None]), SEX)
    assert nothing.codes.tolist() == [2, 2] and nothing.decode(0).to_list() == [None, None]
    assert encode_column(pl.Series("x", [None], dtype=pl.Int64), SEX).codes.tolist() == [2]


VALUES = st.one_of(
    st.lists(st.one_of(st.none(), st.integers(-(2**40), 2**40)), min_size=1, max_size=30),
    st.lists(st.one_of(st.none(), st.floats(allow_infinity=False)), min_size=1, max_size=30),
    st.lists(st.one_of(st.none(), st.text(max_size=4)), min_size=1, max_size=30),
    st.lists(st.one_of(st.none(), st.booleans()), min_size=1, max_size=30),
    st.lists(st.one_of(st.none(), st.dates()), min_size=1, max_size=30),
)


@settings(max_examples=100, deadline=None)
@given(VALUES, st.sampled_from(["as-value", "suppress"]))
def test_decoding_undoes_encoding(values: list[Any], missing: str) -> None:
    series = pl.Series("x", values)
    found = column_values(series)
    if not found.labels:
        return
    column = encode_column(series, Hierarchy.flat(found.labels), missing=missing)
    labels = [None if pl.Series([v]).is_null()[0] or v == "" or v != v else _label(v) for v in values]
    assert column.decode(0).to_list() == labels
    assert found.counts.tolist() == [labels.count(label) for label in found.labels]
    assert ((column.codes < 0).sum() if missing == "suppress" else 0) == (found.missing if missing == "suppress" else 0)


def _label(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() else repr(value)
    return str(value)


@settings(max_examples=60, deadline=None)
@given(
    st.integers(1, 5).flatmap(
        lambda width: st.lists(st.lists(st.integers(-1, 3), min_size=width, max_size=width), min_size=1, max_size=40)
    ),
    st.sampled_from([4, 2**20, 2**31]),
)
def test_distinct_tuples_in_order_of_appearance(rows: list[list[int]], size: int) -> None:
    table = np.array(rows, np.int32)
    codes = [np.ascontiguousarray(column) for column in table.T]
    tuples, counts, of_row, first = distinct_tuples(codes, [size] * len(codes))
    seen: dict[tuple[int, ...], list[int]] = {}
    for number, row in enumerate(rows):
        if min(row) >= 0:
            seen.setdefault(tuple(row), []).append(number)
    assert [tuple(row) for row in tuples.tolist()] == list(seen)
    assert counts.tolist() == [len(where) for where in seen.values()]
    assert first.tolist() == [where[0] for where in seen.values()]
    order = {key: i for i, key in enumerate(seen)}
    assert of_row.tolist() == [order.get(tuple(row), -1) for row in rows]
    assert (tuples.dtype, counts.dtype, of_row.dtype, first.dtype) == (np.int32, np.int64, np.int32, np.int64)


def test_distinct_tuples_of_no_rows_and_no_columns() -> None:
    tuples, counts, of_row, _ = distinct_tuples([np.array([], np.int32)], [3])
    assert tuples.shape == (0, 1) and len(counts) == 0 and len(of_row) == 0
    with pytest.raises(DataError, match="at least one column"):
        distinct_tuples([], [])
