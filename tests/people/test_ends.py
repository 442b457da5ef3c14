"""No interval ends at a value that fewer than k people have, however many rows they have."""

from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest

import kanopy
from kanopy import Job
from kanopy._core.units import Units
from kanopy._job.inputs import resolve_hierarchies
from kanopy._table.column import people_of_values
from kanopy.study.exposed_endpoints import exposed_endpoints, label_ends
from kanopy.study.risk_study import assess_risk


def dense(patients: int = 60, each: int = 20) -> pl.DataFrame:
    """Every age from 40 to 47 has very many rows; 42 and 43, where a fine grid cuts, are ages of one patient each."""
    draw = np.random.default_rng(3)
    age = draw.choice([40, 41, 44, 45, 46, 47], patients)
    age[:2] = 42, 43
    return pl.DataFrame(
        {"patient": np.repeat([f"P{number}" for number in range(patients)], each), "age": np.repeat(age, each)}
    )


def having(table: pl.DataFrame, end: str) -> int:
    return table.filter(pl.col("age").cast(pl.String) == end)["patient"].n_unique()


def ends_in_hierarchies(table: pl.DataFrame, job: Job) -> set[str]:
    tree = resolve_hierarchies(table, job)["age"]
    return {end for level in range(1, tree.height) for label in tree.labels_at(level) for end in label_ends(label)}


@pytest.mark.parametrize("algorithm", ["optimal", "best"])
@pytest.mark.parametrize("method", ["auto", "round"])
def test_no_interval_ends_at_the_value_of_one_person_with_many_rows(algorithm: str, method: str) -> None:
    table = dense()
    how = {"age": {"method": "round", "k": 5, "parts": 64} if method == "round" else {"method": "auto"}}
    job = Job(quasi=["age"], k=5, unit="patient", hierarchies=how, algorithm=algorithm)
    rare = {"42", "43"}
    assert ends_in_hierarchies(table, job.replaced(unit=(), identifiers=["patient"])) & rare, "twenty rows are many"
    assert not ends_in_hierarchies(table, job) & rare
    as_text = table.with_columns(pl.col("age").cast(pl.String))
    assert not ends_in_hierarchies(as_text, job) & rare
    released = kanopy.anonymize(table, job)
    shown = {end for label in released.data["age"].cast(pl.String).unique() for end in label_ends(label)}
    assert all(having(table, end) >= 5 or end not in rare for end in shown)


def test_ends_are_counted_in_people() -> None:
    before = pl.DataFrame({"age": [17] * 9 + [48] * 9 + [23]})
    after = pl.DataFrame({"age": ["[17, 48]"] * 19})
    units = Units(np.array([0] * 9 + list(range(1, 10)) + [10], np.int32))
    assert not exposed_endpoints(before, after, ["age"], 5)
    assert exposed_endpoints(before, after, ["age"], 5, units=units)[0].ends == ("17",)
    assert people_of_values(before["age"], units.of_row) == {"17": 1, "23": 1, "48": 9}


def test_the_release_and_the_risk_say_that_ends_are_values_of_few_people() -> None:
    table = dense()
    own = {"age": {"method": "cuts", "edges": [43, 46]}}
    released = kanopy.anonymize(table, Job(quasi=["age"], k=5, unit="patient", hierarchies=own, min_levels={"age": 1}))
    assert any("end at values that fewer than 5 people have" in note for note in released.notes)
    found = assess_risk(
        table, quasi=["age"], released=released.data.with_columns(table["patient"]), largest_subset=0, threshold=0.2,
        unit=["patient"],
    )  # fmt: skip
    assert json.loads(json.dumps(found.to_dict()))["exposed_ends"] == [{"column": "age", "ends": 2, "fewer_than": 5}]
    assert not assess_risk(table, quasi=["age"], released=released.data, largest_subset=0, threshold=0.2).exposed
