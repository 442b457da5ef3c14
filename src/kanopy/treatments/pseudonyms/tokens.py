"""Random tokens: pseudonyms that come from chance alone, kept in a secret table."""

from __future__ import annotations

import csv
import io
import secrets
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, ClassVar

import polars as pl

from kanopy._errors import JobError
from kanopy._parameter_types import Integer, Text
from kanopy.treatments.base import NO_SECRET, Table, Treatment
from kanopy.treatments.pseudonyms.keyed import replaced

COLUMNS = ["domain", "value", "token"]


@dataclass(frozen=True)
class Tokens(Treatment):
    """Random tokens. `table` is a secret CSV file of values and their tokens: those in it are used again, new ones are
    added when the release is written. Whoever has it turns tokens back; without it nobody can, whatever is computed.
    """

    table: Annotated[str, Text("a file"), "the secret file of values and tokens"]
    digits: Annotated[int, Integer(16, 64), "hexadecimal digits of a token"] = 24
    domain: Annotated[str, Text("a text", empty=True), "columns of the same domain share tokens"] = ""

    name: ClassVar[str] = "tokens"
    summary: ClassVar[str] = "replaces values by random tokens that a secret table remembers"
    guarantees: ClassVar[str] = "without the table, a token tells nothing but which rows are equal"
    lacks: ClassVar[str] = "rows of one person stay linked; who has the table reads everything"
    source: ClassVar[str] = "ENISA 2019, Pseudonymisation techniques and best practices"
    secret: ClassVar[str] = NO_SECRET
    keyed: ClassVar[bool] = False
    for_identifiers: ClassVar[bool] = True
    reversible: ClassVar[bool] = True

    def treat(self, column: str, table: Table) -> dict[str, pl.Series]:
        """Replace each value by its token; the table with the new ones is in `facts["files"]`."""
        domain = self.domain or column
        files: dict[str, str] = table.facts.get("files", {})
        text = files.get(self.table)
        rows = _read(text if text is not None else _content(self.table), self.table)
        token_of_value = {value: token for token_domain, value, token in rows if token_domain == domain}
        used = {token for _, _, token in rows}
        new: list[list[str]] = []

        def tokens(labels: list[str]) -> list[str]:
            # In the order of values: where a token stands in the file tells nothing of rows.
            for label in sorted(set(labels) - token_of_value.keys()):
                token = secrets.token_hex(self.digits // 2 + 1)[: self.digits]
                while token in used:
                    token = secrets.token_hex(self.digits // 2 + 1)[: self.digits]
                used.add(token)
                token_of_value[label] = token
                new.append([domain, label, token])
            return [token_of_value[label] for label in labels]

        made = replaced(table.rows[column], tokens)
        files[self.table] = written([*rows, *new])
        return {column: made}


def written(rows: list[list[str]]) -> str:
    """The secret table as text."""
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows([COLUMNS, *rows])
    return out.getvalue()


def _content(path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8")
    except FileNotFoundError:
        return ""
    except (OSError, ValueError) as error:
        raise JobError(f"The table of tokens {path!r} cannot be read: {error}.") from None


def _read(text: str, path: str) -> list[list[str]]:
    if not text:
        return []
    rows = list(csv.reader(io.StringIO(text)))
    wrong = rows[:1] != [COLUMNS] or any(len(row) != len(COLUMNS) or not row[2] for row in rows[1:])
    if (
        wrong
        or len({row[2] for row in rows[1:]}) < len(rows) - 1
        or len({(row[0], row[1]) for row in rows[1:]}) < len(rows) - 1
    ):
        raise JobError(
            f"{path!r} is no table of tokens: it must have the columns {', '.join(COLUMNS)}, and each value and token "
            "once. Name another file; one that does not exist is made."
        )
    return rows[1:]
