"""Faults that were put into the source by hand and that no test noticed: each has one here (`tests/mutations.toml`)."""

from __future__ import annotations

import asyncio
import io
import json
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import polars as pl
import pytest

import kanopy
from kanopy._errors import Cancelled, JobError
from kanopy.app import worker as worker_module
from kanopy.app.worker import Task, Worker
from kanopy.masking.assignment import _settle
from kanopy.metrics.risk.combinations import check_sets
from kanopy.metrics.risk.population import snb_uniques
from kanopy.metrics.utility.column_utility import bins_of
from kanopy.metrics.utility.published_values import ColumnDomain, understand
from kanopy.report.charts.risk_map import risk_map
from tests.app.simulated import elsewhere


def test_two_releases_together_are_unsafe_below_k_and_not_at_it() -> None:
    """Rows 0–1 share both labels, rows 2–4 as well; row 5 is alone in the second release only."""
    new = pl.DataFrame({"age": ["20-29"] * 2 + ["30-39"] * 4})
    earlier = pl.DataFrame({"zip": ["1*"] * 2 + ["2*"] * 3 + ["3*"]})
    both = kanopy.check(new, quasi="age", models="k:2", beside=earlier).beside
    assert both is not None
    assert (both.classes, both.smallest_class, both.k) == (3, 1, 2)
    assert (both.classes_below, both.rows_below, both.unique_rows) == (1, 1, 1)
    at_it = kanopy.check(new[:5], quasi="age", models="k:2", beside=earlier[:5]).beside
    assert at_it is not None and at_it.holds and at_it.rows_below == 0


def test_who_came_and_went_is_exposed_where_fewer_than_k_are_alike() -> None:
    new = pl.DataFrame({"id": [1, 2, 3, 4, 8, 9], "age": ["20-29"] * 4 + ["30-39"] * 2})
    earlier = pl.DataFrame({"id": [1, 2, 3, 4, 5], "age": ["20-29"] * 4 + ["40-49"]})
    both = kanopy.check(new, quasi="age", models="k:2", beside=earlier, on="id").beside
    assert both is not None
    assert (both.added, both.removed, both.exposed_changes) == (2, 1, 1)  # two alike came, one went alone


def test_a_limit_that_is_met_exactly_is_kept_where_the_rows_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """3 of 117 rows must go, and 3 may: the finest release is feasible, and what is lost is counted."""
    pytest.importorskip("duckdb", reason="pip install 'kanopy[duckdb]'")
    monkeypatch.setenv("KANOPY_MOST_DIFFERENT", "30")
    ages = [value for value in range(20, 39) for _ in range(6)] + [70, 71, 72]
    table = pl.DataFrame({"age": ages, "sex": ["f" if i % 6 < 3 else "m" for i in range(len(ages))]})
    table.write_parquet(tmp_path / "t.parquet")
    job = kanopy.Job(
        quasi=("age", "sex"), k=3, suppress=0.03, hierarchies={"age": {"method": "widths", "widths": [5, 20]}}
    )
    found = kanopy.anonymize(str(tmp_path / "t.parquet"), job, engine="stream", output=str(tmp_path / "out.parquet"))
    meant = kanopy.anonymize(table, job)
    assert meant.suppressed == 3 and found.suppressed == 3
    assert found.levels == meant.levels and found.score == pytest.approx(meant.score, rel=1e-12)


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("kidhome", "family and household"), ("votetrump", "crime, conviction or opinion"), ("studage", "age"),
        ("stateabb", "a place"), ("geschl", "sex or gender"), ("rgn", "a place"), ("emplmnt", "work"),
    ],
)  # fmt: skip
def test_roles_by_parts_of_names(name: str, says: str) -> None:
    from kanopy._table.guessing.column_names import meanings_of

    assert [each.meaning.says for each in meanings_of(name)] == [says]


def test_a_pair_of_words_means_more_than_either() -> None:
    from kanopy._table.guessing.column_names import meanings_of

    best = {name: meanings_of(name)[0].meaning.says for name in ("patient_age", "age_patient_id", "zip_code")}
    assert best["patient_age"] == "age" and best["age_patient_id"] == "a record number"
    assert best["zip_code"] == meanings_of("zipcode")[0].meaning.says


def test_bins_of_a_report_are_named_by_what_is_in_them() -> None:
    labels = tuple(map(str, range(100)))
    domain = ColumnDomain("age", labels, np.full(100, 2), np.arange(100.0))
    places, names = bins_of(understand(["5"], domain), most=4)
    assert names == ["0–24", "25–49", "50–74", "75–99"] or len(names) == 4
    for number in range(4):
        inside = np.flatnonzero(places == number)
        assert names[number].startswith(str(inside[0])) and names[number].endswith(str(inside[-1]))
        assert len(inside) == 25
    apart = np.array([*range(20), *range(80, 100)], float)
    gap = ColumnDomain("age", tuple(f"{number:.0f}" for number in apart), np.full(40, 2), apart)
    names = bins_of(understand(["5"], gap), most=4)[1]
    assert names == ["0–19", "24.75…", "49.5…", "80–99"]
    ends = ColumnDomain("age", labels, np.array([1, *[5] * 98, 1]), np.arange(100.0))
    assert bins_of(understand(["5"], ends), most=4, least=3)[1] == ["up to 24", "25–49", "50–74", "75 and above"]
    few = ColumnDomain("age", ("20", "21", "22", "99"), np.array([1, 5, 5, 1]), np.array([20.0, 21, 22, 99]))
    places, names = bins_of(understand(["21"], few), least=3)
    assert places.tolist() == [0, 0, 1, 1] and names == ["up to 21", "22 and above"]


def test_the_slide_negative_binomial_solves_its_equations() -> None:
    """Found by trying every mean size and scale instead: the sampled classes and uniques that they expect are those
    found (Chen and Keller-McNulty 1998)."""
    sizes, people = [1] * 40 + [2] * 20 + [3] * 10 + [5] * 4, 500
    rows, classes, alone = sum(sizes), len(sizes), 40
    share = rows / people
    mean, scale = np.meshgrid(np.linspace(1.5, 6, 1801), np.geomspace(0.01, 100, 2001))
    empty = (1 + scale * share) ** (-(mean - 1) / scale)
    expected = people / mean * (1 - (1 - share) * empty)
    uniques = people / mean * share * empty * (1 + (1 - share) * (mean - 1) / (1 + scale * share))
    at = np.unravel_index(np.argmin((expected / classes - 1) ** 2 + (uniques / alone - 1) ** 2), mean.shape)
    tried = people / mean[at] * (1 + scale[at]) ** (-(mean[at] - 1) / scale[at])
    assert snb_uniques(sizes, people) == pytest.approx(tried, rel=0.03)


def test_rare_answers_are_settled_the_smallest_group_first() -> None:
    """One row of (1, 5) joins two of (1, 0), and nothing more is lost; the other way round all would be silent."""
    rows = np.array([[1, 5], [1, 0], [1, 0]], np.int32)
    table: Any = SimpleNamespace(sensitive=())
    _settle(table, rows, (0, 0), 3, {}, np.random.default_rng(0))
    assert rows.tolist() == [[1, 0]] * 3


def test_work_that_does_not_hear_is_ended_when_it_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker_module, "GRACE_SECONDS", 0.01)

    async def stopped(force: bool) -> tuple[list[str], Task]:
        own, done = Worker(), list[str]()
        own._process = SimpleNamespace(kill=lambda: done.append("killed"), is_alive=lambda: True)  # type: ignore[assignment]
        own._pipe = SimpleNamespace(send=lambda message: done.append(message[0]))  # type: ignore[assignment]
        task = Task(0, "searching", {}, asyncio.get_running_loop().create_future())
        own._tasks[0] = task
        own.cancel(task, force=force)
        await asyncio.sleep(0.1)
        return done, task

    done, task = elsewhere(lambda: stopped(force=True))
    assert done == ["cancel", "killed"] and isinstance(task.answer.exception(), Cancelled)
    done, task = elsewhere(lambda: stopped(force=False))
    assert done == ["cancel"] and not task.answer.done()


def test_sets_of_as_many_columns_as_there_are_may_be_asked_for_and_more_may_not() -> None:
    check_sets({3: 2}, 3)
    with pytest.raises(JobError, match=r"combinations of 4 quasi-identifiers, but has only 3"):
        check_sets({4: 2}, 3)
    check_sets({3: 2}, 84)  # 95,284 sets
    with pytest.raises(JobError, match="102,340 sets of columns are too many"):
        check_sets({3: 2}, 86)
    with pytest.raises(JobError, match="sets of columns are too many"):
        check_sets({2: 2, 3: 2}, 85)  # neither alone would be


@pytest.mark.parametrize(
    ("given", "why"),
    [
        (["--emit-sql", "oracle7", "-o", "out.sql"], "Statements are not handed out for 'oracle7'"),
        (["--emit-sql", "duckdb", "-o", "out.csv"], r"Statements are written to a \.sql file\. Name it out\.sql"),
        (
            ["--emit-sql", "duckdb", "-o", "out.sql", "--report", "r.html"],
            "report has no effect without all rows in memory",
        ),
        (
            ["--emit-sql", "duckdb", "-o", "out.sql", "--engine", "stream"],
            "engine has no effect without a release that is written",
        ),
    ],
)
def test_a_statement_that_cannot_be_handed_out_is_refused(
    given: list[str], why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from typer.testing import CliRunner

    from kanopy.cli import app

    monkeypatch.chdir(tmp_path)
    pl.DataFrame({"age": list(range(20)) * 3}).write_csv("t.csv")
    done = CliRunner().invoke(app, ["anonymize", "t.csv", "-q", "age", "-k", "3", *given])
    with pytest.raises(JobError, match=why):
        raise done.exception or AssertionError(done.output)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["t.csv"]


def test_the_risk_map_names_each_way_once_below_it() -> None:
    point = {"k": 2, "suppress": 0.0, "models": [], "algorithm": "optimal", "loss": 0.1, "highest_risk": 0.5}
    points = [{**point, "best": True}, {**point, "k": 3, "best": False},
              {**point, "algorithm": "mondrian", "models": ["l-distinct:ill:2"], "suppress": 0.05, "best": True},
              {**point, "algorithm": "datafly", "loss": None, "best": False}]  # fmt: skip
    chart = str(risk_map(points, "loss"))
    names = ["optimal, k-anonymity, up to 0 suppressed", "mondrian, l-distinct:ill:2, up to 0.05 suppressed"]
    assert f"'domain': {names!r}" in chart
    assert "'legend': {'orient': 'bottom', 'columns': 1, 'labelLimit': 600}" in chart
    assert "datafly" not in chart


def test_a_manifest_counts_the_levels_of_a_hierarchy() -> None:
    """10 to 19 and 20 to 29, the values below them and `*` above them: three levels."""
    trees = {"age": {"method": "widths", "widths": [10]}}
    result = kanopy.anonymize({"age": [11, 12, 21, 22]}, kanopy.Job(quasi=["age"], k=2, hierarchies=trees))
    assert json.loads(result.manifest())["hierarchies"]["age"]["levels"] == 3


def test_people_known_by_all_their_rows_are_said_to_be() -> None:
    table = {"who": [1, 1, 2, 2], "age": [1, 1, 1, 1]}
    known = [
        kanopy.assess_risk(table, quasi="age", unit="who", **given).known for given in ({"known": 2}, {"known": "all"})
    ]
    assert known == [2, "all"]


@pytest.mark.parametrize("level_score", ["mean", "max"])
def test_a_ranking_names_the_score_that_it_ranks_by(level_score: str) -> None:
    from rich.console import Console

    from kanopy.cli.semantics import _show_ranking

    console = Console(record=True, width=120, file=io.StringIO())
    entry = {"rank": 1, "file": "a.csv", "score": 0.1, "mean": 0.2, "max": 0.3, "agreement": 0.4}
    _show_ranking(console, [entry], level_score)
    shown = console.export_text()
    assert ("labels and groups" in shown) == (level_score == "mean") and shown.count("VghGSL") == 1
    assert ("0.3000" in shown) == (level_score == "mean")


def test_weights_of_a_masking_may_not_all_be_nothing() -> None:
    from kanopy.masking.table import MaskingTable, number_attribute

    column = number_attribute("age", ["1", "2"], np.array([1.0, 2.0]))
    rows = np.array([0, 1], np.int32)
    for weights, wrong in (((0.0,), True), ((0.5,), False)):
        with pytest.raises(JobError, match="not all 0") if wrong else nullcontext():
            MaskingTable((column,), rows[:, None], np.ones(2, np.int64), rows, weights)


def test_a_release_that_loses_nothing_is_known_to_be_the_best() -> None:
    """Whatever algorithm found it, and although it proves nothing otherwise."""
    table = {"age": [1, 1, 2, 2], "sex": list("ffmm")}
    result = kanopy.anonymize(table, kanopy.Job(quasi=["age", "sex"], k=2, algorithm="mondrian"))
    assert result.score == 0 and result.solution is not None and result.solution.optimal


def test_the_time_for_a_bound_is_read_as_elsewhere() -> None:
    job = kanopy.Job(quasi=["age"], k=2, hierarchies={"age": {"method": "widths", "widths": [10]}})
    assert kanopy.lower_bound({"age": [11, 12, 21, 22]}, job, budget="500ms").value > 0
    with pytest.raises(JobError, match="time for the bound must be a time"):
        kanopy.lower_bound({"age": [11, 12, 21, 22]}, job, budget="soon")


def test_a_database_that_is_not_there_yet_is_named(tmp_path: Path) -> None:
    from kanopy.engine.connections import absent_database

    (tmp_path / "here.duckdb").write_bytes(b"")
    addresses = (f"{tmp_path}/new.duckdb::t", f"{tmp_path}/here.duckdb::t", "postgresql://host/shop::t")
    assert [absent_database(each) for each in addresses] == [tmp_path / "new.duckdb", None, None]
