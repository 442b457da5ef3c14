"""Counts that were kept: different rows with how often each occurs, for many jobs, added up over months or shards."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from kanopy._errors import DataError, near_miss, some

if TYPE_CHECKING:
    import polars as pl

ROWS_COLUMN = "rows"
"""What the column of counts is called in files; the last one."""


def read_counts(files: Sequence[Path], columns: Sequence[str]) -> pl.DataFrame:
    """The counts of all files together, for some of the columns that they count.

    >>> import tempfile, polars as pl
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for month in ("may", "june"):
    ...         counts = pl.DataFrame({"age": [41], "sex": ["f"], "rows": [3]})
    ...         counts.write_parquet(f"{folder}/{month}.parquet")
    ...     read_counts([Path(folder) / "may.parquet", Path(folder) / "june.parquet"], ["age"]).rows()
    [(41, 6)]
    """
    import polars as pl

    from kanopy._table.sources import read_table
    from kanopy.engine.contract import ROWS, counted

    parts = []
    for file in files:
        frame = read_table(file)
        if frame.columns[-1] != ROWS_COLUMN or not frame[ROWS_COLUMN].dtype.is_integer():
            raise DataError(
                f"{file} holds no counts: its last column is not {ROWS_COLUMN!r}. `kanopy count` makes them."
            )
        absent = [name for name in columns if name not in frame.columns[:-1]]
        if absent:
            hint = near_miss(absent[0], frame.columns[:-1])
            raise DataError(f"{file} does not count {some(absent)}, which the job needs. {hint}")
        rows = frame[ROWS_COLUMN].cast(pl.Int64)
        parts.append(counted([frame[name] for name in columns], rows))
        if parts[0].schema != parts[-1].schema:
            raise DataError(f"{files[0]} and {file} count values of different types. Count them alike.")
    whole = pl.concat(parts)
    found = counted(whole.get_columns()[:-1], whole[ROWS])
    plain = [column.alias(f"c{place}") for place, column in enumerate(found.get_columns())]
    table = pl.DataFrame(plain).sort([column.name for column in plain], nulls_last=True)
    table.columns = found.columns
    return table
