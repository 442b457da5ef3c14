"""A partition for large k: boxes opened one after the other where they gain most, annealed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from kanopy._arrays import Ints, Longs
from kanopy.search.local.best.cover_kernel import ABSENT, Cover, Desk, Folded, open_classes, settle_down, tighten
from kanopy.search.local.boxes_kernel import LEVELS, VALUES, Boxes

ROOM = 20_000
"""Level combinations told apart at once; with more, some levels are left out at random in every step."""
FOLD = 2_048
"""Joint values of attributes that are folded into one column."""
HOTTEST = 10.0
"""The first temperature, in classes: costs of so many classes are risked at first."""
SLICE_ROWS = 2_000_000
"""Records looked at in a round."""
RECORD_SECONDS, CELL_SECONDS, CLOSE_SECONDS = 1.2e-8, 4.5e-9, 3e-7
"""Seconds of an ordinary machine for counting a record, for a level combination, and for a record once a round."""


class Covering:
    """Records under a growing cover of boxes.

    All records start in one class. Each round opens classes, shrinks all boxes to what they hold, and moves records to
    the lightest box around them.
    """

    def __init__(self, boxes: Boxes, counts: Longs, k: int, seed: int) -> None:
        # Attributes with many levels come last: sums over the lattice then run over long stretches.
        order = np.argsort(boxes.head[:, LEVELS], kind="stable")
        boxes = replace(boxes, tuples=np.ascontiguousarray(boxes.tuples[:, order]), head=boxes.head[order])
        self.boxes, self.counts, self.k = boxes, counts, k
        records, width = boxes.tuples.shape
        self.rows = int(counts.sum())
        self.folded = fold(boxes)
        classes = self.rows // k + 2
        self.cover = Cover(
            np.zeros(records, np.int32), np.zeros(records), np.zeros(classes, np.int64),
            np.zeros((classes, width), np.int16), np.full(classes, ABSENT), np.zeros(classes, np.int64),
            np.arange(classes - 1, -1, -1, dtype=np.int64), np.array([classes - 1], np.int64),
            np.zeros((int(self.folded.start[-1]), classes // 64 + 1), np.uint64),
        )  # fmt: skip
        self.cover.rows[0] = self.rows
        deepest = int(boxes.head[:, LEVELS].max())
        self.room = 1
        for levels in boxes.head[:, LEVELS].tolist():
            self.room = min(ROOM, self.room * int(levels))
        entries = int(self.folded.start[-1])
        self.desk = Desk(
            np.zeros(entries, np.int32), np.zeros((2, self.room)), np.zeros(entries, np.int32),
            np.zeros(2 * records, np.int64), np.zeros(2 * records, np.int32), np.zeros(classes, np.int32),
            np.zeros(classes, np.int64), np.zeros((width, deepest), np.int64), np.zeros((width, deepest), np.int64),
            np.zeros(width, np.int64), np.zeros(width, np.int64), np.zeros(width + 1), np.zeros(deepest),
            np.zeros(width, np.int16),
        )  # fmt: skip
        tighten(boxes, self.folded, self.cover, self.desk)
        self.random = np.random.default_rng(seed).integers(1, 2**63, 1).astype(np.uint64)
        self.slice = max(1, min(400, SLICE_ROWS // max(1, records)))
        self.round_seconds = (
            self.slice * (RECORD_SECONDS * records + CELL_SECONDS * self.room) + CLOSE_SECONDS * records
        )
        self.best = self.cover.class_of.copy()
        self.best_cost = self.cost()

    def cost(self) -> float:
        """The sum of weights over all rows."""
        return float(np.dot(self.counts, self.cover.paid))

    def round(self, left: float) -> None:
        """Open some classes; `left` is the share of the time that is left, from 1 down to 0."""
        heat = HOTTEST * self.k * self.cost() / max(1, self.rows) * left * left
        open_classes(
            self.boxes,
            self.folded,
            self.counts,
            self.cover,
            self.desk,
            self.room,
            self.k,
            heat,
            self.slice,
            self.random,
        )
        tighten(self.boxes, self.folded, self.cover, self.desk)
        settle_down(self.folded, self.counts, self.cover, self.desk, self.k)
        cost = self.cost()
        if cost < self.best_cost:
            self.best_cost = cost
            self.best[:] = self.cover.class_of

    def rounds(self, count: int) -> Iterator[float]:
        """A fixed number of rounds; yields the share done before each."""
        for done in range(count):
            yield done / count
            self.round(1 - (done + 1) / count)


def fold(boxes: Boxes) -> Folded:
    """Neighbouring attributes side by side in columns of few joint values."""
    records, width = boxes.tuples.shape
    first, sizes = [0], []
    size = 1
    for j in range(width):
        values_of_column = int(boxes.head[j, VALUES])
        if j > first[-1] and size * values_of_column > FOLD:
            first.append(j)
            sizes.append(size)
            size = 1
        size *= values_of_column
    sizes.append(size)
    first.append(width)
    codes: Ints = np.zeros((records, len(sizes)), np.int32)
    for c in range(len(sizes)):
        for j in range(first[c], first[c + 1]):
            codes[:, c] = codes[:, c] * int(boxes.head[j, VALUES]) + boxes.tuples[:, j]
    start: Longs = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    codes += start[:-1].astype(np.int32)
    return Folded(codes, np.array(first, np.int64), start)
