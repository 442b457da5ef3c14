"""Li and Li's three schemes: what they allow, against brute force, by properties, and on Adult."""

from __future__ import annotations

from itertools import combinations, product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kanopy._core.classes import Domain, Sensitive
from kanopy._errors import Cancelled, HierarchyError, JobError, NoSolution
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
from kanopy.search.sets import set_search
from kanopy.search.sets.li_schemes import LiGOPS, LiGSPS, LiSPS
from kanopy.search.sets.set_schemes import Kind, Scheme, sets_of
from kanopy.search.sets.set_search import SetJudge
from kanopy.search.sets.value_sets import ValueColumn, ValueTable, value_table
from tests.search.problems import domains, hierarchies, wide
from tests.search.value_set_support import all_partitions, check_release, permuted, published_rows

KINDS: dict[Any, Kind] = {LiSPS: "any", LiGSPS: "guided", LiGOPS: "ordered"}
every = pytest.mark.parametrize("kind", list(KINDS))


def allowed(column: ValueColumn, number: np.ndarray, kind: Kind) -> bool:
    """The definition, word for word: a set that holds two values holds all that are closer to either.

    For the ordered scheme also: nothing that lies between two values of a set, under the same node, is missing.
    """
    if kind == "any":
        return True
    h = column.hierarchy
    parent = h.tree()

    def above(leaf: int) -> list[int]:
        chain = [leaf]
        while parent[chain[-1]] >= 0:
            chain.append(int(parent[chain[-1]]))
        return chain

    chains = [above(int(leaf)) for leaf in column.leaves]
    for x, y in combinations(range(column.size), 2):
        if number[x] != number[y]:
            continue
        common = next((node for node in chains[x] if node in chains[y]), None)
        if common is None:
            return False
        for z in range(column.size):
            for end in (x, y):
                # Closer: joined with this end strictly below where the two ends are joined.
                closer = any(node in chains[z] for node in chains[end][: chains[end].index(common)])
                if closer and number[z] != number[x]:
                    return False
            if kind == "ordered" and number[z] != number[x] and common in chains[z]:
                child = [
                    next(c for c in chains[v] if (v == v and parent[c] == common) or c == common) for v in (x, y, z)
                ]
                first = [min(v for v in range(column.size) if c in chains[v]) for c in child]
                if min(first[:2]) < first[2] < max(first[:2]):
                    return False
    return True


def column_of(hierarchy: Hierarchy) -> ValueColumn:
    counts = np.ones(hierarchy.size, np.int64)
    leaves = np.arange(hierarchy.size, dtype=np.int32)
    domain = Domain(("v",), (hierarchy,), leaves[:, None], counts, leaves)
    return value_table(Problem(domain, [KAnonymity(2)])).columns[0]


@settings(max_examples=60, deadline=None)
@given(hierarchies("v"), st.sampled_from(["any", "guided", "ordered"]))
def test_joins_reach_exactly_the_partitions_of_the_definition(hierarchy: Hierarchy, kind: Kind) -> None:
    column = column_of(hierarchy)
    scheme = Scheme(column, kind)
    reached = {tuple((value,) for value in range(column.size))}
    waiting = list(reached)
    while waiting:
        sets = waiting.pop()
        for a, b in np.argwhere(scheme.legal(sets)):
            after = set_search.joined((sets,), 0, int(a), int(b))[0]
            if after not in reached:
                reached.add(after)
                waiting.append(after)
    wanted = {tuple(sorted(sets_of(n))) for n in all_partitions(column.size) if allowed(column, n, kind)}
    assert reached == wanted
    assert scheme.count == len(wanted)
    for sets in reached:
        for number, held in enumerate(sets):
            for out in scheme.parts(held):
                assert set_search.parted((sets,), 0, number, out)[0] in wanted


def cost(table: ValueTable, judge: SetJudge, set_of: tuple[np.ndarray, ...]) -> tuple[float, int]:
    """Independent of the engine: straight from the definition of the two measures."""
    keys = np.column_stack([number[table.codes[:, j]] for j, number in enumerate(set_of)])
    _, inverse = np.unique(keys, axis=0, return_inverse=True)
    sizes = np.bincount(inverse.reshape(-1), weights=table.counts)[inverse.reshape(-1)]
    gone = int(table.counts[sizes < judge.k].sum())
    if judge.squares:
        each = np.where(sizes >= judge.k, sizes, table.rows)
    else:
        each = np.zeros(len(sizes))
        for j, (column, number) in enumerate(zip(table.columns, set_of, strict=True)):
            count = np.bincount(number)[number[table.codes[:, j]]]
            share = np.where((count == column.size) & (count > 1), 1.0, count / column.hierarchy.size)
            each += judge.coefficients[j] * np.where(sizes >= judge.k, share, 1.0)
    return float(np.dot(each, table.counts)), gone


@st.composite
def set_problems(draw: st.DrawFn) -> Problem:
    domain = draw(domains(most_attributes=2))
    return Problem(
        domain,
        [KAnonymity(draw(st.integers(2, 5)))],
        metric_named(draw(st.sampled_from(["loss", "discernibility"]))),
        weights=[draw(st.sampled_from([1.0, 0.5, 3.0])) for _ in domain.hierarchies],
        suppression_limit=draw(st.sampled_from([0.0, 0.05, 0.2, 0.5, 1.0])),
    )


@every
@settings(max_examples=12, deadline=None)
@given(problem=set_problems())
def test_it_finds_what_brute_force_finds(kind: Any, problem: Problem) -> None:
    table = value_table(problem)
    judge = SetJudge(problem, table)
    options = [[n for n in all_partitions(column.size) if allowed(column, n, KINDS[kind])] for column in table.columns]
    costs = [found for found in (cost(table, judge, s) for s in product(*options)) if found[1] <= judge.most_gone]
    if not costs:
        with pytest.raises(NoSolution):
            kind().solve(problem)
        return
    found = kind().solve(problem)
    assert found.optimal
    assert found.candidates == len(options[0]) * (len(options[1]) if len(options) > 1 else 1)
    check_release(problem, found)
    least = min(c for c, _ in costs)
    excluded = problem.domain.excluded_rows * judge.price
    rows = problem.domain.rows
    if judge.squares:
        assert found.score == least + excluded
    else:
        base = sum(
            float(c) * rows / column.hierarchy.size for c, column in zip(judge.coefficients, table.columns, strict=True)
        )
        assert found.score == pytest.approx(least + excluded - base, abs=1e-9)


@every
@settings(max_examples=15, deadline=None)
@given(problem=set_problems(), seed=st.integers(0, 5))
def test_the_order_of_rows_does_not_matter(kind: Any, problem: Problem, seed: int) -> None:
    other, order = permuted(problem.domain, seed)
    mixed = Problem(
        other, problem.models, problem.metric, weights=problem.weights, suppression_limit=problem.suppression_limit
    )
    try:
        straight = published_rows(kind(steps=3).solve(problem))
    except NoSolution:
        with pytest.raises(NoSolution):
            kind(steps=3).solve(mixed)
        return
    assert [straight[row] for row in order] == published_rows(kind(steps=3).solve(mixed))


def letters(rows: list[int], tree: Hierarchy | None = None) -> Domain:
    tree = tree or Hierarchy.from_rows([[v, g, "*"] for v, g in ["ax", "bx", "cx", "dy", "ey"]], name="letter")
    of_row = np.array(rows, np.int32)
    counts = np.bincount(of_row, minlength=tree.size).astype(np.int64)
    return Domain(("letter",), (tree,), np.arange(tree.size, dtype=np.int32)[:, None], counts, of_row)


def test_the_three_schemes_by_hand() -> None:
    """Rows per letter 1, 3, 1, 1, 4 and k = 2: a, c and d need company. A row in a set of s values costs s/5.

    Any sets: {a, c, d} costs 9, b and e 3 + 4; {a, c} and {d, e} would cost 4 + 10 and b 3. GSPS must keep d with its
    sibling e, so {a, c}, b, {d, e}. GOPS joins neighbours only: c must go with b, a with b, so x is whole, and y.
    """
    problem = Problem(letters([0, 1, 1, 1, 2, 3, 4, 4, 4, 4]), [KAnonymity(2)])
    assert LiSPS().solve(problem).recoding.labels == (("{a, c, d}", "b", "e"),)
    assert LiGSPS().solve(problem).recoding.labels == (("{a, c}", "b", "y"),)
    assert LiGOPS().solve(problem).recoding.labels == (("x", "y"),)


@every
def test_never_worse_than_the_best_full_domain_release_on_adult(kind: Any) -> None:
    names = ["age", "workclass", "education", "marital-status", "occupation", "race", "sex", "native-country"]
    all_of = datasets.adult_hierarchies()
    frame = datasets.adult(complete=True).select(names)[:6000]
    domain = LocalEngine().count(frame, {name: all_of[name] for name in names}).domain
    for limit in (0.0, 0.02):
        problem = Problem(domain, [KAnonymity(5)], suppression_limit=limit)
        found = kind(steps=4).solve(problem)
        best_levels = Optimal().solve(problem, SILENT).score
        assert found.score <= best_levels and (limit == 0 or found.score < best_levels)
        assert found.recoding.classes.smallest >= 5
        assert found.recoding.suppressed_rows <= problem.max_suppressed_rows
        assert found.score == pytest.approx(release_losses(domain, found.recoding, problem.weights)["loss"])
        again = kind(steps=4).solve(problem)
        assert published_rows(found) == published_rows(again)


@every
def test_compiled_and_plain_kernels_find_the_same(kind: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    generator = np.random.default_rng(5)
    tree = Hierarchy.from_rows([[f"v{i}", f"g{i // 3}", "*"] for i in range(6)], name="letter")
    cells = generator.integers(0, 6, (60, 2))
    tuples, of_row, counts = np.unique(cells, axis=0, return_inverse=True, return_counts=True)
    domain = Domain(
        ("a", "b"), (tree, tree), tuples.astype(np.int32), counts.astype(np.int64), of_row.reshape(-1).astype(np.int32)
    )
    problem = Problem(domain, [KAnonymity(4)], suppression_limit=0.1)
    found = []
    for small in (0, 1000):
        monkeypatch.setattr(set_search, "SMALL", small)
        found.append(published_rows(kind(steps=5).solve(problem)))
    assert found[0] == found[1]


@every
def test_bad_input_is_refused_with_what_works(kind: Any) -> None:
    domain = letters([0, 1, 1, 2, 3, 4, 4])
    with pytest.raises(JobError, match=r"budget_seconds of the algorithm .* more than 0"):
        kind(budget_seconds=0)
    with pytest.raises(JobError, match=r"steps of the algorithm .* at least 0"):
        kind(steps=-1)
    with pytest.raises(JobError, match=r"levels of a column cannot be limited.*'optimal'"):
        kind().solve(Problem(domain, [KAnonymity(2)], highest_levels=[1]))
    with pytest.raises(NoSolution, match="fewer than k = 8"):
        kind().solve(Problem(domain, [KAnonymity(8)]))
    ill = Sensitive("ill", ("a", "b"), np.arange(7, dtype=np.int32) % 2)
    sick = Domain(domain.names, domain.hierarchies, domain.tuples, domain.counts, domain.tuple_of_row, (ill,))
    with pytest.raises(JobError, match=r"k-anonymity alone.*'l-distinct'.*'best'"):
        kind().solve(Problem(sick, [KAnonymity(2), DistinctDiversity("ill", 2)]))


def test_hierarchies_that_do_not_nest_guide_nobody() -> None:
    rows = [["1", "a", "x", "*"], ["2", "a", "y", "*"], ["3", "b", "x", "*"], ["4", "b", "y", "*"]]
    crossing = Hierarchy.from_rows(rows, name="n", require_nesting=False)
    problem = Problem(letters([0, 1, 2, 3], crossing), [KAnonymity(2)])
    for kind in (LiGSPS, LiGOPS):
        with pytest.raises(HierarchyError, match="does not nest"):
            kind().solve(problem)
    assert LiSPS().solve(problem).recoding.classes.smallest == 2


def test_without_a_common_top_guided_sets_stay_apart() -> None:
    forest = Hierarchy.from_rows([["a", "x"], ["b", "x"], ["c", "y"]], name="letter")
    problem = Problem(letters([0, 1, 2], forest), [KAnonymity(2)])
    with pytest.raises(NoSolution, match="leaves 1 rows") as caught:
        LiGSPS().solve(problem)
    assert any("one top" in line for line in caught.value.advice)
    assert LiSPS().solve(problem).recoding.labels == (("{a, b, c}",),)


@every
def test_interrupted_it_keeps_the_best_so_far(kind: Any) -> None:
    stages: list[str] = []

    def stop(step: Any) -> bool:
        stages.append(step.stage)
        return stages[-1] != "refining sets"

    problem = Problem(letters([0, 1, 1, 2, 3, 4, 4]), [KAnonymity(2)])
    found = kind().solve(problem, Progress(stop))
    assert not found.optimal and "stopped" in found.notes[0]
    check_release(problem, found)
    with pytest.raises(Cancelled):
        kind().solve(problem, Progress(lambda step: False))


def test_another_metric_is_only_reported() -> None:
    problem = Problem(letters([0, 1, 1, 2, 3, 4, 4]), [KAnonymity(2)], metric_named("aecs"))
    found = LiSPS().solve(problem)
    assert found.score == release_losses(problem.domain, found.recoding, problem.weights)["aecs"]
    assert any("It lowers loss" in note for note in found.notes)


def test_the_start_is_part_of_the_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    given, search = [], Optimal.search

    def noted(self: Optimal, *problem: Any) -> Any:
        given.append(self.budget_seconds)
        return search(self, *problem)

    monkeypatch.setattr(Optimal, "search", noted)
    problem = Problem(wide(4), [KAnonymity(5)])
    LiGOPS(budget_seconds=0.05).solve(problem)
    LiGOPS(steps=1).solve(problem.changed())
    assert 0 < given[0] <= 0.05 and given[1] is None
