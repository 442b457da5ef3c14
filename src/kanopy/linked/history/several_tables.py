"""Releases of several linked tables over time: the ledger holds what all tables of a release said of every person.

The history of a person is a column of the table of people, and every row of the union carries it with the person's
tuple. So the search of several tables keeps the promise over time as well, where it is about all rows of a person
(`known = "all"`) or about the person's own row (`known = 0`). In between it is about any m rows of a person in each
release, and no single history says which m: such jobs are refused.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from kanopy._errors import DataError, JobError, NoSolution
from kanopy._progress import Callback, Clock, Progress
from kanopy.linked.history.ledger import SUPPRESSED, Ledger, keyed
from kanopy.linked.history.over_time import (
    COLUMN,
    Present,
    left_out,
    present_people,
    recorded_release,
    require_shared,
    unit_digest,
)
from kanopy.linked.job import LinkedJob
from kanopy.linked.keys import Related, relate
from kanopy.linked.published_keys import key_domain
from kanopy.verify.regroup import labels_of_values

if TYPE_CHECKING:
    from kanopy.linked.linked_result import LinkedResult


@dataclass(frozen=True, eq=False)
class TablesOverTime:
    """Tables that keep the promise over time, with what is to be recorded of them."""

    result: LinkedResult
    ledger: Ledger
    present: Present
    states: tuple[str, ...]
    rows: int
    """Rows of all tables, with those that no release may have."""

    def record(self, key: bytes, files: Mapping[str, Path]) -> dict[Path, bytes]:
        """The files of the ledger after this release, with one digest of all published files."""
        job = self.result.job
        settings = {
            **job.plain,
            "tables": {name: {**table_settings, "data": ""} for name, table_settings in job.tables.items()},
        }
        digests = [f"{name} {hashlib.sha256(path.read_bytes()).hexdigest()}" for name, path in sorted(files.items())]
        return recorded_release(
            self.ledger, self.present, self.states, key,
            {
                "k": job.k, "known": job.known, "rows": self.rows,
                "job_sha256": _digest(json.dumps(settings, default=str, sort_keys=True)),
                "output_sha256": _digest("\n".join(digests)),
                "unit_sha256": unit_digest([str(job.unit)], key), "guarded": [],
            },
            {},
        )  # fmt: skip


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def require_possible_over_time(job: LinkedJob, ledger: Ledger) -> None:
    """Refuse jobs for which a ledger cannot keep the promise, with the reason."""
    if job.known_rows not in (None, 0):
        raise JobError(
            f"A ledger of several tables cannot keep known = {job.known}: which {job.known} rows of a person are known "
            'may differ from release to release. Protect all rows (known = "all"), or the person\'s own row (known = '
            "0)."
        )
    if any(job.job_of(name).models for name in job.tables):
        raise JobError(
            "A ledger of several tables does not keep models of sensitive columns over time. Leave the models out, or "
            "publish the table that has them by itself."
        )
    event_keys = [f"{name}.{column}" for name in job.tables for column in job.key_columns(name)
           if key_domain(job, _at(job, name, column)) != job.unit]  # fmt: skip
    if job.keys == "hash" and event_keys:
        raise JobError(
            f"Hashed keys of events ({', '.join(event_keys[:5])}) stay the same from release to release: they tell "
            f"which "
            'published rows are the same event. Write keys = "numbers" or keys = "none".'
        )
    for event in ledger.releases:
        if event.get("known", job.known) != job.known:
            raise JobError(
                f"Release {event['release']} was made with known = {event['known']}, this job has known = {job.known}. "
                "All releases of a ledger must promise the same: use the same known, or begin a new ledger."
            )


def _at(job: LinkedJob, table: str, column: str) -> Any:
    from kanopy.linked.job import At

    return At(table, column)


def anonymize_tables_over_time(
    job: LinkedJob, ledger: Ledger, key: bytes, *, encoding: str | None = None, notify: Progress, clock: Clock
) -> TablesOverTime:
    """Several tables that keep the promise together with all releases of a ledger, verified; nothing is written."""
    import polars as pl

    from kanopy.linked.preparation import read_tables
    from kanopy.linked.run import release_tables

    require_possible_over_time(job, ledger)
    with clock.stage("read"):
        notify("reading")
        frames, sources = read_tables(job, encoding)
        related = relate(job, frames)
    if related.people is None:
        raise JobError(
            f"A ledger of several tables needs a table with one row per person, and {job.unit} is in a table of events "
            "only. Add the table of people and a link to it."
        )
    if COLUMN in related.frames[related.people].columns:
        raise DataError(f"The table {related.people!r} has a column {COLUMN!r}, which a ledger needs. Rename it.")
    people_present = present_people(
        related.frames[related.people], [job.unit.column], job.job_of(related.people).missing_tokens, ledger, key,
        called=[str(job.unit)],
    )  # fmt: skip
    every = np.concatenate([people_present.of_row[related.unit_of_row[name]] for name in related.order])
    lost, lines = left_out(replace(people_present, of_row=every), ledger, job.k, key)
    is_left_out = np.zeros(len(people_present.unit), np.bool_)
    is_left_out[every[lost]] = True
    if is_left_out.all():
        raise NoSolution(
            f"No row can be published: fewer than k = {job.k:,} people share the history of each person in the "
            "earlier releases.",
            advice=["choose a smaller k"],
        )
    rows, remaining = (
        related.rows,
        _without(job, related, people_present, is_left_out) if is_left_out.any() else related,
    )
    assert remaining.people is not None
    here = people_present.of_row[~is_left_out[people_present.of_row]]
    history = pl.Series(COLUMN, [people_present.history[person] for person in here.tolist()], dtype=pl.String)
    # Hashed keys need the secret; fresh numbers do not, and a shift of dates is the same in every release with it.
    secret = key if job.keys == "hash" or job.shift_dates is not None else None
    result = release_tables(job, remaining, sources, secret, notify, clock, history)
    result = replace(result, notes=(*result.notes, *lines))
    states = states_of_people(result, people_present, here, key)
    require_shared(ledger, people_present, states, job.k)
    return TablesOverTime(result, ledger, people_present, tuple(states), rows)


def _without(job: LinkedJob, related: Related, present: Present, is_left_out: Any) -> Related:
    """The tables without people who cannot be in any release."""
    import polars as pl

    frames = {
        name: frame.filter(pl.Series(~is_left_out[present.of_row[related.unit_of_row[name]]]))
        for name, frame in related.frames.items()
    }
    return replace(relate(job, frames), notes=related.notes)


def states_of_people(result: LinkedResult, present: Present, here: Any, key: bytes) -> list[str]:
    """What is published of every person in all tables, as keyed hashes; `-` where nothing is. Labels are joined by the
    published keys; with known = 0 the person's own row counts."""
    import polars as pl

    from kanopy.linked.verification import looked_at

    job, related = result.job, result.related
    people = str(related.people)
    owners, _, looked = looked_at(job, related, result.tables, result.frames, result.kept)
    parts = []
    for name, looked_table in looked.items():
        if job.known_rows == 0 and name != people:
            continue
        labels = [
            labels_of_values(looked_table[column]).alias(column)
            for column in sorted(looked_table.columns)
            if column != "\0unit"
        ]
        text = pl.select(pl.concat_str([pl.lit(name), *labels], separator="\0")).to_series()
        parts.append(pl.DataFrame({"owner": looked_table["\0unit"], "text": text}))
    traces = pl.concat(parts).group_by("owner").agg(pl.col("text").sort().str.join("\1"))
    text_of = dict(traces.iter_rows())
    published = here[np.flatnonzero(result.kept[people])]
    states = [SUPPRESSED] * len(present.unit)
    made: dict[str, str] = {}
    for person, owner in zip(published.tolist(), owners[people].to_list(), strict=True):
        text = text_of[owner]
        if text not in made:
            made[text] = keyed(key, "trace", text)
        states[person] = made[text]
    return states


def publish_tables_over_time(
    job: LinkedJob | Mapping[str, Any] | str,
    output: str | Path,
    folder: str | Path,
    key: bytes,
    *,
    encoding: str | None = None,
    progress: Callback | None = None,
    **beside: Any,
) -> tuple[LinkedResult, list[Path]]:
    """Publish several tables that keep the promise over time, with their line in the ledger, or nothing at all.

    >>> import tempfile, polars as pl
    >>> place = Path(tempfile.mkdtemp())
    >>> people = pl.DataFrame({"id": [1, 2, 3, 4], "sex": list("ffmm")})
    >>> visits = pl.DataFrame({"id": [1, 2, 3, 4], "ward": list("aabb")})
    >>> column = {"role": "quasi-identifier"}
    >>> job = {"unit": "people.id", "k": 2, "tables": {
    ...     "people": {"data": people, "columns": {"sex": column}},
    ...     "visits": {"data": visits, "columns": {"ward": column}}},
    ...     "links": [{"from": "visits.id", "to": "people.id"}]}
    >>> for month in ("may", "june"):
    ...     result, _ = publish_tables_over_time(job, place / month, place / "ledger", b"a key of sixteen bytes")
    >>> result.notes[-1]
    'Earlier releases in the ledger: 1. The promise holds for all of them together.'
    """
    from kanopy.linked.history.ledger import locked, read_ledger
    from kanopy.linked.linked_result import check_folder, check_report_name
    from kanopy.linked.run import checked_job

    plain = LinkedJob.read(job) if isinstance(job, str) else job
    linked = plain if isinstance(plain, LinkedJob) else LinkedJob.from_dict(plain)
    linked = checked_job(linked, key if linked.keys == "hash" else None)
    check_folder(output)
    check_report_name(beside.get("report"))
    with locked(folder) as folder_path:
        made = anonymize_tables_over_time(
            linked, read_ledger(folder_path, key), key, encoding=encoding, notify=Progress(progress), clock=Clock()
        )
        files = made.result.write(output, internal=lambda staged: made.record(key, staged), **beside)
    return made.result, files
