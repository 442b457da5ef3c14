"""What all charts share: colours, axes, bars, lines, and the frame around them. A chart is a Vega-Lite dictionary.

Colours of a page's own figures are stand-ins (`INK`, `BEFORE`, …) that `kanopy.report.render` replaces, so that a
figure follows light, dark and print; a figure of its own (`sheet`) is drawn on white. Nothing is told by colour alone:
before is outlined and after solid, series differ in shape as well. What of a figure is always the same lies in
`specs.json`, in the form that Vega-Lite documents; texts that begin with a $ stand there for what code gives.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import resources
from typing import Any

Chart = dict[str, Any]

INK, MUTED, GRID, BEFORE, AFTER, SOFT, CARD = (f"#0a0b0{number}" for number in range(1, 8))
COLOURS_OF_PAGE = {"INK": INK, "MUTED": MUTED, "GRID": GRID, "BEFORE": BEFORE, "AFTER": AFTER, "CARD": CARD}
STAND_INS = {
    INK: ("--ink", "#22303c"),
    MUTED: ("--muted", "#5b6b78"),
    GRID: ("--line", "#e3e8ec"),
    BEFORE: ("--before", "#b4641c"),
    AFTER: ("--accent", "#1d7656"),
    SOFT: ("--soft", "#edf1ec"),
    CARD: ("--card", "#ffffff"),
}
"""Stand-in colours, with the page's own and what they are on white."""

COLOURS = ("#0072B2", "#E69F00", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#7A7A7A")
"""Okabe and Ito's colours, told apart by colour-blind readers too; shapes repeat the distinction."""
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "stroke")

SCHEMA = "https://vega.github.io/schema/vega-lite/v5.json"
WIDTH = 520
LONGEST_NAME = 28
PHASES = ("before", "after")


@cache
def _specs() -> dict[str, Any]:
    specs: dict[str, Any] = json.loads((resources.files("kanopy.report.charts") / "specs.json").read_text("utf-8"))
    return specs


def spec(name: str, **given: Any) -> Any:
    """What `specs.json` holds under a name, with what is given and the colours in their places.

    >>> spec("guessing", x={"field": "share"}, share=0.5)["data"]
    {'values': [{'share': 0.5}]}
    """
    return _filled(_specs()[name], {**COLOURS_OF_PAGE, **given})


def _filled(value: Any, given: Mapping[str, Any]) -> Any:
    if isinstance(value, dict):
        return {key: _filled(item, given) for key, item in value.items()}
    if isinstance(value, list):
        return [_filled(item, given) for item in value]
    return given[value[1:]] if isinstance(value, str) and value.startswith("$") else value


def framed(values: Sequence[Mapping[str, Any]], layers: list[Chart], *, width: int, height: int | Chart) -> Chart:
    """A figure of a page: transparent, in the page's colours and font."""
    # Browsers may have a wider font than the one the drawing was measured with, hence the padding; the page describes
    # each figure as a whole (`aria`).
    return {"data": {"values": list(values)}, "layer": layers, "width": width, "height": height, **spec("page")}


def sheet(title: str, subtitle: str, body: Chart) -> Chart:
    """A figure of its own, for a picture file: title, white ground and the given marks.

    >>> sheet("Loss", "lower is better", {"mark": "bar"})["title"]["text"]
    'Loss'
    """
    heading = {"title": {"text": title, "subtitle": subtitle}} if title else {}
    return {"$schema": SCHEMA, **heading, "config": spec("sheet"), **body}


def mark(kind: str, encoding: Chart, **look: Any) -> Chart:
    """One layer.

    >>> mark("bar", {}, color=INK)["mark"]["type"]
    'bar'
    """
    return {"mark": {"type": kind, **look}, "encoding": encoding}


def quantity(field: str, title: str | None, *, ticks: int = 5, scale: Chart | None = None, **axis: Any) -> Chart:
    """An axis of numbers.

    >>> quantity("loss", "Loss")["axis"]["title"]
    'Loss'
    """
    scaling = {"scale": scale} if scale else {}
    return {"field": field, "type": "quantitative", "axis": {"title": title, "tickCount": ticks, **axis}, **scaling}


def share_axis(title: str, top: float | None = None, *, field: str = "share", ticks: int = 5) -> Chart:
    """An axis in percent, up to `top`."""
    return quantity(field, title, ticks=ticks, scale={"domain": [0, top]} if top else None, format="%")


def short(name: str, longest: int = LONGEST_NAME) -> str:
    """A name that fits beside a bar.

    >>> short("a" * 40, 5)
    'aaaa…'
    """
    return name if len(name) <= longest else name[: longest - 1] + "…"


def labelled(field: str, names: Sequence[str], longest: int, **axis: Any) -> Chart:
    """An axis whose places are numbered (`place_of`) and called by names, which may be cut to the same text."""
    labels = {place_of(number): short(name, longest) for number, name in enumerate(names)}
    # JSON is an expression of Vega's too, and escapes whatever a name may hold.
    return {"field": field, "type": "ordinal", "axis": {"labelExpr": f"{json.dumps(labels)}[datum.value]", **axis}}


def place_of(number: int) -> str:
    """A place on an axis of names, sorted as text.

    >>> place_of(7)
    '007'
    """
    return f"{number:03d}"


def above_the_bars(shares: Sequence[float]) -> float:
    """Where an axis of shares ends: a little above the tallest bar, so that its label fits.

    >>> above_the_bars([0.5]), above_the_bars([])
    (0.56, 1.0)
    """
    return round(min(1.0, max(shares, default=1.0) * 1.12), 12) or 1.0


def named_bars(
    rows: Sequence[Chart],
    x: Chart,
    *,
    width: int,
    track: float = 0.0,
    colour: Chart | None = None,
    at_end: bool = False,
) -> Chart:
    """Bars beside their names, from the top: rows have `name`, `text` and the field of `x`.

    `track` draws the whole behind each bar; the text stands beside the track, or with `at_end` beside the bar.
    """
    # Names may be cut to the same text: the position keeps them apart.
    numbered = [{"at": place_of(number), "all": track, **row, "name": short(row["name"])}
                for number, row in enumerate(rows)]  # fmt: skip
    y = {"field": "at", "type": "nominal", "axis": None}
    fill = mark("bar", {"y": y, "x": x}, **({} if colour else {"color": AFTER}))
    if colour:
        fill["encoding"]["color"] = colour
    text: Chart = {"y": y, "x": x if at_end else {"value": width}, "text": {"field": "text"}}
    layers = [
        fill,
        mark("text", text, align="left", dx=6, fontSize=11.5, color=INK),
        mark("text", {"y": y, "x": {"value": 0}, "text": {"field": "name"}},
             align="right", dx=-8, fontSize=11.5, color=INK),
    ]  # fmt: skip
    if track:
        layers.insert(0, mark("bar", {"y": y, "x": {**x, "field": "all"}}, color=SOFT))
    return framed(numbered, layers, width=width, height={"step": 25})


def paired_bars(position: Chart, share: Chart, *, sideways: bool = False, text: bool = True) -> list[Chart]:
    """Before (outlined) and after (solid) at each place: rows have `phase`, `share` and `text`."""

    def by_phase(values: Sequence[Any]) -> Chart:
        scale = {"domain": list(PHASES), "range": list(values)}
        return {"field": "phase", "type": "nominal", "scale": scale, "legend": None}

    offset = {"field": "phase", "type": "nominal", "sort": list(PHASES)}
    at = {"y": position, "yOffset": offset, "x": share} if sideways else {"x": position, "xOffset": offset, "y": share}
    looks = {
        "color": by_phase([BEFORE, AFTER]),
        "fillOpacity": by_phase([0.18, 1.0]),
        "stroke": by_phase([BEFORE, AFTER]),
    }
    # Bars of nothing would still show their outline.
    bars = {**mark("bar", {**at, **looks}), "transform": [{"filter": "datum.share > 0"}]}
    beside: Chart = {"align": "left", "dx": 5, "fontSize": 10.5} if sideways else {"dy": -6, "fontSize": 9.5}
    return [bars, mark("text", {**at, "text": {"field": "text"}}, color=MUTED, **beside)] if text else [bars]


def by_series(names: Sequence[str], field: str = "series", **legend: Any) -> Chart:
    """The same colour and shape for the same name in every figure."""
    channel: Chart = {"field": field, "type": "nominal", "title": None, **({"legend": legend} if legend else {})}

    def scale(values: Sequence[str]) -> Chart:
        return {"domain": list(names), "range": [values[number % len(values)] for number in range(len(names))]}

    return {"color": {**channel, "scale": scale(COLOURS)}, "shape": {**channel, "scale": scale(SHAPES)}}


def lines(
    rows: Sequence[Mapping[str, Any]],
    names: Sequence[str],
    x: str,
    y: str,
    *,
    title: str = "",
    axis: str,
    width: int = 380,
    height: int = 300,
    log_ticks: Sequence[int] = (),
    steps: bool = False,
) -> Chart:
    """One panel of lines with points, a colour and a shape per `series`.

    `log_ticks` makes x logarithmic, `steps` makes it a row of steps.
    """
    scale: Chart = {"zero": False, "nice": False, "padding": 8}
    ticks: Chart = {"grid": False, "tickMinStep": 1}
    if log_ticks:
        scale, ticks = {**scale, "type": "log"}, {**ticks, "values": list(log_ticks), "labelOverlap": False}
    along: Chart = {"type": "quantitative", "axis": ticks, "scale": scale}
    if steps:
        along = {"type": "ordinal", "axis": {"labelAngle": 0}}
    heading = {"title": {"text": title, "fontSize": 13, "fontWeight": "normal", "offset": 8}} if title else {}
    series = by_series(names)
    drawn: Chart = spec(
        "lines", width=width, height=height, rows=list(rows), x={"field": x, "title": x, **along}, y=y, axis=axis,
        colour=series["color"], shape=series["shape"],
    )  # fmt: skip
    return {**heading, **drawn}
