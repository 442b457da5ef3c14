"""The array types that rooms pass to each other, the two labels that every room writes alike, and one correlation."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int32]
Longs = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]
Words = npt.NDArray[np.uint64]
Bytes = npt.NDArray[np.uint8]
Shorts = npt.NDArray[np.int16]
# The same with two axes: rows of equal length, one after the other. Compiled loops are told by name how many axes to
# expect.
IntRows = Ints
LongRows = Longs
FloatRows = Floats
WordRows = Words
ShortRows = Shorts

SUPPRESSED_LABEL = "*"
"""What stands for a suppressed value, and at the top of a hierarchy."""
MISSING_LABEL = "(missing)"
"""What stands for a missing value where a label is needed."""


def says_missing(label: str) -> bool:
    """Whether a label stands for missing values; a number tells several apart.

    >>> says_missing("(missing)"), says_missing("(missing 2)"), says_missing("missing")
    (True, True, False)
    """
    return label.startswith(MISSING_LABEL[:-1]) and label.endswith(")")


def correlation(left: Floats, right: Floats) -> float | None:
    """Pearson's correlation over the places where both are known; `None` if one of them does not vary.

    >>> correlation(np.array([1.0, 2, 3]), np.array([2.0, 4, 6]))
    1.0
    """
    both = np.isfinite(left) & np.isfinite(right)
    if both.sum() < 2:
        return None
    a, b = left[both] - left[both].mean(), right[both] - right[both].mean()
    scale = float(np.sqrt((a @ a) * (b @ b)))
    return None if scale <= 1e-12 else float(np.clip(a @ b / scale, -1.0, 1.0))
