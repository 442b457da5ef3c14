"""Open a class in the most rewarding of all generalizations of a row, found by one histogram over the lattice."""

from __future__ import annotations

import numpy as np

from kanopy.kernels.boxes import (
    LEVELS,
    VALUES,
    Boxes,
    Floats,
    Ints,
    Longs,
    Random,
    Shorts,
    agreement,
    level_weight,
    next_random,
)
from kanopy.kernels.compiler import helper, kernel
from kanopy.kernels.partition import Partition, fit, new_class, set_box
from kanopy.kernels.reopen import Journal, begin, move, settle, touch, undo


@helper
def _thin(boxes: Boxes, room: int, random: Random, kept: Shorts, place: Shorts, number: Longs) -> int:
    """Choose levels per attribute so that their combinations fit in `room`; returns how many there are.

    `kept[j, i]` is the i-th level kept, `place[j, level]` the first kept one that is not below a level.
    """
    width = boxes.tuples.shape[1]
    cells = 1
    tight = False
    for j in range(width):
        number[j] = boxes.head[j, LEVELS]
        if cells > room:
            tight = True
        cells *= number[j]
        if cells > room:
            tight = True
            cells = room + 1
    while tight:
        j = next_random(random) % width
        if number[j] > 1:
            number[j] -= 1
        cells = 1
        for i in range(width):
            if cells <= room:
                cells *= number[i]
        tight = cells > room
    for j in range(width):
        levels = boxes.head[j, LEVELS]
        left = number[j] - 1
        at = 0
        for level in range(levels):
            # The top is always kept; of the others each is kept with equal chance.
            if level == levels - 1 or (left > 0 and next_random(random) % (levels - 1 - level) < left):
                kept[j, at] = level
                if level < levels - 1:
                    left -= 1
                at += 1
        i = 0
        for level in range(levels):
            while kept[j, i] < level:
                i += 1
            place[j, level] = i
    return cells


def _widen_loop(
    boxes: Boxes, part: Partition, journal: Journal, near: Ints, chunk_of: Ints, order: Longs, starts: Longs, room: int,
    k: int, heat: float, steps: int, random: Random, logs: Floats, stats: Longs,
) -> float:  # fmt: skip
    """Try `steps` times to open the most rewarding class around a random row; returns the change in cost.

    Rows of its chunk are counted by the levels at which they agree with it; sums over the lattice then tell how many
    rows each generalization holds and what they pay now. At most `room` level combinations are told apart.
    """
    width = boxes.tuples.shape[1]
    items = len(part.record)
    deepest = 1
    for j in range(width):
        deepest = max(deepest, boxes.head[j, LEVELS])
    kept = np.zeros((width, deepest), np.int16)
    place = np.zeros((width, deepest), np.int16)
    number = np.zeros(width, np.int64)
    more = np.zeros(width, np.int16)
    chosen = np.zeros(width, np.int16)
    digit = np.zeros(width, np.int64)
    so_far = np.zeros(width + 1, np.float64)
    rows_in = np.zeros(room + 1, np.int64)
    paid_in = np.zeros(room + 1, np.float64)
    base_of = np.zeros(width + 1, np.int64)
    for j in range(width):
        base_of[j + 1] = base_of[j] + boxes.head[j, VALUES]
    cell_of = np.zeros(base_of[width], np.int64)
    weight_of = np.zeros(base_of[width], np.float64)
    gained = 0.0
    for _ in range(steps):
        x = next_random(random) % items
        a = part.class_of[x]
        if a < 0 or part.weight[a] <= 0.0:
            continue
        if part.state[0] == 0:
            break
        t = part.record[x]
        limit = heat * logs[next_random(random) & 1023]
        cells = _thin(boxes, room, random, kept, place, number)
        for i in range(cells):
            rows_in[i] = 0
            paid_in[i] = 0.0
        # Per attribute and value: what it adds to the cell number and to the weight of the box around t.
        step = 1
        for back in range(width):
            j = width - 1 - back
            value = boxes.tuples[t, j]
            for v in range(boxes.head[j, VALUES]):
                i = place[j, agreement(boxes, j, value, v)]
                cell_of[base_of[j] + v] = i * step
                weight_of[base_of[j] + v] = level_weight(boxes, j, kept[j, i], value)
            step *= number[j]
        c = chunk_of[t]
        for p in range(starts[c], starts[c + 1]):
            s = order[p]
            w = 0.0
            cell = 0
            for j in range(width):
                at = base_of[j] + boxes.tuples[s, j]
                w += weight_of[at]
                cell += cell_of[at]
            for y in range(part.first[s], part.first[s + 1]):
                b = part.class_of[y]
                if b >= 0 and part.weight[b] > w:
                    rows_in[cell] += 1
                    paid_in[cell] += part.weight[b]
        # Sum over everything below, attribute by attribute: afterwards each cell counts its whole box.
        step = 1
        for back in range(width):
            j = width - 1 - back
            span = step * number[j]
            for base in range(0, cells, span):
                for i in range(base + step, base + span):
                    rows_in[i] += rows_in[i - step]
                    paid_in[i] += paid_in[i - step]
            step = span
        best = 0.0
        found = -1
        for j in range(width):
            digit[j] = 0
            so_far[j + 1] = so_far[j] + level_weight(boxes, j, kept[j, 0], boxes.tuples[t, j])
        for cell in range(cells):
            # `best` is in gain per root of the rows taken: large boxes would tear up many classes.
            if rows_in[cell] >= k and paid_in[cell] > rows_in[cell] * so_far[width]:
                gain = (paid_in[cell] - rows_in[cell] * so_far[width]) / np.sqrt(rows_in[cell])
                if gain > best:
                    best, found = gain, cell
            j = width - 1
            while j >= 0:
                digit[j] += 1
                if digit[j] < number[j]:
                    break
                digit[j] = 0
                j -= 1
            for i in range(max(j, 0), width):
                so_far[i + 1] = so_far[i] + level_weight(boxes, i, kept[i, digit[i]], boxes.tuples[t, i])
        if found < 0:
            continue
        w = 0.0
        for back in range(width):
            j = width - 1 - back
            chosen[j] = kept[j, found % number[j]]
            found //= number[j]
            w += level_weight(boxes, j, chosen[j], boxes.tuples[t, j])
        stats[5] += 1
        begin(journal)
        fresh = new_class(part)
        set_box(part, fresh, t, chosen, w)
        touch(part, journal, fresh)
        old = 0.0
        for p in range(starts[c], starts[c + 1]):
            s = order[p]
            inside = True
            for j in range(width):
                if agreement(boxes, j, boxes.tuples[t, j], boxes.tuples[s, j]) > chosen[j]:
                    inside = False
                    break
            if inside:
                for y in range(part.first[s], part.first[s + 1]):
                    b = part.class_of[y]
                    if b >= 0 and part.weight[b] > w:
                        old += touch(part, journal, b)
                        move(part, journal, y, fresh)
        if part.size[fresh] < k:
            undo(part, journal)
            continue
        fit(boxes, part, fresh)
        change = settle(boxes, part, journal, near, k, fresh, old, limit, more, random)
        if change != 0.0:
            stats[6] += 1
            gained += change
    return gained


widen = kernel(_widen_loop)(_widen_loop)
