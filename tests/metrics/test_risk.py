"""Risks against what one gets by going through the rows one by one."""

from __future__ import annotations

import math
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kanopy._errors import JobError
from kanopy.metrics.risk.class_sizes import highest_journalist_risk, marketer_risk, risk, rows_at_risk, size_histogram

SIZES = st.lists(st.integers(1, 400), min_size=1, max_size=60)


@given(SIZES)
@settings(max_examples=50)
def test_risks_equal_those_counted_row_by_row(sizes: list[int]) -> None:
    own = [1 / size for size in sizes for _ in range(size)]
    found = risk(sizes)
    assert found.rows == len(own)
    assert found.highest_prosecutor == max(own)
    assert math.isclose(found.average_prosecutor, sum(own) / len(own))
    assert found.marketer == found.average_prosecutor == marketer_risk(sizes)
    assert found.highest_journalist == found.highest_prosecutor
    assert found.unique_rows == own.count(1.0)
    assert found.unique_share == own.count(1.0) / len(own)
    for (threshold, rows), smaller_than in zip(found.rows_above, (2, 3, 5, 10, 20), strict=True):
        assert rows == sum(size for size in sizes if size < smaller_than), threshold


@given(SIZES)
@settings(max_examples=50)
def test_a_histogram_holds_every_class_once(sizes: list[int]) -> None:
    bins = size_histogram(sizes)
    assert sum(b.classes for b in bins) == len(sizes)
    assert sum(b.rows for b in bins) == sum(sizes)
    assert all(b.high + 1 == following.low for b, following in pairwise(bins))
    for b in bins:
        assert b.classes == sum(b.low <= size <= b.high for size in sizes)


def test_a_risk_exactly_at_the_threshold_is_not_above_it() -> None:
    assert rows_at_risk([3], 1 / 3) == 0
    assert rows_at_risk([5], 0.2) == 0
    assert rows_at_risk([10, 9], 0.1) == 9


def test_no_published_rows_no_risk() -> None:
    found = risk([])
    assert (found.highest_prosecutor, found.marketer, found.unique_share, found.rows) == (0.0, 0.0, 0.0, 0)
    assert [(b.low, b.high, b.rows) for b in size_histogram([])] == [(1, 1, 0)]


def test_own_bins() -> None:
    assert [(b.low, b.high, b.classes) for b in size_histogram([2, 5, 9], edges=[1, 5])] == [(1, 4, 1), (5, 9, 2)]


def test_bad_input_is_refused() -> None:
    with pytest.raises(JobError, match="between 0 and 1"):
        rows_at_risk([2], 1.5)
    with pytest.raises(JobError, match="fewer than zero"):
        risk([-1])
    with pytest.raises(JobError, match="one population count per class"):
        highest_journalist_risk([5, 5], [5, 4])
