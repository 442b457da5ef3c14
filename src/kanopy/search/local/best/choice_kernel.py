"""Choose which boxes of many are open: every row pays the weight of an open one that holds it, each keeps k rows.

Boxes stay as they are, so a row moves at the price of two numbers, and rows that are missing somewhere come by chains
of moves from where there are too many: a chain costs what its ends weigh (a flow; Ahuja, Magnanti, Orlin 1993). So a
box can be opened without giving up the classes its rows come from, and a few boxes take the place of others at once.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kanopy._arrays import Bytes, Floats, Ints, Longs, Words
from kanopy._compiler import Arrays, helper, kernel
from kanopy.search.local.joins_kernel import draw

MOST_REACHED, MOST_SCANNED = 16, 64
"""Boxes from which a search for a chain goes on, and records that it looks at in each."""
MOST_CLOSED, MOST_OPENED = 2, 2
"""Boxes that may be closed where one is opened, and the other way round."""


@dataclass(frozen=True, eq=False)
class Choice(Arrays):
    """Boxes by rising weight: `record[start[b]:start[b + 1]]` are the records in box `b`, `around[at[t]:at[t + 1]]` the
    boxes around record `t`, whose items are those from `first[t]` on. `home` is the open box of an item (-1: it is in
    none), `size` counts the items of a box.

    The rest is room. What a change has done so far: items moved, where they were, boxes opened or closed, boxes that
    lost rows and the change that they last lost some in. A search for chains: boxes in the order of being reached and
    by which search, the item that would move, and to where. `state`: counters of the four, and of work.
    """

    weight: Floats
    start: Longs
    record: Ints
    at: Longs
    around: Ints
    first: Longs
    home: Ints
    size: Longs
    is_open: Bytes
    moved: Ints
    origin: Ints
    toggled: Ints
    losers: Ints
    lost_in: Longs
    queue: Ints
    reached_by: Longs
    via: Ints
    towards: Ints
    state: Longs


MOVED, TOGGLED, LOSERS, CHANGE, SEARCH, WORK = range(6)


def make_choice(weight: Floats, start: Longs, record: Ints, first: Longs, home: Ints, k: int) -> Choice:
    """Boxes by rising weight, of which those are open that are somebody's home."""
    count = len(weight)
    box = np.repeat(np.arange(count, dtype=np.int32), np.diff(start))
    at = np.concatenate([[0], np.cumsum(np.bincount(record, minlength=len(first) - 1))]).astype(np.int64)
    size = np.bincount(home[home >= 0], minlength=count).astype(np.int64)
    moves = 3 * len(home) + 2 * _most_filled(k)
    return Choice(
        weight, start, record, at, box[np.argsort(record, kind="stable")], first, home.astype(np.int32), size,
        (size > 0).astype(np.uint8), np.zeros(moves, np.int32), np.zeros(moves, np.int32),
        np.zeros(2 * count + 8, np.int32), np.zeros(count, np.int32), np.zeros(count, np.int64),
        np.zeros(count, np.int32), np.zeros(count, np.int64), np.zeros(count, np.int32), np.zeros(count, np.int32),
        np.zeros(6, np.int64),
    )  # fmt: skip


@helper
def _most_filled(k: int) -> int:
    """Moves that it takes to fill or to close a box with fewer than k rows, at most."""
    return (MOST_REACHED + 2) * k


@helper
def _note_loss(on: Choice, b: int) -> None:
    if on.lost_in[b] != on.state[CHANGE]:
        on.lost_in[b] = on.state[CHANGE]
        on.losers[on.state[LOSERS]] = b
        on.state[LOSERS] += 1


@helper
def _shift(on: Choice, item: int, b: int) -> float:
    """Move an item to an open box; what that costs."""
    a, m = on.home[item], on.state[MOVED]
    on.moved[m] = item
    on.origin[m] = a
    on.state[MOVED] = m + 1
    on.home[item] = b
    on.size[a] -= 1
    on.size[b] += 1
    _note_loss(on, a)
    return on.weight[b] - on.weight[a]  # type: ignore[no-any-return]


@helper
def _toggle(on: Choice, b: int) -> None:
    on.is_open[b] = 1 - on.is_open[b]
    on.toggled[on.state[TOGGLED]] = b
    on.state[TOGGLED] += 1


@helper
def _begin(on: Choice) -> None:
    on.state[MOVED] = 0
    on.state[TOGGLED] = 0
    on.state[LOSERS] = 0
    on.state[CHANGE] += 1


@helper
def _back_to(on: Choice, moved: int, toggled: int) -> None:
    """Undo what came after so many moves and toggles."""
    m = on.state[MOVED] - 1
    on.state[WORK] += max(0, m - moved) << 1
    while m >= moved:
        item = on.moved[m]
        on.size[on.home[item]] -= 1
        on.home[item] = on.origin[m]
        on.size[on.origin[m]] += 1
        m -= 1
    on.state[MOVED] = moved
    m = on.state[TOGGLED] - 1
    while m >= toggled:
        b = on.toggled[m]
        on.is_open[b] = 1 - on.is_open[b]
        m -= 1
    on.state[TOGGLED] = toggled


@helper
def _lightest(on: Choice, t: int, but: int) -> int:
    """The lightest open box around a record other than `but`; -1 if there is none."""
    for p in range(on.at[t], on.at[t + 1]):
        b = on.around[p]
        if on.is_open[b] != 0 and b != but:
            on.state[WORK] += p - on.at[t]
            return b  # type: ignore[no-any-return]
    on.state[WORK] += on.at[t + 1] - on.at[t]
    return -1


@helper
def _source(on: Choice, target: int, k: int, random: Words) -> int:
    """The heaviest box with more than k rows from which a chain leads to the target, as far as is looked; -1: none."""
    on.state[SEARCH] += 1
    mark = on.state[SEARCH]
    on.reached_by[target] = mark
    on.queue[0] = target
    found = 1
    at = 0
    best = -1
    while at < found and at < MOST_REACHED:
        b = on.queue[at]
        at += 1
        begin, held = on.start[b], on.start[b + 1] - on.start[b]
        p = draw(random, held) if held > MOST_SCANNED else 0
        looked = min(held, MOST_SCANNED)
        on.state[WORK] += looked
        for _ in range(looked):
            t = on.record[begin + p]
            p = p + 1 if p + 1 < held else 0
            on.state[WORK] += (on.first[t + 1] - on.first[t]) >> 1
            for y in range(on.first[t], on.first[t + 1]):
                c = on.home[y]
                if c >= 0 and on.reached_by[c] != mark:
                    on.reached_by[c] = mark
                    on.via[c] = y
                    on.towards[c] = b
                    on.queue[found] = c
                    found += 1
                    if on.size[c] > k and c > best:
                        best = c
    return best


@helper
def _fill(on: Choice, target: int, k: int, limit: float, random: Words) -> float:
    """Bring rows to a box until it has k; what that costs, infinite if it cannot be done or costs `limit` or more."""
    cost = 0.0
    while on.size[target] < k:
        c = _source(on, target, k, random)
        if c < 0:
            return np.inf
        while c != target:
            b = on.towards[c]
            cost += _shift(on, on.via[c], b)
            c = b
        if cost >= limit:
            return np.inf
    return cost


@helper
def _close(on: Choice, b: int) -> float:
    """Close a box: its rows go to the lightest ones; what that costs, infinite if a row has nowhere to go."""
    _toggle(on, b)
    cost = 0.0
    p = on.start[b]
    while on.size[b] > 0:
        t = on.record[p]
        p += 1
        on.state[WORK] += 1 + ((on.first[t + 1] - on.first[t]) >> 1)
        for y in range(on.first[t], on.first[t + 1]):
            if on.home[y] == b:
                c = _lightest(on, t, b)
                if c < 0:
                    return np.inf
                cost += _shift(on, y, c)
    return cost


@helper
def _take(on: Choice, b: int) -> float:
    """Bring all rows to a box that pay more elsewhere; what that costs."""
    cost = 0.0
    on.state[WORK] += on.start[b + 1] - on.start[b]
    for p in range(on.start[b], on.start[b + 1]):
        t = on.record[p]
        on.state[WORK] += (on.first[t + 1] - on.first[t]) >> 1
        for y in range(on.first[t], on.first[t + 1]):
            if on.home[y] > b:
                cost += _shift(on, y, b)
    return cost


@helper
def _repair(on: Choice, k: int, cost: float, limit: float, random: Words) -> float:
    """Fill or close the boxes with too few rows, whichever is cheaper; what everything costs, infinite if `limit` or
    more."""
    i = 0
    while i < on.state[LOSERS]:
        b = on.losers[i]
        i += 1
        if on.is_open[b] == 0 or on.size[b] >= k:
            continue
        moved, toggled = on.state[MOVED], on.state[TOGGLED]
        if cost >= limit or moved + 2 * _most_filled(k) > len(on.moved) or toggled + 2 > len(on.toggled):
            return np.inf
        closing = _close(on, b)
        if closing <= 0.0:
            cost += closing
            continue
        _back_to(on, moved, toggled)
        filling = _fill(on, b, k, closing, random)
        if filling == np.inf:
            if closing == np.inf:
                return np.inf
            _back_to(on, moved, toggled)
            filling = _close(on, b)
        cost += filling
    return cost if cost < limit else np.inf


@helper
def _change(on: Choice, b: int, k: int, limit: float, random: Words) -> float:
    """Open a closed box and close some around it, or close an open one and open some; what that costs, 0 if it was
    undone because it costs `limit` or more."""
    _begin(on)
    cost = 0.0
    if on.is_open[b] == 0:
        _toggle(on, b)
        for _ in range(draw(random, MOST_CLOSED + 1)):
            t = on.record[on.start[b] + draw(random, on.start[b + 1] - on.start[b])]
            a = on.home[on.first[t] + draw(random, on.first[t + 1] - on.first[t])]
            if a >= 0 and a != b and cost < np.inf:
                cost += _close(on, a)
        fresh = 1
    else:
        for _ in range(1 + draw(random, MOST_OPENED)):
            t = on.record[on.start[b] + draw(random, on.start[b + 1] - on.start[b])]
            a = on.around[on.at[t] + draw(random, on.at[t + 1] - on.at[t])]
            if on.is_open[a] == 0:
                _toggle(on, a)
        fresh = on.state[TOGGLED]
        cost = _close(on, b)
    for i in range(fresh):
        a = on.toggled[i]
        if cost < np.inf and on.is_open[a] != 0:
            cost += _take(on, a)
    if cost < np.inf:
        for i in range(fresh):
            _note_loss(on, on.toggled[i])
        cost = _repair(on, k, cost, limit, random)
    if cost < limit:
        return cost
    _back_to(on, 0, 0)
    return 0.0


@kernel(makes_arrays=False)
def choose(on: Choice, k: int, heat: float, steps: int, random: Words, logs: Floats, stats: Longs) -> float:
    """Try `steps` times to open or close a random box, accepted as in annealing; returns the change in cost."""
    gained = 0.0
    on.state[WORK] += steps
    for _ in range(steps):
        change = _change(on, draw(random, len(on.weight)), k, heat * logs[draw(random, 1024)], random)
        stats[0] += 1
        if change != 0.0:
            stats[1] += 1
            gained += change
    return gained


@kernel(makes_arrays=False)
def lighten(on: Choice, record: Ints, k: int, steps: int, random: Words, stats: Longs) -> float:
    """Try `steps` times to move a random item to the lightest open box, others taking its place where it is missing;
    `record` is that of each item. Returns the change in cost, which is never a rise."""
    gained = 0.0
    on.state[WORK] += steps
    for _ in range(steps):
        y = draw(random, len(on.home))
        a = on.home[y]
        if a < 0:
            continue
        b = _lightest(on, record[y], a)
        if b < 0 or b > a:
            continue
        _begin(on)
        cost = _shift(on, y, b)
        if on.size[a] < k:
            cost += _fill(on, a, k, -cost, random)
        stats[2] += 1
        if cost < 0.0:
            stats[3] += 1
            gained += cost
        else:
            _back_to(on, 0, 0)
    return gained
