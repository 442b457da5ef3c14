"""Risk and utility of treated columns: what who knows the original values finds, and what is left of them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from kanopy._arrays import Floats, Longs
from kanopy.metrics.risk.treated_numbers import TreatedRisk, study_risk
from kanopy.metrics.utility.treated_numbers import TreatedUtility, study_utility

if TYPE_CHECKING:
    import polars as pl

BINS = 12


@dataclass(frozen=True)
class TreatedStudy:
    """The figures of columns that are treated together; both are `None` where they hold no numbers or dates."""

    column: str
    method: str
    changed: float
    """The share of rows in which a value of the column changed."""
    risk: TreatedRisk | None = None
    utility: TreatedUtility | None = None
    histogram: tuple[tuple[str, float, float], ...] = ()
    """Per range its share of the rows before and after; ranges of few rows are joined."""

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "column": self.column,
            "method": self.method,
            "changed": self.changed,
            "risk": None if self.risk is None else self.risk.to_dict(),
            "utility": None if self.utility is None else self.utility.to_dict(),
            "histogram": [list(bar) for bar in self.histogram],
        }


def study_treated(
    protect: Mapping[str, Any], original: pl.DataFrame, published: pl.DataFrame, least_rows: int = 5
) -> tuple[TreatedStudy, ...]:
    """The figures of every treatment, on rows in the same order before and after.

    >>> import polars as pl
    >>> from kanopy.treatments.registry import make_treatment
    >>> before = pl.DataFrame({"pay": [10, 12, 14, 30, 33, 36]})
    >>> after = pl.DataFrame({"pay": [12, 12, 12, 33, 33, 33]})
    >>> study_treated({"pay": make_treatment("microaggregate")}, before, after)[0].utility.means
    {'pay': 0.0}
    """
    return tuple(_study(column, treatment, original, published, least_rows) for column, treatment in protect.items())


def study_numbers(
    original: pl.DataFrame,
    published: pl.DataFrame,
    partner: Longs,
    protect: Mapping[str, Any],
    quasi: Collection[str] = (),
    least_rows: int = 5,
) -> tuple[TreatedStudy, ...]:
    """The figures of numbers and dates that a release publishes other than they were; `partner` is the published row of
    each row, -1 where there is none.

    Those of the treatments of a job; without, all such columns but the quasi-identifiers, together.

    >>> import polars as pl
    >>> before = pl.DataFrame({"pay": [10, 12, 14, 30, 33, 36], "age": [1, 2, 3, 4, 5, 6]})
    >>> after = before.with_columns(pay=pl.Series([12, 12, 12, 33, 33, 33]))
    >>> study_numbers(before, after, np.arange(6), {})[0].column
    'pay'
    """
    original, published = original[np.flatnonzero(partner >= 0)], published[partner[partner >= 0]]
    if protect:
        there = {name for name in original.columns if name in published.columns}
        named = {column: treatment for column, treatment in protect.items() if set(treatment.writes(column)) <= there}
        return tuple(study for study in study_treated(named, original, published, least_rows) if study.risk is not None)
    usable = []
    for name in published.columns:
        if name in quasi or name not in original.columns:
            continue
        x, y = as_numbers(original[name]), as_numbers(published[name])
        if x is not None and y is not None and not np.array_equal(x, y, equal_nan=True):
            usable.append((name, x, y))
    if not usable:
        return ()
    names, x, y = tuple(name for name, _, _ in usable), *(np.column_stack([u[i] for u in usable]) for i in (1, 2))
    changed = float((x != y)[~np.isnan(x)].mean())
    return (TreatedStudy(", ".join(names), "", changed, study_risk(names, x, y), study_utility(names, x, y)),)


def _study(column: str, treatment: Any, original: pl.DataFrame, published: pl.DataFrame, least: int) -> TreatedStudy:
    import polars as pl

    before, after = (table[column].cast(pl.String) for table in (original, published))
    present = before.is_not_null()
    changed = float((before.ne_missing(after) & present).sum()) / max(int(present.sum()), 1)
    names = treatment.writes(column)
    numbers = [(name, as_numbers(original[name]), as_numbers(published[name])) for name in names]
    usable = [(name, x, y) for name, x, y in numbers if x is not None and y is not None]
    numeric = next(((x, y) for name, x, y in usable if name == column), None)
    if numeric is not None:
        there = ~np.isnan(numeric[0])
        changed = float((numeric[0] != numeric[1])[there].mean()) if there.any() else 0.0
    if not usable or treatment.for_identifiers:
        return TreatedStudy(column, treatment.name, changed)
    columns = tuple(name for name, _, _ in usable)
    x, y = (np.column_stack([column_pair[side] for column_pair in usable]) for side in (1, 2))
    drawn = () if numeric is None else histogram(*numeric, least)
    return TreatedStudy(column, treatment.name, changed, study_risk(columns, x, y), study_utility(columns, x, y), drawn)


def as_numbers(series: pl.Series) -> Floats | None:
    """The values of a column as numbers, dates as days; `None` where they are neither."""
    import polars as pl

    dtype = series.dtype
    if dtype == pl.Date:
        return np.asarray(series.cast(pl.Float64).fill_null(np.nan).to_numpy(), np.float64)
    if isinstance(dtype, pl.Datetime):
        days = series.dt.replace_time_zone(None).cast(pl.Datetime("us")).cast(pl.Float64) / 86_400_000_000
        return np.asarray(days.fill_null(np.nan).to_numpy(), np.float64)
    if not (dtype.is_numeric() or dtype == pl.String):
        return None
    numbers = series.cast(pl.Float64, strict=False)
    if numbers.is_null().sum() > series.is_null().sum() + int((series == "").sum() if dtype == pl.String else 0):
        return None
    values = np.asarray(numbers.fill_null(np.nan).to_numpy(), np.float64)
    return values if np.isfinite(values[~np.isnan(values)]).all() else None


def histogram(before: Floats, after: Floats, least: int) -> tuple[tuple[str, float, float], ...]:
    """Shares of the rows per range before and after; neighbouring ranges of fewer than `least` rows are joined."""
    x, y = before[~np.isnan(before)], after[~np.isnan(after)]
    if len(x) < 2 * least or not len(y) or x.min() == x.max():
        return ()
    # Ranges of about equal numbers of rows: those of equal width would show who is far out.
    edges = np.unique(np.quantile(x, np.linspace(0, 1, BINS + 1)[1:-1]))
    places = [np.bincount(np.searchsorted(edges, values, side="right"), minlength=len(edges) + 1) for values in (x, y)]
    joined: list[list[float]] = []
    ends: list[float | None] = []
    begin: float | None = None
    for index in range(len(edges) + 1):
        end = edges[index] if index < len(edges) else None
        counts = [float(counts_in_bin[index]) for counts_in_bin in places]
        if joined and (joined[-1][0] < least):
            joined[-1] = [a + b for a, b in zip(joined[-1], counts, strict=True)]
            ends[-1] = end
        else:
            joined.append(counts)
            ends.append(end)
    shares_of_bins = []
    for (one, other), end in zip(joined, ends, strict=True):
        low = "" if begin is None else f"{begin:.4g}"
        label = (
            f"< {end:.4g}" if begin is None and end is not None else f"≥ {low}" if end is None else f"{low} – {end:.4g}"
        )
        shares_of_bins.append((label, one / len(x), other / len(y)))
        begin = end
    return tuple(shares_of_bins)
