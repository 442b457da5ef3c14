"""Compiled loops of local recoding against their plain twins."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kanopy.classes import Domain
from kanopy.kernels.agglomerate import agglomerate
from kanopy.kernels.anneal import LOGS, anneal
from kanopy.kernels.neighbours import look_around
from kanopy.kernels.partition import make_partition
from kanopy.kernels.reopen import dissolve, make_journal, reopen
from kanopy.kernels.resplit import resplit
from kanopy.kernels.widen import widen
from kanopy.privacy.models import KAnonymity
from kanopy.progress import SILENT
from kanopy.search.best import _bottom_up, _partition
from kanopy.search.boxes import Layout, box_levels, lay_out
from kanopy.search.problem import Problem
from tests.search.problems import domains


def both(kernel: Any) -> tuple[Any, Any]:
    return kernel, kernel.plain


def layout_of(domain: Domain) -> Layout:
    return lay_out(Problem(domain, [KAnonymity(2)]))


@settings(max_examples=30, deadline=None)
@given(domains(most_attributes=3), st.integers(2, 4))
def test_agglomerate_merges_like_the_definition(domain: Domain, k: int) -> None:
    layout = layout_of(domain)
    generator = np.random.default_rng(1)
    # Random weights, rising with the level, so that there are no ties between pairs.
    weights = layout.boxes.weights.copy()
    for size, levels, at, _ in layout.boxes.head.tolist():
        for level in range(levels):
            row = slice(at + level * size, at + (level + 1) * size)
            by_code = generator.random(size) * 1e-3
            weights[row] += level + by_code[layout.boxes.codes[row]]
    boxes = layout.boxes._replace(weights=weights)
    order, starts = np.arange(layout.records), np.array([0, layout.records])
    results = []
    for run in both(agglomerate):
        owner = np.full(layout.records, -1, np.int32)
        run(boxes, order, starts, layout.counts, k, 0, 1, owner)
        sizes = np.bincount(owner, weights=layout.counts)
        assert (sizes[sizes > 0] >= k).all() or len(set(owner.tolist())) == 1
        results.append([frozenset(np.flatnonzero(owner == o).tolist()) for o in np.unique(owner)])
    assert set(results[0]) == set(results[1])


@settings(max_examples=30, deadline=None)
@given(domains(most_attributes=3), st.integers(1, 4), st.integers(1, 6))
def test_look_around_keeps_the_nearest(domain: Domain, degree: int, window: int) -> None:
    layout = layout_of(domain)
    order = np.random.default_rng(0).permutation(layout.records)
    found = []
    for run in both(look_around):
        near, far = np.full((layout.records, degree), -1, np.int32), np.full((layout.records, degree), np.inf)
        run(layout.boxes, order, layout.stratum, window, 0, layout.records, near, far)
        found.append((near, far))
    np.testing.assert_allclose(found[0][1], found[1][1])
    np.testing.assert_array_equal(found[0][0] >= 0, found[1][0] >= 0)


@pytest.mark.parametrize("plain", [False, True])
@settings(max_examples=8, deadline=None)
@given(domains(most_attributes=3), st.integers(2, 4))
def test_changes_keep_classes_whole_and_count_their_cost(plain: bool, domain: Domain, k: int) -> None:
    if domain.counts.sum() < k:
        return
    layout = lay_out(Problem(domain, [KAnonymity(k)]))
    start = _bottom_up(layout, k, SILENT)
    part = _partition(layout, start, k)
    near, far = np.full((layout.records, 4), -1, np.int32), np.full((layout.records, 4), np.inf)
    look_around(layout.boxes, np.arange(layout.records), layout.stratum, 8, 0, layout.records, near, far)
    journal = make_journal(len(part.record), len(part.size), domain.width)
    random, stats = np.array([12345], np.uint64), np.zeros(10, np.int64)
    order, starts = np.arange(layout.records), np.array([0, layout.records])
    chunk = np.zeros(layout.records, np.int32)
    cost = float(np.dot(part.size, part.weight))
    changes = [
        (anneal, (part, near, k)),
        (reopen, (part, journal, near, k)),
        (resplit, (part, near, k, 20, 0.5)),
        (dissolve, (part, journal, near, k)),
        (widen, (part, journal, near, chunk, order, starts, 30, k)),
    ]
    for change, rest in changes:
        run: Any = change.plain if plain else change
        cost += run(layout.boxes, *rest, 0.05, 10 if plain else 40, random, LOGS, stats)
        assert cost == pytest.approx(float(np.dot(part.size, part.weight)), abs=1e-9)
        by_class = np.argsort(part.class_of, kind="stable")
        begins = np.flatnonzero(np.concatenate([[True], np.diff(part.class_of[by_class]) != 0]))
        sizes = np.diff(np.append(begins, len(by_class)))
        numbers = part.class_of[by_class[begins]]
        assert (part.class_of >= 0).all()
        assert (sizes >= k).all()
        assert (part.size[numbers] == sizes).all()
        _, weights = box_levels(layout.boxes, part.record[by_class], begins)
        # The box of a class is the smallest around its rows.
        np.testing.assert_allclose(part.weight[numbers], weights, atol=1e-12)
        np.testing.assert_allclose(float(np.dot(sizes, weights)), cost, atol=1e-9)


def test_make_partition_leaves_items_without_a_class_alone() -> None:
    from kanopy.hierarchy.hierarchy import Hierarchy

    rows = np.arange(3, dtype=np.int32)
    domain = Domain(("a",), (Hierarchy.flat(["x", "y", "z"]),), rows[:, None], np.ones(3, np.int64), rows)
    layout = layout_of(domain)
    levels = np.ones((1, 1), np.int32)
    class_of = np.array([0, -1, 0], np.int32)
    part = make_partition(layout.boxes, rows, layout.first, class_of, levels, np.ones(1), np.zeros(1, np.int32), 1)
    assert part.size[0] == 2
    assert part.class_of.tolist() == [0, -1, 0]
