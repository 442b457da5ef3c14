"""Safe by default, "the rest of the list": every single thing named there, and the test that fails if it comes back.

`tests/…` before the colon is left out; `issues.py` is `tests/test_issues.py`, `here` is this file, and `*` stands for
the rest of a name. A test at the end sees to it that every test of the table exists.

The rest of the list
    outputs over population or key file                 cli/hostile_files.py: overwritten
    a control character in a label                      issues.py: test_a_control_character_*
    precision computed in two ways                      issues.py: test_a_result_reports_the_number_*
    explore and anonymize differ, auto for another k    here: test_explored_points_are_what_anonymize_gives
    the text (missing) beside nulls                     issues.py: test_a_text_that_reads_missing_*
    apply refuses an unseen age; its advice             here: test_apply_finds_the_interval_* test_advice_of_apply_*
    durations and other dates ordered as text           here: test_durations_and_dates_have_their_own_order
    dates refused in jobs                               issues.py: test_dates_work_in_jobs_*
    wrong types of parameters                           cli/hostile_settings.py: wrong_parameters
    a string as quasi read as letters                   test_parameters.py: test_a_text_is_never_read_as_letters
    a job and its TOML choose differently               test_parameters.py: test_a_job_and_its_file_choose_alike
    best effort judges the same candidates again        issues/test_search.py: test_best_effort_*
    "first run prepares compiled code" at every run     here: test_compiled_code_is_prepared_once
    doubled quotes in headers                           issues/test_what_leaves.py: test_quotes_in_headers_*
    duplicate or empty headers                          issues/test_what_leaves.py: test_columns_without_a_name_*
                                                        here: test_headers_of_workbooks_and_databases
    advice in Python syntax                             cli/test_shared_options.py: test_advice_speaks_of_options
    --version, --encoding, standard input, -q           cli/test_shared_options.py: test_version test_standard_input_*
                                                        cli/test_shared_options.py: test_names_with_commas
    1 rows, 1 classes                                   cli/test_shared_options.py: test_one_row_is_not_rows
    unordered categoricals come back ordered            issues.py: test_categories_come_back_*

Found by hostile input
    best with risk-average beyond the limit             issues.py: test_best_keeps_the_limit_*
    the second look let it through                      verify/test_job.py: test_more_suppression_than_the_job_*
    constrained with a label on several levels          issues.py: test_constrained_knows_a_label_*
    missing values inside ranges                        here: test_missing_values_are_in_no_range
    two different scores                                issues.py: test_a_result_reports_the_number_*
    verify crashes on Booleans, dates, whole numbers    here: test_models_take_sensitive_values_of_every_type
    column names that are patterns, or markup           issues.py: test_column_names_are_no_patterns
                                                        issues/test_what_leaves.py: test_a_terminal_that_lacks_letters_*
    a DuckDB source given as COPY                       issues/test_what_leaves.py: test_a_database_runs_one_*
    wrong types in jobs, nesting, digits, 1e999999999   cli/hostile_settings.py: wrong_jobs
    the year 9999                                       here: test_the_last_year_of_the_calendar
    1e999999999 in a column                             here: test_numbers_beyond_all_measure
    corrupt gzip and Parquet                            cli/hostile_files.py: broken_tables
    loops of links, long names, not UTF-8, NUL          cli/hostile_files.py: paths
    no rows left after missing ones                     cli/hostile_files.py: rows_that_are_missing
    "no solution" where a release exists                issues.py: test_no_search_overlooks_*

Worst of them
    dictionaries hold values of suppressed rows         issues/test_what_leaves.py: test_what_a_suppressed_row_had_*
                                                        here: test_applied_releases_forget_suppressed_values_too
    a suppressed row keeps its sensitive value          issues/test_what_leaves.py: test_a_suppressed_row_does_not_*
    a standard CSV misread by quote detection           issues/test_what_leaves.py: test_an_apostrophe_in_a_*
    the password of a database address                  issues/test_what_leaves.py: test_the_password_of_an_address_*
    an unnamed pandas index of names                    issues/test_what_leaves.py: test_an_index_is_a_column_*
    a query after a semicolon                           issues/test_what_leaves.py: test_a_database_runs_one_*

Lost or changed data, stops and hangs, wrong numbers
    an identifier named * drops the others              issues.py: test_column_names_are_no_patterns
    Excel cuts texts                                    issues/test_what_leaves.py: test_texts_too_long_for_excel_*
    header quotes double at every pass                  issues/test_what_leaves.py: test_quotes_in_headers_*
    read-only installation, unwritable home             here: test_nothing_needs_a_folder_to_write_in
    a terminal that cannot show a tick                  issues/test_what_leaves.py: test_a_terminal_that_lacks_letters_*
    li-*, bayardo-agrawal at thousands of values        issues/test_search.py: test_*
    killed while renaming; .kept and .part              issues/test_what_leaves.py: test_killed_while_renaming_*
    check -s counts null, empty and NaN                 issues.py: test_check_counts_a_missing_value_once
    (ε,m) near 1.7e12                                   issues/test_search.py: test_*
    SQLite tables with a dot                            issues/test_what_leaves.py: test_tables_with_a_dot_*
    a sensitive hierarchy of several roots              here: test_a_sensitive_hierarchy_of_several_roots_*
    spreadsheet formulas                                here: test_formulas_are_neutralised_on_request

The bar, `--solution`, masking reports, swapping's curves and the answer `*` belong to the report and have their tests
in `issues.py` and `report/`.
"""

from __future__ import annotations

import datetime as dt
import fnmatch
import os
import re
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import kanopy
from kanopy import _temporary
from kanopy._errors import DataError, HierarchyError, NoSolution
from kanopy._table.sinks import write_table
from kanopy._table.sources import read_source, read_table

AGES = [21, 23, 25, 27, 31, 33, 35, 37]
PEOPLE: dict[str, Any] = {"age": AGES, "sex": list("ffffmmmm"), "ill": ["flu", "cold"] * 4}


def kanopy_command(folder: Path, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """A command in a process of its own, with some variables of the environment set."""
    return subprocess.run(
        [sys.executable, "-m", "kanopy", *arguments], cwd=folder, env={**os.environ, **variables}, text=True,
        capture_output=True, check=False, timeout=300,
    )  # fmt: skip


# ---- applying again ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [int, float, str])
@pytest.mark.parametrize("method", [{"method": "widths", "widths": [10]}, {"method": "iotf"}])
def test_apply_finds_the_interval_of_a_number_it_has_not_seen(
    kind: Any, method: dict[str, Any], tmp_path: Path
) -> None:
    """It refused an age of 22 although [20, 29] is published, and its advice could not be followed."""
    ages = [kind(age) for age in AGES]
    job = kanopy.Job(quasi=["age", "sex"], k=4, hierarchies={"age": method})
    found = kanopy.anonymize({**PEOPLE, "age": ages}, job)
    new = {"age": [kind(age) for age in (22, 24, 26, 27, 32, 34, 36, 37)], "sex": list("ffffmmmm")}
    again = found.apply(new).data
    assert again["age"] == found.data["age"]
    place = tmp_path / "solution.json"
    place.write_text(found.solution_json())
    from kanopy.release.solution_file import read_solution

    assert kanopy.anonymize(new, read_solution(place)).data == again


def test_a_value_is_placed_in_no_interval_that_is_narrower_than_its_level() -> None:
    days = [dt.date(2020, 1, 1), dt.date(2020, 1, 25), dt.date(2021, 1, 1), dt.date(2021, 1, 5)]
    job = kanopy.Job(quasi=["day"], k=2, hierarchies={"day": {"method": "dates"}})
    found = kanopy.anonymize({"day": days}, job)
    assert found.data["day"] == ["2020-01"] * 2 + ["2021-01"] * 2
    assert found.apply({"day": [dt.date(2020, 1, 3), dt.date(2020, 1, 30)]}).data["day"] == ["2020-01"] * 2
    # No month of the hierarchy holds a day in February: the quarter does.
    assert found.apply({"day": [dt.date(2020, 2, 3)] * 2}).data["day"] == ["2020-Q1"] * 2
    tree = kanopy.build_hierarchy([1.5, 2.5, 9.5], "widths", widths=[5])
    more = tree.placed(["2.0", "99", "x", "4.99"])
    assert set(more.values) - set(tree.values) == {"2.0", "4.99"} and list(more.low[:5]) == [1.5, 2.0, 2.5, 4.99, 9.5]
    assert more.generalize("2.0", 1) == tree.generalize("2.5", 1)
    assert tree.placed(["x"]) is tree and kanopy.Hierarchy.flat(["1"]).placed(["2"]).size == 1


def test_advice_of_apply_can_be_followed() -> None:
    job = kanopy.Job(quasi=["age", "sex"], k=4, hierarchies={"age": {"method": "widths", "widths": [10]}})
    found = kanopy.anonymize(PEOPLE, job)
    new = {"age": [22, 22, 22, 22, 99], "sex": list("fffff")}
    with pytest.raises(DataError, match=r"1 of the column's values \(1 row\): '99'.*choose unknown='suppress'"):
        found.apply(new)
    with pytest.raises(NoSolution) as nothing:
        found.apply({"age": [22, 22, 22, 32], "sex": list("ffff")})
    assert "At the given levels" in str(nothing.value) and "on their own" in str(nothing.value)
    assert found.apply(new, unknown="suppress").data["age"] == ["[20, 29]"] * 4 + ["*"]


def test_applied_releases_forget_suppressed_values_too(tmp_path: Path) -> None:
    """The dictionary of a file held the values of rows that `apply` suppressed."""
    job = kanopy.Job(
        quasi=["age"], k=2, suppress=0.3, insensitive=["note"], suppressed_rows="drop", max_levels={"age": 0}
    )
    notes = pl.Series(["a", "a", "b", "b", "secret"], dtype=pl.Enum(["a", "b", "secret"]))
    table = pl.DataFrame({"age": ["1", "1", "2", "2", "3"], "note": notes})
    data = kanopy.anonymize(table, job).apply(table).data
    for write in (data.write_parquet, data.write_ipc):
        write(tmp_path / "out")
        assert b"secret" not in (tmp_path / "out").read_bytes()


# ---- the same job, the same answer -----------------------------------------------------------------------------------


@pytest.mark.slow
def test_explored_points_are_what_anonymize_gives() -> None:
    """Hierarchies that are chosen automatically were chosen for the smallest k of the map."""
    draw = np.random.default_rng(1)
    table = {"age": draw.integers(17, 90, 300).tolist(), "hours": draw.integers(1, 99, 300).tolist()}
    job = kanopy.Job(quasi=["age", "hours"], k=2)
    for algorithms in (["optimal", "mondrian"], ["datafly"]):
        for point in kanopy.explore(table, job, ks=[2, 5, 20], algorithms=algorithms).points:
            result = kanopy.anonymize(table, job.replaced(k=point.k, algorithm=point.algorithm))
            assert point.loss == pytest.approx(result.score) and point.levels == result.levels


def test_durations_and_dates_have_their_own_order() -> None:
    """2 days came after 10 days, and 05.01.1999 between 01.02.1950 and 07.02.1950."""
    spans = pl.DataFrame({"q": [dt.timedelta(days=days) for days in (2, 10, 11, 1)]})
    first, second, third, last = kanopy.anonymize(spans, kanopy.Job(quasi=["q"], k=2)).data["q"].to_list()
    assert first == last != second == third and "*" not in (first, second)
    for dates in (["05.01.1950", "01.02.1999", "07.01.1950", "03.02.1999"],
                  ["1/25/1950", "2/13/1999", "1/27/1950", "2/23/1999"]):  # fmt: skip
        found = kanopy.anonymize({"q": dates}, kanopy.Job(quasi=["q"], k=2)).data["q"]
        assert found[0] == found[2] != found[1] == found[3]


# ---- what machines may lack ------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_compiled_code_is_prepared_once(tmp_path: Path) -> None:
    """ "The first run prepares compiled code" was said at every run."""
    (tmp_path / "t.csv").write_text("age,sex\n" + "1,f\n1,m\n2,f\n2,m\n")
    (tmp_path / "cache").mkdir()
    said = []
    for _ in range(2):
        run = kanopy_command(
            tmp_path, "anonymize", "t.csv", "-q", "age,sex", "-k", "2", "--algorithm", "mondrian", "-o", "out.csv",
            NUMBA_CACHE_DIR=str(tmp_path / "cache"), KANOPY_PREBUILT="off",
        )  # fmt: skip
        assert run.returncode == 0, run.stderr
        said.append("Compiled code is prepared in the first run, once" in run.stderr)
    assert said[1] is False
    assert said[0] or os.environ.get("KANOPY_KERNELS") == "plain"


def test_code_that_cannot_be_kept_is_not_said_to_be_prepared_once(monkeypatch: pytest.MonkeyPatch) -> None:
    from kanopy._compiler import machine_code

    for place, kept in ((Path("cache"), True), (Path(f"{_temporary.PREFIX}x"), False)):
        monkeypatch.setattr(machine_code, "folder", lambda place=place: place)
        assert machine_code.is_kept() is kept


@pytest.mark.parametrize("algorithm", ["optimal", "k-member"])
def test_nothing_needs_a_folder_to_write_in(tmp_path: Path, algorithm: str) -> None:
    """A read-only installation with an unwritable home killed every command."""
    (tmp_path / "t.csv").write_text("age,sex\n" + "1,f\n1,m\n2,f\n2,m\n")
    nowhere = dict.fromkeys(("HOME", "XDG_CACHE_HOME", "NUMBA_CACHE_DIR"), f"{os.devnull}/nowhere")
    run = kanopy_command(
        tmp_path, "anonymize", "t.csv", "-q", "age,sex", "-k", "2", "--algorithm", algorithm, "-o", "out.csv",
        "--report", "r.html", PYTHONDONTWRITEBYTECODE="1", **nowhere,
    )  # fmt: skip
    assert run.returncode == 0 and "Traceback" not in run.stderr, run.stderr
    assert {path.name for path in tmp_path.iterdir()} == {"t.csv", "out.csv", "r.html"}


# ---- reading and writing ---------------------------------------------------------------------------------------------


def test_headers_of_workbooks_and_databases(tmp_path: Path) -> None:
    """Names that were empty or occurred twice were refused; now they are renamed, which the reader says."""
    xlsxwriter = pytest.importorskip("xlsxwriter")
    with xlsxwriter.Workbook(tmp_path / "t.xlsx") as book:
        sheet = book.add_worksheet()
        for place, row in enumerate([["age", "", "age", "sex"], [1, 2, 3, "f"], [4, 5, 6, "m"]]):
            sheet.write_row(place, 0, row)
    source = read_source(tmp_path / "t.xlsx")
    assert source.frame.rows(named=True)[1] == {"age": 4, "column_2": 5, "age_2": 6, "sex": "m"}
    assert "column 2 has no name and is read as 'column_2'" in source.notes[0]
    with closing(sqlite3.connect(tmp_path / "t.sqlite")) as made:
        made.execute("create table p as select 1 age")
    duckdb = pytest.importorskip("duckdb")
    with duckdb.connect(str(tmp_path / "t.duckdb")) as made:
        made.execute("create table p as select 1 age")
    for file in ("t.sqlite", "t.duckdb"):
        source = read_source(f"{tmp_path / file}?select a.age, b.age, 3 as age_2 from p a, p b -- twice")
        assert source.frame.rows(named=True) == [{"age": 1, "age_3": 1, "age_2": 3}]
        assert "column 2 has the same name as another, 'age'," in source.notes[0]
        assert read_table(f"{tmp_path / file}::p").columns == ["age"]


def test_formulas_are_neutralised_on_request(tmp_path: Path) -> None:
    """A published text that begins like a formula is run by the spreadsheet that opens the file."""
    texts = ["=HYPERLINK(1)", "+cmd", "-1+2", "@sum", "\t=1", "plain", "-5", "+49 30 1", "-5.5e3", "-", None, "a=b"]
    (tmp_path / "t.csv").write_text("age,=x\n" + "".join(f'1,"{text or ""}"\n' for text in texts))
    command = ("anonymize", "t.csv", "-q", "age", "--insensitive", "=x", "-k", "2", "--keep-order", "-o")
    run = kanopy_command(tmp_path, *command, "plain.csv", COLUMNS="500")
    assert "executes texts of '=x' as formulas. --neutralize-formulas puts" in run.stderr, run.stderr
    assert read_table(tmp_path / "plain.csv")["=x"].to_list() == [text or "" for text in texts]
    for name, more in (("safe.csv", ("--neutralize-formulas",)), ("safe.tsv", ("--neutralize-formulas",))):
        run = kanopy_command(tmp_path, *command, name, *more, COLUMNS="500")
        assert run.returncode == 0 and "formulas" not in run.stderr
        safe = read_table(tmp_path / name)["'=x"].to_list()
        assert safe == [*(f"'{text}" for text in texts[:5]), *(text or "" for text in texts[5:])]
    job = kanopy.Job(quasi=["age"], neutralize_formulas=True)
    assert kanopy.Job.from_toml(job.to_toml()) == job and "neutralize-formulas = true" in job.to_toml()
    for name in ("t.xlsx", "t.parquet"):  # formats that say of a cell that it is text
        write_table(pl.DataFrame({"x": ["=1"], "^.*$": ["@y"]}), tmp_path / name, neutralize=True)
        assert read_table(tmp_path / name)["x"].to_list() == ["=1"]
    write_table(
        pl.DataFrame({"*": ["=1"], "^.*$": pl.Series(["@y"], dtype=pl.Categorical)}),
        tmp_path / "s.csv",
        neutralize=True,
    )
    assert (tmp_path / "s.csv").read_text() == "*,^.*$\n'=1,'@y\n"


def test_the_last_year_of_the_calendar() -> None:
    days = [dt.date(9999, 12, day) for day in (1, 2, 30, 31)] + [dt.date(1, 1, 1)] * 2
    for granularities in (None, ["day"], ["week", "iso_year"], ["10 days"], ["month", "%B"], ["decade", "century"]):
        method: dict[str, Any] | None = {"method": "dates", "granularities": granularities} if granularities else None
        job = kanopy.Job(quasi=["day"], k=2, hierarchies={"day": method} if method else {})
        assert len(kanopy.anonymize({"day": days}, job).data["day"]) == 6
    moments = [dt.datetime.max, dt.datetime.max, dt.datetime.min, dt.datetime.min]
    tree = kanopy.build_hierarchy(moments, "dates", granularities=["minute", "hour", "day", "year"])
    assert sorted(tree.labels_at(1)) == ["0001-01-01T00:00", "9999-12-31T23:59"]
    assert kanopy.build_hierarchy(days, "dates").intervals_at(3)[-1][1] == dt.date.max.toordinal()


def test_numbers_beyond_all_measure() -> None:
    """A text such as 1e999999999 among numbers ended in an overflow."""
    for beyond in ("1e999999999", "1e-999999999", "-1e400"):
        with pytest.raises(HierarchyError, match=f"too large: '{beyond}'"):
            kanopy.build_hierarchy([beyond, "5", "6"], "round")
        job = kanopy.Job(quasi="n", k=2)
        assert len(kanopy.anonymize({"n": [beyond, "5", "6", "7"]}, job).data["n"]) == 4


# ---- the second look -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("algorithm", ["mondrian", "k-member"])
@pytest.mark.parametrize("free", [True, False])
def test_missing_values_are_in_no_range(algorithm: str, free: bool) -> None:
    """Without a hierarchy, `[-5, (missing)]` was published."""
    table = {"x": [-5, None, 3, 4, None, 9, 11, 12], "y": [1, 2, 3, 4, 5, 6, 7, 8]}
    parameters = {"free": ["x", "y"]} if free else {}
    job = kanopy.Job(quasi=["x", "y"], k=2, algorithm=algorithm, parameters=parameters)
    published = kanopy.anonymize(table, job).data["x"]
    assert all(
        label in (None, "*", "(missing)") for label, value in zip(published, table["x"], strict=True) if value is None
    )
    assert not any("missing" in label for label in published if label not in (None, "(missing)"))


SENSITIVE: dict[str, list[Any]] = {
    "Boolean": [True, False] * 3,
    "date": [dt.date(2020, 1, day) for day in (1, 2)] * 3,
    "moment": [dt.datetime(2020, 1, day, 5) for day in (1, 2)] * 3,
    "time": [dt.time(1), dt.time(2)] * 3,
    "duration": [dt.timedelta(1), dt.timedelta(2)] * 3,
    "whole": [1, 2] * 3,
    "real": [1.5, 2.5] * 3,
}


@pytest.mark.parametrize("kind", list(SENSITIVE))
def test_models_take_sensitive_values_of_every_type(kind: str) -> None:
    """The second look ended in an error of the dataframe library."""
    table = pl.DataFrame({"q": [1, 1, 1, 2, 2, 2], "s": SENSITIVE[kind]})
    models = ["l-distinct:s:2", "l-entropy:s:1.5", "t-equal:s:0.5", "alpha-k:s:0.9", "delta-disclosure:s:2"]
    models += [] if kind == "Boolean" else ["t-ordered:s:0.5"]
    for model in models:
        found = kanopy.anonymize(table, kanopy.Job(quasi=["q"], k=3, models=[model])).data
        assert found["s"].equals(table["s"]) and kanopy.check(found, quasi=["q"], models=[model]).holds
    quasi = kanopy.Job(quasi=["s"], k=3, sensitive=["q"], models=["l-distinct:q:2"])
    assert kanopy.anonymize(table, quasi).verification.smallest_class >= 3


def test_a_sensitive_hierarchy_of_several_roots_takes_a_missing_value() -> None:
    """It was refused, after all of the search."""
    table = {"q": [1, 1, 2, 2], "ill": ["a", "b", None, "c"]}
    for rows in ([["a", "x"], ["b", "x"], ["c", "y"]], [["a"], ["b"], ["c"]]):
        tree = kanopy.Hierarchy.from_rows(rows)
        job = kanopy.Job(quasi=["q"], k=2, models=["t-hierarchical:ill:0.9"], hierarchies={"ill": tree})
        assert kanopy.anonymize(table, job).data == table


def test_a_release_of_no_rows_is_refused() -> None:
    """An empty table was published, and its report could not be made."""
    job = kanopy.Job(quasi=["q"], k=4, suppress=1.0, suppressed_rows="drop", max_levels={"q": 0})
    with pytest.raises(NoSolution, match="nothing is left to publish"):
        kanopy.anonymize({"q": [1, 2, 3, 4]}, job)
    assert kanopy.anonymize({"q": [1, 2, 3, 4]}, job.replaced(suppressed_rows="keep")).data["q"] == ["*"] * 4


def test_minus_zero_is_zero_to_the_second_look() -> None:
    table = pl.DataFrame({"x": [-0.0, 0.0, 1.0, 2.0], "y": ["a", "a", "a", "a"]})
    job = kanopy.Job(quasi=["x", "y"], k=2, hierarchies={"x": kanopy.Hierarchy.flat(["0", "1", "2"])})
    result = kanopy.anonymize(table, job)
    assert result.verification.smallest_class >= 2


# ---- the table above -------------------------------------------------------------------------------------------------


def test_every_test_of_the_table_exists() -> None:
    assert __doc__ is not None
    tests = Path(__file__).parents[1]
    here, found = Path(__file__), []
    for line in __doc__.splitlines():
        if match := re.fullmatch(r"\s+.*?\s*(here|[\w/]+\.py): (\S.*)", line):
            file = here if match[1] == "here" else tests / match[1].replace("issues.py", "test_issues.py")
            if match[1].startswith("issues/"):
                file = tests / match[1]
            names = re.findall(r"^def (\w+)", file.read_text(encoding="utf-8"), re.MULTILINE)
            for wanted in match[2].split():
                assert fnmatch.filter(names, wanted), f"{file.name} has no {wanted}"
                found.append(wanted)
    assert len(found) > 50
