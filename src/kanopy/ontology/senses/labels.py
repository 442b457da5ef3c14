"""Which concepts a label may stand for, and how it was found: the chain from a label to an ontology.

The user's own table, the exact word, WordNet's morphology, nouns derived from an adjective, the same Porter stem, the
head noun of a phrase; what is left is unknown and comes with suggestions. What a person wrote comes first, so that a
guess never overrules it.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping
from dataclasses import dataclass

from kanopy._arrays import SUPPRESSED_LABEL
from kanopy._errors import OntologyError
from kanopy.ontology.senses.morphology import base_forms, head_nouns, same_stem, words_with_prefix
from kanopy.ontology.taxonomy import PARTS_OF_SPEECH, Taxonomy, fold

HOW = {
    "suppressed": "the root of the ontology, which says nothing",
    "chosen": "your choice",
    "synonym": "your synonym table",
    "exact": "the word itself",
    "morphology": "its base form",
    "nominalized": "a noun derived from the adjective",
    "stem": "a word with the same stem",
    "head noun": "the head noun of the phrase only",
    "unknown": "not in the ontology",
}
"""The ways a label can be found, in words."""

APPROXIMATE = frozenset({"nominalized", "stem", "head noun"})
"""Ways that may miss the meaning: worth a look."""

NEGATIONS = frozenset({"no", "non", "not", "never", "without", "un", "neither", "nor", "ex", "former", "anti"})
"""A phrase that denies its head noun does not mean it: `no diploma` is no diploma."""

_SENSE = re.compile(r"#\d+$")


@dataclass(frozen=True)
class Match:
    """How a label was found: `term` is the word it was found by, `concepts` its senses, the most frequent first."""

    label: str
    how: str
    term: str = ""
    concepts: tuple[int, ...] = ()
    part_of_speech: str = ""
    suggestions: tuple[str, ...] = ()

    @property
    def known(self) -> bool:
        """Whether the ontology has a concept for the label."""
        return bool(self.concepts)


def find_label(
    taxonomy: Taxonomy, label: str, synonyms: Mapping[str, str] | None = None, *, suggest: bool = True
) -> Match:
    """The concepts a label may stand for. `synonyms` is the user's table: label → word or sense (`tiger#2`).

    Looking for suggestions takes far longer than the rest: `suggest=False` leaves them out.

    >>> from kanopy.ontology.load import load_ontology
    >>> w = load_ontology("wordnet")
    >>> [(m.how, m.term) for m in map(lambda x: find_label(w, x), ["Dogs", "warm-blooded", "rural tourism", "qqx"])]
    [('morphology', 'dog'), ('nominalized', 'homeotherm'), ('head noun', 'tourism'), ('unknown', '')]
    """
    noun = PARTS_OF_SPEECH.get(taxonomy.part_of_speech, "")
    if label.strip() == SUPPRESSED_LABEL:
        return Match(label, "suppressed", SUPPRESSED_LABEL, (root_of(taxonomy),), "")
    chosen_word = _own_word(label, synonyms)
    if chosen_word is not None:
        other = () if taxonomy.knows(label) else taxonomy.other_parts_of_speech(label)
        concepts = named_concepts(taxonomy, chosen_word, f"The synonym of {label!r}")
        return Match(label, "synonym", chosen_word, concepts, other[0] if other else noun)
    if _SENSE.search(label.strip()) and not taxonomy.knows(label):
        return Match(label, "chosen", label, taxonomy.resolve(label), noun)
    if senses := taxonomy.senses(label):
        return Match(label, "exact", fold(label), senses, noun)
    if forms := base_forms(taxonomy, label):
        return Match(label, "morphology", forms[0], _all_senses(taxonomy, forms), noun)
    other = taxonomy.other_parts_of_speech(label)
    if "adjective" in other and (nouns := taxonomy.nominalizations(label)):
        return Match(label, "nominalized", taxonomy.label(nouns[0]), nouns, "adjective")
    part_of_speech = other[0] if other else noun
    if stems := same_stem(taxonomy, label):
        return Match(label, "stem", stems[0], _all_senses(taxonomy, stems[:1]), part_of_speech)
    if head_noun := _by_head_noun(taxonomy, label):
        return Match(label, "head noun", head_noun[0], head_noun[1], part_of_speech)
    near = suggestions(taxonomy, label) if suggest else ()
    return Match(label, "unknown", part_of_speech=other[0] if other else "", suggestions=near)


def root_of(taxonomy: Taxonomy) -> int:
    """The one concept above all others."""
    return taxonomy.virtual_root if taxonomy.virtual_root >= 0 else int(taxonomy.roots[0])


def named_concepts(taxonomy: Taxonomy, name: str, what: str) -> tuple[int, ...]:
    """The concepts of a word, of a sense (`tiger#2`) or of a key of the ontology; `what` begins the error."""
    try:
        return taxonomy.resolve(name)
    except OntologyError as error:
        try:
            return (taxonomy.find_key(name),)
        except OntologyError:
            raise OntologyError(f"{what}: {error}") from None


def _own_word(label: str, synonyms: Mapping[str, str] | None) -> str | None:
    if not synonyms:
        return None
    if label in synonyms:
        return synonyms[label]
    folded = fold(label).replace("-", " ")
    return next((word for value, word in synonyms.items() if fold(value).replace("-", " ") == folded), None)


def _all_senses(taxonomy: Taxonomy, words: tuple[str, ...]) -> tuple[int, ...]:
    return tuple(dict.fromkeys(concept for word in words for concept in taxonomy.senses(word)))


def _by_head_noun(taxonomy: Taxonomy, label: str) -> tuple[str, tuple[int, ...]] | None:
    """The longest ending of the phrase that is a noun; an adjective after the noun (`heir apparent`) is passed over."""
    candidates = head_nouns(label)
    if NEGATIONS & set(re.split(r"[\W_]+", label.lower())) or taxonomy.other_parts_of_speech(label):
        return None
    capitals = {word.lower() for word in re.split(r"[\W_]+", label) if word.isupper()}
    trimmed = []
    for phrase in (fold(label).replace("-", " "), *candidates):
        words = phrase.split()
        while len(words) > 1 and taxonomy.other_parts_of_speech(words[-1]):
            words = words[:-1]
            trimmed.append(" ".join(words))
    for phrase in dict.fromkeys([*candidates, *trimmed]):
        if phrase.replace(" ", "").isdigit() or len(phrase) < 2:
            continue
        for word in (phrase, *base_forms(taxonomy, phrase)):
            senses = taxonomy.senses(word)
            if senses and (word in capitals or not _only_abbreviates(taxonomy, word, senses)):
                return word, senses
    return None


def _only_abbreviates(taxonomy: Taxonomy, word: str, senses: tuple[int, ...]) -> bool:
    """Whether the ontology knows a word only in capitals (INC), so that `inc` in lower case is another word."""
    written = [term for concept in senses for term in taxonomy.terms_of(concept) if fold(term) == word]
    return bool(written) and all(term.isupper() for term in written)


def sense_name(taxonomy: Taxonomy, term: str, concept: int) -> str:
    """A concept as a sense of the word it was found by (`cat#2`); of its preferred term if it was found otherwise.

    >>> from kanopy.ontology.load import load_ontology
    >>> w = load_ontology("wordnet")
    >>> sense_name(w, "ectotherm", w.sense("ectotherm")), w.sense_name(w.sense("ectotherm"))
    ('ectotherm#1', 'poikilotherm#1')
    """
    word = _SENSE.sub("", term)
    number = taxonomy.word_number(word) if word else -1
    senses = taxonomy.senses(word) if word else ()
    if concept not in senses:
        return taxonomy.sense_name(concept)
    # Among the terms of the concept the word may be written in another way: with capitals, for instance.
    folded = taxonomy.vocabulary[number]
    written = next((term for term in taxonomy.terms_of(concept) if fold(term) == folded), folded)
    return f"{written}#{senses.index(concept) + 1}"


def suggestions(taxonomy: Taxonomy, label: str, count: int = 3) -> tuple[str, ...]:
    """Words of the ontology that are written like a label.

    >>> from kanopy.ontology.load import load_ontology
    >>> suggestions(load_ontology("wordnet"), "crocodyle")[0]
    'crocodile'
    """
    folded = fold(label)
    close_words: dict[str, None] = {}
    for text in (folded, *folded.replace("-", " ").split()):
        if len(text) < 3 or text.isdigit():
            continue
        near = [word for word in words_with_prefix(taxonomy, text[:2]) if abs(len(word) - len(text)) <= 3]
        close_words.update(dict.fromkeys(difflib.get_close_matches(text, near, n=count, cutoff=0.75)))
    return tuple(close_words)[:count]
