"""k-member and Mondrian on Adult, beside a textbook Python version: `python benchmarks/clustering.py`."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent))

import textbook

from kanopy._core.classes import Domain
from kanopy._core.numbering import distinct_tuples
from kanopy.hierarchy.builders.on_the_fly import Iotf
from kanopy.search.clustering.kmember import k_member_clusters
from kanopy.search.clustering.mondrian import mondrian_groups
from kanopy_papers.campan2011 import ALL_K, ATTRIBUTES, SETTINGS, adult_domain

SAMPLE = 300


def best_of(run: Callable[[], Any], times: int = 3) -> tuple[float, Any]:
    """The least wall-clock time of a few runs, and the last result; a first run warms up."""
    result = run()
    spent = []
    for _ in range(times):
        begin = time.perf_counter()
        result = run()
        spent.append(time.perf_counter() - begin)
    return min(spent), result


def line(what: str, seconds: float, peer: str = "", ratio: str = "") -> None:
    print(f"{what:<66}{seconds:>9.3f} s  {peer:<44}{ratio}")


def adult_rows(domain: Domain) -> list[tuple[int, ...]]:
    values = [h.low[domain.tuples[:, j]] for j, h in enumerate(domain.hierarchies) if h.low is not None]
    return [tuple(int(x) for x in row) for row in np.column_stack(values)[domain.tuple_of_row]]


def random_domain(rows: int, width: int) -> Domain:
    """Rows that hardly repeat: eight attributes of very different sizes."""
    random = np.random.default_rng(1)
    sizes = [74, 16, 100, 60, 5, 2, 1000, 80][:width]
    columns = [random.integers(0, size, rows).astype(np.int32) for size in sizes]
    trees = tuple(Iotf().build(np.arange(size)) for size in sizes)
    tuples, counts, of_row, _ = distinct_tuples(columns, sizes)
    return Domain(tuple("abcdefgh"[:width]), trees, tuples, counts, of_row)


def k_member_lines(domains: dict[str, Domain]) -> None:
    slowest = 0.0
    for setting, domain in domains.items():
        free = ATTRIBUTES if setting == "Free" else ()
        for k in (2, 10, 20):
            seconds, groups = best_of(lambda d=domain, k=k, f=free: k_member_clusters(d, k, free=f))
            slowest = max(slowest, seconds)
            line(f"k-member, Adult 45,222 × 3, {setting}, k = {k}", seconds, f"NTIL {float(groups.total_loss()):.5f}")
    line("  slowest of these (goal 0.5 s)", slowest)
    begin = time.perf_counter()
    for setting, domain in domains.items():
        for k in ALL_K:
            k_member_clusters(domain, k, free=ATTRIBUTES if setting == "Free" else ())
    line("campan2011 grid, 6 settings × 19 values of k (goal 60 s)", time.perf_counter() - begin)
    domain = domains["Free"]
    rows = adult_rows(domain)[:SAMPLE]
    spans = [max(r[j] for r in rows) - min(r[j] for r in rows) for j in range(3)]
    costs = [lambda v, s=span: Fraction(max(v) - min(v), s) for span in spans]
    begin = time.perf_counter()
    textbook.k_member(rows, costs, 10)
    plain = time.perf_counter() - begin
    # The textbook version asks for whole clusters in fractions each time and cannot be run on all rows: the ratio is
    # an extrapolation from a small sample, not a measurement.
    estimate = plain * (len(domain.tuple_of_row) / SAMPLE) ** 2
    seconds, _ = best_of(lambda: k_member_clusters(domain, 10, free=ATTRIBUTES))
    peer = f"textbook: {plain:.2f} s for {SAMPLE} rows, grows with n²"
    line("k-member, Adult, Free, k = 10", seconds, peer, f"  ~{estimate / seconds:,.0f} × if extrapolated")


def mondrian_lines(domains: dict[str, Domain]) -> None:
    rows = adult_rows(domains["Free"])
    for k in (5, 10, 25):
        plain, parts = best_of(lambda k=k: textbook.mondrian(rows, k), 1)
        penalty = textbook.certainty_penalty(rows, parts)
        line(f"textbook Mondrian in Python, relaxed, Adult × 3, k = {k}", plain, f"GCP {penalty:.5f}")
        for cut in ("widest", "loss"):
            for strict in (False, True):
                seconds, groups = best_of(
                    lambda k=k, c=cut, s=strict: mondrian_groups(domains["Free"], k, cut=c, strict=s, free=ATTRIBUTES)
                )
                loss = float(groups.total_loss())
                mode = "strict" if strict else "relaxed"
                peer = f"GCP {loss:.5f} ({loss / penalty - 1:+.0%} to the textbook)"
                line(f"  Mondrian, {mode}, cut by {cut}, k = {k}", seconds, peer, f"{plain / seconds:,.0f} ×")
    million = random_domain(1_000_000, 8)
    for cut in ("widest", "loss"):
        seconds, groups = best_of(lambda c=cut: mondrian_groups(million, 5, cut=c, free=tuple("abcdefgh")))
        line(f"Mondrian, relaxed, 1,000,000 × 8, cut by {cut}, k = 5", seconds, f"GCP {float(groups.total_loss()):.4f}")


def main() -> None:
    """Print the table."""
    domains = {setting: adult_domain(setting) for setting in SETTINGS}
    k_member_lines(domains)
    mondrian_lines(domains)


if __name__ == "__main__":
    main()
