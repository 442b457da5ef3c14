"""Whether the values of a column of names name people, or things such as stations, cars, products and countries.

A column called `name` may hold either. Names of people hold given names, family names or initials that lists know, and
hardly a word twice; names of things hold digits, sentences, small letters, or a word that many of them share
(`Airport`, `Inc.`). What neither tells is a name of a person or a thing.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass

from kanopy._table.guessing.evidence.views import ColumnView, FactFunction
from kanopy._table.guessing.lexicon import PERSON_NAME
from kanopy._table.guessing.person_names import PARTICLES, is_given_name, listed
from kanopy._table.guessing.value_kinds import HONOURED, MOSTLY, Values

NAMED, KNOWN, INITIALS = 0.2, 0.3, 0.5
"""So large a share of names of people has a given name, a given or family name, or an initial."""
FEW_KNOWN, FEWER_KNOWN, SHARED, FEWEST_SHARING, OFTEN_SHARED, MANY_SHARING = 0.15, 0.2, 0.1, 3, 0.15, 10
"""Names of things have fewer known names; a word is shared by so many of them, at least three or ten."""
NUMBERED, LONG, SMALL, MOST_WORDS = 0.1, 0.1, 0.5, 4
"""So large a share of names of things holds digits, more than four words, or no capital."""
SHORTEST_SHARED = 3
GENERIC = frozenset(
    "name names nom noms nome nomes nombre nombres naam namen navn namn nimi isim imie ad nm alias nickname "  # noqa: SIM905
    "nominativo signature".split()
)
"""Words of column names that stand above names of people and of things."""
WHO_SOMEBODY_IS = frozenset(
    "contact contacts provider agent agente author actor attending manager celebrity judge doctor physician surgeon "  # noqa: SIM905
    "therapist dentist supervisor attorney counsel arzt medico medecin juez juge richter".split()
)
"""Words for people that stand above their names, and above answers about them (`doctor`: seen or not)."""
_WORD = re.compile(r"[^\s,;:()\[\]/|\"]+")
_INITIAL = re.compile(r"[^\W\d_]\.?")


@dataclass(frozen=True)
class NameShares:
    """Shares of the different values of a column."""

    given: float = 0.0
    known: float = 0.0
    initials: float = 0.0
    digits: float = 0.0
    small: float = 0.0
    long: float = 0.0
    shared: float = 0.0
    sharing: int = 0
    """How many values have the word that most share and that is no name."""


def name_shares(seen: Values) -> NameShares:
    """What the values of a column share with names of people, and with names of things.

    >>> import polars as pl
    >>> shares = name_shares(Values(pl.Series(["Boston Airport", "Rome Airport", "Maria Rossi", "Logan Airport"])))
    >>> shares.given, shares.shared
    (0.25, 0.75)
    """
    texts = seen.sample.to_list() if seen.text else []
    if not texts:
        return NameShares()
    values = [[word.strip(".'’") for word in _WORD.findall(text)] for text in texts]
    initial = [any(_INITIAL.fullmatch(word) for word in _WORD.findall(text)) for text in texts]
    family, no_names = listed("family") | listed("also_names"), listed("titles") | PARTICLES | {"jr", "sr", "iii"}
    given, known_names, shared = 0, 0, Counter[str]()
    for words in values:
        small = {word.casefold() for word in words if word}
        are_given = {word for word in small if is_given_name(word)}
        given += bool(are_given)
        known_names += bool(are_given or small & family)
        shared.update(word for word in small - are_given - family - no_names if len(word) >= SHORTEST_SHARED)
    number = len(texts)
    sharing = max(shared.values(), default=0)
    return NameShares(
        given / number,
        known_names / number,
        sum(initial) / number,
        sum(any(c.isdigit() for c in text) for text in texts) / number,
        sum(text == text.lower() != text.upper() for text in texts) / number,
        sum(len(words) > MOST_WORDS for words in values) / number,
        sharing / number,
        sharing,
    )


def name_people(seen: Values) -> bool:
    """Whether values hold names that people have."""
    shares = name_shares(seen)
    are_known = shares.given >= NAMED or shares.known >= KNOWN or shares.initials >= INITIALS
    return (are_known and not name_things(seen)) or (seen.text and seen.share(HONOURED) >= MOSTLY)


def name_things(seen: Values) -> bool:
    """Whether values hold hardly a name that people have, and what names of things have."""
    shares = name_shares(seen)
    if not seen.text or shares.given >= FEW_KNOWN:
        return False
    if shares.long >= LONG or (shares.shared >= OFTEN_SHARED and shares.sharing >= MANY_SHARING):
        return True
    shared = shares.shared >= SHARED and shares.sharing >= FEWEST_SHARING
    return shares.known < FEWER_KNOWN and (shared or shares.digits >= NUMBERED or shares.small >= SMALL)


def named_after(column: ColumnView, words: frozenset[str]) -> bool:
    """Whether nothing but such words says that a column is about names of people."""
    meaning = column.meaning
    if meaning is None or meaning.says != PERSON_NAME:
        return False
    spoken = {word for word in column.words if word in meaning.words}
    return bool(spoken) and spoken <= words and "".join(column.words) not in meaning.words - words


FACTS: dict[str, FactFunction] = {
    "names of people": lambda column, _: name_people(column.seen),
    "names of things": lambda column, _: name_things(column.seen),
    "called a name": lambda column, _: named_after(column, GENERIC),
    "called a name or who somebody is": lambda column, _: named_after(column, GENERIC | WHO_SOMEBODY_IS),
}
