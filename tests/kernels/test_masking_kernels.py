"""Fusion, its improvement, linkage and Ward clustering agree with their definitions, ties and all."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from kanopy.masking.algorithms.fusion import final_targets
from kanopy.masking.algorithms.fusion_kernel import FUSIONS, FusionRules, begin_fusion, fuse
from kanopy.masking.algorithms.refinement import refine, transposed
from kanopy.masking.algorithms.refinement_kernel import (
    close_groups,
    open_groups,
    published_likeness,
    reassign,
    recenter,
)
from kanopy.masking.likeness_kernel import MISSING_NUMBER, NUMBER, TICKS, Likeness, linkage, matrix, plain_row
from tests.kernels import masking_definitions
from tests.kernels.masking_definitions import loads

NOTHING_SEEN = np.zeros(0, np.int64)


@st.composite
def likenesses(draw: st.DrawFn) -> tuple[Likeness, Any]:
    """A few tuples over a table with many ties, codes beyond it, and perhaps a number; with counts."""
    size, attributes, tuples = draw(st.integers(1, 5)), draw(st.integers(1, 3)), draw(st.integers(1, 14))
    rng = np.random.default_rng(draw(st.integers(0, 10_000)))
    levels = draw(st.sampled_from([2, 3, 1000]))
    table = rng.integers(0, levels + 1, (size, size)) / levels
    if draw(st.booleans()):
        table = np.maximum(table, table.T)
    np.fill_diagonal(table, 1.0)
    kinds = rng.integers(0, 3, attributes)
    codes = rng.integers(0, size + 2, (attributes, tuples)).astype(np.int32)
    numbers = rng.choice([0.0, 0.25, 0.5, 1.0, MISSING_NUMBER], (attributes, tuples))
    weights = rng.integers(1, 4, attributes).astype(float)
    start = np.where(kinds == 2, NUMBER, 0).astype(np.int64)
    sizes = np.where(kinds == 2, 0, size).astype(np.int64)
    like = Likeness(codes, numbers, start, sizes, table.astype(np.float32).reshape(-1), weights / weights.sum())
    return like, rng.integers(1, 6, tuples).astype(np.int64)


def fused(like: Likeness, counts: Any, rules: FusionRules, seen: Any, step: Any, budget: int) -> Any:
    priority = np.random.default_rng(1).permutation(len(counts))
    state = begin_fusion(like, counts, seen, priority)
    while not step(like, state, rules, budget):
        pass
    return state.into.tolist(), state.sizes.tolist(), int(state.numbers[FUSIONS])


@settings(max_examples=150, deadline=None)
@given(likenesses(), st.integers(1, 12), st.booleans(), st.booleans(), st.integers(1, 30))
def test_fusion_is_the_plain_algorithm(given_: Any, k: int, first: bool, third: bool, budget: int) -> None:
    like, counts = given_
    rules = FusionRules(k, first, third, NOTHING_SEEN)
    seen = np.zeros((len(counts), 0, 1), np.int32)
    expected = fused(like, counts, rules, seen, masking_definitions.fuse, budget)
    for loop in (fuse, fuse.plain):  # type: ignore[attr-defined]
        assert fused(like, counts, rules, seen, loop, budget) == expected


@settings(max_examples=60, deadline=None)
@given(likenesses(), st.integers(1, 6), st.integers(1, 3), st.integers(0, 99))
def test_fusion_with_confidential_values_is_the_plain_algorithm(given_: Any, k: int, need: int, seed: int) -> None:
    like, counts = given_
    rng = np.random.default_rng(seed)
    seen = np.full((len(counts), 1, need), -1, np.int32)
    for group in range(len(counts)):
        own = rng.permutation(4)[: rng.integers(1, need + 1)]
        seen[group, 0, : len(own)] = own
    rules = FusionRules(k, True, True, np.array([need], np.int64))
    into, sizes, _ = fused(like, counts, rules, seen, fuse, 10**6)
    assert (into, sizes) == fused(like, counts, rules, seen, masking_definitions.fuse, 10**6)[:2]


@settings(max_examples=100, deadline=None)
@given(likenesses(), st.integers(1, 8))
def test_improvement_agrees_with_its_definition_and_never_loses(given_: Any, k: int) -> None:
    like, counts = given_
    seen = np.zeros((len(counts), 0, 1), np.int32)
    into, *_ = fused(like, counts, FusionRules(k, True, True, NOTHING_SEEN), seen, fuse, 10**6)
    start = final_targets(np.array(into))
    for step, extra in ((reassign, (k,)), (recenter, ()), (close_groups, ())):
        outcomes = []
        for run in (step, step.plain, getattr(masking_definitions, step.__name__)):
            own = start.copy()
            outcomes.append((run(like, counts, own, *extra), own.tolist()))
        assert outcomes[0] == outcomes[1] == outcomes[2]
    outcomes = []
    toward = transposed(like)
    for step in (open_groups, open_groups.plain, masking_definitions.open_groups):
        own = start.copy()
        now, load = published_likeness(like, own), loads(counts, own)
        gain = step(toward, counts, own, now, load, k, 0, len(counts))
        outcomes.append((gain, own.tolist(), now.tolist(), load.tolist()))
        assert now.tolist() == masking_definitions.published_likeness(like, own).tolist()
        assert load.tolist() == loads(counts, own).tolist()
    assert outcomes[0] == outcomes[1] == outcomes[2]
    better = refine(like, counts, start, k, symmetric=False)
    assert (counts * published_likeness(like, better)).sum() >= (counts * published_likeness(like, start)).sum()
    load = loads(counts, better)
    assert (better[better] == better).all()
    assert counts.sum() < k or load[load > 0].min() >= k


@settings(max_examples=60, deadline=None)
@given(likenesses(), st.integers(0, 99))
def test_matrix_pairs_and_linkage_agree_with_their_definitions(given_: Any, seed: int) -> None:
    like, counts = given_
    rng = np.random.default_rng(seed)
    everything = matrix(like)
    for run in (matrix.plain, masking_definitions.matrix):  # type: ignore[attr-defined]
        assert everything.tolist() == run(like).tolist()
    everyone, others = np.arange(len(counts)), rng.integers(0, len(counts), len(counts))
    expected = np.where(everyone == others, TICKS, everything[everyone, others])
    for run in (published_likeness, published_likeness.plain, masking_definitions.published_likeness):
        assert run(like, others).tolist() == expected.tolist()
    originals = max(1, len(counts) - 2)
    origin = rng.integers(0, originals, 9)
    shown = rng.integers(0, len(counts), 9)
    people = counts[:originals]
    expected = masking_definitions.linkage(like, people, origin, shown)
    for run in (linkage, linkage.plain):  # type: ignore[attr-defined]
        assert run(like, people, origin, shown).tolist() == expected.tolist()


def test_a_class_of_its_own_and_missing_numbers_are_like_nothing_else() -> None:
    table = np.eye(2, dtype=np.float32).reshape(-1)
    codes = np.array([[0, 5, 5, 6], [0, 0, 0, 0]], np.int32)
    numbers = np.array([[0, 0, 0, 0], [0.0, MISSING_NUMBER, MISSING_NUMBER, 1.0]])
    like = Likeness(codes, numbers, np.array([0, NUMBER]), np.array([2, 0]), table, np.array([0.5, 0.5]))
    assert (plain_row(like, 1, np.arange(4)) / TICKS).tolist() == [0.0, 1.0, 1.0, 0.0]
