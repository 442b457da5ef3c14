"""Many columns: what is found without a proof, what is proved of it, and what odd problems come to."""

from __future__ import annotations

import threading

import numpy as np
import pytest
from hypothesis import given, settings

from kanopy._core.classes import Domain
from kanopy._errors import Cancelled, JobError
from kanopy._progress import SILENT, Progress, Step
from kanopy.hierarchy.hierarchy import Hierarchy
from kanopy.metrics.full_domain import Loss
from kanopy.privacy.models import KAnonymity
from kanopy.search.full_domain import best_effort
from kanopy.search.full_domain.best_effort import ManyColumns
from kanopy.search.full_domain.optimal import Optimal, least_score, search_for
from kanopy.search.judge import ceiling_of
from kanopy.search.problem import Problem
from kanopy.search.work import Work, so_far, usable_threads
from tests.search.problems import problems, wide


@settings(max_examples=60, deadline=None)
@given(problems())
def test_its_floor_holds_and_its_release_is_one(problem: Problem) -> None:
    exact = search_for(problem, Work(None)).run(SILENT, 1)
    search = ManyColumns(problem, SILENT, Work(0.3), least_score)
    top = problem.evaluate(problem.lattice.highest)
    if exact is None or not top.feasible:
        return
    found = search.run()
    search.raise_floor()
    assert search.floor <= ceiling_of(exact) and found.score >= exact.score - 1e-9 * (1 + exact.score)
    assert found.feasible and problem.evaluate(found.levels).score == pytest.approx(found.score)
    assert len(search.known) <= problem.lattice.size


def test_a_few_columns_are_solved_exactly() -> None:
    problem = Problem(wide(7), [KAnonymity(5)], suppression_limit=0.02)
    exact = Optimal().solve(problem, SILENT)
    found = Optimal(most_candidates=1, budget_seconds=2).solve(problem, SILENT)
    assert found.score == pytest.approx(exact.score) and not found.optimal
    assert found.floor is not None and 0 < found.floor <= exact.score + 1e-12
    assert exact.gap == 0 and found.gap == pytest.approx(1 - found.floor / found.score)


def test_many_columns_end_with_a_gap_and_show_it_falling() -> None:
    steps: list[Step] = []
    problem = Problem(wide(45), [KAnonymity(4)])
    assert problem.lattice.size > 2**63
    found = Optimal(budget_seconds=1.5).solve(problem, Progress(steps.append, interval=0.0))
    assert found.recoding.classes.smallest >= 4 and found.floor is not None and 0 < found.floor <= found.score
    notes = [step.note for step in steps if "at least" in step.note]
    assert notes and any("at least 0.0000" not in note for note in notes)
    assert "too many to prove" in found.notes[0] and "None scores less than" in found.notes[0]
    assert found.gap == pytest.approx(1 - found.floor / found.score) and found.gap > 0.01


@pytest.mark.parametrize("refusal", [Cancelled("stopped"), KeyboardInterrupt()])
@pytest.mark.parametrize("tuples", [1, best_effort.LARGE_TUPLES])
def test_who_stops_it_keeps_the_best_so_far(
    refusal: BaseException, tuples: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(best_effort, "LARGE_TUPLES", tuples)
    steps: list[Step] = []

    def stop(step: Step) -> None:
        steps.append(step)
        if len(steps) > 40:
            raise refusal

    problem = Problem(wide(16), [KAnonymity(5)])
    found = Optimal(most_candidates=0, budget_seconds=20, threads=2).solve(problem, Progress(stop, interval=0.0))
    assert found.recoding.classes.smallest >= 5 and not found.optimal and found.score < 1
    assert "judged before it was stopped" in found.notes[0] and so_far("loss", found.score) in steps[-1].note


def test_a_budget_also_ends_a_proof() -> None:
    problem = Problem(wide(9), [KAnonymity(5)], suppression_limit=0.02)
    found = Optimal(budget_seconds=0.001).solve(problem, SILENT)
    assert not found.optimal and "before the proof was complete" in found.notes[0]
    assert found.floor is not None and found.floor <= found.score
    assert Optimal().solve(problem, SILENT).optimal


@pytest.mark.parametrize("most", [0, 1_000_000])
def test_odd_problems_have_obvious_answers(most: int) -> None:
    one = wide(1)
    flat = tuple(Hierarchy.from_rows([[f"v{v}"] for v in range(h.size)], name=h.name) for h in wide(3).hierarchies)
    same = np.zeros((1, 3), np.int32)
    constant = Domain(("q0", "q1", "q2"), wide(3).hierarchies, same, np.array([40]), np.zeros(40, np.int32))
    level = Domain(("q0", "q1", "q2"), flat, same, np.array([40]), np.zeros(40, np.int32))
    for domain in (one, constant, level):
        for budget in (1e-3, 0.2):
            problem = Problem(domain, [KAnonymity(5)], Loss())
            found = Optimal(most_candidates=most, budget_seconds=budget).solve(problem, SILENT)
            assert found.recoding.classes.smallest >= 5
            assert domain is one or found.levels == (0, 0, 0)


def test_threads_are_one_or_more_and_many_are_as_good_as_one() -> None:
    with pytest.raises(JobError, match="at least 1"):
        Optimal(threads=0)
    domain = wide(6)
    levels = {Optimal(threads=threads).solve(Problem(domain, [KAnonymity(5)])).levels for threads in (1, 2, 1000)}
    assert len(levels) == 1


def test_columns_reopened_side_by_side_give_the_same_with_any_number_of_threads(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(best_effort, "LARGE_TUPLES", 1)
    domain = wide(16)
    found = [
        Optimal(most_candidates=0, budget_seconds=0.4, threads=n).solve(Problem(domain, [KAnonymity(5)]))
        for n in (1, 2, 8)
    ]
    assert len({(each.levels, each.judged, each.floor) for each in found}) == 1
    scores = [
        Optimal(most_candidates=0, budget_seconds=each, threads=2).solve(Problem(domain, [KAnonymity(5)])).score
        for each in (0.05, 0.1, 0.2, 0.4, 0.6)
    ]
    assert scores == sorted(scores, reverse=True)


def test_a_larger_budget_judges_all_that_a_smaller_one_does(monkeypatch: pytest.MonkeyPatch) -> None:
    """Reopenings begun ahead end where their share of the work does; nothing else may be begun instead."""
    monkeypatch.setattr(best_effort, "LARGE_TUPLES", 1)
    problem = Problem(wide(16), [KAnonymity(5)])
    known: set[tuple[int, ...]] = set()
    for seconds in (0.02, 0.03, 0.05, 0.08, 0.12, 0.2):
        search = ManyColumns(problem.changed(), SILENT, Work(seconds), least_score)
        search.run()
        assert known <= set(search.known)
        known = set(search.known)


def test_threads_are_those_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(best_effort, "LARGE_TUPLES", 1)
    assert usable_threads(7) == 7 and usable_threads(None) >= 1
    used: set[int] = set()
    reopened = ManyColumns.reopened

    def noted(self: ManyColumns, task: best_effort.Reopening) -> best_effort.Reopening:
        used.add(threading.get_ident())
        return reopened(self, task)

    monkeypatch.setattr(ManyColumns, "reopened", noted)
    own, problem = {threading.get_ident()}, Problem(wide(16), [KAnonymity(5)])
    Optimal(most_candidates=0, budget_seconds=0.1, threads=1).solve(problem.changed())
    assert used == own
    used.clear()
    Optimal(most_candidates=0, budget_seconds=0.1, threads=2).solve(problem.changed())
    assert 1 <= len(used) <= 2 and not used & own
