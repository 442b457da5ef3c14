"""The page of `kanopy risk`: how likely people in a table are to be found again, in plain words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from kanopy._core.units import KNOWN_ALL
from kanopy.report.pages import risk_sections as sections
from kanopy.report.pages.survey_sections import special_uniques, survey, unsafe_combinations
from kanopy.report.pages.treated import figures_of
from kanopy.report.shell import Tile, shell
from kanopy.report.text import counting, lines, listed, plural, sentence, told, worded


def risk_page(
    found: Mapping[str, Any],
    *,
    given_away: Mapping[str, Sequence[Mapping[str, Any]]],
    source: str,
    values: Sequence[Mapping[str, Any]] = (),
    combinations: Iterable[Mapping[str, Any]] = (),
) -> str:
    """The whole page from what `RiskAssessment.to_dict` gives; `given_away`, the values behind the scores of special
    uniques and unsafe combinations are examples with values."""
    with counting(found.get("counted", "rows")):
        return _page(found, given_away, source, values, combinations)


def _page(
    found: Mapping[str, Any],
    given_away: Mapping[str, Sequence[Mapping[str, Any]]],
    source: str,
    values: Sequence[Mapping[str, Any]],
    combinations: Iterable[Mapping[str, Any]],
) -> str:
    limit = found["threshold"]
    names = found["quasi_identifiers"]
    judged = sentence("risk.judged", count=len(names), names=listed(names, 12))
    if found["quasi_identifiers_suggested"]:
        judged += told("risk.suggested")
    parts = [
        ("groups", "Groups", sections.groups(found)),
        ("attackers", "Attackers", sections.attackers(found)),
        ("population", "Population", sections.population(found)),
        ("survey", "Survey", survey(found)),
        ("special", "Special uniques", special_uniques(found, values)),
        ("every", "Combinations", unsafe_combinations(found, combinations)),
        ("identifying", "Columns", sections.columns(found)),
        ("linkage", "Linkage attack", sections.attacks(found)),
        ("treated", "Treated numbers", figures_of(found["treated_numbers"])),
        ("more", "Order and time", sections.knowing_more(found)),
        ("disclosure", "Given away", sections.disclosure(found) + sections.examples(given_away)),
    ]
    good = limit["rows"] == 0
    return shell(
        "Risk assessment", source,
        good=good, verdict=sentence("risk.safe" if good else "risk.unsafe", **limit),
        sentences=[judged, *known_rows(found), sentence("risk.alone", **{**found, "rows": sections.members(found)})],
        warning=sentence("risk.warning", names=bool(values or found["every"] or any(given_away.values()))),
        tiles=tiles(found), parts=parts, footer=told("risk.footer"),
    )  # fmt: skip


def known_rows(found: Mapping[str, Any]) -> list[str]:
    """How much of a person others may know, where people are counted."""
    if "known" not in found:
        return []
    known = "all rows" if found["known"] == KNOWN_ALL else plural(found["known"], "row")
    return [worded(told("risk.known").replace("{known}", known), {})]


def tiles(found: Mapping[str, Any]) -> list[Tile]:
    """The numbers that matter most."""
    shown = lines("risk.tiles", {**found, "over": sections.over(found)})
    if found["survey"] is not None:
        return shown + lines("risk.tiles_survey", found["survey"])
    if found["population"] is not None:
        return shown + lines("risk.tiles_population", found["population"])
    return shown + (lines("risk.tiles_map", found["journalist"]) if found["journalist"]["k_map"] is not None else [])
