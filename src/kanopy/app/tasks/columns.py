"""Columns before and after a release: values and numbers of one column, and the counts of two together."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kanopy._progress import Callback
from kanopy.app.tasks.worker_state import WorkerState, job_of

if TYPE_CHECKING:
    import polars as pl

MOST_BARS = 24
MOST_SIDE = 12
BINS = 16
OTHERS = "all others"
MISSING = "missing"
QUARTILES = (("lower quartile", 0.25), ("median", 0.5), ("upper quartile", 0.75))


def column_view(
    state: WorkerState, notify: Callback, *, source: str, job: str, project_folder: str, folder: str, column: str
) -> dict[str, Any]:
    """How often each value of a column occurs, and its statistics, in the original and in the release of a folder.

    >>> import tempfile
    >>> place = Path(tempfile.mkdtemp()) / "t.csv"
    >>> _ = place.write_text("age,sex\\n31,f\\n32,f\\n33,m\\n")
    >>> found = column_view(WorkerState(), lambda step: True, source=str(place), job="", project_folder=".", folder="",
    ...     column="sex")
    >>> found["before"]["bars"], found["after"]
    ([['f', 2], ['m', 1]], None)
    """
    before, after = _both(state, source, job, project_folder, folder, [column])
    there = after is not None and column in after.columns
    return {
        "before": _facts(before[column]),
        "after": _facts(after[column]) if there and after is not None else None,
        "released": after is not None,
    }


def cross_view(
    state: WorkerState, notify: Callback, *, source: str, job: str, project_folder: str, folder: str,
    columns: Sequence[str],
) -> dict[str, Any]:  # fmt: skip
    """The counts of two columns together, in the original and in the release; numbers are counted in ranges."""
    one, other = columns
    before, after = _both(state, source, job, project_folder, folder, columns)
    there = after is not None and one in after.columns and other in after.columns
    return {
        "before": _counts(before[one], before[other]),
        "after": _counts(after[one], after[other]) if there and after is not None else None,
    }


def _both(
    state: WorkerState, source: str, job: str, project_folder: str, folder: str, columns: Sequence[str]
) -> tuple[pl.DataFrame, pl.DataFrame | None]:
    import polars as pl

    released = Path(folder) / "row_pairs.arrow"
    from kanopy.app.tasks.prepare import numbers_in

    before = state.frame(source, job_of(job, project_folder))
    for name in columns:  # files of text give texts
        if (numbers := numbers_in(before[name])) is not None:
            before = before.with_columns(numbers.alias(name))
    return before, pl.read_ipc(released) if folder and released.exists() else None


def _facts(column: pl.Series) -> dict[str, Any]:
    statistics: list[list[str]] = [
        ["values", f"{column.len() - column.null_count():,}"], ["missing", f"{column.null_count():,}"],
        ["different", f"{column.n_unique() - (column.null_count() > 0):,}"],
    ]  # fmt: skip
    if column.dtype.is_numeric():
        numbers = column.cast(float).drop_nans().drop_nulls()
        if len(numbers):
            statistics += [["mean", _text(numbers.mean())], ["standard deviation", _text(numbers.std())],
                           ["smallest", _text(numbers.min())]]  # fmt: skip
            statistics += [[name, _text(numbers.quantile(at))] for name, at in QUARTILES]
            statistics.append(["largest", _text(numbers.max())])
    return {"bars": [[label, rows] for label, rows in _bars(column)], "statistics": statistics}


def _bars(column: pl.Series) -> list[tuple[str, int]]:
    labels = _labels(column, MOST_BARS)
    counts = labels.value_counts(sort=True)
    found = list(zip(counts[labels.name].to_list(), counts["count"].to_list(), strict=True))
    if column.dtype.is_numeric():
        found.sort(key=lambda each: (each[0] in (MISSING, OTHERS), _low(each[0])))
    head = found[:MOST_BARS]
    rest = sum(rows for _, rows in found[MOST_BARS:])
    return [*head, *([(OTHERS, rest)] if rest else [])]


def _labels(column: pl.Series, most: int) -> pl.Series:
    """Each value as text; numbers with many different values in ranges of equal width."""
    import numpy as np
    import polars as pl

    if column.dtype.is_numeric() and column.n_unique() > most:
        values = column.cast(float).to_numpy()
        known = values[np.isfinite(values)]
        edges = np.linspace(known.min(), known.max(), BINS + 1) if len(known) else np.array([0.0, 1.0])
        place = np.clip(np.searchsorted(edges, values, side="right") - 1, 0, len(edges) - 2)
        names = [f"{_text(low)} to {_text(high)}" for low, high in pairwise(edges)]
        texts = [MISSING if not np.isfinite(value) else names[at] for value, at in zip(values, place, strict=True)]
        return pl.Series(column.name, texts, pl.String)
    return column.cast(pl.String, strict=False).fill_null(MISSING)


def _counts(one: pl.Series, other: pl.Series) -> dict[str, Any]:
    import polars as pl

    table = pl.DataFrame({"one": _limited(one), "other": _limited(other)})
    counts = table.group_by("one", "other").len()
    found = {(row[0], row[1]): row[2] for row in counts.iter_rows()}
    rows, heads = _ordered(table["one"]), _ordered(table["other"])
    return {"rows": rows, "heads": heads, "counts": [[found.get((row, head), 0) for head in heads] for row in rows]}


def _limited(column: pl.Series) -> pl.Series:
    import polars as pl

    labels = _labels(column, MOST_SIDE)
    common = labels.value_counts(sort=True).head(MOST_SIDE)[labels.name].to_list()
    return labels.to_frame("x").select(
        pl.when(pl.col("x").is_in(common)).then(pl.col("x")).otherwise(pl.lit(OTHERS)).alias("x")
    )["x"]


def _ordered(labels: pl.Series) -> list[str]:
    return sorted(labels.unique().to_list(), key=lambda each: (each in (MISSING, OTHERS), _low(each), each))


def _low(label: str) -> float:
    try:
        return float(label.partition(" to ")[0])
    except ValueError:
        return 0.0


def _text(value: Any) -> str:
    return "–" if value is None else f"{float(value):.6g}"
