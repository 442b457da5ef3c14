"""Bugs found in searches, each with a test."""

from __future__ import annotations

import numpy as np
import pytest

from kanopy._core.classes import Classes, ColumnFacts, Domain
from kanopy._errors import JobError
from kanopy.hierarchy.hierarchy import Hierarchy
from kanopy.privacy.models import KAnonymity
from kanopy.privacy.personal import EpsilonM
from kanopy.search.algorithms import make_algorithm
from kanopy.search.problem import Problem


def numbers(count: int) -> Problem:
    """Rows with so many different numbers, and a column of three values."""
    rows = np.arange(count, dtype=np.int32)
    tuples = np.column_stack([rows, rows % 3]).astype(np.int32)
    trees = (
        Hierarchy.flat([str(i) for i in range(count)], name="number"),
        Hierarchy.flat(["a", "b", "c"], name="letter"),
    )
    return Problem(Domain(("number", "letter"), trees, tuples, np.ones(count, np.int64), rows), [KAnonymity(5)])


@pytest.mark.parametrize("name", ["li-sps", "li-gsps", "li-gops", "bayardo-agrawal"])
def test_thousands_of_values_end_in_a_release(name: str) -> None:
    """The number of recodings has more digits than Python writes: an error after all the searching."""
    found = make_algorithm(name, budget_seconds=0.2).solve(numbers(2500))
    assert found.recoding.classes.smallest >= 5
    assert any("10^" in note for note in found.notes)


def test_more_values_than_sets_can_be_weighed_for_are_refused_before_the_search() -> None:
    """li-sps ran 170 s on a budget of 10, and then failed."""
    with pytest.raises(JobError, match=r"'number' has 15,000 values"):
        make_algorithm("li-sps", budget_seconds=10).solve(numbers(15_000))
    found = make_algorithm("bayardo-agrawal", budget_seconds=0.2).solve(numbers(15_000))
    assert found.recoding.classes.smallest >= 5


def test_moments_in_milliseconds_are_as_near_as_they_are() -> None:
    """(ε,m) allowed for so much rounding near 1.7e12 that everything was alike: no solution."""
    moments = 1.7e12 + np.array([0.0, 1.0, 2.0, 3.0])
    facts = {"t": ColumnFacts(tuple("abcd"), np.ones(4, np.int64), moments)}
    classes = Classes(np.array([4]), histograms={"t": np.ones((1, 4), np.int64)}, facts=facts)
    assert EpsilonM("t", 0.5, 4).violated(classes).tolist() == [False]
    assert EpsilonM("t", 1.0, 4).violated(classes).tolist() == [True]
    tenths = {"t": ColumnFacts(tuple("ab"), np.ones(2, np.int64), np.array([0.1, 0.3]))}
    classes = Classes(np.array([2]), histograms={"t": np.ones((1, 2), np.int64)}, facts=tenths)
    assert EpsilonM("t", 0.2, 2).violated(classes).tolist() == [True]


def test_best_effort_judges_no_candidate_twice_and_ends_when_it_has_seen_them_all() -> None:
    """30 s went into judging the same 124 candidates as in 2 s."""
    letters = [[v, v[0], "*"] for v in ("aa", "ab", "ba", "bb", "bc")]
    trees = tuple(Hierarchy.from_rows(letters, name=f"q{j}") for j in range(4))
    cells = np.random.default_rng(0).integers(0, 5, (200, 4)).astype(np.int32)
    tuples, of_row, counts = np.unique(cells, axis=0, return_inverse=True, return_counts=True)
    domain = Domain(tuple(h.name for h in trees), trees, tuples, counts, of_row.reshape(-1).astype(np.int32))
    problem = Problem(domain, [KAnonymity(5)], suppression_limit=0.1)
    found = make_algorithm("optimal", most_candidates=1, budget_seconds=600).solve(problem)
    assert problem.judged <= problem.lattice.size == 81
    assert found.score == make_algorithm("optimal").solve(problem).score
