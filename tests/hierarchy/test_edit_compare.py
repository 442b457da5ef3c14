"""Editing keeps hierarchies whole and can be undone; comparing counts what two hierarchies share."""

from __future__ import annotations

import pytest

from kanopy._errors import HierarchyError
from kanopy.hierarchy.builders.divisors import Cgh
from kanopy.hierarchy.compare import compare_hierarchies
from kanopy.hierarchy.edit import Editor, drop_level, insert_level, merge, move, node_of, rename, split
from kanopy.hierarchy.hierarchy import Hierarchy

ROWS = [["a", "x", "p", "*"], ["b", "x", "p", "*"], ["c", "y", "p", "*"], ["d", "z", "q", "*"]]


@pytest.fixture
def table() -> Hierarchy:
    return Hierarchy.from_rows(ROWS, name="t")


def test_every_change_can_be_undone_and_redone(table):
    editor = Editor(table)
    editor.apply(rename, "x", "X")
    editor.apply(merge, ["X", "y"], "XY")
    editor.apply(drop_level, 2)
    assert next(iter(editor.hierarchy.rows())) == ("a", "XY", "*")
    editor.undo()
    editor.undo()
    assert editor.undo().same_as(table)
    with pytest.raises(HierarchyError, match="nothing to undo"):
        editor.undo()
    assert editor.redo().generalize("a", 1) == "X"
    editor.apply(rename, "X", "other")
    with pytest.raises(HierarchyError, match="nothing to redo"):
        editor.redo()


def test_move_within_a_level_table_and_drop_what_becomes_empty(table):
    moved = move(table, "c", "x")
    assert moved.labels_at(1) == ("x", "z")
    assert moved.generalize("c", 1) == "x"
    assert moved.height == table.height
    with pytest.raises(HierarchyError, match="neighbouring levels"):
        move(table, "c", "p")
    with pytest.raises(HierarchyError, match="below it"):
        move(table, "p", "x")
    with pytest.raises(HierarchyError, match="is a value"):
        move(table, "a", "b")


def test_merge_and_split_are_each_others_inverse(table):
    merged = merge(table, ["x", "y"], "xy")
    assert merged.generalize("c", 1) == merged.generalize("a", 1) == "xy"
    back = split(merged, "xy", {"x": ["a", "b"], "y": ["c"]})
    assert back.same_as(table)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda h: merge(h, ["x", "z"], "n"), "same parent"),
        (lambda h: merge(h, ["x"], "n"), "at least two"),
        (lambda h: merge(h, ["a", "b"], "n"), "are values"),
        (lambda h: split(h, "x", {"n": ["a"]}), "none of the parts: 'b'"),
        (lambda h: split(h, "x", {"n": ["a", "b"], "m": ["a"]}), "both"),
        (lambda h: split(h, "x", {"n": ["c"]}), "no child 'c'"),
        (lambda h: split(h, "*", {"n": ["p"], "m": ["q"]}), "top"),
        (lambda h: rename(h, "a", "b"), "exists already"),
        (lambda h: rename(h, "xx", "b"), "no node 'xx'"),
        (lambda h: drop_level(h, 0), "levels 1 to 2"),
        (lambda h: insert_level(h, 9, {}), "1 to 3"),
        (lambda h: insert_level(h, 1, {"n": ["a", "d"]}), "several nodes"),
        (lambda h: insert_level(h, 1, {"n": ["zz"]}), "no node 'zz'"),
    ],
)
def test_changes_that_would_break_the_hierarchy_are_refused(table, change, message):
    with pytest.raises(HierarchyError, match=message):
        change(table)


def test_a_level_can_be_inserted_and_dropped_again(table):
    grown = insert_level(table, 1, {"ab": ["a", "b"]})
    assert grown.height == 4
    assert grown.labels_at(1) == ("ab", "c", "d")
    assert drop_level(grown, 1).same_as(table)


def test_intervals_follow_an_edit():
    h = Cgh(min_width=2).build(range(1, 9))
    moved = move(h, "3", "[1, 2]")
    node = node_of(moved, "[1, 2]")
    assert (moved.low[node], moved.high[node]) == (1, 3)
    assert insert_level(h, 1, {"one": ["1", "2"]}).low is not None


def test_same_labels_need_a_level():
    h = Hierarchy.from_rows([["a", "a", "*"], ["b", "x", "*"]])
    with pytest.raises(HierarchyError, match="State the level"):
        rename(h, "a", "n")
    assert rename(h, "a", "n", level=1).labels_at(1) == ("n", "x")


def test_compare(table):
    other = Hierarchy.from_rows([["a", "1", "*"], ["b", "1", "*"], ["c", "2", "*"], ["d", "2", "*"], ["e", "2", "*"]])
    found = compare_hierarchies([table, other])
    assert found.common_values == 4
    assert found.groups == (2, 2)
    assert found.shared_groups[0][1] == 1
    assert not found.same
    assert compare_hierarchies([table, table.renamed("again")]).same
    assert [outline.height for outline in found.outlines] == [3, 2]
    with pytest.raises(HierarchyError, match="at least two"):
        compare_hierarchies([table])


def test_too_many_nodes_to_compare_is_said():
    big = Hierarchy.flat([str(value) for value in range(200_000)])
    with pytest.raises(HierarchyError, match="with_levels"):
        compare_hierarchies([big, big])
