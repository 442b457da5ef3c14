"""The compiled search kernels equal their plain twins."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kanopy.search import class_tables as class_tables
from kanopy.search.full_domain.counting_kernel import count_rows
from kanopy.search.full_domain.projection_kernel import small_cell_rows
from kanopy.search.problem import Problem
from kanopy.search.rollup_kernel import regroup, roll_up, slots_for, smallest_finer, tally
from tests.search.problems import problems


@settings(max_examples=60, deadline=None)
@given(problems())
def test_roll_up_and_tally(problem: Problem) -> None:
    tables, lattice = problem.tables, problem.lattice
    packing, base = tables.packing, tables.base
    start = np.full(len(lattice.lowest), -1, np.int64)
    for j, (a, b) in enumerate(zip(lattice.lowest, lattice.highest, strict=True)):
        if a != b:
            start[j] = packing.starts[j, a, b]
    results = []
    for function in (roll_up, roll_up.plain):  # type: ignore[attr-defined]
        keys, sizes = np.empty_like(base.keys), np.empty_like(base.sizes)
        none = np.empty((0, 0), np.int32)
        count = function(
            base.keys, base.sizes, none, packing.word, packing.shift, packing.mask, packing.deltas, start,
            keys, sizes, none, slots_for(base.count),
        )  # fmt: skip
        results.append((keys[:, :count].tolist(), sizes[:count].tolist()))
    assert results[0] == results[1]
    assert sum(results[0][1]) == int(base.sizes.sum())

    extra, starts = problem._extra
    place = np.array([starts[j, level] for j, level in enumerate(lattice.lowest)], np.int64)
    violated = base.sizes < problem.k
    for limit in (0, 10**9):
        one, two = np.empty(len(place)), np.empty(len(place))
        arguments = (base.keys, base.sizes, violated, packing.word, packing.shift, packing.mask, extra, place)
        assert tally(*arguments, one, limit) == tally.plain(*arguments, two, limit)  # type: ignore[attr-defined]
        assert one == pytest.approx(two)


@pytest.mark.parametrize("way", ["compiled", "plain", "small fields", "several words"])
@settings(max_examples=25, deadline=None)
@given(problem=problems(), data=st.data())
def test_regroup(way: str, problem: Problem, data: st.DataObject) -> None:
    lattice = problem.lattice
    pairs = zip(lattice.lowest, lattice.highest, strict=True)
    lowest = tuple(data.draw(st.integers(low, high)) for low, high in pairs)
    with pytest.MonkeyPatch.context() as patch:
        if way == "plain":
            patch.setattr(class_tables, "regroup", regroup.plain)  # type: ignore[attr-defined]
        elif way == "small fields":
            patch.setattr(class_tables, "FIELD_BITS", 1)
        elif way == "several words":
            patch.setattr(class_tables, "WORD_BITS", 4)
        finer = problem.changed()
        assert finer.tables.packing.words >= 1
        patch.setattr(class_tables, "WORD_BITS", 63)
        part = finer.narrowed(lowest, lattice.highest, class_tables.memory_for(len(problem.domain.counts)))
        expected = problem.changed(lowest_levels=lowest)
        assert part.tables.base.keys.tolist() == expected.tables.base.keys.tolist()
        assert part.tables.base.sizes.tolist() == expected.tables.base.sizes.tolist()


@settings(max_examples=60, deadline=None)
@given(problems())
def test_count_rows(problem: Problem) -> None:
    base, packing = problem.tables.base, problem.tables.packing
    extra, starts = problem._extra
    place = np.array([starts[j, level] for j, level in enumerate(problem.lattice.lowest)], np.int64)
    for limit in (-1, 0, 10**9):
        results = []
        for function in (count_rows, count_rows.plain):  # type: ignore[attr-defined]
            sums, counts = np.empty(len(place)), np.empty(5, np.int64)
            function(
                base.keys[0], base.sizes, packing.shift, packing.mask, extra, place, problem.k, limit,
                sums, counts,
            )  # fmt: skip
            results.append((sums, counts.tolist()))
        assert results[0][1] == results[1][1]
        assert results[0][0] == pytest.approx(results[1][0])


@settings(max_examples=60, deadline=None)
@given(problems())
def test_smallest_finer(problem: Problem) -> None:
    levels = np.array(list(problem.lattice), np.int32)
    classes = np.random.default_rng(0).integers(1, 50, len(levels))
    for wanted in levels[:10]:
        a = smallest_finer(levels, classes, len(levels), wanted)
        b = smallest_finer.plain(levels, classes, len(levels), wanted)  # type: ignore[attr-defined]
        assert classes[a] == classes[b]
        assert (levels[a] <= wanted).all()


def test_small_cell_rows() -> None:
    rng = np.random.default_rng(5)
    sizes = np.array([[6, 3, 1], [5, 2, 1], [4, 4, 1], [7, 3, 2]], np.int64)
    lifts, starts, length = [], np.zeros((4, 3), np.int64), 0
    for j in range(4):
        low = np.arange(sizes[j, 0], dtype=np.int32)
        middle = (low % sizes[j, 1]).astype(np.int32)
        top = (middle % sizes[j, 2]).astype(np.int32)
        for i, lift in enumerate((low, middle, top)):
            starts[j, i] = length
            lifts.append(lift)
            length += len(lift)
    codes = np.stack([rng.integers(0, sizes[j, 0], 300) for j in range(4)]).astype(np.int32)
    counts = rng.integers(1, 4, 300).astype(np.int32)
    triples = np.array([[0, 1, 2], [3, 0, 2], [1, 2, 3]], np.int64)
    first = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 1]], np.int64)
    last = np.full(4, 2, np.int64)
    lengths = [
        np.prod([last[j] - f + 1 for j, f in zip(t, fs, strict=True)]) for t, fs in zip(triples, first, strict=True)
    ]
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    outs = []
    for function in (small_cell_rows, small_cell_rows.plain):  # type: ignore[attr-defined]
        out = np.zeros(int(offsets[-1]), np.int64)
        function(codes, counts, np.concatenate(lifts), starts, sizes, triples, first, last, offsets, 7, out)
        outs.append(out.tolist())
    assert outs[0] == outs[1]
    assert max(outs[0]) > 0
