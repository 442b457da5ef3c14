"""Local search for microaggregation: changes between neighbouring groups, accepted by simulated annealing.

A change lowers the sum of squared errors or raises it by less than the temperature times a random logarithm. Groups
keep `size` to 2·size - 1 rows: the optimum has no other (Domingo-Ferrer and Mateo-Sanz 2002).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kanopy._arrays import FloatRows, Floats, IntRows, Ints, Longs, Words
from kanopy._compiler import Arrays, helper, kernel

LOGS = -np.log((np.arange(1024) + 0.5) / 1024)
FREE, MOVED, SWAPPED, DISSOLVED, OPENED, LOGGED = 0, 1, 2, 3, 4, 5
RARELY = 8
"""One step in so many tries to dissolve or to open a group."""
MOST_LOOKED_AT = 6
"""Rows of a group that a row may be swapped with in one step."""
FEW = 1e-12


@dataclass(frozen=True, eq=False)
class Grouping(Arrays):
    """Rows in groups.

    `x` are the rows, `near` the nearest rows of each, `apart` its squared distance from the centroid of its group.
    `member[g]` holds the rows of group g in its first `rows[g]` places, `place` where each row is there. `free` is a
    stack of unused groups. `log_row` and `log_group` remember the changes of a step, to take it back.
    """

    x: FloatRows
    near: IntRows
    group: Ints
    place: Ints
    apart: Floats
    rows: Longs
    middle: FloatRows
    member: IntRows
    free: Longs
    state: Longs
    log_row: Longs
    log_group: Longs
    candidate: Longs


@helper
def random_below(state: Words, below: int) -> int:
    """A whole number from 0 to `below` - 1, from a xorshift generator (Marsaglia 2003)."""
    x = state[0]
    x ^= x << np.uint64(13)
    x ^= x >> np.uint64(7)
    x ^= x << np.uint64(17)
    state[0] = x
    return (np.int64(x >> np.uint64(33)) * below) >> 31  # type: ignore[return-value]


@helper
def _from_middle(part: Grouping, row: int, group: int) -> float:
    """The squared distance of a row from the centroid of a group."""
    total = 0.0
    for j in range(part.x.shape[1]):
        gap = part.x[row, j] - part.middle[group, j]
        total += gap * gap
    return total


@helper
def _between(part: Grouping, one: int, other: int) -> float:
    total = 0.0
    for j in range(part.x.shape[1]):
        gap = part.x[one, j] - part.x[other, j]
        total += gap * gap
    return total


@helper
def refresh(part: Grouping, group: int) -> None:
    """Work out the centroid of a group anew, and how far its rows are from it."""
    count = part.rows[group]
    for j in range(part.x.shape[1]):
        total = 0.0
        for at in range(count):
            total += part.x[part.member[group, at], j]
        part.middle[group, j] = total / max(count, 1)
    for at in range(count):
        row = part.member[group, at]
        part.apart[row] = _from_middle(part, row, group)


@helper
def _take(part: Grouping, row: int) -> None:
    group = part.group[row]
    last = part.rows[group] - 1
    moved = part.member[group, last]
    at = part.place[row]
    part.member[group, at] = moved
    part.place[moved] = at
    part.rows[group] = last


@helper
def _put(part: Grouping, group: int, row: int) -> None:
    count = part.rows[group]
    part.member[group, count] = row
    part.place[row] = count
    part.group[row] = group
    part.rows[group] = count + 1


@helper
def _shift(part: Grouping, row: int, group: int) -> float:
    """Move a row to another group, remember that, and return the change of the squared errors."""
    source = part.group[row]
    logged = part.state[LOGGED]
    part.log_row[logged] = row
    part.log_group[logged] = source
    part.state[LOGGED] = logged + 1
    n = part.rows[source]
    m = part.rows[group]
    change = -part.apart[row] * n / (n - 1) if n > 1 else 0.0
    if m > 0:
        change += _from_middle(part, row, group) * m / (m + 1)
    _take(part, row)
    _put(part, group, row)
    refresh(part, source)
    refresh(part, group)
    return change


@helper
def _take_back(part: Grouping) -> None:
    """Undo the changes that are remembered, the last one first."""
    while part.state[LOGGED] > 0:
        last = part.state[LOGGED] - 1
        row = part.log_row[last]
        left = part.group[row]
        _take(part, row)
        _put(part, part.log_group[last], row)
        refresh(part, left)
        refresh(part, part.log_group[last])
        part.state[LOGGED] = last


@helper
def _pays(part: Grouping, group: int, limit: float, most: int) -> bool:
    """Whether dissolving a group can pay, as far as the near groups as they are now tell."""
    change = 0.0
    for at in range(part.rows[group]):
        change -= part.apart[part.member[group, at]]
    for at in range(part.rows[group]):
        row = part.member[group, at]
        least = 1e300
        for i in range(part.near.shape[1]):
            near = part.near[row, i]
            if near < 0:
                break
            other = part.group[near]
            m = part.rows[other]
            if other != group and m < most:
                least = min(least, _from_middle(part, row, other) * m / (m + 1))
        change += least
        if change >= limit:
            return False
    return True


@helper
def _dissolve(part: Grouping, group: int, limit: float, most: int) -> float:
    """Give every row of a group to the near group that it costs least; 0 if that is above the limit or impossible."""
    if not _pays(part, group, limit, most):
        return 0.0
    part.state[LOGGED] = 0
    change = 0.0
    while part.rows[group] > 0:
        # The row that costs least of those left goes first.
        chosen_row = -1
        chosen_group = -1
        least = 1e300
        for at in range(part.rows[group]):
            row = part.member[group, at]
            for i in range(part.near.shape[1]):
                near = part.near[row, i]
                if near < 0:
                    break
                other = part.group[near]
                m = part.rows[other]
                if other == group or m >= most:
                    continue
                cost = _from_middle(part, row, other) * m / (m + 1)
                if cost < least:
                    least = cost
                    chosen_row = row
                    chosen_group = other
        if chosen_row < 0:
            _take_back(part)
            return 0.0
        change += _shift(part, chosen_row, chosen_group)
    if change < limit:
        part.free[part.state[FREE]] = group
        part.state[FREE] += 1
        part.state[DISSOLVED] += 1
        return change
    _take_back(part)
    return 0.0


@helper
def _open(part: Grouping, row: int, limit: float, size: int) -> float:
    """Make a group of a row and the nearest ones that groups of more than `size` can spare; 0 if it costs too much."""
    if part.state[FREE] == 0 or part.rows[part.group[row]] <= size:
        return 0.0
    part.state[LOGGED] = 0
    group = part.free[part.state[FREE] - 1]
    change = _shift(part, row, group)
    for i in range(part.near.shape[1]):
        near = part.near[row, i]
        if near < 0 or part.rows[group] == size:
            break
        if part.group[near] != group and part.rows[part.group[near]] > size:
            change += _shift(part, near, group)
    if part.rows[group] == size and change < limit:
        part.state[FREE] -= 1
        part.state[OPENED] += 1
        return change
    _take_back(part)
    return 0.0


@kernel(makes_arrays=False)
def start(part: Grouping) -> float:
    """Put all rows into the groups that `group` names; returns the sum of squared errors."""
    for group in range(len(part.rows)):
        part.rows[group] = 0
    for row in range(len(part.group)):
        _put(part, part.group[row], row)
    part.state[FREE] = 0
    for group in range(len(part.rows)):
        refresh(part, group)
        if part.rows[group] == 0:
            part.free[part.state[FREE]] = group
            part.state[FREE] += 1
    total = 0.0
    for row in range(len(part.group)):
        total += part.apart[row]
    return total


@kernel(makes_arrays=False)
def anneal(
    part: Grouping, size: int, heat: float, first: int, rows: int, steps: int, random: Words, logs: Floats
) -> float:
    """Try `steps` changes at one temperature, each of one of `rows` rows from `first` on.

    Returns the change of the sum of squared errors.
    """
    degree = part.near.shape[1]
    most = 2 * size - 1
    gained = 0.0
    for step in range(steps):
        x = first + random_below(random, rows)
        limit = heat * logs[random_below(random, 1024)] - FEW
        if step % RARELY == 0:
            if random_below(random, 2) == 0:
                gained += _dissolve(part, part.group[x], limit, most)
            else:
                gained += _open(part, x, limit, size)
            continue
        # Of two places in the list of near rows the nearer one: it pays more often.
        y = part.near[x, min(random_below(random, degree), random_below(random, degree))]
        if y < 0:
            continue
        a = part.group[x]
        b = part.group[y]
        if a == b:
            continue
        n = part.rows[a]
        m = part.rows[b]
        x_to_b = _from_middle(part, x, b)
        best = limit
        kind = 0
        chosen = -1
        if n > size and m < most:
            change = x_to_b * m / (m + 1) - part.apart[x] * n / (n - 1)
            if change < best:
                best, kind = change, 1
        if m > size and n < most:
            change = _from_middle(part, y, a) * n / (n + 1) - part.apart[y] * m / (m - 1)
            if change < best:
                best, kind = change, 2
        base = x_to_b - part.apart[x]
        share = 1.0 / n + 1.0 / m
        at = part.place[y]
        for _ in range(min(m, MOST_LOOKED_AT)):
            z = part.member[b, at]
            at = at + 1 if at + 1 < m else 0
            if base - part.apart[z] - 2.0 * (part.apart[z] + x_to_b) * share < best:
                change = base + _from_middle(part, z, a) - part.apart[z] - _between(part, x, z) * share
                if change < best:
                    best, kind, chosen = change, 3, z
        if kind == 0:
            continue
        gained += best
        if kind == 3:
            part.state[SWAPPED] += 1
            _take(part, x)
            _take(part, chosen)
            _put(part, b, x)
            _put(part, a, chosen)
        else:
            part.state[MOVED] += 1
            moved = x if kind == 1 else y
            target = b if kind == 1 else a
            _take(part, moved)
            _put(part, target, moved)
        refresh(part, a)
        refresh(part, b)
    return gained


def make_grouping(x: Floats, near: Ints, group: Ints, size: int) -> Grouping:
    """Rows in the groups that a first partition gave them."""
    rows, width = x.shape
    groups = max(rows // size, int(group.max()) + 1)
    most = 2 * size - 1
    return Grouping(
        np.ascontiguousarray(x, np.float64),
        np.ascontiguousarray(near, np.int32),
        group.astype(np.int32),
        np.zeros(rows, np.int32),
        np.zeros(rows, np.float64),
        np.zeros(groups, np.int64),
        np.zeros((groups, width), np.float64),
        np.zeros((groups, most + 1), np.int32),
        np.zeros(groups + 1, np.int64),
        np.zeros(8, np.int64),
        np.zeros(4 * most, np.int64),
        np.zeros(4 * most, np.int64),
        np.zeros(8, np.int64),
    )
