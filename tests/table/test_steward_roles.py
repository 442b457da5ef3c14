"""Guessed roles beside those that a steward would accept, on made-up tables of the shape of 84 others.

`steward_roles.json` holds, per table and column, the roles that are right (i: identifier, q: quasi-identifier,
s: sensitive, n: insensitive), judged before any guess was seen, and the shape of the values (`made_up.py`). Names and
shapes are those of public data sets and of registers in nine languages; no value is.
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import polars as pl
import pytest

from kanopy._job.guess import guess_job
from kanopy._table.guessing.guess import guess_roles
from kanopy.release.run import anonymize
from tests.table.made_up import made_up

TABLES = json.loads((Path(__file__).parent / "steward_roles.json").read_text(encoding="utf-8"))
LETTERS = {
    "identifier": "i",
    "quasi-identifier": "q",
    "sensitive": "s",
    "insensitive": "n",
    "undecided": "?",
    "unit": "i",
    "withheld": "x",
}


def table(name: str) -> pl.DataFrame:
    return pl.DataFrame([made_up(column, shape, at) for at, (column, (_, shape)) in enumerate(TABLES[name].items())])


def test_hardly_a_guess_is_unsafe() -> None:
    worth: Counter[str] = Counter()
    for name, columns in TABLES.items():
        for guess in guess_roles(table(name)):
            role, right = LETTERS.get(guess.role, "?"), columns[guess.column][0]
            assert guess.reason and guess.certainty in ("sure", "likely", "unsure")
            if role == "x" and {"i", "n"} & set(right) and guess.kind:
                role = right[0]  # a weight or a household: stays out, whatever a steward called it
            if role == "?" or role in right:
                worth["undecided" if role == "?" else "right"] += 1
            elif role in "ix":
                worth["dropped"] += 1
            else:
                # What others may know or what points at people, published as it is.
                published = role == "n" or (role == "s" and not {"s", "n"} & set(right))
                worth["unsafe" if published else "wrong"] += 1
    columns_judged = sum(worth.values())
    assert columns_judged > 1500
    assert worth["unsafe"] <= 0.02 * columns_judged, worth
    assert worth["dropped"] <= 0.03 * columns_judged, worth
    assert worth["undecided"] <= 0.15 * columns_judged, worth
    assert worth["right"] >= 0.88 * columns_judged, worth


@pytest.mark.parametrize(
    "name", ["German patients", "Norwegian and Danish", "Court file", "Users", "Appointments", "openintro smoking"]
)
def test_a_written_job_runs_and_keeps_home_what_points_at_people(name: str) -> None:
    data = table(name)
    guessed = guess_job(data)
    job = guessed.job.replaced(algorithm="mondrian")
    published = anonymize(data, job).data
    assert not {column for column, (right, _) in TABLES[name].items() if right == "i"} & set(published.columns)
    assert set(job.quasi) <= set(published.columns)
