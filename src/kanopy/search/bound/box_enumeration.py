"""All boxes that are too dear at given prices, found by several threads and handed over in one order.

The first attributes are walked by the caller; each combination of their levels that is still open is a walk of its own,
which has nothing in common with the others. What is found comes in the order of one walk through everything, so it
does not depend on how many threads there are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from queue import Empty, SimpleQueue

import numpy as np

from kanopy._arrays import Floats, Ints, Longs
from kanopy.search.bound.level_chains import Priced
from kanopy.search.bound.prices_kernel import (
    ARRIVED,
    DEPTH,
    ENDED,
    VISITS,
    Found,
    Walk,
    make_found,
    make_walk,
    walk_boxes,
)  # fmt: skip
from kanopy.search.budget import in_order
from kanopy.search.local.boxes_kernel import LEVELS

NODE_VISITS, LEAST_COMBINATIONS, MOST_COMBINATIONS = 6e6, 8, 400
"""What a walk of its own may look at, and the combinations it goes through: enough to be worth a thread's while."""
ROOM = 200_000
"""Entries that are found between two copies."""


Part = tuple[list[Found], int]
"""Boxes, and the visits that it took to find them."""


class BoxEnumeration:
    """Walks through the boxes of a table."""

    def __init__(self, priced: Priced, k: int, threads: int) -> None:
        self.priced, self.k, self.threads = priced, k, threads
        # Few values first: their levels weigh most, so most groups are given up early.
        self.attributes = np.argsort(priced.sizes[:, 0], kind="stable").astype(np.int64)
        width, records = len(self.attributes), len(priced.counts)
        most = min(MOST_COMBINATIONS, max(LEAST_COMBINATIONS, NODE_VISITS / max(1, records)))
        levels = priced.boxes.head[self.attributes, LEVELS]
        self.split = next((d for d in range(width - 1, 0, -1) if levels[d - 1 :].prod() > most), 0)
        self.idle: SimpleQueue[tuple[Walk, Found]] = SimpleQueue()

    def too_dear(self, price: Floats, look: Callable[[], None]) -> Iterator[Part]:
        """Boxes that are too dear, in parts, with the visits that each part took."""
        order = np.argsort(-price, kind="stable").astype(np.int32)
        return in_order(self._nodes(price, order), self.threads, look)

    def _nodes(self, price: Floats, order: Ints) -> Iterator[Callable[[], Part]]:
        first = self._new_walk(order)
        if self.split == 0:
            yield partial(self._deep, price, order, np.zeros(len(order), np.int32), np.zeros(1), 0)
            return
        nothing = make_found(1, 1)
        while self._walk(price, first, nothing, 0, self.split) == ARRIVED:
            _, records, groups = first.state[self.split].tolist()
            yield partial(
                self._deep, price, first.records[self.split, :records].copy(),
                first.groups[self.split, :records].copy(), first.weights[self.split, :groups].copy(),
                int(first.at[VISITS]),
            )  # fmt: skip

    def _deep(
        self, price: Floats, records: Ints, groups: Ints, weights: Floats, before: int
    ) -> tuple[list[Found], int]:
        """Everything below some levels of the first attributes; `before` are the visits that led there."""
        try:
            walk, boxes = self.idle.get_nowait()
        except Empty:
            n = len(self.priced.counts)
            walk, boxes = self._new_walk(np.zeros(n, np.int32)), make_found(max(n, ROOM), max(n, ROOM))
        depth, width = self.split, len(self.attributes)
        walk.at[DEPTH] = depth
        walk.state[depth] = -1, len(records), len(weights)
        walk.records[depth, : len(records)] = records
        walk.groups[depth, : len(records)] = groups
        walk.weights[depth, : len(weights)] = weights
        parts, visits, ended = [], before, False
        while not ended:
            boxes.used[:] = 0
            ended = self._walk(price, walk, boxes, depth, width) == ENDED
            visits += int(walk.at[VISITS])
            count, entries = boxes.used.tolist()
            if count:
                parts.append(
                    Found(
                        boxes.weight[:count].copy(), boxes.start[: count + 1].copy(), boxes.record[:entries].copy(),
                        boxes.used.copy(),
                    )
                )  # fmt: skip
        self.idle.put((walk, boxes))
        return parts, visits

    def _new_walk(self, order: Ints) -> Walk:
        return make_walk(self.priced.boxes, int(self.priced.counts.sum()), self.k, order)

    def _walk(self, price: Floats, walk: Walk, boxes: Found, begin: int, end: int) -> int:
        counts: Longs = self.priced.counts
        return walk_boxes(
            self.priced.boxes, self.priced.sizes, self.attributes, price, counts, self.k, walk, boxes, begin, end,
            1 << 62,
        )  # fmt: skip
