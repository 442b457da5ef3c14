"""Groups of near values, level by level: one tree on which many trees agree, and no group of what is not near.

Ward's tree hangs on small differences. So it is made many times, from several views of nearness, each a little
disturbed; pairs are near if they meet low in most of these trees (consensus clustering: Monti et al., Machine Learning
52, 2003). Joining goes on until a level has the wanted size, but values that are hardly nearer than any others stay
apart; what few of them are left at the coarsest level is "other".
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kanopy._arrays import Floats, Ints
from kanopy.hierarchy.builders.semantic.linkage_kernel import join_nearest
from kanopy.ontology.nearness.nearness import ranks

TREES = 32
"""So many disturbed trees per view."""
MOST_VALUES = 150
"""Longer columns have one view and one tree: many would take long, and many values tell where to cut by themselves."""
DISTURBED = 0.04
"""The spread of what is added to nearness, whose ranks go from 0 to 1."""
AS_IT_IS = 0.3
"""How much the undisturbed nearness counts beside the trees."""
LEAST_NEAR = (0.9, 0.7, 0.5)
"""From the finest level up: how near on average the sides of a joint must be. 0.5 is as near as any two values."""
PAIR_NEAR = 0.93
"""So near must two values be that make a group below the coarsest level: a rocket and a sled are none."""
LEFT_OVER = 0.25
"""Values alone at the coarsest level are united as `other`, if there are several, but at most so many of all."""


def near_groups(views: Sequence[Floats], weight: Floats, sizes: Sequence[int]) -> tuple[list[Ints], int]:
    """Per size (the finest first) the group of each item, and the number of the group of left-over ones (-1: none).

    `views` are matrices of nearness (see `kanopy.ontology.nearness.nearness.views`), `weight` how many values an item
    stands for.

    >>> near = np.array([[1, 0.95, 0.2, 0.1], [0.95, 1, 0.1, 0.2], [0.2, 0.1, 1, 0.92], [0.1, 0.2, 0.92, 1]])
    >>> [groups.tolist() for groups in near_groups([near], np.ones(4), [2])[0]]
    [[0, 0, 2, 2]]
    """
    first = np.mean(views[:2], axis=0)
    mean = np.mean(views, axis=0)
    merges = _ward(_consensus([mean, *views], weight) if len(views) > 1 else mean, weight)
    gates = [first, *views[2:]]
    limits = LEAST_NEAR[len(LEAST_NEAR) - len(sizes) :] if len(sizes) <= len(LEAST_NEAR) else None
    limits = limits or tuple(np.linspace(LEAST_NEAR[0], LEAST_NEAR[-1], len(sizes)).tolist())
    levels = [_joined_while_near(gates, merges, size, least) for size, least in zip(sizes, limits, strict=True)]
    if not levels:
        return [], -1
    for groups in levels[:-1]:
        for one in np.flatnonzero(np.bincount(groups) == 2).tolist():
            pair = np.flatnonzero(groups == one)
            if first[pair[0], pair[1]] < PAIR_NEAR:
                groups[pair] = pair
    group, members = np.unique(levels[-1], return_counts=True)
    alone = group[members == 1]
    if not 2 <= len(alone) <= LEFT_OVER * len(weight):
        return levels, -1
    levels[-1] = np.where(np.isin(levels[-1], alone), alone[0], levels[-1]).astype(np.int32)
    return levels, int(alone[0])


def _ward(near: Floats, weight: Floats) -> Floats:
    """Ward's joints in the order of their costs; 1 - nearness is the squared distance."""
    cost = (1.0 - near) * 2 * np.outer(weight, weight) / (weight[:, None] + weight)
    merges = join_nearest(cost, weight, True)
    return np.asarray(merges[np.argsort(merges[:, 2], kind="stable")])


def _consensus(views: Sequence[Floats], weight: Floats) -> Floats:
    random = np.random.default_rng(0)
    count = len(weight)
    low = np.zeros((count, count))
    for view in views:
        for _ in range(TREES):
            noise = random.normal(0.0, DISTURBED, (count, count))
            low += _meeting(_ward(np.clip(view + (noise + noise.T) / 2**0.5, 0.0, 1.0), weight), count)
    near = (1 - AS_IT_IS) * ranks(low) + AS_IT_IS * views[0]
    np.fill_diagonal(near, 1.0)
    return np.asarray(near)


def _meeting(merges: Floats, count: int) -> Floats:
    """Per pair the logarithm of how many groups there were when it was joined."""
    met = np.zeros((count, count))
    members = {item: [item] for item in range(count)}
    for groups, (a, b) in zip(range(count, 1, -1), merges[:, :2].astype(np.int64).tolist(), strict=True):
        met[np.ix_(members[a], members[b])] = np.log(groups)
        members[a] += members.pop(b)
    return met + met.T


def _joined_while_near(gates: Sequence[Floats], merges: Floats, size: int, least: float) -> Ints:
    """Groups, numbered by their first item, after all joints that a level of `size` groups has and `least` allows."""
    count = len(merges) + 1
    members: dict[int, list[int] | None] = {item: [item] for item in range(count)}
    groups = np.arange(count, dtype=np.int32)
    for a, b in merges[: max(0, count - size), :2].astype(np.int64).tolist():
        one, other = members[a], members.pop(b)
        if one is None or other is None or min(near[np.ix_(one, other)].mean() for near in gates) < least:
            members[a] = None  # nor is anything above it joined
            continue
        members[a] = one + other
        groups[members[a]] = min(one[0], other[0])
    return groups
