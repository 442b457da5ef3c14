"""The lower bound: below the optimum found by brute force, whatever the limits; exact; interruptible."""

from __future__ import annotations

import itertools
import time
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kanopy.search.bound.bound as bound_module
from kanopy._core.classes import Domain
from kanopy._errors import JobError
from kanopy._progress import Progress
from kanopy.hierarchy.hierarchy import Hierarchy
from kanopy.metrics.full_domain import metric_named
from kanopy.privacy import DistinctDiversity, KAnonymity
from kanopy.search.bound import box_enumeration as walks
from kanopy.search.bound import certificate
from kanopy.search.bound.bound import lower_bound
from kanopy.search.bound.certificate import Allowances, WholeAllowances, certify, find_dishonest
from kanopy.search.bound.level_chains import ChainLevel, make_level_chains
from kanopy.search.local.best.best import Best
from kanopy.search.problem import Problem
from tests.search.local_problems import partitions
from tests.search.problems import hierarchies
from tests.search.test_best import table


@st.composite
def small_problems(draw: st.DrawFn) -> Problem:
    """Up to six rows, some more excluded; weights, level limits and suppression of any kind."""
    hs = tuple(draw(hierarchies(f"a{j}")) for j in range(draw(st.integers(1, 3))))
    rows = draw(st.integers(3, 6))
    excluded = draw(st.sampled_from([0, 0, 1]))
    cells = np.array([[draw(st.integers(0, h.size - 1)) for h in hs] for _ in range(rows)], np.int32)
    tuples, inverse, counts = np.unique(cells, axis=0, return_inverse=True, return_counts=True)
    of_row = np.concatenate([np.full(excluded, -1), inverse.reshape(-1)]).astype(np.int32)
    domain = Domain(tuple(h.name for h in hs), hs, tuples.astype(np.int32), counts.astype(np.int64), of_row)
    lowest = [draw(st.sampled_from([0, 0, min(1, h.height)])) for h in hs]
    highest = [
        draw(st.sampled_from([h.height, h.height, max(low, h.height - 1)])) for h, low in zip(hs, lowest, strict=True)
    ]
    weights = [draw(st.sampled_from([1.0, 0.5, 3.0, 0.0, 1 / 3])) for _ in hs]
    return Problem(
        domain,
        [KAnonymity(k)] if (k := draw(st.integers(1, 3))) > 1 else [],
        weights=weights if sum(weights) > 0 else None,
        suppression_limit=draw(st.sampled_from([0.0, 0.3, 1.0])),
        lowest_levels=lowest,
        highest_levels=highest,
    )


def exact_optimum(problem: Problem) -> Fraction | None:
    """The least loss of any release, in fractions and straight from the hierarchies; `None` if there is none."""
    domain = problem.domain
    weights = [Fraction(w) for w in problem.weights]
    leaves = domain.tuples[domain.tuple_of_row[domain.tuple_of_row >= 0]]
    shares = [w / sum(weights) if h.size > 1 else Fraction(0) for w, h in zip(weights, domain.hierarchies, strict=True)]

    def cost(block: list[int]) -> Fraction | None:
        total = Fraction(0)
        for j, h in enumerate(domain.hierarchies):
            for level in range(problem.lattice.lowest[j], problem.lattice.highest[j] + 1):
                nodes = {int(h.table[level, leaves[i, j]]) for i in block}
                if len(nodes) == 1:
                    total += shares[j] * (int(h.leaf_counts[nodes.pop()]) - 1) / max(1, h.size - 1)
                    break
            else:
                return None
        return total * len(block)

    items, best = range(len(leaves)), None
    for gone in range(min(problem.max_suppressed_rows, len(leaves)) + 1):
        for suppressed in itertools.combinations(items, gone):
            kept = [i for i in items if i not in suppressed]
            for partition in partitions(kept, problem.k):
                costs = [cost(block) for block in partition]
                if None in costs:
                    continue
                total = sum(costs, Fraction(0)) + (gone + domain.excluded_rows) * sum(shares, Fraction(0))
                best = total if best is None or total < best else best
    return None if best is None else best / domain.rows


@settings(max_examples=50, deadline=None)
@given(small_problems(), st.sampled_from([10**6, 4, 1]))
def test_the_bound_is_never_above_the_optimum(problem: Problem, combinations: int) -> None:
    optimum = exact_optimum(problem)
    before, bound_module.MOST_COMBINATIONS = bound_module.MOST_COMBINATIONS, combinations
    try:
        found = lower_bound(problem, passes=4)
    finally:
        bound_module.MOST_COMBINATIONS = before
    assert Fraction(found.value) <= found.exact
    assert found.value >= 0
    if optimum is not None:
        assert found.exact <= optimum
    if combinations == 10**6:
        assert found.left_out == ()


def test_the_bound_is_tight_on_most_small_tables() -> None:
    """Prices can miss the optimum (they prove a fractional one), but not by much."""
    ratios = []
    for seed in range(6):
        problem = Problem(table(7, seed, width=2), [KAnonymity(2)])
        optimum = exact_optimum(problem)
        assert optimum is not None
        ratios.append(float(lower_bound(problem, passes=25).exact / optimum))
    assert max(ratios) <= 1
    assert np.mean(ratios) > 0.85


def test_any_further_model_keeps_the_bound_below_its_releases() -> None:
    domain = table(500)
    problem = Problem(domain, [KAnonymity(2), DistinctDiversity("ill", 2)])
    assert 0 < lower_bound(problem, passes=3).value <= Best(steps=3).solve(problem).score


def test_a_limit_proves_what_parts_of_classes_do_not() -> None:
    """Three rows, k = 2: halves of the three pairs would lose 2/9, but only one class has room, which loses 1/3."""
    tree = Hierarchy.from_rows([["a", "*"], ["b", "*"]], name="x")
    cells = np.array([[0, 0, 0], [0, 1, 0], [1, 1, 0]], np.int32)
    domain = Domain(("x", "y", "z"), (tree, tree, tree), cells, np.ones(3, np.int64), np.arange(3, dtype=np.int32))
    problem = Problem(domain, [KAnonymity(2)], weights=[1, 1, 4])
    ladders = make_level_chains(problem, 10)
    assert exact_optimum(problem) == Fraction(1, 3)
    assert certify(problem, np.full(3, 2 / 9), ladders).value <= 2 / 9
    assert 0.32 < lower_bound(problem, passes=30).value <= 1 / 3
    # A pair costs 1, 2/3 more than it weighs; all three cost 5/3, also 2/3 more.
    prices, limit = np.array([2, 1, 2]) / 3, Allowances(np.array([0, 3]), np.arange(3), np.array([2 / 3 + 1e-9]))
    assert certify(problem, prices, ladders, allowances=limit).value == pytest.approx(1 / 3)
    # Without the third row, the set says nothing about the pair of it and the second.
    limit = Allowances(np.array([0, 2]), np.arange(2), np.array([2 / 3 + 1e-9]))
    assert certify(problem, prices, ladders, allowances=limit).value < 0.2
    with pytest.raises(AssertionError, match="twice"):
        certify(problem, prices, ladders, allowances=Allowances(limit.start, limit.tuples * 0, limit.amount))


@settings(max_examples=40, deadline=None)
@given(small_problems(), st.integers(0, 100), st.integers(0, 3))
def test_the_check_finds_exactly_the_rows_in_boxes_that_are_too_dear(problem: Problem, seed: int, count: int) -> None:
    domain, bits = problem.domain, 20
    generator = np.random.default_rng(seed)
    prices = generator.integers(0, 2**19, len(domain.counts))
    ladders = make_level_chains(problem, 10**6)
    sets = [np.flatnonzero(generator.random(len(prices)) < 0.8) for _ in range(count)]
    start = np.cumsum([0, *map(len, sets)])
    amount = generator.random(count)
    limits = WholeAllowances(problem, Allowances(start, np.concatenate([[], *sets]).astype(np.int64), amount), bits)
    assert limits.paid == sum(
        int(a * 2**bits) * (int(domain.counts[each].sum()) // problem.k) for a, each in zip(amount, sets, strict=True)
    )
    found = find_dishonest(problem, prices, bits, ladders, limits=limits)
    weights = [Fraction(w) for w in problem.weights]
    expected = np.zeros(len(prices), np.bool_)
    ranges = [range(low, high + 1) for low, high in zip(problem.lattice.lowest, problem.lattice.highest, strict=True)]
    for levels in itertools.product(*ranges):
        inside: dict[tuple[int, ...], list[int]] = {}
        for i, leaves in enumerate(domain.tuples.tolist()):
            box = tuple(int(h.table[z, v]) for h, z, v in zip(domain.hierarchies, levels, leaves, strict=True))
            inside.setdefault(box, []).append(i)
        for box, members in inside.items():
            rows = sorted((int(prices[i]) for i in members for _ in range(int(domain.counts[i]))), reverse=True)
            whole = 0
            for h, w, node in zip(domain.hierarchies, weights, box, strict=True):
                if h.size > 1:
                    whole += int(w / sum(weights) * (int(h.leaf_counts[node]) - 1) / (h.size - 1) * 2**bits)
            within = [int(a * 2**bits) for a, each in zip(amount, sets, strict=True) if {*members} <= {*each.tolist()}]
            sizes = range(problem.k, min(len(rows), 2 * problem.k - 1) + 1)
            if any(sum(rows[:size]) > size * whole + sum(within) for size in sizes):
                expected[members] = True
    np.testing.assert_array_equal(found, expected)


def test_prices_that_promise_too_much_are_lowered() -> None:
    problem = Problem(table(60, width=2), [KAnonymity(3)])
    ladders = make_level_chains(problem, 10**6)
    proof = certify(problem, np.full(len(problem.domain.counts), 0.9), ladders)
    assert not find_dishonest(problem, proof.prices, proof.bits, ladders).any()
    assert proof.value <= Best(steps=5).solve(problem).score
    with pytest.raises(AssertionError, match="rung"):
        certify(problem, np.zeros(len(problem.domain.counts)), ((ChainLevel(0, 0),), *ladders[1:]))


def test_the_bound_grows_with_passes_and_holds_for_a_real_search() -> None:
    problem = Problem(table(1200), [KAnonymity(4)])
    few, many = lower_bound(problem, passes=1), lower_bound(problem, passes=8)
    found = Best(steps=20).solve(problem)
    assert 0 < few.value <= many.value <= found.score
    assert list(many.history) == sorted(many.history)
    assert many.history[-1] == pytest.approx(many.value, rel=1e-9)
    assert many.gap(found.score) < 0.2
    assert many.checked == 81
    allowed = many.allowances
    rows = np.add.reduceat(problem.domain.counts[allowed.tuples], allowed.start[:-1])
    proved = many.prices @ problem.domain.counts - allowed.amount @ (rows // problem.k)
    assert len(rows) > 0 and proved / problem.domain.rows == pytest.approx(many.value)
    assert lower_bound(problem, passes=8).exact == many.exact


def test_a_budget_alone_goes_on_until_the_prices_are_the_best() -> None:
    problem = Problem(table(300, width=2), [KAnonymity(3)])
    few, found = lower_bound(problem), lower_bound(problem, budget_seconds=20)
    assert few.passes <= found.passes < 200
    assert few.value <= found.value <= Best(steps=10).solve(problem).score


def test_any_number_of_threads_proves_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(walks, "NODE_VISITS", 1)
    monkeypatch.setattr(certificate, "TOGETHER", 2)
    problem = Problem(table(500, width=4), [KAnonymity(3)])
    found = {lower_bound(problem, passes=3, threads=n).prices.tobytes() for n in (1, 2, 8, 1000)}
    assert len(found) == 1


def test_too_many_level_combinations_join_levels(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = Problem(table(300, width=4), [KAnonymity(3)])
    whole = lower_bound(problem, passes=4)
    monkeypatch.setattr(bound_module, "MOST_COMBINATIONS", 30)
    part = lower_bound(problem, passes=4)
    assert part.left_out and part.checked <= 30
    assert 0 < part.value < whole.value <= Best(steps=10).solve(problem).score
    assert whole.left_out == ()


def test_a_budget_goes_from_few_levels_to_more(monkeypatch: pytest.MonkeyPatch) -> None:
    """Levels joined at first because time seemed short are taken apart again when passes turn out to be quick."""
    problem = Problem(table(600, width=4), [KAnonymity(3)])
    lower_bound(problem, passes=1)
    monkeypatch.setattr(bound_module, "VISITS_PER_SECOND", 600.0)
    found = lower_bound(problem, budget_seconds=20)
    assert found.left_out == ()
    assert list(found.history) == sorted(found.history)
    assert found.value > lower_bound(problem, passes=2).value
    assert found.value <= Best(steps=10).solve(problem).score


def test_many_attributes_are_manageable() -> None:
    problem = Problem(table(400, width=14), [KAnonymity(3)])
    found = lower_bound(problem, passes=2, budget_seconds=0.2)
    assert found.left_out
    assert 0 <= found.value <= Best(steps=1).solve(problem).score


def test_a_stop_gives_what_was_proved_so_far() -> None:
    problem = Problem(table(1500), [KAnonymity(3)])
    seen: list[str] = []

    def stop(step: object) -> bool:
        seen.append(str(step))
        return "bound 0." not in seen[-1]

    found = lower_bound(problem, passes=50, progress=Progress(stop, interval=0.0))
    assert found.value > 0 and found.passes < 50
    early = lower_bound(problem, passes=50, progress=Progress(lambda step: False, interval=0.0))
    assert (early.value, early.passes) == (0.0, 0)


def test_ctrl_c_gives_what_was_proved_so_far() -> None:
    def interrupt(step: object) -> None:
        if "bound 0." in str(step):
            raise KeyboardInterrupt

    found = lower_bound(Problem(table(1500), [KAnonymity(3)]), passes=50, progress=Progress(interrupt, interval=0.0))
    assert found.value > 0 and found.passes < 50


def test_the_budget_is_kept() -> None:
    problem = Problem(table(5000), [KAnonymity(5)])
    lower_bound(problem, passes=1)
    begun = time.process_time()
    found = lower_bound(problem, passes=100_000, budget_seconds=1.0)
    assert time.process_time() - begun < 3.0
    assert found.value > 0


def test_bad_requests_are_refused() -> None:
    problem = Problem(table(30), [KAnonymity(2)])
    with pytest.raises(JobError, match="pass"):
        lower_bound(problem, passes=0)
    with pytest.raises(JobError, match="budget"):
        lower_bound(problem, budget_seconds=0)
    with pytest.raises(JobError, match=r"'loss'.*'discernibility'"):
        lower_bound(Problem(table(30), [KAnonymity(2)], metric_named("discernibility")))
