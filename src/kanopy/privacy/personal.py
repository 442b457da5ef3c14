"""Models about near values, about how far values may be generalized, and about what each person wants."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
import numpy.typing as npt

from kanopy._arrays import Mask
from kanopy._core.classes import Classes, ColumnFacts
from kanopy._errors import DataError, HierarchyError, JobError, near_miss, some
from kanopy._lazy import public
from kanopy._parameter_types import ColumnNames, Name, Number, Share
from kanopy.hierarchy.hierarchy import Hierarchy
from kanopy.privacy.base import TOLERANCE, Model, SensitiveModel, labels_of, percent


@public("kanopy.privacy")
@dataclass(frozen=True)
class EpsilonM(SensitiveModel):
    """Around each number `x` of a class, at most `1/m` of the class lies within `epsilon` of it (Li, Tao, Xiao 2008).

    Not monotonic: rows of another class may crowd around a value that the other class itself does not have.

    >>> import numpy as np
    >>> from kanopy._core.classes import ColumnFacts
    >>> facts = {"pay": ColumnFacts(("10", "11", "90"), np.array([2, 1, 1]), np.array([10.0, 11.0, 90.0]))}
    >>> classes = Classes(np.array([2, 2]), histograms={"pay": np.array([[1, 1, 0], [1, 0, 1]])}, facts=facts)
    >>> EpsilonM("pay", 5, 2).violated(classes).tolist()
    [True, False]
    """

    epsilon: Annotated[float, Number(0), "values within this distance count as equal"]
    m: Annotated[float, Number(1), "around every value, at most 1/m of its class lies within epsilon"]
    name, example, sized_by = "epsilon-m", "epsilon-m:income:1000,3", "m"
    summary = "(ε,m)-anonymity: around each sensitive number at most 1/m of its class lies within ε."

    def violated(self, classes: Classes) -> Mask:
        facts = self.facts(classes.facts)
        assert facts.numbers is not None, "check() was called"
        order = np.argsort(facts.numbers, kind="stable")
        numbers = facts.numbers[order]
        counts = self.counts(classes)[:, order]
        below = np.concatenate([np.zeros((classes.count, 1), np.int64), np.cumsum(counts, axis=1)], axis=1)
        # As much as numbers of this size are rounded, and no more: moments in milliseconds are near 1.7e12.
        slack = 4 * np.spacing(np.maximum(np.abs(numbers), self.epsilon))
        first = np.searchsorted(numbers, numbers - self.epsilon - slack, side="left")
        last = np.searchsorted(numbers, numbers + self.epsilon + slack, side="right")
        near = np.where(counts > 0, below[:, last] - below[:, first], 0)
        return np.asarray(near.max(axis=1, initial=0) * self.m > classes.sizes * (1 + TOLERANCE))

    def explain(self) -> str:
        return (
            f"Around each value of {self.column} behind a published combination, at most 1 in {self.m:g} rows lies "
            f"within {self.epsilon:g} of it."
        )

    def check(self, facts: Mapping[str, ColumnFacts]) -> None:
        column_facts = self.facts(facts)
        if column_facts.numbers is None:
            raise DataError(
                f"The model 'epsilon-m' needs numbers, and {self.column!r} holds {some(column_facts.values)}. Use "
                "l-distinct or t-equal for categories; rows with a missing value must be filled in or left out first."
            )


@public("kanopy.privacy")
@dataclass(frozen=True)
class Constrained(Model):
    """Constrained k-anonymity: no value of a quasi-identifier is published broader than its highest allowed node
    (Miller, Campan, Truta 2008).

    `nodes` are labels of the column's hierarchy; a label strictly above one of them makes its class unsafe. Values
    under none of the nodes may be generalized to the top of their branch, short of any node that covers an allowed
    one.

    >>> Constrained("country", ("Europe", "Asia")).explain()
    "country is never generalized beyond 'Europe', 'Asia'."
    """

    column: Annotated[str, Name("the name of a quasi-identifier"), "the quasi-identifier"]
    nodes: Annotated[tuple[str, ...], ColumnNames("labels", "|", least=1), "the broadest labels that may be published"]
    name, example = "constrained", "constrained:country:Europe|Asia"
    summary = "Constrained k-anonymity: a column is never generalized beyond the nodes named."

    @property
    def quasi(self) -> tuple[str, ...]:
        return (self.column,)

    def violated(self, classes: Classes) -> Mask:
        column_labels = labels_of(classes, self.column, self.name)
        if column_labels.hierarchy is None:
            raise JobError(f"The model 'constrained' needs the hierarchy of {self.column!r}, which is not known here.")
        broader = self.forbidden(column_labels.hierarchy)
        wrong = np.array([label in broader for label in column_labels.labels], np.bool_)
        return np.asarray(wrong[column_labels.codes])

    def forbidden(self, hierarchy: Hierarchy) -> frozenset[str]:
        """The labels above an allowed node. Where several nodes carry an allowed label, each of them is allowed."""
        if not hierarchy.nested:
            raise HierarchyError(f"The hierarchy of {self.column!r} does not nest: 'constrained' needs one that does.")
        labels = hierarchy.labels
        strangers = [node for node in self.nodes if node not in labels]
        if strangers:
            hint = near_miss(strangers[0], labels)
            raise JobError(f"The hierarchy of {self.column!r} has no node {some(strangers)}. {hint}")
        allowed = {node for node, label in enumerate(labels) if label in self.nodes}
        broader = {ancestor for node in allowed for ancestor in hierarchy.ancestors(node)}
        # What lies under another node of an allowed label is no broader than that.
        return frozenset(labels[node] for node in broader if allowed.isdisjoint([node, *hierarchy.ancestors(node)]))

    def explain(self) -> str:
        return f"{self.column} is never generalized beyond {some(self.nodes)}."


@public("kanopy.privacy")
@dataclass(frozen=True)
class Guarding(SensitiveModel):
    """Everybody names the broadest thing others may learn with some certainty (Xiao, Tao 2006, personalized privacy).

    `guard` is a column with, per row, a node of the sensitive column's hierarchy (or nothing). The share of a
    row's class whose sensitive value lies under that node must be at most `most`. The guards themselves are never
    published. Not monotonic: rows without a guard may hold what a guarded row wants hidden.

    >>> Guarding("ill", "guard", 0.3).explain()
    "Nobody's ill can be inferred to lie under the node they chose with a certainty above 30 %."
    """

    guard: Annotated[str, Name(), "the column with the guarding node of each person; not published"]
    most: Annotated[float, Share(above=0), "the largest chance of guessing a value under that node"]
    name, example = "guarding", "guarding:diagnosis:guard,0.3"
    summary = "Guarding nodes: per row a node of the sensitive hierarchy that others may not infer."

    def contradictions(self) -> Iterable[str]:
        if self.guard == self.column:
            yield "The model 'guarding' needs the column with the nodes: guarding:diagnosis:guard,0.3"

    @property
    def sensitive(self) -> tuple[str, ...]:
        return (self.column, self.guard)

    @property
    def hidden(self) -> tuple[str, ...]:
        return (self.guard,)

    def violated(self, classes: Classes) -> Mask:
        under = self._under(classes.facts)
        behind = self.counts(classes) @ under.T
        guarded = classes.histograms[self.guard] > 0
        most = self.most * classes.sizes * (1 + TOLERANCE)
        return np.asarray((guarded & (behind > most[:, None])).any(axis=1))

    def _under(self, facts: Mapping[str, ColumnFacts]) -> npt.NDArray[Any]:
        """`[guard value, sensitive value]`: whether the second lies under the first."""
        column, guards = self.facts(facts), facts[self.guard]
        if column.hierarchy is None:
            raise JobError(f"The model 'guarding' needs a hierarchy of {self.column!r}. Give one in the job.")
        hierarchy = column.hierarchy
        node_of_label = {label: node for node, label in enumerate(hierarchy.labels)}
        matrix = np.zeros((len(guards.values), len(column.values)), np.int64)
        strangers = []
        for number, label in enumerate(guards.values):
            if not label or label.startswith("(missing"):  # numbered where a column holds nothing else
                continue
            if label not in node_of_label:
                strangers.append(label)
                continue
            matrix[number, hierarchy.leaves_under(node_of_label[label])] = 1
        if strangers:
            raise DataError(
                f"The column {self.guard!r} names guarding nodes that the hierarchy of {self.column!r} does not have: "
                f"{some(strangers)}. {near_miss(strangers[0], node_of_label)}"
            )
        return matrix

    def explain(self) -> str:
        return (
            f"Nobody's {self.column} can be inferred to lie under the node they chose with a certainty above "
            f"{percent(self.most)}."
        )

    def check(self, facts: Mapping[str, ColumnFacts]) -> None:
        self._under(facts)
