"""Dates and times: month, quarter, year, decade and other granularities."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np

from kanopy._arrays import SUPPRESSED_LABEL
from kanopy._errors import HierarchyError, collected, near_miss, some
from kanopy._parameter_types import ListOf, Optional, Text
from kanopy.hierarchy.builders.base import Builder
from kanopy.hierarchy.column import Column, column_of_moments
from kanopy.hierarchy.construct import parents_of_table
from kanopy.hierarchy.hierarchy import Hierarchy
from kanopy.hierarchy.timestamps import EPOCH, MICROSECOND

GRANULARITIES = ("minute", "hour", "day", "week", "month", "quarter", "year", "iso_year", "decade", "century")
_CALENDAR = {
    "day": (1, "day"),
    "month": (1, "month"),
    "quarter": (3, "month"),
    "year": (1, "year"),
    "decade": (10, "year"),
    "century": (100, "year"),
}
"""Granularities that are so many units of the calendar."""
_HOLDING = {
    "month": ("month", "quarter", "year", "decade", "century"),
    "quarter": ("quarter", "year", "decade", "century"),
    "week": ("week", "iso_year"),
}
"""In which granularities a value lies as a whole that is more than a day."""
_MULTIPLE = re.compile(r"(\d+) ?(day|month|year)s?")
Span = tuple[str, dt.datetime, dt.datetime]
"""A label, the moment a period begins, and the moment the next one begins."""


@dataclass(frozen=True)
class Dates(Builder):
    """Generalize dates by calendar periods, finest first.

    `granularities` are names (minute, hour, day, week, month, quarter, year, iso_year, decade, century), multiples
    ("10 days", "2 months", "5 years") or formats with `%` ("%B" for the name of the month, whatever the year).
    Periods must nest: ISO weeks nest in ISO years but neither in months nor in calendar years. Values that are months,
    quarters or weeks (2024-03, 2024-Q1, 2024-W09) are put into longer periods only. `format` reads dates from text that
    is not written in a usual way.

    >>> Dates().build([dt.date(2024, 2, 29), dt.date(2024, 3, 1)]).generalize("2024-02-29", 1)
    '2024-02'
    >>> Dates(("week", "iso_year")).build(["2021-01-01", "2021-01-04"]).labels_at(1)
    ('2020-W53', '2021-W01')
    >>> Dates().build(["2024-02", "2024-05"]).labels_at(1), Dates().build(["2020-W53", "2021-W01"]).labels_at(1)
    (('2024-Q1', '2024-Q2'), ('ISO 2020', 'ISO 2021'))
    """

    method: ClassVar[str] = "dates"
    summary: ClassVar[str] = "calendar periods: month, quarter, year, decade"
    fits: ClassVar[frozenset[str]] = frozenset({"date", "datetime"})
    granularities: Annotated[
        tuple[str, ...], ListOf(Text(), 1), "periods from short to long: day, week, month, 5 years, %Y-%m, …"
    ] = ("month", "quarter", "year", "decade")
    format: Annotated[str | None, Optional(Text()), "the format of the dates, such as %d/%m/%Y"] = None

    def contradictions(self) -> Iterable[str]:
        mistakes: list[str] = []
        for granularity in self.granularities:
            with collected(mistakes):
                period(granularity, dt.datetime(2000, 1, 1))
        return mistakes

    def build_column(self, column: Column) -> Hierarchy:
        column = self.dates(column)
        assert column.positions is not None
        moments = [_moment(column, int(position)) for position in column.positions]
        size = column.size
        table = [np.arange(size, dtype=np.int32)]
        labels = list(column.labels())
        unit = dt.timedelta(days=1) if column.kind == "date" else MICROSECOND
        starts, lasts = list(moments), list(moments)
        if column.period:
            lasts = [period(column.period, moment)[2] - unit for moment in moments]
        granularities = self._holding(column)
        for granularity in granularities:
            index: dict[str, int] = {}
            codes = []
            for moment in moments:
                label, start, stop = period(granularity, moment)
                if label not in index:
                    index[label] = len(labels)
                    labels.append(label)
                    starts.append(start)
                    lasts.append(stop if stop == dt.datetime.max else stop - unit)
                codes.append(index[label])
            table.append(np.array(codes, np.int32))
        table.append(np.full(size, len(labels), np.int32))
        labels.append(SUPPRESSED_LABEL)
        starts.append(min(starts))
        lasts.append(max(lasts))
        codes_table = np.array(table, np.int32)
        parent, broken = parents_of_table(codes_table, len(labels))
        if broken:
            level, nodes = broken
            upper = granularities[level] if level < len(granularities) else "the top"
            raise HierarchyError(
                f"The periods do not nest: {some(labels[node] for node in nodes)} at level {level} lie in more than "
                f"one {upper}. Leave one of the two granularities out (weeks nest in iso_year only)."
            )
        low = np.array([_position(column, start) for start in starts], np.int64)
        high = np.array([_position(column, last) for last in lasts], np.int64)
        cyclic = any("%" in granularity for granularity in self.granularities)
        return Hierarchy(
            size,
            labels,
            parent,
            name=column.name,
            table=codes_table,
            low=None if cyclic else low,
            high=None if cyclic else high,
        )

    def _holding(self, column: Column) -> tuple[str, ...]:
        """The granularities that hold what a value of the column stands for."""
        if not column.period:
            return self.granularities
        longer = _HOLDING[column.period][1:]
        if self.granularities == type(self).granularities:
            return tuple(granularity for granularity in longer if granularity in self.granularities) or longer
        years = re.compile(r"\d+ ?years?" if column.period != "week" else "")
        short = [g for g in self.granularities if g not in _HOLDING[column.period] and not years.fullmatch(g)]
        if short:
            raise HierarchyError(
                f"{column.where} holds {column.period}s, such as {column.labels()[0]}, and not each lies in one of "
                f"{some(short)}. Choose from {', '.join(_HOLDING[column.period])}."
            )
        return self.granularities

    def dates(self, column: Column) -> Column:
        """The column as dates: as it is, or read from text."""
        if column.kind in ("date", "datetime"):
            return column
        if self.format is None:
            as_dates = column.inferred()
            if as_dates.kind in ("date", "datetime"):
                return as_dates
        labels, counts = column.labels(), column.counts.tolist()
        dates = [parse_date(label, self.format) for label in labels]
        wrong = [label for label, date in zip(labels, dates, strict=True) if date is None]
        if wrong:
            raise HierarchyError(
                f"{column.where} contains texts that are not dates: {some(wrong)}. Declare them missing, or state "
                "the format of the dates, for example format='%d.%m.%Y'."
            )
        return column_of_moments("date", zip(dates, labels, counts, strict=True), column.name)


FEW_DAYS, ONE_SEASON = 4, 93
"""Moments within so many days are put into hours; those within so many into weeks, of which months hold too many."""


def periods_of(days: Sequence[dt.date]) -> tuple[str, ...]:
    """The periods that part moments on these days: months and longer ones, weeks within one season, days if each has
    several.

    >>> periods_of([dt.date(2024, 1, 3), dt.date(2024, 2, 9)])
    ('week', 'iso_year')
    >>> periods_of([dt.date(2020, 1, 3)] * 2 + [dt.date(2024, 2, 9)] * 2)
    ('day', 'month', 'quarter', 'year', 'decade')
    """
    several = 2 * len(set(days)) <= len(days)
    extent = (max(days) - min(days)).days
    if several and extent < FEW_DAYS:
        return ("hour", "day")
    periods = ("week", "iso_year") if extent < ONE_SEASON else Dates.granularities
    return ("day", *periods) if several else periods


def parse_date(text: str, written: str | None = None) -> dt.date | None:
    """A date from text, or `None`.

    >>> parse_date("2024-02-29"), parse_date("29.2.2024", "%d.%m.%Y"), parse_date("soon")
    (datetime.date(2024, 2, 29), datetime.date(2024, 2, 29), None)
    """
    try:
        if written is not None:
            return dt.datetime.strptime(text.strip(), written).date()
        return dt.date.fromisoformat(text.strip())
    except ValueError:
        return None


def _moment(column: Column, position: int) -> dt.datetime:
    if column.kind == "date":
        return dt.datetime.combine(dt.date.fromordinal(position), dt.time())
    return EPOCH + position * MICROSECOND


def _position(column: Column, moment: dt.datetime) -> int:
    return moment.toordinal() if column.kind == "date" else (moment - EPOCH) // MICROSECOND


def period(granularity: str, moment: dt.datetime) -> Span:
    """The period of a moment: its label, its first moment, and the first moment after it.

    >>> period("quarter", dt.datetime(2024, 5, 17))[0]
    '2024-Q2'
    """
    day = moment.replace(hour=0, minute=0, second=0, microsecond=0)
    if "%" in granularity:
        return moment.strftime(granularity), day, _later(day, days=1)
    if match := _MULTIPLE.fullmatch(granularity):
        return _multiple(int(match[1]), match[2], day)
    if granularity in ("minute", "hour"):
        start = moment.replace(minute=moment.minute if granularity == "minute" else 0, second=0, microsecond=0)
        units = f"{granularity}s"
        return start.isoformat(timespec=units), start, _later(start, **{units: 1})
    if granularity == "week":
        start = day - dt.timedelta(days=day.weekday())
        year, week, _ = day.isocalendar()
        return f"{year:04}-W{week:02}", start, _later(start, days=7)
    if granularity == "iso_year":
        year = day.isocalendar().year
        begin = dt.datetime.fromisocalendar(year, 1, 1)
        end = dt.datetime.fromisocalendar(year + 1, 1, 1) if year < dt.MAXYEAR else dt.datetime.max
        return f"ISO {year:04}", begin, end
    if granularity not in _CALENDAR:
        raise HierarchyError(
            f"There is no granularity {granularity!r}. {near_miss(granularity, GRANULARITIES)} Multiples such as "
            "'5 years' and formats such as '%B' work too."
        )
    label, start, stop = _multiple(*_CALENDAR[granularity], day)
    if granularity == "quarter":
        label = f"{day.year:04}-Q{(day.month + 2) // 3}"
    elif granularity == "decade":
        label = f"{day.year // 10 * 10}s"
    return label, start, stop


def _multiple(number: int, unit: str, day: dt.datetime) -> Span:
    """Periods of several days, months or years, counted from year 0 (days: from 0001-01-01)."""
    if number < 1:
        raise HierarchyError(f"A period needs at least one {unit}.")
    one = dt.timedelta(days=1)
    if unit == "day":
        start = dt.datetime.combine(dt.date.fromordinal((day.toordinal() - 1) // number * number + 1), dt.time())
        stop = _later(start, days=number)
        last = stop if stop == dt.datetime.max else stop - one
        label = f"{start.date()}–{last.date()}" if number > 1 else f"{start.date()}"
        return label, start, stop
    if unit == "month":
        index = (day.year * 12 + day.month - 1) // number * number
        start, stop = _month(index), _month(index + number)
        label = f"{start.year:04}-{start.month:02}" + (f"–{stop - one:%Y-%m}" if number > 1 else "")
        return label, start, stop
    year = day.year // number * number
    label = f"{year:04}" + (f"–{year + number - 1:04}" if number > 1 else "")
    return label, _month(year * 12), _month((year + number) * 12)


def _later(start: dt.datetime, **span: int) -> dt.datetime:
    """A moment so much later; the last one of the calendar where it ends before."""
    try:
        return start + dt.timedelta(**span)
    except OverflowError:
        return dt.datetime.max


def _month(index: int) -> dt.datetime:
    """The first moment of a month, counted from year 0; the calendar's own limits at both ends."""
    if index < 12:
        return dt.datetime.min
    if index >= 12 * dt.MAXYEAR + 12:
        return dt.datetime.max
    return dt.datetime(index // 12, index % 12 + 1, 1)
