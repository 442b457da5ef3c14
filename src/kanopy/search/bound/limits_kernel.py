"""Sets of few rows, which hold few classes: which of them boxes lie in, and where classes crowd."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kanopy._arrays import Floats, IntRows, Ints, Longs
from kanopy._compiler import Arrays, helper, kernel
from kanopy.search.local.boxes_kernel import AT, VALUES, Boxes, agreement


@dataclass(frozen=True, eq=False)
class Limits(Arrays):
    """Limits on the classes inside the union of a few boxes: `levels` and `rows` of each box, and the limit it is of.

    The boxes that hold record `t` are `around[first[t]:first[t + 1]]`, those of the same limit side by side; `largest`
    is the largest number of rows of one. `own` and `which` are room for the levels of a box and for the limits around
    it.
    """

    levels: IntRows
    rows: Longs
    limit: Ints
    first: Longs
    around: Ints
    largest: Longs
    own: IntRows
    which: Ints


@helper
def count_rows(members: Ints, begin: int, end: int, counts: Longs, most: int) -> int:
    """The rows of a box, or some number above `most`."""
    rows = 0
    for i in range(begin, end):
        rows += counts[members[i]]
        if rows > most:
            break
    return rows


@helper
def span(boxes: Boxes, members: Ints, begin: int, end: int, levels: IntRows, at: int) -> None:
    """Write the levels of the smallest box around some records to `levels[at]`."""
    one = members[begin]
    for j in range(levels.shape[1]):
        level = 0
        value = boxes.tuples[one, j]
        for i in range(begin + 1, end):
            other = boxes.tuples[members[i], j]
            if other != value:
                level = max(level, agreement(boxes, j, value, other))
        levels[at, j] = level


@helper
def limits_around(limits: Limits, t: int, rows: int, levels: IntRows, at: int) -> int:
    """Note the limits of which a box is around that of record `t` at `levels[at]`, with so many rows; returns how many
    there are."""
    count = 0
    for p in range(limits.first[t], limits.first[t + 1]):
        b = limits.around[p]
        inside = rows <= limits.rows[b] and (count == 0 or limits.which[count - 1] != limits.limit[b])
        j = 0
        while inside and j < levels.shape[1]:
            inside = levels[at, j] <= limits.levels[b, j]
            j += 1
        if inside:
            limits.which[count] = limits.limit[b]
            count += 1
    return count


@helper
def allowed_in(
    boxes: Boxes, members: Ints, begin: int, end: int, rows: int, limits: Limits, allowance: Floats
) -> float:
    """What a class in a box of so many rows may cost more than it weighs: the allowances of all limits around it."""
    t = members[begin]
    if rows > limits.largest[0] or limits.first[t] == limits.first[t + 1]:
        return 0.0
    span(boxes, members, begin, end, limits.own, 0)
    allowed = 0.0
    for i in range(limits_around(limits, t, rows, limits.own, 0)):
        allowed += allowance[limits.which[i]]
    return allowed


@kernel(makes_arrays=False)
def span_boxes(
    boxes: Boxes, counts: Longs, start: Longs, record: Ints, which: Longs, most: int, levels: IntRows, rows: Longs
) -> None:  # fmt: skip
    """The levels and rows of the smallest boxes around the records of those found; above `most` rows, only that."""
    for i in range(len(which)):
        begin, end = start[which[i]], start[which[i] + 1]
        rows[i] = count_rows(record, begin, end, counts, most)
        if rows[i] <= most:
            span(boxes, record, begin, end, levels, i)


@kernel(makes_arrays=False)
def find_limits(limits: Limits, heads: Ints, levels: IntRows, rows: Longs, start: Longs, found: Ints) -> None:
    """The limits around boxes, end to end; where `found` has no room, only how many there are."""
    for b in range(len(heads)):
        count = limits_around(limits, heads[b], rows[b], levels, b)
        if len(found) > 0:
            for i in range(count):
                found[start[b] + i] = limits.which[i]
        start[b + 1] = start[b] + count


@helper
def _place(boxes: Boxes, t: int, levels: IntRows, at: int, mask: int) -> int:
    """Where a table looks first for the box of a record at some levels."""
    mixed = np.int64(0)
    for j in range(levels.shape[1]):
        base = boxes.head[j, AT] + levels[at, j] * boxes.head[j, VALUES]
        mixed = (mixed * 31 + boxes.codes[base + boxes.tuples[t, j]] + 1) * 0x9E3779B1
        mixed ^= mixed >> 29
    return mixed & mask  # type: ignore[return-value]


@helper
def _same_box(boxes: Boxes, t: int, s: int, levels: IntRows, at: int) -> bool:
    for j in range(levels.shape[1]):
        base = boxes.head[j, AT] + levels[at, j] * boxes.head[j, VALUES]
        if boxes.codes[base + boxes.tuples[t, j]] != boxes.codes[base + boxes.tuples[s, j]]:
            return False
    return True


@kernel(makes_arrays=False)
def sum_inside(
    boxes: Boxes, heads: Ints, levels: IntRows, runs: Longs, points: Ints, point_levels: IntRows, amount: Floats,
    table: Ints, place: Longs, total: Floats, listed: Ints, used: Longs,
) -> None:  # fmt: skip
    """Per box (`heads`, `levels`; those of equal levels in one run) the amounts of the points that lie in it.

    A point is a box too: a record and levels, none above those of the box that holds it. Where `listed` has room, the
    points are written down as well, each after the number of its box.
    """
    width, mask = levels.shape[1], len(table) - 1
    for run in range(len(runs) - 1):
        first = runs[run]
        for b in range(first, runs[run + 1]):
            at = _place(boxes, heads[b], levels, first, mask)
            while table[at] >= 0:
                at = (at + 1) & mask
            table[at] = b
            place[b] = at
        for p in range(len(points)):
            inside = True
            j = 0
            while inside and j < width:
                inside = point_levels[p, j] <= levels[first, j]
                j += 1
            if not inside:
                continue
            t = points[p]
            at = _place(boxes, t, levels, first, mask)
            while table[at] >= 0:
                b = table[at]
                if _same_box(boxes, t, heads[b], levels, first):
                    total[b] += amount[p]
                    if len(listed) > 0:
                        listed[used[0]] = b
                        listed[used[0] + 1] = p
                        used[0] += 2
                    break
                at = (at + 1) & mask
        for b in range(first, runs[run + 1]):
            table[place[b]] = -1


@dataclass(frozen=True, eq=False)
class Crowds(Arrays):
    """Room for a set of boxes that grows: whether a record is `taken`; per box its rows taken already, and whether it
    is one of the set (`seen`); the boxes `near`, and the members in the order in which they came."""

    taken: Ints
    shared: Longs
    seen: Ints
    near: Ints
    members: Ints


def make_crowds(records: int, boxes: int, most: int) -> Crowds:
    """Empty room for sets of so many boxes."""
    return Crowds(
        np.zeros(records, np.int32), np.zeros(boxes, np.int64), np.zeros(boxes, np.int32),
        np.zeros(boxes, np.int32), np.zeros(most, np.int32),
    )  # fmt: skip


@kernel(makes_arrays=False)
def grow_crowds(
    start: Longs, record: Ints, rows: Longs, part: Floats, first: Longs, holding: Ints, counts: Longs, k: int,
    largest: int, room: Crowds, sizes: Longs, chosen: IntRows, excess: Floats,
) -> None:  # fmt: skip
    """From every box let a set of boxes grow, always by the one that brings most parts of classes for its new rows.

    Box `b` holds `record[start[b]:start[b + 1]]`, `rows` in all, and `part` of a class; the boxes that hold record `t`
    are `holding[first[t]:first[t + 1]]`. Noted is per box the set on its way that holds most parts of classes beyond
    those it has rows for: its `excess`, and its first `sizes` boxes in `chosen`.
    """
    for seed in range(len(rows)):
        near = 0
        members = 0
        total = 0
        crowd = 0.0
        added = seed
        while added >= 0:
            room.seen[added] = 1
            room.members[members] = added
            members += 1
            crowd += part[added]
            for p in range(start[added], start[added + 1]):
                t = record[p]
                if room.taken[t] == 0:
                    room.taken[t] = 1
                    total += counts[t]
                    for q in range(first[t], first[t + 1]):
                        b = holding[q]
                        if room.shared[b] == 0:
                            room.near[near] = b
                            near += 1
                        room.shared[b] += counts[t]
            beyond = crowd - total // k
            if members == 1 or beyond > excess[seed]:
                excess[seed] = beyond
                sizes[seed] = members
                for i in range(members):
                    chosen[seed, i] = room.members[i]
            added = -1
            least = np.inf
            if members < len(room.members):
                for i in range(near):
                    b = room.near[i]
                    more = rows[b] - room.shared[b]
                    slack = more / k - part[b]
                    if room.seen[b] == 0 and slack < least and total + more <= largest:
                        least = slack
                        added = b
        for i in range(near):
            room.shared[room.near[i]] = 0
            room.seen[room.near[i]] = 0
        for i in range(members):
            for p in range(start[room.members[i]], start[room.members[i] + 1]):
                room.taken[record[p]] = 0
