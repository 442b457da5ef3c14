"""Sampling before a release: a secret chooses which rows, or people, the release is about.

Who is drawn depends on what rows hold, not on where they stand: every engine draws the same sample by the same key.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from kanopy._arrays import Longs, Mask

if TYPE_CHECKING:
    import polars as pl

    from kanopy._table.frames import Restore


@dataclass(eq=False)
class Draw:
    """The random sample of a job; `add` all rows of its table, piece by piece, then take the `chosen`.

    Per row 8 bytes are kept, and 8 more where the job has a unit.

    >>> import polars as pl
    >>> from kanopy import Job
    >>> draw = Draw(Job(quasi="age", sample=0.3), b"a key of sixteen bytes")
    >>> for piece in pl.DataFrame({"age": list(range(10))}).iter_slices(4):
    ...     draw.add(piece)
    >>> int(draw.chosen().sum()), draw.note
    (3, 'The release is about a random sample: 3 of 10 rows (0.3 of them), drawn before the search. ...
    """

    job: Any
    key: bytes | None = field(default=None, repr=False)
    note: str = ""
    """What is to be said of the sample, once it is drawn."""
    _rows: list[Any] = field(default_factory=list, repr=False)
    _units: list[Any] = field(default_factory=list, repr=False)
    _alone: list[Mask] = field(default_factory=list, repr=False)

    def add(self, rows: pl.DataFrame) -> None:
        """More rows of the table, as the job reads them."""
        from kanopy._table.grouping import without_unit
        from kanopy.treatments.random_numbers import row_digests

        unit = list(self.job.unit)
        digests = row_digests(rows)
        self.add_digests(
            digests,
            row_digests(rows.select(unit)) if unit else digests,
            without_unit(rows, unit, self.job.missing_tokens) if unit else np.ones(len(digests), np.bool_),
        )

    def add_digests(self, rows: Any, units: Any, alone: Mask) -> None:
        """More rows: the digests of them and of their units, and which rows belong to no unit."""
        self._rows.append(rows)
        if self.job.unit:
            self._units.append(units)
            self._alone.append(alone)

    @property
    def digests(self) -> Any:
        """The digests of all rows."""
        return np.concatenate(self._rows) if self._rows else np.zeros(0, np.uint64)

    def chosen(self) -> Mask:
        """Which rows are in the sample: people with all their rows where the job has a unit."""
        from kanopy._table.roles import called
        from kanopy.treatments.base import Secrets
        from kanopy.treatments.random_numbers import order

        digests, share = self.digests, self.job.sample
        # The secret of a key differs from table to table; without one, chance decides alone.
        holds = "" if self.key is None else hashlib.sha256(np.sort(digests).astype("<u8").tobytes()).hexdigest()
        seed = Secrets(self.key).seed("sample", repr(share), holds)
        alone = np.concatenate(self._alone) if self._alone else np.ones(len(digests), np.bool_)
        units, number = np.unique(np.concatenate(self._units)[~alone] if self._units else digests[:0],
                                  return_inverse=True)  # fmt: skip
        # Units by their digests, and after them the rows that stand alone, by theirs.
        place: Longs = np.empty(len(digests), np.int64)
        place[~alone] = number
        by_digest = np.flatnonzero(alone)[np.argsort(digests[alone], kind="stable")]
        place[by_digest] = len(units) + np.arange(len(by_digest))
        people = len(units) + len(by_digest)
        count = min(people, max(1, round(share * people)))
        is_drawn = np.zeros(people, np.bool_)
        is_drawn[order(seed, people)[:count]] = True
        what = called(self.job.unit) if self.job.unit else "rows"
        self.note = (
            f"The release is about a random sample: {count:,} of {people:,} {what} ({share:.4g} of them), drawn "
            "before the search. Which ones depends on a secret that is written nowhere."
        )
        return np.asarray(is_drawn[place], np.bool_)


def draw_from(batches: Iterable[pl.DataFrame], job: Any, key: bytes | None) -> tuple[Mask, str]:
    """Which rows of a table that is read piece by piece are in the job's sample, and what is to be said of it."""
    draw = Draw(job, key)
    for batch in batches:
        draw.add(batch)
    return draw.chosen(), draw.note


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
    if getattr(job, "sample", 1.0) >= 1.0:
        return frame, restore, ()
    is_chosen, note = draw_from([frame], job, key)
    chosen = np.flatnonzero(is_chosen)

    def of_sample(frame: pl.DataFrame, published_rows: Mask | Longs | None = None) -> Any:
        return restore(frame, chosen if published_rows is None else chosen[published_rows])

    return frame[chosen], of_sample, (note,)
