"""Where a table begins in a file or sheet: the row that names its columns, below titles, dates and empty rows."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from kanopy._errors import DataError, listed, short

COLUMNS = 20_000
"""More columns are taken for a table that lies on its side, or for a wrong separator."""
UNPACKED_BYTES, UNPACKED_RATIO, ALWAYS_BYTES = 1 << 33, 200, 1 << 26
"""What is unpacked at most: so many bytes, and so many times its packed size once it is larger than `ALWAYS_BYTES`."""
LOOKED_AT = 60
NUMBER = re.compile(
    r"\s*[-+]?[$€£]?\s*\d[\d.,\s'’]*(?:[eE][-+]?\d+)?\s*[%€$£]?\s*\Z|\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}\b.*\Z"
)

Row = Sequence[str | None]


@dataclass(frozen=True)
class Layout:
    """What is said of a file's form, and not found out: its encoding, delimiter, sheet, and the row of its names.

    >>> Layout.of({"encoding": "cp1250", "k": 5})
    Layout(encoding='cp1250', delimiter=None, sheet=None, header_row=None)
    """

    encoding: str | None = None
    delimiter: str | None = None
    sheet: str | None = None
    header_row: int | None = None

    @classmethod
    def of(cls, job: Any) -> Layout:
        """What a job, or a dictionary, says of it."""
        settings = (
            job if isinstance(job, dict) else {name: getattr(job, name, None) for name in cls.__dataclass_fields__}
        )
        return cls(**{name: settings.get(name) for name in cls.__dataclass_fields__})

    def over(self, job: Any) -> Layout:
        """The same, with what a job says where this one says nothing.

        >>> Layout(sheet="2024").over({"sheet": "2023", "header_row": 3})
        Layout(encoding=None, delimiter=None, sheet='2024', header_row=3)
        """
        other_layout = Layout.of(job)
        return Layout(*(
            getattr(other_layout, name) if getattr(self, name) is None else getattr(self, name)
            for name in self.__dataclass_fields__
        ))  # fmt: skip

    @property
    def of_others(self) -> Layout:
        """What is said of further tables: they are in the same encoding, if they are texts, and may else differ."""
        return Layout(self.encoding)

    def refuse_but(self, *names: str, where: str, what: str) -> None:
        """Refuse what has no meaning for a kind of file; `names` have."""
        vain = [name for name in self.__dataclass_fields__ if name not in names and getattr(self, name) is not None]
        if vain:
            names_in_vain = listed([name.replace("_", "-") for name in vain])
            raise DataError(f"{where} is {what}: {names_in_vain} says nothing about it. Leave it out.")


@dataclass(frozen=True)
class Header:
    """The number of the row that names the columns, and what is said of those above it."""

    index: int
    notes: tuple[str, ...] = ()


def find_header(rows: Sequence[Row], width: int, where: str, numbers: Sequence[int] | None = None) -> Header:
    """The row that names the columns of a table of this width; `numbers` are those that people count rows by.

    Raises `DataError` where it could be one of several.

    >>> find_header([["Survey 2024", "", ""], ["", "", ""], ["id", "age", "sex"], ["1", "41", "f"]], 3, "t.csv").index
    2
    """
    numbers = numbers or range(1, len(rows) + 1)
    first = next((index for index, row in enumerate(rows) if _filled(row)), None)
    if first is None:
        return Header(0)
    above = (f"The table of {where} begins in row {numbers[first]:,}, below empty rows.",) if first else ()
    if width < 2 or (len(rows[first]) == width and _filled(rows[first]) * 2 >= width and _filled(rows[first]) > 1):
        below = rows[first + 1] if first + 1 < len(rows) else ()
        if _filled(rows[first]) < width == _filled(below) == len(below) and _names(rows, first + 1) and (
            contrasts(rows, first + 1) and not contrasts(rows[: first + 2], first)
        ):  # fmt: skip
            raise _two_rows(where, numbers[first], numbers[first + 1])
        return Header(first, above)
    header_index = next(
        (
            index
            for index in range(first + 1, len(rows))
            if len(rows[index]) == width and _filled(rows[index]) * 5 >= width * 4 and _filled(rows[index]) > 1
        ),
        None,
    )
    if header_index is None or not _names(rows, header_index):
        return Header(first, above)
    titles = rows[first:header_index]
    if _filled(rows[header_index - 1]) > 1 and len(rows[header_index - 1]) == width:
        raise _two_rows(where, numbers[header_index - 1], numbers[header_index])
    sure = (
        any(not _filled(row) for row in titles)
        or contrasts(rows, header_index)
        or all(str(row[0] or "").lstrip().startswith("#") for row in titles)
    )
    if not sure:
        raise DataError(
            f"{where} may name its columns in row {numbers[first]:,} ({_shown(rows[first])}) or in row "
            f"{numbers[header_index]:,} ({_shown(rows[header_index])}). Say which (header-row = "
            f"{numbers[header_index]} in the job), or "
            "take away what is no part of the table."
        )
    count = numbers[header_index] - 1
    rows_said = "1 row is" if count == 1 else f"{count:,} rows are"
    return Header(
        header_index,
        (
            f"The names of columns of {where} are read from row {numbers[header_index]:,}; {rows_said} left out above "
            "it (titles, empty rows). header-row in the job says otherwise.",
        ),
    )


def check_width(count: int, where: str) -> None:
    """Refuse more columns than a table has.

    >>> check_width(3, "people.csv")
    """
    if count > COLUMNS:
        raise DataError(
            f"{where} has more than {COLUMNS:,} columns, the most that are read. Check its delimiter, or turn the "
            "table so that each row is one record."
        )


def check_unpacked(size: int, packed: int, where: str) -> None:
    """Refuse what becomes far larger than any table does when it is unpacked.

    >>> check_unpacked(1 << 20, 1 << 10, "people.csv.gz")
    """
    if size > UNPACKED_BYTES or (size > ALWAYS_BYTES and size > UNPACKED_RATIO * packed):
        raise DataError(
            f"{where} unpacks to more than {size >> 20:,} MB from {max(packed >> 10, 1):,} KB, which no table does. If "
            "it is one, unpack it yourself and give the unpacked file."
        )


def numeric(cell: str | None) -> bool:
    """Whether a cell holds a number or a date rather than a name.

    >>> numeric("1.234,50"), numeric("2024-03-01"), numeric("age"), numeric("")
    (True, True, False, False)
    """
    return bool(cell) and NUMBER.match(str(cell)) is not None


def about_names(names: Sequence[str], where: str) -> tuple[str, ...]:
    """What is said of a header that may be a record.

    >>> about_names(["1", "41"], "t.csv")[0][:58].strip()
    'Every name of a column of t.csv is a number. If the first'
    """
    if len(names) > 1 and all(map(numeric, names)):
        return (f"Every name of a column of {where} is a number. If the first row is a record, put names above it.",)
    return ()


def _filled(row: Row) -> int:
    return sum(1 for cell in row if cell is not None and str(cell).strip())


def _names(rows: Sequence[Row], index: int) -> bool:
    cells = [str(cell).strip() for cell in rows[index] if cell is not None and str(cell).strip()]
    return not any(map(numeric, cells))


def contrasts(rows: Sequence[Row], index: int) -> bool:
    """Whether some column holds numbers below a name that is none.

    >>> contrasts([["age"], ["41"]], 0)
    True
    """
    below = [row for row in rows[index + 1 : index + LOOKED_AT] if _filled(row)]
    for column_index, name in enumerate(rows[index]):
        cells = [row[column_index] for row in below if column_index < len(row) and str(row[column_index] or "").strip()]
        if cells and not numeric(name) and sum(map(numeric, cells)) * 5 >= len(cells) * 4:
            return True
    return False


def _shown(row: Row) -> str:
    return listed([short(str(cell)) for cell in row if cell is not None and str(cell).strip()][:3])


def _two_rows(where: str, one: int, other: int) -> DataError:
    return DataError(
        f"Rows {one:,} and {other:,} of {where} both name columns, as merged cells do. Keep one row of names, or say "
        f"which holds them (header-row = {other} in the job)."
    )
