"""How dear the k dearest rows of every generalization box are: the work behind the lower bound.

All level combinations are walked attribute by attribute. A group of records (equal on the attributes chosen so far) is
given up as soon as no box inside it can be too dear: it holds fewer than k rows, or its k dearest rows cost no more
than what those attributes weigh already. Records come sorted by falling price, so the first k rows of a box are its k
dearest. What is found is written down, and looked at afterwards, box by box: walks through different levels have
nothing in common, and several threads may walk.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kanopy._arrays import FloatRows, Floats, IntRows, Ints, LongRows, Longs
from kanopy._compiler import Arrays, helper, kernel
from kanopy.search.bound.limits_kernel import Limits, allowed_in, count_rows
from kanopy.search.local.boxes_kernel import AT, LEVELS, VALUES, Boxes

ROUNDING = 1e-12
"""A box is too dear if its k dearest rows cost this much more (relatively) than it weighs."""
DEPTH, VISITS = 0, 1
MORE, ENDED, ARRIVED = 0, 1, 2
"""What a walk says when it returns: there is more to see; that was all; it stands where it was to go."""


@dataclass(frozen=True, eq=False)
class Walk(Arrays):
    """Where a walk stands, one line per depth: what is left of the records, their groups, the weights of the groups.

    `at` is the depth and the visits of the last call; `state[depth]` the level being looked at, records and groups
    left. The rest is room: per group the price of its k dearest rows, its rows, weight, key, place in `table`, number
    among those kept; per record its group; and where the members of a group begin.
    """

    at: Longs
    state: LongRows
    records: IntRows
    groups: IntRows
    weights: FloatRows
    table: Ints
    total: Floats
    rows: Longs
    weight: Floats
    key: Longs
    place: Longs
    number: Ints
    group: Ints
    first: Longs


@dataclass(frozen=True, eq=False)
class Found(Arrays):
    """Boxes found too dear: the weight of each and its records, `record[start[b]:start[b + 1]]`, dearest first.

    `used` counts boxes and entries.
    """

    weight: Floats
    start: Longs
    record: Ints
    used: Longs


@dataclass(frozen=True, eq=False)
class Cuts(Arrays):
    """Boxes kept: `weight`, `excess` of the mean of their dearest rows, and those rows with their shares.

    The `size` rows of cut `c` are `record[start[c]:start[c + 1]]`, `box` is its number among those found; `used` counts
    cuts, entries, and cuts for which there was no room.
    """

    weight: Floats
    excess: Floats
    size: Floats
    box: Longs
    start: Longs
    record: Ints
    share: Floats
    used: Longs


@dataclass(frozen=True, eq=False)
class Dear(Arrays):
    """Room for the k dearest rows of a box: prices, how many rows of each, records."""

    price: Floats
    rows: Longs
    record: Ints


def make_walk(boxes: Boxes, rows: int, k: int, order: Ints) -> Walk:
    """A walk at its beginning, over records in the given order."""
    width, n = len(boxes.head), len(order)
    state = np.full((width + 1, 3), -1, np.int64)
    state[0] = -1, n, 1
    records = np.empty((width + 1, n), np.int32)
    records[0] = order
    bits = max(12, int(4 * n).bit_length())
    return Walk(
        np.zeros(2, np.int64), state, records, np.zeros((width + 1, n), np.int32),
        np.zeros((width + 1, min(n, rows // k) + 2)), np.full(1 << bits, -1, np.int32), np.empty(n),
        np.empty(n, np.int64), np.empty(n), np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n, np.int32),
        np.empty(n, np.int32), np.empty(n + 1, np.int64),
    )  # fmt: skip


def make_found(most: int, entries: int) -> Found:
    """Room for boxes."""
    return Found(np.empty(most), np.zeros(most + 1, np.int64), np.empty(entries, np.int32), np.zeros(2, np.int64))


def make_cuts(most: int, entries: int) -> Cuts:
    """Room for cuts."""
    return Cuts(
        np.empty(most), np.empty(most), np.empty(most), np.empty(most, np.int64), np.zeros(most + 1, np.int64),
        np.empty(entries, np.int32), np.empty(entries), np.zeros(3, np.int64),
    )  # fmt: skip


def make_dear(n: int) -> Dear:
    """Room for boxes of up to `n` records."""
    return Dear(np.empty(n + 1), np.empty(n + 1, np.int64), np.empty(n + 1, np.int32))


@helper
def _find_dearest(
    members: Ints, begin: int, end: int, sorted_by: Floats, price: Floats, counts: Longs, k: int, dear: Dear
) -> int:
    """Note the k dearest rows of a box; returns how many records they are of.

    Members come by falling `sorted_by`, which no price exceeds: most need not be looked at.
    """
    held = 0
    rows = 0
    for i in range(begin, end):
        t = members[i]
        if counts[t] == 0:
            continue
        if rows >= k and sorted_by[t] <= dear.price[held - 1]:
            break
        own = price[t]
        if rows >= k and own <= dear.price[held - 1]:
            continue
        at = held
        while at > 0 and dear.price[at - 1] < own:
            dear.price[at] = dear.price[at - 1]
            dear.rows[at] = dear.rows[at - 1]
            dear.record[at] = dear.record[at - 1]
            at -= 1
        dear.price[at] = own
        dear.rows[at] = counts[t]
        dear.record[at] = t
        held += 1
        rows += counts[t]
        while rows - dear.rows[held - 1] >= k:
            rows -= dear.rows[held - 1]
            held -= 1
    dear.rows[held - 1] -= rows - k
    return held


@helper
def _paid(dear: Dear, held: int) -> float:
    total = 0.0
    for i in range(held):
        total += dear.rows[i] * dear.price[i]
    return total


@helper
def _class_rows(dear: Dear, held: int, k: int, weight: float) -> tuple[int, int]:
    """Of the dearest rows of a box, those of the class that pays most beyond its weight: k, and more that pay more
    than they weigh; returns how many records and rows they are."""
    size = 0
    for i in range(held):
        if dear.price[i] <= weight and size + dear.rows[i] >= k:
            dear.rows[i] = max(0, k - size)
            return i + min(1, dear.rows[i]), max(k, size)
        size += dear.rows[i]
    return held, size


@helper
def _keep_cut(
    cuts: Cuts, dear: Dear, held: int, size: int, weight: float, allowed: float, box: int, worst: Floats
) -> None:
    """Keep a box if it is the worst so far for one of the rows of its dearest class."""
    excess = (_paid(dear, held) - allowed) / size - weight
    wanted = False
    for i in range(held):
        if excess > worst[dear.record[i]]:
            worst[dear.record[i]] = excess
            wanted = True
    if not wanted:
        return
    cut = cuts.used[0]
    at = cuts.used[1]
    if cut >= len(cuts.weight) or at + held > len(cuts.record):
        cuts.used[2] += 1
        return
    for i in range(held):
        cuts.record[at + i] = dear.record[i]
        cuts.share[at + i] = dear.rows[i] / size
    cuts.weight[cut] = weight
    cuts.excess[cut] = excess
    cuts.size[cut] = size
    cuts.box[cut] = box
    cuts.start[cut + 1] = at + held
    cuts.used[0] = cut + 1
    cuts.used[1] = at + held


@helper
def _cap_all(members: Ints, begin: int, end: int, cap: float, repaired: Floats) -> None:
    for i in range(begin, end):
        if repaired[members[i]] > cap:
            repaired[members[i]] = cap


@helper
def _cap_prices(
    members: Ints, begin: int, end: int, size: int, most: float, repaired: Floats, dear: Dear, held: int
) -> None:
    """Cap the repaired prices in a box so that its `size` dearest rows, which are at hand, cost at most so much."""
    rest = _paid(dear, held)
    if rest <= most:
        return
    capped = 0
    for i in range(held - 1):
        rest -= dear.rows[i] * dear.price[i]
        capped += dear.rows[i]
        cap = (most - rest) / capped
        if cap >= dear.price[i + 1]:
            for a in range(i + 1):
                repaired[dear.record[a]] = cap
            return
    # Even all of them at one price cost too much: nobody in the box may cost more than the mean.
    _cap_all(members, begin, end, most / size, repaired)


@kernel(makes_arrays=False)
def cap_boxes(
    boxes: Boxes, found: Found, price: Floats, counts: Longs, k: int, limits: Limits, allowance: Floats, cuts: Cuts,
    repaired: Floats, worst: Floats, dear: Dear,
) -> None:  # fmt: skip
    """Lower `repaired` until none of these boxes is too dear, and keep the worst of them in `cuts`.

    `worst[t]` is the largest excess of a box among whose dearest rows `t` is: boxes that raise one are kept. Prices
    must not be negative; those in `repaired` begin as `price`. Within limits a class may cost more than it weighs, by
    their allowances; then it matters how many rows it has.
    """
    for b in range(found.used[0]):
        begin, end, weight = found.start[b], found.start[b + 1], found.weight[b]
        rows = count_rows(found.record, begin, end, counts, limits.largest[0])
        allowed = allowed_in(boxes, found.record, begin, end, rows, limits, allowance)
        if allowed <= 0.0:
            held = _find_dearest(found.record, begin, end, price, price, counts, k, dear)
            _keep_cut(cuts, dear, held, k, weight, 0.0, b, worst)
            held = _find_dearest(found.record, begin, end, price, repaired, counts, k, dear)
            _cap_prices(found.record, begin, end, k, k * weight, repaired, dear, held)
            continue
        rows = min(rows, 2 * k - 1)
        held = _find_dearest(found.record, begin, end, price, price, counts, rows, dear)
        held, size = _class_rows(dear, held, k, weight)
        if _paid(dear, held) - allowed <= size * weight * (1 + ROUNDING):
            continue
        _keep_cut(cuts, dear, held, size, weight, allowed, b, worst)
        for attempt in range(k):
            held = _find_dearest(found.record, begin, end, price, repaired, counts, rows, dear)
            held, size = _class_rows(dear, held, k, weight)
            if _paid(dear, held) - allowed <= size * weight * (1 + ROUNDING):
                break
            if attempt < k - 1:
                _cap_prices(found.record, begin, end, size, size * weight + allowed, repaired, dear, held)
            else:
                _cap_all(found.record, begin, end, weight + allowed / rows, repaired)


@kernel(makes_arrays=False)
def cut_again(
    found: Found, price: Floats, counts: Longs, k: int, allowed: Floats, ceiling: Floats, cuts: Cuts, worst: Floats,
    dear: Dear,
) -> None:  # fmt: skip
    """Keep those of these boxes that are the worst for one of their rows at other prices, none above the ceiling.

    `allowed` is what a class in a box may cost more than it weighs.
    """
    for b in range(found.used[0]):
        begin, end, weight = found.start[b], found.start[b + 1], found.weight[b]
        size = k
        if allowed[b] > 0.0:
            size = min(count_rows(found.record, begin, end, counts, 2 * k - 1), 2 * k - 1)
        held = _find_dearest(found.record, begin, end, ceiling, price, counts, size, dear)
        if allowed[b] > 0.0:
            held, size = _class_rows(dear, held, k, weight)
        _keep_cut(cuts, dear, held, size, weight, allowed[b], b, worst)


@kernel(makes_arrays=False)
def walk_boxes(
    boxes: Boxes, sizes: LongRows, attributes: Longs, price: Floats, counts: Longs, k: int, walk: Walk, found: Found,
    begin: int, end: int, visits: int,
) -> int:  # fmt: skip
    """Find all boxes too dear at these prices, at the depths from `begin` to `end`.

    Goes on where the walk stands, for about that many visits of a record or while there is room, and says whether it
    has come to its end. Where `end` is not the last depth it stops at every group of levels that it finds there, as
    they stand in the walk. `sizes[j, level]` counts the codes of a level; `attributes` is the order in which they are
    walked.
    """
    width = len(attributes)
    mask = len(walk.table) - 1
    state, table = walk.state, walk.table
    depth = walk.at[DEPTH]
    if depth == end:
        depth -= 1
    left = visits
    answer = MORE
    while depth >= begin and left > 0:
        j = attributes[depth]
        count = state[depth, 1]
        if depth == width - 1 and (
            found.used[1] + count > len(found.record) or found.used[0] + count > len(found.weight)
        ):
            break
        state[depth, 0] += 1
        level = state[depth, 0]
        if level >= boxes.head[j, LEVELS]:
            state[depth, 0] = -1
            depth -= 1
            continue
        base = boxes.head[j, AT] + level * boxes.head[j, VALUES]
        span = sizes[j, level]
        direct = state[depth, 2] * span <= mask
        left -= count
        groups = 0
        for i in range(count):
            t = walk.records[depth, i]
            value = boxes.tuples[t, j]
            wanted = walk.groups[depth, i] * span + boxes.codes[base + value]
            at = wanted
            if not direct:
                mixed = wanted * 0x9E3779B1
                at = (mixed ^ (mixed >> 23)) & mask
                while table[at] >= 0 and walk.key[table[at]] != wanted:
                    at = (at + 1) & mask
            g = table[at]
            if g < 0:
                g = groups
                groups += 1
                table[at] = g
                walk.key[g] = wanted
                walk.place[g] = at
                walk.rows[g] = 0
                walk.total[g] = 0.0
                walk.weight[g] = walk.weights[depth, walk.groups[depth, i]] + boxes.weights[base + value]
            walk.group[i] = g
            if walk.rows[g] < k:
                walk.total[g] += min(k - walk.rows[g], counts[t]) * price[t]
            walk.rows[g] += counts[t]
        kept = 0
        for g in range(groups):
            table[walk.place[g]] = -1
            walk.number[g] = -1
            if walk.rows[g] >= k and walk.total[g] > k * walk.weight[g] * (1 + ROUNDING):
                walk.number[g] = kept
                walk.weights[depth + 1, kept] = walk.weight[g]
                kept += 1
        if kept == 0:
            continue
        if depth < width - 1:
            count_left = 0
            for i in range(count):
                g = walk.number[walk.group[i]]
                if g >= 0:
                    walk.records[depth + 1, count_left] = walk.records[depth, i]
                    walk.groups[depth + 1, count_left] = g
                    count_left += 1
            depth += 1
            state[depth, 0] = -1
            state[depth, 1] = count_left
            state[depth, 2] = kept
            if depth == end:
                answer = ARRIVED
                break
            continue
        for g in range(kept):
            walk.first[g] = 0
        for i in range(count):
            g = walk.number[walk.group[i]]
            if g >= 0:
                walk.first[g] += 1
        at = found.used[1]
        box = found.used[0]
        for g in range(kept):
            rows = walk.first[g]
            found.weight[box + g] = walk.weights[depth + 1, g]
            walk.place[g] = at
            at += rows
            found.start[box + g + 1] = at
        for i in range(count):
            g = walk.number[walk.group[i]]
            if g >= 0:
                found.record[walk.place[g]] = walk.records[depth, i]
                walk.place[g] += 1
        found.used[0] = box + kept
        found.used[1] = at
    walk.at[DEPTH] = depth
    walk.at[VISITS] = visits - left
    if answer == MORE and depth < begin:
        answer = ENDED
    return answer
