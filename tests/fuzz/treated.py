"""Columns that random jobs treat, and what the textbook asks of each: nothing here is shared with Kanopy's own code."""

from __future__ import annotations

import datetime as dt
import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

from tests.fuzz.options import Drawn

NUMBERS: tuple[dict[str, Any], ...] = (
    {"method": "round", "base": 5}, {"method": "round", "base": 0.5, "kind": "random"},
    {"method": "round", "base": 10, "kind": "controlled"}, {"method": "top-code", "top": 60},
    {"method": "top-code", "top_share": 0.3, "publish": "mean"}, {"method": "microaggregate", "size": 2},
    {"method": "microaggregate", "size": 3, "variant": "optimal"}, {"method": "noise", "share": 0.2},
    {"method": "noise", "kind": "multiplicative"}, {"method": "rank-swap", "percent": 20}, {"method": "resample"},
    {"method": "shuffle"},
)  # fmt: skip
WORDS: tuple[dict[str, Any], ...] = ({"method": "pram", "keep": 0.6}, {"method": "shuffle"})
DATES: tuple[dict[str, Any], ...] = ({"method": "cut-dates", "finest": "month"}, {"method": "shift-dates", "days": 90})
NAMES: tuple[dict[str, Any], ...] = (
    {"method": "hash"}, {"method": "encrypt"}, {"method": "format-preserving"}, {"method": "mask", "last": 2},
)  # fmt: skip
RENAMED = {"hash", "encrypt", "format-preserving", "mask"}


def treatments(draw: np.random.Generator, case: Drawn) -> Drawn:
    """A column or two that no model looks at, each with a treatment of any kind."""
    rows, kind = case.table.height, int(draw.integers(0, 5))
    columns: list[pl.Series] = []
    given: dict[str, dict[str, Any]] = {}
    if kind <= 1:
        columns.append(pl.Series("fee", _gapped(draw, draw.integers(0, 90, rows).tolist())))
        given["fee"] = dict(NUMBERS[int(draw.integers(0, len(NUMBERS)))])
    elif kind == 2:
        columns.append(pl.Series("fee", _gapped(draw, draw.choice(["u", "v", "w"], rows).tolist())))
        given["fee"] = dict(WORDS[int(draw.integers(0, len(WORDS)))])
        if draw.random() < 0.5:
            columns.append(pl.Series("again", columns[0].to_list(), dtype=pl.String))
            given["again"] = {"method": "follow", "column": "fee"}
    elif kind == 3 and not any(case.table[name].dtype.is_temporal() for name in ("ill", *case.extras)):
        # Dates that are not shifted beside shifted ones undo them: they would be withheld.
        days = [dt.date(2020, 1, 1) + dt.timedelta(days=int(day)) for day in draw.integers(0, 700, rows)]
        columns.append(pl.Series("fee", _gapped(draw, days), dtype=pl.Date))
        given["fee"] = dict(DATES[int(draw.integers(0, len(DATES)))])
        if given["fee"]["method"] == "shift-dates" and not case.job.unit:
            given["fee"]["unit"] = ["name"]
    else:
        columns.append(pl.Series("fee", [f"{number:08d}" for number in draw.integers(10**7, 10**8, rows)]))
        given["fee"] = dict(NAMES[int(draw.integers(0, len(NAMES)))])
    job = case.job.replaced(protect=given)
    return replace(case, table=case.table.with_columns(columns), job=job, treated=given)


def _gapped(draw: np.random.Generator, values: list[Any]) -> list[Any]:
    return [None if draw.random() < 0.1 else value for value in values] if draw.random() < 0.2 else values


def broken_treatment(
    given: dict[str, Any], before: Sequence[Any], after: Sequence[Any], whose: Sequence[Any]
) -> str | None:
    """What a treatment does not keep of its promise; a value that is gone was withheld with its row."""
    before, after = ([_read(given["method"], value) for value in values] for values in (before, after))
    pairs = [(one, other) for one, other in zip(before, after, strict=True) if other is not None]
    if any(one is None for one, _ in pairs):
        return "a missing value was published as something"
    shown = [other for _, other in pairs]
    wrong = RULES[given["method"]](given, pairs, shown)
    if given["method"] == "shift-dates":
        shifts: dict[Any, set[Any]] = {}
        for person, one, other in zip(whose, before, after, strict=True):
            if other is not None and person is not None:
                shifts.setdefault(person, set()).add(other - one)
        wrong = wrong or any(len(each) > 1 for each in shifts.values())
    return f"{given}: {pairs[:4]}" if wrong else None


def _read(method: str, value: Any) -> Any:
    """A value as its treatment sees it, from whatever a file keeps of it."""
    if value is None or value == "":
        return None
    if method == "shift-dates" or (method == "cut-dates" and len(str(value)) >= 10):
        return dt.date.fromisoformat(str(value)[:10])
    try:
        return str(value) if method in RENAMED else float(value)
    except (TypeError, ValueError):
        return str(value)


Pairs = list[tuple[Any, Any]]


def _rounded(given: dict[str, Any], pairs: Pairs, shown: list[Any]) -> bool:
    base = given["base"]
    near = base / 2 if given.get("kind", "nearest") == "nearest" else base
    return any(abs(other - one) > near + 1e-9 or abs(other / base - round(other / base)) > 1e-9 for one, other in pairs)


def _coded(given: dict[str, Any], pairs: Pairs, shown: list[Any]) -> bool:
    changed = Counter(other for one, other in pairs if one != other)
    return any(Counter(shown)[value] < given["people"] for value in changed) or (
        "top" in given and max(shown, default=0) > 60
    )


def _grouped(given: dict[str, Any], pairs: Pairs, shown: list[Any]) -> bool:
    few = min(Counter(shown).values(), default=given["size"])
    kept = math.isclose(sum(one for one, _ in pairs), sum(shown), rel_tol=1e-9, abs_tol=1e-9)
    return few < given["size"] or not kept


def _moved(given: dict[str, Any], pairs: Pairs, shown: list[Any]) -> bool:
    return Counter(one for one, _ in pairs) != Counter(shown)


def _inside(given: dict[str, Any], pairs: Pairs, shown: list[Any]) -> bool:
    own = [one for one, _ in pairs]
    return bool(shown) and not min(own) - 1e-9 <= min(shown) <= max(shown) <= max(own) + 1e-9


def _drawn(given: dict[str, Any], pairs: Pairs, shown: list[Any]) -> bool:
    return not set(shown) <= {"u", "v", "w"}


def _cut(given: dict[str, Any], pairs: Pairs, shown: list[Any]) -> bool:
    return any(str(other) not in (f"{one:%Y-%m}", f"{one:%Y-%m}-01") for one, other in pairs)


def _renamed(given: dict[str, Any], pairs: Pairs, shown: list[Any]) -> bool:
    one_each = len({one for one, _ in pairs}) == len(set(shown)) == len(set(pairs))
    return not one_each or any(str(one) in str(other) for one, other in pairs)


def _covered(given: dict[str, Any], pairs: Pairs, shown: list[Any]) -> bool:
    return any(other.strip("*") != one[-2:] or "*" not in other for one, other in pairs)


def _anything(given: dict[str, Any], pairs: Pairs, shown: list[Any]) -> bool:
    return False


RULES: dict[str, Callable[[dict[str, Any], Pairs, list[Any]], bool]] = {
    "round": _rounded, "top-code": _coded, "microaggregate": _grouped, "rank-swap": _moved, "shuffle": _moved,
    "resample": _inside, "pram": _drawn, "cut-dates": _cut, "hash": _renamed, "encrypt": _renamed,
    "format-preserving": _renamed,  "mask": _covered, "noise": _anything, "shift-dates": _anything,
    "follow": _anything,
}  # fmt: skip
"""Per treatment whether something is wrong with pairs of an original and a published value. Noise may be anything; what
follows another column is compared with it by the caller."""
