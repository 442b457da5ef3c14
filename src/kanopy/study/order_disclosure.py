"""What the order of rows gives away, where a release keeps it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from kanopy._table.streams.row_order import row_hashes
from kanopy.study.earlier_release import row_order

if TYPE_CHECKING:
    from kanopy._arrays import Mask

FEWEST_IN_ORDER = 8
"""Fewer different values may stand in order by chance."""
STAND_TOGETHER = 0.5
"""Units are told to stand together where this share of their rows, those that follow another of theirs, do."""


def what_order_tells(
    frame: pl.DataFrame, hidden: Iterable[str], unit: Sequence[str], rows: int, mask: Mask | None = None
) -> str:
    """What to say of a release whose `rows` stand in the order of the table; `mask` are those that are published.

    `frame` is the table or its beginning, `hidden` are columns that are not published as they are.

    >>> table = pl.DataFrame({"id": [str(i) for i in range(1, 21)], "age": [30, 40] * 10})
    >>> what_order_tells(table, ["id", "age"], [], 20).partition(": ")[2]
    "whoever knows this order finds 20 of 20 rows. They are in the order of 'id'."
    """
    partner = np.arange(rows) if mask is None else np.where(mask, np.cumsum(mask) - 1, -1)
    order = row_order(partner)
    message = (
        f"Rows keep the order of the table (shuffle = false): whoever knows this order finds {order.found:,} of "
        f"{order.rows:,} rows."
    )
    if name := next((name for name in hidden if name in frame.columns and _in_order(frame[name])), None):
        message += f" They are in the order of {name!r}."
    if unit and stand_together(frame, unit):
        message += f" Rows with the same {' and '.join(map(repr, unit))} are adjacent."
    return message


def _in_order(column: pl.Series) -> bool:
    """Whether rows stand in the order of a column; texts that are numbers are compared as such."""
    column = column.rename("").drop_nulls()
    if column.dtype.is_nested() or column.dtype.is_object():
        return False
    if column.dtype == pl.String:
        numbers = column.cast(pl.Float64, strict=False)
        column = column if numbers.null_count() else numbers
    elif isinstance(column.dtype, (pl.Categorical, pl.Enum)):
        column = column.cast(pl.String)
    ordered = column.is_sorted() or column.is_sorted(descending=True)
    return ordered and column.n_unique() >= FEWEST_IN_ORDER


def stand_together(frame: pl.DataFrame, unit: Sequence[str]) -> bool:
    """Whether most rows of a unit that has several follow each other."""
    unit_hashes = row_hashes(frame[list(unit)])[0]
    further_rows = frame.height - len(np.unique(unit_hashes))
    return further_rows > 0 and int((unit_hashes[1:] == unit_hashes[:-1]).sum()) >= STAND_TOGETHER * further_rows
