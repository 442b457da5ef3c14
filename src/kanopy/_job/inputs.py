"""What a job says of a table's columns: the role of each, and a hierarchy per quasi-identifier."""

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
