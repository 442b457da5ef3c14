"""A random walk with restart from one concept, followed only where it still carries weight."""

from __future__ import annotations

import numpy as np

from kanopy._arrays import Floats, Ints
from kanopy._compiler import kernel


def _walk_plain(start: Ints, target: Ints, chance: Floats, first: int, restart: float, least: float) -> Floats:
    found = np.zeros(len(start) - 1)
    waiting = np.zeros(len(start) - 1)
    waiting[first] = 1.0
    queue = [first]
    for node in queue:  # grows while it is read
        mass, waiting[node] = waiting[node], 0.0
        found[node] += restart * mass
        for link in range(start[node], start[node + 1]):
            near, before = target[link], waiting[target[link]]
            waiting[near] = before + (1.0 - restart) * mass * chance[link]
            if before <= least < waiting[near]:
                queue.append(int(near))
    return found


@kernel(_walk_plain)
def walk(start: Ints, target: Ints, chance: Floats, first: int, restart: float, least: float) -> Floats:
    """How often a walk from `first` that starts over with chance `restart` is at each node.

    Weight that arrives at a node waits there until it exceeds `least`; what never does is left out (Andersen, Chung,
    Lang 2006: local graph partitioning using PageRank vectors).
    """
    size = len(start) - 1
    found = np.zeros(size)
    waiting = np.zeros(size)
    queue = np.empty(size + 1, np.int64)  # a ring: a node is at most once in it
    queue[0] = first
    waiting[first] = 1.0
    head = 0
    count = 1
    while count > 0:
        node = queue[head]
        head = (head + 1) % (size + 1)
        count -= 1
        mass = waiting[node]
        waiting[node] = 0.0
        found[node] += restart * mass
        for link in range(start[node], start[node + 1]):
            near = target[link]
            before = waiting[near]
            after = before + (1.0 - restart) * mass * chance[link]
            waiting[near] = after
            if before <= least and after > least:
                queue[(head + count) % (size + 1)] = near
                count += 1
    return found
