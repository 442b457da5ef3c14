"""Number equal rows: the one place where rows of codes become classes.

Long inputs are numbered by a compiled hash table, short ones by sorting: loading compiled code takes longer than that.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from kanopy._arrays import Ints, Longs
from kanopy._errors import DataError

LARGEST_KEY = 2**62
LARGEST_DIRECT_TABLE = 1 << 24
SMALL = 2_000
"""Up to so many rows sorting is as quick as the compiled loop."""
SMALL_ALONE = 200_000
"""The same for a caller that needs nothing else compiled, and so would have to load the compiler for this."""

Codes = npt.NDArray[np.integer[Any]]


class Numbered(NamedTuple):
    """`number[r]` is the number of row `r` (-1: left out), `first[n]` the first row with number `n`, `counts[n]` how
    many rows have it."""

    number: Ints
    first: Longs
    counts: Longs


def number_rows(
    columns: Sequence[Codes] | Codes, sizes: Sequence[int] | None = None, *, ascending: bool = False, small: int = SMALL
) -> Numbered:
    """Equal rows get equal numbers, from 0 without gaps, in the order in which they first appear.

    `columns` are arrays of codes, one per column, or a table `[row, column]`; every code of column `j` is below
    `sizes[j]`. With `ascending`, numbers follow the order of the codes instead (the first column counts most). A row
    with a negative code is left out. Up to `small` rows nothing compiled is used.

    >>> found = number_rows([np.array([1, 0, 1, -1]), np.array([2, 2, 2, 2])])
    >>> found.number.tolist(), found.first.tolist(), found.counts.tolist()
    ([0, 1, 0, -1], [0, 1], [2, 1])
    >>> number_rows(np.array([[1, 2], [0, 2], [1, 2]]), ascending=True).number.tolist()
    [1, 0, 1]
    """
    columns = list(columns.T) if isinstance(columns, np.ndarray) else columns
    if sizes is None:
        sizes = [int(column.max(initial=0)) + 1 for column in columns]
    rows = len(columns[0])
    append = pack_plain
    if rows > small:
        from kanopy._core.distinct_kernel import pack as append
    keys = np.zeros(rows, np.int64)
    room = 1
    for column, size in zip(columns, sizes, strict=True):
        size = max(1, size)
        if room * size > LARGEST_KEY:
            # Too many combinations for one integer: number those that occur so far and go on from there.
            so_far = number_keys(keys, room, ascending=ascending, small=small)
            keys[:], room = so_far.number, max(1, len(so_far.first))
        append(keys, np.ascontiguousarray(column, np.int32), size)
        room *= size
    return number_keys(keys, room, ascending=ascending, small=small)


def number_lifted(tuples: Ints, lifts: Sequence[Codes], sizes: Sequence[int], *, small: int = SMALL) -> Numbered:
    """`number_rows` of tuples `[row, column]` whose values are replaced: in column `j` by `lifts[j]`, below `sizes[j]`.

    >>> number_lifted(np.array([[0], [1], [2]], np.int32), [np.array([1, 1, 0])], [2]).number.tolist()
    [0, 0, 1]
    """
    room = math.prod(max(1, size) for size in sizes)
    if len(tuples) <= small or room > LARGEST_KEY:
        return number_rows([lift[tuples[:, j]] for j, lift in enumerate(lifts)], sizes, small=small)
    from kanopy._core.distinct_kernel import pack_lifted

    digits = [math.prod(max(1, size) for size in sizes[j + 1 :]) for j in range(len(sizes))]
    table = np.concatenate([lift.astype(np.int64) * digit for lift, digit in zip(lifts, digits, strict=True)])
    starts = np.cumsum([0, *(len(lift) for lift in lifts[:-1])]).astype(np.int64)
    keys = np.empty(len(tuples), np.int64)
    pack_lifted(np.ascontiguousarray(tuples), table, starts, keys)
    return number_keys(keys, room, small=small)


def number_keys(keys: Longs, room: int = 0, *, ascending: bool = False, small: int = SMALL) -> Numbered:
    """The same for single integers, all of them below `room` if that is given; negative ones are left out.

    >>> keys = np.array([7, 5, 7])
    >>> number_keys(keys).number.tolist(), number_keys(keys, ascending=True).number.tolist()
    ([0, 1, 0], [1, 0, 1])
    """
    number = np.empty(len(keys), np.int32)
    if len(keys) <= small:
        first, counts = number_keys_plain(keys, 0, number, ascending)
        return Numbered(number, first, counts)
    from kanopy._core.distinct_kernel import number_keys as number_compiled

    direct = room if room <= min(LARGEST_DIRECT_TABLE, max(4 * len(keys), 1024)) else 0
    first, counts = number_compiled(keys, direct, number)
    if not ascending:
        return Numbered(number, first, counts)
    order = np.argsort(keys[first])
    rank = np.empty(len(order) + 1, np.int32)
    rank[order], rank[-1] = np.arange(len(order), dtype=np.int32), -1
    return Numbered(rank[number], first[order], counts[order])


def distinct_tuples(
    codes: Sequence[Ints], sizes: Sequence[int] | None = None, *, ascending: bool = False
) -> tuple[Ints, Longs, Ints, Longs]:
    """Reduce rows to their distinct tuples of codes, in order of first appearance or ascending.

    Returns the tuples `[d, q]`, how many rows each stands for, the tuple of every row and the row where each tuple
    first appears. A row with a negative code (to be suppressed) belongs to no tuple: its tuple is -1.

    >>> tuples, counts, of_row, first = distinct_tuples([np.array([1, 0, 1], np.int32)], [2])
    >>> tuples.tolist(), counts.tolist(), of_row.tolist(), first.tolist()
    ([[1], [0]], [2, 1], [0, 1, 0], [0, 1])
    """
    if not codes:
        raise DataError("Give at least one column to find distinct tuples.")
    number, first, counts = number_rows(codes, sizes, ascending=ascending)
    return np.column_stack([column[first] for column in codes]).astype(np.int32), counts, number, first


def pack_plain(keys: Longs, codes: Ints, size: int) -> None:
    """Append one digit of base `size` to every key in place; a negative code or key makes the key -1."""
    invalid = (keys < 0) | (codes < 0)
    np.multiply(keys, size, out=keys)
    np.add(keys, codes, out=keys)
    keys[invalid] = -1


def number_keys_plain(keys: Longs, direct: int, number: Ints, ascending: bool = False) -> tuple[Longs, Longs]:
    """The twin of the compiled loop, which can also number keys in ascending order."""
    valid = np.flatnonzero(keys >= 0)
    unique, first, inverse, counts = np.unique(keys[valid], return_index=True, return_inverse=True, return_counts=True)
    order = np.arange(len(unique)) if ascending else np.argsort(first, kind="stable")
    rank = np.empty(len(unique), np.int32)
    rank[order] = np.arange(len(unique), dtype=np.int32)
    number[:] = -1
    number[valid] = rank[inverse]
    return valid[first[order]].astype(np.int64), counts[order].astype(np.int64)
