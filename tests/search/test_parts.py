"""Large tables in parts: the same release for any number of threads, never worse with more work, stopped cleanly."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from threading import Event

import numpy as np
import pytest

from kanopy._errors import JobError
from kanopy._job.job import Job
from kanopy._progress import Progress
from kanopy.privacy.models import KAnonymity
from kanopy.search.budget import at_once, in_order
from kanopy.search.local.best import parallel_partitions as parts
from kanopy.search.local.best.best import STOPPED, Best
from kanopy.search.local.best.improvement import Improvement
from kanopy.search.local.boxes import lay_out, partition_cost
from kanopy.search.problem import Problem
from tests.search.test_best import table


@pytest.fixture
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parts, "LARGE_ROWS", 400)
    monkeypatch.setattr(parts, "PART_ROWS", 150)


@pytest.mark.usefixtures("small_parts")
@pytest.mark.parametrize("limit", [0.0, 0.1])
def test_any_number_of_threads_gives_the_same_rows(limit: float) -> None:
    problem = Problem(table(700), [KAnonymity(4)], suppression_limit=limit)
    groups = {
        Best(budget_seconds=0.15, threads=n).solve(problem).recoding.group_of_row.tobytes() for n in (1, 2, 8, 1000)
    }
    assert len(groups) == 1


@pytest.mark.usefixtures("small_parts")
@pytest.mark.parametrize("limit", [0.0, 0.1])
def test_more_work_is_never_worse_in_parts(limit: float) -> None:
    problem = Problem(table(700, seed=2), [KAnonymity(4)], suppression_limit=limit)
    scores = [Best(budget_seconds=each).solve(problem).score for each in (0.02, 0.05, 0.1, 0.15, 0.25)]
    assert scores == sorted(scores, reverse=True) and scores[-1] < scores[0]


def test_parts_are_whole_classes_and_what_they_cost_adds_up() -> None:
    layout = lay_out(Problem(table(600), [KAnonymity(3)]))
    class_of = np.repeat(np.arange(200), 3).astype(np.int32)
    class_of[:3] = -1
    items = parts._divided(Improvement(layout, class_of, 3, 0), class_of, 4)
    assert sorted(np.concatenate(items).tolist()) == list(range(3, 600))
    assert len({int(c) for own in items for c in np.unique(class_of[own])}) == sum(
        len(np.unique(class_of[own])) for own in items
    )
    assert max(map(len, items)) - min(map(len, items)) <= 6
    cost = sum(partition_cost(parts.part_of(layout, own), class_of[own]) for own in items)
    assert cost + 3 * layout.suppressed_weight == pytest.approx(partition_cost(layout, class_of))


@pytest.mark.usefixtures("small_parts")
def test_parts_stop_when_asked_and_keep_the_best(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kanopy.search.budget.LOOK_SECONDS", 0.01)
    problem = Problem(table(700), [KAnonymity(4)])
    seen: list[str] = []

    def stop(step: object) -> bool:
        seen.append(step.note)
        return step.stage != "improving"

    found = Best(budget_seconds=60, threads=2).solve(problem, Progress(stop, interval=0.0))
    assert found.notes[-1] == STOPPED and found.recoding.classes.smallest >= 4
    assert any(note.startswith("loss ") for note in seen)


def test_what_fails_in_a_thread_fails_for_the_caller() -> None:
    with pytest.raises(ZeroDivisionError):
        at_once([lambda: 1, lambda: 1 // 0], 2, lambda: None, Event())


def test_threads_of_a_job() -> None:
    job = Job(quasi=["age"], local=True)
    assert job.with_threads(2).parameters == {"threads": 2}
    assert job.replaced(algorithm="datafly", local=False).with_threads(2).parameters == {}
    with pytest.raises(JobError, match="threads must be a whole number of at least 1, not 0"):
        job.with_threads(0)
    with pytest.raises(JobError, match="at least 1"):
        Best(threads=0)


@pytest.mark.parametrize("threads", [1, 2, 8])
def test_tasks_ahead_know_the_same_answers_with_any_number_of_threads(threads: int) -> None:
    taken: list[int] = []

    def tasks() -> Iterator[Callable[[], tuple[int, int]]]:
        for number in range(9):
            yield partial(lambda *both: both, number, len(taken))

    for number, known in in_order(tasks(), threads, lambda: None, 3):
        assert known == max(0, number - 3)
        taken.append(number)
    assert taken == list(range(9))
