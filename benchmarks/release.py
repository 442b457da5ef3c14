"""The whole command: new process, CSV in, CSV out, time and memory.

Run: python benchmarks/release.py [--rows 1000000]. The table is the bundled Adult data, resampled and jittered.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import polars as pl

from kanopy._table import datasets
from kanopy.hierarchy.files.files import write_hierarchy

QUASI = ["sex", "age", "race", "marital-status", "education", "native-country", "workclass", "occupation", "income"]
CHUNK = 1_000_000


def resampled(rows: int, seed: int) -> pl.DataFrame:
    """Rows drawn with replacement; three in a hundred cells are drawn anew, so that many tuples are rare."""
    source = datasets.adult(complete=True).select(QUASI).cast(pl.String)
    rng = np.random.default_rng(seed)
    picked = rng.integers(0, source.height, rows)
    columns = {}
    for name in QUASI:
        anew = np.where(rng.random(rows) < 0.03, rng.integers(0, source.height, rows), picked)
        columns[name] = source[name].gather(anew)
    return pl.DataFrame(columns)


def write_example(folder: Path, rows: int) -> Path:
    path = folder / "people.csv"
    with path.open("wb") as sink:
        for start in range(0, rows, CHUNK):
            resampled(min(CHUNK, rows - start), start).write_csv(sink, include_header=start == 0)
    hierarchies = datasets.adult_hierarchies()
    for name in QUASI:
        write_hierarchy(hierarchies[name], folder / f"{name}.csv")
    return path


def run(folder: Path, path: Path) -> tuple[float, dict[str, float]]:
    begun = time.perf_counter()
    ran = subprocess.run(
        [
            sys.executable, "-m", "kanopy", "anonymize", str(path), "-q", ",".join(QUASI), "-k", "5",
            "--suppress", "2%", "--rest", "publish", "--hierarchies", str(folder),
            "-o", str(folder / "release.csv"), "--json",
        ],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    return time.perf_counter() - begun, json.loads(ran.stdout)["seconds"]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, nargs="*", default=[30_162, 1_000_000])
    print("\nThe whole command in a new process, CSV to CSV, nine quasi-identifiers, k = 5, 2 % suppression")
    for rows in parser.parse_args().rows:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            path = write_example(folder, rows)
            run(folder, path)
            seconds, stages = run(folder, path)
            megabytes = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
            parts = ", ".join(f"{stage} {value:.2f}" for stage, value in stages.items() if stage != "total")
            print(f"{rows:>12,} rows  {seconds:6.2f} s  {megabytes:7,.0f} MB   ({parts})")


if __name__ == "__main__":
    main()
