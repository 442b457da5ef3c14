"""Rows that three attributes alone already condemn.

If a combination of three generalized values belongs to fewer than k rows, every class inside it does too. So the
rows in small cells of a three-attribute table are suppressed in every candidate with these three levels, whatever
the other attributes do. Three-attribute tables are small and dense, which makes this the cheapest test there is.
"""

from __future__ import annotations

import numpy as np

from kanopy._arrays import IntRows, Ints, LongRows, Longs
from kanopy._compiler import PLAIN, helper, kernel


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
def _roll_axis(
    room: Ints, source: int, target: int, outer: int, length: int, inner: int, step: Ints, new_length: int
) -> None:
    """Generalize the middle axis of a dense `[outer, length, inner]` table in `room` through `step`."""
    for x in range(outer * new_length * inner):
        room[target + x] = 0
    if inner == 1:
        for o in range(outer):
            for x in range(length):
                room[target + o * new_length + step[x]] += room[source + o * length + x]
        return
    for o in range(outer):
        for x in range(length):
            a = source + (o * length + x) * inner
            b = target + (o * new_length + step[x]) * inner
            for i in range(inner):
                room[b + i] += room[a + i]


@helper
def _steps(lifts: Ints, starts: LongRows, values: int, j: int, low: int, high: int, out: Ints, width: int) -> None:
    """`out[(level - low) * width …]` maps codes of `level` to codes of `level + 1`."""
    for level in range(low, high):
        for x in range(values):
            out[(level - low) * width + lifts[starts[j, level] + x]] = lifts[starts[j, level + 1] + x]


@kernel(makes_arrays=False)
def small_cells(
    codes: IntRows, counts: Ints, lifts: Ints, starts: LongRows, sizes: LongRows, triples: LongRows, first: LongRows,
    last: Longs, offsets: Longs, k: int, out: Longs, room: Ints, steps: IntRows,
) -> None:  # fmt: skip
    """The loop of `small_cell_rows`; `room` has place for six tables, `steps` per axis for the maps of all levels."""
    most, width = len(room) // 6, steps.shape[1] // starts.shape[1]
    for t in range(len(triples)):
        a, b, c = triples[t, 0], triples[t, 1], triples[t, 2]
        fa, fb, fc = first[t, 0], first[t, 1], first[t, 2]
        na, nb, nc = sizes[a, fa], sizes[b, fb], sizes[c, fc]
        la, lb, lc = last[a], last[b], last[c]
        _steps(lifts, starts, sizes[a, 0], a, fa, la, steps[0], width)
        _steps(lifts, starts, sizes[b, 0], b, fb, lb, steps[1], width)
        _steps(lifts, starts, sizes[c, 0], c, fc, lc, steps[2], width)
        for x in range(na * nb * nc):
            room[x] = 0
        at_a, at_b, at_c = starts[a, fa], starts[b, fb], starts[c, fc]
        for x in range(codes.shape[1] if fa + fb + fc == 0 else 0):
            room[(codes[a, x] * nb + codes[b, x]) * nc + codes[c, x]] += counts[x]
        for x in range(codes.shape[1] if fa + fb + fc > 0 else 0):
            cell = (lifts[at_a + codes[a, x]] * nb + lifts[at_b + codes[b, x]]) * nc + lifts[at_c + codes[c, x]]
            room[cell] += counts[x]
        place = offsets[t]
        ia, ma = 0, na
        for i in range(fa, la + 1):
            if i > fa:
                step = steps[0][(i - 1 - fa) * width :]
                _roll_axis(room, ia * most, (1 - ia) * most, 1, ma, nb * nc, step, sizes[a, i])
                ia, ma = 1 - ia, sizes[a, i]
            ib, mb = ia, nb
            for j in range(fb, lb + 1):
                if j > fb:
                    target = 3 if ib == 2 else 2
                    step = steps[1][(j - 1 - fb) * width :]
                    _roll_axis(room, ib * most, target * most, ma, mb, nc, step, sizes[b, j])
                    ib, mb = target, sizes[b, j]
                ic, mc = ib, nc
                for m in range(fc, lc + 1):
                    if m > fc:
                        target = 5 if ic == 4 else 4
                        step = steps[2][(m - 1 - fc) * width :]
                        _roll_axis(room, ic * most, target * most, ma * mb, mc, 1, step, sizes[c, m])
                        ic, mc = target, sizes[c, m]
                    rows = 0
                    for x in range(ic * most, ic * most + ma * mb * mc):
                        rows += room[x] if room[x] < k else 0
                    out[place] = rows
                    place += 1


def small_cell_rows(
    codes: Ints, counts: Ints, lifts: Ints, starts: Longs, sizes: Longs, triples: Longs, first: Longs, last: Longs,
    offsets: Longs, k: int, out: Longs,
) -> None:  # fmt: skip
    """For triples of attributes and every combination of their levels: rows in cells of fewer than `k` rows.

    `lifts[starts[j, level] + code]` lifts a code of attribute `j` at its lowest level (0 here) to `level`, which
    has `sizes[j, level]` codes. Triple `t` runs from levels `first[t]` to `last[triples[t]]`; its results go to
    `out[offsets[t]…]`, last attribute fastest. Tables are generalized step by step, each from the one before.
    """
    if PLAIN:
        return _plain_small_cell_rows(codes, counts, lifts, starts, sizes, triples, first, last, offsets, k, out)
    cells = sizes[triples, first].prod(axis=1).max(initial=1)
    room, steps = np.empty(6 * cells, np.int32), np.empty((3, starts.shape[1] * sizes.max(initial=1)), np.int32)
    small_cells(codes, counts, lifts, starts, sizes, triples, first, last, offsets, k, out, room, steps)


small_cell_rows.plain = _plain_small_cell_rows  # type: ignore[attr-defined]
