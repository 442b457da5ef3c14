"""Intervals and sets of values: time to prove optimality on three numbers of Adult, and losses on eight columns.

Run: python benchmarks/value_sets.py [SECONDS]. Times are processor time after warm-up; the full-domain optimum is the
yardstick for losses. SECONDS is the budget per search (default 5).
"""

from __future__ import annotations

import sys
import time

import numpy as np
import polars as pl

from kanopy._core.classes import Domain
from kanopy._progress import SILENT
from kanopy._table import datasets
from kanopy.engine.local import LocalEngine
from kanopy.hierarchy.hierarchy import Hierarchy
from kanopy.metrics.release_losses import release_losses
from kanopy.privacy.models import KAnonymity
from kanopy.search.algorithms import make_algorithm
from kanopy.search.problem import Problem

NUMBERS = ["age", "education-num", "hours-per-week"]
EIGHT = ["age", "workclass", "education", "marital-status", "occupation", "race", "sex", "native-country"]


def in_tens() -> Domain:
    """Three numbers of Adult in ten equal ranges each."""
    columns = []
    for series in datasets.adult(complete=True).select(NUMBERS):
        numbers = series.to_numpy().astype(float)
        width = (numbers.max() - numbers.min()) / 10
        columns.append(pl.Series(series.name, np.minimum(((numbers - numbers.min()) / width).astype(int), 9)))
    flat = {series.name: Hierarchy.flat([str(i) for i in range(10)], name=series.name) for series in columns}
    return LocalEngine().count(pl.DataFrame(columns), flat).domain


def main() -> None:
    budget = float(sys.argv[1]) if len(sys.argv) > 1 else 5.0
    tens = in_tens()
    make_algorithm("bayardo-agrawal", steps=1).solve(Problem(tens, [KAnonymity(5)]), SILENT)
    print(f"\nbayardo-agrawal, three columns of ten values ({len(tens.counts)} distinct tuples), 2^27 recodings")
    print(f"{'k':>4} {'limit':>6} {'proved':>7} {'judged':>7} {'seconds':>8} {'discernibility':>15} {'suppressed':>10}")
    for k in (5, 10, 25, 100):
        for limit in (0.0, 0.01, 0.05):
            problem = Problem(tens, [KAnonymity(k)], suppression_limit=limit)
            begun = time.process_time()
            found = make_algorithm("bayardo-agrawal", budget_seconds=60).solve(problem, SILENT)
            spent = time.process_time() - begun
            cost = release_losses(tens, found.recoding, problem.weights)["discernibility"]
            gone = found.recoding.suppressed_rows
            print(
                f"{k:>4} {limit:>6.0%} {found.optimal!s:>7} {found.judged:>7,} {spent:>8.2f} {cost:>15,.0f} {gone:>10}"
            )
    trees = datasets.adult_hierarchies()
    frame = datasets.adult(complete=True).select(EIGHT)
    eight = LocalEngine().count(frame, {name: trees[name] for name in EIGHT}).domain
    print(f"\nbundled Adult, {eight.rows:,} rows, eight columns, k = 5, budget {budget:g} s of processor time")
    print(f"{'limit':>6} {'algorithm':<16} {'loss':>7} {'discernibility':>15} {'classes':>8} {'seconds':>8}")
    for limit in (0.0, 0.02):
        problem = Problem(eight, [KAnonymity(5)], suppression_limit=limit)
        for name in ("optimal", "bayardo-agrawal", "li-gops", "li-gsps", "li-sps"):
            begun = time.process_time()
            given = {} if name == "optimal" else {"budget_seconds": budget}
            found = make_algorithm(name, **given).solve(problem, SILENT)
            spent = time.process_time() - begun
            losses = release_losses(eight, found.recoding, problem.weights)
            print(
                f"{limit:>6.0%} {name:<16} {losses['loss']:>7.4f} {losses['discernibility']:>15,.0f} "
                f"{found.recoding.classes.count:>8,} {spent:>8.1f}"
            )


if __name__ == "__main__":
    main()
