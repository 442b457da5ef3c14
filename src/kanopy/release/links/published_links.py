"""What ties the rows of one person together in a release: whoever sees one of them then sees all.

A pseudonym of the unit, columns that are published unchanged, constant within a person and nearly unique between
people, and rows that are adjacent. Where such a link is published, an attacker who knows one row knows the whole
trace of a person, so `known` is "all" unless the job states a weaker promise.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kanopy._errors import some
from kanopy._table.grouping import tied_columns

if TYPE_CHECKING:
    import polars as pl

    from kanopy._job.job import Job


@dataclass(frozen=True)
class PublishedLink:
    """Columns whose published values tell which rows belong to one person; none where the order of the rows does."""

    columns: tuple[str, ...]
    reason: str


def published_link(frame: pl.DataFrame, job: Job, roles: Mapping[str, str] | None = None) -> PublishedLink | None:
    """What of a release of this table would tie the rows of a unit together; `None` if nothing does.

    `roles` are those of the columns as they leave; without them, those that the job gives.

    >>> import polars as pl
    >>> from kanopy._job.job import Job
    >>> visits = pl.DataFrame({"who": [1, 1, 2, 2, 3], "first": [7, 7, 8, 8, 9], "age": [30, 31, 40, 41, 50]})
    >>> job = Job(quasi="age", unit="who", insensitive="first", k=2)
    >>> published_link(visits, job).reason
    "'first' is published as it is, has one value per person, and fewer than k people share most of its values"
    >>> published_link(visits, Job(quasi="age", unit="who", k=2))
    """
    if not job.unit or any(name not in frame.columns for name in job.unit):
        return None
    # A treated column of the unit tells rows of one person as a pseudonym does, whatever the treatment.
    hashed = [name for name in dict.fromkeys((*job.pseudonymize, *job.protect)) if name in frame.columns]
    if whole := [name for name in job.unit if name in hashed]:
        pseudonyms = "a pseudonym" if len(whole) == 1 else "pseudonyms"
        return PublishedLink(
            tuple(whole), f"{some(whole)} {'is' if len(whole) == 1 else 'are'} published as {pseudonyms}"
        )
    said_roles = dict(job.roles if roles is None else roles)
    if roles is None and job.rest == "publish":
        said_roles = {name: said_roles.get(name, "insensitive") for name in frame.columns}
    plain = [name for name in frame.columns if said_roles.get(name) in ("sensitive", "insensitive")]
    tied = tied_columns(frame, job.unit, [*hashed, *plain], job.k)
    if tied:
        what, are = ("has", "is") if len(tied) == 1 else ("have", "are")
        how = "published as a pseudonym" if set(tied) <= set(hashed) else "published as it is"
        how = how if len(tied) == 1 else "published"
        its = "its values" if len(tied) == 1 else "their combinations of values"
        return PublishedLink(
            tuple(tied),
            f"{some(tied)} {are} {how}, {what} one value per person, and fewer than k people share most of {its}",
        )
    from kanopy.study.order_disclosure import stand_together

    if job.shuffle is False and stand_together(frame, job.unit):
        return PublishedLink((), "rows of one person are adjacent (shuffle = false)")
    return None
