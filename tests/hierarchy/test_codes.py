"""Codes, post codes and numbers with units: what the default makes of them."""

from __future__ import annotations

import polars as pl
import pytest

import kanopy
from kanopy.hierarchy.column import column_of
from kanopy.hierarchy.hierarchy import Hierarchy
from kanopy.hierarchy.suggest import choose_hierarchy
from kanopy.verify.labels import false_labels


def levels_of(tree: Hierarchy) -> list[set[str]]:
    return [set(tree.labels_at(level)) for level in range(1, tree.height + 1)]


def chosen(values: list[object], name: str = "", k: int = 2) -> Hierarchy:
    """The default hierarchy, of which every label is true."""
    tree = choose_hierarchy(column_of(values, name=name), k=k).hierarchy
    above = {row[0]: row for row in tree.rows()}
    for level in range(1, tree.height + 1):
        published = pl.Series("x", [tree.generalize(value, level) for value in tree.values])
        original = pl.Series("x", list(tree.values))
        assert false_labels(original, published, lambda value: above[value]) is None
    return tree


@pytest.mark.parametrize(
    "values",
    [["75001", "75013", "13001", "13002"], ["W1A 0AX 1", "W1A 0AX 22", "W1B 0AX 1"], [f"w{i}" for i in range(120)]],
)
def test_every_level_of_codes_joins_something(values: list[object]) -> None:
    tree = chosen(values)
    sizes = [len(tree.labels_at(level)) for level in range(tree.height + 1)]
    assert sizes == sorted(set(sizes), reverse=True)


def test_levels_that_join_nothing_stay_if_not_said_otherwise() -> None:
    codes = ["75001", "75013"]
    assert kanopy.build_hierarchy(codes, "redact").height == 5
    assert kanopy.build_hierarchy(codes, "redact", joining=True).height == 1
    assert kanopy.build_hierarchy(codes, "prefix", joining=True).height == 1
