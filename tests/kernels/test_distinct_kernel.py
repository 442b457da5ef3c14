"""The kernels that number keys agree with their plain twins."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from kanopy._core.distinct_kernel import number_keys, pack


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
