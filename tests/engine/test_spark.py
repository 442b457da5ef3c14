"""The same jobs on Spark: `make spark-test`. Needs Java 17 and pyspark (pip install 'kanopy[spark]')."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import kanopy
from kanopy import Job
from kanopy._errors import DataError, MissingDependency
from kanopy.engine import statements
from kanopy.engine.spark import SparkEngine, read_files, spark_session
from kanopy.release.out_of_core import run_on_engine
from kanopy.release.pushdown.pushdown_result import PushdownResult
from tests.engine.jobs import JOBS, as_texts, in_memory, job, people
from tests.engine.test_pushdown import CUTS, FEW, IN_PARTS, OVER_LEVELS

pytest.importorskip("pyspark", reason="pip install 'kanopy[spark]'")
needs_java = pytest.mark.skipif(
    shutil.which("java") is None, reason="needs Java 17 (Debian: apt install openjdk-17-jre)"
)


SPARK = "org.apache.spark.deploy"


@contextlib.contextmanager
def _standalone(folder: Path) -> Iterator[str]:
    """A master and two workers of one core each on this machine, gone at the end; gives the address of the master."""
    import pyspark

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    address = f"spark://127.0.0.1:{port}"
    where = ["--host", "127.0.0.1", "--webui-port", "0"]
    worker = [f"{SPARK}.worker.Worker", *where, "--cores", "1", "--memory", "1g", "--work-dir", str(folder), address]
    commands = [[f"{SPARK}.master.Master", *where, "--port", str(port)], worker, worker]
    spark_class = Path(pyspark.__file__).parent / "bin" / "spark-class"
    # Worker processes put executors under themselves: all of them end with their group.
    started = [
        subprocess.Popen(
            [spark_class, *command], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
            env={**os.environ, "SPARK_LOCAL_IP": "127.0.0.1"},
        )
        for command in commands
    ]  # fmt: skip
    try:
        for _ in range(600):
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
                break
            time.sleep(0.2)
        yield address
    finally:
        for process in started:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A small cluster in this process, or what KANOPY_SPARK names: a master, or "standalone" for one started here."""
    from pyspark.sql import SparkSession

    settings = {
        "spark.sql.shuffle.partitions": "2", "spark.ui.enabled": "false", "spark.driver.host": "127.0.0.1",
        "spark.executor.memory": "1g", "spark.sql.execution.pyspark.udf.faulthandler.enabled": "true",
    }  # fmt: skip
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder
    for key, value in settings.items():
        builder = builder.config(key, value)
    with contextlib.ExitStack() as stack:
        master = os.environ.get("KANOPY_SPARK", "local[2]")
        if master == "standalone":
            master = stack.enter_context(_standalone(tmp_path_factory.mktemp("work")))
        made = builder.master(master).getOrCreate()
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


KEY = b"0123456789abcdef0123456789abcdefXYZ!"
WIDTHS = {"age": {"method": "widths", "widths": [10]}}
PLAN: Any = {
    "patient": "hash", "day": "shift-dates", "card": {"method": "format-preserving"}, "pay": "noise",
    "income": {"method": "top-code", "top_share": 0.05, "publish": "mean"},
    "nights": {"method": "round", "base": 5, "kind": "random"},
}  # fmt: skip
TREATED = {
    "treatments alone": Job(unit="patient", protect=PLAN, insensitive="ill"),
    "people": Job(quasi="age", k=5, unit="patient", suppress="90%", protect=PLAN, hierarchies=WIDTHS),
    "fragments": Job(quasi=["age", "nights"], k=5, algorithm="mondrian", protect={"patient": "hash", "card": "mask"}),
    "sample": Job(quasi="age", k=5, sample=0.4, insensitive=["ill", "day"], suppress="50%", hierarchies=WIDTHS),
    "sampled people": Job(quasi="age", k=5, sample=0.4, unit="patient", suppress="90%", hierarchies=WIDTHS),
}


def _patients() -> pl.DataFrame:
    draw, rows = np.random.default_rng(1), 900
    return pl.DataFrame(
        {
            "patient": draw.integers(0, 200, rows), "age": draw.integers(20, 60, rows),
            "day": pl.Series(draw.integers(14000, 19000, rows).astype(np.int32)).cast(pl.Date),
            "card": [f"{number:012d}" for number in draw.integers(0, 10**12, rows)],
            "income": draw.integers(100, 9000, rows), "pay": draw.integers(0, 300, rows) / 10,
            "nights": draw.integers(0, 30, rows), "ill": draw.choice(["a", "b", "C "], rows),
        }
    )  # fmt: skip


@needs_java
@pytest.mark.slow
@pytest.mark.parametrize("name", TREATED)
def test_treatments_and_samples_are_those_of_memory(name: str, session: Any, tmp_path: Path) -> None:
    """Executors treat pieces of rows and verify them; rows are drawn by what they hold."""
    wanted, frame = TREATED[name], session.createDataFrame(_patients().to_arrow()).repartition(3)
    found = kanopy.anonymize(frame, wanted, output=f"{tmp_path}/release", key=KEY)
    meant = kanopy.anonymize(_patients(), wanted, key=KEY)
    release = pl.read_parquet(f"{tmp_path}/release/*.parquet")
    assert release.columns == meant.frame.columns and found.rows == meant.rows
    left = [column for column in release.columns if name != "fragments" or column in ("patient", "card")]
    assert as_texts(release[left]) == as_texts(meant.frame[left])


@needs_java
@pytest.mark.slow
def test_a_wrong_treatment_on_an_executor_publishes_nothing(session: Any, tmp_path: Path) -> None:
    frame = session.createDataFrame(_patients().to_arrow()).repartition(3)
    for plan, said in (
        ({"income": "rank-swap"}, "needs all rows at once"),
        ({"card": {"method": "mask", "last": 8}}, "are shorter than 16 characters"),
        ({"income": {"method": "top-code", "top": int(_patients()["income"].to_numpy().max())}}, "would be coded"),
    ):
        with pytest.raises(kanopy.KanopyError, match=said):
            kanopy.anonymize(frame, Job(protect=plan), output=f"{tmp_path}/release")
        assert list(tmp_path.iterdir()) == []


@needs_java
@pytest.mark.slow
def test_output_is_committed_whole_or_not_at_all(session: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    frame, out = session.createDataFrame(people().to_arrow()), f"{tmp_path}/release"
    wanted = job("suppressing")
    with monkeypatch.context() as patch:
        seen = statements.Statements.seen
        patch.setattr(statements.Statements, "seen", lambda *given: replace(seen(*given), columns=("wrong",)))
        with pytest.raises(kanopy.KanopyError):
            run_on_engine(SparkEngine(frame, out), wanted)
    assert list(tmp_path.iterdir()) == []
    run_on_engine(SparkEngine(frame, out), wanted)
    meant = in_memory("suppressing")
    assert not isinstance(meant, str)
    assert as_texts(pl.read_parquet(f"{out}/*.parquet")) == as_texts(meant.frame)
    with pytest.raises(DataError, match="exists already"):
        SparkEngine(frame, out)


@needs_java
@pytest.mark.slow
@pytest.mark.parametrize("name", ["suppressing", "dropping", "many models", *IN_PARTS])
def test_more_different_rows_than_fit_stay_on_the_cluster(
    name: str, session: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Candidates are counted there; parts are cut there, and solved by the executors."""
    monkeypatch.setenv("KANOPY_MOST_DIFFERENT", str(FEW))
    wanted = Job(**IN_PARTS[name]) if name in IN_PARTS else Job(**OVER_LEVELS[name], hierarchies=CUTS)
    frame = session.createDataFrame(people().to_arrow()).repartition(3)
    found: Any = run_on_engine(SparkEngine(frame, f"{tmp_path}/release"), wanted)
    meant, release = kanopy.anonymize(people(), wanted), pl.read_parquet(f"{tmp_path}/release/*.parquet")
    assert isinstance(found, PushdownResult) and release.columns == meant.frame.columns
    if name not in IN_PARTS:
        assert found.levels == meant.levels and found.score == pytest.approx(meant.score, rel=1e-12)
        assert as_texts(release) == as_texts(meant.frame)
        return
    sizes = release.group_by(wanted.quasi).len()
    gone = pl.all_horizontal(pl.col(each) == "*" for each in wanted.quasi).fill_null(False)
    assert (
        found.pushdown.parts > 1 and sizes.filter(~gone)["len"].min() >= wanted.k and release.height == people().height
    )
    assert found.losses["loss"] == pytest.approx(meant.losses["loss"], rel=0.25)
    assert found.data.count() == release.height


def _executors(session: Any) -> list[int]:
    """The processes that work for a session, where they are processes of their own on this machine."""
    own = session.sparkContext.applicationId.encode()
    found = []
    for place in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            words = place.read_bytes().split(b"\0")
            if own in words and any(word.endswith(b"CoarseGrainedExecutorBackend") for word in words):
                found.append(int(place.parent.name))
    return found


def _workers() -> list[int]:
    """The workers of the standalone cluster that was started here."""
    own = []
    for place in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            there = place.read_bytes().split(b"\0")
            if (
                f"{SPARK}.worker.Worker".encode() in there
                and int(place.with_name("stat").read_text().split()[3]) == os.getpid()
            ):
                own.append(int(place.parent.name))
    return own


@needs_java
@pytest.mark.slow
@pytest.mark.parametrize("whom", ["executor", "executor with parts", "worker"])
def test_a_killed_executor_or_worker_loses_nothing(
    whom: str, session: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if session.sparkContext.master.startswith("local["):
        pytest.skip("executors are threads here: make spark-test")
    if whom == "worker" and not _workers():
        pytest.skip("workers are threads of the driver here: KANOPY_SPARK=standalone")
    wanted, written, killed = job("suppressing"), SparkEngine.released, []
    if whom == "executor with parts":
        monkeypatch.setenv("KANOPY_MOST_DIFFERENT", str(FEW))
        wanted = Job(**IN_PARTS["mondrian"])

    def released(self: SparkEngine, asked: Any) -> Any:
        victims = _workers() if whom == "worker" else _executors(session)
        killed.append(victims[0])
        if whom == "worker":
            os.killpg(victims[0], signal.SIGKILL)
        else:
            os.kill(victims[0], signal.SIGKILL)
        return written(self, asked)

    monkeypatch.setattr(SparkEngine, "released", released)
    frame = session.createDataFrame(people().to_arrow()).repartition(3)
    found = run_on_engine(SparkEngine(frame, f"{tmp_path}/release"), wanted)
    release = pl.read_parquet(f"{tmp_path}/release/*.parquet")
    assert killed and release.height == people().height and found.smallest_class >= wanted.k
    if whom != "executor with parts":
        meant = in_memory("suppressing")
        assert not isinstance(meant, str) and as_texts(release) == as_texts(meant.frame)


DRIVER = """
import os, signal, sys
import kanopy.engine.statements as statements
from kanopy.engine.spark import SparkEngine, spark_session
from kanopy.release.out_of_core import run_on_engine
from tests.engine.jobs import job, people

def end(*_, **__):
    os.kill(os.getpid(), signal.SIGKILL)

if sys.argv[1] == "before writing":
    SparkEngine.write = end
else:
    statements.Statements.seen = end
frame = spark_session("local[1]").createDataFrame(people().to_arrow())
run_on_engine(SparkEngine(frame, sys.argv[2]), job("suppressing"))
"""


@needs_java
@pytest.mark.slow
@pytest.mark.parametrize("when", ["before writing", "before verifying"])
def test_a_killed_driver_leaves_nothing_that_looks_complete(when: str, session: Any, tmp_path: Path) -> None:
    out, root = tmp_path / "release", Path(__file__).parents[2]
    ended = subprocess.run([sys.executable, "-c", DRIVER, when, str(out)], cwd=root, capture_output=True, check=False)
    assert ended.returncode == -signal.SIGKILL, ended.stderr[-2000:]
    left = [path.name for path in tmp_path.iterdir()]
    assert left == ([] if when == "before writing" else ["release.kanopy-part"])
    run_on_engine(SparkEngine(session.createDataFrame(people().to_arrow()), str(out)), job("suppressing"))
    assert [path.name for path in tmp_path.iterdir()] == ["release"]


@needs_java
@pytest.mark.slow
def test_files_that_differ_or_are_corrupt_are_refused(session: Any, tmp_path: Path) -> None:
    """Spark itself would take a column that one file lacks for missing values."""
    people().write_parquet(tmp_path / "a.parquet")
    assert read_files(session, str(tmp_path)).count() == people().height
    people().drop("sex").write_parquet(tmp_path / "b.parquet")
    with pytest.raises(DataError, match=r"b\.parquet lacks 'sex', which .*a\.parquet has"):
        read_files(session, str(tmp_path))
    people().with_columns(pl.col("age").cast(pl.String)).write_parquet(tmp_path / "b.parquet")
    with pytest.raises(DataError, match=r"different types: age"):
        read_files(session, str(tmp_path))
    data = bytearray((tmp_path / "a.parquet").read_bytes())
    data[200:2000] = bytes(1800)
    (tmp_path / "b.parquet").write_bytes(data)
    with pytest.raises(DataError, match="Spark could not do it"):
        run_on_engine(SparkEngine(read_files(session, str(tmp_path)), f"{tmp_path}/out"), job("suppressing"))
    (tmp_path / "b.parquet").write_bytes(b"nothing of Parquet")
    with pytest.raises(DataError, match="Spark could not do it"):
        read_files(session, str(tmp_path))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.parquet", "b.parquet"]


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
