"""The proof behind a lower bound, in whole numbers and with code of its own.

**Claim.** Let every row have a price such that (1) no price exceeds what a suppressed row loses and (2) in every box (a
node per attribute, at allowed levels) with at least k rows the k dearest rows cost together at most k times the weight
of the box, which is what each row published there loses. Then no release loses less than all prices together.

**Proof.** The rows of a release fall into classes and suppressed rows. A class of m >= k rows publishes a box that
holds them; its m rows cost on average no more than the k dearest rows of the box, so together at most m times the
weight of the box, which is what they lose. A suppressed row loses at least its price by (1). Add up. Further privacy
models only rule releases out.

**Check.** Prices are rounded down to whole multiples of 2^-bits, weights likewise (of exact fractions, which is on the
safe side), so every comparison is one of integers below 2^62. Boxes are gone through attribute by attribute: a group of
rows equal on some attributes is given up when it has fewer than k rows, or when its k dearest rows cost no more than k
times what those attributes weigh; either then holds for every box inside it. Nothing here is shared with the kernels
that found the prices: it works on the tuples of the domain, with weights of its own, and sorts where they count.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from math import nextafter, prod
from operator import mul

import numpy as np

from kanopy._arrays import Floats, Longs, Mask
from kanopy._progress import SILENT, Progress
from kanopy.search.bound.ladders import Ladder
from kanopy.search.problem import Problem
from kanopy.search.work import in_order

TOGETHER = 100
"""Choices of rungs that are checked by one thread at a time."""
MARGINS = (4e-12, 1e-9, 1e-6)
"""Prices come from floating-point work: they are lowered by this much (relatively) until they pass."""


_Left = tuple[Longs, Longs, Longs]


@dataclass(frozen=True, eq=False)
class Certificate:
    """Prices that passed: `prices[i] / 2**bits` for every row of tuple `i`, and the loss they prove."""

    prices: Longs
    bits: int
    loss: Fraction
    combinations: int

    @property
    def value(self) -> float:
        """The proved loss, rounded down."""
        nearest = float(self.loss)
        return nearest if Fraction(nearest) <= self.loss else nextafter(nearest, -1.0)


def certify(
    problem: Problem, prices: Floats, ladders: tuple[Ladder, ...], progress: Progress = SILENT, threads: int = 1
) -> Certificate:
    """Prove a lower bound from prices per tuple, lowering those that do not pass."""
    bits = 60 - problem.k.bit_length()
    most = int(_suppressed_loss(problem) * 2**bits)
    for margin in MARGINS:
        whole = np.floor(np.ldexp(np.maximum(prices, 0.0) * (1 - margin), bits)).astype(np.int64)
        whole = np.minimum(whole, most)
        dishonest = find_dishonest(problem, whole, bits, ladders, progress, threads)
        if not dishonest.any():
            break
    while dishonest.any():
        whole[dishonest] = 0
        dishonest = find_dishonest(problem, whole, bits, ladders, progress, threads)
    return Certificate(whole, bits, _proved_loss(problem, whole, bits), prod(len(ladder) for ladder in ladders))


def _shares(problem: Problem) -> list[Fraction]:
    """What each attribute is worth: its weight among all weights, as exact as the numbers given."""
    weights = [Fraction(weight) for weight in problem.weights]
    whole = sum(weights)
    return [
        weight / whole if hierarchy.size > 1 else Fraction(0)
        for weight, hierarchy in zip(weights, problem.domain.hierarchies, strict=True)
    ]


def _suppressed_loss(problem: Problem) -> Fraction:
    return sum(_shares(problem), Fraction(0))


def _proved_loss(problem: Problem, prices: Longs, bits: int) -> Fraction:
    """All prices together, over all rows; rows excluded from the start lose everything."""
    domain = problem.domain
    paid = Fraction(sum(map(mul, prices.tolist(), domain.counts.tolist())), 2**bits)
    return (paid + domain.excluded_rows * _suppressed_loss(problem)) / max(1, domain.rows)


def _tables(problem: Problem, ladders: tuple[Ladder, ...], bits: int) -> list[list[tuple[Longs, Longs]]]:
    """Per attribute and rung: the group of every tuple and the whole-number weight of every tuple's group."""
    domain = problem.domain
    result = []
    for j, (hierarchy, ladder, share) in enumerate(zip(domain.hierarchies, ladders, _shares(problem), strict=True)):
        low, high = problem.lattice.lowest[j], problem.lattice.highest[j]
        if any(not any(rung.lower <= level <= rung.upper for rung in ladder) for level in range(low, high + 1)):
            raise AssertionError(f"No rung of {domain.names[j]} stands for one of its levels {low} to {high}.")
        values = domain.tuples[:, j]
        unit = share / max(1, hierarchy.size - 1)
        rungs = []
        for rung in ladder:
            group = np.unique(hierarchy.table[rung.upper][values], return_inverse=True)[1].reshape(-1).astype(np.int64)
            covered, which = np.unique(hierarchy.leaf_counts[hierarchy.table[rung.lower][values]], return_inverse=True)
            loss = np.array([int((int(leaves) - 1) * unit * 2**bits) for leaves in covered], np.int64)[
                which.reshape(-1)
            ]
            least = np.full(int(group.max(initial=0)) + 1, np.iinfo(np.int64).max)
            np.minimum.at(least, group, loss)
            rungs.append((group, least[group]))
        result.append(rungs)
    return result


def find_dishonest(
    problem: Problem, prices: Longs, bits: int, ladders: tuple[Ladder, ...], progress: Progress = SILENT,
    threads: int = 1,
) -> Mask:  # fmt: skip
    """The tuples in boxes whose k dearest rows cost more than k times what the box weighs; none if the prices hold."""
    k, counts = problem.k, problem.domain.counts
    tables = _tables(problem, ladders, bits)
    # Attributes with few groups first: their rungs are heavy, so most of the walk is given up early.
    tables.sort(key=lambda rungs: int(rungs[0][0].max(initial=0)))
    sizes = [[int(group.max(initial=0)) + 1 for group, _ in rungs] for rungs in tables]
    last = len(tables) - 1
    split = next((d for d in range(last, 0, -1) if prod(map(len, tables[d:])) >= TOGETHER), 0)

    def within(depth: int, rung: int, members: Longs, group: Longs, weight: Longs) -> tuple[Longs, Longs, Longs]:
        """Of tuples sorted by group and falling price, those in groups that are too dear also at a rung of the next
        attribute; with the number of their group there and what it weighs so far."""
        code, own_weight = tables[depth][rung]
        key = group * sizes[depth][rung] + code[members]
        order = np.argsort(key, kind="stable")
        key, inside = key[order], members[order]
        begins = np.flatnonzero(np.concatenate([[True], key[1:] != key[:-1]]))
        lengths = np.diff(np.append(begins, len(key)))
        held = counts[inside]
        before = np.cumsum(held) - held
        before -= np.repeat(before[begins], lengths)
        dearest = np.add.reduceat(np.clip(k - before, 0, held) * prices[inside], begins)
        rows = np.add.reduceat(held, begins)
        weighs = (weight[order] + own_weight[inside])[begins]
        undecided = (rows >= k) & (dearest > k * weighs)
        kept = lengths[undecided]
        left = inside[np.repeat(undecided, lengths)]
        return left, np.repeat(np.arange(len(kept)), kept), np.repeat(weighs[undecided], kept)

    def down_to(end: int, depth: int, members: Longs, group: Longs, weight: Longs) -> Iterator[_Left]:
        """What is left at some depth, for every choice of rungs on the way there."""
        for rung in range(len(tables[depth])):
            left = within(depth, rung, members, group, weight)
            if len(left[0]):
                yield from [left] if depth == end else down_to(end, depth + 1, *left)

    def below(left: _Left) -> list[Longs]:
        return [each[0] for each in down_to(last, split, *left)]

    wrong = np.zeros(len(prices), np.bool_)
    nothing = np.zeros(len(prices), np.int64)
    whole = np.argsort(-prices, kind="stable"), nothing, nothing
    begins_with = down_to(split - 1, 0, *whole) if split else iter([whole])
    for found in in_order(
        (partial(below, left) for left in begins_with), threads, lambda: progress("checking the bound", None)
    ):
        for tuples in found:
            wrong[tuples] = True
    return wrong
