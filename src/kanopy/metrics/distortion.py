"""Distortion of generalized values by the level of their hierarchy: three rules of Yaseen et al. 2018, Definition 9.

The top costs the height H in each rule; what a lower node costs depends on the kind of hierarchy. Distortions of
different hierarchies are comparable only as ratios to the fully generalized table.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from kanopy._arrays import Floats, Longs
from kanopy._errors import HierarchyError, near_miss
from kanopy.hierarchy.hierarchy import Hierarchy


def halving_distortion(hierarchy: Hierarchy) -> list[Floats]:
    """Per level and node: H at the top, half as much on each level below, nothing for values (their CGH).

    >>> one = Hierarchy.from_rows([["1", "[1, 2]", "*"], ["2", "[1, 2]", "*"]])
    >>> [level.tolist() for level in halving_distortion(one)]
    [[0.0, 0.0], [1.0], [2.0]]
    """
    height = hierarchy.height
    sizes = hierarchy.level_sizes
    below = [np.full(sizes[level], height / 2 ** (height - level)) for level in range(1, height + 1)]
    return [np.zeros(sizes[0]), *below]


def width_distortion(hierarchy: Hierarchy) -> list[Floats]:
    """Per level and node: H times the number of values an interval has room for, over that of the top (their DBGH)."""
    return _by_size(hierarchy, 1.0)


def extent_distortion(hierarchy: Hierarchy) -> list[Floats]:
    """Per level and node: H times `max - min`, over that of the top; nodes of one level may differ (their CBGH)."""
    return _by_size(hierarchy, 0.0)


def _by_size(hierarchy: Hierarchy, room: float) -> list[Floats]:
    if hierarchy.low is None or hierarchy.high is None:
        raise HierarchyError("Distortion by width needs a hierarchy over numbers; this one has no intervals.")
    size = np.asarray(hierarchy.high - hierarchy.low + room, np.float64)
    top = float(size[hierarchy.level(hierarchy.height).nodes].max()) or 1.0
    height = hierarchy.height
    levels: list[Floats] = [height * size[hierarchy.level(level).nodes] / top for level in range(height + 1)]
    levels[0] = np.zeros(hierarchy.size)
    return levels


DISTORTION_RULES: dict[str, Callable[[Hierarchy], list[Floats]]] = {
    "halving": halving_distortion,
    "width": width_distortion,
    "extent": extent_distortion,
}


def node_distortions(hierarchy: Hierarchy, rule: str) -> list[Floats]:
    """Per level, leaf level first, the distortion of each node (in the order of the level's codes)."""
    if rule not in DISTORTION_RULES:
        raise HierarchyError(f"There is no distortion rule {rule!r}. {near_miss(rule, DISTORTION_RULES)}")
    return DISTORTION_RULES[rule](hierarchy)


def distortion(hierarchies: Sequence[Hierarchy], marginals: Sequence[Longs], levels: Sequence[int], rule: str) -> float:
    """The total distortion of a table in which every attribute is lifted to one level.

    >>> one = Hierarchy.from_rows([["1", "[1, 2]", "*"], ["2", "[1, 2]", "*"]])
    >>> distortion([one], [np.array([3, 2])], [1], "halving")
    5.0
    """
    total = 0.0
    for hierarchy, marginal, level in zip(hierarchies, marginals, levels, strict=True):
        total += float((node_distortions(hierarchy, rule)[level][hierarchy.level(level).codes] * marginal).sum())
    return total
