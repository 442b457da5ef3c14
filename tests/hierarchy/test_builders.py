"""Builders: one contract for all, labels that read well, and an answer to every kind of bad input."""

from __future__ import annotations

import dataclasses
import datetime as dt
import itertools
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kanopy._errors import HierarchyError
from kanopy.hierarchy.builders.base import NumericBuilder
from kanopy.hierarchy.builders.bins import Cuts, EqualFrequency, EqualWidth, Widths
from kanopy.hierarchy.builders.cardinality import Cbgh, Han, untouched
from kanopy.hierarchy.builders.dates import Dates
from kanopy.hierarchy.builders.divisors import Cgh, Dbgh
from kanopy.hierarchy.builders.grouping import Groups, Order
from kanopy.hierarchy.builders.masking import Prefix, Redact
from kanopy.hierarchy.builders.on_the_fly import Iotf, KAware, Otf
from kanopy.hierarchy.builders.registry import BUILDERS, build_hierarchy, make_builder
from kanopy.hierarchy.hierarchy import Hierarchy

NEEDS = {
    "cuts": {"edges": (10, 20)},
    "groups": {"groups": {"all": ["x"]}, "other": "rest"},
    "widths": {"widths": (5, 10)},
    "chimerge": {"classes": {"7": {"no": 3}, "40": {"no": 1, "yes": 3}, "90": {"yes": 5}}},
    "mdl": {"classes": {"7": {"no": 9}, "40": {"no": 1, "yes": 9}, "90": {"yes": 5}}},
}
NUMERIC = [name for name, kind in BUILDERS.items() if issubclass(kind, NumericBuilder)]


def built(name: str, values, **extra) -> Hierarchy:
    return build_hierarchy(values, name, **(NEEDS.get(name, {}) | extra))


def test_every_builder_is_frozen_and_listed_under_its_own_name():
    for name, kind in BUILDERS.items():
        assert kind.method == name
        assert kind.summary
        assert kind.__dataclass_params__.frozen
        builder = make_builder(name, **NEEDS.get(name, {}))
        for field in dataclasses.fields(builder):
            with pytest.raises(dataclasses.FrozenInstanceError):
                setattr(builder, field.name, None)


@settings(max_examples=40, deadline=None)
@given(st.sampled_from(NUMERIC), st.dictionaries(st.integers(1, 120), st.integers(1, 9), min_size=12, max_size=40))
def test_numeric_contract(name, column):
    values, counts = list(column), list(column.values())
    if max(values) - min(values) < 12:
        values = [value * 12 for value in values]
    h = built(name, values, counts=counts)
    assert h.nested
    assert h.values == tuple(str(value) for value in sorted(values))
    assert h.level(h.height).size == 1
    sizes = h.level_sizes
    assert sizes == sorted(sizes, reverse=True)
    leaf_low = h.low[: h.size]
    for level in range(h.height + 1):
        nodes = h.table[level]
        assert (h.low[nodes] <= leaf_low).all()
        assert (h.high[nodes] >= leaf_low).all()
    spans = sorted(h.intervals_at(min(1, h.height)))
    touching = name == "round"  # beyond a hundred one interval ends before the number at which the next begins
    assert all(a[1] < b[0] + touching for a, b in itertools.pairwise(spans))


@pytest.mark.parametrize("name", [name for name in BUILDERS if name not in ("dates", "groups")])
def test_one_distinct_value_gets_a_star_above_it(name):
    value = BUILDERS[name].examples.get("text", [7])[0]  # codes and points are no numbers
    h = built(name, [value, value, None, value])
    assert h.values == (str(value),)
    # The rule of HIPAA asks for three digits whether that joins values or not.
    assert h.height == (2 if name == "hipaa_zip" else 1)


@pytest.mark.parametrize("name", list(BUILDERS))
@pytest.mark.parametrize("values", [[None, None], [], [float("nan")], np.array([np.nan, np.nan]), ["", None]])
def test_all_missing_is_an_error(name, values):
    with pytest.raises(HierarchyError, match="no values"):
        built(name, values)


@pytest.mark.parametrize("name", NUMERIC)
@pytest.mark.parametrize("values", [[1.5, float("inf")], np.array([1.0, -np.inf]), [Decimal("Infinity"), Decimal(1)]])
def test_infinity_is_an_error(name, values):
    with pytest.raises(HierarchyError, match="infinite"):
        built(name, values)


@pytest.mark.parametrize("name", NUMERIC)
def test_text_among_numbers_is_an_error_that_shows_it(name):
    with pytest.raises(HierarchyError, match="'ten', 'twelve'"):
        built(name, ["1", "2", "ten", "twelve", "3"])


@pytest.mark.parametrize(
    ("builder", "message"),
    [
        (Cgh(min_width=100), "larger than the range"),
        (Dbgh(min_width=100), "larger than the range"),
        (Cbgh(leaf_width=100), "larger than the range"),
        (Widths(widths=(100,)), "larger than the range"),
        (Cgh(min_width=1.5), "finer than the data"),
        (Cgh(high=10), "beyond the range"),
        (KAware(k=50), "fewer than k=50"),
        (Widths(widths=(4, 6)), "multiples"),
        (Cuts(edges=((15,), (12,))), "do not nest"),
        (Cuts(bottom=18, top=12), "must lie below"),
    ],
)
def test_parameters_that_do_not_fit_the_data(builder, message):
    with pytest.raises(HierarchyError, match=message):
        builder.build(range(10, 21))


@pytest.mark.parametrize("smallest", [-5, 0])
def test_divisors_need_a_range_that_starts_above_zero(smallest):
    with pytest.raises(HierarchyError, match=f"goes down to {smallest}.*start={smallest}"):
        Dbgh().build(range(smallest, 20))
    shifted = Dbgh(start=smallest).build(range(smallest, smallest + 20))
    assert shifted.intervals_at(shifted.height) == [(smallest, smallest + 19)]


@pytest.mark.parametrize(
    ("method", "parameters", "message"),
    [
        ("iotff", {}, "Did you mean 'iotf'"),
        ("otf", {"linkag": "single"}, "Did you mean 'linkage'"),
        ("otf", {"linkage": "singel"}, "Did you mean 'single'"),
        ("iotf", {"label": "{low}"}, "needs both"),
        ("iotf", {"label": "{lo}-{high}"}, "cannot be used"),
        ("chu", {"threshold": 1}, "at least 2"),
        ("cgh", {"min_width": 0}, "above 0"),
        ("han", {"fan_out": 1}, "at least 2"),
        ("equal_width", {"depth": 0}, "at least 1"),
        ("cuts", {}, "needs edges"),
        ("cuts", {"edges": (1,), "quantiles": 4}, "not both"),
        ("cuts", {"edges": (5, 3)}, "ascend"),
        ("cuts", {"quantiles": 1}, "at least 2"),
        ("redact", {"side": "top"}, "'right' or 'left'"),
        ("redact", {"char": "**"}, "single character"),
        ("redact", {"steps": (0,)}, "at least 1"),
        ("prefix", {"lengths": (1, 3)}, "descend"),
        ("order", {"fan_out": 1}, "at least 2"),
        ("groups", {}, "given per name"),
        ("dates", {"granularities": ("mnth",)}, "Did you mean 'month'"),
        ("k_aware", {"k": 0}, "at least 1"),
    ],
)
def test_bad_parameters_say_what_to_do(method, parameters, message):
    with pytest.raises(HierarchyError, match=message):
        make_builder(method, **parameters)


def test_labels_keep_the_unit_of_the_data():
    assert Iotf().build([17.0, 25.0, 90.0]).label(3) == "[17, 25]"
    assert Iotf().build([0.5, 1.0, 9.25]).labels[:4] == ("0.5", "1", "9.25", "[0.5, 1]")
    assert Iotf().build([Decimal("1.50"), Decimal("2.00"), Decimal("9.75")]).label(3) == "[1.50, 2.00]"
    assert Iotf(label="dash").build([17, 25, 90]).label(3) == "17–25"
    assert Iotf(label="{low} to {high}").build([17, 25, 90]).label(3) == "17 to 25"
    assert Iotf().build(["007", "10", "90"]).label(3) == "[007, 10]"
    assert Cgh(min_width=Decimal("0.5")).build([Decimal("0.0"), Decimal("1.9")]).labels_at(1) == (
        "[0.0, 0.4]",
        "[1.5, 1.9]",
    )
    days = [dt.date(2024, 1, 1), dt.date(2024, 1, 3), dt.date(2024, 3, 1)]
    assert Iotf().build(days).label(3) == "[2024-01-01, 2024-01-03]"


def test_real_numbers_get_half_open_intervals():
    h = EqualWidth(depth=1).build([1 / 3, 1 / 7, 2 / 3, 5 / 7])
    assert h.labels_at(1)[0].startswith("[0.142857") and h.labels_at(1)[0].endswith(")")
    assert h.high[h.nodes_at(1)[0]] == h.low[h.nodes_at(1)[1]]


def test_ties_of_decimals_are_exact():
    """0.1 + 0.2 in floating point must not decide: all gaps are equal, so pairs form from the left."""
    h = Iotf().build([0.1, 0.2, 0.3, 0.4])
    assert h.labels[4:] == ("[0.1, 0.2]", "[0.3, 0.4]", "[0.1, 0.4]")


@pytest.mark.parametrize(
    "values",
    [
        [30, None, 25, 30],
        np.array([30, 25, 30]),
        np.array([30.0, np.nan, 25.0, 30.0]),
        pl.Series([30, None, 25, 30]),
        pl.Series([30, 25, 30]),
        pd.Series([30, None, 25, 30]),
        pd.Series([30, 25, 30]),
        pd.Series([30, pd.NA, 25, 30], dtype="Int64"),
        ["30", "", "25", "30"],
        (x for x in [30, 25, 30]),
    ],
)
def test_any_column_like_thing_will_do(values):
    h = EqualFrequency().build(values)
    assert h.values == ("25", "30")


def test_counts_must_fit():
    with pytest.raises(HierarchyError, match="3 values but 2 counts"):
        Iotf().build([1, 2, 3], [1, 2])
    with pytest.raises(HierarchyError, match="none of them negative"):
        Iotf().build([1, 2], [1, -2])
    assert Otf().build([1, 2, 3], [1, 0, 1]).values == ("1", "3")


def test_counts_and_repetition_mean_the_same():
    rows = [0, 3, 3, 3, 3, 3, 3, 3, 3, 3, 5, 7]
    assert Otf().build(rows).same_as(Otf().build([0, 3, 5, 7], [1, 9, 1, 1]))


@settings(max_examples=40, deadline=None)
@given(st.dictionaries(st.integers(0, 80), st.integers(1, 6), min_size=2, max_size=30), st.integers(1, 12))
def test_k_aware_groups_hold_k_rows(column, k):
    values, counts = list(column), list(column.values())
    if k > sum(counts):
        return
    h = KAware(k=k).build(values, counts)
    rows = h.subtree_sums([column[int(value)] for value in h.values])
    for level in range(1, h.height + 1):
        assert rows[h.level(level).nodes].min() >= k


@settings(max_examples=40, deadline=None)
@given(st.lists(st.integers(0, 50), min_size=3, max_size=21).filter(lambda rows: len(rows) % 2 == 1))
def test_who_stays_alone_in_an_odd_level(rows):
    def key(alone: int) -> tuple[int, int, int]:
        rest = rows[:alone] + rows[alone + 1 :]
        level = [rest[i] + rest[i + 1] for i in range(0, len(rest), 2)] + [rows[alone]]
        return max(level) - min(level), sum(x * x for x in level), alone

    assert untouched(np.array(rows, np.int64)) == min(range(0, len(rows), 2), key=key)


def test_a_paper_faithful_dbgh_does_not_nest_and_says_so():
    h = Dbgh(min_width=10, chain=False).build(range(1, 101))
    assert not h.nested
    assert h.level_sizes[1:] == [10, 5, 4, 2, 1]
    with pytest.raises(HierarchyError, match="chain=True"):
        h.tree()


def test_empty_intervals_are_levels_of_the_range_but_not_of_the_data():
    h = Cgh(min_width=10).build([1, 100])
    assert len(h.intervals_at(1)) == 8
    assert h.level_sizes == [2, 2, 2, 2, 1]
    assert h.restrict(["100"]).size == 1


def test_cuts_quantiles_and_tails():
    assert Cuts(quantiles=4).build(range(1, 101)).labels_at(1) == ("[1, 25]", "[26, 50]", "[51, 75]", "[76, 100]")
    h = Cuts(edges=((18, 30, 65), (18, 65))).build(range(100))
    assert h.labels_at(2) == ("[0, 17]", "[18, 64]", "[65, 99]")
    assert Cuts(top=90).build(range(17, 99)).labels_at(1) == ("[17, 89]", "≥ 90")


def test_han_stops_when_a_round_joins_nothing():
    h = Han(threshold=1, fan_out=2).build([1, 2, 3], [1, 100, 1])
    assert h.level(h.height).size == 1


def test_dates():
    h = Dates(("month", "quarter", "year", "decade")).build(["2019-12-31", "2020-01-01", None, "2020-05-05"])
    assert h.generalize("2019-12-31", 1) == "2019-12"
    assert h.labels_at(2) == ("2019-Q4", "2020-Q1", "2020-Q2")
    assert h.labels_at(4) == ("2010s", "2020s")
    assert h.high[h.find("2020-01-01")] == dt.date(2020, 1, 1).toordinal()
    with pytest.raises(HierarchyError, match="do not nest"):
        Dates(("week", "month")).build(["2024-01-31", "2024-02-01"])
    with pytest.raises(HierarchyError, match="'soon'"):
        Dates().build(["2024-01-31", "soon"])
    assert Dates(format="%d.%m.%Y").build(["31.01.2024"]).generalize("31.01.2024", 1) == "2024-01"
    assert Dates(("10 days", "%Y")).build(["2024-01-31"]).height == 3
    moments = [dt.datetime(2024, 1, 31, 23, 59), dt.datetime(2024, 2, 1)]
    assert Dates(("hour", "day")).build(moments).labels_at(2) == ("2024-01-31", "2024-02-01")
    assert Dates(("5 years", "century")).build([dt.date(1999, 1, 1)]).labels[1:3] == ("1995–1999", "1900–1999")


def test_codes():
    assert Redact(side="left").build(["12", "345"]).generalize("12", 1) == "*12"
    assert Redact(keep_length=False).build(["123"]).labels == ("123", "12*", "1*", "*")
    h = Prefix().build(["A01", "A02", "B1"])
    assert h.generalize("A01", 2) == "A"
    with pytest.raises(HierarchyError, match="too long"):
        Redact().build(["x" * 200])


def test_order_and_groups():
    assert Order(fan_out=(2, 5)).build(["10", "9", "1", "2"]).labels_at(1) == ("[1, 2]", "[9, 10]")
    with pytest.raises(HierarchyError, match="does not contain 'c'"):
        Order(order=("a", "b")).build(["a", "c"])
    nested = {"Europe": {"France": ["Lyon", "Paris"], "Italy": ["Rome"]}, "Asia": ["Tokyo"]}
    h = Groups(nested).build(["Lyon", "Tokyo"])
    assert h.generalize("Lyon", h.height - 1) == "Europe"
    with pytest.raises(HierarchyError, match="No group contains 'Oslo'"):
        Groups(nested).build(["Lyon", "Oslo"])
    assert Groups({"teen": list(range(13, 20))}, other="not").build([13, 40]).generalize("40", 1) == "not"


def test_a_value_can_join_a_numeric_hierarchy_and_keeps_its_intervals():
    h = Iotf().build([1, 2, 9])
    more = h.with_value("?")
    assert more.low is not None and more.leaf_counts[-1] == 4
    assert more.label(more.lowest_common_ancestor(["?", "1"])) == "*", "no range is true of it"
    grid = Cgh(min_width=5).build(range(1, 21)).with_value("?")
    assert grid.generalize("?", grid.height) == "*"
    assert grid.interval_shares[grid.find("?")] == 0
