"""Sets of few rows hold few classes: limits that make the program behind the lower bound say more.

The program chooses classes in parts: of nine rows and k = 5 it may put all into classes of five, 9/5 of a class. In
truth at most one class lies within nine rows. Such limits are the odd sets of matchings (Edmonds 1965) for classes of
k rows; they are found where parts of classes crowd. The sets are unions of boxes that share rows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kanopy._arrays import Floats, Ints, Longs
from kanopy._core.histograms import summed
from kanopy._core.numbering import Numbered, number_rows
from kanopy.search.bound.certificate import stretches
from kanopy.search.bound.level_chains import Priced
from kanopy.search.bound.limits_kernel import Limits, grow_crowds, make_crowds, sum_inside
from kanopy.search.local.boxes import run_starts
from kanopy.search.local.boxes_kernel import AT, VALUES, Boxes, agreements, level_tables

LARGEST, LARGEST_AROUND = 4, 6
"""Rows of a chosen box that is looked at, and of a box around two, at most, as a multiple of k."""
LARGEST_UNION, MOST_BOXES = 12, 10
"""Rows of a union at most, as a multiple of k, and its boxes."""
PARTNERS = 10
"""Boxes at the same record that a box is joined with."""
LEAST_PART, LEAST_CROWD = 0.03, 0.04
"""Parts of a class that are looked at, and by how many classes a set must be too full."""


@dataclass(frozen=True, eq=False)
class LimitedSets:
    """Sets of records with the classes each admits (`record[start[r]:start[r + 1]]`), and as loops need them.

    `key` tells sets apart; the boxes they are unions of are `box_record[box_start[b]:box_start[b + 1]]`.
    """

    start: Longs
    record: Ints
    classes: Floats
    key: Longs
    box_start: Longs
    box_record: Ints
    arrays: Limits


def no_limits(priced: Priced, k: int) -> LimitedSets:
    """None yet."""
    nothing, width = np.zeros(0, np.int32), priced.boxes.tuples.shape[1]
    return index_limits(priced, k, nothing, np.zeros((0, width), np.int32), np.zeros(1, np.int64), nothing)


def index_limits(priced: Priced, k: int, limit: Ints, levels: Ints, start: Longs, record: Ints) -> LimitedSets:
    """Limits given by their boxes: the limit of each (rising from 0), its levels, and all its records."""
    records, boxes, count = len(priced.counts), len(limit), int(limit.max(initial=-1)) + 1
    of_entry = np.repeat(np.arange(boxes, dtype=np.int32), np.diff(start))
    box_rows = summed(priced.counts[record], of_entry, boxes).astype(np.int64)
    held = np.bincount(record, minlength=records)
    arrays = Limits(
        levels, box_rows, limit, np.concatenate([[0], np.cumsum(held)]).astype(np.int64),
        of_entry[np.argsort(record, kind="stable")], np.array([box_rows.max(initial=-1)], np.int64),
        np.zeros((1, levels.shape[1]), np.int32), np.zeros(int(held.max(initial=0)) + 1, np.int32),
    )  # fmt: skip
    once = np.unique(limit[of_entry].astype(np.int64) * records + record)
    of_limit, inside = once // max(1, records), (once % max(1, records)).astype(np.int32)
    rows = summed(priced.counts[inside], of_limit, count)
    # Sums of one random number per record, wrapping around: equal for equal sets, and as good as never for others.
    drawn = np.random.default_rng(0).integers(-(2**62), 2**62, records)
    key = np.zeros(count, np.int64)
    np.add.at(key, of_limit, drawn[inside])
    starts = np.concatenate([[0], np.cumsum(np.bincount(of_limit, minlength=count))]).astype(np.int64)
    return LimitedSets(starts, inside, (rows // k).astype(np.float64), key, start, record, arrays)


def with_crowded(
    priced: Priced, k: int, limits: LimitedSets, levels: Ints, fraction: Floats, start: Longs, record: Ints, most: int
) -> tuple[LimitedSets, int]:
    """The limits, and new ones where more classes lie within a set than it admits; how many entries were looked at.

    Boxes with `levels` are chosen with a `fraction` each and hold `record[start[b]:start[b + 1]]`. New limits are boxes
    around two of them that have a record in common, and unions of several.
    """
    around, looked = _around_two(priced, k, levels, fraction, start, record)
    limits_so_far, added = limits, [around, _unions(priced, k, levels, fraction, start, record)]
    for candidates in added:
        new = np.unique(np.concatenate([limits_so_far.key, candidates.key]), return_index=True)[1]
        new = np.sort(new[new >= len(limits_so_far.key)] - len(limits_so_far.key))[:most]
        limits_so_far = _both(priced, k, limits_so_far, candidates, new)
    return limits_so_far, looked + int((np.bincount(record).astype(np.int64) ** 2).sum())


def _both(priced: Priced, k: int, limits: LimitedSets, more: LimitedSets, which: Longs) -> LimitedSets:
    """Limits, and some others."""
    boxes = np.flatnonzero(np.isin(more.arrays.limit, which))
    lengths = np.diff(more.box_start)[boxes]
    number = np.searchsorted(which, more.arrays.limit[boxes]) + len(limits.key)
    return index_limits(
        priced, k, np.concatenate([limits.arrays.limit, number]).astype(np.int32),
        np.concatenate([limits.arrays.levels, more.arrays.levels[boxes]]),
        np.concatenate([limits.box_start, limits.box_start[-1] + np.cumsum(lengths)]),
        np.concatenate([limits.box_record, more.box_record[stretches(more.box_start[boxes], lengths)]]),
    )  # fmt: skip


def _unions(priced: Priced, k: int, levels: Ints, fraction: Floats, start: Longs, record: Ints) -> LimitedSets:
    """Unions of chosen boxes that are too full, the fullest first."""
    count, of_entry = len(fraction), np.repeat(np.arange(len(fraction), dtype=np.int32), np.diff(start))
    rows = summed(priced.counts[record], of_entry, count).astype(np.int64)
    first = np.concatenate([[0], np.cumsum(np.bincount(record, minlength=len(priced.counts)))]).astype(np.int64)
    sizes, chosen, excess = np.zeros(count, np.int64), np.zeros((count, MOST_BOXES), np.int32), np.zeros(count)
    grow_crowds(
        start, record, rows, fraction, first, of_entry[np.argsort(record, kind="stable")], priced.counts, k,
        LARGEST_UNION * k, make_crowds(len(priced.counts), count, MOST_BOXES), sizes, chosen, excess,
    )  # fmt: skip
    crowded = np.flatnonzero(excess > LEAST_CROWD)
    crowded = crowded[np.argsort(-excess[crowded], kind="stable")]
    sizes, box = sizes[crowded], chosen[crowded][np.arange(MOST_BOXES) < sizes[crowded][:, None]]
    lengths = np.diff(start)[box]
    return index_limits(
        priced, k, np.repeat(np.arange(len(sizes), dtype=np.int32), sizes), np.ascontiguousarray(levels[box]),
        np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64), record[stretches(start[box], lengths)],
    )  # fmt: skip


def _around_two(
    priced: Priced, k: int, levels: Ints, fraction: Floats, start: Longs, record: Ints
) -> tuple[LimitedSets, int]:
    """Boxes around two chosen ones that are too full, the fullest first; how many records were looked at."""
    boxes, width = priced.boxes, levels.shape[1]
    head = record[start[:-1]]
    one, two = _neighbours(np.repeat(np.arange(len(fraction)), np.diff(start)), record)
    joint = np.maximum(levels[one], levels[two])
    for j in range(width):
        codes, _ = level_tables(boxes, j)
        agreed = agreements(codes, boxes.tuples[head[one], j], boxes.tuples[head[two], j])
        joint[:, j] = np.maximum(joint[:, j], agreed)
    heads, all_levels = np.concatenate([head, head[one]]), np.concatenate([levels, joint])
    first = distinct_boxes(boxes, heads, all_levels)
    heads, all_levels = heads[first], np.ascontiguousarray(all_levels[first])
    crowd = _inside(priced, heads, all_levels, head, levels, fraction)
    # At least one class has room wherever one lies.
    several = np.flatnonzero(crowd > 1 + LEAST_CROWD)
    looked = len(number_rows(all_levels).first) * len(head)
    heads, all_levels, crowd = heads[several], np.ascontiguousarray(all_levels[several]), crowd[several]
    looked += len(number_rows(all_levels).first) * len(priced.counts)
    rows = _inside(priced, heads, all_levels, np.arange(len(priced.counts)), None, priced.counts)
    excess = np.where((rows <= LARGEST_AROUND * k) & (rows % k > 0), crowd - rows // k, 0.0)
    chosen = np.flatnonzero(excess > LEAST_CROWD)
    starts, inside = records_inside(boxes, heads[chosen], np.ascontiguousarray(all_levels[chosen]))
    order = np.argsort(-excess[chosen], kind="stable")
    lengths = np.diff(starts)[order]
    return index_limits(
        priced, k, np.arange(len(chosen), dtype=np.int32), np.ascontiguousarray(all_levels[chosen[order]]),
        np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64), inside[stretches(starts[order], lengths)],
    ), looked  # fmt: skip


def number_boxes(boxes: Boxes, heads: Ints, levels: Ints) -> Numbered:
    """Equal numbers for equal boxes, whichever record they are around."""
    nodes = []
    for j in range(levels.shape[1]):
        at = boxes.head[j, AT] + levels[:, j].astype(np.int64) * boxes.head[j, VALUES]
        nodes.append(levels[:, j] * boxes.head[j, VALUES] + boxes.codes[at + boxes.tuples[heads, j]])
    return number_rows(nodes)


def distinct_boxes(boxes: Boxes, heads: Ints, levels: Ints) -> Longs:
    """Which boxes are left when each is named once, those of equal levels side by side."""
    first: Longs = number_boxes(boxes, heads, levels).first
    return first[by_levels(levels[first])]


def by_levels(levels: Ints) -> Longs:
    """The order of boxes in which those of equal levels stand side by side."""
    return np.argsort(number_rows(levels).number, kind="stable")


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
    _run(priced.boxes, heads, levels, points, point_levels, amount, total, np.zeros(0, np.int32))
    return total


def count_inside(boxes: Boxes, heads: Ints, levels: Ints) -> Longs:
    """How many records each box holds (no two boxes the same, those of equal levels side by side)."""
    held, records = np.zeros(len(heads)), np.arange(len(boxes.tuples))
    _run(boxes, heads, levels, records, None, np.ones(len(records)), held, np.zeros(0, np.int32))
    return held.astype(np.int64)


def records_inside(boxes: Boxes, heads: Ints, levels: Ints, held: Longs | None = None) -> tuple[Longs, Ints]:
    """The records of the same boxes, box by box, and where each begins; `held` is how many there are, if known."""
    held = count_inside(boxes, heads, levels) if held is None else held
    records, listed = np.arange(len(boxes.tuples)), np.zeros(2 * int(held.sum()) + 2, np.int32)
    used = _run(boxes, heads, levels, records, None, np.ones(len(records)), np.zeros(len(heads)), listed)
    pairs = listed[:used].reshape(-1, 2)
    pairs = pairs[np.argsort(pairs[:, 0], kind="stable")]
    return np.concatenate([[0], np.cumsum(held)]).astype(np.int64), np.ascontiguousarray(pairs[:, 1])


def _run(
    boxes: Boxes, heads: Ints, levels: Ints, points: Longs | Ints, point_levels: Ints | None,
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
        boxes, heads, levels, runs, points.astype(np.int32), np.ascontiguousarray(point_levels),
        amount.astype(np.float64), table, np.zeros(len(heads), np.int64), total, listed, used,
    )  # fmt: skip
    return int(used[0])
