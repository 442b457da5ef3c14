"""A table of counts that hides small cells so that they do not follow from its totals: cell suppression.

Cells of 1 to `least` - 1 people are hidden (primary suppression), and further ones so that no hidden cell follows from
the totals (complementary suppression). What a reader can work out of each hidden cell is computed exactly, as the
smallest and the largest count that agree with all published ones: a linear program per cell. Counts of nobody are
published, so a reader knows that no hidden cell is empty. A hidden small cell is protected if its largest possible
count is at least `least`. Complementary cells are found one small cell at a time, by the linear program of the cheapest
change of the table that raises it (Kelly, Golden, Assad 1992, "Cell suppression: disclosure protection for sensitive
tabular data", Networks 22; Fischetti and Salazar-González 2000, "Models and algorithms for optimizing cell suppression
in tabular data with linear constraints", JASA 95), and those that turn out not to be needed are published again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, product
from typing import TYPE_CHECKING, Any

import numpy as np

from kanopy._arrays import Floats, Longs, Mask
from kanopy._errors import DataError, JobError, MissingDependency
from kanopy._mixins import ReprMixin
from kanopy._progress import SILENT, Progress
from kanopy.attacks.cells import LEAST, MOST_COLUMNS, coded_by

if TYPE_CHECKING:
    import polars as pl

TOTAL = "total"
MOST_CELLS = 20_000
MOST_TRIES = 400
"""Complementary cells that are tried to be published again."""


@dataclass(frozen=True, eq=False)
class ProtectedTable(ReprMixin):
    """A table of counts with totals. `labels[c]` are those of cell c, `TOTAL` where the column is added up; `hidden`
    marks cells that are not published, `primary` those that are small. `low` and `high` are what a reader can work
    out of each cell."""

    by: tuple[str, ...]
    least: int
    labels: tuple[tuple[str, ...], ...]
    counts: Longs
    primary: Mask
    hidden: Mask
    low: Floats
    high: Floats

    @property
    def complementary(self) -> int:
        """How many cells are hidden though they are not small."""
        return int((self.hidden & ~self.primary).sum())

    @property
    def holds(self) -> bool:
        """Whether every hidden small cell is protected."""
        return bool((self.high[self.primary] >= self.least - 1e-6).all())

    def to_dict(self) -> dict[str, Any]:
        """Plain data, without labels and without hidden counts."""
        wide = (self.high - self.low)[self.hidden]
        return {
            "by": list(self.by), "least": self.least, "cells": len(self.counts),
            "small_cells": int(self.primary.sum()), "complementary_cells": self.complementary, "holds": self.holds,
            "narrowest_interval": None if not len(wide) else float(wide.min()),
        }  # fmt: skip

    def to_frame(self) -> pl.DataFrame:
        """What is published: a row per cell, hidden counts empty."""
        import polars as pl

        columns = {name: [label[index] for label in self.labels] for index, name in enumerate(self.by)}
        published_counts = [
            None if is_hidden else int(count) for count, is_hidden in zip(self.counts, self.hidden, strict=True)
        ]
        return pl.DataFrame({**columns, "count": pl.Series(published_counts, dtype=pl.Int64)})


def protect_table(
    release: pl.DataFrame,
    by: Sequence[str],
    *,
    least: int = LEAST,
    unit: Sequence[str] = (),
    progress: Progress = SILENT,
) -> ProtectedTable:
    """The table of counts by up to three columns with all totals, its small cells and as few others as found hidden.

    >>> import polars as pl
    >>> people = pl.DataFrame({"town": ["a"] * 40 + ["b"] * 45, "ill": list("x" * 35 + "y" * 5 + "x" * 20 + "y" * 25)})
    >>> found = protect_table(people, ["town", "ill"])
    >>> int(found.primary.sum()), found.complementary, found.holds
    (1, 3, True)
    """
    if not 1 <= len(by) <= MOST_COLUMNS:
        raise JobError(f"A table of counts has 1 to {MOST_COLUMNS} columns (--by), not {len(by)}.")
    names, codes, sizes, units = coded_by(release, by, least, unit)
    if len(np.unique(units)) < len(units):
        raise JobError("Counts of people with several rows do not add up to totals. Leave the unit out to count rows.")
    from kanopy._table.column import column_values

    texts = [
        ["(missing)" if t is None else str(t) for t in column_values(release[name]).sorted_as_text()[0]]
        for name in names
    ]
    full = int(np.prod([size + 1 for size in sizes]))
    if full > MOST_CELLS:
        raise DataError(
            f"The table would have {full:,} cells with its totals; up to {MOST_CELLS:,} are protected. Name fewer or "
            "coarser columns (--by)."
        )
    cube = np.zeros(sizes, np.int64)
    np.add.at(cube, tuple(codes), 1)
    labels, counts, place_of = _cells(cube, texts)
    equations = _equations(cube.shape, place_of)
    primary = (counts > 0) & (counts < least)
    hidden = primary.copy()
    solver = _Solver(equations, counts)
    for cell in np.flatnonzero(primary)[np.argsort(-counts[primary], kind="stable")].tolist():
        progress("hiding cells", 0.0)
        if solver.highest(cell, hidden) < least - 1e-6:
            hidden |= solver.cheapest(cell, least - int(counts[cell]), hidden)
    _publish_again(solver, primary, hidden, least, progress)
    low, high = counts.astype(np.float64), counts.astype(np.float64)
    for cell in np.flatnonzero(hidden).tolist():
        low[cell], high[cell] = solver.lowest(cell, hidden), solver.highest(cell, hidden)
    return ProtectedTable(tuple(names), least, tuple(labels), counts, primary, hidden, low, high)


Place = tuple[int, ...]


def _cells(cube: Longs, texts: Sequence[Sequence[str]]) -> tuple[list[tuple[str, ...]], Longs, dict[Place, int]]:
    """All cells with their totals (-1 where a column is added up)."""
    labels: list[tuple[str, ...]] = []
    counts: list[int] = []
    place_of: dict[Place, int] = {}
    for coordinates in product(*([*range(size), -1] for size in cube.shape)):
        index = tuple(slice(None) if coordinate < 0 else coordinate for coordinate in coordinates)
        place_of[coordinates] = len(labels)
        labels.append(
            tuple(TOTAL if coordinate < 0 else texts[axis][coordinate] for axis, coordinate in enumerate(coordinates))
        )
        counts.append(int(cube[index].sum()))
    return labels, np.array(counts, np.int64), place_of


def _equations(shape: Sequence[int], place_of: dict[Place, int]) -> list[tuple[int, list[int]]]:
    """Every total along one column with its parts."""
    equations = []
    for coordinates, cell in place_of.items():
        for axis in range(len(shape)):
            if coordinates[axis] < 0:
                parts = [
                    place_of[(*coordinates[:axis], index, *coordinates[axis + 1 :])] for index in range(shape[axis])
                ]
                equations.append((cell, parts))
    return equations


class _Solver:
    """What a reader can work out, as linear programs over the hidden cells."""

    def __init__(self, equations: Sequence[tuple[int, list[int]]], counts: Longs) -> None:
        try:
            from scipy import optimize, sparse
        except ImportError:
            raise MissingDependency(
                "Hiding cells of a table of counts needs scipy: install it, or the extra kanopy[cells]."
            ) from None
        self._optimize, self._counts = optimize, counts
        rows, columns, signs = [], [], []
        for number, (total, parts) in enumerate(equations):
            rows += [number] * (len(parts) + 1)
            columns += [total, *parts]
            signs += [1.0, *([-1.0] * len(parts))]
        self._matrix = sparse.csr_matrix((signs, (rows, columns)), (len(equations), len(counts)))

    def _bound(self, cell: int, hidden: Mask, sign: float) -> float:
        free = np.flatnonzero(hidden)
        if not hidden[cell]:
            return float(self._counts[cell])
        public_counts = np.where(hidden, 0, self._counts)
        matrix = self._matrix[:, free]
        used = np.flatnonzero(np.diff(matrix.indptr))
        goal = np.zeros(len(free))
        goal[np.searchsorted(free, cell)] = sign
        right = -(self._matrix[used] @ public_counts)
        solved = self._optimize.linprog(goal, A_eq=matrix[used], b_eq=right, bounds=(1, None), method="highs")
        if solved.status == 3:
            return np.inf
        if solved.status:
            raise DataError(f"The bounds of a hidden cell could not be computed: {solved.message}")
        return float(sign * solved.fun)

    def highest(self, cell: int, hidden: Mask) -> float:
        """The largest count that agrees with all published ones."""
        return self._bound(cell, hidden, -1.0)

    def lowest(self, cell: int, hidden: Mask) -> float:
        """The smallest count that agrees with all published ones."""
        return self._bound(cell, hidden, 1.0)

    def cheapest(self, cell: int, more: int, hidden: Mask) -> Mask:
        """The cells that change in the cheapest change of the table that raises a cell by so many people.

        Counts of nobody stay: they are published, and no hidden count becomes one of nobody.
        """
        count = len(self._counts)
        price = np.where(hidden, 0.0, 1.0 + np.log1p(self._counts) / 100.0)
        room = np.where(self._counts > 0, np.inf, 0.0)
        up, down = room.copy(), np.minimum(room, np.maximum(self._counts - 1, 0))
        fixed = np.zeros(count)
        fixed[cell] = more
        up[cell] = down[cell] = 0.0
        from scipy import sparse

        bounds = np.column_stack([np.zeros(2 * count), np.concatenate([up, down])])
        solved = self._optimize.linprog(
            np.concatenate([price, price]), A_eq=sparse.hstack([self._matrix, -self._matrix]).tocsr(),
            b_eq=-(self._matrix @ fixed), bounds=bounds, method="highs",
        )  # fmt: skip
        if solved.status:
            # The table is too small for the cell to be larger: everything that counts somebody is hidden.
            return np.asarray(self._counts > 0)
        moved = solved.x[:count] + solved.x[count:] > 1e-7
        moved[cell] = True
        return np.asarray(moved)


def _publish_again(solver: _Solver, primary: Mask, hidden: Mask, least: int, progress: Progress) -> None:
    """Publish complementary cells that are not needed, the largest first."""
    order = np.flatnonzero(hidden & ~primary)
    order = order[np.argsort(-solver._counts[order], kind="stable")][:MOST_TRIES]
    small = np.flatnonzero(primary).tolist()
    for index, cell in enumerate(order.tolist()):
        progress("publishing cells again", index / len(order))
        hidden[cell] = False
        if any(solver.highest(cell_number, hidden) < least - 1e-6 for cell_number in small):
            hidden[cell] = True


def fewest_hidden(table: ProtectedTable) -> int:
    """The least number of complementary cells that protects a small table: every choice is tried. A test's oracle."""
    by_name = {labels: index for index, labels in enumerate(table.labels)}
    shape = [len({labels[axis] for labels in table.labels}) - 1 for axis in range(len(table.by))]
    texts = [
        list(dict.fromkeys(labels[axis] for labels in table.labels if labels[axis] != TOTAL))
        for axis in range(len(shape))
    ]
    place_of = {
        coordinates: by_name[
            tuple(TOTAL if coordinate < 0 else texts[axis][coordinate] for axis, coordinate in enumerate(coordinates))
        ]
        for coordinates in product(*([*range(size), -1] for size in shape))
    }
    solver = _Solver(_equations(shape, place_of), table.counts)
    others = np.flatnonzero(~table.primary & (table.counts > 0)).tolist()
    small = np.flatnonzero(table.primary).tolist()
    for size in range(len(others) + 1):
        for chosen in combinations(others, size):
            hidden = table.primary.copy()
            hidden[list(chosen)] = True
            if all(solver.highest(cell_number, hidden) >= table.least - 1e-6 for cell_number in small):
                return size
    return len(others)
