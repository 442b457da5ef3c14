"""What clusterings that begin with random rows share: their parameters, and the way to a release."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, ClassVar

from kanopy._parameter_types import Integer
from kanopy._progress import Progress
from kanopy.search.clustering.groups import Groups
from kanopy.search.clustering.kmember import local_solution
from kanopy.search.clustering.level_limits import within_level_limits
from kanopy.search.solution import Algorithm, FreeColumns, Solution

if TYPE_CHECKING:
    from kanopy.search.problem import Problem


@dataclass(frozen=True)
class RandomClustering(Algorithm):
    """A clustering of rows: `free` names numeric attributes generalized to plain ranges, `seed` starts its drawing."""

    free: FreeColumns = ()
    seed: Annotated[int, Integer(0), "start of the random numbers"] = 0
    recoding = "local"
    clusters: ClassVar[Callable[..., Groups]]
    """Clusters the rows of a domain into groups of at least k."""

    def search(self, problem: Problem, progress: Progress) -> Solution:
        """Cluster the rows; groups that other models find unsafe are merged with their nearest neighbours."""
        return within_level_limits(self.name, problem, progress, self._solve)

    def _solve(self, problem: Problem, progress: Progress) -> Solution:
        groups = type(self).clusters(
            problem.domain, problem.k, free=self.free, seed=self.seed, weights=problem.weights, progress=progress
        )
        return local_solution(self.name, groups, problem, progress)
