"""Where a release goes that is written piece by piece: a file or a folder of files, complete or not there."""

from __future__ import annotations

import contextlib
import gzip
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

import polars as pl

from kanopy import _files
from kanopy._errors import DataError
from kanopy._files import Target
from kanopy._table.dialects import Dialect
from kanopy._table.sinks import delimited, formulas, write_text, writer_of

Frames = Callable[[], Iterator[pl.DataFrame]]
ROWS_PER_FILE = 10_000_000
"""Rows of one file of a folder."""


class Sink(Protocol):
    """Takes a release piece by piece, can be asked for what it took, and publishes it at the end or leaves nothing."""

    as_text: bool
    target: str

    def writing(self, frames: Frames, schema: pl.Schema) -> Any:
        """A block in which all is written and can be read (`LazyFrame`); published when it ends well."""


class FileSink:
    """A file in the format of its suffix, or a folder of Parquet files where the target ends in a slash.

    `release` is where it is staged together with other files; without one it is published alone. `formulas` are the
    columns whose texts a spreadsheet would run, known after writing.
    """

    def __init__(
        self,
        target: Target,
        *,
        dialect: Dialect | None = None,
        forbidden: tuple[Target, ...] = (),
        release: _files.Release | None = None,
    ) -> None:
        self.target = os.fspath(target)
        self.folder = self.target.endswith(("/", os.sep))
        self.dialect = dialect or Dialect()
        self.forbidden, self._release = forbidden, release
        self.as_text = not self.folder and delimited(self.target)
        self.formulas: list[str] = []
        if self.folder:
            _check_folder(Path(self.target))
        else:
            _files.check_writable(self.target, forbidden)
            if Path(self.target).suffix.lower() in (".xlsx", ".zst", ".sav", ".zsav", ".por", ".dta", ".xpt"):
                raise DataError(
                    f"{Path(self.target).name!r} cannot be written piece by piece. Write to .csv, .csv.gz, .parquet or "
                    ".arrow, or use --engine memory."
                )
            writer_of(Path(self.target))

    @contextmanager
    def writing(self, frames: Frames, schema: pl.Schema) -> Iterator[pl.LazyFrame]:
        """Write all frames; the block sees what was written."""
        if self.folder:
            with _whole_folder(Path(self.target)) as partial_folder:
                for number, piece in enumerate(_parts(frames())):
                    with _as_system():
                        file = partial_folder / f"part-{number:05}.parquet"
                        _frames_scan(lambda written=piece: written, schema).sink_parquet(file)  # type: ignore[misc]
                yield pl.scan_parquet(partial_folder / "*.parquet")
            return
        release = self._release or _files.Release()
        try:
            release.stage(self.target, lambda path: self._write(frames, schema, path))
            yield self._scan(release.place_of(self.target))
            if self._release is None:
                release.publish()
        finally:
            if self._release is None:
                release.discard()

    def _write(self, frames: Frames, schema: pl.Schema, path: Path) -> None:
        suffixes = [suffix.lower() for suffix in Path(self.target).suffixes[-2:]]
        with _as_system():
            if self.as_text:
                with path.open("wb") as plain:
                    # Without the name of the staged file and the time, so that the same release has the same bytes.
                    packed = gzip.GzipFile("", "wb", 6, plain, 0) if suffixes[-1] == ".gz" else None
                    with contextlib.nullcontext(plain) if packed is None else packed as file:
                        self._write_text(frames(), file, ".tsv" in suffixes or ".tab" in suffixes)
            elif suffixes[-1] in (".parquet", ".pq"):
                _frames_scan(frames, schema).sink_parquet(path)
            else:
                _frames_scan(frames, schema).sink_ipc(path)

    def _write_text(self, frames: Iterator[pl.DataFrame], file: Any, tabs: bool) -> None:
        dialect = self.dialect
        if tabs:
            dialect = Dialect("\t", dialect.quote, dialect.encoding, dialect.newline)
        for number, frame in enumerate(frames):
            for name in formulas(frame, self.target):
                if name not in self.formulas:
                    self.formulas.append(name)
            write_text(frame, file, dialect, include_header=number == 0, include_bom=dialect.marked and number == 0)

    def _scan(self, path: Path) -> pl.LazyFrame:
        suffixes = [suffix.lower() for suffix in Path(self.target).suffixes[-2:]]
        if not self.as_text:
            return pl.scan_parquet(path) if suffixes[-1] in (".parquet", ".pq") else pl.scan_ipc(path)
        tabs = ".tsv" in suffixes or ".tab" in suffixes
        return pl.scan_csv(
            path,
            infer_schema=False,
            separator="\t" if tabs else self.dialect.separator,
            quote_char=self.dialect.quote or '"',
            glob=False,
        )


@contextmanager
def _as_system() -> Iterator[None]:
    """What the library says of a disk becomes what the system would have said."""
    try:
        yield
    except pl.exceptions.PolarsError as error:
        raise OSError(str(error)) from error


def _frames_scan(frames: Frames, schema: pl.Schema) -> pl.LazyFrame:
    from polars.io.plugins import register_io_source

    return register_io_source(lambda *_: iter(frames()), schema=schema)


def _parts(frames: Iterator[pl.DataFrame]) -> Iterator[Iterator[pl.DataFrame]]:
    """The same frames in runs of about `ROWS_PER_FILE` rows; each run is read before the next is asked for."""
    for first in frames:
        yield _run(first, frames)


def _run(first: pl.DataFrame, frames: Iterator[pl.DataFrame]) -> Iterator[pl.DataFrame]:
    yield first
    rows = first.height
    while rows < ROWS_PER_FILE and (following := next(frames, None)) is not None:
        rows += following.height
        yield following


def _check_folder(folder: Path) -> None:
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise DataError(f"{folder} exists already. Give another name: folders are never overwritten.")
    if not folder.resolve().parent.is_dir():
        raise DataError(f"There is no folder {str(folder.parent)!r} to write {folder.name!r} into. Create it first.")


@contextmanager
def _whole_folder(folder: Path) -> Iterator[Path]:
    """A folder that appears under its name when all of it is written."""
    path = folder.resolve()
    partial_folder = _files.place_beside(path)
    try:
        with _files.explained(path):
            partial_folder.mkdir()
            yield partial_folder
            (partial_folder / "_SUCCESS").touch()
            if path.is_dir():
                path.rmdir()  # it was empty before
            os.rename(partial_folder, path)
    finally:
        shutil.rmtree(partial_folder, ignore_errors=True)
