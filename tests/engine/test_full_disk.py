"""On a disk that is really full: a clear error, and nothing that looks like a release."""

from __future__ import annotations

import contextlib
import sqlite3
from pathlib import Path

import polars as pl
import pytest

from kanopy import Job
from kanopy._errors import DataError
from kanopy.release.engine_choice import open_engine
from kanopy.release.out_of_core import run_on_engine

JOB = Job(quasi=["a", "b"], k=2, insensitive=["pay"], hierarchies={"a": {"method": "widths", "widths": [10, 50]}})
ROWS = 60_000


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A table that takes more than the disk has."""
    number = pl.Series("n", range(ROWS), dtype=pl.Int64)
    table = pl.DataFrame([(number % 97).alias("a"), (number % 11).alias("b"), (number * 7919 % 99991).alias("pay")])
    path = tmp_path_factory.mktemp("table") / "p.parquet"
    table.write_parquet(path)
    return path


@pytest.mark.parametrize("target", ["out.csv", "out.parquet", "out.arrow", "out/"])
def test_a_release_that_does_not_fit_is_not_there(target: str, source: Path, tiny_disk: Path) -> None:
    with (
        pytest.raises(DataError, match="The disk is full"),
        open_engine("stream", source, f"{tiny_disk}/{target}", JOB) as engine,
    ):
        run_on_engine(engine, JOB)
    assert list(tiny_disk.iterdir()) == []


def test_a_table_that_does_not_fit_is_not_there(source: Path, tiny_disk: Path) -> None:
    place = tiny_disk / "p.sqlite"
    with contextlib.closing(sqlite3.connect(place)) as made:
        made.execute("create table other (a)")
    with (
        pytest.raises(DataError, match="The disk is full"),
        open_engine("stream", source, f"{place}::release", JOB) as engine,
    ):
        run_on_engine(engine, JOB)
    with contextlib.closing(sqlite3.connect(place)) as seen:
        assert seen.execute("select name from sqlite_master").fetchall() == [("other",)]


@pytest.mark.parametrize("algorithm", ["optimal", "mondrian"])
def test_what_is_spilled_and_does_not_fit_leaves_nothing(
    algorithm: str, source: Path, tiny_disk: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("duckdb", reason="pip install 'kanopy[duckdb]'")
    monkeypatch.setattr("tempfile.tempdir", str(tiny_disk))
    monkeypatch.setenv("KANOPY_MOST_DIFFERENT", "100")
    job = JOB.replaced(algorithm=algorithm)
    with (
        pytest.raises(DataError, match=r"no space in .* for the distinct rows|The disk is full"),
        open_engine("stream", source, f"{tmp_path}/out.parquet", job) as engine,
    ):
        run_on_engine(engine, job)
    assert list(tiny_disk.iterdir()) == [] and not (tmp_path / "out.parquet").exists()
