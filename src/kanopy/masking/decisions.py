"""What a steward decides about single changes of a masking: accept one, give it a name, or suppress the answer.

The file is the mapping of an earlier run with two more columns: `decision` (accept, name, suppress, or empty) and
`name`. What is decided holds in the next run; what contradicts itself or would publish what few people wrote is
refused with its lines.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from kanopy._arrays import SUPPRESSED_LABEL, Mask
from kanopy._errors import JobError, near_miss, short, some
from kanopy._files import read_text
from kanopy._table.guessing.personal_data import folded
from kanopy.masking.answer_reading import Reading
from kanopy.masking.exclusion import excluded
from kanopy.masking.targets import ColumnPlan
from kanopy.ontology.senses.labels import find_label
from kanopy.ontology.taxonomy import Taxonomy

ACCEPT, NAME, SUPPRESS = "accept", "name", "suppress"
WAYS = (ACCEPT, NAME, SUPPRESS)
NEEDED = ("column", "original", "decision")
HELP = "Write the file with --mapping, and add the columns decision (accept, name or suppress) and name."


@dataclass(frozen=True)
class Decision:
    """What one answer of a column is published as, and the line that says so."""

    column: str
    original: str
    published: str
    way: str
    line: int


def read_decisions(path: str | Path, columns: Sequence[str]) -> tuple[Decision, ...]:
    """Read a file of decisions about columns with free text."""
    rows = list(csv.DictReader(read_text(Path(path), JobError).splitlines()))
    name = Path(path).name
    lacking = [column for column in NEEDED if rows and column not in rows[0]]
    if lacking or not rows:
        raise JobError(f"{name} has no column {some(lacking or NEEDED)}. {HELP}")
    wrong: list[str] = []
    found = []
    for line, row in enumerate(rows, 2):
        way = (row["decision"] or "").strip().casefold()
        text = ((row.get("name") if way == NAME else row.get("published")) or "").strip()
        if not way:
            continue
        if way not in WAYS:
            wrong.append(f"line {line}: {short(way)} is no decision. {near_miss(way, WAYS)}")
        elif row["column"] not in columns:
            wrong.append(f"line {line}: {short(row['column'])} is no column with free text of this job")
        elif not row["original"]:
            wrong.append(f"line {line}: nothing can be decided about a missing answer")
        elif way != SUPPRESS and not text:
            wrong.append(f"line {line}: {way} needs the column {'name' if way == NAME else 'published'}")
        else:
            text = SUPPRESSED_LABEL if way == SUPPRESS else text
            found.append(Decision(row["column"], row["original"], text, way, line))
    _refuse(name, wrong)
    first: dict[tuple[str, str], Decision] = {}
    for each in found:
        before = first.setdefault((each.column, each.original), each)
        if before.published != each.published:
            wrong.append(
                f"lines {before.line} and {each.line}: {short(each.original)} is both {short(before.published)} and "
                f"{short(each.published)}"
            )
    _refuse(name, wrong)
    return tuple(first.values())


def _refuse(name: str, wrong: Sequence[str]) -> None:
    if wrong:
        more = f"; and {len(wrong) - 5:,} more" if len(wrong) > 5 else ""
        raise JobError(f"{name} cannot be followed: {'; '.join(wrong[:5])}{more}. Correct these lines.")


def decided(
    decisions: Sequence[Decision],
    reading: Reading,
    k: int,
    taxonomy: Taxonomy,
    plan: Callable[[Mask], ColumnPlan],
    source: str,
) -> tuple[ColumnPlan, Mask]:
    """The plan of a column as it was decided, and which of its values nothing else may replace.

    `plan` makes the plan, given the values that are not to be planned.
    """
    place = {label: code for code, label in enumerate(reading.labels) if label is not None}
    own = [decision for decision in decisions if decision.column == reading.name]
    shown = reading.publishable(k)
    wrong = [f"line {each.line}: nobody answered {short(each.original)}" for each in own if each.original not in place]
    wrong += [fault for each in own if each.original in place and (fault := _fault(each, reading, place, shown))]
    _refuse(source, wrong)
    pinned = np.zeros(len(reading.labels), bool)
    pinned[[place[each.original] for each in own if each.way != ACCEPT]] = True
    found = plan(pinned)
    target, terms, concepts = found.target.copy(), list(found.terms), list(found.concepts)
    values, neutral = len(target), len(target) + len(found.terms)
    chosen: dict[int, str] = {place[each.original]: each.published for each in own}
    fresh = sorted({text for text in chosen.values() if text not in (*place, *terms, SUPPRESSED_LABEL)})
    target[target == neutral] += len(fresh)
    for text in fresh:
        terms.append(text)
        concepts.append(_meant(text, [code for code, one in chosen.items() if one == text], reading, taxonomy))
    numbers = {**{text: values + at for at, text in enumerate(terms)}, SUPPRESSED_LABEL: values + len(terms)}
    for code, text in chosen.items():
        target[code] = place.get(text, numbers.get(text, -1))
    people = np.bincount(target[target >= 0], weights=reading.counts[target >= 0], minlength=values + len(terms) + 1)
    few = [
        f"line {each.line}: only {int(people[numbers[each.published]]):,} people would be published as "
        f"{short(each.published)}, and k is {k:,}"
        for each in own
        if each.published in numbers and each.published != SUPPRESSED_LABEL and people[numbers[each.published]] < k
    ]
    _refuse(source, few)
    pinned[list(chosen)] = True
    return ColumnPlan(target, tuple(terms), tuple(concepts)), pinned


def _fault(decision: Decision, reading: Reading, place: Mapping[str, int], mask: Mask) -> str:
    """Why a decision cannot be followed; empty if it can."""
    if decision.published == SUPPRESSED_LABEL:
        return ""
    at = place.get(decision.published)
    spelled = {folded(label) for label, code in place.items() if not mask[code]}
    if (at is not None and not mask[at]) or (at is None and folded(decision.published) in spelled):
        return f"line {decision.line}: fewer than k people answered {short(decision.published)}"
    if excluded([decision.original], [decision.published])[0, 0]:
        return (
            f"line {decision.line}: who answered {short(decision.original)} did not answer {short(decision.published)}"
        )
    return ""


def _meant(text: str, codes: Sequence[int], reading: Reading, taxonomy: Taxonomy) -> int:
    """The concept of a name that is true of all answers it is given to, -1 if the ontology has none."""
    matches = [reading.matches.get(reading.labels[int(reading.means[code])] or "") for code in codes]
    known = [match.concepts[0] for match in matches if match is not None and match.known]
    options = find_label(taxonomy, text, suggest=False)
    for concept in options.concepts if options.how == "exact" and known else ():
        if all(taxonomy.is_a(own, concept) for own in known):
            return int(concept)
    return -1
