"""How long builders take: one million distinct values for the on-the-fly trees, Adult-sized columns for the rest."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from kanopy.hierarchy.builders.base import Builder
from kanopy.hierarchy.builders.registry import BUILDERS, make_builder

REPEATS = 3
NEEDS = {"cuts": {"quantiles": 8}, "widths": {"widths": (5, 10, 20)}}


def best_of(work: Callable[[], object]) -> float:
    """The least of a few wall-clock times, after one run to warm up."""
    work()
    times = []
    for _ in range(REPEATS):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def quadratic_iotf(values: list[int]) -> int:
    """The published O(m²) algorithm, as a peer: look at every pair of neighbours in every step."""
    low, high = list(values), list(values)
    merges = 0
    while len(low) > 1:
        best = min(range(len(low) - 1), key=lambda i: high[i + 1] - low[i])
        high[best : best + 2] = [high[best + 1]]
        del low[best + 1]
        merges += 1
    return merges


def row(what: str, seconds: float, peer: str = "", ratio: str = "") -> None:
    print(f"{what:<44}{seconds:>10.3f} s  {peer:<28}{ratio:>10}")


def main() -> None:
    """Print one table."""
    rng = np.random.default_rng(7)
    print(f"{'what':<44}{'time':>12}  {'peer':<28}{'ratio':>10}")
    million = rng.choice(10**8, 10**6, replace=False)
    on_the_fly: list[tuple[str, Builder]] = [("iotf", make_builder("iotf"))]
    on_the_fly += [(f"otf {x}", make_builder("otf", linkage=x)) for x in ("weighted", "centroid", "midpoint", "single")]
    on_the_fly += [(name, make_builder(name)) for name in ("chu", "han", "k_aware", "equal_width", "cgh")]
    for name, builder in on_the_fly:
        row(f"{name}, 1,000,000 distinct integers", best_of(lambda builder=builder: builder.build(million)))
    row("iotf, 1,000,000 distinct floats", best_of(lambda: make_builder("iotf").build(rng.normal(size=10**6))))
    few = np.sort(rng.choice(10**6, 2000, replace=False))
    ours = best_of(lambda: make_builder("iotf").build(few))
    start = time.perf_counter()
    quadratic_iotf(few.tolist())
    theirs = time.perf_counter() - start
    row("iotf, 2,000 distinct integers", ours, f"quadratic: {theirs:.3f} s", f"{theirs / ours:.0f}×")
    ages = rng.integers(17, 91, 45_222)
    for name, kind in BUILDERS.items():
        if "integer" in kind.fits and name != "groups":
            builder = make_builder(name, **NEEDS.get(name, {}))
            row(f"{name}, 45,222 ages", best_of(lambda builder=builder: builder.build(ages)))


if __name__ == "__main__":
    main()
