"""Lists in cells: one row per element to be protected, and back to one row per list to be published.

A list is the trace of its row: whoever knows m of its elements must find k rows that hold them (kᵐ-anonymity of
transactions; Terrovitis, Mamoulis, Kalnis 2008).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from kanopy._arrays import SUPPRESSED_LABEL, Longs
from kanopy._errors import DataError, near_miss, some
from kanopy._table.policies import ONCE

ROW, HIDDEN = "\0row", "\0hidden"


@dataclass(frozen=True, eq=False)
class Lists:
    """The lists of a column, unrolled: which row each element came from."""

    column: str
    row_of: Longs
    separator: str | None
    once: bool
    empty: int
    """Rows without elements."""

    @property
    def note(self) -> str:
        """What to say of it."""
        rows, elements = int(self.row_of[-1]) + 1, len(self.row_of) - self.empty
        note = (
            f"The lists of {self.column!r} are protected element by element: {elements:,} elements of {rows:,} records."
        )
        if self.empty:
            lists = "list is" if self.empty == 1 else "lists are"
            note += f" {self.empty:,} {lists} empty, which is protected like a missing value."
        return note

    def rolled(self, frame: pl.DataFrame, rows: Longs) -> tuple[pl.DataFrame, Longs]:
        """One row per list again, and the rows they came from; `rows` says of which element each row was made.

        What was suppressed leaves its list, whose elements come in the order of their labels.

        >>> lists = Lists("bought", np.array([0, 0, 1]), None, True, 0)
        >>> elements = pl.DataFrame({"bought": ["snack", "drink", "*"], "sex": ["f", "f", "*"]})
        >>> lists.rolled(elements, np.arange(3))[0].rows()
        [(['drink', 'snack'], 'f'), (['*'], '*')]
        """
        hidden = (frame[self.column].cast(pl.String) == SUPPRESSED_LABEL).fill_null(False)
        tagged = frame.with_columns(pl.Series(ROW, self.row_of[rows]), hidden.alias(HIDDEN))
        list_column = pl.col(self.column)
        visible = tagged.filter(~pl.col(HIDDEN) & list_column.is_not_null()).group_by(ROW)
        lists = visible.agg((list_column.unique() if self.once else list_column).sort())
        others = [name for name in frame.columns if name != self.column]
        # What the row says besides its list stands in those of its elements that are published.
        wide = tagged.group_by(ROW, maintain_order=True).agg(
            [pl.col(name).sort_by(HIDDEN, maintain_order=True).first() for name in others] + [pl.col(HIDDEN).any()]
        )
        kind = lists.schema[self.column]
        nothing = pl.lit([], dtype=kind)
        if hidden.any():
            nothing = pl.when(HIDDEN).then(pl.lit([SUPPRESSED_LABEL], dtype=kind)).otherwise(nothing)
        joined = wide.join(lists, on=ROW, how="left", maintain_order="left").with_columns(
            pl.coalesce(list_column, nothing)
        )
        back = joined[ROW].to_numpy().astype(np.int64)
        return joined.with_columns(self._written(joined[self.column])).select(frame.columns), back

    def _written(self, lists: pl.Series) -> pl.Series:
        """Lists as they came: as such, or as texts with their separator."""
        if self.separator is None:
            return lists
        texts = lists.cast(pl.List(pl.String))
        labels = texts.explode().drop_nulls().unique()
        wrong = labels.filter(labels.str.contains(self.separator, literal=True)).sort().to_list()
        if wrong:
            raise DataError(
                f"Labels of {self.column!r} contain its separator {self.separator!r}: {some(wrong)}. Use labels "
                "without it, or a column of lists (Parquet, Arrow)."
            )
        return texts.list.join(self.separator).replace("", None)


def unrolled(
    frame: pl.DataFrame, columns: Sequence[str], separators: Mapping[str, str], repeats: str = ONCE
) -> tuple[pl.DataFrame, Lists | None]:
    """The table with one row per element of the lists among `columns`; `None` where there are none.

    A column of texts is one of lists where `separators` says what stands between the elements.

    >>> frame, lists = unrolled(pl.DataFrame({"bought": ["ale; nuts", None]}), ["bought"], {"bought": ";"})
    >>> frame["bought"].to_list(), lists.row_of.tolist(), lists.empty
    (['ale', 'nuts', None], [0, 0, 1], 1)
    """
    for name in separators:
        if name not in frame.columns:
            raise DataError(f"The table has no column {name!r}, for which a separator is given. "
                            f"{near_miss(name, frame.columns)}")  # fmt: skip
        if frame.schema[name] not in (pl.String, pl.Null) and not isinstance(frame.schema[name], pl.Categorical):
            raise DataError(f"{name!r} holds {frame.schema[name]} values: a separator is for texts. Leave it out.")
    list_columns = [
        name for name in columns if isinstance(frame.schema.get(name), (pl.List, pl.Array)) or name in separators
    ]
    if not list_columns:
        return frame, None
    if len(list_columns) > 1:
        raise DataError(
            f"{some(list_columns)} contain lists, and a job can protect only one column of lists. Give the others "
            "another role, or publish them separately."
        )
    name, separator = list_columns[0], separators.get(list_columns[0])
    column = frame[name]
    if separator is not None:
        parts = column.cast(pl.String).str.split(separator).list.eval(pl.element().str.strip_chars())
        column = parts.list.eval(pl.element().filter(pl.element() != ""))
    inner = column.dtype.inner  # type: ignore[attr-defined]
    if inner.is_nested():
        raise DataError(
            f"The column {name!r} contains lists of {inner} values, e.g. "
            f"{some(column.drop_nulls().head(2).to_list())}. Only lists of single numbers, texts, dates and truth "
            "values can be protected: flatten them first."
        )
    column = (column.arr.to_list() if isinstance(column.dtype, pl.Array) else column).list.drop_nulls()
    bare = column.list.len().fill_null(0) == 0
    empty = int(bare.sum())
    if empty == frame.height:
        raise DataError(f"All lists of {name!r} are empty. Leave the column out.")
    # An empty list keeps its row, with a missing element: what else is known of it is protected too.
    filled = pl.when(bare).then(pl.lit([None], dtype=column.dtype)).otherwise(column).alias(name)
    long = frame.with_columns(filled).with_row_index(ROW).explode(name)
    rows = long[ROW].to_numpy().astype(np.int64)
    return long.drop(ROW), Lists(name, rows, separator, repeats == ONCE, empty)
