"""The cost of covering a stretch of values, attribute by attribute, in whole numbers.

Each attribute is laid out as a line: its values in an order in which every hierarchy node is a stretch of
neighbours. What it costs to make the values from place `lo` to place `hi` equal is then

* without a hierarchy, the distance between the two end values;
* with a hierarchy, the size of the lowest common ancestor of the stretch, which is the largest among the lowest
  common ancestors of neighbours within it: a range maximum, answered from blocks of 16 in constant time.

Costs are integers over one common denominator (see `measure.py`), so that ties are exact. The cost of
a stretch never falls when the stretch grows; the searches prune by this.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from kanopy._arrays import Longs
from kanopy._compiler import helper

BLOCK_BITS = 4
BLOCK = 1 << BLOCK_BITS


START, FREE, BLOCKS = 0, 1, 2
POINT, VALUE, GAP, PREFIX, SUFFIX = 0, 1, 2, 3, 4


class Lines(NamedTuple):
    """All attributes end to end, in few arrays: compiled functions pay for every array they are handed.

    `head[j]` holds, per attribute, its first cell (START), whether it is free of a hierarchy (FREE) and its first
    block (BLOCKS); one closing row follows. `cells[i]` holds, per place, the cost of the value alone (POINT), its
    spot on the number line (VALUE, free attributes only), the cost of covering it together with its right
    neighbour (GAP), and running maxima of GAP from the start (PREFIX) and to the end (SUFFIX) of its block.
    `sparse[level]` holds the maxima of GAP over `2**level` whole blocks.
    """

    head: Longs
    cells: Longs
    sparse: Longs


@helper
def stretch_cost(lines: Lines, j: int, lo: int, hi: int) -> int:
    """What covering the places `lo … hi` of attribute `j` costs."""
    cells = lines.cells
    base = lines.head[j, START]
    if lo == hi:
        return cells[base + lo, POINT]  # type: ignore[no-any-return]
    if lines.head[j, FREE]:
        return cells[base + hi, VALUE] - cells[base + lo, VALUE]  # type: ignore[no-any-return]
    first = lo >> BLOCK_BITS
    last = (hi - 1) >> BLOCK_BITS
    if first == last:
        most = cells[base + lo, GAP]
        for place in range(base + lo + 1, base + hi):
            most = max(most, cells[place, GAP])
        return most  # type: ignore[no-any-return]
    most = max(cells[base + lo, SUFFIX], cells[base + hi - 1, PREFIX])
    width = last - first - 1
    if width > 0:
        level = 0
        while (2 << level) <= width:
            level += 1
        row = lines.head[j, BLOCKS] + first + 1
        most = max(most, lines.sparse[level, row], lines.sparse[level, row + width - (1 << level)])
    return most  # type: ignore[no-any-return]


@helper
def fill_costs(lines: Lines, j: int, lo: int, hi: int, costs: Longs) -> None:
    """Write down, per place of attribute `j`, what covering `lo … hi` and that place together costs."""
    cells = lines.cells
    base, end = lines.head[j, START], lines.head[j + 1, START]
    if lines.head[j, FREE]:
        left, right = cells[base + lo, VALUE], cells[base + hi, VALUE]
        for place in range(base, base + lo):
            costs[place] = right - cells[place, VALUE]
        for place in range(base + lo, base + hi + 1):
            costs[place] = right - left
        for place in range(base + hi + 1, end):
            costs[place] = cells[place, VALUE] - left
        return
    own = stretch_cost(lines, j, lo, hi)
    for place in range(base + lo, base + hi + 1):
        costs[place] = own
    most = own
    for place in range(base + hi + 1, end):
        most = max(most, cells[place - 1, GAP])
        costs[place] = most
    most = own
    for place in range(base + lo - 1, base - 1, -1):
        most = max(most, cells[place, GAP])
        costs[place] = most


def make_lines(free: list[bool], points: list[Longs], values: list[Longs], gaps: list[Longs]) -> Lines:
    """Put attributes end to end and prepare the range maxima. `gaps[j]` has one entry fewer than `points[j]`.

    >>> import numpy as np
    >>> lines = make_lines([False], [np.zeros(4, int)], [np.zeros(4, int)], [np.array([1, 3, 1])])
    >>> int(stretch_cost(lines, 0, 2, 3)), int(stretch_cost(lines, 0, 0, 3))
    (1, 3)
    """
    sizes = [len(point) for point in points]
    blocks = [-(-size // BLOCK) for size in sizes]
    head = np.zeros((len(sizes) + 1, 3), np.int64)
    head[1:, START] = np.cumsum(sizes)
    head[:-1, FREE] = free
    head[1:, BLOCKS] = np.cumsum(blocks)
    cells = np.zeros((sum(sizes), 5), np.int64)
    maxima = []
    for j, size in enumerate(sizes):
        own = cells[head[j, START] : head[j + 1, START]]
        grid = np.zeros(blocks[j] * BLOCK, np.int64)
        grid[: size - 1] = gaps[j]
        shaped = grid.reshape(-1, BLOCK)
        own[:, POINT], own[:, VALUE], own[:, GAP] = points[j], values[j], grid[:size]
        own[:, PREFIX] = np.maximum.accumulate(shaped, axis=1).reshape(-1)[:size]
        own[:, SUFFIX] = np.maximum.accumulate(shaped[:, ::-1], axis=1)[:, ::-1].reshape(-1)[:size]
        maxima.append(shaped.max(axis=1))
    rows = [np.concatenate(maxima)]
    while (2 << (len(rows) - 1)) <= max(blocks):
        below, step = rows[-1], 1 << (len(rows) - 1)
        # Near the end of an attribute this reaches into the next one; such entries are never asked for.
        rows.append(np.maximum(below, np.concatenate([below[step:], np.zeros(step, np.int64)])))
    return Lines(head, cells, np.array(rows, np.int64))


def pair_costs(lines: Lines, j: int, lo: npt.NDArray[np.int32], hi: npt.NDArray[np.int32]) -> Longs:
    """`stretch_cost` for arrays of stretches of attribute `j` (plain NumPy).

    >>> import numpy as np
    >>> lines = make_lines([False], [np.zeros(4, int)], [np.zeros(4, int)], [np.array([1, 3, 1])])
    >>> pair_costs(lines, 0, np.array([2, 0, 1]), np.array([3, 3, 1])).tolist()
    [1, 3, 0]
    """
    base, end = int(lines.head[j, START]), int(lines.head[j + 1, START])
    cells = lines.cells[base:end]
    if lines.head[j, FREE]:
        return np.asarray(cells[hi, VALUE] - cells[lo, VALUE], np.int64)
    # Doubling: after step s, `reach[x]` is the largest GAP among the 2**s gaps from x on.
    result = np.where(lo == hi, cells[lo, POINT], 0).astype(np.int64)
    reach, place, left = cells[:, GAP].copy(), np.asarray(lo, np.int64).copy(), np.asarray(hi - lo, np.int64).copy()
    step = 1
    while left.any():
        odd = (left & step) > 0
        result[odd] = np.maximum(result[odd], reach[place[odd]])
        place[odd] += step
        left[odd] -= step
        reach = np.maximum(reach, np.concatenate([reach[step:], np.zeros(min(step, len(reach)), np.int64)]))
        step *= 2
    return result
