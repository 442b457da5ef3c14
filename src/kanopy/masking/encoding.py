"""From the columns of a table to one whose answers can be compared: codes, meanings, similarities."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from kanopy._arrays import Ints, Mask
from kanopy._core.classes import Sensitive
from kanopy._core.numbering import distinct_tuples
from kanopy._errors import DataError, HierarchyError, JobError, some
from kanopy._table.guessing.personal_data import KINDS
from kanopy.hierarchy.hierarchy import Hierarchy
from kanopy.masking.answer_reading import NO_ANSWER, Reading, read_answers
from kanopy.masking.decisions import WAYS, decided, read_decisions
from kanopy.masking.exclusion import living_kinds
from kanopy.masking.job import MaskJob
from kanopy.masking.meanings import find_meanings, vectors_of
from kanopy.masking.table import (
    Attribute,
    MaskingTable,
    Plan,
    category_attribute,
    number_attribute,
    text_attribute,
    text_attributes,
)
from kanopy.masking.targets import MISSING, NEUTRAL, plan_answers, plan_other
from kanopy.ontology.senses.labels import Match
from kanopy.ontology.similarity.measures import find_measure

if TYPE_CHECKING:
    import polars as pl

    from kanopy._table.encode import SubstitutedColumn
    from kanopy.ontology.senses.senses import SenseChoices
    from kanopy.ontology.taxonomy import Taxonomy

LARGEST_CATEGORY_TABLE = 8_000
STANCES = 16
"""More than there are stances: a person is like no animal, as a denial is like no affirmation."""


def encode_columns(frame: pl.DataFrame, job: MaskJob) -> list[SubstitutedColumn]:
    """The columns to mask as codes of their own values."""
    from kanopy._table.encode import substituted

    return [substituted(frame[name], missing=job.missing, missing_tokens=job.missing_tokens) for name in job.columns]


def masking_tables(
    frame: pl.DataFrame, job: MaskJob, columns: Sequence[SubstitutedColumn]
) -> tuple[MaskingTable, MaskingTable, tuple[SubstitutedColumn, ...]]:
    """The table by which masking is guided, and the one by which its quality is stated (often the same).

    With them come the columns, which have further values where only some may be published.
    """
    from kanopy._table.encode import substituted

    taxonomy = find_ontology(job.ontology) if job.text else None
    plans: tuple[_Planned, ...] = ()
    if job.targets == "frequent":
        plans = tuple(_planned(column, job, taxonomy) for column in columns)
        columns = tuple(plan.column for plan in plans)
    texts = [column for column in columns if column.name in job.text]
    others = tuple(_other_attribute(column, job) for column in columns if column.name not in job.text)
    tuples, counts, tuple_of_row, _ = distinct_tuples([c.codes for c in columns], [len(c.labels) for c in columns])
    order = np.lexsort(tuples.T[::-1])
    rank = np.empty(len(order), np.int32)
    rank[order] = np.arange(len(order))
    tuples, counts, tuple_of_row = tuples[order], counts[order], rank[tuple_of_row]
    confidential = [substituted(frame[name]) for name in job.sensitive]
    sensitive = tuple(Sensitive(c.name, tuple(label or "" for label in c.labels), c.codes) for c in confidential)
    weights = tuple(float(job.weights.get(name, 1.0)) for name in job.columns)
    plan = None
    if plans:
        plan = Plan(tuple(p.target for p in plans), tuple(p.neutral for p in plans), tuple(p.pinned for p in plans))
    readings = tuple(p.reading for p in plans if p.reading is not None)
    made: dict[str, MaskingTable] = {}
    for measure in (_guiding_measure(job), job.quality_measure):
        if measure not in made:
            if plans:
                attributes = tuple(_read_text(p, job, taxonomy, measure) for p in plans if p.reading is not None)
            else:
                attributes = _texts(taxonomy, texts, job, measure) if taxonomy else ()
            made[measure] = MaskingTable(
                (*attributes, *others), tuples, counts, tuple_of_row, weights, sensitive, plan, readings
            )
    return made[_guiding_measure(job)], made[job.quality_measure], tuple(columns)


def _guiding_measure(job: MaskJob) -> str:
    from kanopy.ontology.similarity.measures import MEASURES

    return job.guide if job.guide in MEASURES else job.quality_measure


def _choices(job: MaskJob) -> SenseChoices | None:
    from kanopy.ontology.senses.senses_file import read_senses

    return read_senses(job.senses) if isinstance(job.senses, (str, Path)) else job.senses


def _texts(taxonomy: Taxonomy, texts: Sequence[SubstitutedColumn], job: MaskJob, measure: str) -> tuple[Attribute, ...]:
    values = sorted({label for column in texts for label in column.labels if label is not None})
    meanings = find_meanings(
        taxonomy, values, measure=measure, choices=_choices(job), unknown=job.unknown, embedding=job.embedding
    )
    return text_attributes([column.name for column in texts], [column.labels for column in texts], meanings)


@dataclass(frozen=True, eq=False)
class _Planned:
    """A column whose rare values are replaced: with the values that it may get, and what each is replaced by."""

    column: SubstitutedColumn
    target: Ints
    neutral: int
    reading: Reading | None = None
    terms: tuple[tuple[str, int], ...] = ()
    pinned: Mask | None = None


def _planned(column: SubstitutedColumn, job: MaskJob, taxonomy: Taxonomy | None) -> _Planned:
    counts = column.counts
    labels_known = sum(label is not None for label in column.labels)
    if column.name not in job.text:
        wider = column.extended([NEUTRAL] if column.is_text and NEUTRAL not in column.labels else [])
        neutral = wider.labels.index(NEUTRAL) if column.is_text else len(wider.labels) - 1
        target = plan_other(_other_attribute(column, job), counts, job.k)
        return _Planned(wider, _in_wider(target, labels_known, len(column.labels), wider, neutral, 0), neutral)
    assert taxonomy is not None
    allow = [KINDS[name] for name in job.allow] if column.is_text else list(KINDS.values())
    reading = read_answers(
        column.labels, counts, job.k, taxonomy, choices=_choices(job), header=column.name, allow=allow
    )
    near = functools.partial(vectors_of, job.embedding) if job.unknown == "embedding" else None
    measure = find_measure(_guiding_measure(job))
    plan = functools.partial(plan_answers, reading, job.k, taxonomy, measure, near, column.is_text)
    decisions = read_decisions(job.decisions, job.text) if job.decisions is not None else ()
    if decisions and not column.is_text:
        raise JobError(f"{column.name!r} holds numbers: decisions are about answers in words. Leave its lines out.")
    pinned = None
    if decisions:
        planned, of_value = decided(decisions, reading, job.k, taxonomy, plan, Path(str(job.decisions)).name)
    else:
        planned = plan()
    texts = [*planned.terms, *([NEUTRAL] if column.is_text and NEUTRAL not in column.labels else [])]
    wider = column.extended(texts)
    neutral = wider.labels.index(NEUTRAL) if column.is_text else len(wider.labels) - 1
    target = _in_wider(planned.target, labels_known, len(column.labels), wider, neutral, len(planned.terms))
    terms = tuple(zip(planned.terms, planned.concepts, strict=True))
    if decisions:
        pinned = np.zeros(len(wider.labels), bool)
        pinned[:labels_known] = of_value[:labels_known]
    return _Planned(wider, target, neutral, reading, terms, pinned)


def _in_wider(target: Ints, labels_known: int, values: int, wider: SubstitutedColumn, neutral: int, terms: int) -> Ints:
    """What values are replaced by, as numbers of the column that has more of them."""
    out = np.arange(len(wider.labels), dtype=np.int32)
    missing = len(wider.labels) - 1
    for code in range(values):
        to = int(target[code])
        if to == MISSING or labels_known <= to < values:
            to = missing
        elif to >= values:
            to = labels_known + to - values if to < values + terms else neutral
        elif to < 0:
            to = neutral
        out[code if code < labels_known else missing] = to
    return out


def _read_text(planned: _Planned, job: MaskJob, taxonomy: Taxonomy | None, measure: str) -> Attribute:
    """A textual column as it was read; its broader terms have their concepts, and the neutral token has none."""
    reading, wider = planned.reading, planned.column
    assert reading is not None and taxonomy is not None
    concept_of = dict(planned.terms)
    read: dict[str, tuple[Match, int]] = {}
    text_of = np.full(len(wider.labels), -1, np.int32)
    position_of_text: dict[str, int] = {}
    old = [label for label in reading.labels if label is not None]
    for code, label in enumerate(wider.labels):
        if label is None or (code < len(old) and reading.kind[code] == NO_ANSWER):
            continue
        meant = old[reading.means[code]] if code < len(old) else label
        if concept_of.get(meant, -1) >= 0 and code >= len(old):
            match, stance = Match(meant, "exact", meant, (concept_of[meant],)), 0
        else:
            match = reading.matches.get(meant, Match(meant, "unknown"))
            stance = int(reading.stance[reading.means[code]]) if code < len(old) else 0
        if meant not in read:
            kind = int(living_kinds(taxonomy, match.concepts[:1])[0]) if match.known else 0
            read[meant] = (match, stance + STANCES * kind)
        text_of[code] = position_of_text.setdefault(meant, len(position_of_text))
    silent = {NEUTRAL, *(label for label, kind in zip(old, reading.kind, strict=False) if kind)}
    meanings = find_meanings(
        taxonomy,
        list(position_of_text),
        measure=measure,
        unknown=job.unknown,
        embedding=job.embedding,
        read=read,
        silent=silent,
    )
    return text_attribute(wider.name, wider.labels, meanings, text_of)


def find_ontology(given: str | Path | Taxonomy | Hierarchy) -> Taxonomy:
    """An ontology by name, from a file, or an ordinary hierarchy as one.

    >>> find_ontology(Hierarchy.from_rows([["walk", "sport", "*"], ["beach", "place", "*"]])).size
    5
    """
    from kanopy.ontology.load import load_ontology
    from kanopy.ontology.taxonomy import Taxonomy

    if isinstance(given, Taxonomy):
        return given
    if isinstance(given, Hierarchy):
        return Taxonomy.from_hierarchy(given)
    return load_ontology(given)


def _other_attribute(column: SubstitutedColumn, job: MaskJob) -> Attribute:
    given = job.hierarchies.get(column.name)
    if given is not None:
        from kanopy.hierarchy.files.files import read_hierarchy

        hierarchy = given if isinstance(given, Hierarchy) else read_hierarchy(given, column=column.name)
        labels_known = [label for label in column.labels if label is not None]
        if labels_known and labels_known[-1] == NEUTRAL and not column.counts[len(labels_known) - 1]:
            labels_known.pop()  # nobody has the neutral value: beyond the table it is like nothing but itself
        return category_attribute(column.name, column.labels, hierarchy_similarities(hierarchy, labels_known))
    if (numbers := column.as_numbers) is not None:
        return number_attribute(column.name, column.labels, numbers)
    return category_attribute(column.name, column.labels)


def hierarchy_similarities(hierarchy: Hierarchy, labels: Sequence[str | None]) -> npt.NDArray[np.float32]:
    """One minus the level at which two values become one, over the height: 1 for equals, 0 if only the top joins them.

    >>> tree = Hierarchy.from_rows([["a", "x", "*"], ["b", "x", "*"], ["c", "y", "*"]])
    >>> hierarchy_similarities(tree, ["a", "b", "c"]).tolist()
    [[1.0, 0.5, 0.0], [0.5, 1.0, 0.0], [0.0, 0.0, 1.0]]
    """
    present = [label for label in labels if label is not None]
    absent = [label for label in present if label not in hierarchy.index]
    if absent:
        raise HierarchyError(
            f"The hierarchy of {hierarchy.name or 'a column'!r} does not know {some(absent)}. Add these values to it."
        )
    if len(present) > LARGEST_CATEGORY_TABLE:
        raise DataError(
            f"The column {hierarchy.name!r} has {len(present):,} values; at most {LARGEST_CATEGORY_TABLE:,} can be "
            "compared by a hierarchy. Leave the hierarchy out, or name the column as text."
        )
    leaves = np.array([hierarchy.index[label] for label in present], np.int64)
    height = max(1, hierarchy.height)
    table = np.zeros((len(present), len(present)), np.float32)
    for level in range(height, -1, -1):
        codes = hierarchy.level(min(level, hierarchy.height)).codes[leaves]
        table[codes[:, None] == codes[None, :]] = 1.0 - level / height
    np.fill_diagonal(table, 1.0)
    return table


def masking_notes(columns: Sequence[SubstitutedColumn], table: MaskingTable, job: MaskJob) -> list[str]:
    """What to tell about answers that are missing, unknown, found to point at somebody, or understood roughly."""
    notes = []
    missing = {column.name: column.missing_rows for column in columns if column.missing_rows}
    if missing:
        listed = ", ".join(f"{name} ({rows:,})" for name, rows in missing.items())
        notes.append(
            f"Missing or empty answers count as a value of their own, similar only to itself: {listed}. "
            "Where they are too few, they are substituted like any other."
        )
    for reading in table.readings:
        notes += _about(reading, job)
    if job.decisions is not None:
        made = Counter(decision.way for decision in read_decisions(job.decisions, job.text))
        listed = ", ".join(f"{made[way]:,} × {way}" for way in WAYS if made[way]) or "none"
        notes.append(f"Decisions of {Path(job.decisions).name}: {listed}. Names are yours: they are not checked.")
    if table.unknown and job.unknown == "own-class":
        notes.append(
            f"{len(table.unknown):,} values are not in the ontology and count as similar only to themselves: "
            f"{some(table.unknown)}. Define them in a senses file, or use unknown='embedding'."
        )
    approximate = next((a.meanings.approximate for a in table.attributes if a.meanings), ())
    if approximate:
        notes.append(f"{len(approximate):,} values were read by a related word only: {some(approximate)}.")
    return notes


def _about(reading: Reading, job: MaskJob) -> list[str]:
    """What was found in the answers of a column, in counts: nothing of it is named."""
    notes = []
    counts_of_kinds = {kind: count for kind, count in reading.found.items() if count}
    if counts_of_kinds:
        listed = ", ".join(f"{kind} ({count:,})" for kind, count in counts_of_kinds.items())
        notes.append(
            f"Found in {reading.name!r} and never published unchanged: {listed}. Kinds named in allow count as answers."
        )
    if reading.joined:
        notes.append(f"{reading.joined:,} answers of {reading.name!r} were read as spellings of frequent answers.")
    matched = sum(match.known for match in reading.matches.values())
    if reading.matches and 2 * matched < len(reading.matches):
        notes.append(
            f"The ontology knows {matched:,} of {len(reading.matches):,} different answers of {reading.name!r}. "
            "Check that they are in its language. Unknown answers are kept if at least k people gave them, and "
            "become * otherwise."
        )
    return notes
