"""The document of a release: the verdict, what was done to every column, and the risk and loss that remain.

It is made of the numbers that `--report x.json` writes, without labels and values.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kanopy.report.charts.marks import AFTER, BEFORE, framed
from kanopy.report.documents.document import Document, Figure, Notes, Section, Table
from kanopy.report.text import figure, methods_of, percent, plural, whole

SIGNATURES = ("Prepared by", "Reviewed by", "Released by")


def release_document(results: Mapping[str, Any], source: str, *, checksum: str = "", footer: str = "") -> Document:
    """The document from what `Report.to_dict` gives."""
    verdict, risk = results["verdict"], results["risk"]
    published = results["published"]
    return Document(
        kind="Report on a release", source=source, good=bool(verdict["holds"] and results["verified"]),
        verdict=f"The release {'keeps' if verdict['holds'] else 'does not keep'} what the job promises",
        sentences=(verdict["sentence"],),
        facts=(
            ("published rows", whole(published), f"of {whole(results['rows'])}"),
            ("suppressed rows", whole(results["suppressed"]), percent(results["suppression"]["share"])),
            ("smallest class", whole(results["smallest_class"]), plural(results["classes"], "class", "classes")),
            ("loss", figure(results["score"]),
            f"{results['metric']}{', proved optimal' if results['optimal'] else ''}"),
        ),
        sections=tuple(entry for entry in (
            _promises(results), _columns(results), _risk(risk), *_attacks(results), _loss(results),
            _verification(results),
            _notes(results),
        ) if entry is not None),
        checksum=checksum, signatures=SIGNATURES, numbers=results,
        footer=footer or "It says what was checked; it certifies no compliance.",
    )  # fmt: skip


def _promises(results: Mapping[str, Any]) -> Section:
    rows = tuple((entry["name"], entry["explanation"]) for entry in results["models"])
    return Section("What the release promises", (), (Table("Privacy models", ("model", "in words"), rows),))


def _columns(results: Mapping[str, Any]) -> Section:
    generalized = {generalized_column["name"]: generalized_column for generalized_column in results["columns"]}
    methods = methods_of(results.get("treatments", ()))
    guarded = {name for model in results["models"] for name in model.get("columns", ())}
    rows = []
    for name, role in results["roles"].items():
        generalized_column = generalized.get(name)
        if generalized_column is not None:
            described = (
                "as it was"
                if generalized_column["level"] == 0 or generalized_column["loss"] == 0
                else f"published with {plural(generalized_column['published_label_count'], 'label')}"
            )
            loss = "–" if generalized_column["loss"] is None else percent(generalized_column["loss"])
        elif name in methods:
            described, loss = f"treated ({methods[name]})", "–"
        elif role in ("sensitive", "insensitive"):
            described = "published as it was"
            described += "; no model guards it" if role == "sensitive" and name not in guarded else ""
            loss = "–"
        else:
            described, loss = "not published", "–"
        rows.append((name, role, described, loss))
    heads = ("column", "role", "what was done", "loss")
    return Section("Every column", (), (Table("Columns and their treatment", heads, tuple(rows), (3,)),))


def _risk(risk: Mapping[str, Any]) -> Section:
    before, after = risk["before"], risk["after"]
    rows = tuple(
        (words, formatted(before[name]), formatted(after[name]))
        for words, name, formatted in (
            ("rows", "rows", whole), ("classes", "classes", whole), ("smallest class", "smallest_class", whole),
            ("unique rows", "unique_rows", whole), ("highest prosecutor risk", "highest_prosecutor", percent),
            ("average prosecutor risk", "average_prosecutor", percent), ("marketer risk", "marketer", percent),
        )
    )  # fmt: skip
    values = [
        {"above": f"above {percent(entry['above'])}", "when": when, "share": entry["share"]}
        for when, part in (("before", before), ("after", after)) for entry in part["rows_above"]
    ]  # fmt: skip
    order = list(dict.fromkeys(value["above"] for value in values))
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


def _attacks(results: Mapping[str, Any]) -> tuple[Section, ...]:
    """What attacks on the release found, where it was attacked."""
    from kanopy.report.documents.attacks import held_back, sections

    attack_results = results.get("attacks")
    if not attack_results:
        return ()
    attack_lines = (
        attack_results["verdict"],
        *([held_back(attack_results)] if attack_results.get("held_back") else []),
    )
    return Section("Attacks", attack_lines), *sections(attack_results)


def _loss(results: Mapping[str, Any]) -> Section:
    rows = tuple((name, figure(value)) for name, value in results["losses"].items())
    return Section("Loss", (), (Table("What the release lost, by several measures", ("measure", "value"), rows, (1,)),))


def _verification(results: Mapping[str, Any]) -> Section:
    words = (
        "The published labels were counted again by code that shares nothing with the search, and every label was "
        "checked to be true of its row."
        if results["verified"]
        else "The release was not verified."
    )
    rows = tuple(
        (name.replace("_", " "), ("yes" if value else "no") if isinstance(value, bool) else whole(value))
        for name, value in results["verification"].items()
    )
    return Section("Verification", (words,), (Table("Second count", ("", "counted"), rows, (1,)),))


def _notes(results: Mapping[str, Any]) -> Section | None:
    return Section("Remarks", (), (Notes(tuple(results["notes"])),)) if results["notes"] else None
