"""The page of `kanopy risk`: how likely people in a table are to be found again, in plain words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from kanopy.report.pages import risk_sections as sections
from kanopy.report.shell import Tile, shell
from kanopy.report.words import lines, listed, sentence, told


def risk_page(found: Mapping[str, Any], *, given_away: Mapping[str, Sequence[Mapping[str, Any]]], source: str) -> str:
    """The whole page from what `RiskAssessment.to_dict` gives; `given_away` are examples with values."""
    limit = found["threshold"]
    names = found["quasi_identifiers"]
    judged = sentence("risk.judged", count=len(names), names=listed(names, 12))
    if found["quasi_identifiers_suggested"]:
        judged += told("risk.suggested")
    parts = [
        ("groups", "Groups", sections.groups(found)),
        ("attackers", "Attackers", sections.attackers(found)),
        ("population", "Population", sections.population(found)),
        ("identifying", "Columns", sections.columns(found)),
        ("linkage", "Linkage attack", sections.attacks(found)),
        ("disclosure", "Given away", sections.disclosure(found) + sections.examples(given_away)),
    ]
    good = limit["rows"] == 0
    return shell(
        "Risk assessment", source,
        good=good, verdict=sentence("risk.safe" if good else "risk.unsafe", **limit),
        sentences=[judged, sentence("risk.alone", **found)],
        warning=sentence("risk.warning", names=any(given_away.values())),
        tiles=tiles(found), parts=parts, footer=told("risk.footer"),
    )  # fmt: skip


def tiles(found: Mapping[str, Any]) -> list[Tile]:
    """The numbers that matter most."""
    shown = lines("risk.tiles", found)
    if found["population"] is not None:
        return shown + lines("risk.tiles_population", found["population"])
    return shown + (lines("risk.tiles_map", found["journalist"]) if found["journalist"]["k_map"] is not None else [])
