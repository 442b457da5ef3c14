"""What joining two sets of a column's values, or parting one, would do to the classes.

Classes are rows of `codes`: the number of their set per column. A class of at least `k` rows costs its rows times
`weights` (for losses), or its rows squared (for discernibility, where `price` is positive); a smaller one is
suppressed and each of its rows costs `price`.
"""

from __future__ import annotations

import numpy as np

from kanopy._arrays import Floats, Ints, Longs, Mask
from kanopy._compiler import helper, kernel
from kanopy.search.sets.value_cuts_kernel import _multipliers, _number_rows


@helper
def _cost(size: int, weight: float, k: int, price: float, squares: bool) -> float:
    if size < k:
        return size * price
    return float(size) * size if squares else size * weight


@kernel()
def weigh_joins(
    codes: Ints, sizes: Longs, weights: Floats, j: int, legal: Mask, rises: Floats, k: int, price: float,
    squares: bool, change: Floats, gone: Longs,
) -> None:  # fmt: skip
    """For every legal pair `a < b` of sets of column `j`: what joining them changes in cost and in suppressed rows.

    `rises[a, b]` is what the weight of a class of set `a` gains when `a` and `b` are joined.
    """
    change[:] = 0.0
    gone[:] = 0
    rows, width = codes.shape
    count = len(legal)
    factor = _multipliers(width)
    rest = codes.copy()
    hashes = np.zeros(rows, np.int64)
    kept = np.zeros(count, np.int64)
    for e in range(rows):
        rest[e, j] = 0
        for i in range(width):
            hashes[e] += rest[e, i] * factor[i]
        if sizes[e] >= k:
            kept[codes[e, j]] += sizes[e]
    if not squares:
        for a in range(count):
            for b in range(a + 1, count):
                if legal[a, b]:
                    change[a, b] = kept[a] * rises[a, b] + kept[b] * rises[b, a]
    number = np.empty(rows, np.int32)
    groups = _number_rows(rest, hashes, number)
    start = np.zeros(groups + 1, np.int64)
    for e in range(rows):
        start[number[e] + 1] += 1
    for g in range(groups):
        start[g + 1] += start[g]
    place = start.copy()
    member = np.empty(rows, np.int32)
    for e in range(rows):
        member[place[number[e]]] = e
        place[number[e]] += 1
    for g in range(groups):
        for p in range(start[g], start[g + 1]):
            x = member[p]
            for q in range(start[g], start[g + 1]):
                y = member[q]
                a, b = codes[x, j], codes[y, j]
                if a >= b or not legal[a, b]:
                    continue
                one, two = sizes[x], sizes[y]
                both = one + two
                change[a, b] += _cost(both, weights[x] + rises[a, b], k, price, squares)
                change[a, b] -= _cost(one, weights[x] + rises[a, b], k, price, squares)
                change[a, b] -= _cost(two, weights[y] + rises[b, a], k, price, squares)
                if both < k:
                    gone[a, b] += both
                if one < k:
                    gone[a, b] -= one
                if two < k:
                    gone[a, b] -= two


@kernel()
def weigh_partings(
    held: Longs, set_of: Ints, sizes: Longs, weights: Floats, first: Longs, members: Ints, owner: Ints,
    falls: Floats, k: int, price: float, squares: bool, change: Floats, gone: Longs,
) -> None:  # fmt: skip
    """For every way to part a set of one column: what it changes in cost and in suppressed rows.

    `held[class, value]` are rows; `set_of[class]` is the set of a class. Way `p` takes the values
    `members[first[p]:first[p + 1]]` out of set `owner[p]`; `falls[p]` is what the weight of the part taken out and of
    the part left loses.
    """
    change[:] = 0.0
    gone[:] = 0
    sets = 0
    for p in range(len(owner)):
        sets = max(sets, owner[p] + 1)
    begin = np.zeros(sets + 1, np.int64)
    for p in range(len(owner)):
        begin[owner[p] + 1] += 1
    for s in range(sets):
        begin[s + 1] += begin[s]
    place = begin.copy()
    order = np.empty(len(owner), np.int64)
    for p in range(len(owner)):
        order[place[owner[p]]] = p
        place[owner[p]] += 1
    for c in range(len(sizes)):
        mine = set_of[c]
        if mine >= sets:
            continue
        for q in range(begin[mine], begin[mine + 1]):
            p = order[q]
            one = 0
            for m in range(first[p], first[p + 1]):
                one += held[c, members[m]]
            two = sizes[c] - one
            change[p] -= _cost(sizes[c], weights[c], k, price, squares)
            if sizes[c] < k:
                gone[p] -= sizes[c]
            if one > 0:
                change[p] += _cost(one, weights[c] - falls[p, 0], k, price, squares)
                if one < k:
                    gone[p] += one
            if two > 0:
                change[p] += _cost(two, weights[c] - falls[p, 1], k, price, squares)
                if two < k:
                    gone[p] += two
