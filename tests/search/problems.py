"""Small random full-domain problems for property tests."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from kanopy._core.classes import Domain
from kanopy.hierarchy.hierarchy import Hierarchy
from kanopy.metrics.full_domain import METRICS, metric_named
from kanopy.privacy.models import KAnonymity
from kanopy.search.problem import Problem


@st.composite
def hierarchies(draw: st.DrawFn, name: str) -> Hierarchy:
    """A random nesting hierarchy of one to five values and up to four levels."""
    size = draw(st.integers(1, 5))
    rows = [[f"v{i}"] for i in range(size)]
    groups = list(range(size))
    for level in range(draw(st.integers(0, 2))):
        merged = {g: draw(st.integers(0, max(groups))) for g in sorted(set(groups))}
        groups = [merged[g] for g in groups]
        for row, group in zip(rows, groups, strict=True):
            row.append(f"l{level}g{group}")
    for row in rows:
        row.append("*")
    return Hierarchy.from_rows(rows, name=name)


@st.composite
def domains(draw: st.DrawFn, most_attributes: int = 4) -> Domain:
    """A random table of up to 40 rows, some of them suppressed from the start."""
    width = draw(st.integers(1, most_attributes))
    hs = tuple(draw(hierarchies(f"a{j}")) for j in range(width))
    rows = draw(st.integers(2, 40))
    cells = draw(st.lists(st.tuples(*(st.integers(0, h.size - 1) for h in hs)), min_size=rows, max_size=rows))
    excluded = draw(st.sampled_from([0, 0, 0, 1]))
    kept = np.array(cells[excluded:], np.int32).reshape(-1, width)
    tuples, inverse, counts = np.unique(kept, axis=0, return_inverse=True, return_counts=True)
    of_row = np.concatenate([np.full(excluded, -1), inverse.reshape(-1)]).astype(np.int32)
    return Domain(tuple(h.name for h in hs), hs, tuples.astype(np.int32), counts.astype(np.int64), of_row)


def draw_level_limits(draw: st.DrawFn, domain: Domain) -> tuple[list[int], list[int]]:
    """Lowest and highest levels, mostly none."""
    lowest, highest = [], []
    for h in domain.hierarchies:
        low = draw(st.sampled_from([0, 0, 0, min(1, h.height)]))
        lowest.append(low)
        highest.append(draw(st.sampled_from([h.height, h.height, max(low, h.height - 1)])))
    return lowest, highest


@st.composite
def problems(draw: st.DrawFn) -> Problem:
    """A random problem: any metric, any limit, some weights and level limits."""
    domain = draw(domains())
    lowest, highest = draw_level_limits(draw, domain)
    return Problem(
        domain,
        [KAnonymity(draw(st.integers(2, 6)))],
        metric_named(draw(st.sampled_from(sorted(METRICS)))),
        weights=[draw(st.sampled_from([1.0, 1.0, 0.5, 3.0])) for _ in domain.hierarchies],
        suppression_limit=draw(st.sampled_from([0.0, 0.05, 0.2, 0.5, 1.0])),
        lowest_levels=lowest,
        highest_levels=highest,
    )


def wide(columns: int, rows: int = 300, seed: int = 0) -> Domain:
    """Correlated columns of up to nine values with two levels above them."""
    draw = np.random.default_rng(seed)
    trees = tuple(
        Hierarchy.from_rows([[f"v{v}", f"g{v // 3}", "*"] for v in range(3 + j % 7)], name=f"q{j}")
        for j in range(columns)
    )
    base = draw.random(rows)
    cells = np.column_stack([((base + draw.normal(0, 0.1, rows)) % 1 * h.size).astype(np.int32) for h in trees])
    tuples, of_row, counts = np.unique(cells, axis=0, return_inverse=True, return_counts=True)
    return Domain(tuple(h.name for h in trees), trees, tuples, counts, of_row.reshape(-1).astype(np.int32))
