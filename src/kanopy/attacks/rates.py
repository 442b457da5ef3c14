"""How often an attack succeeds, on people of the release and on others, and the risk that remains.

Rates have Wilson intervals (Wilson 1927, "Probable inference, the law of succession, and statistical inference", JASA
22). The risk is what an attack achieves on people of the release beyond what it achieves on people outside of it, as a
share of what could still be achieved: (r - c) / (1 - c). Its interval propagates those of both rates (Giomi, Boenisch,
Wehmeyer, Tasnádi 2023, "A unified framework for quantifying privacy risk in synthetic data", PoPETs 2023).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from kanopy._arrays import Longs
from kanopy._mixins import DictMixin

LEAST_GUESSES = 30
"""Fewer guesses tell nothing about a rate: the interval of an even chance would be wider than 0.34."""
Z95 = 1.959963984540054
"""The 97.5 % point of the normal distribution."""


class Interval(NamedTuple):
    """An estimate with its 95 % interval."""

    value: float
    low: float
    high: float


def wilson(successes: float, guesses: float, z: float = Z95) -> Interval:
    """A rate with its Wilson interval.

    >>> tuple(round(each, 4) for each in wilson(500, 500))
    (1.0, 0.9924, 1.0)
    """
    if guesses <= 0:
        return Interval(math.nan, 0.0, 1.0)
    centre, error = _centre(successes, guesses, z)
    return Interval(successes / guesses, max(centre - error, 0.0), min(centre + error, 1.0))


def _centre(successes: float, guesses: float, z: float) -> tuple[float, float]:
    wide = guesses + z * z
    varied = max(successes * (guesses - successes) / guesses, 0.0)
    return (successes + z * z / 2) / wide, z / wide * math.sqrt(varied + z * z / 4)


def difference(rate: tuple[float, float], control: tuple[float, float]) -> Interval:
    """r - c with the interval of Newcombe (1998, method 10), which joins two Wilson intervals.

    >>> tuple(round(each, 4) for each in difference((56, 70), (48, 80)))
    (0.2, 0.0524, 0.3339)
    """
    one, other = wilson(*rate), wilson(*control)
    between = one.value - other.value
    low = between - math.hypot(one.value - one.low, other.high - other.value)
    high = between + math.hypot(one.high - one.value, other.value - other.low)
    return Interval(between, low, high)


def risk_of(rate: tuple[float, float], control: tuple[float, float] | None) -> Interval:
    """max(0, (r - c) / (1 - c)) with its interval; r itself where there is no control group.

    >>> tuple(round(each, 4) for each in risk_of((500, 500), (50, 500)))
    (1.0, 0.9915, 1.0)
    >>> risk_of((10, 500), (500, 500)).value
    0.0
    """
    r = wilson(*rate)
    if control is None:
        return r
    c = wilson(*control)
    centre, error = _centre(*rate, Z95)
    beside, its_error = _centre(*control, Z95)
    left = 1.0 - beside
    middle = (centre - beside) / left
    spread = math.hypot(error / left, its_error * (centre - 1.0) / left**2)
    value = 0.0 if c.value >= 1.0 else max(0.0, (r.value - c.value) / (1.0 - c.value))
    low, high = (min(max(end, 0.0), 1.0) for end in (middle - spread, middle + spread))
    return Interval(value, min(low, value), max(high, value))


def at_size(matches: Longs, size: int, wanted: int) -> float:
    """The share of predicates that would match exactly one of `wanted` people, from their matches among `size` people.

    Among fewer people it is the mean over all samples (hypergeometric). Among more, the number of matches is taken for
    negative binomial with the observed shares of predicates that match nobody and exactly one person: a predicate's
    matches are a Poisson process whose rate varies between predicates by a gamma distribution.

    >>> at_size(np.array([1, 1, 0, 2]), 10, 10), round(at_size(np.array([1, 1, 0, 2]), 10, 5), 4)
    (0.5, 0.3889)
    >>> round(at_size(np.repeat([0, 1], [90, 10]), 100, 200), 3)  # twice the people, nearly twice the matches
    0.171
    """
    if not len(matches):
        return math.nan
    one, none = float((matches == 1).mean()), float((matches == 0).mean())
    if wanted == size or one == 0.0:
        return one
    if wanted < size:
        return float(np.mean([_exactly_one(match_count, size, wanted) for match_count in matches.tolist()]))
    times = wanted / size
    if none == 0.0:  # every predicate matches somebody already: more people only make more matches
        return one * times * math.exp(-(times - 1.0) * max(float(matches.mean()), 1.0))
    ratio = -math.log(none) * none / one
    if ratio <= 1.0 + 1e-9:
        rate = -math.log(none)
        return min(rate * times * math.exp(-rate * times), 1.0)
    low, high = 1e-9, 1e9
    for _ in range(200):  # (b + 1) ln(1 + 1/b) falls from infinity to 1
        middle = math.sqrt(low * high)
        low, high = (middle, high) if (middle + 1) * math.log1p(1 / middle) > ratio else (low, middle)
    shape = one / none * (low + 1)
    return float(min(shape * times / (low + times) * (low / (low + times)) ** shape, 1.0))


def _exactly_one(matches: int, size: int, wanted: int) -> float:
    """The chance that a sample of `wanted` of `size` people has exactly one of `matches` people."""
    if not matches or size - matches < wanted - 1:
        return 0.0
    chance = matches * wanted / size
    for index in range(wanted - 1):
        chance *= (size - matches - index) / (size - 1 - index)
    return chance


@dataclass(frozen=True)
class Measured(DictMixin):
    """One attack: how often it succeeded on people of the release and on the control group, and the risk.

    `naive` is the rate of guessing from the marginals. `people` is how many persons are concerned, where that is a
    whole number of its own (persons that were singled out). `risk` is `None` where too few guesses were possible.
    """

    attack: str
    detail: str
    guesses: int
    successes: float
    control_guesses: int | None
    control_successes: float | None
    naive: float | None = None
    people: int | None = None
    note: str = ""
    evidence: float = 1.0
    control_evidence: float = 1.0
    """How much a guess counts in the intervals: less than 1 where several guesses are about the same persons."""
    control_as_counted: float | None = None
    """The rate among the control group as it is, where it has another number of people than the original."""

    @property
    def enough(self) -> bool:
        """Whether enough guesses were possible to speak of a rate, in the control group as well."""
        beside = self.control_guesses
        return self.guesses >= LEAST_GUESSES and (beside is None or beside >= LEAST_GUESSES)

    @property
    def _rate(self) -> tuple[float, float]:
        return self.successes * self.evidence, self.guesses * self.evidence

    @property
    def _control(self) -> tuple[float, float] | None:
        if self.control_guesses is None or self.control_successes is None:
            return None
        return self.control_successes * self.control_evidence, self.control_guesses * self.control_evidence

    @property
    def rate(self) -> Interval:
        """The rate on people of the release."""
        return wilson(*self._rate)

    @property
    def control(self) -> Interval | None:
        """The rate on the control group."""
        return None if self._control is None else wilson(*self._control)

    @property
    def difference(self) -> Interval | None:
        """r - c with its interval, or `None` without a control group."""
        return None if self._control is None else difference(self._rate, self._control)

    @property
    def risk(self) -> Interval | None:
        """The risk, or `None` where too few guesses were possible."""
        return risk_of(self._rate, self._control) if self.enough else None

    @property
    def weak(self) -> bool:
        """Whether guessing from the marginals succeeds more often: the attack is too weak to tell."""
        return self.enough and self.naive is not None and self.rate.value < self.naive

    @property
    def verdict(self) -> str:
        """What the figures say, in words."""
        if not self.enough:
            few = min(self.guesses, self.guesses if self.control_guesses is None else self.control_guesses)
            return f"too few possible guesses ({few:,}) to measure a risk"
        if self.weak:
            return "the attack is too weak to measure a risk: guessing succeeds more often"
        risk = self.risk
        assert risk is not None
        if self.control is not None and self.control.value >= 1.0:
            return "every guess on the control group succeeds: no risk of the release can be measured"
        if self.control is None:
            return "no control group: the rate includes what is true of people outside of the release"
        return "risk measured" if risk.low > 0 else "no risk beyond the control group was measured"

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "attack": self.attack,
            "detail": self.detail,
            "guesses": self.guesses,
            "rate": _plain(self.rate if self.guesses else None),
            "control_guesses": self.control_guesses,
            "control_rate": _plain(self.control if self.control_guesses else None),
            "control_rate_as_counted": self.control_as_counted,
            "naive_rate": self.naive,
            "risk": _plain(self.risk),
            "people": self.people,
            "enough_guesses": self.enough,
            "weaker_than_guessing": self.weak,
            "verdict": self.verdict,
            "note": self.note,
        }


def evidence_of(matched: Sequence[Longs]) -> float:
    """How much each of some predicates counts, from the persons that each matches; 1 if no two share a person.

    Predicates about the same persons succeed and fail together. How much that adds to the variance of their successes
    is estimated by leaving out one person at a time (the jackknife of Efron and Stein 1981, Annals of Statistics 9):
    whom a predicate matches alone takes one success away, one of two matched persons adds one.

    >>> evidence_of([np.array([0]), np.array([1]), np.array([2, 3, 4])])
    1.0
    >>> evidence_of([np.array([0])] * 4 + [np.array([1, 2, 3])] * 4)
    0.25
    """
    change: dict[int, int] = {}
    apart = 0
    for persons in matched:
        if len(persons) in (1, 2):
            step = -1 if len(persons) == 1 else 1
            for person in persons.tolist():
                change[person] = change.get(person, 0) + step
                apart += 1
    together = sum(changes * changes for changes in change.values())
    return min(1.0, apart / together) if together else 1.0


def _plain(interval: Interval | None) -> dict[str, float] | None:
    return None if interval is None else {"value": interval.value, "low": interval.low, "high": interval.high}


def highest(results: Sequence[Measured]) -> Measured | None:
    """The attack with the highest measured risk; `None` where none could be measured."""
    measured = [(item.risk.value, item.risk.low, index) for index, item in enumerate(results) if item.risk is not None]
    return results[max(measured, key=lambda item: (item[0], item[1], -item[2]))[2]] if measured else None
