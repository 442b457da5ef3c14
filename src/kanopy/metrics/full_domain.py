"""What a full-domain candidate loses, in the shapes a search can bound.

`AttributeMetric`s add up per attribute: a part that depends on the level alone (known from one-attribute counts
before any grouping) plus what suppressed classes cost beyond their level, which is never negative; so the first
part is a lower bound. `ClassMetric`s depend on class sizes. Definitions are those comparable with ARX; `n` counts
all rows of the table, and rows suppressed from the start count as suppressed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from kanopy._arrays import Floats, Longs
from kanopy._errors import called
from kanopy.hierarchy.hierarchy import Hierarchy


@dataclass(frozen=True, eq=False)
class AttributeCosts:
    """Costs of one attribute: `totals[level]` over all rows, and per level and code what one suppressed row adds.

    The attribute's loss is `(total + extra - offset) / scale`.
    """

    totals: Floats
    extras: tuple[Floats, ...]
    offset: float
    scale: float

    def loss(self, cost: float | Floats) -> Floats:
        """From an added-up cost to the attribute's loss, never below zero."""
        if self.scale <= 0:
            return np.zeros_like(np.asarray(cost, np.float64))
        return np.maximum(0.0, (np.asarray(cost) - self.offset) / self.scale)

    def whole(self, hierarchy: Hierarchy, marginal: Longs, level: int = 0) -> float:
        """The cost if every row were suppressed."""
        return float(self.totals[level] + np.dot(marginal, self.extras[level][hierarchy.level(level).codes]))

    def keep_of_nodes(self, hierarchy: Hierarchy) -> Floats:
        """Per node what a row published at it keeps, that is what suppressing it would cost; at its lowest level."""
        keep = np.zeros(hierarchy.node_count)
        for level in range(hierarchy.height, -1, -1):
            keep[hierarchy.level(level).nodes] = self.extras[level]
        return keep


@dataclass(frozen=True)
class AttributeMetric:
    """A loss that adds up per attribute; `mean` is how attributes are combined."""

    name: ClassVar[str]
    mean: ClassVar[str] = "arithmetic"

    def costs(self, hierarchy: Hierarchy, marginal: Longs, rows: int) -> AttributeCosts:
        """Costs by level, given how many rows hold each value (`rows` includes rows suppressed from the start)."""
        raise NotImplementedError

    def combine(self, losses: Sequence[Floats] | Floats, weights: Sequence[float]) -> Floats:
        """One score from the losses of the attributes (each a number or an array that broadcasts)."""
        total = sum(weights)
        pairs = zip(losses, weights, strict=True)
        if self.mean == "geometric":
            score: Floats = np.zeros(())
            for loss, weight in pairs:
                score = score + (weight / total) * np.log1p(loss)
            return np.expm1(score)
        score = np.zeros(())
        for loss, weight in pairs:
            score = score + weight * loss
        return score if self.mean == "sum" else score / total


@dataclass(frozen=True)
class Loss(AttributeMetric):
    """Iyengar's loss as ARX normalizes it: the mean share of its domain that a published value covers.

    Per attribute `(A - n/D) / (n - n/D)`, where `A` adds the share of every published value and 1 per suppressed
    row, and `D` is the number of values in the hierarchy (Iyengar 2002).
    """

    name: ClassVar[str] = "loss"

    def costs(self, hierarchy: Hierarchy, marginal: Longs, rows: int) -> AttributeCosts:
        excluded = rows - float(marginal.sum())
        totals = np.empty(hierarchy.height + 1)
        extras = []
        for i in range(hierarchy.height + 1):
            level = hierarchy.level(i)
            totals[i] = float(np.dot(marginal, level.shares[level.codes])) + excluded
            extras.append(1.0 - level.shares)
        lowest = rows / hierarchy.size
        return AttributeCosts(totals, tuple(extras), lowest, rows - lowest)


@dataclass(frozen=True)
class GeometricLoss(Loss):
    """`loss` with attributes combined by the geometric mean of 1 + loss, minus 1."""

    name: ClassVar[str] = "loss-geometric"
    mean: ClassVar[str] = "geometric"


@dataclass(frozen=True)
class Precision(AttributeMetric):
    """One minus Sweeney's precision: the mean level over the highest level; a suppressed value counts 1
    (Sweeney 2002)."""

    name: ClassVar[str] = "precision"

    def costs(self, hierarchy: Hierarchy, marginal: Longs, rows: int) -> AttributeCosts:
        height = max(hierarchy.height, 1)
        present_rows = float(marginal.sum())
        lost_share = np.arange(hierarchy.height + 1) / height
        extras = tuple(np.full(hierarchy.level(i).size, 1.0 - lost_share[i]) for i in range(hierarchy.height + 1))
        return AttributeCosts(present_rows * lost_share + (rows - present_rows), extras, 0.0, float(rows))


@dataclass(frozen=True)
class Entropy(AttributeMetric):
    """Non-uniform entropy: the bits needed to recover each value from its published label, over those needed
    when everything is suppressed (Gionis and Tassa 2009). Labels count all rows they could stand for."""

    name: ClassVar[str] = "entropy"

    def costs(self, hierarchy: Hierarchy, marginal: Longs, rows: int) -> AttributeCosts:
        present_rows = float(marginal.sum())
        present = marginal > 0
        entropy_terms = np.zeros(len(marginal))
        entropy_terms[present] = marginal[present] * np.log2(present_rows / marginal[present])
        most = float(entropy_terms.sum())
        # A row suppressed from the start costs as much as the average suppressed row.
        excluded = (rows - present_rows) * (most / present_rows if present_rows else 0.0)
        totals = np.empty(hierarchy.height + 1)
        extras = []
        for i in range(hierarchy.height + 1):
            level = hierarchy.level(i)
            together = np.bincount(level.codes, weights=marginal, minlength=level.size)
            gain = np.zeros(level.size)
            used = together > 0
            gain[used] = np.log2(present_rows / together[used])
            totals[i] = most - float(np.dot(together, gain)) + excluded
            extras.append(gain)
        return AttributeCosts(totals, tuple(extras), 0.0, most + excluded)


@dataclass(frozen=True)
class Height(AttributeMetric):
    """The sum of levels (Samarati 2001); suppression costs nothing extra."""

    name: ClassVar[str] = "height"
    mean: ClassVar[str] = "sum"

    def costs(self, hierarchy: Hierarchy, marginal: Longs, rows: int) -> AttributeCosts:
        levels = np.arange(hierarchy.height + 1, dtype=np.float64)
        extras = tuple(np.zeros(hierarchy.level(i).size) for i in range(hierarchy.height + 1))
        return AttributeCosts(levels, extras, 0.0, 1.0)


@dataclass(frozen=True)
class ClassMetric:
    """A loss of class sizes alone."""

    name: ClassVar[str]

    def score(self, rows: int, kept_classes: int, suppressed: int, squares: int) -> float:
        """The loss of a release."""
        raise NotImplementedError

    def least_above(self, rows: int, classes: int, all_squares: int) -> float:
        """No candidate more general than one with these classes (kept or not) scores lower than this."""
        raise NotImplementedError

    def least_with_suppressed(self, rows: int, suppressed: Longs) -> Floats:
        """No candidate that suppresses at least this many rows scores lower than this."""
        raise NotImplementedError


@dataclass(frozen=True)
class AverageClassSize(ClassMetric):
    """Rows per class; the suppressed rows count as one class (LeFevre 2006, unnormalized as in ARX)."""

    name: ClassVar[str] = "aecs"

    def score(self, rows: int, kept_classes: int, suppressed: int, squares: int) -> float:
        return rows / max(1, kept_classes + (suppressed > 0))

    def least_above(self, rows: int, classes: int, all_squares: int) -> float:
        return rows / (classes + 1)

    def least_with_suppressed(self, rows: int, suppressed: Longs) -> Floats:
        return np.ones(suppressed.shape)


@dataclass(frozen=True)
class Discernibility(ClassMetric):
    """Each published row is charged its class size, each suppressed row the whole table (Bayardo, Agrawal 2005)."""

    name: ClassVar[str] = "discernibility"

    def score(self, rows: int, kept_classes: int, suppressed: int, squares: int) -> float:
        return float(squares) + float(rows) * float(suppressed)

    def least_above(self, rows: int, classes: int, all_squares: int) -> float:
        # A class is charged at least its square, and joining classes only raises the sum of squares.
        return float(all_squares)

    def least_with_suppressed(self, rows: int, suppressed: Longs) -> Floats:
        return suppressed.astype(np.float64) * rows


Metric = AttributeMetric | ClassMetric

METRICS: dict[str, type[AttributeMetric] | type[ClassMetric]] = {
    kind.name: kind for kind in (Loss, GeometricLoss, AverageClassSize, Discernibility, Precision, Entropy, Height)
}


def metric_named(name: str) -> Metric:
    """The metric behind a name.

    >>> metric_named("loss")
    Loss()
    """
    return METRICS[called(name, METRICS, "metric")]()
