"""Count each unit once per cell: one pass over entries that stand unit by unit."""

from __future__ import annotations

import numpy as np

from kanopy._arrays import Ints, Longs
from kanopy._compiler import kernel


def count_once_plain(cells: Longs, unit: Ints, seen: Ints, counts: Longs) -> None:
    """NumPy twin of `count_once`."""
    used = cells >= 0
    pairs = np.unique(cells[used] * (int(unit.max(initial=0)) + 1) + unit[used])
    counts += np.bincount(pairs // (int(unit.max(initial=0)) + 1), minlength=len(counts))


@kernel(count_once_plain, makes_arrays=False)
def count_once(cells: Longs, unit: Ints, seen: Ints, counts: Longs) -> None:
    """Add to `counts[cell]` every unit that has an entry there; entries of cell -1 are left out.

    Entries of one unit stand together, so it is enough to remember the last unit `seen` in each cell (-1: none yet).
    """
    for entry in range(len(cells)):
        cell = cells[entry]
        if cell >= 0 and seen[cell] != unit[entry]:
            seen[cell] = unit[entry]
            counts[cell] += 1
