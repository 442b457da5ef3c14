"""JSON, NDJSON and fixed-width text with a dictionary: read right, or refused with the line."""

from __future__ import annotations

import gzip
import zipfile
from pathlib import Path

import polars as pl
import pytest

from kanopy._errors import DataError
from kanopy._table.formats.dictionaries import read_dictionary
from kanopy._table.formats.json_records import read_json
from kanopy._table.formats.sheet_area import check_area
from kanopy._table.sources import read_source, read_table


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ('[{"a":1,"b":"x"},{"a":2.5,"b":"y"}]', [(1.0, "x"), (2.5, "y")]),
        ('{"a":[1,2],"b":["x","y"]}', [(1, "x"), (2, "y")]),
        ('{"meta":{"n":2},"rows":[{"a":true}]}', [(True,)]),
        ('[{"a":{"b":1,"c":{"d":null}}},{"a":{"b":2}}]', [(1, None), (2, None)]),
        ('[{"a":123456789012345678901234},{"a":1}]', [("123456789012345678901234",), ("1",)]),
        ('[{"a":"007"},{"a":7}]', [("007",), ("7",)]),
        ('[{"a":[1,2]},{"a":[]}]', [([1, 2],), ([],)]),
        ('[{"a":NaN},{"a":1}]', [(None,), (1,)]),
    ],
)
def test_json_is_read_right(text: str, rows: list[tuple[object, ...]]) -> None:
    assert read_json(text.encode(), "t.json", lines=False)[0].rows() == rows


@pytest.mark.parametrize(
    ("text", "lines", "words"),
    [
        ('[{"a":1,"a":2}]', False, "names 'a' twice in one record"),
        ('{"a":1}\n{"a":2', True, "line 2, character 7"),
        ('{"a":1}\n[2]', True, r"no record in line 2 but '\[2\]'"),
        ("[1,2]", False, "it contains '1' where a record is expected"),
        ('{"0":{"a":1}}', False, "records by key"),
        ('{"a":[1],"b":[1,2]}', False, "different lengths; the shortest is 'a'"),
        ('{"a":[{"x":1}],"b":[{"y":1}]}', False, "several tables: 'a', 'b'"),
        ('[{"a":[1]},{"a":2}]', False, "none in record 2"),
        ('[{"a":[{"b":1}]}]', False, "another table in 'a'"),
        ("[" * 50_000, False, "flat records"),
        ("[]", False, "no records"),
        ('[\n{"a":1},\n{"a":}]', False, "line 3, character 6"),
        ('[{"a":"\x01"}]', False, "line 1"),
    ],
)
def test_json_that_is_no_table_is_refused_in_words(text: str, lines: bool, words: str) -> None:
    with pytest.raises(DataError, match=words):
        read_json(text.encode(), "t.json", lines=lines)


def test_json_files_are_tables_like_others(tmp_path: Path) -> None:
    (tmp_path / "a.ndjson").write_text('{"age":1,"sex":"f"}\n{"age":2}\n\n')
    (tmp_path / "b.json.gz").write_bytes(gzip.compress(b'[{"age":1},{"age":2}]'))
    with pytest.warns(UserWarning, match="Not all records of a.ndjson have 'sex'"):
        assert read_table(tmp_path / "a.ndjson").rows() == [(1, "f"), (2, None)]
    assert read_table(tmp_path / "b.json.gz", columns=["age"])["age"].to_list() == [1, 2]
    with pytest.raises(DataError, match="is JSON: sheet says nothing about it"):
        read_table(tmp_path / "a.ndjson", sheet="x")


# ---- fixed width --------------------------------------------------------------------------------------------------

LINES = "Ann  0411 00150\nBob  0292 01250\nŻaneta353-00007\n".replace("Żaneta353", "Cleo 0351")
INFIX = "infix dictionary using p.raw {\n* a remark\n  str name 1-5\n  int age 6-8\n  byte sex 9\n  long pay 10-15\n}\n"
INFILE = (
    'infile dictionary {\n  _lrecl(15)\n  _column(1) str5 name %5s "First name"\n  int age %3f\n  byte sex %1f "Sex"\n'
    "  _column(10) long pay %6f\n}\n"
)
SPSS = """* A survey.
DATA LIST FILE='data/p.dat' RECORDS=1
  /1 name 1-5 (A) age 6-8 sex 9 pay 10-15 (2).
VARIABLE LABELS age 'Age, in years'.
VALUE LABELS sex 1 'female' 2 'male' 3 "don't know".
MISSING VALUES age (29) pay (LO THRU -0.05).
"""


@pytest.fixture
def survey(tmp_path: Path) -> Path:
    (tmp_path / "p.raw").write_text(LINES)
    (tmp_path / "p.dat").write_text(LINES)
    (tmp_path / "infix.dct").write_text(INFIX)
    (tmp_path / "p.dct").write_text(INFILE)
    (tmp_path / "survey.sps").write_text(SPSS)
    return tmp_path


def test_dictionaries_of_stata_and_spss_place_the_fields(survey: Path) -> None:
    plain = [("Ann", 41, 1, 150), ("Bob", 29, 2, 1250), ("Cleo", 35, 1, -7)]
    assert read_source(survey / "infix.dct").frame.rows() == plain
    found = read_source(survey / "p.dct")  # p.dat lies beside it
    assert found.frame.rows() == plain and found.notes == ("p.dat is read with the columns of p.dct.",)
    assert read_source(f"{survey / 'p.dat'}::infix.dct").frame.rows() == plain
    labelled = [("Ann", 41, "female", 1.5), ("Bob", None, "male", 12.5), ("Cleo", 35, "female", None)]
    assert read_source(survey / "survey.sps").frame.rows() == labelled


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        (LINES.replace("041", "0x1"), "Line 1 of .* holds '0x1' in columns 6-8, where p.dct says"),
        (LINES.replace(" 01250", ""), r"Line 2 of .* has 9 characters and ends within|ends within the number 'pay'"),
        (LINES.replace("01250", "012"), "Line 2 of .* has 13 characters and ends within the number 'pay'"),
        (LINES.replace("Bob  ", "Bob\t "), "Line 2 of .* contains a tab"),
        (LINES.replace("Bob", "\nBob"), "Line 2 of .* is empty"),
        ("", "is empty"),
        (LINES.replace("Ann", "Ánn").replace("01250", "01250  "), "whether columns count letters or bytes"),
    ],
)
def test_a_line_that_does_not_fit_its_dictionary_is_refused(survey: Path, lines: str, words: str) -> None:
    (survey / "p.dat").write_text(lines, encoding="utf-8")
    if "0 01250" in words or "9 characters" in words:
        assert read_source(survey / "p.dct").frame["pay"].to_list()[1] is None
        return
    with pytest.raises(DataError, match=words):
        read_source(survey / "p.dct")


@pytest.mark.parametrize("by_bytes", [False, True])
def test_letters_beyond_ascii_stand_where_the_dictionary_says(survey: Path, by_bytes: bool) -> None:
    first = "Zoé  0411 00150" if not by_bytes else "Zoé 0411 00150"
    (survey / "p.dat").write_text(LINES.replace("Ann  0411 00150", first), encoding="utf-8")
    assert read_source(survey / "p.dct").frame.rows()[0] == ("Zoé", 41, 1, 150)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("infix dictionary {\n str name 1-5\n 2: byte age 6-7\n}", r"several lines \(line 3\)"),
        ("infile dictionary {\n _column(1) str5 name %5s\n _newline\n}", "several lines"),
        ("infix dictionary {\n name one to five\n}", "Line 2 of p.dct cannot be read"),
        ("use data.dta", "is not a dictionary"),
        ("infix dictionary {\n age 6-8\n age 9-9\n}", "names the field 'age' twice"),
        ("infix dictionary {\n age 8-6\n}", "places 'age' in columns 8-6"),
        ("infix dictionary {\n}", "does not name fields"),
    ],
)
def test_dictionaries_that_are_not_understood_are_refused(text: str, words: str) -> None:
    with pytest.raises(DataError, match=words):
        read_dictionary(text, "p.dct")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("DATA LIST FREE / a b.\n", "by separators"),
        ("DATA LIST RECORDS=2 /1 a 1-5 /2 b 1-3.\n", "several lines"),
        ("DATA LIST /a 1-5 (DATE).\n", "cannot be read"),
        ("GET FILE='x.sav'.\n", "has no DATA LIST"),
        ("DATA LIST /a 1-5.\nMISSING VALUES a (x).\n", "missing values that cannot be read"),
    ],
)
def test_syntax_that_is_not_understood_is_refused(text: str, words: str) -> None:
    with pytest.raises(DataError, match=words):
        read_dictionary(text, "p.sps")


def test_fields_of_a_list_share_its_columns() -> None:
    found = read_dictionary("DATA LIST /a b c 1-6 d 7-9 (A).\n", "p.sps")
    assert [(each.name, each.first, each.last) for each in found.fields] == [
        ("a", 1, 2), ("b", 3, 4), ("c", 5, 6), ("d", 7, 9)
    ]  # fmt: skip


def test_a_fixed_width_text_needs_a_dictionary(survey: Path) -> None:
    (survey / "q.dat").write_text(LINES)
    for source, words in (
        (survey / "q.dat", "needs a dictionary"),
        (f"{survey / 'q.dat'}::absent.dct", "no dictionary"),
        (survey / "infix.dct", "not in the same folder"),
    ):
        (survey / "p.raw").unlink(missing_ok=True)
        with pytest.raises(DataError, match=words):
            read_source(source)


# ---- the area of sheets -------------------------------------------------------------------------------------------


def test_a_cell_far_from_the_table_is_refused_before_it_takes_memory(tmp_path: Path) -> None:
    xlsxwriter = pytest.importorskip("xlsxwriter")
    pytest.importorskip("fastexcel")
    for name, far in (("far.xlsx", (1_048_575, 16_383)), ("near.xlsx", (2, 2))):
        with xlsxwriter.Workbook(tmp_path / name) as book:
            sheet = book.add_worksheet("Data")
            sheet.write_row(0, 0, ["a", "b", "c"])
            sheet.write_row(1, 0, [1, 2, 3])
            sheet.write(*far, 7)
            sheet.write_blank(1_048_575, 16_383, None, book.add_format({"bold": True})) if name == "near.xlsx" else None
    with pytest.raises(DataError, match=r"7 filled cells in an area of 1,048,576 rows and 16,384 columns.* XFD1048576"):
        read_source(tmp_path / "far.xlsx")
    assert read_source(tmp_path / "near.xlsx").frame.rows() == [(1, 2, 3), (None, None, 7)]


def test_the_area_of_a_binary_sheet_is_known_from_its_records(tmp_path: Path) -> None:
    def record(kind: int, *numbers: int) -> bytes:
        body = b"".join(number.to_bytes(4, "little") for number in numbers)
        return bytes([kind, len(body)]) + body

    near = record(0, 0) + record(2, 0, 0) + record(5, 1, 0)
    for name, sheet in (("near.xlsb", near), ("far.xlsb", near + record(0, 1_048_575) + record(2, 16_383, 0))):
        with zipfile.ZipFile(tmp_path / name, "w") as made:
            made.writestr("xl/worksheets/sheet1.bin", sheet)
        with zipfile.ZipFile(tmp_path / name) as packed:
            if name == "near.xlsb":
                check_area(packed, name)
                continue
            with pytest.raises(DataError, match="3 filled cells in an area of 1,048,576 rows"):
                check_area(packed, name)


def test_numbers_keep_all_their_digits(survey: Path) -> None:
    (survey / "long.sps").write_text("DATA LIST FILE=long.dat /a 1-20 b 21-40 c 41-44.\n")
    (survey / "long.dat").write_text("1234567890123456789 " + "1.234567890123456789".ljust(20) + " 1  \n")
    frame = read_source(survey / "long.sps").frame
    assert frame["a"].dtype == pl.String and frame["a"][0] == "1234567890123456789"
