"""Linked tables at their levels: every table published and verified by itself, before keys are added."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from kanopy._arrays import Mask
from kanopy._core.classes import full_domain_recoding
from kanopy._job.job import Job
from kanopy._progress import Progress
from kanopy.linked.job import LinkedJob
from kanopy.linked.keys import Related
from kanopy.linked.preparation import Table, without_added
from kanopy.release.prepare import Generalizable, Prepared
from kanopy.release.run import MemorySteps, make_release
from kanopy.search.solution import Solution

if TYPE_CHECKING:
    import polars as pl

    from kanopy.linked.run import Whole
    from kanopy.release.result import Result


def apply_levels(
    job: LinkedJob, related: Related, tables: Mapping[str, Table], whole: Whole, notify: Progress
) -> tuple[dict[str, pl.DataFrame], dict[str, Mask], dict[str, Any], list[str]]:
    """Every table at its levels without its suppressed rows, verified by itself; which rows are left; notes."""
    from kanopy.metrics.release_losses import release_losses

    published: dict[str, pl.DataFrame] = {}
    is_published: dict[str, Mask] = {}
    results: dict[str, Any] = {}
    notes: list[str] = list(whole.notes)
    for name in related.order:
        table = tables[name]
        notes += table.notes
        is_suppressed = whole.gone[name]
        is_published[name] = ~is_suppressed
        if table.prepared is None or is_suppressed.all():
            published[name] = _nothing(table)
            notes.append(f"{name}: no row can be published, so the table is empty.")
            continue
        domain = table.prepared.domain
        levels = tuple(whole.levels[name][column] for column in domain.names)
        recoding = full_domain_recoding(domain, levels, np.zeros(len(domain.tuples), np.bool_))
        recoding = replace(recoding, group_of_row=np.where(is_suppressed, np.int32(-1), recoding.group_of_row))
        weights = [table.job.weights.get(column, 1.0) for column in domain.names]
        losses = release_losses(domain, recoding, weights, levels)
        solution = Solution(whole.algorithm, recoding, losses[job.metric], levels)
        released_job = table.job.replaced(suppress=1.0, models=[])  # models judge classes of what is known together
        if job.known_rows == 0 and name != related.people:
            published[name] = _unsearched(table, solution, released_job)
        else:
            result = _released(replace(table.prepared, job=released_job), released_job, solution, notify)
            published[name], results[name] = result.published, result
        published[name], held = _without_person(related, tables, name, published, is_published)
        notes += [f"{name}: {note}" for note in held]
        if name not in results:
            continue
        notes += [f"{name}: {note}" for note in without_added(result.notes, table.marker, table.unit)
                  if note not in table.prepared.all_notes and not note.startswith("The whole trace of")]  # fmt: skip
    return published, is_published, results, list(dict.fromkeys(notes))


def _without_person(
    related: Related, tables: Mapping[str, Table], name: str, published: Mapping[str, pl.DataFrame],
    is_published: Mapping[str, Mask],
) -> tuple[pl.DataFrame, tuple[str, ...]]:  # fmt: skip
    """A table of events without the columns that undo the generalization of its persons' columns (such as the age at
    a visit beside the year of birth), and what to say of them."""
    import polars as pl

    from kanopy._table.guessing.dependence import drawn
    from kanopy._table.guessing.inference import find_dependences
    from kanopy.release.withholding import held_back

    frame, people, job = published[name], related.people, tables[name].job
    if people is None or name == people or not frame.height:
        return frame, ()
    quasi = [column for column in tables[people].job.quasi if column != tables[people].marker]
    published_columns = [column for column in frame.columns if column not in job.quasi]
    if not quasi or not published_columns:
        return frame, ()
    rows = drawn(frame.height)
    own_rows = np.flatnonzero(is_published[name])[rows]
    unit = related.unit_of_row[name][own_rows].astype(np.int64)
    person_row = (np.cumsum(is_published[people]) - 1)[unit]
    theirs = [related.frames[people][column][unit].alias(f"{people}.{column}") for column in quasi]
    original = pl.DataFrame([*(related.frames[name][column][own_rows] for column in published_columns), *theirs])
    labels = {f"{people}.{column}": published[people][column][person_row] for column in quasi}
    dependences = find_dependences(original, published_columns, list(labels))
    held, notes = held_back(dependences, original, labels, job) if dependences else ([], ())
    return frame.drop(held), notes


def _nothing(table: Table) -> pl.DataFrame:
    """The columns that leave, without rows."""
    import polars as pl

    quasi = [name for name in table.job.quasi if name != table.marker]
    leaving = {*quasi, *table.job.sensitive, *table.job.insensitive}
    frame = table.frame.select(name for name in table.frame.columns if name in leaving).clear()
    return frame.with_columns(pl.col(quasi).cast(pl.String)) if quasi else frame


def _unsearched(table: Table, solution: Solution, job: Job) -> pl.DataFrame:
    """A table of which no row is assumed to be known: its lowest labels, read again whether they are true."""
    from kanopy.release.run import apply_solution
    from kanopy.release.verification import verified_labels
    from kanopy.release.withholding import without_dependent

    assert table.prepared is not None and isinstance(table.prepared.table, Generalizable)
    ready = replace(table.prepared, job=job)
    frame, is_published = apply_solution(ready, job, solution)
    ready, after, frame, _ = without_dependent(ready, job, frame, is_published)
    verified_labels(ready, ready.table, after, frame, is_published, ready.names)  # type: ignore[arg-type]
    return frame


def _released(prepared: Prepared, job: Job, given_solution: Solution, notify: Progress) -> Result:
    return make_release(MemorySteps(lambda: prepared, job, notify=notify), solution=given_solution)
