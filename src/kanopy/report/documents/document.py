"""A document: verdict first, facts, numbered sections with tables, figures and requirements, and a signature block.

It holds texts, numbers and charts, no value of a table, and is written in four formats: a self-contained page
(`report.shell`), PDF (`documents.pdf`), DOCX (`documents.word`) and JSON. The same document gives the same bytes.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from kanopy import __version__
from kanopy._errors import DataError, MissingDependency

FORMATS = (".html", ".pdf", ".docx", ".json")
"""What a document is written as, by the ending of its file."""
MET, NOT_MET, NOT_APPLICABLE, TO_JUDGE = "met", "not met", "not applicable", "for a person to judge"
STATES = (MET, NOT_MET, NOT_APPLICABLE, TO_JUDGE)


@dataclass(frozen=True)
class Table:
    """A table: its caption, heads and rows of texts; columns in `right` hold numbers."""

    caption: str
    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    right: tuple[int, ...] = ()


@dataclass(frozen=True, eq=False)
class Figure:
    """A chart as a Vega-Lite dictionary, with what it shows in words."""

    name: str
    caption: str
    description: str
    chart: Mapping[str, Any]


@dataclass(frozen=True)
class Notes:
    """A list of remarks."""

    lines: tuple[str, ...]


@dataclass(frozen=True)
class Requirement:
    """One requirement: its state, where it stands (title and section of the source), and the evidence.

    What a person judges has space to sign.
    """

    number: str
    title: str
    state: str
    source: str
    evidence: str
    asks: str = ""


Part = Table | Figure | Notes | Requirement


@dataclass(frozen=True, eq=False)
class Section:
    """A numbered section: its heading, paragraphs, and what it holds."""

    title: str
    words: tuple[str, ...] = ()
    parts: tuple[Part, ...] = ()


@dataclass(frozen=True, eq=False)
class Document:
    """What is filed. `good` is whether the verdict is favourable, or `None` where there is none to give."""

    kind: str
    source: str
    verdict: str
    good: bool | None = None
    sentences: tuple[str, ...] = ()
    facts: tuple[tuple[str, str, str], ...] = ()
    sections: tuple[Section, ...] = ()
    warning: str = ""
    footer: str = ""
    checksum: str = ""
    signatures: tuple[str, ...] = ()
    numbers: Mapping[str, Any] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """The numbers behind the document, and its requirements with their states."""
        requirements = [
            {
                "number": part.number, "title": part.title, "state": part.state, "source": part.source,
                "asks": part.asks, "evidence": part.evidence,
            }
            for section in self.sections for part in section.parts if isinstance(part, Requirement)
        ]  # fmt: skip
        return {
            "kind": self.kind, "source": self.source, "verdict": self.verdict, "kanopy": __version__,
            **({"manifest_sha256": self.checksum} if self.checksum else {}),
            **({"requirements": requirements} if requirements else {}), **self.numbers,
        }  # fmt: skip

    def to_bytes(self, suffix: str) -> bytes:
        """The document in the format of an ending.

        >>> Document("Report", "a.csv", "All is well.").to_bytes(".md")
        Traceback (most recent call last):
        kanopy._errors.DataError: A document is written as .html, .pdf, .docx or .json, not as '.md'.
        """
        if suffix == ".json":
            text = json.dumps(self.to_dict(), ensure_ascii=False, allow_nan=False, indent=1)
            return (text + "\n").encode("utf-8")
        if suffix == ".pdf":
            from kanopy.report.documents.pdf import pdf_bytes

            return pdf_bytes(self)
        if suffix == ".docx":
            from kanopy.report.documents.word import docx_bytes

            return docx_bytes(self)
        if suffix == ".html":
            return self.to_html().encode("utf-8", "replace")
        raise DataError(f"A document is written as .html, .pdf, .docx or .json, not as {suffix!r}.")

    def to_html(self) -> str:
        """A self-contained page."""
        from kanopy.report.documents.page import document_page

        return document_page(self)


def pictures(document: Document, kind: str) -> dict[str, bytes]:
    """The figures of a document as `svg` or `png`; none where the plotting library is absent."""
    from kanopy.report.render import picture

    figures = {}
    for section in document.sections:
        for part in section.parts:
            if isinstance(part, Figure):
                try:
                    figures[part.name] = picture(dict(part.chart), kind)
                except MissingDependency:
                    return {}
    return figures


def numbered(sections: Sequence[Section]) -> list[tuple[str, Section]]:
    """Sections with their numbers."""
    return [(str(index + 1), section) for index, section in enumerate(sections)]
