"""Values that change places: rank swapping, shuffling within strata, re-sampling by rank."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np
import polars as pl

from kanopy._arrays import Longs
from kanopy._errors import JobError, some
from kanopy._parameter_types import ColumnNames, Integer, Number
from kanopy.treatments.base import (
    NUMBERS,
    SEED,
    Table,
    Treatment,
    members_of,
    missing,
    numbers_of,
    published_numbers,
    strata_of,
)  # fmt: skip
from kanopy.treatments.random_numbers import order, uniforms
from kanopy.treatments.swapping_kernel import swap_ranks


def partners(ranks: int, percent: float, seed: bytes) -> Longs:
    """With which rank each of them swaps: a random one at most `percent` of all ranks away; itself if none is left.

    >>> sorted(partners(4, 50, b"secret").tolist())
    [0, 1, 2, 3]
    """
    partner_of_rank, tree = np.zeros(ranks, np.int64), np.zeros(ranks + 1, np.int64)
    window = max(1, int(ranks * percent / 100))
    swap_ranks(window, uniforms(seed, 0, ranks), tree, partner_of_rank)
    return partner_of_rank


@dataclass(frozen=True)
class RankSwap(Treatment):
    """Rank swapping: sorted, each value is swapped with a random one at most `percent` of the rows away (Moore 1996).

    The values of the column are the same as before, at other rows. `within` limits swaps to rows of a stratum.
    """

    percent: Annotated[float, Number(above=0, most=100), "how far ranks move, in percent of the rows"] = 5.0
    within: Annotated[tuple[str, ...], ColumnNames(), "columns whose strata values do not leave"] = ()

    name: ClassVar[str] = "rank-swap"
    summary: ClassVar[str] = "swaps values of near ranks"
    guarantees: ClassVar[str] = "the values of the column are the same as before; no rank moves further than the window"
    lacks: ClassVar[str] = "no k and no differential privacy: extreme values are still published, at a row of near rank"
    source: ClassVar[str] = "Moore 1996"
    takes: ClassVar[str] = NUMBERS
    secret: ClassVar[str] = SEED

    def treat(self, column: str, table: Table) -> dict[str, pl.Series]:
        """Swap the values of a column."""
        series = table.rows[column]
        values = numbers_of(series, self.name)
        _refuse_constant(series, self.name)
        stratum, called = strata_of(table.rows, self.within)
        seed = table.seed(self, column)
        source = np.arange(len(values))
        present = table.order[~np.isnan(values[table.order])]
        alone: list[str] = []
        for number, places in enumerate(members_of(stratum[present], np.arange(len(present)))):
            rows = present[places]
            ranked = rows[np.argsort(values[rows], kind="stable")]
            if len(ranked) == 1:
                alone.append(called[number])
            source[ranked] = ranked[partners(len(ranked), self.percent, seed + number.to_bytes(8, "big"))]
        _refuse_alone(column, alone, self.name)
        return {column: series.gather(source)}


@dataclass(frozen=True)
class Shuffle(Treatment):
    """Shuffling: the values of a column, or of several `together`, change places at random within each stratum.

    Whatever else is known of a row says nothing about the shuffled values but its stratum.
    """

    within: Annotated[tuple[str, ...], ColumnNames(), "columns whose strata values do not leave"] = ()
    together: Annotated[tuple[str, ...], ColumnNames(), "columns that are shuffled as one"] = ()

    name: ClassVar[str] = "shuffle"
    summary: ClassVar[str] = "shuffles values among the rows of a stratum"
    guarantees: ClassVar[str] = (
        "each stratum has the same values as before, and only the stratum says anything about them"
    )
    lacks: ClassVar[str] = "correlations with other columns are lost; a value that only one row has is still published"
    source: ClassVar[str] = "Dalenius and Reiss 1982"
    secret: ClassVar[str] = SEED

    def treat(self, column: str, table: Table) -> dict[str, pl.Series]:
        """Shuffle a column."""
        names = self.writes(column)
        if not self.together:
            _refuse_constant(table.rows[column], self.name)
        stratum, called = strata_of(table.rows, self.within)
        seed = table.seed(self, *names)
        is_missing = np.all([missing(table.rows[name]) for name in names], axis=0)
        source = np.arange(table.rows.height)
        present = table.order[~is_missing[table.order]]
        alone: list[str] = []
        for number, places in enumerate(members_of(stratum[present], np.arange(len(present)))):
            rows = present[places]
            if len(rows) == 1:
                alone.append(called[number])
            source[rows] = rows[order(seed + number.to_bytes(8, "big"), len(rows))]
        _refuse_alone(column, alone, self.name)
        return {name: table.rows[name].gather(source) for name in names}


def _refuse_constant(series: pl.Series, method: str) -> None:
    present = series.filter(~pl.Series(missing(series)))
    if len(present) > 1 and present.n_unique() == 1:
        raise JobError(
            f"{series.name!r} is constant: {method} has no effect. Leave the treatment out, or suppress the column."
        )


def _refuse_alone(column: str, strata: list[str], method: str) -> None:
    if strata:
        where = some(strata).replace('"', "") if strata != [""] else "the table"
        raise JobError(
            f"{method} of {column!r}: {where} has only one row with a value, which has nobody to swap with. Name fewer "
            "columns in within, or join small strata."
        )


@dataclass(frozen=True)
class Resample(Treatment):
    """Re-sampling: the column is drawn `times` times with replacement, each draw is sorted, and the value of each rank
    becomes the mean of the draws at that rank (Heer 1993)."""

    times: Annotated[int, Integer(1), "how many draws"] = 3

    name: ClassVar[str] = "resample"
    summary: ClassVar[str] = "gives each rank the mean of several random draws"
    guarantees: ClassVar[str] = "the order of values is kept; nothing is farther out than the column's own extremes"
    lacks: ClassVar[str] = "no k and no differential privacy: ranks are published"
    source: ClassVar[str] = "Heer 1993"
    takes: ClassVar[str] = NUMBERS
    secret: ClassVar[str] = SEED

    def treat(self, column: str, table: Table) -> dict[str, pl.Series]:
        """Re-sample a column."""
        series = table.rows[column]
        values = numbers_of(series, self.name)
        _refuse_constant(series, self.name)
        present = table.order[~np.isnan(values[table.order])]
        ranked = present[np.argsort(values[present], kind="stable")]
        seed = table.seed(self, column)
        total = np.zeros(len(ranked))
        for time in range(self.times):
            drawn = (uniforms(seed, 0, len(ranked), time) * len(ranked)).astype(np.int64)
            total += values[ranked][np.sort(drawn)]
        made = np.full(len(values), np.nan)
        made[ranked] = total / self.times
        return {column: published_numbers(made, series)}
