"""Damaged files of every kind end a command with words and an exit status, never with a crash."""

from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import polars as pl
import pytest

from kanopy._errors import DataError
from kanopy._table.sources import read_table
from kanopy._table.streams.scans import scan
from tests.hygiene.flipping import KINDS

NEEDED = {"xlsx": "fastexcel", "duckdb": "duckdb", "csv.zst": "pyarrow"} | dict.fromkeys(
    ("sav", "zsav", "por", "dta", "xpt"), "pyreadstat"
)
THERE = [kind for kind in KINDS if find_spec(NEEDED.get(kind, "polars"))]
ROOT = Path(__file__).resolve().parents[2]


def flip(kinds: str, number: int, seed: int) -> None:
    command = [sys.executable, "-m", "tests.hygiene.flipping", kinds, str(number), str(seed)]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stdout) == (0, ""), f"{ran.stdout}{ran.stderr[-3000:]}"


def test_a_few_flipped_bytes_in_every_kind_of_file() -> None:
    flip(",".join(THERE), 4, 0)


@pytest.mark.slow
@pytest.mark.parametrize("kind", THERE)
def test_many_flipped_bytes(kind: str) -> None:
    flip(kind, 100, 1)


@pytest.mark.parametrize("name", ["people.parquet", "people.arrow"])
def test_what_a_compiled_library_gives_up_on_is_told(
    name: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """A panic is no `Exception`: it passed by everything that waits for one."""
    people, file = pl.DataFrame({"age": list(range(200)), "job": ["nurse"] * 200}), tmp_path / name
    people.write_parquet(file) if name.endswith("parquet") else people.write_ipc(file)
    whole, told = file.read_bytes(), 0
    for place in range(len(whole) - 400, len(whole) - 8, 3):
        file.write_bytes(whole[:place] + bytes([whole[place] ^ 0xFF]) + whole[place + 1 :])
        for read in (read_table, lambda found: list(scan(found).batches())):
            try:
                read(file)
            except DataError as error:
                told += "cannot be read" in str(error)
    assert told > 20
