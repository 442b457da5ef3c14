"""Tables without a unit that have one: said, not passed over."""

from __future__ import annotations

import polars as pl

import kanopy
from kanopy import Job
from kanopy._table.datasets import adult
from kanopy._table.guessing.structure import keys_of_people
from tests.people.tables import visits

QUASI = ["age", "zip", "sex"]


def test_anonymize_warns_of_a_key_that_repeats() -> None:
    result = kanopy.anonymize(visits(), Job(quasi=QUASI, k=5, identifiers="patient"))
    warning = next(note for note in result.notes if "looks like a key of people" in note)
    assert "'patient'" in warning and "80 values in 348 rows" in warning and "--unit" in warning
    named = kanopy.anonymize(visits(), Job(quasi=QUASI, k=5, unit="patient", suppress=0.1))
    assert not any("looks like a key" in note for note in named.notes)


def test_rows_that_repeat_under_a_key_are_counted() -> None:
    table = visits().with_columns(pl.Series("day", range(348)))
    wanted = Job(quasi=QUASI, k=5, identifiers="patient")
    assert not any("copies" in note for note in kanopy.anonymize(table, wanted).notes)
    result = kanopy.anonymize(pl.concat([table, table.head(7)]), wanted)
    assert any("7 rows repeat another row with the same 'patient'" in note for note in result.notes)


def test_a_key_that_was_named_is_warned_of_though_nothing_hangs_on_it() -> None:
    table = pl.DataFrame({"subject": [*range(20)] * 3, "days": [*range(60)], "age": [30, 40, 50] * 20})
    wanted = Job(quasi="age", k=5, identifiers="subject", sensitive="days")
    warning = next(note for note in kanopy.anonymize(table, wanted).notes if "looks like a key of people" in note)
    assert "20 values in 60 rows. k counts rows, and 5 rows may all belong to one person." in warning
    assert keys_of_people(table) == [], "nobody said what it is, and nothing hangs on it"


def test_ordinary_columns_are_no_keys() -> None:
    assert keys_of_people(adult().select("age", "sex", "race", "workclass", "education", "hours-per-week")) == []
    one = visits(200, 200)
    assert keys_of_people(one) == [], "one row per patient: nothing repeats"
