"""The document of a release: the verdict, what was done to every column, and the risk and loss that remain.

It is made of the numbers that `--report x.json` writes, without labels and values.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kanopy.report.charts.marks import AFTER, BEFORE, framed
from kanopy.report.documents.document import Document, Figure, Notes, Section, Table
from kanopy.report.text import figure, percent, plural, whole

SIGNATURES = ("Prepared by", "Reviewed by", "Released by")


def release_document(found: Mapping[str, Any], source: str, *, checksum: str = "", footer: str = "") -> Document:
    """The document from what `Report.to_dict` gives."""
    verdict, risk = found["verdict"], found["risk"]
    published = found["published"]
    return Document(
        kind="Report on a release", source=source, good=bool(verdict["holds"] and found["verified"]),
        verdict=f"The release {'keeps' if verdict['holds'] else 'does not keep'} what the job promises",
        sentences=(verdict["sentence"],),
        facts=(
            ("published rows", whole(published), f"of {whole(found['rows'])}"),
            ("suppressed rows", whole(found["suppressed"]), percent(found["suppression"]["share"])),
            ("smallest class", whole(found["smallest_class"]), plural(found["classes"], "class", "classes")),
            ("loss", figure(found["score"]), f"{found['metric']}{', proved optimal' if found['optimal'] else ''}"),
        ),
        sections=tuple(each for each in (
            _promises(found), _columns(found), _risk(risk), *_attacks(found), _loss(found), _verification(found),
            _notes(found),
        ) if each is not None),
        checksum=checksum, signatures=SIGNATURES, numbers=found,
        footer=footer or "It says what was checked; it certifies no compliance.",
    )  # fmt: skip


def _promises(found: Mapping[str, Any]) -> Section:
    rows = tuple((each["name"], each["explanation"]) for each in found["models"])
    return Section("What the release promises", (), (Table("Privacy models", ("model", "in words"), rows),))


def _columns(found: Mapping[str, Any]) -> Section:
    generalized = {each["name"]: each for each in found["columns"]}
    rows = []
    for name, role in found["roles"].items():
        own = generalized.get(name)
        if own is not None:
            told = (
                "as it was" if own["level"] == 0 else f"generalized to {plural(own['published_label_count'], 'label')}"
            )
            loss = "–" if own["loss"] is None else percent(own["loss"])
        elif role in ("sensitive", "insensitive"):
            told, loss = "published as it was", "–"
        else:
            told, loss = "not published", "–"
        rows.append((name, role, told, loss))
    heads = ("column", "role", "what was done", "loss")
    return Section("Every column", (), (Table("Columns and their treatment", heads, tuple(rows), (3,)),))


def _risk(risk: Mapping[str, Any]) -> Section:
    before, after = risk["before"], risk["after"]
    rows = tuple(
        (words, shown(before[name]), shown(after[name]))
        for words, name, shown in (
            ("rows", "rows", whole), ("classes", "classes", whole), ("smallest class", "smallest_class", whole),
            ("unique rows", "unique_rows", whole), ("highest prosecutor risk", "highest_prosecutor", percent),
            ("average prosecutor risk", "average_prosecutor", percent), ("marketer risk", "marketer", percent),
        )
    )  # fmt: skip
    values = [
        {"above": f"above {percent(each['above'])}", "when": when, "share": each["share"]}
        for when, part in (("before", before), ("after", after)) for each in part["rows_above"]
    ]  # fmt: skip
    order = list(dict.fromkeys(each["above"] for each in values))
    colour = {
        "field": "when", "type": "nominal", "title": None, "legend": {"orient": "top"},
        "scale": {"domain": ["before", "after"], "range": [BEFORE, AFTER]},
    }  # fmt: skip
    chart = framed(
        values,
        [{"mark": {"type": "bar"}, "encoding": {
            "x": {"field": "share", "type": "quantitative", "title": "share of rows", "axis": {"format": "%"},
                  "scale": {"domain": [0, 1]}},
            "y": {"field": "above", "type": "nominal", "sort": order, "title": "risk"},
            "yOffset": {"field": "when", "type": "nominal", "sort": ["before", "after"]}, "color": colour}}],
        width=420, height={"step": 11},
    )  # fmt: skip
    parts = (
        Table("Risk of being found", ("", "before", "after"), rows, (1, 2)),
        Figure(
            "risk", "Rows whose risk lies above a limit", "Share of rows above several risks, before and after", chart
        ),
    )
    return Section("Risk", ("Prosecutor risk: one over the number of rows that share the quasi-identifiers.",), parts)


def _attacks(found: Mapping[str, Any]) -> tuple[Section, ...]:
    """What attacks on the release found, where it was attacked."""
    from kanopy.report.documents.attacks import held_back, sections

    own = found.get("attacks")
    if not own:
        return ()
    told = (own["verdict"], *([held_back(own)] if own.get("held_back") else []))
    return Section("Attacks", told), *sections(own)


def _loss(found: Mapping[str, Any]) -> Section:
    rows = tuple((name, figure(value)) for name, value in found["losses"].items())
    return Section("Loss", (), (Table("What the release lost, by several measures", ("measure", "value"), rows, (1,)),))


def _verification(found: Mapping[str, Any]) -> Section:
    words = (
        "The published labels were counted again by code that shares nothing with the search, and every label was "
        "checked to be true of its row."
        if found["verified"]
        else "The release was not verified."
    )
    rows = tuple((name.replace("_", " "), str(value)) for name, value in found["verification"].items())
    return Section("Verification", (words,), (Table("Second count", ("", "counted"), rows, (1,)),))


def _notes(found: Mapping[str, Any]) -> Section | None:
    return Section("Remarks", (), (Notes(tuple(found["notes"])),)) if found["notes"] else None
