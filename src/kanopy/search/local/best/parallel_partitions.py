"""A large table improved in parts, several at the same time.

Parts are whole classes that lie near each other, drawn anew for each stage. How many there are, what belongs to each
and how much work each may do follow from the table and the seed; threads only decide how many are under way at once.
So one thread and eight give the same bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from threading import Event
from typing import TYPE_CHECKING

import numpy as np

from kanopy._arrays import Ints, Longs
from kanopy._errors import Cancelled
from kanopy._progress import Note, Progress
from kanopy.search.budget import Budget, at_once
from kanopy.search.local.boxes import Layout, class_runs
from kanopy.search.local.chunks import shuffled_order

if TYPE_CHECKING:
    from kanopy.search.local.best.improvement import Improvement

LARGE_ROWS, PART_ROWS, MOST_PARTS = 200_000, 50_000, 16
"""Tables of fewer rows are one part: there a seam would cost more than a second processor brings."""
DIVIDE_SECONDS = 4e-7
"""Seconds of an ordinary machine for a row that is put into a part and back."""


def parts_of(items: int) -> int:
    """How many parts a table of so many rows is improved in.

    >>> parts_of(199_999), parts_of(200_000), parts_of(10_000_000)
    (1, 4, 16)
    """
    return 1 if items < LARGE_ROWS else min(MOST_PARTS, items // PART_ROWS)


class _Stoppable(Progress):
    """What parts report to: nobody, but it may say stop."""

    def __init__(self, stop: Event) -> None:
        super().__init__()
        self._stop = stop

    @property
    def active(self) -> bool:
        """Whether there is something to say to whoever reports."""
        return self._stop.is_set()

    def __call__(self, stage: str, fraction: float | None = None, note: Note = "") -> None:
        """Stop, if so asked."""
        if self._stop.is_set():
            raise Cancelled(f"Stopped while {stage}. Nothing was written.")


class Parts:
    """The parts of a table for one stage of its improvement."""

    def __init__(self, whole: Improvement, seeds: Longs, threads: int) -> None:
        self.whole, self.threads, self.stop = whole, threads, Event()
        self.start = whole.part.class_of.copy()
        self.items = _divided(whole, self.start, len(seeds))
        self.seeds = seeds.tolist()
        self.searches: list[Improvement | None] = [None] * len(self.items)

    def run(self, work: Budget, stage: float, progress: Progress, note: Callable[[], None] | None) -> None:
        """Improve all parts for a stage, each with an equal share of the work; see `Improvement.run`."""
        whole, count = self.whole, len(self.items)
        begun, left = work.spent, work.left
        work.spend(DIVIDE_SECONDS * len(self.start))
        share = max(0.0, left - (work.spent - begun)) / count
        accounts = [Budget(share) for _ in self.items]
        under_way = [
            self._stretches(i, accounts[i], (stage - (work.spent - begun)) / count) for i in range(count)
        ]  # fmt: skip
        cost, open_parts = whole.cost(), list(range(count))

        def look() -> None:
            spent = sum(account.spent for account in accounts)
            if progress.active:
                gained = sum(search.first_cost - search.best_cost for search in self.searches if search is not None)
                progress_text = whole.note(min(whole.best_cost, cost - gained))
                progress("improving", min(1.0, (begun + spent) / work.seconds), progress_text)

        try:
            while open_parts:
                going = at_once([partial(next, under_way[i], False) for i in open_parts], self.threads, look, self.stop)
                open_parts = [i for i, more in zip(open_parts, going, strict=True) if more]
                if note is not None:
                    whole.go_on_from(self._joined())
                    note()
        finally:
            whole.go_on_from(self._joined())
            for account in accounts:
                work.spend(account.spent)
            whole.rounds += sum(search.rounds for search in self.searches if search is not None)

    def _stretches(self, i: int, work: Budget, stage: float) -> Iterator[bool]:
        """A part is laid out by the thread that improves it."""
        if self.stop.is_set():
            return
        part_layout = part_of(self.whole.layout, self.items[i])
        search = type(self.whole)(part_layout, self.start[self.items[i]], self.whole.k, self.seeds[i])
        self.searches[i] = search
        for _ in search.stretches(work, stage, _Stoppable(self.stop)):
            yield True

    def _joined(self) -> Ints:
        """The best classes of all parts."""
        joined, classes = self.start.copy(), int(self.start.max(initial=-1)) + 1
        for items, search in zip(self.items, self.searches, strict=True):
            if search is not None:
                part_classes = search.best_classes()
                joined[items] = np.where(part_classes >= 0, part_classes + classes, -1)
                classes += int(part_classes.max(initial=-1)) + 1
        return joined


def _divided(whole: Improvement, class_of: Ints, parts: int) -> list[Longs]:
    """The items of each part: whole classes, near each other in an order of the table drawn by chance."""
    layout = whole.layout
    position = np.empty(layout.records, np.int64)
    position[shuffled_order(layout, whole.generator)] = np.arange(layout.records)
    order, starts = class_runs(class_of)
    lengths = np.diff(np.append(starts, len(order)))
    by_place = np.argsort(position[layout.record_of_item[order[starts]]], kind="stable")
    # The part of a class by where its middle row would stand.
    ends = np.cumsum(lengths[by_place])
    of_class = np.empty(len(starts), np.int64)
    of_class[by_place] = ((2 * ends - lengths[by_place]) * parts) // (2 * max(1, len(order)))
    of_item = np.full(len(class_of), -1, np.int64)
    of_item[order] = np.repeat(of_class, lengths)
    return [items for number in range(parts) if len(items := np.flatnonzero(of_item == number))]


def part_of(layout: Layout, items: Longs) -> Layout:
    """Some items of a layout, laid out by themselves."""
    of_item = layout.record_of_item[items]
    counted = np.bincount(of_item, minlength=layout.records)
    here = np.flatnonzero(counted)
    counts = counted[here].astype(np.int64)
    part_layout = replace(
        layout,
        boxes=replace(layout.boxes, tuples=np.ascontiguousarray(layout.boxes.tuples[here])),
        counts=counts,
        rows=layout.rows[items],
        first=np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
        stratum=layout.stratum[here],
    )
    part_layout.__dict__["joins"] = replace(layout.joins, cells=np.ascontiguousarray(layout.joins.cells[here]))
    return part_layout
