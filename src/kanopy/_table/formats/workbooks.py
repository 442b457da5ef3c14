"""Workbooks: which sheet holds the table, where its names stand, and what of the sheet is no record."""

from __future__ import annotations

import contextlib
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl

from kanopy._errors import DataError, MissingDependency, near_miss, short, some
from kanopy._table.dialects import Read, distinct_names
from kanopy._table.formats.layout import LOOKED_AT, Layout, about_names, check_unpacked, check_width, find_header
from kanopy._table.formats.sheet_area import check_area

BIGGER = 10
"""So many times the cells of the first table another sheet has that is read instead."""
SHEETS_LOOKED_AT = 30


def read_workbook(path: Path, inner: str | None, layout: Layout | None = None) -> Read:
    """The table of a sheet, and what is said of it: the sheet that is named, or the one that most likely holds it."""
    layout = layout or Layout()
    layout.refuse_but("sheet", "header_row", where=str(path), what="a workbook")
    if inner is not None and layout.sheet is not None and inner != layout.sheet:
        raise DataError(f"Two sheets of {path} are named: {inner!r} and {layout.sheet!r}. Name one.")
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as packed:
            size = sum(member.file_size for member in packed.infolist())
            check_unpacked(size, path.stat().st_size, str(path))
            with unpackable(path):
                check_area(packed, str(path))
    book = _opened(path)
    sheet, notes = _chosen(book, path, inner if inner is not None else layout.sheet)
    where = f"the sheet {sheet!r} of {path.name}"
    top = _top(book, sheet)
    if top.height == 0:
        raise DataError(f"The sheet {sheet!r} of {path} is empty. Put the column names into its first row.")
    check_width(top.width, where)
    if layout.header_row is not None:
        index = layout.header_row - 1
        header_notes: tuple[str, ...] = ()
        if index >= book.load_sheet(sheet, header_row=None, skip_rows=0, dtypes="string").total_height:
            raise DataError(f"{where} has no row {layout.header_row:,}. header-row counts rows from 1.")
        if index >= top.height:
            top = _top(book, sheet, index + 1)
    else:
        header = find_header(top.rows(), top.width, where)
        index, header_notes = header.index, header.notes
    names, renamed = distinct_names([name or "" for name in top.row(index)])
    # All rows are looked at for their types: numbers would else become missing where a text comes late, or it.
    frame: pl.DataFrame = book.load_sheet(sheet, header_row=index, schema_sample_rows=None).to_polars()
    if frame.width != len(names):
        raise DataError(f"Row {index + 1:,} of {where} does not name its {frame.width} columns. Name all of them.")
    frame.columns = names
    frame = frame.with_columns(_whole(column) for column in frame.get_columns())
    frame, dropped = _records(frame, index, where)
    return frame, (*notes, *header_notes, *renamed, *about_names(names, where), *dropped)


@contextlib.contextmanager
def unpackable(path: Path) -> Iterator[None]:
    """Say that a workbook is damaged where its parts cannot be unpacked."""
    try:
        yield
    except (zipfile.BadZipFile, zlib.error, OSError, EOFError, NotImplementedError, RuntimeError) as error:
        raise DataError(
            f"{path} cannot be unpacked ({error}). Check that it is complete and has no password."
        ) from None


def _whole(column: pl.Series) -> pl.Series:
    """Numbers without fractions as whole ones: workbooks hold all numbers alike, and show 40 where they hold 40.0."""
    if not column.dtype.is_float():
        return column
    plain = column.rename("")
    whole = ((plain == plain.round()) & (plain.abs() < 2**53)) | plain.is_null()
    return column.cast(pl.Int64) if whole.all() else column


def _opened(path: Path) -> Any:
    try:
        import fastexcel
    except ImportError:
        raise MissingDependency("Excel files need fastexcel: pip install 'kanopy[excel]'.") from None
    try:
        return fastexcel.read_excel(path)
    except Exception as error:  # fastexcel raises its own family, without a common public base in older releases
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise DataError(
            f"{path} cannot be read as Excel: {reason}. Check that it is complete and that its suffix fits."
        ) from None


def _top(book: Any, sheet: str, rows: int = LOOKED_AT) -> pl.DataFrame:
    frame: pl.DataFrame = book.load_sheet(sheet, header_row=None, skip_rows=0, n_rows=rows, dtypes="string").to_polars()
    return frame


def _chosen(book: Any, path: Path, named: str | None) -> tuple[str, tuple[str, ...]]:
    sheets: list[str] = list(book.sheet_names)
    if named is not None:
        if named in sheets:
            return named, ()
        alike = [sheet for sheet in sheets if sheet.strip().casefold() == named.strip().casefold()]
        hint = (
            f" Did you mean {alike[0]!r}?"
            if alike
            else f" {near}"
            if "Did" in (near := near_miss(named, sheets))
            else ""
        )
        raise DataError(f"{path} has no sheet {named!r}. Its sheets: {some(sheets)}.{hint}")
    cells: dict[str, int] = {}
    for sheet in sheets[:SHEETS_LOOKED_AT]:
        loaded = book.load_sheet(sheet, header_row=None, dtypes="string")
        if loaded.width and loaded.total_height:
            is_visible = loaded.visible == "visible"
            cells[sheet] = (loaded.total_height * loaded.width if loaded.total_height > 1 else 0) if is_visible else -1
    if not cells:
        return sheets[0], ()
    most = max(cells, key=lambda sheet: cells[sheet])
    first = next(iter(cells))
    taken = most if cells[most] >= BIGGER * max(cells[first], 1) or cells[first] <= 0 else first
    others = [sheet for sheet in cells if sheet != taken]
    if not others:
        return taken, () if taken == sheets[0] else (
            f"Of {path.name} the sheet {taken!r} is read; the others are empty.",
        )
    return taken, (
        f"Of {path.name} the sheet {taken!r} is read. It also has {some(others)}: --sheet, or {path.name}::SHEET, "
        "reads another.",
    )


def _records(frame: pl.DataFrame, header: int, where: str) -> tuple[pl.DataFrame, tuple[str, ...]]:
    """The rows that are records: empty rows are left out, remarks below the table are refused."""
    if not frame.height:
        return frame, ()
    texts = frame.select(pl.all().cast(pl.String, strict=False).str.strip_chars().replace("", None))
    filled = texts.select(pl.sum_horizontal(pl.all().is_not_null())).to_series()
    empty = filled == 0
    if not empty.any():
        return frame, ()
    after = filled.to_list()
    if frame.width > 2:
        for index in range(1, len(after)):
            if not after[index - 1] and after[index] == 1 and max(after[index:]) == 1:
                cell = next(value for value in texts.row(index) if value is not None)
                raise DataError(
                    f"Row {header + index + 2:,} of {where}, below an empty row, holds a single cell ({short(cell)}): "
                    "a remark or a sum, no record. Delete it."
                )
    count = int(empty.sum())
    rows = "1 empty row is" if count == 1 else f"{count:,} empty rows are"
    trailing = all(not cell_count for cell_count in after[-count:])
    return frame.filter(~empty), () if trailing else (f"{rows} left out of {where}.",)
