"""Whether the groups of a hierarchy are those of meaning, whatever they are called."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from kanopy._arrays import Floats, Longs
from kanopy.ontology.taxonomy import Taxonomy

MOST_VALUES = 400
"""Longer columns are judged by so many of their values, evenly taken."""


MOST_COMPARED = 120
"""Of longer columns so many values, evenly taken, are compared."""


def triplet_agreement(given: Sequence[Sequence[str]], other: Sequence[Sequence[str]]) -> float:
    """Of all triples (a, b | c) that a hierarchy separates, the share that another separates alike; ties count half.

    Both are `labels[level][value]` with the same values. A flat or shuffled hierarchy has about 0.5, the same one 1.

    >>> given = ["cat", "dog", "car"], "aab", "***"
    >>> triplet_agreement(given, given), triplet_agreement(given, (given[0], "***"))
    (1.0, 0.5)
    """
    count = len(given[0])
    chosen = np.unique(np.linspace(0, count - 1, min(count, MOST_COMPARED)).astype(np.int64))
    one, two = _meeting(given, chosen), _meeting(other, chosen)
    won = total = 0.0
    for a in range(len(chosen)):
        for b in range(a):
            apart = (one[a, b] < one[a]) & (one[a, b] < one[b])
            apart[[a, b]] = False
            near = np.minimum(two[a], two[b])[apart]
            total += len(near)
            won += float((two[a, b] < near).sum() + 0.5 * (two[a, b] == near).sum())
    return won / total if total else 1.0


def _meeting(labels: Sequence[Sequence[str]], chosen: Longs) -> Longs:
    """At which level two values first share a label."""
    at = np.full((len(chosen), len(chosen)), len(labels), np.int64)
    for level in range(len(labels) - 1, -1, -1):
        codes = np.unique(np.asarray(list(labels[level]), dtype=str)[chosen], return_inverse=True)[1]
        at[codes[:, None] == codes] = level
    return at


def agreement(taxonomy: Taxonomy, concepts: Sequence[int], labels: Sequence[Sequence[str]]) -> float:
    """From -1 to 1: whether values that meet low in a hierarchy are near in meaning (see `nearness`).

    The correlation, over all pairs of values, of the level where they meet with how far apart they are (the cophenetic
    correlation of Sokal and Rohlf, Taxon 11(2), 1962). A flat or shuffled hierarchy has about 0, one of
    fewer than three meanings 1. `labels[level][value]`
    are those of the hierarchy, `concepts` what its values mean (-1: unknown, left out).

    >>> from kanopy.ontology.load import load_ontology
    >>> w = load_ontology("wordnet")
    >>> values = ("cat", "dog", "car", "bus")
    >>> concepts = [w.sense(value) for value in values]
    >>> agreement(w, concepts, [values, ("a", "a", "b", "b"), "****"]) > 0.5
    True
    >>> agreement(w, concepts, [values, ("a", "b", "a", "b"), "****"]) < 0
    True
    """
    known_values = np.flatnonzero(np.asarray(concepts) >= 0)
    if len(known_values) > MOST_VALUES:
        known_values = known_values[np.linspace(0, len(known_values) - 1, MOST_VALUES).astype(np.int64)]
    distinct, position = np.unique(np.asarray(concepts, np.int32)[known_values], return_inverse=True)
    if len(distinct) < 3:  # a single distance agrees with any tree
        return 1.0
    far = 1.0 - _nearness(taxonomy, tuple(distinct.tolist()))[np.ix_(position, position)]
    pairs = np.triu_indices(len(known_values), 1)
    apart, meeting = far[pairs], _meeting_levels(labels, known_values)[pairs]
    if np.ptp(meeting) == 0 or np.ptp(apart) == 0:
        return 0.0
    return float(np.corrcoef(meeting, apart)[0, 1])


@lru_cache(maxsize=2)  # the files of a ranking have the same values
def _nearness(taxonomy: Taxonomy, concepts: tuple[int, ...]) -> Floats:
    from kanopy.ontology.nearness.nearness import nearness  # loads all links: only when it is asked for

    return nearness(taxonomy, np.array(concepts, np.int32))


def _meeting_levels(labels: Sequence[Sequence[str]], values: Longs) -> Floats:
    """Per pair of values the lowest level where both have one label."""
    met = np.full((len(values), len(values)), float(len(labels)))
    for level in range(len(labels) - 1, -1, -1):
        code = np.unique([labels[level][value] for value in values.tolist()], return_inverse=True)[1]
        met[code[:, None] == code] = level
    return met
