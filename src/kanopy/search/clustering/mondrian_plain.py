"""Mondrian's cuts with whole-array operations: the shapes both versions work on, and the plain twin."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from kanopy._arrays import Ints, Longs
from kanopy.search.clustering.lines_kernel import FREE, Lines, pair_costs, stretch_cost

NO_CUT = np.iinfo(np.int64).max
PARTS, CLASSES, WRITTEN = 0, 1, 2


class Rules(NamedTuple):
    """How to cut: parts of at most `look` entries at the cut of least loss along any of their `tries` costliest
    attributes, larger parts (all of them if `look` is 0) at the median of the costliest attribute."""

    k: int
    strict: bool
    look: int
    tries: int


class Work(NamedTuple):
    """The stack of parts, and the classes written so far.

    `state` counts parts, classes and written entries; part `i` is `tuples[edge[i]:edge[i+1]]`,
    with the counts and the places of these tuples beside it (together in memory: that is where the time goes).
    """

    state: Longs
    edge: Longs
    tuples: Ints
    counts: Longs
    places: Ints
    out_tuples: Ints
    out_counts: Longs
    out_classes: Ints


class Scratch(NamedTuple):
    """Room for one part, allocated once."""

    order: Longs
    best_order: Longs
    forward: Longs
    backward: Longs
    buckets: Longs
    pieces: Longs
    best_pieces: Longs
    tuples: Ints
    counts: Longs
    places: Ints


def make_work(positions: Ints, counts: Longs, k: int) -> tuple[Work, Scratch]:
    """A stack that holds everything as one part. Every cut makes at most one entry more."""
    tuples, width = positions.shape
    classes = max(1, int(counts.sum()) // max(1, k))
    room = tuples + classes + 1

    def ints(*shape: int) -> Ints:
        return np.empty(shape, np.int32)

    def longs(length: int) -> Longs:
        return np.empty(length, np.int64)

    work = Work(
        np.array([1, 0, 0], np.int64), longs(classes + 2),
        ints(room), longs(room), ints(room, width),
        ints(room), longs(room), ints(room),
    )  # fmt: skip
    work.edge[:2] = 0, tuples
    work.tuples[:tuples] = np.arange(tuples)
    work.counts[:tuples] = counts
    work.places[:tuples] = positions
    scratch = Scratch(
        longs(room), longs(room), longs(room), longs(room), longs(4 * room + 2), longs(room + 1), longs(room + 1),
        ints(room), longs(room), ints(room, width),
    )  # fmt: skip
    return work, scratch


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


def cut_parts_plain(
    lines: Lines, positions: Ints, work: Work, scratch: Scratch, rules: Rules, most_entries: int
) -> None:
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
