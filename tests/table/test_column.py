"""One place gives a column its kind, numbers and labels: a job and `build_hierarchy` see the same column."""

from __future__ import annotations

import datetime as dt
import decimal
from collections import Counter
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kanopy import build_hierarchy
from kanopy._errors import HierarchyError
from kanopy._job.inputs import resolve_hierarchy
from kanopy._table.column import as_labels, column_values, typed_column
from kanopy._table.encode import encode_column, substituted
from kanopy.hierarchy.hierarchy import Hierarchy

DAYS = st.dates(dt.date(1900, 1, 1), dt.date(2100, 1, 1))
MOMENTS = st.datetimes(dt.datetime(1900, 1, 1), dt.datetime(2100, 1, 1))
WORDS = st.sampled_from(["a", "b", "B", " b", "é", "10", "9", "007", "*", "(missing)"])
KINDS: dict[str, tuple[Any, st.SearchStrategy[Any]]] = {
    "whole": (pl.Int64, st.integers(-(10**6), 10**6)),
    "unsigned": (pl.UInt8, st.integers(0, 255)),
    "huge": (pl.UInt64, st.integers(0, 2**63 + 5)),
    "float": (pl.Float64, st.integers(-400, 400).map(lambda number: number / 4)),
    "real": (pl.Float64, st.floats(-1e6, 1e6)),
    "decimal": (pl.Decimal(12, 2), st.integers(-999, 9999).map(lambda number: decimal.Decimal(number) / 100)),
    "date": (pl.Date, DAYS),
    "moment": (pl.Datetime("us"), MOMENTS),
    "moment in a zone": (pl.Datetime("us", "Europe/Paris"), MOMENTS.map(lambda moment: moment.replace(tzinfo=dt.UTC))),
    "time": (pl.Time, st.times()),
    "duration": (pl.Duration("us"), st.timedeltas(dt.timedelta(-9), dt.timedelta(999))),
    "truth": (pl.Boolean, st.booleans()),
    "number as text": (pl.String, st.integers(-50, 500).map(str)),
    "text": (pl.String, WORDS),
    "category": (pl.Categorical, WORDS),
}
METHODS: list[dict[str, Any]] = [
    {"method": "auto", "k": 1},
    {"method": "suppress"},
    {"method": "iotf"},
    {"method": "equal_width"},
    {"method": "dates"},
    {"method": "order", "fan_out": 2},
]


@pytest.mark.parametrize("kind", sorted(KINDS))
@settings(max_examples=25, deadline=None)
@given(st.data())
def test_a_job_and_build_hierarchy_see_the_same_column(kind: str, data: st.DataObject) -> None:
    dtype, values = KINDS[kind]
    drawn = data.draw(st.lists(st.none() | values, min_size=1, max_size=12).filter(any_value))
    series = pl.Series("c", drawn, dtype=dtype)
    for method in METHODS:
        wanted: Any
        try:
            wanted = build_hierarchy(series, name="c", **method).rooted()
        except HierarchyError as error:
            wanted = error
        if isinstance(wanted, HierarchyError):
            if kind != "huge":  # a job takes numbers of more than 61 bits for text
                with pytest.raises(HierarchyError) as found:
                    resolve_hierarchy("c", method, series)
                assert str(found.value) == str(wanted)
            continue
        own = resolve_hierarchy("c", method, series)
        assert list(own.rows()) == list(wanted.rows())
        encoded = encode_column(series, wanted)  # every value is a leaf of the hierarchy, in the column's own order
        assert encoded.unknown_rows is None
        for values_, label in zip(drawn, encoded.decode(0).to_list(), strict=True):
            assert (label is None) == (values_ is None)


def any_value(values: list[Any]) -> bool:
    return any(value is not None for value in values)


@pytest.mark.parametrize("kind", sorted(KINDS))
@settings(max_examples=25, deadline=None)
@given(st.data())
def test_labels_counts_and_codes_agree(kind: str, data: st.DataObject) -> None:
    dtype, values = KINDS[kind]
    series = pl.Series("c", data.draw(st.lists(st.none() | values, min_size=1, max_size=12)), dtype=dtype)
    found = column_values(series)
    labels = as_labels(series).to_list()
    assert [None if code < 0 else found.labels[code] for code in found.codes] == labels
    assert dict(zip(found.labels, found.counts.tolist(), strict=True)) == {
        label: rows for label, rows in Counter(labels).items() if label is not None
    }
    assert found.missing == labels.count(None)
    as_text, codes = found.sorted_as_text()
    assert [as_text[code] for code in codes] == labels
    present = [label for label in as_text if label is not None]
    assert present == sorted(present)
    column = typed_column(series)
    if column is None:
        assert not found.labels
    else:
        assert list(column.labels()) == (sorted(found.labels) if column.kind == "text" else found.labels)
    masked = substituted(series)
    assert (
        masked.publish(masked.codes).to_list()
        == (series.cast(pl.String) if dtype == pl.Categorical else series).to_list()
    )


def test_times_and_durations_are_ordered_as_such() -> None:
    spans = pl.Series("c", [dt.timedelta(days=days) for days in (10, 2, 1, 30)])
    h = resolve_hierarchy("c", {"method": "order", "fan_out": 2}, spans)
    assert h.values == ("1 day, 0:00:00", "2 days, 0:00:00", "10 days, 0:00:00", "30 days, 0:00:00")
    assert h.generalize("10 days, 0:00:00", 1) == "[10 days, 0:00:00, 30 days, 0:00:00]"
    hours = build_hierarchy([dt.time(9), dt.time(10, 30), dt.time(23)], "equal_width")
    assert hours.labels[-1] == "[09:00:00, 23:00:00]"


def test_an_empty_hierarchy_value_and_tokens() -> None:
    h = Hierarchy.flat(["", "a"])
    assert encode_column(pl.Series("c", ["", "a"]), h).missing_rows is None
    found = encode_column(
        pl.Series("c", [1, 2, -9]), Hierarchy.flat(["1", "-9"]), unknown="suppress", missing_tokens=["-9"]
    )
    assert found.codes.tolist() == [0, -1, 2] and found.missing_rows is not None and found.unknown_rows is not None
