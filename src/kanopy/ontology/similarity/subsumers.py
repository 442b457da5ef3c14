"""What concepts share, for single pairs, lists of pairs and whole blocks alike: subsumers, paths, features.

Every function takes two arrays of concept numbers that broadcast against each other. A column `(n, 1)` against a row
`(1, m)` is computed as a block by the compiled kernels; small lists of pairs run without the compiler.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import Any, Concatenate, NamedTuple, ParamSpec, TypeVar
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from kanopy._arrays import Floats, Ints, Longs
from kanopy._errors import OntologyError
from kanopy.ontology.similarity.subsumers_plain import Slots, plain_joint_pairs, unpack
from kanopy.ontology.taxonomy import Taxonomy

Concepts = npt.ArrayLike
Owner = TypeVar("Owner")
Made = TypeVar("Made")
P = ParamSpec("P")

FEW_PAIRS = 3_000
"""Up to so many pairs, starting the compiler costs more than it saves."""


class CommonSubsumer(NamedTuple):
    """The deepest common subsumers of pairs: their depth, the edges N1 + N2 to them, and the concepts."""

    depth: Ints
    edges: Ints
    concept: Ints


_slots: WeakKeyDictionary[Taxonomy, tuple[bytes, Slots]] = WeakKeyDictionary()


def remember_per_owner(make: Callable[Concatenate[Owner, P], Made]) -> Callable[Concatenate[Owner, P], Made]:
    """The function keeps its answer as long as its first argument (a taxonomy, a set of definitions) lives."""
    made: WeakKeyDictionary[Owner, Made] = WeakKeyDictionary()

    @wraps(make)
    def remembered(owner: Owner, /, *rest: P.args, **options: P.kwargs) -> Made:
        if owner not in made:
            made[owner] = make(owner, *rest, **options)
        return made[owner]

    return remembered


def deepest_common_subsumer(
    taxonomy: Taxonomy, a: Concepts, b: Concepts, *, with_concept: bool = True
) -> CommonSubsumer:
    """The common subsumer of greatest longest-path depth; of several the one with the fewest edges, then the first.

    Formulas that need only its depth and edges may go `with_concept=False` (blocks then leave the concepts empty).

    >>> from kanopy.ontology.load import load_ontology
    >>> w = load_ontology("wordnet")
    >>> found = deepest_common_subsumer(w, w.sense("cat"), w.sense("dog"))
    >>> w.sense_name(int(found.concept)), int(found.edges)
    ('carnivore#1', 4)
    """
    rows, columns, left, right, shape = _split(taxonomy, a, b)
    if rows is not None and columns is not None:
        from kanopy.ontology.similarity import subsumers_kernel as kernel

        up, slots = (taxonomy.parent_start, taxonomy.parents), _slots_of(taxonomy, columns)
        return CommonSubsumer(*kernel.deepest_block(rows, *up, taxonomy.depth, slots, with_concept))
    return CommonSubsumer(*unpack(_joint(taxonomy, left, right, None)[0].reshape(shape)))


def shortest_path(taxonomy: Taxonomy, a: Concepts, b: Concepts) -> Ints:
    """The fewest is-a edges from `a` up to a common subsumer and down to `b`.

    >>> from kanopy.ontology.load import load_ontology
    >>> w = load_ontology("wordnet")
    >>> int(shortest_path(w, w.sense("car"), w.sense("bicycle")))
    4
    """
    rows, columns, left, right, shape = _split(taxonomy, a, b)
    if rows is not None and columns is not None:
        from kanopy.ontology.similarity import subsumers_kernel as kernel

        return kernel.distance_block(rows, taxonomy.parent_start, taxonomy.parents, _slots_of(taxonomy, columns))
    return _joint(taxonomy, left, right, None)[1].reshape(shape)


def greatest_common_content(taxonomy: Taxonomy, a: Concepts, b: Concepts, content: Floats) -> Floats:
    """The greatest information content among the common subsumers."""
    rows, columns, left, right, shape = _split(taxonomy, a, b)
    if rows is not None and columns is not None:
        from kanopy.ontology.similarity import subsumers_kernel as kernel

        up, slots = (taxonomy.parent_start, taxonomy.parents), _slots_of(taxonomy, columns)
        return kernel.informative_block(rows, *up, content, slots)
    return _joint(taxonomy, left, right, content)[2].reshape(shape)


@dataclass(frozen=True, eq=False)
class FeatureSets:
    """One set of small numbers per concept: `items[start[c]:start[c+1]]`, each item once."""

    start: Longs
    items: Ints
    item_count: int

    @classmethod
    def of(cls, concept: npt.NDArray[Any], item: npt.NDArray[Any], size: int, item_count: int) -> FeatureSets:
        """From (concept, item) pairs, which may repeat."""
        pairs = np.unique(concept.astype(np.int64) * max(item_count, 1) + item)
        owner, items = np.divmod(pairs, max(item_count, 1))
        return cls(np.searchsorted(owner, np.arange(size + 1)), items.astype(np.int32), item_count)

    @property
    def sizes(self) -> Longs:
        """How many items each concept has."""
        return np.diff(self.start)


def overlap(taxonomy: Taxonomy, sets: FeatureSets, a: Concepts, b: Concepts) -> tuple[Floats, Floats, Floats]:
    """|A ∩ B|, |A \\ B| and |B \\ A| of the feature sets of two concepts."""
    rows, columns, left, right, shape = _split(taxonomy, a, b)
    if rows is not None and columns is not None:
        from kanopy.ontology.similarity import subsumers_kernel as kernel

        both = kernel.overlap_block(rows, columns, sets.start, sets.items, sets.item_count)
    else:
        items_of_concept: dict[int, set[int]] = {}
        for concept in np.unique(np.concatenate([left, right])).tolist():
            items_of_concept[concept] = set(sets.items[sets.start[concept] : sets.start[concept + 1]].tolist())
        pairs = zip(left.tolist(), right.tolist(), strict=True)
        both = np.array([len(items_of_concept[x] & items_of_concept[y]) for x, y in pairs], np.int32).reshape(shape)
    shared = both.astype(np.float64)
    return shared, sets.sizes[np.asarray(a)] - shared, sets.sizes[np.asarray(b)] - shared


def _split(
    taxonomy: Taxonomy, a: Concepts, b: Concepts
) -> tuple[Ints | None, Ints | None, Ints, Ints, tuple[int, ...]]:
    """Rows and columns if the two form a block, otherwise flat pairs and their shape."""
    left, right = np.asarray(a, np.int32), np.asarray(b, np.int32)
    for concepts in (left, right):
        if concepts.size and (concepts.min() < 0 or concepts.max() >= taxonomy.size):
            raise OntologyError(f"Concept numbers go from 0 to {taxonomy.size - 1}; some of the given ones do not.")
    if left.ndim == right.ndim == 2 and left.shape[1] == 1 and right.shape[0] == 1 and left.size * right.size > 1:
        nothing = np.empty(0, np.int32)
        return np.ascontiguousarray(left[:, 0]), np.ascontiguousarray(right[0]), nothing, nothing, ()
    shape = np.broadcast_shapes(left.shape, right.shape)
    flat_left = np.ascontiguousarray(np.broadcast_to(left, shape)).ravel()
    flat_right = np.ascontiguousarray(np.broadcast_to(right, shape)).ravel()
    return None, None, flat_left, flat_right, shape


def _joint(taxonomy: Taxonomy, left: Ints, right: Ints, content: Floats | None) -> tuple[Longs, Ints, Floats]:
    function: Any = plain_joint_pairs
    if len(left) > FEW_PAIRS:
        from kanopy.ontology.similarity.subsumers_kernel import joint_pairs

        function = joint_pairs
    if content is None:
        content = np.zeros(taxonomy.size)
    result: tuple[Longs, Ints, Floats] = function(
        left, right, taxonomy.parent_start, taxonomy.parents, taxonomy.depth, content
    )
    return result


def _slots_of(taxonomy: Taxonomy, columns: Ints) -> Slots:
    """The closure of the columns; the last one is remembered, since row blocks share their columns."""
    wanted = columns.tobytes()
    remembered = _slots.get(taxonomy)
    if remembered is not None and remembered[0] == wanted:
        return remembered[1]
    used = np.zeros(taxonomy.size, bool)
    frontier = np.unique(columns)
    while len(frontier):
        used[frontier] = True
        above = np.unique(gather(taxonomy.parent_start, taxonomy.parents, frontier)[1])
        frontier = above[~used[above]]
    concept = taxonomy.topological_order[used[taxonomy.topological_order]]
    slot_of = np.full(taxonomy.size, -1, np.int32)
    slot_of[concept] = np.arange(len(concept), dtype=np.int32)
    start, parents = gather(taxonomy.parent_start, taxonomy.parents, concept)
    slots = Slots(slot_of, concept, start, slot_of[parents], slot_of[columns])
    _slots[taxonomy] = (wanted, slots)
    return slots


def gather(start: Ints, flat: Ints, chosen: Ints) -> tuple[Ints, Ints]:
    """The CSR rows of the chosen concepts."""
    count = np.diff(start)[chosen]
    new_start = np.concatenate([[0], np.cumsum(count)]).astype(np.int32)
    position = np.arange(new_start[-1]) - np.repeat(new_start[:-1], count)
    return new_start, flat[np.repeat(start[chosen], count) + position]
