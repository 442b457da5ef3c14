"""What the name of a column means beside its values: `grade` may be a mark, a year of school or a rank.

`data/roles/readings.toml` lists, per meaning, when the values contradict it and what it means instead.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from kanopy._table.guessing.evidence.views import ColumnView, Condition
from kanopy._table.guessing.lexicon import Meaning, lexicon

DATA = Path(__file__).resolve().parents[3] / "data" / "roles"


@dataclass(frozen=True)
class Reading:
    """When a meaning (or any of a role) is not what a name says, what it is instead, and why."""

    of: tuple[str, ...]
    when: Condition
    instead: str
    because: str


@cache
def readings() -> dict[str, tuple[Reading, ...]]:
    """The readings by the meaning or the role that they are about.

    >>> readings()["results"][0].instead
    'education'
    """
    by_meaning: dict[str, tuple[Reading, ...]] = {}
    for entry in tomllib.loads((DATA / "readings.toml").read_text(encoding="utf-8"))["reading"]:
        of = tuple(item.strip() for item in entry["of"].split("|"))
        reading = Reading(of, Condition.read(entry["when"]), entry.get("instead", ""), entry["because"])
        for meaning in of:
            by_meaning[meaning] = (*by_meaning.get(meaning, ()), reading)
    return by_meaning


@cache
def fits() -> dict[str, tuple[Condition, ...]]:
    """Per meaning the conditions of which one holds where the values look like what it says."""
    plain = tomllib.loads((DATA / "readings.toml").read_text(encoding="utf-8"))["fits"]
    return {says: tuple(map(Condition.read, conditions)) for says, conditions in plain.items()}


def meaning_called(says: str) -> Meaning:
    """The meaning of that name."""
    return next(meaning for meaning in lexicon().meanings if meaning.says == says)


def read_name(column: ColumnView) -> None:
    """Settle what the name of a column means: the clearest meaning that its values do not contradict."""
    if column.name in column.table.standards:
        return  # what a standard defines needs no reading
    for spoken in column.spoken:
        column.meaning, column.strength = spoken.meaning, spoken.strength
        column.forget_meaning()
        ruled_out = False
        for reading in (*readings().get(spoken.meaning.says, ()), *readings().get(spoken.meaning.role, ())):
            if reading.when.holds(column):
                if not reading.instead:
                    ruled_out = True
                    break
                column.meaning, column.instead = meaning_called(reading.instead), reading.because
                column.forget_meaning()
                return
        if not ruled_out:
            return
    column.meaning, column.strength = None, 0
    column.forget_meaning()


YES_AND_NO = 2


def agrees(column: ColumnView) -> bool:
    """Whether the values look like what the name says.

    A name that says it by an answer alone (`single`, `catholic`) asks whether that is so: more values than yes and no
    are something else (`single_item`).
    """
    if _names_an_answer(column) and column.seen.distinct > YES_AND_NO:
        return False
    conditions = fits().get(column.meaning.says if column.meaning else "", ())
    return any(condition.holds(column) for condition in conditions)


def _names_an_answer(column: ColumnView) -> bool:
    """Whether the words of a name that speak of its meaning are answers, such as values of such columns are."""
    meaning = column.meaning
    if meaning is None:
        return False
    spoken = [word for word in column.words if word in meaning.words]
    return bool(spoken) and all(word in meaning.values for word in spoken)
