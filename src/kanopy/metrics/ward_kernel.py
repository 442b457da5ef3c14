"""Ward clustering from distances and weights, by chains of nearest neighbours.

Ward's rule never brings a joined cluster closer to a third one than its parts were, so two clusters that are each
other's nearest may be joined at once, in whatever order: quadratic time instead of cubic, the same tree.
"""

from __future__ import annotations

import numpy as np

from kanopy._arrays import Floats
from kanopy._compiler import kernel


def ward_merges_plain(costs: Floats, sizes: Floats) -> Floats:
    """The closest pair of all clusters is joined, over and over. See `ward_merges`."""
    costs, sizes = costs.copy(), sizes.copy()
    count = len(sizes)
    np.fill_diagonal(costs, np.inf)
    merges = np.empty((max(0, count - 1), 4))
    alive = np.ones(count, bool)
    for step in range(count - 1):
        open_costs = np.where(alive[:, None] & alive[None, :], costs, np.inf)
        a, b = divmod(int(np.argmin(open_costs)), count)
        a, b = min(a, b), max(a, b)
        cost = costs[a, b]
        merges[step] = a, b, cost, sizes[a] + sizes[b]
        for c in np.flatnonzero(alive):
            if c not in (a, b):
                joined = (sizes[a] + sizes[c]) * costs[a, c] + (sizes[b] + sizes[c]) * costs[b, c] - sizes[c] * cost
                costs[a, c] = costs[c, a] = joined / (sizes[a] + sizes[b] + sizes[c])
        sizes[a] += sizes[b]
        alive[b] = False
    return merges


@kernel(ward_merges_plain)
def ward_merges(costs: Floats, sizes: Floats) -> Floats:
    """Rows `(a, b, cost, size)`: cluster `b` joins cluster `a` (a < b), which keeps its number; not in order of cost.

    `costs[a, b]` is what joining two clusters costs at the start: 2·n·m/(n+m) times their squared distance.
    """
    costs = costs.copy()
    sizes = sizes.copy()
    count = len(sizes)
    merges = np.empty((max(0, count - 1), 4))
    alive = np.ones(count, np.bool_)
    chain = np.empty(count, np.int64)
    length = 0
    step = 0
    while step < count - 1:
        if length == 0:
            for c in range(count):
                if alive[c]:
                    chain[0] = c
                    break
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
        merges[step, 0] = a
        merges[step, 1] = b
        merges[step, 2] = cost
        merges[step, 3] = sizes[a] + sizes[b]
        for c in range(count):
            if alive[c] and c != a and c != b:
                joined = (sizes[a] + sizes[c]) * costs[a, c] + (sizes[b] + sizes[c]) * costs[b, c] - sizes[c] * cost
                joined /= sizes[a] + sizes[b] + sizes[c]
                costs[a, c] = joined
                costs[c, a] = joined
        sizes[a] += sizes[b]
        alive[b] = False
        step += 1
    return merges
