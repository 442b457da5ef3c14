"""What the columns of a table say of one another: relatives, coarser forms, answers that exclude each other, the
company in which numbers of unknown meaning stand, and weights that belong together.

Each finding is a fact of a column with the column that it comes from; `evidence.toml` says what it weighs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

import polars as pl

from kanopy._table.guessing.column_names import words_of
from kanopy._table.guessing.evidence.value_facts import FEW_VALUES, HALF
from kanopy._table.guessing.evidence.views import ColumnView, TableView
from kanopy._table.guessing.lexicon import HEALTH, SURVEY_WEIGHT
from kanopy._table.guessing.structure import coarser_form, dummy_groups, exclude, of_another, same_thing, yes_no_runs
from kanopy._table.roles import Role

if TYPE_CHECKING:
    from kanopy._table.guessing.guess import Guess

FEWEST_OF_BATTERY = 4
"""So many columns of yes and no in a row that others know, and at least half of the row, speak for the rest of it."""
FEWEST_MEASURES, SHORTEST_TOPIC = 5, 3
"""So many columns of many numbers whose names begin with the same word of so many letters are marks or measures."""
FEWEST_OF_HEALTH, SHARE_OF_HEALTH = 4, 0.3
"""So many columns about health, and that share of those whose meaning is known, make a table of measures of health."""
FEWEST_ALIKE = 5
"""So many columns of unknown meaning that give the same answers are questions of one battery."""
FEWEST_REPLICATES = 8
"""So many columns of weights named alike are replicate weights."""
LINKING = 0.5
"""A column that is constant per person and has so many values per person is another name for most of them."""
FAR = 15.0
"""Of latitude and longitude one is larger at most places; logarithms and shares look the same, but are small."""

Found = dict[str, tuple[str, str, str]]
"""Per column a fact, the relation in words, and the other column."""


def context(table: TableView, columns: Mapping[str, ColumnView], guesses: Mapping[str, Guess]) -> Found:
    """Facts of columns that other columns give them, after each was judged alone."""
    alike: Found = {}
    for finding in (_replicates, _linked, _relatives, _groups, _coarser, _measures, _answered_alike):
        for name, fact in finding(table, columns, guesses):
            alike.setdefault(name, fact)
    return alike


def _like(guesses: Mapping[str, Guess], other: str, relation: str) -> tuple[str, str, str]:
    return f"context:like {guesses[other].role}", relation, other


def _relatives(
    table: TableView, columns: Mapping[str, ColumnView], guesses: Mapping[str, Guess]
) -> Iterator[tuple[str, tuple[str, str, str]]]:
    """Columns that say the same as another, or are the same of somebody else (`ht` and `dht`, `agew` and `ageh`)."""
    for name, other in same_thing(table.frame, table.values).items():
        certain = guesses[other].role != Role.IDENTIFIER or guesses[other].certainty == "sure"
        if _weaker(guesses[name], guesses[other]) and certain:
            yield name, _like(guesses, other, "contains the same information as")
    keys = [name for name, guess in guesses.items() if guess.role == Role.IDENTIFIER]
    for name, guess in guesses.items():
        out = guess.role in (Role.IDENTIFIER, Role.WITHHELD) or table.values[name].distinct <= FEW_VALUES
        copied = (key for key in keys if not out and table.frame[name].equals(table.frame[key]))
        if (other := next(copied, "")) and table.values[name].rows:
            yield name, _like(guesses, other, "contains the same information as")
    for name, other in of_another(table.frame.columns, table.values).items():
        if (
            guesses[name].open
            and not guesses[other].open
            and guesses[other].role not in (Role.IDENTIFIER, Role.UNDECIDED)
        ):
            yield name, _like(guesses, other, "is named like")


def _coarser(
    table: TableView, columns: Mapping[str, ColumnView], guesses: Mapping[str, Guess]
) -> Iterator[tuple[str, tuple[str, str, str]]]:
    """Columns that say less of what another says (`mature` and `mage`, `d81` and `year`)."""
    quasi = [n for n, guess in guesses.items() if guess.role == Role.QUASI_IDENTIFIER and not table.values[n].nested]
    for name, guess in guesses.items():
        if guess.open and 1 < table.values[name].distinct <= FEW_VALUES:
            other = coarser_form(table.frame, name, quasi, table.values)
            if other is not None:
                yield name, _like(guesses, other, "is a coarser form of")


def _groups(
    table: TableView, columns: Mapping[str, ColumnView], guesses: Mapping[str, Guess]
) -> Iterator[tuple[str, tuple[str, str, str]]]:
    """Columns of which at most one is true in each row (`white`, `black`, `asian`) share the role of those known."""
    frame, values = table.frame, table.values
    quasi = {name for name, guess in guesses.items() if guess.role == Role.QUASI_IDENTIFIER and not guess.open}
    done: set[str] = set()
    for group in dummy_groups(frame, values):
        quasi_of_group = [name for name in group if name in quasi]
        for name in group:
            if quasi_of_group and guesses[name].open:
                done.add(name)
                yield name, _like(guesses, quasi_of_group[0], "excludes")
    runs = yes_no_runs(frame, values)
    answers = [name for run in runs for name in run]
    revealed = [name for name in answers if name in quasi]
    for name in answers:
        if not guesses[name].open or name in done:
            continue
        apart = [other for other in revealed if exclude(name, other, values)]
        pairs = (
            other
            for other in apart
            if any(apart_name != other and _same_topic(columns, other, apart_name) and exclude(other, apart_name,
            values)
                   for apart_name in apart)
        )  # fmt: skip
        if (other := next(pairs, None)) is not None:
            done.add(name)
            yield name, _like(guesses, other, "excludes")
    for run in runs:
        for before, name, after in zip(run, run[1:], run[2:], strict=False):
            between = {before, after} <= quasi and _same_topic(columns, before, after)
            if between and guesses[name].open and name not in done:
                done.add(name)
                yield name, _like(guesses, before, "stands among answers such as")
    for battery in runs:
        quasi_of_group = [name for name in battery if guesses[name].role == Role.QUASI_IDENTIFIER]
        if len(quasi_of_group) >= max(FEWEST_OF_BATTERY, HALF * len(battery)):
            for name in battery:
                if guesses[name].open and name not in done:
                    yield name, _like(guesses, quasi_of_group[0], "stands among answers such as")


def _measures(
    table: TableView, columns: Mapping[str, ColumnView], guesses: Mapping[str, Guess]
) -> Iterator[tuple[str, tuple[str, str, str]]]:
    """Numbers of unknown meaning among many of their kind, or in a table about health: what was measured of people."""
    numbers = [name for name in guesses if columns[name].has("number") and not columns[name].has("few values")]
    topics = {n: words[0] for n in numbers if len((words := words_of(n))[:1]) and len(words[0]) >= SHORTEST_TOPIC}
    counted = Counter(topics.values())
    known_by_others = (Role.QUASI_IDENTIFIER, Role.IDENTIFIER)
    others = Counter(topic for name, topic in topics.items() if guesses[name].role in known_by_others)
    judged = [column for name, column in columns.items() if not guesses[name].open]
    healthy = sum(column.has(f"says:{HEALTH}") for column in judged)
    clinical = healthy >= max(FEWEST_OF_HEALTH, SHARE_OF_HEALTH * len(judged))
    degrees = [name for name in numbers if guesses[name].open and columns[name].has("degrees")]
    far = any(abs(float(table.values[name].numbers.median() or 0)) >= FAR for name in degrees)  # type: ignore[arg-type]
    for name in numbers:
        column, topic = columns[name], topics.get(name, "")
        if not guesses[name].open:
            continue
        if topic and counted[topic] >= FEWEST_MEASURES and others[topic] <= HALF * HALF * counted[topic]:
            yield name, ("context:measured", f"is one of {counted[topic]} columns of numbers named {topic!r}", "")
        elif clinical and not column.has("large codes"):
            yield name, ("context:measured", "stands among measures of health", "")
        elif column.has("degrees") and not far:
            yield name, ("context:measured", "is measured, not counted", "")


def _answered_alike(
    table: TableView, columns: Mapping[str, ColumnView], guesses: Mapping[str, Guess]
) -> Iterator[tuple[str, tuple[str, str, str]]]:
    """Words of unknown meaning that many columns share: the answers to questions of one battery."""
    answers = {
        name: frozenset(table.values[name].sample.to_list())
        for name, guess in guesses.items()
        if guess.open and columns[name].has("text") and 2 < table.values[name].distinct <= FEW_VALUES
    }
    for name, own_answers in answers.items():
        alike = sum(own_answers <= other or other <= own_answers for other in answers.values())
        if alike >= FEWEST_ALIKE:
            yield name, ("context:measured", f"gives the same answers as {alike - 1} other columns", "")


def _replicates(
    table: TableView, columns: Mapping[str, ColumnView], guesses: Mapping[str, Guess]
) -> Iterator[tuple[str, tuple[str, str, str]]]:
    """Weights of many replicates: columns of weights named alike, whose means are near that of a survey weight."""
    weights = [name for name, column in columns.items() if column.has(f"says:{SURVEY_WEIGHT}")]
    stems: dict[str, list[str]] = {}
    for name, column in columns.items():
        stem = name.rstrip("0123456789").lower()
        if stem != name.lower() and column.has("number") and column.has("may be weights"):
            stems.setdefault(stem, []).append(name)
    for members in stems.values():
        if len(members) < FEWEST_REPLICATES:
            continue
        for weight in weights:
            like = [name for name in members if name != weight and _near(table, name, weight)]
            if len(like) >= HALF * len(members):
                yield from ((name, ("context:replicate weight", "", weight)) for name in members)
                break


def _linked(
    table: TableView, columns: Mapping[str, ColumnView], guesses: Mapping[str, Guess]
) -> Iterator[tuple[str, tuple[str, str, str]]]:
    """Columns that have one value for all records of a person, and nearly another for each: they link the records."""
    from kanopy._table.guessing.guess import unit_among

    unit = unit_among(table, columns, guesses)
    if unit is None:
        return
    persons = table.values[unit].distinct
    for name, guess in guesses.items():
        seen = table.values[name]
        if name == unit or guess.role in (Role.IDENTIFIER, Role.QUASI_IDENTIFIER) or seen.nested:
            continue
        if seen.distinct > LINKING * persons and depends_on(table.frame, name, unit, seen.distinct):
            yield name, ("context:derived from unit", "", unit)


def depends_on(frame: pl.DataFrame, name: str, key: str, distinct: int) -> bool:
    """Whether a column has one value for each value of a key."""
    pairs = pl.DataFrame({"a": frame[key].to_physical(), "b": frame[name].to_physical()}).drop_nulls()
    return distinct > 1 and pairs.n_unique() <= pairs["a"].n_unique()


def _near(table: TableView, name: str, weight: str) -> bool:
    """Whether two columns of weights add up to about the same number of people."""
    one, other = table.values[name].numbers.mean(), table.values[weight].numbers.mean()
    return isinstance(one, float) and isinstance(other, float) and abs(one - other) < 0.25 * abs(other)


def parts_of_undecided(table: TableView, guesses: Mapping[str, Guess]) -> Iterator[tuple[str, tuple[str, str, str]]]:
    """Columns of few values and unknown meaning that say a part of what an undecided column says."""
    secret = [name for name, guess in guesses.items() if guess.role == Role.UNDECIDED and not table.values[name].nested]
    for name, guess in guesses.items():
        if guess.role == Role.SENSITIVE and guess.open and table.values[name].distinct <= FEW_VALUES:
            other = coarser_form(table.frame, name, secret, table.values)
            if other is not None:
                yield name, ("context:part of undecided", "", other)


def _same_topic(columns: Mapping[str, ColumnView], one: str, other: str) -> bool:
    meaning = columns[one].meaning
    return meaning is not None and meaning is columns[other].meaning


def _weaker(guess: Guess, other: Guess) -> bool:
    """Whether a column is thought more harmless than another that says the same."""
    harmless = (Role.INSENSITIVE, Role.UNDECIDED)
    return guess.role in harmless and other.role not in (*harmless, Role.WITHHELD)
