"""The trees of cuts, and the judge of partitions that searches over them ask."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kanopy.hierarchy.hierarchy import Hierarchy
from kanopy.privacy.models import KAnonymity, make_models
from kanopy.search.partition_judge import PartitionJudge, number_classes, solution_from_nodes
from kanopy.search.problem import Problem
from kanopy.search.subtree import forest as forest_module
from kanopy.search.subtree.forest import number_rows, plant_forest
from tests.search.clustering_support import make_domain
from tests.search.release_checks import cut_problems


@settings(max_examples=60, deadline=None)
@given(problem=cut_problems())
def test_trees_hold_what_may_be_published(problem: Problem) -> None:
    forest, domain = plant_forest(problem), problem.domain
    assert int(forest.counts.sum()) == int(domain.counts.sum())
    assert (forest.parent < np.arange(forest.nodes)).all()
    assert not (forest.children == 1).any()
    for j, h in enumerate(domain.hierarchies):
        low, high = problem.lattice.lowest[j], problem.lattice.highest[j]
        for t, leaf in enumerate(domain.tuples[:, j].tolist()):
            v = int(forest.leaves[forest.record_of_tuple[t], j])
            assert int(forest.node[v]) == h.table[low, leaf]
            while v >= 0:
                assert int(forest.node[v]) in h.table[low : high + 1, leaf].tolist()
                under = [i for i in range(h.size) if int(forest.node[v]) in h.table[low : high + 1, i].tolist()]
                assert int(forest.rows[v]) == int(domain.marginals[j][under].sum())
                v = int(forest.parent[v])


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=40),
    st.sampled_from([2**62, 20, 5]),
)
def test_rows_are_numbered_however_long_their_keys(rows: list[tuple[int, int, int]], largest: int) -> None:
    columns = [np.array(column, np.int32) for column in zip(*rows, strict=True)]
    before, forest_module.LARGEST_KEY = forest_module.LARGEST_KEY, largest
    try:
        number, first = number_rows(columns, [4, 4, 4])
    finally:
        forest_module.LARGEST_KEY = before
    kinds = {row: i for i, row in enumerate(dict.fromkeys(rows))}
    assert number.tolist() == [kinds[row] for row in rows]
    assert [rows[i] for i in first] == list(kinds)


@settings(max_examples=30, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=1, max_size=30))
def test_classes_are_equal_nodes(rows: list[tuple[int, int]]) -> None:
    nodes = np.array(rows, np.int32)
    number, distinct = number_classes(nodes)
    assert (distinct[number] == nodes).all()
    assert len(np.unique(distinct, axis=0)) == len(distinct)


@settings(max_examples=40, deadline=None)
@given(problem=cut_problems(), data=st.data())
def test_units_and_members_are_judged_like_tuples(problem: Problem, data: st.DataObject) -> None:
    count = len(problem.domain.counts)
    unit = np.array(data.draw(st.lists(st.integers(0, 3), min_size=count, max_size=count)))
    unit = np.unique(unit, return_inverse=True)[1].reshape(-1)
    units = int(unit.max()) + 1
    class_of_unit = np.array(data.draw(st.lists(st.integers(-1, 2), min_size=units, max_size=units)))
    expected = PartitionJudge(problem).unsafe(class_of_unit[unit], 3)
    judge = PartitionJudge(problem, unit)
    assert (judge.unsafe(class_of_unit, 3) == expected).all()
    members = np.flatnonzero(class_of_unit >= 0)
    assert (judge.unsafe(class_of_unit[members], 3, members) == expected).all()


def test_wide_histograms_are_added_up_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    from kanopy.search import partition_judge

    table = np.arange(12).reshape(4, 3)
    number = np.array([0, -1, 1, 0])
    narrow = partition_judge._add_rows(table, number, 2)
    monkeypatch.setattr(partition_judge, "MANY_COLUMNS", 1)
    assert narrow.tolist() == partition_judge._add_rows(table, number, 2).tolist() == [[9, 11, 13], [6, 7, 8]]


def test_what_is_published_alike_is_judged_together() -> None:
    """Node `a` over c and d, and the value a: one row each is two rows of `a`."""
    tree = Hierarchy.from_rows([["a", "x", "*"], ["b", "x", "*"], ["c", "a", "*"], ["d", "a", "*"]])
    domain = make_domain([[0, 2]], [tree], ("letter",))
    group = int(tree.table[1, 2])
    found = solution_from_nodes("x", Problem(domain, [KAnonymity(2)]), np.array([[0], [group]], np.int32))
    assert found.recoding.suppressed_rows == 0
    assert found.recoding.classes.sizes.tolist() == [2]
    assert make_models(["k:2"])[0].violated(found.recoding.classes).tolist() == [False]
