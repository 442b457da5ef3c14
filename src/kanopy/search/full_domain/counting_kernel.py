"""Judging candidates by class sizes alone (k-anonymity): one compiled call per candidate, keys of one word.

Class tables lie one after the other in an arena; a candidate's table is rolled up from the smallest finer one.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kanopy._arrays import Floats, IntRows, Ints, LongRows, Longs
from kanopy._compiler import Arrays, kernel
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

    `tables[0, i]` are class counts and `tables[1, i]` offsets of the known tables, `levels[i]` their levels;
    `deltas_start[j * top + a, b]` is where the deltas of attribute `j` from level `a` to `b` of `top` begin (-1 where
    they are equal); `wanted` is the candidate, `sums` and `counts` become what `count_rows` finds, and last the classes
    it was rolled up from.
    """

    keys: Longs
    sizes: Longs
    tables: LongRows
    levels: IntRows
    shift: Longs
    mask: Longs
    deltas: Longs
    deltas_start: LongRows
    slots: Ints
    extra: Floats
    extra_start: LongRows
    wanted: Ints
    start: Longs
    sums: Floats
    counts: Longs


@kernel(makes_arrays=False)
def judge(arena: Arena, known: int, tail: int, k: int, limit: int) -> None:
    """Roll up the table of the candidate wanted at the tail of the arena, and judge it."""
    wanted, start, tables = arena.wanted, arena.start, arena.tables
    source = smallest_finer(arena.levels, tables[0], known, wanted)
    begin, count = tables[1, source], tables[0, source]
    top = arena.deltas_start.shape[1]
    for j in range(len(wanted)):
        start[j] = arena.deltas_start[j * top + arena.levels[source, j], wanted[j]]
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
