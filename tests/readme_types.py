"""README's ways to write things, for the type checkers: `make lint` reads this file, nothing runs it."""

from __future__ import annotations

from pathlib import Path

import kanopy
from kanopy.masking.job import MaskJob


def readme() -> tuple[tuple[str, ...], int, float, str, object]:
    """The job of the README, with every type that may be given."""
    job = kanopy.Job(
        quasi=["age", "sex", "race", "marital-status", "education"],
        k=5,
        suppress="2%",
        hierarchies=kanopy.datasets.adult_hierarchies(),
    )
    result = kanopy.anonymize(kanopy.datasets.adult(), job)
    return job.quasi, job.k, job.suppress, job.algorithm, result.levels


def wider() -> list[kanopy.Job]:
    """Lists, texts, tables and files where a job takes them."""
    return [
        kanopy.Job(quasi="age, sex", models="t-equal:income:0.2", local=True),
        kanopy.Job(quasi=("age",), models=["l-distinct:ill:2", {"name": "k-map", "k": 5}], population=Path("all.csv")),
        kanopy.Job(quasi=["zip"], hierarchies={"zip": {"method": "redact"}}, weights={"zip": 2}, suppress=0.02),
    ]


def masking() -> MaskJob:
    """A masking by meaning."""
    return MaskJob(text=["why"], k=3, quasi="age", diversity={"ill": 2}, sensitive=["ill"])
