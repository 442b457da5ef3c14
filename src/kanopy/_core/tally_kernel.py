"""Number different keys that come piece by piece; `tallies` is what others call."""

from __future__ import annotations

from kanopy._arrays import Ints, LongRows, Longs
from kanopy._compiler import helper, kernel

COUNT = 1 << 32
"""Number and count share a word: the number is what lies below."""


@helper
def _slot_of_key(key: int, mask: int) -> int:
    """Multiplying by an odd constant and folding the high half, twice, spreads keys over the table."""
    mixed = key * -7046029254386353131
    mixed = (mixed ^ (mixed >> 32)) * -4417276706812531889
    return (mixed ^ (mixed >> 32)) & mask


@kernel(makes_arrays=False)
def number_more(keys: Longs, row: int, found: int, number: Ints, known: Longs, held: LongRows, fill: int) -> int:
    """Number the keys from `row` on, of which `found` are `known`; returns how many are known at the end.

    `held` is a hash table: a key beside its number and how often it came, in one word that is negative where the slot
    is free: one visit to memory and not three. With `fill` it is new, and what is known is put there first. When no
    more can be known, -1 minus the row to go on from is returned.
    """
    mask = len(held) - 1
    if fill > 0:
        for old in range(found):
            slot = _slot_of_key(known[old], mask)
            while held[slot, 1] >= 0:
                slot = (slot + 1) & mask
            held[slot, 0] = known[old]
            held[slot, 1] = old
    while row < len(keys):
        key = keys[row]
        slot = _slot_of_key(key, mask)
        word = held[slot, 1]
        while word >= 0 and held[slot, 0] != key:
            slot = (slot + 1) & mask
            word = held[slot, 1]
        if word < 0:
            if found == len(known):
                return -1 - row
            known[found] = key
            held[slot, 0] = key
            word = found
            found += 1
        held[slot, 1] = word + COUNT
        number[row] = word & (COUNT - 1)
        row += 1
    return found
