"""`make fuzz-kills`: runs of every engine are killed at random moments; no half file may be there, and nothing may be
left once the next run has ended."""

from __future__ import annotations

import argparse
import contextlib
import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl

ROWS = 20_000
JOB = ("-q", "age,zip,sex", "-k", "5", "--suppress", "5%", "--sensitive", "ill", "--json")


@dataclass(frozen=True)
class Way:
    """How a table is released: what is read, by which engine, and where the release goes."""

    source: str
    engine: str
    output: str
    most: int | None = None
    """So many different rows fit in memory."""
    more: tuple[str, ...] = ()


WAYS = {
    "memory": Way("people.csv", "memory", "out/release.csv", more=("--mapping", "out/mapping.csv")),
    "stream of CSV": Way("people.csv", "stream", "out/release.csv", more=("--manifest", "out/manifest.json")),
    "stream of Parquet": Way("people.parquet", "stream", "out/release.parquet"),
    "stream in a folder": Way("people.parquet", "stream", "out/release/"),
    "stream on disk": Way("people.parquet", "stream", "out/release.parquet", most=1000),
    "DuckDB": Way("people.duckdb::people", "database", "people.duckdb::release"),
    "DuckDB to a file": Way("people.duckdb::people", "database", "out/release.parquet"),
    "DuckDB on disk": Way("people.duckdb::people", "database", "people.duckdb::release", most=1000),
    "SQLite": Way("people.sqlite::people", "database", "people.sqlite::release"),
}


class Place:
    """A folder with a table, what is published from it, and a folder of temporary files."""

    def __init__(self, folder: Path, way: Way) -> None:
        self.folder, self.way = folder, way
        (folder / "out").mkdir(parents=True)
        (folder / "tmp").mkdir()
        people = table()
        name = way.source.partition("::")[0]
        if name.endswith("csv"):
            people.write_csv(folder / name)
        elif name.endswith("parquet"):
            people.write_parquet(folder / name)
        elif name.endswith("duckdb"):
            import duckdb

            with duckdb.connect(str(folder / name)) as made:
                made.register("here", people.to_arrow())
                made.execute("create table people as select * from here")
        else:
            with contextlib.closing(sqlite3.connect(folder / name)) as made:
                made.execute(f"create table people ({', '.join(people.columns)})")
                made.executemany(f"insert into people values ({', '.join('?' * people.width)})", people.rows())
                made.commit()
        self.inputs = self.files()

    def start(self) -> subprocess.Popen[bytes]:
        """The command, in a process of its own."""
        way = self.way
        limit = {} if way.most is None else {"KANOPY_MOST_DIFFERENT": str(way.most)}
        over = ("--overwrite",) if "::" in way.output else ()
        asked = ("anonymize", way.source, *JOB, "--engine", way.engine, "-o", way.output, *way.more, *over)
        return subprocess.Popen(
            [sys.executable, "-m", "kanopy", *asked], cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            env={**os.environ, "TMPDIR": str(self.folder / "tmp"), **limit},
        )  # fmt: skip

    def files(self) -> list[str]:
        """All files there are, hidden ones too."""
        return sorted(str(path.relative_to(self.folder)) for path in self.folder.rglob("*") if path.is_file())

    def leftovers(self) -> list[str]:
        """Files beside the table and the outputs. What a database keeps beside its file is its own."""
        outputs = (self.way.output.rstrip("/"), *self.way.more)
        own = tuple(f"{name}-{end}" for name in self.inputs for end in ("journal", "wal", "shm"))
        own += tuple(f"{name}.wal" for name in self.inputs)
        names = [name for name in self.files() if name not in (*self.inputs, *own) and not name.startswith(outputs)]
        return [name for name in names if not self.is_probe(name)]

    def is_probe(self, name: str) -> bool:
        """Python tries whether it can write to a temporary folder with a file of "blat": nothing of ours."""
        path = self.folder / name
        return path.parent == self.folder / "tmp" and "." not in path.name and path.read_bytes() in {b"", b"blat"}

    def rows(self) -> int:
        """Rows of the release; 0 where there is none."""
        path, _, name = self.way.output.partition("::")
        place = self.folder / path
        if name and path.endswith("duckdb"):
            import duckdb

            with duckdb.connect(str(place)) as made:
                there = made.execute("select 1 from information_schema.tables where table_name = 'release'").fetchall()
                return int(made.execute("select count(*) from release").fetchone()[0]) if there else 0  # type: ignore[index]
        if name:
            with contextlib.closing(sqlite3.connect(place)) as made:
                there = made.execute("select 1 from sqlite_master where name = 'release'").fetchall()
                return int(made.execute("select count(*) from release").fetchone()[0]) if there else 0
        if not place.exists():
            return 0
        if place.is_dir():
            return pl.scan_parquet(place / "*.parquet").select(pl.len()).collect().item()
        read: Callable[..., pl.DataFrame] = pl.read_csv if path.endswith("csv") else pl.read_parquet
        return read(place).height

    def clear(self) -> None:
        """Let go of what was published."""
        for name in (self.way.output, *self.way.more[1::2]):
            place = self.folder / name
            if "::" not in name and place.is_dir():
                for part in place.iterdir():
                    part.unlink()
                place.rmdir()
            elif "::" not in name and place.exists():
                place.unlink()


def table() -> pl.DataFrame:
    """People enough that a run takes a while."""
    draw = np.random.default_rng(3)
    return pl.DataFrame(
        {
            "age": draw.integers(18, 90, ROWS),
            "zip": [f"{code:05d}" for code in draw.integers(10_000, 10_400, ROWS)],
            "sex": draw.choice(["f", "m"], ROWS).tolist(),
            "ill": draw.choice(["flu", "cold", "burn", "gout"], ROWS).tolist(),
            "note": [f"n{i % 97}" for i in range(ROWS)],
        }
    )


def harass(folder: Path, way: Way, kills: int, terms: int, seed: int) -> Counter[str]:
    """Run a way again and again and end it by SIGKILL or SIGTERM at random moments; then let it run to its end."""
    draw, place, ends = np.random.default_rng(seed), Place(folder, way), Counter[str]()
    began = time.perf_counter()
    _, error = (running := place.start()).communicate()
    assert running.returncode == 0, error.decode()[-500:]
    whole = time.perf_counter() - began
    assert place.rows() == ROWS and not place.leftovers(), place.leftovers()
    signals = draw.permutation([signal.SIGKILL] * kills + [signal.SIGTERM] * terms).tolist()
    for sent in signals:
        before = place.rows()
        if "::" not in way.output:
            place.clear()
            before = 0
        running = place.start()
        time.sleep(float(draw.uniform(0.05, 1.05)) * whole)
        running.send_signal(sent)
        _, error = running.communicate(timeout=120)
        ends["ended before" if running.returncode == 0 else signal.Signals(sent).name] += 1
        # A signal that says so ends a run in words, with nothing left; nobody can answer the other.
        assert place.rows() in {ROWS, before}, f"{place.rows()} of {ROWS} rows are there"
        if sent == signal.SIGTERM:
            assert running.returncode in (0, 143, -signal.SIGTERM), f"{running.returncode}: {error.decode()[-500:]}"
            assert b"Traceback" not in error, error.decode()[-1500:]
            if not ends["SIGKILL"]:
                assert not place.leftovers(), f"SIGTERM left {place.leftovers()}"
    place.clear()
    _, error = (running := place.start()).communicate()
    assert running.returncode == 0, error.decode()[-500:]
    assert place.rows() == ROWS
    assert not place.leftovers(), f"after the next run: {place.leftovers()}"
    return ends


def main() -> int:
    import tempfile

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--terms", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    asked, wrong = parser.parse_args(), 0
    for number, (name, way) in enumerate(WAYS.items()):
        kills, terms = (-(-count // len(WAYS)) for count in (asked.kills, asked.terms))
        with tempfile.TemporaryDirectory(prefix="kills-") as folder:
            try:
                said = str(dict(harass(Path(folder) / "place", way, kills, terms, asked.seed + number)))
            except AssertionError as error:
                said, wrong = f"WRONG: {error}", 1
        sys.stdout.write(f"{name}: {said}\n")
        sys.stdout.flush()
    return wrong


if __name__ == "__main__":
    sys.exit(main())
