"""Clusters joined by chains of nearest neighbours: average linkage and Ward's rule, quadratic time, exact.

Neither rule brings a joined cluster closer to a third one than its parts were, so two clusters that are each other's
nearest may be joined at once, in whatever order: the same tree as always joining the closest pair of all.
"""

from __future__ import annotations

import numpy as np

from kanopy._arrays import FloatRows, Floats, Longs, Mask
from kanopy._compiler import kernel


@kernel(makes_arrays=False)
def join_in_place(costs: FloatRows, sizes: Floats, ward: int, merges: FloatRows, alive: Mask, chain: Longs) -> None:
    """`join_nearest` with room for the merges and the chain; costs and sizes are used up, all items are `alive`."""
    count = len(sizes)
    length = 0
    for step in range(count - 1):
        if length == 0:
            first = 0
            while not alive[first]:
                first += 1
            chain[0] = first
            length = 1
        while True:
            own = chain[length - 1]
            best = -1
            cost = np.inf
            if length > 1:  # of equals the one it came from, or the chain would not end
                best = chain[length - 2]
                cost = costs[own, best]
            for c in range(count):
                if alive[c] and c != own and costs[own, c] < cost:
                    best = c
                    cost = costs[own, c]
            if length > 1 and best == chain[length - 2]:
                break
            chain[length] = best
            length += 1
        length -= 2
        a = min(own, best)
        b = max(own, best)
        size = sizes[a] + sizes[b]
        merges[step, 0] = a
        merges[step, 1] = b
        merges[step, 2] = cost
        merges[step, 3] = size
        for c in range(count):
            if alive[c] and c != a and c != b:
                if ward != 0:
                    joined = (sizes[a] + sizes[c]) * costs[a, c] + (sizes[b] + sizes[c]) * costs[b, c] - sizes[c] * cost
                    joined /= size + sizes[c]
                else:
                    joined = (sizes[a] * costs[a, c] + sizes[b] * costs[b, c]) / size
                costs[a, c] = joined
                costs[c, a] = joined
        sizes[a] = size
        alive[b] = False


def join_nearest(costs: Floats, sizes: Floats, ward: bool) -> Floats:
    """Rows `(a, b, cost, size)`: cluster `b` joins cluster `a` (a < b), which keeps its number; not in order of cost.

    `costs` is symmetric and says what joining two items costs at the start, `sizes` how many values an item stands for.
    A joined cluster costs the mean of its values (average linkage), or what Lance and Williams say for Ward's rule;
    for that the costs are 2·n·m/(n+m) times the squared distances.
    """
    count = len(sizes)
    merges = np.empty((max(0, count - 1), 4))
    costs, sizes = np.array(costs, np.float64, order="C"), np.array(sizes, np.float64)
    join_in_place(costs, sizes, int(ward), merges, np.ones(count, np.bool_), np.empty(count + 1, np.int64))
    return merges
