"""One contract for every builder of hierarchies.

Whoever adds a builder adds its name to `BUILDERS`; this file then tests it without being touched (parameters that a
builder cannot do without stand in `tests/quick.py`).
"""

from __future__ import annotations

import datetime as dt
from typing import Any

import numpy as np
import pytest

import kanopy
from kanopy._errors import HierarchyError
from kanopy.hierarchy.builders.registry import BUILDERS, build_hierarchy, make_builder
from kanopy.hierarchy.files.json_format import hierarchy_json, parse_json
from kanopy.hierarchy.hierarchy import Hierarchy
from tests.quick import BUILDER_NEEDS

DAY = dt.date(2001, 1, 1)
COLUMNS: dict[str, list[Any]] = {
    "integer": [17, 18, 19, 22, 25, 31, 40, 44, 58, 63, 71, 90],
    "real": [1.5, 2.25, 2.75, 3.5, 8.125, 9.5, 12.25, 13.5, 17.25, 21.5, 30.5, 41.75],
    "date": [DAY + dt.timedelta(days=97 * i) for i in range(12)],
    "text": ["cat", "dog", "horse", "cow", "eagle", "parrot", "snake", "lizard", "frog", "salmon", "trout", "shark"],
}
"""A column of each kind; words that the bundled ontology knows."""

every = pytest.mark.parametrize("name", list(BUILDERS))
CASES = [(name, kind) for name, builder in BUILDERS.items() for kind in COLUMNS if kind in builder.fits]
each_kind = pytest.mark.parametrize(("name", "kind"), CASES)


def needs(name: str, kind: str) -> dict[str, Any]:
    """The parameters that a builder cannot do without on a kind of column."""
    return BUILDER_NEEDS.get((name, kind), BUILDER_NEEDS.get((name, ""), {}))


def build(name: str, values: list[Any], kind: str = "", **more: Any) -> Hierarchy:
    """A hierarchy by a builder with the parameters it needs."""
    return build_hierarchy(values, name, **needs(name, kind), **more)


@every
def test_it_says_what_it_is_and_fits_something(name: str) -> None:
    builder = BUILDERS[name]
    assert builder.method == name and len(builder.summary) > 15
    assert len(" ".join((builder.__doc__ or "").split())) > 60
    assert [kind for found, kind in CASES if found == name], "no column of the suite fits it"


@each_kind
def test_every_value_is_a_leaf_and_every_level_covers_it(name: str, kind: str) -> None:
    values = COLUMNS[kind]
    tree = build(name, values, kind)
    assert set(tree.values) >= {str(value) for value in values}, "a group may name more values"
    assert tree.nested
    assert tree.rooted().level(tree.rooted().height).size == 1
    assert tree.level_sizes == sorted(tree.level_sizes, reverse=True)
    if tree.low is not None and tree.high is not None:
        for level in range(tree.height + 1):
            nodes = tree.table[level]
            assert (tree.low[nodes] <= tree.low[: tree.size]).all()
            assert (tree.high[nodes] >= tree.high[: tree.size]).all()


@each_kind
def test_neither_order_nor_the_way_of_counting_matters(name: str, kind: str) -> None:
    values = COLUMNS[kind]
    counts = [1 + i % 3 for i in range(len(values))]
    repeated = [value for value, count in zip(values, counts, strict=True) for _ in range(count)]
    np.random.default_rng(5).shuffle(repeated)
    counted = build(name, values, kind, counts=counts)
    assert build(name, repeated, kind).same_as(counted)
    assert build(name, [None, *repeated], kind).same_as(counted), "missing values are no part of a hierarchy"


@each_kind
def test_files_keep_it(name: str, kind: str) -> None:
    tree = build(name, COLUMNS[kind], kind)
    assert parse_json(hierarchy_json(tree), "a test").same_as(tree)


@each_kind
def test_a_release_with_it_is_safe(name: str, kind: str) -> None:
    method = {"method": name, **needs(name, kind)}
    job = kanopy.Job(quasi=["x"], k=3, hierarchies={"x": method})
    result = kanopy.anonymize({"x": COLUMNS[kind] * 2}, job)
    assert result.verification.smallest_class >= 3


@every
def test_what_it_cannot_use_is_refused(name: str) -> None:
    with pytest.raises(HierarchyError, match="no parameter 'colour'"):
        make_builder(name, **needs(name, ""), colour="green")
    with pytest.raises(HierarchyError, match="no values"):
        build(name, [None, None])
