"""The page of `kanopy risk`: how likely people in a table are to be found again, in plain words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from kanopy.report.pages import risk_sections as sections
from kanopy.report.shell import Tile, shell
from kanopy.report.words import listed, percent, plural, whole


def risk_page(
    found: Mapping[str, Any],
    *,
    given_away: Mapping[str, Sequence[Mapping[str, Any]]],
    source: str,
) -> str:
    """The whole page from what `RiskAssessment.to_dict` gives; `given_away` are examples with values."""
    limit = found["threshold"]
    good = limit["rows"] == 0
    verdict = (
        f"No row is above the accepted risk of {percent(limit['above'])}."
        if good
        else f"{percent(limit['share'])} of rows are above the accepted risk of {percent(limit['above'])}."
    )
    names = found["quasi_identifiers"]
    sentences = [
        f"Judged by {plural(len(names), 'column')} that others may know: {listed(names, 12)}."
        + (" They were suggested by the table itself; name your own with -q." if _suggested(found) else ""),
        f"{plural(found['unique_rows'], 'row')} of {whole(found['rows'])} stand alone: nobody shares their combination "
        "of these values.",
    ]
    warning = "This page describes the table. Keep it as safe as the table itself" + (
        ": it names values that groups give away." if any(given_away.values()) else "."
    )
    parts = [
        ("groups", "Groups", sections.groups(found)),
        ("attackers", "Attackers", sections.attackers(found)),
        ("population", "Population", sections.population(found)),
        ("identifying", "Columns", sections.columns(found)),
        ("linkage", "Linkage attack", sections.attacks(found)),
        ("disclosure", "Given away", sections.disclosure(found) + sections.examples(given_away)),
    ]
    footer = "Suppressed rows publish no quasi-identifier: they are in no group and in no denominator."
    return shell(
        "Risk assessment", source,
        good=good, verdict=verdict, sentences=sentences, warning=warning,
        tiles=tiles(found), parts=parts, footer=footer,
    )  # fmt: skip


def _suggested(found: Mapping[str, Any]) -> bool:
    return bool(found["quasi_identifiers_suggested"])


def tiles(found: Mapping[str, Any]) -> list[Tile]:
    """The numbers that matter most."""
    tiles: list[Tile] = [
        ("Smallest group", plural(found["smallest_class"], "row"), f"{plural(found['classes'], 'group')} in all"),
        ("Highest risk", percent(found["prosecutor"]["highest"]), "one over the smallest group"),
        ("Average risk", percent(found["prosecutor"]["average"]), "of a row picked at random"),
        ("Rows that stand alone", percent(found["unique_share"]), whole(found["unique_rows"])),
        ("Expected matches", percent(found["marketer"]), "of rows, if all were linked to a register"),
    ]
    population = found["population"]
    if population is not None:
        share = population["dankar"]["share"]
        note = f"of {plural(population['population'], 'person', 'people')}, estimated ({population['chosen']})"
        tiles.append(("Unique in the population", percent(share), note))
    elif found["journalist"]["k_map"] is not None:
        tiles.append(("k-map", whole(found["journalist"]["k_map"]), "people share each row's values at least"))
    return tiles
