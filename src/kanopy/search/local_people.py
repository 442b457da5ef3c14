"""Local recodings by people: any algorithm that groups rows, with what is the same in all rows of a unit kept alike.

Units are grouped by the columns that are the same in all of their rows, then the rows of each group of units by the
other columns: classes of fewer than k units are united with their nearest. Or, where that loses less, the first rows of
all units make one stratum, the second rows another, and so on: within a stratum rows are people.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from kanopy._arrays import Ints, Longs, Mask
from kanopy._core.classes import Domain, Recoding, recoding_from_nodes
from kanopy._core.numbering import distinct_tuples, number_keys, number_rows
from kanopy._core.units import Units
from kanopy._errors import JobError, NoSolution
from kanopy._progress import Progress
from kanopy.hierarchy.hierarchy import Hierarchy
from kanopy.metrics.full_domain import Loss
from kanopy.privacy.models import KAnonymity
from kanopy.search.local.best.safety import BoxSpace
from kanopy.search.local.boxes import lay_out
from kanopy.search.merging import unite_unsafe
from kanopy.search.partition_solution import never_together, release, release_score, safe_together
from kanopy.search.problem import Problem

if TYPE_CHECKING:
    from kanopy.search.solution import Algorithm, Solution

LAYERS = 0.0
SHARES = (LAYERS, 1.0, 1.4, 2.0, 3.0)
"""Rows of a class over k that are tried before classes of too few units are united, and layers instead."""
STEPS = 7
"""Sizes of groups of units that are tried, each twice the one before: k, 2k, …"""


def solve_by_people(algorithm: Algorithm, problem: Problem, progress: Progress) -> Solution:
    """The release of a local algorithm that counts units; raises `NoSolution` if there is none."""
    units = problem.domain.units
    assert units is not None
    if units.known != 1:
        raise JobError(
            f"The algorithm {algorithm.name!r} protects people of whom one row is known (known = 1): the rows of one "
            "are published in classes of their own, and together they may be rare. Use algorithm 'optimal'."
        )
    if getattr(algorithm, "free", ()):
        raise JobError(
            f"The algorithm {algorithm.name!r} publishes nodes of hierarchies where it counts {units.called}, no free "
            "ranges. Leave free out."
        )
    k = problem.k
    solution = _by_people(algorithm, problem, k, progress)
    while not safe_together(problem, solution.recoding):
        # Too many small classes for a model of the whole release: larger ones.
        k += max(1, k // 3)
        if problem.level_limits or k > units.count:
            raise never_together(problem)
        solution = _by_people(algorithm, problem, k, progress)
    if k == problem.k:
        return solution
    note = f"Classes were searched with at least {k} {units.called}, so that the release is safe as a whole."
    return replace(solution, notes=(*solution.notes, note))


def _by_people(algorithm: Algorithm, problem: Problem, k: int, progress: Progress) -> Solution:
    """The best release with classes of at least so many units."""
    from kanopy.search.algorithms import make_algorithm

    table = _Table(problem if k == problem.k else problem.changed(models=[KAnonymity(k)]))
    quick = make_algorithm("mondrian")
    sizes = [k] if not table.fixed.any() or table.fixed.all() else table.sizes(k)
    by_loss = problem.changed(metric=Loss())

    def loss(size: int, share: float) -> float:
        progress("choosing groups of people")
        try:
            return release_score(by_loss, table.recoding(quick, size, share, progress))
        except NoSolution:
            return math.inf

    size = min(sizes, key=lambda candidate: loss(candidate, SHARES[2])) if len(sizes) > 1 else sizes[0]
    share = LAYERS if table.fixed.all() else min(SHARES, key=lambda candidate: loss(size, candidate))
    seconds = getattr(algorithm, "budget_seconds", None)
    if seconds is not None and table.fixed.any() and not table.fixed.all():
        # People are grouped first, then their rows: each is a search of its own.
        algorithm = make_algorithm(algorithm.name, **(vars(algorithm) | {"budget_seconds": seconds / 2}))
    table.notes.clear()
    recoding = table.recoding(algorithm, size, share, progress)
    notes = list(dict.fromkeys(table.notes))
    if len(sizes) > 1:
        names = [name for name, same in zip(problem.domain.names, table.fixed, strict=True) if same]
        notes.append(f"{', '.join(names)} are published alike in all rows of one: in groups of at least {size:,}.")
    return release(algorithm.name, problem, recoding, notes=notes)


class _Table:
    """The rows of a problem by unit: which columns are fixed, and the place of every row among those of its unit."""

    def __init__(self, problem: Problem) -> None:
        domain = problem.domain
        assert domain.units is not None
        self.problem = problem
        self.notes: list[str] = []
        """What searches said."""
        self.rows = np.flatnonzero(domain.tuple_of_row >= 0)
        self.leaves = domain.tuples[domain.tuple_of_row[self.rows]]
        self.unit, self.first, _ = number_keys(domain.units.of_row[self.rows].astype(np.int64))
        self.fixed: Mask = (self.leaves == self.leaves[self.first][self.unit]).all(axis=0)
        # Rows of a unit in the order of their varying values, so that alike ones share a stratum.
        order = np.lexsort((*self.leaves[:, ~self.fixed].T[::-1], self.unit))
        starts = np.searchsorted(self.unit[order], np.arange(len(self.first)))
        self.place = np.empty(len(order), np.int64)
        self.place[order] = np.arange(len(order)) - starts[self.unit[order]]

    def sizes(self, k: int) -> list[int]:
        """How many units a group may have at least: from k up to all."""
        powers = [k * 2**step for step in range(STEPS)]
        return [size for size in powers if 2 * size <= len(self.first)] or [k]

    def recoding(self, algorithm: Algorithm, size: int, share: float, progress: Progress) -> Recoding:
        """What is published if units are grouped by at least `size`, and rows of a group by at least k units.

        For that they are grouped by `share` times k rows, and classes of too few units united; or, in `LAYERS`, the
        first rows of all units, the second rows, and so on.
        """
        k = self.problem.k
        team = np.zeros(len(self.first), np.int64)
        if self.fixed.any():
            limit = k if self.fixed.all() else size
            team = self._classes(algorithm, self.leaves[self.first], self.fixed, limit, None, progress)
        of_row = team[self.unit]
        group: Longs = of_row
        if not self.fixed.all() and share != LAYERS:
            least, strata = math.ceil(share * k), number_keys(of_row).number
            whose = self.unit.astype(np.int32)
            group = self._classes(algorithm, self.leaves, ~self.fixed, least, strata, progress, whose)
        elif not self.fixed.all():
            stratum, _, counts = number_rows([of_row, self.place])
            full = counts[stratum] >= k
            numbers = number_keys(np.where(full, stratum, -1).astype(np.int64)).number
            group = np.full(len(of_row), -1, np.int64)
            complete_groups = np.flatnonzero(full)
            group[complete_groups] = self._classes(
                algorithm, self.leaves[complete_groups], ~self.fixed, k, numbers[complete_groups], progress
            )
            # Rows of the few who have so many join the class of the last row of theirs that has one.
            rest = np.flatnonzero(~full)
            if len(rest):
                last = np.full(len(self.first), -1, np.int64)
                by_place = complete_groups[np.argsort(self.place[complete_groups], kind="stable")]
                last[self.unit[by_place]] = group[by_place]
                group[rest] = last[self.unit[rest]]
        return self._published(of_row, group)

    def _classes(
        self,
        algorithm: Algorithm,
        leaves: Ints,
        columns: Mask,
        k: int,
        strata: Ints | None,
        progress: Progress,
        whose: Ints | None = None,
    ) -> Longs:
        """Classes of at least `k` of these rows by some columns, within strata, and of as many units as the problem's k
        where it is said `whose` they are."""
        problem = self.problem
        picked = np.flatnonzero(columns).tolist()
        trees = [problem.domain.hierarchies[j] for j in picked]
        names = [problem.domain.names[j] for j in picked]
        codes = [np.ascontiguousarray(leaves[:, j]) for j in picked]
        lowest, highest = ([ends[j] for j in picked] for ends in (problem.lattice.lowest, problem.lattice.highest))
        weights = [problem.weights[j] for j in picked]
        weights = weights if sum(weights) > 0 else [1.0] * len(weights)
        if strata is not None and strata.max(initial=0) > 0:
            trees.append(Hierarchy.flat([str(number) for number in range(int(strata.max()) + 1)], name="\0stratum"))
            names, codes = [*names, "\0stratum"], [*codes, strata.astype(np.int32)]
            lowest, highest, weights = [*lowest, 0], [*highest, 0], [*weights, 0.0]
        tuples, counts, of_row, _ = distinct_tuples(codes, [tree.size for tree in trees])
        domain = Domain(tuple(names), tuple(trees), tuples, counts, of_row)
        subproblem = Problem(
            domain, [KAnonymity(k)], Loss(), weights=weights, lowest_levels=lowest, highest_levels=highest
        )
        solution = algorithm.search(subproblem, progress)
        self.notes += solution.notes
        recoding = solution.recoding
        classes = recoding.class_of_group[recoding.group_of_row]
        if whose is not None:
            layout = lay_out(subproblem)
            counted = replace(domain, units=Units(whose))
            by_people = subproblem.changed(domain=counted, models=[KAnonymity(problem.k)])
            united, _ = unite_unsafe(BoxSpace(layout), classes[layout.rows], by_people, progress)
            classes = np.full(len(classes), -1, np.int32)
            classes[layout.rows] = united
        return np.asarray(classes, np.int64)

    def _published(self, team: Longs, group: Longs) -> Recoding:
        """Each class publishes the lowest labels that its rows share; fixed columns those that all of its team do."""
        problem, domain = self.problem, self.problem.domain
        number, first, _ = number_rows([team, group])
        nodes = np.empty((len(first), domain.width), np.int32)
        for j, tree in enumerate(domain.hierarchies):
            owner = team.astype(np.int64) if self.fixed[j] else number.astype(np.int64)
            low, high = problem.lattice.lowest[j], problem.lattice.highest[j]
            nodes[:, j] = shared_nodes(tree, self.leaves[:, j], owner, low, high)[owner[first]]
        group_of_row = np.full(domain.rows, -1, np.int32)
        group_of_row[self.rows] = number
        return recoding_from_nodes(domain, group_of_row, nodes)


def shared_nodes(tree: Hierarchy, leaves: Ints, owner: Longs, low: int, high: int) -> Ints:
    """Per owner the lowest node, from level `low` to `high`, that stands above all of its leaves.

    >>> tree = Hierarchy.from_rows([["a", "x", "*"], ["b", "x", "*"], ["c", "y", "*"]])
    >>> found = shared_nodes(tree, np.array([0, 1, 2, 2], np.int32), np.array([0, 0, 1, 1]), 0, 2)
    >>> [tree.label(int(node)) for node in found]
    ['x', 'c']
    """
    count = int(owner.max(initial=-1)) + 1
    nodes = np.full(count, -1, np.int32)
    for number in range(low, high + 1):
        level = tree.level(number)
        codes = level.codes[leaves].astype(np.int64)
        least, most = np.full(count, np.iinfo(np.int64).max), np.full(count, -1)
        np.minimum.at(least, owner, codes)
        np.maximum.at(most, owner, codes)
        same = (least == most) & (nodes < 0)
        nodes[same] = level.nodes[least[same]]
    if (nodes < 0).any():
        raise NoSolution(
            "Some people can only share labels above the highest allowed level.", advice=["allow higher levels"]
        )
    return nodes
