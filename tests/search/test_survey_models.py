"""Individual risk, household risk and subset-k in searches, against judging every candidate in plain Python."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from itertools import combinations
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kanopy
from kanopy._core.classes import Domain, Survey
from kanopy._errors import DataError, JobError, NoSolution
from kanopy._parameters import parameters_of
from kanopy.metrics.full_domain import metric_named
from kanopy.privacy.models import KAnonymity, Model, parse_model
from kanopy.search.algorithms import ALGORITHMS, algorithm_class, make_algorithm
from kanopy.search.problem import Problem
from tests.search.problems import domains
from tests.search.test_full_domain import plain_score

TEXTS = ["individual-risk:0.05", "individual-risk:0.2", "household-risk:0.1", "household-risk:0.4", "subset-k:1:3",
         "subset-k:2:3", "subset-k:1:4,2:2"]  # fmt: skip


def columns_for(*texts: str) -> dict[str, Any]:
    """The columns of the survey that models look at, and no others."""
    models = [parse_model(text) for text in texts]
    asked = {
        "sampling_weight": "w" if any(model.needs_weights for model in models) else None,
        "household": "home" if any(model.needs_households for model in models) else None,
    }
    return {name: column for name, column in asked.items() if column is not None}


def plain_risk(rows: int, people: float) -> float:
    """The published formulas, written down once more."""
    p = rows / people
    if p >= 1:
        return 1 / rows
    odds = p / (1 - p)
    if rows == 1:
        return odds * math.log(1 / p)
    if rows == 2:
        return odds - odds**2 * math.log(1 / p)
    return p / (rows - (1 - p))


def unsafe_rows(shown: list[tuple[Any, ...]], survey: Survey, model: Model, there: set[int]) -> set[int]:
    """Rows that a model finds unsafe among those that are there, by its definition."""
    if model.name == "k":
        counts = Counter(shown[row] for row in there)
        return {row for row in there if counts[shown[row]] < model.k}  # type: ignore[attr-defined]
    if model.name == "subset-k":
        left = set(there)
        while True:
            wrong = set()
            for size, k in model.every:  # type: ignore[attr-defined]
                for chosen in combinations(range(len(shown[0])), size):
                    parts = {row: tuple(shown[row][j] for j in chosen) for row in left}
                    counts = Counter(parts.values())
                    wrong |= {row for row in left if counts[parts[row]] < k}
            if not wrong:
                return there - left
            left -= wrong
    rows, people = Counter[Any](), Counter[Any]()
    for row in there:
        rows[shown[row]] += 1
        people[shown[row]] += survey.weight_of_row[row]
    risk = {row: plain_risk(rows[shown[row]], people[shown[row]]) for row in there}
    most = model.most * (1 + 1e-9)  # type: ignore[attr-defined]
    if model.name == "individual-risk":
        return {row for row in there if risk[row] > most}
    assert survey.household_of_row is not None
    homes: dict[int, list[int]] = {}
    for row in there:
        homes.setdefault(int(survey.household_of_row[row]), []).append(row)
    gone: set[tuple[Any, ...]] = set()
    while True:
        found = set()
        for members in homes.values():
            left = [row for row in members if shown[row] not in gone]
            if left and 1 - math.prod(1 - risk[row] for row in left) > most:
                riskiest = max(risk[row] for row in left) * (1 - 1e-9)
                found |= {shown[row] for row in left if risk[row] >= riskiest}
        if not found:
            return {row for row in there if shown[row] in gone}
        gone |= found


def released(shown: list[tuple[Any, ...]], survey: Survey, models: list[Model], there: set[int]) -> set[int]:
    """The rows that are kept: small classes go first, then what the models find unsafe, until subset-k holds."""
    kept = there - {row for model in models if model.name == "k" for row in unsafe_rows(shown, survey, model, there)}
    kept -= {row for model in models for row in unsafe_rows(shown, survey, model, kept)}
    for model in models:
        if model.name == "subset-k":
            kept -= unsafe_rows(shown, survey, model, kept)
    return kept


def brute_force(problem: Problem) -> float | None:
    domain = problem.domain
    assert domain.survey is not None
    best = None
    for levels in problem.lattice:
        lift = [h.level(level).codes for h, level in zip(domain.hierarchies, levels, strict=True)]
        shown = [tuple(int(c[x]) for c, x in zip(lift, domain.tuples[t], strict=True)) for t in domain.tuple_of_row]
        there = {row for row, t in enumerate(domain.tuple_of_row) if t >= 0}
        kept = released(shown, domain.survey, list(problem.models), there)
        suppressed = len(there) - len(kept)
        if suppressed <= problem.max_suppressed_rows:
            sizes = dict(Counter(shown[row] for row in kept))
            score = plain_score(problem, levels, sizes, suppressed)
            best = score if best is None else min(best, score)
    return best


@st.composite
def cases(draw: st.DrawFn) -> tuple[Domain, list[Model], float, str]:
    domain = draw(domains(most_attributes=3))
    rows = domain.rows
    weights = np.array(draw(st.lists(st.sampled_from([0.5, 1.0, 3.0, 12.25, 40.0]), min_size=rows, max_size=rows)))
    homes = np.array(draw(st.lists(st.integers(0, 5), min_size=rows, max_size=rows)), np.int32)
    domain = replace(domain, survey=Survey(weights, homes))
    k = draw(st.integers(1, 3))  # 1: none, the other models stand in
    models: list[Model] = [KAnonymity(k)] if k > 1 else []
    models += [
        parse_model(text) for text in draw(st.lists(st.sampled_from(TEXTS), min_size=1, max_size=2, unique=True))
    ]
    limit = draw(st.sampled_from([0.0, 0.1, 0.3, 1.0]))
    return domain, models, limit, draw(st.sampled_from(["loss", "aecs", "height"]))


@settings(max_examples=100, deadline=None)
@given(cases())
def test_optimal_equals_brute_force(case: tuple[Domain, list[Model], float, str]) -> None:
    domain, models, limit, metric = case
    problem = Problem(domain, models, metric_named(metric), suppression_limit=limit)
    wanted = brute_force(problem)
    for name in ("optimal", "incognito", "samarati"):
        about = algorithm_class(name).about
        if not all(about.supports(model, suppressing=problem.max_suppressed_rows > 0) for model in models):
            continue
        fresh = Problem(domain, models, metric_named(metric), suppression_limit=limit)
        if wanted is None:
            with pytest.raises(NoSolution):
                make_algorithm(name).solve(fresh)
            continue
        found = make_algorithm(name).solve(fresh)
        if name != "samarati":  # which minimizes the height
            assert found.score == pytest.approx(wanted), name


@settings(max_examples=100, deadline=None)
@given(cases(), st.data())
def test_coarser_is_safer(case: tuple[Domain, list[Model], float, str], data: st.DataObject) -> None:
    """What the searches prune by: individual risk and subset-k never suppress more in a coarser release, and household
    risk is never broken by one where nothing is suppressed."""
    domain, models, _, _ = case
    model = models[-1]
    problem = Problem(domain, [*(each for each in models if each.name == "k"), model])
    fine = tuple(data.draw(st.integers(0, h.height)) for h in domain.hierarchies)
    coarse = tuple(data.draw(st.integers(level, h.height)) for level, h in zip(fine, domain.hierarchies, strict=True))
    finer, coarser = (problem.verdict(levels, problem.full_tables.table(levels)).violated for levels in (fine, coarse))
    if model.monotonic_with_suppression:
        rows = [int(problem.full_tables.table(levels).sizes[wrong].sum()) for levels, wrong in
                ((fine, finer), (coarse, coarser))]  # fmt: skip
        assert rows[1] <= rows[0]
    assert not model.monotonic or finer.any() or not coarser.any()


PEOPLE = kanopy.datasets.adult().head(1_500)


def survey_table() -> pl.DataFrame:
    rng = np.random.default_rng(3)
    frame = pl.DataFrame({name: PEOPLE[name] for name in ("age", "sex", "race", "education")})
    return frame.with_columns(
        pl.Series("w", np.round(rng.lognormal(3, 0.6, frame.height), 3)),
        pl.Series("home", rng.integers(0, 600, frame.height)),
    )


@cache
def cuts_by_default(suppress: float) -> Mapping[str, kanopy.Hierarchy]:
    """Hierarchies as a job without any fits them, whatever its algorithm and models."""
    job = kanopy.Job(quasi=["age", "sex", "race", "education"], k=2, suppress=suppress)
    return kanopy.anonymize(survey_table(), job).hierarchies


def violations(published: pl.DataFrame, original: pl.DataFrame, quasi: list[str], model: Model) -> int:
    """Rows of a release that break a model, counted from its labels by the plain definitions."""
    shown = [tuple(map(str, row)) for row in published.select(quasi).iter_rows()]
    there = {row for row, labels in enumerate(shown) if set(labels) != {"*"}}
    homes = original["home"].to_numpy().astype(np.int32)
    return len(unsafe_rows(shown, Survey(original["w"].to_numpy(), homes), model, there))


@pytest.mark.parametrize("text", ["individual-risk:0.01", "household-risk:0.05", "subset-k:1:20,2:5"])
@pytest.mark.parametrize("suppress", [0.0, 0.05])
@pytest.mark.parametrize("name", ALGORITHMS)
def test_every_algorithm_keeps_the_model_or_refuses(name: str, suppress: float, text: str) -> None:
    table, quasi, model = survey_table(), ["age", "sex", "race", "education"], parse_model(text)
    about, parameters = algorithm_class(name).about, parameters_of(algorithm_class(name))
    own: dict[str, Any] = {"steps": 5} if "steps" in parameters else {}
    own |= {"target": "home"} if "target" in parameters else {}
    own |= {"generations": 2} if "generations" in parameters else {}
    own |= {"distance": "gower"} if "distance" in parameters else {}
    job: dict[str, Any] = {"parameters": own, "insensitive": ["home"] if "target" in own else []}
    over_levels = algorithm_class(name).recoding == "full-domain"
    if over_levels and (name, suppress) != ("optimal", 0.05):  # fitting takes most of the time
        job["hierarchies"] = cuts_by_default(suppress)
    wanted = kanopy.Job(quasi=quasi, k=2, suppress=suppress, algorithm=name, models=[text], **columns_for(text), **job)
    if not about.supports(model, suppressing=suppress > 0):
        with pytest.raises(JobError, match=r"Use algorithm|'optimal'"):
            kanopy.anonymize(table, wanted)
        return
    found = kanopy.anonymize(table, wanted)
    assert violations(found.data, table, quasi, model) == 0
    assert kanopy.check(found.data.with_columns(table["w"], table["home"]), wanted, as_release=True).holds


def test_the_second_opinion_counts_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    """A search that finds everything safe is caught before anything is published."""
    from kanopy._errors import VerificationFailed
    from kanopy.search.class_statistics import ClassStatistics

    table, quasi = survey_table(), ["age", "sex", "race", "education"]
    settings: dict[str, Any] = {"quasi": quasi, "k": 2}
    settings["hierarchies"] = cuts_by_default(0.0)
    true = ClassStatistics._of_survey

    def flattering(self: ClassStatistics, *given: Any) -> dict[str, Any]:
        found = true(self, *given)
        return {**found, "weights": found["weights"] * 1000}

    monkeypatch.setattr(ClassStatistics, "_of_survey", flattering)
    for text in ("individual-risk:0.001", "household-risk:0.002"):
        with pytest.raises(VerificationFailed, match="violate the model"):
            kanopy.anonymize(table, kanopy.Job(models=[text], **columns_for(text), **settings))


@pytest.mark.parametrize(
    ("job", "words"),
    [
        ({"models": ["individual-risk:0.01"]}, "needs sampling weights"),
        ({"models": ["household-risk:0.01"], "sampling_weight": "w"}, "needs households: name their column"),
        ({"models": ["household-risk:0.01"], "household": "home"}, "needs sampling weights"),
        ({"models": ["individual-risk:0.01"], "sampling_weight": "age"}, "'age' is a quasi-identifier"),
        ({"models": ["individual-risk:0"], "sampling_weight": "w"}, "above 0"),
        ({"models": ["individual-risk:0.01"], "sampling_weight": 5}, "the name of a column"),
        ({"models": ["subset-k:3:2"]}, "but has only 2"),
        ({"models": ["subset-k:2"]}, "such as 2:10,3:3"),
        ({"models": ["subset-k:2:1"]}, "at least 2"),
        ({"models": ["individual-risk:0.01"], "sampling_weight": "ww"}, "no column 'ww'"),
        ({"models": ["individual-risk:0.01"], "sampling_weight": "home"}, "zero or negative"),
        ({"models": ["individual-risk:0.01"], "sampling_weight": "education"}, "hold '1"),
    ],
)  # fmt: skip
def test_bad_input(job: dict[str, Any], words: str) -> None:
    with pytest.raises((JobError, DataError), match=words):
        kanopy.anonymize(survey_table(), kanopy.Job(quasi=["age", "sex"], k=2, **job))


@pytest.mark.parametrize("bad", [0.0, -3.5, None, float("nan"), "many"])
def test_a_job_with_bad_weights_names_rows_and_what_to_do(bad: Any) -> None:
    table = survey_table().head(50)
    held = [bad, *table["w"].to_list()[1:]]
    weights = pl.Series("w", [None if each is None else str(each) for each in held] if bad == "many" else held)
    job = kanopy.Job(quasi=["age", "sex"], k=2, models=["individual-risk:0.5"], sampling_weight="w")
    words = "hold 'many'" if bad == "many" else "missing, zero or negative in 1 row: .* in rows 1 "
    with pytest.raises(DataError, match=words):
        kanopy.anonymize(table.with_columns(weights), job)
    with pytest.raises(DataError, match=words):
        kanopy.check(table.with_columns(weights), quasi=["age"], models=["individual-risk:0.5"], sampling_weight="w")


def test_check_asks_for_what_models_need() -> None:
    table = survey_table()
    with pytest.raises(JobError, match="needs sampling weights"):
        kanopy.check(table, quasi=["age"], models=["individual-risk:0.1"])
    with pytest.raises(JobError, match="needs households"):
        kanopy.check(table, quasi=["age"], models=["household-risk:0.1"], sampling_weight="w")
    found = kanopy.check(
        table, quasi=["age", "sex"], models=["individual-risk:0.01", "subset-k:1:5"], sampling_weight="w"
    )
    assert not found.holds and found.models[0].failing_rows == violations(
        table.select("age", "sex"), table, ["age", "sex"], parse_model("individual-risk:0.01")
    )


def test_jobs_are_written_and_read() -> None:
    job = kanopy.Job(
        quasi=["a", "b"], models=["individual-risk:0.01", "household-risk:0.02", "subset-k:1:10,2:3"],
        sampling_weight="w", household="h",
    )  # fmt: skip
    assert kanopy.Job.from_toml(job.to_toml()) == job
    assert 'sampling-weight = "w"' in job.to_toml() and 'every = "1:10,2:3"' in job.to_toml()
    assert len({*job.models}) == 3  # they can be compared, as exploring does


def test_models_that_stand_in_for_k() -> None:
    """With k = 1 nothing but the other models is promised; they must be such that bound how surely people are found."""
    table, quasi = survey_table(), ["age", "sex", "race", "education"]
    for text in ("individual-risk:0.05", "household-risk:0.2", "subset-k:1:20,2:5"):
        settings: dict[str, Any] = {"quasi": quasi, "models": [text], "suppress": "5%", **columns_for(text)}
        settings["hierarchies"] = cuts_by_default(0.05) if text == "household-risk:0.2" else {}
        alone, with_k = (kanopy.anonymize(table, kanopy.Job(k=k, **settings)) for k in (1, 5))
        assert violations(alone.data, table, quasi, parse_model(text)) == 0
        assert alone.losses["loss"] <= with_k.losses["loss"]
        assert alone.job.all_models == (parse_model(text),)
    assert alone.verification.smallest_class < 5
    page = alone.report.to_html()
    assert "k = 1" not in page and "k = None" not in page
    assert kanopy.Job.from_toml(alone.job.to_toml()) == alone.job
    for models in ([], ["l-distinct:education:2"], ["risk-average:0.1"]):
        with pytest.raises(JobError, match=r"k must be a whole number of at least 2, not 1\. With k = 1 every row"):
            kanopy.Job(k=1, quasi=["age"], models=models)
    with pytest.raises(JobError, match="makes classes of k rows, and k is 1"):
        kanopy.Job(k=1, quasi=["age"], models=["individual-risk:0.1"], sampling_weight="w", local=True)


def test_few_suppressed_rows_without_k_show_nothing_sensitive() -> None:
    table = pl.DataFrame({"a": ["x"] * 30 + ["y", "z"], "w": [50.0] * 30 + [2.0, 3.0], "ill": ["flu", "cold"] * 16})
    job = kanopy.Job(
        k=1, quasi=["a"], sensitive=["ill"], models=["individual-risk:0.05"], sampling_weight="w", suppress="10%",
        max_levels={"a": 0},
    )  # fmt: skip
    found = kanopy.anonymize(table, job)
    assert found.data["a"].to_list() == ["x"] * 30 + ["*"] * 2
    assert found.data["ill"].to_list()[30:] == [None, None]
    assert any("fewer than 5" in note for note in found.notes)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("household-risk:0.4", "members of a household are in several classes"),
        ("subset-k:1:3", "it counts values over all classes"),
    ],
)
def test_algorithms_that_look_at_one_class_at_a_time_name_one_that_does_not(text: str, reason: str) -> None:
    wanted = kanopy.Job(quasi=["age", "sex"], k=2, models=[text], suppress=0.1, **columns_for(text))
    for algorithm in ("best", "mondrian", "k-member", "iterative-local", "cell-level", "iyengar", "he-naughton", "xu"):
        with pytest.raises(JobError, match=rf"{algorithm}.*{reason}.*Use algorithm 'optimal'\."):
            kanopy.anonymize(survey_table(), wanted.replaced(algorithm=algorithm))
    for algorithm in ("bayardo-agrawal", "li-sps"):
        with pytest.raises(JobError, match=r"k-anonymity alone.*Use algorithm 'optimal'\."):
            kanopy.anonymize(survey_table(), wanted.replaced(algorithm=algorithm))
    assert kanopy.anonymize(survey_table(), wanted.replaced(algorithm="optimal")).verification.rows


def test_what_knows_sizes_alone_names_local_recodings_where_they_hold_the_model() -> None:
    wanted = kanopy.Job(quasi=["age", "sex"], k=2, models=["individual-risk:0.2"], sampling_weight="w", suppress=0.1)
    with pytest.raises(JobError, match="Use algorithm 'best', 'mondrian' or 'optimal'"):
        kanopy.anonymize(survey_table(), wanted.replaced(algorithm="li-sps"))
    assert kanopy.anonymize(survey_table(), wanted.replaced(algorithm="mondrian")).verification.rows
