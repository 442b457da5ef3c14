"""Moves and swaps of rows between neighbouring classes, accepted by simulated annealing."""

from __future__ import annotations

import numpy as np

from kanopy._arrays import Floats, IntRows, Longs, Words
from kanopy._compiler import kernel
from kanopy.search.local.best.partition_kernel import WORK, Partition, learn, put, take
from kanopy.search.local.joins_kernel import Joins, draw, join, joint_weight

LOGS = -np.log((np.arange(1024) + 0.5) / 1024)
MOST_LOOKED_AT = 12
"""Rows of a class that a row may be swapped with in one step."""


@kernel(makes_arrays=False)
def anneal(
    joins: Joins, part: Partition, near: IntRows, k: int, heat: float, steps: int, random: Words, logs: Floats,
    stats: Longs,
) -> float:  # fmt: skip
    """Try `steps` changes between the class of a random row and that of a near one; returns the change in cost.

    The best of three kinds is taken if it costs less than `heat` times a random logarithm: the row moves over, the
    near row comes over (each only from a class with more than k), or the row is swapped with one of the other class.
    """
    items = len(part.record)
    degree = near.shape[1]
    gained = 0.0
    part.state[WORK] += steps
    for _ in range(steps):
        x = draw(random, items)
        a = part.class_of[x]
        if a < 0 or part.weight[a] <= 0.0:
            continue
        t = part.record[x]
        # Of two places in the list of near records the nearer one: it pays more often.
        other = near[t, min(draw(random, degree), draw(random, degree))]
        if other < 0:
            continue
        begin = part.first[other]
        y = begin + draw(random, part.first[other + 1] - begin)
        b = part.class_of[y]
        if b < 0 or a == b:
            continue
        part.state[WORK] += 4
        limit = heat * logs[draw(random, 1024)]
        learn(joins, part, a)
        learn(joins, part, b)
        na, nb = part.size[a], part.size[b]
        spent = na * part.weight[a] + nb * part.weight[b]
        best = limit
        chosen = -1
        kind = 0
        if na > k:
            change = (na - 1) * part.lean_weight[x] + (nb + 1) * part.weight[b] - spent
            if change < best:
                change += (nb + 1) * (joint_weight(joins, part.box, b, joins.cells, t) - part.weight[b])
                if change < best:
                    best, chosen, kind = change, x, 1
        if nb > k:
            change = (nb - 1) * part.lean_weight[y] + (na + 1) * part.weight[a] - spent
            if change < best:
                change += (na + 1) * (joint_weight(joins, part.box, a, joins.cells, other) - part.weight[a])
                if change < best:
                    best, chosen, kind = change, y, 2
        # Swaps: whatever comes, the classes cannot weigh less than without the rows that leave.
        least = na * part.lean_weight[x] - spent
        if least < best:
            z = part.head[b] if nb <= MOST_LOOKED_AT else y
            looked = 0
            while z >= 0 and looked < MOST_LOOKED_AT:
                if least + nb * part.lean_weight[z] < best and part.record[z] != t:
                    change = nb * joint_weight(joins, part.lean, z, joins.cells, t) - spent
                    if change + na * part.lean_weight[x] < best:
                        change += na * joint_weight(joins, part.lean, x, joins.cells, part.record[z])
                        if change < best:
                            best, chosen, kind = change, z, 3
                looked += 1
                part.state[WORK] += 1
                z = part.after[z]
        if kind == 0:
            continue
        gained += best
        stats[kind] += 1
        part.known[a] = 0
        part.known[b] = 0
        if kind == 3:
            part.weight[a] = join(joins, part.lean, x, joins.cells, part.record[chosen], part.box, a)
            part.weight[b] = join(joins, part.lean, chosen, joins.cells, t, part.box, b)
            take(part, x)
            take(part, chosen)
            put(part, b, x)
            put(part, a, chosen)
        else:
            source, target = (a, b) if kind == 1 else (b, a)
            part.weight[target] = join(
                joins, part.box, target, joins.cells, part.record[chosen], part.box, target
            )  # fmt: skip
            for j in range(part.box.shape[1]):
                part.box[source, j] = part.lean[chosen, j]
            part.weight[source] = part.lean_weight[chosen]
            take(part, chosen)
            put(part, target, chosen)
    return gained
