"""Iyengar's genetic algorithm (2002): breed cuts through the hierarchies, one per column."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Annotated

import numpy as np

from kanopy._errors import Cancelled
from kanopy._parameter_types import Integer, Optional
from kanopy._progress import Progress
from kanopy.search.budget import Budget, so_far
from kanopy.search.judge import Judgement
from kanopy.search.no_solution import no_solution
from kanopy.search.partition_solution import release_nodes
from kanopy.search.problem import Problem
from kanopy.search.solution import About, Algorithm, BudgetSeconds, Seed, Solution
from kanopy.search.subtree.cut_judge import CutJudge, Open
from kanopy.search.subtree.forest import Forest, plant_forest

ELITE = 2
TOURNAMENT = 3
CROSSED = 0.8
"""The share of children with two parents."""
DESCENTS = 8
"""Full-domain candidates, besides the most general one, that the first generation descends from."""
STALE = 25
"""Generations without a better leader after which the population is renewed."""
IDLE = 60
"""Generations without any new chromosome after which the search ends: it has seen what there is."""
STOPPED = "Stopped before the budget was used up: this is the best release found until then."
RECORD_SECONDS, CUT_SECONDS = 2.5e-9, 1.2e-4
"""Seconds of an ordinary machine for a record and column that is judged, and for a cut."""


@dataclass(frozen=True)
class Iyengar(Algorithm):
    """Breed cuts: each column publishes the nodes of one cut through its hierarchy, the same for every row.

    **The paper** (Iyengar, KDD 2002). With the values of a column in the order of its hierarchy, a bit between each
    two neighbours says whether they are told apart; the bits of all columns make a chromosome, and only bits that
    form a cut of the hierarchy are valid. A genetic algorithm minimizes the loss of the release, where rows in
    classes that are too small are suppressed and lose everything. The loss it proposes is our `loss`.

    **What we had to decide.** Two neighbours are told apart exactly when the lowest node above both is opened, so
    we keep one bit per node of the hierarchy and repair a chromosome by closing what lies under a closed node.
    Columns are inherited whole from either parent, and one subtree is exchanged (a crossover that respects the
    hierarchy, after Lunacek, Whitley, Ray 2006); mutations open or close nodes at the edge of the cut. Selection is
    by tournament, the best two survive; a population without progress for 25 generations is given up for a new one,
    every second time with the best so far in it. A chromosome that would suppress more rows than allowed loses to
    any that does not. The fitness is the job's metric (`loss` where the metric is not defined for cuts). The first
    generation descends from full-domain recodings: from the top, columns are lowered level by level while the
    release stays feasible, once the best each time, then random ones.

    **Guarantee.** The release satisfies the job and never loses more than the full-domain recodings it started
    from. Heuristic: nothing is proved about the loss. `generations` are bred, or as many as `budget_seconds` allow
    (counted as work, not by the clock: the same job gives the same release), fewer if no new chromosome turns up.
    Interrupting keeps the best so far.

    **Cost.** One pass over the distinct records per chromosome: about a thousand a second for Adult's 25,000.

    **Not for** tables with outliers where nothing may be suppressed: one rare value forces its whole column up in
    every row. Local recoding has no such trouble. Not for hierarchies that do not nest.

    >>> from kanopy.search.example import letters, published
    >>> published(Iyengar(generations=3, population=6).solve(letters("aabbcd")))
    ['a', 'a', 'b', 'b', 'y', 'y']
    """

    budget_seconds: BudgetSeconds = 5.0
    generations: Annotated[int | None, Optional(Integer(0)), "generations to breed instead of a time"] = None
    population: Annotated[int, Integer(ELITE + 1), "releases alive at the same time"] = 50
    seed: Seed = 0
    name, recoding = "iyengar", "subtree"
    about = About(
        does="breeds cuts through the hierarchies, from full-domain recodings on, by crossover and mutation",
        source="Iyengar 2002", search="genetic", seeded=True, anytime=True,
    )  # fmt: skip

    def search(self, problem: Problem, progress: Progress) -> Solution:
        """Breed until the budget is used up; a callback that says stop ends the search, not the work."""
        work = Budget(self.budget_seconds if self.generations is None else None)
        forest = plant_forest(problem)
        judge = CutJudge(forest)
        top: Open = np.zeros(forest.nodes, np.bool_)
        first = judge.evaluate(top)
        if not first.feasible:
            raise no_solution(problem)
        breeding = _Breeding(judge, self.population, np.random.default_rng(self.seed), top, first, work)
        notes = []
        try:
            for fraction in breeding.descend(problem):
                progress("descending", fraction, partial(so_far, forest.measure, breeding.best.score))
                if work.over:
                    break
            breeding.fill()
            generation = 0
            while breeding.anything_to_do:
                done = work.done
                if self.generations is not None:
                    done = generation / self.generations if self.generations else 1.0
                if done >= 1:
                    break
                progress("breeding", done, partial(so_far, forest.measure, breeding.best.score))
                breeding.breed()
                generation += 1
        except (Cancelled, KeyboardInterrupt):
            notes.append(STOPPED)
        return release_nodes(
            self.name, problem, forest.published(judge.records_at(breeding.best_cut)), judged=judge.judged,
            notes=notes,
        )  # fmt: skip


def number_of_cuts(forest: Forest) -> int:
    """How many cuts there are, over all columns.

    >>> from kanopy.search.example import letters
    >>> number_of_cuts(plant_forest(letters("abc")))
    3
    """
    below = [1] * forest.nodes
    whole = 1
    for node in range(forest.nodes - 1, -1, -1):
        cuts = below[node] + 1 if forest.children[node] else 1
        if forest.parent[node] >= 0:
            below[int(forest.parent[node])] *= cuts
        else:
            whole *= cuts
    return whole


def _key(cut: Open) -> bytes:
    return np.packbits(cut).tobytes()


class _Breeding:
    """The population, sorted from best to worst, and the best cut seen."""

    def __init__(
        self, judge: CutJudge, size: int, random: np.random.Generator, top: Open, fitness: Judgement, work: Budget
    ) -> None:
        self.work = work
        self.judge, self.size, self.random = judge, size, random
        self.forest: Forest = judge.forest
        self.inner = self.forest.children > 0
        self.cuts = number_of_cuts(self.forest)
        self.known: dict[bytes, Judgement] = {_key(top): fitness}
        self.members: list[tuple[Judgement, Open]] = [(fitness, top)]
        self.best, self.best_cut = fitness, top
        self.top = self.members[0]
        self.stale = self.epochs = 0
        """Generations since the best of this epoch was found, and how often the population was renewed."""
        self.leader = fitness
        self.idle = 0
        """Generations since a cut was judged that had not been before."""
        self.inner_nodes = np.flatnonzero(self.inner)

    def _subtree(self, v: int) -> np.ndarray[tuple[int], np.dtype[np.intp]]:
        forest = self.forest
        return np.flatnonzero((forest.ancestor[forest.depth[v]] == v) & self.inner)

    @property
    def anything_to_do(self) -> bool:
        """Whether there are cuts left to judge, and new ones still turn up."""
        return len(self.known) < self.cuts and self.idle < IDLE

    def _judged(self, cut: Open) -> Judgement:
        key = _key(cut)
        if key not in self.known:
            self.idle = 0
            self.work.spend(CUT_SECONDS + RECORD_SECONDS * self.forest.leaves.size)
            self.known[key] = self.judge.evaluate(cut)
            if self.known[key].better_than(self.best):
                self.best, self.best_cut = self.known[key], cut
        return self.known[key]

    def descend(self, problem: Problem) -> Iterator[float]:
        """Add full-domain candidates from which no column can be lowered further; yields the part done.

        The first descent lowers the column that loses least by it, the others a random one.
        """
        for number in range(DESCENTS):
            levels = list(problem.lattice.highest)
            member = self.top
            columns = self._lowerable(problem, levels, range(len(levels)))
            while columns:
                tried = (
                    columns if number == 0 and not self.epochs else [columns[int(self.random.integers(len(columns)))]]
                )
                candidates = []
                for j in list(tried):
                    yield number / DESCENTS
                    levels[j] -= 1
                    cut = self.judge.level_cut(tuple(levels))
                    levels[j] += 1
                    judged = self._judged(cut)
                    if judged.feasible:
                        candidates.append((judged.score, j, (judged, cut)))
                    else:
                        columns.remove(j)
                if candidates:
                    _, j, member = min(candidates, key=lambda candidate: candidate[:2])
                    levels[j] -= 1
                    columns = self._lowerable(problem, levels, columns)
            self.members.append(member)

    @staticmethod
    def _lowerable(problem: Problem, levels: list[int], columns: Iterable[int]) -> list[int]:
        return [j for j in columns if levels[j] > problem.lattice.lowest[j]]

    def fill(self) -> None:
        """Complete the first generation with mutants."""
        while len(self.members) < self.size:
            parent = self.members[int(self.random.integers(len(self.members)))][1]
            cut = self._mutant(parent)
            self.members.append((self._judged(cut), cut))
        self._sort()

    def breed(self) -> None:
        """Replace all but the best by children; a population that gets no further is renewed."""
        self.idle += 1
        self.work.spend(CUT_SECONDS * self.size)
        if self.stale > STALE:
            self._renew()
            return
        children: list[tuple[Judgement, Open]] = self.members[:ELITE]
        while len(children) < self.size:
            crossed = self.random.random() < CROSSED
            cut = self._mutant(self._crossed(self._chosen(), self._chosen()) if crossed else self._chosen())
            children.append((self._judged(cut), cut))
        self.members = children
        self._sort()

    def _renew(self) -> None:
        """Begin again from other full-domain candidates; every second time the best so far is among them."""
        self.epochs += 1
        self.members = [self.top] if self.epochs % 2 else [(self.best, self.best_cut)]
        for _ in self.descend(self.forest.problem):
            pass
        self.leader = self.top[0]
        self.fill()

    def _sort(self) -> None:
        self.members.sort(key=lambda member: member[0].rank)
        ahead = self.members[0][0].better_than(self.leader)
        self.stale = 0 if ahead else self.stale + 1
        self.leader = self.members[0][0] if ahead else self.leader

    def _chosen(self) -> Open:
        """The best of a few random members."""
        return self.members[int(self.random.integers(len(self.members), size=TOURNAMENT).min())][1]

    def _crossed(self, one: Open, two: Open) -> Open:
        """Columns whole from either parent, and one subtree from the second."""
        forest = self.forest
        from_two = self.random.random(len(forest.labels)) < 0.5
        child: Open = np.where(from_two[forest.column], two, one)
        subtree = self._subtree(int(self.inner_nodes[int(self.random.integers(len(self.inner_nodes)))]))
        child[subtree] = two[subtree]
        return self.judge.closed_under(child)

    def _mutant(self, cut: Open, changes: int = 1) -> Open:
        """A few nodes at the edge of the cut opened or closed; what was judged before is changed once more."""
        mutant = cut
        for attempt in range(changes + 4):
            mutant = self._changed(mutant)
            if attempt + 1 >= changes and _key(mutant) not in self.known:
                break
        return mutant

    def _changed(self, cut: Open) -> Open:
        forest = self.forest
        can_open = self.inner & ~cut & ((forest.parent < 0) | cut[forest.parent])
        below = np.bincount(forest.parent[cut & (forest.parent >= 0)], minlength=forest.nodes) > 0
        can_close = cut & ~below
        changed: Open = cut.copy()
        up, down = np.flatnonzero(can_close), np.flatnonzero(can_open)
        kind = self.random.random()
        if len(up) and (kind < 0.2 or not len(down)):
            changed[up[int(self.random.integers(len(up)))]] = False
        elif len(up) and kind < 0.3:
            nodes = np.flatnonzero(cut)
            changed[self._subtree(int(nodes[int(self.random.integers(len(nodes)))]))] = False
        elif len(up) and kind < 0.6:
            changed[up[int(self.random.integers(len(up)))]] = False
            changed[down[int(self.random.integers(len(down)))]] = True
            changed = self.judge.closed_under(changed)
        elif len(down):
            changed[down[int(self.random.integers(len(down)))]] = True
        return changed
