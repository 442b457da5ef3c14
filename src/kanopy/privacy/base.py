"""What every privacy model is: a tiny frozen dataclass that says which classes are not safe enough.

Two promises let a search prune, and a test hunts for counter-examples to both:

- `monotonic`: a union of classes that satisfy the model satisfies it. Then, where nothing may be suppressed, a
  release that fails rules out everything finer.
- `monotonic_with_suppression`: a union of a class that satisfies the model with *any* class satisfies it. Then the
  rows that must be suppressed never grow by generalizing further.

`must_go` sharpens both: how many rows of a class every finer grouping of it must suppress at least.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Annotated, Any, ClassVar

import numpy as np
import numpy.typing as npt

from kanopy._arrays import Floats, Longs, Mask
from kanopy._core.classes import Classes, ClassLabels, ColumnFacts
from kanopy._errors import DataError, JobError, near_miss
from kanopy._lazy import public
from kanopy._parameter_types import Name
from kanopy._parameters import Declared

TOLERANCE = 1e-12
"""Shares are ratios of whole numbers held as floats: a threshold met exactly must not fail by a rounding error."""


@public("kanopy.privacy")
@dataclass(frozen=True)
class Model(Declared):
    """The base of all models. `monotonic` and `monotonic_with_suppression` may depend on parameters."""

    family: ClassVar[str] = "model"
    to_write: ClassVar[tuple[str, ...]] = ("name", "summary", "example", "violated", "explain")
    name: ClassVar[str]
    summary: ClassVar[str]
    """One sentence for the list of models."""
    example: ClassVar[str]
    """How it is written in short; a test parses every one."""
    sized_by: ClassVar[str | None] = None
    """The parameter that bounds the size of a class from below, if one does."""
    monotonic_with_units: ClassVar[bool] = False
    """Whether `monotonic_with_suppression` also holds where a class counts units, of which two classes may share some:
    then neither sizes nor counts of values add up."""
    needs_population: ClassVar[bool] = False
    """Whether it compares with a population."""
    needs_weights: ClassVar[bool] = False
    """Whether it adds up the sampling weights of a class."""
    needs_households: ClassVar[bool] = False
    """Whether it looks at households, whose members are in several classes."""
    all_quasi: ClassVar[bool] = False
    """Whether it looks at the published labels of all quasi-identifiers."""
    of_others: ClassVar[bool] = False
    """Whether a class that was safe may be unsafe once another one is suppressed."""
    compares_values: ClassVar[bool] = False
    """Whether sensitive values are only compared for equality: keyed hashes of the values give the same answer."""
    instead_of_k: ClassVar[bool] = False
    """Whether it may stand in for k-anonymity: by itself it bounds how surely a person is found."""

    @classmethod
    def faults(cls) -> list[str]:
        from kanopy.privacy.sizes import KAnonymity

        wrong = super().faults()
        if cls.instead_of_k:
            wrong.append("it says that it may stand in for k-anonymity, which only models of Kanopy may")
        if issubclass(cls, KAnonymity):
            wrong.append("it derives from KAnonymity, which is replaced by the job's k: derive it from Model")
        return wrong

    @property
    def monotonic(self) -> bool:
        """Whether a union of classes that satisfy the model always satisfies it."""
        return self.monotonic_with_suppression

    @property
    def monotonic_with_suppression(self) -> bool:
        """Whether a union of a class that satisfies the model with any class always satisfies it."""
        return False

    @property
    def sensitive(self) -> tuple[str, ...]:
        """The columns whose histograms it looks at."""
        return ()

    @property
    def hidden(self) -> tuple[str, ...]:
        """Of these, columns that must not be published."""
        return ()

    @property
    def quasi(self) -> tuple[str, ...]:
        """The quasi-identifiers whose published labels it looks at."""
        return ()

    @property
    def of_sizes(self) -> bool:
        """Whether class sizes alone decide."""
        return not (self.sensitive or self.quasi or self.needs_population or self.needs_weights or self.all_quasi)

    @property
    def least_size(self) -> int:
        """Smaller classes than this never satisfy the model."""
        return 1 if self.sized_by is None else math.ceil(getattr(self, self.sized_by) - 1e-9)

    def violated(self, classes: Classes) -> Mask:
        """Per class, whether it is not safe."""
        raise NotImplementedError

    @property
    def of_release(self) -> bool:
        """Whether it also judges the release as a whole (`satisfied`)."""
        return False

    def satisfied(self, published: Classes, everything: Classes) -> bool:
        """Whether the classes that are published are safe together; `everything` are all classes, kept or not."""
        return True

    def must_go(self, classes: Classes, violated: Mask) -> Longs:
        """Per class, rows that every finer grouping of it must suppress at least."""
        if self.monotonic_with_suppression:
            return np.where(violated, classes.sizes, 0)
        return violated.astype(np.int64) if self.monotonic else np.zeros(len(violated), np.int64)

    def explain(self) -> str:
        """One sentence for the report."""
        raise NotImplementedError

    def said(self, called: str = "rows") -> str:
        """`explain()`, of people where units are counted.

        >>> from kanopy.privacy.models import parse_model
        >>> parse_model("k:5").said("households")
        'Every published combination of quasi-identifiers is shared by at least 5 households.'
        """
        text = self.explain()
        one = {"rows": "row", "people": "person"}.get(called, called.removesuffix("s"))
        return re.sub(r"\brows\b", called, re.sub(r"\brow\b", one, text))

    def promise(self, called: str = "rows") -> str:
        """What it promises, without values of the table, which some models name."""
        named = any(isinstance(value, (dict, list)) for value in self.to_dict().values())
        return self.summary if named else self.said(called)

    def check(self, facts: Mapping[str, ColumnFacts]) -> None:
        """Refuse what the data cannot fulfil, before any work is done."""
        self.require(facts)

    def require(self, facts: Mapping[str, ColumnFacts]) -> None:
        """Refuse data that the model cannot judge: no order, no hierarchy."""

    @classmethod
    def from_short(cls, parts: Sequence[str]) -> dict[str, Any] | None:
        """The parameters behind the parts of the short form, where they are written in a way of their own."""
        return None

    def to_dict(self) -> dict[str, Any]:
        """The model as it stands in a job file."""
        plain: dict[str, Any] = {"name": self.name}
        for field in fields(self):
            value = getattr(self, field.name)
            if value != field.default:
                plain[field.name] = list(value) if isinstance(value, tuple) else value
                if isinstance(value, Mapping):
                    plain[field.name] = dict(value)
        return plain


SensitiveColumn = Annotated[str, Name("the name of a sensitive column"), "the sensitive column"]


@public("kanopy.extend")
@dataclass(frozen=True)
class SensitiveModel(Model):
    """A model about one sensitive column."""

    column: SensitiveColumn

    @property
    def sensitive(self) -> tuple[str, ...]:
        return (self.column,)

    def counts(self, classes: Classes) -> npt.NDArray[Any]:
        """The histogram of the column."""
        return classes.histograms[self.column]

    def shares(self, classes: Classes) -> Floats:
        """The share of the rows (or units, which may hold several values) of each class that hold each value."""
        return np.asarray(self.counts(classes) / np.maximum(classes.sizes, 1)[:, None], np.float64)

    def distribution(self, classes: Classes) -> Floats:
        """The share that each value has of all values in each class, adding up to 1."""
        counts = self.counts(classes)
        return np.asarray(counts / np.maximum(counts.sum(axis=1), 1)[:, None], np.float64)

    def facts(self, facts: Mapping[str, ColumnFacts]) -> ColumnFacts:
        """What is known of the column; an error if nothing is."""
        facts_of_column = facts.get(self.column)
        if facts_of_column is None:
            raise DataError(
                f"The model {self.name!r} names {self.column!r}, which the table does not have. "
                f"{near_miss(self.column, facts)}"
            )
        return facts_of_column

    def require_values(self, wanted: float, facts: Mapping[str, ColumnFacts], what: str) -> None:
        """Refuse more different values than the column has."""
        there = int(self.facts(facts).present.sum())
        if wanted > there:
            raise JobError(
                f"The model {self.name!r} requires {what} = {wanted:g} different values of {self.column!r}, but the "
                f"column has only {there:,}. Choose {what} of at most {there:,}."
            )


@dataclass(frozen=True)
class LimitedShares(SensitiveModel):
    """A model that gives every sensitive value a largest share of a class."""

    monotonic = True

    def limits(self, facts: ColumnFacts) -> Floats:
        """The largest share that each value may have."""
        raise NotImplementedError

    def violated(self, classes: Classes) -> Mask:
        limits = self.limits(self.facts(classes.facts))
        return np.asarray((self.shares(classes) > limits + TOLERANCE).any(axis=1))

    def must_go(self, classes: Classes, violated: Mask) -> Longs:
        limits = self.limits(self.facts(classes.facts))
        return np.maximum(excess_rows(self.counts(classes), classes.sizes, limits), violated)


def labels_of(classes: Classes, column: str, model: str) -> ClassLabels:
    """The published labels of a quasi-identifier, or an error that says who needs them."""
    column_labels = classes.labels.get(column)
    if column_labels is None:
        raise JobError(f"The model {model!r} names {column!r}, which is not a quasi-identifier of this table.")
    return column_labels


def percent(share: float) -> str:
    """A share in words for sentences.

    >>> percent(0.2), percent(0.123)
    ('20 %', '12.3 %')
    """
    return f"{share * 100:.4g} %"


def excess_rows(counts: npt.NDArray[Any], sizes: Longs, limits: Floats | float) -> Longs:
    """Rows of a class that every finer grouping must suppress so that each value keeps to its share of the rest.

    If kept rows hold a value at a share of at most `limit`, then of `n` rows with `c` of that value at least
    `(c - limit·n) / (1 - limit)` are not kept. A limit of 1 never binds: those values are left out.
    """
    limits = np.broadcast_to(np.asarray(limits, np.float64), counts.shape[1:])
    binding = limits < 1
    room = np.maximum(1.0 - limits[binding], TOLERANCE)
    needed = (counts[:, binding] - limits[binding] * sizes[:, None]) / room
    worst = needed.max(axis=1, initial=0.0)
    return np.asarray(np.minimum(np.ceil(worst - 1e-6), sizes), np.int64)
