"""What is known of a release of which not even the different rows were here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kanopy._errors import JobError
from kanopy._job.job import Job
from kanopy._progress import Clock

if TYPE_CHECKING:
    import polars as pl

    from kanopy.verify.verify import Verification


@dataclass(frozen=True, eq=False)
class ResultAfar:
    """A verified release of a table whose different rows stayed where they are; `data` is the release there."""

    data: Any
    job: Job
    verification: Verification
    levels: dict[str, int] | None
    losses: dict[str, float]
    rows: int
    suppressed: int
    optimal: bool
    judged: int
    parts: int
    pairs: Mapping[str, pl.DataFrame]
    notes: tuple[str, ...]
    clock: Clock

    @property
    def classes(self) -> int:
        """Published combinations of quasi-identifiers."""
        return self.verification.classes

    @property
    def smallest_class(self) -> int:
        """Rows that share the rarest published combination, counted on what is published."""
        return self.verification.smallest_class

    @property
    def score(self) -> float:
        """The job's metric of this release, `loss` where rows were grouped part by part."""
        return next(iter(self.losses.values()))

    def summary(self) -> dict[str, Any]:
        """The numbers of the release as plain data."""
        return {
            "algorithm": self.job.algorithm, "optimal": self.optimal, "k": int(self.job.k), "models": [],
            "levels": self.levels, "metric": self.job.metric, "score": self.score, "losses": self.losses,
            "rows": self.rows, "suppressed": self.suppressed, "classes": self.classes,
            "smallest_class": self.smallest_class, "judged": self.judged, "parts": self.parts, "verified": True,
            "notes": list(self.notes), "seconds": self.clock.total(),
        }  # fmt: skip

    def mapping(self) -> pl.DataFrame:
        """What became of every original value, per column and with counts. Holds original values: keep it inside."""
        import polars as pl

        return pl.concat(
            pl.DataFrame(
                {
                    "column": [name] * own.height,
                    "value": own["o"].cast(pl.String),
                    "published": own["l"],
                    "rows": own["n"],
                }
            )
            for name, own in self.pairs.items()
        )

    def _not_here(self) -> Any:
        raise JobError(
            "Only the table and its mapping are made where the different rows do not fit on one machine. Leave the "
            "others out."
        )

    manifest = solution_json = _not_here

    def __repr__(self) -> str:
        return (
            f"<Result: {self.rows:,} rows, {self.classes:,} classes, smallest {self.smallest_class:,}, "
            f"{self.suppressed:,} suppressed, {self.job.metric} {self.score:.4f}>"
        )
