"""One numbering of equal rows and one histogram per group: the quick ways agree with the plain ones."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kanopy._core.histograms import histogram, summed
from kanopy._core.numbering import number_rows


@pytest.mark.parametrize("small", [0, 10**9], ids=["compiled", "plain"])
@pytest.mark.parametrize("ascending", [False, True])
@settings(max_examples=40, deadline=None)
@given(rows=st.lists(st.tuples(*[st.integers(-1, 4)] * 3), max_size=40), wide=st.booleans())
def test_equal_rows_get_equal_numbers(
    small: int, ascending: bool, rows: list[tuple[int, int, int]], wide: bool
) -> None:
    table = np.array(rows, np.int64).reshape(-1, 3)
    sizes = [2**31 - 1] * 3 if wide else None  # wide: their product does not fit in one integer
    found = number_rows(table, sizes, ascending=ascending, small=small)
    kept = [row for row in rows if min(row) >= 0]
    wanted = sorted(set(kept)) if ascending else list(dict.fromkeys(kept))
    assert found.number.tolist() == [wanted.index(row) if min(row) >= 0 else -1 for row in rows]
    assert found.first.tolist() == [rows.index(row) for row in wanted]
    assert found.counts.tolist() == [kept.count(row) for row in wanted]


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.integers(-1, 3), st.integers(0, 70)), max_size=30))
def test_histograms_count_and_add_up(pairs: list[tuple[int, int]]) -> None:
    groups, values = (np.array([pair[i] for pair in pairs], np.int32) for i in (0, 1))
    table = histogram(groups, values, 4, 71)
    assert {(g, v): n for (g, v), n in np.ndenumerate(table) if n} == {
        pair: pairs.count(pair) for pair in set(pairs) if pair[0] >= 0
    }
    assert (histogram(groups, values, 4, 71, np.full(len(pairs), 3)) == 3 * table).all()
    halves = np.array([0, 1, -1, 0])
    for part in (table, table[:, :5], table.sum(axis=1)):
        assert (summed(part, halves, 2) == [part[0] + part[3], part[1]]).all()
