"""The two loops of utility-based recoding, compiled or not, give what their definitions give."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from kanopy._core.classes import Domain
from kanopy.privacy.models import KAnonymity
from kanopy.search.local.boxes import lay_out
from kanopy.search.local.halving_kernel import DONE, HEIGHT, halve
from kanopy.search.local.pairing_kernel import join_small
from kanopy.search.problem import Problem
from tests.kernels import definitions
from tests.search.problems import domains


@settings(max_examples=60, deadline=None)
@given(domains(), st.integers(1, 6), st.data())
def test_joining_small_units(domain: Domain, k: int, data: st.DataObject) -> None:
    layout = lay_out(Problem(domain, [KAnonymity(2)], weights=[3.0] + [1.0] * (domain.width - 1)))
    order = np.array(data.draw(st.permutations(range(layout.records))), np.int64)
    cut = data.draw(st.integers(0, layout.records))
    starts = np.array([0, cut, layout.records], np.int64)
    results = []
    for run in (join_small, join_small.plain, definitions.join_small):
        owner = np.full(layout.records, -1, np.int32)
        run(layout.boxes, order.astype(np.int32), layout.counts[order], starts, k, 0, 2, owner)
        results.append(owner.tolist())
    assert results[0] == results[1] == results[2]
    sizes = np.bincount(owner, weights=layout.counts[order])
    for begin, end in ((0, cut), (cut, layout.records)):
        used = np.unique(owner[begin:end])
        assert ((used >= begin) & (used < end)).all()
        assert len(used) <= 1 or (sizes[used] >= k).all()


@settings(max_examples=60, deadline=None)
@given(domains(), st.integers(1, 6), st.data())
def test_halving(domain: Domain, k: int, data: st.DataObject) -> None:
    layout = lay_out(Problem(domain, [KAnonymity(2)], weights=[3.0] + [1.0] * (domain.width - 1)))
    count = len(layout.rows)
    k = min(k, max(1, count))
    items = np.array(data.draw(st.permutations(range(count))), np.int64)
    slice_items = data.draw(st.sampled_from([1, 20, 10_000]))
    results = []
    for run in (halve, halve.plain, definitions.halve):
        mine, opens = items.copy(), np.zeros(count, np.bool_)
        stack, state = np.zeros((count // k + 3, 2), np.int64), np.array([int(count > 0), 0], np.int64)
        stack[0] = 0, count
        while state[HEIGHT] > 0:
            run(layout.boxes, layout.record_of_item, mine, stack, state, opens, k, slice_items)
        assert state[DONE] == count
        results.append((mine.tolist(), opens.tolist()))
    assert results[0] == results[1] == results[2]
    assert sorted(results[0][0]) == list(range(count))
    sizes = np.diff(np.append(np.flatnonzero(opens), count))
    assert count == 0 or sizes.min() >= min(k, count)
