"""The nearest records of each record, found among its neighbours in sorted orders of the table."""

from __future__ import annotations

from kanopy._arrays import FloatRows, IntRows, Longs
from kanopy._compiler import helper, kernel
from kanopy.search.local.joins_kernel import Joins, insert, joint_weight


@helper
def _offer(near: IntRows, far: FloatRows, t: int, other: int, distance: float) -> None:
    """Keep `other` among the nearest of `t` if it is nearer than the farthest kept one."""
    last = near.shape[1] - 1
    if distance >= far[t, last]:
        return
    for i in range(last + 1):
        if near[t, i] == other:
            return
    insert(near, far, t, other, distance)


@kernel(makes_arrays=False)
def look_around(
    joins: Joins, order: Longs, stratum: Longs, window: int, begin: int, stop: int, near: IntRows, far: FloatRows
) -> None:
    """Offer each record `order[begin:stop]` the `window` records before it in the order, and the other way round.

    `near[t]` keeps the nearest records found so far, nearest first (-1: none), `far[t]` their distances (the weight of
    the box around the two). Records of different strata can never share a box.
    """
    for p in range(begin, stop):
        for q in range(max(0, p - window), p):
            one, other = order[p], order[q]
            if stratum[one] == stratum[other]:
                distance = joint_weight(joins, joins.cells, one, joins.cells, other)
                _offer(near, far, one, other, distance)
                _offer(near, far, other, one, distance)
