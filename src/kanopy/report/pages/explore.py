"""The page of `kanopy explore`: the map of risk and utility, and every point as a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from kanopy.report.charts.risk_map import risk_map, series_name
from kanopy.report.shell import drawing, part, section, shell, table
from kanopy.report.text import counting, figure, plural, sentence, told, whole


def explore_page(results: Mapping[str, Any], source: str = "a table") -> str:
    """The whole page from what `Exploration.to_dict` gives."""
    with counting(results.get("counted", "rows")):
        return _page(results, source)


def about_people(results: Mapping[str, Any]) -> list[str]:
    """How many people the table is about, where these are counted."""
    return [sentence("compare.people", **results)] if "units" in results else []


def _page(results: Mapping[str, Any], source: str) -> str:
    points = results["points"]
    solved = [point for point in points if point["loss"] is not None]
    best = sum(point["best"] for point in points)
    return shell(
        "Risk against utility",
        source,
        good=bool(solved),
        verdict=f"{best} of {plural(len(solved), 'release')} {'is' if best == 1 else 'are'} beaten by no other.",
        sentences=[
            f"{plural(len(points), 'job')} on {plural(results['rows'], 'row')}; what cannot be solved says why.",
            *about_people(results),
        ],
        warning=told("compare.warning"),
        parts=[
            ("map", "Map", part("explore.map", map_drawing(points, results["metric"]))),
            ("points", "Points", section("Every point", "", points_table(points, results["metric"]))),
        ],
    )


def map_drawing(points: Sequence[Mapping[str, Any]], metric: str) -> str:
    """The map as a figure of the page."""
    return drawing(risk_map(points, metric), "map", f"{metric} of each release against its highest risk.")


def points_table(points: Sequence[Mapping[str, Any]], metric: str) -> str:
    """A line per point; those that no other beats are set off."""
    heads = ["k", "release", metric, "highest risk", "average risk", "suppressed", "classes"]
    heads += ["why there is none"] if any(point["loss"] is None for point in points) else []
    rows = []
    for point in points:
        numbers = ["–"] * 5
        if point["loss"] is not None:
            numbers = [figure(point["loss"]), f"{point['highest_risk']:.2%}", f"{point['average_risk']:.2%}",
                       whole(point["suppressed"]), whole(point["classes"])]  # fmt: skip
        rows.append([str(point["k"]), series_name(point), *numbers, point["reason"] or ""])
    return table("Releases", heads, rows, range(2, 7), kinds=["best" if point["best"] else "" for point in points])
