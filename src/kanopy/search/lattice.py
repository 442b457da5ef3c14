"""The candidates of a full-domain search: one level per attribute, between a lowest and a highest level each."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from kanopy._errors import JobError

Levels = tuple[int, ...]
MOST_LISTED = 20_000_000
"""Candidates that may be listed one by one: a few hundred megabytes."""


@dataclass(frozen=True)
class Lattice:
    """All level combinations between `lowest` and `highest`, addressed as a grid or by a flat number.

    >>> lattice = Lattice((0, 1), (2, 2))
    >>> lattice.size, list(lattice)[:3]
    (6, [(0, 1), (0, 2), (1, 1)])
    """

    lowest: Levels
    highest: Levels

    def __post_init__(self) -> None:
        for low, high in zip(self.lowest, self.highest, strict=True):
            if low > high:
                raise JobError(f"The lowest level {low} is above the highest level {high} of the same attribute.")

    @cached_property
    def shape(self) -> Levels:
        """Levels per attribute."""
        return tuple(high - low + 1 for low, high in zip(self.lowest, self.highest, strict=True))

    @cached_property
    def size(self) -> int:
        """The number of candidates (exact, however large)."""
        return math.prod(self.shape)

    def require_listing(self, algorithm: str, most: int = MOST_LISTED) -> None:
        """Refuse to list more candidates than memory holds, and say so.

        >>> Lattice((0,) * 70, (1,) * 70).require_listing("samarati")
        Traceback (most recent call last):
        kanopy.extend.JobError: The algorithm 'samarati' lists all choices of levels, and there are 1.2e+21, ...
        """
        if self.size > most:
            raise JobError(
                f"The algorithm {algorithm!r} lists all choices of levels, and there are {self.size:.2g}, more than "
                f"{most:,}. Use algorithm 'optimal', which then makes its best effort, name fewer columns, or limit "
                "their levels."
            )

    def levels(self, number: int) -> Levels:
        """The candidate behind a flat number."""
        coordinates = []
        for length in reversed(self.shape):
            number, x = divmod(number, length)
            coordinates.append(x)
        return tuple(x + low for x, low in zip(reversed(coordinates), self.lowest, strict=True))

    def place(self, levels: Sequence[int]) -> Levels:
        """Grid coordinates of a candidate."""
        return tuple(level - low for level, low in zip(levels, self.lowest, strict=True))

    def finer(self, levels: Sequence[int]) -> tuple[slice, ...]:
        """The part of the grid that is at most as general as a candidate, itself included."""
        return tuple(slice(0, x + 1) for x in self.place(levels))

    def coarser(self, levels: Sequence[int]) -> tuple[slice, ...]:
        """The part of the grid that is at least as general as a candidate, itself included."""
        return tuple(slice(x, None) for x in self.place(levels))

    def spread(self, per_attribute: Sequence[npt.NDArray[np.float64]]) -> Iterator[npt.NDArray[np.float64]]:
        """Per attribute, values by level as an array that broadcasts over the grid."""
        width = len(self.shape)
        for j, values in enumerate(per_attribute):
            yield values[self.lowest[j] : self.highest[j] + 1].reshape([-1 if i == j else 1 for i in range(width)])

    @cached_property
    def heights(self) -> npt.NDArray[np.int32]:
        """The sum of levels of every candidate."""
        total = np.zeros(self.shape, np.int32)
        for j, (low, high) in enumerate(zip(self.lowest, self.highest, strict=True)):
            axis = np.arange(low, high + 1, dtype=np.int32)
            total += axis.reshape([-1 if i == j else 1 for i in range(len(self.shape))])
        return total

    def __iter__(self) -> Iterator[Levels]:
        for coordinates in np.ndindex(*self.shape):
            yield tuple(x + low for x, low in zip(coordinates, self.lowest, strict=True))
