"""Rows that two attributes alone already condemn, whatever the models look at.

With all other attributes at their highest level, every class is a union of classes of any candidate with the same
two levels. Rows that every refinement of such a class must suppress are suppressed in all those candidates.
"""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from kanopy._arrays import Longs
from kanopy._progress import Progress
from kanopy.search.full_domain.projections import most_known

if TYPE_CHECKING:
    from kanopy.search.problem import Problem


MOST_TABLES = 3000
"""More tables of two attributes than this would take longer than they save."""


def least_gone(problem: Problem, progress: Progress) -> Longs:
    """For every candidate, rows that the models make it suppress at least, seen from two attributes at a time.

    Sound on nesting hierarchies for every model, because `Model.must_go` is: see there.
    """
    lattice = problem.lattice
    width = len(lattice.shape)
    # The attributes that tell most apart come first, in case there are too many pairs.
    order = sorted(range(width), key=lambda j: -lattice.shape[j])
    subsets = list(combinations(order, min(2, width)))
    known_minima: list[tuple[tuple[int, ...], Longs]] = []
    done = 0
    for number, axes in enumerate(subsets):
        least = np.zeros([lattice.shape[j] for j in axes], np.int64)
        done += least.size
        if done > MOST_TABLES:
            break
        progress("preparing bounds", number / len(subsets))
        for cell in np.ndindex(least.shape):
            chosen = list(lattice.highest)
            for j, x in zip(axes, cell, strict=True):
                chosen[j] = lattice.lowest[j] + x
            levels = tuple(chosen)
            table = problem.full_tables.table(levels)
            least[cell] = problem.verdict(levels, table, bound=True).least_suppressed or 0
        # What holds for a pair of levels holds for all finer ones.
        for axis in range(least.ndim):
            least = np.flip(np.maximum.accumulate(np.flip(least, axis), axis=axis), axis)
        known_minima.append((axes, least))
    return most_known(lattice.shape, known_minima)
