"""The figures of the risk and utility pages as Vega-Lite dictionaries, in the colours of the report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from kanopy.report.charts.release import _BAR, _PHASES, AFTER, BEFORE, GRID, INK, MUTED, SOFT, WIDTH, _chart, _short
from kanopy.report.words import percent


def bars(
    values: Sequence[tuple[str, float]], title: str, *, width: int = WIDTH - 150, top: float | None = 1.0
) -> dict[str, Any]:
    """Shares as bars beside their names, in the order given; the track behind each is the whole.

    >>> bars([("age", 0.25)], "Share")["data"]["values"][0]["text"]
    '25%'
    """
    rows = [
        {"at": f"{place}", "name": _short(name), "share": share, "text": percent(share), "all": top or 0.0}
        for place, (name, share) in enumerate(values)
    ]
    y = {"field": "at", "type": "nominal", "sort": [row["at"] for row in rows], "axis": None}
    highest = top or max([share for _, share in values], default=1.0) or 1.0
    x = {
        "type": "quantitative",
        "scale": {"domain": [0, highest]},
        "axis": {"format": "%", "title": title, "tickCount": 5},
    }
    layers: list[dict[str, Any]] = [
        {"mark": {"type": "bar", "color": SOFT, "cornerRadius": 2}, "encoding": {"y": y, "x": {"field": "all", **x}}},
        {
            "mark": {"type": "bar", "color": AFTER, "cornerRadius": 2},
            "encoding": {"y": y, "x": {"field": "share", **x}},
        },
        {
            "mark": {"type": "text", "align": "left", "dx": 6, "fontSize": 11.5, "color": INK},
            "encoding": {"y": y, "x": {"value": width}, "text": {"field": "text"}},
        },
        {
            "mark": {"type": "text", "align": "right", "dx": -8, "fontSize": 11.5, "color": INK},
            "encoding": {"y": y, "x": {"value": 0}, "text": {"field": "name"}},
        },
    ]
    return _chart(rows, layers, width=width, height={"step": 24})


def columns_chart(values: Sequence[tuple[str, float]], title: str, axis: str) -> dict[str, Any]:
    """Shares as upright bars with their numbers above."""
    rows = [{"name": name, "share": share, "text": percent(share) if share else ""} for name, share in values]
    order = [name for name, _ in values]
    x = {"field": "name", "type": "ordinal", "sort": order, "axis": {"labelAngle": 0, "title": axis}}
    highest = max([share for _, share in values], default=1.0) or 1.0
    y = {
        "field": "share",
        "type": "quantitative",
        "axis": {"format": "%", "title": title, "tickCount": 5},
        "scale": {"domain": [0, min(1.0, highest * 1.12)]},
    }
    layers: list[dict[str, Any]] = [
        {"mark": {"type": "bar", "color": AFTER, "cornerRadius": 2}, "encoding": {"x": x, "y": y}},
        {
            "mark": {"type": "text", "dy": -6, "fontSize": 9.5, "color": MUTED},
            "encoding": {"x": x, "y": y, "text": {"field": "text"}},
        },
    ]
    return _chart(rows, layers, width=WIDTH, height=230)


def before_after(
    names: Sequence[str], before: Sequence[float], after: Sequence[float], axis: str, *, height: int = 170
) -> dict[str, Any]:
    """Two distributions over the same bins: before outlined, after solid."""
    rows = []
    for place, name in enumerate(names):
        for phase, shares in (("before", before), ("after", after)):
            rows.append({"bin": f"{place:03d}", "name": _short(name), "phase": phase, "share": shares[place]})
    labels = {f"{place:03d}": _short(name)[:14] for place, name in enumerate(names)}
    expression = "{" + ", ".join(f"'{key}': {_quoted(label)}" for key, label in labels.items()) + "}[datum.value]"
    x = {
        "field": "bin",
        "type": "ordinal",
        "axis": {
            "title": axis,
            "labelExpr": expression,
            "labelAngle": -40 if len(names) > 5 else 0,
            "labelFontSize": 10,
        },
    }
    offset = {"field": "phase", "type": "nominal", "sort": ["before", "after"]}
    y = {"field": "share", "type": "quantitative", "axis": {"format": "%", "title": "Share of rows", "tickCount": 4}}
    layers: list[dict[str, Any]] = [{**_BAR, "encoding": {"x": x, "xOffset": offset, "y": y, **_PHASES}}]
    return _chart(rows, layers, width=WIDTH - 60, height=height)


def heat(
    names: Sequence[str], cells: Mapping[tuple[int, int], float], title: str, *, diverging: bool = False
) -> dict[str, Any]:
    """A share for every pair of columns, written into the square as well as coloured."""
    most = max((abs(value) for value in cells.values()), default=1.0) or 1.0
    least = 0.005 if diverging else 0.0005  # what two decimals, or a tenth of a percent, can show
    rows = [
        {
            "x": f"{j:03d}",
            "y": f"{i:03d}",
            "value": abs(value) / most,
            "text": (f"{value:+.2f}" if diverging else percent(value)) if abs(value) >= least else "0",
            "sign": "before" if value < 0 else "after",
            "strong": abs(value) / most > 0.62,
        }
        for (i, j), value in cells.items()
    ]
    labels = {f"{place:03d}": _short(name)[:16] for place, name in enumerate(names)}
    expression = "{" + ", ".join(f"'{key}': {_quoted(label)}" for key, label in labels.items()) + "}[datum.value]"
    axis = {"title": None, "labelExpr": expression}
    x = {"field": "x", "type": "ordinal", "axis": {**axis, "labelAngle": -40, "orient": "top"}}
    y = {"field": "y", "type": "ordinal", "axis": axis}
    layers: list[dict[str, Any]] = [
        {
            "mark": {"type": "rect", "stroke": GRID},
            "encoding": {
                "x": x,
                "y": y,
                "color": {
                    "field": "sign",
                    "type": "nominal",
                    "scale": {"domain": ["before", "after"], "range": [BEFORE, AFTER]},
                    "legend": None,
                },
                "fillOpacity": {
                    "field": "value",
                    "type": "quantitative",
                    "scale": {"domain": [0, 1], "range": [0.03, 0.75]},
                    "legend": None,
                },
            },
        },
        {
            "mark": {"type": "text", "fontSize": 10, "color": INK},
            "encoding": {"x": x, "y": y, "text": {"field": "text"}},
        },
    ]
    side = max(34, min(56, 520 // max(len(names), 1)))
    chart = _chart(rows, layers, width=side * len(names), height=round(side * 0.62) * len(names))
    chart["title"] = {"text": title, "anchor": "start", "fontSize": 11.5, "fontWeight": "normal", "color": MUTED}
    return chart


def accuracy(learners: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Accuracy of each learner before and after, with the line of guessing the most frequent class."""
    rows = [
        {"learner": each["learner"], "phase": phase, "share": each[phase], "text": percent(each[phase])}
        for each in learners
        for phase in ("before", "after")
    ]
    y = {"field": "learner", "type": "nominal", "sort": [each["learner"] for each in learners], "axis": {"title": None}}
    offset = {"field": "phase", "type": "nominal", "sort": ["before", "after"]}
    x = {
        "field": "share",
        "type": "quantitative",
        "scale": {"domain": [0, 1]},
        "axis": {"format": "%", "title": "Held-out original rows classified rightly", "tickCount": 5},
    }
    baseline = learners[0]["baseline"] if learners else 0.0
    layers: list[dict[str, Any]] = [
        {**_BAR, "encoding": {"x": x, "yOffset": offset, "y": y, **_PHASES}},
        {
            "mark": {"type": "text", "align": "left", "dx": 5, "fontSize": 10.5, "color": MUTED},
            "encoding": {"x": x, "yOffset": offset, "y": y, "text": {"field": "text"}},
        },
        {
            "data": {"values": [{"share": baseline}]},
            "mark": {"type": "rule", "color": INK, "strokeDash": [4, 3], "strokeWidth": 1.5},
            "encoding": {"x": x},
        },
    ]
    return _chart(rows, layers, width=WIDTH - 120, height=46 * max(len(learners), 1))


def bound_ranges(bounds: Sequence[Mapping[str, Any]], column: str) -> dict[str, Any]:
    """What the release allows each statistic to be (a bar), and what it was (a tick)."""
    rows = [dict(bound) for bound in bounds]
    y = {"field": "statistic", "type": "nominal", "sort": [row["statistic"] for row in rows], "axis": {"title": None}}
    scale = {"zero": False}
    x = {"field": "low", "type": "quantitative", "scale": scale, "axis": {"title": column, "tickCount": 6}}
    layers: list[dict[str, Any]] = [
        {
            "mark": {"type": "bar", "color": AFTER, "height": 10, "cornerRadius": 3, "fillOpacity": 0.45},
            "encoding": {"y": y, "x": x, "x2": {"field": "high"}},
        },
        {
            "mark": {"type": "tick", "color": BEFORE, "thickness": 3, "size": 20},
            "encoding": {"y": y, "x": {**x, "field": "truth"}},
        },
    ]
    return _chart(rows, layers, width=WIDTH - 120, height={"step": 30})


def _quoted(text: str) -> str:
    """A text inside a Vega expression."""
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'").replace("\n", " ") + "'"
