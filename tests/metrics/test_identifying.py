"""Distinction and separation against counting pairs, and what the suggestions are made of."""

from __future__ import annotations

from collections import Counter
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kanopy._errors import JobError
from kanopy.metrics.risk.identifying import identifying_columns


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000), st.integers(2, 30), st.integers(1, 5))
def test_every_subset_by_counting_pairs(seed: int, rows: int, width: int) -> None:
    random = np.random.default_rng(seed)
    codes = [random.integers(0, 3, rows) for _ in range(width)]
    names = [f"c{j}" for j in range(width)]
    found = identifying_columns(names, codes, [3] * width, largest=3, level=0.05)
    listed = {subset.columns for subset in found.subsets}
    for subset in found.subsets:
        tuples = list(zip(*(codes[names.index(name)].tolist() for name in subset.columns), strict=True))
        counts = Counter(tuples)
        assert subset.combinations == len(counts)
        assert subset.unique_rows == sum(number == 1 for number in counts.values())
        different = sum(left != right for left, right in combinations(tuples, 2))
        assert subset.separation == pytest.approx(different / (rows * (rows - 1) / 2))
    # What was left out adds nothing: some part of it tells apart all that can be told apart.
    plain = [name for name in names if name not in found.identifiers]
    for size in range(2, 4):
        for columns in combinations(plain, size):
            if columns not in listed:
                parts = [s for s in found.subsets if set(s.columns) < set(columns)]
                assert max(part.combinations for part in parts) == found.all_columns.combinations


def test_suggestion_and_identifiers() -> None:
    rows = 400
    random = np.random.default_rng(1)
    codes = [np.arange(rows), random.integers(0, 90, rows), random.integers(0, 40, rows), np.zeros(rows, np.int64)]
    found = identifying_columns(["id", "age", "town", "same"], codes, [rows, 90, 40, 1])
    assert found.identifiers == ("id",)
    assert found.suggested == ("age", "town")
    assert ("age", "town") in found.keys
    assert found.gain["same"] == 0.0


def test_many_columns_are_pruned() -> None:
    random = np.random.default_rng(2)
    codes = [random.integers(0, 1 + j % 4, 60) for j in range(30)]
    found = identifying_columns([f"c{j}" for j in range(30)], codes, [4] * 30, largest=4, most_subsets=200)
    assert found.largest == 2
    assert len(found.passed_over) == 30 - 20  # 20 columns have 190 pairs
    assert len(found.subsets) <= 30 + 190
    assert "c0" in found.passed_over  # constant columns separate nothing


def test_bad_input() -> None:
    with pytest.raises(JobError, match="at least one column"):
        identifying_columns([], [], [])
    with pytest.raises(JobError, match="at least 1 column"):
        identifying_columns(["a"], [np.zeros(2, np.int64)], [1], largest=0)
