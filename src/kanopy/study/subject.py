"""What is studied: a table read as its job says, and what the job says of it. Every study starts from one of these."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from kanopy._errors import DataError, JobError, near_miss, some
from kanopy._job.coercion import as_job
from kanopy._job.job import Job
from kanopy._job.reading_rules import ReadingRules, read_records
from kanopy._job.usage import PLACES, STUDIED
from kanopy._parameters import parameters_of
from kanopy._table.formats.layout import Layout
from kanopy._usage import Needs, in_vain, refuse_in_vain
from kanopy.engine.opening import PATH, place_of

if TYPE_CHECKING:
    import polars as pl

    from kanopy._job.coercion import JobSource
    from kanopy.hierarchy.hierarchy import Hierarchy
    from kanopy.privacy.models import Model

SURVEY = ("population", "sampling_weight", "household")
"""What only some models look at."""


@dataclass(frozen=True, eq=False)
class Subject:
    """A table as `anonymize` would read it, its job, and the models that are asked of it."""

    frame: pl.DataFrame
    job: Job
    models: tuple[Model, ...]
    population: pl.DataFrame | None = None
    as_release: bool = False

    @classmethod
    def of(
        cls, data: Any, job: JobSource | None, *, population: Any = None, as_release: bool = False,
        engine: str = "auto", **settings: Any
    ) -> Subject:  # fmt: skip
        """The table with its job; `settings` are arguments of `Job` that take the place of the job's own, or, of
        models, are added to them.

        A release is read as it stands (`as_release`): what means missing, and which rows are no records, was settled
        when it was made. An `engine` other than memory counts the columns that the study looks at where the table is.

        >>> table = {"age": ["years", "41", "?"]}
        >>> found = Subject.of(table, {"skip-rows": 1, "missing-tokens": "?"}, quasi="age", models="k:3")
        >>> found.frame.rows(), [model.name for model in found.models]
        ([('41',), (None,)], ['k'])
        """
        wanted = studied_job(job, settings)
        models = wanted.all_models if job is not None or wanted.says("k") else wanted.models
        rules = ReadingRules() if as_release else ReadingRules.of(wanted)
        if not isinstance(data, (str, os.PathLike)):
            Layout.of(settings).refuse_but(where="The table", what="not a file")
        location = place_of(data, engine)
        if location in (PATH, "memory"):
            layout = Layout.of(settings if as_release else wanted)
            frame = read_records(data, wanted, rules=rules, layout=layout, part=True)
        else:
            frame = counted_records(location, data, wanted, rules)
        source = population if population is not None else wanted.population
        people = None
        if any(model.needs_population for model in models):
            from kanopy._job.inputs import read_population

            people = read_population(source, wanted)
        return cls(frame, wanted, models, people, as_release)

    def require_unit(self) -> None:
        """Refuse to count people in a table that does not say whose rows it has."""
        if absent := [name for name in self.job.unit if name not in self.frame.columns]:
            raise DataError(
                f"The table has no column {some(absent)}. It identifies the person of a row, and people cannot be "
                f"counted without it. A release does not contain it. {near_miss(absent[0], self.frame.columns)}"
            )

    def hierarchies(self, names: Collection[str]) -> dict[str, Hierarchy]:
        """Those that the job has for some columns. What it builds from values is built for the columns that are
        published as they are."""
        from pathlib import Path

        from kanopy._job.inputs import resolve_hierarchy, with_classes
        from kanopy.hierarchy.hierarchy import Hierarchy

        resolved = {}
        for name in names:
            source = self.job.hierarchies.get(name)
            if source is None or name not in self.frame.columns:
                continue
            if name in self.job.quasi and not isinstance(source, (Hierarchy, str, Path)):
                continue
            with_target = with_classes(source, self.frame, name)
            resolved[name] = resolve_hierarchy(name, with_target, self.frame[name], k=self.job.least_rows)
        return resolved


def counted_records(engine: str, data: Any, job: Job, rules: ReadingRules) -> pl.DataFrame:
    """The columns of a table that a study looks at, from their distinct rows as an engine counts them.

    Only these columns come here, in the order of the distinct rows and not in that of the table.
    """
    import numpy as np

    from kanopy.engine.contract import ROWS
    from kanopy.engine.opening import open_table

    named = [name for model in job.models for name in (*model.sensitive, *model.hidden, *model.quasi)]
    survey = [name for name in (job.sampling_weight, job.household) if name is not None]
    if not job.quasi:
        raise DataError(f"Name at least one quasi-identifier: the engine {engine!r} counts the columns that are named.")
    with open_table(engine, data, layout=Layout.of(job), skip=rules.skip_rows) as there:
        if rules.skip_rows and not there.reads_batches:
            raise JobError(f"The engine {there.name!r} skips no rows (skip_rows). Use a query, or the engine 'memory'.")
        wanted = dict.fromkeys((*job.quasi, *job.sensitive, *job.unit, *named, *survey))
        columns = [name for name in wanted if name in there.schema]
        if not columns:
            raise DataError(f"The table has no column {some(list(wanted))}. {near_miss(job.quasi[0], there.schema)}")
        if lists := [name for name in columns if name in job.separators or there.schema[name].is_nested()]:
            raise JobError(
                f"{some(lists)} contains lists, which only the engine memory splits. Use the engine 'memory'."
            )
        counted = there.count(columns)
    rows = np.repeat(np.arange(counted.height), counted[ROWS].to_numpy())
    return read_records(counted.drop(ROWS)[rows], job, rules=rules.of_records(), part=True)


def studied_job(job: JobSource | None, settings: Mapping[str, Any]) -> Job:
    """An ordinary job that says what a study looks at: what `settings` say, and else what the job says.

    >>> from kanopy import MaskJob
    >>> found = studied_job(MaskJob(text="why", sensitive="ill", diversity={"ill": 2}, k=3), {})
    >>> found.quasi, found.k, [model.name for model in found.models]
    (('why',), 3, ['l-distinct'])
    """
    from kanopy.privacy.models import make_models

    base = Job() if job is None else as_job(job)
    if not isinstance(base, Job):
        alike = ("k", "sensitive", "models", "missing_tokens", "identifiers", "insensitive", "undecided", "withheld")
        base = Job(quasi=base.columns, **{name: getattr(base, name) for name in alike})
    if strangers := [name for name in settings if name not in STUDIED]:
        if strangers[0] in parameters_of(Job):
            raise JobError(f"{some(strangers)} is about making a release: a study of a table does not use it.")
        raise JobError(f"A study takes no argument {strangers[0]!r}. {near_miss(strangers[0], STUDIED)}")
    changes = {name: value for name, value in settings.items() if value is not None}
    if "models" in changes:
        changes["models"] = (*base.models, *make_models(changes["models"]))
    for name, value in changes.items():
        # Columns that are not named keep the job's.
        if isinstance(value, Mapping) and isinstance(getattr(base, name), Mapping):
            changes[name] = {**getattr(base, name), **value}
    named = {name for role in ("unit", "quasi", "sensitive") for name in column_names(changes.get(role)) or ()}
    if named and job is not None:  # a role that is said now takes the place of the job's
        for role in ("quasi", "sensitive", "identifiers", "insensitive", "undecided", "withheld", "unit"):
            left = tuple(name for name in getattr(base, role) if name not in named)
            if role not in changes and left != getattr(base, role):
                changes[role] = left
    quasi = changes.get("quasi", base.quasi)
    if base.quasi and quasi is not base.quasi:
        quasi_names = column_names(quasi) or ()
        for name in ("min_levels", "max_levels", "weights", "separators"):
            if name not in changes:
                changes[name] = {
                    column: value for column, value in getattr(base, name).items() if column in quasi_names
                }
    studied = base.replaced(**changes) if changes else base
    if changes.get("places"):
        refuse_in_vain(in_vain(["places"], {"places": PLACES}, studied))
    return studied


def refuse_unused(models: Sequence[Model], given: Collection[str]) -> None:
    """Refuse what was given though none of the models looks at it.

    >>> refuse_unused([], ["population"])
    Traceback (most recent call last):
    kanopy.extend.JobError: No model compares with a population: add one such as k-map:5, or leave it out.
    """
    for name, needs, words in (
        ("population", "needs_population", "compares with a population: add one such as k-map:5"),
        ("sampling_weight", "needs_weights", "adds up sampling weights: add one such as individual-risk:0.1"),
        ("household", "needs_households", "looks at households: add one such as household-risk:0.1"),
    ):
        if name in given and not any(getattr(model, needs) for model in models):
            raise JobError(f"No model {words}, or leave it out.")


def refuse_alone(beside: Any, **given: Any) -> None:
    """Refuse what says how another release is joined where there is none."""
    if beside is None and (alone := [name for name, value in given.items() if value is not None]):
        raise JobError(
            f"{some(alone)} states how this table is joined with another. Name the other table, or leave it out."
        )


JOINED = {
    "in_order": Needs("releases that no column joins (leave on out)", lambda asked: asked.on is None),
    "one_level": Needs(
        "shuffled releases (in_order=False) that no column joins", lambda asked: asked.on is None and not asked.in_order
    ),
}
"""What says how two releases lie beside each other, where a column joins them or their order does."""


def refuse_joined(beside: Any, *, on: str | None, in_order: bool, one_level: bool) -> None:
    """Refuse what is said in vain of how two releases lie beside each other.

    >>> refuse_joined([], on="id", in_order=False, one_level=False)
    Traceback (most recent call last):
    kanopy.extend.JobError: in_order has no effect without releases that no column joins (leave on out). Leave ...
    """
    questions = {"in_order": None if in_order else False, "one_level": one_level or None}
    refuse_alone(beside, **questions)
    given = [name for name, value in questions.items() if value is not None]
    refuse_in_vain(in_vain(given, JOINED, SimpleNamespace(on=on, in_order=in_order)))


def refuse_elsewhere(data: Any, engine: str, **given: Any) -> None:
    """Refuse what compares rows of the table with others, where an engine only counts its distinct rows."""
    asked = [name for name, value in given.items() if value is not None]
    if asked and place_of(data, engine) not in (PATH, "memory"):
        raise JobError(f"{some(asked)} needs single rows, which this engine does not read. Use the engine 'memory'.")


def column_names(given: Any) -> tuple[str, ...] | None:
    """Names of columns, as text or list; `None` where none were given."""
    from kanopy._parameter_types import ColumnNames, taken

    return None if given is None else tuple(taken(ColumnNames(), given, "columns"))
