"""Read a delimited text file whole, every column as text, and say exactly what is wrong where it is malformed.

Columns stay text so that what is not anonymized is written back as it was: `007` stays `007`. An empty field is
missing (null); a quoted empty field (`""`) is an empty text and is written back quoted.
"""

from __future__ import annotations

import gzip
import mmap
import zlib
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl

from kanopy._errors import DataError, MissingDependency, near_miss, some
from kanopy._table.dialects import (
    SAMPLE_BYTES,
    Dialect,
    decode,
    detect_dialect,
    distinct_names,
    header_of,
    undecodable,
    utf8_or_cp1252,
)

COMPRESSIONS = (".gz", ".zst")


def read_delimited(
    content: Path | bytes,
    name: str,
    *,
    columns: list[str] | None = None,
    encoding: str | None = None,
    separator: str | None = None,
) -> tuple[pl.DataFrame, Dialect]:
    """Read a file (or its bytes) as text columns, together with the dialect found.

    >>> frame, dialect = read_delimited(b"zip;sex\\n007;\\n", "people.csv")
    >>> frame.rows(), dialect.separator
    ([('007', None)], ';')
    """
    if isinstance(content, Path) and content.suffix.lower() in COMPRESSIONS:
        content = decompress(content)
    sample = content[:SAMPLE_BYTES] if isinstance(content, bytes) else _head(content)
    if not sample.strip(b"\r\n \t\x00\xef\xbb\xbf\xff\xfe"):
        raise DataError(f"{name} is empty. Give a file with a header line and one line per record.")
    dialect = detect_dialect(sample, encoding, separator)
    if dialect.encoding not in ("utf-8", "utf-8-sig"):
        content = _whole(content)
        if encoding is None and dialect.encoding == "cp1252":
            utf8_or_cp1252(content, name)  # the sample looked like it; now the whole file must
        content = decode(content, dialect.encoding, name).lstrip("\ufeff").encode()
        sample = content[:SAMPLE_BYTES]
        names = header_of(sample, Dialect(dialect.separator, dialect.quote))
    else:
        names = header_of(sample, dialect)
    names, notes = distinct_names(names)
    if columns is not None:
        check_columns(columns, names, name)
    # By position: some names would be taken for patterns.
    places = None if columns is None else sorted({names.index(column) for column in columns})
    try:
        frame = _parse(content, dialect, places)
        # The parser leaves quotes in names doubled; they would double again each time they are written.
        frame.columns = [names[place] for place in (range(len(names)) if places is None else places)]
    except pl.exceptions.NoDataError:
        raise DataError(f"{name} is empty. Give a file with a header line and one line per record.") from None
    except pl.exceptions.ComputeError as error:
        if "utf-8" in str(error).lower() and dialect.encoding in ("utf-8", "utf-8-sig"):
            data = _whole(content)
            if encoding is not None or dialect.encoding == "utf-8-sig":
                raise _damaged(data, name) from None
            return read_delimited(data, name, columns=columns, encoding=utf8_or_cp1252(data, name), separator=separator)
        frame, dialect = _explain(content, dialect, names, places, name, error)
    frame = _without_blank_lines(frame, content, dialect, names, name)
    if columns is not None:
        frame = frame[columns]
    if frame.height == 0:
        raise DataError(f"{name} has a header but no records. Give a file with at least one record.")
    return frame, replace(dialect, notes=notes)


def check_columns(wanted: list[str], names: list[str], where: str) -> None:
    """Raise if a column asked for is absent, with the near misses."""
    absent = [column for column in wanted if column not in names]
    if absent:
        raise DataError(f"{where} has no column {some(absent)}. {near_miss(absent[0], names)}")


def decompress(path: Path) -> bytes:
    """The bytes inside a .gz or .zst file."""
    try:
        if path.suffix.lower() == ".gz":
            return gzip.decompress(path.read_bytes())
        try:
            import pyarrow
        except ImportError:
            raise MissingDependency("Reading .zst files needs pyarrow: pip install 'kanopy[pandas]'.") from None
        with pyarrow.CompressedInputStream(str(path), "zstd") as stream:
            return bytes(stream.read())
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


def _head(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(SAMPLE_BYTES)


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
        records, bad_count, blank_count, open_line = scan_records(
            data, ord(dialect.separator), quote, newline, fields, bad, blank
        )
        if blank_count <= len(blank):
            return int(records), bad[:bad_count], int(bad_count), blank[:blank_count], int(open_line)
        blank = np.zeros(blank_count, np.int64)


def _quotes_values(content: Path | bytes, dialect: Dialect) -> bool:
    """Whether any value starts with a quote, so that quotes have a meaning in this file."""
    data = _whole(content)
    quote, newline = dialect.quote.encode(), dialect.newline[-1:].encode()
    return data.lstrip(b"\xef\xbb\xbf\r\n").startswith(quote) or any(
        before + quote in data for before in (dialect.separator.encode(), newline)
    )


def _ragged(bad: np.ndarray, count: int, fields: int, name: str) -> DataError:
    lines = "; ".join(f"line {line:,} has {found:,}" for line, found in bad[:5].tolist())
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
        unquoted = Dialect(dialect.separator, "", dialect.encoding, dialect.newline)
        _, _, wrong, _, _ = _scan(content, unquoted, len(names))
        if wrong == 0:
            return _parse(content, unquoted, columns), unquoted
    if open_line:
        raise DataError(
            f"{name} has a quote in line {open_line:,} that is never closed. Close it, or double it where it is part "
            "of a value."
        ) from None
    if bad_count:
        raise _ragged(bad, bad_count, len(names), name) from None
    reason = str(error).splitlines()[0]
    raise DataError(f"{name} cannot be parsed: {reason}. Check its quotes, or save it again as CSV.") from None


def records_of(content: Path | bytes, dialect: Dialect, fields: int, name: str) -> tuple[int, np.ndarray]:
    """How many records a file has (its header is one), and which of them are blank lines; short ones are refused."""
    records, bad, bad_count, blank, _ = _scan(content, dialect, fields)
    if bad_count:
        raise _ragged(bad, bad_count, fields, name)
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
