"""PRAM, post-randomisation: categories change by chance, by a known matrix (Gouweleeuw et al. 1998)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar

import numpy as np
import polars as pl

from kanopy._arrays import Floats, Longs
from kanopy._errors import JobError, some
from kanopy._parameter_types import ColumnNames, Flag, MapOf, Number, Share
from kanopy.hierarchy.column import canonical_label
from kanopy.treatments.base import SEED, Table, Treatment, members_of, missing, strata_of
from kanopy.treatments.random_numbers import uniforms

MOST_CATEGORIES = 10_000
"""A column of more is no column of categories."""
MOST_IN_MATRIX = 2_000


def invariant(matrix: Floats, shares: Floats) -> Floats:
    """The matrix that leaves expected shares as they are: the given one, followed by its inversion by Bayes' rule.

    >>> t = np.array([0.5, 0.3, 0.2])
    >>> P = invariant(np.full((3, 3), 0.1) + 0.7 * np.eye(3), t)
    >>> bool(np.abs(t @ P - t).max() <= 1e-12)
    True
    """
    reached = shares @ matrix
    back = np.divide(matrix * shares[:, None], reached, out=np.zeros_like(matrix), where=reached > 0).T
    # A category that nothing becomes has no way back: it stays.
    np.fill_diagonal(back, np.where(reached > 0, np.diag(back), 1.0))
    matrix_back = matrix @ back
    return np.asarray(matrix_back / matrix_back.sum(axis=1, keepdims=True))


def usual_matrix(shares: Floats, keep: float) -> Floats:
    """Each category stays with probability `keep`, and else becomes any category, as often as it occurs: invariant."""
    return np.asarray(keep * np.eye(len(shares)) + (1.0 - keep) * shares[None, :])


@dataclass(frozen=True)
class Pram(Treatment):
    """Post-randomisation. Each category stays with probability `keep`, and else becomes any category of its stratum, as
    often as it occurs there; the expected frequencies do not change. Or by an own `matrix`: per category the
    probability of each category it becomes, which `invariant` turns into one that keeps expected frequencies.
    """

    keep: Annotated[float, Share(below=1, most=None), "the probability that a value stays on purpose"] = 0.8
    matrix: Annotated[
        Mapping[str, Mapping[str, float]],
        MapOf(MapOf(Number(0, 1), "{'no': 0.9, 'yes': 0.1}"), "{'no': {'no': 0.9}}"),
        "per category the probabilities of what it becomes",
    ] = field(default_factory=dict)
    invariant: Annotated[bool, Flag(), "turn the own matrix into one that keeps expected frequencies"] = False
    within: Annotated[tuple[str, ...], ColumnNames(), "columns whose strata have frequencies of their own"] = ()

    name: ClassVar[str] = "pram"
    summary: ClassVar[str] = "replaces categories at random"
    guarantees: ClassVar[str] = (
        "plausible deniability: no published category is certain; expected frequencies are kept where the matrix is "
        "invariant"
    )
    lacks: ClassVar[str] = "no k; most rows keep their category, and a rare one stays rare"
    source: ClassVar[str] = "Gouweleeuw, Kooiman, Willenborg, de Wolf 1998"
    secret: ClassVar[str] = SEED

    def contradictions(self) -> Iterable[str]:
        """A matrix takes the place of `keep`, and its rows are probabilities."""
        if self.matrix and self.keep != 0.8:
            yield "keep has no effect with an own matrix. Leave one of them out."
        if self.invariant and not self.matrix:
            yield "invariant has no effect without an own matrix: the usual one is invariant. Leave it out."
        wrong = [name for name, row in self.matrix.items() if abs(sum(row.values()) - 1.0) > 1e-9]
        if wrong:
            yield f"The probabilities of {some(wrong)} in the matrix do not add up to 1."

    def to_dict(self) -> dict[str, Any]:
        """The matrix as plain tables."""
        plainly = super().to_dict()
        return plainly | ({"matrix": {name: dict(row) for name, row in self.matrix.items()}} if self.matrix else {})

    def treat(self, column: str, table: Table) -> dict[str, pl.Series]:
        """Replace the categories of a column by chance."""
        series = table.rows[column]
        is_missing = missing(series)
        distinct = series.filter(~pl.Series(is_missing)).unique().sort()
        if len(distinct) > MOST_CATEGORIES:
            raise JobError(
                f"pram of {column!r}: it has {len(distinct):,} different values, and categories are at most "
                f"{MOST_CATEGORIES:,}. Group the values first, or protect numbers by noise and identifiers by "
                "pseudonyms."
            )
        if len(distinct) < 2:
            raise JobError(
                f"pram of {column!r}: it has only one value, which nothing can take the place of. Leave it out."
            )
        codes = np.full(len(series), -1, np.int64)
        present = np.flatnonzero(~is_missing)
        codes[present] = distinct.search_sorted(series.gather(present)).to_numpy()
        labels = [canonical_label(value) for value in distinct.to_list()]
        stratum, called = strata_of(table.rows, self.within)
        alone: list[str] = []
        seed = table.seed(self, column)
        drawn = np.empty(len(series))
        drawn[table.order] = uniforms(seed, 0, len(series))
        again = np.empty(len(series))
        again[table.order] = uniforms(seed, 0, len(series), 1)
        made = codes.copy()
        in_order = table.order[codes[table.order] >= 0]
        for places in members_of(stratum[in_order], np.arange(len(in_order))):
            rows = in_order[places]
            if len(rows) and (codes[rows] == codes[rows[0]]).all():
                alone.append(called[int(stratum[rows[0]])])
            elif len(rows):
                made[rows] = self._drawn(column, codes[rows], labels, drawn[rows], again[rows])
        if alone:
            raise JobError(
                f"pram of {column!r}: {some(alone)} has only one category, which would be published for certain. Name "
                "fewer columns in within, or join small strata."
            )
        return {column: distinct.gather(np.maximum(made, 0)).set(pl.Series(made < 0), None).rename(column)}

    def _drawn(self, column: str, codes: Longs, labels: list[str], drawn: Floats, again: Floats) -> Longs:
        counts = np.bincount(codes, minlength=len(labels)).astype(np.float64)
        shares = counts / counts.sum()
        if not self.matrix:
            picked = np.minimum(np.searchsorted(np.cumsum(shares), again, side="right"), len(labels) - 1)
            return np.where(drawn < self.keep, codes, picked)
        matrix = self.own_matrix(column, labels)
        if self.invariant:
            matrix = invariant(matrix, shares)
        reached = np.cumsum(matrix, axis=1)
        reached_codes = (reached[codes] <= drawn[:, None] * reached[codes][:, -1:]).sum(axis=1)
        return np.asarray(np.minimum(reached_codes, len(labels) - 1))

    def own_matrix(self, column: str, labels: list[str]) -> Floats:
        """The job's matrix for the categories of a column; an error where they do not fit."""
        absent = [label for label in labels if label not in self.matrix]
        strange = {name for row in self.matrix.values() for name, p in row.items() if p > 0} - set(labels)
        if absent or len(labels) > MOST_IN_MATRIX:
            raise JobError(
                f"pram of {column!r}: the matrix has no row for {some(absent)}. Add one for each value of the column."
            )
        if strange:
            raise JobError(
                f"pram of {column!r}: the matrix leads to {some(sorted(strange))}, which the column does not "
                "have. Name its own values."
            )
        return np.array([[self.matrix[one].get(other, 0.0) for other in labels] for one in labels])
