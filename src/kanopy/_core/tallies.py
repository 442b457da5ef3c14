"""Number and count rows that come piece by piece: equal rows get equal numbers, in the order of first appearance."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from kanopy._arrays import Ints, Longs
from kanopy._core.numbering import LARGEST_KEY

FIRST_ROOM = 4096
"""So many different keys are room for at first."""
MOST_UNCOUNTED = 1 << 30
"""Keys after which counts leave the table, where they have 31 bits."""
AT_ONCE = 1 << 14
"""Rows whose codes become keys at once: few enough to stay close to the processor."""


class Keys:
    """Numbers single integers, whatever they are.

    >>> keys = Keys()
    >>> keys.add(np.array([7, -5, 7])).tolist(), keys.add(np.array([9, -5])).tolist()
    ([0, 1, 0], [2, 1])
    >>> keys.known.tolist(), keys.counts.tolist()
    ([7, -5, 9], [2, 2, 1])
    """

    def __init__(self) -> None:
        self._found, self._uncounted = 0, 0
        self._known, self._counts = np.empty(FIRST_ROOM, np.int64), np.zeros(FIRST_ROOM, np.int64)
        self._held, self._new = _table(FIRST_ROOM), True

    def __len__(self) -> int:
        return self._found

    @property
    def known(self) -> Longs:
        """The different keys, by number."""
        return self._known[: self._found]

    @property
    def counts(self) -> Longs:
        """How often each of them came."""
        self._settle()
        return self._counts[: self._found]

    def add(self, keys: Longs) -> Ints:
        """The numbers of more keys."""
        from kanopy._compiler import for_size
        from kanopy._core.tally_kernel import number_more

        number, row = np.empty(len(keys), np.int32), 0
        self._uncounted += len(keys)
        if self._uncounted > MOST_UNCOUNTED:
            self._settle()
            self._uncounted = len(keys)
        loop = for_size(number_more, len(keys))
        while True:
            count = loop(keys, row, self._found, number, self._known, self._held, int(self._new))
            self._new = False
            if count >= 0:
                self._found = count
                return number
            row, self._found = -1 - count, len(self._known)
            self._settle()
            self._known = np.concatenate([self._known, np.empty_like(self._known)])
            self._counts = np.concatenate([self._counts, np.zeros_like(self._counts)])
            self._held, self._new = _table(len(self._known)), True

    def start(self, keys: Longs, counts: Longs) -> None:
        """Know some different keys from the beginning, with how often they came."""
        self.add(keys)
        self._settle()
        self._counts[: len(keys)] = counts

    def _settle(self) -> None:
        """Take the counts out of the table."""
        words = self._held[:, 1]
        used = words >= 1 << 32
        self._counts[words[used] & 0xFFFFFFFF] += words[used] >> 32
        words[used] &= 0xFFFFFFFF


def _table(room: int) -> Longs:
    """Twice as many slots as keys; the second word is negative where a slot is free."""
    return np.full((2 * room, 2), -1, np.int64)


class Rows:
    """Numbers rows of codes from -1 on, given by column.

    Codes are packed into one key as long as they fit; else each half of the columns is numbered by itself.

    >>> rows = Rows(2)
    >>> rows.add([np.array([1, 0, 1], np.int32), np.array([2, -1, 2], np.int32)]).tolist()
    [0, 1, 0]
    >>> [codes.tolist() for codes in rows.codes()], rows.counts.tolist()
    ([[1, 0], [2, -1]], [2, 1])
    """

    def __init__(self, width: int) -> None:
        self._room, self._keys = [1] * width, Keys()
        self._halves: tuple[Rows, Rows] | None = None

    def __len__(self) -> int:
        return len(self._keys)

    @property
    def counts(self) -> Longs:
        """How often each row came."""
        return self._keys.counts

    def add(self, columns: Sequence[Ints]) -> Ints:
        """The numbers of more rows."""
        if self._halves is None:
            # Twice the room that is needed, so that columns with ever new values are not packed anew each time.
            largest = [int(column.max(initial=-1)) + 2 for column in columns]
            if any(most > room for most, room in zip(largest, self._room, strict=True)):
                pairs = zip(largest, self._room, strict=True)
                self._widen([room if most <= room else 1 << most.bit_length() for most, room in pairs])
        parts = range(0, len(columns[0]), AT_ONCE)
        numbers = [self._keys.add(self._packed([column[at : at + AT_ONCE] for column in columns])) for at in parts]
        return np.concatenate(numbers) if numbers else np.empty(0, np.int32)

    def _packed(self, columns: Sequence[Ints]) -> Longs:
        if self._halves is not None:
            left, right = self._halves
            first = left.add(columns[: len(left._room)]).astype(np.int64) << 31
            return first | right.add(columns[len(left._room) :])
        keys = columns[0].astype(np.int64) + 1
        for column, room in zip(columns[1:], self._room[1:], strict=True):
            keys *= room
            keys += column
            keys += 1
        return keys

    def _widen(self, room: list[int]) -> None:
        codes, counts = self.codes(), self.counts
        self._room, self._keys = room, Keys()
        if math.prod(room) > LARGEST_KEY:
            half = len(room) // 2
            self._halves = Rows(half), Rows(len(room) - half)
        if len(counts):
            self._keys.start(self._packed(codes), counts)

    def codes(self) -> list[Ints]:
        """Per column the codes of the different rows."""
        keys, columns = self._keys.known, list[Ints]()
        if self._halves is not None:
            left, right = (half.codes() for half in self._halves)
            return [column[keys >> 31] for column in left] + [column[keys & 0x7FFFFFFF] for column in right]
        for room in reversed(self._room):
            keys, column_codes = np.divmod(keys, room)
            columns.append((column_codes - 1).astype(np.int32))
        return columns[::-1]
