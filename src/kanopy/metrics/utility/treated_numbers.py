"""What treated numbers are still good for: distances, moments, eigenvalues, correlations, regressions.

IL1s and the distance of eigenvalues are measures of sdcMicro (Templ, Kowarik, Meindl 2015).
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from kanopy._arrays import Floats


@dataclass(frozen=True)
class TreatedUtility:
    """How far treated columns are from the original ones; `None` where a measure has no value."""

    columns: tuple[str, ...]
    rows: int
    il1s: float | None
    """Sum of the distances of all values in units of √2 standard deviations (Yancey, Winkler, Creecy 2002)."""
    il1s_per_value: float | None
    eigenvalues: float | None
    """Sum of the relative differences of the eigenvalues of the correlation matrices."""
    means: dict[str, float | None]
    """Difference of the means, in standard deviations."""
    deviations: dict[str, float | None]
    """Difference of the standard deviations, as a share of the original one."""
    covariances: float | None
    """Mean difference of the covariances, in units of the product of the standard deviations."""
    correlations: float | None
    """Largest difference of a correlation."""
    regression: float | None
    """Largest difference of a coefficient of the regression of a column on the others, all standardised."""

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return asdict(self) | {"columns": list(self.columns)}


def il1s(original: Floats, treated: Floats) -> float:
    """The sum over all values of |x - y| / (√2·sd of the column).

    >>> round(il1s(np.array([[0.0], [2.0]]), np.array([[1.0], [1.0]])), 6)
    1.0
    """
    spread = original.std(axis=0, ddof=1)
    return float((np.abs(original - treated) / (np.sqrt(2.0) * np.where(spread > 0, spread, np.nan))).sum())


def eigenvalue_distance(original: Floats, treated: Floats) -> float:
    """The sum of |λ - μ| / λ over the eigenvalues of the correlation matrices, largest first.

    Eigenvalues that are 0 but for rounding (columns that add up to another one) are left out: what stands there is
    chance.
    """
    before, after = (np.linalg.eigvalsh(np.atleast_2d(_correlations(x)))[::-1] for x in (original, treated))
    some = before > 1e-10 * before[0]
    return float((np.abs(before - after)[some] / before[some]).sum())


def study_utility(columns: tuple[str, ...], original: Floats, treated: Floats) -> TreatedUtility:
    """All measures over the rows in which every column is known before and after.

    >>> x = np.array([[1.0, 2.0], [2.0, 1.0], [3.0, 4.0], [5.0, 6.0]])
    >>> found = study_utility(("a", "b"), x, x)
    >>> found.il1s, found.correlations, found.means["a"]
    (0.0, 0.0, 0.0)
    """
    is_known = ~(np.isnan(original) | np.isnan(treated)).any(axis=1)
    x, y = original[is_known], treated[is_known]
    varies = x.std(axis=0) > 0 if len(x) > 1 else np.zeros(len(columns), np.bool_)
    nothing: dict[str, float | None] = dict.fromkeys(columns)
    if len(x) < 2 or not varies.any():
        return TreatedUtility(columns, len(x), None, None, None, nothing, dict(nothing), None, None, None)
    x, y = x[:, varies], y[:, varies]
    names = [name for name, does_vary in zip(columns, varies, strict=True) if does_vary]
    spread = x.std(axis=0, ddof=1)
    total = il1s(x, y)
    means = nothing | dict(zip(names, ((y.mean(axis=0) - x.mean(axis=0)) / spread).tolist(), strict=True))
    deviations = nothing | dict(zip(names, (y.std(axis=0, ddof=1) / spread - 1).tolist(), strict=True))
    covariance = np.atleast_2d(np.cov(y, rowvar=False) - np.cov(x, rowvar=False)) / np.outer(spread, spread)
    alone = x.shape[1] == 1
    between = np.abs(_correlations(y) - _correlations(x))
    return TreatedUtility(
        columns, len(x), total, total / x.size, None if alone else eigenvalue_distance(x, y), means, deviations,
        float(np.abs(covariance).mean()), None if alone else float(between.max()),
        None if alone else float(np.abs(_coefficients(y) - _coefficients(x)).max()),
    )  # fmt: skip


def _correlations(x: Floats) -> Floats:
    spread = x.std(axis=0, ddof=1)
    scaled = (x - x.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    return np.asarray(scaled.T @ scaled / (len(x) - 1))


def _coefficients(x: Floats) -> Floats:
    """Per column the coefficients of its regression on the others, all standardised; ridge keeps copies apart."""
    r = _correlations(x) + 1e-6 * np.eye(x.shape[1])
    coefficients = []
    for j in range(x.shape[1]):
        others = [i for i in range(x.shape[1]) if i != j]
        coefficients.append(np.linalg.solve(r[np.ix_(others, others)], r[others, j]))
    return np.array(coefficients)
