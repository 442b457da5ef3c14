"""How long a table takes to get in and out: read, encode, distinct tuples, decode, write.

    python benchmarks/table.py [--rows 1000000]

Rows are resampled from Adult with ages and working hours jittered, nine columns as text.
"""

from __future__ import annotations

import argparse
import resource
import tempfile
import time
from pathlib import Path

import numpy as np
import polars as pl

from kanopy._core.numbering import distinct_tuples
from kanopy._table import datasets
from kanopy._table.encode import encode_column
from kanopy._table.sinks import write_table
from kanopy._table.sources import read_source
from kanopy.hierarchy.hierarchy import Hierarchy

COLUMNS = (*datasets.ADULT_QUASI_IDENTIFIERS, "income")


def resampled(rows: int, seed: int = 1) -> pl.DataFrame:
    """Adult drawn with replacement, ages jittered by up to three years."""
    rng = np.random.default_rng(seed)
    frame = datasets.adult().select(COLUMNS)
    picked = frame[rng.integers(0, frame.height, rows)]
    jitter = pl.Series(rng.integers(-3, 4, rows))
    return picked.with_columns(age=(picked["age"] + jitter).clip(17, 90))


def peak_megabytes() -> float:
    """The most memory this process has used so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main() -> None:
    """Print one line per step."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    rows = parser.parse_args().rows
    hierarchies = datasets.adult_hierarchies()
    quasi = list(datasets.ADULT_QUASI_IDENTIFIERS)
    small = np.zeros(4, np.int32)
    distinct_tuples([small], [1])  # compiled or loaded from the cache outside the clock
    print(f"{'step':<26}{'seconds':>9}{'peak MB':>9}  note")

    def line(step: str, since: float, note: str = "") -> None:
        print(f"{step:<26}{time.perf_counter() - since:>9.3f}{peak_megabytes():>9.0f}  {note}")

    with tempfile.TemporaryDirectory() as folder:
        file, out = Path(folder) / "in.csv", Path(folder) / "out.csv"
        for start in range(0, rows, 1_000_000):
            with file.open("ab") as sink:
                part = resampled(min(1_000_000, rows - start), seed=start + 1)
                part.write_csv(sink, include_header=start == 0)
        del part
        size = file.stat().st_size / 1e6
        start_time = time.perf_counter()
        source = read_source(file)
        line("read CSV", start_time, f"{rows:,} rows, {size:.0f} MB")
        start_time = time.perf_counter()
        columns = [encode_column(source.frame[name], hierarchies[name]) for name in quasi]
        line("encode 8 columns", start_time)
        start_time = time.perf_counter()
        tuples, _, _, _ = distinct_tuples([c.codes for c in columns], [c.hierarchy.size for c in columns])
        line("distinct tuples", start_time, f"{len(tuples):,} tuples")
        start_time = time.perf_counter()
        published = source.frame.with_columns(column.decode(1, compact=True) for column in columns)
        line("decode 8 columns", start_time)
        start_time = time.perf_counter()
        write_table(published, out, dialect=source.dialect, forbidden=[file])
        line("write CSV", start_time, f"{out.stat().st_size / 1e6:.0f} MB")
    del source, columns, published
    rng = np.random.default_rng(0)
    for distinct in (20_000, 2_000_000):
        codes = [(keys := rng.integers(0, distinct, rows, np.int32)), keys % np.int32(97)]
        for sizes, kind in (([distinct, 97], "by the numbers"), ([2**31, 2**31], "forced to hash")):
            start_time = time.perf_counter()
            tuples, _, _, _ = distinct_tuples(codes, sizes)
            line(f"distinct, {kind}", start_time, f"{len(tuples):,} tuples")
    values = rng.integers(0, 100_000, rows)
    wide = Hierarchy.flat([str(value) for value in range(100_000)])
    for series in (pl.Series("n", values), pl.Series("n", values).cast(pl.String), pl.Series("n", values / 8)):
        start_time = time.perf_counter()
        encode_column(series, wide, unknown="suppress")
        line(f"encode {series.dtype}", start_time, "100,000 values")


if __name__ == "__main__":
    main()
