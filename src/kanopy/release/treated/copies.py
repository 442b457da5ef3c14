"""Columns that would be published as they are and undo a treatment: copies of a treated column, sums with it, dates
beside shifted ones."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from kanopy._job.protection import changed_columns

if TYPE_CHECKING:
    import polars as pl

UNDOING = ("determines", "is a copy of", "is a part of")
FEWEST = 12
"""Different values whose order is no accident."""
ALLOW = "name it in allow_dependent (allow-dependent, --allow-dependent)"


def undoing_columns(
    frame: pl.DataFrame, published_columns: Sequence[str], job: Any, needed: Collection[str] = ()
) -> tuple[list[str], tuple[str, ...]]:
    """Which of the columns `published_columns` would undo a treatment of the job, and what to say of them.

    >>> import polars as pl
    >>> from kanopy import Job
    >>> rows = pl.DataFrame({"pay": [31 * i % 97 for i in range(90)]}).with_columns(again=pl.col("pay"))
    >>> undoing_columns(rows, ["again"], Job(insensitive="again", protect={"pay": "noise"}))[0]
    ['again']
    """
    from kanopy._table.guessing.inference import find_dependences
    from kanopy.treatments.study import as_numbers

    changed = changed_columns(job)
    treated_columns = [name for name, treatment in changed.items() if not treatment.follows and name in frame.columns]
    published_columns = [name for name in published_columns if name not in changed and name in frame.columns]
    if not treated_columns or not published_columns:
        return [], ()
    reasons: dict[str, str] = {}
    for dependence in find_dependences(frame, published_columns, treated_columns):
        if dependence.how in UNDOING or dependence.relation is not None:
            reasons.setdefault(
                dependence.column, f"{dependence.how} {dependence.revealed!r} as it was before its treatment"
            )
    hidden = {name: x for name in treated_columns if (x := as_numbers(frame[name])) is not None}
    for name in published_columns if hidden else ():
        numbers = None if name in reasons else as_numbers(frame[name])
        for other, x in hidden.items() if numbers is not None else ():
            if _same_order(numbers, x):
                reasons.setdefault(name, f"rises or falls with every value of {other!r} as it was before its treatment")
    shifted = [name for name in treated_columns if changed[name].by_person]
    for name in published_columns if shifted else ():
        if _holds_dates(frame[name]):
            reasons.setdefault(name, f"holds dates that are not shifted, beside those of {shifted[0]!r}")
    held, notes = list[str](), list[str]()
    for name, why in reasons.items():
        if name in job.allow_dependent:
            notes.append(f"{name!r} is published, as the job allows, although it {why}.")
        elif name in needed:
            notes.append(
                f"{name!r} is published because the job needs it, although it {why}. Leave out one of the two."
            )
        else:
            held.append(name)
            notes.append(f"The column {name!r} was left out: it {why}. Treat it too, or {ALLOW}.")
    return held, tuple(notes)


def _same_order(shown_numbers: Any, hidden_numbers: Any) -> bool:
    """Whether one column orders the rows as another, about as finely, in more values than chance explains."""
    is_comparable = np.flatnonzero(~np.isnan(shown_numbers) & ~np.isnan(hidden_numbers))
    order = is_comparable[np.argsort(shown_numbers[is_comparable], kind="stable")]
    if len(order) < FEWEST:
        return False
    begins = np.flatnonzero(np.diff(shown_numbers[order], prepend=np.nan) != 0)
    distinct = len(np.unique(hidden_numbers[order]))
    if distinct < FEWEST or len(begins) < distinct / 2:
        return False
    low, high = np.minimum.reduceat(hidden_numbers[order], begins), np.maximum.reduceat(hidden_numbers[order], begins)
    return bool((high[:-1] <= low[1:]).all() or (low[:-1] >= high[1:]).all())


def _holds_dates(series: pl.Series) -> bool:
    """Whether a column holds several dates."""
    import polars as pl

    if series.dtype == pl.String:
        dates = series.replace("", None).drop_nulls()
        series = dates.str.slice(0, 10).str.to_date("%Y-%m-%d", strict=False)
        if series.null_count():
            return False
    return isinstance(series.dtype, (pl.Date, pl.Datetime)) and series.drop_nulls().n_unique() > 1
