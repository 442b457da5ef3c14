"""A sample as a setting of a job: drawn by a secret, stated, and used or refused everywhere."""

from __future__ import annotations

import contextlib
import json
import sqlite3

import numpy as np
import polars as pl
import pytest

import kanopy
from kanopy import Job
from kanopy._errors import JobError, NoSolution

KEY = b"0123456789abcdef0123456789abcdefXYZ!"


def people(rows: int = 400) -> pl.DataFrame:
    draw = np.random.default_rng(3)
    return pl.DataFrame(
        {
            "person": [i // 2 for i in range(rows)], "age": draw.integers(20, 60, rows),
            "ill": draw.choice(list("abc"), rows), "row": range(rows),
        }
    )  # fmt: skip


JOB = Job(
    quasi="age",
    k=3,
    insensitive=["ill", "row"],
    sample="30%",
    hierarchies={"age": {"method": "widths", "widths": [10]}},
)


def test_so_many_rows_are_published_and_which_ones_depends_on_the_secret(tmp_path):
    table = people()
    drawn = [set(kanopy.anonymize(table, JOB, key=key).frame["row"]) for key in (None, None, KEY, KEY)]
    assert [len(rows) for rows in drawn] == [120] * 4
    assert drawn[0] != drawn[1] and drawn[2] == drawn[3]
    mixed = table.sample(fraction=1.0, shuffle=True, seed=1)
    assert set(kanopy.anonymize(mixed, JOB, key=KEY).frame["row"]) == drawn[2]
    assert set(kanopy.anonymize(table, JOB.replaced(sample=0.31), key=KEY).frame["row"]) - drawn[2]


def test_report_and_manifest_say_so(tmp_path):
    result = kanopy.anonymize(people(), JOB)
    assert any("120 of 400 rows (0.3 of them)" in note for note in result.notes)
    assert json.loads(result.manifest())["job"]["sample"] == 0.3
    assert "120 of 400 rows" in result.report.to_html()
    assert Job.from_toml(JOB.to_toml()).sample == 0.3


def test_people_are_drawn_with_all_their_rows():
    result = kanopy.anonymize(people(), JOB.replaced(unit="person", sample=0.25))
    rows = np.array(result.frame["row"])
    assert len(rows) == 100 and len(set(rows // 2)) == 50


@pytest.mark.parametrize("unit", [(), ("person",)])
@pytest.mark.parametrize("kind", ["csv", "parquet", "sqlite"])
def test_every_engine_draws_the_same_sample_by_the_same_key(unit, kind, tmp_path):
    table, source = people().with_columns(person=pl.col("person").replace(7, None)), tmp_path / f"people.{kind}"
    if kind == "sqlite":
        with contextlib.closing(sqlite3.connect(source)) as there:
            there.execute("create table people (person int, age int, ill text, row int)")
            there.executemany("insert into people values (?, ?, ?, ?)", table.rows())
            there.commit()
        source = f"{source}::people"
    else:
        table.write_csv(source) if kind == "csv" else table.write_parquet(source)
    found = [
        kanopy.anonymize(source, JOB.replaced(unit=unit), engine=engine, output=tmp_path / f"{engine}.csv", key=KEY)
        for engine in ("memory", "database" if kind == "sqlite" else "stream")
    ]
    one, other = (sorted(file.read_text().splitlines()) for file in sorted(tmp_path.glob("*.csv")) if file != source)
    assert one == other and found[0].notes[0] == found[1].notes[0] and "random sample" in found[0].notes[0]


def test_an_index_does_not_tell_which_rows_were_drawn():
    pandas = pytest.importorskip("pandas")
    table = people().to_pandas().set_index(pandas.Index(range(1000, 1400)))
    assert list(kanopy.anonymize(table, JOB, key=KEY).data.index) == list(range(120))


@pytest.mark.parametrize(
    ("changes", "settings", "said"),
    [
        ({"models": "population-uniqueness:0.1,0.5"}, {}, r"0\.5 of the population is published"),
        ({"models": "individual-risk:0.1", "sampling_weight": "row"}, {}, "Draw the sample first"),
        ({"sample": 0}, {}, "sample must be"),
        ({"algorithm": "fusion", "hierarchies": {}, "quasi": "ill", "insensitive": ()}, {}, "draws no sample"),
    ],
)
def test_what_a_sample_contradicts_is_refused(tmp_path, changes, settings, said):
    people().write_csv(tmp_path / "people.csv")
    with pytest.raises(JobError, match=said):
        job = JOB.replaced(**changes)
        kanopy.anonymize(tmp_path / "people.csv", job, output=tmp_path / "out.csv", **settings)
    assert not (tmp_path / "out.csv").exists()


def test_a_sample_of_too_few_rows_is_no_release():
    with pytest.raises((JobError, NoSolution), match="rows"):
        kanopy.anonymize(people(), JOB.replaced(sample=0.005))
