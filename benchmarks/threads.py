"""What a second thread gains: the same search with one and with several, equal answers required.

Run: python benchmarks/threads.py [--threads 2] [--repeat 3] [--ceiling] [TABLE …]. Budgets are amounts of work, so the
same is done with any number of threads and only the wall-clock time differs. `--ceiling` also runs as many processes
side by side, each with the whole search in one thread: they share nothing but the machine, so what they gain is what
its memory and its caches leave to gain. Nothing else should be running: one thread leaves room for it, two do not.
"""

from __future__ import annotations

import argparse
import multiprocessing
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent))

from clustering import random_domain
from local_recoding import adult_domain, resampled

from kanopy._core.classes import Domain
from kanopy.hierarchy.hierarchy import Hierarchy
from kanopy.privacy.models import KAnonymity
from kanopy.search.full_domain.optimal import Optimal
from kanopy.search.problem import Problem


def wide(columns: int, rows: int) -> Domain:
    """Columns that hang together, of up to nine values with two levels above them."""
    draw = np.random.default_rng(0)
    trees = [
        Hierarchy.from_rows([[f"v{v}", f"g{v // 3}", "*"] for v in range(3 + j % 7)], name=f"q{j}")
        for j in range(columns)
    ]
    base = draw.random(rows)
    cells = np.column_stack([((base + draw.normal(0, 0.1, rows)) % 1 * h.size).astype(np.int32) for h in trees])
    tuples, of_row, counts = np.unique(cells, axis=0, return_inverse=True, return_counts=True)
    return Domain(tuple(h.name for h in trees), tuple(trees), tuples, counts, of_row.reshape(-1).astype(np.int32))


TABLES: dict[str, tuple[Callable[[], Domain], float, float]] = {
    "adult": (lambda: resampled(adult_domain(), 1_000_000), 0.02, 8.0),
    "adult-strict": (lambda: resampled(adult_domain(), 1_000_000), 0.0, 8.0),
    "wide-16": (lambda: wide(16, 1_000_000), 0.0, 12.0),
    "wide-24": (lambda: wide(24, 300_000), 0.0, 8.0),
    "random-8": (lambda: random_domain(1_000_000, 8), 0.0, 8.0),
}
"""How a table is made, which share of its rows may be suppressed, and the seconds of work."""


def best_effort(domain: Domain, limit: float, work: float, threads: int) -> tuple[float, object]:
    """Seconds by the clock, and all that must not depend on the threads."""
    problem = Problem(domain, [KAnonymity(5)], suppression_limit=limit)
    begun = time.perf_counter()
    found = Optimal(most_candidates=0, budget_seconds=work, threads=threads).solve(problem)
    spent = time.perf_counter() - begun
    return spent, (found.levels, found.score, found.judged, found.floor, found.recoding.group_of_row.tobytes())


def side_by_side(run: Callable[..., float], times: int, *args: object) -> float:
    """The longest time of several processes that run the same at once. They are forked: the table is there already."""
    forked = multiprocessing.get_context("fork")
    answers = forked.SimpleQueue()
    processes = [forked.Process(target=lambda: answers.put(run(*args))) for _ in range(times)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    return max(answers.get() for _ in processes)


def main() -> None:
    """Print a line per table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("tables", nargs="*", choices=[*TABLES, []])
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--ceiling", action="store_true")
    given = parser.parse_args()
    for name in given.tables or TABLES:
        make, limit, work = TABLES[name]
        domain = make()
        best_effort(domain, limit, 0.3, given.threads)  # warms up
        pairs = []
        for _ in range(given.repeat):
            (one, answer), (several, same) = (best_effort(domain, limit, work, n) for n in (1, given.threads))
            assert answer == same, f"{name}: {given.threads} threads give another answer"
            pairs.append((one, several))
        ratios = ", ".join(f"{one / several:.2f}" for one, several in pairs)
        least = [min(seconds) for seconds in zip(*pairs, strict=True)]
        line = f"{name:<13} {len(domain.counts):>9,} tuples {least[0]:6.2f} s {least[1]:6.2f} s   {ratios}"
        if given.ceiling:
            slowest = side_by_side(lambda *table: best_effort(*table, 1)[0], given.threads, domain, limit, work)
            line += f"   ceiling {given.threads * least[0] / slowest:.2f}"
        print(line, flush=True)


if __name__ == "__main__":
    main()
