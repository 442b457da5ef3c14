"""A document as DOCX: headings, tables and pictures that a word processor can edit; the same bytes every time."""

from __future__ import annotations

import io
import zipfile
from typing import Any

from kanopy import __version__
from kanopy._errors import MissingDependency
from kanopy._files import stamp
from kanopy.report.documents.document import TO_JUDGE, Document, Figure, Notes, Part, Table, numbered, pictures
from kanopy.report.text import printable

SHADES = {True: "E3F1EA", False: "FBE7E0", None: "EEF1F3"}


def docx_bytes(document: Document) -> bytes:
    """The document as DOCX. Needs python-docx (the extra `documents`)."""
    try:
        import docx
        from docx.shared import Cm, Pt
    except ImportError:
        raise MissingDependency(
            "A report as DOCX needs python-docx: install it, or the extra kanopy[documents]. .html and .json do not."
        ) from None
    file = docx.Document()
    properties = file.core_properties
    properties.author, properties.title = f"Kanopy {__version__}", printable(f"{document.kind}: {document.source}")
    properties.created = properties.modified = stamp()
    properties.last_modified_by, properties.comments = "Kanopy", ""
    for page_section in file.sections:
        page_section.page_width, page_section.page_height = Cm(21.0), Cm(29.7)
        page_section.left_margin = page_section.right_margin = Cm(2.2)
        page_section.top_margin = page_section.bottom_margin = Cm(2.2)
        _page_numbers(page_section.footer.paragraphs[0], f"Made by Kanopy {__version__}. {document.footer}".strip())
    file.styles["Normal"].font.name, file.styles["Normal"].font.size = "Calibri", Pt(10)
    _add(file, document.kind, bold=True)
    _add(file, document.source)
    verdict = file.add_table(1, 1).cell(0, 0)
    _shade(verdict, SHADES[document.good])
    run = verdict.paragraphs[0].add_run(printable(document.verdict))
    run.bold, run.font.size = True, Pt(15)
    file.add_paragraph()
    for line in document.sentences:
        _add(file, line)
    if document.warning:
        _add(file, document.warning, bold=True)
    if document.facts:
        _table(file, Table("", ("", "", ""), tuple((fact[0], fact[1], fact[2]) for fact in document.facts)))
    drawn = pictures(document, "png")
    for number, section in numbered(document.sections):
        file.add_heading(printable(f"{number}  {section.title}"), 1)
        for line in section.words:
            _add(file, line)
        for part in section.parts:
            _part(file, part, drawn)
    if document.checksum:
        file.add_heading("Manifest", 1)
        _add(file, f"SHA-256 of the manifest: {document.checksum}")
    if document.signatures:
        file.add_heading("Signatures", 1)
        rows = tuple((role, "", "", "") for role in document.signatures)
        _table(file, Table("", ("Role", "Name", "Date", "Signature"), rows), height=1.1)
    raw = io.BytesIO()
    file.save(raw)
    return _same_bytes(raw.getvalue())


def _add(file: Any, text: str, *, bold: bool = False) -> None:
    file.add_paragraph().add_run(printable(text)).bold = bold


def _part(file: Any, part: Part, drawn: dict[str, bytes]) -> None:
    from docx.shared import Cm

    if isinstance(part, Table):
        _table(file, part)
    elif isinstance(part, Notes):
        for line in part.lines:
            file.add_paragraph(printable(line), style="List Bullet")
    elif isinstance(part, Figure):
        if part.name in drawn:
            _add(file, part.caption)
            file.add_picture(io.BytesIO(drawn[part.name]), width=Cm(15))
            shape = file.inline_shapes[-1]._inline.docPr
            shape.set("descr", printable(part.description))
    else:
        file.add_heading(printable(f"{part.number}  {part.title}: {part.state}"), 2)
        if part.asks:
            _add(file, part.asks)
        _add(file, part.evidence)
        _add(file, f"Source: {part.source}")
        if part.state == TO_JUDGE:
            _table(file, Table("", ("Judged by", "Date", "Signature"), (("", "", ""),)), height=1.1)


def _table(file: Any, content: Table, *, height: float = 0.0) -> None:
    from docx.enum.text import WD_ALIGN_PARAGRAPH
    from docx.shared import Cm, Pt

    if content.caption:
        _add(file, content.caption)
    heads = any(content.heads)
    table = file.add_table(int(heads), len(content.heads))
    table.style = "Table Grid"
    rows = [*([content.heads] if heads else []), *content.rows]
    for number, row in enumerate(rows):
        line = table.rows[0] if heads and not number else table.add_row()
        if height and number:
            line.height = Cm(height)
        for index, text in enumerate(row):
            paragraph = line.cells[index].paragraphs[0]
            run = paragraph.add_run(printable(text))
            run.font.size, run.bold = Pt(8.5), heads and not number
            if index in content.right:
                paragraph.alignment = WD_ALIGN_PARAGRAPH.RIGHT
    file.add_paragraph()


def _shade(cell: Any, colour: str) -> None:
    from docx.oxml import OxmlElement
    from docx.oxml.ns import qn

    shade = OxmlElement("w:shd")
    for name, value in (("w:val", "clear"), ("w:color", "auto"), ("w:fill", colour)):
        shade.set(qn(name), value)
    cell._tc.get_or_add_tcPr().append(shade)


def _page_numbers(paragraph: Any, words: str) -> None:
    """ "Page 2 of 5", counted by the word processor."""
    from docx.oxml import OxmlElement
    from docx.oxml.ns import qn

    paragraph.add_run(printable(f"{words}  Page "))
    for number, code in enumerate(("PAGE", "NUMPAGES")):
        if number:
            paragraph.add_run(" of ")
        run = paragraph.add_run()
        for kind in ("begin", "", "end"):
            if kind:
                mark = OxmlElement("w:fldChar")
                mark.set(qn("w:fldCharType"), kind)
            else:
                mark = OxmlElement("w:instrText")
                mark.text = code
            run._r.append(mark)


def _same_bytes(packed: bytes) -> bytes:
    """The parts of the file in their order with one fixed date."""
    made = stamp().timetuple()[:6]
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(packed)) as old, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as new:
        for info in old.infolist():
            fresh = zipfile.ZipInfo(info.filename, made)
            fresh.compress_type, fresh.external_attr = zipfile.ZIP_DEFLATED, 0o600 << 16
            new.writestr(fresh, old.read(info.filename))
    return out.getvalue()
