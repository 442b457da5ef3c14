"""Rows of numbers in groups of at least `size`: MDAV, the local search that is the default, one column at its optimum.

All three see rows in a canonical order, so that the order of the table makes no difference.
"""

from __future__ import annotations

import numpy as np

from kanopy._arrays import Floats, Ints, Longs, Mask
from kanopy._core.grouping.mdav_kernel import LEFT, make_pool, mdav
from kanopy._core.grouping.search_kernel import LOGS, Grouping, anneal, make_grouping, start
from kanopy._core.grouping.univariate_kernel import shortest_path
from kanopy._core.neighbours_kernel import make_boxes, nearest_rows
from kanopy._progress import SILENT, Progress

NEAREST = 20
MOST_BOXES = 120
"""Boxes in which the nearest rows are looked for: all of them where rows are few or columns are."""
WHOLE = 20_000
"""Up to so many rows the search starts from MDAV on all of them, beyond from MDAV in the parts of a tree."""
PART = 4_000
TEMPERATURES = 60
HOTTEST, COLDEST = 1.5, 0.03
"""Temperatures as a share of the mean squared error of a row at the start."""
STEPS, STEPS_PER_ROW = 5_000_000, 40
MOST_STEPS_PER_ROW = 5_000
WINDOW = 8_192
"""Rows whose changes are tried together: what they need stays in the processor's cache."""
_WORD = 2**64 - 1
_SALT = 88172645463325252


def squared_error(x: Floats, group: Ints) -> float:
    """The sum of squared distances of rows from the centroids of their groups.

    >>> squared_error(np.array([[0.0], [2.0], [5.0]]), np.array([0, 0, 1], np.int32))
    2.0
    """
    return float(((x - means(x, group)[group]) ** 2).sum())


def means(x: Floats, group: Ints) -> Floats:
    """The centroid of each group."""
    counts = np.bincount(group).astype(np.float64)
    # Sums of differences from the first row of each group lose no digits of large numbers.
    first = np.zeros(len(counts), np.int64)
    first[group[::-1]] = np.arange(len(group))[::-1]
    base = x[first]
    gaps = x - base[group]
    sums = np.column_stack([np.bincount(group, gaps[:, j], len(counts)) for j in range(x.shape[1])])
    return np.asarray(base + sums / np.maximum(counts, 1)[:, None], np.float64)


def mdav_groups(
    x: Floats, size: int, nominal: Mask | None = None, *, squared: bool = True, progress: Progress = SILENT
) -> Ints:
    """MDAV (Domingo-Ferrer and Mateo-Sanz 2002): a number of a group per row, by squared Euclidean or Gower's distance.

    Columns that are `nominal` hold codes from 0 on: their distance is 0 or 1.

    >>> mdav_groups(np.array([[1.0], [9.0], [2.0], [8.0], [10.0]]), 2).tolist()
    [0, 1, 0, 1, 1]
    """
    kinds = np.zeros(x.shape[1], np.bool_) if nominal is None else nominal
    pool = make_pool(x, kinds, size)
    group = np.full(len(x), -1, np.int32)
    step = max(2 * size, len(x) // 50)
    while (left := int(pool.state[LEFT])) > 0:
        progress("grouping", 1 - left / len(x))
        mdav(pool, size, int(squared), max(0, left - step), group)
    return group


def improved_groups(
    x: Floats, size: int, *, seed: int = 1, effort: float = 1.0, of_rows: int = 0, progress: Progress = SILENT
) -> Ints:
    """Groups of `size` to 2·size - 1 rows whose squared error a local search lowered from MDAV's.

    Rows move, are swapped, and groups are dissolved and opened, accepted by simulated annealing (Kirkpatrick, Gelatt,
    Vecchi 1983). `effort` multiplies the number of changes that are tried; where these are rows of a stratum of a table
    of `of_rows`, they get their share of what the whole table would.

    >>> improved_groups(np.array([[1.0], [9.0], [2.0], [8.0], [2.5]]), 2).tolist()
    [0, 1, 0, 1, 0]
    """
    rows = len(x)
    if rows < 2 * size:
        return np.zeros(rows, np.int32)
    order, parts = np.arange(rows), [(0, rows)]
    if rows > WHOLE:
        tree = make_boxes(x, max(PART, 8 * size))
        order = tree.row.astype(np.int64)
        leaves = slice(len(tree.begin) // 2, None)
        parts = list(zip(tree.begin[leaves].tolist(), tree.end[leaves].tolist(), strict=True))
    here = np.ascontiguousarray(x[order])
    group = np.empty(rows, np.int32)
    groups = 0
    for begin, end in parts:
        progress("grouping", begin / rows)
        group[begin:end] = mdav_groups(here[begin:end], size) + groups
        groups = int(group[begin:end].max()) + 1
    near = nearest_rows(here, min(NEAREST, rows - 1), most_boxes=MOST_BOXES)[0]
    grouping = make_grouping(here, near, group, size)
    error = start(grouping)
    if error > 0:
        _search(grouping, size, error, seed, effort, max(of_rows, rows), progress)
    groups_of_rows = np.empty(rows, np.int32)
    groups_of_rows[order] = grouping.group
    return renumbered(groups_of_rows)


def _search(
    grouping: Grouping, size: int, error: float, seed: int, effort: float, of_rows: int, progress: Progress
) -> None:
    """Lower the squared error of a partition; the best one seen at the end of a temperature is kept."""
    rows = len(grouping.group)
    steps = int(effort * min(MOST_STEPS_PER_ROW * rows, (STEPS + STEPS_PER_ROW * of_rows) * rows / of_rows))
    random = np.array([((_SALT ^ (seed * 0x9E3779B97F4A7C15)) & _WORD) or _SALT], np.uint64)
    total, best, best_group = error, error, grouping.group.copy()
    for turn in range(TEMPERATURES + 1):
        progress("improving groups", turn / (TEMPERATURES + 1))
        cooled = HOTTEST * (COLDEST / HOTTEST) ** (turn / (TEMPERATURES - 1))
        heat = error / rows * cooled if turn < TEMPERATURES else 0.0
        for first in range(0, rows, WINDOW):
            count = min(WINDOW, rows - first)
            total += anneal(grouping, size, heat, first, count, steps * count // rows // TEMPERATURES + 1, random, LOGS)
        if total < best:
            best, best_group = total, grouping.group.copy()
    grouping.group[:] = best_group


def optimal_groups(values: Floats, size: int) -> Ints:
    """The partition of one column with the least squared error (Hansen and Mukherjee 2003).

    >>> optimal_groups(np.array([1.0, 9.0, 2.0, 8.0, 2.5]), 2).tolist()
    [0, 1, 0, 1, 0]
    """
    rows = len(values)
    order = np.argsort(values, kind="stable")
    cost, before = np.zeros(rows + 1), np.zeros(rows + 1, np.int64)
    shortest_path(np.ascontiguousarray(values[order], np.float64), size, cost, before)
    begins = np.zeros(rows + 1, np.int64)
    end = rows
    while end > 0:
        end = int(before[end])
        begins[end] = 1
    group = np.empty(rows, np.int32)
    group[order] = np.cumsum(begins[:rows]) - 1
    return group


def renumbered(group: Ints | Longs) -> Ints:
    """The same groups, numbered in the order in which rows first have them.

    >>> renumbered(np.array([7, 3, 7])).tolist()
    [0, 1, 0]
    """
    _, first, inverse = np.unique(group, return_index=True, return_inverse=True)
    number = np.empty(len(first), np.int32)
    number[np.argsort(first, kind="stable")] = np.arange(len(first), dtype=np.int32)
    return np.asarray(number[inverse.reshape(-1)], np.int32)
