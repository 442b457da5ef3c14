"""Compiled kernels against their twins, and both against the definition."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from kanopy.ontology.similarity import subsumers_kernel as subsumers
from kanopy.ontology.similarity.subsumers import _slots_of
from kanopy.ontology.similarity.subsumers_plain import unpack
from kanopy.ontology.taxonomy import Concept, Taxonomy


@st.composite
def cases(draw: st.DrawFn) -> tuple[Taxonomy, np.ndarray, np.ndarray]:
    """A random DAG (numbers unrelated to depth) with row and column concepts."""
    size = draw(st.integers(1, 20))
    order = draw(st.permutations(range(size)))
    concepts = {}
    for position, number in enumerate(order):
        above = draw(st.lists(st.sampled_from(order[:position]), max_size=3, unique=True)) if position else []
        concepts[number] = Concept(str(number), (), tuple(str(up) for up in above))
    taxonomy = Taxonomy.from_concepts([concepts[n] for n in range(size)])
    some = st.lists(st.integers(0, taxonomy.size - 1), min_size=1, max_size=8)
    return taxonomy, np.array(draw(some), np.int32), np.array(draw(some), np.int32)


def deepest_by_definition(taxonomy: Taxonomy, a: int, b: int) -> tuple[int, int, int]:
    near, far = taxonomy.ancestors_of(a), taxonomy.ancestors_of(b)
    lcs = min(near.keys() & far.keys(), key=lambda c: (-int(taxonomy.depth[c]), near[c] + far[c], c))
    return int(taxonomy.depth[lcs]), near[lcs] + far[lcs], lcs


@given(cases(), st.integers(0, 3))
@settings(max_examples=60, deadline=None)
def test_blocks_and_pairs_agree_with_twins_and_definition(
    case: tuple[Taxonomy, np.ndarray, np.ndarray], seed: int
) -> None:
    taxonomy, rows, columns = case
    content = np.random.default_rng(seed).integers(0, 5, taxonomy.size).astype(np.float64)  # not even monotonic
    slots = _slots_of(taxonomy, columns)
    up = (taxonomy.parent_start, taxonomy.parents)
    deepest = (rows, *up, taxonomy.depth, slots, True)
    informative = (rows, *up, content, slots)
    distance = (rows, *up, slots)
    expected = np.array([[deepest_by_definition(taxonomy, a, b) for b in columns.tolist()] for a in rows.tolist()])
    for function in (subsumers.deepest_block, subsumers.deepest_block.plain):
        assert_array_equal(np.stack(function(*deepest), axis=-1), expected)
        depth, edges, nothing = function(*deepest[:-1], False)
        assert_array_equal(np.stack([depth, edges], axis=-1), expected[..., :2])
        assert nothing.size == 0
    ancestors = [taxonomy.ancestors_of(c) for c in range(taxonomy.size)]
    common = [[ancestors[a].keys() & ancestors[b].keys() for b in columns] for a in rows]
    shortest = [
        [min(ancestors[a][c] + ancestors[b][c] for c in common[i][j]) for j, b in enumerate(columns)]
        for i, a in enumerate(rows)
    ]
    most = [[max(content[c] for c in cell) for cell in line] for line in common]
    for function in (subsumers.distance_block, subsumers.distance_block.plain):
        assert_array_equal(function(*distance), shortest)
    for function in (subsumers.informative_block, subsumers.informative_block.plain):
        assert_array_equal(function(*informative), most)
    left, right = np.repeat(rows, len(columns)), np.tile(columns, len(rows))
    for function in (subsumers.joint_pairs, subsumers.joint_pairs.plain):
        packed, path, best = function(left, right, *up, taxonomy.depth, content)
        assert_array_equal(np.stack(unpack(packed), axis=-1), expected.reshape(-1, 3))
        assert_array_equal(path, np.ravel(shortest))
        assert_array_equal(best, np.ravel(most))


@given(st.lists(st.sets(st.integers(0, 9)), min_size=1, max_size=8), st.data())
@settings(max_examples=40, deadline=None)
def test_overlaps_agree(sets: list[set[int]], data: st.DataObject) -> None:
    start = np.concatenate([[0], np.cumsum([len(s) for s in sets])]).astype(np.int64)
    items = np.array([item for s in sets for item in sorted(s)], np.int32)
    some = st.lists(st.integers(0, len(sets) - 1), min_size=1, max_size=6)
    rows, columns = (np.array(data.draw(some), np.int32) for _ in range(2))
    expected = [[len(sets[a] & sets[b]) for b in columns] for a in rows]
    assert_array_equal(subsumers.overlap_block(rows, columns, start, items, 10), expected)
    assert_array_equal(subsumers.overlap_block.plain(rows, columns, start, items, 10), expected)


@given(st.integers(1, 5), st.integers(1, 12), st.integers(1, 15), st.integers(0, 100))
@settings(max_examples=40, deadline=None)
def test_best_of_rows_keeps_the_first_of_equals(rows: int, columns: int, count: int, seed: int) -> None:
    block = np.random.default_rng(seed).integers(0, 4, (rows, columns)).astype(np.float64)
    expected = np.argsort(-block, axis=1, kind="stable")[:, :count]
    for function in (subsumers.best_of_rows, subsumers.best_of_rows.plain):
        assert_array_equal(function(block, count), expected)
    assert_array_equal(subsumers.best_of_rows(block, count)[:, 0], block.argmax(axis=1))
