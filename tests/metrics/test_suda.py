"""Special uniques against their definition: every set of columns, every row, and no smaller set within."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from math import prod

import numpy as np
import pytest

from kanopy._errors import JobError
from kanopy.metrics.risk import suda
from kanopy.metrics.risk.suda import dis_suda, special_uniques

Row = tuple[int, ...]


def by_definition(rows: list[Row], largest: int) -> list[set[Row]]:
    """Per row its minimal sample uniques; -1 is missing, and part of none."""
    found: list[set[Row]] = [set() for _ in rows]
    width = len(rows[0])
    for size in range(1, min(largest, width - 1) + 1):
        for chosen in combinations(range(width), size):
            shown = [tuple(row[j] for j in chosen) for row in rows]
            counts = Counter(values for values in shown if min(values) >= 0)
            for number, values in enumerate(shown):
                smaller = any(set(other) < set(chosen) for other in found[number])
                if counts[values] == 1 and not smaller:
                    found[number].add(chosen)
    return found


def compare(first: int, tables: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(first)
    for number in range(tables):
        rows, width, largest = int(rng.integers(1, 25)), int(rng.integers(2, 6)), int(rng.integers(1, 6))
        lowest = -1 if rng.random() < 0.3 else 0
        columns = [rng.integers(lowest, rng.integers(1, 6), rows).astype(np.int32) for _ in range(width)]
        wanted = by_definition(list(zip(*(column.tolist() for column in columns), strict=True)), largest)
        monkeypatch.setattr(suda, "FEW", -1 if number % 4 else 10**9)  # the compiled search, now and then its twin
        found = special_uniques([str(j) for j in range(width)], columns, largest)
        own: list[list[Row]] = [[] for _ in range(rows)]
        for row, sets in zip(found.row_of_set.tolist(), found.columns_of_set.tolist(), strict=True):
            own[row].append(tuple(j for j in range(width) if sets >> j & 1))
        assert [sorted(each) for each in own] == [sorted(each) for each in wanted]
        most = min(largest, width - 1)
        scores = [sum(prod(width - i for i in range(len(each), most + 1)) for each in sets) for sets in wanted]
        assert found.scores.tolist() == scores
        for j in range(width):
            parts = [sum(prod(width - i for i in range(len(each), most + 1)) for each in sets if j in each)
                     for sets in wanted]  # fmt: skip
            assert found.of_rows(j).tolist() == parts
            by_value = Counter[int]()
            for row, part in enumerate(parts):
                by_value[int(columns[j][row])] += part
            shares = found.of_values(j, columns[j], 6)
            assert shares.tolist() == pytest.approx([by_value[v] / (sum(scores) or 1) for v in range(6)])


def test_a_thousand_random_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    compare(0, 1_000, monkeypatch)


@pytest.mark.slow
def test_ten_thousand_random_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    for part in range(1, 11):
        compare(part, 1_000, monkeypatch)


def test_more_sets_than_there_is_room_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """Many rows that pairs of columns single out have far more sets than the search makes room for at first."""
    rng = np.random.default_rng(1)
    columns = [rng.integers(0, 40, 300).astype(np.int32) for _ in range(10)]
    both = []
    for few in (-1, 10**9):
        monkeypatch.setattr(suda, "FEW", few)
        both.append(special_uniques([str(j) for j in range(10)], columns, 3))
    assert both[0].columns_of_set.tolist() == both[1].columns_of_set.tolist()
    assert len(both[0].row_of_set) > 8 * 300 + 1_000


def test_calibration() -> None:
    scores = np.array([0.0, 1.0, 2.0])
    assert dis_suda(scores, 4, 0, 0.01).tolist() == [0.0, 1.0, 1.0]  # no pairs: a unique match is right
    assert dis_suda(scores, 4, 3, 1.0).tolist() == [0.0, 1.0, 1.0]  # everybody is in the table
    small, large = dis_suda(scores, 4, 3, 0.01), dis_suda(scores, 4, 3, 0.1)
    assert (small[1:] < large[1:]).all() and small[1] < small[2]


@pytest.mark.parametrize(
    ("columns", "largest", "fraction", "words"),
    [
        (1, 3, None, "2 to 60 columns, not 1"),
        (61, 3, None, "2 to 60 columns, not 61"),
        (3, 0, None, "at least 1 column"),
        (40, 20, None, "too large to count"),
        (3, 2, 0.0, "above 0"),
    ],
)  # fmt: skip
def test_what_cannot_be_asked(columns: int, largest: int, fraction: float | None, words: str) -> None:
    with pytest.raises(JobError, match=words):
        special_uniques(["x"] * columns, [np.zeros(2, np.int32)] * columns, largest, sampling_fraction=fraction)
