"""The classes that `best` starts from: whole, large enough, and never worse for having gone through rounds."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kanopy._arrays import Ints
from kanopy._core.classes import Domain
from kanopy._progress import SILENT, Progress
from kanopy.privacy.models import KAnonymity
from kanopy.search.bound.odd_set_cuts import records_inside
from kanopy.search.budget import Budget
from kanopy.search.local.best import initial_solutions as ways
from kanopy.search.local.best.best import Best
from kanopy.search.local.best.initial_classes import bottom_up
from kanopy.search.local.best.initial_solutions import FROM_ROUNDS, by_rounds
from kanopy.search.local.boxes import Layout, class_runs, lay_out, partition_cost
from kanopy.search.problem import Problem
from tests.search.problems import domains
from tests.search.test_best import table


@settings(max_examples=40, deadline=None)
@given(domains(), st.integers(2, 6), st.sampled_from([None, 1e-9, 0.05]))
def test_rounds_leave_every_item_in_a_class_of_k_and_cost_no_more(domain: Domain, k: int, budget: float | None) -> None:
    if domain.counts.sum() < k:
        return
    problem = Problem(domain, [KAnonymity(k)])
    layout = lay_out(problem)
    start = bottom_up(layout, k, SILENT)
    found = by_rounds(layout, problem, k, start, Budget(budget), SILENT)
    assert (found >= 0).all()
    sizes = np.bincount(found)
    assert (sizes[sizes > 0] >= k).all()
    assert partition_cost(layout, found) <= partition_cost(layout, start) + 1e-9


@pytest.mark.parametrize("k", [FROM_ROUNDS, 30])
def test_rounds_pay_for_larger_k(k: int) -> None:
    problem = Problem(table(3000, width=4), [KAnonymity(k)])
    layout = lay_out(problem)
    start = bottom_up(layout, k, SILENT)
    found = by_rounds(layout, problem, k, start, Budget(None), SILENT)
    assert partition_cost(layout, found) < partition_cost(layout, start)


def test_level_limits_and_too_many_candidates_keep_the_start() -> None:
    domain = table(200, width=2)
    capped = Problem(domain, [KAnonymity(8)], highest_levels=[1, 2], suppression_limit=0.5)
    layout = lay_out(capped)
    start = bottom_up(layout, 8, SILENT)
    assert by_rounds(layout, capped, 8, start, Budget(None), SILENT) is start


def test_best_repeats_by_steps_also_where_rounds_come_first() -> None:
    problem = Problem(table(800), [KAnonymity(20)])
    one, two = Best(steps=2).solve(problem), Best(steps=2).solve(problem)
    assert one.score == two.score
    assert (one.recoding.group_of_row == two.recoding.group_of_row).all()


def test_where_covers_lose_twice_rounds_have_their_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    tried: list[str] = []

    def loses(way: str, stopped: tuple[bool, ...]) -> object:
        def start(layout: Layout, *others: object) -> object:
            tried.append(way)
            best = next(each for each in others if isinstance(each, np.ndarray))
            return (best, *stopped) if stopped else best

        return start

    monkeypatch.setattr(ways, "PRICES_SECONDS_PER_ROW", np.inf)
    monkeypatch.setattr(ways, "by_cover", loses("cover", (False,)))
    monkeypatch.setattr(ways, "by_rounds", loses("rounds", ()))
    problem = Problem(table(200), [KAnonymity(30)])
    layout = lay_out(problem)
    starts, best = ways.Starts(layout, problem, 30, 0), bottom_up(layout, 30, SILENT)
    for seconds in (1.0, 2.0, 5.0, 10.0):
        assert starts.next(best, Budget(None), seconds, SILENT) is best
    assert tried == ["cover", "cover", "rounds"]


def test_a_linear_program_gives_whole_classes_and_more_work_is_never_worse(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = Problem(table(500, seed=3), [KAnonymity(4)])
    layout = lay_out(problem)
    merged = bottom_up(layout, 4, SILENT)
    found = {n: ways.Starts(layout, problem, 4, 0, n).by_prices(merged, Budget(5), SILENT) for n in (1, 2, 8)}
    assert np.unique(found[1], return_counts=True)[1].min() >= 4 and not np.array_equal(found[1], merged)
    assert np.array_equal(found[1], found[2]) and np.array_equal(found[1], found[8])
    # What is proved of classes of six is not proved of classes of four.
    larger, own = ways.Starts(layout, problem, 6, 0), ways.Starts(layout, problem, 4, 0)
    for starts in (larger, own):
        starts.by_prices(merged, Budget(5), SILENT)
    # What is suggested are boxes of at least k rows, and those of the classes before.
    assert own.choice is not None and larger.choice is not None
    held = records_inside(layout.boxes, own.choice.heads, own.choice.levels)
    assert np.add.reduceat(layout.counts[held[1]], held[0][:-1]).min() >= 4
    assert len(own.choice.heads) > len(class_runs(merged)[1])
    assert larger.floor == 0 < own.floor <= Best(budget_seconds=0.5).solve(problem).score
    # Without time for two passes there is nothing to choose by.
    assert ways.Starts(layout, problem, 4, 0).by_prices(merged, Budget(1e-6), SILENT) is merged
    tried: list[int] = []
    by_prices = ways.Starts.by_prices

    def noted(self: ways.Starts, best: Ints, work: Budget, progress: Progress) -> Ints:
        tried.append(len(best))
        return by_prices(self, best, work, progress)

    monkeypatch.setattr(ways.Starts, "by_prices", noted)
    scores = [Best(budget_seconds=each).solve(problem).score for each in (0.02, 0.1, 0.2, 0.3, 0.5, 0.8)]
    assert scores == sorted(scores, reverse=True) and tried
