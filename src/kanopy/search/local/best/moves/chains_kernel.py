"""Chains of moves: a row goes to the next class, one of that class to another, and so on to a cheaper class.

A row pays the weight of its class whatever its values are. So a chain from a class that can spare a row to a class
anywhere else saves the difference of their two weights, and classes in between keep their size: what single moves
cannot do once most classes have just k rows. With boxes as they are, no assignment of rows to classes is cheaper when
no chain is left (a flow without negative cycles; Ahuja, Magnanti, Orlin 1993).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kanopy._arrays import Bytes, IntRows, Ints
from kanopy._compiler import Arrays, helper, kernel
from kanopy.search.local.best.partition_kernel import WORK, Partition, fit, put, take
from kanopy.search.local.joins_kernel import Joins, holds


@dataclass(frozen=True, eq=False)
class Chains(Arrays):
    """Room: `witness[a, b]` is a row of class `a` that the box of `b` holds (-1: none); `towards[a]` the next class on
    the way to the target (-1: not on the way)."""

    witness: IntRows
    towards: Ints
    queue: Ints
    by_weight: Ints
    changed: Bytes


def make_chains(classes: int) -> Chains:
    """Room for so many classes."""
    return Chains(
        np.zeros((classes, classes), np.int32), np.zeros(classes, np.int32), np.zeros(classes, np.int32),
        np.zeros(classes, np.int32), np.zeros(classes, np.uint8),
    )  # fmt: skip


@helper
def _find_witnesses(joins: Joins, part: Partition, chains: Chains, count: int) -> None:
    """Look up which classes could hold which rows of which others."""
    for a in range(len(chains.witness)):
        for b in range(len(chains.witness)):
            chains.witness[a, b] = -1
    # Most boxes are seen at their first attribute not to hold a record.
    part.state[WORK] += (len(part.first) * count) >> 2
    for t in range(len(part.first) - 1):
        found = 0
        for i in range(count):
            if holds(joins, part.box, chains.by_weight[i], joins.cells, t):
                chains.queue[found] = chains.by_weight[i]
                found += 1
        for y in range(part.first[t], part.first[t + 1]):
            a = part.class_of[y]
            if a >= 0:
                for i in range(found):
                    if chains.witness[a, chains.queue[i]] < 0:
                        chains.witness[a, chains.queue[i]] = y


@helper
def _hop(joins: Joins, part: Partition, chains: Chains, count: int, a: int, b: int) -> None:
    """Move the witness from class `a` to class `b`, and find others in its place."""
    y = chains.witness[a, b]
    t = part.record[y]
    part.state[WORK] += count >> 2
    take(part, y)
    put(part, b, y)
    chains.changed[a] = 1
    chains.changed[b] = 1
    for i in range(count):
        c = chains.by_weight[i]
        if chains.witness[a, c] == y:
            chains.witness[a, c] = -1
            z = part.head[a]
            while z >= 0:
                if holds(joins, part.box, c, joins.cells, part.record[z]):
                    chains.witness[a, c] = z
                    break
                z = part.after[z]
        if chains.witness[b, c] < 0 and holds(joins, part.box, c, joins.cells, t):
            chains.witness[b, c] = y


@helper
def _reach(part: Partition, chains: Chains, count: int, target: int) -> int:
    """Breadth first, all classes from which chains lead to the target; returns how many there are."""
    for i in range(count):
        chains.towards[chains.by_weight[i]] = -1
    chains.towards[target] = target
    chains.queue[0] = target
    found = 1
    at = 0
    while at < found:
        b = chains.queue[at]
        at += 1
        for i in range(count):
            a = chains.by_weight[i]
            if chains.towards[a] < 0 and chains.witness[a, b] >= 0:
                chains.towards[a] = b
                chains.queue[found] = a
                found += 1
    part.state[WORK] += (found * count) >> 4
    return found


@kernel(makes_arrays=False)
def chain(joins: Joins, part: Partition, chains: Chains, k: int) -> float:
    """Use up all chains that save anything, then fit the boxes anew; returns the change in cost."""
    count = 0
    before = 0.0
    for c in range(len(part.size)):
        chains.changed[c] = 0
        before += part.size[c] * part.weight[c]
        if part.size[c] >= k:
            at = count
            while at > 0 and part.weight[chains.by_weight[at - 1]] > part.weight[c]:
                chains.by_weight[at] = chains.by_weight[at - 1]
                at -= 1
            chains.by_weight[at] = c
            count += 1
    _find_witnesses(joins, part, chains, count)
    for i in range(count):
        target = chains.by_weight[i]
        moved = True
        while moved:
            moved = False
            _reach(part, chains, count, target)
            # From the dearest class that can spare a row.
            for back in range(count - 1, i, -1):
                source = chains.by_weight[back]
                if chains.towards[source] < 0 or part.weight[source] <= part.weight[target] + 1e-12:
                    continue
                while part.size[source] > k:
                    whole = True
                    a = source
                    while a != target:
                        whole = whole and chains.witness[a, chains.towards[a]] >= 0
                        a = chains.towards[a]
                    if not whole:
                        break
                    a = source
                    while a != target:
                        b = chains.towards[a]
                        # A row that has just come may go on: the witness is looked up anew at each hop.
                        _hop(joins, part, chains, count, a, b)
                        a = b
                    moved = True
    after = 0.0
    for c in range(len(part.size)):
        if chains.changed[c] != 0:
            fit(joins, part, c)
        after += part.size[c] * part.weight[c]
    return after - before
