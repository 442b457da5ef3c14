"""Too many candidates to prove anything: start from both ends, then solve a few columns at a time exactly.

With twenty or thirty columns there are more candidates than atoms in a drop; but with all columns fixed save five to
ten there are a few thousand, and branch and bound finds the best of them at once, since whatever failed before rules
out all that is finer. So columns are reopened, a few at a time (a large neighbourhood search: Shaw 1998), until no few
of them can be improved together; then one is forced to another level and the others follow.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property, partial

import numpy as np

from kanopy._arrays import Floats, IntRows, ShortRows
from kanopy._errors import Cancelled
from kanopy._progress import Progress
from kanopy.metrics.full_domain import AttributeMetric
from kanopy.privacy.models import KAnonymity
from kanopy.search.budget import Budget, Spare, in_order, none_below, so_far
from kanopy.search.class_tables import Memory, memory_for
from kanopy.search.full_domain.counting_kernel import Between, list_open
from kanopy.search.full_domain.level_judge import BranchAndBound, Rows
from kanopy.search.judge import LevelJudgement, best_of, ceiling_of
from kanopy.search.lattice import Levels
from kanopy.search.no_solution import no_solution
from kanopy.search.partition_solution import release_levels
from kanopy.search.problem import Problem
from kanopy.search.solution import Solution

MOST_OPEN, MOST_UNBOUNDED, MOST_COLUMNS = 3_000, 600, 10
"""Candidates that are looked at together, where levels bound their loss and where they do not; and columns."""
NEAR = 0.5
"""How often columns are only reopened to the levels next to theirs, so that more of them are."""
OPENING_SECONDS, OPENING_SECONDS_PER_TUPLE = 7e-4, 1.1e-8
"""Seconds of an ordinary machine for laying out the table with some columns fixed, and for a word of a tuple of it."""
CHOOSING_SECONDS, LISTING_SECONDS, LISTING_SECONDS_EACH = 5e-5, 1e-4, 5e-9
"""Seconds of an ordinary machine for choosing columns, for listing candidates, and for one that is listed or known."""
MOST_EXHAUSTED = 20_000
"""Reopenings with nothing left to be judged that are remembered."""
STALE = 0.5
"""Reopenings per column without a better release after which a column is forced to another level."""
AFTER_FORCE = 0.2
"""Reopenings per column that a forced release has to become the best; otherwise the best is gone back to."""
TRADES = 0.75
"""How often columns are forced a level down and others a level up for it, or the other way round."""
IDLE = 300
"""Reopenings without a candidate that is new after which the search ends: it has seen what there is."""
AHEAD, LARGE_TUPLES = 5, 50_000
"""In tables with at least so many distinct tuples columns are reopened before the answers of the last so many
reopenings are known, so that threads have something to do."""
MOST_CLASSES = 16_000_000
"""Classes of candidates of a reopening that are kept in memory."""
BOUND_CANDIDATES = 3_000
"""Candidates over some of the columns whose optimum is proved, for the floor."""


Open = tuple[int, int, int]
"""A column, and the lowest and the highest level it may take."""
Prove = Callable[[Problem, Budget, Memory], float]
"""What no candidate of a problem can go below, as far as the work suffices to prove it, with room for its tables."""


@dataclass
class Reopening:
    """Columns reopened, all others as in `start`: what it may look at and spend, and what it finds.

    `levels` are those of the open columns, in ascending order of `bounds`, of all candidates that may be better.
    """

    start: LevelJudgement
    opened: list[Open]
    work: Budget
    answer: LevelJudgement | None = None
    levels: IntRows = field(default_factory=lambda: np.empty((0, 0), np.int32))
    bounds: Floats = field(default_factory=lambda: np.empty(0))
    found: list[LevelJudgement] = field(default_factory=list)
    judged: IntRows = field(default_factory=lambda: np.empty((0, 0), np.int32))
    failed: IntRows = field(default_factory=lambda: np.empty((0, 0), np.int32))

    @property
    def forced(self) -> bool:
        """Whether a column was forced to another level."""
        return not self.start.feasible

    @property
    def ceiling(self) -> float:
        """What bounds a candidate that may be better does not exceed."""
        return min(ceiling_of(None if self.forced else self.start), ceiling_of(self.answer))


@dataclass
class Proof:
    """Columns whose optimum by themselves is to be proved, what that may spend, and what it adds to the floor."""

    columns: list[int]
    work: Budget
    floor: float = 0.0


def best_effort(
    problem: Problem, progress: Progress, algorithm: str, budget_seconds: float, prove: Prove, threads: int = 1,
    seed: int = 0,
) -> Solution:  # fmt: skip
    """The best full-domain release found with so much work; not proved optimal, and it says so.

    What is done does not depend on how much is still to be done: more work is never worse. `floor` of the answer is
    what no release can go below: the optima of some columns by themselves, added up.
    """
    search = ManyColumns(problem, progress, Budget(budget_seconds), prove, threads, seed)
    spent = f"with the work of {budget_seconds:g} seconds"
    try:
        best = search.run()
    except (Cancelled, KeyboardInterrupt):
        if search.best is None:
            raise
        best, spent = search.best, "before it was stopped"
    note = (
        f"{problem.lattice.size:,} candidates are too many to prove an optimum; this is the best of "
        f"{len(search.seen):,} judged {spent}."
    )
    note += none_below(search.floor)
    return release_levels(algorithm, problem, best, judged=len(search.seen), floor=search.floor, notes=[note])


class ManyColumns:
    """A search over level combinations that never judges a candidate twice."""

    def __init__(
        self, problem: Problem, progress: Progress, work: Budget, prove: Prove, threads: int = 1, seed: int = 0
    ) -> None:
        self.problem, self.lattice, self.work = problem, problem.lattice, work
        self.progress, self.prove, self.threads = progress, prove, threads
        # How many reopenings are under way at once depends on the table alone: so does the release.
        self.large = len(problem.domain.counts) >= LARGE_TUPLES
        self.memory = Spare(lambda: memory_for(len(problem.domain.counts), MOST_CLASSES))
        self.known: dict[Levels, LevelJudgement] = {}
        """What was judged, save what failed when columns were reopened."""
        self.best: LevelJudgement | None = None
        self.random = np.random.default_rng(seed)
        self.floor, self.cut = 0.0, False
        self.seen: set[bytes] = set()
        """The levels of all that were judged."""
        # Candidates of which too many rows must go, however they are refined: what is finer need not be looked at.
        self._failed = Rows(self.lattice.highest)
        self._exhausted: dict[tuple[object, ...], LevelJudgement | None] = {}
        self._others, self._answers = Rows(self.lattice.highest), list[LevelJudgement]()
        self.most_open = MOST_OPEN if isinstance(problem.metric, AttributeMetric) else MOST_UNBOUNDED
        # Columns with one level have nothing to choose.
        self.columns = [j for j, levels in enumerate(self.lattice.shape) if levels > 1]

    @cached_property
    def _between(self) -> Between:
        """Room for listing what may be looked at."""
        problem, metric, highest = self.problem, self.problem.metric, self.lattice.highest
        terms = np.zeros((len(highest), max(highest) + 1))
        if isinstance(metric, AttributeMetric):
            # What a level of a column adds to the bound of a candidate: its loss without any suppression.
            for j, cost in enumerate(problem.costs):
                losses = cost.loss(cost.totals[: terms.shape[1]])
                alone = metric.combine([losses if i == j else np.zeros(()) for i in range(len(terms))], problem.weights)
                terms[j, : len(losses)] = np.log1p(alone) if metric.mean == "geometric" else alone
        rows, size = self._failed, max(self.most_open, *self.lattice.shape)
        lowest, most, opened = np.zeros((3, len(highest)), np.int64)
        return Between(
            lowest, most, opened, rows.word, rows.shift, rows.guard, np.empty((2, len(rows.guard)), np.int64), terms,
            np.empty(size, np.uint8), np.empty(size),
        )  # fmt: skip

    def run(self) -> LevelJudgement:
        """Search until the work is over or nothing new turns up."""
        top = self.judge(self.lattice.highest)
        while not self.problem.monotonic and self.best is None and not self.over():
            # Where models are not monotonic the top need not be the likeliest: look around before giving up.
            self.judge(self.anywhere())
        if self.best is None:
            raise no_solution(self.problem)
        if not self.large:
            # Tables of all columns take long where there are many tuples; those of a few reopened ones do not.
            self.down(top if top.feasible else self.best)
            self.up()
        self.improve()
        return self.best

    def over(self) -> bool:
        """Tell where the search is; whether its work is over, or everything is judged."""
        self.notify()
        return self.work.over or self.cut or len(self.seen) >= self.lattice.size

    def notify(self) -> None:
        """Tell where the search is."""
        if self.progress.active:
            note = f"{len(self.seen):,} judged"
            if self.best is not None:
                note += ", " + so_far(self.problem.metric.name, self.best.score, self.floor)
            self.progress("searching", self.work.done, note)

    def judge(self, levels: Levels) -> LevelJudgement:
        """Judge a candidate, unless it is known."""
        if levels in self.known:
            return self.known[levels]
        before = self.problem.work_seconds
        judgement = self.problem.evaluate(levels)
        self.seen.add(np.array(levels, np.int16).tobytes())
        self.work.spend(self.problem.work_seconds - before)
        self.keep(judgement)
        return judgement

    def keep(self, level_judgement: LevelJudgement) -> None:
        """Remember the best, what is known, and what rules out all that is finer."""
        if level_judgement.levels in self.known:
            return
        self.known[level_judgement.levels] = level_judgement
        if not level_judgement.feasible and level_judgement.least_suppressed > self.problem.max_suppressed_rows:
            self._failed.add([level_judgement.levels])
            return
        self._others.add([level_judgement.levels], level_judgement.score if level_judgement.feasible else math.inf)
        self._answers.append(level_judgement)
        if level_judgement.feasible and level_judgement.better_than(self.best):
            self.best = level_judgement

    def anywhere(self) -> Levels:
        """A candidate drawn at random."""
        pairs = zip(self.lattice.lowest, self.lattice.highest, strict=True)
        return tuple(int(self.random.integers(low, high + 1)) for low, high in pairs)

    # ---- two starts ---------------------------------------------------------------------------------------

    def down(self, current: LevelJudgement) -> None:
        """From the top: lower the column that gains most, while the release stays feasible."""
        lowest = self.lattice.lowest
        while not self.over():
            levels = current.levels
            # Everything a level below is rolled up from one table, which lies a level below in all columns.
            self.prepare(tuple(max(low, level - 1) for low, level in zip(lowest, levels, strict=True)))
            lowered = current
            for j in self.columns:
                if levels[j] > lowest[j] and not self.work.over:
                    lower = self.judge((*levels[:j], levels[j] - 1, *levels[j + 1 :]))
                    if lower.feasible and lower.better_than(lowered):
                        lowered = lower
            if lowered is current:
                return
            current = lowered

    def up(self) -> None:
        """From the bottom: raise the column that keeps most rows for what it costs, until the release is feasible."""
        current = self.judge(self.lattice.lowest)
        while not current.feasible and not self.over():
            levels = current.levels
            price = self.price(levels)
            rated: list[tuple[float, LevelJudgement]] = []
            for j in self.columns:
                if levels[j] < self.lattice.highest[j] and not self.work.over:
                    higher = (*levels[:j], levels[j] + 1, *levels[j + 1 :])
                    raised = self.judge(higher)
                    saved = current.suppressed_rows - raised.suppressed_rows
                    rated.append((saved / (1e-9 + max(0.0, self.price(higher) - price)), raised))
            if not rated:
                return
            current = max(rated, key=lambda rating: rating[0])[1]

    def prepare(self, levels: Levels) -> None:
        """Have a class table at hand from which many candidates can be rolled up."""
        before = self.problem.work_seconds
        self.problem.tables.table(levels)
        self.work.spend(self.problem.work_seconds - before)

    def price(self, levels: Levels) -> float:
        """What levels lose without any suppression."""
        pairs = zip(self.problem.costs, levels, self.problem.weights, strict=True)
        return float(sum(weight * float(cost.loss(cost.totals[level])) for cost, level, weight in pairs))

    # ---- a few columns at a time --------------------------------------------------------------------------

    def improve(self) -> None:
        """Reopen columns of the best release; where that has led nowhere for long, of one with a column forced."""
        if not self.columns:
            return
        assert self.best is not None
        current, stale, idle = self.best, 0, 0
        patience = max(6, math.ceil(STALE * len(self.columns)))
        after = max(4, math.ceil(AFTER_FORCE * len(self.columns)))

        def settle(task: Reopening | Proof) -> None:
            nonlocal current, stale, idle
            if isinstance(task, Proof):
                self.raise_floor(task)
                return
            best, new = self.best, self.take(task)
            if task.forced:
                # Where another one was forced meanwhile, the better of the two is gone on with.
                going_on = stale < patience and task.answer is not None and not task.answer.better_than(current)
                if not going_on:
                    current, stale = task.answer or self.best or current, patience - after
            elif task.answer is not None and task.answer.better_than(current):
                current, stale = task.answer, 0
            else:
                stale += 1
            if best is not None and self.best is best and current is not best and stale >= patience:
                current = best
            idle = 0 if new else idle + 1

        def tasks() -> Iterator[Callable[[], Reopening | Proof]]:
            bounded = False
            while not self.over() and idle < IDLE:
                if stale >= patience and not bounded:
                    bounded = True
                    yield from (partial(self.proved, proof) for proof in self.proofs())
                task = self.reopening(current) if stale < patience else self.forcing()
                if len(task.levels):
                    yield partial(self.solve, task)
                else:
                    settle(task)

        for finished in in_order(tasks(), self.threads, self.notify, AHEAD if self.large else 0):
            settle(finished)

    def chosen(self, at: Levels, without: int = -1) -> list[Open]:
        """A few columns at random, never all of them, with all their levels or those next to where they are."""
        order = [j for i in self.random.permutation(len(self.columns)).tolist() if (j := self.columns[i]) != without]
        near = self.random.random() < NEAR
        open_columns: list[Open] = []
        size = 1
        for j in order[: max(1, len(self.columns) - 1)]:
            low, high = self.lattice.lowest[j], self.lattice.highest[j]
            if near:
                low, high = max(low, at[j] - 1), min(high, at[j] + 1)
            if len(open_columns) < MOST_COLUMNS and (not open_columns or size * (high - low + 1) <= self.most_open):
                open_columns.append((j, low, high))
                size *= high - low + 1
        return open_columns

    def share(self) -> Budget:
        """What a task may spend, so that all that are under way together do not spend more than is left."""
        return Budget(self.work.left / (1 + AHEAD if self.large else 1))

    def reopening(self, start: LevelJudgement, opened: list[Open] | None = None) -> Reopening:
        """Columns to be reopened, knowing what is known now."""
        task = Reopening(start, sorted(self.chosen(start.levels) if opened is None else opened), self.share())
        box = (start.levels, *task.opened)
        if box in self._exhausted:
            # Nothing was left to be judged: so it is now.
            task.answer = self._exhausted[box]
            task.work.spend(CHOOSING_SECONDS)
            return task
        self.list_open(task)
        if not len(task.levels) and len(self._exhausted) < MOST_EXHAUSTED:
            self._exhausted[box] = task.answer
        return task

    def list_open(self, task: Reopening) -> None:
        """List what a reopening may look at: not finer than what failed, not known, and better by its levels alone."""
        between, failed, others = self._between, self._failed, self._others
        between.lowest[:] = between.highest[:] = task.start.levels
        columns, shape = [j for j, _, _ in task.opened], [high - low + 1 for _, low, high in task.opened]
        between.opened[: len(columns)] = columns
        for j, low, high in task.opened:
            between.lowest[j], between.highest[j] = low, high
        size, hits = math.prod(shape), np.empty(others.count, np.int32)
        count = list_open(
            between, len(columns), size, failed.levels, failed.words, failed.count, others.levels, others.words, hits
        )
        task.work.spend(LISTING_SECONDS + LISTING_SECONDS_EACH * (size + failed.count + others.count))
        if count < 0:
            return
        possible, bounds = between.possible[:size], between.bounds[:size]
        task.answer = best_of(self._others.scores[hits[:count]], lambda i: self._answers[hits[i]])
        ceiling = task.ceiling
        if isinstance(self.problem.metric, AttributeMetric) and self.problem.metric.mean == "geometric":
            bounds = np.expm1(bounds)
        alive = np.flatnonzero((bounds <= ceiling) & (possible > 0))
        if len(alive):
            rows = np.stack(np.unravel_index(alive, shape), axis=1) + between.lowest[columns]
            order = np.lexsort((rows.sum(axis=1), bounds[alive]))
            task.levels, task.bounds = rows[order].astype(np.int32), bounds[alive[order]]

    def take(self, reopening: Reopening) -> bool:
        """Keep what a reopening has found; whether any of it is new."""
        self.work.spend(reopening.work.spent)
        # A search with more work would have gone on here: nothing else may be begun instead.
        self.cut |= reopening.work.over
        seen_before = len(self.seen)
        if len(reopening.judged):
            self.seen.update(
                self.whole(reopening, reopening.judged).view(f"V{2 * len(self.lattice.shape)}").reshape(-1).tolist()
            )
            self._failed.add(self.whole(reopening, reopening.failed))
        for judgement in reopening.found:
            self.keep(judgement)
        if reopening.answer is not None and not reopening.forced and not reopening.answer.better_than(reopening.start):
            reopening.answer = None
        return len(self.seen) > seen_before

    def raise_floor(self, proof: Proof) -> None:
        """Add what was proved of some columns. What is reopened does not depend on it: nothing is lost if it is cut."""
        self.work.spend(proof.work.spent)
        self.floor += proof.floor

    def whole(self, task: Reopening, levels: IntRows) -> ShortRows:
        """The levels of all columns."""
        rows = np.empty((len(levels), len(self.lattice.shape)), np.int16)
        rows[:] = task.start.levels
        rows[:, [j for j, _, _ in task.opened]] = levels
        return rows

    def solve(self, task: Reopening) -> Reopening:
        """Find the best of what was listed, by branch and bound; in a thread of its own perhaps."""
        opened, lows, highs = [j for j, _, _ in task.opened], task.levels.min(axis=0), task.levels.max(axis=0)
        lowest, highest = list(task.start.levels), list(task.start.levels)
        # Levels that no candidate has need not be told apart: the fewer classes there are.
        for j, low, high in zip(opened, lows.tolist(), highs.tolist(), strict=True):
            lowest[j], highest[j] = low, high
        levels = task.levels[:, lows < highs]
        with self.memory.one() as memory:
            subproblem = self.problem.narrowed(tuple(lowest), tuple(highest), memory)
            cells = len(self.problem.domain.counts) * subproblem.tables.packing.words
            task.work.spend(OPENING_SECONDS + OPENING_SECONDS_PER_TUPLE * cells)
            search = BranchAndBound(subproblem, np.ascontiguousarray(levels), task.bounds, memory)
            for judgement in search.run(task.work, task.ceiling):
                task.found.append(judgement)
                if judgement.feasible and judgement.better_than(task.answer):
                    task.answer = judgement
            task.judged, task.failed = task.levels[search.judged], task.levels[search.failed]
        return task

    def forcing(self) -> Reopening:
        """Some columns of the best release at other levels, a few others as they then are best."""
        assert self.best is not None
        levels = list(self.best.levels)
        trade = self.random.random() < TRADES
        opened = self.traded(levels) if trade else None
        if opened is None:
            j = self.columns[int(self.random.integers(len(self.columns)))]
            options = [x for x in range(self.lattice.lowest[j], self.lattice.highest[j] + 1) if x != levels[j]]
            near = [x for x in options if abs(x - levels[j]) == 1]
            levels[j] = (near if self.random.random() < 0.7 else options)[0 if self.random.random() < 0.5 else -1]
            opened = self.chosen(tuple(levels), without=j)
        start = LevelJudgement(feasible=False, score=math.inf, suppressed_rows=0, levels=tuple(levels))
        return self.reopening(start, opened)

    def traded(self, levels: list[int]) -> list[Open] | None:
        """Force one or two columns a level down; others may go a level up for it. Or the other way round.

        Two good releases often differ in many columns by one level each, some down and some up: chosen without regard
        to direction, so many are hardly ever open together.
        """
        step = -1 if self.random.random() < 0.7 else 1
        limits = {-1: self.lattice.lowest, 1: self.lattice.highest}
        order = [self.columns[i] for i in self.random.permutation(len(self.columns))]
        forced = [j for j in order if levels[j] != limits[step][j]][: 1 + int(self.random.integers(2))]
        back = [j for j in order if j not in forced and levels[j] != limits[-step][j]]
        if not forced or not back:
            return None
        for j in forced:
            levels[j] += step
        most = int(math.log2(self.most_open))
        return [(j, min(levels[j], levels[j] - step), max(levels[j], levels[j] - step)) for j in back[:most]]

    # ---- what no release can go below ---------------------------------------------------------------------

    def proofs(self) -> Iterator[Proof]:
        """The optima of columns by themselves, a few at a time, to be proved and added up.

        A safe release is k-anonymous in any of its columns, and suppresses no fewer rows than they need. Only for
        losses that are means over columns.
        """
        problem = self.problem
        if not isinstance(problem.metric, AttributeMetric) or problem.metric.mean != "arithmetic" or problem.k < 2:
            return
        # The columns with most values together: they are what tells people apart.
        order = sorted(range(problem.domain.width), key=lambda j: -np.count_nonzero(problem.domain.marginals[j]))
        while order and not self.over():
            group, size = [order[0]], self.lattice.shape[order[0]]
            for j in order[1:]:
                if size * self.lattice.shape[j] <= BOUND_CANDIDATES:
                    group.append(j)
                    size *= self.lattice.shape[j]
            order = [j for j in order if j not in group]
            if any(problem.weights[j] for j in group):
                yield Proof(sorted(group), self.share())

    def proved(self, task: Proof) -> Proof:
        """Prove the optimum of some columns alone, under k-anonymity; in a thread of its own perhaps."""
        problem, domain, columns = self.problem, self.problem.domain, task.columns
        task.work.spend(OPENING_SECONDS + OPENING_SECONDS_PER_TUPLE * (len(domain.counts) * len(columns) + domain.rows))
        subproblem = problem.changed(
            domain=domain.columns(columns), models=[KAnonymity(problem.k)],
            weights=[problem.weights[j] for j in columns], lowest_levels=[self.lattice.lowest[j] for j in columns],
            highest_levels=[self.lattice.highest[j] for j in columns],
        )  # fmt: skip
        with self.memory.one() as memory:
            task.floor = self.prove(subproblem, task.work, memory) * sum(subproblem.weights) / sum(problem.weights)
        return task
