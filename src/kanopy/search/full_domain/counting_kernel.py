"""Judging candidates by class sizes alone (k-anonymity): one compiled call per candidate, keys of one word.

Class tables lie one after the other in an arena; a candidate's table is rolled up from the smallest finer one.
"""

from __future__ import annotations

import numpy as np

from kanopy._arrays import Floats, Ints, Longs
from kanopy._compiler import kernel
from kanopy.search.rollup_kernel import roll_up_one_word, smallest_finer


def _plain_count_rows(
    keys: Longs,
    sizes: Longs,
    shift: Longs,
    mask: Longs,
    extra: Floats,
    start: Longs,
    k: int,
    limit: int,
    sums: Floats,
    counts: Longs,
) -> None:
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
    keys: Longs,
    sizes: Longs,
    shift: Longs,
    mask: Longs,
    extra: Floats,
    start: Longs,
    k: int,
    limit: int,
    sums: Floats,
    counts: Longs,
) -> None:
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
    sums[:] = 0.0
    if suppressed > 0 and suppressed <= limit:
        for c in range(len(sizes)):
            size = sizes[c]
            if size < k:
                for j in range(len(start)):
                    sums[j] += size * extra[start[j] + ((keys[c] >> shift[j]) & mask[j])]


def _judge(
    arena_keys: Longs,
    arena_sizes: Longs,
    tables: Longs,
    table_levels: Ints,
    known: int,
    tail: int,
    wanted: Ints,
    shift: Longs,
    mask: Longs,
    deltas: Longs,
    deltas_start: Longs,
    slots: Ints,
    extra: Floats,
    extra_start: Longs,
    k: int,
    limit: int,
    sums: Floats,
    counts: Longs,
) -> None:
    """Roll up the table of `wanted` at the tail of the arena and judge it.

    `tables[0, i]` are class counts and `tables[1, i]` offsets of the known tables; `deltas_start[j, a, b]` is where
    the deltas of attribute `j` from level `a` to `b` begin (-1 where they are equal).
    """
    source = smallest_finer(table_levels, tables[0], known, wanted)
    begin, count = tables[1, source], tables[0, source]
    width = len(wanted)
    start = np.empty(width, np.int64)
    for j in range(width):
        start[j] = deltas_start[j, table_levels[source, j], wanted[j]]
    found = roll_up_one_word(
        arena_keys[begin : begin + count], arena_sizes[begin : begin + count], shift, mask, deltas, start,
        arena_keys[tail:], arena_sizes[tail:], slots,
    )  # fmt: skip
    for j in range(width):
        start[j] = extra_start[j, wanted[j]]
    count_rows(
        arena_keys[tail : tail + found], arena_sizes[tail : tail + found], shift, mask, extra, start,
        k, limit, sums, counts,
    )  # fmt: skip


judge = kernel(_judge)(_judge)
