"""What a run starts from: the role of every column, a hierarchy per quasi-identifier, and the problem they make."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kanopy._arrays import MISSING_LABEL
from kanopy._errors import DataError, JobError, near_miss, some
from kanopy._job.job import HierarchySource, Job
from kanopy.hierarchy.hierarchy import Hierarchy

if TYPE_CHECKING:
    import polars as pl

    from kanopy._core.classes import Domain
    from kanopy.engine.local import Counted
    from kanopy.search.problem import Problem

MOST_LEVELS = 8
SEARCHES_OVER_LEVELS = ("optimal", "samarati", "datafly", "incognito")


def assign_roles(
    frame: pl.DataFrame, given: Mapping[str, str], hierarchies: Iterable[str] = ()
) -> tuple[dict[str, str], tuple[str, ...]]:
    """The role of every column, and what to tell the user about it; `hierarchies` are the columns that have one.

    Columns without a given role are published as they are, unless they say whose row it is: those never leave.
    """
    from kanopy._table.roles import identifying_column

    absent = [name for name in given if name not in frame.columns]
    if absent:
        raise DataError(f"The table has no column {some(absent)}. {near_miss(absent[0], frame.columns)}")
    roles: dict[str, str] = {}
    notes = []
    for name in frame.columns:
        role = given.get(name)
        if role is None:
            meaning = identifying_column(frame[name])
            role = "insensitive" if meaning is None else "identifier"
            if meaning is not None:
                notes.append(
                    f"The column {name!r} was left out: its name speaks of {meaning}. "
                    "Name it insensitive in the job to publish it all the same."
                )
        roles[name] = role
    unused = [name for name in hierarchies if name not in frame.columns]
    if unused:
        hint = near_miss(unused[0], frame.columns)
        notes.append(f"No column has the name of these hierarchies: {some(unused)}. {hint}")
    return roles, tuple(notes)


def about_index(names: Sequence[str | None], identifiers: Collection[str]) -> tuple[str, ...]:
    """A table's index goes out as it came in: refuse one that says who a row is about, mention any other."""
    from kanopy._table.roles import identifying_name

    for name in names:
        meaning = None if name is None else identifying_name(name)
        if meaning is not None or name in identifiers:
            raise DataError(
                f"The index {name!r} of the table would be published, and it speaks of {meaning or 'an identifier'}. "
                "Make it a column with reset_index(), or leave it out with reset_index(drop=True)."
            )
    return ("The index of the table is published as it is; reset_index(drop=True) leaves it out.",) if names else ()


def resolve_hierarchies(frame: pl.DataFrame, job: Job, population: pl.DataFrame | None = None) -> dict[str, Hierarchy]:
    """A hierarchy per quasi-identifier: given, read from its file, or built from the column (and the population's)."""
    from kanopy.engine.local import stacked

    most_levels = MOST_LEVELS if job.algorithm in SEARCHES_OVER_LEVELS else None
    return {
        name: resolve_hierarchy(
            name,
            job.hierarchies.get(name),
            frame[name] if population is None else stacked(frame, population, name),
            job.missing_tokens,
            job.k,
            most_levels,
        )
        for name in job.quasi
    }


def resolve_hierarchy(
    name: str,
    source: HierarchySource | None,
    column: pl.Series,
    missing_tokens: Sequence[str] = (),
    k: int = 5,
    most_levels: int | None = None,
) -> Hierarchy:
    """One hierarchy from whatever the job gives for it; nothing given means the best that fits the column.

    `most_levels` cuts a tree that was chosen automatically: each level multiplies the candidates of a search over
    levels without telling readers much more.
    """
    from kanopy._table.column import typed_column
    from kanopy.hierarchy.files.files import read_hierarchy

    if isinstance(source, Hierarchy):
        return source.renamed(name) if source.name != name else source
    if isinstance(source, (str, Path)):
        return read_hierarchy(source, column=name)
    values = typed_column(column, missing_tokens=missing_tokens, name=name)
    if values is None:
        return Hierarchy.flat([MISSING_LABEL], name=name)
    if source is None:
        parameters: dict[str, Any] = {"method": "auto"}
    elif isinstance(source, Mapping):
        parameters = dict(source)
        if "method" not in parameters:
            raise JobError(f'The hierarchy of {name!r} names no method, e.g. hierarchy = {{ method = "iotf" }}.')
    else:
        return source.build_column(values).rooted()
    # The builders bring the ontologies along; a job whose hierarchies are given does without them.
    from kanopy.hierarchy.builders.registry import build_hierarchy

    if parameters["method"] == "auto":
        # Groups larger than the column has values cannot be compared; missing ones are no part of a hierarchy.
        parameters.setdefault("k", min(k, values.rows))
    built = build_hierarchy(values, **parameters).rooted()
    return built.with_levels(most_levels) if parameters["method"] == "auto" and most_levels else built


def count_table(
    frame: pl.DataFrame, job: Job, population: Any
) -> tuple[Counted, dict[str, Hierarchy], dict[str, Hierarchy]]:
    """The table reduced to its domain; the hierarchies of its quasi-identifiers and of its sensitive columns."""
    from kanopy.engine.local import LocalEngine

    people = _population(population, job)
    hierarchies = resolve_hierarchies(frame, job, people)
    needed = dict.fromkeys((*job.sensitive, *(name for model in job.models for name in model.sensitive)))
    if job.target is not None:
        if job.target not in frame.columns:
            hint = near_miss(job.target, [name for name in frame.columns if name not in job.quasi])
            raise JobError(f"The table has no column {job.target!r} (the target of {job.algorithm!r}). {hint}")
        needed[job.target] = None
    confidential = _sensitive_hierarchies(frame, job)
    counted = LocalEngine().count(
        frame,
        hierarchies,
        sensitive=tuple(needed),
        sensitive_hierarchies=confidential,
        population=people,
        missing=job.missing,
        unknown=job.unknown,
        missing_tokens=job.missing_tokens,
    )
    if not len(counted.domain.counts):
        raise DataError("Every row has a missing or unknown value and would be suppressed: nothing is left to publish.")
    return counted, hierarchies, confidential


def encode(data: Any, job: Job, *, population: Any = None) -> Domain:
    """The domain of a table under a job: what every search starts from, without searching."""
    from kanopy._table.frames import to_polars

    frame, _ = to_polars(data)
    assign_roles(frame, job.roles)
    if not job.quasi:
        raise JobError("The job names no quasi-identifier. Name the columns that others may know (quasi=…).")
    return count_table(frame, job, population)[0].domain


def make_problem(domain: Domain, job: Job) -> Problem:
    """What a search is given: the domain, the job's models, its metric, limits and levels."""
    from kanopy.metrics.full_domain import metric_named
    from kanopy.search.problem import Problem

    return Problem(
        domain,
        job.all_models,
        metric_named(job.metric),
        weights=[job.weights.get(name, 1.0) for name in domain.names],
        suppression_limit=job.suppress,
        lowest_levels=[job.min_levels.get(name, 0) for name in domain.names],
        highest_levels=[
            job.max_levels.get(name, h.height) for name, h in zip(domain.names, domain.hierarchies, strict=True)
        ],
    )


def _population(given: Any, job: Job) -> pl.DataFrame | None:
    """The table of everybody, where a model compares with it."""
    from kanopy._table.frames import to_polars

    source = given if given is not None else job.population
    if not any(model.needs_population for model in job.models):
        return None
    if source is None:
        raise JobError("A model compares with a population. Give one (population=…, --population FILE).")
    people, _ = to_polars(source)
    absent = [name for name in job.quasi if name not in people.columns]
    if absent:
        raise DataError(f"The population has no column {some(absent)}. {near_miss(absent[0], people.columns)}")
    return people.select(job.quasi)


def _sensitive_hierarchies(frame: pl.DataFrame, job: Job) -> dict[str, Hierarchy]:
    """Hierarchies of sensitive columns that models measure distances on."""
    named = [name for model in job.models for name in model.sensitive if name in job.hierarchies]
    return {
        name: resolve_hierarchy(name, job.hierarchies[name], frame[name], job.missing_tokens, job.k) for name in named
    }
