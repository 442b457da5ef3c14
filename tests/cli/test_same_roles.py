"""The same columns leave whatever the engine: what tells comes late in the table, where no head of it shows it."""

from __future__ import annotations

import functools
import shutil
from pathlib import Path

import polars as pl
import pytest

from kanopy._table.sources import read_table
from tests.cli.running import Shell
from tests.engine.test_contract import fill

ROWS, LATE = 251_000, 250_000


@functools.cache
def visits() -> pl.DataFrame:
    """Columns that look harmless for 250,000 rows."""
    row = pl.int_range(ROWS)
    late = row >= LATE
    return pl.select(
        age=18 + row % 60,
        email=pl.when(late).then(pl.format("p{}@example.org", row)),
        zr=pl.when(row == ROWS - 1).then(pl.lit("call +34 600 123 456")).otherwise(pl.format("r{}", row % 9)),
        q7=pl.when(row == LATE + 7).then(pl.lit("ann@example.org")),
        q8=pl.when(late).then(pl.format("+49 30 {}", 100_000 + row)).otherwise(pl.lit("none")),
        q9=pl.when(row == LATE + 9).then(pl.lit("0f8fad5b-d9cb-469f-a165-70867728950e")).otherwise(pl.lit("a")),
        zq=row * 7 % 300_007,
        phone=row % 2,
        wave=row % 3,
        pay=900 + row * 7 % 4000,
    )


LEAVE = ["age", "phone", "wave", "pay"]
"""`phone` says yes or no; `zq` has more values than are looked through."""


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("visits")
    visits().write_csv(folder / "v.csv")
    visits().write_parquet(folder / "v.parquet")
    (folder / "parts").mkdir()
    for number in range(3):
        part = visits()[number * 90_000 : number * 90_000 + 90_000]
        part.write_parquet(folder / "parts" / f"{number}.parquet")
    fill(f"{folder}/v.duckdb", visits(), "v")
    fill(f"{folder}/v.sqlite", visits(), "v")
    return folder


@pytest.mark.parametrize(
    ("source", "engine", "output"),
    [
        ("v.csv", "memory", "out.csv"),
        ("v.parquet", "memory", "out.parquet"),
        ("v.csv", "stream", "out.csv"),
        ("v.parquet", "stream", "out.parquet"),
        ("parts", "stream", "out/"),
        ("v.duckdb::v", "memory", "out.parquet"),
        ("v.duckdb::v", "database", "v.duckdb::release"),
        ("v.sqlite::v", "database", "v.sqlite::release"),
        ("v.sqlite::v", "stream", "out.parquet"),
    ],
)
def test_the_same_columns_leave_whatever_the_engine(
    source: str, engine: str, output: str, shell: Shell, tables: Path
) -> None:
    path = tables / source
    if "::" in output:  # a release is a table of the same database
        path = shell.folder / source
        shutil.copy(tables / source.partition("::")[0], shell.folder)
    run = shell(
        "anonymize", path, "-q", "age", "-k", "5", "--rest", "publish", "--engine", engine,
        "--algorithm", "datafly", "-o", output,
    )  # fmt: skip
    assert run.status == 0, run.error
    out = shell.folder / output
    columns = pl.read_parquet(out / "*.parquet").columns if output == "out/" else read_table(str(out)).columns
    assert columns == LEAVE
    for name in ("email", "zr", "q7", "q8", "q9", "zq"):
        assert f"The column '{name}' was left out" in run.words
