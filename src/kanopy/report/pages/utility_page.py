"""The page of `kanopy assess`: what a release is still good for, in plain words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kanopy.report.pages import utility_sections as sections
from kanopy.report.pages.treated import figures_of
from kanopy.report.shell import Tile, shell
from kanopy.report.text import lines, listed, sentence, told


def utility_page(results: Mapping[str, Any], distributions: Mapping[str, Mapping[str, Any]], *, source: str) -> str:
    """The whole page from what `Assessment.to_dict` gives and the distributions before and after."""
    results = {**results, "published": results["released_rows"] / results["rows"] if results["rows"] else 0}
    sentences = [sentence("utility.published", **results)]
    if results["dropped_columns"]:
        sentences.append(sentence("utility.dropped", names=listed(results["dropped_columns"], 8)))
    parts = [
        ("loss", "Loss", sections.losses(results)),
        ("treated", "Treated numbers", figures_of(results["treated_numbers"])),
        ("distributions", "Distributions", sections.distributions(results, distributions)),
        ("pairs", "Associations", sections.pairs(results)),
        ("queries", "Counts", sections.queries(results)),
        ("learning", "Learning", sections.learning(results)),
        ("bounds", "Statistics", sections.bounds(results)),
        ("notes", "Notes", sections.notes(results)),
    ]
    return shell(
        "Utility assessment", source,
        good=True,
        verdict=sentence("utility.verdict", loss=results["loss"]),
        sentences=sentences,
        warning=told("utility.warning"),
        tiles=tiles(results),
        parts=parts,
        footer=told("utility.footer"),
    )  # fmt: skip


def tiles(results: Mapping[str, Any]) -> list[Tile]:
    """The numbers that matter most."""
    published = (results["released_rows"] - results["hidden_rows"]) / results["rows"] if results["rows"] else 0
    tile_lines = lines("utility.tiles", {"loss": results["loss"], "published": published})
    if results["columns"]:
        tile_lines += lines(
            "utility.tiles_columns", max(results["columns"], key=lambda entry: entry["total_variation"])
        )
    if results["queries"]:
        tile_lines += lines("utility.tiles_queries", results["queries"])
    if any(entry["kept"] is not None for entry in results["learners"]):
        tile_lines += lines("utility.tiles_learners", max(results["learners"], key=lambda entry: entry["after"]))
    if results["pairs"]:
        change = sum(abs(entry["v_after"] - entry["v_before"]) for entry in results["pairs"]) / len(results["pairs"])
        tile_lines += lines("utility.tiles_pairs", {"change": change})
    return tile_lines
