"""From a Vega-Lite dictionary to inline SVG, offline. The only place that knows the plotting library."""

from __future__ import annotations

import re
from typing import Any

from kanopy._errors import MissingDependency
from kanopy.report.charts.release import COLOURS
from kanopy.report.words import esc, printable

VEGA_LITE = "5.20"


def svg(chart: dict[str, Any], name: str, description: str) -> str:
    """An SVG element for the page: the page's colours and fonts, ids of its own, a description for screen readers.

    >>> from kanopy.report.charts.release import column_losses
    >>> svg(column_losses({"age": 0.5}), "losses", "Loss per column")[:4]
    '<svg'
    """
    try:
        import vl_convert
    except ImportError as error:
        raise MissingDependency("Figures need vl-convert-python: install the package of that name.") from error
    drawn: str = vl_convert.vegalite_to_svg(_printable(chart), vl_version=VEGA_LITE)
    size = re.search(r'<svg[^>]*?width="([\d.]+)" height="([\d.]+)"', drawn)
    assert size is not None, "an SVG states its size"
    width, height = size.groups()
    inner = drawn[drawn.index(">") + 1 : drawn.rindex("</svg>")]
    # Only tags are touched, never the text between them, which may hold anything.
    inner = _TAG.sub(lambda found: _tidy(found.group(), name), inner)
    return (
        f'<svg class="chart" role="img" aria-label="{esc(description)}" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}">{inner}</svg>'
    )


def _printable(value: Any) -> Any:
    """A chart whose texts hold no control characters: the library ends the whole process when it meets one."""
    if isinstance(value, dict):
        return {key: _printable(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_printable(item) for item in value]
    return printable(value) if isinstance(value, str) else value


_TAG = re.compile(r'<(?:[^>"]|"[^"]*")*>')
_EMPTY = re.compile(r'<path class="(?:back|fore)ground"')


def _tidy(tag: str, name: str) -> str:
    """A tag with the page's colours and font, ids that are unique in the page, and shorter numbers."""
    if _EMPTY.match(tag):
        return ""
    for stand_in, variable in COLOURS.items():
        tag = tag.replace(f'"{stand_in}"', f'"var({variable})"')
    tag = tag.replace(' font-family="sans-serif"', "").replace(' opacity="1"', "").replace(' pointer-events="none"', "")
    tag = re.sub(r' (?:aria-[a-z]+|role)="[^"]*"', "", tag)
    tag = re.sub(r'(\bid="|url\(#|href="#)', rf"\g<1>{name}-", tag)
    return re.sub(r"(\d+\.\d\d)\d+", r"\1", tag)
