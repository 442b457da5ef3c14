"""The dbt package on DuckDB: its tests fail where they must, and a statement of Kanopy becomes a table."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import kanopy

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "integrations" / "dbt"
HAS_DBT = (ROOT / ".venv-dbt" / "bin" / "dbt").exists()
K = 5

PROJECT = """
name: hospital
version: 1.0.0
config-version: 2
profile: hospital
model-paths: [models]
"""
PROFILE = "hospital: {target: dev, outputs: {dev: {type: duckdb, path: hospital.duckdb, threads: 1}}}"
TESTS = """
version: 2
sources:
  - name: main
    tables:
      - name: people
      - name: good
        data_tests: &all
          - kanopy.k_anonymous: {arguments: {quasi: [age, sex], k: 5}}
          - kanopy.l_diverse: {arguments: {quasi: [age, sex], sensitive: diagnosis, l: 2}}
          - kanopy.no_identifiers: {arguments: {forbidden: [name, born]}}
          - kanopy.small_cells: {arguments: {by: [age, sex], least: 5}}
      - {name: four, data_tests: *all}
      - {name: alike, data_tests: *all}
      - {name: named, data_tests: *all}
      - name: counts
        data_tests:
          - kanopy.small_cells: {arguments: {count: cases, least: 5}}
      - name: small
        data_tests:
          - kanopy.small_cells: {arguments: {count: cases, least: 5}}
models:
  - name: release
    data_tests:
      - kanopy.k_anonymous: {arguments: {quasi: [age, sex], k: 5}}
      - kanopy.no_identifiers: {arguments: {forbidden: [name, born]}}
"""


def tables() -> dict[str, pl.DataFrame]:
    """A table that may be published, and some that each break one promise."""
    rows = [
        (age, sex, ill) for age in ("20-39", "40-59") for sex in "fm" for ill in ("flu", "cold", "flu", "cold", "flu")
    ]
    good = pl.DataFrame(rows, schema=["age", "sex", "diagnosis"], orient="row")
    alike = good.with_columns(
        pl.when((pl.col("age") == "40-59") & (pl.col("sex") == "m"))
        .then(pl.lit("flu"))
        .otherwise("diagnosis")
        .alias("diagnosis")
    )
    named = good.with_columns(contact=pl.Series([f"p{i}@mail.example" for i in range(good.height)]))
    return {
        "people": pl.read_csv(ROOT / "docs" / "files" / "people.csv", schema_overrides={"zip": pl.String}),
        "good": good, "four": good.head(good.height - 1), "alike": alike, "named": named,
        "counts": pl.DataFrame({"region": ["a", "b", "c"], "cases": [0, 5, 12]}),
        "small": pl.DataFrame({"region": ["a", "b"], "cases": [4, 12]}),
    }  # fmt: skip


def run(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """A command of the environment of dbt."""
    environment = {**os.environ, "PATH": f"{ROOT / '.venv-dbt' / 'bin'}:{os.environ['PATH']}", "DO_NOT_TRACK": "1"}
    return subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True, timeout=120)


def project(folder: Path) -> None:
    """A dbt project with the package beside it, as `dbt deps` would put it."""
    duckdb = pytest.importorskip("duckdb")
    with duckdb.connect(str(folder / "hospital.duckdb")) as connection:
        for name, frame in tables().items():
            connection.register("given", frame.to_arrow())
            connection.execute(f"create table {name} as select * from given")
    (folder / "dbt_project.yml").write_text(PROJECT)
    (folder / "profiles.yml").write_text(PROFILE)
    (folder / "models").mkdir()
    (folder / "models" / "schema.yml").write_text(TESTS)
    shutil.copytree(PACKAGE, folder / "dbt_packages" / "kanopy")
    (folder / "packages.yml").write_text(f"packages: [{{local: '{PACKAGE}'}}]\n")


def test_the_tables_are_what_their_names_say() -> None:
    """What the SQL counts is what `kanopy.check` counts."""
    given = tables()
    checks = {
        name: kanopy.check(given[name], quasi="age,sex", models=[f"k:{K}", "l-distinct:diagnosis:2"])
        for name in ("good", "four", "alike", "named")
    }
    assert {name: [model.holds for model in check.models] for name, check in checks.items()} == {
        "good": [True, True], "four": [False, True], "alike": [True, False], "named": [True, True],
    }  # fmt: skip
    assert checks["four"].k == K - 1


@pytest.mark.slow
@pytest.mark.skipif(not HAS_DBT, reason="`make dbt-test` installs dbt with DuckDB and runs this")
def test_a_project_builds_and_its_tests_fail_where_they_must(tmp_path: Path) -> None:
    project(tmp_path)
    emitted = run(
        tmp_path, "kanopy", "anonymize", "hospital.duckdb::people", "-q", "age,sex", "-k", str(K), "-s", "diagnosis",
        "--identifiers", "name,born,admitted,zip,nights", "--emit-sql", "duckdb", "-o", "release.sql",
    )  # fmt: skip
    assert emitted.returncode == 0, emitted.stderr
    made = run(tmp_path, "python", str(PACKAGE / "as_model.py"), "release.sql", "models/release.sql")
    assert made.returncode == 0, made.stderr
    assert (tmp_path / "models" / "release.sql").stat().st_mode & 0o077 == 0
    built = run(tmp_path, "dbt", "--quiet", "build", "--profiles-dir", ".", "--no-partial-parse")
    results: list[dict[str, Any]] = json.loads((tmp_path / "target" / "run_results.json").read_text())["results"]
    states = {each["unique_id"].split(".")[2]: each["status"] for each in results}
    failed = {name.removeprefix("kanopy_source_") for name, state in states.items() if state == "fail"}
    assert {tuple(name.split("_main_")[0:1] + name.split("_main_")[1].split("_")[:1]) for name in failed} == {
        ("k_anonymous", "four"), ("small_cells", "four"), ("l_diverse", "alike"), ("no_identifiers", "named"),
        ("small_cells", "small"),
    }, (failed, built.stdout)  # fmt: skip
    assert set(states.values()) == {"pass", "fail", "success"} and states["release"] == "success", built.stdout
    with pytest.importorskip("duckdb").connect(str(tmp_path / "hospital.duckdb")) as connection:
        release = connection.sql("select * from release").pl()
    assert kanopy.check(release, quasi="age,sex").k >= K and release.columns == ["age", "sex", "diagnosis"]
    # A second run takes the place of the first.
    again = run(tmp_path, "dbt", "--quiet", "build", "--profiles-dir", ".", "--select", "release")
    assert again.returncode == 0, again.stdout
