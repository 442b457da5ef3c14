"""Hierarchies fitted to the release: where to cut each column is decided by what the whole table loses at its k.

A search over levels publishes one division per column. Whether a division is good depends on the other columns: they
split the rows further. So columns are cut where that gains most, one cut at a time, while every class stays large
enough; then, one column at a time and the others as they are, the cuts are found that lose least of all cuts at round
points (a shortest path over the points), until no column gains any more; then one column is made coarser so that others
may become finer, which is kept if the whole loses less. What was found becomes a level of each hierarchy, with finer
and coarser ones around it for the search to choose from. Where a job counts people, a class is as large as the number
of people who have rows in it; these do not add up, so everybody is followed from one group of a column to the next. All
of it counts its work, not the time: it ends the same way on every machine.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np

from kanopy._arrays import Floats, Ints, Longs
from kanopy._core.numbering import Numbered, number_lifted
from kanopy._core.units import Units
from kanopy._job.persons_between import PersonsBetween, sorted_once
from kanopy.hierarchy.builders.rounding import PRICE_OF_A_CUT, Round, Scale, divide
from kanopy.hierarchy.column import Column
from kanopy.hierarchy.hierarchy import Hierarchy
from kanopy.search.problem import Problem

MOST_WORK = 40_000_000
"""Numbers looked at before the search for better cuts ends: about a second."""
MOST_WORK_WITH_PEOPLE = 60_000_000
"""The same where people are counted."""
FINENESS = (4, 8, 16)
"""How fine the grids are that are tried, the most readable first."""
FINE_FOR_FEW = 64
"""One number, or two, can be published far more finely: then finer grids are tried, too."""
FEW_COLUMNS = 2
AS_GOOD = 1.015
"""A more readable grid is taken if it loses at most so many times as much as a finer one."""
YEARS_OF_AGE = 5
FIVES_MAY_LOSE = 1.03
"""Ages end at multiples of five if that loses at most so many times as much."""
STARTS = (2, 3, 4, 6)
"""Into how many parts every column is cut to begin with."""
ROW_PRICES = (0.0, 0.5, 2.0, 8.0, 32.0)
"""What a suppressed row costs beyond its own loss: raised until few enough are suppressed."""
WORK_OF_SORTING = 3
"""What sorting a number takes, compared with looking at it."""
MOST_CANDIDATES = 500_000
MOST_LEVELS = 8

Division = Longs | int
"""Where a column is cut (numbers of points of its scale), or the level of its hierarchy."""


def fitted_hierarchies(
    problem: Problem, columns: Mapping[str, Column], ages: Collection[str] = ()
) -> dict[str, Hierarchy]:
    """Hierarchies of numeric columns whose cuts suit a release of the whole table; the other columns keep theirs.

    `columns` are those to cut anew. Their values are the first leaves of the hierarchies they have now. `ages`
    are columns that end at multiples of five years wherever little is lost by it.
    """
    names = problem.domain.names
    fittings: list[tuple[float, CutOptimizer]] = []
    finest = (*FINENESS, FINE_FOR_FEW) if len(columns) <= FEW_COLUMNS else FINENESS
    by_fives = [(YEARS_OF_AGE, True, parts) for parts in finest[-2:]] if any(name in columns for name in ages) else []
    for years, strict, parts in (*by_fives, *itertools.product((None,), (True, False), finest)):
        scales = {}
        for name, column in columns.items():
            scale = Round(k=problem.k, parts=parts, multiple=years if name in ages else None).scale(column)
            scales[names.index(name)] = replace(scale, strict=strict)
        fitting = CutOptimizer(problem, scales)
        fittings.append((fitting.run(), fitting))
    least = min(loss for loss, _ in fittings)
    may_lose = [FIVES_MAY_LOSE] * len(by_fives) + [AS_GOOD] * len(fittings)
    close = (fitting for (loss, fitting), may in zip(fittings, may_lose, strict=False) if loss <= least * may)
    return next(close).hierarchies()


class CutOptimizer:
    """The search for divisions of all columns that lose least together. `scales` are those of columns to cut anew."""

    def __init__(self, problem: Problem, scales: Mapping[int, Scale]) -> None:
        self.problem, self.scales, self.k = problem, scales, problem.k
        self.domain = problem.domain
        self.work = 0
        width = self.domain.width
        self.divisions: list[Division] = [0] * width
        self.cells: list[Longs] = [np.zeros(0, np.int64)] * width
        self.shares: list[Floats] = [np.zeros(0)] * width
        self.weights = np.array(problem.weights) / sum(problem.weights)

    @cached_property
    def _whose(self) -> tuple[Units, Longs] | None:
        """Where people are counted: the tuples of each person, every one once, and whose they are."""
        units, of_row, tuples = self.domain.units, self.domain.tuple_of_row, len(self.domain.counts)
        if units is None:
            return None
        there = of_row >= 0
        person, own_tuples = np.divmod(
            sorted_once(units.of_row[there].astype(np.int64) * tuples + of_row[there]), tuples
        )
        return Units(person.astype(np.int32)), own_tuples

    @cached_property
    def _cell_of_leaf(self) -> dict[int, Longs]:
        """Per column to be cut: between which points of its scale every value lies."""
        return {
            j: np.searchsorted(scale.first, np.arange(scale.column.size), side="right")
            for j, scale in self.scales.items()
        }

    @property
    def _tired(self) -> bool:
        most = MOST_WORK if self.domain.units is None else MOST_WORK_WITH_PEOPLE
        return self.work >= most // len(FINENESS)

    def run(self) -> float:
        """Find good divisions; the loss they have."""
        best, best_divisions = np.inf, self._everywhere(0, lowest=False)
        for divisions, last in self._starts():
            if self._tired and np.isfinite(best):
                break
            self._take(divisions)
            loss = self._loss()
            if self.domain.units is not None and not np.isfinite(loss):
                loss = self._give_way()
            if np.isfinite(loss):
                loss = self._refine(loss, but=last) if last is not None else loss
                loss = self._descend(self._refine(loss))
            if loss < best - 1e-9:
                best, best_divisions = loss, list(self.divisions)
        self._take(best_divisions)
        improved = np.isfinite(best)
        while improved:
            improved = False
            for j in range(self.domain.width):
                for coarser in self._coarser(j):
                    if self._tired:
                        return best
                    best_divisions = list(self.divisions)
                    self._divide(j, coarser)
                    loss = self._descend(self._refine(self._loss(), but=j), start=j + 1)
                    if loss < best - 1e-9:
                        best, improved = loss, True
                    else:
                        self._take(best_divisions)
        return best

    def hierarchies(self) -> dict[str, Hierarchy]:
        """A hierarchy per column that was cut: its values, divisions finer and coarser than the one found, and `*`."""
        others = [h.height + 1 for j, h in enumerate(self.domain.hierarchies) if j not in self.scales]
        room = (MOST_CANDIDATES / np.prod(others, dtype=np.float64)) ** (1 / len(self.scales))
        most = int(np.clip(room, 3, MOST_LEVELS)) - 2
        hierarchies = {}
        for j, scale in self.scales.items():
            chosen = self.divisions[j]
            assert not isinstance(chosen, int)
            rows = scale.column.rows
            least = [max(self.k, rows // 64, 1) << i for i in range(rows.bit_length())]
            finer = [np.union1d(cuts, chosen) for cuts in scale.levels(least)]
            coarser = [np.intersect1d(cuts, chosen) for cuts in scale.nested(least, chosen)]
            ladder = [cuts for cuts in finer if len(cuts) > len(chosen)]
            ladder += [chosen] if len(chosen) else []
            at = len(ladder) - 1
            ladder += [cuts for cuts in coarser if 0 < len(cuts) < len(chosen)]
            distinct = [i for i, cuts in enumerate(ladder) if i == at or not i or len(cuts) < len(ladder[i - 1])]
            nearest = sorted(distinct, key=lambda i: (abs(i - at), i))[:most]
            hierarchies[self.domain.names[j]] = scale.hierarchy([ladder[i] for i in sorted(nearest)])
        return hierarchies

    # ---- where to begin, and what to try ------------------------------------------------------------------

    def _everywhere(self, parts: int, lowest: bool) -> list[Division]:
        """Every column cut into about equal parts, or at its lowest or highest level."""
        levels = self.problem.lattice.lowest if lowest else self.problem.lattice.highest
        return [_quantiles(self.scales[j], parts) if j in self.scales else level for j, level in enumerate(levels)]

    def _starts(self) -> Iterator[tuple[list[Division], int | None]]:
        """Divisions to begin with, and a column that waits until the others are cut."""
        for parts in STARTS:
            for lowest in (True, False):
                yield self._everywhere(parts, lowest), None
        yield self._everywhere(0, lowest=False), None
        for j in range(self.domain.width):
            yield self._everywhere(0, lowest=False), j

    def _coarser(self, j: int) -> list[Division]:
        """Divisions of a column that leave room for the others: about half of its groups, and none."""
        division = self.divisions[j]
        if isinstance(division, int):
            top = self.problem.lattice.highest[j]
            return [level for level in dict.fromkeys((division + 1, top)) if division < level <= top]
        none: list[Division] = [division[:0]] if len(division) else []
        scale = self.scales[j]
        half = (
            scale.nested([1 + (3 * scale.column.rows) // (2 * len(division) + 2)], division)
            if len(division) > 1
            else []
        )
        return [*half, *none]

    # ---- better divisions ---------------------------------------------------------------------------------

    def _give_way(self) -> float:
        """Make divisions coarser, each time where that saves most rows from leaving, until few enough leave."""
        while not self._tired:
            moves: list[tuple[float, int, int, Division]] = []
            for j in range(self.domain.width):
                before = self.divisions[j]
                for i, coarser in enumerate(self._coarser(j)):
                    self._divide(j, coarser)
                    classes, count = self._classes(range(self.domain.width))
                    moves.append((int(self._leaving(classes, count).sum()), j, i, coarser))
                self._divide(j, before)
            if not moves:
                break
            _, j, _, division = min(moves, key=lambda move: move[:3])
            self._divide(j, division)
            loss = self._loss()
            if np.isfinite(loss):
                return loss
        return float("inf")

    def _refine(self, loss: float, but: int | None = None) -> float:
        """Cut once more where that gains most, whichever column it is, until no cut is possible."""
        while not self._tired:
            classes, count = self._classes(range(self.domain.width))
            moves: list[tuple[float, int, Division]] = []
            for j in range(self.domain.width):
                if j != but:
                    candidate = self._one_cut(j, classes, count) if j in self.scales else self._one_level(j, loss)
                    moves += [] if candidate is None else [(candidate[0], -j, candidate[1])]
            if not moves:
                break
            _, j, division = max(moves, key=lambda move: move[:2])
            before = self.divisions[-j]
            self._divide(-j, division)
            after = self._loss()
            if after >= loss:
                self._divide(-j, before)
                break
            loss = after
        return loss

    def _one_level(self, j: int, loss: float) -> tuple[float, Division] | None:
        """The next lower level of a column that is not cut, and what it gains."""
        level = self.divisions[j]
        assert isinstance(level, int)
        if level <= self.problem.lattice.lowest[j]:
            return None
        self._divide(j, level - 1)
        gain = loss - self._loss()
        self._divide(j, level)
        return (gain, level - 1) if gain > 0 else None

    def _one_cut(self, j: int, classes: Longs, count: int) -> tuple[float, Division] | None:
        """The further cut of a column that gains most and leaves every class large enough."""
        scale, division = self.scales[j], self.divisions[j]
        assert not isinstance(division, int)
        first, last, missing = self._first_and_last(j, classes, count)
        if not len(division) and ((missing > 0) & (missing < self.k)).any():
            return None  # the first cut parts the missing values from the others
        below = np.cumsum(first, axis=0)[:-1]
        above = last.sum(axis=0) - (below if last is first else np.cumsum(last, axis=0)[:-1])
        small = ((below > 0) & (below < self.k)) | ((above > 0) & (above < self.k))
        possible = ~small.any(axis=1)
        possible[division] = False
        rows, values = scale.running
        cells = len(rows) - 1
        edges = np.concatenate([[0], division + 1, [cells]])
        at = np.arange(1, cells)
        cell_index = np.searchsorted(edges, at, side="right")
        low, high = edges[cell_index - 1], edges[cell_index]
        possible &= scale.readable[low, at] & scale.readable[at, high]
        if not possible.any():
            return None
        left, right = (rows[at] - rows[low]) * (values[high] - values[at]), (rows[high] - rows[at])
        gain = (left + right * (values[at] - values[low])) / (rows[-1] * values[-1]) - self._price(j)
        best = int(np.argmax(np.where(possible, gain, -np.inf)))
        return float(gain[best] * self.weights[j]), np.sort(np.append(division, best))

    def _descend(self, loss: float, start: int = 0) -> float:
        """Improve one column after the other until none gains any more."""
        width = self.domain.width
        unchanged, j = 0, start
        while unchanged < width and not self._tired:
            better = self._best_of(j % width, loss)
            unchanged = 0 if better < loss - 1e-9 else unchanged + 1
            loss, j = min(loss, better), j + 1
        return loss

    def _best_of(self, j: int, loss: float) -> float:
        """Take the division of a column that loses least beside those of the others."""
        lattice = self.problem.lattice
        best = self.divisions[j]
        tried: Sequence[Division]
        tried = self._best_cuts(j) if j in self.scales else range(lattice.lowest[j], lattice.highest[j] + 1)
        for division in tried:
            if division is not best:
                self._divide(j, division)
                loss_now = self._loss()
                if loss_now < loss - 1e-9:
                    loss, best = loss_now, division
        self._divide(j, best)
        return loss

    def _best_cuts(self, j: int) -> list[Longs]:
        """Cuts of a column that lose least beside the divisions of the others; several where rows may be suppressed."""
        scale = self.scales[j]
        group, groups = self._classes([i for i in range(self.domain.width) if i != j])
        held, _ = self._held(j, group, groups)
        cells = len(held)
        self.work += groups * cells * cells
        before = np.zeros((cells + 1, groups), np.int32)
        np.cumsum(held, axis=0, out=before[1:])
        passages = self._passages(j, group, groups)
        people = None if passages is None else passages.from_each_cell()
        limit = self.problem.max_suppressed_rows
        extra = self._lost_with_a_row(j, group, groups) if limit else None
        rows, values = scale.running
        price, suppressed = np.full((cells + 1, cells + 1), np.inf), np.zeros((cells + 1, cells + 1))
        for a in range(cells):
            inside = before[a + 1 :] - before[a]
            counted = inside if people is None else next(people)
            small = (counted - 1).view(np.uint32) < self.k - 1
            held_rows, held_values = rows[a + 1 :] - rows[a], values[a + 1 :] - values[a]
            if extra is None:
                price[a, a + 1 :] = np.where(small.any(axis=1), np.inf, held_rows * held_values)
            else:
                lost = np.where(small, inside, 0)
                suppressed[a, a + 1 :] = number = lost.sum(axis=1)
                price[a, a + 1 :] = (held_rows - number) * held_values + lost @ extra
        if extra is None:
            price[0, cells] = rows[-1] * values[-1]  # all in one is always possible: the groups of the others are
            cuts = divide(scale.rows, scale.values, self._price(j), price=price, allowed=scale.readable)
            return [] if cuts is None else [cuts]
        per_row = values[-1] / max(self.weights[j], 1e-9)
        proposals: list[Longs] = []
        for more in ROW_PRICES:
            dearer = price + more * per_row * suppressed
            cuts = divide(scale.rows, scale.values, self._price(j), price=dearer, allowed=scale.readable)
            if cuts is not None:
                proposals.append(cuts)
                ends = np.concatenate([[0], cuts + 1, [cells]])
                if suppressed[ends[:-1], ends[1:]].sum() <= limit:
                    break
        return proposals

    def _price(self, j: int) -> Floats:
        """What a cut at each point of a column's scale costs, as a share of a group's loss: the rounder, the less."""
        rows, values = self.scales[j].running
        ends = np.concatenate([[0], np.asarray(self.divisions[j]) + 1, [len(rows) - 1]])
        lost = float((np.diff(rows[ends]) * np.diff(values[ends])).sum() / (rows[-1] * values[-1]))
        return np.asarray(self.scales[j].rank * (PRICE_OF_A_CUT * lost / (len(ends) - 1)), np.float64)

    def _lost_with_a_row(self, j: int, group: Longs, groups: int) -> Floats:
        """Per group of the other columns what suppressing a row loses, in the unit of rows times values of column j."""
        lost = np.full(groups, self.weights[j])
        first = np.zeros(groups, np.int64)
        first[group[::-1]] = np.arange(len(group))[::-1]
        for i in range(self.domain.width):
            if i != j:
                lost += self.weights[i] * (1.0 - self.shares[i][self.cells[i][self.domain.tuples[first, i]]])
        return np.asarray(lost * (self.scales[j].running[1][-1] / max(self.weights[j], 1e-9)), np.float64)

    # ---- counting -----------------------------------------------------------------------------------------

    def _take(self, divisions: Sequence[Division]) -> None:
        for j, division in enumerate(divisions):
            if division is not self.divisions[j] or not len(self.cells[j]):
                self._divide(j, division)

    def _divide(self, j: int, division: Division) -> None:
        """Take a division of a column."""
        hierarchy = self.domain.hierarchies[j]
        self.divisions[j] = division
        if isinstance(division, int):
            level = hierarchy.level(division)
            self.cells[j], self.shares[j] = level.codes.astype(np.int64), level.shares
            return
        scale = self.scales[j]
        cells = np.searchsorted(scale.first[division], np.arange(hierarchy.size), side="right")
        if len(division):
            cells[scale.column.size :] = len(division) + 1  # a missing value stands alone until all is one
        self.cells[j], self.shares[j] = cells, np.bincount(cells) / hierarchy.size

    def _classes(self, columns: Sequence[int]) -> tuple[Longs, int]:
        """Which tuples are equal in some columns as they are divided, and how many classes there are."""
        if not columns:
            return np.zeros(len(self.domain.tuples), np.int64), 1
        number, first, _ = self._numbered(columns)
        return number.astype(np.int64), len(first)

    def _numbered(self, columns: Sequence[int]) -> Numbered:
        """The same, with the first tuple of each class."""
        tuples = self.domain.tuples if len(columns) == self.domain.width else self.domain.tuples[:, list(columns)]
        self.work += tuples.size
        return number_lifted(tuples, [self.cells[j] for j in columns], [len(self.shares[j]) for j in columns])

    def _held(self, j: int, group: Longs, groups: int) -> tuple[Longs, Longs]:
        """Rows between the points of a column's scale, and rows without a value, per group: `[cell, group]`."""
        leaf, counts = self.domain.tuples[:, j], self.domain.counts
        size, cells = self.scales[j].column.size, len(self.scales[j].first) + 1
        self.work += len(leaf) + groups * cells
        has_value = leaf < size
        cell_of_tuple = np.where(has_value, self._cell_of_leaf[j][np.minimum(leaf, size - 1)], cells)
        held = np.bincount(cell_of_tuple * groups + group, weights=counts, minlength=(cells + 1) * groups)
        held = held.astype(np.int64).reshape(cells + 1, groups)
        return held[:-1], held[-1]

    def _passages(self, j: int, group: Longs, groups: int) -> PersonsBetween | None:
        """Where people are counted: between which points of a column's scale they have rows of each group."""
        if self._whose is None:
            return None
        units, own_tuples = self._whose
        self.work += WORK_OF_SORTING * len(own_tuples)
        leaf, cells = self.domain.tuples[own_tuples, j], len(self.scales[j].first) + 1
        has_value = leaf < self.scales[j].column.size
        return PersonsBetween.of(
            units.of_row[has_value], group[own_tuples[has_value]], self._cell_of_leaf[j][leaf[has_value]], groups, cells
        )

    def _first_and_last(self, j: int, group: Longs, groups: int) -> tuple[Longs, Longs, Longs]:
        """How many people have their first row, and their last, between the points of a column's scale, and how many
        have one without a value, per group; rows, where these are counted, are their own first and last."""
        passages = self._passages(j, group, groups)
        if passages is None or self._whose is None:
            held, missing = self._held(j, group, groups)
            return held, held, missing
        units, own_tuples = self._whose
        lacking = np.where(self.domain.tuples[own_tuples, j] >= self.scales[j].column.size, group[own_tuples], -1)
        return *passages.first_and_last(), units.people(lacking, groups)

    def _leaving(self, classes: Ints | Longs, count: int) -> Longs:
        """How many rows of each tuple cannot be published in these classes."""
        domain = self.domain
        if domain.units is None or self._whose is None:
            return np.where((np.bincount(classes, weights=domain.counts) < self.k)[classes], domain.counts, 0)
        if domain.units.known == 1:
            units, own_tuples = self._whose
            self.work += len(own_tuples)
            return domain.counts * (units.people(classes[own_tuples], count) < self.k)[classes]
        there, most = domain.tuple_of_row >= 0, self.problem.max_suppressed_rows
        self.work += WORK_OF_SORTING * len(there)
        groups = np.append(classes, -1)[domain.tuple_of_row]
        leaving = domain.units.leaving(groups, count, self.k, most) & there
        rows = None if domain.multiplicity is None else domain.multiplicity[leaving]
        return np.bincount(domain.tuple_of_row[leaving], rows, minlength=len(domain.counts)).astype(np.int64)

    def _published(self, classes: Ints | Longs, count: int) -> Floats:
        """How many rows of each class can be published."""
        counts = self.domain.counts
        if self.domain.units is not None:
            left = np.bincount(classes, weights=counts - self._leaving(classes, count), minlength=count)
            return np.asarray(left, np.float64)
        sizes = np.bincount(classes, weights=counts, minlength=count)
        return np.where(sizes < self.k, 0.0, sizes)

    def _loss(self) -> float:
        """The loss of the divisions and the price of their cuts; infinite if too many rows would have to go."""
        domain = self.domain
        classes, first, _ = self._numbered(range(domain.width))
        published = self._published(classes, len(first))
        suppressed = domain.rows - int(published.sum())
        if suppressed > self.problem.max_suppressed_rows + domain.excluded_rows:
            return float("inf")
        cuts = (self.weights[j] * self._price(j)[self.divisions[j]].sum() for j in self.scales)
        loss = float(sum(cuts))
        for j in range(domain.width):
            least = domain.rows / domain.hierarchies[j].size
            shares = self.shares[j][self.cells[j][domain.tuples[first, j]]]
            held = float((published * shares).sum()) + suppressed
            loss += float(self.weights[j]) * (held - least) / max(domain.rows - least, 1e-9)
        return max(0.0, loss)  # where nothing is lost, sums of shares may be rounded to less than nothing


def _quantiles(scale: Scale, parts: int) -> Longs:
    """Cuts into about so many parts of about equal numbers of rows."""
    if parts < 2 or not len(scale.rank):
        return np.zeros(0, np.int64)
    least = 3 * scale.column.rows // (4 * parts)
    cuts = divide(scale.rows, scale.values, np.zeros(len(scale.rank)), least=least, allowed=scale.readable)
    return np.zeros(0, np.int64) if cuts is None else cuts
