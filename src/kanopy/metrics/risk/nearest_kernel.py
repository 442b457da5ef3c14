"""The published groups nearest to a person: exact search in a tree of the groups, one column per level.

The groups are kept as a prefix tree: all groups that agree in the first columns share a path. A search follows the
branches, adds the distance of each column, and leaves a branch as soon as it cannot come below the best one found,
so that most groups are never looked at. Which columns agree thereby blocks the rest; nothing is approximated.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from kanopy._arrays import Floats, IntRows, Ints, Longs, Mask
from kanopy._compiler import Arrays, helper, kernel

TABLE, EXPECTED, OUTSIDE = 0, 1, 2
"""How the distance of a column is found: looked up, the mean distance to an interval, or 1 outside an interval."""

TIE = 1e-9
"""Distances no farther apart than this are the same."""


@dataclasses.dataclass(frozen=True, eq=False)
class Tree(Arrays):
    """Sorted groups as a prefix tree. Level l has the nodes `first[l] … first[l+1]-1`; `children[node]` is the first
    node below one and `codes[node]` its label code; the nodes of the last level are the groups."""

    first: Longs
    children: Longs
    codes: Ints


@dataclasses.dataclass(frozen=True, eq=False)
class Distances(Arrays):
    """The distances of all columns laid end to end; `least` bounds them from below for each value of each column."""

    kinds: Longs
    offsets: Longs
    widths: Longs
    ends: Longs
    least_offsets: Longs
    tables: Floats
    points: Floats
    low: Floats
    high: Floats
    least: Floats


@helper
def cell_distance(far: Distances, j: int, a: int, b: int) -> float:
    """The distance of the original value `a` from the published label `b` in column `j`."""
    kind, offset, at = far.kinds[j], far.offsets[j], far.ends[j]
    if kind == TABLE:
        return float(far.tables[offset + a * far.widths[j] + b])
    x, lowest, highest = far.points[offset + a], far.low[at + b], far.high[at + b]
    if kind == OUTSIDE:
        return 0.0 if lowest <= x <= highest else 1.0
    if highest <= lowest or x < lowest or x > highest:
        return float(abs(x - (lowest + highest) / 2.0))
    return float(((x - lowest) ** 2 + (highest - x) ** 2) / (2.0 * (highest - lowest)))


@dataclasses.dataclass(frozen=True, eq=False)
class Answers(Arrays):
    """Per query the smallest distance, how many rows lie at it, and whether those of its own group are among them."""

    best: Floats
    tied: Longs
    hit: Mask


@dataclasses.dataclass(frozen=True, eq=False)
class Path(Arrays):
    """Room for one search: per level the bound of what follows, the distance so far, and the nodes still to visit."""

    rest: Floats
    partial: Floats
    node: Longs
    stop: Longs


@kernel(makes_arrays=False)
def search(
    queries: IntRows, true_group: Longs, groups: IntRows, rows: Longs, tree: Tree, far: Distances, limit: float,
    answers: Answers, path: Path,
) -> None:  # fmt: skip
    """`nearest` with room for the answers and one path down the tree."""
    depth = queries.shape[1]
    rest, partial, node, stop = path.rest, path.partial, path.node, path.stop
    last = depth - 1
    bottom = tree.first[last]
    for number in range(len(queries)):
        rest[depth] = 0.0
        for level in range(depth - 1, -1, -1):
            rest[level] = rest[level + 1] + far.least[far.least_offsets[level] + queries[number, level]]
        smallest = np.inf
        if true_group[number] >= 0:  # a first bound that is often the answer
            distance = 0.0
            for level in range(depth):
                distance += cell_distance(far, level, queries[number, level], groups[true_group[number], level])
            if distance <= limit + TIE:
                smallest = distance
        for collecting in range(2):
            if collecting == 1 and smallest > limit + TIE:
                break
            level = 0
            node[0], stop[0], partial[0] = tree.first[0], tree.first[1], 0.0
            while level >= 0:
                if node[level] >= stop[level]:
                    level -= 1
                    continue
                here = node[level]
                node[level] += 1
                distance = partial[level] + cell_distance(far, level, queries[number, level], tree.codes[here])
                bound = distance + rest[level + 1]
                if collecting == 0:
                    if bound > limit + TIE or bound >= smallest + 1e-12:
                        continue
                    if level == last:
                        smallest = min(smallest, distance)
                        continue
                else:
                    if bound > smallest + 2e-9:
                        continue
                    if level == last:
                        if distance <= smallest + TIE:
                            answers.tied[number] += rows[here - bottom]
                            if here - bottom == true_group[number]:
                                answers.hit[number] = True
                        continue
                level += 1
                partial[level] = distance
                node[level] = tree.children[here]
                stop[level] = tree.children[here + 1]
        answers.best[number] = smallest


def nearest(
    queries: Ints, true_group: Longs, groups: Ints, rows: Longs, tree: Tree, far: Distances, limit: float
) -> tuple[Floats, Longs, Mask]:
    """Per query the smallest distance, how many rows lie at it, and whether those of `true_group` are among them.

    `groups` are sorted tuples of label codes, `rows` how many rows each has; `tree` holds the same groups.
    Distances above `limit` are of no interest: the answer is then infinity and no row.
    """
    count, levels = len(queries), queries.shape[1] + 1
    answers = Answers(np.full(count, np.inf), np.zeros(count, np.int64), np.zeros(count, np.bool_))
    path = Path(np.zeros(levels), np.zeros(levels), np.zeros(levels, np.int64), np.zeros(levels, np.int64))
    search(queries, true_group, groups, rows, tree, far, limit, answers, path)
    return answers.best, answers.tied, answers.hit
