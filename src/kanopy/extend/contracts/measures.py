"""What holds for every similarity measure, on the nouns of WordNet."""

from __future__ import annotations

import numpy as np

from kanopy.ontology.load import load_ontology
from kanopy.ontology.similarity.measures import Measure

WORDS = ("car", "automobile", "bicycle", "cat", "dog", "salmon", "idea", "river", "nurse", "physician")


def gives_numbers(measure: Measure) -> None:
    """It gives a finite number for every pair, the same when asked again, and as many as it was asked for."""
    wordnet = load_ontology("wordnet")
    concepts = np.array([wordnet.sense(word) for word in WORDS])
    similarities = np.asarray(measure(wordnet, concepts[:, None], concepts[None, :]), np.float64)
    assert similarities.shape == (len(WORDS), len(WORDS)), "pairs of concepts broadcast, and one number belongs to each"
    assert np.isfinite(similarities).all(), "some similarity is no finite number"
    assert np.array_equal(similarities, measure(wordnet, concepts[:, None], concepts[None, :])), (
        "asked again, it differs"
    )


def knows_its_maximum(measure: Measure) -> None:
    """No pair is more similar than its maximum, and nothing is more similar to a concept than itself."""
    wordnet = load_ontology("wordnet")
    concepts = np.array([wordnet.sense(word) for word in WORDS])
    similarities = np.asarray(measure(wordnet, concepts[:, None], concepts[None, :]), np.float64)
    assert (similarities <= measure.maximum(wordnet) + 1e-9).all(), "a similarity is above the maximum"
    assert (similarities <= similarities.diagonal()[:, None] + 1e-9).all(), (
        "another concept is more similar than the concept itself"
    )


def is_symmetric_if_it_says_so(measure: Measure) -> None:
    """Where it says that it is symmetric, both directions are the same."""
    wordnet = load_ontology("wordnet")
    concepts = np.array([wordnet.sense(word) for word in WORDS])
    similarities = np.asarray(measure(wordnet, concepts[:, None], concepts[None, :]), np.float64)
    assert not measure.is_symmetric or np.allclose(similarities, similarities.T), (
        "is_symmetric, and the directions differ"
    )


CHECKS = (gives_numbers, knows_its_maximum, is_symmetric_if_it_says_so)
