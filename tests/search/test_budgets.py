"""Whatever a search is asked for, it ends: every iteration over a budget is charged for.

A search that found nothing to do, and was charged for nothing, went round for ever.
"""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

import numpy as np
import polars as pl
import pytest

import kanopy
from kanopy._errors import KanopyError, NoSolution
from kanopy._progress import Progress
from kanopy.metrics.full_domain import METRICS
from kanopy.release.prepare import make_problem, prepare
from kanopy.search.algorithms import ALGORITHMS, make_algorithm, takes
from kanopy.search.bound.bound import lower_bound
from kanopy.search.budget import LEAST_SECONDS, Budget
from kanopy.search.problem import SECONDS_EACH, Problem
from tests.quick import QUICK

JOB = kanopy.Hierarchy.from_rows([["nurse", "care", "*"], ["doctor", "care", "*"], ["cook", "food", "*"]], name="job")
NOT_MONOTONIC = (
    "constrained:job:care", "t-equal:ill:0.2", "l-distinct:ill:2", "risk-average:0.1", "delta-disclosure:ill:0.5",
    "delta-presence:0,0.4", "uniqueness:0",
)  # fmt: skip
BUDGETS = (1e-6, 1e-3, 0.02)
MOST_SECONDS = 60
"""A watchdog, in seconds of the processor: a busy machine is no search without an end."""


@contextmanager
def ending() -> Iterator[None]:
    """Fail what does not end."""

    def bark(number: int, frame: FrameType | None) -> None:
        raise AssertionError(f"does not end within {MOST_SECONDS} s of work")

    before = signal.signal(signal.SIGVTALRM, bark)
    signal.setitimer(signal.ITIMER_VIRTUAL, MOST_SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def tiny(seed: int) -> tuple[Problem, np.random.Generator]:
    """A few rows, a few columns, mostly a model that is not monotonic; all of it from one number."""
    draw = np.random.default_rng([seed, 7])
    rows = int(draw.integers(4, 14))
    table = pl.DataFrame(
        {
            "age": draw.integers(20, 20 + int(draw.integers(1, 6)), rows),
            "job": draw.choice(["nurse", "doctor", "cook"], rows).tolist(),
            "ill": draw.choice(["flu", "gout"], rows).tolist(),
        }
    )
    quasi = [["job"], ["age", "job"], ["age", "job"]][int(draw.integers(3))]
    job = kanopy.Job(
        quasi=quasi,
        k=int(draw.integers(2, 4)),
        sensitive=["ill"],
        insensitive=[name for name in ("age", "job") if name not in quasi],
        hierarchies={"job": JOB},
        suppress=float(draw.choice([0.0, 0.3, 0.5, 1.0])),
        metric=str(draw.choice(list(METRICS))) if draw.random() < 0.5 else "loss",
        models=list(draw.choice(NOT_MONOTONIC, int(draw.integers(0, 2)))),
    )
    return make_problem(prepare(table, job, population=table).domain, job), draw


def parameters(name: str, draw: np.random.Generator) -> dict[str, Any]:
    """A small budget of work where an algorithm takes one, so few candidates that none can be proved best, …"""
    found = {} if takes(name, "budget_seconds") else dict(QUICK.get(name, {}))
    if takes(name, "budget_seconds"):
        found["budget_seconds"] = float(draw.choice(BUDGETS))
    if takes(name, "most_candidates"):
        found["most_candidates"] = int(draw.choice([0, 1, 3, 1_000_000]))
    return found


@pytest.mark.parametrize("name", list(ALGORITHMS))
def test_every_search_of_a_tiny_table_ends(name: str) -> None:
    ends = 0
    for seed in range(25):
        said: list[str] = []
        progress = Progress(lambda step, said=said: said.append(step.note), interval=0.0)  # type: ignore[misc]
        with ending():
            try:
                problem, draw = tiny(seed)
                make_algorithm(name, **parameters(name, draw)).solve(problem, progress)
                ends += 1
            except NoSolution as nothing:
                assert nothing.reason
                ends += 1
            except KanopyError as refused:  # a model or a metric that the algorithm does not know
                assert len(str(refused)) > 20
    assert ends, "every job was refused: nothing was tested"


def test_every_bound_of_a_tiny_table_ends() -> None:
    for seed in range(25):
        with ending():
            try:
                problem, draw = tiny(seed)
                found = lower_bound(problem.changed(metric=None), budget_seconds=float(draw.choice(BUDGETS)))
            except KanopyError:
                continue
            assert 0.0 <= found.value <= 1.0


def test_who_spends_nothing_is_charged_all_the_same() -> None:
    whole = Budget(100 * LEAST_SECONDS)
    part = whole.part(10.0)
    looks = 0
    while not part.over:
        looks += 1
        assert looks <= 102
    assert whole.spent == part.spent
    assert whole.cut is False and part.cut


def test_who_spends_is_charged_for_that_alone() -> None:
    work = Budget(1.0)
    for _ in range(10):
        assert not work.over
        work.spend(0.05)
    assert work.spent == pytest.approx(0.5)
    work.spend_up_to(0.2)
    assert work.spent == pytest.approx(0.5), "what was charged for is not given back"
    work.spend_up_to(1.0)
    assert work.over and work.done == 1.0, "a limit met exactly is met"
    assert Budget(0.0).over and Budget(0.0).done == 1.0


def test_what_a_search_within_a_search_judges_is_charged_for() -> None:
    """Rows are put into an order of values first: what was judged of that copy was charged to nobody."""
    table = pl.DataFrame(
        {"age": [(37 * i) % 71 for i in range(200)], "zip": [f"{(61 * i) % 97:02d}" for i in range(200)]}
    )
    job = kanopy.Job(quasi=["age", "zip"], k=5, suppress=0.1)
    problem = make_problem(prepare(table, job).domain, job)
    found = make_algorithm("optimal").solve(problem)
    assert problem.judged == found.judged > 1 and problem.work_seconds > SECONDS_EACH * problem.judged
