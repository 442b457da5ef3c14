"""What every cut of an ordered column would do to the classes: for searches over intervals of values.

A node of the search knows which cuts are made for good (the head) and which may still be made (the tail). Its coarse
classes have the cuts of the head, its fine classes those of head and tail. Fine classes are rows of `codes` (the
number of their interval per column); `coarse[j, i]` is the coarse interval that holds fine interval `i` of column `j`.
The cut `(j, i)` lies between the fine intervals `i` and `i + 1`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from kanopy._arrays import Ints, Longs
from kanopy._compiler import helper, kernel

MULTIPLIER = 6364136223846793005
TOTALS = 4


class CutWeights(NamedTuple):
    """What `weigh_cuts` fills, all `[column, cut]` but `totals`.

    `totals`: the cost of the coarse classes, the rows they suppress, a lower bound on the cost of anything between
    coarse and fine, and a sharper one that looks at neighbours. `with_cut` is what the bound gains once a cut is made,
    `without_cut` once it is given up, `cost_change` what making it does to the cost of the coarse classes and
    `gone_change` to their suppressed rows. `useful` is 0 for cuts that no refinement of the coarse classes can profit
    from.
    """

    totals: Longs
    with_cut: Longs
    without_cut: Longs
    cost_change: Longs
    gone_change: Longs
    useful: Longs


def make_weights(columns: int, most: int) -> CutWeights:
    """Room for the answers about up to `most` cuts per column."""
    shape = (columns, max(1, most))
    return CutWeights(np.zeros(TOTALS, np.int64), *(np.zeros(shape, np.int64) for _ in range(5)))


@helper
def _slot(value: int, mask: int) -> int:
    return ((value ^ (value >> 29)) * 0x9E3779B97F4A7C) >> 12 & mask


@helper
def _slots(rows: int) -> Ints:
    """Empty slots for so many rows, at most half of which will be taken."""
    size = 16
    while size < 2 * rows:
        size *= 2
    return np.full(size, -1, np.int32)


@helper
def _number_rows(codes: Ints, hashes: Longs, number: Ints) -> int:
    """Equal rows of codes get equal numbers, in order of first appearance; also how many there are."""
    rows, width = codes.shape
    slots = _slots(rows)
    mask = len(slots) - 1
    found = 0
    for e in range(rows):
        at = _slot(hashes[e], mask)
        while True:
            other = slots[at]
            if other < 0:
                slots[at] = e
                number[e] = found
                found += 1
                break
            same = hashes[other] == hashes[e]
            if same:
                for j in range(width):
                    if codes[other, j] != codes[e, j]:
                        same = False
                        break
            if same:
                number[e] = number[other]
                break
            at = (at + 1) & mask
    return found


@helper
def _multipliers(width: int) -> Longs:
    found = np.empty(width, np.int64)
    value = np.int64(MULTIPLIER)
    for j in range(width):
        found[j] = value
        value = value * np.int64(2862933555777941757) + np.int64(3037000493)
    return found


@helper
def _lifted(codes: Ints, lookup: Ints) -> Ints:
    """Per column the codes that `lookup[j]` gives instead."""
    lifted = np.empty(codes.shape, np.int32)
    for e in range(codes.shape[0]):
        for j in range(codes.shape[1]):
            lifted[e, j] = lookup[j, codes[e, j]]
    return lifted


@helper
def _hashed(codes: Ints, factor: Longs) -> Longs:
    """A number per row that equal rows share."""
    hashes = np.zeros(len(codes), np.int64)
    for e in range(len(codes)):
        for j in range(len(factor)):
            hashes[e] += codes[e, j] * factor[j]
    return hashes


@kernel()
def merge_codes(codes: Ints, counts: Longs, lookup: Ints) -> tuple[Ints, Longs, Ints]:
    """Replace `codes[:, j]` by `lookup[j]` of them and unite rows that become equal, in order of first appearance.

    Returns the distinct rows, their summed counts, and per original row the number of its distinct one.
    """
    rows, width = codes.shape
    factor = _multipliers(width)
    lifted = _lifted(codes, lookup)
    number = np.empty(rows, np.int32)
    found = _number_rows(lifted, _hashed(lifted, factor), number)
    united = np.empty((found, width), np.int32)
    sums = np.zeros(found, np.int64)
    for e in range(rows):
        if sums[number[e]] == 0:
            united[number[e]] = lifted[e]
        sums[number[e]] += counts[e]
    return united, sums, number


@kernel()
def weigh_cuts(codes: Ints, counts: Longs, coarse: Ints, k: int, price: int, out: CutWeights) -> None:
    """Weigh every cut of the tail: fills `out`. A suppressed row costs `price`, which is at least all rows.

    `coarse` is -1 beyond the fine intervals of a column. Fine classes are distinct rows of `codes`.
    """
    rows, width = codes.shape
    most = coarse.shape[1]
    out.totals[:] = 0
    out.with_cut[:] = 0
    out.without_cut[:] = 0
    out.cost_change[:] = 0
    out.gone_change[:] = 0
    out.useful[:] = 0
    factor = _multipliers(width)
    hashes = _hashed(codes, factor)
    coarse_codes = _lifted(codes, coarse)
    class_of = np.empty(rows, np.int32)
    classes = _number_rows(coarse_codes, _hashed(coarse_codes, factor), class_of)
    total = np.zeros(classes, np.int64)
    member = np.zeros(classes, np.int32)
    for e in range(rows):
        total[class_of[e]] += counts[e]
        member[class_of[e]] = e
    for c in range(classes):
        if total[c] >= k:
            out.totals[0] += total[c] * total[c]
        else:
            out.totals[0] += total[c] * price
            out.totals[1] += total[c]
    following = _neighbours(codes, hashes, factor, coarse)
    least = np.full(rows, price, np.int64)
    bound = np.empty(rows, np.int64)
    for e in range(rows):
        gone = total[class_of[e]] < k
        bound[e] = counts[e] * price if gone else counts[e] * max(counts[e], k)
        out.totals[2] += bound[e]
        if gone:
            continue
        for j in range(width):
            at = codes[e, j]
            other = following[e, j]
            if at + 1 < most and coarse[j, at + 1] == coarse[j, at]:
                both = counts[e]
                if other >= 0:
                    both += counts[other]
                    least[other] = min(least[other], both)
                    out.without_cut[j, at] += (
                        both * max(both, k) - counts[e] * max(counts[e], k) - counts[other] * max(counts[other], k)
                    )
                least[e] = min(least[e], both)
            # A neighbour before that does not occur: giving that cut up adds nothing to this class.
            if at > 0 and coarse[j, at - 1] == coarse[j, at] and following[e, width + j] < 0:
                least[e] = min(least[e], counts[e])
    for e in range(rows):
        if total[class_of[e]] >= k and counts[e] < k:
            out.totals[3] += counts[e] * min(price, max(k, least[e]))
        else:
            out.totals[3] += bound[e]
    _weigh_halves(codes, counts, coarse, k, price, class_of, total, member, bound, out)


@helper
def _neighbours(codes: Ints, hashes: Longs, factor: Longs, coarse: Ints) -> Ints:
    """Per fine class and column, the class one interval further (or -1), and after those the one before."""
    rows, width = codes.shape
    slots = _slots(rows)
    mask = len(slots) - 1
    for e in range(rows):
        at = _slot(hashes[e], mask)
        while slots[at] >= 0:
            at = (at + 1) & mask
        slots[at] = e
    found = np.full((rows, 2 * width), -1, np.int32)
    most = coarse.shape[1]
    for e in range(rows):
        for j in range(width):
            beside = codes[e, j] + 1
            if beside >= most or coarse[j, beside] != coarse[j, codes[e, j]]:
                continue
            wanted = hashes[e] + factor[j]
            at = _slot(wanted, mask)
            while slots[at] >= 0:
                other = slots[at]
                if hashes[other] == wanted:
                    same = codes[other, j] == beside
                    for i in range(width):
                        if i != j and codes[other, i] != codes[e, i]:
                            same = False
                            break
                    if same:
                        found[e, j] = other
                        found[other, width + j] = e
                        break
                at = (at + 1) & mask
    return found


@helper
def _weigh_halves(
    codes: Ints, counts: Longs, coarse: Ints, k: int, price: int,
    class_of: Ints, total: Longs, member: Ints, bound: Longs, out: CutWeights,
) -> None:  # fmt: skip
    """For every cut of the tail and every coarse class it parts: what becomes of the two halves."""
    rows, width = codes.shape
    most = coarse.shape[1]
    classes = len(total)
    start = np.zeros(most, np.int32)
    for j in range(width):
        longest = 0
        for i in range(most):
            if coarse[j, i] < 0:
                break
            if i == 0 or coarse[j, i] != coarse[j, i - 1]:
                start[coarse[j, i]] = i
            longest = max(longest, i - start[coarse[j, i]] + 1)
        if longest < 2:
            continue
        held = np.zeros((classes, longest), np.int64)
        paid = np.zeros((classes, longest), np.int64)
        for e in range(rows):
            at = codes[e, j] - start[coarse[j, codes[e, j]]]
            held[class_of[e], at] += counts[e]
            paid[class_of[e], at] += bound[e]
        for c in range(classes):
            if total[c] < k:
                continue
            first = start[coarse[j, codes[member[c], j]]]
            whole = np.int64(0)
            for i in range(longest):
                whole += paid[c, i]
            one = np.int64(0)
            spent = np.int64(0)
            for i in range(longest - 1):
                one += held[c, i]
                spent += paid[c, i]
                two = total[c] - one
                if two == 0:
                    break
                if one == 0:
                    continue
                cut = first + i
                change = -total[c] * total[c]
                if one >= k:
                    change += one * one
                else:
                    change += one * price
                    out.with_cut[j, cut] += one * price - spent
                    out.gone_change[j, cut] += one
                if two >= k:
                    change += two * two
                else:
                    change += two * price
                    out.with_cut[j, cut] += two * price - (whole - spent)
                    out.gone_change[j, cut] += two
                out.cost_change[j, cut] += change
                small, big = min(one, two), max(one, two)
                if small >= k or (big >= k and small + 2 * big > price):
                    out.useful[j, cut] = 1
