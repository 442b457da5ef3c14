"""Semantic similarity: one function per measure, and each function is its formula.

All take a taxonomy and two arrays of concepts that broadcast (numbers, lists of pairs, or a column against a row for
a whole block) and return the similarities in that shape. The survey they follow is section 3.2 of the master thesis of
Martínez, Universitat Rovira i Virgili; each function cites its own source. `MEASURES` names them all. For words instead
of concepts see `words.py` beside this file, for matrices and nearest neighbours `pairwise.py`.
"""

from __future__ import annotations

import numpy as np

from kanopy._arrays import Floats
from kanopy.ontology.readers.glosses import Glosses, find_glosses
from kanopy.ontology.similarity.features import gloss_vectors, neighbours, relations, subsumers_of, terms, whole_parts
from kanopy.ontology.similarity.subsumers import (
    Concepts,
    FeatureSets,
    deepest_common_subsumer,
    greatest_common_content,
    overlap,
    shortest_path,
)
from kanopy.ontology.taxonomy import Taxonomy

# ---- edges --------------------------------------------------------------------------------------------------


def path_length(taxonomy: Taxonomy, a: Concepts, b: Concepts) -> Floats:
    """Minus the number of is-a edges between two concepts. Rada et al. 1989 (eq. 5), as -distance."""
    return -shortest_path(taxonomy, a, b).astype(np.float64)


def path(taxonomy: Taxonomy, a: Concepts, b: Concepts) -> Floats:
    """1 / (1 + d), d the number of is-a edges between two concepts. Rada et al. 1989.

    >>> from kanopy.ontology.load import load_ontology
    >>> w = load_ontology("wordnet")
    >>> float(path(w, w.sense("car"), w.sense("bicycle")))
    0.2
    """
    return 1.0 / (1.0 + shortest_path(taxonomy, a, b).astype(np.float64))


def leacock_chodorow(taxonomy: Taxonomy, a: Concepts, b: Concepts) -> Floats:
    """-ln((d + 1) / 2D), D the nodes on the longest path of the taxonomy. Leacock, Chodorow 1998 (eq. 6)."""
    nodes = shortest_path(taxonomy, a, b) + 1
    # There are few different path lengths: one logarithm for each, then look up.
    table = -np.log(np.arange(1, 2 * taxonomy.max_depth_in_nodes + 1) / (2.0 * taxonomy.max_depth_in_nodes))
    similarities: Floats = table[nodes - 1]
    return similarities


def wu_palmer(taxonomy: Taxonomy, a: Concepts, b: Concepts, *, depth_offset: int = 2) -> Floats:
    """2·N3 / (N1 + N2 + 2·N3). Wu, Palmer 1994 (eq. 7), in the convention that reproduces Ayala-Rivera et al. 2014.

    N1, N2: shortest directed paths up to the least common subsumer, in edges. N3: edges on the longest path from the
    root to it, plus `depth_offset` (2: depth in nodes below a virtual root).

    >>> from kanopy.ontology.load import load_ontology
    >>> w = load_ontology("wordnet")
    >>> round(float(wu_palmer(w, w.sense("cat"), w.sense("mammal"))), 4)
    0.8462
    """
    lcs = deepest_common_subsumer(taxonomy, a, b, with_concept=False)
    twice_n3 = 2 * (lcs.depth + depth_offset)
    with np.errstate(invalid="ignore"):  # only with an offset of 0: the root against itself is 0/0
        similarity: Floats = twice_n3 / (lcs.edges + twice_n3)
    return similarity if depth_offset > 0 else np.where((lcs.edges + twice_n3) == 0, 1.0, similarity)


# ---- features -----------------------------------------------------------------------------------------------


def tversky(taxonomy: Taxonomy, a: Concepts, b: Concepts) -> Floats:
    """|A∩B| / (|A∩B| + γ|A\\B| + (1-γ)|B\\A|). Tversky 1977 (eq. 8 and 9).

    Choices: the features of a concept are itself and all concepts above it; depths in γ count nodes, so that the root
    has depth 1. Not symmetric.
    """
    return _tversky_ratio(taxonomy, subsumers_of(taxonomy), a, b)


def rodriguez_egenhofer(
    taxonomy: Taxonomy, a: Concepts, b: Concepts, *, w: float = 1 / 3, u: float = 1 / 3, v: float = 1 / 3
) -> Floats:
    """w·S(synsets) + u·S(features) + v·S(neighbourhoods). Rodríguez, Egenhofer 2003 (eq. 10).

    Choices: each S is Tversky's ratio (eq. 8); synsets are the terms, features the parts (own and inherited),
    neighbourhoods the direct parents and children with the concept itself. A component that is empty for both concepts
    (mostly parts) hands its weight to the others. Not symmetric.
    """
    weighted, weights = np.zeros(()), np.zeros(())
    for weight, sets in ((w, terms(taxonomy)), (u, whole_parts(taxonomy)), (v, neighbours(taxonomy))):
        both_empty = (sets.sizes[np.asarray(a)] == 0) & (sets.sizes[np.asarray(b)] == 0)
        here = np.where(both_empty, 0.0, weight)
        weighted = weighted + here * _tversky_ratio(taxonomy, sets, a, b)
        weights = weights + here
    return _ratio(weighted, weights) * (w + u + v)


def taxonomic_features(taxonomy: Taxonomy, a: Concepts, b: Concepts) -> Floats:
    """-log2(1 + |A△B| / |A∪B|), the features of a concept being itself and all concepts above it, as -distance.

    Sánchez, Batet, Isern, Valls 2012.

    >>> from kanopy.ontology.load import load_ontology
    >>> w = load_ontology("wordnet")
    >>> round(float(taxonomic_features(w, w.sense("car"), w.sense("bicycle"))), 3)
    -0.363
    """
    both, only_a, only_b = overlap(taxonomy, subsumers_of(taxonomy), a, b)
    apart = only_a + only_b
    return -np.log2(1.0 + _ratio(apart, both + apart))


def x_similarity(taxonomy: Taxonomy, a: Concepts, b: Concepts, *, glosses: Glosses | None = None) -> Floats:
    """1 if two concepts share a term, else the larger of their neighbourhoods' and definitions' overlap.

    Petrakis et al. 2006 (eq. 11 and 12). Choices: overlap is |A∩B| / |A∪B|; neighbourhoods are compared per kind of
    link (everything above, direct children, parts, wholes) and the best counts; definitions are sets of words without
    stop words and examples.
    """
    glosses = glosses or find_glosses(taxonomy)
    best = _jaccard(taxonomy, glosses.word_sets, a, b)
    for kind in relations(taxonomy):
        best = np.maximum(best, _jaccard(taxonomy, kind, a, b))
    share_a_term = overlap(taxonomy, terms(taxonomy), a, b)[0] > 0
    return np.where(share_a_term, 1.0, best)


def _tversky_ratio(taxonomy: Taxonomy, sets: FeatureSets, a: Concepts, b: Concepts) -> Floats:
    both, only_a, only_b = overlap(taxonomy, sets, a, b)
    depth_a, depth_b = (taxonomy.depth[np.asarray(x)] - taxonomy.depth.min() + 1.0 for x in (a, b))
    gamma = np.minimum(depth_a, depth_b) / (depth_a + depth_b)  # eq. 9: both of its cases are the smaller depth
    return _ratio(both, both + gamma * only_a + (1 - gamma) * only_b)


def _jaccard(taxonomy: Taxonomy, sets: FeatureSets, a: Concepts, b: Concepts) -> Floats:
    both, only_a, only_b = overlap(taxonomy, sets, a, b)
    return _ratio(both, both + only_a + only_b)


def _ratio(share: Floats, whole: Floats) -> Floats:
    ratio: Floats = np.divide(share, whole, out=np.zeros(np.shape(share)), where=np.asarray(whole) > 0)
    return ratio


# ---- information content ------------------------------------------------------------------------------------


def resnik(taxonomy: Taxonomy, a: Concepts, b: Concepts, *, content: Floats) -> Floats:
    """The information content of the most informative common subsumer. Resnik 1995 (eq. 14)."""
    return greatest_common_content(taxonomy, a, b, content)


def lin(taxonomy: Taxonomy, a: Concepts, b: Concepts, *, content: Floats) -> Floats:
    """2·IC(LCS) / (IC(a) + IC(b)). Lin 1998 (eq. 15). Two concepts that say nothing (the root) are equal: 1."""
    both = content[np.asarray(a)] + content[np.asarray(b)]
    common = greatest_common_content(taxonomy, a, b, content)
    if both.size and both.min() > 0:
        plain: Floats = 2.0 * common / both
        return plain
    return np.where(both > 0, 2.0 * common / np.where(both > 0, both, 1.0), 1.0)


def jiang_conrath_distance(taxonomy: Taxonomy, a: Concepts, b: Concepts, *, content: Floats) -> Floats:
    """-(IC(a) + IC(b) - 2·IC(LCS)). Jiang, Conrath 1997 (eq. 16), as -distance."""
    both = content[np.asarray(a)] + content[np.asarray(b)]
    similarities: Floats = 2.0 * greatest_common_content(taxonomy, a, b, content) - both
    return similarities


def jiang_conrath(taxonomy: Taxonomy, a: Concepts, b: Concepts, *, content: Floats) -> Floats:
    """1 / (1 + distance), the distance of Jiang and Conrath 1997 (eq. 16)."""
    return 1.0 / (1.0 - jiang_conrath_distance(taxonomy, a, b, content=content))


# ---- context ------------------------------------------------------------------------------------------------


def gloss_vector(taxonomy: Taxonomy, a: Concepts, b: Concepts, *, glosses: Glosses | None = None) -> Floats:
    """The cosine between two concepts' context vectors. Patwardhan, Pedersen 2006 (eq. 17).

    Choices: a word's vector counts with which words it shares a definition, the rarer the word the heavier (idf); a
    concept's vector is the sum over the words of its definition and those of its parents and children.
    """
    vectors = gloss_vectors(glosses or find_glosses(taxonomy), taxonomy)
    return vectors.cosine(np.asarray(a), np.asarray(b))
