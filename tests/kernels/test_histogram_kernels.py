"""Kernels that models rest on, against their plain twins."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kanopy.privacy.distances_kernel import total_variation
from kanopy.privacy.models import KAnonymity
from kanopy.search.problem import Problem
from kanopy.search.rollup_kernel import roll_up, slots_for
from tests.search.problems import domains


@settings(max_examples=60, deadline=None)
@given(domains(), st.data())
def test_roll_up_with_histograms(domain, data: st.DataObject) -> None:
    tables = Problem(domain, [KAnonymity(2)]).tables
    packing, base = tables.packing, tables.base
    values = data.draw(st.integers(1, 4))
    rng = np.random.default_rng(data.draw(st.integers(0, 99)))
    histogram = rng.integers(0, 5, (base.count, values)).astype(np.int32)
    start = np.array(
        [
            packing.starts[j, 0, level] if (level := data.draw(st.integers(0, h.height))) else -1
            for j, h in enumerate(domain.hierarchies)
        ],
        np.int64,
    )
    shared = (packing.word, packing.shift, packing.mask, packing.deltas, start)
    results = []
    for run in (roll_up, roll_up.plain):
        keys, sizes = np.zeros_like(base.keys), np.zeros_like(base.sizes)
        out, slots = np.zeros_like(histogram), slots_for(base.count)
        found = run(base.keys, base.sizes, histogram, *shared, keys, sizes, out, slots)
        results.append((keys[:, :found].tolist(), sizes[:found].tolist(), out[:found].tolist()))
    assert results[0] == results[1]
    keys, sizes = np.zeros_like(base.keys), np.zeros_like(base.sizes)
    none = np.empty((0, 0), np.int32)
    found = roll_up(base.keys, base.sizes, none, *shared, keys, sizes, none, slots_for(base.count))
    assert (keys[:, :found].tolist(), sizes[:found].tolist()) == results[0][:2]
    assert np.array(results[0][2]).sum(axis=0).tolist() == histogram.sum(axis=0).tolist()


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(*[st.integers(0, 9)] * 3), min_size=1, max_size=8))
def test_total_variation(rows: list[tuple[int, int, int]]) -> None:
    histogram = np.array(rows, np.int32)
    sizes = histogram.sum(axis=1).astype(np.int64)
    whole = np.array([0.5, 0.25, 0.25])
    plain = total_variation.plain(histogram, sizes, whole)
    assert total_variation(histogram, sizes, whole) == pytest.approx(plain)
