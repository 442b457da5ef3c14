"""Choosing among boxes: what is open keeps k rows, holds its rows, and costs what the loop says."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kanopy._arrays import Ints
from kanopy._core.classes import Domain
from kanopy._errors import Cancelled
from kanopy._progress import SILENT, Progress, Step
from kanopy.privacy.models import KAnonymity
from kanopy.search.bound.odd_set_cuts import count_inside, number_boxes, records_inside
from kanopy.search.budget import Budget
from kanopy.search.local.best import box_selection as choices
from kanopy.search.local.best.best import Best
from kanopy.search.local.best.box_selection import BoxChoice
from kanopy.search.local.best.choice_kernel import Choice, choose, lighten
from kanopy.search.local.best.initial_classes import bottom_up
from kanopy.search.local.best.moves.anneal_kernel import LOGS
from kanopy.search.local.boxes import Layout, box_levels, lay_out, partition_cost
from kanopy.search.local.joins_kernel import box_nodes, holds
from kanopy.search.problem import Problem
from tests.search.problems import domains
from tests.search.test_best import table


def some_boxes(layout: Layout, k: int, seed: int = 0) -> BoxChoice:
    """The boxes around every record and another, if they hold k rows."""
    others = np.random.default_rng(seed).integers(0, layout.records, layout.records)
    pairs = np.column_stack([np.arange(layout.records), others]).reshape(-1).astype(np.int32)
    levels, weights = box_levels(layout.boxes, pairs, np.arange(0, len(pairs), 2))
    once = number_boxes(layout.boxes, pairs[::2], levels).first
    once = once[np.lexsort(levels[once].T)]
    heads, levels, weights = pairs[::2][once], np.ascontiguousarray(levels[once]), weights[once]
    start, record = records_inside(layout.boxes, heads, levels)
    large = np.add.reduceat(layout.counts[record], start[:-1]) >= k
    return BoxChoice(layout, k, seed, heads[large], np.ascontiguousarray(levels[large]), weights[large])


def opened(layout: Layout, k: int) -> tuple[BoxChoice, Choice]:
    pool = some_boxes(layout, k)
    on = pool._opened(bottom_up(layout, k, SILENT), Budget(None))
    assert on is not None
    return pool, on


def check(layout: Layout, on: Choice, k: int) -> float:
    """Everything that must hold between steps; returns what the rows pay."""
    sizes = np.bincount(on.home, minlength=len(on.weight))
    assert np.array_equal(sizes, on.size) and np.array_equal(sizes > 0, on.is_open != 0)
    assert sizes[sizes > 0].min() >= k
    within = [set(on.record[a:b].tolist()) for a, b in pairwise(on.start.tolist())]
    assert all(t in within[b] for t, b in zip(layout.record_of_item.tolist(), on.home.tolist(), strict=True))
    return float(on.weight[on.home].sum())


@settings(max_examples=30, deadline=None)
@given(domains(most_attributes=3), st.integers(2, 4), st.sampled_from([0.0, 0.3, 2.0]))
def test_every_change_keeps_k_rows_in_boxes_that_hold_them(domain: Domain, k: int, heat: float) -> None:
    if domain.counts.sum() < k:
        return
    layout = lay_out(Problem(domain, [KAnonymity(k)]))
    _, on = opened(layout, k)
    _, twin = opened(layout, k)
    assert check(layout, on, k) == pytest.approx(partition_cost(layout, bottom_up(layout, k, SILENT)))
    random, other, stats = np.array([7], np.uint64), np.array([7], np.uint64), np.zeros(4, np.int64)
    for _ in range(4):
        before = check(layout, on, k)
        gained = choose(on, k, heat, 5, random, LOGS, stats)
        assert check(layout, on, k) == pytest.approx(before + gained)
        lighter = lighten(on, layout.record_of_item, k, 5, random, stats)
        assert lighter <= 0 and check(layout, on, k) == pytest.approx(before + gained + lighter)
        assert choose.plain(twin, k, heat, 5, other, LOGS, stats) == gained  # type: ignore[attr-defined]
        assert lighten.plain(twin, layout.record_of_item, k, 5, other, stats) == lighter  # type: ignore[attr-defined]
        assert np.array_equal(on.home, twin.home) and np.array_equal(on.state, twin.state) and random[0] == other[0]


@settings(max_examples=20, deadline=None)
@given(domains(most_attributes=3))
def test_boxes_hold_the_records_they_say_by_rising_weight(domain: Domain) -> None:
    if domain.counts.sum() < 2:
        return
    layout = lay_out(Problem(domain, [KAnonymity(2)]))
    pool, on = opened(layout, 2)
    assert np.array_equal(np.sort(on.weight), on.weight)
    by_weight, nodes = np.argsort(pool.weights, kind="stable"), box_nodes(layout.joins, pool.heads, pool.levels)
    assert len(np.unique(nodes, axis=0)) == len(nodes)
    assert np.array_equal(count_inside(layout.boxes, pool.heads, pool.levels)[by_weight], np.diff(on.start))
    for place, b in enumerate(by_weight.tolist()):
        inside = [t for t in range(layout.records) if holds(layout.joins, nodes, b, layout.joins.cells, t)]
        assert sorted(on.record[on.start[place] : on.start[place + 1]].tolist()) == inside
    for t in range(layout.records):
        around = on.around[on.at[t] : on.at[t + 1]].tolist()
        assert around == [b for b in range(len(on.weight)) if t in on.record[on.start[b] : on.start[b + 1]]]


def brute_force(weights: list[float], inside: list[set[int]], rows: int, k: int) -> float:
    """The least that rows pay, over all ways to give each a box."""
    best = np.inf
    sizes = [0] * len(weights)

    def place(row: int, paid: float) -> None:
        nonlocal best
        if paid >= best:
            return
        if row == rows:
            if all(size == 0 or size >= k for size in sizes):
                best = paid
            return
        for b, held in enumerate(inside):
            if row in held:
                sizes[b] += 1
                place(row + 1, paid + weights[b])
                sizes[b] -= 1

    place(0, 0.0)
    return best


@pytest.mark.parametrize("seed", range(4))
def test_the_best_choice_is_found_on_small_tables(seed: int) -> None:
    layout = lay_out(Problem(table(12, seed=seed, width=2), [KAnonymity(3)]))
    pool, on = opened(layout, 3)
    inside = [set(on.record[a:b].tolist()) for a, b in pairwise(on.start.tolist())]
    items = [{i for i, t in enumerate(layout.record_of_item.tolist()) if t in held} for held in inside]
    least = brute_force(on.weight.tolist(), items, len(on.home), 3)
    found, stopped = pool.search(bottom_up(layout, 3, SILENT), Budget(0.1), SILENT, 0.0)
    assert stopped is None and partition_cost(layout, found) <= least + 1e-9


def test_more_is_found_than_by_merging_and_the_same_again() -> None:
    problem = Problem(table(600, seed=5), [KAnonymity(5)])
    layout = lay_out(problem)
    merged = bottom_up(layout, 5, SILENT)
    found = [some_boxes(layout, 5).search(merged, Budget(0.3), SILENT, 0.0)[0] for _ in range(2)]
    assert np.array_equal(*found)
    assert np.unique(found[0], return_counts=True)[1].min() >= 5
    assert partition_cost(layout, found[0]) < 0.95 * partition_cost(layout, merged)


def test_who_interrupts_gets_the_best_so_far() -> None:
    problem = Problem(table(600, seed=5), [KAnonymity(5)])
    layout = lay_out(problem)
    merged = bottom_up(layout, 5, SILENT)
    said: list[str] = []

    def until_lower(step: Step) -> bool:
        said.append(step.note)
        return len(said) < 20

    found, stopped = some_boxes(layout, 5).search(merged, Budget(20), Progress(until_lower, interval=0.0), 0.0)
    assert isinstance(stopped, Cancelled) and "loss" in said[0]
    assert partition_cost(layout, found) < partition_cost(layout, merged)


def test_rows_in_no_class_stay_out() -> None:
    layout = lay_out(Problem(table(300, seed=2), [KAnonymity(3)]))
    classes = bottom_up(layout, 3, SILENT).copy()
    out: Ints = np.flatnonzero(classes == classes[0]).astype(np.int32)
    classes[out] = -1
    found, _ = some_boxes(layout, 3).search(classes, Budget(0.1), SILENT, 0.0)
    assert np.array_equal(found < 0, classes < 0)
    assert np.unique(found[found >= 0], return_counts=True)[1].min() >= 3


def test_without_room_or_time_classes_stay_as_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    layout = lay_out(Problem(table(300, seed=2), [KAnonymity(3)]))
    merged = bottom_up(layout, 3, SILENT)
    assert some_boxes(layout, 3).search(merged, Budget(1e-9), SILENT, 0.0)[0] is merged
    monkeypatch.setattr(choices, "MOST_HELD", 10)
    assert some_boxes(layout, 3).search(merged, Budget(1.0), SILENT, 0.0)[0] is merged


def test_stopping_while_boxes_are_chosen_publishes_what_was_found() -> None:
    problem = Problem(table(500, seed=3), [KAnonymity(4)])
    stages: list[str] = []

    def while_choosing(step: Step) -> bool:
        stages.append(step.stage)
        return stages.count("choosing boxes") < 3

    found = Best(budget_seconds=20).solve(problem, Progress(while_choosing, interval=0.0))
    assert any("Stopped before the budget" in note for note in found.notes)
    assert found.recoding.classes.sizes.min() >= 4 and stages[-1] != "improving"
