"""Columns of dates, times, months, quarters, weeks, scales and codes get levels that are true of every value."""

from __future__ import annotations

import datetime as dt
import random

import polars as pl
import pytest

import kanopy
from kanopy._errors import HierarchyError
from kanopy._job.guess import guess_job
from kanopy.hierarchy.builders.dates import Dates
from kanopy.hierarchy.builders.grouping import Order
from kanopy.hierarchy.builders.registry import build_hierarchy
from kanopy.hierarchy.hierarchy import Hierarchy
from kanopy.verify.labels import false_labels

DAYS = [dt.date(2019, 1, 1) + dt.timedelta(days=11 * i) for i in range(160)]
MOMENTS = [dt.datetime.combine(day, dt.time(i % 24, 7 * i % 60)) for i, day in enumerate(DAYS)]
WRITTEN = {
    "zone": ([f"{m.isoformat()}{'Z' if m.hour % 2 else '+02:00'}" for m in MOMENTS], "2019-01"),
    "moment": ([m.isoformat(sep=" ") for m in MOMENTS], "2019-01"),
    "american": ([f"{m:%m/%d/%Y %I:%M:%S %p}" for m in MOMENTS], "2019-01"),
    "month": ([f"{day:%Y-%m}" for day in DAYS], "2019-Q1"),
    "month in words": ([f"{day:%b %Y}" for day in DAYS], "2019-Q1"),
    "quarter": ([f"{day.year}Q{(day.month + 2) // 3}" for day in DAYS], "2019"),
    "week": ([f"{day:%G-W%V}" for day in DAYS], "ISO 2019"),
    "before 1900": ([day.replace(year=day.year - 200).isoformat() for day in DAYS], "1819-01"),
    "after 2100": ([day.replace(year=day.year + 201).isoformat() for day in DAYS if day.month != 2], "2220-01"),
    "placeholder": ([*(day.isoformat() for day in DAYS), *["9999-12-31"] * 9], "2019-01"),
}


def levels(hierarchy: Hierarchy) -> list[tuple[str, ...]]:
    return [hierarchy.labels_at(level) for level in range(1, hierarchy.height + 1)]


@pytest.mark.parametrize("form", WRITTEN)
def test_dates_are_generalized_by_the_calendar_however_they_are_written(form: str) -> None:
    texts, first = WRITTEN[form]
    found = build_hierarchy(texts)
    assert first in found.labels_at(1)
    above = {row[0]: row for row in found.rows()}
    for level in range(1, found.height):
        published = pl.Series("when", [found.generalize(text, level) for text in texts])
        assert false_labels(pl.Series("when", texts), published, above.__getitem__) is None


def test_a_week_lies_in_its_iso_year_and_in_no_month() -> None:
    with pytest.raises(HierarchyError, match="holds weeks, such as 2019-W01, and not each lies in one of 'month'"):
        Dates(("month", "year")).build(WRITTEN["week"][0])
    with pytest.raises(HierarchyError, match="holds quarters"):
        Dates(("month",)).build(["2024Q1", "2024Q2"])
    assert Dates(("5 years",)).build(["2024Q1", "2019Q2"]).labels_at(1) == ("2015–2019", "2020–2024")


@pytest.mark.parametrize("form", ["%H:%M", "%I:%M %p"])
def test_times_of_the_day_are_cut_at_hours_and_half_hours(form: str) -> None:
    found = build_hierarchy([f"{moment:{form}}" for moment in MOMENTS])
    assert all(
        label == "*" or label.rstrip(")").endswith((":00", ":30")) for labels in levels(found) for label in labels
    )
    assert found.low is not None


def test_two_digit_years_and_mixed_dates_are_no_dates() -> None:
    assert build_hierarchy(["01.02.24", "03.04.19", "07.08.51"] * 5).low is None
    mixed = build_hierarchy([*(day.isoformat() for day in DAYS), *["unknown"] * 9, *["pending"] * 7])
    assert "unknown" in mixed.labels_at(1) and "other" in mixed.labels_at(1)


def test_codes_keep_leading_zeros_before_a_point() -> None:
    found = build_hierarchy(["01.10", "01.12", "62.01", "86.21"] * 5)
    assert found.low is None and "01.1*" in found.labels_at(1)


@pytest.mark.parametrize(
    ("header", "values", "first"),
    [
        ("weekday", ["Friday", "Monday", "Sunday", "Tuesday", "Thursday"], "Monday–Tuesday"),
        ("how_often", ["Never", "Always", "Sometimes", "Rarely", "Often"], "Never–Rarely"),
        ("q1", ["Agree", "Strongly disagree", "Neutral", "Disagree"], "Strongly disagree–Disagree"),
        ("birth_month", ["März", "Januar", "Dezember", "Februar"], "Januar–Februar"),
        ("age_group", ["65+", "18-24", "25-64", "under 18"], "≤ 24"),
    ],
)
def test_words_of_a_scale_are_joined_in_their_order(header: str, values: list[str], first: str) -> None:
    draw = random.Random(3)
    rows = [draw.choice(values) for _ in range(200)]
    assert first in Order().build(rows).labels_at(1)
    assert build_hierarchy(rows).height > 1 and "other" not in build_hierarchy(rows).labels
    table = pl.DataFrame({header: rows, "sex": [draw.choice("fm") for _ in rows]})
    guessed = guess_job(table)
    if header in guessed.job.quasi:
        official = {"weekday": "weekdays", "birth_month": "months"}  # weekend, quarters: groups that all know
        proposed = guessed.job.hierarchies[header]
        assert proposed.get("classification") == official.get(header)
        assert header in official or proposed["method"] == "order"
        assert kanopy.anonymize(table, guessed.job).data.height


def test_ages_end_at_multiples_of_five_where_little_is_lost() -> None:
    draw = random.Random(5)
    ages = [min(95, max(18, round(draw.gauss(45, 16)))) for _ in range(1500)]
    table = pl.DataFrame({"Alter": ages, "sex": [draw.choice("fm") for _ in ages]})
    found = kanopy.anonymize(table, kanopy.Job(quasi=["Alter", "sex"], k=60)).data["Alter"].unique().to_list()
    starts = [int(label.replace("≥ ", "").partition("–")[0]) for label in found if label[0] != "≤" and label != "*"]
    assert starts and all(start % 5 == 0 for start in starts)
