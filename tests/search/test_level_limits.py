"""Level limits of clusterings: parts that must stay apart, labels that must be lifted, rows that must go."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kanopy._core.classes import Domain, Sensitive
from kanopy._errors import JobError, NoSolution
from kanopy._progress import SILENT
from kanopy.hierarchy.builders.on_the_fly import Iotf
from kanopy.hierarchy.hierarchy import Hierarchy
from kanopy.privacy.closeness import EqualCloseness
from kanopy.privacy.models import KAnonymity
from kanopy.search.algorithms import make_algorithm
from kanopy.search.problem import Problem
from tests.search.clustering_support import make_domain
from tests.search.problems import domains

LETTERS = Hierarchy.from_rows([["a", "x", "*"], ["b", "x", "*"], ["c", "y", "*"], ["d", "y", "*"]], name="letter")


def letters(text: str) -> Domain:
    """One column of letters."""
    codes = np.array(["abcd".index(letter) for letter in text], np.int32)
    used, inverse, counts = np.unique(codes, return_inverse=True, return_counts=True)
    return Domain(
        ("letter",), (LETTERS,), used[:, None].astype(np.int32), counts.astype(np.int64), inverse.astype(np.int32)
    )


@pytest.mark.parametrize("name", ["k-member", "mondrian", "best"])
@settings(max_examples=25, deadline=None)
@given(data=st.data(), domain=domains())
def test_published_nodes_lie_between_the_limits(name: str, data: st.DataObject, domain: Domain) -> None:
    lowest = [data.draw(st.integers(0, h.height)) for h in domain.hierarchies]
    highest = [data.draw(st.integers(low, h.height)) for low, h in zip(lowest, domain.hierarchies, strict=True)]
    problem = Problem(
        domain, [KAnonymity(2)], suppression_limit=0.5, lowest_levels=lowest, highest_levels=highest
    )  # fmt: skip
    extra = {"steps": 2} if name == "best" else {}
    try:
        found = make_algorithm(name, **extra).solve(problem, SILENT).recoding
    except NoSolution:
        return
    assert found.suppressed_rows - domain.excluded_rows <= problem.max_suppressed_rows
    assert found.classes.smallest >= 2 or not found.classes.count
    for row in np.flatnonzero(found.group_of_row >= 0):
        for j, h in enumerate(domain.hierarchies):
            leaf = int(domain.tuples[domain.tuple_of_row[row], j])
            node = int(found.nodes[j][found.codes[found.group_of_row[row], j]])
            assert node in h.table[lowest[j] : highest[j] + 1, leaf].tolist()


def test_rows_that_no_allowed_group_can_hold_are_an_error_with_the_number() -> None:
    problem = Problem(letters("aabbc"), [KAnonymity(2)], highest_levels=[1])
    with pytest.raises(NoSolution, match="suppress 1 rows"):
        make_algorithm("mondrian").solve(problem, SILENT)
    allowed = Problem(letters("aabbc"), [KAnonymity(2)], highest_levels=[1], suppression_limit=0.2)
    assert make_algorithm("mondrian").solve(allowed, SILENT).recoding.suppressed_rows == 1


def test_columns_without_hierarchy_cannot_be_limited() -> None:
    ages = Iotf().build([1, 2, 4, 8, 16, 32])
    domain = make_domain([[0, 1, 2, 3, 4, 5]], [ages], ("age",))
    problem = Problem(domain, [KAnonymity(2)], highest_levels=[ages.height - 1], suppression_limit=0.5)
    with pytest.raises(JobError, match="without its hierarchy"):
        make_algorithm("mondrian", free=["age"]).solve(problem, SILENT)


def test_a_part_is_measured_against_the_whole_table() -> None:
    """t-closeness compares with the distribution of all rows, also within a part that is solved on its own."""
    domain = letters("aabbccdd")
    ill = Sensitive("ill", ("s", "t"), np.array([0, 0, 0, 0, 1, 1, 1, 1], np.int32))
    domain = Domain(domain.names, domain.hierarchies, domain.tuples, domain.counts, domain.tuple_of_row, (ill,))
    problem = Problem(domain, [KAnonymity(2), EqualCloseness("ill", 0.2)], highest_levels=[1])
    with pytest.raises(NoSolution):
        make_algorithm("mondrian").solve(problem, SILENT)
