"""Rounds of full-domain search: each publishes the rows that its best level per column makes safe."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from kanopy._arrays import Floats, Ints, Longs
from kanopy._errors import NoSolution
from kanopy._progress import SILENT, Progress
from kanopy.hierarchy.hierarchy import Hierarchy
from kanopy.metrics.full_domain import AttributeCosts, AttributeMetric, Loss
from kanopy.search.budget import so_far
from kanopy.search.full_domain.optimal import Optimal
from kanopy.search.judge import ClassJudge
from kanopy.search.lattice import Levels
from kanopy.search.local.best.safety import BoxSpace
from kanopy.search.local.boxes import Layout, partition_cost
from kanopy.search.local.cheapest_levels import CheapestLevels
from kanopy.search.merging import unite_unsafe
from kanopy.search.problem import Problem

ROUND_SECONDS = 2.5e-7
"""Seconds of an ordinary machine for a row that takes part in a round, beside what judging takes."""


@dataclass(frozen=True)
class LevelsAlone(AttributeMetric):
    """A loss of levels alone: rows that are left to the next round cost no more than if they were published."""

    loss: AttributeMetric
    name: ClassVar[str] = "levels"

    def costs(self, hierarchy: Hierarchy, marginal: Longs, rows: int) -> AttributeCosts:
        whole = self.loss.costs(hierarchy, marginal, rows)
        extras = tuple(np.zeros_like(extra) for extra in whole.extras)
        return AttributeCosts(whole.totals, extras, whole.offset, whole.scale)

    def combine(self, losses: Sequence[Floats] | Floats, weights: Sequence[float]) -> Floats:
        return self.loss.combine(losses, weights)


class Rounds:
    """Which rows are published, and in which classes."""

    def __init__(self, layout: Layout, problem: Problem, search: Optimal) -> None:
        self.layout, self.problem, self.search = layout, problem, search
        self.metric = LevelsAlone(problem.metric if isinstance(problem.metric, AttributeMetric) else Loss())
        self.class_of_row: Ints = np.full(problem.domain.rows, -1, np.int32)
        self.open: Longs = np.sort(layout.rows)
        self.classes = self.done = self.judged = 0
        self.work_seconds = 0.0

    @cached_property
    def cheapest(self) -> CheapestLevels:
        """What the rounds have ruled out so far; where there are too many candidates for that, nobody asks."""
        return CheapestLevels(self.problem.lattice)

    def publish(self, share: float, progress: Progress) -> bool:
        """One round, which may leave a share of the open rows to the next; whether it published anything.

        Fewer than 2k rows make no two classes: they are left over.
        """
        if len(self.open) < 2 * self.problem.k and self.done:
            return False
        total = len(self.layout.rows)
        fraction, note = 1 - len(self.open) / total, self._standing
        progress("publishing", fraction, note)
        whole, rows = self.problem, self.open
        subproblem = whole.changed(domain=whole.domain.part(rows), metric=self.metric, suppression_limit=share)
        inner = Progress(lambda step: progress("publishing", fraction, note)) if progress.active else SILENT
        # Where nothing is feasible, only some of the rows can be made safe: those that are at the highest levels.
        recoding = subproblem.recoding(self._levels(subproblem, inner) or subproblem.lattice.highest)
        self.judged += subproblem.judged
        self.work_seconds += subproblem.work_seconds + ROUND_SECONDS * len(rows)
        published = recoding.group_of_row >= 0
        if not published.any():
            return False
        number = recoding.class_of_group[recoding.group_of_row[published]]
        self.class_of_row[rows[published]] = number + self.classes
        self.classes += int(number.max()) + 1
        self.open = rows[~published]
        self.done += 1
        return True

    def _standing(self) -> str:
        """Where the rounds are, and what would be lost if they ended here."""
        loss = self.layout.loss(partition_cost(self.layout, self.with_the_rest(self.classes)), 0)
        return f"round {self.done + 1}: {len(self.open):,} rows left, {so_far('loss', loss)}"

    def _levels(self, subproblem: Problem, progress: Progress) -> Levels | None:
        """The levels that lose least of those that suppress few enough rows."""
        if subproblem.lattice.size <= self.search.most_candidates:
            return self.cheapest.find(subproblem, progress)
        try:
            return self.search.solve(subproblem, progress).levels
        except NoSolution:
            return None

    def with_the_rest(self, classes: int) -> Ints:
        """The class of every item if only the first classes are published, and all others that may be alike in one."""
        class_of = self.class_of_row[self.layout.rows]
        rest = (class_of < 0) | (class_of >= classes)
        return np.where(rest, classes + self.layout.stratum[self.layout.record_of_item], class_of).astype(np.int32)

    def publish_together(self) -> None:
        """All open rows that may be published alike become one class."""
        self.class_of_row[self.layout.rows] = self.with_the_rest(self.classes)
        self.classes += int(self.layout.stratum.max()) + 1
        self.open = self.open[:0]

    def with_left_over(self) -> Ints:
        """The class of every item. Rows that found no class become one, or join, record by record, the classes whose
        loss they raise least, or are suppressed where that is allowed: whatever loses least."""
        layout, problem = self.layout, self.problem
        record = layout.record_of_item
        stratum = layout.stratum[record]
        class_of = self.class_of_row[layout.rows]
        rows = np.bincount(stratum)
        left = (class_of < 0) & (rows >= problem.k)[stratum]
        if not left.any():
            return class_of
        options: list[Ints] = []
        none: NoSolution | None = None
        for key in (stratum, record):
            joined = np.where(left, self.classes + key, class_of).astype(np.int32)
            try:
                options.append(unite_unsafe(BoxSpace(layout), joined, problem)[0])
            except NoSolution as error:
                none = error
        group_of_row = np.full(problem.domain.rows, -1, np.int32)
        group_of_row[layout.rows[left]] = record[left]
        unsafe = ClassJudge(problem).unsafe_groups(group_of_row, layout.records)
        dropped = np.where(left & ~unsafe[record], self.classes + record, class_of).astype(np.int32)
        if (dropped < 0).sum() <= problem.max_suppressed_rows:
            options.append(dropped)
        if not options:
            assert none is not None
            raise none
        return min(options, key=lambda option: partition_cost(layout, option))
