"""Hierarchies given by people name numbers, moments and truth values as hierarchies write them."""

from __future__ import annotations

import datetime as dt
from typing import Any

import polars as pl
import pytest

import kanopy
from kanopy.hierarchy.column import canonical_label

VALUES: dict[str, list[Any]] = {
    "whole floats": [1.0, 2.0, 3.0, 4.0],
    "floats": [1e20, 2.5, 1e-7, 3.0],
    "truth": [True, False, True, False],
    "days": [dt.date(2001, 1, day) for day in (1, 2, 3, 4)],
    "moments": [dt.datetime(2001, 3, 5, 10, 20), dt.datetime(2001, 3, 6, 10, 20, 1), dt.datetime(2002, 3, 5),
                dt.datetime(2002, 3, 5, 0, 0, 0, 5)],
    "times": [dt.time(1, 2), dt.time(3), dt.time(4, 5, 6), dt.time(3, 3)],
}  # fmt: skip


@pytest.mark.parametrize("kind", list(VALUES))
def test_groups_of_a_given_hierarchy_are_true_for_every_type(kind: str) -> None:
    """Floats and moments were looked up under another name than hierarchies have for them: a false alarm."""
    values = VALUES[kind]
    table = pl.DataFrame({"x": values})
    names = [canonical_label(value) for value in values]
    tree = kanopy.Hierarchy.from_rows(
        list({name: [name, f"group {place // 2}", "*"] for place, name in enumerate(names)}.values())
    )
    result = kanopy.anonymize(table, kanopy.Job(quasi="x", k=2, hierarchies={"x": tree}, min_levels={"x": 1}))
    assert set(result.data["x"].to_list()) <= {"group 0", "group 1", "*"}
