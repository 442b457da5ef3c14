"""Utility-based local recoding: by hand, by properties, with models, weights and limits, and its bad inputs."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kanopy._core.classes import Domain
from kanopy._errors import Cancelled, HierarchyError, JobError, NoSolution
from kanopy._progress import Progress
from kanopy.hierarchy.hierarchy import Hierarchy
from kanopy.privacy.closeness import EqualCloseness
from kanopy.privacy.diversity import DistinctDiversity
from kanopy.privacy.models import KAnonymity
from kanopy.privacy.sizes import AverageRisk
from kanopy.search.algorithms import make_algorithm
from kanopy.search.local.boxes import lay_out
from kanopy.search.local.xu import Xu, merged_classes, split_classes
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

BOTH = pytest.mark.parametrize("direction", ["bottom-up", "top-down"])


def published(text: str, k: int, direction: str) -> str:
    """The labels of a column of letters, one character each."""
    found = Xu(direction).solve(Problem(letters(text), [KAnonymity(k)]))
    return "".join(labels[0] for labels in labels_of_rows(found.recoding) if labels)


def test_by_hand_bottom_up() -> None:
    # a and b have one row each and join (4 rows would be needed for y); c and d are large enough as they are.
    assert published("abccdd", 2, "bottom-up") == "xxccdd"
    # a (1 row) prefers b (2 rows) to c (1 row) beyond the hierarchy, though c is smaller; c then joins d.
    assert published("abbcdd", 2, "bottom-up") == "xxxyyy"


def test_by_hand_top_down() -> None:
    # The first seeds lie in x and y; each side of four is split once more where that keeps two rows each.
    assert published("aabbccdd", 2, "top-down") == "aabbccdd"
    # One d: the side of c and d stays whole at three rows; the side of a and b can be divided.
    assert published("aabbccd", 2, "top-down") == "aabbyyy"


def test_a_side_that_is_too_small_takes_what_fits_best() -> None:
    # The seeds are far apart, d is alone on its side and takes one of the rows of the other, all equally far.
    assert sorted(published("aaaad", 2, "top-down")) == sorted("aaa**")


def test_a_heavy_weight_keeps_its_column_fine() -> None:
    domain = make_domain([[0, 0, 1, 1], [0, 1, 0, 1]], [LETTERS, LETTERS], ("one", "two"))
    for direction in ("bottom-up", "top-down"):
        for weights, fine in (([5.0, 1.0], 0), ([1.0, 5.0], 1)):
            found = Xu(direction).solve(Problem(domain, [KAnonymity(2)], weights=weights))
            for row, labels in enumerate(labels_of_rows(found.recoding)):
                assert labels is not None and labels[fine] == "ab"[domain.tuples[domain.tuple_of_row[row], fine]]


@BOTH
@settings(max_examples=60, deadline=None)
@given(problem=local_problems())
def test_releases_are_safe_and_within_limits(direction: str, problem: Problem) -> None:
    check_or_no_solution(problem, Xu(direction).solve)


@settings(max_examples=40, deadline=None)
@given(problem=local_problems(limits=False), seed=st.integers(0, 3))
def test_groups_are_small_unless_their_rows_are_alike(problem: Problem, seed: int) -> None:
    layout, k = lay_out(problem), problem.k
    if len(layout.rows) < k:
        return
    weighted = [j for j, weight in enumerate(problem.weights) if weight > 0]
    for class_of in (split_classes(layout, k, seed), merged_classes(layout, k)):
        assert (class_of >= 0).all()
        for c in np.unique(class_of):
            records = layout.boxes.tuples[layout.record_of_item[class_of == c]][:, weighted]
            assert len(records) >= k
            assert len(records) < 2 * k or (records == records[0]).all()


@BOTH
def test_the_seed_decides_everything(direction: str) -> None:
    problem = Problem(table(500), [KAnonymity(4)])
    one, two = (Xu(direction, seed=2).solve(problem) for _ in range(2))
    assert (one.recoding.group_of_row == two.recoding.group_of_row).all()
    other = Xu(direction, seed=3).solve(problem)
    assert (other.score == one.score) == (direction == "bottom-up")


@BOTH
@pytest.mark.parametrize("model", [DistinctDiversity("ill", 2), EqualCloseness("ill", 0.25)])
def test_other_models_hold(direction: str, model: DistinctDiversity | EqualCloseness) -> None:
    problem = Problem(table(500), [KAnonymity(2), model])
    found = Xu(direction).solve(problem)
    check_release(problem, found)
    assert found.recoding.classes.count > 10
    assert any("united" in note for note in found.notes)


def test_it_loses_less_than_mondrian_and_merging_less_than_splitting() -> None:
    problem = Problem(table(2000), [KAnonymity(5)])
    merged, split = (Xu(direction).solve(problem).score for direction in ("bottom-up", "top-down"))
    widest = make_algorithm("mondrian", cut="widest").solve(problem, Progress())
    assert merged < split
    assert merged < widest.score


@BOTH
def test_it_stops_when_told(direction: str) -> None:
    stages = []

    def stop(step: object) -> bool:
        stages.append(step)
        return len(stages) < 2

    with pytest.raises(Cancelled):
        Xu(direction).solve(Problem(table(300), [KAnonymity(3)]), Progress(stop, interval=0.0))


def test_bad_input_has_its_own_words() -> None:
    with pytest.raises(JobError, match="Did you mean 'top-down'"):
        Xu("topdown")
    with pytest.raises(JobError, match="seed"):
        Xu(seed=-1)
    with pytest.raises(NoSolution, match="fewer than k = 9"):
        Xu().solve(Problem(letters("abc"), [KAnonymity(9)]))
    with pytest.raises(JobError, match="risk-average"):
        Xu().solve(Problem(letters("aabb"), [KAnonymity(2), AverageRisk(0.05)]))
    with pytest.raises(NoSolution, match="1 rows are alike to fewer than k = 2"):
        Xu().solve(Problem(letters("aabbc"), [KAnonymity(2)], highest_levels=[1]))
    allowed = Problem(letters("aabbc"), [KAnonymity(2)], highest_levels=[1], suppression_limit=0.2)
    assert Xu().solve(allowed).recoding.suppressed_rows == 1
    rows = np.array([0, 1, 2], np.int32)
    crossing = Domain(("c",), (CROSSING,), rows[:, None], np.ones(3, np.int64), rows)
    with pytest.raises(HierarchyError, match="nest"):
        Xu().solve(Problem(crossing, [KAnonymity(2)]))
    alike = Hierarchy.from_rows([["a", "*"]])
    constant = Domain(("c",), (alike,), rows[:1, None], np.array([7]), np.zeros(7, np.int32))
    assert Xu("top-down").solve(Problem(constant, [KAnonymity(2)])).score == 0.0
