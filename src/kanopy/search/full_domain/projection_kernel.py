"""Rows that three attributes alone already condemn.

If a combination of three generalized values belongs to fewer than k rows, every class inside it does too. So the
rows in small cells of a three-attribute table are suppressed in every candidate with these three levels, whatever
the other attributes do. Three-attribute tables are small and dense, which makes this the cheapest test there is.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kanopy._arrays import Ints, Longs
from kanopy._compiler import helper, kernel


def _plain_small_cell_rows(
    codes: Ints,
    counts: Ints,
    lifts: Ints,
    starts: Longs,
    sizes: Longs,
    triples: Longs,
    first: Longs,
    last: Longs,
    offsets: Longs,
    k: int,
    out: Longs,
) -> None:
    """NumPy twin of `small_cell_rows`."""
    for t, triple in enumerate(triples):
        place = offsets[t]
        levels = [range(first[t, axis], last[j] + 1) for axis, j in enumerate(triple)]
        for chosen in np.ndindex(*(len(r) for r in levels)):
            cell = np.zeros(codes.shape[1], np.int64)
            for axis, j in enumerate(triple):
                level = levels[axis][chosen[axis]]
                cell = cell * sizes[j, level] + lifts[starts[j, level] + codes[j]]
            rows = np.bincount(cell, weights=counts).astype(np.int64)
            out[place] = rows[rows < k].sum()
            place += 1


@helper
def _roll_axis(source: Ints, target: Ints, outer: int, length: int, inner: int, step: Ints, new_length: int) -> None:
    """Generalize the middle axis of a dense `[outer, length, inner]` table through `step`."""
    target[: outer * new_length * inner] = 0
    if inner == 1:
        for o in range(outer):
            for x in range(length):
                target[o * new_length + step[x]] += source[o * length + x]
        return
    for o in range(outer):
        for x in range(length):
            a = (o * length + x) * inner
            b = (o * new_length + step[x]) * inner
            for i in range(inner):
                target[b + i] += source[a + i]


@helper
def _steps(lifts: Ints, starts: Longs, sizes: Longs, values: int, j: int, low: int, high: int, out: Ints) -> None:
    """`out[level - low]` maps codes of `level` to codes of `level + 1`."""
    for level in range(low, high):
        for x in range(values):
            out[level - low, lifts[starts[j, level] + x]] = lifts[starts[j, level + 1] + x]


@kernel(_plain_small_cell_rows)
def small_cell_rows(
    codes: Ints,
    counts: Ints,
    lifts: Ints,
    starts: Longs,
    sizes: Longs,
    triples: Longs,
    first: Longs,
    last: Longs,
    offsets: Longs,
    k: int,
    out: Longs,
) -> None:
    """For triples of attributes and every combination of their levels: rows in cells of fewer than `k` rows.

    `lifts[starts[j, level] + code]` lifts a code of attribute `j` at its lowest level (0 here) to `level`, which
    has `sizes[j, level]` codes. Triple `t` runs from levels `first[t]` to `last[triples[t]]`; its results go to
    `out[offsets[t]…]`, last attribute fastest. Tables are generalized step by step, each from the one before.
    """
    one: Any = np.int64(1)  # a bare 1 would be a type of its own and compile the helper again
    most = one
    for t in range(len(triples)):
        cells = np.int64(1)
        for axis in range(3):
            cells *= sizes[triples[t, axis], first[t, axis]]
        most = max(most, cells)
    buffers = np.empty((6, most), np.int32)
    rows_of_codes = codes.shape[1]
    for t in range(len(triples)):
        a, b, c = triples[t, 0], triples[t, 1], triples[t, 2]
        fa, fb, fc = first[t, 0], first[t, 1], first[t, 2]
        na, nb, nc = sizes[a, fa], sizes[b, fb], sizes[c, fc]
        la, lb, lc = last[a], last[b], last[c]
        steps_a = np.empty((max(1, la - fa), na), np.int32)
        steps_b = np.empty((max(1, lb - fb), nb), np.int32)
        steps_c = np.empty((max(1, lc - fc), nc), np.int32)
        _steps(lifts, starts, sizes, sizes[a, 0], a, fa, la, steps_a)
        _steps(lifts, starts, sizes, sizes[b, 0], b, fb, lb, steps_b)
        _steps(lifts, starts, sizes, sizes[c, 0], c, fc, lc, steps_c)
        base = buffers[0]
        base[: na * nb * nc] = 0
        if fa == 0 and fb == 0 and fc == 0:
            for x in range(rows_of_codes):
                base[(codes[a, x] * nb + codes[b, x]) * nc + codes[c, x]] += counts[x]
        else:
            for x in range(rows_of_codes):
                ca = np.int64(lifts[starts[a, fa] + codes[a, x]])
                cb = np.int64(lifts[starts[b, fb] + codes[b, x]])
                base[(ca * nb + cb) * nc + lifts[starts[c, fc] + codes[c, x]]] += counts[x]
        place = offsets[t]
        ia, ma = 0, na
        for i in range(fa, la + 1):
            if i > fa:
                _roll_axis(buffers[ia], buffers[1 - ia], one, ma, nb * nc, steps_a[i - 1 - fa], sizes[a, i])
                ia, ma = 1 - ia, sizes[a, i]
            ib, mb = ia, nb
            for j in range(fb, lb + 1):
                if j > fb:
                    target = 3 if ib == 2 else 2
                    _roll_axis(buffers[ib], buffers[target], ma, mb, nc, steps_b[j - 1 - fb], sizes[b, j])
                    ib, mb = target, sizes[b, j]
                ic, mc = ib, nc
                for m in range(fc, lc + 1):
                    if m > fc:
                        target = 5 if ic == 4 else 4
                        _roll_axis(buffers[ic], buffers[target], ma * mb, mc, one, steps_c[m - 1 - fc], sizes[c, m])
                        ic, mc = target, sizes[c, m]
                    table = buffers[ic]
                    rows = np.int64(0)
                    for x in range(ma * mb * mc):
                        rows += table[x] if table[x] < k else 0
                    out[place] = rows
                    place += 1
