"""The surface of `Result` on every engine: each name says what memory says, or that it is not available there."""

from __future__ import annotations

import contextlib
import functools
import inspect
import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import kanopy
from kanopy import Job, Result
from kanopy._errors import NotAvailable
from kanopy._table.sources import read_table
from kanopy.engine.database import DatabaseEngine
from kanopy.engine.distinct_rows import DistinctRows, RowsElsewhere
from kanopy.engine.spark import SparkEngine, spark_session
from kanopy.release.engine_choice import open_engine
from kanopy.release.out_of_core import run_on_engine
from tests.engine.jobs import AGE, as_texts, people
from tests.engine.test_contract import fill

JOBS = {
    "models": Job(quasi=["age", "sex"], k=3, models=["l-distinct:ill:2"], suppress=0.05, insensitive=["pay"], **AGE),
    "dropping": Job(
        quasi=["age", "sex"], k=9, suppress=0.1, suppressed_rows="drop", sensitive=["ill"], algorithm="optimal", **AGE
    ),
    "people": Job(quasi=["age", "sex"], k=4, unit=["patient"], suppress=0.05, insensitive=["ill"], **AGE),
    "local": Job(quasi=["age", "city"], k=4, algorithm="mondrian", insensitive=["pay"]),
}
ROWS_ALONE = ("data", "frame", "published", "to_write", "kept", "order", "report", "full_report", "to_html")
"""What needs the published rows: an engine left them where it wrote them."""
DISTINCT_ALONE = ("solution", "domain", "column_losses", "advice", "wiped")
"""What needs the distinct rows, where not even these were here."""
OTHER_OBJECTS = (
    "job", "found", "clock", "prepared", "records", "verification", "output", "engine", "source", "pushdown",
    "evaluation", "masked", "write",
)  # fmt: skip
"""Compared by what follows from them, or by a test of their own below."""


def names() -> list[str]:
    """Every public name of a result."""
    known = {name for name, _ in inspect.getmembers(Result) if not name.startswith("_")}
    return sorted(known | set(Result.__dataclass_fields__))


def _stream(folder: Path, job: Job) -> tuple[Result, str]:
    people().write_parquet(folder / "people.parquet")
    with open_engine("stream", folder / "people.parquet", f"{folder}/out.parquet", job) as engine:
        return run_on_engine(engine, job), f"{folder}/out.parquet"


def _database(kind: str, folder: Path, job: Job) -> tuple[Result, str]:
    fill(f"{folder}/people.{kind}", people())
    address = f"{folder}/people.{kind}"
    with contextlib.closing(DatabaseEngine(f"{address}::people", f"{address}::release")) as engine:
        return run_on_engine(engine, job), f"{address}::release"


def _spark(folder: Path, job: Job) -> tuple[Result, str]:
    pytest.importorskip("pyspark", reason="pip install 'kanopy[spark]'")
    if shutil.which("java") is None:
        pytest.skip("needs Java 17")
    frame = spark_session("local[1]").createDataFrame(people().to_arrow())
    found = run_on_engine(SparkEngine(frame), job)
    read_back = pl.from_arrow(found.data.toArrow())
    assert isinstance(read_back, pl.DataFrame)
    read_back.write_parquet(folder / "spark.parquet")
    return found, f"{folder}/spark.parquet"


ENGINES: dict[str, Callable[[Path, Job], tuple[Result, str]]] = {
    "stream": _stream, "duckdb": functools.partial(_database, "duckdb"),
    "sqlite": functools.partial(_database, "sqlite"), "spark": _spark,
}  # fmt: skip


@functools.cache
def in_memory(name: str) -> Result:
    return kanopy.anonymize(people(), JOBS[name])


@pytest.fixture(scope="module", params=[(engine, name) for engine in ENGINES for name in JOBS], ids="-".join)
def made(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Result, str]]:
    engine, name = request.param
    folder = tmp_path_factory.mktemp(engine)
    yield (name, *ENGINES[engine](folder, JOBS[name]))


def plain(value: Any) -> Any:
    """A value as two engines can be compared by it."""
    if callable(value):
        value = value()
    if isinstance(value, pl.DataFrame):
        return value.columns, as_texts(value)
    if isinstance(value, str) and value.startswith("{"):
        value = json.loads(value)
    if isinstance(value, dict):
        left_out = ("seconds", "made", "notes")
        return {key: plain(each) for key, each in value.items() if key not in left_out}
    if isinstance(value, float | np.floating):
        return pytest.approx(float(value), rel=1e-9)
    if hasattr(value, "levels") and hasattr(value, "recoding"):
        recoding = value.recoding
        return value.algorithm, value.levels, value.optimal, plain(value.score), recoding.suppressed_rows
    if hasattr(value, "tuples"):
        return (
            value.names,
            value.rows,
            sorted(zip(map(tuple, value.tuples.tolist()), value.counts.tolist(), strict=True)),
        )
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    if hasattr(value, "to_dict"):
        return plain(value.to_dict())
    return value


def outcome(result: Result, name: str) -> Any:
    try:
        return plain(getattr(result, name))
    except kanopy.KanopyError as error:
        return error


def test_every_name_says_what_memory_says_or_is_not_available(made: tuple[str, Result, str]) -> None:
    job, result, _ = made
    for name in names():
        if name in (*OTHER_OBJECTS, "apply", "hierarchies"):
            continue
        found, meant = outcome(result, name), outcome(in_memory(job), name)
        if name == "manifest" and result.output is not None:  # what is written is shuffled, a frame is not
            meant = plain(in_memory(job).manifest(written=True))
        if name in ROWS_ALONE and not (name == "data" and result.engine == "spark"):
            assert isinstance(found, NotAvailable) and "not in memory" in str(found), name
        elif name in ("notes", "private_notes"):
            assert set(found) <= set(meant) | set(result.notes), name
        elif name != "data":
            assert found == meant or (type(found), str(found)) == (type(meant), str(meant)), name


def test_no_table_of_distinct_rows_is_handed_out_or_written(made: tuple[str, Result, str], tmp_path: Path) -> None:
    result = made[1]
    assert isinstance(result.records, DistinctRows) and result.records.distinct.height < people().height
    assert not any(isinstance(getattr(result, name), pl.DataFrame) for name in Result.__dataclass_fields__)
    for beside in ({}, {"report": tmp_path / "r.html"}, {"mapping": tmp_path / "m.csv"}):
        with pytest.raises(NotAvailable, match=f"the engine '{result.engine}' left them"):
            result.write(tmp_path / "out.csv", **beside)
    assert list(tmp_path.iterdir()) == []
    for look in (lambda: result.prepared.frame, lambda: result.prepared.visible):
        with pytest.raises(NotAvailable, match="needs all rows"):
            look()
    assert result._repr_html_() is None and repr(result).startswith("<Result: 480 rows")


def test_what_an_engine_wrote_passes_a_check_from_scratch(made: tuple[str, Result, str]) -> None:
    name, _, output = made
    job, release = JOBS[name], read_table(output)
    assert as_texts(release) == as_texts(in_memory(name).frame)
    if not job.unit:  # the column that says whose row it is was not published
        hidden = pl.all_horizontal(pl.col(name).cast(pl.String) == "*" for name in job.quasi).fill_null(False)
        found = kanopy.check(release.filter(~hidden), quasi=job.quasi, models=job.all_models)
        assert found.holds, found


def test_other_rows_are_published_at_the_levels_that_an_engine_found(made: tuple[str, Result, str]) -> None:
    name, result, _ = made
    if result.levels is None:
        with pytest.raises(kanopy.KanopyError, match="does not have one level per column"):
            result.apply(people())
        return
    assert as_texts(result.apply(people()).frame) == as_texts(in_memory(name).apply(people()).frame)
    assert [*result.hierarchies] == [*in_memory(name).hierarchies]


def test_where_not_even_distinct_rows_are_here_the_same_names_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("duckdb", reason="pip install 'kanopy[duckdb]'")
    monkeypatch.setenv("KANOPY_MOST_DIFFERENT", "90")
    job = JOBS["models"]
    result, output = _stream(tmp_path, job)
    assert isinstance(result, Result) and result.records == RowsElsewhere(people().height)
    meant = in_memory("models")
    for name in names():
        if name in (*OTHER_OBJECTS, "apply"):
            continue
        found = outcome(result, name)
        if name in ROWS_ALONE or name in DISTINCT_ALONE:
            assert isinstance(found, NotAvailable) or name in ("masked", "apply", "wiped", "column_losses"), (
                name,
                found,
            )
        elif name == "losses":
            assert found == {job.metric: pytest.approx(meant.score)}
        elif name in ("mapping", "figures", "levels", "score", "classes", "smallest_class", "suppressed", "rows"):
            assert found == outcome(meant, name), name
        else:
            assert not isinstance(found, Exception), (name, found)
    with pytest.raises(NotAvailable):
        result.write(tmp_path / "again.csv")
    assert as_texts(read_table(output)) == as_texts(meant.frame) == as_texts(result.apply(people()).frame)
