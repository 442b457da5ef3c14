"""From a Vega-Lite dictionary to a picture, offline. The only place that knows the plotting library."""

from __future__ import annotations

import re
from typing import Any

from kanopy._errors import MissingDependency
from kanopy.report.charts.marks import SCHEMA, STAND_INS
from kanopy.report.text import Markup, esc, printable

VEGA_LITE = "5.20"


def svg(chart: dict[str, Any], name: str, description: str) -> Markup:
    """An SVG element for a page: the page's colours and fonts, ids of its own, a description for screen readers.

    >>> from kanopy.report.charts.release_charts import column_losses
    >>> svg(column_losses({"age": 0.5}), "losses", "Loss per column")[:4]
    '<svg'
    """
    drawn = _convert({**chart, "background": None}, "svg").decode("utf-8")
    size = re.search(r'<svg[^>]*?width="([\d.]+)" height="([\d.]+)"', drawn)
    assert size is not None, "an SVG states its size"
    width, height = size.groups()
    inner = drawn[drawn.index(">") + 1 : drawn.rindex("</svg>")]
    # Only tags are touched, never the text between them, which may hold anything. The library counts the ids of all
    # it ever drew: counted anew, the same chart gives the same bytes.
    ids: dict[str, str] = {}
    inner = _TAG.sub(lambda tag: _tidy(tag.group(), name, ids), inner)
    return Markup(
        f'<svg class="chart" role="img" aria-label="{esc(description)}" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}">{inner}</svg>'
    )


def picture(chart: dict[str, Any], kind: str) -> bytes:
    """A picture of its own as `svg`, `png` (twice the size of the screen's pixels) or `pdf`, on white.

    >>> picture({"data": {"values": [{"name": "age"}]}, **{"mark": "bar", "encoding": {}}}, "png")[1:4]
    b'PNG'
    """
    return _convert(standalone(chart), kind)


def standalone(chart: dict[str, Any]) -> dict[str, Any]:
    """The chart with fixed colours on white instead of a page's.

    >>> standalone({"mark": {"color": "#0a0b01"}})["mark"]
    {'color': '#22303c'}
    """
    fixed: dict[str, Any] = _texts(chart, lambda text: STAND_INS[text][1] if text in STAND_INS else text)
    return {"$schema": SCHEMA, **fixed, "background": "white"}


def _convert(chart: dict[str, Any], kind: str) -> bytes:
    try:
        import vl_convert
    except ImportError as error:
        raise MissingDependency("Figures need vl-convert-python: install the package of that name.") from error
    # The library ends the whole process when it meets a control character.
    clean = _texts(chart, printable)
    if kind == "png":
        return bytes(vl_convert.vegalite_to_png(clean, vl_version=VEGA_LITE, scale=2))
    if kind == "pdf":
        return bytes(vl_convert.vegalite_to_pdf(clean, vl_version=VEGA_LITE))
    return str(vl_convert.vegalite_to_svg(clean, vl_version=VEGA_LITE)).encode("utf-8")


def _texts(value: Any, change: Any) -> Any:
    """A chart with every text in it, names of fields included, changed."""
    if isinstance(value, dict):
        return {_texts(key, change): _texts(item, change) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_texts(item, change) for item in value]
    return change(value) if isinstance(value, str) else value


_TAG = re.compile(r'<(?:[^>"]|"[^"]*")*>')
_EMPTY = re.compile(r'<path class="(?:back|fore)ground"')


def _tidy(tag: str, name: str, ids: dict[str, str]) -> str:
    """A tag with the page's colours and font, ids that are unique in the page, and shorter numbers."""
    if _EMPTY.match(tag):
        return ""
    for stand_in, (variable, _) in STAND_INS.items():
        tag = tag.replace(f'"{stand_in}"', f'"var({variable})"')
    tag = re.sub(r' font-family="[^"]*"| opacity="1"| pointer-events="none"| (?:aria-[a-z]+|role)="[^"]*"', "", tag)
    tag = re.sub(
        r'(\bid="|url\(#|href="#)([^")]*)',
        lambda reference: reference[1] + ids.setdefault(reference[2], f"{name}-{len(ids)}"),
        tag,
    )
    return re.sub(r"(\d+\.\d\d)\d+", r"\1", tag)
