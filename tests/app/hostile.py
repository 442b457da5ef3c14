"""Files that are damaged, that lie about their size, that are no tables, or that are far larger than they look."""

from __future__ import annotations

import gzip
import io
import random
import struct
import zipfile
from collections.abc import Callable, Iterator

import polars as pl

XML = b'<?xml version="1.0"?>'
SHEET = b'<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>'
END = b"</sheetData></worksheet>"
ROW = b'<row><c t="inlineStr"><is><t>a</t></is></c><c><v>1</v></c></row>'
MILLION = 1_000_000


def hostile_files() -> Iterator[tuple[str, Callable[[], bytes]]]:
    """Names of files, and what makes their content."""
    noise = random.Random(5).randbytes
    people = pl.DataFrame({"age": [31, 32, 33], "sex": ["f", "m", "f"]})
    book, parquet, arrow = io.BytesIO(), io.BytesIO(), io.BytesIO()
    people.write_excel(book)
    people.write_parquet(parquet)
    people.write_ipc(arrow)
    columns = [f"c{number}" for number in range(20_000)]

    def flipped(content: bytes) -> bytes:
        damaged = bytearray(content)
        for at in range(8, len(damaged) - 40, 7):
            damaged[at] ^= 0x5A
        return bytes(damaged)

    def wide(count: int) -> bytes:
        names = columns if count == len(columns) else [f"c{number}" for number in range(count)]
        return f"{','.join(names)}\n{','.join('1' * count)}\n".encode()

    bomb = _sheet(book.getvalue(), [XML + SHEET, *[ROW * 20_000] * 100, END])  # 120 MB in some 300 KB
    entities = b"".join(b'<!ENTITY a%d "%s">' % (n, b"&a%d;" % (n - 1) * 10 if n else b"ha") for n in range(12))
    yield "bomb.xlsx", lambda: bomb
    yield "lying.xlsx", lambda: _lying(bomb)
    yield (
        "entities.xlsx",
        lambda: _sheet(
            book.getvalue(), [XML + b"<!DOCTYPE l [" + entities + b"]>" + SHEET, ROW.replace(b">a<", b">&a11;<"), END]
        ),
    )
    yield (
        "corners.xlsx",
        lambda: _sheet(
            book.getvalue(),
            [
                SHEET
                + b'<row r="1"><c r="A1"><v>1</v></c></row><row r="1048576"><c r="XFD1048576"><v>1</v></c></row>'
                + END
            ],
        ),
    )
    yield "cut.xlsx", lambda: book.getvalue()[: len(book.getvalue()) // 2]
    yield "empty.xlsx", lambda: _archive({"x": b"y"})
    yield "locked.xlsx", lambda: bytes.fromhex("d0cf11e0a1b11ae1") + bytes(5_000)
    yield "image.csv", lambda: b"\x89PNG\r\n\x1a\n" + noise(5_000)
    yield "nothing.csv", lambda: b""
    yield "header.csv", lambda: b"a,b,c\n"
    yield "quote.csv", lambda: b'a,b\n1,"two\n' + b"3,4\n" * 50_000
    yield "short_quote.csv", lambda: b'a,b\n1,"two\n' + b"3,4\n" * 50
    yield "first_quote.csv", lambda: b'"a,b\n' + b"3,4\n" * 50_000
    yield "quotes.csv", lambda: b'"' * (MILLION + 1)
    yield "zeros.csv", lambda: bytes(MILLION)
    yield "wide.csv", lambda: wide(20_000)
    yield "wider.csv", lambda: wide(300_000)
    yield "line.csv", lambda: b"a" * 30 * MILLION
    yield "blank.csv", lambda: b"a,b\n" + b"\n" * 5 * MILLION
    yield "ragged.csv", lambda: b"a,b\n1,2,3\n4\n" * 1_000
    yield "letters.csv", lambda: b"a,b\n" + b"1,\xff\xfe\x81\n" * 1_000
    yield "bomb.csv.gz", lambda: gzip.compress(b"a,b\n" + b"1,2\n" * 30 * MILLION, 6)
    yield "cut.csv.gz", lambda: gzip.compress(b"a,b\n" + noise(9_000).hex().encode())[:4_000]
    yield "bomb.parquet", _many_rows
    yield "cut.parquet", lambda: parquet.getvalue()[:-20]
    yield "footer.parquet", lambda: parquet.getvalue()[:-8] + struct.pack("<I", 0x7FFFFFFF) + b"PAR1"
    yield "flipped.parquet", lambda: flipped(parquet.getvalue())
    yield "flipped.arrow", lambda: flipped(arrow.getvalue())
    yield "deep.json", lambda: b"[" * MILLION
    yield "deeper.json", lambda: b'[{"a":' * 100_000 + b"1" + b"}]" * 100_000
    yield "cut.json", lambda: b'[{"a": 1}, {"a": '
    yield "noise.sav", lambda: b"$FL2" + noise(20_000)
    yield "noise.sas7bdat", lambda: bytes.fromhex("000000000000000000000000c2ea8160b31411cf") + noise(70_000)
    yield "noise.duckdb", lambda: noise(30_000)
    yield "noise.sqlite", lambda: b"SQLite format 3\0" + noise(30_000)
    yield "page.html", lambda: b"<html><body>no table</body></html>"


def _archive(parts: dict[str, bytes]) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return made.getvalue()


def _sheet(book: bytes, pieces: list[bytes]) -> bytes:
    """A workbook with another sheet in it."""
    made = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(book)) as old, zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            with new.open(name, "w") as part:
                part.writelines(pieces if name == "xl/worksheets/sheet1.xml" else [old.read(name)])
    return made.getvalue()


def _lying(book: bytes) -> bytes:
    """The same archive, of which the sheet is said to hold 1,000 bytes."""
    data, at = bytearray(book), book.find(b"PK\x01\x02")
    while at >= 0:
        length = struct.unpack_from("<H", data, at + 28)[0]
        if data[at + 46 : at + 46 + length].endswith(b"sheet1.xml"):
            struct.pack_into("<I", data, at + 24, 1_000)
            struct.pack_into("<I", data, struct.unpack_from("<I", data, at + 42)[0] + 22, 1_000)
        at = book.find(b"PK\x01\x02", at + 46)
    return bytes(data)


def _many_rows() -> bytes:
    """200 million rows of the same two values."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    same = pa.table({"a": pa.array([1] * MILLION), "b": pa.array(["x"] * MILLION).dictionary_encode()})
    made = io.BytesIO()
    with pq.ParquetWriter(made, same.schema, compression="zstd") as writer:
        for _ in range(200):
            writer.write_table(same)
    return made.getvalue()
