"""Read a table from a file, a database or an address, as a Polars frame.

| what | how it is named |
|---|---|
| delimited text | `people.csv`, `.tsv`, `.txt`, also with `.gz` or `.zst`: separator, quotes, encoding are detected |
| Parquet, Arrow | `people.parquet`, `.arrow`, `.feather`, `.ipc` |
| SPSS, Stata, SAS | `people.sav`, `.zsav`, `.por`, `.dta`, `.sas7bdat`, `.xpt`: values by their labels |
| workbooks | `people.xlsx`, `.ods`, `.xls`, `.xlsb`, or `people.xlsx::Sheet2`: the likely sheet, below its titles |
| JSON | `people.json` (records, or columns by name), `people.ndjson`, `.jsonl` (a record per line), also packed |
| fixed-width text | `people.dct`, `people.sps` (dictionaries), or `people.dat::people.dct` |
| databases | `people.duckdb::table`, `people.sqlite::table`, or `people.sqlite?SELECT …` |
| PostgreSQL | `postgresql://user@host/database::table`, or `…::SELECT …` |

Files may also be given as an `https://` address.
"""

from __future__ import annotations

import contextlib
import os
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import polars as pl

from kanopy import _temporary
from kanopy._address import in_full
from kanopy._errors import DataError, readable, shown_address
from kanopy._files import usable
from kanopy._lazy import public
from kanopy._table.delimited import COMPRESSIONS, check_columns, decompress, read_delimited
from kanopy._table.dialects import Dialect, Read
from kanopy._table.formats.layout import Layout
from kanopy._usage import checked

KINDS: dict[str, str] = {
    ".csv": "csv",
    ".tsv": "csv",
    ".tab": "csv",
    ".txt": "csv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".arrow": "arrow",
    ".feather": "arrow",
    ".ipc": "arrow",
    ".xlsx": "excel",
    ".xlsm": "excel",
    ".xls": "excel",
    ".xlsb": "excel",
    ".ods": "excel",
    ".duckdb": "duckdb",
    ".ddb": "duckdb",
    ".sqlite": "sqlite",
    ".sqlite3": "sqlite",
    ".db": "sqlite",
    ".sav": "statistics",
    ".zsav": "statistics",
    ".por": "statistics",
    ".dta": "statistics",
    ".sas7bdat": "statistics",
    ".xpt": "statistics",
    ".json": "json",
    ".ndjson": "json",
    ".jsonl": "json",
    ".dat": "fixed",
    ".raw": "fixed",
    ".asc": "fixed",
    ".dct": "fixed",
    ".sps": "fixed",
}
"""File suffixes and the kind of file they stand for."""

POSTGRES = ("postgresql://", "postgres://")
URL_SCHEMES = ("http://", "https://", "file://")


@dataclass(frozen=True, eq=False)
class Source:
    """A table that was read: its frame, how it was written (text files), what kind it is, and where it lies.

    `path` is the local file, or `None` for an address or a server; `notes` say which columns the reader renamed.
    """

    frame: pl.DataFrame
    dialect: Dialect | None
    kind: str
    path: Path | None
    notes: tuple[str, ...] = ()


def is_source(data: object) -> bool:
    """Whether something names a table to read (a path or an address) rather than being one."""
    return isinstance(data, (str, os.PathLike))


@public("kanopy")
@checked
def read_table(
    source: str | os.PathLike[str],
    *,
    columns: Sequence[str] | None = None,
    encoding: str | None = None,
    delimiter: str | None = None,
    sheet: str | None = None,
    header_row: int | None = None,
) -> pl.DataFrame:
    """Read a table; delimited text comes as text columns, other formats keep their types.

    What is found out about the form of a file can be said instead: the encoding and delimiter of a text, the sheet of a
    workbook, and the row that names the columns. Whatever is unusual about it is told by a warning.

    >>> from kanopy._table.datasets import path
    >>> read_table(path("adult.parquet"), columns=["age", "sex"]).shape
    (48842, 2)
    """
    return read_aloud(source, columns=columns, layout=Layout(encoding, delimiter, sheet, header_row)).frame


def read_aloud(
    source: str | os.PathLike[str], *, columns: Sequence[str] | None = None, layout: Layout | None = None
) -> Source:
    """Read a table for a program, which is told by warnings what is unusual about its file."""
    source_read = read_source(source, columns=columns, layout=layout)
    for note in source_read.notes:
        warnings.warn(note, UserWarning, stacklevel=3)
    return source_read


def read_source(
    source: str | os.PathLike[str],
    *,
    columns: Sequence[str] | None = None,
    encoding: str | None = None,
    separator: str | None = None,
    layout: Layout | None = None,
) -> Source:
    """Read a table and keep what is needed to write it back the same way.

    `layout` overrules what is found out about the form of the file; `encoding` and `separator` are parts of it. Raises
    `DataError` for anything that cannot be read, with the line where there is one.
    """
    layout = layout or Layout(encoding, separator)
    with readable(shown_address(os.fspath(source))):
        return _read(os.fspath(source), None if columns is None else list(columns), layout)


def _read(text: str, wanted: list[str] | None, layout: Layout) -> Source:
    if text.startswith(POSTGRES):
        layout.refuse_but(where=shown_address(text), what="a table of a database")
        from kanopy._table.databases import read_postgres

        table_read, notes = read_postgres(text)
        return _checked(Source(table_read, None, "postgresql", None, notes), shown_address(text), wanted)
    if text.startswith(URL_SCHEMES):
        return _read_url(text, wanted, layout)
    path, inner, query = split_source(text)
    kind = _readable_kind(path)
    if kind == "csv":
        if inner or query:
            raise DataError(f"A text file contains one table: give {str(path)!r} without '::' or '?'.")
        frame, dialect = read_delimited(path, str(path), columns=wanted, layout=layout)
        return Source(frame, dialect, kind, path, dialect.notes)
    if kind == "excel":
        from kanopy._table.formats.workbooks import read_workbook

        if query:
            raise DataError(f"A workbook takes no query: give {str(path)!r} with '::' and a sheet.")
        frame, notes = read_workbook(path, inner, layout)
        return _checked(Source(frame, None, kind, path, notes), str(path), wanted)
    if kind in ("json", "fixed"):
        layout.refuse_but("encoding", where=str(path), what="JSON" if kind == "json" else "fixed-width text")
        if query or (inner and kind == "json"):
            raise DataError(f"{str(path)!r} contains one table: give it without '::' or '?'.")
        if kind == "json":
            from kanopy._table.formats.json_records import LINES, read_json

            data = decompress(path) if path.suffix.lower() in COMPRESSIONS else path.read_bytes()
            by_line = bool({suffix.lower() for suffix in path.suffixes} & set(LINES))
            frame, notes = read_json(data, str(path), lines=by_line, encoding=layout.encoding)
        else:
            from kanopy._table.formats.fixed_width import read_fixed

            frame, notes = read_fixed(path, inner, layout.encoding)
        return _checked(Source(frame, None, kind, path, notes), str(path), wanted)
    layout.refuse_but(where=str(path), what=f"a {kind} file")
    if kind == "statistics":
        from kanopy._table.formats.statistics import read_statistics

        frame, labels = read_statistics(path)
        return _checked(Source(frame, Dialect(labels=labels), kind, path), str(path), wanted)
    frame, notes = _READERS[kind](path, inner, query, wanted)
    return _checked(Source(frame, None, kind, path, notes), str(path), wanted)


def check_source(source: str | os.PathLike[str]) -> None:
    """Raise `DataError` if a local source is not there or cannot be a table; nothing of it is read."""
    if (path := local_path(source)) is not None:
        _readable_kind(path)


def local_path(source: str | os.PathLike[str]) -> Path | None:
    """The file behind a source, or `None` for a server or a web address.

    >>> str(local_path("people.duckdb::visits"))
    'people.duckdb'
    """
    text = os.fspath(source)
    if text.startswith((*POSTGRES, "http://", "https://")):
        return None
    if text.startswith("file://"):
        import urllib.parse
        import urllib.request

        text = urllib.request.url2pathname(urllib.parse.urlparse(text).path)
    return split_source(text)[0]


def split_source(text: str) -> tuple[Path, str | None, str | None]:
    """A path, the table or sheet after `::`, and the query after `?`; an existing file's own name comes first."""
    with contextlib.suppress(OSError, ValueError):  # what follows the name may be a long query
        if Path(text).exists():
            return Path(text), None, None
    cuts = [(text.find(mark), mark) for mark in ("::", "?") if mark in text]
    if not cuts:
        return usable(text), None, None
    position, mark = min(cuts)
    name, rest = text[:position], text[position + len(mark) :]
    return (usable(name), rest, None) if mark == "::" else (usable(name), None, rest.removeprefix("query="))


def _kind(path: Path) -> str:
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if suffixes and suffixes[-1] in COMPRESSIONS:
        suffixes.pop()
        if not suffixes or KINDS.get(suffixes[-1]) not in ("csv", "json"):
            raise DataError(f"Only text files are read in compressed form (e.g. people.csv.gz), not {path.name!r}.")
    if not suffixes or suffixes[-1] not in KINDS:
        if path.is_dir():
            raise DataError(f"{path} is a folder. Give one file.")
        if suffixes and suffixes[-1] == ".toml":
            raise DataError(f"{path.name!r} is a job file, not a table. Give the table, and the job after --job.")
        suffix_shown = suffixes[-1] if suffixes else "no suffix"
        raise DataError(
            f"Unknown format of {path.name!r} ({suffix_shown}). Known suffixes: {', '.join(KINDS)}; text files also "
            f"with {' or '.join(COMPRESSIONS)}."
        )
    return KINDS[suffixes[-1]]


def _readable_kind(path: Path) -> str:
    """The kind of a file; one that is not there is said to be absent, whatever its name ends in."""
    if not path.exists():
        _check_file(path)
    kind = _kind(path)
    _check_file(path)
    return kind


def _check_file(path: Path) -> None:
    if path.is_dir():
        raise DataError(f"{path} is a folder. Give one file.")
    if not path.exists():
        folder = path.parent if path.parent.is_dir() else None
        near = [] if folder is None else _similar(path.name, folder)
        hint = f" Did you mean {' or '.join(repr(str(path.parent / name)) for name in near)}?" if near else ""
        raise DataError(f"There is no file {str(path)!r}. Check the path.{hint}")
    if not os.access(path, os.R_OK):
        raise DataError(f"{path} may not be read. Check its permissions.")
    if path.stat().st_size == 0:
        raise DataError(f"{path} is empty (0 bytes). Give a file with at least one record.")


def _similar(name: str, folder: Path) -> list[str]:
    import difflib

    names = [entry.name for entry in os.scandir(folder) if Path(entry.name).suffix.lower() in KINDS]
    return difflib.get_close_matches(name, names, n=2, cutoff=0.7)


def _checked(source: Source, name: str, columns: list[str] | None) -> Source:
    """The same rules for every kind: unique names, the columns asked for, at least one record."""
    frame = source.frame
    if columns is not None:
        check_columns(columns, frame.columns, name)
        frame = frame[columns]
    if frame.width == 0:
        raise DataError(f"{name} has no columns.")
    if frame.height == 0:
        raise DataError(f"{name} has columns but no records. Give a table with at least one record.")
    return replace(source, frame=frame)


def _read_parquet(path: Path, inner: str | None, query: str | None, columns: list[str] | None) -> Read:
    try:
        places = None
        if columns is not None:
            names = list(pl.read_parquet_schema(path))
            check_columns(columns, names, str(path))
            places = [names.index(column) for column in columns]  # some names would be taken for patterns
        return pl.read_parquet(path, columns=places, glob=False, hive_partitioning=False), ()
    except (pl.exceptions.PolarsError, OSError) as error:
        raise _unreadable(path, "Parquet", error) from None


def _read_arrow(path: Path, inner: str | None, query: str | None, columns: list[str] | None) -> Read:
    try:
        return pl.read_ipc(path), ()
    except (pl.exceptions.PolarsError, OSError) as file_error:
        try:
            return pl.read_ipc_stream(path), ()
        except (pl.exceptions.PolarsError, OSError):
            raise _unreadable(path, "Arrow", file_error) from None


def _read_duckdb(path: Path, inner: str | None, query: str | None, columns: list[str] | None) -> Read:
    from kanopy._table.databases import read_duckdb

    return read_duckdb(path, inner, query)


def _read_sqlite(path: Path, inner: str | None, query: str | None, columns: list[str] | None) -> Read:
    from kanopy._table.databases import read_sqlite

    return read_sqlite(path, inner, query)


Reader = Callable[[Path, str | None, str | None, list[str] | None], Read]
_READERS: dict[str, Reader] = {
    "parquet": _read_parquet,
    "arrow": _read_arrow,
    "duckdb": _read_duckdb,
    "sqlite": _read_sqlite,
}


def _unreadable(path: Path, what: str, error: Exception) -> DataError:
    reason = (str(error).splitlines() or [type(error).__name__])[0]
    return DataError(f"{path} cannot be read as {what}: {reason}. Check that it is complete and that its suffix fits.")


def _read_url(url: str, columns: list[str] | None, layout: Layout) -> Source:
    """Fetch a file and read it; nothing of it stays on disk."""
    import urllib.error
    import urllib.parse
    import urllib.request

    if url.startswith("file://"):
        path = urllib.request.url2pathname(urllib.parse.urlparse(url).path)
        return read_source(path, columns=columns, layout=layout)
    try:
        name = Path(urllib.parse.unquote(urllib.parse.urlparse(in_full(url)).path)).name
    except ValueError as error:
        raise DataError(f"{shown_address(url)!r} is not a valid address: {error}.") from None
    _kind(Path(name))
    with _temporary.folder() as folder:
        copy = folder / name
        try:
            with urllib.request.urlopen(in_full(url), timeout=60) as answer, copy.open("wb") as file:
                while block := answer.read(1 << 20):
                    file.write(block)
        except (urllib.error.URLError, OSError, ValueError) as error:
            address_shown = shown_address(url)
            raise DataError(
                f"Cannot fetch {address_shown}: {error}. Check the address, or download the file yourself."
            ) from None
        fetched = read_source(copy, columns=columns, layout=layout)
    return replace(fetched, path=None)
