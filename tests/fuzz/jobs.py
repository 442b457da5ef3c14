"""Random tables and random jobs, each from one number: the same number gives the same job on every machine."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

import kanopy
from tests.fuzz.textbook import broken_models, classes_of, is_true
from tests.quick import QUICK

ALGORITHMS = (
    "optimal", "samarati", "datafly", "incognito", "top-down-specialization", "bayardo-agrawal", "iyengar", "li-sps",
    "li-gsps", "li-gops", "cell-level", "k-member", "mondrian", "he-naughton", "xu", "iterative-local", "best",
)  # fmt: skip
WORDS = ("nurse", "doctor", "cook", "waiter", "teacher", "clerk", "driver", "farmer")
ABOVE = {word: ["care", "food", "office", "outdoors"][i // 2] for i, word in enumerate(WORDS)}
NUMBER_METHODS = ("iotf", "otf", "chu", "han", "equal_width", "equal_frequency", "widths", "k_aware", "cgh")


@dataclass(frozen=True)
class Case:
    """A job, the table it is for, and what the textbook needs to judge the release."""

    seed: int
    table: pl.DataFrame
    job: kanopy.Job
    models: dict[str, Any]
    above: dict[str, Callable[[str], Sequence[str]]]
    rooted: bool


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
    values = draw.choice(list("abcde")[: int(draw.integers(2, 6))], rows)
    table = pl.DataFrame({"name": [f"person {i}" for i in range(rows)], **columns, "ill": values.tolist()})
    k = int(draw.integers(2, min(rows, 8) + 1))
    models, written = _models(draw)
    algorithm = str(draw.choice(ALGORITHMS))
    job = kanopy.Job(
        quasi=quasi,
        k=k,
        identifiers=["name"],
        sensitive=["ill"],
        hierarchies=hierarchies,
        algorithm=algorithm,
        parameters=QUICK.get(algorithm, {}) | _free(draw, algorithm, columns),
        suppress=float(draw.choice([0.0, 0.0, 0.07, 0.15, 0.33, 1.0])),
        models=written,
        missing=str(draw.choice(["as-value", "as-value", "suppress"])),
    )
    return Case(seed, table, job, models, above, rooted=True)


def _free(draw: np.random.Generator, algorithm: str, columns: dict[str, pl.Series]) -> dict[str, Any]:
    """Columns without a hierarchy, for the two algorithms that can do without."""
    numeric = [name for name, series in columns.items() if series.dtype.is_numeric()]
    return {"free": numeric} if algorithm in ("k-member", "mondrian") and numeric and draw.random() < 0.5 else {}


def _models(draw: np.random.Generator) -> tuple[dict[str, Any], list[str]]:
    choice = int(draw.integers(0, 12))
    found: dict[str, Any] = {}
    if choice == 0:
        found["l-distinct"] = 2
        return found, ["l-distinct:ill:2"]
    if choice == 1:
        found["l-entropy"] = 1.5
        return found, ["l-entropy:ill:1.5"]
    if choice == 2:
        found["l-recursive"] = (3.0, 2)
        return found, ["l-recursive:ill:3,2"]
    if choice == 3:
        found["t-equal"] = 0.3
        return found, ["t-equal:ill:0.3"]
    if choice == 4:
        found["risk-average"] = 0.2
        return found, ["risk-average:0.2"]
    if choice == 5:
        found["delta-disclosure"] = 1.5
        return found, ["delta-disclosure:ill:1.5"]
    return found, []


def _column(draw: np.random.Generator, rows: int) -> tuple[pl.Series, Any, Callable[[str], Sequence[str]] | None]:
    kind = int(draw.integers(0, 9))
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
    else:
        values = [str(number) for number in draw.integers(0, 40, rows)]
        source = _number_method(draw, [int(value) for value in values])
    if draw.random() < 0.25:
        values = [None if draw.random() < 0.15 else value for value in values]
    return pl.Series("x", values), source, groups


def _number_method(draw: np.random.Generator, values: list[Any]) -> Any:
    if draw.random() < 0.25:
        return None
    method = str(draw.choice(NUMBER_METHODS))
    spread = max(values) - min(values)
    if method == "widths":
        return {"method": method, "widths": [5, 20]} if spread > 40 else None
    if method == "cgh":
        return {"method": method} if spread > 20 else None
    if method == "k_aware":
        return {"method": method, "k": 2} if len(values) >= 4 else None
    return {"method": method}


def judge(case: Case) -> str:
    """Run a job and judge its release by the textbook: `released`, `refused`, or an assertion that fails."""
    from kanopy import KanopyError, NoSolution

    job, table = case.job, case.table
    try:
        result = kanopy.anonymize(table, job)
    except NoSolution as nothing:
        assert nothing.reason
        return "no solution"
    except KanopyError as refused:
        assert len(str(refused)) > 20
        return "refused"
    frame = result.data
    assert "name" not in frame.columns, "an identifier left"
    assert frame.height == table.height
    labels = frame.select(job.quasi).rows()
    missing = [any(value is None for value in row) for row in table.select(job.quasi).rows()]
    start = sum(missing) if job.missing == "suppress" else 0
    allowed = math_floor(job.suppress * table.height) + start
    shown = [tuple("(missing)" if label is None else str(label) for label in row) for row in labels]
    classes, hidden = classes_of(shown, allowed, job.k)
    assert hidden <= allowed, f"{hidden} rows suppressed, {allowed} may be"
    wrong = broken_models(classes, case.models, table["ill"].to_list(), job.k)
    assert not wrong, wrong[:3]
    for name in job.quasi:
        for value, label in zip(table[name].to_list(), frame[name].to_list(), strict=True):
            text = None if label is None else label
            assert is_true(value, text, case.above.get(name)), f"{name}: {value!r} is published as {label!r}"
    return "released"


def math_floor(number: float) -> int:
    """Whole rows of a share, forgiving the rounding of floats."""
    return int(np.floor(number + 1e-9))
