"""What the loops of k-member and Mondrian are meant to do, with whole arrays and without boxes or buckets."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from kanopy._arrays import Ints, Longs
from kanopy.search.clustering.kmember_kernel import CLUSTER, FREE_ROWS, NONE_LEFT, REFERENCE, Boxes, Pool
from kanopy.search.clustering.lines_kernel import FREE, GAP, POINT, START, VALUE, Lines, pair_costs, stretch_cost
from kanopy.search.clustering.mondrian_kernel import CLASSES, PARTS, WRITTEN, Rules, Scratch, Work


def stretch_costs(lines: Lines, j: int, lo: int, hi: int) -> Longs:
    """Per place of attribute `j`: what covering `lo … hi` and that place together costs (plain NumPy)."""
    base, end = int(lines.head[j, START]), int(lines.head[j + 1, START])
    if lines.head[j, FREE]:
        value = lines.cells[base:end, VALUE]
        cost: Longs = np.maximum(value, value[hi]) - np.minimum(value, value[lo])
        return cost
    gap = lines.cells[base : end - 1, GAP]
    own = int(gap[lo:hi].max()) if hi > lo else int(lines.cells[base + lo, POINT])
    result = np.full(end - base, own, np.int64)
    result[hi + 1 :] = np.maximum.accumulate(np.maximum(gap[hi:], own))
    result[:lo] = np.maximum.accumulate(np.maximum(gap[:lo][::-1], own))[::-1]
    return result


def grow_clusters(
    lines: Lines,
    pool: Pool,
    boxes: Boxes,
    state: Longs,
    k: int,
    until: int,
    cluster_low: Ints,
    cluster_high: Ints,
    cluster_cost: Longs,
    cluster_of_row: Ints,
) -> None:
    """Scan all distinct tuples for every record; the boxes are not looked at."""
    positions, width = pool.positions, pool.positions.shape[1]
    lowest = np.where(pool.head < pool.end, pool.rows[np.minimum(pool.head, len(pool.rows) - 1)], NONE_LEFT)

    def pick(low: Any, high: Any, sign: int) -> tuple[int, int]:
        cost = np.zeros(len(positions), np.int64)
        for j in range(width):
            cost += stretch_costs(lines, j, int(low[j]), int(high[j]))[positions[:, j]]
        free = lowest < NONE_LEFT
        most = int((sign * cost[free]).min())
        tied = np.flatnonzero(free & (sign * cost == most))
        return int(tied[np.argmin(lowest[tied])]), sign * most

    def take(chosen: int) -> None:
        cluster_of_row[lowest[chosen]] = state[CLUSTER]
        pool.head[chosen] += 1
        left = pool.head[chosen] < pool.end[chosen]
        lowest[chosen] = pool.rows[pool.head[chosen]] if left else NONE_LEFT
        state[FREE_ROWS] -= 1

    while state[FREE_ROWS] >= k and state[CLUSTER] < until:
        origin = positions[state[REFERENCE]]
        chosen, _ = pick(origin, origin, -1)
        low, high = positions[chosen].copy(), positions[chosen].copy()
        cost = sum(int(stretch_costs(lines, j, int(low[j]), int(low[j]))[low[j]]) for j in range(width))
        take(chosen)
        for _ in range(k - 1):
            chosen, cost = pick(low, high, 1)
            np.minimum(low, positions[chosen], out=low)
            np.maximum(high, positions[chosen], out=high)
            take(chosen)
        cluster = state[CLUSTER]
        cluster_low[cluster], cluster_high[cluster], cluster_cost[cluster] = low, high, cost
        state[REFERENCE] = chosen
        state[CLUSTER] += 1


def join_cluster(
    lines: Lines, place: Ints, clusters: int, sizes: Longs, cluster_low: Ints, cluster_high: Ints, cluster_cost: Longs
) -> int:
    low, high = np.minimum(cluster_low[:clusters], place), np.maximum(cluster_high[:clusters], place)
    cost = np.array(
        [sum(int(stretch_cost(lines, j, lo[j], hi[j])) for j in range(len(place))) for lo, hi in zip(low, high)]  # noqa: B905
    )
    best = int(np.argmin((sizes[:clusters] + 1) * cost - sizes[:clusters] * cluster_cost[:clusters]))
    cluster_low[best], cluster_high[best], cluster_cost[best] = low[best], high[best], cost[best]
    sizes[best] += 1
    return best


class _Part(NamedTuple):
    tuples: Ints
    counts: Longs


class _Cut(NamedTuple):
    """The ends of the pieces, counted in rows, over the entries in `order`."""

    loss: int
    ends: tuple[int, ...]
    order: Longs


def _weight(rows: Longs | int, k: int) -> Longs:
    return 2 * np.asarray(rows, np.int64) + np.asarray(rows, np.int64) % k


def _covered(lines: Lines, low: Ints, high: Ints) -> Longs:
    width = low.shape[1]
    return sum((pair_costs(lines, j, low[:, j], high[:, j]) for j in range(width)), np.zeros(len(low), np.int64))


def _children_cut(lines: Lines, placed: Ints, counts: Longs, j: int, k: int, order: Longs) -> _Cut | None:
    """One piece per child of the common ancestor, if each has `k` rows."""
    whole = pair_costs(lines, j, placed[:1, j], placed[-1:, j])[0]
    left, right = placed[:-1, j], placed[1:, j]
    ends = np.append((left != right) & (pair_costs(lines, j, left, right) == whole), True)
    starts = np.concatenate([[0], np.flatnonzero(ends)[:-1] + 1])
    sizes = np.add.reduceat(counts, starts)
    if sizes.min() < k:
        return None
    cost = _covered(lines, np.minimum.reduceat(placed, starts), np.maximum.reduceat(placed, starts))
    return _Cut(int((cost * _weight(sizes, k)).sum()), tuple(int(x) for x in np.cumsum(sizes)), order)


def _cut_along(lines: Lines, positions: Ints, part: _Part, j: int, rules: Rules) -> _Cut | None:
    """The cut that the rules prefer along one attribute."""
    order = np.argsort(positions[part.tuples, j], kind="stable")
    placed, counts = positions[part.tuples[order]], part.counts[order]
    rows, k = int(counts.sum()), rules.k
    if rules.strict and not lines.head[j, FREE]:
        return _children_cut(lines, placed, counts, j, k, order)
    before = np.cumsum(counts) - counts
    apart = np.concatenate([[False], placed[1:, j] != placed[:-1, j]])
    if len(part.tuples) > rules.look:
        if not lines.head[j, FREE]:
            whole = pair_costs(lines, j, placed[:1, j], placed[-1:, j])[0]
            apart[1:] &= pair_costs(lines, j, placed[:-1, j], placed[1:, j]) == whole
        elif not rules.strict:
            apart[:] = False
        lefts = [int(x) for x in before[apart] if k <= x <= rows - k]
        fallback = None if rules.strict else rows // 2
        middle = min(lefts, key=lambda left: abs(2 * left - rows), default=fallback)
        return None if middle is None else _Cut(0, (middle, rows), order)
    forward = _covered(lines, np.minimum.accumulate(placed), np.maximum.accumulate(placed))
    backward = _covered(lines, np.minimum.accumulate(placed[::-1]), np.maximum.accumulate(placed[::-1]))[::-1]
    options: list[tuple[int, int, int]] = []

    def weigh(left: int, last: int, first: int) -> None:
        loss = forward[last] * _weight(left, k) + backward[first] * _weight(rows - left, k)
        options.append((int(loss), abs(2 * left - rows), left))

    for i, left in enumerate(before):
        if i > 0 and k <= left <= rows - k and (apart[i] or not rules.strict):
            weigh(int(left), i - 1, i)
        for inner in (k, rows - k):
            if not rules.strict and left < inner < left + counts[i]:
                weigh(inner, i, i)
    return _Cut(min(options)[0], (min(options)[2], rows), order) if options else None


def _pieces(part: _Part, cut: _Cut) -> Iterator[_Part]:
    """Hand out entries in order; an entry that an end passes through is shared."""
    begin, after = 0, np.cumsum(part.counts[cut.order])
    before = after - part.counts[cut.order]
    for end in cut.ends:
        inside = (before < end) & (after > begin)
        taken = np.minimum(after, end) - np.maximum(before, begin)
        yield _Part(part.tuples[cut.order[inside]], taken[inside])
        begin = end


def _preferred_cut(lines: Lines, positions: Ints, part: _Part, rules: Rules) -> _Cut | None:
    placed = positions[part.tuples]
    low, high = placed.min(axis=0), placed.max(axis=0)
    if part.counts.sum() < 2 * rules.k:
        return None
    widths = [int(stretch_cost(lines, j, low[j], high[j])) for j in range(len(low))]
    ranked = sorted((j for j in range(len(low)) if high[j] > low[j]), key=lambda j: -widths[j])
    best: _Cut | None = None
    for at, j in enumerate(ranked):
        if best is not None and (at >= rules.tries or len(part.tuples) > rules.look):
            break
        cut = _cut_along(lines, positions, part, j, rules)
        if cut is not None and (best is None or cut.loss < best.loss):
            best = cut
    return best


def cut_parts(lines: Lines, positions: Ints, work: Work, scratch: Scratch, rules: Rules, most_entries: int) -> None:
    """The twin of `kanopy.search.clustering.mondrian_kernel.cut_parts`."""
    state, seen = work.state, 0
    while state[PARTS] > 0 and seen < most_entries:
        begin, end = int(work.edge[state[PARTS] - 1]), int(work.edge[state[PARTS]])
        part = _Part(work.tuples[begin:end].copy(), work.counts[begin:end].copy())
        seen += end - begin
        cut = _preferred_cut(lines, positions, part, rules)
        state[PARTS] -= 1
        if cut is None:
            written = slice(int(state[WRITTEN]), int(state[WRITTEN]) + end - begin)
            work.out_tuples[written], work.out_counts[written] = part.tuples, part.counts
            work.out_classes[written] = state[CLASSES]
            state[WRITTEN] += end - begin
            state[CLASSES] += 1
            continue
        # The leftmost piece goes on top, so that classes are written from left to right.
        for piece in reversed(list(_pieces(part, cut))):
            place = slice(begin, begin + len(piece.tuples))
            work.tuples[place], work.counts[place] = piece.tuples, piece.counts
            begin = place.stop
            state[PARTS] += 1
            work.edge[state[PARTS]] = begin
