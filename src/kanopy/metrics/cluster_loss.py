"""What a clustering loses: the measures of Campan, Cooper, Truta 2011, section 3.

All take `extents[cluster, attribute]`, the size of what a cluster publishes over the size of the whole attribute
(see `kanopy._core.local_recoding`), and the number of rows of each cluster. They can be computed on the clusters an
algorithm made, or on the classes after clusters that publish the same have merged: only DM and AVG differ much.
"""

from __future__ import annotations

import numpy as np

from kanopy._arrays import Floats, Longs


def normalized_total_loss(sizes: Longs, extents: Floats) -> float:
    """NTIL: the mean extent over all records and attributes; 0 if nothing is generalized, 1 if all is (Definition 8).

    >>> normalized_total_loss(np.array([3, 1]), np.array([[0.5, 0.0], [1.0, 1.0]]))
    0.4375
    """
    rows = int(sizes.sum())
    return float((sizes[:, None] * extents).sum() / (rows * extents.shape[1])) if rows else 0.0


def average_extent(extents: Floats) -> float:
    """NIL₁: the mean extent over all clusters and attributes, whatever their sizes (Definition 9).

    >>> average_extent(np.array([[0.5, 0.0], [1.0, 1.0]]))
    0.625
    """
    return float(extents.mean()) if extents.size else 0.0


def largest_extent(extents: Floats) -> float:
    """NIL∞: per attribute the largest extent of any cluster, averaged over the attributes (Definition 10).

    >>> largest_extent(np.array([[0.5, 0.0], [1.0, 0.5]]))
    0.75
    """
    return float(extents.max(axis=0).mean()) if extents.size else 0.0


def discernibility(sizes: Longs, suppressed_rows: int = 0) -> int:
    """DM or DCP: each record costs the size of its class, a suppressed one the whole table.

    Bayardo and Agrawal 2005; Definition 11 in Campan et al.; the "discernibility penalty" of Yaseen et al. 2018.

    >>> discernibility(np.array([3, 2]), suppressed_rows=1)
    19
    """
    rows = int(sizes.sum()) + suppressed_rows
    return int((sizes.astype(np.int64) ** 2).sum()) + rows * suppressed_rows


def average_class_size(sizes: Longs, k: int) -> float:
    """AVG: the mean class size over `k`, which is 1 where every class is as small as it may be (Definition 12).

    LeFevre, DeWitt, Ramakrishnan 2006.

    >>> average_class_size(np.array([3, 3, 4]), 2)
    1.6666666666666667
    """
    return float(sizes.sum() / (len(sizes) * k)) if len(sizes) else 0.0
