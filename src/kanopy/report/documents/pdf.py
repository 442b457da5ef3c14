"""A document as PDF, typeset by Typst: no browser, no fonts of the machine, the same bytes every time.

The content goes to the template as JSON and is only ever set as text.
"""

from __future__ import annotations

import json
from datetime import UTC
from importlib import resources
from typing import Any

from kanopy import __version__
from kanopy._errors import DataError, MissingDependency
from kanopy._files import stamp
from kanopy.report.documents.document import Document, Figure, Notes, Part, Table, numbered, pictures
from kanopy.report.text import printable

FONTS = ("Libertinus Serif",)
"""Fonts that come with the typesetter; others are asked for only where a text needs them."""
KNOWN_LETTERS = 0x0590
"""Up to here (Latin, Greek, Cyrillic) the fonts that come with the typesetter have all letters."""
WIDEST_COLUMN = 34


def pdf_bytes(document: Document) -> bytes:
    """The document as PDF. Needs typst (the extra `documents`)."""
    content = json.dumps(_content(document), ensure_ascii=False)
    compiled = _compile(content)
    if not isinstance(compiled, bytes):
        raise DataError("The document has no pages.")
    return compiled


def page_pictures(document: Document) -> list[bytes]:
    """Every page as a PNG, to be looked at."""
    compiled = _compile(json.dumps(_content(document), ensure_ascii=False), "png")
    return compiled if isinstance(compiled, list) else [compiled]


def _compile(content: str, kind: str = "pdf") -> Any:
    try:
        import typst
    except ImportError:
        raise MissingDependency(
            "A report as PDF needs typst: install it, or the extra kanopy[documents]. .html, .json and .docx do not."
        ) from None
    template = (resources.files("kanopy.report.documents") / "document.typ").read_bytes()
    compile_document: Any = typst.compile
    return compile_document(
        template, format=kind, sys_inputs={"document": content}, ignore_system_fonts=not _needs_fonts(content),
        timestamp=stamp().replace(tzinfo=UTC),
    )  # fmt: skip


def _needs_fonts(content: str) -> bool:
    """Whether a text has letters that the fonts of the typesetter lack: those of the machine are asked then."""
    return any(KNOWN_LETTERS <= ord(letter) < 0x2000 or ord(letter) >= 0x2E00 for letter in content)


def _content(document: Document) -> dict[str, Any]:
    """Everything that is set, as plain data."""
    drawn = pictures(document, "svg")
    plain = {
        "kind": document.kind, "source": document.source, "version": __version__, "verdict": document.verdict,
        "good": document.good, "sentences": list(document.sentences), "warning": document.warning,
        "facts": [list(fact) for fact in document.facts],
        "footer": f"Made by Kanopy {__version__}. {document.footer}".strip(), "checksum": document.checksum,
        "signatures": list(document.signatures), "fonts": list(FONTS),
        "sections": [
            {
                "number": number, "title": section.title, "words": list(section.words),
                "parts": [set_part for part in section.parts if (set_part := _part(part, drawn)) is not None],
            }
            for number, section in numbered(document.sections)
        ],
    }  # fmt: skip
    cleaned: dict[str, Any] = _printable(plain)
    return cleaned


def _part(part: Part, drawn: dict[str, bytes]) -> dict[str, Any] | None:
    if isinstance(part, Table):
        return {
            "type": "table", "caption": part.caption, "heads": list(part.heads), "right": list(part.right),
            "rows": [list(row) for row in part.rows], "widths": column_widths(part),
        }  # fmt: skip
    if isinstance(part, Notes):
        return {"type": "notes", "lines": list(part.lines)}
    if isinstance(part, Figure):
        if part.name not in drawn:
            return None
        svg = drawn[part.name].decode("utf-8")
        return {"type": "figure", "caption": part.caption, "description": part.description, "svg": svg}
    return {
        "type": "requirement", "number": part.number, "title": part.title, "state": part.state,
        "source": part.source, "evidence": part.evidence, "asks": part.asks,
    }  # fmt: skip


def column_widths(table: Table) -> list[int]:
    """How wide the columns of a table are beside each other: by their longest texts, within limits.

    >>> column_widths(Table("", ("a", "b"), (("one", "a long text in a cell"),)))
    [6, 21]
    """
    longest = [
        max(len(head), *(len(row[index]) for row in table.rows)) if table.rows else len(head)
        for index, head in enumerate(table.heads)
    ]
    return [min(max(length, 6), WIDEST_COLUMN) for length in longest]


def _printable(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _printable(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_printable(item) for item in value]
    return printable(value) if isinstance(value, str) else value
