"""How texts write days, moments, times of the day, months, quarters and weeks.

A month is no day: what stands for a longer period says so, and is only put into periods that hold all of it.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import Any, Literal

EPOCH = dt.datetime(1970, 1, 1)
MICROSECOND = dt.timedelta(microseconds=1)
USUAL_DATES = (
    "%d.%m.%Y", "%d/%m/%Y", "%d-%m-%Y", "%m/%d/%Y", "%m-%d-%Y", "%Y/%m/%d", "%d %b %Y", "%d %B %Y", "%d-%b-%Y",
    "%b %d, %Y", "%B %d, %Y",
)  # fmt: skip
"""How dates are usually written besides 2024-02-29; where a column can be read in two ways, the day comes first."""
USUAL_TIMES = (" %H:%M", " %H:%M:%S", " %I:%M %p", " %I:%M:%S %p", "T%H:%M:%S")
"""How times follow such dates."""
_CLOCKS = ("%H:%M", "%H:%M:%S", "%H:%M:%S.%f", "%I:%M %p", "%I:%M:%S %p", "%I:%M%p", "%I %p")
_MONTHS = ("%Y-%m", "%b %Y", "%B %Y", "%m/%Y", "%Y/%m", "%b-%Y", "%Y %b")
_QUARTER = re.compile(r"(\d{4})[- ]?[Qq]([1-4])|[Qq]([1-4])[- /]?(\d{4})")
_WEEK = re.compile(r"(\d{4})[- ]?W(\d\d)")
_DAY = re.compile(r"\d{4}-\d\d-\d\d")


@dataclass(frozen=True)
class Timestamps:
    """What texts spell: days, moments or times of the day; a `period` begins with each day if that is not all of it."""

    kind: Literal["date", "datetime", "time"]
    moments: Sequence[Any]
    period: str = ""


def read_moments(texts: Sequence[str]) -> Timestamps | None:
    """What texts spell, all in one of the usual ways; `None` if they do not. Two-digit years say no century.

    >>> read_moments(["08:30", "17:05"]).kind, read_moments(["2024-02-29 08:30", "2024-03-01T09:00Z"]).kind
    ('time', 'datetime')
    >>> read_moments(["2024-03"]).period, read_moments(["2024Q1"]).period, read_moments(["2024-W09"]).period
    ('month', 'quarter', 'week')
    >>> read_moments(["29.02.24"]), read_moments(["2024-03", "soon"])
    (None, None)
    """
    if not all(any(letter.isdigit() for letter in text) for text in texts):
        return None  # spares most columns of words all that follows
    if (days := days_of(texts)) is not None:
        return Timestamps("date", days)
    if moments := _all(
        texts, [_iso, *(partial(written_moment, day + time) for day in USUAL_DATES for time in USUAL_TIMES)]
    ):
        return Timestamps("datetime", moments)
    if moments := _all(texts, [partial(written_moment, form) for form in _CLOCKS]):
        return Timestamps("time", [moment.time() for moment in moments])
    for period, readers in (
        ("month", [partial(written_moment, form) for form in _MONTHS]),
        ("quarter", [_quarter]),
        ("week", [_week]),
    ):
        if moments := _all(texts, readers):
            return Timestamps("date", [moment.date() for moment in moments], period)
    return None


def days_of(texts: Sequence[str]) -> list[dt.date] | None:
    """The days that texts spell, all in one of the usual ways of writing dates; `None` if they do not.

    >>> days_of(["29.02.2024", "1.3.2024"]), days_of(["02/29/2024"]), days_of(["29.02.2024", "soon"])
    ([datetime.date(2024, 2, 29), datetime.date(2024, 3, 1)], [datetime.date(2024, 2, 29)], None)
    """
    moments = _all(texts, [_iso_day, *(partial(written_moment, form) for form in USUAL_DATES)])
    return None if moments is None else [moment.date() for moment in moments]


def iso_moment(text: str) -> dt.datetime | None:
    """A moment written like 2024-02-29T08:30 (with an offset: in UTC), or `None`.

    >>> iso_moment("2024-02-29 08:30"), iso_moment("soon")
    (datetime.datetime(2024, 2, 29, 8, 30), None)
    """
    try:
        return _iso(text.strip())
    except (ValueError, OverflowError):
        return None


def without_zone(moment: dt.datetime) -> dt.datetime:
    """The same moment in UTC, or as it is where no zone is said."""
    return moment.astimezone(dt.UTC).replace(tzinfo=None) if moment.tzinfo else moment


def _all(texts: Sequence[str], readers: Sequence[Callable[[str], dt.datetime]]) -> list[dt.datetime] | None:
    """What the first reader finds that can read all texts; no way of writing consists of digits only."""
    if len(texts) and texts[0].strip().isdecimal():
        return None
    for read in readers:
        try:
            return [read(text.strip()) for text in texts]
        except (ValueError, OverflowError):
            continue
    return None


def _iso_day(text: str) -> dt.datetime:
    # Only the long form: "20240229" is more often a number than a date, and "2024-W09" is a week.
    return dt.datetime.fromisoformat(text if _DAY.fullmatch(text) else "")


def _iso(text: str) -> dt.datetime:
    return without_zone(dt.datetime.fromisoformat(text if _DAY.match(text) else ""))


@cache
def _marks(form: str) -> str:
    """The marks that a text in this form must have."""
    return "".join(dict.fromkeys(mark for mark in form if mark in ",-./:"))


def written_moment(form: str, text: str) -> dt.datetime:
    """A moment written in a form of `strptime`; a `ValueError` where it is not."""
    # The library compiles a pattern per form, and remembers few of them: most forms are ruled out at a glance.
    if any(mark not in text for mark in _marks(form)) or (" " in form and len(text.split()) < 2):
        raise ValueError(text)
    return dt.datetime.strptime(text, form)


def _quarter(text: str) -> dt.datetime:
    match = _QUARTER.fullmatch(text)
    if match is None:
        raise ValueError(text)
    return dt.datetime(int(match[1] or match[4]), 3 * int(match[2] or match[3]) - 2, 1)


def _week(text: str) -> dt.datetime:
    match = _WEEK.fullmatch(text)
    if match is None:
        raise ValueError(text)
    return dt.datetime.fromisocalendar(int(match[1]), int(match[2]), 1)
