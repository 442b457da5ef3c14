"""Studies read a table as `anonymize` reads it, ask what the job asks, and judge all that is published."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from typer.testing import CliRunner

import kanopy
from kanopy._errors import JobError, KanopyError
from kanopy.cli import app

MESSY = """age;pay;bought;ill
years;EUR;what;which
41;1.200,50;ale, nuts;flu
41;1.200,5;ale, nuts;flu
42;?;ale;cold
42;NA;ale;cold
99;2.000;tea;flu
99;2.000,00;tea;cold
43;2.000;tea;?
43;2.000,0;tea;flu
"""
RULES: dict[str, Any] = {
    "skip-rows": 1,
    "missing-tokens": ["?", "NA"],
    "columns": {
        "age": {"role": "quasi-identifier", "missing-tokens": ["99"], "decimal": "."},
        "pay": {"role": "quasi-identifier", "decimal": ","},
        "ill": {"role": "sensitive"},
    },
}
CLEAN = pl.DataFrame(
    {
        "age": [41, 41, 42, 42, None, None, 43, 43],
        "pay": [1200.5, 1200.5, None, None, 2000.0, 2000.0, 2000.0, 2000.0],
        "bought": ["ale, nuts", "ale, nuts", "ale", "ale", "tea", "tea", "tea", "tea"],
        "ill": ["flu", "flu", "cold", "cold", "flu", "cold", None, "flu"],
    }
)


def run(*words: str, ends: int = 0) -> Any:
    found = CliRunner().invoke(app, [*words, "--json"])
    if isinstance(found.exception, KanopyError):  # `main` shows it and exits with 2
        assert ends == 2, found.exception
        return str(found.exception)
    assert found.exit_code == ends, found.output
    return json.loads(found.stdout) if ends in (0, 1) and found.stdout.startswith("{") else found.output


@pytest.fixture
def files(tmp_path: Path) -> tuple[str, str, str, str]:
    """A messy table with its job, and the table cleaned by hand with a job that says nothing of reading."""
    names = ("messy.csv", "rules.json", "clean.parquet", "plain.json")
    messy, rules, clean, plain = (tmp_path / name for name in names)
    messy.write_text(MESSY, encoding="utf-8")
    CLEAN.write_parquet(clean)
    rules.write_text(json.dumps({"k": 2, **RULES}), encoding="utf-8")
    columns = {name: {"role": own["role"]} for name, own in RULES["columns"].items()}
    plain.write_text(json.dumps({"k": 2, "columns": columns}), encoding="utf-8")
    return str(messy), str(rules), str(clean), str(plain)


COMMANDS: dict[str, tuple[str, ...]] = {
    "check": ("--model", "alpha-k:ill:1"),
    "compare": ("--algorithms", "datafly,mondrian"),
    "explore": ("--k", "2,4"),
    "risk": ("--population-size", "80"),
}
OWN = ("seconds", "memory", "source", "notes", "advice")
"""What differs from run to run."""


def _told(plain: Any) -> Any:
    if isinstance(plain, dict):
        return {name: _told(value) for name, value in plain.items() if name not in OWN}
    return [_told(each) for each in plain] if isinstance(plain, list) else plain


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_reads_a_table_as_its_job_says(command: str, files: tuple[str, str, str, str]) -> None:
    messy, rules, clean, plain = files
    more = COMMANDS[command]
    said = run(command, messy, "--job", rules, *more)
    assert _told(said) == _told(run(command, clean, "--job", plain, *more))
    assert said["rows"] == 8


def test_usefulness_is_measured_on_the_table_as_it_is_read(files: tuple[str, str, str, str], tmp_path: Path) -> None:
    messy, rules, clean, plain = files
    out = str(tmp_path / "out.parquet")
    table = pl.read_csv(messy, separator=";", infer_schema=False)
    kanopy.anonymize(table, kanopy.Job.read(rules)).data.write_parquet(out)  # in the order of the table
    told = [run("assess", table, out, "--job", job, "--no-learn") for table, job in ((messy, rules), (clean, plain))]
    assert _told(told[0]) == _told(told[1]) and told[0]["rows"] == 8


def test_a_release_of_new_rows_reads_them_as_the_first_were(files: tuple[str, str, str, str], tmp_path: Path) -> None:
    messy, rules, clean, plain = files
    shown = []
    for place, (table, job) in enumerate(((messy, rules), (clean, plain))):
        names = ("out.parquet", "again.parquet", "solution.json")
        out, again, solution = (str(tmp_path / f"{place}-{name}") for name in names)
        run("anonymize", table, "--job", job, "-o", out, "--solution", solution)
        run("apply", solution, table, "-o", again)
        first, second = (pl.read_parquet(each).sort(pl.all()) for each in (out, again))
        assert first.equals(second)
        shown.append(first)
    assert shown[0].equals(shown[1])


def test_a_release_is_read_as_it_stands(files: tuple[str, str, str, str], tmp_path: Path) -> None:
    messy, rules, _, _ = files
    out = str(tmp_path / "out.csv")
    assert "--as-release" in CliRunner().invoke(app, ["check", messy, "--job", rules]).output
    run("anonymize", messy, "--job", rules, "-o", out)
    assert run("check", out, "--job", rules, "--as-release")["rows"] == 8
    run("anonymize", messy, "--job", rules, "-o", out, "--manifest", str(tmp_path / "manifest.json"))
    assert run("check", out, "--job", rules)["rows"] == 8  # its manifest says what it is


def test_what_is_asked_is_judged(tmp_path: Path) -> None:
    table = tmp_path / "unique.csv"
    table.write_text("age,ill\n" + "".join(f"{age},flu\n" for age in range(100)), encoding="utf-8")
    asked = run("check", str(table), "-q", "age", "--model", "k:50", ends=1)
    assert not asked["holds"] and asked["k"] == 50
    assert asked["models"][0]["name"] == "k" and asked["models"][0]["failing_classes"] == 100
    assert run("check", str(table), "-q", "age")["holds"]  # nobody asked for anything
    assert "Leave 'k' out of the models" in run("explore", str(table), "-q", "age", "--model", "k:9", ends=2)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (("--population", "nosuch.csv"), "--population has no effect without a model that compares"),
        (("--population", "nosuch.csv", "--model", "k-map:3"), "nosuch.csv"),
        (("--sampling-weight", "ill"), "--sampling-weight has no effect without a model that adds up"),
        (("--on", "ill"), "--on has no effect without an earlier release"),
        (("--model", "l-distinct:ill:2", "--model", "subset-k:2:3"), "only 1"),
    ],
)
def test_what_nothing_looks_at_is_refused(given: tuple[str, ...], words: str, tmp_path: Path) -> None:
    table = tmp_path / "few.csv"
    table.write_text("age,ill\n1,1\n2,2\n", encoding="utf-8")
    assert words in run("check", str(table), "-q", "age", *given, ends=2)


def test_suppressed_rows_are_a_class_like_any_other() -> None:
    table = {"age": [*["30"] * 4, "*"], "sex": [*["f"] * 4, "*"], "ill": ["a", "b", "a", "b", "HIV"]}
    job = kanopy.Job(quasi=["age", "sex"], sensitive="ill", k=2, models="l-distinct:ill:2")
    found = kanopy.check(table, job)
    assert [(each.model, each.holds, each.unguarded) for each in found.models] == [
        ("k", False, ("ill",)), ("l-distinct", False, ("ill",)),
    ]  # fmt: skip
    assert (found.k, found.suppressed_rows) == (4, 1)
    for nothing in ("", None):  # some formats know no missing texts
        table["ill"][-1] = nothing
        assert kanopy.check(table, job).holds
    assert kanopy.check(table, job.replaced(models=["t-equal:ill:0"])).holds  # no value, so nothing to be close to
    assert kanopy.check({"age": ["*", "*", "*"], "sex": ["*"] * 3, "ill": [None] * 3}, job).holds


def test_names_and_jobs_in_every_form(tmp_path: Path) -> None:
    job = kanopy.Job(quasi="age,sex", k=2)
    file = tmp_path / "job.toml"
    file.write_text(job.to_toml(), encoding="utf-8")
    table = {"age": [1, 1, 2], "sex": ["f", "f", "m"]}
    found = kanopy.check(table, job)
    assert not found.holds
    for same in (file, str(file), job.to_dict()):
        assert kanopy.check(table, same) == found
    assert kanopy.check(table, quasi=["age", "sex"], k=2) == found
    assert kanopy.check(table, quasi="age, sex", models="k:2") == found
    assert kanopy.check(table, kanopy.MaskJob(text="sex", quasi="age", k=2)).models == found.models
    for wrong, words in (
        ({"metric": "loss"}, "is about making a release"),
        ({"weight": "w"}, "takes no argument 'weight'"),
        ({"k": 3, "models": "k:5"}, "contradict each other"),
    ):
        with pytest.raises(JobError, match=words):
            kanopy.check(table, quasi="age", **wrong)


def test_settings_of_a_risk_are_one_object() -> None:
    table = {"age": [1, 1, 2], "sex": ["f", "f", "m"]}
    asked = kanopy.RiskSettings(threshold="50%", largest_subset=0)
    found = kanopy.assess_risk(table, quasi="age", settings=asked).to_dict()
    assert found == kanopy.assess_risk(table, quasi="age", settings={"threshold": 0.5, "largest_subset": 0}).to_dict()
    assert found == kanopy.assess_risk(table, kanopy.Job(quasi="age"), threshold=0.5, largest_subset=0).to_dict()
    assert found["threshold"]["rows"] == 1
    for wrong, words in (
        ({"treshold": 1}, "Did you mean 'threshold'"),
        ({"settings": {"sudo": 1}}, "no setting 'sudo'"),
    ):
        with pytest.raises(JobError, match=words):
            kanopy.assess_risk(table, quasi="age", **wrong)


def test_a_table_may_be_where_it_is(tmp_path: Path) -> None:
    """A frame, a path and the address of a database are the same table."""
    frame = pl.DataFrame({"age": [1, 1, 2], "sex": ["f", "f", "m"]})
    file, base = tmp_path / "few.csv", tmp_path / "few.sqlite"
    frame.write_csv(file)
    with sqlite3.connect(base) as connection:
        connection.execute("create table people (age integer, sex text)")
        connection.executemany("insert into people values (?, ?)", frame.rows())
    for source in (file, str(file), f"{base}::people"):
        assert kanopy.check(source, quasi="age,sex") == kanopy.check(frame, quasi="age,sex")
        assert kanopy.assess_risk(source, quasi="age").to_dict() == kanopy.assess_risk(frame, quasi="age").to_dict()
        assert kanopy.assess(source, frame, learn=False).to_dict() == kanopy.assess(frame, frame, learn=False).to_dict()
