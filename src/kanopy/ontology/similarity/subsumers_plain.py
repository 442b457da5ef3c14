"""The plain twins of `subsumers.py`. They stand apart so that a handful of pairs needs no compiler at all."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

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
    found = {int(concept): 0}
    waiting = [int(concept)]
    for node in waiting:
        for up in parents[parent_start[node] : parent_start[node + 1]].tolist():
            if up not in found:
                found[up] = found[node] + 1
                waiting.append(up)
    return found


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


def _near(rows: Ints, parent_start: Ints, parents: Ints, slots: Slots) -> Longs:
    """[slot, row] -> distance from the row's concept up to the slot's, or -1."""
    near = np.full((len(slots.concept), len(rows)), -1, np.int64)
    for row, concept in enumerate(rows):
        for up, distance in plain_climb(int(concept), parent_start, parents).items():
            if slots.slot_of[up] >= 0:
                near[slots.slot_of[up], row] = distance
    return near


def _passed_down(best: npt.NDArray[Any], slots: Slots, better: np.ufunc, step: int) -> npt.NDArray[Any]:
    """[row, column] -> the better of what a column has itself and what its parents have, a step farther away."""
    for slot in range(len(best)):
        above = slots.parents[slots.start[slot] : slots.start[slot + 1]]
        if len(above):
            best[slot] = better(best[slot], better.reduce(best[above]) + step)
    return np.ascontiguousarray(best[slots.columns].T)


def plain_deepest_block(
    rows: Ints, parent_start: Ints, parents: Ints, depth: Ints, slots: Slots, with_concept: bool
) -> tuple[Ints, Ints, Ints]:
    near = _near(rows, parent_start, parents, slots)
    own = pack(depth[slots.concept][:, None], np.maximum(near, 0), slots.concept[:, None])
    depths, edges, concepts = unpack(_passed_down(np.where(near >= 0, own, 0), slots, np.maximum, -ONE_EDGE))
    return depths, edges, concepts if with_concept else np.empty((0, 0), np.int32)


def plain_distance_block(rows: Ints, parent_start: Ints, parents: Ints, slots: Slots) -> Ints:
    near = _near(rows, parent_start, parents, slots)
    return _passed_down(np.where(near >= 0, near, FAR), slots, np.minimum, 1).astype(np.int32)


def plain_informative_block(rows: Ints, parent_start: Ints, parents: Ints, content: Floats, slots: Slots) -> Floats:
    near = _near(rows, parent_start, parents, slots)
    return _passed_down(np.where(near >= 0, content[slots.concept][:, None], -np.inf), slots, np.maximum, 0)


def plain_joint_pairs(
    left: Ints, right: Ints, parent_start: Ints, parents: Ints, depth: Ints, content: Floats
) -> tuple[Longs, Ints, Floats]:
    deepest = np.zeros(len(left), np.int64)
    shortest = np.full(len(left), FAR, np.int32)
    informative = np.full(len(left), -np.inf)
    known: dict[int, dict[int, int]] = {}

    def above(concept: int) -> dict[int, int]:
        if concept not in known:
            if len(known) > 20_000:
                known.clear()
            known[concept] = plain_climb(concept, parent_start, parents)
        return known[concept]

    for pair, (a, b) in enumerate(zip(left.tolist(), right.tolist(), strict=True)):
        near, far = above(a), above(b)
        for up in near.keys() & far.keys():
            edges = near[up] + far[up]
            deepest[pair] = max(deepest[pair], pack(depth[up], edges, up))
            shortest[pair] = min(int(shortest[pair]), edges)
            informative[pair] = max(informative[pair], content[up])
    return deepest, shortest, informative


def plain_overlap_block(rows: Ints, columns: Ints, start: Longs, items: Ints, item_count: int) -> Ints:
    del item_count
    sets = {int(c): set(items[start[c] : start[c + 1]].tolist()) for c in np.concatenate([rows, columns])}
    counts = [[len(sets[a] & sets[b]) for b in columns.tolist()] for a in rows.tolist()]
    return np.array(counts, np.int32).reshape(len(rows), len(columns))


def plain_best_of_rows(block: Floats, count: int) -> Longs:
    return np.argsort(-block, axis=1, kind="stable")[:, :count].astype(np.int64)
