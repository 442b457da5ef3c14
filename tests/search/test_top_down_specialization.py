"""Top-down specialization: a hand-worked run, properties, the class attribute, and what it refuses."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kanopy
from kanopy._core.classes import Domain, Sensitive
from kanopy._errors import HierarchyError, JobError, NoSolution
from kanopy._progress import SILENT, Progress
from kanopy.hierarchy.hierarchy import Hierarchy
from kanopy.privacy.models import KAnonymity, make_models
from kanopy.search.full_domain.optimal import Optimal
from kanopy.search.problem import Problem
from kanopy.search.subtree import top_down_specialization
from kanopy.search.subtree.forest import plant_forest
from kanopy.search.subtree.top_down_specialization import TopDownSpecialization, information_gains
from tests.search.clustering_support import make_domain
from tests.search.release_checks import check_release, cut_problems, published, shuffled

LETTERS = Hierarchy.from_rows([["a", "x", "*"], ["b", "x", "*"], ["c", "y", "*"], ["d", "y", "*"]], name="letter")
SEXES = Hierarchy.flat(["f", "m"], name="sex")


def table() -> Domain:
    """a f, a f, b f, b m, c m, c m, d m, d f: 8 rows."""
    return make_domain([[0, 0, 1, 1, 2, 2, 3, 3], [0, 0, 0, 1, 1, 1, 1, 0]], [LETTERS, SEXES], ("letter", "sex"))


def with_target(domain: Domain, codes: list[int], name: str = "class") -> Domain:
    column = Sensitive(name, ("no", "yes"), np.array(codes, np.int32))
    return Domain(domain.names, domain.hierarchies, domain.tuples, domain.counts, domain.tuple_of_row, (column,))


def test_a_run_by_hand() -> None:
    """k = 2. From (*, *): `sex` saves 8 of 8 and leaves classes of 4 (lost 4); `letter` saves 8 · 2/3 and leaves 4 too.

    After sex: letter * → x, y leaves x f 3, x m 1: not valid. So the release is (*, sex).
    """
    found = TopDownSpecialization().solve(Problem(table(), [KAnonymity(2)]))
    assert published(table(), found) == [("*", s) for s in "fffmmmmf"]
    assert found.score == pytest.approx(0.5)


def test_weights_turn_the_order() -> None:
    """With little weight on sex, letter goes first: x, y; then sex would leave x m alone, and y needs c c | d d."""
    found = TopDownSpecialization().solve(Problem(table(), [KAnonymity(2)], weights=[1.0, 0.01]))
    assert [row[0] for row in published(table(), found) if row] == list("aabbccdd")
    assert {row[1] for row in published(table(), found) if row} == {"*"}


def test_the_class_attribute_decides() -> None:
    """The class is the letter's upper half: letter tells everything about it, sex nothing much."""
    domain = with_target(table(), [0, 0, 0, 0, 1, 1, 1, 1])
    found = TopDownSpecialization(target="class").solve(Problem(domain, [KAnonymity(4)]))
    assert published(domain, found) == [(label, "*") for label in "xxxxyyyy"]
    assert published(domain, TopDownSpecialization().solve(Problem(domain, [KAnonymity(4)])))[0] == ("*", "f")


def test_information_gain_by_hand() -> None:
    domain = with_target(table(), [0, 0, 0, 1, 1, 1, 1, 1])
    forest = plant_forest(Problem(domain, [KAnonymity(2)]))
    gains = information_gains(forest, domain.sensitive[0])

    def entropy(*counts: int) -> float:
        whole = sum(counts)
        return -sum(c / whole * math.log2(c / whole) for c in counts if c)

    label = {domain.hierarchies[int(forest.column[v])].label(int(forest.node[v])): gains[v] for v in range(4)}
    assert label["*"] == pytest.approx(entropy(3, 5) - 0.5 * entropy(3, 1))
    assert label["x"] == pytest.approx(entropy(3, 1) - 0.5 * entropy(1, 1))
    assert label["y"] == 0
    sex = int(forest.start[1])
    assert gains[sex] == pytest.approx(entropy(3, 5) - 0.5 * entropy(3, 1))


def test_suppression_is_used_where_it_pays() -> None:
    """One row of x m may go: then (x, y) with sex is possible, at the loss of that row."""
    problem = Problem(table(), [KAnonymity(2)], suppression_limit=0.25)
    found = TopDownSpecialization().solve(problem)
    check_release(problem, found, subtree=True)
    assert found.recoding.suppressed_rows == 2
    assert found.score < 0.5


@settings(max_examples=60, deadline=None)
@given(problem=cut_problems(), data=st.data())
def test_releases_keep_every_promise(problem: Problem, data: st.DataObject) -> None:
    target = data.draw(st.sampled_from([None, "ill"]))
    try:
        found = TopDownSpecialization(target).solve(problem)
    except NoSolution:
        assert not problem.evaluate(problem.lattice.highest).feasible
        return
    check_release(problem, found, subtree=True)
    other = shuffled(problem, data.draw(st.permutations(range(problem.domain.rows))))
    again = TopDownSpecialization(target).solve(other)
    assert sorted(map(str, published(problem.domain, found))) == sorted(map(str, published(other.domain, again)))


@settings(max_examples=30, deadline=None)
@given(problem=cut_problems())
def test_compiled_and_plain_loops_lead_to_one_release(problem: Problem) -> None:
    def rows() -> list[tuple[str, ...] | None] | None:
        try:
            return published(problem.domain, TopDownSpecialization().solve(problem))
        except NoSolution:
            return None

    small = rows()
    before, top_down_specialization.SMALL = top_down_specialization.SMALL, 0
    try:
        assert rows() == small
    finally:
        top_down_specialization.SMALL = before


@settings(max_examples=40, deadline=None)
@given(problem=cut_problems())
def test_no_single_specialization_is_left(problem: Problem) -> None:
    """Where sizes decide and nothing is suppressed: splitting any published node leaves some class too small."""
    if not problem.of_sizes or problem.max_suppressed_rows:
        return
    try:
        found = TopDownSpecialization().solve(problem)
    except NoSolution:
        return
    domain, recoding = problem.domain, found.recoding
    forest = plant_forest(problem)
    labels = published(domain, found)
    rows = np.flatnonzero(recoding.group_of_row >= 0).tolist()
    leaf = {r: int(forest.leaves[forest.record_of_tuple[domain.tuple_of_row[r]], 0]) for r in rows}
    # Only the first column, by brute force.
    own = {int(forest.node[v]): v for v in range(int(forest.start[1]))}
    used = {own[int(recoding.nodes[0][recoding.codes[recoding.group_of_row[r], 0]])] for r in rows}
    for v in used:
        if not forest.children[v]:
            continue
        sizes: dict[tuple[object, ...], int] = {}
        for r in rows:
            under = forest.ancestor[forest.depth[v], leaf[r]] == v
            key = (int(forest.ancestor[forest.depth[v] + 1, leaf[r]]) if under else -1, *(labels[r] or ()))
            sizes[key] = sizes.get(key, 0) + 1
        assert min(sizes.values()) < problem.k


def test_stopping_keeps_the_release_reached() -> None:
    calls = []
    problem = Problem(table(), [KAnonymity(2)])
    found = TopDownSpecialization().solve(problem, Progress(lambda step: len(calls.append(step) or calls) < 1))
    check_release(problem, found, subtree=True)
    assert "Stopped" in found.notes[0]
    assert set(published(table(), found)) == {("*", "*")}


def test_close_to_the_best_levels() -> None:
    """Cuts include levels, but the greedy does not look back: the honest distance on a larger random table."""
    random = np.random.default_rng(5)
    columns = [random.choice(4, 400, p=[0.4, 0.3, 0.2, 0.1]), random.choice(2, 400)]
    domain = make_domain(columns, [LETTERS, SEXES], ("letter", "sex"))
    problem = Problem(domain, [KAnonymity(10)])
    assert TopDownSpecialization().solve(problem).score <= Optimal().solve(problem, SILENT).score


PEOPLE = {
    "age": ["30", "31", "32", "41", "42", "43"] * 3,
    "sex": ["f", "m"] * 9,
    "job": ["x", "x", "y", "y", "z", "z"] * 3,
    "id": list(range(18)),
}


def test_a_job_with_a_target_of_any_role() -> None:
    for extra in ({"rest": "publish"}, {"sensitive": ["job"]}, {"insensitive": ["job"]}):
        job = kanopy.Job(
            quasi=["age", "sex"], k=3, algorithm="top-down-specialization", parameters={"target": "job"}, **extra
        )  # fmt: skip
        result = kanopy.anonymize(PEOPLE, job)
        assert result.verification.smallest_class >= 3
        assert result.data["job"] == PEOPLE["job"]
        assert kanopy.Job.from_toml(job.to_toml()) == job


@pytest.mark.parametrize(
    ("extra", "target", "message"),
    [
        ({}, "age", "role quasi-identifier"),
        ({"identifiers": ["id"]}, "id", "role identifier"),
        ({}, "jobb", "Did you mean 'job'"),
        ({}, 7, "name of one column"),
    ],
)
def test_bad_targets(extra: dict[str, list[str]], target: object, message: str) -> None:
    with pytest.raises(JobError, match=message):
        kanopy.anonymize(
            PEOPLE,
            kanopy.Job(
                quasi=["age", "sex"], k=3, algorithm="top-down-specialization", parameters={"target": target}, **extra
            ),
        )


def test_bad_input_of_the_search_itself() -> None:
    problem = Problem(table(), [KAnonymity(2)])
    with pytest.raises(JobError, match="is a quasi-identifier"):
        TopDownSpecialization("sex").solve(problem)
    with pytest.raises(JobError, match="not among the columns"):
        TopDownSpecialization("clas").solve(problem)
    with pytest.raises(NoSolution, match="highest allowed level"):
        TopDownSpecialization().solve(Problem(table(), [KAnonymity(9)]))
    with pytest.raises(JobError, match="does not support the model"):
        TopDownSpecialization().solve(Problem(table(), make_models(["uniqueness:0.1"])))
    crossing = Hierarchy.from_rows(
        [["a", "x", "p"], ["b", "x", "q"], ["c", "y", "q"], ["d", "y", "p"]], require_nesting=False
    )
    other = Domain(("letter", "sex"), (crossing, SEXES), table().tuples, table().counts, table().tuple_of_row)
    with pytest.raises(HierarchyError, match="does not nest"):
        TopDownSpecialization().solve(Problem(other, [KAnonymity(2)]))


def test_a_target_with_too_many_values(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(top_down_specialization, "LARGEST_CLASS_TABLE", 5)
    domain = with_target(table(), [0, 1] * 4)
    with pytest.raises(JobError, match="class attribute with few"):
        TopDownSpecialization("class").solve(Problem(domain, [KAnonymity(2)]))
