"""Cell-level generalization: every cell has a level of its own, and only rows that need it are lifted."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kanopy._arrays import Floats, Ints, Longs, Mask
from kanopy._compiler import for_size
from kanopy._core.histograms import summed
from kanopy._progress import Progress
from kanopy.search.cell.lifting_kernel import Meetings, meet
from kanopy.search.judge import ClassJudge
from kanopy.search.no_solution import no_solution
from kanopy.search.partition_solution import release_nodes
from kanopy.search.problem import Problem
from kanopy.search.solution import About, Algorithm, Solution
from kanopy.search.subtree.forest import Forest, plant_forest


@dataclass(frozen=True)
class CellLevel(Algorithm):
    """Generalize single cells, one step at a time, where a step costs least, until every class is safe.

    **The literature.** Surveys list "cell-level generalization" as the extension of Iyengar's cuts in which equal
    values of different rows may be published at different levels, and cite Lunacek, Whitley, Ray (GECCO 2006); that
    paper is about a crossover for searches over cuts and gives no procedure for single cells. The greedy here is
    ours.

    **What we decided.** Equal rows stay together, and all start as they are (at the lowest allowed levels). Classes
    that some model finds unsafe are lifted; safe classes stay untouched. In a round, every unsafe class looks at
    each column: if its cell went up one step, and so did the cells of all other unsafe classes that this would make
    equal, how many rows would be published alike? The step costs what the rows of the class lose under the job's
    metric (`loss` where the metric puts no price on a value); it is rated by cost over progress, the part of the
    rows missing for k that it brings. Steps are taken in the order of this rate, all classes of a meeting together;
    a class that meets nobody takes its cheapest step alone. Afterwards each class publishes no more than its rows
    need: the lowest common ancestors. What is left at the top and still unsafe joins the safe class where that
    costs least, or is suppressed where that is allowed and costs less.

    **Guarantee.** The release satisfies the job; without highest levels there is always one as long as the whole
    table in one class is safe. Heuristic: nothing is proved about the loss.

    **Cost.** Rounds are at most as many as levels of all columns together, usually 20 to 30; each looks at the
    unsafe classes once per column. Half a second for Adult, about five seconds for a million rows.

    **Not for** analyses that need a column to be published alike in all rows (a value appears at several levels), nor
    for the least loss: `best` reaches half of it. With models of sensitive values it does worse still (Adult, k = 5
    and two different incomes per class: loss .30, where `best` reaches .11), since large classes that are all alike
    climb until they meet others, while their safe neighbours stay untouched. Not for hierarchies that do not nest.

    >>> from kanopy.search.example import letters, published
    >>> published(CellLevel().solve(letters("aabc", "abc d")))
    ['a', 'a', 'x', 'x']
    """

    name, recoding = "cell-level", "cell"
    about = About(
        does="lifts single cells of the rows that need it, the cheapest step that brings rows together first",
        source="after the surveys' reading of Iyengar 2002 and Lunacek, Whitley, Ray 2006; procedure by Kanopy",
    )  # fmt: skip

    def search(self, problem: Problem, progress: Progress) -> Solution:
        """Lift cells until every class is safe."""
        progress("laying out")
        lifting = _Lifting(plant_forest(problem))
        whole = max(1, lifting.unsafe_rows)
        while lifting.round():
            progress("lifting cells", 1.0 - lifting.unsafe_rows / whole, f"{lifting.unsafe_rows:,} rows to go")
        lifting.tighten()
        if lifting.join_rest() > problem.max_suppressed_rows:
            raise no_solution(problem)
        nodes, rounds = lifting.forest.published(lifting.nodes()), lifting.rounds
        return release_nodes(self.name, problem, nodes, judged=rounds, candidates=rounds)


class _Lifting:
    """Classes (equal nodes) with their rows, and which of them are unsafe.

    `alike` numbers what would be published alike: nodes of different levels can have one label.
    """

    def __init__(self, forest: Forest) -> None:
        self.forest, self.problem = forest, forest.problem
        self.judge = ClassJudge(self.problem, forest.record_of_tuple)
        self.class_of: Ints = np.arange(forest.records, dtype=np.int32)
        self.at: Ints = forest.leaves.copy()
        self.size: Longs = forest.counts.copy()
        self.meet = for_size(meet, forest.records)
        self.rounds = 0
        self._settle()

    @property
    def unsafe_rows(self) -> int:
        """Rows in classes that are not safe yet."""
        return int(self.size[self.unsafe].sum())

    def nodes(self) -> Ints:
        """`[record, column]`: what is published."""
        return self.at[self.class_of]

    def _settle(self) -> None:
        """Unite classes with equal nodes, and judge."""
        forest = self.forest
        number, first, _ = forest.number_nodes(self.at)
        self.size = summed(self.size, number, len(first))
        self.at = self.at[first]
        self.class_of = number[self.class_of]
        self.alike, kinds, _ = forest.number(self.at)
        self.unsafe: Mask = self.judge.unsafe(self.alike[self.class_of], len(kinds))[self.alike]

    def round(self) -> bool:
        """Lift one cell of the unsafe classes that can be; `False` if there are none."""
        active = np.flatnonzero(self.unsafe & (self.forest.parent[self.at] >= 0).any(axis=1))
        if not len(active):
            return False
        self.rounds += 1
        rate, cost, meetings = self._look_around(active)
        lifted = np.full(len(active), -1, np.int32)
        options = np.argsort(rate, axis=None, kind="stable")
        options = options[np.isfinite(rate.reshape(-1)[options])]
        self.meet(meetings, options, lifted)
        # Those who meet nobody, whatever they do, go up alone.
        alone = np.flatnonzero(~np.isfinite(rate).any(axis=1))
        lifted[alone] = np.argmin(cost[alone], axis=1)
        moved = np.flatnonzero(lifted >= 0)
        classes, columns = active[moved], lifted[moved]
        self.at[classes, columns] = self.forest.parent[self.at[classes, columns]]
        self._settle()
        return True

    def _look_around(self, active: Longs) -> tuple[Floats, Floats, Meetings]:
        """Per active class and column the rate and the cost of lifting that cell, and whom it would meet there."""
        forest = self.forest
        width = self.at.shape[1]
        # Only safe classes with a generalized cell can be met by a lifted one.
        open_classes = np.flatnonzero(~self.unsafe & (forest.children[self.at] > 0).any(axis=1))
        mine, theirs = self.at[active], self.at[open_classes]
        size = self.size[active]
        rate = np.full((len(active), width), np.inf)
        cost = np.full((len(active), width), np.inf)
        group = np.full((len(active), width), -1, np.int64)
        rows: list[Longs] = []
        needed: list[Longs] = []
        count = 0
        for j in range(width):
            up = forest.parent[mine[:, j]]
            can = np.flatnonzero(up >= 0)
            if not len(can):
                continue
            raised = mine[can].copy()
            raised[:, j] = up[can]
            number, first, _ = forest.number(np.concatenate([raised, theirs]))
            members = np.concatenate([active[can], open_classes])
            together = summed(self.size[members], number, len(first))
            here = number[: len(can)]
            progress, wanted = self._progress(members, number, together, here, size[can])
            cost[can, j] = forest.worth[mine[can, j]] - forest.worth[up[can]]
            met = together[here] > size[can]
            rate[can[met], j] = cost[can[met], j] / progress[met]
            group[can, j] = here + count
            rows.append(together)
            needed.append(wanted)
            count += len(first)
        flat = group.reshape(-1)
        members = np.argsort(flat, kind="stable")
        start = np.searchsorted(flat[members], np.arange(count + 1))
        return rate, cost, Meetings(group, members, start, np.concatenate(rows), np.concatenate(needed), size)

    def _progress(self, members: Longs, number: Ints, together: Longs, here: Ints, size: Longs) -> tuple[Floats, Longs]:
        """How far towards safety each class would come in its meeting (0 to 1), and the rows each meeting needs."""
        k = self.problem.k
        if self.problem.of_sizes:
            reached = np.minimum(k, together)
            return np.asarray((reached[here] - size) / np.maximum(1, k - size), np.float64), reached
        meeting_of_class = np.full(len(self.size), -1, np.int64)
        meeting_of_class[members] = number
        records = np.flatnonzero(meeting_of_class[self.class_of] >= 0)
        unsafe = self.judge.unsafe(meeting_of_class[self.class_of[records]], len(together), records)
        # Models give no measure of how far a class is from safe: the part of its rows that would be new stands for it.
        grown = 0.5 * (1.0 - size / np.maximum(1, together[here]))
        return np.where(unsafe[here], grown, 1.0), together

    def tighten(self) -> None:
        """Let every class publish the lowest common ancestors of its rows.

        Classes can become equal that way; if a model minds, all stay as they were.
        """
        before = self.at, self.size, self.class_of, self.alike, self.unsafe
        forest = self.forest
        order = np.argsort(self.class_of, kind="stable")
        starts = np.flatnonzero(np.diff(self.class_of[order], prepend=-1))
        lowest = self.at.copy()
        for j in range(lowest.shape[1]):
            leaves = forest.leaves[order, j]
            for depth in range(int(forest.depth[forest.start[j] : forest.start[j + 1]].max()) + 1):
                node = forest.ancestor[depth, leaves]
                least, most = np.minimum.reduceat(node, starts), np.maximum.reduceat(node, starts)
                agreed = (least == most) & (least >= 0)
                lowest[agreed, j] = least[agreed]
        shared = np.bincount(self.alike)[self.alike] > 1
        lowest[shared] = self.at[shared]
        self.at = lowest
        rows = self.unsafe_rows
        self._settle()
        if self.unsafe_rows > rows:
            self.at, self.size, self.class_of, self.alike, self.unsafe = before

    def join_rest(self) -> int:
        """Let unsafe classes join safe ones; returns the rows that are left to be suppressed."""
        while self.unsafe.any() and self._join_once():
            self._settle()
        return self.unsafe_rows

    def _join_once(self) -> bool:
        """Let each unsafe class join safe classes, each of those at most once; whether any did."""
        forest = self.forest
        apart = forest.number_nodes(forest.ancestor[0][self.at]).number
        free = ~self.unsafe
        left = 0
        for c in np.flatnonzero(self.unsafe).tolist():
            cost, classes, nodes = self._best_union(c, np.flatnonzero((apart == apart[c]) & free))
            rows = int(self.size[c])
            if len(classes) and (cost < 0 or left + rows > self.problem.max_suppressed_rows):
                self.at[np.append(classes, c)] = nodes
                free[classes] = False
            else:
                left += rows
        return not bool((free == ~self.unsafe).all())

    def _best_union(self, c: int, safe: Longs) -> tuple[float, Longs, Ints]:
        """The safe classes to join so that the union is safe, what that costs beyond suppressing `c`, and its nodes.

        The nearest one alone, else the nearest two, four, …; none if not even all together are safe.
        """
        forest = self.forest
        worth = forest.worth
        meeting = self._common(np.broadcast_to(self.at[c], (len(safe), self.at.shape[1])), self.at[safe])
        retained = worth[meeting].sum(axis=1)
        cost = self.size[safe] * (worth[self.at[safe]].sum(axis=1) - retained) - self.size[c] * retained
        order = np.argsort(cost, kind="stable")
        count = 1
        while len(order):
            chosen = safe[order[:count]]
            nodes = self.at[c]
            for other in chosen:
                nodes = self._common(nodes[None], self.at[other][None])[0]
            inside = np.zeros(len(self.size), np.bool_)
            inside[chosen] = inside[c] = True
            records = np.flatnonzero(inside[self.class_of])
            if not self.judge.unsafe(np.zeros(len(records), np.int64), 1, records)[0]:
                sizes = self.size[chosen]
                before = float(np.dot(sizes, worth[self.at[chosen]].sum(axis=1)))
                after = float((sizes.sum() + self.size[c]) * worth[nodes].sum())
                return before - after, chosen, nodes
            if count >= len(order):
                break
            count = min(2 * count, len(order))
        return 0.0, np.zeros(0, np.int64), self.at[c]

    def _common(self, one: Ints, two: Ints) -> Ints:
        """Lowest common ancestors, cell by cell, of nodes under the same roots."""
        ancestor = self.forest.ancestor
        common = ancestor[0][one]
        for row in ancestor[1:]:
            a, b = row[one], row[two]
            common = np.where((a == b) & (a >= 0), a, common)
        return np.asarray(common, np.int32)
