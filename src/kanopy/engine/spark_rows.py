"""Rows of a Spark frame that pass by Python on its executors, in large pieces: to be treated, or to be drawn.

Functions go to the executors with the tasks, and with them the secret key: where executors keep tasks on disk, Spark
encrypts them if `spark.io.encryption.enabled` says so.
"""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import polars as pl

from kanopy._arrays import Longs, Mask
from kanopy._table.streams.scans import BATCH_ROWS
from kanopy.engine.statements import SPARK

DIGEST, TURN, UNIT, ALONE = "kanopy_digest", "kanopy_turn", "kanopy_unit", "kanopy_alone"
CHOSEN = "kanopy_chosen"


def with_columns(frame: Any, made: Callable[[pl.DataFrame], pl.DataFrame], like: Any) -> Any:
    """A frame with more columns, which Python makes of pieces of its rows; `like` is their schema in Spark."""
    from pyspark.sql.types import StructType

    schema = StructType([*frame.schema.fields, *like.fields])
    with without_pandas():
        return frame.mapInArrow(_appending(made, [field.name for field in schema.fields]), schema)


@contextlib.contextmanager
def without_pandas() -> Iterator[None]:
    """Nothing is said of the version of pandas, which Spark looks at even where pieces of rows are Arrow tables."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas", FutureWarning)
        yield


def schema_of(frame: pl.DataFrame, session: Any, own: Any = None) -> Any:
    """What Spark calls the columns of a frame; those of `own` that have the same type keep theirs."""
    fields = session.createDataFrame(frame.to_arrow()).schema
    for field in fields.fields:
        field.nullable, field.dataType = True, (own or {}).get(field.name, field.dataType)
    return fields


def _appending(made: Callable[[pl.DataFrame], pl.DataFrame], names: Sequence[str]) -> Any:
    def work(batches: Iterable[Any]) -> Iterator[Any]:
        import pyarrow

        for table in _joined(batch for batch in batches if batch.num_rows):
            rows = pl.from_arrow(table)
            assert isinstance(rows, pl.DataFrame)
            for name, column in zip(names[table.num_columns :], made(rows).get_columns(), strict=True):
                arrow = column.rechunk().to_arrow()
                text = str(arrow.type) in ("large_string", "string_view")
                table = table.append_column(name, arrow.cast("string") if text else arrow)
            yield from pyarrow.Table.from_arrays(table.columns, names=list(names)).to_batches()

    return work


def _joined(batches: Iterable[Any]) -> Iterator[Any]:
    """Batches of Arrow, which are small, as larger tables."""
    import pyarrow

    held: list[Any] = []
    for batch in batches:
        held.append(batch)
        if sum(each.num_rows for each in held) >= BATCH_ROWS:
            yield pyarrow.Table.from_batches(held).combine_chunks()
            held = []
    if held:
        yield pyarrow.Table.from_batches(held).combine_chunks()


def signed(digests: Any) -> pl.Series:
    """Digests as Spark keeps them, which has no unsigned numbers."""
    return pl.Series(DIGEST, np.asarray(digests, np.uint64).view(np.int64))


def with_digests(frame: Any, columns: Sequence[str]) -> Any:
    """A frame with the digest of each row in some of its columns."""
    columns = list(columns)

    def made(rows: pl.DataFrame) -> pl.DataFrame:
        from kanopy.treatments.random_numbers import row_digests

        return pl.DataFrame([signed(row_digests(rows.select(columns)))])

    return with_columns(frame, made, schema_of(made(_nothing(columns)), frame.sparkSession))


def with_turns(frame: Any) -> Any:
    """Rows of equal digests, numbered from 0: which of them comes first does not matter, as they are equal."""
    from pyspark.sql import Window, functions

    turn = functions.row_number().over(Window.partitionBy(DIGEST).orderBy(functions.lit(0)))
    return frame.withColumn(TURN, turn.cast("long") - 1)


def _nothing(columns: Sequence[str]) -> pl.DataFrame:
    return pl.DataFrame(schema=dict.fromkeys(columns, pl.String()))


def digests_for_draw(frame: Any, unit: Sequence[str]) -> Any:
    """Per row its digest, that of its unit, and whether it belongs to none: what a sample is drawn by."""
    columns, unit = list(frame.columns), list(unit)

    def made(rows: pl.DataFrame) -> pl.DataFrame:
        from kanopy._table.grouping import without_unit
        from kanopy.treatments.random_numbers import row_digests

        own = row_digests(rows.select(columns))
        whose, alone = own, np.ones(len(own), np.bool_)
        if unit:
            whose, alone = row_digests(rows.select(unit)), without_unit(rows, unit)
        return pl.DataFrame([signed(own), signed(whose).alias(UNIT), pl.Series(ALONE, alone)])

    like = schema_of(made(_nothing(columns)), frame.sparkSession)
    return with_columns(frame, made, like).select(DIGEST, UNIT, ALONE)


def chosen_rows(frame: Any, digests: Any, chosen: Mask) -> Any:
    """The rows of a frame that were chosen by their digests: of equal rows so many as were chosen."""
    from pyspark.sql import functions

    different, counts = np.unique(np.asarray(digests)[chosen], return_counts=True)
    wanted: Longs = counts.astype(np.int64)
    of_digest = frame.sparkSession.createDataFrame(
        pl.DataFrame([signed(different), pl.Series(CHOSEN, wanted)]).to_arrow()
    )
    numbered = with_turns(with_digests(frame, frame.columns))
    kept = numbered.join(of_digest, on=DIGEST, how="inner").where(functions.col(TURN) < functions.col(CHOSEN))
    return kept.select([functions.col(SPARK.name(name)) for name in frame.columns])
