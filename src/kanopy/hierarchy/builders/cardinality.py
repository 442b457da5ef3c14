"""Trees that balance row counts: CBGH (pairs with one node left over) and Han (groups near an equal share)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np

from kanopy._arrays import Longs
from kanopy._errors import HierarchyError
from kanopy._parameter_types import Flag, Integer, Number, Optional
from kanopy.hierarchy.builders.base import NumericBuilder, span_tree
from kanopy.hierarchy.builders.grid import Edges, GridBuilder, RangeEnd, covering, whole_width
from kanopy.hierarchy.column import Column
from kanopy.hierarchy.hierarchy import Hierarchy


@dataclass(frozen=True)
class Cbgh(GridBuilder):
    """Cardinality-based: intervals of `leaf_width`, merged in pairs; row counts choose who stays alone (Yaseen 2018).

    A level with an even number of nodes merges (1,2), (3,4), …; with an odd number one node at an odd place stays
    as it is, the one that leaves the row counts of the new level closest together (largest minus smallest, then sum
    of squares, then leftmost). The first interval starts at a multiple of `leaf_width` above 1 (above 0 for ranges that
    include 0 or negative numbers), or at `start`.

    `published=True` reads its Algorithm 2 to the letter: intervals begin at the smallest value, the upper end grows by
    one where only one of both ends is odd, and the last interval takes in what is left at the upper end.

    >>> Cbgh(published=True).build(range(1, 6)).labels_at(1), Cbgh(published=True).build(range(1, 7)).labels_at(1)
    (('[1, 2]', '[3, 5]'), ('[1, 2]', '[3, 4]', '[5, 6]'))
    >>> h = Cbgh(leaf_width=10).build(range(1, 101))
    >>> h.level_sizes[1:], h.labels_at(3)
    ([10, 5, 3, 2, 1], ('[1, 20]', '[21, 60]', '[61, 100]'))
    """

    method: ClassVar[str] = "cbgh"
    summary: ClassVar[str] = "pairs of intervals with balanced row counts (Yaseen 2018)"
    leaf_width: Annotated[float, Number(above=0), "the width of the narrowest intervals"] = 2
    start: Annotated[float | None, Optional(Number()), "the start of the first interval [default: 0 or 1]"] = None
    high: RangeEnd = None
    published: Annotated[bool, Flag(), "begin at the smallest value, with the paper's rule for odd and even ends"] = (
        False
    )

    def levels(self, column: Column) -> list[Edges]:
        assert column.positions is not None
        smallest = int(column.positions[0])
        stop = covering(column, None, self.high)[1]
        width = whole_width(column, self.leaf_width, stop - smallest + 1, "leaf_width")
        if self.published and self.start is None:
            origin = smallest
        else:
            origin = (1 if smallest >= 1 else 0) if self.start is None else column.units(self.start, "start")
        if self.start is not None and origin > smallest:
            raise HierarchyError(
                f"start={self.start} lies above the smallest value, {column.text(smallest)}. Choose a start below it."
            )
        begin = origin + (smallest - origin) // width * width
        if self.published:
            upper = stop + (smallest + stop) % 2
            starts = np.arange(begin, max(upper, begin + 1), width, dtype=np.int64)
        else:
            starts = np.arange(begin, stop + 1, width, dtype=np.int64)
        first, last = starts, starts + width - 1
        last[-1] = max(last[-1], stop)
        rows = np.zeros(len(starts), np.int64)
        np.add.at(rows, np.minimum((column.positions - begin) // width, len(starts) - 1), column.counts)
        level_edges = [(first, last)]
        while len(first) > 1:
            alone = untouched(rows) if len(first) % 2 else len(first)
            heads = np.concatenate([np.arange(0, alone, 2), np.arange(alone, min(alone + 1, len(first)))])
            heads = np.concatenate([heads, np.arange(alone + 1, len(first), 2)]).astype(np.int64)
            tails = np.append(heads[1:], len(first)) - 1
            first, last, rows = first[heads], last[tails], np.add.reduceat(rows, heads)
            level_edges.append((first, last))
        return level_edges


def untouched(rows: Longs) -> int:
    """Which node of an odd level stays alone (counted from 0, always even).

    >>> untouched(np.array([3602, 27843, 12188, 1293, 296]))
    2
    """
    n = len(rows)
    before = rows[0 : n - 1 : 2] + rows[1:n:2]
    after = rows[1:n:2] + rows[2:n:2]
    alone = rows[0::2]
    none = np.iinfo(np.int64)
    top_before = np.maximum.accumulate(np.append(none.min, before))
    low_before = np.minimum.accumulate(np.append(none.max, before))
    top_after = np.maximum.accumulate(np.append(none.min, after[::-1]))[::-1]
    low_after = np.minimum.accumulate(np.append(none.max, after[::-1]))[::-1]
    spread = np.maximum(np.maximum(top_before, top_after), alone) - np.minimum(np.minimum(low_before, low_after), alone)
    squares = np.append(0, np.cumsum(before**2)) + np.append(0, np.cumsum(after[::-1] ** 2))[::-1] + alone**2
    return 2 * int(np.lexsort((squares, spread))[0])


@dataclass(frozen=True)
class Han(NumericBuilder):
    """Groups of at most `fan_out` neighbours with near-equal row counts, round by round (after Han and Fu 1994).

    Each round gives every parent the next node as long as that brings its rows nearer to total/⌈nodes/fan_out⌉; rounds
    stop at `threshold` nodes or fewer, which get the root. This is a reconstruction: of the original algorithm (AGHC)
    only its parameters are known to us, with the values Campan et al. 2011 used as defaults.

    >>> h = Han().build([1, 2, 3, 4, 5, 6, 7, 8, 9, 10])
    >>> [h.label(node) for node in range(h.size, h.node_count)]
    ['[1, 5]', '[6, 10]', '[1, 10]']
    """

    method: ClassVar[str] = "han"
    summary: ClassVar[str] = "groups with near-equal row counts (after Han 1994)"
    threshold: Annotated[int, Integer(1), "the number of nodes from which the root follows directly"] = 4
    fan_out: Annotated[int, Integer(2), "the largest number of neighbours joined into one"] = 5

    def build_numbers(self, column: Column) -> Hierarchy:
        size, total = column.size, column.rows
        nodes, rows = list(range(size)), column.counts.tolist()
        parent, first, last = [-1] * size, list(range(size)), list(range(size))

        def join(children: list[int]) -> int:
            if len(children) == 1:
                return children[0]
            new = len(parent)
            for child in children:
                parent[child] = new
            parent.append(-1)
            first.append(first[children[0]])
            last.append(last[children[-1]])
            return new

        while len(nodes) > max(self.threshold, 1):
            parts = -(-len(nodes) // self.fan_out)
            grouped, counts, i = [], [], 0
            while i < len(nodes):
                j, held = i + 1, rows[i]
                # Nearer to total/parts, in whole numbers: compare |parts·rows − total|.
                while (
                    j < len(nodes)
                    and j - i < self.fan_out
                    and abs(parts * (held + rows[j]) - total) < abs(parts * held - total)
                ):
                    held += rows[j]
                    j += 1
                grouped.append(join(nodes[i:j]))
                counts.append(held)
                i = j
            if len(grouped) == len(nodes):
                break
            nodes, rows = grouped, counts
        join(nodes)
        spans = np.array(first, np.int32), np.array(last, np.int32)
        return span_tree(column, np.array(parent, np.int32), *spans, self.label)
