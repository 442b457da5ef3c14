"""Rows that are written piece by piece leave in the order of their hashes, as those of a table in memory do.

What does not fit in memory is spread over buckets by the first bits of its hash, on disk; each bucket is then sorted by
itself. The file that holds them has no name, so nothing of it is left behind, and it holds published rows only.
"""

from __future__ import annotations

import io
import tempfile
from collections.abc import Iterator
from contextlib import AbstractContextManager
from typing import IO, Any

import numpy as np
import polars as pl

from kanopy._errors import DataError
from kanopy._table.streams.row_order import row_hashes, sorted_by
from kanopy._table.streams.scans import BATCH_ROWS
from kanopy._table.streams.sinks import Frames, Sink

BUFFER_BYTES = 128_000_000
"""So much is sorted in memory; more goes through buckets on disk."""
BUCKETS = 256
_HASHES = ["\0first", "\0second"]


class ShuffledSink:
    """A sink whose rows leave in an order that depends on nothing but what they say."""

    def __init__(self, sink: Sink) -> None:
        self._sink = sink

    def __getattr__(self, name: str) -> Any:
        return getattr(self._sink, name)

    def writing(self, frames: Frames, schema: pl.Schema) -> AbstractContextManager[pl.LazyFrame]:
        """Write all frames in another order."""
        context: AbstractContextManager[pl.LazyFrame] = self._sink.writing(lambda: shuffled(frames()), schema)
        return context


def shuffled(frames: Iterator[pl.DataFrame], *, buffer: int | None = None) -> Iterator[pl.DataFrame]:
    """The same rows in the order of their hashes; about `buffer` bytes are in memory at a time.

    >>> parts = [pl.DataFrame({"a": ["x", "y"]}), pl.DataFrame({"a": ["z"]})]
    >>> one, other = pl.concat(shuffled(iter(parts))), pl.concat(shuffled(iter(parts[::-1]), buffer=1))
    >>> one.equals(other), sorted(one["a"])
    (True, ['x', 'y', 'z'])
    """
    most = BUFFER_BYTES if buffer is None else buffer
    held: list[pl.DataFrame] = []
    size, buckets = 0, None
    for frame in frames:
        held.append(frame)
        size += int(frame.estimated_size())
        if size > most:
            buckets = buckets or _Buckets()
            buckets.add(_hashed(held))
            held, size = [], 0
    if buckets is None:
        if held:
            yield from _batches(_sorted(_hashed(held)))
        return
    if held:
        buckets.add(_hashed(held))
    with buckets:
        yield from buckets.sorted()


def _hashed(frames: list[pl.DataFrame]) -> pl.DataFrame:
    """Rows with their hashes beside them."""
    whole = pl.concat(frames, rechunk=True)
    hashes = row_hashes(whole)
    return whole.with_columns(pl.Series(name, hash_column) for name, hash_column in zip(_HASHES, hashes, strict=True))


def _sorted(frame: pl.DataFrame) -> pl.DataFrame:
    order = sorted_by(*(frame[name].to_numpy() for name in _HASHES))
    return frame.drop(_HASHES)[order]


def _batches(frame: pl.DataFrame) -> Iterator[pl.DataFrame]:
    return frame.iter_slices(BATCH_ROWS)


class _Buckets:
    """Rows on disk, spread by the first bits of their hash, in the order of these."""

    def __init__(self) -> None:
        self._file: IO[bytes] = tempfile.TemporaryFile(prefix="kanopy-")  # noqa: SIM115 - has no name where systems allow
        self._pieces: list[list[tuple[int, int]]] = [[] for _ in range(BUCKETS)]
        self._end = 0

    def __enter__(self) -> _Buckets:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def add(self, rows: pl.DataFrame) -> None:
        """More rows."""
        bucket = (rows[_HASHES[0]].to_numpy() >> np.uint64(64 - (BUCKETS - 1).bit_length())).astype(np.int64)
        order = np.argsort(bucket, kind="stable")
        ordered, ends = rows[order], np.cumsum(np.bincount(bucket, minlength=BUCKETS))
        for index, end in enumerate(ends.tolist()):
            begin = int(ends[index - 1]) if index else 0
            if begin < end:
                self._write(index, ordered[begin:end])

    def _write(self, index: int, rows: pl.DataFrame) -> None:
        piece = io.BytesIO()
        rows.write_ipc_stream(piece, compression="lz4")
        try:
            self._file.write(piece.getbuffer())
        except OSError as error:
            self._file.close()
            raise DataError(
                f"There is no space in {tempfile.gettempdir()} to shuffle the release ({error.strerror}). Make room "
                "there, or let TMPDIR name a larger place. Nothing was written."
            ) from None
        length = piece.getbuffer().nbytes
        self._pieces[index].append((self._end, length))
        self._end += length

    def sorted(self) -> Iterator[pl.DataFrame]:
        """All rows, bucket after bucket."""
        held: list[pl.DataFrame] = []
        rows = 0
        for pieces in self._pieces:
            if not pieces:
                continue
            held.append(_sorted(pl.concat(map(self._read, pieces), rechunk=True)))
            rows += held[-1].height
            if rows >= BATCH_ROWS:
                yield from _batches(pl.concat(held))
                held, rows = [], 0
        if held:
            yield from _batches(pl.concat(held))

    def _read(self, piece: tuple[int, int]) -> pl.DataFrame:
        begin, length = piece
        self._file.seek(begin)
        return pl.read_ipc_stream(io.BytesIO(self._file.read(length)))
