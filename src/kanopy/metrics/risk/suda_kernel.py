"""The search for minimal sample uniques: smallest sets of columns by which a row differs from all others.

Sets of columns are tried from the smaller to the larger, as a tree: all sets that begin alike share the groups of rows
that agree in those columns. A row that stands alone in its group leaves the tree there, because no larger set can be
minimal for it; a group none of whose rows can ever be unique is left out as a whole. So a set is looked at only with
the rows that may still be unique by it. After Manning, Haglin and Keane (2008).
"""

from __future__ import annotations

import dataclasses
from itertools import combinations

import numpy as np

from kanopy._arrays import IntRows, Ints, Longs
from kanopy._compiler import Arrays, helper, kernel


@dataclasses.dataclass(frozen=True, eq=False)
class Tree(Arrays):
    """Room for the search: per depth the rows still in it, group after group, where each group ends, the number of
    groups and the column chosen last; per value of a column its rows and, of these, those that stand for themselves.
    """

    rows: IntRows
    ends: IntRows
    groups: Longs
    column: Longs
    tally: Longs
    single: Longs
    place: Longs


@dataclasses.dataclass(frozen=True, eq=False)
class Found(Arrays):
    """What was found: a row and a set of columns (a bit each), and the one found before for the same row (-1: none)."""

    row: Ints
    columns: Longs
    before: Ints
    last_of_row: Ints


def _minimal_uniques_plain(codes: Ints, counts: Longs, most: int, tree: Tree, found: Found) -> int:
    """The definition: every set of columns, every row that it makes unique, unless a smaller set did."""
    number = 0
    for size in range(1, most + 1):
        for chosen in combinations(range(len(codes)), size):
            known = np.flatnonzero((codes[list(chosen)] >= 0).all(axis=0))
            _, inverse = np.unique(codes[list(chosen)][:, known], axis=1, return_inverse=True)
            inverse = inverse.reshape(-1)
            alone = known[np.bincount(inverse, counts[known])[inverse] == 1] if len(known) else known
            wanted = sum(1 << j for j in chosen)
            for row in alone.tolist():
                at = int(found.last_of_row[row])
                while at >= 0 and int(found.columns[at]) & wanted != found.columns[at]:
                    at = int(found.before[at])
                if at >= 0:
                    continue
                if number == len(found.row):
                    return -1
                found.row[number], found.columns[number] = row, wanted
                found.before[number], found.last_of_row[row] = found.last_of_row[row], number
                number += 1
    return number


@helper
def _refine(codes: IntRows, counts: Longs, tree: Tree, depth: int, column: int) -> None:
    """Part the groups of a depth by one more column, into the next depth; what can hold no unique is left out."""
    begin, to, groups = 0, 0, 0
    for group in range(tree.groups[depth]):
        end = tree.ends[depth, group]
        for i in range(begin, end):
            value = codes[column, tree.rows[depth, i]]
            if value >= 0:
                tree.tally[value] += counts[tree.rows[depth, i]]
                tree.place[value] += 1
                tree.single[value] += 1 if counts[tree.rows[depth, i]] == 1 else 0
        for i in range(begin, end):
            value = codes[column, tree.rows[depth, i]]
            if value >= 0 and tree.tally[value] > 0:
                # The first row of its value says where the others go.
                size = tree.place[value]
                keep = tree.tally[value] > 1 and tree.single[value] > 0
                tree.place[value] = to if keep else -1
                tree.tally[value], tree.single[value] = 0, 0
                if keep:
                    to += size
                    tree.ends[depth + 1, groups] = to
                    groups += 1
            if value >= 0 and tree.place[value] >= 0:
                tree.rows[depth + 1, tree.place[value]] = tree.rows[depth, i]
                tree.place[value] += 1
        for i in range(begin, end):
            value = codes[column, tree.rows[depth, i]]
            if value >= 0:
                tree.place[value] = 0
        begin = end
    tree.groups[depth + 1] = groups


@helper
def _minimal(found: Found, row: int, wanted: int) -> bool:
    """Whether no set found before for the row is within this one."""
    at = found.last_of_row[row]
    while at >= 0:
        if found.columns[at] & wanted == found.columns[at]:
            return False
        at = found.before[at]
    return True


@helper
def _collect(
    codes: IntRows, counts: Longs, tree: Tree, depth: int, column: int, found: Found, number: int, wanted: int
) -> int:
    """Note the rows that one more column makes unique; returns how many sets there are now, or -1 for no room."""
    begin = 0
    for group in range(tree.groups[depth]):
        end = tree.ends[depth, group]
        for i in range(begin, end):
            value = codes[column, tree.rows[depth, i]]
            if value >= 0:
                tree.tally[value] += counts[tree.rows[depth, i]]
        for i in range(begin, end):
            row = tree.rows[depth, i]
            value = codes[column, row]
            if number >= 0 and value >= 0 and tree.tally[value] == 1 and _minimal(found, row, wanted):
                if number == len(found.row):
                    number = -1
                else:
                    found.row[number] = row
                    found.columns[number] = wanted
                    found.before[number] = found.last_of_row[row]
                    found.last_of_row[row] = number
                    number += 1
        for i in range(begin, end):
            value = codes[column, tree.rows[depth, i]]
            if value >= 0:
                tree.tally[value] = 0
        begin = end
    return number


@kernel(_minimal_uniques_plain, makes_arrays=False)
def minimal_uniques(codes: IntRows, counts: Longs, most: int, tree: Tree, found: Found) -> int:
    """Find, for every row, the smallest sets of at most `most` columns whose values no other row shares.

    `codes[column, row]` are values from 0 on (-1: missing, which is part of no set); `counts[row]` says for how many
    equal rows one stands. Returns how many sets were found, or -1 if there is no room for all of them.
    """
    columns = len(codes)
    number = 0
    for size in range(1, most + 1):
        for row in range(len(counts)):
            tree.rows[0, row] = row
        tree.ends[0, 0] = len(counts)
        tree.groups[0] = 1
        tree.column[0] = -1
        depth = 0
        while depth >= 0 and number >= 0:
            tree.column[depth] += 1
            column = tree.column[depth]
            if column > columns - (size - depth):
                depth -= 1
                continue
            if depth + 1 < size:
                _refine(codes, counts, tree, depth, column)
                if tree.groups[depth + 1] > 0:
                    tree.column[depth + 1] = column
                    depth += 1
                continue
            wanted = 0
            for level in range(depth + 1):
                wanted |= 1 << tree.column[level]
            number = _collect(codes, counts, tree, depth, column, found, number, wanted)
    return number
