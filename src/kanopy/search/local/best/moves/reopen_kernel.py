"""Open a whole new class around a row from its nearest rows, or dissolve one; keep the change if it pays."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kanopy._arrays import Bytes, Floats, IntRows, Ints, Longs, WordRows, Words
from kanopy._compiler import Arrays, helper, kernel
from kanopy.search.local.best.moves.journal_kernel import (
    CLASSES,
    Journal,
    begin,
    commit,
    move,
    rehouse,
    settle,
    touch,
    undo,
)
from kanopy.search.local.best.partition_kernel import WORK, Partition, new_class
from kanopy.search.local.joins_kernel import OWN, Joins, copy_box, draw, join, joint_weight, own_weight


@dataclass(frozen=True, eq=False)
class Look(Arrays):
    """Room for looking around a row. Levels of agreement with it are packed into words, a field per attribute with its
    highest bit free, so that a few operations compare all attributes at once.

    Per near record (the row's own first): the box around both, its weight and levels. Per near row: its item, what it
    pays now, whether its class can spare it, and the levels again. `word`, `shift` place an attribute's field; `full`
    has the free bits of every field set.
    """

    box: IntRows
    weight: Floats
    levels: WordRows
    item: Ints
    paid: Floats
    spare: Bytes
    row_levels: WordRows
    word: Longs
    shift: Longs
    full: Words
    field: Longs


def make_look(degree: int, width: int, deepest: int) -> Look:
    """Room for `degree` near records; more than 127 levels are taken for 127 (only the choice of boxes gets worse)."""
    bits = 4 if deepest <= 8 else 8
    fields = 64 // bits
    words = (width + fields - 1) // fields
    rows = 4 * degree + 8
    full = np.zeros(words, np.uint64)
    for j in range(width):
        full[j // fields] |= np.uint64(1 << (j % fields * bits + bits - 1))
    return Look(
        np.zeros((degree + 2, width), np.int32), np.zeros(degree + 1), np.zeros((degree + 2, words), np.uint64),
        np.zeros(rows, np.int32), np.zeros(rows), np.zeros(rows, np.uint8), np.zeros((words, rows), np.uint64),
        np.arange(width) // fields, np.arange(width) % fields * bits, full, np.array([bits, 2 ** (bits - 1) - 1]),
    )  # fmt: skip


@helper
def _pack(joins: Joins, look: Look, e: int) -> None:
    """The levels of the box of entry `e`."""
    for i in range(look.levels.shape[1]):
        look.levels[e, i] = np.uint64(0)
    for j in range(look.box.shape[1]):
        level = min(joins.level[joins.head[j, OWN] + look.box[e, j]], look.field[1])
        look.levels[e, look.word[j]] |= np.uint64(level) << np.uint64(look.shift[j])


@helper
def _within(look: Look, r: int, e: int) -> bool:
    """Whether row `r` lies in the box of entry `e`."""
    for i in range(look.levels.shape[1]):
        full = look.full[i]
        if ((look.levels[e, i] | full) - look.row_levels[i, r]) & full != full:
            return False
    return True


@helper
def _look_around_row(joins: Joins, part: Partition, near: IntRows, look: Look, t: int, k: int) -> tuple[int, int]:
    """Note the near records of record `t` and their rows; returns how many entries and rows there are."""
    entries = 0
    rows = 0
    room = len(look.item)
    for i in range(-1, near.shape[1]):
        s = t if i < 0 else near[t, i]
        if s < 0:
            break
        look.weight[entries] = join(joins, joins.cells, t, joins.cells, s, look.box, entries)
        _pack(joins, look, entries)
        for y in range(part.first[s], part.first[s + 1]):
            c = part.class_of[y]
            if c >= 0 and rows < room:
                look.item[rows] = y
                look.paid[rows] = part.weight[c]
                look.spare[rows] = 1 if part.size[c] > k else 0
                for w in range(look.levels.shape[1]):
                    look.row_levels[w, rows] = look.levels[entries, w]
                rows += 1
        entries += 1
    return entries, rows


@helper
def _worth(look: Look, e: int, rows: int, weight: float, k: int) -> float:
    """What the near rows would save in the box of entry `e`; very negative if they are fewer than k."""
    gain = 0.0
    taken = 0
    spare = 0
    spare_paid = 0.0
    for r in range(rows):
        if _within(look, r, e):
            if look.paid[r] > weight:
                gain += look.paid[r] - weight
                taken += 1
            elif look.spare[r] != 0:
                spare += 1
                spare_paid += look.paid[r]
    if taken >= k:
        return gain
    if taken + spare < k:
        return -1e300
    # The missing rows come from classes where they pay less.
    return gain - (k - taken) * (weight - spare_paid / spare)


@kernel(makes_arrays=False)
def reopen(
    joins: Joins, part: Partition, journal: Journal, look: Look, near: IntRows, k: int, heat: float, steps: int,
    random: Words, logs: Floats, stats: Longs,
) -> float:  # fmt: skip
    """Try `steps` times to open a class around a random row from its nearest rows; returns the change in cost."""
    items = len(part.record)
    gained = 0.0
    part.state[WORK] += steps
    for _ in range(steps):
        x = draw(random, items)
        a = part.class_of[x]
        # Of two random rows the one that pays more: there is more to gain.
        other = draw(random, items)
        b = part.class_of[other]
        if b >= 0 and (a < 0 or part.weight[b] > part.weight[a]):
            x, a = other, b
        if a < 0 or part.weight[a] <= 0.0:
            continue
        if part.state[0] == 0:
            break
        t = part.record[x]
        limit = heat * logs[draw(random, 1024)]
        entries, rows = _look_around_row(joins, part, near, look, t, k)
        part.state[WORK] += 3 * entries
        if entries < 2 or rows < k:
            continue
        # The boxes around t that one or two near records span, each judged by the near rows that would pay less.
        trial_at = look.levels.shape[0] - 1
        best = -1e300
        one_best = -1
        two_best = -1
        for trial in range(2 * entries):
            one = trial
            two = -1
            if trial < entries:
                w = look.weight[one]
                e = one
            else:
                one = draw(random, entries)
                two = draw(random, entries)
                w = joint_weight(joins, look.box, one, look.box, two)
                part.state[WORK] += 1
                e = trial_at
            if w >= part.weight[a]:
                continue
            if two >= 0:
                for i in range(look.levels.shape[1]):
                    # Fields of one where they are larger, else those of two.
                    full = look.full[i]
                    larger = ((look.levels[one, i] | full) - look.levels[two, i]) & full
                    mask = larger - (larger >> np.uint64(look.field[0] - 1))
                    look.levels[e, i] = (look.levels[one, i] & mask) | (look.levels[two, i] & ~mask)
            part.state[WORK] += 1 + (rows >> 3)
            gain = _worth(look, e, rows, w, k)
            if gain > best:
                best, one_best, two_best = gain, one, two
        if best <= -limit:
            continue
        stats[4] += 1
        part.state[WORK] += rows
        begin(journal)
        fresh = new_class(part)
        touch(part, journal, fresh)
        if two_best < 0:
            copy_box(look.box, one_best, part.box, fresh)
        else:
            join(joins, look.box, one_best, look.box, two_best, part.box, fresh)
        copy_box(part.box, fresh, look.box, trial_at)
        _pack(joins, look, trial_at)
        w = own_weight(joins, part.box, fresh)
        part.weight[fresh] = w
        old = 0.0
        # First the rows that pay more where they are, then, if they are too few, rows that classes can spare.
        for wanted in range(2):
            for r in range(rows):
                if not _within(look, r, trial_at):
                    continue
                y = look.item[r]
                c = part.class_of[y]
                if c != fresh and (
                    (wanted == 0 and look.paid[r] > w) or (wanted == 1 and part.size[fresh] < k and part.size[c] > k)
                ):
                    old += touch(part, journal, c)
                    move(part, journal, y, fresh)
            if part.size[fresh] >= k:
                break
        change = settle(joins, part, journal, near, k, fresh, old, limit, random)
        if change != 0.0:
            stats[5] += 1
            gained += change
    return gained


@kernel(makes_arrays=False)
def dissolve(
    joins: Joins, part: Partition, journal: Journal, near: IntRows, k: int, heat: float, steps: int, random: Words,
    logs: Floats, stats: Longs,
) -> float:  # fmt: skip
    """Try `steps` times to give up the class of a random row; returns the change in cost."""
    items = len(part.record)
    gained = 0.0
    part.state[WORK] += steps
    for _ in range(steps):
        a = part.class_of[draw(random, items)]
        if a < 0 or part.weight[a] <= 0.0:
            continue
        limit = heat * logs[draw(random, 1024)]
        begin(journal)
        old = touch(part, journal, a)
        ok = True
        while part.size[a] > 0 and ok:
            spent = rehouse(joins, part, journal, near, k, part.head[a], -1, random)
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
            stats[10] += 1
        else:
            undo(part, journal)
    return gained
