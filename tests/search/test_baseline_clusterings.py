"""One-pass k-means and nearest neighbours: the groups are those of the definitions, written down plainly."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kanopy
from kanopy._errors import NoSolution
from kanopy.privacy.models import KAnonymity
from kanopy.search.algorithms import make_algorithm
from kanopy.search.clustering.nearest_neighbours import nearest_neighbour_clusters
from kanopy.search.clustering.one_pass import one_pass_clusters
from kanopy.search.problem import Problem
from tests.search.clustering_support import domains, make_domain, multiplicity, plain_costs


def plain_nearest_neighbours(rows, costs, k, seed):
    def joint(members):
        return sum((cost([rows[one][j] for one in members]) for j, cost in enumerate(costs)), Fraction(0))

    free, classes = set(range(len(rows))), []
    for row in np.random.default_rng(seed).permutation(len(rows)).tolist():
        if row in free and len(free) >= k:
            near = sorted(free - {row}, key=lambda one: (joint([row, one]), one))[: k - 1]
            classes.append([row, *near])
            free -= {row, *near}
    for row in sorted(free):
        min(classes, key=lambda members: joint([*members, row])).append(row)
    return [next(at for at, members in enumerate(classes) if row in members) for row in range(len(rows))]


def plain_one_pass(domain, costs, k, seed):
    rows = multiplicity(domain)
    present = [{row[j] for row in rows} for j in range(domain.width)]

    def far(row, members):
        total = Fraction(0)
        for j, (cost, tree) in enumerate(zip(costs, domain.hierarchies, strict=True)):
            if tree.low is None:
                total += cost([*(rows[one][j] for one in members), rows[row][j]])
                continue
            number = {leaf: int(tree.low[leaf]) for leaf in present[j]}
            if extent := max(number.values()) - min(number.values()):
                centre = Fraction(sum(number[rows[one][j]] for one in members), len(members))
                total += abs(number[rows[row][j]] - centre) / extent
        return total

    random = np.random.default_rng(seed)
    classes = [[one] for one in random.choice(len(rows), len(rows) // k, replace=False).tolist()]
    # The order of the quasi-identifiers is that of the leaves from left to right, numbers ascending.
    from kanopy.search.clustering.costs import leaf_order

    place = [
        {int(leaf): at for at, leaf in enumerate(np.argsort(tree.low[: tree.size], kind="stable")
         if tree.low is not None else leaf_order(tree))}
        for tree in domain.hierarchies
    ]  # fmt: skip
    rest = sorted(set(range(len(rows))) - {one for [one] in classes})
    for row in sorted(rest, key=lambda one: ([place[j][leaf] for j, leaf in enumerate(rows[one])], one)):
        min(classes, key=lambda members: far(row, members)).append(row)
    released = []
    for members in classes:
        if len(members) > k:
            ranked = sorted(members, key=lambda one: far(one, [*members]))
            released += ranked[k:]
            members[:] = ranked[:k]
    for row in random.permutation(sorted(released)).tolist():
        asked = [members for members in classes if len(members) < k] or classes
        min(asked, key=lambda members: far(row, members)).append(row)
    return [next(at for at, members in enumerate(classes) if row in members) for row in range(len(rows))]


@settings(max_examples=40, deadline=None)
@given(domains(), st.integers(1, 6), st.integers(0, 99))
def test_groups_are_those_of_the_definitions(drawn, k, seed):
    domain, free = drawn
    k = min(k, domain.rows)
    costs = plain_costs(domain, free)
    found = nearest_neighbour_clusters(domain, k, free=free, seed=seed)
    assert found.of_row.tolist() == plain_nearest_neighbours(multiplicity(domain), costs, k, seed)
    passed = one_pass_clusters(domain, k, free=free, seed=seed)
    assert passed.of_row.tolist() == plain_one_pass(domain, costs, k, seed)
    for groups in (found, passed):
        assert groups.sizes.min() >= k and groups.sizes.sum() == domain.rows
        placed = groups.measure.positions[domain.tuple_of_row]
        for at in range(groups.count):
            inside = placed[groups.of_row == at]
            assert (groups.low[at] == inside.min(axis=0)).all() and (groups.high[at] == inside.max(axis=0)).all()


@pytest.mark.parametrize("name", ["one-pass-k-means", "nearest-neighbours"])
def test_they_are_algorithms_like_others(name):
    tree = kanopy.Hierarchy.from_rows([["a", "x", "*"], ["b", "x", "*"], ["c", "y", "*"], ["d", "y", "*"]])
    domain = make_domain([[0, 1, 2, 3, 0, 2]], [tree])
    solution = make_algorithm(name).solve(Problem(domain, [KAnonymity(2)]))
    assert solution.algorithm == name and solution.recoding.classes.smallest >= 2
    with pytest.raises(NoSolution, match="7"):
        make_algorithm(name).solve(Problem(domain, [KAnonymity(7)]))
    frame = pl.DataFrame(
        {"age": [20, 21, 40, 41, 60, 61], "town": ["a", "b", "a", "b", "a", "b"], "ill": list("xyxyxy")}
    )
    job = kanopy.Job(quasi=["age", "town"], k=2, algorithm=name)
    result = kanopy.anonymize(frame, job)
    assert result.data.group_by("age", "town").len()["len"].min() >= 2
