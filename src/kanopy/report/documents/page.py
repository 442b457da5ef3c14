"""A document as a self-contained page, in the frame of every report."""

from __future__ import annotations

from kanopy.report.documents.document import TO_JUDGE, Document, Notes, Part, Requirement, Section, Table, numbered
from kanopy.report.shell import bullets, drawing, explained, section, shell, table
from kanopy.report.text import Markup, esc


def document_page(document: Document) -> str:
    """The whole page."""
    parts: list[tuple[str, str, str]] = []
    for number, entry in numbered(document.sections):
        parts.append((f"s{number}", entry.title, content(entry, f"{number}  ")))
    if document.checksum:
        parts.append(("manifest", "Manifest", section("Manifest", f"SHA-256 of the manifest: {document.checksum}")))
    if document.signatures:
        rows = [[who, "", "", ""] for who in document.signatures]
        heads = ["Role", "Name", "Date", "Signature"]
        parts.append(("signatures", "Signatures", section("Signatures", "", table("Signatures", heads, rows))))
    return shell(
        document.kind, document.source, verdict=document.verdict, good=document.good, sentences=document.sentences,
        warning=document.warning, tiles=document.facts, parts=parts, footer=document.footer,
    )  # fmt: skip


def content(page_section: Section, number: str = "") -> Markup:
    """A section of a document as markup."""
    words = Markup("".join(f"<p>{esc(line)}</p>" for line in page_section.words))
    return section(f"{number}{page_section.title}", "", words, *(_part(part) for part in page_section.parts))


def _part(part: Part) -> Markup:
    if isinstance(part, Table):
        return table(part.caption, part.heads, part.rows, part.right)
    if isinstance(part, Notes):
        return bullets(part.lines)
    if isinstance(part, Requirement):
        signed = [("Judged by, date, signature", "______________________________")] if part.state == TO_JUDGE else []
        asks = [("Asks for", part.asks)] if part.asks else []
        return Markup(
            f"<h3>{esc(part.number)}  {esc(part.title)}: {esc(part.state)}</h3>"
            + explained([*asks, ("Source", part.source), ("Evidence", part.evidence), *signed])
        )
    return drawing(dict(part.chart), part.name, part.description, part.caption)
