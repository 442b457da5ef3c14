"""Class tables and how a coarser one is made from a finer one.

A class table is a list of distinct packed keys with sizes. Each attribute owns a field of bits in one of the
key's words; generalizing replaces fields through small maps and joins the keys that became equal. The cost is
linear in the number of classes of the *finer* table, not in rows.
"""

from __future__ import annotations

import numpy as np

from kanopy._arrays import Floats, Ints, LongRows, Longs, Mask
from kanopy._compiler import helper, kernel

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
BLOCK = 512
"""Keys that are mapped before they are joined."""


@helper
def _emptied(slots: Ints, count: int) -> int:
    """Empty as many slots as `count` keys need: twice as many, and a power of two, whose exponent is returned."""
    bits = 4
    while (1 << bits) < 2 * count:
        bits += 1
    for slot in range(1 << bits):
        slots[slot] = -1
    return bits


def slots_for(count: int) -> Ints:
    """Room for `_emptied`."""
    return np.empty(1 << max(4, (2 * count - 1).bit_length()), np.int32)


@helper
def _joined(
    waiting: Longs, sizes: Longs, found: int, bits: int, out_keys: Longs, out_sizes: Longs, slots: Ints
) -> int:  # fmt: skip
    """Join keys that wait behind those found, which grow no faster than they are read; how many are found then."""
    limit, drop = np.uint64((1 << bits) - 1), np.uint64(64 - bits)
    for c in range(len(waiting)):
        key, size = waiting[c], sizes[c]
        place = (np.uint64(key) * _GOLDEN) >> drop
        while True:
            at = slots[place]
            if at < 0:
                slots[place] = found
                out_keys[found] = key
                out_sizes[found] = size
                found += 1
                break
            if out_keys[np.uint64(at)] == key:
                out_sizes[np.uint64(at)] += size
                break
            place = (place + np.uint64(1)) & limit
    return found


@helper
def roll_up_one_word(
    keys: Longs, sizes: Longs, shift: Longs, mask: Longs, deltas: Longs, start: Longs,
    out_keys: Longs, out_sizes: Longs, slots: Ints,
) -> int:  # fmt: skip
    """`roll_up` for keys of one word without histograms, on contiguous arrays.

    First one attribute after the other over all keys, then the joining: simple loops run much faster than one that
    does both. The mapped keys wait in `out_keys`, which is filled from the front no faster than it is read.
    """
    count = len(keys)
    bits = _emptied(slots, count)
    for c in range(count):
        out_keys[c] = keys[c]
    for j in range(len(start)):
        if start[j] >= 0:
            bit, field, begin = shift[j], mask[j], start[j]
            for c in range(count):
                out_keys[c] += deltas[begin + ((out_keys[c] >> bit) & field)]
    return _joined(out_keys[:count], sizes, 0, bits, out_keys, out_sizes, slots)


def _plain_regroup(
    keys: LongRows, sizes: Longs, word: Longs, shift: Longs, mask: Longs, start: Longs, lifts: Longs,
    out_keys: Longs, out_sizes: Longs, slots: Ints,
) -> int:  # fmt: skip
    """NumPy twin of `regroup`."""
    fields = zip(word.tolist(), shift.tolist(), mask.tolist(), start.tolist(), strict=True)
    mapped = np.sum([lifts[begin + ((keys[w] >> bit) & field)] for w, bit, field, begin in fields], axis=0)
    _, first, inverse = np.unique(mapped, return_index=True, return_inverse=True)
    order = np.argsort(first, kind="stable")
    out_keys[: len(order)] = mapped[first[order]]
    out_sizes[: len(order)] = np.bincount(inverse, weights=sizes, minlength=len(order))[order]
    return len(order)


@kernel(_plain_regroup, makes_arrays=False)
def regroup(
    keys: LongRows, sizes: Longs, word: Longs, shift: Longs, mask: Longs, start: Longs, lifts: Longs,
    out_keys: Longs, out_sizes: Longs, slots: Ints,
) -> int:  # fmt: skip
    """Join the classes of a finer table, packed in any number of words, under new keys of one word.

    A new key is the sum, over fields `f` of the old ones, of `lifts[start[f] + code]`; a field may be several
    attributes side by side. Results as with `roll_up`. Keys are mapped a block at a time, behind what is found, so that
    several threads do not wait for the memory that they share.
    """
    bits = _emptied(slots, len(sizes))
    found = 0
    for begin in range(0, len(sizes), BLOCK):
        count = min(BLOCK, len(sizes) - begin)
        waiting = out_keys[found : found + count]
        for c in range(count):
            waiting[c] = 0
        for f in range(len(start)):
            own, bit, field, lift = keys[word[f]][begin : begin + count], shift[f], mask[f], start[f]
            for c in range(count):
                waiting[c] += lifts[lift + ((own[c] >> bit) & field)]
        found = _joined(waiting, sizes[begin : begin + count], found, bits, out_keys, out_sizes, slots)
    return found


def _plain_roll_up(
    keys: Longs, sizes: Longs, histogram: Ints, word: Longs, shift: Longs, mask: Longs, deltas: Longs, start: Longs,
    out_keys: Longs, out_sizes: Longs, out_histogram: Ints, slots: Ints,
) -> int:  # fmt: skip
    """NumPy twin of `roll_up`."""
    mapped = keys.copy()
    for j in range(len(start)):
        if start[j] >= 0:
            field = (mapped[word[j]] >> shift[j]) & mask[j]
            mapped[word[j]] += deltas[start[j] + field]
    _, first, inverse = np.unique(mapped, axis=1, return_index=True, return_inverse=True)
    order = np.argsort(first, kind="stable")
    found = len(order)
    rank = np.empty_like(order)
    rank[order] = np.arange(found)
    place = rank[inverse.reshape(-1)]
    out_keys[:, :found] = mapped[:, first[order]]
    out_sizes[:found] = np.bincount(place, weights=sizes, minlength=found).astype(np.int64)
    if histogram.shape[1]:
        added = np.zeros((found, histogram.shape[1]), histogram.dtype)
        np.add.at(added, place, histogram)
        out_histogram[:found] = added
    return found


@kernel(_plain_roll_up)
def roll_up(
    keys: Longs, sizes: Longs, histogram: Ints, word: Longs, shift: Longs, mask: Longs, deltas: Longs, start: Longs,
    out_keys: Longs, out_sizes: Longs, out_histogram: Ints, slots: Ints,
) -> int:  # fmt: skip
    """Join the classes of a finer table that a coarser candidate makes equal.

    `keys[w, c]` are packed keys; attribute `j` lives in word `word[j]` at bit `shift[j]`. Where `start[j] >= 0`,
    `deltas[start[j] + code]` is added to the word, which replaces the code; where it is -1 the field stays. Rows of
    `histogram` are added up: all sensitive columns side by side, no columns where nobody asks. Results go to
    `out_keys`, `out_sizes` and `out_histogram` in order of first appearance; the number of classes is returned.
    `slots` is scratch space made by `slots_for`. The output may be the input itself, and needs room for as many
    classes as the input has.
    """
    words, count = keys.shape
    values = histogram.shape[1]
    if words == 1 and values == 0:
        return roll_up_one_word(keys[0], sizes, shift, mask, deltas, start, out_keys[0], out_sizes, slots)
    bits = _emptied(slots, count)
    limit = np.uint64((1 << bits) - 1)
    drop = np.uint64(64 - bits)
    for w in range(words):
        for c in range(count):
            out_keys[w, c] = keys[w, c]
    for j in range(len(start)):
        if start[j] >= 0:
            row, bit, field, begin = out_keys[word[j]], shift[j], mask[j], start[j]
            for c in range(count):
                row[c] += deltas[begin + ((row[c] >> bit) & field)]
    found = 0
    for c in range(count):
        mixed = np.uint64(0)
        for w in range(words):
            mixed = (mixed ^ np.uint64(out_keys[w, c])) * _GOLDEN
            mixed ^= mixed >> np.uint64(29)
        slot = mixed >> drop
        while True:
            at = slots[slot]
            if at < 0:
                slots[slot] = found
                for w in range(words):
                    out_keys[w, found] = out_keys[w, c]
                out_sizes[found] = sizes[c]
                for v in range(values):
                    out_histogram[found, v] = histogram[c, v]
                found += 1
                break
            same = True
            for w in range(words):
                if out_keys[w, at] != out_keys[w, c]:
                    same = False
                    break
            if same:
                out_sizes[at] += sizes[c]
                for v in range(values):
                    out_histogram[at, v] += histogram[c, v]
                break
            slot = (slot + np.uint64(1)) & limit
    return found


def _plain_tally(
    keys: Longs, sizes: Longs, violated: Mask, word: Longs, shift: Longs, mask: Longs, extra: Floats, start: Longs,
    sums: Floats, limit: int,
) -> tuple[int, int, int]:  # fmt: skip
    """NumPy twin of `tally`."""
    bad = sizes[violated]
    sums[:] = 0.0
    for j in range(len(start)):
        if bad.sum() <= limit:
            code = (keys[word[j], violated] >> shift[j]) & mask[j]
            sums[j] = float((bad * extra[start[j] + code]).sum())
    kept = sizes[~violated]
    return int((~violated).sum()), int(bad.sum()), int((kept * kept).sum())


@kernel(_plain_tally)
def tally(
    keys: Longs, sizes: Longs, violated: Mask, word: Longs, shift: Longs, mask: Longs, extra: Floats, start: Longs,
    sums: Floats, limit: int,
) -> tuple[int, int, int]:  # fmt: skip
    """Kept classes, suppressed rows and the sum of squared kept sizes of a candidate.

    If at most `limit` rows are suppressed, `sums[j]` adds up, over suppressed classes, size times
    `extra[start[j] + code]`: what suppressing them costs attribute `j` beyond its level.
    """
    kept = 0
    suppressed = np.int64(0)
    squares = np.int64(0)
    for c in range(len(sizes)):
        size = sizes[c]
        if violated[c]:
            suppressed += size
        else:
            kept += 1
            squares += size * size
    for j in range(len(start)):
        sums[j] = 0.0
        if suppressed <= limit:
            for c in range(len(sizes)):
                if violated[c]:
                    sums[j] += sizes[c] * extra[start[j] + ((keys[word[j], c] >> shift[j]) & mask[j])]
    return kept, suppressed, squares  # type: ignore[return-value]


def _plain_smallest_finer(levels: Ints, classes: Longs, count: int, wanted: Ints) -> int:
    """NumPy twin of `smallest_finer`."""
    finer = np.flatnonzero((levels[:count] <= wanted).all(axis=1))
    return int(finer[np.argmin(classes[finer])]) if len(finer) else -1


@kernel(_plain_smallest_finer)
def smallest_finer(levels: Ints, classes: Longs, count: int, wanted: Ints) -> int:
    """Of the first `count` known tables, the one with fewest classes that is nowhere coarser than `wanted`."""
    best = -1
    for i in range(count):
        if best >= 0 and classes[i] >= classes[best]:
            continue
        finer = True
        for j in range(len(wanted)):
            if levels[i, j] > wanted[j]:
                finer = False
                break
        if finer:
            best = i
    return best
