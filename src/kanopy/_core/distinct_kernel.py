"""Number the distinct keys of a long array in order of first appearance; `numbering` is what others call."""

from __future__ import annotations

import numpy as np

from kanopy._arrays import IntRows, Ints, LongRows, Longs
from kanopy._compiler import PLAIN, helper, kernel
from kanopy._core.numbering import number_keys_plain, pack_plain


@kernel(pack_plain, makes_arrays=False)
def pack(keys: Longs, codes: Ints, size: int) -> None:
    """Append one digit of base `size` to every key in place; a negative code or key makes the key -1."""
    for row in range(len(keys)):
        if keys[row] >= 0 and codes[row] >= 0:
            keys[row] = keys[row] * size + codes[row]
        else:
            keys[row] = -1


def _pack_lifted_plain(tuples: Ints, lifts: Longs, starts: Longs, keys: Longs) -> None:
    """NumPy twin of `pack_lifted`."""
    keys[:] = sum(lifts[start + tuples[:, j]] for j, start in enumerate(starts.tolist()))


@kernel(_pack_lifted_plain, makes_arrays=False)
def pack_lifted(tuples: IntRows, lifts: Longs, starts: Longs, keys: Longs) -> None:
    """A key per tuple: the sum over columns `j` of `lifts[starts[j] + value]`, all in one pass."""
    for row in range(len(keys)):
        key = 0
        for j in range(len(starts)):
            key += lifts[starts[j] + tuples[row, j]]
        keys[row] = key


@helper
def _slot_of(key: int, mask: int) -> int:
    """Multiplying by an odd constant and folding the high half spreads consecutive keys over the table."""
    mixed = key * -7046029254386353131
    return (mixed ^ (mixed >> 32)) & mask


def _number(
    keys: Longs, row: int, found: int, number: Ints, first: Longs, counts: Longs, direct: Ints, held: LongRows
) -> int:
    """Number the keys from `row` on, of which `found` are known; returns how many are known at the end.

    Numbers are looked up in the table `direct`, by key, or where that is empty in the hash table `held`. When that is
    half full, -1 minus the row to go on from is returned, with `first` and `counts` telling how many are known.
    """
    mask = len(held) - 1
    if found > 0 and len(direct) == 0:
        for old in range(found):
            slot = _slot_of(keys[first[old]], mask)
            while held[slot, 0] >= 0:
                slot = (slot + 1) & mask
            held[slot, 0] = keys[first[old]]
            held[slot, 1] = old
    while row < len(keys):
        key = keys[row]
        if key < 0:
            number[row] = -1
            row += 1
            continue
        slot = key
        if len(direct) > 0:
            at = direct[key]
        else:
            slot = _slot_of(key, mask)
            while held[slot, 0] != key and held[slot, 0] >= 0:
                slot = (slot + 1) & mask
            at = held[slot, 1]
        if at < 0:
            if len(direct) == 0 and (found + 1) * 2 > mask:
                return -1 - row
            at = found
            first[found] = row
            found += 1
            if len(direct) > 0:
                direct[slot] = at
            else:
                held[slot, 0] = key
                held[slot, 1] = at
        number[row] = at
        counts[at] += 1
        row += 1
    return found


number_loop = kernel(_number, makes_arrays=False)(_number)


def number_keys(keys: Longs, direct: int, number: Ints) -> tuple[Longs, Longs]:
    """Write into `number` the rank of each key by first appearance (-1 for negative keys).

    `direct` is one more than the largest key possible where a table of that length is affordable, else 0 (then a
    hash table is used). Returns the row where each distinct key first appears, and how often it occurs.
    """
    if PLAIN:
        return number_keys_plain(keys, direct, number)
    first, counts = np.empty(len(keys), np.int64), np.zeros(len(keys), np.int64)
    table, room, row, known = np.full(direct, -1, np.int32), 1 if direct else 4096, 0, 0
    while True:
        # Key and number lie side by side, so that a lookup costs one visit to memory and not two.
        held = np.full((room, 2), -1, np.int64)
        found = number_loop(keys, row, known, number, first, counts, table, held)
        if found >= 0:
            return first[:found].copy(), counts[:found].copy()
        row, room = -1 - found, 4 * room
        known = int(number[:row].max()) + 1


number_keys.plain = number_keys_plain  # type: ignore[attr-defined]
