"""How time and memory of large tables grow, beside what the machine needs just to read and rewrite them.

    python benchmarks/scale/run.py 1e6 3e6 10e6 30e6        # make bench-scale
    python benchmarks/scale/run.py places 2e6 20e6          # half as many different rows: birth date, post code, place
    python benchmarks/scale/run.py databases 10e6 postgresql://…    # what comes from DuckDB, and from the servers named

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
from typing import Any

QUASI = ["age", "sex", "region", "marital", "education", "work", "children", "language"]
PLACES = ["birth", "post", "lat", "lon"]
ROWS_AT_ONCE = 1_000_000


def places(rows: int):  # type: ignore[no-untyped-def]
    """Batches of a register in which half of the rows differ: birth dates, post codes, coordinates to three digits."""
    import numpy as np
    import polars as pl

    def batch(number: int, many: int) -> pl.DataFrame:
        draw = np.random.default_rng(number)
        mixed = draw.integers(0, int(rows * 0.635), many).astype(np.uint64) * np.uint64(11400714819323198485)

        def part(shift: int, size: int):  # type: ignore[no-untyped-def]
            return (mixed >> np.uint64(shift)).astype(np.uint64) % np.uint64(size)

        birth, post = part(3, 29_200).astype(np.int32), part(19, 9_000).astype(np.int64) + 1_000
        north = np.round(47 + post % 97 / 20 + part(33, 60) / 1000, 3)
        east = np.round(5 + post % 89 / 10 + part(41, 80) / 1000, 3)
        columns = [pl.Series("birth", birth).cast(pl.Date), pl.Series("post", post).cast(pl.String)]
        columns += [pl.Series("lat", north), pl.Series("lon", east), pl.Series("pay", draw.integers(900, 9000, many))]
        return pl.DataFrame(columns)

    return batch


def register(rows: int):  # type: ignore[no-untyped-def]
    """Batches of a register: education and work hang on age and region, so that combinations repeat as people's do."""
    import numpy as np
    import polars as pl

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

    return batch


def generate(rows: int, path: Path, kind: str = "register") -> None:
    """A table in a file, made piece by piece."""
    from polars.io.plugins import register_io_source

    batch = (places if kind == "places" else register)(rows)

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


def ours(source: str, target: str, algorithm: str = "optimal", kind: str = "register") -> dict[str, object]:
    """The release, streamed."""
    from kanopy import Job
    from kanopy.release.engine_choice import open_engine
    from kanopy.release.out_of_core import run_on_engine

    quasi = PLACES if kind == "places" else QUASI
    job = Job(quasi=quasi, k=5, suppress="2%", insensitive=["pay"], algorithm=algorithm)
    with open_engine("stream", source, target, job) as engine:
        found = run_on_engine(engine, job)
    return {"tuples": len(found.prepared.domain.counts), "loss": found.losses["loss"], **found.clock.total()}


def measured(what: str, *arguments: str, script: str = __file__) -> dict[str, Any]:
    """A step in a process of its own: processor seconds, wall seconds, peak memory, as its script prints them."""
    done = subprocess.run([sys.executable, script, what, *arguments], capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(done.stderr[-3000:])
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
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


def different(sizes: list[int]) -> None:
    """The same for tables in which half of the rows differ, by searches that see all of them."""
    print("| rows | different | algorithm | cpu s | wall s | peak MB |")
    print("|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder) / "in.parquet", Path(folder) / "out.parquet"
        for rows in sizes:
            generate(rows, source, "places")
            for algorithm in ("optimal", "mondrian"):
                own = measured("ours", str(source), str(target), algorithm, "places")
                print(
                    f"| {rows:,} | {own['tuples']:,} | {algorithm} | {own['cpu']:.1f} | {own['wall']:.1f} | "
                    f"{own['peak']:,} |",
                    flush=True,
                )


def fetched(source: str, address: str) -> dict[str, object]:
    """The release of a table in a database, which is made from a file first: how much came from there."""
    from contextlib import closing

    import polars as pl

    from kanopy import Job
    from kanopy.engine.connections import connected
    from kanopy.engine.contract import ROWS
    from kanopy.engine.database import DatabaseEngine
    from kanopy.release.out_of_core import run_on_engine

    made = connected(address)[0]
    with closing(made):
        for name in {"kanopy_bench", "kanopy_bench_release"} & set(made.tables()):
            made.run(f"drop table {name}")
        batches = pl.scan_parquet(source).collect_batches(chunk_size=500_000)
        for number, batch in enumerate(batches):
            made.append('"kanopy_bench"', batch, first=number == 0)
    job = Job(quasi=QUASI, k=5, suppress="2%", insensitive=["pay"])
    began = time.perf_counter()
    with closing(DatabaseEngine(f"{address}::kanopy_bench", f"{address}::kanopy_bench_release")) as engine:
        found = run_on_engine(engine, job)
        wall, came = time.perf_counter() - began, engine.fetched
    kinds = pl.scan_parquet(source).group_by(QUASI).len(ROWS).cast({ROWS: pl.Int64}).collect()
    return {"seconds": wall, "came": came, "tuples": kinds.height, "different": kinds.estimated_size(),
            "stages": found.clock.total()}  # fmt: skip


def databases(rows: int, addresses: list[str]) -> None:
    """How much comes from databases, beside what their different rows are."""
    with tempfile.TemporaryDirectory() as folder:
        source, place = Path(folder) / "in.parquet", f"{folder}/bench.duckdb"
        generate(rows, source)
        import duckdb

        duckdb.connect(place).close()
        for address in (place, *addresses):
            own = measured("fetched", str(source), address)
            print(
                f"{address.split(':')[0].split('.')[-1]}, {rows:,} rows: {own['tuples']:,} different rows are "
                f"{own['different'] / 1e6:.1f} MB, {own['came'] / 1e6:.1f} MB came "
                f"({own['came'] / own['different']:.2f} times), {own['seconds']:.0f} s",
                flush=True,
            )


if __name__ == "__main__":
    steps = {"peer": peer, "ours": ours, "fetched": fetched}
    if sys.argv[1:2] and sys.argv[1] in steps:
        began = time.perf_counter()
        answer = steps[sys.argv[1]](*sys.argv[2:]) or {}
        used = resource.getrusage(resource.RUSAGE_SELF)
        answer |= {
            "cpu": used.ru_utime + used.ru_stime, "wall": time.perf_counter() - began, "peak": used.ru_maxrss // 1024,
        }  # fmt: skip
        print(json.dumps(answer))
    elif sys.argv[1:2] == ["databases"]:
        databases(int(float(sys.argv[2])), sys.argv[3:])
    elif sys.argv[1:2] == ["places"]:
        different([int(float(size)) for size in sys.argv[2:] or ["2e6", "20e6"]])
    else:
        main([int(float(size)) for size in sys.argv[1:] or ["1e6", "3e6", "10e6", "30e6"]])
