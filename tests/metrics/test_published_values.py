"""Published labels of many tools, read against an original column."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kanopy._errors import DataError
from kanopy.hierarchy.hierarchy import Hierarchy
from kanopy.metrics.utility import published_values
from kanopy.metrics.utility.published_values import (
    ColumnDomain,
    Covers,
    Interval,
    parse_interval,
    parse_set,
    understand,
)

AGES = ColumnDomain("age", ("17", "20", "25", "31", "90"), np.ones(5, np.int64), np.array([17.0, 20, 25, 31, 90]))
TOWNS = ColumnDomain("town", ("Aix, en Provence", "Lyon", "Paris", "Rome"), np.ones(4, np.int64))
ZIPS = ColumnDomain("zip", ("13053", "13068", "14850"), np.ones(3, np.int64))


def members(covers: Covers) -> list[list[int]]:
    return [covers.values_of(label).tolist() for label in range(len(covers.labels))]


@pytest.mark.parametrize(
    ("text", "low", "high", "low_open", "high_open"),
    [
        ("[17-25]", 17, 25, False, False),
        ("17-25", 17, 25, False, False),
        ("17 - 25", 17, 25, False, False),
        ("[17, 25]", 17, 25, False, False),
        ("[17,25]", 17, 25, False, False),
        ("[17; 25]", 17, 25, False, False),
        ("17–25", 17, 25, False, False),
        ("17—25", 17, 25, False, False),
        ("17..25", 17, 25, False, False),
        ("17 to 25", 17, 25, False, False),
        ("[17, 25[", 17, 25, False, True),
        ("[17-25[", 17, 25, False, True),
        ("]17, 25]", 17, 25, True, False),
        ("(17.0, 25.0]", 17, 25, True, False),
        ("[17, 25)", 17, 25, False, True),
        ("(-inf, 25]", -math.inf, 25, True, False),
        ("[25, inf)", 25, math.inf, False, True),
        ("<=25", -math.inf, 25, False, False),
        ("≤ 25", -math.inf, 25, False, False),
        ("=<25", -math.inf, 25, False, False),
        ("<25", -math.inf, 25, False, True),
        (">90", 90, math.inf, True, False),
        (">= 90", 90, math.inf, False, False),
        ("≥90", 90, math.inf, False, False),
        ("90+", 90, math.inf, False, False),
        ("-5--1", -5, -1, False, False),
        ("-5 – -1", -5, -1, False, False),
        ("[-5, -1]", -5, -1, False, False),
        ("−5–5", -5, 5, False, False),
        ("1,000-2,500", 1000, 2500, False, False),
        ("[1,000-2,500]", 1000, 2500, False, False),
        ("0.5-0.75", 0.5, 0.75, False, False),
        ("1e3-2e3", 1000, 2000, False, False),
    ],
)
def test_intervals(text: str, low: float, high: float, low_open: bool, high_open: bool) -> None:
    assert parse_interval(text) == Interval(low, high, low_open, high_open)


@pytest.mark.parametrize("text", ["", "25-17", "a-b", "17-", "[17", "17-25]", "{17}", "<", "2020-03-01", "17, 25", "*"])
def test_not_intervals(text: str) -> None:
    assert parse_interval(text) is None


def test_dates() -> None:
    days = ("2020-01-05", "2020-03-01", "2021-03-02")
    numbers = np.array([737429.0, 737485, 737851])
    domain = ColumnDomain("born", days, np.ones(3, np.int64), numbers, temporal=True)
    labels = ["[2020-01-01, 2020-12-31]", "2020", "2020-03", "<2020-03-01", "2020-01-05 - 2020-03-01", "2021-03-02"]
    assert members(understand(labels, domain)) == [[0, 1], [0, 1], [1], [0], [0, 1], [2]]


def test_numbers_cover_what_they_say() -> None:
    labels = [
        "[17-25]",
        "[17, 25[",
        "]17, 25]",
        "<=25",
        ">90",
        ">=90",
        "25",
        "25.0",
        "*",
        None,
        "{17, 25}",
        "{17, 20-31}",
    ]
    expected = [[0, 1, 2], [0, 1], [1, 2], [0, 1, 2], [], [4], [2], [2], [0, 1, 2, 3, 4], [0, 1, 2, 3, 4], [0, 2],
                [0, 1, 2, 3]]  # fmt: skip
    covers = understand(labels, AGES)
    assert members(covers) == expected
    assert covers.low[:4].tolist() == [17, 17, 17, 17]
    assert covers.high[3] == 25
    assert (covers.low[4], covers.high[4]) == (90, 90)  # no end: that of the column


def test_a_number_of_its_own() -> None:
    covers = understand(["26.5", "20"], AGES)
    assert covers.kinds == ("other number", "value")
    assert members(covers) == [[], [1]]
    assert covers.low[0] == covers.high[0] == 26.5


def test_sets_and_masks() -> None:
    labels = ["{Lyon, Rome}", "{Aix, en Provence, Lyon}", "Paris", " Paris ", "{'Lyon'; \"Paris\"}"]
    assert members(understand(labels, TOWNS)) == [[1, 3], [0, 1], [2], [2], [1, 2]]
    assert members(understand(["130**", "1****", "14850", "13*"], ZIPS)) == [[0, 1], [0, 1, 2], [2], [0, 1]]
    assert parse_set("{}") == []


def test_hierarchy_labels() -> None:
    tree = Hierarchy.from_rows(
        [["Lyon", "France", "Europe"], ["Paris", "France", "Europe"], ["Rome", "Italy", "Europe"]]
    )
    covers = understand(["France", "Italy", "Europe", "{Italy, Lyon}"], TOWNS, tree)
    assert members(covers) == [[1, 2], [3], [1, 2, 3], [1, 3]]
    assert covers.breadth.tolist()[:3] == [2, 1, 3]


def test_a_group_that_bears_the_name_of_one_of_its_values() -> None:
    """ARX-style hierarchies group small values as `Other`, which is also a value."""
    race = ColumnDomain("race", ("Inuit", "Other", "White"), np.ones(3, np.int64))
    tree = Hierarchy.from_rows([["Inuit", "Other", "*"], ["Other", "Other", "*"], ["White", "White", "*"]])
    assert members(understand(["Other", "White"], race, tree)) == [[0, 1], [2]]
    assert members(understand(["Other", "White"], race)) == [[1], [2]]


def test_a_value_that_looks_like_an_interval_is_a_value() -> None:
    grades = ColumnDomain("grade", ("1st-4th", "5-8", "9"), np.ones(3, np.int64))
    assert members(understand(["5-8", "{5-8, 9}"], grades)) == [[1], [1, 2]]


def test_missing_values() -> None:
    ages = ColumnDomain("age", ("1", "2", "(missing)"), np.ones(3, np.int64), np.array([1.0, 2, np.nan]), missing=True)
    assert members(understand([None, "*"], ages, null_is_missing=True)) == [[2], [0, 1, 2]]
    assert members(understand([None], ages)) == [[0, 1, 2]]


def test_what_cannot_be_read_is_an_error() -> None:
    with pytest.raises(DataError, match=r"'town' has 2 values that cannot be read: 'Paris\?', '17-25'.*hierarchy"):
        understand(["Paris?", "Rome", "17-25"], TOWNS)
    with pytest.raises(DataError, match="cannot be read"):
        understand(["{Lyon, Nowhere}"], TOWNS)
    with pytest.raises(DataError, match="cannot be read"):
        understand(["99**"], ZIPS)


@settings(max_examples=50, deadline=None)
@given(st.lists(st.integers(-50, 50), min_size=1, max_size=20, unique=True), st.integers(-60, 60), st.integers(0, 40))
def test_every_notation_covers_the_same(values: list[int], low: int, width: int) -> None:
    ordered = sorted(values)
    domain = ColumnDomain("x", tuple(map(str, ordered)), np.ones(len(values), np.int64), np.array(ordered, float))
    high = low + width
    texts = [f"[{low}, {high}]", f"{low} – {high}", f"[{low}-{high}]", f"({low - 1}, {high + 1})", f"{low}..{high}"]
    expected = [place for place, value in enumerate(ordered) if low <= value <= high]
    for text in texts:
        covers = understand([text], domain)
        if covers.kinds[0] != "value":
            assert covers.values_of(0).tolist() == expected, text
    holds = understand(texts[:1], domain).holds(np.zeros(len(values), np.int32), np.arange(len(values), dtype=np.int32))
    assert np.flatnonzero(holds).tolist() == expected


@pytest.mark.parametrize("most", [0, published_values.LARGEST_LOOKUP])
def test_what_labels_allow_with_and_without_a_table_of_all_pairs(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(published_values, "LARGEST_LOOKUP", most)
    covers = understand(["{17, 31}", "18-19", "*", "20-90", "90"], AGES)
    labels, values = (part.ravel().astype(np.int32) for part in np.meshgrid(range(5), range(5), indexing="ij"))
    allowed = [value in covers.values_of(label) for label, value in zip(labels, values, strict=True)]
    assert covers.holds(labels[::-1], values[::-1]).tolist() == allowed[::-1]
