"""A partition of rows into classes, each with its box: taking a row out and putting one in.

Rows of a class are a doubly linked list. Beside its box a class may know, per row, the box it would have without that
row (`lean`): then judging a move or a swap is one lookup per attribute and class.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kanopy._arrays import Bytes, Floats, IntRows, Ints, Longs
from kanopy._compiler import Arrays, helper, kernel
from kanopy.search.local.joins_kernel import Joins, copy_box, join, own_weight


@dataclass(frozen=True, eq=False)
class Partition(Arrays):
    """`record[i]` of item `i` (items of a record are consecutive from `first[t]`); `free` is a stack of unused
    classes, `state[0]` how many there are; `state[1]` counts the boxes looked at, which is what work is measured by.
    `lean` and `lean_weight` hold while `known[c]`; `spare` is room for a box."""

    record: Ints
    first: Longs
    class_of: Ints
    after: Ints
    before: Ints
    head: Ints
    size: Longs
    box: IntRows
    weight: Floats
    lean: IntRows
    lean_weight: Floats
    known: Bytes
    free: Ints
    state: Longs
    spare: IntRows


FREE, WORK = 0, 1


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
    part.known[c] = 0
    return c  # type: ignore[no-any-return]


@helper
def drop_class(part: Partition, c: int) -> None:
    """Give an empty class back."""
    part.weight[c] = 0.0
    part.free[part.state[FREE]] = c
    part.state[FREE] += 1


@helper
def fit(joins: Joins, part: Partition, c: int) -> None:
    """The smallest box around the rows of a class."""
    item = part.head[c]
    last = part.record[item]
    copy_box(joins.cells, last, part.box, c)
    weight = own_weight(joins, part.box, c)
    item = part.after[item]
    while item >= 0:
        t = part.record[item]
        if t != last:
            weight = join(joins, part.box, c, joins.cells, t, part.box, c)
            last = t
        item = part.after[item]
    part.weight[c] = weight
    part.known[c] = 0
    part.state[WORK] += part.size[c]


@helper
def learn(joins: Joins, part: Partition, c: int) -> None:
    """Find the boxes of a class without each one of its (two or more) rows: boxes of all before it and all after it."""
    if part.known[c] != 0:
        return
    part.known[c] = 1
    part.state[WORK] += 3 * part.size[c]
    first = part.head[c]
    last = first
    item = part.after[first]
    while item >= 0:
        if last == first:
            copy_box(joins.cells, part.record[first], part.lean, item)
        else:
            join(joins, part.lean, last, joins.cells, part.record[last], part.lean, item)
        last = item
        item = part.after[item]
    part.lean_weight[last] = own_weight(joins, part.lean, last)
    copy_box(joins.cells, part.record[last], part.spare, 0)
    item = part.before[last]
    while item >= 0:
        if item == first:
            copy_box(part.spare, 0, part.lean, item)
            part.lean_weight[item] = own_weight(joins, part.lean, item)
        else:
            part.lean_weight[item] = join(joins, part.lean, item, part.spare, 0, part.lean, item)
            join(joins, part.spare, 0, joins.cells, part.record[item], part.spare, 0)
        item = part.before[item]


@kernel(makes_arrays=False)
def fit_all(joins: Joins, part: Partition) -> None:
    """Fit the boxes of all classes."""
    for c in range(len(part.size)):
        if part.size[c] > 0:
            fit(joins, part, c)


@kernel(makes_arrays=False)
def learn_all(joins: Joins, part: Partition) -> None:
    """Find the boxes of all classes without each one of their rows."""
    for c in range(len(part.size)):
        if part.size[c] > 1:
            learn(joins, part, c)


def make_partition(joins: Joins, record: Ints, first: Longs, class_of: Ints, most: int) -> Partition:
    """The partition with the given classes, their boxes fitted; `most`: how many classes there may ever be."""
    count, width = int(class_of.max(initial=-1)) + 1, joins.cells.shape[1]
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
        np.full(most, -1, np.int32), np.zeros(most, np.int64), np.zeros((most, width), np.int32), np.zeros(most),
        np.zeros((len(record), width), np.int32), np.zeros(len(record)), np.zeros(most, np.uint8),
        np.zeros(most, np.int32), np.zeros(2, np.int64), np.zeros((1, width), np.int32),
    )  # fmt: skip
    part.head[:count] = order[ends - sizes]
    part.size[:count] = sizes
    unused = np.arange(most - 1, count - 1, -1)
    part.free[: len(unused)] = unused
    part.state[FREE] = len(unused)
    fit_all(joins, part)
    return part
