"""The search for the nearest published groups, and the embedding of a release, against their definitions."""

from __future__ import annotations

from unittest.mock import patch

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from kanopy._arrays import Floats, Ints, Longs, Mask
from kanopy.metrics.risk import linkage, nearest_kernel
from kanopy.metrics.risk.linkage import PublishedColumn
from kanopy.metrics.risk.nearest_kernel import OUTSIDE, TABLE, TIE, Distances, Tree, nearest, search
from kanopy.metrics.utility.published_values import ColumnDomain, understand
from kanopy.study.embedding_kernel import embed


def nearest_by_definition(
    queries: Ints, true_group: Longs, groups: Ints, rows: Longs, tree: Tree, far: Distances, limit: float
) -> tuple[Floats, Longs, Mask]:
    """Every query against every group."""
    best = np.empty(len(queries))
    tied = np.zeros(len(queries), np.int64)
    hit = np.zeros(len(queries), np.bool_)
    for number, query in enumerate(queries):
        total = np.zeros(len(groups))
        for level in range(queries.shape[1]):
            codes, value, offset = groups[:, level].astype(np.int64), int(query[level]), int(far.offsets[level])
            if far.kinds[level] == TABLE:
                total += far.tables[offset + value * int(far.widths[level]) + codes]
                continue
            places = far.ends[level] + codes
            x, lowest, highest = far.points[offset + value], far.low[places], far.high[places]
            inside = (lowest <= x) & (x <= highest)
            if far.kinds[level] == OUTSIDE:
                total += np.where(inside, 0.0, 1.0)
                continue
            width = np.where(highest > lowest, highest - lowest, 1.0)
            mean = ((x - lowest) ** 2 + (highest - x) ** 2) / (2.0 * width)
            total += np.where(inside & (highest > lowest), mean, np.abs(x - (lowest + highest) / 2.0))
        smallest = float(total.min()) if len(total) else np.inf
        best[number] = smallest
        if smallest <= limit + TIE:
            near = total <= smallest + TIE
            tied[number] = int(rows[near].sum())
            hit[number] = true_group[number] >= 0 and bool(near[true_group[number]])
        else:
            best[number] = np.inf
    return best, tied, hit


def embed_by_definition(values: Ints, labels: Ints, allowed: Mask, offsets: Longs, widths: Longs) -> Longs:
    """Take the earliest place each time."""
    partner = np.full(len(values), -1, np.int64)
    places = offsets + 0
    at = 0
    for row in range(len(values)):
        if at < len(labels) and allowed[places + values[row].astype(np.int64) * widths + labels[at]].all():
            partner[row] = at
            at += 1
    return partner


def table(random: np.random.Generator, rows: int, released_rows: int) -> list[PublishedColumn]:
    """A numeric and two categorical columns, published as intervals, sets, values and `*`."""
    numbers = np.array([0.0, 1, 2, 5, 9])
    ages = ColumnDomain("age", ("0", "1", "2", "5", "9"), np.ones(5, np.int64), numbers)
    towns = ColumnDomain("town", ("a", "b", "c"), np.ones(3, np.int64))
    columns = []
    for domain, labels in (
        (ages, ["0-2", "[1, 9]", "5", "*", "3.5"]),
        (towns, ["{a, b}", "c", "*"]),
        (towns, ["a", "b", "c"]),
    ):
        values = random.integers(0, domain.size, rows).astype(np.int32)
        published = random.integers(0, len(labels), released_rows).astype(np.int32)
        columns.append(PublishedColumn(values, published, understand(labels, domain)))
    return columns


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10_000), st.sampled_from(["exact", "nearest"]), st.booleans())
def test_search_finds_what_comparing_all_finds(seed: int, kind: str, without_tables: bool) -> None:
    random = np.random.default_rng(seed)
    columns = table(random, 12, 15)
    groups, rows = np.unique(np.column_stack([c.labels for c in columns]), axis=0, return_counts=True)
    queries = np.column_stack([c.values for c in columns]).astype(np.int32)
    true = random.integers(-1, len(groups), len(queries)).astype(np.int64)
    before = linkage.LARGEST_TABLE
    linkage.LARGEST_TABLE = 0 if without_tables else before  # numbers are then compared with intervals
    try:
        distances = linkage._distances(columns, kind)
    finally:
        linkage.LARGEST_TABLE = before
    limit = 0.0 if kind == "exact" else np.inf
    arguments = (queries, true, groups, rows.astype(np.int64), linkage._tree(groups), distances, limit)
    expected = nearest_by_definition(*arguments)
    for loop in (search, search.plain):  # type: ignore[attr-defined]
        with patch.object(nearest_kernel, "search", loop):
            found = nearest(*arguments)
        for quick, slow in zip(found, expected, strict=True):
            np.testing.assert_allclose(np.nan_to_num(quick, posinf=-1), np.nan_to_num(slow, posinf=-1), atol=1e-9)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000), st.integers(0, 8))
def test_embedding_equals_its_definition_and_finds_a_subsequence(seed: int, dropped: int) -> None:
    random = np.random.default_rng(seed)
    values = random.integers(0, 3, (12, 2)).astype(np.int32)
    kept = np.sort(random.choice(12, 12 - dropped, replace=False))
    allowed = [np.eye(3, dtype=bool), np.eye(3, dtype=bool) | (random.random((3, 3)) < 0.3)]
    arguments = (
        values,
        np.ascontiguousarray(values[kept]),
        np.concatenate([each.ravel() for each in allowed]),
        np.array([0, 9]),
        np.array([3, 3]),
    )
    found = embed(*arguments)
    for run in (embed.plain, embed_by_definition):  # type: ignore[attr-defined]
        np.testing.assert_array_equal(found, run(*arguments))
    assert (found >= 0).sum() == len(kept)  # the kept rows do embed, so a place is found for each
    assert (np.diff(found[found >= 0]) == 1).all()
