"""What a release must keep, written from the definitions alone: nothing here is shared with Kanopy's own code."""

from __future__ import annotations

import datetime as dt
import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from typing import Any

Row = tuple[Any, ...]
STAR = "*"


def classes_of(labels: Sequence[Row], allowed: int, k: int) -> tuple[dict[Row, list[int]], int]:
    """Rows by published labels, and how many are suppressed: rows of stars, if that few may be."""
    classes: dict[Row, list[int]] = defaultdict(list)
    for number, row in enumerate(labels):
        classes[row].append(number)
    stars = tuple(STAR for _ in labels[0]) if labels else ()
    hidden = len(classes.get(stars, ()))
    if hidden and hidden <= allowed:
        del classes[stars]
        return classes, hidden
    return classes, 0


def broken_models(classes: dict[Row, list[int]], models: dict[str, Any], sensitive: Sequence[Any], k: int) -> list[str]:
    """The promises that some class does not keep."""
    whole = Counter(sensitive)
    rows = len(sensitive)
    wrong = []
    for members in classes.values():
        counts = Counter(sensitive[i] for i in members)
        size = len(members)
        if size < k:
            wrong.append(f"a class of {size} rows, k is {k}")
        if "l-distinct" in models and len(counts) < models["l-distinct"]:
            wrong.append(f"{len(counts)} different values, l is {models['l-distinct']}")
        if "l-entropy" in models:
            entropy = -sum(c / size * math.log(c / size) for c in counts.values())
            if entropy < math.log(models["l-entropy"]) - 1e-9:
                wrong.append(f"entropy {entropy:.4f}, l is {models['l-entropy']}")
        if "l-recursive" in models:
            c, depth = models["l-recursive"]
            ordered = sorted(counts.values(), reverse=True)
            if ordered[0] >= c * sum(ordered[depth - 1 :]) + 1e-9:
                wrong.append(f"counts {ordered} are not recursive ({c}, {depth})")
        if "t-equal" in models:
            distance = sum(abs(counts[v] / size - whole[v] / rows) for v in whole) / 2
            if distance > models["t-equal"] + 1e-9:
                wrong.append(f"distance {distance:.4f}, t is {models['t-equal']}")
        if "alpha-k" in models and max(counts.values()) / size > models["alpha-k"] + 1e-9:
            wrong.append(f"a share of {max(counts.values()) / size:.3f}, alpha is {models['alpha-k']}")
        if "delta-disclosure" in models:
            for v in whole:
                share = counts[v] / size
                if share == 0 or abs(math.log(share / (whole[v] / rows))) >= models["delta-disclosure"] + 1e-9:
                    wrong.append(f"{v} at {share:.3f} is disclosed")
    if "risk-average" in models and classes:
        average = len(classes) / sum(map(len, classes.values()))
        if average > models["risk-average"] + 1e-9:
            wrong.append(f"average risk {average:.4f}")
    return wrong


# ---- labels -----------------------------------------------------------------------------------------------------

_ENDS = re.compile(r"[\[(]?\s*(.+?)\s*(?:, |–)\s*(.+?)\s*([\])]?)")


def is_true(value: Any, label: Any, above: Callable[[str], Sequence[str]] | None) -> bool:
    """Whether a label may be said of a value: the same, a range or set with it, its beginning, or a group of it."""
    if label is not None and set(str(label)) == {STAR}:
        return True
    if value is None or label is None:
        return value is None and (label is None or _says_missing(str(label)))
    text = str(label).lower() if isinstance(label, bool) else str(label)
    if _text(value) == text:
        return True
    if text.startswith("{") and text.endswith("}"):
        items = text[1:-1].split(", ")
        return any(_text(value) == item or _in_range(value, item.replace(" - ", "–")) is True for item in items)
    inside = _in_range(value, text)
    if inside is not None:
        return inside
    if STAR in text:
        pattern = "".join("." if letter == STAR else re.escape(letter) for letter in text)
        return re.fullmatch(pattern, _text(value)) is not None
    return above is not None and text in above(_text(value))


def _says_missing(label: str) -> bool:
    """Whether a label says that a value is missing, or may be."""
    return "(missing)" in label.strip("{}").split(", ")


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def _in_range(value: Any, label: str) -> bool | None:
    """Whether a range holds a value, or nothing if the label is no range of such values."""
    key = _number_or_day(value)
    if key is None:
        return None
    for sign, holds in (("≤", lambda end: key <= end), ("≥", lambda end: key >= end)):
        if label.startswith(sign):
            end = _number_or_day(label[1:].strip())
            return None if end is None or type(end) is not type(key) else holds(end)
    if isinstance(key, dt.date) and (period := _period(label)) is not None:
        return period[0] <= key < period[1]
    if match := _ENDS.fullmatch(label):
        low, high = _number_or_day(match[1]), _number_or_day(match[2])
        if isinstance(key, dt.date):
            low_period, high_period = _period(match[1]), _period(match[2])
            if low_period and high_period:
                return low_period[0] <= key < high_period[1]
        if low is None or high is None or type(low) is not type(key) or type(high) is not type(key):
            return None
        return low <= key and (key < high if label.endswith(")") else key <= high)  # type: ignore[operator]
    return None


def _number_or_day(value: Any) -> float | dt.date | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, (int, float)):
        return float(value)
    if isinstance(value, dt.datetime):
        return value.date()
    if isinstance(value, dt.date):
        return value
    text = str(value).strip()
    for form in ("%Y-%m-%d", "%d.%m.%Y", "%d/%m/%Y"):
        try:
            return dt.datetime.strptime(text, form).date()
        except ValueError:
            continue
    try:
        return float(text)
    except ValueError:
        return None


def _period(text: str) -> tuple[dt.date, dt.date] | None:
    """The first day of a period of the calendar, and the first day after it."""
    if match := re.fullmatch(r"(\d{4})s", text):
        return dt.date(int(match[1]), 1, 1), dt.date(int(match[1]) + 10, 1, 1)
    if match := re.fullmatch(r"(\d{4})(?:-(Q[1-4]|\d\d))?", text):
        year, part = int(match[1]), match[2]
        if part is None:
            return dt.date(year, 1, 1), dt.date(year + 1, 1, 1)
        first, months = (3 * int(part[1]) - 2, 3) if part.startswith("Q") else (int(part), 1)
        after = year * 12 + first - 1 + months
        return dt.date(year, first, 1), dt.date(after // 12, after % 12 + 1, 1)
    return None
