"""How large the area of a sheet is before it is read: a reader sets aside memory for all of its cells, empty or not.

Two cells at the far ends of a sheet make a workbook of five kilobytes that takes half a terabyte of memory. The cells
of each sheet are therefore looked for first, in its packed XML (`.xlsx`) or records (`.xlsb`), piece by piece.
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterator
from typing import Any

from kanopy._errors import DataError

ALWAYS_CELLS, MOST_TO_ONE = 20_000_000, 20
"""An area of so many cells is always read, a larger one if it is at most so many times the cells with content."""
_CELL = re.compile(rb'<(?:\w+:)?c\b[^>]*?\br\s*=\s*["\']([A-Z]{1,3})(\d{1,7})["\'](?:[^>]*[^/>])?>')
_SHEET = re.compile(r".*\.(xml)|xl/worksheets/[^/]*\.(bin)", re.IGNORECASE)
_PIECE = 1 << 24
_ROW_HEADER, _LAST_CELL_RECORD = 0, 11


def check_area(packed: zipfile.ZipFile, where: str) -> None:
    """Refuse a workbook with a sheet whose few cells lie far apart."""
    for member in packed.namelist():
        if not (match := _SHEET.fullmatch(member)):
            continue
        with packed.open(member) as sheet:
            cells, rows, columns, last = (_of_xml if match[1] else _of_records)(sheet)
        if rows * columns > max(ALWAYS_CELLS, MOST_TO_ONE * cells):
            raise DataError(
                f"{where} has a sheet with {cells:,} filled cells in an area of {rows:,} rows and {columns:,} columns. "
                f"Something lies far from the table, down to {last}. Delete it, or save the table as CSV."
            )


def _of_xml(sheet: Any) -> tuple[int, int, int, str]:
    """Cells that hold something, the number of the last row and column with one, and the cell where these cross."""
    cells, rows, columns, rest = 0, 1, 1, b""
    while piece := sheet.read(_PIECE):
        piece = rest + piece
        end = piece.rfind(b"<")
        piece, rest = piece[:end], piece[end:][:4096]
        matches = _CELL.findall(piece)
        cells += len(matches)
        if matches:
            rows = max(rows, max(map(int, {row for _, row in matches})))
            columns = max(columns, max(map(_number, {column for column, _ in matches})))
    return cells, rows, columns, f"{_letters(columns)}{rows}"


def _of_records(sheet: Any) -> tuple[int, int, int, str]:
    """The same of a binary sheet: rows and cells are records, each with its kind and size before it."""
    cells, row, rows, columns = 0, 0, 1, 1
    for kind, body in _records(sheet):
        if kind == _ROW_HEADER and len(body) >= 4:
            row = int.from_bytes(body[:4], "little")
        elif 1 < kind <= _LAST_CELL_RECORD and len(body) >= 4:
            cells += 1
            rows = max(rows, min(row, 1 << 20) + 1)
            columns = max(columns, min(int.from_bytes(body[:4], "little"), 1 << 14) + 1)
    return cells, rows, columns, f"{_letters(columns)}{rows}"


def _records(sheet: Any) -> Iterator[tuple[int, bytes]]:
    while first := sheet.read(1):
        kind = first[0]
        if kind & 0x80:
            kind = (kind & 0x7F) | (int.from_bytes(sheet.read(1)) << 7)
        size, shift = 0, 0
        while True:
            byte = int.from_bytes(sheet.read(1))
            size, shift = size | (byte & 0x7F) << shift, shift + 7
            if not byte & 0x80 or shift > 21:
                break
        yield kind, sheet.read(size)


def _number(letters: bytes) -> int:
    """The number of a column.

    >>> _number(b"A"), _number(b"XFD")
    (1, 16384)
    """
    number = 0
    for letter in letters:
        number = 26 * number + letter - 64
    return number


def _letters(number: int) -> str:
    """The letters of a column.

    >>> _letters(28), _letters(16384)
    ('AB', 'XFD')
    """
    text = ""
    while number:
        number, rest = divmod(number - 1, 26)
        text = chr(65 + rest) + text
    return text
