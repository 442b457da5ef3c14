"""Full-domain search under every model, against judging every candidate in plain Python."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kanopy._core.classes import Classes, ClassLabels, Domain, Population, Sensitive
from kanopy._errors import DataError, JobError, NoSolution
from kanopy._progress import SILENT
from kanopy.hierarchy.hierarchy import Hierarchy
from kanopy.metrics.full_domain import ClassMetric, metric_named
from kanopy.privacy.models import KAnonymity, Model, parse_model
from kanopy.search.clustering.kmember import KMember
from kanopy.search.clustering.mondrian import Mondrian
from kanopy.search.full_domain import lattice_walk as walking
from kanopy.search.full_domain.datafly import Datafly
from kanopy.search.full_domain.incognito import Incognito
from kanopy.search.full_domain.optimal import Optimal
from kanopy.search.full_domain.samarati import Samarati
from kanopy.search.judge import LevelJudgement
from kanopy.search.problem import Problem
from tests.search.problems import domains
from tests.search.test_full_domain import plain_score

TREE = Hierarchy.from_rows([["a", "x", "*"], ["b", "x", "*"], ["c", "y", "*"]], name="s")
TEXTS = [
    "l-distinct:s:2", "p-sensitive:s:2", "l-entropy:s:1.5", "l-recursive:s:3,2", "t-equal:s:0.3", "t-ordered:s:0.3",
    "t-hierarchical:s:0.3", "alpha-k:s:0.7,2", "beta-basic:s:1", "beta-enhanced:s:1", "delta-disclosure:s:1",
    "delta-disclosure:s:1,ignored", "epsilon-m:s:0.5,2", "l-plus:s:a=2|b=1.5", "k-map:4", "delta-presence:0,0.6",
    "delta-presence:0.2,0.9", "risk-average:0.3", "uniqueness:0.1",
]  # fmt: skip
VALUES, NUMBERS = ("a", "b", "c"), np.array([1.0, 2.0, 3.0])


@st.composite
def cases(draw: st.DrawFn) -> tuple[Domain, list[Model], float, str]:
    """A random table with a sensitive column, a population around it, some models, a limit, a metric."""
    domain = draw(domains(most_attributes=3))
    codes = np.array(draw(st.lists(st.integers(0, 2), min_size=domain.rows, max_size=domain.rows)), np.int32)
    codes[: min(3, len(codes))] = np.arange(min(3, len(codes)))
    extra = draw(
        st.lists(st.tuples(*(st.integers(0, h.size - 1) for h in domain.hierarchies)), min_size=1, max_size=25)
    )
    everybody = np.concatenate([np.repeat(domain.tuples, domain.counts, axis=0), np.array(extra, np.int32)])
    tuples, counts = np.unique(everybody, axis=0, return_counts=True)
    domain = replace(
        domain,
        sensitive=(Sensitive("s", VALUES, codes, NUMBERS, TREE),),
        population=Population(tuples.astype(np.int32), counts.astype(np.int64)),
    )
    texts = draw(st.lists(st.sampled_from(TEXTS), min_size=1, max_size=2, unique=True))
    if len(codes) < 3:
        texts = ["k-map:4"]
    models: list[Model] = [KAnonymity(draw(st.integers(2, 3))), *(parse_model(text) for text in texts)]
    limit = draw(st.sampled_from([0.0, 0.1, 0.3, 1.0]))
    return domain, models, limit, draw(st.sampled_from(["loss", "precision", "aecs", "discernibility", "height"]))


def brute_force(problem: Problem) -> LevelJudgement | None:
    """Every candidate: rows grouped by label tuples, models asked class by class."""
    domain, best = problem.domain, None
    assert domain.population is not None
    codes = domain.sensitive[0].code_of_row
    for levels in problem.lattice:
        lift = [h.level(level).codes for h, level in zip(domain.hierarchies, levels, strict=True)]
        members: dict[tuple[int, ...], list[int]] = {}
        for row, number in enumerate(domain.tuple_of_row):
            if number >= 0:
                key = tuple(int(c[x]) for c, x in zip(lift, domain.tuples[number], strict=True))
                members.setdefault(key, []).append(row)
        people: dict[tuple[int, ...], int] = {}
        for row, count in zip(domain.population.tuples, domain.population.counts, strict=True):
            key = tuple(int(c[x]) for c, x in zip(lift, row, strict=True))
            people[key] = people.get(key, 0) + int(count)
        keys = list(people)
        table = np.array([np.bincount(codes[members.get(key, [])], minlength=3) for key in keys], np.int64)
        whole = Classes(
            table.sum(axis=1), histograms={"s": table}, facts=domain.facts, population=np.array(list(people.values()))
        )
        wrong = whole.sizes == 0
        for model in problem.models:
            wrong |= model.violated(whole)
        kept = Classes(
            whole.sizes[~wrong], histograms={"s": table[~wrong]}, facts=domain.facts,
            population=np.array(list(people.values()))[~wrong],
        )  # fmt: skip
        suppressed = int(whole.sizes[wrong].sum())
        if suppressed > problem.max_suppressed_rows or not all(m.satisfied(kept, whole) for m in problem.models):
            continue
        sizes = {key: int(size) for key, size, bad in zip(keys, whole.sizes, wrong, strict=True) if not bad}
        found = LevelJudgement(
            feasible=True,
            score=plain_score(problem, levels, sizes, suppressed),
            suppressed_rows=suppressed,
            levels=levels,
            classes=len(sizes),
        )
        if found.better_than(best):
            best = found
    return best


@settings(max_examples=120, deadline=None)
@given(cases())
def test_optimal_equals_brute_force(case: tuple[Domain, list[Model], float, str]) -> None:
    domain, models, limit, metric = case
    try:
        problem = Problem(domain, models, metric_named(metric), suppression_limit=limit)
    except (JobError, DataError):
        return  # more different values asked for than the table has
    wanted = brute_force(problem)
    if wanted is None:
        with pytest.raises(NoSolution):
            Optimal().solve(problem, SILENT)
        return
    found = Optimal(threads=1).solve(problem, SILENT)
    assert found.score == pytest.approx(wanted.score)
    assert found.levels == wanted.levels
    assert found.recoding.suppressed_rows - domain.excluded_rows == wanted.suppressed_rows
    if isinstance(problem.metric, ClassMetric):
        assert found.recoding.classes.count == wanted.classes


@settings(max_examples=60, deadline=None)
@given(cases())
def test_walking_with_bounds_made_anew_every_time_equals_brute_force(
    case: tuple[Domain, list[Model], float, str],
) -> None:
    domain, models, _, metric = case
    try:
        problem = Problem(domain, models, metric_named(metric), suppression_limit=1.0)
    except (JobError, DataError):
        return
    wanted = brute_force(problem)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(walking, "BATCH", 2)
        patch.setattr(walking, "REFRESH", 1)
        found = walking.Walk(problem, np.zeros(problem.lattice.shape, np.int64)).run()
    assert (found is None) == (wanted is None)
    if found is not None and wanted is not None:
        assert (found.levels, found.score) == (wanted.levels, pytest.approx(wanted.score))


@settings(max_examples=40, deadline=None)
@given(cases())
def test_other_algorithms_agree_or_refuse(case: tuple[Domain, list[Model], float, str]) -> None:
    domain, models, limit, _ = case
    try:
        best = Optimal().solve(Problem(domain, models, suppression_limit=limit), SILENT)
    except (JobError, DataError, NoSolution):
        return
    for algorithm in (Incognito(), Samarati(), Datafly()):
        problem = Problem(domain, models, suppression_limit=limit)
        try:
            found = algorithm.solve(problem, SILENT)
        except JobError as error:
            assert "never less safe" in str(error)
            assert not problem.monotonic
            continue
        except NoSolution:
            assert not problem.monotonic
            continue
        assert found.score >= best.score - 1e-9
        if isinstance(algorithm, Incognito):
            assert found.levels == best.levels


@pytest.mark.parametrize(
    "text", ["k-map:3", "delta-presence:0,0.5", "risk-average:0.5", "uniqueness:0.1", "constrained:a0:v0"]
)
@pytest.mark.parametrize("algorithm", [KMember(), Mondrian()])
def test_clusterings_refuse_what_they_cannot_promise(text: str, algorithm: KMember | Mondrian) -> None:
    h = Hierarchy.flat(["v0", "v1"], name="a0")
    tuples = np.array([[0], [1]], np.int32)
    domain = Domain(
        ("a0",), (h,), tuples, np.array([3, 3]), np.repeat([0, 1], 3).astype(np.int32),
        population=Population(tuples, np.array([9, 9])),
    )  # fmt: skip
    with pytest.raises(JobError, match=f"{algorithm.name!r} does not support the model"):
        algorithm.solve(Problem(domain, [KAnonymity(2), parse_model(text)]), SILENT)


def test_constrained_search_by_hand() -> None:
    h = Hierarchy.from_rows([["Lyon", "France", "*"], ["Paris", "France", "*"], ["Rome", "Italy", "*"]], name="city")
    domain = Domain(
        ("city",), (h,), np.array([[0], [1], [2]], np.int32), np.array([1, 2, 1]), np.array([0, 1, 1, 2], np.int32)
    )
    free = Optimal().solve(Problem(domain, [KAnonymity(3)]), SILENT)
    assert free.levels == (2,)
    with pytest.raises(NoSolution):
        Optimal().solve(Problem(domain, [KAnonymity(3), parse_model("constrained:city:France")]), SILENT)
    held = Problem(domain, [KAnonymity(3), parse_model("constrained:city:France")], suppression_limit=0.25)
    found = Optimal().solve(held, SILENT)
    assert found.levels == (1,)
    assert found.recoding.suppressed_rows == 1
    labels = ClassLabels(np.array([0]), ("France",), h)
    assert not parse_model("constrained:city:France").violated(Classes(np.array([3]), labels={"city": labels})).any()


def test_population_smaller_than_the_table_is_refused() -> None:
    h = Hierarchy.flat(["v0", "v1"], name="a")
    tuples = np.array([[0], [1]], np.int32)
    small = Population(tuples, np.array([2, 2]))
    domain = Domain(("a",), (h,), tuples, np.array([3, 3]), np.repeat([0, 1], 3).astype(np.int32), population=small)
    with pytest.raises(DataError, match="population has 4 rows, fewer than the 6"):
        Problem(domain, [parse_model("k-map:2")])
    with pytest.raises(JobError, match="Give one"):
        Problem(replace(domain, population=None), [parse_model("k-map:2")])
