"""The nearest records of each record, found among its neighbours in sorted orders of the table."""

from __future__ import annotations

from kanopy._arrays import FloatRows, IntRows, Longs
from kanopy._compiler import helper, kernel
from kanopy.search.local.joins_kernel import Joins, joint_weight


@helper
def _offer(near: IntRows, far: FloatRows, t: int, other: int, distance: float) -> None:
    """Keep `other` among the nearest of `t` if it is nearer than the farthest kept one."""
    last = near.shape[1] - 1
    if distance >= far[t, last]:
        return
    for i in range(last + 1):
        if near[t, i] == other:
            return
    i = last
    while i > 0 and far[t, i - 1] > distance:
        near[t, i] = near[t, i - 1]
        far[t, i] = far[t, i - 1]
        i -= 1
    near[t, i] = other
    far[t, i] = distance


def _look_around_plain(
    joins: Joins, order: Longs, stratum: Longs, window: int, begin: int, stop: int, near: IntRows, far: FloatRows
) -> None:
    """The definition: per record all candidates seen so far, the nearest first, earlier ones first at ties."""
    for p in range(begin, stop):
        for q in range(max(0, p - window), p):
            one, other = int(order[p]), int(order[q])
            if stratum[one] != stratum[other]:
                continue
            distance = 0.0
            for j, (_, _, at) in enumerate(joins.head.tolist()):
                lines = []
                for node in (int(joins.cells[one, j]), int(joins.cells[other, j])):
                    line = [node]
                    while joins.parent[at + line[-1]] >= 0:
                        line.append(int(joins.parent[at + line[-1]]))
                    lines.append(line)
                distance += float(joins.own[at + next(node for node in lines[0] if node in lines[1])])
            for t, s in ((one, other), (other, one)):
                known = [(far[t, i], i, near[t, i]) for i in range(near.shape[1]) if near[t, i] >= 0]
                if all(found[2] != s for found in known):
                    best = sorted([*known, (distance, near.shape[1], s)])[: near.shape[1]]
                    for i, found in enumerate(best):
                        far[t, i], near[t, i] = found[0], found[2]


@kernel(_look_around_plain, makes_arrays=False)
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
