"""The plain methods beside ours: treatments by a public seed, and refusals of what they cannot take."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

from kanopy._errors import KanopyError
from kanopy.release.baseline import BASELINES, baseline

NUMBERS = pl.DataFrame({"x": np.random.default_rng(1).normal(50, 10, 4000)})


def test_they_are_the_treatments_of_their_name() -> None:
    noisy = baseline(NUMBERS, "noise", ["x"], 0.1, seed=3)["x"]
    assert np.std((noisy - NUMBERS["x"]).to_numpy()) == pytest.approx(0.1 * NUMBERS["x"].std(), rel=0.1)
    assert not noisy.equals(baseline(NUMBERS, "noise", ["x"], 0.1, seed=4)["x"])
    swapped = baseline(NUMBERS, "rank-swapping", ["x"], 2)["x"]
    assert swapped.sort().equals(NUMBERS["x"].sort())
    assert ((swapped.rank() - NUMBERS["x"].rank()).abs() <= 0.02 * 4000).all()
    drawn = [baseline(NUMBERS, "sampling", ["x"], 0.2, seed=seed) for seed in (1, 1, 2)]
    assert len(drawn[0]) == 800 and drawn[0].equals(drawn[1]) and not drawn[0].equals(drawn[2])


@pytest.mark.parametrize("method", BASELINES)
def test_every_method_runs_on_a_table_seeded_and_leaves_other_columns_out(method: str) -> None:
    frame = pl.DataFrame({"a": ["1", "7", "12", "30"], "b": [4.0, 2.0, 9.0, 1.0], "name": list("wxyz")})
    first = baseline(frame, method, ["a", "b"], 5 if method == "rounding" else None, seed=2)
    assert first.columns == ["a", "b"] and len(first) == (1 if method == "sampling" else 4)
    assert first.equals(baseline(frame, method, ["a", "b"], 5 if method == "rounding" else None, seed=2))


@pytest.mark.parametrize(
    ("method", "columns", "amount", "message"),
    [
        ("noice", ["a"], None, "Did you mean 'noise'"),
        ("rounding", ["a"], None, "needs a number: the base"),
        ("noise", ["word"], None, "also holds 'x', 'y'"),
        ("noise", [], None, "Name the columns"),
        ("noise", ["a"], -1, "above 0"),
        ("resampling", ["a"], 2.5, "whole number"),
        ("rank-swapping", ["a"], 0, "above 0"),
        ("pram", ["word"], 2, "below 1"),
        ("sampling", ["a"], 0, "above 0"),
    ],
)
def test_what_tables_cannot_be_asked(method: str, columns: list[str], amount: Any, message: str) -> None:
    with pytest.raises(KanopyError, match=message):
        baseline(pl.DataFrame({"a": [1, 2], "word": ["x", "y"]}), method, columns, amount)
