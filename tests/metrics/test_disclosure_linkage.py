"""Attribute disclosure and record linkage on tables small enough to work by hand."""

from __future__ import annotations

import numpy as np
import pytest

from kanopy._errors import JobError
from kanopy.metrics.risk.disclosure import attribute_disclosure
from kanopy.metrics.risk.linkage import PublishedColumn, attack
from kanopy.metrics.utility.published_values import ColumnDomain, understand

AGES = ColumnDomain("age", ("20", "30", "40", "50"), np.ones(4, np.int64), np.array([20.0, 30, 40, 50]))
SEX = ColumnDomain("sex", ("f", "m"), np.ones(2, np.int64))


def column(values: list[int], labels: list[int], texts: list[str], domain: ColumnDomain = AGES) -> PublishedColumn:
    return PublishedColumn(np.array(values, np.int32), np.array(labels, np.int32), understand(texts, domain))


def test_disclosure_by_hand() -> None:
    """Class 0: flu flu flu flu. Class 1: flu cancer. Table: flu 5/6, cancer 1/6."""
    found = attribute_disclosure("ill", [0, 1, 1], [0, 0, 1], [4, 1, 1], level=0.9)
    assert (found.rows, found.classes, found.values, found.distinct) == (6, 2, 2, 1)
    assert (found.certain_classes, found.certain_rows, found.likely_rows) == (1, 4, 4)
    assert found.baseline == pytest.approx(5 / 6)
    assert found.expected_confidence == pytest.approx((4 * 1 + 2 * 0.5) / 6)
    assert found.largest_shift == pytest.approx(1 / 3)  # class 1: |1/2 - 5/6|
    entropy = -(5 / 6 * np.log2(5 / 6) + 1 / 6 * np.log2(1 / 6))
    assert found.uncertainty == pytest.approx(entropy)
    assert found.information == pytest.approx(entropy - 2 / 6 * 1.0)
    assert [(each.group, each.value, each.rows) for each in found.worst] == [(0, 0, 4)]
    with pytest.raises(JobError):
        attribute_disclosure("ill", [0], [0], [1], level=0.0)


def test_exact_attack_by_hand() -> None:
    """Ages 20 30 40 50 published as 20-30, 20-30, 40, *: the last row can be anybody's."""
    ages = column([0, 1, 2, 3], [0, 0, 1, 2], ["20-30", "40", "*"])
    everyone = np.arange(4)
    found = attack([ages], everyone, kind="exact")
    # 20 and 30: two rows of the class and the hidden one; 40: its own and the hidden one; 50: only the hidden one.
    assert found.found == pytest.approx(1 / 3 + 1 / 3 + 1 / 2 + 1)
    assert found.certain == 1
    hidden = attack([ages], everyone, kind="exact", hidden=np.array([False, False, False, True]))
    assert hidden.found == pytest.approx(1 / 2 + 1 / 2 + 1)
    assert hidden.unmatched == 1


def test_nearest_attack_survives_noise() -> None:
    """Disturbed numbers fit nobody exactly; the nearest row is still the person's own."""
    ages = column([0, 1, 2, 3], [0, 1, 2, 3], ["21.5", "33", "37", "52"])
    sexes = column([0, 1, 0, 1], [0, 1, 0, 1], ["f", "m"], SEX)
    exact = attack([ages, sexes], np.arange(4), kind="exact")
    assert (exact.found, exact.unmatched) == (0.0, 4)
    near = attack([ages, sexes], np.arange(4), kind="nearest")
    assert (near.found, near.certain, near.highest_risk) == (4.0, 4, 1.0)


def test_exchanged_rows_are_wrong_matches() -> None:
    ages = column([0, 1, 2, 3], [1, 0, 3, 2], ["20", "30", "40", "50"])
    found = attack([ages], np.arange(4), kind="nearest")
    assert (found.found, found.wrong) == (0.0, 4)


def test_rows_left_out_and_samples() -> None:
    ages = column([0, 1, 2, 3], [0, 1], ["20", "30"])
    partner = np.array([0, 1, -1, -1])
    assert attack([ages], partner, kind="exact").unmatched == 2
    sampled = attack([ages], partner, kind="exact", most_attempts=2, seed=3)
    assert (sampled.attempts, sampled.people) == (2, 4)
    assert sampled == attack([ages], partner, kind="exact", most_attempts=2, seed=3)
