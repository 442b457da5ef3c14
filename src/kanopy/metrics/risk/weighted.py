"""The statistician's risk: rows of a sample survey, each standing for as many people as its sampling weight says.

A combination of values that `f` rows of the sample share is estimated to be shared by `F` people of the population, the
sum of the weights of those rows. The risk of a row is the expected 1/F (Benedetti and Franconi 1998); the risk of a
household is the chance that any of its members is found.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from math import fsum
from typing import Any

import numpy as np
import numpy.typing as npt

from kanopy._arrays import Floats, Longs
from kanopy._core.numbering import SMALL_ALONE, number_rows
from kanopy._errors import JobError
from kanopy._mixins import DictMixin
from kanopy.metrics.risk.population import expected_inverse_sizes

Codes = npt.NDArray[np.integer[Any]]

EDGES = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5)
"""Where the bins of the risk of rows end."""
HOUSEHOLD_ALONE = (
    "The household {!r:.60} was named, but no sampling weights. The risk of a household follows from the risks of its "
    "members: name the column with their weights (sampling_weight=…, --sampling-weight)."
)
ANY, VALUE = "any", "value"
"""What a missing value means: it may stand for every value, or it is a value of its own."""


@dataclass(frozen=True)
class RiskBin(DictMixin):
    """Rows whose risk is above `over` and at most `up_to`."""

    over: float
    up_to: float
    rows: int


@dataclass(frozen=True)
class HouseholdRisk(DictMixin):
    """The risk that somebody of a row's household is found. `alone` rows name no household: each is one."""

    column: str
    households: int
    alone: int
    expected_reidentifications: float
    share: float
    highest: float


@dataclass(frozen=True)
class SurveyRisk(DictMixin):
    """The individual risk of a sample survey. Shares are of its published rows."""

    weight: str
    missing_means: str
    exact: bool
    represented: float
    expected_reidentifications: float
    share: float
    highest: float
    sample_uniques: int
    rows_above: int
    bins: tuple[RiskBin, ...]
    household: HouseholdRisk | None


def individual_risks(sizes: npt.ArrayLike, weights: npt.ArrayLike, *, exact: bool = False) -> Floats:
    """Per class of `f` rows whose sampling weights add up to `F`, the risk of each of its rows.

    With p = f/F: f = 1: p/(1-p)·log(1/p); f = 2: p/(1-p) - (p/(1-p))²·log(1/p); from 3 on p/(f - (1-p)), as μ-Argus
    and sdcMicro compute it, or the expectation itself (`exact`). Where the weights add up to no more than the rows,
    the sample is the population: 1/f. The risk falls when rows join a class, whoever they are. Benedetti and Franconi
    (1998); Franconi and Polettini (2004).

    >>> individual_risks([1, 2, 3, 4], [100.0, 100.0, 100.0, 4.0]).round(6).tolist()
    [0.046517, 0.018779, 0.014778, 0.25]
    """
    rows, people = np.asarray(sizes, np.float64), np.asarray(weights, np.float64)
    share = np.minimum(1.0, rows / people)
    few = np.ones(rows.shape, np.bool_) if exact else rows < 3
    risks = np.empty(rows.shape)
    risks[few] = expected_inverse_sizes(rows[few], share[few])
    risks[~few] = share[~few] / (rows[~few] - (1.0 - share[~few]))
    return risks


def household_risks(risks: Floats, household_of_row: Codes) -> Floats:
    """Per row the chance that somebody of its household is found: 1 - Π(1 - risk) over its members.

    >>> household_risks(np.array([0.1, 0.2, 0.5]), np.array([0, 0, 1])).round(6).tolist()
    [0.28, 0.28, 0.5]
    """
    # In logarithms, so that many small risks are not lost beside 1; a certain member makes the household certain.
    with np.errstate(divide="ignore"):
        safe = np.bincount(household_of_row, np.log1p(-risks))
    return np.asarray(-np.expm1(safe)[household_of_row], np.float64)


def matching_sums(
    columns: Sequence[Codes], sizes: Sequence[int], weights: Floats, missing_means: str = VALUE
) -> tuple[Longs, Floats]:
    """Per row, how many rows match it in all columns, and the sum of their weights. Missing values have the code -1.

    Where missing means `value`, a missing value matches a missing value only. Where it means `any`, it matches every
    value, both ways: rows are then compared in the columns that neither of the two lacks.

    >>> columns, weights = [np.array([0, -1, 1])], np.array([1.0, 2.0, 4.0])
    >>> [matching_sums(columns, [2], weights, means)[1].tolist() for means in ("value", "any")]
    [[1.0, 2.0, 4.0], [3.0, 7.0, 6.0]]
    """
    if missing_means not in (ANY, VALUE):
        raise JobError(f"A missing value means 'any' or 'value', not {missing_means!r}.")
    filled = [np.where(codes < 0, size, codes) for codes, size in zip(columns, sizes, strict=True)]
    number, first, counts = number_rows(filled, [size + 1 for size in sizes], small=SMALL_ALONE)
    people = np.asarray(np.bincount(number, weights, len(first)), np.float64)
    lacking = np.array([codes[first] < 0 for codes in columns]).T
    if missing_means == VALUE or not lacking.any():
        return counts[number], people[number]
    patterns, of_tuple = np.unique(lacking, axis=0, return_inverse=True)
    of_tuple = of_tuple.reshape(-1)
    members = [np.flatnonzero(of_tuple == pattern) for pattern in range(len(patterns))]
    all_rows, all_people = np.zeros(len(first), np.int64), np.zeros(len(first))
    for one, other in product(range(len(patterns)), repeat=2):
        shared = np.flatnonzero(~(patterns[one] | patterns[other])).tolist()
        both = np.concatenate([members[one], members[other]])
        alike = np.zeros(len(both), np.int32)
        if shared:
            at = first[both]
            alike = number_rows([filled[j][at] for j in shared], [sizes[j] + 1 for j in shared], small=SMALL_ALONE)[0]
        group, others = alike[: len(members[one])], alike[len(members[one]) :]
        most = int(alike.max()) + 1
        all_rows[members[one]] += np.bincount(others, counts[members[other]], most).astype(np.int64)[group]
        all_people[members[one]] += np.bincount(others, people[members[other]], most)[group]
    return all_rows[number], all_people[number]


def survey_risk(
    risks: Floats,
    rows_alike: Longs,
    weights: Floats,
    *,
    weight: str,
    missing_means: str = VALUE,
    exact: bool = False,
    threshold: float = 0.2,
    household: tuple[str, Codes, int] | None = None,
) -> SurveyRisk:
    """The summary of the risks of published rows; `household` is a column, each row's household, and rows without one.

    >>> found = survey_risk(np.array([0.5, 0.25]), np.array([1, 2]), np.array([2.0, 4.0]), weight="w")
    >>> found.expected_reidentifications, found.share, found.represented
    (0.75, 0.375, 6.0)
    """
    rows = max(len(risks), 1)
    together: HouseholdRisk | None = None
    if household is not None:
        column, of_row, alone = household
        joint = household_risks(risks, of_row)
        expected = fsum(joint.tolist())
        together = HouseholdRisk(
            column, len(np.unique(of_row)), alone, expected, expected / rows, float(joint.max(initial=0.0))
        )
    limits = np.concatenate([[0.0], EDGES, [1.0]])
    within = np.bincount(np.searchsorted(limits[1:], risks - 1e-12), minlength=len(limits) - 1)
    bins = [
        RiskBin(*limits_and_rows)
        for limits_and_rows in zip(limits[:-1].tolist(), limits[1:].tolist(), within.tolist(), strict=True)
    ]
    while len(bins) > 1 and not bins[-1].rows:
        bins.pop()
    expected = fsum(risks.tolist())
    return SurveyRisk(
        weight=weight, missing_means=missing_means, exact=exact, represented=fsum(weights.tolist()),
        expected_reidentifications=expected, share=expected / rows, highest=float(risks.max(initial=0.0)),
        sample_uniques=int((rows_alike == 1).sum()), rows_above=int((risks > threshold * (1 + 1e-9)).sum()),
        bins=tuple(bins), household=together,
    )  # fmt: skip
