"""A release may be the first table of a database that is not there yet: all of it, or no file."""

from __future__ import annotations

from pathlib import Path

import pytest

from kanopy._table.sources import read_table
from tests.cli.running import Shell

PEOPLE = "age,sex\n" + "31,f\n31,f\n52,m\n52,m\n"
ANONYMIZE = ("anonymize", "people.csv", "-q", "age,sex", "-k", "2")


@pytest.mark.parametrize("name", ["new.duckdb", "new.sqlite"])
def test_a_new_database(name: str, shell: Shell) -> None:
    if name.endswith("duckdb"):
        pytest.importorskip("duckdb")
    shell.write("people.csv", PEOPLE)
    ran = shell(*ANONYMIZE, "-o", f"{name}::release")
    assert ran.status == 0, ran.error
    assert shell.files == [name, "people.csv"]
    assert sorted(read_table(f"{name}::release").rows()) == [("31", "f")] * 2 + [("52", "m")] * 2


@pytest.mark.parametrize(("output", "more", "words"), [
    ("new.sqlite", (), "The output needs the name of a table in new.sqlite."),
    ("no/new.sqlite::release", (), "There is no folder 'no'"),
    ("new.sqlite::release", ("--model", "l-distinct:sex:2"), "sex"),
])  # fmt: skip
def test_what_fails_leaves_no_file(
    output: str, more: tuple[str, ...], words: str, shell: Shell, tmp_path: Path
) -> None:
    shell.write("people.csv", PEOPLE)
    ran = shell(*ANONYMIZE, "-o", output, *more)
    assert ran.status in (1, 2) and words in ran.words
    assert shell.files == ["people.csv"]
