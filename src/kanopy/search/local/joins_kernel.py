"""Where two hierarchy nodes join: boxes written as one node per attribute, and the box around two boxes by lookup.

A node is a level and a code at it, numbered per attribute so that parents come after their children. A table per
attribute holds the lowest common node of every two nodes and what a record in it loses; attributes with too many
nodes for a table climb from parent to parent instead.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kanopy._arrays import FloatRows, Floats, IntRows, Ints, LongRows, Longs, Words
from kanopy._compiler import Arrays, helper
from kanopy.search.local.boxes_kernel import Boxes, level_tables, next_random

LARGEST_TABLE = 1_000_000
"""Attributes with more than the square root of this many nodes get no table."""


@dataclass(frozen=True, eq=False)
class Joins(Arrays):
    """All attributes end to end.

    `cells[t, j]` is the node of a record's value. `head[j]`: number of nodes, where the attribute begins in `node` and
    `weight` (`[node, node]`; -1: no table), and where in `parent`, `own` (the weight of a node) and `level`.
    """

    cells: IntRows
    head: LongRows
    node: Ints
    weight: Floats
    parent: Ints
    own: Floats
    level: Longs


NODES, TABLE, OWN = 0, 1, 2


def make_joins(boxes: Boxes) -> Joins:
    """The same boxes, written as nodes."""
    width = boxes.tuples.shape[1]
    head = np.zeros((width, 3), np.int64)
    node, weight, parent, own, level_of = [], [], [], [], []
    cells = np.empty_like(boxes.tuples)
    table_at = own_at = 0
    for j in range(width):
        codes, costs = level_tables(boxes, j)
        codes, levels = codes.astype(np.int64), len(codes)
        counts = codes.max(axis=1) + 1
        begins = np.concatenate([[0], np.cumsum(counts)])
        total = int(begins[-1])
        numbers = codes + begins[:-1, None]
        # above[l, n]: the ancestor of node n at level l, the node itself below its own level.
        above = np.tile(np.arange(total), (levels, 1))
        weights, heights = np.zeros(total), np.zeros(total, np.int64)
        for low in range(levels):
            weights[numbers[low]] = costs[low]
            heights[numbers[low]] = low
            for high in range(low + 1, levels):
                above[high, numbers[low]] = numbers[high]
        up = np.full(total, -1, np.int64)
        for low in range(levels - 1):
            up[numbers[low]] = numbers[low + 1]
        head[j] = total, -1, own_at
        cells[:, j] = numbers[0, boxes.tuples[:, j]]
        if total * total <= LARGEST_TABLE:
            agreed = np.zeros((total, total), np.int64)
            for row in above:
                agreed += row[:, None] != row[None, :]
            joint = above[agreed, np.arange(total)[:, None]]
            head[j, TABLE] = table_at
            table_at += total * total
            node.append(joint.reshape(-1))
            weight.append(weights[joint].reshape(-1))
        own_at += total
        parent.append(up)
        own.append(weights)
        level_of.append(heights)
    return Joins(
        cells,
        head,
        np.concatenate(node).astype(np.int32) if node else np.zeros(1, np.int32),
        np.concatenate(weight) if weight else np.zeros(1),
        np.concatenate(parent).astype(np.int32),
        np.concatenate(own),
        np.concatenate(level_of),
    )


def box_nodes(joins: Joins, heads: Ints, levels: Ints) -> Ints:
    """Boxes given by a record and levels, as nodes."""
    nodes = joins.cells[heads].copy()
    for j in range(nodes.shape[1]):
        parent = joins.parent[joins.head[j, OWN] : joins.head[j, OWN] + joins.head[j, NODES]]
        for level in range(int(levels[:, j].max(initial=0))):
            up = levels[:, j] > level
            nodes[up, j] = parent[nodes[up, j]]
    return nodes


@helper
def climb(joins: Joins, j: int, a: int, b: int) -> int:
    """The lowest common node of two nodes of attribute `j`, without a table: the lower number goes up."""
    at = joins.head[j, OWN]
    while a != b:
        if a < b:
            a = joins.parent[at + a]
        else:
            b = joins.parent[at + b]
    return a


@helper
def joint_weight(joins: Joins, one: IntRows, i: int, two: IntRows, k: int) -> float:
    """The weight of the smallest box around the boxes `one[i]` and `two[k]`."""
    total = 0.0
    for j in range(one.shape[1]):
        table = joins.head[j, TABLE]
        if table >= 0:
            total += joins.weight[table + one[i, j] * joins.head[j, NODES] + two[k, j]]
        else:
            total += joins.own[joins.head[j, OWN] + climb(joins, j, one[i, j], two[k, j])]
    return total


@helper
def join(joins: Joins, one: IntRows, i: int, two: IntRows, k: int, into: IntRows, at: int) -> float:
    """Write the smallest box around `one[i]` and `two[k]` to `into[at]`; returns its weight."""
    total = 0.0
    for j in range(one.shape[1]):
        table = joins.head[j, TABLE]
        if table >= 0:
            place = table + one[i, j] * joins.head[j, NODES] + two[k, j]
            into[at, j] = joins.node[place]
            total += joins.weight[place]
        else:
            found = climb(joins, j, one[i, j], two[k, j])
            into[at, j] = found
            total += joins.own[joins.head[j, OWN] + found]
    return total


@helper
def holds(joins: Joins, one: IntRows, i: int, two: IntRows, k: int) -> bool:
    """Whether the box `one[i]` contains the box `two[k]`."""
    for j in range(one.shape[1]):
        a = one[i, j]
        table = joins.head[j, TABLE]
        if table >= 0:
            if joins.node[table + a * joins.head[j, NODES] + two[k, j]] != a:
                return False
        elif climb(joins, j, a, two[k, j]) != a:
            return False
    return True


@helper
def own_weight(joins: Joins, one: IntRows, i: int) -> float:
    """The weight of the box `one[i]`."""
    total = 0.0
    for j in range(one.shape[1]):
        total += joins.own[joins.head[j, OWN] + one[i, j]]
    return total


@helper
def copy_box(one: IntRows, i: int, into: IntRows, at: int) -> None:
    """Write the box `one[i]` to `into[at]`."""
    for j in range(one.shape[1]):
        into[at, j] = one[i, j]


@helper
def insert(found: IntRows, costs: FloatRows, row: int, other: int, cost: float) -> None:
    """Put `other` into a row that is sorted by rising cost; the last one falls out."""
    at = found.shape[1] - 1
    while at > 0 and costs[row, at - 1] > cost:
        costs[row, at] = costs[row, at - 1]
        found[row, at] = found[row, at - 1]
        at -= 1
    costs[row, at] = cost
    found[row, at] = other


@helper
def draw(state: Words, below: int) -> int:
    """A whole number from 0 to `below` - 1, from `next_random`."""
    return (next_random(state) * below) >> 31
