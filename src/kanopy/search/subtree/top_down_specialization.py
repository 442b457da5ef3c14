"""Top-down specialization (Fung, Wang, Yu 2005): from the most general release on, specialize one node at a time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np
import numpy.typing as npt

from kanopy._arrays import Floats, Ints, Longs
from kanopy._compiler import for_size
from kanopy._core.classes import Domain, Sensitive
from kanopy._core.histograms import histogram, summed
from kanopy._core.numbering import number_keys
from kanopy._errors import Cancelled, JobError, near_miss
from kanopy._parameter_types import Name, Optional
from kanopy._progress import Progress
from kanopy.search.budget import Budget, so_far, used_up
from kanopy.search.judge import ClassJudge
from kanopy.search.no_solution import no_solution
from kanopy.search.partition_solution import release_nodes
from kanopy.search.problem import Problem
from kanopy.search.solution import About, Algorithm, EndingBudget, Solution
from kanopy.search.subtree.forest import Forest, plant_forest
from kanopy.search.subtree.specialize_kernel import (
    NOTHING,
    Outlook,
    Records,
    foresee,
    look_ahead,
    make_cut,
    make_outlook,
    split,
)  # fmt: skip

SMALL = 300
"""Up to this many records the bare loops are quicker than loading compiled ones."""
LARGEST_CLASS_TABLE = 100_000_000
STEP_SECONDS, SECONDS_PER_LOOK = 1e-4, 1e-8
"""Seconds of an ordinary machine for a step, and for a value of a record or a class that it looks at."""
STOPPED = "Stopped before no further specialization was possible: this is the release reached until then."


@dataclass(frozen=True)
class TopDownSpecialization(Algorithm):
    """Specialize, again and again, the node whose split is worth most per anonymity lost.

    **The paper** (Fung, Wang, Yu, ICDE 2005; TKDE 2007). Every column starts at its most general value. A step
    replaces one value of one column's cut by its children in the hierarchy, everywhere in the table. Of the steps
    after which the table still satisfies the privacy requirement, the one with the highest score is taken, until
    there is none. With a class attribute (`target`) the score is the information gain on the class over the rows
    under the value, divided by the anonymity lost plus one (the later paper's form, which is defined where none is
    lost); anonymity is the size of the smallest class. The table is kept as an index of classes, so a step touches
    only rows under its value.

    **What we had to decide.** Without `target` the gain is what the step saves of the job's metric (`loss` for
    metrics that put no price on a value), weights included. Steps that gain nothing for the class are made too,
    last, in the order of the metric: they publish more at no cost to the promise. Any models that judge classes one
    by one take the place of k. Where rows may be suppressed, unsafe classes are, as long as the limit holds, and a
    step that would lose more by suppression than it publishes is not made. Values that do not occur are no reason
    to stop higher: a node with one child that occurs is specialized at once. Numbers use their hierarchy; the paper
    grows one for them. Ties go to the higher gain, then to the column that comes first.

    **Guarantee.** Every step leads from a release that satisfies the job to another, so it can be stopped at any
    time; at the end no single specialization is possible. That is a local optimum: heuristic, nothing is proved
    about the loss.

    **Cost.** A step looks at each row under its value once per column; all steps together at each row about once
    per column and level. Models beyond class sizes are asked about one candidate at a time.

    **Not for** the least loss: `iyengar` searches the same releases more widely, local recoding loses a fraction of
    either. Choose it for data to train a classifier on, or when a value must be published alike in every row.

    >>> from kanopy.search.example import letters, published
    >>> published(TopDownSpecialization().solve(letters("aabbcd")))
    ['a', 'a', 'b', 'b', 'y', 'y']
    """

    target: Annotated[str | None, Optional(Name()), "the column that stays predictable"] = None
    budget_seconds: EndingBudget = None
    name, recoding = "top-down-specialization", "subtree"
    about = About(
        does="starts from the top and specializes the value worth most per anonymity lost, while it stays safe",
        source="Fung, Wang, Yu 2005", anytime=True,
    )  # fmt: skip

    def search(self, problem: Problem, progress: Progress) -> Solution:
        """Specialize until nothing more is safe; a callback that says stop ends the search, not the work."""
        target = None if self.target is None else _target_column(problem.domain, self.target)
        forest = plant_forest(problem)
        worth = None if target is None else information_gains(forest, target)
        search = _Specialization(forest, worth)
        if search.gone > problem.max_suppressed_rows:
            raise no_solution(problem)
        notes = []
        inner = max(1, int((forest.children > 0).sum()))
        work = Budget(self.budget_seconds)
        try:
            progress("specializing", 0.0, search.standing)
            while not work.over and search.step():
                progress("specializing", max(work.done, min(1.0, search.steps / inner)), search.standing)
                work.spend_up_to(search.work_seconds)
            if work.over:
                notes.append(used_up("nothing could be specialized any more", search.judged))
        except (Cancelled, KeyboardInterrupt):
            notes.append(STOPPED)
        return release_nodes(
            self.name, problem, forest.published(search.nodes()), judged=search.judged, notes=notes,
        )  # fmt: skip


def information_gains(forest: Forest, target: Sensitive) -> Floats:
    """Per node, the bits about the target that its rows gain when it is replaced by its children (0 for leaves)."""
    width = len(target.values)
    if forest.nodes * width > LARGEST_CLASS_TABLE:
        raise JobError(
            f"The target {target.name!r} has {width:,} different values: information gain needs a class attribute with "
            "few. Group its values first, or leave the target out."
        )
    domain = forest.domain
    used = domain.tuple_of_row >= 0
    record = forest.record_of_tuple[domain.tuple_of_row[used]]
    table = np.zeros((forest.nodes, width))
    for j in range(domain.width):
        table += histogram(forest.leaves[record, j], target.code_of_row[used], forest.nodes, width)
    for node in range(forest.nodes - 1, -1, -1):
        if forest.parent[node] >= 0:
            table[forest.parent[node]] += table[node]
    total = table.sum(axis=1)
    shares = table / np.maximum(total, 1)[:, None]
    bits = total * -(shares * np.log2(np.where(shares > 0, shares, 1.0))).sum(axis=1)
    below = np.zeros(forest.nodes)
    inner = forest.parent >= 0
    np.add.at(below, forest.parent[inner], bits[inner])
    gain = np.where(forest.children > 0, (bits - below) / np.maximum(total, 1), 0.0)
    # Rounding must not tell apart what is equal, nor make an information gain negative.
    return np.asarray(np.maximum(0.0, np.round(gain, 12)), np.float64)


def _target_column(domain: Domain, name: str) -> Sensitive:
    column_of_name = {column.name: column for column in domain.sensitive}
    if name in domain.names:
        raise JobError(
            f"The target {name!r} is a quasi-identifier: it is generalized itself. Name a column that is published "
            "unchanged."
        )
    if name not in column_of_name:
        raise JobError(
            f"The target {name!r} is not among the columns that can be used. {near_miss(name, column_of_name)}"
        )
    return column_of_name[name]


class _Specialization:
    """The present cut: its classes, what is foreseen, and which nodes can no longer be split."""

    def __init__(self, forest: Forest, target_gain: Floats | None) -> None:
        problem = forest.problem
        self.forest, self.problem, self.target_gain = forest, problem, target_gain
        self.judge = ClassJudge(problem, forest.record_of_tuple)
        self.records = Records(
            forest.leaves, forest.counts, forest.ancestor, forest.depth, forest.children, forest.worth
        )
        self.cut = make_cut(forest.records, len(forest.labels))
        self.outlook: Outlook = make_outlook(forest.nodes)
        self.held = np.zeros(forest.nodes, np.int64)
        self.touched = np.zeros(forest.nodes, np.int32)
        self.changed = np.zeros(forest.records, np.int64)
        self.split = for_size(split, forest.records, SMALL)
        self.foresee = for_size(foresee, forest.records, SMALL)
        self.look_ahead = for_size(look_ahead, forest.records, SMALL)
        self.dead = forest.children == 0
        self.opinion: dict[int, tuple[int, int, float]] = {}
        """Per node what the models said of its split: rows suppressed before and after, and the gain."""
        self.steps = self.judged = self.looked_at = 0
        self._begin()

    @property
    def work_seconds(self) -> float:
        """What has been done so far, in seconds of an ordinary machine (see `kanopy.search.budget`)."""
        return STEP_SECONDS * (self.steps + self.judged) + SECONDS_PER_LOOK * self.looked_at

    def standing(self) -> str:
        """The classes of the cut as it is, and what it loses."""
        cut, keep = self.cut, self.forest.keep
        safe = np.flatnonzero(cut.unsafe[: self.classes] == 0)
        sizes = cut.size[safe]
        retained = (keep[cut.at[safe]] * sizes[:, None]).sum(axis=0)
        score = self.forest.score(retained, len(safe), self.gone, int(np.dot(sizes, sizes)))
        return f"{self.classes:,} classes, {so_far(self.forest.measure, score)}"

    def _begin(self) -> None:
        number = self.forest.number_nodes(self.forest.roots).number
        order = np.argsort(number, kind="stable")
        starts = np.flatnonzero(np.diff(number[order], prepend=-1))
        self.classes = len(starts)
        cut = self.cut
        cut.order[:] = order
        cut.begin[: self.classes] = starts
        cut.end[: self.classes] = np.append(starts[1:], len(order))
        cut.size[: self.classes] = np.add.reduceat(self.forest.counts[order], starts)
        cut.at[: self.classes] = self.forest.roots[order[starts]]
        self._judge(np.arange(self.classes))

    def _judge(self, classes: Longs) -> None:
        """Bring what is known of some classes up to date, and look ahead."""
        cut = self.cut
        cut.unsafe[classes] = self._unsafe(classes)
        rows = int((cut.end[classes] - cut.begin[classes]).sum())
        self.looked_at += (rows + self.classes) * cut.at.shape[1]
        self.foresee(self.records, cut, classes, self.problem.k, self.held, self.touched)
        self.look_ahead(cut, self.classes, self.outlook)
        self.gone = int(cut.size[: self.classes][cut.unsafe[: self.classes] > 0].sum())

    def _unsafe(self, classes: Longs) -> npt.NDArray[np.bool_]:
        if self.problem.of_sizes:
            return np.asarray(self.cut.size[classes] < self.problem.k, np.bool_)
        members, number = self._members(classes)
        return self.judge.unsafe(number, len(classes), members)

    def _members(self, classes: Longs) -> tuple[Longs, Longs]:
        """The records of some classes, and the place of each record's class among them."""
        begin, lengths = self.cut.begin[classes], self.cut.end[classes] - self.cut.begin[classes]
        number = np.repeat(np.arange(len(classes)), lengths)
        within = np.arange(len(number)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        return self.cut.order[begin[number] + within], number

    def nodes(self) -> Ints:
        """`[record, column]`: what is published."""
        published_nodes = np.empty_like(self.forest.leaves)
        classes = np.arange(self.classes)
        members, number = self._members(classes)
        published_nodes[members] = self.cut.at[number]
        return published_nodes

    def step(self) -> bool:
        """Make the best specialization that is valid; `False` if there is none."""
        for v in self._ranked():
            if self._valid(v):
                self._specialize(v)
                return True
        return False

    def _ranked(self) -> list[int]:
        """Nodes whose split may be valid, best score first."""
        outlook = self.outlook
        lost = self._anonymity_lost()
        by_metric = outlook.gain / (lost + 1.0)
        fits = outlook.small <= outlook.gone + self._room()
        if self.problem.of_sizes:
            # Otherwise only the models can tell: rows that are unsafe today may be safe in smaller classes.
            fits &= outlook.gain > -1e-9
        if self.problem.monotonic:
            self.dead |= (outlook.classes > 0) & ~(outlook.small <= outlook.gone + self._room())
        nodes = np.flatnonzero(fits & ~self.dead & (outlook.classes > 0))
        score = by_metric if self.target_gain is None else self.target_gain / (lost + 1.0)
        return [int(v) for v in nodes[np.lexsort((nodes, -by_metric[nodes], -score[nodes]))]]

    def _room(self) -> int:
        return self.problem.max_suppressed_rows - self.gone

    def _anonymity_lost(self) -> Longs:
        """Per node by how much its split makes the smallest published class smaller."""
        outlook, start = self.outlook, self.forest.start
        least = np.full(self.forest.nodes, NOTHING)
        for j in range(len(start) - 1):
            span = slice(int(start[j]), int(start[j + 1]))
            now = outlook.least_now[span]
            smallest, second = np.partition(np.append(now, NOTHING), 1)[:2]
            others = np.where(now == smallest, second, smallest)
            least[span] = np.minimum(others, outlook.least_after[span])
        smallest_now = int(self.outlook.least_now.min())
        return np.asarray(np.where(least < smallest_now, smallest_now - least, 0), np.int64)

    def _valid(self, v: int) -> bool:
        self.judged += 1
        if self.problem.of_sizes:
            return True  # the ranking looked at sizes already
        if v not in self.opinion:
            self.opinion[v] = self._ask(v)
        before, after, gain = self.opinion[v]
        if after > before + self._room():
            self.dead[v] = self.problem.monotonic
            return False
        return gain > -1e-9

    def _ask(self, v: int) -> tuple[int, int, float]:
        """What the models say of the split of a node: rows suppressed before and after, and what the split gains."""
        forest, cut = self.forest, self.cut
        j = int(forest.column[v])
        under = np.flatnonzero(cut.at[: self.classes, j] == v)
        members, number = self._members(under)
        self.looked_at += len(members) * cut.at.shape[1]
        child = forest.ancestor[forest.depth[v] + 1, forest.leaves[members, j]]
        class_of, first, _ = number_keys(number * np.int64(forest.nodes) + child, ascending=True)
        unsafe = self.judge.unsafe(class_of, len(first), members)
        sizes = summed(forest.counts[members], class_of, len(first))
        parent = number[first]
        whole = forest.worth[cut.at[under]].sum(axis=1)
        kept_before = np.where(cut.unsafe[under] > 0, 0.0, whole)[parent]
        kept_after = np.where(unsafe, 0.0, whole[parent] + forest.worth[child[first]] - forest.worth[v])
        before = int(cut.size[under][cut.unsafe[under] > 0].sum())
        return before, int(sizes[unsafe].sum()), float(np.dot(sizes, kept_after - kept_before))

    def _specialize(self, v: int) -> None:
        j = int(self.forest.column[v])
        self.classes, changed_count = self.split(self.records, self.cut, self.classes, j, v, self.held, self.changed)
        changed = self.changed[:changed_count].copy()
        # What the models said of a split holds until a class under its node changes.
        for node in np.unique(self.cut.at[changed]):
            self.opinion.pop(int(node), None)
        self.opinion.pop(v, None)
        self._judge(changed)
        self.steps += 1
