"""The best full-domain release for every k and every limit, from one pool of judged candidates.

A candidate is grouped once; its classes counted by size answer for all k. What is infeasible at one k stays so at
every greater k, and what was judged for one (k, limit) is known for all others. Bounds are those of `optimal`, so each
answer is proved.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from kanopy._arrays import Floats, Longs
from kanopy._progress import Progress
from kanopy.metrics.full_domain import ClassMetric
from kanopy.privacy.models import KAnonymity
from kanopy.search.full_domain.projections import least_suppressed_rows
from kanopy.search.full_domain.size_profile_kernel import size_profile
from kanopy.search.judge import LevelJudgement, best_of, ceiling_of
from kanopy.search.lattice import Levels
from kanopy.search.problem import Problem

REFRESH = 1.5
"""Bounds are worked out anew when k has grown by this factor."""
PART = 0.85
"""Where among the open candidates, sorted by bound, the next one is taken: the best for the last k is good already, so
most answers are failures, and those of coarse candidates rule out most."""


class EveryK:
    """Shares judged candidates between searches for different k and limits under k-anonymity.

    `problem` gives domain, metric, weights and levels; its own k and limit do not matter.
    """

    def __init__(self, problem: Problem, most_k: int) -> None:
        assert not isinstance(problem.metric, ClassMetric), "class sizes give no bounds to share"
        problem.require_nesting()
        self.problem = problem
        self.metric = problem.metric
        self.most_k = most_k
        self.lattice = problem.lattice
        size, width = problem.lattice.size, problem.domain.width
        self._place = np.full(size, -1, np.int64)
        self._numbers: list[int] = []
        self._levels: list[Levels] = []
        self._classes = np.zeros((64, most_k), np.int64)
        self._rows = np.zeros((64, most_k), np.int64)
        self._sums = np.zeros((64, most_k, width))
        self._totals = np.zeros((64, width))
        self._all_classes = np.zeros(64, np.int64)
        self._bounds = problem.lower_bounds().reshape(-1)
        self._dead: dict[int, npt.NDArray[np.bool_]] = {}

    @property
    def judged(self) -> int:
        """Candidates grouped so far."""
        return len(self._numbers)

    def solve(
        self, ks: Sequence[int], limits: Sequence[float], progress: Progress
    ) -> Iterator[tuple[int, float, LevelJudgement | None]]:
        """For every k, ascending, and every limit: the best candidate, or `None` if none is feasible."""
        rows = self.problem.domain.rows
        known_at = 0.0
        for k in sorted(ks):
            if k >= REFRESH * known_at:
                # What must go at a smaller k must go at this one too: a bound that is a little old is still a bound.
                known_at = k
                at_k = self.problem.changed(models=[KAnonymity(k)], suppression_limit=0.0)
                least = least_suppressed_rows(at_k, 2)
                with_limit = self.problem.lower_bounds(least).reshape(-1)
            for limit in sorted(limits):
                most = int(np.floor(limit * rows + 1e-9))
                bounds = with_limit if most else self._bounds
                yield k, limit, self._best(k, most, least, bounds, progress)

    def _best(self, k: int, most: int, least: Longs, bounds: Floats, progress: Progress) -> LevelJudgement | None:
        lattice = self.lattice
        dead = self._dead.setdefault(most, np.zeros(lattice.shape, np.bool_))
        dead |= least > most
        best: LevelJudgement | None = None
        if self._numbers:
            best = self._best_known(k, most, dead)
        closed = dead.copy()
        flat = closed.reshape(-1)
        flat[self._numbers] = True
        pending = np.flatnonzero(~flat & (bounds <= ceiling_of(best)))
        pending = pending[np.lexsort((pending, lattice.heights.reshape(-1)[pending], bounds[pending]))]
        while len(pending):
            if progress.active:
                progress("exploring", None, f"k = {k}, {self.judged:,} candidates grouped")
            number = int(pending[int(PART * (len(pending) - 1))])
            judgement = self._judgement(self._look(number), k, most)
            flat[number] = True
            if not judgement.feasible:
                finer = lattice.finer(judgement.levels)
                dead[finer] = closed[finer] = True
            elif judgement.better_than(best):
                best = judgement
                pending = pending[: np.searchsorted(bounds[pending], ceiling_of(best), side="right")]
            pending = pending[~flat[pending]]
        return best

    def _best_known(self, k: int, most: int, dead: npt.NDArray[np.bool_]) -> LevelJudgement | None:
        """The best of the candidates judged before; those that fail rule out what is finer."""
        count = len(self._numbers)
        suppressed = self._rows[:count, k - 1]
        numbers = np.array(self._numbers)
        for number in numbers[(suppressed > most) & ~dead.reshape(-1)[numbers]]:
            dead[self.lattice.finer(self.lattice.levels(int(number)))] = True
        costs = self._totals[:count] + self._sums[:count, k - 1]
        losses = [cost.loss(costs[:, j]) for j, cost in enumerate(self.problem.costs)]
        scores = np.where(suppressed <= most, self.metric.combine(losses, self.problem.weights), np.inf)
        return best_of(scores, lambda number: self._judgement(number, k, most))

    def _judgement(self, number: int, k: int, most: int) -> LevelJudgement:
        suppressed = int(self._rows[number, k - 1])
        published = int(self._all_classes[number] - self._classes[number, k - 1])
        levels = self._levels[number]
        score = self.problem.score(levels, published, suppressed, 0, self._sums[number, k - 1])
        return LevelJudgement(
            feasible=suppressed <= most, score=score, suppressed_rows=suppressed, levels=levels, classes=published,
            all_classes=int(self._all_classes[number]),
        )  # fmt: skip

    def _look(self, number: int) -> int:
        """Group a candidate and remember its classes by size."""
        problem, position = self.problem, len(self._numbers)
        if position == len(self._totals):
            for name in ("_classes", "_rows", "_sums", "_totals", "_all_classes"):
                grown = getattr(self, name)
                setattr(self, name, np.concatenate([grown, np.zeros_like(grown)]))
        levels: Levels = self.lattice.levels(number)
        table, packing = problem.tables.table(levels), problem.tables.packing
        extra, starts = problem._extra
        start = starts[problem._attributes, levels]
        size_profile(
            table.keys, table.sizes, packing.word, packing.shift, packing.mask, extra, start,
            self._classes[position], self._sums[position],
        )  # fmt: skip
        below = self._classes[position]
        rows_by_size = below.copy()
        rows_by_size[1:] -= below[:-1]
        np.cumsum(rows_by_size * np.arange(self.most_k), out=self._rows[position])
        self._totals[position] = problem._cost_arrays[0][problem._attributes, levels]
        self._all_classes[position] = table.count
        self._numbers.append(number)
        self._levels.append(levels)
        self._place[number] = position
        problem.judged += 1
        return position
