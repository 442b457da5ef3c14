"""A plain map of published cells: longitude to the right, latitude upwards, no background from a network."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable

from kanopy.report.charts.marks import INK, MUTED, WIDTH, Chart, framed, mark

_SIDE = r"(-?[\d.]+)(?: ([NSEW]))?\s*–\s*([\d.]+) ([NSEW])"
_CELL = re.compile(rf"{_SIDE}, {_SIDE}")
FEWEST_CELLS, MOST_CELLS = 2, 5_000
TALLEST = 420


def cell_bounds(label: str) -> tuple[float, float, float, float] | None:
    """South, north, west and east of the label of a cell; `None` if it is none.

    >>> cell_bounds("52.4–52.6 N, 13–13.5 E"), cell_bounds("10 S – 10 N, 5–0 W")
    ((52.4, 52.6, 13.0, 13.5), (-10.0, 10.0, -5.0, 0.0))
    >>> cell_bounds("Berlin") is None
    True
    """
    match = _CELL.fullmatch(label)
    if match is None:
        return None
    sides = []
    for first, number_letter, second, shared in (match.groups()[:4], match.groups()[4:]):
        for number, letter in ((first, number_letter or shared), (second, shared)):
            sides.append(float(number) * (-1.0 if letter in "SW" else 1.0) + 0.0)
    south, north, west, east = sides
    return south, north, west, east


def place_map(labels: Iterable[str]) -> Chart | None:
    """The cells among some published labels as a map; `None` if they are too few, or no cells.

    >>> chart = place_map(["52–53 N, 13–14 E", "48–50 N, 2–10 E", "*"])
    >>> len(chart["data"]["values"])
    2
    """
    cells = [bounds for label in labels if (bounds := cell_bounds(label)) is not None]
    if not FEWEST_CELLS <= len(cells) <= MOST_CELLS:
        return None
    rows = [dict(zip(("south", "north", "west", "east"), cell, strict=True)) for cell in cells]
    middle = math.radians((min(cell[0] for cell in cells) + max(cell[1] for cell in cells)) / 2)
    tall = max(cell[1] for cell in cells) - min(cell[0] for cell in cells)
    wide = (max(cell[3] for cell in cells) - min(cell[2] for cell in cells)) * max(math.cos(middle), 0.1)
    height = int(min(max(WIDTH * tall / max(wide, 1e-9), 120), TALLEST))
    encoding = {
        "x": {"field": "west", "type": "quantitative", "scale": {"zero": False}, "axis": {"title": "Longitude"}},
        "x2": {"field": "east"},
        "y": {"field": "south", "type": "quantitative", "scale": {"zero": False}, "axis": {"title": "Latitude"}},
        "y2": {"field": "north"},
    }
    return framed(rows, [mark("rect", encoding, color=MUTED, fillOpacity=0.25, stroke=INK, strokeWidth=0.6)],
                  width=WIDTH, height=height)  # fmt: skip
