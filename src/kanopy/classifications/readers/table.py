"""Plain tables: a code per row, its label and its parent; without parents, codes lie below those they begin with.

Columns are found by their names (code, label, parent, in several spellings), otherwise the first three count. More
labels stand in columns such as `label_de`.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from kanopy._errors import HierarchyError, some
from kanopy.classifications.classification import ENGLISH, Classification, bare
from kanopy.classifications.readers.files import text_of

SAMPLE = "code;label;parent;label_de\n01;Fruit;;Obst\n01.1;Apples;01;Äpfel\n01.2;Pears;01;Birnen\n"
CODE = ("code", "notation", "id", "concept_code", "key", "codigo", "atc code", "atc_code", "isco 08 code")
LABEL = (
    "label",
    "title",
    "name",
    "description",
    "preflabel",
    "text",
    "title en",
    "atc level name",
    "atc_name",
    "bezeichnung",
)
PARENT = ("parent", "parent_code", "parent code", "broader", "parent_id", "above")
SEVERAL = "|"
_LANGUAGE = re.compile(r"(?:label|title|name|description)[_@ :.-]([a-z]{2})", re.IGNORECASE)


def read_table(path: str | Path, *, name: str = "") -> Classification:
    """The codes of a table; several parents are separated by `|`, or stand in several rows."""
    path = Path(path)
    text = text_of(path)
    first = text.split("\n", 1)[0]
    separator = max(",;\t", key=first.count) if any(mark in first for mark in ",;\t") else ","
    rows = [row for row in csv.reader(text.splitlines(), delimiter=separator) if any(map(str.strip, row))]
    if len(rows) < 2:
        raise HierarchyError(f"{path} has no codes. A classification is a table with the columns code, label, parent.")
    head = [cell.strip().casefold() for cell in rows[0]]
    code, label, parent = (_column(head, names) for names in (CODE, LABEL, PARENT))
    if code is None:
        if label is not None or parent is not None or len(head) < 2:
            raise HierarchyError(
                f"{path} has no column of codes: it has {some(rows[0])}. Rename the column of codes to code."
            )
        code, label, parent, body = 0, 1, 2 if len(head) > 2 else None, rows
    else:
        body = rows[1:]
    width = max(column_number for column_number in (code, label, parent) if column_number is not None) + 1
    short = [str(number) for number, row in enumerate(body, 2) if len(row) < width]
    if short:
        raise HierarchyError(f"{path}: rows with fewer than {width} cells: lines {some(short)}. Fill them up.")
    codes = [row[code].strip() for row in body]
    labels = [row[label].strip() if label is not None else "" for row in body]
    given = [_parents(row[parent]) for row in body] if parent is not None else parents_by_beginning(codes)
    made = Classification.from_rows(zip(codes, labels, given, strict=True), name=name or path.stem, where=str(path))
    more = {match[1].lower(): at for at, cell in enumerate(head) if (match := _LANGUAGE.fullmatch(cell))}
    if not more:
        return made
    row_of = dict(zip(codes, body, strict=True))
    spelled = {
        language: [row_of[row_code][at].strip() if len(row_of[row_code]) > at else row_code for row_code in made.codes]
        for language, at in more.items()
    }
    return replace(made, labels_by_language={ENGLISH: made.labels(), **spelled})


def _column(head: Sequence[str], names: Iterable[str]) -> int | None:
    return next((head.index(name) for name in names if name in head), None)


def _parents(cell: str) -> tuple[str, ...]:
    return tuple(code.strip() for code in cell.split(SEVERAL) if code.strip())


def parents_by_beginning(codes: Sequence[str]) -> list[tuple[str, ...]]:
    """The longest other code that each code begins with, dots left out.

    >>> parents_by_beginning(["A00", "A00.0", "A", "B"])
    [('A',), ('A00',), (), ()]
    """
    code_of_bare = {bare(code): code for code in codes}
    parents: list[tuple[str, ...]] = []
    for code in codes:
        key = bare(code)
        above = next((code_of_bare[key[:n]] for n in range(len(key) - 1, 0, -1) if key[:n] in code_of_bare), None)
        parents.append(() if above is None else (above,))
    return parents
