"""How much a concept says: information content from tagged text, or from the taxonomy's own shape."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from kanopy._arrays import Floats
from kanopy._errors import OntologyError, near_miss
from kanopy._lazy import public
from kanopy._usage import checked
from kanopy.ontology.similarity.subsumers import remember_per_owner
from kanopy.ontology.taxonomy import Taxonomy


@remember_per_owner
def from_tag_counts(taxonomy: Taxonomy) -> Floats:
    """-ln p(c), where p is the share of tagged occurrences at or below `c`; every concept counts once more (+1).

    Resnik 1995, with the tag counts that WordNet carries. A concept below two others counts for both, but only once
    for each concept above it.
    """
    if not taxonomy.has_tag_counts:
        raise OntologyError(
            f"The ontology {taxonomy.name!r} has no tag counts, so information content cannot come from text. "
            "Use an intrinsic one: a measure whose name ends in -seco or -sanchez."
        )
    below = _sum_below(taxonomy, (taxonomy.tag_counts + 1).astype(np.float64))
    return _frozen(-np.log(below / below.max()))


@remember_per_owner
def seco(taxonomy: Taxonomy) -> Floats:
    """1 - ln(hyponyms + 1) / ln(N): the fewer concepts below, the more it says. Seco, Veale, Hayes 2004."""
    hyponyms = _sum_below(taxonomy, np.ones(taxonomy.size)) - 1
    return _frozen(1 - np.log(hyponyms + 1) / np.log(max(taxonomy.size, 2)))


@remember_per_owner
def sanchez(taxonomy: Taxonomy) -> Floats:
    """-ln((leaves / subsumers + 1) / (all leaves + 1)). Sánchez, Batet, Isern 2011.

    `leaves` are the concepts without children below `c` (none for a leaf itself); `subsumers` are those above `c` and
    `c` itself.
    """
    is_leaf = np.diff(taxonomy.child_start) == 0
    leaves = _sum_below(taxonomy, is_leaf.astype(np.float64))
    top = leaves.max()
    leaves[is_leaf] = 0
    subsumers = np.diff(taxonomy.ancestor_start)
    return _frozen(-np.log((leaves / subsumers + 1) / (top + 1)))


INFORMATION_CONTENTS: Mapping[str, Callable[[Taxonomy], Floats]] = {
    "tags": from_tag_counts,
    "seco": seco,
    "sanchez": sanchez,
}


@public("kanopy.ontology")
@checked
def information_content(taxonomy: Taxonomy, kind: str) -> Floats:
    """The information content of every concept, computed once per taxonomy; `kind` is tags, seco or sanchez.

    >>> from kanopy.ontology.load import load_ontology
    >>> w = load_ontology("wordnet")
    >>> float(information_content(w, "seco")[w.sense("entity")])
    0.0
    """
    if kind not in INFORMATION_CONTENTS:
        raise OntologyError(f"Unknown information content {kind!r}. {near_miss(kind, INFORMATION_CONTENTS)}")
    return INFORMATION_CONTENTS[kind](taxonomy)


def _sum_below(taxonomy: Taxonomy, own_counts: Floats) -> Floats:
    """Per concept the sum of `own_counts` over itself and everything below, each counted once."""
    repeated = np.repeat(own_counts, np.diff(taxonomy.ancestor_start))
    return np.bincount(taxonomy.ancestors, weights=repeated, minlength=taxonomy.size).astype(np.float64)


def _frozen(array: Floats) -> Floats:
    array = array + 0.0  # turns -0.0 into 0.0
    array.flags.writeable = False
    return array
