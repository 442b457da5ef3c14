"""Compiled loops of local recoding against their plain twins."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kanopy._core.classes import Domain
from kanopy._progress import SILENT
from kanopy.privacy.models import KAnonymity
from kanopy.search.local import joins_kernel as joins_module
from kanopy.search.local.best.agglomerate_kernel import agglomerate, make_units
from kanopy.search.local.best.improvement import partition_of
from kanopy.search.local.best.initial_classes import bottom_up
from kanopy.search.local.best.moves.anneal_kernel import LOGS, anneal
from kanopy.search.local.best.moves.chains_kernel import chain, make_chains
from kanopy.search.local.best.moves.journal_kernel import make_journal
from kanopy.search.local.best.moves.reopen_kernel import dissolve, make_look, reopen
from kanopy.search.local.best.moves.resplit_kernel import resplit
from kanopy.search.local.best.moves.widen_kernel import make_lattice, widen
from kanopy.search.local.best.neighbours_kernel import look_around
from kanopy.search.local.best.partition_kernel import Partition, learn_all, make_partition
from kanopy.search.local.best.unions_kernel import cheapest_unions, rows_for
from kanopy.search.local.boxes import Layout, box_levels, lay_out
from kanopy.search.local.chunking_kernel import chunk
from kanopy.search.local.chunks import chunk_records
from kanopy.search.local.joins_kernel import Joins, climb, holds, join, joint_weight, make_joins
from kanopy.search.problem import Problem
from tests.kernels import definitions
from tests.search.problems import domains


def each(kernel: Any) -> tuple[Any, Any, Any]:
    """Compiled, uncompiled, and by definition."""
    return kernel, kernel.plain, getattr(definitions, kernel.__name__)


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
    joins = make_joins(replace(layout.boxes, weights=weights))
    order, starts = np.arange(layout.records), np.array([0, layout.records])
    units, random = make_units(layout.records, domain.width), np.ones(1, np.uint64)
    results = []
    for run in each(agglomerate):
        owner = np.full(layout.records, -1, np.int32)
        run(joins, order, starts, layout.counts, k, 0, 1, units, random, owner)
        sizes = np.bincount(owner, weights=layout.counts)
        assert (sizes[sizes > 0] >= k).all() or len(set(owner.tolist())) == 1
        results.append([frozenset(np.flatnonzero(owner == o).tolist()) for o in np.unique(owner)])
    assert set(results[0]) == set(results[1]) == set(results[2])


@pytest.mark.parametrize("largest", [0, 1_000_000])
@settings(max_examples=30, deadline=None)
@given(domain=domains(most_attributes=3))
def test_boxes_join_like_levels(largest: int, domain: Domain) -> None:
    layout = layout_of(domain)
    before, joins_module.LARGEST_TABLE = joins_module.LARGEST_TABLE, largest
    try:
        joins = make_joins(layout.boxes)
    finally:
        joins_module.LARGEST_TABLE = before
    assert (joins.head[:, joins_module.TABLE] >= 0).all() == (largest > 0)
    generator = np.random.default_rng(3)
    box = np.zeros((1, domain.width), np.int32)
    for _ in range(10):
        members = generator.integers(0, layout.records, 3)
        _, weight = box_levels(layout.boxes, members, np.zeros(1, np.int64))
        pair = box_levels(layout.boxes, members[:2], np.zeros(1, np.int64))[1]
        assert join(joins, joins.cells, members[0], joins.cells, members[1], box, 0) == pytest.approx(pair[0])
        assert joint_weight(joins, box, 0, joins.cells, members[2]) == pytest.approx(weight[0])
        assert holds(joins, box, 0, joins.cells, members[1])
        inside = box_levels(layout.boxes, members, np.zeros(1, np.int64))[0].tolist()
        of_two = box_levels(layout.boxes, members[:2], np.zeros(1, np.int64))[0].tolist()
        assert holds(joins, box, 0, joins.cells, members[2]) == (inside == of_two)
        for j in range(domain.width):
            assert climb(joins, j, box[0, j], joins.cells[members[0], j]) == box[0, j]


@settings(max_examples=30, deadline=None)
@given(domains(most_attributes=3), st.integers(1, 4), st.integers(1, 6))
def test_look_around_keeps_the_nearest(domain: Domain, degree: int, window: int) -> None:
    layout = layout_of(domain)
    order = np.random.default_rng(0).permutation(layout.records)
    found = []
    for run in each(look_around):
        near, far = np.full((layout.records, degree), -1, np.int32), np.full((layout.records, degree), np.inf)
        run(layout.joins, order, layout.stratum, window, 0, layout.records, near, far)
        found.append((near, far))
    np.testing.assert_array_equal(found[0][0], found[1][0])
    np.testing.assert_allclose(found[0][1], found[2][1])
    np.testing.assert_array_equal(found[0][0] >= 0, found[2][0] >= 0)


def check_partition(layout: Layout, part: Partition, k: int) -> float:
    """Recompute sizes and boxes from the classes of the rows alone; returns the cost."""
    by_class = np.argsort(part.class_of, kind="stable")
    begins = np.flatnonzero(np.concatenate([[True], np.diff(part.class_of[by_class]) != 0]))
    sizes = np.diff(np.append(begins, len(by_class)))
    numbers = part.class_of[by_class[begins]]
    assert (part.class_of >= 0).all()
    assert (sizes >= k).all()
    assert (part.size[numbers] == sizes).all()
    assert part.size.sum() == len(part.record)
    levels, weights = box_levels(layout.boxes, part.record[by_class], begins)
    # The box of a class is the smallest around its rows.
    np.testing.assert_allclose(part.weight[numbers], weights, atol=1e-12)
    for i, c in enumerate(numbers):
        for j, at in enumerate(layout.joins.head[:, joins_module.OWN]):
            assert layout.joins.level[at + part.box[c, j]] == levels[i, j]
        members = set()
        item = part.head[c]
        while item >= 0:
            members.add(int(item))
            item = part.after[item]
        assert members == set(np.flatnonzero(part.class_of == c).tolist())
    unused = set(part.free[: part.state[0]].tolist())
    assert unused == set(range(len(part.size))) - set(numbers.tolist())
    return float(np.dot(sizes, weights))


def check_known(layout: Layout, part: Partition) -> None:
    """Classes that claim to know their boxes without each row are right."""
    for c in np.flatnonzero((part.known > 0) & (part.size > 1)):
        members = np.flatnonzero(part.class_of == c)
        for item in members:
            rest = part.record[members[members != item]]
            _, weight = box_levels(layout.boxes, rest, np.zeros(1, np.int64))
            assert part.lean_weight[item] == pytest.approx(weight[0], abs=1e-12)


class Changes:
    """A small partition and all kinds of change with the room they need."""

    def __init__(self, domain: Domain, k: int) -> None:
        self.layout = lay_out(Problem(domain, [KAnonymity(k)]))
        layout = self.layout
        self.part = partition_of(layout, bottom_up(layout, k, SILENT), k)
        near, far = np.full((layout.records, 4), -1, np.int32), np.full((layout.records, 4), np.inf)
        look_around(layout.joins, np.arange(layout.records), layout.stratum, 8, 0, layout.records, near, far)
        items, classes, width = len(self.part.record), len(self.part.size), domain.width
        journal = make_journal(items, classes, width)
        self.random, self.stats = np.array([12345], np.uint64), np.zeros(12, np.int64)
        order, starts = np.arange(layout.records), np.array([0, layout.records])
        chunk_of = np.zeros(layout.records, np.int32)
        lattice = make_lattice(layout.boxes, 30, items, classes)
        look = make_look(4, width, int(layout.boxes.head[:, 1].max()))
        units, pool = make_units(20, width), np.zeros((2, 20), np.int32)
        boxes, joins, part = layout.boxes, layout.joins, self.part
        self.kinds: list[tuple[Any, tuple[Any, ...]]] = [
            (anneal, (joins, part, near, k)),
            (reopen, (joins, part, journal, look, near, k)),
            (resplit, (joins, part, near, units, pool, k, 0.5)),
            (dissolve, (joins, part, journal, near, k)),
            (widen, (boxes, joins, part, journal, lattice, near, chunk_of, order, starts, k)),
            (anneal, (joins, part, near, k)),
        ]
        self.chains = make_chains(classes)

    def run(self, kind: int, plain: bool, heat: float, steps: int) -> float:
        function, room = self.kinds[kind]
        run = function.plain if plain else function
        return float(run(*room, heat, steps, self.random, LOGS, self.stats))


@settings(max_examples=25, deadline=None)
@given(domains(most_attributes=3), st.integers(2, 4), st.sampled_from([0.0, 0.05, 1.0]))
def test_changes_keep_classes_whole_and_count_their_cost(domain: Domain, k: int, heat: float) -> None:
    if domain.counts.sum() < k:
        return
    changes = Changes(domain, k)
    cost = check_partition(changes.layout, changes.part, k)
    for kind in range(len(changes.kinds)):
        change = changes.run(kind, False, heat, 40)
        assert heat > 0 or change <= 1e-12
        cost += change
        assert cost == pytest.approx(check_partition(changes.layout, changes.part, k), abs=1e-9)
        check_known(changes.layout, changes.part)
    change = chain(changes.layout.joins, changes.part, changes.chains, k)
    assert change <= 1e-12
    assert cost + change == pytest.approx(check_partition(changes.layout, changes.part, k), abs=1e-9)
    learn_all(changes.layout.joins, changes.part)
    check_known(changes.layout, changes.part)


@settings(max_examples=6, deadline=None)
@given(domains(most_attributes=3), st.integers(2, 4))
def test_changes_do_the_same_compiled_and_plain(domain: Domain, k: int) -> None:
    if domain.counts.sum() < k:
        return
    compiled, plain = Changes(domain, k), Changes(domain, k)
    for kind in range(len(compiled.kinds)):
        assert compiled.run(kind, False, 0.05, 10) == pytest.approx(plain.run(kind, True, 0.05, 10), abs=1e-9)
        np.testing.assert_array_equal(compiled.part.class_of, plain.part.class_of)
    one = chain(compiled.layout.joins, compiled.part, compiled.chains, k)
    two = chain.plain(plain.layout.joins, plain.part, plain.chains, k)  # type: ignore[attr-defined]
    assert one == pytest.approx(two, abs=1e-9)
    np.testing.assert_array_equal(compiled.part.class_of, plain.part.class_of)


def test_a_chain_reaches_what_no_single_move_does() -> None:
    """A spare row of the dear class goes over a full one, whose row goes on to the cheap one."""
    from kanopy.hierarchy.hierarchy import Hierarchy

    h = Hierarchy.from_rows([[f"v{i}", f"p{i // 2}", f"q{i // 4}", "*"] for i in range(8)])
    values = np.array([7, 0, 2, 3, 0, 2, 0, 1], np.int32)
    tuples, inverse, counts = np.unique(values[:, None], axis=0, return_inverse=True, return_counts=True)
    domain = Domain(
        ("a",), (h,), tuples.astype(np.int32), counts.astype(np.int64), inverse.reshape(-1).astype(np.int32)
    )
    layout = lay_out(Problem(domain, [KAnonymity(2)]))
    value = layout.boxes.tuples[layout.record_of_item, 0]
    # One class of everything (three rows), one of v0 and v2 (two rows), one of v0 and v1.
    rows = {v: list(np.flatnonzero(value == v)) for v in range(5)}
    class_of = np.zeros(8, np.int32)
    class_of[[rows[0].pop(), rows[2].pop()]] = 1
    class_of[[rows[0].pop(), rows[1].pop()]] = 2
    part = partition_of(layout, class_of, 2)
    assert part.size[:3].tolist() == [4, 2, 2]
    change = chain(layout.joins, part, make_chains(len(part.size)), 2)
    assert change < 0
    check_partition(layout, part, 2)


@settings(max_examples=30, deadline=None)
@given(domains(most_attributes=3), st.integers(2, 4), st.integers(4, 20), st.booleans())
def test_chunks_hold_every_record_once_and_enough_rows(domain: Domain, k: int, rows: int, plain: bool) -> None:
    layout = layout_of(domain)
    if plain:
        import kanopy.search.local.chunks as chunks

        before, chunks.chunk = chunks.chunk, chunk.plain  # type: ignore[attr-defined]
        try:
            order, starts = chunk_records(layout, rows, k)
        finally:
            chunks.chunk = before
    else:
        order, starts = chunk_records(layout, rows, k)
    if layout.counts.sum() < k:
        assert len(order) == 0
        return
    assert sorted(order.tolist()) == list(range(layout.records))
    assert starts[0] == 0 and starts[-1] == len(order)
    sizes = np.add.reduceat(layout.counts[order], starts[:-1])
    assert (sizes >= k).all()


@settings(max_examples=30, deadline=None)
@given(domains(most_attributes=3), st.integers(1, 4), st.integers(1, 10))
def test_cheapest_unions_are_found(domain: Domain, most: int, reach: int) -> None:
    layout = layout_of(domain)
    joins: Joins = layout.joins
    generator = np.random.default_rng(5)
    size = generator.integers(1, 5, layout.records)
    weight = np.zeros(layout.records)
    asking = np.flatnonzero(generator.random(layout.records) < 0.7)
    answers = []
    for run in each(cheapest_unions):
        found, growth = rows_for(len(asking), most)
        run(joins, joins.cells, size, weight, asking, reach, 1000.0, found, growth)
        answers.append((found, growth))
    np.testing.assert_array_equal(answers[0][0], answers[1][0])
    np.testing.assert_allclose(answers[0][1], answers[2][1])
    np.testing.assert_array_equal(answers[0][0] >= 0, answers[2][0] >= 0)


def test_make_partition_leaves_items_without_a_class_alone() -> None:
    from kanopy.hierarchy.hierarchy import Hierarchy

    rows = np.arange(3, dtype=np.int32)
    domain = Domain(("a",), (Hierarchy.flat(["x", "y", "z"]),), rows[:, None], np.ones(3, np.int64), rows)
    layout = layout_of(domain)
    class_of = np.array([0, -1, 0], np.int32)
    part = make_partition(layout.joins, rows, layout.first, class_of, 1)
    assert part.size[0] == 2
    assert part.class_of.tolist() == [0, -1, 0]
