"""What the columns of a table say of one another: relatives, coarser forms, answers that exclude each other, and the
company in which numbers of unknown meaning stand."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import polars as pl

from kanopy._table.guessing.lexicon import HEALTH, lexicon
from kanopy._table.guessing.names import words_of
from kanopy._table.guessing.structure import coarser_form, dummy_groups, exclude, of_another, same_thing, yes_no_runs
from kanopy._table.guessing.values import MOSTLY, Values
from kanopy._table.roles import Role

if TYPE_CHECKING:
    from kanopy._table.guessing.guess import Guess

SURE, LIKELY, UNSURE = "sure", "likely", "unsure"
NOTHING = "nothing in its name or values says what it is"
FEW_VALUES = 12
"""A column of so few different values tells few people apart."""
HALF = 0.5
FEWEST_OF_BATTERY = 4
"""So many columns of yes and no in a row that others know, and at least half of the row, speak for the rest of it."""
FEWEST_MEASURES, SHORTEST_TOPIC = 5, 3
"""So many columns of many numbers whose names begin with the same word of so many letters are marks or measures."""
FEWEST_OF_HEALTH, SHARE_OF_HEALTH = 4, 0.3
"""So many columns about health, and that share of those whose meaning is known, make a table of measures of health."""
SHORTEST_CODE = 1000
"""Whole numbers from here on, all of as many digits, may be codes of places or offices."""

FARTHEST, NEAR, FAR, FINE = 180.0, 30.0, 15.0, 1000
"""Degrees of the globe, of a region, of latitude or longitude at most places, and parts of a degree: a street."""

Alike = dict[str, tuple[str, str]]
"""Per column another that it is like, and in which way."""


def relatives(frame: pl.DataFrame, values: Mapping[str, Values], found: Mapping[str, Guess]) -> Alike:
    """Columns that say the same as another, or are the same of somebody else (`ht` and `dht`, `agew` and `ageh`)."""
    alike: Alike = {}
    for name, other in of_another(frame.columns, values).items():
        if is_open(found[name]) and not is_open(found[other]) and found[other].role != Role.IDENTIFIER:
            alike[name] = (other, "is named like")
    for name, other in same_thing(frame, values).items():
        certain = found[other].role != Role.IDENTIFIER or found[other].certainty == SURE
        if _weaker(found[name], found[other]) and certain:
            alike[name] = (other, "says the same as")
    return alike


def coarser(frame: pl.DataFrame, values: Mapping[str, Values], found: Mapping[str, Guess]) -> Alike:
    """Columns that say less of what another says (`mature` and `mage`, `d81` and `year`)."""
    known = [name for name, guess in found.items() if guess.role == Role.QUASI_IDENTIFIER and not values[name].nested]
    finer = {
        name: coarser_form(frame, name, known, values)
        for name, guess in found.items()
        if is_open(guess) and values[name].distinct <= FEW_VALUES
    }
    return {name: (other, "is a coarser form of") for name, other in finer.items() if other is not None}


def groups(frame: pl.DataFrame, values: Mapping[str, Values], found: Mapping[str, Guess]) -> Alike:
    """Columns of which at most one is true in each row (`white`, `black`, `asian`) share the role of those known."""
    members: Alike = {}
    for group in dummy_groups(frame, values):
        known = [name for name in group if not is_open(found[name]) and found[name].role == Role.QUASI_IDENTIFIER]
        if known:
            members |= {name: (known[0], "excludes") for name in group if is_open(found[name])}
    runs = yes_no_runs(frame, values)
    answers = [name for run in runs for name in run]
    told = [name for name in answers if found[name].role == Role.QUASI_IDENTIFIER and not is_open(found[name])]
    for name in answers:
        if is_open(found[name]) and name not in members:
            apart = [other for other in told if exclude(frame, name, other, values)]
            alike = [
                other
                for other in apart
                if any(
                    _same_topic(found, other, each) and exclude(frame, other, each, values)
                    for each in apart
                    if each != other
                )
            ]
            if alike:
                members[name] = (alike[0], "excludes")
    for battery in runs:
        known = [name for name in battery if found[name].role == Role.QUASI_IDENTIFIER]
        if len(known) >= max(FEWEST_OF_BATTERY, HALF * len(battery)):
            members |= {name: (known[0], "stands among answers such as") for name in battery if is_open(found[name])}
    return members


def _same_topic(found: Mapping[str, Guess], one: str, other: str) -> bool:
    """Whether two names speak of the same thing."""
    return found[one].reason.partition(";")[0] == found[other].reason.partition(";")[0]


def is_open(guess: Guess) -> bool:
    """Whether nothing but the number of its values was known of a column."""
    return guess.certainty == UNSURE and guess.reason.startswith(NOTHING)


def _weaker(guess: Guess, other: Guess) -> bool:
    """Whether a column is thought more harmless than another that says the same."""
    return guess.role in (Role.INSENSITIVE, Role.UNDECIDED) and other.role not in (Role.INSENSITIVE, Role.UNDECIDED)


def measures(values: Mapping[str, Values], found: Mapping[str, Guess]) -> dict[str, Guess]:
    """Numbers of unknown meaning that stand among many of their kind, or in a table about health: what was measured of
    people, and nothing that others know of them."""
    numbers = [name for name in found if values[name].numeric and values[name].distinct > FEW_VALUES]
    topics = {
        name: words[0] for name in numbers if len((words := words_of(name))[:1]) and len(words[0]) >= SHORTEST_TOPIC
    }
    counted, others = (
        Counter(topics.values()),
        Counter(
            topic for name, topic in topics.items() if found[name].role in (Role.QUASI_IDENTIFIER, Role.IDENTIFIER)
        ),
    )
    known = [guess for guess in found.values() if not guess.reason.startswith(NOTHING)]
    healthy = sum(guess.reason.startswith(f"its name speaks of {HEALTH};") for guess in known)
    clinical = healthy >= max(FEWEST_OF_HEALTH, SHARE_OF_HEALTH * len(known))
    degrees = [name for name in numbers if is_open(found[name]) and _may_be_degrees(values[name])]
    if not any(abs(float(values[name].numbers.median() or 0)) >= FAR for name in degrees):  # type: ignore[arg-type]
        degrees = []  # logarithms and shares look the same, but are small
    told = {}
    for name in numbers:
        if not is_open(found[name]) or found[name].role != Role.UNDECIDED:
            continue
        topic = topics.get(name, "")
        if topic and counted[topic] >= FEWEST_MEASURES and others[topic] <= HALF * HALF * counted[topic]:
            why = f"one of {counted[topic]} columns of numbers named {topic!r}: taken as measured"
        elif clinical and not _code(values[name]):
            why = "stands among measures of health: taken as one"
        elif values[name].fractions and name not in degrees and not _of_people(name):
            why = f"{NOTHING}: measured, not counted, and taken as sensitive until you know better"
        else:
            continue
        shape = found[name].reason.partition("; ")[2].partition(";")[0]
        told[name] = replace(found[name], role=Role.SENSITIVE, reason=f"{why}; {shape}")
    return told


def told_by(frame: pl.DataFrame, values: Mapping[str, Values], found: Mapping[str, Guess]) -> dict[str, Guess]:
    """Columns of few values and unknown meaning that say a part of what an undecided column says: published, they would
    give it away."""
    secret = [name for name, guess in found.items() if guess.role == Role.UNDECIDED and not values[name].nested]
    told = {}
    for name, guess in found.items():
        if guess.role == Role.SENSITIVE and is_open(guess) and values[name].distinct <= FEW_VALUES:
            other = coarser_form(frame, name, secret, values)
            if other is not None:
                reason = f"{NOTHING}; says a part of what {other!r} says, which is undecided"
                told[name] = replace(guess, role=Role.UNDECIDED, reason=reason)
    return told


def _of_people(name: str) -> bool:
    """Whether a name says nothing but who it is of: what others know of a father may be meant."""
    return all(word in lexicon().people for word in words_of(name))


def _may_be_degrees(seen: Values) -> bool:
    """Whether numbers may be degrees of places: written to four decimals or more, on the globe, near each other."""
    low, high = seen.numbers.min(), seen.numbers.max()
    if not seen.fractions or not isinstance(low, float) or not isinstance(high, float) or max(-low, high) > FARTHEST:
        return False
    finer = seen.numbers * FINE
    return high - low < NEAR and int((finer != finer.round()).sum()) >= MOSTLY * len(finer)


def _code(seen: Values) -> bool:
    """Whether whole numbers may be codes: large, and all of as many digits."""
    low, high = seen.numbers.min(), seen.numbers.max()
    whole = not seen.fractions and isinstance(low, float) and isinstance(high, float) and low >= SHORTEST_CODE
    return whole and len(str(int(low))) == len(str(int(high)))  # type: ignore[arg-type]
