"""`kanopy.check` and `kanopy.assess_risk` on every engine: what they find in memory, or an error that says why not."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

import kanopy
from kanopy._errors import DataError, JobError
from tests.engine.jobs import people
from tests.engine.test_contract import fill

PLACES = {
    "stream": "people.csv",
    "parquet": "people.parquet",
    "sqlite": "p.sqlite::people",
    "duckdb": "p.duckdb::people",
}
ENGINES = {"stream": "stream", "parquet": "stream", "sqlite": "database", "duckdb": "database"}


def place(kind: str, folder: Path) -> str:
    if kind == "stream":
        people().write_csv(folder / "people.csv")
    elif kind == "parquet":
        people().write_parquet(folder / "people.parquet")
    else:
        if kind == "duckdb":
            pytest.importorskip("duckdb", reason="pip install 'kanopy[duckdb]'")
        fill(f"{folder}/p.{kind}", people())
    return f"{folder}/{PLACES[kind]}"


def numbers(found: Any) -> Any:
    """What was found, without the examples (the first few classes in the order of the rows), sums but for rounding."""
    if isinstance(found, dict):
        return {name: numbers(value) for name, value in found.items() if name != "examples"}
    if isinstance(found, (list, tuple)):
        return [numbers(value) for value in found]
    return round(found, 9) if isinstance(found, float) else found


ASKED: list[dict[str, Any]] = [
    {"quasi": "age, sex"}, {"quasi": "age, sex", "unit": "patient", "k": 3},
    {"quasi": ["sex", "city"], "models": ["l-distinct:ill:2", "t-equal:ill:0.4"], "sensitive": "ill"},
    {"quasi": "city", "missing_tokens": "?", "models": "k:5"},
]  # fmt: skip


@pytest.mark.parametrize("kind", PLACES)
@pytest.mark.parametrize("asked", ASKED, ids=str)
def test_check_says_what_it_says_in_memory(kind: str, asked: dict[str, Any], tmp_path: Path) -> None:
    data = place(kind, tmp_path)
    elsewhere = kanopy.check(data, engine=ENGINES[kind], **asked)
    assert numbers(elsewhere.to_dict()) == numbers(kanopy.check(data, **asked).to_dict())


@pytest.mark.parametrize("kind", PLACES)
def test_risk_says_what_it_says_in_memory(kind: str, tmp_path: Path) -> None:
    data, asked = place(kind, tmp_path), {"quasi": "age, sex, city", "sensitive": "ill", "every": "2:5"}
    elsewhere = kanopy.assess_risk(data, engine=ENGINES[kind], **asked)
    assert numbers(elsewhere.to_dict()) == numbers(kanopy.assess_risk(data, **asked).to_dict())
    assert elsewhere.row_risks == {} != kanopy.assess_risk(data, **asked).row_risks


def test_what_compares_rows_or_names_no_column_is_refused(tmp_path: Path) -> None:
    data = place("parquet", tmp_path)
    for study in (kanopy.check, kanopy.assess_risk):
        with pytest.raises(JobError, match="'beside' needs single rows"):
            study(data, quasi="age", beside=data, engine="stream")
        with pytest.raises(JobError, match="There is no engine 'steam'"):
            study(data, quasi="age", engine="steam")
        with pytest.raises(JobError, match="this table is in memory"):
            study(people(), quasi="age", engine="database")
        with pytest.raises(DataError, match="has no column 'agee'"):
            study(data, quasi="agee", engine="stream")
    with pytest.raises(DataError, match="Name at least one quasi-identifier"):
        kanopy.assess_risk(data, engine="stream")
        with pytest.raises(JobError, match="is no DuckDB, SQLite or PostgreSQL database: choose the engine 'stream'"):
            study(data, quasi="age", engine="database")
    for name in ("junk.sqlite", "junk.duckdb"):
        (tmp_path / name).write_text("no database at all")
        with pytest.raises(DataError, match=f"{name} cannot be read"):
            kanopy.check(tmp_path / name, quasi="age", engine="database")
    sqlite = place("sqlite", tmp_path)
    with pytest.raises(JobError, match="skips no rows"):
        kanopy.check(sqlite, kanopy.Job(quasi="age", skip_rows=1), engine="database")


def test_a_frame_of_spark_is_counted_on_its_cluster() -> None:
    pytest.importorskip("pyspark", reason="pip install 'kanopy[spark]'")
    if shutil.which("java") is None:
        pytest.skip("needs Java 17")
    from kanopy.engine.spark import spark_session

    frame = spark_session("local[1]").createDataFrame(people().to_arrow())
    for asked in ASKED[:3]:
        assert numbers(kanopy.check(frame, **asked).to_dict()) == numbers(kanopy.check(people(), **asked).to_dict())
    assert (
        kanopy.assess_risk(frame, quasi="age, sex").to_dict()
        == kanopy.assess_risk(people(), quasi="age, sex").to_dict()
    )
