"""Class-size risks of a million rows, population models, sets of columns, and record linkage.

    python benchmarks/risk.py [rows]

The peer is Polars' own grouping by the same columns (and pycanon's k-anonymity, where it is installed).
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl

from kanopy._table.grouping import code_columns, number_rows
from kanopy.metrics.risk.class_sizes import risk
from kanopy.metrics.risk.identifying import identifying_columns
from kanopy.metrics.risk.linkage import attack
from kanopy.metrics.risk.population import population_uniques
from kanopy.study.check import check
from kanopy.study.risk_study import assess_risk
from kanopy.study.utility_study import assess

SIZES = (2, 74, 5, 7, 16, 41, 8, 14)
"""Values per column, as in the eight quasi-identifiers of Adult."""


def people(rows: int, *, text: bool) -> pl.DataFrame:
    """Skewed random columns; all but the second as text if asked for."""
    random = np.random.default_rng(0)
    frame = pl.DataFrame(
        {
            f"c{j}": (random.integers(0, size, rows) * random.random(rows) ** 2).astype(int)
            for j, size in enumerate(SIZES)
        }
    )
    if not text:
        return frame
    return frame.with_columns(
        [pl.format("value {}", pl.col(name)).alias(name) for j, name in enumerate(frame.columns) if j != 1]
    )


def best(work: Callable[[], Any], times: int = 3) -> float:
    """The shortest of a few runs."""
    spent = []
    for _ in range(times):
        begun = time.perf_counter()
        work()
        spent.append(time.perf_counter() - begun)
    return min(spent)


def main() -> None:
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    lines: list[tuple[str, float, str, float | None]] = []
    for text in (False, True):
        frame = people(rows, text=text)
        names = frame.columns
        kind = "text" if text else "numbers"
        peer = best(lambda frame=frame, names=names: frame.group_by(names).len())  # type: ignore[misc]
        lines.append(
            (f"k alone, {kind}", best(lambda f=frame, n=names: number_rows(f, n).sizes.min()), "group_by", peer)
        )  # type: ignore[misc]
        lines.append(
            (
                f"class-size risks, {kind}",
                best(lambda f=frame, n=names: risk(number_rows(f, n).sizes)),
                "group_by",
                peer,
            )
        )  # type: ignore[misc]
        whole = best(lambda f=frame, n=names: assess_risk(f, quasi=n, largest_subset=0, sampling_fraction=0.01))  # type: ignore[misc]
        lines.append((f"assess_risk with population models, {kind}", whole, "group_by", peer))
        lines.append((f"check, {kind}", best(lambda f=frame, n=names: check(f, quasi=n)), "group_by", peer))  # type: ignore[misc]
    sizes = number_rows(frame, names).sizes
    lines.append(("Pitman, Zayatz, SNB", best(lambda: population_uniques(sizes, rows * 100)), "", None))
    coded = code_columns(frame, names)
    subsets = best(
        lambda: identifying_columns(names, [c.codes for c in coded], [c.size for c in coded], largest=3), times=2
    )
    lines.append(("every set of up to 3 of 8 columns", subsets, "", None))
    small = people(100_000, text=True)
    noise = np.random.default_rng(1).integers(-3, 4, small.height)
    noisy = small.with_columns((pl.col("c1") + pl.Series(noise)).clip(0, 73))
    from kanopy.study.utility_study import match_tables

    matched = match_tables(small, noisy, quasi=small.columns)
    columns = [matched.columns[name] for name in small.columns]
    for kind in ("exact", "nearest"):
        attack(columns, matched.partner, kind=kind, most_attempts=10)  # compiles
        took = best(lambda kind=kind: attack(columns, matched.partner, kind=kind), times=1)  # type: ignore[misc]
        lines.append((f"{kind} linkage, 100,000 against 100,000", took, "", None))
    lines.append(
        ("assess, 100,000 rows, no learners", best(lambda: assess(small, noisy, learn=False), times=1), "", None)
    )
    try:
        from pycanon import anonymity

        data = people(rows, text=False).to_pandas()
        lines.append(
            ("k by pycanon, numbers", best(lambda: anonymity.k_anonymity(data, list(data.columns)), 1), "", None)
        )
    except ImportError:
        pass
    print(f"{rows:,} rows, {len(SIZES)} quasi-identifiers, {len(sizes):,} classes")
    for what, spent, peer_name, peer_time in lines:
        beside = f"  {peer_name} {peer_time:6.3f} s  ×{spent / peer_time:.2f}" if peer_time else ""
        print(f"{what:<46} {spent:7.3f} s{beside}")


if __name__ == "__main__":
    main()
