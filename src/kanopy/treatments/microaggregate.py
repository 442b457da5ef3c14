"""Microaggregation: rows in groups of at least `size` whose values become one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Annotated, ClassVar

import numpy as np
import polars as pl

from kanopy._arrays import Floats, Ints, Longs, Mask
from kanopy._core.grouping.groups import means, renumbered
from kanopy._core.grouping.similar import (
    MEAN,
    MEDIAN,
    MODE,
    OPTIMAL,
    RAW,
    STANDARDISED,
    VARIANTS,
    in_spreads,
    published_numbers_of,
    similar_groups,
)
from kanopy._core.neighbours_kernel import nearest_rows
from kanopy._errors import JobError, some
from kanopy._parameter_types import ColumnNames, Flag, Integer, MapOf, Number, OneOf, Optional
from kanopy._progress import SILENT, Progress
from kanopy.treatments.base import (
    NUMBERS,
    Table,
    Treatment,
    members_of,
    missing,
    numbers_of,
    published_numbers,
    strata_of,
)  # fmt: skip

PUBLISHED = (MEAN, MEDIAN, MODE)
REFUSE, SUPPRESS = TOO_SMALL = ("refuse", "suppress")
SCALES = (STANDARDISED, RAW)


@dataclass(frozen=True)
class Microaggregate(Treatment):
    """Microaggregation: rows form groups of at least `size`, and each group publishes its mean (or median, or mode).

    The groups have a small squared error over the column and those `together` with it. Without a `variant`, one column
    is grouped at its optimum (Hansen and Mukherjee 2003), and several by a local search that starts from MDAV; `mdav`
    is the classic method (Domingo-Ferrer and Mateo-Sanz 2002). Columns of categories are compared by Gower's
    distance and publish their most frequent value. `within` names columns whose strata are grouped apart.

    >>> from kanopy.treatments.apply import treat_values
    >>> treat_values([1, 2, 3, 10, 11, 12], Microaggregate(size=3))
    [2.0, 2.0, 2.0, 11.0, 11.0, 11.0]
    """

    size: Annotated[int, Integer(2), "rows (people, where the job has a unit) that share each value"] = 3
    together: Annotated[tuple[str, ...], ColumnNames(), "columns that are grouped with it"] = ()
    within: Annotated[tuple[str, ...], ColumnNames(), "columns whose strata are grouped apart"] = ()
    publish: Annotated[str, OneOf(*PUBLISHED), "what a group publishes"] = MEAN
    variant: Annotated[str | None, Optional(OneOf(*VARIANTS)), "mdav: the classic method; optimal: one column"] = None
    scale: Annotated[str, OneOf(*SCALES), "columns are compared by their spread, or as they are"] = STANDARDISED
    weights: Annotated[
        Mapping[str, float], MapOf(Number(above=0), "{'income': 2}"), "per column how much it counts"
    ] = field(default_factory=dict)
    too_small: Annotated[
        str, OneOf(*TOO_SMALL), "rows of a stratum, or of a pattern of missing values, that are too few"
    ] = REFUSE
    whole: Annotated[bool, Flag(), "publish whole numbers; sums then change a little"] = False
    effort: Annotated[float, Number(above=0, most=1000), "multiplies the work of the local search"] = 1.0

    name: ClassVar[str] = "microaggregate"
    summary: ClassVar[str] = "forms groups of similar rows and publishes the mean of each"
    guarantees: ClassVar[str] = (
        "at least `size` rows of a stratum share every published combination of the columns; sums and means are kept"
    )
    lacks: ClassVar[str] = "k holds for these columns alone, not beside others; values of a group may be nearly equal"
    source: ClassVar[str] = "Domingo-Ferrer and Mateo-Sanz 2002; Hansen and Mukherjee 2003"
    takes: ClassVar[str] = NUMBERS

    def contradictions(self) -> Iterable[str]:
        """The optimum is known for one column; weights are about its own columns."""
        if self.variant == OPTIMAL and self.together:
            yield "variant = 'optimal' groups one column. Leave out together, or the variant."
        if self.effort != 1.0 and (self.variant is not None or not self.together):
            yield "effort has no effect without several columns and the local search. Leave it out."

    def treat(self, column: str, table: Table) -> dict[str, pl.Series]:
        """Group the rows and publish one value per group."""
        names = self.writes(column)
        if strangers := [name for name in self.weights if name not in names]:
            raise JobError(
                f"weights of the microaggregation of {column!r} names {some(strangers)}, which is not grouped."
            )
        values, labels = _as_numbers(table.rows, names, self.name)
        nominal = np.array([label is not None for label in labels])
        if nominal.any() and self.publish == MEDIAN:
            raise JobError(
                f"Categories have no median: microaggregate {column!r} with publish = 'mode' or 'mean', or leave "
                f"out {some([n for n, is_nominal in zip(names, nominal, strict=True) if is_nominal])}."
            )
        group = self.groups(names, values, nominal, table)
        made = {}
        for j, name in enumerate(names):
            published_values = np.full(len(values), np.nan)
            published_values[table.order] = published_numbers_of(
                values[table.order, j], group[table.order], MODE if nominal[j] else self.publish
            )
            series, labels_of_column = table.rows[name], labels[j]
            if labels_of_column is None:
                made[name] = published_numbers(published_values, series, whole=self.whole)
            else:
                codes = pl.Series(np.where(np.isnan(published_values), 0, published_values).astype(np.int64))
                made[name] = (
                    labels_of_column.gather(codes).set(pl.Series(np.isnan(published_values)), None).rename(name)
                )
        return made

    def groups(
        self, names: tuple[str, ...], values: Floats, nominal: Mask, table: Table, progress: Progress = SILENT
    ) -> Ints:
        """The group of each row; -1 where all its values are missing or suppressed."""
        is_present = ~np.isnan(values)
        # In the canonical order, so that sums are rounded alike whatever the order of rows.
        x = np.empty_like(values)
        weights = np.array([self.weights.get(name, 1.0) for name in names])
        x[table.order] = in_spreads(values[table.order], nominal, weights, self.scale)
        stratum, called = strata_of(table.rows, self.within)
        # Rows that lack other columns cannot be compared: each pattern of missing values is grouped apart.
        patterns, pattern = np.unique(is_present, axis=0, return_inverse=True)
        cell = stratum * len(patterns) + pattern.reshape(-1)
        group = np.full(len(values), -1, np.int32)
        groups, few, suppressed = 0, list[str](), 0
        order = table.order
        _, cell = np.unique(cell, return_inverse=True)
        for rows in members_of(cell.reshape(-1), order):
            present = is_present[rows[0]]
            if not present.any():
                continue
            people = len(rows) if table.units is None else len(np.unique(table.units[rows]))
            if people < self.size:
                where = called[stratum[rows[0]]]
                absent = [name for name, there in zip(names, present, strict=True) if not there]
                few.append(
                    " and ".join(clause for clause in (where, f"without {some(absent)}" if absent else "") if clause)
                    or "the table"
                )
                suppressed += len(rows)
                continue
            groups_of_pattern = similar_groups(
                x[rows][:, present], self.size, nominal[present], variant=self.variant, weights=weights[present],
                effort=self.effort, of_rows=len(values), progress=progress,
            )  # fmt: skip
            if table.units is not None:
                groups_of_pattern = _until_enough(x[rows][:, present], groups_of_pattern, table.units[rows], self.size)
            group[rows] = groups_of_pattern + groups
            groups += int(groups_of_pattern.max()) + 1
        if few and self.too_small == REFUSE:
            few_shown = ", ".join(few[:5]) + (f" and {len(few) - 5} more" if len(few) > 5 else "")
            raise JobError(
                f"microaggregate of {some(names)}: fewer than {self.size} rows in {few_shown}. Choose a smaller size, "
                "join the "
                "strata, fill in missing values, or give too_small = 'suppress' to publish nothing of them."
            )
        if few:
            table.say(
                f"{names[0]}: the values of {suppressed:,} rows are suppressed, whose stratum or pattern of missing "
                f"values has fewer than {self.size} rows."
            )
        return group


def _as_numbers(rows: pl.DataFrame, names: tuple[str, ...], method: str) -> tuple[Floats, list[pl.Series | None]]:
    """Columns as numbers, and per column of categories its values, whose codes the numbers are."""
    numbers, labels = [], list[pl.Series | None]()
    for name in names:
        series = rows[name]
        text = series.cast(pl.String) if isinstance(series.dtype, (pl.Categorical, pl.Enum)) else series
        is_missing = missing(text)
        are_categories = series.dtype == pl.Boolean
        if text.dtype == pl.String:
            no_numbers = text.filter(~pl.Series(is_missing)).cast(pl.Float64, strict=False).is_null()
            # Among numbers, other texts are mistakes; numbers among other texts are codes.
            are_categories = bool(no_numbers.any()) and int(no_numbers.sum()) > 0.5 * len(no_numbers)
        if are_categories:
            distinct = text.filter(~pl.Series(is_missing)).unique().sort()
            codes = np.full(len(series), np.nan)
            codes[~is_missing] = distinct.search_sorted(text.filter(~pl.Series(is_missing))).to_numpy()
            numbers.append(codes)
            labels.append(distinct)
        else:
            numbers.append(numbers_of(series, method))
            labels.append(None)
        values_present = numbers[-1][~np.isnan(numbers[-1])]
        if not len(values_present) or (values_present == values_present[0]).all():
            what = "has no values" if not len(values_present) else "is constant"
            raise JobError(f"{method}: {name!r} {what}, so grouping by it has no effect. Leave it out, or suppress it.")
    return np.column_stack(numbers), labels


def _until_enough(x: Floats, group: Ints, units: Longs, size: int) -> Ints:
    """Join groups with a near one until each holds rows of at least `size` people."""
    while True:
        # A pair of group and person is one number: they are counted without looking at rows again.
        pairs = np.unique(group.astype(np.int64) * (int(units.max()) + 1) + units)
        people = np.bincount(pairs // (int(units.max()) + 1), minlength=int(group.max()) + 1)
        short = np.flatnonzero(people < size)
        if not len(short) or len(people) == 1:
            return renumbered(group)
        centre = means(x, group)
        nearest = nearest_rows(centre, 1)[0][:, 0]
        joined, taken = np.arange(len(people)), np.zeros(len(people), np.bool_)
        for one in short[np.argsort(people[short], kind="stable")]:
            other = nearest[one]
            if not taken[one] and not taken[other]:
                joined[one] = other
                taken[one] = taken[other] = True
        group = renumbered(joined[group])
