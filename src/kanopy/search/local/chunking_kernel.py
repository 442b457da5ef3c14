"""Top-down splitting of records by hierarchy, one part at a time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kanopy._arrays import Ints, LongRows, Longs
from kanopy._compiler import Arrays, helper, kernel
from kanopy.search.local.boxes_kernel import AT, VALUES, Boxes, agreement


@dataclass(frozen=True, eq=False)
class Parts(Arrays):
    """Room for splitting: a stack of stretches of `order`, group numbers and rows per group, and a second order."""

    stack: LongRows
    group: Ints
    inside: Longs
    moved: Longs


def make_parts(records: int, values: int) -> Parts:
    """Room for splitting a table whose attributes have at most so many values."""
    return Parts(
        np.zeros((records + 1, 2), np.int64),
        np.zeros(records, np.int32),
        np.zeros(values + 1, np.int64),
        np.zeros(records, np.int64),
    )


@helper
def _top_level(boxes: Boxes, order: Longs, begin: int, end: int, j: int) -> int:
    """The lowest level at which all records of a part agree in attribute `j`."""
    level = 0
    value = boxes.tuples[order[begin], j]
    for p in range(begin + 1, end):
        level = max(level, agreement(boxes, j, value, boxes.tuples[order[p], j]))
    return level


@helper
def _gain(
    boxes: Boxes, counts: Longs, order: Longs, begin: int, end: int, j: int, level: int, least: int, inside: Longs
) -> float:
    """The weight saved by going from `level` one down in all children with `least` rows; -1 if that splits nothing."""
    size = boxes.head[j, VALUES]
    below = boxes.head[j, AT] + (level - 1) * size
    for p in range(begin, end):
        inside[boxes.codes[below + boxes.tuples[order[p], j]]] = 0
    for p in range(begin, end):
        inside[boxes.codes[below + boxes.tuples[order[p], j]]] += counts[order[p]]
    gain = 0.0
    rest = 0
    parts = 0
    for p in range(begin, end):
        value = boxes.tuples[order[p], j]
        code = boxes.codes[below + value]
        rows = abs(inside[code])
        if rows >= least:
            gain += counts[order[p]] * (boxes.weights[below + size + value] - boxes.weights[below + value])
        else:
            rest += counts[order[p]]
        if inside[code] > 0:
            # Seen: counted once.
            inside[code] = -inside[code]
            if rows >= least:
                parts += 1
    if rest >= least:
        parts += 1
    return gain if parts >= 2 else -1.0


@helper
def _distribute(
    boxes: Boxes, counts: Longs, order: Longs, begin: int, end: int, j: int, level: int, least: int, parts: Parts
) -> int:
    """Number the groups of a part from 0: children with `least` rows each, the others together, or with the smallest
    of those if they are too few. Returns how many there are; `inside[g]` is where group `g` ends in the new order."""
    size = boxes.head[j, VALUES]
    below = boxes.head[j, AT] + (level - 1) * size
    inside = parts.inside
    for p in range(begin, end):
        inside[boxes.codes[below + boxes.tuples[order[p], j]]] = 0
    for p in range(begin, end):
        inside[boxes.codes[below + boxes.tuples[order[p], j]]] += counts[order[p]]
    rest = 0
    smallest = -1
    for p in range(begin, end):
        code = boxes.codes[below + boxes.tuples[order[p], j]]
        if inside[code] < least:
            rest += counts[order[p]]
        elif smallest < 0 or inside[code] < inside[smallest] or (inside[code] == inside[smallest] and code < smallest):
            smallest = code
    # From rows per child to group numbers, written as -1 - group.
    groups = 1 if rest >= least else 0
    for p in range(begin, end):
        code = boxes.codes[below + boxes.tuples[order[p], j]]
        if inside[code] >= least:
            inside[code] = -1 - groups
            groups += 1
    for p in range(begin, end):
        code = boxes.codes[below + boxes.tuples[order[p], j]]
        if inside[code] < 0:
            parts.group[p] = -1 - inside[code]
        elif rest >= least:
            parts.group[p] = 0
        else:
            parts.group[p] = -1 - inside[smallest]
    return groups


@kernel(makes_arrays=False)
def chunk(
    boxes: Boxes, counts: Longs, order: Longs, waiting: int, rows: int, least: int, parts: Parts, starts: Longs
) -> int:
    """Split the `waiting` stretches on the stack into chunks of about `rows` rows, reordering `order` within each.

    `starts[c]` becomes the place where chunk `c` begins, in no order; returns how many chunks there are. A part is
    split along the attribute where going one level down saves most weight; children with fewer than `least` rows stay
    together. Parts that no attribute splits are cut in the middle.
    """
    width = boxes.tuples.shape[1]
    stack = parts.stack
    chunks = 0
    while waiting > 0:
        waiting -= 1
        begin, end = stack[waiting, 0], stack[waiting, 1]
        total = 0
        for p in range(begin, end):
            total += counts[order[p]]
        best = 0.0
        chosen = -1
        at_level = 0
        if total > rows and end - begin >= 4:
            for j in range(width):
                level = _top_level(boxes, order, begin, end, j)
                if level > 0:
                    gain = _gain(boxes, counts, order, begin, end, j, level, least, parts.inside)
                    if gain > best:
                        best, chosen, at_level = gain, j, level
            if chosen < 0:
                # Nothing to split by: cut as evenly as whole records allow.
                middle = begin
                so_far = 0
                while middle < end - 1 and 2 * so_far < total:
                    so_far += counts[order[middle]]
                    middle += 1
                if so_far >= least and total - so_far >= least:
                    stack[waiting, 0], stack[waiting, 1] = begin, middle
                    stack[waiting + 1, 0], stack[waiting + 1, 1] = middle, end
                    waiting += 2
                    continue
        if chosen < 0:
            starts[chunks] = begin
            chunks += 1
            continue
        groups = _distribute(boxes, counts, order, begin, end, chosen, at_level, least, parts)
        for g in range(groups):
            parts.inside[g] = 0
        for p in range(begin, end):
            parts.inside[parts.group[p]] += 1
        at = begin
        for g in range(groups):
            stack[waiting + g, 0] = at
            at += parts.inside[g]
            parts.inside[g] = stack[waiting + g, 0]
            stack[waiting + g, 1] = at
        for p in range(begin, end):
            g = parts.group[p]
            parts.moved[parts.inside[g]] = order[p]
            parts.inside[g] += 1
        for p in range(begin, end):
            order[p] = parts.moved[p]
        waiting += groups
    return chunks
