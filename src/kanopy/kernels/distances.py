"""How far the values of each class are from those of the whole table."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from kanopy.kernels.compiler import kernel

Ints = npt.NDArray[np.int32]
Longs = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


def _plain_total_variation(histogram: Ints, sizes: Longs, whole: Floats) -> Floats:
    """NumPy twin of `total_variation`."""
    shares = histogram / np.maximum(sizes, 1)[:, None]
    return np.asarray(0.5 * np.abs(shares - whole).sum(axis=1))


@kernel(_plain_total_variation)
def total_variation(histogram: Ints, sizes: Longs, whole: Floats) -> Floats:
    """Half the sum of the absolute differences between the shares of a class and those of the table."""
    count, values = histogram.shape
    found = np.empty(count, np.float64)
    for c in range(count):
        size = max(sizes[c], 1)
        total = 0.0
        for v in range(values):
            total += abs(histogram[c, v] / size - whole[v])
        found[c] = 0.5 * total
    return found
