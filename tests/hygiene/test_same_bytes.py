"""The same table has the same bytes whenever it is written, in every format but DuckDB's."""

from __future__ import annotations

import gzip
from pathlib import Path

import polars as pl
import pytest

from kanopy._errors import InputError
from kanopy._table.sinks import WRITERS, write_table
from kanopy._table.sources import read_table
from kanopy._table.streams.sinks import FileSink

TABLE = pl.DataFrame({"job": ["nurse", "clerk", "nurse"], "age": [31, 34, 38], "pay": [1.5, 2.0, 2.5]})
STATISTICS = (".sav", ".zsav", ".por", ".dta", ".xpt")


@pytest.mark.parametrize("suffix", [*WRITERS, ".csv.gz", ".csv.zst"])
def test_the_time_is_not_in_a_file(suffix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    needed = {".xlsx": "xlsxwriter", ".zst": "pyarrow"} | dict.fromkeys(STATISTICS, "pyreadstat")
    if module := needed.get(Path(f"x{suffix}").suffix):
        pytest.importorskip(module)
    file = tmp_path / f"table{suffix}"
    write_table(TABLE, file)
    first = file.read_bytes()
    if suffix in (".xlsx", *STATISTICS):
        monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
        write_table(TABLE, file)
        assert file.read_bytes() != first
        assert read_table(file).to_series(1).cast(pl.Float64).to_list() == [31, 34, 38]
        monkeypatch.setenv("SOURCE_DATE_EPOCH", "315532800")
        write_table(TABLE, file)
    assert file.read_bytes() == first


def test_a_text_packed_piece_by_piece_names_no_time_and_no_temporary_file(tmp_path: Path) -> None:
    file = tmp_path / "out.csv.gz"
    with FileSink(file).writing(lambda: iter([TABLE]), TABLE.schema):
        pass
    packed = file.read_bytes()
    assert packed[3] == 0 and packed[4:8] == bytes(4)
    assert gzip.decompress(packed).startswith(b"job,age,pay\nnurse,31,1.5\n")


def test_a_time_that_is_none_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("xlsxwriter")
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "yesterday")
    with pytest.raises(InputError, match="SOURCE_DATE_EPOCH is a number of seconds since 1970, not 'yesterday'"):
        write_table(TABLE, tmp_path / "table.xlsx")
