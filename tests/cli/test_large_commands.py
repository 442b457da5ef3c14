"""`kanopy anonymize --engine …`, `--counts`, `--emit-sql` and `kanopy count`."""

from __future__ import annotations

import contextlib
import sqlite3

import polars as pl
import pytest

from kanopy._table.sources import read_table
from tests.cli.running import Shell
from tests.engine.jobs import as_texts, people

ASKED = ("-q", "age,sex", "-k", "5", "--suppress", "5%", "--insensitive", "pay")


def test_streams_counts_and_memory_write_the_same(shell: Shell) -> None:
    people().write_csv(shell.folder / "p.csv")
    assert shell("anonymize", "p.csv", *ASKED, "-o", "memory.csv").status == 0
    told = shell("anonymize", "p.csv", *ASKED, "--engine", "stream", "-o", "out.csv", "--manifest", "m.json", "--json")
    assert told.status == 0, told.error
    assert told.json["verified"] and told.json["rows"] == people().height
    assert (shell.folder / "out.csv").read_bytes() == (shell.folder / "memory.csv").read_bytes()
    found = shell("count", "p.csv", "-q", "age,sex,city", "-o", "counts.parquet", "--json")
    assert found.json["rows"] == people().height
    again = shell("anonymize", "p.csv", *ASKED, "--counts", "counts.parquet", "-o", "again.csv")
    assert again.status == 0, again.error
    assert as_texts(read_table(shell.folder / "again.csv")) == as_texts(read_table(shell.folder / "memory.csv"))
    refused = shell("anonymize", "p.csv", *ASKED, "--engine", "stream", "--report", "r.html", "-o", "x.csv")
    assert refused.status == 2 and "report has no effect without all rows in memory" in refused.words


def test_a_release_in_a_database_and_as_a_statement(shell: Shell) -> None:
    with contextlib.closing(sqlite3.connect(shell.folder / "p.sqlite")) as made:
        made.execute("create table people (age, sex, pay)")
        made.executemany("insert into people values (?, ?, ?)", people().select("age", "sex", "pay").rows())
        made.commit()
    first = shell("anonymize", "p.sqlite::people", *ASKED, "-o", "p.sqlite::release")
    assert first.status == 0, first.error
    assert read_table(f"{shell.folder}/p.sqlite::release").height == people().height
    second = shell("anonymize", "p.sqlite::people", *ASKED, "-o", "p.sqlite::release")
    assert second.status == 2 and "already has a table 'release'" in second.words
    assert shell("anonymize", "p.sqlite::people", *ASKED, "-o", "p.sqlite::release", "--overwrite").status == 0
    pytest.importorskip("sqlglot", reason="pip install 'kanopy[sql]'")
    people().select("age", "sex", pl.col("pay")).write_parquet(shell.folder / "visits.parquet")
    handed = shell("anonymize", "visits.parquet", *ASKED, "--emit-sql", "snowflake", "-o", "release.sql")
    assert handed.status == 0, handed.error
    assert 'CREATE TABLE "visits_release"' in (shell.folder / "release.sql").read_text()


@pytest.mark.parametrize("engine", ["memory", "stream"])
def test_a_release_goes_to_standard_output_when_it_is_whole(shell: Shell, engine: str) -> None:
    people().write_csv(shell.folder / "p.csv")
    asked = ("anonymize", "p.csv", *ASKED, "--engine", engine, "-o")
    assert shell(*asked, "out.csv").status == 0
    piped = shell(*asked, "-")
    assert piped.status == 0, piped.error
    assert piped.out == (shell.folder / "out.csv").read_text()
    assert "is shared by at least" in piped.words
    assert sorted(path.name for path in shell.folder.iterdir()) == ["out.csv", "p.csv"]
    refused = shell("anonymize", "p.csv", "-q", "age,sex", "-k", "900", "--engine", engine, "-o", "-")
    assert refused.status == 2 and refused.out == "" and "only 480 rows" in refused.words
    both = shell(*asked, "-", "--json")
    assert both.status == 2 and "both want standard output" in both.words


def test_a_baseline_goes_to_standard_output(shell: Shell) -> None:
    people().write_csv(shell.folder / "p.csv")
    found = shell("baseline", "p.csv", "--method", "rounding", "--amount", "5", "-c", "age", "-o", "-")
    assert found.out.startswith("age\n") and "promises no k" in found.words


def test_what_an_engine_has_no_use_for_is_refused_before_work(shell: Shell) -> None:
    people().write_csv(shell.folder / "p.csv")
    assert shell("count", "p.csv", "-q", "age,sex", "-o", "counts.parquet").status == 0
    asked = ("anonymize", "p.csv", *ASKED, "-o", "o.csv")
    for more, why in (
        (("--engine", "memory", "--counts", "counts.parquet"), "counts has no effect without an engine that counts"),
        (("--engine", "memory", "--counts", "nosuch.parquet"), "counts has no effect without an engine that counts"),
        (("--overwrite",), "overwrite has no effect without a table of a database"),
        (("--master", "local[2]"), "master has no effect without the engine 'spark'"),
        (("--engine", "stream", "--bound"), "bound has no effect without an algorithm that generalizes"),
        (("--report", "r.doc"), "Cannot write the report 'r.doc'. Known suffixes: .html, .pdf, .docx, .json, .py"),
    ):
        run = shell(*asked, *more)
        assert run.status == 2 and why in run.words, (more, run.error)
    assert shell.files == ["counts.parquet", "p.csv"]


def test_a_statement_comes_with_all_that_was_asked_for_beside_it(shell: Shell) -> None:
    pytest.importorskip("sqlglot", reason="pip install 'kanopy[sql]'")
    people().select("age", "sex", "pay").write_parquet(shell.folder / "v.parquet")
    asked = ("anonymize", "v.parquet", *ASKED, "--emit-sql", "duckdb", "-o", "r.sql")
    run = shell(*asked, "--mapping", "m.csv", "--manifest", "m.json", "--solution", "s.json")
    assert run.status == 0, run.error
    assert shell.files == ["m.csv", "m.json", "r.sql", "s.json", "v.parquet"]
    assert "r.sql, m.csv, s.json contain values of the original table" in run.words
    for option in (("--report", "x.html"), ("--target", "pay"), ("--bound",), ("--overwrite",), ("--engine", "stream")):
        run = shell(*asked[:-1], "x.sql", *option)
        assert run.status == 2 and "has no effect without" in run.words, option
    (shell.folder / "key.txt").write_text("0123456789abcdef0123456789abcdefXYZ!")
    for options in (("--pseudonymize", "pay", "--key-file", "key.txt"), ("--sample", "50%"), ("--missing-tokens", "?")):
        # A statement computes nothing: it would publish identifiers as they are, or all rows.
        run = shell("anonymize", "v.parquet", "-q", "age", "-k", "3", "--emit-sql", "duckdb", "-o", "x.sql", *options)
        assert run.status == 2 and "A statement does not support" in run.words, (options, run.error)
    assert "x.sql" not in shell.files


def test_levels_of_an_earlier_solution_are_not_called_optimal(shell: Shell) -> None:
    people().write_csv(shell.folder / "p.csv")
    assert shell("anonymize", "p.csv", *ASKED, "-o", "o.csv", "--solution", "s.json").status == 0
    told = shell("apply", "s.json", "p.csv", "-o", "again.csv")
    assert told.status == 0 and "not searched" in told.out and "optimal" not in told.out, told.out
    found = shell("apply", "s.json", "p.csv", "-o", "again.csv", "--json").json
    assert (found["algorithm"], found["optimal"], found["floor"], found["gap"]) == ("given-levels", False, None, None)
    assert (found["judged"], found["candidates"]) == (0, 0)
