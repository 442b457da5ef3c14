"""What two concepts of a taxonomy share: deepest common subsumer, shortest path, most informative subsumer.

The block kernels exploit that, for a fixed row concept `a`, the answer for a column concept `c` follows from the
answers for the parents of `c` (only where `c` lies above `a` does `c` itself come in). One pass over the columns and
what lies above them, parents first, replaces a walk through the ancestors of every pair. The pass runs over "slots":
`slot_concept[s]` is the concept of a slot, `slot_start/slot_parents` its parents' slots (always smaller numbers).

A deepest common subsumer is packed into one integer so that the best one is the largest: its longest-path depth, then
the fewest edges N1 + N2, then the smallest concept number.
"""

from __future__ import annotations

import numpy as np

from kanopy._arrays import Floats, Ints, Longs
from kanopy._compiler import helper, kernel
from kanopy.ontology.similarity.subsumers_plain import (
    CONCEPT_LIMIT,
    DEPTH_SHIFT,
    EDGE_LIMIT,
    EDGE_SHIFT,
    FAR,
    ONE_EDGE,
    Slots,
    pack,
    plain_joint_pairs,
)

helper(pack)


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


@kernel()
def deepest_block(
    rows: Ints, parent_start: Ints, parents: Ints, depth: Ints, slots: Slots, with_concept: bool
) -> tuple[Ints, Ints, Ints]:
    """[row, column] -> depth of the deepest common subsumer, edges N1 + N2 to it, and its concept (or nothing)."""
    slot_of, slot_concept, slot_start, slot_parents, columns = slots
    shape = (len(rows), len(columns))
    out_depth, out_edges = np.empty(shape, np.int32), np.empty(shape, np.int32)
    out_concept = np.empty(shape if with_concept else (0, 0), np.int32)
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
        if with_concept:
            for column in range(len(columns)):
                out_concept[row, column] = CONCEPT_LIMIT - (best[columns[column]] & CONCEPT_LIMIT)
        for at in range(count):
            if slot_of[queue[at]] >= 0:
                near[slot_of[queue[at]]] = -1
            distance[queue[at]] = -1
    return out_depth, out_edges, out_concept


@kernel()
def distance_block(rows: Ints, parent_start: Ints, parents: Ints, slots: Slots) -> Ints:
    """[row, column] -> fewest is-a edges between two concepts by way of a common subsumer."""
    slot_of, _, slot_start, slot_parents, columns = slots
    count_of_slots = len(slot_start) - 1
    out = np.empty((len(rows), len(columns)), np.int32)
    distance = np.full(len(slot_of), -1, np.int32)
    queue = np.empty(len(slot_of), np.int32)
    near = np.full(count_of_slots, FAR, np.int32)
    best = np.empty(count_of_slots, np.int32)
    for row in range(len(rows)):
        count = climb(rows[row], parent_start, parents, distance, queue)
        for at in range(count):
            if slot_of[queue[at]] >= 0:
                near[slot_of[queue[at]]] = distance[queue[at]]
        for slot in range(count_of_slots):
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


@kernel()
def informative_block(rows: Ints, parent_start: Ints, parents: Ints, content: Floats, slots: Slots) -> Floats:
    """[row, column] -> the greatest information content of a common subsumer."""
    slot_of, slot_concept, slot_start, slot_parents, columns = slots
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


@kernel(plain_joint_pairs)
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


@kernel()
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


@kernel()
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
