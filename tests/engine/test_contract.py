"""One suite for every engine: the same solution, the same losses, the same published table as in memory."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import kanopy
from kanopy._table.sources import read_table
from kanopy._table.streams.scans import scan
from kanopy._table.streams.sinks import FileSink
from kanopy.engine.contract import Engine
from kanopy.engine.database import DatabaseEngine
from kanopy.engine.stream import StreamEngine
from kanopy.release.out_of_core import BatchReader, run_on_engine
from tests.engine.jobs import JOBS, as_texts, in_memory, job, people

Opened = tuple[Engine, Callable[[], pl.DataFrame]]
"""An engine that holds the table, and what it published."""


def _csv(folder: Path, wanted: kanopy.Job) -> Opened:
    people().write_csv(folder / "people.csv")
    out = folder / "out.csv"
    engine = StreamEngine(scan(folder / "people.csv"), FileSink(out), BatchReader(wanted))
    return engine, lambda: pl.read_csv(out, infer_schema=False)


def _parquet(folder: Path, wanted: kanopy.Job) -> Opened:
    people().write_parquet(folder / "people.parquet", row_group_size=100)
    out = folder / "out.parquet"
    engine = StreamEngine(scan(folder / "people.parquet"), FileSink(out), BatchReader(wanted))
    return engine, lambda: pl.read_parquet(out)


def _folder(folder: Path, wanted: kanopy.Job) -> Opened:
    (folder / "people").mkdir()
    for number in range(3):
        people()[number * 160 : number * 160 + 160].write_parquet(folder / "people" / f"{number}.parquet")
    engine = StreamEngine(scan(folder / "people"), FileSink(f"{folder}/out/"), BatchReader(wanted))
    return engine, lambda: pl.read_parquet(folder / "out" / "*.parquet")


def _database(address: str) -> Callable[[Path, kanopy.Job], Any]:
    @contextlib.contextmanager
    def made(folder: Path, wanted: kanopy.Job) -> Iterator[Opened]:
        place = f"{folder}/{address}"
        fill(place, people())
        with contextlib.closing(DatabaseEngine(f"{place}::people", f"{place}::release")) as engine:
            yield engine, lambda: (engine.close(), read_table(f"{place}::release"))[1]

    return made


def fill(place: str, table: pl.DataFrame, name: str = "people") -> None:
    if place.endswith("duckdb"):
        duckdb = pytest.importorskip("duckdb", reason="pip install 'kanopy[duckdb]'")
        with duckdb.connect(place) as made:
            made.register("here", table.to_arrow())
            made.execute(f"create table {name} as select * from here")
        return
    with contextlib.closing(sqlite3.connect(place)) as made:
        made.execute(f"create table {name} ({', '.join(table.columns)})")
        made.executemany(f"insert into {name} values ({', '.join('?' * table.width)})", table.iter_rows())
        made.commit()


def _postgres(folder: Path, wanted: kanopy.Job) -> Any:
    return _server(wanted)


@contextlib.contextmanager
def _server(wanted: kanopy.Job) -> Iterator[Opened]:
    address = SERVER[0]
    with contextlib.closing(DatabaseEngine(f"{address}::people", f"{address}::release", overwrite=True)) as engine:
        yield engine, lambda: read_table(f"{address}::release")


SERVER: list[str] = []
ENGINES: dict[str, Callable[[Path, kanopy.Job], Any]] = {
    "csv": _csv, "parquet": _parquet, "folder": _folder, "duckdb": _database("people.duckdb"),
    "sqlite": _database("people.sqlite"), "postgresql": _postgres,
}  # fmt: skip
TEXTS = ("csv",)


@pytest.fixture
def server(request: pytest.FixtureRequest) -> None:
    """The table on a PostgreSQL server, where the engine is that one."""
    if request.getfixturevalue("engine") != "postgresql" or SERVER:
        return
    address = request.getfixturevalue("postgres")
    from adbc_driver_postgresql import dbapi

    with dbapi.connect(address, autocommit=True) as made, made.cursor() as cursor:
        cursor.adbc_ingest("people", people().to_arrow(), mode="replace")
    SERVER.append(address)


@contextlib.contextmanager
def opened(engine: str, folder: Path, wanted: kanopy.Job) -> Iterator[Opened]:
    made = ENGINES[engine](folder, wanted)
    if isinstance(made, tuple):
        yield made
    else:
        with made as found:
            yield found


@pytest.mark.parametrize("name", JOBS)
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.usefixtures("server")
def test_every_engine_publishes_what_memory_does(engine: str, name: str, tmp_path: Path) -> None:
    meant = in_memory(name, engine in TEXTS)
    with opened(engine, tmp_path, job(name)) as (holder, published):
        if job(name).missing_tokens and not holder.reads_batches:
            meant = "This engine does not support 'missing_tokens'. Use the engine 'memory'."
        if isinstance(meant, str):
            with pytest.raises(kanopy.KanopyError) as refused:
                run_on_engine(holder, job(name))
            assert str(refused.value) == meant
            return
        found = run_on_engine(holder, job(name))
        assert found.levels == meant.levels
        assert found.losses == pytest.approx(meant.losses, rel=1e-12)
        assert found.column_losses == pytest.approx(meant.column_losses, rel=1e-12)
        assert found.verification == meant.verification
        assert (found.rows, found.suppressed) == (meant.rows, meant.suppressed)
        assert found.solution is not None and meant.solution is not None
        assert found.solution.optimal == meant.solution.optimal
        assert found.mapping().sort(pl.all()).equals(meant.mapping().sort(pl.all()))
        release = published()
        assert release.columns == meant.frame.columns
        assert as_texts(release) == as_texts(meant.frame)


def test_jobs_are_twenty_and_most_have_a_release() -> None:
    assert len(JOBS) == 20
    assert sum(isinstance(in_memory(name), str) for name in JOBS) <= 1


@pytest.mark.parametrize("address", ["sample.duckdb", "sample.sqlite"])
def test_rows_are_drawn_evenly_and_the_same_ones_again(address: str, tmp_path: Path) -> None:
    place = f"{tmp_path}/{address}"
    fill(place, pl.DataFrame({"number": range(30_000), "day": [number % 7 for number in range(30_000)]}))
    drawn = []
    for _ in range(2):
        with contextlib.closing(DatabaseEngine(f"{place}::people")) as engine:
            drawn.append(engine.sample(["number", "day"], 6_000))
    assert drawn[0].equals(drawn[1])
    for size, parts in ((5_000, 6), (1, 7)):
        column = drawn[0]["number" if size > 1 else "day"] // size
        counts = column.value_counts()["count"]
        assert counts.len() == parts and counts.min() > 0.85 * 6_000 / parts and counts.max() < 1.15 * 6_000 / parts


def test_a_run_without_a_release_leaves_the_database_open_to_others(tmp_path):
    import duckdb

    place = f"{tmp_path}/people.duckdb"
    fill(place, people())
    unique = kanopy.Job(quasi=["age"], k=10**6, shuffle=False, protect={"city": "hash"})
    with pytest.raises(kanopy.KanopyError):
        kanopy.anonymize(f"{place}::people", unique, key=b"sixteen bytes or more", output=f"{place}::release")
    with duckdb.connect(place, read_only=True) as made:
        assert made.execute("select count(*) from information_schema.tables").fetchall() == [(1,)]
