"""SPSS, Stata and SAS files: values by their labels, which come back with their codes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

import kanopy
from kanopy._errors import DataError
from kanopy._table.formats.statistics import WITHOUT_LABELS, WRITERS, Labels, read_statistics, write_statistics
from kanopy._table.sinks import write_table
from kanopy._table.sources import read_source

pyreadstat = pytest.importorskip("pyreadstat", reason="pip install 'kanopy[stats]'")

SEX = {1: "male", 2: "female", 9: "no answer"}
TABLE = pl.DataFrame(
    {"age": [21, 22, 31, 32, 33, None], "sex": [1, 1, 2, 2, 9, None], "job": ["a", "b", "a", "b", "a", None]}
)


def _given(folder: Path, suffix: str) -> Path:
    """A file as a statistics package writes it."""
    path = folder / f"people{suffix}"
    write = getattr(pyreadstat, WRITERS[suffix])
    more: dict[str, Any] = {} if suffix in WITHOUT_LABELS else {"variable_value_labels": {"sex": SEX}}
    more |= {"compress": True} if suffix == ".zsav" else {}
    write(TABLE, str(path), column_labels=["Age in years", "Sex at birth", ""], **more)
    return path


@pytest.mark.parametrize("suffix", [".sav", ".zsav", ".dta"])
def test_labels_are_read_and_come_back_with_their_codes(suffix: str, tmp_path: Path) -> None:
    source = read_source(_given(tmp_path, suffix))
    assert source.frame["sex"].to_list() == ["male", "male", "female", "female", "no answer", None]
    assert source.frame["age"].to_list()[:2] == [21, 22]
    write_table(source.frame, tmp_path / f"same{suffix}", dialect=source.dialect)
    read = pyreadstat.read_dta if suffix == ".dta" else pyreadstat.read_sav
    codes, about = read(str(tmp_path / f"same{suffix}"), output_format="polars")
    assert codes["sex"].to_list()[:5] == [1, 1, 2, 2, 9]
    assert about.variable_value_labels["sex"] == SEX
    assert about.column_names_to_labels["sex"] == "Sex at birth"
    again = read_source(tmp_path / f"same{suffix}").frame
    assert again["sex"].to_list() == source.frame["sex"].to_list()


def test_a_release_keeps_the_labels_it_did_not_change(tmp_path: Path) -> None:
    from typer.testing import CliRunner

    from kanopy.cli import app

    path = _given(tmp_path, ".sav")
    asked = ["anonymize", str(path), "-q", "age", "--insensitive", "sex", "-k", "3", "-o", str(tmp_path / "out.sav")]
    done = CliRunner().invoke(app, asked)
    assert done.exit_code == 0, done.output
    codes, about = pyreadstat.read_sav(str(tmp_path / "out.sav"), output_format="polars")
    assert {1, 2, 9} <= set(codes["sex"].to_list()) and about.variable_value_labels["sex"] == SEX
    assert about.column_names_to_labels["age"] == "Age in years"
    assert kanopy.check(str(tmp_path / "out.sav"), quasi=["age"]).k >= 3


def test_new_labels_get_codes_of_their_own_and_values_without_one_keep_theirs(tmp_path: Path) -> None:
    labels = Labels(values={"sex": {1.0: "male", 2.0: "female"}})
    frame = pl.DataFrame({"sex": ["female", "{female, male}", "*", "7", None]})
    write_statistics(frame, tmp_path / "p.sav", ".sav", labels)
    codes, about = pyreadstat.read_sav(str(tmp_path / "p.sav"), output_format="polars")
    assert about.variable_value_labels["sex"] == {2: "female", 8: "*", 9: "{female, male}"}  # nobody is male
    assert codes["sex"].to_list()[:4] == [2, 9, 8, 7]
    assert read_statistics(tmp_path / "p.sav")[0]["sex"].to_list() == frame["sex"].to_list()


def test_codes_that_share_a_label_stay_apart(tmp_path: Path) -> None:
    shared = pl.DataFrame({"sex": [1, 2, 9]})
    pyreadstat.write_sav(shared, str(tmp_path / "p.sav"), variable_value_labels={"sex": {1: "x", 2: "y", 9: "x"}})
    assert read_statistics(tmp_path / "p.sav")[0]["sex"].to_list() == ["x (1)", "y", "x (9)"]


def test_sas_files_have_no_labels_of_values(tmp_path: Path) -> None:
    source = read_source(_given(tmp_path, ".xpt"))
    assert source.frame["sex"].to_list()[:5] == [1, 1, 2, 2, 9]
    write_table(source.frame, tmp_path / "out.xpt", dialect=source.dialect)
    assert read_source(tmp_path / "out.xpt").frame.equals(source.frame)


def test_portable_files_are_read_and_written_without_labels_of_values(tmp_path: Path) -> None:
    source = read_source(_given(tmp_path, ".por"))
    assert source.frame["SEX"].to_list()[:5] == [1, 1, 2, 2, 9]
    labelled = read_source(_given(tmp_path, ".sav"))
    write_table(labelled.frame, tmp_path / "out.por", dialect=labelled.dialect)
    again = read_source(tmp_path / "out.por")
    assert again.frame["SEX"].to_list()[:5] == ["male", "male", "female", "female", "no answer"]
    assert again.dialect is not None and again.dialect.labels is not None
    assert again.dialect.labels.columns["SEX"] == "Sex at birth"


def test_what_only_sas_writes_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"only SAS writes \.sas7bdat files. Write to \.xpt"):
        write_table(TABLE, tmp_path / "out.sas7bdat")
    (tmp_path / "cut.sas7bdat").write_bytes(bytes(2000))
    with pytest.raises(DataError, match="cannot be read"):
        read_source(tmp_path / "cut.sas7bdat")


def test_what_cannot_be_read_or_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "broken.sav").write_bytes(b"no such file")
    with pytest.raises(DataError, match="cannot be read"):
        read_source(tmp_path / "broken.sav")
    with pytest.raises(DataError, match=r"does not fit into a \.dta file"):
        write_table(pl.DataFrame({"a name with spaces": [1]}), tmp_path / "out.dta")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["broken.sav"]
