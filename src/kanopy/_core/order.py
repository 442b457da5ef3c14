"""Tuples and rows in an order of their own: no release depends on the order of a table.

Ties are settled by what comes first. What comes first is settled here, by values alone: tuples ascend by their codes;
rows ascend by whose they are, by their tuple, and by what models look at. Rows that agree in all of this are alike, and
which of them is in which class follows the table: the first ones are in the class with the lowest number. So a release
is the same whatever the order of the rows, whichever engine counted them, and however many threads did.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from kanopy._arrays import Ints, Longs
from kanopy._core.classes import Domain, Recoding, Sensitive
from kanopy._core.numbering import number_keys, number_rows


@dataclass(frozen=True, eq=False)
class Ordered:
    """A domain in its own order, and the way back: which row of the table every row was, and what kind it is of."""

    domain: Domain
    row: Longs | None = None
    kind: Ints | None = None

    def back(self, recoding: Recoding) -> Recoding:
        """The groups of a recoding for the rows of the table, those of a kind by ascending group."""
        if self.row is None or self.kind is None:
            return recoding
        width = len(recoding.codes) + 1
        cells = self.kind.astype(np.int64) * width + recoding.group_of_row + 1
        if (np.diff(cells) < 0).any():
            cells.sort()
        group_of_row = np.empty_like(recoding.group_of_row)
        group_of_row[self.row] = cells % width - 1
        return replace(recoding, group_of_row=group_of_row)


def in_order(domain: Domain, looked_at: Sequence[Sensitive] = (), *, by_rows: bool = True) -> Ordered:
    """A domain in its own order; `looked_at` are the columns that models look at.

    Without `by_rows`, for searches that publish the rows of one tuple alike, rows stay where they are.

    >>> from kanopy.hierarchy.hierarchy import Hierarchy
    >>> ordered = in_order(Domain.of_column("letter", "bab", Hierarchy.flat(["a", "b"]))).domain
    >>> ordered.tuples[ordered.tuple_of_row].tolist()
    [[0], [1], [1]]
    """
    if domain.__dict__.get("in_order"):
        return Ordered(domain)
    domain = _with_ascending_tuples(domain)
    row = kind = None
    if by_rows or domain.units is not None:
        kind = _kinds(domain, looked_at)
        row = np.arange(len(kind))
        if (np.diff(kind) < 0).any():
            row = np.argsort(kind, kind="stable")
            kind = kind[row]
            domain = domain.of_rows(row, None if domain.multiplicity is None else domain.multiplicity[row])
        if domain.units is not None:
            numbers = number_keys(domain.units.of_row.astype(np.int64)).number
            domain = replace(domain, units=replace(domain.units, of_row=numbers, named=None))
    domain.__dict__["in_order"] = True
    return Ordered(domain, row, kind)


def _with_ascending_tuples(domain: Domain) -> Domain:
    number, first, _ = number_rows(domain.tuples, [h.size for h in domain.hierarchies], ascending=True)
    if (np.diff(first) > 0).all():
        return replace(domain)
    moved = replace(
        domain,
        tuples=domain.tuples[first],
        counts=domain.counts[first],
        tuple_of_row=np.append(number, np.int32(-1))[domain.tuple_of_row].astype(np.int32),
    )
    for column, original in zip(moved.sensitive, domain.sensitive, strict=True):
        column.__dict__["facts"] = original.facts
    return moved


def _kinds(domain: Domain, looked_at: Sequence[Sensitive]) -> Ints:
    """The kind of every row: rows of one kind are alike in all that a search looks at."""
    columns = [domain.tuple_of_row + 1, *(column.code_of_row for column in looked_at)]
    sizes = [len(domain.tuples) + 1, *(len(column.values) for column in looked_at)]
    if domain.survey is not None:
        weights = np.unique(domain.survey.weight_of_row, return_inverse=True)[1].astype(np.int32)
        columns, sizes = [*columns, weights], [*sizes, int(weights.max(initial=0)) + 1]
    units = domain.units
    if units is not None:
        # Units without a name come last, by what their rows are.
        last = units.count if units.named is None else units.named
        columns, sizes = [np.minimum(units.of_row, last), *columns], [last + 1, *sizes]
    return number_rows(columns, sizes, ascending=True).number
