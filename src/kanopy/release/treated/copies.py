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
    frame: pl.DataFrame, shown: Sequence[str], job: Any, needed: Collection[str] = ()
) -> tuple[list[str], tuple[str, ...]]:
    """Which of the columns `shown` would undo a treatment of the job, and what to say of them.

    >>> import polars as pl
    >>> from kanopy import Job
    >>> rows = pl.DataFrame({"pay": [31 * i % 97 for i in range(90)]}).with_columns(again=pl.col("pay"))
    >>> undoing_columns(rows, ["again"], Job(insensitive="again", protect={"pay": "noise"}))[0]
    ['again']
    """
    from kanopy._table.guessing.inference import find_dependences
    from kanopy.treatments.study import as_numbers

    changed = changed_columns(job)
    told = [name for name, each in changed.items() if not each.follows and name in frame.columns]
    shown = [name for name in shown if name not in changed and name in frame.columns]
    if not told or not shown:
        return [], ()
    reasons: dict[str, str] = {}
    for each in find_dependences(frame, shown, told):
        if each.how in UNDOING or each.relation is not None:
            reasons.setdefault(each.column, f"{each.how} {each.revealed!r} as it was before its treatment")
    hidden = {name: x for name in told if (x := as_numbers(frame[name])) is not None}
    for name in shown if hidden else ():
        numbers = None if name in reasons else as_numbers(frame[name])
        for other, x in hidden.items() if numbers is not None else ():
            if _same_order(numbers, x):
                reasons.setdefault(name, f"rises or falls with every value of {other!r} as it was before its treatment")
    shifted = [name for name in told if changed[name].by_person]
    for name in shown if shifted else ():
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


def _same_order(shown: Any, told: Any) -> bool:
    """Whether one column orders the rows as another, about as finely, in more values than chance explains."""
    known = np.flatnonzero(~np.isnan(shown) & ~np.isnan(told))
    order = known[np.argsort(shown[known], kind="stable")]
    if len(order) < FEWEST:
        return False
    begins = np.flatnonzero(np.diff(shown[order], prepend=np.nan) != 0)
    distinct = len(np.unique(told[order]))
    if distinct < FEWEST or len(begins) < distinct / 2:
        return False
    low, high = np.minimum.reduceat(told[order], begins), np.maximum.reduceat(told[order], begins)
    return bool((high[:-1] <= low[1:]).all() or (low[:-1] >= high[1:]).all())


def _holds_dates(series: pl.Series) -> bool:
    """Whether a column holds several dates."""
    import polars as pl

    if series.dtype == pl.String:
        known = series.replace("", None).drop_nulls()
        series = known.str.slice(0, 10).str.to_date("%Y-%m-%d", strict=False)
        if series.null_count():
            return False
    return isinstance(series.dtype, (pl.Date, pl.Datetime)) and series.drop_nulls().n_unique() > 1
