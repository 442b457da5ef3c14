"""Rows that agree in some columns, found fast: every row becomes one integer, and equal integers are one class.

Values are compared as they are (null is a value of its own, as when grouping a frame). This is the quick way for
looking at a table; what is about to leave is regrouped by `kanopy.verify.verify` with code of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from kanopy._arrays import SUPPRESSED_LABEL, Ints, Longs, Mask
from kanopy._core import numbering
from kanopy._core.numbering import SMALL_ALONE
from kanopy._core.units import Units, known_rows, too_many_known
from kanopy._errors import DataError, JobError, near_miss, some

WIDEST_RANGE = 1 << 22
BUCKETS = 1 << 16
SAMPLE, FEW_VALUES = 5_000, 300
"""Texts with up to so many values among the first rows are coded by their hash."""


@dataclass(frozen=True, eq=False)
class CodedColumn:
    """A column as integers from 0 to `size - 1` (not all need occur); `hidden` is the code of `*`, or -1."""

    name: str
    codes: Longs
    size: int
    hidden: int = -1


def require_columns(frame: pl.DataFrame, names: Sequence[str]) -> None:
    """Raise an error that names the columns a frame lacks, with the near misses."""
    absent = [name for name in names if name not in frame.columns]
    if absent:
        raise DataError(f"The table has no column {some(absent)}. {near_miss(absent[0], frame.columns)}")


def code_columns(frame: pl.DataFrame, names: Sequence[str]) -> list[CodedColumn]:
    """Some columns of a frame as integers.

    >>> [c.codes.tolist() for c in code_columns(pl.DataFrame({"a": [True, False], "b": [7, 9]}), ["a", "b"])]
    [[1, 0], [0, 2]]
    """
    require_columns(frame, names)
    return [
        (_coded_text if frame.schema[name] == pl.String else _coded)(frame[name].rename(""), name) for name in names
    ]


def _coded_text(column: pl.Series, name: str) -> CodedColumn:
    """Texts by sixteen bits of their hash, if these tell all values apart: every text is compared with the first of
    its bucket, so that nothing rests on luck. Columns with many values are made categories, at twice the time."""
    if column.head(SAMPLE).n_unique() <= FEW_VALUES:
        hashes = column.hash().to_numpy()
        star = pl.Series([SUPPRESSED_LABEL]).hash().to_numpy()
        for shift in (48, 32, 16, 0):
            mask = np.uint64(BUCKETS - 1)
            buckets = ((hashes >> np.uint64(shift)) & mask).astype(np.int64)
            example = np.full(BUCKETS, -1, np.int64)
            example[buckets] = np.arange(len(buckets))
            if not (hashes[example[buckets]] == hashes).all():
                continue
            if not column.gather(pl.Series(example[buckets])).eq_missing(column).all():
                break
            used = example >= 0
            dense = np.cumsum(used) - 1
            at = int((star[0] >> np.uint64(shift)) & mask)
            hidden = bool(used[at]) and column[int(example[at])] == SUPPRESSED_LABEL
            return CodedColumn(name, dense[buckets], int(used.sum()), int(dense[at]) if hidden else -1)
    return _coded(column.cast(pl.Categorical), name)


def _coded(column: pl.Series, name: str) -> CodedColumn:
    dtype = column.dtype
    hidden: int | None = None
    if isinstance(dtype, (pl.Categorical, pl.Enum)):
        physical = column.to_physical()
        hidden = pl.Series([SUPPRESSED_LABEL]).cast(dtype, strict=False).to_physical()[0]
    elif dtype == pl.Boolean:
        physical = column.cast(pl.UInt8)
    elif dtype.is_integer() or dtype.is_temporal():
        physical = column.to_physical()
    elif dtype.is_nested() or dtype in (pl.Object, pl.Binary):
        raise DataError(
            f"The column {name!r} contains {dtype} values. Convert it to numbers or text first; a list becomes one "
            "row per element (explode), with the number of its row as the unit."
        )
    else:
        physical = column.rank("dense")
        if dtype.is_float() and column.is_nan().any():  # ranks may tell two NaN apart
            physical = column.fill_nan(None).rank("dense").fill_null(0)
            physical = pl.select(pl.when(column.is_null()).then(None).otherwise(physical)).to_series()
    if physical.dtype in (pl.Int128, pl.UInt64, pl.UInt128):
        physical = physical.rank("dense")
    empty = physical.null_count()
    if empty == len(physical):
        return CodedColumn(name, np.zeros(len(physical), np.int64), 1)
    low, high = int(physical.min()), int(physical.max())  # type: ignore[arg-type]
    if high - low >= WIDEST_RANGE:
        # Codes of categories may be shared with other columns and so lie far apart: number those that occur.
        hidden_at = None if hidden is None else (physical == hidden).arg_max()
        if hidden_at is not None and physical[hidden_at] != hidden:
            hidden_at = None
        physical = physical.rank("dense")
        hidden = None if hidden_at is None else physical[hidden_at]
        low, high = 1, int(physical.max())  # type: ignore[arg-type]
    top = high - low + 1
    if empty:
        physical = physical.cast(pl.Int64).fill_null(low + top)
        top += 1
    codes = physical.to_numpy().astype(np.int64)
    codes -= low
    return CodedColumn(name, codes, top, hidden - low if hidden is not None and low <= hidden <= high else -1)


@dataclass(frozen=True, eq=False)
class NumberedRows:
    """Classes numbered by first appearance: the class of every row (-1: suppressed), a row of each, and sizes: rows, or
    units where it is known whose rows they are."""

    class_of_row: Ints
    first: Longs
    sizes: Longs

    @property
    def suppressed(self) -> int:
        """Rows that are in no class."""
        return int((self.class_of_row < 0).sum())


def number_rows(
    frame: pl.DataFrame, names: Sequence[str], suppressed: Mask | None = None, units: Units | None = None
) -> NumberedRows:
    """The classes of some columns; rows with `*` in all of them (or those marked) are suppressed.

    >>> found = number_rows(pl.DataFrame({"a": ["x", "*", "y", "x"]}), ["a"])
    >>> found.class_of_row.tolist(), found.first.tolist(), found.sizes.tolist()
    ([0, -1, 1, 0], [0, 2], [2, 1])
    """
    columns = code_columns(frame, names)
    if not columns:
        raise DataError("Name at least one column to group by.")
    codes = [column.codes for column in columns]
    if suppressed is None:
        suppressed = _only_stars(columns)
        if suppressed is not None and suppressed.all():  # nothing tells anybody apart: the whole table is one class
            suppressed = None
    if suppressed is not None and suppressed.any():
        codes[0] = np.where(suppressed, -1, codes[0])
    numbered = NumberedRows(*numbering.number_rows(codes, [column.size for column in columns], small=SMALL_ALONE))
    return (
        numbered if units is None else replace(numbered, sizes=units.people(numbered.class_of_row, len(numbered.sizes)))
    )


def suppressed_rows(frame: pl.DataFrame, names: Sequence[str]) -> Mask:
    """Which rows show `*` in all of some columns.

    >>> suppressed_rows(pl.DataFrame({"a": ["x", "*"], "b": ["*", "*"]}), ["a", "b"]).tolist()
    [False, True]
    """
    only_stars = _only_stars(code_columns(frame, names))
    return np.zeros(frame.height, np.bool_) if only_stars is None else only_stars


def _only_stars(columns: Sequence[CodedColumn]) -> Mask | None:
    """Which rows have `*` in all columns; `None` where one has it nowhere."""
    if not all(column.hidden >= 0 for column in columns):
        return None
    return np.asarray(np.logical_and.reduce([column.codes == column.hidden for column in columns]), np.bool_)


def units_of(frame: pl.DataFrame, names: Sequence[str], missing_tokens: Sequence[str] = ()) -> tuple[Ints, int]:
    """The unit of every row by the columns that say whose it is, and how many rows do not say: those stand alone.

    >>> numbers, alone = units_of(pl.DataFrame({"patient": ["a", "b", None, "a", None]}), ["patient"])
    >>> numbers.tolist(), alone
    ([0, 1, 2, 0, 3], 2)

    Units are numbered by their values, in order, and after them the rows that stand alone.
    """
    from kanopy._table.column import column_values

    require_columns(frame, names)
    codes = [column_values(frame[name], missing_tokens=missing_tokens).codes for name in names]
    missing = _unsaid(codes)
    # Rows that do not say whose they are get a number of their own in one more column.
    alone = np.where(missing, np.cumsum(missing), 0).astype(np.int32)
    known_codes = [np.where(missing, 0, column).astype(np.int32) for column in codes]
    return numbering.number_rows([alone, *known_codes], ascending=True).number, int(missing.sum())


def without_unit(frame: pl.DataFrame, names: Sequence[str], missing_tokens: Sequence[str] = ()) -> Mask:
    """Which rows do not say whose they are.

    >>> without_unit(pl.DataFrame({"patient": ["a", None]}), ["patient"]).tolist()
    [False, True]
    """
    from kanopy._table.column import column_values

    return _unsaid([column_values(frame[name], missing_tokens=missing_tokens).codes for name in names])


def _unsaid(codes: Sequence[Ints]) -> Mask:
    return np.asarray(np.logical_or.reduce([column < 0 for column in codes]), np.bool_)


def units_in(frame: pl.DataFrame, names: Sequence[str], known: int | str = 1, part: bool = False) -> Units | None:
    """Whose rows a table has, by the columns that say it; `None` where none are named.

    Where a table is but a `part` of the one that `known` was said of, nobody needs to have as many rows.
    """
    from kanopy._table.roles import called

    rows = known_rows(known)
    if not names and rows != 1:
        raise JobError(f"known = {known} needs a unit: name the column of the person (unit=…, --unit).")
    if not names:
        return None
    units = Units(units_of(frame, names)[0], rows, called(names))
    if rows > (longest := int(units.multiplicity.max(initial=1))):
        if not part:
            raise too_many_known(rows, longest, some(names))
        units = replace(units, known=longest)
    return units


MOST = 0.5
"""Columns tie rows together where fewer than k people share the values of more than this share of the people."""


def tied_columns(frame: pl.DataFrame, unit: Sequence[str], names: Sequence[str], k: int) -> list[str]:
    """The fewest of some columns that are the same in all rows of a person and tell most people apart; the order of
    the table settles ties.

    >>> visits = pl.DataFrame({"who": [1, 1, 2, 2, 3], "first": [7, 7, 8, 8, 9], "age": [30, 31, 40, 41, 50]})
    >>> tied_columns(visits, ["who"], ["first", "age"], 2)
    ['first']
    """
    names = [name for name in names if not (frame[name].dtype.is_nested() or frame[name].dtype.is_object())]
    if not names:
        return []
    keys = [f"\0{index}" for index in range(len(names))]
    table = frame.select([*(pl.col(name).alias(f"\0u{at}") for at, name in enumerate(unit)),
                          *(pl.col(name).alias(key) for name, key in zip(names, keys, strict=True))])  # fmt: skip
    owner = [f"\0u{at}" for at in range(len(unit))]
    table = table.drop_nulls(owner)
    grouped = table.group_by(owner).agg([pl.col(key).n_unique() for key in keys])
    constant = [key for key in keys if (grouped[key] == 1).all()]
    people = table.group_by(owner).agg([pl.col(key).first() for key in constant])
    several = table.height > people.height

    def rare(columns: list[str]) -> bool:
        held = people.drop_nulls(columns)
        shared = held.group_by(columns).len()["len"]
        return bool(held.height) and int(shared.filter(shared < k).sum()) > MOST * people.height

    if not several or not constant:
        return []
    for key in constant:
        if rare([key]):
            return [names[keys.index(key)]]
    if len(constant) > 1 and rare(constant):
        return [names[keys.index(key)] for key in constant]
    return []
