"""Moves and swaps of rows between neighbouring classes, accepted by simulated annealing."""

from __future__ import annotations

import numpy as np

from kanopy.kernels.boxes import Boxes, Floats, Ints, Longs, Random, box_weight, next_random, weight_with
from kanopy.kernels.compiler import kernel
from kanopy.kernels.partition import (
    Partition,
    fit_without,
    joined_levels,
    put,
    set_box,
    take,
)

LOGS = -np.log((np.arange(1024) + 0.5) / 1024)
MOVED, SWAPPED, TRIED = 0, 1, 2
LOOKED_AT = 12


def _anneal_loop(
    boxes: Boxes,
    part: Partition,
    near: Ints,
    k: int,
    heat: float,
    steps: int,
    random: Random,
    logs: Floats,
    stats: Longs,
) -> float:
    """Try `steps` moves or swaps of random rows; returns the change in cost.

    A row of a class with more than k moves to the class of a near row; from a class of exactly k it is swapped with
    the row of that class that fits best. A change is accepted if it costs less than `heat` times a random logarithm.
    """
    width = boxes.tuples.shape[1]
    items = len(part.record)
    less = np.zeros(width, np.int16)
    more = np.zeros(width, np.int16)
    less2 = np.zeros(width, np.int16)
    best_a = np.zeros(width, np.int16)
    best_b = np.zeros(width, np.int16)
    todo = np.zeros(width, np.int64)
    gained = 0.0
    degree = near.shape[1]
    for _ in range(steps):
        x = next_random(random) % items
        a = part.class_of[x]
        if a < 0 or part.weight[a] <= 0.0:
            continue
        t = part.record[x]
        other = near[t, next_random(random) % degree]
        if other < 0:
            continue
        y = part.first[other] + next_random(random) % (part.first[other + 1] - part.first[other])
        b = part.class_of[y]
        if b < 0 or a == b:
            continue
        stats[2] += 1
        limit = heat * logs[next_random(random) & 1023]
        na, nb = part.size[a], part.size[b]
        if na > k:
            wb = joined_levels(boxes, part.rep[b], part.levels[b], t, more)
            change = (nb + 1) * wb - nb * part.weight[b] - part.weight[a]
            # Without x class a can save at most all of its weight.
            if change - (na - 1) * part.weight[a] >= limit:
                continue
            ref = fit_without(boxes, part, a, x, less, todo)
            wa = box_weight(boxes, ref, less)
            change += (na - 1) * (wa - part.weight[a])
            if change < limit:
                take(part, x)
                put(part, b, x)
                set_box(part, a, ref, less, wa)
                set_box(part, b, part.rep[b], more, wb)
                gained += change
                stats[0] += 1
        else:
            # Swap x with the row of b that fits best in its place.
            ref = fit_without(boxes, part, a, x, less, todo)
            least = box_weight(boxes, ref, less)
            if na * least - na * part.weight[a] - nb * part.weight[b] >= limit:
                continue
            best = limit
            chosen = -1
            best_ref = 0
            z = part.head[b]
            if nb > 12:
                skip = next_random(random) % (nb - 11)
                for _s in range(skip):
                    z = part.after[z]
            looked = 0
            last = -1
            while z >= 0 and looked < 12:
                s = part.record[z]
                if s != last and s != t:
                    wa = weight_with(boxes, ref, less, s)
                    change = na * (wa - part.weight[a]) - nb * part.weight[b]
                    if change < best:
                        ref2 = fit_without(boxes, part, b, z, less2, todo)
                        wb = weight_with(boxes, ref2, less2, t)
                        change += nb * wb
                        if change < best:
                            best = change
                            chosen = z
                            best_ref = ref2
                            for j in range(width):
                                best_b[j] = less2[j]
                last = s
                looked += 1
                z = part.after[z]
            if chosen >= 0:
                s = part.record[chosen]
                wa = joined_levels(boxes, ref, less, s, best_a)
                wb = joined_levels(boxes, best_ref, best_b, t, more)
                take(part, x)
                take(part, chosen)
                put(part, b, x)
                put(part, a, chosen)
                set_box(part, a, ref, best_a, wa)
                set_box(part, b, best_ref, more, wb)
                gained += best
                stats[1] += 1
    return gained


anneal = kernel(_anneal_loop)(_anneal_loop)
