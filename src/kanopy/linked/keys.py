"""Keys and links of several tables: which person every row is about, and which rows a row cannot be published without.

All faults of keys are errors that count rows and never show a value: null or repeated primary keys, orphan rows,
cycles, rows of two people, keys of different types.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from kanopy._arrays import Ints, Longs, Mask
from kanopy._errors import DataError, JobError, near_miss, some
from kanopy.linked.job import Link, LinkedJob

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True, eq=False)
class Parents:
    """Per row of a table its row in the parent table of a link, -1 where the foreign key is missing."""

    link: Link
    row: Longs


@dataclass(frozen=True, eq=False)
class Related:
    """Tables whose rows are known to be about somebody. `order` has parents before children; `people` is the table
    with one row per unit, `None` where the unit occurs in a table of events only."""

    order: tuple[str, ...]
    frames: Mapping[str, pl.DataFrame]
    people: str | None
    unit_of_row: Mapping[str, Ints]
    count: int
    parents: Mapping[str, tuple[Parents, ...]]
    unit_values: pl.Series
    """The value of the unit column per unit."""
    notes: tuple[str, ...] = field(default=())

    @property
    def rows(self) -> int:
        """Rows of all tables."""
        return sum(frame.height for frame in self.frames.values())

    def orphaned(self, is_suppressed: Mapping[str, Mask]) -> dict[str, Mask]:
        """Per table the rows that leave with these, because a row leaves that they refer to."""
        orphans: dict[str, Mask] = {}
        for name in self.order:
            own_orphans = is_suppressed[name].copy()
            for parent in self.parents[name]:
                own_orphans |= np.append(orphans[parent.link.parent.table], False)[parent.row]
            orphans[name] = own_orphans
        return orphans


def relate(job: LinkedJob, frames: Mapping[str, pl.DataFrame]) -> Related:
    """The tables of a job with the unit and the parents of every row.

    >>> import polars as pl
    >>> job = LinkedJob.from_dict({
    ...     "unit": "person.id", "k": 2, "tables": {"person": {"data": ""}, "visit": {"data": ""}},
    ...     "links": [{"from": "visit.id", "to": "person.id"}]})
    >>> tables = {"person": pl.DataFrame({"id": ["a", "b"]}), "visit": pl.DataFrame({"id": ["b", "b", "a"]})}
    >>> relate(job, tables).unit_of_row["visit"].tolist()
    [1, 1, 0]
    """
    _require_columns(job, frames)
    order = _ordered(job)
    notes: list[str] = []
    remaining: dict[str, pl.DataFrame] = {}
    unit_of_row: dict[str, Ints] = {}
    parents: dict[str, tuple[Parents, ...]] = {}
    people = _people_table(job, frames)
    values: pl.Series | None = None
    count = 0
    if people is not None:
        _require_primary(people, frames[people], job.unit.column)
        values, count = frames[people][job.unit.column], frames[people].height
    for name in order:
        frame = frames[name]
        for link in job.links:
            if link.parent.table == name:
                _require_primary(name, frame, link.parent.column)
        parent_links = [link for link in job.links if link.child.table == name]
        if name == people and parent_links:
            raise JobError(
                f"The table {name!r} has one row per person (unit = {job.unit}) and is a child of "
                f"{parent_links[0].parent.table!r}, in which a row is about several people. Only tables that lead to "
                "the unit can be published together; publish the other table separately."
            )
        rows = [Parents(link, _matched(link, frame, remaining[link.parent.table])) for link in parent_links]
        lost = np.zeros(frame.height, np.bool_)
        for parent_rows in rows:
            lost |= (parent_rows.row < 0) & frame[parent_rows.link.child.column].is_not_null().to_numpy()
        unit = np.arange(frame.height) if name == people else np.full(frame.height, -1)
        if name == job.unit.table and people is None:
            unit_values = frame[job.unit.column]
            numbers = unit_values.rank("dense").fill_null(0).to_numpy().astype(np.int64) - 1
            unit, values = numbers, unit_values.drop_nulls().unique().sort()
            count = len(values)
        unit = _units_through(name, rows, unit_of_row, unit)
        lost |= unit < 0
        if lost.any():
            notes.append(_about_orphans(job, name, lost, rows, frame, frames))
            there = np.flatnonzero(~lost)
            frame, unit = frame[there], unit[there]
            rows = [Parents(parent_rows.link, parent_rows.row[there]) for parent_rows in rows]
        remaining[name], unit_of_row[name], parents[name] = frame, unit.astype(np.int32), tuple(rows)
    assert values is not None
    if count < job.k:
        raise JobError(f"k is {job.k:,} but the tables are about only {count:,} people. Choose a smaller k.")
    return Related(tuple(order), remaining, people, unit_of_row, count, parents, values, tuple(notes))


def _require_columns(job: LinkedJob, frames: Mapping[str, pl.DataFrame]) -> None:
    named = [job.unit, *(end for link in job.links for end in (link.child, link.parent)),
             *(at for domain in job.domains for at in domain),
                 *(job.shift_dates.columns if job.shift_dates else ())]  # fmt: skip
    for at in dict.fromkeys(named):
        if at.column not in frames[at.table].columns:
            raise DataError(
                f"The table {at.table!r} has no column {at.column!r}. {near_miss(at.column, frames[at.table].columns)}"
            )


def _people_table(job: LinkedJob, frames: Mapping[str, pl.DataFrame]) -> str | None:
    """The table with one row per unit: that of the unit, unless people have several rows there."""
    name = job.unit.table
    key = frames[name][job.unit.column]
    linked = any(link.parent == job.unit for link in job.links)
    several = key.drop_nulls().n_unique() < len(key.drop_nulls())
    return name if linked or not several else None


def _ordered(job: LinkedJob) -> list[str]:
    """Tables with parents before children; raises where links form a cycle or a table does not lead to the unit."""
    left = {name: {link.parent.table for link in job.links if link.child.table == name} for name in job.tables}
    order: list[str] = []
    while left:
        ready = sorted((name for name in left if left[name] <= set(order)), key=list(job.tables).index)
        if not ready:
            raise JobError(
                f"The links form a cycle: {some(list(left))} refer to each other. Leave one of the links out."
            )
        order += ready
        for name in ready:
            del left[name]
    reached = {job.unit.table}
    for name in order:
        if any(link.child.table == name and link.parent.table in reached for link in job.links):
            reached.add(name)
    if strangers := [name for name in order if name not in reached]:
        raise JobError(
            f"Nothing links {some(strangers)} to the unit {job.unit}, so the persons of these rows are unknown. Add "
            "a link ([[links]] with from and to), or leave the table out."
        )
    return order


def _require_primary(table: str, frame: pl.DataFrame, column: str) -> None:
    """Refuse a primary key with missing or repeated values."""
    key = frame[column]
    blank = int((key == "").sum()) if str(key.dtype) == "String" else 0
    if nulls := key.null_count() + blank:
        raise DataError(
            f"{table}.{column} is the key of the table, and {nulls:,} of {frame.height:,} rows have no value. Give "
            "every row a key, or leave these rows out."
        )
    if again := frame.height - key.n_unique():
        raise DataError(
            f"{table}.{column} is the key of the table, and {again:,} of {frame.height:,} rows repeat the key of "
            "another. Remove the copies, or link to a column that is different in every row."
        )


def _matched(link: Link, child: pl.DataFrame, parent: pl.DataFrame) -> Longs:
    """The row of the parent for every row of the child; -1 for none."""
    import polars as pl

    ours, theirs = child[link.child.column], parent[link.parent.column]
    ours, theirs = _alike(link, ours, theirs)
    table = pl.DataFrame({"key": theirs, "row": np.arange(len(theirs), dtype=np.int64)})
    matched = pl.DataFrame({"key": ours}).join(table, on="key", how="left", maintain_order="left")["row"]
    return matched.fill_null(-1).to_numpy().astype(np.int64)


def _alike(link: Link, ours: pl.Series, theirs: pl.Series) -> tuple[pl.Series, pl.Series]:
    """Both ends of a link in one type; an error where they are of different kinds."""
    import polars as pl

    made = []
    for series in (ours, theirs):
        if isinstance(series.dtype, (pl.Categorical, pl.Enum)):
            series = series.cast(pl.String)
        elif series.dtype.is_integer() or (
            series.dtype.is_float() and (series.drop_nulls() == series.drop_nulls().round()).all()
        ):
            series = series.cast(pl.Int64)
        made.append(series)
    if not len(ours) or not len(theirs):
        return made[0].cast(pl.String), made[1].cast(pl.String)
    if made[0].dtype != made[1].dtype:
        raise DataError(
            f"{link.child} holds {ours.dtype} and {link.parent} holds {theirs.dtype}: keys of different types never "
            "match, or match by chance ('01' and 1). Store both with the same type."
        )
    return made[0], made[1]


def _units_through(name: str, rows: Sequence[Parents], unit_of_row: Mapping[str, Ints], unit: Any) -> Longs:
    """The unit of every row, by all links of the table; an error where two of them lead to different people."""
    units_found = np.asarray(unit, np.int64)
    for parent_rows in rows:
        theirs = np.append(unit_of_row[parent_rows.link.parent.table], -1)[parent_rows.row].astype(np.int64)
        both = (units_found >= 0) & (theirs >= 0)
        if wrong := int((units_found[both] != theirs[both]).sum()):
            other = (
                next(parent_rows_of_link.link for parent_rows_of_link in rows)
                if rows[0] is not parent_rows
                else parent_rows.link
            )
            raise DataError(
                f"{wrong:,} rows of {name!r} belong to two people: {other.child} leads to another person than "
                f"{parent_rows.link.child}. Correct the keys, or leave one of the links out."
            )
        units_found = np.where(units_found >= 0, units_found, theirs)
    return units_found


def _about_orphans(
    job: LinkedJob, name: str, lost: Mask, rows: Sequence[Parents], frame: pl.DataFrame, frames: Mapping[str, Any]
) -> str:
    count, ends = int(lost.sum()), [parent_rows.link for parent_rows in rows]
    through = f" ({', '.join(f'{link.child} → {link.parent}' for link in ends)})" if ends else f" ({job.unit})"
    who = f"{count:,} of {frame.height:,} rows of {name!r} belong to nobody{through}: their key is missing or unknown."
    if job.orphans == "drop":
        return f'{who} They are left out (orphans = "drop").'
    hint = ""
    for parent_rows in rows:
        child_keys = frame[parent_rows.link.child.column]
        if str(child_keys.dtype) == "String":
            stripped = child_keys.filter(np.asarray(lost)).str.strip_chars().str.strip_chars_start("0")
            theirs = frames[parent_rows.link.parent.table][parent_rows.link.parent.column]
            stripped_keys = theirs.cast(child_keys.dtype).str.strip_chars().str.strip_chars_start("0")
            if near := int(stripped.is_in(stripped_keys.implode()).sum()):
                hint = f" Without leading zeros and spaces {near:,} of them would match."
    raise DataError(f'{who}{hint} Correct the keys, add the missing rows, or leave such rows out (orphans = "drop").')
