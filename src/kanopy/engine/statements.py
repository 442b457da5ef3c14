"""The statements that count, publish and look again, in SQL that DuckDB, PostgreSQL, SQLite and Spark understand alike.

Everything is one `GROUP BY` and one join with a small table of fragments: per distinct row what it is published as.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from kanopy._errors import JobError, MissingDependency, near_miss
from kanopy._table.databases import quoted
from kanopy._table.guessing.identifying_values import COUNT as COUNTED
from kanopy._table.guessing.identifying_values import VALUE, distinct_values
from kanopy.engine.contract import ROWS, RecodePlan, Recount

COUNT = "kanopy_rows"
FRAGMENTS = "kanopy_fragments"
PAIRS = "kanopy_pairs"
GAP = "\x01"
"""A text that no value is: stands for a missing value where keys are compared."""
DIALECTS = ("duckdb", "postgres", "snowflake", "bigquery", "databricks")
"""Dialects that statements are handed out in."""


@dataclass(frozen=True)
class Dialect:
    """How a place differs: the sign around names, how keys that may be missing are compared, what text is called."""

    quote: str = '"'
    same: str = "{a} is not distinct from {b}"
    text: str = "varchar"
    order: str = ""
    """What the rows of a distinct row are numbered by."""
    shuffled: str = ""
    """What published rows are sorted by: a hash of the row `r`, with `{names}` for its columns and `{missing}` for
    which of them are missing; nothing where there is no such hash, and the columns themselves decide."""
    numbered: str = "row_number() over ()"
    """The place of a row in its table."""
    drawn: str = "hash({n})"
    """What rows with these places are drawn by: the same table gives the same rows again."""

    def name(self, name: str) -> str:
        """A name in its quotes."""
        return quoted(name) if self.quote == '"' else f"`{name.replace('`', '``')}`"


DUCKDB = Dialect(order=" order by rowid", shuffled="hash(r), hash('r', r)")
SQLITE = Dialect(
    same="{a} collate binary is {b}", text="text", order=" order by rowid", drawn="({n} * 2654435761) % 4294967291"
)
# Texts, so that the join can be by hash and types that the driver only knows as texts are the same.
POSTGRES = Dialect(
    same=f"coalesce(cast({{a}} as text), '{GAP}') = coalesce(cast({{b}} as text), '{GAP}')",
    text="text",
    order=" order by ctid",
    shuffled="hashtextextended(cast(r as text), 0), cast(r as text)",
    drawn="hashint8({n})",
)
SPARK = Dialect(
    quote="`",
    same="{a} <=> {b}",
    text="string",
    order=" order by kanopy_order",
    shuffled="xxhash64({names}, {missing}), xxhash64('r', {names}, {missing})",  # passes over what is missing
    numbered="monotonically_increasing_id()",
    drawn="xxhash64({n})",
)


@dataclass(frozen=True, eq=False)
class Statements:
    """What is asked of a place for one release: `source` is the table or query in brackets."""

    source: str
    plan: RecodePlan
    dialect: Dialect
    ordered: bool = True
    """Whether rows of the source can be told in their order: a table, not a query."""
    parted: bool | None = None
    """Whether the rows of a distinct row may fall into several fragments, where the fragments are not here to tell."""
    made: Mapping[str, str] = field(default_factory=dict)
    """Published columns that stand in other columns of the source, which were made of them."""
    plain: Mapping[str, str] = field(default_factory=dict)
    """The types of columns that must not keep their own."""

    @property
    def keys(self) -> list[str]:
        """The columns that decide."""
        return self.plan.keys.columns

    @property
    def in_fragments(self) -> bool:
        """Whether rows that are alike are published differently."""
        return not self.plan.undivided if self.parted is None else self.parted

    def fragments(self) -> pl.DataFrame:
        """The small table: original values k0, k1, … beside labels l0, l1, … and the rows of a fragment."""
        plan = self.plan
        begins = plan.first_fragments
        end = np.cumsum(plan.multiplicity)
        start = end - plan.multiplicity
        base = np.repeat(start[begins], np.diff(np.append(np.flatnonzero(begins), len(begins))))
        columns = [plan.keys[name].alias(f"k{index}") for index, name in enumerate(self.keys)]
        columns += [_plain(plan.labels[name]).alias(f"l{index}") for index, name in enumerate(plan.quasi)]
        suppressed = pl.Series("gone", plan.suppressed.astype(np.int32), pl.Int32)
        return pl.DataFrame(
            [*columns, suppressed, pl.Series("after", start - base, pl.Int64), pl.Series("upto", end - base, pl.Int64)]
        )

    def joined(self) -> str:
        """Every row of the source beside its fragment."""
        quote, same = self.dialect.name, self.dialect.same
        on = [same.format(a=f"t.{quote(name)}", b=f"p.k{index}") for index, name in enumerate(self.keys)]
        source = f"{self.source} t"
        if self.in_fragments:
            by = ", ".join(map(quote, self.keys))
            order = self.dialect.order if self.ordered else self.dialect.order and " order by 1"
            numbered = f"row_number() over (partition by {by}{order}) as kanopy_number"
            source = f"(select s.*, {numbered} from {self.source} s) t"
            on += ["t.kanopy_number > p.after", "t.kanopy_number <= p.upto"]
        left = " where p.gone = 0" if self.plan.drop else ""
        return f"from {source} join {FRAGMENTS} p on {' and '.join(on) or '1 = 1'}{left}"

    def published(self) -> str:
        """The published rows."""
        return f"select {', '.join(self.column(name) for name in self.plan.columns)} {self.joined()}"

    def shuffled(self) -> str:
        """The published rows in an order that depends on what they say, and not on the one they came in."""
        names = [self.dialect.name(name) for name in self.plan.columns]
        # SQLite has no hash, and keeps values of several types in a column: 1 and 1.0 are equal there.
        sort_columns = [f"{name} collate binary" for name in names] + [f"typeof({name})" for name in names]
        missing = ", ".join(f"isnull({name})" for name in names)
        by = (self.dialect.shuffled or ", ".join(sort_columns)).format(names=", ".join(names), missing=missing)
        return f"select * from ({self.published()}) r order by {by}"

    def column(self, name: str) -> str:
        """What a column is published as, under its name."""
        return f"{self.published_value(name)} as {self.dialect.name(name)}"

    def published_value(self, name: str) -> str:
        """What a column is published as."""
        plan, quote = self.plan, self.dialect.name
        expression = f"t.{quote(self.made.get(name, name))}"
        if name in self.plain:
            expression = f"cast({expression} as {self.plain[name]})"
        if name in plan.quasi:
            label = f"p.l{plan.quasi.index(name)}"
            # A column that is published as it was keeps its type; values that mean missing are missing.
            as_it_was = plan.publishes_as_it_was(name)
            expression = f"case when {label} is null then null else {expression} end" if as_it_was else label
        elif name in plan.withheld:
            expression = f"case when p.gone = 1 then null else {expression} end"
        return expression

    def sharing(self, name: str, value: float, unit: Sequence[str]) -> str:
        """How many people, or rows, share a published value of a column."""
        who = ", ".join(f"t.{self.dialect.name(each)}" for each in unit)
        what = f"count(distinct struct({who}))" if unit else "count(*)"
        also = "and" if self.plan.drop else "where"
        return f"select {what} as {COUNT} {self.joined()} {also} {self.published_value(name)} = {value!r}"

    def paired(self) -> str:
        """Original values beside labels, counted: no more rows than there are fragments."""
        columns = [f"t.{self.dialect.name(name)} as o{index}" for index, name in enumerate(self.keys)]
        columns += [f"p.l{index}" for index in range(len(self.plan.quasi))]
        return f"select {', '.join([*columns, f'count(*) as {COUNT}'])} {self.joined()}{_grouped(columns)}"

    def pairs_of(self, name: str) -> str:
        """Original values of a column beside their labels, counted."""
        label = f"p.l{self.plan.quasi.index(name)}"
        return (
            f"select t.{self.dialect.name(name)} as o, {label} as l, count(*) as {COUNT} {self.joined()} group by 1, 2"
        )

    def classes(self, release: str) -> str:
        """The published combinations, counted on the release itself."""
        return count_statement(release, self.plan.counted_columns, self.dialect)

    def seen(
        self, columns: Sequence[str], classes: pl.DataFrame, ask: Callable[[str], pl.DataFrame], pairs: str
    ) -> Recount:
        """What a place has published: its columns, its `classes`, and what it answers about the table of `pairs`.

        Pairs are added up there, column by column: what travels are values and labels, not rows.
        """
        plan = self.plan
        labels = {name: f"l{index}" for index, name in enumerate(plan.quasi)}
        values = {name: f"o{self.keys.index(name)}" for name in (*plan.quasi, *plan.unit)}

        def added(which: list[str], names: list[str]) -> pl.DataFrame:
            counts = ask(f"select {', '.join(which)}, sum({COUNT}) as {COUNT} from {pairs} group by {', '.join(which)}")
            counts.columns = [*names, ROWS]
            return counts.with_columns(counts[ROWS].cast(pl.Int64))

        classes.columns = [*plan.counted_columns, ROWS]
        units = None
        if plan.unit:
            unit_columns = [values[name] for name in plan.unit]
            units = added([*labels.values(), *unit_columns], [*labels, *(f"\1{name}" for name in plan.unit)])
        return Recount(
            tuple(columns),
            classes.with_columns(classes[ROWS].cast(pl.Int64)),
            {name: added([values[name], label], ["value", "label"]) for name, label in labels.items()},
            units,
        )


def count_statement(source: str, columns: Sequence[str], dialect: Dialect) -> str:
    """Distinct rows with how often each occurs."""
    collate = " collate binary" if dialect is SQLITE else ""
    names = [f"{dialect.name(name)}{collate} as {dialect.name(name)}" for name in columns]
    return f"select {', '.join([*names, f'count(*) as {COUNT}'])} from {source} s{_grouped(names)}"


def _grouped(columns: Sequence[str]) -> str:
    """The rows grouped by the first columns of a statement, where there are any."""
    return f" group by {', '.join(str(index + 1) for index in range(len(columns)))}" if columns else ""


def distinct(
    source: str,
    schema: pl.Schema,
    columns: Sequence[str],
    dialect: Dialect,
    most: int,
    ask: Callable[[str], pl.DataFrame],
) -> dict[str, pl.DataFrame | None]:
    """Per column its distinct values with how often each occurs, or `None` where there are more than `most`."""
    values_of_columns: dict[str, pl.DataFrame | None] = {}
    for name in columns:
        values = distinct_values(pl.Series([], dtype=schema[name]))
        if not schema[name].is_nested():  # lists and maps cannot be grouped everywhere, and are not looked through
            values = ask(f"select * from ({count_statement(source, [name], dialect)}) c limit {most + 1}")
            values.columns = [VALUE, COUNTED]
        values_of_columns[name] = None if values is None or values.height > most else values
    return values_of_columns


def sample_statement(source: str, columns: Sequence[str], dialect: Dialect, rows: int) -> str:
    """Some rows, each as likely as any other, and the same ones of the same table: a run repeats to the byte."""
    names, position_name = ", ".join(map(dialect.name, columns)), dialect.name("kanopy_place")
    numbered = f"select {names}, {dialect.numbered} as {position_name} from {source} s"
    return f"select {names} from ({numbered}) q order by {dialect.drawn.format(n=position_name)} limit {rows}"


def small_type(largest: int) -> str:
    """The smallest whole number that holds what is at most `largest`.

    >>> small_type(99), small_type(99_999)
    ('smallint', 'integer')
    """
    return "smallint" if largest < 1 << 15 else "integer" if largest < 1 << 31 else "bigint"


def _plain(column: pl.Series) -> pl.Series:
    return column.cast(pl.String) if isinstance(column.dtype, (pl.Enum, pl.Categorical)) else column


def check_statement(output: str, dialect: str) -> None:
    """Refuse a statement in a dialect that nobody writes, or in a file that looks like a table.

    >>> check_statement("release.csv", "duckdb")
    Traceback (most recent call last):
    kanopy.extend.JobError: Statements are written to a .sql file. Name it release.sql.
    """
    if dialect not in DIALECTS:
        raise JobError(f"Statements are not handed out for {dialect!r}. {near_miss(dialect, DIALECTS)}")
    if not output.endswith(".sql"):
        raise JobError(f"Statements are written to a .sql file. Name it {Path(output).stem}.sql.")


def emitted(plan: RecodePlan, table: str, release: str, dialect: str, *, shuffle: bool = True) -> str:
    """One statement that makes the release of a table, for a database that Kanopy does not reach; with `shuffle` its
    rows are sorted by what they publish.

    For internal use: it contains original values.
    """
    try:
        import sqlglot
    except ImportError:
        raise MissingDependency("Statements for other databases need sqlglot: pip install 'kanopy[sql]'.") from None
    statements = Statements(quoted(table), plan, DUCKDB, ordered=False)
    fragments = statements.fragments()
    rows = ",\n  ".join(f"({', '.join(map(_literal, row))})" for row in fragments.iter_rows())
    values = f"select * from (values\n  {rows}\n) as v({', '.join(fragments.columns)})"
    by = f" order by {', '.join(str(index + 1) for index in range(len(plan.columns)))}" if shuffle else ""
    text = f"create table {quoted(release)} as with {FRAGMENTS} as ({values}) {statements.published()}{by}"
    statement: str = sqlglot.transpile(text, read="duckdb", write=dialect, pretty=True)[0]
    return f"{statement};\n"


def _literal(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (int, float)):
        return repr(value)
    kind = {"date": "date ", "datetime": "timestamp ", "time": "time "}.get(type(value).__name__, "")
    return kind + "'" + str(value).replace("'", "''") + "'"
