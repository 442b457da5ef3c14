"""What a column's name speaks of: its words, alone and joined, looked up in the lexicon."""

from __future__ import annotations

import itertools
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from kanopy._table.guessing.lexicon import DURATION, PERSON_NAME, PLACE, RECORD_NUMBER, Meaning, lexicon
from kanopy._table.roles import Role

WHOLE, PAIR, WORD, STEM, DERIVED, INSIDE = 100, 60, 50, 30, 25, 15
"""How much a match counts: the whole name, two words joined, one word, its beginning, a word behind a prefix, and a
word that another begins or ends with."""
LATER = 4
"""What comes later in a name says more: `patient_age` is an age, `age_group` is one too."""
BESIDE = 20
"""Numbers and units say less than any other word of a name: `sentence_months` is a sentence."""
UNITS = frozenset({"months", "years", "yrs", "weeks", "days", "hours", "minutes", "monate", "jahre", "mois", "meses"})
SHORTEST_STEM = 5
VOWELS = "aeiou"
SHORTEST_CORE = 3
SHORTEST_INSIDE = 4
SHORT_BEGINNINGS = ("age", "sex", "eth", "edu", "bmi", "dob", "zip", "inc", "occ")
LETTERS = {"ß": "ss", "ı": "i", "ä": "ae", "ö": "oe", "ü": "ue", "ø": "o", "æ": "ae", "ł": "l"}
CLEAR_ENDINGS = ("race", "educ", "wage", "male", "smoke", "kids", "time")
SHORT_ENDINGS = ("dol", "siz", "fam", "job", "sch")
LONGEST_REST = 3
"""A short word counts as the beginning of another where at most so many letters follow: `agea`, `sexf`."""
LONGEST_WITH_ENDING = 8
"""And as the end of one of at most so many: `meddol`, `classsiz`, `lfam`."""
ENDINGS_OF_NUMBERS = frozenset({"id", "no", "nr", "number", "num", "key", "uuid", "guid", "ids"})


@dataclass(frozen=True)
class NameMeaning:
    """A meaning of a name and how clearly the name speaks of it."""

    meaning: Meaning
    strength: int


def words_of(name: str, *, spelled: bool = True) -> tuple[str, ...]:
    """The words of a column name without accents, split at signs, digits and capitals; `spelled` writes ö as oe.

    >>> words_of("Birth_Date"), words_of("HealthCareExpenses2"), words_of("Größe"), words_of("kön", spelled=False)
    (('birth', 'date'), ('health', 'care', 'expenses'), ('groesse',), ('kon',))
    """
    spaced = re.sub(r"(?<=[a-zäöüß])(?=[A-ZÄÖÜ])|(?<=[A-Z])(?=[A-Z][a-z])", " ", name).lower()
    for letter, plain in LETTERS.items():
        spaced = spaced.replace(letter, plain if spelled or letter not in "äöü" else letter)
    plain = "".join(c for c in unicodedata.normalize("NFKD", spaced) if not unicodedata.combining(c))
    return tuple(word for word in re.split(r"[^a-z]+", plain) if word)


def meanings_of(name: str) -> list[NameMeaning]:
    """What a name may speak of, the clearest first.

    >>> [spoken.meaning.says for spoken in meanings_of("patient_age")]
    ['age', 'a record number']
    >>> meanings_of("lfaminc")[0].meaning.says, meanings_of("husage")[0].meaning.says, meanings_of("qzx")
    ('money', 'age', [])
    """
    return list(_meanings_of(name))


@lru_cache(maxsize=4096)
def _meanings_of(name: str) -> tuple[NameMeaning, ...]:
    best: dict[str, NameMeaning] = {}
    spellings = dict.fromkeys((words_of(name), words_of(name, spelled=False)))
    for meaning, strength in itertools.chain(_in_scripts(name), *map(_matches, spellings)):
        clearest = best.get(meaning.says)
        if clearest is None or clearest.strength < strength:
            best[meaning.says] = NameMeaning(meaning, strength)
    return tuple(sorted(best.values(), key=lambda spoken: -spoken.strength))


def _matches(words: tuple[str, ...]) -> Iterator[tuple[Meaning, int]]:
    index = lexicon().index
    whole = "".join(words)
    alone = tuple(meaning for meaning in lexicon().meanings if whole in meaning.alone)
    for meaning in (index.get(whole) or _singular(whole)) + alone:
        yield meaning, WHOLE
    for position, (first, second) in enumerate(itertools.pairwise(words)):
        for meaning in index.get(first + second) or _singular(first + second):
            yield meaning, PAIR + LATER * position
    for position, word in enumerate(words):
        if word in ENDINGS_OF_NUMBERS and 0 < position == len(words) - 1:
            # `patient_id` is a number of patients, whatever else its words speak of.
            for meaning in index[word if word in index else "id"]:
                yield meaning, WHOLE - 1
            continue
        meanings = index.get(word, ()) or _singular(word) or _named_after(word)
        for meaning in meanings:
            weight = WORD + LATER * position
            is_number = meaning.says in (RECORD_NUMBER, DURATION) or (word in UNITS and position == len(words) - 1)
            yield meaning, weight - BESIDE if is_number and len(words) > 1 else weight
        if not meanings:
            yield from _within(word)


def _in_scripts(name: str) -> Iterator[tuple[Meaning, int]]:
    """Meanings of words in other letters: whole words where blanks part them, anywhere in a name where none do.

    What comes later says more, and a longer word hides the shorter ones in it.
    """
    if name.isascii():
        return
    letters = (c if unicodedata.category(c)[0] in "LM" else " " for c in unicodedata.normalize("NFC", name).casefold())
    plain = " ".join("".join(letters).split())
    taken = [False] * len(plain)
    for word, meaning in lexicon().scripts.items():
        at = plain.rfind(word)
        if at < 0 or any(taken[at : at + len(word)]):
            continue
        parted = (at == 0 or plain[at - 1] == " ") and (at + len(word) == len(plain) or plain[at + len(word)] == " ")
        if not parted and not _WITHOUT_BLANKS.search(word):
            continue
        taken[at : at + len(word)] = [True] * len(word)
        yield meaning, WHOLE if word == plain else WORD + LATER * (at > 0) + len(word)


_WITHOUT_BLANKS = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")


def _singular(word: str) -> tuple[Meaning, ...]:
    """What one of several speaks of: `loans` as `loan`, where the word itself is not known."""
    one = word[:-1] if word.endswith("s") and len(word) > SHORTEST_STEM - 1 else ""
    return tuple(meaning for meaning in lexicon().index.get(one, ()) if meaning.role != Role.IDENTIFIER)


def _named_after(word: str) -> tuple[Meaning, ...]:
    """A column named after a place says who is from there: `suffolk`, `lives_in_berlin`."""
    return tuple(meaning for meaning in lexicon().meanings if meaning.says == PLACE and word in meaning.values)


def _within(word: str) -> Iterator[tuple[Meaning, int]]:
    """Meanings of a word that is not in the lexicon: by its beginning, or behind a prefix or before a suffix."""
    words = lexicon()
    if len(word) >= SHORTEST_STEM:
        for meaning in words.meanings:
            if any(word.startswith(stem) for stem in meaning.stems):
                yield meaning, STEM
    # What is left without a prefix or a suffix, and then without one more on the other side.
    cores = [word.removeprefix(prefix) for prefix in words.prefixes if word.startswith(prefix)]
    cores += [word.removesuffix(suffix) for suffix in words.suffixes if word.endswith(suffix)]
    cores += [core.removesuffix(suffix) for core in cores for suffix in words.suffixes if core.endswith(suffix)]
    cores += [core.removeprefix(prefix) for core in cores for prefix in words.prefixes if core.startswith(prefix)]
    for core in cores:
        if len(core) >= SHORTEST_CORE:
            for meaning in words.index.get(core, ()):
                if meaning.says not in (RECORD_NUMBER, PERSON_NAME) and (
                    len(core) > SHORTEST_CORE or core in SHORT_BEGINNINGS
                ):
                    yield meaning, DERIVED + min(len(core), 5)
    yield from _inside(word)


def _inside(word: str) -> Iterator[tuple[Meaning, int]]:
    """Meanings of the longest known word that a compound begins or ends with (`votetrump`, `stateabb`), of two that it
    is made of (`kidhome`), of one it is cut off from (`geschl`), of a short one behind one for people (`studage`), or
    of one whose consonants it is (`rgn`, `emplmnt`); words for who somebody is are not looked for there."""
    index = lexicon().index
    for size in range(len(word) - 1, SHORTEST_INSIDE - 1, -1):
        ending = word[-size:] if size > SHORTEST_INSIDE or word[-size:] in CLEAR_ENDINGS else ""
        possible = [meaning for stem in (ending, word[:size]) for meaning in index.get(stem, ())]
        if any(meaning.role != Role.IDENTIFIER for meaning in possible):
            yield from ((meaning, INSIDE + size // 2) for meaning in possible if meaning.role != Role.IDENTIFIER)
            return
    halves = [(word[:at], word[at:]) for at in range(SHORTEST_CORE, len(word) - SHORTEST_CORE + 1)]
    both = next((pair for pair in halves if pair[0] in index and pair[1] in index), ())
    if any(meaning.role != Role.IDENTIFIER for half in both for meaning in index[half]):
        yield from ((meaning, INSIDE) for half in both for meaning in index[half] if meaning.role != Role.IDENTIFIER)
        return
    if word[-3:] in SHORT_ENDINGS and len(word) <= LONGEST_WITH_ENDING:
        yield from ((meaning, INSIDE) for meaning in index.get(word[-3:], ()))
        return
    meant = _cut_off(word)
    if len(meant) == 1:
        yield from ((meaning, INSIDE) for meaning in lexicon().meanings if meaning.says in meant)
        return
    start, whose = word[:3], word[:-3]
    if word[-3:] in SHORT_BEGINNINGS and len(whose) >= SHORTEST_CORE and _of_people(whose):
        yield from ((meaning, INSIDE) for meaning in index.get(word[-3:], ()))
    elif start in SHORT_BEGINNINGS and len(word) <= 3 + LONGEST_REST:
        yield from ((meaning, INSIDE) for meaning in index.get(start, ()))
    elif len(word) >= SHORTEST_CORE and not set(word[1:]) & set("aeiou"):
        meanings = _skeletons().get(word, frozenset())
        if len(meanings) == 1:
            yield from ((meaning, INSIDE) for meaning in lexicon().meanings if meaning.says in meanings)


def _cut_off(word: str) -> frozenset[str]:
    """What the words speak of that one is cut off from, before a vowel as people do: `geschl` is from `geschlecht`."""
    if len(word) < SHORTEST_STEM or word[-1] in VOWELS or word in lexicon().suffixes:
        return frozenset()
    begun = [
        meanings for entry, meanings in lexicon().index.items() if entry.startswith(word) and entry[len(word)] in VOWELS
    ]
    roles = (Role.QUASI_IDENTIFIER, Role.SENSITIVE)
    return frozenset(meaning.says for meanings in begun for meaning in meanings if meaning.role in roles)


def _of_people(beginning: str) -> bool:
    """Whether a part of a word begins one for people: `stud` of `studage`, `lect` of `lectage`."""
    return any(person.startswith(beginning) for person in lexicon().people)


@lru_cache(maxsize=1)
def _skeletons() -> dict[str, frozenset[str]]:
    """What words speak of, by their consonants and, from four letters on, the beginnings of these."""
    skeletons: dict[str, set[str]] = {}
    for word, meanings in lexicon().index.items():
        bones = word[0] + re.sub("[aeiou]", "", word[1:])
        if len(word) > SHORTEST_STEM and bones != word:
            for size in {*range(4, len(bones)), len(bones)}:
                meant = skeletons.setdefault(bones[:size], set())
                meant |= {meaning.says for meaning in meanings if meaning.role != Role.IDENTIFIER}
    return {bones: frozenset(says) for bones, says in skeletons.items() if says}
