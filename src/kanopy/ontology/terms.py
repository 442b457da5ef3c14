"""Which word of an ontology to show people, and which of its concepts say nothing to them."""

from __future__ import annotations

from collections.abc import Container
from functools import lru_cache

import numpy as np

from kanopy._arrays import Longs
from kanopy.ontology.taxonomy import Taxonomy

GENERAL = 2
"""Concepts at most so deep (entity, object, matter …) say nothing."""
DEEP = 8
"""… in an ontology of twice so many levels: in a small one only the top does."""
LARGEST_SHARE = 0.2
"""Nor do concepts of a deep ontology that are true of more than this share of it (whole, living thing)."""
_VAGUE = """
    act action activator activity adult agent apparatus area arrangement article artifact attribute being body
    capitalist causal_agent change class cognition collection commodity communicator component condition container
    content covering creation definite_quantity device direction eastern_hemisphere equipment event figure good
    group group_action happening ill_health implement indication instrumentality instrumentation item line
    living_thing location magnitude material matter medium mixture natural_object natural_process nature
    northern_hemisphere nutriment object opening organic_process organism part phenomenon physical_condition
    physical_phenomenon piece placement point position possession process product property protection
    psychological_state quality region section series situation social_group solid southern_hemisphere state
    structure substance surface system taxonomic_group thing transferred_property trouble unit way
    western_hemisphere whole work"""
VAGUE = frozenset(_VAGUE.split())
"""Nor do these words of the ontology tell a reader much."""
EMPTY = frozenset(["component", "item", "part", "piece", "section", "series", "thing", "unit", "way", "whole"])
"""And these of them are true of nearly anything."""


def says_nothing(taxonomy: Taxonomy, concept: int) -> bool:
    """Whether a concept is so general that its name tells nobody anything.

    >>> from kanopy.ontology.load import load_ontology
    >>> w = load_ontology("wordnet")
    >>> [says_nothing(w, w.sense(word)) for word in ("physical entity", "instrumentality", "food", "animal")]
    [True, True, False, False]
    """
    return _first_term(taxonomy, concept) in VAGUE or is_general(taxonomy, concept)


def is_general(taxonomy: Taxonomy, concept: int) -> bool:
    """Whether a concept stands at the top of its ontology or is called so that it is true of nearly anything.

    >>> from kanopy.ontology.load import load_ontology
    >>> w = load_ontology("wordnet")
    >>> [is_general(w, w.sense(word)) for word in ("entity", "physical object", "living thing", "artifact", "food")]
    [True, True, True, False, False]
    """
    if _first_term(taxonomy, concept) in EMPTY:
        return True
    levels = min(GENERAL, _deepest(taxonomy) // DEEP)
    if taxonomy.min_depth[concept] <= levels:
        return True
    return levels == GENERAL and bool(_below(taxonomy)[concept] > LARGEST_SHARE * taxonomy.size)


def _first_term(taxonomy: Taxonomy, concept: int) -> str:
    return next(iter(taxonomy.terms_of(concept)), "").replace(" ", "_")


@lru_cache(maxsize=8)
def _below(taxonomy: Taxonomy) -> Longs:
    return np.bincount(taxonomy.ancestors, minlength=taxonomy.size)


@lru_cache(maxsize=8)
def _deepest(taxonomy: Taxonomy) -> int:
    return int(taxonomy.min_depth.max())


def common_term(taxonomy: Taxonomy, concept: int, taken: Container[str] = ()) -> str:
    """The word for a concept that texts use most, of those whose small letters are not taken; nothing if all are.

    If texts use none of them so, it is the first, which is the plainest; but if that usually means something else, a
    phrase that it is part of says more.

    >>> from kanopy.ontology.load import load_ontology
    >>> w = load_ontology("wordnet")
    >>> common_term(w, w.sense("domestic dog")), common_term(w, w.sense("domestic dog"), {"dog"})
    ('dog', 'domestic dog')
    >>> common_term(w, w.sense("precipitation#3")), common_term(w, w.sense("cut of meat"))
    ('precipitation', 'cut of meat')
    """
    terms = [term for term in taxonomy.terms_of(concept) if term.casefold() not in taken]
    used = {
        term: dict(zip(taxonomy.senses(term), taxonomy.tagged(term), strict=True)).get(concept, 0) for term in terms
    }
    most = max(used.values(), default=0)
    if most:
        return next(term for term in terms if used[term] == most)
    first = next(iter(terms), "")
    if concept in taxonomy.senses(first)[:1]:
        return first
    return next((term for term in terms[1:] if first in term.split()), first)


def all_above(taxonomy: Taxonomy, concept: int) -> frozenset[int]:
    """Everything that is true of a concept: what it is a kind of and, of what has a name of its own, where it lies.

    >>> from kanopy.ontology.load import load_ontology
    >>> w = load_ontology("wordnet")
    >>> {w.sense("Asia"), w.sense("city")} <= all_above(w, w.sense("Tokyo"))
    True
    """
    above = set(taxonomy.ancestors_of(concept))
    waiting = [concept] if taxonomy.is_instance[concept] else []
    for concept_or_place in waiting:  # grows while it is read
        wholes = [
            whole
            for whole in taxonomy.wholes_of(concept_or_place)
            if whole not in above and _can_be_place(taxonomy, whole)
        ]
        above.update(wholes)
        waiting += wholes
    return frozenset(above)


def _can_be_place(taxonomy: Taxonomy, concept: int) -> bool:
    """France is part of Europe, and a member of alliances."""
    return all(taxonomy.label(up) != "group" for up in taxonomy.ancestors_of(concept))
