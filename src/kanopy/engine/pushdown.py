"""Tables of which not even the distinct rows come here: they are counted, cut, labelled and looked at where they lie.

All of it is statements that Spark, DuckDB, PostgreSQL and SQLite understand alike. A distinct row is a number per
column (`c0`, `c1`, …) beside its values (`k0`, `k1`, …) and its multiplicity. What travels are the values of single
columns, sums, and cuts; only `solve` looks at distinct rows, part by part, wherever the place runs it.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np
import polars as pl

from kanopy._arrays import SUPPRESSED_LABEL, Ints, Longs
from kanopy.engine.contract import ROWS, TableEngine
from kanopy.engine.statements import COUNT, FRAGMENTS, Dialect, count_statement

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from kanopy.engine.connections import Connection
    from kanopy.engine.statements import Statements

DISTINCT_ROWS, GROUPS, MEANT = "kanopy_distinct_rows", "kanopy_groups", "kanopy_meant"
CELLS, NUMBERS, UNSAFE = "kanopy_cells", "kanopy_numbers", "kanopy_unsafe"
LARGEST_TABLE = 50_000_000
"""Counts of values by class that are looked at together at most."""
Solve = Callable[[pl.DataFrame], pl.DataFrame]
"""From the distinct rows of a part (`c0`, …, `n`) to its fragments: `distinct_row` (its place in the part), `l0`, …,
`gone`, `after`, `upto`, `lost`."""


class Place(Protocol):
    """Where statements are run."""

    dialect: Dialect

    def ask(self, query: str) -> pl.DataFrame:
        """The answer to a query."""

    def keep(self, name: str, query: str) -> None:
        """A table there that a query makes; one of that name is replaced, and may be read by the query."""

    def upload(self, name: str, frame: pl.DataFrame) -> None:
        """A small table that goes there."""

    def solve(self, name: str, query: str, solve: Solve, like: pl.DataFrame) -> None:
        """A table there of what `solve` makes of the rows of each `part`, beside their keys; `like` has its columns."""

    def forget(self, name: str | None = None) -> None:
        """Let go of a table that was kept there, or of all."""


class PushdownEngine(TableEngine, Protocol):
    """An engine that also works where not even the distinct rows come here."""

    @property
    def table(self) -> str:
        """How statements name its table."""

    @property
    def plain_types(self) -> Mapping[str, str]:
        """The types of columns that must not keep their own: enumerations list values that no row has."""

    @property
    def place(self) -> Place:
        """Where statements about the table are run."""

    def released(self, asked: Statements) -> AbstractContextManager[tuple[list[str], str]]:
        """The release that fragments in the place make: its columns, and its name there while the block looks at it."""


@dataclass(frozen=True, eq=False)
class Counts:
    """What is known of a candidate: its classes, rows in those that are too small, and these by attribute and code."""

    classes: int
    kept: int
    suppressed: int
    squares: int
    all_squares: int
    small: tuple[tuple[Longs, Longs], ...] = ()


class DistinctTable:
    """The distinct rows of a table, in its place. `quasi` are the columns that decide, `others` those that models name,
    whose numbers come after theirs."""

    def __init__(self, place: Place, source: str, quasi: Sequence[str], others: Sequence[str] = ()) -> None:
        self.place, self.source, self.quasi = place, source, list(quasi)
        self.columns = [*quasi, *others]
        self._axes, self._all = range(len(self.quasi)), range(len(self.columns))

    def values(self, name: str, most: int) -> pl.DataFrame:
        """The distinct values of a column with how often each occurs; one more than `most` at most."""
        counted = count_statement(self.source, [name], self.place.dialect)
        counted_values = self.place.ask(f"select * from ({counted}) v limit {most + 1}")
        counted_values.columns = [name, ROWS]
        return counted_values.with_columns(counted_values[ROWS].cast(pl.Int64)).sort(name, nulls_last=True)

    def encode(self, columns: Sequence[tuple[pl.Series, Ints]]) -> None:
        """Keep the distinct rows, given the number of every value of every column."""
        backend, quote = self.place, self.place.dialect.name
        for j, (values, numbers) in enumerate(columns):
            backend.upload(f"kanopy_codes{j}", pl.DataFrame([values.alias("k"), pl.Series("c", numbers, pl.Int32)]))
        counted = count_statement(self.source, self.columns, backend.dialect)
        names = "".join(f"t.{quote(name)} as k{j}, z{j}.c as c{j}, " for j, name in enumerate(self.columns))
        joins = " ".join(
            f"join kanopy_codes{j} z{j} on {backend.dialect.same.format(a=f't.{quote(name)}', b=f'z{j}.k')}"
            for j, name in enumerate(self.columns)
        )
        number = "cast(1 as bigint) as part"
        backend.keep(DISTINCT_ROWS, f"select {names}t.{COUNT} as n, {number} from ({counted}) t {joins}")

    # ---- a candidate of a search over levels ----------------------------------------------------------------------

    def levels(self, tables: Sequence[Sequence[Ints]]) -> None:
        """Bring along, per column and level, the code of every value at that level."""
        for j, levels in enumerate(tables):
            codes = [pl.Series(f"a{level}", codes_of_level, pl.Int32) for level, codes_of_level in enumerate(levels)]
            self.place.upload(f"kanopy_levels{j}", pl.DataFrame([pl.Series("c", np.arange(len(levels[0]))), *codes]))

    @property
    def _lifted(self) -> str:
        """The distinct rows beside their codes at every level."""
        return f"{DISTINCT_ROWS} t " + " ".join(f"join kanopy_levels{j} z{j} on z{j}.c = t.c{j}" for j in self._axes)

    def group(self, levels: Sequence[int]) -> None:
        """Keep the classes of a candidate."""
        by = ", ".join(f"z{j}.a{level}" for j, level in enumerate(levels))
        named = ", ".join(f"z{j}.a{level} as g{j}" for j, level in enumerate(levels))
        self.place.keep(GROUPS, f"select {named}, cast(sum(t.n) as bigint) as n from {self._lifted} group by {by}")

    def cells(self, levels: Sequence[int], k: int, other: int, width: int, most: int) -> Iterator[pl.DataFrame]:
        """The classes of the candidate that was grouped last, those of `k` rows or more: how many rows (`n`) of a class
        (`g0`, …) have each of the `width` numbers (`s`) of another column. At most about `most` lines come at once; the
        lines of a class come together."""
        backend = self.place
        named = ", ".join(f"w.g{j}" for j in self._axes)
        same = " and ".join(f"w.g{j} = z{j}.a{level}" for j, level in enumerate(levels))
        backend.keep(
            CELLS,
            f"select {named}, t.c{other} as s, cast(sum(t.n) as bigint) as n from {self._lifted} join {GROUPS} w "
            f"on {same} where w.n >= {k} group by {named}, t.c{other}",
        )
        classes = int(backend.ask(f"select count(*) as n from {GROUPS} where n >= {k}")["n"][0])
        lines = int(backend.ask(f"select count(*) as n from {CELLS}")["n"][0])
        parts = max(1, math.ceil(lines / most), math.ceil(classes * width / LARGEST_TABLE))
        mixed = " + ".join(f"cast(g{j} as bigint) * {1_000_003**j % 2_147_483_647}" for j in self._axes)
        for index in range(parts):
            yield backend.ask(f"select * from {CELLS}" + (f" where ({mixed}) % {parts} = {index}" if parts > 1 else ""))

    def count(self, levels: Sequence[int], k: int, most_suppressed: int) -> Counts:
        """Count the classes of a candidate there; what is too small comes by attribute, if it may be suppressed."""
        backend = self.place
        self.group(levels)
        small = f"case when n < {k} then %s else 0 end"
        sums = ["1", "n", "n * n"]
        parts = ", ".join(f"sum(cast({small % divisor} as bigint)) as s{i}" for i, divisor in enumerate(sums))
        totals = backend.ask(f"select count(*) as every, sum(n * n) as squares, {parts} from {GROUPS}")
        every, squares, few, suppressed_rows, few_squares = (int(value or 0) for value in totals.row(0))
        by_attribute: list[tuple[Longs, Longs]] = []
        if suppressed_rows and suppressed_rows <= most_suppressed:
            arms = (
                f"select {j} as j, g{j} as g, sum(n) as n from {GROUPS} where n < {k} group by g{j}" for j in self._axes
            )
            sums_of = backend.ask(" union all ".join(arms))
            for j in self._axes:
                sums_of_attribute = sums_of.filter(sums_of["j"] == j)
                by_attribute.append(
                    (sums_of_attribute["g"].cast(pl.Int64).to_numpy(), sums_of_attribute["n"].cast(pl.Int64).to_numpy())
                )
        return Counts(every, every - few, suppressed_rows, squares - few_squares, squares, tuple(by_attribute))

    def label_levels(
        self, levels: Sequence[int], labels: Sequence[pl.Series], k: int, unsafe: pl.DataFrame | None = None
    ) -> None:
        """Make the fragments of a candidate: `labels` per column and code of its level; `unsafe` classes are suppressed
        whatever their size."""
        for j, labels_of_column in enumerate(labels):
            self.place.upload(
                f"kanopy_labels{j}",
                pl.DataFrame([pl.Series("g", np.arange(len(labels_of_column))), labels_of_column.alias("l")]),
            )
        self.group(levels)
        if unsafe is not None and unsafe.height:
            codes = [f"g{j}" for j in self._axes]
            self.place.upload(UNSAFE, unsafe[codes])
            same = " and ".join(f"u.{code} = w.{code}" for code in codes)
            named = ", ".join(f"w.{code}" for code in codes)
            size = "case when u.g0 is null then w.n else 0 end as n"
            self.place.keep(GROUPS, f"select {named}, {size} from {GROUPS} w left join {UNSAFE} u on {same}")
        keys = ", ".join(f"t.k{j}" for j in self._all)
        shown_labels = ", ".join(
            f"case when g.n < {k} then '{SUPPRESSED_LABEL}' else y{j}.l end as l{j}" for j in self._axes
        )
        joins = f" join {GROUPS} g on " + " and ".join(f"g.g{j} = z{j}.a{level}" for j, level in enumerate(levels))
        joins += "".join(f" join kanopy_labels{j} y{j} on y{j}.g = g.g{j}" for j in self._axes)
        is_suppressed = f"case when g.n < {k} then 1 else 0 end as gone"
        self.place.keep(
            FRAGMENTS,
            f"select {keys}, {shown_labels}, {is_suppressed}, cast(0 as bigint) as after, cast(t.n as bigint) as "
            f"upto, 0.0 as lost "
            f"from {self._lifted}{joins}",
        )

    # ---- parts ----------------------------------------------------------------------------------------------------

    def large_parts(self, most: int) -> dict[int, list[tuple[Ints, Longs]]]:
        """The parts with more than `most` distinct rows: per column, how many rows have each number, in its order."""
        large = f"select part from {DISTINCT_ROWS} group by part having count(*) > {most}"
        arms = (
            f"select t.part as part, {j} as j, t.c{j} as c, sum(t.n) as n from {DISTINCT_ROWS} t join ({large}) w "
            f"on w.part = t.part group by t.part, t.c{j}"
            for j in self._axes
        )
        counts = self.place.ask(" union all ".join(arms)).sort("part", "j", "c")
        parts: dict[int, list[tuple[Ints, Longs]]] = {}
        for (part_key, _), counts_of_part in counts.group_by("part", "j", maintain_order=True):
            pair = counts_of_part["c"].cast(pl.Int32).to_numpy(), counts_of_part["n"].cast(pl.Int64).to_numpy()
            parts.setdefault(int(str(part_key)), []).append(pair)
        return parts

    def beside(self, fragment_number: int, axis: int, other: int) -> pl.DataFrame:
        """Of a part, how many rows have each number of a column (`c`) and each of another (`s`)."""
        return self.place.ask(
            f"select c{axis} as c, c{other} as s, cast(sum(n) as bigint) as n from {DISTINCT_ROWS} where part = "
            f"{fragment_number} "
            f"group by c{axis}, c{other}"
        )

    def cut(self, cuts: Sequence[tuple[int, int, int]]) -> None:
        """Cut parts in two: of a part, along a column, what lies above a number becomes a part of its own."""
        table = pl.DataFrame(list(cuts), schema={"part": pl.Int64, "axis": pl.Int32, "place": pl.Int32}, orient="row")
        self.place.upload("kanopy_cuts", table)
        along = "case x.axis " + " ".join(f"when {j} then t.c{j}" for j in self._axes) + " end"
        number = (
            f"case when x.part is null then t.part else 2 * t.part + case when {along} > x.place then 1 else 0 end end"
        )
        tuple_columns = ", ".join(f"t.k{j}, t.c{j}" for j in self._all)
        self.place.keep(
            DISTINCT_ROWS,
            f"select {tuple_columns}, t.n, {number} as part from {DISTINCT_ROWS} t left join kanopy_cuts x on x.part "
            f"= t.part",
        )

    def solve(self, solve: Solve) -> None:
        """Make the fragments of all parts, each by itself."""
        tuple_columns = ", ".join(f"k{j}, c{j}" for j in self._all)
        keys = self.place.ask(f"select {tuple_columns} from {DISTINCT_ROWS} limit 0")
        like = [keys[f"k{j}"] for j in self._all] + [pl.Series(f"l{j}", [], pl.String) for j in self._axes]
        like += [pl.Series("gone", [], pl.Int32), pl.Series("after", [], pl.Int64), pl.Series("upto", [], pl.Int64)]
        frame = pl.DataFrame([*like, pl.Series("lost", [], pl.Float64)])
        self.place.solve(FRAGMENTS, f"select part, {tuple_columns}, n from {DISTINCT_ROWS}", solve, frame)

    # ---- looking again --------------------------------------------------------------------------------------------

    def meant(self, drop: bool) -> tuple[int, int, float]:
        """Rows of all fragments, those that are suppressed, and what is lost; keeps what classes are meant, too."""
        meant_counts = self.place.ask(
            f"select sum(upto - after) as n, sum((upto - after) * gone) as gone, sum((upto - after) * lost) as lost "
            f"from {FRAGMENTS}"
        )
        by = ", ".join(f"l{j}" for j in self._axes)
        left = " where gone = 0" if drop else ""
        self.place.keep(MEANT, f"select {by}, sum(upto - after) as n from {FRAGMENTS}{left} group by {by}")
        rows, suppressed_rows, lost = meant_counts.row(0)
        return int(rows), int(suppressed_rows), float(lost or 0.0)

    def gone(self, other: int) -> pl.DataFrame:
        """Of the rows that are suppressed, how many (`n`) have each value (`k`, its number `c`) of another column."""
        same = self.place.dialect.same.format(a=f"p.k{other}", b="z.k")
        return self.place.ask(
            f"select z.k as k, z.c as c, cast(sum(p.upto - p.after) as bigint) as n from {FRAGMENTS} p "
            f"join kanopy_codes{other} z on {same} where p.gone = 1 group by z.k, z.c"
        )

    def published_cells(
        self, asked: Statements, release: str, name: str, most: int, *, stars: bool
    ) -> Iterator[pl.DataFrame]:
        """What is published of classes beside a column that a model names: labels (`g0`, …), the value (`s`) and how
        many rows (`n`), on the release itself if the column is in it. Suppressed rows are left out; rows that show only
        `*` are a class like any other with `stars`. The lines of a class come together, about `most` at once."""
        backend, quote = self.place, self.place.dialect.name
        codes = [f"g{j}" for j in self._axes]
        if name in asked.plan.columns:
            named = ", ".join(f"{quote(column_name)} as g{j}" for j, column_name in enumerate(self.quasi))
            rows, left = (
                f"select {named}, {quote(name)} as s from {release} r",
                "1 = 1" if stars else f"not ({self._star})",
            )
        else:
            named = ", ".join(f"p.l{j} as g{j}" for j in self._axes)
            rows, left = f"select {named}, t.{quote(name)} as s, p.gone as gone {asked.joined()}", "gone = 0"
        by = ", ".join([*codes, "s"])
        backend.keep(CELLS, f"select {by}, count(*) as n from ({rows}) x where {left} group by {by}")
        lines = int(backend.ask(f"select count(*) as n from {CELLS}")["n"][0])
        parts = max(1, math.ceil(lines / most))
        if parts == 1:
            yield backend.ask(f"select * from {CELLS}")
            return
        by = ", ".join(codes)
        number = f"row_number() over (order by {by}) as id"
        backend.keep(NUMBERS, f"select {by}, {number} from (select distinct {by} from {CELLS}) x")
        same = " and ".join(backend.dialect.same.format(a=f"c.{code}", b=f"i.{code}") for code in codes)
        for index in range(parts):
            yield backend.ask(f"select c.* from {CELLS} c join {NUMBERS} i on {same} where i.id % {parts} = {index}")

    @property
    def _star(self) -> str:
        text = self.place.dialect.text
        return " and ".join(f"coalesce(cast(g{j} as {text}), '') = '{SUPPRESSED_LABEL}'" for j in self._axes)

    def stars(self, other: int) -> pl.DataFrame:
        """Of the rows that are published as `*` everywhere, suppressed (`gone`) or not, how many (`n`) have each value
        (`s`) of another column."""
        star = " and ".join(f"coalesce(l{j}, '') = '{SUPPRESSED_LABEL}'" for j in self._axes)
        return self.place.ask(
            f"select k{other} as s, gone, cast(sum(upto - after) as bigint) as n from {FRAGMENTS} where {star} "
            f"group by k{other}, gone"
        )

    def classes(self, release: str, as_they_are: Sequence[str]) -> tuple[int, int, int, int, int]:
        """Of a release: rows, rows with `*` everywhere, other classes, the smallest of these, and their sizes squared.

        Also compares its classes with those that were meant, but for columns that are published unchanged; what
        differs is told by -1 rows.
        """
        backend, quote = self.place, self.place.dialect.name
        names = [quote(name) for name in self.quasi]
        counted = (
            f"select {', '.join(f'{name} as g{j}' for j, name in enumerate(names))}, count(*) as n from {release} s"
        )
        backend.keep(GROUPS, f"{counted} group by {', '.join(names)}")
        changed = [j for j, name in enumerate(self.quasi) if name not in as_they_are]
        star = self._star
        totals = backend.ask(
            f"select sum(n) as n, sum(case when {star} then n else 0 end) as gone, "
            f"sum(case when {star} then 0 else 1 end) as classes, min(case when {star} then null else n end) as least, "
            f"sum(case when {star} then 0 else n * n end) as squares from {GROUPS}"
        )
        rows, suppressed_rows, classes, least, squares = (int(value or 0) for value in totals.row(0))
        if changed:
            seen, meant = (
                f"select {by}, cast(sum(n) as bigint) as n from {table} group by {by}"
                for table, by in ((GROUPS, ", ".join(f"g{j}" for j in changed)),
                                  (MEANT, ", ".join(f"l{j}" for j in changed)))
            )  # fmt: skip
            for one, other in ((seen, meant), (meant, seen)):
                differ = f"select * from ({one}) a except select * from ({other}) b"
                if int(backend.ask(f"select count(*) as n from ({differ}) d")["n"][0]):
                    return -1, suppressed_rows, classes, least, squares
        return rows, suppressed_rows, classes, least, squares


class DatabasePlace:
    """Statements about tables whose distinct rows stay in a database, in temporary tables there."""

    def __init__(self, connection: Connection, ask: Callable[[str], pl.DataFrame]) -> None:
        self._own, self.ask, self.dialect = connection, ask, connection.dialect
        self._kept: set[str] = set()

    def keep(self, name: str, query: str) -> None:
        """What a query says as a table."""
        self._own.run(f"create temp table {name}_new as {query}")
        self._replace(name)

    def _replace(self, name: str) -> None:
        self._own.run(f"drop table if exists {name}")
        self._own.run(f"alter table {name}_new rename to {name}")
        self._kept.add(name)

    def upload(self, name: str, frame: pl.DataFrame) -> None:
        """A small table."""
        self._own.upload(name, frame)
        self._kept.add(name)

    def solve(self, name: str, query: str, solve: Solve, like: pl.DataFrame) -> None:
        """Parts come here one after another."""
        keys = [column for column in like.columns if column[0] == "k"]
        self.upload(f"{name}_new", like)
        for (part_number,) in self.ask(f"select distinct part from ({query}) q order by 1").iter_rows():
            distinct_rows = self.ask(f"select * from ({query}) q where part = {part_number}")
            fragments = solve(distinct_rows)
            fragment_rows = distinct_rows[keys][fragments["distinct_row"]]
            self._own.upload("kanopy_part", fragment_rows.hstack(fragments[like.columns[len(keys) :]]))
            self._own.run(f"insert into {name}_new select * from kanopy_part")
        self._replace(name)

    def forget(self, name: str | None = None) -> None:
        """Let go of what is kept."""
        for kept_table in self._kept if name is None else {name}:
            with contextlib.suppress(*self._own.errors):
                self._own.run(f"drop table if exists {kept_table}")
        self._kept -= {name} if name else set(self._kept)
