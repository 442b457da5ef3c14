"""Write tables and reports so that a file is either complete or not there.

Everything is written beside its target under another name, forced to disk, and then renamed. Whatever goes wrong
before (a full disk, Ctrl-C, a crash of the writer), the old file stays as it was and nothing half-written is left.
"""

from __future__ import annotations

import contextlib
import errno
import importlib
import io
import os
import secrets
import shutil
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import polars as pl

from kanopy._errors import DataError, MissingDependency
from kanopy._table.dialects import Dialect

Target = str | os.PathLike[str]
EXCEL_ROWS = 1_048_575


def write_table(
    frame: pl.DataFrame, target: Target, *, dialect: Dialect | None = None, forbidden: Iterable[Target] = ()
) -> None:
    """Write a frame in the format of the target's suffix, whole or not at all.

    `dialect` gives delimited text the separator and line end of the input. `forbidden` are the inputs, which are
    never overwritten.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_table(pl.DataFrame({"zip": ["007", None]}), Path(folder) / "out.csv")
    ...     (Path(folder) / "out.csv").read_bytes()
    b'zip\\n007\\n\\n'
    """
    with staged(forbidden=forbidden) as release:
        release.table(frame, target, dialect=dialect)


def write_bytes_atomically(target: Target, data: bytes) -> None:
    """Write bytes (a report, a hierarchy), whole or not at all.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_bytes_atomically(Path(folder) / "report.html", b"<html>")
    ...     (Path(folder) / "report.html").read_bytes()
    b'<html>'
    """
    with staged() as release:
        release.bytes(target, data)


def check_writable(target: Target, forbidden: Iterable[Target] = (), *, table: bool = True) -> Path:
    """Raise `DataError` if the target could not be written later; call this before long work.

    `table=False` is for files that are not tables (reports), whose suffix does not matter. Returns the real path.

    >>> check_writable("no-such-folder/out.csv")
    Traceback (most recent call last):
    kanopy._errors.DataError: There is no folder 'no-such-folder' to write 'out.csv' into. Create it first.
    """
    text = os.fspath(target)
    if "://" in text or "::" in text:
        raise DataError(f"Cannot write to {text!r}: output goes to a local file. Give a path, e.g. out.csv.")
    path = Path(text)
    if table:
        writer_of(path)
    path = path.resolve()
    for source in forbidden:
        if _same_file(path, Path(source)):
            raise DataError(
                f"The output {text!r} is the input itself. Give another name: the input is never overwritten."
            )
    if path.is_dir():
        raise DataError(f"{text} is a folder. Give a file name, e.g. {Path(text) / 'out.csv'}.")
    if path.exists() and not path.is_file():
        raise DataError(f"{text} is not an ordinary file. Give a file name, e.g. out.csv.")
    if not path.parent.is_dir():
        raise DataError(f"There is no folder {str(Path(text).parent)!r} to write {path.name!r} into. Create it first.")
    if not os.access(path.parent, os.W_OK | os.X_OK):
        raise DataError(f"The folder {str(path.parent)!r} may not be written to. Choose another, or change its rights.")
    if path.exists() and not os.access(path, os.W_OK):
        raise DataError(f"{text} is write-protected. Choose another name, or change its rights.")
    return path


def _same_file(path: Path, other: Path) -> bool:
    try:
        return os.path.samefile(path, other)
    except OSError:
        return path == other.resolve()


class Release:
    """Several files that are published together; made by `staged`."""

    def __init__(self, forbidden: Iterable[Target] = ()) -> None:
        self._forbidden = tuple(forbidden)
        self._staged: dict[Path, Path] = {}

    def table(self, frame: pl.DataFrame, target: Target, *, dialect: Dialect | None = None) -> None:
        """Stage a table in the format of its target's suffix."""
        write = writer_of(Path(target))
        self._stage(target, lambda place: write(frame, place, dialect or Dialect()), is_table=True)

    def bytes(self, target: Target, data: bytes) -> None:
        """Stage any other file."""
        self._stage(target, lambda place: place.write_bytes(data), is_table=False)

    def place_of(self, target: Target) -> Path:
        """Where a staged file lies until it is published, for example to take its checksum."""
        return self._staged[Path(os.fspath(target)).resolve()]

    def _stage(self, target: Target, write: Callable[[Path], object], *, is_table: bool) -> None:
        path = check_writable(target, self._forbidden, table=is_table)
        if path in self._staged:
            raise DataError(f"Two outputs have the same name: {os.fspath(target)!r}. Give each its own.")
        place = path.with_name(f".{path.name}.{secrets.token_hex(6)}.part")
        self._staged[path] = place
        with _explained(path):
            # Created here, not by the writer, so that it gets the usual rights and can never follow a link.
            os.close(os.open(place, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
            if path.exists():
                shutil.copymode(path, place)
            write(place)
            _to_disk(place)

    def publish(self) -> None:
        """Rename everything into place; if one cannot be, the ones before it are put back."""
        done: list[tuple[Path, Path | None]] = []
        try:
            for path, place in self._staged.items():
                with _explained(path):
                    kept = _kept_copy(path)
                    done.append((path, kept))
                    os.replace(place, path)
        except BaseException:
            for path, kept in reversed(done):
                if kept is not None:
                    os.replace(kept, path)
                    kept.unlink(missing_ok=True)  # two names of one file: replacing one by the other does nothing
                elif not self._staged[path].exists():
                    path.unlink(missing_ok=True)
            raise
        for _, kept in done:
            if kept is not None:
                kept.unlink(missing_ok=True)
        for folder in {path.parent for path in self._staged}:
            with contextlib.suppress(OSError):
                _to_disk(folder)
        self._staged.clear()

    def discard(self) -> None:
        """Remove whatever was staged and not published."""
        for place in self._staged.values():
            with contextlib.suppress(OSError):
                place.unlink(missing_ok=True)
        self._staged.clear()


@contextlib.contextmanager
def staged(*, forbidden: Iterable[Target] = ()) -> Iterator[Release]:
    """Write several files and publish all of them at the end, or none if anything fails (Ctrl-C included).

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with staged() as release:
    ...         release.table(pl.DataFrame({"a": [1]}), f"{folder}/out.csv")
    ...         release.bytes(f"{folder}/report.json", b"{}")
    ...     sorted(os.listdir(folder))
    ['out.csv', 'report.json']
    """
    release = Release(forbidden)
    try:
        yield release
        release.publish()
    finally:
        release.discard()


def _kept_copy(path: Path) -> Path | None:
    """A second name for the file about to be replaced, to put it back if a later rename fails."""
    if not path.exists():
        return None
    kept = path.with_name(f".{path.name}.{secrets.token_hex(6)}.kept")
    try:
        os.link(path, kept)
    except OSError:
        shutil.copy2(path, kept)
    return kept


def _to_disk(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@contextlib.contextmanager
def _explained(path: Path) -> Iterator[None]:
    """Turn what the system and the writers raise into one plain message."""
    try:
        yield
    except (OSError, pl.exceptions.PolarsError) as error:
        reason = str(error)
        number = getattr(error, "errno", None)
        if number in (errno.ENOSPC, errno.EDQUOT) or "no space left" in reason.lower() or "os error 28" in reason:
            raise DataError(
                f"The disk is full: {path} could not be written and nothing was left behind. Free some space, or "
                "write to another disk."
            ) from error
        raise DataError(f"{path} could not be written: {reason.splitlines()[0] if reason else error!r}.") from error


# ---- formats ------------------------------------------------------------------------------------------------

Writer = Callable[[pl.DataFrame, Path, Dialect], object]


def _write_text(frame: pl.DataFrame, place: Path, dialect: Dialect, **options: Any) -> None:
    nested = [name for name, dtype in frame.schema.items() if dtype.is_nested() or dtype == pl.Object]
    if nested:
        raise DataError(f"The columns {nested} hold lists or records, which text cannot. Write to .parquet instead.")
    frame.write_csv(
        place,
        separator=dialect.separator,
        quote_char=dialect.quote or '"',
        line_terminator="\r\n" if dialect.newline == "\r\n" else "\n",
        include_bom=dialect.marked,
        quote_style="necessary",
        check_extension=False,
        **options,
    )


def _write_tabs(frame: pl.DataFrame, place: Path, dialect: Dialect, **options: Any) -> None:
    _write_text(frame, place, Dialect("\t", dialect.quote, dialect.encoding, dialect.newline), **options)


def _write_excel(frame: pl.DataFrame, place: Path, dialect: Dialect) -> None:
    if frame.height > EXCEL_ROWS:
        raise DataError(f"Excel holds {EXCEL_ROWS:,} records, not {frame.height:,}. Write to .csv or .parquet instead.")
    try:
        importlib.import_module("xlsxwriter")
    except ImportError:
        raise MissingDependency("Excel files need xlsxwriter: pip install 'kanopy[excel]'.") from None
    book = io.BytesIO()
    frame.write_excel(book)
    place.write_bytes(book.getvalue())


WRITERS: dict[str, Writer] = {
    ".csv": _write_text,
    ".txt": _write_text,
    ".tsv": _write_tabs,
    ".tab": _write_tabs,
    ".parquet": lambda frame, place, dialect: frame.write_parquet(place),
    ".pq": lambda frame, place, dialect: frame.write_parquet(place),
    ".arrow": lambda frame, place, dialect: frame.write_ipc(place),
    ".feather": lambda frame, place, dialect: frame.write_ipc(place),
    ".ipc": lambda frame, place, dialect: frame.write_ipc(place),
    ".xlsx": _write_excel,
}
"""File suffixes and what writes them."""

_COMPRESSED = {".gz": "gzip", ".zst": "zstd"}


def writer_of(path: Path) -> Writer:
    """What writes a file of this suffix; raises for a suffix nothing writes."""
    suffixes = [suffix.lower() for suffix in path.suffixes[-2:]]
    if suffixes and suffixes[-1] in _COMPRESSED and len(suffixes) == 2:
        text = {".csv": _write_text, ".txt": _write_text, ".tsv": _write_tabs, ".tab": _write_tabs}.get(suffixes[0])
        if text is not None:
            compression, write = _COMPRESSED[suffixes[1]], text
            return lambda frame, place, dialect: write(frame, place, dialect, compression=compression)
    writer = WRITERS.get(suffixes[-1]) if suffixes else None
    if writer is None:
        shown = suffixes[-1] if suffixes else "no suffix"
        raise DataError(
            f"Cannot tell the format to write {path.name!r} in ({shown}). Known suffixes: {', '.join(WRITERS)}, and "
            ".csv.gz or .csv.zst."
        )
    return writer
