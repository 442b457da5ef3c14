"""More different rows than fit: counted, cut, solved part by part and verified where they lie; the same promise."""

from __future__ import annotations

import contextlib
import json
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import kanopy
from kanopy import Job
from kanopy._errors import DataError, JobError, VerificationFailed
from kanopy._table.sources import read_table
from kanopy.engine import pushdown, spill
from kanopy.engine.contract import most_different
from kanopy.engine.database import DatabaseEngine
from kanopy.privacy.models import failing
from kanopy.release.engine_choice import open_engine
from kanopy.release.out_of_core import run_on_engine
from kanopy.release.pushdown.pushdown_result import PushdownResult
from kanopy.verify.regroup import Background, published_classes
from tests.engine.jobs import as_texts, people
from tests.engine.test_contract import fill

pytest.importorskip("duckdb", reason="pip install 'kanopy[duckdb]'")
FEW = 70
CUTS = {"age": {"method": "widths", "widths": [5, 10, 30]}}
OVER_LEVELS: dict[str, dict[str, Any]] = {
    "suppressing": {"quasi": ["age", "sex", "city"], "k": 4, "suppress": 0.05, "insensitive": ["note", "pay"]},
    "dropping": {"quasi": ["age", "sex"], "k": 9, "suppress": 0.1, "suppressed_rows": "drop", "insensitive": ["note"]},
    "of classes": {"quasi": ["age", "sex", "city"], "k": 4, "suppress": 0.05, "metric": "discernibility"},
    "as it was": {"quasi": ["weight", "age"], "k": 2, "max_levels": {"weight": 0}, "insensitive": ["pay"]},
    "emptied": {"quasi": ["age", "sex"], "k": 8, "sensitive": ["ill"], "suppress": 0.01},
    "diverse": {"quasi": ["age", "sex"], "k": 3, "models": ["l-distinct:ill:4"], "suppress": 0.05},
    "close": {"quasi": ["age", "city"], "k": 3, "models": ["t-equal:ill:0.3"], "suppress": 0.1},
    "many models": {
        "quasi": ["age", "sex"],
        "k": 3,
        "suppress": 0.2,
        "sensitive": ["ill"],
        "models": ["l-entropy:ill:2.5", "l-recursive:ill:3,2", "alpha-k:ill:0.6,3", "t-ordered:weight:0.4"],
    },
}
IN_PARTS: dict[str, dict[str, Any]] = {
    "mondrian": {"quasi": ["age", "height"], "k": 5, "algorithm": "mondrian", "insensitive": ["pay"]},
    "with missing": {"quasi": ["age", "sex", "city"], "k": 4, "algorithm": "mondrian"},
    "best": {"quasi": ["age", "sex"], "k": 4, "local": True, "parameters": {"budget_seconds": 0.1}, "suppress": 0.02},
    "diverse": {"quasi": ["age", "height"], "k": 4, "algorithm": "mondrian", "models": ["l-distinct:ill:3"]},
    "close": {"quasi": ["age", "sex"], "k": 4, "algorithm": "mondrian", "models": ["t-equal:ill:0.35"]},
}
PLACES = [
    "parquet",
    "sqlite",
    *(pytest.param(each, marks=pytest.mark.slow) for each in ("csv", "duckdb", "postgresql")),
]


@pytest.fixture(autouse=True)
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """So few different rows fit that every table here has too many."""
    monkeypatch.setenv("KANOPY_MOST_DIFFERENT", str(FEW))


@contextlib.contextmanager
def there(kind: str, folder: Path, job: Job, request: pytest.FixtureRequest) -> Iterator[tuple[Any, str]]:
    """An engine that holds the table, and where its release will be."""
    place = f"{folder}/people.{kind}"
    if kind in ("parquet", "csv"):
        people().write_parquet(place) if kind == "parquet" else people().write_csv(place)
        with open_engine("stream", place, f"{folder}/out.{kind}", job) as engine:
            yield engine, f"{folder}/out.{kind}"
        return
    if kind == "postgresql":
        place = request.getfixturevalue("postgres")
        from adbc_driver_postgresql import dbapi

        with dbapi.connect(place, autocommit=True) as made, made.cursor() as cursor:
            cursor.adbc_ingest("many", people().to_arrow(), mode="replace")
    else:
        fill(place, people(), "many")
    with contextlib.closing(DatabaseEngine(f"{place}::many", f"{place}::few", overwrite=True)) as engine:
        yield engine, f"{place}::few"


@pytest.mark.parametrize("kind", PLACES)
@pytest.mark.parametrize("name", OVER_LEVELS)
def test_candidates_counted_in_place_give_the_same_release(
    name: str, kind: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    job = Job(**OVER_LEVELS[name], hierarchies=CUTS)
    with there(kind, tmp_path, job, request) as (engine, out):
        found = run_on_engine(engine, job)
    assert isinstance(found, PushdownResult)
    meant = kanopy.anonymize(str(tmp_path / "people.csv") if kind == "csv" else people(), job)
    assert found.levels == meant.levels and found.suppressed == meant.suppressed
    assert found.score == pytest.approx(meant.score, rel=1e-12)
    assert found.verification == meant.verification
    release = read_table(out)
    assert release.columns == meant.frame.columns
    assert as_texts(release) == as_texts(meant.frame)


@pytest.mark.parametrize("kind", PLACES)
@pytest.mark.parametrize("name", IN_PARTS)
def test_parts_solved_in_place_keep_the_promise(
    name: str, kind: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    job = Job(**IN_PARTS[name])
    with there(kind, tmp_path, job, request) as (engine, out):
        found: Any = run_on_engine(engine, job)
    assert found.pushdown.parts > 1
    release = read_table(out)
    sizes = release.group_by(job.quasi).len()
    gone = pl.all_horizontal(pl.col(name).cast(pl.String) == "*" for name in job.quasi).fill_null(False)
    assert sizes.filter(~gone)["len"].min() >= job.k
    assert sizes.filter(gone)["len"].sum() == found.suppressed <= job.suppress * people().height
    assert release.height == people().height
    for model in job.models:  # compared with the whole table, not with a part
        seen = published_classes(release.filter(~gone), job.quasi, [model], Background(people()[list(model.sensitive)]))
        assert not failing(model, seen).any()
    assert found.mapping()["rows"].sum() == people().height * len(job.quasi)
    # Cut first along the costliest columns, parts lose about what the whole does.
    meant = kanopy.anonymize(people(), job)
    assert found.losses["loss"] == pytest.approx(meant.losses["loss"], rel=0.25)
    assert found.summary()["parts"] == found.pushdown.parts


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"models": ["risk-average:0.2"]}, "the model 'risk-average' looks at more than"),
        ({"models": ["k-map:2"]}, "the model 'k-map' looks at more than"),
        ({"models": ["epsilon-m:pay:3,2"], "algorithm": "mondrian"}, "classes that satisfy 'epsilon-m' in parts"),
        ({"unit": ["patient"]}, "people are counted row by row. Make it one row per person first, or raise KANOPY"),
        ({"algorithm": "datafly"}, "'datafly' looks at all"),
    ],
)
def test_what_needs_all_different_rows_together_is_refused(changes: dict[str, Any], why: str, tmp_path: Path) -> None:
    is_refused(tmp_path, f"more than {FEW} different rows, and {why}", **changes)


def test_rows_that_lack_a_value_are_not_suppressed_there(tmp_path: Path) -> None:
    why = r"'sex' lacks or does not know.*Use missing='as-value'"
    is_refused(tmp_path, why, missing="suppress", suppress=0.2)


def is_refused(folder: Path, why: str, **changes: Any) -> None:
    """Nothing is written, and the message says why."""
    people().write_parquet(folder / "p.parquet")
    job = Job(quasi=["age", "sex", "city"], k=3, **changes)
    engine_of = open_engine("stream", folder / "p.parquet", f"{folder}/out.parquet", job)
    with engine_of as engine, pytest.raises(JobError, match=why):
        run_on_engine(engine, job)
    assert [path.name for path in folder.iterdir()] == ["p.parquet"]


def test_what_is_written_beside_a_release(tmp_path: Path) -> None:
    """The manifest without values, the solution for other rows, and what is known of risk from classes alone."""
    people().write_parquet(tmp_path / "p.parquet")
    job = Job(**OVER_LEVELS["diverse"], hierarchies=CUTS)
    with open_engine("stream", tmp_path / "p.parquet", f"{tmp_path}/out.parquet", job) as engine:
        found = run_on_engine(engine, job)
    assert isinstance(found, PushdownResult)
    meant = kanopy.anonymize(people(), job)
    told, other = (json.loads(result.manifest(written=True)) for result in (found, meant))
    for key in ("job", "hierarchies", "verified", "proved_optimal", "beside_others"):
        assert told[key] == other[key], key
    assert told["result"]["levels"] == other["result"]["levels"]
    assert meant.solution is not None
    sizes = meant.solution.recoding.classes.sizes
    left = int(sizes.sum())
    assert told["result"]["risk"] == pytest.approx(
        {"highest": 1 / sizes.min(), "average": len(sizes) / left, "class_of_a_row": (sizes**2).sum() / left}
    )
    assert json.loads(found.solution_json()) == json.loads(meant.solution_json())


def test_a_column_with_too_many_values_is_refused(tmp_path: Path) -> None:
    pl.DataFrame({"age": range(2 * FEW)}).write_parquet(tmp_path / "p.parquet")
    job = Job(quasi=["age"], k=2)
    engine_of = open_engine("stream", tmp_path / "p.parquet", f"{tmp_path}/out.parquet", job)
    with engine_of as engine, pytest.raises(DataError, match=f"'age' alone has more than {FEW} different values"):
        run_on_engine(engine, job)


def test_how_many_fit_is_a_number(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KANOPY_MOST_DIFFERENT", "many")
    with pytest.raises(JobError, match="a whole number, not 'many'"):
        most_different()


def test_no_space_for_what_is_spilled_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """DuckDB meets the end of what it is allowed: a hundred thousand rows, a sort, and one megabyte to do it in."""
    monkeypatch.setattr(spill, "MEMORY", "1MB")
    monkeypatch.setenv("TMPDIR", str(tmp_path / "temporary"))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))
    (tmp_path / "temporary").mkdir()
    table = pl.DataFrame({"a": range(100_000), "b": range(100_000)}).with_columns(pl.all() % 997)
    table.write_parquet(tmp_path / "p.parquet")
    job = Job(quasi=["a", "b"], k=2)
    monkeypatch.setenv("KANOPY_MOST_DIFFERENT", "990")
    engine_of = open_engine("stream", tmp_path / "p.parquet", f"{tmp_path}/out.parquet", job)
    with engine_of as engine, pytest.raises(DataError, match=r"no space in .*temporary for the distinct rows"):
        run_on_engine(engine, job)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["p.parquet", "temporary"]
    assert list((tmp_path / "temporary").iterdir()) == []


@pytest.mark.parametrize("kind", ["parquet", "sqlite"])
@pytest.mark.parametrize("fault", ["a small class", "another label", "an unsafe class"])
def test_a_wrong_release_is_not_published(
    kind: str, fault: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    name = "diverse" if fault == "an unsafe class" else "suppressing"
    job, label = Job(**OVER_LEVELS[name], hierarchies=CUTS), pushdown.DistinctTable.label_levels

    def wrong(
        self: pushdown.DistinctTable, levels: Any, labels: Any, k: int, unsafe: pl.DataFrame | None = None
    ) -> None:
        if fault == "an unsafe class":
            assert unsafe is not None and unsafe.height
            label(self, levels, labels, k)
        elif fault == "a small class":
            label(self, levels, labels, 1)
        else:
            label(self, levels, [labels[0].shuffle(seed=1), *labels[1:]], k)

    monkeypatch.setattr(pushdown.DistinctTable, "label_levels", wrong)
    with there(kind, tmp_path, job, request) as (engine, out), pytest.raises(VerificationFailed):
        run_on_engine(engine, job)
    if kind == "sqlite":
        with contextlib.closing(sqlite3.connect(out.split("::")[0])) as seen:
            assert seen.execute("select name from sqlite_master where name = 'few'").fetchall() == []
    else:
        assert not Path(out).exists()


def test_the_command_says_what_was_counted_there(tmp_path: Path) -> None:
    from typer.testing import CliRunner

    from kanopy.cli import app

    people().write_parquet(tmp_path / "p.parquet")
    out = str(tmp_path / "out.csv")
    asked = ["anonymize", str(tmp_path / "p.parquet"), "-q", "age,sex", "-k", "4", "--suppress", "5%", "-o", out]
    beside = [
        "--mapping",
        f"{tmp_path}/m.csv",
        "--manifest",
        f"{tmp_path}/man.json",
        "--solution",
        f"{tmp_path}/s.json",
    ]
    done = CliRunner().invoke(app, [*asked, "--engine", "stream", "--model", "l-distinct:ill:2", *beside])
    assert done.exit_code == 0, done.output
    said = " ".join(done.output.split())
    assert "verified where it was written" in said and "at least 2 different values of ill" in said
    assert pl.read_csv(out).height == people().height
    assert json.loads((tmp_path / "man.json").read_text())["result"]["parts"] == 1
    assert json.loads((tmp_path / "s.json").read_text())["levels"].keys() == {"age", "sex"}
    assert pl.read_csv(tmp_path / "m.csv")["rows"].sum() == 2 * people().height


def test_a_spilled_table_keeps_its_order_where_the_job_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("duckdb", reason="pip install 'kanopy[duckdb]'")
    monkeypatch.setenv("KANOPY_MOST_DIFFERENT", "90")
    people().write_parquet(tmp_path / "p.parquet")
    wanted = kanopy.Job(quasi=["age", "sex"], k=5, suppress=0.05, shuffle=False, insensitive=["pay"])
    result = kanopy.anonymize(tmp_path / "p.parquet", wanted, engine="stream", output=tmp_path / "out.parquet")
    assert isinstance(result, PushdownResult)
    assert pl.read_parquet(tmp_path / "out.parquet")["pay"].to_list() == people()["pay"].to_list()
