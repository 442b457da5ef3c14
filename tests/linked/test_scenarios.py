"""Three ways in which releases that pass alone give people away together: counted by DuckDB over published files."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import kanopy
from kanopy.linked.history.over_time import publish_over_time
from kanopy.linked.run import anonymize_tables
from kanopy.release.writing import Files
from tests.report.test_documents import everything_in
from tests.shared_input import needs_shared

duckdb = pytest.importorskip("duckdb")
KEY = b"0123456789abcdef0123456789abcdef"
ROLE = {"role": "quasi-identifier"}


def patients() -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]:
    """79 patients, their visits, and both as one flat table."""
    rng = random.Random(1)
    people = [
        (f"p{p}", rng.randint(20, 80), rng.choice(["1010", "1020", "1030", "1040"]), rng.choice("fm"))
        for p in range(79)
    ]
    visits = [
        (p[0], f"{rng.choice('ABCDEJKM')}{rng.randint(10, 14)}") for p in people for _ in range(rng.randint(2, 7))
    ]
    one = pl.DataFrame(people, schema=["patient", "age", "zip", "sex"], orient="row")
    two = pl.DataFrame(visits, schema=["patient", "icd"], orient="row")
    return (
        one,
        two,
        two.join(one, on="patient", how="left", maintain_order="left").select("patient", "age", "zip", "sex", "icd"),
    )


def rare(query: str, **files: Path) -> int:
    """What a query over published files counts."""
    base = duckdb.connect()
    for name, path in files.items():
        base.execute(f"CREATE VIEW {name} AS SELECT * FROM read_csv('{path}', all_varchar = true)")
    found = base.execute(query).fetchone()
    assert found is not None
    return int(found[0])


WHOLE = """
    WITH trace AS (SELECT patient, list_sort(list(concat_ws('|', {columns}))) AS t FROM {source} GROUP BY patient)
    SELECT coalesce(sum(n), 0) FROM (SELECT count(*) AS n FROM trace GROUP BY t) WHERE n < 5"""


def test_a_published_pseudonym_means_that_all_rows_of_a_person_are_known(tmp_path: Path) -> None:
    *_, flat = patients()
    quasi = ["age", "zip", "sex", "icd"]
    query = WHOLE.format(columns="age, zip, sex, icd", source="(SELECT * FROM one WHERE patient IS NOT NULL)")
    counted = {}
    for known in (1, None):
        job = kanopy.Job(quasi=quasi, unit="patient", pseudonymize="patient", k=5, suppress="10%", known=known)
        result = kanopy.anonymize(flat, job, key=KEY)
        result.write(tmp_path / "one.csv")
        counted[known] = rare(query, one=tmp_path / "one.csv")
        assert result.verification.rare_traces == counted[known]
        assert result.verification.to_dict()["rare_traces"] == counted[known]
    assert counted == {1: 79, None: 0}
    assert any("known = all" in note for note in result.notes)


def test_without_all_a_local_algorithm_is_refused_where_a_pseudonym_is_published() -> None:
    *_, flat = patients()
    job = kanopy.Job(quasi=["age", "icd"], unit="patient", pseudonymize="patient", k=5, local=True)
    with pytest.raises(Exception, match="state the weaker promise"):
        kanopy.anonymize(flat, job, key=KEY)


def test_untouched_columns_and_rows_that_stand_together_tie_rows_too() -> None:
    *_, flat = patients()
    flat = flat.with_columns(first=pl.col("patient").str.slice(1).cast(pl.Int64) * 3)
    job = kanopy.Job(
        quasi=["sex", "zip"], unit="patient", insensitive=["first"], allow_dependent="first", k=5, suppress="50%"
    )
    result = kanopy.anonymize(flat, job)
    assert result.prepared.units is not None and result.prepared.units.known == 0
    assert result.verification.rare_traces == 0
    kept = kanopy.anonymize(flat, job.replaced(insensitive=[], allow_dependent=[], shuffle=False))
    assert kept.prepared.units is not None and kept.prepared.units.known == 0
    plain = kanopy.anonymize(flat, job.replaced(insensitive=[], allow_dependent=[]))
    assert plain.prepared.units is not None and plain.prepared.units.known == 1
    weaker = kanopy.anonymize(flat, job.replaced(known=1))
    assert weaker.verification.rare_traces and any("whole trace" in note for note in weaker.notes)


JOINED = """
    WITH person AS (SELECT patient, concat_ws('|', age, zip, sex) AS p FROM people),
    event AS (SELECT patient, icd, row_number() OVER (PARTITION BY patient ORDER BY icd) AS at FROM visits),
    one AS (SELECT DISTINCT patient, p, e.icd AS s FROM person JOIN event e USING (patient)),
    two AS (SELECT DISTINCT patient, p, a.icd || ' ' || b.icd AS s FROM person JOIN event a USING (patient)
            JOIN event b USING (patient) WHERE a.at < b.at),
    every AS (SELECT patient, p, list_sort(list(icd)) ::VARCHAR AS s FROM person LEFT JOIN visits USING (patient)
              GROUP BY ALL),
    known AS ({known})
    SELECT count(DISTINCT patient) FROM known
    JOIN (SELECT p, s FROM known GROUP BY p, s HAVING count(DISTINCT patient) < 5)
    USING (p, s)"""
KNOWN = {
    0: "SELECT patient, p, '' AS s FROM person",
    1: "SELECT * FROM one UNION ALL SELECT patient, p, '' FROM person",
    2: "SELECT * FROM two UNION ALL SELECT * FROM one UNION ALL SELECT patient, p, '' FROM person",
    "all": "SELECT * FROM every",
}


@pytest.mark.parametrize("known", [0, 1, 2, "all"])
def test_two_tables_with_a_common_key_keep_k_over_their_join(known: Any, tmp_path: Path) -> None:
    one, two, _ = patients()
    columns = {"age": ROLE, "zip": ROLE, "sex": ROLE}
    icd = {**ROLE, "hierarchy": kanopy.Hierarchy.from_rows([[v, v[0], "*"] for v in sorted(set(two["icd"]))])}
    plain = {
        "unit": "people.patient", "k": 5, "known": known, "suppress": 0.1,
        "tables": {"people": {"data": one, "columns": columns}, "visits": {"data": two, "columns": {"icd": icd}}},
        "links": [{"from": "visits.patient", "to": "people.patient"}],
    }  # fmt: skip
    found = anonymize_tables(plain)
    found.write(tmp_path / "out", report=tmp_path / "r.html", manifest=tmp_path / "m.json")
    files = {"people": tmp_path / "out" / "people.csv", "visits": tmp_path / "out" / "visits.csv"}
    assert rare(JOINED.format(known=KNOWN[known]), **files) == 0
    assert rare("SELECT count(*) FROM visits ANTI JOIN people USING (patient)", **files) == 0
    # Each table safe alone: the losses are lower, and joined nearly everybody is told from fewer than k.
    alone = kanopy.anonymize(one, kanopy.Job(quasi=list(columns), pseudonymize="patient", k=5, suppress=0.1), key=KEY)
    job = kanopy.Job(
        quasi=["icd"],
        unit="patient",
        pseudonymize="patient",
        known=1,
        k=5,
        suppress=0.1,
        hierarchies={"icd": icd["hierarchy"]},
    )
    events = kanopy.anonymize(two, job, key=KEY)
    alone.write(tmp_path / "a.csv")
    events.write(tmp_path / "b.csv")
    separate = {"people": tmp_path / "a.csv", "visits": tmp_path / "b.csv"}
    assert rare(JOINED.format(known=KNOWN["all"]), **separate) >= 75
    if known == "all":
        assert found.solution.score >= (3 * alone.losses["loss"] + events.losses["loss"]) / 4
    assert "joined by the published keys" in (tmp_path / "r.html").read_text()
    document = found.to_document()
    assert json.loads(document.to_bytes(".json"))["verified"]["orphan_keys"] == 0
    for suffix in (".pdf", ".docx") if known == 1 else ():
        text = everything_in(document.to_bytes(suffix))
        assert len(text) > 1000 and not [who for who in one["patient"] if f"{who} " in text]


def test_two_months_joined_by_the_pseudonym_keep_k(tmp_path: Path) -> None:
    from kanopy._table.datasets import path as bundled

    quasi = ["age", "sex", "race", "marital-status", "education"]
    adult = pl.read_parquet(bundled("adult.parquet")).head(4000).with_row_index("patient")
    query = """
        SELECT coalesce(sum(n), 0) FROM (
            SELECT count(*) AS n FROM one a JOIN two b USING (patient)
            WHERE NOT (a.age = '*' AND a.sex = '*') AND NOT (b.age = '*' AND b.sex = '*')
            GROUP BY a.age, a.sex, a.race, a."marital-status", a.education, b.age, b.sex, b.race, b."marital-status",
                     b.education)
        WHERE n < 5"""
    counted = {}
    for ledger in (False, True):
        for month, seed in (("one", 1), ("two", 2)):
            job = kanopy.Job(quasi=quasi, pseudonymize="patient", k=5, suppress="2%")
            table = adult.sample(fraction=0.85, seed=seed).select("patient", *quasi)
            files = Files(str(tmp_path / f"{month}.csv"))
            if ledger:
                publish_over_time(table, job, files, tmp_path / "ledger", KEY)
            else:
                kanopy.anonymize(table, job.replaced(algorithm="mondrian", suppress=0), key=KEY).write(
                    tmp_path / f"{month}.csv"
                )
        counted[ledger] = rare(query, one=tmp_path / "one.csv", two=tmp_path / "two.csv")
    assert counted[True] == 0 and counted[False] > 500


@pytest.mark.parametrize("known", [0, 1, 2])
def test_the_oracle_tables_keep_k_for_what_is_known(known: int, tmp_path: Path) -> None:
    folder = needs_shared("oracles", "together", "rel_person.csv").parent
    plain = {
        "unit": "person.person_id", "k": 5, "known": known, "suppress": "5%",
        "tables": {
            "person": {"data": str(folder / "rel_person.csv"),
                       "columns": {"year_of_birth": ROLE, "gender": ROLE, "zip": ROLE}},
            "visit": {"data": str(folder / "rel_visit.csv"), "columns": {
                "visit_type": ROLE, "visit_start": {"role": "insensitive"}, "visit_end": {"role": "insensitive"}}},
            "condition": {"data": str(folder / "rel_condition.csv"), "columns": {"icd10": ROLE}},
        },
        "links": [
            {"from": "visit.person_id", "to": "person.person_id"},
            {"from": "condition.person_id", "to": "person.person_id"},
            {"from": "condition.visit_id", "to": "visit.visit_id"},
        ],
        "shift-dates": {"days": 182, "columns": ["visit.visit_start", "visit.visit_end"]},
    }  # fmt: skip
    found = anonymize_tables(plain)
    assert found.clock.total()["total"] < 300 and found.solution.optimal
    found.write(tmp_path / "out")
    place = {name: tmp_path / "out" / f"{name}.csv" for name in ("person", "visit", "condition")}
    for child, key, parent in (
        ("visit", "person_id", "person"),
        ("condition", "person_id", "person"),
        ("condition", "visit_id", "visit"),
    ):
        assert rare(f"SELECT count(*) FROM {child} ANTI JOIN {parent} USING ({key})", **place) == 0
    events = " UNION ALL ".join(
        f"SELECT person_id AS patient, '{name} ' || {column} AS icd FROM {name}"
        for name, column in (("visit", "visit_type"), ("condition", "icd10"))
    )
    people = "SELECT person_id AS patient, year_of_birth AS age, zip, gender AS sex FROM person"
    query = JOINED.format(known=KNOWN[known]).replace(
        "WITH person", f"WITH people AS ({people}), visits AS ({events}), person", 1
    )
    assert rare(query, **place) == 0
    # Differences of dates within a person stay as they were.
    before = pl.read_csv(folder / "rel_visit.csv", try_parse_dates=True)
    after = pl.read_csv(place["visit"], try_parse_dates=True)
    spans = lambda frame: sorted((frame["visit_end"] - frame["visit_start"]).dt.total_days().to_list())  # noqa: E731
    rows = {name: frame.height for name, frame in found.frames.items()}
    kept = before.filter(pl.Series(found.kept["visit"]))
    assert spans(kept) == spans(after) and rows["visit"] == after.height
    assert (kept["visit_start"].sort() != after["visit_start"].sort()).any()
