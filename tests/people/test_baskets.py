"""kᵐ-anonymity: lists unrolled to one row per element equal brute force over all levels; lists as such are refused."""

from __future__ import annotations

from collections import Counter
from itertools import combinations

import numpy as np
import polars as pl
import pytest

import kanopy
from kanopy import Job
from kanopy._errors import DataError, NoSolution

ITEMS = [f"i{number}" for number in range(8)]
TREE = kanopy.Hierarchy.from_rows([[item, f"g{i // 2}", f"h{i // 4}", "*"] for i, item in enumerate(ITEMS)])


def rarest(baskets: list[list[str]], m: int) -> int:
    """How many baskets hold the rarest combination of up to m items, equal ones counted as often as they occur."""
    fits: Counter[tuple[str, ...]] = Counter()
    for basket in baskets:
        fits.update({part for size in range(1, m + 1) for part in combinations(sorted(basket), size)})
    return min(fits.values())


@pytest.mark.parametrize("m", [1, 2, 3])
def test_unrolled_lists_equal_brute_force(m: int) -> None:
    draw = np.random.default_rng(m)
    for _ in range(25):
        baskets = [draw.choice(ITEMS, int(draw.integers(2, 5))).tolist() for _ in range(int(draw.integers(4, 16)))]
        table = pl.DataFrame({"basket": range(len(baskets)), "items": baskets}).explode("items")
        levels = [
            [[TREE.label(int(TREE.table[at, TREE.index[i]])) for i in each] for each in baskets] for at in range(4)
        ]
        safe = [at for at in range(4) if rarest(levels[at], m) >= 3]
        if m > max(map(len, baskets)):
            continue
        wanted = Job(quasi="items", k=3, unit="basket", known=m, hierarchies={"items": TREE})
        try:
            found = kanopy.anonymize(table, wanted).levels
        except NoSolution:
            assert not safe
            continue
        assert found == {"items": safe[0]}


@pytest.mark.parametrize("cells", [[["a"], ["b"], []], [[["a"]], [["b"]], [["a"]]]])
def test_lists_are_refused_with_what_to_do(cells: list[object]) -> None:
    with pytest.raises(DataError, match="one row per element"):
        kanopy.anonymize(pl.DataFrame({"items": cells}), Job(quasi="items", k=2))
