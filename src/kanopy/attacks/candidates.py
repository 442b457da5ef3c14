"""Which released rows may be a person's, given what is known of him: their labels cover his values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property

import numpy as np

from kanopy._arrays import Floats, Ints, Longs, Mask
from kanopy._core.numbering import distinct_tuples
from kanopy.attacks.tables import AttackTables
from kanopy.metrics.risk.linkage import LARGEST_TABLE, distance_table
from kanopy.metrics.utility.published_values import Covers


class LabelsOf:
    """The labels of a column that cover a value."""

    def __init__(self, covers: Covers) -> None:
        sizes = covers.sizes
        labels = np.repeat(np.arange(len(sizes)), sizes)
        values = np.concatenate([covers.values_of(index) for index in range(len(sizes))] or [np.zeros(0, np.int32)])
        self._labels = labels[np.argsort(values, kind="stable")]
        self._starts = np.concatenate([[0], np.cumsum(np.bincount(values, minlength=covers.domain.size))])
        self._count = len(sizes)

    def mask(self, value: int) -> Mask:
        """Per label of the column, whether it covers a value."""
        is_covered = np.zeros(self._count, np.bool_)
        is_covered[self._labels[self._starts[value] : self._starts[value + 1]]] = True
        return is_covered


class Candidates:
    """The distinct released rows over some columns (groups), and those that cover what is known of a person.

    >>> import polars as pl
    >>> from kanopy.attacks.tables import read_tables
    >>> ages = read_tables(pl.DataFrame({"age": [31, 34, 52]}), pl.DataFrame({"age": ["[30, 39]", "[30, 39]", "*"]}))
    >>> [Candidates(ages, ["age"]).covering({"age": value}).tolist() for value in (0, 2)]
    [[1], []]
    """

    def __init__(self, tables: AttackTables, columns: Sequence[str]) -> None:
        self.columns = tuple(columns)
        self.covers = {name: tables.covers[name] for name in columns}
        groups, rows, self.group_of_row, _ = distinct_tuples(
            [tables.labels[name] for name in columns], [len(tables.covers[name].labels) for name in columns],
            ascending=True,
        )  # fmt: skip
        self.groups = np.asarray(groups)
        self.rows = np.asarray(rows, np.int64)
        self.labels = {name: np.ascontiguousarray(self.groups[:, index]) for index, name in enumerate(columns)}
        # A row that says nothing of what was generalized is suppressed: it is about nobody.
        judged = [name for name in columns if name in tables.quasi] or list(columns)
        self.told: Mask = np.logical_or.reduce([tables.says[name][self.labels[name]] for name in judged])
        self._labels_of = {name: LabelsOf(tables.covers[name]) for name in columns}

    def covering(self, known_values: Mapping[str, int], within: Longs | None = None) -> Longs:
        """The groups whose labels cover all that is known: a value per column, not necessarily of all columns."""
        rows = np.flatnonzero(self.told) if within is None else within
        for name, value in known_values.items():
            if not len(rows):
                break
            rows = rows[self._labels_of[name].mask(value)[self.labels[name][rows]]]
        return rows

    @cached_property
    def _distances(self) -> dict[str, Floats | None]:
        return {
            name: distance_table(covers, "nearest")
            if covers.domain.size * len(covers.labels) <= LARGEST_TABLE
            else None
            for name, covers in self.covers.items()
        }

    def nearest(self, known_values: Mapping[str, int]) -> Longs:
        """The groups at the smallest distance from what is known (that of `metrics.risk.linkage`)."""
        total = np.zeros(len(self.groups))
        for name, value in known_values.items():
            table = self._distances[name]
            apart = 1.0 - self._labels_of[name].mask(value) if table is None else table[value]
            total += apart[self.labels[name]]
        total[~self.told & self.told.any()] = np.inf
        return np.flatnonzero(total <= total.min() + 1e-12)

    @cached_property
    def breadth(self) -> Floats:
        """How unspecific each group is: the sum of the logarithms of how many values its labels cover."""
        total = np.zeros(len(self.groups))
        for name, covers in self.covers.items():
            total += np.log(np.maximum(covers.sizes, 1))[self.labels[name]]
        return total

    @cached_property
    def by_group(self) -> tuple[Longs, Longs]:
        """Released rows group by group, and where each group begins."""
        return np.argsort(self.group_of_row, kind="stable"), np.concatenate([[0], np.cumsum(self.rows)])

    def rows_of(self, groups: Longs) -> Longs:
        """The released rows of some groups."""
        order, starts = self.by_group
        return np.concatenate([order[:0], *(order[starts[group] : starts[group + 1]] for group in groups.tolist())])


def known_of(values: Mapping[str, Ints], columns: Sequence[str], row: int) -> dict[str, int]:
    """What is known of a person: a value per column."""
    return {name: int(values[name][row]) for name in columns}
