"""Output is complete or absent, never the input, and failures are explained."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import polars as pl
import pytest

from kanopy._errors import DataError
from kanopy._files import write_whole
from kanopy._table import sinks
from kanopy._table.dialects import Dialect
from kanopy._table.sinks import check_writable, staged, write_table

FRAME = pl.DataFrame({"a": [1, 2], "b": ["x;y", None]})


def test_dialect_of_the_input_is_used(tmp_path: Path) -> None:
    write_table(FRAME, tmp_path / "o.csv", dialect=Dialect(";", newline="\r\n", encoding="utf-8-sig"))
    assert (tmp_path / "o.csv").read_bytes() == b'\xef\xbb\xbfa;b\r\n1;"x;y"\r\n2;\r\n'
    write_table(FRAME, tmp_path / "o.tsv", dialect=Dialect(";"))
    assert (tmp_path / "o.tsv").read_bytes() == b"a\tb\n1\tx;y\n2\t\n"


def test_the_input_is_never_overwritten(tmp_path: Path) -> None:
    source = tmp_path / "in.csv"
    source.write_text("a\n1\n")
    (tmp_path / "link.csv").symlink_to(source)
    os.link(source, tmp_path / "hard.csv")
    for target in (source, tmp_path / "link.csv", tmp_path / "hard.csv", tmp_path / "." / "in.csv"):
        with pytest.raises(DataError, match="is the input itself"):
            check_writable(target, [source])
        with pytest.raises(DataError, match="is the input itself"):
            write_table(FRAME, target, forbidden=[source])
    assert source.read_text() == "a\n1\n"


def test_targets_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "d.csv").mkdir()
    os.mkfifo(tmp_path / "pipe.csv")
    for target, message in [
        (tmp_path / "none" / "o.csv", "no folder"),
        (tmp_path / "d.csv", "is a folder"),
        (tmp_path / "pipe.csv", "not an ordinary file"),
        (tmp_path / "o.xyz", r"Known suffixes: \.csv"),
        (tmp_path / "o", "no suffix"),
        ("postgresql://host/db::t", "output goes to a local file"),
    ]:
        with pytest.raises(DataError, match=message):
            check_writable(target)
    assert check_writable(tmp_path / "report.anything", table=False).name == "report.anything"


def test_folder_without_rights(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # The superuser may write everywhere, so the answer of the system is replaced.
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    with pytest.raises(DataError, match="may not be written to"):
        check_writable(tmp_path / "o.csv")


@pytest.mark.parametrize(
    ("failure", "raised"),
    [
        (OSError(errno.ENOSPC, "No space left on device"), DataError),
        (pl.exceptions.ComputeError("No space left on device (os error 28)"), DataError),
        (KeyboardInterrupt(), KeyboardInterrupt),
        (MemoryError(), MemoryError),
    ],
)
def test_a_failing_writer_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failure: BaseException, raised: type[BaseException]
) -> None:
    target = tmp_path / "o.csv"
    target.write_text("old")

    def half(frame: pl.DataFrame, place: Path, dialect: Dialect) -> None:
        place.write_bytes(b"half")
        raise failure

    monkeypatch.setitem(sinks.WRITERS, ".csv", half)
    with pytest.raises(raised, match="disk is full" if raised is DataError else None):
        write_table(FRAME, target)
    assert os.listdir(tmp_path) == ["o.csv"] and target.read_text() == "old"


@pytest.mark.parametrize("name", ["o.csv", "o.parquet", "o.arrow", "o.csv.gz"])
def test_a_disk_that_is_really_full(tiny_disk: Path, name: str) -> None:
    import random

    rng = random.Random(1)
    big = pl.DataFrame({"a": [str(rng.random()) for _ in range(60_000)]})
    with pytest.raises(DataError, match="disk is full"):
        write_table(big, tiny_disk / name)
    assert os.listdir(tiny_disk) == []


def test_all_files_of_a_release_or_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second, report = tmp_path / "a.csv", tmp_path / "b.csv", tmp_path / "r.html"
    first.write_text("old")
    with pytest.raises(ValueError, match="later"), staged() as release:
        release.table(FRAME, first)
        release.bytes(report, b"<html>")
        raise ValueError("later")
    assert sorted(os.listdir(tmp_path)) == ["a.csv"] and first.read_text() == "old"

    replace = os.replace

    def refuse(source: Path, target: Path) -> None:
        if Path(target).name == "r.html":
            raise OSError(errno.EIO, "Input/output error")
        replace(source, target)

    monkeypatch.setattr(os, "replace", refuse)
    with pytest.raises(DataError, match=r"r\.html could not be written"), staged() as release:
        release.table(FRAME, first)
        release.table(FRAME, second)
        release.bytes(report, b"<html>")
    assert sorted(os.listdir(tmp_path)) == ["a.csv"] and first.read_text() == "old"

    monkeypatch.undo()
    with staged() as release:
        release.table(FRAME, first)
        release.bytes(report, b"<html>")
        assert first.read_text() == "old"
    assert sorted(os.listdir(tmp_path)) == ["a.csv", "r.html"] and first.read_text().startswith("a,b")

    with pytest.raises(DataError, match="same name"), staged() as release:
        release.table(FRAME, second)
        release.bytes(second, b"")
    assert not second.exists()


def test_rights_and_links_of_an_existing_file_stay(tmp_path: Path) -> None:
    real = tmp_path / "real.bin"
    real.write_bytes(b"old")
    real.chmod(0o640)
    (tmp_path / "link.bin").symlink_to(real)
    write_whole(tmp_path / "link.bin", b"new")
    assert real.read_bytes() == b"new" and real.stat().st_mode & 0o777 == 0o640
    assert (tmp_path / "link.bin").is_symlink()


def test_lists_do_not_fit_into_text(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"parquet"):
        write_table(pl.DataFrame({"a": [[1, 2]]}), tmp_path / "o.csv")
    assert os.listdir(tmp_path) == []


def test_excel_has_a_limit(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="Excel holds 1,048,575"):
        write_table(pl.DataFrame({"a": pl.int_range(1_048_576, eager=True)}), tmp_path / "o.xlsx")
