"""Exhaustive local recoding on tiny tables: the least loss over all partitions into classes of at least k."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from kanopy.search.local.boxes import FORBIDDEN, box_levels, lay_out
from kanopy.search.problem import Problem


def partitions(items: list[int], k: int) -> Iterator[list[list[int]]]:
    """All partitions of items into blocks of at least k."""
    if not items:
        yield []
        return
    first, rest = items[0], items[1:]
    for mask in range(1 << len(rest)):
        block = [first, *(x for i, x in enumerate(rest) if mask >> i & 1)]
        if len(block) >= k:
            left = [x for i, x in enumerate(rest) if not mask >> i & 1]
            if not left or len(left) >= k:
                for others in partitions(left, k):
                    yield [block, *others]


def least_loss(problem: Problem) -> float:
    """By brute force; infinite if no partition respects the level limits."""
    layout = lay_out(problem)
    record = layout.record_of_item
    cost: dict[tuple[int, ...], float] = {}
    best = np.inf
    for partition in partitions(list(range(len(record))), problem.k):
        total = 0.0
        for block in partition:
            key = tuple(record[block].tolist())
            if key not in cost:
                cost[key] = float(box_levels(layout.boxes, record[block], np.zeros(1, np.int64))[1][0])
            total += len(block) * cost[key]
        best = min(best, total)
    return layout.loss(best, 0) if best < FORBIDDEN else np.inf
