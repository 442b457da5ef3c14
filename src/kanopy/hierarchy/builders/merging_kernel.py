"""Bottom-up merging of neighbours on a line: the trees of IOTF and OTF in linear time, with exact ties.

All five linkages share one property: merging two neighbours never brings the pairs beside them closer. A pair
that is closer than the pair on its left and no farther than the pair on its right will therefore be merged just as
it stands, whatever happens elsewhere, and there is no need for a queue: walk right while the pairs get closer,
merge, step back. Sorting the merges by distance (then from left to right) restores the order in which the
definition, which always merges the closest pair of all, would have made them.

Distances are whole + numerator/denominator, compared by 128-bit cross products, so ties are ties.
"""

from __future__ import annotations

import numpy as np

from kanopy._arrays import Ints, Longs
from kanopy._compiler import helper, kernel

UNION, MEAN, MIDPOINT, GAP = 0, 1, 2, 3
"""What is smallest about the pair to merge: its union, the distance of means or of midpoints, or the gap."""


@helper
def _product_is_less(a: int, b: int, c: int, d: int) -> int:
    """-1, 0 or 1 as a·b is less than, equal to or greater than c·d (all non-negative, below 2⁶³)."""
    low = np.uint64(0xFFFFFFFF)
    shift = np.uint64(32)
    ua, ub, uc, ud = np.uint64(a), np.uint64(b), np.uint64(c), np.uint64(d)
    a1, a0, b1, b0 = ua >> shift, ua & low, ub >> shift, ub & low
    c1, c0, d1, d0 = uc >> shift, uc & low, ud >> shift, ud & low
    mid = a1 * b0 + ((a0 * b0) >> shift)
    mid2 = a0 * b1 + (mid & low)
    high_ab = a1 * b1 + (mid >> shift) + (mid2 >> shift)
    low_ab = (mid2 << shift) | ((a0 * b0) & low)
    mid = c1 * d0 + ((c0 * d0) >> shift)
    mid2 = c0 * d1 + (mid & low)
    high_cd = c1 * d1 + (mid >> shift) + (mid2 >> shift)
    low_cd = (mid2 << shift) | ((c0 * d0) & low)
    if high_ab != high_cd:
        return -1 if high_ab < high_cd else 1
    if low_ab != low_cd:
        return -1 if low_ab < low_cd else 1
    return 0


@helper
def compare(whole: Longs, num: Longs, den: Longs, i: int, j: int) -> int:
    """-1, 0 or 1 as distance i is less than, equal to or greater than distance j."""
    if whole[i] != whole[j]:
        return -1 if whole[i] < whole[j] else 1
    if num[i] == 0 or num[j] == 0 or den[i] == den[j]:
        return -1 if num[i] < num[j] else (1 if num[i] > num[j] else 0)
    return _product_is_less(num[i], den[j], num[j], den[i])


NEVER = 2**62
"""The distance of a pair that must not be merged: both of its nodes have enough rows already."""


@helper
def _distance(
    linkage: int,
    enough: int,
    low: Longs,
    high: Longs,
    rows: Longs,
    weight: Longs,
    total: Longs,
    whole: Longs,
    num: Longs,
    den: Longs,
    i: int,
    j: int,
) -> None:
    """Distance of the neighbours i and j (i left of j), stored at i."""
    num[i], den[i] = 0, 1
    if enough > 0 and rows[i] >= enough and rows[j] >= enough:
        whole[i] = 4611686018427387904
    elif linkage == 0:
        whole[i] = high[j] - low[i]
    elif linkage == 3:
        whole[i] = low[j] - high[i]
    elif linkage == 2:
        whole[i] = (low[j] - low[i]) + (high[j] - high[i])
    else:
        below, above = total[i] // weight[i], total[j] // weight[j]
        # Both remainders are below their weights, so neither product leaves 64 bits while rows stay below 2³¹.
        d = weight[i] * weight[j]
        n = (total[j] - above * weight[j]) * weight[i] - (total[i] - below * weight[i]) * weight[j]
        w = above - below
        if n < 0:
            n += d
            w -= 1
        whole[i], num[i], den[i] = w, n, d


@helper
def _sort_exactly(order: Longs, start: int, stop: int, whole: Longs, num: Longs, den: Longs) -> None:
    """Stable merge sort of order[start:stop] by exact distance."""
    source = order[start:stop].copy()
    n = stop - start
    target = np.empty(n, np.int64)
    width = 1
    while width < n:
        for left in range(0, n, 2 * width):
            middle = min(left + width, n)
            right = min(left + 2 * width, n)
            i, j = left, middle
            for k in range(left, right):
                if j >= right or (i < middle and compare(whole, num, den, source[j], source[i]) >= 0):
                    target[k] = source[i]
                    i += 1
                else:
                    target[k] = source[j]
                    j += 1
        source, target = target, source
        width *= 2
    order[start:stop] = source


@kernel()
def merge_neighbours(
    linkage: int, enough: int, low: Longs, high: Longs, rows: Longs, weight: Longs
) -> tuple[Ints, Ints, Ints]:
    """Merge ascending, disjoint nodes on a line until one is left; ties go to the leftmost pair.

    With `enough` > 0 only pairs with a node of fewer than `enough` rows are merged. Means are weighted by
    `weight`. Returns parents (leaves first, then merges in order) and the first and last leaf of every node.
    """
    m = len(low)
    low, high, rows, weight = low.copy(), high.copy(), rows.copy(), weight.copy()
    total = weight * low
    whole = np.zeros(m, np.int64)
    num = np.zeros(m, np.int64)
    den = np.ones(m, np.int64)
    # A node is known by its first leaf; the pair to its right by the node itself.
    right = np.arange(1, m + 1)
    left = np.arange(-1, m - 1)
    last = np.arange(m)
    name = np.arange(m)
    merges = 0
    merge_whole = np.zeros(m, np.int64)
    merge_num = np.zeros(m, np.int64)
    merge_den = np.ones(m, np.int64)
    boundary = np.zeros(m, np.int64)
    child_left = np.zeros(m, np.int64)
    child_right = np.zeros(m, np.int64)
    merge_first = np.zeros(m, np.int64)
    merge_last = np.zeros(m, np.int64)
    for i in range(m - 1):
        _distance(linkage, enough, low, high, rows, weight, total, whole, num, den, i, i + 1)
    p = 0
    # Invariant: the pairs left of p get strictly closer towards p.
    while right[p] < m:
        q = right[p]
        if right[q] < m and compare(whole, num, den, q, p) < 0:
            p = q
            continue
        if whole[p] >= 4611686018427387904:
            # Nothing to the left is mergeable (it is no closer), and the right neighbour is no closer either.
            p = q
            continue
        merge_whole[merges], merge_num[merges], merge_den[merges] = whole[p], num[p], den[p]
        boundary[merges] = last[p]
        child_left[merges], child_right[merges] = name[p], name[q]
        merge_first[merges], merge_last[merges] = p, last[q]
        name[p] = m + merges
        merges += 1
        rows[p] += rows[q]
        weight[p] += weight[q]
        total[p] += total[q]
        high[p] = high[q]
        last[p] = last[q]
        right[p] = right[q]
        if right[p] < m:
            left[right[p]] = p
            _distance(linkage, enough, low, high, rows, weight, total, whole, num, den, p, right[p])
        before = left[p]
        if before >= 0:
            _distance(linkage, enough, low, high, rows, weight, total, whole, num, den, before, p)
            p = before
            if left[p] >= 0 and compare(whole, num, den, left[p], p) <= 0:
                p = left[p]
    # Order by (distance, boundary). Boundaries are unique, so placing the merges by them is the first sort; then a
    # stable sort by the whole part of the distance; then, only where that ties, the exact fractions.
    at = np.full(m, -1, np.int64)
    for i in range(merges):
        at[boundary[i]] = i
    order = at[at >= 0]
    order = order[np.argsort(merge_whole[order], kind="mergesort")]
    start = 0
    while start < merges:
        stop = start
        fractions = False
        while stop < merges and merge_whole[order[stop]] == merge_whole[order[start]]:
            fractions = fractions or merge_num[order[stop]] != 0
            stop += 1
        if fractions and stop - start > 1:
            _sort_exactly(order, start, stop, merge_whole, merge_num, merge_den)
        start = stop
    rank = np.empty(m + merges, np.int64)
    rank[:m] = np.arange(m)
    for i in range(merges):
        rank[m + order[i]] = m + i
    parent = np.full(m + merges, -1, np.int32)
    first = np.empty(m + merges, np.int32)
    final = np.empty(m + merges, np.int32)
    for i in range(m):
        first[i] = i
        final[i] = i
    for i in range(merges):
        merge = order[i]
        parent[rank[child_left[merge]]] = m + i
        parent[rank[child_right[merge]]] = m + i
        first[m + i] = merge_first[merge]
        final[m + i] = merge_last[merge]
    return parent, first, final
