"""Greedy k-member clustering over distinct tuples, pruned by a tree of boxes.

The plain algorithm looks at every free record for every record it places. Here records that are equal count as
one tuple, and tuples are kept in a balanced tree of boxes. Because covering a longer stretch never costs less,
the box gives a bound on the cost of everything inside it, and because each box knows the lowest free row inside,
ties are settled without looking further. The result is the plain algorithm's, record by record.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from kanopy._arrays import Ints, Longs
from kanopy._compiler import helper, kernel
from kanopy.search.clustering.lines_kernel import START, Lines, fill_costs, stretch_cost

NONE_LEFT = np.iinfo(np.int64).max
BUCKET = 8
STACK = 128
CLUSTER, REFERENCE, FREE_ROWS = 0, 1, 2
FILLED_PLACES = 4096
"""Up to this many different values in all, costs are written down per place whenever a cluster grows; beyond, they
are worked out when asked for, so that a column of a million numbers costs no more than the boxes it meets."""


class Pool(NamedTuple):
    """The free records. Rows of tuple `t` are `rows[head[t]:end[t]]`, always taken lowest first."""

    positions: Ints
    rows: Longs
    head: Longs
    end: Longs


class Boxes(NamedTuple):
    """A complete binary tree: box `b` has children `2b+1` and `2b+2`; the last level holds buckets of tuples.

    Bucket `i` holds `members[edge[i]:edge[i+1]]`; `bucket_of` is the inverse. `low`/`high` bound the places of the
    tuples that still have rows, `lowest_row` is the lowest of those rows.
    """

    members: Ints
    edge: Longs
    bucket_of: Ints
    low: Ints
    high: Ints
    lowest_row: Longs


def make_pool(positions: Ints, tuple_of_row: Ints) -> Pool:
    """All rows that belong to a tuple, grouped by tuple, in row order."""
    usable = np.flatnonzero(tuple_of_row >= 0)
    owner = tuple_of_row[usable]
    rows = usable[np.argsort(owner, kind="stable")].astype(np.int64)
    end = np.cumsum(np.bincount(owner, minlength=len(positions))).astype(np.int64)
    head = np.concatenate([[0], end[:-1]]).astype(np.int64)
    return Pool(np.ascontiguousarray(positions, np.int32), rows, head, end)


def make_boxes(pool: Pool, extents: npt.NDArray[np.float64]) -> Boxes:
    """Halve the tuples along their widest attribute (`extents` scales places) until buckets are small."""
    positions, tuples = pool.positions, len(pool.positions)
    depth = max(0, int(np.ceil(np.log2(max(1, tuples) / BUCKET))))
    members = np.arange(tuples)
    for level in range(depth):
        edge = np.arange((1 << level) + 1) * tuples // (1 << level)
        placed = positions[members]
        spread = np.maximum.reduceat(placed, edge[:-1], axis=0) - np.minimum.reduceat(placed, edge[:-1], axis=0)
        widest = np.argmax(spread / extents, axis=1)
        segment = np.repeat(np.arange(1 << level), np.diff(edge))
        members = members[np.lexsort((placed[np.arange(tuples), widest[segment]], segment))]
    buckets = 1 << depth
    edge = np.arange(buckets + 1) * tuples // buckets
    bucket_of = np.empty(tuples, np.int32)
    bucket_of[members] = np.repeat(np.arange(buckets), np.diff(edge))
    boxes, width = 2 * buckets - 1, positions.shape[1]
    low, high = np.zeros((boxes, width), np.int32), np.zeros((boxes, width), np.int32)
    lowest = np.full(boxes, NONE_LEFT, np.int64)
    low[buckets - 1 :] = np.minimum.reduceat(positions[members], edge[:-1], axis=0)
    high[buckets - 1 :] = np.maximum.reduceat(positions[members], edge[:-1], axis=0)
    lowest[buckets - 1 :] = np.minimum.reduceat(pool.rows[pool.head][members], edge[:-1])
    for level in range(depth - 1, -1, -1):
        own = np.arange((1 << level) - 1, (2 << level) - 1)
        low[own] = np.minimum(low[2 * own + 1], low[2 * own + 2])
        high[own] = np.maximum(high[2 * own + 1], high[2 * own + 2])
        lowest[own] = np.minimum(lowest[2 * own + 1], lowest[2 * own + 2])
    return Boxes(members.astype(np.int32), edge.astype(np.int64), bucket_of, low, high, lowest)


@helper
def _take_row(pool: Pool, boxes: Boxes, taken: int) -> int:
    """Remove the lowest free row of a tuple and bring the boxes above it up to date; returns the row."""
    lowest_row = boxes.lowest_row
    box_low = boxes.low
    box_high = boxes.high
    members = boxes.members
    edge = boxes.edge
    bucket_of = boxes.bucket_of
    positions = pool.positions
    rows = pool.rows
    head = pool.head
    end = pool.end
    row = rows[head[taken]]
    head[taken] += 1
    width = positions.shape[1]
    gone = head[taken] == end[taken]
    bucket = bucket_of[taken]
    box = (len(lowest_row) - 1) // 2 + bucket
    lowest = NONE_LEFT
    first = True
    for i in range(edge[bucket], edge[bucket + 1]):
        member = members[i]
        if head[member] < end[member]:
            lowest = min(lowest, rows[head[member]])
            if gone:
                for j in range(width):
                    place = positions[member, j]
                    if first or place < box_low[box, j]:
                        box_low[box, j] = place
                    if first or place > box_high[box, j]:
                        box_high[box, j] = place
                first = False
    lowest_row[box] = lowest
    while box > 0:
        box = (box - 1) // 2
        left, right = 2 * box + 1, 2 * box + 2
        if lowest_row[left] == NONE_LEFT:
            left = right
        elif lowest_row[right] == NONE_LEFT:
            right = left
        lowest_row[box] = min(lowest_row[left], lowest_row[right])
        if gone:
            for j in range(width):
                box_low[box, j] = min(box_low[left, j], box_low[right, j])
                box_high[box, j] = max(box_high[left, j], box_high[right, j])
    return row  # type: ignore[no-any-return]


@helper
def _pick(
    lines: Lines, pool: Pool, boxes: Boxes, costs: Longs, low: Ints, high: Ints, furthest: bool,
    stack: Longs, bounds: Longs,
) -> tuple[int, int]:  # fmt: skip
    """The free tuple that makes the stretches `low … high` cost least together with it, and that cost.

    With `furthest` the one that makes them cost most (costs are compared with the sign turned). Of equals the one with
    the lowest row.
    """
    sign = -1 if furthest else 1
    lowest_row = boxes.lowest_row
    box_low = boxes.low
    box_high = boxes.high
    members = boxes.members
    edge = boxes.edge
    positions = pool.positions
    rows = pool.rows
    head = pool.head
    end = pool.end
    head_of, filled = lines.head, len(costs) > 0
    width = len(low)
    buckets = (len(lowest_row) + 1) // 2
    best = NONE_LEFT
    best_row = NONE_LEFT
    best_tuple = -1
    top = 1
    stack[0] = 0
    bounds[0] = -NONE_LEFT
    while top > 0:
        top -= 1
        box = stack[top]
        bound = bounds[top]
        if bound > best or (bound == best and lowest_row[box] > best_row):
            continue
        if box >= buckets - 1:
            bucket = box - buckets + 1
            for i in range(edge[bucket], edge[bucket + 1]):
                member = members[i]
                if head[member] == end[member]:
                    continue
                cost = 0
                for j in range(width):
                    place = positions[member, j]
                    if filled:
                        cost += costs[head_of[j, START] + place]
                    else:
                        cost += stretch_cost(lines, j, min(low[j], place), max(high[j], place))
                    if cost > best and not furthest:
                        break
                cost *= sign
                row = rows[head[member]]
                if cost < best or (cost == best and row < best_row):
                    best, best_row, best_tuple = cost, row, member
            continue
        near, near_bound, far, far_bound = -1, 0, -1, 0
        for child in (2 * box + 1, 2 * box + 2):
            row = lowest_row[child]
            if row == NONE_LEFT:
                continue
            bound = 0
            for j in range(width):
                left, right = box_low[child, j], box_high[child, j]
                if not furthest:
                    left = right = max(left, min(right, low[j]))
                if filled:
                    bound += max(costs[head_of[j, START] + left], costs[head_of[j, START] + right])
                elif furthest:
                    at_left = stretch_cost(lines, j, min(low[j], left), high[j])
                    bound += max(at_left, stretch_cost(lines, j, low[j], max(high[j], right)))
                else:
                    bound += stretch_cost(lines, j, min(low[j], left), max(high[j], right))
                if bound > best and not furthest:
                    break
            bound *= sign
            if bound > best or (bound == best and row > best_row):
                continue
            if near < 0:
                near, near_bound = child, bound
            elif bound < near_bound or (bound == near_bound and row < lowest_row[near]):
                far, far_bound = near, near_bound
                near, near_bound = child, bound
            else:
                far, far_bound = child, bound
        if far >= 0:
            stack[top] = far
            bounds[top] = far_bound
            top += 1
        if near >= 0:
            stack[top] = near
            bounds[top] = near_bound
            top += 1
    return best_tuple, sign * best


@kernel()
def grow_clusters(
    lines: Lines, pool: Pool, boxes: Boxes, state: Longs, k: int, until: int,
    cluster_low: Ints, cluster_high: Ints, cluster_cost: Longs, cluster_of_row: Ints,
) -> None:  # fmt: skip
    """Make clusters of `k` records until cluster `until` is reached or fewer than `k` records are free.

    `state` holds the next cluster, the reference tuple and the number of free rows; call again to go on.
    """
    width = pool.positions.shape[1]
    low = np.empty(width, np.int32)
    high = np.empty(width, np.int32)
    stack = np.empty(STACK, np.int64)
    bounds = np.empty(STACK, np.int64)
    places = lines.head[width, START]
    costs = np.empty(places if places <= FILLED_PLACES else 0, np.int64)
    while state[FREE_ROWS] >= k and state[CLUSTER] < until:
        cluster = state[CLUSTER]
        origin = pool.positions[state[REFERENCE]]
        if len(costs) > 0:
            for j in range(width):
                fill_costs(lines, j, origin[j], origin[j], costs)
        chosen, _ = _pick(lines, pool, boxes, costs, origin, origin, True, stack, bounds)
        cost = 0
        for j in range(width):
            low[j] = pool.positions[chosen, j]
            high[j] = pool.positions[chosen, j]
            cost += stretch_cost(lines, j, low[j], high[j])
            if len(costs) > 0:
                fill_costs(lines, j, low[j], high[j], costs)
        cluster_of_row[_take_row(pool, boxes, chosen)] = cluster
        for _ in range(k - 1):
            chosen, cost = _pick(lines, pool, boxes, costs, low, high, False, stack, bounds)
            for j in range(width):
                place = pool.positions[chosen, j]
                if place < low[j] or place > high[j]:
                    low[j] = min(low[j], place)
                    high[j] = max(high[j], place)
                    if len(costs) > 0:
                        fill_costs(lines, j, low[j], high[j], costs)
            cluster_of_row[_take_row(pool, boxes, chosen)] = cluster
        for j in range(width):
            cluster_low[cluster, j] = low[j]
            cluster_high[cluster, j] = high[j]
        cluster_cost[cluster] = cost
        state[FREE_ROWS] -= k
        state[REFERENCE] = chosen
        state[CLUSTER] = cluster + 1


@kernel()
def join_cluster(
    lines: Lines, place: Ints, clusters: int, sizes: Longs, cluster_low: Ints, cluster_high: Ints, cluster_cost: Longs
) -> int:
    """Add a left-over record to the cluster whose loss (rows times cost) grows least; ties: the lowest number."""
    width = len(place)
    best = -1
    best_growth = NONE_LEFT
    best_cost = 0
    for cluster in range(clusters):
        cost = 0
        for j in range(width):
            low = min(cluster_low[cluster, j], place[j])
            high = max(cluster_high[cluster, j], place[j])
            cost += stretch_cost(lines, j, low, high)
        growth = (sizes[cluster] + 1) * cost - sizes[cluster] * cluster_cost[cluster]
        if growth < best_growth:
            best, best_growth, best_cost = cluster, growth, cost
    for j in range(width):
        cluster_low[best, j] = min(cluster_low[best, j], place[j])
        cluster_high[best, j] = max(cluster_high[best, j], place[j])
    cluster_cost[best] = best_cost
    sizes[best] += 1
    return best
