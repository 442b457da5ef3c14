"""Dates: shifted by a secret number of days per unit, and cut to what is needed."""

from __future__ import annotations

import datetime as dt
import hmac
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import numpy as np
import polars as pl

from kanopy._arrays import Longs
from kanopy._errors import JobError, some
from kanopy._parameter_types import ColumnNames, Flag, Integer, Name, OneOf, Optional, Text
from kanopy.hierarchy.column import canonical_label
from kanopy.treatments.base import DATES, KEY, Table, Treatment, labels_of, missing

FINEST = {"year": "1y", "quarter": "1q", "month": "1mo", "week": "1w", "day": "1d", "hour": "1h", "minute": "1m"}
DAY = 86_400_000_000


def offset(unit: str, key: bytes, days: int, weeks: bool = False) -> int:
    """The days by which the dates of a unit are shifted: uniform among ±days without 0, or whole weeks among them.

    >>> offset("17", b"a key of sixteen bytes", 182) == offset("17", b"a key of sixteen bytes", 182)
    True
    """
    return int(_offsets([unit], key, days, weeks)[0])


def _offsets(labels: list[str], key: bytes, days: int, weeks: bool) -> Longs:
    steps = days // 7 if weeks else days
    digest, choices = hmac.digest, np.uint64(2 * steps)
    drawn = b"".join([digest(key, label.encode("utf-8"), "sha256")[:16] for label in labels])
    high, low = np.frombuffer(drawn, ">u8").astype(np.uint64).reshape(-1, 2).T
    # 128 random bits modulo the number of choices, which are few: no choice is noticeably likelier.
    remainder = ((high % choices) * np.uint64(2**64 % int(choices)) + low % choices) % choices
    step = remainder.astype(np.int64) - steps
    return np.asarray((step + (step >= 0)) * (7 if weeks else 1), np.int64)


def offsets(units: pl.Series, key: bytes, days: int, weeks: bool = False) -> Longs:
    """The offset of each row, by the label of its unit; 0 where there is no unit."""
    distinct = units.drop_nulls().unique()
    days_of_unit = pl.DataFrame({"unit": distinct, "days": _offsets(labels_of(distinct), key, days, weeks)})
    rows = pl.DataFrame({"unit": units}).join(days_of_unit, on="unit", how="left", maintain_order="left")
    return np.asarray(rows["days"].fill_null(0).to_numpy(), np.int64)


def dates_of(column: pl.Series, method: str, layout: str | None = None) -> tuple[pl.Series, str | None]:
    """A column as dates or timestamps, and the format in which its texts were written (`None`: it holds dates).

    >>> dates_of(pl.Series("born", ["2001-05-03", None]), "shift-dates")[1]
    '%Y-%m-%d'
    """
    if isinstance(column.dtype, (pl.Date, pl.Datetime)):
        if layout is not None:
            raise JobError(f"{method}: {column.name!r} holds dates, so a format has no effect. Leave it out.")
        return column, None
    if isinstance(column.dtype, (pl.Categorical, pl.Enum)):
        column = column.cast(pl.String)
    if column.dtype != pl.String:
        raise JobError(f"{method} needs dates; {column.name!r} holds other values. Choose another treatment for it.")
    texts = column.replace("", None)
    tried = [layout] if layout is not None else ["%Y-%m-%d", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M:%S", "%Y-%m-%d %H:%M"]
    lost = texts
    for layout_tried in tried:
        timed = any(mark in layout_tried for mark in ("%H", "%I", "%M", "%S", "%T", "%X", "%c"))
        parsed = (texts.str.to_datetime(layout_tried, strict=False, time_unit="us", exact=True) if timed
                 else texts.str.to_date(layout_tried, strict=False, exact=True))  # fmt: skip
        bad = texts.filter(parsed.is_null() & texts.is_not_null())
        if not len(bad):
            written = parsed.dt.strftime(layout_tried)
            # A text that its format does not write back as it was would change even without a shift.
            odd = texts.filter((written != texts).fill_null(False))
            if not len(odd):
                return parsed, layout_tried
            bad = odd
        lost = bad if len(bad) < len(lost) or lost is texts else lost
    raise JobError(
        f"{method} needs dates; {column.name!r} holds texts that are none: {some(lost.unique().sort().to_list())}. "
        "Give their "
        "format (format = '%d.%m.%Y'), or name texts that mean missing as missing tokens."
    )


def written(dates: pl.Series, layout: str | None) -> pl.Series:
    """Dates in the form in which the column had them."""
    return dates if layout is None else dates.dt.strftime(layout)


@dataclass(frozen=True)
class ShiftDates(Treatment):
    """Date shift: all dates of a unit move by the same secret number of days, uniform in ±`days` without 0.

    Intervals within a unit and their order are exact. The number comes from the key and the label of the unit alone:
    the same key shifts the same person alike in another column, table or month. `weeks` keeps the day of the week.
    `finest` cuts what is finer, after the shift. `purpose` separates projects that share a key.

    >>> from kanopy.treatments.apply import treat_values
    >>> import datetime as dt
    >>> visits = {"day": [dt.date(2024, 1, 1), dt.date(2024, 1, 9)], "patient": [7, 7]}
    >>> moved = treat_values(visits, ShiftDates(unit="patient"), key=b"a key of sixteen bytes")
    >>> (moved[1] - moved[0]).days, moved[0] == dt.date(2024, 1, 1)
    (8, False)
    """

    unit: Annotated[
        tuple[str, ...], ColumnNames(), "columns that say whose dates they are; the job's unit if none"
    ] = ()
    days: Annotated[int, Integer(1, 3650), "dates move by up to so many days"] = 182
    weeks: Annotated[bool, Flag(), "move by whole weeks"] = False
    finest: Annotated[str | None, Optional(OneOf(*FINEST)), "cut what is finer, after the shift"] = None
    format: Annotated[str | None, Optional(Text("a date format such as %d.%m.%Y")), "how texts write dates"] = None
    purpose: Annotated[str, Text("a text", empty=True), "the same key gives other shifts for another purpose"] = ""

    name: ClassVar[str] = "shift-dates"
    by_person: ClassVar[bool] = True
    summary: ClassVar[str] = "shifts all dates of a person by the same secret number of days"
    guarantees: ClassVar[str] = (
        "no date is published as it was (unless cut to less than the shift); intervals within a unit are exact"
    )
    lacks: ClassVar[str] = (
        "no k: whoever knows one date of a person knows all; patterns of intervals, weekdays and seasons identify"
    )
    source: ClassVar[str] = "Hripcsak, Mirhaji, Low, Malin 2016"
    takes: ClassVar[str] = DATES
    secret: ClassVar[str] = KEY
    piecewise: ClassVar[bool] = True

    def contradictions(self) -> Iterable[str]:
        """Whole weeks need a week."""
        if self.weeks and self.days < 7:
            yield f"shift-dates moves by whole weeks, but by at most {self.days} days. Give days = 7 or more."

    def reads(self, column: str) -> tuple[str, ...]:
        """The unit."""
        return self.unit

    def treat(self, column: str, table: Table) -> dict[str, pl.Series]:
        """Shift the dates of a column."""
        series = table.rows[column]
        dates, layout = dates_of(series, self.name, self.format)
        units = unit_labels(table.rows, self.unit)
        nobody = units.is_null() & dates.is_not_null()
        if nobody.any():
            raise JobError(
                f"shift-dates of {column!r}: {int(nobody.sum()):,} rows have a date but no unit "
                f"({', '.join(self.unit)}), so it "
                "is unknown what their dates move with. Fill the unit in, or leave these rows or dates out."
            )
        key = table.secrets.key_for(self.name, self.purpose, str(self.days), str(self.weeks))
        moved = _moved(dates, offsets(units, key, self.days, self.weeks), column)
        if self.finest is not None:
            moved = cut(moved, self.finest)
        return {column: written(moved, layout).rename(column)}


def unit_labels(rows: pl.DataFrame, names: tuple[str, ...]) -> pl.Series:
    """Whose row each is, as one column."""
    if len(names) == 1:
        return rows[names[0]].set(pl.Series(missing(rows[names[0]])), None)
    without_unit = np.any([missing(rows[name]) for name in names], axis=0)
    distinct = rows.select(names).unique()
    labels = ["".join(f"{len(text)}:{text}" for text in map(canonical_label, row)) for row in distinct.rows()]
    labelled = rows.select(names).join(
        distinct.with_columns(pl.Series("", labels)), on=names, how="left", nulls_equal=True, maintain_order="left"
    )
    return labelled[""].set(pl.Series(without_unit), None)


FIRST_DAY, LAST_DAY = (day.toordinal() - dt.date(1970, 1, 1).toordinal() for day in (dt.date.min, dt.date.max))


def _moved(dates: pl.Series, days: Longs, column: str) -> pl.Series:
    """Dates some days later; those that leave the calendar are an error."""
    zone = getattr(dates.dtype, "time_zone", None)
    local = dates.dt.replace_time_zone(None) if zone else dates
    day = local.cast(pl.Date).cast(pl.Int64) + pl.Series(days)
    beyond = ((day < FIRST_DAY) | (day > LAST_DAY)).fill_null(False)
    if beyond.any():
        examples = dates.filter(beyond).cast(pl.String).unique().sort().to_list()
        raise JobError(
            f"shift-dates of {column!r}: {some(examples)} would be shifted beyond the calendar (years 1 to 9999). Such "
            "dates "
            "usually mean 'unknown' or 'open': name them as missing tokens of the column."
        )
    if dates.dtype == pl.Date:
        return day.cast(pl.Int32).cast(pl.Date)
    per_day = {"ms": DAY // 1000, "us": DAY, "ns": DAY * 1000}[local.dtype.time_unit]  # type: ignore[attr-defined]
    moved = (local.cast(pl.Int64) + pl.Series(days) * per_day).cast(local.dtype)
    if not zone:
        return moved
    there = moved.dt.replace_time_zone(zone, ambiguous="earliest", non_existent="null")
    if (there.is_null() & moved.is_not_null()).any():
        raise JobError(
            f"shift-dates of {column!r}: a shift leads to an hour that the clock of {zone} leaves out in spring. Give "
            "the "
            "times in UTC."
        )
    return there


def cut(dates: pl.Series, finest: str) -> pl.Series:
    """Dates at the start of their year, quarter, month, week, day, hour or minute.

    >>> cut(pl.Series([dt.date(2024, 5, 17)]), "month").to_list()
    [datetime.date(2024, 5, 1)]
    """
    if dates.dtype == pl.Date and finest in ("hour", "minute"):
        return dates
    return dates.dt.truncate(FINEST[finest])


@dataclass(frozen=True)
class CutDates(Treatment):
    """Dates cut to their year, quarter, month, week or day; dates of birth of the very old coded as one.

    With `oldest`, dates more than so many years before `on` (a date, or a column of the table) become the date at that
    limit: whoever is older than 89 is published as 90.
    """

    finest: Annotated[str, OneOf(*FINEST), "what is left of a date"] = "month"
    oldest: Annotated[int | None, Optional(Integer(1, 150)), "ages above this limit are coded as the limit"] = None
    on: Annotated[str | None, Optional(Name("a date or the name of a column")), "when ages are counted"] = None
    format: Annotated[str | None, Optional(Text("a date format such as %d.%m.%Y")), "how texts write dates"] = None

    name: ClassVar[str] = "cut-dates"
    summary: ClassVar[str] = "cuts dates to the month, the year or another unit"
    guarantees: ClassVar[str] = "nothing finer than asked for is published, and no age above the limit"
    lacks: ClassVar[str] = "how many people share a date is not limited: neither k nor differential privacy"
    source: ClassVar[str] = "45 CFR 164.514(b)(2)(i)(C)"
    takes: ClassVar[str] = DATES
    piecewise: ClassVar[bool] = True

    def contradictions(self) -> Iterable[str]:
        """A limit of age needs the day on which ages are counted."""
        if (self.oldest is None) != (self.on is None):
            yield "cut-dates needs oldest and on together: ages above oldest are counted on that date."

    def reads(self, column: str) -> tuple[str, ...]:
        """The column of the dates on which ages are counted, where that is one."""
        return () if self.on is None or _as_date(self.on) is not None else (self.on,)

    def treat(self, column: str, table: Table) -> dict[str, pl.Series]:
        """Cut the dates of a column."""
        dates, layout = dates_of(table.rows[column], self.name, self.format)
        if self.oldest is not None and self.on is not None:
            fixed = _as_date(self.on)
            days = dates.cast(pl.Date)
            if fixed is not None:
                on = pl.Series([fixed]).new_from_index(0, len(days))
            else:
                on = dates_of(table.rows[self.on], self.name)[0].cast(pl.Date)
            limit = on.dt.offset_by(f"-{self.oldest + 1}y")
            # Who is more than `oldest` years old becomes `oldest` + 1: the first age that is not told any more.
            unknown = on.is_null() & days.is_not_null()
            if unknown.any():
                raise JobError(
                    f"cut-dates of {column!r}: {int(unknown.sum()):,} rows have no date in {self.on!r}, so their "
                    "age is unknown. Fill it in, or give one date for all."
                )
            older = (days < limit).fill_null(False)
            dates = dates.zip_with(~older, limit.cast(dates.dtype))
        return {column: written(cut(dates, self.finest), layout).rename(column)}


def _as_date(text: str) -> Any:
    try:
        return dt.date.fromisoformat(text)
    except ValueError:
        return None
