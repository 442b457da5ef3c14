"""Which of many boxes are best together: those of classes found so far, and those that a linear program suggests."""

from __future__ import annotations

import numpy as np

from kanopy._arrays import Floats, Ints, Longs
from kanopy._core.numbering import number_rows
from kanopy._progress import Progress
from kanopy.search.bound.certificate import stretches
from kanopy.search.bound.odd_set_cuts import by_levels, count_inside, number_boxes, records_inside
from kanopy.search.budget import Budget, so_far
from kanopy.search.local.best.choice_kernel import WORK, Choice, choose, lighten, make_choice
from kanopy.search.local.best.moves.anneal_kernel import LOGS
from kanopy.search.local.boxes import Layout, box_levels, class_runs

HOTTEST, ENOUGH_TRIES = 0.3, 150
"""The highest temperature, as a share of what k rows pay on average, if every box can be tried so many times."""
TRY_SECONDS, LOOK_SECONDS, STEP_SECONDS, MOVE_SECONDS, SLICE_SECONDS = 2.5e-7, 4e-9, 1e-7, 1e-7, 2e-5
"""Seconds of an ordinary machine for trying a box, per record in it; for a record that is looked at; beside that, for
trying a box, for trying to move a row, and for a slice of steps."""
LISTING_SECONDS = 4.5e-8
"""The same for asking which box of the same levels a record is in, when records are listed."""
MOST_HELD = 50_000_000
"""Records in all boxes together: for more there is no room."""
PER_SLICE, LEAST_STEPS, MOVES_PER_STEP = 50, 300, 3
"""Slices in which every box is tried once, on average; steps of a slice at least; and tries to move a row for each."""


class BoxChoice:
    """Boxes that were worth something somewhere, given by a record and levels, and the search among them."""

    def __init__(self, layout: Layout, k: int, seed: int, heads: Ints, levels: Ints, weights: Floats) -> None:
        self.layout, self.k = layout, k
        self.heads, self.levels, self.weights = heads, levels, weights
        self.random = np.random.default_rng(seed).integers(1, 2**63, 1).astype(np.uint64)
        self.stats = np.zeros(4, np.int64)

    def add(self, class_of: Ints) -> Longs:
        """Take the boxes of classes in, none of them twice; returns which box each class has."""
        layout = self.layout
        order, starts = class_runs(class_of)
        levels, weights = box_levels(layout.boxes, layout.record_of_item[order], starts)
        heads = np.concatenate([layout.record_of_item[order[starts]], self.heads])
        levels, weights = np.concatenate([levels, self.levels]), np.concatenate([weights, self.weights])
        numbered = number_boxes(layout.boxes, heads, levels)
        listed = by_levels(levels[numbered.first])
        once = numbered.first[listed]
        self.heads, self.levels, self.weights = heads[once], np.ascontiguousarray(levels[once]), weights[once]
        return np.argsort(listed)[numbered.number[: len(starts)]]

    def search(
        self, class_of: Ints, work: Budget, progress: Progress, floor: float
    ) -> tuple[Ints, BaseException | None]:
        """The best classes with boxes of these and of the classes given; and what interrupted the search, if so."""
        layout, k = self.layout, self.k
        on = self._opened(class_of, work)
        if on is None:
            return class_of, None
        seconds = work.left
        tries = seconds / (TRY_SECONDS * max(1, len(on.record)))
        placed = on.home >= 0
        cost = best = float(on.weight[on.home[placed]].sum())
        hottest = HOTTEST * min(1.0, (tries / ENOUGH_TRIES) ** 0.5) * k * cost / max(1, int(placed.sum()))
        best_home, unplaced = on.home.copy(), int((~placed).sum())
        interrupted: BaseException | None = None
        begun = work.spent
        steps = max(LEAST_STEPS, len(on.weight) // PER_SLICE)
        moves = MOVES_PER_STEP * steps
        beside = SLICE_SECONDS + STEP_SECONDS * steps + MOVE_SECONDS * moves
        try:
            while not work.over:
                heat = hottest * (1 - (work.spent - begun) / seconds) ** 2
                before = int(on.state[WORK])
                cost += choose(on, k, heat, steps, self.random, LOGS, self.stats)
                cost += lighten(on, layout.record_of_item, k, moves, self.random, self.stats)
                work.spend(beside + LOOK_SECONDS * (int(on.state[WORK]) - before))
                if cost < best:
                    best = cost
                    best_home[:] = on.home
                if progress.active:
                    done = work.whole.done if work.whole is not None else work.done
                    progress("choosing boxes", done, so_far("loss", layout.loss(best, unplaced), floor))
        except BaseException as stop:
            interrupted = stop
        return best_home, interrupted

    def _opened(self, class_of: Ints, work: Budget) -> Choice | None:
        """All boxes, those of the given classes open; nothing if they hold too many records."""
        layout, box_of_class = self.layout, self.add(class_of)
        different = len(number_rows(self.levels).first)
        work.spend(LISTING_SECONDS * different * layout.records)
        if work.over:
            return None
        held = count_inside(layout.boxes, self.heads, self.levels)
        if int(held.sum()) > MOST_HELD:
            return None
        start, record = records_inside(layout.boxes, self.heads, self.levels, held)
        by_weight = np.argsort(self.weights, kind="stable")
        lengths = held[by_weight]
        record = record[stretches(start[by_weight], lengths)]
        start = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        order, starts = class_runs(class_of)
        home = np.full(len(class_of), -1, np.int32)
        home[order] = np.repeat(np.argsort(by_weight)[box_of_class], np.diff(np.append(starts, len(order))))
        return make_choice(self.weights[by_weight], start, record, layout.first, home, self.k)
