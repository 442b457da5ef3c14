"""Special uniques: rows that few columns are enough to single out (SUDA2, and its calibration DIS-SUDA)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import factorial, prod
from typing import Any

import numpy as np
import numpy.typing as npt

from kanopy._arrays import Floats, Ints, Longs
from kanopy._core.numbering import SMALL_ALONE, number_rows
from kanopy._errors import JobError
from kanopy._mixins import DictMixin, ReprMixin

MOST_COLUMNS, LARGEST_SCORE = 60, 1 << 40
FEW = 2_000
"""Up to so many sets of columns times rows in thousands, the plain search is quicker than loading compiled code."""

Codes = npt.NDArray[np.integer[Any]]


@dataclass(frozen=True, eq=False)
class SpecialUniques(DictMixin, ReprMixin):
    """The minimal sample uniques of a table: sets of columns (bits of `columns_of_set`) and the row each singles out.

    `scores` and `dis` are per row; `shares[column]` is the share of all scores that comes from sets with that column.
    """

    names: tuple[str, ...]
    largest: int
    rows: int
    row_of_set: Longs = field(repr=False)
    columns_of_set: Longs = field(repr=False)
    size_of_set: Longs = field(repr=False)
    points: Longs = field(repr=False)
    scores: Longs = field(repr=False)
    fraction: float | None = None
    dis: Floats | None = field(default=None, repr=False)

    def holding(self, column: int) -> npt.NDArray[np.bool_]:
        """Which sets hold a column."""
        return np.asarray((self.columns_of_set >> column) & 1 == 1)

    def of_rows(self, column: int) -> Longs:
        """Per row the part of its score that comes from sets with a column.

        >>> found = special_uniques(["a", "b"], [np.array([0, 0, 1]), np.array([0, 1, 1])])
        >>> found.scores.tolist(), found.of_rows(0).tolist(), found.of_rows(1).tolist()
        ([1, 0, 1], [0, 0, 1], [1, 0, 0])
        """
        chosen_sets = self.holding(column)
        return _added_up(self.row_of_set[chosen_sets], self.points[chosen_sets], self.rows)

    def most_special(self, number: int) -> list[int]:
        """The rows that stand out most, those with the highest score first; rows without any are never among them."""
        order = np.argsort(-self.scores, kind="stable")[:number]
        return [int(row) for row in order[self.scores[order] > 0]]

    def sets_of(self, row: int) -> list[tuple[str, ...]]:
        """The sets of columns that single a row out, the smallest first.

        >>> found = special_uniques(["a", "b"], [np.array([0, 0, 1]), np.array([0, 1, 1])])
        >>> found.most_special(5), found.sets_of(0)
        ([0, 2], [('b',)])
        """
        sets_of_row = np.flatnonzero(self.row_of_set == row)
        sets_of_row = sets_of_row[np.argsort(self.size_of_set[sets_of_row], kind="stable")]
        return [
            tuple(name for j, name in enumerate(self.names) if bits >> j & 1)
            for bits in self.columns_of_set[sets_of_row].tolist()
        ]

    @property
    def shares(self) -> tuple[float, ...]:
        """Per column, the share of all scores that comes from sets with it."""
        total = int(self.points.sum()) or 1
        return tuple(int(self.points[self.holding(j)].sum()) / total for j in range(len(self.names)))

    def of_values(self, column: int, codes: Codes, size: int) -> Floats:
        """Per value of a column, the share of all scores that comes from sets with that value."""
        chosen_sets = self.holding(column)
        points = np.bincount(codes[self.row_of_set[chosen_sets]], self.points[chosen_sets], size)
        return np.asarray(points / (int(self.points.sum()) or 1), np.float64)

    def to_dict(self) -> dict[str, Any]:
        """Plain data without values: how many rows have a score, sets by size, and the share of each column."""
        sizes = np.bincount(self.size_of_set, minlength=self.largest + 1)
        return {
            "largest": self.largest,
            "rows": int((self.scores > 0).sum()),
            "share": float((self.scores > 0).mean()) if self.rows else 0.0,
            "highest_score": int(self.scores.max(initial=0)),
            "total_score": int(self.scores.sum()),
            "sets": [{"size": size, "sets": int(sizes[size])} for size in range(1, self.largest + 1)],
            "columns": [{"column": name, "share": share} for name, share in zip(self.names, self.shares, strict=True)],
            "sampling_fraction": self.fraction,
            "highest_dis": None if self.dis is None else float(self.dis.max(initial=0.0)),
        }


def special_uniques(
    names: Sequence[str], columns: Sequence[Codes], largest: int = 3, *, sampling_fraction: float | None = None
) -> SpecialUniques:
    """The minimal sample uniques of at most `largest` columns and the SUDA score of every row.

    A minimal sample unique is a smallest set of columns whose values no other row shares. With n columns one of size s
    scores (n-s)·(n-s-1)·…·(n-M), M being `largest` but at most n-1; a row's score is the sum. Codes of -1 are missing
    values, which are part of no set. With a sampling fraction the scores are calibrated too (`dis_suda`). Elliot,
    Manning and Ford (2002); Manning, Haglin and Keane (2008).

    >>> found = special_uniques(["sex", "job"], [np.array([0, 0, 0, 1]), np.array([0, 0, 1, 1])])
    >>> found.scores.tolist(), found.shares
    ([0, 0, 0, 1], (1.0, 0.0))
    """
    width = len(columns)
    if width < 2 or width > MOST_COLUMNS:
        raise JobError(f"Special uniques need 2 to {MOST_COLUMNS} columns, not {width}.")
    if largest < 1:
        raise JobError(f"Special uniques are sets of at least 1 column, not {largest}.")
    largest = min(largest, width - 1)
    of_size = [0, *(prod(width - i for i in range(s, largest + 1)) for s in range(1, largest + 1))]
    if of_size[1] > LARGEST_SCORE:
        raise JobError(
            f"Scores of sets of up to {largest} of {width} columns are too large to count. Use smaller sets."
        )
    filled = [codes + 1 for codes in columns]
    number, first, counts = number_rows(filled, small=SMALL_ALONE)
    codes = np.ascontiguousarray(np.array([column[first] for column in columns], np.int32))
    tuples, sets = _search(codes, counts, largest)
    sizes = np.bitwise_count(sets).astype(np.int64)
    points, rows = np.array(of_size, np.int64)[sizes], first[tuples]
    scores = _added_up(rows, points, len(number))
    dis = None
    if sampling_fraction is not None:
        points_of_size = [0.0] + [(2 ** (width - s) - 1) * factorial(s) * factorial(width - s) / factorial(width)
                         for s in range(1, largest + 1)]  # fmt: skip
        chance = np.asarray(np.bincount(rows, np.array(points_of_size)[sizes], len(number)), np.float64)
        dis = dis_suda(chance, width, int((counts == 2).sum()), sampling_fraction)
    return SpecialUniques(
        tuple(names), largest, len(number), rows, sets, sizes, points, scores, sampling_fraction, dis
    )  # fmt: skip


def _added_up(rows: Longs, points: Longs, count: int) -> Longs:
    """Points per row, in whole numbers throughout."""
    sums = np.zeros(count, np.int64)
    np.add.at(sums, rows, points)
    return sums


def _search(codes: Ints, counts: Longs, largest: int) -> tuple[Longs, Longs]:
    """The rows and sets that the search finds; its room grows until all fit."""
    from kanopy._compiler import for_size
    from kanopy.metrics.risk.suda_kernel import Found, Tree, minimal_uniques

    rows, depth = len(counts), largest + 1
    widest = int(codes.max(initial=0)) + 1
    tally, single, position = (np.zeros(widest, np.int64) for _ in range(3))
    nodes = np.zeros((depth, max(rows, 1)), np.int32)
    tree = Tree(nodes, nodes.copy(), np.zeros(depth, np.int64), np.zeros(depth, np.int64), tally, single, position)
    room = 8 * rows + 1_000
    search = for_size(minimal_uniques, rows * len(codes) ** largest // 1_000, FEW)
    while True:
        uniques = Found(
            np.zeros(room, np.int32), np.zeros(room, np.int64), np.zeros(room, np.int32), np.full(rows, -1, np.int32)
        )
        number = search(codes, counts, largest, tree, uniques)
        if number >= 0:
            order = np.lexsort((uniques.columns[:number], uniques.row[:number]))
            return uniques.row[order].astype(np.int64), uniques.columns[order]
        room *= 4


def dis_suda(scores: Floats, columns: int, pairs: int, sampling_fraction: float) -> Floats:
    """Scores as chances that a unique match is right, by the data intrusion simulation of the whole table.

    With U unique rows, P rows in pairs and the sampling fraction π, a unique match is right with the chance
    D = U·π / (U·π + P·(1-π)). Rows share it out by their scores s: 1 / (1 + (U/D - U) / (s^q·Σ s^-q)), where
    q = 1 + (8 - columns)/20 and the sum is over rows with a score. Elliot (2000); the exponent and the scores, a set of
    size s among n columns counting (2^(n-s) - 1)·s!·(n-s)!/n!, are those of sdcMicro.

    >>> dis_suda(np.array([1.75, 0.0, 3.25]), 4, 1, 0.01).round(4).tolist()
    [0.0074, 0.0, 0.0154]
    """
    if not 0.0 < sampling_fraction <= 1.0:
        raise JobError(f"A sampling fraction must be above 0 and at most 1, not {sampling_fraction}.")
    chances = np.zeros(len(scores))
    some = scores > 0
    if not some.any():
        return chances
    powers = scores[some] ** (1.0 + (8.0 - columns) / 20.0)
    # U/D - U, written so that no pairs, or a sample that is everybody, are no special case.
    doubt = 2.0 * pairs * (1.0 - sampling_fraction) / sampling_fraction
    chances[some] = 1.0 / (1.0 + doubt / (powers * (1.0 / powers).sum()))
    return chances
