"""Boxes of few rows hold few classes: limits that make the program behind the lower bound say more.

The program chooses classes in parts: of nine rows and k = 5 it may put all into classes of five, 9/5 of a class. In
truth at most one class lies within nine rows. Such limits are the odd sets of matchings (Edmonds 1965) for classes of
k rows; they are found where parts of classes crowd.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kanopy._arrays import Floats, Ints, Longs
from kanopy._core.histograms import summed
from kanopy._core.numbering import number_rows
from kanopy.search.bound.ladders import Priced
from kanopy.search.bound.limits_kernel import Limits, sum_inside
from kanopy.search.local.boxes import run_starts
from kanopy.search.local.boxes_kernel import AT, VALUES, agreements, level_tables

LARGEST = 6
"""Rows of a box with a limit at most, as a multiple of k."""
LEAST_PART, LEAST_CROWD = 0.04, 0.04
"""Parts of a class that are looked at, and by how many classes a box must be too full."""
PARTNERS = 10
"""Boxes at the same record that a box is joined with."""


@dataclass(frozen=True, eq=False)
class LimitedBoxes:
    """Boxes with the classes each admits, their records (`record[start[r]:start[r + 1]]`), and as loops need them."""

    head: Ints
    levels: Ints
    start: Longs
    record: Ints
    rows: Longs
    classes: Floats
    arrays: Limits


def no_limits(priced: Priced, k: int) -> LimitedBoxes:
    """None yet."""
    width = priced.boxes.tuples.shape[1]
    nothing = np.zeros(0, np.int32)
    return index_limits(priced, k, nothing, np.zeros((0, width), np.int32), np.zeros(1, np.int64), nothing)


def index_limits(priced: Priced, k: int, head: Ints, levels: Ints, start: Longs, record: Ints) -> LimitedBoxes:
    """Boxes given by a record and levels, and all their records end to end, as limits."""
    lengths = np.diff(start)
    of_entry = np.repeat(np.arange(len(head), dtype=np.int32), lengths)
    rows = summed(priced.counts[record], of_entry, len(head)).astype(np.int64)
    held = np.bincount(record, minlength=len(priced.counts))
    arrays = Limits(
        levels, rows, np.concatenate([[0], np.cumsum(held)]).astype(np.int64),
        of_entry[np.argsort(record, kind="stable")], np.array([rows.max(initial=-1)], np.int64),
        np.zeros((1, levels.shape[1]), np.int32), np.zeros(int(held.max(initial=0)) + 1, np.int32),
    )  # fmt: skip
    return LimitedBoxes(head, levels, start, record, rows, (rows // k).astype(np.float64), arrays)


def with_crowded(
    priced: Priced, k: int, limits: LimitedBoxes, head: Ints, levels: Ints, part: Floats, of_entry: Longs, record: Ints,
    most: int,
) -> tuple[LimitedBoxes, int]:  # fmt: skip
    """The limits, and new ones where more classes lie within a box than it admits; how many records were looked at.

    Boxes (`head`, `levels`) are chosen with a `part` each; they hold the records of the entries `of_entry`, `record`.
    New ones are some of these boxes, and of the boxes around two that have a record in common.
    """
    one, two = _neighbours(of_entry, record)
    boxes, width = priced.boxes, levels.shape[1]
    joint = np.maximum(levels[one], levels[two])
    for j in range(width):
        codes, _ = level_tables(boxes, j)
        agreed = agreements(codes, boxes.tuples[head[one], j], boxes.tuples[head[two], j])
        joint[:, j] = np.maximum(joint[:, j], agreed)
    heads = np.concatenate([limits.head, head, head[one]])
    all_levels = np.concatenate([limits.levels, levels, joint])
    nodes = []
    for j in range(width):
        at = boxes.head[j, AT] + all_levels[:, j].astype(np.int64) * boxes.head[j, VALUES]
        nodes.append(all_levels[:, j] * boxes.head[j, VALUES] + boxes.codes[at + boxes.tuples[heads, j]])
    first = number_rows(nodes).first
    first = first[first >= len(limits.head)]  # the others are limits already
    heads, all_levels = heads[first], np.ascontiguousarray(all_levels[first])
    of_levels = number_rows(all_levels)
    by_levels = np.argsort(of_levels.number, kind="stable")
    heads, all_levels = heads[by_levels], np.ascontiguousarray(all_levels[by_levels])
    crowd = _inside(priced, heads, all_levels, head, levels, part)
    # At least one class has room wherever one lies.
    several = np.flatnonzero(crowd > 1 + LEAST_CROWD)
    heads, all_levels, crowd = heads[several], np.ascontiguousarray(all_levels[several]), crowd[several]
    looked = len(of_levels.first) * len(head) + len(number_rows(all_levels).first) * len(priced.counts)
    rows = _inside(priced, heads, all_levels, np.arange(len(priced.counts)), None, priced.counts)
    excess = np.where((rows <= LARGEST * k) & (rows % k > 0), crowd - rows // k, 0.0)
    chosen = np.argsort(-excess, kind="stable")[:most]
    chosen = np.sort(chosen[excess[chosen] > LEAST_CROWD])
    heads, all_levels = heads[chosen], np.ascontiguousarray(all_levels[chosen])
    start, inside = _members(priced, heads, all_levels, rows[chosen])
    found = index_limits(
        priced, k, np.concatenate([limits.head, heads]), np.concatenate([limits.levels, all_levels]),
        np.concatenate([limits.start, limits.start[-1] + start[1:]]), np.concatenate([limits.record, inside]),
    )  # fmt: skip
    return found, looked


def _neighbours(of_entry: Longs, record: Ints) -> tuple[Longs, Longs]:
    """Pairs of boxes that hold the same record."""
    order = np.argsort(record, kind="stable")
    box, at = of_entry[order], record[order]
    pairs = [np.zeros(0, np.int64)]
    for shift in range(1, PARTNERS + 1):
        same = np.flatnonzero(at[shift:] == at[:-shift])
        a, b = box[same], box[same + shift]
        pairs.append(np.minimum(a, b) * (2**31) + np.maximum(a, b))
    pair = np.unique(np.concatenate(pairs))
    one, two = pair >> 31, pair & (2**31 - 1)
    return one[one != two], two[one != two]


def _inside(
    priced: Priced, heads: Ints, levels: Ints, points: Longs | Ints, point_levels: Ints | None, amount: Longs | Floats
) -> Floats:
    total = np.zeros(len(heads))
    _run(priced, heads, levels, points, point_levels, amount, total, np.zeros(0, np.int32))
    return total


def _members(priced: Priced, heads: Ints, levels: Ints, rows: Floats) -> tuple[Longs, Ints]:
    """The records of boxes, box by box."""
    listed = np.zeros(2 * int(rows.sum()) + 2, np.int32)
    total = np.zeros(len(heads))
    used = _run(priced, heads, levels, np.arange(len(priced.counts)), None, priced.counts, total, listed)
    pairs = listed[:used].reshape(-1, 2)
    pairs = pairs[np.argsort(pairs[:, 0], kind="stable")]
    start = np.concatenate([[0], np.cumsum(np.bincount(pairs[:, 0], minlength=len(heads)))]).astype(np.int64)
    return start, np.ascontiguousarray(pairs[:, 1])


def _run(
    priced: Priced, heads: Ints, levels: Ints, points: Longs | Ints, point_levels: Ints | None,
    amount: Longs | Floats, total: Floats, listed: Ints,
) -> int:  # fmt: skip
    used = np.zeros(1, np.int64)
    if len(heads) == 0:
        return 0
    runs = np.append(run_starts(number_rows(levels).number), len(heads)).astype(np.int64)
    if point_levels is None:
        point_levels = np.zeros((len(points), levels.shape[1]), np.int32)
    table = np.full(1 << max(8, int(4 * np.diff(runs).max()).bit_length()), -1, np.int32)
    sum_inside(
        priced.boxes, heads, levels, runs, points.astype(np.int32), np.ascontiguousarray(point_levels),
        amount.astype(np.float64), table, np.zeros(len(heads), np.int64), total, listed, used,
    )  # fmt: skip
    return int(used[0])
