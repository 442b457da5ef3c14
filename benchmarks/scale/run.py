"""How time and memory of large tables grow, beside what the machine needs just to read and rewrite them.

    python benchmarks/scale/run.py 1e6 3e6 10e6 30e6        # make bench-scale

Data is generated: eight quasi-identifiers of a register in Parquet (and CSV), k = 5, 2 % suppressed. Every measurement
is a process of its own, and every size is measured beside its peer in the same run.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

QUASI = ["age", "sex", "region", "marital", "education", "work", "children", "language"]
ROWS_AT_ONCE = 1_000_000


def generate(rows: int, path: Path) -> None:
    """A register: education and work hang on age and region, so that combinations repeat as those of people do."""
    import numpy as np
    import polars as pl
    from polars.io.plugins import register_io_source

    def batch(number: int, many: int) -> pl.DataFrame:
        draw = np.random.default_rng(number)
        age = np.clip(draw.normal(45, 18, many), 0, 99).astype(np.int32)
        region = np.minimum(draw.geometric(0.2, many) - 1, 15)
        education = np.clip(region % 4 + (age > 25) * draw.integers(0, 3, many), 0, 5)
        columns = {
            "sex": draw.integers(0, 2, many), "region": region, "marital": (age > 30) * draw.integers(0, 2, many),
            "education": education, "work": np.where(age < 18, 0, 1 + (education + draw.integers(0, 2, many)) % 6),
            "children": np.where(age < 20, 0, np.minimum(draw.poisson(0.8, many), 3)),
            "language": (draw.random(many) < 0.03).astype(int),
        }  # fmt: skip
        texts = [
            pl.Series([f"{name} {code}" for code in range(16)]).gather(pl.Series(codes)).alias(name)
            for name, codes in columns.items()
        ]
        return pl.DataFrame([pl.Series("age", age), *texts, pl.Series("pay", draw.integers(900, 9000, many))])

    def batches(*_: object):  # type: ignore[no-untyped-def]
        for number, start in enumerate(range(0, rows, ROWS_AT_ONCE)):
            yield batch(number, min(ROWS_AT_ONCE, rows - start))

    table = register_io_source(batches, schema=batch(0, 1).schema)
    table.sink_parquet(path) if path.suffix == ".parquet" else table.sink_csv(path)


def peer(source: str, target: str) -> None:
    """What the machine needs just to read and rewrite the table."""
    import polars as pl

    if source.endswith("csv"):
        pl.scan_csv(source, infer_schema=False).sink_csv(target)
    else:
        pl.scan_parquet(source).sink_parquet(target)


def ours(source: str, target: str, algorithm: str = "optimal") -> dict[str, object]:
    """The release, streamed."""
    from kanopy import Job
    from kanopy.release.large import anonymize_where_it_is
    from kanopy.release.where import open_engine

    job = Job(quasi=QUASI, k=5, suppress="2%", insensitive=["pay"], algorithm=algorithm)
    with open_engine("stream", source, target, job) as engine:
        found = anonymize_where_it_is(engine, job)
    return {"tuples": len(found.prepared.domain.counts), "loss": found.losses["loss"], **found.clock.total()}


def measured(what: str, *arguments: str) -> dict[str, object]:
    """A step in a process of its own: processor seconds, wall seconds, peak memory."""
    done = subprocess.run([sys.executable, __file__, what, *arguments], capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(done.stderr[-2000:])
    found: dict[str, object] = json.loads(done.stdout.splitlines()[-1])
    return found


def main(sizes: list[int]) -> None:
    """Print a table, a line per size and format."""
    print("| rows | format | different | read and rewrite, cpu s | kanopy, cpu s | ratio | wall ratio | peak MB |")
    print("|---|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for rows in sizes:
            for suffix in ("parquet", "csv") if rows <= 10_000_000 else ("parquet",):
                source, target = Path(folder) / f"in.{suffix}", Path(folder) / f"out.{suffix}"
                generate(rows, source)
                plain = measured("peer", str(source), str(target))
                own = measured("ours", str(source), str(target))
                ratio, wall = (float(own[key]) / float(plain[key]) for key in ("cpu", "wall"))  # type: ignore[arg-type]
                print(
                    f"| {rows:,} | {suffix} | {own['tuples']:,} | {plain['cpu']:.1f} | {own['cpu']:.1f} | "
                    f"{ratio:.2f} | {wall:.2f} | {own['peak']:,} |",
                    flush=True,
                )
                source.unlink()
                target.unlink()


if __name__ == "__main__":
    if sys.argv[1:2] and sys.argv[1] in ("peer", "ours"):
        began = time.perf_counter()
        answer = (peer if sys.argv[1] == "peer" else ours)(*sys.argv[2:]) or {}
        used = resource.getrusage(resource.RUSAGE_SELF)
        answer |= {
            "cpu": used.ru_utime + used.ru_stime, "wall": time.perf_counter() - began, "peak": used.ru_maxrss // 1024,
        }  # fmt: skip
        print(json.dumps(answer))
    else:
        main([int(float(size)) for size in sys.argv[1:] or ["1e6", "3e6", "10e6", "30e6"]])
