"""Quick class sizes against grouping by the dataframe library."""

from __future__ import annotations

import datetime as dt

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kanopy._errors import DataError
from kanopy._table.column import column_values
from kanopy._table.grouping import code_columns, number_rows
from kanopy.verify.verify import class_table

COLUMNS = {
    "text": st.sampled_from(["*", "a", "b", "", None]),
    "whole": st.sampled_from([0, -3, 7, 2**40, None]),
    "float": st.sampled_from([0.5, -0.25, float("nan"), None, 1e300]),
    "truth": st.sampled_from([True, False, None]),
    "day": st.sampled_from([dt.date(2020, 1, 1), dt.date(1900, 1, 1), None]),
}


@settings(max_examples=60, deadline=None)
@given(st.data(), st.lists(st.sampled_from(sorted(COLUMNS)), min_size=1, max_size=4, unique=True), st.integers(1, 25))
def test_same_sizes_as_grouping(data: st.DataObject, names: list[str], rows: int) -> None:
    kinds = {"text": pl.String, "whole": pl.Int64, "float": pl.Float64, "truth": pl.Boolean, "day": pl.Date}
    frame = pl.DataFrame(
        {name: data.draw(st.lists(COLUMNS[name], min_size=rows, max_size=rows)) for name in names},
        schema={name: kinds[name] for name in names},
    )
    found = number_rows(frame, names)
    sizes, suppressed = found.sizes, found.suppressed
    table, hidden = class_table(frame, names)
    assert sorted(sizes.tolist()) == sorted(table["\0rows"].to_list())
    assert suppressed == hidden


def test_more_combinations_than_an_integer_holds() -> None:
    random = np.random.default_rng(0)
    frame = pl.DataFrame({f"c{j}": random.integers(0, 2**40, 50) for j in range(6)})
    frame = pl.concat([frame, frame.head(7)])
    assert sorted(number_rows(frame, frame.columns).sizes.tolist()) == [1] * 43 + [2] * 7


def test_enumerations_and_categories() -> None:
    column = pl.Series("c", ["b", "*", "b", None])
    for kind in (pl.Enum(["b", "*", "z"]), pl.Categorical()):
        assert number_rows(column.cast(kind).to_frame(), ["c"]).suppressed == 1


@pytest.mark.parametrize("values", [3, 250, 900, 40_000])
def test_texts_with_few_and_many_values(values: int) -> None:
    """Few are coded by hash, many as categories: both group as the dataframe library does."""
    random = np.random.default_rng(values)
    texts = [None if number == 1 else "*" if number == 2 else f"v{number}" for number in range(values)]
    column = pl.Series("c", [texts[i] for i in random.integers(0, values, 20_000)])
    column = pl.concat([column, pl.Series("c", ["*", None])])
    found = number_rows(column.to_frame(), ["c"])
    sizes, suppressed = found.sizes, found.suppressed
    table, hidden = class_table(column.to_frame(), ["c"])
    assert np.array_equal(np.sort(sizes), np.sort(table["\0rows"].to_numpy()))
    assert suppressed == hidden > 0


def test_labels() -> None:
    labels, codes = column_values(pl.Series("x", ["b", "", None, "a", "b"])).sorted_as_text()
    assert [labels[code] for code in codes] == ["b", None, None, "a", "b"]


def test_a_missing_column_is_named() -> None:
    with pytest.raises(DataError, match=r"no column 'agee'.*'age'"):
        code_columns(pl.DataFrame({"age": [1]}), ["agee"])
    with pytest.raises(DataError, match="List"):
        code_columns(pl.DataFrame({"age": [[1]]}), ["age"])
