"""The same jobs on Spark: `make spark-test`. Needs Java 17 and pyspark (pip install 'kanopy[spark]')."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import kanopy
from kanopy._errors import DataError, MissingDependency
from kanopy.engine import statements
from kanopy.engine.spark import SparkEngine, spark_session
from kanopy.release.large import anonymize_where_it_is
from tests.engine.jobs import JOBS, as_texts, in_memory, job, people

pytest.importorskip("pyspark", reason="pip install 'kanopy[spark]'")
needs_java = pytest.mark.skipif(
    shutil.which("java") is None, reason="needs Java 17 (Debian: apt install openjdk-17-jre)"
)


@pytest.fixture(scope="module")
def session(request: pytest.FixtureRequest) -> Iterator[Any]:
    """A small cluster in this process, or the one that KANOPY_SPARK names."""
    import os

    from pyspark.sql import SparkSession

    settings = {"spark.sql.shuffle.partitions": "2", "spark.ui.enabled": "false", "spark.driver.host": "127.0.0.1"}
    builder = SparkSession.builder
    for key, value in settings.items():
        builder = builder.config(key, value)
    made = builder.master(os.environ.get("KANOPY_SPARK", "local[2]")).getOrCreate()
    made.sparkContext.setLogLevel("OFF")
    yield made
    made.stop()


@needs_java
@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in JOBS if not JOBS[name].get("missing_tokens")])
def test_spark_publishes_what_memory_does(name: str, session: Any) -> None:
    meant = in_memory(name)
    assert not isinstance(meant, str)
    found = kanopy.anonymize(session.createDataFrame(people().to_arrow()).repartition(3), job(name))
    assert found.levels == meant.levels
    assert found.losses == pytest.approx(meant.losses, rel=1e-12)
    assert found.verification == meant.verification
    release = pl.from_arrow(found.data.toArrow())
    assert isinstance(release, pl.DataFrame)
    assert release.columns == meant.frame.columns
    labels = list(job(name).quasi)
    assert as_texts(release[labels]) == as_texts(meant.frame[labels])
    if name != "mondrian":  # where equal rows part, a cluster without an order chooses which
        assert as_texts(release) == as_texts(meant.frame)


@needs_java
@pytest.mark.slow
def test_output_is_committed_whole_or_not_at_all(session: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    frame, out = session.createDataFrame(people().to_arrow()), f"{tmp_path}/release"
    wanted = job("suppressing")
    with monkeypatch.context() as patch:
        patch.setattr(statements, "counted", lambda columns, rows: pl.DataFrame({"wrong": [1]}))
        with pytest.raises(kanopy.KanopyError):
            anonymize_where_it_is(SparkEngine(frame, out), wanted)
    assert list(tmp_path.iterdir()) == []
    anonymize_where_it_is(SparkEngine(frame, out), wanted)
    meant = in_memory("suppressing")
    assert not isinstance(meant, str)
    assert as_texts(pl.read_parquet(f"{out}/*.parquet")) == as_texts(meant.frame)
    with pytest.raises(DataError, match="exists already"):
        SparkEngine(frame, out)


def test_an_unreachable_master_and_a_wrong_java_are_told_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if shutil.which("java") is not None:
        with pytest.raises(DataError, match="does not answer"):
            spark_session("spark://127.0.0.1:1")
    old = tmp_path / "java"
    old.write_text("#!/bin/sh\necho 'openjdk version \"1.8.0_402\"' >&2\n")
    old.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    with pytest.raises(MissingDependency, match="Java 17 or newer, not 8"):
        spark_session("local[1]")
    old.unlink()
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(MissingDependency, match="there is no 'java'"):
        spark_session("local[1]")
