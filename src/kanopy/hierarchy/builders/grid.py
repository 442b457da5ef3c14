"""Builders that divide a range rather than the values found in it: levels of closed, disjoint intervals."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Annotated, Any

import numpy as np

from kanopy._arrays import Ints, Longs
from kanopy._errors import HierarchyError
from kanopy._parameter_types import Number, Optional
from kanopy.hierarchy.builders.base import HALF_OPEN, INTERVAL, NumericBuilder, label_format
from kanopy.hierarchy.column import Column, column_of, on_decimal_grid
from kanopy.hierarchy.construct import parents_of_table
from kanopy.hierarchy.hierarchy import Hierarchy

MOST_INTERVALS = 2_000_000

Edges = tuple[Longs, Longs]
"""First and last position of the intervals of one level, ascending."""


RangeStart = Annotated[float | None, Optional(Number()), "the start of the range [default: the smallest value]"]
RangeEnd = Annotated[float | None, Optional(Number()), "the end of the range [default: the largest value]"]


@dataclass(frozen=True)
class GridBuilder(NumericBuilder):
    """A builder whose levels are intervals of a range. Level 0 of the hierarchy is still the value itself.

    Real numbers (with more digits than a decimal grid of a million steps has) get half-open intervals `[a, b)`.
    """

    def levels(self, column: Column) -> list[Edges]:
        """The intervals in positions, narrowest level first, the whole range last."""
        raise NotImplementedError

    def build_numbers(self, column: Column) -> Hierarchy:
        column = on_decimal_grid(column)
        return grid_hierarchy(column, self.levels(column), self.label)

    def intervals(self, values: Iterable[Any], counts: Iterable[int] | None = None) -> list[list[tuple[float, float]]]:
        """The levels as `(min, max)`, narrowest first: what the papers tabulate.

        >>> from kanopy.hierarchy.builders.divisors import Cgh
        >>> Cgh(min_width=4).intervals(range(1, 17))
        [[(1, 4), (5, 8), (9, 12), (13, 16)], [(1, 8), (9, 16)], [(1, 16)]]
        """
        return self.intervals_of(column_of(values, counts))

    def intervals_of(self, column: Column) -> list[list[tuple[float, float]]]:
        """The same from an already reduced column."""
        column = on_decimal_grid(column.numeric(self.method))
        if column.size == 1:
            assert column.numbers is not None
            point = column.numbers[0].item()
            return [[(point, point)]]
        return [
            list(zip(column.bounds(first).tolist(), column.bounds(last).tolist(), strict=True))
            for first, last in self.levels(column)
        ]


def grid_hierarchy(
    column: Column, levels: Sequence[Edges], label: str, texts: Sequence[Sequence[str]] = ()
) -> Hierarchy:
    """Level 0 is the values; above it one level per entry of `levels`, with intervals that hold no value kept.

    A narrowest level whose intervals are single positions says no more than level 0 and is left out. Levels need
    not nest; the hierarchy then has no tree and says so. `texts` overrides the labels of the levels.
    """
    assert column.positions is not None
    assert column.numbers is not None
    plain = not texts
    if plain and len(levels) > 1 and (levels[0][0] == levels[0][1]).all():
        levels = levels[1:]
    size = column.size
    table = [np.arange(size, dtype=np.int32)]
    lows: list[Any] = [column.numbers]
    highs: list[Any] = [column.numbers]
    level_of = [np.zeros(size, np.int32)]
    start = size
    wide = column.kind == "real"
    for level, (first, last) in enumerate(levels, 1):
        cell = np.searchsorted(first, column.positions, side="right") - 1
        if cell.min() < 0 or (column.positions > last[cell]).any():
            raise HierarchyError(f"{column.where} has values outside the range. Widen the range.")
        table.append((start + cell).astype(np.int32))
        lows.append(column.bounds(first))
        highs.append(column.bounds(last + 1) if wide else column.bounds(last))
        level_of.append(np.full(len(first), level, np.int32))
        start += len(first)
    codes = np.array(table, np.int32)
    parent = _grid_parents(codes, levels, size, start)
    low, high = np.concatenate(lows), np.concatenate(highs)

    def labels() -> list[str]:
        names = list(column.labels())
        written = label_format(label)
        for level, (first, last) in enumerate(levels):
            if not plain:
                names.extend(texts[level])
                continue
            names.extend(
                interval_text(column, a, b, written) for a, b in zip(first.tolist(), last.tolist(), strict=True)
            )
        return names

    return Hierarchy(
        size, labels, parent, name=column.name, table=codes, low=low, high=high, level_of=np.concatenate(level_of)
    )


def interval_text(column: Column, first: int, last: int, written: str) -> str:
    """The label of the interval between two positions; intervals of real numbers end where the next one begins."""
    wide = column.kind == "real"
    if first == last and not wide:
        return column.text(first)
    if wide and written == INTERVAL:
        written = HALF_OPEN
    return written.format(low=column.text(first), high=column.text(last + wide))


def _grid_parents(codes: Ints, levels: Sequence[Edges], size: int, nodes: int) -> Ints | None:
    """Parents, also of intervals without values; `None` if some interval crosses the border of a wider one."""
    parent = np.full(nodes, -1, np.int32)
    parent[:size] = codes[1]
    start = size
    for (first, last), (above_first, above_last) in pairwise(levels):
        cell = np.searchsorted(above_first, first, side="right") - 1
        if (cell < 0).any() or (last > above_last[cell]).any():
            return None
        parent[start : start + len(first)] = start + len(first) + cell
        start += len(first)
    _, broken = parents_of_table(codes, nodes)
    return None if broken else parent


def covering(column: Column, low: float | None, high: float | None) -> tuple[int, int]:
    """The range to divide, in positions: the data's, or the one given, which must hold the data."""
    assert column.positions is not None
    first, last = int(column.positions[0]), int(column.positions[-1])
    start = first if low is None else column.units(low, "low")
    stop = last if high is None else column.units(high, "high")
    if start > first or stop < last:
        raise HierarchyError(
            f"{column.where} goes from {column.text(first)} to {column.text(last)}, beyond the range from "
            f"{column.text(start)} to {column.text(stop)}. Widen low and high, or leave them out."
        )
    return start, stop


def as_edges(starts: Sequence[int] | Longs, stop: int) -> Edges:
    """Consecutive intervals from their first positions and the last position of all."""
    first = np.asarray(starts, np.int64)
    return first, np.append(first[1:] - 1, stop).astype(np.int64)


def whole_width(column: Column, amount: float, positions: int, what: str) -> int:
    """A width in positions: at least one, at most the range."""
    width = column.units(amount, what)
    if width < 1:
        raise HierarchyError(f"{what} must be positive, not {amount}.")
    if width > positions:
        raise HierarchyError(
            f"{what}={amount} is larger than the range of {column.where[0].lower()}{column.where[1:]}, which has "
            f"{positions:,} possible values. Choose a smaller width, or suppress the column."
        )
    if positions // width > MOST_INTERVALS:
        raise HierarchyError(
            f"{what}={amount} would cut {column.where[0].lower()}{column.where[1:]} into "
            f"{positions // width:,} intervals. Choose a width that gives at most {MOST_INTERVALS:,}."
        )
    return width
