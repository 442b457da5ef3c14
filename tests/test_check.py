"""`kanopy.check`: how anonymous a table is, by plain counting."""

from __future__ import annotations

from collections import Counter, defaultdict

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kanopy
from kanopy.errors import DataError, JobError

values = st.sampled_from(["a", "b", None])


@settings(max_examples=50, deadline=None)
@given(st.lists(st.tuples(values, st.integers(0, 2), values), min_size=1, max_size=20))
def test_agrees_with_counting(rows: list[tuple[str | None, int, str | None]]) -> None:
    frame = pl.DataFrame(rows, schema={"x": pl.String, "y": pl.Int64, "rows": pl.String}, orient="row")
    sizes = Counter((x, y) for x, y, _ in rows)
    secrets = defaultdict(set)
    for x, y, secret in rows:
        secrets[x, y].add(secret)
    found = kanopy.check(frame, quasi=["x", "y"], sensitive=["rows"])
    assert (found.rows, found.classes, found.k) == (len(rows), len(sizes), min(sizes.values()))
    assert found.unique_rows == sum(size == 1 for size in sizes.values())
    assert found.largest_class == max(sizes.values())
    assert found.highest_risk == 1 / found.k
    assert found.average_risk == pytest.approx(len(sizes) / len(rows))
    assert found.sensitive == {"rows": {"distinct": min(len(group) for group in secrets.values())}}
    assert kanopy.check(frame.to_dicts(), "x,y", "rows") == found


def test_suppressed_rows_form_no_class() -> None:
    table = {"x": ["*", "a", "a"], "y": ["*", "*", "*"]}
    found = kanopy.check(table, ["x", "y"])
    assert (found.k, found.classes, found.suppressed_rows) == (2, 1, 1)
    everything = kanopy.check({"x": ["*", "*"], "s": ["u", "v"]}, "x", "s")
    assert (everything.k, everything.classes, everything.suppressed_rows) == (2, 1, 0)
    assert everything.sensitive == {"s": {"distinct": 2}}


def test_what_it_refuses() -> None:
    with pytest.raises(DataError, match=r"no column 'agee'. Did you mean 'age'\?"):
        kanopy.check({"age": [1]}, ["agee"])
    with pytest.raises(DataError, match="at least one quasi-identifier"):
        kanopy.check({"age": [1]}, [])
    with pytest.raises(JobError, match="names of columns"):
        kanopy.check({"age": [1]}, [1])  # type: ignore[list-item]
    with pytest.raises(DataError, match="no records"):
        kanopy.check({"age": []}, ["age"])
