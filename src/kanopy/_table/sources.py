"""Read a table from a file, a database or an address, as a Polars frame.

| what | how it is named |
|---|---|
| delimited text | `people.csv`, `.tsv`, `.txt`, also with `.gz` or `.zst`: separator, quotes, encoding are detected |
| Parquet, Arrow | `people.parquet`, `.arrow`, `.feather`, `.ipc` |
| SPSS, Stata, SAS | `people.sav`, `.zsav`, `.por`, `.dta`, `.sas7bdat`, `.xpt`: values by their labels |
| Excel | `people.xlsx`, or `people.xlsx::Sheet2` |
| databases | `people.duckdb::table`, `people.sqlite::table`, or `people.sqlite?SELECT …` |
| PostgreSQL | `postgresql://user@host/database::table`, or `…::SELECT …` |

Files may also be given as an `https://` address.
"""

from __future__ import annotations

import contextlib
import os
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import polars as pl

from kanopy import _temporary
from kanopy._address import in_full
from kanopy._errors import DataError, MissingDependency, readable, shown_address, some
from kanopy._files import usable
from kanopy._table.delimited import COMPRESSIONS, check_columns, read_delimited
from kanopy._table.dialects import Dialect, Read, distinct_names

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


def read_table(source: str | os.PathLike[str], *, columns: Sequence[str] | None = None) -> pl.DataFrame:
    """Read a table; delimited text comes as text columns, other formats keep their types.

    >>> from kanopy._table.datasets import path
    >>> read_table(path("adult.parquet"), columns=["age", "sex"]).shape
    (48842, 2)
    """
    return read_source(source, columns=columns).frame


def read_source(
    source: str | os.PathLike[str],
    *,
    columns: Sequence[str] | None = None,
    encoding: str | None = None,
    separator: str | None = None,
) -> Source:
    """Read a table and keep what is needed to write it back the same way.

    `encoding` and `separator` overrule what is detected in delimited text. Raises `DataError` for anything that
    cannot be read, with the line where there is one.
    """
    with readable(shown_address(os.fspath(source))):
        return _read(os.fspath(source), None if columns is None else list(columns), encoding, separator)


def _read(text: str, wanted: list[str] | None, encoding: str | None, separator: str | None) -> Source:
    if text.startswith(POSTGRES):
        from kanopy._table.databases import read_postgres

        found, notes = read_postgres(text)
        return _checked(Source(found, None, "postgresql", None, notes), shown_address(text), wanted)
    if text.startswith(URL_SCHEMES):
        return _read_url(text, wanted, encoding, separator)
    path, inner, query = split_source(text)
    kind = _kind(path)
    _check_file(path)
    if kind == "csv":
        if inner or query:
            raise DataError(f"A text file holds one table: give {str(path)!r} without '::' or '?'.")
        frame, dialect = read_delimited(path, str(path), columns=wanted, encoding=encoding, separator=separator)
        return Source(frame, dialect, kind, path, dialect.notes)
    if kind == "statistics":
        from kanopy._table.formats.statistics import read_statistics

        frame, labels = read_statistics(path)
        return _checked(Source(frame, Dialect(labels=labels), kind, path), str(path), wanted)
    frame, notes = _READERS[kind](path, inner, query, wanted)
    return _checked(Source(frame, None, kind, path, notes), str(path), wanted)


def check_source(source: str | os.PathLike[str]) -> None:
    """Raise `DataError` if a local source is not there or cannot be a table; nothing of it is read."""
    if (path := local_path(source)) is not None:
        _kind(path)
        _check_file(path)


def local_path(source: str | os.PathLike[str]) -> Path | None:
    """The file behind a source, or `None` for a server or a web address.

    >>> str(local_path("people.duckdb::visits"))
    'people.duckdb'
    """
    text = os.fspath(source)
    if text.startswith((*POSTGRES, "http://", "https://")):
        return None
    if text.startswith("file://"):
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
        if not suffixes or KINDS.get(suffixes[-1]) != "csv":
            raise DataError(f"Of compressed files only text is read (e.g. people.csv.gz), not {path.name!r}.")
    if not suffixes or suffixes[-1] not in KINDS:
        if path.is_dir():
            raise DataError(f"{path} is a folder. Give one file.")
        if suffixes and suffixes[-1] == ".toml":
            raise DataError(f"{path.name!r} is no table. Give the table, and a job after --job.")
        shown = suffixes[-1] if suffixes else "no suffix"
        raise DataError(
            f"Cannot tell the format of {path.name!r} ({shown}). Known suffixes: {', '.join(KINDS)}; text files also "
            f"with {' or '.join(COMPRESSIONS)}."
        )
    return KINDS[suffixes[-1]]


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


def _read_excel(path: Path, inner: str | None, query: str | None, columns: list[str] | None) -> Read:
    fastexcel = _optional("fastexcel", "excel", "Excel files")
    try:
        book = fastexcel.read_excel(path)
    except Exception as error:  # fastexcel raises its own family, without a common public base in older releases
        raise _unreadable(path, "Excel", error) from None
    sheets: list[str] = list(book.sheet_names)
    if inner is not None and inner not in sheets:
        raise DataError(f"{path} has no sheet {inner!r}. Its sheets: {some(sheets)}.")
    sheet = inner if inner is not None else sheets[0]
    first = book.load_sheet(sheet, header_row=None, n_rows=1, dtypes="string").to_polars()
    if first.height == 0:
        raise DataError(f"The sheet {sheet!r} of {path} is empty. Put the column names into its first row.")
    names, notes = distinct_names([name or "" for name in first.row(0)])
    frame: pl.DataFrame = book.load_sheet(sheet).to_polars()
    if notes and len(names) == frame.width:
        frame.columns = names
    return frame, notes


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
    "excel": _read_excel,
    "duckdb": _read_duckdb,
    "sqlite": _read_sqlite,
}


def _unreadable(path: Path, what: str, error: Exception) -> DataError:
    reason = (str(error).splitlines() or [type(error).__name__])[0]
    return DataError(f"{path} cannot be read as {what}: {reason}. Check that it is complete and that its suffix fits.")


def _optional(module: str, extra: str, what: str) -> Any:
    import importlib

    try:
        return importlib.import_module(module)
    except ImportError:
        raise MissingDependency(f"{what} need {module}: pip install 'kanopy[{extra}]'.") from None


def _read_url(url: str, columns: list[str] | None, encoding: str | None, separator: str | None) -> Source:
    """Fetch a file and read it; nothing of it stays on disk."""
    if url.startswith("file://"):
        path = urllib.request.url2pathname(urllib.parse.urlparse(url).path)
        return read_source(path, columns=columns, encoding=encoding, separator=separator)
    try:
        name = Path(urllib.parse.unquote(urllib.parse.urlparse(in_full(url)).path)).name
    except ValueError as error:
        raise DataError(f"{shown_address(url)!r} is no address: {error}.") from None
    _kind(Path(name))
    with _temporary.folder() as folder:
        copy = folder / name
        try:
            with urllib.request.urlopen(in_full(url), timeout=60) as answer, copy.open("wb") as file:
                while block := answer.read(1 << 20):
                    file.write(block)
        except (urllib.error.URLError, OSError, ValueError) as error:
            shown = shown_address(url)
            raise DataError(
                f"Cannot fetch {shown}: {error}. Check the address, or download the file yourself."
            ) from None
        found = read_source(copy, columns=columns, encoding=encoding, separator=separator)
    return replace(found, path=None)
