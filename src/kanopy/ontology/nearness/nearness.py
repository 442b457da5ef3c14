"""How near the meanings of many concepts are, from random walks over all links of an ontology.

Two concepts are near if walks from them go to the same places (Agirre and Soroa, EACL 2009: personalizing PageRank for
word sense disambiguation; Hughes and Ramage, EMNLP 2007: lexical semantic relatedness with random graph walks). The
places of two walks are compared in two ways, by the square root of their shares and by how much more often than usual
they are visited; of both the ranks among all pairs are averaged. Places that all values of a column go to tell nothing
apart: a second view compares what is left of the places when the column's mean is taken away. A third goes one step on:
it compares the words that keep company with the words a walk comes by (gloss vectors: Patwardhan and Pedersen 2006).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from kanopy._arrays import Floats, Ints, Longs
from kanopy.ontology.nearness.company_kernel import company
from kanopy.ontology.nearness.relations import Relations, relations_of
from kanopy.ontology.nearness.walk_kernel import walk
from kanopy.ontology.taxonomy import Taxonomy

RESTART = 0.15
BUCKETS = 8192
"""More than `EXACT` concepts are compared by sketches of so many numbers (Charikar et al. 2002): far faster."""
EXACT = 400
FEW = 150
"""Walks from so few are followed farther."""
BINS = 1 << 16


def nearness(taxonomy: Taxonomy, concepts: Ints, readings: Sequence[Mapping[int, float]] | None = None) -> Floats:
    """A symmetric matrix of mean ranks from 0 (farthest pair) to 1 (nearest), 1 on the diagonal.

    `readings` may say what else each of them might mean, with chances: walks from a few values then start from all of
    it.

    >>> from kanopy.ontology.load import load_ontology
    >>> w = load_ontology("wordnet")
    >>> near = nearness(w, np.array([w.sense(word) for word in ("doctor", "hospital", "tractor")]))
    >>> bool(near[0, 1] > near[0, 2])
    True
    """
    return views(taxonomy, concepts, readings, centred=False)[0]


def views(
    taxonomy: Taxonomy, concepts: Ints, readings: Sequence[Mapping[int, float]] | None = None, *, centred: bool = True
) -> list[Floats]:
    """The nearness of concepts and, of a few, that of what sets them apart from the mean of all of them: of the places
    of their walks, and of the company of the words there (if the ontology has definitions).
    """
    relations = relations_of(taxonomy)
    start, target, chance = relations.walk
    least = 3e-5 if len(concepts) <= FEW else 1e-4 if len(concepts) <= 1000 else 3e-4
    exact = len(concepts) <= EXACT
    random = np.random.default_rng(1)
    bucket = random.integers(0, BUCKETS, relations.nodes)
    sign = random.choice(np.array([-1.0, 1.0], np.float32), relations.nodes)
    width = relations.nodes if exact else BUCKETS
    visited: list[tuple[Longs, Floats, Floats]] = []
    starts = readings if readings is not None and exact else [{concept: 1.0} for concept in concepts.tolist()]
    for meant in starts:
        visits = np.zeros(relations.nodes)
        for one, share_of_sense in meant.items():
            visits += share_of_sense * walk(start, target, chance, one, RESTART, least)
        places = np.flatnonzero(visits).astype(np.int64)
        share = visits[places]
        visited.append((places, np.sqrt(share), np.maximum(0.0, np.log(share / relations.often[places]))))
    if exact:
        seen = np.zeros(relations.nodes, np.bool_)
        for one in visited:
            seen[one[0]] = True
        places = np.flatnonzero(seen)
        bucket, sign, width = np.searchsorted(places, np.arange(relations.nodes)), np.ones_like(sign), len(places)
    apart = centred and exact
    spoken = places >= relations.words_from
    views_made = [np.zeros((len(concepts), len(concepts))) for _ in range(1 + apart + bool(apart and spoken.any()))]
    shares = []
    for feature in (1, 2):
        table = np.zeros((len(concepts), width), np.float32)
        for row, one in enumerate(visited):
            table[row] = np.bincount(bucket[one[0]], weights=one[feature] * sign[one[0]], minlength=width)
        if len(views_made) > 2:
            shares.append(table[:, spoken])
        for view in views_made[:2]:
            view += _alike(table) / 2
            table -= table.mean(axis=0)  # for the second view
    if shares:
        for beside in _company(relations, places[spoken] - relations.words_from, *shares):
            views_made[2] += _alike(beside - beside.mean(axis=0)) / 2
    for view in views_made:
        np.fill_diagonal(view, 1.0)
    return views_made


def _alike(table: npt.NDArray[np.float32] | Floats) -> Floats:
    """The ranks of the cosines of all pairs of rows."""
    rows = table / np.maximum(np.linalg.norm(table, axis=1, keepdims=True), 1e-12)
    return ranks((rows @ rows.T).astype(np.float64))


def _company(relations: Relations, words: Longs, *tables: npt.NDArray[np.float32]) -> Iterable[Floats]:
    """What goes with the words of the walks, by the roots of their shares (of rare words more) and by their lifts."""
    start, members, at, texts = relations.definitions
    roots, lifts = tables
    rare = np.log(relations.words_from / np.maximum(np.diff(at)[words], 1))
    shares = np.concatenate([roots * rare, lifts]).astype(np.float64)
    return np.split(company(start, members, at, texts, words.astype(np.int32), shares), 2)


def ranks(similarity: Floats) -> Floats:
    """The rank of every pair among all pairs, from 0 to 1 (ties share their mean), to a 65,536th of the range.

    >>> ranks(np.array([[1.0, 0.9, 0.1], [0.9, 1.0, 0.5], [0.1, 0.5, 1.0]])).round(2).tolist()
    [[1.0, 0.83, 0.17], [0.83, 1.0, 0.5], [0.17, 0.5, 1.0]]
    """
    off = ~np.eye(len(similarity), dtype=bool)
    if not off.any():
        return np.ones_like(similarity, dtype=float)
    low, high = float(similarity[off].min()), float(similarity[off].max())
    scaled = np.clip((similarity - low) / max(high - low, 1e-12), 0.0, 1.0)
    bin_of_pair = (scaled * (BINS - 1)).astype(np.int32)
    count = np.bincount(bin_of_pair[off], minlength=BINS)
    below = np.cumsum(count) - count / 2
    rank = below[bin_of_pair] / count.sum()
    np.fill_diagonal(rank, 1.0)
    return np.asarray(rank)
