"""What is known of a release of which not even the distinct rows were here: the same surface, counted elsewhere."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kanopy._errors import NotAvailable
from kanopy.release.result import Result

if TYPE_CHECKING:
    import polars as pl

    from kanopy._core.classes import Domain
    from kanopy.search.solution import Solution


@dataclass(frozen=True, eq=False)
class PushdownSolution:
    """What was found and counted where the table lies. `pairs` are, per column, original values, labels and rows;
    `squares` the sizes of the published classes, squared and added up."""

    algorithm: str
    levels: tuple[int, ...] | None
    losses: Mapping[str, float]
    suppressed_rows: int
    optimal: bool
    judged: int
    parts: int
    pairs: Mapping[str, pl.DataFrame]
    squares: int
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False, repr=False)
class PushdownResult(Result):
    """A verified release of a table whose distinct rows stayed where they are; what needs them is `NotAvailable`."""

    @property
    def pushdown(self) -> PushdownSolution:
        """What was found and counted there."""
        assert isinstance(self.found, PushdownSolution)
        return self.found

    def _stayed(self, what: str) -> NotAvailable:
        return NotAvailable(
            f"{what} needs the distinct rows of the table, more than fit on this machine: the engine {self.engine!r} "
            "left them where they are. Name fewer or coarser columns, or raise KANOPY_MOST_DIFFERENT."
        )

    @property
    def solution(self) -> Solution | None:
        """Not available: it says of every distinct row what became of it."""
        raise self._stayed("The solution")

    @property
    def domain(self) -> Domain | None:
        """Not available: it holds the distinct rows."""
        raise self._stayed("The domain")

    @property
    def counted(self) -> str:
        """What is counted: rows."""
        return "rows"

    @property
    def levels(self) -> dict[str, int] | None:
        """The level of each quasi-identifier, for full-domain releases."""
        levels = self.pushdown.levels
        return None if levels is None else dict(zip(self.job.quasi, levels, strict=True))

    @property
    def suppressed(self) -> int:
        """Rows whose quasi-identifiers are not published."""
        return self.pushdown.suppressed_rows

    @property
    def losses(self) -> dict[str, float]:
        """The job's metric, or `loss` where rows were grouped part by part; the others are not counted."""
        return dict(self.pushdown.losses)

    @property
    def score(self) -> float:
        """The job's metric of this release, `loss` where rows were grouped part by part."""
        return next(iter(self.pushdown.losses.values()))

    @property
    def _proved_optimal(self) -> bool:
        return self.pushdown.optimal

    def summary(self) -> dict[str, Any]:
        """The numbers of the release as plain data."""
        found = self.pushdown
        more = {"judged": found.judged, "parts": found.parts, "risk": self.risk()}
        return {**self._counted_numbers(), **more, **self._ending()}

    @property
    def _squared_sizes(self) -> int:
        return self.pushdown.squares

    def mapping(self) -> pl.DataFrame:
        """Every original value with its published label, per column and with counts. For internal use."""
        import polars as pl

        return pl.concat(
            pl.DataFrame(
                {
                    "column": [name] * pairs.height,
                    "original": pairs["o"].cast(pl.String),
                    "published": pairs["l"].cast(pl.String),
                    "rows": pairs["n"].cast(pl.Int64),
                }
            )
            for name, pairs in ((name, pairs.sort("o", "l")) for name, pairs in self.pushdown.pairs.items())
        )
