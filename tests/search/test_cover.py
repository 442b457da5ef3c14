"""The cover for large k: its kernels against plain twins, and what must hold after every round."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kanopy._core.classes import Domain
from kanopy._progress import Progress, Step
from kanopy.privacy.models import KAnonymity
from kanopy.search.budget import Budget
from kanopy.search.local.best import initial_solutions as starts
from kanopy.search.local.best.best import Best
from kanopy.search.local.best.cover import Covering, fold
from kanopy.search.local.best.cover_kernel import ABSENT, best_box, tighten
from kanopy.search.local.best.initial_solutions import COVER_FROM, by_cover
from kanopy.search.local.boxes import box_levels, lay_out, partition_cost
from kanopy.search.local.levels_kernel import few_levels
from kanopy.search.problem import Problem
from tests.kernels import definitions
from tests.search.problems import domains
from tests.search.test_best import table


def covering(domain: Domain, k: int, seed: int = 0) -> Covering:
    layout = lay_out(Problem(domain, [KAnonymity(k)]))
    return Covering(layout.boxes, layout.counts, k, seed)


def check(found: Covering) -> None:
    """Recompute everything from the classes of the records alone."""
    cover = found.cover
    sizes = np.bincount(cover.class_of, weights=found.counts, minlength=len(cover.rows))
    assert (sizes == cover.rows).all()
    alive = np.flatnonzero(sizes > 0)
    assert (sizes[alive] >= found.k).all()
    assert (cover.weight[sizes == 0] == ABSENT).all()
    unused = set(cover.free[: int(cover.state[0])].tolist())
    assert unused == set(np.flatnonzero(sizes == 0).tolist())
    order = np.argsort(cover.class_of, kind="stable").astype(np.int32)
    starts = np.flatnonzero(np.concatenate([[True], np.diff(cover.class_of[order]) > 0])).astype(np.int64)
    _, weights = box_levels(found.boxes, order, starts)
    # Boxes may be looser than their records until they are shrunk, never tighter.
    assert (cover.weight[cover.class_of[order[starts]]] >= weights - 1e-9).all()
    assert cover.paid == pytest.approx(cover.weight[cover.class_of])


@settings(max_examples=40, deadline=None)
@given(domains(), st.integers(2, 6), st.integers(0, 5))
def test_every_round_leaves_a_partition_into_boxes_of_k(domain: Domain, k: int, seed: int) -> None:
    if domain.counts.sum() < k:
        return
    found = covering(domain, k, seed)
    first = found.best_cost
    for _ in found.rounds(3):
        check(found)
    check(found)
    assert found.best_cost <= first + 1e-9
    sizes = np.bincount(found.best, weights=found.counts)
    assert (sizes[sizes > 0] >= k).all()


@settings(max_examples=40, deadline=None)
@given(domains(), st.data())
def test_the_most_rewarding_box_is_that_of_the_plain_twin(domain: Domain, data: st.DataObject) -> None:
    found = covering(domain, 2) if domain.counts.sum() >= 2 else None
    if found is None:
        return
    room = data.draw(st.sampled_from([found.room, max(1, found.room // 2)]))
    desk = found.desk
    cells = few_levels(found.boxes, room, found.random, desk.kept, desk.place, desk.number)
    assert cells <= max(room, 1)
    draw = np.random.default_rng(data.draw(st.integers(0, 99)))
    paid = draw.random(len(found.counts))
    t = data.draw(st.integers(0, len(found.counts) - 1))
    least, k = data.draw(st.sampled_from([0.0, 0.3])), data.draw(st.integers(1, 4))
    levels = [np.full(domain.width, -1, np.int16) for _ in range(3)]
    gains = [
        run(found.boxes, found.folded, found.counts, paid, found.desk, t, least, k, cells, own)
        for run, own in zip((best_box, best_box.plain, definitions.best_box), levels, strict=True)
    ]
    assert gains[0] == gains[1] == pytest.approx(gains[2])
    assert levels[0].tolist() == levels[1].tolist()
    if gains[0] > 1e-6:
        assert levels[0].tolist() == levels[2].tolist() or gains[0] == pytest.approx(gains[2])


@settings(max_examples=30, deadline=None)
@given(domains(), st.integers(0, 9))
def test_shrinking_equals_its_plain_twin(domain: Domain, seed: int) -> None:
    if domain.counts.sum() < 2:
        return
    one, two, three = (covering(domain, 2) for _ in range(3))
    draw = np.random.default_rng(seed)
    classes = draw.integers(0, len(one.cover.rows), len(one.counts)).astype(np.int32)
    for found, run in ((one, tighten), (two, definitions.tighten), (three, tighten.plain)):
        found.cover.class_of[:] = classes
        run(found.boxes, found.folded, found.cover, found.desk)
    assert one.cover.weight == pytest.approx(two.cover.weight)
    assert (one.cover.levels == two.cover.levels).all()
    assert (one.cover.held == two.cover.held).all()
    assert one.cover.paid == pytest.approx(two.cover.paid)
    assert one.cover.paid.tolist() == three.cover.paid.tolist()


def test_it_repeats_by_seed_and_improves() -> None:
    domain = table(600)
    one, two, other = covering(domain, 30), covering(domain, 30), covering(domain, 30, seed=1)
    for each in (one, two, other):
        for _ in each.rounds(4):
            pass
    assert (one.best == two.best).all()
    assert (one.best != other.best).any()
    assert one.best_cost < 0.8 * covering(domain, 30).best_cost


def test_folded_values_tell_records_apart() -> None:
    layout = lay_out(Problem(table(200), [KAnonymity(5)]))
    folded = fold(layout.boxes)
    assert len(np.unique(folded.codes, axis=0)) == layout.records
    assert (folded.codes >= folded.start[:-1]).all() and (folded.codes < folded.start[1:]).all()


def test_a_cover_can_be_stopped_and_keeps_the_best_so_far() -> None:
    problem = Problem(table(600), [KAnonymity(30)])
    layout = lay_out(problem)
    start = np.zeros(len(layout.rows), np.int32)
    seen: list[str] = []

    def stop(step: Step) -> bool:
        seen.append(step.stage)
        return len(seen) < 2

    found, stopped = by_cover(layout, 30, start, Budget(30.0), 0, Progress(stop, interval=0.0))
    assert stopped and seen[-1] == "covering"
    assert partition_cost(layout, found) < partition_cost(layout, start)
    assert np.bincount(found)[np.unique(found)].min() >= 30


def test_best_covers_where_k_is_large_and_a_program_has_too_many_boxes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(starts, "MOST_COMBINATIONS", 10)
    problem = Problem(table(400), [KAnonymity(COVER_FROM)])
    stages: list[str] = []
    found = Best(budget_seconds=0.5).solve(problem, Progress(lambda step: stages.append(step.stage)))
    assert "covering" in stages and "choosing boxes" not in stages
    assert found.recoding.classes.smallest >= COVER_FROM
