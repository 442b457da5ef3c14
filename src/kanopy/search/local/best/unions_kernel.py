"""Which classes a class could be united with at least cost."""

from __future__ import annotations

import numpy as np

from kanopy._arrays import FloatRows, Floats, IntRows, Ints, Longs
from kanopy._compiler import kernel
from kanopy.search.local.joins_kernel import Joins, insert, joint_weight


@kernel(makes_arrays=False)
def cheapest_unions(
    joins: Joins, box: IntRows, size: Longs, weight: Floats, asking: Longs, reach: int, too_heavy: float,
    found: IntRows, growth: FloatRows,
) -> None:  # fmt: skip
    """Per class that asks, the classes (at most `reach` numbers away) whose union with it raises the cost least.

    `found[i]` and `growth[i]` come filled with -1 and infinity, and end with the cheapest partners first. Unions of
    weight `too_heavy` or more are not allowed.
    """
    most = found.shape[1]
    for row in range(len(asking)):
        c = asking[row]
        for other in range(max(0, c - reach), min(len(size), c + reach + 1)):
            if other == c:
                continue
            # The union weighs at least as much as the heavier of the two.
            both = size[c] + size[other]
            spent = size[c] * weight[c] + size[other] * weight[other]
            if both * max(weight[c], weight[other]) - spent >= growth[row, most - 1]:
                continue
            joint = joint_weight(joins, box, c, box, other)
            rise = both * joint - spent
            if joint >= too_heavy or rise >= growth[row, most - 1]:
                continue
            insert(found, growth, row, other, rise)


def rows_for(asking: int, most: int) -> tuple[Ints, Floats]:
    """Empty answers for so many classes."""
    return np.full((asking, most), -1, np.int32), np.full((asking, most), np.inf)
