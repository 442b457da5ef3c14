"""What columns are beside each other: the same thing in another form, and keys that others hang on."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import polars as pl

from kanopy._table.guessing.values import Values

MOST_COLUMNS = 400
LONGEST_AFFIX = 4
TRUE = ("1", "1.0", "true", "True", "yes", "Yes", "Y", "y")
FALSE = ("0", "0.0", "false", "False", "no", "No", "N", "n")
EXPECTED = 5.0
"""Rows with both of two answers that chance would bring, where none has them: they exclude each other."""
FEWEST_VALUES = 3


def same_thing(frame: pl.DataFrame, values: Mapping[str, Values]) -> dict[str, str]:
    """Columns whose values tell exactly what an earlier column's values tell (`agesq` and `age`, `lwage` and `wage`).

    >>> frame = pl.DataFrame({"age": [20, 30, 40] * 2, "agesq": [400, 900, 1600] * 2, "x": [1, 2, 3, 3, 2, 1]})
    >>> same_thing(frame, {name: Values(frame[name]) for name in frame.columns})
    {'agesq': 'age'}
    """
    found: dict[str, str] = {}
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
            pair = pl.DataFrame({"a": frame[earlier].to_physical(), "b": frame[name].to_physical()})
            if pair.n_unique() == seen.distinct + (seen.rows < frame.height):
                found[name] = earlier
                break
        else:
            rivals.append(name)
    return found


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


def of_another(names: Sequence[str], values: Mapping[str, Values]) -> dict[str, str]:
    """Columns named like another but for a few letters at an end: the same of somebody else, or at another time.

    >>> frame = pl.DataFrame({"ht": [1], "dht": [2], "wt.1": [3], "wt": [4]})
    >>> of_another(frame.columns, {name: Values(frame[name]) for name in frame.columns})
    {'dht': 'ht', 'wt.1': 'wt'}
    """
    plain = {re.sub(r"[^a-z0-9]", "", name.lower()): name for name in reversed(names)}
    found: dict[str, str] = {}
    for name in names:
        own = re.sub(r"[^a-z0-9]", "", name.lower())
        for cut in range(1, LONGEST_AFFIX + 1):
            for core in (own[:-cut], own[cut:]):
                other = plain.get(core) if len(core) > 1 else None
                if other is not None and other != name and values[name].numeric == values[other].numeric:
                    found.setdefault(name, other)
    return found


def dummy_groups(frame: pl.DataFrame, values: Mapping[str, Values]) -> list[list[str]]:
    """Runs of columns of yes and no of which at most one is yes in each row, where chance would bring several.

    >>> frame = pl.DataFrame({"a": [1, 0, 0] * 19, "b": [0, 1, 0] * 19, "c": [0, 0, 1] * 19, "d": [1, 1, 0] * 19})
    >>> dummy_groups(frame, {name: Values(frame[name]) for name in frame.columns})
    [['a', 'b', 'c']]
    """
    groups: list[list[str]] = []
    marks: dict[str, pl.Series] = {}
    run: list[str] = []
    for name in frame.columns[:MOST_COLUMNS]:
        seen = values[name]
        texts = set() if seen.nested or seen.distinct != 2 else set(seen.sample.to_list())
        yes = texts & set(TRUE)
        if not (len(yes) == 1 and texts - yes <= set(FALSE)):
            run = []
            continue
        marks[name] = (frame[name].cast(pl.String).str.strip_chars() == yes.pop()).fill_null(False)
        if run and all(_exclude(marks[other], marks[name]) for other in run):
            run.append(name)
        else:
            run = [name]
            groups.append(run)
    return [group for group in groups if len(group) > 1]


def _exclude(one: pl.Series, other: pl.Series) -> bool:
    expected = int(one.sum()) * int(other.sum()) / max(len(one), 1)
    return expected >= EXPECTED and not (one & other).any() if len(one) > 3 * EXPECTED else False
