"""Do columns still belong together as they did? Contingency tables and correlations before and after."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kanopy._arrays import Floats, Ints, correlation
from kanopy._mixins import DictMixin
from kanopy.metrics.utility.column_utility import bins_of, nearest_value, total_variation
from kanopy.metrics.utility.published_values import Covers


@dataclass(frozen=True)
class PairUtility(DictMixin):
    """Two columns before and after: how strongly they are associated (Cramér's V, and Pearson's correlation if both
    are numbers), and how far their contingency table moved (total variation)."""

    left: str
    right: str
    v_before: float
    v_after: float
    total_variation: float
    correlation_before: float | None
    correlation_after: float | None


def spread(covers: Covers, bins: Ints, width: int) -> Floats:
    """Per label the share of each bin, evenly over the values it covers; one that covers none is the nearest value."""
    weights = np.zeros((len(covers.labels), width))
    for label in range(len(covers.labels)):
        members = covers.values_of(label)
        if len(members):
            weights[label] = np.bincount(bins[members], minlength=width) / len(members)
        elif covers.domain.numbers is not None:
            weights[label, bins[nearest_value(covers, label)]] = 1.0
    return weights


def compare_pair(left: tuple[Ints, Ints, Covers], right: tuple[Ints, Ints, Covers]) -> PairUtility:
    """Compare two columns; each is given as value codes of the original rows, label codes of the released rows, and
    what the labels cover."""
    (values_l, labels_l, covers_l), (values_r, labels_r, covers_r) = left, right
    bins_l, names_l = bins_of(covers_l)
    bins_r, names_r = bins_of(covers_r)
    shape = len(names_l), len(names_r)
    before = contingency(bins_l[values_l], bins_r[values_r], shape)
    published = contingency(labels_l, labels_r, (len(covers_l.labels), len(covers_r.labels)))
    after = spread(covers_l, bins_l, shape[0]).T @ published @ spread(covers_r, bins_r, shape[1])
    correlations: tuple[float | None, float | None] = (None, None)
    if covers_l.domain.numbers is not None and covers_r.domain.numbers is not None:
        correlations = (
            correlation(covers_l.domain.numbers[values_l], covers_r.domain.numbers[values_r]),
            correlation(middles(covers_l)[labels_l], middles(covers_r)[labels_r]),
        )
    return PairUtility(
        left=covers_l.domain.name,
        right=covers_r.domain.name,
        v_before=cramers_v(before),
        v_after=cramers_v(after),
        total_variation=total_variation(before.ravel(), after.ravel()),
        correlation_before=correlations[0],
        correlation_after=correlations[1],
    )


def contingency(left: Ints, right: Ints, shape: tuple[int, int]) -> Floats:
    """How often each pair of codes occurs.

    >>> contingency(np.array([0, 1], np.int32), np.array([1, 1], np.int32), (2, 2)).tolist()
    [[0.0, 1.0], [0.0, 1.0]]
    """
    pairs = left.astype(np.int64) * shape[1] + right
    return np.bincount(pairs, minlength=shape[0] * shape[1]).reshape(shape).astype(np.float64)


def cramers_v(table: Floats) -> float:
    """Cramér's V (1946): 0 for columns that know nothing of each other, 1 if one gives the other.

    >>> cramers_v(np.array([[5.0, 0], [0, 5]])), cramers_v(np.array([[2.0, 2], [2, 2]]))
    (1.0, 0.0)
    """
    table = table[table.sum(axis=1) > 1e-12][:, table.sum(axis=0) > 1e-12]
    total = table.sum()
    degrees = min(table.shape) - 1
    if degrees < 1 or total <= 0:
        return 0.0
    expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / total
    chi_squared = float(((table - expected) ** 2 / expected).sum())
    return float(np.sqrt(min(1.0, chi_squared / (total * degrees))))


def middles(covers: Covers) -> Floats:
    """The number an analyst would use for each label: the middle of its bounds, NaN for a hidden cell.

    >>> from kanopy.metrics.utility.published_values import ColumnDomain, understand
    >>> ages = ColumnDomain("age", ("20", "30"), np.array([1, 1]), np.array([20.0, 30]))
    >>> middles(understand(["[20-30]", "*", "30"], ages)).tolist()
    [25.0, nan, 30.0]
    """
    points = (covers.low + covers.high) / 2.0
    points[[kind == "anything" for kind in covers.kinds]] = np.nan
    return points
