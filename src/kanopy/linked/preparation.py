"""Linked tables made ready for a search: read, with whose rows they are, with hierarchies that domains share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from kanopy._errors import DataError, JobError
from kanopy._job.job import Job
from kanopy._progress import Progress
from kanopy._table.formats.layout import Layout
from kanopy.linked.job import At, LinkedJob
from kanopy.linked.keys import Related
from kanopy.release.prepare import Generalizable, Prepared, prepare

if TYPE_CHECKING:
    import polars as pl

    from kanopy.hierarchy.hierarchy import Hierarchy


UNSAID_LAYOUT: dict[str, Any] = dict.fromkeys(Layout.__dataclass_fields__)
"""What is said of the form of a file is of no use once it is read."""


@dataclass(frozen=True, eq=False)
class Table:
    """A table of a linked job, prepared: `None` where it has too few people to publish any row."""

    name: str
    job: Job
    frame: pl.DataFrame
    prepared: Prepared | None
    unit: str
    repeated: tuple[str, ...] = ()
    """Columns of the person that its rows repeat: they get the person's labels."""
    marker: str | None = None
    """A column that was added because the table has no quasi-identifier of its own."""
    notes: tuple[str, ...] = field(default=())


def read_tables(job: LinkedJob, encoding: str | None = None) -> tuple[dict[str, pl.DataFrame], dict[str, Any]]:
    """The records of every table, keys that are empty texts as missing, and where each came from."""
    import polars as pl

    from kanopy._job.reading_rules import read_records
    from kanopy._table.sources import is_source, read_source
    from kanopy.linked.formats.fhir import fhir_table, is_fhir

    frames, sources = {}, {}
    for name in job.tables:
        source = job.source_of(name)
        fhir = is_fhir(source)
        layout = Layout(encoding).over(job.job_of(name))
        read = read_source(source, layout=layout) if is_source(source) and not fhir else None
        given = fhir_table(str(source), name) if fhir else source if read is None else read.frame
        if isinstance(given, pl.DataFrame) and given.width and not given.height:
            frame = given  # a table without rows is published without rows
        else:
            frame = read_records(given, job.job_of(name).replaced(**UNSAID_LAYOUT))
        blank = [
            column for column in job.key_columns(name) if column in frame.columns and frame[column].dtype == pl.String
        ]
        frames[name] = (
            frame.with_columns(pl.when(pl.col(blank) != "").then(pl.col(blank)).name.keep()) if blank else frame
        )
        sources[name] = read
    return frames, sources


def shared_domains(job: LinkedJob, related: Related) -> list[tuple[At, ...]]:
    """Columns that share labels: those that the job names, and quasi-identifiers of one name in tables of events."""
    domains = [tuple(domain) for domain in job.domains]
    taken = {at for domain in domains for at in domain}
    for at in taken:
        if at.column not in job.job_of(at.table).quasi:
            raise JobError(f"{at} shares labels with other columns and is not a quasi-identifier. Give it this role.")
    by_name: dict[str, list[At]] = {}
    for name in related.order:
        if name != related.people:
            for column in job.job_of(name).quasi:
                if At(name, column) not in taken:
                    by_name.setdefault(column, []).append(At(name, column))
    return domains + [tuple(columns) for columns in by_name.values() if len(columns) > 1]


def _repeated(job: LinkedJob, related: Related, name: str, domains: Sequence[Sequence[At]]) -> tuple[str, ...]:
    """Quasi-identifiers of the person that a table repeats; raises where they disagree with the person's."""
    people = related.people
    if people is None or name == people:
        return ()
    own_job, theirs = job.job_of(name), job.job_of(people)
    together = [set(domain) for domain in domains]
    repeated = []
    for column in theirs.quasi:
        role = own_job.roles.get(column)
        shares = any({At(name, column), At(people, column)} <= domain for domain in together)
        if role is None or role == "identifier" or shares:
            continue
        ours = related.frames[name][column]
        person = related.frames[people][column][related.unit_of_row[name].astype(np.int64)]
        from kanopy.verify.regroup import labels_of_values

        differ = int((labels_of_values(ours).rename("") != labels_of_values(person).rename("")).sum())
        if differ:
            raise DataError(
                f"{At(name, column)} repeats {At(people, column)} and differs from it in {differ:,} of {len(ours):,} "
                "rows. Correct one of them; if they are different things, rename the column, or say that they share "
                f'labels: [[domains]] columns = ["{At(people, column)}", "{At(name, column)}"].'
            )
        repeated.append(column)
    return tuple(repeated)


def prepared_table(
    job: LinkedJob, related: Related, name: str, domains: Sequence[Sequence[At]], source: Any, notify: Progress,
    history: pl.Series | None = None, trees: Mapping[str, Hierarchy] | None = None,
) -> Table:  # fmt: skip
    """One table, encoded, with whose rows they are in a column of its own. The table of people carries a `history` as a
    further column that is not generalized; `trees` are hierarchies that were made before."""
    import polars as pl

    from kanopy.hierarchy.hierarchy import Hierarchy

    frame, own_job = related.frames[name], job.job_of(name)
    repeated = _repeated(job, related, name, domains)
    for column in repeated:
        own_job = own_job.with_role(column, "identifier")
    if history is not None and name == related.people:
        frame, own_job = frame.with_columns(history), with_history(own_job, history)
    unit = job.unit.column if job.unit.column not in frame.columns else f"{job.unit.column} of the unit"
    marker = None
    if not own_job.quasi:
        marker = "\0table"
        frame = frame.with_columns(pl.lit(name).alias(marker))
        own_job = own_job.replaced(
            quasi=[marker], hierarchies={**own_job.hierarchies, marker: Hierarchy.flat([name], name=marker)}
        )
    own_job = own_job.replaced(skip_rows=0, column_tokens={}, decimals={}, **UNSAID_LAYOUT)
    if name != related.people:
        frame = frame.with_columns(pl.Series(unit, related.unit_of_row[name]))
        own_job = own_job.replaced(unit=[unit], known=1)
    made = _hierarchies_of_domains(job, related, own_job, name, domains) if trees is None else trees
    own_job = own_job.replaced(hierarchies={**own_job.hierarchies, **made})
    people = len(np.unique(related.unit_of_row[name]))
    if people < job.k:
        return Table(name, own_job, frame, None, unit, repeated, marker)
    if people == frame.height and own_job.unit:
        own_job = own_job.replaced(unit=[], known=None, identifiers=[*own_job.identifiers, unit])
    ready = prepare(frame, own_job, source=None if source is None else _named(source), progress=notify)
    if ready.lists is not None or not isinstance(ready.table, Generalizable):
        raise JobError(
            f"The table {name!r} contains lists, which cannot be published together with other tables. Make a table "
            "of the lists."
        )
    assert isinstance(ready.job, Job)
    notes = tuple(note for note in ready.all_notes if "changes nothing" not in note and "has no role" not in note)
    return Table(
        name,
        ready.job,
        frame,
        ready,
        unit,
        repeated,
        marker,
        tuple(f"{name}: {note}" for note in without_added(notes, marker, unit)),
    )


def with_history(job: Job, histories: pl.Series) -> Job:
    """The job with the history of every person as a quasi-identifier that keeps its values and costs nothing."""
    from kanopy.hierarchy.hierarchy import Hierarchy

    name = histories.name
    tree = Hierarchy.flat(list(dict.fromkeys(histories.to_list())), name=name)
    return job.replaced(
        quasi=[*job.quasi, name], hierarchies={**job.hierarchies, name: tree},
        max_levels={**job.max_levels, name: 0}, min_levels={**job.min_levels, name: 0},
        weights={**job.weights, name: 0.0},
    )  # fmt: skip


def _named(source: Any) -> str | None:
    return None if source.path is None else str(source.path)


def without_added(notes: Sequence[str], *hidden: str | None) -> list[str]:
    """Notes that do not speak of columns that were added here."""
    return [note for note in notes if not any(name is not None and f"'{name}'" in note for name in hidden)]


def _hierarchies_of_domains(
    job: LinkedJob, related: Related, table_job: Job, name: str, domains: Sequence[Sequence[At]]
) -> dict[str, Any]:
    """The hierarchy of every column of a shared domain: built from the values of all its columns together."""
    import polars as pl

    from kanopy._job.inputs import resolve_hierarchies

    trees: dict[str, Any] = {}
    for domain in domains:
        mine = [at for at in domain if at.table == name]
        if not mine:
            continue
        series = [related.frames[at.table][at.column].alias("value") for at in domain]
        if len({one_series.dtype for one_series in series}) > 1:
            series = [one_series.cast(pl.String) for one_series in series]
        jobs = {at: job.job_of(at.table) for at in domain}
        given = next((jobs[at].hierarchies[at.column] for at in domain if at.column in jobs[at].hierarchies), None)
        stacked = pl.DataFrame({"value": pl.concat(series)})
        first = jobs[domain[0]]
        units = np.concatenate([related.unit_of_row[at.table] for at in domain]).astype(np.int32)
        asked = Job(
            quasi=["value"], k=job.k, hierarchies={} if given is None else {"value": given},
            missing_tokens=first.missing_tokens, metric=job.metric, max_levels={"value": 99} if given is None else {},
        ).replaced(max_levels={})  # fmt: skip
        tree = resolve_hierarchies(stacked, asked, unit_of_row=units)["value"]
        trees |= {at.column: tree.renamed(at.column) for at in mine}
    return trees
