"""The table as its job says it is to be read: rows that are no records, values that mean missing, decimal commas."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kanopy._errors import DataError, near_miss, some

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
    from kanopy._table.guessing.written import written_numbers

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
            column = written_numbers(column, decimals[name])
        changed.append(column)
    return frame.with_columns(changed), way_back
