"""Columns of a table that official classifications know: what `init` says of them, and the hierarchy it proposes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from kanopy._table.roles import Role

if TYPE_CHECKING:
    import polars as pl

    from kanopy._table.guessing.guess import Guess
    from kanopy.classifications.recognition import Recognition

MOST_DIFFERENT = 100_000
LONGEST = 300
LEAST_AGREEING, TWICE = 5, 2
CALENDAR = frozenset({"month", "weekday"})


@dataclass(frozen=True)
class Proposed:
    """The hierarchy and the remark that a recognised column gets."""

    hierarchy: dict[str, Any]
    remark: str
    recognition: Recognition


@dataclass(frozen=True, eq=False)
class OfficialColumns:
    """Which classification each column of a table belongs to, found when somebody asks, and remembered."""

    frame: pl.DataFrame
    _alone: dict[str, Recognition | None] = field(default_factory=dict)
    _different: dict[str, int] = field(default_factory=dict)

    def of(self, name: str, missing: tuple[str, ...] = ()) -> Recognition | None:
        """The classification of a column: by its own name and values, or by names that stand beside its codes.

        >>> import polars as pl
        >>> names = ["Austria", "Belgium", "Chile", "France", "Japan", "Spain"]
        >>> table = OfficialColumns(pl.DataFrame({"country": names, "no": [40, 56, 152, 250, 392, 724]}))
        >>> table.of("no").classification
        'countries'
        """
        code = self._by_itself(name, missing)
        if code is None and _may_be_codes(self.frame[name]) and LEAST_AGREEING <= self._count(name) <= MOST_DIFFERENT:
            others = (other for other in self.frame.columns if other != name and self._alike(name, other))
            tries = (self._beside(name, other) for other in others)
            code = next((recognition for recognition in tries if recognition is not None), None)
        return code

    def _by_itself(self, name: str, missing: tuple[str, ...] = ()) -> Recognition | None:
        if name not in self._alone:
            self._alone[name] = recognized(name, self.frame[name], missing)
        return self._alone[name]

    def _count(self, name: str) -> int:
        if name not in self._different:
            self._different[name] = self.frame[name].n_unique()
        return self._different[name]

    def _alike(self, name: str, other: str) -> bool:
        """Whether two columns have about as many different values, and the other one holds texts."""
        if not _is_text(self.frame[other]):
            return False
        return self._count(name) <= TWICE * self._count(other) and self._count(other) <= TWICE * self._count(name)

    def _beside(self, name: str, other: str) -> Recognition | None:
        from kanopy._table.column import as_labels
        from kanopy.classifications.recognition import recognize_beside

        beside = self._by_itself(other)
        if beside is None:
            return None
        pairs = self.frame.select(own=as_labels(self.frame[name]), other=as_labels(self.frame[other])).drop_nulls()
        if len(pairs.unique()) > TWICE * max(self._count(name), self._count(other)):
            return None  # codes of what stands beside them have one name each
        return recognize_beside(beside, pairs.group_by("own", "other").len().sort("own", "other").rows())


def proposed(guess: Guess, official: OfficialColumns) -> Proposed | None:
    """What a column gets that a classification knows; `None` for others.

    >>> import polars as pl
    >>> from kanopy._table.guessing.guess import guess_roles
    >>> frame = pl.DataFrame({"country": ["DEU", "FRA", "ITA", "POL", "DEU"]})
    >>> found = proposed(guess_roles(frame)[0], OfficialColumns(frame))
    >>> found.hierarchy
    {'classification': 'countries', 'fit': True}
    """
    recognition = official.of(guess.column, guess.missing)
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
    from kanopy.classifications.recognition import recognize
    from kanopy.hierarchy.column import canonical_label

    if not _may_be_codes(column):
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


def _is_text(column: pl.Series) -> bool:
    import polars as pl

    return isinstance(column.dtype, (pl.String, pl.Categorical, pl.Enum))


def _may_be_codes(column: pl.Series) -> bool:
    return _is_text(column) or column.dtype.is_integer()


def with_classified_roles(
    frame: pl.DataFrame, guesses: list[Guess], official: OfficialColumns | None = None
) -> list[Guess]:
    """The guesses with the role of recognised columns, where nothing else was known about them.

    Diagnoses and drugs are sensitive, places and occupations are known to others. What was taken for an identifier
    stays one: a code that is alone in its row could be a number of the person. What was undecided is published as
    sensitive only where values repeat: otherwise somebody must decide, and the reason says what it is.
    """
    from dataclasses import replace

    official = official or OfficialColumns(frame)
    changed = []
    for guess in guesses:
        if guess.role in (Role.UNDECIDED, Role.INSENSITIVE) and frame[guess.column].n_unique() < max(frame.height, 2):
            recognition = official.of(guess.column, guess.missing)
            if recognition is not None and recognition.role in (Role.SENSITIVE, Role.QUASI_IDENTIFIER):
                role = Role.SENSITIVE if recognition.role == Role.SENSITIVE else Role.QUASI_IDENTIFIER
                often = 2 * frame[guess.column].n_unique() <= frame.height
                if guess.role == Role.UNDECIDED and role == Role.SENSITIVE and not often:
                    role = Role.UNDECIDED
                guess = replace(guess, role=role, reason=f"{recognition.sentence()}; {guess.reason}")
        changed.append(guess)
    return changed
