"""Chu: split where the relaxation error of the parts is least.

Chu, Chiang: Abstraction of High Level Concepts from Numerical Values in Databases. KDD workshop 1994.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

from kanopy._parameter_types import Integer
from kanopy.hierarchy.builders.base import NumericBuilder, bottom_up, span_tree
from kanopy.hierarchy.column import Column
from kanopy.hierarchy.hierarchy import Hierarchy

ROOM = 2**62


@dataclass(frozen=True)
class Chu(NumericBuilder):
    """Binary splits of least relaxation error (DISC, Chu and Chiang 1994), from the whole range downwards.

    The relaxation error of a node is the expected distance of two of its rows; a cut is judged by the error of both
    parts weighted by their rows; ties go to the leftmost cut. Nodes with fewer than `threshold` distinct values are
    not split further.

    >>> h = Chu().build([1, 2, 4, 7, 8, 15, 16, 40])
    >>> [h.label(node) for node in range(h.size, h.node_count)]
    ['[1, 2]', '[1, 4]', '[7, 8]', '[1, 8]', '[15, 16]', '[1, 16]', '[1, 40]']
    """

    method: ClassVar[str] = "chu"
    summary: ClassVar[str] = "split where the relaxation error is least (Chu 1994)"
    threshold: Annotated[int, Integer(2), "the smallest number of values that are divided further"] = 2

    def build_numbers(self, column: Column) -> Hierarchy:
        from kanopy._compiler import for_size
        from kanopy.hierarchy.builders.relaxation_kernel import split_by_relaxation

        assert column.positions is not None
        positions = column.positions - column.positions[0]
        exact = column.rows < 2**31 and int(positions[-1]) * column.rows**2 < ROOM
        nodes = for_size(split_by_relaxation, len(positions))(positions, column.counts, self.threshold, exact)
        return span_tree(column, *bottom_up(*nodes), self.label)
