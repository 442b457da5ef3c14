"""Files with flipped bytes and cut ends, given to commands: `python -m tests.hygiene.flipping KIND,… NUMBER`.

It runs in a process of its own, because a reader may end the process. Prints what went wrong; nothing else.
"""

from __future__ import annotations

import contextlib
import gzip
import io
import json
import random
import sqlite3
import sys
import tempfile
import traceback
from collections.abc import Callable
from pathlib import Path

import polars as pl

from kanopy._table.sinks import write_table
from kanopy.cli import main

PEOPLE = pl.DataFrame({
    "age": [31, 34, 38, 52, 57, 59, 31, 34], "job": ["nurse", "clerk", "nurse", None, "cook", "cook", "nurse", "clerk"],
    "pay": [1.5, 2.0, None, 2.5, 3.5, 1e300, 0.0, -1.0],
})  # fmt: skip
ANONYMIZE = ("-q", "age,job", "-k", "2", "--suppress", "100%", "-o", "out.csv")
JOB = """k = 2
suppress = "50%"
[columns.age]
role = "quasi-identifier"
hierarchy = { method = "widths", widths = [10, 20] }
[columns.job]
role = "quasi-identifier"
"""


def status_of(*arguments: str) -> int:
    """The exit status of a command; what it says goes nowhere."""
    sys.argv = ["kanopy", *arguments]
    try:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            main()
    except SystemExit as stop:
        return int(stop.code or 0)
    return 0


def _table(name: str, *more: str) -> Callable[[Path], tuple[Path, tuple[str, ...]]]:
    def make(folder: Path) -> tuple[Path, tuple[str, ...]]:
        file = folder / name
        if name.endswith((".sqlite", ".duckdb")):
            _database(file)
        elif name.endswith(".csv.gz"):
            file.write_bytes(gzip.compress(PEOPLE.write_csv().encode()))
        else:
            write_table(PEOPLE, file)
        return file, ("anonymize", name, *ANONYMIZE, *more)

    return make


def _database(file: Path) -> None:
    if file.suffix == ".sqlite":
        with contextlib.closing(sqlite3.connect(file)) as made:
            made.execute("create table people (age integer, job text, pay real)")
            made.executemany("insert into people values (?, ?, ?)", PEOPLE.iter_rows())
            made.commit()
        return
    import duckdb

    with contextlib.closing(duckdb.connect(file)) as made:
        made.register("frame", PEOPLE.to_arrow())
        made.execute("create table people as from frame")


def _beside(name: str, content: str | None, *command: str) -> Callable[[Path], tuple[Path, tuple[str, ...]]]:
    """A file that a command reads beside the table; without content one that a command has written."""

    def make(folder: Path) -> tuple[Path, tuple[str, ...]]:
        PEOPLE.write_csv(folder / "people.csv")
        if content is not None:
            (folder / name).write_text(content)
        elif name == "counts.parquet":
            assert status_of("count", "people.csv", "-q", "age,job", "-o", name) == 0
        else:
            assert status_of("anonymize", "people.csv", *ANONYMIZE, "--solution", name) == 0
        return folder / name, command

    return make


KINDS: dict[str, Callable[[Path], tuple[Path, tuple[str, ...]]]] = {
    **{name.partition(".")[2]: _table(name) for name in (
        "p.csv", "p.csv.gz", "p.csv.zst", "p.parquet", "p.arrow", "p.xlsx", "p.sav", "p.zsav", "p.por", "p.dta",
        "p.xpt", "p.sqlite", "p.duckdb",
    )},
    "stream": _table("p.parquet", "--engine", "stream"),
    "arrow-stream": _table("p.arrow", "--engine", "stream"),
    "job": _beside("job.toml", JOB, "anonymize", "people.csv", "--job", "job.toml", "-o", "out.csv"),
    "levels": _beside(
        "age.csv", "".join(f"{age};{age // 10}x;*\n" for age in sorted(set(PEOPLE["age"]))),
        "anonymize", "people.csv", *ANONYMIZE, "--hierarchies", ".",
    ),
    "hierarchy": _beside(
        "job.json", json.dumps({"label": "*", "children": [{"label": each} for each in ("nurse", "clerk", "cook")]}),
        "anonymize", "people.csv", *ANONYMIZE, "--hierarchies", ".", "--missing", "suppress",
    ),
    "solution": _beside("solution.json", None, "apply", "solution.json", "people.csv", "-o", "out.csv"),
    "counts": _beside("counts.parquet", None, "anonymize", "people.csv", *ANONYMIZE, "--counts", "counts.parquet"),
}  # fmt: skip


def damaged(content: bytes, draw: random.Random) -> bytes:
    """The same with some bytes changed, or cut short."""
    found = bytearray(content)
    if draw.random() < 0.2:
        return bytes(found[: draw.randrange(len(found))])
    for _ in range(draw.choice((1, 1, 2, 5))):
        found[draw.randrange(len(found))] = draw.choice((draw.randrange(256), 0, 255))
    return bytes(found)


def run(kind: str, number: int, seed: int = 0) -> None:
    """So many damaged files of a kind."""
    draw = random.Random(f"{kind} {seed}")
    with tempfile.TemporaryDirectory() as name, contextlib.chdir(name):
        folder = Path(name)
        file, command = KINDS[kind](folder)
        content = file.read_bytes()
        for turn in range(number):
            file.write_bytes(damaged(content, draw))
            sys.stderr.write(f"{kind} {turn}\n")
            try:
                status: object = status_of(*command)
            except BaseException:
                status = traceback.format_exc()
            if status not in (0, 1, 2):
                sys.stdout.write(f"{kind} {turn} {status}\n")


if __name__ == "__main__":
    kinds, *numbers = sys.argv[1:]
    for each in kinds.split(","):
        run(each, *map(int, numbers))
