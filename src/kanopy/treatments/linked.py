"""Linked columns: one that repeats another is published with it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

import polars as pl

from kanopy._errors import JobError, some
from kanopy._kinds import Name
from kanopy.treatments.base import Table, Treatment

JOINED = " | "
MOST_JOINED = 5
ANYTHING = "*"


@dataclass(frozen=True)
class Follow(Treatment):
    """A column that says the same as another (`column`), such as the name of a region beside its code.

    What is published of it depends on what is published of the other column alone: its own value where the other one's
    value was kept, swapped or replaced, all values that a generalized one stands for where these are at most five, and
    `*` otherwise.
    """

    column: Annotated[str, Name(), "the column that it repeats"]

    name: ClassVar[str] = "follow"
    follows: ClassVar[bool] = True
    summary: ClassVar[str] = "publishes a column that repeats another one together with it"
    guarantees: ClassVar[str] = "it says nothing that the column it follows does not say as published"
    lacks: ClassVar[str] = "what the column that it follows does not promise"

    def reads(self, column: str) -> tuple[str, ...]:
        """The column that it follows."""
        return (self.column,)

    def treat(self, column: str, table: Table) -> dict[str, pl.Series]:
        """Follow the other column; what is published of it is in `facts`."""
        return {column: followed(column, table.rows[column], table.rows[self.column], table.facts["published"])}


def followed(column: str, values: pl.Series, original: pl.Series, published: pl.Series) -> pl.Series:
    """What a column publishes that repeats another one.

    >>> code, name = pl.Series("code", ["A1", "A2", "A2"]), pl.Series("name", ["Wien", "Graz", "Graz"])
    >>> followed("name", name, code, pl.Series("code", ["A", "A", "A2"])).to_list()
    ['Graz | Wien', 'Graz | Wien', 'Graz']
    """
    pairs = pl.DataFrame({"key": original.cast(pl.String), "value": values.cast(pl.String)})
    known = pairs.filter(pl.col("key").is_not_null()).unique()
    twice = known.group_by("key").len().filter(pl.col("len") > 1)["key"].sort().to_list()
    if twice:
        raise JobError(
            f"{column!r} cannot follow {original.name!r}: {some(twice)} stand beside several of its values, so it "
            "says more. "
            "Give it a role of its own."
        )
    own = dict(zip(known["key"], known["value"], strict=True))
    # A label that is no value of the column stands for all values published as it.
    below = pairs.with_columns(label=published.cast(pl.String)).group_by("label").agg(pl.col("value").unique())
    told: dict[str | None, str | None] = {}
    for label, many in below.iter_rows():
        if label in own:
            told[label] = own[label]
            continue
        names = sorted(name for name in many if name is not None)
        enough = label is not None and label != ANYTHING and 0 < len(names) <= MOST_JOINED
        told[label] = None if label is None else JOINED.join(names) if enough else ANYTHING
    keys = list(told)
    return (
        published.cast(pl.String)
        .replace_strict(keys, [told[key] for key in keys], default=None, return_dtype=pl.String)
        .alias(column)
    )
