"""What two concepts of a taxonomy share: deepest common subsumer, shortest path, most informative subsumer.

The block kernels exploit that, for a fixed row concept `a`, the answer for a column concept `c` follows from the
answers for the parents of `c` (only where `c` lies above `a` does `c` itself come in). One pass over the columns and
what lies above them, parents first, replaces a walk through the ancestors of every pair. The pass runs over "slots":
`slot_concept[s]` is the concept of a slot, `slot_start/slot_parents` its parents' slots (always smaller numbers).

A deepest common subsumer is packed into one integer so that the best one is the largest: its longest-path depth, then
the fewest edges N1 + N2, then the smallest concept number.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from kanopy.kernels.compiler import helper, kernel

Ints = npt.NDArray[np.int32]
Longs = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

DEPTH_SHIFT = 48
EDGE_SHIFT = 28
EDGE_LIMIT = (1 << 20) - 1
CONCEPT_LIMIT = (1 << 28) - 1
ONE_EDGE = 1 << EDGE_SHIFT
FAR = 1 << 28


@helper
def pack(depth: Any, edges: Any, concept: Any) -> Any:
    """Depth (from -1), edges and concept as one integer; larger is a better common subsumer."""
    return (
        ((np.int64(depth) + 1) << DEPTH_SHIFT)
        | ((EDGE_LIMIT - np.int64(edges)) << EDGE_SHIFT)
        | (CONCEPT_LIMIT - concept)
    )


@helper
def climb(concept: int, parent_start: Ints, parents: Ints, distance: Ints, queue: Ints) -> int:
    """Breadth first upwards: fills `queue` with the ancestors (itself first) and `distance`; returns how many."""
    queue[0] = concept
    distance[concept] = 0
    head, tail = 0, 1
    while head < tail:
        node = queue[head]
        head += 1
        for at in range(parent_start[node], parent_start[node + 1]):
            up = parents[at]
            if distance[up] < 0:
                distance[up] = distance[node] + 1
                queue[tail] = up
                tail += 1
    return tail


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


def _plain_deepest_block(
    rows: Ints,
    parent_start: Ints,
    parents: Ints,
    depth: Ints,
    slot_of: Ints,
    slot_concept: Ints,
    slot_start: Ints,
    slot_parents: Ints,
    columns: Ints,
) -> tuple[Ints, Ints, Ints]:
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
    return unpack(np.ascontiguousarray(best[columns].T))


@kernel(_plain_deepest_block)
def deepest_block(
    rows: Ints,
    parent_start: Ints,
    parents: Ints,
    depth: Ints,
    slot_of: Ints,
    slot_concept: Ints,
    slot_start: Ints,
    slot_parents: Ints,
    columns: Ints,
) -> tuple[Ints, Ints, Ints]:
    """[row, column] -> depth of the deepest common subsumer, edges N1 + N2 to it, and its concept."""
    shape = (len(rows), len(columns))
    out_depth, out_edges, out_concept = np.empty(shape, np.int32), np.empty(shape, np.int32), np.empty(shape, np.int32)
    distance = np.full(len(depth), -1, np.int32)
    queue = np.empty(len(depth), np.int32)
    near = np.full(len(slot_concept), -1, np.int32)
    best = np.empty(len(slot_concept), np.int64)
    for row in range(len(rows)):
        count = climb(rows[row], parent_start, parents, distance, queue)
        for at in range(count):
            if slot_of[queue[at]] >= 0:
                near[slot_of[queue[at]]] = distance[queue[at]]
        for slot in range(len(slot_concept)):
            if near[slot] >= 0:
                best[slot] = pack(depth[slot_concept[slot]], near[slot], slot_concept[slot])
            else:
                value = np.int64(ONE_EDGE)
                for at in range(slot_start[slot], slot_start[slot + 1]):
                    if best[slot_parents[at]] > value:
                        value = best[slot_parents[at]]
                best[slot] = value - ONE_EDGE
        for column in range(len(columns)):
            packed = best[columns[column]]
            out_depth[row, column] = (packed >> DEPTH_SHIFT) - 1
            out_edges[row, column] = EDGE_LIMIT - ((packed >> EDGE_SHIFT) & EDGE_LIMIT)
            out_concept[row, column] = CONCEPT_LIMIT - (packed & CONCEPT_LIMIT)
        for at in range(count):
            if slot_of[queue[at]] >= 0:
                near[slot_of[queue[at]]] = -1
            distance[queue[at]] = -1
    return out_depth, out_edges, out_concept


def _plain_distance_block(
    rows: Ints,
    parent_start: Ints,
    parents: Ints,
    slot_of: Ints,
    slot_start: Ints,
    slot_parents: Ints,
    columns: Ints,
) -> Ints:
    near = _near(rows, parent_start, parents, slot_of, len(slot_start) - 1)
    best = np.where(near >= 0, near, FAR)
    for slot in range(len(slot_start) - 1):
        above = slot_parents[slot_start[slot] : slot_start[slot + 1]]
        if len(above):
            best[slot] = np.minimum(best[slot], best[above].min(axis=0) + 1)
    return np.ascontiguousarray(best[columns].T.astype(np.int32))


@kernel(_plain_distance_block)
def distance_block(
    rows: Ints,
    parent_start: Ints,
    parents: Ints,
    slot_of: Ints,
    slot_start: Ints,
    slot_parents: Ints,
    columns: Ints,
) -> Ints:
    """[row, column] -> fewest is-a edges between two concepts by way of a common subsumer."""
    slots = len(slot_start) - 1
    out = np.empty((len(rows), len(columns)), np.int32)
    distance = np.full(len(slot_of), -1, np.int32)
    queue = np.empty(len(slot_of), np.int32)
    near = np.full(slots, FAR, np.int32)
    best = np.empty(slots, np.int32)
    for row in range(len(rows)):
        count = climb(rows[row], parent_start, parents, distance, queue)
        for at in range(count):
            if slot_of[queue[at]] >= 0:
                near[slot_of[queue[at]]] = distance[queue[at]]
        for slot in range(slots):
            value = near[slot]
            for at in range(slot_start[slot], slot_start[slot + 1]):
                value = min(value, best[slot_parents[at]] + 1)
            best[slot] = value
        for column in range(len(columns)):
            out[row, column] = best[columns[column]]
        for at in range(count):
            if slot_of[queue[at]] >= 0:
                near[slot_of[queue[at]]] = FAR
            distance[queue[at]] = -1
    return out


def _plain_informative_block(
    rows: Ints,
    parent_start: Ints,
    parents: Ints,
    content: Floats,
    slot_of: Ints,
    slot_concept: Ints,
    slot_start: Ints,
    slot_parents: Ints,
    columns: Ints,
) -> Floats:
    near = _near(rows, parent_start, parents, slot_of, len(slot_concept))
    best = np.where(near >= 0, content[slot_concept][:, None], -np.inf)
    for slot in range(len(slot_concept)):
        above = slot_parents[slot_start[slot] : slot_start[slot + 1]]
        if len(above):
            best[slot] = np.maximum(best[slot], best[above].max(axis=0))
    return np.ascontiguousarray(best[columns].T)


@kernel(_plain_informative_block)
def informative_block(
    rows: Ints,
    parent_start: Ints,
    parents: Ints,
    content: Floats,
    slot_of: Ints,
    slot_concept: Ints,
    slot_start: Ints,
    slot_parents: Ints,
    columns: Ints,
) -> Floats:
    """[row, column] -> the greatest information content of a common subsumer."""
    out = np.empty((len(rows), len(columns)), np.float64)
    distance = np.full(len(slot_of), -1, np.int32)
    queue = np.empty(len(slot_of), np.int32)
    near = np.zeros(len(slot_concept), np.bool_)
    best = np.empty(len(slot_concept), np.float64)
    for row in range(len(rows)):
        count = climb(rows[row], parent_start, parents, distance, queue)
        for at in range(count):
            if slot_of[queue[at]] >= 0:
                near[slot_of[queue[at]]] = True
        for slot in range(len(slot_concept)):
            value = content[slot_concept[slot]] if near[slot] else -np.inf
            for at in range(slot_start[slot], slot_start[slot + 1]):
                value = max(value, best[slot_parents[at]])
            best[slot] = value
        for column in range(len(columns)):
            out[row, column] = best[columns[column]]
        for at in range(count):
            if slot_of[queue[at]] >= 0:
                near[slot_of[queue[at]]] = False
            distance[queue[at]] = -1
    return out


def _plain_joint_pairs(
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


@kernel(_plain_joint_pairs)
def joint_pairs(
    left: Ints, right: Ints, parent_start: Ints, parents: Ints, depth: Ints, content: Floats
) -> tuple[Longs, Ints, Floats]:
    """Per pair: packed deepest common subsumer, shortest path, greatest information content of a common subsumer."""
    deepest = np.zeros(len(left), np.int64)
    shortest = np.full(len(left), FAR, np.int32)
    informative = np.full(len(left), -np.inf)
    near = np.full(len(depth), -1, np.int32)
    far = np.full(len(depth), -1, np.int32)
    near_queue = np.empty(len(depth), np.int32)
    far_queue = np.empty(len(depth), np.int32)
    for pair in range(len(left)):
        near_count = climb(left[pair], parent_start, parents, near, near_queue)
        far_count = climb(right[pair], parent_start, parents, far, far_queue)
        for at in range(far_count):
            up = far_queue[at]
            if near[up] >= 0:
                edges = near[up] + far[up]
                deepest[pair] = max(deepest[pair], pack(depth[up], edges, up))
                shortest[pair] = min(shortest[pair], edges)
                informative[pair] = max(informative[pair], content[up])
            far[up] = -1
        for at in range(near_count):
            near[near_queue[at]] = -1
    return deepest, shortest, informative


def _plain_overlap_block(rows: Ints, columns: Ints, start: Longs, items: Ints, item_count: int) -> Ints:
    del item_count
    sets = {int(c): set(items[start[c] : start[c + 1]].tolist()) for c in np.concatenate([rows, columns])}
    counts = [[len(sets[a] & sets[b]) for b in columns.tolist()] for a in rows.tolist()]
    return np.array(counts, np.int32).reshape(len(rows), len(columns))


@kernel(_plain_overlap_block)
def overlap_block(rows: Ints, columns: Ints, start: Longs, items: Ints, item_count: int) -> Ints:
    """[row, column] -> how many items the sets of two concepts share; items of one set are distinct."""
    out = np.zeros((len(rows), len(columns)), np.int32)
    marked = np.zeros(item_count, np.bool_)
    for row in range(len(rows)):
        for at in range(start[rows[row]], start[rows[row] + 1]):
            marked[items[at]] = True
        for column in range(len(columns)):
            shared = 0
            for at in range(start[columns[column]], start[columns[column] + 1]):
                shared += marked[items[at]]
            out[row, column] = shared
        for at in range(start[rows[row]], start[rows[row] + 1]):
            marked[items[at]] = False
    return out


def _plain_best_of_rows(block: Floats, count: int) -> Longs:
    return np.argsort(-block, axis=1, kind="stable")[:, :count].astype(np.int64)


@kernel(_plain_best_of_rows)
def best_of_rows(block: Floats, count: int) -> Longs:
    """[row, rank] -> the columns with the greatest values, best first; of equal ones the first column wins."""
    count = min(count, block.shape[1])
    out = np.empty((block.shape[0], count), np.int64)
    values = np.empty(count, np.float64)
    for row in range(block.shape[0]):
        filled = 0
        for column in range(block.shape[1]):
            value = block[row, column]
            if filled == count and value <= values[count - 1]:
                continue
            at = filled if filled < count else count - 1
            while at > 0 and values[at - 1] < value:
                values[at] = values[at - 1]
                out[row, at] = out[row, at - 1]
                at -= 1
            values[at] = value
            out[row, at] = column
            filled = min(filled + 1, count)
    return out
