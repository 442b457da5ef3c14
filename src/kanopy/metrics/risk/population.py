"""How many people are unique in the *population*, judged from a sample of it: pure functions of class sizes.

A person who is alone in a table drawn from a larger population may have doubles outside. Three models of the
population estimate how many do not, and Dankar's rule chooses among them (Dankar, El Emam, Neisa and Roffey 2012,
"Estimating the re-identification risk of clinical data sets", BMC Med Inform Decis Mak 12:66, with the notation of
its appendix): N people in the population, n rows in the sample, π = n/N, u classes and s₁ unique rows in the sample.

Each function returns the expected number of unique people in the population, or `None` where its model cannot be
fitted. A sample that is the whole population needs no model: its own uniques are the answer.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from kanopy._arrays import Floats, Longs
from kanopy._errors import JobError
from kanopy._mixins import DictMixin
from kanopy.metrics.risk.class_sizes import class_sizes

SMALL_SAMPLE = 0.1
"""Up to this sampling fraction Dankar's rule trusts Pitman's model, above it the other two."""

GOLDEN = (math.sqrt(5.0) - 1.0) / 2.0


@dataclass(frozen=True)
class PopulationUniques(DictMixin):
    """Estimated unique people in the population by each model, and the model that Dankar's rule chose."""

    population: int
    sampling_fraction: float
    pitman: float | None
    zayatz: float | None
    snb: float | None
    dankar: float
    chosen: str

    def to_dict(self) -> dict[str, Any]:
        """Plain data: per model the people and their share of the population."""
        plain = super().to_dict()
        for model in ("pitman", "zayatz", "snb", "dankar"):
            if (people := plain[model]) is not None:
                plain[model] = {"people": people, "share": people / self.population}
        return plain


def population_size(rows: int, *, population: int | None = None, sampling_fraction: float | None = None) -> int:
    """The number of people in the population from either way of stating it, checked against the rows of the sample.

    >>> population_size(100, sampling_fraction=0.01), population_size(100, population=400)
    (10000, 400)
    """
    if population is not None and sampling_fraction is not None:
        raise JobError("Give the population size or the sampling fraction, not both: one follows from the other.")
    if sampling_fraction is not None:
        if not 0.0 < sampling_fraction <= 1.0:
            raise JobError(
                f"A sampling fraction must be above 0 and at most 1, not {sampling_fraction}: it is the share of the "
                "population that is in the table."
            )
        population = round(rows / sampling_fraction)
    if population is None:
        return rows
    if population < rows:
        raise JobError(
            f"The population has {population:,} people but the table has {rows:,} rows: a sample cannot be larger than "
            "the population it was drawn from. Give the size of the whole population."
        )
    return population


def population_uniques(sizes: npt.ArrayLike, population: int) -> PopulationUniques:
    """All estimates at once, and the one that Dankar's rule chooses.

    >>> found = population_uniques([1] * 60 + [2] * 20 + [10] * 10, population=4000)
    >>> found.chosen, round(found.dankar), round(found.zayatz)
    ('pitman', 356, 447)
    """
    classes, rows, _ = _sample(sizes, population)
    chosen, estimate = dankar_choice(classes, population)
    return PopulationUniques(
        population=population,
        sampling_fraction=rows / population if population else 1.0,
        pitman=pitman_uniques(classes, population),
        zayatz=zayatz_uniques(classes, population),
        snb=snb_uniques(classes, population),
        dankar=estimate,
        chosen=chosen,
    )


def dankar_choice(sizes: npt.ArrayLike, population: int) -> tuple[str, float]:
    """The model that Dankar et al. (2012) found most accurate for this sampling fraction, and its estimate.

    Up to a sampling fraction of 0.1 that is Pitman's; above it the smaller of Zayatz's and the slide negative
    binomial's. Zayatz's, which always exists, stands in for a model that cannot be fitted.

    >>> dankar_choice([1, 1, 2, 5], population=9)
    ('sample', 2.0)
    """
    classes, rows, alone = _sample(sizes, population)
    if rows == population or alone == 0:
        return "sample", float(alone)
    zayatz = zayatz_uniques(classes, population)
    assert zayatz is not None, "there are unique rows"
    if rows / population <= SMALL_SAMPLE:
        pitman = pitman_uniques(classes, population)
        return ("zayatz", zayatz) if pitman is None else ("pitman", pitman)
    snb = snb_uniques(classes, population)
    return ("zayatz", zayatz) if snb is None or zayatz < snb else ("snb", snb)


def zayatz_uniques(sizes: npt.ArrayLike, population: int) -> float | None:
    """Zayatz's estimate: the sample's class sizes stand for those of the population, and Bayes turns them round.

    A class of i people shows exactly one of them in the sample with the hypergeometric chance h(i), so that
    P(unique in the population | unique in the sample) = p₁ h(1) / Σ pᵢ h(i), where pᵢ is the share of classes of
    size i; the estimate is s₁ times that over the sampling fraction (Zayatz 1991, "Estimation of the percent of
    unique population elements on a microdata file using the sample", US Bureau of the Census).

    >>> zayatz_uniques([1, 1, 2], population=8)  # h(1) = 1/2, h(2) = 2 · 4 · 4 / (8 · 7)
    2.545454545454...
    """
    classes, rows, alone = _sample(sizes, population)
    if alone == 0 or rows == population:
        return float(alone)
    values, counts = np.unique(classes, return_counts=True)
    chances = np.array([_one_of(int(size), rows, population) for size in values])
    fraction = rows / population
    conditional = alone * fraction / float(np.dot(counts, chances))
    return alone * conditional / fraction


def snb_uniques(sizes: npt.ArrayLike, population: int) -> float | None:
    """The slide negative binomial estimate (Chen and Keller-McNulty 1998, Journal of Official Statistics 14).

    The size of a population class is one plus a negative binomial, of which each member is sampled with chance π.
    With b the scale and m = N/K the mean size, the expected number of sampled classes and of sample uniques are set
    equal to those found: m·u/N = 1 - (1-π)·G and m·s₁/N = π·G·(1 + (1-π)(m-1)/(1+bπ)), with
    G = (1+bπ)^(-(m-1)/b). The estimate is K·(1+b)^(-(m-1)/b). Where no m and b solve both, there is none.

    >>> round(snb_uniques([1] * 40 + [2] * 20 + [3] * 10 + [5] * 4, population=500))
    17
    """
    classes, rows, alone = _sample(sizes, population)
    class_count = len(classes)
    if alone == 0 or rows == population:
        return float(alone)
    fraction = rows / population
    seen = class_count / population

    def scale(mean: float) -> float | None:
        """The b for which the first equation holds, `None` where there is none."""
        empty = (1.0 - mean * seen) / (1.0 - fraction)
        if not 0.0 < empty < 1.0 or mean <= 1.0:
            return None
        wanted = -math.log(empty) / (mean - 1.0)  # log(1+bπ)/b, which falls from π to 0 as b grows
        if wanted >= fraction:
            return None
        low, high = -40.0, 60.0
        for _ in range(200):
            middle = (low + high) / 2.0
            if math.log1p(math.exp(middle) * fraction) / math.exp(middle) > wanted:
                low = middle
            else:
                high = middle
        return math.exp((low + high) / 2.0)

    def excess(mean: float) -> float | None:
        """Expected less found sample uniques, per person of the population."""
        b = scale(mean)
        if b is None:
            return None
        empty = (1.0 - mean * seen) / (1.0 - fraction)
        alone_then = fraction * empty * (1.0 + (1.0 - fraction) * (mean - 1.0) / (1.0 + b * fraction))
        return alone_then / mean - alone / population

    mean = _root(excess, max(1.0, rows / class_count), 1.0 / seen)
    b = None if mean is None else scale(mean)
    if mean is None or b is None:
        return None
    estimate = population / mean * math.exp(-(mean - 1.0) / b * math.log1p(b))
    return min(estimate, float(population))


def pitman_uniques(sizes: npt.ArrayLike, population: int) -> float | None:
    """Pitman's estimate: the sample's partition into classes follows Pitman's sampling formula, and so does the
    population's (Hoshino 2001, "Applying Pitman's sampling formula to microdata disclosure risk assessment", Journal
    of Official Statistics 17).

    Its two parameters are fitted by maximum likelihood; the expected number of unique people among N is
    N·Γ(θ+1)·Γ(θ+α+N-1) / (Γ(θ+α)·Γ(θ+N)), which is the paper's Γ(θ+1)/Γ(θ+α)·N^α for large N. There is no estimate
    if the likelihood has no maximum inside the parameter space, as when every row is unique.

    >>> round(pitman_uniques([1] * 60 + [2] * 20 + [10] * 10, population=4000))
    356
    """
    classes, rows, alone = _sample(sizes, population)
    if alone == 0 or rows == population:
        return float(alone)
    fitted = pitman_parameters(classes)
    if fitted is None:
        return None
    theta, alpha = fitted
    logarithm = math.lgamma(theta + 1.0) - math.lgamma(theta + alpha)
    logarithm += math.lgamma(theta + alpha + population - 1.0) - math.lgamma(theta + population)
    return min(population * math.exp(logarithm), float(population))


def pitman_parameters(sizes: npt.ArrayLike) -> tuple[float, float] | None:
    """Maximum-likelihood θ and α of Pitman's sampling formula (0 ≤ α < 1, θ > -α), or `None` without a maximum.

    The logarithm of the likelihood is, up to a constant,
    Σᵢ₌₁ᵘ⁻¹ log(θ+iα) - Σᵢ₌₁ⁿ⁻¹ log(θ+i) + Σ_classes Σᵢ₌₁ˢⁱᶻᵉ⁻¹ log(i-α).

    >>> theta, alpha = pitman_parameters([1] * 60 + [2] * 20 + [10] * 10)
    >>> round(theta, 2), round(alpha, 3)
    (12.41, 0.58)
    """
    classes = class_sizes(sizes)
    rows, class_count = int(classes.sum()), len(classes)
    if class_count < 2 or class_count == rows:
        return None
    values, counts = np.unique(classes, return_counts=True)
    larger = [(int(size), int(number)) for size, number in zip(values, counts, strict=True) if size > 1]

    def inside(alpha: float) -> float:
        """The part of the likelihood that depends on α alone."""
        base = math.lgamma(1.0 - alpha)
        return sum(number * (math.lgamma(size - alpha) - base) for size, number in larger)

    def likelihood(log_gap: float, alpha: float) -> float:
        """The part that depends on both; `log_gap` is log(θ+α), so that every number is allowed."""
        theta = math.exp(log_gap) - alpha
        return _sum_of_logs(theta, alpha, class_count - 1) - _sum_of_logs(theta, 1.0, rows - 1)

    lowest, highest = -30.0, math.log(rows) * 2.0 + 25.0

    def best_gap(alpha: float) -> float:
        return _maximum(lambda gap: likelihood(gap, alpha), lowest, highest)

    def profile(alpha: float) -> float:
        return inside(alpha) + likelihood(best_gap(alpha), alpha)

    alpha = _maximum(profile, 0.0, 1.0 - 1e-9)
    gap = best_gap(alpha)
    if alpha > 1.0 - 1e-6 or gap > highest - 0.01:
        return None
    return math.exp(gap) - alpha, alpha


def expected_inverse_sizes(sizes: npt.ArrayLike, sampling_fraction: npt.ArrayLike) -> Floats:
    """Per class the expected 1/F, F being how many people of the population share its values.

    Given f of them in the sample, F is taken as negative binomial (Benedetti and Franconi 1998, the individual risk
    of μ-Argus): E(1/F | f) = ∫₀¹ x^(f-1)·π/(π+(1-π)x) dx. For f = 1 that is π/(1-π)·log(1/π). The sampling fraction
    π is one number, or one per class.

    >>> expected_inverse_sizes([1, 2], 0.5).round(4).tolist()
    [0.6931, 0.3069]
    """
    classes = np.asarray(sizes, np.float64)
    share = np.broadcast_to(np.asarray(sampling_fraction, np.float64), classes.shape)
    if wrong := share[~((share > 0.0) & (share <= 1.0))][:1].tolist():
        raise JobError(f"A sampling fraction must be above 0 and at most 1, not {wrong[0]}.")
    risks = np.empty(classes.shape)
    few = (classes <= 40) & (share < 0.5)
    # I(f+1) = π/(1-π)·(1/f - I(f)): errors shrink at each step because π < 1-π.
    size, odds = classes[few], share[few] / (1.0 - share[few])
    value = odds * -np.log(share[few])
    for step in range(1, int(size.max(initial=1.0))):
        value = np.where(size > step, odds * (1.0 / step - value), value)
    risks[few] = value
    # π/f · Σ k!/((f+1)…(f+k)) · (1-π)^k: quick for large classes and for large samples.
    size, rest = classes[~few], 1.0 - share[~few]
    term, total, k = np.ones(len(size)), np.ones(len(size)), 0
    while (term > 1e-17 * total).any():
        k += 1
        term = term * (k / (size + k) * rest)
        total += term
    risks[~few] = share[~few] / size * total
    return risks


def _one_of(size: int, rows: int, population: int) -> float:
    """The chance that exactly one of `size` people is among the `rows` drawn from the population."""
    outside = population - rows
    if size - 1 > outside:
        return 0.0
    chance = math.log(size) + math.log(rows) - math.log(population)
    chance += math.lgamma(outside + 1) - math.lgamma(outside - size + 2)
    chance -= math.lgamma(population) - math.lgamma(population - size + 1)
    return math.exp(chance)


def _sum_of_logs(start: float, step: float, number: int) -> float:
    """log(start + step) + log(start + 2·step) + …, `number` terms, without adding them one by one."""
    if number <= 0:
        return 0.0
    if step <= 0.0:
        return number * math.log(start) if start > 0.0 else -math.inf
    ratio = start / step
    if ratio > 1e6 * number:  # the terms hardly differ: differences of huge logarithms would lose digits
        return number * math.log(start) + number * (number + 1) / 2.0 / ratio
    return number * math.log(step) + math.lgamma(ratio + number + 1.0) - math.lgamma(ratio + 1.0)


def _maximum(function: Callable[[float], float], low: float, high: float, steps: int = 90) -> float:
    """Where a function with one peak is greatest, by golden-section search."""
    left, right = high - GOLDEN * (high - low), low + GOLDEN * (high - low)
    at_left, at_right = function(left), function(right)
    for _ in range(steps):
        if at_left < at_right:
            low, left, at_left = left, right, at_right
            right = low + GOLDEN * (high - low)
            at_right = function(right)
        else:
            high, right, at_right = right, left, at_left
            left = high - GOLDEN * (high - low)
            at_left = function(left)
        if high - low < 1e-11 * max(1.0, abs(low)):
            break
    return (low + high) / 2.0


def _root(function: Callable[[float], float | None], low: float, high: float, grid: int = 400) -> float | None:
    """The lowest place where a function, defined on part of the interval, changes its sign; `None` if it does not."""
    last: tuple[float, float] | None = None
    for step in range(1, grid):
        here = low + (high - low) * step / grid
        value = function(here)
        if value is None:
            last = None
            continue
        if value == 0.0:
            return here
        if last is not None and (value > 0.0) != (last[1] > 0.0):
            left, right, sign = last[0], here, last[1] > 0.0
            for _ in range(100):
                middle = (left + right) / 2.0
                at = function(middle)
                if at is not None and (at > 0.0) == sign:
                    left = middle
                else:
                    right = middle
            return (left + right) / 2.0
        last = (here, value)
    return None


def _sample(sizes: npt.ArrayLike, population: int) -> tuple[Longs, int, int]:
    """The classes of a sample, its rows, and how many are alone; the population must hold it."""
    classes = class_sizes(sizes)
    rows = int(classes.sum())
    population_size(rows, population=population)
    return classes, rows, int((classes == 1).sum())
