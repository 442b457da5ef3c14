"""A table of a database as a file that is read piece by piece: for what a database cannot do to rows itself."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace

import polars as pl

from kanopy import _temporary
from kanopy._errors import shown_address
from kanopy._table.streams.scans import Scan, scan
from kanopy._table.streams.sinks import FileSink
from kanopy.engine.database import DatabaseEngine, in_same_database


@contextmanager
def spooled(address: str, output: str | None = None, *, overwrite: bool = False) -> Iterator[Scan]:
    """The table at an address, read once into a private file that is removed in the end.

    An `output` in the same database is refused where the engine for databases refuses it.
    """
    same_output = output if output is not None and in_same_database(address, output) else None
    with _temporary.folder() as folder:
        file = folder / "table.parquet"
        with closing(DatabaseEngine(address, same_output, overwrite=overwrite)) as engine:
            kinds = engine.schema

            def frames() -> Iterator[pl.DataFrame]:
                for batch in engine.batches():
                    batch.columns = kinds.names()
                    yield batch.cast(kinds)

            with FileSink(str(file)).writing(frames, kinds):
                pass
        yield replace(scan(file), name=shown_address(address))
