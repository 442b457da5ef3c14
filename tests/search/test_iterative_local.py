"""Full-domain search repeated on what it left out: by hand, by properties, against the plain search, interrupted."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kanopy._core.classes import Domain
from kanopy._errors import Cancelled, HierarchyError, JobError, NoSolution
from kanopy._progress import SILENT, Progress
from kanopy._table.sources import read_table
from kanopy.engine.local import LocalEngine
from kanopy.hierarchy.files.files import find_hierarchies, read_hierarchy
from kanopy.metrics.full_domain import Loss, Precision
from kanopy.privacy.closeness import EqualCloseness
from kanopy.privacy.diversity import DistinctDiversity
from kanopy.privacy.models import KAnonymity
from kanopy.privacy.sizes import AverageRisk
from kanopy.search.full_domain.optimal import Optimal
from kanopy.search.local.cheapest_levels import CheapestLevels
from kanopy.search.local.iterations import LevelsAlone
from kanopy.search.local.iterative_local import IterativeLocal
from kanopy.search.problem import Problem
from tests.search.local_checks import (
    CROSSING,
    check_or_no_solution,
    check_release,
    labels_of_rows,
    letters,
    local_problems,
    permuted,
)
from tests.search.test_best import table

ARX = Path(__file__).resolve().parents[2].parent / "shared" / "data" / "arx_adult"


def published(text: str, algorithm: IterativeLocal, k: int = 2, **rest: float) -> str:
    """The labels of a column of letters, one character each, `-` for suppressed rows."""
    found = algorithm.solve(Problem(letters(text), [KAnonymity(k)], **rest))  # type: ignore[arg-type]
    return "".join(labels[0] if labels else "-" for labels in labels_of_rows(found.recoding))


def test_by_hand() -> None:
    # Round 1 publishes a, b and c at the lowest level; d is left alone and joins what it raises least.
    assert published("aabbccd", IterativeLocal(0.5)) == "aabbyyy"
    # Nothing may be left: one level for all, the middle one; but classes publish what their rows share.
    assert published("aabbccd", IterativeLocal(0.0)) == "xxxxyyy"
    assert published("aabbcc", IterativeLocal(0.0)) == "aabbcc"
    # One round at most: it publishes all rows.
    assert published("aaabcd", IterativeLocal(0.5, rounds=1)) == "xxxxyy"
    # After a, the last three rows are one class (of loss 3), or join what they raise least (2 in all).
    assert published("aaabcd", IterativeLocal(0.5)) == "xxxxyy"
    # Alone, b and d would each lift two rows or more (4/3 and 4/3); together they lose 2.
    assert published("aaabcccd", IterativeLocal(0.5)) == "aaa*ccc*"


def test_left_over_rows_are_suppressed_only_if_that_is_allowed_and_loses_less() -> None:
    # One row of y among many of a: alone it would lift ten rows to the top.
    assert published("a" * 10 + "c", IterativeLocal(0.5), 10, suppression_limit=0.1) == "a" * 10 + "-"
    assert published("a" * 10 + "c", IterativeLocal(0.5), 10) == "*" * 11
    # d costs its neighbours less than it would lose itself.
    assert published("aabbccd", IterativeLocal(0.5), suppression_limit=0.3) == "aabbyyy"


@settings(max_examples=100, deadline=None)
@given(problem=local_problems(), share=st.sampled_from([0.0, 0.5, 0.9]), rounds=st.sampled_from([1, 2, 100]))
def test_releases_are_safe_and_within_limits(problem: Problem, share: float, rounds: int) -> None:
    check_or_no_solution(problem, IterativeLocal(share, rounds).solve)


@settings(max_examples=40, deadline=None)
@given(problem=local_problems(), seed=st.integers(0, 1000))
def test_the_order_of_rows_does_not_matter(problem: Problem, seed: int) -> None:
    found = check_or_no_solution(problem, IterativeLocal().solve)
    order = np.random.default_rng(seed).permutation(problem.domain.rows)
    mixed = Problem(
        permuted(problem.domain, order), problem.models, weights=problem.weights,
        suppression_limit=problem.suppression_limit, lowest_levels=problem.lattice.lowest,
        highest_levels=problem.lattice.highest,
    )  # fmt: skip
    again = check_or_no_solution(mixed, IterativeLocal().solve)
    assert (found is None) == (again is None)
    if found is not None and again is not None:
        before = labels_of_rows(found.recoding)
        assert [before[row] for row in order] == labels_of_rows(again.recoding)


@settings(max_examples=60, deadline=None)
@given(problem=local_problems(), shares=st.lists(st.sampled_from([0.1, 0.5, 0.9]), min_size=1, max_size=4))
def test_rounds_find_what_the_proved_search_finds(problem: Problem, shares: list[float]) -> None:
    """Also in later rounds, when candidates are ruled out by what earlier rounds have seen."""
    models = [model for model in problem.models if model.monotonic_with_suppression]
    rows = np.flatnonzero(problem.domain.tuple_of_row >= 0)
    cheapest = CheapestLevels(problem.lattice)
    for share in shares:
        part = Problem(
            problem.domain.part(rows), models, LevelsAlone(Loss()), weights=problem.weights, suppression_limit=share,
            lowest_levels=problem.lattice.lowest, highest_levels=problem.lattice.highest,
        )  # fmt: skip
        levels = cheapest.find(part)
        try:
            proved = Optimal(threads=1).solve(part, SILENT)
        except NoSolution:
            assert levels is None
            return
        assert levels is not None
        assert part.evaluate(levels).feasible
        assert part.evaluate(levels).score == pytest.approx(proved.score)
        rows = rows[part.recoding(levels).group_of_row < 0]
        if not len(rows):
            return


def test_many_candidates_are_searched_as_far_as_the_budget_goes() -> None:
    problem = Problem(table(300), [KAnonymity(3)])
    known = IterativeLocal().solve(problem)
    import kanopy.search.local.iterative_local as module

    class Narrow(Optimal):
        def __init__(self, **given: float) -> None:
            super().__init__(most_candidates=1, **given)  # type: ignore[arg-type]

    before, module.Optimal = module.Optimal, Narrow  # type: ignore[misc]
    try:
        found = IterativeLocal(seconds_per_round=0.05).solve(problem)
    finally:
        module.Optimal = before  # type: ignore[misc]
    check_release(problem, found)
    assert found.score <= 2 * known.score


def test_more_rows_left_to_the_next_round_lose_less_in_the_end() -> None:
    problem = Problem(table(2000), [KAnonymity(5)])
    scores = [IterativeLocal(share).solve(problem).score for share in (0.0, 0.5, 0.95)]
    assert scores[0] > scores[1] > scores[2]
    assert scores[2] < Optimal().solve(problem, SILENT).score


def test_the_loss_that_guides_it_is_the_problem_s_own() -> None:
    domain = table(800)
    by_loss, by_precision = (
        IterativeLocal().solve(Problem(domain, [KAnonymity(4)], metric)) for metric in (Loss(), Precision())
    )
    assert (by_loss.recoding.group_of_row != by_precision.recoding.group_of_row).any()
    assert by_precision.recoding.classes.smallest >= 4


@pytest.mark.parametrize("model", [DistinctDiversity("ill", 2), EqualCloseness("ill", 0.25)])
def test_other_models_hold(model: DistinctDiversity | EqualCloseness) -> None:
    problem = Problem(table(500), [KAnonymity(2), model])
    found = IterativeLocal().solve(problem)
    check_release(problem, found)
    assert found.recoding.classes.count > 10


def test_an_interrupt_publishes_the_rest_as_one_class() -> None:
    problem = Problem(table(800), [KAnonymity(3)])
    calls = []

    def stop(step: object) -> bool:
        calls.append(step)
        return len(calls) < 12

    found = IterativeLocal().solve(problem, Progress(stop, interval=0.0))
    check_release(problem, found)
    assert any("Stopped" in note for note in found.notes)
    assert IterativeLocal().solve(problem).score < found.score < 1.0
    with pytest.raises(Cancelled):
        IterativeLocal().solve(problem, Progress(lambda step: False))


def test_bad_input_has_its_own_words() -> None:
    for share in (-0.1, 1.0):
        with pytest.raises(JobError, match=r"share of the algorithm .* below 1"):
            IterativeLocal(share)
    with pytest.raises(JobError, match=r"rounds of the algorithm .* at least 1"):
        IterativeLocal(rounds=0)
    with pytest.raises(JobError, match="seconds_per_round of the algorithm"):
        IterativeLocal(seconds_per_round=0)
    with pytest.raises(NoSolution, match="fewer than k = 9"):
        IterativeLocal().solve(Problem(letters("abc"), [KAnonymity(9)]))
    models = [KAnonymity(2), DistinctDiversity("ill", 2)]
    with pytest.raises(NoSolution, match="No allowed generalization is safe"):
        IterativeLocal().solve(Problem(letters("aacc", "rrss"), models, highest_levels=[1]))
    with pytest.raises(JobError, match="risk-average"):
        IterativeLocal().solve(Problem(letters("aabb"), [KAnonymity(2), AverageRisk(0.05)]))
    with pytest.raises(NoSolution, match="1 rows are alike to fewer than k = 2"):
        IterativeLocal().solve(Problem(letters("aabbc"), [KAnonymity(2)], highest_levels=[1]))
    rows = np.array([0, 1, 2], np.int32)
    crossing = Domain(("c",), (CROSSING,), rows[:, None], np.ones(3, np.int64), rows)
    with pytest.raises(HierarchyError, match="nest"):
        IterativeLocal().solve(Problem(crossing, [KAnonymity(2)]))


@pytest.mark.slow
@pytest.mark.skipif(not ARX.is_dir(), reason="needs the ARX Adult example in ../shared/data/arx_adult")
@pytest.mark.parametrize(("k", "incumbent"), [(2, 0.0306), (5, 0.0589), (10, 0.0820), (100, 0.1972)])
def test_it_loses_less_than_the_incumbent(k: int, incumbent: float) -> None:
    """Losses of ARX's own local recoding on its Adult example, nothing suppressed."""
    frame = read_table(ARX / "adult.csv")
    files = find_hierarchies(ARX, frame.columns)
    hierarchies = {name: read_hierarchy(files[name], column=name) for name in frame.columns}
    found = IterativeLocal().solve(Problem(LocalEngine().count(frame, hierarchies).domain, [KAnonymity(k)]))
    assert found.score < incumbent
    assert found.recoding.suppressed_rows == 0
    assert found.recoding.classes.smallest >= k
