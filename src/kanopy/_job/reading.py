"""The table as its job says it is to be read: rows that are no records, values that mean missing, decimal commas."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kanopy._errors import DataError, near_miss, some
from kanopy._table.guessing.written import reader_of

if TYPE_CHECKING:
    import polars as pl

    from kanopy._arrays import Longs, Mask
    from kanopy._table.frames import Restore


def as_said(frame: pl.DataFrame, restore: Restore, job: Any) -> tuple[pl.DataFrame, Restore]:
    """The records of a table with missing values as nulls and written numbers as numbers, and the way back.

    >>> import polars as pl
    >>> from kanopy._job.job import Job
    >>> table = pl.DataFrame({"age": ["years", "41", "99"], "pay": ["EUR", "1.200,50", "?"]})
    >>> job = Job(skip_rows=1, missing_tokens="?", column_tokens={"age": "99"}, decimals={"pay": ","})
    >>> as_said(table, lambda frame, kept: frame, job)[0].rows()
    [('41', 1200.5), (None, None)]
    """
    import numpy as np

    from kanopy._table.column import column_values, emptied

    decimals, own = getattr(job, "decimals", {}), getattr(job, "column_tokens", {})
    skipped = getattr(job, "skip_rows", 0)
    absent = [name for name in (*own, *decimals) if name not in frame.columns]
    if absent:
        raise DataError(f"The table has no column {some(absent)}. {near_miss(absent[0], frame.columns)}")
    way_back = restore
    if skipped:
        if skipped >= frame.height:
            raise DataError(f"skip-rows is {skipped:,} but the table has only {frame.height:,} rows. Skip fewer.")
        rows = frame.height

        def of_records(frame: pl.DataFrame, kept: Mask | Longs | None = None) -> Any:
            records = np.arange(skipped, rows)
            return restore(frame, records if kept is None else records[kept])

        way_back, frame = of_records, frame.slice(skipped)
    changed = []
    for name, column in zip(frame.columns, frame.get_columns(), strict=True):
        tokens = (*job.missing_tokens, *own.get(name, ()))
        if tokens and not column.dtype.is_nested():
            gone = column_values(column, missing_tokens=tokens, strip=True).codes < 0
            if int(gone.sum()) > column.null_count():
                column = emptied(column, gone)
        if name in decimals:
            column = _numbers(column, decimals[name])
        changed.append(column)
    return frame.with_columns(changed), way_back


def _numbers(column: pl.Series, decimal: str) -> pl.Series:
    """Texts such as 1.234,50 € as numbers; an error names those that are none."""
    import polars as pl

    if column.dtype.is_numeric():
        return column
    read, texts = reader_of(decimal), column.cast(pl.String).rename("")
    distinct = [text for text in texts.unique().to_list() if text]
    numbers = {text: read(text) for text in distinct}
    wrong = sorted(text for text, number in numbers.items() if number is None)
    if wrong:
        sign = "comma" if decimal == "," else "point"
        raise DataError(
            f"The column {column.name!r} holds texts that are no numbers with a decimal {sign}: {some(wrong)}. Declare "
            "them missing (missing-tokens), or leave the setting decimal out."
        )
    found = texts.replace_strict(pl.Series(distinct), pl.Series(list(numbers.values()), dtype=pl.Float64), default=None)
    whole = all(number is not None and number.is_integer() and abs(number) < 2**53 for number in numbers.values())
    return (found.cast(pl.Int64) if whole else found).rename(column.name)
