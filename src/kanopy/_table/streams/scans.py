"""Tables that are read piece by piece, with the names, types and refusals of `kanopy._table.sources`.

A scan promises nothing until it is read; what is wrong with a file is told when a reader meets it. Besides the files
that are read whole, a folder of Parquet or CSV files is one table: all of them have the same columns.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import polars as pl

from kanopy._arrays import Mask
from kanopy._errors import DataError, is_panic, near_miss, some
from kanopy._table.delimited import COMPRESSIONS, check_bytes, head_of, records_of, refuse_empty
from kanopy._table.dialects import Dialect, distinct_names, find_dialect, header_of
from kanopy._table.formats.layout import Layout, about_names, check_width
from kanopy._table.sources import KINDS, POSTGRES, URL_SCHEMES, check_source, local_path

BATCH_ROWS = 500_000
"""Rows that are looked at together."""
FOLDER_FILES = {"parquet": "*.parquet", "csv": "*.csv"}


@dataclass(frozen=True, eq=False)
class Scan:
    """A table that is read piece by piece: what it is called, how it is read, and its columns with their types.

    Columns are asked for by place: some names would be taken for patterns. `last_empty` says that a missing value in
    the last column may be a blank line or a record that is too short.
    """

    name: str
    lazy: pl.LazyFrame = field(repr=False)
    schema: pl.Schema
    kind: str
    dialect: Dialect | None = None
    files: tuple[Path, ...] = ()
    notes: tuple[str, ...] = ()
    blank: tuple[int, ...] = ()
    """Numbers of rows that are blank lines of a text file."""
    chosen: Mask | None = field(default=None, repr=False)
    """Which of the records are read, where a sample was drawn."""

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
        return self.schema.names()

    def places(self, names: Sequence[str]) -> list[int]:
        """Where columns stand; raises for those that are not there."""
        absent = [name for name in names if name not in self.columns]
        if absent:
            raise DataError(f"{self.name} has no column {some(absent)}. {near_miss(absent[0], self.columns)}")
        return [self.columns.index(name) for name in names]

    def records(self) -> pl.LazyFrame:
        """The rows that are records."""
        records = self.lazy
        if self.blank:
            records = records.with_row_index("\0row").filter(~pl.col("\0row").is_in(self.blank)).drop("\0row")
        if self.chosen is None:
            return records
        is_chosen = pl.Series(self.chosen)
        of_row = pl.col("\0row").map_batches(is_chosen.gather, return_dtype=pl.Boolean, is_elementwise=True)
        return records.with_row_index("\0row").filter(of_row).drop("\0row")

    def stamp(self) -> tuple[tuple[int, int], ...]:
        """The size of every file and when it was last written: another one means that the table changed."""
        with self.told():
            return tuple((status.st_size, status.st_mtime_ns) for status in (file.stat() for file in self.files))

    def batches(self, names: Sequence[str] | None = None, rows: int = BATCH_ROWS) -> Iterator[pl.DataFrame]:
        """Some columns, piece by piece in the order of the table."""
        wanted = self.columns if names is None else list(names)
        chosen = self.records().select([pl.nth(index).alias(f"c{index}") for index in self.places(wanted)])
        with self.told():
            for batch in chosen.collect_batches(maintain_order=True, chunk_size=rows, engine="streaming"):
                batch.columns = wanted
                yield batch

    def head(self, rows: int) -> pl.DataFrame:
        """The first rows."""
        with self.told():
            frame = self.records().head(rows).collect(engine="streaming")
        frame.columns = self.columns
        return frame

    def told(self) -> _Told:
        """What goes wrong while reading is told in plain words."""
        return _Told(self.name)

    def checked(self, empty_last: int) -> Scan:
        """Refuse records that are too short and find blank lines, where the last column lacks a value in some rows."""
        if self.kind != "csv" or not empty_last or len(self.columns) < 2 or self.blank:
            return self
        assert self.dialect is not None
        before, blank = 0, list[int]()
        for file in self.files:
            records, blank_lines = records_of(file, self.dialect, len(self.columns), str(file))
            blank += [before + int(line) - 1 for line in blank_lines]
            before += records - 1
        return replace(self, blank=tuple(blank))


class _Told:
    def __init__(self, name: str) -> None:
        self._name = name

    def __enter__(self) -> None: ...

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, (pl.exceptions.PolarsError, OSError)) or is_panic(error):
            reason = (str(error).splitlines() or [type(error).__name__])[0]
            if "invalid utf-8" in reason.lower():
                raise DataError(
                    f"{self._name} is not valid UTF-8 throughout, and only UTF-8 is read piece by piece. Use "
                    "--engine memory, or save it as UTF-8 CSV."
                ) from None
            reason = "its content is damaged" if is_panic(error) else reason
            raise DataError(
                f"{self._name} cannot be read to its end: {reason}. Check that every file is complete and of one kind."
            ) from None


def can_scan(source: str | os.PathLike[str]) -> bool:
    """Whether a table can be read piece by piece: Parquet, Arrow files and uncompressed text, alone or in folders.

    >>> can_scan("people.csv"), can_scan("people.xlsx"), can_scan("postgresql://host/people::visits")
    (True, False, False)
    """
    text = os.fspath(source)
    if text.startswith((*POSTGRES, *URL_SCHEMES)):
        return False
    path = local_path(text)
    if path is None or path.suffix.lower() in COMPRESSIONS:
        return False
    if path.is_dir():
        return bool(_files_of(path)[1])
    return KINDS.get(path.suffix.lower()) in ("csv", "parquet", "arrow")


def scan(source: str | os.PathLike[str], *, layout: Layout | None = None) -> Scan:
    """A file, or a folder of files, to be read piece by piece.

    >>> from kanopy._table.datasets import path
    >>> adult = scan(path("adult.parquet"))
    >>> adult.kind, next(adult.batches(["age", "sex"], rows=1000)).columns
    ('parquet', ['age', 'sex'])
    """
    path = local_path(source)
    assert path is not None, "addresses are fetched first"
    if path.is_dir():
        kind, files = _files_of(path)
        if not files:
            raise DataError(f"{path} is a folder without Parquet or CSV files. Give one file, or a folder with them.")
    else:
        check_source(source)
        kind, files = KINDS[path.suffix.lower()], [path]
    layout = layout or Layout()
    if kind == "csv":
        layout.refuse_but("encoding", "delimiter", "header_row", where=str(path), what="delimited text")
        return _scan_text(path, files, layout)
    layout.refuse_but(where=str(path), what=f"a {kind} file")
    with _Told(str(path)):
        if kind == "arrow":
            lazy = pl.scan_ipc(path)
            return Scan(str(path), lazy, lazy.collect_schema(), kind, files=(path,))
        hive = path.is_dir() and any("=" in folder for file in files for folder in file.relative_to(path).parts[:-1])
        require_same_columns(files, [_parquet_schema(file) for file in files])
        lazy = pl.scan_parquet(files, hive_partitioning=hive, glob=False)
        return Scan(str(path), lazy, lazy.collect_schema(), kind, files=tuple(files))


def _parquet_schema(file: Path) -> Mapping[str, object]:
    with _Told(str(file)):  # of many files, the one that is damaged
        return pl.read_parquet_schema(file)


def _files_of(folder: Path) -> tuple[str, list[Path]]:
    """The kind and the files of a folder, in the order of their names; hidden ones and those of other kinds are not."""
    for kind, pattern in FOLDER_FILES.items():
        files = sorted(file for file in folder.rglob(pattern) if not file.name.startswith((".", "_")))
        if files:
            return kind, files
    return "", []


def require_same_columns(files: Sequence[Path | str], schemas: Sequence[Mapping[str, object]]) -> None:
    """Refuse files of one table whose columns differ: what is missing in one must not read as missing values."""
    first = dict(schemas[0])
    for file, other_schema in zip(files, map(dict, schemas), strict=True):
        for one, other, where in ((first, other_schema, file), (other_schema, first, files[0])):
            lacking = [name for name in one if name not in other]
            if lacking:
                more = file if where is files[0] else files[0]
                raise DataError(
                    f"The files of one table have different columns: {where} lacks {some(lacking)}, which {more} "
                    "has. Give all files the same columns."
                )
        drifted = [
            f"{name} ({first[name]} and {other_schema[name]})" for name in first if first[name] != other_schema[name]
        ]
        if drifted:
            raise DataError(
                f"The files of one table have different types: {', '.join(drifted[:5])} in {files[0]} and {file}. "
                "Write them with the same types."
            )


def _scan_text(path: Path, files: Sequence[Path], layout: Layout) -> Scan:
    dialect, names, notes = _header(files[0], layout)
    for file in files[1:]:
        other, names_there, _ = _header(file, layout)
        if names_there != names or (other.separator, other.quote) != (dialect.separator, dialect.quote):
            schemas = [dict.fromkeys(header, pl.String()) for header in (names, names_there)]
            require_same_columns([files[0], file], schemas)
            raise DataError(
                f"{files[0]} and {file} have different formats. Write all files of a table in the same format."
            )
    lazy = pl.scan_csv(
        list(files),
        infer_schema=False,
        separator=dialect.separator,
        quote_char=dialect.quote or None,
        eol_char="\r" if dialect.newline == "\r" else "\n",
        glob=False,
    )
    schema = pl.Schema(dict.fromkeys(names, pl.String()))
    with _Told(str(path)):
        if len(lazy.collect_schema()) != len(names):
            raise DataError(f"{path} has a header that cannot be read piece by piece. Use --engine memory.")
    return Scan(str(path), lazy, schema, "csv", dialect, tuple(files), notes)


def _header(file: Path, layout: Layout) -> tuple[Dialect, list[str], tuple[str, ...]]:
    sample = head_of(file)
    refuse_empty(sample, str(file))
    dialect = find_dialect(sample, lambda: sample, layout, str(file))
    for what, wrong in (
        (f"written in {dialect.encoding}; only UTF-8 is", dialect.encoding not in ("utf-8", "utf-8-sig")),
        (f"a table from line {dialect.header_line:,} on (header-row); only whole files are", dialect.header_line > 1),
    ):
        if wrong:
            raise DataError(f"{file} is {what} read piece by piece. Use --engine memory, or save it as UTF-8 CSV.")
    names, notes = distinct_names(header_of(sample, dialect))
    check_width(len(names), str(file))
    check_bytes(file, dialect, len(names), str(file))
    return dialect, names, (*dialect.notes, *notes, *about_names(names, file.name))
