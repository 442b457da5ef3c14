"""What a release must keep, written from the definitions alone: nothing here is shared with Kanopy's own code."""

from __future__ import annotations

import datetime as dt
import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from decimal import Decimal
from itertools import combinations
from typing import Any

Row = tuple[Any, ...]
STAR = "*"
ILLS = {"a": "x", "b": "x", "c": "y", "d": "y", "e": "y"}
"""The groups of illnesses, for models that look at a hierarchy of them."""


def classes_of(
    labels: Sequence[Row], allowed: int, withheld_values: Sequence[bool]
) -> tuple[dict[Row, list[int]], list[int]]:
    """Rows by published labels, and those that are suppressed: rows of stars, if that few may be.

    Where more rows are of stars, those of them that lost their sensitive values (`withheld_values`) are suppressed.
    """
    classes: dict[Row, list[int]] = defaultdict(list)
    for number, row in enumerate(labels):
        classes[row].append(number)
    stars = tuple(STAR for _ in labels[0]) if labels else ()
    all_stars = classes.pop(stars, [])
    if len(all_stars) <= allowed:
        return classes, all_stars
    hidden = [i for i in all_stars if withheld_values[i]]
    if rest := [i for i in all_stars if not withheld_values[i]]:
        classes[stars] = rest
    return classes, hidden


def broken_models(
    classes: dict[Row, list[int]], models: dict[str, Any], columns: dict[str, list[Any]], k: int
) -> list[str]:
    """The promises that some class does not keep; members of classes are numbers of rows of the whole table."""
    sensitive = columns["ill"]
    whole = Counter(sensitive)
    rows = len(sensitive)
    wrong = []
    risks: dict[int, float] = {}
    for labels, members in classes.items():
        counts = Counter(sensitive[i] for i in members)
        size = len(members)
        if size < k:
            wrong.append(f"a class of {size} rows, k is {k}")
        if "l-distinct" in models and len(counts) < models["l-distinct"]:
            wrong.append(f"{len(counts)} different values, l is {models['l-distinct']}")
        if "p-sensitive" in models and len(counts) < models["p-sensitive"]:
            wrong.append(f"{len(counts)} different values, p is {models['p-sensitive']}")
        for value, least in models.get("l-plus", {}).items():
            if counts[value] / size > 1 / least + 1e-9:
                wrong.append(f"{value} has {counts[value]} of {size}, l is {least}")
        for name in ("beta-basic", "beta-enhanced"):
            for value, number in counts.items() if name in models else ():
                share = whole[value] / rows
                gain = models[name] if name == "beta-basic" else min(models[name], -math.log(share))
                if (number / size - share) / share > gain + 1e-9:
                    wrong.append(f"{value} gains {(number / size - share) / share:.4f}, beta is {models[name]}")
        if "t-ordered" in models and (distance := _ordered(columns["pay"], members)) > models["t-ordered"] + 1e-9:
            wrong.append(f"ordered distance {distance:.4f}, t is {models['t-ordered']}")
        if "t-hierarchical" in models and (distance := _nested(sensitive, members)) > models["t-hierarchical"] + 1e-9:
            wrong.append(f"nested distance {distance:.4f}, t is {models['t-hierarchical']}")
        if "epsilon-m" in models:
            epsilon, m = models["epsilon-m"]
            pay = [columns["pay"][i] for i in members]
            near = max(sum(abs(x - y) <= epsilon for y in pay) for x in pay)
            if near / size > 1 / m + 1e-9:
                wrong.append(f"{near} of {size} within {epsilon}, m is {m}")
        if "k-map" in models and size * models["k-map"][1] < models["k-map"][0]:
            wrong.append(f"{size * models['k-map'][1]} people, k-map asks for {models['k-map'][0]}")
        if "constrained" in models and labels and labels[models["constrained"]] == STAR:
            wrong.append("a label above those that may be published")
        for i in members if "guarding" in models else ():
            guard = columns["guard"][i]
            under = sum(guard in (sensitive[j], ILLS[sensitive[j]], STAR) for j in members)
            if under / size > models["guarding"] + 1e-9:
                wrong.append(f"{under} of {size} under {guard}, {models['guarding']} may be")
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
        if "delta-present" in models:
            for v, number in counts.items():
                if abs(math.log(number / size / (whole[v] / rows))) >= models["delta-present"] + 1e-9:
                    wrong.append(f"{v} at {number / size:.3f} of {size} is disclosed")
        if "individual-risk" in models or "household-risk" in models:
            most, exact = models.get("individual-risk") or models["household-risk"]
            risk = survey_risk(size, sum(columns["stands"][i] for i in members), exact)
            risks |= dict.fromkeys(members, risk)
            if "individual-risk" in models and risk > most * (1 + 1e-6):
                wrong.append(f"a risk of {risk:.4f}, {most} may be")
        if "alpha-k" in models and max(counts.values()) / size > models["alpha-k"] + 1e-9:
            wrong.append(f"a share of {max(counts.values()) / size:.3f}, alpha is {models['alpha-k']}")
        if "delta-disclosure" in models:
            for v in whole:
                share = counts[v] / size
                if share == 0 or abs(math.log(share / (whole[v] / rows))) >= models["delta-disclosure"] + 1e-9:
                    wrong.append(f"{v} at {share:.3f} is disclosed")
    if "risk-average" in models and classes and () not in classes:
        average = len(classes) / sum(map(len, classes.values()))
        if average > models["risk-average"] + 1e-9:
            wrong.append(f"average risk {average:.4f}")
    if "household-risk" in models:
        homes: dict[Any, list[float]] = defaultdict(list)
        for i, risk in risks.items():
            homes[("alone", i) if columns["home"][i] is None else columns["home"][i]].append(risk)
        for home, found in homes.items():
            if (risk := 1 - math.prod(1 - each for each in found)) > models["household-risk"][0] * (1 + 1e-6):
                wrong.append(f"a risk of {risk:.4f} for the household {home}")
    if () not in classes:
        published = sum(map(len, classes.values()))
        unique = sum(len(members) == 1 for members in classes.values())
        if "uniqueness" in models and unique > models["uniqueness"] * published + 1e-9:
            wrong.append(f"{unique} of {published} rows are unique")
        if "subset-k" in models:
            size, least = models["subset-k"]
            shared: Counter[Any] = Counter()
            for labels, members in classes.items():
                for places in combinations(range(len(labels)), size):
                    shared[places, tuple(labels[place] for place in places)] += len(members)
            wrong += [f"{labels} of {found} rows, {least} must be" for labels, found in shared.items() if found < least]
    return wrong


def survey_risk(rows: int, people: float, exact: bool) -> float:
    """The expected 1/F where F people of the population fit, of whom some rows are in the sample: F is negative
    binomial (Benedetti and Franconi), or for three rows and more approximated, unless asked for exactly."""
    if people <= rows:
        return 1 / rows
    share = rows / people
    if rows >= 3 and not exact:
        return share / (rows - (1 - share))
    total, chance, size = 0.0, share**rows, rows
    while size < 100_000 and (chance > 1e-15 * total or size < people):
        total += chance / size
        chance *= size / (size - rows + 1) * (1 - share)
        size += 1
    return total


def _ordered(values: Sequence[Any], members: Sequence[int]) -> float:
    """Earth mover's distance between some rows and all, from one value to the next: (m - 1) steps are 1."""
    order, whole, part = sorted(set(values)), Counter(values), Counter(values[i] for i in members)
    total = moved = 0.0
    for value in order[:-1]:
        moved += part[value] / len(members) - whole[value] / len(values)
        total += abs(moved)
    return total / max(1, len(order) - 1)


def _nested(values: Sequence[Any], members: Sequence[int]) -> float:
    """Earth mover's distance over the groups of illnesses: half a step within a group, a whole one between groups."""
    part, whole = Counter(values[i] for i in members), Counter(values)
    extra = {ill: part[ill] / len(members) - whole[ill] / len(values) for ill in ILLS}
    groups = {group: [extra[ill] for ill in ILLS if ILLS[ill] == group] for group in set(ILLS.values())}
    within = sum(
        min(sum(each for each in found if each > 0), -sum(each for each in found if each < 0))
        for found in groups.values()
    )
    between = sum(total for found in groups.values() if (total := sum(found)) > 0)
    return 0.5 * within + between


# ---- labels -----------------------------------------------------------------------------------------------------

_ENDS = re.compile(r"[\[(]?\s*(.+?)\s*(?:, |–)\s*(.+?)\s*([\])]?)")


def is_true(value: Any, label: Any, above: Callable[[str], Sequence[str]] | None) -> bool:
    """Whether a label may be said of a value: the same, a range or set with it, its beginning, or a group of it."""
    if label is not None and set(str(label)) == {STAR}:
        return True
    if value is None or label is None:
        return value is None and (label is None or _says_missing(str(label)))
    if type(value) is type(label) and value == label:
        return True
    text = str(label).lower() if isinstance(label, bool) else str(label)
    if text_of(value) == text:
        return True
    if isinstance(value, float) and re.fullmatch(r"-?\d+\.\d+", text) and float(text) == value:
        return True
    if text.startswith("{") and text.endswith("}"):
        items = [*text[1:-1].split(", "), *re.findall('"([^"]*)"', text)]
        return any(text_of(value) == item or _in_range(value, item.replace(" - ", "–")) is True for item in items)
    if (
        isinstance(value, str)
        and ":" in value
        and (moment := _read(value)) is not None
        and is_true(moment, label, None)
    ):
        return True  # as files of text keep it
    if isinstance(value, str) and label == "other":
        return True  # what rare words are called
    if isinstance(value, dt.datetime) and len(text) >= 10 and value.isoformat().startswith(text):
        return True  # its day, its hour, its minute
    inside = _in_range(value, text)
    if inside is not None:
        return inside
    first, dash, last = text.partition("–")
    if dash and len({_shape(code) for code in (first, last, text_of(value))}) == 1 and "0" in _shape(first):
        return first <= text_of(value) <= last
    if text.count(STAR) == 1 and text.endswith(STAR) and text_of(value).startswith(text[:-1]):
        return True
    if STAR in text:
        pattern = "".join("." if letter == STAR else re.escape(letter) for letter in text)
        return re.fullmatch(pattern, text_of(value)) is not None
    return above is not None and text in above(text_of(value))


def _shape(code: str) -> str:
    """Codes of one shape have an order."""
    return "".join("0" if letter.isdigit() else "A" if letter.isalpha() else letter for letter in code)


def _says_missing(label: str) -> bool:
    """Whether a label says that a value is missing, or may be."""
    return "(missing)" in label.strip("{}").split(", ")


def text_of(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, dt.datetime):
        return value.isoformat()
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def _in_range(value: Any, label: str) -> bool | None:
    """Whether a range holds a value, or nothing if the label is no range of such values."""
    key = _number_or_day(value)
    if key is None:
        return None
    if match := re.fullmatch(r"(≤|≥|<|>)\s*(.+)", label):
        end = _end(match[2], key, last=match[1] in "≤>")
        if end is None:
            return None
        return bool({"≤": key <= end, "≥": key >= end, "<": key < end, ">": key > end}[match[1]])
    if isinstance(key, (dt.timedelta, dt.time)):
        ends = re.fullmatch(r"\[((?:-?\d+ days?, )?[\d:.]+), ((?:-?\d+ days?, )?[\d:.]+)([\])])", label)
        low, high = (None, None) if ends is None else (_clock(ends[1], key), _clock(ends[2], key))
        if ends is None or low is None or high is None:
            return None
        return bool(low <= key and (key < high if ends[3] == ")" else key <= high))
    if isinstance(key, dt.datetime):
        key, whole = key.date(), key
        ends = _ENDS.fullmatch(label)
        moments = [] if ends is None else [_moment(ends[1]), _moment(ends[2])]
        if moments and None not in moments:
            low, high = moments
            return bool(low <= whole and (whole < high if label.endswith(")") else whole <= high))  # type: ignore[operator]
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


def _end(text: str, like: Any, *, last: bool) -> Any:
    """One end of a range, of the kind of a value; of a period of the calendar its first or its last moment."""
    if isinstance(like, (dt.timedelta, dt.time)):
        return _clock(text, like)
    if isinstance(like, dt.datetime):
        if (moment := _moment(text)) is not None:
            return moment
        period = _period(text)
        if period is None:
            return None
        day = dt.datetime.combine(period[1] if last else period[0], dt.time())
        return day - dt.timedelta(microseconds=1) if last else day
    if isinstance(like, dt.date) and (period := _period(text)) is not None:
        return period[1] - dt.timedelta(days=1) if last else period[0]
    end = _number_or_day(text)
    return end if type(end) is type(like) else None


def _moment(text: str) -> dt.datetime | None:
    try:
        return dt.datetime.fromisoformat(text) if ":" in text else None
    except ValueError:
        return None


def _read(text: str) -> Any:
    """A moment, a time of the day or a duration that is written as text."""
    if re.fullmatch(r"-?\d+ days?, [\d:.]+", text):
        return _clock(text, dt.timedelta())
    if re.fullmatch(r"\d?\d:\d\d(:[\d.]+)?", text) and len(text) != 7:
        return _clock(text, dt.time())
    return _moment(text) if "T" in text else None


def _clock(text: str, like: dt.timedelta | dt.time) -> Any:
    """A duration or a time of the day as it is written in Python."""
    if isinstance(like, dt.time):
        return dt.time.fromisoformat(text)
    days, _, rest = text.rpartition(", ")
    hours, minutes, seconds = rest.split(":")
    return dt.timedelta(
        days=int(days.split()[0]) if days else 0, hours=int(hours), minutes=int(minutes), seconds=float(seconds)
    )


def _number_or_day(value: Any) -> Any:
    if isinstance(value, bool):
        return None
    if isinstance(value, (int, float, Decimal)):
        return float(value)
    if isinstance(value, (dt.datetime, dt.timedelta, dt.time)):
        return value
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
    if match := re.fullmatch(r"(\d{4})-(\d\d)-(\d\d)", text):
        day = dt.date(int(match[1]), int(match[2]), int(match[3]))
        return day, day + dt.timedelta(days=1)
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
