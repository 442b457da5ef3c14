"""The nearest rows of numbers: a balanced tree of boxes (Bentley 1975; Friedman, Bentley, Finkel 1977).

Boxes are halved along their widest column until they hold few rows. A query visits the nearer half first and leaves
out every box that is farther than what it has found. Of rows at equal distances the lower number is nearer.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kanopy._arrays import FloatRows, Floats, IntRows, Ints, Longs
from kanopy._compiler import Arrays, helper, kernel

BUCKET = 12
STACK = 64
ALL = np.iinfo(np.int64).max


@dataclass(frozen=True, eq=False)
class Boxes(Arrays):
    """A complete binary tree in heap order: box `b` holds the places `begin[b]` to `end[b]` and spans `low` to `high`.

    `x` are the rows in the order of their places, `row` their numbers. `stack` and `bound` are room for a query.
    """

    x: FloatRows
    row: Ints
    begin: Longs
    end: Longs
    low: FloatRows
    high: FloatRows
    stack: Longs
    bound: Floats


@helper
def _exchange(boxes: Boxes, one: int, other: int) -> None:
    for j in range(boxes.x.shape[1]):
        kept = boxes.x[one, j]
        boxes.x[one, j] = boxes.x[other, j]
        boxes.x[other, j] = kept
    number = boxes.row[one]
    boxes.row[one] = boxes.row[other]
    boxes.row[other] = number


@helper
def _before(boxes: Boxes, column: int, one: int, value: float, number: int) -> bool:
    found = boxes.x[one, column]
    return found < value or (found == value and boxes.row[one] < number)  # type: ignore[no-any-return]


@helper
def _halve(boxes: Boxes, begin: int, end: int, middle: int, column: int) -> None:
    """Quickselect: the rows before `middle` come before those from it on (Hoare 1961)."""
    first = begin
    last = end - 1
    while first < last:
        pivot = (first + last) // 2
        value = boxes.x[pivot, column]
        number = boxes.row[pivot]
        i = first
        j = last
        while i <= j:
            while _before(boxes, column, i, value, number):
                i += 1
            while boxes.row[j] != number and not _before(boxes, column, j, value, number):
                j -= 1
            if i <= j:
                _exchange(boxes, i, j)
                i += 1
                j -= 1
        if middle <= j:
            last = j
        elif middle >= i:
            first = i
        else:
            return


@kernel(makes_arrays=False)
def fill_boxes(boxes: Boxes) -> None:
    """Sort the rows into the boxes, from the largest box down."""
    width = boxes.x.shape[1]
    for box in range(len(boxes.begin)):
        begin = boxes.begin[box]
        end = boxes.end[box]
        widest = 0
        spread = -1.0
        for j in range(width):
            least = boxes.x[begin, j]
            most = least
            for i in range(begin + 1, end):
                value = boxes.x[i, j]
                least = min(least, value)
                most = max(most, value)
            boxes.low[box, j] = least
            boxes.high[box, j] = most
            if most - least > spread:
                spread = most - least
                widest = j
        if 2 * box + 1 < len(boxes.begin):
            _halve(boxes, begin, end, boxes.end[2 * box + 1], widest)


@helper
def _distance_of_box(boxes: Boxes, queries: FloatRows, query: int, box: int) -> float:
    total = 0.0
    for j in range(queries.shape[1]):
        value = queries[query, j]
        gap = max(boxes.low[box, j] - value, value - boxes.high[box, j])
        if gap > 0.0:
            total += gap * gap
    return total


@kernel(makes_arrays=False)
def find_nearest(
    boxes: Boxes, queries: FloatRows, own: Longs, most_boxes: int, nearest: IntRows, distance: FloatRows
) -> None:
    """Per query the numbers of the nearest rows and their squared distances; -1 where there are not so many.

    The row `own` of a query is left out (-1: none). A query ends after `most_boxes` boxes of rows.
    """
    wanted = nearest.shape[1]
    width = queries.shape[1]
    boxes_in_all = len(boxes.begin)
    for query in range(len(queries)):
        found = 0
        for at in range(wanted):
            nearest[query, at] = -1
            distance[query, at] = 1e300
        height = 1
        boxes.stack[0] = 0
        boxes.bound[0] = 0.0
        visited = 0
        while height > 0 and visited < most_boxes:
            height -= 1
            box = boxes.stack[height]
            if found == wanted and boxes.bound[height] > distance[query, wanted - 1]:
                continue
            if 2 * box + 1 < boxes_in_all:
                left = _distance_of_box(boxes, queries, query, 2 * box + 1)
                right = _distance_of_box(boxes, queries, query, 2 * box + 2)
                nearer = 2 * box + 1 if left <= right else 2 * box + 2
                boxes.stack[height] = 4 * box + 3 - nearer
                boxes.bound[height] = max(left, right)
                boxes.stack[height + 1] = nearer
                boxes.bound[height + 1] = min(left, right)
                height += 2
                continue
            visited += 1
            for place in range(boxes.begin[box], boxes.end[box]):
                number = boxes.row[place]
                if number == own[query]:
                    continue
                far = 0.0
                for j in range(width):
                    gap = queries[query, j] - boxes.x[place, j]
                    far += gap * gap
                last = wanted - 1
                if found == wanted and (
                    far > distance[query, last] or (far == distance[query, last] and number > nearest[query, last])
                ):
                    continue
                at = found if found < wanted else last
                while at > 0 and (
                    distance[query, at - 1] > far
                    or (distance[query, at - 1] == far and nearest[query, at - 1] > number)
                ):
                    distance[query, at] = distance[query, at - 1]
                    nearest[query, at] = nearest[query, at - 1]
                    at -= 1
                distance[query, at] = far
                nearest[query, at] = number
                if found < wanted:
                    found += 1


def make_boxes(rows: Floats, bucket: int = BUCKET) -> Boxes:
    """A tree over the rows of a table of numbers without missing ones, with up to `bucket` rows in its last boxes."""
    count, width = rows.shape
    depth = max(0, int(np.ceil(np.log2(max(1, count) / bucket))))
    begin, end = [0], [count]
    for box in range((1 << depth) - 1):
        middle = (begin[box] + end[box]) // 2
        begin += [begin[box], middle]
        end += [middle, end[box]]
    boxes = len(begin)
    made = Boxes(
        np.array(rows, np.float64, order="C"),
        np.arange(count, dtype=np.int32),
        np.array(begin, np.int64),
        np.array(end, np.int64),
        np.zeros((boxes, width)),
        np.zeros((boxes, width)),
        np.zeros(2 * STACK, np.int64),
        np.zeros(2 * STACK),
    )
    fill_boxes(made)
    return made


def nearest_rows(
    rows: Floats, wanted: int, queries: Floats | None = None, *, most_boxes: int = ALL
) -> tuple[Ints, Floats]:
    """The numbers of the nearest rows of each query, nearest first, and their squared distances.

    Without queries, each row is one, and is not among its own nearest. -1 where there are not so many rows.

    >>> nearest_rows(np.array([[1.0], [2.0], [4.0]]), 2)[0].tolist()
    [[1, 2], [0, 2], [1, 0]]
    """
    asked = rows if queries is None else queries
    nearest = np.full((len(asked), wanted), -1, np.int32)
    distance = np.full((len(asked), wanted), np.inf)
    if not len(rows) or not len(asked):
        return nearest, distance
    boxes = make_boxes(rows)
    if queries is not None:
        nobody = np.full(len(asked), -1, np.int64)
        find_nearest(boxes, np.ascontiguousarray(queries, np.float64), nobody, most_boxes, nearest, distance)
        return nearest, distance
    # Asked in the order of the boxes, neighbours are close to each other in memory.
    found, far = np.empty_like(nearest), np.empty_like(distance)
    find_nearest(boxes, boxes.x, boxes.row.astype(np.int64), most_boxes, found, far)
    nearest[boxes.row], distance[boxes.row] = found, far
    return nearest, distance
