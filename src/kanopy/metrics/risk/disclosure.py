"""What a class gives away: someone who knows in which class a person is also learns its sensitive values.

k-anonymity hides which row is a person's, not what all rows of the class have in common (homogeneity and background
knowledge, Machanavajjhala et al. 2007; skewness, Li et al. 2007). These are pure functions of how often each sensitive
value occurs in each class.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from kanopy._arrays import Ints, Longs
from kanopy._core.units import Units
from kanopy._errors import JobError
from kanopy._mixins import DictMixin
from kanopy.metrics.utility.column_utility import entropy

MOST_SHOWN = 10


@dataclass(frozen=True, eq=False)
class People:
    """Whose rows are in which class (-1: none), and how many of them each class and each sensitive value has."""

    units: Units
    class_of_row: Ints
    of_class: Longs
    of_value: Longs


@dataclass(frozen=True)
class GivenAway:
    """One class that gives a value away: which class, which value (positions), how many rows and with what share."""

    group: int
    value: int
    rows: int
    confidence: float


@dataclass(frozen=True)
class Disclosure(DictMixin):
    """What the classes say about one sensitive column.

    `certain_rows` lie in classes where all have one value. `confidence` is the share of a class that its most frequent
    value has, `baseline` that share in the whole table: what anybody could guess anyway. `likely_rows` lie in classes
    whose confidence reaches `level`. `expected_confidence` is the mean over rows, `information` the bits that the
    class tells about the value on average, out of `uncertainty` bits without it. `largest_shift` is the greatest
    difference between a class's distribution and that of the table (total variation, as in t-closeness with equal
    distances). `distinct` is the least number of values in a class.
    """

    column: str
    rows: int
    classes: int
    values: int
    distinct: int
    certain_classes: int
    certain_rows: int
    likely_rows: int
    level: float
    baseline: float
    expected_confidence: float
    information: float
    uncertainty: float
    largest_shift: float
    worst: tuple[GivenAway, ...]

    json_names = {"worst": ""}  # noqa: RUF012 - examples name classes and values


def attribute_disclosure(
    column: str, groups: npt.ArrayLike, values: npt.ArrayLike, counts: npt.ArrayLike, *, level: float = 0.8,
    people: People | None = None,
) -> Disclosure:  # fmt: skip
    """What classes give away about one sensitive column.

    `groups`, `values` and `counts` list which value occurs how often in which class, each pair once. Where `people` are
    counted, who may have several values and be in several classes, a guess is right of those who have the value, and
    everybody counts once, by the class of theirs that says most.

    >>> found = attribute_disclosure("ill", groups=[0, 1, 1], values=[0, 0, 1], counts=[4, 3, 1])
    >>> found.certain_rows, found.expected_confidence, found.baseline, found.distinct
    (4, 0.875, 0.875, 1)
    """
    if not 0.0 < level <= 1.0:
        raise JobError(f"The level at which a value counts as disclosed must be above 0 and at most 1, not {level}.")
    group = np.asarray(groups, np.int64)
    value = np.asarray(values, np.int64)
    number = np.asarray(counts, np.int64)
    classes, values_known = int(group.max(initial=-1)) + 1, int(value.max(initial=-1)) + 1
    sizes = np.bincount(group, weights=number, minlength=classes)
    overall = np.bincount(value, weights=number, minlength=values_known)
    rows = int(number.sum())
    if not rows:
        return Disclosure(column, 0, 0, 0, 0, 0, 0, 0, level, 0.0, 0.0, 0.0, 0.0, 0.0, ())
    share = number / sizes[group]
    pairs = sizes
    sizes = sizes if people is None else people.of_class[:classes]
    sure = number / sizes[group]
    confidence = np.zeros(classes)
    np.maximum.at(confidence, group, sure)
    distinct = np.bincount(group, minlength=classes)
    expected = overall / rows
    # A value that a class lacks shifts it by its whole share, so only the values present need a look.
    shift = np.bincount(group, weights=np.maximum(share - expected[value], 0.0), minlength=classes)
    uncertainty = entropy(overall)
    conditional = float(-(number * np.log2(share)).sum()) / rows
    single = (confidence >= 1) & (pairs > 0)
    # Per class, or per person, how sure one can be, and of how many.
    sure_of, members = confidence, sizes
    if people is not None:
        sure_of = -people.units.least(people.class_of_row, -confidence)
        members = np.ones(len(sure_of), np.int64)
    order = np.lexsort((group, -number, -sure))
    worst = [
        GivenAway(int(group[i]), int(value[i]), int(sizes[group[i]]), float(sure[i]))
        for i in order[:MOST_SHOWN]
        if sure[i] >= level
    ]
    return Disclosure(
        column=column,
        rows=int(members.sum()),
        classes=int((pairs > 0).sum()),
        values=int((overall > 0).sum()),
        distinct=int(distinct[pairs > 0].min()),
        certain_classes=int(single.sum()),
        certain_rows=int(members[sure_of >= 1].sum()),
        likely_rows=int(members[sure_of >= level - 1e-12].sum()),
        level=level,
        baseline=float(expected.max() if people is None else people.of_value.max() / members.sum()),
        expected_confidence=float((sure_of * members).sum() / members.sum()),
        information=max(0.0, uncertainty - conditional),
        uncertainty=uncertainty,
        largest_shift=float(shift.max()),
        worst=tuple(worst),
    )
