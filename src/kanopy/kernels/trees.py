"""Walks over parent arrays in which every parent has a larger number than its children.

One pass in node order is enough for each, so a chain of a million nodes costs no more than a bush of the same
size. The plain twins jump pointers (depth doubles each round) or simply loop.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from kanopy.kernels.compiler import kernel

Ints = npt.NDArray[np.int32]
Longs = npt.NDArray[np.int64]


def _depths_plain(parent: Ints) -> Ints:
    depth = (parent >= 0).astype(np.int32)
    jump = parent.copy()
    while (jump >= 0).any():
        inside = jump >= 0
        depth[inside] += depth[jump[inside]]
        jump[inside] = jump[jump[inside]]
    return depth


@kernel(_depths_plain)
def depths(parent: Ints) -> Ints:
    """Edges from each node up to its root."""
    depth = np.zeros(len(parent), np.int32)
    for node in range(len(parent) - 1, -1, -1):
        above = parent[node]
        if above >= 0:
            depth[node] = depth[above] + 1
    return depth


def _subtree_sums_plain(parent: Ints, own: Longs) -> Longs:
    sums = own.tolist()
    for node, above in enumerate(parent.tolist()):
        if above >= 0:
            sums[above] += sums[node]
    return np.array(sums, np.int64)


@kernel(_subtree_sums_plain)
def subtree_sums(parent: Ints, own: Longs) -> Longs:
    """The sum of `own` over each node and everything below it (leaf counts, row counts, …)."""
    sums = own.copy()
    for node in range(len(parent)):
        above = parent[node]
        if above >= 0:
            sums[above] += sums[node]
    return sums


def _common_ancestors_plain(parent: Ints, left: Ints, right: Ints) -> Ints:
    a, b = left.copy(), right.copy()
    while True:
        # A parent's number is larger than its child's, so the smaller of two different nodes must climb.
        differ = (a != b) & (a >= 0) & (b >= 0)
        if not differ.any():
            return np.where(a == b, a, np.int32(-1)).astype(np.int32)
        climb_a = differ & (a < b)
        climb_b = differ & (b < a)
        a[climb_a] = parent[a[climb_a]]
        b[climb_b] = parent[b[climb_b]]


@kernel(_common_ancestors_plain)
def common_ancestors(parent: Ints, left: Ints, right: Ints) -> Ints:
    """Pairwise lowest common ancestors; -1 where two nodes have none."""
    found = np.full(len(left), -1, np.int32)
    for i in range(len(left)):
        a, b = left[i], right[i]
        while a != b and a >= 0 and b >= 0:
            if a < b:
                a = parent[a]
            else:
                b = parent[b]
        if a == b:
            found[i] = a
    return found


def _ancestors_at_depth_plain(parent: Ints, depth: Ints, target: int) -> Ints:
    found = list(range(len(parent)))
    above = parent.tolist()
    for node in range(len(parent) - 1, -1, -1):
        if depth[node] > target:
            found[node] = found[above[node]]
    return np.array(found, np.int32)


@kernel(_ancestors_at_depth_plain)
def ancestors_at_depth(parent: Ints, depth: Ints, target: int) -> Ints:
    """For each node the ancestor at depth `target`; nodes at or above that depth are their own."""
    found = np.empty(len(parent), np.int32)
    for node in range(len(parent) - 1, -1, -1):
        if depth[node] > target:
            found[node] = found[parent[node]]
        else:
            found[node] = node
    return found
