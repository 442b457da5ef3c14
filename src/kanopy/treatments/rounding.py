"""Rounding to a base: to the nearest multiple, at random without bias, or controlled so that totals keep."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from typing import Annotated, ClassVar

import numpy as np
import polars as pl

from kanopy._arrays import Floats, Longs
from kanopy._parameter_types import ColumnNames, Number, OneOf
from kanopy.treatments.base import (
    NUMBERS,
    SEED,
    Table,
    Treatment,
    members_of,
    numbers_of,
    published_numbers,
    strata_of,
)  # fmt: skip
from kanopy.treatments.random_numbers import order, uniforms

NEAREST, RANDOM, CONTROLLED = ROUNDINGS = ("nearest", "random", "controlled")


@dataclass(frozen=True)
class Rounding(Treatment):
    """Rounding to multiples of `base`: to the nearest (halves up), at random to a neighbour so that the expected value
    is the original, or controlled: at random, but so that the total of each stratum changes by less than the base
    (Cox 1987).

    >>> from kanopy.treatments.apply import treat_values
    >>> treat_values([12, 17, 18], Rounding(base=5))
    [10, 15, 20]
    """

    base: Annotated[float, Number(above=0), "values become multiples of it"]
    kind: Annotated[str, OneOf(*ROUNDINGS), "to the nearest multiple, at random, or with kept totals"] = NEAREST
    within: Annotated[tuple[str, ...], ColumnNames(), "columns whose strata keep their totals, if controlled"] = ()

    name: ClassVar[str] = "round"
    summary: ClassVar[str] = "publishes multiples of a base"
    guarantees: ClassVar[str] = "every published value is a multiple of the base, less than one base from the original"
    lacks: ClassVar[str] = "how many people share a value is not limited: neither k nor differential privacy"
    source: ClassVar[str] = "Cox 1987; Hundepool et al. 2012, section 4.2"
    takes: ClassVar[str] = NUMBERS
    secret: ClassVar[str] = SEED

    @property
    def piecewise(self) -> bool:  # type: ignore[override]
        """Totals are kept by looking at the whole table."""
        return self.kind != CONTROLLED

    @property
    def by_place(self) -> bool:  # type: ignore[override]
        """A value is rounded up or down alike, whatever the pieces in which a table is read."""
        return self.kind == RANDOM

    @property
    def random(self) -> bool:
        """Rounding to the nearest multiple draws no random numbers."""
        return self.kind != NEAREST

    def contradictions(self) -> Iterable[str]:
        """Strata have totals to keep only where rounding is controlled."""
        if self.within and self.kind != CONTROLLED:
            yield "within has no effect without kind = 'controlled'. Leave it out, or give what it needs."

    def treat(self, column: str, table: Table) -> dict[str, pl.Series]:
        """Round a column."""
        series = table.rows[column]
        values = numbers_of(series, self.name)
        steps = values / self.base
        if self.kind == NEAREST:
            counted = np.floor(steps + 0.5)
        elif self.kind == RANDOM:
            counted, known = np.full(len(values), np.nan), ~np.isnan(values)
            places, at = table.places(values)
            seed = table.seed(self, column, hold=places.fingerprint)
            drawn = places.numbers("rounded", lambda rows: uniforms(seed, 0, rows))
            counted[known] = np.floor(_settled(steps[known]) + drawn[at])
        else:
            counted, seed = np.full(len(values), np.nan), table.seed(self, column)
            stratum, _ = strata_of(table.rows, self.within)
            present = table.order[~np.isnan(values[table.order])]
            for number, rows in enumerate(members_of(stratum[present], np.arange(len(present)))):
                rows_of_stratum = present[rows]
                counted[rows_of_stratum] = controlled(
                    _settled(steps[rows_of_stratum]), seed + number.to_bytes(8, "big")
                )
        # Multiples of 0.1 as they are written, without the digits that multiplying adds.
        rounded = np.round(counted * self.base, max(0, -int(Decimal(repr(float(self.base))).as_tuple().exponent)))
        whole = not series.dtype.is_float() and float(self.base).is_integer()
        return {column: published_numbers(rounded, series, whole=whole)}


def _settled(steps: Floats) -> Floats:
    """Multiples of the base as such, although division may leave them beside."""
    near = np.round(steps)
    return np.where(np.abs(steps - near) < 1e-9 * np.maximum(1.0, np.abs(near)), near, steps)


def controlled(steps: Floats, seed: bytes) -> Longs | Floats:
    """Each number rounded down or up, up as often as its remainder says, with a total within one of the original.

    Systematic sampling with probabilities proportional to the remainders, in random order.

    >>> int(controlled(np.array([0.5, 0.25, 0.25]), b"secret").sum())
    1
    """
    down = np.floor(steps)
    shuffled = order(seed, len(steps), 1)
    reached = np.cumsum((steps - down)[shuffled]) + uniforms(seed, 0, 1)[0]
    # Remainders that add up to a whole number must not gain or lose one by rounding errors of the sum.
    reached = np.floor(reached + 1e-12)
    up = np.empty(len(steps))
    up[shuffled] = np.diff(reached, prepend=0.0)
    return np.asarray(down + up)
