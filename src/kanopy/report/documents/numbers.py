"""A document of any study: its numbers as tables, where no document of its own is written for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from kanopy.report.documents.document import Document, Notes, Part, Section, Table
from kanopy.report.text import figure, percent

MOST_ROWS = 100
MOST_HEADS = 8
SHARES = ("share", "rate", "accuracy", "kept", "risk", "loss", "threshold", "highest", "average", "marketer")


def numbers_document(kind: str, source: str, verdict: str, good: bool | None, results: Mapping[str, Any]) -> Document:
    """A section per group of numbers.

    >>> found = {"rows": 3, "sizes": {"smallest": 2}, "columns": [{"name": "age", "loss": 0.25}]}
    >>> [(each.title, each.parts[0].rows) for each in numbers_document("Risk", "a.csv", "Fine.", None, found).sections]
    [('Overview', (('rows', '3'),)), ('Sizes', (('smallest', '2'),)), ('Columns', (('age', '25%'),))]
    """
    sections = []
    plain = tuple((_words(name), _shown(name, value)) for name, value in results.items() if _is_plain(value))
    if plain:
        sections.append(Section("Overview", (), (Table("", ("", "value"), plain, (1,)),)))
    for name, value in results.items():
        if not _is_plain(value) and (parts := _parts(name, value)):
            sections.append(Section(_words(name).capitalize(), (), tuple(parts)))
    return Document(
        kind=kind, source=source, verdict=verdict, good=good, sections=tuple(sections), numbers=results,
        warning="For internal use: the numbers are computed with the original table.",
    )  # fmt: skip


def _is_plain(value: Any) -> bool:
    return value is None or isinstance(value, (str, int, float))


def _parts(name: str, value: Any, caption: str = "") -> list[Part]:
    if isinstance(value, Mapping):
        rows = tuple((_words(key), _shown(key, inner)) for key, inner in value.items() if _is_plain(inner))
        tables: list[Part] = [Table(caption, ("", "value"), rows, (1,))] if rows else []
        for key, inner in value.items():
            if not _is_plain(inner):
                tables += _parts(key, inner, _words(key))
        return tables
    if not isinstance(value, Sequence) or not value:
        return []
    if all(_is_plain(entry) for entry in value):
        return [Notes(tuple(_shown(name, entry) for entry in value[:MOST_ROWS]))]
    records = [entry for entry in value if isinstance(entry, Mapping)]
    heads = list(
        dict.fromkeys(key for one in records for key, inner in one.items() if _is_plain(inner) or _is_list(inner))
    )
    if not heads:
        return []
    cells = tuple(tuple(_shown(head, one.get(head)) for head in heads[:MOST_HEADS]) for one in records[:MOST_ROWS])
    numbers = [
        index for index, head in enumerate(heads[:MOST_HEADS])
        if any(isinstance(one.get(head), (int, float)) for one in records)
    ]  # fmt: skip
    return [Table(caption, tuple(_words(head) for head in heads[:MOST_HEADS]), cells, tuple(numbers))]


def _is_list(value: Any) -> bool:
    return isinstance(value, list) and all(_is_plain(entry) for entry in value)


def _words(name: str) -> str:
    return str(name).replace("_", " ")


def _shown(name: str, value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if value is None:
        return "–"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return percent(value) if any(share_word in name for share_word in SHARES) and 0 <= value <= 1 else figure(value)
    return " + ".join(map(str, value)) if isinstance(value, list) else str(value)
