"""Several ontologies together: as one taxonomy, or each pair of words judged by the one that knows both best."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kanopy._errors import OntologyError, some
from kanopy._lazy import public
from kanopy._mixins import ReprMixin
from kanopy.ontology.similarity.measures import Measure, find_measure
from kanopy.ontology.similarity.words import WordPair, word_similarity
from kanopy.ontology.taxonomy import Concept, Taxonomy, fold

WORDS_BESIDE = ("exception_text", "other_words", "adjectives", "adjective_start")
"""What an ontology knows of words that are no concepts of its own; the first that has any gives it."""


@public("kanopy.ontology")
@dataclass(frozen=True)
class CombinedOntologies(ReprMixin):
    """Ontologies in order of preference.

    Of the ontologies that know both words, the one that says most about them answers: the one with most different
    concepts above the two senses it compares (themselves included); of equals the first. Measures whose maximum
    depends on the taxonomy are divided by it, so that answers of different ontologies can be compared.

    >>> from kanopy.ontology.load import load_ontology
    >>> from kanopy.ontology.taxonomy import Concept
    >>> concepts = [Concept("d", ("disease",)), Concept("q", ("flu type q",), ("d",))]
    >>> clinic = Taxonomy.from_concepts(concepts, name="clinic")
    >>> both = CombinedOntologies((load_ontology("wordnet"), clinic))
    >>> both.similarity("cat", "dog")[0].name, both.similarity("flu type q", "disease")[0].name
    ('WordNet 3.0', 'clinic')
    """

    ontologies: Sequence[Taxonomy]

    def __post_init__(self) -> None:
        if not self.ontologies:
            raise OntologyError("Combine at least one ontology.")

    def knows(self, word: str) -> bool:
        """Whether any of the ontologies has a concept for a word."""
        return any(_answers(taxonomy, word) for taxonomy in self.ontologies)

    def similarity(self, a: str, b: str, measure: str | Measure = "wu-palmer") -> tuple[Taxonomy, WordPair]:
        """The ontology that answers for two words, and its answer."""
        chosen = find_measure(measure)
        best: tuple[int, Taxonomy, WordPair] | None = None
        for taxonomy in self.ontologies:
            if not (_answers(taxonomy, a) and _answers(taxonomy, b)):
                continue
            pair = word_similarity(taxonomy, a, b, chosen)
            ancestors_known = len(
                taxonomy.ancestors_of(pair.a_concept).keys() | taxonomy.ancestors_of(pair.b_concept).keys()
            )
            if best is None or ancestors_known > best[0]:
                best = ancestors_known, taxonomy, pair
        if best is None:
            missing = "; ".join(
                f"{taxonomy.name or 'an ontology'} lacks {some(w for w in (a, b) if not _answers(taxonomy, w))}"
                for taxonomy in list(self.ontologies)[:5]
            )
            raise OntologyError(
                f"No ontology knows both {a!r} and {b!r}: {missing}. Add one that does, or use a synonym."
            )
        _, taxonomy, pair = best
        if chosen.maximum_value is None:
            pair = pair._replace(similarity=pair.similarity / chosen.maximum(taxonomy))
        return taxonomy, pair


def united(ontologies: Sequence[Taxonomy]) -> Taxonomy:
    """Several ontologies as one, for whatever takes an ontology: `load_ontology("wordnet+clinic.csv")`.

    A word has the senses of all, those of the first that knows it first. The top of a later ontology hangs below the
    first sense that an earlier one has for it, so that their concepts meet there; unknown tops meet at a common root.

    >>> from kanopy.ontology.taxonomy import Concept
    >>> world = Taxonomy.from_concepts([Concept("x", ("state",)), Concept("d", ("disease",), ("x",))], name="world")
    >>> clinic = Taxonomy.from_concepts([Concept("d", ("disease",)), Concept("q", ("flu type q",), ("d",))])
    >>> both = united([world, clinic])
    >>> [both.label(c) for c in both.ancestors_of(both.sense("flu type q"))]
    ['flu type q', 'disease', 'disease', 'state']
    """
    if not ontologies:
        raise OntologyError("Combine at least one ontology.")
    concepts: list[Concept] = []
    senses: dict[str, list[str]] = {}
    tags: dict[str, int] = {}
    tagged: dict[tuple[str, str], int] = {}
    taken: set[str] = set()
    extras: dict[str, Any] = {}
    for number, taxonomy in enumerate(ontologies):
        real = [c for c in range(taxonomy.size) if c != taxonomy.virtual_root]
        named = list(taxonomy.keys)
        keys = {c: named[c] if named[c] not in taken else f"{number + 1}:{named[c]}" for c in real}
        if not extras and len(taxonomy.exception_text):
            moved = (taxonomy.adjective_concepts + len(concepts)).astype(np.int32)
            extras = {name: getattr(taxonomy, name) for name in WORDS_BESIDE} | {"adjective_concepts": moved}
        for c in real:
            terms = taxonomy.terms_of(c)
            above = tuple(keys[up] for up in taxonomy.parents_of(c) if up != taxonomy.virtual_root)
            if not above:
                above = next(((known_parents[0],) for term in terms if (known_parents := senses.get(fold(term)))), ())
            parts = tuple(keys[int(p)] for p in taxonomy.parts[taxonomy.part_start[c] : taxonomy.part_start[c + 1]])
            concepts.append(Concept(keys[c], terms, above, is_instance=bool(taxonomy.is_instance[c]), parts=parts))
        tags |= {
            keys[c]: int(taxonomy.tag_counts[c]) for c in np.flatnonzero(taxonomy.tag_counts).tolist() if c in keys
        }
        start, flat = taxonomy.sense_start.tolist(), taxonomy.sense_concepts.tolist()
        keys_of_words = {
            word: [keys[c] for c in flat[start[at] : start[at + 1]]] for at, word in enumerate(taxonomy.vocabulary)
        }
        if len(taxonomy.sense_counts):
            pairs = ((word, key) for word, keys_of_word in keys_of_words.items() for key in keys_of_word)
            tagged |= {pair: count for pair, count in zip(pairs, taxonomy.sense_counts.tolist(), strict=True) if count}
        for word, keys_of_word in keys_of_words.items():
            senses.setdefault(word, []).extend(keys_of_word)
        taken |= set(keys.values())
    return Taxonomy.from_concepts(
        concepts,
        name=" + ".join(taxonomy.name or "an ontology" for taxonomy in ontologies),
        part_of_speech=ontologies[0].part_of_speech,
        senses=senses,
        tag_counts=tags,
        sense_counts=tagged,
        extras=extras,
    )


def _answers(taxonomy: Taxonomy, word: str) -> bool:
    try:
        return bool(taxonomy.resolve(word))
    except OntologyError:
        return False
