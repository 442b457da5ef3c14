"""What is wrong with keys, links and ledgers is said in words, with counts and without values; nothing is written."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import kanopy
from kanopy._errors import DataError, JobError, NoSolution
from kanopy.linked.history.ledger import forget, locked, read_ledger
from kanopy.linked.history.over_time import publish_over_time
from kanopy.linked.run import anonymize_tables
from kanopy.release.writing import Files

KEY = b"a key of sixteen bytes"
ROLE = {"role": "quasi-identifier"}


def tables(**changes: Any) -> dict[str, Any]:
    """A job of people, visits and diagnoses that has a release; `changes` are further or other settings."""
    people = pl.DataFrame({"id": [f"p{n}" for n in range(8)], "sex": list("ffffmmmm")})
    visits = pl.DataFrame(
        {"visit": [f"v{n}" for n in range(16)], "person": [f"p{n % 8}" for n in range(16)], "ward": ["a", "b"] * 8}
    )
    ills = pl.DataFrame({"visit": [f"v{n}" for n in range(16)], "code": ["x"] * 16})
    plain: dict[str, Any] = {
        "unit": "people.id", "k": 2, "known": 1,
        "tables": {
            "people": {"data": people, "columns": {"sex": ROLE}},
            "visits": {"data": visits, "columns": {"ward": ROLE}},
            "ills": {"data": ills, "columns": {"code": ROLE}},
        },
        "links": [{"from": "visits.person", "to": "people.id"}, {"from": "ills.visit", "to": "visits.visit"}],
    }  # fmt: skip
    return plain | changes


def with_frame(name: str, frame: pl.DataFrame, **changes: Any) -> dict[str, Any]:
    plain = tables(**changes)
    plain["tables"] = {**plain["tables"], name: {**plain["tables"][name], "data": frame}}
    return plain


def frame_of(name: str) -> pl.DataFrame:
    found = tables()["tables"][name]["data"]
    assert isinstance(found, pl.DataFrame)
    return found


def test_a_chain_of_three_tables_has_a_release() -> None:
    found = anonymize_tables(tables())
    assert {name: frame.height for name, frame in found.frames.items()} == {"people": 8, "visits": 16, "ills": 16}
    assert found.verification.orphans == 0 and found.frames["people"].columns == ["id", "sex"]
    assert not set(found.frames["visits"]["person"].cast(pl.String)) & set(frame_of("visits")["person"])


def test_orphan_rows_are_counted_and_never_shown() -> None:
    visits = frame_of("visits").with_columns(
        person=pl.when(pl.col("visit") == "v3").then(pl.lit("SECRET")).otherwise("person")
    )
    with pytest.raises(DataError, match="1 of 16 rows of 'visits' belong to nobody") as error:
        anonymize_tables(with_frame("visits", visits))
    assert "SECRET" not in str(error.value)
    found = anonymize_tables(with_frame("visits", visits, orphans="drop"))
    assert found.frames["visits"].height == 15 and found.frames["ills"].height == 15
    assert any("left out" in note for note in found.notes)


def test_missing_foreign_keys_are_orphans() -> None:
    visits = frame_of("visits").with_columns(person=pl.when(pl.col("visit") == "v3").then(None).otherwise("person"))
    with pytest.raises(DataError, match="1 of 16 rows of 'visits' belong to nobody"):
        anonymize_tables(with_frame("visits", visits))


@pytest.mark.parametrize(("key", "message"), [(None, "have no value"), ("p1", "repeat the key")])
def test_null_and_repeated_primary_keys_are_refused(key: str | None, message: str) -> None:
    people = frame_of("people").with_columns(
        id=pl.when(pl.col("id") == "p0").then(pl.lit(key, pl.String)).otherwise("id")
    )
    with pytest.raises(DataError, match=message):
        anonymize_tables(with_frame("people", people))


def test_cycles_of_links_are_refused() -> None:
    links = [*tables()["links"], {"from": "visits.visit", "to": "ills.visit"}]
    with pytest.raises(JobError, match="cycle"):
        anonymize_tables(tables(links=links))


def test_an_event_of_two_people_is_refused() -> None:
    ills = frame_of("ills").with_columns(person=pl.lit("p0"))
    links = [*tables()["links"], {"from": "ills.person", "to": "people.id"}]
    with pytest.raises(DataError, match="14 rows of 'ills' belong to two people"):
        anonymize_tables(with_frame("ills", ills, links=links))


def test_keys_of_different_types_are_refused() -> None:
    visits = frame_of("visits").with_columns(person=pl.int_range(16) % 8)
    with pytest.raises(DataError, match="keys of different types"):
        anonymize_tables(with_frame("visits", visits))


def test_keys_with_leading_zeros_are_pointed_at() -> None:
    people = frame_of("people").with_columns(id=pl.Series([str(n) for n in range(1, 9)]))
    visits = frame_of("visits").with_columns(person=pl.Series([f"0{n % 8 + 1}" for n in range(16)]))
    plain = with_frame("people", people)
    plain["tables"]["visits"]["data"] = visits
    with pytest.raises(DataError, match="Without leading zeros and spaces 16 of them would match"):
        anonymize_tables(plain)


def test_a_child_table_without_rows_is_published_without_rows(tmp_path: Path) -> None:
    found = anonymize_tables(with_frame("ills", frame_of("ills").clear()))
    assert found.frames["ills"].height == 0 and found.frames["visits"].height == 16
    assert any("ills: no row can be published" in note for note in found.notes)
    found.write(tmp_path / "out")
    assert (tmp_path / "out" / "ills.csv").read_text().splitlines() == ["visit,code"]


def test_a_unit_that_occurs_in_events_only_is_protected_without_a_table_of_people() -> None:
    plain = tables(unit="visits.person", links=tables()["links"][1:])
    del plain["tables"]["people"]
    found = anonymize_tables(plain)
    assert found.verification.people == 8 and "The person together with any 1 row" in found.promise
    assert found.frames["visits"]["person"].n_unique() == 8


def test_columns_of_the_person_repeated_in_events_must_agree() -> None:
    sexes = dict(zip(frame_of("people")["id"], frame_of("people")["sex"], strict=True))
    visits = frame_of("visits").with_columns(sex=pl.col("person").replace_strict(sexes))
    plain = with_frame("visits", visits)
    plain["tables"]["visits"]["columns"] = {"ward": ROLE, "sex": ROLE}
    found = anonymize_tables(plain)
    joined = found.frames["visits"].join(found.frames["people"], left_on="person", right_on="id")
    assert (joined["sex"].cast(pl.String) == joined["sex_right"].cast(pl.String)).all()
    plain["tables"]["visits"]["data"] = visits.with_columns(sex=pl.lit("f"))
    with pytest.raises(DataError, match=r"visits.sex repeats people.sex and differs from it in 8 of 16 rows"):
        anonymize_tables(plain)


def test_one_domain_has_one_label_in_all_tables() -> None:
    people = frame_of("people").with_columns(zip=pl.Series(["10", "11", "12", "13", "20", "20", "21", "21"]))
    visits = frame_of("visits").with_columns(zip=pl.Series(["10", "21"] * 8))
    tree = kanopy.Hierarchy.from_rows([[z, z[0] + "*", "*"] for z in ("10", "11", "12", "13", "20", "21")])
    plain = with_frame("visits", visits, domains=[{"columns": ["people.zip", "visits.zip"]}], suppress="20%")
    plain["tables"]["people"] = {"data": people, "columns": {"zip": {**ROLE, "hierarchy": tree}}}
    plain["tables"]["visits"]["columns"] = {"zip": {**ROLE, "hierarchy": tree}}
    found = anonymize_tables(plain)
    assert found.levels["people"]["zip"] == found.levels["visits"]["zip"]
    del plain["domains"]
    with pytest.raises(DataError, match=r"repeats people.zip and differs"):
        anonymize_tables(plain)


def test_columns_of_events_that_undo_the_generalization_of_the_person_are_not_published() -> None:
    people = pl.DataFrame({"id": range(400), "born": [1940 + n % 60 for n in range(400)]})
    visits = pl.DataFrame({"person": [n % 400 for n in range(800)], "ward": ["a", "b"] * 400})
    visits = visits.with_columns(age=2020 - 1940 - pl.col("person") % 60)
    plain = {
        "unit": "people.id", "k": 12, "known": 1, "links": [{"from": "visits.person", "to": "people.id"}],
        "tables": {
            "people": {"data": people, "columns": {"born": ROLE}},
            "visits": {"data": visits, "columns": {"ward": ROLE, "age": {"role": "insensitive"}}},
        },
    }  # fmt: skip
    found = anonymize_tables(plain)
    assert found.levels["people"]["born"] > 0 and found.frames["visits"].columns == ["person", "ward"]
    assert any("'age'" in note and note.startswith("visits:") for note in found.notes)


def test_an_existing_database_is_not_replaced_and_a_failure_leaves_no_folder(tmp_path: Path) -> None:
    duckdb = pytest.importorskip("duckdb")
    found = anonymize_tables(tables())
    found.write(tmp_path / "out.duckdb")
    with duckdb.connect(str(tmp_path / "out.duckdb"), read_only=True) as base:
        assert base.execute("SELECT count(*) FROM visits JOIN people ON person = id").fetchone() == (16,)
    found.write(tmp_path / "out.sqlite")
    with pytest.raises(DataError, match="exists, and may contain other tables"):
        found.write(tmp_path / "out.duckdb")
    with pytest.raises(DataError):
        found.write(tmp_path / "out", report=tmp_path / "nowhere" / "r.html")
    assert not (tmp_path / "out").exists()
    with pytest.raises(JobError, match="cannot be the name of a table"):
        anonymize_tables(tables(tables={"../people": {"data": frame_of("people")}}, unit="../people.id", links=[]))


def test_tables_that_lead_to_nobody_and_keys_with_roles_are_refused() -> None:
    with pytest.raises(JobError, match="Nothing links 'ills' to the unit"):
        anonymize_tables(tables(links=tables()["links"][:1]))
    plain = tables()
    plain["tables"]["visits"]["columns"] = {"person": {"role": "insensitive"}}
    with pytest.raises(JobError, match=r"visits.person is a key"):
        anonymize_tables(plain)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"k": 1}, "k must be"), ({"known": -1}, "known must be"), ({"keys": "plain"}, "keys must be"),
        ({"unit": "people"}, "does not name a column"), ({"unit": "nobody.id"}, "names the table 'nobody'"),
        ({"algorithm": "best"}, "does not protect several linked tables"), ({"metric": "aecs"}, "metric must be"),
        ({"links": [{"from": "visits.person"}]}, "A link has from"), ({"known": 9}, "known is 9"),
        ({"domains": [{"columns": ["people.sex"]}]}, "at least two"), ({"hierarchies": {}}, "unknown setting"),
        ({"shift-dates": {"days": 0, "columns": []}}, "days of"),
    ],
)  # fmt: skip
def test_wrong_settings_are_told(change: dict[str, Any], message: str) -> None:
    with pytest.raises(JobError, match=message):
        anonymize_tables(tables(**change))


def test_too_much_suppression_is_no_release() -> None:
    visits = frame_of("visits").with_columns(ward=pl.Series([str(n) for n in range(16)]))
    plain = with_frame("visits", visits)
    plain["tables"]["visits"]["columns"] = {"ward": {**ROLE, "max-level": 0}}
    with pytest.raises(NoSolution):
        anonymize_tables(plain)


# ---- ledgers ------------------------------------------------------------------------------------------------


def release(folder: Path, table: pl.DataFrame, *, key: bytes = KEY, unit: str = "who", **more: Any) -> Any:
    job = kanopy.Job(quasi="sex", unit=unit, k=2, **more)
    return publish_over_time(table, job, Files(str(folder / "out.csv")), folder / "ledger", key)[0]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    release(tmp_path, people_table())
    return tmp_path


def people_table() -> pl.DataFrame:
    return pl.DataFrame({"who": list("abcdefgh"), "sex": list("ffffmmmm"), "other": list("ijklmnop")})


def test_a_ledger_of_another_key_is_refused(folder: Path) -> None:
    with pytest.raises(DataError, match="another key"):
        release(folder, people_table(), key=b"another key of sixteen bytes")


def test_a_ledger_of_another_table_is_refused(folder: Path) -> None:
    with pytest.raises(DataError, match="None of the 8 people of the table is in the ledger"):
        release(folder, people_table().with_columns(who=pl.col("who") + "2"))
    with pytest.raises(DataError, match="another unit"):
        release(folder, people_table(), unit="other")


def test_an_altered_or_truncated_ledger_is_refused_and_left_as_it_is(folder: Path) -> None:
    release(folder, people_table())
    listed = folder / "ledger" / "releases.jsonl"
    whole = listed.read_bytes()
    for content in (
        whole.splitlines(keepends=True)[0],
        whole.replace(b'"k":2', b'"k":3', 1),
        whole[:-9],
        b"not json\n",
    ):
        listed.write_bytes(content)
        with pytest.raises(DataError, match="not complete"):
            release(folder, people_table())
        assert listed.read_bytes() == content
    listed.write_bytes(whole)
    read_ledger(folder / "ledger", KEY)
    people = folder / "ledger" / "0001.parquet"
    people.write_bytes(people.read_bytes()[:-1])
    with pytest.raises(DataError, match=r"0001.parquet is missing or changed"):
        read_ledger(folder / "ledger")


def test_two_runs_do_not_write_one_ledger_at_once(folder: Path) -> None:
    with locked(folder / "ledger"), pytest.raises(DataError, match="Another run is writing"):
        release(folder, people_table())
    release(folder, people_table())


def test_a_ledger_holds_nothing_in_clear_text(folder: Path) -> None:
    table = people_table().with_columns(
        who=pl.Series([f"Name{n}Name" for n in range(8)]), sex=pl.Series(["Female"] * 4 + ["Male.."] * 4)
    )
    place = folder / "other"
    place.mkdir()
    release(place, table)
    content = b"".join(file.read_bytes() for file in (place / "ledger").iterdir())
    frame = pl.read_parquet(place / "ledger" / "0001.parquet")
    assert b"Name" not in content and "Female" not in str(frame.to_dicts())
    assert frame.columns == ["unit", "class", "history"] and frame.height == 8
    if os.name == "posix":
        assert (place / "ledger" / "0001.parquet").stat().st_mode & 0o077 == 0


def test_nothing_is_recorded_of_a_release_that_fails(folder: Path) -> None:
    before = {file.name: file.read_bytes() for file in (folder / "ledger").iterdir()}
    with pytest.raises(DataError):
        job = kanopy.Job(quasi="sex", unit="who", k=2)
        publish_over_time(people_table(), job, Files(str(folder / "missing" / "out.csv")), folder / "ledger", KEY)
    assert before == {file.name: file.read_bytes() for file in (folder / "ledger").iterdir()}


def test_forgotten_people_are_left_out_of_later_releases(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from kanopy.cli.linked.ledger import forget as command

    (folder / "key.txt").write_bytes(KEY)
    command.__wrapped__(folder / "ledger", ["a"], folder / "key.txt")
    assert "1 person forgotten" in capsys.readouterr().out
    assert pl.read_parquet(folder / "ledger" / "0001.parquet").height == 7
    found = release(folder, people_table())
    assert found.rows == 7 and any("left out" in note for note in found.notes)
    with pytest.raises(JobError, match="in the ledger"):
        forget(folder / "ledger", ["nobody"], KEY)


def test_several_rows_per_person_need_known_all(tmp_path: Path) -> None:
    twice = pl.concat([people_table(), people_table()])
    rows = kanopy.Job(quasi="sex", pseudonymize="who", k=2)
    with pytest.raises(JobError, match="8 of 16 rows belong to a person who has another row"):
        publish_over_time(twice, rows, Files(str(tmp_path / "out.csv")), tmp_path / "ledger", KEY)
    with pytest.raises(JobError, match="known = all"):
        release(tmp_path, twice, known=1)
    assert release(tmp_path, twice, known="all").rows == 16
