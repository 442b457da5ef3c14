"""How far the values of each class are from those of the whole table."""

from __future__ import annotations

import numpy as np

from kanopy._arrays import Floats, Ints, Longs
from kanopy._compiler import kernel


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


def _plain_most_kept(histogram: Ints, whole: Floats, most: float) -> Floats:
    """NumPy twin of `most_kept`."""
    present = whole > 0
    own, share = histogram[:, present].astype(np.float64), whole[present]
    order = np.argsort(own / share, axis=1, kind="stable")
    lack = np.cumsum(share[order], axis=1) - most
    there = np.cumsum(np.take_along_axis(own, order, axis=1), axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.where(lack > 0, there / lack, np.inf).min(axis=1, initial=np.inf))


@kernel(_plain_most_kept)
def most_kept(histogram: Ints, whole: Floats, most: float) -> Floats:
    """Per class, how many of its rows can be kept at most if those kept are within `most` of the table.

    Distances are total variation.

    Of m kept rows no value has a share above its count over m, so the values that a class has least of are missing by
    at least what m rows would need of them: that gives a limit for every set of such values.
    """
    count, values = histogram.shape
    found = np.empty(count, np.float64)
    order = np.empty(values, np.int64)
    ratio = np.empty(values, np.float64)
    for c in range(count):
        used = 0
        for v in range(values):
            if whole[v] <= 0.0:
                continue
            own = histogram[c, v] / whole[v]
            at = used
            while at > 0 and ratio[at - 1] > own:
                ratio[at] = ratio[at - 1]
                order[at] = order[at - 1]
                at -= 1
            ratio[at] = own
            order[at] = v
            used += 1
        least = np.inf
        needed = 0.0
        there = 0.0
        for i in range(used):
            needed += whole[order[i]]
            there += histogram[c, order[i]]
            if needed - most > 0.0:
                least = min(least, there / (needed - most))
        found[c] = least
    return found
