"""Bottom-up merging of records into classes of at least k, always the pair that raises the cost least."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kanopy._arrays import Floats, IntRows, Ints, Longs, Words
from kanopy._compiler import Arrays, helper, kernel
from kanopy.search.local.joins_kernel import Joins, copy_box, draw, join, joint_weight, own_weight

NEVER = 1e300


@dataclass(frozen=True, eq=False)
class Units(Arrays):
    """Room for merging: per unit its box, rows, weight, the unit it ended up in, the nearest and what that costs."""

    box: IntRows
    size: Longs
    weight: Floats
    owner: Ints
    nearest: Ints
    rise: Floats
    active: Ints


def make_units(most: int, width: int) -> Units:
    """Room for up to `most` units."""
    return Units(
        np.empty((most, width), np.int32), np.empty(most, np.int64), np.empty(most), np.empty(most, np.int32),
        np.empty(most, np.int32), np.empty(most), np.empty(most, np.int32),
    )  # fmt: skip


@helper
def _rise(joins: Joins, units: Units, k: int, i: int, j: int, noise: float, random: Words) -> float:
    """By how much merging two units raises their cost; `noise` makes it uncertain by up to that share.

    More than k rows in a class are wasted: a rise counts more by the square of how many times k they are.
    """
    n, m = units.size[i], units.size[j]
    rise = (n + m) * joint_weight(joins, units.box, i, units.box, j) - (n * units.weight[i] + m * units.weight[j])
    if n + m > k:
        rise *= (n + m) * (n + m) / (k * k)
    if noise > 0.0:
        rise *= 1.0 + noise * (draw(random, 1 << 20) * 9.5367431640625e-07)
    return rise  # type: ignore[no-any-return]


@helper
def _note_rise(joins: Joins, units: Units, k: int, i: int, j: int, noise: float, random: Words) -> None:
    """Note for either of two units, where it has fewer than k rows, that the other is nearest, if it is."""
    if units.size[i] < k or units.size[j] < k:
        d = _rise(joins, units, k, i, j, noise, random)
        if units.size[i] < k and d < units.rise[i]:
            units.rise[i], units.nearest[i] = d, j
        if units.size[j] < k and d < units.rise[j]:
            units.rise[j], units.nearest[j] = d, i


@helper
def merge_units(joins: Joins, units: Units, count: int, k: int, noise: float, random: Words) -> int:
    """Merge the first `count` units until each has `k` rows or one is left; returns how many are left.

    `owner[i]` becomes the unit that unit `i` ended up in. A unit with `k` rows merges only when a smaller one comes
    to it.
    """
    size, owner, nearest, rise, active = units.size, units.owner, units.nearest, units.rise, units.active
    for i in range(count):
        owner[i] = i
        active[i] = i
        nearest[i] = -1
        rise[i] = NEVER
    for i in range(count):
        for j in range(i):
            _note_rise(joins, units, k, i, j, noise, random)
    left = count
    while left > 1:
        best = NEVER
        pick = -1
        for a in range(left):
            i = active[a]
            if rise[i] < best:
                best, pick = rise[i], i
        if pick < 0:
            break
        if nearest[pick] < 0:
            # Its nearest unit has merged with another since: the rise noted was a lower bound.
            rise[pick] = NEVER
            for b in range(left):
                i = active[b]
                if i != pick:
                    d = _rise(joins, units, k, pick, i, noise, random)
                    if d < rise[pick]:
                        rise[pick], nearest[pick] = d, i
            continue
        gone = nearest[pick]
        if size[gone] > size[pick]:
            pick, gone = gone, pick
        units.weight[pick] = join(joins, units.box, pick, units.box, gone, units.box, pick)
        size[pick] += size[gone]
        owner[gone] = pick
        rise[gone] = NEVER
        rise[pick], nearest[pick] = NEVER, -1
        at = 0
        for a in range(left):
            i = active[a]
            if i == gone:
                continue
            active[at] = i
            at += 1
            if i == pick:
                continue
            if nearest[i] == gone or nearest[i] == pick:
                nearest[i] = -1
            _note_rise(joins, units, k, pick, i, noise, random)
        left = at
    for i in range(count):
        end = owner[i]
        while owner[end] != end:
            end = owner[end]
        owner[i] = end
    return left


@kernel(makes_arrays=False)
def agglomerate(
    joins: Joins, order: Longs, starts: Longs, counts: Longs, k: int, begin: int, stop: int, units: Units,
    random: Words, owner: Ints,
) -> None:  # fmt: skip
    """Merge the records of each chunk `begin … stop-1` (`order[starts[c]:starts[c+1]]`) into classes of `k` rows.

    `owner[t]` becomes a record that stands for the class of record `t`. Equal rises may be merged in another order
    by the plain twin, so the two are compared by what their classes satisfy and, where there are no ties, exactly.
    """
    for part in range(begin, stop):
        base = starts[part]
        count = starts[part + 1] - base
        for i in range(count):
            t = order[base + i]
            units.size[i] = counts[t]
            copy_box(joins.cells, t, units.box, i)
            units.weight[i] = own_weight(joins, units.box, i)
        merge_units(joins, units, count, k, 0.0, random)
        for i in range(count):
            owner[order[base + i]] = order[base + units.owner[i]]
