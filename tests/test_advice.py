"""Where a column is wiped or most of the detail is gone, terminal, page and JSON say so first, and what would help."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

import kanopy
from kanopy.cli import app
from kanopy.release.sweeps import advice as room
from kanopy.search.subtree.iyengar import Iyengar


def table(rows: int = 300) -> pl.DataFrame:
    """Most people live in two areas, a few elsewhere; most are young, a few old."""
    draw = np.random.default_rng(2)
    areas = draw.choice(["101", "203", "777"], rows, p=[0.6, 0.37, 0.03])
    return pl.DataFrame(
        {
            "age": np.where(draw.random(rows) < 0.97, draw.integers(18, 30, rows), draw.integers(60, 95, rows)),
            "zip": [f"{area}{number:02d}" for area, number in zip(areas, draw.integers(0, 30, rows), strict=True)],
            "sex": draw.choice(["f", "m"], rows).tolist(),
        }
    )


def job(**changes: Any) -> kanopy.Job:
    trees: dict[str, Any] = {"zip": {"method": "suppress"}, "age": {"method": "widths", "widths": [5, 10, 50]}}
    return kanopy.Job(**{"quasi": ["age", "zip", "sex"], "k": 12, "hierarchies": trees, **changes})


@pytest.fixture(scope="module")
def poor() -> Any:
    return kanopy.anonymize(table(), job())


def test_every_number_is_what_the_changed_job_loses(poor: Any) -> None:
    assert "zip" in poor.wiped and poor.advice
    by_option = {each.option: each.loss for each in poor.advice}
    for share in ("5%", "10%"):
        if f"--suppress {share}" in by_option:
            made = kanopy.anonymize(table(), job(suppress=share))
            assert by_option[f"--suppress {share}"] == pytest.approx(made.losses["loss"])
    local = kanopy.anonymize(table(), job(algorithm="best", parameters={"budget_seconds": room.LOCAL_BUDGET}))
    assert by_option["--local"] == pytest.approx(local.losses["loss"])
    without = kanopy.anonymize(
        table(), job(quasi=["age", "sex"], identifiers=["zip"], hierarchies={"age": job().hierarchies["age"]})
    )
    assert by_option["without zip among --quasi"] == pytest.approx(without.losses["loss"])
    home = next(each for each in poor.advice if each.settings == {"at_home": "zip"})
    assert kanopy.anonymize(table(), room.advised(job(), home.settings)).losses == without.losses
    losses = [each.loss for each in poor.advice]
    assert losses == sorted(losses) and max(losses) < poor.losses["loss"]


def test_a_column_that_is_all_or_nothing_is_tried_with_groups() -> None:
    alone = {"quasi": ["zip"], "suppress": 0.05}
    made = kanopy.anonymize(table(), job(**alone, hierarchies={"zip": {"method": "suppress"}}))
    grouped = kanopy.anonymize(table(), job(**alone, hierarchies={"zip": {"method": "prefix"}}))
    assert made.wiped == ("zip",) and grouped.losses["loss"] < 1
    found = {each.option: each.loss for each in made.advice}
    assert found['[columns.zip] hierarchy = { method = "prefix" }'] == pytest.approx(grouped.losses["loss"])


def test_a_part_of_a_long_table_tells_what_local_recoding_loses() -> None:
    long, wanted = table(8000), job(k=19)
    made = kanopy.anonymize(long, wanted)
    part = next(each for each in made.advice if each.option == "--local")
    whole = kanopy.anonymize(long, wanted.replaced(algorithm="best", parameters={"budget_seconds": 0.3}))
    assert "estimated on" in part.change and part.loss == pytest.approx(whole.losses["loss"], abs=0.02)


def test_advice_takes_less_than_the_release_however_much_that_may(monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = job(algorithm="iyengar", parameters={"budget_seconds": 2.0}, quasi=["age", "zip"], k=40)
    made, given = kanopy.anonymize(table(), wanted), []
    search = Iyengar.search

    def noted(self: Iyengar, *problem: Any) -> Any:
        given.append(self.budget_seconds)
        return search(self, *problem)

    monkeypatch.setattr(Iyengar, "search", noted)
    assert made.advice and set(given) == {room.OTHER_BUDGET} and room.OTHER_BUDGET < 2.0


def test_the_same_release_gives_the_same_advice(poor: Any) -> None:
    assert kanopy.anonymize(table(), job()).advice == poor.advice


def test_page_and_numbers_say_it_first(poor: Any) -> None:
    page = poor.report.to_html()
    assert page.index("Most of the detail is lost") < page.index("independent of the search verified this")
    assert "Fully suppressed:" in page and 'id="advice"' in page and "What would help" in page
    found = poor.report.to_dict()
    assert found["advice"] == [each.to_dict() for each in poor.advice] == poor.summary()["advice"]
    assert found["wiped"] == list(poor.wiped)


def test_a_good_release_is_given_no_advice() -> None:
    made = kanopy.anonymize(table(), job(quasi=["sex"], k=5, hierarchies={}))
    assert made.advice == () and made.wiped == () and 'id="advice"' not in made.report.to_html()


def test_large_tables_and_maskings_are_given_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(room, "MOST_TUPLES", 10)
    made = kanopy.anonymize(table(), job())
    assert made.advice == () and "Fully suppressed:" in made.report.to_html()
    answers = {"why": ["beach", "beach", "seaside", "bird", "bird", "heron"]}
    assert kanopy.mask(answers, kanopy.MaskJob(text=["why"], k=3)).advice == ()


def test_the_terminal_says_it_first(tmp_path: Path) -> None:
    data = tmp_path / "people.csv"
    table().write_csv(data)
    wanted = tmp_path / "job.toml"
    wanted.write_text(job().to_toml())
    options = ["anonymize", str(data), "--job", str(wanted), "-o", str(tmp_path / "out.csv")]
    shown = " ".join(CliRunner().invoke(app, options).stdout.split())
    assert shown.startswith("! Most of the detail is lost") and shown.index("--local") < shown.index("✓")
    printed = json.loads(CliRunner().invoke(app, [*options, "--json"]).stdout)
    assert printed["advice"][0].keys() == {"change", "option", "settings", "loss"}


@pytest.mark.parametrize("column", ["age", "zip"])
def test_columns_without_weight_are_no_reason_to_fail(column: str) -> None:
    """Advice tried the job without the other column: all weights were 0, which was an error after the release."""
    rows = {"age": list(range(40)), "zip": [f"{(37 * i) % 100_000:05d}" for i in range(40)]}
    made = kanopy.anonymize(rows, kanopy.Job(quasi=["age", "zip"], k=15, weights={column: 0.0}))
    assert made.wiped and not any("at_home" in each.settings for each in made.advice)


def test_what_names_a_column_leaves_with_it() -> None:
    """A column of lists, one published as ranges: the job without it says nothing of it any more."""
    job = kanopy.Job(
        quasi=["age", "bought"], separators={"bought": ";"}, weights={"bought": 2.0}, min_levels={"bought": 1},
        algorithm="mondrian", parameters={"free": ["age"]}, k=5,
    )  # fmt: skip
    without = room.advised(job, {"at_home": "bought"})
    assert (without.quasi, without.separators, without.weights, without.min_levels) == (("age",), {}, {}, {})
    assert without.parameters["free"] == ("age",)
    assert room.advised(job, {"at_home": "age"}).parameters["free"] == ()


def test_lists_beside_another_column_get_advice_about_records() -> None:
    draw = np.random.default_rng(0)
    lists = [";".join(draw.choice(list("abcdef"), 3, replace=False).tolist()) for _ in range(40)]
    rows = {"age": [20 + (7 * i) % 67 for i in range(40)], "bought": lists}
    made = kanopy.anonymize(rows, kanopy.Job(quasi=["bought", "age"], separators={"bought": ";"}, known=2, k=5))
    found = [each for each in made.advice if "at_home" in each.settings]
    assert [each.settings for each in found] == [{"at_home": "age"}]
    for each in found:
        assert each.loss == kanopy.anonymize(rows, room.advised(made.job, each.settings)).losses["loss"]
