"""A first job file for a table nobody has described yet: guessed roles, suggested hierarchies, and the reasons."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from kanopy._errors import shown_address
from kanopy._job.job import Job
from kanopy._shown import Short
from kanopy._table.roles import Role

HIDDEN = (Role.IDENTIFIER, Role.QUASI_IDENTIFIER, Role.UNDECIDED)
FEWEST_IN_ORDER = 8
"""Fewer different values may stand in order by chance."""

_METHODS = {
    "numeric": 'hierarchy = { method = "auto" }',
    "date": 'hierarchy = { method = "dates" }',
    "mask": 'hierarchy = { method = "redact" }',
    "grouping": 'hierarchy = { method = "auto" }',
    "semantic": 'hierarchy = { method = "auto" }',
}


@dataclass(frozen=True)
class GuessedJob(Short):
    """The text of a commented job file, and per column what was guessed and why."""

    text: str
    columns: list[dict[str, str | None]]

    @property
    def job(self) -> Job:
        """The job that the text describes."""
        return Job.from_toml(self.text)


def guess_job(data: Any, source: str = "") -> GuessedJob:
    """A first job for a table (a frame, columns or a path), with the reasons: what `kanopy init` writes.

    >>> guessed = guess_job({"name": ["Ann", "Bob"], "age": [41, 29], "income": [1, 2]})
    >>> guessed.job.quasi, guessed.columns[0]["role"]
    (('age',), 'identifier')
    """
    from kanopy._job.toml_text import toml_key
    from kanopy._table.frames import to_polars
    from kanopy._table.guessing.guess import guess_roles

    frame = to_polars(data)[0]
    guesses = guess_roles(frame)
    why = _told_by_order(frame, [guess.column for guess in guesses if guess.role in HIDDEN])
    lines = [
        "# What to publish and how safe it must be. Every setting below is a guess: read it before you rely on it.",
        *([f"# Table: {' '.join(shown_address(source).split())}"] if source else []),
        "",
        "# How many rows must share each published combination of quasi-identifiers.",
        "k = 5",
        "# Rows that may be left out to keep the others more exact.",
        'suppress = "2%"',
        "# The loss to minimise: loss, loss-geometric, aecs, discernibility, precision, entropy, height.",
        'metric = "loss"',
        "# optimal: one level per column, proved to lose least. `kanopy algorithms` lists the others.",
        'algorithm = "optimal"',
        '# To lose far less, let rows with equal values be published differently: algorithm = "best".',
        "# Missing values: as-value (a value of its own), suppress, error.",
        'missing = "as-value"',
        "# Values that a hierarchy does not know: error, suppress, add.",
        'unknown = "error"',
        "# Columns without a role: leave out, publish.",
        'rest = "leave out"',
        "# Publish the rows in another order: where a row stands may tell whose it is" + (why and f" ({why})") + ".",
        f"shuffle = {'true' if why else 'false'}",
        "",
        "# Roles: identifier (never leaves), quasi-identifier (others may know it; generalized), sensitive (published;",
        "# a privacy model can guard it), insensitive (published as it is), undecided (stays at home till you decide).",
        '# A hierarchy is a file ("age.csv") or a method ({ method = "iotf" }); also: min-level, max-level, weight.',
    ]
    columns: list[dict[str, str | None]] = []
    for guess in guesses:
        hierarchy = _METHODS.get(guess.hierarchy_hint or "grouping") if guess.role == Role.QUASI_IDENTIFIER else None
        lines += ["", f"[columns.{toml_key(guess.column)}]", f"# {guess.certainty}: {guess.reason}"]
        lines.append(f'role = "{guess.role}"')
        if hierarchy:
            lines.append(hierarchy)
        columns.append(
            {
                "column": guess.column,
                "role": str(guess.role),
                "hierarchy": hierarchy.split('"')[1] if hierarchy else None,
                "certainty": guess.certainty,
                "reason": guess.reason,
            }
        )
    return GuessedJob("\n".join(lines) + "\n", columns)


def _told_by_order(frame: Any, hidden: Sequence[str]) -> str:
    """Whether rows stand in the order of a column that does not leave as it is, in words; nothing if not."""
    for name in hidden:
        column = frame[name].rename("").drop_nulls()
        if column.dtype.is_nested() or column.dtype.is_object() or column.n_unique() < FEWEST_IN_ORDER:
            continue
        if column.is_sorted() or column.is_sorted(descending=True):
            return f"these stand in the order of {name!r}"
    return ""
