"""Full-domain search repeated on what it left out: every round publishes what its best level per column makes safe."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from kanopy.classes import Floats, Ints, Longs
from kanopy.errors import Cancelled, JobError, NoSolution
from kanopy.hierarchy.hierarchy import Hierarchy
from kanopy.metrics.full_domain import AttributeCosts, AttributeMetric, Loss
from kanopy.progress import SILENT, Progress
from kanopy.search.box_release import check_placeable, class_runs, release_classes
from kanopy.search.boxes import Layout, box_levels, lay_out
from kanopy.search.cheapest_levels import CheapestLevels
from kanopy.search.lattice import Levels
from kanopy.search.optimal import Optimal
from kanopy.search.partition_judge import PartitionJudge
from kanopy.search.problem import Problem
from kanopy.search.safety import unite_unsafe
from kanopy.search.solution import About, Solution


@dataclass(frozen=True)
class IterativeLocal:
    """Full-domain search, repeated on the rows that it left out, until nothing is left.

    *Where it comes from.* ARX (Prasser, Kohlmayer 2015) calls this local recoding: find one level per column for all
    rows, allow many rows to be suppressed, publish the others, and search again among the suppressed ones.

    *What we decided.* `share` is the part of the open rows that a round may leave to the next, `rounds` the most
    rounds, of which the last one publishes all it can. A round takes the levels that lose
    least among those that leave few enough rows; rows that are left cost nothing extra, since they will be published
    later (counted as lost, the first round takes nearly all rows at coarse levels: three times the loss on ARX's
    example). The search is exact for k-anonymity and all models for which a larger class is never less safe; for the
    others it takes for granted that finer levels keep fewer rows, which can make it miss the best levels of a round,
    never its safety. Classes publish the lowest labels that their rows share, which may be finer than the levels of
    their round. The last rows, fewer than 2k, become one class, or join the classes whose loss they raise least, or are
    suppressed where that is allowed: whatever loses least. `seconds_per_round` bounds a round if there are more than
    a million candidates: then a best-effort search takes the place of the exact one, and results depend on the time
    it gets.

    *Guarantee.* Every class satisfies the models; the levels lie within their limits; the rows may come in any order.
    Interrupted, it publishes the rows still open as one class (one for each part that level limits keep apart).

    *Cost.* One search per round, each on fewer rows, and each starting from what the ones before ruled out. ARX's Adult
    example (30,162 rows, 12,960 candidates), k = 2 / 5 / 10 / 100: losses .0221 / .0532 / .0777 / .1945 in about a
    second each; with `share=0.99` .0215 / .0522 / .0766 / .1922 in two.

    *When not to use it.* With many columns there are too many candidates; `best` and `he-naughton` do not depend on
    their number. For the least loss use `best`; this one is the easiest to explain.

    >>> from kanopy.classes import Domain
    >>> from kanopy.privacy.models import KAnonymity
    >>> tree = Hierarchy.from_rows([["a", "x", "*"], ["b", "x", "*"], ["c", "y", "*"], ["d", "y", "*"]])
    >>> rows = np.array([0, 0, 1, 2, 2, 3], np.int32)
    >>> letters = Domain(("letter",), (tree,), np.arange(4, dtype=np.int32)[:, None], np.array([2, 1, 2, 1]), rows)
    >>> found = IterativeLocal().solve(Problem(letters, [KAnonymity(2)]))
    >>> [found.recoding.labels[0][code] for code in found.recoding.codes[found.recoding.group_of_row, 0]]
    ['a', 'a', '*', 'c', 'c', '*']
    """

    share: float = 0.95
    rounds: int = 1000
    seconds_per_round: float = 2.0
    name: ClassVar[str] = "iterative-local"
    recoding: ClassVar[str] = "local"
    about: ClassVar[About] = About(
        does="finds the best level per column, publishes what that makes safe, and starts again with the other rows",
        source="what ARX (Prasser, Kohlmayer 2015) calls local recoding",
        anytime=True,
    )

    def __post_init__(self) -> None:
        if not 0.0 <= self.share < 1.0:
            raise JobError(
                f"The share of rows that a round may leave to the next is 0 or more and less than 1, not "
                f"{self.share:g}. Try 0.95."
            )
        if self.rounds < 1:
            raise JobError(f"There must be at least 1 round, not {self.rounds}.")
        if not self.seconds_per_round > 0:
            raise JobError(f"The time for a round must be more than 0 seconds, not {self.seconds_per_round:g}. Try 2.")

    def solve(self, problem: Problem, progress: Progress = SILENT) -> Solution:
        """Publish round by round; a callback that says stop leaves the rows still open to one coarse class."""
        problem.require_local(self.name)
        progress("laying out")
        layout = lay_out(problem)
        check_placeable(layout, problem)
        rounds = _Rounds(layout, problem, Optimal(budget_seconds=self.seconds_per_round, threads=1))
        notes = []
        try:
            for number in range(1, self.rounds + 1):
                if not rounds.publish(self.share if number < self.rounds else 0.0, progress):
                    break
        except (Cancelled, KeyboardInterrupt):
            notes.append("Stopped early: the rows not yet published share one class.")
            rounds.publish_together()
        class_of = rounds.with_left_over()
        notes.append(f"{rounds.done} rounds.")
        return release_classes(self.name, layout, class_of, problem, judged=rounds.judged, notes=notes)


@dataclass(frozen=True)
class _Unpriced(AttributeMetric):
    """A loss of levels alone: rows that are left to the next round cost no more than if they were published."""

    loss: AttributeMetric
    name: ClassVar[str] = "levels"

    def costs(self, hierarchy: Hierarchy, marginal: Longs, rows: int) -> AttributeCosts:
        whole = self.loss.costs(hierarchy, marginal, rows)
        extras = tuple(np.zeros_like(extra) for extra in whole.extras)
        return AttributeCosts(whole.totals, extras, whole.offset, whole.scale)

    def combine(self, losses: Sequence[Floats] | Floats, weights: Sequence[float]) -> Floats:
        return self.loss.combine(losses, weights)


class _Rounds:
    """Which rows are published, and in which classes."""

    def __init__(self, layout: Layout, problem: Problem, search: Optimal) -> None:
        self.layout, self.problem, self.search = layout, problem, search
        self.metric = _Unpriced(problem.metric if isinstance(problem.metric, AttributeMetric) else Loss())
        self.class_of_row: Ints = np.full(problem.domain.rows, -1, np.int32)
        self.open: Longs = np.sort(layout.rows)
        self.cheapest = CheapestLevels(problem.lattice)
        self.classes = self.done = self.judged = 0

    def publish(self, share: float, progress: Progress) -> bool:
        """One round, which may leave a share of the open rows to the next; whether it published anything.

        Fewer than 2k rows make no two classes: they are left over.
        """
        if len(self.open) < 2 * self.problem.k and self.done:
            return False
        total = len(self.layout.rows)
        fraction, note = 1 - len(self.open) / total, f"round {self.done + 1}: {len(self.open):,} rows left"
        progress("publishing", fraction, note)
        whole, rows = self.problem, self.open
        part = Problem(
            whole.domain.part(rows), whole.models, self.metric, weights=whole.weights, suppression_limit=share,
            lowest_levels=whole.lattice.lowest, highest_levels=whole.lattice.highest,
        )  # fmt: skip
        inner = Progress(lambda step: progress("publishing", fraction, note)) if progress.active else SILENT
        # Where nothing is feasible, only some of the rows can be made safe: those that are at the highest levels.
        recoding = part.recoding(self._levels(part, inner) or part.lattice.highest)
        self.judged += part.judged
        kept = recoding.group_of_row >= 0
        if not kept.any():
            return False
        number = recoding.class_of_group[recoding.group_of_row[kept]]
        self.class_of_row[rows[kept]] = number + self.classes
        self.classes += int(number.max()) + 1
        self.open = rows[~kept]
        self.done += 1
        return True

    def _levels(self, part: Problem, progress: Progress) -> Levels | None:
        """The levels that lose least of those that suppress few enough rows."""
        if part.lattice.size <= self.search.most_candidates:
            return self.cheapest.find(part, progress)
        try:
            return self.search.solve(part, progress).levels
        except NoSolution:
            return None

    def publish_together(self) -> None:
        """All open rows that may be published alike become one class."""
        stratum = np.repeat(self.layout.stratum, self.layout.counts)
        of_row = np.zeros(self.problem.domain.rows, np.int64)
        of_row[self.layout.rows] = stratum
        self.class_of_row[self.open] = self.classes + of_row[self.open]
        self.classes += int(stratum.max()) + 1
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
        for own in (stratum, record):
            joined = np.where(left, self.classes + own, class_of).astype(np.int32)
            try:
                options.append(unite_unsafe(layout, joined, problem)[0])
            except NoSolution as error:
                none = error
        group_of_row = np.full(problem.domain.rows, -1, np.int32)
        group_of_row[layout.rows[left]] = record[left]
        unsafe = PartitionJudge(problem).unsafe_groups(group_of_row, layout.records)
        dropped = np.where(left & ~unsafe[record], self.classes + record, class_of).astype(np.int32)
        if (dropped < 0).sum() <= problem.max_suppressed_rows:
            options.append(dropped)
        if not options:
            assert none is not None
            raise none
        return min(options, key=lambda option: _cost(layout, option))


def _cost(layout: Layout, class_of: Ints) -> float:
    """What a partition of the items loses in all."""
    order, starts = class_runs(class_of)
    _, weights = box_levels(layout.boxes, layout.record_of_item[order], starts)
    sizes = np.diff(np.append(starts, len(order)))
    return float(np.dot(weights, sizes)) + (len(class_of) - len(order)) * layout.suppressed_weight
