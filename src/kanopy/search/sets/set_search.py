"""The search behind Li and Li's schemes: refine a good start, then, in small spaces, prove what is best.

Both parts judge by one cost that adds up over rows: discernibility where that is the job's metric, else `loss`. Joining
sets never lowers what a published row costs, which is what all bounds rest on.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from kanopy._arrays import Floats, Ints, Longs, Mask
from kanopy._compiler import for_size
from kanopy._core.histograms import histogram
from kanopy._progress import Progress
from kanopy.search.budget import Budget, so_far
from kanopy.search.judge import Judgement
from kanopy.search.problem import Problem
from kanopy.search.sets.set_schemes import Scheme, Set
from kanopy.search.sets.value_cuts_kernel import merge_codes
from kanopy.search.sets.value_merges_kernel import weigh_joins, weigh_partings
from kanopy.search.sets.value_sets import ValueTable

Sets = tuple[tuple[Set, ...], ...]
"""Per column its sets, ordered by their first value."""

SMALL = 60
"""Up to this many distinct tuples the bare loops answer before the compiled ones are even loaded."""
SLACK = 1.01
"""How much worse than the best a release may be to go on from."""
TOLERANCE = 1e-12
WIDTH_SECONDS, PAIR_SECONDS, STEP_SECONDS = 1.2e-8, 1.5e-9, 1e-4
"""Seconds of an ordinary machine for a class and column, for two sets or a class and a value, and for a step."""


class OutOfTime(Exception):
    """The budget is used up."""


@dataclass(frozen=True, eq=False, kw_only=True)
class SetJudgement(Judgement):
    """A partition of every column's values, the classes it makes, and what they cost."""

    sets: Sets
    codes: Ints
    sizes: Longs
    class_of: Ints
    weights: Floats


class SetJudge:
    """Costs of partitions of one table."""

    def __init__(self, problem: Problem, table: ValueTable, work: Budget | None = None) -> None:
        self.work = work or Budget(None)
        self.table, self.k, self.most_gone = table, problem.k, problem.max_suppressed_rows
        self.squares = problem.metric.name == "discernibility"
        self.most = max(table.sizes)
        rows = table.rows
        total = sum(problem.weights)
        coefficients = []
        for weight, column in zip(problem.weights, table.columns, strict=True):
            lowest = rows / column.hierarchy.size
            coefficients.append(weight / total / (rows - lowest) if rows > lowest else 0.0)
        self.coefficients = np.array(coefficients)
        self.price = float(rows) if self.squares else float(self.coefficients.sum())
        least = sum(c * rows / column.hierarchy.size for c, column in zip(coefficients, table.columns, strict=True))
        self.finest = 0.0 if self.squares else float(least)
        """What publishing every row as it is costs, which is no loss."""
        tuples = len(table.counts)
        self.merge = for_size(merge_codes, tuples, SMALL)
        self.joins = for_size(weigh_joins, tuples, SMALL)
        self.partings = for_size(weigh_partings, tuples, SMALL)

    def share(self, j: int, count: int) -> float:
        """What publishing a set of `count` values costs a row in column `j`."""
        column = self.table.columns[j]
        everything = 1 < count == column.size and column.top is not None
        covered = 1.0 if everything else count / column.hierarchy.size
        return float(self.coefficients[j] * covered)

    def shares(self, j: int, sets: Sequence[Set]) -> Floats:
        """What publishing each set costs a row."""
        return np.array([self.share(j, len(held)) for held in sets])

    def evaluate(self, sets: Sets, /, ceiling: float = math.inf) -> SetJudgement:
        """Group the table by sets."""
        lookup = np.zeros((len(sets), self.most), np.int32)
        for j, column in enumerate(sets):
            for number, held in enumerate(column):
                lookup[j, list(held)] = number
        self.work.spend(STEP_SECONDS + WIDTH_SECONDS * self.table.codes.size)
        codes, sizes, class_of = self.merge(self.table.codes, self.table.counts, lookup)
        weights = self.weights(sets, codes)
        cost, suppressed_rows = self.price_of(sizes, weights)
        return SetJudgement(
            feasible=suppressed_rows <= self.most_gone, score=cost, suppressed_rows=suppressed_rows, sets=sets,
            codes=codes, sizes=sizes,
            class_of=class_of, weights=weights,
        )  # fmt: skip

    def weights(self, sets: Sets, codes: Ints) -> Floats:
        """Per class what one of its rows costs if it is published."""
        total = np.zeros(len(codes))
        for j, column in enumerate(sets):
            total += self.shares(j, column)[codes[:, j]]
        return total

    def price_of(self, sizes: Longs, weights: Floats) -> tuple[float, int]:
        """The cost of classes, and the rows that are suppressed."""
        small = sizes < self.k
        suppressed_rows = int(sizes[small].sum())
        published_sizes = sizes[~small].astype(np.float64)
        paid = np.dot(published_sizes, published_sizes) if self.squares else np.dot(published_sizes, weights[~small])
        return float(paid) + suppressed_rows * self.price, suppressed_rows

    def said(self, cost: float) -> str:
        """What a progress line says of a cost."""
        return so_far("discernibility" if self.squares else "loss", max(0.0, cost - self.finest))

    def better(self, cost: float, than: float) -> bool:
        """Whether a cost is lower by more than rounding."""
        return cost < than - TOLERANCE * (1.0 + abs(than))

    def weigh_joins(self, state: SetJudgement, j: int, legal: Mask) -> tuple[Floats, Longs]:
        """What each legal join of column `j` changes in cost and in suppressed rows."""
        count = len(state.sets[j])
        # Of classes that differ in this column alone every two are looked at: at most as many as there are sets.
        self.work.spend(WIDTH_SECONDS * state.codes.size + PAIR_SECONDS * count * (count + len(state.sizes)))
        sizes = np.array([len(held) for held in state.sets[j]])
        # A share depends on how many values a set has: `by_count` covers every union.
        by_count = np.array([self.share(j, n) for n in range(self.table.columns[j].size + 1)])
        rises = by_count[np.minimum(sizes[:, None] + sizes[None, :], len(by_count) - 1)] - by_count[sizes][:, None]
        change, suppressed_change = np.zeros((count, count)), np.zeros((count, count), np.int64)
        self.joins(
            state.codes,
            state.sizes,
            state.weights,
            j,
            legal,
            rises,
            self.k,
            self.price,
            self.squares,
            change,
            suppressed_change,
        )
        return change, suppressed_change

    def weigh_partings(self, state: SetJudgement, j: int, ways: Sequence[tuple[int, Set]]) -> tuple[Floats, Longs]:
        """What each way `(set, values taken out)` to part a set of column `j` changes in cost and suppressed rows."""
        values, classes = self.table.columns[j].size, len(state.sizes)
        held = histogram(state.class_of, self.table.codes[:, j], classes, values, self.table.counts)
        first = np.concatenate([[0], np.cumsum([len(out) for _, out in ways])]).astype(np.int64)
        members = np.array([value for _, out in ways for value in out], np.int32)
        owner = np.array([number for number, _ in ways], np.int32)
        taken = np.bincount(owner, [len(out) for _, out in ways], len(state.sets[j]))
        looked_at = float(np.bincount(state.codes[:, j], minlength=len(taken)) @ taken)
        self.work.spend(STEP_SECONDS + PAIR_SECONDS * (looked_at + classes * values))
        falls = np.empty((len(ways), 2))
        for way, (number, out) in enumerate(ways):
            size = len(state.sets[j][number])
            whole = self.share(j, size)
            falls[way] = whole - self.share(j, len(out)), whole - self.share(j, size - len(out))
        change, suppressed_change = np.zeros(len(ways)), np.zeros(len(ways), np.int64)
        self.partings(
            held, np.ascontiguousarray(state.codes[:, j]), state.sizes, state.weights, first,
            members, owner, falls, self.k, self.price, self.squares, change, suppressed_change,
        )  # fmt: skip
        return change, suppressed_change


def joined(sets: Sets, j: int, a: int, b: int) -> Sets:
    """Sets `a < b` of column `j` become one, in the place of `a`."""
    column = list(sets[j])
    column[a] = tuple(sorted(column[a] + column[b]))
    del column[b]
    return (*sets[:j], tuple(column), *sets[j + 1 :])


def parted(sets: Sets, j: int, number: int, out: Set) -> Sets:
    """Some values leave a set of column `j` and make one of their own."""
    column = list(sets[j])
    leaving = set(out)
    rest = tuple(value for value in column[number] if value not in leaving)
    column[number : number + 1] = [rest, out]
    return (*sets[:j], tuple(sorted(column)), *sets[j + 1 :])


class Refinement:
    """Local search: part and join sets while that lowers the cost; leave dead ends by undoing some columns."""

    def __init__(self, judge: SetJudge, schemes: Sequence[Scheme], progress: Progress, seed: int) -> None:
        self.judge, self.schemes, self.progress = judge, schemes, progress
        self.random = np.random.default_rng(seed)
        self.best: SetJudgement | None = None
        self.judged = 0
        self.rounds = 0

    def _judge(self, sets: Sets) -> SetJudgement:
        state = self.judge.evaluate(sets)
        self.judged += 1
        if state.feasible and (self.best is None or self.judge.better(state.score, self.best.score)):
            self.best = state
        return state

    def consider(self, sets: Sets) -> bool:
        """Judge a partition; whether it is within the limit of suppressed rows."""
        return self._judge(sets).feasible

    def _check_time(self) -> None:
        self.progress("refining sets", self.judge.work.share, self._standing)
        if self.judge.work.over:
            raise OutOfTime

    def _standing(self) -> str:
        assert self.best is not None
        return f"{self.judged:,} judged, {self.judge.said(self.best.score)}"

    def _best_step(self, state: SetJudgement, j: int) -> SetJudgement:
        """The best single change of column `j`, or the state itself."""
        self._check_time()
        scheme, allowed = self.schemes[j], self.judge.most_gone - state.suppressed_rows
        margin = -TOLERANCE * (1.0 + abs(state.score))
        best_step: tuple[float, Sets] | None = None
        ways = [(number, out) for number, held in enumerate(state.sets[j]) for out in scheme.parts(held)]
        if ways:
            change, suppressed_change = self.judge.weigh_partings(state, j, ways)
            change[suppressed_change > allowed] = np.inf
            at = int(change.argmin())
            if change[at] < margin:
                best_step = float(change[at]), parted(state.sets, j, *ways[at])
        # Joining lowers the cost only where it saves rows from being suppressed, or discernibility from it.
        if state.suppressed_rows and (legal := scheme.legal(state.sets[j])).any():
            change, suppressed_change = self.judge.weigh_joins(state, j, legal)
            change = np.where(legal & (suppressed_change <= allowed), change, np.inf)
            a, b = divmod(int(change.argmin()), change.shape[1])
            if change[a, b] < margin and (best_step is None or change[a, b] < best_step[0]):
                best_step = float(change[a, b]), joined(state.sets, j, a, b)
        return state if best_step is None else self._judge(best_step[1])

    def descend(self, state: SetJudgement, *turns: Sequence[int]) -> SetJudgement:
        """Change columns in turn until nothing lowers the cost: those of the first turn, then those of the next."""
        for columns in turns:
            waiting = len(columns)
            while waiting > 0:
                for j in columns:
                    after = self._best_step(state, j)
                    waiting = waiting - 1 if after is state else len(columns)
                    state = after
                    if waiting == 0:
                        break
        return state

    def run(self, starts: Sequence[Sets], steps: int | None, patience: int) -> Sets:
        """Descend from every start; then undo some columns of the best and descend anew, the others first.

        All starts are within the limit. Ends after `patience` rounds without a lower cost; returns the best found.
        """
        width = len(self.schemes)
        local_optima = [self.descend(self._judge(start), range(width)) for start in starts]
        mine = current = min(local_optima, key=lambda state: state.score)
        failed, last = 0, None if steps is None else self.rounds + steps
        while failed < patience and (last is None or self.rounds < last) and mine.score > 0:
            self.rounds += 1
            undone = self.random.permutation(width)[: int(self.random.integers(1, 4))]
            changed = self._judge(self._undo(current.sets, undone))
            order = self.random.permutation(width).tolist()
            after = self.descend(changed, [j for j in order if j not in undone], order)
            failed += 1
            if self.judge.better(after.score, mine.score):
                mine, failed = after, 0
            if after.score <= mine.score * SLACK:
                current = after
        return mine.sets

    def _undo(self, sets: Sets, columns: npt.NDArray[np.int64]) -> Sets:
        """Coarser sets in some columns: one for all values, or a few pairs joined."""
        for j in columns.tolist():
            scheme = self.schemes[j]
            if self.random.random() < 0.5:
                sets = (*sets[:j], scheme.coarsest(), *sets[j + 1 :])
                continue
            for _ in range(int(self.random.integers(1, 5))):
                pairs = np.argwhere(scheme.legal(sets[j]))
                if len(pairs):
                    a, b = pairs[int(self.random.integers(len(pairs)))].tolist()
                    sets = joined(sets, j, a, b)
        return sets


class Proof:
    """Branch and bound from single values upwards: at every node pairs are joined, or kept apart for good."""

    def __init__(self, judge: SetJudge, schemes: Sequence[Scheme], best: SetJudgement, progress: Progress) -> None:
        self.judge, self.schemes, self.best, self.progress = judge, schemes, best, progress
        self.judged = 0

    def run(self, steps: int | None) -> None:
        """Search everything; `self.best` is optimal when this returns, and the best so far when it raises."""
        sets: Sets = tuple(tuple((value,) for value in range(size)) for size in self.judge.table.sizes)
        apart = tuple(np.zeros((size, size), np.bool_) for size in self.judge.table.sizes)
        stack = [iter([(sets, apart)])]
        while stack:
            self.progress("proving", self.judge.work.share, self._standing)
            if self.judge.work.over or (steps is not None and self.judged >= steps):
                raise OutOfTime
            child = next(stack[-1], None)
            if child is None:
                stack.pop()
            else:
                stack.append(self._children(*child))

    def _standing(self) -> str:
        return f"{self.judged:,} judged, {self.judge.said(self.best.score)}"

    def _children(self, sets: Sets, apart: tuple[Mask, ...]) -> Iterator[tuple[Sets, tuple[Mask, ...]]]:
        state = self.judge.evaluate(sets)
        self.judged += 1
        if state.feasible and self.judge.better(state.score, self.best.score):
            self.best = state
        if state.suppressed_rows == 0 or self._ruled_out(state, apart):
            return
        pairs = []
        for j, scheme in enumerate(self.schemes):
            legal = scheme.legal(sets[j]) & ~apart[j]
            if legal.any():
                change, suppressed_change = self.judge.weigh_joins(state, j, legal)
                # Most rows brought to k per cost first: good releases early make bounds bite.
                merit = change + 1e-3 * self.judge.price * suppressed_change
                pairs += [(float(merit[a, b]), j, int(a), int(b)) for a, b in zip(*np.nonzero(legal), strict=True)]
        for _, j, a, b in sorted(pairs):
            yield joined(sets, j, a, b), _after_join(apart, j, a, b)
            mask = apart[j].copy()
            mask[a, b] = mask[b, a] = True
            apart = (*apart[:j], mask, *apart[j + 1 :])
            if self._ruled_out(state, apart):
                return

    def _ruled_out(self, state: SetJudgement, apart: tuple[Mask, ...]) -> bool:
        """Whether nothing coarser that keeps these pairs apart can be within the limit and cost less."""
        judge = self.judge
        lookup = np.zeros((len(state.sets), judge.most), np.int32)
        grows = np.full(len(state.sizes), np.inf)
        for j, (scheme, sets) in enumerate(zip(self.schemes, state.sets, strict=True)):
            near = scheme.reachable(sets) & ~apart[j]
            np.fill_diagonal(near, False)
            lookup[j, : len(sets)] = _components(near)
            # A set that grows takes in at least the smallest of the sets it may be joined with.
            least = np.where(near, judge.shares(j, sets)[None, :], np.inf).min(axis=1)
            grows = np.minimum(grows, least[state.codes[:, j]])
        _, totals, component = judge.merge(state.codes, state.sizes, lookup)
        doomed = totals[component] < judge.k
        lost = int(state.sizes[doomed].sum())
        if lost > judge.most_gone:
            return True
        small = (state.sizes < judge.k) & ~doomed
        rows = state.sizes.astype(np.float64)
        if judge.squares:
            row_cost = np.maximum(rows, judge.k)
        else:
            row_cost = np.where(small, state.weights + grows, state.weights)
        if judge.most_gone:
            row_cost = np.minimum(row_cost, judge.price)
        bound = float(np.dot(rows[~doomed], row_cost[~doomed])) + lost * judge.price
        return not judge.better(bound, self.best.score)


def _after_join(apart: tuple[Mask, ...], j: int, a: int, b: int) -> tuple[Mask, ...]:
    """What is kept apart from one of two sets is kept apart from their union."""
    mask = apart[j].copy()
    mask[a] |= mask[b]
    mask[:, a] |= mask[:, b]
    mask = np.delete(np.delete(mask, b, axis=0), b, axis=1)
    return (*apart[:j], mask, *apart[j + 1 :])


def _components(near: Mask) -> Ints:
    """Connected components of a small graph."""
    number = np.full(len(near), -1, np.int32)
    components = 0
    for begin in range(len(near)):
        if number[begin] >= 0:
            continue
        stack: list[Any] = [begin]
        number[begin] = components
        while stack:
            for other in np.flatnonzero(near[stack.pop()] & (number < 0)):
                number[other] = components
                stack.append(other)
        components += 1
    return number
