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
    results: Mapping[str, Any],
    *,
    given_away: Mapping[str, Sequence[Mapping[str, Any]]],
    source: str,
    values: Sequence[Mapping[str, Any]] = (),
    combinations: Iterable[Mapping[str, Any]] = (),
) -> str:
    """The whole page from what `RiskAssessment.to_dict` gives; `given_away`, the values behind the scores of special
    uniques and unsafe combinations are examples with values."""
    with counting(results.get("counted", "rows")):
        return _page(results, given_away, source, values, combinations)


def _page(
    results: Mapping[str, Any],
    given_away: Mapping[str, Sequence[Mapping[str, Any]]],
    source: str,
    values: Sequence[Mapping[str, Any]],
    combinations: Iterable[Mapping[str, Any]],
) -> str:
    limit = results["threshold"]
    names = results["quasi_identifiers"]
    judged = sentence("risk.judged", count=len(names), names=listed(names, 12))
    if results["quasi_identifiers_suggested"]:
        judged += told("risk.suggested")
    parts = [
        ("groups", "Groups", sections.groups(results)),
        ("attackers", "Attackers", sections.attackers(results)),
        ("population", "Population", sections.population(results)),
        ("survey", "Survey", survey(results)),
        ("special", "Special uniques", special_uniques(results, values)),
        ("every", "Combinations", unsafe_combinations(results, combinations)),
        ("identifying", "Columns", sections.columns(results)),
        ("linkage", "Linkage attack", sections.attacks(results)),
        ("treated", "Treated numbers", figures_of(results["treated_numbers"])),
        ("more", "Order and time", sections.knowing_more(results)),
        ("disclosure", "Given away", sections.disclosure(results) + sections.examples(given_away)),
    ]
    good = limit["rows"] == 0
    return shell(
        "Risk assessment", source,
        good=good, verdict=sentence("risk.safe" if good else "risk.unsafe", **limit),
        sentences=[judged, *known_rows(results), sentence("risk.alone", **{**results,
        "rows": sections.members(results)})],
        warning=sentence("risk.warning", names=bool(values or results["every"] or any(given_away.values()))),
        tiles=tiles(results), parts=parts, footer=told("risk.footer"),
    )  # fmt: skip


def known_rows(results: Mapping[str, Any]) -> list[str]:
    """How much of a person others may know, where people are counted."""
    if "known" not in results:
        return []
    known_of_each = "all rows" if results["known"] == KNOWN_ALL else plural(results["known"], "row")
    return [worded(told("risk.known").replace("{known}", known_of_each), {})]


def tiles(results: Mapping[str, Any]) -> list[Tile]:
    """The numbers that matter most."""
    tile_lines = lines("risk.tiles", {**results, "over": sections.over(results)})
    if results["survey"] is not None:
        return tile_lines + lines("risk.tiles_survey", results["survey"])
    if results["population"] is not None:
        return tile_lines + lines("risk.tiles_population", results["population"])
    return tile_lines + (
        lines("risk.tiles_map", results["journalist"]) if results["journalist"]["k_map"] is not None else []
    )
