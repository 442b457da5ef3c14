"""Read a delimited text file whole, every column as text, and say exactly what is wrong where it is malformed.

Columns stay text so that what is not anonymized is written back as it was: `007` stays `007`. An empty field is
missing (null); a quoted empty field (`""`) is an empty text and is written back quoted.
"""

from __future__ import annotations

import contextlib
import csv
import gzip
import mmap
import re
import zlib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from kanopy._errors import DataError, MissingDependency, near_miss, some
from kanopy._table.dialects import SAMPLE_BYTES, Dialect, cut_above, distinct_names, find_dialect, header_of
from kanopy._table.formats.encodings import decode, encoding_beside_utf8, undecodable
from kanopy._table.formats.layout import Layout, about_names, check_unpacked, check_width

SWALLOWED_BYTES = 1 << 26
_LONE_RETURN = re.compile(rb"\r(?!\n)")
_ANY_END = re.compile(rb"\r\n|\n|\r")
COMPRESSIONS = (".gz", ".zst")


def read_delimited(
    content: Path | bytes,
    name: str,
    *,
    columns: list[str] | None = None,
    encoding: str | None = None,
    separator: str | None = None,
    layout: Layout | None = None,
) -> tuple[pl.DataFrame, Dialect]:
    """Read a file (or its bytes) as text columns, together with the dialect found.

    >>> frame, dialect = read_delimited(b"zip;sex\\n007;\\n", "people.csv")
    >>> frame.rows(), dialect.separator
    ([('007', None)], ';')
    """
    layout = layout or Layout(encoding, separator)
    layout.refuse_but("encoding", "delimiter", "header_row", where=name, what="delimited text")
    if isinstance(content, Path) and content.suffix.lower() in COMPRESSIONS:
        content = decompress(content)
    given = content
    sample = head_of(content)
    refuse_empty(sample, name)
    dialect = find_dialect(sample, lambda: _whole(given), layout, name)
    if dialect.encoding not in ("utf-8", "utf-8-sig"):
        content = decode(_whole(content), dialect.encoding, name).lstrip("\ufeff").encode()
    if dialect.header_line > 1:
        data = _whole(content)
        content = cut_above(data.removeprefix(b"\xef\xbb\xbf"), dialect.header_line)
        if not content.strip():
            raise DataError(f"{name} has no line {dialect.header_line:,}. header-row counts lines from 1.")
    sample = head_of(content)
    names = header_of(sample, replace(dialect, encoding="utf-8"))
    check_width(len(names), name)
    names, notes = distinct_names(names)
    if columns is not None:
        check_columns(columns, names, name)
    check_bytes(content, dialect, len(names), name)
    # By position: some names would be taken for patterns.
    places = None if columns is None else sorted({names.index(column) for column in columns})
    try:
        frame = _parse(content, dialect, places)
        # The parser leaves quotes in names doubled; they would double again each time they are written.
        frame.columns = [names[index] for index in (range(len(names)) if places is None else places)]
    except pl.exceptions.NoDataError:
        raise DataError(f"{name} is empty. Give a file with a header line and one line per record.") from None
    except (pl.exceptions.ComputeError, pl.exceptions.ShapeError) as error:
        if "utf-8" in str(error).lower() and dialect.encoding in ("utf-8", "utf-8-sig"):
            data = _whole(given)
            other = "utf-8" if layout.encoding is not None or dialect.encoding == "utf-8-sig" else (
                encoding_beside_utf8(data, name)[0]
            )  # fmt: skip
            if other == "utf-8":
                raise _damaged(data, name) from None
            frame_of_other, dialect_of_other = read_delimited(
                data, name, columns=columns, layout=replace(layout, encoding=other)
            )
            return frame_of_other, replace(
                dialect_of_other, notes=(*encoding_beside_utf8(data, name)[1], *dialect_of_other.notes)
            )
        frame, dialect = _explain(content, dialect, names, places, name, error)
    _refuse_swallowed(frame, content, dialect, len(names), name)
    frame = _without_blank_lines(frame, content, dialect, names, name)
    if columns is not None:
        frame = frame[columns]
    if frame.height == 0:
        raise DataError(f"{name} has a header but no records. Give a file with at least one record.")
    return frame, replace(dialect, notes=(*dialect.notes, *notes, *about_names(names, Path(name).name)))


def refuse_empty(sample: bytes, name: str) -> None:
    """Refuse a file in which nothing is written."""
    if not sample.strip(b"\r\n \t\x00\xef\xbb\xbf\xff\xfe"):
        raise DataError(f"{name} is empty. Give a file with a header line and one line per record.")


def check_bytes(content: Path | bytes, dialect: Dialect, fields: int, name: str) -> None:
    """Refuse what a parser passes over in silence: zero bytes, lines that end in several ways, a quote left open."""
    with _mapped(content) as data:
        above = dialect.header_line
        if (zero_at := data.find(b"\0")) >= 0:
            line = data[:zero_at].count(b"\n") + above
            raise DataError(
                f"{name} holds a zero byte in line {line:,}, so it is not a text file. Remove it, or export the file "
                "again."
            )
        quoted = bool(dialect.quote) and data.find(dialect.quote.encode()) >= 0
        if dialect.newline == "\r":
            other = data.find(b"\n")
        else:
            lone = None if quoted or data.find(b"\r") < 0 else _LONE_RETURN.search(data)
            other = -1 if lone is None else lone.start()
        if other >= 0:
            line = len(_ANY_END.findall(data[:other])) + above
            raise DataError(
                f"{name} has different line ends: line {line:,} ends unlike the first. Save it again with one kind "
                "of line end."
            )
    if quoted:
        open_line = _scan(content, dialect, fields)[4]
        if open_line and _quotes_values(content, dialect):
            raise _open_quote(open_line + dialect.header_line - 1, name)


def _open_quote(line: int, name: str) -> DataError:
    return DataError(
        f"{name} has a quote in line {line:,} that is never closed. Close it, or double it where it is part of a value."
    )


def _refuse_swallowed(frame: pl.DataFrame, content: Path | bytes, dialect: Dialect, fields: int, name: str) -> None:
    """Refuse a value that holds whole records, because a quote was left open and another one closes it later."""
    # The library's methods would take some names for patterns.
    if fields < 3 or not any(column.alias("").str.contains("\n", literal=True).any() for column in frame):
        return
    lines = decode(_whole(content)[:SWALLOWED_BYTES], "utf-8", name).splitlines()
    reader = csv.reader(lines, delimiter=dialect.separator, quotechar=dialect.quote or '"')
    before = 0
    for _ in reader:
        quoted_lines = lines[before : reader.line_num]
        if len(quoted_lines) > 1 and all(line.count(dialect.separator) == fields - 1 for line in quoted_lines):
            line = before + dialect.header_line
            raise DataError(
                f"{name} has a quote in line {line:,} that is closed only in line {line + len(quoted_lines) - 1:,}, "
                f"although "
                "each of these lines has all fields. Close it where its value ends, or double it."
            )
        before = reader.line_num


def check_columns(wanted: list[str], names: list[str], where: str) -> None:
    """Raise if a column asked for is absent, with the near misses."""
    absent = [column for column in wanted if column not in names]
    if absent:
        raise DataError(f"{where} has no column {some(absent)}. {near_miss(absent[0], names)}")


def decompress(path: Path) -> bytes:
    """The bytes inside a .gz or .zst file."""
    try:
        if path.suffix.lower() == ".gz":
            with gzip.open(path) as packed:
                return _unpacked(packed, path)
        try:
            import pyarrow
        except ImportError:
            raise MissingDependency("Reading .zst files needs pyarrow: pip install 'kanopy[pandas]'.") from None
        with pyarrow.CompressedInputStream(str(path), "zstd") as stream:
            return _unpacked(stream, path)
    except (OSError, EOFError, zlib.error) as error:
        raise DataError(f"{path} cannot be decompressed ({error}). Check that the file is complete.") from None


def _parse(content: Path | bytes, dialect: Dialect, columns: list[int] | None) -> pl.DataFrame:
    return pl.read_csv(
        content,
        infer_schema=False,
        separator=dialect.separator,
        quote_char=dialect.quote or None,
        eol_char="\r" if dialect.newline == "\r" else "\n",
        columns=columns,
        glob=False,
    )


def _unpacked(stream: Any, path: Path) -> bytes:
    pieces, size = [], 0
    while piece := bytes(stream.read(1 << 22)):
        size += len(piece)
        check_unpacked(size, path.stat().st_size, str(path))
        pieces.append(piece)
    return b"".join(pieces)


def head_of(content: Path | bytes) -> bytes:
    """The first bytes of a file."""
    if isinstance(content, bytes):
        return content[:SAMPLE_BYTES]
    with content.open("rb") as file:
        return file.read(SAMPLE_BYTES)


@contextlib.contextmanager
def _mapped(content: Path | bytes) -> Iterator[Any]:
    """The bytes of a file, without reading all of them into memory."""
    if isinstance(content, bytes):
        yield content
        return
    with content.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        yield data


def _whole(content: Path | bytes) -> bytes:
    return content if isinstance(content, bytes) else content.read_bytes()


def _damaged(data: bytes, name: str) -> DataError:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        return undecodable(data, error.start, "UTF-8", name)
    return DataError(f"{name} cannot be read as UTF-8.")


def _scan(content: Path | bytes, dialect: Dialect, fields: int) -> tuple[int, np.ndarray, int, np.ndarray, int]:
    """Records, the first wrong ones and their number, all blank ones, and the line of an unclosed quote."""
    from kanopy._table.records_kernel import scan_records

    if isinstance(content, bytes):
        data = np.frombuffer(content, np.uint8)
    else:
        with content.open("rb") as file:
            data = np.frombuffer(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ), np.uint8)
    if data[:3].tobytes() == b"\xef\xbb\xbf":
        data = data[3:]
    newline = 13 if dialect.newline == "\r" else 10
    quote = ord(dialect.quote) if dialect.quote else 0
    blank = np.zeros(1024, np.int64)
    while True:
        bad = np.zeros((5, 2), np.int64)
        totals = np.zeros(4, np.int64)
        scan_records(data, ord(dialect.separator), quote, newline, fields, bad, blank, totals)
        records, bad_count, blank_count, open_line = totals.tolist()
        if blank_count <= len(blank):
            return records, bad[:bad_count], bad_count, blank[:blank_count], open_line
        blank = np.zeros(blank_count, np.int64)


def _quotes_values(content: Path | bytes, dialect: Dialect) -> bool:
    """Whether any value starts with a quote, so that quotes have a meaning in this file."""
    data = _whole(content)
    quote, newline = dialect.quote.encode(), dialect.newline[-1:].encode()
    return data.lstrip(b"\xef\xbb\xbf\r\n").startswith(quote) or any(
        before + quote in data for before in (dialect.separator.encode(), newline)
    )


def _ragged(bad: np.ndarray, count: int, fields: int, name: str, above: int) -> DataError:
    """The error for `count` records of the wrong length; `bad` holds the line and the number of fields of some."""
    lines = "; ".join(f"line {line + above:,} has {field_count:,}" for line, field_count in bad[:5].tolist())
    more = f" and {count - 5:,} more" if count > 5 else ""
    return DataError(
        f"{name} has records of the wrong length: the header has {fields} fields, {lines}{more}. Put quotes around "
        "values that contain the separator, and add the missing ones."
    )


def _explain(
    content: Path | bytes, dialect: Dialect, names: list[str], columns: list[int] | None, name: str, error: Exception
) -> tuple[pl.DataFrame, Dialect]:
    """What to do when the parser gave up: read quotes as ordinary letters if no value starts with one (`5" pipe`), else
    say which line is wrong.
    """
    _, bad, bad_count, _, open_line = _scan(content, dialect, len(names))
    if dialect.quote and not _quotes_values(content, dialect):
        unquoted = replace(dialect, quote="")
        _, _, wrong, _, _ = _scan(content, unquoted, len(names))
        if wrong == 0:
            return _parse(content, unquoted, columns), unquoted
    if open_line:
        raise _open_quote(open_line + dialect.header_line - 1, name) from None
    if bad_count:
        raise _ragged(bad, bad_count, len(names), name, dialect.header_line - 1) from None
    reason = str(error).splitlines()[0]
    raise DataError(f"{name} cannot be parsed: {reason}. Check its quotes, or save it again as CSV.") from None


def records_of(content: Path | bytes, dialect: Dialect, fields: int, name: str) -> tuple[int, np.ndarray]:
    """How many records a file has (its header is one), and which of them are blank lines; short ones are refused."""
    records, bad, bad_count, blank, _ = _scan(content, dialect, fields)
    if bad_count:
        raise _ragged(bad, bad_count, fields, name, dialect.header_line - 1)
    return records, blank


def _without_blank_lines(
    frame: pl.DataFrame, content: Path | bytes, dialect: Dialect, names: list[str], name: str
) -> pl.DataFrame:
    """Drop blank lines and refuse records that are too short, which the parser fills up silently.

    Both leave a null in the last column, so the bytes are scanned only where there is one (or where the last
    column was not read).
    """
    if len(names) < 2 or frame.height == 0:
        return frame
    last = names[-1]
    if last in frame.columns and frame[last].null_count() == 0:
        return frame
    records, blank = records_of(content, dialect, len(names), name)
    if records - 1 != frame.height:
        raise DataError(
            f"{name} has {records - 1:,} records by its line ends but {frame.height:,} by its quotes. Check the "
            "quotes: double those that are part of a value."
        )
    if not len(blank):
        return frame
    keep = np.ones(frame.height, bool)
    keep[blank - 1] = False
    return frame.filter(pl.Series(keep))
