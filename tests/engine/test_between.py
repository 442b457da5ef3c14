"""From a database into a file and from a file into a database, piece by piece; what travels, what is lost midway."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import kanopy
from kanopy import Job
from kanopy._errors import DataError
from kanopy._table.sources import read_table
from kanopy.engine import connections
from kanopy.engine.contract import ROWS
from kanopy.engine.database import DatabaseEngine
from kanopy.release.engine_choice import choose_engine, open_engine
from kanopy.release.out_of_core import run_on_engine
from tests.engine.jobs import as_texts, people
from tests.engine.test_contract import fill

DATABASES = ["duckdb", "sqlite", pytest.param("postgresql", marks=pytest.mark.slow)]
WANTED = {
    "levels": Job(quasi=["age", "sex"], k=5, suppress=0.05, insensitive=["pay", "note"]),
    "mondrian": Job(quasi=["age", "height"], k=5, algorithm="mondrian"),
    "as it is": Job(quasi=["weight"], k=2, insensitive=["pay"]),
}


def _address(kind: str, folder: Path, request: pytest.FixtureRequest, *, filled: bool) -> str:
    if kind != "postgresql":
        address = f"{folder}/people.{kind}"
        fill(address, people() if filled else people()[:1], "source")
        return address
    address = str(request.getfixturevalue("postgres"))
    from adbc_driver_postgresql import dbapi

    with dbapi.connect(address, autocommit=True) as made, made.cursor() as cursor:
        cursor.adbc_ingest("source", people().to_arrow(), mode="replace")
    return address


@pytest.mark.parametrize("suffix", ["parquet", "csv"])
@pytest.mark.parametrize("kind", DATABASES)
@pytest.mark.parametrize("name", WANTED)
def test_a_table_of_a_database_becomes_a_file(
    name: str, kind: str, suffix: str, tmp_path: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "BATCH_ROWS", 100)
    job, out = WANTED[name], f"{tmp_path}/out.{suffix}"
    source = f"{_address(kind, tmp_path, request, filled=True)}::source"
    with open_engine("stream", source, out, job) as engine:
        assert isinstance(engine, DatabaseEngine)
        found = run_on_engine(engine, job)
    meant = kanopy.anonymize(source, job)
    assert found.losses == pytest.approx(meant.losses, rel=1e-12) and found.verification == meant.verification
    release = pl.read_csv(out, infer_schema=False) if suffix == "csv" else pl.read_parquet(out)
    assert release.columns == meant.frame.columns
    frame = meant.frame
    if suffix == "csv":  # what memory would write, read back the same way
        meant.frame.write_csv(tmp_path / "meant.csv")
        frame = pl.read_csv(tmp_path / "meant.csv", infer_schema=False)
    assert as_texts(release) == as_texts(frame)


@pytest.mark.parametrize("kind", DATABASES)
@pytest.mark.parametrize("name", WANTED)
def test_a_file_becomes_a_table_of_a_database(
    name: str, kind: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    job = WANTED[name]
    people().write_parquet(tmp_path / "p.parquet")
    out = f"{_address(kind, tmp_path, request, filled=False)}::released"
    assert choose_engine(str(tmp_path / "p.parquet"), out, job) == "stream"
    with open_engine("stream", tmp_path / "p.parquet", out, job, overwrite=True) as engine:
        found = run_on_engine(engine, job)
    meant = kanopy.anonymize(people(), job)
    assert found.verification == meant.verification
    assert as_texts(read_table(out)) == as_texts(meant.frame)
    with (
        pytest.raises(DataError, match="already has a table 'released'"),
        open_engine("stream", tmp_path / "p.parquet", out, job),
    ):
        pass


@pytest.mark.parametrize("kind", ["duckdb", "sqlite"])
def test_a_table_that_cannot_be_written_to_its_end_is_not_there(
    kind: str, tmp_path: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    from kanopy.engine import publishing

    def broken(self: publishing.Publisher, kinds: Any, others: pl.DataFrame) -> pl.DataFrame:
        raise DataError("the file ends here")

    people().write_parquet(tmp_path / "p.parquet")
    address = _address(kind, tmp_path, request, filled=False)
    monkeypatch.setattr(publishing.Publisher, "publish", broken)
    writing = open_engine("stream", tmp_path / "p.parquet", f"{address}::released", WANTED["levels"])
    with pytest.raises(DataError, match="the file ends here"), writing as engine:
        run_on_engine(engine, WANTED["levels"])
    with pytest.raises(DataError, match="released"):
        read_table(f"{address}::released")


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["duckdb", "postgresql"])
def test_no_more_travels_than_the_different_rows(kind: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    draw = np.random.default_rng(3)
    rows = 400_000
    table = pl.DataFrame(
        {name: draw.integers(0, size, rows) for name, size in (("a", 90), ("b", 12), ("c", 9), ("d", 6))}
    ).with_columns(pl.col("b", "c").cast(pl.String), pl.Series("pay", draw.integers(900, 9000, rows)))
    address = _address(kind, tmp_path, request, filled=False)
    if kind == "duckdb":
        fill(address, table, "long")
    else:
        from adbc_driver_postgresql import dbapi

        with dbapi.connect(address, autocommit=True) as made, made.cursor() as cursor:
            cursor.adbc_ingest("long", table.to_arrow(), mode="replace")
    job = Job(quasi=["a", "b", "c", "d"], k=5, suppress=0.02, insensitive=["pay"])
    with contextlib.closing(DatabaseEngine(f"{address}::long", f"{address}::safe", overwrite=True)) as engine:
        run_on_engine(engine, job)
        fetched = engine.fetched
    assert 0 < fetched <= table[list(job.quasi)].group_by(pl.all()).len(ROWS).estimated_size()


@pytest.mark.slow
def test_a_connection_that_is_lost_midway_leaves_no_table(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The server ends the connection after the release was made and before it is committed."""
    from adbc_driver_postgresql import dbapi

    address = _address("postgresql", Path(), request, filled=True)
    run = connections.PostgreSQL.run

    def lost(self: connections.PostgreSQL, statement: str) -> None:
        if "kanopy_pairs as" in statement:
            with dbapi.connect(address, autocommit=True) as other, other.cursor() as cursor:
                cursor.execute(
                    "select count(pg_terminate_backend(pid)) from pg_stat_activity where pid <> pg_backend_pid() "
                    "and datname is not null"
                )
                cursor.fetchall()
        run(self, statement)

    with contextlib.closing(DatabaseEngine(f"{address}::source", f"{address}::gone")) as engine:
        monkeypatch.setattr(connections.PostgreSQL, "run", lost)
        with pytest.raises(DataError, match=r"terminat|connection|server closed"):
            run_on_engine(engine, WANTED["levels"])
    monkeypatch.undo()
    with pytest.raises(DataError, match="gone"):
        read_table(f"{address}::gone")
