"""What a candidate suppresses under every k at once: classes counted by their size."""

from __future__ import annotations

import numpy as np

from kanopy._arrays import Floats, Longs
from kanopy._compiler import kernel


def _plain_size_profile(
    keys: Longs, sizes: Longs, word: Longs, shift: Longs, mask: Longs, extra: Floats, start: Longs,
    classes: Longs, sums: Floats,
) -> None:  # fmt: skip
    """NumPy twin of `size_profile`."""
    classes[:] = 0
    sums[:] = 0.0
    small = sizes < len(classes)
    np.add.at(classes, sizes[small], 1)
    for j in range(len(start)):
        code = (keys[word[j], small] >> shift[j]) & mask[j]
        np.add.at(sums[:, j], sizes[small], sizes[small] * extra[start[j] + code])
    np.cumsum(classes, out=classes)
    np.cumsum(sums, axis=0, out=sums)


@kernel(_plain_size_profile)
def size_profile(
    keys: Longs, sizes: Longs, word: Longs, shift: Longs, mask: Longs, extra: Floats, start: Longs,
    classes: Longs, sums: Floats,
) -> None:  # fmt: skip
    """`classes[s]` becomes the number of classes of at most `s` rows, and `sums[s, j]` what suppressing all of them
    costs attribute `j` beyond its level; `s` runs up to the length of `classes` minus one."""
    most = len(classes)
    width = len(start)
    classes[:] = 0
    sums[:] = 0.0
    for c in range(len(sizes)):
        size = sizes[c]
        if size < most:
            classes[size] += 1
            for j in range(width):
                sums[size, j] += size * extra[start[j] + ((keys[word[j], c] >> shift[j]) & mask[j])]
    for s in range(1, most):
        classes[s] += classes[s - 1]
        for j in range(width):
            sums[s, j] += sums[s - 1, j]
