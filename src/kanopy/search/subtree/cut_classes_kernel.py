"""The classes of a cut, for searches that look at thousands of cuts."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from kanopy._arrays import Floats, Ints, Longs
from kanopy._compiler import kernel

Flags = npt.NDArray[np.bool_]


def classes_of_cut_plain(leaves: Ints, digit: Longs, counts: Longs, slots: Longs, number: Ints, sizes: Longs) -> int:
    """The twin of `classes_of_cut`."""
    _, first, inverse = np.unique(digit[leaves].sum(axis=1), return_index=True, return_inverse=True)
    rank = np.empty(len(first), np.int32)
    rank[np.argsort(first, kind="stable")] = np.arange(len(first), dtype=np.int32)
    number[:] = rank[inverse.reshape(-1)]
    sizes[: len(first)] = np.bincount(number, weights=counts, minlength=len(first))
    return len(first)


@kernel(classes_of_cut_plain)
def classes_of_cut(leaves: Ints, digit: Longs, counts: Longs, slots: Longs, number: Ints, sizes: Longs) -> int:
    """Number the classes of a cut by first appearance, and add up their rows; returns how many there are.

    The digits of the leaves of a record add up to its key: equal for records that the cut publishes alike. `slots` is
    scratch, `[2^m, 2]` with at least twice as many slots as records; `sizes` has room for one class per record.
    """
    mask = len(slots) - 1
    for empty in range(len(slots)):
        slots[empty, 0] = -1
    found = 0
    last_key: np.int64 = np.int64(-1)
    last: int = -1
    for record in range(len(leaves)):
        key = np.int64(0)
        for j in range(leaves.shape[1]):
            key += digit[leaves[record, j]]
        if key != last_key:
            # Multiplying by an odd constant and folding the high half spreads consecutive keys over the table.
            mixed = key * np.int64(-7046029254386353131)
            slot = int((mixed ^ (mixed >> 32)) & mask)
            while slots[slot, 0] != key and slots[slot, 0] >= 0:
                slot = (slot + 1) & mask
            if slots[slot, 0] < 0:
                slots[slot, 0] = key
                slots[slot, 1] = found
                sizes[found] = 0
                found += 1
            last_key, last = key, slots[slot, 1]
        number[record] = last
        sizes[last] += counts[record]
    return found


def lost_by_suppression_plain(
    leaves: Ints, number: Ints, counts: Longs, unsafe: Flags, keep: Floats, sums: Floats
) -> None:
    """The twin of `lost_by_suppression`."""
    gone = unsafe[number]
    sums[:] = (keep[leaves[gone]] * counts[gone][:, None]).sum(axis=0)


@kernel(lost_by_suppression_plain)
def lost_by_suppression(leaves: Ints, number: Ints, counts: Longs, unsafe: Flags, keep: Floats, sums: Floats) -> None:
    """Per column what the rows of unsafe classes would keep if they were published (`keep` per leaf)."""
    for j in range(len(sums)):
        sums[j] = 0.0
    for record in range(len(number)):
        if unsafe[number[record]]:
            for j in range(len(sums)):
                sums[j] += counts[record] * keep[leaves[record, j]]
