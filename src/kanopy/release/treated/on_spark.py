"""Treatments and samples of tables on a Spark cluster: executors treat and verify pieces of rows where they are."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from kanopy.release.treated.pieces import Pieces
from kanopy.release.treated.sampling import Draw

if TYPE_CHECKING:
    from kanopy._job.job import Job
    from kanopy.engine.spark import SparkEngine


@contextmanager
def on_spark(frame: Any, output: str | None, job: Job, key: bytes | None, shuffle: bool) -> Iterator[SparkEngine]:
    """An engine for a frame of Spark, or for the sample of it, that treats the columns of a job as rows pass by."""
    from kanopy.engine.spark import SparkEngine

    sampled, notes = None, tuple[str, ...]()
    if job.sample < 1:
        # What is drawn is read several times, and each time anew unless the executors keep it.
        drawn, note = drawn_on_spark(SparkEngine(frame), job, key)
        sampled, notes = drawn.persist(), (note,)
    try:
        pieces = Pieces(job, key) if job.protect else None
        engine = SparkEngine(frame if sampled is None else sampled, output, shuffle=shuffle, treated=pieces)
        engine.notes = notes
        if pieces is not None and pieces.looks_first:
            pieces.look_at(engine.looked_at, engine.schema.names())
        yield engine
    finally:
        if sampled is not None:
            sampled.unpersist()


def drawn_on_spark(engine: SparkEngine, job: Job, key: bytes | None) -> tuple[Any, str]:
    """The rows of a frame that a job's sample leaves, and what is to be said; digests of rows come to the driver."""
    from kanopy.engine import spark_rows

    engine.require_rows_here("The sample of the job")
    draw = Draw(job, key)
    digests = engine.here(spark_rows.digests_for_draw(engine.frame, job.unit))
    rows, units = (digests[name].to_numpy().view("uint64") for name in (spark_rows.DIGEST, spark_rows.UNIT))
    draw.add_digests(rows, units, digests[spark_rows.ALONE].to_numpy())
    return spark_rows.chosen_rows(engine.frame, rows, draw.chosen()), draw.note
