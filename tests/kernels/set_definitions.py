"""What the loops of searches over intervals and sets of values are meant to do, as simply as it can be said."""

from __future__ import annotations

import numpy as np

from kanopy._arrays import Floats, Ints, Longs, Mask
from kanopy.search.sets.value_cuts_kernel import CutWeights
from kanopy.search.sets.value_merges_kernel import _cost


def merge_codes(codes: Ints, counts: Longs, lookup: Ints) -> tuple[Ints, Longs, Ints]:
    """Sorting finds the equal rows."""
    lifted = np.column_stack([lookup[j][codes[:, j]] for j in range(codes.shape[1])]).astype(np.int32)
    distinct, first, inverse = np.unique(lifted, axis=0, return_index=True, return_inverse=True)
    sums = np.bincount(inverse.reshape(-1), weights=counts, minlength=len(distinct)).astype(np.int64)
    order = np.argsort(first, kind="stable")
    rank = np.empty(len(order), np.int32)
    rank[order] = np.arange(len(order), dtype=np.int32)
    return np.ascontiguousarray(distinct[order], np.int32), sums[order], rank[inverse.reshape(-1)]


def weigh_cuts(codes: Ints, counts: Longs, coarse: Ints, k: int, price: int, out: CutWeights) -> None:
    """Every cut of every class, with dictionaries."""
    for array in out:
        array[:] = 0
    width = codes.shape[1]
    fine = {tuple(row): e for e, row in enumerate(codes.tolist())}
    coarse_of = [tuple(int(coarse[j, row[j]]) for j in range(width)) for row in codes.tolist()]
    size: dict[tuple[int, ...], int] = {}
    for key, count in zip(coarse_of, counts.tolist(), strict=True):
        size[key] = size.get(key, 0) + count
    for total in size.values():
        out.totals[0] += total * total if total >= k else total * price
        out.totals[1] += total if total < k else 0
    bound = []
    for e, row in enumerate(codes.tolist()):
        count = int(counts[e])
        gone = size[coarse_of[e]] < k
        bound.append(count * price if gone else count * max(count, k))
        sharper = bound[e]
        if not gone and count < k:
            least = price
            for j in range(width):
                for step, cut in ((1, row[j]), (-1, row[j] - 1)):
                    beside = row[j] + step
                    if 0 <= beside < coarse.shape[1] and coarse[j, beside] == coarse[j, row[j]] and cut >= 0:
                        other = fine.get((*row[:j], beside, *row[j + 1 :]))
                        least = min(least, count + (0 if other is None else int(counts[other])))
            sharper = count * min(price, max(k, least))
        out.totals[2] += bound[e]
        out.totals[3] += sharper
        for j in range(width):
            beside = row[j] + 1
            other = fine.get((*row[:j], beside, *row[j + 1 :]))
            if other is not None and not gone and coarse[j, beside] == coarse[j, row[j]]:
                both, extra = count + int(counts[other]), int(counts[other])
                grown = both * max(both, k) - count * max(count, k) - extra * max(extra, k)
                out.without_cut[j, row[j]] += grown
    for j in range(width):
        for cut in range(coarse.shape[1] - 1):
            if coarse[j, cut] < 0 or coarse[j, cut + 1] != coarse[j, cut]:
                continue
            left: dict[tuple[int, ...], int] = {}
            spent: dict[tuple[int, ...], list[int]] = {}
            for e, key in enumerate(coarse_of):
                if key[j] == coarse[j, cut]:
                    side = spent.setdefault(key, [0, 0])
                    before = codes[e, j] <= cut
                    side[0 if before else 1] += bound[e]
                    left[key] = left.get(key, 0) + (int(counts[e]) if before else 0)
            for key, one in left.items():
                two = size[key] - one
                if size[key] < k or one == 0 or two == 0:
                    continue
                change = -size[key] * size[key]
                for part, paid in ((one, spent[key][0]), (two, spent[key][1])):
                    change += part * part if part >= k else part * price
                    if part < k:
                        out.with_cut[j, cut] += part * price - paid
                        out.gone_change[j, cut] += part
                out.cost_change[j, cut] += change
                small, big = min(one, two), max(one, two)
                if small >= k or (big >= k and small + 2 * big > price):
                    out.useful[j, cut] = 1


def weigh_joins(
    codes: Ints, sizes: Longs, weights: Floats, j: int, legal: Mask, rises: Floats, k: int, price: float,
    squares: bool, change: Floats, gone: Longs,
) -> None:  # fmt: skip
    """Every two classes that differ in one set."""
    change[:] = 0.0
    gone[:] = 0
    groups: dict[tuple[int, ...], list[int]] = {}
    count = len(legal)
    kept = np.zeros(count, np.int64)
    for e, row in enumerate(codes.tolist()):
        groups.setdefault((*row[:j], *row[j + 1 :]), []).append(e)
        if sizes[e] >= k:
            kept[row[j]] += sizes[e]
    if not squares:
        for a in range(count):
            for b in range(a + 1, count):
                if legal[a, b]:
                    change[a, b] = kept[a] * rises[a, b] + kept[b] * rises[b, a]
    for members in groups.values():
        for x in members:
            for y in members:
                a, b = int(codes[x, j]), int(codes[y, j])
                if a >= b or not legal[a, b]:
                    continue
                one, two = int(sizes[x]), int(sizes[y])
                both = one + two
                change[a, b] += _cost(both, weights[x] + rises[a, b], k, price, squares)
                change[a, b] -= _cost(one, weights[x] + rises[a, b], k, price, squares)
                change[a, b] -= _cost(two, weights[y] + rises[b, a], k, price, squares)
                gone[a, b] += (both if both < k else 0) - (one if one < k else 0) - (two if two < k else 0)


def weigh_partings(
    held: Longs, set_of: Ints, sizes: Longs, weights: Floats, first: Longs, members: Ints, owner: Ints,
    falls: Floats, k: int, price: float, squares: bool, change: Floats, gone: Longs,
) -> None:  # fmt: skip
    """Every class that a parting divides."""
    change[:] = 0.0
    gone[:] = 0
    for part in range(len(owner)):
        inside = members[first[part] : first[part + 1]]
        for c in np.flatnonzero(set_of == owner[part]):
            one = int(held[c, inside].sum())
            two = int(sizes[c]) - one
            change[part] -= _cost(int(sizes[c]), float(weights[c]), k, price, squares)
            change[part] += _cost(one, weights[c] - falls[part, 0], k, price, squares) if one else 0.0
            change[part] += _cost(two, weights[c] - falls[part, 1], k, price, squares) if two else 0.0
            gone[part] += (one if one < k else 0) + (two if two < k else 0) - (int(sizes[c]) if sizes[c] < k else 0)
