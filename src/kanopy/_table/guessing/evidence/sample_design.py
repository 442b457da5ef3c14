"""Which columns are the design of a sample: the weight, the household, strata, clusters, replicate weights."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from kanopy._table.guessing.evidence.views import ColumnView, TableView
from kanopy._table.guessing.lexicon import SURVEY_WEIGHT
from kanopy._table.roles import HOUSEHOLD_WORDS, Role

if TYPE_CHECKING:
    from kanopy._table.guessing.guess import Guess

OUT = (Role.IDENTIFIER, Role.WITHHELD, Role.UNDECIDED)
FEWEST_HOUSEHOLDS, LARGEST_HOUSEHOLD, SMALLEST_MEAN = 10, 60, 1.02
PERSON_WORDS = frozenset({"person", "pers", "p", "pop", "population", "final", "fin", "sampling", "an", "analysis"})
PARTIAL_WORDS = frozenset({"household", "hh", "hhold", "design", "base", "employers", "longitudinal", "trim"})


def with_design(table: TableView, columns: Mapping[str, ColumnView], found: Mapping[str, Guess]) -> dict[str, Guess]:
    """The same guesses, in which one column is the `weight`, one the `household`, where there are such."""
    guesses = dict(found)
    weight = _weight(table, columns, guesses)
    for name, guess in guesses.items():
        if guess.kind == "weight" and name != weight:
            guesses[name] = replace(guess, kind="other weight")
    if weight is not None:
        guesses[weight] = replace(guesses[weight], kind="weight")
    household = _household(table, columns, guesses)
    for name, guess in guesses.items():
        if guess.kind == "household" and name != household:
            guesses[name] = replace(guess, kind="")
    if household is not None:
        why = guesses[household].reason
        said = why if guesses[household].role == Role.WITHHELD else f"its values number households; {_shape(why)}"
        guesses[household] = replace(guesses[household], kind="household", role=Role.WITHHELD, reason=said)
    return guesses


def _shape(reason: str) -> str:
    return reason.rpartition("; ")[2].removesuffix(": decide what it is")


def _weight(table: TableView, columns: Mapping[str, ColumnView], found: Mapping[str, Guess]) -> str | None:
    """The weight of the rows: what a standard names first, or the best of those whose names say so."""
    candidates = []
    for place, (name, guess) in enumerate(found.items()):
        seen, entry = table.values[name], table.standards.get(name)
        named = (entry is not None and entry.kind == "weight") or columns[name].has(f"says:{SURVEY_WEIGHT}")
        replicate = "context:replicate weight" in columns[name].context or (entry and entry.kind == "replicate")
        if not named or replicate or guess.role != Role.WITHHELD or not seen.numeric:
            continue
        positive = seen.rows == table.frame.height and float(seen.numbers.min() or 0) > 0  # type: ignore[arg-type]
        words = set(columns[name].words)
        rank = entry.rank if entry is not None and entry.kind == "weight" else 50
        partial = bool(words & PARTIAL_WORDS) - bool(words & PERSON_WORDS)
        candidates.append((not positive, rank, partial, seen.distinct <= 1, place, name))
    return min(candidates)[-1] if candidates else None


def _household(table: TableView, columns: Mapping[str, ColumnView], found: Mapping[str, Guess]) -> str | None:
    """The column whose equal values belong to one household: by a standard, or by its name and how often it repeats."""
    candidates = []
    for place, (name, guess) in enumerate(found.items()):
        seen, entry = table.values[name], table.standards.get(name)
        standard = entry is not None and entry.kind == "household"
        column = columns[name]
        named = bool(HOUSEHOLD_WORDS & set(column.words)) and guess.role in OUT
        if not (standard or named) or seen.nested or (seen.fractions and not _whole_numbers(seen.numbers)):
            continue
        many = seen.distinct >= FEWEST_HOUSEHOLDS and seen.rows <= LARGEST_HOUSEHOLD * seen.distinct
        if many and seen.distinct > 0.02 * seen.rows:
            candidates.append((not standard, entry.rank if entry is not None else 50, place, name))
    return min(candidates)[-1] if candidates else None


def _whole_numbers(numbers: object) -> bool:
    return bool((numbers == numbers.floor()).all())  # type: ignore[attr-defined]
