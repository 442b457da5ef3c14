"""Groups of rows on their lines: what clustering and cutting produce, before it becomes a recoding."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from kanopy._arrays import Ints, Longs
from kanopy._core.classes import Domain
from kanopy._core.local_recoding import LocalRecoding, recoding_from_ends
from kanopy._errors import NoSolution
from kanopy._progress import SILENT, Progress
from kanopy.search.clustering.costs import Measure
from kanopy.search.clustering.lines_kernel import pair_costs
from kanopy.search.judge import ClassJudge
from kanopy.search.problem import Problem


@dataclass(frozen=True, eq=False)
class Groups:
    """A partition of the rows: group per row (-1 for excluded rows), and per group its stretch on each line."""

    of_row: Ints
    low: Ints
    high: Ints
    measure: Measure

    @property
    def count(self) -> int:
        """How many groups there are."""
        return len(self.low)

    @property
    def sizes(self) -> Longs:
        """Rows per group."""
        return np.bincount(self.of_row[self.of_row >= 0], minlength=self.count).astype(np.int64)

    @property
    def costs(self) -> Longs:
        """Per group, the sum over the attributes of its loss, in units of the measure's denominator."""
        return stretch_sums(self.measure, self.low, self.high)

    def total_loss(self) -> Fraction:
        """The loss of all records over that of a fully generalized table (NTIL), exact where the measure is."""
        sizes, width = self.sizes, self.low.shape[1]
        spent = sum(cost * size for cost, size in zip(self.costs.tolist(), sizes.tolist(), strict=True))
        return Fraction(spent, self.measure.denominator * int(sizes.sum()) * width)

    def recoding(self, domain: Domain) -> LocalRecoding:
        """What the groups publish: lowest common ancestors, or ranges for free attributes."""
        leaf_at = self.measure.leaf_at
        first, last = (
            np.column_stack([leaves[ends[:, j]] for j, leaves in enumerate(leaf_at)]) for ends in (self.low, self.high)
        )
        return recoding_from_ends(domain, self.of_row, first, last, self.measure.free)


def stretch_sums(measure: Measure, low: Ints, high: Ints) -> Longs:
    """Per group, the cost of its stretches, summed over the attributes."""
    total = np.zeros(len(low), np.int64)
    for j in range(low.shape[1]):
        total += pair_costs(measure.lines, j, low[:, j], high[:, j])
    return total


def merge_until_safe(groups: Groups, problem: Problem, progress: Progress = SILENT) -> tuple[Groups, int]:
    """Merge groups that a model finds unsafe with the group whose loss grows least; also how many were merged.

    Clusterings look after group sizes only; this makes their groups satisfy models over sensitive columns too.
    Groups that publish the same labels are one class and are judged as one.
    """
    domain, judge = problem.domain, ClassJudge(problem)
    unit_of_group = groups.recoding(domain).class_of_group.astype(np.int64)
    lookup = np.append(unit_of_group, -1)
    of_row = lookup[groups.of_row].astype(np.int32)
    units = int(unit_of_group.max()) + 1
    low = np.full((units, domain.width), np.iinfo(np.int32).max, np.int32)
    high = np.full((units, domain.width), -1, np.int32)
    np.minimum.at(low, unit_of_group, groups.low)
    np.maximum.at(high, unit_of_group, groups.high)
    sizes = np.bincount(of_row[of_row >= 0], minlength=units).astype(np.int64)
    tables = judge.histograms(of_row, units)
    alive, owner = np.ones(units, np.bool_), np.arange(units)
    costs = stretch_sums(groups.measure, low, high)
    merged = 0
    while (unsafe := judge.unsafe_classes(sizes, tables)).any():
        progress("merging unsafe groups", None, f"{int(unsafe.sum())} left")
        enlarged = np.zeros(units, np.bool_)
        for unit in np.flatnonzero(unsafe):
            # A unit that took another in this round may be safe by now: it is judged again in the next.
            if not alive[unit] or enlarged[unit]:
                continue
            others = np.flatnonzero(alive)
            others = others[others != unit]
            if not len(others):
                names = ", ".join(model.explain() for model in problem.models)
                raise NoSolution(f"Even all rows together are not safe: {names}", advice=["Loosen the privacy models."])
            joint_low, joint_high = np.minimum(low[others], low[unit]), np.maximum(high[others], high[unit])
            joint = stretch_sums(groups.measure, joint_low, joint_high)
            growth = (sizes[others] + sizes[unit]) * joint - sizes[others] * costs[others]
            best = int(np.argmin(growth))
            into = int(others[best])
            low[into], high[into], costs[into] = joint_low[best], joint_high[best], joint[best]
            sizes[into] += sizes[unit]
            for table in tables.values():
                table[into] += table[unit]
            alive[unit], sizes[unit] = False, 0
            enlarged[into] = True
            owner[owner == unit] = into
            merged += 1
    if not merged:
        return groups, 0
    number = np.cumsum(alive) - 1
    of_row = np.append(number[owner], -1)[of_row].astype(np.int32)
    return Groups(of_row, low[alive], high[alive], groups.measure), merged
