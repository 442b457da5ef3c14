"""How a delimited text file is written: its separator, quotes, line ends and encoding, found by looking at it."""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from kanopy._errors import DataError, listed, short

SAMPLE_BYTES = 1 << 18
SAMPLE_RECORDS = 200
SEPARATORS = (",", ";", "\t", "|")

_BOMS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_UTF8_SEQUENCE = re.compile(rb"[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}")
_HIGH_BYTE = re.compile(rb"[\x80-\xff]")
_NOT_CP1252 = re.compile(rb"[\x81\x8d\x8f\x90\x9d]")


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
    """What the reader had to change: columns without a name, or with the name of another."""
    labels: Any = field(default=None, compare=False)
    """Of a file of a statistics package, what its columns and values are called (`Labels`)."""

    @property
    def marked(self) -> bool:
        """Whether output starts with a byte-order mark."""
        return self.encoding in ("utf-8-sig", "utf-16", "utf-32")


def detect_encoding(sample: bytes) -> str:
    """The encoding of a file by its first bytes: a byte-order mark, zero bytes, valid UTF-8, else Windows-1252.

    >>> detect_encoding("café".encode("cp1252")), detect_encoding("café".encode("utf-16"))
    ('cp1252', 'utf-16')
    """
    for mark, name in _BOMS:
        if sample.startswith(mark):
            return name
    zeros = sample[:2000].count(0)
    if zeros and len(sample) >= 4:
        even, odd = sample[0:2000:2].count(0), sample[1:2000:2].count(0)
        if odd > 4 * even and odd * 4 > len(sample[1:2000:2]):
            return "utf-16-le"
        if even > 4 * odd and even * 4 > len(sample[0:2000:2]):
            return "utf-16-be"
        if zeros * 20 > len(sample[:2000]):
            raise DataError(
                "This does not look like a text file: it is full of zero bytes. Give a CSV file, or use the suffix "
                "of its real format (.parquet, .xlsx, .feather …)."
            )
    try:
        codecs.getincrementaldecoder("utf-8")().decode(sample, final=len(sample) < SAMPLE_BYTES)
    except UnicodeDecodeError:
        return "cp1252" if _looks_single_byte(sample) else "utf-8"
    return "utf-8"


def _looks_single_byte(data: bytes) -> bool:
    """Whether bytes that are not UTF-8 are an older one-byte encoding rather than damaged UTF-8."""
    good = bad = 0
    for start in range(0, len(data), SAMPLE_BYTES):
        chunk = data[start : start + SAMPLE_BYTES]
        rest, found = _UTF8_SEQUENCE.subn(b"", chunk)
        good += found
        bad += len(_HIGH_BYTE.findall(rest))
    return bad > good


def decode(data: bytes, encoding: str, name: str) -> str:
    """The whole text, or an error that names the line and byte that cannot be decoded."""
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        raise undecodable(data, error.start, encoding, name) from None
    except UnicodeError as error:
        raise DataError(f"{name} is not valid {encoding}: {error}.") from None


def undecodable(data: bytes, position: int, encoding: str, name: str) -> DataError:
    """The error for a byte that does not belong to the encoding."""
    line = data.count(b"\n", 0, position) + 1
    near = data[max(0, position - 15) : position + 15].decode("ascii", "backslashreplace")
    return DataError(
        f"{name} is not valid {encoding}: line {line:,}, byte {position + 1:,} of the file is 0x{data[position]:02x} "
        f"(near {near!r}). Save the file as UTF-8, or name its encoding, e.g. encoding='latin-1'."
    )


def utf8_or_cp1252(data: bytes, name: str) -> str:
    """For bytes that turned out not to be UTF-8: 'cp1252', or an error that shows where UTF-8 is damaged."""
    if _looks_single_byte(data):
        wrong = _NOT_CP1252.search(data)
        if wrong:
            raise undecodable(data, wrong.start(), "UTF-8 or Windows-1252", name)
        return "cp1252"
    decoder = codecs.getincrementaldecoder("utf-8")()
    position = 0
    for start in range(0, len(data), SAMPLE_BYTES):
        chunk = data[start : start + SAMPLE_BYTES]
        kept = len(decoder.getstate()[0])
        try:
            decoder.decode(chunk, final=start + SAMPLE_BYTES >= len(data))
        except UnicodeDecodeError as error:
            position = start - kept + error.start
            break
    raise undecodable(data, position, "UTF-8", name)


def detect_dialect(sample: bytes, encoding: str | None = None, separator: str | None = None) -> Dialect:
    """The dialect of a file by its first bytes (whole lines are best).

    Each separator and quote is tried on the first records; the one that gives the same number of fields (more than
    one) most often wins, ties going to more fields and to the comma first.
    """
    encoding = encoding or detect_encoding(sample)
    text = _start(sample, encoding)
    newline = "\r\n" if "\r\n" in text else "\r" if "\r" in text and "\n" not in text else "\n"
    if len(sample) >= SAMPLE_BYTES:
        text = text[: text.rfind(newline) + 1] or text
    best: tuple[float, int] = (-1.0, 0)
    found = Dialect(separator or ",", '"', encoding, newline)
    # Where a field begins with a double quote, double quotes are the quotes: an apostrophe in a name is a letter.
    doubled = text.startswith('"') or any(
        f'{before}"' in text for before in ("\n", "\r", separator, *SEPARATORS) if before
    )
    for candidate in (separator,) if separator else SEPARATORS:
        single = not doubled and (f"'{candidate}" in text or f"{candidate}'" in text)
        for quote in ('"', "'") if single else ('"',):
            score = _consistency(text, candidate, quote)
            if score > best:
                best, found = score, Dialect(candidate, quote, encoding, newline)
    return found


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


def _consistency(text: str, separator: str, quote: str) -> tuple[float, int]:
    """How steadily a dialect splits the first records, and into how many fields."""
    counts: Counter[int] = Counter()
    first = 0
    try:
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, quotechar=quote)
        for record in reader:
            if record:
                first = first or len(record)
                counts[len(record)] += 1
            if sum(counts.values()) >= SAMPLE_RECORDS:
                break
    except csv.Error:
        return (-0.5, 0)
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
    for place, name in enumerate(header, 1):
        if name and name not in names:
            names.append(name)
            continue
        start, number = (f"{name}_", 2) if name else ("column_", place)
        while f"{start}{number}" in taken:
            number += 1
        names.append(f"{start}{number}")
        taken.add(names[-1])
        was = f"has the name of another, {name!r}," if name else "has no name"
        changed.append(f"column {place} {was} and is read as {names[-1]!r}")
    return names, (f"Columns were renamed: {listed(changed)}.",) if changed else ()
