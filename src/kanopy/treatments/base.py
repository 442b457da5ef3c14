"""What all treatments share: the shape of a treatment, what it is given, and how columns become numbers and back."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import polars as pl

from kanopy._arrays import Floats, Longs, Mask
from kanopy._errors import JobError, some
from kanopy._lazy import public
from kanopy._parameters import Declared, parameters_of, plain
from kanopy.hierarchy.column import canonical_label
from kanopy.treatments.random_numbers import Places, derived, fingerprint, fresh_seed, row_digests

NO_SECRET, SEED, KEY = "none", "seed", "key"
"""What a treatment must know and nobody else: nothing, random numbers, or a key that makes it repeatable."""
NUMBERS, DATES, ANY = "numbers", "dates", "any"


@public("kanopy.extend")
@dataclass(frozen=True, eq=False)
class Secrets:
    """The key of a run, if one was given. Random numbers come from it, or from the operating system.

    With a key, the same table and treatment give the same release, and any other table or parameter other numbers: the
    same noise on two releases would cancel out. The key is never written anywhere, nor what comes from it.

    >>> one, other = Secrets(b"sixteen bytes or more"), Secrets(b"sixteen bytes or more")
    >>> one.seed("noise", "pay") == other.seed("noise", "pay"), Secrets().seed("noise") == Secrets().seed("noise")
    (True, False)
    """

    key: bytes | None = field(default=None, repr=False)
    _seed: bytes = field(default_factory=fresh_seed, repr=False)

    def seed(self, *purpose: str) -> bytes:
        """The secret seed of one purpose."""
        return derived(self.key or self._seed, "seed", *purpose)

    def key_for(self, *purpose: str) -> bytes:
        """The key of one purpose; an error if no key was given, or one that can be guessed."""
        from kanopy.treatments.keys import check_strength

        return derived(check_strength(self.key), "key", *purpose)


@public("kanopy.extend")
@dataclass(frozen=True, eq=False)
class Table:
    """What a treatment is given: rows, what is known of the whole table, and secrets.

    `rows` are all rows of the table, or a piece of it. `facts` are what the treatment's
    `measures` gave on the whole table. `units` say whose row each is, where the job has a unit.

    >>> import polars as pl
    >>> from kanopy.extend import Secrets, Table
    >>> Table(pl.DataFrame({"income": [900, 1200]}), Secrets()).rows.height
    2
    """

    rows: pl.DataFrame
    secrets: Secrets
    facts: Mapping[str, Any] = field(default_factory=dict)
    units: Longs | None = None
    say: Callable[[str], None] = lambda note: None

    def seed(self, treatment: Treatment, *columns: str, hold: str | None = None) -> bytes:
        """The secret seed of what a treatment does to columns of exactly these rows, or of those that `hold` tells."""
        purpose = json.dumps(treatment.to_dict(), sort_keys=True, default=str)
        return self.secrets.seed(purpose, *columns, "\n", self._rows_hold if hold is None else hold)

    def places(self, values: Floats) -> tuple[Places, Longs]:
        """The places of all rows of the table with a value, and those of these rows; `facts` has both of a piece."""
        digests = self.facts.get("digests")
        digests = row_digests(self.rows) if digests is None else digests
        places = self.facts.get("places") or Places.of(values, digests)
        known, turns = ~np.isnan(values), self.facts.get("turns")
        return places, places.take(digests[known], None if turns is None else turns[known])

    @cached_property
    def _rows_hold(self) -> str:
        return fingerprint(self.rows[self._names][self.order]) if self.secrets.key is not None else ""

    @property
    def _names(self) -> list[str]:
        return [name for name, dtype in self.rows.schema.items() if not dtype.is_nested() and dtype != pl.Object]

    @cached_property
    def order(self) -> Longs:
        """The rows in an order that depends on what they hold, not on where they stand."""
        names = self._names
        if not names:
            return np.arange(self.rows.height)
        keys = [pl.col(name).cast(pl.String) if isinstance(self.rows[name].dtype, (pl.Categorical, pl.Enum))
                else pl.col(name) for name in names]  # fmt: skip
        ordered_rows = self.rows.select(pl.arg_sort_by(keys, maintain_order=True).alias("at"))
        return ordered_rows["at"].to_numpy().astype(np.int64)


@public("kanopy.extend")
@dataclass(frozen=True)
class Treatment(Declared):
    """A way to protect the values of a column that is no quasi-identifier; its fields are its parameters."""

    family: ClassVar[str] = "treatment"
    to_write: ClassVar[tuple[str, ...]] = ("name", "summary", "guarantees", "lacks", "treat")
    name: ClassVar[str] = ""
    summary: ClassVar[str] = ""
    """What it does, in one sentence for lists."""
    guarantees: ClassVar[str] = ""
    """What holds of every release with it."""
    lacks: ClassVar[str] = ""
    """What it does not promise, though one might think so."""
    source: ClassVar[str] = ""
    takes: ClassVar[str] = ANY
    secret: ClassVar[str] = NO_SECRET
    piecewise: ClassVar[bool] = False
    """Whether pieces of a table can be treated one by one."""
    by_place: ClassVar[bool] = False
    """Whether what is drawn for a row depends on its place in the whole table."""
    follows: ClassVar[bool] = False
    """Whether what it publishes is a function of what another column publishes: it is done after that column."""
    by_person: ClassVar[bool] = False
    """Whether it treats all rows of a person alike, whom its parameter `unit` names."""
    keyed: ClassVar[bool] = True
    """Whether a key repeats it: the same table, job and key give the same values."""
    for_identifiers: ClassVar[bool] = False
    """Whether what it publishes may take the place of an identifier."""
    reversible: ClassVar[bool] = False

    @property
    def random(self) -> bool:
        """Whether it draws random numbers, with these parameters."""
        return self.secret == SEED

    def with_k(self, k: int) -> Treatment:
        """The treatment in a job with a k; the same where it does not count people."""
        return self

    def writes(self, column: str) -> tuple[str, ...]:
        """The columns that it changes: the column, and those that it treats `together` with it."""
        return (column, *getattr(self, "together", ()))

    def reads(self, column: str) -> tuple[str, ...]:
        """The columns that it looks at besides: those whose strata it stays `within`."""
        return tuple(getattr(self, "within", ()))

    def measures(self, column: str) -> dict[str, pl.Expr]:
        """What it must know of the whole table before it treats a piece: expressions that give one value each."""
        return {}

    @property
    def looks_first(self) -> bool:
        """Whether it must know the whole table before it treats a row."""
        return self.by_place or bool(self.measures("x"))

    def shared(self, facts: Mapping[str, Any]) -> dict[str, float]:
        """The values that several people must share, by what each is called in messages, given the whole table."""
        return {}

    def too_few(self, column: str, what: str, value: float, people: int) -> str | None:
        """What is wrong if so few people share such a value; `None` if they suffice."""
        return None

    def treat(self, column: str, table: Table) -> dict[str, pl.Series]:
        """The treated values of the columns that it writes, row by row."""
        raise NotImplementedError

    def check(self, original: pl.DataFrame, published: pl.DataFrame) -> str | None:
        """What is wrong with a release, where the class is not one of Kanopy's own; `None` if nothing is."""
        return None

    def to_dict(self) -> dict[str, Any]:
        """The treatment as a job file holds it."""
        declared = parameters_of(type(self))
        given = {
            name: getattr(self, name)
            for name, declaration in declared.items()
            if getattr(self, name) != declaration.default
        }
        return {"method": self.name, **{name: plain(value) for name, value in given.items()}}


# ---- columns as numbers -------------------------------------------------------------------------------------


def numbers_of(column: pl.Series, method: str, *, what: str = "") -> Floats:
    """The values of a column as numbers, missing ones as NaN; texts that are no numbers are an error.

    >>> numbers_of(pl.Series("pay", ["1.5", None, "2"]), "noise").tolist()
    [1.5, nan, 2.0]
    """
    dtype = column.dtype
    if dtype.is_temporal() or dtype == pl.Boolean or dtype.is_nested():
        raise JobError(
            f"{method} needs numbers; {column.name!r} holds {_kind(dtype)}. Choose another treatment for it "
            "(`kanopy treatments`)."
        )
    if isinstance(dtype, (pl.Categorical, pl.Enum)):
        column = column.cast(pl.String)
    numbers = column.cast(pl.Float64, strict=False)
    lost = column.clear()
    if numbers.null_count() > column.null_count():
        is_blank = column.cast(pl.String).str.strip_chars() == ""
        lost = column.filter(numbers.is_null() & column.is_not_null() & ~is_blank)
    if len(lost):
        raise JobError(
            f"{method} needs numbers; {column.name!r} also holds {some(lost.unique().sort().to_list())}. Name texts "
            "that "
            "mean missing as missing tokens, or the decimal sign of the column."
        )
    values = numbers.fill_null(np.nan).to_numpy().astype(np.float64)
    if np.isinf(values).any():
        raise JobError(
            f"{column.name!r} holds infinite numbers ({int(np.isinf(values).sum()):,} rows). Remove them, or "
            "name them as missing tokens."
        )
    return values


def _kind(dtype: pl.DataType) -> str:
    if dtype.is_temporal():
        return "dates or times"
    return "truth values" if dtype == pl.Boolean else "lists"


def published_numbers(values: Floats, column: pl.Series, *, whole: bool = False) -> pl.Series:
    """Numbers in place of a column: missing ones as nulls; whole where they are to be, in the column's own type then.

    >>> published_numbers(np.array([1.0, np.nan]), pl.Series("n", [3, None]), whole=True).to_list()
    [1, None]
    """
    made = pl.Series(column.name, values, pl.Float64, nan_to_null=True)
    if not whole:
        return made
    rounded = made.round(0, mode="half_to_even")
    target = column.dtype if column.dtype.is_integer() else pl.Int64
    try:
        return rounded.cast(target)
    except pl.exceptions.InvalidOperationError:
        return rounded.cast(pl.Int64)


def whole_numbers(values: Floats) -> bool:
    """Whether all numbers are whole."""
    present = values[~np.isnan(values)]
    return bool(len(present)) and bool((present == np.floor(present)).all()) and float(np.abs(present).max()) < 2.0**53


def strata_of(rows: pl.DataFrame, within: Iterable[str]) -> tuple[Longs, list[str]]:
    """The stratum of each row, numbered in the order of their values, and what each is called in messages.

    >>> strata_of(pl.DataFrame({"r": ["b", "a", "b"]}), ["r"])
    (array([1, 0, 1]), ["r = 'a'", "r = 'b'"])
    """
    names = list(within)
    if not names:
        return np.zeros(rows.height, np.int64), [""]
    keys = rows.select([pl.col(name).cast(pl.String) for name in names])
    strata = keys.unique().sort(names, nulls_last=True).with_row_index("stratum")
    numbered = keys.join(strata, on=names, how="left", nulls_equal=True, maintain_order="left")["stratum"]
    called = [", ".join(f"{name} = {value!r}" for name, value in row.items()) for row in strata[names].to_dicts()]
    return numbered.to_numpy().astype(np.int64), called


def members_of(stratum: Longs, order: Longs) -> list[Longs]:
    """The rows of each stratum, in a given order."""
    sorted_rows = order[np.argsort(stratum[order], kind="stable")]
    counts = np.bincount(stratum)
    return np.split(sorted_rows, np.cumsum(counts)[:-1]) if len(counts) else []


def labels_of(distinct: pl.Series) -> list[str]:
    """Values as they are called, whatever type the column has: the same in every table.

    >>> labels_of(pl.Series([7, 8])) == labels_of(pl.Series(["7", "8"]))
    True
    """
    if distinct.dtype == pl.String or distinct.dtype.is_integer():
        return distinct.cast(pl.String).to_list()
    return [canonical_label(value) for value in distinct.to_list()]


def missing(column: pl.Series) -> Mask:
    """Which values are missing: null, NaN, the empty text."""
    is_missing = column.is_null()
    if column.dtype.is_float():
        is_missing = is_missing | column.is_nan().fill_null(True)
    if column.dtype == pl.String:
        is_missing = is_missing | (column.str.len_bytes() == 0).fill_null(True)
    return is_missing.to_numpy().astype(np.bool_)


def settled(value: float) -> float:
    """A sum or a mean to twelve digits: in another order of rows, it differs behind them.

    >>> settled(0.1 + 0.2)
    0.3
    """
    return float(f"{value:.12g}")
