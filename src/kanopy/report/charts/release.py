"""The figures of a report as Vega-Lite dictionaries: data and encodings, no plotting library.

Colours are stand-ins (`INK`, `BEFORE`, …) that the page replaces by its own, so a figure follows light, dark and print.
Before and after differ in fill as well as in colour: outlined against solid.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from kanopy.metrics.risk.class_sizes import SizeBin
from kanopy.report.words import percent

INK, MUTED, GRID, BEFORE, AFTER, SOFT = "#0a0b01", "#0a0b02", "#0a0b03", "#0a0b04", "#0a0b05", "#0a0b06"
COLOURS = {INK: "--ink", MUTED: "--muted", GRID: "--line", BEFORE: "--before", AFTER: "--accent", SOFT: "--soft"}
"""Stand-in colours and the page's own."""

WIDTH = 520
LONGEST_NAME = 28
MOST_BINS = 9

_BAR = {"mark": {"type": "bar"}, "transform": [{"filter": "datum.share > 0"}]}
"""Bars of nothing would still show their outline."""

_LABEL = {"fontSize": 11.5, "color": INK}
_PHASES = {
    "color": {
        "field": "phase",
        "type": "nominal",
        "scale": {"domain": ["before", "after"], "range": [BEFORE, AFTER]},
        "legend": None,
    },
    "fillOpacity": {
        "field": "phase",
        "type": "nominal",
        "scale": {"domain": ["before", "after"], "range": [0.18, 1.0]},
        "legend": None,
    },
    "stroke": {
        "field": "phase",
        "type": "nominal",
        "scale": {"domain": ["before", "after"], "range": [BEFORE, AFTER]},
        "legend": None,
    },
}


def class_sizes(before: Sequence[SizeBin], after: Sequence[SizeBin]) -> dict[str, Any]:
    """Share of the published rows by the size of their class, before and after.

    >>> from kanopy.metrics.risk.class_sizes import size_histogram
    >>> chart = class_sizes(size_histogram([1, 1]), size_histogram([2]))
    >>> [(row["size"], row["phase"], row["share"]) for row in chart["data"]["values"]][:2]
    [('1', 'before', 1.0), ('1', 'after', 0.0)]
    """
    before, after = _lumped(before), _lumped(after)
    bins = before if len(before) >= len(after) else after
    values = []
    for number, each in enumerate(bins):
        for phase, own in (("before", before), ("after", after)):
            total = sum(b.rows for b in own)
            share = own[number].rows / total if number < len(own) and total else 0.0
            values.append({"size": each.label, "phase": phase, "share": share, "text": _text(share, zero="")})
    if len(bins) == MOST_BINS:
        for last in values[-2:]:
            last["size"] = f"{bins[-1].low:,}+"
    order = list(dict.fromkeys(each["size"] for each in values))
    x = {"field": "size", "type": "ordinal", "sort": order, "axis": {"labelAngle": 0, "title": "Rows in the group"}}
    offset = {"field": "phase", "type": "nominal", "sort": ["before", "after"]}
    y = {
        "field": "share",
        "type": "quantitative",
        "axis": {"format": "%", "title": "Share of rows", "tickCount": 5},
        "scale": {"domain": [0, _top(values)]},
    }
    layers: list[dict[str, Any]] = [
        {**_BAR, "encoding": {"x": x, "xOffset": offset, "y": y, **_PHASES}},
        {
            "mark": {"type": "text", "dy": -6, "fontSize": 9.5, "color": MUTED},
            "encoding": {"x": x, "xOffset": offset, "y": y, "text": {"field": "text"}},
        },
    ]
    return _chart(values, layers, width=WIDTH, height=290)


def column_losses(losses: dict[str, float]) -> dict[str, Any]:
    """Loss per column, the greatest first; the track behind each bar is everything that could be lost.

    >>> column_losses({"age": 0.25, "sex": 0.0})["data"]["values"][0]["text"]
    '25%'
    """
    ordered = sorted(losses.items(), key=lambda pair: -pair[1])
    values = [
        # Names may be cut to the same text: the position keeps them apart.
        {"column": f"{number}", "name": _short(name), "loss": loss, "all": 1.0, "text": percent(loss)}
        for number, (name, loss) in enumerate(ordered)
    ]
    names = {each["column"]: each["name"] for each in values}
    y = {
        "field": "column",
        "type": "nominal",
        "sort": list(names),
        "axis": None,
    }
    domain = [0, max(1.0, max(losses.values(), default=1.0))]
    x = {
        "type": "quantitative",
        "scale": {"domain": domain},
        "axis": {"format": "%", "title": "Detail lost", "tickCount": 5},
    }
    layers: list[dict[str, Any]] = [
        {"mark": {"type": "bar", "color": SOFT}, "encoding": {"y": y, "x": {"field": "all", **x}}},
        {"mark": {"type": "bar", "color": AFTER}, "encoding": {"y": y, "x": {"field": "loss", **x}}},
        {
            "mark": {"type": "text", "align": "left", "dx": 6, **_LABEL},
            "encoding": {"y": y, "x": {"value": WIDTH - 150}, "text": {"field": "text"}},
        },
        {
            "mark": {"type": "text", "align": "right", "dx": -8, **_LABEL},
            "encoding": {"y": y, "x": {"value": 0}, "text": {"field": "name"}},
        },
    ]
    return _chart(values, layers, width=WIDTH - 150, height={"step": 26})


def rows_at_risk(before: Sequence[Mapping[str, Any]], after: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Share of rows above each risk threshold, before and after.

    >>> chart = rows_at_risk([{"above": 0.5, "share": 1.0}], [{"above": 0.5, "share": 0.0}])
    >>> [(row["threshold"], row["share"]) for row in chart["data"]["values"]][:2]
    [('above 50%', 1.0), ('above 50%', 0.0)]
    """
    values = []
    for number, each in enumerate(before):
        for phase, own in (("before", before), ("after", after)):
            name, share = f"above {percent(each['above'])}", own[number]["share"]
            values.append({"threshold": name, "phase": phase, "share": share, "text": _text(share)})
    order = list(dict.fromkeys(each["threshold"] for each in values))
    y = {"field": "threshold", "type": "ordinal", "sort": order, "axis": {"title": "Risk of a row"}}
    offset = {"field": "phase", "type": "nominal", "sort": ["before", "after"]}
    x = {
        "field": "share",
        "type": "quantitative",
        "scale": {"domain": [0, 1]},
        "axis": {"format": "%", "title": "Share of rows", "tickCount": 5},
    }
    layers: list[dict[str, Any]] = [
        {**_BAR, "encoding": {"x": x, "yOffset": offset, "y": y, **_PHASES}},
        {
            "mark": {"type": "text", "align": "left", "dx": 5, "fontSize": 10.5, "color": MUTED},
            "encoding": {"x": x, "yOffset": offset, "y": y, "text": {"field": "text"}},
        },
    ]
    return _chart(values, layers, width=WIDTH - 60, height=250)


def _chart(
    values: list[dict[str, Any]], layers: list[dict[str, Any]], *, width: int, height: int | dict[str, int]
) -> dict[str, Any]:
    return {
        "data": {"values": values},
        "layer": layers,
        "width": width,
        "height": height,
        "background": None,
        # Browsers may have a wider font than the one the drawing was measured with.
        "padding": {"left": 14, "top": 8, "right": 14, "bottom": 4},
        "config": {
            "font": "sans-serif",
            "aria": False,  # the page describes each figure as a whole
            "view": {"stroke": None},
            "axis": {
                "labelColor": MUTED,
                "titleColor": MUTED,
                "labelFontSize": 11.5,
                "titleFontSize": 11.5,
                "titleFontWeight": "normal",
                "titlePadding": 10,
                "gridColor": GRID,
                "domain": False,
                "ticks": False,
                "labelPadding": 6,
            },
            "axisBand": {"grid": False, "labelColor": INK},
        },
    }


def _top(values: list[dict[str, Any]]) -> float:
    """Where the axis ends: a little above the tallest bar, so that its label fits."""
    return min(1.0, max((each["share"] for each in values), default=1.0) * 1.12) or 1.0


def _lumped(bins: Sequence[SizeBin]) -> list[SizeBin]:
    """At most `MOST_BINS` bins, the largest sizes in one."""
    kept, rest = list(bins[: MOST_BINS - 1]), bins[MOST_BINS - 1 :]
    if rest:
        classes, rows = sum(b.classes for b in rest), sum(b.rows for b in rest)
        kept.append(type(rest[0])(rest[0].low, rest[-1].high, classes, rows))
    return kept


def _text(share: float, zero: str = "0%") -> str:
    return percent(share) if share > 0 else zero


def _short(name: str) -> str:
    return name if len(name) <= LONGEST_NAME else name[: LONGEST_NAME - 1] + "…"
