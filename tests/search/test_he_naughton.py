"""Top-down local generalization: by hand, by properties, with models, interrupted, and its bad inputs."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings

from kanopy._core.classes import Domain
from kanopy._errors import Cancelled, HierarchyError, JobError, NoSolution
from kanopy._progress import Progress
from kanopy.privacy.closeness import EqualCloseness
from kanopy.privacy.diversity import DistinctDiversity
from kanopy.privacy.models import KAnonymity
from kanopy.privacy.sizes import AverageRisk
from kanopy.search.algorithms import make_algorithm
from kanopy.search.local.he_naughton import HeNaughton
from kanopy.search.problem import Problem
from tests.search.clustering_support import make_domain
from tests.search.local_checks import (
    CROSSING,
    LETTERS,
    check_or_no_solution,
    check_release,
    labels_of_rows,
    letters,
    local_problems,
)
from tests.search.test_best import table


def published(problem: Problem) -> str:
    """The labels of a column of letters, one character each."""
    return "".join(labels[0] for labels in labels_of_rows(HeNaughton().solve(problem).recoding) if labels)


def test_by_hand() -> None:
    # * divides into x and y; x into a and b; y has children of one row each, so it stays.
    assert published(Problem(letters("aabbbcd"), [KAnonymity(2)])) == "aabbbyy"
    # y has one row: it stays at the top and takes the first row back from x, which has rows to spare; then a has one
    # row left and takes one of b.
    assert published(Problem(letters("aabbbc"), [KAnonymity(2)])) == "*xxbb*"
    # Nothing to spare in x: no division at all.
    assert published(Problem(letters("aac"), [KAnonymity(2)])) == "***"


def test_the_left_over_takes_the_rows_that_fit_best() -> None:
    """d is alone in its half of the first column; of the spare rows, those that agree in the second fit best."""
    domain = make_domain([[0, 0, 0, 1, 1, 1, 3], [0, 0, 2, 0, 0, 0, 2]], [LETTERS, LETTERS], ("one", "two"))
    labels = labels_of_rows(HeNaughton().solve(Problem(domain, [KAnonymity(2)])).recoding)
    assert labels[2] == labels[6] == ("*", "c")
    assert labels[0] == labels[1] == ("a", "a")
    assert labels[3] == labels[4] == labels[5] == ("b", "a")


def test_the_left_over_takes_back_whole_children_for_other_models() -> None:
    """Both rows of c have the same illness: c may not stand alone, and neither may the left-over it would be."""
    problem = Problem(letters("aabbcc", "rsrsrr"), [KAnonymity(2), DistinctDiversity("ill", 2)])
    found = HeNaughton().solve(problem)
    check_release(problem, found)
    assert [labels[0] for labels in labels_of_rows(found.recoding) if labels] == ["*"] * 6
    # With another child to take back, the one that gains least stays: a and b are worth the same, the first goes.
    wider = Problem(letters("aabbccdd", "rsrsrrrr"), [KAnonymity(2), DistinctDiversity("ill", 2)])
    check_release(wider, HeNaughton().solve(wider))


def test_a_heavy_weight_keeps_its_column_fine() -> None:
    domain = make_domain([[0, 0, 1, 1], [0, 1, 0, 1]], [LETTERS, LETTERS], ("one", "two"))
    for weights, fine in (([5.0, 1.0], 0), ([1.0, 5.0], 1)):
        found = HeNaughton().solve(Problem(domain, [KAnonymity(2)], weights=weights))
        for row, labels in enumerate(labels_of_rows(found.recoding)):
            assert labels is not None and labels[fine] == "ab"[domain.tuples[domain.tuple_of_row[row], fine]]


@settings(max_examples=100, deadline=None)
@given(problem=local_problems())
def test_releases_are_safe_and_within_limits(problem: Problem) -> None:
    found = check_or_no_solution(problem, HeNaughton().solve)
    if found is not None and not problem.level_limits:
        assert not any("united" in note for note in found.notes)
        assert found.recoding.suppressed_rows == problem.domain.excluded_rows


def test_it_is_deterministic_and_beats_the_textbook_cut() -> None:
    problem = Problem(table(2000), [KAnonymity(5)])
    one, two = (HeNaughton().solve(problem) for _ in range(2))
    assert (one.recoding.group_of_row == two.recoding.group_of_row).all()
    assert one.score < make_algorithm("mondrian", cut="widest").solve(problem, Progress()).score


@pytest.mark.parametrize("model", [DistinctDiversity("ill", 2), EqualCloseness("ill", 0.25)])
def test_other_models_hold_by_construction(model: DistinctDiversity | EqualCloseness) -> None:
    problem = Problem(table(500), [KAnonymity(2), model])
    found = HeNaughton().solve(problem)
    check_release(problem, found)
    assert found.recoding.classes.count > 10
    assert found.notes == ()


def test_an_interrupt_keeps_the_parts_as_they_are() -> None:
    problem = Problem(table(800), [KAnonymity(3)])
    calls = []

    def stop(step: object) -> bool:
        calls.append(step)
        return len(calls) < 5

    found = HeNaughton().solve(problem, Progress(stop, interval=0.0))
    check_release(problem, found)
    assert any("Stopped" in note for note in found.notes)
    assert HeNaughton().solve(problem).score < found.score < 1.0
    with pytest.raises(Cancelled):
        HeNaughton().solve(problem, Progress(lambda step: False))


def test_bad_input_has_its_own_words() -> None:
    with pytest.raises(NoSolution, match="fewer than k = 9"):
        HeNaughton().solve(Problem(letters("abc"), [KAnonymity(9)]))
    models = [KAnonymity(2), DistinctDiversity("ill", 2)]
    with pytest.raises(NoSolution, match="No allowed generalization is safe"):
        HeNaughton().solve(Problem(letters("aacc", "rrss"), models, highest_levels=[1]))
    with pytest.raises(JobError, match="risk-average"):
        HeNaughton().solve(Problem(letters("aabb"), [KAnonymity(2), AverageRisk(0.05)]))
    with pytest.raises(NoSolution, match="1 rows are alike to fewer than k = 2"):
        HeNaughton().solve(Problem(letters("aabbc"), [KAnonymity(2)], highest_levels=[1]))
    rows = np.array([0, 1, 2], np.int32)
    crossing = Domain(("c",), (CROSSING,), rows[:, None], np.ones(3, np.int64), rows)
    with pytest.raises(HierarchyError, match="nest"):
        HeNaughton().solve(Problem(crossing, [KAnonymity(2)]))
