"""Merge a few neighbouring classes and split their rows anew, bottom-up."""

from __future__ import annotations

from kanopy._arrays import Floats, IntRows, Longs, Words
from kanopy._compiler import kernel
from kanopy.search.local.best.agglomerate_kernel import Units, merge_units
from kanopy.search.local.best.partition_kernel import WORK, Partition, drop_class, new_class, put, take
from kanopy.search.local.joins_kernel import Joins, copy_box, draw, own_weight


@kernel(makes_arrays=False)
def resplit(
    joins: Joins, part: Partition, near: IntRows, units: Units, pool: IntRows, k: int, noise: float, heat: float,
    steps: int, random: Words, logs: Floats, stats: Longs,
) -> float:  # fmt: skip
    """Pool the rows of a few neighbouring classes and merge them anew, `steps` times; the change in cost.

    `pool` has two rows: room for the items pooled and for the classes they come from (and then for those made).
    """
    items = len(part.record)
    most = pool.shape[1]
    degree = near.shape[1]
    gained = 0.0
    part.state[WORK] += steps
    for _ in range(steps):
        a = part.class_of[draw(random, items)]
        if a < 0 or part.weight[a] <= 0.0 or part.size[a] > most // 2:
            continue
        limit = heat * logs[draw(random, 1024)]
        count = 0
        number = 1
        pool[1, 0] = a
        y = part.head[a]
        while y >= 0:
            pool[0, count] = y
            count += 1
            y = part.after[y]
        old = part.size[a] * part.weight[a]
        for _try in range(24):
            t = part.record[pool[0, draw(random, count)]]
            s = near[t, draw(random, degree)]
            if s < 0:
                continue
            b = part.class_of[part.first[s] + draw(random, part.first[s + 1] - part.first[s])]
            if b < 0 or count + part.size[b] > most:
                continue
            known = False
            for i in range(number):
                if pool[1, i] == b:
                    known = True
            if known:
                continue
            pool[1, number] = b
            number += 1
            old += part.size[b] * part.weight[b]
            y = part.head[b]
            while y >= 0:
                pool[0, count] = y
                count += 1
                y = part.after[y]
        if number < 2:
            continue
        part.state[WORK] += 24 + count * count
        for i in range(count):
            units.size[i] = 1
            copy_box(joins.cells, part.record[pool[0, i]], units.box, i)
            units.weight[i] = own_weight(joins, units.box, i)
        left = merge_units(joins, units, count, k, noise, random)
        stats[8] += 1
        now = 0.0
        for i in range(left):
            u = units.active[i]
            now += units.size[u] * units.weight[u]
        if now - old >= limit or left - number > part.state[0]:
            continue
        stats[9] += 1
        for i in range(count):
            take(part, pool[0, i])
        for i in range(number):
            drop_class(part, pool[1, i])
        for i in range(left):
            u = units.active[i]
            c = new_class(part)
            units.nearest[u] = c
            copy_box(units.box, u, part.box, c)
            part.weight[c] = units.weight[u]
        for i in range(count):
            put(part, units.nearest[units.owner[i]], pool[0, i])
        gained += now - old
    return gained
