"""Full-domain searches against brute force, and the properties every answer must have."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kanopy._core import classes
from kanopy._core.classes import Domain
from kanopy._errors import Cancelled, HierarchyError, JobError, NoSolution
from kanopy._progress import SILENT, Progress
from kanopy.hierarchy.hierarchy import Hierarchy
from kanopy.metrics.full_domain import ClassMetric, metric_named
from kanopy.metrics.release_losses import release_losses
from kanopy.privacy.models import KAnonymity
from kanopy.search.budget import Budget
from kanopy.search.full_domain import exhaustive
from kanopy.search.full_domain.datafly import Datafly
from kanopy.search.full_domain.exhaustive import judge_all
from kanopy.search.full_domain.incognito import Incognito
from kanopy.search.full_domain.level_judge import LevelJudge
from kanopy.search.full_domain.optimal import Optimal, _ByAttributes, _ByClasses, _ByJudgingAll, _ByWalking
from kanopy.search.full_domain.projections import least_suppressed_rows, most_known
from kanopy.search.full_domain.samarati import Samarati
from kanopy.search.judge import LevelJudgement
from kanopy.search.problem import Problem
from tests.search.problems import problems, wide


@settings(max_examples=30, deadline=None)
@given(problems(), st.data())
def test_a_release_has_the_codes_of_its_levels_however_many_tuples_are_lifted_at_once(
    problem: Problem, data: st.DataObject
) -> None:
    domain = problem.domain
    levels = [data.draw(st.integers(0, h.height)) for h in domain.hierarchies]
    gone = np.arange(len(domain.counts)) % 3 == 1
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(classes, "TUPLES_AT_ONCE", data.draw(st.integers(1, 7)))
        made = classes.full_domain_recoding(domain, levels, gone)
    pairs = zip(domain.hierarchies, levels, strict=True)
    expected = [h.level(level).codes[domain.tuples[:, j]].tolist() for j, (h, level) in enumerate(pairs)]
    assert made.codes.T.tolist() == expected
    assert made.group_of_row.tolist() == [-1 if t < 0 or gone[t] else t for t in domain.tuple_of_row.tolist()]


@settings(max_examples=50, deadline=None)
@given(st.lists(st.integers(1, 3), min_size=1, max_size=6), st.data())
def test_the_most_known_of_every_candidate(shape: list[int], data: st.DataObject) -> None:
    known, expected = [], np.zeros(shape, np.int64)
    for _ in range(data.draw(st.integers(0, 6))):
        axes = tuple(data.draw(st.permutations(range(len(shape))))[: data.draw(st.integers(1, 3))])
        sizes = [shape[j] for j in axes]
        count = math.prod(sizes)
        numbers = np.array(data.draw(st.lists(st.integers(0, 9), min_size=count, max_size=count))).reshape(sizes)
        known.append((axes, numbers))
        for place in np.ndindex(*shape):
            expected[place] = max(expected[place], numbers[tuple(place[j] for j in axes)])
    assert most_known(tuple(shape), known).tolist() == expected.tolist()


def brute_force(problem: Problem) -> LevelJudgement | None:
    """Every candidate, grouped from scratch with plain Python."""
    best = None
    domain = problem.domain
    for levels in problem.lattice:
        classes: dict[tuple[int, ...], int] = {}
        for row, count in zip(domain.tuples, domain.counts, strict=True):
            key = tuple(
                int(h.level(level).codes[x]) for h, level, x in zip(domain.hierarchies, levels, row, strict=True)
            )
            classes[key] = classes.get(key, 0) + int(count)
        kept = {key: size for key, size in classes.items() if size >= problem.k}
        suppressed = sum(classes.values()) - sum(kept.values())
        if suppressed > problem.max_suppressed_rows:
            continue
        score = plain_score(problem, levels, kept, suppressed)
        found = LevelJudgement(feasible=True, score=score, suppressed_rows=suppressed, levels=levels, classes=len(kept))
        if found.better_than(best):
            best = found
    return best


def plain_score(problem: Problem, levels: tuple[int, ...], kept: dict[tuple[int, ...], int], suppressed: int) -> float:
    """The metrics written out as in the specification."""
    domain, metric = problem.domain, problem.metric
    n = domain.rows
    out = suppressed + domain.excluded_rows
    if isinstance(metric, ClassMetric):
        if metric.name == "aecs":
            return n / max(1, len(kept) + (out > 0))
        return sum(size * size for size in kept.values()) + n * out
    losses = []
    for j, (h, level) in enumerate(zip(domain.hierarchies, levels, strict=True)):
        sizes = [(key[j], size) for key, size in kept.items()]
        if metric.name == "height":
            losses.append(float(level))
        elif metric.name == "precision":
            losses.append((sum(s for _, s in sizes) * level / max(1, h.height) + out) / n)
        elif metric.name == "entropy":
            marginal = domain.marginals[j]
            inside = int(marginal.sum())
            most = sum(c * math.log2(inside / c) for c in marginal.tolist() if c)
            under = np.bincount(h.level(level).codes, weights=marginal, minlength=h.level(level).size)
            saved = sum(s * math.log2(inside / under[code]) for code, s in sizes)
            excluded = domain.excluded_rows * (most / inside)
            losses.append((most - saved + excluded) / (most + excluded) if most + excluded > 0 else 0.0)
        else:
            covered = sum(s * h.level(level).shares[code] for code, s in sizes) + out
            lowest = n / h.size
            losses.append(max(0.0, (covered - lowest) / (n - lowest)) if n > lowest else 0.0)
    weights = problem.weights
    if metric.name == "height":
        return sum(w * x for w, x in zip(weights, losses, strict=True))
    if metric.name == "loss-geometric":
        return math.prod((1 + x) ** (w / sum(weights)) for w, x in zip(weights, losses, strict=True)) - 1
    return sum(w * x for w, x in zip(weights, losses, strict=True)) / sum(weights)


@settings(max_examples=150, deadline=None)
@given(problems())
def test_optimal_equals_brute_force(problem: Problem) -> None:
    expected = brute_force(problem)
    if expected is None:
        with pytest.raises(NoSolution) as caught:
            Optimal().solve(problem, SILENT)
        assert caught.value.advice
        return
    found = Optimal().solve(problem, SILENT)
    assert found.optimal
    assert found.score == pytest.approx(expected.score, rel=1e-9, abs=1e-9)
    assert found.levels == expected.levels
    assert found.recoding.classes.count == expected.classes
    assert found.recoding.suppressed_rows == expected.suppressed_rows + problem.domain.excluded_rows
    assert found.recoding.classes.smallest >= problem.k or found.recoding.classes.count == 0


@settings(max_examples=60, deadline=None)
@given(problems())
def test_incognito_agrees_and_others_are_feasible(problem: Problem) -> None:
    expected = brute_force(problem)
    if expected is None:
        for algorithm in (Incognito(), Samarati(), Datafly()):
            with pytest.raises(NoSolution):
                algorithm.solve(problem, SILENT)
        return
    incognito = Incognito().solve(problem, SILENT)
    assert incognito.levels == expected.levels
    assert incognito.score == pytest.approx(expected.score, rel=1e-9, abs=1e-9)
    feasible = [levels for levels in problem.lattice if problem.evaluate(levels).feasible]
    samarati = Samarati().solve(problem, SILENT)
    assert samarati.levels in feasible
    assert sum(samarati.levels or ()) == min(sum(levels) for levels in feasible)
    assert Datafly().solve(problem, SILENT).levels in feasible


@settings(max_examples=60, deadline=None)
@given(problems())
def test_all_judged_equals_one_by_one(problem: Problem) -> None:
    everything = judge_all(problem, SILENT)
    scores = everything.scores()
    fast = LevelJudge(problem)
    for number, levels in enumerate(problem.lattice):
        one = problem.evaluate(levels)
        kept, suppressed, _, classes, squares = everything.counts[number]
        assert (kept, suppressed, classes) == (one.classes, one.suppressed_rows, one.all_classes)
        assert squares == one.all_squares
        assert fast.evaluate(levels) == one
        assert scores[number] == pytest.approx(one.score)
    best = everything.best()
    expected = brute_force(problem)
    assert (best.levels if best else None) == (expected.levels if expected else None)


@settings(max_examples=60, deadline=None)
@given(problems(), st.sampled_from([1e-9, 1e-4, 4e-4]))
def test_a_proof_that_ends_early_has_the_best_it_saw_and_a_floor_that_holds(problem: Problem, seconds: float) -> None:
    for each in (problem, problem.changed(suppression_limit=0.6)):
        expected = brute_force(each)
        by_classes = isinstance(each.metric, ClassMetric)
        for kind in (_ByClasses, _ByJudgingAll, _ByWalking) if by_classes else (_ByAttributes, _ByWalking):
            search = kind(each.changed(), Budget(seconds))
            best = search.run(SILENT, 1)
            if search.proved:
                assert (best and best.levels) == (expected and expected.levels)
            elif expected is not None:
                assert min(search.floor, math.inf if best is None else best.score) <= expected.score * (1 + 1e-9)
                assert best is None or best.score >= expected.score * (1 - 1e-9)


@pytest.mark.parametrize(
    ("kind", "metric", "limit"),
    [(_ByAttributes, "loss", 0.02), (_ByClasses, "discernibility", 0.0), (_ByClasses, "aecs", 0.0),
     (_ByWalking, "loss", 0.6), (_ByWalking, "entropy", 0.3)],
)  # fmt: skip
def test_floors_hold_wherever_a_proof_ends(kind: Any, metric: str, limit: float) -> None:
    problem = Problem(wide(5), [KAnonymity(5)], metric_named(metric), suppression_limit=limit)
    least, told = Optimal().solve(problem).score, 0
    for looks in range(1, 120, 4):
        search = kind(problem.changed(), Budget(4e-5 * looks))
        best = search.run(SILENT, 1)
        if not search.proved and (best is None or best.score > least * (1 + 1e-9)):
            assert search.floor <= least * (1 + 1e-9)
            told += search.floor > 0
    assert told


def test_samarati_calls_a_height_the_least_only_if_it_is() -> None:
    problem = Problem(wide(5), [KAnonymity(5)])
    whole, said = Samarati().solve(problem), set()
    least = f"The least height at which a release exists is {sum(whole.levels or ())}."
    assert whole.notes == (least,)
    for looks in range(1, 260, 3):
        found = Samarati(budget_seconds=4e-5 * looks).solve(problem.changed())
        below = f"before heights below {sum(found.levels or ())} were settled" in found.notes[0]
        assert below or (found.notes[0].startswith(least) and sum(found.levels or ()) == sum(whole.levels or ()))
        cut = "before all candidates of that height were judged" in found.notes[0]
        assert below or cut or found.levels == whole.levels
        said.add((below, cut))
    assert said == {(True, False), (False, True), (False, False)}


@pytest.mark.parametrize("metric", ["aecs", "discernibility"])
def test_a_budget_ends_judging_everything_where_rows_may_be_suppressed(
    metric: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    problem = Problem(wide(7), [KAnonymity(5)], metric_named(metric), suppression_limit=0.05)
    whole = Optimal().solve(problem)
    monkeypatch.setattr(exhaustive, "MOST_AT_ONCE", 1000)
    found = [Optimal(budget_seconds=each).solve(problem.changed()) for each in (0.001, 0.005, 0.01, 60)]
    assert [each.optimal for each in found] == [False, False, False, True]
    assert whole.optimal and found[-1].levels == whole.levels and found[-1].judged == problem.lattice.size
    assert all(0 < (each.floor or 0) <= whole.score <= each.score for each in found)
    assert all("None scores less than" in each.notes[0] for each in found[:-1])
    scores, judged = [each.score for each in found], [each.judged for each in found]
    assert scores == sorted(scores, reverse=True) and judged == sorted(judged) and judged[0] < judged[2]


@settings(max_examples=60, deadline=None)
@given(problems())
def test_bounds_never_err_and_coarser_never_has_more_classes(problem: Problem) -> None:
    least = least_suppressed_rows(problem)
    bounds = problem.lower_bounds(least)
    judged = {levels: problem.evaluate(levels) for levels in problem.lattice}
    for levels, one in judged.items():
        place = problem.lattice.place(levels)
        assert least[place] <= one.suppressed_rows
        assert bounds[place] <= one.score + 1e-9
        for j, level in enumerate(levels):
            coarser = judged.get((*levels[:j], level + 1, *levels[j + 1 :]))
            if coarser is not None:
                assert coarser.all_classes <= one.all_classes
                assert coarser.suppressed_rows <= one.suppressed_rows


@settings(max_examples=60, deadline=None)
@given(problems())
def test_losses_of_the_release_equal_the_score(problem: Problem) -> None:
    try:
        found = Optimal().solve(problem, SILENT)
    except NoSolution:
        return
    losses = release_losses(problem.domain, found.recoding, problem.weights, found.levels)
    assert losses[problem.metric.name] == pytest.approx(found.score, abs=1e-9)
    for name in ("loss", "loss-geometric", "precision", "entropy"):
        assert -1e-9 <= losses[name] <= 1 + 1e-9


def _example(rows: int = 400, seed: int = 3) -> Domain:
    rng = np.random.default_rng(seed)
    hs = []
    for j, size in enumerate((12, 8, 5, 3)):
        hs.append(Hierarchy.from_rows([[f"{v}", f"g{v // 3}", f"h{v // 6}", "*"] for v in range(size)], name=f"a{j}"))
    cells = np.stack([rng.integers(0, h.size, rows) ** 2 // h.size for h in hs], axis=1)
    tuples, inverse, counts = np.unique(cells, axis=0, return_inverse=True, return_counts=True)
    return Domain(
        tuple(h.name for h in hs), tuple(hs), tuples.astype(np.int32), counts.astype(np.int64),
        inverse.reshape(-1).astype(np.int32),
    )  # fmt: skip


def test_row_order_does_not_matter() -> None:
    domain = _example()
    order = np.random.default_rng(1).permutation(len(domain.counts))
    shuffled = Domain(
        domain.names, domain.hierarchies, domain.tuples[order], domain.counts[order],
        np.argsort(order)[domain.tuple_of_row].astype(np.int32),
    )  # fmt: skip
    for metric in ("loss", "discernibility"):
        one = Optimal().solve(Problem(domain, [KAnonymity(4)], metric_named(metric), suppression_limit=0.1), SILENT)
        two = Optimal().solve(Problem(shuffled, [KAnonymity(4)], metric_named(metric), suppression_limit=0.1), SILENT)
        assert one.levels == two.levels
        assert one.score == pytest.approx(two.score)


def test_too_many_candidates_become_a_best_effort_search_that_says_so() -> None:
    problem = Problem(_example(), [KAnonymity(3)], suppression_limit=0.05)
    best = Optimal().solve(problem, SILENT)
    found = Optimal(most_candidates=10, budget_seconds=0.5).solve(
        Problem(_example(), [KAnonymity(3)], suppression_limit=0.05), SILENT
    )
    assert not found.optimal
    assert "too many to prove" in found.notes[0]
    assert found.score >= best.score - 1e-12
    assert found.score <= best.score * 1.25
    assert found.recoding.classes.smallest >= 3


def test_a_search_can_be_cancelled() -> None:
    problem = Problem(_example(), [KAnonymity(3)], suppression_limit=0.05)
    with pytest.raises(Cancelled, match="Nothing was written"):
        Optimal().solve(problem, Progress(lambda step: False))


def test_keys_wider_than_one_word_work() -> None:
    rng = np.random.default_rng(0)
    hs = tuple(Hierarchy.from_rows([[f"{v}", f"g{v % 7}", "*"] for v in range(600)], name=f"a{j}") for j in range(7))
    cells = rng.integers(0, 600, (300, 7)).astype(np.int32)
    domain = Domain(tuple(h.name for h in hs), hs, cells, np.ones(300, np.int64), np.arange(300, dtype=np.int32))
    problem = Problem(domain, [KAnonymity(2)], suppression_limit=0.3)
    assert problem.tables.packing.words == 2
    found = Optimal().solve(problem, SILENT)
    expected: LevelJudgement | None = None
    for levels in problem.lattice:
        one = problem.evaluate(levels)
        if one.feasible and one.better_than(expected):
            expected = one
    assert expected is not None
    assert found.levels == expected.levels
    assert found.recoding.classes.smallest >= 2


def test_hierarchies_that_do_not_nest_are_refused() -> None:
    h = Hierarchy.from_rows([["1", "a", "x"], ["2", "a", "y"], ["3", "b", "y"]], name="age", require_nesting=False)
    domain = Domain(
        ("age",), (h,), np.arange(3, dtype=np.int32)[:, None], np.ones(3, np.int64), np.arange(3, dtype=np.int32)
    )
    for algorithm in (Optimal(), Samarati(), Datafly(), Incognito()):
        with pytest.raises(HierarchyError, match="does not nest"):
            algorithm.solve(Problem(domain, [KAnonymity(2)]), SILENT)


def test_bad_limits_weights_and_levels_are_refused() -> None:
    domain = _example(50)
    with pytest.raises(JobError, match="between 0 and 100"):
        Problem(domain, [KAnonymity(2)], suppression_limit=1.5)
    with pytest.raises(JobError, match="Weights"):
        Problem(domain, [KAnonymity(2)], weights=[1, 1, 1])
    with pytest.raises(JobError, match="levels 0 to"):
        Problem(domain, [KAnonymity(2)], highest_levels=[9, 0, 0, 0])
    with pytest.raises(JobError, match="above the highest"):
        Problem(domain, [KAnonymity(2)], lowest_levels=[2, 0, 0, 0], highest_levels=[1, 0, 0, 0])
    with pytest.raises(JobError, match="at least 2"):
        KAnonymity(1)
    with pytest.raises(JobError, match="budget"):
        Optimal(budget_seconds=0)
