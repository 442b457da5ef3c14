"""The judge of one cut per column: its classes, the rows it must suppress, and its score."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from kanopy._arrays import Floats, Ints, Longs
from kanopy._compiler import for_size
from kanopy._core.histograms import summed
from kanopy._core.numbering import LARGEST_KEY
from kanopy.search.judge import ClassJudge, Judgement
from kanopy.search.subtree.cut_classes_kernel import classes_of_cut, lost_by_suppression
from kanopy.search.subtree.forest import Forest

Open = npt.NDArray[np.bool_]
"""Per node of a forest, whether the cut runs below it. Only nodes with children whose ancestors are open can be."""


class CutJudge:
    """Judges cuts, given as the nodes that are open."""

    def __init__(self, forest: Forest) -> None:
        self.forest, self.problem = forest, forest.problem
        self.judged = 0
        records = forest.records
        self._judge = None if self.problem.of_sizes else ClassJudge(self.problem, forest.record_of_tuple)
        self._slots = np.zeros((1 << (2 * records).bit_length(), 2), np.int64)
        self._number = np.zeros(records, np.int32)
        self._sizes = np.zeros(records, np.int64)
        self._label_start = np.concatenate([[0], np.cumsum(forest.labels)])
        self._label = forest.label + self._label_start[forest.column]
        self._by_depth = [np.flatnonzero(forest.depth == d) for d in range(1, int(forest.depth.max()) + 1)]
        self._own = np.arange(forest.nodes, dtype=np.int32)
        self._group, self._lost = for_size(classes_of_cut, records), for_size(lost_by_suppression, records)

    def closed_under(self, wanted: Open) -> Open:
        """The wanted nodes that can be open: they have children, and every node above them is open as well."""
        forest = self.forest
        opened: Open = wanted & (forest.children > 0)
        for nodes in self._by_depth:
            opened[nodes] &= opened[forest.parent[nodes]]
        return opened

    def level_cut(self, levels: tuple[int, ...]) -> Open:
        """The cut of a full-domain candidate."""
        forest, lowest = self.forest, self.problem.lattice.lowest
        opened: Open = np.zeros(forest.nodes, np.bool_)
        for j, level in enumerate(levels):
            above = forest.parent[forest.levels[j][level - lowest[j]]]
            while (above := above[above >= 0]).size:
                opened[above] = True
                above = forest.parent[above]
        return opened

    def cut_nodes(self, opened: Open) -> Ints:
        """Per node the one that is published for it: itself, or the closed node above it."""
        forest = self.forest
        at = self._own.copy()
        for nodes in self._by_depth:
            up = forest.parent[nodes]
            at[nodes] = np.where(opened[up], nodes, at[up])
        return at

    def evaluate(self, opened: Open, /, ceiling: float = math.inf) -> Judgement:
        """Judge a cut."""
        self.judged += 1
        forest, problem = self.forest, self.problem
        at = self.cut_nodes(opened)
        number, sizes = self._classes(at)
        unsafe = sizes < problem.k
        suppressed_rows = int(sizes[unsafe].sum())
        if self._judge is not None and suppressed_rows <= problem.max_suppressed_rows:
            unsafe = self._judge.unsafe(number, len(sizes))
            suppressed_rows = int(sizes[unsafe].sum())
        if suppressed_rows > problem.max_suppressed_rows:
            return Judgement(feasible=False, score=math.inf, suppressed_rows=suppressed_rows)
        used = (at == self._own) & ~opened
        retained: Floats = np.bincount(
            forest.column[used], weights=forest.rows[used] * forest.keep[used], minlength=len(forest.labels)
        ).astype(np.float64)
        if suppressed_rows:
            lost = np.empty(len(retained))
            self._lost(forest.leaves, number, forest.counts, unsafe, forest.keep[at], lost)
            retained = retained - lost
        safe = sizes[~unsafe]
        score = forest.score(retained, len(safe), suppressed_rows, int(np.dot(safe, safe)))
        return Judgement(feasible=True, score=score, suppressed_rows=suppressed_rows)

    def _classes(self, at: Ints) -> tuple[Ints, Longs]:
        """The class of every record (equal labels, equal class), and the rows of each class."""
        forest = self.forest
        there = np.zeros(len(self._label), np.bool_)
        there[self._label[at]] = True
        rank = np.cumsum(there) - 1
        before = np.concatenate([[0], rank + 1])[self._label_start]
        multiplier, whole = [], 1
        for labels in np.diff(before).tolist():
            multiplier.append(min(whole, LARGEST_KEY))
            whole *= labels
        if whole >= LARGEST_KEY:
            number, first, _ = forest.number(at[forest.leaves])
            return number, summed(forest.counts, number, len(first))
        digit = (rank[self._label[at]] - before[forest.column]) * np.array(multiplier)[forest.column]
        count = self._group(forest.leaves, digit, forest.counts, self._slots, self._number, self._sizes)
        return self._number, self._sizes[:count]

    def records_at(self, opened: Open) -> Ints:
        """`[record, column]`: the nodes that a cut publishes."""
        return self.cut_nodes(opened)[self.forest.leaves]
