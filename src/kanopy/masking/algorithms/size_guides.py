"""The guides that look at no meaning: fuse so that groups stay small (discernibility), or at random.

Both are what the thesis compares with (section 5.2 and 5.3). A fusion of sizes a and b raises the discernibility metric
by 2·a·b, so its best target is the smallest other group.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence

import numpy as np

from kanopy._arrays import Ints, Longs


class _Groups:
    """Sizes, confidential values and what was fused into what."""

    def __init__(self, counts: Longs, seen: Sequence[Sequence[set[int]]], k: int, needed: Sequence[int]) -> None:
        self.sizes: list[int] = [int(count) for count in counts]
        self.into = np.full(len(counts), -1, np.int64)
        self.seen = seen
        self.k = k
        self.needed = needed

    def is_unsafe(self, group: int) -> bool:
        short = any(len(values[group]) < need for values, need in zip(self.seen, self.needed, strict=True))
        return self.sizes[group] < self.k or short

    def fuse(self, source: int, target: int) -> None:
        self.into[source] = target
        self.sizes[target] += self.sizes[source]
        for values in self.seen:
            values[target] |= values[source]


def fuse_smallest(
    counts: Longs, priority: Longs, k: int, seen: Sequence[Sequence[set[int]]] = (), needed: Sequence[int] = ()
) -> Longs:
    """The smallest group goes to the smallest other group, until all are safe; ties by `priority`.

    >>> fuse_smallest(np.array([1, 4, 1, 2]), np.arange(4), 3).tolist()
    [2, -1, 3, -1]
    """
    groups = _Groups(counts, seen, k, needed)
    everyone = [(size, int(priority[g]), g) for g, size in enumerate(groups.sizes)]
    heapq.heapify(everyone)
    waiting = [entry for entry in everyone if groups.is_unsafe(entry[2])]
    heapq.heapify(waiting)

    def first(heap: list[tuple[int, int, int]]) -> tuple[int, int, int] | None:
        while heap and (groups.into[heap[0][2]] >= 0 or groups.sizes[heap[0][2]] != heap[0][0]):
            heapq.heappop(heap)
        return heap[0] if heap else None

    left = len(groups.sizes)
    while left > 1:
        entry = first(waiting)
        if entry is None:
            break
        if not groups.is_unsafe(entry[2]):
            heapq.heappop(waiting)
            continue
        source = heapq.heappop(waiting)[2]
        top = first(everyone)
        assert top is not None
        if top[2] == source:
            heapq.heappop(everyone)
            first(everyone)
        target = heapq.heappop(everyone)[2]
        groups.fuse(source, target)
        grown = (groups.sizes[target], int(priority[target]), target)
        heapq.heappush(everyone, grown)
        if groups.is_unsafe(target):
            heapq.heappush(waiting, grown)
        left -= 1
    return groups.into


def replace_records_at_random(counts: Longs, tuple_of_row: Ints, k: int, rng: np.random.Generator) -> Ints:
    """Per record the tuple it publishes: as long as its group is too small, it takes the values of any other record, on
    its own (the naive replacement of Figure 8 in Martínez 2010). Records come in the order of their values, as there.

    >>> rows = np.array([0, 0, 0, 1, 2], np.int32)
    >>> replace_records_at_random(np.array([3, 1, 1]), rows, 3, np.random.default_rng(0)).tolist()
    [0, 0, 0, 0, 0]
    """
    published_tuples = tuple_of_row.astype(np.int64)
    sizes = counts.astype(np.int64).copy()
    enough = min(k, len(published_tuples))
    order = np.argsort(tuple_of_row, kind="stable").tolist()
    some_settled = bool(sizes.max(initial=0) >= enough)
    while (sizes[published_tuples] < enough).any():
        for row in order:
            # Who leaves is in a group that is too small: none that is large enough becomes too small again.
            while sizes[old_value := published_tuples[row]] < enough:
                other = published_tuples[int(rng.integers(len(published_tuples)))]
                if other != old_value:
                    sizes[old_value] -= 1
                    sizes[other] += 1
                    published_tuples[row] = other
                    some_settled = some_settled or bool(sizes[other] >= enough)
                if not some_settled:
                    break  # nowhere to stay yet: the next one moves
    return published_tuples.astype(np.int32)


def fuse_at_random(
    counts: Longs,
    priority: Longs,
    k: int,
    rng: np.random.Generator,
    *,
    smallest_first: bool = True,
    seen: Sequence[Sequence[set[int]]] = (),
    needed: Sequence[int] = (),
) -> Longs:
    """A group that is not safe goes to any other group: the smallest one first, or any."""
    groups = _Groups(counts, seen, k, needed)
    left = list(range(len(groups.sizes)))
    order = list(left)
    waiting = [
        (size if smallest_first else 0, int(priority[g]), g)
        for g, size in enumerate(groups.sizes)
        if groups.is_unsafe(g)
    ]
    heapq.heapify(waiting)
    while waiting and len(left) > 1:
        size, _, source = waiting[0]
        if groups.into[source] >= 0 or not groups.is_unsafe(source):
            heapq.heappop(waiting)
            continue
        if smallest_first and size != groups.sizes[source]:
            heapq.heapreplace(waiting, (groups.sizes[source], int(priority[source]), source))
            continue
        heapq.heappop(waiting)
        at = order[source]
        left[at], left[-1] = left[-1], left[at]
        order[left[at]] = at
        left.pop()
        target = left[int(rng.integers(len(left)))]
        groups.fuse(source, target)
    return groups.into
