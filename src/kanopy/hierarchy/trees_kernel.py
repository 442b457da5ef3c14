"""Walks over parent arrays in which every parent has a larger number than its children.

One pass in node order is enough for each, so a chain of a million nodes costs no more than a bush of the same
size. Without a compiler the loops run as they are.
"""

from __future__ import annotations

import numpy as np

from kanopy._arrays import Floats, Ints, Longs
from kanopy._compiler import kernel


@kernel()
def subtree_sums(parent: Ints, own: Longs) -> Longs:
    """The sum of `own` over each node and everything below it (leaf counts, row counts, …)."""
    sums = own.copy()
    for node in range(len(parent)):
        above = parent[node]
        if above >= 0:
            sums[above] += sums[node]
    return sums


@kernel()
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


@kernel()
def ancestors_at_depth(parent: Ints, depth: Ints, target: int) -> Ints:
    """For each node the ancestor at depth `target`; nodes at or above that depth are their own."""
    found = np.empty(len(parent), np.int32)
    for node in range(len(parent) - 1, -1, -1):
        if depth[node] > target:
            found[node] = found[parent[node]]
        else:
            found[node] = node
    return found


@kernel()
def best_cut(parent: Ints, rows: Longs, cost: Floats, k: int) -> tuple[Floats, Longs]:
    """Per node the least total cost of replacing its values by nodes at or below it that hold at least `k` rows.

    The second result is how many nodes that takes. A node that itself holds fewer than `k` rows is not judged: its
    entry is its own cost, and no cut of the nodes above it goes below them.
    """
    n = len(parent)
    below = np.zeros(n)
    groups_below = np.zeros(n, np.int64)
    blocked = np.zeros(n, np.bool_)
    inner = np.zeros(n, np.bool_)
    best = np.zeros(n)
    groups = np.zeros(n, np.int64)
    for node in range(n):
        best[node] = cost[node]
        groups[node] = 1 if rows[node] > 0 else 0
        if inner[node] and not blocked[node] and below[node] < best[node]:
            best[node] = below[node]
            groups[node] = groups_below[node]
        above = parent[node]
        if above >= 0:
            inner[above] = True
            below[above] += best[node]
            groups_below[above] += groups[node]
            if 0 < rows[node] < k:
                blocked[above] = True
    return best, groups
