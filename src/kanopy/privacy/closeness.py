"""Models that compare the sensitive values of a class with those of the whole original table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import numpy as np
import numpy.typing as npt

from kanopy._arrays import Floats, Longs, Mask
from kanopy._core.classes import Classes, ColumnFacts
from kanopy._errors import HierarchyError, JobError, some
from kanopy._lazy import public
from kanopy._parameter_types import Number, OneOf, Share
from kanopy.hierarchy.hierarchy import Hierarchy
from kanopy.privacy.base import TOLERANCE, LimitedShares, SensitiveModel, excess_rows


@dataclass(frozen=True)
class Closeness(SensitiveModel):
    """What the three kinds of t-closeness share: an earth mover's distance between class and table of at most `t`
    (Li, Li, Venkatasubramanian 2007)."""

    t: Annotated[float, Share(), "the largest distance between a class and the whole table"]

    monotonic = True
    measured_over: ClassVar[str]
    """What the distance is measured over, for the report."""

    def explain(self) -> str:
        return (
            f"The distribution of {self.column} behind every published combination is within {self.t:g} of the whole "
            f"table's (earth mover's distance over {self.measured_over})."
        )

    def distances(self, classes: Classes) -> Floats:
        """Per class, how far its values are from those of the table: 0 (the same) to 1."""
        return self.moved(classes, self.facts(classes.facts))

    def moved(self, classes: Classes, facts: ColumnFacts) -> Floats:
        """The same, given what is known of the column."""
        raise NotImplementedError

    def violated(self, classes: Classes) -> Mask:
        return np.asarray(self.distances(classes) > self.t + TOLERANCE)

    def must_go(self, classes: Classes, violated: Mask) -> Longs:
        # The distance is convex and at most 1: if the kept rows of a class are within t, the distance of the whole
        # class is at most t·(1 - gone) + gone, where gone is the share of the rows that are not kept.
        if self.t >= 1:
            return violated.astype(np.int64)
        rows_to_suppress = np.zeros(classes.count)
        if violated.any():
            violated_classes = Classes(
                classes.sizes[violated], histograms={self.column: self.counts(classes)[violated]}, facts=classes.facts
            )
            rows_to_suppress[violated] = (
                violated_classes.sizes * (self.distances(violated_classes) - self.t) / (1 - self.t)
            )
        return np.maximum(np.minimum(np.ceil(rows_to_suppress - 1e-6), classes.sizes).astype(np.int64), violated)


@public("kanopy.privacy")
@dataclass(frozen=True)
class EqualCloseness(Closeness):
    """t-closeness where any two different values are equally far apart: half the sum of absolute differences.

    >>> import numpy as np
    >>> from kanopy._core.classes import ColumnFacts
    >>> facts = {"ill": ColumnFacts(("a", "b"), np.array([4, 4]))}
    >>> classes = Classes(np.array([4, 4]), histograms={"ill": np.array([[3, 1], [1, 3]])}, facts=facts)
    >>> EqualCloseness("ill", 0.2).distances(classes).tolist()
    [0.25, 0.25]
    """

    name, example = "t-equal", "t-equal:diagnosis:0.2"
    compares_values = True
    summary = "t-closeness, equal distances: values of a class are distributed as in the table, up to t."

    def moved(self, classes: Classes, facts: ColumnFacts) -> Floats:
        from kanopy.privacy.distances_kernel import total_variation

        counts = np.ascontiguousarray(self.counts(classes), np.int32)
        return total_variation(counts, counts.sum(axis=1, dtype=np.int64), facts.distribution)

    def must_go(self, classes: Classes, violated: Mask) -> Longs:
        from kanopy.privacy.distances_kernel import most_kept

        # Kept parts of a class are each within t, so together they are too: a distance is convex.
        rows_to_suppress = np.zeros(classes.count, np.int64)
        if violated.any():
            counts = np.ascontiguousarray(self.counts(classes)[violated], np.int32)
            publishable = most_kept(counts, self.facts(classes.facts).distribution, self.t + TOLERANCE)
            sizes = classes.sizes[violated]
            rows_to_suppress[violated] = np.clip(np.ceil(sizes - publishable - 1e-6), 1, sizes).astype(np.int64)
        return rows_to_suppress

    def explain(self) -> str:
        return (
            f"How often each value of {self.column} occurs behind a published combination differs from the whole "
            f"table by at most {self.t:g} (total variation)."
        )


@public("kanopy.privacy")
@dataclass(frozen=True)
class OrderedCloseness(Closeness):
    """t-closeness for values in an order: moving from the first to the last value costs 1.

    Numbers and dates are ordered by themselves, other values by the hierarchy given for the column.

    >>> OrderedCloseness("income", 0.2).explain()
    "The distribution of income behind every published combination is within 0.2 of the whole ...
    """

    name, example = "t-ordered", "t-ordered:income:0.2"
    summary = "t-closeness, ordered distances: as t-equal, but near values count as nearly equal."
    measured_over = "the order of the values"

    def moved(self, classes: Classes, facts: ColumnFacts) -> Floats:
        order = _order(facts)
        order = order[facts.present[order]]
        if len(order) < 2:
            return np.zeros(classes.count)
        shares, whole = self.distribution(classes)[:, order], facts.distribution[order]
        moved = np.cumsum(shares - whole, axis=1)
        return np.asarray(np.abs(moved).sum(axis=1) / (len(order) - 1))

    def require(self, facts: Mapping[str, ColumnFacts]) -> None:
        column_facts = self.facts(facts)
        if column_facts.numbers is None and column_facts.hierarchy is None:
            raise JobError(
                f"The model 't-ordered' needs an order of the values of {self.column!r} ({some(column_facts.values)}): "
                "they must all be numbers or dates, or the column needs a hierarchy that lists them in order."
            )


@public("kanopy.privacy")
@dataclass(frozen=True)
class HierarchicalCloseness(Closeness):
    """t-closeness over the hierarchy of the sensitive column: two values are as far apart as the level at which they
    meet, over the height of the hierarchy.

    >>> tree = Hierarchy.from_rows([["flu", "lungs", "*"], ["asthma", "lungs", "*"], ["gout", "joints", "*"]])
    >>> facts = {"ill": ColumnFacts(tree.values, np.array([1, 1, 2]), hierarchy=tree)}
    >>> classes = Classes(np.array([2, 2]), histograms={"ill": np.array([[1, 1, 0], [1, 0, 1]])}, facts=facts)
    >>> HierarchicalCloseness("ill", 0.2).distances(classes).tolist()  # flu for asthma is a short way
    [0.5, 0.125]
    """

    name, example = "t-hierarchical", "t-hierarchical:diagnosis:0.2"
    summary = "t-closeness, hierarchical distances: values that meet low in their hierarchy are near."
    measured_over = "its hierarchy"

    def moved(self, classes: Classes, facts: ColumnFacts) -> Floats:
        hierarchy = _rooted(facts, self.column)
        extra = self.distribution(classes) - facts.distribution
        total = np.zeros(classes.count)
        height = hierarchy.height
        current = hierarchy.level(0)
        extra = _lifted(extra, current.codes, current.size)
        for level in range(1, height + 1):
            above = hierarchy.level(level)
            parent = np.zeros(current.size, np.int64)
            parent[current.codes] = above.codes
            surplus = _lifted(np.maximum(extra, 0.0), parent, above.size)
            lack = _lifted(np.maximum(-extra, 0.0), parent, above.size)
            total += level / height * np.minimum(surplus, lack).sum(axis=1)
            extra = surplus - lack
            current = above
        return total

    def require(self, facts: Mapping[str, ColumnFacts]) -> None:
        _rooted(self.facts(facts), self.column)


def _rooted(facts: ColumnFacts, column: str) -> Hierarchy:
    if facts.hierarchy is None:
        raise JobError(
            f"The model 't-hierarchical' needs a hierarchy of {column!r}. Give one in the job "
            f"(hierarchies={{{column!r}: …}}), or use t-equal."
        )
    if not facts.hierarchy.nested:
        raise HierarchyError(f"The hierarchy of {column!r} does not nest, so it gives no distance between values.")
    return facts.hierarchy.rooted()


def _lifted(amounts: Floats, parent: npt.NDArray[Any], size: int) -> Floats:
    """Sums of columns that share a parent."""
    to = np.zeros((amounts.shape[1], size))
    to[np.arange(amounts.shape[1]), parent] = 1.0
    return np.asarray(amounts @ to)


def _order(facts: ColumnFacts) -> npt.NDArray[np.intp]:
    if facts.numbers is not None:
        return np.argsort(facts.numbers, kind="stable")
    return np.arange(len(facts.values))


ABSENT = ("violates", "ignored")


@public("kanopy.privacy")
@dataclass(frozen=True)
class DeltaDisclosure(SensitiveModel):
    """No value is much more or less frequent in a class than in the table: `|ln(q/p)| ≤ delta` for every value
    (Brickell, Shmatikov 2008).

    A value that a class does not have is ruled out for its members, which the definition counts as unbounded
    disclosure (`absent="violates"`). Other tools look only at the values that a class has: `absent="ignored"`, which
    protects less and is not monotonic.

    >>> DeltaDisclosure("ill", 1.5).explain()
    'No value of ill is more than 4.48 times as frequent, or as rare, behind a published ...
    """

    delta: Annotated[float, Number(0), "how far, as a logarithm, the share of a value may be from that in the table"]
    absent: Annotated[str, OneOf(*ABSENT), "whether a value that a class lacks counts"] = "violates"
    name, example = "delta-disclosure", "delta-disclosure:diagnosis:1.5"
    compares_values = True
    summary = "δ-disclosure: the logarithm of how much more or less frequent a value is in a class is at most δ."

    @property
    def monotonic(self) -> bool:
        return self.absent == "violates"

    def violated(self, classes: Classes) -> Mask:
        facts = self.facts(classes.facts)
        there = facts.present
        gain = self.shares(classes)[:, there] / facts.shares[there]
        most = np.exp(self.delta) * (1 + TOLERANCE)
        too_rare = gain < 1 / most
        if self.absent == "ignored":
            too_rare &= gain > 0
        return np.asarray(((gain > most) | too_rare).any(axis=1))

    def must_go(self, classes: Classes, violated: Mask) -> Longs:
        facts = self.facts(classes.facts)
        needed = excess_rows(self.counts(classes), classes.sizes, facts.shares * np.exp(self.delta))
        return np.maximum(needed, violated) if self.monotonic else needed

    def explain(self) -> str:
        factor = float(np.exp(self.delta))
        return (
            f"No value of {self.column} is more than {factor:.3g} times as frequent, or as rare, behind a published "
            "combination as in the whole table."
        )


@public("kanopy.privacy")
@dataclass(frozen=True)
class BasicLikeness(LimitedShares):
    """The chance of a value grows by at most the factor `1 + beta` over the table's (Cao, Karras 2012, basic
    β-likeness). Values that become rarer are not limited.

    >>> BasicLikeness("ill", 2).explain()
    'No value of ill is more than 3 times as frequent behind a published combination as in ...
    """

    beta: Annotated[float, Number(above=0), "the largest gain of a value's share, relative to that in the table"]
    name, example = "beta-basic", "beta-basic:diagnosis:2"
    summary = "Basic β-likeness: no value is more than 1 + β times as frequent in a class as overall."

    def limits(self, facts: ColumnFacts) -> Floats:
        return np.minimum(1.0, facts.shares * (1 + self.beta))

    def explain(self) -> str:
        return (
            f"No value of {self.column} is more than {1 + self.beta:g} times as frequent behind a published "
            "combination as in the whole table."
        )


@public("kanopy.privacy")
@dataclass(frozen=True)
class EnhancedLikeness(BasicLikeness):
    """As basic β-likeness, with a bound that is stricter for frequent values: the relative gain of a value of share
    `p` is at most `min(beta, -ln p)` (Cao, Karras 2012).

    >>> EnhancedLikeness("ill", 2).explain()
    'No value of ill is more than 3 times as frequent behind a published combination as in ...
    """

    name, example = "beta-enhanced", "beta-enhanced:diagnosis:2"
    summary = "Enhanced β-likeness: as basic, and frequent values may gain at most -ln(their share)."

    def limits(self, facts: ColumnFacts) -> Floats:
        whole = facts.shares
        gain = np.full(len(whole), float(self.beta))
        there = whole > 0
        gain[there] = np.minimum(self.beta, -np.log(whole[there]))
        return np.asarray(np.minimum(1.0, whole * (1 + gain)), np.float64)

    def explain(self) -> str:
        return (
            f"No value of {self.column} is more than {1 + self.beta:g} times as frequent behind a published "
            "combination as in the whole table, and frequent values by less."
        )
