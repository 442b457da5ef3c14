"""Population uniqueness against formulas written out a second time, and against populations whose uniques are known."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kanopy._errors import JobError
from kanopy.metrics.risk.population import (
    dankar_choice,
    expected_inverse_sizes,
    pitman_parameters,
    pitman_uniques,
    population_size,
    population_uniques,
    snb_uniques,
    zayatz_uniques,
)

SIZES = [1] * 60 + [2] * 20 + [10] * 10


def test_zayatz_by_counting_every_sample() -> None:
    """A class of i people shows exactly one among n of N: counted over all samples of a small population."""
    population, sample = 8, 4
    shown = {}
    for size in (1, 2):
        members = set(range(size))
        draws = list(combinations(range(population), sample))
        shown[size] = sum(len(members & set(draw)) == 1 for draw in draws) / len(draws)
    expected = 2 * (2 / 3 * shown[1]) / (2 / 3 * shown[1] + 1 / 3 * shown[2]) * population / sample
    assert zayatz_uniques([1, 1, 2], population) == pytest.approx(expected, rel=1e-12)


def test_pitman_is_where_the_likelihood_is_flat() -> None:
    """The derivatives of the likelihood, term by term, vanish at the estimate."""
    found = pitman_parameters(SIZES)
    assert found is not None
    theta, alpha = found
    u, n = len(SIZES), sum(SIZES)
    by_theta = sum(1 / (theta + i * alpha) for i in range(1, u)) - sum(1 / (theta + i) for i in range(1, n))
    by_alpha = sum(i / (theta + i * alpha) for i in range(1, u)) - sum(
        1 / (i - alpha) for size in SIZES for i in range(1, size)
    )
    assert abs(by_theta) < 1e-4
    assert abs(by_alpha) < 1e-3


def test_pitman_expectation_by_seating_people_one_by_one() -> None:
    """The expected number of groups of one, by the sampling scheme itself: a new person joins a group of j with
    chance (j - α)/(θ + n), or opens one with chance (θ + α·groups)/(θ + n)."""
    theta, alpha = pitman_parameters(SIZES) or (0.0, 0.0)
    population = 500
    groups, alone = 1.0, 1.0
    for people in range(1, population):
        opens = (theta + alpha * groups) / (theta + people)
        alone += opens - alone * (1 - alpha) / (theta + people)
        groups += opens
    assert pitman_uniques(SIZES, population) == pytest.approx(alone, rel=1e-6)


def test_snb_solves_its_equations() -> None:
    """Sums over the shifted negative binomial reproduce N, the classes and the uniques that were found."""
    sizes, population = [1] * 40 + [2] * 20 + [3] * 10 + [5] * 4, 500
    estimate = snb_uniques(sizes, population)
    # Solved by hand with a general equation solver: K, r and p of the population's class sizes.
    classes, r, p = 116.19813863, 1.9537384, 0.37166398
    fraction = sum(sizes) / population
    people = found = alone = 0.0
    for size in range(1, 2000):
        mass = classes * math.exp(
            math.lgamma(size - 1 + r)
            - math.lgamma(size)
            - math.lgamma(r)
            + r * math.log(p)
            + (size - 1) * math.log1p(-p)
        )
        people += mass * size
        found += mass * (1 - (1 - fraction) ** size)
        alone += mass * size * fraction * (1 - fraction) ** (size - 1)
    assert (people, found, alone) == pytest.approx((population, len(sizes), 40), abs=1e-4)
    assert estimate == pytest.approx(classes * p**r, rel=1e-5)


@pytest.mark.parametrize("fraction", [0.05, 0.3])
def test_populations_with_known_uniqueness(fraction: float) -> None:
    """Negative binomial populations, which SNB describes exactly: its estimate is close, and the rule's not absurd."""
    random = np.random.default_rng(7)
    sizes = 1 + random.negative_binomial(0.7, 0.1, 20_000)
    people = np.repeat(np.arange(len(sizes)), sizes)
    true = int((sizes == 1).sum())
    drawn = random.choice(people, round(len(people) * fraction), replace=False)
    found = population_uniques(np.bincount(drawn), len(people))
    assert found.snb == pytest.approx(true, rel=0.35)
    assert found.chosen == ("pitman" if fraction <= 0.1 else "snb")
    assert true / 3 < found.dankar < 3 * true


def test_dankars_rule() -> None:
    assert dankar_choice(SIZES, 4000)[0] == "pitman"  # 6 %
    chosen, estimate = dankar_choice(SIZES, 600)  # a third
    options = {"zayatz": zayatz_uniques(SIZES, 600), "snb": snb_uniques(SIZES, 600)}
    assert estimate == options[chosen] == min(value for value in options.values() if value is not None)
    assert dankar_choice([1] * 50, 5000)[0] == "zayatz"  # no Pitman estimate if everybody is unique
    assert dankar_choice([2, 3], 5000) == ("sample", 0.0)
    assert dankar_choice([1, 3], 4) == ("sample", 1.0)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.integers(1, 12), min_size=2, max_size=40), st.integers(0, 5000))
def test_estimates_are_numbers_of_people(sizes: list[int], more: int) -> None:
    population = sum(sizes) + more
    found = population_uniques(sizes, population)
    for estimate in (found.pitman, found.zayatz, found.snb, found.dankar):
        assert estimate is None or 0.0 <= estimate <= population * (1 + 1e-9)
    if more == 0:
        assert found.dankar == sizes.count(1)


def test_expected_inverse_sizes_by_summing_the_negative_binomial() -> None:
    """E(1/F | f) with P(F = j | f) = C(j-1, f-1) π^f (1-π)^(j-f), summed term by term."""
    for fraction in (0.02, 0.3, 0.7):
        for f in (1, 2, 5, 60):
            total, j = 0.0, f
            while j < 20_000:
                log = math.lgamma(j) - math.lgamma(f) - math.lgamma(j - f + 1)
                total += math.exp(log + f * math.log(fraction) + (j - f) * math.log1p(-fraction)) / j
                j += 1
            assert expected_inverse_sizes([f], fraction)[0] == pytest.approx(total, rel=1e-7)
    assert expected_inverse_sizes([1, 4], 1.0).tolist() == [1.0, 0.25]


def test_population_is_checked() -> None:
    with pytest.raises(JobError, match="a sample cannot be larger"):
        population_size(100, population=99)
    with pytest.raises(JobError, match="a sample cannot be larger"):
        zayatz_uniques([1, 2], 2)
    with pytest.raises(JobError, match="not both"):
        population_size(100, population=200, sampling_fraction=0.5)
    for wrong in (0.0, -0.1, 1.5):
        with pytest.raises(JobError, match="sampling fraction"):
            population_size(100, sampling_fraction=wrong)
