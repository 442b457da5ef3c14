"""The map of risk and utility as a Vega-Lite dictionary and as a table."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from typing import Any

from kanopy.report.charts.marks import Chart, by_series, quantity, sheet, spec

COLUMNS = ("k", "suppress", "models", "algorithm", "loss", "highest_risk", "average_risk", "suppressed", "classes",
           "smallest_class", "optimal", "best", "reason")  # fmt: skip


def series_name(point: Mapping[str, Any]) -> str:
    """What a point has in common with those it is drawn in one colour with."""
    models = " + ".join(point["models"]) or "k-anonymity"
    return f"{point['algorithm']}, {models}, up to {point['suppress']:.4g} suppressed"


def risk_map(points: Sequence[Mapping[str, Any]], metric: str) -> Chart:
    """Loss against the highest risk; the points that no other beats are joined by a line.

    >>> point = {"k": 2, "suppress": 0.0, "models": [], "algorithm": "optimal", "loss": 0.1, "highest_risk": 0.5,
    ...          "best": True}
    >>> risk_map([point], "loss")["layer"][0]["mark"]["type"]
    'line'
    """
    values = [
        {"k": point["k"], "loss": point["loss"], "risk": point["highest_risk"], "series": series_name(point),
         "best": point["best"]}
        for point in points
        if point["loss"] is not None
    ]  # fmt: skip
    log = {"zero": False, "type": "log"}
    x = quantity("risk", "Highest risk of being singled out (1 / smallest class)", scale=log, format="~%")
    y = quantity("loss", f"{metric} (lower keeps more)", scale={"zero": False})
    names = list(dict.fromkeys(value["series"] for value in values))
    series = by_series(names, orient="bottom", columns=1, labelLimit=600)
    body = spec("risk map", values=values, x=x, y=y, colour=series["color"], shape=series["shape"])
    return sheet("Risk against utility", "the line joins releases that no other beats in both", body)


def table_csv(points: Sequence[Mapping[str, Any]]) -> str:
    """All points as CSV text."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(COLUMNS)
    for point in points:
        writer.writerow([" + ".join(point[name]) if name == "models" else point[name] for name in COLUMNS])
    return stream.getvalue()
