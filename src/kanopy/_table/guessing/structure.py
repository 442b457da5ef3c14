"""What columns are beside each other: the same thing in another form, and keys that others hang on."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from kanopy._arrays import Ints
from kanopy._table.guessing.value_kinds import FALSE, TRUE, Values

MOST_COLUMNS = 400
LONGEST_AFFIX = 4
EXPECTED = 5.0
"""Rows with both of two answers that chance would bring, where none has them: they exclude each other."""
FEWEST_VALUES = 3
ROWS_TO_REFUSE = 500
"""So few rows show of most pairs of columns that none determines the other."""
ROWS_OF_FORMS, FEWEST_OF_FORM = 20_000, 15
"""Rows that are looked at for coarser forms, and how many of them share a value on average: then none is by chance."""


def same_thing(frame: pl.DataFrame, values: Mapping[str, Values]) -> dict[str, str]:
    """Columns whose values tell exactly what an earlier column's values tell (`agesq` and `age`, `lwage` and `wage`).

    >>> frame = pl.DataFrame({"age": [20, 30, 40] * 2, "agesq": [400, 900, 1600] * 2, "x": [1, 2, 3, 3, 2, 1]})
    >>> same_thing(frame, {name: Values(frame[name]) for name in frame.columns})
    {'agesq': 'age'}
    """
    same: dict[str, str] = {}
    groups: dict[tuple[int, int], list[str]] = {}
    for name in frame.columns[:MOST_COLUMNS]:
        seen = values[name]
        # Where most rows have no value, or one of their own, two columns match by chance.
        if (
            seen.nested
            or seen.distinct < FEWEST_VALUES
            or seen.alone > 0.1 * seen.rows
            or seen.rows < 0.5 * frame.height
        ):
            continue
        rivals = groups.setdefault((seen.distinct, seen.rows), [])
        for earlier in rivals:
            if not determined(values[earlier].ranks, seen.ranks):
                continue
            pair = pl.DataFrame({"a": frame[earlier].to_physical(), "b": frame[name].to_physical()})
            if pair.n_unique() == seen.distinct + (seen.rows < frame.height):
                same[name] = earlier
                break
        else:
            rivals.append(name)
    return same


def coarser_form(frame: pl.DataFrame, name: str, others: Sequence[str], values: Mapping[str, Values]) -> str | None:
    """The column of which another is a coarser form: one value for each of its values, though many rows have each.

    >>> frame = pl.DataFrame({"age": [*range(20, 40)] * 30, "mature": ([0] * 15 + [1] * 5) * 30, "x": [0, 1, 1] * 200})
    >>> seen = {name: Values(frame[name]) for name in frame.columns}
    >>> coarser_form(frame, "mature", ["age"], seen), coarser_form(frame, "x", ["age"], seen)
    ('age', None)
    """
    seen_values = values[name]
    ranks = seen_values.ranks
    counts = np.bincount(ranks)
    if counts[counts > 0].min(initial=FEWEST_OF_FORM) < FEWEST_OF_FORM or counts[1:].astype(bool).sum() < 2:
        return None
    for other in others:
        seen = values[other]
        finer = (
            seen_values.distinct < seen.distinct <= len(ranks) / FEWEST_OF_FORM
            and seen_values.rows >= 0.9 * frame.height
        )
        if finer and determined(seen.ranks, ranks) and _several(seen.ranks, ranks):
            return other
    return None


def determined(key: Ints, other: Ints) -> bool:
    """Whether a column has one value for each value of a key, where both have one.

    >>> determined(np.array([1, 1, 2, 0]), np.array([5, 5, 5, 3])), determined(np.array([1, 1]), np.array([1, 2]))
    (True, False)
    """
    for rows in (slice(ROWS_TO_REFUSE), slice(None)):
        one, two = key[rows], other[rows]
        both = (one > 0) & (two > 0)
        one, two = one[both], two[both]
        last = np.zeros(int(one.max(initial=0)) + 1, dtype=two.dtype)
        last[one] = two
        if not np.array_equal(last[one], two):
            return False
    return True


def _several(key: Ints, other: Ints) -> bool:
    """Whether the other column has several values where the key has one."""
    return len(np.unique(other[(key > 0) & (other > 0)])) > 1


def hangs_on(frame: pl.DataFrame, key: str, values: Mapping[str, Values]) -> int:
    """How many other columns have one value per value of a repeated key: they describe what the key counts.

    >>> frame = pl.DataFrame({"pid": [1, 1, 2, 2], "born": [1950, 1950, 1971, 1971], "visit": [1, 2, 1, 2]})
    >>> hangs_on(frame, "pid", {name: Values(frame[name]) for name in frame.columns})
    1
    """
    count = 0
    for name in frame.columns[:MOST_COLUMNS]:
        seen = values[name]
        if name == key or seen.nested or seen.distinct < 2:
            continue
        pairs = pl.DataFrame({"a": frame[key], "b": frame[name]}).drop_nulls().n_unique()
        count += pairs <= values[key].distinct
    return count


def in_waves(frame: pl.DataFrame, key: str, times: Sequence[str], values: Mapping[str, Values]) -> bool:
    """Whether every value of a key stands once at every one of several times: a panel, whose key counts people.

    >>> frame = pl.DataFrame({"id": [1, 1, 2, 2], "year": [2001, 2002, 2001, 2002], "pay": [5, 6, 7, 8]})
    >>> in_waves(frame, "id", ["year"], {name: Values(frame[name]) for name in frame.columns})
    True
    """
    return any(
        values[time].distinct > 1
        and values[key].distinct * values[time].distinct == frame.height
        and frame.select(pl.struct(pl.nth(frame.columns.index(key), frame.columns.index(time)))).n_unique()
        == frame.height
        for time in times
        if time != key
    )


def of_another(names: Sequence[str], values: Mapping[str, Values]) -> dict[str, str]:
    """Columns named like another but for a few letters at an end: the same of somebody else, or at another time.

    >>> frame = pl.DataFrame({"ht": [1], "dht": [2], "wt.1": [3], "wt": [4]})
    >>> of_another(frame.columns, {name: Values(frame[name]) for name in frame.columns})
    {'dht': 'ht', 'wt.1': 'wt'}
    """
    plain = {re.sub(r"[^a-z0-9]", "", name.lower()): name for name in reversed(names)}
    others: dict[str, str] = {}
    for name in names:
        letters = re.sub(r"[^a-z0-9]", "", name.lower())
        for cut in range(1, LONGEST_AFFIX + 1):
            for core in (letters[:-cut], letters[cut:]):
                other = plain.get(core) if len(core) > 1 else None
                if other is not None and other != name and values[name].numeric == values[other].numeric:
                    others.setdefault(name, other)
    return others


def dummy_groups(frame: pl.DataFrame, values: Mapping[str, Values]) -> list[list[str]]:
    """Runs of columns of yes and no of which at most one is yes in each row, where chance would bring several.

    >>> frame = pl.DataFrame({"a": [1, 0, 0] * 19, "b": [0, 1, 0] * 19, "c": [0, 0, 1] * 19, "d": [1, 1, 0] * 19})
    >>> dummy_groups(frame, {name: Values(frame[name]) for name in frame.columns})
    [['a', 'b', 'c']]
    """
    groups: list[list[str]] = []
    for run in yes_no_runs(frame, values):
        group: list[str] = []
        for name in run:
            if group and all(exclude(other, name, values) for other in group):
                group.append(name)
            else:
                group = [name]
                groups.append(group)
    return [group for group in groups if len(group) > 1]


def yes_no_runs(frame: pl.DataFrame, values: Mapping[str, Values]) -> list[list[str]]:
    """Columns of yes and no that stand beside each other.

    >>> frame = pl.DataFrame({"a": [1, 0], "b": ["yes", "no"], "c": [1, 2], "d": [0, 1]})
    >>> yes_no_runs(frame, {name: Values(frame[name]) for name in frame.columns})
    [['a', 'b'], ['d']]
    """
    runs: list[list[str]] = [[]]
    for name in frame.columns[:MOST_COLUMNS]:
        seen = values[name]
        texts = set() if seen.nested or seen.distinct != 2 else set(seen.sample.to_list())
        yes = texts & set(TRUE)
        if len(yes) == 1 and texts - yes <= set(FALSE):
            runs[-1].append(name)
        elif runs[-1]:
            runs.append([])
    return [run for run in runs if run]


def exclude(one: str, other: str, values: Mapping[str, Values]) -> bool:
    """Whether no row says yes in two columns of yes and no, where chance would bring some that do."""
    first, second = values[one].answered_yes, values[other].answered_yes
    expected = int(first.sum()) * int(second.sum()) / max(len(first), 1)
    return expected >= EXPECTED and not bool((first & second).any()) if len(first) > 3 * EXPECTED else False


ROWS_FOR_KEYS = 100_000
FEWEST_UNITS, LEAST_UNITS, MOST_OF_ONE = 10, 0.005, 0.2
"""A key of people has at least so many values, so many per row, and no value in more than that share of the rows."""


@dataclass(frozen=True)
class Key:
    """A column whose repeated values look like people: how many there are, what hangs on it, and rows that repeat."""

    column: str
    values: int
    rows: int
    hanging: tuple[str, ...]
    copies: int


def keys_of_people(frame: pl.DataFrame, without: Sequence[str] = (), identifiers: Sequence[str] = ()) -> list[Key]:
    """Columns that look like keys of people of whom there are several rows: repeated values on which others depend.

    A name that speaks of people or numbers needs one column that hangs on it, or none if it is among the `identifiers`;
    any other two. `without` are columns that are known to be something else.

    >>> frame = pl.DataFrame({"patient": [*range(20)] * 3, "born": [*range(1950, 1970)] * 3, "visit": [*range(60)],
    ...                       "sex": [*"fm" * 10] * 3})
    >>> [(key.column, key.hanging) for key in keys_of_people(frame)]
    [('patient', ('sex',))]
    """
    from kanopy._table.guessing.column_names import meanings_of
    from kanopy._table.guessing.lexicon import PERSON_NAME

    first_rows = frame.head(ROWS_FOR_KEYS)
    plain = [
        n
        for n in first_rows.columns[:MOST_COLUMNS]
        if not first_rows[n].dtype.is_nested() and first_rows[n].dtype != pl.Object
    ]
    distinct = {name: first_rows[name].rename("").drop_nulls().n_unique() for name in plain}
    keys = []
    for name in plain:
        count, column = distinct[name], first_rows[name].rename("key")
        rows = first_rows.height - column.null_count()
        whole = column.dtype.is_integer() or column.dtype in (pl.String, pl.Categorical, pl.Enum)
        if name in without or not whole or count < max(FEWEST_UNITS, LEAST_UNITS * rows) or rows < 1.2 * count:
            continue
        if int(column.drop_nulls().value_counts()["count"].max() or 0) > MOST_OF_ONE * rows:  # type: ignore[arg-type]
            continue
        spoken = [meant.meaning for meant in meanings_of(name)[:2]]
        if spoken and spoken[0].role == "sensitive":
            continue  # a count of cells or an income is no number of a person
        revealed = [meaning for meaning in spoken if meaning.role == "identifier"]
        speaks = any(meaning.says != PERSON_NAME for meaning in revealed)  # people share names, and sex hangs on most
        # What tells as many apart as the key is the key in other words; a constant tells nothing.
        others = [other for other in plain if other != name and 1 < distinct[other] < count]
        hanging = []
        for other in others:
            pairs = pl.DataFrame({"key": column, "other": first_rows[other].rename("other")}).drop_nulls()
            if pairs.height > 0.5 * rows and pairs.n_unique() <= count:
                hanging.append(other)
        if len(hanging) >= (2 if not speaks else 0 if name in identifiers else 1):
            copies = first_rows.filter(column.is_not_null())
            keys.append(Key(name, count, rows, tuple(hanging), copies.height - copies[plain].n_unique()))
    return keys
