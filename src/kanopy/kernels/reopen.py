"""Open a whole new class around a row, or dissolve one; keep the change if it pays, undo it if not."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from kanopy.kernels.boxes import (
    Boxes,
    Floats,
    Ints,
    Longs,
    Random,
    Shorts,
    agreement,
    level_weight,
    next_random,
    weight_with,
)
from kanopy.kernels.compiler import helper, kernel
from kanopy.kernels.partition import Partition, drop_class, fit, joined_levels, new_class, put, set_box, take


class Journal(NamedTuple):
    """What a change has touched so far: moved items and where they came from, and classes with their old boxes."""

    items: Ints
    origin: Ints
    classes: Ints
    rep: Ints
    levels: Shorts
    weight: Floats
    stamp: Ints
    state: Longs


ITEMS, CLASSES, STAMP = 0, 1, 2
FEW = 400
"""Up to this many classes a row without a home asks all of them."""


def make_journal(items: int, classes: int, width: int) -> Journal:
    """An empty journal."""
    room = 4 * items + 16
    return Journal(
        np.zeros(room, np.int32),
        np.zeros(room, np.int32),
        np.zeros(classes, np.int32),
        np.zeros(classes, np.int32),
        np.zeros((classes, width), np.int16),
        np.zeros(classes),
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
    journal.rep[at] = part.rep[c]
    journal.weight[at] = part.weight[c]
    for j in range(part.levels.shape[1]):
        journal.levels[at, j] = part.levels[c, j]
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
        part.rep[c] = journal.rep[i]
        part.weight[c] = journal.weight[i]
        for j in range(part.levels.shape[1]):
            part.levels[c, j] = journal.levels[i, j]
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
def rehouse(
    boxes: Boxes,
    part: Partition,
    journal: Journal,
    near: Ints,
    k: int,
    item: int,
    fresh: int,
    more: Shorts,
    random: Random,
) -> float:
    """Move an item of a class that is given up to the class where it costs least; returns the cost the target had
    when first touched, or -1 if there is no class to go to."""
    t = part.record[item]
    home = part.class_of[item]
    best = 1e300
    target = -1
    if fresh >= 0:
        w = weight_with(boxes, part.rep[fresh], part.levels[fresh], t)
        best = (part.size[fresh] + 1) * w - part.size[fresh] * part.weight[fresh]
        target = fresh
    most = len(part.size)
    if most <= FEW:
        # So few classes that all of them can be asked.
        for c in range(most):
            if part.size[c] >= k and c != home and c != fresh:
                w = weight_with(boxes, part.rep[c], part.levels[c], t)
                rise = (part.size[c] + 1) * w - part.size[c] * part.weight[c]
                if rise < best:
                    best, target = rise, c
    else:
        seen = -1
        for i in range(-1, near.shape[1]):
            s = t if i < 0 else near[t, i]
            if s < 0:
                break
            y = part.first[s] + next_random(random) % (part.first[s + 1] - part.first[s])
            c = part.class_of[y]
            if c < 0 or c == home or c == seen or c == fresh or part.size[c] < k:  # noqa: SIM109
                continue
            seen = c
            w = weight_with(boxes, part.rep[c], part.levels[c], t)
            rise = (part.size[c] + 1) * w - part.size[c] * part.weight[c]
            if rise < best:
                best, target = rise, c
    if target < 0:
        return -1.0
    spent = touch(part, journal, target)
    move(part, journal, item, target)
    w = joined_levels(boxes, part.rep[target], part.levels[target], t, more)
    set_box(part, target, part.rep[target], more, w)
    return spent


@helper
def settle(
    boxes: Boxes, part: Partition, journal: Journal, near: Ints, k: int, fresh: int, old: float, limit: float,
    more: Shorts, random: Random,
) -> float:  # fmt: skip
    """Refit the classes that lost rows, give up those below k, and keep the change if its cost is below `limit`.

    Returns the change in cost, 0 if it was undone.
    """
    donors = journal.state[CLASSES]
    for i in range(donors):
        c = journal.classes[i]
        if part.size[c] >= k and c != fresh:
            fit(boxes, part, c)
    ok = True
    for i in range(donors):
        c = journal.classes[i]
        if part.size[c] >= k or c == fresh:
            continue
        while part.size[c] > 0 and ok:
            spent = rehouse(boxes, part, journal, near, k, part.head[c], fresh, more, random)
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


def _reopen_loop(
    boxes: Boxes, part: Partition, journal: Journal, near: Ints, k: int, heat: float, steps: int, random: Random,
    logs: Floats, stats: Longs,
) -> float:  # fmt: skip
    """Try `steps` times to open a class around a random row from its nearest rows; returns the change in cost."""
    width = boxes.tuples.shape[1]
    items = len(part.record)
    degree = near.shape[1]
    more = np.zeros(width, np.int16)
    agreed = np.zeros((degree + 1, width), np.int16)
    chosen = np.zeros(width, np.int16)
    gained = 0.0
    for _ in range(steps):
        x = next_random(random) % items
        a = part.class_of[x]
        # Of two random rows the one that pays more: there is more to gain.
        other = next_random(random) % items
        b = part.class_of[other]
        if b >= 0 and (a < 0 or part.weight[b] > part.weight[a]):
            x, a = other, b
        if a < 0 or part.weight[a] <= 0.0:
            continue
        if part.state[0] == 0:
            break
        t = part.record[x]
        limit = heat * logs[next_random(random) & 1023]
        count = 0
        for i in range(degree):
            s = near[t, i]
            if s < 0:
                break
            for j in range(width):
                agreed[i, j] = agreement(boxes, j, boxes.tuples[t, j], boxes.tuples[s, j])
            count += 1
        # The boxes around t that one or two near records span, each judged by the near rows that would pay less.
        best = -1e300
        found = False
        for trial in range(count + count // 2):
            one = trial % count
            two = one if trial < count else next_random(random) % count
            w = 0.0
            for j in range(width):
                more[j] = max(agreed[one, j], agreed[two, j])
                w += level_weight(boxes, j, more[j], boxes.tuples[t, j])
            if w >= part.weight[a] * 1.5:
                continue
            rows = 0
            spare = 0
            spare_paid = 0.0
            gain = 0.0
            for i in range(-1, count):
                s = t
                inside = True
                if i >= 0:
                    s = near[t, i]
                    for j in range(width):
                        if agreed[i, j] > more[j]:
                            inside = False
                            break
                if inside:
                    for y in range(part.first[s], part.first[s + 1]):
                        c = part.class_of[y]
                        if c >= 0 and part.weight[c] > w:
                            gain += part.weight[c] - w
                            rows += 1
                        elif c >= 0 and part.size[c] > k:
                            spare += 1
                            spare_paid += part.weight[c]
            if rows < k:
                # The missing rows come from classes where they pay less than w.
                if rows + spare < k:
                    continue
                gain -= (k - rows) * (w - spare_paid / spare)
            if gain > best:
                best = gain
                found = True
                for j in range(width):
                    chosen[j] = more[j]
        if not found or best <= -limit:
            continue
        stats[3] += 1
        w = 0.0
        for j in range(width):
            w += level_weight(boxes, j, chosen[j], boxes.tuples[t, j])
        begin(journal)
        fresh = new_class(part)
        set_box(part, fresh, t, chosen, w)
        touch(part, journal, fresh)
        old = 0.0
        # First the rows that pay more where they are, then, if they are too few, rows that classes can spare.
        for wanted in range(2):
            for i in range(-1, count):
                s = t
                inside = True
                if i >= 0:
                    s = near[t, i]
                    for j in range(width):
                        if agreed[i, j] > chosen[j]:
                            inside = False
                            break
                if not inside:
                    continue
                for y in range(part.first[s], part.first[s + 1]):
                    c = part.class_of[y]
                    if c < 0 or c == fresh:
                        continue
                    if (wanted == 0 and part.weight[c] > w) or (
                        wanted == 1 and part.size[fresh] < k and part.size[c] > k
                    ):
                        old += touch(part, journal, c)
                        move(part, journal, y, fresh)
            if part.size[fresh] >= k:
                break
        if part.size[fresh] < k:
            undo(part, journal)
            continue
        fit(boxes, part, fresh)
        change = settle(boxes, part, journal, near, k, fresh, old, limit, more, random)
        if change != 0.0:
            stats[4] += 1
            gained += change
    return gained


reopen = kernel(_reopen_loop)(_reopen_loop)


def _dissolve_loop(
    boxes: Boxes, part: Partition, journal: Journal, near: Ints, k: int, heat: float, steps: int, random: Random,
    logs: Floats, stats: Longs,
) -> float:  # fmt: skip
    """Try `steps` times to give up the class of a random row; returns the change in cost."""
    items = len(part.record)
    more = np.zeros(boxes.tuples.shape[1], np.int16)
    gained = 0.0
    for _ in range(steps):
        x = next_random(random) % items
        a = part.class_of[x]
        if a < 0 or part.weight[a] <= 0.0:
            continue
        limit = heat * logs[next_random(random) & 1023]
        begin(journal)
        old = touch(part, journal, a)
        ok = True
        stats[9] += 1
        while part.size[a] > 0 and ok:
            spent = rehouse(boxes, part, journal, near, k, part.head[a], -1, more, random)
            if spent < 0.0:
                ok = False
            else:
                old += spent
        now = 0.0
        for i in range(journal.state[CLASSES]):
            c = journal.classes[i]
            now += part.size[c] * part.weight[c]
        if ok and now - old < limit:
            commit(part, journal)
            gained += now - old
        else:
            undo(part, journal)
    return gained


dissolve = kernel(_dissolve_loop)(_dissolve_loop)
