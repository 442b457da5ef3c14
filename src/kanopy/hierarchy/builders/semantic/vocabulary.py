"""Vocabularies of everyday columns: trees of answers that public surveys give, with the spellings they use.

A file in `data/vocabularies/` has a line `source:`, a line `names:` with words of column names, and one line per group,
indented by two spaces below the group it is part of: `Label: spelling | spelling`. A spelling is a set of words: it is
found in every value that has them all. `?spelling` says little by itself (`white` is a colour first): it counts beside
others that say more, or under a column name that speaks of the subject.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[3] / "data" / "vocabularies"
NO_ANSWER = "answers"
"""The vocabulary whose codes of absent answers are understood in every column."""
_NEGATIVE = ("no", "not", "never", "non", "without", "un", "nicht", "kein", "keine", "sans", "sin", "ohne")
NEGATIVE = frozenset([*_NEGATIVE, *(f"{word}+" for word in _NEGATIVE)])
_FILLERS = """
    a all also an and any are as at be been being but by completed currently example for has have i in is it living my
    of on or other's own's than that the their to up via was with"""
FILLERS = frozenset(_FILLERS.split())
SHORT = {
    "acdm": "academic", "adm": "administrative", "amer": "american", "assoc": "associate", "civ": "civilian",
    "emp": "employed", "empl": "employed", "exec": "executive", "gov": "government", "govt": "government",
    "grad": "graduate", "hs": "high school", "inc": "incorporated", "pac": "pacific", "priv": "private",
    "prof": "professional", "serv": "service", "svc": "service", "tech": "technical", "uni": "university",
    "univ": "university", "voc": "vocational", "ft": "full time", "pt": "part time", "labour": "labor",
    "fulltime": "full time", "parttime": "part time", "selfemployed": "self employed", "hh": "household",
}  # fmt: skip
LEAST_SHARE, LEAST_SHARE_OF_TWO = 0.5, 0.3
"""A spelling is such a share of a value's words, at least; one of two or more words may be less."""
LONGEST = 160
"""Longer texts are no answers of a list."""
_BRACKETS = re.compile(r"\([^()]*\)|\[[^\[\]]*\]")
_NUMBER = re.compile(r"^\s*\d{1,3}\s*[.):=-]\s*(?=\D)")
_NOT_APPLICABLE = re.compile(r"\bn\s*[/.]\s*a\b")
_WORDS = re.compile(r"[^\W_]+")


@lru_cache(maxsize=50_000)
def words_of(text: str) -> tuple[str, ...]:
    """The words of an answer, folded: case, accents, plural, usual abbreviations, fillers, a number before it.

    >>> words_of("Self-emp-not-inc"), words_of("3. Bachelor's degree (for example: BA)"), words_of("Don't know")
    (('self', 'employed', 'not', 'incorporated'), ('bachelor', 'degree'), ('dont', 'know'))
    """
    plain = unicodedata.normalize("NFKD", _NUMBER.sub("", text).casefold().replace("'", "").replace("’", ""))
    plain = _NOT_APPLICABLE.sub("na", "".join(letter for letter in plain if not unicodedata.combining(letter)))
    outside = _BRACKETS.sub(" ", plain)
    tokens = [
        word for token in _WORDS.findall(outside) or _WORDS.findall(plain) for word in SHORT.get(token, token).split()
    ]
    words_left = [_singular(word) for word in tokens if word not in FILLERS] or tokens
    # `not employed, looking` and `not employed, not looking` differ in how often they negate.
    again = [f"{word}+" if word in NEGATIVE and word in words_left[:at] else word for at, word in enumerate(words_left)]
    return tuple(dict.fromkeys(again))


def _singular(word: str) -> str:
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")) else word


@dataclass(frozen=True)
class Entry:
    """A spelling: the words it consists of, the group it means, and whether it says little by itself."""

    words: frozenset[str]
    group: int
    weak: bool


@dataclass(frozen=True)
class Vocabulary:
    """Groups in depth-first order, each with the one above it, and the spellings of answers."""

    name: str
    source: str
    names: frozenset[str]
    labels: tuple[str, ...]
    parents: tuple[int, ...]
    entries: tuple[Entry, ...]

    def path(self, group: int) -> tuple[int, ...]:
        """The groups above a group, the broadest first, and itself."""
        path = [group]
        while self.parents[path[0]] >= 0:
            path.insert(0, self.parents[path[0]])
        return tuple(path)

    def find(self, text: str, weak: bool = True) -> int:
        """The group that a value means, or that all its parts have in common; -1 if there is none.

        >>> marital = read_vocabulary("marital-status")
        >>> [marital.labels[marital.find(text)] for text in ("Divorced", "widowed or divorced", "Married-AF-spouse")]
        ['Divorced', 'No longer married', 'Married, spouse present']
        >>> marital.find("not divorced"), marital.find("green")
        (-1, -1)
        """
        if len(text) > LONGEST:
            return -1
        words = frozenset(words_of(text))
        no = words & NEGATIVE
        places = self._index()
        matches = {
            entry
            for word in words
            for entry in places.get(word, ())
            if entry.words <= words and entry.words & NEGATIVE == no and (weak or not entry.weak)
        }
        best = [one for one in matches if not any(one.words < other.words for other in matches)]
        covered = frozenset[str]().union(*(one.words for one in best))
        longest = max((len(one.words) for one in best), default=0)
        if not best or len(covered) < (LEAST_SHARE if longest < 2 else LEAST_SHARE_OF_TWO) * len(words):
            return -1
        paths = [self.path(one.group) for one in best]
        deepest = max(paths, key=len)
        if all(path == deepest[: len(path)] for path in paths):
            return deepest[-1]
        shared = -1
        for groups in zip(*paths, strict=False):
            if len(set(groups)) > 1:
                break
            shared = groups[0]
        return shared

    def _index(self) -> dict[str, list[Entry]]:
        return _index(self.name)


@lru_cache(maxsize=64)
def _index(name: str) -> dict[str, list[Entry]]:
    entries: dict[str, list[Entry]] = {}
    for entry in read_vocabulary(name).entries:
        entries.setdefault(min(entry.words), []).append(entry)
    return entries


@lru_cache(maxsize=64)
def read_vocabulary(name: str) -> Vocabulary:
    """A vocabulary of `data/vocabularies/`.

    >>> read_vocabulary("tenure").labels[:2]
    ('Owned', 'Owned outright')
    """
    head: dict[str, str] = {}
    labels: list[str] = []
    parents: list[int] = []
    entries: dict[tuple[frozenset[str], int], Entry] = {}
    open_groups: list[int] = []
    for line in (FOLDER / f"{name}.txt").read_text(encoding="utf-8").splitlines():
        key, _, text = line.partition(":")
        if key in ("source", "names") and len(head) < 2:
            head[key] = text.strip()
            continue
        depth = (len(line) - len(line.lstrip(" "))) // 2
        del open_groups[depth:]
        parents.append(open_groups[-1] if open_groups else -1)
        open_groups.append(len(labels))
        labels.append(key.strip())
        for spelling in (key, *text.split("|")):
            weak = spelling.strip().startswith("?") and len(spelling.strip()) > 1
            words = frozenset(words_of(spelling.strip().removeprefix("?") if weak else spelling))
            if words and (words, open_groups[-1]) not in entries:
                # The label itself is a spelling, but says no more than the same word marked as weak below.
                entries[words, open_groups[-1]] = Entry(words, open_groups[-1], weak)
            elif weak:
                entries[words, open_groups[-1]] = Entry(words, open_groups[-1], True)
    return Vocabulary(
        name, head["source"], frozenset(head["names"].split()), tuple(labels), tuple(parents), tuple(entries.values())
    )


@lru_cache(maxsize=1)
def vocabularies() -> tuple[str, ...]:
    """The names of all vocabularies."""
    return tuple(sorted(path.stem for path in FOLDER.glob("*.txt")))


def no_answers(texts: Iterable[str]) -> dict[str, int]:
    """The values that are codes of an absent answer, with their group in the vocabulary of answers.

    >>> list(no_answers(["Refused", "blue", "Don't know", "?"]))
    ['Refused', "Don't know", '?']
    """
    answers = read_vocabulary(NO_ANSWER)
    top = answers.labels.index("No answer")
    exact = _absent()
    groups = {}
    for text in texts:
        group = exact.get(frozenset(words_of(text)), -1) if _WORDS.search(text) else top
        if group >= 0:
            groups[text] = group
    return groups


@lru_cache(maxsize=1)
def _absent() -> dict[frozenset[str], int]:
    answers = read_vocabulary(NO_ANSWER)
    top = answers.labels.index("No answer")
    return {entry.words: entry.group for entry in answers.entries if answers.path(entry.group)[0] == top}


def column_words(name: str) -> frozenset[str]:
    """The words of a column name, folded.

    >>> sorted(column_words("maritalStatus")), sorted(column_words("NEW_RACE"))
    (['marital', 'maritalstatus', 'status'], ['new', 'new_race', 'race'])
    """
    parts: Sequence[str] = re.findall(r"[A-Z]?[a-zß-ÿ]+|[A-Z]+(?![a-z])", name)
    return frozenset({word.casefold() for word in parts} | {name.casefold()})
