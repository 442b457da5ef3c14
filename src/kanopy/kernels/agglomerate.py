"""Bottom-up merging of records into classes of at least k, always the pair that raises the cost least."""

from __future__ import annotations

import numpy as np

from kanopy.kernels.boxes import Boxes, Floats, Ints, Longs, Random, Shorts, box_weight, join, joint_weight, next_random
from kanopy.kernels.compiler import helper, kernel

NEVER = 1e300


@helper
def _rise(
    size: int, weight: float, other_size: int, other_weight: float, joint: float, noise: float, random: Random
) -> float:
    """By how much merging two classes raises their cost; `noise` makes it uncertain by up to that share."""
    rise = (size + other_size) * joint - (size * weight + other_size * other_weight)
    if noise > 0.0:
        rise *= 1.0 + noise * (next_random(random) * 4.656612873077393e-10)
    return rise


@helper
def merge_units(
    boxes: Boxes,
    record: Ints,
    size: Longs,
    levels: Shorts,
    weight: Floats,
    count: int,
    k: int,
    owner: Ints,
    nearest: Ints,
    rise: Floats,
    active: Ints,
    noise: float,
    random: Random,
) -> int:
    """Merge the first `count` units until each has `k` rows or one is left; returns how many are left.

    `owner[i]` becomes the unit that unit `i` ended up in. A unit with `k` rows merges only when a smaller one comes
    to it. All arrays but `boxes` are changed.
    """
    for i in range(count):
        owner[i] = i
        active[i] = i
        nearest[i] = -1
        rise[i] = NEVER
    for i in range(count):
        for j in range(i):
            if size[i] < k or size[j] < k:
                joint = joint_weight(boxes, record[i], levels[i], record[j], levels[j])
                d = _rise(size[i], weight[i], size[j], weight[j], joint, noise, random)
                if size[i] < k and d < rise[i]:
                    rise[i], nearest[i] = d, j
                if size[j] < k and d < rise[j]:
                    rise[j], nearest[j] = d, i
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
        gone = nearest[pick]
        if size[gone] > size[pick]:
            pick, gone = gone, pick
        for j in range(levels.shape[1]):
            levels[pick, j] = max(levels[pick, j], levels[gone, j])
        join(boxes, record[pick], levels[pick], record[gone])
        size[pick] += size[gone]
        weight[pick] = box_weight(boxes, record[pick], levels[pick])
        owner[gone] = pick
        rise[gone] = NEVER
        at = 0
        for a in range(left):
            if active[a] != gone:
                active[at] = active[a]
                at += 1
        left = at
        rise[pick], nearest[pick] = NEVER, -1
        for a in range(left):
            i = active[a]
            if i == pick:
                continue
            if size[i] < k and (nearest[i] == gone or nearest[i] == pick):
                rise[i], nearest[i] = NEVER, -1
                for b in range(left):
                    other = active[b]
                    if other != i:
                        joint = joint_weight(boxes, record[i], levels[i], record[other], levels[other])
                        d = _rise(size[i], weight[i], size[other], weight[other], joint, noise, random)
                        if d < rise[i]:
                            rise[i], nearest[i] = d, other
                if size[pick] < k:
                    joint = joint_weight(boxes, record[i], levels[i], record[pick], levels[pick])
                    d = _rise(size[i], weight[i], size[pick], weight[pick], joint, noise, random)
                    if d < rise[pick]:
                        rise[pick], nearest[pick] = d, i
            elif size[i] < k or size[pick] < k:
                joint = joint_weight(boxes, record[i], levels[i], record[pick], levels[pick])
                d = _rise(size[i], weight[i], size[pick], weight[pick], joint, noise, random)
                if size[i] < k and d < rise[i]:
                    rise[i], nearest[i] = d, pick
                if size[pick] < k and d < rise[pick]:
                    rise[pick], nearest[pick] = d, i
    for i in range(count):
        end = owner[i]
        while owner[end] != end:
            end = owner[end]
        owner[i] = end
    return left


def _agglomerate_plain(
    boxes: Boxes, order: Longs, starts: Longs, counts: Longs, k: int, begin: int, stop: int, owner: Ints
) -> None:
    """The definition: look at all pairs, merge the best, again and again."""
    width = boxes.tuples.shape[1]

    def levels_of(members: list[int]) -> list[int]:
        found = [0] * width
        for j in range(width):
            size, levels, at, _ = (int(x) for x in boxes.head[j])
            table = boxes.codes[at : at + size * levels].reshape(levels, size)
            values = boxes.tuples[members, j]
            while len(set(table[found[j], values].tolist())) > 1:
                found[j] += 1
        return found

    def weight_of(members: list[int]) -> float:
        total = 0.0
        for j, level in enumerate(levels_of(members)):
            size, _, at, _ = (int(x) for x in boxes.head[j])
            total += float(boxes.weights[at + level * size + boxes.tuples[members[0], j]])
        return total

    for part in range(begin, stop):
        units = {int(t): [int(t)] for t in order[starts[part] : starts[part + 1]]}
        rows = {t: int(counts[t]) for t in units}
        while len(units) > 1 and min(rows.values()) < k:
            best, pair = NEVER, (-1, -1)
            keys = list(units)
            for a, one in enumerate(keys):
                for other in keys[:a]:
                    if rows[one] < k or rows[other] < k:
                        spent = rows[one] * weight_of(units[one]) + rows[other] * weight_of(units[other])
                        d = weight_of(units[one] + units[other]) * (rows[one] + rows[other]) - spent
                        if d < best:
                            best, pair = d, (one, other)
            into, gone = pair
            units[into] += units.pop(gone)
            rows[into] += rows.pop(gone)
        for into, members in units.items():
            owner[members] = into


@kernel(_agglomerate_plain)
def agglomerate(
    boxes: Boxes, order: Longs, starts: Longs, counts: Longs, k: int, begin: int, stop: int, owner: Ints
) -> None:
    """Merge the records of each chunk `begin … stop-1` (`order[starts[c]:starts[c+1]]`) into classes of `k` rows.

    `owner[t]` becomes a record that stands for the class of record `t`. Equal rises may be merged in another order
    by the plain twin, so the two are compared by what their classes satisfy and, where there are no ties, exactly.
    """
    width = boxes.tuples.shape[1]
    most = 0
    for part in range(begin, stop):
        most = max(most, starts[part + 1] - starts[part])
    record = np.empty(most, np.int32)
    size = np.empty(most, np.int64)
    levels = np.empty((most, width), np.int16)
    weight = np.empty(most, np.float64)
    own = np.empty(most, np.int32)
    nearest = np.empty(most, np.int32)
    rise = np.empty(most, np.float64)
    active = np.empty(most, np.int32)
    random = np.ones(1, np.uint64)
    for part in range(begin, stop):
        base = starts[part]
        count = starts[part + 1] - base
        for i in range(count):
            record[i] = order[base + i]
            size[i] = counts[record[i]]
            for j in range(width):
                levels[i, j] = 0
            weight[i] = box_weight(boxes, record[i], levels[i])
        merge_units(boxes, record, size, levels, weight, count, k, own, nearest, rise, active, 0.0, random)
        for i in range(count):
            owner[order[base + i]] = order[base + own[i]]
