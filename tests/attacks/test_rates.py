"""Intervals, risks, and what the control group says where nothing is to be found."""

# ruff: noqa: E501 - tables
from __future__ import annotations

import random

import numpy as np
import polars as pl
import pytest

from kanopy.attacks.inference import inference
from kanopy.attacks.linking import linkability
from kanopy.attacks.rates import Measured, at_size, difference, risk_of, wilson
from kanopy.attacks.singling_out import singling_out
from kanopy.attacks.tables import read_tables


def test_wilson_and_risk_as_published() -> None:
    # Newcombe 1998, Statistics in Medicine 17, table II, method 3: 81 of 263.
    assert [round(each, 4) for each in wilson(81, 263)] == [0.308, 0.2553, 0.3662]
    # Newcombe 1998, Statistics in Medicine 17, p. 873-890, table II (b): 9/10 - 3/10, method 10.
    assert [round(each, 4) for each in difference((9, 10), (3, 10))] == [0.6, 0.1705, 0.8090]
    assert risk_of((10, 100), (40, 100)).value == 0.0
    assert risk_of((50, 100), (50, 100)).value == 0.0
    found = risk_of((60, 100), (20, 100))
    assert found.value == pytest.approx(0.5) and found.low < 0.5 < found.high


def test_too_few_guesses_are_no_risk_of_zero() -> None:
    few = Measured("singling out", "x", 5, 0, 5, 0)
    assert few.risk is None and not few.enough and "too few possible guesses (5)" in few.verdict
    none = Measured("linkability", "x", 0, 0, None, None)
    assert none.to_dict()["risk"] is None and none.to_dict()["rate"] is None


def test_an_attack_that_guessing_beats_is_too_weak() -> None:
    assert "too weak" in Measured("inference", "x", 100, 10, 100, 10, naive=0.3).verdict


def test_the_rate_among_more_people_than_the_control_group_has() -> None:
    """Matches of predicates among 1,000 people tell the share that match exactly one of 4,000."""
    random = np.random.default_rng(1)
    for shape in (0.3, 1.0, 5.0):
        rates = random.gamma(shape, 0.0003 / shape, 20_000)
        few, many = random.poisson(rates * 1000), random.poisson(rates * 4000)
        assert at_size(few, 1000, 4000) == pytest.approx((many == 1).mean(), abs=0.02)
        assert at_size(many, 4000, 1000) == pytest.approx((few == 1).mean(), abs=0.01)


TABLES = 1000


def people(draw: random.Random, rows: int) -> pl.DataFrame:
    ages = [draw.randint(20, 60) for _ in range(rows)]
    return pl.DataFrame({
        "age": ages, "town": [draw.choice("abcdefgh") for _ in range(rows)], "sex": [draw.choice("fm") for _ in range(rows)],
        "ill": [draw.choice("uvwxyz") if age < 45 else draw.choice("uv") for age in ages],
    })  # fmt: skip


def coarse(frame: pl.DataFrame) -> pl.DataFrame:
    decade = pl.col("age") // 10 * 10
    age = pl.format("[{}, {}]", decade, decade + 9)
    return frame.with_columns(
        age=age, town=pl.when(pl.col("town") < "e").then(pl.lit("{a, b, c, d}")).otherwise(pl.lit("{e, f, g, h}"))
    )


@pytest.mark.slow
def test_a_release_of_other_people_shows_no_difference() -> None:
    """Of 1,000 random tables, the difference between people and control group covers 0 in at least 94 %."""
    covered: dict[str, list[bool]] = {}
    for seed in range(TABLES):
        draw = random.Random(seed)
        released, one, other = (people(draw, 80) for _ in range(3))
        tables = read_tables(one, coarse(released), other, quasi=["age", "town", "sex"], sensitive=["ill"])
        streams = np.random.default_rng(seed).spawn(3)
        found = [*singling_out(tables, 50, streams[0]), *linkability(tables, 80, streams[1], first=["age"])]
        found += inference(tables, 80, streams[2], learn=False)[0]
        for each in found:
            if each.enough and each.control_guesses:
                gap = each.difference
                kind = each.detail if each.attack == "singling out" else f"{each.attack} {each.detail}"
                covered.setdefault(kind, []).append(gap.low <= 0.0 <= gap.high)
    assert len(covered) >= 5, covered.keys()
    shares = {kind: sum(each) / len(each) for kind, each in covered.items() if len(each) > 100}
    assert all(share >= 0.93 for share in shares.values()), shares
    attacks = {kind.split()[0] if kind.startswith(("linka", "infer")) else "singling out" for kind in covered}
    assert len(attacks) == 3
    for attack in attacks:
        pooled = [
            held for kind, each in covered.items() for held in each
            if (kind.split()[0] if kind.startswith(("linka", "infer")) else "singling out") == attack
        ]  # fmt: skip
        assert sum(pooled) / len(pooled) >= 0.94, (attack, shares)
