"""Figures as Vega-Lite dictionaries: small builders, and the one place here that renders them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

SCHEMA = "https://vega.github.io/schema/vega-lite/v5.json"
INK, FAINT = "#22303c", "#e3e8ec"
# Okabe and Ito's colours: told apart by colour-blind readers too; shapes and dashes repeat the distinction.
COLOURS = ("#0072B2", "#E69F00", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#7A7A7A")
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "stroke")
FONT = "DejaVu Sans, Helvetica, Arial, sans-serif"

CONFIG: dict[str, Any] = {
    "font": FONT,
    "background": "white",
    "padding": 14,
    "view": {"stroke": None},
    "axis": {"labelColor": INK, "titleColor": INK, "gridColor": FAINT, "domainColor": "#9aa7b1", "tickColor": "#9aa7b1",
             "labelFontSize": 11, "titleFontSize": 12, "titleFontWeight": "normal"},
    "legend": {"labelFontSize": 12, "titleFontSize": 12, "symbolSize": 90, "labelColor": INK, "titleColor": INK},
    "title": {"fontSize": 14, "color": INK, "anchor": "start", "fontWeight": "bold", "subtitleColor": "#5b6b78",
              "subtitleFontSize": 12, "offset": 12},
    "header": {"labelFontSize": 12, "labelFontWeight": "bold", "labelColor": INK, "labelAnchor": "start"},
}  # fmt: skip


def sheet(title: str, subtitle: str, body: dict[str, Any]) -> dict[str, Any]:
    """A complete chart: title, house style and the given marks.

    >>> sheet("Loss", "lower is better", {"mark": "bar"})["title"]["text"]
    'Loss'
    """
    return {"$schema": SCHEMA, "title": {"text": title, "subtitle": subtitle}, "config": CONFIG, **body}


def series_scale(names: Sequence[str]) -> dict[str, Any]:
    """The same colour for the same name in every figure."""
    return {"domain": list(names), "range": list(COLOURS[: len(names)])}


def lines(
    rows: Sequence[dict[str, Any]],
    names: Sequence[str],
    x: str,
    y: str,
    *,
    title: str,
    axis: str,
    width: int = 380,
    log_ticks: Sequence[int] = (),
) -> dict[str, Any]:
    """One panel of lines with points, a colour and a shape per series; `log_ticks` makes x logarithmic."""
    scale: dict[str, Any] = {"zero": False, "nice": False, "padding": 8}
    ticks: dict[str, Any] = {"grid": False, "tickMinStep": 1}
    if log_ticks:
        scale, ticks = {**scale, "type": "log"}, {**ticks, "values": list(log_ticks), "labelOverlap": False}
    return {
        "width": width,
        "height": 300,
        "title": {"text": title, "fontSize": 13, "fontWeight": "normal", "offset": 8},
        "data": {"values": list(rows)},
        "mark": {"type": "line", "point": {"size": 46, "filled": True}, "strokeWidth": 1.8},
        "encoding": {
            "x": {"field": x, "type": "quantitative", "title": x, "axis": ticks, "scale": scale},
            "y": {"field": y, "type": "quantitative", "title": axis},
            "color": {"field": "series", "type": "nominal", "title": None, "scale": series_scale(names)},
            "shape": {"field": "series", "type": "nominal", "title": None,
                      "scale": {"domain": list(names), "range": list(SHAPES[: len(names)])}},
        },
    }  # fmt: skip


def grouped_bars(
    rows: Sequence[dict[str, Any]], names: Sequence[str], *, group: str, y: str, axis: str, format: str = "~g"
) -> dict[str, Any]:
    """Bars side by side within each group, each with its number on top."""
    place = {"field": group, "type": "ordinal", "title": None, "axis": {"labelAngle": 0}}
    offset = {"field": "series", "sort": list(names)}
    base = {"x": place, "xOffset": offset, "y": {"field": y, "type": "quantitative", "title": axis}}
    colour = {"field": "series", "type": "nominal", "title": None, "scale": series_scale(names)}
    return {
        "width": {"step": 26},
        "height": 300,
        "data": {"values": list(rows)},
        "layer": [
            {"mark": {"type": "bar", "cornerRadiusEnd": 2}, "encoding": {**base, "color": colour}},
            {"mark": {"type": "text", "dy": -6, "fontSize": 9.5, "color": INK},
             "encoding": {**base, "text": {"field": y, "type": "quantitative", "format": format}}},
        ],
    }  # fmt: skip


def render_svg(chart: dict[str, Any]) -> str:
    """The chart as SVG text."""
    import vl_convert

    return str(vl_convert.vegalite_to_svg(chart))


def render_png(chart: dict[str, Any]) -> bytes:
    """The chart as PNG, twice the size of the screen's pixels."""
    import vl_convert

    return bytes(vl_convert.vegalite_to_png(chart, scale=2))
