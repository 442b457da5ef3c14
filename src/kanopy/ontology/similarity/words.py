"""Similarity of words: the best over their senses, unless a sense is named (`tiger#2`)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from kanopy._arrays import Floats, Ints, Longs
from kanopy._errors import OntologyError, some
from kanopy._lazy import public
from kanopy._usage import checked
from kanopy.ontology.similarity.measures import Measure, find_measure
from kanopy.ontology.similarity.pairwise import similarity_blocks
from kanopy.ontology.taxonomy import Taxonomy

PAIRS_OF_SENSES_AT_ONCE = 1_000_000


@public("kanopy.ontology")
class WordPair(NamedTuple):
    """Two words, their similarity, the concepts that gave it, and the common subsumer."""

    a: str
    b: str
    similarity: float
    a_concept: int
    b_concept: int
    lcs: int


@public("kanopy.ontology")
@checked
def word_similarity(taxonomy: Taxonomy, a: str, b: str, measure: str | Measure = "wu-palmer") -> WordPair:
    """The similarity of two words. Of equally similar senses the more frequent ones are named.

    >>> from kanopy.ontology.load import load_ontology
    >>> w = load_ontology("wordnet")
    >>> pair = word_similarity(w, "tiger#2", "cat")
    >>> round(pair.similarity, 4), w.sense_name(pair.b_concept), w.sense_name(pair.lcs)
    (0.9677, 'big cat#1', 'big cat#1')
    """
    return word_similarities(taxonomy, [(a, b)], measure)[0]


@public("kanopy.ontology")
@checked
def word_similarities(
    taxonomy: Taxonomy, pairs: Iterable[tuple[str, str]], measure: str | Measure = "wu-palmer"
) -> list[WordPair]:
    """The similarities of many pairs of words at once.

    >>> from kanopy.ontology import load_ontology
    >>> [round(pair.similarity, 3) for pair in word_similarities(load_ontology("wordnet"), [("cat", "dog")])]
    [0.867]
    """
    chosen = find_measure(measure)
    listed = list(pairs)
    senses = resolve_all(taxonomy, (word for pair in listed for word in pair))
    results: list[WordPair] = []
    batch: list[tuple[str, str]] = []
    waiting = 0
    for pair in listed:
        batch.append(pair)
        waiting += len(senses[pair[0]]) * len(senses[pair[1]])
        if waiting >= PAIRS_OF_SENSES_AT_ONCE:
            results += _batch(taxonomy, batch, senses, chosen)
            batch, waiting = [], 0
    return results + _batch(taxonomy, batch, senses, chosen)


def resolve_all(taxonomy: Taxonomy, words: Iterable[str]) -> dict[str, tuple[int, ...]]:
    """The concepts of each word (all its senses, or the one it names); an error lists every word without any."""
    senses: dict[str, tuple[int, ...]] = {}
    errors: dict[str, OntologyError] = {}
    for word in dict.fromkeys(words):
        try:
            senses[word] = taxonomy.resolve(word)
        except OntologyError as error:
            errors[word] = error
    if len(errors) == 1:
        raise next(iter(errors.values()))
    if errors:
        first = next(iter(errors.values()))
        raise OntologyError(f"{len(errors)} words have no concept: {some(errors)}. The first one: {first}")
    return senses


def sense_pairs(pairs: Iterable[tuple[Sequence[int], Sequence[int]]]) -> tuple[Ints, Ints, Longs]:
    """Every sense of the first with every sense of the second, pair after pair, and where each pair starts (and ends).

    >>> [part.tolist() for part in sense_pairs([((1, 2), (7,)), ((3,), (8, 9))])]
    [[1, 2, 3, 3], [7, 7, 8, 9], [0, 2, 4]]
    """
    listed = list(pairs)
    left = np.array([x for first, second in listed for x in first for _ in second], np.int32)
    right = np.array([y for first, second in listed for _ in first for y in second], np.int32)
    counts = [len(first) * len(second) for first, second in listed]
    return left, right, np.append(0, np.cumsum(counts)).astype(np.int64)


def _batch(
    taxonomy: Taxonomy, pairs: Sequence[tuple[str, str]], senses: dict[str, tuple[int, ...]], measure: Measure
) -> list[WordPair]:
    left, right, starts = sense_pairs((senses[a], senses[b]) for a, b in pairs)
    values = np.asarray(measure(taxonomy, left, right))
    # Of equals the first: the most frequent senses.
    best = [start + int(np.argmax(values[start:stop])) for start, stop in pairwise(starts.tolist())]
    chosen_left, chosen_right = left[best].tolist(), right[best].tolist()
    lcs = measure.least_common_subsumers(taxonomy, chosen_left, chosen_right)
    return [
        WordPair(a, b, float(values[at]), x, y, common)
        for (a, b), at, x, y, common in zip(pairs, best, chosen_left, chosen_right, lcs, strict=True)
    ]


@public("kanopy.ontology")
@checked
def word_matrix(taxonomy: Taxonomy, words: Sequence[str], measure: str | Measure = "wu-palmer") -> Floats:
    """The similarities of all words with all words; besides the result nothing quadratic is kept.

    >>> from kanopy.ontology.load import load_ontology
    >>> word_matrix(load_ontology("wordnet"), ["car", "automobile", "gem"]).round(2).tolist()
    [[1.0, 1.0, 0.63], [1.0, 1.0, 0.57], [0.63, 0.57, 1.0]]
    """
    senses_of_word = resolve_all(taxonomy, words)
    senses = [senses_of_word[word] for word in words]
    flat = np.array([concept for word_senses in senses for concept in word_senses], np.int32)
    counts = np.array([len(word_senses) for word_senses in senses], np.int64)
    first = np.cumsum(counts) - counts
    word_of = np.repeat(np.arange(len(words)), counts)
    out = np.full((len(words), len(words)), -np.inf)
    for start, block in similarity_blocks(taxonomy, flat, flat, measure):
        np.maximum.at(out, word_of[start : start + len(block)], np.maximum.reduceat(block, first, axis=1))
    return out
