"""The three tables of an attack, read alike: the original, its release, and a control group of other people.

Values of the original and of the control group are numbered together, so that a label covers the same values in both.
Labels are read by `metrics.utility.published_values` (intervals, groups, prefixes, ancestors in a hierarchy, suppressed
cells) and, where that does not know them, by the second reader that verification uses (decades, quarters, weeks). What
neither can read covers nobody; it is counted and named.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from kanopy._arrays import SUPPRESSED_LABEL, Ints, Longs
from kanopy._errors import DataError, near_miss, some
from kanopy._mixins import DictMixin
from kanopy.metrics.utility.published_values import ColumnDomain, Covers, understand

if TYPE_CHECKING:
    import polars as pl

    from kanopy.hierarchy.hierarchy import Hierarchy

MOST_READINGS = 5_000_000
"""Pairs of a label and a value that the second reader looks at per column."""
LARGEST_OVERLAP = 0.1
"""The share of a control group that may be in the original beyond what chance explains."""


@dataclass(frozen=True)
class Unreadable(DictMixin):
    """Labels of a released column that cannot be read: how many there are, how many rows publish one, and examples."""

    column: str
    labels: int
    rows: int
    examples: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class People:
    """Rows whose values an attacker may know: value codes per column, and the unit of each row."""

    values: dict[str, Ints]
    unit_of: Longs

    @cached_property
    def count(self) -> int:
        """How many people there are."""
        return int(self.unit_of.max(initial=-1)) + 1

    @property
    def rows(self) -> int:
        """How many rows they have."""
        return len(self.unit_of)

    def targets(self, most: int, random: np.random.Generator) -> Longs:
        """A row each of up to `most` people, drawn at random: first the people, then one of their rows."""
        mixed = random.permutation(self.rows)
        _, first = np.unique(self.unit_of[mixed], return_index=True)
        rows = mixed[first]
        return np.asarray(rows if len(rows) <= most else random.choice(rows, most, replace=False), np.int64)

    @cached_property
    def _by_value(self) -> dict[str, tuple[Longs, Longs]]:
        return {}

    def rows_with(self, name: str, values: Ints, size: int) -> Longs:
        """The rows that have one of some values in a column."""
        if name not in self._by_value:
            codes = self.values[name]
            starts = np.concatenate([[0], np.cumsum(np.bincount(codes, minlength=size))])
            self._by_value[name] = np.argsort(codes, kind="stable"), starts
        order, starts = self._by_value[name]
        if not len(values):
            return order[:0]
        first, last = int(values[0]), int(values[-1])
        if last - first + 1 == len(values):
            return order[starts[first] : starts[last + 1]]
        return np.concatenate([order[starts[value] : starts[value + 1]] for value in values.tolist()])


@dataclass(frozen=True, eq=False)
class AttackTables:
    """The tables of an attack as codes. `quasi` are the generalized columns that an attacker may know, `sensitive` what
    he wants to learn, `untouched` what is published as it is."""

    quasi: tuple[str, ...]
    sensitive: tuple[str, ...]
    untouched: tuple[str, ...]
    labels: dict[str, Ints]
    covers: dict[str, Covers]
    released_rows: int
    people: People
    control: People | None
    unreadable: tuple[Unreadable, ...] = ()
    notes: tuple[str, ...] = ()
    called: str = "people"

    @property
    def columns(self) -> tuple[str, ...]:
        """All columns of the release that can be read."""
        return (*self.quasi, *self.sensitive, *self.untouched)

    @cached_property
    def says(self) -> dict[str, Any]:
        """Per column which labels say something: they cover some value, and not all of them."""
        return {
            name: (cover.sizes > 0) & (cover.sizes < max(cover.domain.size, 2)) for name, cover in self.covers.items()
        }

    def matched_rows(self, people: People, predicate: Mapping[str, int]) -> Longs:
        """The rows of some people that a predicate, a label per column, covers; most selective column first."""
        sizes = [(int(self.covers[name].sizes[label]), name) for name, label in predicate.items()]
        rows: Longs | None = None
        for _, name in sorted(sizes):
            covers = self.covers[name]
            inside = covers.values_of(predicate[name])
            if rows is None:
                rows = people.rows_with(name, inside, covers.domain.size)
                continue
            if len(inside) == covers.domain.size:
                continue
            codes = people.values[name][rows]
            if len(inside) and inside[-1] - inside[0] + 1 == len(inside):
                rows = rows[(codes >= inside[0]) & (codes <= inside[-1])]
            else:
                rows = rows[np.isin(codes, inside)] if len(rows) < len(inside) else rows[_among(inside, covers)[codes]]
            if not len(rows):
                break
        return np.arange(people.rows) if rows is None else rows

    def matches(self, people: People, predicate: Mapping[str, int]) -> int:
        """How many people have a row that a predicate covers."""
        units = people.unit_of[self.matched_rows(people, predicate)]
        if len(units) < 2:
            return len(units)
        return len(np.unique(units))


def _among(inside: Ints, covers: Covers) -> Any:
    is_inside = np.zeros(covers.domain.size, np.bool_)
    is_inside[inside] = True
    return is_inside


def read_tables(
    original: pl.DataFrame,
    released: pl.DataFrame,
    control: pl.DataFrame | None = None,
    *,
    quasi: Sequence[str] = (),
    sensitive: Sequence[str] = (),
    unit: Sequence[str] = (),
    hierarchies: Mapping[str, Hierarchy] | None = None,
) -> AttackTables:
    """Read the tables of an attack, or say what is wrong with them before any work.

    Without `quasi`, the columns with a label that is no value of the original are taken.

    >>> import polars as pl
    >>> before = pl.DataFrame({"age": [31, 34, 52], "ill": ["flu", "flu", "cold"]})
    >>> after = pl.DataFrame({"age": ["[30, 39]", "[30, 39]", "*"], "ill": ["flu", "flu", "cold"]})
    >>> found = read_tables(before, after, sensitive=["ill"])
    >>> found.quasi, found.matches(found.people, {"age": 1, "ill": 1})
    (('age',), 2)
    """
    from kanopy._table.column import column_values
    from kanopy._table.grouping import units_of
    from kanopy._table.roles import called
    from kanopy.study.table_matching import column_domain

    strangers = [name for name in released.columns if name not in original.columns]
    shared = [name for name in released.columns if name in original.columns]
    if not shared:
        raise DataError(
            f"The release has no column of the original (it has {some(strangers)}). Give the original of this release."
        )
    for name in (*quasi, *sensitive, *unit):
        if name not in original.columns:
            raise DataError(f"The original has no column {name!r}. {near_miss(name, original.columns)}")
    for what, frame in (("original", original), ("release", released), ("control group", control)):
        if frame is not None and not frame.height:
            raise DataError(f"The {what} has no rows. Give one that has.")
    known_columns = [name for name in shared if name not in unit]
    if control is not None:
        if missing := [name for name in (*known_columns, *unit) if name not in control.columns]:
            raise DataError(
                f"The control group has no column {some(missing)}. It must have the same columns as the original."
            )
        _require_others(original, control, known_columns, unit)
    notes = []
    if strangers:
        notes.append(f"Columns of the release that are not in the original are ignored: {some(strangers)}.")
    labels: dict[str, Ints] = {}
    covers: dict[str, Covers] = {}
    values: dict[str, Ints] = {}
    unreadable = []
    for name in known_columns:
        domain, codes = column_domain(_both(original, control, name))
        texts, of_row = column_values(released[name]).sorted_as_text()
        strange: list[str] = []
        column_covers = understand(
            texts,
            domain,
            (hierarchies or {}).get(name),
            unreadable=strange,
            null_is_missing=_kept_gaps(domain, texts, of_row),
        )
        if strange:
            column_covers = _read_again(column_covers)
        left = [index for index, kind in enumerate(column_covers.kinds) if kind == "unknown"]
        if left:
            rows = int(np.isin(of_row, left).sum())
            examples = tuple(str(column_covers.labels[index]) for index in left[:5])
            unreadable.append(Unreadable(name, len(left), rows, examples))
            if len(left) == len(texts):
                notes.append(
                    f"No label of {name!r} can be read, such as {examples[0]!r}: the column is left out. Give its "
                    "hierarchy (--hierarchies, or a job)."
                )
                continue
        labels[name], covers[name], values[name] = of_row, column_covers, codes
    if not covers:
        raise DataError(
            f"No column of the release can be read: {some(known_columns)}. Give the hierarchies whose "
            "labels it uses (--hierarchies, or a job)."
        )
    changed = tuple(name for name in (quasi or covers) if name in covers and (quasi or _changed(covers[name])))
    wanted = tuple(name for name in sensitive if name in covers and name not in changed)
    rest = tuple(name for name in covers if name not in (*changed, *wanted))
    if not changed and not wanted:
        changed, rest = rest, ()  # nothing was generalized: everything may be known
        notes.append("No column of the release is generalized: every column is treated as known to the attacker.")
    units = units_of(original, unit)[0] if unit else np.arange(original.height)
    others = None
    if control is not None:
        apart = units_of(control, unit)[0] if unit else np.arange(control.height)
        others = People({name: codes[original.height :] for name, codes in values.items()}, apart.astype(np.int64))
    people = People({name: codes[: original.height] for name, codes in values.items()}, units.astype(np.int64))
    return AttackTables(
        changed, wanted, rest, labels, covers, released.height, people, others, tuple(unreadable), tuple(notes),
        called(tuple(unit)) if unit else "people",
    )  # fmt: skip


def _kept_gaps(domain: ColumnDomain, texts: Sequence[str | None], of_row: Ints) -> bool:
    """Whether empty cells of a released column are missing values, not suppressed ones: `*` says what is suppressed
    there, or the release has no larger share of them than the original and the control group."""
    if not domain.missing or None not in texts:
        return False
    gaps = int((of_row == texts.index(None)).sum())
    return SUPPRESSED_LABEL in texts or gaps * int(domain.counts.sum()) <= int(domain.counts[-1]) * len(of_row)


def _both(original: pl.DataFrame, control: pl.DataFrame | None, name: str) -> pl.Series:
    """A column of the original and of the control group, one below the other."""
    import polars as pl

    one = original[name]
    if control is None:
        return one
    other = control[name]
    try:
        frames = [one.to_frame("value"), other.to_frame("value")]
        return pl.concat(frames, how="vertical_relaxed")["value"].alias(name)
    except (pl.exceptions.PolarsError, TypeError):
        raise DataError(
            f"{name!r} holds {other.dtype} in the control group and {one.dtype} in the original. Give both the same "
            "types."
        ) from None


def _changed(covers: Covers) -> bool:
    """Whether a column has a label that is no value of the original."""
    return any(kind not in ("value", "missing") for kind in covers.kinds)


def _read_again(covers: Covers) -> Covers:
    """Labels that the first reader does not know, read by the one that verification uses."""
    from kanopy.verify.labels import values_under

    values = covers.domain.labels[: covers.domain.present]
    places = [index for index, kind in enumerate(covers.kinds) if kind == "unknown"]
    start, stop, kinds, breadth = covers.start.copy(), covers.stop.copy(), list(covers.kinds), covers.breadth.copy()
    more: list[Ints] = []
    used = len(covers.members)
    for index in places[: max(1, MOST_READINGS // max(len(values), 1))]:
        covered = values_under(str(covers.labels[index]), values)
        if not covered:
            continue
        more.append(np.array(covered, np.int32))
        start[index], stop[index], kinds[index] = used, used + len(covered), "interval"
        breadth[index] = len(covered)
        used += len(covered)
    return replace(
        covers, members=np.concatenate([covers.members, *more]).astype(np.int32), start=start, stop=stop,
        kinds=tuple(kinds), breadth=breadth,
    )  # fmt: skip


def _require_others(original: pl.DataFrame, control: pl.DataFrame, names: Sequence[str], unit: Sequence[str]) -> None:
    """Refuse a control group of people who are in the original."""
    import polars as pl

    keys = list(unit or names)
    for name in keys:
        _both(original, control, name)  # refuses what cannot be compared
    one, other = (frame.select(pl.col(keys).cast(pl.String, strict=False)) for frame in (original, control))
    if unit:
        one, other = one.unique(), other.unique()
    both = other.join(one.unique(), on=keys, how="semi", nulls_equal=True).height
    if unit and both:
        raise DataError(
            f"{both:,} of the {other.height:,} people of the control group are also in the original ({some(unit)}). "
            "Leave them out: a control group consists of other people."
        )
    # Equal rows may be of different people; how often that happens, the rows of the original tell.
    counted = one.group_by(keys).len()["len"]
    alike = float(counted.filter(counted > 1).sum()) / one.height
    chance = alike + LARGEST_OVERLAP
    if not unit and both / other.height > chance + 3.0 * (chance * max(1 - chance, 0) / other.height) ** 0.5:
        raise DataError(
            f"{both:,} of {other.height:,} rows of the control group are also rows of the original; by chance about "
            f"{alike:.0%} would be. A control group consists of people who are not in the release: leave these rows "
            "out, or hold a group back before the release is made (--control 20% with --job)."
        )


def hold_out(frame: pl.DataFrame, share: float, unit: Sequence[str] = (), seed: int = 0) -> tuple[Any, Any]:
    """Split a table into what is released and a control group, by unit: all rows of a person are on one side.

    >>> import polars as pl
    >>> visits = pl.DataFrame({"who": ["a", "a", "b", "c", "d"], "age": [1, 2, 3, 4, 5]})
    >>> kept, apart = hold_out(visits, 0.5, ["who"])
    >>> kept["who"].n_unique(), apart["who"].n_unique(), set(kept["who"]) & set(apart["who"])
    (2, 2, set())
    """
    from kanopy._table.grouping import units_of

    units = units_of(frame, unit)[0] if unit else np.arange(frame.height)
    count = int(units.max(initial=-1)) + 1
    apart = round(count * share)
    if not 0.0 < share < 1.0 or not apart or apart == count:
        raise DataError(
            f"A control group of {share:.0%} of {count:,} people cannot be held out. Name a share above 0 % and "
            "below 100 % that leaves people in both groups."
        )
    chosen = np.zeros(count, np.bool_)
    chosen[np.random.default_rng(seed).choice(count, apart, replace=False)] = True
    held = chosen[units]
    return frame.filter(~held), frame.filter(held)
