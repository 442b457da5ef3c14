"""How alike two tuples are: the weighted mean over their attributes, from tables of value similarities or from numbers.

Similarities are counted in whole ticks (2⁻²⁴), so that sums are exact, ties are ties on every machine, and nothing
depends on the order in which attributes or tuples are visited.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from kanopy._arrays import Floats, Ints, Longs
from kanopy._compiler import helper, kernel

TICKS = 1 << 24
NUMBER = -1
"""In `Likeness.start`: the attribute is a number, compared by distance."""
MISSING_NUMBER = -5.0
"""A missing number lies so far from all others (which lie in 0 … 1) that it is like nothing but itself."""


class Likeness(NamedTuple):
    """What tells tuples apart, as arrays.

    Attribute `j` with `start[j] >= 0` is compared by the square table of `size[j]` values that begins there in
    `table`; a code beyond the table is a class of its own, like nothing but itself. An attribute with
    `start[j] == NUMBER` is compared by `1 - |difference|` of `numbers`. `codes[j, t]` and `numbers[j, t]` belong to
    tuple `t`; `weights` sum to 1.
    """

    codes: Ints
    numbers: Floats
    start: Longs
    size: Longs
    table: npt.NDArray[np.float32]
    weights: Floats


@helper
def likeness_row(like: Likeness, own: int, codes: Ints, numbers: Floats, count: int, score: Floats) -> None:
    """The similarity of tuple `own` with the first `count` columns of `codes` and `numbers`, into `score`."""
    score[:count] = 0.0
    for j in range(len(like.weights)):
        weight = like.weights[j]
        size = like.size[j]
        code = like.codes[j, own]
        begin = like.start[j] + code * size
        if like.start[j] == NUMBER:
            here = like.numbers[j, own]
            for x in range(count):
                near = 1.0 - abs(numbers[j, x] - here)
                score[x] += weight * near if near > 0.0 else 0.0
        elif code >= size:
            for x in range(count):
                score[x] += weight if codes[j, x] == code else 0.0
        else:
            row = like.table[begin : begin + size]
            for x in range(count):
                other = codes[j, x]
                score[x] += weight * row[other] if other < size else 0.0


@helper
def likeness_of(like: Likeness, a: int, b: int) -> int:
    """The similarity of two tuples in ticks."""
    score = 0.0
    for j in range(len(like.weights)):
        size = like.size[j]
        one = like.codes[j, a]
        other = like.codes[j, b]
        if like.start[j] == NUMBER:
            near = max(0.0, 1.0 - abs(like.numbers[j, b] - like.numbers[j, a]))
        elif one >= size or other >= size:
            near = 1.0 if one == other else 0.0
        else:
            near = float(like.table[like.start[j] + one * size + other])
        score += like.weights[j] * near
    return int(score * TICKS + 0.5)


def plain_row(like: Likeness, own: int, others: Longs) -> Longs:
    """The similarities of one tuple with others, in ticks, with NumPy: quicker than the compiler for a few of them."""
    score = np.zeros(len(others))
    for j, weight in enumerate(like.weights):
        if like.start[j] == NUMBER:
            near = 1.0 - np.abs(like.numbers[j, others] - like.numbers[j, own])
            part = np.where(near > 0.0, weight * near, 0.0)
        else:
            size, code, codes = int(like.size[j]), int(like.codes[j, own]), like.codes[j, others]
            if code >= size:
                part = np.where(codes == code, weight, 0.0)
            else:
                begin = int(like.start[j]) + code * size
                row = np.append(like.table[begin : begin + size].astype(np.float64), 0.0)
                part = weight * row[np.minimum(codes, size)]
        score = part if j == 0 else score + part
    return np.asarray(score * TICKS + 0.5).astype(np.int64)


@kernel()
def matrix(like: Likeness) -> Longs:
    """The similarities of all tuples with all tuples, in ticks; for small tables."""
    tuples = like.codes.shape[1]
    score = np.empty(tuples)
    out = np.empty((tuples, tuples), np.int64)
    for own in range(tuples):
        likeness_row(like, own, like.codes, like.numbers, tuples, score)
        for x in range(tuples):
            out[own, x] = int(score[x] * TICKS + 0.5)
    return out


@kernel()
def linkage(like: Likeness, counts: Longs, origin: Longs, shown: Longs) -> Floats:
    """The chance that a record is found by linking what it publishes to the original tuples most similar to that.

    The first `len(counts)` tuples of `like` are the originals. Move `m` is a record of tuple `origin[m]` that publishes
    tuple `shown[m]`.
    """
    tuples = len(counts)
    score = np.empty(tuples)
    found = np.zeros(len(origin))
    order = np.argsort(shown, kind="mergesort")
    best = 0
    people = 0
    for x in range(len(order)):
        move = order[x]
        if x == 0 or shown[order[x - 1]] != shown[move]:
            likeness_row(like, shown[move], like.codes, like.numbers, tuples, score)
            best = -1
            people = 0
            for t in range(tuples):
                ticks = int(score[t] * TICKS + 0.5)
                if ticks > best:
                    best = ticks
                    people = 0
                if ticks == best:
                    people += counts[t]
        if int(score[origin[move]] * TICKS + 0.5) == best:
            found[move] = 1.0 / people
    return found
