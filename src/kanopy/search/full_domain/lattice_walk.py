"""Judge many candidates, each from its neighbour: for searches in which failures rule out nothing.

Where any number of rows may be suppressed and models are not monotonic, every candidate is feasible and only its
score counts. Then the cheapest order is an odometer: each class table, with its histograms, is rolled up from one a
level below. The attributes with most values turn slowest and from their highest level down, because what a general
candidate must suppress, every finer one must suppress too: that raises the bounds of those that follow.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from kanopy._arrays import Longs
from kanopy.metrics.full_domain import ClassMetric
from kanopy.search.class_tables import ClassTable, ClassTables
from kanopy.search.judge import LevelJudgement, ceiling_of
from kanopy.search.lattice import Levels
from kanopy.search.problem import Problem

BATCH = 16
"""Candidates whose classes are shown to the models together."""
REFRESH = 96
"""Judgements after which bounds are worked out anew."""
SLOWEST = 3
"""Attributes that go from their highest level down."""


@dataclass(eq=False)
class _Node:
    """A candidate on the way: its table is rolled up when somebody needs it, from the nearest finer one there is."""

    levels: Levels
    table: ClassTable | None = None
    parent: _Node | None = None
    earlier: _Node | None = None

    def made(self, tables: ClassTables) -> ClassTable:
        """The class table."""
        if self.table is None:
            source = self.earlier
            while source is not None and source.table is None:
                source = source.earlier
            source = source or self.parent
            assert source is not None, "the first node has its table"
            self.table = tables.rolled(source.made(tables), source.levels, self.levels)
        return self.table


class Walk:
    """Judges every candidate that could still win. `best` is the winner when `run` is through."""

    def __init__(self, problem: Problem, least_suppressed: Longs) -> None:
        """`least_suppressed` are rows that each candidate must suppress, as far as known without looking at it."""
        self.problem = problem
        self.best: LevelJudgement | None = None
        self._least = least_suppressed.copy()
        # Without suppression bounds only grow with the levels, so that whole branches can be left out.
        self._rising = problem.lower_bounds().reshape(-1)
        self._bounds = problem.lower_bounds(self._least).reshape(-1)
        self._bounding = not isinstance(problem.metric, ClassMetric)
        self._news = 0
        self._open = np.ones(self._bounds.size, np.bool_)
        lattice = problem.lattice
        self._strides = np.cumprod([1, *lattice.shape[:0:-1]])[::-1].tolist()
        self._order = problem.full_tables.order
        self._pending: list[tuple[Levels, ClassTable]] = []
        self._numbers: list[int] = []
        self._ceiling = np.inf

    def floor(self) -> float:
        """What no candidate that was not judged can go below."""
        return float(self._bounds[self._open].min(initial=np.inf))

    def run(self, visit: Callable[[], None] = lambda: None) -> LevelJudgement | None:
        """Walk; `visit` is called after every batch."""
        self._visit = visit
        lattice = self.problem.lattice
        self._descend(0, 0, _Node(lattice.lowest, self.problem.full_tables.base))
        self._judge()
        return self.best

    def _descend(self, depth: int, number: int, node: _Node) -> None:
        """All candidates with the levels of `node` in the attributes up to `depth`; `number` is its flat number."""
        lattice = self.problem.lattice
        j = self._order[depth]
        low = lattice.lowest[j]
        steps = range(lattice.shape[j])
        nodes = [node]
        for x in steps[1:]:
            levels = (*node.levels[:j], low + x, *node.levels[j + 1 :])
            nodes.append(_Node(levels, parent=node, earlier=nodes[-1]))
        for x in reversed(steps) if depth < SLOWEST else steps:
            here = number + x * self._strides[j]
            if self._rising[here] > self._ceiling:
                if depth < SLOWEST:
                    continue
                return
            if depth + 1 < len(self._order):
                self._descend(depth + 1, here, nodes[x])
            elif self._bounds[here] <= self._ceiling:
                self._pending.append((nodes[x].levels, nodes[x].made(self.problem.full_tables)))
                self._numbers.append(here)
                if len(self._pending) >= BATCH:
                    self._judge()

    def _judge(self) -> None:
        problem = self.problem
        problem.judged += len(self._pending)
        self._open[self._numbers] = False
        verdicts = problem.verdicts(self._pending, bound=self._bounding)
        for (levels, table), verdict in zip(self._pending, verdicts, strict=True):
            judgement = problem.judge_table(levels, table, verdict)
            if judgement.feasible and judgement.better_than(self.best):
                self.best = judgement
                self._ceiling = ceiling_of(judgement)
        if self._bounding and verdicts:
            least_so_far = self._least.reshape(-1)
            least = [verdict.least_suppressed or 0 for verdict in verdicts]
            least_so_far[self._numbers] = np.maximum(least_so_far[self._numbers], least)
            self._news += len(verdicts)
            if self._news >= REFRESH:
                self._refresh()
        self._pending.clear()
        self._numbers.clear()
        self._visit()

    def _refresh(self) -> None:
        """What a candidate must suppress, every finer one must suppress too; that raises bounds."""
        for axis in range(self._least.ndim):
            reverse = np.flip(self._least, axis)
            np.maximum.accumulate(reverse, axis=axis, out=reverse)
        self._bounds = self.problem.lower_bounds(self._least).reshape(-1)
        self._news = 0
