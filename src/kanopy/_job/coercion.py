"""A job in any of the forms in which functions take one: itself, a job file, or the plain data of one."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from kanopy._errors import JobError
from kanopy._job.job import Job
from kanopy._job.job_file import SETTINGS
from kanopy._parameters import parameters_of

if TYPE_CHECKING:
    from kanopy.masking.job import MaskJob

    JobSource: TypeAlias = Job | MaskJob | str | os.PathLike[str] | Mapping[str, Any]
    """What says what to publish: a `Job`, a `MaskJob`, the path of a job file, or its content as a dictionary."""


def as_job(source: JobSource) -> Job | MaskJob:
    """The job itself, whatever form it was given in.

    >>> as_job({"k": 3, "columns": {"age": {"role": "quasi-identifier"}}}).quasi
    ('age',)
    >>> as_job(["age", "sex"])
    Traceback (most recent call last):
    kanopy.extend.JobError: A job is a Job, a MaskJob, the path of a job file or a dictionary, not a list. Name ...
    """
    from kanopy.masking.job import MaskJob

    if isinstance(source, (Job, MaskJob)):
        return source
    if isinstance(source, (str, os.PathLike)):
        return Job.read(Path(source))
    if isinstance(source, Mapping):
        arguments = [name for name in source if name in parameters_of(Job) and name not in (*SETTINGS, "columns")]
        if arguments:
            raise JobError(
                f"A dictionary is read like a job file, which has no {arguments[0]!r}: columns are listed under "
                "'columns', each with its role. For arguments of Job, write Job(**dictionary)."
            )
        return Job.from_dict(source)
    raise JobError(
        f"A job is a Job, a MaskJob, the path of a job file or a dictionary, not a {type(source).__name__}. Name "
        "quasi-identifiers with quasi=…."
    )


def generalizing_job(source: JobSource, what: str) -> Job:
    """The job for something that only generalization has; one for masking is refused, `what` says what has no use.

    >>> from kanopy import MaskJob
    >>> generalizing_job(MaskJob(text="why"), "A bound")
    Traceback (most recent call last):
    kanopy.extend.JobError: A bound needs a job that generalizes, and a MaskJob replaces answers by meaning. ...
    """
    job = as_job(source)
    if isinstance(job, Job):
        return job
    raise JobError(f"{what} needs a job that generalizes, and a MaskJob replaces answers by meaning. Give a Job.")


def listed(value: Any, what: str) -> list[Any]:
    """The elements of a list, or the one that was given without a list; none at all are refused.

    >>> listed("optimal", "algorithm"), listed((2, 3), "k")
    (['optimal'], [2, 3])
    """
    alone = isinstance(value, (str, Mapping)) or not isinstance(value, Iterable)
    elements = [value] if alone else list(value)
    if not elements or value is None:
        raise JobError(f"Name at least one {what}, not {value!r}.")
    return elements
