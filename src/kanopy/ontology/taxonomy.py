"""One frozen taxonomy of arrays behind every ontology: WordNet, OBO, OWL, SKOS, a CSV file, or a hierarchy.

Concepts are numbers `0 … size-1` in the order of their source (WordNet: ascending synset offset). Public surface:

    Taxonomy.from_concepts(concepts: Iterable[Concept], *, name="", source="", ...) -> Taxonomy
    Taxonomy.from_hierarchy(hierarchy) -> Taxonomy

    .size: int                    .name: str               .part_of_speech: str ("n", … or "")
    .parent_start, .parents       CSR of is-a parents (int32)      .parents_of(c) -> tuple[int, ...]
    .child_start, .children       CSR of is-a children, on demand  .children_of(c) -> tuple[int, ...]
    .min_depth, .depth            edges to the root: shortest and longest path (int32; a virtual root has -1)
    .max_depth_in_nodes: int      nodes on the longest path        .topological_order: parents before children
    .virtual_root: int            the concept put above several roots, or -1      .roots: int32[]
    .is_instance: bool[]          concepts that are instances (WordNet's @i)
    .tag_counts: int64[]          how often a concept was tagged in text (`.has_tag_counts`)
    .ancestor_start, .ancestors, .ancestor_distance   CSR, each concept itself included, shortest distances
    .ancestors_of(c) -> dict[int, int]       concept -> shortest distance upwards, itself with 0
    .descendants_of(c) -> int32[]            everything below, itself included
    .is_a(c, ancestor) -> bool
    .part_start, .parts           CSR of parts (meronyms), possibly empty     .wholes_of(c) -> tuple[int, ...]
    .keys: Sequence[str]          .find_key(key) -> int            "02129165-n" -> 32418
    .label(c) -> str              the preferred term               .terms_of(c) -> tuple[str, ...]
    .senses(word) -> tuple[int, ...]         concepts of a word, most frequent first; () if unknown
    .tagged(word) -> tuple[int, ...]         how often each of these senses was tagged in text
    .sense(text) -> int                      "tiger#2" -> concept; "tiger" -> its first sense; errors explain
    .sense_name(c) -> str                    concept -> "tiger#2"
    .resolve(text) -> tuple[int, ...]        "tiger" -> all its senses, "tiger#2" -> that one; errors explain
    .knows(word) -> bool          .vocabulary: Sequence[str] (folded, sorted)
    .other_parts_of_speech(word) -> tuple[str, ...]   ("adjective",) for a word without a sense here
    .exceptions: Mapping[str, tuple[str, ...]]        irregular plurals: "wolves" -> ("wolf",)
    .nominalizations(adjective) -> tuple[int, ...]    "warm-blooded" -> concepts of derived nouns
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from kanopy._arrays import Ints, Longs
from kanopy._errors import OntologyError, near_miss
from kanopy._lazy import public
from kanopy._mixins import brief
from kanopy.ontology.links import Concept, check_parents, csr, csr_row, depths, fold, topological_order, word_arrays
from kanopy.ontology.text_pool import TextPool

Bools = npt.NDArray[np.bool_]

__all__ = ["PARTS_OF_SPEECH", "VIRTUAL_KEY", "Bools", "Concept", "Ints", "Longs", "Taxonomy", "TreeLike", "fold"]

VIRTUAL_KEY = "*"
PARTS_OF_SPEECH = {"n": "noun", "v": "verb", "a": "adjective", "r": "adverb"}


class TreeLike(Protocol):
    """What `from_hierarchy` needs of a hierarchy (this room does not import that one)."""

    @property
    def name(self) -> str: ...
    @property
    def labels(self) -> tuple[str, ...]: ...
    def tree(self) -> Ints: ...


@public("kanopy.ontology")
@dataclass(frozen=True, eq=False)
class Taxonomy:
    """Concepts joined by is-a, as arrays. The module's first lines list everything it answers.

    >>> animals = Taxonomy.from_concepts([
    ...     Concept("a", ("animal",)), Concept("m", ("mammal",), ("a",)), Concept("p", ("pet",), ("a",)),
    ...     Concept("d", ("dog", "domestic dog"), ("m", "p"))])
    >>> [animals.label(c) for c in animals.ancestors_of(animals.sense("domestic dog"))]
    ['dog', 'mammal', 'pet', 'animal']
    >>> animals.is_a(animals.sense("dog"), animals.sense("pet"))
    True
    """

    name: str
    part_of_speech: str
    keys: TextPool
    parent_start: Ints
    parents: Ints
    depth: Ints
    min_depth: Ints
    virtual_root: int
    is_instance: Bools
    tag_counts: Longs
    vocabulary: TextPool
    sense_start: Ints
    sense_concepts: Ints
    term_start: Ints
    term_words: Ints
    cased_position: Ints
    cased_text: TextPool
    part_start: Ints
    parts: Ints
    exception_text: TextPool = field(default_factory=lambda: TextPool(b""))
    other_words: TextPool = field(default_factory=lambda: TextPool(b""))
    adjectives: TextPool = field(default_factory=lambda: TextPool(b""))
    adjective_start: Ints = field(default_factory=lambda: np.zeros(1, np.int32))
    adjective_concepts: Ints = field(default_factory=lambda: np.zeros(0, np.int32))
    sense_counts: Longs = field(default_factory=lambda: np.zeros(0, np.int64))

    def __post_init__(self) -> None:
        for value in vars(self).values():
            if isinstance(value, np.ndarray):
                value.flags.writeable = False

    # ---- construction -------------------------------------------------------------------------------------

    @classmethod
    def from_concepts(
        cls,
        concepts: Iterable[Concept],
        *,
        name: str = "",
        source: str = "",
        part_of_speech: str = "",
        senses: Mapping[str, Sequence[str]] | None = None,
        tag_counts: Mapping[str, int] | None = None,
        sense_counts: Mapping[tuple[str, str], int] | None = None,
        extras: Mapping[str, Any] | None = None,
    ) -> Taxonomy:
        """From what a reader found. Parents and senses are named by key.

        `senses` gives, per folded word, the keys of its concepts from the most frequent down; without it the order
        is that of the source. Raises `OntologyError` on duplicate keys, on unknown parents (with their line) and
        on cycles (shown).
        """
        records = list(concepts)
        where = f" in {source}" if source else ""
        if not records:
            raise OntologyError(f"There are no concepts{where}. Give an ontology with at least one concept.")
        index: dict[str, int] = {}
        for number, record in enumerate(records):
            if index.setdefault(record.key, number) != number:
                first = records[index[record.key]]
                lines = f" (lines {first.line} and {record.line})" if record.line else ""
                raise OntologyError(f"The concept {record.key!r} occurs twice{where}{lines}. Keep one.")
        check_parents(records, index, where)
        parents = [list(dict.fromkeys(index[up] for up in record.parents)) for record in records]
        terms: list[tuple[str, ...]] = [record.terms or (record.key,) for record in records]
        keys = [record.key for record in records]
        instance = [record.is_instance for record in records]
        parts = [[index[part_key] for part_key in record.parts if part_key in index] for record in records]
        roots = [number for number, up in enumerate(parents) if not up]
        virtual_root = -1
        if len(roots) > 1:
            virtual_root = len(records)
            for root in roots:
                parents[root] = [virtual_root]
            parents.append([])
            parts.append([])
            keys.append(VIRTUAL_KEY)
            terms.append(())
            instance.append(False)
        parent_start, parent_flat = csr(parents)
        order = topological_order(parents, lambda c: terms[c][0], where)
        depth, min_depth = depths(order, parents, -1 if virtual_root >= 0 else 0)
        counts = np.zeros(len(keys), np.int64)
        for key, count in (tag_counts or {}).items():
            counts[index[key]] = count
        part_start, part_flat = csr(parts)
        words = word_arrays(terms, {word: [index[key] for key in ordered] for word, ordered in (senses or {}).items()})
        if sense_counts:
            owner = np.repeat(np.arange(len(words["vocabulary"])), np.diff(words["sense_start"]))
            pairs = zip(owner.tolist(), words["sense_concepts"].tolist(), strict=True)
            tagged = (sense_counts.get((words["vocabulary"][word], keys[concept]), 0) for word, concept in pairs)
            words["sense_counts"] = np.fromiter(tagged, np.int64)
        return cls(
            name=name,
            part_of_speech=part_of_speech,
            keys=TextPool.of(keys),
            parent_start=parent_start,
            parents=parent_flat,
            depth=depth,
            min_depth=min_depth,
            virtual_root=virtual_root,
            is_instance=np.array(instance, bool),
            tag_counts=counts,
            part_start=part_start,
            parts=part_flat,
            **words,
            **(extras or {}),
        )

    @classmethod
    def from_hierarchy(cls, hierarchy: TreeLike) -> Taxonomy:
        """A generalization hierarchy is a taxonomy: its nodes are concepts, its labels their terms.

        A node that only repeats the label of its parent to fill a level (and is the parent's only child) is the
        same concept as that parent.

        >>> from kanopy.hierarchy.hierarchy import Hierarchy
        >>> t = Taxonomy.from_hierarchy(Hierarchy.from_rows([["cat", "mammal", "*"], ["carp", "carp", "*"]]))
        >>> t.size, t.label(t.parents_of(t.sense("carp"))[0])
        (4, '*')
        """
        parent, labels = hierarchy.tree(), hierarchy.labels
        child_count = np.bincount(parent[parent >= 0], minlength=len(parent))
        stands_for = np.arange(len(parent))
        for node in range(len(parent) - 1, -1, -1):  # parents have larger numbers than their children
            up = int(parent[node])
            if up >= 0 and child_count[up] == 1 and labels[up] == labels[node]:
                stands_for[node] = stands_for[up]
        nodes = [node for node in range(len(parent)) if stands_for[node] == node]
        used: dict[str, int] = {}
        keys = {}
        for node in nodes:
            used[labels[node]] = used.get(labels[node], 0) + 1
            keys[node] = labels[node] if used[labels[node]] == 1 else f"{labels[node]}@{used[labels[node]]}"
        return cls.from_concepts(
            (
                Concept(
                    keys[node], (labels[node],), (keys[int(stands_for[parent[node]])],) if parent[node] >= 0 else ()
                )
                for node in nodes
            ),
            name=hierarchy.name,
            source=f"the hierarchy {hierarchy.name}".rstrip(),
        )

    # ---- structure ----------------------------------------------------------------------------------------

    @property
    def size(self) -> int:
        """The number of concepts, a virtual root included."""
        return len(self.depth)

    def __len__(self) -> int:
        return self.size

    def __repr__(self) -> str:
        name = brief(self.name)[1:-1] or "without name"
        return f"<Taxonomy {name}: {self.size:,} concepts, {len(self.vocabulary):,} words>"

    @cached_property
    def roots(self) -> Ints:
        """Concepts without a parent, or right under the virtual root."""
        if self.virtual_root >= 0:
            return self.children[self.child_start[self.virtual_root] : self.child_start[self.virtual_root + 1]]
        return np.flatnonzero(np.diff(self.parent_start) == 0).astype(np.int32)

    @cached_property
    def max_depth_in_nodes(self) -> int:
        """Nodes on the longest path from a root (a virtual one included) down to a concept."""
        return int(self.depth.max()) - int(self.depth.min()) + 1

    @cached_property
    def topological_order(self) -> Ints:
        """All concepts, every parent before its children."""
        return np.argsort(self.depth, kind="stable").astype(np.int32)

    def parents_of(self, concept: int) -> tuple[int, ...]:
        """The direct is-a parents of a concept."""
        return csr_row(self.parent_start, self.parents, concept)

    @cached_property
    def child_start(self) -> Ints:
        """Where the children of each concept start in `children`."""
        counts = np.bincount(self.parents, minlength=self.size)
        return np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)

    @cached_property
    def children(self) -> Ints:
        """The children of all concepts, one run per parent, ascending."""
        below = np.repeat(np.arange(self.size, dtype=np.int32), np.diff(self.parent_start))
        return below[np.argsort(self.parents, kind="stable")]

    def children_of(self, concept: int) -> tuple[int, ...]:
        """The direct children of a concept."""
        return csr_row(self.child_start, self.children, concept)

    def wholes_of(self, concept: int) -> tuple[int, ...]:
        """The concepts this one is a part of."""
        return csr_row(*self._wholes, concept)

    @cached_property
    def _wholes(self) -> tuple[Ints, Ints]:
        whole = np.repeat(np.arange(self.size, dtype=np.int32), np.diff(self.part_start))
        order = np.argsort(self.parts, kind="stable")
        return np.searchsorted(self.parts[order], np.arange(self.size + 1)).astype(np.int32), whole[order]

    def ancestors_of(self, concept: int) -> dict[int, int]:
        """Every concept above (and the concept itself) with its shortest distance in edges, nearest first."""
        steps_to_ancestor = {int(concept): 0}
        level, distance = [int(concept)], 0
        while level:
            distance += 1
            above = sorted({up for node in level for up in self.parents_of(node)} - steps_to_ancestor.keys())
            steps_to_ancestor.update(dict.fromkeys(above, distance))
            level = above
        return steps_to_ancestor

    def descendants_of(self, concept: int) -> Ints:
        """Every concept below a concept, and itself, ascending."""
        owners = np.repeat(np.arange(self.size, dtype=np.int32), np.diff(self.ancestor_start))
        descendants: Ints = owners[self.ancestors == concept]
        return descendants

    def is_a(self, concept: int, ancestor: int) -> bool:
        """Whether `ancestor` is the concept itself or lies above it."""
        return ancestor in self.ancestors_of(concept)

    @cached_property
    def _ancestor_table(self) -> tuple[Ints, Ints, Ints]:
        """All ancestors of all concepts with shortest distances, as CSR: breadth first over all concepts at once."""
        size = self.size
        parent_count = np.diff(self.parent_start).astype(np.int64)
        concept_numbers = np.arange(size, dtype=np.int64)
        pairs, steps = [concept_numbers * size + concept_numbers], [np.zeros(size, np.int32)]
        low, high = concept_numbers, concept_numbers
        distance = 0
        while len(low):
            distance += 1
            count = parent_count[high]
            position = np.arange(count.sum()) - np.repeat(np.cumsum(count) - count, count)
            above = self.parents[np.repeat(self.parent_start[high].astype(np.int64), count) + position]
            pair = np.unique(np.repeat(low, count) * size + above)
            pairs.append(pair)
            steps.append(np.full(len(pair), distance, np.int32))
            low, high = np.divmod(pair, size)
        pair, step = np.concatenate(pairs), np.concatenate(steps)
        order = np.argsort(pair, kind="stable")  # stable: of two equal pairs the shorter distance comes first
        pair, step = pair[order], step[order]
        first = np.concatenate([[True], pair[1:] != pair[:-1]])
        low, high = np.divmod(pair[first], size)
        start = np.searchsorted(low, np.arange(size + 1)).astype(np.int32)
        return start, high.astype(np.int32), step[first]

    @property
    def ancestor_start(self) -> Ints:
        """Where each concept's ancestors start in `ancestors`."""
        return self._ancestor_table[0]

    @property
    def ancestors(self) -> Ints:
        """The ancestors of all concepts (each itself included), ascending within a concept; built on first use."""
        return self._ancestor_table[1]

    @property
    def ancestor_distance(self) -> Ints:
        """Shortest distances, in edges, beside `ancestors`."""
        return self._ancestor_table[2]

    @cached_property
    def has_tag_counts(self) -> bool:
        """Whether the source said how often its concepts occur in text."""
        return bool(self.tag_counts.any())

    # ---- names --------------------------------------------------------------------------------------------

    @cached_property
    def _key_numbers(self) -> dict[str, int]:
        return {key: number for number, key in enumerate(self.keys)}

    def find_key(self, key: str) -> int:
        """The concept with a key, as its source names it."""
        number = self._key_numbers.get(key)
        if number is None:
            raise OntologyError(
                f"{self._called} has no concept with the key {key!r}. Its keys look like {self.keys[0]!r}."
            )
        return number

    @property
    def _called(self) -> str:
        return f"The ontology {self.name!r}" if self.name else "The ontology"

    def _term(self, position: int) -> str:
        at = int(np.searchsorted(self.cased_position, position))
        if at < len(self.cased_position) and self.cased_position[at] == position:
            return self.cased_text[at]
        return self.vocabulary[int(self.term_words[position])]

    def label(self, concept: int) -> str:
        """The preferred term of a concept, as written in its source."""
        start = int(self.term_start[concept])
        return self._term(start) if start < self.term_start[concept + 1] else self.keys[int(concept)]

    def terms_of(self, concept: int) -> tuple[str, ...]:
        """All terms of a concept, preferred first."""
        return tuple(self._term(at) for at in range(self.term_start[concept], self.term_start[concept + 1]))

    def word_number(self, word: str) -> int:
        """The position of a word in the vocabulary, or -1; hyphens and spaces are told apart only if both occur."""
        folded = fold(word)
        number = self.vocabulary.find_sorted(folded)
        if number < 0 and (" " in folded or "-" in folded):
            number = self._without_hyphens.get(folded.replace("-", " "), -1)
        return number

    @cached_property
    def _without_hyphens(self) -> dict[str, int]:
        words_without_hyphens: dict[str, int] = {}
        for number, word in enumerate(self.vocabulary):
            if "-" in word or " " in word:
                words_without_hyphens.setdefault(word.replace("-", " "), number)
        return words_without_hyphens

    def senses(self, word: str) -> tuple[int, ...]:
        """The concepts of a word from the most frequent down; empty if the ontology does not know it."""
        number = self.word_number(word)
        return () if number < 0 else csr_row(self.sense_start, self.sense_concepts, number)

    def tagged(self, word: str) -> tuple[int, ...]:
        """How often a word was tagged in each of its `senses`; as often as the whole concept if that is not known."""
        number = self.word_number(word)
        if number < 0 or not len(self.sense_counts):
            return tuple(self.tag_counts[list(self.senses(word))].tolist())
        return csr_row(self.sense_start, self.sense_counts, number)

    def knows(self, word: str) -> bool:
        """Whether a word has a concept here."""
        return self.word_number(word) >= 0

    def resolve(self, text: str) -> tuple[int, ...]:
        """`tiger` is all concepts of the word, `tiger#2` its second; the error says why a word has none."""
        word, mark, number = text.rpartition("#")
        if mark and word and number.isdecimal() and not self.knows(text):
            senses = self._known_senses(word)
            if not 1 <= int(number) <= len(senses):
                raise OntologyError(
                    f"{text!r}: the word {word!r} has {len(senses)} sense{'s' if len(senses) != 1 else ''} in "
                    f"{self.name or 'the ontology'}. Write a number from 1 to {len(senses)}, or the word alone."
                )
            return (senses[int(number) - 1],)
        return self._known_senses(text)

    def sense(self, text: str) -> int:
        """The concept of `tiger#2`, or the most frequent one of `tiger`."""
        return self.resolve(text)[0]

    def _known_senses(self, word: str) -> tuple[int, ...]:
        senses = self.senses(word)
        if senses:
            return senses
        other = self.other_parts_of_speech(word)
        word_class = PARTS_OF_SPEECH.get(self.part_of_speech, self.part_of_speech)
        if other:
            raise OntologyError(
                f"The word {word!r} has no {word_class} sense in {self.name or 'the ontology'}; it is known as "
                f"{' and '.join(other)} only. Use a related {word_class}."
            )
        raise OntologyError(f"{self._called} does not know the word {word!r}. {self._suggest(word)}")

    def _suggest(self, word: str) -> str:
        folded = fold(word)
        vocabulary_words = (
            self.vocabulary
            if len(self.vocabulary) <= 1000
            else [other for other in self.vocabulary if other[:2] == folded[:2] and abs(len(other) - len(folded)) <= 3]
        )
        hint = near_miss(folded, vocabulary_words)
        return hint if hint.startswith("Did") else "Check the spelling, or give a synonym or a broader word."

    def sense_name(self, concept: int) -> str:
        """The preferred term of a concept with the number of its sense, such as `tiger#2`."""
        start = int(self.term_start[concept])
        if start == self.term_start[concept + 1]:
            return self.keys[int(concept)]
        senses = csr_row(self.sense_start, self.sense_concepts, int(self.term_words[start]))
        return f"{self._term(start)}#{senses.index(concept) + 1}"

    # ---- neighbouring word classes ------------------------------------------------------------------------

    def other_parts_of_speech(self, word: str) -> tuple[str, ...]:
        """As which other parts of speech the source knows a word that has no sense in this taxonomy."""
        return tuple(PARTS_OF_SPEECH[letter] for letter in self._other_words.get(fold(word).replace("-", " "), ""))

    @cached_property
    def _other_words(self) -> dict[str, str]:
        pairs = (line.split("\t") for line in self.other_words)
        return {word.replace("-", " "): letters for word, letters in pairs}

    @cached_property
    def exceptions(self) -> Mapping[str, tuple[str, ...]]:
        """Irregular forms and their base forms, as WordNet's `noun.exc` lists them (folded)."""
        rows = (line.split("\t") for line in self.exception_text)
        return {form: tuple(bases) for form, *bases in rows}

    def nominalizations(self, adjective: str) -> tuple[int, ...]:
        """The concepts of nouns derived from an adjective, or from adjectives WordNet calls similar to it."""
        number = self._adjective_numbers.get(fold(adjective).replace("-", " "))
        return () if number is None else csr_row(self.adjective_start, self.adjective_concepts, number)

    @cached_property
    def _adjective_numbers(self) -> dict[str, int]:
        return {word.replace("-", " "): number for number, word in enumerate(self.adjectives)}
