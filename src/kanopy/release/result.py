"""`Result`: a verified release, whatever algorithm made it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from kanopy._core.units import ALL, KNOWN_ALL
from kanopy._errors import JobError, NotAvailable
from kanopy._job.job import Job
from kanopy._lazy import public
from kanopy._progress import Callback, Clock
from kanopy._usage import checked
from kanopy.engine.distinct_rows import DistinctRows, RowsElsewhere
from kanopy.release.prepare import Generalizable, Prepared, Substitutable
from kanopy.release.writing import PublishedRows

if TYPE_CHECKING:
    import polars as pl

    from kanopy._arrays import Longs, Mask
    from kanopy._core.classes import Domain
    from kanopy.hierarchy.hierarchy import Hierarchy
    from kanopy.masking.evaluation import Evaluation
    from kanopy.masking.job import MaskJob
    from kanopy.masking.masking_result import Masked
    from kanopy.release.pushdown.pushdown_result import PushdownSolution
    from kanopy.release.reporting import MaskReport
    from kanopy.release.sweeps.advice import Advice
    from kanopy.release.treated.treating import Treated
    from kanopy.report.report import Report
    from kanopy.search.bound.bound import Bound
    from kanopy.search.solution import Solution
    from kanopy.verify.verify import Verification

MASKING_LOSSES = ("dm", "dm_per_record", "c_avg", "ic_loss", "lm", "ncp")
MASKING_METRIC = "semantic_quality"


@public("kanopy")
@dataclass(frozen=True, eq=False, repr=False)
class Result:
    """A verified release, whatever engine made it.

    `data` is the published table, of the same kind as the table that came in; `report` holds numbers and pages;
    `solution` says how a release was found that generalizes, `evaluation` what a masking did to meaning. An engine
    other than memory leaves the published rows where it wrote them (`output`): what needs them here (`data` but on
    Spark, `frame`, `write`, `report`) raises `NotAvailable`, which says where they are.

    `data` and `frame` keep the order of the table, because the code around them counts on it, unless the job says
    `shuffle=True`. That order may tell who is who: hand on what `write` writes, whose rows are shuffled.
    """

    records: PublishedRows | DistinctRows | RowsElsewhere
    """What is here of the release: its rows, or what an engine counted on it."""
    job: Job | MaskJob
    found: Solution | Masked | PushdownSolution
    verification: Verification
    notes: tuple[str, ...]
    clock: Clock
    prepared: Prepared
    bound: Bound | None = None
    """A proved lower bound on the loss of any local recoding, where one was asked for."""
    _private_notes: tuple[str, ...] = ()
    """Those of the notes that name values of the table: for the steward, not for pages that are handed on."""
    _about_suppressed: tuple[str, ...] = ()  # which values of sensitive columns suppressed rows are published with
    _published_population: pl.DataFrame | None = None  # what the release would publish for the people of the population
    output: str | None = None
    """Where an engine wrote the release."""
    _remote: Any = None
    """The release as a frame of the engine, where it has such frames."""
    treated: Treated | None = None  # what was done to treated columns, and what was found to hold of them

    @property
    def engine(self) -> str:
        """The engine that made the release."""
        return self.prepared.engine

    @property
    def _rows_here(self) -> PublishedRows:
        """The published rows; raises `NotAvailable` where an engine left them where it wrote them."""
        if isinstance(self.records, PublishedRows):
            return self.records
        there = "on its cluster: they are the frame `result.data`" if self.output is None else f"in {self.output}"
        raise NotAvailable(
            f"The rows of this release are not in memory: the engine {self.engine!r} left them {there}. Use them "
            "there, or make the release with the engine 'memory'."
        )

    @property
    def published(self) -> pl.DataFrame:
        """The published rows, as they were verified: one per element where lists are protected."""
        return self._rows_here.frame

    @property
    def kept(self) -> Mask | None:
        """Which original rows are in the release (`None`: all)."""
        return self._rows_here.kept

    @property
    def order(self) -> Longs | None:
        """Which of the `published` rows stands where in what is written; `None` if their order is kept."""
        here = self._rows_here
        return None if self.job.shuffle is False else here.order

    @property
    def frame(self) -> pl.DataFrame:
        """The published table, its rows in the order of the original ones unless the job says `shuffle=True`."""
        return self._rows_here.in_order(shuffled=bool(self.job.shuffle))[0]

    @property
    def data(self) -> Any:
        """The published table, of the kind that came in (pandas, Polars, Arrow, Spark, …), in the order of `frame`."""
        if self._remote is not None:
            return self._remote
        rows = self._rows_here.in_order(shuffled=bool(self.job.shuffle))
        return rows[0] if self.prepared.restore is None else self.prepared.restore(*rows)

    @property
    def to_write(self) -> pl.DataFrame:
        """The published table as it is written: in an order that tells nothing, unless the job says `shuffle=False`."""
        return self._rows_here.in_order(shuffled=self.job.shuffle is not False)[0]

    @property
    def solution(self) -> Solution | None:
        """The recoding and how it was found; `None` for maskings."""
        from kanopy.search.solution import Solution

        return self.found if isinstance(self.found, Solution) else None

    @property
    def masked(self) -> Masked | None:
        """The substitutions; `None` for releases that generalize."""
        from kanopy.masking.masking_result import Masked

        return self.found if isinstance(self.found, Masked) else None

    @property
    def domain(self) -> Domain | None:
        """The distinct tuples that were generalized; `None` for maskings."""
        return self.prepared.table.domain if isinstance(self.prepared.table, Generalizable) else None

    @property
    def levels(self) -> dict[str, int] | None:
        """The level of each quasi-identifier, for full-domain releases."""
        levels = None if self.solution is None else self.solution.levels
        return None if levels is None else dict(zip(self.prepared.names, levels, strict=True))

    @property
    def hierarchies(self) -> Mapping[str, Hierarchy]:
        """The hierarchy of each quasi-identifier; maskings have none."""
        return self.prepared.table.hierarchies if isinstance(self.prepared.table, Generalizable) else {}

    @property
    def source(self) -> str:
        """What the report calls the table: its path, or the library it came from."""
        return self.prepared.source

    @property
    def rows(self) -> int:
        """Rows of the original table."""
        return self.prepared.rows

    @property
    def suppressed(self) -> int:
        """Rows whose quasi-identifiers are not published."""
        solution = self.solution
        return self.verification.suppressed_rows if solution is None else solution.recoding.suppressed_rows

    @property
    def classes(self) -> int:
        """Published combinations of quasi-identifiers."""
        return self.verification.classes

    @property
    def counted(self) -> str:
        """What the promise counts: rows, or people where the job names a unit."""
        return "rows" if self.domain is None else self.domain.counted

    @property
    def smallest_class(self) -> int:
        """Rows (or people) that share the rarest published combination, counted on what is published."""
        return self.verification.smallest_class

    @cached_property
    def evaluation(self) -> Evaluation:
        """What a masking did to meaning, groups and risk."""
        from kanopy.masking.evaluation import Evaluation

        if self.masked is None or not isinstance(self.prepared.table, Substitutable):
            raise JobError("Only a masking has an evaluation of meanings. For this release, see its losses.")
        return Evaluation(self.prepared.table.judged, self.masked, self.job.k)

    @cached_property
    def _masking_numbers(self) -> dict[str, Any]:
        with self.clock.stage("evaluate"):
            return self.evaluation.numbers()

    @cached_property
    def losses(self) -> dict[str, float]:
        """Every loss that is defined for the release."""
        solution = self.solution
        if solution is None:
            return {name: self._masking_numbers[name] for name in MASKING_LOSSES}
        from kanopy._core.local_recoding import with_extents
        from kanopy.metrics.local_losses import LOCAL_LOSSES, local_losses
        from kanopy.metrics.release_losses import release_losses

        domain, recoding, k = self.prepared.domain, solution.recoding, max(2, self.job.k)
        weights = [self.job.weights.get(name, 1.0) for name in domain.names]
        losses = release_losses(domain, recoding, weights, solution.levels)
        extended = with_extents(domain, recoding)
        if solution.levels is None:
            return losses | local_losses(domain, extended, k)
        # A full-domain release has no clusters of its own: only the measures of its classes apply.
        return losses | {name: LOCAL_LOSSES[name](domain, extended, k) for name in ("AVG_merged", "LM", "GCP")}

    @cached_property
    def column_losses(self) -> dict[str, float]:
        """`loss` per quasi-identifier; maskings have none."""
        from kanopy.metrics.release_losses import column_losses

        solution = self.solution
        return {} if solution is None else column_losses(self.prepared.domain, solution.recoding)

    @cached_property
    def advice(self) -> tuple[Advice, ...]:
        """What would help where a column is wiped or most of the detail is gone, with the loss of each change."""
        from kanopy.release.sweeps.advice import advice

        with self.clock.stage("advise"):
            return advice(self)

    @property
    def wiped(self) -> tuple[str, ...]:
        """The quasi-identifiers of which nothing is left."""
        from kanopy.release.sweeps.advice import wiped

        return wiped(self)

    @property
    def metric(self) -> str:
        """The measure that `score` states: the job's, or how much of their meaning the answers of a masking keep."""
        return self.job.metric if isinstance(self.job, Job) else MASKING_METRIC

    @property
    def score(self) -> float:
        """The metric of this release."""
        solution = self.solution
        if solution is None:
            return self.evaluation.semantic_quality
        return self.losses.get(self.metric, solution.score)

    def risk(self) -> dict[str, float]:
        """The chance that somebody who knows a row (or person) finds it, counted on the published classes: at most, on
        average (classes / rows), and the size of the class in which a row is on average. Suppressed rows are left out.
        """
        figures, published = self.figures(), self.rows - self.suppressed
        return {
            "highest": figures["highest_risk"],
            "average": figures["average_risk"],
            "class_of_a_row": self._squared_sizes / published if published else 0.0,
        }

    @property
    def _squared_sizes(self) -> int:
        """The sizes of the published classes, squared and added up."""
        if (solution := self.solution) is not None:
            return int((solution.recoding.classes.sizes**2).sum())
        sizes = self.published.group_by(self.prepared.names).len()["len"].to_numpy().astype(np.int64)
        return int((sizes * sizes).sum())

    def figures(self) -> dict[str, Any]:
        """What comparisons and maps say of a release; risks are one over class sizes, of people where they count."""
        published = self.rows - self.suppressed
        highest = 1 / self.smallest_class if self.smallest_class else 0.0
        average = self.classes / published if published else 0.0
        if self.prepared.units is not None and (solution := self.solution) is not None:
            from kanopy.metrics.risk.class_sizes import risk

            classes = self.prepared.domain.counted_classes(solution.recoding)
            people = risk(classes.sizes, (), fitting=classes.fitting)
            highest, average = people.highest_prosecutor, people.average_prosecutor
        return {
            **{name: getattr(self, name) for name in ("classes", "smallest_class", "suppressed")},
            "highest_risk": highest, "average_risk": average, "optimal": self._proved_optimal, "levels": self.levels,
        }  # fmt: skip

    @property
    def _proved_optimal(self) -> bool:
        return bool(self.solution and self.solution.optimal)

    def summary(self) -> dict[str, Any]:
        """The numbers of the release as plain data: what `kanopy anonymize --json` and `kanopy mask --json` print.

        `k` is the one asked for; it is `None` where the algorithm promises none.
        """
        solution = self.solution
        return {
            **self._counted_numbers(),
            "column_losses": self.column_losses,
            **self._of_units,
            **(self._of_masking() if solution is None else {}),
            "judged": 0 if solution is None else solution.judged,
            "candidates": 0 if solution is None else solution.candidates,
            **({} if solution is None else solution.proved()),
            **({} if self.bound is None else {"bound": self.bound.to_dict(self.losses["loss"])}),
            "wiped": list(self.wiped),
            **({} if self.treated is None else {"treatments": self.treated.to_dict()}),
            "advice": [each.to_dict() for each in self.advice],
            **self._ending(),
        }

    def _counted_numbers(self) -> dict[str, Any]:
        """What a summary begins with, however a release was made."""
        job = self.job
        return {
            "algorithm": self.found.algorithm,
            "optimal": self._proved_optimal,
            "k": int(job.k) if job.all_models else None,
            "models": [model.to_dict() for model in job.models],
            "levels": self.levels,
            "metric": self.metric,
            "score": self.score,
            "losses": self.losses,
            **{name: getattr(self, name) for name in ("rows", "suppressed", "classes", "smallest_class")},
        }

    def _ending(self) -> dict[str, Any]:
        """What a summary ends with."""
        return {"verified": True, "notes": list(self.notes), "seconds": self.clock.total()}

    @property
    def _of_units(self) -> dict[str, Any]:
        """What is counted, where it is not rows: how many units there are, and how many lost all their rows."""
        units = self.prepared.units
        if units is None:
            return {}
        people = self.verification.people or 0
        rows_known = KNOWN_ALL if units.known == ALL else units.known
        return {
            "counted": units.called,
            "known": rows_known,
            "units": units.count,
            "suppressed_units": units.count - people,
        }

    def _of_masking(self) -> dict[str, Any]:
        job: Any = self.job
        return {
            **self._masking_numbers,
            "targets": job.targets,
            "found": [
                {"column": reading.name, "kind": kind, "people": people}
                for reading in self.evaluation.table.readings
                for kind, people in reading.found.items()
            ],
            "guide": job.guide,
            "measure": job.quality_measure,
            "search": job.search,
            "seed": job.seed,
            "guarantees_k": job.guarantees_k,
            "unknown": [unknown_answer["value"] for unknown_answer in self.unknown],
        }

    @property
    def unknown(self) -> list[dict[str, Any]]:
        """Values that no ontology knows, with suggestions."""
        return [] if self.masked is None else self.evaluation.unknown()

    # ---- what goes out beside the table ---------------------------------------------------------------------

    @cached_property
    def report(self) -> Report | MaskReport:
        """Numbers, pictures and the script that reproduces the run."""
        return self.full_report()

    def full_report(
        self,
        *,
        files: Mapping[str, tuple[str, Path]] | None = None,
        population_size: int | None = None,
        sampling_fraction: float | None = None,
        target: str | None = None,
        written: bool = False,
        attacks: Mapping[str, Any] | None = None,
    ) -> Report | MaskReport:
        """The report, told of the population, a target of predictions, what attacks found, and files whose checksums
        the manifest records. `written`: the release is what `write` makes of it, and not `data`."""
        from kanopy.release.reporting import MaskReport, report_of

        if self.masked is not None:
            return MaskReport(self)
        if target in self.prepared.unpublished and target not in self.published.columns:
            raise JobError(f"The target {target!r} is not published. Give it the role insensitive or sensitive.")
        return report_of(
            self, files, written=written, attacks=attacks or {}, population_size=population_size,
            sampling_fraction=sampling_fraction, target=target,
        )  # fmt: skip

    def to_html(self) -> str:
        """The page of the report."""
        return self.report.to_html()

    def mapping(self) -> pl.DataFrame:
        """Every original value with its published label, per column and with counts. For internal use."""
        from kanopy.release.mapping import mapping_table

        return mapping_table(self)

    def manifest(self, files: Mapping[str, tuple[str, Path]] | None = None, *, written: bool = False) -> str:
        """What was done and verified as JSON, without any value of the table; `files` are recorded by checksum.

        `written` says that the release is what `write` makes of it, and not `data`: its rows stand in another order.
        """
        from kanopy.release.manifest import manifest_json

        return manifest_json(self, files, written=written or self.output is not None)

    def solution_json(self) -> str:
        """The solution as JSON, for `kanopy apply` to other rows. For internal use: contains original values."""
        from kanopy.release.solution_file import solution_json

        return solution_json(self)

    @checked
    def write(
        self,
        table: str | Path,
        *,
        like: str | Path | None = None,
        report: str | Path | None = None,
        mapping: str | Path | None = None,
        manifest: str | Path | None = None,
        solution: str | Path | None = None,
    ) -> list[str]:
        """Write the release, and what is wanted beside it, as the command line does: all of it, or nothing.

        Rows are written in an order that depends on what they publish and on nothing else, unless the job says
        `shuffle=False`: the order of the table may tell who is who.

        `like` is the table that was read: a text file gets its separator, quotes and encoding, and it is never
        overwritten. Returns what is to be said of what was written. Mapping and solution hold original values.

        >>> import tempfile
        >>> from kanopy import Job, anonymize
        >>> file = Path(tempfile.mkdtemp()) / "people.csv"
        >>> _ = file.write_text("age;sex\\n31;f\\n34;f\\n")
        >>> result = anonymize(file, Job(quasi=["sex"], insensitive=["age"], k=2))
        >>> result.write(file.with_name("out.csv"), like=file)
        []
        >>> file.with_name("out.csv").read_text().splitlines()[0]
        'age;sex'
        """
        from kanopy._table.sources import read_source
        from kanopy.release.writing import Files, inputs_of, write_files

        self._rows_here  # noqa: B018 - refused before anything else is looked at
        input_files = inputs_of(like)
        beside = [None if path is None else Path(path) for path in (report, mapping, manifest, solution)]
        files = Files(str(table), beside[0], beside[1], beside[2], beside[3])
        files.check(input_files, self.job)
        return write_files(
            self, files, dialect=read_source(like).dialect if like and input_files else None,
            read_from=input_files[0] if input_files else None,
            neutralize=getattr(self.job, "neutralize_formulas", False), inputs=input_files,
        )  # fmt: skip

    @checked
    def apply(
        self, rows: Any, *, unknown: str = "error", progress: Callback | None = None, key: bytes | None = None
    ) -> Result:
        """Publish other rows at the same levels, and verify that release like any other.

        A recoding promises nothing about rows it has not seen: classes of the new rows that break a model are
        suppressed, and `NoSolution` is raised if that takes more rows than the job allows. A number or date that was
        not there before is published in the interval that holds it; any other value that the hierarchies do not know
        is an error, or what `unknown` says.
        """
        from kanopy.release.run import anonymize
        from kanopy.release.solution_file import reusable_job

        job = reusable_job(self).replaced(unknown=unknown)
        return anonymize(rows, job, progress=progress, key=key, population=self.prepared.population)

    def _repr_html_(self) -> str | None:
        return self.report._repr_html_() if isinstance(self.records, PublishedRows) else None

    def __repr__(self) -> str:
        return (
            f"<Result: {self.rows:,} rows, {self.classes:,} classes, smallest {self.smallest_class:,}"
            f"{'' if self.counted == 'rows' else ' ' + self.counted}, "
            f"{self.suppressed:,} suppressed, {self.metric} {self.score:.4f}>"
        )
