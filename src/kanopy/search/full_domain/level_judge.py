"""A faster judge for the commonest case: class sizes decide, or rule out most candidates, and keys fit one word.

It gives the same answers as `Problem.evaluate`; a test compares the two.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from kanopy._arrays import Longs
from kanopy.metrics.full_domain import ClassMetric
from kanopy.search.full_domain.counting_kernel import Arena, judge
from kanopy.search.judge import LevelJudgement
from kanopy.search.lattice import Levels
from kanopy.search.problem import Problem
from kanopy.search.rollup_kernel import slots_for

LARGEST_ARENA = 64_000_000
Memory = tuple[Longs, Longs]
"""Keys and sizes of classes, one table after the other."""


def memory_for(classes: int, most: int = LARGEST_ARENA) -> Memory:
    """Room for the tables of a problem with so many classes at its lowest levels; `most` beside the first table."""
    capacity = min(most, 64 * classes) + classes
    return np.empty(capacity, np.int64), np.empty(capacity, np.int64)


class LevelJudge:
    """Keeps class tables in one arena and judges a candidate in one compiled call.

    `memory` is used if it is given: room for as many classes as `memory_for` would make, or fewer.
    """

    def __init__(self, problem: Problem, memory: Memory | None = None) -> None:
        self.problem = problem
        tables = problem.tables
        packing, base = tables.packing, tables.base
        lattice = problem.lattice
        width = len(lattice.shape)
        self._most = base.count
        keys, sizes = memory or memory_for(base.count)
        self._capacity = min(len(keys), 65 * base.count)
        self._number: dict[Levels, int] = {lattice.lowest: 0}
        self._tail = base.count
        top = max(lattice.highest) + 1
        deltas_start = np.full((width * top, top), -1, np.int64)
        for (j, a, b), begin in packing.starts.items():
            deltas_start[j * top + a, b] = begin
        self._arena = Arena(
            keys, sizes, np.zeros((2, 64), np.int64), np.zeros((64, width), np.int32),
            packing.shift, packing.mask, packing.deltas, deltas_start,
            slots_for(base.count), *problem._extra, np.zeros(width, np.int32), np.zeros(width, np.int64),
            np.empty(width), np.empty(6, np.int64),
        )  # fmt: skip
        self._arena.keys[: base.count] = base.keys[0]
        self._arena.sizes[: base.count] = base.sizes
        self._arena.tables[0, 0] = base.count
        self._arena.levels[0] = lattice.lowest
        self._wants_sums = not isinstance(problem.metric, ClassMetric)

    def evaluate(self, levels: Levels, /, ceiling: float = math.inf) -> LevelJudgement:
        """Judge one candidate; see `Problem.evaluate`."""
        problem = self.problem
        problem.judged += 1
        anchor = problem.tables.anchor(levels)
        if anchor not in self._number and anchor != levels:
            self._run(anchor)
        self._run(levels)
        kept, suppressed, squares, classes, all_squares, _ = self._arena.counts.tolist()
        feasible = suppressed <= problem.max_suppressed_rows
        score = problem.score(levels, kept, suppressed, squares, self._arena.sums) if feasible else math.inf
        by_sizes = LevelJudgement(
            feasible=feasible, score=score, suppressed_rows=suppressed, levels=levels, classes=kept,
            all_classes=classes, all_squares=all_squares, least_suppressed=suppressed,
        )  # fmt: skip
        # For models beyond class sizes: histograms only of candidates that could still win.
        return by_sizes if problem.of_sizes else problem.judge_fully(levels, by_sizes, ceiling)

    def _run(self, levels: Levels) -> None:
        problem = self.problem
        known = len(self._number)
        if self._tail + self._most > self._capacity:
            self._forget()
            known = len(self._number)
        limit = problem.max_suppressed_rows if self._wants_sums else -1
        self._arena.wanted[:] = levels
        judge(self._arena, known, self._tail, problem.k, limit)
        problem.tables.looked_at += int(self._arena.counts[5])
        if levels not in self._number:
            self._remember(levels, int(self._arena.counts[3]))

    def _remember(self, levels: Levels, classes: int) -> None:
        number = len(self._number)
        arena = self._arena
        if number == len(arena.levels):
            self._arena = arena = replace(
                arena,
                tables=np.concatenate([arena.tables, np.zeros_like(arena.tables)], axis=1),
                levels=np.concatenate([arena.levels, np.zeros_like(arena.levels)]),
            )
        arena.tables[:, number] = classes, self._tail
        arena.levels[number] = levels
        self._number[levels] = number
        self._tail += classes

    def _forget(self) -> None:
        """The arena is full: start again from the base table."""
        self._number = {self.problem.lattice.lowest: 0}
        self._tail = int(self._arena.tables[0, 0])


def judge_of(problem: Problem, memory: Memory | None = None) -> LevelJudge | Problem:
    """The fastest judge for a problem; both give the same answers."""
    return problem if problem.tables.packing.words > 1 else LevelJudge(problem, memory)
