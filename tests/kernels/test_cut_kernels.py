"""The kernels of searches over cuts agree with their plain twins or definitions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kanopy.search.cell.lifting_kernel import Meetings, meet
from kanopy.search.subtree.cut_classes_kernel import classes_of_cut, lost_by_suppression
from kanopy.search.subtree.specialize_kernel import (
    NOTHING,
    Cut,
    Records,
    foresee,
    look_ahead,
    make_cut,
    make_outlook,
    split,
)  # fmt: skip
from tests.kernels import cut_definitions

# Two trees: 0 over 1 and 2, 1 over 3, 4, 5 (leaves 2 to 5); 6 over 7 and 8.
PARENT = np.array([-1, 0, 0, 1, 1, 1, -1, 6, 6], np.int32)
DEPTH = np.array([0, 1, 1, 2, 2, 2, 0, 1, 1], np.int32)
CHILDREN = np.bincount(PARENT[PARENT >= 0], minlength=9).astype(np.int64)
ANCESTOR = np.array(
    [[0, 0, 0, 0, 0, 0, 6, 6, 6], [-1, 1, 2, 1, 1, 1, -1, 7, 8], [-1, -1, -1, 3, 4, 5, -1, -1, -1], [-1] * 9], np.int32
)
WORTH = np.array([0.0, 0.5, 0.75, 1.0, 1.0, 1.0, 0.0, 0.25, 0.25])

rows = st.lists(
    st.tuples(st.sampled_from([2, 3, 4, 5]), st.sampled_from([7, 8]), st.integers(1, 5)), min_size=1, max_size=25
)


def start(found: list[tuple[int, int, int]]) -> tuple[Records, Cut]:
    leaves = np.array([[a, b] for a, b, _ in found], np.int32)
    counts = np.array([c for _, _, c in found], np.int64)
    cut = make_cut(len(found), 2)
    cut.end[0], cut.size[0] = len(found), counts.sum()
    cut.at[0] = [0, 6]
    return Records(leaves, counts, ANCESTOR, DEPTH, CHILDREN, WORTH), cut


@pytest.mark.parametrize("bare", [False, True])
@settings(max_examples=40, deadline=None)
@given(rows, st.permutations([(0, 0), (0, 1), (1, 6)]), st.integers(1, 6), st.booleans())
def test_specializing_does_what_it_is_meant_to(
    bare: bool, found: list[tuple[int, int, int]], steps: list[tuple[int, int]], k: int, unsafe: bool
) -> None:
    divide, foretell, look = (run.plain if bare else run for run in (split, foresee, look_ahead))
    records, ours = start(found)
    _, theirs = start(found)
    classes = plain_classes = 1
    changed, plain_changed = np.zeros(len(found), np.int64), np.zeros(len(found), np.int64)
    outlook, plain_outlook = make_outlook(9), make_outlook(9)
    held, touched = np.zeros(9, np.int64), np.zeros(9, np.int32)
    for j, v in steps:
        classes, count = divide(records, ours, classes, j, v, held, changed)
        plain_classes, plain_count = cut_definitions.split(records, theirs, plain_classes, j, v, held, plain_changed)
        assert (classes, count) == (plain_classes, plain_count)
        assert (changed[:count] == plain_changed[:count]).all()
        for cut in (ours, theirs):
            cut.unsafe[:classes] = (cut.size[:classes] < k) & unsafe
        foretell(records, ours, np.arange(classes), k, held, touched)
        cut_definitions.foresee(records, theirs, np.arange(classes), k, held, touched)
        for one, two in zip(ours, theirs, strict=True):
            np.testing.assert_allclose(one[:classes], two[:classes], atol=1e-12)
        np.testing.assert_array_equal(ours.order, theirs.order)
        look(ours, classes, outlook)
        cut_definitions.look_ahead(theirs, classes, plain_outlook)
        for one, two in zip(outlook, plain_outlook, strict=True):
            np.testing.assert_allclose(one, two, atol=1e-12)
        assert not held.any()
        # Every record lies under the nodes of its class, and every row is in one class.
        assert int(ours.size[:classes].sum()) == int(records.counts.sum())
        for c in range(classes):
            for record in ours.order[ours.begin[c] : ours.end[c]]:
                for column in range(2):
                    node = ours.at[c, column]
                    assert ANCESTOR[DEPTH[node], records.leaves[record, column]] == node


def test_what_is_foreseen_by_hand() -> None:
    """Three rows of 3, one of 4, two of 2: splitting the root leaves 4 and 2; with k = 3 the two are lost."""
    records, cut = start([(3, 7, 3), (4, 7, 1), (2, 8, 2)])
    foresee(records, cut, np.arange(1), 3, np.zeros(9, np.int64), np.zeros(9, np.int32))
    assert cut.small[0].tolist() == [2, 2]
    assert cut.least[0].tolist() == [4, 4]
    assert cut.gain[0].tolist() == [4 * 0.5, 4 * 0.25]
    leaf_only = make_cut(1, 2)
    leaf_only.at[0] = [3, 7]
    foresee(records, leaf_only, np.arange(1), 3, np.zeros(9, np.int64), np.zeros(9, np.int32))
    assert leaf_only.least[0].tolist() == [int(NOTHING)] * 2


@settings(max_examples=50, deadline=None)
@given(rows, st.lists(st.integers(0, 3), min_size=9, max_size=9), st.data())
def test_classes_of_cuts_agree_with_the_twins(
    found: list[tuple[int, int, int]], codes: list[int], data: st.DataObject
) -> None:
    records, _ = start(found)
    digit = np.array(codes, np.int64)
    digit[6:] *= 4
    results = []
    for loop in (classes_of_cut, classes_of_cut.plain):
        number, sizes = np.zeros(len(found), np.int32), np.zeros(len(found), np.int64)
        slots = np.zeros((64, 2), np.int64)
        count = loop(records.leaves, digit, records.counts, slots, number, sizes)
        results.append((count, number.tolist(), sizes[:count].tolist()))
    assert results[0] == results[1]
    count, number, _ = results[0]
    unsafe = np.array(data.draw(st.lists(st.booleans(), min_size=count, max_size=count)))
    ours, theirs = np.empty(2), np.empty(2)
    numbers = np.array(number, np.int32)
    lost_by_suppression(records.leaves, numbers, records.counts, unsafe, WORTH, ours)
    lost_by_suppression.plain(records.leaves, numbers, records.counts, unsafe, WORTH, theirs)
    np.testing.assert_allclose(ours, theirs, atol=1e-12)


@settings(max_examples=50, deadline=None)
@given(
    st.lists(st.tuples(st.integers(1, 4), st.integers(-1, 3), st.integers(-1, 3)), min_size=1, max_size=12),
    st.integers(1, 8),
    st.randoms(use_true_random=False),
)
def test_meetings_agree_with_the_twin(classes: list[tuple[int, int, int]], k: int, random: object) -> None:
    size = np.array([c[0] for c in classes], np.int64)
    group = np.array([[c[1], c[2] if c[2] < 0 else c[2] + 4] for c in classes], np.int64)
    flat = group.reshape(-1)
    members = np.argsort(flat, kind="stable")
    total = np.array([size[(group == g).any(axis=1)].sum() for g in range(8)], np.int64)
    meetings = Meetings(
        group, members, np.searchsorted(flat[members], np.arange(9)), total, np.minimum(k, total), size
    )  # fmt: skip
    options = [i for i in range(len(flat)) if flat[i] >= 0]
    random.shuffle(options)  # type: ignore[attr-defined]
    ours, theirs = np.full(len(size), -1, np.int32), np.full(len(size), -1, np.int32)
    count = meet(meetings, np.array(options, np.int64), ours)
    assert count == meet.plain(meetings, np.array(options, np.int64), theirs)
    assert ours.tolist() == theirs.tolist()
    assert count == (ours >= 0).sum()
    # Nobody goes to a meeting that is not there for him, and nobody who can still meet enough rows stays.
    for c, j in enumerate(ours.tolist()):
        assert j < 0 or group[c, j] >= 0
    for option in options:
        c, j = divmod(option, 2)
        left = size[(group[:, j] == group[c, j]) & (ours < 0)].sum()
        assert ours[c] >= 0 or left < min(k, total[group[c, j]]) or left <= size[c]
