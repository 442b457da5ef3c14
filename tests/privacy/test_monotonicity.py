"""Every declared monotonicity and every bound on rows that must go, hunted for counter-examples."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kanopy._core.classes import Classes, ColumnFacts
from kanopy.hierarchy.hierarchy import Hierarchy
from kanopy.privacy.models import Model, parse_model

TREE = Hierarchy.from_rows([["a", "x", "*"], ["b", "x", "*"], ["c", "y", "*"], ["d", "y", "*"]], name="s")
GUARDS = ("(missing)", "a", "x", "y")

TEXTS = [
    "k:3", "p-sensitive:s:2", "l-distinct:s:3", "l-entropy:s:1.8", "l-entropy:s:2.5", "l-recursive:s:2,2",
    "l-recursive:s:1.5,3", "l-plus:s:a=3|c=2", "l-plus:s:*=2", "t-equal:s:0.3", "t-ordered:s:0.2",
    "t-hierarchical:s:0.25", "alpha-k:s:0.6,3", "delta-disclosure:s:0.8", "delta-disclosure:s:0.8,ignored",
    "beta-basic:s:0.7", "beta-enhanced:s:0.9", "epsilon-m:s:1,2", "delta-presence:0.1,0.6", "delta-presence:0,0.4",
    "k-map:5", "risk-average:0.4", "uniqueness:0.2", "guarding:s:guard,0.5",
]  # fmt: skip


@st.composite
def parts(draw: st.DrawFn) -> Classes:
    """Two to five classes of one table: histograms, guards, and a population that holds them."""
    count = draw(st.integers(2, 5))
    cell = st.integers(0, 5)
    histogram = np.array(draw(st.lists(st.tuples(cell, cell, cell, cell), min_size=count, max_size=count)), np.int64)
    histogram[histogram.sum(axis=1) == 0, 0] = 1
    sizes = histogram.sum(axis=1)
    guards = np.zeros((count, 4), np.int64)
    guards[:, 0] = sizes
    for c in range(count):
        if draw(st.booleans()):
            guards[c, 0] -= 1
            guards[c, draw(st.integers(1, 3))] += 1
    rest = np.array(draw(st.tuples(cell, cell, cell, cell)), np.int64)
    people = sizes + np.array(draw(st.lists(st.integers(0, 12), min_size=count, max_size=count)), np.int64)
    facts = {
        "s": ColumnFacts(TREE.values, histogram.sum(axis=0) + rest, np.array([1.0, 2.0, 3.0, 5.0]), TREE),
        "guard": ColumnFacts(GUARDS, guards.sum(axis=0)),
    }
    return Classes(sizes, histograms={"s": histogram, "guard": guards}, facts=facts, population=people)


def picked(found: Classes, rows: list[int]) -> Classes:
    """Some of the classes."""
    assert found.population is not None
    return Classes(
        found.sizes[rows],
        histograms={name: table[rows] for name, table in found.histograms.items()},
        facts=found.facts,
        population=found.population[rows],
    )


def union(found: Classes) -> Classes:
    """All classes as one."""
    assert found.population is not None
    return Classes(
        np.array([found.sizes.sum()]),
        histograms={name: table.sum(axis=0, keepdims=True) for name, table in found.histograms.items()},
        facts=found.facts,
        population=np.array([found.population.sum()]),
    )


def accepts(model: Model, found: Classes) -> bool:
    return not model.violated(found).any() and model.satisfied(found, found)


@pytest.mark.parametrize("text", TEXTS)
@settings(max_examples=150, deadline=None)
@given(parts())
def test_declared_monotonicity_and_bounds(text: str, found: Classes) -> None:
    model = parse_model(text)
    whole = union(found)
    wrong = model.violated(found)
    if model.monotonic and accepts(model, found):
        assert accepts(model, whole), "a union of safe classes is unsafe"
    if model.monotonic_with_suppression and not wrong.all():
        assert not model.violated(whole)[0], "a union with a safe class is unsafe"
    # Whatever the finer classes are, the rows of those that are unsafe are suppressed.
    gone = int(found.sizes[wrong].sum())
    needed = int(np.minimum(model.must_go(whole, model.violated(whole)), whole.sizes)[0])
    assert needed <= gone, "the bound on rows that must go is too high"
    assert (found.sizes[~wrong] >= model.least_size).all(), "a safe class is smaller than the least size"


def counter_example(text: str) -> bool:
    """Whether random tables show that a model is not monotonic."""
    model = parse_model(text)
    rng = np.random.default_rng(7)
    for _ in range(3000):
        histogram = rng.integers(0, 4, (2, 4))
        histogram[histogram.sum(axis=1) == 0, 0] = 1
        sizes = histogram.sum(axis=1)
        guards = np.zeros((2, 4), np.int64)
        guards[:, 0] = sizes - 1
        guards[[0, 1], rng.integers(0, 4, 2)] += 1
        rest = rng.integers(0, 10, 4)
        facts = {
            "s": ColumnFacts(TREE.values, histogram.sum(axis=0) + rest, np.array([1.0, 2.0, 3.0, 5.0]), TREE),
            "guard": ColumnFacts(GUARDS, guards.sum(axis=0)),
        }
        found = Classes(sizes, histograms={"s": histogram, "guard": guards}, facts=facts, population=sizes)
        if accepts(model, found) and not accepts(model, union(found)):
            return True
    return False


@pytest.mark.parametrize("text", ["epsilon-m:s:1,2", "guarding:s:guard,0.5", "delta-disclosure:s:0.8,ignored"])
def test_models_that_declare_nothing_have_a_reason(text: str) -> None:
    assert not parse_model(text).monotonic
    assert counter_example(text)


@settings(max_examples=60, deadline=None)
@given(parts(), st.data())
def test_weak_monotonicity_is_not_strong(found: Classes, data: st.DataObject) -> None:
    # Closeness may break when a safe class takes in an unsafe one: that is why it does not declare it.
    model = parse_model("t-equal:s:0.3")
    assert model.monotonic and not model.monotonic_with_suppression
    order = data.draw(st.permutations(range(found.count)))
    assert model.violated(picked(found, order)).tolist() == model.violated(found)[order].tolist()
