"""Too many candidates to prove anything: start from both ends, then solve a few columns at a time exactly.

With twenty or thirty columns there are more candidates than atoms in a drop; but with all columns fixed save five to
ten there are a few thousand, and branch and bound finds the best of them at once, since whatever failed before rules
out all that is finer. So columns are reopened, a few at a time (a large neighbourhood search: Shaw 1998), until no few
of them can be improved together; then one is forced to another level and the others follow.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from kanopy._arrays import Floats, Mask, ShortRows
from kanopy._errors import Cancelled
from kanopy._progress import Progress
from kanopy.metrics.full_domain import AttributeMetric
from kanopy.privacy.models import KAnonymity
from kanopy.search.full_domain.level_judge import Memory, judge_of, memory_for
from kanopy.search.judge import LevelJudgement, ceiling_of
from kanopy.search.lattice import Levels
from kanopy.search.no_solution import no_solution
from kanopy.search.problem import Problem
from kanopy.search.release import release_levels
from kanopy.search.solution import Solution
from kanopy.search.work import Spare, Work, in_order, none_below, so_far

MOST_OPEN, MOST_UNBOUNDED, MOST_COLUMNS = 3_000, 600, 10
"""Candidates that are looked at together, where levels bound their loss and where they do not; and columns."""
NEAR = 0.5
"""How often columns are only reopened to the levels next to theirs, so that more of them are."""
OPENING_SECONDS, OPENING_SECONDS_PER_CELL = 1e-3, 6e-9
"""Seconds of an ordinary machine for laying out the table with some columns fixed, and for a value of it."""
LISTING_SECONDS, LISTING_SECONDS_EACH = 4e-4, 5e-9
"""Seconds of an ordinary machine for listing what may be looked at, and for a candidate of it or a level of one that
failed."""
STALE = 0.5
"""Reopenings per column without a better release after which a column is forced to another level."""
AFTER_FORCE = 0.2
"""Reopenings per column that a forced release has to become the best; otherwise the best is gone back to."""
TRADES = 0.75
"""How often columns are forced a level down and others a level up for it, or the other way round."""
IDLE = 300
"""Reopenings without a candidate that is new after which the search ends: it has seen what there is."""
AHEAD, LARGE_TUPLES = 3, 50_000
"""In tables with at least so many distinct tuples columns are reopened before the answers of the last so many
reopenings are known, so that threads have something to do."""
MOST_CLASSES = 16_000_000
"""Classes of candidates of a reopening that are kept in memory."""
BOUND_CANDIDATES = 3_000
"""Candidates over some of the columns whose optimum is proved, for the floor."""


Open = tuple[int, int, int]
"""A column, and the lowest and the highest level it may take."""
Prove = Callable[[Problem, Work], float]
"""What no candidate of a problem can go below, as far as the work suffices to prove it."""


@dataclass
class Reopening:
    """Columns reopened, all others as in `start`; what it may spend, what is known to it, and what it finds."""

    start: LevelJudgement
    opened: list[Open]
    work: Work
    known: int
    failed: ShortRows
    judged: dict[Levels, LevelJudgement] = field(default_factory=dict)
    answer: LevelJudgement | None = None
    steps: Generator[None, Memory, None] = field(init=False)
    """Its search: listing, and from the first candidate to be judged on, for which it is sent room, the rest."""

    @property
    def forced(self) -> bool:
        """Whether a column was forced to another level."""
        return not self.start.feasible


def best_effort(
    problem: Problem, progress: Progress, algorithm: str, budget_seconds: float, prove: Prove, threads: int = 1,
    seed: int = 0,
) -> Solution:  # fmt: skip
    """The best full-domain release found with so much work; not proved optimal, and it says so.

    What is done does not depend on how much is still to be done: more work is never worse. `floor` of the answer is
    what no release can go below: the optima of some columns by themselves, added up.
    """
    search = ManyColumns(problem, progress, Work(budget_seconds), prove, threads, seed)
    spent = f"with the work of {budget_seconds:g} seconds"
    try:
        best = search.run()
    except (Cancelled, KeyboardInterrupt):
        if search.best is None:
            raise
        best, spent = search.best, "before it was stopped"
    note = (
        f"{problem.lattice.size:,} candidates are too many to prove an optimum; this is the best of "
        f"{len(search.known):,} judged {spent}."
    )
    note += none_below(search.floor)
    return release_levels(algorithm, problem, best, judged=len(search.known), floor=search.floor, notes=[note])


class ManyColumns:
    """A search over level combinations that never judges a candidate twice."""

    def __init__(
        self, problem: Problem, progress: Progress, work: Work, prove: Prove, threads: int = 1, seed: int = 0
    ) -> None:
        self.problem, self.lattice, self.work = problem, problem.lattice, work
        self.progress, self.prove, self.threads = progress, prove, threads
        # How many reopenings are under way at once depends on the table alone: so does the release.
        self.large = len(problem.domain.counts) >= LARGE_TUPLES
        self.memory = Spare(lambda: memory_for(len(problem.domain.counts), MOST_CLASSES))
        self.taken = 0
        """Reopenings whose answers are known."""
        self.known: dict[Levels, tuple[LevelJudgement, int]] = {}
        """What was judged, and how many reopenings had been taken then."""
        self.best: LevelJudgement | None = None
        self.random = np.random.default_rng(seed)
        self.floor, self.cut = 0.0, False
        # Candidates of which too many rows must go, however they are refined: what is finer need not be looked at.
        self.failed, self.failures = np.empty((1024, len(self.lattice.shape)), np.int16), 0
        self.most_open = MOST_OPEN if isinstance(problem.metric, AttributeMetric) else MOST_UNBOUNDED
        # Columns with one level have nothing to choose.
        self.columns = [j for j, levels in enumerate(self.lattice.shape) if levels > 1]

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
        """Tell where the search is; whether its work is over."""
        self.tell()
        return self.work.over or self.cut

    def tell(self) -> None:
        """Tell where the search is."""
        if self.progress.active:
            note = f"{len(self.known):,} judged"
            if self.best is not None:
                note += ", " + so_far(self.problem.metric.name, self.best.score, self.floor)
            self.progress("searching", self.work.done, note)

    def judge(self, levels: Levels) -> LevelJudgement:
        """Judge a candidate, unless it is known."""
        if levels in self.known:
            return self.known[levels][0]
        before = self.problem.work_seconds
        found = self.problem.evaluate(levels)
        self.known[levels] = found, self.taken
        self.work.spend(self.problem.work_seconds - before)
        self.keep(found)
        return found

    def keep(self, found: LevelJudgement) -> None:
        """Remember the best, and what rules out all that is finer."""
        if found.feasible and found.better_than(self.best):
            self.best = found
        elif not found.feasible and found.least_suppressed > self.problem.max_suppressed_rows:
            if self.failures == len(self.failed):
                self.failed = np.concatenate([self.failed, np.empty_like(self.failed)])
            self.failed[self.failures] = found.levels
            self.failures += 1

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
            found = current
            for j in self.columns:
                if levels[j] > lowest[j] and not self.work.over:
                    lower = self.judge((*levels[:j], levels[j] - 1, *levels[j + 1 :]))
                    if lower.feasible and lower.better_than(found):
                        found = lower
            if found is current:
                return
            current = found

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
                    found = self.judge(higher)
                    saved = current.suppressed_rows - found.suppressed_rows
                    rated.append((saved / (1e-9 + max(0.0, self.price(higher) - price)), found))
            if not rated:
                return
            current = max(rated, key=lambda each: each[0])[1]

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

        def settle(found: Reopening) -> None:
            nonlocal current, stale, idle
            best, new = self.best, self.take(found)
            if found.forced:
                # Where another one was forced meanwhile, the better of the two is gone on with.
                going_on = stale < patience and found.answer is not None and not found.answer.better_than(current)
                if not going_on:
                    current, stale = found.answer or self.best or current, patience - after
            elif found.answer is not None and found.answer.better_than(current):
                current, stale = found.answer, 0
            else:
                stale += 1
            if best is not None and self.best is best and current is not best and stale >= patience:
                current = best
            idle = 0 if new else idle + 1

        def reopenings() -> Iterator[Callable[[], Reopening]]:
            bounded = False
            while not self.over() and idle < IDLE and len(self.known) < self.lattice.size:
                if stale >= patience and not bounded:
                    bounded = True
                    self.raise_floor()
                task = self.reopening(current) if stale < patience else self.forcing()
                if self.begun(task):
                    yield partial(self.reopened, task)
                else:
                    settle(task)

        for found in in_order(reopenings(), self.threads, self.tell, AHEAD if self.large else 0):
            settle(found)

    def chosen(self, at: Levels, without: int = -1) -> list[Open]:
        """A few columns at random, never all of them, with all their levels or those next to where they are."""
        order = [self.columns[i] for i in self.random.permutation(len(self.columns)) if self.columns[i] != without]
        near = self.random.random() < NEAR
        found: list[Open] = []
        size = 1
        for j in order[: max(1, len(self.columns) - 1)]:
            low, high = self.lattice.lowest[j], self.lattice.highest[j]
            if near:
                low, high = max(low, at[j] - 1), min(high, at[j] + 1)
            if len(found) < MOST_COLUMNS and (not found or size * (high - low + 1) <= self.most_open):
                found.append((j, low, high))
                size *= high - low + 1
        return found

    def reopening(self, start: LevelJudgement, opened: list[Open] | None = None) -> Reopening:
        """Columns to be reopened, knowing what is known now."""
        share = self.work.left / (1 + AHEAD if self.large else 1)
        opened = self.chosen(start.levels) if opened is None else opened
        found = Reopening(start, opened, Work(share), self.taken, self.failed[: self.failures])
        found.steps = self.solve(found)
        return found

    def take(self, found: Reopening) -> bool:
        """Keep what a reopening has found; whether any of it is new."""
        self.taken += 1
        self.work.spend(found.work.spent)
        # A search with more work would have gone on here: nothing else may be begun instead.
        self.cut |= found.work.over
        known = len(self.known)
        for levels, judgement in found.judged.items():
            self.known.setdefault(levels, (judgement, self.taken))
            self.keep(judgement)
        return len(self.known) > known

    def begun(self, task: Reopening) -> bool:
        """List what a reopening may look at; whether anything has to be judged."""
        for _ in task.steps:
            return True
        return False

    def reopened(self, task: Reopening) -> Reopening:
        """Judge what a reopening has to, in a thread of its own perhaps."""
        with self.memory.one() as memory, suppress(StopIteration):
            task.steps.send(memory)
        return task

    def solve(self, task: Reopening) -> Generator[None, Memory, None]:
        """The best with all other columns as they are, by branch and bound; no answer if it is no better than before.

        Candidates are sorted by what their levels alone lose: one that is feasible rules out what costs more, one that
        is not rules out what is finer. Picks from the middle find soon what is better; picks from the dear end, which
        lie above most others, show soon that nothing is.
        """
        problem, current, opened, work = self.problem, task.start, task.opened, task.work
        levels, ceiling = list(current.levels), current.score
        shape = tuple(high - low + 1 for _, low, high in opened)
        bounds = self.bounds(current.levels, opened).reshape(-1)
        possible = not_failed(task.failed, current.levels, opened)
        heights = np.indices(shape).sum(axis=0).reshape(-1)
        pending = np.lexsort((heights, bounds))
        work.spend(LISTING_SECONDS + LISTING_SECONDS_EACH * (len(pending) + task.failed.size))
        best: LevelJudgement | None = None
        part: Problem | None = None
        dearest = True
        while True:
            still = possible.reshape(-1)[pending] & (bounds[pending] <= min(ceiling, ceiling_of(best)))
            pending = pending[still]
            if not len(pending) or work.over:
                break
            place = np.unravel_index(pending[-1 if dearest else (len(pending) - 1) // 2], shape)
            dearest = not dearest
            possible[place] = False
            for (j, low, _), x in zip(opened, place, strict=True):
                levels[j] = low + int(x)
            found, since = self.known.get(tuple(levels), (None, 0))
            if found is None or since > task.known:
                if part is None:
                    memory = yield
                    part = self.narrowed(current.levels, opened)
                    work.spend(OPENING_SECONDS + OPENING_SECONDS_PER_CELL * problem.domain.tuples.size)
                    judge = judge_of(part, memory)
                before = part.work_seconds
                found = task.judged[tuple(levels)] = judge.evaluate(tuple(levels))
                work.spend(part.work_seconds - before + LISTING_SECONDS_EACH * len(pending))
            if found.feasible:
                best = found if found.better_than(best) else best
            elif found.least_suppressed > problem.max_suppressed_rows:
                possible[tuple(slice(0, x + 1) for x in place)] = False
        if best is not None and (not current.feasible or best.better_than(current)):
            task.answer = best

    def narrowed(self, levels: Levels, opened: list[Open]) -> Problem:
        """The problem with some columns reopened, all others as they are."""
        lowest, highest = list(levels), list(levels)
        for j, low, high in opened:
            lowest[j], highest[j] = low, high
        return self.problem.narrowed(tuple(lowest), tuple(highest))

    def bounds(self, levels: Levels, opened: list[Open]) -> Floats:
        """Over the levels of reopened columns, what they lose at least: their loss without any suppression."""
        problem, shape = self.problem, [high - low + 1 for _, low, high in opened]
        if not isinstance(problem.metric, AttributeMetric):
            return np.zeros(shape)
        pairs = zip(problem.costs, levels, strict=True)
        losses: list[Floats] = [cost.loss(cost.totals[[x]]).reshape(()) for cost, x in pairs]
        for axis, (j, low, high) in enumerate(opened):
            own = problem.costs[j].loss(problem.costs[j].totals[low : high + 1])
            losses[j] = own.reshape([-1 if i == axis else 1 for i in range(len(opened))])
        return np.array(np.broadcast_to(problem.metric.combine(losses, problem.weights), shape), np.float64)

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

    def raise_floor(self) -> None:
        """Add up the optima of columns by themselves, a few at a time.

        A safe release is k-anonymous in any of its columns, and suppresses no fewer rows than they need. Only for
        losses that are means over columns.
        """
        problem = self.problem
        if not isinstance(problem.metric, AttributeMetric) or problem.metric.mean != "arithmetic" or problem.k < 2:
            return
        total = sum(problem.weights)
        floor = 0.0
        # The columns with most values together: they are what tells people apart.
        order = sorted(range(problem.domain.width), key=lambda j: -len(np.unique(problem.domain.tuples[:, j])))
        while order and not self.over():
            group, size = [order[0]], self.lattice.shape[order[0]]
            for j in order[1:]:
                if size * self.lattice.shape[j] <= BOUND_CANDIDATES:
                    group.append(j)
                    size *= self.lattice.shape[j]
            order = [j for j in order if j not in group]
            if not any(problem.weights[j] for j in group):
                continue
            part = self.part_of(sorted(group))
            floor += self.prove(part, self.work) * sum(part.weights)
        self.floor = max(self.floor, floor / total if total else 0.0)

    def part_of(self, columns: list[int]) -> Problem:
        """The problem of some columns alone, under k-anonymity."""
        problem, domain = self.problem, self.problem.domain
        self.work.spend(OPENING_SECONDS + 10 * OPENING_SECONDS_PER_CELL * len(domain.counts) * len(columns))
        weights = [problem.weights[j] for j in columns]
        return Problem(
            domain.columns(columns), [KAnonymity(problem.k)], problem.metric,
            weights=weights, suppression_limit=problem.suppression_limit,
            lowest_levels=[self.lattice.lowest[j] for j in columns],
            highest_levels=[self.lattice.highest[j] for j in columns],
        )  # fmt: skip


def not_failed(failed: ShortRows, levels: Levels, opened: list[Open]) -> Mask:
    """Over the levels of reopened columns, all others as they are: what is not finer than one that failed."""
    columns, shape = [j for j, _, _ in opened], [high - low + 1 for _, low, high in opened]
    possible = np.ones(shape, np.bool_)
    finest = np.array(levels, np.int16)
    finest[columns] = [low for _, low, _ in opened]
    failed = failed[(failed >= finest).all(axis=1)]
    if len(failed):
        possible[tuple(np.minimum(failed[:, columns] - finest[columns], np.array(shape) - 1).T)] = False
        for axis in range(len(shape)):
            possible = np.flip(np.logical_and.accumulate(np.flip(possible, axis), axis=axis), axis)
    return np.ascontiguousarray(possible)
