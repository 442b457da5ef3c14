"""What the name of a column says, and what it is taken to mean: facts that the tables of evidence name."""

from __future__ import annotations

import itertools
import re

from kanopy._table.guessing.column_names import ENDINGS_OF_NUMBERS, SHORTEST_STEM, STEM, WORD, meanings_of, words_of
from kanopy._table.guessing.evidence.sample_design import names_part_of_sample
from kanopy._table.guessing.evidence.views import ColumnView, FactFunction
from kanopy._table.guessing.lexicon import RECORD_NUMBER, lexicon
from kanopy._table.guessing.structure import hangs_on
from kanopy._table.guessing.value_kinds import MOSTLY
from kanopy._table.roles import HOUSEHOLD_WORDS, Role

FEWEST_OF_PEOPLE, OF_ROWS = 30, 0.02
ONLY_OF_PEOPLE = frozenset(
    {"marital status", "education", "a religion", "a date of birth", "family and household", "a personal number"}
)
OF_PEOPLE = ONLY_OF_PEOPLE | {"age", "sex or gender", "work", "health", "a telephone number", "an e-mail address"}
"""What columns speak of in tables about people; the first hardly in others."""


def about_places(name: str) -> bool:
    """Whether a word of the name speaks of what others may know and is no word for people: a place, an employer."""
    words = [word for word in words_of(name) if word not in lexicon().people]
    return any(meaning.role == Role.QUASI_IDENTIFIER for word in words for meaning in lexicon().index.get(word, ()))


def counts_people(column: ColumnView) -> bool:
    """Whether a column is named after people and numbers them: `mom`, `prof`, `child_id`."""
    people, seen = lexicon().people, column.seen
    words = [word for word in column.words if word not in ENDINGS_OF_NUMBERS]
    named = all(word in people or re.sub(r"(id|no|nr|num|key)$", "", word) in people for word in words)
    if not words or not named or seen.fractions or seen.dates:
        return False
    if seen.distinct <= max(FEWEST_OF_PEOPLE, OF_ROWS * seen.rows) or not (seen.numeric or seen.codes):
        return False
    numbered = column.words[-1] in ENDINGS_OF_NUMBERS or words[-1] not in people
    table = column.table
    return numbered or seen.distinct > 0.5 * seen.rows or hangs_on(table.frame, column.name, table.values) > 0


def _only_short(column: ColumnView) -> bool:
    """Whether nothing but a word of at most three letters speaks of the meaning: `rep` may be a party or a team."""
    words = column.words
    parts = (*words, "".join(words), *("".join(pair) for pair in itertools.pairwise(words)))
    matching = [word for word in parts if column.meaning in lexicon().index.get(word, ())]
    return bool(matching) and max(map(len, matching)) <= SHORTEST_STEM - 2


def beside_people(column: ColumnView) -> bool:
    """Whether another column is clearly named after what people have: an age, a sex, a marital status, an income.

    Animals and machines have an age or a sex at most: one of these alone does not tell.
    """
    meanings = {
        meant.meaning.says
        for name in column.table.frame.columns
        if name != column.name
        for meant in meanings_of(name)[:1]
        if meant.strength >= WORD and meant.meaning.says in OF_PEOPLE
    }
    return bool(meanings & ONLY_OF_PEOPLE) or len(meanings) > 1


def _also(column: ColumnView, argument: str) -> bool:
    """Whether another meaning of the name, or a clear one of a role, is this."""
    return any(
        argument in (meant.meaning.says, meant.meaning.role) and meant.strength >= WORD
        for meant in column.spoken
        if meant.meaning is not column.meaning
    )


def _standard(column: ColumnView, argument: str) -> bool:
    entry = column.table.standards.get(column.name)
    return entry is not None and argument in (entry.role, entry.kind, "")


def _person(column: ColumnView) -> bool:
    return bool(column.words) and all(word in lexicon().people for word in column.words)


FACTS: dict[str, FactFunction] = {
    "says": lambda column, argument: column.meaning is not None and column.meaning.says == argument,
    "role": lambda column, argument: column.meaning is not None and column.meaning.role == argument,
    "clear": lambda column, _: column.meaning is not None and column.strength >= WORD,
    "partly": lambda column, _: column.meaning is not None and STEM <= column.strength < WORD,
    "faint": lambda column, _: column.meaning is not None and column.strength < STEM,
    "nameless": lambda column, _: column.meaning is None and column.name not in column.table.standards,
    "also": _also,
    "word": lambda column, argument: bool(set(argument.split("|")) & set(column.words)),
    "word ends with": lambda column, argument: any(word.endswith(tuple(argument.split("|"))) for word in column.words),
    "name has": lambda column, argument: any(infix in column.name.lower() for infix in argument.split("|")),
    "several words": lambda column, _: len(column.words) > 1,
    "ends with number": lambda column, _: bool(column.words) and column.words[-1] in ENDINGS_OF_NUMBERS,
    "short word only": lambda column, _: _only_short(column),
    "about places": lambda column, _: about_places(column.name),
    "counts people": lambda column, _: counts_people(column),
    "numbers something": lambda column, _: any(
        meant.meaning.says == RECORD_NUMBER and meant.strength >= WORD for meant in column.spoken
    ),
    "names a person": lambda column, _: _person(column),
    "household word": lambda column, _: bool(HOUSEHOLD_WORDS & set(column.words)),
    "alone": lambda column, _: column.meaning is not None and len(column.words) == 1
    and column.words[0] in column.meaning.alone,
    "beside people": lambda column, _: beside_people(column),
    "beside a sample": lambda column, _: any(map(names_part_of_sample, column.table.frame.columns)),
    "hangs": lambda column, _: bool(hangs_on(column.table.frame, column.name, column.table.values)),
    "standard": _standard,
    "mostly": lambda column, argument: column.seen.share(argument) >= MOSTLY,
}  # fmt: skip
