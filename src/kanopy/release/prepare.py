"""What every release starts from: the table read, its columns given roles, and encoded once for whatever runs on it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kanopy._errors import DataError, JobError, NotAvailable, near_miss, shown_address, some, too_few_rows
from kanopy._job.inputs import (
    Untouched,
    about_index,
    about_people,
    assign_roles,
    read_population,
    resolve_hierarchies,
    resolve_hierarchy,
    with_classes,
)
from kanopy._job.job import Job
from kanopy._job.protection import changed_columns
from kanopy._job.reading_rules import ReadingRules, apply_reading_rules
from kanopy._job.usage import require_used_of
from kanopy._progress import SILENT, Clock, Progress
from kanopy._table.roles import PUBLISH, UNPUBLISHED_ROLES
from kanopy.engine.distinct_rows import DistinctRows, RowsElsewhere
from kanopy.release.treated.sampling import drawn_sample

if TYPE_CHECKING:
    from collections.abc import Callable

    import polars as pl

    from kanopy._arrays import Longs
    from kanopy._core.classes import Domain, Survey
    from kanopy._core.units import Units
    from kanopy._table.encode import SubstitutedColumn
    from kanopy._table.frames import Restore
    from kanopy._table.guessing.dependence import Dependence
    from kanopy.engine.lists import Lists
    from kanopy.engine.local import Counted
    from kanopy.hierarchy.hierarchy import Hierarchy
    from kanopy.masking.job import MaskJob
    from kanopy.masking.table import MaskingTable
    from kanopy.search.problem import Problem


@dataclass(frozen=True, eq=False)
class Generalizable:
    """A table whose quasi-identifiers have hierarchies, counted: what algorithms that generalize start from."""

    counted: Counted
    hierarchies: Mapping[str, Hierarchy]
    """Those of the quasi-identifiers, before encoding added a leaf for missing values."""
    confidential: Mapping[str, Hierarchy] = field(default_factory=dict)
    """Those of sensitive columns that models measure distances on."""

    @property
    def domain(self) -> Domain:
        """The distinct tuples with their counts."""
        return self.counted.domain


@dataclass(frozen=True, eq=False)
class Substitutable:
    """A table whose answers can be compared by meaning: what maskings start from."""

    columns: tuple[SubstitutedColumn, ...]
    guide: MaskingTable
    """By which masking is guided."""
    judged: MaskingTable
    """By which quality is stated; often the same."""

    @property
    def terms(self) -> dict[str, set[str]]:
        """Per column the texts that may be published though no record has them: broader terms."""
        return {
            column.name: {
                label
                for label, count in zip(column.labels, column.counts.tolist(), strict=True)
                if label is not None and not count
            }
            for column in self.columns
        }


@dataclass(frozen=True, eq=False)
class Prepared:
    """A table ready for `run`. `job` is the job as it will run: an ordinary one, or one for masking."""

    records: pl.DataFrame | DistinctRows | RowsElsewhere
    """The rows; where an engine counted them, its distinct rows in the columns that decide something."""
    job: Job | MaskJob
    roles: Mapping[str, str]
    notes: tuple[str, ...]
    source: str
    table: Generalizable | Substitutable
    population: Any = None
    restore: Restore | None = None
    """The way back to the kind of table that came in, where its rows are in memory."""
    lists: Lists | None = None
    """Lists in cells that were taken apart: there is a row per element then."""
    engine: str = "memory"
    untouched: Untouched = field(default_factory=Untouched)
    """Of columns to be published as they are, what is to be said when they are."""

    @property
    def frame(self) -> pl.DataFrame:
        """The rows, where they are in memory."""
        if isinstance(self.records, (DistinctRows, RowsElsewhere)):
            raise NotAvailable(
                f"This needs all rows of {self.source} in memory; the engine {self.engine!r} left them where they are. "
                "Use the engine 'memory'."
            )
        return self.records

    @property
    def values(self) -> pl.DataFrame:
        """The rows, or the distinct rows that stand for `multiplicity` rows each: for whoever counts both."""
        return self.records.distinct if isinstance(self.records, DistinctRows) else self.frame

    @property
    def multiplicity(self) -> Longs | None:
        """For how many rows of the table each of `values` stands; `None`: for itself."""
        return self.records.multiplicity if isinstance(self.records, DistinctRows) else None

    @property
    def rows(self) -> int:
        """All rows of the table."""
        return self.records.rows if isinstance(self.records, (DistinctRows, RowsElsewhere)) else self.records.height

    @property
    def unpublished(self) -> list[str]:
        """Columns that do not leave as they are."""
        return [name for name, role in self.roles.items() if role in UNPUBLISHED_ROLES]

    @property
    def all_notes(self) -> tuple[str, ...]:
        """What to say of the table, and of columns that leave as they are."""
        treated = changed_columns(self.job)
        return (*self.notes, *self.untouched.notes({n: role for n, role in self.roles.items() if n not in treated}))

    @property
    def names(self) -> tuple[str, ...]:
        """The columns that are changed because others may know them."""
        return self.table.domain.names if isinstance(self.table, Generalizable) else self.table.guide.names

    @property
    def visible(self) -> pl.DataFrame:
        """The original table without what is not published."""
        return self.frame[[name for name in self.frame.columns if name not in self.unpublished]]

    @cached_property
    def dependences(self) -> list[Dependence]:
        """Columns published as they are that tell something about generalized ones."""
        from kanopy._table.guessing.inference import find_dependences

        # A column that follows another is published as a function of what that one publishes.
        following = {name for name, treatment in getattr(self.job, "protect", {}).items() if treatment.follows}
        published_columns = [
            name for name in self.frame.columns if name not in {*self.unpublished, *self.names, *following}
        ]
        return find_dependences(self.frame, published_columns, self.names)

    @property
    def units(self) -> Units | None:
        """Whose rows these are, where several may be about one person or household."""
        return self.table.domain.units if isinstance(self.table, Generalizable) else None

    @property
    def domain(self) -> Domain:
        """The distinct tuples with their counts, for algorithms that generalize."""
        assert isinstance(self.table, Generalizable), "maskings have no hierarchies"
        return self.table.domain


def prepare(
    data: Any,
    job: Job | MaskJob,
    *,
    population: Any = None,
    source: str | None = None,
    clock: Clock | None = None,
    progress: Progress = SILENT,
    generalize: bool = False,
    key: bytes | None = None,
) -> Prepared:
    """Read a table and encode it as the job's algorithm needs it.

    `generalize` encodes it for algorithms that generalize even if the job's own is a masking. The `key` decides which
    rows a sample has, where the job asks for one.

    >>> ready = prepare({"age": [31, 31, 52], "name": ["Ada", "Bo", "Cy"]}, Job(quasi=["age"], k=2))
    >>> ready.roles, ready.domain.counts.tolist()
    ({'age': 'quasi-identifier', 'name': 'identifier'}, [2, 1])
    """
    from kanopy._compiler import prepare as prepare_kernels
    from kanopy._table.formats.layout import Layout
    from kanopy._table.frames import to_polars, without_index

    clock = clock or Clock()
    with clock.stage("read"):
        progress("reading")
        data, index = without_index(data, job.roles, keep=job.rest == PUBLISH)
        frame, restore = to_polars(data, Layout.of(job))
        frame, restore = apply_reading_rules(frame, restore, job)
        frame, restore, about_sample = drawn_sample(frame, restore, job, key)
    if not generalize:
        job = _as_it_will_run(frame, job)
    whole, lists = frame, None
    if isinstance(job, Job):
        from kanopy.engine.lists import unrolled

        frame, lists = unrolled(frame, job.quasi, job.separators, job.repeats)
    roles, notes, untouched = roles_of(frame, job)
    notes = (*about_sample, *notes, *about_index(index, job.rest))
    if job.k > frame.height and not (isinstance(job, Job) and not job.quasi):
        raise too_few_rows(job.k, frame.height)
    table: Generalizable | Substitutable
    if isinstance(job, Job):
        with clock.stage("encode"):
            prepare_kernels(first_kernels(job), progress)
            progress("encoding")
            units, about = units_for(frame, job, lists=lists)
            about = about if job.quasi else ()  # nothing is promised of what others know
            notes = (*notes, *(() if lists is None else (lists.note,)), *about, *about_people(whole, job))
            table = generalizable(frame, job, population, units)
    else:
        table, more = _substitutable(frame, job, clock, progress)
        notes = (*notes, *more)
    named = str(data) if isinstance(data, (str, Path)) else f"a {type(data).__module__.split('.')[0]} table"
    source = shown_address(source or named)
    given_population = population if population is not None else getattr(job, "population", None)
    return Prepared(frame, job, roles, notes, source, table, given_population, restore, lists, untouched=untouched)


def roles_of(
    frame: pl.DataFrame, job: Job | MaskJob, distinct: Callable[..., Any] | None = None
) -> tuple[dict[str, str], tuple[str, ...], Untouched]:
    """The role of every column, and what to say of it; `distinct` as in `assign_roles`."""
    assigned = assign_roles(frame, job.roles, job.hierarchies, job.rest, distinct)
    require_used_of(job, "columns", columns=frame.columns)
    named = ("quasi-identifier" in job.roles.values(), "text" in job.roles.values(), getattr(job, "protect", None))
    if not any(named):
        raise JobError("The job names no quasi-identifier. Name the columns that an attacker may know (quasi=…).")
    return assigned


def read_part(frame: pl.DataFrame, job: Job) -> pl.DataFrame:
    """Some of the columns and records of a table as its job reads them.

    >>> import polars as pl
    >>> read_part(pl.DataFrame({"age": ["41", "?"]}), Job(quasi=["age", "sex"], missing_tokens="?"))["age"].to_list()
    ['41', None]
    """
    rules = ReadingRules.of(job).of_records().of_columns(frame.columns)
    return apply_reading_rules(frame, lambda frame, published_rows=None: frame, rules)[0]


def _as_it_will_run(frame: pl.DataFrame, job: Job | MaskJob) -> Job | MaskJob:
    """A job whose algorithm masks as one for masking: textual quasi-identifiers without a hierarchy go by meaning."""
    if not isinstance(job, Job) or not job.masks:
        return job
    from kanopy._table.column import is_text
    from kanopy._table.encode import substituted
    from kanopy.masking.from_job import job_for_masking

    _require(job.quasi, frame, "table")
    text = [
        name
        for name in job.quasi
        if name not in job.hierarchies and is_text(frame[name]) and substituted(frame[name]).as_numbers is None
    ]
    return job_for_masking(job, text)


def _substitutable(
    frame: pl.DataFrame, job: MaskJob, clock: Clock, progress: Progress
) -> tuple[Substitutable, list[str]]:
    from kanopy.masking.encoding import encode_columns, masking_notes, masking_tables

    with clock.stage("encode"):
        progress("encoding")
        columns = encode_columns(frame, job)
    with clock.stage("meanings"):
        progress("looking meanings up")
        guide, judged, wider = masking_tables(frame, job, columns)
    return Substitutable(wider, guide, judged), masking_notes(columns, judged, job)


def units_for(
    frame: pl.DataFrame,
    job: Job,
    multiplicity: Longs | None = None,
    lists: Lists | None = None,
    looked_at: pl.DataFrame | None = None,
) -> tuple[Units | None, tuple[str, ...]]:
    """Whose rows these are, where the job says so, and what to tell about it; `None` where every row stands alone.

    What ties rows of one together is looked for in `looked_at` (rows of the whole table), or in the frame itself.

    A row of the frame that stands for several rows (`multiplicity`) must say whose it is. The elements of a list
    belong to whom its row belongs to, which stands alone unless the job says more.
    """
    import numpy as np

    from kanopy._core.units import ALL, Units, too_many_known
    from kanopy._table.grouping import units_of
    from kanopy._table.roles import called
    from kanopy.release.links.published_links import published_link

    if lists is not None and not job.unit:
        of_row = lists.row_of.astype(np.int32)
        units, longest = Units(of_row, job.known_rows, "records", lists.once), int(np.bincount(of_row).max())
        if units.known > longest:
            raise JobError(
                f"known is {units.known:,}, and no list of {lists.column!r} has more than {longest:,} elements. Choose "
                f"known of at most {longest:,}, or 'all'."
            )
        return units, ()
    if not job.unit:
        require_used_of(job, "table", lists=False)
        return None, ()
    of_row, alone = units_of(frame, job.unit, job.missing_tokens)
    named = None if lists is not None else int(of_row.max()) + 1 - alone
    link = published_link(frame if looked_at is None else looked_at, job) if lists is None else None
    rows_known = ALL if link is not None and job.known is None else job.known_rows
    units = Units(of_row, rows_known, called(job.unit), lists is not None and lists.once, named)
    rows = frame.height if multiplicity is None else int(multiplicity.sum())
    unit_text, longest = some(job.unit), int(np.bincount(of_row, multiplicity).max())
    if alone == rows:
        raise DataError(f"The unit {unit_text} has no values: nothing says whose rows these are. Name another column.")
    if units.count == 1:
        raise DataError(
            f"The unit {unit_text} has one value in all rows: then all rows are about the same one, and no release of "
            f"them "
            "is safe. Name the column that tells people apart."
        )
    notes = []
    if alone:
        lacking = "1 row, which stands" if alone == 1 else f"{alone:,} rows, which stand"
        notes.append(f"The unit {unit_text} is missing in {lacking} alone: each counts as one of the {units.called}.")
    if longest == 1 and lists is None:
        return None, (
            *notes,
            f"Every row has a unit of its own ({unit_text}): counting {units.called} changes nothing.",
        )
    if units.known > longest:
        raise too_many_known(units.known, longest, unit_text)
    if job.k > units.count:
        raise JobError(
            f"k is {job.k:,} but the table is about only {units.count:,} {units.called}. Choose a smaller k."
        )
    if link is not None and job.known is None:
        if job.recoding != "full-domain":
            raise JobError(
                f"All rows of one of the {units.called} are known together, because {link.reason}. The algorithm "
                f"{job.algorithm!r} protects one known row. Use algorithm 'optimal', do not publish what links the "
                "rows, or state the weaker promise (known = 1, --known 1)."
            )
        notes.append(
            f"Known are all rows of one of the {units.called} (known = all), because {link.reason}. For a weaker "
            "promise, state how many are known (known = 1)."
        )
    return units, tuple(notes)


def generalizable(
    frame: pl.DataFrame, job: Job, population: Any, units: Units | None, multiplicity: Longs | None = None
) -> Generalizable:
    """The table reduced to its domain; the hierarchies of its quasi-identifiers and of its sensitive columns."""
    from kanopy.engine.local import LocalEngine

    people = _population(population, job)
    hierarchies = resolve_hierarchies(frame, job, people, multiplicity, None if units is None else units.of_row)
    asked = [name for model in job.models for name in model.sensitive]
    treated = changed_columns(job)
    # Nothing is asked of the classes' values of treated columns: what leaves are others.
    plain = [name for name in job.sensitive if name not in treated and (multiplicity is None or name in frame.columns)]
    needed = dict.fromkeys((*(plain if job.quasi else ()), *asked))
    if job.target is not None:
        if job.target not in frame.columns:
            hint = near_miss(job.target, [name for name in frame.columns if name not in job.quasi])
            raise JobError(f"The table has no column {job.target!r} (the target of {job.algorithm!r}). {hint}")
        needed[job.target] = None
    confidential = {
        name: resolve_hierarchy(
            name,
            with_classes(job.hierarchies[name], frame, name, job.missing_tokens, multiplicity),
            frame[name],
            job.missing_tokens,
            job.least_rows,
            multiplicity=multiplicity,
        )
        for name in asked
        if name in job.hierarchies
    }
    counted = LocalEngine().count(
        frame,
        hierarchies,
        sensitive=tuple(needed),
        sensitive_hierarchies=confidential,
        population=people,
        survey=_survey(frame, job),
        missing=job.missing,
        unknown=job.unknown,
        missing_tokens=job.missing_tokens,
        units=units,
        multiplicity=multiplicity,
    )
    if not len(counted.domain.counts):
        raise DataError("Every row has a missing or unknown value and would be suppressed: nothing is left to publish.")
    return Generalizable(counted, hierarchies, confidential)


def _survey(frame: pl.DataFrame, job: Job) -> Survey | None:
    """Sampling weights and households, where a model asks for them."""
    from kanopy._core.classes import Survey
    from kanopy._table.encode import household_codes, sampling_weights

    _require(tuple(name for name in (job.sampling_weight, job.household) if name is not None), frame, "table")
    if job.sampling_weight is None or not any(model.needs_weights for model in job.models):
        return None
    households = None if job.household is None else household_codes(frame[job.household])[0]
    return Survey(sampling_weights(frame[job.sampling_weight]), households)


def _population(given: Any, job: Job) -> pl.DataFrame | None:
    """The table of everybody, where a model compares with it."""
    from kanopy._table.sources import check_source, is_source

    source = given if given is not None else job.population
    if not any(model.needs_population for model in job.models):
        if source is not None and is_source(source):
            check_source(source)
        return None
    return read_population(source, job)


def _require(names: tuple[str, ...], frame: pl.DataFrame, what: str) -> None:
    absent = [name for name in names if name not in frame.columns]
    if absent:
        raise DataError(f"The {what} has no column {some(absent)}. {near_miss(absent[0], frame.columns)}")


def make_problem(domain: Domain, job: Job, *, by_tuples: bool | None = None) -> Problem:
    """What a search is given: the domain, the job's models, its metric, limits and levels.

    Searches over levels need the distinct tuples alone (`by_tuples`); others, and those that count people, see every
    row.
    """
    from kanopy.metrics.full_domain import metric_named
    from kanopy.search.algorithms import algorithm_class
    from kanopy.search.problem import Problem

    if by_tuples is None:
        by_tuples = algorithm_class(job.algorithm).recoding == "full-domain"
    return Problem(
        domain if by_tuples and domain.units is None and domain.survey is None else domain.expanded(),
        job.all_models,
        metric_named(job.metric),
        weights=[job.weights.get(name, 1.0) for name in domain.names],
        suppression_limit=job.suppress,
        lowest_levels=[job.min_levels.get(name, 0) for name in domain.names],
        highest_levels=[
            job.max_levels.get(name, h.height) for name, h in zip(domain.names, domain.hierarchies, strict=True)
        ],
    )


def first_kernels(job: Job) -> tuple[Any, ...]:
    """The compiled loops that a release is sure to need: of counting rows, and of its search."""
    from kanopy._core.distinct_kernel import number_loop, pack

    if job.recoding != "full-domain":
        from kanopy.search.algorithms import algorithm_class

        return pack, number_loop, *algorithm_class(job.algorithm).kernels()
    from kanopy.search.full_domain.counting_kernel import judge
    from kanopy.search.full_domain.projection_kernel import small_cells

    return judge, small_cells, number_loop, pack
