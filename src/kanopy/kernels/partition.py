"""A partition of rows into classes, each with its box: taking a row out and putting one in.

Rows of a class are a doubly linked list. A class keeps one of its records as the representative and, per attribute,
the level at which all its rows agree with it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from kanopy.kernels.boxes import Boxes, Floats, Ints, Longs, Shorts, agreement, box_weight, join, level_weight
from kanopy.kernels.compiler import helper


class Partition(NamedTuple):
    """`record[i]` of item `i` (items of a record are consecutive from `first[t]`); `free` is a stack of unused
    classes, `state[0]` how many there are."""

    record: Ints
    first: Longs
    class_of: Ints
    after: Ints
    before: Ints
    head: Ints
    size: Longs
    rep: Ints
    levels: Shorts
    weight: Floats
    free: Ints
    state: Longs


FREE = 0


@helper
def put(part: Partition, c: int, item: int) -> None:
    """Link an item into a class; the box is the caller's business."""
    top = part.head[c]
    part.after[item] = top
    part.before[item] = -1
    if top >= 0:
        part.before[top] = item
    part.head[c] = item
    part.class_of[item] = c
    part.size[c] += 1


@helper
def take(part: Partition, item: int) -> None:
    """Unlink an item from its class; the box is the caller's business."""
    c = part.class_of[item]
    a, b = part.before[item], part.after[item]
    if a >= 0:
        part.after[a] = b
    else:
        part.head[c] = b
    if b >= 0:
        part.before[b] = a
    part.size[c] -= 1
    part.class_of[item] = -1


@helper
def new_class(part: Partition) -> int:
    """An unused class, empty."""
    part.state[FREE] -= 1
    c = part.free[part.state[FREE]]
    part.head[c] = -1
    part.size[c] = 0
    return c  # type: ignore[no-any-return]


@helper
def drop_class(part: Partition, c: int) -> None:
    """Give an empty class back."""
    part.weight[c] = 0.0
    part.free[part.state[FREE]] = c
    part.state[FREE] += 1


@helper
def fit(boxes: Boxes, part: Partition, c: int) -> None:
    """The smallest box around the rows of a class."""
    item = part.head[c]
    part.rep[c] = part.record[item]
    levels = part.levels[c]
    for j in range(levels.shape[0]):
        levels[j] = 0
    item = part.after[item]
    last = part.rep[c]
    while item >= 0:
        t = part.record[item]
        if t != last:
            join(boxes, part.rep[c], levels, t)
            last = t
        item = part.after[item]
    part.weight[c] = box_weight(boxes, part.rep[c], levels)


@helper
def fit_without(boxes: Boxes, part: Partition, c: int, out: int, levels: Shorts, open_: Longs) -> int:
    """`levels` of the class without one item; returns its representative. Stops as soon as no level can fall."""
    width = levels.shape[0]
    gone = part.record[out]
    ref = part.rep[c]
    changed = gone == ref
    if changed:
        item = part.head[c]
        if item == out:
            item = part.after[item]
        ref = part.record[item]
    count = 0
    for j in range(width):
        level = part.levels[c, j]
        levels[j] = level
        if level > 0 and (changed or agreement(boxes, j, boxes.tuples[ref, j], boxes.tuples[gone, j]) == level):
            open_[count] = j
            count += 1
            levels[j] = 0
    item = part.head[c]
    while item >= 0 and count > 0:
        if item != out:
            t = part.record[item]
            if t == gone:
                # Another row with the same values: nothing changes.
                for j in range(width):
                    levels[j] = part.levels[c, j]
                return part.rep[c]  # type: ignore[no-any-return]
            i = 0
            while i < count:
                j = open_[i]
                level = agreement(boxes, j, boxes.tuples[ref, j], boxes.tuples[t, j])
                if level > levels[j]:
                    levels[j] = level
                    if level == part.levels[c, j]:
                        count -= 1
                        open_[i] = open_[count]
                        continue
                i += 1
        item = part.after[item]
    return ref  # type: ignore[no-any-return]


@helper
def joined_levels(boxes: Boxes, rep: int, levels: Shorts, other: int, result: Shorts) -> float:
    """`result`: the levels of a box widened by a record; returns the weight."""
    total = 0.0
    for j in range(levels.shape[0]):
        a = boxes.tuples[rep, j]
        level = max(levels[j], agreement(boxes, j, a, boxes.tuples[other, j]))
        result[j] = level
        total += level_weight(boxes, j, level, a)
    return total


@helper
def set_box(part: Partition, c: int, rep: int, levels: Shorts, weight: float) -> None:
    """Write down the box of a class."""
    part.rep[c] = rep
    part.weight[c] = weight
    for j in range(levels.shape[0]):
        part.levels[c, j] = levels[j]


def make_partition(
    boxes: Boxes, record: Ints, first: Longs, class_of: Ints, levels: npt.NDArray[np.int32], weight: Floats, rep: Ints,
    most: int,
) -> Partition:  # fmt: skip
    """The partition with the given classes; `most` is how many classes there may ever be (items // k is enough)."""
    count, width = len(rep), boxes.tuples.shape[1]
    most = max(most, count) + 2
    order = np.argsort(class_of, kind="stable").astype(np.int32)
    order = order[np.searchsorted(class_of[order], 0) :]
    sizes = np.bincount(class_of[order], minlength=count)
    ends = np.cumsum(sizes)
    after, before = np.full(len(record), -1, np.int32), np.full(len(record), -1, np.int32)
    same = class_of[order[1:]] == class_of[order[:-1]]
    after[order[:-1][same]] = order[1:][same]
    before[order[1:][same]] = order[:-1][same]
    part = Partition(
        record, first, class_of.copy(), after, before,
        np.full(most, -1, np.int32), np.zeros(most, np.int64), np.zeros(most, np.int32),
        np.zeros((most, width), np.int16), np.zeros(most), np.zeros(most, np.int32), np.zeros(1, np.int64),
    )  # fmt: skip
    part.head[:count] = order[ends - sizes]
    part.size[:count] = sizes
    part.rep[:count] = rep
    part.levels[:count] = levels
    part.weight[:count] = weight
    unused = np.arange(most - 1, count - 1, -1)
    part.free[: len(unused)] = unused
    part.state[FREE] = len(unused)
    return part
