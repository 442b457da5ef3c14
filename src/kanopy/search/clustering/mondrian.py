"""Mondrian (LeFevre, DeWitt, Ramakrishnan 2006): cut the table again and again while every side keeps k rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import numpy as np

from kanopy._core.classes import Domain
from kanopy._parameter_types import Flag, OneOf
from kanopy._progress import SILENT, Progress
from kanopy.search.clustering.costs import make_measure
from kanopy.search.clustering.groups import Groups
from kanopy.search.clustering.kmember import local_solution
from kanopy.search.clustering.level_limits import within_level_limits
from kanopy.search.clustering.mondrian_kernel import CLASSES, PARTS, WRITTEN, Rules, cut_parts, make_work
from kanopy.search.partition_solution import check_k
from kanopy.search.solution import About, Algorithm, FreeColumns, Solution

if TYPE_CHECKING:
    from kanopy.search.problem import Problem

CUTS = ("loss", "widest")
SLICE_ENTRIES = 400_000
"""Entries looked at between two looks at the progress callback."""
THOROUGH = 2_000_000
"""Up to this many tuples times attributes squared, every cut of every part is weighed; larger tables weigh the cuts
of parts of up to `16 k` tuples along their two costliest attributes, where nearly all of the gain is."""


@dataclass(frozen=True)
class Mondrian(Algorithm):
    """Multidimensional cuts. `strict` keeps equal values of a cut attribute together; relaxed cuts need not.

    `cut` is "loss" (the cut that leaves least loss, our rule) or "widest" (the textbook's median of the attribute
    that varies most). `free` names numeric attributes published as plain ranges; all others publish nodes of
    their hierarchies, and strict cuts along them separate the children of a node.
    """

    strict: Annotated[bool, Flag(), "equal values of a column that is cut stay together"] = False
    cut: Annotated[str, OneOf(*CUTS), "the cut that leaves least loss, or the median of what varies most"] = "loss"
    free: FreeColumns = ()
    name, recoding = "mondrian", "local"
    quick = True
    variants = ({"strict": True},)
    about = About(
        does="cuts the table in two, again and again, while both sides keep k rows",
        source="LeFevre, DeWitt, Ramakrishnan 2006", attributes="hierarchies that nest; numbers without a hierarchy",
        suppresses=False, units=True,
    )  # fmt: skip

    def search(self, problem: Problem, progress: Progress) -> Solution:
        """Cut the rows; groups that other models find unsafe are merged with their nearest neighbours."""
        return within_level_limits(self.name, problem, progress, self._solve)

    def _solve(self, problem: Problem, progress: Progress) -> Solution:
        groups = mondrian_groups(
            problem.domain, problem.k, strict=self.strict, cut=self.cut, free=self.free, weights=problem.weights,
            progress=progress,
        )  # fmt: skip
        return local_solution(self.name, groups, problem, progress)


def mondrian_groups(
    domain: Domain,
    k: int,
    *,
    strict: bool = False,
    cut: str = "loss",
    free: tuple[str, ...] = (),
    weights: tuple[float, ...] = (),
    progress: Progress = SILENT,
) -> Groups:
    """Cut the rows of a domain into groups of at least `k`.

    A relaxed cut may send equal tuples to both sides, lowest rows to the left.

    >>> from kanopy.search.example import letters
    >>> mondrian_groups(letters("acbdd").domain, 2).of_row.tolist()
    [0, 1, 0, 1, 1]
    """
    rows = int(domain.counts.sum())
    check_k(k, rows)
    measure = make_measure(domain, free, weights, multiplier=2 * rows + k)
    tuples, width = domain.tuples.shape
    thorough = tuples * width * width <= THOROUGH
    look = 0 if cut == "widest" else tuples + rows if thorough else 16 * k
    rules = Rules(k, strict, look, width if thorough else 2)
    work, scratch = make_work(measure.positions, domain.counts, k)
    while work.state[PARTS] > 0:
        cut_parts(measure.lines, measure.positions, work, scratch, rules, SLICE_ENTRIES)
        progress("cutting", int(work.state[WRITTEN]) / len(work.out_tuples))
    written, parts = int(work.state[WRITTEN]), int(work.state[CLASSES])
    owner, counts, class_of_piece = (piece[:written] for piece in (work.out_tuples, work.out_counts, work.out_classes))
    starts = np.flatnonzero(np.concatenate([[True], np.diff(class_of_piece) > 0]))
    placed = measure.positions[owner]
    low, high = np.minimum.reduceat(placed, starts, axis=0), np.maximum.reduceat(placed, starts, axis=0)
    assert len(low) == parts
    # The rows of a tuple that was shared go to its parts from left to right, lowest rows first.
    by_tuple = np.argsort(owner, kind="stable")
    of_row = np.full(domain.rows, -1, np.int32)
    usable = np.flatnonzero(domain.tuple_of_row >= 0)
    ordered = usable[np.argsort(domain.tuple_of_row[usable], kind="stable")]
    of_row[ordered] = np.repeat(class_of_piece[by_tuple], counts[by_tuple])
    return Groups(of_row, low, high, measure)
