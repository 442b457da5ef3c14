"""The two plans of `docs/how-to/treatments.md` on public tables that they were not built on: risk falls, means stay."""

from __future__ import annotations

import gzip

import polars as pl
import pytest

import kanopy
from kanopy import Job
from tests.shared_input import needs_shared

KEY = b"0123456789abcdef0123456789abcdefXYZ!"
SURVEYS = {
    "p_Chile": (["statusquo", "age"], ["region"], "population"),
    "s_fair": (["age", "yrs_married"], ["religious"], "affairs"),
    "w_wage1": (["wage", "exper"], ["female"], "tenure"),
    "w_card": (["wage", "exper"], ["smsa"], "weight"),
    "c_nhefs": (["sbp", "dbp"], ["sex"], "wt71"),
}
"""Columns grouped together, their strata, and the column whose tail is coded."""
EXTRACTS = {"maven_patients": ("Id", "BIRTHDATE", "%d-%m-%Y", ["LAT", "LON"])}
"""The person, a date, how it is written, and numbers grouped together."""


def table(name: str) -> pl.DataFrame:
    content = gzip.decompress(needs_shared("data", "tables", f"{name}.csv.gz").read_bytes()).decode("latin-1")
    sign = ";" if content.split("\n", 1)[0].count(";") > 3 else ","
    read = pl.read_csv(content.encode(), separator=sign, null_values=["NA", ""], infer_schema_length=10_000)
    return read.filter(~pl.all_horizontal(pl.all().is_null()))


@pytest.mark.slow
@pytest.mark.parametrize("name", SURVEYS)
def test_the_plan_of_the_survey_holds_on_other_surveys(name):
    together, within, tail = SURVEYS[name]
    rows = table(name).select([*together, *within, tail]).drop_nulls([*together, *within, tail])
    job = Job(insensitive=within, allow_dependent=within, protect={
        together[0]: {"method": "microaggregate", "together": together[1:], "within": within},
        tail: {"method": "top-code", "top_share": "5%", "publish": "mean"},
    })  # fmt: skip
    result = kanopy.anonymize(rows, job)
    before = (rows.group_by(together).len()["len"] == 1).mean()  # rows that stand alone with these two values
    study = result.report.to_dict()["studies"][0]
    assert (
        rows.group_by(together).len()["len"].min() < 3 <= result.frame.group_by(*within, *together).len()["len"].min()
    )
    assert study["risk"]["linked"] <= max(1 / 3, 0.6 * before), "groups of three: a guess is right for a third"
    assert study["utility"]["il1s_per_value"] < 0.25
    assert all(abs(gap) < 1e-9 for gap in study["utility"]["means"].values())
    assert len(result.treated.checks) == 2


@pytest.mark.slow
@pytest.mark.parametrize("name", EXTRACTS)
def test_the_plan_of_the_hospital_holds_on_other_extracts(name):
    person, date, layout, numbers = EXTRACTS[name]
    rows = table(name).select([person, date, *numbers]).drop_nulls([person, date, *numbers]).unique(person)
    shift = {"method": "shift-dates", "unit": person} | ({} if layout is None else {"format": layout})
    job = Job(protect={
        person: {"method": "hash", "recipient": "university"}, date: shift,
        numbers[0]: {"method": "microaggregate", "together": numbers[1:]},
    })  # fmt: skip
    result = kanopy.anonymize(rows, job, key=KEY)
    published = result.frame
    assert not set(published[person]) & set(rows[person].cast(pl.String))
    assert not (published[date].cast(pl.String) == rows[date].cast(pl.String)).any()
    assert published.group_by(numbers).len()["len"].min() >= 3
    study = next(each for each in result.report.to_dict()["studies"] if "il1s_per_value" in (each.get("utility") or {}))
    assert study["risk"]["linked"] <= 0.5 and study["utility"]["il1s_per_value"] < 0.25
