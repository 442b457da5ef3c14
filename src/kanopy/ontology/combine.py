"""Several ontologies together: each pair of words is judged by the one that knows both best."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kanopy._errors import OntologyError, some
from kanopy._shown import Short
from kanopy.ontology.similarity.measures import Measure, find_measure
from kanopy.ontology.similarity.words import WordPair, word_similarity
from kanopy.ontology.taxonomy import Taxonomy


@dataclass(frozen=True)
class CombinedOntologies(Short):
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
            known = len(taxonomy.ancestors_of(pair.a_concept).keys() | taxonomy.ancestors_of(pair.b_concept).keys())
            if best is None or known > best[0]:
                best = known, taxonomy, pair
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


def _answers(taxonomy: Taxonomy, word: str) -> bool:
    try:
        return bool(taxonomy.resolve(word))
    except OntologyError:
        return False
