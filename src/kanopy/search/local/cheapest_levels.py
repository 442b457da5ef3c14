"""The lowest levels that keep enough rows, looked for again and again on fewer and fewer rows."""

from __future__ import annotations

import numpy as np

from kanopy._arrays import Longs
from kanopy._progress import SILENT, Progress
from kanopy.search.full_domain.level_judge import judge_of
from kanopy.search.lattice import Lattice, Levels
from kanopy.search.problem import Problem

PICK = 0.5
"""Where in what is open, cheapest first, the next candidate is picked: measured, and flat around it."""


class CheapestLevels:
    """Remembers how many rows each candidate can keep at most.

    For losses of the levels alone. Rows that go make classes smaller, so a candidate never keeps more rows than it did
    when there were more rows; and a finer one never keeps more than a coarser one. What one search learns therefore
    rules out candidates in all later ones. That is so for models to which a larger class is never less safe
    (`monotonic_with_suppression`); for others it is a rule of thumb, and the best candidate can be missed.

    >>> from kanopy.search.example import letters
    >>> whole = letters("abbc", suppress=0.25)
    >>> CheapestLevels(whole.lattice).find(whole)
    (1,)
    """

    def __init__(self, lattice: Lattice) -> None:
        self.lattice = lattice
        self._most_kept: Longs = np.full(lattice.shape, np.iinfo(np.int64).max)

    def find(self, problem: Problem, progress: Progress = SILENT) -> Levels | None:
        """The candidate of least loss among those that suppress few enough rows; `None` if none does.

        Ties: the smaller sum of levels, then the first in lexicographic order.
        """
        rows = problem.domain.rows
        need = rows - problem.max_suppressed_rows
        judge = judge_of(problem)
        most = self._most_kept
        flat = most.reshape(-1)
        open_ = np.flatnonzero(flat >= need)
        heights, losses = self.lattice.heights.reshape(-1)[open_], problem.lower_bounds().reshape(-1)[open_]
        pending = open_[np.lexsort((open_, heights, losses))]
        best: Levels | None = None
        while len(pending):
            progress("searching")
            at = int(PICK * (len(pending) - 1))
            levels = self.lattice.levels(int(pending[at]))
            published_rows = rows - judge.evaluate(levels).suppressed_rows
            finer = most[self.lattice.finer(levels)]
            np.minimum(finer, published_rows, out=finer)
            if published_rows >= need:
                best, pending = levels, pending[:at]
            pending = pending[flat[pending] >= need]
        return best
