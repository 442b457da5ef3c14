"""Iyengar's genetic algorithm: a hand-worked optimum, the judge of cuts against the judge of levels, properties."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kanopy
from kanopy._core.classes import Domain
from kanopy._errors import HierarchyError, JobError, NoSolution
from kanopy._progress import SILENT, Progress
from kanopy.hierarchy.hierarchy import Hierarchy
from kanopy.metrics.release_losses import release_losses
from kanopy.privacy.models import KAnonymity, make_models
from kanopy.search.full_domain.optimal import Optimal
from kanopy.search.partition_solution import release_nodes
from kanopy.search.problem import Problem
from kanopy.search.subtree import cut_judge, iyengar
from kanopy.search.subtree.cut_judge import CutJudge
from kanopy.search.subtree.forest import plant_forest
from kanopy.search.subtree.iyengar import Iyengar
from tests.search.clustering_support import make_domain
from tests.search.release_checks import check_release, cut_problems, published, shuffled

LETTERS = Hierarchy.from_rows([["a", "x", "*"], ["b", "x", "*"], ["c", "y", "*"], ["d", "y", "*"]], name="letter")
SEXES = Hierarchy.flat(["f", "m"], name="sex")
QUICK = {"generations": 4, "population": 8}


def table() -> Domain:
    """a f, a f, b f, b m, c m, c m, d m, d f: 8 rows."""
    return make_domain([[0, 0, 1, 1, 2, 2, 3, 3], [0, 0, 0, 1, 1, 1, 1, 0]], [LETTERS, SEXES], ("letter", "sex"))


def best_cut(problem: Problem) -> float:
    """The least score of all cuts, by brute force."""
    forest = plant_forest(problem)
    judge = CutJudge(forest)
    inner = np.flatnonzero(forest.children > 0)
    found = np.inf
    for bits in itertools.product([False, True], repeat=len(inner)):
        opened = np.zeros(forest.nodes, np.bool_)
        opened[inner] = bits
        if (judge.closed_under(opened) == opened).all():
            found = min(found, judge.evaluate(opened).score)
    return found


def test_the_best_cut_by_hand() -> None:
    """k = 2 over sex alone loses ½ · 1; letter a, b, c, d with sex at * loses ½ · 1 as well; nothing finer is safe."""
    problem = Problem(table(), [KAnonymity(2)], weights=[2.0, 1.0])
    found = Iyengar(**QUICK).solve(problem)
    assert published(table(), found) == [(letter, "*") for letter in "aabbccdd"]
    assert found.score == pytest.approx(1 / 3)
    assert best_cut(problem) == pytest.approx(1 / 3)


@settings(max_examples=40, deadline=None)
@given(problem=cut_problems(), data=st.data())
def test_releases_keep_every_promise(problem: Problem, data: st.DataObject) -> None:
    seed = data.draw(st.integers(0, 3))
    try:
        found = Iyengar(seed=seed, **QUICK).solve(problem)
    except NoSolution:
        assert not problem.evaluate(problem.lattice.highest).feasible
        return
    check_release(problem, found, subtree=True)
    assert found.score >= best_cut(problem) - 1e-9
    other = shuffled(problem, data.draw(st.permutations(range(problem.domain.rows))))
    again = Iyengar(seed=seed, **QUICK).solve(other)
    assert sorted(map(str, published(problem.domain, found))) == sorted(map(str, published(other.domain, again)))


@settings(max_examples=60, deadline=None)
@given(problem=cut_problems(), data=st.data())
def test_the_judge_of_cuts_agrees_with_the_judge_of_levels(problem: Problem, data: st.DataObject) -> None:
    """The same rows are suppressed; a cut never scores worse, as it publishes the lowest node over the same rows."""
    levels = tuple(
        data.draw(st.integers(low, high))
        for low, high in zip(problem.lattice.lowest, problem.lattice.highest, strict=True)
    )
    judge = CutJudge(plant_forest(problem))
    ours, theirs = judge.evaluate(judge.level_cut(levels)), problem.evaluate(levels)
    assert ours.feasible == theirs.feasible
    if theirs.feasible and problem.metric.name != "height":
        assert ours.score <= theirs.score + 1e-9
        everything = all((marginal > 0).all() for marginal in problem.domain.marginals)
        if everything and problem.metric.name in ("loss", "loss-geometric", "entropy", "aecs", "discernibility"):
            assert ours.score == pytest.approx(theirs.score, abs=1e-9)


@settings(max_examples=60, deadline=None)
@given(problem=cut_problems(), data=st.data())
def test_the_judge_of_cuts_agrees_with_the_release(problem: Problem, data: st.DataObject) -> None:
    forest = plant_forest(problem)
    judge = CutJudge(forest)
    bits = data.draw(st.lists(st.booleans(), min_size=forest.nodes, max_size=forest.nodes))
    opened = judge.closed_under(np.array(bits))
    fitness = judge.evaluate(opened)
    try:
        release = release_nodes("x", problem, forest.published(judge.records_at(opened)))
    except NoSolution:
        assert not fitness.feasible
        return
    losses = release_losses(problem.domain, release.recoding, problem.weights)
    assert fitness.feasible
    assert fitness.score == pytest.approx(losses.get(problem.metric.name, losses["loss"]), abs=1e-9)


def test_keys_too_long_for_one_word(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = Problem(table(), [KAnonymity(2)])
    judge = CutJudge(plant_forest(problem))
    cuts = [judge.level_cut(levels) for levels in problem.lattice]
    short = [judge.evaluate(cut) for cut in cuts]
    monkeypatch.setattr(cut_judge, "LARGEST_KEY", 3)
    assert [judge.evaluate(cut) for cut in cuts] == short


def random_table(rows: int = 600, seed: int = 3) -> Domain:
    random = np.random.default_rng(seed)
    columns = [
        random.choice(4, rows, p=[0.5, 0.3, 0.18, 0.02]), random.choice(2, rows),
        random.choice(4, rows, p=[0.4, 0.3, 0.2, 0.1]),
    ]  # fmt: skip
    return make_domain(columns, [LETTERS, SEXES, LETTERS.renamed("second")], ("letter", "sex", "second"))


def test_cuts_beat_levels_and_the_best_is_found() -> None:
    problem = Problem(random_table(), [KAnonymity(15)])
    found = Iyengar(generations=40, population=20).solve(problem)
    assert found.score <= Optimal().solve(problem, SILENT).score
    assert found.score == pytest.approx(best_cut(problem), abs=1e-9)


def test_the_same_seed_gives_the_same_release() -> None:
    problem = Problem(random_table(), [KAnonymity(30)], suppression_limit=0.05)
    one, two, other = (Iyengar(seed=seed, **QUICK).solve(problem) for seed in (1, 1, 2))
    assert published(problem.domain, one) == published(problem.domain, two)
    assert one.judged == two.judged
    assert other.judged > 0


def test_a_population_without_progress_is_renewed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(iyengar, "STALE", 1)
    problem = Problem(random_table(), [KAnonymity(15)])
    check_release(problem, Iyengar(generations=30, population=6).solve(problem), subtree=True)


def test_the_budget_ends_the_search() -> None:
    problem = Problem(random_table(), [KAnonymity(15)])
    found = Iyengar(budget_seconds=0.05).solve(problem)
    check_release(problem, found, subtree=True)
    assert not found.notes


def test_stopping_keeps_the_best_so_far() -> None:
    problem = Problem(random_table(), [KAnonymity(15)])
    stages = []
    stop = Progress(lambda step: stages.append(step.stage) or step.stage != "breeding")
    found = Iyengar().solve(problem, stop)
    check_release(problem, found, subtree=True)
    assert "Stopped" in found.notes[0] and "breeding" in stages
    at_once = Iyengar().solve(problem, Progress(lambda step: False))
    assert set(published(problem.domain, at_once)) == {("*", "*", "*")}


def test_a_job_names_it() -> None:
    people = {"age": ["30", "31", "32", "41", "42", "43"] * 3, "sex": ["f", "m"] * 9}
    job = kanopy.Job(quasi=["age", "sex"], k=3, algorithm="iyengar", parameters=QUICK)
    assert kanopy.anonymize(people, job).verification.smallest_class >= 3


@pytest.mark.parametrize(
    ("settings_", "message"),
    [
        ({"budget_seconds": 0}, "more than 0 seconds"),
        ({"generations": -1}, "at least 0"),
        ({"population": 2}, "at least 3"),
    ],
)
def test_bad_settings(settings_: dict[str, float], message: str) -> None:
    with pytest.raises(JobError, match=message):
        Iyengar(**settings_)


def test_bad_input() -> None:
    with pytest.raises(NoSolution, match="highest allowed level"):
        Iyengar(**QUICK).solve(Problem(table(), [KAnonymity(9)]))
    with pytest.raises(JobError, match="does not support the model"):
        Iyengar(**QUICK).solve(Problem(table(), make_models(["uniqueness:0.1"])))
    crossing = Hierarchy.from_rows(
        [["a", "x", "p"], ["b", "x", "q"], ["c", "y", "q"], ["d", "y", "p"]], require_nesting=False
    )
    other = Domain(("letter", "sex"), (crossing, SEXES), table().tuples, table().counts, table().tuple_of_row)
    with pytest.raises(HierarchyError, match="does not nest"):
        Iyengar(**QUICK).solve(Problem(other, [KAnonymity(2)]))
