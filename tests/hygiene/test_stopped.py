"""Runs that are ended by a signal: nothing half-written, nothing left behind, and the status says so.

The points are drawn with a seed, so that a failure comes back.
"""

from __future__ import annotations

import contextlib
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import kanopy
from kanopy import _temporary
from tests.hygiene.places import left_in

pytestmark = pytest.mark.skipif(not hasattr(signal, "SIGHUP"), reason="signals as Unix has them")
ROWS = 30_000
WAYS = {
    "memory": ("people.parquet", "out.csv", ("--report", "report.html", "--mapping", "mapping.csv")),
    "stream": ("people.parquet", "out.csv", ("--engine", "stream", "--mapping", "mapping.csv")),
    "folder": ("people.parquet", "out/", ("--engine", "stream")),
    "spilled": ("people.parquet", "out.parquet", ("--engine", "stream")),
    "duckdb": ("people.duckdb::people", "people.duckdb::release", ()),
    "standard output": ("people.parquet", "-", ()),
}


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A table as a file and in a database."""
    duckdb = pytest.importorskip("duckdb", reason="pip install 'kanopy[duckdb]'")
    rng = np.random.default_rng(3)
    folder = tmp_path_factory.mktemp("table")
    frame = pl.DataFrame({
        "age": rng.integers(18, 90, ROWS), "zip": rng.integers(10_000, 10_900, ROWS), "sex": rng.integers(0, 2, ROWS),
    })  # fmt: skip
    frame.write_parquet(folder / "people.parquet")
    with contextlib.closing(duckdb.connect(folder / "people.duckdb")) as made:
        made.register("frame", frame.to_arrow())
        made.execute("create table people as from frame")
    return folder


def start(way: str, folder: Path, table: Path) -> subprocess.Popen[bytes]:
    source, output, more = WAYS[way]
    (folder / "tmp").mkdir(exist_ok=True)
    if not (place := folder / source.partition("::")[0]).exists():
        place.write_bytes((table / place.name).read_bytes())
    command = [sys.executable, "-m", "kanopy", "anonymize", source, "-q", "age,zip,sex", "-k", "3", "-o", output, *more]
    command += ["--suppress", "100%"]
    variables = {**os.environ, "TMPDIR": str(folder / "tmp")}
    if way == "spilled":
        variables["KANOPY_MOST_DIFFERENT"] = "2000"
    return subprocess.Popen(
        command, cwd=folder, env=variables, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_DFL),  # who runs the tests may ignore it
    )  # fmt: skip


def released(way: str, folder: Path) -> bool:
    """Whether there is a release; it is whole then."""
    output = WAYS[way][1]
    if way == "duckdb":
        import duckdb

        with contextlib.closing(duckdb.connect(folder / "people.duckdb")) as made:
            names = {name for (name,) in made.execute("select table_name from duckdb_tables()").fetchall()}
            assert names <= {"people", "release"}
            if "release" not in names:
                return False
            return bool(made.execute("select count(*) from release").fetchall() == [(ROWS,)])
    if output == "-" or not (folder / output).exists():
        return False
    read = pl.scan_csv(folder / output) if output.endswith(".csv") else pl.scan_parquet(folder / output)
    assert read.select(pl.len()).collect().item() == ROWS
    return True


def stopped_at(way: str, kind: signal.Signals, after: float | None, folder: Path, table: Path) -> int:
    """Stop a run some seconds after its start, or when it keeps something among the temporary files; look at what is
    left, and run it again to its end. The status of the first."""
    with start(way, folder, table) as process:
        if after is None:
            until = time.monotonic() + 60
            while not left_in(folder / "tmp") and process.poll() is None and time.monotonic() < until:
                time.sleep(0.01)
        else:
            time.sleep(after)
        process.send_signal(kind)
        out, error = process.communicate(timeout=600)
    status = process.returncode
    # Before the first and after the last line of ours a signal does what it always does.
    assert status in (0, -kind, 128 + kind), (status, error.decode())
    there = released(way, folder)
    if way == "standard output":
        # What is in a pipe cannot be taken back; the status says that it is not all.
        assert status or out.count(b"\n") == ROWS + 1
    elif status == 0:
        assert there
    elif status > 0:
        assert not there and b"Stopped" in error and b"Traceback" not in error, error.decode()
        assert left_in(folder) == {WAYS[way][0].partition("::")[0]}
    if way in ("folder", "duckdb") and there:
        return status
    with start(way, folder, table) as process:
        _, error = process.communicate(timeout=600)
    assert process.returncode == 0, error.decode()
    names = {name for name in left_in(folder) if not name.startswith("out")}
    assert names <= {"people.parquet", "people.duckdb", "mapping.csv", "report.html"}, names
    return status


@pytest.mark.parametrize("kind", ["TERM", "KILL"])
def test_a_run_that_is_ended_leaves_nothing(kind: str, table: Path, tmp_path: Path) -> None:
    assert stopped_at("spilled", signal.Signals[f"SIG{kind}"], None, tmp_path, table) != 0


@pytest.mark.slow
@pytest.mark.parametrize("way", list(WAYS))
def test_ended_at_random_points(way: str, table: Path, tmp_path: Path) -> None:
    begin = time.monotonic()
    (tmp_path / "whole").mkdir()
    with start(way, tmp_path / "whole", table) as process:
        process.communicate(timeout=600)
    lasts, draw, ended = time.monotonic() - begin, random.Random(way), 0
    for number in range(6):
        folder = tmp_path / str(number)
        folder.mkdir()
        kind = [signal.SIGTERM, signal.SIGHUP, signal.SIGKILL][number % 3]
        ended += stopped_at(way, kind, draw.uniform(0.3, 1.1) * lasts, folder, table) != 0
    assert ended


@pytest.mark.parametrize("output", ["out/", "new.duckdb::release", "out.csv"])
def test_what_a_dead_run_left_beside_an_output_is_swept(output: str, tmp_path: Path) -> None:
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    left = tmp_path / f".{output.partition('::')[0].strip('/')}.{_temporary._machine()}-{dead.pid}-0123abcd.part"
    left.mkdir()
    (left / "part-00000.parquet").write_bytes(b"41")
    pl.DataFrame({"age": [1, 1, 1, 2, 2, 2]}).write_parquet(tmp_path / "people.parquet")
    job = kanopy.Job(quasi="age", k=3)
    kanopy.anonymize(tmp_path / "people.parquet", job, engine="stream", output=f"{tmp_path}/{output}")
    assert not left.exists()


@pytest.mark.parametrize("kind", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_while_code_made_from_text_runs_keeps_its_exit_status(kind: signal.Signals, tmp_path: Path) -> None:
    # As while a dataclass is imported: Python would end by SIGINT, whoever catches a KeyboardInterrupt from there.
    code = f"""
import os, signal, sys
from kanopy import cli
signal.signal(signal.SIGHUP, signal.SIG_DFL)  # who runs the tests may ignore it
with cli._stoppable() as came:
    try:
        exec("os.kill(os.getpid(), {int(kind)})\\nwhile True: pass", {{"os": os}})
    except KeyboardInterrupt:
        pass
sys.exit(128 + came[0])
"""
    (tmp_path / "stopped.py").write_text(code)
    command = [sys.executable, "-m", "stopped"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stderr) == (128 + kind, "")


def test_a_library_that_panics_when_it_is_interrupted_keeps_the_exit_status(tmp_path: Path) -> None:
    """Polars turns an interrupt in a callback into a panic, which is no `Exception`."""
    code = """
import os, signal
from kanopy import cli

class Panic(BaseException):
    pass

def run():
    try:
        os.kill(os.getpid(), signal.SIGTERM)
        while True:
            pass
    except KeyboardInterrupt:
        raise Panic from None

cli._run = run
cli.main()
"""
    (tmp_path / "panics.py").write_text(code)
    command = [sys.executable, "-m", "panics"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 128 + signal.SIGTERM and "Stopped" in done.stderr
