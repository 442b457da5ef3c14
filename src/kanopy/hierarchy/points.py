"""Points on the globe from what columns hold: decimal degrees, WKT, degrees and minutes; and what is wrong with them.

A point is a text of latitude and longitude (`52.52, 13.405`), a WKT point (`POINT (13.405 52.52)`, longitude first), or
degrees, minutes and seconds with hemispheres (`52°31'12"N 13°24'18"E`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kanopy._arrays import Floats
from kanopy._errors import HierarchyError, some
from kanopy._mixins import ReprMixin

ORDERS = ("lat lon", "lon lat")
NULL_ISLAND, UNREADABLE, OUTSIDE = "null island (0, 0)", "unreadable", "outside the globe"
_NUMBER = r"[+-]?\d+(?:[.,]\d+)?(?:[eE][+-]?\d+)?"
_PAIR = re.compile(rf"[\[(]?\s*({_NUMBER})\s*(?:[;,|]|\s)\s*({_NUMBER})\s*[\])]?")
_WKT = re.compile(
    rf"(?:SRID=\d+;)?\s*POINT\s*(?:Z|M|ZM)?\s*\(\s*({_NUMBER})\s+({_NUMBER})(?:\s+{_NUMBER})*\s*\)", re.IGNORECASE
)
_DEGREES = (
    r"(\d{1,3}(?:[.,]\d+)?)\s*(?:°|º|deg|d)?\s*(?:(\d{1,2}(?:[.,]\d+)?)\s*(?:'|′|’|min|m))?\s*"
    r"(?:(\d{1,2}(?:[.,]\d+)?)\s*(?:\"|″|”|''|sec|s))?"
)
_BEFORE = re.compile(rf"([NSEWO])\s*{_DEGREES}", re.IGNORECASE)
_AFTER = re.compile(rf"{_DEGREES}\s*([NSEWO])", re.IGNORECASE)
SIGNS = {"N": 1, "S": -1, "E": 1, "O": 1, "W": -1}


@dataclass(frozen=True, eq=False)
class Points(ReprMixin):
    """Latitude and longitude per value (NaN where there is none), and why some have none."""

    latitude: Floats
    longitude: Floats
    problems: dict[str, list[str]]

    @property
    def known(self) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        """Which values are points."""
        return ~np.isnan(self.latitude)

    def notes(self) -> list[str]:
        """What was done with values that are no points."""
        return [
            f"{len(values):,} values are not a place ({problem}): {some(values)}. They share a label."
            for problem, values in self.problems.items()
        ]


def read_points(texts: Sequence[str], *, order: str = "lat lon", where: str = "The column") -> Points:
    """The points of a column; swapped coordinates are an error that says so, single odd values are listed.

    >>> points = read_points(["52.52, 13.405", "POINT (2.35 48.86)", "0, 0", "nowhere"])
    >>> points.latitude.tolist(), sorted(points.problems)
    ([52.52, 48.86, nan, nan], ['null island (0, 0)', 'unreadable'])
    """
    if order not in ORDERS:
        raise HierarchyError(f"The order of coordinates is 'lat lon' or 'lon lat', not {order!r}.")
    pairs = [_read(text, order == "lon lat") for text in texts]
    latitude = np.array([np.nan if pair is None else pair[0] for pair in pairs], np.float64)
    longitude = np.array([np.nan if pair is None else pair[1] for pair in pairs], np.float64)
    problems: dict[str, list[str]] = {}
    unread = [text for text, pair in zip(texts, pairs, strict=True) if pair is None]
    if len(unread) == len(texts):
        raise HierarchyError(
            f"{where} contains no points: {some(unread)}. A point is latitude and longitude in degrees (52.52, "
            "13.405), a WKT point, or degrees with minutes and seconds."
        )
    with np.errstate(invalid="ignore"):
        outside = (np.abs(latitude) > 90) | (np.abs(longitude) > 180)
        inside_if_swapped = (np.abs(longitude) <= 90) & (np.abs(latitude) <= 180)
    read = int((~np.isnan(latitude)).sum())
    if outside.sum() * 2 > read and (inside_if_swapped | np.isnan(latitude)).all():
        outside_texts = [text for text, wrong in zip(texts, outside.tolist(), strict=True) if wrong]
        other = "lon lat" if order == "lat lon" else "lat lon"
        raise HierarchyError(
            f"{where}: latitude and longitude look swapped: {some(outside_texts)} lie outside the globe as {order}. "
            f"Say "
            f'order = "{other}", or exchange the columns.'
        )
    nowhere = (latitude == 0) & (longitude == 0)
    for problem, rows in ((OUTSIDE, outside), (NULL_ISLAND, nowhere)):
        if rows.any():
            problems[problem] = [text for text, wrong in zip(texts, rows.tolist(), strict=True) if wrong]
            latitude, longitude = (np.where(rows, np.nan, side) for side in (latitude, longitude))
    if unread:
        problems[UNREADABLE] = unread
    if np.isnan(latitude).all():
        raise HierarchyError(
            f"{where} contains no points on the globe: {some(texts)}. Latitudes lie between -90 and 90, longitudes "
            "between -180 and 180."
        )
    return Points(latitude, longitude, problems)


def _read(text: str, longitude_first: bool) -> tuple[float, float] | None:
    """Latitude and longitude of one text."""
    text = text.strip()
    if (wkt := _WKT.fullmatch(text)) is not None:
        return float(wkt[2]), float(wkt[1])
    if (pair := _PAIR.fullmatch(text)) is not None:
        first, second = (float(group.replace(",", ".")) for group in pair.groups())
        return (second, first) if longitude_first else (first, second)
    return _with_hemispheres(text)


def _with_hemispheres(text: str) -> tuple[float, float] | None:
    """Degrees, minutes and seconds with the letters of the hemispheres."""
    # Between the parts there may be a comma: decimal ones have digits on both sides.
    cleaned = re.sub(r"[;,/](?!\d)|(?<!\d)[;,/]", " ", text).strip()
    coordinates: dict[str, float] = {}
    at = 0
    while at < len(cleaned):
        before = _BEFORE.match(cleaned, at)
        match = before or _AFTER.match(cleaned, at)
        if match is None:
            return None
        letter, *numbers = match.groups() if before else (match[4], *match.groups()[:3])
        degrees, minutes, seconds = (float((number or "0").replace(",", ".")) for number in numbers)
        if minutes >= 60 or seconds >= 60:
            return None
        sign = SIGNS[letter.upper()]
        coordinates["lat" if letter.upper() in "NS" else "lon"] = sign * (degrees + minutes / 60 + seconds / 3600)
        at = match.end()
        while at < len(cleaned) and cleaned[at].isspace():
            at += 1
    return (coordinates["lat"], coordinates["lon"]) if len(coordinates) == 2 else None


def point_text(latitude: float, longitude: float) -> str:
    """A point as text, in the digits the numbers have.

    >>> point_text(52.52, -0.0)
    '52.52, 0.0'
    """
    return f"{float(latitude) + 0.0!r}, {float(longitude) + 0.0!r}"


def bounds_label(south: float, north: float, west: float, east: float) -> str:
    """The bounds of a cell as people read them.

    >>> bounds_label(52.4, 52.6, 13.0, 13.5), bounds_label(-10, 10, -5, 0)
    ('52.4–52.6 N, 13–13.5 E', '10 S – 10 N, 5–0 W')
    """
    return f"{_side(south, north, 'N', 'S')}, {_side(west, east, 'E', 'W')}"


def _side(low: float, high: float, plus: str, minus: str) -> str:
    if low >= 0:
        return f"{short_number(low)}–{short_number(high)} {plus}"
    if high <= 0:
        return f"{short_number(-low)}–{short_number(-high)} {minus}"
    return f"{short_number(-low)} {minus} – {short_number(high)} {plus}"


def short_number(value: float) -> str:
    """A number of degrees without trailing zeros."""
    text = f"{round(value, 9):.9f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text
