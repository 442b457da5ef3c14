"""What jobs would do to one table, each found in a moment: for sliders, and for hierarchies while they are edited.

Nothing is verified or published here. Where the search of a job takes longer, a quicker one stands in, which loses as
much or more; where even that takes longer, because the table has very many different rows, some parts of it are
searched. The parts are those that the cuts of the table lead to anyway (LeFevre, DeWitt, Ramakrishnan 2006), whatever k
is; on a million people drawn from Adult their loss was within 4 % of that of all.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from kanopy._mixins import ReprMixin
from kanopy._progress import SILENT, Progress
from kanopy.metrics.full_domain import Loss
from kanopy.metrics.release_losses import column_losses
from kanopy.metrics.risk.class_sizes import SizeBin, size_histogram
from kanopy.release.prepare import Prepared, make_problem, prepare
from kanopy.search.algorithms import algorithm_class, make_algorithm

if TYPE_CHECKING:
    import polars as pl

    from kanopy._core.classes import Domain
    from kanopy._job.job import Job
    from kanopy.privacy.models import Model

QUICK_LOCAL = "mondrian"
QUICK_FULL = "optimal"
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
class JobPreview(ReprMixin):
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
    if algorithm_class(job.algorithm).quick:
        return job
    if job.recoding != "full-domain" and not job.models and not job.unit:
        return job.replaced(algorithm=QUICK_LOCAL, parameters={})
    return job.replaced(algorithm=QUICK_FULL, parameters={"budget_seconds": QUICK_SECONDS}, local=False)


class Previews:
    """Looks at what jobs would do to a table that was prepared once (for `quick_job`, whatever it searches).

    >>> from kanopy import Job
    >>> from kanopy.release.prepare import prepare
    >>> job = Job(quasi=["age"], k=2, hierarchies={"age": {"method": "widths", "widths": [10, 20]}})
    >>> found = Previews(prepare({"age": [31, 34, 52, 58]}, job)).at(job)
    >>> found.exact, found.classes, found.smallest_class, found.levels
    (True, 2, 2, {'age': 1})
    """

    def __init__(self, prepared: Prepared | Callable[[], Prepared]) -> None:
        self._given = prepared

    @cached_property
    def prepared(self) -> Prepared:
        """The whole table."""
        return self._given() if callable(self._given) else self._given

    @cached_property
    def sizes_before(self) -> tuple[SizeBin, ...]:
        """The class sizes of the original."""
        whole = self.prepared.domain.counted_before
        return size_histogram(whole.sizes, fitting=whole.fitting)

    @cached_property
    def rows(self) -> int:
        """Rows of the table."""
        return self.prepared.domain.rows

    @cached_property
    def _large(self) -> bool:
        domain = self.prepared.domain
        return len(domain.counts) * domain.width > MOST_CELLS

    def _in_parts(self, job: Job) -> bool:
        return self._large and job.recoding == "local" and not job.models and job.k <= LARGEST_K

    def at(self, job: Job, progress: Progress = SILENT) -> JobPreview:
        """What a job would do; raises `NoSolution` as its search does."""
        wanted = quick_job(job)
        if algorithm_class(job.algorithm) is algorithm_class(QUICK_FULL) and not job.unit and not self._large:
            wanted = job if make_problem(self.prepared.domain, job).lattice.size <= MOST_CANDIDATES else wanted
        domain = self._parts if self._in_parts(wanted) else self.prepared.domain
        solution = make_algorithm(wanted.algorithm, **wanted.parameters).solve(make_problem(domain, wanted), progress)
        recoding = solution.recoding
        classes = domain.counted_classes(recoding)
        losses = column_losses(domain, recoding)
        weights = [wanted.weights.get(name, 1.0) for name in domain.names]
        times = self.rows / domain.rows
        return JobPreview(
            wanted.algorithm, wanted == job and domain.rows == self.rows, self.rows, domain.rows, domain.counted,
            float(Loss().combine(np.array(list(losses.values())), weights)), losses,
            None if solution.levels is None else dict(zip(domain.names, solution.levels, strict=True)),
            round(classes.count * times), classes.smallest, round(recoding.suppressed_rows * times),
            size_histogram(classes.sizes, fitting=classes.fitting),
        )  # fmt: skip

    def failing(self, job: Job, model: Model, progress: Progress = SILENT) -> tuple[int, int]:
        """How many classes a model would fail in the quick full-domain release that the job has without it, of how many
        classes; the table was prepared for a job with the model.

        >>> from kanopy import Job
        >>> from kanopy.release.prepare import prepare
        >>> job = Job(quasi=["age"], k=2, models="l-distinct:ill:2", hierarchies={"age": {"method": "suppress"}})
        >>> people = {"age": [31, 31, 52, 52], "ill": ["flu", "flu", "flu", "cold"]}
        >>> Previews(prepare(people, job)).failing(job, job.models[0])
        (1, 2)
        """
        from kanopy.privacy.models import failing

        domain = self.prepared.domain
        others = [other_model for other_model in job.models if other_model != model]
        plain = job.replaced(
            models=others, algorithm=QUICK_FULL, parameters={"budget_seconds": QUICK_SECONDS}, local=False
        )
        solution = make_algorithm(plain.algorithm, **plain.parameters).solve(make_problem(domain, plain), progress)
        problem = make_problem(domain, plain.replaced(models=[model]))
        assert solution.levels is not None
        table = problem.full_tables.table(solution.levels)
        classes = problem.class_statistics.classes(table, problem.full_tables.packing, solution.levels)
        published = classes.sizes >= job.k
        return int((failing(model, classes) & published).sum()), int(published.sum())

    @cached_property
    def _part_rows(self) -> npt.NDArray[np.int64]:
        """The rows of some parts, the same for every job. Neighbours are alike: parts are taken at even distances."""
        from kanopy.search.clustering.mondrian import mondrian_groups

        of_row = mondrian_groups(self.prepared.domain.expanded(), PART_ROWS).of_row
        distance = (int(of_row.max()) + 1) / PARTS
        return np.flatnonzero(np.isin(of_row, ((np.arange(PARTS) + 0.5) * distance).astype(np.int64)))

    @cached_property
    def _parts(self) -> Domain:
        return self.prepared.domain.expanded().part(self._part_rows)

    def with_hierarchies(self, frame: pl.DataFrame, before: Job, job: Job) -> Previews | None:
        """Looks at the same table when only hierarchies have changed: of a large one, only parts are prepared anew.

        `frame` is the table as it was given; `None` where the parts do not tell enough, or hierarchies are built from
        the values of the table.
        """
        wanted = quick_job(job)
        settings: dict[str, Any] = {
            "hierarchies": {},
            "k": None,
            "algorithm": None,
            "parameters": {},
            "local": False,
            "weights": {},
        }
        only = before.replaced(**settings) == job.replaced(**settings)
        read = self.rows == frame.height and not job.decimals and not job.unit
        built = any(isinstance(job.hierarchies.get(name, {}), Mapping) for name in job.quasi)
        if not only or not read or built or not self._in_parts(wanted):
            return None
        looks = Previews(lambda: prepare(frame, wanted))
        looks._parts = prepare(frame[self._part_rows], wanted).domain.expanded()
        looks._part_rows, looks._large, looks.rows = self._part_rows, True, self.rows
        looks.sizes_before = self.sizes_before
        return looks
