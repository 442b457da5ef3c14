"""Summary statistics that stay true: what intervals allow the mean, the median and the quartiles to be.

Whatever the original values were, as long as each lies within its published interval, the statistic lies within the
bounds. A hidden cell may be anything between the ends of the column.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kanopy._arrays import Floats, Ints
from kanopy._mixins import DictMixin
from kanopy.metrics.utility.published_values import Covers

STATISTICS = ("mean", "lower quartile", "median", "upper quartile")


@dataclass(frozen=True)
class Bounds(DictMixin):
    """One statistic of one column: its true value, and the least and the most it can be by the release.

    `estimate` takes each label for its middle. `holds` is whether the truth lies within: always, unless values were
    disturbed rather than generalized.
    """

    column: str
    statistic: str
    truth: float
    low: float
    high: float
    estimate: float
    holds: bool


def summary_bounds(values: Ints, labels: Ints, covers: Covers, *, lost_rows: int = 0) -> tuple[Bounds, ...]:
    """Bounds of mean, median and quartiles of a numeric column; missing values are left out, as in the original.

    `lost_rows` were left out of the release: they may be anything between the ends of the column.

    >>> from kanopy.metrics.utility.published_values import ColumnDomain, understand
    >>> ages = ColumnDomain("age", ("20", "26", "40"), np.array([1, 1, 1]), np.array([20.0, 26, 40]))
    >>> found = summary_bounds(np.array([0, 1, 2], np.int32), np.array([0, 0, 1], np.int32),
    ...                        understand(["20-29", "40"], ages))
    >>> found[0].truth.__round__(2), round(found[0].low, 2), round(found[0].high, 2)
    (28.67, 26.67, 32.67)
    """
    numbers = covers.domain.numbers
    if numbers is None:
        return ()
    original = numbers[values]
    original = np.sort(original[np.isfinite(original)])
    lowest, highest = covers.domain.ends()
    low, high = covers.low[labels], covers.high[labels]
    is_known = np.isfinite(low) & np.isfinite(high)
    low = np.concatenate([low[is_known], np.full(lost_rows, lowest)])
    high = np.concatenate([high[is_known], np.full(lost_rows, highest)])
    if not len(original) or not len(low):
        return ()
    middle = np.sort((low + high) / 2.0)
    low, high = np.sort(low), np.sort(high)
    bounds = []
    for statistic in STATISTICS:
        truth, least, most, guess = (
            _statistic(statistic, numbers_of_rows) for numbers_of_rows in (original, low, high, middle)
        )
        margin = 1e-9 * max(1.0, abs(truth))
        holds = least - margin <= truth <= most + margin
        bounds.append(Bounds(covers.domain.name, statistic, truth, least, most, guess, holds))
    return tuple(bounds)


def _statistic(name: str, ordered: Floats) -> float:
    """A statistic of ascending numbers; quantiles are those that are values themselves, so that bounds are exact."""
    if name == "mean":
        return float(ordered.mean())
    share = {"lower quartile": 0.25, "median": 0.5, "upper quartile": 0.75}[name]
    return float(ordered[max(0, int(np.ceil(share * len(ordered))) - 1)])
