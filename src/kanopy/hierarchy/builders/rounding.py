"""Cuts at round numbers that follow the data: fine where people are many, coarse in the tails, open at both ends.

A column is cut at points of a grid that is fixed before anyone looks at the data (steps of 1, 2 and 5 times a power of
ten), so that the end of a published interval is nobody's own value. Which points of the grid are used follows the rows:
each level asks for groups of at least so many, and takes the cuts that lose least.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal, InvalidOperation
from functools import cached_property
from typing import Annotated, Any, ClassVar

import numpy as np
import numpy.typing as npt

from kanopy._arrays import SUPPRESSED_LABEL, Floats, Longs
from kanopy._parameter_types import Flag, Integer, Optional, Text
from kanopy.hierarchy.builders.base import HALF_OPEN, NumericBuilder, label_format
from kanopy.hierarchy.column import Column
from kanopy.hierarchy.construct import bounds_array, parents_of_table
from kanopy.hierarchy.hierarchy import Bounds, Hierarchy

PARTS = 32
FEWEST_POINTS = 6
"""So many round points must lie among the middle nine tenths of the rows, or finer ones are taken."""
STEPS = 24
MOST_MULTIPLES = 100
"""A place where no round point lies is not searched with ever finer steps."""
SECOND = 1_000_000
HOUR = 3600 * SECOND
DAY = 24 * HOUR
_HOURS = tuple(HOUR * hours for hours in (12, 6, 3, 1)) + tuple(60 * SECOND * minutes for minutes in (30, 15, 5, 1))
TIMED = {"time": _HOURS, "duration": (*(DAY * days for days in (3650, 365, 30, 7, 1)), *_HOURS)}
"""Steps of what is counted in microseconds, from long to short."""
_UNIT = re.compile(r"^[^\d.−-]+|[^\d.]+$")
PRICE_OF_A_CUT = 0.03
"""What a cut costs for each step that it is less round, as a share of what a group loses."""


@dataclass(frozen=True, eq=False)
class Scale:
    """The points at which a column may be cut, ascending.

    `first[i]` is the first value at or above a point, `rank[i]` is 0 for the roundest points, and `write(i, j)` is the
    label of what lies from point i to before point j (`None`: everything below, everything above). `points` are the
    numbers at which groups begin; `closed` groups end one before the next point. Where it is `strict`, wide groups end
    at rounder points only.
    """

    column: Column
    first: Longs
    rank: Longs
    points: Bounds
    closed: bool
    write: Callable[[int | None, int | None], str]
    strict: bool = True

    @cached_property
    def rows(self) -> Longs:
        """Rows between neighbouring points."""
        return self._between(np.append(0, np.cumsum(self.column.counts)))

    @cached_property
    def values(self) -> Longs:
        """Different values between neighbouring points."""
        return self._between(np.arange(self.column.size + 1))

    @cached_property
    def running(self) -> tuple[Floats, Floats]:
        """Rows and values below each point, with 0 before and all after them."""
        rows, values = (np.append(0, np.cumsum(counts)).astype(np.float64) for counts in (self.rows, self.values))
        return rows, values

    @cached_property
    def readable(self) -> npt.NDArray[np.bool_]:
        """Which groups read well, from the cell a to before the cell b (see `step_of`); all in one always does.

        Where a group is open, it counts as reaching as far as the values do, and only its other end must be round.
        """
        numbers, points = self.column.numbers, np.asarray(self.points, np.float64)
        assert numbers is not None
        readable = np.ones((len(points) + 2, len(points) + 2), np.bool_)
        if not self.strict or self.column.kind in TIMED or not len(points):
            return readable
        low, high = np.append(numbers[0], points)[:, None], np.append(points, numbers[-1])[None, :]
        step = step_of(low, high, self.column.kind == "integer")
        begins, stops = (np.abs(end / step - np.round(end / step)) < 1e-6 for end in (low, high))
        begins[0], stops[:, -1] = True, True
        readable[:-1, 1:] = (begins & stops) | (high <= low)
        readable[0, -1] = True
        return readable

    def _between(self, before: Longs) -> Longs:
        return np.asarray(np.diff(before[np.concatenate([[0], self.first, [self.column.size]])]), np.int64)

    def hierarchy(self, levels: Sequence[Longs]) -> Hierarchy:
        """The values, groups between the points of each level (numbers of points, ever fewer), and `*` above."""
        column = self.column
        assert column.numbers is not None
        size = column.size
        codes = [np.arange(size, dtype=np.int32)]
        starts = [np.arange(size)]
        stops = [np.arange(size)]
        lows: list[Any] = [column.numbers]
        highs: list[Any] = [column.numbers]
        ends: list[tuple[int | None, int | None]] = []
        nodes = size
        below = [cuts for cuts in levels if len(cuts) + 1 < size]  # a level that joins nothing says nothing new
        for cuts in [*below, np.zeros(0, np.int64)]:
            first = self.first[cuts]
            codes.append((nodes + np.searchsorted(first, np.arange(size), side="right")).astype(np.int32))
            starts.append(np.append(0, first))
            stops.append(np.append(first, size) - 1)
            lows.append(np.append(column.numbers[:1], self.points[cuts]))
            highs.append(np.append(self.points[cuts] - int(self.closed), column.numbers[-1:]))
            edges = [None, *cuts.tolist(), None]
            ends += itertools.pairwise(edges)
            nodes += len(first) + 1
        table = np.array(codes, np.int32)
        parent, broken = parents_of_table(table, nodes)
        assert not broken, "a level keeps some of the cuts of the level below"

        def labels() -> list[str]:
            values = column.labels()
            spans = zip(
                ends, np.concatenate(starts)[size:].tolist(), np.concatenate(stops)[size:].tolist(), strict=True
            )
            return [*values, *(self._label(*pair, values[a] if a == b else None) for pair, a, b in spans)]

        low, high = np.concatenate(lows), np.concatenate(highs)
        return Hierarchy(size, labels, parent, name=column.name, table=table, low=low, high=high)

    def _label(self, start: int | None, stop: int | None, only: str | None) -> str:
        """How a group is called; a whole number that has it for itself keeps its name."""
        if start is None and stop is None:
            return SUPPRESSED_LABEL
        return only if only is not None and self.column.kind == "integer" else self.write(start, stop)

    def nested(self, least: Iterable[int], start: Longs | None = None) -> list[Longs]:
        """Cuts of ever coarser levels, whose groups hold at least so many rows each and lose least.

        The first level takes its cuts from all points, or from those to `start` with.
        """
        level_cuts: list[Longs] = []
        cuts = np.arange(len(self.rank)) if start is None else start
        for number in least:
            edges = np.append(0, cuts + 1)
            rows, values = (np.add.reduceat(cells, edges) for cells in (self.rows, self.values))
            price = PRICE_OF_A_CUT * (number / max(self.column.rows, 1)) ** 2
            edges = np.append(edges, len(self.rank) + 1)
            allowed = self.readable[np.ix_(edges, edges)]
            chosen = divide(
                rows, values, np.asarray(self.rank[cuts] * price, np.float64), least=number, allowed=allowed
            )
            if chosen is None or not len(chosen):
                break
            if len(chosen) < len(cuts) or not level_cuts:
                cuts = cuts[chosen]
                level_cuts.append(cuts)
        return level_cuts

    def levels(self, least: Iterable[int]) -> list[Longs]:
        """Cuts of ever coarser levels (see `nested`): at any points, if no choice of the rounder ones is possible."""
        sizes = list(least)
        return self.nested(sizes) or replace(self, strict=False).nested(sizes)


def divide(
    rows: Longs,
    values: Longs,
    cut: Floats,
    *,
    least: int = 1,
    price: Floats | None = None,
    allowed: npt.NDArray[np.bool_] | None = None,
) -> Longs | None:
    """The cuts between cells that lose least: every group holds `least` rows; `None` if there is no such choice.

    A group loses its rows times its values; `price[a, b]`, if given, is what a group of the cells a to before b costs
    instead (infinite: it may not be), `allowed[a, b]` whether it may be. A cut costs `cut`, as a share of what all
    cells in one group would lose.

    >>> divide(np.array([5, 5, 1, 1]), np.array([1, 1, 1, 1]), np.zeros(3), least=2).tolist()
    [0, 1]
    """
    cells = len(rows)
    row, value = (np.append(0, np.cumsum(counts)).astype(np.float64) for counts in (rows, values))
    whole = row[-1] * value[-1]
    cut = np.append(cut, 0.0) * whole
    best = np.full(cells + 1, np.inf)
    best[0] = 0.0
    before = np.zeros(cells + 1, np.int64)
    for b in range(1, cells + 1):
        held = row[b] - row[:b]
        cost = held * (value[b] - value[:b]) if price is None else price[:b, b]
        may = held >= least if allowed is None else (held >= least) & allowed[:b, b]
        cost = np.where(may, best[:b] + cost, np.inf)
        before[b] = a = int(np.argmin(cost))
        best[b] = cost[a] + cut[b - 1]
    if not math.isfinite(best[-1]):
        return None
    cuts, b = [], cells
    while (b := int(before[b])) > 0:
        cuts.append(b - 1)
    return np.array(cuts[::-1], np.int64)


@dataclass(frozen=True)
class Round(NumericBuilder):
    """Intervals that begin at round numbers (steps of 1, 2 and 5), fine where rows are many, with open ends.

    The grid is refined where more than one in `parts` of the rows lie; the groups of a level hold at least so many
    rows (and at least `k`), twice as many at the next. No end of an interval is taken from the data. Whole numbers up
    to a hundred are written as closed intervals (`20–29`), all others from one round number to before the next. Times
    of the day are cut at parts of the day and hours, durations at years, months, weeks, days and hours.

    >>> h = Round(k=2).build([17, 18, 19, 22, 25, 31, 40, 44, 58, 63, 71, 90])
    >>> h.labels_at(1), h.labels_at(2)
    (('≤ 19', '20–39', '40–49', '50–69', '≥ 70'), ('≤ 49', '≥ 50'))
    >>> Round(k=3).build([0.51, 0.52, 0.58, 1.7, 1.83, 1.99, 2.03, 7.5]).labels_at(1)
    ('< 1.8', '≥ 1.8')
    """

    method: ClassVar[str] = "round"
    summary: ClassVar[str] = "round numbers, fine where rows are many, open ends"
    fits: ClassVar[frozenset[str]] = frozenset({"integer", "decimal", "real", "time", "duration"})
    label: Annotated[str, Text(usable=label_format), "interval, dash, or a text with {low} and {high}"] = "dash"
    k: Annotated[int, Integer(1), "the least rows of a group"] = 5
    parts: Annotated[int, Integer(2), "refine the grid where more than one in this many rows lie"] = PARTS
    thousands: Annotated[bool, Flag(), "write 10,000 instead of 10000"] = False
    multiple: Annotated[int | None, Optional(Integer(1)), "intervals begin only at multiples of this"] = None

    def build_numbers(self, column: Column) -> Hierarchy:
        scale = self.scale(column)
        least = max(self.k, column.rows // (2 * self.parts), 1)
        return scale.hierarchy(scale.levels(least << i for i in range(column.rows.bit_length())))

    def scale(self, column: Column) -> Scale:
        """The round points among the values of a column."""
        column = column.numeric(self.method)
        assert column.numbers is not None
        points, rank = _points(column, self.parts)
        if self.multiple is not None:
            rank = rank[[point % self.multiple == 0 for point in points]]
            points = [point for point in points if point % self.multiple == 0]
        numbers = np.array([float(point) for point in points])
        first = np.searchsorted(column.numbers, numbers)
        order = np.lexsort((rank, first))  # of points without a value between them the roundest stays
        order = order[np.append(True, np.diff(first[order]) > 0)] if len(order) else order
        round_points = [points[i] for i in order]
        closed = column.kind == "integer" and all(abs(point) <= 100 for point in round_points)
        few, timed = column.numbers[column.holders < self.k], column.kind in TIMED
        safe = [
            timed or all(is_round(str(end), end < point) or float(end) not in few for end in (point, point - closed))
            for point in round_points
        ]
        order, round_points = order[safe], list(itertools.compress(round_points, safe))
        write = _writer(column, round_points, closed, self.label, self.thousands)
        begin = bounds_array([int(point) if column.kind == "integer" else float(point) for point in round_points])
        return Scale(column, first[order].astype(np.int64), rank[order], begin, closed, write)


def _points(column: Column, parts: int) -> tuple[list[Decimal], Longs]:
    """Points of the grid above the smallest value, refined where rows are many, and how round each is."""
    assert column.numbers is not None
    numbers, before = column.numbers, np.append(0, np.cumsum(column.counts))
    smallest, largest = float(numbers[0]), float(numbers[-1])
    most = column.rows / parts
    timed = column.kind in TIMED
    steps = _steps(largest - smallest, 10.0**-column.digits if column.kind != "real" else 0.0)
    if timed:
        steps = [Decimal(step) for step in TIMED[column.kind] if step <= largest - smallest]
    middle = [float(numbers[np.searchsorted(before[1:], share * column.rows)]) for share in (0.05, 0.95)]
    readable = 0
    rank_of_point: dict[Decimal, int] = {}
    for rank, step in enumerate(steps):
        points = sorted(rank_of_point)
        first = np.concatenate([[0], np.searchsorted(numbers, [float(x) for x in points]), [column.size]]).astype(int)
        dense = (np.diff(before[first]) > most) & (np.diff(first) > 1)
        if rank and not dense.any():
            break
        edges = [Decimal(smallest), *points, Decimal(largest)]
        fresh = [
            point
            for cell in np.flatnonzero(dense if rank else np.ones(1, np.bool_)).tolist()
            for point in _multiples(step, edges[cell], edges[cell + 1])
            if smallest < float(point) <= largest and point not in rank_of_point
        ]
        round_ones = [point for point in fresh if timed or _significant(point)]
        readable += sum(middle[0] <= point <= middle[1] for point in round_ones)
        if readable >= FEWEST_POINTS:
            fresh = round_ones
        rank_of_point.update((point, rank) for point in fresh)
    points = sorted(rank_of_point)
    return points, np.array([rank_of_point[point] for point in points], np.int64)


def _steps(extent: float, finest: float) -> list[Decimal]:
    """Steps of 1, 2 and 5 times a power of ten, descending: from about the range to the digits of the data."""
    power = math.floor(math.log10(extent)) if extent > 0 else 0
    steps = (Decimal(digit).scaleb(power - down) for down in range(STEPS // 3) for digit in (5, 2, 1))
    return [step for step in steps if float(step) <= extent and float(step) >= finest * 0.999]


def step_of(low: Floats, high: Floats, whole: bool) -> Floats:
    """The step on which both ends of an interval must lie to read well: the wider it is, the rounder they are.

    From 10 to 50 wide ends are multiples of 5, so that all widths from there are usual ones (10, 15, 20, 25, …); from 5
    to 10 wide, too, so that 5 is the only one; and so on by powers of ten. Whole numbers up to 20 may be parted anyhow
    into less than five of them, greater ones by twos.

    >>> step_of(np.array([20.0, 20.0, 24.0, 2.0, 1500.0]), np.array([30.0, 29.0, 26.0, 5.0, 4000.0]), True).tolist()
    [5.0, 5.0, 2.0, 1.0, 500.0]
    """
    width = np.where(high > low, high - low, 1.0)
    power = 10.0 ** np.floor(np.log10(width) + 1e-9)
    step = np.where(width / power > 5 - 1e-6, 5 * power, power / 2)
    if whole:
        short = np.where((width < 1.5) | (np.maximum(np.abs(low), np.abs(high)) <= 20), 1.0, 2.0)
        step = np.where(width < 5 - 1e-6, short, step)
    return np.asarray(step, np.float64)


def _multiples(step: Decimal, low: Decimal, high: Decimal) -> list[Decimal]:
    """The multiples of a step from low to high."""
    start, stop = math.ceil(low / step), math.floor(high / step)
    return [step * i for i in range(start, stop + 1)] if stop - start <= MOST_MULTIPLES else []


def _significant(point: Decimal) -> bool:
    """Whether a number is round to the eye: two digits that count, or three of which the last is 5.

    >>> [_significant(Decimal(text)) for text in ("0", "1200", "0.35", "125", "1230")]
    [True, True, True, True, False]
    """
    digits = point.normalize().as_tuple().digits
    return len(digits) <= 2 or (len(digits) == 3 and digits[-1] == 5)


def is_round(end: str, closes: bool = False) -> bool:
    """Whether the end of an interval is a round number: one that is cut at whatever the data are.

    That is two digits that count, or three of which the last is 5. Of the numbers from 10 to 99 all have two: there the
    last must be 0 or 5, or 4 or 9 where it `closes` an interval before the next.

    >>> [is_round(end) for end in ("20", "29", "1250", "0.35", "17", "1234", "2024-03")]
    [True, False, True, True, False, False, False]
    >>> is_round("29", closes=True), is_round("20 kg"), is_round("€ 1,234")
    (True, True, False)
    """
    try:
        point = Decimal(_UNIT.sub("", end).replace(",", "").replace("−", "-"))
    except InvalidOperation:
        return False
    if point == point.to_integral_value() and 10 <= abs(point) < 100:
        return int(point) % 5 in ((0, 4) if closes else (0,))
    return _significant(point)


def _writer(
    column: Column, points: Sequence[Decimal], closed: bool, label: str, thousands: bool
) -> Callable[[int | None, int | None], str]:
    """How the values from one point to before another are called."""
    written, measure = label_format(label), column.measure

    def plain(point: Decimal) -> str:
        if column.kind in TIMED:
            return column.text(int(point)).removesuffix(":00" if column.kind == "time" else "")
        return f"{point.normalize() + 0:{',' if thousands or measure.thousands else ''}f}"

    def text(point: Decimal) -> str:
        return measure.write(plain(point))

    def write(start: int | None, stop: int | None) -> str:
        if start is None:
            assert stop is not None
            return f"≤ {text(points[stop] - 1)}" if closed else f"< {text(points[stop])}"
        if stop is None:
            return f"≥ {text(points[start])}"
        low, high = points[start], points[stop]
        if not closed:
            return HALF_OPEN.format(low=text(low), high=text(high))
        first = text(low) if measure.before or label != "dash" else plain(low)  # 60–69 kg
        return text(low) if high - low == 1 else written.format(low=first, high=text(high - 1))

    return write
