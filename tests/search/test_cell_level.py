"""Cell-level generalization: hand-worked releases, properties, and what it refuses."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kanopy
from kanopy._core.classes import Domain, Sensitive
from kanopy._errors import Cancelled, HierarchyError, JobError, NoSolution
from kanopy._progress import SILENT, Progress
from kanopy.hierarchy.hierarchy import Hierarchy
from kanopy.privacy.models import KAnonymity, make_models
from kanopy.search.cell.cell_level import CellLevel
from kanopy.search.full_domain.optimal import Optimal
from kanopy.search.problem import Problem
from tests.search.clustering_support import make_domain
from tests.search.release_checks import check_release, cut_problems, published, shuffled

LETTERS = Hierarchy.from_rows([["a", "x", "*"], ["b", "x", "*"], ["c", "y", "*"], ["d", "y", "*"]], name="letter")
SEXES = Hierarchy.flat(["f", "m"], name="sex")


def letters(text: str, sexes: str) -> Domain:
    columns = [["abcd".index(one) for one in text], ["fm".index(one) for one in sexes]]
    return make_domain(columns, [LETTERS, SEXES], ("letter", "sex"))


def test_only_rows_that_need_it_are_lifted() -> None:
    """a f is twice there and stays; b f and b m meet at sex (cost 1 each), c m and d m at letter (cost 1/3 each)."""
    domain = letters("aabbcd", "fffmmm")
    found = CellLevel().solve(Problem(domain, [KAnonymity(2)]))
    assert published(domain, found) == [("a", "f"), ("a", "f"), ("b", "*"), ("b", "*"), ("y", "m"), ("y", "m")]
    assert found.score == pytest.approx((2 * 1 / 2 + 2 * (1 / 3) / 2) / 6)


def test_the_cheaper_step_is_taken() -> None:
    """b f could meet a f at letter (1/3) or b m at sex (1): letter; then b m is left and joins where it costs least."""
    domain = letters("abb", "ffm")
    found = CellLevel().solve(Problem(domain, [KAnonymity(2)], suppression_limit=0.4))
    assert published(domain, found)[:2] == [("x", "f"), ("x", "f")]


def test_the_last_row_joins_a_safe_class_or_is_suppressed() -> None:
    domain = letters("aaaab", "ffffm")
    joined = CellLevel().solve(Problem(domain, [KAnonymity(2)]))
    assert published(domain, joined) == [("x", "*")] * 5
    gone = CellLevel().solve(Problem(domain, [KAnonymity(2)], suppression_limit=0.2))
    assert published(domain, gone) == [("a", "f")] * 4 + [None]


def test_a_lifted_class_meets_a_safe_generalized_one() -> None:
    """k = 2: b and c of one sex meet at x (3 values); later arrivals may join them there."""
    tree = Hierarchy.from_rows([[v, "x", "*"] for v in "abc"] + [["d", "y", "*"]])
    domain = make_domain([[0, 0, 1, 2]], [tree], ("letter",))
    found = CellLevel().solve(Problem(domain, [KAnonymity(2)]))
    assert published(domain, found) == [("a",), ("a",), ("x",), ("x",)]


def test_equal_labels_of_different_nodes_are_one_class() -> None:
    """`c` is repeated as its own group: lifted or not, it is published as c."""
    tree = Hierarchy.from_rows([["a", "x", "*"], ["b", "x", "*"], ["c", "c", "*"]])
    domain = make_domain([[0, 1, 2, 2]], [tree], ("letter",))
    problem = Problem(domain, [KAnonymity(2)], lowest_levels=[0])
    found = CellLevel().solve(problem)
    check_release(problem, found, subtree=False)
    assert published(domain, found) == [("x",), ("x",), ("c",), ("c",)]


def test_two_subtrees_that_share_a_label() -> None:
    """A group `a` above c and d, and a value `a` under x: what is published alike is counted together."""
    tree = Hierarchy.from_rows([["a", "x", "*"], ["b", "x", "*"], ["c", "a", "*"], ["d", "a", "*"]])
    domain = make_domain([[0, 0, 1, 1, 2, 3]], [tree], ("letter",))
    problem = Problem(domain, [KAnonymity(2)])
    found = CellLevel().solve(problem)
    check_release(problem, found, subtree=False)


def test_other_models_bring_rows_together() -> None:
    """a is large enough but all ill alike: it must meet b."""
    domain = letters("aabbcd", "ffffff")
    ill = Sensitive("ill", ("s", "t"), np.array([0, 0, 1, 1, 0, 1], np.int32))
    domain = Domain(domain.names, domain.hierarchies, domain.tuples, domain.counts, domain.tuple_of_row, (ill,))
    problem = Problem(domain, [KAnonymity(2), *make_models(["l-distinct:ill:2"])])
    found = CellLevel().solve(problem)
    check_release(problem, found, subtree=False)
    assert published(domain, found) == [("x", "f")] * 4 + [("y", "f")] * 2


@settings(max_examples=80, deadline=None)
@given(problem=cut_problems(), data=st.data())
def test_releases_keep_every_promise(problem: Problem, data: st.DataObject) -> None:
    try:
        found = CellLevel().solve(problem)
    except NoSolution:
        assert not problem.evaluate(problem.lattice.highest).feasible
        return
    check_release(problem, found, subtree=False)
    rows: dict[int, set[object]] = {}
    for row, labels in enumerate(published(problem.domain, found)):
        rows.setdefault(int(problem.domain.tuple_of_row[row]), set()).add(labels)
    assert all(len(kinds) == 1 for kinds in rows.values()), "equal rows stay together"
    other = shuffled(problem, data.draw(st.permutations(range(problem.domain.rows))))
    again = CellLevel().solve(other)
    assert sorted(map(str, published(problem.domain, found))) == sorted(map(str, published(other.domain, again)))


def random_table(rows: int, seed: int) -> Domain:
    random = np.random.default_rng(seed)
    columns = [random.choice(4, rows, p=[0.5, 0.3, 0.15, 0.05]), random.choice(2, rows, p=[0.9, 0.1])] * 2
    columns = [random.permutation(column) for column in columns]
    hierarchies = [LETTERS, SEXES, LETTERS, SEXES]
    return make_domain(columns, hierarchies, ("a", "b", "c", "d"))


@pytest.mark.parametrize("k", [2, 5, 20])
def test_far_less_is_lost_than_with_levels(k: int) -> None:
    problem = Problem(random_table(500, 1), [KAnonymity(k)])
    found = CellLevel().solve(problem)
    check_release(problem, found, subtree=False)
    assert found.score < Optimal().solve(problem, SILENT).score


def test_a_larger_table_goes_through_the_compiled_loops() -> None:
    random = np.random.default_rng(4)
    wide = Hierarchy.from_rows([[f"{i:02}", f"{i // 5}x", f"{i // 25}y", "*"] for i in range(60)])
    columns = [random.integers(0, 60, 6000) for _ in range(3)]
    problem = Problem(make_domain(columns, [wide] * 3, ("a", "b", "c")), [KAnonymity(3)])
    found = CellLevel().solve(problem)
    assert found.recoding.classes.smallest >= 3
    assert found.recoding.suppressed_rows == 0
    assert 0 < found.score < 0.2


def test_a_job_names_it() -> None:
    people = {"age": ["30", "31", "32", "41", "42", "43"] * 2, "sex": ["f", "m", "f"] * 4}
    result = kanopy.anonymize(people, kanopy.Job(quasi=["age", "sex"], k=3, algorithm="cell-level"))
    assert result.verification.smallest_class >= 3


def test_stopping_is_clean() -> None:
    with pytest.raises(Cancelled):
        CellLevel().solve(Problem(random_table(100, 2), [KAnonymity(4)]), Progress(lambda step: False))


def test_bad_input() -> None:
    domain = letters("aabbcd", "fffmmm")
    with pytest.raises(NoSolution, match="highest allowed level"):
        CellLevel().solve(Problem(domain, [KAnonymity(7)]))
    with pytest.raises(NoSolution, match="highest allowed level"):
        CellLevel().solve(Problem(domain, [KAnonymity(3)], highest_levels=[1, 1]))
    with pytest.raises(JobError, match="does not support the model"):
        CellLevel().solve(Problem(domain, make_models(["uniqueness:0.1"])))
    crossing = Hierarchy.from_rows(
        [["a", "x", "p"], ["b", "x", "q"], ["c", "y", "q"], ["d", "y", "p"]], require_nesting=False
    )
    other = Domain(("letter", "sex"), (crossing, SEXES), domain.tuples, domain.counts, domain.tuple_of_row)
    with pytest.raises(HierarchyError, match="does not nest"):
        CellLevel().solve(Problem(other, [KAnonymity(2)]))
