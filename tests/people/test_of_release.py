"""Models of the whole release where the promise counts people."""

from __future__ import annotations

import polars as pl
import pytest

import kanopy
from kanopy._errors import JobError


@pytest.mark.parametrize("algorithm", ["best", "mondrian", "k-member", "xu", "optimal"])
def test_average_risk_is_one_of_people(algorithm: str) -> None:
    """Classes were counted in rows when it was asked whether they are safe together."""
    rows = 24
    table = pl.DataFrame({"age": [(5 * i) % 23 for i in range(rows)], "name": [f"p{i // 2}" for i in range(rows)]})
    job = kanopy.Job(
        quasi=["age"], k=2, unit="name", models=["risk-average:0.2"], algorithm=algorithm,
        hierarchies={"age": {"method": "widths", "widths": [3, 6, 12]}},
        parameters={"steps": 2} if algorithm == "best" else {},
    )  # fmt: skip
    try:
        result = kanopy.anonymize(table, job)
    except JobError as refused:  # those that look at one class at a time
        assert "judges the release as a whole" in str(refused) or "counts rows" in str(refused)
        return
    people = pl.DataFrame([result.frame["age"], table["name"]]).group_by("age").agg(pl.col("name").n_unique())["name"]
    assert len(people) <= 0.2 * people.sum()
