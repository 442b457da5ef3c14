"""Small cells: counts of fewer than `least` people that a reader can make from a release, or by subtraction.

A reader counts rows by any columns and subtracts counts from each other. Authorities such as the US Centers for
Medicare & Medicaid Services publish no count of 1 to 10, and none that follows from totals that are published.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from kanopy._arrays import Ints, Longs
from kanopy._errors import DataError, JobError, near_miss, some
from kanopy._mixins import DictMixin, ReprMixin
from kanopy._progress import SILENT, Progress

if TYPE_CHECKING:
    import polars as pl

LEAST = 11
MOST_COLUMNS = 3
"""Crosses of up to so many columns are counted."""
MOST_BY = 30


@dataclass(frozen=True)
class Cross(DictMixin):
    """One cross of columns: its cells that somebody is in, those below the limit, and small differences.

    A difference is a published count less one of its parts: people with these labels but for one column, where they
    have another one. Only differences that are no cell of their own are counted.
    """

    columns: tuple[str, ...]
    cells: int
    small: int
    people_in_small: int
    differences: int


@dataclass(frozen=True, eq=False)
class CellReport(ReprMixin):
    """The small counts of a release over all crosses of up to three columns."""

    rows: int
    people: int
    counted: str
    by: tuple[str, ...]
    least: int
    crosses: tuple[Cross, ...]
    table: Any = None
    """The protected table of counts (`attacks.cell_suppression`), where one was asked for."""

    @property
    def cells(self) -> int:
        """All cells that somebody is in."""
        return sum(cross.cells for cross in self.crosses)

    @property
    def small(self) -> int:
        """Cells of fewer people than the limit."""
        return sum(cross.small for cross in self.crosses)

    @property
    def differences(self) -> int:
        """Differences of fewer people than the limit that are no cell of their own."""
        return sum(cross.differences for cross in self.crosses)

    @property
    def holds(self) -> bool:
        """Whether no small count can be made."""
        return not self.small and not self.differences

    def to_dict(self) -> dict[str, Any]:
        """Plain data, without any label."""
        return {
            "rows": self.rows, "people": self.people, "counted": self.counted, "by": list(self.by),
            "least": self.least, "cells": self.cells, "small_cells": self.small, "differences": self.differences,
            "holds": self.holds, "crosses": [cross.to_dict() for cross in self.crosses],
            "table": None if self.table is None else self.table.to_dict(),
        }  # fmt: skip

    def to_document(self, source: str = "a release") -> Any:
        """The report as a document."""
        from kanopy.report.documents.cells import cells_document

        return cells_document(self.to_dict(), source)


def small_cells(
    release: pl.DataFrame,
    by: Sequence[str] = (),
    *,
    least: int = LEAST,
    unit: Sequence[str] = (),
    progress: Progress = SILENT,
) -> CellReport:
    """Count every cross of up to three of the columns `by` (all but the unit, if none are named).

    >>> import polars as pl
    >>> rows = pl.DataFrame({"town": ["a"] * 12 + ["b"] * 3, "sex": ["f", "m"] * 7 + ["f"]})
    >>> found = small_cells(rows, ["town", "sex"])
    >>> found.cells, found.small, [each.small for each in found.crosses]
    (8, 7, [1, 2, 4])
    """
    names, codes, sizes, units = coded_by(release, by, least, unit)
    people = int(units.max(initial=-1)) + 1
    crosses_counted, counts = [], dict[tuple[int, ...], tuple[Longs, Longs]]()
    crosses = [
        columns_of_cross
        for size in range(1, MOST_COLUMNS + 1)
        for columns_of_cross in combinations(range(len(names)), size)
    ]
    for index, cross in enumerate(crosses):
        progress("counting cells", index / len(crosses))
        number, many = _numbered([codes[column] for column in cross], [sizes[column] for column in cross])
        of_cell = _people(number, many, units)
        counts[cross] = number, of_cell
        small = (of_cell > 0) & (of_cell < least)
        differences = sum(
            _differences(number, of_cell, *_parent(counts, cross, index, len(number), people), least)
            for index in range(len(cross))
        )
        crosses_counted.append(
            Cross(
                tuple(names[column] for column in cross),
                len(of_cell),
                int(small.sum()),
                int(of_cell[small].sum()),
                differences,
            )
        )
    from kanopy._table.roles import called

    counted = called(tuple(unit)) if unit else "rows"
    return CellReport(release.height, people, counted, tuple(names), least, tuple(crosses_counted))


def coded_by(
    release: pl.DataFrame, by: Sequence[str], least: int, unit: Sequence[str]
) -> tuple[list[str], list[Ints], list[int], Longs]:
    """The columns as codes and the unit of every row, or what is wrong with what was asked."""
    from kanopy._table.column import column_values
    from kanopy._table.grouping import units_of

    if least < 2:
        raise JobError(f"A cell is small below a limit of at least 2, not {least}.")
    if not release.height:
        raise DataError("The release has no rows. Give one that has.")
    if absent := [name for name in (*by, *unit) if name not in release.columns]:
        raise DataError(f"The release has no column {some(absent)}. {near_miss(absent[0], release.columns)}")
    names = list(dict.fromkeys(by or [name for name in release.columns if name not in unit]))
    if len(names) > MOST_BY:
        raise JobError(
            f"{len(names):,} columns have {len(names) ** 3 // 6:,} combinations of three. Name up to {MOST_BY} (--by)."
        )
    codes, sizes = [], []
    for name in names:
        labels, of_row = column_values(release[name]).sorted_as_text()
        codes.append(of_row)
        sizes.append(len(labels))
    units = units_of(release, unit)[0] if unit else np.arange(release.height)
    return names, codes, sizes, np.asarray(units, np.int64)


def _numbered(codes: Sequence[Ints], sizes: Sequence[int]) -> tuple[Longs, int]:
    """The cell of every row, and how many cells there are."""
    from kanopy._core.numbering import number_rows

    number, first, _ = number_rows(list(codes), list(sizes), ascending=True)
    return np.asarray(number, np.int64), len(first)


def _people(number: Longs, count: int, units: Longs) -> Longs:
    """How many people each cell has."""
    if len(units) == int(units.max(initial=-1)) + 1:
        return np.bincount(number, minlength=count)
    pairs = np.unique(number * (int(units.max()) + 1) + units)
    return np.bincount(pairs // (int(units.max()) + 1), minlength=count)


def _parent(
    counts: dict[tuple[int, ...], tuple[Longs, Longs]], cross: tuple[int, ...], without: int, rows: int, people: int
) -> tuple[Longs, Longs]:
    """The cells of a cross without one of its columns."""
    rest = cross[:without] + cross[without + 1 :]
    return counts[rest] if rest else (np.zeros(rows, np.int64), np.array([people]))


def _differences(number: Longs, of_cell: Longs, above: Longs, of_parent: Longs, least: int) -> int:
    """How many cells leave a small rest of their parent that is made of several cells."""
    first = np.zeros(len(of_cell), np.int64)
    first[number] = np.arange(len(number))
    parent = above[first]
    parts = np.bincount(parent, minlength=len(of_parent))
    rest = of_parent[parent] - of_cell
    return int(((rest > 0) & (rest < least) & (of_cell >= least) & (parts[parent] > 2)).sum())
