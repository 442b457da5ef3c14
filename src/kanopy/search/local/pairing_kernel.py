"""Bottom-up merging: every unit that is too small joins the unit with which it loses least, until it has enough."""

from __future__ import annotations

import numpy as np

from kanopy._arrays import Ints, Longs
from kanopy._compiler import kernel
from kanopy.search.local.boxes_kernel import Boxes, agreement, box_weight, join, level_weight


def _join_small_plain(
    boxes: Boxes, record: Ints, size: Longs, starts: Longs, k: int, begin: int, stop: int, owner: Ints
) -> None:
    """The definition, unit by unit."""
    width = boxes.tuples.shape[1]
    shape = [tuple(int(x) for x in head) for head in boxes.head]
    tables = [boxes.codes[at : at + n * count].reshape(count, n) for n, count, at, _ in shape]
    costs = [boxes.weights[at : at + n * count].reshape(count, n) for n, count, at, _ in shape]

    def weight(one: int, levels: list[int]) -> float:
        total = 0.0
        for j in range(width):
            total += float(costs[j][levels[j], boxes.tuples[one, j]])
        return total

    def around(one: int, levels: list[int], other: int, other_levels: list[int]) -> list[int]:
        found = []
        for j in range(width):
            a, b = int(boxes.tuples[one, j]), int(boxes.tuples[other, j])
            level = 0
            while level < len(tables[j]) - 1 and tables[j][level, a] != tables[j][level, b]:
                level += 1
            found.append(max(level, levels[j], other_levels[j]))
        return found

    for chunk in range(begin, stop):
        alive = list(range(int(starts[chunk]), int(starts[chunk + 1])))
        rows = {u: int(size[u]) for u in alive}
        levels = {u: [0] * width for u in alive}
        members = {u: [u] for u in alive}
        for unit in alive:
            one = unit
            while one in rows and rows[one] < k and len(rows) > 1:
                mine = int(record[one])
                best, into = 1e300, -1
                for other in alive:
                    if other == one or other not in rows:
                        continue
                    theirs = int(record[other])
                    joint = weight(mine, around(mine, levels[one], theirs, levels[other]))
                    spent = rows[one] * weight(mine, levels[one]) + rows[other] * weight(theirs, levels[other])
                    rise = (rows[one] + rows[other]) * joint - spent
                    if rise < best:
                        best, into = rise, other
                levels[into] = around(int(record[into]), levels[into], mine, levels[one])
                rows[into] += rows.pop(one)
                members[into] += members.pop(one)
                one = into
        for into in rows:
            owner[members[into]] = into


@kernel(_join_small_plain)
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
