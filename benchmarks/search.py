"""Full-domain search after warm-up, one thread: time, candidates judged, and a peer measured in the same run.

Run: python benchmarks/search.py. Uses the shared ARX Adult example (30,162 rows, 12,960 candidates) where it lies
beside the checkout, otherwise the bundled Adult data with nine quasi-identifiers. The peer is ANJANA (pip install
anjana), a Python library for full-domain k-anonymity; it returns the first release it finds, not the best.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl

from kanopy.classes import Domain
from kanopy.engine.local import LocalEngine
from kanopy.hierarchy.files import find_hierarchies, read_hierarchy
from kanopy.hierarchy.hierarchy import Hierarchy
from kanopy.metrics.full_domain import metric_named
from kanopy.privacy.models import KAnonymity
from kanopy.progress import SILENT
from kanopy.search.exhaustive import judge_all
from kanopy.search.optimal import Optimal
from kanopy.search.problem import Problem
from kanopy.table import datasets
from kanopy.table.sources import read_table

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


def peer(frame: pl.DataFrame, hierarchies: dict[str, Hierarchy], domain: Domain) -> None:
    try:
        from anjana.anonymity import k_anonymity
    except ImportError:
        print("peer: ANJANA is not installed (pip install anjana)")
        return
    table = frame.cast(pl.String).to_pandas()
    levels = {
        name: {level: [row[level] for row in h.rows()] for level in range(h.height + 1)}
        for name, h in hierarchies.items()
    }
    begun = time.perf_counter()
    released = k_anonymity(table, [], list(hierarchies), 5, 2, levels)
    seconds = time.perf_counter() - begun
    ours, found = best_of(3, lambda: search(domain, 5, 0.02))
    print(
        f"peer at k = 5, limit 2 %: ANJANA {seconds:.2f} s ({len(released):,} rows, a first release, not the best); "
        f"Kanopy {ours * 1000:.0f} ms, proved optimal, loss {found.score:.4f}: {seconds / ours:.0f} times faster"
    )


if __name__ == "__main__":
    main()
