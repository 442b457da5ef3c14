"""`kanopy.anonymize(data, job, engine=…, output=…)`: every engine from Python, as from the command line."""

from __future__ import annotations

import datetime as dt
import shutil
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import kanopy
from kanopy import Job
from kanopy._errors import JobError, NotAvailable
from kanopy._table.sources import read_table
from tests.engine.jobs import AGE, as_texts, people
from tests.engine.test_contract import fill

JOB = Job(quasi=["age", "sex"], k=4, suppress=0.05, insensitive=["pay"], **AGE)


def tables(folder: Path) -> None:
    people().write_parquet(folder / "p.parquet")
    fill(f"{folder}/p.sqlite", people())


@pytest.mark.parametrize(
    ("data", "engine", "output"),
    [
        ("p.parquet", "auto", "out.parquet"), ("p.parquet", "memory", "out.csv"),
        ("p.parquet", "stream", "out.parquet"),
        ("p.parquet", "stream", "out.sqlite::release"), ("p.parquet", "auto", "new.sqlite::release"),
        ("p.parquet", "auto", "new.duckdb::release"), ("p.sqlite::people", "auto", "p.sqlite::release"),
        ("p.sqlite::people", "database", "p.sqlite::release"), ("p.sqlite::people", "memory", "out.parquet"),
        ("p.sqlite::people", "database", "out.parquet"),
    ],
)  # fmt: skip
def test_a_path_or_an_address_on_every_engine(data: str, engine: str, output: str, tmp_path: Path) -> None:
    tables(tmp_path)
    if "duckdb" in output:
        pytest.importorskip("duckdb", reason="pip install 'kanopy[duckdb]'")
    if output == "out.sqlite::release":
        fill(f"{tmp_path}/out.sqlite", people(), "other")
    result = kanopy.anonymize(f"{tmp_path}/{data}", JOB, engine=engine, output=f"{tmp_path}/{output}")
    meant = kanopy.anonymize(people(), JOB)
    assert as_texts(read_table(f"{tmp_path}/{output}")) == as_texts(meant.frame)
    assert (result.levels, result.suppressed) == (meant.levels, meant.suppressed)
    assert result.losses == pytest.approx(meant.losses)
    if result.engine == "memory":
        assert as_texts(result.frame) == as_texts(meant.frame)
    else:
        with pytest.raises(NotAvailable, match="left them in"):
            _ = result.data


def test_a_frame_is_written_and_a_job_may_be_a_file_or_a_dictionary(tmp_path: Path) -> None:
    (tmp_path / "job.toml").write_text(JOB.to_toml())
    meant = as_texts(kanopy.anonymize(people(), JOB).frame)
    for job in (JOB, str(tmp_path / "job.toml"), JOB.to_dict()):
        result = kanopy.anonymize(people(), job, output=tmp_path / "out.parquet")
        assert as_texts(result.frame) == meant == as_texts(read_table(tmp_path / "out.parquet"))


def test_a_frame_of_spark_stays_on_its_cluster_or_becomes_files(tmp_path: Path) -> None:
    pytest.importorskip("pyspark", reason="pip install 'kanopy[spark]'")
    if shutil.which("java") is None:
        pytest.skip("needs Java 17")
    from kanopy.engine.spark import spark_session

    frame = spark_session("local[1]").createDataFrame(people().to_arrow())
    meant = as_texts(kanopy.anonymize(people(), JOB).frame)
    result = kanopy.anonymize(frame, JOB)
    assert as_texts(pl.DataFrame(pl.from_arrow(result.data.toArrow()))) == meant
    kanopy.anonymize(frame, JOB, output=f"{tmp_path}/out")
    assert as_texts(pl.read_parquet(f"{tmp_path}/out/*.parquet")) == meant
    with pytest.raises(JobError, match="a Spark frame is on its cluster"):
        kanopy.anonymize(frame, JOB, engine="memory")


@pytest.mark.parametrize(
    ("data", "asked", "why"),
    [
        ("frame", {"engine": "stream", "output": "o.csv"}, "this table is in memory"),
        ("p.parquet", {"engine": "stream"}, "Say where"),
        ("p.parquet", {"engine": "cluster", "output": "o.csv"}, "There is no engine 'cluster'"),
        (
            "p.parquet",
            {"engine": "stream", "output": "o.parquet", "bound": True},
            "bound has no effect without an algorithm",
        ),
        ("p.parquet", {"output": "o.csv", "overwrite": True}, "overwrite has no effect without a table of a database"),
        ("p.parquet", {"overwrite": True}, "overwrite has no effect without a table of a database"),
        ("p.parquet", {"output": "p.parquet"}, "never overwritten"),
        ("p.sqlite::people", {"output": "p.sqlite::people"}, "already has a table 'people'"),
        ("p.parquet", {"output": "o.nothing"}, "Unknown format"),
    ],
)
def test_what_cannot_be_is_refused_before_work(
    data: str, asked: dict[str, Any], why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tables(tmp_path)
    monkeypatch.chdir(tmp_path)
    before = sorted(path.name for path in tmp_path.iterdir())
    with pytest.raises(kanopy.KanopyError, match=why):
        kanopy.anonymize(people() if data == "frame" else data, JOB, **asked)
    assert sorted(path.name for path in tmp_path.iterdir()) == before


@pytest.mark.parametrize("kind", ["sqlite", "duckdb"])
def test_a_new_database_is_there_with_its_table_or_not_at_all(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("duckdb", reason="pip install 'kanopy[duckdb]'")
    tables(tmp_path)
    before = sorted(path.name for path in tmp_path.iterdir())
    monkeypatch.setattr("kanopy.engine.contract.require_same", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        kanopy.anonymize(tmp_path / "p.parquet", JOB, output=f"{tmp_path}/new.{kind}::release")
    with pytest.raises(kanopy.NoSolution):
        kanopy.anonymize(tmp_path / "p.parquet", JOB.replaced(k=400, quasi=["age"], min_levels={"age": 0},
                         max_levels={"age": 0}, hierarchies={}), output=f"{tmp_path}/new.{kind}::release")  # fmt: skip
    assert sorted(path.name for path in tmp_path.iterdir()) == before


def test_a_missing_unit_and_equal_rows_of_a_person_beside_models_of_the_whole_table(tmp_path: Path) -> None:
    visits = pl.DataFrame({
        "p": ["a", "a", "b", "c", "d", None, "e", "f", "g", "a"], "age": [*"1111222921"],
        "ill": [*"xxyxyxyxxy"],
    })  # fmt: skip
    visits.write_parquet(tmp_path / "p.parquet")
    for model in ("beta-enhanced:ill:2", "delta-disclosure:ill:2"):
        job, out = Job(quasi=["age"], k=2, unit=["p"], suppress=0.5, models=[model]), tmp_path / f"{model[:4]}.parquet"
        assert kanopy.anonymize(tmp_path / "p.parquet", job, engine="stream", output=out).suppressed == 1
        assert as_texts(pl.read_parquet(out)) == as_texts(kanopy.anonymize(visits, job).frame)


def test_durations_are_published_alike_and_lists_are_refused_in_words(tmp_path: Path) -> None:
    stays = [dt.timedelta(days=4, hours=7)] * 3 + [dt.timedelta(days=1)] * 3
    table = pl.DataFrame({"stay": stays, "age": [1, 1, 1, 2, 2, 2], "bought": [["a", "b"]] * 6})
    table.write_parquet(tmp_path / "p.parquet")
    for job in (Job(quasi=["stay"], k=3), Job(quasi=["age"], k=3, insensitive=["stay"])):
        seen = []
        for engine in ("memory", "stream"):
            kanopy.anonymize(tmp_path / "p.parquet", job, engine=engine, output=tmp_path / "o.csv")
            seen.append((tmp_path / "o.csv").read_bytes())
        assert seen[0] == seen[1] and b"4d 7h" in seen[0]
    with pytest.raises(JobError, match="'bought' contains lists, which only the engine memory splits"):
        kanopy.anonymize(tmp_path / "p.parquet", Job(quasi=["bought"], k=3), engine="stream", output=tmp_path / "x.csv")


def test_suppressed_rows_of_a_person_are_tied_together_on_no_engine(tmp_path: Path) -> None:
    # 'first' has one value per person: in suppressed rows it would tell how many of them a person has.
    rows = [(who, 20 + who, 100 + who) for who in range(12) for _ in range(3 if who > 9 else 2)]
    visits = pl.DataFrame(rows, schema=["who", "age", "first"], orient="row")
    visits.write_parquet(tmp_path / "v.parquet")
    fill(f"{tmp_path}/v.sqlite", visits, "visits")
    job = Job(
        quasi="age", k=4, unit="who", known="all", insensitive="first", suppress=1.0, allow_dependent=["first"],
        hierarchies={"age": kanopy.Hierarchy.flat(sorted({str(age) for _, age, _ in rows}), name="age")},
        max_levels={"age": 0},
    )  # fmt: skip
    for data, engine in (("v.parquet", "memory"), ("v.parquet", "stream"), ("v.sqlite::visits", "database")):
        out = tmp_path / f"{engine}.parquet"
        kanopy.anonymize(f"{tmp_path}/{data}", job, engine=engine, output=out)
        made = pl.read_parquet(out)
        assert set(made["age"].to_list()) == {"*"} and made["first"].null_count() == made.height, engine
