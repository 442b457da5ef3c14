"""Rows that two attributes alone already condemn, whatever the models look at.

With all other attributes at their highest level, every class is a union of classes of any candidate with the same
two levels. Rows that every refinement of such a class must suppress are suppressed in all those candidates.
"""

from __future__ import annotations

from itertools import combinations, product
from typing import TYPE_CHECKING

import numpy as np

from kanopy._arrays import Longs
from kanopy._progress import Progress

if TYPE_CHECKING:
    from kanopy.search.problem import Problem


MOST_TABLES = 3000
"""More tables of two attributes than this would take longer than they save."""


def least_gone(problem: Problem, progress: Progress) -> Longs:
    """For every candidate, rows that the models make it suppress at least, seen from two attributes at a time.

    Sound on nesting hierarchies for every model, because `Model.must_go` is: see there.
    """
    lattice = problem.lattice
    least = np.zeros(lattice.shape, np.int64)
    width = len(lattice.shape)
    # The attributes that tell most apart come first, in case there are too many pairs.
    order = sorted(range(width), key=lambda j: -lattice.shape[j])
    pairs = list(combinations(order, 2)) if width > 1 else [(0, 0)]
    done = 0
    for number, (a, b) in enumerate(pairs):
        places = list(product(range(lattice.shape[a]), range(lattice.shape[b]))) if a != b else []
        if a == b:
            places = [(x, x) for x in range(lattice.shape[a])]
        done += len(places)
        if done > MOST_TABLES:
            break
        progress("preparing bounds", number / len(pairs))
        found = np.zeros((lattice.shape[a], lattice.shape[b]), np.int64)
        for x, y in places:
            levels = list(lattice.highest)
            levels[a], levels[b] = lattice.lowest[a] + x, lattice.lowest[b] + y
            place = tuple(levels)
            table = problem.full_tables.table(place)
            found[x, y] = problem.verdict(place, table, bound=True).least_suppressed or 0
        # What holds for a pair of levels holds for all finer ones.
        found = np.maximum.accumulate(found[::-1], axis=0)[::-1]
        found = np.maximum.accumulate(found[:, ::-1], axis=1)[:, ::-1]
        if a == b:
            found = found.diagonal()
            np.maximum(least, found.reshape([-1 if i == a else 1 for i in range(width)]), out=least)
            continue
        if a > b:
            found = found.T
        shape = [1] * width
        shape[min(a, b)], shape[max(a, b)] = found.shape
        np.maximum(least, found.reshape(shape), out=least)
    return least
