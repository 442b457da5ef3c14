"""The features of concepts that feature-based and gloss-based measures compare."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from kanopy._arrays import Floats
from kanopy.ontology.readers.glosses import Glosses
from kanopy.ontology.similarity.subsumers import FeatureSets, gather, remember_per_owner
from kanopy.ontology.taxonomy import Taxonomy


def _owners(start: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    return np.repeat(np.arange(len(start) - 1), np.diff(start))


@remember_per_owner
def terms(taxonomy: Taxonomy) -> FeatureSets:
    """The terms of each concept."""
    owner = _owners(taxonomy.term_start)
    return FeatureSets.of(owner, taxonomy.term_words, taxonomy.size, len(taxonomy.vocabulary))


@remember_per_owner
def subsumers_of(taxonomy: Taxonomy) -> FeatureSets:
    """Each concept and everything above it."""
    return FeatureSets(taxonomy.ancestor_start.astype(np.int64), taxonomy.ancestors, taxonomy.size)


@remember_per_owner
def neighbours(taxonomy: Taxonomy) -> FeatureSets:
    """Each concept, its direct parents and its direct children."""
    concepts = np.arange(taxonomy.size)
    child, up = _owners(taxonomy.parent_start), taxonomy.parents.astype(np.int64)
    return FeatureSets.of(
        np.concatenate([concepts, child, up]), np.concatenate([concepts, up, child]), taxonomy.size, taxonomy.size
    )


@remember_per_owner
def whole_parts(taxonomy: Taxonomy) -> FeatureSets:
    """The parts of each concept, those inherited from above included."""
    start, part_items = gather(taxonomy.part_start, taxonomy.parts, taxonomy.ancestors)
    owner = np.repeat(_owners(taxonomy.ancestor_start), np.diff(start))
    return FeatureSets.of(owner, part_items, taxonomy.size, taxonomy.size)


@remember_per_owner
def relations(taxonomy: Taxonomy) -> tuple[FeatureSets, ...]:
    """Neighbourhoods by kind of link: everything above, direct children, parts, wholes (without the concept itself)."""
    size = taxonomy.size
    low, high = _owners(taxonomy.ancestor_start), taxonomy.ancestors
    above = low != high
    child, up = _owners(taxonomy.parent_start), taxonomy.parents
    whole, part_items = _owners(taxonomy.part_start), taxonomy.parts
    links = ((low[above], high[above]), (up, child), (whole, part_items), (part_items, whole))
    return tuple(FeatureSets.of(np.asarray(a), np.asarray(b), size, size) for a, b in links)


class GlossVectors:
    """Second-order context vectors: which words keep company with the words of a concept's definition."""

    FEWEST_GLOSSES = 3
    CONCEPTS_AT_ONCE = 512

    def __init__(self, taxonomy: Taxonomy, glosses: Glosses) -> None:
        sets = glosses.word_sets
        often = np.bincount(sets.items, minlength=sets.item_count)
        is_frequent = often >= min(self.FEWEST_GLOSSES, max(1, int(often.max(initial=1))))
        number = np.where(is_frequent, np.cumsum(is_frequent) - 1, -1)
        owner = np.repeat(np.arange(taxonomy.size), sets.sizes)
        chosen = is_frequent[sets.items]
        self._sets = FeatureSets.of(owner[chosen], number[sets.items[chosen]], taxonomy.size, int(is_frequent.sum()))
        self._weight = np.log(taxonomy.size / often[is_frequent]) if is_frequent.any() else np.zeros(0)
        self._near = neighbours(taxonomy)

    @cached_property
    def _company(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int32], npt.NDArray[np.float64]]:
        """Word-by-word counts of common definitions, as CSR, weighted."""
        sets, words = self._sets, self._sets.item_count
        sizes = sets.sizes
        left = np.repeat(sets.items.astype(np.int64), np.repeat(sizes, sizes))
        begin = np.repeat(sets.start[:-1], sizes * sizes)
        position = np.arange(len(left)) - np.repeat(np.cumsum(sizes * sizes) - sizes * sizes, sizes * sizes)
        right = sets.items[begin + position % np.repeat(np.maximum(sizes, 1), sizes * sizes)]
        pair, count = np.unique(left * words + right, return_counts=True)
        row, column = np.divmod(pair, max(words, 1))
        value = (count * self._weight[row] * self._weight[column]).astype(np.float64)
        return np.searchsorted(row, np.arange(words + 1)).astype(np.int64), column.astype(np.int32), value

    def unit_vectors(self, concepts: npt.NDArray[Any]) -> npt.NDArray[np.float32]:
        """One row of length 1 per concept (zeros if no definition has known words)."""
        start, column, value = self._company
        rows = np.zeros((len(concepts), self._sets.item_count), np.float32)
        for at, concept in enumerate(concepts.tolist()):
            near = self._near.items[self._near.start[concept] : self._near.start[concept + 1]].tolist()
            words = [self._sets.items[self._sets.start[c] : self._sets.start[c + 1]] for c in near]
            flat = np.concatenate(words).tolist()
            if flat:
                runs = [slice(start[word], start[word + 1]) for word in flat]
                places = np.concatenate([column[run] for run in runs])
                weights = np.concatenate([value[run] for run in runs])
                vector = np.bincount(places, weights=weights, minlength=rows.shape[1])
                rows[at] = vector / np.sqrt(vector @ vector)
        return rows

    def cosine(self, a: npt.NDArray[Any], b: npt.NDArray[Any]) -> Floats:
        """Cosines of pairs that broadcast; only a few hundred vectors exist at a time."""
        if a.ndim == b.ndim == 2 and a.shape[1] == 1 and b.shape[0] == 1:
            out = np.empty((a.shape[0], b.shape[1]))
            for top in range(0, a.shape[0], self.CONCEPTS_AT_ONCE):
                rows = self.unit_vectors(a[top : top + self.CONCEPTS_AT_ONCE, 0])
                for left in range(0, b.shape[1], self.CONCEPTS_AT_ONCE):
                    columns = self.unit_vectors(b[0, left : left + self.CONCEPTS_AT_ONCE])
                    out[top : top + len(rows), left : left + len(columns)] = rows @ columns.T
            return np.minimum(out, 1.0)
        a, b = np.broadcast_arrays(a, b)
        flat = np.empty(a.size)
        for top in range(0, a.size, self.CONCEPTS_AT_ONCE):
            span = slice(top, top + self.CONCEPTS_AT_ONCE)
            concepts, index = np.unique(np.concatenate([a.ravel()[span], b.ravel()[span]]), return_inverse=True)
            vectors = self.unit_vectors(concepts)
            half = len(index) // 2
            flat[span] = np.einsum("ij,ij->i", vectors[index[:half]], vectors[index[half:]])
        return np.minimum(flat, 1.0).reshape(a.shape)


@remember_per_owner
def gloss_vectors(glosses: Glosses, taxonomy: Taxonomy) -> GlossVectors:
    """The context vectors of a taxonomy, prepared once per set of definitions."""
    return GlossVectors(taxonomy, glosses)
