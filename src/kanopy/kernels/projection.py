"""Rows that three attributes alone already condemn.

If a combination of three generalized values belongs to fewer than k rows, every class inside it does too. So the
rows in small cells of a three-attribute table are suppressed in every candidate with these three levels, whatever
the other attributes do. Three-attribute tables are small and dense, which makes this the cheapest test there is.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from kanopy.kernels.compiler import kernel

Ints = npt.NDArray[np.int32]
Longs = npt.NDArray[np.int64]


def _plain_small_cell_rows(
    codes: Ints, counts: Longs, maps: Ints, starts: Longs, sizes: Longs, levels: Longs, k: int
) -> Longs:
    """NumPy twin of `small_cell_rows`."""
    result = np.zeros((levels[0], levels[1], levels[2]), np.int64)
    for place in np.ndindex(*result.shape):
        cell = np.zeros(codes.shape[1], np.int64)
        for axis, level in enumerate(place):
            begin = starts[axis, level]
            cell = cell * sizes[axis, level] + maps[begin + codes[axis]]
        rows = np.bincount(cell, weights=counts).astype(np.int64)
        result[place] = rows[rows < k].sum()
    return result


@kernel(_plain_small_cell_rows)
def small_cell_rows(
    codes: Ints, counts: Longs, maps: Ints, starts: Longs, sizes: Longs, levels: Longs, k: int
) -> Longs:
    """For every combination of levels of three attributes, how many rows lie in cells of fewer than `k` rows.

    `codes[axis, t]` are codes at the lowest level; `maps[starts[axis, level] + code]` lifts them to a level, which
    has `sizes[axis, level]` codes. The table is generalized one axis after the other, so each step works on what
    the previous one left.
    """
    n0, n1, n2 = sizes[0, 0], sizes[1, 0], sizes[2, 0]
    base = np.zeros(n0 * n1 * n2, np.int64)
    for t in range(codes.shape[1]):
        c0 = maps[starts[0, 0] + codes[0, t]]
        c1 = maps[starts[1, 0] + codes[1, t]]
        c2 = maps[starts[2, 0] + codes[2, t]]
        base[(c0 * n1 + c1) * n2 + c2] += counts[t]
    first = np.empty(n0 * n1 * n2, np.int64)
    second = np.empty(n0 * n1 * n2, np.int64)
    third = np.empty(n0 * n1 * n2, np.int64)
    # Maps between levels: the code at a higher level of each code at the lowest level that is used here.
    lift0 = np.empty((levels[0], n0), np.int64)
    lift1 = np.empty((levels[1], n1), np.int64)
    lift2 = np.empty((levels[2], n2), np.int64)
    for level in range(levels[0]):
        for x in range(sizes[0, levels[0]]):
            lift0[level, maps[starts[0, 0] + x]] = maps[starts[0, level] + x]
    for level in range(levels[1]):
        for x in range(sizes[1, levels[1]]):
            lift1[level, maps[starts[1, 0] + x]] = maps[starts[1, level] + x]
    for level in range(levels[2]):
        for x in range(sizes[2, levels[2]]):
            lift2[level, maps[starts[2, 0] + x]] = maps[starts[2, level] + x]
    result = np.zeros((levels[0], levels[1], levels[2]), np.int64)
    for i in range(levels[0]):
        m0 = sizes[0, i]
        first[: m0 * n1 * n2] = 0
        for a in range(n0):
            source = a * n1 * n2
            target = lift0[i, a] * n1 * n2
            for x in range(n1 * n2):
                first[target + x] += base[source + x]
        for j in range(levels[1]):
            m1 = sizes[1, j]
            second[: m0 * m1 * n2] = 0
            for a in range(m0):
                for b in range(n1):
                    source = (a * n1 + b) * n2
                    target = (a * m1 + lift1[j, b]) * n2
                    for x in range(n2):
                        second[target + x] += first[source + x]
            for m in range(levels[2]):
                m2 = sizes[2, m]
                rows = np.int64(0)
                if m2 == n2:
                    for x in range(m0 * m1 * n2):
                        if second[x] < k:
                            rows += second[x]
                else:
                    third[: m0 * m1 * m2] = 0
                    for ab in range(m0 * m1):
                        for c in range(n2):
                            third[ab * m2 + lift2[m, c]] += second[ab * n2 + c]
                    for x in range(m0 * m1 * m2):
                        if third[x] < k:
                            rows += third[x]
                result[i, j, m] = rows
    return result
