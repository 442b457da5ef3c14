"""The smallest tree of an ontology that joins given concepts: only the concepts where their paths meet."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kanopy._arrays import Ints
from kanopy.ontology.taxonomy import Taxonomy


@dataclass(frozen=True, eq=False)
class JoinTree:
    """Nodes `0…size-1` are the given concepts in their order, the others where they meet; parents come after children.

    `concept[node]` is the concept of a node. The last node is the root.
    """

    size: int
    concept: Ints
    parent: Ints

    @property
    def root(self) -> int:
        """The node above all others."""
        return len(self.parent) - 1


def join_tree(taxonomy: Taxonomy, concepts: Sequence[int]) -> JoinTree:
    """The minimal sub-hierarchy over concepts (which may repeat), chains dropped.

    Where a concept has several parents, it goes under the one that covers most of the given concepts (of equals the
    deeper one, then the first), so that values meet as low as possible.

    >>> from kanopy.ontology.load import load_ontology
    >>> w = load_ontology("wordnet")
    >>> tree = join_tree(w, [w.sense(word) for word in ("cat", "dog", "salmon")])
    >>> [w.label(int(c)) for c in tree.concept], tree.parent.tolist()
    (['cat', 'dog', 'salmon', 'carnivore', 'vertebrate'], [3, 3, 4, 4, -1])
    """
    given = [int(concept) for concept in concepts]
    up, children = _spanning_tree(taxonomy, given)
    below: dict[int, list[int]] = {}  # kept node -> kept nodes and values directly below; values are -1 - position
    values_at: dict[int, list[int]] = {}
    for position, concept in enumerate(given):
        values_at.setdefault(concept, []).append(-1 - position)
    top: dict[int, int] = {}  # concept -> the kept node (or value) that stands for its subtree
    order = sorted(up, key=lambda concept: -int(taxonomy.depth[concept]))
    for concept in order:  # a child is deeper than its parent
        parts = [top[child] for child in children.get(concept, [])] + values_at.get(concept, [])
        if len(parts) == 1:
            top[concept] = parts[0]
        else:
            top[concept] = concept
            below[concept] = parts
    root = top[order[-1]]
    if root < 0:  # a single value: its own hypernym (or itself, at the root) is all there is above it
        above = taxonomy.parents_of(given[0])
        root = above[0] if above else given[0]
        below = {root: [-1]}
    concepts_kept = _kept_order(below, root)
    number = {concept: len(given) + at for at, concept in enumerate(concepts_kept)}
    parent = np.full(len(given) + len(concepts_kept), -1, np.int32)
    for concept in concepts_kept:
        for below_node in below[concept]:
            parent[-1 - below_node if below_node < 0 else number[below_node]] = number[concept]
    return JoinTree(len(given), np.array([*given, *concepts_kept], np.int32), parent)


def _spanning_tree(taxonomy: Taxonomy, given: list[int]) -> tuple[dict[int, int], dict[int, list[int]]]:
    """Every given concept and all it may climb to, each with one parent (-1 for the root)."""
    covered: dict[int, int] = {}
    for concept in dict.fromkeys(given):
        for above in taxonomy.ancestors_of(concept):
            covered[above] = covered.get(above, 0) + 1
    up: dict[int, int] = {}
    children: dict[int, list[int]] = {}
    for concept in dict.fromkeys(given):
        while concept not in up:
            parents = taxonomy.parents_of(concept)
            if not parents:
                up[concept] = -1
                break
            chosen = max(parents, key=lambda p: (covered[p], int(taxonomy.depth[p]), -p))
            up[concept] = chosen
            children.setdefault(chosen, []).append(concept)
            concept = chosen
    return up, children


def _kept_order(below: dict[int, list[int]], root: int) -> list[int]:
    """The kept concepts from the root down, turned around: children before parents."""
    order = [root]
    for concept in order:  # grows while it is read
        order += [child for child in below[concept] if child >= 0]
    return order[::-1]


def clearest_term(taxonomy: Taxonomy, concept: int) -> str:
    """The term that says a concept best: the first whose most frequent sense it is, or else comes nearest to that.

    >>> from kanopy.ontology.load import load_ontology
    >>> w = load_ontology("wordnet")
    >>> clearest_term(w, w.sense("amphibian#3"))
    'amphibian'
    """
    terms = taxonomy.terms_of(concept)
    if not terms:
        return taxonomy.label(concept)
    return min(terms, key=lambda term: taxonomy.senses(term).index(concept))


def least_common_subsumer(taxonomy: Taxonomy, concepts: Sequence[int]) -> int:
    """The deepest concept above all the given ones; of equals the nearest, then the first.

    >>> from kanopy.ontology.load import load_ontology
    >>> w = load_ontology("wordnet")
    >>> w.label(least_common_subsumer(w, [w.sense(x) for x in ("cat", "dog", "crocodile")]))
    'vertebrate'
    """
    distances = [taxonomy.ancestors_of(concept) for concept in dict.fromkeys(int(c) for c in concepts)]
    common = set(distances[0]).intersection(*distances[1:])
    return min(common, key=lambda c: (-int(taxonomy.depth[c]), sum(d[c] for d in distances), c))
