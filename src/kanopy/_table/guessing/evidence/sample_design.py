"""Which columns are the design of a sample: the weight, the household, strata, clusters, replicate weights."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from kanopy._table.guessing.column_names import words_of
from kanopy._table.guessing.evidence.views import ColumnView, TableView
from kanopy._table.guessing.lexicon import SURVEY_WEIGHT
from kanopy._table.roles import HOUSEHOLD_WORDS, Role

if TYPE_CHECKING:
    from kanopy._table.guessing.guess import Guess

NUMBER_WORDS, HALF = frozenset({"id", "ids", "no", "nr", "num", "number", "key", "code", "cod", "ident"}), 0.2
OUT = (Role.IDENTIFIER, Role.WITHHELD, Role.UNDECIDED)
FEWEST_HOUSEHOLDS, LARGEST_HOUSEHOLD, SMALLEST_MEAN = 10, 60, 1.02
PERSON_WORDS = frozenset({"person", "pers", "p", "pop", "population", "final", "fin", "sampling", "an", "analysis"})
DESIGN_WORDS = {
    "stratum": frozenset({"stratum", "strata", "strat", "estrato", "strate", "schicht", "strato", "strates"}),
    "cluster": frozenset({"psu", "cluster", "clust", "ssu", "upm", "conglomerado", "grappe", "grappolo", "klumpen"}),
}
"""Words for parts of a sample; beside a survey weight they mean that, not a place."""
PARTIAL_WORDS = frozenset({"household", "hh", "hhold", "design", "base", "employers", "longitudinal", "trim"})


def with_design(table: TableView, columns: Mapping[str, ColumnView], alone: Mapping[str, Guess]) -> dict[str, Guess]:
    """The same guesses, in which one column is the `weight`, one the `household`, where there are such."""
    guesses = dict(alone)
    weight = _weight(table, columns, guesses)
    for name, guess in guesses.items():
        if guess.kind == "weight" and name != weight:
            guesses[name] = replace(guess, kind="other weight")
    if weight is not None:
        guesses[weight] = replace(guesses[weight], kind="weight")
        guesses |= dict(_parts_of_sample(table, columns, guesses, weight))
    household = _household(table, columns, guesses)
    for name, guess in guesses.items():
        if guess.kind == "household" and name != household:
            guesses[name] = replace(guess, kind="")
    if household is not None:
        why = guesses[household].reason
        reason = why if guesses[household].role == Role.WITHHELD else f"its values number households; {_shape(why)}"
        guesses[household] = replace(guesses[household], kind="household", role=Role.WITHHELD, reason=reason)
    return guesses


def _parts_of_sample(
    table: TableView, columns: Mapping[str, ColumnView], guesses: Mapping[str, Guess], weight: str
) -> Iterator[tuple[str, Guess]]:
    """Strata and clusters that no standard names, where a survey weight stands beside them."""
    for name, guess in guesses.items():
        if guess.role == Role.WITHHELD or guess.kind or columns[name].has("fractions"):
            continue
        if kind := names_part_of_sample(name):
            reason = f"the column name suggests a {kind} of the sample, whose weight is {weight!r}"
            reason = f"{reason}; {_shape(guess.reason)}"
            yield name, replace(guess, role=Role.WITHHELD, kind=kind, reason=reason, open=False)


def names_part_of_sample(name: str) -> str:
    """Whether a column is named after strata or clusters, and which of both; empty if not.

    >>> names_part_of_sample("strata_id"), names_part_of_sample("PSU"), names_part_of_sample("region")
    ('stratum', 'cluster', '')
    """
    words = set(words_of(name)) - NUMBER_WORDS
    return next((kind for kind, words_of_kind in DESIGN_WORDS.items() if words and words <= words_of_kind), "")


def _shape(reason: str) -> str:
    return reason.rpartition("; ")[2].removesuffix(": decide its role")


def _weight(table: TableView, columns: Mapping[str, ColumnView], guesses: Mapping[str, Guess]) -> str | None:
    """The weight of the rows: what a standard names first, or the best of those whose names say so."""
    candidates = []
    for index, (name, guess) in enumerate(guesses.items()):
        seen, entry = table.values[name], table.standards.get(name)
        named = (entry is not None and entry.kind == "weight") or columns[name].has(f"says:{SURVEY_WEIGHT}")
        replicate = "context:replicate weight" in columns[name].context or (entry and entry.kind == "replicate")
        if not named or replicate or guess.role != Role.WITHHELD or not seen.numeric:
            continue
        positive = seen.rows == table.frame.height and float(seen.numbers.min() or 0) > 0  # type: ignore[arg-type]
        words = set(columns[name].words)
        rank = entry.rank if entry is not None and entry.kind == "weight" else 50
        partial = bool(words & PARTIAL_WORDS) - bool(words & PERSON_WORDS)
        candidates.append((not positive, rank, partial, seen.distinct <= 1, index, name))
    return min(candidates)[-1] if candidates else None


def _household(table: TableView, columns: Mapping[str, ColumnView], guesses: Mapping[str, Guess]) -> str | None:
    """The column whose equal values belong to one household: by a standard, or by its name and how often it repeats."""
    candidates = []
    for index, (name, guess) in enumerate(guesses.items()):
        seen, entry = table.values[name], table.standards.get(name)
        standard = entry is not None and entry.kind == "household"
        column = columns[name]
        words = set(column.words)
        numbered = bool(words & NUMBER_WORDS) and seen.distinct > HALF * seen.rows
        named = bool(HOUSEHOLD_WORDS & words) and (guess.role in OUT or numbered)
        if not (standard or named) or seen.nested or (seen.fractions and not _whole_numbers(seen.numbers)):
            continue
        many = seen.distinct >= FEWEST_HOUSEHOLDS and seen.rows <= LARGEST_HOUSEHOLD * seen.distinct
        if many and seen.distinct > 0.02 * seen.rows:
            candidates.append((not standard, entry.rank if entry is not None else 50, index, name))
    return min(candidates)[-1] if candidates else None


def _whole_numbers(numbers: object) -> bool:
    return bool((numbers == numbers.floor()).all())  # type: ignore[attr-defined]
