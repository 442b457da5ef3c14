"""What is withheld from a release: columns that undo the generalization of others, and sensitive values of suppressed
rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from kanopy._errors import some
from kanopy._job.job import Job
from kanopy._table.roles import UNPUBLISHED_ROLES, Role
from kanopy.release.prepare import Generalizable, Prepared, read_part
from kanopy.release.treated.copies import undoing_columns

if TYPE_CHECKING:
    import polars as pl

    from kanopy._arrays import Mask
    from kanopy._core.classes import Classes
    from kanopy._table.guessing.dependence import Dependence
    from kanopy.masking.job import MaskJob
    from kanopy.masking.masking_result import Masked
    from kanopy.search.solution import Solution


def without_dependent(
    prepared: Prepared, job: Job | MaskJob, published: pl.DataFrame, is_published: Mask | None
) -> tuple[Prepared, Job | MaskJob, pl.DataFrame, tuple[str, ...]]:
    """What is about to leave without the columns that undo its generalization, which become undecided; what to say."""
    if not isinstance(job, Job) or not isinstance(prepared.table, Generalizable):
        return prepared, job, published, ()
    if not prepared.dependences and not job.protect:
        return prepared, job, published, ()
    from kanopy._table.guessing.dependence import drawn

    rows = drawn(published.height)
    rows_compared = rows if is_published is None else np.flatnonzero(is_published)[rows]
    labels = {name: published[name][rows] for name in prepared.names}
    held, notes = held_back(prepared.dependences, prepared.frame[rows_compared], labels, job)
    if job.protect:
        published_columns = [
            name for name in published.columns if name not in {*prepared.names, *job.pseudonymize, *held}
        ]
        undoing, about = undoing_columns(prepared.frame[rows_compared], published_columns, job, needed_columns(job))
        held, notes = [*held, *undoing], (*notes, *about)
    if held:
        prepared = replace(prepared, roles={**prepared.roles, **dict.fromkeys(held, str(Role.UNDECIDED))})
        job, published = job_without(job, held), published.drop(held)
    return prepared, job, published, notes


def without_dependent_elsewhere(
    engine: Any,
    roles: Mapping[str, str],
    job: Job,
    keys: Sequence[str],
    labels_of: Callable[[pl.DataFrame], Mapping[str, pl.Series]],
) -> tuple[dict[str, str], Job, tuple[str, ...]]:
    """The same where rows stay with an engine: roles and job without such columns, and what to say.

    Rows that the engine draws tell; `labels_of` says what those with these `keys` show.
    """
    from kanopy._table.guessing.dependence import MOST_ROWS
    from kanopy._table.guessing.inference import find_dependences

    published_columns = [
        name for name in engine.schema.names() if roles.get(name) not in UNPUBLISHED_ROLES and name not in job.quasi
    ]
    if not published_columns:
        return dict(roles), job, ()
    drawn = engine.sample(list(dict.fromkeys((*published_columns, *keys))), MOST_ROWS)
    read = read_part(drawn, job)
    dependences = find_dependences(read, published_columns, job.quasi)
    held, notes = held_back(dependences, read, labels_of(drawn), job) if dependences else ([], ())
    if job.protect:
        rest = [name for name in published_columns if name not in {*job.pseudonymize, *held}]
        undoing, about = undoing_columns(read, rest, job, needed_columns(job))
        held, notes = [*held, *undoing], (*notes, *about)
    if held:
        roles, job = {**roles, **dict.fromkeys(held, str(Role.UNDECIDED))}, job_without(job, held)
    return dict(roles), job, notes


def held_back(
    dependences: Sequence[Dependence], original: pl.DataFrame, labels: Mapping[str, pl.Series], job: Job
) -> tuple[list[str], tuple[str, ...]]:
    """The columns that undo the generalization of these rows and are not to leave, and what to say of them."""
    from kanopy._table.guessing.inference import narrowed, withheld

    return withheld(narrowed(dependences, original, labels), job.allow_dependent, needed_columns(job))


def needed_columns(job: Job) -> list[str]:
    """The columns that a job cannot do without: those its models and its target name."""
    asked = [name for model in job.models for name in (*model.sensitive, *model.hidden)]
    more = (job.target, job.sampling_weight, job.household)
    return [*asked, *(name for name in more if name is not None)]


def job_without(job: Job, held: Sequence[str]) -> Job:
    """A job whose columns that are held back are undecided."""
    return job.replaced(
        sensitive=[name for name in job.sensitive if name not in held],
        insensitive=[name for name in job.insensitive if name not in held],
        undecided=[*job.undecided, *held],
    )


def withhold_values(
    prepared: Prepared, job: Job | MaskJob, solution: Solution | Masked, published: pl.DataFrame
) -> tuple[pl.DataFrame, list[str], tuple[str, ...]]:
    """The published rows without the sensitive values that suppressed rows must lose; their columns; what to say."""
    from kanopy._core.classes import Classes
    from kanopy._core.histograms import histogram
    from kanopy._table.column import withheld_values
    from kanopy.masking.masking_result import Masked

    if isinstance(solution, Masked) or not isinstance(job, Job):  # maskings suppress nothing
        return published, [], ()
    suppressed, rows = solution.recoding.group_of_row < 0, solution.recoding.suppressed_rows
    sensitive = [name for name, role in prepared.roles.items() if role == "sensitive"]
    if job.suppressed_rows == "drop" or not rows or not sensitive:
        return published, [], ()
    columns, units = prepared.domain.sensitive, prepared.units
    one = np.where(suppressed, 0, -1)
    if units is None:
        size = rows
        counts = {
            sensitive.name: histogram(one, sensitive.code_of_row, 1, len(sensitive.values), sensitive.multiplicity)
            for sensitive in columns
        }
    else:
        size = int(units.people(one, 1)[0])
        counts = {
            sensitive.name: units.histogram(one, sensitive.code_of_row, 1, len(sensitive.values))
            for sensitive in columns
        }
    suppressed_class = Classes(np.array([size]), histograms=counts, facts=prepared.domain.facts)
    called = "" if units is None else f" {units.called} behind them"
    withheld, notes = values_to_withhold(job, sensitive, rows, suppressed_class, called)
    published = published.with_columns(
        withheld_values(published[name], suppressed) for name in withheld if name in published.columns
    )
    return published, withheld, notes


def values_to_withhold(
    job: Job, sensitive: Sequence[str], rows: int, suppressed: Classes, called: str = ""
) -> tuple[list[str], tuple[str, ...]]:
    """The sensitive columns whose values suppressed rows must lose, as those rows are no safe class; what to say of it.

    Suppressed rows look alike, so they are a class like any other: fewer than k of them, or a model that does not
    hold for them, would tell what the people behind them have.
    """
    from kanopy.privacy.models import failing

    too_few = suppressed.smallest < job.least_rows
    withheld = [
        name
        for name in sensitive
        if too_few
        or any(name in model.sensitive and (model.hidden or failing(model, suppressed).any()) for model in job.models)
    ]
    notes, safe = [], [name for name in sensitive if name not in withheld]
    subject = "The suppressed row is" if rows == 1 else f"The {rows:,} suppressed rows are"
    if withheld:
        few = f"there are fewer than {'k = ' if job.k > 1 else ''}{job.least_rows:,}{called}"
        why = few if too_few else "a model does not hold for them"
        notes.append(f"{subject} published without the values of {some(withheld)}: {why}.")
    if safe:
        notes.append(
            f"{subject} published with the values of {some(safe)}: together they are as safe as any other class."
        )
    return withheld, tuple(notes)
