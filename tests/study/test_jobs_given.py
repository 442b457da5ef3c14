"""Jobs in every form in which functions take them, and tables read as their job says."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import kanopy
from kanopy._errors import JobError

PEOPLE = {"age": [31, 34, 38, 52, 57, 59], "sex": list("fffmmm")}
JOB = kanopy.Job(quasi=["age", "sex"], k=3, hierarchies={"age": {"method": "widths", "widths": [10, 20]}})
QUESTIONS: dict[str, Any] = {
    "a map": lambda job: kanopy.explore(PEOPLE, job, ks=[2, 3]).points,
    "a comparison": lambda job: [each.losses for each in kanopy.compare(PEOPLE, job, algorithms="datafly").entries],
    "a bound": lambda job: kanopy.lower_bound(PEOPLE, job).value,
}


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_job_may_be_a_file_or_a_dictionary(question: str, tmp_path: Path) -> None:
    ask, file = QUESTIONS[question], tmp_path / "job.toml"
    file.write_text(JOB.to_toml(), encoding="utf-8")
    assert ask(JOB) == ask(file) == ask(str(file)) == ask(JOB.to_dict())


@pytest.mark.parametrize("question", QUESTIONS)
def test_what_is_no_job_of_hierarchies_is_refused_in_words(question: str) -> None:
    with pytest.raises(JobError, match="needs a job that generalizes, and a MaskJob replaces answers by meaning"):
        QUESTIONS[question](kanopy.MaskJob(text="sex", k=2))
    with pytest.raises(JobError, match=r"not a list\. Name quasi-identifiers with quasi=…"):
        QUESTIONS[question](["age"])
    with pytest.raises(JobError, match="has no 'quasi': columns are listed under 'columns'"):
        QUESTIONS[question]({"quasi": ["age"], "k": 2})


def test_rows_that_are_no_records_are_skipped_once() -> None:
    """Points of several k read the table several times where hierarchies are chosen for each k."""
    ages = [str(20 + i // 2) for i in range(40)]
    table = {"age": ["years", *ages], "sex": ["f or m", *(["f", "m"] * 20)]}
    clean = {"age": [int(age) for age in ages], "sex": table["sex"][1:]}
    job = kanopy.Job(quasi=["age", "sex"], skip_rows=1, decimals={"age": "."})
    found = kanopy.explore(table, job, ks=[2, 5, 10])
    assert found.rows == 40
    assert found.points == kanopy.explore(clean, job.replaced(skip_rows=0, decimals={}), ks=[2, 5, 10]).points
    names = ["datafly", "fusion"]
    compared = kanopy.compare(table, kanopy.Job(quasi=["age", "sex"], k=4, skip_rows=1), algorithms=names)
    assert compared.rows == 40 and len(compared.solved) == 2
