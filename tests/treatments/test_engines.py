"""Jobs of treatments alone where a table is: the same bytes as in memory, or refused with advice."""

from __future__ import annotations

import sqlite3

import numpy as np
import polars as pl
import pytest

import kanopy
from kanopy import Job
from kanopy._errors import JobError

KEY = b"0123456789abcdef0123456789abcdefXYZ!"
JOB = Job(
    unit="patient",
    protect={
        "patient": "hash",
        "day": {"method": "shift-dates"},
        "income": {"method": "top-code", "top_share": 0.05},
        "card": {"method": "format-preserving", "alphabet": "digits-letters"},
    },
    insensitive="ill",
)


@pytest.fixture(scope="module")
def places(tmp_path_factory):
    """One table as a file and in two databases, and what is published of it in memory."""
    folder, draw, rows = tmp_path_factory.mktemp("treated"), np.random.default_rng(1), 1000
    days = draw.integers(14000, 19000, rows).astype(np.int32)
    people = pl.DataFrame(
        {
            "patient": draw.integers(0, 90, rows), "day": pl.Series(days).cast(pl.Date),
            "income": draw.integers(100, 9000, rows), "card": [f"{n:012d}" for n in draw.integers(0, 10**12, rows)],
            "ill": draw.choice(list("abc"), rows),
        }
    )  # fmt: skip
    people.write_parquet(folder / "t.parquet")
    duckdb = pytest.importorskip("duckdb")
    with duckdb.connect(str(folder / "t.duckdb")) as there:
        there.execute("create table t as select * from people")
    with sqlite3.connect(folder / "t.sqlite") as there:
        there.execute("create table t (patient int, day text, income int, card text, ill text)")
        texts = people.with_columns(pl.col("day").cast(pl.String))
        there.executemany("insert into t values (?, ?, ?, ?, ?)", texts.rows())
    kanopy.anonymize(folder / "t.parquet", JOB, engine="memory", output=folder / "memory.csv", key=KEY)
    return folder


@pytest.mark.parametrize(
    ("source", "engine"), [("t.parquet", "stream"), ("t.duckdb::t", "database"), ("t.sqlite::t", "database")]
)
def test_treatments_alone_publish_the_same_from_everywhere(places, source, engine):
    found = kanopy.anonymize(places / source, JOB, engine=engine, output=places / "there.csv", key=KEY)
    rows = [sorted((places / name).read_text().splitlines()) for name in ("memory.csv", "there.csv")]
    assert rows[0] == rows[1] and found.rows == 1000
    assert "every piece of the table was checked" in found.summary()["treatments"][0]["verified"]


def test_a_unit_that_becomes_a_pseudonym_is_published_alike_from_everywhere(places):
    people = {"quasi": "income", "k": 5, "unit": "patient", "suppress": "90%", "insensitive": "ill"}
    widths = {"income": {"method": "widths", "widths": [3000]}}
    for renamed in ({"pseudonymize": "patient"}, {"protect": {"patient": "hash", "day": "shift-dates"}}):
        job = Job(**people, **renamed, hierarchies=widths)
        for engine in ("memory", "stream"):
            kanopy.anonymize(places / "t.parquet", job, engine=engine, output=places / f"unit-{engine}.csv", key=KEY)
        one, other = (sorted((places / f"unit-{name}.csv").read_text().splitlines()) for name in ("memory", "stream"))
        assert one == other


def test_a_database_takes_the_treated_table(places):
    target = places / "t.duckdb::released"
    kanopy.anonymize(places / "t.duckdb::t", JOB, output=target, key=KEY, overwrite=True)
    import duckdb

    with duckdb.connect(str(places / "t.duckdb")) as there:
        assert there.execute("select count(*), count(distinct patient) from released").fetchone() == (1000, 90)


@pytest.mark.parametrize("method", ["shuffle", "rank-swap", "pram"])
def test_what_looks_at_all_rows_at_once_is_refused(places, method):
    with pytest.raises(JobError, match=r"needs all rows at once[.] Use the engine 'memory'"):
        column = "ill" if method == "pram" else "income"
        kanopy.anonymize(places / "t.parquet", Job(protect={column: method}), engine="stream", output=places / "x.csv")
    assert not (places / "x.csv").exists()
