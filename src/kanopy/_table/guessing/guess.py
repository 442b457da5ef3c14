"""A guess at the role of every column, with the reason and how sure it is. What is not clear stays undecided.

The name, the values, standards and neighbouring columns give facts (`evidence/`); fitted weights turn the facts into
probabilities of roles, and the role with the least expected cost is guessed (`evidence/model.py`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import polars as pl

from kanopy._table.guessing.evidence.context import context, parts_of_undecided
from kanopy._table.guessing.evidence.model import Verdict, judge, weights
from kanopy._table.guessing.evidence.people_numbers import number_of_people
from kanopy._table.guessing.evidence.readings import agrees, read_name
from kanopy._table.guessing.evidence.standards import named_by_standards
from kanopy._table.guessing.evidence.value_facts import meaning_of_values
from kanopy._table.guessing.evidence.views import ColumnView, TableView
from kanopy._table.guessing.lexicon import RECORD_NUMBER
from kanopy._table.guessing.structure import hangs_on, in_waves
from kanopy._table.guessing.value_kinds import Values
from kanopy._table.roles import HOUSEHOLD_WORDS, Role

SURE, LIKELY, UNSURE = "sure", "likely", "unsure"
NOTHING = "neither name nor values suggest a role"
FEWEST_UNITS, MOST_UNITS = 20, 0.95
"""People of whom a table holds several rows each: enough of them to hide among, and fewer than rows."""


@dataclass(frozen=True)
class Guess:
    """A guess at a column's role: why, how sure (`sure`, `likely`, `unsure`), and what kind of hierarchy would suit.

    `hierarchy_hint` is one of `numeric`, `date`, `mask` (codes cut from the right), `grouping` (few named values),
    `semantic` (words with a meaning) or `None`. `missing` are values that seem to stand for missing ones; `alone`: most
    records have a value of their own; `open`: neither name nor values say what it is. `kind` is what it is besides its
    role: the weight, household or another part of the design of a sample; `probability` that the role is right.
    """

    column: str
    role: Role
    reason: str
    hierarchy_hint: str | None
    certainty: str = LIKELY
    missing: tuple[str, ...] = ()
    alone: bool = False
    open: bool = False
    kind: str = ""
    probability: float = 0.0


def guess_roles(frame: pl.DataFrame) -> list[Guess]:
    """A guess for every column, with the reason in plain words; `kanopy init` shows and writes them down.

    Names are looked up in many languages, as abbreviations and in standards; values tell addresses, numbers of persons,
    dates, codes and free text; columns that say the same as another share its role. What nothing speaks of, and could
    still point at people, is undecided: it is not published until somebody decides.

    >>> frame = pl.DataFrame({"Name": ["Ann", "Ben", "Cleo"], "Alter": [41, 30, 22], "income": [9, 7, 8]})
    >>> [str(guess.role) for guess in guess_roles(frame)]
    ['identifier', 'quasi-identifier', 'sensitive']
    """
    table, columns = view(frame)
    verdicts = {name: judge(column) for name, column in columns.items()}
    guesses = {name: _guess(columns[name], verdict) for name, verdict in verdicts.items()}
    for finding in (context(table, columns, guesses).items(), parts_of_undecided(table, guesses)):
        for name, (fact, relation, other) in finding:
            columns[name].context = {fact: other, "relation": relation}
            columns[name].forget_meaning()
            guesses[name] = _guess(columns[name], judge(columns[name]), guesses.get(other))
    from kanopy._table.guessing.evidence.sample_design import with_design

    guesses = with_design(table, columns, guesses)
    unit = unit_among(table, columns, guesses)
    if unit is not None:
        whose = guesses[unit].reason.partition(";")[0]
        reason = f"{whose}; several rows have the same value: k counts its values, not rows"
        guesses[unit] = replace(guesses[unit], role=Role.UNIT, reason=reason, kind="unit")
    return [
        replace(
            guess,
            reason=guess.reason + _alone(guess, table.values[name]),
            missing=table.values[name].missing_codes,
            alone=table.values[name].many_alone,
        )
        for name, guess in guesses.items()
    ]


def view(frame: pl.DataFrame) -> tuple[TableView, dict[str, ColumnView]]:
    """A table and its columns as the facts see them, with what their names mean beside their values."""
    frame = frame.with_columns(
        frame[name].replace("", None) for name in frame.columns if frame[name].dtype == pl.String
    )
    values = {name: Values(frame[name].rename("")) for name in frame.columns}
    table = TableView(frame, values, named_by_standards(frame.columns))
    columns = {name: table.column(name) for name in frame.columns}
    for column in columns.values():
        read_name(column)
    return table, columns


def _guess(column: ColumnView, verdict: Verdict, other: Guess | None = None) -> Guess:
    """The guess that a verdict leads to, worded."""
    role = verdict.role or Role.UNDECIDED
    is_open = column.has("nameless") and not _speaking(column) and not column.context
    spoken = column.has("speaks") or any(entry.when.startswith(STRONG) for entry in verdict.held)
    agree = spoken or (not column.has("nameless") and agrees(column)) or column.has("empty") or column.has("constant")
    fitted = weights()
    certainty = UNSURE
    if role != Role.UNDECIDED and not is_open:
        sure = verdict.probability >= fitted.sure and agree and not (column.has("partly") or column.has("faint"))
        certainty = SURE if sure else LIKELY if verdict.probability >= fitted.likely else UNSURE
    hint = _hint(column, role)
    if other is not None and other.role == role and (other.hierarchy_hint != "date" or column.has("dates")):
        hint = other.hierarchy_hint  # numbers may say what dates beside them say, and are no dates
    entry = column.table.standards.get(column.name)
    kind = entry.kind if entry is not None else ""
    return Guess(
        column.name, role, _reason(column, verdict, role, is_open), hint, certainty, open=is_open, kind=kind,
        probability=round(verdict.probability, 3),
    )  # fmt: skip


STRONG = ("number of people", "points at people", "long texts", "standard:", "lists", "full names", "amounts of money")


def _speaking(column: ColumnView) -> bool:
    """Whether the values say what the column is, though its name does not."""
    facts = ("speaks", "dates", "points at people", "number of people", "long texts", "full names", "first names",
             "amounts of money", "codes of diseases", "lists", "empty", "constant", "no lists but nested",
             "counts people", "standard:")  # fmt: skip
    return any(map(column.has, facts))


def _reason(column: ColumnView, verdict: Verdict, role: Role, is_open: bool) -> str:
    """Why, in plain words: the entry of the evidence that says most, and how many values there are."""
    seen = column.seen
    values = "1 value" if seen.distinct == 1 else f"{seen.distinct:,} different values"
    shape = f"{values} in {seen.rows:,} records"
    because = NOTHING if verdict.reason is None else _worded(verdict.reason.because, column)
    if column.instead and not column.context and "{meaning}" in (verdict.reason.because if verdict.reason else ""):
        because = column.instead
    if is_open and not because.startswith(NOTHING):
        because = f"{NOTHING}; {because}"
    if role == Role.UNDECIDED:
        return f"{because}; {shape}: decide its role"
    if is_open and role == Role.SENSITIVE:
        return f"{because}; {shape}: treated as sensitive by default"
    return f"{because}; {shape}" if seen.rows else because


def _worded(because: str, column: ColumnView) -> str:
    """The words of an entry with what they speak of."""
    seen, entry = column.seen, column.table.standards.get(column.name)
    values = meaning_of_values(seen) if "{values}" in because else None
    other = next((relative for fact, relative in column.context.items() if fact != "relation"), "")
    return because.format(
        meaning=_meaning(column),
        values=values.says if values else "",
        number=number_of_people(seen) if "{number}" in because else "",
        pointer=seen.points_at_people or "",
        dtype=seen.column.dtype,
        separator="" if "{separator}" not in because or seen.separator is None else f" separated by {seen.separator!r}",
        elements=f"{seen.elements:,}" if "{elements}" in because else "",
        length=f"{seen.length:.0f}",
        alone=f"{seen.alone:,}" if "{alone}" in because else "",
        rows=f"{seen.rows:,}",
        standard=entry.standard if entry else "",
        defined=entry.defined if entry else "",
        relation=column.context.get("relation", ""),
        other=other,
    )


def _meaning(column: ColumnView) -> str:
    """What the name means, in words; a name that its values do not show to be one of people may be of a thing."""
    if column.has("called a name") and not agrees(column):
        return "a name, of a person or of a thing"
    return column.meaning.says if column.meaning else ""


def _hint(column: ColumnView, role: Role) -> str | None:
    """What kind of hierarchy would suit the values."""
    seen = column.seen
    if role not in (Role.QUASI_IDENTIFIER, Role.SENSITIVE, Role.UNDECIDED) or seen.nested:
        return None
    meaning = column.meaning or (meaning_of_values(seen) if seen.text else None)
    hint = meaning.hint if meaning is not None else None
    if seen.dates:
        return "date"
    if hint is None and column.has("codes of diseases"):
        return "mask"
    if hint == "date" or hint is None or (seen.numeric and hint != "mask"):
        return "numeric" if seen.numeric else "grouping"
    return hint


def unit_among(table: TableView, columns: Mapping[str, ColumnView], guesses: Mapping[str, Guess]) -> str | None:
    """The key whose rows are about one person, where several rows are; not one of households, schools or places."""
    times = [name for name, column in columns.items() if column.has("years") or column.seen.dates]
    keys = [
        name
        for name, guess in guesses.items()
        if guess.role == Role.IDENTIFIER
        and (guess.kind == "unit" or columns[name].has("counts people") or columns[name].has(f"says:{RECORD_NUMBER}"))
        and FEWEST_UNITS <= table.values[name].distinct <= MOST_UNITS * table.values[name].rows
        and table.values[name].rows == table.frame.height
        and not HOUSEHOLD_WORDS & set(columns[name].words)
        and not columns[name].has("about places")
        and (
            guess.kind == "unit"
            or hangs_on(table.frame, name, table.values)
            or in_waves(table.frame, name, times, table.values)
        )
    ]
    # What a standard calls the unit comes first, then the key with most values.
    return max(keys, key=lambda name: (guesses[name].kind == "unit", table.values[name].distinct), default=None)


def _alone(guess: Guess, seen: Values) -> str:
    """A word about sensitive values that most records have alone and that are published as they are."""
    if guess.role != Role.SENSITIVE or not seen.many_alone:
        return ""
    return f"; published unchanged, although {seen.alone:,} records have a unique value, which can re-identify them"
