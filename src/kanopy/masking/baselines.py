"""Plain masking methods that promise no k: what statistical offices use beside it, to compare with.

Martínez 2010 lists them in its Table 1 (sections 2.3 and 2.4): noise, rounding, PRAM, re-sampling and sampling. Each is
one seeded function of a column; none of them makes anybody share a combination with others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from kanopy._arrays import Floats, Longs
from kanopy._errors import JobError

Value = TypeVar("Value")


def add_noise(values: npt.ArrayLike, share: float = 0.1, *, seed: int = 0) -> Floats:
    """Numbers with uncorrelated noise: normal, its spread a share of the column's own. Missing ones (NaN) stay.

    >>> add_noise([10.0, 20.0, 30.0], 0.1).round(1).tolist()
    [10.1, 19.9, 30.5]
    """
    numbers = _numbers(values)
    if not share >= 0:
        raise JobError(f"The noise is a share of the column's spread of at least 0, not {share}.")
    spread = float(np.nanstd(numbers)) if np.isfinite(numbers).any() else 0.0
    return numbers + np.random.default_rng(seed).normal(0.0, share * spread, len(numbers))


def add_correlated_noise(columns: npt.ArrayLike, share: float = 0.1, *, seed: int = 0) -> Floats:
    """Columns of numbers with noise that keeps their correlations: its covariance is that of the data times a share².

    >>> table = np.column_stack([np.arange(50.0), 2 * np.arange(50.0)])
    >>> noisy = add_correlated_noise(table, 0.1)
    >>> round(float(np.corrcoef(noisy.T)[0, 1]), 6)
    1.0
    """
    table = np.asarray(columns, np.float64)
    if table.ndim != 2 or not np.isfinite(table).all():
        raise JobError("Correlated noise needs a table of numbers without missing ones.")
    covariance = np.atleast_2d(np.cov(table, rowvar=False)) * share**2
    noise = np.random.default_rng(seed).multivariate_normal(np.zeros(table.shape[1]), covariance, len(table))
    return np.asarray(table + noise, np.float64)


def round_to(values: npt.ArrayLike, base: float) -> Floats:
    """Numbers rounded to the nearest multiple of a base, halves upwards.

    >>> round_to([12.0, 17.5, 18.0], 5).tolist()
    [10.0, 20.0, 20.0]
    """
    if not base > 0:
        raise JobError(f"Numbers are rounded to multiples of a base above 0, not {base}.")
    return np.asarray(np.floor(_numbers(values) / base + 0.5) * base, np.float64)


def post_randomize(values: Sequence[Value], keep: float = 0.8, *, seed: int = 0) -> list[Value]:
    """PRAM: each category stays with probability `keep`, and becomes otherwise any category, as often as it occurs.

    The matrix is invariant: how often each category is expected does not change (Gouweleeuw et al. 1998).

    >>> post_randomize(list("aabb"), 1.0), sorted(set(post_randomize(list("aabb") * 20, 0.0)))
    (['a', 'a', 'b', 'b'], ['a', 'b'])
    """
    if not 0 <= keep <= 1:
        raise JobError(f"The probability that a category stays lies between 0 and 1, not {keep}.")
    rng = np.random.default_rng(seed)
    stays = rng.random(len(values)) < keep
    drawn = rng.integers(len(values), size=len(values)) if len(values) else np.zeros(0, np.int64)
    return [own if stay else values[int(other)] for own, stay, other in zip(values, stays, drawn, strict=True)]


def resample(values: npt.ArrayLike, times: int = 3, *, seed: int = 0) -> Floats:
    """Re-sampling: draw the column `times` times with replacement, sort each draw, and give the value of each rank the
    mean of the draws at that rank (Heer 1993).

    >>> resample([5.0, 1.0, 3.0], 200).round(1).tolist()
    [4.2, 1.8, 3.0]
    """
    numbers = _numbers(values)
    if not isinstance(times, int) or times < 1:
        raise JobError(f"Draw at least once, not {times!r} times.")
    if not np.isfinite(numbers).all():
        raise JobError("Re-sampling needs numbers without missing ones.")
    if not len(numbers):
        return numbers
    rng = np.random.default_rng(seed)
    mean = np.mean([np.sort(rng.choice(numbers, len(numbers))) for _ in range(times)], axis=0)
    out = np.empty(len(numbers))
    out[np.argsort(numbers, kind="stable")] = mean
    return out


def swap_ranks(values: npt.ArrayLike, percent: float = 5.0, *, seed: int = 0) -> Floats:
    """Rank swapping: sorted, each number is swapped with one at most `percent` of the rows further on (Moore 1996).

    Missing ones (NaN) stay where they are.

    >>> sorted(swap_ranks([5.0, 1.0, 3.0, 2.0], 50).tolist())
    [1.0, 2.0, 3.0, 5.0]
    """
    numbers = _numbers(values)
    if not 0 < percent <= 100:
        raise JobError(f"Ranks are swapped within a percentage of the rows above 0 and up to 100, not {percent}.")
    present = np.flatnonzero(np.isfinite(numbers))
    order = present[np.argsort(numbers[present], kind="stable")]
    within = max(1, int(len(order) * percent / 100))
    rng = np.random.default_rng(seed)
    free, out = np.ones(len(order), bool), numbers.copy()
    for at in range(len(order)):
        others = at + 1 + np.flatnonzero(free[at + 1 : at + 1 + within])
        if free[at] and len(others):
            other = int(rng.choice(others))
            free[at] = free[other] = False
            out[order[at]], out[order[other]] = numbers[order[other]], numbers[order[at]]
    return out


def sample(rows: int, share: float, *, seed: int = 0) -> Longs:
    """Sampling: which rows are published, in their order, if only a share of them is.

    >>> sample(10, 0.3).tolist()
    [2, 4, 6]
    """
    if not 0 < share <= 1:
        raise JobError(f"A sample is a share of the rows above 0 and up to 1, not {share}.")
    return np.sort(np.random.default_rng(seed).permutation(rows)[: round(rows * share)]).astype(np.int64)


def _numbers(values: Any) -> Floats:
    numbers = np.asarray(values, np.float64)
    if numbers.ndim != 1:
        raise JobError("Give the numbers of one column.")
    return numbers


@dataclass(frozen=True)
class Baseline:
    """A method by name: what it does, what its one number (`amount`) is, and what it is if not said."""

    does: str
    amount: str
    usual: float | None
    for_numbers: bool = True


BASELINES: dict[str, Baseline] = {
    "noise": Baseline("adds normal noise to each number", "the noise as a share of the column's spread", 0.1),
    "correlated-noise": Baseline(
        "adds noise that keeps the correlations of the columns", "the noise as a share of the spread", 0.1
    ),
    "rounding": Baseline("rounds each number to a multiple", "the base", None),
    "resampling": Baseline("gives each rank the mean of several draws", "how many draws", 3),
    "rank-swapping": Baseline("swaps numbers of near ranks", "how far, in percent of the rows", 5),
    "pram": Baseline("replaces categories by chance", "the probability that a value stays", 0.8, for_numbers=False),
    "sampling": Baseline("publishes some of the rows", "the share of the rows", 0.1, for_numbers=False),
}
"""The methods of Martínez 2010, Table 1, that stand beside ours and promise no k."""
