"""What it costs to publish a row together with others, for clusterings that compare a row with many rows or classes."""

from __future__ import annotations

import numpy as np

from kanopy._arrays import Ints, Longs
from kanopy.search.clustering.costs import Measure
from kanopy.search.clustering.lines_kernel import FREE, GAP, POINT, START, VALUE

MOST_KEPT = 2_000
"""The costs from every place are kept for attributes of so many places; larger tables of them would fill the memory."""


class JointCosts:
    """Costs of covering a row together with other rows or with classes, in units of the measure's denominator."""

    def __init__(self, measure: Measure) -> None:
        self.measure, self.width = measure, len(measure.leaf_at)
        self._kept: list[dict[int, Longs]] = [{} for _ in range(self.width)]

    def from_place(self, j: int, place: int) -> Longs:
        """What covering a place of attribute `j` and each other place costs.

        >>> from kanopy.search.clustering.costs import make_measure
        >>> from kanopy.search.example import letters
        >>> JointCosts(make_measure(letters("acbd").domain, (), (), 4)).from_place(0, 0).tolist()
        [0, 1, 3, 3]
        """
        costs = self._kept[j].get(place)
        if costs is None:
            costs = self._costs(j, place)
            if len(costs) <= MOST_KEPT:
                self._kept[j][place] = costs
        return costs

    def _costs(self, j: int, place: int) -> Longs:
        head = self.measure.lines.head
        cells = self.measure.lines.cells[int(head[j, START]) : int(head[j + 1, START])]
        if head[j, FREE]:
            return np.asarray(np.abs(cells[:, VALUE] - cells[place, VALUE]), np.int64)
        gap = cells[:-1, GAP]
        costs = np.empty(len(cells), np.int64)
        costs[place] = cells[place, POINT]
        costs[place + 1 :] = np.maximum.accumulate(gap[place:])
        costs[:place] = np.maximum.accumulate(gap[:place][::-1])[::-1]
        return costs

    def with_tuples(self, places: Ints) -> Longs:
        """What covering a row (its places) and each distinct tuple costs, summed over the attributes."""
        total = np.zeros(len(self.measure.positions), np.int64)
        for j, position in enumerate(places.tolist()):
            total += self.from_place(j, position)[self.measure.positions[:, j]]
        return total

    def with_stretches(self, j: int, place: int, low: Ints, high: Ints, own: Longs) -> Longs:
        """What covering a place of a hierarchy and each stretch costs; `own` is what the stretches cost alone."""
        costs = self.from_place(j, place)  # the highest of the ancestors that three values have in pairs is that of all
        return np.asarray(np.maximum(own, np.maximum(costs[low], costs[high])), np.int64)
