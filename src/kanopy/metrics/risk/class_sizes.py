"""How likely someone in the release is to be found again: pure functions of class sizes.

Three attackers are told apart (El Emam and Dankar 2008). The *prosecutor* knows that a person is in the table; the
*journalist* only knows that the person belongs to the population the table was drawn from; the *marketer* wants to
find as many people as possible and does not care whom (Dankar and El Emam 2010).

One rule for suppressed rows, here and in every report: a suppressed row publishes no quasi-identifier, so nobody can
be found through it. It is in no class and in no denominator: all shares are shares of the *published* rows, so that
suppressing more rows can never make the rest look safer than it is. A release without rows has no risk.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import fsum
from typing import Any

import numpy as np
import numpy.typing as npt

from kanopy._arrays import Longs
from kanopy._errors import JobError
from kanopy._mixins import DictMixin

THRESHOLDS = (0.5, 1 / 3, 0.2, 0.1, 0.05)
"""Risks above which rows are counted: classes smaller than 2, 3, 5, 10 and 20."""


@dataclass(frozen=True)
class Risk(DictMixin):
    """The risks of one table. Shares are of its published rows; `rows_above` pairs a threshold with rows above it."""

    rows: int
    classes: int
    smallest_class: int
    highest_prosecutor: float
    average_prosecutor: float
    highest_journalist: float
    marketer: float
    unique_rows: int
    unique_share: float
    rows_above: tuple[tuple[float, int], ...]

    def to_dict(self) -> dict[str, Any]:
        """As plain values; thresholds become `{"above", "rows", "share"}`."""
        above = [
            {"above": threshold, "rows": rows, "share": rows / max(self.rows, 1)} for threshold, rows in self.rows_above
        ]
        return {**super().to_dict(), "rows_above": above}


def highest_prosecutor_risk(sizes: npt.ArrayLike) -> float:
    """One over the smallest class: the chance of picking the right row for the person who is easiest to find.

    El Emam and Dankar (2008).

    >>> highest_prosecutor_risk([5, 10, 20])
    0.2
    """
    classes = class_sizes(sizes)
    return float(1.0 / classes.min()) if len(classes) else 0.0


def average_prosecutor_risk(sizes: npt.ArrayLike) -> float:
    """The mean over rows of one over the class size, which is the number of classes over the number of rows.

    El Emam and Dankar (2008).

    >>> average_prosecutor_risk([5, 10, 15])
    0.1
    """
    classes = class_sizes(sizes)
    return len(classes) / int(classes.sum()) if len(classes) else 0.0


def highest_journalist_risk(sizes: npt.ArrayLike, population_sizes: npt.ArrayLike | None = None) -> float:
    """One over the smallest group of the *population* that a published class belongs to.

    `population_sizes` gives, per class, how many people of the population share its values. Without it the table is
    taken to be the whole population, the worst case, and the answer equals the prosecutor's.
    El Emam and Dankar (2008).

    >>> highest_journalist_risk([5, 10]), highest_journalist_risk([5, 10], [50, 40])
    (0.2, 0.025)
    """
    classes = class_sizes(sizes)
    if population_sizes is None:
        return highest_prosecutor_risk(classes)
    population = np.asarray(population_sizes, np.int64)
    if len(population) != len(classes) or (population < classes).any():
        raise JobError(
            f"Give one population count per class ({len(classes):,}), none smaller than the class itself: "
            "everyone in the table is in the population."
        )
    return float(1.0 / population.min()) if len(population) else 0.0


def marketer_risk(sizes: npt.ArrayLike) -> float:
    """The share of rows expected to be matched correctly by someone who links the whole release to a register.

    Each class yields one correct match on average, so this is classes over rows (Dankar and El Emam 2010, with the
    register covering exactly the people in the table).

    >>> marketer_risk([2, 2, 6])
    0.3
    """
    return average_prosecutor_risk(sizes)


def rows_at_risk(sizes: npt.ArrayLike, threshold: float, fitting: npt.ArrayLike | None = None) -> int:
    """Rows whose risk, one over their class size, lies above `threshold`; with `fitting`, people (see `risk`).

    >>> rows_at_risk([1, 4, 5, 10], 0.2), rows_at_risk([1, 4, 5], 0.2, fitting=[1, 4, 4, 5, 5])
    (5, 3)
    """
    if not 0.0 <= threshold <= 1.0:
        raise JobError(f"A risk threshold lies between 0 and 1, not {threshold}.")
    alike, members = _members(sizes, fitting)
    # 1/size > threshold without dividing; the margin keeps 1/3 and 0.2 on the side where they belong.
    return int(members[alike * threshold < 1.0 - 1e-9].sum())


def unique_share(sizes: npt.ArrayLike) -> float:
    """The share of rows that are alone in their class.

    >>> unique_share([1, 1, 2])
    0.5
    """
    classes = class_sizes(sizes)
    return int((classes == 1).sum()) / int(classes.sum()) if len(classes) else 0.0


@dataclass(frozen=True)
class SizeBin:
    """Classes of `low` to `high` rows: how many there are and how many rows they hold."""

    low: int
    high: int
    classes: int
    rows: int

    @property
    def label(self) -> str:
        """The range in words.

        >>> SizeBin(2, 4, 3, 9).label
        '2–4'
        """
        return f"{self.low:,}" if self.low == self.high else f"{self.low:,}–{self.high:,}"


def size_histogram(
    sizes: npt.ArrayLike, edges: Sequence[int] | None = None, *, fitting: npt.ArrayLike | None = None
) -> tuple[SizeBin, ...]:
    """Classes by size. `edges` are the smallest sizes of the bins; by default 1, 2, 5, 10, 20, 50, … as far as needed.

    With `fitting` (see `risk`) everybody is counted once, where the smallest of their classes is.

    >>> [(b.label, b.classes, b.rows) for b in size_histogram([1, 3, 4, 12])]
    [('1', 1, 1), ('2–4', 2, 7), ('5–9', 0, 0), ('10–19', 1, 12)]
    >>> [(b.label, b.classes, b.rows) for b in size_histogram([1, 2], fitting=[1, 2])]
    [('1', 1, 1), ('2–4', 1, 1)]
    """
    classes = class_sizes(sizes)
    alike, members = _members(classes, fitting)
    largest = int(classes.max()) if len(classes) else 0
    starts = sorted(edges) if edges is not None else _one_two_five(largest)
    if not starts or starts[0] < 1:
        raise JobError("The bins of a class-size histogram begin at 1 row or more.")
    limits = [*starts[1:], max(starts[-1] + 1, largest + 1)]
    if edges is None:
        limits[-1] = _one_two_five(largest, beyond=True)[-1]
    bins = []
    for low, limit in zip(starts, limits, strict=True):
        inside = int(((classes >= low) & (classes < limit)).sum())
        bins.append(SizeBin(low, limit - 1, inside, int(members[(alike >= low) & (alike < limit)].sum())))
    return tuple(bins)


def risk(
    sizes: npt.ArrayLike, thresholds: Sequence[float] = THRESHOLDS, *, fitting: npt.ArrayLike | None = None
) -> Risk:
    """All risks of a table at once.

    Where classes hold people, who may be in several of them, `fitting` is, per person of whom something is published,
    how many people fit what may be known of them (`Units.fitting`): everybody is counted once, with one over it.

    >>> found = risk([1, 1, 3, 5])
    >>> found.highest_prosecutor, found.marketer, found.unique_rows, found.rows_above[2]
    (1.0, 0.4, 2, (0.2, 5))
    >>> found = risk([1, 2, 2], fitting=[1, 2])
    >>> found.rows, found.unique_rows, found.average_prosecutor, found.rows_above[0], risk([1, 2, 2]).rows
    (2, 1, 0.75, (0.5, 1), 5)
    """
    classes = class_sizes(sizes)
    alike, members = _members(classes, fitting)
    rows, highest = int(members.sum()), highest_prosecutor_risk(alike)
    alone = int(members[alike == 1].sum())
    average = average_prosecutor_risk(classes) if fitting is None else average_of_people(fitting)
    return Risk(
        rows=rows,
        classes=len(classes),
        smallest_class=int(classes.min()) if len(classes) else 0,
        highest_prosecutor=highest,
        average_prosecutor=average,
        highest_journalist=highest,
        marketer=average,
        unique_rows=alone,
        unique_share=alone / rows if rows else 0.0,
        rows_above=tuple((float(threshold), rows_at_risk(classes, threshold, fitting)) for threshold in thresholds),
    )


def average_of_people(fitting: npt.ArrayLike) -> float:
    """The mean over people of one over how many fit what may be known of each.

    >>> average_of_people([1, 2])
    0.75
    """
    alike = np.asarray(fitting, np.int64)
    return fsum(1.0 / alike) / len(alike) if len(alike) else 0.0


def _members(sizes: npt.ArrayLike, fitting: npt.ArrayLike | None) -> tuple[Longs, Longs]:
    """How many are alike, and how many members these numbers are of: of whole classes, or person by person."""
    if fitting is None:
        classes = class_sizes(sizes)
        return classes, classes
    alike = np.asarray(fitting, np.int64)
    return alike, np.ones(len(alike), np.int64)


def class_sizes(sizes: npt.ArrayLike) -> Longs:
    """Class sizes as an array; empty classes do not exist."""
    classes = np.asarray(sizes, np.int64)
    if (classes < 0).any():
        raise JobError("A class cannot have fewer than zero rows.")
    return classes[classes > 0]


def _one_two_five(largest: int, *, beyond: bool = False) -> list[int]:
    """1, 2, 5, 10, 20, 50, … up to `largest`, and with `beyond` the next one too."""
    limits = [1]
    while limits[-1] <= max(largest, 1):
        step = (2.0, 2.5, 2.0)[(len(limits) - 1) % 3]
        limits.append(int(limits[-1] * step))
    return limits if beyond else limits[:-1]
