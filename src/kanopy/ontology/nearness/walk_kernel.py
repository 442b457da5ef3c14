"""A random walk with restart from one concept, followed only where it still carries weight."""

from __future__ import annotations

import numpy as np

from kanopy._arrays import Floats, Ints, Longs
from kanopy._compiler import kernel


def _walk_plain(
    start: Ints, target: Ints, chance: Floats, first: int, restart: float, least: float, found: Floats, queue: Longs
) -> None:
    waiting = np.zeros(len(start) - 1)
    waiting[first] = 1.0
    nodes = [first]
    for node in nodes:  # grows while it is read
        mass, waiting[node] = waiting[node], 0.0
        found[node] += restart * mass
        for link in range(start[node], start[node + 1]):
            near, before = target[link], waiting[target[link]]
            waiting[near] = before + (1.0 - restart) * mass * chance[link]
            if before <= least < waiting[near]:
                nodes.append(int(near))
    found[len(waiting) :] = waiting


@kernel(_walk_plain, makes_arrays=False)
def follow(
    start: Ints, target: Ints, chance: Floats, first: int, restart: float, least: float, found: Floats, queue: Longs
) -> None:
    """`walk` with room for what it finds: per node how often the walk is there, then what is waiting at each."""
    size = len(start) - 1
    queue[0] = first
    found[size + first] = 1.0
    head = 0
    count = 1
    while count > 0:
        node = queue[head]
        head = (head + 1) % (size + 1)
        count -= 1
        mass = found[size + node]
        found[size + node] = 0.0
        found[node] += restart * mass
        for link in range(start[node], start[node + 1]):
            near = target[link]
            before = found[size + near]
            after = before + (1.0 - restart) * mass * chance[link]
            found[size + near] = after
            if before <= least and after > least:
                queue[(head + count) % (size + 1)] = near
                count += 1


def walk(start: Ints, target: Ints, chance: Floats, first: int, restart: float, least: float) -> Floats:
    """How often a walk from `first` that starts over with chance `restart` is at each node.

    Weight that arrives at a node waits there until it exceeds `least`; what never does is left out (Andersen, Chung,
    Lang 2006: local graph partitioning using PageRank vectors).
    """
    size = len(start) - 1
    found = np.zeros(2 * size)
    queue = np.empty(size + 1, np.int64)  # a ring: a node is at most once in it
    follow(start, target, chance, first, restart, least, found, queue)
    return found[:size]
