"""Which levels a look over the lattice tells apart, where telling all apart would be too many combinations."""

from __future__ import annotations

from kanopy._arrays import LongRows, Longs, Words
from kanopy._compiler import helper
from kanopy.search.local.boxes_kernel import LEVELS, Boxes
from kanopy.search.local.joins_kernel import draw


@helper
def few_levels(boxes: Boxes, room: int, random: Words, kept: LongRows, place: LongRows, number: Longs) -> int:
    """Choose levels per attribute so that their combinations fit in `room`; returns how many there are.

    `kept[j, i]` is the i-th of the `number[j]` levels kept, `place[j, level]` the first kept one that is not below a
    level. The top is always kept; of the others each is kept with equal chance.
    """
    width = boxes.tuples.shape[1]
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
            if level == levels - 1 or (left > 0 and draw(random, levels - 1 - level) < left):
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
