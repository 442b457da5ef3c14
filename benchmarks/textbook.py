"""Greedy k-member and Mondrian as a textbook would write them in Python: yardsticks for speed, oracles for tests.

Nothing here shares code with Kanopy's kernels: costs are fractions, every record is looked at every time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction

Cost = Callable[[Sequence[int]], Fraction]
"""What making some values of one attribute equal costs, from 0 to 1."""


def k_member(rows: Sequence[tuple[int, ...]], costs: Sequence[Cost], k: int, seed: int = 0) -> list[int]:
    """Cluster number per row; costs are asked of the values of a whole cluster, again and again."""

    def loss(members: Sequence[int]) -> Fraction:
        return sum((cost([rows[i][j] for i in members]) for j, cost in enumerate(costs)), Fraction(0))

    free = list(range(len(rows)))
    clusters: list[list[int]] = []
    reference = seed
    while len(free) >= k:
        start = max(free, key=lambda i: (loss([reference, i]), -i))
        free.remove(start)
        members = [start]
        while len(members) < k:
            nearest = min(free, key=lambda i: (loss([*members, i]), i))
            free.remove(nearest)
            members.append(nearest)
        clusters.append(members)
        reference = members[-1]
    for row in free:
        growth = [(len(c) + 1) * loss([*c, row]) - len(c) * loss(c) for c in clusters]
        clusters[growth.index(min(growth))].append(row)
    label = [-1] * len(rows)
    for number, members in enumerate(clusters):
        for row in members:
            label[row] = number
    return label


def mondrian(rows: Sequence[tuple[float, ...]], k: int) -> list[list[int]]:
    """Relaxed Mondrian on numbers: the median of the attribute with the widest normalized range."""
    width = len(rows[0])
    whole = [(max(r[j] for r in rows) - min(r[j] for r in rows)) or 1 for j in range(width)]
    done: list[list[int]] = []
    waiting = [list(range(len(rows)))]
    while waiting:
        part = waiting.pop()
        spans = [(max(rows[i][j] for i in part) - min(rows[i][j] for i in part)) / whole[j] for j in range(width)]
        widest = max(range(width), key=lambda j: spans[j])
        if len(part) < 2 * k or spans[widest] == 0:
            done.append(part)
            continue
        part.sort(key=lambda i: rows[i][widest])
        middle = len(part) // 2
        waiting += [part[:middle], part[middle:]]
    return done


def certainty_penalty(rows: Sequence[tuple[float, ...]], parts: Sequence[Sequence[int]]) -> float:
    """GCP of a partition of numbers."""
    width = len(rows[0])
    whole = [(max(r[j] for r in rows) - min(r[j] for r in rows)) or 1 for j in range(width)]
    spent = 0.0
    for part in parts:
        for j in range(width):
            values = [rows[i][j] for i in part]
            spent += len(part) * (max(values) - min(values)) / whole[j]
    return spent / (len(rows) * width)
