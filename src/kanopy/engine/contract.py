"""What every engine does: count distinct rows, publish what was found for each of them, and look at what it wrote.

An engine stands where a table lies. It never hands out the table, only its distinct rows with how often each occurs
(`count`); what a search makes of them comes back as `RecodePlan`, which the engine turns into the release where it lies
(`write`). Then it counts on what it wrote (`Recount`), and `require_same` compares that with what was meant, before
anything is published. An engine knows nothing of privacy or search.
"""

from __future__ import annotations

import io
import os
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import polars as pl

from kanopy._arrays import Ints, Longs, Mask
from kanopy._errors import DataError, JobError, VerificationFailed
from kanopy._table.column import as_labels, withheld_values
from kanopy._table.dialects import Dialect
from kanopy._table.guessing.identifying_values import MOST_VALUES

if TYPE_CHECKING:
    from kanopy.engine.pushdown import PushdownEngine

ROWS = "\0rows"
"""The column that says how many rows are like this one."""
MOST = "KANOPY_MOST_DIFFERENT"
MOST_DIFFERENT = 20_000_000
"""So many distinct rows fit on one machine, half a gigabyte per million; more are counted where they lie."""


class TooManyDistinctRows(DataError):
    """A table whose distinct rows do not fit on one machine."""


def most_different() -> int:
    """How many distinct rows come to one machine at most: what `KANOPY_MOST_DIFFERENT` says, or 20 million.

    >>> most_different()
    20000000
    """
    setting = os.environ.get(MOST, "") or str(MOST_DIFFERENT)
    if not setting.isdigit() or int(setting) < 1:
        raise JobError(
            f"{MOST} is the number of distinct rows that fit on one machine: a whole number, not {setting!r}."
        )
    return int(setting)


def require_few(distinct_rows: int, most: int) -> None:
    """Refuse to bring more distinct rows here than fit."""
    if distinct_rows > most:
        raise TooManyDistinctRows(
            f"The table has more than {most:,} distinct rows in the columns of the job, too many for one machine. "
            f"Name fewer or coarser columns, or raise {MOST}."
        )


@dataclass(frozen=True, eq=False)
class RecodePlan:
    """What becomes of every distinct row.

    `keys` are the values of the table that decide (a row per fragment, as the engine counted them). The rows of a
    `distinct_row` may be divided into several fragments, which stand side by side; `multiplicity` says how many rows a
    fragment has. `labels` are the published quasi-identifiers of each fragment. Fragments that are `suppressed` have
    labels `*`, or are left out (`drop`), and lose the values of the columns `withheld`. `columns` are all that is
    published. `unit` are those of the keys that name the unit of a row, where that matters.
    """

    keys: pl.DataFrame
    distinct_row: Ints
    multiplicity: Longs
    labels: pl.DataFrame
    suppressed: Mask
    columns: tuple[str, ...]
    withheld: tuple[str, ...] = ()
    drop: bool = False
    unit: tuple[str, ...] = ()
    as_read: pl.DataFrame | None = None
    """The keys as the job reads them, where some values mean missing: so they are published."""
    renewed: tuple[str, ...] = ()
    """Columns that are published as a treatment or a pseudonym makes them of each row, which is verified there."""

    @property
    def quasi(self) -> list[str]:
        """The columns that are published as labels."""
        return self.labels.columns

    @cached_property
    def remaining(self) -> Mask:
        """Which fragments are in the release."""
        return ~self.suppressed if self.drop else np.ones(len(self.suppressed), np.bool_)

    @cached_property
    def first_fragments(self) -> Mask:
        """Which fragments are the first of their distinct row."""
        return np.append(True, np.diff(self.distinct_row) > 0)

    @cached_property
    def undivided(self) -> bool:
        """Whether every distinct row is one fragment, so that equal rows are published alike."""
        return bool(self.first_fragments.all())

    def publishes_as_it_was(self, name: str) -> bool:
        """Whether every label of a column is its own value: neither a text in its place nor the mean of a class."""
        labels = self.labels[name]
        if isinstance(labels.dtype, (pl.Enum, pl.String)):
            return False
        return bool((labels.is_null() | (labels == self.keys[name].cast(labels.dtype))).fill_null(False).all())

    @cached_property
    def counted_columns(self) -> list[str]:
        """The columns by which published rows are counted again: labels, and the values that models look at."""
        others = (name for name in self.keys.columns if name in self.columns)
        return [*self.quasi, *(name for name in others if name not in self.quasi and name not in self.renewed)]

    @cached_property
    def published(self) -> pl.DataFrame:
        """Per remaining fragment, the published values of the columns that decide."""
        remaining, suppressed = pl.Series(self.remaining), self.suppressed[self.remaining]
        columns = {name: self.labels[name].filter(remaining) for name in self.quasi}
        for name in self.counted_columns[len(columns) :]:
            column = (self.keys if self.as_read is None else self.as_read)[name].filter(remaining)
            columns[name] = withheld_values(column, suppressed) if name in self.withheld else column
        return pl.DataFrame(list(columns.values()))

    def expected(self) -> Recount:
        """What an engine must find in its own release."""
        rows, remaining = pl.Series(ROWS, self.multiplicity[self.remaining]), pl.Series(self.remaining)
        keys, labels = self.keys.filter(remaining), self.labels.filter(remaining)
        pairs = {
            name: counted([keys[name].alias("value"), labels[name].alias("label")], rows) for name in labels.columns
        }
        units = None
        if self.unit:
            units = counted([*labels.get_columns(), *(keys[name].alias(f"\1{name}") for name in self.unit)], rows)
        return Recount(self.columns, counted(self.published.get_columns(), rows), pairs, units)


@dataclass(frozen=True, eq=False)
class Recount:
    """What was counted on a release where it lies.

    `classes` has a row per distinct published row (in the columns that decide), `pairs` per column the original values
    with the labels they are published as, `units` the labels with whose rows they are. `as_text` says that the release
    is delimited text, where every value is read back as text.
    """

    columns: tuple[str, ...]
    classes: pl.DataFrame
    pairs: Mapping[str, pl.DataFrame] = field(default_factory=dict)
    units: pl.DataFrame | None = None
    as_text: bool = False


class TableEngine(Protocol):
    """Where a table is, and what can be asked of it there; `name` is how options call the engine."""

    name: str
    reads_batches: bool
    """Whether rows pass by here, so that what a job says of every value can be done to them."""

    @property
    def target(self) -> str | None:
        """Where the release goes; `None` where it stays a frame of the engine, or nothing is written."""

    @property
    def remote(self) -> Any:
        """The release as a frame of the engine once it is there, where the engine has frames."""

    @property
    def schema(self) -> pl.Schema:
        """The columns, with the types that they have when the table is read into memory."""

    @property
    def source(self) -> str:
        """What the table is called."""

    def head(self, rows: int) -> pl.DataFrame:
        """Some of the rows, to see what the columns look like."""

    def distinct(self, columns: Sequence[str], most: int = MOST_VALUES) -> dict[str, pl.DataFrame | None]:
        """Per column all its distinct values (`value`) with how often each occurs (`count`); `None` for more than
        `most`. What decides whether a column may leave looks at these, never at some of the rows."""

    def sample(self, columns: Sequence[str], rows: int) -> pl.DataFrame:
        """So many rows of some columns, drawn evenly from the whole table: all rows where there are no more."""


class Engine(TableEngine, Protocol):
    """An engine whose distinct rows come here."""

    @property
    def notes(self) -> tuple[str, ...]:
        """What the reader had to change."""

    def count(self, columns: Sequence[str]) -> pl.DataFrame:
        """The distinct rows of some columns, with how often each occurs in `ROWS`."""

    def pushdown(self, columns: Sequence[str]) -> AbstractContextManager[PushdownEngine]:
        """The same table where not even the distinct rows of some columns come here (`kanopy.engine.pushdown`)."""

    def write(self, plan: RecodePlan) -> AbstractContextManager[Recount]:
        """Write the release and count what was written. It is published when the block ends well, else nothing is."""


def in_order(counts: pl.DataFrame, columns: Sequence[str]) -> pl.DataFrame:
    """Counted distinct rows, the counts in the last column, in an order that does not depend on who counted them.

    >>> in_order(pl.DataFrame({"a": ["y", "x"], "n": [2, 3]}), ["a"]).rows()
    [('x', 3), ('y', 2)]
    """
    # Names such as `^age$` and `*` are patterns to the dataframe library.
    plain = [column.alias(f"c{index}") for index, column in enumerate(counts.get_columns())]
    table = pl.DataFrame(plain).sort([column.name for column in plain], nulls_last=True)
    table.columns = [*columns, ROWS]
    return table.with_columns(table[ROWS].cast(pl.Int64))


def counted(columns: Sequence[pl.Series], rows: pl.Series) -> pl.DataFrame:
    """The distinct rows of some columns, each standing for `rows`.

    >>> counted([pl.Series("a", ["x", "x"])], pl.Series(ROWS, [2, 3])).rows()
    [('x', 5)]
    """
    if not columns:
        return pl.DataFrame({ROWS: [int(rows.sum())]})
    names = [column.name for column in columns]
    plain = [column.alias(f"c{index}") for index, column in enumerate(columns)]
    places = [column.name for column in plain]
    tally = pl.DataFrame([*plain, rows.alias(ROWS)]).group_by(places).agg(pl.col(ROWS).sum().cast(pl.Int64))
    tally.columns = [*names, ROWS]
    return tally


def require_same(plan: RecodePlan, recount: Recount) -> None:
    """Refuse a release in which an engine finds something else than what was to be published.

    Its classes are those of the labels, and every original value is published under the labels meant for it.
    """
    meant, seen = plan.expected(), recount
    if list(seen.columns) != list(meant.columns):
        raise _differs("its columns")
    if not _same(meant.classes, seen.classes, seen.as_text):
        raise _differs("the published combinations")
    for name, pairs in seen.pairs.items():
        if not _same(meant.pairs[name], pairs, False):
            raise _differs(f"what is published for {name!r}")
    if set(seen.pairs) != set(meant.pairs) or (seen.units is None) != (meant.units is None):
        raise _differs("the examined columns")
    if seen.units is not None and meant.units is not None and not _same(meant.units, seen.units, False):
        raise _differs("whose rows are published")


def _differs(what: str) -> VerificationFailed:
    return VerificationFailed(
        f"The written release differs from the planned one in {what}. Nothing was published. If the table did not "
        "change meanwhile, this is an error in Kanopy: please report it."
    )


def _same(meant: pl.DataFrame, seen: pl.DataFrame, as_text: bool) -> bool:
    """Whether two tables of counts say the same, whatever types and order their values have."""
    if meant.columns != seen.columns:
        return False
    if meant.columns == [ROWS]:
        return bool(meant[ROWS].sum() == seen[ROWS].sum())
    if as_text:
        from kanopy._table.sinks import write_text

        rows, text = meant[ROWS], io.BytesIO()
        write_text(meant[meant.columns[:-1]], text, Dialect())
        again = pl.read_csv(text.getvalue(), infer_schema=False)
        again.columns = meant.columns[:-1]
        meant = again.with_columns(rows)
    return _labelled(meant).equals(_labelled(seen), null_equal=True)


def _labelled(table: pl.DataFrame) -> pl.DataFrame:
    """Values by their labels, in one order: an enumeration and a text, 39 and 39.0 are the same."""
    tally = counted([as_labels(table[name]) for name in table.columns[:-1]], table[ROWS])
    tally.columns = [f"c{index}" for index in range(tally.width)]
    return tally.sort(tally.columns, nulls_last=True)
