"""Small cells equal plain counts; hidden cells follow from no total, and hardly more are hidden than must be."""

from __future__ import annotations

import random
from collections import Counter
from itertools import combinations, product

import polars as pl
import pytest

from kanopy._errors import KanopyError
from kanopy.attacks.cell_suppression import TOTAL, fewest_hidden, protect_table
from kanopy.attacks.cells import small_cells

NAMES = ["a", "b", "c", "d"]


def table(seed: int, rows: int = 60) -> pl.DataFrame:
    draw = random.Random(seed)
    return pl.DataFrame({name: [draw.choice("xxxyyz") for _ in range(rows)] for name in NAMES})


@pytest.mark.parametrize("seed", range(5))
def test_counts_are_those_of_plain_loops(seed: int) -> None:
    frame = table(seed)
    found = small_cells(frame, NAMES, least=11)
    for each in found.crosses:
        rows = list(frame.select(each.columns).iter_rows())
        counts = Counter(rows)
        assert each.cells == len(counts)
        assert each.small == sum(count < 11 for count in counts.values())
        assert each.people_in_small == sum(count for count in counts.values() if count < 11)
        differences = 0
        for place in range(len(each.columns)):
            for cell, count in counts.items():
                same = [
                    other for other in counts if other[:place] + other[place + 1 :] == cell[:place] + cell[place + 1 :]
                ]
                rest = sum(counts[other] for other in same) - count
                differences += len(same) > 2 and count >= 11 and 0 < rest < 11
        assert each.differences == differences
    assert len(found.crosses) == 4 + 6 + 4


def test_people_count_once() -> None:
    frame = pl.DataFrame({"who": ["p", "p", "q"], "a": ["x", "x", "x"]})
    assert small_cells(frame, ["a"], least=3, unit=["who"]).crosses[0].people_in_small == 2


@pytest.mark.parametrize("seed", range(4))
def test_few_cells_are_hidden(seed: int) -> None:
    frame = table(seed, 110).select(NAMES[:2])
    found = protect_table(frame, NAMES[:2], least=8)
    assert found.holds
    assert found.complementary <= fewest_hidden(found) + 1


@pytest.mark.parametrize("seed", range(3))
def test_no_small_cell_follows_from_what_is_published(seed: int) -> None:
    """Every way to fill the hidden cells of a small table is tried: the reader cannot exclude that a cell is large,
    although he knows that no hidden cell is empty."""
    draw = random.Random(seed)
    frame = pl.DataFrame({"a": [draw.choice("xxy") for _ in range(18)], "b": [draw.choice("uuv") for _ in range(18)]})
    least = 4
    found = protect_table(frame, ["a", "b"], least=least)
    shown = {
        labels: None if gone else int(count)
        for labels, count, gone in zip(found.labels, found.counts, found.hidden, strict=True)
    }
    inner = [(a, b) for a in "xy" for b in "uv"]
    largest = dict.fromkeys(shown, -1)
    for counts in (each for each in product(range(19), repeat=4) if sum(each) == 18):
        cells = dict(zip(inner, counts, strict=True))
        cells |= {(a, TOTAL): sum(cells[a, b] for b in "uv") for a in "xy"}
        cells |= {(TOTAL, b): sum(cells[a, b] for a in "xy") for b in "uv"}
        cells[TOTAL, TOTAL] = sum(counts)
        if all(cells[labels] > 0 if shown[labels] is None else shown[labels] == cells[labels] for labels in shown):
            largest = {labels: max(largest[labels], cells[labels]) for labels in shown}
    for place, labels in enumerate(found.labels):
        if found.primary[place]:
            assert largest[labels] >= least, (labels, found.to_frame())
        if found.hidden[place]:
            assert found.high[place] == pytest.approx(largest[labels])


def test_hidden_counts_do_not_leave() -> None:
    frame = table(1, 110).select(NAMES[:3])
    found = protect_table(frame, NAMES[:3], least=8)
    published = found.to_frame()["count"]
    assert published.null_count() == int(found.hidden.sum())
    assert not [count for count in published.drop_nulls() if 0 < count < 8]


def test_refused_with_words() -> None:
    frame = table(1)
    for call, words in (
        (lambda: small_cells(frame, ["a", "shoe"]), "no column 'shoe'"),
        (lambda: small_cells(frame, ["a"], least=1), "at least 2"),
        (lambda: small_cells(frame.clear(), ["a"]), "no rows"),
        (lambda: protect_table(frame, NAMES), "1 to 3 columns"),
        (lambda: protect_table(frame.with_columns(who=pl.lit("p")), ["a"], unit=["who"]), "do not add up"),
    ):
        with pytest.raises(KanopyError, match=words):
            call()


def test_all_crosses_of_up_to_three() -> None:
    sizes = [len(each.columns) for each in small_cells(table(2), NAMES).crosses]
    assert sizes == [len(each) for size in (1, 2, 3) for each in combinations(NAMES, size)]
