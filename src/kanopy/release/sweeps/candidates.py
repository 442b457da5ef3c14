"""Every candidate of a full-domain search, judged: what each choice of levels loses, and what it would suppress."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from kanopy._errors import JobError
from kanopy._mixins import ReprMixin
from kanopy._progress import SILENT, Progress
from kanopy.release.prepare import Prepared, make_problem

if TYPE_CHECKING:
    from kanopy._arrays import Floats, Longs, Mask
    from kanopy._job.job import Job

MOST_CANDIDATES = 2_000_000


@dataclass(frozen=True, eq=False)
class Candidates(ReprMixin):
    """All choices of levels: row i of `levels` loses `losses[i]` and suppresses `suppressed[i]` rows; `best` are those
    that no other beats in both."""

    names: tuple[str, ...]
    rows: int
    levels: Longs
    losses: Floats
    suppressed: Longs
    classes: Longs
    best: Mask

    def some(self, most: int) -> Longs:
        """The numbers of at most about so many candidates to look at: all that no other beats, and the one that loses
        least in every cell of a grid over loss and suppressed rows, so that no corner of the picture stays empty."""
        if len(self.losses) <= most:
            return np.arange(len(self.losses))
        side, finite = math.isqrt(most), np.flatnonzero(np.isfinite(self.losses))
        finite = finite[np.argsort(self.losses[finite], kind="stable")]
        cells = [
            np.floor((side - 1) * (values - values.min()) / (np.ptp(values) or 1)).astype(np.int64)
            for values in (self.losses[finite], self.suppressed[finite])
        ]
        return np.union1d(
            np.flatnonzero(self.best), finite[np.unique(cells[0] * side + cells[1], return_index=True)[1]]
        )


def free_job(job: Job) -> Job:
    """The job in which candidates are judged: by k alone, with any number of rows suppressed."""
    return job.replaced(suppress=1.0, models=(), algorithm="optimal", parameters={}, local=False)


def all_candidates(prepared: Prepared, job: Job, progress: Progress = SILENT) -> Candidates:
    """Judge every choice of one level per column, none left out; how much each would suppress is not limited.

    `prepared` is the table as `free_job(job)` asks for it.

    >>> from kanopy import Job
    >>> from kanopy.release.prepare import prepare
    >>> job = Job(quasi=["age"], k=2, hierarchies={"age": {"method": "widths", "widths": [10]}})
    >>> found = all_candidates(prepare({"age": [31, 34, 52, 58, 61]}, free_job(job)), job)
    >>> found.levels.ravel().tolist(), found.suppressed.tolist(), found.best.tolist()
    ([0, 1, 2], [5, 1, 0], [False, True, True])
    """
    from kanopy.search.full_domain.exhaustive import judge_all, only_counts_rows

    problem = make_problem(prepared.domain, free_job(job))
    if problem.lattice.size > MOST_CANDIDATES:
        raise JobError(
            f"There are {problem.lattice.size:,} choices of levels: too many to judge every one. Drop levels of some "
            "hierarchies, or do not publish some columns."
        )
    if not only_counts_rows(problem):
        raise JobError("The table has too many values for a picture of all candidates. Use coarser hierarchies.")
    judged = judge_all(problem, progress)
    losses, suppressed = judged.scores(), judged.counts[:, 1]
    lattice = problem.lattice
    every = np.stack(np.unravel_index(np.arange(lattice.size), lattice.shape), axis=1) + np.array(lattice.lowest)
    return Candidates(
        prepared.domain.names, prepared.domain.rows, every, losses, suppressed, judged.counts[:, 0],
        unbeaten(losses, suppressed),
    )  # fmt: skip


def unbeaten(losses: Floats, others: Longs | Floats) -> Mask:
    """Which of many have no other with both less loss and less of something else.

    >>> unbeaten(np.array([0.5, 0.4, 0.4, 0.6]), np.array([1, 2, 3, 0])).tolist()
    [True, True, False, True]
    """
    order = np.lexsort((losses, others))
    least = np.minimum.accumulate(losses[order])
    best = np.zeros(len(losses), np.bool_)
    best[order[np.concatenate([[True], least[1:] < least[:-1] - 1e-12])]] = True
    return best & np.isfinite(losses)
