"""What `init` finds out about how values are written, and what the job makes of it in a release."""

from __future__ import annotations

import random

import pandas as pd
import polars as pl
import pytest

import kanopy
from kanopy import Job, anonymize
from kanopy._errors import DataError, JobError

TIMES = 6


def test_codes_for_missing_values_are_missing_in_the_release() -> None:
    table = {
        "age": [31, 34, -9, 52] * TIMES,
        "kids": ["0", "99", "2", "1"] * TIMES,
        "sex": ["f", "m", "?", "f"] * TIMES,
    }
    guessed = kanopy.guess_job(table)
    assert guessed.job.missing_tokens == ("?",) and guessed.job.column_tokens == {"age": ("-9",), "kids": ("99",)}
    assert [column["missing"] for column in guessed.columns] == [["-9"], ["99"], ["?"]]
    published = anonymize(table, guessed.job.replaced(k=2)).data
    assert published["age"][2] is None and published["kids"][1] is None and published["sex"][2] is None
    assert "-9" not in str(published) and "99" not in str(published)


def test_a_code_near_true_values_is_a_value() -> None:
    table = {"age": [97, 98, 99, 45, 30] * TIMES, "status": ["none", "some", "many", "none", "NA"] * TIMES}
    guessed = kanopy.guess_job(table)
    assert guessed.job.column_tokens == {} and guessed.job.missing_tokens == ("NA",)


def test_missing_tokens_are_missing_in_sensitive_columns_and_their_models() -> None:
    table = {"age": [30] * 4, "ill": ["flu", "NA", "", "?"]}
    job = Job(quasi="age", k=2, sensitive="ill", missing_tokens=["NA", "?"])
    # An empty text is published as it is; models take it for missing.
    assert anonymize(table, job).data["ill"] == ["flu", None, "", None]
    with pytest.raises(JobError, match="the column has only 2"):
        anonymize(table, job.replaced(models="l-distinct:ill:3"))


def test_rows_of_units_are_no_records() -> None:
    table = {"age": ["years", *["31", "34", "38", "52"] * TIMES], "weight": ["kg", *["60", "71", "82", "55"] * TIMES]}
    job = kanopy.guess_job(table).job
    assert job.skip_rows == 1
    result = anonymize(table, job)
    assert result.rows == 4 * TIMES and "years" not in result.data["age"]
    frame = pd.DataFrame(table, index=pd.Index([f"r{i}" for i in range(4 * TIMES + 1)]))
    assert "r0" not in anonymize(frame, job.replaced(rest="publish")).data.index
    with pytest.raises(DataError, match="skip-rows is 99"):
        anonymize(table, job.replaced(skip_rows=99))


def test_dates_are_read_as_they_are_written() -> None:
    day = ["27/08/2014", "01/09/2014", "13/11/2015", "05/01/2016"] * TIMES
    american = ["8/27/2014 11:29", "9/1/2014 8:05", "11/13/2015 23:59", "1/5/2016 0:10"] * TIMES
    guessed = kanopy.guess_job({"admitted": day, "Timestamp": american, "age": ["31", "35", "41", "52"] * TIMES})
    assert guessed.job.hierarchies["admitted"] == {"method": "dates", "format": "%d/%m/%Y"}
    assert guessed.job.hierarchies["Timestamp"] == {"method": "dates", "format": "%m/%d/%Y %H:%M"}
    published = anonymize({"admitted": day, "Timestamp": american, "age": ["31"] * len(day)}, guessed.job.replaced(k=2))
    assert published.smallest_class >= 2
    unclear = kanopy.guess_job({"admitted": ["01/02/2014", "03/04/2015"] * 20})
    assert "check the format" in unclear.text
    odd = kanopy.guess_job({"admitted": [*(f"{i % 28 + 1:02d}.{i % 12 + 1:02d}.2014" for i in range(90)), "soon"]})
    assert odd.job.column_tokens == {"admitted": ("soon",)}
    born = kanopy.guess_job({"birth_date": [f"{i % 28 + 1:02d}/03/{i % 90 + 10:02d}" for i in range(90)]})
    assert born.job.hierarchies["birth_date"] == {"method": "suppress"}


def test_decimal_commas_and_thousands() -> None:
    heights = ["171,5", "168,0", "180,25", "175,5"] * TIMES
    table = {"Größe": heights, "weight": ["1,060", "2,071", "1,082", "2,055"] * TIMES}
    job = kanopy.guess_job(table).job
    assert job.decimals["Größe"] == ","
    made = anonymize(table, job.replaced(k=12, suppress=0, algorithm="mondrian"))
    assert all("," not in label or label[0] in "[(" for label in made.data["Größe"])
    read = Job(quasi="pay", k=2, decimals={"pay": "."}, hierarchies={"pay": {"method": "widths", "widths": [1000]}})
    pay = {"pay": ["$1,200", "1 300.50", "2,400", "$2,950.00"]}
    assert anonymize(pay, read).data["pay"] == ["[1000, 1999.9]"] * 2 + ["[2000, 2999.9]"] * 2
    with pytest.raises(DataError, match=r"not numbers with a decimal point: 'many'. Declare them missing"):
        anonymize({"pay": ["1", "2", "many"]}, read)
    with pytest.raises(JobError, match="decimals of 'pay'"):
        Job(quasi="pay", decimals={"pay": ";"})


def test_bands_are_ordered_and_their_unions_are_bands() -> None:
    pay = ["$20,000 - $29,999", "under $10,000", "$10,000 - $19,999", "$30,000+"] * TIMES
    job = kanopy.guess_job({"age": ["65+", "18-64", "under 18", "18-64"] * TIMES, "pay": pay}).job
    assert job.hierarchies["age"]["order"] == ["under 18", "18-64", "65+"]
    hierarchy = kanopy.build_hierarchy(pay)
    assert hierarchy.labels_at(1) == ("≤ $19,999", "≥ $20,000")
    assert set(anonymize({"pay": pay}, Job(quasi="pay", k=12)).data["pay"]) == {"≤ $19,999", "≥ $20,000"}


def test_codes_with_leading_zeros_stay_text() -> None:
    table = {"zip": ["01307", "01309", "02140", "99425"] * TIMES, "school code": ["007", "012", "110", "007"] * TIMES}
    job = kanopy.guess_job(table).job
    assert job.hierarchies["zip"] == {"classification": "us-zip3", "fit": True}
    assert job.hierarchies["school code"] == {"method": "redact", "joining": True}
    zips = {"zip": job.hierarchies["school code"]}
    made = anonymize({"zip": table["zip"]}, Job(quasi="zip", k=2 * TIMES, suppress=0.5, hierarchies=zips))
    assert set(made.data["zip"]) == {"0130*", "*"}


def test_a_wide_table_gets_an_algorithm_that_ends() -> None:
    table = pl.DataFrame({f"age{i}": [str((7 * row * (i + 3)) % 60) for row in range(200)] for i in range(16)})
    job = kanopy.guess_job(table).job
    assert len(job.quasi) == 16 and job.algorithm == "best"
    visits = pl.concat([table, table]).with_columns(
        patient_id=pl.Series([str(row % 200) for row in range(400)]),
        yob=pl.Series([1900 + row % 200 for row in range(400)]),
    )
    people = kanopy.guess_job(visits).job
    assert (people.unit, people.algorithm) == (("patient_id",), "best")


def test_columns_that_tie_the_rows_of_a_person_stay_out_where_that_keeps_more() -> None:
    draw = random.Random(7)
    people = [
        (int(draw.paretovariate(1.2) * 18), draw.choice([8, 9, 10, 12, 12, 12, 16, 18]), draw.randrange(150, 190),
         *(draw.randrange(12) for _ in range(3)))
        for _ in range(60)
    ]  # fmt: skip
    visits = [(number, *person) for number, person in enumerate(people) for _ in range(4)]
    names = ("patient_id", "age", "education", "height", "albumin_base", "glucose_base", "score_base")
    table = dict(zip(names, map(list, zip(*visits, strict=True)), strict=True))
    table["income"] = [1000 + draw.randrange(7) for _ in visits]
    guessed = kanopy.guess_job(table)
    assert guessed.job.unit == ("patient_id",) and guessed.job.algorithm == "best"
    assert guessed.job.withheld and {"score_base", "income"} <= set(guessed.job.sensitive)
    assert "links the rows of a person" in guessed.text
    assert anonymize(table, guessed.job).smallest_class >= 5


def test_what_is_left_to_decide_is_said() -> None:
    guessed = kanopy.guess_job({"measure": [100 + i // 2 for i in range(40)]})
    assert "No quasi-identifier was found" in guessed.decide[0] and "1 column is undecided" in guessed.decide[1]
    assert kanopy.guess_job({"age": [31, 35] * 20}).decide == []


def test_settings_of_reading_survive_a_file() -> None:
    job = Job(quasi=["a", "b"], skip_rows=2, column_tokens={"a": ["99", "x, y"]}, decimals={"b": ","})
    assert Job.from_toml(job.to_toml()) == job == Job.from_dict(job.to_dict())
    with pytest.raises(DataError, match="no column 'c'"):
        anonymize({"a": [1, 2]}, Job(quasi="a", k=2, column_tokens={"c": ["9"]}))


def test_dates_without_a_century_are_named_among_what_is_to_be_decided() -> None:
    guessed = kanopy.guess_job({"geb": [f"{1 + i % 28:02}.{1 + i % 12:02}.{30 + i % 60}" for i in range(60)]})
    assert any("without a century" in line and "'geb'" in line for line in guessed.decide)


def test_counts_with_an_open_end_stand_in_their_order() -> None:
    guessed = kanopy.guess_job({"kinder": ["3+", "0", "1", "2", "k. A."] * 12})
    assert guessed.job.hierarchies["kinder"]["order"] == ["0", "1", "2", "3+"]
