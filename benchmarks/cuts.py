"""Searches over cuts and cells beside the full-domain optimum: loss and processor time.

Run `python benchmarks/cuts.py [adult|million|arx FOLDER]`. The budget of `iyengar` is measured in processor time.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import numpy as np
from local_recoding import adult_domain, arx_domain, resampled

from kanopy._core.classes import Domain
from kanopy._progress import SILENT
from kanopy.privacy.models import KAnonymity
from kanopy.search.algorithms import make_algorithm
from kanopy.search.problem import Problem

NAMES = ("optimal", "top-down-specialization", "iyengar", "cell-level")


def _line(*parts: object) -> None:
    print("  ".join(f"{part!s:>12}" for part in parts))


def _warm(domain: Domain) -> None:
    part = domain.part(np.arange(min(5000, domain.rows)))
    for name in NAMES:
        extra = {"generations": 1} if name == "iyengar" else {}
        make_algorithm(name, **extra).solve(Problem(part, [KAnonymity(2)], suppression_limit=1.0), SILENT)


def compare(domain: Domain, ks: tuple[int, ...], limits: tuple[float, ...], budget: float = 3.0) -> None:
    """One line per k and suppression limit; each algorithm with its loss and seconds."""
    _warm(domain)
    print(f"{domain.rows:,} rows, {len(domain.counts):,} distinct, {domain.width} quasi-identifiers: loss (cpu s)")
    _line("k", "suppress", *(name[:12] for name in NAMES))
    for limit in limits:
        for k in ks:
            cells = []
            for name in NAMES:
                extra = {"budget_seconds": budget} if name == "iyengar" else {}
                problem = Problem(domain, [KAnonymity(k)], suppression_limit=limit)
                begun = time.process_time()
                found = make_algorithm(name, **extra).solve(problem, SILENT)
                cells.append(f"{found.score:.4f} ({time.process_time() - begun:.2f})")
            _line(k, f"{limit:.0%}", *cells)


def main() -> None:
    """Run one part."""
    what = sys.argv[1] if len(sys.argv) > 1 else "adult"
    if what == "million":
        compare(resampled(adult_domain(), 1_000_000), (5,), (0.0, 0.05), budget=10.0)
    elif what == "arx":
        compare(arx_domain(Path(sys.argv[2])), (2, 5, 10, 100), (0.0, 0.01))
    else:
        compare(adult_domain(), (2, 5, 10, 100), (0.0, 0.01))


if __name__ == "__main__":
    main()
