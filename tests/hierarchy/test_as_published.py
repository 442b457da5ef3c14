"""DBGH and CBGH of Yaseen et al. 2018 to the letter: Algorithms 1 and 2 written down again, on random ranges."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from kanopy.hierarchy.builders.cardinality import Cbgh
from kanopy.hierarchy.builders.divisors import Dbgh


def is_prime(number: int) -> bool:
    return number > 1 and all(number % d for d in range(2, int(number**0.5) + 1))


def algorithm_1(low: int, high: int, least: int) -> list[list[tuple[int, int]]]:
    """Levels as closed, disjoint intervals: j to j + d of the paper without its upper end."""
    high += is_prime(high)
    divisors = [d for d in range(least, high + 1) if high % d == 0]
    return [[(j, j + d - 1) for j in range(1, high, d) if j + d - 1 >= low] for d in divisors]


@pytest.mark.parametrize("seed", range(3))
def test_dbgh_as_published_on_random_ranges(seed: int) -> None:
    rng = np.random.default_rng(seed)
    for _ in range(100):
        low = int(rng.integers(1, 40))
        high = low + int(rng.integers(2, 150))
        least = int(rng.integers(2, max(3, min(12, high // 2))))
        found = Dbgh(min_width=least, chain=False).intervals(range(low, high + 1))
        assert [[(int(a), int(b)) for a, b in level] for level in found] == algorithm_1(low, high, least), (low, high)


@pytest.mark.parametrize("seed", range(3))
def test_cbgh_as_published_has_the_papers_leaves(seed: int) -> None:
    rng = np.random.default_rng(seed)
    for _ in range(100):
        low = int(rng.integers(0, 60))
        high = low + int(rng.integers(2, 90))
        upper = high + (low + high) % 2
        leaves = [(i, i + 1) for i in range(low, upper, 2)]
        leaves[-1] = (leaves[-1][0], max(leaves[-1][1], high))
        rows = rng.integers(1, 5, high - low + 1)
        found = Cbgh(published=True).intervals(np.repeat(np.arange(low, high + 1), rows))
        assert [(int(a), int(b)) for a, b in found[0]] == leaves
        for finer, broader in itertools.pairwise(found):
            assert len(broader) == (len(finer) + 1) // 2  # pairs, and one alone where the number is odd
