"""The plain methods beside ours: seeded, true to what they keep, and refusing what they cannot take."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl
import pytest

from kanopy._errors import JobError, KanopyError
from kanopy.masking import baselines as b
from kanopy.release.baseline import baseline

NUMBERS = np.random.default_rng(1).normal(50, 10, 4000)


def test_the_same_seed_gives_the_same() -> None:
    for method in (b.add_noise, b.resample):
        assert np.array_equal(method(NUMBERS, seed=3), method(NUMBERS, seed=3))
        assert not np.array_equal(method(NUMBERS, seed=3), method(NUMBERS, seed=4))
    words = list("abc") * 50
    assert b.post_randomize(words, 0.5, seed=1) == b.post_randomize(words, 0.5, seed=1)
    assert b.sample(100, 0.2, seed=1).tolist() == b.sample(100, 0.2, seed=1).tolist()


def test_what_each_keeps() -> None:
    noisy = b.add_noise(NUMBERS, 0.1)
    assert np.mean(noisy) == pytest.approx(NUMBERS.mean(), abs=0.1)
    assert np.std(noisy - NUMBERS) == pytest.approx(0.1 * NUMBERS.std(), rel=0.1)
    table = np.column_stack([NUMBERS, NUMBERS + np.random.default_rng(2).normal(0, 5, len(NUMBERS))])
    assert np.corrcoef(b.add_correlated_noise(table, 0.5).T)[0, 1] == pytest.approx(
        np.corrcoef(table.T)[0, 1], abs=0.02
    )
    assert set(b.round_to([1.0, 2.4, 2.5, -2.5], 5).tolist()) == {0.0, 5.0}
    drawn = b.resample(NUMBERS, 5)
    assert (np.argsort(drawn, kind="stable") == np.argsort(NUMBERS, kind="stable")).mean() > 0.95
    words = ["a"] * 3000 + ["b"] * 1000
    shown = b.post_randomize(words, 0.6)
    assert Counter(shown)["a"] == pytest.approx(3000, rel=0.05) and shown != words
    assert np.isnan(b.add_noise([1.0, np.nan, 3.0])[1])


@pytest.mark.parametrize(
    ("work", "message"),
    [
        (lambda: b.add_noise([1.0], -1), "at least 0"),
        (lambda: b.round_to([1.0], 0), "above 0"),
        (lambda: b.post_randomize(["a"], 2), "between 0 and 1"),
        (lambda: b.resample([1.0], 0), "at least once"),
        (lambda: b.resample([1.0, np.nan]), "without missing"),
        (lambda: b.sample(5, 0), "above 0"),
        (lambda: b.add_noise([[1.0]]), "one column"),
        (lambda: b.add_correlated_noise([1.0]), "table of numbers"),
    ],
)
def test_what_is_refused(work: Callable[[], Any], message: str) -> None:
    with pytest.raises(JobError, match=message):
        work()


def test_rank_swapping_stays_within_its_range_and_keeps_the_values() -> None:
    shown = b.swap_ranks(NUMBERS, 2, seed=1)
    assert sorted(shown.tolist()) == sorted(NUMBERS.tolist()) and (shown != NUMBERS).mean() > 0.9
    rank = np.argsort(np.argsort(NUMBERS))
    assert np.abs(np.argsort(np.argsort(shown)) - rank).max() <= 0.02 * len(NUMBERS)
    with_gap = b.swap_ranks([1.0, np.nan, 2.0], 100)
    assert np.isnan(with_gap[1]) and with_gap[[0, 2]].tolist() == [2.0, 1.0]


@pytest.mark.parametrize("method", b.BASELINES)
def test_every_method_runs_on_a_table_seeded_and_leaves_other_columns_out(method: str) -> None:
    frame = pl.DataFrame({"a": ["1", "7", "12", "30"], "b": [4.0, 2.0, 9.0, 1.0], "name": list("wxyz")})
    first = baseline(frame, method, ["a", "b"], 5 if method == "rounding" else None, seed=2)
    assert first.columns == ["a", "b"] and len(first) == (0 if method == "sampling" else 4)
    assert first.equals(baseline(frame, method, ["a", "b"], 5 if method == "rounding" else None, seed=2))


@pytest.mark.parametrize(
    ("method", "columns", "amount", "message"),
    [
        ("noice", ["a"], None, "Did you mean 'noise'"),
        ("rounding", ["a"], None, "needs a number: the base"),
        ("noise", ["word"], None, "no numbers: 'x', 'y'"),
        ("noise", [], None, "Name the columns"),
        ("resampling", ["a"], 2.5, "at least once"),
        ("rank-swapping", ["a"], 0, "above 0"),
    ],
)
def test_what_tables_cannot_be_asked(method: str, columns: list[str], amount: Any, message: str) -> None:
    with pytest.raises(KanopyError, match=message):
        baseline(pl.DataFrame({"a": [1, 2], "word": ["x", "y"]}), method, columns, amount)
