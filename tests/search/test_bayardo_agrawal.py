"""Bayardo and Agrawal's search: by hand, against brute force, by properties, and proved on Adult's numbers."""

from __future__ import annotations

from itertools import product

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kanopy._core.classes import Domain, Sensitive
from kanopy._errors import Cancelled, JobError, NoSolution
from kanopy._progress import SILENT, Progress
from kanopy._table import datasets
from kanopy.engine.local import LocalEngine
from kanopy.hierarchy.hierarchy import Hierarchy
from kanopy.metrics.full_domain import metric_named
from kanopy.metrics.release_losses import release_losses
from kanopy.privacy.diversity import DistinctDiversity
from kanopy.privacy.models import KAnonymity
from kanopy.search.full_domain.optimal import Optimal
from kanopy.search.problem import Problem
from kanopy.search.sets import bayardo_agrawal
from kanopy.search.sets.bayardo_agrawal import BayardoAgrawal
from kanopy.search.sets.value_sets import value_table
from tests.search.problems import domains
from tests.search.value_set_support import (
    all_intervals,
    check_release,
    classes_of,
    discernibility,
    permuted,
    published_rows,
)


@st.composite
def interval_problems(draw: st.DrawFn) -> Problem:
    return Problem(
        draw(domains(most_attributes=3)),
        [KAnonymity(draw(st.integers(2, 5)))],
        suppression_limit=draw(st.sampled_from([0.0, 0.05, 0.2, 0.5, 1.0])),
    )


def least_discernibility(problem: Problem) -> int | None:
    """By brute force over all cuts; `None` if the limit allows none."""
    table = value_table(problem)
    costs = []
    for set_of in product(*(list(all_intervals(size)) for size in table.sizes)):
        sizes = classes_of(table, set_of)
        if int(sizes[sizes < problem.k].sum()) <= problem.max_suppressed_rows:
            costs.append(discernibility(table, sizes, problem.k))
    return min(costs, default=None)


@settings(max_examples=60, deadline=None)
@given(interval_problems())
def test_it_finds_what_brute_force_finds(problem: Problem) -> None:
    least = least_discernibility(problem)
    if least is None:
        with pytest.raises(NoSolution):
            BayardoAgrawal().solve(problem)
        return
    found = BayardoAgrawal().solve(problem)
    assert found.optimal
    assert release_losses(problem.domain, found.recoding, problem.weights)["discernibility"] == least
    check_release(problem, found)


def test_compiled_kernels_prove_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    generator = np.random.default_rng(2)
    trees = tuple(Hierarchy.flat([str(i) for i in range(4)], name=name) for name in "abc")
    for limit in (0.0, 0.1):
        cells = np.minimum(generator.geometric(0.4, (60, 3)) - 1, 3)
        tuples, of_row, counts = np.unique(cells, axis=0, return_inverse=True, return_counts=True)
        of_row = of_row.reshape(-1).astype(np.int32)
        domain = Domain(("a", "b", "c"), trees, tuples.astype(np.int32), counts.astype(np.int64), of_row)
        problem = Problem(domain, [KAnonymity(3)], metric_named("discernibility"), suppression_limit=limit)
        monkeypatch.setattr(bayardo_agrawal, "SMALL", 0)
        found = BayardoAgrawal().solve(problem)
        assert found.optimal and found.score == least_discernibility(problem)


@settings(max_examples=25, deadline=None)
@given(interval_problems(), st.integers(0, 5))
def test_the_order_of_rows_does_not_matter(problem: Problem, seed: int) -> None:
    other, order = permuted(problem.domain, seed)
    mixed = Problem(other, problem.models, suppression_limit=problem.suppression_limit)
    try:
        straight = published_rows(BayardoAgrawal().solve(problem))
    except NoSolution:
        with pytest.raises(NoSolution):
            BayardoAgrawal().solve(mixed)
        return
    assert [straight[row] for row in order] == published_rows(BayardoAgrawal().solve(mixed))


@settings(max_examples=25, deadline=None)
@given(interval_problems(), st.integers(0, 3))
def test_few_steps_give_a_release_and_a_bound_that_holds(problem: Problem, steps: int) -> None:
    least = least_discernibility(problem)
    if least is None:
        return
    found = BayardoAgrawal(steps=steps).solve(problem)
    check_release(problem, found)
    cost = release_losses(problem.domain, found.recoding, problem.weights)["discernibility"]
    assert cost >= least
    if found.optimal:
        assert cost == least
    else:
        said = next(note for note in found.notes if "no release has less" in note)
        bound = int(said.rsplit("than ", 1)[1].rstrip(".").replace(",", ""))
        excluded = problem.domain.rows * problem.domain.excluded_rows
        assert bound + excluded <= least


def people(ages: list[str], rows: list[int]) -> Domain:
    tree = Hierarchy.flat(ages, name="age")
    numbers = np.array(rows, np.int32)
    counts = np.bincount(numbers, minlength=len(ages)).astype(np.int64)
    return Domain(("age",), (tree,), np.arange(len(ages), dtype=np.int32)[:, None], counts, numbers)


def test_by_hand() -> None:
    """Rows per age 1, 3, 2, 1 and k = 2: {1, 3}, {2, 1} costs 16 + 9; {1+3, 2+1} is the only cut that keeps k = 3."""
    domain = people(["20", "30", "40", "50"], [0, 1, 1, 1, 2, 2, 3])
    found = BayardoAgrawal().solve(Problem(domain, [KAnonymity(2)], metric_named("discernibility")))
    assert found.recoding.labels == (("[20, 30]", "[40, 50]"),)
    assert found.score == 25
    assert found.optimal and found.candidates == 8


def test_suppressing_where_it_pays() -> None:
    """One outlier among 2 x 4 rows: joined it costs 25 - 16 = 9 more, suppressed 9 rows' worth; a tie, so k decides."""
    domain = people(["1", "2", "3"], [0] * 6 + [1] * 6 + [2])
    free = BayardoAgrawal().solve(Problem(domain, [KAnonymity(3)], suppression_limit=0.1))
    # Joined: 36 + 49 = 85. Suppressed: 36 + 36 + 13 = 85. Nothing is gained, so nothing is suppressed needlessly.
    assert release_losses(domain, free.recoding, [1.0])["discernibility"] == 85
    wide = people(["1", "2", "3"], [0] * 10 + [1] * 2 + [2] * 30)
    found = BayardoAgrawal().solve(Problem(wide, [KAnonymity(3)], suppression_limit=0.1))
    assert found.recoding.suppressed_rows == 0
    assert found.recoding.labels == (("[1, 2]", "3"),)


def test_numbers_are_ordered_by_size_and_missing_ones_come_last() -> None:
    domain = people(["10", "9", "?", "100"], [0, 0, 1, 1, 2, 2, 3, 3])
    found = BayardoAgrawal().solve(Problem(domain, [KAnonymity(4)]))
    assert found.recoding.labels == (("[9, 10]", "{100, ?}"),)


def test_values_that_do_not_occur_belong_to_the_interval_around_them() -> None:
    tree = Hierarchy.flat(["1", "2", "3", "4", "5"], name="n")
    domain = Domain(
        ("n",), (tree,), np.array([[0], [2], [4]], np.int32), np.array([1, 1, 4]), np.array([0, 1, 2, 2, 2, 2])
    )
    found = BayardoAgrawal().solve(Problem(domain, [KAnonymity(2)]))
    assert found.recoding.labels == (("[1, 3]", "5"),)
    assert found.recoding.shares[0].tolist() == [0.6, 0.2]


def test_categories_follow_their_hierarchy_and_take_its_labels() -> None:
    rows = [["a", "x", "*"], ["b", "y", "*"], ["c", "x", "*"], ["d", "y", "*"], ["e, f", "y", "*"]]
    tree = Hierarchy.from_rows(rows, name="letter")
    of_row = np.array([0, 1, 2, 3, 3, 3, 4], np.int32)
    counts = np.bincount(of_row).astype(np.int64)
    domain = Domain(("letter",), (tree,), np.arange(5, dtype=np.int32)[:, None], counts, of_row)
    # Rows 1, 1 | 1, 3, 1 in the order a, c | b, d, "e, f": the first three together cost 9, the others 16.
    found = BayardoAgrawal().solve(Problem(domain, [KAnonymity(2)]))
    assert found.recoding.labels == (("{a, c, b}", '{d, "e, f"}'),)
    assert found.recoding.nodes[0].tolist() == [-1, -1]
    coarse = BayardoAgrawal().solve(Problem(_twice(domain, 1), [KAnonymity(4)]))
    assert coarse.recoding.labels == (("x", "y"),)
    assert [tree.label(node) for node in coarse.recoding.nodes[0]] == ["x", "y"]


def _twice(domain: Domain, times: int) -> Domain:
    """Every row of the first four tuples once more, so that the two groups of the hierarchy have four or more."""
    of_row = np.concatenate([domain.tuple_of_row, np.repeat([0, 2], times)]).astype(np.int32)
    return Domain(domain.names, domain.hierarchies, domain.tuples, np.bincount(of_row).astype(np.int64), of_row)


@pytest.mark.parametrize("limit", [0.0, 0.02])
@pytest.mark.parametrize("k", [5, 10, 25])
def test_it_proves_optimality_on_three_numbers_of_adult(k: int, limit: float) -> None:
    """Ten equal ranges each of age, years of education and hours per week: 2^27 recodings."""
    domain = adult_in_tens()
    problem = Problem(domain, [KAnonymity(k)], metric_named("discernibility"), suppression_limit=limit)
    found = BayardoAgrawal(steps=20_000).solve(problem)
    assert found.optimal
    assert found.candidates == 2**27
    check = release_losses(domain, found.recoding, problem.weights)["discernibility"]
    assert found.score == check
    assert found.score <= Optimal().solve(problem, SILENT).score
    # No single cut made or left out improves it.
    table = value_table(problem)
    cuts = [np.diff(_sets(found, table.codes, domain, j)) != 0 for j in range(3)]
    for j in range(3):
        for i in range(9):
            changed = [c.copy() for c in cuts]
            changed[j][i] = not changed[j][i]
            sizes = classes_of(table, [np.concatenate([[0], np.cumsum(c)]).astype(np.int64) for c in changed])
            if int(sizes[sizes < k].sum()) <= problem.max_suppressed_rows:
                assert discernibility(table, sizes, k) >= found.score


def _sets(found: object, codes: object, domain: Domain, j: int) -> np.ndarray:
    """Per value 0 … 9 the number of its published label."""
    labels = list(found.recoding.labels[j])  # type: ignore[attr-defined]
    number = []
    for value in range(10):
        for s, label in enumerate(labels):
            ends = label.strip("[]").split(", ")
            if label == "*" or int(ends[0]) <= value <= int(ends[-1]):
                number.append(s)
                break
    return np.array(number)


def adult_in_tens() -> Domain:
    frame = datasets.adult(complete=True).select("age", "education-num", "hours-per-week")
    tens = []
    for series in frame:
        numbers = series.to_numpy().astype(float)
        width = (numbers.max() - numbers.min()) / 10
        tens.append(pl.Series(series.name, np.minimum(((numbers - numbers.min()) / width).astype(int), 9)))
    flat = {series.name: Hierarchy.flat([str(i) for i in range(10)], name=series.name) for series in tens}
    return LocalEngine().count(pl.DataFrame(tens), flat).domain


def test_bad_input_is_refused_with_what_works() -> None:
    domain = people(["20", "30"], [0, 0, 1, 1])
    with pytest.raises(JobError, match=r"budget_seconds of the algorithm .* more than 0"):
        BayardoAgrawal(budget_seconds=0)
    with pytest.raises(JobError, match=r"steps of the algorithm .* at least 0"):
        BayardoAgrawal(steps=-1)
    with pytest.raises(JobError, match=r"levels of a column cannot be limited.*'optimal'"):
        BayardoAgrawal().solve(Problem(domain, [KAnonymity(2)], lowest_levels=[1]))
    with pytest.raises(NoSolution, match="fewer than k = 5"):
        BayardoAgrawal().solve(Problem(domain, [KAnonymity(5)]))
    ill = Sensitive("ill", ("a", "b"), np.array([0, 1, 0, 1], np.int32))
    sick = Domain(domain.names, domain.hierarchies, domain.tuples, domain.counts, domain.tuple_of_row, (ill,))
    with pytest.raises(JobError, match=r"k-anonymity alone.*'l-distinct'.*'best'"):
        BayardoAgrawal().solve(Problem(sick, [KAnonymity(2), DistinctDiversity("ill", 2)]))


def test_interrupted_it_keeps_the_best_so_far() -> None:
    stages: list[str] = []

    def stop(step: object) -> bool:
        stages.append(step.stage)  # type: ignore[attr-defined]
        return stages[-1] != "proving"

    problem = Problem(adult_in_tens(), [KAnonymity(5)])
    found = BayardoAgrawal().solve(problem, Progress(stop))
    assert not found.optimal and "stopped" in found.notes[0]
    check_k = found.recoding.classes.smallest
    assert check_k >= 5
    with pytest.raises(Cancelled):
        BayardoAgrawal().solve(problem, Progress(lambda step: False))


def test_weights_are_said_to_have_no_part() -> None:
    hs = tuple(Hierarchy.flat(["1", "2"], name=n) for n in "ab")
    domain = Domain(("a", "b"), hs, np.array([[0, 0], [1, 1]], np.int32), np.array([2, 2]), np.array([0, 0, 1, 1]))
    found = BayardoAgrawal().solve(Problem(domain, [KAnonymity(2)], weights=[1, 5]))
    assert any("weights" in note for note in found.notes)
