"""Rank swapping: each rank is swapped with a free one within a window, found in a tree of counts (Fenwick 1994)."""

from __future__ import annotations

from kanopy._arrays import Floats, Longs
from kanopy._compiler import helper, kernel


@helper
def _add(tree: Longs, place: int, change: int) -> None:
    at = place + 1
    while at < len(tree):
        tree[at] += change
        at += at & -at


@helper
def _before(tree: Longs, place: int) -> int:
    """Free ranks before a place."""
    total = 0
    at = place
    while at > 0:
        total += tree[at]
        at -= at & -at
    return total


@helper
def _find(tree: Longs, top: int, count: int) -> int:
    """The free rank that has so many free ones before it."""
    at = 0
    step = top
    while step > 0:
        if at + step < len(tree) and tree[at + step] <= count:
            at += step
            count -= tree[at]
        step //= 2
    return at


@kernel(makes_arrays=False)
def swap_ranks(window: int, random: Floats, tree: Longs, partner: Longs) -> None:
    """Fill `partner`: with whom each rank swaps, itself where nobody is left within the window.

    `tree` has one place more than there are ranks; what is in it does not matter.
    """
    ranks = len(partner)
    top = 1
    while 2 * top < len(tree):
        top *= 2
    for at in range(len(tree)):
        tree[at] = 0
    for rank in range(ranks):
        partner[rank] = -1
        _add(tree, rank, 1)
    for rank in range(ranks):
        if partner[rank] >= 0:
            continue
        _add(tree, rank, -1)
        passed = _before(tree, rank + 1)
        last = min(ranks, rank + window + 1)
        free = _before(tree, last) - passed
        if free == 0:
            partner[rank] = rank
            continue
        other = _find(tree, top, passed + min(free - 1, int(random[rank] * free)))
        _add(tree, other, -1)
        partner[rank] = other
        partner[other] = rank
