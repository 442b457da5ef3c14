"""Bins: equal widths, equal frequencies, round widths such as 5/10/20, and cut points of the user's choice."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np

from kanopy._arrays import Longs
from kanopy._errors import HierarchyError
from kanopy._parameter_types import Either, Flag, Integer, ListOf, Number, Optional
from kanopy.hierarchy.builders.base import NumericBuilder, bottom_up, label_format, span_tree
from kanopy.hierarchy.builders.grid import (
    Edges,
    GridBuilder,
    RangeEnd,
    RangeStart,
    as_edges,
    covering,
    grid_hierarchy,
    interval_text,
    whole_width,
)
from kanopy.hierarchy.column import Column, on_decimal_grid
from kanopy.hierarchy.hierarchy import Hierarchy


@dataclass(frozen=True)
class EqualWidth(GridBuilder):
    """Split the range into `fan_out` parts of equal width, and each part again, `depth` times.

    Where a width does not divide evenly the first parts are one position wider. Without `depth`, splitting goes on
    while a level has no more intervals than the column has values (plain halving, for the default fan-out of two).

    >>> EqualWidth(fan_out=4, depth=1).build(range(1, 17)).labels_at(1)
    ('[1, 4]', '[5, 8]', '[9, 12]', '[13, 16]')
    """

    method: ClassVar[str] = "equal_width"
    summary: ClassVar[str] = "split the range into equal parts, again and again"
    fan_out: Annotated[int, Integer(2), "parts made of one"] = 2
    depth: Annotated[
        int | None, Optional(Integer(1)), "how often to split; [default: as often as the values allow]"
    ] = None
    low: RangeStart = None
    high: RangeEnd = None

    def levels(self, column: Column) -> list[Edges]:
        start, stop = covering(column, self.low, self.high)
        level_edges = [as_edges([start], stop)]
        while self.depth is None or len(level_edges) <= self.depth:
            first, last = level_edges[-1]
            length = last - first + 1
            if (length == 1).all() or (self.depth is None and len(first) * self.fan_out > column.size):
                break
            child = np.arange(self.fan_out)
            widths = length[:, None] // self.fan_out + (child < (length % self.fan_out)[:, None])
            offsets = np.cumsum(widths, axis=1) - widths
            starts = (first[:, None] + offsets)[widths > 0]
            level_edges.append(as_edges(starts, stop))
        return level_edges[::-1]


@dataclass(frozen=True)
class EqualFrequency(NumericBuilder):
    """Split the values into `fan_out` parts with near-equal numbers of rows, and each part again, `depth` times.

    A cut falls where the rows before it come nearest to their share (leftmost on ties); no part is empty. Without
    `depth`, splitting goes down to single values. Intervals end at values present.

    >>> EqualFrequency(depth=1).build([1, 2, 3, 90], counts=[5, 1, 2, 2]).labels_at(1)
    ('1', '[2, 90]')
    """

    method: ClassVar[str] = "equal_frequency"
    summary: ClassVar[str] = "split the rows into equal parts, again and again"
    fan_out: Annotated[int, Integer(2), "parts made of one"] = 2
    depth: Annotated[
        int | None, Optional(Integer(1)), "how often to split; [default: as often as the values allow]"
    ] = None

    def build_numbers(self, column: Column) -> Hierarchy:
        size = column.size
        before = np.append(0, np.cumsum(column.counts))
        spans: list[tuple[int, int, int]] = [(0, size, -1)]
        leaf_above = np.full(size, -1, np.int64)
        depth_of = [0]
        done = 0
        while done < len(spans):
            start, stop, _ = spans[done]
            splits = self.depth is None or depth_of[done] < self.depth
            cuts = _shares(before, start, stop, self.fan_out) if splits else list(range(start, stop + 1))
            for a, b in itertools.pairwise(cuts):
                if b - a == 1:
                    leaf_above[a] = done
                else:
                    spans.append((a, b, done))
                    depth_of.append(depth_of[done] + 1)
            done += 1
        first, stops, above = np.array(spans, np.int64).T
        return span_tree(column, *bottom_up(first, stops - 1, above, leaf_above), self.label)


def _shares(before: Longs, start: int, stop: int, parts: int) -> list[int]:
    """Cuts that give each of `parts` parts of the values `start…stop-1` near-equal rows; no part is empty."""
    parts = min(parts, stop - start)
    total = int(before[stop] - before[start])
    cuts = [start]
    for index in range(1, parts):
        share = int(before[start]) * parts + total * index
        lowest, highest = cuts[-1] + 1, stop - (parts - index)
        above = int(np.searchsorted(before[lowest : highest + 1] * parts, share)) + lowest
        above = min(above, highest)
        nearer_below = above > lowest and share - int(before[above - 1]) * parts <= int(before[above]) * parts - share
        cuts.append(above - 1 if nearer_below else above)
    return [*cuts, stop]


@dataclass(frozen=True)
class Widths(GridBuilder):
    """Levels of round widths, such as 5, 10 and 20 years, then the whole range: what people draw up by hand.

    Each width must be a multiple of the one before. Intervals start at `start`; with `fit=True` they are shrunk to the
    values present, as the "predefined" hierarchies of Campan et al. 2011 need.

    >>> h = Widths(widths=(5, 10)).build([17, 21, 24, 90])
    >>> h.labels_at(1), h.labels_at(2)
    (('[15, 19]', '[20, 24]', '[90, 94]'), ('[10, 19]', '[20, 29]', '[90, 99]'))
    """

    method: ClassVar[str] = "widths"
    summary: ClassVar[str] = "intervals of round widths, such as 5, 10, 20"
    widths: Annotated[tuple[float, ...], ListOf(Number(above=0), 1), "from narrow to wide, multiples"] = (5, 10, 20)
    start: Annotated[float, Number(), "the start of an interval"] = 0
    fit: Annotated[bool, Flag(), "omit widths that are too large for the range"] = False

    def levels(self, column: Column) -> list[Edges]:
        assert column.positions is not None
        smallest, largest = int(column.positions[0]), int(column.positions[-1])
        origin = column.units(self.start, "start")
        lengths = [whole_width(column, width, max(largest - smallest + 1, 1), "width") for width in self.widths]
        for narrow, wide in itertools.pairwise(lengths):
            if wide <= narrow or wide % narrow:
                raise HierarchyError(
                    f"Widths must be ascending multiples of each other so that intervals nest; {self.widths} are not. "
                    "For example: 5, 10, 20."
                )
        begin = origin + (smallest - origin) // lengths[-1] * lengths[-1]
        end = origin + (largest - origin) // lengths[-1] * lengths[-1] + lengths[-1] - 1
        level_edges = []
        for length in lengths:
            starts = np.arange(begin, end + 1, length, dtype=np.int64)
            held = np.unique((column.positions - begin) // length)
            keep = (np.arange(len(starts)) >= held[0]) & (np.arange(len(starts)) <= held[-1])
            level_edges.append((starts[keep], starts[keep] + length - 1))
        if len(level_edges[-1][0]) > 1:
            level_edges.append(as_edges([int(level_edges[-1][0][0])], int(level_edges[-1][1][-1])))
        return [_fitted(edges, column.positions) for edges in level_edges] if self.fit else level_edges


def _fitted(edges: Edges, positions: Longs) -> Edges:
    """Intervals shrunk to the values present; empty ones left out."""
    first, last = edges
    a = np.searchsorted(positions, first)
    b = np.searchsorted(positions, last, side="right") - 1
    held = a <= b
    return positions[a[held]], positions[b[held]]


@dataclass(frozen=True)
class Cuts(GridBuilder):
    """Groups between cut points: `edges` of your choice, or `quantiles` equal shares of the rows.

    Each edge begins a new group: edges (18, 65) give up to 17, 18 to 64, and from 65. `bottom` and `top` code the
    tails: everything up to `bottom` is one group `≤ bottom`, everything from `top` on one group `≥ top`. Above,
    `fan_out` groups are joined at a time until one is left; `edges` may also be several tuples, one per level,
    coarser and coarser.

    >>> Cuts(edges=(18, 65)).build([3, 17, 18, 40, 65, 90]).labels_at(1)
    ('[3, 17]', '[18, 64]', '[65, 90]')
    >>> Cuts(edges=(30,), bottom=17, top=80).build([3, 17, 18, 40, 80, 95]).labels_at(1)
    ('≤ 17', '[18, 29]', '[30, 79]', '≥ 80')
    """

    method: ClassVar[str] = "cuts"
    summary: ClassVar[str] = "your own cut points, quantiles, top and bottom coding"
    edges: Annotated[
        tuple[float, ...] | tuple[tuple[float, ...], ...],
        Either(ListOf(Number()), ListOf(ListOf(Number(), 1))),
        "where groups begin, one list or one per level",
    ] = ()
    quantiles: Annotated[
        int | None, Optional(Integer(2)), "the number of groups with about equally many rows, instead of edges"
    ] = None
    bottom: Annotated[float | None, Optional(Number()), "values up to this limit are one group"] = None
    top: Annotated[float | None, Optional(Number()), "values from this limit on are one group"] = None
    fan_out: Annotated[int, Integer(2), "groups that are joined per level"] = 2

    def contradictions(self) -> Iterable[str]:
        if not self.edges and self.quantiles is None and self.bottom is None and self.top is None:
            yield "cuts needs edges, quantiles, bottom or top. For example edges=(18, 30, 65)."
        if self.edges and self.quantiles is not None:
            yield "Give cuts either edges or quantiles, not both."
        for level in self._levels_of_edges():
            if list(level) != sorted(set(level)):
                yield f"Cut points must ascend, each once; {level} do not."

    def _levels_of_edges(self) -> list[tuple[float, ...]]:
        nested = [edge for edge in self.edges if isinstance(edge, Sequence)]
        if nested:
            return [tuple(edge) for edge in nested]
        return [tuple(edge for edge in self.edges if not isinstance(edge, Sequence))] if self.edges else []

    def levels(self, column: Column) -> list[Edges]:
        assert column.positions is not None
        smallest, largest = int(column.positions[0]), int(column.positions[-1])
        if self.quantiles is not None:
            before = np.append(0, np.cumsum(column.counts))
            cuts = _shares(before, 0, column.size, self.quantiles)[1:-1]
            chosen = [[int(column.positions[cut]) for cut in cuts]]
        else:
            chosen = [[column.units(edge, "edge") for edge in level] for level in self._levels_of_edges()] or [[]]
        tails = []
        if self.bottom is not None:
            tails.append(column.units(self.bottom, "bottom") + 1)
        if self.top is not None:
            tails.append(column.units(self.top, "top"))
        if len(tails) == 2 and tails[0] > tails[1]:
            raise HierarchyError(f"bottom={self.bottom} must lie below top={self.top}.")
        low = tails[0] if self.bottom is not None else smallest
        high = tails[-1] if self.top is not None else largest + 1
        level_edges = []
        for level in chosen:
            starts = sorted({smallest, *(cut for cut in [*tails, *(c for c in level if low < c < high)])})
            starts = [cut for cut in starts if smallest <= cut <= largest]
            level_edges.append(as_edges(starts, largest))
        for (finer, _), (coarser, _) in itertools.pairwise(level_edges):
            stray = sorted(set(coarser.tolist()) - set(finer.tolist()))
            if stray:
                raise HierarchyError(
                    f"The levels of cut points do not nest: {', '.join(column.text(x) for x in stray[:5])} cut a "
                    "coarser level but not the finer one before it. Repeat the coarser cuts in the finer level."
                )
        while len(level_edges[-1][0]) > 1:
            level_edges.append(as_edges(level_edges[-1][0][:: self.fan_out], largest))
        return level_edges

    def build_numbers(self, column: Column) -> Hierarchy:
        column = on_decimal_grid(column)
        levels, written = self.levels(column), label_format(self.label)
        bottom = None if self.bottom is None else column.units(self.bottom, "bottom")
        top = None if self.top is None else column.units(self.top, "top")

        def text(groups: int, first: int, last: int) -> str:
            if groups > 1 and last == bottom:
                return f"≤ {column.text(last)}"
            if groups > 1 and first == top:
                return f"≥ {column.text(first)}"
            return interval_text(column, first, last, written)

        texts = [[text(len(first), *ends) for ends in zip(first.tolist(), last.tolist(), strict=True)]
                 for first, last in levels]  # fmt: skip
        return grid_hierarchy(column, levels, self.label, texts)
