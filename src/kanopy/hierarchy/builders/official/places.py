"""Hierarchies over points: cells of a fixed grid, of H3 or geohash, and a quadtree fitted to the data.

Labels are the bounds of a cell (`52.4–52.6 N, 13–13.5 E`) and hold for every point in it: borders belong to the cell
north and east of them, and both sides are written down.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import numpy as np

from kanopy._arrays import SUPPRESSED_LABEL, Floats, Ints, Longs
from kanopy._errors import MissingDependency
from kanopy._mixins import HtmlReprMixin
from kanopy._parameter_types import Integer, ListOf, Number, OneOf
from kanopy.hierarchy.builders.base import Builder
from kanopy.hierarchy.builders.official.classified import joining
from kanopy.hierarchy.column import Column
from kanopy.hierarchy.construct import parents_of_table
from kanopy.hierarchy.hierarchy import Hierarchy
from kanopy.hierarchy.points import ORDERS, Points, bounds_label, read_points

NO_PLACE = "no place"
SIZES = (0.01, 0.05, 0.1, 0.5, 1.0, 5.0, 10.0)
"""Degrees: 0.01 are 1.1 km from south to north. Each size divides the next."""
SYSTEMS = ("degrees", "h3", "geohash")
STEPS = (10.0, 5.0, 2.0, 1.0)
"""A cut of the quadtree is a multiple of one of these times a power of ten: the roundest near the middle is taken."""
LEAST_SHARE = 0.25
"""So much of a cell's people must lie on the smaller side of a round cut, or a finer one is looked for."""
DEEPEST = 60


@dataclass(frozen=True)
class Placed(HtmlReprMixin):
    """A hierarchy of places with what could not be placed."""

    hierarchy: Hierarchy
    points: Points
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class PointBuilder(Builder):
    """What builders over points share: how points are read, and the label of what has no place."""

    fits: ClassVar[frozenset[str]] = frozenset({"text"})
    examples: ClassVar[Mapping[str, list[Any]]] = {
        "text": [f"{48 + i % 4}.{i % 3}1, {2 + i % 5}.{i % 7}2" for i in range(12)]
    }
    order: Annotated[str, OneOf(*ORDERS), "the order of coordinates in a pair"] = "lat lon"

    def build_column(self, column: Column) -> Hierarchy:
        """The hierarchy alone; `place_column` also says what could not be placed."""
        return self.place_column(column).hierarchy

    def place_column(self, column: Column) -> Placed:
        """The hierarchy with notes."""
        values = list(column.labels())
        points = read_points(values, order=self.order, where=column.where)
        rows, labels = self._levels(points, column.holders)
        return Placed(_of_levels(values, points, rows, labels, column.name), points, tuple(points.notes()))

    def _levels(self, points: Points, people: Longs) -> tuple[Ints, Callable[[int], str]]:
        """Per level the cell of each value, and the label of a cell; values without a place do not count."""
        raise NotImplementedError


def _of_levels(values: Sequence[str], points: Points, rows: Ints, label: Callable[[int], str], name: str) -> Hierarchy:
    """A hierarchy of the levels that join points; what has no place shares a label."""
    is_known = points.known
    rows = np.where(is_known[None, :], rows, -1).astype(np.int32)
    rows = joining(rows, len(values))
    codes = np.empty((len(rows) + 2, len(values)), np.int32)
    codes[0] = np.arange(len(values))
    labels = list(values)
    for level, row in enumerate(rows, 1):
        cells, dense = np.unique(row, return_inverse=True)
        codes[level] = len(labels) + dense.reshape(-1)
        labels += [NO_PLACE if cell < 0 else label(cell) for cell in cells.tolist()]
    codes[-1] = len(labels)
    labels.append(SUPPRESSED_LABEL)
    parent, broken = parents_of_table(codes, len(labels))
    assert broken is None, "cells lie in cells"
    return Hierarchy(len(values), labels, parent, name=name, table=codes)


@dataclass(frozen=True)
class Cells(PointBuilder):
    """Cells of a fixed grid at several sizes: the same bounds for every table.

    `system` is `degrees` (squares of `sizes` degrees), `h3` (hexagons of the library h3, `resolutions` from fine to
    coarse) or `geohash` (of the library pygeohash, so many characters).

    >>> h = Cells(sizes=(0.1, 1)).build(["52.52, 13.41", "52.51, 13.45", "52.1, 13.9", "48.86, 2.35"])
    >>> h.labels_at(1)
    ('48.8–48.9 N, 2.3–2.4 E', '52.1–52.2 N, 13.9–14 E', '52.5–52.6 N, 13.4–13.5 E')
    """

    method: ClassVar[str] = "cells"
    summary: ClassVar[str] = "points on the globe: cells of a fixed grid, H3 or geohash"
    sizes: Annotated[tuple[float, ...], ListOf(Number(above=0), 1), "degrees per side; each must divide the next"] = (
        SIZES
    )
    system: Annotated[str, OneOf(*SYSTEMS), "the system of cells: degrees, h3 or geohash"] = "degrees"
    resolutions: Annotated[tuple[int, ...], ListOf(Integer(0)), "for h3 and geohash, from fine to coarse"] = ()

    def contradictions(self) -> Iterable[str]:
        ratios = np.array(self.sizes[1:]) / np.array(self.sizes[:-1]) if len(self.sizes) > 1 else np.array([2.0])
        if (ratios <= 1).any() or (np.abs(ratios - np.round(ratios)) > 1e-6).any():
            yield f"sizes must grow, and each must divide the next, for example (0.1, 1, 10); {self.sizes} do not."
        if self.resolutions and self.system == "degrees":
            yield 'resolutions are for system = "h3" or "geohash"; degrees have sizes.'
        if list(self.resolutions) != sorted(set(self.resolutions), reverse=True):
            yield f"resolutions go from fine to coarse, for example (8, 6, 4); {self.resolutions} do not."

    def _levels(self, points: Points, people: Longs) -> tuple[Ints, Callable[[int], str]]:
        if self.system != "degrees":
            return self._library(points)
        is_known = points.known
        keys: dict[tuple[int, int, int], int] = {}
        rows = np.full((len(self.sizes), len(is_known)), -1, np.int32)
        for level, size in enumerate(self.sizes):
            # Through the finest cell, so that cells lie in cells whatever the floats do at a border.
            per = round(size / self.sizes[0])
            north = np.floor(np.round(points.latitude[is_known] / self.sizes[0], 9)).astype(np.int64) // per
            east = np.floor(np.round(points.longitude[is_known] / self.sizes[0], 9)).astype(np.int64) // per
            cells = [(level, a, b) for a, b in zip(north.tolist(), east.tolist(), strict=True)]
            rows[level, is_known] = [keys.setdefault(cell, len(keys)) for cell in cells]
        spelled = list(keys)

        def label(at: int) -> str:
            level, north, east = spelled[at]
            size = self.sizes[level]
            # Nothing lies beyond the poles and the antimeridian.
            south, west = max(north * size, -90.0), max(east * size, -180.0)
            return bounds_label(south, min((north + 1) * size, 90.0), west, min((east + 1) * size, 180.0))

        return rows, label

    def _library(self, points: Points) -> tuple[Ints, Callable[[int], str]]:
        """Cells of a library; their names are labels, with the centre of each."""
        encode, centre = _h3() if self.system == "h3" else _geohash()
        levels = self.resolutions or ((8, 7, 6, 5, 4, 3, 2) if self.system == "h3" else (7, 6, 5, 4, 3, 2))
        keys: dict[str, int] = {}
        known_points = np.flatnonzero(points.known)
        rows = np.full((len(levels), len(points.known)), -1, np.int32)
        finest = [encode(float(points.latitude[at]), float(points.longitude[at]), levels[0], "") for at in known_points]
        for row, level in enumerate(levels):
            # A coarser cell is that of the finer cell, not of the point: otherwise hexagons would not nest.
            cells = [encode(0.0, 0.0, level, cell) for cell in finest] if row else finest
            rows[row, known_points] = [keys.setdefault(cell, len(keys)) for cell in cells]
        spelled = list(keys)

        def label(at: int) -> str:
            latitude, longitude = centre(spelled[at])
            return f"{self.system} {spelled[at]} (centre {latitude:.3f}, {longitude:.3f})"

        return rows, label


Encode = Callable[[float, float, int, str], str]
Centre = Callable[[str], tuple[float, float]]


def _h3() -> tuple[Encode, Centre]:
    try:
        import h3
    except ImportError:
        raise MissingDependency("H3 cells need the library h3. Install it: pip install kanopy[places]") from None

    def encode(latitude: float, longitude: float, level: int, finer: str) -> str:
        return str(h3.cell_to_parent(finer, level) if finer else h3.latlng_to_cell(latitude, longitude, level))

    return encode, h3.cell_to_latlng


def _geohash() -> tuple[Encode, Centre]:
    try:
        import pygeohash
    except ImportError:
        raise MissingDependency("Geohash needs the library pygeohash. Install it: pip install kanopy[places]") from None

    def encode(latitude: float, longitude: float, level: int, finer: str) -> str:
        return finer[:level] if finer else str(pygeohash.encode(latitude, longitude, precision=level))

    def centre(cell: str) -> tuple[float, float]:
        decoded: Any = pygeohash.decode(cell)
        return float(decoded[0]), float(decoded[1])

    return encode, centre


@dataclass(frozen=True)
class Quadtree(PointBuilder):
    """A quadtree fitted to the data: cells are cut at round degrees while each part keeps at least `k` people.

    Every level cuts a cell once from west to east and once from south to north, so into at most four. People are
    counted where the job names a unit, otherwise rows. Points without a place share a label.

    >>> h = Quadtree(k=2).build(["52.5, 13.4"] * 2 + ["52.6, 13.5"] * 2 + ["48.9, 2.3"] * 3 + ["48.1, 11.6"] * 2)
    >>> h.labels_at(1)
    ('48–53 N, 0–10 E', '48–50 N, 10–15 E', '50–53 N, 10–15 E')
    """

    method: ClassVar[str] = "quadtree"
    summary: ClassVar[str] = "points on the globe: cells fitted to the data, of at least k people each"
    k_of_job: ClassVar[bool] = True
    k: Annotated[int, Integer(1), "the least number of people in a cell"] = 5
    levels: Annotated[int, Integer(2), "the largest number of levels, including values and top"] = 8

    def place_column(self, column: Column) -> Placed:
        placed = super().place_column(column)
        h = placed.hierarchy
        return Placed(h.with_levels(self.levels), placed.points, placed.notes) if h.height >= self.levels else placed

    def _levels(self, points: Points, people: Longs) -> tuple[Ints, Callable[[int], str]]:
        known_points = np.flatnonzero(points.known)
        latitude, longitude = points.latitude[known_points], points.longitude[known_points]
        held = people[known_points].astype(np.int64)
        boxes = [(*_outer(latitude, -90.0, 90.0), *_outer(longitude, -180.0, 180.0))]
        level = [np.zeros(len(known_points), np.int32)]
        open_cells = {0: np.arange(len(known_points))}
        while open_cells and len(level) < DEEPEST:
            row = level[-1].copy()
            opened: dict[int, Longs] = {}
            for cell, members in open_cells.items():
                parts = _quarters(boxes[cell], members, latitude, longitude, held, self.k)
                if len(parts) < 2:
                    continue
                for box, members_of_box in parts:
                    row[members_of_box] = len(boxes)
                    opened[len(boxes)] = members_of_box
                    boxes.append(box)
            if not opened:
                break
            level.append(row)
            open_cells = opened
        rows = np.full((len(level), len(points.known)), -1, np.int32)
        rows[:, known_points] = np.array(level[::-1], np.int32)
        return rows, lambda at: bounds_label(*boxes[at])


Box = tuple[float, float, float, float]


def _outer(values: Floats, least: float, most: float) -> tuple[float, float]:
    """Round bounds around all values: nobody's own coordinate is a bound."""
    extent = float(values.max() - values.min())
    step = 10.0 ** np.floor(np.log10(extent)) / 2 if extent > 0 else 0.01
    step = max(min(step, 10.0), 1e-6)
    low, high = np.floor(values.min() / step) * step, (np.floor(values.max() / step) + 1) * step
    return max(float(round(low, 9)), least), min(float(round(high, 9)), most)


def _quarters(
    box: Box, members: Longs, latitude: Floats, longitude: Floats, held: Longs, k: int
) -> list[tuple[Box, Longs]]:
    """A cell cut once across its longer side and each half across the other one, where k people remain in each."""
    south, north, west, east = box
    wide = (east - west) * max(np.cos(np.radians((south + north) / 2)), 0.01)
    axes = (longitude, latitude) if wide >= north - south else (latitude, longitude)
    first = _halves(box, members, axes[0], axes[0] is longitude, held, k)
    if len(first) < 2:
        return _halves(box, members, axes[1], axes[1] is longitude, held, k)
    return [quarter for half in first for quarter in _halves(half[0], half[1], axes[1], axes[1] is longitude, held, k)]


def _halves(box: Box, members: Longs, values: Floats, across: bool, held: Longs, k: int) -> list[tuple[Box, Longs]]:
    """A cell in two at a round coordinate, or whole if one part would hold fewer than k people."""
    south, north, west, east = box
    low, high = (west, east) if across else (south, north)
    coordinates = values[members]
    cut = _round_cut(coordinates, held[members], low, high, k)
    if cut is None:
        return [(box, members)]
    below = coordinates < cut
    boxes: tuple[Box, Box] = (
        ((south, north, west, cut), (south, north, cut, east))
        if across
        else ((south, cut, west, east), (cut, north, west, east))
    )
    return [(boxes[0], members[below]), (boxes[1], members[~below])]


def _round_cut(coordinates: Floats, held: Longs, low: float, high: float, k: int) -> float | None:
    """The roundest coordinate that leaves k people, and a fair share of them, on either side; `None` if there is none.

    Coordinates of ever finer steps are tried; among those of one step the one nearest the middle of the people wins.
    """
    total = int(held.sum())
    if total < 2 * k:
        return None
    order = np.argsort(coordinates, kind="stable")
    ascending, below = coordinates[order], np.cumsum(held[order])
    extent = high - low
    largest = 10.0 ** np.ceil(np.log10(max(extent, 1e-9)))
    fallback: float | None = None
    for power in range(10):
        for step in (largest * fraction / 10.0 ** (power + 1) for fraction in STEPS):
            if step < 1e-7 or step > extent:
                continue
            cuts = np.arange(np.floor(low / step) + 1, np.ceil(high / step)) * step
            cuts = np.round(cuts[(cuts > low) & (cuts < high)], 9)
            if not len(cuts):
                continue
            if len(cuts) > 4096:
                return fallback
            at = np.searchsorted(ascending, cuts, side="left")
            smaller = np.where(at > 0, below[np.maximum(at - 1, 0)], 0)
            least = np.minimum(smaller, total - smaller)
            best = int(np.argmax(least))
            if least[best] >= max(k, LEAST_SHARE * total):
                return float(cuts[best])
            if least[best] >= k and fallback is None:
                fallback = float(cuts[best])
    return fallback
