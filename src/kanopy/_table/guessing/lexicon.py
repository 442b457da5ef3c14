"""The words that column names are made of, read from `data/column_words.toml`."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from kanopy._table.roles import RECORD_NUMBER as RECORD_NUMBER
from kanopy._table.roles import Role

DATA = Path(__file__).resolve().parents[2] / "data"
WORDS, SCRIPTS = DATA / "column_words.toml", DATA / "column_words_scripts.toml"
PERSON_NAME = "a person's name"
BODY = "body measures"
COORDINATES = "a street address"
HEALTH, MONEY, RESULTS = "health", "money", "results"
SURVEY_WEIGHT = "a survey weight"
DATE, YEAR, DURATION = "a date", "a year", "how long something took"
EDUCATION, FREE_TEXT, ORIGIN = "education", "free text", "origin"
PLACE, POST_CODE, WORK = "a place", "a post code", "work"


@dataclass(frozen=True)
class Meaning:
    """What a group of words speaks of, the role that suits it, and the kind of hierarchy if it is generalized."""

    says: str
    role: Role
    hint: str | None
    words: frozenset[str]
    stems: tuple[str, ...]
    values: frozenset[str]
    """Words that the values of such a column are made of, where those speak clearly."""
    alone: frozenset[str] = frozenset()
    """Words that speak of it only where they are the whole name."""


@dataclass(frozen=True)
class Lexicon:
    """All meanings, the words they are found by, and parts of words that change no meaning."""

    meanings: tuple[Meaning, ...]
    index: dict[str, tuple[Meaning, ...]]
    prefixes: tuple[str, ...]
    suffixes: tuple[str, ...]
    people: frozenset[str]
    """Words for people: a column of numbers named so counts them."""
    answers: frozenset[str]
    """Words of answers to a question, such as never and often."""
    scripts: dict[str, Meaning]
    """Words in letters other than Latin ones, the longest first."""


@lru_cache(maxsize=1)
def lexicon() -> Lexicon:
    """The lexicon, read once.

    >>> [meaning.says for meaning in lexicon().index["plz"]]
    ['a post code']
    """
    plain = tomllib.loads(WORDS.read_text(encoding="utf-8"))
    others = tomllib.loads(SCRIPTS.read_text(encoding="utf-8"))
    meanings = tuple(
        Meaning(
            entry["says"],
            Role(entry["role"]),
            entry.get("hint"),
            frozenset(entry["words"].split()),
            tuple(entry.get("stems", "").split()),
            frozenset((entry.get("values", "") + " " + others.get(entry["says"], {}).get("values", "")).split()),
            frozenset(entry.get("alone", "").split()),
        )
        for entry in plain["meaning"]
    )
    index: dict[str, tuple[Meaning, ...]] = {}
    for meaning in meanings:
        for word in meaning.words:
            index[word] = (*index.get(word, ()), meaning)
    parts = plain["parts"]
    scripts = {
        word.replace("_", " "): meaning
        for meaning in meanings
        for word in others.get(meaning.says, {}).get("words", "").split()
    }
    return Lexicon(
        meanings,
        index,
        tuple(parts["prefixes"].split()),
        tuple(parts["suffixes"].split()),
        frozenset(parts["people"].split()),
        frozenset(parts["answers"].split()),
        dict(sorted(scripts.items(), key=lambda item: -len(item[0]))),
    )
