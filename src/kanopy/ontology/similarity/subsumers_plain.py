"""What pairs of concepts share, without the compiler: a handful of pairs is quicker so."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from kanopy._arrays import Floats, Ints, Longs

DEPTH_SHIFT = 48
EDGE_SHIFT = 28
EDGE_LIMIT = (1 << 20) - 1
CONCEPT_LIMIT = (1 << 28) - 1
ONE_EDGE = 1 << EDGE_SHIFT
FAR = 1 << 28


class Slots(NamedTuple):
    """Column concepts and everything above them, parents first, as the block kernels want it."""

    slot_of: Ints
    concept: Ints
    start: Ints
    parents: Ints
    columns: Ints


def plain_climb(concept: int, parent_start: Ints, parents: Ints) -> dict[int, int]:
    """The twin of `climb`: ancestors and their shortest distances."""
    steps_to_concept = {int(concept): 0}
    waiting = [int(concept)]
    for node in waiting:
        for up in parents[parent_start[node] : parent_start[node + 1]].tolist():
            if up not in steps_to_concept:
                steps_to_concept[up] = steps_to_concept[node] + 1
                waiting.append(up)
    return steps_to_concept


def pack(depth: Any, edges: Any, concept: Any) -> Any:
    """Depth (from -1), edges and concept as one integer; larger is a better common subsumer."""
    return (
        ((np.int64(depth) + 1) << DEPTH_SHIFT)
        | ((EDGE_LIMIT - np.int64(edges)) << EDGE_SHIFT)
        | (CONCEPT_LIMIT - concept)
    )


def unpack(packed: Longs) -> tuple[Ints, Ints, Ints]:
    """Depth, edges and concept of packed common subsumers."""
    return (
        ((packed >> DEPTH_SHIFT) - 1).astype(np.int32),
        (EDGE_LIMIT - ((packed >> EDGE_SHIFT) & EDGE_LIMIT)).astype(np.int32),
        (CONCEPT_LIMIT - (packed & CONCEPT_LIMIT)).astype(np.int32),
    )


def plain_joint_pairs(
    left: Ints, right: Ints, parent_start: Ints, parents: Ints, depth: Ints, content: Floats
) -> tuple[Longs, Ints, Floats]:
    deepest = np.zeros(len(left), np.int64)
    shortest = np.full(len(left), FAR, np.int32)
    informative = np.full(len(left), -np.inf)
    climbs: dict[int, dict[int, int]] = {}

    def above(concept: int) -> dict[int, int]:
        if concept not in climbs:
            if len(climbs) > 20_000:
                climbs.clear()
            climbs[concept] = plain_climb(concept, parent_start, parents)
        return climbs[concept]

    for pair, (a, b) in enumerate(zip(left.tolist(), right.tolist(), strict=True)):
        near, far = above(a), above(b)
        for up in near.keys() & far.keys():
            edges = near[up] + far[up]
            deepest[pair] = max(deepest[pair], pack(depth[up], edges, up))
            shortest[pair] = min(int(shortest[pair]), edges)
            informative[pair] = max(informative[pair], content[up])
    return deepest, shortest, informative
