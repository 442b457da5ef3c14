"""The page of `kanopy assess`: what a release is still good for, in plain words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kanopy.report.pages import utility_sections as sections
from kanopy.report.pages.treated import figures_of
from kanopy.report.shell import Tile, shell
from kanopy.report.text import lines, listed, sentence, told


def utility_page(found: Mapping[str, Any], distributions: Mapping[str, Mapping[str, Any]], *, source: str) -> str:
    """The whole page from what `Assessment.to_dict` gives and the distributions before and after."""
    found = {**found, "published": found["released_rows"] / found["rows"] if found["rows"] else 0}
    sentences = [sentence("utility.published", **found)]
    if found["dropped_columns"]:
        sentences.append(sentence("utility.dropped", names=listed(found["dropped_columns"], 8)))
    parts = [
        ("loss", "Loss", sections.losses(found)),
        ("treated", "Treated numbers", figures_of(found["treated_numbers"])),
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
        verdict=sentence("utility.verdict", loss=found["loss"]),
        sentences=sentences,
        warning=told("utility.warning"),
        tiles=tiles(found),
        parts=parts,
        footer=told("utility.footer"),
    )  # fmt: skip


def tiles(found: Mapping[str, Any]) -> list[Tile]:
    """The numbers that matter most."""
    published = found["released_rows"] / found["rows"] if found["rows"] else 0
    shown = lines("utility.tiles", {"loss": found["loss"], "published": published})
    if found["columns"]:
        shown += lines("utility.tiles_columns", max(found["columns"], key=lambda each: each["total_variation"]))
    if found["queries"]:
        shown += lines("utility.tiles_queries", found["queries"])
    if any(each["kept"] is not None for each in found["learners"]):
        shown += lines("utility.tiles_learners", max(found["learners"], key=lambda each: each["after"]))
    if found["pairs"]:
        change = sum(abs(each["v_after"] - each["v_before"]) for each in found["pairs"]) / len(found["pairs"])
        shown += lines("utility.tiles_pairs", {"change": change})
    return shown
