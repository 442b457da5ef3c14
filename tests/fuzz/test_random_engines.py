"""Random jobs on every engine: each publishes what memory does. `make fuzz` runs as many as one likes."""

from __future__ import annotations

import pytest

from tests.fuzz.engines import DIFFER, compare, compare_before
from tests.fuzz.orders import judge_order
from tests.fuzz.servers import NotHereError, with_server
from tests.fuzz.test_random_jobs import judged

JOBS = 480
BLOCK = 60
QUICK = 60
"""So many are tried each time; the others with the long tests."""
BLOCKS = [start if start < QUICK else pytest.param(start, marks=pytest.mark.slow) for start in range(0, JOBS, BLOCK)]


@pytest.mark.parametrize("start", BLOCKS)
def test_every_engine_publishes_what_memory_does(start: int) -> None:
    ends = judged(compare, range(start, start + BLOCK))
    assert ends["released"] > 0.25 * BLOCK, ends


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["postgresql", "spark"])
def test_engines_of_their_own_publish_what_memory_does(kind: str) -> None:
    try:
        with with_server(kind) as judge:
            assert judge is not None
            ends = judged(judge, range(40 if kind == "postgresql" else 10))
    except NotHereError as reason:
        pytest.skip(str(reason))
    assert ends["released"] > 2, ends


@pytest.mark.parametrize(
    "start", [0, pytest.param(40, marks=pytest.mark.slow), pytest.param(80, marks=pytest.mark.slow)]
)
def test_the_order_of_rows_does_not_matter(start: int) -> None:
    ends = judged(judge_order, range(start, start + 40))
    assert ends["released"] > 12, ends


@pytest.mark.parametrize(
    "seed",
    [
        pytest.param(
            332, id="a person with two equal rows, somebody without a name, and disclosure of sensitive values"
        ),
        pytest.param(48, id="a sensitive value that means missing"),
        pytest.param(10, id="durations in DuckDB"),
    ],
)
def test_what_was_wrong_once(seed: int) -> None:
    compare_before(seed)


def test_no_algorithm_differs_between_engines() -> None:
    assert not DIFFER
