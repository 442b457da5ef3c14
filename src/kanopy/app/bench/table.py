"""Opening a table: what each of its columns looks like, what it seems to be, and a first job for it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from kanopy._job.guess import guess_job
from kanopy._job.inputs import resolve_hierarchies
from kanopy._job.job import Job
from kanopy._job.reading import as_said
from kanopy._progress import Callback, Progress
from kanopy._table import datasets
from kanopy.app.bench.bench import Bench, job_of
from kanopy.hierarchy.files.json_format import hierarchy_json

if TYPE_CHECKING:
    import polars as pl

    from kanopy.hierarchy.column import Column

BARS = 14
"""Bars of the small histograms."""


def open_table(bench: Bench, tell: Callback, *, source: str, example: bool = False) -> dict[str, Any]:
    """Read a table, guess a job for it, and build its hierarchies: everything a project begins with.

    >>> found = open_table(Bench(), lambda step: True, source=str(datasets.path("adult.parquet")), example=True)
    >>> found["rows"], found["columns"][0]["role"], sorted(found["hierarchies"])[:2]
    (48842, 'quasi-identifier', ['age', 'education'])
    """
    progress = Progress(tell)
    progress("reading the table")
    read = bench.source(source)
    progress("guessing what its columns are")
    guessed = guess_job(read.frame, source)
    job = guessed.job
    if example:
        own = datasets.adult_hierarchies()
        job = job.replaced(hierarchies={**job.hierarchies, **{name: own[name] for name in job.quasi if name in own}})
    progress("building hierarchies")
    return {
        "rows": read.frame.height,
        "notes": list(read.notes),
        "job": guessed.job.to_dict(),
        "columns": guessed.columns,
        "decide": guessed.decide,
        "hierarchies": _built(read.frame, job) if job.quasi else {},
        "profiles": profiles(bench, tell, source=source, job=guessed.job.to_toml(), home="."),
    }


def build_columns(
    bench: Bench, tell: Callback, *, source: str, job: str, home: str, columns: Sequence[str]
) -> dict[str, str]:
    """Hierarchies of columns as their job asks for them, or the best that fits, as texts of JSON files."""
    Progress(tell)("building hierarchies")
    asked = job_of(job, home)
    found = _built(bench.frame(source), asked)
    return {name: found[name] for name in columns if name in found}


def _built(frame: pl.DataFrame, job: Job) -> dict[str, str]:
    from kanopy._table.frames import to_polars

    built = resolve_hierarchies(as_said(*to_polars(frame), job)[0], job)
    return {name: hierarchy_json(tree) + "\n" for name, tree in built.items()}


def profiles(bench: Bench, tell: Callback, *, source: str, job: str, home: str) -> list[dict[str, Any]]:
    """Per column its type, its values, a small histogram, and how many rows it singles out alone."""
    from kanopy._table.grouping import code_columns
    from kanopy.metrics.risk.identifying import identifying_columns

    progress = Progress(tell)
    frame, wanted = bench.frame(source), job_of(job, home)
    shown = []
    for number, name in enumerate(frame.columns):
        progress("looking at columns", number / frame.width)
        series = frame[name]
        facts: dict[str, Any] = {
            "column": name, "type": str(series.dtype), "missing": series.null_count(), "distinct": None, "bars": [],
            "unique": None, "low": "", "high": "",
        }  # fmt: skip
        if not series.dtype.is_nested() and not series.dtype.is_object():
            coded = code_columns(frame, [name])[0]
            alone = identifying_columns([name], [coded.codes], [coded.size], largest=1).subsets
            column = bench.column(source, name, wanted)
            facts |= {"distinct": column.size, "unique": alone[0].unique_share if alone else 1.0, **_bars(column)}
            facts["missing"] = max(facts["missing"], frame.height - wanted.skip_rows - column.rows)
        shown.append(facts)
    return shown


def _bars(column: Column) -> dict[str, Any]:
    """A small histogram: numbers and dates by value, texts by how frequent they are."""
    if not column.size:
        return {}
    labels, seen = column.labels(), column.inferred()
    if seen.numbers is not None and seen.size > BARS:
        counts, _ = np.histogram(np.asarray(seen.numbers, float), bins=BARS, weights=seen.counts)
        return {"bars": counts.astype(int).tolist(), "low": seen.labels()[0], "high": seen.labels()[-1]}
    order = np.argsort(-column.counts, kind="stable") if seen.numbers is None else np.arange(column.size)
    return {
        "bars": column.counts[order[:BARS]].tolist(),
        "low": str(labels[int(order[0])]),
        "high": str(labels[int(order[-1])]),
    }


def rows(
    bench: Bench, tell: Callback, *, source: str, first: int, number: int, columns: Sequence[str]
) -> dict[str, Any]:
    """Some rows as text, for a table that is paged."""
    frame = bench.frame(source)
    return {"rows": texts(frame, first, number, columns), "total": frame.height}


def texts(frame: pl.DataFrame, first: int, number: int, columns: Sequence[str]) -> list[list[str | None]]:
    """Cells as they are written; `None` where one is missing.

    >>> import polars as pl
    >>> texts(pl.DataFrame({"a": [1, None, 3]}), 1, 5, ["a"])
    [[None], ['3']]
    """
    part = frame[list(columns)].slice(first, number)
    return [[None if cell is None else str(cell)[:LONGEST_CELL] for cell in row] for row in part.iter_rows()]


LONGEST_CELL = 300
"""Characters of a cell that are shown."""
