"""From a word as people write it to the words an ontology may know it by: base forms, stems, head nouns."""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import islice, product, takewhile
from typing import Any

from kanopy.ontology.taxonomy import Taxonomy, fold

DETACHMENTS = (
    ("s", ""), ("ses", "s"), ("xes", "x"), ("zes", "z"), ("ches", "ch"), ("shes", "sh"), ("men", "man"), ("ies", "y"),
)  # fmt: skip
"""Endings WordNet takes off nouns, and what it puts instead."""

_AFTER_THE_HEAD = """
    about above against among as at before behind below beside between beyond by during except for from in inside
    into like near of off on onto outside over per than through to toward under until up upon via with within
    without who which that whose where"""
AFTER_THE_HEAD = frozenset(_AFTER_THE_HEAD.split())
"""Words that open what follows the head of a noun phrase: tourism *in* rural areas."""

JOINTS = re.compile(r"\s*(?:[,;/&+]|\band\b|\bor\b)\s*")
MOST_COMBINATIONS = 64
SHORTEST_STEMMED = 4


def base_forms(taxonomy: Taxonomy, word: str) -> tuple[str, ...]:
    """The base forms of an inflected noun that the ontology knows, irregular ones first; the word itself excluded.

    WordNet's own procedure: its list of irregular plurals, then its rules of detachment; in a collocation each word
    may be inflected.

    >>> from kanopy.ontology.load import load_ontology
    >>> w = load_ontology("wordnet")
    >>> base_forms(w, "wolves"), base_forms(w, "attorneys general"), base_forms(w, "boxesful")
    (('wolf',), ('attorney general',), ('boxful',))
    """
    folded = fold(word)
    forms: dict[str, None] = {}
    for form in _forms(taxonomy, folded)[1:]:
        forms.setdefault(form)
    words = folded.replace("-", " ").split()
    if len(words) > 1:
        options = [_forms(taxonomy, word_forms) for word_forms in words]
        for parts in islice(product(*options), MOST_COMBINATIONS):
            forms.setdefault(" ".join(parts))
    return tuple(form for form in forms if form not in (folded, " ".join(words)) and taxonomy.knows(form))


def _forms(taxonomy: Taxonomy, word: str) -> list[str]:
    """A word, then its irregular and its regular base forms, known or not."""
    forms = [word, *taxonomy.exceptions.get(word, ())]
    rest, tail = (word[:-3], "ful") if word.endswith("ful") and len(word) > 4 else (word, "")
    if len(rest) > 2 and not rest.endswith("ss"):
        forms += [
            rest[: len(rest) - len(ending)] + instead + tail
            for ending, instead in DETACHMENTS
            if rest.endswith(ending) and len(rest) > len(ending)
        ]
    return forms


@lru_cache(maxsize=1)
def _stemmer() -> Any:
    import snowballstemmer

    return snowballstemmer.stemmer("porter")


@lru_cache(maxsize=1 << 17)
def stem(text: str) -> str:
    """The Porter (1980) stem of every word of a text, folded.

    >>> stem("Rural Activities")
    'rural activ'
    """
    stemmer = _stemmer()
    return " ".join(stemmer.stemWord(word) for word in fold(text).replace("-", " ").split())


def same_stem(taxonomy: Taxonomy, text: str) -> tuple[str, ...]:
    """Words of the ontology with the same Porter stem as a text, those most like it first.

    Both sides are stemmed, as Martínez (2010, master thesis, section 4) does for labels and ontology alike.

    >>> from kanopy.ontology.load import load_ontology
    >>> same_stem(load_ontology("wordnet"), "widowed")
    ('widow', 'widower')
    """
    wanted = stem(text)
    folded = fold(text)
    if len(folded) < SHORTEST_STEMMED or not any(map(str.isalpha, folded)):
        return ()
    # A stem without its last letter begins every word it stands for (the rules only rewrite what follows), so only
    # those words of a short stretch of the sorted vocabulary have to be stemmed that begin so, word by word.
    begins = [word_part[:-1] or word_part for word_part in wanted.split(" ")]
    same_stems = [
        word
        for word in words_with_prefix(taxonomy, begins[0])
        if word != folded
        and word.count(" ") + word.count("-") == len(begins) - 1
        and all(map(str.startswith, word.replace("-", " ").split(" "), begins))
        and stem(word) == wanted
    ]
    return tuple(sorted(same_stems, key=lambda word: (_unlike(word, folded), word)))


def _unlike(word: str, other: str) -> int:
    same = takewhile(lambda letters: letters[0] == letters[1], zip(word, other, strict=False))
    return len(word) + len(other) - 2 * len(list(same))


@lru_cache(maxsize=512)
def words_with_prefix(taxonomy: Taxonomy, prefix: str) -> tuple[str, ...]:
    """All words of the (sorted) vocabulary that begin with a prefix; many values of a column ask for the same."""
    words = taxonomy.vocabulary
    stretch = map(words.__getitem__, range(words.first_from(prefix), len(words)))
    return tuple(takewhile(lambda word: word.startswith(prefix), stretch))


def head_nouns(phrase: str) -> tuple[str, ...]:
    """What the head of an English noun phrase may be, the most likely first.

    Brackets and what follows a preposition are left out; of a list its last member is tried first; then ever shorter
    endings, since English puts the head last.

    >>> head_nouns("rural tourism in the Alps (summer)")
    ('rural tourism', 'tourism')
    >>> head_nouns("Clerical and sales")
    ('sales', 'clerical')
    """
    plain = re.sub(r"\([^)]*\)|\[[^\]]*\]", " ", fold(phrase))
    nouns: dict[str, None] = {}
    for phrase_part in reversed([phrase_part for phrase_part in JOINTS.split(plain) if phrase_part.strip()]):
        words = phrase_part.replace("-", " ").split()
        cut = next((at for at, word in enumerate(words) if at and word in AFTER_THE_HEAD), len(words))
        words = words[:cut]
        for first in range(len(words)):
            nouns.setdefault(" ".join(words[first:]))
    nouns.pop(fold(phrase), None)
    return tuple(nouns)
