"""The nearest records of each record within its chunk."""

from __future__ import annotations

import numpy as np

from kanopy.kernels.boxes import Boxes, Floats, Ints, Longs, pair_weight
from kanopy.kernels.compiler import helper, kernel


@helper
def _offer(near: Ints, far: Floats, t: int, other: int, d: float) -> None:
    """Keep `other` among the nearest of `t` if it is nearer than the farthest kept (insertion)."""
    last = near.shape[1] - 1
    if d >= far[t, last]:
        return
    for i in range(last + 1):
        if near[t, i] == other:
            return
    i = last
    while i > 0 and far[t, i - 1] > d:
        near[t, i] = near[t, i - 1]
        far[t, i] = far[t, i - 1]
        i -= 1
    near[t, i] = other
    far[t, i] = d


def _near_loop(boxes: Boxes, order: Longs, starts: Longs, begin: int, stop: int, near: Ints, far: Floats) -> None:
    for c in range(begin, stop):
        for p in range(starts[c], starts[c + 1]):
            for q in range(starts[c], p):
                d = pair_weight(boxes, order[p], order[q])
                _offer(near, far, order[p], order[q], d)
                _offer(near, far, order[q], order[p], d)


find_near = kernel(_near_loop)(_near_loop)
