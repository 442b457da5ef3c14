"""Mapping, manifest, pseudonyms, and a solution applied to other rows."""

from __future__ import annotations

import hashlib
import hmac
import json
from pathlib import Path

import polars as pl
import pytest

from kanopy._errors import DataError, JobError, NoSolution
from kanopy._job.job import Job
from kanopy._table.pseudonyms import read_key
from kanopy.release.result import Result
from kanopy.release.run import anonymize
from kanopy.release.solution_file import read_solution
from tests.test_explore import people

KEY = b"sixteen bytes or more"
JOB = Job(
    quasi=["age", "sex", "zip"],
    k=4,
    suppress=0.2,
    sensitive=["ill"],
    identifiers=["name"],
    models=["l-distinct:ill:2", "t-equal:ill:0.6"],
    hierarchies={"age": {"method": "widths", "widths": [5, 10, 20]}},
)


def named(rows: int = 150, seed: int = 3) -> pl.DataFrame:
    frame = pl.DataFrame(people(rows, seed))
    return frame.with_columns(name=pl.Series([f"person {i // 2}" for i in range(rows)]))


@pytest.fixture(scope="module")
def result() -> Result:
    return anonymize(named(), JOB)


def test_mapping_says_what_became_of_every_value(result: Result) -> None:
    table = result.mapping()
    assert table.columns == ["column", "original", "published", "rows"]
    original, released = named(), result.frame
    for name in JOB.quasi:
        counted = (
            pl.DataFrame({"original": original[name].cast(pl.String), "published": released[name].cast(pl.String)})
            .group_by("original", "published")
            .len()
        )
        mine = table.filter(pl.col("column") == name)
        assert int(mine["rows"].sum()) == 150
        assert set(mine.select("original", "published", "rows").rows()) == set(counted.rows())


def test_mapping_counts_missing_and_suppressed_rows() -> None:
    frame = named().with_columns(sex=pl.when(pl.int_range(150) < 7).then(None).otherwise(pl.col("sex")))
    for policy in ("as-value", "suppress"):
        found = anonymize(frame, JOB.replaced(missing=policy, models=(), suppress=0.3)).mapping()
        sexes = found.filter(pl.col("column") == "sex")
        assert int(sexes["rows"].sum()) == 150
        assert int(sexes.filter(pl.col("original").is_null())["rows"].sum()) == 7


def test_manifest_holds_no_value_of_the_table(result: Result, tmp_path: Path) -> None:
    file = tmp_path / "in.csv"
    file.write_bytes(b"abc")
    plain = json.loads(result.manifest({"input": ("in.csv", file)}))
    assert plain["files"]["input"] == {"name": "in.csv", "sha256": hashlib.sha256(b"abc").hexdigest()}
    assert plain["verified"]["second_count"]["smallest_class"] >= 4
    assert [model["name"] for model in plain["verified"]["models"]] == ["k", "l-distinct", "t-equal"]
    assert all(model["holds"] for model in plain["verified"]["models"])
    assert plain["verified"]["identifiers_absent"] == ["name"]
    text = result.manifest()
    for value in ("13001", "flu", "hiv", "person 1"):
        assert value not in text
    assert {"kanopy", "python", "polars"} <= set(plain["versions"])


def test_manifest_counts_values_that_models_name() -> None:
    job = JOB.replaced(models=["l-plus:ill:hiv=1.2"])
    text = anonymize(named(), job).manifest()
    assert "hiv" not in text
    assert json.loads(text)["job"]["models"][1] == {"name": "l-plus", "column": "ill", "thresholds": 1}


def test_pseudonyms_are_keyed_stable_and_in_place(result: Result) -> None:
    found = anonymize(named(), JOB.replaced(pseudonymize=["name"]), key=KEY)
    assert found.frame.columns == named().columns
    wanted = hmac.new(KEY, b"name\0person 0", hashlib.sha256).hexdigest()[:32]
    assert found.frame["name"][0] == wanted == found.frame["name"][1]
    assert found.frame["name"].n_unique() == 75
    other = anonymize(named(), JOB.replaced(pseudonymize=["name"]), key=KEY[::-1])
    assert not set(other.frame["name"]) & set(found.frame["name"])
    assert "name" not in result.frame.columns
    assert KEY.decode() not in found.manifest() + found.report.to_json() + found.report.to_html() + repr(found)
    dropped = anonymize(named(), JOB.replaced(pseudonymize=["name"], suppressed_rows="drop"), key=KEY)
    assert dropped.frame.height == 150 - dropped.solution.recoding.suppressed_rows


def test_pseudonyms_need_a_good_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    job = JOB.replaced(pseudonymize=["name"])
    with pytest.raises(JobError, match="need a secret key"):
        anonymize(named(), job)
    with pytest.raises(JobError, match="at least 16 bytes"):
        anonymize(named(), job, key=b"short")
    with pytest.raises(JobError, match="cannot be read"):
        read_key(tmp_path / "absent")
    monkeypatch.delenv("KANOPY_KEY", raising=False)
    with pytest.raises(JobError, match="KANOPY_KEY"):
        read_key()
    monkeypatch.setenv("KANOPY_KEY", KEY.decode())
    assert read_key() == KEY
    with pytest.raises(JobError, match="Only identifiers"):
        Job(quasi=["age"], pseudonymize=["age"])


def test_apply_publishes_other_rows_at_the_same_levels(result: Result, tmp_path: Path) -> None:
    again = result.apply(named())
    assert again.frame.equals(result.frame)
    other = named().sample(120, seed=9)
    more = result.apply(other)
    assert more.levels == result.levels
    assert more.verification.smallest_class >= 4
    file = tmp_path / "solution.json"
    file.write_text(result.solution_json())
    saved = anonymize(other, read_solution(file))
    assert saved.frame.equals(more.frame)


def test_apply_refuses_unseen_values_and_unsafe_rows(result: Result) -> None:
    strange = named().with_columns(zip=pl.Series(["9999X"] * 150))
    with pytest.raises(DataError, match="does not know"):
        result.apply(strange)
    alone = named().head(8)
    with pytest.raises(NoSolution):
        result.apply(alone)


def test_clusterings_cannot_be_applied_again() -> None:
    found = anonymize(named(), JOB.replaced(algorithm="mondrian"))
    with pytest.raises(JobError, match="Only full-domain"):
        found.apply(named())
    with pytest.raises(JobError, match="Only full-domain"):
        found.solution_json()


def test_bad_solution_files(tmp_path: Path) -> None:
    file = tmp_path / "s.json"
    with pytest.raises(JobError, match="no solution file"):
        read_solution(file)
    for text in ("{", "{}", "age,sex"):
        file.write_text(text)
        with pytest.raises(JobError, match=r"is not a solution that Kanopy wrote .* or it is damaged"):
            read_solution(file)
    file.write_text('{"format": "kanopy-solution"}')
    with pytest.raises(JobError, match="not complete"):
        read_solution(file)
