"""Treated columns of a release: treated between applying a solution and verifying it, and verified with the rest."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from kanopy._errors import JobError, near_miss, some
from kanopy._job.protection import changed_columns

if TYPE_CHECKING:
    from pathlib import Path

    import polars as pl

    from kanopy._arrays import Mask
    from kanopy._core.classes import Domain
    from kanopy.release.prepare import Prepared
    from kanopy.release.treated.pieces import Pieces
    from kanopy.search.solution import Solution
    from kanopy.treatments.base import Treatment


@dataclass(frozen=True, eq=False)
class Treated:
    """What was done to the treated columns of a release: their rows before, notes, and secret files to be written."""

    original: pl.DataFrame
    protect: Mapping[str, Treatment]
    notes: tuple[str, ...] = ()
    files: Mapping[str, str] = field(default_factory=dict)
    """The secret tables of tokens by where they are written: whoever has one turns pseudonyms back."""
    checks: tuple[str, ...] = ()
    """What the independent check found to hold, per treatment."""
    withheld: Mapping[str, pl.Series] = field(default_factory=dict)
    """Per treated column the rows whose values were withheld after it was treated."""
    whole: Mapping[str, pl.DataFrame] = field(default_factory=dict)
    """The values `before` and `after` of columns that were looked at as a whole."""
    pieces: bool = False
    """Whether rows were treated and verified while they passed by: none of them is here."""

    def withheld_since(self, before: pl.DataFrame, after: pl.DataFrame) -> Treated:
        """The same after values of suppressed rows were withheld: what is not published was not treated."""
        withheld = {
            name: after[name].is_null() & before[name].is_not_null()
            for column, treatment in self.protect.items() for name in treatment.writes(column)
        }  # fmt: skip
        return replace(self, withheld={name: mask for name, mask in withheld.items() if mask.any()})

    def before(self, column: str) -> pl.DataFrame:
        """The rows before a treatment, without what was withheld of its columns."""
        withheld_columns = [name for name in self.protect[column].writes(column) if name in self.withheld]
        return self.original.with_columns(
            self.original[name].set(self.withheld[name], None) for name in withheld_columns
        )

    def to_dict(self) -> list[dict[str, Any]]:
        """Per treatment what it does, promises and does not; no key, no seed, no value."""
        return [
            {"column": column, "method": treatment.name, "columns": list(treatment.writes(column)),
            "does": treatment.summary,
             "guarantees": treatment.guarantees, "lacks": treatment.lacks, "verified": check.partition(": ")[2]}
            for (column, treatment), check in zip(self.protect.items(), self.checks, strict=True)
        ]  # fmt: skip


def look_first(prepared: Prepared, job: Any, key: bytes | None) -> Pieces | None:
    """What treatments have to know of the whole table, as every engine looks at it: before rows are suppressed."""
    from kanopy.release.treated.pieces import Pieces, with_digests

    protect = getattr(job, "protect", None)
    if not protect:
        return None
    frame, looked = prepared.frame, Pieces(job, key)
    require_columns(protect, frame.columns)
    if looked.looks_first:
        looked.look_at(with_digests(lambda names: iter([frame.select(names)])), frame.columns)
    return looked


def treat(
    prepared: Prepared, job: Any, published: pl.DataFrame, is_published: Mask | None, looked: Pieces | None
) -> tuple[pl.DataFrame, Treated | None]:
    """The release with its treated columns, in the order of the table, and what was done."""
    import polars as pl

    protect = getattr(job, "protect", None)
    if not protect or looked is None:
        return published, None
    from kanopy.treatments.apply import treat_frame

    rows = prepared.frame if is_published is None else prepared.frame.filter(pl.Series(is_published))
    # What is withheld of suppressed rows is no value to be treated: it must not come back, nor be part of a group.
    changed = [name for name in changed_columns(job) if name in published.columns]
    rows = rows.with_columns(
        rows[name].set(published[name].is_null() & rows[name].is_not_null(), None) for name in changed
        if rows[name].dtype == published[name].dtype and published[name].null_count() > rows[name].null_count()
    )  # fmt: skip
    units = prepared.units.of_row if prepared.units is not None else None
    if units is not None and is_published is not None:
        units = units[is_published]
    notes, files = list[str](), dict[str, str]()
    made: dict[str, pl.Series] = {}
    done: dict[str, Treatment] = {}
    for column, treatment in sorted(protect.items(), key=lambda entry: entry[1].follows):
        absent = [name for name in treatment.writes(column) if name not in published.columns]
        if absent and not treatment.for_identifiers:
            notes.append(
                f"{some(absent)} of the treatment {treatment.name!r} is not published, because it was withheld."
            )
            continue
        if treatment.looks_first:
            # All rows, as they pass by where a table is read piece by piece; of them, those that stay.
            known = looked.facts_of(column, prepared.frame) or {}
            every = treat_frame(prepared.frame, column, treatment, looked.secrets, facts=known, say=notes.append)
            for name, series in every.items():
                stays = series if is_published is None else series.filter(pl.Series(is_published))
                made[name] = stays.set(rows[name].is_null() & stays.is_not_null(), None)
            done[column] = treatment
            continue
        facts: dict[str, Any] = {"files": files}
        if treatment.follows:
            leader = treatment.reads(column)[0]
            facts["published"] = made.get(leader, published[leader] if leader in published.columns else None)
            if leader in prepared.names:
                facts["stands_for"] = _stands_for(prepared, leader)
            if facts["published"] is None:
                raise JobError(
                    f"{column!r} follows {leader!r}, which is withheld. Leave its treatment out, or publish that "
                    "column."
                )
        own = None if units is None else np.asarray(units, np.int64)
        made |= treat_frame(rows, column, treatment, looked.secrets, facts=facts, units=own, say=notes.append)
        done[column] = treatment
    order = [name for name in prepared.frame.columns if name in published.columns or name in made]
    published = published.with_columns([series.alias(name) for name, series in made.items()])[order]
    looked.count(published, rows.select(getattr(job, "unit", ())))
    looked.require_shared()
    return published, Treated(rows, done, tuple(notes), files, whole=looked.whole)


def _stands_for(prepared: Prepared, leader: str) -> dict[str, set[str]]:
    """Per label of a generalized column the values it stands for; none of ranges, which hold more than occur."""
    hierarchy = getattr(prepared.table, "hierarchies", {}).get(leader)
    if hierarchy is None or hierarchy.low is not None:
        return {}
    values_of_label: dict[str, set[str]] = {}
    for value, *above in hierarchy.rows():
        for label in above:
            values_of_label.setdefault(label, set()).add(value)
    return values_of_label


def verify_treated(treated: Treated | None, job: Any, published: pl.DataFrame) -> tuple[str, ...]:
    """What the independent check of the treated columns found to hold; raises where something does not."""
    from kanopy._errors import VerificationFailed
    from kanopy.verify.treatments import TreatedColumns, verify_treatment

    if treated is None or treated.pieces:
        return () if treated is None else treated.checks
    findings = []
    for column, treatment in treated.protect.items():
        unit = tuple(job.unit) if getattr(job, "unit", ()) else ()
        seen = TreatedColumns(
            column, treatment.to_dict(), treated.before(column), published, unit, published, treated.whole.get(column)
        )
        findings.append(verify_treatment(seen))
        wrong = treatment.check(treated.before(column), published)
        if wrong is not None:
            raise VerificationFailed(f"The treated column {column!r} is not what {treatment.name!r} allows: {wrong}.")
    return tuple(findings)


NOTHING_GENERALIZED = "treatments only"
"""What stands for the algorithm of a job that generalizes nothing."""


def nothing_generalized(domain: Domain) -> Solution:
    """The solution of a job of treatments only: all rows are one class, of which nothing is promised."""
    from kanopy._core.classes import recoding_from_nodes
    from kanopy.search.solution import Solution

    rows = len(domain.tuple_of_row)
    recoding = recoding_from_nodes(domain, np.zeros(rows, np.int32), np.zeros((1, 0), np.int32))
    return Solution(NOTHING_GENERALIZED, recoding, 0.0)


def require_columns(protect: Mapping[str, Treatment], columns: list[str]) -> None:
    """Refuse treatments of columns, or by columns, that the table does not have."""
    for column, treatment in protect.items():
        for name in (*treatment.writes(column), *treatment.reads(column)):
            if name not in columns:
                raise JobError(
                    f"The treatment {treatment.name!r} of {column!r} names the column {name!r}, which the table does "
                    "not have. "
                    f"{near_miss(name, columns)}"
                )


def must_have_key(job: Any) -> bool:
    """Whether a job cannot run without a secret key.

    >>> from kanopy import Job
    >>> must_have_key(Job(protect={"id": "hash"})), must_have_key(Job(protect={"pay": "noise"}))
    (True, False)
    """
    from kanopy.treatments.base import KEY

    secrets = {treatment.secret for treatment in getattr(job, "protect", {}).values()}
    return bool(job.pseudonymize) or KEY in secrets


def key_of_run(job: Any, key_file: Path | None = None) -> bytes | None:
    """The secret key, if the job publishes pseudonyms or has treatments by a key; what is random takes one if given."""
    from kanopy._table.pseudonyms import given_key, read_key

    if must_have_key(job):
        return read_key(key_file)
    random = any(treatment.random for treatment in getattr(job, "protect", {}).values())
    random = random or bool(getattr(job, "margin", 0)) or getattr(job, "sample", 1) < 1
    return given_key(key_file) if random else None


def check_key_first(job: Any, key: bytes | None) -> None:
    """Refuse a weak or absent key before any work, where a treatment needs one."""
    from kanopy.treatments.base import KEY
    from kanopy.treatments.keys import check_strength

    drawn = getattr(job, "protect", None) or getattr(job, "sample", 1) < 1
    if (key is not None and drawn) or any(
        treatment.secret == KEY for treatment in getattr(job, "protect", {}).values()
    ):
        check_strength(key)
