"""The rates of attacks on people of a release, beside those on a control group."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from kanopy.report.charts.marks import AFTER, BEFORE, Chart, framed

MOST = 16
LONGEST = 46


def attack_rates(results: Sequence[Mapping[str, Any]]) -> Chart:
    """A point with its interval per attack, filled for people of the release and outlined for the control group."""
    values, names = [], list[str]()
    for attack in [one for one in results if one["rate"] is not None][:MOST]:
        name = f"{attack['attack']}: {attack['detail']}"
        name = name if len(name) <= LONGEST else name[: LONGEST - 1] + "…"
        name += " " * sum(name.strip() == other.strip() for other in names)
        names.append(name)
        for group, rate in (("people of the release", attack["rate"]), ("control group", attack["control_rate"])):
            if rate is not None:
                values.append({"attack": name, "group": group, **rate})
    order = list(dict.fromkeys(value["attack"] for value in values))
    x = {"field": "value", "type": "quantitative", "scale": {"domain": [0, 1]}, "title": "rate of success",
         "axis": {"format": "%"}}  # fmt: skip
    y = {"field": "attack", "type": "nominal", "sort": order, "title": None, "axis": {"labelLimit": 320}}
    colour = {
        "field": "group", "type": "nominal", "title": None, "legend": {"orient": "top"},
        "scale": {"domain": ["people of the release", "control group"], "range": [AFTER, BEFORE]},
    }  # fmt: skip
    groups = ["people of the release", "control group"]
    apart: dict[str, Any] = {"field": "group", "type": "nominal", "scale": {"domain": groups}}
    shape = {**colour, "scale": {**apart["scale"], "range": ["circle", "square"]}}
    layers: list[Chart] = [
        {"mark": {"type": "rule"}, "encoding": {
            "x": {**x, "field": "low"}, "x2": {"field": "high"}, "y": y, "yOffset": apart, "color": colour}},
        {"mark": {"type": "point", "filled": True, "size": 55}, "encoding": {
            "x": x, "y": y, "yOffset": apart, "color": colour, "shape": shape}},
    ]  # fmt: skip
    return framed(values, layers, width=420, height={"step": 14})
