"""The proof behind a lower bound, in whole numbers and with code of its own.

**Claim.** Let every row have a price and some sets of rows (limits) an allowance, none below 0, such that (1) no price
exceeds what a suppressed row loses and (2) in every box (a node per attribute, at allowed levels) with at least k rows,
any k to 2k - 1 rows cost together at most as many times the weight of the box, which is what each row published there
loses, and the allowances of all limits that hold every row of the box. Then no release loses less than all prices
together, less each allowance times the number of classes of k rows that its limit has rows for (rounded down).

**Proof.** The rows of a release fall into classes and suppressed rows. Classes of 2k rows and more are split into ones
of k to 2k - 1 rows, all published in the same box. By (2) the rows of each cost together at most what they lose and the
allowances of the limits around their box. A suppressed row loses at least its price by (1). Add up: all prices are at
most the loss, and each allowance as often as there are classes within its limit. They have k rows each and none in
common, so there are no more than it has rows for. Further privacy models only rule releases out.

**Check.** Prices are rounded down to whole multiples of 2^-bits, weights likewise (of exact fractions, which is on the
safe side), so every comparison is one of integers below 2^62. Boxes are gone through attribute by attribute: a group of
rows equal on some attributes is given up when it has fewer than k rows, or when its k dearest rows cost no more than k
times what those attributes weigh (nor then do more of its rows than so many times); either then holds for every box
inside it. Only for what is left it matters which limits are around. Nothing here is shared with the kernels that found
the prices: it works on the tuples of the domain, with weights of its own, and sorts where they count. A limit is a set
of tuples, whatever it was meant to be.
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
from kanopy.search.bound.level_chains import LevelChain
from kanopy.search.budget import in_order
from kanopy.search.problem import Problem

TOGETHER = 100
"""Choices of rungs that are checked by one thread at a time."""
MARGINS = (4e-12, 1e-9, 1e-6)
"""Prices come from floating-point work: they are lowered by this much (relatively) until they pass."""


_Left = tuple[Longs, Longs, Longs]


@dataclass(frozen=True, eq=False)
class Allowances:
    """What classes within limits may cost more than they weigh: `amount` of each, and its tuples,
    `tuples[start[r]:start[r + 1]]`, none of them twice."""

    start: Longs
    tuples: Longs
    amount: Floats


NO_ALLOWANCES = Allowances(np.zeros(1, np.int64), np.zeros(0, np.int64), np.zeros(0))


@dataclass(frozen=True, eq=False)
class Certificate:
    """Prices that passed, `prices[i] / 2**bits` for every row of tuple `i`, the allowances, and the loss they prove."""

    prices: Longs
    bits: int
    loss: Fraction
    combinations: int
    allowances: Allowances

    @property
    def value(self) -> float:
        """The proved loss, rounded down."""
        nearest = float(self.loss)
        return nearest if Fraction(nearest) <= self.loss else nextafter(nearest, -1.0)


def certify(
    problem: Problem, prices: Floats, ladders: tuple[LevelChain, ...], progress: Progress = SILENT, threads: int = 1,
    allowances: Allowances = NO_ALLOWANCES,
) -> Certificate:  # fmt: skip
    """Prove a lower bound from prices per tuple and allowances, lowering prices that do not pass."""
    bits = 59 - problem.k.bit_length()
    most = int(_suppressed_loss(problem) * 2**bits)
    limits = WholeAllowances(problem, allowances, bits)
    for margin in MARGINS:
        whole = np.floor(np.ldexp(np.maximum(prices, 0.0) * (1 - margin), bits)).astype(np.int64)
        whole = np.minimum(whole, most)
        dishonest = find_dishonest(problem, whole, bits, ladders, progress, threads, limits)
        if not dishonest.any():
            break
    while dishonest.any():
        whole[dishonest] = 0
        dishonest = find_dishonest(problem, whole, bits, ladders, progress, threads, limits)
    loss = _proved_loss(problem, whole, bits, limits.paid)
    return Certificate(whole, bits, loss, prod(len(ladder) for ladder in ladders), limits.allowances)


class WholeAllowances:
    """Allowances in whole numbers: which limits hold a tuple, and what they may have paid in all."""

    def __init__(self, problem: Problem, allowances: Allowances, bits: int) -> None:
        # A limit whose allowance is nothing is none.
        used = np.flatnonzero(allowances.amount > 0)
        lengths = np.diff(allowances.start)[used]
        sets = [allowances.tuples[allowances.start[r] : allowances.start[r + 1]] for r in used.tolist()]
        if any(len(np.unique(members)) < len(members) for members in sets):
            raise AssertionError("A limit names a tuple twice.")
        tuples = np.concatenate([np.zeros(0, np.int64), *sets])
        self.amount = np.floor(np.ldexp(allowances.amount[used], bits)).astype(np.int64)
        start = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        self.allowances = Allowances(start, tuples, np.ldexp(self.amount.astype(np.float64), -bits))
        rows = [int(problem.domain.counts[members].sum()) for members in sets]
        self.paid = sum(amount * (n // problem.k) for amount, n in zip(self.amount.tolist(), rows, strict=True))
        self.most_tuples = int(lengths.max(initial=0))
        self.count = len(used)
        order = np.argsort(tuples, kind="stable")
        self.limit = np.repeat(np.arange(self.count), lengths)[order]
        self.held = np.bincount(tuples, minlength=len(problem.domain.counts))
        self.first = np.cumsum(self.held) - self.held

    def around(self, members: Longs, begins: Longs, lengths: Longs) -> Longs:
        """Per group of tuples (end to end) the allowances of all limits that hold every one of them."""
        allowed = np.zeros(len(begins), np.int64)
        small = np.flatnonzero(lengths <= self.most_tuples)
        if not len(small):
            return allowed
        inside = members[stretches(begins[small], lengths[small])]
        group = np.repeat(np.arange(len(small)), lengths[small])
        held = self.held[inside]
        # Every pair of a group and a limit that hold the same tuple, once for each such tuple.
        pair = np.repeat(group, held) * self.count + self.limit[stretches(self.first[inside], held)]
        pair, times = np.unique(pair, return_counts=True)
        whole = times == lengths[small][pair // max(1, self.count)]
        np.add.at(allowed, small[pair[whole] // self.count], self.amount[pair[whole] % self.count])
        return allowed


def stretches(begins: Longs, lengths: Longs) -> Longs:
    """The places of stretches, end to end."""
    ends = np.cumsum(lengths)
    places: Longs = np.arange(int(ends[-1]) if len(ends) else 0) + np.repeat(begins - (ends - lengths), lengths)
    return places


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


def _proved_loss(problem: Problem, prices: Longs, bits: int, allowed: int) -> Fraction:
    """All prices together less what was allowed, over all rows; rows excluded from the start lose everything."""
    domain = problem.domain
    paid = max(Fraction(0), Fraction(sum(map(mul, prices.tolist(), domain.counts.tolist())) - allowed, 2**bits))
    return (paid + domain.excluded_rows * _suppressed_loss(problem)) / max(1, domain.rows)


def _tables(problem: Problem, ladders: tuple[LevelChain, ...], bits: int) -> list[list[tuple[Longs, Longs]]]:
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
    problem: Problem, prices: Longs, bits: int, ladders: tuple[LevelChain, ...], progress: Progress = SILENT,
    threads: int = 1, limits: WholeAllowances | None = None,
) -> Mask:  # fmt: skip
    """The tuples in boxes of which some k to 2k - 1 rows cost more than they lose there and what limits around the box
    allow; none if the prices hold."""
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
        if depth == last and limits is not None and limits.count and undecided.any():
            # Rows beyond the k dearest add to a class what they cost more than the box weighs.
            above = np.maximum(prices[inside] - np.repeat(weighs, lengths), 0)
            more = np.clip(2 * k - 1 - before, 0, held) - np.clip(k - before, 0, held)
            excess = dearest - k * weighs + np.add.reduceat(more * above, begins)
            open_ = np.flatnonzero(undecided)
            undecided[open_] = excess[open_] > limits.around(inside, begins[open_], lengths[open_])
        staying = lengths[undecided]
        left = inside[np.repeat(undecided, lengths)]
        return left, np.repeat(np.arange(len(staying)), staying), np.repeat(weighs[undecided], staying)

    def down_to(end: int, depth: int, members: Longs, group: Longs, weight: Longs) -> Iterator[_Left]:
        """What is left at some depth, for every choice of rungs on the way there."""
        for rung in range(len(tables[depth])):
            left = within(depth, rung, members, group, weight)
            if len(left[0]):
                yield from [left] if depth == end else down_to(end, depth + 1, *left)

    def below(left: _Left) -> list[Longs]:
        return [triple[0] for triple in down_to(last, split, *left)]

    wrong = np.zeros(len(prices), np.bool_)
    nothing = np.zeros(len(prices), np.int64)
    whole = np.argsort(-prices, kind="stable"), nothing, nothing
    begins_with = down_to(split - 1, 0, *whole) if split else iter([whole])
    for batch in in_order(
        (partial(below, left) for left in begins_with), threads, lambda: progress("checking the bound", None)
    ):
        for tuples in batch:
            wrong[tuples] = True
    return wrong
