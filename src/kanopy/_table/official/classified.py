"""Columns of a table that official classifications know: what `init` says of them, and the hierarchy it proposes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kanopy._table.roles import Role

if TYPE_CHECKING:
    import polars as pl

    from kanopy._table.guessing.guess import Guess
    from kanopy._table.guessing.value_kinds import Values
    from kanopy.classifications.recognition import Recognition

MOST_DIFFERENT = 100_000
LONGEST = 300
CALENDAR = frozenset({"month", "weekday"})


@dataclass(frozen=True)
class Proposed:
    """The hierarchy and the remark that a recognised column gets."""

    hierarchy: dict[str, Any]
    remark: str
    recognition: Recognition


def proposed(guess: Guess, seen: Values) -> Proposed | None:
    """What a column gets that a classification knows; `None` for others.

    >>> import polars as pl
    >>> from kanopy._table.guessing.guess import guess_roles
    >>> from kanopy._table.guessing.value_kinds import Values
    >>> frame = pl.DataFrame({"country": ["DEU", "FRA", "ITA", "POL", "DEU"]})
    >>> found = proposed(guess_roles(frame)[0], Values(frame["country"]))
    >>> found.hierarchy
    {'classification': 'countries', 'fit': True}
    """
    recognition = recognized(guess.column, seen.column, guess.missing)
    if recognition is None:
        return None
    # Quarters and weekends are groups that all know; of others, one rare code would generalize all.
    fit = {} if recognition.subject in CALENDAR else {"fit": True}
    return Proposed({"classification": _named(recognition), **fit}, recognition.sentence(), recognition)


def _named(recognition: Recognition) -> str:
    """The name of the classification, or of the version where it is not the newest."""
    from kanopy.classifications.registry import SOURCES

    source = SOURCES.get(recognition.classification)
    if source is None or not source.files or recognition.version == source.files[0]:
        return recognition.classification
    return recognition.version


def recognized(name: str, column: pl.Series, missing: tuple[str, ...] = ()) -> Recognition | None:
    """The classification of a column, by its name and different values; `None` if there is none."""
    import polars as pl

    from kanopy.classifications.recognition import recognize
    from kanopy.hierarchy.column import canonical_label

    kinds = (pl.String, pl.Categorical, pl.Enum)
    if column.dtype.is_nested() or not (isinstance(column.dtype, kinds) or column.dtype.is_integer()):
        return None
    counted = column.rename("value").drop_nulls().value_counts()
    if not counted.height or counted.height > MOST_DIFFERENT:
        return None
    given = [
        (label, number)
        for value, number in counted.sort("count", "value", descending=[True, False]).rows()
        if (label := canonical_label(value)) not in missing and len(label) <= LONGEST
    ]
    recognitions = recognize([label for label, _ in given], [number for _, number in given], name=name)
    return recognitions[0] if recognitions else None


def with_classified_roles(frame: pl.DataFrame, guesses: list[Guess]) -> list[Guess]:
    """The guesses with the role of recognised columns, where nothing else was known about them.

    Diagnoses and drugs are sensitive, places and occupations are known to others. What was taken for an identifier
    stays one: a code that is alone in its row could be a number of the person. What was undecided is published as
    sensitive only where values repeat: otherwise somebody must decide, and the reason says what it is.
    """
    from dataclasses import replace

    changed = []
    for guess in guesses:
        if guess.role in (Role.UNDECIDED, Role.INSENSITIVE) and frame[guess.column].n_unique() < max(frame.height, 2):
            recognition = recognized(guess.column, frame[guess.column], guess.missing)
            if recognition is not None and recognition.role in (Role.SENSITIVE, Role.QUASI_IDENTIFIER):
                role = Role.SENSITIVE if recognition.role == Role.SENSITIVE else Role.QUASI_IDENTIFIER
                often = 2 * frame[guess.column].n_unique() <= frame.height
                if guess.role == Role.UNDECIDED and role == Role.SENSITIVE and not often:
                    role = Role.UNDECIDED
                guess = replace(guess, role=role, reason=f"{recognition.sentence()}; {guess.reason}")
        changed.append(guess)
    return changed
