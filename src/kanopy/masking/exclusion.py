"""Answers that exclude each other: an opposite, or a sibling of which only one can be true.

`woman` is near `man` in every measure of meaning, and is its opposite. So an answer is never published as another one
that a list of exclusive answers, a vocabulary of everyday answers or a number in it sets apart.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np

from kanopy._arrays import Ints, Mask
from kanopy.hierarchy.builders.semantic.vocabulary import FILLERS, read_vocabulary, vocabularies, words_of
from kanopy.ontology.taxonomy import Taxonomy

SETS = Path(__file__).resolve().parents[1] / "data" / "exclusive_answers.txt"
LIVING = ("person", "animal", "plant life")
LONGEST = 80
"""Longer answers tell a story, in which one word settles nothing."""


@dataclass(frozen=True)
class Standing:
    """What an answer says in each list: its members per exclusive set, its groups per vocabulary, its numbers."""

    members: dict[int, frozenset[str]]
    groups: dict[str, tuple[int, ...]]
    numbers: frozenset[str]


def excluded(rare: Sequence[str], frequent: Sequence[str]) -> Mask:
    """Per rare answer (down) and frequent one (across) whether the second cannot be said of who gave the first.

    >>> excluded(["woman", "Cis female", "mother of two"], ["Male", "female", "beach"]).tolist()
    [[True, False, False], [True, False, False], [True, False, False]]
    >>> excluded(["divorced", "level 2"], ["married", "level 1"]).tolist()
    [[True, False], [False, True]]
    """
    out = np.zeros((len(rare), len(frequent)), bool)
    theirs = [(at, standing) for at, standing in enumerate(map(_standing, frequent)) if _says(standing)]
    for row, text in enumerate(rare):
        own_standing = _standing(text)
        if _says(own_standing):
            for at, other in theirs:
                out[row, at] = _excludes(own_standing, other)
    return out


def living_kinds(taxonomy: Taxonomy, concepts: Iterable[int]) -> Ints:
    """What kind of living thing each concept is (0: none). No answer stands for one of another kind.

    By measures of similarity a dog is near a woman: both are organisms.

    >>> from kanopy.ontology.load import load_ontology
    >>> w = load_ontology("wordnet")
    >>> living_kinds(w, [w.sense("dog#1"), w.sense("woman#1"), w.sense("beach#1")]).tolist()
    [2, 1, 0]
    """
    roots = [taxonomy.senses(word)[:1] for word in LIVING]
    sexes = {concept for word in ("male", "female") for concept in taxonomy.senses(word)}
    found = []
    for one in map(int, concepts):
        kinds = [at for at, root in enumerate(roots, 1) if root and taxonomy.is_a(one, root[0])]
        found.append(1 if one in sexes else kinds[0] if kinds else 0)  # who answers is a person, whatever WordNet says
    return np.array(found, np.int32)


def _says(standing: Standing) -> bool:
    return bool(standing.members or standing.groups or standing.numbers)


def _excludes(standing: Standing, other: Standing) -> bool:
    if standing.numbers and other.numbers and standing.numbers != other.numbers:
        return True
    if any(
        standing.members[one].isdisjoint(other.members[one]) for one in standing.members.keys() & other.members.keys()
    ):
        return True
    # A broader group is true; a narrower one says more than the answer did.
    return any(
        other.groups[one][-1] not in standing.groups[one] for one in standing.groups.keys() & other.groups.keys()
    )


@lru_cache(maxsize=65_536)
def _standing(text: str) -> Standing:
    if len(text) > LONGEST:
        return Standing({}, {}, frozenset())
    words = frozenset(words_of(text))
    members = {}
    for number, listed in enumerate(_sets()):
        members_named = [(name, member) for name, member in listed if member <= words]
        names_of_groups = frozenset(
            name for name, member in members_named if not any(member < other for _, other in members_named)
        )
        if names_of_groups:
            members[number] = names_of_groups
    groups = {}
    for name in vocabularies():
        vocabulary = read_vocabulary(name)
        if (group := vocabulary.find(text)) >= 0:
            groups[name] = vocabulary.path(group)
    return Standing(members, groups, frozenset(word for word in words if word.isdigit()))


@lru_cache(maxsize=1)
def _sets() -> tuple[tuple[tuple[str, frozenset[str]], ...], ...]:
    lines = [line for line in SETS.read_text(encoding="utf-8").splitlines() if line and not line.startswith("#")]
    return tuple(tuple(_members(line.split("|"))) for line in lines)


def _members(texts: Iterable[str]) -> Iterable[tuple[str, frozenset[str]]]:
    for text in texts:
        for spelling in text.split("/"):
            if (words := frozenset(words_of(spelling))) - FILLERS:
                yield text.split("/")[0].strip(), words
