"""Open a class in the most rewarding of all generalizations of a row, found by one histogram over the lattice."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kanopy._arrays import FloatRows, Floats, IntRows, Ints, LongRows, Longs, Words
from kanopy._compiler import Arrays, helper, kernel
from kanopy.search.local.best.moves.journal_kernel import (
    CLASSES,
    FEW,
    Journal,
    begin,
    cheapest_home,
    move,
    settle,
    touch,
)
from kanopy.search.local.best.partition_kernel import WORK, Partition, new_class
from kanopy.search.local.boxes_kernel import LEVELS, VALUES, Boxes, agreement, level_weight
from kanopy.search.local.joins_kernel import Joins, draw, holds
from kanopy.search.local.levels_kernel import few_levels

GROUP_VALUES = 1024
"""Attributes are looked up together while their combinations are at most this many."""


@dataclass(frozen=True, eq=False)
class Lattice(Arrays):
    """Room for counting rows in all generalizations of a row.

    Attributes are put into groups; `code[t, g]` is the combination of values record `t` has in group `g`, and
    `member[j]` the group of attribute `j`, its step in that code and where the group begins in `word`: what a
    combination adds to the number of a cell (the low bits) and to its levels, packed with a field per attribute whose
    highest bit is free. `axis` has the attributes from the innermost of the lattice out. `sums[2 * cell]` counts the
    rows of a cell, the next place what they pay. `paid[y]` is what a row pays now, `mean_paid[t]` the mean and
    number of the rows of a record, `other[y]` about what it would pay
    in another class than its own; `taken` and `saved` are counts per class.
    """

    code: IntRows
    member: LongRows
    begins: Longs
    axis: Longs
    word: Longs
    kept: LongRows
    place: LongRows
    number: Longs
    shift: Longs
    sums: Floats
    weight_in: Floats
    levels: Longs
    paid: Floats
    mean_paid: FloatRows
    other: Floats
    taken: Longs
    elsewhere: Floats
    donors: Ints
    best: FloatRows
    state: Longs


STEPS = 0
CELL_BITS = 16
REFRESH = 256
"""Steps after which the costs of other classes are looked up anew."""
CANDIDATES = 8
FILLED = 0.6
"""The share of k rows that must pay less in a box; the others come from classes that can spare them."""


def make_lattice(boxes: Boxes, cells: int, items: int, classes: int) -> Lattice:
    """Room for up to `cells` generalizations at a time."""
    width = boxes.tuples.shape[1]
    member = np.zeros((width, 3), np.int64)
    begins = [0]
    codes = []
    room, code = 1, np.zeros(len(boxes.tuples), np.int64)
    for j in range(width):
        size = int(boxes.head[j, VALUES])
        if j and room * size > GROUP_VALUES:
            codes.append(code)
            begins.append(begins[-1] + room)
            room, code = 1, np.zeros_like(code)
        member[j] = len(codes), room, begins[-1]
        code = code + room * boxes.tuples[:, j]
        room *= size
    codes.append(code)
    begins.append(begins[-1] + room)
    deepest = int(boxes.head[:, LEVELS].max())
    axis = np.argsort(-boxes.head[:, LEVELS], kind="stable")
    return Lattice(
        np.column_stack(codes).astype(np.int32), member, np.array(begins, np.int64), axis,
        np.zeros(begins[-1], np.int64), np.zeros((width, deepest), np.int64), np.zeros((width, deepest), np.int64),
        np.zeros(width, np.int64), np.zeros(width, np.int64), np.zeros(2 * cells), np.zeros(cells),
        np.zeros(len(boxes.tuples), np.int64), np.zeros(items), np.zeros((len(boxes.tuples), 2)), np.zeros(items),
        np.zeros(classes, np.int64), np.zeros(classes), np.zeros(classes, np.int32), np.zeros((CANDIDATES, 2)),
        np.zeros(1, np.int64),
    )  # fmt: skip


@helper
def _prepare(boxes: Boxes, lattice: Lattice, t: int, cells: int) -> int:
    """Empty sums, the weights of all cells, and what each combination of values adds; returns the fields' free bits.

    So few combinations as fit in the room need few bits: one word holds them all.
    """
    weight_in = lattice.weight_in
    for i in range(2 * cells):
        lattice.sums[i] = 0.0
    for i in range(len(lattice.word)):
        lattice.word[i] = 0
    weight_in[0] = 0.0
    step = 1
    place = 0
    free = 0
    for depth in range(len(lattice.axis)):
        j = lattice.axis[depth]
        value = boxes.tuples[t, j]
        number = lattice.number[j]
        lattice.shift[j] = place
        if number > 1:
            while (1 << (place - lattice.shift[j])) < number:
                place += 1
            free |= 1 << place
            place += 1
        for up in range(number):
            i = number - 1 - up
            w = level_weight(boxes, j, lattice.kept[j, i], value)
            for at in range(step):
                weight_in[i * step + at] = weight_in[at] + w
        group, inner, start = lattice.member[j, 0], lattice.member[j, 1], lattice.member[j, 2]
        size = boxes.head[j, VALUES]
        end = lattice.begins[group + 1]
        for v in range(size):
            i = lattice.place[j, agreement(boxes, j, value, v)]
            more = i * step + (i << (lattice.shift[j] + CELL_BITS))
            base = start + v * inner
            while base < end:
                for at in range(base, base + inner):
                    lattice.word[at] += more
                base += inner * size
        step *= number
    return free


@helper
def _count(lattice: Lattice, order: Longs, begin: int, end: int, cells: int) -> None:
    """Count the rows that pay more than they would in a box around the row, and what they pay, for every box."""
    groups = lattice.code.shape[1]
    sums = lattice.sums
    for p in range(begin, end):
        s = order[p]
        word = 0
        for g in range(groups):
            word += lattice.word[lattice.begins[g] + lattice.code[s, g]]
        cell = word & ((1 << CELL_BITS) - 1)
        lattice.levels[p] = word >> CELL_BITS
        if lattice.mean_paid[s, 0] > lattice.weight_in[cell]:
            sums[2 * cell] += lattice.mean_paid[s, 1]
            sums[2 * cell + 1] += lattice.mean_paid[s, 0] * lattice.mean_paid[s, 1]
    # Sum over everything below, attribute by attribute: afterwards each cell counts its whole box.
    step = 2
    for depth in range(len(lattice.axis)):
        j = lattice.axis[depth]
        n = lattice.number[j]
        for base in range(2 * cells // (step * n)):
            for i in range(1, n):
                start = (base * n + i) * step
                for at in range(start, start + step):
                    sums[at] += sums[at - step]
        step *= n


@helper
def _levels(lattice: Lattice, cell: int) -> int:
    """The levels of a cell, packed."""
    levels = 0
    for depth in range(len(lattice.axis)):
        j = lattice.axis[depth]
        levels |= (cell % lattice.number[j]) << lattice.shift[j]
        cell //= lattice.number[j]
    return levels


@helper
def _judge(
    part: Partition, lattice: Lattice, order: Longs, begin: int, end: int, box: int, free: int, w: float, k: int
) -> tuple[float, int]:
    """About what opening a box saves, and how many classes give rows; `taken[c]` becomes how many rows class `c` gives.

    A class that would fall below k either is given up, its other rows going elsewhere, or keeps k rows.
    """
    count = 0
    for p in range(begin, end):
        if ((box | free) - lattice.levels[p]) & free == free:
            s = order[p]
            for y in range(part.first[s], part.first[s + 1]):
                c = part.class_of[y]
                if lattice.paid[y] > w or (c >= 0 and part.size[c] > k):
                    if lattice.taken[c] == 0:
                        lattice.donors[count] = c
                        lattice.elsewhere[c] = 0.0
                        count += 1
                    lattice.taken[c] += 1
                    lattice.elsewhere[c] += lattice.other[y]
    gain = 0.0
    rows = 0
    for i in range(count):
        c = lattice.donors[i]
        saved = part.weight[c] - w
        if saved <= 0.0:
            # For now only noted, as a negative number: rows that could fill up the class.
            lattice.taken[c] = -min(lattice.taken[c], part.size[c] - k)
            continue
        taken = lattice.taken[c]
        left = part.size[c] - taken
        gain += taken * saved
        if left < k and left > 0:
            elsewhere = -lattice.elsewhere[c]
            y = part.head[c]
            while y >= 0:
                elsewhere += lattice.other[y]
                y = part.after[y]
            lost = elsewhere - left * part.weight[c]
            if lost >= (k - left) * saved:
                lost = (k - left) * saved
                taken = part.size[c] - k
                lattice.taken[c] = taken
            gain -= lost
        rows += taken
    while rows < k:
        dearest = -1
        for i in range(count):
            c = lattice.donors[i]
            if lattice.taken[c] < 0 and (dearest < 0 or part.weight[c] > part.weight[dearest]):
                dearest = c
        if dearest < 0:
            return -1e300, count
        taken = min(-lattice.taken[dearest], k - rows)
        lattice.taken[dearest] = taken
        gain -= taken * (w - part.weight[dearest])
        rows += taken
    return gain, count


@helper
def _refresh(joins: Joins, part: Partition, lattice: Lattice, near: IntRows, k: int, random: Words) -> None:
    """What each row would pay in another class: the cheapest that holds it where there are few classes."""
    if len(part.size) > FEW:
        for y in range(len(part.record)):
            if part.class_of[y] >= 0:
                found, _c = cheapest_home(joins, part, near, k, part.record[y], part.class_of[y], -1, random)
                lattice.other[y] = min(found, 1000.0)
        return
    # Classes by rising weight (insertion sort: they are few).
    count = 0
    by_weight = lattice.donors
    for c in range(len(part.size)):
        if part.size[c] >= k:
            at = count
            while at > 0 and part.weight[by_weight[at - 1]] > part.weight[c]:
                by_weight[at] = by_weight[at - 1]
                at -= 1
            by_weight[at] = c
            count += 1
    for t in range(len(part.first) - 1):
        one = -1
        two = -1
        for i in range(count):
            if holds(joins, part.box, by_weight[i], joins.cells, t):
                if one < 0:
                    one = by_weight[i]
                else:
                    two = by_weight[i]
                    break
        for y in range(part.first[t], part.first[t + 1]):
            c = two if part.class_of[y] == one else one
            if c >= 0:
                lattice.other[y] = part.weight[c]
            elif part.class_of[y] >= 0:
                found, _c = cheapest_home(joins, part, near, k, t, part.class_of[y], -1, random)
                lattice.other[y] = min(found, 1000.0)


@helper
def _note(part: Partition, lattice: Lattice, t: int) -> None:
    """What the rows of a record pay now."""
    total = 0.0
    rows = 0
    for y in range(part.first[t], part.first[t + 1]):
        c = part.class_of[y]
        lattice.paid[y] = part.weight[c] if c >= 0 else 0.0
        if c >= 0:
            total += part.weight[c]
            rows += 1
    lattice.mean_paid[t, 0] = total / max(1, rows)
    lattice.mean_paid[t, 1] = rows


@kernel(makes_arrays=False)
def widen(
    boxes: Boxes, joins: Joins, part: Partition, journal: Journal, lattice: Lattice, near: IntRows, chunk_of: Ints,
    order: Longs, starts: Longs, k: int, heat: float, steps: int, random: Words, logs: Floats, stats: Longs,
) -> float:  # fmt: skip
    """Try `steps` times to open the most rewarding class around a random row; returns the change in cost.

    Rows of its chunk are counted by the levels at which they agree with it; sums over the lattice then tell how many
    rows each generalization holds and what they pay now. The most rewarding ones are judged by what they do to the
    classes that lose rows.
    """
    sums, weight_in = lattice.sums, lattice.weight_in
    items = len(part.record)
    gained = 0.0
    # What is looked at here is counted in rows, of which several take as long as one box.
    part.state[WORK] += steps + (items >> 2)
    for t in range(len(part.first) - 1):
        _note(part, lattice, t)
    for _ in range(steps):
        if lattice.state[STEPS] % REFRESH == 0:
            part.state[WORK] += items
            _refresh(joins, part, lattice, near, k, random)
        lattice.state[STEPS] += 1
        x = draw(random, items)
        a = part.class_of[x]
        if a < 0 or part.weight[a] <= 0.0:
            continue
        if part.state[0] == 0:
            break
        t = part.record[x]
        limit = heat * logs[draw(random, 1024)]
        cells = few_levels(boxes, len(lattice.weight_in), random, lattice.kept, lattice.place, lattice.number)
        free = _prepare(boxes, lattice, t, cells)
        begins, ends = starts[chunk_of[t]], starts[chunk_of[t] + 1]
        _count(lattice, order, begins, ends, cells)
        part.state[WORK] += ((ends - begins) >> 2) + ((cells * len(lattice.axis)) >> 3) + (len(lattice.word) >> 3)
        # The best by the sum saved, per band of weights by the sum per root of the rows: large boxes tear up classes.
        for i in range(CANDIDATES):
            lattice.best[i, 0] = 0.0
            lattice.best[i, 1] = -1.0
        bands = (CANDIDATES - 2) / part.weight[a]
        for cell in range(cells):
            n_in = sums[2 * cell]
            if n_in >= FILLED * k:
                gain = sums[2 * cell + 1] - n_in * weight_in[cell]
                if n_in < k:
                    gain -= 0.5 * (k - n_in) * weight_in[cell]
                if gain > 0.0:
                    if gain > lattice.best[0, 0]:
                        lattice.best[0, 0], lattice.best[0, 1] = gain, cell
                    band = min(CANDIDATES - 1, 1 + int(weight_in[cell] * bands))
                    if gain * gain > lattice.best[band, 0] * n_in:
                        lattice.best[band, 0], lattice.best[band, 1] = gain * gain / n_in, cell
        best = -1e300
        chosen = -1
        for i in range(CANDIDATES):
            cell = int(lattice.best[i, 1])
            if cell < 0 or (i > 0 and cell == int(lattice.best[0, 1])):
                continue
            gain, count = _judge(part, lattice, order, begins, ends, _levels(lattice, cell), free, weight_in[cell], k)
            part.state[WORK] += (ends - begins) >> 4
            for d in range(count):
                lattice.taken[lattice.donors[d]] = 0
            if gain > best:
                best, chosen = gain, cell
        if chosen < 0:
            continue
        stats[6] += 1
        if best <= -limit:
            continue
        box = _levels(lattice, chosen)
        w = weight_in[chosen]
        _, count = _judge(part, lattice, order, begins, ends, box, free, w, k)
        stats[7] += 1
        begin(journal)
        fresh = new_class(part)
        touch(part, journal, fresh)
        old = 0.0
        for p in range(begins, ends):
            if ((box | free) - lattice.levels[p]) & free == free:
                s = order[p]
                for y in range(part.first[s], part.first[s + 1]):
                    b = part.class_of[y]
                    if b >= 0 and b != fresh and lattice.taken[b] > 0:
                        lattice.taken[b] -= 1
                        old += touch(part, journal, b)
                        move(part, journal, y, fresh)
        for d in range(count):
            lattice.taken[lattice.donors[d]] = 0
        change = settle(joins, part, journal, near, k, fresh, old, limit, random)
        if change != 0.0:
            stats[11] += 1
            gained += change
            for i in range(journal.state[CLASSES]):
                c = journal.classes[i]
                y = part.head[c] if part.size[c] > 0 else -1
                while y >= 0:
                    _note(part, lattice, part.record[y])
                    y = part.after[y]
    return gained
