"""What treated numbers still disclose: intervals around them, the nearest rows, linkage of the two tables.

Mateo-Sanz, Sebé, Domingo-Ferrer 2004 (interval disclosure), Pagliuca and Seri 1999 (distance-based record linkage).
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from kanopy._arrays import Floats
from kanopy._core.neighbours_kernel import nearest_rows

MOST_LINKED = 20_000
"""Rows whose links are looked for; of more, evenly spaced ones."""
MOST_BOXES = 2_000


@dataclass(frozen=True)
class TreatedRisk:
    """What an attacker who knows original values learns from treated ones; shares of the rows."""

    columns: tuple[str, ...]
    rows: int
    linked_rows: int
    """Rows on which linkage was tried."""
    interval_deviation: float | None
    """Share of rows whose original values all lie within `share` standard deviations of the published ones."""
    interval_rank: float | None
    """Share of rows whose original values all lie within `share` of the ranks around the published ones."""
    share: float
    linked: float | None
    """Share of rows whose nearest published row is their own (a tie of several counts as one in so many)."""
    closest: float | None
    """Median distance of an original row to the closest published one, in standard deviations per column."""
    unchanged: float | None
    """Share of rows in which no value changed."""

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return asdict(self) | {"columns": list(self.columns)}


def interval_deviation(original: Floats, treated: Floats, share: float = 0.05) -> float:
    """The share of rows of which every original value lies within `share` standard deviations of the published one.

    >>> interval_deviation(np.array([[1.0], [5.0]]), np.array([[1.0], [3.0]]))
    0.5
    """
    spread = treated.std(axis=0, ddof=1) if len(treated) > 1 else np.zeros(treated.shape[1])
    return float((np.abs(original - treated) <= share * spread).all(axis=1).mean())


def interval_rank(original: Floats, treated: Floats, share: float = 0.05) -> float:
    """The share of rows of which every original value lies between the published values whose ranks are `share` of all
    rows below and above that of its own published one.

    >>> interval_rank(np.array([[1.0], [5.0]]), np.array([[1.0], [3.0]]))
    0.5
    """
    rows = len(original)
    window = int(share * rows)
    inside = np.ones(rows, np.bool_)
    for j in range(original.shape[1]):
        order = np.argsort(treated[:, j], kind="stable")
        ranked = treated[order, j]
        rank = np.empty(rows, np.int64)
        rank[order] = np.arange(rows)
        low, high = ranked[np.maximum(rank - window, 0)], ranked[np.minimum(rank + window, rows - 1)]
        inside &= (original[:, j] >= low) & (original[:, j] <= high)
    return float(inside.mean())


def linkage(original: Floats, treated: Floats) -> tuple[float, float, int]:
    """The share of rows linked to their own published row, the median distance to the closest one, and rows tried.

    An attacker who has the original values takes the nearest published row, in units of standard deviations. Where
    several are equally near, one in so many guesses is right.

    >>> linkage(np.array([[1.0], [5.0]]), np.array([[1.0], [5.0]]))
    (1.0, 0.0, 2)
    """
    centre, spread = original.mean(axis=0), original.std(axis=0)
    scale = np.where(spread > 0, spread, 1.0)
    x, y = (original - centre) / scale, (treated - centre) / scale
    rows = len(x)
    asked = np.arange(rows) if rows <= MOST_LINKED else np.linspace(0, rows - 1, MOST_LINKED).astype(np.int64)
    # Equal published rows are one point: who is in it is a guess.
    points, number, counts = np.unique(y, axis=0, return_inverse=True, return_counts=True)
    number = number.reshape(-1)
    nearest, far = nearest_rows(points, min(8, len(points)), x[asked], most_boxes=MOST_BOXES)
    tied = (nearest >= 0) & (far <= far[:, :1] * (1 + 1e-12) + 1e-18)
    people = np.where(tied, counts[np.maximum(nearest, 0)], 0).sum(axis=1)
    is_linked = (tied & (nearest == number[asked][:, None])).any(axis=1)
    linked_share = float((is_linked / np.maximum(people, 1)).mean())
    return linked_share, float(np.median(np.sqrt(far[:, 0] / x.shape[1]))), len(asked)


def study_risk(columns: tuple[str, ...], original: Floats, treated: Floats, share: float = 0.05) -> TreatedRisk:
    """All measures over the rows in which every column is known before and after.

    >>> x = np.array([[1.0, 2.0], [2.0, 1.0], [3.0, 4.0], [5.0, 6.0]])
    >>> study_risk(("a", "b"), x, x).unchanged
    1.0
    """
    is_known = ~(np.isnan(original) | np.isnan(treated)).any(axis=1)
    x, y = original[is_known], treated[is_known]
    if len(x) < 2:
        return TreatedRisk(columns, len(x), 0, None, None, share, None, None, None)
    linked, closest, tried = linkage(x, y)
    return TreatedRisk(
        columns, len(x), tried, interval_deviation(x, y, share), interval_rank(x, y, share), share, linked, closest,
        float((x == y).all(axis=1).mean()),
    )  # fmt: skip
