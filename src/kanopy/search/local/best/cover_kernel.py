"""Covering records with boxes for large k: open the most rewarding generalization of a record, again and again.

One histogram of the levels at which all records agree with one of them, summed over the lattice, tells how many rows
every generalization of that record holds and what they pay now. Records never part from their equals here: with large
k that costs next to nothing, and a step touches each distinct record once.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kanopy._arrays import FloatRows, Floats, IntRows, Ints, LongRows, Longs, ShortRows, Shorts, WordRows, Words
from kanopy._compiler import Arrays, helper, kernel
from kanopy.search.local.boxes_kernel import VALUES, Boxes, agreement, box_weight, level_weight, next_random
from kanopy.search.local.levels_kernel import few_levels

ABSENT = 1e9
"""The weight of a class that does not exist."""
FEW = 1e-12


@dataclass(frozen=True, eq=False)
class Cover(Arrays):
    """Classes of whole records.

    Per record its class and what its rows pay; per class a record in it, its levels, weight and rows. `free` is a
    stack of unused class numbers, `state[0]` its height. Bit `c` of `held[value]` (64 classes to a word) says whether
    the box of class `c` takes a folded value: what holds a record is what takes all its values.
    """

    class_of: Ints
    paid: Floats
    member: Longs
    levels: ShortRows
    weight: Floats
    rows: Longs
    free: Longs
    state: Longs
    held: WordRows


@dataclass(frozen=True, eq=False)
class Folded(Arrays):
    """Neighbouring attributes folded into few columns, so that a record takes few look-ups.

    Column `c` holds the attributes `first[c]` to `first[c + 1] - 1`; its joint values are numbered from `start[c]` on,
    and `codes[t, c]` is the number of those of record `t`.
    """

    codes: IntRows
    first: Longs
    start: Longs


@dataclass(frozen=True, eq=False)
class Desk(Arrays):
    """Room to work in; what is in it before or after a call means nothing."""

    cell: Ints
    found: FloatRows
    inside: Ints
    moved: Longs
    came_from: Ints
    touched: Ints
    donors: Longs
    kept: LongRows
    place: LongRows
    number: Longs
    digit: Longs
    before: Floats
    last_weight: Floats
    levels: Shorts


@helper
def _fold_cells(boxes: Boxes, folded: Folded, desk: Desk, t: int) -> None:
    """Per folded value, what it adds to the number of the cell in which a record agrees with record `t`."""
    for c in range(len(folded.first) - 1):
        at, length = folded.start[c], 1
        desk.cell[at] = 0
        for j in range(folded.first[c], folded.first[c + 1]):
            step = 1
            for i in range(j + 1, boxes.tuples.shape[1]):
                step *= desk.number[i]
            size, value = boxes.head[j, VALUES], boxes.tuples[t, j]
            for old in range(length - 1, -1, -1):
                base = desk.cell[at + old]
                for v in range(size - 1, -1, -1):
                    desk.cell[at + old * size + v] = base + desk.place[j, agreement(boxes, j, value, v)] * step
            length *= size


@helper
def _fold_inside(boxes: Boxes, folded: Folded, desk: Desk, t: int, levels: Shorts) -> None:
    """Per folded value, whether a record with it may be in the box around `t`."""
    for c in range(len(folded.first) - 1):
        at, length = folded.start[c], 1
        desk.inside[at] = 1
        for j in range(folded.first[c], folded.first[c + 1]):
            size, value = boxes.head[j, VALUES], boxes.tuples[t, j]
            for old in range(length - 1, -1, -1):
                base = desk.inside[at + old]
                for v in range(size - 1, -1, -1):
                    fits = agreement(boxes, j, value, v) <= levels[j]
                    desk.inside[at + old * size + v] = base if fits else 0
            length *= size


@kernel(makes_arrays=False)
def best_box(
    boxes: Boxes, folded: Folded, counts: Longs, paid: Floats, desk: Desk, t: int, least: float, k: int, cells: int,
    levels: Shorts,
) -> float:  # fmt: skip
    """The most rewarding generalization of record `t` for rows that pay more than `least`; returns its gain.

    Looks at boxes that hold at least `k` such rows, writes the levels of the one with most gain to `levels`, and
    returns 0 if none gains. `desk.kept`, `place` and `number` say which levels count.
    """
    _fold_cells(boxes, folded, desk, t)
    found, cell, codes = desk.found, desk.cell, folded.codes
    for i in range(cells):
        found[0, i] = 0.0
        found[1, i] = 0.0
    columns = codes.shape[1]
    for u in range(len(counts)):
        if paid[u] > least:
            at = np.int64(0)
            for c in range(columns):
                at += cell[codes[u, c]]
            found[0, at] += counts[u]
            found[1, at] += counts[u] * paid[u]
    _sum_over_lattice(found, desk.number, cells)
    return _most_gain(boxes, desk, t, k, cells, levels)


@helper
def _sum_over_lattice(found: FloatRows, number: Longs, cells: int) -> None:
    """Add to every cell the cells at or below its levels, attribute by attribute."""
    step = 1
    for back in range(len(number)):
        levels = number[len(number) - 1 - back]
        block = step * levels
        for base in range(cells // block):
            for level in range(1, levels):
                low, here = base * block + (level - 1) * step, base * block + level * step
                for which in range(2):
                    for i in range(step):
                        found[which, here + i] += found[which, low + i]
        step = block


@helper
def _most_gain(boxes: Boxes, desk: Desk, t: int, k: int, cells: int, levels: Shorts) -> float:
    """The best of all cells: an odometer over the kept levels, the last attribute turning fastest."""
    width = boxes.tuples.shape[1]
    last = width - 1
    found, number, kept = desk.found, desk.number, desk.kept
    digit, before, last_weight = desk.digit, desk.before, desk.last_weight
    turns = number[last]
    for j in range(width):
        digit[j] = 0
    for i in range(turns):
        last_weight[i] = level_weight(boxes, last, kept[last, i], boxes.tuples[t, last])
    # `before[j]` is the weight of the attributes before `j` at their digits.
    before[0] = 0.0
    turned = 0
    best, chosen = 0.0, -1
    # Counted instead of in steps of `turns`: a range whose step could be zero makes the compiler raise errors.
    for turn in range(cells // turns):
        base = turn * turns
        for j in range(turned, last):
            before[j + 1] = before[j] + level_weight(boxes, j, kept[j, digit[j]], boxes.tuples[t, j])
        for i in range(turns):
            rows = found[0, base + i]
            if rows >= k:
                gain = found[1, base + i] - rows * (before[last] + last_weight[i])
                if gain > best + FEW * (1.0 + best):
                    best, chosen = gain, base + i
        turned = last - 1
        while turned >= 0:
            digit[turned] += 1
            if digit[turned] < number[turned]:
                break
            digit[turned] = 0
            turned -= 1
        turned = max(turned, 0)
    if chosen >= 0:
        for back in range(width):
            j = last - back
            levels[j] = kept[j, chosen % number[j]]
            chosen //= number[j]
    return best


@helper
def _mark(cover: Cover, desk: Desk, c: int) -> None:
    """Note which folded values class `c` takes, as `_fold_inside` left them."""
    word, bit = c >> 6, np.uint64(1) << np.uint64(c & 63)
    for value in range(len(desk.inside)):
        if desk.inside[value]:
            cover.held[value, word] |= bit
        else:
            cover.held[value, word] &= ~bit


@helper
def _lightest(folded: Folded, cover: Cover, desk: Desk, u: int, k: int, below: float) -> int:
    """The lightest class below a weight, other than those about to go, that holds record `u`; -1 if there is none."""
    found, weight = -1, below
    columns = folded.codes.shape[1]
    for word in range(cover.held.shape[1]):
        bits = cover.held[folded.codes[u, 0], word]
        for i in range(1, columns):
            bits &= cover.held[folded.codes[u, i], word]
        c = word << 6
        while bits:
            if bits & np.uint64(0xFF) == np.uint64(0):
                bits >>= np.uint64(8)
                c += 8
                continue
            if bits & np.uint64(1) and cover.weight[c] < weight and cover.rows[c] >= k and desk.touched[c] == 0:
                found, weight = c, cover.weight[c]
            bits >>= np.uint64(1)
            c += 1
    return found


@kernel(makes_arrays=False)
def open_classes(
    boxes: Boxes, folded: Folded, counts: Longs, cover: Cover, desk: Desk, room: int, k: int, heat: float, steps: int,
    random: Words,
) -> float:  # fmt: skip
    """Open `steps` classes at most, each in the most rewarding box around a random record; returns the gain.

    Records that pay more where they are move into the new class; classes that fall below `k` are dissolved, their
    records going to the lightest classes that hold them. A change that costs more than it brings is undone, or kept
    with a chance that falls with `heat`.
    """
    n, width = boxes.tuples.shape
    levels = desk.levels
    columns = len(folded.first) - 1
    total = 0.0
    for _ in range(steps):
        if cover.state[0] == 0:
            break
        # Of two random records the one that pays more: where much is lost, much can be gained.
        t = next_random(random) % n
        other = next_random(random) % n
        if cover.paid[other] > cover.paid[t]:
            t = other
        if cover.paid[t] <= 0.0:
            continue
        cells = few_levels(boxes, room, random, desk.kept, desk.place, desk.number)
        # Rows that pay little would stay away: a random threshold makes the estimate close for some boxes each time.
        least = cover.paid[t] * (next_random(random) % 1024) / 1024.0
        if best_box(boxes, folded, counts, cover.paid, desk, t, least, k, cells, levels) <= 0.0:
            continue
        weight = box_weight(boxes, t, levels)
        _fold_inside(boxes, folded, desk, t, levels)
        moved, rows, gained = 0, 0, 0.0
        for u in range(n):
            if cover.paid[u] > weight + FEW:
                fits = True
                for c in range(columns):
                    if desk.inside[folded.codes[u, c]] == 0:
                        fits = False
                        break
                if fits:
                    desk.moved[moved] = u
                    desk.came_from[moved] = cover.class_of[u]
                    moved += 1
                    rows += counts[u]
                    gained += counts[u] * (cover.paid[u] - weight)
        if rows < k:
            continue
        cover.state[0] -= 1
        new = cover.free[cover.state[0]]
        cover.member[new], cover.weight[new], cover.rows[new] = t, weight, rows
        _mark(cover, desk, new)
        for j in range(width):
            cover.levels[new, j] = levels[j]
        donors = 0
        for i in range(moved):
            u = desk.moved[i]
            a = cover.class_of[u]
            cover.rows[a] -= counts[u]
            if desk.touched[a] == 0:
                desk.touched[a] = 1
                desk.donors[donors] = a
                donors += 1
            cover.class_of[u] = new
        small = False
        for i in range(donors):
            a = desk.donors[i]
            if 0 < cover.rows[a] < k:
                small = True
            else:
                desk.touched[a] = 0
        limit = -heat * np.log((next_random(random) % 1_000_003 + 1) / 1_000_004.0)
        possible = True
        if small:
            for u in range(n):
                a = cover.class_of[u]
                if desk.touched[a] == 0:
                    continue
                into = _lightest(folded, cover, desk, u, k, ABSENT)
                if into >= 0:
                    gained -= counts[u] * (cover.weight[into] - cover.weight[a])
                if into < 0 or gained < -limit - FEW:
                    possible = False
                    break
                desk.moved[moved] = u
                desk.came_from[moved] = a
                moved += 1
                cover.class_of[u] = into
                cover.rows[into] += counts[u]
                cover.rows[a] -= counts[u]
        for i in range(donors):
            desk.touched[desk.donors[i]] = 0
        if possible and gained > -limit:
            total += gained
            for i in range(moved):
                u = desk.moved[i]
                cover.paid[u] = cover.weight[cover.class_of[u]]
            for i in range(donors):
                a = desk.donors[i]
                if cover.rows[a] == 0:
                    cover.weight[a] = ABSENT
                    cover.free[cover.state[0]] = a
                    cover.state[0] += 1
        else:
            for back in range(moved):
                i = moved - 1 - back
                u = desk.moved[i]
                cover.rows[cover.class_of[u]] -= counts[u]
                cover.class_of[u] = desk.came_from[i]
                cover.rows[desk.came_from[i]] += counts[u]
            cover.rows[new] = 0
            cover.weight[new] = ABSENT
            cover.free[cover.state[0]] = new
            cover.state[0] += 1
    return total


@kernel(makes_arrays=False)
def tighten(boxes: Boxes, folded: Folded, cover: Cover, desk: Desk) -> None:
    """Shrink every class to the smallest box around its records."""
    n, width = boxes.tuples.shape
    for c in range(len(cover.weight)):
        cover.member[c] = -1
        for j in range(width):
            cover.levels[c, j] = 0
    for u in range(n):
        c = cover.class_of[u]
        first = cover.member[c]
        if first < 0:
            cover.member[c] = u
            continue
        for j in range(width):
            level = agreement(boxes, j, boxes.tuples[first, j], boxes.tuples[u, j])
            if level > cover.levels[c, j]:
                cover.levels[c, j] = level
    for value in range(cover.held.shape[0]):
        for word in range(cover.held.shape[1]):
            cover.held[value, word] = np.uint64(0)
    for c in range(len(cover.weight)):
        cover.weight[c] = ABSENT
        if cover.member[c] >= 0:
            for j in range(width):
                desk.levels[j] = cover.levels[c, j]
            cover.weight[c] = box_weight(boxes, cover.member[c], desk.levels)
            _fold_inside(boxes, folded, desk, cover.member[c], desk.levels)
            _mark(cover, desk, c)
    for u in range(n):
        cover.paid[u] = cover.weight[cover.class_of[u]]


@kernel(makes_arrays=False)
def settle_down(folded: Folded, counts: Longs, cover: Cover, desk: Desk, k: int) -> float:
    """Move every record to the lightest class whose box holds it, where its own class can spare it; the gain."""
    gained = 0.0
    for u in range(len(counts)):
        a = cover.class_of[u]
        if cover.rows[a] - counts[u] < k:
            continue
        c = _lightest(folded, cover, desk, u, k, cover.paid[u] - FEW)
        if c >= 0:
            gained += counts[u] * (cover.paid[u] - cover.weight[c])
            cover.rows[a] -= counts[u]
            cover.rows[c] += counts[u]
            cover.class_of[u] = c
            cover.paid[u] = cover.weight[c]
    return gained
