"""What each column of a table looks like: its type, its values, a small histogram, and how many rows it singles out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from kanopy._job.job import Job
from kanopy._job.reading_rules import read_records
from kanopy._mixins import DictMixin
from kanopy._progress import SILENT, Progress
from kanopy.hierarchy.hierarchy import Hierarchy
from kanopy.metrics.risk.identifying import identifying_columns

if TYPE_CHECKING:
    import polars as pl

    from kanopy.hierarchy.column import Column

BARS = 14
"""Bars of a small histogram."""


@dataclass(frozen=True)
class ColumnLook(DictMixin):
    """One column: `distinct` values, `missing` ones, `bars` from `low` to `high`, and the share of rows that it
    singles out alone. Columns of lists or objects have no values to look at (`None`)."""

    column: str
    type: str
    missing: int
    distinct: int | None = None
    unique: float | None = None
    bars: tuple[int, ...] = ()
    low: str = ""
    high: str = ""


def look_at_columns(frame: pl.DataFrame, job: Job, progress: Progress = SILENT) -> Iterator[ColumnLook]:
    """Every column of a table, read as a job says.

    >>> import polars as pl
    >>> looks = list(look_at_columns(pl.DataFrame({"age": [31, 31, None, 52]}), Job()))
    >>> looks[0].distinct, looks[0].missing, looks[0].bars, looks[0].unique
    (2, 1, (2, 1), 0.5)
    """
    from kanopy._table.grouping import code_columns

    for number, name in enumerate(frame.columns):
        progress("looking at columns", number / frame.width)
        series = frame[name]
        missing, kind = series.null_count(), str(series.dtype)
        if series.dtype.is_nested() or series.dtype.is_object():
            yield ColumnLook(name, kind, missing)
            continue
        coded = code_columns(frame, [name])[0]
        alone = identifying_columns([name], [coded.codes], [coded.size], largest=1).subsets
        column = column_under(frame, name, job)
        missing = max(missing, frame.height - job.skip_rows - column.rows)
        column = column.inferred() if column.size else column
        kind = column.kind if kind == "String" and column.size else kind  # as it is read, not as it is kept
        bars, low, high = small_histogram(column)
        yield ColumnLook(name, kind, missing, column.size, alone[0].unique_share if alone else 1.0, bars, low, high)


def column_under(frame: pl.DataFrame, name: str, job: Job) -> Column:
    """A column as hierarchies see it under a job: missing ones known, numbers read."""
    from kanopy._table.column import typed_column
    from kanopy.hierarchy.column import column_of

    read = read_records(frame[[name]], job, part=True)
    return typed_column(read[name], missing_tokens=job.missing_tokens) or column_of([], name=name)


def people_under(frame: pl.DataFrame, name: str, tree: Hierarchy, job: Job) -> dict[tuple[int, str], int]:
    """By level and label how many people a hierarchy of a column has there, where a job says whose the rows are.

    >>> import polars as pl
    >>> visits = pl.DataFrame({"who": ["a", "a", "b"], "town": ["Bonn", "Ulm", "Ulm"]})
    >>> tree = Hierarchy.flat(["Bonn", "Ulm"])
    >>> people_under(visits, "town", tree, Job(quasi=["town"], unit=["who"]))
    {(0, 'Bonn'): 1, (0, 'Ulm'): 2, (1, '*'): 2}
    """
    from kanopy._core.units import Units
    from kanopy._table.grouping import units_of
    from kanopy.engine.local import LocalEngine

    names = list(dict.fromkeys([name, *job.unit]))
    read = read_records(frame[names], job, part=True)
    units = Units(units_of(read, job.unit, job.missing_tokens)[0], 1, "people")
    domain = LocalEngine().count(read, {name: tree}, missing_tokens=job.missing_tokens, unknown="suppress").domain
    encoded, is_known = domain.hierarchies[0], domain.tuple_of_row >= 0
    leaves = domain.tuples[np.where(is_known, domain.tuple_of_row, 0), 0]
    people: dict[tuple[int, str], int] = {}
    for level in range(encoded.height + 1):
        nodes = np.where(is_known, encoded.table[level][leaves], -1)
        counts = units.people(nodes, encoded.node_count)
        people |= {(level, encoded.label(int(node))): int(counts[node]) for node in encoded.nodes_at(level)}
    return people


def small_histogram(column: Column, bars: int = BARS) -> tuple[tuple[int, ...], str, str]:
    """Rows per bar, and the values at both ends: numbers and dates by value, texts by how frequent they are.

    >>> from kanopy.hierarchy.column import column_of
    >>> small_histogram(column_of(["b", "a", "b"], name="letter"))
    ((2, 1), 'b', 'a')
    """
    if not column.size:
        return (), "", ""
    labels, seen = column.labels(), column.inferred()
    if seen.numbers is not None and seen.size > bars:
        counts, _ = np.histogram(np.asarray(seen.numbers, float), bins=bars, weights=seen.counts)
        return tuple(counts.astype(int).tolist()), str(seen.labels()[0]), str(seen.labels()[-1])
    order = np.argsort(-column.counts, kind="stable") if seen.numbers is None else np.arange(column.size)
    return tuple(column.counts[order[:bars]].tolist()), str(labels[int(order[0])]), str(labels[int(order[-1])])
