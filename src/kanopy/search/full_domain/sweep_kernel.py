"""Judge every level combination of the remaining attributes in one compiled walk.

The walk is an odometer: each attribute keeps the class table of its current level, made in place from the level
below; the attributes after it start again from that table. Every candidate costs one roll-up of a table that is
only slightly larger than its own.
"""

from __future__ import annotations

import numpy as np

from kanopy._arrays import Floats, Longs
from kanopy._compiler import kernel
from kanopy.search.full_domain.counting_kernel import count_rows
from kanopy.search.rollup_kernel import roll_up_one_word


@kernel()
def sweep(
    keys: Longs, sizes: Longs, shift: Longs, mask: Longs, deltas: Longs, steps: Longs, moving: Longs, lengths: Longs,
    strides: Longs, origin: int, fixed: Longs, k: int, limit: int, extra: Floats, extra_starts: Longs,
    counts: Longs, sums: Floats,
) -> None:  # fmt: skip
    """Judge all candidates that move the attributes `moving` (last one fastest) and hold the others.

    `steps[j, level]` is where the deltas from `level` to `level + 1` begin. Candidate `origin + Σ level·stride`
    gets `counts[…]` and `sums[…, j]` as in `count_rows`.
    """
    width = len(fixed)
    depth = len(moving)
    most = len(keys)
    table_keys = np.empty((depth + 1, most), np.int64)
    table_sizes = np.empty((depth + 1, most), np.int64)
    filled = np.zeros(depth + 1, np.int64)
    source = np.zeros(depth + 1, np.int64)
    capacity = 16
    while capacity < 2 * most:
        capacity *= 2
    slots = np.empty(capacity, np.int32)
    for c in range(most):
        table_keys[0, c] = keys[c]
        table_sizes[0, c] = sizes[c]
    filled[0] = most
    levels = np.zeros(depth, np.int64)
    start = np.full(width, -1, np.int64)
    place = np.empty(width, np.int64)
    number = origin
    while True:
        at = source[depth]
        count = filled[at]
        for j in range(width):
            place[j] = extra_starts[j, fixed[j]]
        for i in range(depth):
            place[moving[i]] = extra_starts[moving[i], fixed[moving[i]] + levels[i]]
        count_rows(
            table_keys[at][:count], table_sizes[at][:count], shift, mask, extra, place, k, limit,
            sums[number], counts[number],
        )  # fmt: skip
        i = depth - 1
        while i >= 0 and levels[i] == lengths[i] - 1:
            number -= levels[i] * strides[i]
            levels[i] = 0
            i -= 1
        if i < 0:
            return
        j = moving[i]
        start[j] = steps[j, fixed[j] + levels[i]]
        levels[i] += 1
        number += strides[i]
        # At its lowest level an attribute shares the table of the attribute before it; from then on it owns one.
        at = i + 1 if levels[i] > 1 else source[i]
        count = filled[at]
        filled[i + 1] = roll_up_one_word(
            table_keys[at][:count], table_sizes[at][:count], shift, mask, deltas, start,
            table_keys[i + 1], table_sizes[i + 1], slots,
        )  # fmt: skip
        start[j] = -1
        for deeper in range(i + 1, depth + 1):
            source[deeper] = i + 1
