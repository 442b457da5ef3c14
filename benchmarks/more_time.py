"""More time is never worse: random tables, each released with rising budgets by every algorithm that takes one.

Run: python benchmarks/more_time.py [--tables 100] [--budgets .5,1,2,4,8] [--algorithms best,optimal]. `optimal` is
asked for its best effort. Prints the algorithms, how often more time helped, and every table where it did harm.
"""

from __future__ import annotations

import argparse
import time
from itertools import pairwise

import numpy as np

from kanopy._core.classes import Domain
from kanopy._errors import NoSolution
from kanopy.hierarchy.hierarchy import Hierarchy
from kanopy.privacy.models import KAnonymity
from kanopy.search.algorithms import make_algorithm
from kanopy.search.problem import Problem


def random_table(seed: int) -> Problem:
    """A table of 60 to 3,000 rows and 3 to 9 columns that hang together, a k and a limit."""
    generator = np.random.default_rng(seed)
    rows, width = int(60 * 50 ** generator.random()), int(generator.integers(3, 10))
    kind = generator.integers(0, 4, rows)
    hierarchies, columns = [], []
    for j in range(width):
        size, fan = int(generator.integers(2, 60)), int(generator.integers(2, 6))
        height = max(1, int(np.ceil(np.log(size) / np.log(fan))))
        lines = [[f"{value // fan**level}/{level}" for level in range(height)] + ["*"] for value in range(size)]
        hierarchies.append(Hierarchy.from_rows(lines, name=f"q{j}"))
        own = (kind * size // 4 + generator.geometric(min(1.0, 4 / size), rows) - 1) % size
        columns.append(np.where(generator.random(rows) < 0.7, own, generator.integers(0, size, rows)))
    tuples, of_row, counts = np.unique(np.column_stack(columns), axis=0, return_inverse=True, return_counts=True)
    domain = Domain(
        tuple(h.name for h in hierarchies), tuple(hierarchies), tuples.astype(np.int32), counts.astype(np.int64),
        of_row.reshape(-1).astype(np.int32),
    )  # fmt: skip
    k = int(generator.choice([2, 3, 5, 8, 10, 20, 30]))
    return Problem(domain, [KAnonymity(k)], suppression_limit=float(generator.choice([0.0, 0.02, 0.1])))


def score(name: str, seed: int, budget: float) -> float:
    """What an algorithm's release of a table scores; infinity where it finds none."""
    given = {"most_candidates": 0} if name == "optimal" else {}
    try:
        return make_algorithm(name, budget_seconds=budget, **given).solve(random_table(seed)).score
    except NoSolution:
        return float("inf")


def main() -> None:
    """Compare budgets."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", type=int, default=100)
    parser.add_argument("--budgets", default=".5,1,2,4,8")
    parser.add_argument("--algorithms", default="best,optimal")
    asked = parser.parse_args()
    budgets = [float(each) for each in asked.budgets.split(",")]
    for name in asked.algorithms.split(","):
        begun, helped, harmed = time.process_time(), 0, 0
        for seed in range(asked.tables):
            scores = [score(name, seed, budget) for budget in budgets]
            helped += scores[-1] < scores[0] - 1e-12
            worse = [b for a, b in pairwise(scores) if b > a + 1e-12]
            harmed += bool(worse)
            if worse:
                print(f"{name} table {seed}: {', '.join(f'{each:.5f}' for each in scores)}", flush=True)
        spent = time.process_time() - begun
        print(
            f"{name}: {asked.tables} tables, more time helped {helped} times, harmed {harmed}; {spent:.0f} s",
            flush=True,
        )


if __name__ == "__main__":
    main()
