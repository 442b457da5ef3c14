"""What may be done with missing and unknown values, in words, and the settings that mean the same in every job."""

from __future__ import annotations

from typing import Annotated, Any

from kanopy._parameter_types import ColumnNames, Flag, Integer, OneOf, Optional, ParameterType, Text
from kanopy._table.roles import REST
from kanopy._usage import Needs

MISSING_POLICIES = {
    "as-value": "a missing value is a value of its own",
    "suppress": "records with a missing value are suppressed",
    "error": "a missing value is an error",
}
UNKNOWN_POLICIES = {
    "error": "a value that is not in the hierarchy is an error",
    "suppress": "records with a value that is not in the hierarchy are suppressed",
    "add": "a value that is not in the hierarchy is added directly below its top",
}

Identifiers = Annotated[tuple[str, ...], ColumnNames(), "columns that identify people and are not published"]
Insensitive = Annotated[tuple[str, ...], ColumnNames(), "columns that are published unchanged"]
MissingTokens = Annotated[tuple[str, ...], ColumnNames("texts"), "texts that mean missing"]
Pseudonymized = Annotated[tuple[str, ...], ColumnNames(), "identifiers published as keyed hashes"]
Rest = Annotated[str, OneOf(*REST), "columns without a role: leave them out, or publish them"]
Withheld = Annotated[tuple[str, ...], ColumnNames(), "columns that are not published, though they identify nobody"]
Undecided = Annotated[tuple[str, ...], ColumnNames(), "columns that are not published until somebody decides"]
AllowDependent = Annotated[
    tuple[str, ...], ColumnNames(), "columns that are published although they reveal a generalized column"
]
Shuffled = Annotated[
    bool | None,
    Optional(Flag()),
    "false: files keep the order of the table, which may reveal who is who; true: data in memory is shuffled too",
]


class Delimiter(ParameterType):
    """One character that parts fields."""

    words = 'one ASCII character such as ";", or "tab"'

    def take(self, value: Any, label: str, mistakes: list[str]) -> Any:
        sign = "\t" if value in ("tab", "\\t") else value
        fits = isinstance(sign, str) and len(sign) == 1 and sign.isascii() and not sign.isalnum()
        if not fits or sign in "\r\n\0\"'_":
            return self.refuse(value, label, mistakes)
        return sign


Encoding = Annotated[
    str | None,
    Optional(Text("the name of an encoding")),
    "the encoding of the file, if it is delimited text: cp1250, …",
]
Delimited = Annotated[str | None, Optional(Delimiter()), "the delimiter of the file, if it is delimited text"]
Sheet = Annotated[str | None, Optional(Text("the name of a sheet")), "the sheet of the file, if it is a workbook"]
HeaderRow = Annotated[
    int | None,
    Optional(Integer(1)),
    "the row of the file with the column names, counted from 1; rows above it are ignored",
]
WEIGHTS = Needs(
    "several columns to be weighed against each other", lambda job: len((*getattr(job, "text", ()), *job.quasi)) != 1
)
"""What weights of columns have no effect without."""
ONCE, EACH = "once", "each"
"""How equal labels of one list are published: once, or as often as they occur."""
