"""The trees of cuts, and the judge of partitions that searches over them ask."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from kanopy.hierarchy.hierarchy import Hierarchy
from kanopy.privacy.models import KAnonymity, make_models
from kanopy.search.judge import ClassJudge
from kanopy.search.partition_solution import release_nodes
from kanopy.search.problem import Problem
from kanopy.search.subtree.forest import plant_forest
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
@given(problem=cut_problems(), data=st.data())
def test_units_and_members_are_judged_like_tuples(problem: Problem, data: st.DataObject) -> None:
    count = len(problem.domain.counts)
    unit = np.array(data.draw(st.lists(st.integers(0, 3), min_size=count, max_size=count)))
    unit = np.unique(unit, return_inverse=True)[1].reshape(-1)
    units = int(unit.max()) + 1
    class_of_unit = np.array(data.draw(st.lists(st.integers(-1, 2), min_size=units, max_size=units)))
    expected = ClassJudge(problem).unsafe(class_of_unit[unit], 3)
    judge = ClassJudge(problem, unit)
    assert (judge.unsafe(class_of_unit, 3) == expected).all()
    members = np.flatnonzero(class_of_unit >= 0)
    assert (judge.unsafe(class_of_unit[members], 3, members) == expected).all()


def test_what_is_published_alike_is_judged_together() -> None:
    """Node `a` over c and d, and the value a: one row each is two rows of `a`."""
    tree = Hierarchy.from_rows([["a", "x", "*"], ["b", "x", "*"], ["c", "a", "*"], ["d", "a", "*"]])
    domain = make_domain([[0, 2]], [tree], ("letter",))
    group = int(tree.table[1, 2])
    found = release_nodes("x", Problem(domain, [KAnonymity(2)]), np.array([[0], [group]], np.int32))
    assert found.recoding.suppressed_rows == 0
    assert found.recoding.classes.sizes.tolist() == [2]
    assert make_models(["k:2"])[0].violated(found.recoding.classes).tolist() == [False]
