"""Judging candidates by class sizes alone (k-anonymity): one compiled call per candidate, keys of one word.

Class tables lie one after the other in an arena; a candidate's table is rolled up from the smallest finer one.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kanopy._arrays import Bytes, FloatRows, Floats, IntRows, Ints, LongRows, Longs, ShortRows
from kanopy._compiler import Arrays, helper, kernel
from kanopy.search.rollup_kernel import roll_up_one_word, smallest_finer


def _plain_count_rows(
    keys: Longs, sizes: Longs, shift: Longs, mask: Longs, extra: Floats, start: Longs, k: int, limit: int,
    sums: Floats, counts: Longs,
) -> None:  # fmt: skip
    """NumPy twin of `count_rows`."""
    small = sizes < k
    bad, kept = sizes[small], sizes[~small]
    counts[:] = len(kept), bad.sum(), (kept * kept).sum(), len(sizes), (sizes * sizes).sum()
    sums[:] = 0.0
    if bad.sum() <= limit:
        for j in range(len(start)):
            code = (keys[small] >> shift[j]) & mask[j]
            sums[j] = float((bad * extra[start[j] + code]).sum())


@kernel(_plain_count_rows)
def count_rows(
    keys: Longs, sizes: Longs, shift: Longs, mask: Longs, extra: Floats, start: Longs, k: int, limit: int,
    sums: Floats, counts: Longs,
) -> None:  # fmt: skip
    """`counts` becomes kept classes, suppressed rows, kept squares, all classes, all squares under k-anonymity.

    If at most `limit` rows are suppressed, `sums[j]` is what suppressing them costs attribute `j` beyond its level.
    """
    kept = np.int64(0)
    suppressed = np.int64(0)
    squares = np.int64(0)
    small_squares = np.int64(0)
    for c in range(len(sizes)):
        size = sizes[c]
        if size >= k:
            kept += 1
            squares += size * size
        else:
            suppressed += size
            small_squares += size * size
    counts[0] = kept
    counts[1] = suppressed
    counts[2] = squares
    counts[3] = len(sizes)
    counts[4] = squares + small_squares
    for j in range(len(sums)):
        sums[j] = 0.0
    if suppressed > 0 and suppressed <= limit:
        for c in range(len(sizes)):
            size = sizes[c]
            if size < k:
                for j in range(len(start)):
                    sums[j] += size * extra[start[j] + ((keys[c] >> shift[j]) & mask[j])]


@dataclass(frozen=True, eq=False)
class Arena(Arrays):
    """Class tables one after the other, what candidates are rolled up with, and room for the answer.

    `free` are the columns with more than one level. `tables[0, i]` are class counts and `tables[1, i]` offsets of the
    known tables, `levels[i]` their levels in the free columns; `deltas_start[j * top + a, b]` is where the deltas of
    attribute `j` from level `a` to `b` of `top` begin (-1 where they are equal); `wanted` is the candidate, and `place`
    its levels in the free columns; `sums` and `counts` become what `count_rows` finds, and last the classes it was
    rolled up from.
    """

    keys: Longs
    sizes: Longs
    tables: LongRows
    levels: IntRows
    free: Longs
    shift: Longs
    mask: Longs
    deltas: Longs
    deltas_start: LongRows
    slots: Ints
    extra: Floats
    extra_start: LongRows
    wanted: Ints
    place: Ints
    start: Longs
    sums: Floats
    counts: Longs


@kernel(makes_arrays=False)
def judge(arena: Arena, known: int, tail: int, k: int, limit: int) -> None:
    """Roll up the table of the candidate wanted at the tail of the arena, and judge it."""
    wanted, place, free, start, tables = arena.wanted, arena.place, arena.free, arena.start, arena.tables
    for i in range(len(free)):
        place[i] = wanted[free[i]]
    source = smallest_finer(arena.levels, tables[0], known, place)
    begin, count = tables[1, source], tables[0, source]
    top = arena.deltas_start.shape[1]
    for j in range(len(wanted)):
        start[j] = -1
    for i in range(len(free)):
        start[free[i]] = arena.deltas_start[free[i] * top + arena.levels[source, i], place[i]]
    found = roll_up_one_word(
        arena.keys[begin : begin + count], arena.sizes[begin : begin + count], arena.shift, arena.mask, arena.deltas,
        start, arena.keys[tail:], arena.sizes[tail:], arena.slots,
    )  # fmt: skip
    for j in range(len(wanted)):
        start[j] = arena.extra_start[j, wanted[j]]
    count_rows(
        arena.keys[tail : tail + found], arena.sizes[tail : tail + found], arena.shift, arena.mask, arena.extra, start,
        k, limit, arena.sums, arena.counts[:5],
    )  # fmt: skip
    arena.counts[5] = count


PENDING, TURN, TABLES, TAIL, JUDGED, FAILED = 0, 1, 2, 3, 4, 5
"""What `Branch.state` holds: candidates that are open, whose turn it is, tables in the arena and where the next one
begins, candidates judged, and of those that failed the ones that are not finer than another."""


@dataclass(frozen=True, eq=False)
class Branch(Arrays):
    """Candidates to choose from, and how far the choice has come.

    `levels[i]` are the levels of candidate `i` in the columns that are free, `bounds[i]` what it loses at least, in
    ascending order. `pending` are those still open; `judged` and `failed` the answers so far (see `state`). `anchored`
    says of which columns an anchor has the levels (see `ClassTables.anchor`), and `spent` the work done.
    """

    levels: IntRows
    bounds: Floats
    anchored: Ints
    pending: Ints
    judged: Ints
    failed: Ints
    state: Longs
    spent: Floats


@helper
def _without_finer(levels: IntRows, numbers: Ints, count: int, failed: int) -> int:
    """Take out what is nowhere coarser than one that failed; how many are left."""
    left = 0
    for i in range(count):
        for j in range(levels.shape[1]):
            if levels[numbers[i], j] > levels[failed, j]:
                numbers[left] = numbers[i]
                left += 1
                break
    return left


@kernel(makes_arrays=False)
def pick(branch: Branch, ceiling: float, failed: int) -> int:
    """The next candidate to be judged, -1 if none is left whose bound is not above the ceiling.

    `failed`, if it is not -1, was the last one, and rules out what is finer. Picks come from the dear end and from the
    middle in turn: the first show soon that nothing is better, the second find soon what is.
    """
    state, pending, levels = branch.state, branch.pending, branch.levels
    left = state[PENDING]
    if failed >= 0:
        left = _without_finer(levels, pending, left, failed)
        state[FAILED] = _without_finer(levels, branch.failed, state[FAILED], failed)
        branch.failed[state[FAILED]] = failed
        state[FAILED] += 1
    while left > 0 and branch.bounds[pending[left - 1]] > ceiling:
        left -= 1
    if left == 0:
        state[PENDING] = 0
        return -1
    place = left - 1 if state[TURN] == 0 else (left - 1) // 2
    state[TURN] = 1 - state[TURN]
    number = int(pending[place])
    for i in range(place, left - 1):
        pending[i] = pending[i + 1]
    state[PENDING] = left - 1
    branch.judged[state[JUDGED]] = number
    state[JUDGED] += 1
    return number


@helper
def _add_table(arena: Arena, state: Longs, k: int, limit: int) -> None:
    """Judge the candidate wanted and keep its table; where there is no room, begin again with the first one."""
    if state[TAIL] + arena.tables[0, 0] > len(arena.keys) or state[TABLES] == len(arena.levels):
        state[TABLES] = 1
        state[TAIL] = arena.tables[0, 0]
    judge(arena, state[TABLES], state[TAIL], k, limit)
    number = state[TABLES]
    for i in range(len(arena.place)):
        arena.levels[number, i] = arena.place[i]
    arena.tables[0, number] = arena.counts[3]
    arena.tables[1, number] = state[TAIL]
    state[TABLES] += 1
    state[TAIL] += arena.counts[3]


@helper
def _is_there(arena: Arena, tables: int) -> bool:
    """Whether the candidate wanted has its table in the arena."""
    for number in range(tables):
        same = True
        for i in range(len(arena.free)):
            if arena.levels[number, i] != arena.wanted[arena.free[i]]:
                same = False
                break
        if same:
            return True
    return False


@kernel(makes_arrays=False)
def next_feasible(
    arena: Arena, branch: Branch, k: int, limit: int, most_suppressed: int, ceiling: float, failed: int,
    seconds: float, seconds_each: float, seconds_per_class: float, seconds_per_pending: float,
) -> int:  # fmt: skip
    """Judge one pick after the other until one is feasible by class sizes, and return it.

    -1 if none is left, or if the work is over: `spent` has come to `seconds`.
    """
    state, spent, free, levels = branch.state, branch.spent, arena.free, branch.levels
    while spent[0] < seconds:
        spent[0] += seconds_per_pending * state[PENDING]
        number = pick(branch, ceiling, failed)
        if number < 0:
            return -1
        spent[0] += seconds_each
        itself = True
        for i in range(len(free)):
            arena.wanted[free[i]] = levels[number, i] if branch.anchored[i] > 0 else arena.levels[0, i]
            itself = itself and arena.wanted[free[i]] == levels[number, i]
        if not itself and not _is_there(arena, state[TABLES]):
            _add_table(arena, state, k, -1)
            spent[0] += seconds_per_class * arena.counts[5]
        for i in range(len(free)):
            arena.wanted[free[i]] = levels[number, i]
        _add_table(arena, state, k, limit)
        spent[0] += seconds_per_class * arena.counts[5]
        if arena.counts[1] <= most_suppressed:
            return number
        failed = number
    return -1


@dataclass(frozen=True, eq=False)
class Between(Arrays):
    """All candidates from the levels `lowest` to `highest`; those of the columns `opened` differ, the last quickest.

    Packed levels have column `j` in word `word[j]` from bit `shift[j]` on, with a bit more than it needs, which is set
    in `guard`: then one subtraction compares the levels of many columns. `terms[j, level]` is what a level adds to the
    bound. Room for `possible` and `bounds` may be more than is needed, and `ends` is for the packed levels of both.
    """

    lowest: Longs
    highest: Longs
    opened: Longs
    word: Longs
    shift: Longs
    guard: Longs
    ends: LongRows
    terms: FloatRows
    possible: Bytes
    bounds: Floats


@helper
def _place(between: Between, width: int, levels: ShortRows, row: int) -> int:
    """The number of a candidate, its levels lowered to the highest where they are above."""
    place = 0
    for i in range(width):
        j = between.opened[i]
        low, high = between.lowest[j], between.highest[j]
        place = place * (high - low + 1) + min(np.int64(levels[row, j]), high) - low
    return place


@kernel(makes_arrays=False)
def list_open(
    between: Between, width: int, size: int, failed: ShortRows, failed_words: LongRows, failures: int,
    known: ShortRows, known_words: LongRows, hits: Ints,
) -> int:  # fmt: skip
    """Which candidates are `possible`, not finer than one that failed and not known, and what each loses at least.

    There are `size` of them, by the first `width` columns that are `opened`. `hits` become those of the known ones, as
    many as it has room for, that lie between. Returns how many these are, or -1 if everything is finer than one that
    failed.
    """
    lowest, highest, opened, guard = between.lowest, between.highest, between.opened, between.guard
    possible, bounds, terms, ends = between.possible, between.bounds, between.terms, between.ends
    for w in range(len(guard)):
        ends[0, w] = 0
        ends[1, w] = 0
    for j in range(len(lowest)):
        ends[0, between.word[j]] += lowest[j] << between.shift[j]
        ends[1, between.word[j]] += highest[j] << between.shift[j]
    for i in range(size):
        possible[i] = 1
    for row in range(failures):
        rules_out = True
        for w in range(len(guard)):
            rules_out &= ((failed_words[row, w] | guard[w]) - ends[0, w]) & guard[w] == guard[w]
        if rules_out:
            place = _place(between, width, failed, row)
            if place == size - 1:
                return -1
            possible[place] = 0
    base = 0.0
    for j in range(len(lowest)):
        base += terms[j, lowest[j]]
    for i in range(size):
        bounds[i] = base
    stride = 1
    for i in range(width - 1, -1, -1):
        j = opened[i]
        length = highest[j] - lowest[j] + 1
        for begin in range(0, size, stride * length):
            for x in range(length - 2, -1, -1):
                for at in range(begin + x * stride, begin + (x + 1) * stride):
                    possible[at] &= possible[at + stride]
            for x in range(1, length):
                more = terms[j, lowest[j] + x] - terms[j, lowest[j]]
                for at in range(begin + x * stride, begin + (x + 1) * stride):
                    bounds[at] += more
        stride *= length
    count = 0
    for row in range(len(hits)):
        lies_between = True
        for w in range(len(guard)):
            word = known_words[row, w]
            lies_between &= ((word | guard[w]) - ends[0, w]) & guard[w] == guard[w]
            lies_between &= ((ends[1, w] | guard[w]) - word) & guard[w] == guard[w]
        if lies_between:
            possible[_place(between, width, known, row)] = 0
            hits[count] = row
            count += 1
    return count
