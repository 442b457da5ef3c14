"""What the values of one column are: their kind, labels, order, counts, and exact whole numbers to compute with.

Builders and jobs see a column through `column_of`, and know a value by `canonical_label`. Whatever a column holds
(integers, floats, decimals, dates, text that spells numbers), builders compute on *positions*: 64-bit integers in the
unit of the data (1, 0.01, a day, a microsecond). So ties are exact, and labels come back in the digits the data had.
Missing values (null, NaN, empty text) are no part of a builder's domain: the policy of the table decides about them
later.
"""

from __future__ import annotations

import datetime as dt
import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from decimal import Decimal, InvalidOperation
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from kanopy._arrays import SUPPRESSED_LABEL, Floats, Longs
from kanopy._errors import HierarchyError, some
from kanopy._lazy import public
from kanopy.hierarchy.hierarchy import Bounds, Hierarchy
from kanopy.hierarchy.quantities import AS_IT_IS, Quantity, read_quantities
from kanopy.hierarchy.timestamps import EPOCH, MICROSECOND, read_moments, without_zone

Kind = Literal["integer", "decimal", "real", "date", "datetime", "time", "duration", "boolean", "text"]

LARGEST = 2**61
MOST_DIGITS = 15
GRID_STEPS = 10**6
"""Continuous numbers are divided on a decimal grid of at least this many steps over their range."""
DAY = dt.timedelta(days=1)
_DURATION = re.compile(r"(?:(-?\d+) days?, )?(\d+):(\d\d):(\d\d(?:\.\d+)?)")


@public("kanopy.extend")
@dataclass(frozen=True, eq=False)
class Column:
    """Distinct values in ascending order with their labels, counts and (unless text) positions."""

    kind: Kind
    labels: Callable[[], Sequence[str]]
    counts: Longs
    name: str = ""
    positions: Longs | None = None
    numbers: Bounds | None = None
    digits: int = 0
    raw: Sequence[Any] = field(default=(), repr=False)
    people: Mapping[str, int] | None = field(default=None, repr=False)
    """By label how many people have a value, where one of them may have several rows."""
    period: str = ""
    """What a value of a column of dates is, if it is more than a day: a month, a quarter or a week."""
    measure: Quantity = AS_IT_IS
    """What stands before and after numbers that were texts: a unit, a money sign."""
    rare: Callable[[], Set[str]] | None = field(default=None, repr=False)
    """The labels that fewer than k have in the table of a job: no name of a group may list one. `None`: no job."""

    @property
    def holders(self) -> Longs:
        """How many have each value: people, where one may have several rows; otherwise rows."""
        if self.people is None:
            return self.counts
        return np.array([self.people.get(label, 0) for label in self.labels()], np.int64)

    @property
    def size(self) -> int:
        """How many distinct values there are."""
        return len(self.counts)

    @property
    def rows(self) -> int:
        """How many rows hold a value."""
        return int(self.counts.sum())

    @property
    def where(self) -> str:
        """The column in an error message."""
        return f"The column {self.name!r}" if self.name else "The column"

    def numeric(self, method: str) -> Column:
        """This column with positions; text is read as numbers, or refused with the offending values."""
        return self if self.kind != "text" else replace(_numbers_in_text(self, method), people=self.people)

    def inferred(self) -> Column:
        """This column with positions if its texts spell numbers or dates throughout.

        Codes with leading zeros (007, 01307, 01.10) stay text: as numbers they would lose what they mean.
        """
        if self.kind != "text":
            return self
        if (whole := _whole_numbers(self)) is not None:
            return whole
        labels = self.labels()
        if (read := read_moments(labels)) is not None:
            items = zip(read.moments, labels, self.counts.tolist(), strict=True)
            column = column_of_moments(read.kind, list(items), self.name)
            return replace(column, people=self.people, period=read.period)
        if any(label[:1] == "0" and label[1:2].isdigit() for label in labels):
            return self
        try:
            return self.numeric("")
        except HierarchyError:
            return self

    def under_one_top(self) -> Hierarchy:
        """The values, each with its number, and `*` above all of them.

        >>> list(column_of([7, 3]).under_one_top().rows())
        [('3', '*'), ('7', '*')]
        """
        assert self.numbers is not None
        low, high = (np.append(self.numbers, self.numbers[at]) for at in (0, -1))
        parent = np.append(np.full(self.size, self.size), -1).astype(np.int32)
        labels = (*self.labels(), SUPPRESSED_LABEL)
        return Hierarchy.from_intervals(low, high, parent, self.size, labels=labels, name=self.name)

    def units(self, amount: float, what: str) -> int:
        """An amount in the data's unit (a width, a cut point) as a whole number of positions."""
        exact = Decimal(str(amount)).scaleb(self.digits)
        if exact != exact.to_integral_value():
            raise HierarchyError(
                f"{what}={amount} is finer than the data, which has {self.digits} digits after the point. Round it."
            )
        return int(exact)

    def text(self, position: int) -> str:
        """A position as people write it."""
        if self.kind == "date":
            return dt.date.fromordinal(position).isoformat()
        if self.kind == "datetime":
            return (EPOCH + position * MICROSECOND).isoformat(sep=" ")
        if self.kind == "time":
            return (EPOCH + position * MICROSECOND).time().isoformat()
        if self.kind == "duration":
            return str(position * MICROSECOND)
        comma = "," if self.measure.thousands else ""
        written = f"{Decimal(position).scaleb(-self.digits):{comma}f}" if self.digits else f"{position:{comma}}"
        if self.digits and not (self.kind == "decimal" and self.keeps_zeros):
            written = written.rstrip("0").rstrip(".")
        return self.measure.write(written)

    @property
    def keeps_zeros(self) -> bool:
        """Whether the data writes trailing zeros (decimals and text do, floats do not)."""
        return len(self.raw) > 0 and not isinstance(self.raw[0], float)

    def bounds(self, positions: Longs) -> Bounds:
        """Positions as the numbers that `Hierarchy.low` and `high` hold."""
        if self.digits == 0:
            return positions.astype(np.int64)
        return (positions / 10.0**self.digits).astype(np.float64)


def canonical_label(value: Any) -> str:
    """The label by which a value is known in hierarchies and in published data.

    >>> [canonical_label(value) for value in (39, 39.0, 0.5, True, "39", dt.date(2020, 2, 1))]
    ['39', '39', '0.5', 'true', '39', '2020-02-01']
    """
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() else repr(value)
    if isinstance(value, (dt.date, dt.time)):
        return value.isoformat()
    return str(value)


def label_numbers(labels: Iterable[str], kind: Kind = "text") -> Floats | None:
    """The numbers behind canonical labels, or `None` if one of them is no number: days (since 1970) for what is of
    time, and whatever a text spells for everything else but truth values.

    >>> label_numbers(["2", "0.5"]), label_numbers(["a"]), label_numbers(["1 day, 12:00:00"], "duration")
    (array([2. , 0.5]), None, array([1.5]))
    """
    read = {"date": _days, "datetime": _days, "time": _day_part, "duration": _day_span}.get(kind, float)
    try:
        numbers = np.array([] if kind == "boolean" else [read(label) for label in labels], np.float64)
    except ValueError:
        return None
    return numbers if kind != "boolean" and np.isfinite(numbers).all() else None


def _days(label: str) -> float:
    return (dt.datetime.fromisoformat(label).replace(tzinfo=None) - EPOCH) / DAY


def _day_part(label: str) -> float:
    return (dt.datetime.combine(EPOCH, dt.time.fromisoformat(label).replace(tzinfo=None)) - EPOCH) / DAY


def _day_span(label: str) -> float:
    match = _DURATION.fullmatch(label)
    if match is None:
        raise ValueError(label)
    days, hours, minutes, seconds = (float(group or 0) for group in match.groups())
    return days + (hours * 3600 + minutes * 60 + seconds) / 86400


def column_of(values: Iterable[Any] | Column, counts: Iterable[int] | None = None, *, name: str = "") -> Column:
    """Reduce raw values (with or without repetition, with or without nulls) to a `Column`.

    >>> column = column_of([30, None, 25, 30])
    >>> column.kind, list(column.labels()), column.counts.tolist()
    ('integer', ['25', '30'], [1, 2])
    """
    if isinstance(values, Column):
        return values
    array = _as_array(values)
    weights = None if counts is None else _weights(counts)
    if array is not None and array.dtype.kind in "iuf":
        column = _from_numbers(array, weights, name)
    else:
        items = array.tolist() if array is not None else _as_list(values)
        column = _from_objects(items, weights, name)
    if column.size == 0:
        raise HierarchyError(f"{column.where} has no values, only missing ones. Leave the column out.")
    return column


def _as_array(values: Any) -> npt.NDArray[Any] | None:
    """The values as a NumPy array if that loses nothing (no nulls inside a column of integers, for instance)."""
    if isinstance(values, np.ndarray):
        return values
    if "Int128" in str(getattr(values, "dtype", "")):
        return None  # NumPy has no whole numbers of 128 bits: they are looked at one by one
    nulls = getattr(values, "null_count", None)  # Polars says by a method, Arrow by an attribute
    if nulls is not None and (nulls() if callable(nulls) else nulls) == 0 and hasattr(values, "to_numpy"):
        array = np.asarray(values.to_numpy())
        return array if array.dtype.kind in "iuf" else None
    if nulls is None and hasattr(values, "to_numpy") and getattr(getattr(values, "dtype", None), "kind", "") in "iuf":
        return np.asarray(values.to_numpy())
    return None


def _as_list(values: Any) -> list[Any]:
    for method in ("to_pylist", "to_list", "tolist"):
        if hasattr(values, method):
            return list(getattr(values, method)())
    return list(values)


def _weights(counts: Iterable[int]) -> Longs:
    weights = np.asarray(counts if isinstance(counts, np.ndarray) else list(counts))
    if weights.dtype.kind not in "iu" or (weights < 0).any():
        raise HierarchyError("Counts must be whole numbers of rows, none of them negative.")
    return weights.astype(np.int64)


def _check_lengths(values: int, counts: int) -> None:
    if values != counts:
        raise HierarchyError(f"There are {values:,} values but {counts:,} counts. Give one count per value.")


def _from_numbers(array: npt.NDArray[Any], weights: Longs | None, name: str) -> Column:
    if weights is not None:
        _check_lengths(len(array), len(weights))
    if array.dtype.kind == "f":
        present = ~np.isnan(array)
        array = array[present].astype(np.float64)
        weights = None if weights is None else weights[present]
        if np.isinf(array).any():
            raise HierarchyError(_infinite(name))
    elif array.dtype.kind == "u" and len(array) and int(array.max()) >= LARGEST:
        raise HierarchyError(f"The column {name!r} contains whole numbers of more than 61 bits. Treat it as text.")
    if weights is None:
        distinct, counted = np.unique(array, return_counts=True)
    else:
        distinct, inverse = np.unique(array[weights > 0], return_inverse=True)
        counted = np.zeros(len(distinct), np.int64)
        np.add.at(counted, inverse, weights[weights > 0])
    counted = counted.astype(np.int64)
    if array.dtype.kind != "f":
        return _integers(distinct.astype(np.int64), counted, name)
    return _floats(distinct, counted, name)


def _infinite(name: str) -> str:
    return (
        f"The column{f' {name!r}' if name else ''} contains infinite values, which do not fit into an interval. "
        "Replace them by a largest value (top coding), or treat them as missing."
    )


def _integers(distinct: Longs, counts: Longs, name: str) -> Column:
    if len(distinct) and max(abs(int(distinct[0])), abs(int(distinct[-1]))) >= LARGEST:
        raise HierarchyError(f"The column {name!r} contains whole numbers of more than 61 bits. Treat it as text.")
    return Column("integer", lambda: [str(x) for x in distinct.tolist()], counts, name, distinct, distinct)


def _floats(distinct: npt.NDArray[np.float64], counts: Longs, name: str) -> Column:
    """Floats that are decimals with few digits become those decimals; others stay real numbers."""
    largest = float(np.abs(distinct).max()) if len(distinct) else 0.0
    for digits in range(MOST_DIGITS + 1):
        if largest * 10.0**digits >= 2**53:
            break
        few = distinct[:: max(1, len(distinct) // 64)]
        if (np.rint(few * 10.0**digits) / 10.0**digits != few).any():
            continue  # a glance at a few spares most columns of real numbers sixteen passes
        scaled = np.rint(distinct * 10.0**digits)
        if (scaled / 10.0**digits == distinct).all():
            positions = scaled.astype(np.int64)
            if digits == 0:
                return _integers(positions, counts, name)
            labels = _float_labels(distinct)
            return Column("decimal", labels, counts, name, positions, distinct, digits, distinct[:1].tolist())
    return _real(distinct, counts, name, _float_labels(distinct))


def _float_labels(distinct: npt.NDArray[np.float64]) -> Callable[[], list[str]]:
    return lambda: [canonical_label(number) for number in distinct.tolist()]


def _real(distinct: npt.NDArray[np.float64], counts: Longs, name: str, labels: Callable[[], Sequence[str]]) -> Column:
    """Real numbers: positions on the finest grid of powers of two that 61 bits allow over the range."""
    extent = float(distinct[-1]) - float(distinct[0])
    if not math.isfinite(extent):
        raise HierarchyError(f"The range of the column {name!r} is too large to compute with. Rescale it.")
    step = math.floor(math.log2(LARGEST / extent)) if extent > 0 else 0
    positions = np.rint(np.ldexp(distinct - distinct[0], step)).astype(np.int64)
    return Column("real", labels, counts, name, positions, distinct)


def on_decimal_grid(column: Column) -> Column:
    """Real numbers rounded down to a grid of at least a million decimal steps, for builders that divide a range."""
    if column.kind != "real":
        return column
    assert column.numbers is not None
    extent = float(column.numbers[-1] - column.numbers[0])
    digits = max(0, math.ceil(math.log10(GRID_STEPS / extent))) if extent > 0 else 0
    if float(np.abs(column.numbers).max()) * 10.0**digits >= LARGEST:
        raise HierarchyError(f"{column.where} contains numbers that are too large to divide their range. Rescale them.")
    positions = np.floor(column.numbers * 10.0**digits).astype(np.int64)
    return Column("real", column.labels, column.counts, column.name, positions, column.numbers, digits, [0.0])


def is_missing(value: Any) -> bool:
    """Null, NaN, NaT or empty text.

    >>> [is_missing(value) for value in (None, float("nan"), "", 0)]
    [True, True, True, False]
    """
    if value is None or (isinstance(value, str) and not value):
        return True
    if isinstance(value, float):
        return math.isnan(value)
    if isinstance(value, Decimal):
        return value.is_nan()
    return type(value).__name__ in ("NAType", "NaTType")


def _from_objects(items: list[Any], weights: Longs | None, name: str) -> Column:
    counter: Counter[Any] = Counter()
    if weights is None:
        counter.update(items)
    else:
        _check_lengths(len(items), len(weights))
        if len(set(items)) == len(items):
            counter.update(dict(zip(items, weights.tolist(), strict=True)))
        else:
            for value, number in zip(items, weights.tolist(), strict=True):
                counter[value] += number
        counter = +counter
    kinds = set(map(type, counter))
    if kinds == {str}:
        counter.pop("", None)
        ordered = sorted(counter)
        counts = np.fromiter(map(counter.__getitem__, ordered), np.int64, len(ordered))
        return Column("text", lambda: ordered, counts, name, raw=ordered)
    for value in [value for value in counter if is_missing(value)]:
        del counter[value]
    kinds = set(map(type, counter))
    if kinds and kinds <= {int, float, np.int64, np.float64, np.int32, np.float32}:
        values, numbers = list(counter), np.array(list(counter.values()), np.int64)
        if kinds <= {int, np.int64, np.int32}:
            return _from_numbers(_number_array(values, np.int64, name), numbers, name)
        return _from_numbers(_number_array(values, np.float64, name), numbers, name)
    if kinds and all(issubclass(kind, Decimal | int) and kind is not bool for kind in kinds):
        return _decimals([(Decimal(v), str(v), n) for v, n in counter.items()], name)
    if kinds and all(issubclass(kind, dt.datetime) for kind in kinds):
        return column_of_moments("datetime", _labelled(counter, _python_moment), name)
    if kinds and all(issubclass(kind, dt.date) and not issubclass(kind, dt.datetime) for kind in kinds):
        return column_of_moments("date", _labelled(counter), name)
    if kinds and all(issubclass(kind, dt.time) for kind in kinds):
        return column_of_moments("time", _labelled(counter), name)
    if kinds and all(issubclass(kind, dt.timedelta) for kind in kinds):
        return column_of_moments("duration", _labelled(counter), name)
    return _texts(counter, name)


def _number_array(values: list[Any], kind: type[np.int64] | type[np.float64], name: str) -> npt.NDArray[Any]:
    try:
        return np.array(values, kind)
    except OverflowError as error:
        message = f"The column {name!r} contains whole numbers of more than 61 bits. Treat it as text."
        raise HierarchyError(message) from error


def _python_moment(value: Any) -> dt.datetime:
    moment: dt.datetime = value.to_pydatetime() if hasattr(value, "to_pydatetime") else value
    return without_zone(moment)


def _labelled(counter: Counter[Any], read: Callable[[Any], Any] = lambda value: value) -> list[tuple[Any, str, int]]:
    """Values as they are computed with, their labels and counts; values with the same label are one."""
    entries: dict[str, tuple[Any, str, int]] = {}
    for value, number in counter.items():
        label = canonical_label(value)
        entries[label] = (read(value), label, number + (entries[label][2] if label in entries else 0))
    return list(entries.values())


def column_of_moments(kind: Kind, items: Iterable[tuple[Any, str, int]], name: str) -> Column:
    """A column of days, moments, times of the day or durations from (value, label, count)."""
    position: Callable[[Any], int] = {
        "date": lambda day: day.toordinal(),
        "datetime": lambda moment: (moment - EPOCH) // MICROSECOND,
        "time": lambda time: (dt.datetime.combine(EPOCH, time.replace(tzinfo=None)) - EPOCH) // MICROSECOND,
        "duration": lambda span: span // MICROSECOND,
    }[kind]
    ordered = sorted(items)
    positions = np.array([position(value) for value, _, _ in ordered], np.int64)
    counts = np.array([number for _, _, number in ordered], np.int64)
    labels = [label for _, label, _ in ordered]
    return Column(kind, lambda: labels, counts, name, positions, positions, raw=[value for value, _, _ in ordered])


def _texts(counter: Counter[Any], name: str) -> Column:
    merged: Counter[str] = Counter()
    for value, number in counter.items():
        merged[canonical_label(value)] += number
    ordered = sorted(merged)
    counts = np.array([merged[label] for label in ordered], np.int64)
    return Column("text", lambda: ordered, counts, name, raw=ordered)


def _exponent(value: Decimal) -> int:
    return int(value.as_tuple().exponent)


def _decimals(items: list[tuple[Decimal, str, int]], name: str) -> Column:
    """Exact decimals, each with the label it had; equal numbers written differently stay apart."""
    if any(value.is_infinite() for value, _, _ in items):
        raise HierarchyError(_infinite(name))
    beyond = [label for value, label, _ in items if value and max(abs(value.adjusted()), -_exponent(value)) > 300]
    if beyond:  # no machine number holds them
        what = f"numbers that are too large: {some(beyond)}. Correct them or treat them as missing."
        raise HierarchyError(f"The column{f' {name!r}' if name else ''} holds {what}")
    digits = max((max(0, -_exponent(value)) for value, _, _ in items), default=0)
    ordered = sorted(items)
    counts = np.array([number for _, _, number in ordered], np.int64)
    labels = [label for _, label, _ in ordered]
    largest = max((abs(value) for value, _, _ in ordered), default=Decimal(0))
    if largest.scaleb(digits) >= LARGEST:
        return _real(np.array([float(value) for value, _, _ in ordered]), counts, name, lambda: labels)
    positions = np.array([int(value.scaleb(digits)) for value, _, _ in ordered], np.int64)
    numbers: Bounds = positions if digits == 0 else positions / 10.0**digits
    kind: Kind = "decimal" if digits else "integer"
    return Column(kind, lambda: labels, counts, name, positions, numbers, digits, labels[:1])


def _whole_numbers(column: Column) -> Column | None:
    """The column with positions if all its texts are whole numbers as programs write them; `None` for all others."""
    labels = column.labels()
    try:
        values = list(map(int, labels))
    except ValueError:
        return None
    if list(map(str, values)) != list(labels) or max(map(abs, values)) >= LARGEST:
        return None
    order, at, ordered = np.argsort(values), np.sort(values), list(map(str, sorted(values)))
    return Column("integer", lambda: ordered, column.counts[order], column.name, at, at, 0, ordered[:1], column.people)


def _numbers_in_text(column: Column, method: str) -> Column:
    items, wrong = [], []
    for label, number in zip(column.labels(), column.counts.tolist(), strict=True):
        try:
            value = Decimal(label.strip())
            if not value.is_finite():
                raise InvalidOperation
            items.append((value, label, number))
        except InvalidOperation:
            wrong.append(label)
    if wrong and (read := read_quantities(column.labels())) is not None:
        items = list(zip(read[0], column.labels(), column.counts.tolist(), strict=True))
        return replace(_decimals(items, column.name), measure=read[1])
    if wrong:
        raise HierarchyError(
            f"{column.where} contains texts, and {method} needs numbers: {some(wrong)}. Declare these values "
            "missing, correct them, or use a method for text (order, groups, prefix, suppress)."
        )
    return _decimals(items, column.name)
