"""How dear the k dearest rows of every generalization box are: the work behind the lower bound.

All level combinations are walked attribute by attribute. A group of records (equal on the attributes chosen so far) is
given up as soon as no box inside it can be too dear: it holds fewer than k rows, or its k dearest rows cost no more
than what those attributes weigh already. Records come sorted by falling price, so the first k rows of a box are its k
dearest.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from kanopy._arrays import Floats, Ints, Longs
from kanopy._compiler import helper, kernel
from kanopy.search.local.boxes_kernel import AT, LEVELS, VALUES, Boxes

ROUNDING = 1e-12
"""A box is too dear if its k dearest rows cost this much more (relatively) than it weighs."""


class Walk(NamedTuple):
    """Where a walk stands, one line per depth: what is left of the records, their groups, the weights of the groups.

    `state` holds the depth, under it the visits of the last call; then per depth: the level being looked at, records
    and groups left.
    """

    state: Longs
    records: Ints
    groups: Ints
    weights: Floats
    table: Ints


class Cuts(NamedTuple):
    """Boxes found too dear: `weight`, `excess` of the mean of their k dearest rows, and those rows with their shares.

    The rows of cut `c` are `record[start[c]:start[c + 1]]`; `used` counts cuts, entries, and cuts for which there was
    no room.
    """

    weight: Floats
    excess: Floats
    start: Longs
    record: Ints
    share: Floats
    used: Longs


def make_walk(boxes: Boxes, rows: int, k: int, order: Ints) -> Walk:
    """A walk at its beginning, over records in the given order."""
    width, n = len(boxes.head), len(order)
    state = np.full((width + 1, 4), -1, np.int64)
    state[0] = 0, -1, n, 1
    records = np.empty((width + 1, n), np.int32)
    records[0] = order
    bits = max(12, int(4 * n).bit_length())
    return Walk(
        state,
        records,
        np.zeros((width + 1, n), np.int32),
        np.zeros((width + 1, min(n, rows // k) + 2), np.float64),
        np.full(1 << bits, -1, np.int32),
    )


def make_cuts(most: int, entries: int) -> Cuts:
    """Room for cuts."""
    return Cuts(
        np.empty(most), np.empty(most), np.zeros(most + 1, np.int64), np.empty(entries, np.int32), np.empty(entries),
        np.zeros(3, np.int64),
    )  # fmt: skip


@helper
def _keep_cut(cuts: Cuts, members: Ints, price: Floats, counts: Longs, k: int, weight: float, worst: Floats) -> None:
    """Keep a box if it is the worst so far for one of its k dearest rows."""
    dear = 0
    rows = 0
    total = 0.0
    while rows < k:
        t = members[dear]
        total += min(k - rows, counts[t]) * price[t]
        rows += counts[t]
        dear += 1
    excess = total / k - weight
    wanted = False
    for i in range(dear):
        if excess > worst[members[i]]:
            worst[members[i]] = excess
            wanted = True
    if not wanted:
        return
    cut = cuts.used[0]
    at = cuts.used[1]
    if cut >= len(cuts.weight) or at + dear > len(cuts.record):
        cuts.used[2] += 1
        return
    rows = 0
    for i in range(dear):
        t = members[i]
        take = min(k - rows, counts[t])
        cuts.record[at + i] = t
        cuts.share[at + i] = take / k
        rows += take
    cuts.weight[cut] = weight
    cuts.excess[cut] = excess
    cuts.start[cut + 1] = at + dear
    cuts.used[0] = cut + 1
    cuts.used[1] = at + dear


@helper
def _cap_prices(
    members: Ints, price: Floats, counts: Longs, k: int, weight: float, repaired: Floats,
    dear_price: Floats, dear_rows: Longs, dear: Ints,
) -> None:  # fmt: skip
    """Cap the repaired prices in a box so that its k dearest rows cost no more than it weighs.

    Repaired prices only ever fall below the prices by which `members` are sorted, so the k dearest of them are found
    without looking at all members. The three last arguments are room to work in.
    """
    held = 0
    rows = 0
    for i in range(len(members)):
        t = members[i]
        if rows >= k and price[t] <= dear_price[held - 1]:
            break
        own = repaired[t]
        if rows >= k and own <= dear_price[held - 1]:
            continue
        at = held
        while at > 0 and dear_price[at - 1] < own:
            dear_price[at] = dear_price[at - 1]
            dear_rows[at] = dear_rows[at - 1]
            dear[at] = dear[at - 1]
            at -= 1
        dear_price[at] = own
        dear_rows[at] = counts[t]
        dear[at] = t
        held += 1
        rows += counts[t]
        while rows - dear_rows[held - 1] >= k:
            rows -= dear_rows[held - 1]
            held -= 1
    dear_rows[held - 1] -= rows - k
    total = 0.0
    for i in range(held):
        total += dear_rows[i] * dear_price[i]
    if total <= k * weight:
        return
    rest = total
    capped = 0
    for i in range(held - 1):
        rest -= dear_rows[i] * dear_price[i]
        capped += dear_rows[i]
        cap = (k * weight - rest) / capped
        if cap >= dear_price[i + 1]:
            for a in range(i + 1):
                repaired[dear[a]] = cap
            return
    # Even all k dearest at one price cost too much: nobody in the box may cost more than it weighs.
    for i in range(len(members)):
        if repaired[members[i]] > weight:
            repaired[members[i]] = weight


@kernel()
def scan_boxes(
    boxes: Boxes, sizes: Longs, attributes: Longs, price: Floats, counts: Longs, k: int,
    walk: Walk, cuts: Cuts, repaired: Floats, worst: Floats, visits: int,
) -> bool:  # fmt: skip
    """Find all boxes too dear at these prices, and lower `repaired` until none is.

    Goes on where the walk stands, for about that many visits of a record, and says whether it has come to its end.
    `sizes[j, level]` counts the codes of a level; `attributes` is the order in which they are walked; `worst[t]` is
    the largest excess of a box among whose k dearest rows `t` is: boxes that raise one are kept in `cuts`. Prices must
    not be negative; those in `repaired` begin as `price`.
    """
    width = len(attributes)
    n = walk.records.shape[1]
    mask = len(walk.table) - 1
    table = walk.table
    state = walk.state
    total = np.empty(n, np.float64)
    rows = np.empty(n, np.int64)
    weight = np.empty(n, np.float64)
    key = np.empty(n, np.int64)
    place = np.empty(n, np.int64)
    number = np.empty(n, np.int32)
    group = np.empty(n, np.int32)
    first = np.empty(n + 1, np.int64)
    members = np.empty(n, np.int32)
    dear_price = np.empty(n + 1, np.float64)
    dear_rows = np.empty(n + 1, np.int64)
    dear = np.empty(n + 1, np.int32)
    depth = state[0, 0]
    left = visits
    while depth >= 0 and left > 0:
        j = attributes[depth]
        state[depth, 1] += 1
        level = state[depth, 1]
        if level >= boxes.head[j, LEVELS]:
            state[depth, 1] = -1
            depth -= 1
            continue
        base = boxes.head[j, AT] + level * boxes.head[j, VALUES]
        span = sizes[j, level]
        count = state[depth, 2]
        direct = state[depth, 3] * span <= mask
        left -= count
        groups = 0
        for i in range(count):
            t = walk.records[depth, i]
            value = boxes.tuples[t, j]
            wanted = np.int64(walk.groups[depth, i]) * span + boxes.codes[base + value]
            at = wanted
            if not direct:
                mixed = wanted * 0x9E3779B1
                at = (mixed ^ (mixed >> 23)) & mask
                while table[at] >= 0 and key[table[at]] != wanted:
                    at = (at + 1) & mask
            g = table[at]
            if g < 0:
                g = groups
                groups += 1
                table[at] = g
                key[g] = wanted
                place[g] = at
                rows[g] = 0
                total[g] = 0.0
                weight[g] = walk.weights[depth, walk.groups[depth, i]] + boxes.weights[base + value]
            group[i] = g
            if rows[g] < k:
                total[g] += min(k - rows[g], counts[t]) * price[t]
            rows[g] += counts[t]
        kept = 0
        for g in range(groups):
            table[place[g]] = -1
            number[g] = -1
            if rows[g] >= k and total[g] > k * weight[g] * (1 + ROUNDING):
                number[g] = kept
                walk.weights[depth + 1, kept] = weight[g]
                kept += 1
        if kept == 0:
            continue
        if depth < width - 1:
            count_left = 0
            for i in range(count):
                g = number[group[i]]
                if g >= 0:
                    walk.records[depth + 1, count_left] = walk.records[depth, i]
                    walk.groups[depth + 1, count_left] = g
                    count_left += 1
            depth += 1
            state[depth, 1] = -1
            state[depth, 2] = count_left
            state[depth, 3] = kept
            continue
        first[: kept + 1] = 0
        for i in range(count):
            g = number[group[i]]
            if g >= 0:
                first[g + 1] += 1
        for g in range(kept):
            first[g + 1] += first[g]
            place[g] = first[g]
        for i in range(count):
            g = number[group[i]]
            if g >= 0:
                members[place[g]] = walk.records[depth, i]
                place[g] += 1
        for g in range(kept):
            inside = members[first[g] : first[g + 1]]
            w = walk.weights[depth + 1, g]
            _keep_cut(cuts, inside, price, counts, k, w, worst)
            _cap_prices(inside, price, counts, k, w, repaired, dear_price, dear_rows, dear)
    state[0, 0] = depth
    state[1, 0] = visits - left
    return depth < 0  # type: ignore[no-any-return]
