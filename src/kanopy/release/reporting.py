"""The report of a release: its facts collected for the report room, and the report of a masking."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from kanopy._errors import KanopyError
from kanopy._job.job import Job
from kanopy._mixins import ReprMixin
from kanopy._progress import SILENT
from kanopy.release.prepare import Generalizable, Substitutable

if TYPE_CHECKING:
    import polars as pl

    from kanopy.masking.job import MaskJob
    from kanopy.release.result import Result
    from kanopy.report.report import Findings, Report

PREVIEW_ROWS = 12
CURVE_K = tuple(range(2, 21))
MOST_TUPLES_FOR_CURVES = 5_000


def report_of(
    result: Result,
    files: Mapping[str, tuple[str, Path]] | None,
    *,
    written: bool = False,
    attacks: Mapping[str, Any] | None = None,
    **options: Any,
) -> Report:
    """The report of a release that generalizes; `options` goes to the closer look at both tables."""
    from kanopy import __version__
    from kanopy._job.job_file import plain_to_toml, without_values
    from kanopy.release.treated.treated_result import studies_of
    from kanopy.report.report import Facts, Preview, build_report

    job, solution, prepared, domain = result.job, result.solution, result.prepared, result.prepared.domain
    assert isinstance(job, Job) and solution is not None and isinstance(prepared.table, Generalizable)
    columns = prepared.table.counted.columns
    # Row numbers of the published preview in the original table, where rows were dropped or shuffled. The page is
    # handed on, so its rows are those that a written release begins with.
    rows = np.arange(result.rows) if result.kept is None else np.flatnonzero(result.kept)
    rows = (rows if result.order is None else rows[result.order])[:PREVIEW_ROWS]
    preview_rows = np.arange(min(PREVIEW_ROWS, result.rows)) if result.order is None else rows
    before = prepared.visible[preview_rows]
    first = (
        result.published.head(PREVIEW_ROWS) if result.order is None else result.published[result.order[:PREVIEW_ROWS]]
    )
    return build_report(
        Facts(
            domain=domain,
            solution=solution,
            models=job.all_models,
            metric=job.metric,
            weights=tuple(job.weights.get(name, 1.0) for name in domain.names),
            suppression_limit=job.suppress,
            losses=result.losses,
            column_losses=result.column_losses,
            roles=dict(prepared.roles),
            missing_policy=job.missing,
            missing_rows={c.name: int(c.missing_rows.sum()) for c in columns if c.missing_rows is not None},
            unknown_policy=job.unknown,
            unknown_rows={c.name: int(c.unknown_rows.sum()) for c in columns if c.unknown_rows is not None},
            before=Preview(tuple(before.columns), _as_text(before), tuple(preview_rows.tolist())),
            after=Preview(tuple(first.columns), _as_text(first), tuple(rows.tolist())),
            shuffled=result.order is not None,
            classes_before=domain.counted_before,
            verification={"verified": True, **result.verification.to_dict()},
            seconds=result.clock.total(),
            source=prepared.source,
            job_toml=job.explicit().to_toml(),
            public_job_toml=plain_to_toml(without_values(job.explicit().to_dict())),
            version=__version__,
            notes=tuple(note for note in result.notes if note not in result._private_notes),
            private_notes=result._private_notes,
            wiped=result.wiped,
            advice=tuple(advice.to_dict() for advice in result.advice),
            look=_closer_look(result, job, **options),
            manifest=lambda: result.manifest(files, written=written),
            bound=result.bound,
            about_suppressed=result._about_suppressed,
            treatments=() if result.treated is None else tuple(result.treated.to_dict()),
            treated_studies=studies_of(result),
            attacks=attacks or {},
        )
    )


def _least_rows(result: Result, job: Job) -> int:
    """Rows that a value must have to be named on a page that is handed on: so many that they are about k people, even
    if each of them has as many rows as anybody."""
    units = result.prepared.units
    return job.least_rows if units is None else (job.least_rows - 1) * int(units.multiplicity.max()) + 1


def _as_text(frame: pl.DataFrame) -> tuple[tuple[str | None, ...], ...]:
    return tuple(tuple(None if value is None else str(value) for value in row) for row in frame.iter_rows())


def _closer_look(
    result: Result,
    job: Job,
    *,
    population_size: int | None = None,
    sampling_fraction: float | None = None,
    target: str | None = None,
) -> Callable[[], Findings]:
    """A closer look at the original and the release, taken when it is asked for; a table that models compare with, or
    the sampling fraction they name, is the population unless another is given."""

    def look() -> Findings:
        from kanopy.study.release_study import ReleaseStudy, look

        assert result.solution is not None
        is_known = population_size is not None or sampling_fraction is not None
        fractions = [model.fraction for model in job.models if hasattr(model, "fraction")]
        before, after = result.prepared.population, result._published_population
        table = not is_known and not fractions and before is not None and after is not None
        levels = result.levels or {}
        return look(
            ReleaseStudy(
                original=result.prepared.visible,
                released=result.published,
                quasi=result.prepared.names,
                sensitive=tuple(name for name, role in result.prepared.roles.items() if role == "sensitive"),
                # A column published as it is needs no hierarchy to be read, and its names may occur there again.
                hierarchies={name: h for name, h in result.hierarchies.items() if levels.get(name) != 0},
                column_losses=result.column_losses,
                k=_least_rows(result, job),
                suppressed=result.solution.recoding.group_of_row < 0,
                kept=result.kept,
                population_size=population_size,
                # What is given is about the table; models name the fraction of what is published.
                sampling_fraction=(
                    fractions[0]
                    if not is_known and fractions
                    else None
                    if sampling_fraction is None
                    else sampling_fraction * getattr(job, "sample", 1.0)
                ),
                population_before=before if table else None,
                population_after=after if table else None,
                target=target,
                units=domain.units if (domain := result.domain) is not None else None,
            )
        )

    return look


@dataclass(frozen=True, eq=False)
class MaskReport(ReprMixin):
    """The report of a masking in the forms that reports have."""

    result: Result

    def to_dict(self) -> dict[str, Any]:
        """Numbers, substitutions and groups: for internal use, because it contains original answers."""
        from kanopy.report.text import told

        evaluation = self.result.evaluation
        answers = {"substitutions": evaluation.substitutions(), "published": evaluation.groups()}
        return {"keep": told("masking.keep"), **self.result.summary(), **answers}

    def to_json(self) -> str:
        """The same as text."""
        return json.dumps(self.to_dict(), ensure_ascii=False, allow_nan=False, indent=2)

    def to_html(self, *, values: bool = True, curves: Sequence[int] | None = None) -> str:
        """The page: substitutions, groups, curves over k, dendrograms. It always shows answers: substitutions are what
        a masking is. `curves` are the values of k that the curves show: 2 to 20 and the job's own, unless the table
        is large."""
        from kanopy.report.pages.masking import page

        if curves is None:
            small = len(self.result.evaluation.table.tuples) <= MOST_TUPLES_FOR_CURVES
            curves = sorted({*CURVE_K, self.result.job.k}) if small else ()
        return page(self.result, masking_curves(self.result, curves))

    def to_script(self) -> str:
        """A Python script that repeats the run."""
        job: Any = self.result.job
        script: str = job.script(self.result.prepared.source)
        return script

    def _repr_html_(self) -> str:
        from kanopy.report import notebook

        return notebook.masking(self.result)


def masking_curves(result: Result, ks: Sequence[int]) -> list[dict[str, Any]]:
    """The numbers of the same masking for other values of k: those that the table has rows for and that it can keep."""
    from kanopy.masking.encoding import encode_columns, masking_tables
    from kanopy.masking.evaluation import Evaluation

    job: MaskJob | Job = result.job
    table = result.prepared.table
    assert not isinstance(job, Job) and isinstance(table, Substitutable)
    curves = []
    for k in ks:
        if k > result.rows:
            continue
        other = job.replaced(k=k)
        guide, judged = table.guide, table.judged
        try:
            if guide.plan is not None and k != job.k:  # what is frequent is another question for each k
                guide, judged, _ = masking_tables(
                    result.prepared.frame, other, encode_columns(result.prepared.frame, other)
                )
            masked = other.make().mask(guide, k, other.diversity, SILENT)
        except KanopyError:  # some values cannot be swapped, or groups made diverse, at this k
            continue
        evaluation_of_k = Evaluation(judged, masked, k)
        curves.append({"k": k, **evaluation_of_k.numbers(semantic_linkage=False)})
    return curves
