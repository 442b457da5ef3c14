"""Date shift, pseudonyms and top coding beside reading the same file and writing it again with Polars.

`python benchmarks/treatments.py [ROWS] [RUNS]`: processor time of each, as a ratio to the floor in the same run (the
median of the runs); with the rows shuffled, as is the default, and in the order of the table.
"""

from __future__ import annotations

import resource
import statistics
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl

import kanopy
from kanopy import Job

KEY = b"0123456789abcdef0123456789abcdefXYZ!"
PLANS = {
    "date shift": {"admitted": {"method": "shift-dates", "unit": "patient"}},
    "pseudonyms": {"patient": "hash"},
    "top coding": {"income": {"method": "top-code", "top_share": 0.01}},
}
OTHERS = ("admitted", "income", "ward", "lab")


def processor_seconds(work: Callable[[], object]) -> float:
    """What a piece of work costs, all threads together."""
    before = resource.getrusage(resource.RUSAGE_SELF)
    work()
    after = resource.getrusage(resource.RUSAGE_SELF)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def visits(rows: int) -> pl.DataFrame:
    """Visits of patients, fifty of each."""
    draw = np.random.default_rng(1)
    return pl.DataFrame(
        {
            "patient": draw.integers(0, max(rows // 50, 2), rows),
            "admitted": pl.Series(draw.integers(14000, 19000, rows).astype(np.int32)).cast(pl.Date),
            "income": draw.lognormal(10, 1, rows).round().astype(np.int64),
            "ward": draw.choice(["a", "b", "c", "d"], rows), "lab": draw.normal(5, 1, rows).round(2),
        }
    )  # fmt: skip


def main(rows: int, runs: int) -> None:
    """Print one line per method."""
    with tempfile.TemporaryDirectory() as folder:
        source, small, out = (Path(folder) / name for name in ("visits.parquet", "small.parquet", "out.parquet"))
        visits(1000).write_parquet(small)
        visits(rows).write_parquet(source)

        def release(method: str, table: Path, shuffle: bool | None, engine: str) -> None:
            plan = PLANS[method]
            job = Job(protect=plan, insensitive=[name for name in OTHERS if name not in plan], shuffle=shuffle)
            key = None if method == "top coding" else KEY
            kanopy.anonymize(table, job, output=out, key=key, engine=engine)

        for method in PLANS:  # what is imported the first time is no part of it
            for engine in ("memory", "stream"):
                release(method, small, None, engine)
        print(f"{rows:,} rows, median of {runs} runs, processor time over reading and rewriting with Polars")
        print(f"{'':12}{'memory':>10}{'in order':>10}{'stream':>10}{'in order':>10}{'floor':>10}")
        for method in PLANS:
            ratios: list[list[float]] = []
            floors = []
            for _ in range(runs):
                floor = processor_seconds(lambda: pl.read_parquet(source).write_parquet(out))
                own = [
                    processor_seconds(lambda m=method, s=shuffle, e=engine: release(m, source, s, e))  # type: ignore[misc]
                    for engine in ("memory", "stream")
                    for shuffle in (None, False)
                ]
                ratios.append([each / floor for each in own])
                floors.append(floor)
            line = [statistics.median(each) for each in zip(*ratios, strict=True)]
            print(f"{method:12}" + "".join(f"{each:10.2f}" for each in line) + f"{statistics.median(floors):8.2f} s")


if __name__ == "__main__":
    main(int(float(sys.argv[1])) if len(sys.argv) > 1 else 2_000_000, int(sys.argv[2]) if len(sys.argv) > 2 else 3)
