"""The figures of a comparison: what each algorithm loses, and what it takes to lose no more."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from kanopy.report.charts.release import GRID, INK, MUTED, WIDTH, _chart, _short
from kanopy.report.words import figure, seconds

KINDS = {
    "full-domain": ("#0072B2", "square"),
    "subtree": ("#009E73", "triangle-up"),
    "cell": ("#CC79A7", "diamond"),
    "local": ("#D55E00", "circle"),
    "substitution": ("#7A7A7A", "cross"),
}
"""Colour and shape of each kind of recoding: both tell them apart, for readers who do not see the colours."""

STANDALONE = {INK: "#22303c", MUTED: "#5b6b78", GRID: "#e3e8ec"}


def loss_bars(entries: Sequence[Mapping[str, Any]], metric: str) -> dict[str, Any]:
    """A bar per algorithm, best first, coloured by the kind of recoding.

    >>> one = {"name": "best", "recoding": "local", "losses": {"loss": 0.05}, "seconds": 1.0}
    >>> loss_bars([one], "loss")["data"]["values"][0]["text"]
    '0.0500 · 1.0 s'
    """
    rows = [
        {
            "at": f"{place}",
            "name": _short(entry["name"]),
            "kind": entry["recoding"],
            "loss": entry["losses"][metric],
            "text": f"{figure(entry['losses'][metric])} · {seconds(entry['seconds'])}",
        }
        for place, entry in enumerate(entries)
        if metric in entry["losses"]
    ]
    y = {"field": "at", "type": "nominal", "sort": [row["at"] for row in rows], "axis": None}
    highest = max((row["loss"] for row in rows), default=1.0) or 1.0
    x = {
        "field": "loss",
        "type": "quantitative",
        "scale": {"domain": [0, highest]},
        "axis": {"title": f"{metric} (shorter keeps more)", "tickCount": 5},
    }
    layers: list[dict[str, Any]] = [
        {"mark": {"type": "bar", "cornerRadius": 2}, "encoding": {"y": y, "x": x, "color": _colour(rows)}},
        {
            "mark": {"type": "text", "align": "left", "dx": 6, "fontSize": 11, "color": INK},
            "encoding": {"y": y, "x": x, "text": {"field": "text"}},
        },
        {
            "mark": {"type": "text", "align": "right", "dx": -8, "fontSize": 11.5, "color": INK},
            "encoding": {"y": y, "x": {"value": 0}, "text": {"field": "name"}},
        },
    ]
    return _chart(rows, layers, width=WIDTH, height={"step": 24})


def loss_and_time(entries: Sequence[Mapping[str, Any]], metric: str) -> dict[str, Any]:
    """A point per algorithm: how long it took against what it loses; lower left is better."""
    solved = [entry for entry in entries if metric in entry["losses"]]
    rows = [
        {
            "name": entry["name"],
            "kind": entry["recoding"],
            "loss": entry["losses"][metric],
            "seconds": max(1e-3, entry["seconds"]),
            "front": not any(_beats(other, entry, metric) for other in solved),
        }
        for entry in solved
    ]
    x = {
        "field": "seconds",
        "type": "quantitative",
        "scale": {"type": "log", "nice": True},
        "axis": {"title": "seconds of search (logarithmic)", "tickCount": 6, "format": "~g"},
    }
    y = {
        "field": "loss",
        "type": "quantitative",
        "scale": {"zero": True},
        "axis": {"title": f"{metric} (lower keeps more)", "tickCount": 6},
    }
    layers: list[dict[str, Any]] = [
        {
            "transform": [{"filter": "datum.front"}],
            "mark": {"type": "line", "color": MUTED, "strokeDash": [4, 3], "interpolate": "step-after"},
            "encoding": {"x": x, "y": y, "order": {"field": "seconds"}},
        },
        {
            "mark": {"type": "point", "filled": True, "size": 90, "opacity": 1},
            "encoding": {"x": x, "y": y, "color": _colour(rows), "shape": _shape(rows)},
        },
        {
            "transform": [{"filter": "datum.front"}],
            "mark": {"type": "text", "align": "left", "dx": 8, "dy": -7, "fontSize": 11, "color": INK},
            "encoding": {"x": x, "y": y, "text": {"field": "name"}},
        },
    ]
    return _chart(rows, layers, width=WIDTH + 150, height=320)


def standalone(chart: dict[str, Any]) -> dict[str, Any]:
    """The chart with fixed colours on white, for a picture file of its own."""
    import json

    text = json.dumps(chart)
    for stand_in, colour in STANDALONE.items():
        text = text.replace(stand_in, colour)
    found: dict[str, Any] = json.loads(text)
    return {**found, "$schema": "https://vega.github.io/schema/vega-lite/v5.json", "background": "white"}


def _beats(other: Mapping[str, Any], entry: Mapping[str, Any], metric: str) -> bool:
    better = other["losses"][metric] < entry["losses"][metric] and other["seconds"] <= entry["seconds"]
    quicker = other["losses"][metric] <= entry["losses"][metric] and other["seconds"] < entry["seconds"]
    return bool(better or quicker)


def _kinds(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    there = {row["kind"] for row in rows}
    return [kind for kind in KINDS if kind in there]


def _colour(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    kinds = _kinds(rows)
    return {
        "field": "kind",
        "type": "nominal",
        "scale": {"domain": kinds, "range": [KINDS[kind][0] for kind in kinds]},
        "legend": {"title": None, "orient": "top", "labelColor": INK, "symbolType": "circle"},
    }


def _shape(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    kinds = _kinds(rows)
    return {
        "field": "kind",
        "type": "nominal",
        "scale": {"domain": kinds, "range": [KINDS[kind][1] for kind in kinds]},
        "legend": {"title": None, "orient": "top", "labelColor": INK},
    }
