"""The search beyond greedy fusion: start from its result and improve it until nothing gains any more.

Greedy fusion follows chains: a group goes to its most similar neighbour, which later goes elsewhere and takes it along.
The improvement looks at what counts in the end, the similarity of *original* and published values (eq. 22 of
Martínez 2010): see `kanopy.masking.algorithms.refinement_kernel` for its four moves.
"""

from __future__ import annotations

import numpy as np

from kanopy._arrays import Longs
from kanopy._progress import SILENT, Progress
from kanopy.masking.algorithms.refinement_kernel import (
    close_groups,
    open_groups,
    published_likeness,
    reassign,
    recenter,
)
from kanopy.masking.likeness_kernel import TICKS, Likeness

MOST_SWEEPS = 50
PAIRS_AT_ONCE = 400_000_000


def transposed(like: Likeness) -> Likeness:
    """The likeness whose rows say how similar all tuples are to one; the same where tables are symmetric."""
    table = like.table.copy()
    done = set()
    for start, size in zip(like.start.tolist(), like.size.tolist(), strict=True):
        if start >= 0 and start not in done:
            done.add(start)
            square = like.table[start : start + size * size].reshape(size, size)
            table[start : start + size * size] = square.T.reshape(-1)
    return like._replace(table=table)


def refine(
    like: Likeness,
    counts: Longs,
    center: Longs,
    k: int,
    *,
    only_join: bool = False,
    symmetric: bool = True,
    sweeps: int = MOST_SWEEPS,
    progress: Progress = SILENT,
) -> Longs:
    """A masking at least as similar to the original as the one given, every group still of at least `k` people.

    `only_join` keeps to changes that take nobody out of a group that stays, which any monotonic privacy model allows.
    """
    center = np.ascontiguousarray(center, np.int64).copy()
    toward = like if symmetric else transposed(like)
    tuples = len(counts)
    height = max(1, PAIRS_AT_ONCE // max(1, tuples))
    for sweep in range(sweeps):
        note = f"sweep {sweep + 1}"
        gain = recenter(like, counts, center)
        if not only_join:
            gain += reassign(like, counts, center, k)
        gain += close_groups(like, counts, center)
        if not only_join:
            now = published_likeness(like, center)
            load = np.bincount(center, weights=counts, minlength=len(counts)).astype(np.int64)
            for first in range(0, tuples, height):
                progress("improving", first / tuples, note)
                last = min(tuples, first + height)
                gain += open_groups(toward, counts, center, now, load, k, first, last)
        if gain <= TICKS * int(counts.sum()) * 1e-7:
            break
    return center
