"""Top-down local generalization (He, Naughton 2009): from the top, one attribute of one part made finer at a time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from kanopy._arrays import Floats, Ints, Longs, Mask
from kanopy._core.histograms import summed
from kanopy._core.numbering import number_keys
from kanopy._errors import Cancelled
from kanopy._progress import Progress
from kanopy.search.budget import Budget, so_far, used_up
from kanopy.search.judge import ClassJudge
from kanopy.search.local.box_release import placeable_layout, release_classes
from kanopy.search.local.boxes import Layout, box_levels, partition_cost, run_starts
from kanopy.search.local.boxes_kernel import agreements, level_tables
from kanopy.search.solution import About, Algorithm, EndingBudget, Solution

if TYPE_CHECKING:
    from kanopy.search.problem import Problem

STEP_SECONDS, STEP_SECONDS_PER_CELL = 1e-3, 6e-8
"""Seconds of an ordinary machine for a step, and for a value of a row whose part may still be made finer."""


@dataclass(frozen=True)
class HeNaughton(Algorithm):
    """Top-down local generalization: parts of the table are made finer one attribute at a time.

    *The paper* (He, Naughton, VLDB 2009) anonymizes sets of items: all rows start as one part in which everything is
    generalized to the top; a part is divided by replacing one generalized item by its children, the one that gains most
    by the normalized certainty penalty; rows of children that are too few are pooled into a left-over that stays as
    it was, filled up to k with rows taken back from the others; and so on in every part by itself, until nothing can be
    divided. The systems that our papers compare apply it to tables with one hierarchy per column.

    *What we decided.* An item is the node of a column, so a part has one node per column, and dividing it replaces
    one node by those of its children that occur. What a column gains is the penalty that its own labels lose, times
    its weight, less what the rows taken back lose of it. The left-over takes the rows that fit it best (the least
    penalty of the label around both), lowest rows first, and no child is left with fewer than k. Where the spare rows
    do not suffice, or models beyond k-anonymity find the left-over unsafe, it takes back whole children, those that
    gain least first. Labels are always the lowest that the rows of a part share, so a column in which
    all rows fall into one child is made finer for free. All parts take a step at the same time, which gives the
    same result as part after part. Labels are hierarchy nodes and their penalty the share of the hierarchy's
    values they cover, also for numbers.

    *Guarantee.* Every part of every step satisfies all models if the whole table does, so an interrupt keeps the parts
    as they are, and nothing needs merging at the end (but for parts that come to the same labels, under models by
    which two safe classes can be unsafe as one). Levels stay within their limits; nothing is suppressed but rows that
    level limits keep apart from all but a few others, where the problem allows it. Heuristic: no bound on the loss.

    *Cost.* Rows times columns per step, and about as many steps as the hierarchies are high together: half a second for
    Adult's 45,222 records with 8 columns, 15 seconds and 400 MB for a million.

    *When not to use it.* For large k: divisions that come first are never undone, and coarse left-overs weigh more the
    larger they must be. With models beyond k-anonymity, pooling whole children is coarse: 3 distinct values of a random
    column in every class cost 40 % more loss on Adult than k-anonymity alone, with `xu` 20 %. `best` loses less if
    it may take a few seconds.

    >>> from kanopy.search.example import letters, published
    >>> published(HeNaughton().solve(letters("aabbbcd")))
    ['a', 'a', 'b', 'b', 'b', 'y', 'y']
    """

    budget_seconds: EndingBudget = None
    name, recoding = "he-naughton", "local"
    about = About(
        does="starts with all rows at the top and makes one column of one part finer at a time, where that gains most",
        source="He, Naughton 2009", suppresses=False, anytime=True,
    )  # fmt: skip

    def search(self, problem: Problem, progress: Progress) -> Solution:
        """Refine from the top; every part of every step satisfies the models."""
        layout = placeable_layout(problem, progress)
        parts = _Parts(layout, problem)
        notes = []
        work = Budget(self.budget_seconds)
        try:
            while parts.open_items and not work.over:
                done = max(work.done, 1 - parts.open_items / len(layout.rows))
                progress("specializing", done, lambda: so_far("loss", layout.loss(parts.cost(), 0)))
                work.spend(STEP_SECONDS + STEP_SECONDS_PER_CELL * parts.open_items * problem.domain.width)
                parts.refine()
            if parts.open_items:
                notes.append(used_up("all parts were as fine as they can be", parts.judged))
        except (Cancelled, KeyboardInterrupt):
            notes.append("Stopped early: some parts could have been made finer.")
        return release_classes(self.name, layout, parts.classes(), problem, judged=parts.judged, notes=notes)


@dataclass(frozen=True, eq=False)
class _Split:
    """What specializing one attribute would do to each part.

    `child[place]` numbers the children of all parts together; child `c` belongs to part `part[c]`, has `size[c]` rows,
    each of which gains `gain[c]`; `pooled[c]` children stay at the parent's node as one left-over, which takes
    `missing[p]` rows back from the others. `worth[p]` is what part `p` gains in all.
    """

    child: Ints
    part: Longs
    size: Longs
    pooled: Mask
    missing: Longs
    worth: Floats


class _Parts:
    """Parts under refinement: their items in a row, part by part; those that cannot be made finer are closed."""

    def __init__(self, layout: Layout, problem: Problem) -> None:
        self.layout, self.problem, self.k = layout, problem, problem.k
        self.judge = ClassJudge(problem)
        self.record = layout.record_of_item
        stratum = layout.stratum[self.record]
        rows = np.bincount(stratum)
        order = np.argsort(stratum, kind="stable")
        self.items: Longs = order[(rows >= problem.k)[stratum[order]]]
        self.starts = run_starts(stratum[self.items])
        self.class_of: Ints = np.full(len(layout.rows), -1, np.int32)
        self.closed = 0
        self.judged = 0

    @property
    def open_items(self) -> int:
        """Items of parts that may still be made finer."""
        return len(self.items)

    def classes(self) -> Ints:
        """The class of every item as things are, open parts as they are."""
        self._close(np.ones(len(self.starts), np.bool_))
        return self.class_of

    def cost(self) -> float:
        """What the classes lose as things are, suppressed items included."""
        class_of, lengths = self.class_of.copy(), np.diff(np.append(self.starts, len(self.items)))
        class_of[self.items] = self.closed + np.repeat(np.arange(len(lengths)), lengths)
        return partition_cost(self.layout, class_of)

    def _close(self, which: Mask) -> None:
        """Give the items of some parts their classes and take them off the list."""
        lengths = np.diff(np.append(self.starts, len(self.items)))
        number = self.closed + np.cumsum(which) - 1
        closing = np.repeat(which, lengths)
        self.class_of[self.items[closing]] = np.repeat(number, lengths)[closing]
        self.closed += int(which.sum())
        self.items = self.items[~closing]
        staying_lengths = lengths[~which]
        self.starts = np.cumsum(staying_lengths) - staying_lengths

    def refine(self) -> None:
        """Specialize in every open part the attribute that gains most; close the parts in which none can be."""
        record = self.record[self.items]
        levels, _ = box_levels(self.layout.boxes, record, self.starts)
        lengths = np.diff(np.append(self.starts, len(self.items)))
        part_of_item = np.repeat(np.arange(len(self.starts)), lengths)
        best = np.zeros(len(self.starts))
        chosen = np.full(len(self.starts), -1, np.int64)
        splits: dict[int, _Split] = {}
        for j in range(levels.shape[1]):
            splits[j] = self._split(j, levels[:, j], part_of_item)
            self.judged += len(splits[j].size)
            better = splits[j].worth > best
            best[better], chosen[better] = splits[j].worth[better], j
        # Parts are divided by the child that an item falls into; -1 is the left-over of its part.
        child = np.full(len(self.items), -1, np.int64)
        for j, split in splits.items():
            mine = chosen[part_of_item] == j
            if mine.any():
                child[mine] = np.where(split.pooled[split.child[mine]], -1, split.child[mine])
                self._take_back(split, child, part_of_item, (chosen == j) & (split.missing > 0))
        order = np.lexsort((child, part_of_item))
        self.items, part_of_item, child = self.items[order], part_of_item[order], child[order]
        self.starts = np.flatnonzero(
            np.concatenate([[True], (part_of_item[1:] != part_of_item[:-1]) | (child[1:] != child[:-1])])
        ) if len(part_of_item) else self.starts  # fmt: skip
        self._close(chosen[part_of_item[self.starts]] < 0)

    def _split(self, j: int, level: Ints, part_of_item: Longs) -> _Split:
        """What specializing attribute `j` by one level would do to every part (nothing where all values agree)."""
        boxes = self.layout.boxes
        codes, costs = level_tables(boxes, j)
        values = codes.shape[1]
        value = boxes.tuples[self.record[self.items], j]
        lower = np.maximum(level - 1, 0)[part_of_item]
        keys = part_of_item * np.int64(values) + codes[lower, value]
        child, first, size = number_keys(keys, len(level) * values, ascending=True)
        part_of = part_of_item[first]
        gain = costs[level[part_of], value[first]] - costs[lower[first], value[first]]
        tables = self.judge.histograms(child, len(size), self.layout.rows[self.items])
        pooled = self.judge.unsafe_classes(size, tables)
        parts = len(level)
        opens = run_starts(part_of)
        worth = np.where(pooled, np.inf, size * gain)
        while True:
            rows = np.bincount(part_of, weights=size * pooled, minlength=parts).astype(np.int64)
            missing = np.maximum(0, self.k - rows) * (rows > 0)
            if self.problem.of_sizes:
                spare = np.bincount(part_of, weights=np.maximum(0, size - self.k) * ~pooled, minlength=parts)
                bad = missing > spare
            else:
                pool = {name: summed(table[pooled], part_of[pooled], parts) for name, table in tables.items()}
                bad = self.judge.unsafe_classes(rows, pool)
            bad &= np.isfinite(np.minimum.reduceat(worth, opens))
            if not bad.any():
                break
            # The left-over is not safe: the child that gains least stays with it.
            least = np.minimum.reduceat(worth, opens)[part_of]
            candidates = np.flatnonzero(bad[part_of] & (worth == least) & ~pooled)
            one_each = candidates[np.unique(part_of[candidates], return_index=True)[1]]
            pooled[one_each] = True
            worth[one_each] = np.inf
        total = np.bincount(part_of, weights=size * gain * ~pooled, minlength=parts)
        cheapest = np.minimum.reduceat(np.where(pooled, np.inf, gain), opens)
        total -= np.where(missing > 0, missing * np.where(np.isfinite(cheapest), cheapest, 0.0), 0.0)
        return _Split(child, part_of, size, pooled, missing, np.where(level > 0, total, 0.0))

    def _take_back(self, split: _Split, child: Longs, part_of_item: Longs, wanted: Mask) -> None:
        """Move the rows that fit it best into the left-over of the wanted parts; no child falls below k."""
        if not wanted.any():
            return
        price = self._price_of_joining(np.flatnonzero(wanted[part_of_item] & (child < 0)), part_of_item)
        places = np.flatnonzero(wanted[part_of_item] & (child >= 0))
        # At most the spare rows of each child, and of those as many as are missing: the cheapest, then the first.
        order = np.lexsort((self.items[places], price[places], child[places]))
        ranked = places[order]
        spare = split.size[child[ranked]] - self.k
        places = ranked[_rank(child[ranked]) < spare]
        order = np.lexsort((self.items[places], price[places], part_of_item[places]))
        ranked = places[order]
        child[ranked[_rank(part_of_item[ranked]) < split.missing[part_of_item[ranked]]]] = -1

    def _price_of_joining(self, pool: Longs, part_of_item: Longs) -> Floats:
        """Per item, the weight of the box around it and the left-over (the items `pool`) of its part."""
        boxes = self.layout.boxes
        record = self.record[self.items]
        starts = run_starts(part_of_item[pool])
        box_of_pool, _ = box_levels(boxes, record[pool], starts)
        number = np.full(len(self.starts), -1, np.int64)
        number[part_of_item[pool[starts]]] = np.arange(len(starts))
        mine = number[part_of_item]
        there = mine >= 0
        mine = mine[there]
        one, two = record[pool[starts]][mine], record[there]
        price = np.zeros(len(self.items))
        total = np.zeros(len(mine))
        for j in range(boxes.tuples.shape[1]):
            codes, costs = level_tables(boxes, j)
            a = boxes.tuples[one, j]
            agreed = agreements(codes, a, boxes.tuples[two, j])
            total += costs[np.maximum(agreed, box_of_pool[mine, j]), a]
        price[there] = total
        return price


def _rank(numbers: Longs) -> Longs:
    """The place of each entry within its run of equal numbers.

    >>> _rank(np.array([4, 4, 7, 7, 7])).tolist()
    [0, 1, 0, 1, 2]
    """
    starts = run_starts(numbers)
    return np.arange(len(numbers)) - np.repeat(starts, np.diff(np.append(starts, len(numbers))))
