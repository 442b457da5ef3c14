"""Costs of stretches: the block answer, the written-down answer and the array answer agree with a plain maximum."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from kanopy.search.clustering.lines_kernel import fill_costs, make_lines, pair_costs, stretch_cost
from tests.kernels.clustering_definitions import stretch_costs


@st.composite
def attributes(draw):
    found = []
    for _ in range(draw(st.integers(1, 3))):
        size = draw(st.integers(1, 70))
        gaps = draw(st.lists(st.integers(0, 50), min_size=size - 1, max_size=size - 1))
        found.append((draw(st.booleans()), size, gaps))
    return found


@settings(max_examples=60, deadline=None)
@given(attributes(), st.data())
def test_every_way_to_price_a_stretch_agrees(found, data):
    values = [np.concatenate([[0], np.cumsum(gaps)]).astype(np.int64) for _, _, gaps in found]
    lines = make_lines(
        [free for free, _, _ in found],
        [np.zeros(size, np.int64) for _, size, _ in found],
        values,
        [np.array(gaps, np.int64) for _, _, gaps in found],
    )
    j = data.draw(st.integers(0, len(found) - 1))
    free, size, gaps = found[j]
    lo = data.draw(st.integers(0, size - 1))
    hi = data.draw(st.integers(lo, size - 1))
    expected = int(values[j][hi] - values[j][lo]) if free else max(gaps[lo:hi], default=0)
    assert stretch_cost(lines, j, lo, hi) == expected
    assert pair_costs(lines, j, np.array([lo]), np.array([hi])).tolist() == [expected]
    costs = np.full(int(lines.head[-1, 0]), -1, np.int64)
    fill_costs(lines, j, lo, hi, costs)
    own = costs[int(lines.head[j, 0]) : int(lines.head[j + 1, 0])]
    assert own.tolist() == stretch_costs(lines, j, lo, hi).tolist()
    assert own.tolist() == [stretch_cost(lines, j, min(lo, at), max(hi, at)) for at in range(size)]
