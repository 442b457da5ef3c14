"""A guess at the role of every column, with the reason and how sure it is. What is not clear stays undecided."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import polars as pl

from kanopy._table.guessing.lexicon import BODY, PERSON_NAME, RECORD_NUMBER
from kanopy._table.guessing.names import STEM, WORD, Spoken, meanings_of, words_of
from kanopy._table.guessing.structure import hangs_on, same_thing
from kanopy._table.guessing.values import BANDS, FEWEST_ROWS_TO_JUDGE, MOSTLY, Values
from kanopy._table.roles import Role

SURE, LIKELY, UNSURE = "sure", "likely", "unsure"
FEW_VALUES = 12
"""A column of so few different values tells few people apart."""
LONG_TEXT = 40
WEIGHT_WORDS = ("weight", "wt", "gewicht", "poids", "peso")
HEAVY = 300.0
"""Nobody weighs more: such weights count people of a population."""


@dataclass(frozen=True)
class Guess:
    """A guess at a column's role: why, how sure (`sure`, `likely`, `unsure`), and what kind of hierarchy would suit.

    `hierarchy_hint` is one of `numeric`, `date`, `mask` (codes cut from the right), `grouping` (few named values),
    `semantic` (words with a meaning) or `None`. `missing` are values that seem to stand for missing ones.
    """

    column: str
    role: Role
    reason: str
    hierarchy_hint: str | None
    certainty: str = LIKELY
    missing: tuple[str, ...] = ()


def guess_roles(frame: pl.DataFrame) -> list[Guess]:
    """A guess for every column, with the reason in plain words; `kanopy init` shows and writes them down.

    Names are looked up in several languages and as abbreviations; values tell addresses, numbers of persons, dates,
    codes and free text; columns that say the same as another share its role. What nothing speaks of, and could still
    point at people, is undecided: it is not published until somebody decides.

    >>> [str(guess.role) for guess in guess_roles(pl.DataFrame({"Name": ["Ann"], "Alter": [41], "income": [9]}))]
    ['identifier', 'quasi-identifier', 'sensitive']
    """
    values = {name: Values(frame[name].rename("")) for name in frame.columns}
    twins = same_thing(frame, values)
    found: dict[str, Guess] = {}
    for name in frame.columns:
        guess = _guess(frame, name, values)
        twin = twins.get(name)
        if twin is not None and _weaker(guess, found[twin]):
            reason = f"says the same as {twin!r}, which is a {found[twin].role}"
            guess = replace(guess, role=found[twin].role, reason=reason, hierarchy_hint=found[twin].hierarchy_hint)
        found[name] = replace(guess, missing=values[name].missing_codes)
    return list(found.values())


def _weaker(guess: Guess, other: Guess) -> bool:
    """Whether a column is thought more harmless than another that says the same."""
    return guess.role in (Role.INSENSITIVE, Role.UNDECIDED) and other.role not in (Role.INSENSITIVE, Role.UNDECIDED)


def _guess(frame: pl.DataFrame, name: str, values: Mapping[str, Values]) -> Guess:
    seen = values[name]
    shape = f"{seen.distinct:,} different values in {seen.rows:,} records"
    if seen.nested:
        return Guess(
            name, Role.IDENTIFIER, f"holds {frame[name].dtype} values, which cannot be generalized", None, SURE
        )
    if seen.rows == 0 or (seen.distinct == 1 and seen.rows > 1):
        why = "has the same value in every record" if seen.rows else "is empty"
        return Guess(name, Role.INSENSITIVE, why, None, SURE)
    pointer = seen.points_at_people
    if pointer is not None:
        return Guess(name, Role.IDENTIFIER, f"its values look like {pointer}; {shape}", None, SURE)
    spoken = meanings_of(name)
    if seen.free_text or (seen.length > LONG_TEXT and seen.text and not seen.dates and seen.distinct > 50):
        reason = f"is free text ({seen.length:.0f} characters on average): it may say anything about a person"
        return Guess(name, Role.IDENTIFIER, reason, None, SURE)
    for meaning in spoken:
        guess = _by_name(frame, name, seen, meaning, values, shape)
        if guess is not None:
            return guess
    return _by_values(frame, name, seen, values, shape)


def _by_name(
    frame: pl.DataFrame, name: str, seen: Values, spoken: Spoken, values: Mapping[str, Values], shape: str
) -> Guess | None:
    """The guess that a meaning of the name leads to, or `None` where the values do not fit it."""
    meaning = spoken.meaning
    says = f"its name speaks of {meaning.says}; {shape}"
    certainty = SURE if spoken.strength >= WORD else LIKELY if spoken.strength >= STEM else UNSURE
    if meaning.says == RECORD_NUMBER:
        return _record_number(frame, name, seen, values, says)
    if meaning.says == PERSON_NAME and (not seen.text or (seen.rows >= 200 and seen.distinct < 0.02 * seen.rows)):
        return None
    if meaning.role == Role.IDENTIFIER and meaning.says == "a street address" and seen.distinct <= FEW_VALUES:
        return None
    if meaning.role == Role.IDENTIFIER and seen.rows >= 200 and seen.distinct <= FEW_VALUES:
        return None
    if meaning.says == BODY and seen.numeric and any(word in WEIGHT_WORDS for word in words_of(name)):
        middle = seen.numbers.median()
        if isinstance(middle, float) and middle > HEAVY:
            return Guess(name, Role.INSENSITIVE, f"looks like a survey weight; {shape}", None, LIKELY)
    if meaning.role == Role.INSENSITIVE and seen.many_alone and seen.distinct > FEW_VALUES:
        return Guess(name, Role.UNDECIDED, f"{says}, many of them of one record only: decide", "numeric", UNSURE)
    if meaning.says == "sex or gender" and seen.distinct > 60:
        return None
    if meaning.says == "a date" and not (seen.dates or seen.numeric):
        return None
    hint = meaning.hint
    if seen.dates:
        hint = "date"
    elif hint == "date" or (seen.numeric and hint not in ("mask", None)):
        hint = "numeric" if seen.numeric else "grouping"
    return Guess(name, meaning.role, says, hint, certainty)


def _record_number(
    frame: pl.DataFrame, name: str, seen: Values, values: Mapping[str, Values], says: str
) -> Guess | None:
    """A number of a record or a person: unique, or repeated with what belongs to the person beside it."""
    if seen.fractions or seen.dates:
        return None
    if seen.distinct > 0.5 * seen.rows:
        return Guess(name, Role.IDENTIFIER, says, None, SURE)
    if seen.distinct > max(FEW_VALUES, 0.02 * seen.rows):
        hanging = hangs_on(frame, name, values)
        if hanging:
            why = f"{says}; {hanging} other columns have one value for each of them"
            return Guess(name, Role.IDENTIFIER, why, None, LIKELY)
        return Guess(name, Role.IDENTIFIER, f"{says}, each many times", None, LIKELY)
    return None


def _by_values(frame: pl.DataFrame, name: str, seen: Values, values: Mapping[str, Values], shape: str) -> Guess:
    """The guess for a name that says nothing."""
    if seen.full_names:
        return Guess(name, Role.IDENTIFIER, f"its values look like names of people; {shape}", None, LIKELY)
    if seen.disease_codes:
        return Guess(name, Role.SENSITIVE, f"its values look like codes of diseases; {shape}", "mask", LIKELY)
    if seen.dates:
        return Guess(name, Role.QUASI_IDENTIFIER, f"holds dates, which others may know; {shape}", "date", LIKELY)
    counted = seen.numeric and not seen.fractions and seen.nearly_unique
    if seen.many_alone and seen.distinct > FEW_VALUES and (seen.text or counted):
        reason = f"its value occurs only once in {seen.alone:,} of {seen.rows:,} records: there it points at one person"
        return Guess(name, Role.IDENTIFIER, reason, None, LIKELY if seen.nearly_unique else UNSURE)
    reason = f"nothing in its name or values speaks of a person; {shape}"
    if seen.distinct <= FEW_VALUES or (seen.rows < FEWEST_ROWS_TO_JUDGE and seen.numeric):
        return Guess(name, Role.INSENSITIVE, reason, None, LIKELY)
    if seen.text and seen.share(BANDS) >= MOSTLY:
        return Guess(name, Role.UNDECIDED, f"holds bands of numbers, of what is not clear; {shape}", "grouping", UNSURE)
    telling = f"{reason}; but with so many values it may tell people apart: decide what it is"
    return Guess(name, Role.UNDECIDED, telling, "numeric" if seen.numeric else "grouping", UNSURE)
