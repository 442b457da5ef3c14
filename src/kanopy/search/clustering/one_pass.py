"""One-pass k-means (OKA): every row joins the nearest of n/k centres once, then sizes are adjusted to k."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from kanopy._arrays import Floats, Ints, Longs
from kanopy._core.classes import Domain
from kanopy._progress import SILENT, Progress
from kanopy.search.clustering.costs import Measure, make_measure
from kanopy.search.clustering.groups import Groups
from kanopy.search.clustering.joint_costs import JointCosts
from kanopy.search.clustering.random_clustering import RandomClustering
from kanopy.search.partition_solution import check_k
from kanopy.search.solution import About

if TYPE_CHECKING:
    from kanopy.hierarchy.hierarchy import Hierarchy

NOTIFIED = 1_024
"""Rows placed between two looks at the progress callback."""
DIGITS = 12
"""Distances are compared to so many digits, so that equal ones are equal however they are added up."""


class Centres:
    """Classes of rows with their centres: the mean of every number, and the stretch that covers the categories."""

    def __init__(self, measure: Measure, domain: Domain, weights: tuple[float, ...], rows: Ints) -> None:
        """`rows` are the places of one row per class."""
        self.joint, self.measure = JointCosts(measure), measure
        self.weights = weights or (1.0,) * domain.width
        self.numbers = [
            _numbers(hierarchy, leaves)
            for hierarchy, leaves in zip(domain.hierarchies, measure.leaf_at, strict=True)
        ]  # fmt: skip
        present = [np.unique(measure.positions[:, j]) for j in range(domain.width)]
        self.extent = [
            0.0 if number is None else float(np.ptp(number[places]))
            for number, places in zip(self.numbers, present, strict=True)
        ]
        self.size = np.ones(len(rows), np.int64)
        self.low, self.high = rows.copy(), rows.copy()
        self.own = np.column_stack([self._points(j, rows[:, j]) for j in range(domain.width)])
        self.sums = np.column_stack(
            [np.zeros(len(rows)) if number is None else number[rows[:, j]] for j, number in enumerate(self.numbers)]
        )

    def _points(self, j: int, places: Ints) -> Longs:
        return np.array([self.joint.from_place(j, position)[position] for position in places.tolist()], np.int64)

    def distances(self, places: Ints, classes: Longs) -> Floats:
        """How far a row is from the centre of some classes, the whole of an attribute being its weight."""
        total = np.zeros(len(classes))
        for j, position in enumerate(places.tolist()):
            number = self.numbers[j]
            if number is None:
                low, high, own_costs = self.low[classes, j], self.high[classes, j], self.own[classes, j]
                total += self.joint.with_stretches(j, position, low, high, own_costs) / self.measure.denominator
            elif self.extent[j]:
                centre = self.sums[classes, j] / self.size[classes]
                total += self.weights[j] * np.abs(number[position] - centre) / self.extent[j]
        return np.asarray(np.round(total, DIGITS))

    def add(self, to: int, places: Ints) -> None:
        """Put a row into a class; its centre moves."""
        for j, position in enumerate(places.tolist()):
            number = self.numbers[j]
            if number is None:
                stretch = self.low[[to], j], self.high[[to], j], self.own[[to], j]
                self.own[to, j] = self.joint.with_stretches(j, position, *stretch)[0]
            else:
                self.sums[to, j] += number[position]
        self.low[to], self.high[to] = np.minimum(self.low[to], places), np.maximum(self.high[to], places)
        self.size[to] += 1

    def replace(self, at: int, rows: Ints) -> None:
        """Make a class of other rows."""
        self.size[at] = 0
        self.sums[at] = 0.0
        self.low[at], self.high[at] = rows[0], rows[0]
        self.own[at] = [self._points(j, rows[:1, j])[0] for j in range(rows.shape[1])]
        for places in rows:
            self.add(at, places)


def one_pass_clusters(
    domain: Domain,
    k: int,
    *,
    free: tuple[str, ...] = (),
    seed: int = 0,
    weights: tuple[float, ...] = (),
    progress: Progress = SILENT,
) -> Groups:
    """Cluster the rows of a domain by one pass of k-means, and adjust the sizes (Lin, Wei 2008).

    n/k random rows are the first centres. Every other row, in the order of the quasi-identifiers, joins the class with
    the nearest centre, which moves. Then classes above `k` give up the rows farthest from their centre (of those as far
    the ones that joined last), and each of these, in random order, joins the nearest class below `k`, or the nearest
    of all when there is none. Ties go to the first class.

    >>> from kanopy.search.example import letters
    >>> one_pass_clusters(letters("acbd").domain, 2, seed=1).of_row.tolist()
    [1, 0, 1, 0]
    """
    usable = np.flatnonzero(domain.tuple_of_row >= 0)
    check_k(k, len(usable))
    measure = make_measure(domain, free, weights, multiplier=2 * k)
    places = measure.positions[domain.tuple_of_row]
    random = np.random.default_rng(seed)
    seeds = random.choice(usable, len(usable) // k, replace=False)
    centres = Centres(measure, domain, weights, places[seeds])
    members: list[list[int]] = [[row] for row in seeds.tolist()]
    everything = np.arange(len(members))
    rest = np.setdiff1d(usable, seeds)
    for done, row in enumerate(rest[np.lexsort(places[rest].T[::-1])].tolist()):
        if done % NOTIFIED == 0:
            progress("clustering", done / len(usable))
        nearest = int(np.argmin(centres.distances(places[row], everything)))
        centres.add(nearest, places[row])
        members[nearest].append(row)
    released: list[int] = []
    for at, rows in enumerate(members):
        if len(rows) > k:
            here = np.array([at])
            far = [float(centres.distances(places[row], here)[0]) for row in rows]
            order = sorted(range(len(rows)), key=far.__getitem__)
            released += [rows[one] for one in order[k:]]
            members[at] = [rows[one] for one in order[:k]]
            centres.replace(at, places[members[at]])
    for done, row in enumerate(random.permutation(np.array(sorted(released), np.int64)).tolist()):
        if done % NOTIFIED == 0:
            progress("adjusting sizes", done / len(released))
        small = np.flatnonzero(centres.size < k)
        open_classes = small if len(small) else everything
        nearest = int(open_classes[np.argmin(centres.distances(places[row], open_classes))])
        centres.add(nearest, places[row])
        members[nearest].append(row)
    of_row = np.full(domain.rows, -1, np.int32)
    for at, rows in enumerate(members):
        of_row[rows] = at
    return Groups(of_row, centres.low, centres.high, measure)


def _numbers(hierarchy: Hierarchy, leaves: Ints) -> Floats | None:
    """The number at every place of an attribute; `None` if its values are no plain numbers."""
    if hierarchy.low is None or hierarchy.high is None:
        return None
    low, high = hierarchy.low[leaves].astype(np.float64), hierarchy.high[leaves].astype(np.float64)
    return low if np.isfinite(low).all() and (low == high).all() else None


@dataclass(frozen=True)
class OnePassKMeans(RandomClustering):
    """One pass of k-means over the sorted rows, from n/k random rows, and an adjustment of the sizes (OKA).

    Lin and Wei 2008. The centre of a class is the mean of its numbers and the lowest node over its categories; a
    category is as far from a node as publishing both together costs. `free` names numeric attributes generalized to
    plain ranges instead of hierarchy nodes; `seed` is the start of the random numbers.
    """

    name = "one-pass-k-means"
    about = About(
        does="puts every row into the nearest of n/k classes, then moves the farthest rows of classes above k",
        source="Lin, Wei 2008",
        attributes="hierarchies that nest; numbers without a hierarchy", suppresses=False,
        units=True, seeded=True,
    )  # fmt: skip

    clusters = staticmethod(one_pass_clusters)
