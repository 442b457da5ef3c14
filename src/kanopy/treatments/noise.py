"""Noise: added by a share of the spread, correlated as the columns are, or multiplied."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np
import polars as pl

from kanopy._errors import JobError
from kanopy._parameter_types import ColumnNames, Flag, Number, OneOf
from kanopy.treatments.base import NUMBERS, SEED, Table, Treatment, numbers_of, published_numbers, settled
from kanopy.treatments.random_numbers import normals, uniforms

ADDITIVE, CORRELATED, MULTIPLICATIVE = NOISES = ("additive", "correlated", "multiplicative")


@dataclass(frozen=True)
class Noise(Treatment):
    """Random noise. `share` is the standard deviation of the noise as a share of the column's own.

    *Additive* noise is normal and independent. *Correlated* noise has the covariances of the columns (those of
    `together` too), and the result is shrunk to the mean so that the covariance matrix is kept (Kim 1986; Tendick and
    Matloff 1994). *Multiplicative* noise multiplies each value by a factor between 1 - 1.5·share and 1 - 0.5·share, or
    between 1 + 0.5·share and 1 + 1.5·share (Evans, Zayatz, Slanta 1998): nothing stays near itself but zeros.
    """

    share: Annotated[float, Number(above=0, most=10), "spread of the noise as a share of the column's own"] = 0.1
    kind: Annotated[str, OneOf(*NOISES), "added, correlated, or multiplied"] = ADDITIVE
    together: Annotated[tuple[str, ...], ColumnNames(), "columns whose covariances are kept, if correlated"] = ()
    whole: Annotated[bool, Flag(), "publish whole numbers"] = False

    name: ClassVar[str] = "noise"
    summary: ClassVar[str] = "adds random noise to numbers, or multiplies them by it"
    guarantees: ClassVar[str] = "means are kept in expectation; correlated noise also keeps covariances"
    lacks: ClassVar[str] = (
        "no k and no differential privacy: outliers stay outliers, and repeated releases with fresh noise average it "
        "out"
    )
    source: ClassVar[str] = "Kim 1986; Brand 2002; Evans, Zayatz, Slanta 1998"
    takes: ClassVar[str] = NUMBERS
    secret: ClassVar[str] = SEED

    @property
    def piecewise(self) -> bool:  # type: ignore[override]
        """Covariances are those of the whole table."""
        return self.kind != CORRELATED

    @property
    def by_place(self) -> bool:  # type: ignore[override]
        """Correlated noise needs all rows anyway."""
        return self.kind != CORRELATED

    def contradictions(self) -> Iterable[str]:
        """Only correlated noise has covariances to keep, and factors must stay above 0."""
        if self.together and self.kind != CORRELATED:
            yield "together has no effect without kind = 'correlated'. Leave it out, or give what it needs."
        if self.kind == MULTIPLICATIVE and self.share >= 0.6:
            yield f"share must be below 0.6 where noise is multiplied, not {self.share:g}: signs would change."

    def measures(self, column: str) -> dict[str, pl.Expr]:
        """The column's standard deviation."""
        values = pl.col(column).cast(pl.Float64, strict=False)
        return {"spread": pl.when(values.is_finite()).then(values).std()} if self.kind == ADDITIVE else {}

    def treat(self, column: str, table: Table) -> dict[str, pl.Series]:
        """Add noise to a column and those together with it."""
        if self.kind == CORRELATED:
            return self._correlated(column, table)
        series = table.rows[column]
        values = numbers_of(series, self.name)
        known = ~np.isnan(values)
        places, at = table.places(values)
        seed, noisy = table.seed(self, column, hold=places.fingerprint), values.copy()
        if self.kind == ADDITIVE:
            spread = table.facts["spread"]
            if not spread:
                raise JobError(
                    f"{column!r} is constant: noise by a share of its spread has no effect. Leave it out, or "
                    "suppress the column."
                )
            drawn = places.numbers("added", lambda rows: normals(seed, 0, rows))
            noisy[known] += drawn[at] * (self.share * settled(spread))
        else:
            drawn = places.numbers("factor", lambda rows: uniforms(seed, 0, rows))
            side = places.numbers("side", lambda rows: np.where(uniforms(seed, 0, rows, 1) < 0.5, -1.0, 1.0))
            noisy[known] *= 1.0 + side[at] * self.share * (0.5 + drawn[at])
        return {column: published_numbers(noisy, series, whole=self.whole)}

    def _correlated(self, column: str, table: Table) -> dict[str, pl.Series]:
        names = self.writes(column)
        values = np.column_stack([numbers_of(table.rows[name], self.name) for name in names])
        complete = values[table.order[~np.isnan(values[table.order]).any(axis=1)]]
        if len(complete) < 2 or not complete.std(axis=0).all():
            constant = (
                [name for name, spread in zip(names, complete.std(axis=0), strict=True) if not spread]
                if len(complete)
                else names
            )
            raise JobError(
                "Correlated noise needs columns that vary; constant where all are known: "
                f"{', '.join(map(repr, constant))}. Leave them out."
            )
        seed = table.seed(self, *names)
        drawn = np.column_stack([normals(seed, 0, len(values), j) for j in range(len(names))])
        placed = np.empty_like(drawn)
        placed[table.order] = drawn
        spread, axes = np.linalg.eigh(np.atleast_2d(np.cov(complete, rowvar=False)))
        noise = (placed * np.sqrt(np.maximum(spread, 0.0))) @ axes.T * self.share
        centre = complete.mean(axis=0)
        noisy = centre + (values - centre + noise) / np.sqrt(1.0 + self.share**2)
        return {
            name: published_numbers(np.ascontiguousarray(noisy[:, j]), table.rows[name], whole=self.whole)
            for j, name in enumerate(names)
        }
