"""Neighbour merging and relaxation splitting, compiled or not, follow the papers' own quadratic definitions."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kanopy.hierarchy.builders.base import bottom_up
from kanopy.hierarchy.builders.merging_kernel import GAP, MEAN, MIDPOINT, UNION, merge_neighbours
from kanopy.hierarchy.builders.relaxation_kernel import split_by_relaxation

columns = st.dictionaries(st.integers(0, 60), st.integers(1, 5), min_size=1, max_size=24)


def by_definition(rule: int, enough: int, x: list[int], rows: list[int], weight: list[int]) -> list[tuple[int, int]]:
    """In each step look at all pairs of neighbours and merge the closest; the first one on ties."""
    nodes = [(i, i) for i in range(len(x))]
    merged = []

    def centre(node: tuple[int, int]) -> Fraction:
        span = range(node[0], node[1] + 1)
        if rule == MIDPOINT:
            return Fraction(x[node[0]] + x[node[1]], 2)
        return Fraction(sum(x[i] * weight[i] for i in span), sum(weight[i] for i in span))

    def key(a: tuple[int, int], b: tuple[int, int]) -> Fraction:
        if rule == UNION:
            return Fraction(x[b[1]] - x[a[0]])
        if rule == GAP:
            return Fraction(x[b[0]] - x[a[1]])
        return abs(centre(b) - centre(a))

    def small(node: tuple[int, int]) -> bool:
        return not enough or sum(rows[node[0] : node[1] + 1]) < enough

    while True:
        pairs = [i for i in range(len(nodes) - 1) if small(nodes[i]) or small(nodes[i + 1])]
        if not pairs:
            return merged
        best = min(pairs, key=lambda i: key(nodes[i], nodes[i + 1]))
        nodes[best : best + 2] = [(nodes[best][0], nodes[best + 1][1])]
        merged.append(nodes[best])


@settings(max_examples=60, deadline=None)
@given(columns, st.sampled_from([UNION, MEAN, MIDPOINT, GAP]), st.sampled_from([0, 0, 3, 9]))
def test_merging_follows_the_definition(column, rule, enough):
    x = np.array(sorted(column), np.int64)
    rows = np.array([column[int(v)] for v in x], np.int64)
    arguments = (rule, enough, x - x[0], x - x[0], rows, rows)
    parent, first, last = merge_neighbours(*arguments)
    for ours, twin in zip((parent, first, last), merge_neighbours.plain(*arguments), strict=True):
        assert ours.tolist() == twin.tolist()
    m = len(x)
    inner = list(zip(first[m:].tolist(), last[m:].tolist(), strict=True))
    assert inner == by_definition(rule, enough, x.tolist(), rows.tolist(), rows.tolist())


def relaxation_by_definition(x: list[int], c: list[int], fewest: int) -> list[tuple[int, int]]:
    found = []

    def error(a: int, b: int) -> Fraction:
        total = sum(c[a:b])
        return Fraction(sum(c[i] * c[j] * abs(x[i] - x[j]) for i in range(a, b) for j in range(a, b)), total)

    def visit(a: int, b: int) -> None:
        if b - a >= fewest:
            cut = min(range(a + 1, b), key=lambda s: error(a, s) + error(s, b))
            visit(a, cut)
            visit(cut, b)
        if b - a > 1:
            found.append((a, b - 1))

    visit(0, len(x))
    return found


@settings(max_examples=50, deadline=None)
@given(columns, st.sampled_from([2, 2, 3, 5]))
def test_relaxation_follows_the_definition(column, fewest):
    x = np.array(sorted(column), np.int64)
    c = np.array([column[int(v)] for v in x], np.int64)
    result = split_by_relaxation(x, c, fewest, True)
    for ours, twin in zip(result, split_by_relaxation.plain(x, c, fewest, True), strict=True):
        assert ours.tolist() == twin.tolist()
    m = len(x)
    _, first, last = bottom_up(*result)
    inner = list(zip(first[m:].tolist(), last[m:].tolist(), strict=True))
    assert inner == relaxation_by_definition(x.tolist(), c.tolist(), fewest)


def test_floating_costs_agree_where_nothing_ties():
    x = np.cumsum(np.array([1, 2, 4, 9, 17, 40, 3, 100, 7], np.int64) ** 2)
    c = np.array([3, 1, 4, 1, 5, 9, 2, 6, 5], np.int64)
    for ours, other in zip(split_by_relaxation(x, c, 2, True), split_by_relaxation(x, c, 2, False), strict=True):
        assert ours.tolist() == other.tolist()


@pytest.mark.parametrize("rule", [UNION, MEAN, MIDPOINT, GAP])
def test_a_degenerate_chain(rule):
    """Distances that double give a chain: every merge swallows one value more."""
    x = 2 ** np.arange(1, 40, dtype=np.int64)
    one = np.ones(len(x), np.int64)
    _, first, last = merge_neighbours(rule, 0, x, x, one, one)
    m = len(x)
    assert first[m:].tolist() == [0] * (m - 1)
    assert last[m:].tolist() == list(range(1, m))
