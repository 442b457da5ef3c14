"""Levels as the lower bound looks at them: rungs, each standing for a stretch of levels, few enough to go through all.

A rung groups values as its upper level does and weighs what its lower level weighs. A box between the two holds no more
rows and weighs no less, so prices that are honest on rungs are honest on all levels in between; joining rungs only
lowers the bound.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import log, prod

import numpy as np

from kanopy._arrays import Floats, Ints, Longs
from kanopy._core.histograms import summed
from kanopy._core.numbering import number_rows
from kanopy.search.local.boxes_kernel import AGREE, AT, LEVELS, VALUES, Boxes
from kanopy.search.problem import Problem


@dataclass(frozen=True)
class ChainLevel:
    """Levels `lower` to `upper`: grouped like the upper one, weighing as much as the lower one."""

    lower: int
    upper: int


LevelChain = tuple[ChainLevel, ...]


@dataclass(frozen=True, eq=False)
class Priced:
    """The records that the rungs tell apart: `record_of_tuple` for every distinct tuple of the domain."""

    boxes: Boxes
    sizes: Longs
    counts: Longs
    record_of_tuple: Ints


def level_shares(problem: Problem, j: int) -> Floats:
    """`[level, node]` as `[level, value]`: what a row loses when a value is published at a level."""
    hierarchy = problem.domain.hierarchies[j]
    share = problem.weights[j] / sum(problem.weights) if hierarchy.size > 1 else 0.0
    return np.asarray((hierarchy.leaf_counts[hierarchy.table] - 1) / max(1, hierarchy.size - 1) * share, np.float64)


def make_level_chains(problem: Problem, most_combinations: int) -> tuple[LevelChain, ...]:
    """A rung per level that newly groups values of the table; joined where that leaves too many combinations.

    Joined are, again and again, the neighbours whose weights differ least for the combinations it saves.
    """
    domain = problem.domain
    ladders: list[list[ChainLevel]] = []
    weights: list[Floats] = []
    for j, hierarchy in enumerate(domain.hierarchies):
        low, high = problem.lattice.lowest[j], problem.lattice.highest[j]
        present = np.flatnonzero(domain.marginals[j] > 0)
        groups = [len(np.unique(hierarchy.table[level][present])) for level in range(low, high + 1)]
        begins = [low + i for i in range(len(groups)) if i == 0 or groups[i] < groups[i - 1]]
        ladders.append([ChainLevel(a, b - 1) for a, b in zip(begins, [*begins[1:], high + 1], strict=True)])
        weights.append(level_shares(problem, j) @ domain.marginals[j] / max(1, domain.marginals[j].sum()))
    while prod(len(ladder) for ladder in ladders) > most_combinations:
        options = [
            (
                (weights[j][ladder[i + 1].lower] - weights[j][ladder[i].lower]) / log(len(ladder) / (len(ladder) - 1)),
                j,
                i,
            )
            for j, ladder in enumerate(ladders)
            for i in range(len(ladder) - 1)
        ]
        _, j, i = min(options)
        ladders[j][i : i + 2] = [ChainLevel(ladders[j][i].lower, ladders[j][i + 1].upper)]
    return tuple(tuple(ladder) for ladder in ladders)


def price_records(problem: Problem, ladders: tuple[LevelChain, ...]) -> Priced:
    """Lay the table out by rungs: tuples that the lowest rungs do not tell apart are one record."""
    domain = problem.domain
    head = np.zeros((domain.width, 4), np.int64)
    sizes = np.zeros((domain.width, max(len(ladder) for ladder in ladders)), np.int64)
    codes, weights, columns = [], [], []
    at = 0
    for j, (hierarchy, ladder) in enumerate(zip(domain.hierarchies, ladders, strict=True)):
        shares = level_shares(problem, j)
        _, value, column = np.unique(
            hierarchy.table[ladder[0].upper][domain.tuples[:, j]], return_index=True, return_inverse=True
        )
        leaves = domain.tuples[value, j]
        columns.append(column.reshape(-1))
        # All leaves of a value of the lowest rung share its upper level; the lower one may differ: take the least.
        for i, rung in enumerate(ladder):
            dense = np.unique(hierarchy.table[rung.upper][leaves], return_inverse=True)[1].reshape(-1)
            # A box weighs at least what its lightest value does at the lower level.
            least = np.full(int(dense.max(initial=0)) + 1, np.inf)
            np.minimum.at(least, dense[columns[-1]], shares[rung.lower][domain.tuples[:, j]])
            sizes[j, i] = len(least)
            codes.append(dense.astype(np.int32))
            weights.append(least[dense])
        head[j, VALUES], head[j, LEVELS], head[j, AT], head[j, AGREE] = len(leaves), len(ladder), at, -1
        at += len(leaves) * len(ladder)
    record, first, _ = number_rows(columns, head[:, VALUES].tolist(), ascending=True)
    tuples = np.column_stack(columns)[first]
    boxes = Boxes(
        np.ascontiguousarray(tuples, np.int32),
        head,
        np.concatenate(codes),
        np.concatenate(weights),
        np.zeros(1, np.int16),
    )
    counts = summed(domain.counts, record, len(tuples))
    return Priced(boxes, sizes, counts, record)


def left_out(problem: Problem, ladders: tuple[LevelChain, ...]) -> tuple[str, ...]:
    """Quasi-identifiers with levels that had to be joined into fewer rungs."""
    whole = make_level_chains(problem, 2**62)
    pairs = zip(problem.domain.names, ladders, whole, strict=True)
    return tuple(name for name, ladder, all_rungs in pairs if len(ladder) < len(all_rungs))
