"""The automatic choice: what is tried, how it is ranked, what it says."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kanopy._errors import HierarchyError
from kanopy.hierarchy.builders.on_the_fly import Iotf
from kanopy.hierarchy.builders.registry import build_hierarchy
from kanopy.hierarchy.hierarchy import Hierarchy
from kanopy.hierarchy.suggest import choose_hierarchy, halving_note, loss_at, suggest_hierarchies
from kanopy.hierarchy.trees_kernel import best_cut


def best_cut_by_trying(h: Hierarchy, rows: np.ndarray, cost: np.ndarray, k: int) -> float:
    """All sets of nodes that cover every value once."""
    best = np.inf
    sets = [frozenset(h.leaves_under(node)) for node in range(h.node_count)]
    whole = frozenset(range(h.size))
    for number in range(1, h.size + 1):
        for nodes in itertools.combinations(range(h.node_count), number):
            members = [sets[node] for node in nodes]
            if (
                sum(map(len, members)) == h.size
                and frozenset().union(*members) == whole
                and min(rows[list(nodes)]) >= k
            ):
                best = min(best, cost[list(nodes)].sum())
    return best


@settings(max_examples=25, deadline=None)
@given(st.dictionaries(st.integers(0, 20), st.integers(1, 4), min_size=2, max_size=6), st.integers(1, 5))
def test_the_cut_is_the_best_there_is(column, k):
    values = sorted(column)
    counts = np.array([column[value] for value in values], np.int64)
    if counts.sum() < k:
        return
    h = Iotf().build(values)
    rows = h.subtree_sums(counts)
    cost = rows * (h.high - h.low).astype(np.float64)
    found, groups = best_cut(h.tree(), rows, cost, k)
    twin, twin_groups = best_cut.plain(h.tree(), rows, cost, k)
    assert found.tolist() == twin.tolist()
    assert groups.tolist() == twin_groups.tolist()
    assert found[h.roots[0]] == best_cut_by_trying(h, rows, cost, k)


@pytest.mark.parametrize("rule", ["level", "cut"])
def test_ranked_by_loss_with_reasons(rule):
    values = np.random.default_rng(1).integers(0, 90, 2000)
    ranking = suggest_hierarchies(values, k=20, rule=rule)
    losses = [entry.loss for entry in ranking]
    assert losses == sorted(losses)
    assert len({entry.method for entry in ranking}) > 8
    for entry in ranking:
        assert "rows" in entry.reason
        loss, groups = loss_at(entry.hierarchy, values, 1, rule=rule)
        assert loss == 0 and groups > 1


def test_halving_is_praised_where_it_is_as_good_and_not_where_it_is_not():
    dense = suggest_hierarchies(np.repeat(np.arange(64), 3), k=3)
    assert "as good as the other methods" in str(halving_note(dense))
    lumps = np.concatenate([np.arange(10) + base for base in (0, 10, 5000, 90_000)])
    skewed = suggest_hierarchies(lumps, k=5)
    assert "equal_width" in str(halving_note(skewed))
    assert "as good as the other methods" not in str(halving_note(skewed))


def test_what_is_tried_depends_on_the_column():
    def methods(values) -> set[str]:
        return {entry.method for entry in suggest_hierarchies(values, k=1)}

    assert methods(["red", "green", "blue"]) == {"frequency", "suppress"}
    assert {"redact", "prefix"} <= methods(["75001", "01300", "13001"])
    assert "dates" in methods(["2024-01-01", "2024-02-01"])
    assert "dbgh" not in methods([-5, -4, 3])
    assert "dbgh" in methods(["5", "4", "3"])
    assert methods([7, 7, 7]) >= {"iotf", "suppress"}


def test_auto_returns_a_readable_one():
    values = [1, 2, 3, 50, 51, 52]
    assert build_hierarchy(values, k=3).same_as(choose_hierarchy(values, k=3).hierarchy)
    assert build_hierarchy(values, k=3).labels_at(1) == ("≤ 49", "≥ 50")
    assert build_hierarchy(["m", "f"]).labels_at(1) == ("*",)


def test_bad_requests():
    with pytest.raises(HierarchyError, match="fewer than k=5"):
        suggest_hierarchies([1, 2, 3], k=5)
    with pytest.raises(HierarchyError, match="at least 1"):
        suggest_hierarchies([1, 2, 3], k=0)
    with pytest.raises(HierarchyError, match="Did you mean 'level'"):
        suggest_hierarchies([1, 2, 3], k=1, rule="levle")
    with pytest.raises(HierarchyError, match="does not know '4'"):
        loss_at(Iotf().build([1, 2]), [1, 4], 1)


def test_numbered_words_are_no_codes() -> None:
    """`1. White` was redacted to `********` letter by letter."""
    values = ["1. White", "2. Black", "3. Asian", "4. Other"]
    tree = build_hierarchy(values, counts=[60, 30, 8, 2], name="race", k=5)
    assert not any("**" in label for label in tree.labels)


def test_what_reads_well_comes_first_if_it_loses_hardly_more():
    ages = [20 + i % 40 for i in range(400)]
    found = suggest_hierarchies(ages, k=20)
    least = min(one.loss for one in found)
    well = [one for one in found if one.method == "round"]
    assert (found[0].method == "round") == (well[0].loss <= least * 1.05)
    exact = suggest_hierarchies([10 * (i % 5) for i in range(100)], k=5)
    assert exact[0].method == "round"


def test_words_are_tried_by_meaning_and_unsure_ones_are_named():
    words = ["teacher", "nurse", "lawyer", "doctor", "plumber", "farmer", "cook", "waiter", "clerk", "qqx"] * 20
    for style in ("nearness", "taxonomy"):
        (meant,) = [one for one in suggest_hierarchies(words, k=5, style=style) if one.method == "ontology"]
        assert meant.builder.style == style
        assert "qqx" in meant.unsure
    assert not any(one.method == "ontology" for one in suggest_hierarchies(["qx", "qy", "qz", "qw"] * 9, k=5))
