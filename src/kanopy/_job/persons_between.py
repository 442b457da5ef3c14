"""How many people have values between any two points of a column: everybody is followed from cell to cell.

People of two cells do not add up, since somebody may have rows in both. But who has rows between two points has a first
one there: the one that no other row of theirs comes before since the first of the points.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from kanopy._arrays import Ints, Longs, Mask


class PersonsBetween(NamedTuple):
    """In which cells, between the points of a column, people have rows, by person and group from cell to cell.

    `before` is the last cell before this one in which the same person has rows of the same group; -1: none.
    """

    group: Longs
    cell: Longs
    before: Longs
    groups: int
    cells: int

    @classmethod
    def of(cls, person: Ints, group: Longs, cell: Longs, groups: int, cells: int) -> PersonsBetween:
        """The passages of rows, of which person, group and cell are given.

        >>> found = PersonsBetween.of(np.array([0, 1, 0]), np.array([0, 0, 0]), np.array([2, 1, 1]), groups=1, cells=3)
        >>> found.cell.tolist(), found.before.tolist()
        ([1, 2, 1], [-1, 1, -1])
        """
        both, cell = np.divmod(sorted_once((person.astype(np.int64) * groups + group) * cells + cell), cells)
        before = np.full(len(cell), -1)
        again = np.flatnonzero(both[1:] == both[:-1])
        before[again + 1] = cell[again]
        return cls(both % groups, cell, before, groups, cells)

    def first_and_last(self) -> tuple[Longs, Longs]:
        """How many people have their first row of a group in each cell, and how many their last: `[cell, group]`.

        >>> between = PersonsBetween.of(np.array([0, 0, 1]), np.array([0, 0, 0]), np.array([0, 1, 1]), 1, 2)
        >>> [people[:, 0].tolist() for people in between.first_and_last()]
        [[1, 1], [0, 2]]
        """
        first = self.before < 0
        return self._people(first), self._people(np.append(first[1:], True)[: len(first)])

    def _people(self, which: Mask) -> Longs:
        cell_of_group = self.cell[which] * self.groups + self.group[which]
        return np.bincount(cell_of_group, minlength=self.cells * self.groups).reshape(self.cells, self.groups)

    def from_each_cell(self) -> Iterator[Ints]:
        """For each cell how many people have rows between it and every cell from there on: `[cell, group]`.

        >>> two = PersonsBetween.of(np.array([0, 0, 1]), np.array([0, 0, 0]), np.array([0, 1, 1]), 1, 2)
        >>> [people[:, 0].tolist() for people in two.from_each_cell()]
        [[1, 2], [2]]
        """
        order = np.argsort(self.before, kind="stable")
        starts = np.searchsorted(self.before[order], np.arange(-1, self.cells))
        cell_of_group = (self.cell * self.groups + self.group)[order]
        seen = np.zeros(self.cells * self.groups, np.int32)
        for cell in range(self.cells):
            # Who had rows in the cell that is left now comes first where the next ones are.
            seen += np.bincount(cell_of_group[starts[cell] : starts[cell + 1]], minlength=len(seen)).astype(np.int32)
            yield np.cumsum(seen.reshape(self.cells, self.groups)[cell:], axis=0, dtype=np.int32)


def sorted_once(keys: Longs) -> Longs:
    """The different keys in their order (NumPy's `unique` hashes, which takes four times as long).

    >>> sorted_once(np.array([3, 1, 3])).tolist()
    [1, 3]
    """
    keys = np.sort(keys)
    return np.asarray(keys[np.append(True, keys[1:] != keys[:-1])[: len(keys)]])
