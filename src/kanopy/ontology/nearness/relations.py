"""All links of an ontology as one graph, for walks that ask how near two meanings are.

Nodes are concepts (the first `size` of them those of the taxonomy, then those of other parts of speech) and after them
the words of definitions. For the WordNet that comes with Kanopy the graph lies beside it, made by
`compile_relations` from the same files; for any other ontology it is made of its is-a and part links.
"""

from __future__ import annotations

import io
import zipfile
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from pathlib import Path

import numpy as np

from kanopy._arrays import Floats, Ints
from kanopy._errors import OntologyError
from kanopy._files import write_whole
from kanopy.ontology.taxonomy import Taxonomy

IS_A, PART, DOMAIN, OTHER, GLOSS, SENSE, INSTANCE, WITHIN = range(8)
WEIGHTS = np.array([3.0, 2.0, 2.0, 1.0, 1.0, 1.0, 0.3, 6.0])
"""How much a link of each kind weighs: is-a, part of, domain, any other, a word of a definition, a sense of a word.

What has a name of its own goes by where it lies and not by what it is: Lyon is near Paris, which is a capital, rather
than near Manchester, which is a city.
"""
TO_SENSES = 0.3
"""From a word a walk goes to the word's own senses so much as often as to each definition that uses it."""


@dataclass(frozen=True, eq=False)
class Relations:
    """Links `(low[i], high[i])` of a `kind`, with a `share` (of 255) where a word has several senses.

    >>> from kanopy.ontology.load import load_ontology
    >>> relations_of(load_ontology("wordnet")).nodes > 82_115
    True
    """

    nodes: int
    words_from: int
    low: Ints
    high: Ints
    kind: Ints
    share: Ints

    @cached_property
    def walk(self) -> tuple[Ints, Ints, Floats]:
        """The links in both directions as CSR (start, target, chance to go there); chances of a node sum to 1."""
        low, high, kind = self.low, self.high, self.kind
        there = WEIGHTS[kind]
        gloss, sense = kind == GLOSS, kind == SENSE
        uses = np.bincount(high[gloss], minlength=self.nodes)
        rare = np.log(self.words_from / np.maximum(uses, 1)) / np.log(self.words_from)
        there[gloss] *= rare[high[gloss]]
        back = there.copy()
        there[sense] = self.share[sense] / 255
        back[sense] = there[sense] * np.maximum(1.0, TO_SENSES * uses[high[sense]])
        source, target = np.concatenate([low, high]), np.concatenate([high, low])
        weight = np.concatenate([there, back])
        order = np.lexsort((target, source))
        source, target, weight = source[order], target[order], weight[order]
        weight /= np.bincount(source, weights=weight, minlength=self.nodes)[source]
        start = np.searchsorted(source, np.arange(self.nodes + 1)).astype(np.int32)
        return start, target.astype(np.int32), weight

    @cached_property
    def often(self) -> Floats:
        """How often a long walk is at each node."""
        low, high, kind = self.low, self.high, self.kind
        weight = WEIGHTS[kind]
        total = np.bincount(low, weights=weight, minlength=self.nodes)
        total += np.bincount(high, weights=weight, minlength=self.nodes)
        return np.asarray(np.maximum(total, 1e-9) / total.sum())

    @cached_property
    def definitions(self) -> tuple[Ints, Ints, Ints, Ints]:
        """Which words name or define each concept, and where each word does: two lists of starts and members."""
        spoken = (self.kind == GLOSS) | (self.kind == SENSE)
        concept, word = self.low[spoken], self.high[spoken] - self.words_from
        lists = []
        for owner, member, count in ((concept, word, self.words_from), (word, concept, self.nodes - self.words_from)):
            order = np.lexsort((member, owner))
            lists += [np.searchsorted(owner[order], np.arange(count + 1)).astype(np.int32), member[order]]
        return lists[0], lists[1], lists[2], lists[3]

    def save(self, path: str | Path) -> None:
        """Write a compact file; the same relations give the same bytes."""
        order = np.lexsort((self.high, self.low))
        low, high = self.low[order].astype(np.int64), self.high[order].astype(np.int64)
        arrays = {
            "about": np.array([self.nodes, self.words_from]),
            "low": np.diff(low, prepend=0).astype(np.uint16),
            "high": np.diff(high, prepend=0).astype(np.int32),
            "kind": self.kind[order].astype(np.uint8),
            "share": self.share[order].astype(np.uint8),
        }
        whole = io.BytesIO()
        with zipfile.ZipFile(whole, "w", zipfile.ZIP_LZMA) as archive:
            for name, array in sorted(arrays.items()):
                buffer = io.BytesIO()
                np.lib.format.write_array(buffer, array, allow_pickle=False)
                archive.writestr(zipfile.ZipInfo(f"{name}.npy"), buffer.getvalue(), zipfile.ZIP_LZMA)
        write_whole(path, whole.getvalue())

    @classmethod
    def load(cls, path: str | Path) -> Relations:
        """Read what `save` wrote."""
        try:
            with np.load(path, allow_pickle=False) as archive:
                nodes, words_from = archive["about"].tolist()
                low = np.cumsum(archive["low"], dtype=np.int32)
                high = np.cumsum(archive["high"], dtype=np.int32)
                kind, share = (archive[name].astype(np.int32) for name in ("kind", "share"))
        except (KeyError, ValueError, zipfile.BadZipFile, EOFError, OSError) as error:
            raise OntologyError(
                f"{path} holds no relations, or it is incomplete ({error}). Install Kanopy again."
            ) from None
        return cls(nodes, words_from, low, high, kind, share)


def relations_of(taxonomy: Taxonomy) -> Relations:
    """The graph of an ontology: that of WordNet beside it, or is-a and part links of any other."""
    from kanopy.ontology.load import BUILT_IN, load_ontology

    if taxonomy is load_ontology("wordnet"):
        return _built_in(taxonomy, BUILT_IN["wordnet"].with_name("wordnet30_relations.npz"))
    return _own_links(taxonomy)


@lru_cache(maxsize=1)
def _built_in(taxonomy: Taxonomy, path: Path) -> Relations:
    return _with_names(Relations.load(path), taxonomy)


def _with_names(relations: Relations, taxonomy: Taxonomy) -> Relations:
    """The same links; those of what has a name of its own are kinds of their own."""
    named = np.zeros(relations.nodes, bool)
    named[: taxonomy.size] = taxonomy.is_instance
    kind = relations.kind.copy()
    of_named = named[relations.low] | named[relations.high]
    kind[of_named & (kind == IS_A)] = INSTANCE
    kind[of_named & (kind == PART)] = WITHIN
    return replace(relations, kind=kind)


@lru_cache(maxsize=4)
def _own_links(taxonomy: Taxonomy) -> Relations:
    lows, highs, kinds = [], [], []
    for start, flat, one in (
        (taxonomy.parent_start, taxonomy.parents, IS_A),
        (taxonomy.part_start, taxonomy.parts, PART),
    ):
        lows.append(np.repeat(np.arange(taxonomy.size, dtype=np.int32), np.diff(start)))
        highs.append(flat)
        kinds.append(np.full(len(flat), one, np.int32))
    low, high, kind = np.concatenate(lows), np.concatenate(highs), np.concatenate(kinds)
    return _with_names(Relations(taxonomy.size, taxonomy.size, low, high, kind, np.zeros(len(low), np.int32)), taxonomy)
