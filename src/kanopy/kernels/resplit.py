"""Merge a few neighbouring classes and split their rows anew, bottom-up."""

from __future__ import annotations

import numpy as np

from kanopy.kernels.agglomerate import merge_units
from kanopy.kernels.boxes import Boxes, Floats, Ints, Longs, Random, box_weight, next_random
from kanopy.kernels.compiler import kernel
from kanopy.kernels.partition import Partition, drop_class, new_class, put, set_box, take


def _resplit_loop(
    boxes: Boxes, part: Partition, near: Ints, k: int, most: int, noise: float, heat: float, steps: int, random: Random,
    logs: Floats, stats: Longs,
) -> float:  # fmt: skip
    """Pool up to `most` rows of a few neighbouring classes and merge them anew, `steps` times; the change in cost."""
    width = boxes.tuples.shape[1]
    items = len(part.record)
    pool = np.empty(most, np.int32)
    classes = np.empty(most, np.int32)
    record = np.empty(most, np.int32)
    size = np.empty(most, np.int64)
    levels = np.empty((most, width), np.int16)
    weight = np.empty(most, np.float64)
    own = np.empty(most, np.int32)
    nearest = np.empty(most, np.int32)
    rise = np.empty(most, np.float64)
    active = np.empty(most, np.int32)
    made = np.empty(most, np.int32)
    gained = 0.0
    for _ in range(steps):
        x = next_random(random) % items
        a = part.class_of[x]
        if a < 0 or part.weight[a] <= 0.0 or part.size[a] > most // 2:
            continue
        limit = heat * logs[next_random(random) & 1023]
        count = 0
        number = 1
        classes[0] = a
        y = part.head[a]
        while y >= 0:
            pool[count] = y
            count += 1
            y = part.after[y]
        old = part.size[a] * part.weight[a]
        for _try in range(24):
            t = part.record[pool[next_random(random) % count]]
            s = near[t, next_random(random) % near.shape[1]]
            if s < 0:
                continue
            b = part.class_of[part.first[s] + next_random(random) % (part.first[s + 1] - part.first[s])]
            if b < 0 or count + part.size[b] > most:
                continue
            known = False
            for i in range(number):
                if classes[i] == b:
                    known = True
            if known:
                continue
            classes[number] = b
            number += 1
            old += part.size[b] * part.weight[b]
            y = part.head[b]
            while y >= 0:
                pool[count] = y
                count += 1
                y = part.after[y]
        if number < 2:
            continue
        for i in range(count):
            record[i] = part.record[pool[i]]
            size[i] = 1
            for j in range(width):
                levels[i, j] = 0
            weight[i] = box_weight(boxes, record[i], levels[i])
        left = merge_units(boxes, record, size, levels, weight, count, k, own, nearest, rise, active, noise, random)
        stats[7] += 1
        now = 0.0
        for i in range(left):
            now += size[active[i]] * weight[active[i]]
        if now - old >= limit or left - number > part.state[0]:
            continue
        stats[8] += 1
        for i in range(count):
            take(part, pool[i])
        for i in range(number):
            drop_class(part, classes[i])
        for i in range(left):
            c = new_class(part)
            made[active[i]] = c
            set_box(part, c, record[active[i]], levels[active[i]], weight[active[i]])
        for i in range(count):
            put(part, made[own[i]], pool[i])
        gained += now - old
    return gained


resplit = kernel(_resplit_loop)(_resplit_loop)
