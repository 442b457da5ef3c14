"""Some hundred random jobs, judged by the textbook. `make fuzz` runs as many as one likes."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.fuzz.people import judge_one

JOBS = 1000
BLOCK = 100


@pytest.mark.parametrize("start", range(0, JOBS, BLOCK))
def test_random_jobs_keep_their_promises(start: int) -> None:
    ends: Counter[str] = Counter()
    for seed in range(start, start + BLOCK):
        try:
            ends[judge_one(seed)] += 1
        except Exception as error:
            raise AssertionError(f"the job of number {seed}: {error!r}") from error
    assert ends["released"] > 0.4 * BLOCK, ends
