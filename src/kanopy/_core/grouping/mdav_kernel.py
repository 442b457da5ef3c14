"""MDAV: groups of `size` rows around the rows that are farthest from the middle (Domingo-Ferrer and Mateo-Sanz 2002).

Rows that have no group yet stand in front, column by column, so that distances to all of them are one pass over
memory. Rows are known by their number in the canonical order, which settles ties.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kanopy._arrays import FloatRows, Floats, Ints, Longs, Mask
from kanopy._compiler import Arrays, helper, kernel

BLOCK = 1024
LEFT, GROUPS = 0, 1


@dataclass(frozen=True, eq=False)
class Pool(Arrays):
    """Rows without a group: the first `state[LEFT]` places of `columns` (one row of the array per column) and `row`.

    `total` are the sums of their columns, `nominal` says which columns hold codes instead of numbers. `chosen` and
    `chosen_distance` are room for the nearest rows, `distance` for a block of distances, `middle` for the centroid.
    """

    columns: FloatRows
    nominal: Mask
    row: Ints
    total: Floats
    state: Longs
    chosen: Longs
    chosen_distance: Floats
    distance: Floats
    middle: Floats
    tally: Longs


@helper
def _fill_block(pool: Pool, squared: int, begin: int, end: int) -> None:
    """Distances of the rows at `begin` to `end` from `middle`: squared Euclidean, or Gower's."""
    columns = pool.columns
    distance = pool.distance
    for i in range(end - begin):
        distance[i] = 0.0
    for j in range(columns.shape[0]):
        at = pool.middle[j]
        if pool.nominal[j]:
            for i in range(begin, end):
                distance[i - begin] += 0.0 if columns[j, i] == at else 1.0
        elif squared == 1:
            for i in range(begin, end):
                gap = columns[j, i] - at
                distance[i - begin] += gap * gap
        else:
            for i in range(begin, end):
                distance[i - begin] += abs(columns[j, i] - at)


@helper
def _farthest(pool: Pool, squared: int) -> int:
    """The place of the row farthest from `middle`; of equal ones that of the lowest row."""
    left = pool.state[LEFT]
    best = 0
    most = -1.0
    begin = 0
    while begin < left:
        end = min(left, begin + BLOCK)
        _fill_block(pool, squared, begin, end)
        for i in range(end - begin):
            far = pool.distance[i]
            if far > most or (far == most and pool.row[begin + i] < pool.row[best]):
                most = far
                best = begin + i
        begin = end
    return best


@helper
def _nearest(pool: Pool, squared: int, size: int) -> int:
    """Put the places of the `size` rows nearest to `middle` into `chosen`; returns the farthest row of all."""
    left = pool.state[LEFT]
    best = 0
    most = -1.0
    found = 0
    begin = 0
    while begin < left:
        end = min(left, begin + BLOCK)
        _fill_block(pool, squared, begin, end)
        for i in range(end - begin):
            far = pool.distance[i]
            place = begin + i
            if far > most or (far == most and pool.row[place] < pool.row[best]):
                most = far
                best = place
            if found == size:
                last = pool.chosen_distance[size - 1]
                if far > last or (far == last and pool.row[place] > pool.row[pool.chosen[size - 1]]):
                    continue
            at = found if found < size else size - 1
            while at > 0 and (
                pool.chosen_distance[at - 1] > far
                or (pool.chosen_distance[at - 1] == far and pool.row[pool.chosen[at - 1]] > pool.row[place])
            ):
                pool.chosen_distance[at] = pool.chosen_distance[at - 1]
                pool.chosen[at] = pool.chosen[at - 1]
                at -= 1
            pool.chosen_distance[at] = far
            pool.chosen[at] = place
            if found < size:
                found += 1
        begin = end
    row: int = pool.row[best]
    return row


@helper
def _aim_at_row(pool: Pool, place: int) -> None:
    for j in range(pool.columns.shape[0]):
        pool.middle[j] = pool.columns[j, place]


@helper
def _aim_at_middle(pool: Pool) -> None:
    """The centroid of the rows left: means of numbers, the most frequent of codes (of equal ones the lowest)."""
    left = pool.state[LEFT]
    for j in range(pool.columns.shape[0]):
        if not pool.nominal[j]:
            pool.middle[j] = pool.total[j] / left
            continue
        for code in range(len(pool.tally)):
            pool.tally[code] = 0
        best = 0
        for i in range(left):
            code = int(pool.columns[j, i])
            pool.tally[code] += 1
        for code in range(len(pool.tally)):
            if pool.tally[code] > pool.tally[best]:
                best = code
        pool.middle[j] = float(best)


@helper
def _take(pool: Pool, place: int, group: Ints) -> None:
    """Give the row at a place to the newest group; the last row of the pool moves to its place."""
    group[pool.row[place]] = pool.state[GROUPS]
    last = pool.state[LEFT] - 1
    for j in range(pool.columns.shape[0]):
        pool.total[j] -= pool.columns[j, place]
        pool.columns[j, place] = pool.columns[j, last]
    pool.row[place] = pool.row[last]
    pool.state[LEFT] = last


@helper
def _take_chosen(pool: Pool, size: int, group: Ints) -> None:
    # From the last place on: taking a row moves only rows behind it.
    for _ in range(size):
        best = 0
        for at in range(1, size):
            if pool.chosen[at] > pool.chosen[best]:
                best = at
        _take(pool, pool.chosen[best], group)
        pool.chosen[best] = -1
    pool.state[GROUPS] += 1


@helper
def _place_of(pool: Pool, row: int) -> int:
    for place in range(pool.state[LEFT]):
        if pool.row[place] == row:
            return place
    return 0


@kernel(makes_arrays=False)
def mdav(pool: Pool, size: int, squared: int, until: int, group: Ints) -> None:
    """Form groups until at most `until` rows are left; where fewer than 3·size are, the last groups.

    `squared` is 1 for squared Euclidean distances, 0 for Gower's.
    """
    while pool.state[LEFT] > until:
        left = pool.state[LEFT]
        if left < 2 * size:
            for _ in range(left):
                _take(pool, 0, group)
            pool.state[GROUPS] += 1
            return
        _aim_at_middle(pool)
        _aim_at_row(pool, _farthest(pool, squared))
        other = _nearest(pool, squared, size)
        _take_chosen(pool, size, group)
        if left >= 3 * size:
            _aim_at_row(pool, _place_of(pool, other))
            _nearest(pool, squared, size)
            _take_chosen(pool, size, group)


def make_pool(columns: Floats, nominal: Mask, size: int) -> Pool:
    """All rows of a table (one row of the array per row of the table) without a group."""
    rows, width = columns.shape
    codes = int(columns[:, nominal].max()) + 1 if nominal.any() and rows else 1
    return Pool(
        np.array(columns.T, np.float64, order="C", copy=True).reshape(width, rows),
        np.ascontiguousarray(nominal, np.bool_),
        np.arange(rows, dtype=np.int32),
        columns.sum(axis=0).astype(np.float64).reshape(width),
        np.array([rows, 0], np.int64),
        np.zeros(size, np.int64),
        np.zeros(size, np.float64),
        np.zeros(BLOCK, np.float64),
        np.zeros(width, np.float64),
        np.zeros(codes, np.int64),
    )
