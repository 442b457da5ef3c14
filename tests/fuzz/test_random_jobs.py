"""Some hundred random jobs, judged by the textbook. `make fuzz` runs as many as one likes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable

import pytest

from tests.fuzz.drawn import NOT_DRAWN, all_there_is
from tests.fuzz.people import EVERY, judge_one, judge_other, judge_people
from tests.fuzz.run import what_was_drawn
from tests.fuzz.watchdog import watched

JOBS = 1000
BLOCK = 100
QUICK = 500
"""So many are tried each time; the others with the long tests."""
BLOCKS = [start if start < QUICK else pytest.param(start, marks=pytest.mark.slow) for start in range(0, JOBS, BLOCK)]


def judged(judge: Callable[[int], str], seeds: Iterable[int]) -> Counter[str]:
    """How the jobs of some numbers end; one that breaks its promise is named."""
    ends: Counter[str] = Counter()
    for seed in seeds:
        try:
            with watched():
                ends[judge(seed)] += 1
        except Exception as error:
            raise AssertionError(f"the job of number {seed}: {error!r}") from error
    return ends


@pytest.mark.parametrize("start", BLOCKS)
def test_random_jobs_keep_their_promises(start: int) -> None:
    ends = judged(judge_one, range(start, start + BLOCK))
    assert ends["released"] > 0.4 * BLOCK, ends


@pytest.mark.parametrize("start", BLOCKS)
def test_random_jobs_keep_their_promises_about_people(start: int) -> None:
    # One in five has columns of all kinds: those are among the jobs above.
    seeds = [seed for seed in range(start, start + BLOCK) if seed % EVERY != EVERY - 1]
    ends = judged(judge_people, seeds)
    assert ends["released"] > 0.6 * len(seeds), ends


@pytest.mark.parametrize("start", [0, pytest.param(60, marks=pytest.mark.slow)])
def test_random_jobs_with_lists_and_maskings_keep_their_promises(start: int) -> None:
    ends = judged(judge_other, range(start, start + 60))
    assert ends["released"] > 30, ends


def test_every_option_is_drawn() -> None:
    assert what_was_drawn(range(1200)) == [], "random jobs never say this: draw it, or say in NOT_DRAWN why not"
    assert not [name for name in NOT_DRAWN if name not in all_there_is()]
