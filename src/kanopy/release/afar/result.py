"""What is known of a release of which not even the different rows were here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kanopy._job.job import Job
from kanopy._progress import Clock

if TYPE_CHECKING:
    from pathlib import Path

    import polars as pl

    from kanopy._core.classes import Domain
    from kanopy.hierarchy.hierarchy import Hierarchy
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
    domain: Domain
    """What is known of the columns alone: hierarchies, and how many rows have each value."""
    hierarchies: Mapping[str, Hierarchy]
    at_home: tuple[str, ...]
    """Columns that are not published."""
    squares: int
    """The sizes of the published classes, squared and added up."""

    counted = "rows"

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
            "algorithm": self.job.algorithm, "optimal": self.optimal, "k": int(self.job.k),
            "models": [model.to_dict() for model in self.job.models],
            "levels": self.levels, "metric": self.job.metric, "score": self.score, "losses": self.losses,
            "rows": self.rows, "suppressed": self.suppressed, "classes": self.classes,
            "smallest_class": self.smallest_class, "judged": self.judged, "parts": self.parts, "verified": True,
            "risk": self.risk(),
            "notes": list(self.notes), "seconds": self.clock.total(),
        }  # fmt: skip

    def risk(self) -> dict[str, float]:
        """How surely somebody who knows a person's row finds it, counted on the published classes: at most, on average
        over rows (classes / rows), and for how large a class a row lies in on average. Suppressed rows are left out.
        """
        left = self.rows - self.suppressed
        return {
            "highest": 1 / self.smallest_class if self.smallest_class else 0.0,
            "average": self.classes / left if left else 0.0,
            "class_of_a_row": self.squares / left if left else 0.0,
        }

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

    def manifest(self, files: Mapping[str, tuple[str, Path]] | None = None) -> str:
        """What was done and verified as JSON, without any value of the table; `files` are recorded by checksum."""
        from kanopy.release.manifest import manifest_json

        return manifest_json(self, files)

    def solution_json(self) -> str:
        """The solution as JSON, for `kanopy apply` to other rows. Holds original values: keep it inside."""
        from kanopy.release.solution_file import solution_json

        return solution_json(self)

    def __repr__(self) -> str:
        return (
            f"<Result: {self.rows:,} rows, {self.classes:,} classes, smallest {self.smallest_class:,}, "
            f"{self.suppressed:,} suppressed, {self.job.metric} {self.score:.4f}>"
        )
