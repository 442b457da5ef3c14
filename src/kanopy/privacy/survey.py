"""Models of statistics offices: the risk of a sample's rows and households, and combinations of a few columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import numpy as np

from kanopy._arrays import Floats, Ints, Longs, Mask
from kanopy._core.classes import Classes
from kanopy._errors import JobError
from kanopy._lazy import public
from kanopy._parameter_types import Flag, Integer, ParameterType, Share
from kanopy.privacy.base import Model, percent

ROUNDING = 1e-9
"""Sums of weights differ in their last digits by the order of adding: a threshold met exactly must not fail by that."""


@dataclass(frozen=True)
class Every(ParameterType):
    """How many rows share each combination of so many columns.

    >>> Every().read("2:10, 3:3")
    {2: 10, 3: 3}
    """

    least: int = 0
    words: ClassVar[str] = "numbers of columns and of rows that share them, such as 2:10,3:3"

    def take(self, value: Any, label: str, mistakes: list[str]) -> Any:
        value = self.read(value) if isinstance(value, str) else value
        if isinstance(value, tuple) and all(isinstance(pair, tuple) and len(pair) == 2 for pair in value):
            value = {str(size): rows for size, rows in value}
        if not isinstance(value, Mapping) or len(value) < self.least:
            return self.refuse(value, label, mistakes)
        rows_of_size = {Integer().read(str(size)): rows for size, rows in value.items()}
        if any(not isinstance(size, int) or size < 1 for size in rows_of_size):
            return self.refuse(value, label, mistakes)
        return tuple(
            (size, Integer(2).take(rows, f"{label} of {size}", mistakes)) for size, rows in sorted(rows_of_size.items())
        )

    def read(self, text: str) -> Any:
        pairs = [pair.partition(":") for pair in text.replace("=", ":").split(",") if pair.strip()]
        rows_of_size = {
            Integer().read(size.strip()): Integer().read(rows.strip()) for size, colon, rows in pairs if colon
        }
        return (
            rows_of_size
            if len(rows_of_size) == len(pairs) and all(isinstance(size, int) for size in rows_of_size)
            else text
        )


@dataclass(frozen=True)
class OfSurvey(Model):
    """A model of a sample: each row stands for as many people as its sampling weight says."""

    most: Annotated[float, Share(above=0), "the risk of a row"]
    exact: Annotated[bool, Flag(), "the expected risk instead of the usual approximation for classes of 3 and more"] = (
        False
    )
    chance: ClassVar[str]
    """Whose chance of being found is limited, for the report."""
    needs_weights = instead_of_k = True

    def risks(self, classes: Classes) -> Floats:
        """Per class the risk of its rows; classes without rows have none."""
        from kanopy.metrics.risk.weighted import individual_risks

        if classes.weights is None:
            raise JobError(
                f"The model {self.name!r} needs sampling weights (sampling_weight=…, --sampling-weight COLUMN)."
            )
        there = classes.sizes > 0
        risks = np.zeros(classes.count)
        risks[there] = individual_risks(classes.sizes[there], classes.weights[there], exact=self.exact)
        return risks

    def explain(self) -> str:
        limit = f"at most {percent(self.most)}"
        return f"{self.chance} {limit}, by the sampling weights of all rows that share a combination."


@public("kanopy.privacy")
@dataclass(frozen=True)
class IndividualRisk(OfSurvey):
    """The expected chance of finding the right person behind a published row, by the sampling weights of all rows that
    share its combination, is at most `most` (Benedetti and Franconi 1998, the individual risk of μ-Argus).

    The risk of a class falls with every row that joins it, because more rows and a larger sum of weights both lower it.

    >>> import numpy as np
    >>> found = Classes(np.array([1, 1, 3]), weights=np.array([1000.0, 100.0, 300.0]))
    >>> IndividualRisk(0.01).violated(found).tolist()
    [False, True, False]
    """

    name, example = "individual-risk", "individual-risk:0.01"
    summary = "Individual risk: by its sampling weights, no published row is found with a higher chance."
    chance = "The person behind a published row is found with an expected chance of"
    monotonic_with_suppression = True

    def violated(self, classes: Classes) -> Mask:
        return np.asarray(self.risks(classes) > self.most * (1 + ROUNDING))


@public("kanopy.privacy")
@dataclass(frozen=True)
class HouseholdRisk(OfSurvey):
    """The chance that anybody of a published row's household is found is at most `most`: 1 - Π(1 - risk) over its
    published members, with the risks of `IndividualRisk`.

    Of a household above that, the classes of its riskiest members are unsafe; without them it is judged again. So
    suppressing the unsafe classes is enough, because that only lowers the risk of rows that stay. Generalizing lowers
    every risk; but a class that takes in such a member is suppressed as a whole, so the rows to be suppressed may grow.

    >>> import numpy as np
    >>> found = Classes(
    ...     np.array([1, 1, 1]), weights=np.array([1000.0, 1000.0, 1000.0]), class_of_row=np.array([0, 1, 2]),
    ...     household_of_row=np.array([0, 0, 1]),
    ... )
    >>> HouseholdRisk(0.01).violated(found).tolist()
    [True, True, False]
    """

    name, example = "household-risk", "household-risk:0.02"
    summary = "Household risk: the chance that anybody of a published row's household is found."
    chance = "The chance that anybody of a published row's household is found is"
    monotonic = needs_households = True

    def violated(self, classes: Classes) -> Mask:
        from kanopy.metrics.risk.weighted import household_risks

        risks = self.risks(classes)
        if classes.household_of_row is None or classes.class_of_row is None:
            raise JobError(f"The model {self.name!r} needs households: name their column (household=…, --household).")
        there = classes.class_of_row >= 0
        class_of_row, homes = classes.class_of_row[there], classes.household_of_row[there]
        wrong = np.zeros(classes.count, np.bool_)
        while True:
            left = np.where(wrong, 0.0, risks)[class_of_row]
            unsafe = household_risks(left, homes) > self.most * (1 + ROUNDING)
            if not unsafe.any():
                return wrong
            riskiest = np.zeros(int(homes.max()) + 1)
            np.maximum.at(riskiest, homes[unsafe], left[unsafe])
            wrong[class_of_row[unsafe & (left >= riskiest[homes] * (1 - ROUNDING))]] = True

    def must_go(self, classes: Classes, violated: Mask) -> Longs:
        # A household is made safe by suppressing any of its members, and these may be of any class.
        return np.zeros(classes.count, np.int64)


@public("kanopy.privacy")
@dataclass(frozen=True)
class SubsetK(Model):
    """Every combination of any m of the quasi-identifiers that is published belongs to at least `every[m]` rows.

    Nobody knows all of many quasi-identifiers: this protects against those who know a few of them, and loses far less
    than k-anonymity in all (the identification levels of μ-Argus, sdcMicro's `combs`). Suppressing a class takes rows
    away from combinations that others share, so the classes that are left are judged again.

    >>> import numpy as np
    >>> from kanopy._core.classes import ClassLabels
    >>> sex, job = ClassLabels(np.array([0, 0, 1]), ("f", "m")), ClassLabels(np.array([0, 1, 1]), ("a", "b"))
    >>> labels = {"sex": sex, "job": job}
    >>> SubsetK(((1, 2),)).violated(Classes(np.array([2, 3, 1]), labels=labels)).tolist()
    [False, False, True]
    """

    every: Annotated[
        tuple[tuple[int, int], ...], Every(1), "for each number of columns, the rows that share every combination"
    ]
    name, example = "subset-k", "subset-k:2:10,3:3"
    summary = "Subset-k: every combination of any m quasi-identifiers is shared by at least k rows."
    # Rows that are safe together stay so when they are generalized, whatever else is published.
    monotonic_with_suppression = monotonic_with_units = all_quasi = of_others = instead_of_k = True

    def violated(self, classes: Classes) -> Mask:
        from kanopy.metrics.risk.combinations import unsafe_sets

        columns, widths = [], []
        for column_labels in classes.labels.values():
            number_of_label: dict[str, int] = {}
            # By label: two nodes that publish the same are one value.
            number = np.array(
                [number_of_label.setdefault(label, len(number_of_label)) for label in column_labels.labels], np.int32
            )
            columns.append(number[column_labels.codes])
            widths.append(len(number_of_label))
        # A release of fewer columns has no combinations of more.
        wanted = {size: rows for size, rows in self.every if size <= len(columns)}
        wrong = np.zeros(classes.count, np.bool_)
        left: Longs | Ints = np.flatnonzero(classes.sizes > 0)
        units = classes.units
        if units is not None and classes.class_of_row is not None:
            # People do not add up over classes: row by row.
            there = np.flatnonzero(classes.class_of_row >= 0)
            left, units = classes.class_of_row[there], units.part(there)
        while len(left):
            left_columns = [column[left] for column in columns]
            sizes = classes.sizes[left] if units is None else None
            _, unsafe = unsafe_sets(list(classes.labels), left_columns, wanted, sizes, widths, units)
            if not unsafe.any():
                break
            wrong[left[unsafe]] = True
            stay = ~wrong[left]
            left, units = left[stay], None if units is None else units.part(np.flatnonzero(stay))
        return wrong

    def explain(self) -> str:
        (first, least), *rest = self.every
        noun = "quasi-identifier" if first == 1 else "quasi-identifiers"
        more = "".join(f", of any {size} by at least {rows}" for size, rows in rest)
        return f"Every published combination of any {first} {noun} is shared by at least {least} rows{more}."

    @classmethod
    def from_short(cls, parts: Sequence[str]) -> dict[str, Any]:
        return {"every": ":".join(parts)}

    def to_dict(self) -> dict[str, Any]:
        return {"name": self.name, "every": ",".join(f"{size}:{rows}" for size, rows in self.every)}
