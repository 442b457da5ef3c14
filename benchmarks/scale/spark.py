"""Spark on this machine: a release beside a plain read, group-by and write, and beside fragments handed to pandas.

    python benchmarks/scale/spark.py 10e6        # needs Java 17 and pyspark; local[2]

Data is that of `run.py`: eight quasi-identifiers of a register in Parquet, k = 5. The peer that hands fragments to
pandas is Mondrian as the public Spark tool does it, written here: the table is cut into as many fragments as there are
tasks, each is a pandas frame (`applyInPandas`) and cut again and again in Python, every group written row by row. Both
releases by Mondrian are of the same rows; the first release is by levels with 2 % suppressed.
"""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
from run import QUASI, generate, measured

MEMORY = "3g"


def session() -> Any:
    """Spark on two cores."""
    import os

    from pyspark.sql import SparkSession

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.master("local[2]").config("spark.driver.memory", MEMORY)
    for key, value in {"ui.enabled": "false", "driver.host": "127.0.0.1", "sql.shuffle.partitions": "4"}.items():
        builder = builder.config(f"spark.{key}", value)
    made = builder.getOrCreate()
    made.sparkContext.setLogLevel("OFF")
    return made


def plain(source: str, target: str) -> dict[str, object]:
    """Read, group by the quasi-identifiers, write: the rows beside the size of their group."""
    spark = session()
    began = time.perf_counter()
    frame = spark.read.parquet(source)
    sizes = frame.groupBy(*QUASI).count()
    frame.join(sizes, QUASI).write.parquet(target)
    return {"wall": time.perf_counter() - began}


def ours(source: str, target: str, algorithm: str = "optimal") -> dict[str, object]:
    """The release, on the cluster."""
    from kanopy import Job
    from kanopy.engine.spark import SparkEngine
    from kanopy.release.out_of_core import run_on_engine

    spark = session()
    began = time.perf_counter()
    job = Job(quasi=QUASI, k=5, suppress="2%", insensitive=["pay"], algorithm=algorithm)
    found = run_on_engine(SparkEngine(spark.read.parquet(source), target), job)
    return {"wall": time.perf_counter() - began, "levels": found.levels, "loss": found.losses["loss"],
            "stages": found.clock.total()}  # fmt: skip


def memory(source: str, target: str) -> dict[str, object]:
    """The same release by the engine in memory, sorted, compared with what Spark wrote to the target."""
    import polars as pl

    import kanopy

    job = kanopy.Job(quasi=QUASI, k=5, suppress="2%", insensitive=["pay"])
    meant = kanopy.anonymize(source, job).frame
    names = meant.columns

    def counted(frame: pl.LazyFrame) -> pl.DataFrame:
        return frame.with_columns(pl.col(QUASI).cast(pl.String)).group_by(names).len().sort(names).collect()

    return {"identical": counted(meant.lazy()).equals(counted(pl.scan_parquet(f"{target}/*.parquet").select(names)))}


def pandas_peer(source: str, target: str) -> dict[str, object]:
    """Mondrian on fragments as pandas frames: cut at the median of what varies most, while both sides keep k rows."""
    import pandas as pd

    spark = session()
    began = time.perf_counter()
    frame = spark.read.parquet(source)
    for name in QUASI[1:]:
        frame = frame.withColumn(name, frame[name].cast("string"))
    fragments = 4 * 2
    ordered = frame.orderBy(*QUASI)
    from pyspark.sql import functions

    fragmented = ordered.withColumn("fragment", functions.spark_partition_id() % fragments)

    def span(part: pd.DataFrame, column: str, scale: float) -> float:
        values = part[column]
        return float(values.max() - values.min()) / scale if column == "age" else values.nunique() / scale

    def mondrian(part: pd.DataFrame) -> pd.DataFrame:
        part = part.reset_index(drop=True).astype(dict.fromkeys(QUASI[1:], object))
        scales = {name: max(1.0, span(part, name, 1.0)) for name in QUASI}
        whole, done = [part.index], []
        while whole:
            index = whole.pop()
            own = part.loc[index]
            for name in sorted(QUASI, key=lambda column: -span(own, column, scales[column])):
                if name == "age":
                    middle = own[name].median()
                    left, right = own.index[own[name] <= middle], own.index[own[name] > middle]
                else:
                    values = sorted(own[name].unique())
                    half = set(values[: len(values) // 2])
                    chosen = own[name].isin(half)
                    left, right = own.index[chosen], own.index[~chosen]
                if len(left) >= 5 and len(right) >= 5:
                    whole += [left, right]
                    break
            else:
                done.append(index)
        rows = []
        for index in done:
            own = part.loc[index]
            labels = {
                name: f"{own[name].min()}-{own[name].max()}" if name == "age" else ",".join(sorted(own[name].unique()))
                for name in QUASI
            }
            rows.append(pd.DataFrame({**labels, "pay": own["pay"].to_numpy()}))
        return pd.concat(rows).astype(dict.fromkeys(QUASI, object))

    schema = ", ".join([*(f"{name} string" for name in QUASI), "pay long"])
    fragmented.groupBy("fragment").applyInPandas(mondrian, schema).write.parquet(target)
    return {"wall": time.perf_counter() - began}


STEPS = {"plain": plain, "ours": ours, "memory": memory, "pandas": pandas_peer}


def main(rows: int, few: int) -> None:
    """Print what each takes; the peer with pandas is given `few` rows, and so is Mondrian beside it."""
    with tempfile.TemporaryDirectory() as folder:
        source, small, target = (str(Path(folder) / name) for name in ("in.parquet", "few.parquet", "out"))
        generate(rows, Path(source))
        generate(few, Path(small))
        times = {}
        for step in ("plain", "ours"):
            shutil.rmtree(target, ignore_errors=True)
            times[step] = measured(step, source, target, script=__file__)
        plain, own = times["plain"]["wall"], times["ours"]["wall"]
        same = measured("memory", source, target, script=__file__)
        print(
            f"{rows:,} rows: read, group and write {plain:.1f} s, release {own:.1f} s ({own / plain:.2f} times); {same}"
        )
        for step, arguments in (("ours", ["mondrian"]), ("pandas", [])):
            shutil.rmtree(target, ignore_errors=True)
            times[step] = measured(step, small, target, *arguments, script=__file__)
        own, peer = times["ours"]["wall"], times["pandas"]["wall"]
        print(f"{few:,} rows by Mondrian: {own:.1f} s, fragments in pandas {peer:.1f} s ({peer / own:.1f} times)")


if __name__ == "__main__":
    if sys.argv[1:2] and sys.argv[1] in STEPS:
        print(json.dumps(STEPS[sys.argv[1]](*sys.argv[2:])))
    else:
        sizes = [int(float(size)) for size in sys.argv[1:]]
        main(sizes[0] if sizes else 10_000_000, sizes[1] if len(sizes) > 1 else 300_000)
