"""Generalization boxes: one hierarchy node per attribute, written as a record inside the box and a level each.

Two values of an attribute agree from some level on; the smallest box around several records has, per attribute, the
highest level at which one of them first agrees with any fixed one of them. So a box needs no nodes, joining a record
is a maximum, and the weight of a box (what each record in it loses) is a sum of looked-up numbers.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from kanopy.kernels.compiler import part_of_kernel

Ints = npt.NDArray[np.int32]
Longs = npt.NDArray[np.int64]
Shorts = npt.NDArray[np.int16]
Floats = npt.NDArray[np.float64]
Random = npt.NDArray[np.uint64]


class Boxes(NamedTuple):
    """All attributes end to end.

    `head[j]`: number of values, number of levels (the last may be the forbidden one), and where the attribute
    begins in `codes` (`[level, value]`, also the shape of `weights`) and in `agree` (`[value, value]`; -1 if that
    table would be too large and agreement is looked up level by level).
    """

    tuples: Ints
    head: Longs
    codes: Ints
    weights: Floats
    agree: Shorts


VALUES, LEVELS, AT, AGREE = 0, 1, 2, 3


@part_of_kernel
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


@part_of_kernel
def level_weight(boxes: Boxes, j: int, level: int, value: int) -> float:
    """What a record loses when attribute `j` is published at a level."""
    return boxes.weights[boxes.head[j, AT] + level * boxes.head[j, VALUES] + value]  # type: ignore[no-any-return]
