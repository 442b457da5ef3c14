"""Losses stay in their ranges, agree with their definitions, and order releases as they should."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kanopy._core.classes import Domain, full_domain_recoding
from kanopy._core.local_recoding import recoding_from_ends, with_extents
from kanopy._errors import HierarchyError
from kanopy._table.datasets import adult
from kanopy.hierarchy.builders.bins import EqualWidth
from kanopy.hierarchy.builders.cardinality import Cbgh
from kanopy.hierarchy.builders.divisors import Cgh, Dbgh
from kanopy.hierarchy.hierarchy import Hierarchy
from kanopy.metrics.certainty import certainty_penalties, global_certainty_penalty, loss_metric
from kanopy.metrics.cluster_loss import (
    average_class_size,
    average_extent,
    discernibility,
    largest_extent,
    normalized_total_loss,
)
from kanopy.metrics.distortion import distortion, node_distortions
from kanopy.metrics.local_losses import local_losses


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(st.integers(1, 30), st.lists(st.floats(0, 1), min_size=2, max_size=2)), min_size=1, max_size=9)
)
def test_ranges_of_cluster_losses(clusters):
    sizes = np.array([size for size, _ in clusters])
    extents = np.array([extent for _, extent in clusters])
    total, mean, most = normalized_total_loss(sizes, extents), average_extent(extents), largest_extent(extents)
    assert -1e-12 <= total <= 1 + 1e-12 and -1e-12 <= mean <= most + 1e-12 <= 1 + 2e-12
    assert total <= most + 1e-12
    rows = int(sizes.sum())
    assert rows <= discernibility(sizes) <= rows * rows
    assert average_class_size(sizes, int(sizes.min())) >= 1 - 1e-12


def one_attribute(rows=6):
    tree = Hierarchy.from_rows([["a", "x", "*"], ["b", "x", "*"], ["c", "y", "*"], ["d", "y", "*"]])
    of_row = (np.arange(rows) % 4).astype(np.int32)
    counts = np.bincount(of_row, minlength=4).astype(np.int64)
    return Domain(("letter",), (tree,), np.arange(4, dtype=np.int32)[:, None], counts, of_row)


def test_nothing_generalized_costs_nothing_and_everything_costs_one():
    domain = one_attribute()
    kept = np.zeros(4, bool)
    for level, cost in ((0, 0.0), (2, 1.0)):
        losses = local_losses(domain, with_extents(domain, full_domain_recoding(domain, [level], kept)), 1)
        for name in ("NTIL", "NIL1", "NILinf", "LM", "GCP"):
            assert losses[name] == cost, name


def test_suppressed_records_count_as_lost():
    domain = one_attribute()
    gone = np.array([True, False, False, False])
    recoding = with_extents(domain, full_domain_recoding(domain, [0], gone))
    assert recoding.suppressed_rows == 2
    assert loss_metric(recoding) == pytest.approx(2 / 6) == global_certainty_penalty(domain, recoding)
    assert discernibility(recoding.group_sizes, recoding.suppressed_rows) == int((recoding.group_sizes**2).sum()) + 12


def test_certainty_counts_all_values_and_the_loss_metric_one_fewer():
    domain = one_attribute()
    groups = np.array([0, 0, 1, 1, 0, 0], np.int32)
    ends = np.array([[0], [2]], np.int32), np.array([[1], [3]], np.int32)
    recoding = recoding_from_ends(domain, groups, *ends, [False])
    assert certainty_penalties(domain, recoding).tolist() == [[0.5], [0.5]]
    assert loss_metric(recoding) == pytest.approx(1 / 3)
    assert global_certainty_penalty(domain, recoding, [3.0]) == 0.5


def test_distortion_of_hours_is_what_the_rules_of_yaseen_give():
    hours = adult()["hours-per-week"].to_numpy()
    trees = {
        "halving": Cgh(min_width=10, low=1, high=100).build(hours),
        "width": Dbgh(min_width=10, high=100, chain=False).build(hours),
        "extent": Cbgh(leaf_width=10, start=1, high=100).build(hours),
    }
    found = {
        rule: [sorted({round(float(x), 4) for x in level}) for level in node_distortions(tree, rule)[1:]]
        for rule, tree in trees.items()
    }
    # Shared oracle "distortion"; CGH and CBGH as in Table 4 of Yaseen et al. 2018, DBGH by its rule.
    assert found["halving"] == [[0.5], [1.0], [2.0], [4.0]]
    assert found["width"] == [[0.5], [1.0], [1.25], [2.5], [5.0]]
    assert found["extent"] == [[0.4545], [0.9596], [0.9596, 1.9697], [1.9697, 2.9798], [5.0]]
    assert trees["extent"].level_sizes[1:] == [10, 5, 3, 2, 1]
    for tree in trees.values():
        with pytest.raises(HierarchyError, match="Did you mean 'width'"):
            node_distortions(tree, "widht")


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.integers(0, 300), min_size=2, max_size=40, unique=True), st.sampled_from(["halving", "width", "extent"])
)
def test_distortion_ratio_grows_from_zero_to_one(values, rule):
    tree = EqualWidth().build(values)
    marginal = np.ones(tree.size, np.int64)
    whole = distortion([tree], [marginal], [tree.height], rule)
    ratios = [distortion([tree], [marginal], [level], rule) / (whole or 1.0) for level in range(tree.height + 1)]
    assert ratios[0] == 0 and ratios[-1] == pytest.approx(1)
    assert all(a <= b + 1e-12 for a, b in itertools.pairwise(ratios))
    assert distortion([tree], [marginal], [tree.height], rule) == pytest.approx(tree.height * tree.size)


def test_distortion_by_width_needs_numbers():
    with pytest.raises(HierarchyError, match="no intervals"):
        node_distortions(Hierarchy.flat(["a", "b"]), "width")
