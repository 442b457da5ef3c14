"""Promises about people hold for people, counted by code that shares nothing with ours."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

import kanopy
from kanopy import Job
from kanopy._errors import DataError, JobError, NoSolution, VerificationFailed
from kanopy.cli import app
from kanopy.search.local.best.best import Best
from kanopy.verify.job import Claims, verify_job
from kanopy.verify.people import UnitColumns, people_of, require_fixed, require_traces
from tests.people.tables import fewest, visits
from tests.quick import QUICK
from tests.shared_input import needs_shared

QUASI = ["age", "zip", "sex"]


def job(**more: Any) -> Job:
    return Job(**({"quasi": QUASI, "sensitive": ["ill"], "k": 5, "unit": "patient"} | more))


def test_rows_alone_promise_little_about_people() -> None:
    table = visits()
    by_rows = kanopy.anonymize(table, job(unit=(), algorithm="best", parameters={"steps": 200}))
    assert fewest(by_rows.data, table["patient"], QUASI, 1) < 5


@cache
def released_by_default(known: int | str, suppress: float, k: int = 5, table: Any = ()) -> kanopy.Result:
    """The release of visits by a job without hierarchies: to fit them takes most of the time, so tests share it."""
    return kanopy.anonymize(visits(*table), job(known=known, suppress=suppress, k=k))


@pytest.mark.parametrize("known", [1, 2, "all"])
@pytest.mark.parametrize("shape", [(80, 348, 0.0), (40, 400, 0.0), (120, 300, 1.2), (300, 900, 0.5)])
@pytest.mark.parametrize("algorithm", ["optimal", "datafly", "samarati", "incognito"])
def test_every_published_class_is_shared_by_k_people(known: int | str, shape: tuple[Any, ...], algorithm: str) -> None:
    patients, rows, spread = shape
    table, suppress = visits(patients, rows, 1, spread), 1.0 if known == "all" else 0.4
    result = released_by_default(known, suppress, table=(patients, rows, 1, spread))
    if algorithm != "optimal":
        wanted = job(known=known, suppress=suppress, algorithm=algorithm, hierarchies=result.hierarchies)
        result = kanopy.anonymize(table, wanted)
    least = fewest(result.data, table["patient"], QUASI, known)
    assert least is None or least >= 5
    assert "patient" not in result.data.columns
    if known != "all":
        assert result.suppressed <= 0.4 * table.height
    if known == 1 and least is not None:
        assert result.smallest_class == least
    assert (kanopy.check(result.data.with_columns(table["patient"]), quasi=QUASI, unit="patient").k or 5) >= 5


def test_eusilc_households() -> None:
    table = pl.read_csv(needs_shared("data", "eusilc.csv.gz"), infer_schema_length=None, null_values=["NA"])
    quasi = ["age", "rb090", "db040"]
    hierarchies = {"age": {"method": "widths", "widths": [5, 10, 20, 40]}}
    for known in (1, 2, "all"):
        wanted = Job(quasi=quasi, k=5, unit="db030", known=known, suppress=1.0, hierarchies=hierarchies)
        result = kanopy.anonymize(table.select("db030", *quasi), wanted)
        assert fewest(result.data, table["db030"], quasi, known) >= 5
        assert result.counted == "households"


def test_one_row_per_person_changes_nothing() -> None:
    table = visits(200, 200)
    plain = kanopy.anonymize(table, job(unit=(), identifiers="patient"))
    for known in (1, 2, "all"):
        counted = kanopy.anonymize(table, job(known=known))
        assert counted.levels == plain.levels and counted.data.equals(plain.data)
        assert any("changes nothing" in note for note in counted.notes)


def test_sensitive_values_count_once_per_person_and_class() -> None:
    # One patient has all ten diagnoses, nine others have one and the same: two values of people, not of rows.
    table = pl.DataFrame(
        {"p": [0] * 10 + list(range(1, 10)), "q": ["a"] * 19, "ill": [*map(str, range(10)), *["0"] * 9]}
    )
    classes = kanopy.check(table, quasi="q", models=["alpha-k:ill:0.6,2"], unit="p")
    assert not classes.holds, "nine of ten people have the value 0"
    assert kanopy.check(table, quasi="q", models=["alpha-k:ill:0.6,2"]).holds
    assert classes.k == 10 and classes.counted == "people" and classes.units == 10


def test_models_hold_of_people() -> None:
    table = visits(60, 400, 3)
    for model in ("l-distinct:ill:3", "t-equal:ill:0.3", "alpha-k:ill:0.9,3", "beta-basic:ill:2", "risk-average:0.2"):
        for known in (1, 2) if model.startswith("l-") else (1,):
            cuts = released_by_default(known, 0.9, 3, (60, 400, 3)).hierarchies
            wanted = job(models=[model], known=known, suppress=0.9, k=3, hierarchies=cuts)
            result = kanopy.anonymize(table, wanted)
            shown = result.data.with_columns(table["patient"])
            kept = shown.filter(~pl.all_horizontal(pl.col(name).cast(pl.String) == "*" for name in QUASI))
            for _, rows in kept.group_by(QUASI):
                people = rows["patient"].n_unique()
                most = rows.group_by("ill").agg(pl.col("patient").n_unique())["patient"].max()
                if model.startswith("l-"):
                    assert rows["ill"].n_unique() >= 3
                if model.startswith("alpha"):
                    assert most <= 0.9 * people + 1e-9


def test_suppressed_people_do_not_show_what_they_have() -> None:
    table = pl.DataFrame(
        {"p": [0, 0, 0, *range(1, 11)], "q": ["x"] * 3 + ["y"] * 10, "ill": ["hiv"] * 3 + ["flu"] * 10}
    )
    wanted = Job(quasi="q", sensitive="ill", k=3, unit="p", suppress=0.3, max_levels={"q": 0})
    result = kanopy.anonymize(table, wanted)
    assert result.data["q"].to_list()[:3] == ["*"] * 3
    assert result.data["ill"].to_list()[:3] == [None] * 3, "three rows, but one person"


def test_the_unit_is_in_job_file_manifest_report_script_and_solution(tmp_path: Path) -> None:
    table = visits()
    wanted = job(known=2, suppress=0.5)
    assert Job.from_toml(wanted.to_toml()) == wanted and 'role = "unit"' in wanted.to_toml()
    assert Job.from_toml(job(known="all").to_toml()).known == "all"
    result = kanopy.anonymize(table, wanted)
    manifest = json.loads(result.manifest())
    assert manifest["result"]["counted"] == "people" and manifest["result"]["known"] == 2
    assert manifest["verified"]["models"][0]["says"].endswith("at least 5 people.")
    assert "patient" in manifest["verified"]["left_out"]
    assert result.report.to_dict()["models"][0]["explanation"].endswith("at least 5 people.")
    assert "known = 2" in result.report.to_script() and 'role = "unit"' in result.report.to_script()
    (tmp_path / "s.json").write_text(result.solution_json())
    from kanopy.release.solution_file import read_solution

    again = read_solution(tmp_path / "s.json")
    assert again.unit == ("patient",) and again.known == 2
    assert kanopy.anonymize(table, again).data.equals(result.data)
    assert result.apply(table).data.equals(result.data)


def test_a_unit_can_be_pseudonymized() -> None:
    table = visits()
    result = kanopy.anonymize(
        table, job(pseudonymize="patient", known=1, suppress=0.2), key=b"sixteen bytes are enough"
    )
    assert result.data["patient"].n_unique() == 80
    assert not set(result.data["patient"]) & set(table["patient"])


@pytest.mark.parametrize(
    "algorithm", ["top-down-specialization", "bayardo-agrawal", "iyengar", "li-sps", "cell-level", "he-naughton", "xu"]
)
def test_algorithms_that_count_rows_refuse_a_unit(algorithm: str) -> None:
    with pytest.raises(JobError, match="Use algorithm 'optimal'"):
        kanopy.anonymize(visits(), job(algorithm=algorithm))


@pytest.mark.parametrize("algorithm", ["best", "mondrian", "k-member", "iterative-local"])
@pytest.mark.parametrize("shape", [(80, 348, 0.0), (120, 300, 1.2)])
def test_local_recodings_count_people_and_publish_fixed_columns_alike(algorithm: str, shape: tuple[Any, ...]) -> None:
    table = visits(shape[0], shape[1], 1, shape[2])
    result = kanopy.anonymize(table, job(algorithm=algorithm, parameters=QUICK.get(algorithm, {})))
    assert fewest(result.data, table["patient"], QUASI, 1) >= 5 and result.suppressed == 0
    labels = result.data.with_columns(table["patient"]).group_by("patient").agg(pl.col("zip", "sex").n_unique())
    assert labels["zip"].max() == labels["sex"].max() == 1
    with pytest.raises(JobError, match="Use algorithm 'optimal'"):
        kanopy.anonymize(table, job(algorithm=algorithm, known=2))


def test_a_budget_is_shared_by_the_two_searches_that_people_take(monkeypatch: pytest.MonkeyPatch) -> None:
    """People are grouped, then their rows; each search took the whole budget, and what they said was lost."""
    given, search = [], Best.search

    def noted(self: Best, *problem: Any) -> Any:
        given.append(self.budget_seconds)
        return replace(search(self, *problem), notes=("This is said.",))

    monkeypatch.setattr(Best, "search", noted)
    result = kanopy.anonymize(visits(), job(algorithm="best", parameters={"budget_seconds": 0.2}))
    assert given == [0.1, 0.1] and result.notes.count("This is said.") == 1


def test_maskings_refuse_a_unit() -> None:
    with pytest.raises(JobError, match="counts rows, not people"):
        Job(quasi="reason", unit="patient", algorithm="fusion")


def test_the_second_opinion_counts_people_itself() -> None:
    frame = pl.DataFrame({"age": ["30", "30", "40", "40"]})
    unit_columns = UnitColumns(pl.DataFrame({"p": ["a", "a", "b", "c"]}))
    assert sorted(people_of(frame, ["age"], unit_columns)) == [1, 2]
    traces = pl.DataFrame({"age": ["30", "40", "30", "40", "30"]})
    two = UnitColumns(pl.DataFrame({"p": list("aabbc")}), known=2)
    require_traces(traces, ["age"], two, 2)
    with pytest.raises(VerificationFailed, match="All rows of one of the people fit only 1"):
        require_traces(traces, ["age"], UnitColumns(two.columns, None), 2)
    with pytest.raises(VerificationFailed, match="1 of the rows of one of the people fit only 2"):
        require_traces(traces, ["age"], two, 3)


def test_the_second_opinion_sees_fixed_columns_published_in_two_ways() -> None:
    table = visits()
    two_ways = table.with_columns(pl.when(pl.col("ward") == "A").then(pl.lit("*")).otherwise("sex").alias("sex"))
    unit_columns = UnitColumns(table.select("patient"))
    require_fixed(table, two_ways, QUASI, unit_columns, (table["ward"] == "A").to_numpy())
    with pytest.raises(VerificationFailed, match="'sex' is the same in all rows"):
        require_fixed(table, two_ways, QUASI, unit_columns)


def test_what_is_the_same_is_asked_of_rows_that_are_left_out_too() -> None:
    """Rows left out differed; among those that stayed the column looked fixed, and a good release was refused."""
    table, unit_columns = pl.DataFrame({"ward": ["A", "A", "B"]}), UnitColumns(pl.DataFrame({"patient": ["a"] * 3}))
    kept = np.array([True, True, False])
    require_fixed(table, pl.DataFrame({"ward": ["A", "*"]}), ["ward"], unit_columns, kept=kept)
    with pytest.raises(VerificationFailed, match="'ward' is the same in all rows"):
        require_fixed(
            pl.DataFrame({"ward": ["A"] * 3}), pl.DataFrame({"ward": ["A", "*"]}), ["ward"], unit_columns, kept=kept
        )


# ---- bad input --------------------------------------------------------------------------------------------------


def test_a_unit_that_is_absent() -> None:
    with pytest.raises(DataError, match=r"no column 'patint'.*patient"):
        kanopy.anonymize(visits(), job(unit="patint"))


def test_a_unit_that_is_constant() -> None:
    with pytest.raises(DataError, match="one value in all rows"):
        kanopy.anonymize(visits().with_columns(pl.lit("x").alias("patient")), job())


def test_a_unit_with_missing_values_says_how_many() -> None:
    table = visits().with_columns(pl.when(pl.col("ward") == "A").then(None).otherwise("patient").alias("patient"))
    lacking = table["patient"].null_count()
    result = kanopy.anonymize(table, job(suppress=0.2))
    assert any(f"missing in {lacking} rows, which stand alone" in note for note in result.notes)
    assert result.summary()["units"] == table["patient"].drop_nulls().n_unique() + lacking


def test_a_unit_without_values() -> None:
    with pytest.raises(DataError, match="has no values"):
        kanopy.anonymize(visits().with_columns(pl.lit(None, pl.String).alias("patient")), job())


def test_a_unit_that_is_also_a_quasi_identifier() -> None:
    with pytest.raises(JobError, match="'age' has two roles"):
        job(unit="age")


@pytest.mark.parametrize("known", [0, -1, 1.5, "some", True])
def test_known_must_be_a_number_or_all(known: Any) -> None:
    with pytest.raises(JobError, match="known must be a whole number of at least 1, or 'all'"):
        job(known=known)


def test_known_above_the_longest_trace() -> None:
    longest = visits()["patient"].value_counts()["count"].max()
    with pytest.raises(JobError, match=f"nobody has more than {longest} rows"):
        kanopy.anonymize(visits(), job(known=longest + 1))


def test_known_without_a_unit() -> None:
    with pytest.raises(JobError, match="without the column of the person"):
        kanopy.anonymize(visits(), Job(quasi="age", known=2))


def test_k_above_the_number_of_people() -> None:
    with pytest.raises(JobError, match="about only 80 people"):
        kanopy.anonymize(visits(), job(k=81))


# ---- what commands and pages say --------------------------------------------------------------------------------


def test_risk_counts_people() -> None:
    table = pl.DataFrame({"p": [0, 0, 0, 1, 2, 2], "q": list("aaabbb"), "ill": list("xxxyxy")})
    found = kanopy.assess_risk(table, quasi=["q"], sensitive=["ill"], unit="p")
    assert found.sizes.smallest_class == 1 and found.sizes.unique_rows == 1 and found.counted == "people"
    assert kanopy.assess_risk(table, quasi=["q"]).sizes.smallest_class == 3
    assert found.disclosure[0].certain_classes == 2, "all of a have x, both of b have y"
    assert "people" in found.to_html() and found.to_dict()["units"] == 3


def test_risk_counts_everybody_once_however_many_classes_they_are_in(tmp_path: Path) -> None:
    table = visits()
    found = kanopy.assess_risk(table, quasi=["age", "zip"], unit="patient", largest_subset=0)
    sql: Any = duckdb.connect()
    sql.register("visits", table.to_arrow())
    counted = "SELECT patient, age, zip FROM visits GROUP BY age, zip, patient"
    single = f"SELECT age, zip FROM ({counted}) GROUP BY age, zip HAVING count(*) = 1"
    alone = sql.execute(f"SELECT count(DISTINCT patient) FROM visits JOIN ({single}) USING (age, zip)").fetchone()
    assert found.sizes.rows == 80 and (found.sizes.unique_rows,) == alone
    assert found.rows_above_threshold <= 80 and found.share_above_threshold <= 1.0
    assert f"Unique people: {found.sizes.unique_rows} of 80." in found.to_html()
    table.write_csv(tmp_path / "visits.csv")
    asked = ["risk", str(tmp_path / "visits.csv"), "-q", "age,zip", "--sensitive", "ill", "--unit", "patient"]
    told = " ".join(CliRunner().invoke(app, [*asked, "--subsets", "0"]).stdout.split())
    assert "of 80 people" in told and "the smallest of 1 person" in told
    assert "An attacker may know 1 row of each" in told and told.count(" row ") == 1
    assert f"{found.sizes.unique_rows} people" in told


def test_assess_says_of_how_many_people_something_is_published() -> None:
    table, wanted = visits(), job(suppress=0.4, suppressed_rows="drop")
    for kept in (wanted, wanted.replaced(suppressed_rows="keep")):
        released = kanopy.anonymize(table, kept)
        shown = len(set(table["patient"].filter(pl.Series(released.solution.recoding.group_of_row >= 0))))
        there = np.flatnonzero(released.solution.recoding.group_of_row >= 0)
        rows = there if kept.suppressed_rows == "drop" else np.arange(table.height)
        after = released.data.with_columns(pl.Series("row", rows))
        found = kanopy.assess(table.with_row_index("row"), after, job=kept, on="row", learn=False, queries=0)
        said = f"The rows are about 80 people; of {shown} of them a row is in the release"
        assert any(note.startswith(said) for note in found.notes), found.notes
        assert said in found.to_html()


def test_an_attack_finds_people_by_any_row() -> None:
    table = pl.DataFrame({"p": [0, 0, 1, 1], "q": ["a", "b", "b", "b"]})
    found = kanopy.assess_risk(table, quasi=["q"], released=table, unit="p", largest_subset=0)
    exact = next(each for each in found.attacks if each.kind == "exact")
    assert exact.people == exact.attempts == 2 and exact.certain == 1 and exact.highest_risk == 1.0


def test_an_attack_is_no_more_certain_where_people_have_many_rows_alike() -> None:
    table = pl.DataFrame({"p": [*range(5)] * 8, "q": ["a"] * 40})
    found = kanopy.assess_risk(table, quasi=["q"], released=table, unit="p", largest_subset=0)
    assert [each.highest_risk for each in found.attacks] == [0.2, 0.2] and found.attacks[0].found == pytest.approx(1)


def test_the_report_speaks_of_people_and_says_why() -> None:
    page = released_by_default(1, 0.2).report.to_html()
    assert "People, not rows" in page and "The 348 rows are about 80 people" in page
    assert "could be about at least 5 people" in page
    assert "shared by at least 5 people" in page and "shared by at least 5 rows" not in page


@pytest.mark.parametrize(
    ("known", "words"),
    [(2, "any 2 published rows of one of them"), ("all", "all published rows of one of them together")],
)
def test_page_and_command_promise_what_may_be_known(known: int | str, words: str, tmp_path: Path) -> None:
    visits().write_csv(tmp_path / "visits.csv")
    asked = ["-q", "age,zip", "--unit", "patient", "--known", str(known), "-k", "5", "--suppress", "50%"]
    out = ["-o", str(tmp_path / "out.csv"), "--report", str(tmp_path / "page.html")]
    told = CliRunner().invoke(app, ["anonymize", str(tmp_path / "visits.csv"), *asked, *out])
    said = f"{words} could be about at least 5 people"
    assert said in (tmp_path / "page.html").read_text()
    assert said.capitalize() in " ".join(told.output.split())


def test_the_page_names_no_value_of_fewer_than_k_people() -> None:
    table = visits().with_columns(
        pl.when(pl.col("patient") == "P00003").then(pl.lit("9999")).otherwise("zip").alias("zip")
    )
    table = pl.concat([table, *[table.filter(pl.col("zip") == "9999")] * 3])
    assert table.filter(pl.col("zip") == "9999").height >= 5
    report = kanopy.anonymize(table, job(suppress=0.2)).report
    assert "9999" not in report.to_html()


def test_the_first_tile_counts_people() -> None:
    page = released_by_default(1, 0.2).report.to_html()
    assert "of 80; " in page and "of 348; " not in page


def test_check_on_the_command_line_counts_people(tmp_path: Path) -> None:
    visits().write_csv(tmp_path / "visits.csv")
    asked = ["-q", "sex", "-k", "5", "--unit", "patient"]
    told = CliRunner().invoke(app, ["check", str(tmp_path / "visits.csv"), *asked])
    assert "348 rows of 80 people" in told.stdout and told.exit_code == 0
    out = ["-o", str(tmp_path / "out.csv"), "--known", "2", "--suppress", "60%"]
    told = CliRunner().invoke(app, ["anonymize", str(tmp_path / "visits.csv"), *asked, *out])
    assert "80 people are counted; an attacker may know 2 rows of each" in " ".join(told.stdout.split()), told.output


def test_a_unit_named_now_is_no_longer_what_the_job_file_calls_it(tmp_path: Path) -> None:
    visits().write_csv(tmp_path / "visits.csv")
    for role in ("identifiers", "undecided"):
        (tmp_path / "job.toml").write_text(Job(quasi="sex", k=5, **{role: "patient"}).to_toml())
        asked = ["--job", str(tmp_path / "job.toml"), "--unit", "patient", "-o", str(tmp_path / f"{role}.csv")]
        told = CliRunner().invoke(app, ["anonymize", str(tmp_path / "visits.csv"), *asked])
        assert "80 people are counted" in told.stdout, told.output


def test_people_are_counted_beside_an_earlier_release() -> None:
    table = visits()
    found = kanopy.check(table, quasi="sex", unit="patient", beside=table).beside
    assert found is not None and (found.counted, found.rows, found.joined_by) == ("people", 80, "patient")


@pytest.mark.parametrize("algorithm", ["optimal", "best", "li-sps"])
@pytest.mark.parametrize("model", ["individual-risk:0.3", "household-risk:0.4"])
def test_models_that_count_for_themselves_refuse_a_unit_and_say_how_to_go_on(model: str, algorithm: str) -> None:
    weighted = visits().with_columns(pl.lit(2.0).alias("w"), pl.col("patient").alias("home"))
    home = {"household": "home"} if model.startswith("household") else {}
    wanted = job(models=[model], sampling_weight="w", algorithm=algorithm, **home)
    with pytest.raises(JobError, match="Leave the unit out, and the model holds of rows; or leave the model out"):
        kanopy.anonymize(weighted, wanted)


def test_a_model_refused_with_a_unit_holds_of_rows_without_it() -> None:
    weighted = visits().with_columns(pl.lit(2.0).alias("w"))
    wanted = job(models=["individual-risk:0.3"], sampling_weight="w", suppress=0.5, unit=(), identifiers=["patient"])
    assert kanopy.anonymize(weighted, wanted).smallest_class >= 5
    assert kanopy.anonymize(weighted, job(suppress=0.5)).counted == "people"


@pytest.mark.parametrize("algorithm", ["optimal", "best"])
def test_the_suppression_limit_counts_rows_in_the_search_and_in_the_second_opinion(algorithm: str) -> None:
    # Three of 23 people have 30 of 90 rows: they can go where a third of the rows may, not where a third of people may.
    table = pl.DataFrame(
        {"p": [*[0] * 10, *[1] * 10, *[2] * 10, *[3 + i // 3 for i in range(60)]], "q": ["a"] * 30 + ["b"] * 60}
    )
    flat = kanopy.Hierarchy.from_rows([["a", "*"], ["b", "*"]])
    wanted = Job(quasi="q", k=5, unit="p", hierarchies={"q": flat}, max_levels={"q": 0}, suppress="34%")
    released = kanopy.anonymize(table, wanted)
    assert released.suppressed == 30 and released.data["q"].to_list() == ["*"] * 30 + ["b"] * 60
    with pytest.raises(NoSolution):
        kanopy.anonymize(table, wanted.replaced(suppress="30%", algorithm=algorithm))
    claims = Claims(hierarchies={"q": flat}, suppressed=np.array([True] * 30 + [False] * 60))
    verify_job(wanted, table, released.data, claims)
    with pytest.raises(VerificationFailed, match="30 rows are suppressed where the job allows 27"):
        verify_job(wanted.replaced(suppress="30%"), table, released.data, claims)


def test_when_nothing_is_safe_fewer_known_rows_may_help() -> None:
    with pytest.raises(NoSolution, match="let fewer rows be known"):
        kanopy.anonymize(visits(), job(known="all"))
