"""What a first job says of the design of a sample: its weight, its households, and the models that use them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kanopy._job.toml_text import toml_value
from kanopy._table.roles import Role

if TYPE_CHECKING:
    from kanopy._table.guessing.guess import Guess
    from kanopy._table.guessing.value_kinds import Values

MOST_RISK, MOST_HOUSEHOLD_RISK = 0.09, 0.2
"""Limits that a first job proposes: .09 is the threshold of the European Medicines Agency (policy 0070) and of Health
Canada for public releases; .2 is the risk of one of five."""


@dataclass(frozen=True)
class Design:
    """The columns of a sample's design that a job can use."""

    weight: str = ""
    household: str = ""
    unit: str = ""
    unusable: str = ""
    """A weight that is missing or not above 0 in some rows, or above 1 in none."""

    @classmethod
    def of(cls, guesses: Sequence[Guess], seen: Mapping[str, Values]) -> Design:
        """The design that guessed roles speak of."""
        kinds = {guess.kind: guess.column for guess in guesses if guess.role == Role.WITHHELD and guess.kind}
        unit = next((guess.column for guess in guesses if guess.role == Role.UNIT), "")
        weight = kinds.get("weight", "")
        usable = bool(weight) and _weighs_every_row(seen[weight])
        return cls(weight if usable else "", kinds.get("household", ""), unit, "" if usable or not weight else weight)

    def settings(self, local: bool) -> Iterator[str]:
        """The lines of the job that name weight and household."""
        if not self.weight or self.unit:
            return
        yield "# How many people of the population a row represents: the models at the end of this file use it."
        yield f"sampling-weight = {toml_value(self.weight)}"
        if self.household and not local:
            yield "# Rows with equal values belong to one household."
            yield f"household = {toml_value(self.household)}"

    def models(self, local: bool) -> Iterator[str]:
        """The lines of the models of a sample survey."""
        if not self.weight or self.unit:
            return
        yield from (
            "",
            "# The chance of finding the person behind a published row, by the sampling weights, is at most this.",
        )
        yield from ("[[models]]", 'name = "individual-risk"', f"most = {MOST_RISK}")
        if self.household and not local:
            yield from ("", "# The chance of finding any member of a row's household is at most this.")
            yield from ("[[models]]", 'name = "household-risk"', f"most = {MOST_HOUSEHOLD_RISK}")

    def remarks(self, local: bool) -> Iterator[str]:
        """What the job does not use, and why."""
        if self.unusable:
            yield (
                f"The sampling weight {self.unusable!r} is not used: missing or not above 0 in some rows, or never "
                "above 1. Correct it, and name it as sampling-weight."
            )
        if self.weight and self.unit:
            yield (
                f"The sampling weight {self.weight!r} is not used: k counts the values of {self.unit!r}, and weights "
                "belong to rows."
            )
        elif self.household and self.weight and local:
            yield (
                f"The household {self.household!r} is not used: local recoding does not limit the risk of households. "
                'algorithm = "optimal" with the model household-risk does.'
            )
        elif self.household and not self.weight:
            yield f"The household {self.household!r} is not used: its risk needs a sampling weight, and none was found."


def _weighs_every_row(seen: Values) -> bool:
    """Whether each row says how many people it stands for: a number above 0, and no word or code for a missing value.

    Numbers of which none is above 1 are chances of being drawn, not weights.
    """
    from kanopy._errors import KanopyError
    from kanopy._table.encode import sampling_weights

    if seen.missing_codes:
        return False
    try:
        return float(sampling_weights(seen.column).max(initial=0.0)) > 1
    except KanopyError:
        return False
