"""What columns are beside each other: the same thing in another form, and keys that others hang on."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from kanopy._table.guessing.values import Values

MOST_COLUMNS = 400
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
