"""The kernels that number keys agree with their plain twins."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kanopy._core.distinct_kernel import number_keys, pack
from kanopy._core.tallies import FIRST_ROOM, Keys, Rows
from kanopy._core.tally_kernel import number_more


@settings(max_examples=50, deadline=None)
@given(st.lists(st.integers(-1, 40), max_size=200), st.booleans())
def test_numbering_agrees_with_the_twin(values: list[int], small: bool) -> None:
    keys = np.array(values, np.int64) if small else np.array(values, np.int64) * 10**15
    keys[keys < 0] = -1
    direct = 41 if small else 0
    ours, theirs = np.empty(len(keys), np.int32), np.empty(len(keys), np.int32)
    first, counts = number_keys(keys, direct, ours)
    first_plain, counts_plain = number_keys.plain(keys, direct, theirs)
    assert (first == first_plain).all() and (counts == counts_plain).all() and (ours == theirs).all()


def test_the_hash_table_grows() -> None:
    rng = np.random.default_rng(3)
    keys = rng.integers(0, 60_000, 200_000) * 7919
    ours, theirs = np.empty(len(keys), np.int32), np.empty(len(keys), np.int32)
    first, counts = number_keys(keys, 0, ours)
    first_plain, counts_plain = number_keys.plain(keys, 0, theirs)
    assert len(first) > 50_000
    assert (first == first_plain).all() and (counts == counts_plain).all() and (ours == theirs).all()


@settings(max_examples=50, deadline=None)
@given(st.lists(st.tuples(st.integers(-1, 10**6), st.integers(-1, 6)), max_size=60))
def test_packing_agrees_with_the_twin(pairs: list[tuple[int, int]]) -> None:
    keys = np.array([key for key, _ in pairs], np.int64)
    codes = np.array([code for _, code in pairs], np.int32)
    ours, theirs = keys.copy(), keys.copy()
    pack(ours, codes, 7)
    pack.plain(theirs, codes, 7)
    assert (ours == theirs).all()
    assert all(
        got == (-1 if key < 0 or code < 0 else key * 7 + code) for got, (key, code) in zip(ours, pairs, strict=True)
    )


@settings(max_examples=50, deadline=None)
@given(st.lists(st.lists(st.integers(-2, 6), min_size=1), max_size=4), st.sampled_from([1, 2**61]))
def test_keys_that_come_in_pieces_are_numbered_as_defined(pieces: list[list[int]], factor: int) -> None:
    """The bare loop and the compiled one, a room of five keys, against a dictionary."""
    for loop in (number_more, number_more.plain):
        known, held, place, fill = np.empty(5, np.int64), np.full((16, 2), -1, np.int64), dict[int, int](), 1
        came = Counter[int]()
        for piece in pieces:
            keys = np.array(piece, np.int64) * factor
            number = np.full(len(keys), -9, np.int32)
            found = loop(keys, 0, len(place), number, known, held, fill)
            fill = 0
            for row, key in enumerate(keys.tolist()):
                if key not in place and len(place) == 5:
                    assert found == -1 - row
                    return
                came[place.setdefault(key, len(place))] += 1
                assert number[row] == place[key]
            assert found == len(place) and known[:found].tolist() == list(place)
            words = held[held[:, 1] >= 0, 1]
            assert dict(zip((words % 2**32).tolist(), (words >> 32).tolist(), strict=True)) == came


@pytest.mark.parametrize("scale", [1, 50_000])
def test_rows_in_pieces_are_numbered_as_at_once_however_they_fall(scale: int) -> None:
    draw = np.random.default_rng(5)
    table = draw.integers(0, 12, (60_000, 4)).astype(np.int32) * scale - 1
    columns = [np.ascontiguousarray(column) for column in table.T]
    columns[0][:10] = -1  # small codes first, so that room must be made
    whole = Rows(4).add(columns)
    rows, numbers, at = Rows(4), list[np.ndarray](), 0
    for size in (10, 3_000, 5, 20_000, 7, 36_978):
        numbers.append(rows.add([column[at : at + size] for column in columns]))
        at += size
    assert (np.concatenate(numbers) == whole).all() and at == len(table)
    assert len(rows) > FIRST_ROOM and len(rows) == len(np.unique(np.column_stack(columns), axis=0))
    assert all((codes[whole] == column).all() for codes, column in zip(rows.codes(), columns, strict=True))
    assert (rows.counts == np.bincount(whole)).all()


def test_counts_are_taken_out_of_the_table_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kanopy._core.tallies.MOST_UNCOUNTED", 100)
    keys = Keys()
    for _ in range(9):
        keys.add(np.arange(60) % 7)
    assert keys.counts.tolist() == (9 * np.bincount(np.arange(60) % 7)).tolist() == keys.counts.tolist()
