"""Distances between classes and the table: compiled and plain agree, and what can be kept at most is exact."""

from __future__ import annotations

import itertools

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from kanopy.privacy.distances_kernel import most_kept, total_variation

histograms = st.lists(st.lists(st.integers(0, 6), min_size=3, max_size=3), min_size=1, max_size=5)
shares = st.lists(st.integers(0, 5), min_size=3, max_size=3).filter(any)


@settings(max_examples=50, deadline=None)
@given(histograms, shares, st.floats(0.0, 1.0))
def test_compiled_and_plain_agree(rows, weights, most):
    histogram = np.array(rows, np.int32)
    whole = np.array(weights) / sum(weights)
    sizes = histogram.sum(axis=1).astype(np.int64)
    np.testing.assert_allclose(total_variation(histogram, sizes, whole), total_variation.plain(histogram, sizes, whole))
    np.testing.assert_allclose(most_kept(histogram, whole, most), most_kept.plain(histogram, whole, most), rtol=1e-9)


@settings(max_examples=50, deadline=None)
@given(st.lists(st.integers(0, 4), min_size=3, max_size=3), shares, st.sampled_from([0.0, 0.1, 0.25, 0.5, 0.9]))
def test_no_part_of_a_class_that_is_close_enough_is_larger(row, weights, most):
    whole = np.array(weights) / sum(weights)
    limit = float(most_kept(np.array([row], np.int32), whole, most + 1e-9)[0])
    for part in itertools.product(*(range(count + 1) for count in row)):
        size = sum(part)
        if size and 0.5 * np.abs(np.array(part) / size - whole).sum() <= most:
            assert size <= limit + 1e-6
