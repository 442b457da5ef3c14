"""Average linkage: the compiled loop against its twin, and both against the textbook algorithm."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kanopy.hierarchy.builders.semantic.linkage_kernel import average_linkage


def symmetric(seed: int, size: int, digits: int) -> np.ndarray:
    values = np.random.default_rng(seed).random((size, size)).round(digits)
    return (values + values.T) / 2


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000), st.integers(2, 25), st.sampled_from([1, 8]))
def test_the_loop_and_its_twin_agree(seed, size, digits):
    similarity = symmetric(seed, size, digits)
    weights = np.random.default_rng(seed).integers(1, 4, size)
    plain = average_linkage.plain(similarity.copy(), weights)
    fast = average_linkage(similarity.copy(), weights)
    assert (plain[0] == fast[0]).all()
    assert (plain[1] == fast[1]).all()


@pytest.mark.parametrize("seed", range(5))
def test_chains_find_the_merges_of_the_textbook(seed):
    size = 9
    similarity = symmetric(seed, size, 8)
    merges, heights = average_linkage.plain(similarity.copy(), np.ones(size, np.int64))
    clusters = {i: [i] for i in range(size)}
    expected = []
    while len(clusters) > 1:
        pairs = [(a, b) for a in clusters for b in clusters if a < b]
        mean = {(a, b): similarity[np.ix_(clusters[a], clusters[b])].mean() for a, b in pairs}
        a, b = max(mean, key=mean.get)
        expected.append((a, b, mean[a, b]))
        clusters[a] += clusters.pop(b)
    order = np.argsort(-heights)
    assert [tuple(merges[i]) for i in order] == [(a, b) for a, b, _ in expected]
    assert heights[order] == pytest.approx([height for *_, height in expected])
