"""Reading files, databases and addresses: what is found, and what is said about what cannot be read."""

from __future__ import annotations

import codecs
import contextlib
import datetime as dt
import functools
import gzip
import http.server
import os
import sqlite3
import threading
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kanopy._errors import DataError, MissingDependency
from kanopy._table.dialects import Dialect, detect_dialect
from kanopy._table.sinks import write_table
from kanopy._table.sources import local_path, read_source, read_table

ROWS = [("007", "Zoë", None), ("1.0", "x, y", ""), (" 2", 'a "b"\nc', "z")]
FRAME = pl.DataFrame(ROWS, schema=["zip", "name", "note"], orient="row")


def put(folder: Path, data: bytes, name: str = "t.csv") -> Path:
    path = folder / name
    path.write_bytes(data)
    return path


# ---- delimited text -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_dialects_come_back_value_for_value(tmp_path: Path, separator: str, newline: str) -> None:
    path = tmp_path / "t.csv"
    write_table(FRAME, path, dialect=Dialect(separator, newline=newline))
    source = read_source(path)
    assert source.frame.rows() == ROWS
    assert source.dialect == Dialect(separator, newline=newline)
    again = tmp_path / "again.csv"
    write_table(source.frame, again, dialect=source.dialect)
    assert again.read_bytes() == path.read_bytes()


def test_text_stays_as_it_was(tmp_path: Path) -> None:
    data = b'id,n,e\n007,1.50,\n008,1e3,""\n,0x1, x\n'
    source = read_source(put(tmp_path, data))
    assert source.frame.rows() == [("007", "1.50", None), ("008", "1e3", ""), (None, "0x1", " x")]
    write_table(source.frame, tmp_path / "out.csv", dialect=source.dialect)
    assert (tmp_path / "out.csv").read_bytes() == data


@pytest.mark.parametrize(
    ("encoding", "mark"),
    [
        ("utf-8", b""),
        ("utf-8", codecs.BOM_UTF8),
        ("utf-16", b""),
        ("utf-16-le", b""),
        ("utf-16-be", b""),
        ("cp1252", b""),
    ],
)
def test_encodings_are_detected(tmp_path: Path, encoding: str, mark: bytes) -> None:
    text = "name;city\nJosé;Köln\nÅsa;Malmö\n"
    source = read_source(put(tmp_path, mark + text.encode(encoding)))
    assert source.frame.rows() == [("José", "Köln"), ("Åsa", "Malmö")]
    assert source.frame.columns == ["name", "city"]


def test_latin_1_far_into_the_file_is_found(tmp_path: Path) -> None:
    data = b"name,city\n" + b"Ann,Rome\n" * 60_000 + "Zoë,Köln\n".encode("latin-1")
    with pytest.warns(UserWarning, match="its letters say that it is cp1252"):
        frame = read_table(put(tmp_path, data))
    assert frame.height == 60_001 and frame.row(-1) == ("Zoë", "Köln")


def test_single_quotes_and_stray_quotes(tmp_path: Path) -> None:
    assert read_table(put(tmp_path, b"a,b\n1,'x,y'\n2,'z,w'\n")).rows() == [("1", "x,y"), ("2", "z,w")]
    source = read_source(put(tmp_path, b'size,n\n5" pipe,1\n7" pipe,2\n'))
    assert source.frame.rows() == [('5" pipe', "1"), ('7" pipe', "2")]
    write_table(source.frame, tmp_path / "out.csv", dialect=source.dialect)
    assert read_table(tmp_path / "out.csv").equals(source.frame)


def test_separator_inside_values_does_not_fool_detection() -> None:
    sample = b"name;place\nAnn;Rome, Italy\nBob;Nice, France\n"
    assert detect_dialect(sample).separator == ";"


def test_one_column_and_blank_lines(tmp_path: Path) -> None:
    assert read_table(put(tmp_path, b"a\n1\n\n3\n")).rows() == [("1",), (None,), ("3",)]
    assert read_table(put(tmp_path, b"\na,b\n1,2\n\n3,4\n\n")).rows() == [("1", "2"), ("3", "4")]
    assert read_table(put(tmp_path, b"a,b\n1,\n,\n\r\n")).rows() == [("1", None), (None, None)]


def test_old_macintosh_line_ends(tmp_path: Path) -> None:
    assert read_table(put(tmp_path, b"a,b\r1,2\r3,4\r")).rows() == [("1", "2"), ("3", "4")]


def test_columns_can_be_chosen(tmp_path: Path) -> None:
    path = put(tmp_path, b"age,sex,zip\n1,2,3\n")
    assert read_table(path, columns=["zip", "age"]).columns == ["zip", "age"]
    with pytest.raises(DataError, match=r"no column 'agee'.*Did you mean 'age'"):
        read_table(path, columns=["agee"])


def test_compressed_text(tmp_path: Path) -> None:
    assert read_table(put(tmp_path, gzip.compress(b"a;b\n1;2\n"), "t.csv.gz")).rows() == [("1", "2")]
    for name in ("u.csv.gz", "u.tsv.zst"):
        write_table(FRAME, tmp_path / name)
        if name.endswith("zst"):
            pytest.importorskip("pyarrow", reason="reading .zst needs pyarrow: pip install 'kanopy[pandas]'")
        assert read_table(tmp_path / name).rows() == ROWS
    with pytest.raises(DataError, match="cannot be decompressed"):
        read_table(put(tmp_path, b"not gzip", "bad.csv.gz"))


CELL = st.one_of(st.none(), st.text(alphabet='aé,;"\n\t |0', max_size=5))


@settings(max_examples=50, deadline=None)
@given(st.lists(st.tuples(CELL, CELL, CELL), min_size=1, max_size=8))
def test_written_text_reads_back(tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str | None, ...]]) -> None:
    frame = pl.DataFrame(rows, schema=dict.fromkeys("abc", pl.String), orient="row")
    path = tmp_path_factory.mktemp("t") / "t.csv"
    write_table(frame, path)
    assert read_source(path, separator=",").frame.equals(frame)


# ---- bad text -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", r"is empty"),
        (b"\n\n", r"is empty"),
        (b"\xef\xbb\xbf", r"is empty"),
        (b"a,b\n", r"header but no records"),
        (b"a,b", r"header but no records"),
        (b"a,b\n\n\n", r"header but no records"),
        (b"a,b\n1,2\n1,2,3\n4,5\n", r"header has 2 fields, line 3 has 3"),
        (b"a,b\n1,2\n1\n4,5\n", r"header has 2 fields, line 3 has 1"),
        (b'a,b\n"x\ny",2\n1\n4,5\n', r"header has 2 fields, line 4 has 1"),
        (b"a,b\n" + b"1\n" * 9, r"line 2 has 1;.*and 4 more"),
        (b'a,b\n1,2\n3,"4\n5,6\n', r"quote in line 3 that is never closed"),
        (b'a,b\n1,"2\n3,4\n5,"x,y"\n', r"cannot be parsed|wrong length"),
        (b'a,b\n"x",1\n5" pipe,2\n7,8\n', r"cannot be parsed.*Check its quotes"),
        ("é,b\n1,ü\n".encode() + b"2,\xff\n", r"line 3, byte 13 of the file is 0xff"),
        (b"a,b\n1,\x81\n", r"letters do not determine the encoding.*Line 2 reads as.*cp850: '1,ü'.*--encoding"),
        (bytes(range(256)) * 20 + b"\x00" * 2000, r"zero bytes|not valid"),
    ],
)
def test_bad_text_is_explained(tmp_path: Path, data: bytes, message: str) -> None:
    with pytest.raises(DataError, match=message):
        read_table(put(tmp_path, data))


def test_wrong_encoding_named_by_the_user(tmp_path: Path) -> None:
    path = put(tmp_path, "a,b\n1,é\n".encode("latin-1"))
    with pytest.raises(DataError, match=r"line 2, byte 7 of the file is 0xe9"):
        read_source(path, encoding="utf-8")
    with pytest.raises(DataError, match="no encoding 'klingon'"):
        read_source(path, encoding="klingon")


# ---- files --------------------------------------------------------------------------------------------------


def test_missing_file_folder_and_unknown_suffix(tmp_path: Path) -> None:
    put(tmp_path, b"a\n1\n", "people.csv")
    with pytest.raises(DataError, match=r"no file .*Did you mean .*people\.csv"):
        read_table(tmp_path / "peple.csv")
    with pytest.raises(DataError, match="is a folder"):
        read_table(tmp_path)
    (tmp_path / "d.csv").mkdir()
    with pytest.raises(DataError, match="is a folder"):
        read_table(tmp_path / "d.csv")
    for name, words in (("t.rds", r"\.rds.*Known suffixes: \.csv"), ("table", "no suffix")):
        with pytest.raises(DataError, match="no file"):
            read_table(tmp_path / name)
        put(tmp_path, b"a\n1\n", name)
        with pytest.raises(DataError, match=words):
            read_table(tmp_path / name)


TYPED = pl.DataFrame({"age": [41, None, 29], "city": ["Rome", "Köln", None], "w": [1.5, 2.0, None]})


@pytest.mark.parametrize("name", ["t.parquet", "t.pq", "t.arrow", "t.feather", "t.ipc"])
def test_typed_files_come_back(tmp_path: Path, name: str) -> None:
    write_table(TYPED, tmp_path / name)
    assert read_table(tmp_path / name).equals(TYPED)
    assert read_table(tmp_path / name, columns=["city"]).columns == ["city"]
    with pytest.raises(DataError, match="Did you mean 'city'"):
        read_table(tmp_path / name, columns=["citty"])
    put(tmp_path, b"a,b\n1,2\n", name)
    with pytest.raises(DataError, match="cannot be read as"):
        read_table(tmp_path / name)
    TYPED.clear().write_parquet(tmp_path / "none.parquet")
    with pytest.raises(DataError, match="no records"):
        read_table(tmp_path / "none.parquet")


def test_excel(tmp_path: Path) -> None:
    pytest.importorskip("fastexcel", reason="pip install 'kanopy[excel]'")
    xlsxwriter = pytest.importorskip("xlsxwriter", reason="pip install 'kanopy[excel]'")
    write_table(TYPED, tmp_path / "t.xlsx")
    assert read_table(tmp_path / "t.xlsx").rows() == TYPED.rows()
    write_table(pl.DataFrame({"f": ["=1+1", "@x"]}), tmp_path / "f.xlsx")
    assert read_table(tmp_path / "f.xlsx").rows() == [("=1+1",), ("@x",)]
    with xlsxwriter.Workbook(tmp_path / "two.xlsx") as book:
        book.add_worksheet("one").write_row(0, 0, ["a", "a"])
        second = book.add_worksheet("two")
        second.write_row(0, 0, ["a", "b"])
        second.write_row(1, 0, [1, "x"])
        book.add_worksheet("empty")
    assert read_table(f"{tmp_path}/two.xlsx::two").rows() == [(1.0, "x")]
    with pytest.raises(DataError, match="no records"):
        read_table(f"{tmp_path}/two.xlsx::one")
    taken = read_source(tmp_path / "two.xlsx")
    assert taken.frame.rows() == [(1.0, "x")] and "the sheet 'two' is read" in taken.notes[0]
    with pytest.raises(DataError, match=r"no sheet 'three'.*'one', 'two'"):
        read_table(f"{tmp_path}/two.xlsx::three")
    with pytest.raises(DataError, match="empty"):
        read_table(f"{tmp_path}/two.xlsx::empty")
    with pytest.raises(DataError, match="cannot be read as Excel"):
        read_table(put(tmp_path, b"no zip", "bad.xlsx"))


def test_missing_optional_library_says_how_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    for module in ("fastexcel", "duckdb", "adbc_driver_postgresql", "xlsxwriter"):
        monkeypatch.setitem(sys.modules, module, None)
    for name, extra in (("t.xlsx", "excel"), ("t.duckdb", "duckdb")):
        with pytest.raises(MissingDependency, match=rf"pip install 'kanopy\[{extra}\]'"):
            read_table(put(tmp_path, b"x", name))
    with pytest.raises(MissingDependency, match=r"kanopy\[postgres\]"):
        read_table("postgresql://localhost/x::t")
    with pytest.raises(MissingDependency, match=r"kanopy\[excel\]"):
        write_table(TYPED, tmp_path / "new.xlsx")
    assert not (tmp_path / "new.xlsx").exists()


# ---- databases ----------------------------------------------------------------------------------------------


def test_sqlite(tmp_path: Path) -> None:
    path = tmp_path / "p.sqlite"
    with contextlib.closing(sqlite3.connect(path)) as made, made:
        made.execute("create table people (age integer, city text, w real)")
        made.executemany("insert into people values (?, ?, ?)", TYPED.rows())
    assert read_table(path).rows() == TYPED.rows()
    with contextlib.closing(sqlite3.connect(path)) as made, made:
        made.execute("create table mixed as select 1 as x union all select 'a'")
    assert read_table(f"{path}::people").rows() == TYPED.rows()
    assert read_table(f"{path}?select age from people where age > 30").rows() == [(41,)]
    for source, message in [
        (f"{path}", r"needs a table.*'mixed', 'people'"),
        (f"{path}::peple", r"no table 'peple'. Its tables: 'mixed', 'people'. Did you mean 'people'"),
        (f"{path}?drop table people", "Only queries that read"),
        (f"{path}?select nobody from people", "no such column"),
        (f"{path}::mixed", "column 'x' mixes int and str values"),
        (f"{path}?select age from people where age > 99", "no records"),
        (f"{put(tmp_path, b'not a database at all', 'bad.sqlite')}::t", "not a database"),
    ]:
        with pytest.raises(DataError, match=message):
            read_table(source)
    assert read_table(f"{path}::people").height == 3


def test_duckdb(tmp_path: Path) -> None:
    duckdb = pytest.importorskip("duckdb", reason="pip install 'kanopy[duckdb]'")
    path = tmp_path / "p.duckdb"
    with duckdb.connect(str(path)) as made:
        made.execute("create table people (age bigint, city varchar, w double)")
        made.executemany("insert into people values (?, ?, ?)", TYPED.rows())
        made.execute('create schema s; create table s."odd ""name" as select 1 as x')
    assert read_table(f"{path}::people").equals(TYPED)
    assert read_table(f'{path}::s.odd "name').rows() == [(1,)]
    assert read_table(f"{path}?select count(*) as n from people").rows() == [(3,)]
    with pytest.raises(DataError, match=r"no table 'persons'. Its tables: 'people', 's.odd"):
        read_table(f"{path}::persons")
    with pytest.raises(DataError, match="cannot be read"):
        read_table(f"{path}?select nobody from people")
    assert local_path(f"{path}::people") == path


def test_postgres(postgres: str) -> None:
    from adbc_driver_postgresql import dbapi

    with dbapi.connect(postgres) as made, made.cursor() as cursor:
        cursor.execute("create table people (age bigint, city text, w double precision, exact numeric(6,2))")
        for age, city, w in TYPED.rows():
            shown = [("null" if v is None else f"'{v}'") for v in (age, city, w)]
            cursor.execute(f"insert into people values ({', '.join(shown)}, 1.50)")
        made.commit()
    assert read_table(f"{postgres}::people").drop("exact").equals(TYPED)
    assert read_table(f"{postgres}::people")["exact"].to_list() == ["1.50"] * 3
    assert read_table(f"{postgres}::select age from people where age > 30").rows() == [(41,)]
    spent = read_table(f"{postgres}::select interval '31 hours' as spent")["spent"].to_list()
    assert spent == [dt.timedelta(hours=31)]
    with pytest.raises(DataError, match="a month has no fixed length"):
        read_table(f"{postgres}::select interval '2 months' as spent")
    with pytest.raises(DataError, match=r"no table 'nobody'. Its tables: 'people'"):
        read_table(f"{postgres}::nobody")
    with pytest.raises(DataError, match="cannot be read"):
        read_table(f"{postgres}::select nobody from people")


def test_postgres_password_is_not_shown() -> None:
    pytest.importorskip("adbc_driver_postgresql", reason="pip install 'kanopy[postgres]'")
    with pytest.raises(DataError) as caught:
        read_table("postgresql://ann:hunter2@localhost:1/none::t")
    assert "hunter2" not in str(caught.value)


# ---- addresses ----------------------------------------------------------------------------------------------


def test_web_addresses(tmp_path: Path) -> None:
    put(tmp_path, b"a;b\n1;2\n", "my data.csv")

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *args: object) -> None: ...

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(tmp_path)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        address = f"http://127.0.0.1:{server.server_port}"
        source = read_source(f"{address}/my%20data.csv?download=1")
        assert source.frame.rows() == [("1", "2")] and source.path is None
        assert source.dialect is not None and source.dialect.separator == ";"
        with pytest.raises(DataError, match=r"Cannot fetch .*404"):
            read_table(f"{address}/none.csv")
    finally:
        server.shutdown()
        server.server_close()
    assert read_table((tmp_path / "my data.csv").as_uri()).height == 1
    assert local_path("https://example.org/x.csv") is None


@pytest.mark.skipif(os.geteuid() == 0, reason="the superuser may read every file; run the tests as another user")
def test_unreadable_file(tmp_path: Path) -> None:
    path = put(tmp_path, b"a\n1\n")
    path.chmod(0)
    with pytest.raises(DataError, match="may not be read"):
        read_table(path)
