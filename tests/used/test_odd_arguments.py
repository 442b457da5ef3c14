"""What nobody should give is refused in words, and what is asked of a job changes neither it nor its settings."""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kanopy
from kanopy._errors import KanopyError
from kanopy._job.protection import changed_columns, renamed_identifiers
from kanopy._job.usage import require_used
from kanopy.release.out_of_core import key_columns
from kanopy.release.treated.pieces import whole_table
from kanopy.release.treated.treating import must_have_key
from kanopy.treatments.registry import make_treatment
from tests.fuzz.jobs import Case
from tests.fuzz.judging import key_of
from tests.fuzz.people import any_case
from tests.used.argument_cases import PLAIN
from tests.used.test_arguments import FUNCTIONS, call, own_folder  # noqa: F401

ODD = (
    None, 5, -1, 1.5, True, "", "no such", b"", (), (None,), {}, object(), kanopy.MaskJob(text="animal"),
    kanopy.Job("age"),
)  # fmt: skip
GIVEN = ("hierarchies", "protect", "weights", "separators", "parameters")
FEW = (None, 3.2, object(), {"a": 1})
WATCHED = {"job", "engine", "ks", "limits", "models", "algorithms", "quasi", "queries", "guesses", "seed", "settings"}
"""Arguments that have several forms: they get all odd values, the others a few."""
BELOW = ("extend.Name", "extend.Optional")
"""Functions that stand below the check of arguments."""


@pytest.mark.parametrize("name", [name for name in FUNCTIONS if name not in BELOW])
def test_odd_values_are_used_or_refused_in_words(name: str, tmp_path: Path) -> None:
    for argument, parameter in inspect.signature(FUNCTIONS[name]).parameters.items():
        every = "." not in name and argument in WATCHED
        for number, odd in enumerate(() if parameter.kind is parameter.VAR_KEYWORD else ODD if every else FEW):
            answer = call(tmp_path / f"{argument}{number}", name, {**PLAIN[name](), argument: odd})
            assert not isinstance(answer, KanopyError) or len(str(answer)) > 20, f"{argument}={odd!r}"


def test_odd_tables_and_paths_are_refused_by_methods(tmp_path: Path) -> None:
    job = kanopy.Job(quasi="age", k=2)
    result = kanopy.anonymize({"age": [31, 34, 52, 55]}, job)
    for odd in (5, 3.2, object(), b"out.csv", {"a": 1}):
        for name in ("table", "like", "report", "mapping", "manifest", "solution"):
            with pytest.raises(KanopyError, match=f"{name} must be a path"):
                result.write(**{"table": tmp_path / "out.csv", name: odd})
        for question in (result.apply, kanopy.Job.read, kanopy.Job.from_toml):
            with pytest.raises(KanopyError):
                question(odd)
        for field in ("hierarchies", "protect", "population", "quasi", "models", "parameters", "unit"):
            with contextlib.suppress(KanopyError):
                kanopy.Job(**{"quasi": "age", field: odd})
    assert not list(tmp_path.iterdir())


def contents(thing: Any) -> Any:
    """What can be compared of a setting."""
    if isinstance(thing, kanopy.Hierarchy):
        return list(thing.rows())
    if isinstance(thing, Mapping):
        return {key: contents(value) for key, value in thing.items()}
    return thing.tolist() if isinstance(thing, np.ndarray) else repr(thing)


def questions(case: Case, settings: dict[str, Any]) -> list[Callable[[kanopy.Job], Any]]:
    """What is asked of a job by commands and functions, one after the other."""
    return [
        key_columns, changed_columns, renamed_identifiers, whole_table, must_have_key, require_used,
        lambda job: (job.to_toml(), job.explicit(), job.roles, job.replaced(**settings)),
        lambda job: kanopy.check(case.table, job=job, k=2),
        lambda job: kanopy.anonymize(case.table, job, population=case.people, key=key_of(case)),
    ]  # fmt: skip


@pytest.mark.parametrize("first", range(0, 36, 12))
def test_questions_change_no_job(first: int) -> None:
    for seed in range(first, first + 12):
        case = any_case(seed)
        job, before = case.job, contents(vars(case.job))
        settings = {name: getattr(job, name) for name in GIVEN if hasattr(job, name)}
        given = contents(settings)
        for question in questions(case, settings):
            with contextlib.suppress(KanopyError):
                question(job)
            assert contents(vars(job)) == before, f"job {seed} was changed"
        assert contents(settings) == given, f"what job {seed} was given was changed"


def test_a_treatment_takes_k_and_unit_of_the_job_it_is_in() -> None:
    given = {"pay": make_treatment({"method": "top-code", "top_share": 0.1}), "born": make_treatment("shift-dates")}
    job = kanopy.Job(quasi="age", k=5, unit="who", protect=given)
    assert job.protect["pay"].size == 5 and job.protect["born"].unit == ("who",)
    other = job.replaced(k=10, unit="name").replaced(suppress=0.1)
    assert other.protect["pay"].size == 10 and other.protect["born"].unit == ("name",)
    assert given["pay"].size is None and given["born"].unit == ()
