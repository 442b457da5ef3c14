"""Write tables, and what is published beside them, so that a file is either complete or not there."""

from __future__ import annotations

import contextlib
import importlib
import io
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import IO, Any

import polars as pl

from kanopy import _files
from kanopy._errors import DataError, MissingDependency, some
from kanopy._files import Target
from kanopy._table.column import is_text
from kanopy._table.dialects import Dialect

EXCEL_ROWS = 1_048_575
EXCEL_LETTERS = 32_767


def write_table(
    frame: pl.DataFrame,
    target: Target,
    *,
    dialect: Dialect | None = None,
    forbidden: Iterable[Target] = (),
    neutralize: bool = False,
    private: bool = False,
) -> None:
    """Write a frame in the format of the target's suffix, whole or not at all; `private` where it is no release.

    `dialect` gives delimited text the separator and line end of the input. `forbidden` are the inputs, which are
    never overwritten. `neutralize` puts an apostrophe before what a spreadsheet would run as a formula.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_table(pl.DataFrame({"zip": ["007", None]}), Path(folder) / "out.csv")
    ...     (Path(folder) / "out.csv").read_bytes()
    b'zip\\n007\\n\\n'
    """
    with staged(forbidden=forbidden) as release:
        release.table(frame, target, dialect=dialect, neutralize=neutralize, private=private)


def check_writable(target: Target, forbidden: Iterable[Target] = (), *, table: bool = True) -> Path:
    """Raise `DataError` if the target could not be written later; call this before long work.

    `table=False` is for files that are not tables (reports), whose suffix does not matter. Returns the real path.

    >>> check_writable("no-such-folder/out.csv")
    Traceback (most recent call last):
    kanopy._errors.DataError: There is no folder 'no-such-folder' to write 'out.csv' into. Create it first.
    """
    path = _files.check_writable(target, forbidden)
    if table:
        writer_of(Path(target))
    return path


class Release(_files.Release):
    """Tables and other files that are published together; made by `staged`."""

    def table(
        self,
        frame: pl.DataFrame,
        target: Target,
        *,
        dialect: Dialect | None = None,
        neutralize: bool = False,
        private: bool = False,
    ) -> None:
        """Stage a table in the format of its target's suffix."""
        write = writer_of(Path(target))
        if neutralize and formulas(frame, target):
            frame = neutralized(frame)

        def written(path: Path) -> None:
            try:
                write(frame, path, dialect or Dialect())
            except pl.exceptions.PolarsError as error:
                raise OSError(str(error)) from error

        self.stage(target, written, private=private)


@contextlib.contextmanager
def staged(*, forbidden: Iterable[Target] = ()) -> Iterator[Release]:
    """Write several files and publish all of them at the end, or none if anything fails (Ctrl-C included).

    >>> import os, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with staged() as release:
    ...         release.table(pl.DataFrame({"a": [1]}), f"{folder}/out.csv")
    ...         release.bytes(f"{folder}/report.json", b"{}")
    ...     sorted(os.listdir(folder))
    ['out.csv', 'report.json']
    """
    release = Release(forbidden)
    with release.published():
        yield release


# ---- formulas ---------------------------------------------------------------------------------------------------

_FORMULA = r"(?s)^[=+\-@\t\r\n＝＋－＠]."
_NUMBER = r"^[+-]?[\d.,\s]*\d(?:[eE][+-]?\d+)?\s?%?$"


def formulas(frame: pl.DataFrame, target: Target) -> list[str]:
    """The columns of delimited text that hold, or are called, what a spreadsheet that opens it would run as a formula.

    Other formats say of each cell that it is text. Numbers with a sign are no formulas.

    >>> table = pl.DataFrame({"a": ["=1+1", "x"], "b": ["-5", "+49 30"], "@c": [1, 2]})
    >>> formulas(table, "out.csv"), formulas(table, "out.xlsx")
    (['a', '@c'], [])
    """
    if not delimited(target):
        return []
    named = _like_formula(pl.Series(frame.columns, dtype=pl.String)).to_list()
    return [name for name, sign in zip(frame.columns, named, strict=True) if sign or _has_formula(frame[name])]


def delimited(target: Target) -> bool:
    """Whether a file of this name is delimited text, compressed or not."""
    return bool({suffix.lower() for suffix in Path(target).suffixes[-2:]} & _DELIMITED)


def neutralized(frame: pl.DataFrame) -> pl.DataFrame:
    """The table with an apostrophe before every text, and every column's name, that reads like a formula.

    >>> neutralized(pl.DataFrame({"a": ["=1+1", "x", None, "-5"]}))["a"].to_list()
    ["'=1+1", 'x', None, '-5']
    """

    def safe(texts: pl.Series) -> pl.Series:
        signs, texts = _like_formula(texts), texts.cast(pl.String)
        return pl.select(pl.when(signs).then("'" + texts).otherwise(texts)).to_series()

    names = safe(pl.Series(frame.columns, dtype=pl.String)).to_list()
    columns = [safe(column) if is_text(column) else column for column in map(_unnamed, frame.get_columns())]
    return pl.DataFrame([column.rename(name) for column, name in zip(columns, names, strict=True)])


def _unnamed(column: pl.Series) -> pl.Series:
    return column.rename("")  # names such as `*` are patterns to the dataframe library


def _has_formula(column: pl.Series) -> bool:
    few = isinstance(column.dtype, (pl.Categorical, pl.Enum))  # each category once instead of every row
    return bool(_like_formula(_unnamed(column).unique() if few else column).any())


def _like_formula(column: pl.Series) -> pl.Series:
    if not is_text(column):
        return pl.Series([False])
    texts = _unnamed(column).cast(pl.String)
    signed = texts.str.contains(_FORMULA).fill_null(False)
    return signed & ~texts.str.contains(_NUMBER) if signed.any() else signed


# ---- formats ------------------------------------------------------------------------------------------------

Writer = Callable[[pl.DataFrame, Path, Dialect], object]


def write_text(frame: pl.DataFrame, path: Path | IO[bytes], dialect: Dialect, **options: Any) -> None:
    """Write delimited text; `options` are those of the dataframe library."""
    options.setdefault("include_bom", dialect.marked)
    nested = [name for name, dtype in frame.schema.items() if dtype.is_nested() or dtype == pl.Object]
    if nested:
        raise DataError(
            f"The columns {nested} contain lists or records, which a text file cannot store. Write to .parquet instead."
        )
    frame.with_columns(pl.col(pl.Duration).dt.to_string("polars")).write_csv(
        path,
        separator=dialect.separator,
        quote_char=dialect.quote or '"',
        line_terminator="\r\n" if dialect.newline == "\r\n" else "\n",
        quote_style="necessary",
        check_extension=False,
        **options,
    )


def _write_tabs(frame: pl.DataFrame, path: Path, dialect: Dialect, **options: Any) -> None:
    write_text(frame, path, Dialect("\t", dialect.quote, dialect.encoding, dialect.newline), **options)


def _write_excel(frame: pl.DataFrame, path: Path, dialect: Dialect) -> None:
    if frame.height > EXCEL_ROWS:
        raise DataError(f"Excel holds {EXCEL_ROWS:,} records, not {frame.height:,}. Write to .csv or .parquet instead.")
    texts = frame.select(pl.col(pl.String, pl.Categorical, pl.Enum).cast(pl.String).str.len_chars().max())
    if long := [name for name, most in zip(texts.columns, texts.row(0) if texts.width else (), strict=True)
                if (most or 0) > EXCEL_LETTERS]:  # fmt: skip
        raise DataError(
            f"A cell of Excel holds {EXCEL_LETTERS:,} letters; texts of {some(long)} are longer and would be cut. "
            "Write to .csv or .parquet instead."
        )
    try:
        xlsxwriter: Any = importlib.import_module("xlsxwriter")
    except ImportError:
        raise MissingDependency("Excel files need xlsxwriter: pip install 'kanopy[excel]'.") from None
    book = io.BytesIO()
    settings = {"nan_inf_to_errors": True, "strings_to_formulas": False, "default_date_format": "yyyy-mm-dd;@"}
    with xlsxwriter.Workbook(book, settings) as made:
        made.set_properties({"created": _files.stamp()})
        frame.write_excel(made)
    path.write_bytes(book.getvalue())


def _write_statistics(suffix: str) -> Writer:
    def write(frame: pl.DataFrame, path: Path, dialect: Dialect) -> None:
        from kanopy._table.formats.statistics import write_statistics

        write_statistics(frame, path, suffix, dialect.labels)

    return write


WRITERS: dict[str, Writer] = {
    ".csv": write_text,
    ".txt": write_text,
    ".tsv": _write_tabs,
    ".tab": _write_tabs,
    ".parquet": lambda frame, path, dialect: frame.write_parquet(path),
    ".pq": lambda frame, path, dialect: frame.write_parquet(path),
    ".arrow": lambda frame, path, dialect: frame.write_ipc(path),
    ".feather": lambda frame, path, dialect: frame.write_ipc(path),
    ".ipc": lambda frame, path, dialect: frame.write_ipc(path),
    ".xlsx": _write_excel,
    **{suffix: _write_statistics(suffix) for suffix in (".sav", ".zsav", ".por", ".dta", ".xpt")},
}
"""File suffixes and what writes them."""

_DELIMITED = {".csv", ".txt", ".tsv", ".tab"}
_COMPRESSED = {".gz": "gzip", ".zst": "zstd"}


def writer_of(path: Path) -> Writer:
    """What writes a file of this suffix; raises for a suffix nothing writes."""
    suffixes = [suffix.lower() for suffix in path.suffixes[-2:]]
    if suffixes and suffixes[-1] in _COMPRESSED and len(suffixes) == 2:
        text = {".csv": write_text, ".txt": write_text, ".tsv": _write_tabs, ".tab": _write_tabs}.get(suffixes[0])
        if text is not None:
            compression, write = _COMPRESSED[suffixes[1]], text
            return lambda frame, path, dialect: write(frame, path, dialect, compression=compression)
    writer = WRITERS.get(suffixes[-1]) if suffixes else None
    if writer is None:
        suffix_shown = suffixes[-1] if suffixes else "no suffix"
        if suffix_shown == ".sas7bdat":
            raise DataError(f"{path.name!r}: only SAS writes .sas7bdat files. Write to .xpt, which SAS reads.")
        raise DataError(
            f"Unknown format to write {path.name!r} in ({suffix_shown}). Known suffixes: {', '.join(WRITERS)}, and "
            ".csv.gz or .csv.zst."
        )
    return writer
