"""What an analyst would still find: Ward clustering by semantic distance, and how far two partitions lie apart."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from kanopy._arrays import Floats, Longs
from kanopy.metrics.utility.column_utility import entropy


@dataclass(frozen=True, eq=False)
class Dendrogram:
    """A tree of `leaves` objects. Row `i` of `merges` joins two nodes into node `leaves + i`: first, second, height,
    people; heights do not decrease."""

    leaves: int
    merges: Floats

    def cut(self, clusters: int) -> Longs:
        """The cluster of every leaf when the tree is cut into (at most) so many.

        >>> ward(np.array([[0.0, 1, 9], [1, 0, 9], [9, 9, 0.0]]), np.ones(3)).cut(2).tolist()
        [0, 0, 1]
        """
        parent = np.arange(self.leaves + len(self.merges))
        for step in range(max(0, self.leaves - max(1, clusters))):
            first, second = int(self.merges[step, 0]), int(self.merges[step, 1])
            parent[first] = parent[second] = self.leaves + step
        root = parent[: self.leaves]
        while (parent[root] != root).any():
            root = parent[root]
        _, first_seen, inverse = np.unique(root, return_index=True, return_inverse=True)
        rank = np.argsort(np.argsort(first_seen))
        return rank[inverse.reshape(-1)].astype(np.int64)


def ward(distances: Floats, people: npt.ArrayLike) -> Dendrogram:
    """Ward's method (1963) on any distances; `people[i]` records are equal to object `i`.

    Equal records would join first, at height 0, so they count as one object of that weight: the tree above them is
    the one that all records would give.

    >>> tree = ward(np.array([[0.0, 2.0], [2.0, 0.0]]), [1, 1])
    >>> tree.merges.tolist()
    [[0.0, 1.0, 2.0, 2.0]]
    """
    from kanopy.hierarchy.builders.semantic.linkage_kernel import join_nearest

    sizes = np.asarray(people, np.float64)
    joint = sizes[:, None] * sizes[None, :] / (sizes[:, None] + sizes[None, :])
    merged = join_nearest(np.ascontiguousarray(2.0 * joint * np.asarray(distances, np.float64) ** 2), sizes, True)
    merged = merged[np.argsort(merged[:, 2], kind="stable")]
    node = np.arange(len(sizes), dtype=np.float64)
    merges = merged.copy()
    merges[:, 2] = np.sqrt(np.maximum(merged[:, 2], 0.0))
    for step, (first, second) in enumerate(merged[:, :2].astype(np.int64)):
        merges[step, :2] = sorted((node[first], node[second]))
        node[min(first, second)] = len(sizes) + step
    return Dendrogram(len(sizes), merges)


def partition_distance(first: npt.ArrayLike, second: npt.ArrayLike, people: npt.ArrayLike | None = None) -> float:
    """The distance of two partitions of the same objects: 0 if they are equal, 1 if they have nothing in common.

    López de Mántaras 1991: (2·H(A,B) − H(A) − H(B)) / H(A,B), with entropies in people (eq. 23 of Martínez 2010).

    >>> partition_distance([0, 0, 1, 1], [1, 1, 0, 0]), partition_distance([0, 0, 1, 1], [0, 1, 0, 1])
    (0.0, 1.0)
    """
    a, b = np.asarray(first), np.asarray(second)
    weights = np.ones(len(a)) if people is None else np.asarray(people, np.float64)
    _, left = np.unique(a, return_inverse=True)
    _, right = np.unique(b, return_inverse=True)
    left, right = left.reshape(-1), right.reshape(-1)
    labels = (left * (int(right.max(initial=0)) + 1) + right, left, right)
    both, own_left, own_right = (entropy(np.bincount(numbers, weights=weights)) for numbers in labels)
    if both == 0:
        return 0.0
    return float(min(1.0, max(0.0, (2 * both - own_left - own_right) / both)))
