"""What a column's name speaks of: its words, alone and joined, looked up in the lexicon."""

from __future__ import annotations

import itertools
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

from kanopy._table.guessing.lexicon import RECORD_NUMBER, Meaning, lexicon

WHOLE, PAIR, WORD, STEM, DERIVED = 100, 60, 50, 30, 25
"""How much a match counts: the whole name, two words joined, one word, its beginning, and a word behind a prefix."""
LATER = 4
"""What comes later in a name says more: `patient_age` is an age, `age_group` is one too."""
SHORTEST_STEM = 5
SHORTEST_CORE = 3
ENDINGS_OF_NUMBERS = frozenset({"id", "no", "nr", "number", "num", "key", "uuid", "guid", "ids"})


@dataclass(frozen=True)
class Spoken:
    """A meaning of a name and how clearly the name speaks of it."""

    meaning: Meaning
    strength: int


def words_of(name: str) -> tuple[str, ...]:
    """The words of a column name without accents, split at signs, digits and capitals.

    >>> words_of("Birth_Date"), words_of("HealthCareExpenses2"), words_of("Größe")
    (('birth', 'date'), ('health', 'care', 'expenses'), ('groesse',))
    """
    spaced = re.sub(r"(?<=[a-zäöüß])(?=[A-ZÄÖÜ])|(?<=[A-Z])(?=[A-Z][a-z])", " ", name).lower()
    for letter, plain in (("ß", "ss"), ("ı", "i"), ("ä", "ae"), ("ö", "oe"), ("ü", "ue")):
        spaced = spaced.replace(letter, plain)
    plain = "".join(c for c in unicodedata.normalize("NFKD", spaced) if not unicodedata.combining(c))
    return tuple(word for word in re.split(r"[^a-z]+", plain) if word)


def meanings_of(name: str) -> list[Spoken]:
    """What a name may speak of, the clearest first.

    >>> [spoken.meaning.says for spoken in meanings_of("patient_age")]
    ['age', 'a record number']
    >>> meanings_of("lfaminc")[0].meaning.says, meanings_of("husage")[0].meaning.says, meanings_of("qzx")
    ('money', 'age', [])
    """
    best: dict[str, Spoken] = {}
    for meaning, strength in _matches(words_of(name)):
        known = best.get(meaning.says)
        if known is None or known.strength < strength:
            best[meaning.says] = Spoken(meaning, strength)
    return sorted(best.values(), key=lambda spoken: -spoken.strength)


def _matches(words: tuple[str, ...]) -> Iterator[tuple[Meaning, int]]:
    index = lexicon().index
    whole = "".join(words)
    for meaning in index.get(whole, ()):
        yield meaning, WHOLE
    for place, (first, second) in enumerate(itertools.pairwise(words)):
        for meaning in index.get(first + second, ()):
            yield meaning, PAIR + LATER * place
    for place, word in enumerate(words):
        if word in ENDINGS_OF_NUMBERS and 0 < place == len(words) - 1:
            # `patient_id` is a number of patients, whatever else its words speak of.
            for meaning in index[word if word in index else "id"]:
                yield meaning, WHOLE - 1
            continue
        found = index.get(word, ())
        for meaning in found:
            weight = WORD + LATER * place
            yield meaning, weight - 20 if meaning.says == RECORD_NUMBER and len(words) > 1 else weight
        if not found:
            yield from _within(word)


def _within(word: str) -> Iterator[tuple[Meaning, int]]:
    """Meanings of a word that is not in the lexicon: by its beginning, or behind a prefix or before a suffix."""
    known = lexicon()
    if len(word) >= SHORTEST_STEM:
        for meaning in known.meanings:
            if any(word.startswith(stem) for stem in meaning.stems):
                yield meaning, STEM
    cores = [word[len(p) :] for p in known.prefixes if word.startswith(p)]
    cores += [word[: -len(s)] for s in known.suffixes if word.endswith(s)]
    cores += [core[: -len(s)] for core in cores for s in known.suffixes if core.endswith(s)]
    cores += [core[len(p) :] for core in cores for p in known.prefixes if core.startswith(p)]
    for core in cores:
        if len(core) >= SHORTEST_CORE:
            for meaning in known.index.get(core, ()):
                if meaning.says != RECORD_NUMBER and (len(core) > SHORTEST_CORE or core in ("age", "inc", "edu")):
                    yield meaning, DERIVED + min(len(core), 5)
