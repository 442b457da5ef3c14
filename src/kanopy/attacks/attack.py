"""All attacks on one release: read the tables, refuse what cannot be answered, measure, and say what was found."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from kanopy._errors import DataError, near_miss, some
from kanopy._mixins import ReprMixin
from kanopy._parameter_types import ColumnNames, Integer, taken
from kanopy._progress import Callback, Progress
from kanopy.attacks.inference import inference
from kanopy.attacks.linking import intersection, linkability, membership
from kanopy.attacks.rates import LEAST_GUESSES, Measured, highest
from kanopy.attacks.singling_out import Isolated, isolated_people, singling_out
from kanopy.attacks.tables import AttackTables, Unreadable, read_tables
from kanopy.study.subject import Subject

if TYPE_CHECKING:
    import polars as pl

    from kanopy._arrays import Longs
    from kanopy._job.coercion import JobSource
    from kanopy._job.job import Job
    from kanopy.attacks.minimal import MinimalReport
    from kanopy.hierarchy.hierarchy import Hierarchy

GUESSES = 1000
"""Guesses per attack, unless said otherwise."""
MOST_ISOLATING = 20_000
CRITERIA = ("singling out", "linkability", "inference")
"""The three criteria of WP216."""


@dataclass(frozen=True)
class AttackReport(ReprMixin):
    """What attacks on a release achieve, on its people and on a control group of others."""

    rows: int
    people: int
    released_rows: int
    control_people: int | None
    quasi: tuple[str, ...]
    sensitive: tuple[str, ...]
    untouched: tuple[str, ...]
    attacks: tuple[Measured, ...]
    isolated: Isolated
    unreadable: tuple[Unreadable, ...]
    notes: tuple[str, ...]
    seed: int
    guesses: int
    called: str = "people"
    minimal: MinimalReport | None = None
    """What follows from the release being minimal (`attacks.minimal`), where that was looked at."""
    settings: Mapping[str, Any] = field(default_factory=dict, repr=False)

    def criterion(self, name: str) -> Measured | None:
        """The highest measured risk of one kind of attack, or `None` where none could be measured."""
        return highest([measured for measured in self.attacks if measured.attack == name])

    @property
    def verdict(self) -> str:
        """One sentence on the three criteria."""
        parts = []
        for name in CRITERIA:
            worst = self.criterion(name)
            if worst is None or worst.risk is None:
                parts.append(f"{name}: could not be measured")
            else:
                parts.append(f"{name}: {worst.risk.value:.1%} ({worst.risk.low:.1%} to {worst.risk.high:.1%})")
        beyond = "" if self.control_people is not None else ", without a control group"
        return f"Highest measured risk{beyond}: {'; '.join(parts)}."

    def to_dict(self) -> dict[str, Any]:
        """Plain data without any value of the table, except examples of labels that cannot be read."""
        return {
            "rows": self.rows,
            "people": self.people,
            "counted": self.called,
            "released_rows": self.released_rows,
            "control_people": self.control_people,
            "quasi_identifiers": list(self.quasi),
            "sensitive": list(self.sensitive),
            "untouched": list(self.untouched),
            "guesses": self.guesses,
            "seed": self.seed,
            "verdict": self.verdict,
            "criteria": {
                name: None if (worst := self.criterion(name)) is None else worst.to_dict() for name in CRITERIA
            },
            "attacks": [attack.to_dict() for attack in self.attacks],
            "isolated": {
                "predicates": self.isolated.predicates,
                "people": self.isolated.people,
                "control_share": self.isolated.control_share,
            },
            "minimal": None if self.minimal is None else self.minimal.to_dict(),
            "unreadable": [
                {"column": unreadable_column.column, "labels": unreadable_column.labels, "rows": unreadable_column.rows}
                for unreadable_column in self.unreadable
            ],
            "notes": list(self.notes),
        }

    def to_document(self, source: str = "a release") -> Any:
        """The report as a document: a page, PDF, DOCX or JSON."""
        from kanopy.report.documents.attacks import attack_document

        return attack_document(self.to_dict(), source)

    def to_html(self, source: str = "a release") -> str:
        """A self-contained page. It names columns, and no value."""
        page: str = self.to_document(source).to_html()
        return page


def attack_tables(
    original: pl.DataFrame,
    released: pl.DataFrame,
    control: pl.DataFrame | None = None,
    *,
    quasi: Sequence[str] = (),
    sensitive: Sequence[str] = (),
    unit: Sequence[str] = (),
    hierarchies: Mapping[str, Hierarchy] | None = None,
    earlier: pl.DataFrame | None = None,
    secrets: Sequence[str] = (),
    first: Sequence[str] = (),
    guesses: int = GUESSES,
    learn: bool = True,
    seed: int = 0,
    progress: Callback | None = None,
    notes: Sequence[str] = (),
    job: Job | None = None,
    partner: Longs | None = None,
) -> AttackReport:
    """All attacks on tables that are read already.

    A `job` whose release this is says what a minimal release must satisfy; `partner` is the released row of each
    original one, where it is known.
    """
    notify = Progress(progress)
    notify("reading the release")
    tables = read_tables(
        original, released, control, quasi=quasi, sensitive=sensitive, unit=unit, hierarchies=hierarchies
    )
    before = None
    if earlier is not None:
        # What the attacker learns is the same in both; the earlier release may have other quasi-identifiers.
        same = [name for name in sensitive if name in earlier.columns]
        before = read_tables(
            original, earlier, control, quasi=[name for name in quasi if name in earlier.columns], sensitive=same,
            unit=unit, hierarchies=hierarchies,
        )  # fmt: skip
        if not same:
            raise DataError(
                "The two releases have no sensitive column in common, so the earlier release adds nothing. Name a "
                "column of both (--sensitive), or leave the earlier release out."
            )
    all_notes = [*notes, *tables.notes, *_about(tables)]
    streams = np.random.default_rng(seed).spawn(6)
    measured = list(singling_out(tables, guesses, streams[0], notify))
    measured += linkability(tables, guesses, streams[1], first=first, progress=notify)
    guessed, more = inference(tables, guesses, streams[2], secrets=secrets, learn=learn, seed=seed, progress=notify)
    measured += guessed
    all_notes += more
    measured += membership(tables, guesses, streams[3], notify)
    if before is not None:
        measured += intersection(tables, before, guesses, streams[4], notify)
    isolated = isolated_people(tables, MOST_ISOLATING, streams[5], notify)
    minimal = None
    if job is not None:
        minimal, why = _minimal(original, released, tables, hierarchies or {}, job, partner, seed, notify)
        all_notes += why
    return AttackReport(
        rows=original.height, people=tables.people.count, released_rows=released.height,
        control_people=None if tables.control is None else tables.control.count, quasi=tables.quasi,
        sensitive=tables.sensitive, untouched=tables.untouched, attacks=tuple(measured), isolated=isolated,
        unreadable=tables.unreadable, notes=tuple(all_notes), seed=seed, guesses=guesses, called=tables.called,
        minimal=minimal,
    )  # fmt: skip


def _minimal(
    original: pl.DataFrame,
    released: pl.DataFrame,
    tables: AttackTables,
    hierarchies: Mapping[str, Hierarchy],
    job: Job,
    partner: Longs | None,
    seed: int,
    progress: Progress,
) -> tuple[MinimalReport | None, list[str]]:
    """What follows from the release being minimal, or why that cannot be told."""
    from kanopy.attacks.minimal_release import minimal_release
    from kanopy.study.table_matching import match_tables

    known_trees = {name: tree for name, tree in hierarchies.items() if name in tables.quasi}
    if job.unit or not known_trees or job.masks:
        return None, ["Minimality was not examined: it needs hierarchies, and one row per person."]
    if partner is None:
        try:
            shared = [name for name in original.columns if name in released.columns]
            partner = match_tables(original, released[shared], quasi=tables.quasi, hierarchies=known_trees).partner
        except DataError as error:
            return None, [f"Minimality was not examined, because rows could not be matched: {error}"]
    report = minimal_release(
        original, released, partner, quasi=tables.quasi, sensitive=tables.sensitive, hierarchies=known_trees,
        models=job.all_models, k=job.k, most_suppressed=int((job.suppress or 0) * original.height),
        random=np.random.default_rng(seed), progress=progress,
    )  # fmt: skip
    return replace(report, margin=job.margin), []


def _about(tables: AttackTables) -> list[str]:
    """What must be known to read the figures rightly."""
    messages = []
    for unreadable_column in tables.unreadable:
        examples = ", ".join(repr(text) for text in unreadable_column.examples)
        messages.append(
            f"{unreadable_column.labels:,} labels of {unreadable_column.column!r} in {unreadable_column.rows:,} rows "
            f"cannot be read ({examples}). They match nobody, so attacks on these rows fail. Give the hierarchy of "
            "these labels."
        )
    if tables.control is None:
        messages.append(
            "There is no control group: the rates include what is true of people outside of the release, so no risk "
            "can be measured. Hold a group back (--control 20% with --job), or give one (--control FILE)."
        )
    elif tables.control.count < LEAST_GUESSES:
        messages.append(
            f"The control group has {tables.control.count:,} {tables.called}: too few to measure a risk; at least "
            f"{LEAST_GUESSES} are needed."
        )
    if not any((tables.says[name][tables.labels[name]]).any() for name in tables.columns):
        messages.append("Everything is suppressed: no predicate can be made from the release.")
    elif not any((tables.says[name][tables.labels[name]]).any() for name in tables.quasi):
        messages.append("All quasi-identifiers are suppressed in all rows, which form one class.")
    return messages


def attack_release(
    original: Any,
    released: Any,
    job: JobSource | None = None,
    *,
    control: Any = None,
    earlier: Any = None,
    secrets: Any = (),
    first: Any = (),
    guesses: int = GUESSES,
    learn: bool = True,
    seed: int = 0,
    progress: Callback | None = None,
    **more: Any,
) -> AttackReport:
    """Attack a release that exists, with a control group that exists; see `kanopy.attack`."""
    from kanopy._job.inputs import resolve_hierarchy, with_classes
    from kanopy._job.reading_rules import ReadingRules, read_records
    from kanopy._table.frames import to_polars

    guesses = taken(Integer(1), guesses, "The number of guesses")
    seed = taken(Integer(0), seed, "seed")
    subject = Subject.of(original, job, **more)
    wanted = subject.job
    subject.require_unit()
    if absent := [name for name in wanted.quasi if name not in subject.frame.columns]:
        raise DataError(f"The original has no column {some(absent)}. {near_miss(absent[0], subject.frame.columns)}")
    # Only those that are named: what would be built from values has labels that are read without.
    known_trees = {
        name: resolve_hierarchy(
            name, with_classes(source, subject.frame, name), subject.frame[name], k=wanted.least_rows
        )
        for name, source in wanted.hierarchies.items() if name in subject.frame.columns and source is not None
    }  # fmt: skip
    rules = ReadingRules.of(wanted).of_records()
    others = None if control is None else read_records(control, wanted, rules=rules, part=True)
    return attack_tables(
        subject.frame, to_polars(released)[0], others, quasi=wanted.quasi, sensitive=wanted.sensitive,
        unit=wanted.unit, hierarchies=known_trees, earlier=None if earlier is None else to_polars(earlier)[0],
        secrets=taken(ColumnNames(), secrets, "secrets"), first=taken(ColumnNames(), first, "first"), guesses=guesses,
        learn=learn, seed=seed, progress=progress, job=wanted if job is not None and wanted.says("k") else None,
    )  # fmt: skip
