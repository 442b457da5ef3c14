"""Bugs once found in what leaves: columns without a role, suppressed rows, files, words, databases."""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import kanopy
from kanopy._errors import DataError, JobError, VerificationFailed
from kanopy._table.sinks import staged, write_table
from kanopy._table.sources import read_table
from kanopy.privacy.models import make_models

# ---- what nobody named stays at home ------------------------------------------------------------------------

VISITS: dict[str, list[Any]] = {
    "age": [30] * 10 + [80],
    "sex": ["f"] * 10 + ["m"],
    "ill": ["flu", "cold"] * 5 + ["HIV"],
    "zip": [f"101{i:02}" for i in range(11)],
}
BY_AGE = kanopy.Job(quasi=["age", "sex"], k=5, suppress=0.2)


def test_a_column_without_a_role_is_left_out_and_named() -> None:
    """Names, birth dates and coordinates went out because a job did not name them."""
    result = kanopy.anonymize(VISITS, BY_AGE)
    assert list(result.data) == ["age", "sex"]
    (note,) = (note for note in result.notes if note.startswith("Not published"))
    assert "'ill', 'zip'" in note and "--rest publish" in note and "insensitive" in note
    assert json.loads(result.manifest())["verified"]["left_out"] == ["ill", "zip"]
    everything = kanopy.anonymize(VISITS, BY_AGE.replaced(rest="publish"))
    assert list(everything.data) == list(VISITS)
    assert list(result.apply(VISITS).data) == ["age", "sex"]
    told = kanopy.Job.from_toml(BY_AGE.replaced(rest="publish").to_toml())
    assert told.rest == "publish" and "rest" not in BY_AGE.to_toml()
    with pytest.raises(JobError, match="rest must be 'leave out' or 'publish'"):
        BY_AGE.replaced(rest="all")


def test_a_target_that_is_not_published_is_refused() -> None:
    with pytest.raises(JobError, match="target 'ill' is not published"):
        kanopy.anonymize(VISITS, BY_AGE).full_report(target="ill")


def test_masking_leaves_out_what_has_no_role() -> None:
    answers = {"why": ["beach"] * 3 + ["bird"] * 3, "zip": list("aabbcc")}
    assert list(kanopy.mask(answers, kanopy.MaskJob(text=["why"], k=3)).data) == ["why"]
    assert list(kanopy.mask(answers, kanopy.MaskJob(text=["why"], k=3, rest="publish")).data) == ["why", "zip"]
    fused = kanopy.Job(quasi=["why"], k=3, algorithm="fusion", undecided=["zip"], rest="publish")
    assert list(kanopy.anonymize(answers, fused).data) == ["why"]


def test_an_undecided_column_never_leaves_and_is_named() -> None:
    text = BY_AGE.to_toml() + '\n[columns.ill]\nrole = "undecided"\n'
    job = kanopy.Job.from_toml(text)
    assert job.undecided == ("ill",) and kanopy.Job.from_toml(job.to_toml()) == job
    result = kanopy.anonymize(VISITS, job.replaced(rest="publish"))
    assert list(result.data) == ["age", "sex", "zip"]
    assert any("undecided: 'ill'" in note for note in result.notes)
    with pytest.raises(JobError, match="whose role is undecided"):
        job.replaced(models=["l-distinct:ill:2"])


def test_a_guessed_job_calls_undecided_columns_so() -> None:
    """`init` wrote them down as identifiers, with a comment."""
    from kanopy._job.guess import guess_job

    table = {"age": [20 + i % 40 for i in range(400)], "qz": [i % 130 for i in range(400)]}
    guessed = guess_job(table)
    assert [column["role"] for column in guessed.columns] == ["quasi-identifier", "undecided"]
    assert guessed.job.undecided == ("qz",) and 'role = "undecided"' in guessed.text
    assert list(kanopy.anonymize(table, guessed.job).data) == ["age"]


def test_a_published_column_that_looks_like_a_quasi_identifier_is_named() -> None:
    job = BY_AGE.replaced(sensitive=["ill"], insensitive=["zip"])
    (note,) = (note for note in kanopy.anonymize(VISITS, job).notes if "although an attacker may know it" in note)
    assert "'zip'" in note and "'ill'" not in note


def test_a_published_column_of_values_that_most_rows_have_alone_is_named() -> None:
    table = {"age": [30] * 60, "income": [1000 + 17 * i for i in range(60)], "ill": ["flu", "cold"] * 30}
    notes = kanopy.anonymize(table, kanopy.Job(quasi="age", sensitive=["income", "ill"], k=5)).notes
    (note,) = (note for note in notes if "have a unique value" in note)
    assert "'income'" in note and "'ill'" not in note


def test_an_index_is_a_column_like_any_other() -> None:
    """An unnamed index of names was published with only a note."""
    names = [f"Ann {i}" for i in range(11)]
    job = BY_AGE.replaced(sensitive=["ill"])
    result = kanopy.anonymize(pd.DataFrame(VISITS, index=names), job)
    assert isinstance(result.data.index, pd.RangeIndex) and list(result.data.columns) == ["age", "sex", "ill"]
    assert any("index" in note and "not published" in note for note in result.notes)
    named = pd.DataFrame(VISITS, index=pd.Index(names, name="visit"))
    assert list(kanopy.anonymize(named, job).data.columns) == ["age", "sex", "ill"]
    shown = kanopy.anonymize(named, job.replaced(insensitive=["visit"])).data
    assert shown["visit"].tolist() == names
    hidden = kanopy.anonymize(named, job.replaced(identifiers=["visit"]))
    assert "visit" not in hidden.data.columns and "Ann" not in hidden.data.to_csv()
    both = named.set_index("zip", append=True)
    assert list(kanopy.anonymize(both, job.replaced(insensitive=["zip"])).data.columns) == ["zip", "age", "sex", "ill"]


# ---- suppressed rows ----------------------------------------------------------------------------------------


def test_a_suppressed_row_does_not_keep_its_sensitive_value() -> None:
    """Ten women and one man, k = 5, l = 2: the man's diagnosis went out, and no model looked at it."""
    job = BY_AGE.replaced(models=["l-distinct:ill:2"])
    result = kanopy.anonymize(VISITS, job)
    assert result.data["sex"] == ["f"] * 10 + ["*"] and result.data["ill"] == [*VISITS["ill"][:10], None]
    assert any("without the values of 'ill'" in note and "fewer than k = 5" in note for note in result.notes)
    assert "without the values of" in result.to_html()
    assert kanopy.anonymize(VISITS, job.replaced(suppressed_rows="drop")).data["ill"] == VISITS["ill"][:10]


@pytest.mark.parametrize(("ills", "kept"), [(["HIV"] * 6, False), (["HIV", "flu"] * 3, True)])
def test_suppressed_rows_are_a_class_like_any_other(ills: list[str], kept: bool) -> None:
    people = {"a": ["x"] * 20 + list("bcdefg"), "ill": ["flu", "cold"] * 10 + ills}
    flat = kanopy.Hierarchy.from_rows([[value, value] for value in "xbcdefg"])
    job = kanopy.Job(quasi=["a"], k=5, suppress=0.5, hierarchies={"a": flat}, models=["l-distinct:ill:2"])
    result = kanopy.anonymize(people, job)
    assert result.suppressed == 6
    assert result.data["ill"][20:] == (ills if kept else [None] * 6)
    assert any(("with the values" if kept else "a model does not hold for them") in note for note in result.notes)
    alone = kanopy.anonymize(people, job.replaced(models=[], sensitive=["ill"]))
    assert alone.data["ill"] == people["ill"]


def test_the_second_look_refuses_what_suppressed_rows_would_tell() -> None:
    from kanopy.verify.regroup import Background
    from kanopy.verify.verify import verify

    frame = pl.DataFrame({"a": ["x"] * 4 + ["*"] * 2, "ill": ["flu", "cold"] * 2 + ["HIV"] * 2})
    claims: dict[str, Any] = {"rows": 6, "suppressed_rows": 2, "classes": 1, "gone": np.arange(6) >= 4}
    look = {"background": Background(frame[["ill"]]), "sensitive": ["ill"], **claims}
    for models in (["k:3"], ["k:2", "l-distinct:ill:2"]):
        with pytest.raises(VerificationFailed, match="suppressed rows would be published with their values of 'ill'"):
            verify(frame, ["a"], make_models(models), **look)
    verify(frame, ["a"], make_models(["k:2"]), **look)
    hidden = frame.with_columns(pl.when(pl.col("a") == "*").then(None).otherwise("ill").alias("ill"))
    verify(hidden, ["a"], make_models(["k:3", "l-distinct:ill:2"]), **look)


@pytest.mark.parametrize("kind", [pl.Enum(["flu", "cold", "HIV"]), pl.Categorical()])
def test_what_a_suppressed_row_had_is_in_no_category(kind: Any, tmp_path: Path) -> None:
    frame = pl.DataFrame(VISITS).with_columns(pl.col("ill").cast(kind))
    job = BY_AGE.replaced(sensitive=["ill"])
    for table in (frame, frame.to_pandas(), frame.to_arrow()):
        data = kanopy.anonymize(table, job).data
        written = tmp_path / "out.parquet"
        if isinstance(data, pl.DataFrame):
            data.write_parquet(written)
        elif isinstance(data, pd.DataFrame):
            data.to_parquet(written)
        else:
            import pyarrow.parquet as pq

            pq.write_table(data, written)
        assert b"HIV" not in written.read_bytes()


# ---- what is said about a release ---------------------------------------------------------------------------


def test_the_password_of_an_address_is_nowhere(tmp_path: Path) -> None:
    """It stood in the report's JSON, on the masking page and in the job that `init` wrote."""
    from kanopy._errors import shown_address
    from kanopy._job.guess import guess_job

    address = "postgresql://ann:hun/t@er@host/clinic?password=hunter2::visits"
    assert shown_address(address) == "postgresql://ann:…@host/clinic?…::visits"
    assert shown_address("https://token:x@host/a.csv?sig=hunter2") == "https://…:…@host/a.csv?…"
    assert shown_address("a/b@c:d.csv") == "a/b@c:d.csv"
    job = BY_AGE.replaced(population="postgresql://ann:hunter2@host/all", models=["k-map:2"])
    result = kanopy.anonymize(VISITS, job, source=address, population=VISITS)
    report = result.report
    texts = [report.to_json(), report.to_html(), report.to_html(values=True), report.to_script(), result.manifest()]
    masked = kanopy.mask({"why": ["beach"] * 3}, kanopy.MaskJob(text=["why"], k=3), source=address)
    texts += [masked.to_html(), masked.report.to_json(), masked.report.to_script(), result.solution_json()]
    texts.append(guess_job(VISITS, address).text)
    for text in texts:
        assert "hunter2" not in text and "t@er" not in text


def test_the_headline_says_what_holds_and_names_untouched_columns() -> None:
    job = BY_AGE.replaced(models=["l-distinct:ill:2"], sensitive=["zip"])
    report = kanopy.anonymize(VISITS, job).report
    assert report.sentence.startswith("In its quasi-identifiers, every published row is indistinguishable")
    assert report.to_dict()["verdict"]["untouched"] == ["ill", "zip"]
    page = report.to_html()
    assert "Published unchanged: ill, zip." in page
    assert "ill: guarded by l-distinct" in page and "zip: no model guards it" in page


def test_an_apostrophe_in_a_quoted_name_is_a_letter(tmp_path: Path) -> None:
    """A standard CSV was read with single quotes, which gave more columns: first names became one of their own."""
    path = tmp_path / "people.csv"
    path.write_text('"name, first",age\n"Jones\', Al",31\n"Smith\', Bo",32\n"O\'Neil, Cy",33\n')
    assert read_table(path).columns == ["name, first", "age"]
    assert read_table(path)["name, first"].to_list() == ["Jones', Al", "Smith', Bo", "O'Neil, Cy"]
    path.write_text("'a',b\n'1, 2',3\n'4',5\n")
    assert read_table(path).columns == ["a", "b"]


def test_quotes_in_headers_stay_as_they_are(tmp_path: Path) -> None:
    """The quotes of a header doubled each time a table was read and written."""
    path, again = tmp_path / "a.csv", tmp_path / "b.csv"
    path.write_text('"5"" pipe",b\n1,2\n')
    for columns in (None, ["b", '5" pipe']):
        assert set(read_table(path, columns=columns).columns) == {'5" pipe', "b"}
    write_table(read_table(path), again)
    assert again.read_text() == path.read_text()
    assert read_table(path, columns=["b", '5" pipe']).rows() == [("2", "1")]


def test_texts_too_long_for_excel_are_refused(tmp_path: Path) -> None:
    """Excel cut texts at 32,767 letters without a word."""
    with pytest.raises(DataError, match=r"32,767 letters; texts of 'note' are longer"):
        write_table(pl.DataFrame({"note": ["x" * 32_768], "n": [1]}), tmp_path / "out.xlsx")
    assert list(tmp_path.iterdir()) == []
    write_table(pl.DataFrame({"note": ["x" * 32_767, None], "n": [1, 2]}), tmp_path / "out.xlsx")
    write_table(pl.DataFrame({"n": [1, 2]}), tmp_path / "numbers.xlsx")


@pytest.mark.parametrize("renamed", [0, 1, 2])
def test_killed_while_renaming_leaves_all_or_none_after_the_next_run(tmp_path: Path, renamed: int) -> None:
    """A process that ended between two renames left a release of today beside a report of yesterday."""
    (tmp_path / "out.csv").write_text("old")
    (tmp_path / "report.html").write_text("old")
    code = (
        "import os, sys\n"
        "from kanopy._files import Release\n"
        "real, count = os.replace, []\n"
        "def replace(a, b):\n"
        f"    if len(count) == {renamed}: os._exit(9)\n"
        "    count.append(1); real(a, b)\n"
        "os.replace = replace\n"
        "release = Release()\n"
        "with release.published():\n"
        "    for name in ('out.csv', 'report.html', 'other.json'): release.bytes(name, b'new')\n"
    )
    killed = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, check=False)
    assert killed.returncode == 9 and len(list(tmp_path.iterdir())) > 3
    with staged() as release:
        release.bytes(tmp_path / "third.txt", b"later")
        assert {name: (tmp_path / name).read_text() for name in ("out.csv", "report.html")} == {
            "out.csv": "old", "report.html": "old",
        }  # fmt: skip
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out.csv", "report.html", "third.txt"]


@pytest.mark.parametrize("encoding", ["cp1252", "ascii", "utf-8"])
def test_a_terminal_that_lacks_letters_is_no_reason_to_fail(tmp_path: Path, encoding: str) -> None:
    """A tick that the terminal lacks, or a column called `[/]`, was a traceback after the release was written."""
    (tmp_path / "t.csv").write_text("[/],é\n" + "1,a\n1,b\n2,a\n2,c\n", encoding="utf-8")
    for more in ((), ("--json",)):
        command = [
            sys.executable,
            "-m",
            "kanopy",
            "anonymize",
            "t.csv",
            "-q",
            "[/],é",
            "-k",
            "2",
            "-o",
            "out.csv",
            *more,
        ]
        run = subprocess.run(
            command, cwd=tmp_path, capture_output=True, env={**os.environ, "PYTHONIOENCODING": encoding}, check=False
        )  # fmt: skip
        assert run.returncode == 0 and b"Traceback" not in run.stderr, run.stderr.decode()
        assert not more or "é" in json.loads(run.stdout.decode(encoding))["levels"]


def test_tables_with_a_dot_in_their_name_are_read(tmp_path: Path) -> None:
    """The part before the dot was taken for a schema."""
    path = tmp_path / "p.sqlite"
    with contextlib.closing(sqlite3.connect(path)) as made:
        made.execute('create table "a.b" as select 41 age')
    assert read_table(path).rows() == read_table(f"{path}::a.b").rows() == [(41,)]


@pytest.mark.parametrize("query", ["select * from p; copy p to 'x.csv'", "copy p to 'x.csv'", "select * from 'o.csv'"])
def test_a_database_runs_one_query_that_reads(tmp_path: Path, query: str) -> None:
    """What stood after a semicolon was executed, and a query could read and write other files."""
    duckdb = pytest.importorskip("duckdb")
    (tmp_path / "o.csv").write_text("a\n1\n")
    with duckdb.connect(str(tmp_path / "p.duckdb")) as made:
        made.execute("create table p as select 'a;b' x")
    with pytest.raises(DataError):
        read_table(f"{tmp_path / 'p.duckdb'}?{query}".replace("'x.csv'", f"'{tmp_path}/x.csv'"))
    assert not (tmp_path / "x.csv").exists()
    assert read_table(f"{tmp_path / 'p.duckdb'}?select * from p where x = 'a;b';").rows() == [("a;b",)]


def test_columns_without_a_name_or_with_one_of_another_are_read(tmp_path: Path) -> None:
    """Such headers, common in exports, were refused; now they are renamed, which the run says."""
    path = tmp_path / "t.csv"
    path.write_text("age,,age,sex\n1,2,3,f\n1,5,6,f\n")
    with pytest.warns(UserWarning, match="Columns were renamed: column 2 has no name"):
        assert read_table(path).rows(named=True)[1] == {"age": "1", "column_2": "5", "age_2": "6", "sex": "f"}
        assert read_table(path, columns=["age_2", "age"]).rows() == [("3", "1"), ("6", "1")]
    run = subprocess.run(
        [sys.executable, "-m", "kanopy", "check", "t.csv", "-q", "age"], cwd=tmp_path, capture_output=True, check=False,
        env={**os.environ, "COLUMNS": "500"},
    )  # fmt: skip
    said = run.stderr.decode()
    assert run.returncode == 0 and "column 3 has the same name as another, 'age', and is read as 'age_2'" in said, said
