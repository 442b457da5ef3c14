"""The page of `kanopy assess`: what a release is still good for, in plain words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kanopy.report.pages import utility_sections as sections
from kanopy.report.shell import Tile, shell
from kanopy.report.words import figure, listed, percent, plural, whole


def utility_page(found: Mapping[str, Any], distributions: Mapping[str, Mapping[str, Any]], *, source: str) -> str:
    """The whole page from what `Assessment.to_dict` gives and the distributions before and after."""
    sentences = [
        f"{percent(found['released_rows'] / found['rows'] if found['rows'] else 0)} of the rows are in the release "
        f"({whole(found['released_rows'])} of {whole(found['rows'])}); {whole(found['hidden_rows'])} of them publish "
        "no quasi-identifier.",
    ]
    if found["dropped_columns"]:
        sentences.append(f"Not published: {listed(found['dropped_columns'], 8)}.")
    parts = [
        ("loss", "Loss", sections.losses(found)),
        ("distributions", "Distributions", sections.distributions(found, distributions)),
        ("pairs", "Associations", sections.pairs(found)),
        ("queries", "Counts", sections.queries(found)),
        ("learning", "Learning", sections.learning(found)),
        ("bounds", "Statistics", sections.bounds(found)),
        ("notes", "Notes", sections.notes(found)),
    ]
    return shell(
        "Utility assessment", source,
        good=True,
        verdict=f"Published values lost {percent(found['loss'])} of their detail.",
        sentences=sentences,
        warning="This page holds statistics of the original table. Keep it as safe as the original.",
        tiles=tiles(found),
        parts=parts,
        footer="A label stands for any of the values it covers, each equally likely where one number is needed.",
    )  # fmt: skip


def tiles(found: Mapping[str, Any]) -> list[Tile]:
    """The numbers that matter most."""
    columns = found["columns"]
    tiles: list[Tile] = [
        ("Detail lost", percent(found["loss"]), "mean over the quasi-identifiers"),
        ("Rows published", percent(found["released_rows"] / found["rows"] if found["rows"] else 0), "of the original"),
    ]
    if columns:
        worst = max(columns, key=lambda each: each["total_variation"])
        tiles.append(("Largest shift", percent(worst["total_variation"]), f"of the distribution of {worst['name']}"))
    if found["queries"]:
        queries = found["queries"]
        tiles.append(
            (
                "Error of a count",
                percent(queries["median"]),
                f"median of {plural(queries['queries'], 'query', 'queries')}",
            )
        )
    kept = [each["kept"] for each in found["learners"] if each["kept"] is not None]
    if kept:
        best = max(found["learners"], key=lambda each: each["after"])
        tiles.append(("Accuracy after", percent(best["after"]), f"{best['learner']}; was {percent(best['before'])}"))
    if found["pairs"]:
        change = sum(abs(each["v_after"] - each["v_before"]) for each in found["pairs"]) / len(found["pairs"])
        tiles.append(("Association changed", figure(change), "mean change of Cramér's V"))
    return tiles
