"""Files of odd shape with what they hold, or why they are refused: encodings, delimiters, sheets, titles, quotes, units.

`cases(tables, turn)` makes them from small tables; another `turn` combines the same features otherwise. Run as a script it
tells how many of them are read right, refused rightly, and wrong without a word.

    python -m tests.table.odd_files
"""

# ruff: noqa: E501

from __future__ import annotations

import codecs
import gzip
import io
import itertools
import tempfile
import zipfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kanopy._errors import DataError
from kanopy._table.sources import read_source

Table = list[list[str]]
SEPARATORS = (",", ";", "\t", "|")
ENDS = ("\n", "\r\n", "\r")
TITLES = {
    "de": "Tabelle 3: Ergebnisse der Erhebung", "fr": "Enquête ménages", "pl": "Badanie gospodarstw", "en": "Survey",
}  # fmt: skip
PLAIN: Table = [
    ["id", "age", "sex", "town"], ["007", "41", "f", "Rome"], ["008", "29", "m", "Nice"], ["009", "35", "f", "Bath"],
]  # fmt: skip


@dataclass(frozen=True)
class Odd:
    """A file: its name, what makes it, the table in it or the message that refuses it, and what must be said of it."""

    name: str
    make: Callable[[Path], object]
    table: Table | None = None
    refused: str = ""
    said: str = ""
    inner: str = ""


def multiplicity(text: str) -> Table:
    return [line.split(",") for line in text.split("\n")]


def joined(table: Table, separator: str = ",", end: str = "\n") -> str:
    return "".join(separator.join(row) + end for row in table)


def text_file(name: str, content: bytes, table: Table | None = None, refused: str = "", said: str = "") -> Odd:
    return Odd(name, lambda path: path.write_bytes(content), table, refused, said)


def cases(tables: Mapping[str, tuple[str, str]], turn: int = 0) -> Iterator[Odd]:
    """All files, made from these tables; `turn` shifts what is combined with what."""
    signs = itertools.islice(itertools.cycle(SEPARATORS), turn, None)
    ends = itertools.islice(itertools.cycle(ENDS), turn, None)
    for language, (text, encodings) in tables.items():
        table = multiplicity(text)
        for encoding in encodings.split():
            # What stands in the file alone: spreadsheets of such a language write one separator for the whole of it.
            content = joined(table, next(signs), next(ends)).encode(encoding)
            yield text_file(f"{language}-{encoding}.csv", content, table, said="is not UTF-8")
    yield from unicode_files(tables, turn)
    yield from titled_files(tables, turn)
    yield from quoted_files(turn)
    yield from plain_oddities(turn)
    yield from damaged_files(turn)
    yield from doubtful_files()
    yield from workbooks(tables, turn)


def unicode_files(tables: Mapping[str, tuple[str, str]], turn: int) -> Iterator[Odd]:
    languages = list(tables)
    marks = {
        "utf-8": codecs.BOM_UTF8, "utf-16-le": codecs.BOM_UTF16_LE, "utf-16-be": codecs.BOM_UTF16_BE,
        "utf-32-le": codecs.BOM_UTF32_LE, "utf-32-be": codecs.BOM_UTF32_BE,
    }  # fmt: skip
    place = turn
    for encoding, mark in marks.items():
        for with_mark in (True, False):
            for _ in range(2):
                language = languages[(place * 5 + turn) % len(languages)]
                table = multiplicity(tables[language][0])
                place += 1
                content = joined(table, SEPARATORS[place % 4], ENDS[place % 2]).encode(encoding)
                name = f"{language}-{encoding}-{'marked' if with_mark else 'bare'}-{place}.csv"
                yield text_file(name, (mark if with_mark else b"") + content, table,
                                said="" if encoding == "utf-8" else "utf-")  # fmt: skip
    table = [["名前", "年齢"], ["佐藤", "41"], ["鈴木", "29"]]
    yield text_file("jis.csv", joined(table).encode("iso2022_jp"), table, said="iso2022_jp")


def titled_files(tables: Mapping[str, tuple[str, str]], turn: int) -> Iterator[Odd]:
    for place, (language, title) in enumerate(TITLES.items()):
        sign = SEPARATORS[(place + turn) % 4]
        table = PLAIN if language not in tables else multiplicity(tables[language][0])
        end = ENDS[(place + turn) % 2]
        body = joined(table, sign, end)
        empty = sign * (len(table[0]) - 1) + end
        said = "names of columns"
        yield text_file(f"title-{language}.csv", f"{title}{end}{end}{body}".encode(), table, said=said)
        yield text_file(f"title-wide-{language}.csv", f"{title}{empty}{empty}{body}".encode(), table, said=said)
        yield text_file(f"titles-{language}.csv", f"{title}{end}2024{end}{end}{body}".encode(), table, said=said)
        yield text_file(f"remarks-{language}.csv", f"# {title}{end}# 2024{end}{body}".encode(), table, said=said)
        yield text_file(f"empty-above-{language}.csv", f"{end}{end}{body}".encode(), table)
    yield text_file("title-numbers.csv", b"Survey\n" + joined(PLAIN).encode(), PLAIN, said="names of columns")
    told = b"sep=;\r\n" + joined(PLAIN, ";", "\r\n").encode()
    yield text_file("sep.csv", told, PLAIN)


def quoted_files(turn: int) -> Iterator[Odd]:
    values = ["a, b", 'say "yes"', "two\nlines", "x;y", "tab\there", "it's"]
    for place, value in enumerate(values):
        sign = SEPARATORS[(place + turn) % 4]
        table = [["id", "note", "n"], ["1", value, "2"], ["2", "plain", "3"], ["3", value, "5"]]
        quoted = [['"' + cell.replace('"', '""') + '"' for cell in row] for row in table]
        yield text_file(f"quoted-{place}.csv", joined(quoted, sign).encode(), table)
        some = [[table[0][0], table[0][1], table[0][2]], *([row[0], quote[1], row[2]] for row, quote in
                                                          zip(table[1:], quoted[1:], strict=True))]  # fmt: skip
        yield text_file(f"some-quoted-{place}.csv", joined(some, sign, ENDS[(place + turn) % 2]).encode(), table)
    single = [["id", "note"], ["1", "x,y"], ["2", "z,w"]]
    yield text_file("single-quotes.csv", b"id,note\n1,'x,y'\n2,'z,w'\n", single)
    inches = [["size", "n"], ['5" pipe', "1"], ['7" pipe', "2"]]
    yield text_file("inches.csv", joined(inches).encode(), inches)
    names = [["name", "n"], ["'t Hooft", "1"], ["O'Neil", "2"]]
    yield text_file("apostrophes.csv", joined(names).encode(), names)


def plain_oddities(turn: int) -> Iterator[Odd]:
    decimals = [["id", "pay", "height"], ["1", "1.234,50", "1,71"], ["2", "980,00", "1,80"], ["3", "7,5", "1,65"]]
    yield text_file("decimals.csv", joined(decimals, ";").encode(), decimals)
    yield text_file("colons.csv", joined(PLAIN, ":").encode(), PLAIN, said="is read with the delimiter ':'")
    yield text_file("spaces.txt", joined(PLAIN, " ").encode(), PLAIN, said="is read with the delimiter ' '")
    words = [["full name"], ["Ann Lee"], ["Bob Ray"]]
    yield text_file("one-column.csv", joined(words).encode(), words, said="one column")
    alone = [["age"], ["41"], ["29"]]
    yield text_file("alone.csv", joined(alone).encode(), alone)
    units = [["height", "weight"], ["cm", "kg"], ["171", "60"], ["180", "75"]]
    yield text_file("units.csv", joined(units, SEPARATORS[turn % 4]).encode(), units)
    twice = [["age", "age_2", "column_3"], ["1", "2", "3"]]
    yield text_file("twice.csv", b"age,age,\n1,2,3\n", twice, said="renamed")
    numbers = [["1", "2"], ["3", "4"], ["5", "6"]]
    yield text_file("no-names.csv", joined(numbers).encode(), numbers, said="is a number")
    ends = [["a", "b"], ["1", "2"], ["3", "4"]]
    yield text_file("mixed-ends.csv", b"a,b\r\n1,2\n3,4\r\n", ends)
    yield text_file("no-last-end.csv", b"a,b\n1,2\n3,4", ends)
    yield text_file("blank-lines.csv", b"a,b\n1,2\n\n3,4\n\n", ends)
    yield text_file("tabs.tsv", b"a\tb\n1\t2\n3\t4\n", ends)
    packed = gzip.compress(joined([["город", "n"], ["Казань", "1"], ["Москва", "2"]], ";").encode("cp1251"))
    yield text_file("packed.csv.gz", packed, [["город", "n"], ["Казань", "1"], ["Москва", "2"]], said="cp1251")


def damaged_files(turn: int) -> Iterator[Odd]:
    sign = SEPARATORS[turn % 4]
    body = [row[:] for row in PLAIN]

    def with_cell(row: int, column: int, value: str) -> bytes:
        table = [line[:] for line in body]
        table[row][column] = value
        return joined(table, sign).encode()

    for row in range(4):
        for column in (0, 3) if row else (0,):
            name = f"open-quote-{row}-{column}.csv"
            yield text_file(name, with_cell(row, column, '"' + body[row][column]), refused=f"quote in line {row + 1}")
    swallowed = with_cell(1, 3, '"Rome').replace(b"Nice", b'Nice"')
    yield text_file("swallowed.csv", swallowed, refused="line 2 that is closed only in line 3")
    lines = joined(body, sign).split("\n")
    yield text_file("short.csv", "\n".join([lines[0], lines[1], "1", lines[2], ""]).encode(), refused="line 3 has 1")
    long = "\n".join([lines[0], lines[1], lines[2] + sign + "x", lines[3], ""]).encode()
    yield text_file("long.csv", long, refused="line 3 has 5")
    yield text_file("short-below-title.csv", b"Survey\n\na,b,c\n1,2,3\n1,2\n4,5,6\n7,8,9\n1,1,1\n2,2,2\n3,3,3\n4,4,4\n5,5,5\n6,6,6\n",
                    refused="line 5 has 2")  # fmt: skip
    yield text_file("returns.csv", joined(body, sign).encode().replace(b"Nice\n", b"Nice\r"), refused="line 3 ends")
    zero = with_cell(2, 3, "Ni\0ce")
    yield text_file("zero.csv", zero * 1, refused="zero byte")
    yield text_file("empty.csv", b"\r\n\r\n", refused="is empty")
    yield text_file("header-only.csv", joined(body[:1], sign).encode(), refused="no records")
    yield text_file("damaged.csv", "é;b\nü;1\nö;2\n".encode() + b"\xff;3\n", refused="line 4")
    yield text_file("picture.csv", bytes(range(256)) * 10 + b"\0" * 900, refused="zero bytes|zero byte|not UTF-8")
    yield text_file("cut.csv.gz", gzip.compress(joined(body).encode())[:-9], refused="complete")
    yield text_file("bomb.csv.gz", _bomb(), refused="unpacks to more than")
    wide = ",".join(f"c{number}" for number in range(25_000))
    yield text_file("wide.csv", f"{wide}\n{wide}\n".encode(), refused="more than 20,000 columns")


def _bomb() -> bytes:
    made = io.BytesIO()
    with gzip.GzipFile("", "wb", 6, made, 0) as file:
        for _ in range(72):
            file.write(b"a,b\n" * (1 << 18))
    return made.getvalue()


def doubtful_files() -> Iterator[Odd]:
    signs = [["dose (µg)", "area (m²)", "temp"], ["£5", "§ 12", "21 °C"], ["7", "3±1", "“cold” – 5"]]
    for encoding in ("cp1252", "cp1254", "cp1258"):
        yield text_file(f"signs-{encoding}.csv", joined(signs).encode(encoding), signs, said="cp1252")
    names = [
        ["id", "name"],
        *([str(number), f"Ann{number}"] for number in range(60)),
        ["60", "Beltrv°n"],
        ["61", "Josv©"],
    ]
    said = "2 of 63 lines have letters that do not determine the encoding"
    yield text_file("damaged-names.csv", joined(names).encode("cp1252"), names, said=said)
    few = [["name"], ["Luís"]]
    yield text_file("one-name.csv", joined(few).encode("mac_roman"), refused="Line 2 reads as .*: 'Luís'")
    yield text_file("two-signs.csv", b"a,b;c\n1,2;3\n4,5;6\n", refused="has two possible delimiters, ',' .*or ';'")
    yield text_file("two-heads.csv", b"Ann,,\nname,town,job\nBob,Rome,cook\n", refused="may name its columns in row 1")
    yield text_file("two-rows.csv", b"Men,,Women,\nage,pay,age,pay\n1,2,3,4\n5,6,7,8\n",
                    refused="Rows 1 and 2 .* both name columns")  # fmt: skip
    yield text_file("odd-letter.csv", b"a,b\n\x81,1\n\x8d,2\n", refused="do not determine the encoding")
    yield text_file("odd-signs.csv", b"a,b\n\xa4\xa6\xac,1\n\xb6\xa4\xa7,2\n", refused="do not determine the encoding")


# ---- workbooks ----------------------------------------------------------------------------------------------------


def book(name: str, sheets: Mapping[str, list[list[Any]]], table: Table | None = None, refused: str = "", said: str = "",
         inner: str = "", hidden: tuple[str, ...] = ()) -> Odd:  # fmt: skip
    write = open_document if name.endswith(".ods") else excel
    return Odd(name, lambda path: write(path, sheets, hidden), table, refused, said, inner)


def excel(path: Path, sheets: Mapping[str, list[list[Any]]], hidden: tuple[str, ...] = ()) -> None:
    import xlsxwriter

    with xlsxwriter.Workbook(path) as made:
        for name, rows in sheets.items():
            sheet = made.add_worksheet(name)
            for place, row in enumerate(rows):
                for column, cell in enumerate(row):
                    if cell is not None and cell != "":
                        sheet.write(place, column, cell)
            if name in hidden:
                sheet.hide()
            else:
                sheet.activate()


def open_document(path: Path, sheets: Mapping[str, list[list[Any]]], hidden: tuple[str, ...] = ()) -> None:
    from xml.sax.saxutils import escape, quoteattr

    def cell(value: Any) -> str:
        if value is None or value == "":
            return "<table:table-cell/>"
        if isinstance(value, (int, float)):
            return f'<table:table-cell office:value-type="float" office:value="{value}"/>'
        return f'<table:table-cell office:value-type="string"><text:p>{escape(value)}</text:p></table:table-cell>'

    tables = "".join(
        f"<table:table table:name={quoteattr(name)}>"
        + "".join(f"<table:table-row>{''.join(map(cell, row))}</table:table-row>" for row in rows)
        + "</table:table>"
        for name, rows in sheets.items()
    )
    spaces = " ".join(
        f'xmlns:{short}="urn:oasis:names:tc:opendocument:xmlns:{short}:1.0"' for short in ("office", "table", "text")
    )
    content = (f'<?xml version="1.0" encoding="UTF-8"?><office:document-content {spaces} office:version="1.2">'
               f"<office:body><office:spreadsheet>{tables}</office:spreadsheet></office:body></office:document-content>")  # fmt: skip
    with zipfile.ZipFile(path, "w") as made:
        made.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        made.writestr("META-INF/manifest.xml", '<?xml version="1.0"?><manifest:manifest xmlns:manifest="urn:oasis:names:tc:'
                      'opendocument:xmlns:manifest:1.0"><manifest:file-entry manifest:full-path="/" manifest:media-type='
                      '"application/vnd.oasis.opendocument.spreadsheet"/></manifest:manifest>')  # fmt: skip
        made.writestr("content.xml", content)


def workbooks(tables: Mapping[str, tuple[str, str]], turn: int) -> Iterator[Odd]:
    languages = list(tables)
    for place, suffix in enumerate(("xlsx", "ods")):
        language = languages[(place + 7 * turn) % len(languages)]
        own = multiplicity(tables[language][0])
        wide = [[""] * len(own[0])]
        title = [["Bericht 2024", *[""] * (len(own[0]) - 1)]]
        big = [own[0], *(own[1:] * 20)]
        yield book(f"plain.{suffix}", {"Data": own}, own)
        yield book(f"title.{suffix}", {"Data": title + wide + own}, own, said="names of columns")
        yield book(f"empty-above.{suffix}", {"Data": wide + wide + own}, own, said="begins in row 3")
        yield book(f"second.{suffix}", {"Notes": [["About this file"]], "Data": big}, big, said="'Data' is read")
        yield book(f"first.{suffix}", {"2023": own, "2024": own}, own, said="also has '2024'")
        yield book(f"named.{suffix}", {"2023": PLAIN, "2024": own}, own, inner="::2024")
        yield book(
            f"unknown.{suffix}", {"Data": own}, refused=r"no sheet 'data '.*Did you mean 'Data'", inner="::data "
        )
        yield book(f"remark.{suffix}", {"Data": own + wide + [["Source: census", *wide[0][1:]]]},
                   refused="single cell")  # fmt: skip
        yield book(f"gap.{suffix}", {"Data": own[:2] + wide + own[2:]}, own, said="1 empty row")
        heads = [["Men", "", "Women", ""], ["age", "pay", "age", "pay"], [1, 2, 3, 4], [5, 6, 7, 8]]
        yield book(f"merged.{suffix}", {"Data": heads}, refused="both name columns")
        late = [["id", "code"], *([number, number] for number in range(1200)), [1200, "A7"]]
        yield book(f"late.{suffix}", {"Data": late}, [[str(cell) for cell in row] for row in late])
        zeros = [["zip", "n"], ["007", "01"], ["018", "02"]]
        yield book(f"zeros.{suffix}", {"Data": zeros}, zeros)
        unit = [["height", "weight"], ["cm", "kg"], [171, 60.5], [180, 75]]
        as_texts = [["height", "weight"], ["cm", "kg"], ["171", "60.5"], ["180", "75"]]
        yield book(f"units.{suffix}", {"Data": unit}, as_texts)
        empty = [["", "", ""]]
        yield book(f"nothing.{suffix}", {"Data": empty}, refused="empty|no records")
    yield book("hidden.xlsx", {"Old": PLAIN, "Data": PLAIN[:3]}, PLAIN[:3], said="'Data' is read", hidden=("Old",))


# ---- what comes of them -------------------------------------------------------------------------------------------


def outcome(odd: Odd, folder: Path) -> str:
    """`right`, `refused`, or what is wrong with how a file is read."""
    path = folder / odd.name
    odd.make(path)
    try:
        found = read_source(f"{path}{odd.inner}")
    except DataError as error:
        import re

        if odd.refused and re.search(odd.refused, str(error)):
            return "refused"
        return f"{'refused otherwise' if odd.refused else 'refused though it can be read'}: {error}"
    if odd.refused:
        return f"READ, though it should be refused: {found.frame.columns} {found.frame.rows()[:3]}"
    assert odd.table is not None
    rows = [tuple(_cell(cell) for cell in row) for row in found.frame.rows()]
    if found.frame.columns != odd.table[0] or rows != [tuple(row) for row in odd.table[1:]]:
        return f"MISREAD: {found.frame.columns} {rows[:3]} instead of {odd.table[:4]} ({found.notes})"
    if odd.said and odd.said not in " ".join(found.notes):
        return f"UNSAID: {odd.said!r} is not in {found.notes}"
    return "right"


def _cell(cell: Any) -> str:
    if cell is None:
        return ""
    return f"{cell:g}" if isinstance(cell, float) else str(cell)


def main() -> None:
    """Tell what comes of the files that methods were adjusted to, and of others."""
    from tests.table.odd_tables import FIRST, SECOND

    for what, tables, turn in (("adjusted to", FIRST, 0), ("held out", SECOND, 3)):
        counted = {"right": 0, "refused": 0, "needlessly refused": 0, "silently wrong": 0}
        with tempfile.TemporaryDirectory() as folder:
            for odd in cases(tables, turn):
                found = outcome(odd, Path(folder))
                wrong = "needlessly refused" if found.startswith("refused") else "silently wrong"
                kind = found if found in counted else wrong
                counted[kind] += 1
                if kind != found:
                    print(f"{odd.name}: {found}"[:600])  # noqa: T201
        print(what, counted)  # noqa: T201


if __name__ == "__main__":
    main()
