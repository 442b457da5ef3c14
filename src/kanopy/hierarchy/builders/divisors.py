"""Levels from arithmetic alone: halving the range (CGH) and the divisors of its upper end (DBGH).

Yaseen et al.: Improved Generalization for Secure Data Publishing. IEEE Access 6, 2018.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np

from kanopy._errors import HierarchyError
from kanopy._parameter_types import Flag, Number, Optional
from kanopy.hierarchy.builders.grid import Edges, GridBuilder, RangeEnd, RangeStart, as_edges, covering, whole_width
from kanopy.hierarchy.column import Column


@dataclass(frozen=True)
class Cgh(GridBuilder):
    """Conventional: halve the range, and the halves, as long as no part gets narrower than `min_width` (Yaseen 2018).

    An interval of n positions gives ⌊n/2⌋ to its lower half. `low` and `high` widen the range beyond the data. Without
    `min_width`, halving goes on while a level has no more intervals than the column has values.

    >>> Cgh(min_width=10).build(range(1, 101)).labels_at(1)[:3]
    ('[1, 12]', '[13, 25]', '[26, 37]')
    """

    method: ClassVar[str] = "cgh"
    summary: ClassVar[str] = "halve the range down to a width (Yaseen 2018)"
    min_width: Annotated[
        float | None, Optional(Number(above=0)), "the width of the narrowest intervals [default: as the data allows]"
    ] = None
    low: RangeStart = None
    high: RangeEnd = None

    def levels(self, column: Column) -> list[Edges]:
        start, stop = covering(column, self.low, self.high)
        narrowest = 1 if self.min_width is None else whole_width(column, self.min_width, stop - start + 1, "min_width")
        starts = np.array([start], np.int64)
        level_edges = [as_edges(starts, stop)]
        while True:
            first, last = level_edges[-1]
            half = (last - first + 1) // 2
            if half.min() < narrowest or (self.min_width is None and 2 * len(first) > column.size):
                return level_edges[::-1]
            starts = np.column_stack([first, first + half]).ravel()
            level_edges.append(as_edges(starts, stop))


@dataclass(frozen=True)
class Dbgh(GridBuilder):
    """Divisors: intervals of length d for the divisors d ≥ `min_width` of the range's upper end (Yaseen 2018).

    Level of length d: [1, d], [d+1, 2d], … The paper takes *all* divisors, and its levels do not nest (20 does not
    divide 25, so [21, 40] lies in two intervals of length 25): generalizing can split a group again. With `chain=True`
    (default) only the longest chain of divisors each dividing the next is used, which nests; among equally long chains
    the one with the smallest divisors. `chain=False` reproduces the paper; searches that rely on nesting refuse it.

    An upper end with few divisors (a prime, or twice a prime) is rounded up to a multiple of `min_width`; as published
    (`chain=False`) a prime grows by one instead, and nothing else is done. Intervals
    start at `start` (1 as in the paper); intervals that end before the smallest value are left out.

    >>> [len(level) for level in Dbgh(min_width=10, chain=False).intervals(range(1, 101))]
    [10, 5, 4, 2, 1]
    >>> [len(level) for level in Dbgh(min_width=10).intervals(range(1, 101))]
    [10, 5, 1]
    >>> [len(level) for level in Dbgh(min_width=2, chain=False).intervals(range(1, 12))]
    [6, 4, 3, 2, 1]
    """

    method: ClassVar[str] = "dbgh"
    summary: ClassVar[str] = "intervals whose lengths divide the range (Yaseen 2018)"
    min_width: Annotated[float, Number(above=0), "the narrowest interval"] = 2
    chain: Annotated[bool, Flag(), "use only lengths that divide the next one, so that levels nest"] = True
    start: Annotated[float, Number(), "where the range starts"] = 1
    high: RangeEnd = None

    def levels(self, column: Column) -> list[Edges]:
        assert column.positions is not None
        origin = column.units(self.start, "start")
        smallest = int(column.positions[0])
        if smallest < origin:
            raise HierarchyError(
                f"dbgh divides a range that starts at {column.text(origin)}, but "
                f"{column.where[0].lower()}{column.where[1:]} goes down to {column.text(smallest)}. "
                f"Give start={column.text(smallest)}, or use cgh or equal_width, which take any range."
            )
        stop = covering(column, None, self.high)[1]
        upper = stop - origin + 1
        width = whole_width(column, self.min_width, upper, "min_width")
        if not self.chain:
            upper += len(_divisors(upper)) == 2  # the paper's first line: a prime grows by one
        elif _few_divisors(upper):
            upper = -(-upper // width) * width
        lengths = [d for d in _divisors(upper) if d >= width]
        if self.chain:
            lengths = _longest_chain(lengths)
        level_edges = []
        for length in lengths:
            starts = np.arange(origin, origin + upper, length, dtype=np.int64)
            keep = starts + length - 1 >= smallest
            level_edges.append(as_edges(starts[keep], origin + upper - 1))
        return level_edges


def _divisors(number: int) -> list[int]:
    """All divisors, ascending.

    >>> _divisors(12)
    [1, 2, 3, 4, 6, 12]
    """
    small = [d for d in range(1, int(number**0.5) + 1) if number % d == 0]
    return sorted({*small, *(number // d for d in small)})


def _few_divisors(number: int) -> bool:
    """Whether a number is a prime or twice a prime (1 counts as a prime)."""
    return len(_divisors(number)) <= 2 or (number % 2 == 0 and len(_divisors(number // 2)) <= 2)


def _longest_chain(lengths: list[int]) -> list[int]:
    """The longest run of numbers each dividing the next and all dividing the last; ties to the smallest numbers.

    >>> _longest_chain([10, 20, 25, 50, 100])
    [10, 20, 100]
    """
    best: dict[int, list[int]] = {}
    for length in reversed(lengths):
        onward = [best[other] for other in best if other % length == 0]
        best[length] = [length, *min(onward, key=lambda chain: (-len(chain), chain), default=[])]
    return min(best.values(), key=lambda chain: (-len(chain), chain))
