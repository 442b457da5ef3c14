"""Hierarchy files: what is written is read back, and bad files say what is wrong and in which line."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kanopy
from kanopy._errors import HierarchyError, KanopyError
from kanopy.hierarchy.files.csv_format import level_table_csv, parent_child_csv, parse_csv
from kanopy.hierarchy.files.dot_format import hierarchy_dot, parse_dot
from kanopy.hierarchy.files.files import find_hierarchies, read_hierarchy, write_hierarchy
from kanopy.hierarchy.files.json_format import hierarchy_json, parse_json
from kanopy.hierarchy.hierarchy import Hierarchy
from tests.shared_input import needs_shared

ROWS = [["Lyon", "France", "*"], ["Paris", "France", "*"], ["Rome", "Italy", "*"]]

labels = st.text(
    st.characters(blacklist_categories=("Cs", "Cc"), blacklist_characters="\ufeff"), min_size=1, max_size=6
)


@st.composite
def tables(draw: st.DrawFn) -> list[list[str]]:
    values = draw(st.lists(labels, min_size=1, max_size=8, unique=True))
    height = draw(st.integers(1, 3))
    tops = draw(st.lists(labels, min_size=3, max_size=3, unique=True))
    rows = []
    for i, value in enumerate(values):
        row, group = [value], i
        for level in range(1, height + 1):
            group //= 2
            row.append(f"{tops[group % 3]}{level}.{group}" if level < height else "*")
        rows.append(row)
    return rows


def numeric() -> Hierarchy:
    low, high = np.array([1, 2, 7, 1, 1]), np.array([1, 2, 7, 2, 7])
    return Hierarchy.from_intervals(
        low, high, np.array([3, 3, 4, 4, -1]), 3, labels=["1", "2", "7", "[1, 2]", "[1, 7]"], name="x"
    )


def same(a: Hierarchy, b: Hierarchy) -> bool:
    bounds = all(
        (p is None) == (q is None) and (p is None or (p.dtype == q.dtype and (p == q).all()))
        for p, q in ((a.low, b.low), (a.high, b.high), (a.parent, b.parent))
    )
    return bounds and a.labels == b.labels and a.has_table == b.has_table and (a.table == b.table).all()


@settings(max_examples=50, deadline=None)
@given(tables())
def test_every_format_gives_the_hierarchy_back(rows):
    h = Hierarchy.from_rows(rows, name="x")
    for separator in ";,\t|":
        assert list(parse_csv(level_table_csv(h, separator), "x.csv").rows()) == list(h.rows())
    assert same(parse_json(hierarchy_json(h), "x.json"), h)
    assert same(parse_dot(hierarchy_dot(h), "x.dot"), h)


@pytest.mark.parametrize("ending", ["json", "dot"])
def test_numbers_keep_their_intervals_and_their_tree(tmp_path, ending):
    h = numeric()
    back = read_hierarchy(write_hierarchy(h, tmp_path / f"x.{ending}"))
    assert same(back, h)
    assert back.name == "x"


def test_a_table_that_does_not_nest_survives_as_json_only(tmp_path):
    h = Hierarchy.from_rows([["1", "a", "p"], ["2", "a", "q"]], require_nesting=False)
    assert same(read_hierarchy(write_hierarchy(h, tmp_path / "h.json")), h)
    with pytest.raises(HierarchyError, match="does not nest"):
        write_hierarchy(h, tmp_path / "h.dot")


def test_a_deep_tree_survives_as_json(tmp_path):
    pairs = {f"v{i}": f"n{i}" for i in range(600)} | {f"n{i}": f"n{i + 1}" for i in range(599)}
    h = Hierarchy.from_parents(pairs)
    assert same(read_hierarchy(write_hierarchy(h, tmp_path / "deep.json")), h)


@pytest.mark.parametrize("separator", [";", ",", "\t", "|"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
def test_separator_and_encoding_are_detected(tmp_path, separator, encoding):
    text = "\r\n".join(separator.join(row) for row in [["Orléans", '"France, the"', "*"], ["Köln", "Germany", "*"]])
    path = tmp_path / "city.csv"
    path.write_bytes(text.encode(encoding))
    h = read_hierarchy(path)
    assert h.labels_at(1) == ("France, the", "Germany")
    assert h.name == "city"


def test_child_parent_files_with_and_without_header():
    h = Hierarchy.from_parents({"cat": "mammal", "dog": "mammal", "mammal": "animal", "carp": "animal"})
    assert parse_csv(parent_child_csv(h), "a.csv").same_as(h)
    assert parse_csv("cat;mammal\ndog;mammal\ncarp;animal\nmammal;animal\nanimal;\n", "a.csv").same_as(h)
    assert parse_csv("parent,child\nmammal,cat\nmammal,dog\nanimal,carp\nanimal,mammal\n", "a.csv").same_as(h)


def test_a_header_of_levels_is_skipped():
    assert parse_csv("age,level 1,level 2\n1,low,*\n9,high,*\n", "f.csv", name="age").size == 2


def test_foreign_nested_json():
    text = '{"name": "animal", "children": [{"name": "fish", "children": [{"name": "carp"}]}, {"name": "cat"}]}'
    assert set(parse_json(text, "a.json").values) == {"carp", "cat"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "empty"),
        ("\n\n", "empty"),
        ("a\nb\n", "only one column"),
        ("a;x;*\nb;*\nc;x;*\n", "line 2 has 2"),
        ("a;x;*\nb;x;*\na;y;*\n", "'a' .lines 1 and 3"),
        ("a;x;p\nb;x;q\n", r"'x' under 'p' .line 1. and 'q' .line 2"),
        ("a;x;*\nb;;*\n", "line 2, level 1"),
        ("child,parent\na,b\na,c\n", r"'a' under 'b' .line 2. and 'c' .line 3"),
        ("child,parent\n", "no rows"),
        ("child,parent\na,b\nb,a\n", "cycle"),
    ],
)
def test_bad_csv_files_say_what_and_where(text, message):
    with pytest.raises(HierarchyError, match=message) as caught:
        parse_csv(text, "bad.csv")
    assert "bad.csv" in str(caught.value) or "cycle" in message


def test_not_nesting_shows_at_most_five():
    text = "".join(f"{i};g{i % 7};{i % 2}\n" for i in range(14))
    with pytest.raises(HierarchyError, match="and 2 more") as caught:
        parse_csv(text, "bad.csv")
    assert str(caught.value).count("under") == 5


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.json", "{", "line 1"),
        ("a.json", "{}", "empty"),
        ("a.json", '{"format": "kanopy-hierarchy", "version": 1, "name": "", "values": 1}', "does not contain"),
        ("a.dot", "graph { a -- b }", "line 1"),
        ("a.dot", "", "no complete hierarchy"),
        ("a.xml", "<a/>", ".csv, .json or .dot"),
    ],
)
def test_other_bad_files(tmp_path, name, content, message):
    path = tmp_path / name
    path.write_text(content)
    with pytest.raises(HierarchyError, match=message):
        read_hierarchy(path)


def test_missing_and_binary_files(tmp_path):
    with pytest.raises(HierarchyError, match="no file"):
        read_hierarchy(tmp_path / "none.csv")
    (tmp_path / "a.csv").write_bytes(b"PK\x00\x01;x\n")
    with pytest.raises(HierarchyError, match="not a text file"):
        read_hierarchy(tmp_path / "a.csv")


def test_nothing_is_left_behind_when_writing_fails(tmp_path):
    twins = Hierarchy(2, ["a", "b", "other", "other", "*"], np.array([2, 3, 4, 4, -1], np.int32))
    with pytest.raises(HierarchyError, match="share the labels"):
        write_hierarchy(twins, tmp_path / "h.csv")
    with pytest.raises(HierarchyError, match="Cannot write"):
        write_hierarchy(numeric(), tmp_path / "no" / "h.csv")
    assert list(tmp_path.iterdir()) == []


def test_files_are_found_by_column(tmp_path):
    for name in ["age.csv", "adult_hierarchy_marital-status.csv", "x_net_income.csv", "Sex.json", "x_age.csv"]:
        (tmp_path / name).write_text("a;*\n")
    found = find_hierarchies(tmp_path, ["age", "marital-status", "income", "net_income", "sex", "zip"])
    assert {column: path.name for column, path in found.items()} == {
        "age": "age.csv",
        "marital-status": "adult_hierarchy_marital-status.csv",
        "net_income": "x_net_income.csv",
        "sex": "Sex.json",
    }
    assert find_hierarchies(tmp_path, ["marital_status"])["marital_status"].name.endswith("marital-status.csv")
    (tmp_path / "y_age.csv").write_text("a;*\n")
    (tmp_path / "age.csv").unlink()
    with pytest.raises(HierarchyError, match=r"x_age.csv.*y_age.csv"):
        find_hierarchies(tmp_path, ["age"])
    with pytest.raises(HierarchyError, match="no folder"):
        find_hierarchies(tmp_path / "none", ["age"])


def test_arx_files_are_read():
    folder = needs_shared("data", "arx_adult")
    columns = ["sex", "age", "race", "marital-status", "education", "native-country"]
    columns += ["workclass", "occupation", "salary-class"]
    found = find_hierarchies(folder, columns)
    assert set(found) == set(columns)
    heights = {column: read_hierarchy(path, column=column).height for column, path in found.items()}
    assert heights == {
        "sex": 1, "age": 4, "race": 1, "marital-status": 2, "education": 3, "native-country": 2,
        "workclass": 2, "occupation": 2, "salary-class": 1,
    }  # fmt: skip


ODD: tuple[Any, ...] = (
    "31", 31, 3.5, None, True, [], {}, [[]], "", [None], [1], {"a": None}, [{"x": 1}], 10**30, -1, float("nan"), ["a"],
)  # fmt: skip


def _places(content: Any, place: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Where something stands in JSON: keys and positions."""
    yield place
    inside = content.items() if isinstance(content, dict) else enumerate(content) if isinstance(content, list) else ()
    for key, below in inside:
        yield from _places(below, (*place, key))


def _edited(text: str, place: tuple[Any, ...], value: Any) -> str:
    whole = {"": json.loads(text)}
    inside, last = whole, ""
    for key in place:
        inside, last = inside[last], key
    inside[last] = value
    return json.dumps(whole[""])


@pytest.mark.parametrize("kind", ["tree", "crossing", "intervals"])
def test_a_file_that_somebody_edited_is_read_or_refused_in_words(kind: str) -> None:
    made = {
        "tree": Hierarchy.from_rows([["a", "x", "*"], ["b", "x", "*"], ["c", "y", "*"]], name="n"),
        "crossing": Hierarchy.from_rows([["a", "ab", "x"], ["b", "ab", "y"], ["c", "c", "y"]], require_nesting=False),
        "intervals": kanopy.build_hierarchy([1, 5, 9, 30], "iotf"),
    }[kind]
    text = hierarchy_json(made)
    refused = 0
    for place in _places(json.loads(text)):
        for odd in ODD:
            try:
                read = parse_json(_edited(text, place, odd), "n.json")
            except KanopyError as error:
                assert len(str(error)) > 20
                refused += 1
            else:  # what is read can be used
                assert parse_json(hierarchy_json(read), "n.json").labels == read.labels
    assert refused > 100


def test_children_that_are_a_text_are_refused() -> None:
    with pytest.raises(HierarchyError, match="children must be a list of objects, not '31'"):
        parse_json(_edited(hierarchy_json(Hierarchy.flat(["a", "b"])), ("tree", 0, "children"), "31"), "n.json")


def test_whole_numbers_of_any_size_are_taken_or_refused_in_words() -> None:
    """NumPy has no whole numbers of 128 bits."""
    most = 10**30
    for values in (pl.Series([1, 2, most, most], dtype=pl.Int128), [1, 2, most, most], [1.5, 10**400], [-1e308, 1e308]):
        with pytest.raises(HierarchyError, match=r"more than 61 bits|too large to compute"):
            kanopy.build_hierarchy(values, "iotf")
    small = kanopy.build_hierarchy(pl.Series([1, 2, 30, 30], dtype=pl.Int128), "iotf")
    assert small.values == ("1", "2", "30")
    named = kanopy.anonymize({"id": [str(most)] * 2 + ["1"] * 2}, kanopy.Job(quasi=["id"], k=2))
    assert named.frame["id"].to_list() == [str(most)] * 2 + ["1"] * 2
