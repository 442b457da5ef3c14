"""Nothing fails after the first byte is published: an error in any step after the search leaves no output at all."""

from __future__ import annotations

from typing import Any

import pytest

from kanopy._errors import DataError
from kanopy._table.sources import read_table
from tests.cli.running import Shell
from tests.engine.jobs import people
from tests.engine.test_contract import fill

ASKED = ("-q", "age,sex", "-k", "5", "--suppress", "5%", "--insensitive", "pay,note")
BESIDE = ("--mapping", "m.csv", "--manifest", "m.json", "--solution", "s.json")
EVERYWHERE = (
    "kanopy.release.sweeps.advice.advice", "kanopy.release.result.Result.summary",
    "kanopy.release.result.Result.mapping", "kanopy.release.mapping.mapping_table",
    "kanopy.release.manifest.manifest_json",
    "kanopy.release.solution_file.solution_json", "kanopy.release.verification._verify", "kanopy.verify.verify.verify",
    "kanopy.release.verification.verified_labels", "kanopy.verify.job.verify_job",
    "kanopy.study.exposed_endpoints.exposed_endpoints",
    "kanopy.metrics.release_losses.release_losses", "kanopy.metrics.release_losses.column_losses",
    "kanopy.cli.release._show_release",
    "kanopy.cli.release.show_lost", "kanopy.cli.release.show_seconds", "kanopy.report.text.lost_words",
)  # fmt: skip
"""Steps after the search that every engine takes."""
STEPS = {
    "memory": (
        "kanopy._table.sinks.formulas", "kanopy.release.reporting.report_of", "kanopy.release.writing.report_bytes",
        "kanopy.report.report.build_report", "kanopy.study.release_study.look",
    ),
    "stream": ("kanopy._table.streams.sinks.formulas", "kanopy.engine.contract.require_same"),
    "duckdb": ("kanopy.engine.contract.require_same",),
}  # fmt: skip
CASES = [(engine, step) for engine, own in STEPS.items() for step in (*EVERYWHERE, *own)]


@pytest.mark.parametrize(("engine", "step"), CASES, ids=lambda value: value.removeprefix("kanopy."))
def test_a_failure_in_any_step_leaves_no_output(
    engine: str, step: str, shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: Any, **__: Any) -> Any:
        raise DataError("this step fails")

    table = people().head(200)
    if engine == "duckdb":
        pytest.importorskip("duckdb", reason="pip install 'kanopy[duckdb]'")
        fill(f"{shell.folder}/p.duckdb", table)
        data, output, more = "p.duckdb::people", "p.duckdb::release", []
    else:
        table.write_csv(shell.folder / "p.csv")
        data, output, more = "p.csv", "out.csv", ["--engine", engine]
        more += ["--report", "r.html"] if engine == "memory" else []
    before = sorted(path.name for path in shell.folder.iterdir())
    monkeypatch.setattr(step, fails)
    run = shell("anonymize", data, *ASKED, "-o", output, *BESIDE, *more)
    assert run.status == 2 and "this step fails" in run.words, run.error
    assert sorted(path.name for path in shell.folder.iterdir()) == before
    if engine == "duckdb":
        with pytest.raises(DataError, match="no table 'release'"):
            read_table(f"{shell.folder}/p.duckdb::release")


@pytest.mark.parametrize(
    "step",
    [
        "kanopy.release.pushdown.pushdown_result.PushdownResult.summary",
        "kanopy.release.pushdown.pushdown_result.PushdownResult.mapping",
        "kanopy.release.pushdown.steps.verified", "kanopy.release.pushdown.steps.true_labels",
        "kanopy.release.manifest.manifest_json", "kanopy.release.solution_file.solution_json",
        "kanopy.cli.release._show_pushdown",
    ],
)  # fmt: skip
@pytest.mark.parametrize("kind", ["parquet", "duckdb"])
def test_nor_where_not_even_distinct_rows_are_here(
    step: str, kind: str, shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("duckdb", reason="pip install 'kanopy[duckdb]'")

    def fails(*_: Any, **__: Any) -> Any:
        raise DataError("this step fails")

    monkeypatch.setenv("KANOPY_MOST_DIFFERENT", "90")
    if kind == "parquet":
        people().write_parquet(shell.folder / "p.parquet")
        data, output, more = "p.parquet", "out.parquet", ["--engine", "stream"]
    else:
        fill(f"{shell.folder}/p.duckdb", people())
        data, output, more = "p.duckdb::people", "p.duckdb::release", []
    before = shell.files
    asked = ("-q", "age,sex", "-k", "5", "--suppress", "5%")
    monkeypatch.setattr(step, fails)
    run = shell("anonymize", data, *asked, "-o", output, *BESIDE, *more)
    assert run.status == 2 and "this step fails" in run.words, run.error
    assert shell.files == before
    if kind == "duckdb":
        with pytest.raises(DataError, match="no table 'release'"):
            read_table(f"{shell.folder}/p.duckdb::release")


def test_a_list_beside_another_column_is_published_with_its_advice(shell: Shell) -> None:
    """Advice leaves the list out in turn; what parted its elements goes with it."""
    rows = [f"{10 + i},{'a;b' if i % 2 else 'b;c;d'},{i % 3}" for i in range(40)]
    (shell.folder / "p.csv").write_text("age,items,ill\n" + "\n".join(rows) + "\n")
    run = shell(
        "anonymize",
        "p.csv",
        "-q",
        "age,items",
        "-k",
        "9",
        "--separator",
        "items=;",
        "--insensitive",
        "ill",
        "-o",
        "o.csv",
    )
    assert run.status == 0, run.error
    assert (shell.folder / "o.csv").exists()


def test_a_weight_of_zero_beside_a_wiped_column_is_published(shell: Shell) -> None:
    (shell.folder / "p.csv").write_text("age,zip\n" + "".join(f"{i},{i * 7919 % 99991}\n" for i in range(30)))
    (shell.folder / "job.toml").write_text(
        'k = 5\n[columns.age]\nrole = "quasi-identifier"\nweight = 0\n[columns.zip]\nrole = "quasi-identifier"\n'
    )
    run = shell("anonymize", "p.csv", "--job", "job.toml", "-o", "o.csv")
    assert run.status == 0, run.error
    assert (shell.folder / "o.csv").exists()


@pytest.mark.parametrize("step", ["_show", "page_or_numbers", "combination_table"])
def test_a_study_that_fails_leaves_none_of_its_outputs(
    step: str, shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: Any, **__: Any) -> Any:
        raise DataError("this step fails")

    people().head(200).write_csv(shell.folder / "p.csv")
    outputs = ("--row-risks", "rows.csv", "--combinations", "few.csv", "--report", "r.html")
    study = ("risk", "p.csv", "-q", "age,sex", "--every", "1:3", "--suda", "2", *outputs)
    assert shell(*study).status == 0
    made = sorted(path.name for path in shell.folder.iterdir())
    assert made == ["few.csv", "p.csv", "r.html", "rows.csv"]
    for name in ("few.csv", "r.html", "rows.csv"):
        (shell.folder / name).unlink()
    monkeypatch.setattr(f"kanopy.cli.studies.risk.{step}", fails)
    run = shell(*study)
    assert run.status == 2 and "this step fails" in run.words, run.error
    assert [path.name for path in shell.folder.iterdir()] == ["p.csv"]
    if step != "combination_table":
        monkeypatch.setattr("kanopy.cli.studies.assess._show", fails)
        run = shell("assess", "p.csv", "p.csv", "-q", "age", "--no-learn", "--report", "r.html")
        assert run.status == 2 and [path.name for path in shell.folder.iterdir()] == ["p.csv"]
