"""Greedy k-member clustering (Byun et al. 2006) with hierarchies (Campan, Cooper, Truta 2011, section 4)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import numpy as np

from kanopy._core.classes import Domain
from kanopy._errors import JobError
from kanopy._parameter_types import Integer
from kanopy._progress import SILENT, Progress
from kanopy.search.clustering.costs import make_measure
from kanopy.search.clustering.groups import Groups, merge_until_safe
from kanopy.search.clustering.kmember_kernel import (
    CLUSTER,
    FREE_ROWS,
    grow_clusters,
    join_cluster,
    make_boxes,
    make_pool,
)
from kanopy.search.clustering.level_limits import within_level_limits
from kanopy.search.partition_solution import check_k, release
from kanopy.search.solution import About, Algorithm, FreeColumns, Solution

if TYPE_CHECKING:
    from kanopy.search.problem import Problem

SLICE_ROWS = 2_000
"""Records placed between two looks at the progress callback."""


@dataclass(frozen=True)
class KMember(Algorithm):
    """Greedy k-member clustering: every class is grown record by record from a far-away start.

    `free` names numeric attributes generalized to plain ranges instead of hierarchy nodes; `seed` is the row that
    serves as the first reference, in an order of rows that does not depend on that of the table. Byun, Kamra, Bertino,
    Li 2006; with hierarchies: Campan, Cooper, Truta 2011.
    """

    free: FreeColumns = ()
    seed: Annotated[int, Integer(0), "the row that serves as the first reference, counted in the canonical order"] = 0
    name, recoding = "k-member", "local"
    about = About(
        does="grows one class after the other from a far-away row, always by the row that adds least loss",
        source="Byun, Kamra, Bertino, Li 2006; Campan, Cooper, Truta 2011",
        attributes="hierarchies that nest; numbers without a hierarchy", suppresses=False,
        units=True, seeded=True,
    )  # fmt: skip

    def search(self, problem: Problem, progress: Progress) -> Solution:
        """Cluster the rows; groups that other models find unsafe are merged with their nearest neighbours."""
        _check_seed(self.seed, problem.domain)
        return within_level_limits(self.name, problem, progress, self._solve)

    def _solve(self, problem: Problem, progress: Progress) -> Solution:
        # Within a part of the table the first reference is the part's own row of that number, or its last.
        seed = min(self.seed, problem.domain.rows - 1)
        groups = k_member_clusters(
            problem.domain, problem.k, free=self.free, seed=seed, weights=problem.weights, progress=progress
        )
        return local_solution(self.name, groups, problem, progress)


def local_solution(name: str, groups: Groups, problem: Problem, progress: Progress) -> Solution:
    """The answer of a clustering, made safe for models that look at more than sizes."""
    safe, merged = merge_until_safe(groups, problem, progress)
    notes = [f"{merged} groups were merged with their nearest to satisfy the privacy models."] if merged else []
    if not groups.measure.exact:
        notes.append("Costs were rounded to binary digits: their exact common denominator is too large.")
    return release(name, problem, safe.recoding(problem.domain), score=float(safe.total_loss()), notes=notes)


def k_member_clusters(
    domain: Domain,
    k: int,
    *,
    free: tuple[str, ...] = (),
    seed: int = 0,
    weights: tuple[float, ...] = (),
    progress: Progress = SILENT,
) -> Groups:
    """Cluster the rows of a domain greedily into groups of at least `k`, each as alike as can be found.

    Row `seed` is the first reference. The free row furthest from the reference starts a cluster; the row that adds
    least loss joins it until it has `k`; the row that joined last is the next reference. The last few rows join the
    clusters whose loss they raise least. Ties go to the lowest row and the lowest cluster.

    >>> from kanopy.search.example import letters
    >>> k_member_clusters(letters("acbd").domain, 2).of_row.tolist()
    [1, 0, 1, 0]
    """
    usable = np.flatnonzero(domain.tuple_of_row >= 0)
    rows = len(usable)
    check_k(k, rows)
    _check_seed(seed, domain)
    measure = make_measure(domain, free, weights, multiplier=2 * k)
    lines, width = measure.lines, domain.width
    pool = make_pool(measure.positions, domain.tuple_of_row)
    boxes = make_boxes(pool, np.array([max(1, len(leaves)) for leaves in measure.leaf_at], np.float64))
    # A reference row that is itself excluded gives way to the next usable one.
    first = usable[min(int(np.searchsorted(usable, seed)), rows - 1)]
    state = np.array([0, domain.tuple_of_row[first], rows], np.int64)
    count = rows // k
    low, high = np.zeros((count, width), np.int32), np.zeros((count, width), np.int32)
    costs = np.zeros(count, np.int64)
    of_row = np.full(domain.rows, -1, np.int32)
    step = max(1, SLICE_ROWS // k)
    while state[FREE_ROWS] >= k:
        progress("clustering", 1 - int(state[FREE_ROWS]) / rows)
        grow_clusters(lines, pool, boxes, state, k, int(state[CLUSTER]) + step, low, high, costs, of_row)
    sizes = np.full(count, k, np.int64)
    for row in usable[of_row[usable] < 0]:
        position = measure.positions[domain.tuple_of_row[row]]
        of_row[row] = join_cluster(lines, position, count, sizes, low, high, costs)
    return Groups(of_row, low, high, measure)


def _check_seed(seed: int, domain: Domain) -> None:
    if not 0 <= seed < domain.rows:
        raise JobError(f"The first reference row is {seed}, but the table has rows 0 to {domain.rows - 1}.")
