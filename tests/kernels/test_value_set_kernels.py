"""Kernels of searches over intervals and sets of values: compiled or not, they do what they are meant to."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kanopy.search.sets.value_cuts_kernel import make_weights, merge_codes, weigh_cuts
from kanopy.search.sets.value_merges_kernel import weigh_joins, weigh_partings
from tests.kernels import set_definitions


@st.composite
def tables(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray, np.random.Generator]:
    """Distinct rows of codes with counts; every code of a column occurs."""
    generator = np.random.default_rng(draw(st.integers(0, 10**6)))
    width, rows = draw(st.integers(1, 4)), draw(st.integers(1, 80))
    cells = generator.integers(0, generator.integers(1, 7, width), (rows, width))
    for j in range(width):
        cells[:, j] = np.unique(cells[:, j], return_inverse=True)[1]
    codes, counts = np.unique(cells, axis=0, return_counts=True)
    order = generator.permutation(len(codes))
    return np.ascontiguousarray(codes[order], np.int32), counts[order].astype(np.int64), generator


@settings(max_examples=60, deadline=None)
@given(tables(), st.integers(1, 6))
def test_cuts(table: tuple[np.ndarray, np.ndarray, np.random.Generator], k: int) -> None:
    codes, counts, generator = table
    most = int(codes.max()) + 1 + int(generator.integers(0, 2))
    coarse = np.full((codes.shape[1], most), -1, np.int32)
    for j in range(codes.shape[1]):
        fine = int(codes[:, j].max()) + 1
        coarse[j, :fine] = np.concatenate([[0], np.cumsum(generator.integers(0, 2, fine - 1))])
    price = int(counts.sum()) + int(generator.integers(0, 3))
    expected = make_weights(codes.shape[1], most)
    set_definitions.weigh_cuts(codes, counts, coarse, k, price, expected)
    for function in (weigh_cuts, weigh_cuts.plain):
        found = make_weights(codes.shape[1], most)
        for array in found:
            array[:] = 7  # what stood there before must not matter
        function(codes, counts, coarse, k, price, found)
        for name, a, b in zip(found._fields, found, expected, strict=True):
            assert np.array_equal(a, b), name


@settings(max_examples=40, deadline=None)
@given(tables())
def test_merging_codes(table: tuple[np.ndarray, np.ndarray, np.random.Generator]) -> None:
    codes, counts, generator = table
    lookup = generator.integers(0, 3, (codes.shape[1], int(codes.max()) + 1)).astype(np.int32)
    expected = set_definitions.merge_codes(codes, counts, lookup)
    for function in (merge_codes, merge_codes.plain):
        for a, b in zip(function(codes, counts, lookup), expected, strict=True):
            assert np.array_equal(a, b)


@settings(max_examples=60, deadline=None)
@given(tables(), st.integers(1, 6), st.booleans())
def test_joins(table: tuple[np.ndarray, np.ndarray, np.random.Generator], k: int, squares: bool) -> None:
    codes, counts, generator = table
    j = int(generator.integers(codes.shape[1]))
    count = int(codes[:, j].max()) + 1
    shares = generator.random((codes.shape[1], 8))
    weights = np.array([sum(shares[i, row[i]] for i in range(codes.shape[1])) for row in codes])
    union = generator.random((count, count)) + 1
    union = union + union.T
    rises = union - shares[j, :count][:, None]
    legal = np.triu(generator.random((count, count)) < 0.7, 1)
    price = float(counts.sum()) if squares else 9.0
    answers = []
    for function in (set_definitions.weigh_joins, weigh_joins, weigh_joins.plain):
        change, gone = np.full((count, count), 3.0), np.full((count, count), 3, np.int64)
        function(codes, counts, weights, j, legal, rises, k, price, squares, change, gone)
        answers.append((change, gone))
    for change, gone in answers[1:]:
        assert np.allclose(answers[0][0], change)
        assert np.array_equal(answers[0][1], gone)
    # The change is what judging before and after says.
    for a, b in np.argwhere(legal)[:3]:
        lookup = np.tile(np.arange(8, dtype=np.int32), (codes.shape[1], 1))
        lookup[j, b] = a
        merged, sizes, _ = merge_codes(codes, counts, lookup)
        after = shares.copy()
        after[j, a] = union[a, b]
        heavy = np.array([sum(after[i, row[i]] for i in range(codes.shape[1])) for row in merged])
        assert answers[1][0][a, b] == pytest.approx(
            _total(sizes, heavy, k, price, squares) - _total(counts, weights, k, price, squares)
        )


def _total(sizes: np.ndarray, weights: np.ndarray, k: int, price: float, squares: bool) -> float:
    each = sizes * sizes if squares else sizes * weights
    return float(np.where(sizes >= k, each, sizes * price).sum())


@settings(max_examples=60, deadline=None)
@given(tables(), st.integers(1, 6), st.booleans())
def test_partings(table: tuple[np.ndarray, np.ndarray, np.random.Generator], k: int, squares: bool) -> None:
    codes, _, generator = table
    classes, values = len(codes), 5
    held = generator.integers(0, 4, (classes, values)).astype(np.int64)
    held[:, 0] += 1
    set_of = np.ascontiguousarray(codes[:, 0])
    weights = generator.random(classes) + 2
    ways = int(generator.integers(0, 6))
    owner = generator.integers(0, int(set_of.max()) + 1, ways).astype(np.int32)
    out = [generator.permutation(values)[: generator.integers(1, values)] for _ in range(ways)]
    first = np.concatenate([[0], np.cumsum([len(o) for o in out])]).astype(np.int64)
    members = np.concatenate([*out, np.zeros(0)]).astype(np.int32)
    falls = generator.random((ways, 2))
    answers = []
    for function in (set_definitions.weigh_partings, weigh_partings, weigh_partings.plain):
        change, gone = np.full(ways, 3.0), np.full(ways, 3, np.int64)
        function(held, set_of, held.sum(axis=1), weights, first, members, owner, falls, k, 50.0, squares, change, gone)
        answers.append((change, gone))
    for change, gone in answers[1:]:
        assert np.allclose(answers[0][0], change)
        assert np.array_equal(answers[0][1], gone)
