"""A full-domain solution as a file, and the job that applies it to other rows."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from kanopy._errors import JobError
from kanopy._job.job import Job
from kanopy.hierarchy.hierarchy import Hierarchy

if TYPE_CHECKING:
    from kanopy.masking.job import MaskJob
    from kanopy.release.result import Result

FORMAT = "kanopy-solution"
GIVEN_LEVELS = "given-levels"
"""What stands for the algorithm where the levels were given."""
KEEP_INSIDE = "For internal use: this file contains values of the original table (in its hierarchies)."


def check_reusable(job: Job | MaskJob) -> None:
    """Refuse an algorithm whose releases say too little about other rows, before any work is done.

    >>> check_reusable(Job(quasi=["age"], algorithm="optimal"))
    >>> check_reusable(Job(quasi=["age"], algorithm="mondrian"))
    Traceback (most recent call last):
    kanopy.extend.JobError: The release of 'mondrian' does not have one level per column...
    """
    if job.recoding != "full-domain":
        raise JobError(
            f"The release of {job.algorithm!r} does not have one level per column, so it cannot be applied to other "
            "rows. Only full-domain releases can be applied again."
        )


def solution_json(result: Result) -> str:
    """The solution as JSON: the job, the hierarchies as they were (for internal use: with original values), and the
    level of each quasi-identifier."""
    from kanopy.hierarchy.files.json_format import hierarchy_json

    check_reusable(result.job)
    assert isinstance(result.job, Job)
    # As they were before encoding added a leaf for missing values, which it adds again where one is needed.
    hierarchies = result.hierarchies.items()
    return json.dumps(
        {
            "format": FORMAT,
            "version": 1,
            "keep": KEEP_INSIDE,
            "job": result.job.explicit().to_dict(),
            "levels": result.levels,
            "hierarchies": {name: json.loads(hierarchy_json(h)) for name, h in hierarchies},
        },
        ensure_ascii=False,
        allow_nan=False,
    )


def reusable_job(result: Result) -> Job:
    """The job that publishes other rows at the levels of a release."""
    check_reusable(result.job)
    assert isinstance(result.job, Job) and result.levels is not None
    return fixed_job(result.job, result.levels, result.hierarchies)


def fixed_job(job: Job, levels: Mapping[str, int], hierarchies: Mapping[str, Hierarchy]) -> Job:
    """A job that publishes every quasi-identifier at a given level, and nothing that is not safe."""
    return job.replaced(
        hierarchies={**job.hierarchies, **hierarchies},
        min_levels=dict(levels),
        max_levels=dict(levels),
        algorithm="optimal",
        parameters={},
        unknown="error",
    )


def levels_given(job: Job | MaskJob) -> bool:
    """Whether a job says the level of every quasi-identifier, as one that applies a solution does: nothing is searched.

    >>> levels_given(Job(quasi=["age"], min_levels={"age": 1}, max_levels={"age": 1}))
    True
    """
    if not isinstance(job, Job) or not job.quasi:
        return False
    return all(name in job.min_levels and job.min_levels[name] == job.max_levels.get(name) for name in job.quasi)


def read_solution(path: str | Path) -> Job:
    """The job that applies a saved solution to other rows."""
    from kanopy.hierarchy.files.json_format import parse_json

    path = Path(path)
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise JobError(
            f"There is no solution file {str(path)!r}. `kanopy anonymize … --solution FILE` writes one."
        ) from None
    except OSError as error:
        raise JobError(f"The solution file {str(path)!r} cannot be read: {error.strerror}.") from None
    except (ValueError, RecursionError):
        content = None
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise JobError(
            f"{str(path)!r} is not a solution that Kanopy wrote (anonymize --solution FILE), or it is damaged."
        )
    try:
        hierarchies = {
            name: parse_json(json.dumps(h), f"{path}, {name}", name=name) for name, h in content["hierarchies"].items()
        }
        plain = content["job"]
        for name, settings in plain["columns"].items():
            if name in hierarchies:
                settings.pop("hierarchy", None)
        return fixed_job(Job.from_dict(plain), content["levels"], hierarchies)
    except (KeyError, TypeError, AttributeError) as error:
        raise JobError(f"The solution file {str(path)!r} is not complete ({error!r}).") from None
