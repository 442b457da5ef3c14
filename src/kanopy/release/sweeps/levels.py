"""One table at many levels: labels are written and verified once per column and level, and every k follows from them.

Releases of a map that ask for k-anonymity alone differ in their levels and in the classes that are too small; none of
them leaves. So each column is published at a level once, read back by the second opinion, and classes are counted from
these labels once for each choice of levels. What is left at any k is then a matter of their sizes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from kanopy._core.classes import full_domain_recoding
from kanopy._errors import VerificationFailed
from kanopy._job.job import Job
from kanopy.engine.local import LocalEngine
from kanopy.release.prepare import Generalizable, Prepared
from kanopy.release.verification import verified_labels
from kanopy.verify.job import Claims, loss_of, same_loss, share_under, verify_job

if TYPE_CHECKING:
    from kanopy._arrays import Floats, Longs, Mask

Levels = tuple[int, ...]


@dataclass(frozen=True, eq=False)
class _Column:
    """A column at a level: its labels, and for each row the share of values under its label."""

    labels: pl.Series
    shares: Floats


@dataclass(frozen=True, eq=False)
class _Classes:
    """Classes of one choice of levels: rows of each, and per column the share of values under its label."""

    sizes: Longs
    shares: Floats


class Leveled:
    """The classes of a prepared table at any choice of levels, counted from labels that are verified.

    >>> from kanopy.release.prepare import prepare
    >>> job = Job(quasi=["age"], k=2, hierarchies={"age": {"method": "widths", "widths": [10, 20]}})
    >>> table = Leveled(prepare({"age": [31, 34, 52]}, job), job)
    >>> table.figures((1,), 2, 1, 2 / 3)["suppressed"], table.figures((0,), 1, 0, 0.0)["classes"]
    (1, 3)
    """

    def __init__(self, prepared: Prepared, job: Job) -> None:
        self.prepared, self.job = prepared, job
        self._columns: dict[tuple[str, int], _Column] = {}
        self._classes: dict[Levels, _Classes] = {}
        self._excluded: Mask = prepared.domain.tuple_of_row < 0

    def figures(self, levels: Levels, k: int, suppressed: int, loss: float | None) -> dict[str, Any]:
        """What is said of the release at these levels without classes of fewer than k rows (see `Result.figures`).

        Raises `VerificationFailed` unless so many rows are suppressed beside those excluded from the start and, if one
        is given, the loss is the one claimed.
        """
        if levels not in self._classes:
            self._classes[levels] = self._counted(levels)
        classes_found = self._classes[levels]
        rows, is_safe = len(self._excluded), classes_found.sizes >= k
        members = int(classes_found.sizes[is_safe].sum())
        suppressed_rows = rows - members
        if suppressed_rows != suppressed + int(self._excluded.sum()):
            raise VerificationFailed(
                f"{suppressed_rows:,} rows would be suppressed at k = {k}, the search claims {suppressed:,}. This is "
                f"an error in "
                "Kanopy: please report it."
            )
        if loss is not None:
            covered = classes_found.sizes[is_safe] @ classes_found.shares[is_safe] + suppressed_rows
            covered_columns = zip(self.prepared.names, covered.tolist(), strict=True)
            same_loss(loss, loss_of(self.job, self._hierarchies, rows, dict(covered_columns)))
        classes, smallest = int(is_safe.sum()), int(classes_found.sizes[is_safe].min(initial=rows)) if members else 0
        return {
            "classes": classes,
            "smallest_class": smallest,
            "suppressed": suppressed_rows,
            "highest_risk": 1 / smallest if smallest else 0.0,
            "average_risk": classes / members if members else 0.0,
            "optimal": True,
            "levels": dict(zip(self.prepared.names, levels, strict=True)),
        }

    @property
    def _hierarchies(self) -> Mapping[str, Any]:
        domain = self.prepared.domain
        return dict(zip(domain.names, domain.hierarchies, strict=True))

    def _counted(self, levels: Levels) -> _Classes:
        """Classes of rows that show the same labels."""
        wanted = list(zip(self.prepared.names, levels, strict=True))
        if any(name not in self._columns for name in wanted):
            self._publish(levels)
        columns = [self._columns[name] for name in wanted]
        keys = [f"\0{index}" for index in range(len(columns))]
        shown_labels = pl.DataFrame([column.labels.alias(key) for column, key in zip(columns, keys, strict=True)])
        shown_labels = shown_labels.with_row_index("\0row").filter(pl.Series(~self._excluded))
        counted = shown_labels.lazy().group_by(keys).agg(pl.len().alias("\0rows"), pl.col("\0row").first()).collect()
        one = counted["\0row"].to_numpy()
        return _Classes(
            counted["\0rows"].to_numpy().astype(np.int64), np.stack([column.shares[one] for column in columns], axis=1)
        )

    def _publish(self, levels: Levels) -> None:
        """Write and verify a table with all columns that are new; where a column is known, another level of it that is
        not, since a later choice may ask for that one."""
        prepared, job = self.prepared, self.job
        table, domain = prepared.table, prepared.domain
        assert isinstance(table, Generalizable)
        picked = tuple(
            next((other for other in self._nearest(name, level) if (name, other) not in self._columns), level)
            for name, level in zip(prepared.names, levels, strict=True)
        )
        recoding = full_domain_recoding(domain, picked, np.zeros(len(domain.counts), np.bool_))
        published, _ = LocalEngine().apply(
            prepared.frame, table.counted, recoding, dropped=prepared.unpublished, drop_rows=False
        )
        verified_labels(prepared, table, job, published, None, prepared.names)
        at = dict(zip(prepared.names, picked, strict=True))
        claims = Claims(suppressed=self._excluded, hierarchies=self._hierarchies, levels=at)
        verify_job(job.replaced(suppressed_rows="keep"), prepared.frame, published, claims)
        for name, level in at.items():
            self._columns[name, level] = _column(published[name], share_under(self._hierarchies[name], level))

    def _nearest(self, name: str, level: int) -> Sequence[int]:
        """The levels that a column may have, the wanted one first, then those next to it."""
        lowest = self.job.min_levels.get(name, 0)
        highest = self.job.max_levels.get(name, self._hierarchies[name].height)
        return sorted(range(lowest, highest + 1), key=lambda other: abs(other - level))


def _column(labels: pl.Series, share: Any) -> _Column:
    """Labels with the share of values under each."""
    shares = np.ones(len(labels))
    for label, rows in labels.to_frame("label").with_row_index("row").group_by("label").agg("row").iter_rows():
        shares[rows] = share(label)
    return _Column(labels, shares)
