"""What may be done with missing and unknown values, in words, and the settings that mean the same in every job."""

from __future__ import annotations

from typing import Annotated

from kanopy._kinds import Flag, Maybe, Names, OneOf
from kanopy._table.roles import REST
from kanopy._usage import Needs

MISSING_POLICIES = {
    "as-value": "a missing value is a value of its own",
    "suppress": "records with a missing value are suppressed",
    "error": "a missing value is an error",
}
UNKNOWN_POLICIES = {
    "error": "a value that the hierarchy does not know is an error",
    "suppress": "records with a value that the hierarchy does not know are suppressed",
    "add": "a value that the hierarchy does not know is added directly under its top",
}

Identifiers = Annotated[tuple[str, ...], Names(), "columns that never leave"]
Insensitive = Annotated[tuple[str, ...], Names(), "columns that are published as they are"]
MissingTokens = Annotated[tuple[str, ...], Names("texts"), "texts that mean missing"]
Pseudonymized = Annotated[tuple[str, ...], Names(), "identifiers published as keyed hashes"]
Rest = Annotated[str, OneOf(*REST), "columns without a role: leave them out, or publish them"]
Withheld = Annotated[tuple[str, ...], Names(), "columns that are not published, though they identify nobody"]
Undecided = Annotated[tuple[str, ...], Names(), "columns that are not published until somebody decides"]
AllowDependent = Annotated[
    tuple[str, ...], Names(), "columns that are published though they tell what a generalized one hides"
]
Shuffled = Annotated[
    bool | None, Maybe(Flag()), "false: files keep the order of the table, which may tell who is who; true: data too"
]
WEIGHTS = Needs(
    "several columns to be weighed against each other", lambda job: len((*getattr(job, "text", ()), *job.quasi)) != 1
)
"""What weights of columns have no effect without."""
ONCE, EACH = "once", "each"
"""How equal labels of one list are published: once, or as often as they occur."""
