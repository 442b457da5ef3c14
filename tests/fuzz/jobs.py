"""Random tables and random jobs, each from one number: the same number gives the same job on every machine."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np
import polars as pl

import kanopy
from kanopy._job.usage import used_alone
from kanopy.metrics.full_domain import METRICS
from tests.fuzz.textbook import ILLS
from tests.quick import QUICK

ALGORITHMS = (
    "optimal", "samarati", "datafly", "incognito", "top-down-specialization", "bayardo-agrawal", "iyengar", "li-sps",
    "li-gsps", "li-gops", "cell-level", "k-member", "mondrian", "he-naughton", "xu", "iterative-local", "best",
)  # fmt: skip
WORDS = ("nurse", "doctor", "cook", "waiter", "teacher", "clerk", "driver", "farmer")
ABOVE = {word: ["care", "food", "office", "outdoors"][i // 2] for i, word in enumerate(WORDS)}
NUMBER_METHODS = (
    "iotf", "otf", "chu", "han", "equal_width", "equal_frequency", "widths", "k_aware", "cgh", "dbgh", "cbgh", "cuts",
    "order",
)  # fmt: skip
LOUDNESS = ("silent", "faint", "soft", "fair", "loud", "harsh")


@dataclass(frozen=True)
class Case:
    """A job, the table it is for, and what the textbook needs to judge the release."""

    seed: int
    table: pl.DataFrame
    job: kanopy.Job
    models: dict[str, Any]
    above: dict[str, Callable[[str], Sequence[str]]]
    people: pl.DataFrame | None = None


def make_case(seed: int) -> Case:
    """The job of a number."""
    draw = np.random.default_rng(seed)
    rows = int(draw.integers(4, 61))
    columns: dict[str, pl.Series] = {}
    hierarchies: dict[str, Any] = {}
    above: dict[str, Callable[[str], Sequence[str]]] = {}
    for number in range(int(draw.integers(1, 4))):
        name = f"q{number}"
        series, source, groups = _column(draw, rows)
        columns[name] = series.alias(name)
        if source is not None:
            hierarchies[name] = source
        if groups is not None:
            above[name] = groups
    quasi = list(columns)
    values = draw.choice(list("abcde")[: int(draw.integers(2, 6))], rows).tolist()
    pay = draw.integers(0, 12, rows) + (1_700_000_000_000 if draw.random() < 0.2 else 0)
    table = pl.DataFrame({
        "name": [f"person {i}" for i in range(rows)], **columns, "ill": values, "pay": pay.tolist(),
        "guard": draw.choice(["a", "x", "y"], rows).tolist(), "row": list(range(rows)),
        "later": [f"secret {i}" for i in range(rows)], "nobody": [f"secret {i}" for i in range(rows)],
    })  # fmt: skip
    k = int(draw.integers(2, min(rows, 8) + 1))
    worded = [i for i, name in enumerate(quasi) if isinstance(hierarchies.get(name), kanopy.Hierarchy)]
    models, written = _models(draw, sorted(set(values)), worded)
    if "t-hierarchical" in models or "guarding" in models:
        hierarchies["ill"] = kanopy.Hierarchy.from_rows([[ill, group, "*"] for ill, group in ILLS.items()])
    people = pl.concat([table[quasi]] * models["k-map"][1]) if "k-map" in models else None
    algorithm = str(draw.choice(ALGORITHMS))
    job = kanopy.Job(
        quasi=quasi,
        k=k,
        identifiers=["name"] if "guarding" in models else ["name", "guard"],
        sensitive=["ill", "pay"],
        insensitive=["row"],
        undecided=["later"],
        hierarchies=hierarchies,
        algorithm=algorithm,
        parameters=QUICK.get(algorithm, {}) | _free(draw, algorithm, columns),
        suppress=float(draw.choice([0.0, 0.0, 0.07, 0.15, 0.33, 1.0])),
        models=written,
        missing=str(draw.choice(["as-value", "as-value", "suppress"])),
        suppressed_rows=str(draw.choice(["keep", "keep", "keep", "drop"])),
        metric=str(draw.choice(list(METRICS))) if draw.random() < 0.4 else "loss",
        weights={quasi[0]: 3.0} if draw.random() < 0.15 else {},
        min_levels={quasi[-1]: 1} if draw.random() < 0.1 else {},
        max_levels={quasi[0]: int(draw.integers(1, 3))} if draw.random() < 0.1 else {},
        shuffle=bool(draw.random() < 0.15),
    )
    return Case(seed, table, used_alone(job), models, above, people)


def _free(draw: np.random.Generator, algorithm: str, columns: dict[str, pl.Series]) -> dict[str, Any]:
    """Columns without a hierarchy, for the two algorithms that can do without."""
    numeric = [name for name, series in columns.items() if series.dtype.is_numeric()]
    return {"free": numeric} if algorithm in ("k-member", "mondrian") and numeric and draw.random() < 0.5 else {}


def _models(draw: np.random.Generator, ills: list[str], worded: list[int]) -> tuple[dict[str, Any], list[str]]:
    """No model besides k, one, or two: as the textbook takes them, and as a job writes them."""
    found: dict[str, Any] = {}
    written = []
    for _ in range(int(draw.choice([0, 0, 0, 1, 1, 1, 1, 2]))):
        name = str(draw.choice(list(MODELS)))
        if name == "constrained" and not worded:
            continue
        value, text = MODELS[name]
        if name == "l-plus":
            value, text = {ills[0]: 2.0}, f"l-plus:ill:{ills[0]}=2"
        elif name == "constrained":
            value, text = worded[0], f"constrained:q{worded[0]}:care|food|office|outdoors"
        found[name] = value
        written.append(text)
    return found, list(dict.fromkeys(written))


MODELS: dict[str, tuple[Any, str]] = {
    "l-distinct": (2, "l-distinct:ill:2"),
    "p-sensitive": (2, "p-sensitive:ill:2"),
    "l-entropy": (1.5, "l-entropy:ill:1.5"),
    "l-recursive": ((3.0, 2), "l-recursive:ill:3,2"),
    "l-plus": ({}, "l-plus:ill:"),
    "alpha-k": (0.7, "alpha-k:ill:0.7"),
    "t-equal": (0.3, "t-equal:ill:0.3"),
    "t-ordered": (0.25, "t-ordered:pay:0.25"),
    "t-hierarchical": (0.3, "t-hierarchical:ill:0.3"),
    "beta-basic": (1.0, "beta-basic:ill:1"),
    "beta-enhanced": (1.0, "beta-enhanced:ill:1"),
    "epsilon-m": ((1.0, 1.6), "epsilon-m:pay:1,1.6"),
    "delta-disclosure": (1.5, "delta-disclosure:ill:1.5"),
    "risk-average": (0.2, "risk-average:0.2"),
    "k-map": ((9, 2), "k-map:9"),
    "constrained": (0, ""),
    "guarding": (0.8, "guarding:ill:guard,0.8"),
}
"""Per model what the textbook takes, and how a job writes it."""


def _column(draw: np.random.Generator, rows: int) -> tuple[pl.Series, Any, Callable[[str], Sequence[str]] | None]:
    kind = int(draw.integers(0, 16))
    values: list[Any]
    source: Any = None
    groups: Callable[[str], Sequence[str]] | None = None
    if kind == 0:
        values = draw.integers(-5, 90, rows).tolist()
        source = _number_method(draw, values)
    elif kind == 1:
        values = np.round(draw.normal(20, 9, rows), int(draw.integers(0, 3))).tolist()
        source = _number_method(draw, values)
    elif kind == 2:
        values = [dt.date(1920, 1, 1) + dt.timedelta(days=int(day)) for day in draw.integers(0, 30_000, rows)]
        source = {"method": "dates"} if draw.random() < 0.7 else None
    elif kind == 3:
        form = str(draw.choice(["%d.%m.%Y", "%d/%m/%Y"]))
        days = [dt.date(1920, 1, 1) + dt.timedelta(days=int(day)) for day in draw.integers(0, 30_000, rows)]
        values = [day.strftime(form) for day in days]
        source = {"method": "dates", "format": form} if draw.random() < 0.7 else None
    elif kind == 4:
        values = [f"{number:05d}" for number in draw.integers(0, 99_999, rows)]
        source = {"method": str(draw.choice(["redact", "prefix"]))} if draw.random() < 0.7 else None
        groups = lambda value: [value[:length] for length in range(1, 5)]  # noqa: E731
    elif kind == 5:
        values = draw.choice(WORDS, rows).tolist()
        tree = kanopy.Hierarchy.from_rows([[word, ABOVE[word], "*"] for word in WORDS])
        source = tree
        groups = lambda value: [ABOVE.get(value, "")]  # noqa: E731
    elif kind == 6:
        values = draw.choice(WORDS, rows).tolist()
        source = {"method": "suppress"}
    elif kind == 7:
        values = (draw.random(rows) < 0.5).tolist()
    elif kind == 8:
        first = dt.datetime(1990, 1, 1)
        values = [first + dt.timedelta(minutes=int(minutes)) for minutes in draw.integers(0, 9_000_000, rows)]
        source = {"method": "dates", "granularities": ["day", "month", "year"]} if draw.random() < 0.7 else None
    elif kind == 9:
        values = [Decimal(int(cents)) / 100 for cents in draw.integers(0, 9_000, rows)]
        source = _number_method(draw, values)
    elif kind == 10:
        values = draw.choice(LOUDNESS, rows).tolist()
        source = {"method": "order", "order": list(LOUDNESS), "fan_out": int(draw.integers(2, 4))}
        groups = _runs
    elif kind == 11:
        values = draw.choice(WORDS, rows).tolist()
        source = {"method": "groups", "groups": {"indoors": list(WORDS[:5])}, "other": "elsewhere"}
        groups = lambda value: ["indoors" if value in WORDS[:5] else "elsewhere"]  # noqa: E731
    elif kind == 12:
        values = [dt.timedelta(hours=int(hours)) for hours in draw.integers(0, 400, rows)]
    elif kind == 13:
        values = [dt.time(int(hour), 10 * int(part)) for hour, part in draw.integers(0, 6, (rows, 2))]
    elif kind == 14:
        values = [f"{number:02d}-{'ABC'[number % 3]}" for number in draw.integers(0, 60, rows)]
        source = {"method": "order"} if draw.random() < 0.5 else None
        groups = lambda value: [value[:length] for length in range(1, 5)]  # noqa: E731
    else:
        values = [str(number) for number in draw.integers(0, 40, rows)]
        source = _number_method(draw, [int(value) for value in values])
    if draw.random() < 0.25:
        values = [None if draw.random() < 0.15 else value for value in values]
    kind_of = pl.Categorical if isinstance(values[0], str) and draw.random() < 0.2 else None
    return pl.Series("x", values, dtype=kind_of), source, groups


def _runs(value: str) -> list[str]:
    """All runs of neighbours that hold a word."""
    place = LOUDNESS.index(value) if value in LOUDNESS else -1
    return [f"{first}–{last}" for first in LOUDNESS[: place + 1] for last in LOUDNESS[place:]] if place >= 0 else []


def _number_method(draw: np.random.Generator, values: list[Any]) -> Any:
    if draw.random() < 0.25:
        return None
    method = str(draw.choice(NUMBER_METHODS))
    spread = max(values) - min(values)
    if method == "widths":
        return {"method": method, "widths": [5, 20]} if spread > 40 else None
    if method == "cgh":
        return {"method": method} if spread > 20 else None
    if method == "cuts":
        return {"method": method, "edges": [10, 30]}
    if method == "k_aware":
        return {"method": method, "k": 2} if len(values) >= 4 else None
    return {"method": method}
