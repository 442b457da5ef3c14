"""Sampling before a release: a secret chooses which rows, or people, the release is about."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import polars as pl

    from kanopy._arrays import Longs, Mask
    from kanopy._table.frames import Restore


def drawn_sample(
    frame: pl.DataFrame, restore: Restore, job: Any, key: bytes | None = None
) -> tuple[pl.DataFrame, Restore, tuple[str, ...]]:
    """The rows that a job's sample leaves, in their order; the way back; and what is to be said.

    Where the job has a unit, people are drawn with all their rows. With a key the same table gives the same sample.

    >>> import polars as pl
    >>> from kanopy import Job
    >>> table = pl.DataFrame({"age": list(range(10))})
    >>> drawn_sample(table, lambda frame, kept=None: frame, Job(quasi="age", sample=0.3))[0].height
    3
    """
    share = getattr(job, "sample", 1.0)
    if share >= 1.0:
        return frame, restore, ()
    from kanopy._table.grouping import units_of
    from kanopy._table.roles import called
    from kanopy.treatments.base import Secrets, Table
    from kanopy.treatments.random_numbers import fingerprint, order

    secrets, rows = Secrets(key), frame.height
    # With a key, another order of the rows gives the same sample.
    first_to_last = np.arange(rows) if key is None else Table(frame, secrets).order
    seed = secrets.seed("sample", repr(share), "" if key is None else fingerprint(frame[first_to_last]))
    unit_of_row = units_of(frame, job.unit, job.missing_tokens)[0] if job.unit else np.arange(rows)
    _, begins = np.unique(unit_of_row[first_to_last], return_index=True)
    units = unit_of_row[first_to_last][np.sort(begins)]
    count = min(len(units), max(1, round(share * len(units))))
    chosen = np.flatnonzero(np.isin(unit_of_row, units[order(seed, len(units))[:count]]))

    def of_sample(frame: pl.DataFrame, published_rows: Mask | Longs | None = None) -> Any:
        return restore(frame, chosen if published_rows is None else chosen[published_rows])

    what = called(job.unit) if job.unit else "rows"
    note = (
        f"The release is about a random sample: {count:,} of {len(units):,} {what} ({share:.4g} of them), drawn before "
        "the search. Which ones depends on a secret that is written nowhere."
    )
    return frame[chosen], of_sample, (note,)
