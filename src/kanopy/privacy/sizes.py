"""Models that count people: in the table, or in a population."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated

import numpy as np

from kanopy._arrays import Longs, Mask
from kanopy._core.classes import Classes
from kanopy._errors import JobError
from kanopy._lazy import public
from kanopy._parameter_types import Integer, Share
from kanopy.privacy.base import TOLERANCE, Model, percent


@public("kanopy.privacy")
@dataclass(frozen=True)
class KAnonymity(Model):
    """Every published combination of quasi-identifiers belongs to at least `k` rows (Samarati 2001, Sweeney 2002).

    >>> import numpy as np
    >>> KAnonymity(3).violated(Classes(np.array([5, 2, 3]))).tolist()
    [False, True, False]
    """

    k: Annotated[int, Integer(2, why="With k = 1 every row may be unique."), "rows of every published combination"]
    name, example, sized_by = "k", "k:5", "k"
    summary = "k-anonymity: every published combination is shared by at least k rows."
    monotonic_with_suppression = monotonic_with_units = True

    def violated(self, classes: Classes) -> Mask:
        return classes.sizes < self.k

    def explain(self) -> str:
        return f"Every published combination of quasi-identifiers is shared by at least {self.k} rows."


def _population(classes: Classes, name: str) -> Longs:
    if classes.population is None:
        raise JobError(f"The model {name!r} compares with a population: give one (population=…, --population FILE).")
    return classes.population


@public("kanopy.privacy")
@dataclass(frozen=True)
class KMap(Model):
    """Every published combination fits at least `k` people of the population (Sweeney 2002).

    >>> import numpy as np
    >>> KMap(4).violated(Classes(np.array([1, 2]), population=np.array([9, 3]))).tolist()
    [False, True]
    """

    k: Annotated[int, Integer(2), "people of the population who fit every published combination"]
    name, example = "k-map", "k-map:10"
    summary = "k-map: every published combination fits at least k people of a population table."
    monotonic_with_suppression = monotonic_with_units = True
    needs_population = True

    def violated(self, classes: Classes) -> Mask:
        return _population(classes, self.name) < self.k

    def explain(self) -> str:
        return f"Every published combination of quasi-identifiers fits at least {self.k} people of the population."


@public("kanopy.privacy")
@dataclass(frozen=True)
class DeltaPresence(Model):
    """Whoever knows the population learns little about who is in the table (Nergiz, Atzori, Clifton 2007).

    The share of a class's people who are in the table lies between `least` and `most`. With `least` above 0 every
    class of the population must be published, because nobody of an unpublished class can be in the table.

    >>> import numpy as np
    >>> DeltaPresence(0.0, 0.5).violated(Classes(np.array([5, 6]), population=np.array([10, 10]))).tolist()
    [False, True]
    """

    least: Annotated[float, Share(), "the least share of the people who fit a combination that is in the table"]
    most: Annotated[float, Share(above=0), "the largest such share"]
    name, example = "delta-presence", "delta-presence:0,0.5"
    summary = (
        "δ-presence: of the people of a population who fit a combination, a share between least and most is in the "
        "table."
    )
    monotonic = True
    needs_population = True

    def contradictions(self) -> Iterable[str]:
        if self.least > self.most:
            yield f"The model {self.name!r} requires a share from {self.least} to {self.most}: exchange the two."

    def violated(self, classes: Classes) -> Mask:
        people = _population(classes, self.name)
        share = classes.sizes / np.maximum(people, 1)
        share = np.where((people == 0) & (classes.sizes > 0), np.inf, share)
        return np.asarray((share < self.least - TOLERANCE) | (share > self.most + TOLERANCE))

    @property
    def of_release(self) -> bool:
        return self.least > 0

    def satisfied(self, published: Classes, everything: Classes) -> bool:
        everybody = int(_population(everything, self.name).sum())
        return self.least == 0 or int(_population(published, self.name).sum()) == everybody

    def must_go(self, classes: Classes, violated: Mask) -> Longs:
        surplus = np.ceil(classes.sizes - self.most * _population(classes, self.name) - 1e-6)
        return np.maximum(violated.astype(np.int64), np.clip(surplus, 0, classes.sizes).astype(np.int64))

    def explain(self) -> str:
        return (
            f"Of the people in the population who fit a published combination, between {percent(self.least)} and "
            f"{percent(self.most)} are in the table."
        )


class OfRelease(Model):
    """A model that judges the release as a whole by its class sizes: no class by itself is unsafe."""

    of_release = True

    def violated(self, classes: Classes) -> Mask:
        return np.zeros(classes.count, np.bool_)


@public("kanopy.privacy")
@dataclass(frozen=True)
class AverageRisk(OfRelease):
    """The average risk of being singled out, classes over published rows, is at most `most`.

    >>> import numpy as np
    >>> two = Classes(np.array([2, 5]))
    >>> AverageRisk(0.3).satisfied(two, two), AverageRisk(0.2).satisfied(two, two)
    (True, False)
    """

    most: Annotated[float, Share(above=0), "the average risk"]
    name, example = "risk-average", "risk-average:0.05"
    summary = "Average risk: the average chance of singling out a published row is at most this share."
    monotonic = True

    def satisfied(self, published: Classes, everything: Classes) -> bool:
        return int((published.sizes > 0).sum()) <= self.most * published.rows * (1 + TOLERANCE)

    def explain(self) -> str:
        return f"On average, a published row can be singled out with a chance of at most {percent(self.most)}."


@public("kanopy.privacy")
@dataclass(frozen=True)
class Uniqueness(OfRelease):
    """At most a share `most` of the published rows is unique in the release; 0 means none.

    >>> import numpy as np
    >>> found = Classes(np.array([1, 9]))
    >>> [most for most in (0.0, 0.05, 0.1) if Uniqueness(most).satisfied(found, found)]
    [0.1]
    """

    most: Annotated[float, Share(), "the largest share of unique rows among the published rows"]
    name, example = "uniqueness", "uniqueness:0.01"
    summary = "Sample uniqueness: at most this share of the published rows is unique."
    monotonic = True

    def satisfied(self, published: Classes, everything: Classes) -> bool:
        return int((published.sizes == 1).sum()) <= self.most * published.rows * (1 + TOLERANCE)

    def explain(self) -> str:
        return f"At most {percent(self.most)} of the published rows are unique in their quasi-identifiers."


@public("kanopy.privacy")
@dataclass(frozen=True)
class PopulationUniqueness(OfRelease):
    """At most a share `most` of the population is estimated to be unique, if the table is a random sample of it.

    `fraction` is the share of the population that is in the table. The estimator is chosen as Dankar, El Emam, Neisa
    and Roffey (2012) advise.

    >>> import numpy as np
    >>> sample = Classes(np.array([1] * 6 + [2] * 2 + [10]))
    >>> [PopulationUniqueness(most, 0.5).satisfied(sample, sample) for most in (0.5, 0.01)]
    [True, False]
    """

    most: Annotated[float, Share(), "the largest share of unique people in the population"]
    fraction: Annotated[float, Share(above=0), "the share of the population that is in the table"]
    name, example = "population-uniqueness", "population-uniqueness:0.01,0.1"
    summary = "Population uniqueness: at most this share of the population is estimated to be unique."

    def satisfied(self, published: Classes, everything: Classes) -> bool:
        from kanopy.metrics.risk.population import dankar_choice, population_size

        sizes = published.sizes[published.sizes > 0]
        if not len(sizes):
            return True
        people = population_size(int(sizes.sum()), sampling_fraction=self.fraction)
        return dankar_choice(sizes, people)[1] <= self.most * people * (1 + TOLERANCE)

    def explain(self) -> str:
        return f"An estimated {percent(self.most)} of the population, at most, is unique in the quasi-identifiers."
