"""The search for special uniques against its plain twin."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from kanopy._arrays import Ints, Longs
from kanopy.metrics.risk.suda_kernel import Found, Tree, minimal_uniques


def room(rows: int, most: int, widest: int, size: int) -> tuple[Tree, Found]:
    nodes = np.zeros((most + 1, rows), np.int32)
    tree = Tree(
        nodes, nodes.copy(), *(np.zeros(most + 1, np.int64) for _ in range(2)),
        *(np.zeros(widest, np.int64) for _ in range(3)),
    )  # fmt: skip
    return tree, Found(
        np.zeros(size, np.int32), np.zeros(size, np.int64), np.zeros(size, np.int32), np.full(rows, -1, np.int32)
    )


def sets(codes: Ints, counts: Longs, most: int, size: int, *, plain: bool) -> list[tuple[int, int]] | None:
    tree, found = room(len(counts), most, 4, size)
    search = minimal_uniques.plain if plain else minimal_uniques.loop  # type: ignore[attr-defined]
    number = search(codes, counts, most, tree, found)
    assert plain or not (tree.tally.any() or tree.single.any() or tree.place.any()), "tables are left empty"
    return (
        None if number < 0 else sorted(zip(found.row[:number].tolist(), found.columns[:number].tolist(), strict=True))
    )


@settings(max_examples=120, deadline=None)
@given(st.data())
def test_minimal_uniques(data: st.DataObject) -> None:
    columns, rows = data.draw(st.integers(1, 4)), data.draw(st.integers(1, 12))
    cells = st.lists(st.integers(-1, 3), min_size=rows, max_size=rows)
    codes = np.array([data.draw(cells) for _ in range(columns)], np.int32)
    counts = np.array(data.draw(st.lists(st.integers(1, 2), min_size=rows, max_size=rows)), np.int64)
    most, size = data.draw(st.integers(1, columns)), data.draw(st.sampled_from([3, 200]))
    assert sets(codes, counts, most, size, plain=False) == sets(codes, counts, most, size, plain=True)
