"""Is every published label true of its row? A second reading of the labels, in code that no builder shares.

Each pair of an original value and the label published for it is looked at once. A label that reads as a range of
numbers or dates, a set, or a mask must contain the value; any other label must be the value itself or one of its groups
in the hierarchy that the column was generalized by. What cannot be read is not true.
"""

from __future__ import annotations

import datetime as dt
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain

import polars as pl

from kanopy._errors import VerificationFailed

SUPPRESSED = "*"
_NUMBER = r"[-+−]?(?:\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+\.?\d*(?:[eE][-+]?\d+)?|\.\d+(?:[eE][-+]?\d+)?)"
_DAYS = (
    "%Y-%m-%d", "%Y/%m/%d", "%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y", "%m-%d-%Y", "%Y%m%d", "%d %b %Y",
    "%d %B %Y", "%b %d, %Y", "%B %d, %Y", "%d.%m.%y", "%d/%m/%y", "%m/%d/%y", "%d-%b-%Y", "%d-%b-%y",
    "%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M:%S.%f", "%Y-%m-%d %H:%M:%S.%f", "%Y-%m-%d %H:%M",
    "%Y-%m-%dT%H:%M", "%d/%m/%Y %H:%M", "%m/%d/%Y %H:%M", "%H:%M:%S", "%H:%M",
)  # fmt: skip
"""Ways to write a day or a moment; a column is read in each of them that fits all its values."""

_MARKS = {form: set(re.sub(r"%.|[\sT]", "", form)) for form in _DAYS}
"""The marks between the numbers of each of them."""

_LISTED, _MORE = re.compile(r", | or "), re.compile(r" \+\d+$")
"""What stands between the values that a label lists, and how many more there are."""
_LONGEST = 60
"""Longer texts are no numbers with a unit."""

_MOMENTS = tuple(form for form in _DAYS if form.startswith("%Y-%m-%d") and "%H" in form)

Range = tuple[float, float]
"""The first and the last number that a label covers, both included."""
Read = Callable[[str], Range | None]
"""Reads a text as the number or the range of numbers it stands for."""


@dataclass(frozen=True)
class FalseLabels:
    """Labels that are not true of rows they are published for: up to five pairs, and how many rows there are."""

    column: str
    rows: int
    examples: tuple[tuple[str | None, str | None], ...]


def verify_labels(
    original: pl.DataFrame, published: pl.DataFrame, columns: Sequence[str],
    groups: Mapping[str, Callable[[str], Sequence[str]]], *, given: Sequence[str] = (),
    missing_tokens: Sequence[str] = (), k: int = 1, multiplicity: pl.Series | None = None,
    units: pl.Series | None = None,
) -> tuple[str, ...]:  # fmt: skip
    """Raise `VerificationFailed` if a published label is not true of its row; rows stand in the same order in both.

    Nor may a label that lists values (`potato, leek +4`) name one that fewer than `k` rows have; `multiplicity`
    says how many rows each row stands for, `units` whose it is: then people count. A hierarchy that was given may name
    what it likes: remarks say so.

    `groups` gives, per column, the labels above a value in the hierarchy of that column. The hierarchies of the columns
    in `given` were made by people: what they call a value is taken at their word, and remarks name what reads as false.

    >>> before, after = pl.DataFrame({"age": [31, 47]}), pl.DataFrame({"age": ["[30, 39]", "[30, 39]"]})
    >>> verify_labels(before, after, ["age"], {})
    Traceback (most recent call last):
    kanopy._errors.VerificationFailed: 1 row of 'age' would be published under a label that is not true of it: 47 ...
    """
    remarks = []
    of = "rows" if units is None else "people"
    for name in columns:
        before, after = original[name], published[name]
        if rare := rare_names(before, after, k, multiplicity, units):
            examples = ", ".join(f"{value!r} in {label!r}" for label, value in rare[:5])
            message = f"Labels of {name!r} would name values that fewer than {k:,} {of} have: {examples}."
            if name not in given:
                raise VerificationFailed(
                    f"{message} Nothing was written. Name these groups in a hierarchy of your own."
                )
            remarks.append(f"{message} Name these groups otherwise.")
        wrong = false_labels(before, after, groups.get(name), missing_tokens=missing_tokens)
        if wrong is not None:
            taken = false_labels(before, after, groups.get(name), missing_tokens=missing_tokens, trusted=name in given)
            if taken is None:
                message = ", ".join(f"{value} is called {label}" for value, label in wrong.examples)
                remarks.append(
                    f"The hierarchy given for {name!r} says what does not read as true: {message}. Correct it."
                )
                continue
            examples = ", ".join(f"{value} as {label}" for value, label in wrong.examples)
            rows = "1 row" if wrong.rows == 1 else f"{wrong.rows:,} rows"
            raise VerificationFailed(
                f"{rows} of {name!r} would be published under a label that is not true of it: {examples}. Nothing was "
                "written. Give the column another hierarchy, or say how its values are to be read."
            )
    return tuple(remarks)


def rare_names(
    original: pl.Series, published: pl.Series, k: int, multiplicity: pl.Series | None = None,
    units: pl.Series | None = None,
) -> list[tuple[str, str]]:  # fmt: skip
    """Labels that list values, with a value they name that fewer than `k` rows have, or fewer than `k` `units`.

    A set in braces is no name: recodings by sets publish which values a cell stands for, and every class that shows
    one has at least `k` rows.

    >>> before = pl.Series(["leek", "onion", "onion", "beet"])
    >>> rare_names(before, pl.Series(["leek or onion"] * 3 + ["beet"]), 2)
    [('leek or onion', 'leek')]
    >>> rare_names(before, pl.Series(["leek or onion"] * 3 + ["beet"]), 2, units=pl.Series([1, 2, 2, 3]))
    [('leek or onion', 'leek'), ('leek or onion', 'onion')]
    """
    if k < 2 or original.dtype == pl.Duration:  # `2 days, 0:00:00` is one value and no list
        return []
    lists = {label: _named(label) for label in as_text(published).rename("").unique().to_list() if label is not None}
    lists = {label: listed for label, listed in lists.items() if listed}
    if not lists:
        return []
    weights = pl.repeat(1, len(original), eager=True) if multiplicity is None else multiplicity
    rows_of = {"value": as_text(original), "unit": weights if units is None else units}
    counted = pl.DataFrame(rows_of).filter(pl.col("value").is_in([*lists, *chain(*lists.values())]))
    number = pl.col("unit").sum() if units is None else pl.col("unit").n_unique()
    rows = dict(counted.group_by("value").agg(number).iter_rows())
    return [
        (label, value)
        for label in sorted(lists)
        if label not in rows
        for value in lists[label]
        if rows.get(value, k) < k
    ]


def _named(label: str) -> list[str]:
    """The values that a label lists; none where it lists nothing, or is a set."""
    if label.startswith("{") and label.endswith("}"):
        return []
    listed = _LISTED.split(_MORE.sub("", label))
    return listed if len(listed) > 1 or _MORE.search(label) else []


def false_labels(
    original: pl.Series,
    published: pl.Series,
    groups: Callable[[str], Sequence[str]] | None = None,
    *,
    missing_tokens: Sequence[str] = (),
    trusted: bool = False,
) -> FalseLabels | None:
    """The labels of a column that are not true of their rows, or `None`; `trusted` groups are true as they are."""
    # Grouped as they are, and only the few different pairs made texts; names of their own, which are no patterns.
    value = original.alias("value")
    value = as_text(value) if isinstance(value.dtype, pl.Object) or value.dtype.is_nested() else value
    counted = pl.DataFrame({"value": value, "label": published.alias("label")}).group_by("value", "label").len()
    texts, names = as_text(counted["value"]), dict[str, str]()
    if not isinstance(value.dtype, (pl.String, pl.Categorical, pl.Enum)):
        names = dict(zip(texts.to_list(), map(written, counted["value"].to_list()), strict=True))
    counted = counted.with_columns(texts, as_text(counted["label"]))
    counted = counted.with_columns(counted["value"].set(counted["value"].is_in(["", *missing_tokens]), None))
    counted = counted.filter(pl.col("label").is_null() | (pl.col("label") != SUPPRESSED))
    open_pairs = counted.filter(~pl.col("value").eq_missing(pl.col("label")))
    left = _outside_ranges(open_pairs, counted["value"])
    if not (open_pairs if left is None else left).height:
        return None
    rows = list(open_pairs.iter_rows())
    distinct = [text for text in counted["value"].unique().to_list() if text is not None]
    best: list[tuple[str | None, str | None, int]] | None = None
    for read in _readings(distinct):
        unsettled = rows if left is None else list(left.iter_rows())
        wrong, left = _untrue(unsettled, read, groups, trusted, names), None  # numbers are the first reading
        if not wrong:
            return None
        if best is None or len(wrong) < len(best):
            best = wrong
    assert best is not None
    examples = sorted(best, key=lambda pair: (str(pair[0]), str(pair[1])))[:5]
    return FalseLabels(original.name, sum(count for *_, count in best), tuple((v, p) for v, p, _ in examples))


def _outside_ranges(pairs: pl.DataFrame, values: pl.Series) -> pl.DataFrame | None:
    """The pairs whose label is no range with the number in it, all at once; `None` where not all values are plain."""
    present = values.drop_nulls()
    if not len(present) or not present.str.contains(r"^-?[0-9]{1,15}(\.[0-9]{1,15})?$").all():
        return None
    read = _ranges_of(lambda text: _point(_number(text)))
    spans_of = ((label, read(label)) for label in pairs["label"].drop_nulls().unique())
    ranges = [(label, *span) for label, span in spans_of if span is not None]
    ends = pl.DataFrame(ranges, {"label": pl.String, "low": pl.Float64, "high": pl.Float64}, orient="row")
    held = pl.col("value").cast(pl.Float64).is_between("low", "high").fill_null(False)
    return pairs.join(ends, on="label", how="left", maintain_order="left").filter(~held).select(pairs.columns)


def as_text(column: pl.Series) -> pl.Series:
    """The values as texts; what is not a number counts as missing."""
    if column.dtype.is_float():
        column = column.fill_nan(None)
    if isinstance(column.dtype, (pl.Duration, pl.Object)) or column.dtype.is_nested():
        return pl.Series(column.name, [None if value is None else str(value) for value in column], pl.String)
    if isinstance(column.dtype, pl.Datetime):
        column = column.cast(pl.Datetime("us"))
    return column.cast(pl.String)


def written(value: object) -> str:
    """How hierarchies write a value: whole numbers without a point, truth values in small letters, dates as in ISO.

    >>> written(39.0), written(-0.0), written(True), written(dt.datetime(2001, 3, 5, 10, 20))
    ('39', '0', 'true', '2001-03-05T10:20:00')
    """
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float) and value.is_integer():
        return f"{value + 0.0:.0f}"  # -0.0 is 0
    return value.isoformat() if isinstance(value, (dt.date, dt.time)) else str(value)


def _untrue(
    rows: Sequence[tuple[str | None, str | None, int]],
    read: Read,
    groups: Callable[[str], Sequence[str]] | None,
    trusted: bool,
    names: Mapping[str, str],
) -> list[tuple[str | None, str | None, int]]:
    ranges: dict[str, Range | None] = {}
    above: dict[str, frozenset[str]] = {}

    def span(text: str) -> Range | None:
        if text not in ranges:
            ranges[text] = read(text)
        return ranges[text]

    def of_groups(text: str) -> frozenset[str]:
        if text not in above:
            above[text] = frozenset(groups(names.get(text, text))) if groups is not None else frozenset()
        return above[text]

    def taken(value: str | None, label: str | None) -> bool:
        return trusted and value is not None and label is not None and label in of_groups(value)

    return [pair for pair in rows if not (taken(*pair[:2]) or _true(pair[0], pair[1], span, of_groups))]


def _true(value: str | None, label: str | None, span: Read, of_groups: Callable[[str], frozenset[str]]) -> bool:
    """Whether a label is true of a value."""
    if value is None or label is None:
        # A missing value may be called missing; nothing else may be said of it, and no value may go missing.
        return value is None and label is not None and any(item == "" or item[0] == "(" for item in set_items(label))
    if value.startswith(label) and label in of_groups(value):
        return True  # the beginning of a code, though it may read as another number
    inner, outer = span(value), span(label)
    if inner is not None and outer is not None:
        return outer[0] <= inner[0] and inner[1] <= outer[1]
    if value == label:
        return True
    if (items := set_items(label)) != [label]:
        return value in items or any(_true(value, item, span, of_groups) for item in items)
    if SUPPRESSED in label and len(label) > 1 and _mask(label).fullmatch(value):
        return True
    return label in of_groups(value)


def set_items(label: str) -> list[str]:
    """What a set lists, items in quotes with and without them; a label that is no set is its only item.

    >>> set_items('{"a, b", c}')
    ['"a, b"', 'c', 'a, b']
    """
    if not (label.startswith("{") and label.endswith("}")):
        return [label]
    items: list[str] = re.findall(r'(?:^|, )("(?:[^"]|"")*"|.*?)(?=, |\Z)', label[1:-1], re.DOTALL)
    quoted = [item for item in items if len(item) > 1 and item[0] == item[-1] == '"']
    return items + [item[1:-1].replace('""', '"') for item in quoted]


def _mask(label: str) -> re.Pattern[str]:
    """A label such as `021**` stands for values of that length that begin so; `J4*` for all that begin so."""
    body = label.rstrip(SUPPRESSED)
    hidden = len(label) - len(body)
    inside = "".join("." if letter == SUPPRESSED else re.escape(letter) for letter in body)
    return re.compile(inside + (".*" if hidden == 1 else f".{{{hidden}}}|{inside}.*"), re.DOTALL)


# ---- reading numbers, dates and ranges of both ------------------------------------------------------------------


def _readings(values: Sequence[str]) -> list[Read]:
    """The ways in which all values of a column can be read: as numbers, in some form of dates, or as mere texts."""
    readings: list[Read] = []
    if values and all(_number(text) is not None for text in values):
        readings.append(_ranges_of(lambda text: _point(_number(text))))
    forms = [form for form in _DAYS if values and all(_moment(text, form) is not None for text in values)]
    readings += [_ranges_of(_periods(form)) for form in forms]
    if values and all(_duration(text) is not None for text in values):
        readings.append(_ranges_of(lambda text: _point(_duration(text))))
    if not readings:
        read, unit = _ranges_of(lambda text: _point(_number(text))), _unit(values)
        bare: Callable[[str], str] = str if unit is None else partial(unit.sub, "")
        readings.append(lambda text: read(bare(text)))
    return readings


def _unit(values: Sequence[str]) -> re.Pattern[str] | None:
    """What stands beside the number in every value, as something to leave out; `None` if there is no such thing.

    >>> _unit(["65 kg", "72.5 kg"]).sub("", "60–69 kg"), _unit(["65 kg", "143 lb"])
    ('60–69', None)
    """
    form, one = re.compile(rf"(\D*?){_NUMBER}(\D*)"), re.compile(r"(\w{4,})s$")  # 1 year, 5 years
    beside: set[tuple[str, ...]] = set()
    for text in values:
        if len(text) > _LONGEST or (match := form.fullmatch(text)) is None:
            return None  # most columns of words end here, at the first
        beside.add(tuple(one.sub(r"\1", group.strip()) for group in match.groups()))
    if len(beside) != 1 or not (parts := [re.escape(word) for word in beside.pop() if word]):
        return None
    return re.compile("|".join(rf"\s*{word}s?(?!\w)|(?<!\w){word}\s*" for word in parts))


def values_under(label: str, values: Sequence[str]) -> list[int]:
    """The places of the values that a label is true of, by the first way of reading the values that finds any.

    >>> values_under("1990s", ["1989-12-31", "1990-01-01", "1999-12-31"]), values_under("cook", ["31", "40"])
    ([1, 2], [])
    """
    for read in _readings(values):
        true_values = [index for index, value in enumerate(values) if _true(value, label, read, lambda _: frozenset())]
        if true_values:
            return true_values
    return []


def spans(one: str, other: str) -> tuple[Range, Range] | None:
    """Two labels as ranges of the same kind, numbers or moments; `None` if they cannot be read as such.

    >>> spans("[20, 30)", "≥ 25")[1], spans("20–29", "cook")
    ((25.0, inf), None)
    """
    for read in (_ranges_of(lambda text: _point(_number(text))), _ranges_of(_periods("%Y-%m-%d"))):
        low, high = read(one), read(other)
        if low is not None and high is not None:
            return low, high
    return None


def _number(text: str) -> float | None:
    plain = text.strip().strip("$€£%").strip().replace("−", "-")
    if not re.fullmatch(_NUMBER, plain):
        return None
    number = float(plain.replace(",", ""))
    return number if math.isfinite(number) else None


def _duration(text: str) -> int | None:
    """A duration, or a time of the day, as whole microseconds.

    >>> _duration("1 day, 0:00:01"), _duration("24:00:00.5")
    (86401000000, 86400500000)
    """
    match = re.fullmatch(r"(?:(-?\d+) days?, )?(\d+):(\d\d):(\d\d)(?:\.(\d{1,9}))?", text.strip())
    if match is None:
        return None
    days, hours, minutes, seconds = (int(group or 0) for group in match.groups()[:4])
    microseconds = int((match[5] or "0").ljust(6, "0")[:6])
    return days * _DAY + ((hours * 60 + minutes) * 60 + seconds) * _SECOND + microseconds


def _point(number: float | None) -> Range | None:
    return None if number is None else (number, number)


def _moment(text: str, form: str) -> int | None:
    if not _MARKS[form] <= set(text):  # far quicker than an error of strptime, and most texts are no moments
        return None
    try:
        moment = dt.datetime.strptime(text.strip(), form)
    except ValueError:
        return None
    return _ticks(moment)


def _ticks(moment: dt.datetime) -> int:
    """Microseconds since the first year, as a whole number: exact."""
    return (moment - dt.datetime(1, 1, 1)) // dt.timedelta(microseconds=1)


_SECOND = 1_000_000
_DAY = 86_400 * _SECOND


def _periods(form: str) -> Callable[[str], Range | None]:
    """Reads a moment in a given form, or a period of the calendar."""

    def read(text: str) -> Range | None:
        moment = _moment(text, form)
        if moment is not None:
            return moment, moment
        if (iso := _moment(text, "%Y-%m-%d")) is not None:
            return iso, iso + _DAY - 1
        exact = (_moment(text, other) for other in (*_MOMENTS, "%H:%M", "%H:%M:%S"))
        if (moment := next((moment_found for moment_found in exact if moment_found is not None), None)) is not None:
            return moment, moment
        return _calendar(text.strip())

    return read


def _calendar(text: str) -> Range | None:
    """A year, a decade, a quarter, a month, a week, an hour or a minute as the seconds it holds."""
    if match := re.fullmatch(r"(\d{4})s", text):
        return _span(int(match[1]), 1, 120)
    if match := re.fullmatch(r"(\d{4})", text):
        return _span(int(match[1]), 1, 12)
    if match := re.fullmatch(r"(\d{4})-Q([1-4])", text):
        return _span(int(match[1]), 3 * int(match[2]) - 2, 3)
    if match := re.fullmatch(r"(\d{4})-(0[1-9]|1[0-2])", text):
        return _span(int(match[1]), int(match[2]), 1)
    if match := re.fullmatch(r"(\d{4})-W(\d\d)", text):
        return _weeks(int(match[1]), int(match[2]), 1)
    if match := re.fullmatch(r"ISO (\d{4})", text):
        return _weeks(int(match[1]), 1, dt.date(int(match[1]), 12, 28).isocalendar().week)
    if match := re.fullmatch(r"(\d{4}-\d\d-\d\d)T(\d\d)(?::(\d\d))?", text):
        start = _moment(f"{match[1]} {match[2]}:{match[3] or '00'}", "%Y-%m-%d %H:%M")
        return None if start is None else (start, start + (60 if match[3] else 3600) * _SECOND - 1)
    return None


def _span(year: int, month: int, months: int) -> Range | None:
    if not 1 <= year <= 9800:
        return None
    last = year * 12 + month - 1 + months
    return _ticks(dt.datetime(year, month, 1)), _ticks(dt.datetime(last // 12, last % 12 + 1, 1)) - 1


def _weeks(year: int, week: int, weeks: int) -> Range | None:
    try:
        monday = dt.date.fromisocalendar(year, week, 1)
    except ValueError:
        return None
    start = (monday - dt.date(1, 1, 1)).days * _DAY
    return start, start + 7 * weeks * _DAY - 1


def _ranges_of(point: Callable[[str], Range | None]) -> Read:
    """Reads what `point` reads, and ranges between two such ends in every way that Kanopy and others write them."""

    def read(text: str) -> Range | None:
        text = text.strip()
        if (alone := point(text)) is not None:
            return alone
        if match := re.fullmatch(r"(<=|≤|<|>=|≥|>|under|over|up to)\s*(.+)", text):
            return _bound(match[1], point(match[2]))
        if (match := re.fullmatch(r"(.+?)\s*\+", text)) and (end := point(match[1])) is not None:
            return end[0], math.inf
        if match := re.fullmatch(r"([\[(\]])(.+)([\])\[])", text):
            return _between(match[2], point, match[1] != "[", match[3] != "]")
        return _between(text, point, False, False)

    return read


def _after(number: float) -> float:
    """The next number: moments are counted in whole microseconds."""
    return number + 1 if isinstance(number, int) else math.nextafter(number, math.inf)


def _before(number: float) -> float:
    return number - 1 if isinstance(number, int) else math.nextafter(number, -math.inf)


def _bound(sign: str, end: Range | None) -> Range | None:
    if end is None:
        return None
    if sign in ("<=", "≤", "up to"):
        return -math.inf, end[1]
    if sign in ("<", "under"):
        return -math.inf, _before(end[0])
    return (end[0], math.inf) if sign in (">=", "≥") else (_after(end[1]), math.inf)


def _between(body: str, point: Callable[[str], Range | None], open_low: bool, open_high: bool) -> Range | None:
    """The range between two ends: every place where the text can be divided is tried, commas and long dashes first."""
    for sign in (", ", "–", "—", " - ", " to ", "..", ";", ":", "-", ","):
        at = body.find(sign, 1)
        while at > 0:
            low, high = point(body[:at].strip()), point(body[at + len(sign) :].strip())
            if low is not None and high is not None:
                first = _after(low[1]) if open_low else low[0]
                last = _before(high[0]) if open_high else high[1]
                return (first, last) if first <= last else None
            at = body.find(sign, at + 1)
    return None
