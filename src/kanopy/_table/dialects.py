"""How a delimited text file is written: its separator, quotes, line ends and encoding, found by looking at it."""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import polars as pl

from kanopy._errors import DataError, listed, short
from kanopy._table.formats.encodings import encoding_of
from kanopy._table.formats.layout import Layout, contrasts, find_header

SAMPLE_BYTES = 1 << 18
SAMPLE_RECORDS = 200
SEPARATORS = (",", ";", "\t", "|")
RARE_SEPARATORS = (":", " ")
_SEPARATOR_LINE = re.compile(r'"?sep=(.)"?(\r\n|\n|\r)')
_LINE_END = re.compile(rb"\r\n|\n|\r")


@dataclass(frozen=True)
class Dialect:
    """The shape of a delimited text file; output takes the separator, line end and byte-order mark of the input.

    `quote` is empty where the file quotes nothing. Whatever the encoding of the input, output is UTF-8, with a
    byte-order mark where the input had one (spreadsheets need it to recognize UTF-8).

    >>> detect_dialect(b"name;age\\nAnn;41\\n").separator
    ';'
    """

    separator: str = ","
    quote: str = '"'
    encoding: str = "utf-8"
    newline: str = "\n"
    notes: tuple[str, ...] = ()
    """What is said of the file: its encoding unless that is UTF-8, where its header stands, which columns were renamed.
    """
    header_line: int = field(default=1, compare=False)
    """The line of the file that names the columns."""
    labels: Any = field(default=None, compare=False)
    """Of a file of a statistics package, what its columns and values are called (`Labels`)."""

    @property
    def marked(self) -> bool:
        """Whether output starts with a byte-order mark."""
        return self.encoding in ("utf-8-sig", "utf-16", "utf-32")


def find_dialect(sample: bytes, whole: Callable[[], bytes], layout: Layout, name: str) -> Dialect:
    """How a file is written, by its first bytes, or by the `whole` of them where these do not tell its encoding."""
    encoding, notes = encoding_of(sample, whole, layout.encoding, name)
    dialect_found = detect_dialect(sample, encoding, layout.delimiter, layout.header_row, name)
    return replace(dialect_found, notes=(*notes, *dialect_found.notes))


def detect_dialect(
    sample: bytes,
    encoding: str | None = None,
    separator: str | None = None,
    header_row: int | None = None,
    name: str = "The file",
) -> Dialect:
    """The dialect of a file by its first bytes (whole lines are best).

    Each separator and quote is tried on the first records; the one that gives the same number of fields (more than
    one) most often wins, ties going to more fields and to the comma first. Where the first record is no header, one
    below it may be (`find_header`). Two separators that fit alike are refused.
    """
    encoding = encoding or encoding_of(sample, lambda: sample, None, name)[0]
    text = _start(sample, encoding)
    newline = "\r\n" if "\r\n" in text else "\r" if "\r" in text and "\n" not in text else "\n"
    if len(sample) >= SAMPLE_BYTES:
        text = text[: text.rfind(newline) + 1] or text
    line = 1
    if header_row is not None:
        text, line = "".join(text.splitlines(keepends=True)[header_row - 1 :]), header_row
    elif separator_line := _SEPARATOR_LINE.match(text):
        separator, text, line = separator or separator_line[1], text[separator_line.end() :], 2
    best: tuple[float, int] = (-1.0, 0)
    dialect = Dialect(separator or ",", '"', encoding, newline, header_line=line)
    # Where a field begins with a double quote, double quotes are the quotes: an apostrophe in a name is a letter.
    doubled = text.startswith('"') or any(
        f'{before}"' in text for before in ("\n", "\r", separator, *SEPARATORS) if before
    )
    for candidate in (separator,) if separator else SEPARATORS:
        single = not doubled and (f"'{candidate}" in text or f"{candidate}'" in text)
        for quote in ('"', "'") if single else ('"',):
            score = _consistency(text, candidate, quote)
            if score > best:
                best, dialect = score, replace(dialect, separator=candidate, quote=quote)
    if separator is None:
        _refuse_doubt(text, dialect, best, name)
    if header_row is None:
        dialect = _below_titles(text, dialect, best, separator, name)
    if separator is None and best[1] < 2 and dialect.header_line == line and dialect.separator == ",":
        dialect = _rare_separator(text, dialect, name)
    return dialect


def _refuse_doubt(text: str, dialect: Dialect, best: tuple[float, int], name: str) -> None:
    """Refuse a file that falls into the same number of fields everywhere with two separators."""
    if best[0] < 1.0 or best[1] < 2:
        return
    for other in SEPARATORS:
        if other == dialect.separator or other not in text:
            continue
        score = _consistency(text, other, dialect.quote, strict=True)
        if (
            score[0] == 1.0
            and score[1] > 1
            and _consistency(text, dialect.separator, dialect.quote, strict=True)[0] == 1.0
        ):
            signs = f"{dialect.separator!r} ({best[1]} columns) or {other!r} ({score[1]} columns)"
            raise DataError(
                f"{name} has two possible delimiters, {signs}: every line fits both. State the delimiter "
                "(--delimiter, delimiter in the job), or quote the values that contain the other."
            )


def _below_titles(text: str, dialect: Dialect, best: tuple[float, int], separator: str | None, name: str) -> Dialect:
    """The same, or with the line of a header that stands below titles, remarks or the like."""
    rows, lines = _records(text, dialect)
    header = next((row for row in rows if row), [])
    poor = best[1] < 2 or best[0] < 0.6
    if not poor and sum(1 for cell in header if cell.strip()) * 2 > len(header):
        return dialect
    candidates: list[tuple[int, Dialect]] = []
    for candidate in (separator,) if separator else SEPARATORS if poor else (dialect.separator,):
        with_separator = replace(dialect, separator=candidate)
        rows, lines = _records(text, with_separator)
        lengths = Counter(len(row) for row in rows if len(row) > 1)
        if not lengths:
            continue
        width, times = lengths.most_common(1)[0]
        first = next(index for index, row in enumerate(rows) if len(row) == width)
        if times < 2 or times * 10 < 9 * sum(1 for row in rows[first:] if row):
            continue
        numbers = [line + dialect.header_line - 1 for line in lines]
        header_at = find_header(rows, width, Path(name).name, numbers)
        if header_at.index > next(index for index, row in enumerate(rows) if row):
            line = numbers[header_at.index]
            candidates.append(
                (width, replace(with_separator, header_line=line, notes=(*with_separator.notes, *header_at.notes)))
            )
    return max(candidates, key=lambda entry: entry[0])[1] if candidates else dialect


def _rare_separator(text: str, dialect: Dialect, name: str) -> Dialect:
    """A file without a usual separator, cut at colons or spaces where all lines and the kinds of values agree."""
    called = Path(name).name
    for candidate in RARE_SEPARATORS:
        rows = [row for row in _records(text, replace(dialect, separator=candidate))[0] if row]
        if len(rows) < 2 or len(rows[0]) < 2 or any(len(row) != len(rows[0]) for row in rows) or "" in rows[0]:
            continue
        if contrasts(rows, 0) and len(rows) > 2:
            note = (
                f"{called} is read with the delimiter {candidate!r}, because all lines then have the same number of "
                "fields. To use another, set delimiter in the job."
            )
            return replace(dialect, separator=candidate, notes=(*dialect.notes, note))
        note = (
            f"{called} is read as one column. If {candidate!r} separates columns, set it as the delimiter "
            "(--delimiter, delimiter in the job)."
        )
        return replace(dialect, notes=(*dialect.notes, note))
    return dialect


def _records(text: str, dialect: Dialect) -> tuple[list[list[str]], list[int]]:
    """The first records, blank ones too, and the lines in which they begin."""
    rows: list[list[str]] = []
    lines: list[int] = []
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=dialect.separator, quotechar=dialect.quote or '"')
    before = 0
    try:
        for row in reader:
            rows.append(row)
            lines.append(before + 1)
            before = reader.line_num
            if len(rows) >= SAMPLE_RECORDS:
                break
    except csv.Error:
        pass
    return rows, lines


def cut_above(data: bytes, line: int) -> bytes:
    """The file from a line on.

    >>> cut_above(b"title\\r\\n\\na,b\\n", 3)
    b'a,b\\n'
    """
    position = 0
    for _ in range(line - 1):
        end = _LINE_END.search(data, position)
        if end is None:
            return b""
        position = end.end()
    return data[position:]


def _start(sample: bytes, encoding: str) -> str:
    """The text of the first bytes; what cannot be decoded is seen when the whole file is read."""
    try:
        "".encode(encoding)  # refuses what does not turn texts into bytes, such as rot13
        text = codecs.getincrementaldecoder(encoding)("replace").decode(sample)
    except (LookupError, UnicodeError, ValueError):  # none such, none for texts, or one that refuses these bytes
        raise DataError(
            f"There is no encoding {short(encoding)} for such a file. Use a name such as 'utf-8' or 'cp1252'."
        ) from None
    return text.lstrip("\ufeff")


def _consistency(text: str, separator: str, quote: str, *, strict: bool = False) -> tuple[float, int]:
    """How steadily a dialect splits the first records, and into how many fields."""
    counts: Counter[int] = Counter()
    first = 0
    try:
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, quotechar=quote, strict=strict)
        for record in reader:
            if record:
                first = first or len(record)
                counts[len(record)] += 1
            if sum(counts.values()) >= SAMPLE_RECORDS:
                break
    except csv.Error:
        if strict:
            return (-0.5, 0)
        counts[0] += 1  # a quote that is never closed: what stands before it tells how many fields there are
    total = sum(counts.values())
    if not total or first < 2:
        return (0.0, 0)
    # The header tells how many fields there are: a separator that only occurs inside values rarely agrees with it.
    return (counts[first] / total, first)


def header_of(sample: bytes, dialect: Dialect) -> list[str]:
    """The column names in the first record that is not blank."""
    text = _start(sample, dialect.encoding)
    options = {"quotechar": dialect.quote} if dialect.quote else {"quoting": csv.QUOTE_NONE}
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=dialect.separator, **options)
    try:
        for record in reader:
            if record:
                return record
    except csv.Error as error:
        raise DataError(f"The header cannot be read: {error}. Check the quotes in the first line.") from None
    return []


Read = tuple[pl.DataFrame, tuple[str, ...]]
"""What a reader gives: a table whose columns have names that differ, and what it says of those it renamed."""


def distinct_names(header: list[str]) -> tuple[list[str], tuple[str, ...]]:
    """A header whose names are there and differ, and what was said to be changed for that.

    >>> distinct_names(["age", "", "age", "age_2"])[0]
    ['age', 'column_2', 'age_3', 'age_2']
    """
    taken, names, changed = set(header), list[str](), list[str]()
    for index, name in enumerate(header, 1):
        if name and name not in names:
            names.append(name)
            continue
        start, number = (f"{name}_", 2) if name else ("column_", index)
        while f"{start}{number}" in taken:
            number += 1
        names.append(f"{start}{number}")
        taken.add(names[-1])
        was = f"has the same name as another, {name!r}," if name else "has no name"
        changed.append(f"column {index} {was} and is read as {names[-1]!r}")
    return names, (f"Columns were renamed: {listed(changed)}.",) if changed else ()
