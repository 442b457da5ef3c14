"""The checked trees of both papers: `figures/numeric_fixtures.json`, computed by independent implementations."""

from __future__ import annotations

from typing import Any

import pytest

from kanopy.hierarchy.builders.bins import EqualWidth, Widths
from kanopy.hierarchy.builders.cardinality import Cbgh, Han
from kanopy.hierarchy.builders.divisors import Cgh, Dbgh
from kanopy.hierarchy.builders.on_the_fly import Iotf, Otf
from kanopy.hierarchy.builders.relaxation import Chu
from kanopy.hierarchy.hierarchy import Hierarchy
from tests.shared_input import figures


@pytest.fixture(scope="module")
def oracle() -> dict[str, Any]:
    return figures("numeric_fixtures")


def inner(h: Hierarchy) -> list[list[int]]:
    """The intervals of the inner nodes in the order they were made."""
    return [[int(h.low[node]), int(h.high[node])] for node in range(h.size, h.node_count)]


def merges(h: Hierarchy) -> list[dict[str, list[int]]]:
    span = [[int(a), int(b)] for a, b in zip(h.low, h.high, strict=True)]
    found = []
    for node in range(h.size, h.node_count):
        left, right = sorted(h.children(node), key=lambda child: span[child])
        found.append({"left": span[left], "right": span[right], "node": span[node]})
    return found


def without_keys(expected: list[dict[str, Any]]) -> list[dict[str, list[int]]]:
    return [{part: entry[part] for part in ("left", "right", "node")} for entry in expected]


def counted(counts: dict[str, int]) -> tuple[list[int], list[int]]:
    return [int(value) for value in counts], list(counts.values())


def lists(levels: list[list[tuple[float, float]]]) -> list[list[list[float]]]:
    return [[list(interval) for interval in level] for level in levels]


def test_on_the_fly_merges(oracle):
    values, counts = oracle["list"], oracle["otf_list_counts"]
    assert merges(Iotf().build(range(1, 17))) == without_keys(oracle["iotf_edu_1_16"])
    assert merges(Iotf().build(values)) == without_keys(oracle["iotf_list"])
    assert merges(Otf().build(values)) == without_keys(oracle["otf_list_unit_counts"])
    assert merges(Otf(linkage="centroid").build(values, counts)) == without_keys(oracle["otf_list_unit_counts"])
    assert merges(Otf().build(values, counts)) == without_keys(oracle["otf_list_weighted"])
    assert merges(Otf(linkage="single").build(values, counts)) == without_keys(oracle["otf_list_single"])
    assert merges(Otf(linkage="midpoint").build(values, counts)) == without_keys(oracle["otf_list_midpoint"])


def test_chu(oracle):
    values, counts = oracle["list"], oracle["otf_list_counts"]
    assert inner(Chu().build(values)) == oracle["chu_list_unit"]
    assert inner(Chu().build(values, counts)) == oracle["chu_list_counts"]
    assert inner(Chu().build(range(1, 17))) == oracle["chu_edu_uniform"]


@pytest.mark.parametrize(("setting", "builder"), [("OTF", Otf()), ("Chu", Chu()), ("Han", Han()), ("IOTF", Iotf())])
def test_adult_education(oracle, setting, builder):
    assert inner(builder.build(*counted(oracle["edu_counts"]))) == oracle[f"adult_edu_{setting}"]


def test_adult_education_predefined(oracle):
    h = Widths(widths=(4,), start=1).build(*counted(oracle["edu_counts"]))
    assert inner(h) == oracle["adult_edu_Predefined"]


def test_adult_age_and_hours_iotf(oracle):
    for column in ("age", "hours"):
        assert inner(Iotf().build(*counted(oracle[f"adult_{column}_counts"]))) == oracle[f"adult_{column}_IOTF"]


@pytest.mark.parametrize(("setting", "builder"), [("IOTF", Iotf()), ("OTF", Otf()), ("Chu", Chu()), ("Han", Han())])
def test_heights(oracle, setting, builder):
    columns = [oracle["adult_age_counts"], oracle["edu_counts"], oracle["adult_hours_counts"]]
    assert [builder.build(*counted(column)).height for column in columns] == oracle[f"heights_{setting}"]


def test_heights_predefined(oracle):
    ours = [
        Widths().build(*counted(oracle["adult_age_counts"])).height,
        Widths(widths=(4,), start=1).build(*counted(oracle["edu_counts"])).height,
        Widths().build(*counted(oracle["adult_hours_counts"])).height,
    ]
    assert ours == oracle["heights_Predefined"]


@pytest.mark.parametrize(
    ("name", "builder", "values"),
    [
        ("CGH_1_100_min10", Cgh(min_width=10), range(1, 101)),
        ("CGH_17_90_min9", Cgh(min_width=9), range(17, 91)),
        ("CGH_1_16_min2", Cgh(min_width=2), range(1, 17)),
        ("DBGH_1_100_min10", Dbgh(min_width=10, chain=False), range(1, 101)),
        ("DBGH_17_90_min10", Dbgh(min_width=10, chain=False), range(17, 91)),
        ("DBGH_1_16_min2", Dbgh(min_width=2, chain=False), range(1, 17)),
        ("DBGH_1_16_min2", Dbgh(min_width=2), range(1, 17)),
        ("DBGH_max99_min10", Dbgh(min_width=10, chain=False), range(1, 100)),
        ("DBGH_max99_min10", Dbgh(min_width=10), range(1, 100)),
        ("CBGH_synthetic_uniform_1_100_w10", Cbgh(leaf_width=10), range(1, 101)),
        ("equal_width_17_90_fan2_depth3", EqualWidth(depth=3), range(17, 91)),
        ("equal_width_1_16_fan4_depth2", EqualWidth(fan_out=4, depth=2), range(1, 17)),
    ],
)
def test_ranges(oracle, name, builder, values):
    assert lists(builder.intervals(values)) == oracle[name]
    # Two values are enough: intervals that hold none are still levels of the range.
    if "CBGH" not in name:
        assert lists(builder.intervals([min(values), max(values)])) == oracle[name]
    h = builder.build(values)
    shape = [[list(interval) for interval in h.intervals_at(level)] for level in range(h.height + 1)]
    assert shape == oracle[name] or shape[1:] == oracle[name]


def test_a_prime_upper_end(oracle):
    assert [len(level) for level in Dbgh(chain=False).intervals(range(1, 98))] == oracle["DBGH_max97_prime"]


@pytest.mark.parametrize(
    ("name", "width", "column"),
    [
        ("CBGH_hours_w10", 10, "adult_hours_counts"),
        ("CBGH_age_w10", 10, "adult_age_counts"),
        ("CBGH_age_w2", 2, "adult_age_counts"),
        ("CBGH_hours_w2", 2, "adult_hours_counts"),
    ],
)
def test_cbgh_on_adult(oracle, name, width, column):
    values, counts = counted(oracle[column])
    assert lists(Cbgh(leaf_width=width).intervals(values, counts)) == oracle[name]["levels"]
    h = Cbgh(leaf_width=width).build(values, counts)
    assert [[list(x) for x in h.intervals_at(level)] for level in range(1, h.height + 1)] == oracle[name]["levels"]


def test_the_facts_of_the_papers_in_short():
    """IOTF on 1…16 is a perfect binary tree; IOTF and OTF differ on [0, 2, 4, 7] and on [0, 3, 5, 7]."""
    assert inner(Iotf().build(range(1, 17)))[-3:] == [[1, 8], [9, 16], [1, 16]]
    assert [4, 7] in inner(Iotf().build([0, 2, 4, 7]))
    assert [0, 4] in inner(Otf().build([0, 2, 4, 7]))
    counts = [1, 9, 1, 1]
    assert inner(Iotf().build([0, 3, 5, 7], counts)) != inner(Otf().build([0, 3, 5, 7], counts))
