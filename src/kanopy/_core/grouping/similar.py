"""Groups of similar rows and what they publish: microaggregation, as a treatment and as an algorithm."""

from __future__ import annotations

import numpy as np

from kanopy._arrays import Floats, Ints, Mask
from kanopy._core.grouping.groups import improved_groups, mdav_groups, means, optimal_groups, renumbered
from kanopy._errors import JobError
from kanopy._progress import SILENT, Progress

MDAV, OPTIMAL = VARIANTS = ("mdav", "optimal")
MEAN, MEDIAN, MODE = "mean", "median", "mode"
STANDARDISED, RANGE, RAW = "standardised", "range", "raw"
MOST_INDICATORS = 64


def in_spreads(values: Floats, nominal: Mask, weights: Floats, scale: str = STANDARDISED) -> Floats:
    """Columns in units of their standard deviation, or of their range (Gower 1971; so always beside categories), or as
    they are (`raw`); then weighted.

    >>> in_spreads(np.array([[1.0], [3.0]]), np.array([False]), np.ones(1)).round(3).ravel().tolist()
    [-0.707, 0.707]
    """
    x = values.copy()
    numbers = ~nominal
    by_range = scale == RANGE or bool(nominal.any())
    if scale != RAW or by_range:
        x[:, numbers] -= np.nanmean(x[:, numbers], axis=0)
        if by_range:
            spread = np.nanmax(x, axis=0) - np.nanmin(x, axis=0)
        else:
            spread = np.array([np.nanstd(x[:, j], ddof=1) for j in range(x.shape[1])])
        x[:, numbers] /= np.where(spread > 0, spread, 1.0)[numbers]
    x[:, numbers] *= np.sqrt(weights[numbers])
    return x


def similar_groups(
    x: Floats,
    size: int,
    nominal: Mask,
    *,
    variant: str | None = None,
    weights: Floats | None = None,
    effort: float = 1.0,
    of_rows: int = 0,
    progress: Progress = SILENT,
) -> Ints:
    """Groups of at least `size` rows: MDAV, one column at its optimum, or several by the local search.

    Columns that are `nominal` hold codes from 0 on, whose differences count as much as their `weights` say; numbers
    are weighted already. `of_rows` is as for `improved_groups`.

    >>> similar_groups(np.array([[1.0], [9.0], [2.0], [8.0]]), 2, np.array([False])).tolist()
    [0, 1, 0, 1]
    """
    if variant == OPTIMAL or (variant is None and x.shape[1] == 1 and not nominal.any()):
        return renumbered(optimal_groups(x[:, 0], size))
    if not nominal.any():
        if variant == MDAV:
            return mdav_groups(x, size, progress=progress)
        return improved_groups(x, size, effort=effort, of_rows=of_rows, progress=progress)
    coded = None if variant == MDAV else indicators(x, nominal, weights)
    if coded is None:
        if weights is not None and (weights[nominal] != 1).any():
            raise JobError(
                "Columns of categories have no weights under MDAV, which takes over where they have more than "
                f"{MOST_INDICATORS} categories. Leave their weights out, or give coarser columns."
            )
        return mdav_groups(x, size, nominal, squared=False, progress=progress)
    return improved_groups(coded, size, effort=effort, of_rows=of_rows, progress=progress)


def indicators(x: Floats, nominal: Mask, weights: Floats | None = None) -> Floats | None:
    """A column per category, so that rows of different ones are at squared distance 1 (times the weight of the column);
    `None` if there are too many."""
    made = [x[:, [j]] for j in np.flatnonzero(~nominal)]
    for j in np.flatnonzero(nominal):
        categories = np.unique(x[:, j])
        if len(categories) > MOST_INDICATORS:
            return None
        made.append((x[:, [j]] == categories[None, :]) * np.sqrt(0.5 * (1.0 if weights is None else weights[j])))
    columns = np.column_stack(made)
    return columns if columns.shape[1] <= MOST_INDICATORS else None


def published_numbers_of(values: Floats, group: Ints, publish: str) -> Floats:
    """What each row publishes; missing values and rows without a group (-1) are missing.

    >>> published_numbers_of(np.array([1.0, 4.0, 9.0]), np.array([0, 0, -1], np.int32), MEAN).tolist()
    [2.5, 2.5, nan]
    """
    made = np.full(len(values), np.nan)
    rows = np.flatnonzero((group >= 0) & ~np.isnan(values))
    if not len(rows):
        return made
    dense_group: Ints = np.unique(group[rows], return_inverse=True)[1].reshape(-1).astype(np.int32)
    if publish == MEAN:
        made[rows] = means(values[rows, None], dense_group)[dense_group, 0]
        return made
    order = np.lexsort((values[rows], dense_group))
    begins = np.flatnonzero(np.diff(dense_group[order], prepend=-1))
    ends = np.append(begins[1:], len(order))
    ranked = values[rows][order]
    if publish == MEDIAN:
        middle = (ranked[(begins + ends - 1) // 2] + ranked[(begins + ends) // 2]) / 2.0
    else:
        middle = np.array([_most_frequent(ranked[b:e]) for b, e in zip(begins, ends, strict=True)])
    made[rows] = middle[dense_group]
    return made


def _most_frequent(ranked: Floats) -> float:
    distinct, counts = np.unique(ranked, return_counts=True)
    return float(distinct[np.argmax(counts)])
