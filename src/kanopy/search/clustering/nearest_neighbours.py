"""Nearest-neighbour clustering: classes of a random row and its k - 1 nearest rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from kanopy._arrays import Ints, Longs, Mask
from kanopy._core.classes import Domain
from kanopy._progress import SILENT, Progress
from kanopy.search.clustering.costs import make_measure
from kanopy.search.clustering.groups import Groups, stretch_sums
from kanopy.search.clustering.joint_costs import JointCosts
from kanopy.search.clustering.random_clustering import RandomClustering
from kanopy.search.partition_solution import check_k
from kanopy.search.solution import About

if TYPE_CHECKING:
    pass

NOTIFIED = 64
"""Classes made between two looks at the progress callback."""


def nearest_neighbour_clusters(
    domain: Domain,
    k: int,
    *,
    free: tuple[str, ...] = (),
    seed: int = 0,
    weights: tuple[float, ...] = (),
    progress: Progress = SILENT,
) -> Groups:
    """Cluster the rows of a domain into random rows with their `k - 1` nearest; the last rows join what is nearest.

    Rows come in a random order. A row that is still free takes the `k - 1` free rows with which it costs least to
    publish; ties go to the lowest row. What is left when fewer than `k` rows are free joins, from the lowest row on,
    the class with which it costs least; ties go to the first class.

    >>> from kanopy.search.example import letters
    >>> nearest_neighbour_clusters(letters("acbd").domain, 2, seed=1).of_row.tolist()
    [0, 1, 0, 1]
    """
    usable = np.flatnonzero(domain.tuple_of_row >= 0)
    check_k(k, len(usable))
    measure = make_measure(domain, free, weights, multiplier=2 * k)
    joint = JointCosts(measure)
    rows_of_tuple = _rows_of_tuple(domain, usable)
    is_free = np.ones(domain.rows, np.bool_)
    free_rows = np.bincount(domain.tuple_of_row[usable], minlength=len(domain.tuples))
    of_row = np.full(domain.rows, -1, np.int32)
    lows: list[Ints] = []
    highs: list[Ints] = []
    left = len(usable)
    for row in np.random.default_rng(seed).permutation(usable).tolist():
        if left < k:
            break
        if not is_free[row]:
            continue
        if len(lows) % NOTIFIED == 0:
            progress("clustering", 1 - left / len(usable))
        is_free[row] = False
        free_rows[domain.tuple_of_row[row]] -= 1
        members = [row, *_nearest(joint, domain, row, k - 1, is_free, free_rows, rows_of_tuple)]
        is_free[members] = False
        of_row[members] = len(lows)
        np.subtract.at(free_rows, domain.tuple_of_row[members[1:]], 1)
        places = measure.positions[domain.tuple_of_row[members]]
        lows.append(places.min(axis=0))
        highs.append(places.max(axis=0))
        left -= k
    low, high = np.array(lows, np.int32), np.array(highs, np.int32)
    for row in usable[is_free[usable]].tolist():
        places = measure.positions[domain.tuple_of_row[row]]
        best = int(np.argmin(stretch_sums(measure, np.minimum(low, places), np.maximum(high, places))))
        low[best], high[best] = np.minimum(low[best], places), np.maximum(high[best], places)
        of_row[row] = best
    return Groups(of_row, low, high, measure)


def _rows_of_tuple(domain: Domain, usable: Longs) -> list[Longs]:
    """The rows of every distinct tuple, the lowest first."""
    owner = domain.tuple_of_row[usable]
    order = usable[np.argsort(owner, kind="stable")]
    return np.split(order, np.cumsum(np.bincount(owner, minlength=len(domain.tuples)))[:-1])


def _nearest(
    joint: JointCosts, domain: Domain, row: int, count: int, is_free: Mask, free_rows: Longs,
    rows_of_tuple: list[Longs],
) -> list[int]:  # fmt: skip
    """The `count` free rows nearest to a row; of rows that are as near the lowest."""
    if not count:
        return []
    live = np.flatnonzero(free_rows > 0)
    costs = joint.with_tuples(_places(joint, domain, row))[live]
    # Every tuple has a free row, so that the nearest rows are among the nearest tuples, and those as near.
    limit = np.partition(costs, min(count, len(live)) - 1)[min(count, len(live)) - 1]
    candidates, cost_of_candidate = [], []
    for at in np.flatnonzero(costs <= limit).tolist():
        rows = rows_of_tuple[live[at]]
        lowest = rows[is_free[rows]][:count]
        candidates.append(lowest)
        cost_of_candidate.append(np.full(len(lowest), costs[at]))
    row_numbers = np.concatenate(candidates)
    order = np.lexsort((row_numbers, np.concatenate(cost_of_candidate)))[:count]
    return [int(one) for one in row_numbers[order]]


def _places(joint: JointCosts, domain: Domain, row: int) -> Ints:
    places: Ints = joint.measure.positions[domain.tuple_of_row[row]]
    return places


@dataclass(frozen=True)
class NearestNeighbours(RandomClustering):
    """Classes of a random row and the `k - 1` rows that are cheapest to publish together with it.

    The baseline of the comparisons of clusterings for k-anonymity, as the open implementation of Gong has it
    (Clustering_based_K_Anon, method knn, 2015). `free` names numeric attributes generalized to plain ranges instead
    of hierarchy nodes; `seed` is the start of the random numbers.
    """

    name = "nearest-neighbours"
    about = About(
        does="takes random rows, each with the k - 1 rows nearest to it",
        source="Gong 2015 (Clustering_based_K_Anon)",
        attributes="hierarchies that nest; numbers without a hierarchy", suppresses=False,
        units=True, seeded=True,
    )  # fmt: skip

    clusters = staticmethod(nearest_neighbour_clusters)
