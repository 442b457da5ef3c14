"""Find the rows of a release in the original when some were left out: both tables are in the same order."""

from __future__ import annotations

import numpy as np

from kanopy._arrays import Ints, Longs, Mask
from kanopy._compiler import kernel


@kernel()
def embed(values: Ints, labels: Ints, allowed: Mask, offsets: Longs, widths: Longs) -> Longs:
    """Per original row the released row that stands for it, or -1: the next one whose labels allow its values.

    `allowed[offsets[j] + value * widths[j] + label]` says whether a label of column j may stand for a value. If the
    release can be embedded in the original in order at all, taking the earliest place each time succeeds.
    """
    partner = np.full(len(values), -1, np.int64)
    at = 0
    for row in range(len(values)):
        if at >= len(labels):
            break
        fits = True
        for j in range(values.shape[1]):
            if not allowed[offsets[j] + values[row, j] * widths[j] + labels[at, j]]:
                fits = False
                break
        if fits:
            partner[row] = at
            at += 1
    return partner
