"""Releases that tie the rows of one person together: what suppressed rows must lose, and how rare whole traces are."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from kanopy._core.units import ALL
from kanopy._errors import VerificationFailed
from kanopy._job.job import Job
from kanopy.release.published_links import PublishedLink, published_link

if TYPE_CHECKING:
    import polars as pl

    from kanopy._arrays import Mask
    from kanopy.masking.job import MaskJob
    from kanopy.masking.result import Masked
    from kanopy.release.prepare import Prepared
    from kanopy.search.solution import Solution
    from kanopy.verify.verify import Verification


def link_of(prepared: Prepared, job: Job | MaskJob) -> PublishedLink | None:
    """What ties the rows of one person together in this release; `None` where nothing does."""
    if not isinstance(job, Job) or prepared.units is None or prepared.lists is not None:
        return None
    return published_link(prepared.frame, job, prepared.roles)


def untied(
    prepared: Prepared,
    job: Job | MaskJob,
    found: Solution | Masked,
    published: pl.DataFrame,
    link: PublishedLink | None,
) -> pl.DataFrame:
    """What is about to leave, without the values that tie suppressed rows of one person together, where all rows may
    be known: how many rows a suppressed person has would tell who it is."""
    from kanopy._table.column import emptied
    from kanopy.masking.result import Masked

    units = prepared.units
    if link is None or units is None or units.known != ALL or isinstance(found, Masked):
        return published
    gone = found.recoding.group_of_row < 0
    if not gone.any() or getattr(job, "suppressed_rows", "") == "drop":
        return published
    return published.with_columns(emptied(published[name], gone) for name in link.columns)


def with_traces(
    verification: Verification,
    prepared: Prepared,
    job: Job | MaskJob,
    found: Solution | Masked,
    published: pl.DataFrame,
    kept: Mask | None,
    link: PublishedLink | None,
) -> tuple[Verification, tuple[str, ...]]:
    """The verification with the number of people whose whole trace fewer than k share, counted by what is published;
    and what to say of it. Suppressed rows show nothing and are left out."""
    import polars as pl

    from kanopy.masking.result import Masked
    from kanopy.release.opinion import whose_rows
    from kanopy.verify.people import rare_traces

    units = prepared.units
    if link is None or units is None or isinstance(found, Masked):
        return verification, ()
    assert isinstance(job, Job)
    shown = found.recoding.group_of_row >= 0
    shown = shown if kept is None else shown[np.flatnonzero(kept)]
    rows = pl.Series(shown)
    if link.columns:
        key = published.select(pl.struct(link.columns)).to_series()
        key = key.set(published.select(pl.all_horizontal(pl.col(link.columns).is_null())).to_series(), None)
    else:
        whose = whose_rows(prepared, job, kept)
        assert whose is not None
        key = whose.units
    people, rare = rare_traces(published.filter(rows), prepared.names, key.filter(rows), job.k)
    whole = not link.columns or set(job.unit) <= set(link.columns)
    if units.known == ALL and whole and rare:
        raise VerificationFailed(
            f"The whole trace of {rare:,} {units.called} is shared by fewer than k = {job.k:,}, counted by what ties "
            "their rows together. Nothing was written. This is an error in Kanopy: please report it."
        )
    verification = replace(verification, tied_people=people, rare_traces=rare)
    if not rare:
        return verification, ()
    return verification, (
        f"The whole trace of {rare:,} of {people:,} {units.called} is shared by fewer than k = {job.k:,}: "
        f"{link.reason}, so all rows of one can be put together. The job protects {units.known:,} known "
        f"row{'' if units.known == 1 else 's'} (known = {units.known}). To protect all of them: known = 'all'.",
    )
