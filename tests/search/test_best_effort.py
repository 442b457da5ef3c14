"""Many columns: what is found without a proof, what is proved of it, and what odd problems come to."""

from __future__ import annotations

import functools
import math
import threading
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kanopy._core.classes import Domain
from kanopy._errors import Cancelled, JobError
from kanopy._progress import SILENT, Progress, Step
from kanopy.hierarchy.hierarchy import Hierarchy
from kanopy.metrics.full_domain import Loss
from kanopy.privacy.models import KAnonymity
from kanopy.search import class_tables as tables
from kanopy.search import problem as problem_module
from kanopy.search.budget import Budget, at_once, so_far, usable_threads
from kanopy.search.class_tables import memory_for
from kanopy.search.full_domain import best_effort, level_judge
from kanopy.search.full_domain.best_effort import ManyColumns
from kanopy.search.full_domain.level_judge import BranchAndBound
from kanopy.search.full_domain.optimal import Optimal, least_score, search_for
from kanopy.search.judge import LevelJudgement, ceiling_of
from kanopy.search.problem import Problem
from kanopy.search.solution import Solution
from tests.search.problems import problems, wide


@settings(max_examples=60, deadline=None)
@given(problems())
def test_its_floor_holds_and_its_release_is_one(problem: Problem) -> None:
    exact = search_for(problem, Budget(None)).run(SILENT, 1)
    search = ManyColumns(problem, SILENT, Budget(0.3), least_score)
    top = problem.evaluate(problem.lattice.highest)
    if exact is None or not top.feasible:
        return
    found = search.run()
    search.floor = 0.0
    for proof in search.proofs():
        search.raise_floor(search.proved(proof))
    assert search.floor <= ceiling_of(exact) and found.score >= exact.score - 1e-9 * (1 + exact.score)
    assert found.feasible and problem.evaluate(found.levels).score == pytest.approx(found.score)
    assert len(search.seen) <= problem.lattice.size


@pytest.mark.parametrize("way", ["compiled", "interpreted", "several words", "few tables"])
@settings(max_examples=25, deadline=None)
@given(problem=problems())
def test_branch_and_bound_finds_the_best_and_what_failed(way: str, problem: Problem) -> None:
    with pytest.MonkeyPatch.context() as patch:
        if way == "interpreted":
            patch.setattr(level_judge, "next_feasible", level_judge.next_feasible.plain)  # type: ignore[attr-defined]
            patch.setattr(level_judge, "pick", level_judge.pick.plain)  # type: ignore[attr-defined]
        elif way == "several words":
            patch.setattr(tables, "WORD_BITS", 3)
        elif way == "few tables":
            patch.setattr(level_judge, "MOST_TABLES", 2)
        lattice = problem.lattice
        part = problem.changed()
        every = np.array(list(lattice), np.int32)
        bounds = part.lower_bounds().reshape(-1)
        order = np.argsort(bounds, kind="stable")
        free = [j for j, levels in enumerate(lattice.shape) if levels > 1]
        rows = np.ascontiguousarray(every[order][:, free])
        search = BranchAndBound(part, rows, bounds[order], memory_for(len(problem.domain.counts)))
        best: LevelJudgement | None = None
        for found in search.run(Budget(None), math.inf):
            best = found if found.feasible and found.better_than(best) else best
    exact = search_for(problem, Budget(None)).run(SILENT, 1)
    assert (best is None) == (exact is None) and (best is None or exact is None or best.levels == exact.levels)
    limit, every = problem.max_suppressed_rows, every[order]
    failed = [tuple(every[number].tolist()) for number in search.failed]
    assert all(problem.evaluate(levels).suppressed_rows > limit for levels in failed)
    assert len(set(search.judged.tolist())) == len(search.judged)
    judged_failing = [
        row for row in every[search.judged] if problem.evaluate(tuple(row.tolist())).suppressed_rows > limit
    ]
    assert all(any((row <= np.array(other)).all() for other in failed) for row in judged_failing)


@settings(max_examples=40, deadline=None)
@given(problems(), st.data())
def test_what_is_listed_is_neither_known_nor_finer_than_what_failed(problem: Problem, data: st.DataObject) -> None:
    search = ManyColumns(problem, SILENT, Budget(1.0), least_score)
    lattice = problem.lattice
    for levels in data.draw(st.lists(st.sampled_from(list(lattice)), min_size=1, max_size=8)):
        search.judge(levels)
    start = problem.evaluate(data.draw(st.sampled_from(list(lattice))))
    opened = [
        (j, *sorted(data.draw(st.tuples(*[st.integers(lattice.lowest[j], lattice.highest[j])] * 2))))
        for j in sorted(data.draw(st.sets(st.sampled_from(range(len(lattice.shape))), min_size=1)))
    ]
    task = search.reopening(start, opened)
    ranges = {j: range(low, high + 1) for j, low, high in opened}
    bounds = problem.lower_bounds()
    expected, known = [], []
    for levels in lattice:
        fits = all(x in ranges.get(j, [start.levels[j]]) for j, x in enumerate(levels))
        judged = [each for each in search.known.values() if each.least_suppressed > problem.max_suppressed_rows]
        ruled_out = any(all(x <= y for x, y in zip(levels, each.levels, strict=True)) for each in judged)
        if fits and levels in search.known and search.known[levels].feasible:
            known.append(search.known[levels])
        if fits and not ruled_out and levels not in search.known:
            expected.append(levels)
    best = min(known, key=lambda each: (each.score, sum(each.levels), each.levels), default=None)
    if not task.forced or best is not None:
        ceiling = min(ceiling_of(None if task.forced else start), ceiling_of(best))
        near = 1e-9 * (1 + abs(ceiling))
        expected = [each for each in expected if bounds[lattice.place(each)] <= ceiling + near]
    rows = {tuple(each) for each in search.whole(task, task.levels).tolist()} if len(task.levels) else set()
    assert rows == set(expected) and list(task.bounds) == sorted(task.bounds)


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


@pytest.mark.parametrize("limit", [0.0, 0.03])
def test_columns_reopened_side_by_side_give_the_same_with_any_number_of_threads(
    limit: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(best_effort, "LARGE_TUPLES", 1)
    domain = wide(16)

    def solved(budget: float, threads: int) -> Solution:
        problem = Problem(domain, [KAnonymity(5)], suppression_limit=limit)
        return Optimal(most_candidates=0, budget_seconds=budget, threads=threads).solve(problem)

    found = [solved(0.3, threads) for threads in (1, 2, 8)]
    assert len({(each.levels, each.judged, each.floor) for each in found}) == 1
    assert (found[0].recoding.group_of_row == found[2].recoding.group_of_row).all()
    scores = [solved(budget, 2).score for budget in (0.02, 0.05, 0.1, 0.2, 0.3, 0.4)]
    assert scores == sorted(scores, reverse=True)


def test_a_larger_budget_judges_all_that_a_smaller_one_does(monkeypatch: pytest.MonkeyPatch) -> None:
    """Reopenings begun ahead end where their share of the work does; nothing else may be begun instead."""
    monkeypatch.setattr(best_effort, "LARGE_TUPLES", 1)
    problem = Problem(wide(16), [KAnonymity(5)])
    known: set[bytes] = set()
    for seconds in (0.02, 0.03, 0.05, 0.08, 0.12, 0.2):
        search = ManyColumns(problem.changed(), SILENT, Budget(seconds), least_score)
        search.run()
        assert known <= search.seen
        known = search.seen


def test_threads_make_the_tables_of_problems_of_their_own_side_by_side(monkeypatch: pytest.MonkeyPatch) -> None:
    """Until Python 3.12 all problems shared the lock of a cached property, and threads made one table at a time."""
    both, make = threading.Barrier(2, timeout=20), tables.ClassTables

    def together(*args: Any, **options: Any) -> tables.ClassTables:
        both.wait()
        return make(*args, **options)

    whole = Problem(wide(6), [KAnonymity(5)])
    assert whole.tables is whole.tables and isinstance(Problem.tables, functools.cached_property)
    monkeypatch.setattr(problem_module, "ClassTables", together)
    parts = [whole.changed() for _ in range(2)]
    one, other = at_once([lambda part=part: part.tables for part in parts], 2, lambda: None, threading.Event())
    assert one is not other and one.base.keys.tolist() == other.base.keys.tolist()


def test_threads_are_those_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(best_effort, "LARGE_TUPLES", 1)
    assert usable_threads(7) == 7 and usable_threads(None) >= 1
    used: set[int] = set()
    solve = ManyColumns.solve

    def noted(self: ManyColumns, task: best_effort.Reopening) -> best_effort.Reopening:
        used.add(threading.get_ident())
        return solve(self, task)

    monkeypatch.setattr(ManyColumns, "solve", noted)
    own, problem = {threading.get_ident()}, Problem(wide(16), [KAnonymity(5)])
    Optimal(most_candidates=0, budget_seconds=0.1, threads=1).solve(problem.changed())
    assert used == own
    used.clear()
    Optimal(most_candidates=0, budget_seconds=0.1, threads=2).solve(problem.changed())
    assert 1 <= len(used) <= 2 and not used & own
