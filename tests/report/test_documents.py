"""Documents: the ending says the form, the bytes are the same every time, and no rare value is in them."""

# ruff: noqa: E501 - tables
from __future__ import annotations

import io
import json
import re
import zipfile
import zlib
from pathlib import Path

import polars as pl
import pytest

import kanopy
from kanopy._errors import DataError
from kanopy.cli.files import check_document
from kanopy.release.writing import check_report, report_bytes
from kanopy.report.documents.document import FORMATS, Document, Notes, Requirement, Section, Table
from kanopy.report.documents.studies import document_of

pytest.importorskip("typst")
pytest.importorskip("docx")

RARE = ["Zwolniak", "Qarbetu"]
ROWS = 120


def table() -> pl.DataFrame:
    towns = ["Bonn", "Ulm"] * (ROWS // 2)
    towns[7], towns[61] = RARE
    return pl.DataFrame({
        "age": [20 + place * 7 % 40 for place in range(ROWS)], "town": towns,
        "ill": ["abc"[place % 3] if place != 13 else "Xylopath" for place in range(ROWS)],
    })  # fmt: skip


def everything_in(content: bytes) -> str:
    """All texts of a file: raw bytes, and what is packed in it."""
    parts = [content]
    if content[:2] == b"PK":
        parts += [
            zipfile.ZipFile(io.BytesIO(content)).read(name) for name in zipfile.ZipFile(io.BytesIO(content)).namelist()
        ]
    for found in re.finditer(rb"stream\r?\n(.*?)endstream", content, re.DOTALL):
        try:
            parts.append(zlib.decompressobj().decompress(found[1]))
        except zlib.error:
            continue
    return "\n".join(part.decode("latin-1") + part.decode("utf-16-be", "ignore") for part in parts)


@pytest.mark.parametrize("suffix", [".html", ".pdf", ".docx", ".json"])
def test_no_rare_value_is_in_the_bytes(suffix: str) -> None:
    job = kanopy.Job(quasi="age,town", sensitive="ill", k=5, suppress="10%")
    result = kanopy.anonymize(table(), job)
    attacked = kanopy.attack(table(), result.data, quasi="age,town", sensitive="ill", guesses=40, learn=False)
    for content in (
        report_bytes(result.report, Path(f"r{suffix}"), **({"values": False} if suffix == ".html" else {})),
        attacked.to_document("release.csv").to_bytes(suffix),
    ):
        text = everything_in(content)
        assert len(text) > 1000
        for value in (*RARE, "Xylopath"):
            assert value not in text


@pytest.mark.parametrize("suffix", FORMATS)
def test_the_same_bytes_every_time(suffix: str) -> None:
    found = kanopy.attack(table(), table(), quasi="age,town", sensitive="ill", guesses=20, learn=False)
    one, other = (found.to_document("release.csv").to_bytes(suffix) for _ in range(2))
    assert one == other
    assert one.startswith({".pdf": b"%PDF", ".docx": b"PK\x03\x04", ".html": b"<!DO", ".json": b"{\n "}[suffix])


def test_any_other_ending_is_an_error() -> None:
    for name in ("r.doc", "r.PDFX", "r", "r.txt"):
        with pytest.raises(DataError, match="Known suffixes"):
            check_report(Path(name))
        with pytest.raises(DataError, match="Known suffixes"):
            check_document(Path(name))


def test_what_a_document_says_is_in_every_form() -> None:
    document = Document(
        kind="Kind", source="a & <b>.csv", verdict='Verdict #1 "$x$" *bold* \\', good=False, sentences=("One sentence.",),
        facts=(("rows", "12", "of 13"),), warning="Careful",
        sections=(Section("Title", ("Words _here_",), (
            Table("Caption", ("h1", "h2"), (("@cell", "#let x = 1"),), (1,)), Notes(("a note",)),
            Requirement("1.1", "Requirement", "for a person to judge", "Source, section 2", "Evidence", "Asks"),
        )),), checksum="ab" * 32, signatures=("Officer",), footer="Foot",
    )  # fmt: skip
    page = document.to_bytes(".html").decode()
    body = zipfile.ZipFile(io.BytesIO(document.to_bytes(".docx"))).read("word/document.xml").decode()
    for text in (
        "Verdict #1",
        "One sentence.",
        "Careful",
        "Words _here_",
        "#let x = 1",
        "a note",
        "Evidence",
        "ab" * 32,
        "Officer",
    ):
        assert text in page and text in body
    plain = json.loads(document.to_bytes(".json"))
    assert plain["requirements"][0]["state"] == "for a person to judge" and plain["manifest_sha256"] == "ab" * 32
    assert document.to_bytes(".pdf").startswith(b"%PDF")


def test_every_study_becomes_a_document() -> None:
    found = kanopy.assess_risk(table(), quasi="age,town", sensitive="ill")
    assert "above the accepted risk" in document_of(found, "a.csv").verdict
    before, after = table(), table().with_columns(age=pl.lit("*"))
    assert "lost" in document_of(kanopy.assess(before, after, learn=False), "a.csv").verdict
    assert document_of(found, "a.csv").to_bytes(".pdf").startswith(b"%PDF")
