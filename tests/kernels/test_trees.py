"""Tree walks: compiled loop, plain twin and the obvious definition agree, also on degenerate chains."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from kanopy.hierarchy import trees_kernel as trees
from kanopy.hierarchy.construct import depths
from kanopy.hierarchy.hierarchy import Hierarchy


@st.composite
def forests(draw: st.DrawFn) -> np.ndarray:
    nodes = draw(st.integers(1, 30))
    parents = [
        draw(st.one_of(st.just(-1), st.integers(i + 1, nodes - 1))) if i + 1 < nodes else -1 for i in range(nodes)
    ]
    return np.array(parents, np.int32)


def climb(parent: np.ndarray, node: int) -> list[int]:
    path = [node]
    while (node := int(parent[node])) >= 0:
        path.append(node)
    return path


@settings(max_examples=50, deadline=None)
@given(forests())
def test_depths(parent):
    expected = [len(climb(parent, node)) - 1 for node in range(len(parent))]
    assert depths(parent).tolist() == expected


@settings(max_examples=50, deadline=None)
@given(forests(), st.data())
def test_subtree_sums(parent, data):
    own = np.array(data.draw(st.lists(st.integers(0, 9), min_size=len(parent), max_size=len(parent))), np.int64)
    expected = [sum(int(own[x]) for x in range(len(parent)) if node in climb(parent, x)) for node in range(len(parent))]
    assert trees.subtree_sums(parent, own).tolist() == trees.subtree_sums.plain(parent, own).tolist() == expected


@settings(max_examples=50, deadline=None)
@given(forests(), st.data())
def test_common_ancestors(parent, data):
    pick = st.integers(0, len(parent) - 1)
    pairs = data.draw(st.lists(st.tuples(pick, pick), min_size=1, max_size=10))
    left, right = (np.array(side, np.int32) for side in zip(*pairs, strict=True))
    expected = [next((x for x in climb(parent, a) if x in climb(parent, b)), -1) for a, b in pairs]
    assert trees.common_ancestors(parent, left, right).tolist() == expected
    assert trees.common_ancestors.plain(parent, left, right).tolist() == expected


@settings(max_examples=50, deadline=None)
@given(forests(), st.integers(0, 5))
def test_ancestors_at_depth(parent, target):
    depth = depths(parent)
    expected = [next(x for x in climb(parent, node) if depth[x] <= target) for node in range(len(parent))]
    assert trees.ancestors_at_depth(parent, depth, target).tolist() == expected
    assert trees.ancestors_at_depth.plain(parent, depth, target).tolist() == expected


def test_a_chain_of_a_million_nodes_is_no_trouble():
    size = 500_000
    parent = np.empty(2 * size - 1, np.int32)
    parent[0] = size
    parent[1:size] = np.arange(size, 2 * size - 1)
    parent[size:-1] = np.arange(size + 1, 2 * size - 1)
    parent[-1] = -1
    h = Hierarchy(size, lambda: [str(i) for i in range(2 * size - 1)], parent)
    assert h.height == size - 1
    assert h.leaf_counts[-1] == size
    assert h.leaf_counts[size] == 2
    fewer = h.with_levels(4)
    assert fewer.height == 3
    assert fewer.level(3).size == 1
    assert h.restrict(["0", "1", "400000"]).node_count == 3 + size - 1
