"""Lists in cells, looked at element by element: whose elements they are, and which label of a release is whose."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from kanopy._arrays import SUPPRESSED_LABEL
from kanopy._core.units import Units, known_rows, too_many_known
from kanopy._errors import DataError, some
from kanopy._job.usage import KNOWN
from kanopy._table.grouping import units_in
from kanopy._usage import refuse_in_vain
from kanopy.engine.lists import Lists, unrolled

if TYPE_CHECKING:
    from kanopy.hierarchy.hierarchy import Hierarchy


def opened(
    frame: pl.DataFrame,
    quasi: Sequence[str],
    separators: Mapping[str, str],
    unit: Sequence[str],
    known: int | str,
    part: bool = False,
) -> tuple[pl.DataFrame, Units | None, Lists | None]:
    """A table with a row per element of its lists, and whose rows these are: its unit's, or those of each list.

    A `part` of the table that `known` was said of, such as a release without suppressed rows, may have fewer of each.

    >>> table = pl.DataFrame({"bought": [["ale", "nuts"], ["ale"]]})
    >>> frame, units, _ = opened(table, ["bought"], {}, (), 2)
    >>> frame["bought"].to_list(), units.of_row.tolist(), units.called
    (['ale', 'nuts', 'ale'], [0, 0, 1], 'records')
    """
    frame, lists = unrolled(frame, quasi, separators)
    if strangers := [name for name in separators if name not in quasi]:
        raise DataError(
            f"separators names {some(strangers)}, which is not a quasi-identifier: only lists of quasi-identifiers "
            "are split."
        )
    if known != 1 and lists is None and not unit:
        refuse_in_vain({"known": KNOWN})
    if lists is None or unit:
        units = units_in(frame, unit, known, part)
        return frame, units if units is None or lists is None else replace(units, once=lists.once), lists
    units_of_lists = Units(lists.row_of.astype(np.int32), known_rows(known), "records", lists.once)
    if units_of_lists.known > (longest := int(units_of_lists.multiplicity.max())):
        if part:
            return frame, replace(units_of_lists, known=longest), lists
        raise too_many_known(units_of_lists.known, longest, f"elements of {lists.column!r}")
    return frame, units_of_lists, lists


def paired(original: pl.DataFrame, released: pl.DataFrame, lists: Lists, hierarchy: Hierarchy | None) -> pl.DataFrame:
    """A release with the rows of `original`, one per element: each with the label of its list that stands above it.

    Elements of which nothing is published are suppressed. The rows of both tables are in the same order.

    >>> from kanopy.hierarchy.hierarchy import Hierarchy
    >>> table, tree = pl.DataFrame({"b": [["ale", "nuts"], ["tea"]]}), Hierarchy.from_rows([["ale", "drink"]])
    >>> frame, _, lists = opened(table, ["b"], {}, (), 1)
    >>> paired(frame, pl.DataFrame({"b": [["drink"], ["tea"]]}), lists, tree)["b"].to_list()
    ['drink', '*', 'tea']
    """
    rows, name = int(lists.row_of[-1]) + 1, lists.column
    if released.height != rows or name not in released.columns:
        raise DataError(
            f"The lists of {name!r} are compared row by row: the release needs that column and {rows:,} rows in the "
            f"same order, and has {released.height:,}. Publish suppressed rows too (suppressed_rows='keep')."
        )
    column = released[name]
    if lists.separator is not None:
        column = column.cast(pl.String).str.split(lists.separator)
    labels_of_row = [set(map(str, cell or ())) for cell in column.to_list()]
    above: dict[str, list[str]] = {}
    labels: list[str | None] = []
    for row, value in zip(lists.row_of.tolist(), original[name].to_list(), strict=True):
        element = None if value is None else str(value)
        if element is None:
            labels.append(None if not labels_of_row[row] else SUPPRESSED_LABEL)
            continue
        if element not in above:
            line = hierarchy.table[:, hierarchy.index[element]] if hierarchy and element in hierarchy.index else ()
            above[element] = [element, *(hierarchy.label(int(node)) for node in line if hierarchy)]
        labels.append(next((label for label in above[element] if label in labels_of_row[row]), SUPPRESSED_LABEL))
    paired_rows: pl.DataFrame = released[lists.row_of.tolist()]
    return paired_rows.with_columns(pl.Series(name, labels, dtype=pl.String))
