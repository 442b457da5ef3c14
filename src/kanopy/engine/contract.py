"""What every engine does: count different rows, publish what was found for each of them, and look at what it wrote.

An engine stands where a table lies. It never hands out the table, only its different rows with how often each occurs
(`count`); what a search makes of them comes back as `Recoded`, which the engine turns into the release where it lies
(`write`). Then it counts on what it wrote (`Seen`), and `require_same` compares that with what was meant, before
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
from kanopy._table.column import as_labels
from kanopy._table.dialects import Dialect
from kanopy._table.guessing.pointing import MOST_VALUES

if TYPE_CHECKING:
    from kanopy.engine.pushdown import PushdownEngine

ROWS = "\0rows"
"""The column that says how many rows are like this one."""
MOST = "KANOPY_MOST_DIFFERENT"
MOST_DIFFERENT = 20_000_000
"""So many different rows fit on one machine, half a gigabyte per million; more are counted where they lie."""


class TooManyKinds(DataError):
    """A table whose different rows do not fit on one machine."""


def most_different() -> int:
    """How many different rows come to one machine at most: what `KANOPY_MOST_DIFFERENT` says, or 20 million.

    >>> most_different()
    20000000
    """
    said = os.environ.get(MOST, "") or str(MOST_DIFFERENT)
    if not said.isdigit() or int(said) < 1:
        raise JobError(f"{MOST} says how many different rows fit on one machine: a whole number, not {said!r}.")
    return int(said)


def require_few(kinds: int, most: int) -> None:
    """Refuse to bring more different rows here than fit."""
    if kinds > most:
        raise TooManyKinds(
            f"The table has more than {most:,} different rows in the columns that decide, too many for one machine. "
            f"Name fewer or coarser columns, or let {MOST} say that more fit."
        )


@dataclass(frozen=True, eq=False)
class Recoded:
    """What becomes of every kind of row.

    `keys` are the values of the table that decide (a row per piece, as the engine counted them); rows that are alike
    are one kind, and the `rows` of a kind may fall into several pieces, which stand side by side. `labels` are the
    published quasi-identifiers of each piece. Pieces that are `gone` are suppressed: their labels are `*`, or they are
    left out (`drop`), and the values of the columns `emptied` are taken from them. `columns` are all that is published.
    `unit` are those of the keys that say whose row it is, where that matters.
    """

    keys: pl.DataFrame
    kind: Ints
    rows: Longs
    labels: pl.DataFrame
    gone: Mask
    columns: tuple[str, ...]
    emptied: tuple[str, ...] = ()
    drop: bool = False
    unit: tuple[str, ...] = ()
    said: pl.DataFrame | None = None
    """The keys as the job reads them, where some values mean missing: so they are published."""

    @property
    def quasi(self) -> list[str]:
        """The columns that are published as labels."""
        return self.labels.columns

    @cached_property
    def left(self) -> Mask:
        """Which pieces are in the release."""
        return ~self.gone if self.drop else np.ones(len(self.gone), np.bool_)

    @cached_property
    def begins(self) -> Mask:
        """Which pieces are the first of their kind."""
        return np.append(True, np.diff(self.kind) > 0)

    @cached_property
    def whole(self) -> bool:
        """Whether every kind is one piece, so that equal rows are published alike."""
        return bool(self.begins.all())

    @cached_property
    def shown(self) -> list[str]:
        """The columns by which published rows are counted again: labels, and the values that models look at."""
        return [*self.quasi, *(name for name in self.keys.columns if name in self.columns and name not in self.quasi)]

    @cached_property
    def published(self) -> pl.DataFrame:
        """Per piece that is left, the published values of the columns that decide."""
        left, gone = pl.Series(self.left), pl.Series(self.gone[self.left])
        columns = {name: self.labels[name].filter(left) for name in self.quasi}
        for name in self.shown[len(columns) :]:
            column = (self.keys if self.said is None else self.said)[name].filter(left)
            if name in self.emptied:
                column = pl.select(pl.when(~gone).then(column.rename(""))).to_series().alias(name)
            columns[name] = column
        return pl.DataFrame(list(columns.values()))

    def expected(self) -> Seen:
        """What an engine must find in its own release."""
        rows = pl.Series(ROWS, self.rows[self.left])
        keys, labels = self.keys.filter(pl.Series(self.left)), self.labels.filter(pl.Series(self.left))
        pairs = {
            name: counted([keys[name].alias("value"), labels[name].alias("label")], rows) for name in labels.columns
        }
        units = None
        if self.unit:
            units = counted([*labels.get_columns(), *(keys[name].alias(f"\1{name}") for name in self.unit)], rows)
        return Seen(self.columns, counted(self.published.get_columns(), rows), pairs, units)


@dataclass(frozen=True, eq=False)
class Seen:
    """What was counted on a release where it lies.

    `classes` has a row per different published row (in the columns that decide), `pairs` per column the original values
    with the labels they are published as, `units` the labels with whose rows they are. `as_text` says that the release
    is delimited text, where every value is read back as text.
    """

    columns: tuple[str, ...]
    classes: pl.DataFrame
    pairs: Mapping[str, pl.DataFrame] = field(default_factory=dict)
    units: pl.DataFrame | None = None
    as_text: bool = False


class Engine(Protocol):
    """Where a table lies, and what is done with it there; `name` is how options call it."""

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

    @property
    def notes(self) -> tuple[str, ...]:
        """What the reader had to change."""

    def head(self, rows: int) -> pl.DataFrame:
        """Some of the rows, to see what the columns look like."""

    def count(self, columns: Sequence[str]) -> pl.DataFrame:
        """The different rows of some columns, with how often each occurs in `ROWS`."""

    def distinct(self, columns: Sequence[str], most: int = MOST_VALUES) -> dict[str, pl.DataFrame | None]:
        """Per column all its different values (`value`) with how often each occurs (`count`); `None` for more than
        `most`. What decides whether a column may leave looks at these, never at some of the rows."""

    def sample(self, columns: Sequence[str], rows: int) -> pl.DataFrame:
        """So many rows of some columns, drawn evenly from the whole table: all rows where there are no more."""

    def pushdown(self, columns: Sequence[str]) -> AbstractContextManager[PushdownEngine]:
        """The same table where not even the different rows of some columns come here (`kanopy.engine.pushdown`)."""

    def write(self, recoded: Recoded) -> AbstractContextManager[Seen]:
        """Write the release and count what was written. It is published when the block ends well, else nothing is."""


def counted(columns: Sequence[pl.Series], rows: pl.Series) -> pl.DataFrame:
    """The different rows of some columns, each standing for `rows`.

    >>> counted([pl.Series("a", ["x", "x"])], pl.Series(ROWS, [2, 3])).rows()
    [('x', 5)]
    """
    names = [column.name for column in columns]
    plain = [column.alias(f"c{place}") for place, column in enumerate(columns)]
    places = [column.name for column in plain]
    found = pl.DataFrame([*plain, rows.alias(ROWS)]).group_by(places).agg(pl.col(ROWS).sum().cast(pl.Int64))
    found.columns = [*names, ROWS]
    return found


def require_same(recoded: Recoded, seen: Seen) -> None:
    """Refuse a release in which an engine finds something else than what was to be published.

    Its classes are those of the labels, and every original value is published under the labels meant for it.
    """
    meant = recoded.expected()
    if list(seen.columns) != list(meant.columns):
        raise _differs("its columns")
    if not _same(meant.classes, seen.classes, seen.as_text):
        raise _differs("the published combinations")
    for name, pairs in seen.pairs.items():
        if not _same(meant.pairs[name], pairs, False):
            raise _differs(f"what is published for {name!r}")
    if set(seen.pairs) != set(meant.pairs) or (seen.units is None) != (meant.units is None):
        raise _differs("what was looked at")
    if seen.units is not None and meant.units is not None and not _same(meant.units, seen.units, False):
        raise _differs("whose rows are published")


def _differs(what: str) -> VerificationFailed:
    return VerificationFailed(
        f"What was written is not what was found: {what} differ. Nothing was published. If the table did not change "
        "meanwhile, this is an error in Kanopy: please report it."
    )


def _same(meant: pl.DataFrame, seen: pl.DataFrame, as_text: bool) -> bool:
    """Whether two tables of counts say the same, whatever types and order their values have."""
    if meant.columns != seen.columns:
        return False
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
    columns = [as_labels(table[name]) for name in table.columns[:-1]]
    found = counted(columns, table[ROWS])
    found.columns = [f"c{place}" for place in range(found.width)]
    return found.sort(found.columns, nulls_last=True)
