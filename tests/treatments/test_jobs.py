"""Treatments as part of a job: released, verified, written down, refused."""

from __future__ import annotations

import datetime as dt
import json
import sqlite3
from contextlib import closing
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import polars as pl
import pytest

import kanopy
from kanopy import Job, anonymize
from kanopy._errors import JobError, KanopyError, VerificationFailed
from kanopy.extend import Treatment, check
from kanopy.release.evidence.provenance import ro_crate
from kanopy.release.treated import treating
from kanopy.report.documents.release_document import release_document
from kanopy.verify.treatments import TreatedColumns, verify_treatment

KEY = b"a key of sixteen bytes"


@pytest.fixture(scope="module")
def hospital():
    rng = np.random.default_rng(4)
    rows = 90
    return pl.DataFrame(
        {
            "age": rng.integers(20, 60, rows),
            "sex": rng.choice(["f", "m"], rows),
            "patient": [f"p{i % 30}" for i in range(rows)],
            "admitted": [dt.date(2024, 1, 1) + dt.timedelta(days=int(d)) for d in rng.integers(0, 300, rows)],
            "creatinine": rng.lognormal(0, 0.4, rows).round(2),
            "sodium": rng.normal(140, 3, rows).round(0).astype(int),
            "account": [f"{number}" for number in rng.integers(10**9, 10**10, rows)],
        }
    )


JOB = Job(
    quasi=["age", "sex"], k=3, unit="patient",
    protect={
        "creatinine": {"method": "microaggregate", "together": ["sodium"]},
        "admitted": "shift-dates",
        "account": "format-preserving",
        "patient": "hash",
    },
)  # fmt: skip


@pytest.fixture(scope="module")
def result(hospital):
    return anonymize(hospital, JOB, key=KEY)


def test_no_document_says_that_a_treated_column_was_published_as_it_was():
    rows = pl.DataFrame({"age": [30, 40] * 20, "ward": ["a", "b"] * 20, "pay": [1.5 * i for i in range(40)]})
    job = Job(quasi="age", k=5, sensitive=["pay", "ward"], protect={"pay": {"method": "microaggregate", "size": 3}})
    made = anonymize(rows, job)
    columns = release_document(made.report.to_dict(), "t.csv").sections[1].parts[0].rows
    fates = {name: fate for name, _, fate, _ in columns}
    assert fates == {
        "age": "as it was", "ward": "published as it was; no model guards it", "pay": "treated (microaggregate)",
    }  # fmt: skip
    page = made.report.to_html()
    assert "ward: published as it is; pay: treated (microaggregate)" in page
    assert "pay: published" not in page and "ward, pay" not in page
    graph = {entry["@id"]: entry for entry in ro_crate(json.loads(made.manifest()))["@graph"]}
    assert graph["#column-pay"]["value"] == "microaggregate" and graph["#column-ward"]["value"] == "published as it is"


def test_a_plan_for_every_column_is_released_and_verified(hospital, result):
    assert len(result.treated.checks) == 4
    data = result.data
    assert data.columns == ["age", "sex", "patient", "admitted", "creatinine", "sodium", "account"]
    assert not set(data["account"]) & set(hospital["account"]) and not set(data["patient"]) & set(hospital["patient"])
    moved = (data["admitted"] - hospital["admitted"]).dt.total_days()
    gaps = (
        pl.DataFrame({"p": hospital["patient"], "gap": moved})
        .group_by("p")
        .agg(pl.col("gap").n_unique(), least=pl.col("gap").abs().min())
    )
    assert gaps["gap"].max() == 1 and gaps["least"].min() >= 1 and moved.abs().max() <= 182
    people = pl.DataFrame({"c": data["creatinine"], "s": data["sodium"], "p": hospital["patient"]})
    assert people.group_by("c", "s").agg(pl.col("p").n_unique())["p"].min() >= 3


def test_what_is_written_about_it_has_no_secret(hospital, result):
    texts = [result.manifest(), result.report.to_html(), result.report.to_json(), result.to_html()]
    assert all(KEY.decode() not in text and "seed_bytes" not in text for text in texts)
    assert "Treated columns" in texts[1] and "rows linked" in texts[1]
    plain = json.loads(texts[0])["verified"]["treatments"]
    assert {each["method"] for each in plain} == {"microaggregate", "shift-dates", "format-preserving", "hash"}
    assert all(each["guarantees"] and each["lacks"] and each["verified"] for each in plain)
    mapped = result.mapping()
    assert mapped.filter(pl.col("column") == "sodium")["rows"].sum() == hospital.height
    assert "os.environ" in result.report.to_script()


def test_the_same_key_repeats_it_and_another_does_not(hospital, result):
    assert anonymize(hospital, JOB, key=KEY).data.equals(result.data)
    assert not anonymize(hospital, JOB, key=b"quite another secret key").data.equals(result.data)


def test_a_job_file_keeps_treatments(tmp_path):
    text = JOB.to_toml()
    assert Job.from_toml(text) == JOB and 'method = "microaggregate"' in text
    followed = Job.from_toml('[columns.region]\nrole = "quasi-identifier"\n[columns.name]\nfollows = "region"\n')
    assert followed.protect["name"].column == "region" and Job.from_toml(followed.to_toml()) == followed
    coded = Job(quasi="age", k=7, protect={"pay": {"method": "top-code", "top_share": 0.1}})
    assert "size" not in coded.to_toml() and Job.from_toml(coded.to_toml()) == coded
    assert Job.from_toml(coded.to_toml()).replaced(k=9).protect["pay"].size == 9


def test_a_job_of_treatments_only(hospital, tmp_path):
    job = Job(protect={"sodium": {"method": "top-code", "top_share": 0.1}, "admitted": "cut-dates"})
    file = tmp_path / "in.parquet"
    hospital.write_parquet(file)
    result = anonymize(file, job, output=tmp_path / "out.parquet")
    assert result.data.columns == ["admitted", "sodium"]
    assert "k" not in json.loads(result.manifest())["job"] and result.summary()["k"] is None
    assert "makes no promise about combinations" in result.report.to_html()
    assert result.apply(hospital).data.equals(anonymize(hospital, job).data)
    result.write(
        tmp_path / "more.csv", report=tmp_path / "r.html", mapping=tmp_path / "m.csv", manifest=tmp_path / "m.json"
    )


def test_apply_treats_new_rows_by_the_same_key(hospital):
    job = Job(quasi=["sex"], k=3, protect={"account": "hash"})
    first = anonymize(hospital, job, key=KEY)
    again = first.apply(hospital.head(40), key=KEY)
    assert again.data["account"].to_list() == first.data["account"].head(40).to_list()


def test_a_column_follows_what_is_published_of_another():
    rows = pl.DataFrame(
        {"code": ["A1"] * 3 + ["A2"] * 2 + ["B1"] * 5, "town": ["Wien"] * 3 + ["Graz"] * 2 + ["Bonn"] * 5}
    )
    tree = kanopy.Hierarchy.from_rows([["A1", "A", "*"], ["A2", "A", "*"], ["B1", "B", "*"]])
    job = Job(quasi=["code"], k=4, hierarchies={"code": tree}, protect={"town": {"method": "follow", "column": "code"}})
    data = anonymize(rows, job).data
    assert dict(data.select("code", "town").unique().rows()) == {"A": "Graz | Wien", "B": "*"}
    with pytest.raises(JobError, match="stand beside several of its values"):
        anonymize(rows.with_columns(town=pl.Series(list("abcdefghij"))), job)


def test_streams_treat_as_memory_does(hospital, tmp_path):
    job = Job(
        quasi=["age", "sex"], k=3, shuffle=False,
        protect={
            "sodium": {"method": "round", "base": 5},
            "admitted": {"method": "shift-dates", "unit": "patient"},
            "account": "mask",
        },
        pseudonymize=["patient"],  # the shift comes from the patient, not from the pseudonym
    )  # fmt: skip
    file = tmp_path / "in.parquet"
    hospital.write_parquet(file)
    for engine in ("stream", "memory"):
        anonymize(file, job, key=KEY, engine=engine, output=tmp_path / f"{engine}.parquet")
    assert pl.read_parquet(tmp_path / "stream.parquet").equals(pl.read_parquet(tmp_path / "memory.parquet"))
    wide = Job(
        quasi=["age", "sex"], k=3, shuffle=False, unit="patient",
        protect={
            "sodium": {"method": "top-code", "top_share": 0.1, "publish": "mean"},
            "creatinine": {"method": "noise", "share": 0.2},
            "account": "hash",
        },
    )  # fmt: skip
    found = {}
    for address in (tmp_path / "in.parquet", *databases(hospital, tmp_path)):
        name = str(address).rpartition(".")[2].partition(":")[0]
        anonymize(address, wide, key=KEY, engine="stream", output=tmp_path / f"{name}.parquet")
        found[name] = pl.read_parquet(tmp_path / f"{name}.parquet")
    memory = anonymize(hospital, wide, key=KEY).data
    for made in found.values():
        assert made.equals(memory, null_equal=True)
        assert 0.05 < (made["creatinine"] - hospital["creatinine"]).std() / hospital["creatinine"].std() < 0.4
    for method in ("shuffle", "microaggregate", {"method": "noise", "kind": "correlated"}):
        with pytest.raises(JobError, match="Use the engine 'memory'"):
            anonymize(
                file,
                Job(quasi=["age"], k=3, protect={"sodium": method}),
                engine="stream",
                output=tmp_path / "no.parquet",
            )
    assert not (tmp_path / "no.parquet").exists()


@pytest.mark.parametrize("settings", [{"suppress": 0.3}, {"suppress": 0.3, "suppressed_rows": "drop"}, {}])
def test_limits_and_noise_do_not_depend_on_the_engine_or_on_suppressed_rows(hospital, tmp_path, settings):
    rows = pl.concat([hospital, hospital[:20]]).drop("patient", "admitted", "account")
    protect = {
        "sodium": {"method": "top-code", "top_share": 0.2, "bottom_share": 0.2, "publish": "median"},
        "creatinine": {"method": "noise", "kind": "multiplicative"},
    }  # fmt: skip
    job = Job(quasi=["age", "sex"], k=3, protect=protect, algorithm="samarati", **settings)
    rows.write_parquet(tmp_path / "in.parquet", row_group_size=30)
    anonymize(tmp_path / "in.parquet", job, key=KEY, engine="stream", output=tmp_path / "out.parquet")
    memory, other = (anonymize(table, job, key=KEY).data for table in (rows, rows[::-1]))
    stream = pl.read_parquet(tmp_path / "out.parquet")
    assert sorted(stream.rows()) == sorted(memory.rows()) == sorted(other.rows())
    alone = anonymize(rows, job.replaced(protect={"creatinine": protect["creatinine"]}), key=KEY).data
    assert sorted(alone["creatinine"]) == sorted(memory["creatinine"])


def test_a_tail_that_suppressed_rows_leave_to_too_few_is_refused_everywhere(tmp_path):
    rows = pl.DataFrame({"age": [30] * 20 + [41, 52, 63], "pay": [*range(20), 90, 91, 19]})
    flat = kanopy.Hierarchy.flat(sorted(map(str, set(rows["age"]))))
    job = Job(
        quasi="age", k=3, suppress=0.2, suppressed_rows="drop", hierarchies={"age": flat},
        protect={"pay": {"method": "top-code", "top": 19}},
    )  # fmt: skip
    rows.write_parquet(tmp_path / "in.parquet")
    for engine in ("memory", "stream"):
        with pytest.raises(JobError, match=r"leave 1 person of the top of 'pay'.* at least 3"):
            anonymize(tmp_path / "in.parquet", job, engine=engine, output=tmp_path / "out.parquet")
    assert not (tmp_path / "out.parquet").exists()


def databases(rows, folder):
    """The table in a DuckDB and in an SQLite file."""
    import duckdb

    with duckdb.connect(str(folder / "t.duckdb")) as made:
        made.register("rows", rows.to_arrow())
        made.execute("create table visits as select * from rows")
    with closing(sqlite3.connect(folder / "t.sqlite")) as made:
        made.execute("create table visits (age integer, sex text, patient text, admitted text, creatinine real, "
                     "sodium integer, account text)")  # fmt: skip
        made.executemany(f"insert into visits values ({', '.join('?' * 7)})", rows.cast({"admitted": pl.String}).rows())
        made.commit()
    return f"{folder}/t.duckdb::visits", f"{folder}/t.sqlite::visits"


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"quasi": ["age"], "protect": {"age": "noise"}}, "'age' is a quasi-identifier"),
        (
            {"protect": {"pay": {"method": "noise", "kind": "correlated", "together": ["cost"]}, "cost": "noise"}},
            "'cost' has two treatments",
        ),
        ({"identifiers": ["id"], "protect": {"id": "shuffle"}}, "'id' is an identifier"),
        ({"undecided": ["pay"], "protect": {"pay": "noise"}}, "'pay' is undecided"),
        ({"protect": {"day": "shift-dates"}}, "needs the column of the person"),
        ({"quasi": ["a"], "pseudonymize": ["id"], "protect": {"id": "hash"}}, "pseudonymized and treated"),
        ({"quasi": ["a"], "models": "l-distinct:pay:2", "protect": {"pay": "noise"}}, "needs its original values"),
        (
            {"protect": {"a": {"method": "follow", "column": "b"}, "b": {"method": "follow", "column": "c"}}},
            "Let both follow",
        ),
        ({"protect": {"a": {"method": "follow", "column": "b"}}}, "which is not published"),
        ({"protect": {"a": {"method": "shuffle", "within": ["a"]}}}, "refers to the column itself"),
        ({"protect": {"a": "blur"}}, "There is no treatment called 'blur'"),
        ({"protect": {"a": {"method": "round"}}}, "needs 'base'"),
        ({"protect": {"a": 5}}, "A treatment is written"),
        ({"quasi": ["a"], "algorithm": "fusion", "protect": {"b": "noise"}}, "A masking of free text"),
    ],
)
def test_contradictions_are_refused_before_work_starts(settings, words):
    with pytest.raises(JobError, match=words):
        Job(**settings)


@pytest.mark.parametrize("key", [None, b"short", b"a" * 40, b"passwordpasswordpassword", b"0123456789abcdef"])
def test_weak_keys_are_refused(hospital, key):
    with pytest.raises(JobError, match="key"):
        anonymize(hospital, Job(protect={"account": "hash"}), key=key)


def test_tokens_keep_a_secret_table(hospital, tmp_path):
    file, table = tmp_path / "in.parquet", tmp_path / "tokens.csv"
    hospital.write_parquet(file)
    job = Job(protect={"patient": {"method": "tokens", "table": str(table)}})
    first = anonymize(file, job, output=tmp_path / "one.parquet")
    assert pl.read_csv(table).height == 30 and str(tmp_path) not in first.manifest()
    second = anonymize(file, job, output=tmp_path / "two.parquet")
    assert second.frame.equals(first.frame) and (table.stat().st_mode & 0o077) == 0
    table.write_text("something else\n")
    with pytest.raises(JobError, match="no table of tokens"):
        anonymize(file, job, output=tmp_path / "three.parquet")
    assert not (tmp_path / "three.parquet").exists()


def test_a_release_that_is_not_what_the_treatment_allows_is_not_written(hospital, monkeypatch, tmp_path):
    monkeypatch.setattr(
        "kanopy.treatments.coding.TopCode.treat", lambda self, column, table: {column: table.rows[column]}
    )
    job = Job(protect={"sodium": {"method": "top-code", "top": 140}})
    with pytest.raises(VerificationFailed, match="not what its treatment allows"):
        anonymize(hospital, job, output=tmp_path / "out.csv")
    assert not list(tmp_path.iterdir())


SOUND = pl.DataFrame(
    {"x": [1.0, 2.0, 3.0, 10.0, 11.0, 12.0], "u": list("aabbcc"), "d": [dt.date(2024, 1, day) for day in range(1, 7)]}
)


def later(days, more=0):
    return [day + dt.timedelta(days=days + more * i) for i, day in enumerate(SOUND["d"])]


@pytest.mark.parametrize(
    ("method", "change"),
    [
        ({"method": "microaggregate"}, {"x": [2.0, 2.0, 2.0, 11.0, 11.0, 12.0]}),
        ({"method": "microaggregate"}, {"x": [2.0, 2.0, 2.0, 10.0, 10.0, 10.0]}),
        ({"method": "top-code", "top": 10.0}, {"x": [1.0, 2.0, 3.0, 10.0, 11.0, 12.0]}),
        ({"method": "top-code", "top": 11.0}, {"x": [1.0, 2.0, 3.0, 10.0, 11.0, 11.0]}),
        ({"method": "round", "base": 5}, {"x": [0.0, 0.0, 5.0, 10.0, 11.0, 10.0]}),
        ({"method": "round", "base": 5}, {"x": [0.0, 0.0, 5.0, 10.0, 15.0, 10.0]}),
        ({"method": "noise", "share": 0.01}, {"x": [1.01, 2.01, 3.01, 10.01, 11.01, 15.0]}),
        ({"method": "noise", "kind": "multiplicative"}, {"x": [1.1, 2.2, 3.3, 11.0, 12.1, 12.0]}),
        ({"method": "rank-swap", "percent": 20}, {"x": [12.0, 2.0, 3.0, 10.0, 11.0, 1.0]}),
        ({"method": "rank-swap"}, {"x": [1.0, 2.0, 3.0, 10.0, 11.0, 11.0]}),
        ({"method": "shuffle", "within": ["u"]}, {"x": [3.0, 2.0, 1.0, 10.0, 11.0, 12.0]}),
        ({"method": "pram"}, {"u": list("aabbcz")}),
        ({"method": "shift-dates", "unit": ["u"]}, {"d": list(SOUND["d"])}),
        ({"method": "shift-dates", "unit": ["u"], "days": 3}, {"d": later(9)}),
        ({"method": "shift-dates", "unit": ["u"]}, {"d": later(1, 1)}),
        ({"method": "cut-dates"}, {"d": list(SOUND["d"])}),
        ({"method": "hash"}, {"u": list("aabbcc")}),
        ({"method": "encrypt"}, {"u": ["x", "y", "z", "z", "q", "q"]}),
        ({"method": "mask", "last": 1}, {"u": ["*a", "**a", "*b", "*b", "*c", "*c"]}),
        ({"method": "follow", "column": "u"}, {"x": [1.0, 2.0, 3.0, 3.0, 4.0, 4.0]}),
    ],
)  # fmt: skip
def test_every_check_notices_what_is_wrong(method, change):
    name = next(iter(change))
    published = SOUND.with_columns(pl.Series(name, change[name]))
    with pytest.raises(VerificationFailed):
        verify_treatment(TreatedColumns(name, method, SOUND, published, leaders=SOUND))


@dataclass(frozen=True)
class Blank(Treatment):
    """Every value of the column becomes missing, whatever it was before: the strongest of treatments."""

    name: ClassVar[str] = "blank"
    summary: ClassVar[str] = "publishes nothing of the column"
    guarantees: ClassVar[str] = "no value of the column is published"
    lacks: ClassVar[str] = "that anything of it can be used"

    def treat(self, column, table):
        return {column: pl.Series(column, [None] * table.rows.height, table.rows[column].dtype)}


def test_extensions_treat_columns_too(hospital):
    assert "is_what_it_allows" in check(Blank)
    assert anonymize(hospital, Job(protect={"sodium": Blank()})).data["sodium"].null_count() == hospital.height


def test_the_app_keeps_and_runs_treatments(hospital, tmp_path, monkeypatch):
    from kanopy.app.tasks.releases import preview_job, run
    from kanopy.app.tasks.worker_state import WorkerState

    monkeypatch.setenv("KANOPY_KEY", KEY.decode())
    hospital.write_csv(tmp_path / "t.csv")
    job = Job(quasi=["age", "sex"], k=3, suppress=0.5, protect={"creatinine": "noise", "account": "hash"})
    given = {"source": str(tmp_path / "t.csv"), "project_folder": str(tmp_path)}
    state = WorkerState()
    more = {"folder": str(tmp_path / "r"), "suffix": ".csv", "table": state.digest(given["source"], job)}
    made = run(state, lambda step: True, job=job.to_toml(), **more, **given)
    assert {each["method"] for each in made["treatments"]} == {"noise", "hash"}
    assert not any(KEY in file.read_bytes() for file in (tmp_path / "r").iterdir())
    assert not set(pl.read_csv(tmp_path / "r" / "release.csv")["account"]) & set(hospital["account"])
    with pytest.raises(JobError, match="treatments only with `kanopy anonymize"):
        preview_job(WorkerState(), lambda step: True, job=Job(protect={"account": "hash"}).to_toml(), **given)


def test_errors_are_all_of_one_family():
    assert issubclass(JobError, KanopyError) and treating.NOTHING_GENERALIZED


def test_assessments_study_treated_numbers(hospital):
    rows = hospital.with_row_index("at")
    job = Job(
        quasi="age", k=3, suppress=0.5, insensitive="at", allow_dependent="at", shuffle=False,
        protect={"creatinine": {"method": "microaggregate", "together": ["sodium"]}},
    )  # fmt: skip
    data = anonymize(rows, job).data
    (utility,) = kanopy.assess(rows, data, job, on="at", learn=False, queries=0).treated
    (risk,) = kanopy.assess_risk(rows, job, released=data, on="at").treated
    assert utility == risk and utility.risk.columns == ("creatinine", "sodium")
    assert utility.utility.means["sodium"] == pytest.approx(0, abs=1e-9) and 0 < utility.risk.linked < 1
    page = kanopy.assess(rows, data, on="at", learn=False, queries=0).to_html()
    assert "Treated numbers" in page and "eigenvalues differ" in page
