"""Every bug ever found keeps a test here."""

from __future__ import annotations

import datetime as dt
import itertools
import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings

import kanopy
from kanopy._core.classes import Domain
from kanopy._errors import DataError, JobError, NoSolution, VerificationFailed
from kanopy._table.sources import read_table
from kanopy.engine.local import LocalEngine
from kanopy.metrics.full_domain import METRICS
from kanopy.privacy.models import make_models
from kanopy.privacy.personal import Constrained
from kanopy.release.catalogue import parameters_for
from kanopy.release.solution_file import check_reusable
from kanopy.search.algorithms import ALGORITHMS, algorithm_class, make_algorithm
from kanopy.search.problem import Problem
from kanopy.verify.verify import verify_swapped
from tests.quick import QUICK
from tests.search.problems import problems


def test_a_label_repeated_at_a_higher_level_is_one_published_label() -> None:
    """k-member published "White" from two nodes; the classes claimed and the classes found differed by one."""
    race = kanopy.Hierarchy.from_rows([["w", "w", "*"], ["b", "other", "*"], ["a", "other", "*"]])
    people = {"race": ["w", "w", "w", "w", "b", "a"], "age": [30, 30, 41, 42, 50, 51]}
    job = kanopy.Job(
        quasi=["race", "age"], k=2, algorithm="k-member",
        hierarchies={"race": race, "age": {"method": "iotf"}},
    )  # fmt: skip
    result = kanopy.anonymize(people, job)
    assert result.verification.smallest_class >= 2


def test_local_recoding_of_all_of_adult_verifies() -> None:
    """Two nodes with one label made the count of classes differ from the published labels."""
    job = kanopy.Job(
        quasi=["age", "race", "sex"], k=5, algorithm="mondrian", hierarchies=kanopy.datasets.adult_hierarchies()
    )
    result = kanopy.anonymize(kanopy.datasets.adult(), job)
    assert kanopy.check(result.data, quasi=job.quasi).k >= 5


def test_a_column_of_record_numbers_stays_home() -> None:
    """A unique column called id was published as insensitive: it points at one person in every row."""
    people = {"id": list(range(6)), "age": [30, 30, 30, 40, 40, 40], "shop no": [1, 1, 1, 1, 2, 2]}
    result = kanopy.anonymize(people, kanopy.Job(quasi=["age"], k=3, rest="publish"))
    assert list(result.data) == ["age", "shop no"]
    assert "'id' was left out" in result.notes[0]
    kept = kanopy.anonymize(people, kanopy.Job(quasi=["age"], k=3, insensitive=["id"]))
    assert "id" in kept.data


def test_a_control_character_in_a_label_does_not_end_the_process() -> None:
    """The plotting library ends the whole process when it meets a control character: pictures of explored jobs, of
    compared algorithms and of hierarchies were drawn without looking for one."""
    code = """
from kanopy.hierarchy import Hierarchy
from kanopy.ontology import load_ontology
from kanopy.report.charts.compare import loss_bars
from kanopy.report.charts.marks import lines, sheet
from kanopy.report.charts.risk_map import risk_map
from kanopy.report.charts.semantic import trees_and_curves
from kanopy.report.render import picture
from kanopy.hierarchy.quality.semantic_quality import evaluate_hierarchy
bad = "a\\x01b\\x0b\\x00"
point = {"k": 2, "suppress": 0.0, "models": [bad], "algorithm": bad, "loss": 0.1, "highest_risk": 0.5, "best": True}
entry = {"name": bad, "recoding": "local", "losses": {bad: 0.1}, "seconds": 1.0}
judged = evaluate_hierarchy(Hierarchy.from_rows([["cat", bad], ["dog", bad]]), load_ontology("wordnet"))
for chart in (
    risk_map([point], bad), loss_bars([entry], bad), trees_and_curves([(bad, judged)]),
    sheet(bad, bad, lines([{"series": bad, bad: 1, "y": 2}], [bad], bad, "y", axis=bad)),
):
    for kind in ("svg", "png", "pdf"):
        assert len(picture(chart, kind)) > 500
print("drawn")
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300)
    assert done.stdout == "drawn\n", done.stderr[-500:]


def _problem(rows: Sequence[Sequence[int]], trees: Sequence[kanopy.Hierarchy], models: str, **limits: Any) -> Problem:
    cells = np.array(rows, np.int32)
    tuples, of_row, counts = np.unique(cells, axis=0, return_inverse=True, return_counts=True)
    names = tuple(f"a{j}" for j in range(len(trees)))
    domain = Domain(names, tuple(trees), tuples, counts.astype(np.int64), of_row.reshape(-1).astype(np.int32))
    return Problem(domain, make_models(models.split()), **limits)


def test_cell_level_falls_back_to_the_most_general_release() -> None:
    """It said there was no solution although every column at its highest level needs 3 of 6 allowed suppressions."""
    trees = [
        kanopy.Hierarchy.flat(["v0", "v1"]),
        kanopy.Hierarchy.from_rows(
            [["v0", "g0", "h1", "*"], ["v1", "g2", "h0", "*"], ["v2", "g1", "h0", "*"], ["v3", "g0", "h1", "*"],
             ["v4", "g1", "h0", "*"]]
        ),
        kanopy.Hierarchy.from_rows([["v0", "g1", "*"], ["v1", "g0", "*"], ["v2", "g1", "*"]]),
        kanopy.Hierarchy.flat(["v0", "v1"]),
    ]  # fmt: skip
    rows = ["0411", "0001", "0210", "1211", "1121", "1101", "0021", "0320", "1410", "0120", "0400", "1410"]
    problem = _problem(
        [[int(code) for code in row] for row in rows], trees, "k:5", suppression_limit=0.5, highest_levels=[1, 2, 2, 1]
    )
    assert problem.evaluate((1, 2, 2, 1)).feasible
    found = make_algorithm("cell-level").solve(problem)
    assert found.recoding.suppressed_rows <= 6
    assert found.recoding.classes.smallest >= 5


@pytest.mark.parametrize("name", list(ALGORITHMS))
def test_a_table_that_may_be_suppressed_as_a_whole_has_a_release(name: str) -> None:
    """Local searches said that five rows have no release for k = 6, although all of them may be suppressed."""
    tree = kanopy.Hierarchy.from_rows([["a", "x", "*"], ["b", "x", "*"], ["c", "y", "*"]])
    problem = _problem([[0], [0], [1], [1], [2]], [tree], "k:6", suppression_limit=1.0)
    found = make_algorithm(name, **QUICK.get(name, {})).solve(problem)
    assert found.recoding.suppressed_rows == 5


@pytest.mark.parametrize("name", list(ALGORITHMS))
@settings(max_examples=15)
@given(problem=problems())
def test_no_search_overlooks_the_most_general_release_nor_the_limit(name: str, problem: Problem) -> None:
    """Several said there was no solution, or suppressed more rows than allowed."""
    about = algorithm_class(name).about
    if problem.level_limits and not about.level_limits:
        return
    try:
        found = make_algorithm(name, **QUICK.get(name, {})).solve(problem)
    except NoSolution:
        assert not problem.evaluate(problem.lattice.highest).feasible
        return
    assert found.recoding.suppressed_rows - problem.domain.excluded_rows <= problem.max_suppressed_rows


def test_best_keeps_the_limit_where_larger_classes_leave_a_branch_out() -> None:
    """It searched classes of ten rows for a mean risk of 10 %, and suppressed the six rows under another root."""
    tree = kanopy.Hierarchy.from_rows([["a", "x"], ["b", "x"], ["c", "y"], ["d", "y"]])
    problem = _problem([[0]] * 10 + [[1]] * 10 + [[2]] * 3 + [[3]] * 3, [tree], "k:2 risk-average:0.1",
                       suppression_limit=0.08)  # fmt: skip
    found = make_algorithm("best", steps=1).solve(problem)
    assert found.recoding.suppressed_rows <= problem.max_suppressed_rows == 2
    assert 1 / found.recoding.classes.sizes.mean() <= 0.1


def test_constrained_knows_a_label_that_stands_on_several_levels() -> None:
    """Only the last of the nodes called "a" was looked at, so the node above the other one could be published."""
    tree = kanopy.Hierarchy.from_rows([["a", "x", "*"], ["b", "a", "*"], ["c", "x", "*"]])
    (model,) = make_models(["constrained:letter:a"])
    assert isinstance(model, Constrained)
    assert model.forbidden(tree) == {"x", "*"}
    repeated = kanopy.Hierarchy.from_rows([["a", "x", "a", "*"], ["b", "y", "a", "*"], ["c", "z", "d", "*"]])
    assert model.forbidden(repeated) == {"*"}


def test_dates_work_in_jobs_as_in_build_hierarchy() -> None:
    """A job gave builders the labels of a column instead of its values: moments were refused, dates had no order."""
    moments = [dt.datetime(2024, month, 1, 8) for month in (1, 2, 10, 11)]
    for when in (moments, [moment.isoformat() for moment in moments], [moment.date() for moment in moments]):
        dates = kanopy.Job(quasi=["when"], k=2, hierarchies={"when": {"method": "dates"}})
        assert kanopy.anonymize({"when": when}, dates).data["when"] == ["2024-Q1"] * 2 + ["2024-Q4"] * 2
        if not isinstance(when[0], str):
            ranges = kanopy.Job(quasi=["when"], k=2, hierarchies={"when": {"method": "iotf"}})
            assert len(set(kanopy.anonymize({"when": when}, ranges).data["when"])) == 2


def test_check_counts_a_missing_value_once() -> None:
    """Null, NaN and empty text were different sensitive values, so a class without any seemed diverse."""
    for gaps in ([None, "", None, ""], [None, float("nan"), float("nan"), None]):
        table = {"zip": ["1", "1", "2", "2"], "ill": gaps}
        assert kanopy.check(table, quasi=["zip"], sensitive=["ill"]).sensitive["ill"] == {"distinct": 1}
        found = kanopy.assess_risk(table, quasi=["zip"], sensitive=["ill"])
        assert found.disclosure[0].certain_rows == 4


ANSWERS = {
    "why": ["beach", "beach", "seaside", "bird", "bird", "heron"],
    "who": ["Ann", "Bo", "Cy", "Di", "Ed", "Fay"],
    "ill": ["a", "a", "b", "b", "b", "b"],
}


def masking(**settings: Any) -> kanopy.Job:
    return kanopy.Job(**{"quasi": ["why"], "k": 3, "algorithm": "fusion", "identifiers": ["who"], **settings})


def test_maskings_keep_a_model_or_refuse_it() -> None:
    """`anonymize --algorithm fusion --model …` dropped the model and called the release verified."""
    plain = kanopy.anonymize(ANSWERS, masking(sensitive=["ill"]))
    assert not kanopy.check(plain.data, quasi=["why"], models=["l-distinct:ill:2"]).models[0].holds
    diverse = kanopy.anonymize(ANSWERS, masking(models=["l-distinct:ill:2"]))
    assert kanopy.check(diverse.data, quasi=["why"], models=["l-distinct:ill:2"]).models[0].holds
    assert diverse.summary()["models"] == [{"name": "l-distinct", "column": "ill", "l": 2}]
    for job in ({"models": ["t-equal:ill:0.2"]}, {"algorithm": "local-recoding", "models": ["l-distinct:ill:2"]}):
        with pytest.raises(kanopy.KanopyError, match="cannot keep the model"):
            masking(**job)
    for limits in ({"min_levels": {"why": 1}}, {"suppress": 0.1}, {"unknown": "suppress"}):
        with pytest.raises(kanopy.KanopyError, match="substitutes values and"):
            masking(**limits)


def test_swapping_claims_no_k() -> None:
    """`semantic-swapping -k 3` said k = 3 and verified beside a published group of one row."""
    answers = {"why": ["beach", "seashore", "church", "museum"]}
    job = kanopy.Job(quasi=["why"], k=3, algorithm="semantic-swapping", parameters={"targets": "any"})
    found = kanopy.anonymize(answers, job)
    summary = found.summary()
    assert (summary["k"], summary["smallest_class"], summary["guarantees_k"]) == (None, 1, False)
    manifest = json.loads(found.manifest())
    assert manifest["verified"]["models"] == [] and manifest["result"]["guarantees_k"] is False
    assert any("does not guarantee k-anonymity" in note for note in found.notes)
    assert "k-anonymity is not guaranteed" in found.to_html()


def test_swapping_is_verified_on_what_is_published() -> None:
    """The second opinion on a swapped table looked at codes, not at the table."""
    before = pl.DataFrame({"why": ["walk", "beach", "wine", "wine", None, " "], "n": [1, 1, 2, 2, 3, 3]})
    after = before.with_columns(why=pl.Series(["beach", "walk", "wine", "wine", "", None]))
    assert verify_swapped(before, after, ["why"], 2).smallest_class == 1
    said = pl.DataFrame({"why": ["(missing)", None]})
    assert verify_swapped(said, said.reverse(), ["why"], 2).classes == 2
    for wrong in (before, after.with_columns(why=pl.lit("wine")), after.head(5)):
        with pytest.raises(VerificationFailed, match="Swapping changed"):
            verify_swapped(before, wrong, ["why"], 2)
    with pytest.raises(VerificationFailed, match="Identifying"):
        verify_swapped(before, after, ["why"], 2, ["n"])


def test_maskings_pseudonymize() -> None:
    """A masking left identifiers out although the job asked for pseudonyms."""
    job, key = masking(pseudonymize=["who"], insensitive=["ill"]), b"a key of sixteen bytes"
    found = kanopy.anonymize(ANSWERS, job, key=key)
    assert list(found.data) == ["why", "who", "ill"] and len(set(found.data["who"])) == 6
    assert not set(found.data["who"]) & set(ANSWERS["who"])
    asked = kanopy.MaskJob(text=["why"], k=3, pseudonymize=["who"], insensitive=["ill"])
    assert kanopy.mask(ANSWERS, asked, key=key).data == found.data
    with pytest.raises(kanopy.KanopyError, match="secret key"):
        kanopy.anonymize(ANSWERS, job)
    with pytest.raises(kanopy.KanopyError, match="Only identifiers"):
        kanopy.MaskJob(text=["why"], pseudonymize=["why"])


def test_a_masking_is_a_result_like_any_other() -> None:
    """`--mapping` and `--manifest` ended in a traceback for maskings; `--solution` did after all the work."""
    found = kanopy.anonymize(ANSWERS, masking())
    assert (found.levels, found.solution, found.bound) == (None, None, None)
    assert (found.rows, found.suppressed, found.classes, found.smallest_class) == (6, 0, 2, 3)
    # Two people wrote "bird", fewer than k: what is published is broader.
    assert found.mapping().filter(pl.col("original") == "heron").rows() == [("why", "heron", "vertebrate", 1)]
    assert int(found.mapping()["rows"].sum()) == 6
    manifest = found.manifest()
    assert json.loads(manifest)["verified"]["models"][0]["name"] == "k"
    assert not any(value in manifest for value in ("beach", "heron", "Ann"))
    assert found.score == found.summary()["score"] == found.evaluation.semantic_quality
    assert found.report is found.report and repr(found).startswith("<Result: 6 rows")
    with pytest.raises(kanopy.KanopyError, match="does not have one level per column"):
        found.solution_json()
    with pytest.raises(kanopy.KanopyError, match="does not have one level per column"):
        check_reusable(masking())


def test_every_point_of_a_map_is_verified(monkeypatch: pytest.MonkeyPatch) -> None:
    """`explore` believed the search: its releases were never regrouped from their labels."""
    table = {"age": [31, 34, 38, 52, 57, 59], "sex": list("fffmmm")}
    job = kanopy.Job(quasi=["age", "sex"], k=2, hierarchies={"age": {"method": "widths", "widths": [10, 20]}})
    assert kanopy.explore(table, job, ks=[2, 3]).points[0].smallest_class == 3
    monkeypatch.setattr(LocalEngine, "apply", lambda self, frame, *_, **__: (frame, None))
    for algorithm in ("optimal", "mondrian"):
        with pytest.raises(VerificationFailed):
            kanopy.explore(table, job, ks=[2, 3], algorithms=[algorithm])


def test_applying_again_compares_with_the_same_population() -> None:
    """A population given as a table was forgotten by `Result.apply`, which then asked for one."""
    table = {"zip": ["1", "1", "2", "2"]}
    job = kanopy.Job(quasi=["zip"], k=2, models=["k-map:4"])
    found = kanopy.anonymize(table, job, population={"zip": ["1", "2"] * 4})
    assert found.apply(table).levels == found.levels


@pytest.mark.parametrize("metric", list(METRICS))
def test_a_result_reports_the_number_that_was_minimized(metric: str) -> None:
    """`height` was reported without the weights, and `precision` by the lowest level of a value that stands on many."""
    race = kanopy.Hierarchy.from_rows([["w", "w", "w", "*"], ["b", "other", "all", "*"], ["a", "other", "all", "*"]])
    people = {"race": ["w", "w", "b", "a", "b", "a", "w", "a"], "age": [30, 30, 41, 42, 50, 51, 33, 58]}
    job = kanopy.Job(
        quasi=["race", "age"], k=2, algorithm="optimal", metric=metric, weights={"race": 3.0}, suppress="25%",
        hierarchies={"race": race, "age": {"method": "widths", "widths": [10, 20]}},
    )  # fmt: skip
    result = kanopy.anonymize(people, job)
    assert result.losses[metric] == pytest.approx(result.solution.score)
    assert result.score == result.losses[metric]


@pytest.mark.parametrize("name", ["*", "^.*$", "^age$"])
def test_column_names_are_no_patterns(name: str, tmp_path: Path) -> None:
    """The dataframe library takes such names for patterns: other columns were grouped by, dropped or published."""
    table = {name: [1, 1, 2, 2, 3, 3], "age": [5, 5, 5, 6, 6, 6], "ill": list("ababab"), "pay": [None, 0, 1, 2, 0, 2]}
    for frame in (table, pl.DataFrame(table), pd.DataFrame(table), pa.table(table)):
        job = kanopy.Job(quasi=[name], sensitive=["ill"], k=4, models=["l-distinct:ill:2"])
        found = kanopy.anonymize(frame, job)
        assert list(found.report.to_json()) and found.verification.smallest_class == 6
        assert list(pl.DataFrame(found.data)[name]) == ["*"] * 6
    kept = kanopy.anonymize(table, kanopy.Job(quasi=["age"], identifiers=[name], k=3, rest="publish")).data
    assert list(kept) == ["age", "ill", "pay"]
    assert kanopy.check(table, quasi=[name], sensitive=["age"], models=["l-distinct:age:2"]).k == 2
    assert kanopy.check(table, quasi=["age"], sensitive=[name]).sensitive[name] == {"distinct": 2}
    assert kanopy.assess_risk(table, quasi=[name], population=table).sizes.highest_prosecutor == 0.5
    pl.DataFrame(table).write_csv(tmp_path / "a.csv")
    pl.DataFrame(table).write_parquet(tmp_path / "a.parquet")
    for file in ("a.csv", "a.parquet"):
        assert read_table(tmp_path / file, columns=[name]).columns == [name]


def test_a_text_that_reads_missing_is_not_a_missing_value() -> None:
    """The second opinion took the text and the gap for one value, and refused a good release."""
    table = {"zip": ["(missing)"] * 2 + [None] * 2 + ["a"] * 2, "ill": ["(missing)", None, "x", "(missing)", "x", None]}
    tree = kanopy.Hierarchy.flat(["(missing)", "x"])
    for extra in ({}, {"hierarchies": {"ill": tree}}):
        job = kanopy.Job(quasi=["zip"], sensitive=["ill"], k=2, models=["l-distinct:ill:2"], **extra)
        assert kanopy.anonymize(table, job).data == table
    assert kanopy.check(table, quasi=["zip"], sensitive=["ill"], models=["l-distinct:ill:2"]).holds


def test_categories_come_back_as_they_were_and_without_those_of_suppressed_rows(tmp_path: Path) -> None:
    """Categories came back ordered, and the dictionaries of files and frames held the values of suppressed rows."""
    words = ["a", "a", "secret", "b", "b", "a"]
    kinds = pd.DataFrame({
        "q": [1, 1, 2, 3, 3, 1],
        "plain": pd.Categorical(words),
        "ranked": pd.Categorical(words, categories=["secret", "b", "a", "never"], ordered=True),
    })  # fmt: skip
    polars = pl.DataFrame({
        "q": kinds["q"].tolist(),
        "plain": pl.Series(words, dtype=pl.Categorical),
        "ranked": pl.Series(words, dtype=pl.Enum(["secret", "b", "a", "never"])),
    })  # fmt: skip
    for quasi, rows in itertools.product(("q", "plain", "ranked"), ("drop", "keep")):
        flat = {quasi: {"method": "suppress"}}
        job = kanopy.Job(
            quasi=[quasi], k=2, suppress=0.2, suppressed_rows=rows, hierarchies=flat, max_levels={quasi: 0},
            rest="publish",
        )  # fmt: skip
        pandas, own = kanopy.anonymize(kinds, job).data, kanopy.anonymize(polars, job).data
        arrow = kanopy.anonymize(pa.Table.from_pandas(kinds), job).data
        assert own["plain"].dtype == pl.Categorical and isinstance(own["ranked"].dtype, pl.Enum)
        for column in ("plain", "ranked"):
            there = rows == "keep" and column != quasi
            assert ("secret" in pandas[column].cat.categories) is there
            assert ("secret" in arrow.column(column).combine_chunks().dictionary.to_pylist()) is there
            for write in (own[[column]].write_parquet, own[[column]].write_ipc):
                write(tmp_path / "out")
                assert (b"secret" in (tmp_path / "out").read_bytes()) is there
        assert not pandas["plain"].cat.ordered
        assert pandas["ranked"].cat.ordered is (quasi != "ranked" or rows == "drop")


@pytest.mark.parametrize("encoding", ["cp1252", "utf-16", "utf-8-sig"])
@pytest.mark.parametrize("name", ["kinds.csv", "kinds.ttl"])
def test_ontologies_saved_by_windows_programs_are_read(tmp_path: Path, encoding: str, name: str) -> None:
    """A parent-child table or a Turtle file that was not UTF-8 ended in a traceback instead of an answer."""
    skos = '@prefix s: <http://www.w3.org/2004/02/skos/core#> .\n<a> s:prefLabel "Käfer"@en .\n'
    (tmp_path / name).write_text(skos if name.endswith("ttl") else "Käfer,Insekt\n", encoding=encoding)
    assert kanopy.load_ontology(tmp_path / name).knows("Käfer")


def test_a_release_shows_itself_in_a_notebook() -> None:
    """The drawing of a result asked for a number by a name that only the full report had."""
    job = kanopy.Job(quasi=["age"], k=2, hierarchies={"age": {"method": "widths", "widths": [10]}})
    assert "<" in kanopy.anonymize({"age": [31, 34, 52, 55]}, job)._repr_html_()
    assert "<" in kanopy.anonymize(ANSWERS, masking())._repr_html_()


def test_a_job_of_a_local_release_stays_one_after_its_file() -> None:
    """What nobody said was written as said: `local=False` then kept `best` in a job read from its own file."""
    job = kanopy.Job(quasi=["age"], local=True)
    again = kanopy.Job.from_toml(job.to_toml())
    assert again == job and again.replaced(local=False).algorithm == job.replaced(local=False).algorithm == "optimal"


def test_numbers_of_thousands_of_digits_are_refused_in_words() -> None:
    """Python refuses to write or read them, which ended in its own error instead of ours."""
    with pytest.raises(JobError, match="not valid TOML"):
        kanopy.Job.from_toml("k = " + "9" * 5000)
    for settings_ in ({"k": 10**5000}, {"suppress": 10**5000}, {"weights": {"age": 10**5000}}):
        with pytest.raises(JobError, match="a number of more than 4300 digits"):
            kanopy.Job(quasi=["age"], **settings_)  # type: ignore[arg-type]


def test_a_heuristic_on_the_command_line_is_a_text() -> None:
    """`--param heuristics=12` was read as the number twelve and ended in a TypeError."""
    job = kanopy.Job(quasi=["why"], algorithm="fusion", parameters=parameters_for("fusion", ["heuristics=12"]))
    assert job.parameters == {"heuristics": "12"}


def test_roles_and_names_of_other_types_are_refused_in_words() -> None:
    """A list as a role, a number as an algorithm or as models ended in a TypeError."""
    for text in (
        '[columns.age]\nrole = ["quasi-identifier"]',
        "algorithm = 5",
        "models = 5",
        "metric = [1]",
        "algorithm = { name = 5 }",
        '[columns.age]\nrole = "quasi-identifier"\nhierarchy = 5',
        '[columns.age]\nrole = "quasi-identifier"\nhierarchy = { method = 5 }',
    ):
        with pytest.raises(JobError):
            kanopy.Job.from_toml(text)


def test_sets_that_quote_their_values_are_true_of_them() -> None:
    towns = ["a, b"] * 2 + ["c", "d"] + ["e"] * 3 + ["f"] + ["g"] * 2 + [None] * 2
    job = kanopy.Job(quasi=["town"], k=3, missing="as-value", algorithm="li-sps", parameters={"steps": 1})
    published = kanopy.anonymize(pl.DataFrame({"town": towns}), job).data["town"].to_list()
    assert '"a, b"' in published[0] and "(missing)" in published[-1]


def test_a_job_in_place_of_the_table_is_told_where_it_goes(tmp_path: Path) -> None:
    """The message listed 27 suffixes of tables instead."""
    (tmp_path / "people.toml").write_text("k = 5\n", encoding="utf-8")
    with pytest.raises(
        DataError, match=r"'people\.toml' is a job file, not a table\. Give the table, and the job after --job\."
    ):
        read_table(tmp_path / "people.toml")
