"""Mondrian's cuts over distinct tuples with counts: strict or relaxed, by the widest attribute or by least loss.

A part is a list of entries (tuple, how many of its rows). It lives on top of a stack; cutting replaces it by its
pieces there, and a part that cannot be cut is written out as a class. A relaxed cut may pass through a tuple,
whose rows then go to both sides, lowest rows first.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from kanopy._arrays import Ints, Longs
from kanopy._compiler import helper, kernel
from kanopy.search.clustering.lines_kernel import FREE, START, VALUE, Lines, stretch_cost

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


@helper
def _weight(rows: int, k: int) -> int:
    """How much a part's cost counts: its rows, and half of those that will not fill a class of `k`.

    Twice that, to stay with whole numbers. Without the second term greedy cuts leave parts of almost 2k rows.
    """
    return 2 * rows + rows % k


@helper
def _sort_by_place(places: Ints, j: int, least: int, most: int, order: Longs, buckets: Longs) -> None:
    """`order` such that the entries are in ascending order of place; equal places keep their order."""
    size = len(places)
    span = most - least + 1
    if size <= 16:
        for i in range(size):
            place = places[i, j]
            at = i
            while at > 0 and places[order[at - 1], j] > place:
                order[at] = order[at - 1]
                at -= 1
            order[at] = i
    elif span <= 4 * size:
        for b in range(span + 1):
            buckets[b] = 0
        for i in range(size):
            buckets[places[i, j] - least + 1] += 1
        for b in range(span):
            buckets[b + 1] += buckets[b]
        for i in range(size):
            b = places[i, j] - least
            order[buckets[b]] = i
            buckets[b] += 1
    else:
        sorted_order = np.argsort(places[:, j].copy(), kind="mergesort")
        for i in range(size):
            order[i] = sorted_order[i]


@helper
def _running_costs(lines: Lines, places: Ints, order: Longs, size: int, backwards: bool, costs: Longs) -> None:
    """`costs[i]` of covering the first `i+1` entries in order (or, backwards, entries `i … size-1`)."""
    width = places.shape[1]
    head, cells = lines.head, lines.cells
    low = np.empty(width, np.int32)
    high = np.empty(width, np.int32)
    each = np.zeros(width, np.int64)
    first = order[size - 1 if backwards else 0]
    total = 0
    for j in range(width):
        low[j] = places[first, j]
        high[j] = low[j]
        each[j] = stretch_cost(lines, j, low[j], high[j])
        total += each[j]
    for step in range(size):
        i = size - 1 - step if backwards else step
        entry = order[i]
        for j in range(width):
            place = places[entry, j]
            if place < low[j] or place > high[j]:
                low[j] = min(low[j], place)
                high[j] = max(high[j], place)
                total -= each[j]
                if head[j, FREE]:
                    base = head[j, START]
                    each[j] = cells[base + high[j], VALUE] - cells[base + low[j], VALUE]
                else:
                    each[j] = stretch_cost(lines, j, low[j], high[j])
                total += each[j]
        costs[i] = total


@helper
def _best_cut(
    lines: Lines, places: Ints, j: int, counts: Longs, order: Longs, size: int, rows: int, k: int, strict: bool,
    forward: Longs, backward: Longs,
) -> tuple[int, int]:  # fmt: skip
    """Least loss over the cuts of entries in `order`, and the rows on its left. Ties: the most even, then leftmost."""
    _running_costs(lines, places, order, size, False, forward)
    _running_costs(lines, places, order, size, True, backward)
    best = NO_CUT
    best_left = -1
    before = 0
    for i in range(size):
        count = counts[order[i]]
        apart = i > 0 and places[order[i - 1], j] != places[order[i], j]
        if i > 0 and k <= before <= rows - k and (apart or not strict):
            loss = forward[i - 1] * _weight(before, k) + backward[i] * _weight(rows - before, k)
            if loss < best or (loss == best and abs(2 * before - rows) < abs(2 * best_left - rows)):
                best, best_left = loss, before
        if not strict:
            # Within an entry only the outermost cuts can be best: the loss is linear in between.
            for left in (k, rows - k):
                if before < left < before + count:
                    loss = forward[i] * _weight(left, k) + backward[i] * _weight(rows - left, k)
                    if loss < best or (loss == best and abs(2 * left - rows) < abs(2 * best_left - rows)):
                        best, best_left = loss, left
        before += count
    return best, best_left


@helper
def _median_cut(
    lines: Lines, places: Ints, j: int, counts: Longs, order: Longs, size: int, rows: int, k: int, strict: bool
) -> int:
    """Rows left of the cut nearest to the middle (ties: leftmost); -1 if a strict part has none.

    A relaxed cut falls anywhere between numbers, but between children of the common ancestor in a hierarchy if
    it can: elsewhere both sides would keep that ancestor.
    """
    guided = lines.head[j, FREE] == 0
    best_left = -1
    before = 0
    if strict or guided:
        whole = stretch_cost(lines, j, places[order[0], j], places[order[size - 1], j])
        for i in range(1, size):
            before += counts[order[i - 1]]
            left, right = places[order[i - 1], j], places[order[i], j]
            if left == right or before < k or before > rows - k:
                continue
            if best_left >= 0 and abs(2 * before - rows) >= abs(2 * best_left - rows):
                continue
            if guided and stretch_cost(lines, j, left, right) < whole:
                continue
            best_left = before
    return rows // 2 if best_left < 0 and not strict else best_left


@helper
def _children(
    lines: Lines, places: Ints, j: int, counts: Longs, order: Longs, size: int, k: int, pieces: Longs
) -> tuple[int, int]:
    """A strict cut along a hierarchy: one piece per child of the common ancestor, each of `k` rows or more.

    Returns the loss (`NO_CUT` if a child has too few rows) and the number of pieces, whose ends are in `pieces`.
    """
    width = places.shape[1]
    whole = stretch_cost(lines, j, places[order[0], j], places[order[size - 1], j])
    low = np.empty(width, np.int32)
    high = np.empty(width, np.int32)
    number = 0
    inside = 0
    loss = 0
    for i in range(size + 1):
        ends = i == size
        if 0 < i < size:
            left, right = places[order[i - 1], j], places[order[i], j]
            ends = left != right and stretch_cost(lines, j, left, right) == whole
        if ends:
            if inside < k:
                return NO_CUT, 0
            cost = 0
            for q in range(width):
                cost += stretch_cost(lines, q, low[q], high[q])
            loss += cost * _weight(inside, k)
            pieces[number] = i
            number += 1
            inside = 0
        if i == size:
            break
        entry = order[i]
        for q in range(width):
            place = places[entry, q]
            if inside == 0 or place < low[q]:
                low[q] = place
            if inside == 0 or place > high[q]:
                high[q] = place
        inside += counts[order[i]]
    return loss, number


@helper
def _widest_first(lines: Lines, low: Ints, high: Ints, ranked: Longs) -> int:
    """Attributes that vary in a part, the costliest first (ties: the first named); returns how many."""
    number = 0
    widths = np.empty(len(low), np.int64)
    for j in range(len(low)):
        if high[j] > low[j]:
            widths[j] = stretch_cost(lines, j, low[j], high[j])
            at = number
            while at > 0 and widths[ranked[at - 1]] < widths[j]:
                ranked[at] = ranked[at - 1]
                at -= 1
            ranked[at] = j
            number += 1
    return number


@helper
def _put(work: Work, scratch: Scratch, entry: int, rows: int, to: int) -> None:
    """Put so many rows of an entry of the part at hand onto the stack."""
    work.tuples[to] = scratch.tuples[entry]
    work.counts[to] = rows
    for j in range(work.places.shape[1]):
        work.places[to, j] = scratch.places[entry, j]


@kernel()
def cut_parts(lines: Lines, positions: Ints, work: Work, scratch: Scratch, rules: Rules, most_entries: int) -> None:
    """Cut parts until none is left or about `most_entries` entries were looked at; call again to go on."""
    width = positions.shape[1]
    state, edge = work.state, work.edge
    low = np.empty(width, np.int32)
    high = np.empty(width, np.int32)
    ranked = np.empty(width, np.int64)
    order, best_order = scratch.order, scratch.best_order
    pieces, best_pieces = scratch.pieces, scratch.best_pieces
    spare_tuples, spare_counts, spare_places = scratch.tuples, scratch.counts, scratch.places
    k, strict = rules.k, rules.strict
    seen = 0
    while state[PARTS] > 0 and seen < most_entries:
        begin, end = edge[state[PARTS] - 1], edge[state[PARTS]]
        size = end - begin
        seen += size
        tuples = work.tuples[begin:end]
        counts = work.counts[begin:end]
        places = work.places[begin:end]
        rows = 0
        for j in range(width):
            low[j] = places[0, j]
            high[j] = low[j]
        for i in range(size):
            rows += counts[i]
            for j in range(width):
                place = places[i, j]
                if place < low[j]:
                    low[j] = place
                if place > high[j]:
                    high[j] = place
        varying = _widest_first(lines, low, high, ranked)
        by_loss = size <= rules.look
        best = NO_CUT
        best_left = 0
        best_number = 0
        if rows >= 2 * k:
            for at in range(varying):
                if by_loss and at >= rules.tries and best < NO_CUT:
                    break
                j = ranked[at]
                _sort_by_place(places, j, low[j], high[j], order, scratch.buckets)
                number = 2
                left = 0
                if strict and lines.head[j, FREE] == 0:
                    loss, number = _children(lines, places, j, counts, order, size, k, pieces)
                elif by_loss:
                    loss, left = _best_cut(
                        lines, places, j, counts, order, size, rows, k, strict, scratch.forward, scratch.backward
                    )
                else:
                    left = _median_cut(lines, places, j, counts, order, size, rows, k, strict)
                    loss = 0 if left > 0 else NO_CUT
                if loss < best:
                    best, best_left, best_number = loss, left, number
                    for i in range(size):
                        best_order[i] = order[i]
                    if left == 0:
                        for i in range(number):
                            best_pieces[i] = pieces[i]
                    if not by_loss:
                        break
        state[PARTS] -= 1
        if best == NO_CUT:
            written = state[WRITTEN]
            for i in range(size):
                work.out_tuples[written + i] = tuples[i]
                work.out_counts[written + i] = counts[i]
                work.out_classes[written + i] = state[CLASSES]
            state[WRITTEN] += size
            state[CLASSES] += 1
            continue
        for i in range(size):
            spare_tuples[i] = tuples[best_order[i]]
            spare_counts[i] = counts[best_order[i]]
            for j in range(width):
                spare_places[i, j] = places[best_order[i], j]
        # The leftmost piece goes on top, so that classes are written from left to right.
        if best_left == 0:
            to = begin
            for number in range(best_number - 1, -1, -1):
                first = best_pieces[number - 1] if number > 0 else 0
                for i in range(first, best_pieces[number]):
                    _put(work, scratch, i, spare_counts[i], to)
                    to += 1
                state[PARTS] += 1
                edge[state[PARTS]] = to
            continue
        middle = 0
        before = 0
        while before + spare_counts[middle] <= best_left:
            before += spare_counts[middle]
            middle += 1
        to = begin
        for i in range(middle, size):
            _put(work, scratch, i, spare_counts[i], to)
            to += 1
        work.counts[begin] -= best_left - before
        state[PARTS] += 1
        edge[state[PARTS]] = to
        for i in range(middle):
            _put(work, scratch, i, spare_counts[i], to)
            to += 1
        if best_left > before:
            _put(work, scratch, middle, best_left - before, to)
            to += 1
        state[PARTS] += 1
        edge[state[PARTS]] = to
