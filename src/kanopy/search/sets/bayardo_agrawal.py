"""Bayardo and Agrawal's search for the optimal k-anonymization over intervals of ordered values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from kanopy._arrays import Ints, Longs, Mask
from kanopy._compiler import for_size
from kanopy._errors import Cancelled
from kanopy._progress import Progress
from kanopy.search.budget import Budget, so_far
from kanopy.search.problem import Problem
from kanopy.search.sets.value_cuts_kernel import CutWeights, make_weights, merge_codes, weigh_cuts
from kanopy.search.sets.value_sets import ValueTable, sets_solution, too_many_gone, value_table
from kanopy.search.solution import About, Algorithm, BudgetSeconds, Solution, Steps

SMALL = 60
"""Up to this many distinct tuples the bare loops answer before the compiled ones are even loaded."""
CLASS_SECONDS, NODE_SECONDS = 2.7e-8, 1e-4
"""Seconds of an ordinary machine for a class and column that is weighed, and for a node."""
GREEDY_SECONDS = 10.0
"""What the search for a good start may take, whatever there is in all: more work begins with all that less does."""


@dataclass(frozen=True)
class BayardoAgrawal(Algorithm):
    """The least discernibility over all ways to cut every column's ordered values into intervals, proved.

    **The paper** (Bayardo, Agrawal: Data privacy through optimal k-anonymization, ICDE 2005) puts a total order on the
    values of every column. A recoding is the set of places where a column is cut; all sets form a tree in which every
    node makes one cut more (its head) out of those still allowed below it (its tail). Classes of fewer than k rows are
    suppressed, and the cost is discernibility: a row of a class of s rows costs s, a suppressed one costs n. A node is
    left when a lower bound on everything below it reaches the best cost found: rows that the head suppresses stay
    suppressed, and any other row lies in a class no smaller than k and than its class under head and tail together.
    Cuts that cannot help are struck from the tail, and the tail is put in an order that makes bounds rise early.

    **What we decided.** Numbers are ordered by size, categories as their hierarchy lists them (siblings together). At
    every node each cut of the tail is weighed twice: the bound once it is made and the bound once it is given up;
    so cuts are not only struck but also forced, and the one whose absence would cost most is branched on. A cut is
    struck as useless when every class it parts has a half below k that would cost more suppressed than joined.
    Bounds also look at neighbours: a class below k grows at least to the smallest union with a class beside it. The
    rows that may be suppressed limit the recodings; the paper has no such limit. Only values that occur are ordered.

    **Guarantee.** If the search ends within `budget_seconds`, no other intervals have less discernibility
    (`Solution.optimal`). If it does not, or is interrupted, the best release so far is returned with a lower bound
    on the best possible. It minimises discernibility whatever the job's metric, and columns have no weights in that;
    the score reported is the job's metric. `steps` instead limits the nodes visited. Either way the same job
    gives the same release: a budget counts work, not time.

    **Cost.** Time per node grows with distinct tuples times columns; the number of nodes is exponential in the cuts in
    the worst case. Some thirty cuts over tens of thousands of rows take seconds; with hundreds it is a heuristic.
    **Do not use it** for models beyond k-anonymity, where labels must come from a hierarchy, or where the shape of
    classes matters: discernibility counts rows and does not see how wide an interval is.

    >>> from kanopy._core.classes import Domain
    >>> from kanopy.hierarchy.hierarchy import Hierarchy
    >>> from kanopy.privacy.models import KAnonymity
    >>> ages = Hierarchy.flat(["20", "30", "40", "50", "60"], name="age")
    >>> table = Domain.of_column("age", ["20", "20", "20", "30", "40", "40", "50", "60"], ages)
    >>> found = BayardoAgrawal().solve(Problem(table, [KAnonymity(2)]))
    >>> found.recoding.labels, found.optimal
    ((('20', '[30, 40]', '[50, 60]'),), True)
    """

    budget_seconds: BudgetSeconds = 30.0
    steps: Steps = None
    name, recoding = "bayardo-agrawal", "subtree"
    about = About(
        does="cuts every column's ordered values into intervals, the best of all ways if its time suffices",
        source="Bayardo, Agrawal 2005", search="branch and bound", lowers="discernibility",
        proves="least discernibility of all intervals of the ordered values, if it ends within its budget",
        models="sizes", attributes="numbers; categories in any order", level_limits=False, weights=False, anytime=True,
    )  # fmt: skip

    def search(self, problem: Problem, progress: Progress) -> Solution:
        """Search; a callback that says stop after a release was found keeps it."""
        progress("ordering values")
        table = value_table(problem)
        work = Budget(None if self.steps is not None else self.budget_seconds)
        search = _Search(table, problem.k, problem.max_suppressed_rows, work)
        if search.best_cuts is None:
            raise too_many_gone(self.name, problem, int(table.counts.sum()))
        notes = []
        try:
            search.improve_greedily(progress, self.steps)
            proved = search.run(progress, self.steps)
            if not proved:
                notes.append(search.remaining("Its budget was used up"))
        except (Cancelled, KeyboardInterrupt):
            proved = False
            notes.append(search.remaining("It was stopped"))
        if len(set(problem.weights)) > 1:
            notes.append("The weights of columns have no part in discernibility, which this algorithm minimises.")
        set_of = [np.concatenate([[0], np.cumsum(cuts)]) for cuts in search.best_cuts]
        floor_known = problem.metric.name == "discernibility" and not problem.domain.excluded_rows
        return sets_solution(
            self.name, problem, table.columns, set_of, spans=True, optimal=proved, judged=search.judged,
            candidates=2 ** sum(size - 1 for size in table.sizes), notes=notes,
            floor=float(search.least) if floor_known else None,
        )  # fmt: skip


@dataclass(frozen=True, eq=False)
class _Node:
    """Fine classes (head and tail cuts made), where the fine intervals end, and which of their cuts are for good."""

    codes: Ints
    counts: Longs
    ends: tuple[Longs, ...]
    fixed: tuple[Mask, ...]
    bound: int = 0

    def coarse(self, most: int) -> Ints:
        """The coarse interval of every fine one, -1 beyond the last."""
        coarse_of_fine = np.full((len(self.ends), most), -1, np.int32)
        for j, fixed in enumerate(self.fixed):
            coarse_of_fine[j, 0] = 0
            np.cumsum(fixed, out=coarse_of_fine[j, 1 : len(fixed) + 1])
        return coarse_of_fine

    def with_fixed(self, chosen: Mask) -> _Node:
        """Some cuts of the tail are made for good; `chosen` is `[column, cut]`."""
        fixed = tuple(now | chosen[j, : len(now)] for j, now in enumerate(self.fixed))
        return _Node(self.codes, self.counts, self.ends, fixed, self.bound)

    def without(self, given_up: Mask, merge: Any) -> _Node:
        """Some cuts of the tail are given up for good: their fine intervals unite."""
        most = max(len(ends) for ends in self.ends)
        lookup = np.zeros((len(self.ends), most), np.int32)
        ends, fixed = [], []
        for j, now in enumerate(self.fixed):
            remaining = ~given_up[j, : len(now)]
            np.cumsum(remaining, out=lookup[j, 1 : len(now) + 1])
            ends.append(self.ends[j][np.append(remaining, True)])
            fixed.append(now[remaining])
        codes, counts, _ = merge(self.codes, self.counts, lookup)
        return _Node(codes, counts, tuple(ends), tuple(fixed), self.bound)


class _Search:
    """Depth first over head and tail; the best cuts so far, as one mask per column over the original values."""

    def __init__(self, table: ValueTable, k: int, most_gone: int, work: Budget) -> None:
        self.work = work
        self.table, self.k, self.most_gone = table, k, most_gone
        self.price = table.rows
        self.sizes = table.sizes
        self.most = max(self.sizes)
        self.weights: CutWeights = make_weights(len(self.sizes), self.most)
        self.judged = 0
        self.best_cost: int | None = None
        self.best_cuts: list[Mask] | None = None
        self.stack: list[_Node] = []
        self.root = _Node(
            table.codes, table.counts, tuple(np.arange(size) for size in self.sizes),
            tuple(np.zeros(size - 1, np.bool_) for size in self.sizes),
        )  # fmt: skip
        self.merge = for_size(merge_codes, len(table.counts), SMALL)
        self.weigh = for_size(weigh_cuts, len(table.counts), SMALL)
        self.merge(self.root.codes[:1], self.root.counts[:1], np.zeros((len(self.sizes), self.most), np.int32))
        totals = self._weigh(self.root).totals
        self.stack.append(_bounded(self.root, int(max(totals[2], totals[3]))))

    def _weigh(self, node: _Node, work: Budget | None = None) -> CutWeights:
        """Weigh the cuts of a node; its head alone is a candidate too."""
        self.judged += 1
        (work or self.work).spend(NODE_SECONDS + CLASS_SECONDS * node.codes.size)
        self.weigh(node.codes, node.counts, node.coarse(self.most), self.k, self.price, self.weights)
        cost, suppressed_rows = int(self.weights.totals[0]), int(self.weights.totals[1])
        if suppressed_rows <= self.most_gone and (self.best_cost is None or cost < self.best_cost):
            self.best_cost = cost
            self.best_cuts = []
            for size, ends, fixed in zip(self.sizes, node.ends, node.fixed, strict=True):
                cuts = np.zeros(size - 1, np.bool_)
                cuts[ends[:-1][fixed]] = True
                self.best_cuts.append(cuts)
        return self.weights

    def _open(self, node: _Node) -> Mask:
        """The cuts of the tail, `[column, cut]`."""
        open_cuts = np.zeros((len(self.sizes), self.most), np.bool_)
        for j, fixed in enumerate(node.fixed):
            open_cuts[j, : len(fixed)] = ~fixed
        return open_cuts

    # ---- a good start -------------------------------------------------------------------------------------

    def improve_greedily(self, progress: Progress, steps: int | None) -> None:
        """Make the cut that lowers the cost most, again and again; then take each back once and refill.

        Some of the work at most; the proof has the rest.
        """
        work = self.work.part(GREEDY_SECONDS)
        self._fill(self.root, progress, work)
        tried: set[bytes] = set()
        improved = True
        while improved and self.best_cuts is not None:
            improved = False
            for j, i in [(j, int(i)) for j, cuts in enumerate(self.best_cuts) for i in np.flatnonzero(cuts)]:
                if work.over or (steps is not None and len(tried) >= steps):
                    return
                assert self.best_cuts is not None and self.best_cost is not None
                if not self.best_cuts[j][i]:
                    continue
                cuts = [c.copy() for c in self.best_cuts]
                cuts[j][i] = False
                key = b"".join(c.tobytes() for c in cuts)
                if key in tried:
                    continue
                tried.add(key)
                before = self.best_cost
                node = _Node(self.root.codes, self.root.counts, self.root.ends, tuple(cuts))
                barred = np.zeros((len(self.sizes), self.most), np.bool_)
                barred[j, i] = True
                self._fill(node, progress, work, barred)
                improved |= self.best_cost < before

    def _fill(self, node: _Node, progress: Progress, work: Budget, barred: Mask | None = None) -> _Node:
        """Add cuts to the head while that lowers the cost within the limit; `barred` holds for the first only."""
        while not work.over:
            progress("cutting", self.work.share, self.standing)
            weights = self._weigh(node, work)
            allowed = self._open(node) & (weights.totals[1] + weights.gone_change <= self.most_gone)
            if barred is not None:
                allowed &= ~barred
                barred = None
            change = np.where(allowed, weights.cost_change, 0)
            if change.min() >= 0:
                break
            chosen = np.zeros_like(allowed)
            chosen.flat[int(change.argmin())] = True
            node = node.with_fixed(chosen)
        return node

    # ---- the proof ----------------------------------------------------------------------------------------

    def run(self, progress: Progress, steps: int | None) -> bool:
        """Search until nothing is open (`True`) or the budget is used up."""
        first = self.judged
        while self.stack:
            if self.work.over or (steps is not None and self.judged - first >= steps):
                return False
            progress("proving", self.work.share, self.standing)
            node = self.stack[-1]
            children = self._children(node)
            # Only now: what is being looked at counts as open if the search is stopped meanwhile.
            self.stack.pop()
            self.stack.extend(children)
        return True

    def _children(self, node: _Node) -> list[_Node]:
        """Strike and force cuts until none can be; then branch on one, to be left first and made first."""
        assert self.best_cost is not None
        if node.bound >= self.best_cost:
            return []
        while True:
            weights = self._weigh(node)
            _, suppressed_rows, weak, sharp = (int(total) for total in weights.totals)
            bound = max(weak, sharp, node.bound)
            if suppressed_rows > self.most_gone or bound >= self.best_cost:
                return []
            tail = self._open(node)
            if not tail.any():
                return []
            useless = (weights.useful == 0) | (suppressed_rows + weights.gone_change > self.most_gone)
            struck = tail & (useless | (weak + weights.with_cut >= self.best_cost))
            forced = tail & ~struck & (weak + weights.without_cut >= self.best_cost)
            if forced.any():
                node = node.with_fixed(forced)
            if struck.any():
                node = node.without(struck, self.merge)
            elif not forced.any():
                break
        value = np.where(tail, weights.without_cut, -1)
        chosen = np.zeros_like(tail)
        chosen.flat[int(value.argmax())] = True
        made, left = weak + int(weights.with_cut[chosen][0]), weak + int(weights.without_cut[chosen][0])
        return [
            _bounded(node.without(chosen, self.merge), max(bound, left)),
            _bounded(node.with_fixed(chosen), max(bound, made)),
        ]

    @property
    def least(self) -> int:
        """What no intervals have less discernibility than."""
        assert self.best_cost is not None
        return min([self.best_cost, *(node.bound for node in self.stack)])

    def standing(self) -> str:
        """How far the proof is."""
        assert self.best_cost is not None
        return f"{self.judged:,} judged, {so_far('discernibility', self.best_cost, self.least)}"

    def remaining(self, why: str) -> str:
        """What is known of the best possible when the search ends early."""
        assert self.best_cost is not None
        return (
            f"{why} before optimality was proved: this is the best release found. Its discernibility is "
            f"{self.best_cost:,}; no release has less than {self.least:,}."
        )


def _bounded(node: _Node, bound: int) -> _Node:
    return _Node(node.codes, node.counts, node.ends, node.fixed, bound)
