"""Full-domain search after warm-up, one thread: time, candidates judged, and a peer measured in the same run.

Run: python benchmarks/search.py. Uses the shared ARX Adult example (30,162 rows, 12,960 candidates) where it lies
beside the checkout, otherwise the bundled Adult data with nine quasi-identifiers. The peer is ANJANA (`make bench`
installs it beside us), a library for full-domain k-anonymity; it returns the first release it finds, not the best.
"""

from __future__ import annotations

import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl

from kanopy._core.classes import Domain
from kanopy._progress import SILENT
from kanopy._table import datasets
from kanopy._table.sources import read_table
from kanopy.engine.local import LocalEngine
from kanopy.hierarchy.files.files import find_hierarchies, read_hierarchy
from kanopy.hierarchy.hierarchy import Hierarchy
from kanopy.metrics.full_domain import metric_named
from kanopy.privacy.models import KAnonymity
from kanopy.search.full_domain.exhaustive import judge_all
from kanopy.search.full_domain.optimal import Optimal
from kanopy.search.problem import Problem

EXAMPLE = Path(__file__).resolve().parents[1].parent / "shared" / "data" / "arx_adult"
BUNDLED = ["sex", "age", "race", "marital-status", "education", "native-country", "workclass", "occupation", "income"]


def data() -> tuple[str, pl.DataFrame, dict[str, Hierarchy]]:
    if EXAMPLE.is_dir():
        frame = read_table(EXAMPLE / "adult.csv")
        files = find_hierarchies(EXAMPLE, frame.columns)
        return "ARX Adult example", frame, {name: read_hierarchy(files[name], column=name) for name in frame.columns}
    hierarchies = datasets.adult_hierarchies()
    frame = datasets.adult(complete=True).select(BUNDLED)
    return "bundled Adult, complete", frame, {name: hierarchies[name] for name in BUNDLED}


def best_of(times: int, work: Callable[[], Any]) -> tuple[float, Any]:
    fastest, result = float("inf"), None
    for _ in range(times):
        begun = time.perf_counter()
        result = work()
        fastest = min(fastest, time.perf_counter() - begun)
    return fastest, result


def main() -> None:
    name, frame, hierarchies = data()
    domain = LocalEngine().count(frame, hierarchies).domain
    print(f"\nFull-domain search on the {name}: {domain.rows:,} rows, {len(domain.counts):,} distinct tuples")
    print(f"{'k':>4} {'limit':>6} {'ms':>8} {'judged':>7} {'candidates':>10} {'loss':>8}   (best of 5, one thread)")
    search(domain, 5, 0.05)
    for limit in (0.0, 0.02, 0.05):
        for k in (2, 5, 10, 100):
            seconds, found = best_of(5, lambda k=k, limit=limit: search(domain, k, limit))
            print(
                f"{k:>4} {limit:>6.0%} {seconds * 1000:>8.1f} {found.judged:>7,} {found.candidates:>10,} "
                f"{found.score:>8.4f}"
            )
    for metric in ("loss", "aecs", "discernibility"):
        seconds, _ = best_of(3, lambda metric=metric: everything(domain, metric))
        print(f"all candidates judged for {metric:<15} {seconds:6.2f} s   (best of 3, k = 5, limit 2 %)")
    peer(frame, hierarchies, domain)


def search(domain: Domain, k: int, limit: float) -> Any:
    problem = Problem(domain, [KAnonymity(k)], metric_named("loss"), suppression_limit=limit)
    return Optimal(threads=1).solve(problem, SILENT)


def everything(domain: Domain, metric: str) -> Any:
    problem = Problem(domain, [KAnonymity(5)], metric_named(metric), suppression_limit=0.02)
    return judge_all(problem, SILENT).best()


PEER = """
import sys, time
import pandas as pd
from anjana.anonymity import k_anonymity
folder, names = sys.argv[1], sys.argv[2].split(",")
table = pd.read_csv(folder + "/table.csv", dtype=str)
levels = {}
for name in names:
    columns = pd.read_csv(folder + "/" + name + ".csv", dtype=str, header=None)
    levels[name] = {level: columns[level].values for level in columns}
begun = time.perf_counter()
released = k_anonymity(table, [], names, 5, 2, levels)
print(time.perf_counter() - begun, len(released))
"""


def peer(frame: pl.DataFrame, hierarchies: dict[str, Hierarchy], domain: Domain) -> None:
    python = Path(__file__).resolve().parents[1] / ".venv-peers" / "bin" / "python"
    if not python.exists():
        print("peer: ANJANA is not installed (`make bench` installs it into .venv-peers)")
        return
    with tempfile.TemporaryDirectory() as folder:
        frame.cast(pl.String).write_csv(Path(folder) / "table.csv")
        for name, hierarchy in hierarchies.items():
            rows = pl.DataFrame(list(hierarchy.rows()), orient="row")
            rows.write_csv(Path(folder) / f"{name}.csv", include_header=False)
        command = [str(python), "-c", PEER, folder, ",".join(hierarchies)]
        ran = subprocess.run(command, capture_output=True, text=True, timeout=600)
    if ran.returncode:
        print(f"peer: ANJANA did not finish: {ran.stderr.strip().splitlines()[-1:]}")
        return
    seconds, rows_left = float(ran.stdout.split()[0]), int(ran.stdout.split()[1])
    ours, found = best_of(3, lambda: search(domain, 5, 0.02))
    print(
        f"peer at k = 5, limit 2 %: ANJANA {seconds:.2f} s ({rows_left:,} rows left, a first release, not the best); "
        f"Kanopy {ours * 1000:.0f} ms, proved optimal, loss {found.score:.4f}: {seconds / ours:.0f} times faster"
    )


if __name__ == "__main__":
    main()
