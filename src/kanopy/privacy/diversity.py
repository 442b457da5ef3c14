"""Models that ask for variety among the sensitive values of a class."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Annotated, Any

import numpy as np

from kanopy._arrays import Floats, Longs, Mask
from kanopy._core.classes import Classes, ColumnFacts
from kanopy._errors import JobError, short, some
from kanopy._lazy import public
from kanopy._parameter_types import Integer, MapOf, Number, Share
from kanopy._parameters import parameters_of
from kanopy.privacy.base import TOLERANCE, LimitedShares, SensitiveModel, excess_rows, percent


@dataclass(frozen=True)
class DifferentValues(SensitiveModel):
    """What the models share that ask for `least_size` different sensitive values in every class."""

    monotonic_with_suppression = monotonic_with_units = True

    def violated(self, classes: Classes) -> Mask:
        return np.asarray(np.count_nonzero(self.counts(classes), axis=1) < self.least_size)

    def explain(self) -> str:
        return f"Every published combination stands for at least {self.least_size} different values of {self.column}."

    def check(self, facts: Mapping[str, ColumnFacts]) -> None:
        self.require_values(self.least_size, facts, fields(self)[-1].name)


@public("kanopy.privacy")
@dataclass(frozen=True)
class DistinctDiversity(DifferentValues):
    """Every class has at least `l` different sensitive values (Machanavajjhala et al. 2007, distinct l-diversity).

    >>> import numpy as np
    >>> classes = Classes(np.array([3, 3]), histograms={"ill": np.array([[3, 0], [2, 1]])})
    >>> DistinctDiversity("ill", 2).violated(classes).tolist()
    [True, False]
    """

    l: Annotated[int, Integer(2), "different values in every class"]  # noqa: E741 - its name in every paper
    name, example, sized_by = "l-distinct", "l-distinct:diagnosis:3", "l"
    compares_values = True
    summary = "Distinct l-diversity: every class has at least l different sensitive values."


@public("kanopy.privacy")
@dataclass(frozen=True)
class PSensitive(DifferentValues):
    """p-sensitive k-anonymity: at least `p` different sensitive values in every class, besides `k` rows
    (Truta, Vinay 2006).

    >>> PSensitive("ill", 2).explain()
    'Every published combination stands for at least 2 different values of ill.'
    """

    p: Annotated[int, Integer(2), "different values in every class"]
    name, example, sized_by = "p-sensitive", "p-sensitive:diagnosis:2", "p"
    compares_values = True
    summary = "p-sensitive k-anonymity: besides k rows every class has p different sensitive values."


@public("kanopy.privacy")
@dataclass(frozen=True)
class EntropyDiversity(SensitiveModel):
    """The entropy of the sensitive values of every class is at least that of `l` equally frequent ones
    (Machanavajjhala et al. 2007).

    >>> EntropyDiversity("ill", 2.5).explain()
    'The values of ill behind every published combination are as varied as 2.5 equally frequent ones.'
    """

    l: Annotated[float, Number(1), "as many equally frequent values in effect"]  # noqa: E741
    name, example, sized_by = "l-entropy", "l-entropy:diagnosis:2.5", "l"
    compares_values = True
    summary = "Entropy l-diversity: a class is as varied as l equally frequent values."
    monotonic = True

    def violated(self, classes: Classes) -> Mask:
        shares = self.distribution(classes)
        terms = np.zeros_like(shares)
        np.log(shares, out=terms, where=shares > 0)
        return np.asarray(-(shares * terms).sum(axis=1) < np.log(self.l) - 1e-10)

    def explain(self) -> str:
        return (
            f"The values of {self.column} behind every published combination are as varied as {self.l:g} equally "
            "frequent ones."
        )

    def check(self, facts: Mapping[str, ColumnFacts]) -> None:
        self.require_values(self.l, facts, "l")


@public("kanopy.privacy")
@dataclass(frozen=True)
class RecursiveDiversity(SensitiveModel):
    """The most frequent value is not too frequent, the rarer ones not too rare: `r₁ < c·(r_l + … + r_m)`, with the
    counts of a class in descending order (Machanavajjhala et al. 2007, recursive (c,l)-diversity).

    >>> RecursiveDiversity("ill", 3, 2).explain()
    'In every published combination the most frequent value of ill counts less than 3 times ...
    """

    c: Annotated[float, Number(above=0), "how often the most frequent value may occur, as a multiple of"]
    l: Annotated[int, Integer(2), "all values together but the l - 1 most frequent"]  # noqa: E741
    name, example, sized_by = "l-recursive", "l-recursive:diagnosis:3,2", "l"
    compares_values = True
    summary = (
        "Recursive (c,l)-diversity: the most frequent value occurs less than c times as often as all but the l-1 "
        "most frequent."
    )
    monotonic = True

    def violated(self, classes: Classes) -> Mask:
        counts = np.sort(self.counts(classes), axis=1)[:, ::-1]
        if counts.shape[1] < self.l:
            return np.ones(classes.count, np.bool_)
        return np.asarray(counts[:, 0] >= self.c * counts[:, self.l - 1 :].sum(axis=1) * (1 - TOLERANCE))

    def explain(self) -> str:
        return (
            f"In every published combination the most frequent value of {self.column} counts less than {self.c:g} "
            f"times all values but the {self.l - 1} most frequent."
        )

    def check(self, facts: Mapping[str, ColumnFacts]) -> None:
        self.require_values(self.l, facts, "l")


@public("kanopy.privacy")
@dataclass(frozen=True)
class AlphaK(SensitiveModel):
    """No sensitive value makes up more than a share `alpha` of a class of at least `k` rows
    (Wong, Li, Fu, Wang 2006).

    >>> import numpy as np
    >>> classes = Classes(np.array([4, 4]), histograms={"ill": np.array([[3, 1], [2, 2]])})
    >>> AlphaK("ill", 0.5, 2).violated(classes).tolist()
    [True, False]
    """

    alpha: Annotated[float, Share(above=0), "the largest share of one value in a class"]
    k: Annotated[int, Integer(2), "the least rows of a class"] = 2
    name, example, sized_by = "alpha-k", "alpha-k:diagnosis:0.5,5", "k"
    compares_values = True
    summary = "(α,k)-anonymity: classes of k rows in which no sensitive value has a share above α."
    monotonic = True

    def violated(self, classes: Classes) -> Mask:
        most = self.counts(classes).max(axis=1, initial=0)
        return np.asarray((classes.sizes < self.k) | (most > self.alpha * classes.sizes * (1 + TOLERANCE)))

    def must_go(self, classes: Classes, violated: Mask) -> Longs:
        needed = excess_rows(self.counts(classes), classes.sizes, self.alpha)
        needed = np.maximum(needed, violated)
        return np.where(classes.sizes < self.k, classes.sizes, needed)

    def explain(self) -> str:
        return (
            f"No value of {self.column} makes up more than {percent(self.alpha)} of the rows behind a published "
            f"combination, and there are at least {self.k} of them."
        )

    def check(self, facts: Mapping[str, ColumnFacts]) -> None:
        self.require_values(1 / self.alpha - 1e-9, facts, "1/alpha")


@public("kanopy.privacy")
@dataclass(frozen=True)
class LPlus(LimitedShares):
    """Each sensitive value has a threshold of its own: its share of a class is at most `1/l` (Liu, Wang 2010).

    `thresholds` maps values to their `l`; `other` is the `l` of all values not named (1: no limit).

    >>> import numpy as np
    >>> from kanopy._core.classes import ColumnFacts
    >>> facts = {"ill": ColumnFacts(("flu", "hiv"), np.array([6, 2]))}
    >>> classes = Classes(np.array([4, 4]), histograms={"ill": np.array([[4, 0], [2, 2]])}, facts=facts)
    >>> LPlus("ill", {"hiv": 4}).violated(classes).tolist()
    [False, True]
    """

    thresholds: Annotated[
        Mapping[str, float], MapOf(Number(1), "{'HIV': 5}"), "per value, 1 divided by its largest allowed share"
    ] = field(default_factory=dict, hash=False)
    other: Annotated[float, Number(1), "the threshold of all other values"] = 1.0
    name, example = "l-plus", "l-plus:diagnosis:HIV=5|flu=1.5|*=2"
    summary = "l⁺-diversity: each sensitive value has its own threshold l, its share is at most 1/l."

    def contradictions(self) -> Iterable[str]:
        if not self.thresholds and self.other == 1:
            yield "The model 'l-plus' needs a threshold above 1, e.g. l-plus:diagnosis:HIV=5|*=2."

    @classmethod
    def from_short(cls, parts: Sequence[str]) -> dict[str, Any]:
        thresholds = parameters_of(cls)["thresholds"].kind.read(parts[-1])
        if isinstance(thresholds, str):
            raise JobError(f"{short(thresholds)} is not a threshold such as HIV=5. Write it like {cls.example}.")
        return {"column": ":".join(parts[:-1]), "other": thresholds.pop("*", 1.0), "thresholds": thresholds}

    def limits(self, facts: ColumnFacts) -> Floats:
        return np.array([1.0 / self.thresholds.get(value, self.other) for value in facts.values])

    def explain(self) -> str:
        worst = sorted(self.thresholds.items(), key=lambda pair: -pair[1])[:3]
        parts = [f"{value}: {percent(1 / threshold)}" for value, threshold in worst]
        if self.other > 1:
            parts.append(f"any other: {percent(1 / self.other)}")
        return f"Each value of {self.column} has its own largest share in every class ({'; '.join(parts)})."

    def check(self, facts: Mapping[str, ColumnFacts]) -> None:
        column_facts = self.facts(facts)
        strangers = [value for value in self.thresholds if value not in column_facts.values]
        if strangers:
            raise JobError(
                f"The model 'l-plus' names values that {self.column!r} does not have: {some(strangers)}. "
                f"It has {some(column_facts.values)}."
            )
