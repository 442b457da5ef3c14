"""A faster judge for the commonest case: class sizes decide, or rule out most candidates, and keys fit one word.

It gives the same answers as `Problem.evaluate`; a test compares the two. Branch and bound chooses and judges one
candidate after the other in compiled code, where threads do not wait for each other.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from kanopy._arrays import Floats, IntRows, Ints, LongRows, Longs, ShortRows
from kanopy.metrics.full_domain import ClassMetric
from kanopy.search.budget import Budget
from kanopy.search.class_tables import WORD_BITS, Memory, memory_for
from kanopy.search.full_domain.counting_kernel import FAILED, JUDGED, Arena, Branch, judge, next_feasible, pick
from kanopy.search.judge import LevelJudgement, ceiling_of
from kanopy.search.lattice import Levels
from kanopy.search.problem import Problem

SECONDS_PER_PICK, SECONDS_PER_ROLLED, SECONDS_PER_PENDING = 3e-6, 8e-9, 2e-9
"""What branch and bound takes for a candidate, for a class it is rolled up from, and for each that is open then."""
MOST_TABLES = 1024
"""Tables that branch and bound keeps."""


class LevelJudge:
    """Keeps class tables in one arena and judges a candidate in one compiled call.

    `memory` is used if it is given: room for as many classes as `memory_for` would make, or fewer. `most_tables` is how
    many are expected.
    """

    def __init__(self, problem: Problem, memory: Memory | None = None, most_tables: int = 64) -> None:
        self.problem = problem
        tables = problem.tables
        packing, base = tables.packing, tables.base
        lattice = problem.lattice
        width = len(lattice.shape)
        keys, sizes, slots = memory or memory_for(base.count)
        self._capacity = min(len(keys), 65 * base.count)
        self._number: dict[Levels, int] = {lattice.lowest: 0}
        self._tail = base.count
        top = max(lattice.highest) + 1
        deltas_start = np.full((width * top, top), -1, np.int64)
        for (j, a, b), begin in packing.starts.items():
            deltas_start[j * top + a, b] = begin
        self._free = [j for j, levels in enumerate(lattice.shape) if levels > 1]
        self.arena = Arena(
            keys[: self._capacity], sizes[: self._capacity], np.zeros((2, most_tables), np.int64),
            np.zeros((most_tables, len(self._free)), np.int32), np.array(self._free, np.int64),
            packing.shift, packing.mask, packing.deltas, deltas_start, slots, *problem._extra,
            np.array(lattice.lowest, np.int32), np.zeros(len(self._free), np.int32), np.zeros(width, np.int64),
            np.empty(width), np.empty(6, np.int64),
        )  # fmt: skip
        if not np.may_share_memory(keys, base.keys):
            self.arena.keys[: base.count], self.arena.sizes[: base.count] = base.keys[0], base.sizes
        self.arena.tables[0, 0] = base.count
        self.arena.levels[0] = [lattice.lowest[j] for j in self._free]
        self.sums_limit = -1 if isinstance(problem.metric, ClassMetric) else problem.max_suppressed_rows

    def evaluate(self, levels: Levels, /, ceiling: float = math.inf) -> LevelJudgement:
        """Judge one candidate; see `Problem.evaluate`."""
        anchor = self.problem.tables.anchor(levels)
        if anchor not in self._number and anchor != levels:
            self._run(anchor)
        self._run(levels)
        return self.judgement(levels, ceiling)

    def judgement(self, levels: Levels, ceiling: float = math.inf) -> LevelJudgement:
        """What is to be said of the candidate whose classes were counted last."""
        problem = self.problem
        problem.judged += 1
        published, suppressed, squares, classes, all_squares, _ = self.arena.counts.tolist()
        feasible = suppressed <= problem.max_suppressed_rows
        score = problem.score(levels, published, suppressed, squares, self.arena.sums) if feasible else math.inf
        by_sizes = LevelJudgement(
            feasible=feasible, score=score, suppressed_rows=suppressed, levels=levels, classes=published,
            all_classes=classes, all_squares=all_squares, least_suppressed=suppressed,
        )  # fmt: skip
        # For models beyond class sizes: histograms only of candidates that could still win.
        return by_sizes if problem.of_sizes else problem.judge_fully(levels, by_sizes, ceiling)

    def _run(self, levels: Levels) -> None:
        problem = self.problem
        size_before = len(self._number)
        if self._tail + self.arena.tables[0, 0] > self._capacity:
            self._forget()
            size_before = len(self._number)
        self.arena.wanted[:] = levels
        judge(self.arena, size_before, self._tail, problem.k, self.sums_limit)
        problem.tables.looked_at += int(self.arena.counts[5])
        if levels not in self._number:
            self._remember(levels, int(self.arena.counts[3]))

    def _remember(self, levels: Levels, classes: int) -> None:
        number = len(self._number)
        arena = self.arena
        if number == len(arena.levels):
            self.arena = arena = replace(
                arena,
                tables=np.concatenate([arena.tables, np.zeros_like(arena.tables)], axis=1),
                levels=np.concatenate([arena.levels, np.zeros_like(arena.levels)]),
            )
        arena.tables[:, number] = classes, self._tail
        arena.levels[number] = arena.place
        self._number[levels] = number
        self._tail += classes

    def _forget(self) -> None:
        """The arena is full: start again from the base table."""
        self._number = {self.problem.lattice.lowest: 0}
        self._tail = int(self.arena.tables[0, 0])


def judge_of(problem: Problem, memory: Memory | None = None) -> LevelJudge | Problem:
    """The fastest judge for a problem; both give the same answers."""
    return problem if problem.tables.packing.words > 1 else LevelJudge(problem, memory)


class BranchAndBound:
    """Finds the best of some candidates of a problem, given by their levels in ascending order of their bounds.

    One that is feasible rules out what costs more, one that is not rules out what is finer.
    """

    def __init__(self, problem: Problem, levels: IntRows, bounds: Floats, memory: Memory) -> None:
        """`levels` are those of the columns that have more than one."""
        self.problem = problem
        self._free = [j for j, length in enumerate(problem.lattice.shape) if length > 1]
        anchored = set(problem.tables.anchored)
        count = len(bounds)
        self._branch = Branch(
            levels, bounds, np.array([j in anchored for j in self._free], np.int32), np.arange(count, dtype=np.int32),
            np.empty(count, np.int32), np.empty(count, np.int32),
            np.array([count, 0, 1, problem.tables.base.count, 0, 0], np.int64), np.zeros(1),
        )  # fmt: skip
        self._one_word = problem.tables.packing.words == 1
        self._judge = LevelJudge(problem, memory, min(2 * count + 1, MOST_TABLES)) if self._one_word else None

    def run(self, work: Budget, ceiling: float) -> Iterator[LevelJudgement]:
        """Judgements of those that class sizes do not rule out, until the work is over."""
        problem, branch = self.problem, self._branch
        levels = list(problem.lattice.lowest)
        failed = -1
        while not work.over:
            before = problem.work_seconds
            if self._judge is not None:
                branch.spent[0] = 0.0
                number = next_feasible(
                    self._judge.arena, branch, problem.k, self._judge.sums_limit, problem.max_suppressed_rows, ceiling,
                    failed, work.left, SECONDS_PER_PICK, SECONDS_PER_ROLLED, SECONDS_PER_PENDING,
                )  # fmt: skip
                work.spend(float(branch.spent[0]))
            else:
                number = pick(branch, ceiling, failed)
            if number < 0:
                return
            for j, level in zip(self._free, branch.levels[number].tolist(), strict=True):
                levels[j] = level
            if self._judge is None:
                judgement = problem.evaluate(tuple(levels))
            else:
                judgement = self._judge.judgement(tuple(levels))
            work.spend(problem.work_seconds - before)
            yield judgement
            failed = -1
            if judgement.feasible:
                ceiling = min(ceiling, ceiling_of(judgement))
            elif judgement.least_suppressed > problem.max_suppressed_rows:
                failed = number

    @property
    def judged(self) -> Ints:
        """The numbers of those that were judged."""
        return self._branch.judged[: self._branch.state[JUDGED]]

    @property
    def failed(self) -> Ints:
        """The numbers of those that failed, and rule out what is finer; not those that are finer than another."""
        return self._branch.failed[: self._branch.state[FAILED]]


class Rows:
    """Level combinations, more and more of them, each with a score; also packed (see `Between`)."""

    def __init__(self, highest: Levels) -> None:
        self.highest, self.count = highest, 0
        self.word, self.shift = np.zeros(len(highest), np.int64), np.zeros(len(highest), np.int64)
        guard, used = [0], 0
        for j, bits in enumerate(high.bit_length() + 1 for high in highest):
            if used + bits > WORD_BITS:
                guard, used = [*guard, 0], 0
            self.word[j], self.shift[j] = len(guard) - 1, used
            used += bits
            guard[-1] |= 1 << (used - 1)
        self.guard: Longs = np.array(guard, np.int64)
        self.levels: ShortRows = np.empty((1024, len(highest)), np.int16)
        self.words: LongRows = np.empty((1024, len(guard)), np.int64)
        self.scores: Floats = np.empty(1024)

    def add(self, levels: Sequence[Levels] | ShortRows, score: float = math.inf) -> None:
        """Add some with the same score."""
        begin, self.count = self.count, self.count + len(levels)
        if self.count > len(self.levels):
            for name in ("levels", "words", "scores"):
                old = getattr(self, name)
                setattr(self, name, np.concatenate([old, np.empty((self.count, *old.shape[1:]), old.dtype)]))
        self.levels[begin : self.count], self.scores[begin : self.count] = levels, score
        shifted = self.levels[begin : self.count].astype(np.int64) << self.shift
        for word in range(len(self.guard)):
            self.words[begin : self.count, word] = shifted[:, self.word == word].sum(axis=1)
