"""Releases that tie the rows of one person together: what suppressed rows must lose, and how rare whole traces are."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from kanopy._core.units import ALL
from kanopy._errors import VerificationFailed
from kanopy._job.job import Job
from kanopy.release.links.published_links import PublishedLink, published_link

if TYPE_CHECKING:
    import polars as pl

    from kanopy.masking.job import MaskJob
    from kanopy.masking.masking_result import Masked
    from kanopy.release.prepare import Prepared
    from kanopy.release.verification import Applied, Verified
    from kanopy.search.solution import Solution


def link_of(prepared: Prepared, job: Job | MaskJob) -> PublishedLink | None:
    """What ties the rows of one person together in this release; `None` where nothing does."""
    if not isinstance(job, Job) or prepared.units is None or prepared.lists is not None:
        return None
    return published_link(prepared.frame, job, prepared.roles)


def untied(
    prepared: Prepared,
    job: Job | MaskJob,
    solution: Solution | Masked,
    published: pl.DataFrame,
    link: PublishedLink | None,
) -> pl.DataFrame:
    """What is about to leave, without the values that tie suppressed rows of one person together, where all rows may
    be known: how many rows a suppressed person has would tell who it is."""
    from kanopy._table.column import withheld_values
    from kanopy.masking.masking_result import Masked

    units = prepared.units
    if link is None or units is None or units.known != ALL or isinstance(solution, Masked):
        return published
    is_suppressed = solution.recoding.group_of_row < 0
    if not is_suppressed.any() or getattr(job, "suppressed_rows", "") == "drop":
        return published
    return published.with_columns(withheld_values(published[name], is_suppressed) for name in link.columns)


def with_traces(verified: Verified, applied: Applied) -> tuple[Verified, tuple[str, ...]]:
    """The verification with the number of people whose whole trace fewer than k share, counted by what is published;
    and what to say of it. Suppressed rows show nothing and are left out."""
    import polars as pl

    from kanopy.masking.masking_result import Masked
    from kanopy.release.verification import unit_columns
    from kanopy.verify.people import rare_traces

    prepared, job, published, is_published = applied.prepared, applied.job, applied.published, applied.kept
    link, units = link_of(prepared, job), prepared.units
    nothing = not prepared.names or isinstance(applied.solution, Masked)  # treatments alone make no classes
    if link is None or units is None or published is None or nothing:
        return verified, ()
    assert isinstance(job, Job)
    is_shown = applied.solution.recoding.group_of_row >= 0
    is_shown = is_shown if is_published is None else is_shown[np.flatnonzero(is_published)]
    rows = pl.Series(is_shown)
    if link.columns:
        key = published.select(pl.struct(link.columns)).to_series()
        key = key.set(published.select(pl.all_horizontal(pl.col(link.columns).is_null())).to_series(), None)
    else:
        owners = unit_columns(prepared, job, is_published)
        assert owners is not None
        key = owners.units
    people, rare = rare_traces(published.filter(rows), prepared.names, key.filter(rows), job.k)
    whole = not link.columns or set(job.unit) <= set(link.columns)
    if units.known == ALL and whole and rare:
        raise VerificationFailed(
            f"The whole trace of {rare:,} {units.called} is shared by fewer than k = {job.k:,}, counted by what ties "
            "their rows together. Nothing was written. This is an error in Kanopy: please report it."
        )
    verification = replace(verified.verification, tied_people=people, rare_traces=rare)
    verified = replace(verified, verification=verification)
    if not rare:
        return verified, ()
    return verified, (
        f"The whole trace of {rare:,} of {people:,} {units.called} is shared by fewer than k = {job.k:,}: "
        f"{link.reason}, so all rows of a person can be linked. The job protects {units.known:,} known "
        f"row{'' if units.known == 1 else 's'} (known = {units.known}). To protect all of them: known = 'all'.",
    )
