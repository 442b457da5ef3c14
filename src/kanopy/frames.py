"""`.kanopy` on data frames: after `import kanopy.frames`, pandas and Polars frames have methods of their own.

The methods are functions of `kanopy` with the frame as their table. pandas need not be installed.
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import polars as pl

if TYPE_CHECKING:
    from kanopy._job.coercion import JobSource
    from kanopy._job.guess import GuessedJob
    from kanopy.release.result import Result
    from kanopy.study.check import Check
    from kanopy.study.risk_study import RiskAssessment

__all__ = ["FrameMethods"]

NAME = "kanopy"


class FrameMethods:
    """What `frame.kanopy` offers.

    >>> import polars as pl
    >>> import kanopy.frames
    >>> people = pl.DataFrame({"age": [31, 34, 45, 47], "ill": ["a", "b", "a", "b"]})
    >>> people.kanopy.check(quasi="age").k
    1
    >>> result = people.kanopy.anonymize(quasi="age", sensitive="ill", k=2)
    >>> result.data.kanopy.check(quasi="age").k
    2
    """

    def __init__(self, frame: Any) -> None:
        self._frame = frame

    def check(self, job: JobSource | None = None, **settings: Any) -> Check:
        """Count the classes of the frame and ask models: `kanopy.check`."""
        from kanopy.study.check import check

        return check(self._frame, job, **settings)

    def risk(self, job: JobSource | None = None, **settings: Any) -> RiskAssessment:
        """Assess the risk of the frame: `kanopy.assess_risk`."""
        from kanopy.study.risk_study import assess_risk

        return assess_risk(self._frame, job, **settings)

    def guess_job(self, **settings: Any) -> GuessedJob:
        """A job for the frame, to be read before it is relied on: `kanopy.guess_job`."""
        from kanopy._job.guess import guess_job

        return guess_job(self._frame, **settings)

    def anonymize(self, job: JobSource | None = None, **settings: Any) -> Result:
        """Make a release of the frame under a job, or under arguments of `kanopy.Job`, which take the place of its own.

        `data` of the result is a frame of the same library.
        """
        from kanopy._job.coercion import as_job
        from kanopy._job.job import Job
        from kanopy.release.run import anonymize

        if job is None:
            return anonymize(self._frame, Job(**settings))
        given = as_job(job)
        return anonymize(self._frame, given.replaced(**settings) if settings else given)


for register in (pl.api.register_dataframe_namespace, pl.api.register_lazyframe_namespace):
    register(NAME)(FrameMethods)
if find_spec("pandas") is not None:
    from pandas.api.extensions import register_dataframe_accessor

    register_dataframe_accessor(NAME)(FrameMethods)
