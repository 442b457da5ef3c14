"""What jobs would do to one table, each found in a moment: for sliders, and for hierarchies while they are edited.

Nothing is verified or published here. Where the search of a job takes longer, a quicker one stands in, which loses as
much or more; where even that takes longer, because the table has very many different rows, some parts of it are
searched. The parts are those that the cuts of the table lead to anyway (LeFevre, DeWitt, Ramakrishnan 2006), whatever k
is; on a million people drawn from Adult their loss was within 4 % of that of all.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from kanopy._progress import SILENT, Progress
from kanopy._shown import Short
from kanopy.metrics.full_domain import Loss
from kanopy.metrics.release import column_losses
from kanopy.metrics.risk.class_sizes import SizeBin, size_histogram
from kanopy.release.prepare import Prepared, make_problem
from kanopy.search.algorithms import algorithm_class, make_algorithm

if TYPE_CHECKING:
    from kanopy._core.classes import Domain
    from kanopy._job.job import Job

QUICK_LOCAL, QUICK_FULL = "mondrian", "optimal"
"""What stands in for a longer search."""
QUICK_SECONDS = 0.1
MOST_CANDIDATES = 50_000
"""So many choices of levels are searched to the end: the look is what the job itself finds."""
MOST_CELLS = 2_000_000
"""Different rows times columns that are searched as a whole; of larger tables, parts are."""
PART_ROWS, PARTS = 2_000, 16
"""Rows of a part at least, and how many of them are looked at."""
LARGEST_K = PART_ROWS // 10
"""Classes of more rows leave too few of them in a part to learn from it."""


@dataclass(frozen=True, eq=False)
class Look(Short):
    """What a job would do. `exact`: it is what the job's own search finds; `looked_at` rows were searched."""

    algorithm: str
    exact: bool
    rows: int
    looked_at: int
    counted: str
    loss: float
    column_losses: Mapping[str, float]
    levels: Mapping[str, int] | None
    classes: int
    smallest_class: int
    suppressed: int
    sizes_after: tuple[SizeBin, ...]


def quick_job(job: Job) -> Job:
    """The job with a search that answers in a moment: its own, if that is one.

    >>> from kanopy import Job
    >>> quick_job(Job(quasi=["age"], local=True)).algorithm, quick_job(Job(quasi=["age"])).parameters
    ('mondrian', {'budget_seconds': 0.1})
    """
    if job.algorithm in (QUICK_LOCAL, "datafly"):
        return job
    local = algorithm_class(job.algorithm).recoding != "full-domain"
    if local and not job.models and not job.unit:
        return job.replaced(algorithm=QUICK_LOCAL, parameters={})
    return job.replaced(algorithm=QUICK_FULL, parameters={"budget_seconds": QUICK_SECONDS}, local=False)


class Looks:
    """Looks at what jobs would do to a table that was prepared once (for `quick_job`, whatever it searches).

    >>> from kanopy import Job
    >>> from kanopy.release.prepare import prepare
    >>> job = Job(quasi=["age"], k=2, hierarchies={"age": {"method": "widths", "widths": [10, 20]}})
    >>> found = Looks(prepare({"age": [31, 34, 52, 58]}, job)).at(job)
    >>> found.exact, found.classes, found.smallest_class, found.levels
    (True, 2, 2, {'age': 1})
    """

    def __init__(self, prepared: Prepared) -> None:
        self.prepared = prepared

    @cached_property
    def sizes_before(self) -> tuple[SizeBin, ...]:
        """The class sizes of the original."""
        whole = self.prepared.domain.counted_before
        return size_histogram(whole.sizes, fitting=whole.fitting)

    def at(self, job: Job, progress: Progress = SILENT) -> Look:
        """What a job would do; raises `NoSolution` as its search does."""
        domain, wanted = self.prepared.domain, quick_job(job)
        large = len(domain.counts) * domain.width > MOST_CELLS
        if job.algorithm == QUICK_FULL and not job.unit and not large:
            wanted = job if make_problem(domain, job).lattice.size <= MOST_CANDIDATES else wanted
        in_parts = large and wanted.algorithm == QUICK_LOCAL and not job.models and job.k <= LARGEST_K
        looked_at = self._parts if in_parts else domain
        found = make_algorithm(wanted.algorithm, **wanted.parameters).solve(make_problem(looked_at, wanted), progress)
        recoding = found.recoding
        classes = looked_at.counted_classes(recoding)
        losses = column_losses(looked_at, recoding)
        weights = [wanted.weights.get(name, 1.0) for name in domain.names]
        part = domain.rows / looked_at.rows
        return Look(
            wanted.algorithm, wanted == job and looked_at is domain, domain.rows, looked_at.rows, domain.counted,
            float(Loss().combine(np.array(list(losses.values())), weights)), losses,
            None if found.levels is None else dict(zip(domain.names, found.levels, strict=True)),
            round(classes.count * part), classes.smallest, round(recoding.suppressed_rows * part),
            size_histogram(classes.sizes, fitting=classes.fitting),
        )  # fmt: skip

    @cached_property
    def _parts(self) -> Domain:
        """Some parts of the table, the same for every job. Neighbours are alike: they are taken at even distances."""
        from kanopy.search.clustering.mondrian import mondrian_groups

        domain = self.prepared.domain.expanded()
        of_row = mondrian_groups(domain, PART_ROWS).of_row
        distance = (int(of_row.max()) + 1) / PARTS
        return domain.part(np.flatnonzero(np.isin(of_row, ((np.arange(PARTS) + 0.5) * distance).astype(np.int64))))
