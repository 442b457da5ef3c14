"""Labels of sets of values: what is published can be read back, and a release of them goes all the way."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kanopy
from kanopy._core.classes import Domain
from kanopy._errors import JobError
from kanopy._job.job import Job
from kanopy.hierarchy.hierarchy import Hierarchy
from kanopy.metrics.utility.published_values import ColumnDomain, understand
from kanopy.privacy.models import KAnonymity
from kanopy.release.mapping import mapping_table
from kanopy.release.solution_file import solution_json
from kanopy.search.problem import Problem
from kanopy.search.sets.value_sets import ValueColumn, leaf_numbers, value_order, value_table
from kanopy.study.utility_study import assess

NAMES = ["a", "b, c", "d;e", "{f}", 'g"h', "i - j", " k", "l'm"]


@st.composite
def columns(draw: st.DrawFn) -> tuple[ValueColumn, list[list[int]]]:
    """A column of numbers or of awkward names, some values absent, and a division of those that occur into sets."""
    size = draw(st.integers(2, 8))
    numeric = draw(st.booleans())
    values = [str(v) for v in draw(st.permutations(range(-3, 5)))][:size] if numeric else NAMES[:size]
    tree = Hierarchy.from_rows([[v, f"group {draw(st.integers(0, 2))}", "*"] for v in values], name="v")
    occurring = np.array(sorted(draw(st.sets(st.integers(0, size - 1), min_size=1))), np.int32)
    of_row = np.arange(len(occurring), dtype=np.int32)
    domain = Domain(("v",), (tree,), occurring[:, None], np.ones(len(occurring), np.int64), of_row)
    column = value_table(Problem(domain, [KAnonymity(2)])).columns[0]
    number = [draw(st.integers(0, 2)) for _ in range(column.size)]
    return column, [[p for p in range(column.size) if number[p] == s] for s in sorted(set(number))]


@settings(max_examples=100, deadline=None)
@given(columns(), st.booleans())
def test_labels_are_read_as_the_sets_they_stand_for(drawn: tuple[ValueColumn, list[list[int]]], spans: bool) -> None:
    column, sets = drawn
    values = [column.hierarchy.label(int(leaf)) for leaf in column.leaves]
    domain = ColumnDomain("v", tuple(values), np.ones(len(values), np.int64), column.numbers)
    labels = [column.label(held, spans=spans)[0] for held in sets]
    assert len(set(labels)) == len(labels)
    covers = understand(labels, domain, column.hierarchy)
    for i, held in enumerate(sets):
        assert covers.values_of(i).tolist() == held
        share = column.share(held, spans=spans)
        assert len(held) / column.hierarchy.size - 1e-12 <= share <= 1


def test_a_set_may_hold_missing_values() -> None:
    domain = ColumnDomain("v", ("a", "b", "(missing)"), np.ones(3, np.int64), missing=True)
    assert understand(["{b, (missing)}"], domain).values_of(0).tolist() == [1, 2]


def test_a_label_that_two_nodes_share_is_not_used() -> None:
    tree = Hierarchy.from_rows([["a", "n", "x"], ["b", "n", "x"], ["c", "m", "n"], ["d", "m", "n"]], name="v")
    column = ValueColumn("v", tree, np.arange(4, dtype=np.int32), None)
    assert column.label([0, 1], spans=False)[0] == "x"
    assert column.label([2, 3], spans=False)[0] == "m"
    mixed = Hierarchy.from_rows([["a", "n", "*"], ["b", "n", "*"], ["n", "m", "*"], ["d", "m", "*"]], name="v")
    column = ValueColumn("v", mixed, np.arange(4, dtype=np.int32), None)
    assert column.label([0, 1], spans=False) == ("{a, b}", -1)  # "n" is a value of its own


def test_order_of_values() -> None:
    numbers = Hierarchy.flat(["100", "20", "3"], name="n")
    assert [numbers.label(leaf) for leaf in value_order(numbers)] == ["3", "20", "100"]
    assert leaf_numbers(Hierarchy.flat(["a", "1"], name="n")) is not None  # one value may stand for missing ones
    assert leaf_numbers(Hierarchy.flat(["a", "b", "1"], name="n")) is None
    tree = Hierarchy.from_rows([["p", "x", "*"], ["q", "y", "*"], ["r", "x", "*"]], name="n")
    assert [tree.label(leaf) for leaf in value_order(tree)] == ["p", "r", "q"]


@pytest.mark.parametrize("name", ["bayardo-agrawal", "li-sps", "li-gsps", "li-gops"])
def test_a_release_goes_all_the_way(name: str) -> None:
    generator = np.random.default_rng(1)
    towns = [f"t{i}" for i in range(6)]
    frame = pl.DataFrame(
        {
            "age": generator.integers(20, 40, 200),
            "town": [None if i % 29 == 0 else towns[j] for i, j in enumerate(generator.integers(0, 6, 200))],
        }
    )
    tree = Hierarchy.from_rows([[t, f"g{i // 2}", "*"] for i, t in enumerate(towns)], name="town")
    ages = {"method": "widths", "widths": [5, 10]}
    job = Job(
        quasi=["age", "town"], k=12, hierarchies={"age": ages, "town": tree}, algorithm=name, parameters={"steps": 5}
    )
    result = kanopy.anonymize(frame, job)
    assert result.verification.smallest_class >= 12
    assert (result.levels, algorithm_kind(name)) == (None, "subtree")
    mapping = mapping_table(result)
    assert mapping.group_by("column").agg(pl.col("rows").sum())["rows"].to_list() == [200, 200]
    one_label = mapping.group_by("column", "original").agg(pl.col("published").n_unique())
    assert one_label["published"].max() == 1
    assert result.report.to_dict()["algorithm"] == name
    seen = assess(frame, result.frame, job=job, learn=False)
    assert seen.rows == 200
    with pytest.raises(JobError, match="does not have one level per column"):
        solution_json(result)


def algorithm_kind(name: str) -> str:
    from kanopy.search.algorithms import algorithm_class

    return algorithm_class(name).recoding


@pytest.mark.parametrize("name", ["bayardo-agrawal", "li-sps", "li-gsps", "li-gops"])
def test_all_values_below_several_tops_are_listed_and_not_called_suppressed(name: str) -> None:
    tree = Hierarchy.from_rows([[letter, "ab" if letter in "ab" else "cd"] for letter in "abcd"], name="letter")
    assert len(tree.roots) == 2
    table = pl.DataFrame({"letter": ["a", "a", "b", "c"] if name in ("bayardo-agrawal", "li-sps") else ["a", "a", "b"]})
    job = Job(quasi=["letter"], k=3, hierarchies={"letter": tree}, algorithm=name, parameters={"steps": 5})
    result = kanopy.anonymize(table, job)
    assert result.frame["letter"].unique().to_list() == (["{a, b, c}"] if table.height == 4 else ["ab"])
    assert result.score == pytest.approx(2 / 3 if table.height == 4 else 1 / 3)


def test_the_top_is_named_as_the_hierarchy_names_it() -> None:
    """Where levels do not nest, all values were called `*`, whatever the name of the one group above them."""
    rows = [["a", "ab", "x", "any"], ["b", "ab", "y", "any"], ["c", "c", "y", "any"]]
    crossing = Hierarchy.from_rows(rows, name="letter", require_nesting=False)
    assert not crossing.nested
    column = ValueColumn("letter", crossing, np.arange(3, dtype=np.int32), None)
    assert column.label([0, 1, 2], spans=False) == ("any", -1)
    assert column.share([0, 1, 2], spans=False) == 1.0
