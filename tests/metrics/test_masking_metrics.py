"""Measures of maskings: partitions, weighted Ward clustering, linkage and losses on small tables worked by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kanopy.masking.job import MaskJob
from kanopy.metrics.partition_distance import partition_distance, ward
from kanopy.metrics.semantic_masking import certainty_penalty, information_content, loss_metric
from kanopy.release.run import mask

labels = st.lists(st.integers(0, 4), min_size=1, max_size=25)


@settings(max_examples=80, deadline=None)
@given(labels, st.integers(0, 999))
def test_partition_distance_is_a_distance(first: list[int], seed: int) -> None:
    rng = np.random.default_rng(seed)
    second, third = rng.integers(0, 4, (2, len(first)))
    assert partition_distance(first, first) == 0
    assert partition_distance(first, second) == pytest.approx(partition_distance(second, first))
    assert 0 <= partition_distance(first, second) <= 1
    direct = partition_distance(first, third)
    assert direct <= partition_distance(first, second) + partition_distance(second, third) + 1e-9
    renamed = [9 - label for label in first]
    assert partition_distance(renamed, second) == pytest.approx(partition_distance(first, second))


@settings(max_examples=40, deadline=None)
@given(st.integers(2, 8), st.integers(0, 9999))
def test_weights_stand_for_equal_records(count: int, seed: int) -> None:
    """The tree of weighted objects is the tree of all records above the joins of equal ones."""
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(count, 2))
    people = rng.integers(1, 4, count)
    far = np.linalg.norm(points[:, None] - points[None], axis=2)
    tree = ward(far, people)
    every = np.repeat(np.arange(count), people)
    whole = ward(far[np.ix_(every, every)], np.ones(len(every)))
    assert whole.merges[-(count - 1) :, 2] == pytest.approx(tree.merges[:, 2])
    for clusters in range(1, count + 1):
        assert partition_distance(tree.cut(clusters)[every], whole.cut(clusters)) == pytest.approx(0, abs=1e-9)


def test_ward_of_a_known_example() -> None:
    """Points 0, 1 and 5 on a line: 0 and 1 join at 1; then √(4/3) · 4.5 (the increase of squares, times two)."""
    points = np.array([0.0, 1.0, 5.0])
    tree = ward(np.abs(points[:, None] - points), [1, 1, 1])
    assert tree.merges[:, 2] == pytest.approx([1.0, np.sqrt(4 / 3) * 4.5])
    assert tree.cut(2).tolist() == [0, 0, 1]
    assert tree.cut(1).tolist() == [0, 0, 0]
    assert tree.cut(9).tolist() == [0, 1, 2]


def test_losses_count_hidden_values() -> None:
    groups, values = np.array([0, 0, 0, 1]), np.array([0, 1, 2, 3])
    assert loss_metric(groups, [values], [1, 1, 1, 3]) == pytest.approx((2 / 3) * 0.5)
    assert certainty_penalty(groups, [values], [1, 1, 1, 3]) == pytest.approx(0.75 * 0.5)
    numbers = [np.array([0.0, 0.1, 0.4, 1.0])]
    assert certainty_penalty(groups, [values], [1, 1, 1, 3], numbers) == pytest.approx(0.4 * 0.5)
    assert loss_metric(np.array([0]), [np.array([0])], [5]) == 0
    assert information_content([3, 0, 3]) == pytest.approx(np.log(2))


def test_linkage_of_a_small_masking() -> None:
    """Two beaches keep their text (found with chance 1/2 each), the coast publishes another's."""
    found = mask({"why": ["beach", "beach", "coast"]}, MaskJob(text=["why"], k=3, targets="any")).evaluation
    assert found.record_linkage_percent == pytest.approx(100 / 3)
    assert found.changed_records == 1
    same = mask({"why": ["walk", "walks", "walks"]}, MaskJob(text=["why"], k=3, targets="any")).evaluation
    assert same.semantic_linkage_percent == pytest.approx(100 / 3)
    assert same.semantic_quality == 1.0
