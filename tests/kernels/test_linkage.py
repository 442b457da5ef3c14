"""Average linkage and Ward's rule: the loop, compiled and not, against NumPy; all against the textbook algorithms."""

from __future__ import annotations

from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kanopy.hierarchy.builders.semantic import linkage_kernel
from kanopy.hierarchy.builders.semantic.linkage_kernel import join_nearest


def joined_with_numpy(costs: np.ndarray, sizes: np.ndarray, ward: bool) -> np.ndarray:
    costs, sizes = costs.copy(), sizes.copy()
    count = len(sizes)
    np.fill_diagonal(costs, np.inf)
    alive = np.ones(count, bool)
    merges = np.empty((max(0, count - 1), 4))
    chain: list[int] = []
    for step in range(count - 1):
        if not chain:
            chain.append(int(np.argmax(alive)))
        while True:
            last = chain[-1]
            row = np.where(alive, costs[last], np.inf)
            best = int(np.argmin(row))
            if len(chain) > 1 and row[chain[-2]] <= row[best]:
                best = chain[-2]
                break
            chain.append(best)
        del chain[-2:]
        a, b = min(last, best), max(last, best)
        cost, size = costs[a, b], sizes[a] + sizes[b]
        merges[step] = a, b, cost, size
        if ward:
            joined = (sizes[a] + sizes) * costs[a] + (sizes[b] + sizes) * costs[b] - sizes * cost
            joined /= size + sizes
        else:
            joined = (sizes[a] * costs[a] + sizes[b] * costs[b]) / size
        costs[a, :] = costs[:, a] = joined
        costs[a, a] = np.inf
        sizes[a] = size
        alive[b] = False
    return merges


def symmetric(seed: int, size: int, digits: int) -> np.ndarray:
    values = np.random.default_rng(seed).random((size, size)).round(digits)
    return (values + values.T) / 2


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000), st.integers(2, 25), st.sampled_from([1, 8]))
def test_the_loop_does_what_numpy_does(seed, size, digits):
    similarity = symmetric(seed, size, digits)
    weights = np.random.default_rng(seed).integers(1, 4, size)
    for ward in (False, True):
        expected = joined_with_numpy(-similarity, weights.astype(float), ward)
        for loop in (linkage_kernel.join_in_place.plain, linkage_kernel.join_in_place):
            with patch.object(linkage_kernel, "join_in_place", loop):
                assert (join_nearest(-similarity, weights.astype(float), ward) == expected).all()


@pytest.mark.parametrize("seed", range(5))
def test_chains_find_the_merges_of_the_textbook(seed):
    size = 9
    similarity = symmetric(seed, size, 8)
    found = join_nearest(-similarity, np.ones(size), False)
    merges, heights = found[:, :2], -found[:, 2]
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


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 12), st.integers(0, 9999))
def test_ward_agrees_with_the_closest_pair_rule(count: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(count, 3))
    sizes = rng.integers(1, 5, count).astype(float)
    square = ((points[:, None] - points[None]) ** 2).sum(axis=2)
    costs = 2 * sizes[:, None] * sizes / (sizes[:, None] + sizes) * square
    found = np.array(join_nearest(costs, sizes, True)).reshape(-1, 4)
    found = found[np.argsort(found[:, 2])]
    clusters = {i: [i] for i in range(count)}
    expected = []
    while len(clusters) > 1:
        joined = {(a, b): 2 * _spread(points, sizes, clusters[a], clusters[b])
                  for a in clusters for b in clusters if a < b}  # fmt: skip
        a, b = min(joined, key=joined.get)
        clusters[a] += clusters.pop(b)
        expected.append((joined[a, b], sizes[clusters[a]].sum()))
    assert found[:, 2].tolist() == pytest.approx([cost for cost, _ in expected])
    assert found[:, 3].tolist() == pytest.approx([size for _, size in expected])


def _spread(points: np.ndarray, sizes: np.ndarray, one: list[int], other: list[int]) -> float:
    """What joining two clusters adds to the squared distances from the means, by its definition."""

    def within(members: list[int]) -> float:
        mean = np.average(points[members], axis=0, weights=sizes[members])
        return float((sizes[members, None] * (points[members] - mean) ** 2).sum())

    return within([*one, *other]) - within(one) - within(other)
