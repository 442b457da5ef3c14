"""Partial masks: all but a few characters of a value are covered."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated, ClassVar

import polars as pl

from kanopy._errors import some
from kanopy._parameter_types import Integer, Text
from kanopy.treatments.base import Table, Treatment
from kanopy.treatments.pseudonyms.keyed import refuse_value, replaced


@dataclass(frozen=True)
class PartialMask(Treatment):
    """Partial masks: the last (and first) characters stay, all others are covered. Values must be twice as long as what
    stays, and all masks are equally long: the length of a value is not told.

    >>> from kanopy.treatments.apply import treat_values
    >>> treat_values(["4929123456781234"], PartialMask(last=4))
    ['********1234']
    """

    last: Annotated[int, Integer(0), "characters that stay at the end"] = 4
    first: Annotated[int, Integer(0), "characters that stay at the beginning"] = 0
    cover: Annotated[str, Text("one character", usable=None), "what covers a character"] = "*"

    name: ClassVar[str] = "mask"
    summary: ClassVar[str] = "covers all but the last (or first) characters"
    guarantees: ClassVar[str] = "at most half of a value is published"
    lacks: ClassVar[str] = "what stays may identify: neither k nor any kind of secrecy for short lists of candidates"
    piecewise: ClassVar[bool] = True
    for_identifiers: ClassVar[bool] = True

    def contradictions(self) -> Iterable[str]:
        """One character covers."""
        if len(self.cover) != 1 or self.cover.isalnum():
            yield f"cover of the treatment 'mask' must be one character that is no letter or digit, not {self.cover!r}."

    def treat(self, column: str, table: Table) -> dict[str, pl.Series]:
        """Cover the values of a column."""
        return {column: replaced(table.rows[column], lambda labels: self._masks(column, labels))}

    def _masks(self, column: str, labels: list[str]) -> list[str]:
        stays = self.first + self.last
        if short := [label for label in labels if len(label) < 2 * stays or not label]:
            raise refuse_value(
                self.name, column, some(sorted(short)),
                f"are shorter than {2 * stays} characters: more than half of them would stay. Keep fewer.",
            )  # fmt: skip
        covered = self.cover * 8
        return [f"{label[: self.first]}{covered}{label[len(label) - self.last :]}" for label in labels]
