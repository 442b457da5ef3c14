"""Linked columns: one that repeats another is published with it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Annotated, ClassVar

import polars as pl

from kanopy._errors import JobError, some
from kanopy._parameter_types import Name
from kanopy.treatments.base import Table, Treatment

JOINED = " | "
MOST_JOINED = 5
ANYTHING = "*"


@dataclass(frozen=True)
class Follow(Treatment):
    """A column that says the same as another (`column`), such as the name of a region beside its code.

    What is published of it depends on what is published of the other column alone: its own value beside a published
    value of that column (kept, swapped or replaced by another), all values that a label of its hierarchy stands for
    where these are two to five, and `*` otherwise: beside ranges, pseudonyms and numbers that no row had.
    """

    column: Annotated[str, Name(), "the column that it repeats"]

    name: ClassVar[str] = "follow"
    follows: ClassVar[bool] = True
    summary: ClassVar[str] = "publishes a column that repeats another one together with it"
    guarantees: ClassVar[str] = "it says nothing that the column it follows does not say as published"
    lacks: ClassVar[str] = "what the column that it follows does not promise; which values that one has is told"

    def reads(self, column: str) -> tuple[str, ...]:
        """The column that it follows."""
        return (self.column,)

    def treat(self, column: str, table: Table) -> dict[str, pl.Series]:
        """Follow the other column; what is published of it is in `facts`."""
        original, published = table.rows[self.column], table.facts["published"]
        return {column: followed(column, table.rows[column], original, published, table.facts.get("stands_for", {}))}


def followed(
    column: str, values: pl.Series, original: pl.Series, published: pl.Series, stands_for: Mapping[str, Collection[str]]
) -> pl.Series:
    """What a column publishes that repeats another one; `stands_for` are the values below labels of the other.

    >>> code, name = pl.Series("code", ["A1", "A2", "A2"]), pl.Series("name", ["Wien", "Graz", "Graz"])
    >>> followed("name", name, code, pl.Series("code", ["A", "A", "A2"]), {"A": ["A1", "A2"]}).to_list()
    ['Graz | Wien', 'Graz | Wien', 'Graz']
    """
    pairs = pl.DataFrame({"key": original.cast(pl.String), "value": values.cast(pl.String)})
    distinct_pairs = pairs.filter(pl.col("key").is_not_null()).unique()
    twice = distinct_pairs.group_by("key").len().filter(pl.col("len") > 1)["key"].sort().to_list()
    if twice:
        raise JobError(
            f"{column!r} cannot follow {original.name!r}: {some(twice)} stand beside several of its values, so it "
            "says more. "
            "Give it a role of its own."
        )
    value_of_key = dict(zip(distinct_pairs["key"], distinct_pairs["value"], strict=True))
    label_of_key: dict[str | None, str | None] = {None: None}
    for label in published.cast(pl.String).drop_nulls().unique():
        below = sorted(stands_for.get(label, ()))
        if len(below) <= 1:
            label_of_key[label] = value_of_key.get(label, ANYTHING)
            continue
        # All of them or none: those that rows have would tell more than the label does.
        names = sorted({str(value_of_key[value]) for value in below if value_of_key.get(value) is not None})
        every = all(value_of_key.get(value) is not None for value in below) and 2 <= len(names) <= MOST_JOINED
        label_of_key[label] = JOINED.join(names) if every else ANYTHING
    keys = list(label_of_key)
    return (
        published.cast(pl.String)
        .replace_strict(keys, [label_of_key[key] for key in keys], default=None, return_dtype=pl.String)
        .alias(column)
    )
