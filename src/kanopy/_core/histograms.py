"""How often each value occurs in each group of rows: counted in one place for models, risks and searches."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from kanopy._arrays import Longs

if TYPE_CHECKING:
    from kanopy._core.classes import Sensitive

Histogram = npt.NDArray[np.int32] | npt.NDArray[np.int64]
Codes = npt.NDArray[np.integer[Any]]

MANY_COLUMNS = 64
"""Wider tables are added up row by row."""


def histogram(groups: Codes, values: Codes, count: int, width: int, weights: Codes | None = None) -> Longs:
    """`[group, value]`: how many rows of each of `count` groups hold each of `width` values.

    Rows of group -1 are left out; `weights` says for how many rows each entry stands.

    >>> histogram(np.array([0, 1, 1, -1]), np.array([2, 0, 0, 1]), count=2, width=3).tolist()
    [[0, 0, 1], [2, 0, 0]]
    """
    if (groups < 0).any():
        used = groups >= 0
        groups, values, weights = groups[used], values[used], None if weights is None else weights[used]
    cells = groups.astype(np.int64) * width + values
    return np.bincount(cells, weights, minlength=count * width).astype(np.int64, copy=False).reshape(count, width)


def sensitive_histograms(
    columns: Iterable[Sensitive], groups: Codes, count: int, rows: Codes | None = None
) -> dict[str, Histogram]:
    """The histogram of each sensitive column; `groups` has an entry per row of the table, or per row of `rows`."""
    return {
        column.name: histogram(
            groups,
            column.code_of_row if rows is None else column.code_of_row[rows],
            count,
            len(column.values),
            column.multiplicity if rows is None or column.multiplicity is None else column.multiplicity[rows],
        )
        for column in columns
    }


def summed(counts: Codes, groups: Codes, count: int) -> Longs:
    """Counts (or the rows of a table of counts) added up by group; those of group -1 are left out.

    >>> summed(np.array([5, 1, 2]), np.array([0, 1, 0]), 2).tolist()
    [7, 1]
    >>> summed(np.array([[5, 0], [1, 1], [2, 3]]), np.array([0, -1, 0]), 1).tolist()
    [[7, 3]]
    """
    used = groups >= 0
    if not used.all():
        counts, groups = counts[used], groups[used]
    if counts.ndim == 1:
        return np.bincount(groups, counts, count).astype(np.int64)
    sums = np.zeros((count, counts.shape[1]), np.int64)
    if counts.shape[1] > MANY_COLUMNS:
        np.add.at(sums, groups, counts)
    else:
        for column in range(counts.shape[1]):
            sums[:, column] = np.bincount(groups, counts[:, column], count)
    return sums
