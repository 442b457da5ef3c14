"""Number the distinct keys of a long array in order of first appearance; `numbering` is what others call."""

from __future__ import annotations

import numpy as np

from kanopy._arrays import Ints, Longs
from kanopy._compiler import kernel
from kanopy._core.numbering import number_keys_plain, pack_plain


@kernel(pack_plain)
def pack(keys: Longs, codes: Ints, size: int) -> None:
    """Append one digit of base `size` to every key in place; a negative code or key makes the key -1."""
    for row in range(len(keys)):
        if keys[row] >= 0 and codes[row] >= 0:
            keys[row] = keys[row] * size + codes[row]
        else:
            keys[row] = -1


@kernel(number_keys_plain)
def number_keys(keys: Longs, direct: int, number: Ints) -> tuple[Longs, Longs]:
    """Write into `number` the rank of each key by first appearance (-1 for negative keys).

    `direct` is one more than the largest key possible where a table of that length is affordable, else 0 (then a
    hash table is used). Returns the row where each distinct key first appears, and how often it occurs.
    """
    room = 1024
    first = np.empty(room, np.int64)
    found = 0
    if direct > 0:
        slots = np.empty(direct, np.int32)
        for slot in range(direct):
            slots[slot] = -1
        held = np.empty((0, 2), np.int64)
        mask = 0
    else:
        # Key and number lie side by side, so that a lookup costs one visit to memory and not two.
        mask = 4095
        slots = np.empty(0, np.int32)
        held = np.empty((mask + 1, 2), np.int64)
        held[:, :] = -1
    for row in range(len(keys)):
        key = keys[row]
        if key < 0:
            number[row] = -1
            continue
        if direct > 0:
            slot = key
            at = int(slots[slot])
        else:
            # Multiplying by an odd constant and folding the high half spreads consecutive keys over the table.
            mixed = key * np.int64(-7046029254386353131)
            slot = (mixed ^ (mixed >> 32)) & mask
            while held[slot, 0] != key and held[slot, 0] >= 0:
                slot = (slot + 1) & mask
            at = int(held[slot, 1])
        if at < 0:
            at = found
            if found == room:
                room *= 2
                wider_first = np.empty(room, np.int64)
                # A loop, because assigning a slice makes the compiler build its error messages too: seconds more.
                for old in range(found):
                    wider_first[old] = first[old]
                first = wider_first
            first[found] = row
            found += 1
            if direct > 0:
                slots[slot] = at
            else:
                held[slot, 0] = key
                held[slot, 1] = at
                if found * 2 > mask:
                    mask = mask * 4 + 3
                    held = np.empty((mask + 1, 2), np.int64)
                    held[:, :] = -1
                    for old in range(found):
                        again = keys[first[old]]
                        mixed = again * np.int64(-7046029254386353131)
                        slot = (mixed ^ (mixed >> 32)) & mask
                        while held[slot, 0] >= 0:
                            slot = (slot + 1) & mask
                        held[slot, 0] = again
                        held[slot, 1] = old
        number[row] = at
    counts = np.zeros(found, np.int64)
    for row in range(len(keys)):
        if number[row] >= 0:
            counts[number[row]] += 1
    return first[:found].copy(), counts
