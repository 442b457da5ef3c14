"""Utility of a release: each measure against numbers worked out another way."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kanopy._errors import JobError
from kanopy.metrics.utility.association import compare_pair, cramers_v
from kanopy.metrics.utility.bounds import summary_bounds
from kanopy.metrics.utility.column_utility import (
    bins_of,
    bits_kept,
    earth_movers_distance,
    expected_counts,
    house_loss,
    range_loss,
    total_variation,
)
from kanopy.metrics.utility.published_values import ColumnDomain, understand
from kanopy.metrics.utility.queries import query_errors


def test_losses_by_hand() -> None:
    ages = ColumnDomain("age", ("0", "5", "10"), np.array([2, 1, 1]), np.array([0.0, 5, 10]))
    covers = understand(["0-5", "10", "*"], ages)
    # Shares 2/3, 1/3, 1 of three values over 2, 1, 1 rows: (8/3 - 4/3) / (4 - 4/3).
    assert house_loss(covers, [2, 1, 1]) == pytest.approx((2 * 2 / 3 + 1 / 3 + 1 - 4 / 3) / (4 - 4 / 3))
    assert range_loss(covers, [2, 1, 1]) == pytest.approx((2 * 0.5 + 0 + 1) / 4)
    assert house_loss(covers, [0, 3, 0], lost_rows=1) == pytest.approx(0.25)
    assert house_loss(understand(["0", "5", "10"], ages), [2, 1, 1]) == 0.0
    assert expected_counts(covers, [2, 1, 1]).tolist() == pytest.approx([1 + 1 / 3, 1 + 1 / 3, 1 + 1 / 3])


def test_distances() -> None:
    assert total_variation([3, 1], [1, 3]) == 0.5
    # One unit of mass at 0 moves to 4, another from 10 to 4: (4 + 6)/2 over a range of 10.
    assert earth_movers_distance([1, 0, 1], [0, 2, 0], np.array([0.0, 4, 10])) == pytest.approx(0.5)
    assert earth_movers_distance([1, 0], [0, 1]) == 1.0
    assert bits_kept(np.array([0, 1], np.int32), np.array([0, 0], np.int32)) == 0.0


def test_bins() -> None:
    many = ColumnDomain("x", tuple(map(str, range(100))), np.ones(100, np.int64), np.arange(100.0))
    bins, names = bins_of(understand(["*"], many), most=10)
    assert np.bincount(bins).tolist() == [10] * 9 + [10]
    assert names[0] == "0–9"


def test_cramers_v_against_the_formula() -> None:
    table = np.array([[10.0, 20], [30, 5]])
    n = table.sum()
    chi = sum(
        (table[i, j] - table[i].sum() * table[:, j].sum() / n) ** 2 / (table[i].sum() * table[:, j].sum() / n)
        for i in range(2)
        for j in range(2)
    )
    assert cramers_v(table) == pytest.approx(np.sqrt(chi / n))


def test_pairs_before_and_after() -> None:
    ages = ColumnDomain("age", ("0", "10"), np.array([2, 2]), np.array([0.0, 10]))
    other = ColumnDomain("pay", ("1", "2"), np.array([2, 2]), np.array([1.0, 2]))
    values = np.array([0, 0, 1, 1], np.int32)
    same = (values, values, understand(["0", "10"], ages))
    hidden = (values, np.zeros(4, np.int32), understand(["*"], other))
    kept = (values, values, understand(["1", "2"], other))
    unchanged = compare_pair(same, kept)
    assert (unchanged.v_before, unchanged.v_after, unchanged.total_variation) == (1.0, 1.0, 0.0)
    assert (unchanged.correlation_before, unchanged.correlation_after) == (1.0, 1.0)
    lost = compare_pair(same, hidden)
    assert (lost.v_after, lost.total_variation, lost.correlation_after) == (0.0, 0.5, None)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 1000), st.integers(1, 6))
def test_bounds_always_hold(seed: int, width: int) -> None:
    """Any values, any intervals that contain them: mean, median and quartiles lie within the bounds."""
    random = np.random.default_rng(seed)
    numbers = np.unique(random.integers(0, 30, 12)).astype(float)
    domain = ColumnDomain("x", tuple(f"{n:g}" for n in numbers), np.ones(len(numbers), np.int64), numbers)
    values = random.integers(0, len(numbers), 40).astype(np.int32)
    low = numbers[values] - random.integers(0, width, 40)
    high = numbers[values] + random.integers(0, width, 40)
    texts = [f"[{a:g}, {b:g}]" for a, b in zip(low, high, strict=True)]
    texts[0] = "*"
    lost = int(random.integers(0, 5))
    found = summary_bounds(values, np.arange(lost, 40, dtype=np.int32), understand(texts, domain), lost_rows=lost)
    assert len(found) == 4
    assert all(bound.holds and bound.low <= bound.high for bound in found)


def test_bounds_say_when_they_do_not_hold() -> None:
    domain = ColumnDomain("x", ("1", "2"), np.array([1, 1]), np.array([1.0, 2]))
    codes = np.array([0, 1], np.int32)
    assert not summary_bounds(codes, codes, understand(["7", "8"], domain))[0].holds


def test_query_errors() -> None:
    random = np.random.default_rng(0)
    domain = ColumnDomain("x", tuple(map(str, range(50))), np.full(50, 20), np.arange(50.0))
    values = np.repeat(np.arange(50), 20).astype(np.int32)
    exact = (values, values, understand(list(map(str, range(50))), domain))
    assert query_errors([exact], queries=50).mean == 0.0
    # Evenly spread values in even intervals: the uniform assumption is right on average, and errors are small.
    wide = (values, (values // 5).astype(np.int32), understand([f"{i * 5}-{i * 5 + 4}" for i in range(10)], domain))
    found = query_errors([wide, exact], queries=100, seed=4)
    assert 0.0 <= found.median < 0.5
    assert found == query_errors([wide, exact], queries=100, seed=4)
    # One query worked out by hand: x in {0, 1, 2} of the label 0-4 counts 3/5 of its rows.
    hidden = (values, np.zeros(1000, np.int32), understand(["*"], domain))
    assert query_errors([hidden], queries=30, selectivity=0.2).mean < 0.3
    skewed = (
        np.sort(random.integers(0, 5, 1000)).astype(np.int32),
        np.zeros(1000, np.int32),
        understand(["*"], domain),
    )
    assert query_errors([skewed], queries=30, selectivity=0.2).mean > 0.3
    with pytest.raises(JobError):
        query_errors([exact], selectivity=0.0)
