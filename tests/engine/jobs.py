"""Twenty jobs and a small table with everything that makes engines differ: missing values, units, types, odd names."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import polars as pl

import kanopy
from kanopy import Job
from kanopy.engine.contract import Engine, RecodePlan
from kanopy.release.out_of_core import DistinctRowSteps
from kanopy.release.run import make_release

ROWS = 480


@functools.cache
def people() -> pl.DataFrame:
    """Visits of people, with missing values, texts with quotes and commas, dates, truth values and numbers."""
    draw = np.random.default_rng(7)
    person = np.sort(draw.integers(0, 200, ROWS))
    age = draw.integers(18, 80, 200)[person]
    city = np.array(["Lyon", "Nice, South", 'The "Hague"', "Bonn", "Köln", ""])[draw.integers(0, 6, 200)[person]]
    sex = np.array(["f", "m", None], dtype=object)[draw.choice(3, 200, p=[0.5, 0.45, 0.05])[person]]
    ill = np.array(["flu", "cold", "burn", "gout"])[draw.integers(0, 4, ROWS)]
    return pl.DataFrame(
        {
            "patient": pl.Series([None if number % 50 == 3 else f"p{number}" for number in person]),
            "age": pl.Series(age, dtype=pl.Int64),
            "sex": pl.Series(sex.tolist(), dtype=pl.String),
            "city": pl.Series(city.tolist(), dtype=pl.String),
            "height": pl.Series(np.round(draw.normal(170, 9, ROWS)).tolist(), dtype=pl.Float64),
            "ill": pl.Series(ill.tolist(), dtype=pl.String),
            "pay": pl.Series(draw.integers(10, 90, ROWS), dtype=pl.Int64),
            "note": pl.Series([f'n{i},"x"' if i % 7 else None for i in range(ROWS)], dtype=pl.String),
            "weight": pl.Series(draw.integers(1, 9, ROWS) * 10.0),
        }
    )


ROUND = {"method": "widths", "widths": [5, 10, 30]}
AGE: dict[str, Any] = {"hierarchies": {"age": ROUND}}
"""Given cuts: to fit them takes most of the time of a job, and four of the jobs show that all engines fit the same."""
JOBS: dict[str, dict[str, Any]] = {
    "levels": {"quasi": ["age", "sex"], "k": 5},
    "suppressing": {"quasi": ["age", "sex", "city"], "k": 4, "suppress": 0.05, "insensitive": ["note", "pay"]},
    "dropping": {
        "quasi": ["age", "sex"], "k": 9, "suppress": 0.1, "suppressed_rows": "drop", "insensitive": ["note"], **AGE,
    },
    "given cuts": {"quasi": ["age", "sex"], "k": 3, "suppress": 0.02, **AGE},
    "as it is": {"quasi": ["sex", "city"], "k": 2, "rest": "publish", "identifiers": ["patient", "note"]},
    "missing suppressed": {"quasi": ["sex", "city"], "k": 3, "missing": "suppress", "suppress": 0.01},
    "tokens": {"quasi": ["sex", "city"], "k": 2, "missing_tokens": ["Bonn"], "insensitive": ["ill"]},
    "another metric": {"quasi": ["age", "sex"], "k": 5, "metric": "discernibility", "suppress": 0.05},
    "level limits": {"quasi": ["age", "sex"], "k": 5, "min_levels": {"age": 1}, **AGE},
    "datafly": {"quasi": ["age", "city"], "k": 5, "algorithm": "datafly", "suppress": 0.05, **AGE},
    "diverse": {"quasi": ["age", "sex"], "k": 3, "models": ["l-distinct:ill:3"], "suppress": 0.05, **AGE},
    "close": {"quasi": ["age"], "k": 3, "models": ["t-equal:ill:0.4"], "suppress": 0.1, **AGE},
    "sensitive emptied": {"quasi": ["age", "city"], "k": 4, "sensitive": ["ill"], "suppress": 0.005, **AGE},
    "people": {"quasi": ["age", "sex"], "k": 4, "unit": ["patient"], "suppress": 0.05},
    "two rows known": {"quasi": ["sex"], "k": 3, "unit": ["patient"], "known": 2, "suppress": 0.3},
    "diverse people": {
        "quasi": ["age"], "k": 3, "unit": ["patient"], "models": ["l-distinct:ill:2"], "suppress": 0.1, **AGE,
    },
    "mondrian": {"quasi": ["age", "height"], "k": 5, "algorithm": "mondrian", "insensitive": ["pay"]},
    "best": {"quasi": ["age", "sex", "city"], "k": 4, "local": True, "parameters": {"budget_seconds": 0.2}},
    "subtree": {
        "quasi": ["age", "city"], "k": 4, "algorithm": "top-down-specialization", "parameters": {"target": "ill"},
    },
    "weights of a sample": {
        "quasi": ["age", "sex"], "k": 2, "sampling_weight": "weight", "models": ["individual-risk:0.05"],
        "suppress": 0.2, **AGE,
    },
}  # fmt: skip


@functools.cache
def job(name: str) -> Job:
    """One of the jobs."""
    return Job(**JOBS[name])


@functools.cache
def in_memory(name: str, texts: bool = False) -> kanopy.Result | str:
    """The release of a job by the engine in memory, or why there is none; `texts` as if read from delimited text."""
    table = people().with_columns(pl.all().cast(pl.String)) if texts else people()
    table = table.with_columns(pl.col("city").replace({"": None})) if texts else table
    try:
        return kanopy.anonymize(table, job(name))
    except kanopy.KanopyError as error:
        return str(error)


def as_texts(frame: pl.DataFrame) -> list[tuple[Any, ...]]:
    """Rows in one order, every value as text: what must be equal whoever published it."""
    plain = frame.select(pl.all().cast(pl.String))
    return plain.sort(plain.columns, nulls_last=True).rows()


def planned(engine: Engine, job: Job) -> RecodePlan:
    """What would be published for every distinct row, verified; nothing is written."""
    steps = DistinctRowSteps(engine, job, writes=False)
    make_release(steps)
    assert steps.plan is not None
    return steps.plan
