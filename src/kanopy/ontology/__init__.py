"""Ontologies: load them, look words up, choose senses, and measure how similar concepts and words are.

What a user may import is named here; the modules below are an implementation detail.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

__all__ = [
    "MEASURES", "CombinedOntologies", "Concept", "Measure", "SenseChoices", "Senses", "Taxonomy", "WordPair",
    "information_content", "load_ontology", "nearest_concepts", "read_ontology", "read_senses", "save_ontology",
    "senses_of_hierarchy", "senses_of_values", "senses_toml", "similarities", "similarity_blocks",
    "similarity_matrix", "word_matrix", "word_similarities", "word_similarity",
]  # fmt: skip

if TYPE_CHECKING:
    from kanopy.ontology.combine import CombinedOntologies
    from kanopy.ontology.compiled import save_ontology
    from kanopy.ontology.links import Concept
    from kanopy.ontology.load import load_ontology, read_ontology
    from kanopy.ontology.senses.senses import SenseChoices, Senses, senses_of_hierarchy, senses_of_values
    from kanopy.ontology.senses.senses_file import read_senses, senses_toml
    from kanopy.ontology.similarity.information_content import information_content
    from kanopy.ontology.similarity.measures import MEASURES, Measure, similarities
    from kanopy.ontology.similarity.pairwise import nearest_concepts, similarity_blocks, similarity_matrix
    from kanopy.ontology.similarity.words import WordPair, word_matrix, word_similarities, word_similarity
    from kanopy.ontology.taxonomy import Taxonomy
else:
    from kanopy._lazy import lazy_names

    __getattr__, __dir__ = lazy_names(
        globals(),
        {
            "kanopy.ontology.combine": ("CombinedOntologies",),
            "kanopy.ontology.compiled": ("save_ontology",),
            "kanopy.ontology.load": ("load_ontology", "read_ontology"),
            "kanopy.ontology.senses.senses": ("SenseChoices", "Senses", "senses_of_hierarchy", "senses_of_values"),
            "kanopy.ontology.senses.senses_file": ("read_senses", "senses_toml"),
            "kanopy.ontology.similarity.information_content": ("information_content",),
            "kanopy.ontology.similarity.measures": ("MEASURES", "Measure", "similarities"),
            "kanopy.ontology.similarity.pairwise": ("nearest_concepts", "similarity_blocks", "similarity_matrix"),
            "kanopy.ontology.similarity.words": ("WordPair", "word_matrix", "word_similarities", "word_similarity"),
            "kanopy.ontology.links": ("Concept",),
            "kanopy.ontology.taxonomy": ("Taxonomy",),
        },
    )
