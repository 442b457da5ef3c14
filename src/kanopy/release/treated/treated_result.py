"""The result of a job of treatments only: nothing was generalized, so there are no losses and no classes."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kanopy.release.result import Result

if TYPE_CHECKING:
    from collections.abc import Mapping

    import polars as pl

    from kanopy.treatments.study import TreatedStudy


def studies_of(result: Result) -> tuple[TreatedStudy, ...]:
    """Risk and utility of the treated columns of a release."""
    from kanopy.treatments.study import study_treated

    treated = result.treated
    if treated is None:
        return ()
    least = getattr(result.job, "least_rows", 5)
    return study_treated(treated.protect, treated.original, result.published, least)


def mapping_of_treated(result: Result) -> pl.DataFrame:
    """Per treated column, original and published values and their rows: for the steward."""
    import polars as pl

    treated = result.treated
    assert treated is not None
    parts = []
    for column, treatment in treated.protect.items():
        for name in treatment.writes(column):
            pairs = pl.DataFrame(
                {
                    "original": treated.original[name].cast(pl.String),
                    "published": result.published[name].cast(pl.String),
                }
            )
            counted = pairs.group_by("original", "published").agg(pl.len().cast(pl.Int64).alias("rows"))
            parts.append(counted.sort("original", "published").select(pl.lit(name).alias("column"), pl.all()))
    return pl.concat(parts)


@dataclass(frozen=True)
class TreatedReport:
    """The page and the numbers of a release of treatments only."""

    result: Result

    def to_dict(self) -> dict[str, Any]:
        """Plain data, without values of the table."""
        result = self.result
        return {**result.summary(), "studies": [study.to_dict() for study in studies_of(result)]}

    def to_json(self) -> str:
        """`to_dict` as JSON text."""
        return json.dumps(self.to_dict(), ensure_ascii=False, indent=2, allow_nan=False)

    def to_html(self, *, values: bool = False) -> str:
        """One self-contained page to hand on."""
        from kanopy.report.pages.release_page import source_name
        from kanopy.report.pages.treated import treated_page

        result = self.result
        assert result.treated is not None
        source = result.prepared.source if values else source_name(result.prepared.source)
        return treated_page(source, result.treated.to_dict(), studies_of(result), result.rows, result.notes)

    def to_script(self) -> str:
        """A short Python script that runs the same job again."""
        from kanopy.report.script import script_of_job

        job: Any = self.result.job
        return script_of_job(job.to_toml(), self.result.prepared.source)

    def _repr_html_(self) -> str:
        return self.to_html()


@dataclass(frozen=True, eq=False, repr=False)
class TreatedResult(Result):
    """A verified release of a job of treatments only."""

    @property
    def losses(self) -> dict[str, float]:
        """None: nothing is generalized."""
        return {}

    @property
    def column_losses(self) -> dict[str, float]:
        """None: nothing is generalized."""
        return {}

    @property
    def score(self) -> float:
        """0: nothing is generalized."""
        return 0.0

    @property
    def advice(self) -> tuple[Any, ...]:
        """None: there is no search to advise on."""
        return ()

    @property
    def wiped(self) -> tuple[str, ...]:
        """None: nothing is generalized."""
        return ()

    @property
    def levels(self) -> dict[str, int]:
        """None: nothing is generalized."""
        return {}

    @property
    def hierarchies(self) -> dict[str, Any]:
        """None: nothing is generalized."""
        return {}

    def summary(self) -> dict[str, Any]:
        """The numbers of the release as plain data."""
        assert self.treated is not None
        return {
            "algorithm": self.found.algorithm, "optimal": False, "k": None, "models": [], "rows": self.rows,
            "treatments": self.treated.to_dict(), **self._ending(),
        }  # fmt: skip

    @property
    def report(self) -> Any:
        """Numbers, pictures and the script that reproduces the run."""
        return TreatedReport(self)

    def full_report(self, *, files: Mapping[str, tuple[str, Path]] | None = None, **told: Any) -> Any:
        """The same: there is nothing more to be told of."""
        return TreatedReport(self)

    def mapping(self) -> pl.DataFrame:
        """Original and published values of treated columns. For internal use."""
        return mapping_of_treated(self)

    def __repr__(self) -> str:
        assert self.treated is not None
        return f"<Result: {self.rows:,} rows, {len(self.treated.protect)} treatments, verified>"
