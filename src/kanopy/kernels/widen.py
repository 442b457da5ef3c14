"""Open a class in the most rewarding of all generalizations of a row, found by one histogram over the lattice."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from kanopy.kernels.boxes import LEVELS, VALUES, Boxes, agreement, level_weight
from kanopy.kernels.compiler import kernel, part_of_kernel
from kanopy.kernels.joins import Floats, Ints, Joins, Longs, Random, draw
from kanopy.kernels.journal import Journal, begin, move, settle, touch, undo
from kanopy.kernels.partition import Partition, fit, new_class

GROUP_VALUES = 1024
"""Attributes are looked up together while their combinations are at most this many."""


class Lattice(NamedTuple):
    """Room for counting rows in all generalizations of a row.

    Attributes are put into groups; `code[t, g]` is the combination of values record `t` has in group `g`, and
    `member[j]` the group of attribute `j`, its step in that code and where the group begins in `cell` and `weight`
    (what a combination adds to the number of a cell and to the weight of the box).
    """

    code: Ints
    member: Longs
    begins: Longs
    cell: Longs
    weight: Floats
    kept: Longs
    place: Longs
    number: Longs
    rows_in: Floats
    paid_in: Floats
    weight_in: Floats
    level: Longs


def make_lattice(boxes: Boxes, cells: int) -> Lattice:
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
    return Lattice(
        np.column_stack(codes).astype(np.int32), member, np.array(begins, np.int64), np.zeros(begins[-1], np.int64),
        np.zeros(begins[-1]), np.zeros((width, deepest), np.int64), np.zeros((width, deepest), np.int64),
        np.zeros(width, np.int64), np.zeros(cells), np.zeros(cells), np.zeros(cells), np.zeros((2, width), np.int64),
    )  # fmt: skip


@part_of_kernel
def _thin(boxes: Boxes, lattice: Lattice, random: Random) -> int:
    """Choose levels per attribute so that their combinations fit in the room; returns how many there are.

    `kept[j, i]` is the i-th level kept, `place[j, level]` the first kept one that is not below a level.
    """
    width = boxes.tuples.shape[1]
    room = len(lattice.rows_in)
    number = lattice.number
    for j in range(width):
        number[j] = boxes.head[j, LEVELS]
    while True:
        cells = 1
        for j in range(width):
            if cells <= room:
                cells *= number[j]
        if cells <= room:
            break
        j = draw(random, width)
        if number[j] > 1:
            number[j] -= 1
    for j in range(width):
        levels = boxes.head[j, LEVELS]
        left = number[j] - 1
        at = 0
        for level in range(levels):
            # The top is always kept; of the others each is kept with equal chance.
            if level == levels - 1 or (left > 0 and draw(random, levels - 1 - level) < left):
                lattice.kept[j, at] = level
                if level < levels - 1:
                    left -= 1
                at += 1
        i = 0
        for level in range(levels):
            while lattice.kept[j, i] < level:
                i += 1
            lattice.place[j, level] = i
    return cells


@part_of_kernel
def _prepare(boxes: Boxes, lattice: Lattice, t: int, cells: int) -> None:
    """Empty counts, the weights of all cells, and what each combination of values adds to cell number and weight."""
    width = boxes.tuples.shape[1]
    rows_in, paid_in, weight_in = lattice.rows_in, lattice.paid_in, lattice.weight_in
    for i in range(cells):
        rows_in[i] = 0.0
        paid_in[i] = 0.0
    for i in range(len(lattice.cell)):
        lattice.cell[i] = 0
        lattice.weight[i] = 0.0
    weight_in[0] = 0.0
    step = 1
    for back in range(width):
        j = width - 1 - back
        value = boxes.tuples[t, j]
        number = lattice.number[j]
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
            w = level_weight(boxes, j, lattice.kept[j, i], value)
            base = start + v * inner
            while base < end:
                for at in range(base, base + inner):
                    lattice.cell[at] += i * step
                    lattice.weight[at] += w
                base += inner * size
        step *= number


def _widen_loop(
    boxes: Boxes, joins: Joins, part: Partition, journal: Journal, lattice: Lattice, near: Ints, chunk_of: Ints,
    order: Longs, starts: Longs, k: int, heat: float, steps: int, random: Random, logs: Floats, stats: Longs,
) -> float:  # fmt: skip
    """Try `steps` times to open the most rewarding class around a random row; returns the change in cost.

    Rows of its chunk are counted by the levels at which they agree with it; sums over the lattice then tell how many
    rows each generalization holds and what they pay now.
    """
    width = boxes.tuples.shape[1]
    groups = lattice.code.shape[1]
    rows_in, paid_in, weight_in, number = lattice.rows_in, lattice.paid_in, lattice.weight_in, lattice.number
    items = len(part.record)
    gained = 0.0
    for _ in range(steps):
        x = draw(random, items)
        a = part.class_of[x]
        if a < 0 or part.weight[a] <= 0.0:
            continue
        if part.state[0] == 0:
            break
        t = part.record[x]
        limit = heat * logs[draw(random, 1024)]
        cells = _thin(boxes, lattice, random)
        _prepare(boxes, lattice, t, cells)
        chunk = chunk_of[t]
        for p in range(starts[chunk], starts[chunk + 1]):
            s = order[p]
            w = 0.0
            cell = 0
            for g in range(groups):
                at = lattice.begins[g] + lattice.code[s, g]
                w += lattice.weight[at]
                cell += lattice.cell[at]
            for y in range(part.first[s], part.first[s + 1]):
                b = part.class_of[y]
                if b >= 0 and part.weight[b] > w:
                    rows_in[cell] += 1.0
                    paid_in[cell] += part.weight[b]
        # Sum over everything below, attribute by attribute: afterwards each cell counts its whole box.
        step = 1
        for back in range(width):
            n = number[width - 1 - back]
            for base in range(0, cells, step * n):
                for i in range(base + step, base + step * n, step):
                    for at in range(i, i + step):
                        rows_in[at] += rows_in[at - step]
                        paid_in[at] += paid_in[at - step]
            step *= n
        best = 0.0
        found = -1
        for cell in range(cells):
            # `best` is in gain per root of the rows taken: large boxes would tear up many classes.
            n_in = rows_in[cell]
            if n_in >= k:
                gain = paid_in[cell] - n_in * weight_in[cell]
                if gain > 0.0:
                    gain = gain * gain / n_in
                    if gain > best:
                        best, found = gain, cell
        if found < 0:
            continue
        w = weight_in[found]
        stats[6] += 1
        begin(journal)
        fresh = new_class(part)
        touch(part, journal, fresh)
        old = 0.0
        for back in range(width):
            j = width - 1 - back
            lattice.level[0, j] = lattice.kept[j, found % number[j]]
            found //= number[j]
        for p in range(starts[chunk], starts[chunk + 1]):
            s = order[p]
            inside = True
            for j in range(width):
                if agreement(boxes, j, boxes.tuples[t, j], boxes.tuples[s, j]) > lattice.level[0, j]:
                    inside = False
                    break
            if inside:
                for y in range(part.first[s], part.first[s + 1]):
                    b = part.class_of[y]
                    if b >= 0 and b != fresh and part.weight[b] > w:
                        old += touch(part, journal, b)
                        move(part, journal, y, fresh)
        if part.size[fresh] < k:
            undo(part, journal)
            continue
        fit(joins, part, fresh)
        change = settle(joins, part, journal, near, k, fresh, old, limit, random)
        if change != 0.0:
            stats[7] += 1
            gained += change
    return gained


widen = kernel(_widen_loop, makes_arrays=False)(_widen_loop)
