"""Generalization boxes: one hierarchy node per attribute, written as a record inside the box and a level each.

Two values of an attribute agree from some level on; the smallest box around several records has, per attribute, the
highest level at which one of them first agrees with any fixed one of them. So a box needs no nodes, joining a record
is a maximum, and the weight of a box (what each record in it loses) is a sum of looked-up numbers.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kanopy._arrays import FloatRows, Floats, IntRows, Ints, LongRows, Shorts, Words
from kanopy._compiler import Arrays, helper


@dataclass(frozen=True, eq=False)
class Boxes(Arrays):
    """All attributes end to end.

    `head[j]`: number of values, number of levels (the last may be the forbidden one), and where the attribute
    begins in `codes` (`[level, value]`, also the shape of `weights`) and in `agree` (`[value, value]`; -1 if that
    table would be too large and agreement is looked up level by level).
    """

    tuples: IntRows
    head: LongRows
    codes: Ints
    weights: Floats
    agree: Shorts


VALUES, LEVELS, AT, AGREE = 0, 1, 2, 3


def level_tables(boxes: Boxes, j: int) -> tuple[IntRows, FloatRows]:
    """Codes and weights of attribute `j`, both `[level, value]`."""
    size, levels, at = (int(boxes.head[j, column]) for column in (VALUES, LEVELS, AT))
    own = slice(at, at + size * levels)
    return boxes.codes[own].reshape(levels, size), boxes.weights[own].reshape(levels, size)


def agreements(codes: IntRows, a: Ints, b: Ints) -> Ints:
    """`agreement` for arrays of values of an attribute with these codes, by any shapes that fit together."""
    agreed = np.zeros(np.broadcast_shapes(a.shape, b.shape), np.int32)
    for row in codes[:-1]:
        agreed += row[a] != row[b]
    return agreed


@helper
def agreement(boxes: Boxes, j: int, a: int, b: int) -> int:
    """The lowest level at which two values of attribute `j` are the same."""
    start = boxes.head[j, AGREE]
    size = boxes.head[j, VALUES]
    if start >= 0:
        return boxes.agree[start + a * size + b]  # type: ignore[no-any-return]
    at = boxes.head[j, AT]
    level = 0
    last = boxes.head[j, LEVELS] - 1
    while level < last and boxes.codes[at + level * size + a] != boxes.codes[at + level * size + b]:
        level += 1
    return level


@helper
def level_weight(boxes: Boxes, j: int, level: int, value: int) -> float:
    """What a record loses when attribute `j` is published at a level."""
    return boxes.weights[boxes.head[j, AT] + level * boxes.head[j, VALUES] + value]  # type: ignore[no-any-return]


@helper
def box_weight(boxes: Boxes, record: int, levels: Shorts) -> float:
    """The weight of the box around a record at the given levels."""
    total = 0.0
    for j in range(boxes.tuples.shape[1]):
        total += level_weight(boxes, j, levels[j], boxes.tuples[record, j])
    return total


@helper
def weight_with(boxes: Boxes, one: int, levels: Shorts, other: int) -> float:
    """The weight of the smallest box around a box and a record."""
    total = 0.0
    for j in range(boxes.tuples.shape[1]):
        a = boxes.tuples[one, j]
        level = max(levels[j], agreement(boxes, j, a, boxes.tuples[other, j]))
        total += level_weight(boxes, j, level, a)
    return total


@helper
def pair_weight(boxes: Boxes, one: int, other: int) -> float:
    """The weight of the smallest box around two records."""
    total = 0.0
    for j in range(boxes.tuples.shape[1]):
        a = boxes.tuples[one, j]
        total += level_weight(boxes, j, agreement(boxes, j, a, boxes.tuples[other, j]), a)
    return total


@helper
def join(boxes: Boxes, one: int, levels: Shorts, other: int) -> None:
    """Widen the levels of a box around `one` so that it holds the record `other`."""
    for j in range(boxes.tuples.shape[1]):
        level = agreement(boxes, j, boxes.tuples[one, j], boxes.tuples[other, j])
        if level > levels[j]:
            levels[j] = level


@helper
def next_random(state: Words) -> int:
    """A whole number below 2**31 from a xorshift generator (Marsaglia 2003); the state must not be zero."""
    x = state[0]
    x ^= x << np.uint64(13)
    x ^= x >> np.uint64(7)
    x ^= x << np.uint64(17)
    state[0] = x
    return np.int64(x >> np.uint64(33))  # type: ignore[return-value]
