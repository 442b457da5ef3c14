"""`kanopy algorithms`, `kanopy compare`, and local recoding, budgets and bounds in `kanopy anonymize`."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from kanopy.search.algorithms import ALGORITHMS
from tests.cli.running import Shell

ROWS = "age,sex,ill\n" + "".join(f"{20 + (i * 7) % 40},{'fm'[i % 2]},{'abc'[i % 3]}\n" for i in range(60))


@pytest.fixture
def people(shell: Shell) -> Path:
    return shell.write("people.csv", ROWS)


def test_algorithms_lists_every_one_with_its_facts(shell: Shell) -> None:
    listed = shell("algorithms", "--json").json["algorithms"]
    assert [each["name"] for each in listed][: len(ALGORITHMS)] == list(ALGORITHMS)
    assert all(each["does"] and each["source"] and each["recoding"] and each["models"] for each in listed)
    shown = shell("algorithms").out
    assert all(name in shown for name in ALGORITHMS)


def test_compare_prints_a_table_and_writes_every_format(shell: Shell, people: Path) -> None:
    for suffix in ("html", "csv", "json", "svg", "png"):
        run = shell(
            "compare", people, "-q", "age,sex", "-k", "3", "--algorithms", "optimal,mondrian", "-o", f"c.{suffix}"
        )
        assert run.status == 0, run.error
        assert "mondrian" in run.out and (shell.folder / f"c.{suffix}").stat().st_size > 500
    lines = list(csv.DictReader((shell.folder / "c.csv").open(encoding="utf-8")))
    assert {line["algorithm"] for line in lines} == {"optimal", "mondrian"}
    assert all(float(line["loss"]) >= 0 for line in lines)


def test_compare_refuses_what_it_cannot_write_or_run(shell: Shell, people: Path) -> None:
    before = sorted(shell.folder.iterdir())
    for arguments, message in (
        (("-o", "c.docx"), "c.docx"),
        (("--algorithms", "bset"), "best"),
        (("--budget", "0s"), "more than 0 seconds"),
        (("--budget", "soon"), "a time of more than 0"),
        (("-k", "900"), "only 60 rows"),
    ):
        run = shell("compare", people, "-q", "age,sex", *arguments)
        assert run.status == 2
        assert message in run.error
    assert sorted(shell.folder.iterdir()) == before


def test_local_recoding_is_best_unless_another_is_named(shell: Shell, people: Path) -> None:
    run = shell(
        "anonymize", people, "-q", "age,sex", "-k", "3", "--local", "--budget", "100ms", "-o", "a.csv", "--json"
    )
    assert run.status == 0, run.error
    assert run.json["algorithm"] == "best" and run.json["levels"] is None
    other = shell("anonymize", people, "-q", "age,sex", "-k", "3", "--local", "--algorithm", "mondrian", "-o", "b.csv",
                  "--json")  # fmt: skip
    assert other.json["algorithm"] == "mondrian"
    shell.write("job.toml", 'k = 3\nlocal = true\n[columns.age]\nrole = "quasi-identifier"\n')
    third = shell("anonymize", people, "--job", "job.toml", "--budget", "100ms", "-o", "c.csv", "--json")
    assert third.json["algorithm"] == "best"


def test_a_budget_needs_an_algorithm_that_takes_one(shell: Shell, people: Path) -> None:
    run = shell("anonymize", people, "-q", "age", "--algorithm", "mondrian", "--budget", "1s", "-o", "a.csv")
    assert run.status == 2 and "takes no budget" in run.error and "best" in run.error
    for budget in ("0s", "-1s", "1 fortnight"):
        run = shell("anonymize", people, "-q", "age", "--local", "--budget", budget, "-o", "a.csv")
        assert run.status == 2
    assert not (shell.folder / "a.csv").exists()


def test_what_is_proved_is_said_where_the_budget_ends_a_proof(shell: Shell) -> None:
    draw = np.random.default_rng(0)
    table = pl.DataFrame({f"q{j}": draw.integers(0, 8, 400) for j in range(8)})
    table.write_csv(shell.folder / "wide.csv")
    arguments = (
        "anonymize",
        "wide.csv",
        "-q",
        ",".join(table.columns),
        "-k",
        "5",
        "--suppress",
        "5%",
        "--budget",
        "1ms",
    )
    found = shell(*arguments, "-o", "a.csv", "--json").json
    assert not found["optimal"] and 0 < found["floor"] < found["score"]
    assert found["gap"] == pytest.approx(1 - found["floor"] / found["score"])
    said = " ".join(shell(*arguments, "-o", "b.csv").out.split())
    assert f"not proved optimal (at most {found['gap']:.1%} of it avoidable)" in said
    whole = shell(*arguments[:-2], "-o", "c.csv", "--json").json
    assert whole["optimal"] and whole["gap"] == 0 and found["floor"] <= whole["floor"] == whole["score"]


def test_the_bound_is_below_the_loss_and_is_shown(shell: Shell, people: Path) -> None:
    arguments = ("anonymize", people, "-q", "age,sex", "-k", "3", "--local", "--budget", "100ms", "--bound")
    run = shell(*arguments, "-o", "a.csv", "--json")
    assert run.status == 0, run.error
    bound = run.json["bound"]
    assert 0 <= bound["bound"] <= bound["loss"] == run.json["losses"]["loss"]
    assert bound["gap"] == pytest.approx(1 - bound["bound"] / bound["loss"])
    assert "No local recoding" in shell(*arguments, "-o", "b.csv").out


def test_maskings_have_no_bound(shell: Shell, people: Path) -> None:
    run = shell("anonymize", people, "-q", "ill", "--algorithm", "fusion", "--bound", "-o", "a.csv")
    assert run.status == 2 and "bound" in run.error
    assert not (shell.folder / "a.csv").exists()


def test_a_map_is_drawn_as_a_picture_for_vega_lite(shell: Shell) -> None:
    (shell.folder / "p.csv").write_text("age,sex\n31,f\n34,f\n38,f\n52,m\n57,m\n59,m\n")
    run = shell("explore", "p.csv", "-q", "age,sex", "-k", "2..3", "-o", "map.json")
    assert run.status == 0, run.error
    drawn = json.loads((shell.folder / "map.json").read_text())
    assert "vega-lite" in drawn["$schema"]
