"""A change of many rows at once that can be undone: what it touched, where displaced rows go, whether it pays."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kanopy._arrays import Bytes, Floats, IntRows, Ints, Longs, Words
from kanopy._compiler import Arrays, helper
from kanopy.search.local.best.partition_kernel import WORK, Partition, drop_class, fit, put, take
from kanopy.search.local.joins_kernel import Joins, copy_box, draw, join, joint_weight


@dataclass(frozen=True, eq=False)
class Journal(Arrays):
    """What a change has touched so far: moved items and where they came from, and classes with their old boxes."""

    items: Ints
    origin: Ints
    classes: Ints
    box: IntRows
    weight: Floats
    known: Bytes
    stamp: Ints
    state: Longs


ITEMS, CLASSES, STAMP = 0, 1, 2
FEW = 1000
"""Up to this many classes a row without a home asks all of them."""


def make_journal(items: int, classes: int, width: int) -> Journal:
    """An empty journal."""
    room = 4 * items + 16
    return Journal(
        np.zeros(room, np.int32),
        np.zeros(room, np.int32),
        np.zeros(classes, np.int32),
        np.zeros((classes, width), np.int32),
        np.zeros(classes),
        np.zeros(classes, np.uint8),
        np.zeros(classes, np.int32),
        np.zeros(3, np.int64),
    )


@helper
def begin(journal: Journal) -> None:
    """Start a new change."""
    journal.state[ITEMS] = 0
    journal.state[CLASSES] = 0
    journal.state[STAMP] += 1


@helper
def touch(part: Partition, journal: Journal, c: int) -> float:
    """Note a class's box before it changes; returns the cost it had (0 if noted before)."""
    if journal.stamp[c] == journal.state[STAMP]:
        return 0.0
    journal.stamp[c] = journal.state[STAMP]
    at = journal.state[CLASSES]
    journal.classes[at] = c
    copy_box(part.box, c, journal.box, at)
    journal.weight[at] = part.weight[c]
    journal.known[at] = part.known[c]
    part.known[c] = 0
    journal.state[CLASSES] += 1
    return part.size[c] * part.weight[c]  # type: ignore[no-any-return]


@helper
def move(part: Partition, journal: Journal, item: int, c: int) -> None:
    """Move an item to a class (both touched by the caller)."""
    at = journal.state[ITEMS]
    journal.items[at] = item
    journal.origin[at] = part.class_of[item]
    journal.state[ITEMS] += 1
    take(part, item)
    put(part, c, item)


@helper
def undo(part: Partition, journal: Journal) -> None:
    """Everything back as it was."""
    at = journal.state[ITEMS] - 1
    while at >= 0:
        item = journal.items[at]
        take(part, item)
        put(part, journal.origin[at], item)
        at -= 1
    for i in range(journal.state[CLASSES]):
        c = journal.classes[i]
        copy_box(journal.box, i, part.box, c)
        part.weight[c] = journal.weight[i]
        part.known[c] = journal.known[i]
        if part.size[c] == 0:
            drop_class(part, c)


@helper
def commit(part: Partition, journal: Journal) -> None:
    """Keep the change; emptied classes become free."""
    for i in range(journal.state[CLASSES]):
        c = journal.classes[i]
        if part.size[c] == 0:
            drop_class(part, c)


@helper
def cheapest_home(
    joins: Joins, part: Partition, near: IntRows, k: int, t: int, home: int, fresh: int, random: Words
) -> tuple[float, int]:
    """The least rise in cost when a row of record `t` joins another class than `home`, and that class (-1: none)."""
    best = 1e300
    target = -1
    if fresh >= 0:
        w = joint_weight(joins, part.box, fresh, joins.cells, t)
        best = (part.size[fresh] + 1) * w - part.size[fresh] * part.weight[fresh]
        target = fresh
    most = len(part.size)
    few = most <= FEW
    # Where all classes are asked, those count that are looked at closely.
    part.state[WORK] += 2 + (most >> 5 if few else near.shape[1])
    seen = -1
    for i in range(-1, most - 1 if few else near.shape[1]):
        if few:
            # So few classes that all of them can be asked.
            c = i + 1
        else:
            s = t if i < 0 else near[t, i]
            if s < 0:
                break
            c = part.class_of[part.first[s] + draw(random, part.first[s + 1] - part.first[s])]
            if c < 0 or c == seen:
                continue
            seen = c
        # A row pays at least the weight of the class it joins.
        if part.weight[c] < best and part.size[c] >= k and c != home and c != fresh:
            if few:
                part.state[WORK] += 1
            w = joint_weight(joins, part.box, c, joins.cells, t)
            rise = (part.size[c] + 1) * w - part.size[c] * part.weight[c]
            if rise < best:
                best, target = rise, c
    return best, target


@helper
def rehouse(
    joins: Joins, part: Partition, journal: Journal, near: IntRows, k: int, item: int, fresh: int, random: Words
) -> float:
    """Move an item of a class that is given up to the class where it costs least; returns the cost the target had
    when first touched, or -1 if there is no class to go to."""
    t = part.record[item]
    _, target = cheapest_home(joins, part, near, k, t, part.class_of[item], fresh, random)
    if target < 0:
        return -1.0
    spent = touch(part, journal, target)
    move(part, journal, item, target)
    part.weight[target] = join(joins, part.box, target, joins.cells, t, part.box, target)
    return spent


@helper
def settle(
    joins: Joins, part: Partition, journal: Journal, near: IntRows, k: int, fresh: int, old: float, limit: float,
    random: Words,
) -> float:  # fmt: skip
    """Refit the new class and those that lost rows, give up those below k, and keep the change if it costs less than
    `limit`.

    Returns the change in cost, 0 if it was undone.
    """
    if part.size[fresh] < k:
        undo(part, journal)
        return 0.0
    fit(joins, part, fresh)
    donors = journal.state[CLASSES]
    for i in range(donors):
        c = journal.classes[i]
        if part.size[c] >= k and c != fresh:
            fit(joins, part, c)
    ok = True
    for i in range(donors):
        c = journal.classes[i]
        if part.size[c] >= k or c == fresh:
            continue
        while part.size[c] > 0 and ok:
            spent = rehouse(joins, part, journal, near, k, part.head[c], fresh, random)
            if spent < 0.0:
                ok = False
            else:
                old += spent
        if not ok:
            break
    if ok:
        now = 0.0
        for i in range(journal.state[CLASSES]):
            c = journal.classes[i]
            if part.size[c] > 0:
                now += part.size[c] * part.weight[c]
        if now - old < limit:
            commit(part, journal)
            return now - old
    undo(part, journal)
    return 0.0
