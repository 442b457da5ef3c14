"""Bottom-up merging: every unit that is too small joins the unit with which it loses least, until it has enough."""

from __future__ import annotations

import numpy as np

from kanopy._arrays import Ints, Longs
from kanopy._compiler import kernel
from kanopy.search.local.boxes_kernel import Boxes, agreement, box_weight, join, level_weight


@kernel()
def join_small(
    boxes: Boxes, record: Ints, size: Longs, starts: Longs, k: int, begin: int, stop: int, owner: Ints
) -> None:
    """Within each chunk `begin … stop-1` of units, join every unit below `k` rows to its best partner.

    Unit `u` holds `size[u]` rows equal to `record[u]`; the units of chunk `c` are `starts[c] … starts[c+1]-1`. The best
    partner is the one with which the two together lose least more than apart; ties go to the first. What they have
    become goes on at once while it is too small. `owner[u]` becomes the unit that stands for the class of unit `u`.
    """
    width = boxes.tuples.shape[1]
    most = 0
    for chunk in range(begin, stop):
        most = max(most, starts[chunk + 1] - starts[chunk])
    rows = np.empty(most, np.int64)
    levels = np.empty((most, width), np.int16)
    cost = np.empty(most, np.float64)
    active = np.empty(most, np.int32)
    own = np.empty(most, np.int32)
    for chunk in range(begin, stop):
        base = starts[chunk]
        count = starts[chunk + 1] - base
        for i in range(count):
            rows[i] = size[base + i]
            for j in range(width):
                levels[i, j] = 0
            cost[i] = rows[i] * box_weight(boxes, record[base + i], levels[i])
            active[i] = i
            own[i] = i
        left = count
        for unit in range(count):
            i = unit
            merged = False
            while own[i] == i and rows[i] < k:
                best, into = 1e300, -1
                mine = record[base + i]
                for b in range(left):
                    other = active[b]
                    if other == i or own[other] != other:
                        continue
                    theirs = record[base + other]
                    both, spent = rows[i] + rows[other], cost[i] + cost[other]
                    joint = 0.0
                    rise = 0.0 - spent
                    for j in range(width):
                        value = boxes.tuples[mine, j]
                        level = agreement(boxes, j, value, boxes.tuples[theirs, j])
                        joint += level_weight(boxes, j, max(level, levels[i, j], levels[other, j]), value)
                        # Weights are never negative: the sum can only grow from here.
                        rise = both * joint - spent
                        if rise >= best:
                            break
                    if rise < best:
                        best, into = rise, other
                if into < 0:
                    break
                for j in range(width):
                    levels[into, j] = max(levels[into, j], levels[i, j])
                join(boxes, record[base + into], levels[into], mine)
                rows[into] += rows[i]
                cost[into] = rows[into] * box_weight(boxes, record[base + into], levels[into])
                own[i] = into
                i = into
                merged = True
            if merged:
                kept = 0
                for a in range(left):
                    if own[active[a]] == active[a]:
                        active[kept] = active[a]
                        kept += 1
                left = kept
        for i in range(count):
            end = own[i]
            while own[end] != end:
                end = own[end]
            owner[base + i] = base + end
