"""A column as the facts about it see it: its name, its values, and the table it is in."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import polars as pl

from kanopy._table.guessing.column_names import NameMeaning, meanings_of, words_of
from kanopy._table.guessing.value_kinds import Values

if TYPE_CHECKING:
    from kanopy._table.guessing.evidence.standards import Entry
    from kanopy._table.guessing.lexicon import Meaning


@dataclass(frozen=True, eq=False)
class TableView:
    """A table whose columns are judged: its rows, and the values of every column."""

    frame: pl.DataFrame
    values: Mapping[str, Values]
    standards: Mapping[str, Entry] = field(default_factory=dict)
    """Columns whose names a standard defines, where the table looks like one of that standard."""

    def column(self, name: str) -> ColumnView:
        """One of its columns."""
        return ColumnView(name, self.values[name], self)


@dataclass(eq=False)
class ColumnView:
    """One column: facts about it are computed when somebody asks, and remembered.

    `meaning` is what its name is taken to mean, once that is known; `context` are facts that neighbours gave it.
    """

    name: str
    seen: Values
    table: TableView
    meaning: Meaning | None = None
    strength: int = 0
    instead: str = ""
    """Why the name is taken to mean something other than its words say."""
    context: dict[str, str] = field(default_factory=dict)
    """Facts that other columns give this one, each with the column that gives it."""
    _known: dict[str, bool] = field(default_factory=dict)

    @cached_property
    def words(self) -> tuple[str, ...]:
        """The words of its name."""
        return words_of(self.name)

    @cached_property
    def spoken(self) -> list[NameMeaning]:
        """What its name may mean, the clearest first."""
        return meanings_of(self.name)

    def has(self, fact: str) -> bool:
        """Whether a fact holds; `above:100` is the fact `above` with the argument `100`."""
        holds = self._known.get(fact)
        if holds is None:
            from kanopy._table.guessing.evidence.facts import FACTS

            name, _, argument = fact.partition(":")
            holds = fact in self.context or (name in FACTS and bool(FACTS[name](self, argument)))
            self._known[fact] = holds
        return holds

    def forget_meaning(self) -> None:
        """Facts that depend on what the name means are to be computed anew."""
        self._known = {fact: value for fact, value in self._known.items() if not fact.startswith(_OF_MEANING)}


_OF_MEANING = ("says:", "role:", "clear", "partly", "faint", "nameless", "context:", "agree", "also", "alone", "short ")
"""Facts that change with what the name is taken to mean."""


@dataclass(frozen=True)
class Condition:
    """Facts that must all hold, and others that must not.

    >>> Condition.read("number & not few values")
    Condition(needs=('number',), excludes=('few values',))
    """

    needs: tuple[str, ...]
    excludes: tuple[str, ...]

    @classmethod
    def read(cls, text: str) -> Condition:
        """The condition that a text states: facts joined by `&`, some after `not`."""
        parts = [condition.strip() for condition in text.split("&") if condition.strip()]
        return cls(
            tuple(condition for condition in parts if not condition.startswith("not ")),
            tuple(condition.removeprefix("not ").strip() for condition in parts if condition.startswith("not ")),
        )

    @property
    def facts(self) -> tuple[str, ...]:
        """All facts that it names."""
        return (*self.needs, *self.excludes)

    def holds(self, column: ColumnView) -> bool:
        """Whether it holds for a column."""
        return all(map(column.has, self.needs)) and not any(map(column.has, self.excludes))


FactFunction = Callable[[ColumnView, str], bool]
