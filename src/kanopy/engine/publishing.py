"""Batches of rows become published ones: every row has the number of its distinct row, and that a fragment."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property

import numpy as np
import polars as pl

from kanopy._arrays import Ints, Longs, Mask
from kanopy._errors import DataError
from kanopy._table.column import texts_inside, withheld_values
from kanopy._table.streams.scans import BATCH_ROWS
from kanopy.engine.contract import ROWS, RecodePlan
from kanopy.engine.tally import Tally

MOST_PAIRS = 1 << 22
"""Pairs of a value and a label that are counted in one table; more are numbered as they come."""


def changed(name: str) -> DataError:
    """The error for a table that is not the same when it is read a second time."""
    return DataError(
        f"{name} changed while Kanopy read it: it now has rows that were not counted. Nothing was written."
    )


def tally_of_distinct_rows(plan: RecodePlan) -> Tally:
    """The distinct rows of a plan, numbered in their order: what rows are compared with that were counted elsewhere."""
    distinct_rows = plan.keys[np.flatnonzero(plan.first_fragments)] if plan.keys.width else plan.keys
    tally = Tally(list(distinct_rows.schema.values()))
    if plan.keys.width:
        tally.add(distinct_rows.get_columns())
    else:
        tally.add_alike(int(plan.multiplicity.sum()))
    return tally


def counted_again(written: pl.LazyFrame, published_names: list[str]) -> tuple[tuple[str, ...], pl.DataFrame]:
    """The columns of what was written, and its distinct rows in some of them with how often each occurs."""
    schema = written.collect_schema()
    again = Tally([schema[name] for name in published_names])
    for _ in again.add_all(written, [schema.names().index(name) for name in published_names]):
        pass
    return tuple(schema.names()), again.frame(published_names)


def texts(frame: pl.DataFrame) -> pl.DataFrame:
    """Enumerations as texts: a file would hold the categories of rows that are suppressed."""
    return texts_inside(
        frame.with_columns(
            frame[name].cast(pl.String)
            for name, dtype in frame.schema.items()
            if isinstance(dtype, (pl.Categorical, pl.Enum))
        )
    )


def publish_batch(
    plan: RecodePlan, labels: Mapping[str, pl.Series], suppressed: Mask, others: pl.DataFrame
) -> tuple[pl.DataFrame, Mask | None]:
    """The published rows of a batch, given its labels, and which of its rows they are (`None`: all)."""
    columns = []
    for name in plan.columns:
        column = labels[name] if name in labels else others[name]
        columns.append(withheld_values(column, suppressed) if name in plan.withheld and suppressed.any() else column)
    published = pl.DataFrame(columns)
    if not plan.drop or not suppressed.any():
        return published, None
    return published.filter(pl.Series(~suppressed)), ~suppressed


def empty_batches(rows: int) -> Iterator[pl.DataFrame]:
    """Batches without columns, for so many rows."""
    return (pl.DataFrame(height=min(BATCH_ROWS, rows - at)) for at in range(0, rows, BATCH_ROWS))


class Publisher:
    """Turns batches of rows, in order, into published ones, and counts original values beside their labels.

    `distinct_rows` has the distinct rows by number, as the recoding has them.
    """

    def __init__(self, plan: RecodePlan, distinct_rows: Tally, table: str) -> None:
        self.plan, self.distinct_rows, self.table = plan, distinct_rows, table
        self._first = np.flatnonzero(plan.first_fragments).astype(np.int32)
        if len(self._first) != len(distinct_rows):
            raise changed(table)
        self._start = np.cumsum(plan.multiplicity) - plan.multiplicity
        self._used = np.zeros(len(plan.multiplicity), np.int64)
        self._cells: dict[str, Longs] = {}
        self._pairs: dict[str, Tally] = {}
        unit_columns = [pl.Int32() for _ in plan.unit]
        self._units = Tally([*plan.labels.schema.values(), *unit_columns]) if plan.unit else None

    @cached_property
    def _codes(self) -> dict[str, Ints]:
        """Per distinct row the code of its value in a column; -1 is missing."""
        return dict(zip(self.plan.keys.columns, self.distinct_rows.codes(), strict=True))

    def publish(self, distinct_rows: Ints, others: pl.DataFrame) -> tuple[pl.DataFrame, Mask | None]:
        """The published rows of a batch, and which of its rows they are (`None`: all); `others` has the columns that
        are published as they are."""
        plan = self.plan
        fragment = distinct_rows if plan.undivided else self._fragments(self._first[distinct_rows])
        places = pl.Series(fragment)
        labels = {name: plan.labels[name].gather(places) for name in plan.quasi}
        published, remaining = publish_batch(plan, labels, plan.suppressed[fragment], others)
        self._note(distinct_rows if remaining is None else distinct_rows[remaining], published)
        return published, remaining

    def _fragments(self, first: Ints) -> Ints:
        """The fragment of every row, given the first of its distinct row, whose rows fill its fragments in turn."""
        order = np.argsort(first, kind="stable")
        distinct_rows, begins, counts = np.unique(first[order], return_index=True, return_counts=True)
        ordinal = np.empty(len(first), np.int64)
        ordinal[order] = (
            np.arange(len(first)) - np.repeat(begins, counts) + np.repeat(self._used[distinct_rows], counts)
        )
        self._used[distinct_rows] += counts
        fragment = np.searchsorted(self._start, self._start[first] + ordinal, side="right") - 1
        if (self.plan.distinct_row[fragment] != self.plan.distinct_row[first]).any():
            raise changed(self.table)
        return fragment.astype(np.int32)

    def _note(self, distinct_rows: Ints, published: pl.DataFrame) -> None:
        """Count original values beside what is about to be written for them, as it stands in the columns."""
        for name in self.plan.quasi:
            codes, column = self._codes[name], published[name]
            width = len(column.dtype.categories) + 1 if isinstance(column.dtype, pl.Enum) else 0
            size = int(codes.max(initial=-1)) + 2
            if 0 < width * size <= MOST_PAIRS:
                cells = ((codes + 1) * width)[distinct_rows]
                cells += column.to_physical().fill_null(width - 1).to_numpy()
                cell_counts = np.bincount(cells, minlength=width * size)
                self._cells[name] = self._cells[name] + cell_counts if name in self._cells else cell_counts
            else:
                tally = self._pairs.setdefault(name, Tally([pl.Int32(), column.dtype]))
                tally.add([pl.Series(codes[distinct_rows]), column])
        if self._units is not None:
            unit_columns = [pl.Series(self._codes[name][distinct_rows]) for name in self.plan.unit]
            self._units.add([*(published[name] for name in self.plan.quasi), *unit_columns])

    def pair_tables(self) -> dict[str, pl.DataFrame]:
        """Per column the values, the labels they got, and in how many rows."""
        tables = {}
        for name in self.plan.quasi:
            if name in self._cells:
                categories = self.plan.labels[name].dtype
                assert isinstance(categories, pl.Enum)
                width, cells = len(categories.categories) + 1, np.flatnonzero(self._cells[name])
                codes, label, rows = cells // width - 1, cells % width, self._cells[name][cells]
                labels = pl.Series([*categories.categories, None], dtype=pl.String).gather(pl.Series(label))
            else:
                pair_counts = self._pairs[name].frame(["code", "label"])
                codes, labels, rows = pair_counts["code"].to_numpy(), pair_counts["label"], pair_counts[ROWS].to_numpy()
            values = self._values(name, codes.astype(np.int32))
            tables[name] = pl.DataFrame([values.alias("value"), labels.alias("label"), pl.Series(ROWS, rows, pl.Int64)])
        return tables

    def unit_table(self) -> pl.DataFrame | None:
        """Labels beside whose rows they are."""
        if self._units is None:
            return None
        unit_columns = [f"\1{name}" for name in self.plan.unit]
        unit_counts = self._units.frame([*self.plan.quasi, *unit_columns])
        values = [
            self._values(name, unit_counts[unit_column].to_numpy()).alias(unit_column)
            for name, unit_column in zip(self.plan.unit, unit_columns, strict=True)
        ]
        return unit_counts.with_columns(values)

    def _values(self, name: str, codes: Ints) -> pl.Series:
        return self.distinct_rows.coders[self.plan.keys.columns.index(name)].values(codes)
