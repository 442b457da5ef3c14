"""The plain twins of `subsumers.py`. They stand apart so that a handful of pairs needs no compiler at all."""

from __future__ import annotations

from typing import NamedTuple

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
    found = {int(concept): 0}
    waiting = [int(concept)]
    for node in waiting:
        for up in parents[parent_start[node] : parent_start[node + 1]].tolist():
            if up not in found:
                found[up] = found[node] + 1
                waiting.append(up)
    return found


def unpack(packed: Longs) -> tuple[Ints, Ints, Ints]:
    """Depth, edges and concept of packed common subsumers."""
    return (
        ((packed >> DEPTH_SHIFT) - 1).astype(np.int32),
        (EDGE_LIMIT - ((packed >> EDGE_SHIFT) & EDGE_LIMIT)).astype(np.int32),
        (CONCEPT_LIMIT - (packed & CONCEPT_LIMIT)).astype(np.int32),
    )


def _near(rows: Ints, parent_start: Ints, parents: Ints, slot_of: Ints, slots: int) -> Longs:
    """[slot, row] -> distance from the row's concept up to the slot's, or -1."""
    near = np.full((slots, len(rows)), -1, np.int64)
    for row, concept in enumerate(rows):
        for up, distance in plain_climb(int(concept), parent_start, parents).items():
            if slot_of[up] >= 0:
                near[slot_of[up], row] = distance
    return near


def plain_deepest_block(
    rows: Ints, parent_start: Ints, parents: Ints, depth: Ints, slots: Slots, with_concept: bool
) -> tuple[Ints, Ints, Ints]:
    slot_of, slot_concept, slot_start, slot_parents, columns = slots
    near = _near(rows, parent_start, parents, slot_of, len(slot_concept))
    best = np.zeros(near.shape, np.int64)
    for slot in range(len(slot_concept)):
        concept = int(slot_concept[slot])
        above = slot_parents[slot_start[slot] : slot_start[slot + 1]]
        value = best[above].max(axis=0) - ONE_EDGE if len(above) else np.zeros(len(rows), np.int64)
        own = (
            ((np.int64(depth[concept]) + 1) << DEPTH_SHIFT)
            | ((EDGE_LIMIT - np.maximum(near[slot], 0)) << EDGE_SHIFT)
            | (CONCEPT_LIMIT - concept)
        )
        best[slot] = np.where(near[slot] >= 0, own, value)
    found, edges, concepts = unpack(np.ascontiguousarray(best[columns].T))
    return found, edges, concepts if with_concept else np.empty((0, 0), np.int32)


def plain_distance_block(rows: Ints, parent_start: Ints, parents: Ints, slots: Slots) -> Ints:
    slot_of, _, slot_start, slot_parents, columns = slots
    near = _near(rows, parent_start, parents, slot_of, len(slot_start) - 1)
    best = np.where(near >= 0, near, FAR)
    for slot in range(len(slot_start) - 1):
        above = slot_parents[slot_start[slot] : slot_start[slot + 1]]
        if len(above):
            best[slot] = np.minimum(best[slot], best[above].min(axis=0) + 1)
    return np.ascontiguousarray(best[columns].T.astype(np.int32))


def plain_informative_block(rows: Ints, parent_start: Ints, parents: Ints, content: Floats, slots: Slots) -> Floats:
    slot_of, slot_concept, slot_start, slot_parents, columns = slots
    near = _near(rows, parent_start, parents, slot_of, len(slot_concept))
    best = np.where(near >= 0, content[slot_concept][:, None], -np.inf)
    for slot in range(len(slot_concept)):
        above = slot_parents[slot_start[slot] : slot_start[slot + 1]]
        if len(above):
            best[slot] = np.maximum(best[slot], best[above].max(axis=0))
    return np.ascontiguousarray(best[columns].T)


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
            packed = ((int(depth[up]) + 1) << DEPTH_SHIFT) | ((EDGE_LIMIT - edges) << EDGE_SHIFT) | (CONCEPT_LIMIT - up)
            deepest[pair] = max(int(deepest[pair]), packed)
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
