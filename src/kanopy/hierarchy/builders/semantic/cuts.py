"""Cut a tree of concepts into levels so that the weighted loss is least under limits on level sizes and fan-out.

A node may stand at a level if no value under it loses more than the level's threshold. Losses only grow upwards (they
are made to, by a running maximum), so for a threshold there is one coarsest cut, and lower thresholds nest inside
higher ones. Of all cuts with at most so many nodes the one with the smallest threshold loses least.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import permutations

import numpy as np
import numpy.typing as npt

from kanopy._arrays import Floats, Ints

MOST_ORDERS = 24


@dataclass(frozen=True, eq=False)
class Cut:
    """Level by level the node of every value, leaves first, root last; `fan_out` is the limit that could be held."""

    table: Ints
    thresholds: tuple[float, ...]
    fan_out: int | None


class CutTree:
    """A tree (leaves `0…size-1`, parents after children, root last) with the largest loss under each node."""

    def __init__(self, parent: Ints, size: int, loss: Floats) -> None:
        self.parent, self.size, self.root = parent, size, len(parent) - 1
        self.loss = loss.copy()
        self.loss[:size] = -np.inf  # a value may always stand for itself
        for node, up in enumerate(parent[:-1].tolist()):
            self.loss[up] = max(self.loss[up], self.loss[node])
        height = np.zeros(len(parent), np.int32)
        for node, up in enumerate(parent[:-1].tolist()):
            height[up] = max(height[up], height[node] + 1)
        self._by_height = [np.flatnonzero(height == h) for h in range(int(height.max()) + 1)]
        inner = self.loss[size : self.root]
        self.thresholds: Floats = np.unique(inner[inner < self.loss[self.root]])

    def level_sizes(self) -> npt.NDArray[np.int64]:
        """How many nodes the coarsest cut of every threshold has."""
        low = np.searchsorted(self.thresholds, self.loss[:-1])
        high = np.searchsorted(self.thresholds, self.loss[self.parent[:-1]])
        steps = np.zeros(len(self.thresholds) + 1, np.int64)
        np.add.at(steps, low, 1)
        np.add.at(steps, high, -1)
        return np.cumsum(steps)[:-1]

    def nodes_needed(self, thresholds: Sequence[float], max_fan_out: float) -> list[Floats]:
        """Per level and node, how few nodes of the level can cover the values under the node (the root's is the size).

        A node covers itself if its loss is within the threshold and the level below needs at most `max_fan_out` nodes
        there. Where it may, it should: nothing covers with less.
        """
        needed = np.zeros(len(self.parent))
        needed[: self.size] = 1.0
        for nodes in self._by_height[:-1]:
            np.add.at(needed, self.parent[nodes], needed[nodes])
        levels = [needed]
        for threshold in thresholds:
            allowed = (self.loss <= threshold) & (levels[-1] <= max_fan_out)
            needed = np.zeros(len(self.parent))
            needed[: self.size] = 1.0
            for nodes in self._by_height:
                needed[nodes[allowed[nodes]]] = 1.0
                inner = nodes[nodes != self.root]
                np.add.at(needed, self.parent[inner], needed[inner])
            levels.append(needed)
        return levels

    def table(self, thresholds: Sequence[float], max_fan_out: float) -> Ints:
        """The node of every value at every level for these thresholds; the last row is the root."""
        levels = self.nodes_needed(thresholds, max_fan_out)
        rows = [np.arange(self.size, dtype=np.int32)]
        for level, threshold in enumerate(thresholds, 1):
            allowed = (self.loss <= threshold) & (levels[level - 1] <= max_fan_out)
            allowed[: self.size] = True
            stands = np.arange(len(self.parent), dtype=np.int32)
            for nodes in reversed(self._by_height):  # from the root down: the highest allowed node stands for all below
                below = nodes[nodes != self.root]
                up = self.parent[below]
                covered = allowed[stands[up]]
                stands[below] = np.where(covered, stands[up], below)
            rows.append(stands[: self.size])
        rows.append(np.full(self.size, self.root, np.int32))
        return np.array(rows, np.int32)


def with_partial_groups(parent: Ints, size: int, edge_loss: Floats) -> tuple[Ints, Ints, Floats]:
    """A tree in which a node may also stand for only those of its children that lose least by it.

    `edge_loss[child]` is the largest loss of a value under the child if it becomes the child's parent. Between a node
    and its children come nodes for the best two or more, the best three or more, …, so that in a flat part of an
    ontology some children can be joined before all are. Returns parents, the original node behind each, and losses.
    """
    children: dict[int, list[int]] = {}
    for node, up in enumerate(parent[:-1].tolist()):
        children.setdefault(up, []).append(node)
    number = {leaf: leaf for leaf in range(size)}
    up_of, source, loss = [-1] * size, list(range(size)), [-np.inf] * size
    for node in range(size, len(parent)):
        waiting = sorted(children[node], key=lambda child: float(edge_loss[child]))
        inside: list[int] = []
        for at, child in enumerate(waiting):
            inside.append(number[child])
            last = at + 1 == len(waiting)
            # Children that lose equally join together: no threshold could tell them apart.
            if not last and (len(inside) < 2 or edge_loss[waiting[at + 1]] == edge_loss[child]):
                continue
            for member in inside:
                up_of[member] = len(up_of)
            inside = [len(up_of)]
            up_of.append(-1)
            source.append(node)
            loss.append(float(edge_loss[child]))
        number[node] = len(up_of) - 1
    return np.array(up_of, np.int32), np.array(source, np.int32), np.array(loss)


def even_sizes(size: int, height: int) -> list[int]:
    """At most so many nodes per level above the leaves, shrinking evenly to 1.

    >>> even_sizes(1000, 3)
    [100, 10, 1]
    """
    return [max(1, math.ceil(size ** ((height - level) / height) - 1e-9)) for level in range(1, height + 1)]


def cut_levels(tree: CutTree, height: int, weights: Floats, max_fan_out: int | None) -> Cut:
    """The levels (leaves and root included) of least weighted loss.

    Without a limit every level but the root shrinks evenly, as far as the ontology offers cuts. With one, every node
    has at most `max_fan_out` children; where the ontology has no concepts in between, the smallest limit that can be
    held is used instead. Fewer levels come back if the tree has fewer cuts.
    """
    sizes = tree.level_sizes()
    inner = min(height - 1, len(tree.thresholds))
    chosen = _even_cuts(sizes, even_sizes(tree.size, inner + 1)[:-1])
    if max_fan_out is None:
        thresholds = tuple(float(tree.thresholds[at]) for at in chosen)
        return Cut(tree.table(thresholds, np.inf), thresholds, None)
    limits = [float(sizes[at]) for at in chosen]
    for fan_out in _fan_outs(tree, inner, max_fan_out):
        for size_limits in (limits, [np.inf] * inner):
            positions = _least_thresholds(tree, weights[:inner], fan_out, size_limits)
            if positions is not None:
                thresholds = tuple(float(tree.thresholds[at]) for at in positions)
                return Cut(tree.table(thresholds, fan_out), thresholds, fan_out)
    raise AssertionError("a fan-out of all values can always be held")


def _even_cuts(sizes: npt.NDArray[np.int64], limits: Sequence[int]) -> list[int]:
    """Per level the cut whose size is nearest in proportion (of equals the finer one, which loses less).

    Every level is coarser than the one below and finer than the root.
    """
    if not len(sizes):
        return []
    chosen = [int(np.argmin(np.abs(np.log(sizes / limit)))) for limit in limits]
    for level in range(len(chosen) - 1, -1, -1):
        above = chosen[level + 1] if level + 1 < len(chosen) else len(sizes)
        chosen[level] = max(level, min(chosen[level], above - 1))
    return chosen


def _fan_outs(tree: CutTree, inner: int, wanted: int) -> list[int]:
    """The wanted limit, or the smallest larger one that any thresholds can hold."""
    loosest = [float(tree.thresholds[-1])] * inner if inner else []

    def holds(limit: int) -> bool:
        return bool(tree.nodes_needed(loosest, limit)[-1][tree.root] <= limit)

    if holds(wanted):
        return [wanted]
    low, high = wanted, tree.size
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return [high]


def _least_thresholds(tree: CutTree, weights: Floats, fan_out: int, limits: Sequence[float]) -> list[int] | None:
    """Thresholds (as positions) of least weighted sum that hold the limits, or `None`.

    Raising a threshold never breaks a limit, so each can be lowered by bisection while the others stay; in which order
    they are lowered matters, so all orders of few levels are tried.
    """
    count = len(limits)
    last = len(tree.thresholds) - 1

    def holds(at: Sequence[int]) -> bool:
        needed = tree.nodes_needed([float(tree.thresholds[i]) for i in at], fan_out)
        return bool(needed[-1][tree.root] <= fan_out) and all(
            level[tree.root] <= limit for level, limit in zip(needed[1:], limits, strict=True)
        )

    if not holds([last] * count):
        return None
    best: tuple[float, list[int]] | None = None
    for number, order in enumerate(permutations(range(count))):
        if number >= MOST_ORDERS:
            break
        at = [last] * count
        for level in order:
            low, high = -1, at[level]  # `high` holds
            while high - low > 1:
                middle = (low + high) // 2
                trial = [*at]
                trial[level] = middle
                low, high = (low, middle) if holds(trial) else (middle, high)
            at[level] = high
        at = [max(at[: level + 1]) for level in range(count)]  # levels may not become finer upwards
        cost = float(weights @ tree.thresholds[at]) if count else 0.0
        if best is None or cost < best[0]:
            best = cost, at
    return None if best is None else best[1]
