"""What a column is in a release."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum
from typing import Any

RECORD_NUMBER = "a record number"


class Role(StrEnum):
    """The roles of a column."""

    IDENTIFIER = "identifier"
    """Says who a record is about (name, number); dropped by default."""
    QUASI_IDENTIFIER = "quasi-identifier"
    """Others may know it about a person (age, post code); generalized."""
    SENSITIVE = "sensitive"
    """What must not be learnt about a person (diagnosis, income); published as it is; privacy models can guard it."""
    INSENSITIVE = "insensitive"
    """Neither; published as it is."""
    UNDECIDED = "undecided"
    """Nobody knows yet; not published until somebody decides."""
    WITHHELD = "withheld"
    """Stays out of the release, though it identifies nobody by itself: sampling weights, design of the sample, keys."""
    UNIT = "unit"
    """Whose row it is, where several rows are about the same person or household; the promise counts its values, and it
    is not published."""


ROLES = {
    "quasi": Role.QUASI_IDENTIFIER.value,
    "sensitive": Role.SENSITIVE.value,
    "identifiers": Role.IDENTIFIER.value,
    "insensitive": Role.INSENSITIVE.value,
    "undecided": Role.UNDECIDED.value,
    "withheld": Role.WITHHELD.value,
    "unit": Role.UNIT.value,
}
"""The fields of jobs that name columns, and the role of these columns as job files and reports call it."""

UNPUBLISHED_ROLES = (Role.IDENTIFIER.value, Role.UNDECIDED.value, Role.WITHHELD.value, Role.UNIT.value)
"""The roles of columns that do not leave."""

LEAVE_OUT, PUBLISH = REST = ("leave out", "publish")
"""What becomes of columns that nobody named."""


def settle_roles(job: Any, fields: Iterable[str], may_be_hashed: Iterable[str]) -> Iterator[str]:
    """What is wrong with the roles that the `fields` of a job give to columns.

    Columns to pseudonymize that have no role become identifiers; those with one must be among `may_be_hashed`.
    """
    roles: dict[str, str] = {}
    for role in fields:
        for column in getattr(job, role, ()):
            if column in roles:
                yield f"The column {column!r} has two roles: {roles[column]} and {role}. Give it one."
            roles.setdefault(column, role)
    strangers = [name for name in job.pseudonymize if name not in tuple(may_be_hashed)]
    for name in strangers:
        if name in roles:
            yield f"Only identifiers can be pseudonymized; {name!r} is among {roles[name]}."
    object.__setattr__(job, "identifiers", (*job.identifiers, *(name for name in strangers if name not in roles)))


HOUSEHOLD_WORDS = frozenset(
    {"household", "households", "hh", "hhid", "hhnr", "hid", "haushalt", "hogar", "menage", "db"}
)


def called(unit: Sequence[str]) -> str:
    """What the units of these columns are called in sentences.

    >>> called(["patient"]), called(["household_id"])
    ('people', 'households')
    """
    from kanopy._table.guessing.column_names import words_of

    return "households" if any(HOUSEHOLD_WORDS & set(words_of(name)) for name in unit) else "people"


def identifying_name(name: str) -> str | None:
    """What a column's name says about whose row it is, or `None`: such columns never leave unless the job says so.

    >>> identifying_name("patient_name"), identifying_name("age")
    ("a person's name", None)
    """
    from kanopy._table.guessing.column_names import meanings_of

    spoken = [meant.meaning for meant in meanings_of(name)[:1]]
    return next(
        (meaning.says for meaning in spoken if meaning.role == Role.IDENTIFIER and meaning.says != RECORD_NUMBER), None
    )
